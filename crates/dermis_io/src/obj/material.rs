//! Material libraries beside an OBJ file, as glTF materials.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::{Image, Materials};

/// One material of a library.
#[derive(Debug, Clone, PartialEq, Default)]
struct Definition {
    /// `Kd`, in linear light as glTF's base colour.
    diffuse: Option<[f64; 3]>,
    /// `d`, or 1 − `Tr`.
    opacity: Option<f64>,
    /// `map_Kd`.
    diffuse_map: Option<String>,
}

/// Materials of the given names, in that order, as the libraries define them.
///
/// A name that no library defines becomes a plain material. A missing library or picture becomes a note.
pub(super) fn materials(
    obj: &Path,
    names: &[String],
    libraries: &[String],
    notes: &mut Vec<String>,
) -> Materials {
    let mut defined: HashMap<String, Definition> = HashMap::new();
    if !names.is_empty() {
        for library in libraries {
            match crate::read_file(&beside(obj, library)) {
                Ok(bytes) => parse_library(&String::from_utf8_lossy(&bytes), &mut defined),
                Err(error) => notes.push(format!(
                    "Material library {library} cannot be read ({error}): names are kept, colours are not."
                )),
            }
        }
    }
    let mut materials = Materials::default();
    let mut texture_of_map: HashMap<&str, Option<usize>> = HashMap::new();
    for name in names {
        // OBJ has no metalness, and glTF's default is fully metallic.
        let mut look = json!({ "metallicFactor": 0.0 });
        let definition = defined.get(name);
        if let Some([r, g, b]) = definition.and_then(|d| d.diffuse) {
            let a = definition.and_then(|d| d.opacity).unwrap_or(1.0);
            look["baseColorFactor"] = json!([r, g, b, a].map(|c| c.clamp(0.0, 1.0)));
        }
        if let Some(map) = definition.and_then(|d| d.diffuse_map.as_deref()) {
            let texture = *texture_of_map
                .entry(map)
                .or_insert_with(|| add_picture(obj, map, &mut materials, notes));
            if let Some(index) = texture {
                look["baseColorTexture"] = json!({ "index": index });
            }
        }
        let mut material = json!({ "name": name, "pbrMetallicRoughness": look });
        if definition.and_then(|d| d.opacity).is_some_and(|d| d < 1.0) {
            material["alphaMode"] = Value::from("BLEND");
        }
        materials.materials.push(material);
    }
    materials
}

fn parse_library(text: &str, defined: &mut HashMap<String, Definition>) {
    let mut current: Option<&mut Definition> = None;
    for line in text.lines() {
        let line = line.trim();
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if keyword == "newmtl" {
            current = Some(defined.entry(rest.to_owned()).or_default());
            continue;
        }
        let Some(material) = current.as_deref_mut() else {
            continue;
        };
        let mut numbers = rest
            .split_whitespace()
            .map_while(|word| word.parse::<f64>().ok().filter(|x| x.is_finite()));
        match keyword {
            "Kd" => {
                if let Some(r) = numbers.next() {
                    // One number alone is a grey.
                    let g = numbers.next().unwrap_or(r);
                    material.diffuse = Some([r, g, numbers.next().unwrap_or(g)]);
                }
            }
            "d" => material.opacity = numbers.next().or(material.opacity),
            "Tr" => material.opacity = numbers.next().map(|t| 1.0 - t).or(material.opacity),
            "map_Kd" => {
                // With options such as `-s 1 1 1`, only the last word is surely the file.
                let file = match rest.strip_prefix('-') {
                    Some(options) => options.split_whitespace().next_back(),
                    None => Some(rest),
                };
                material.diffuse_map = file.filter(|f| !f.is_empty()).map(str::to_owned);
            }
            _ => {}
        }
    }
}

fn add_picture(
    obj: &Path,
    name: &str,
    materials: &mut Materials,
    notes: &mut Vec<String>,
) -> Option<usize> {
    let path = beside(obj, name);
    let bytes = match crate::read_file(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            notes.push(format!(
                "Picture {name} cannot be read ({error}): left out."
            ));
            return None;
        }
    };
    let mime_type = if bytes.starts_with(b"\x89PNG") {
        "image/png"
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        "image/jpeg"
    } else {
        notes.push(format!("Picture {name} is neither PNG nor JPEG: left out."));
        return None;
    };
    materials.images.push(Image {
        name: path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned()),
        mime_type: mime_type.to_owned(),
        bytes,
    });
    let source = materials.images.len() - 1;
    materials.textures.push(json!({ "source": source }));
    Some(materials.textures.len() - 1)
}

/// Where a file named inside an OBJ or MTL file is.
///
/// Names that lead out of the folder (absolute, other drives, `..`) are looked up beside the OBJ:
/// they are left-overs of another machine, and a mesh should not choose files to be embedded.
fn beside(obj: &Path, name: &str) -> PathBuf {
    let folder = obj.parent().unwrap_or(Path::new(""));
    let name = name.replace('\\', "/");
    let inside = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    let relative = Path::new(&name);
    if !name.contains(':') && relative.components().all(inside) {
        folder.join(relative)
    } else {
        folder.join(name.rsplit('/').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_give_colour_opacity_and_picture() {
        let mut defined = HashMap::new();
        parse_library(
            "# c\nKd 9 9 9\nnewmtl red skin\r\nKd 1 0.5 0\nd 0.25\nmap_Kd -s 1 1 1 a.png\nnewmtl grey\nKd 0.5",
            &mut defined,
        );
        let red = Definition {
            diffuse: Some([1.0, 0.5, 0.0]),
            opacity: Some(0.25),
            diffuse_map: Some("a.png".to_owned()),
        };
        assert_eq!(defined.get("red skin"), Some(&red), "names may hold spaces");
        let grey = defined.get("grey").and_then(|d| d.diffuse);
        assert_eq!(grey, Some([0.5; 3]), "one number is a grey");
    }

    #[test]
    fn names_that_leave_the_folder_are_looked_up_beside_the_mesh() {
        let obj = Path::new("folder/a.obj");
        for (name, expected) in [
            ("a.png", "folder/a.png"),
            ("tex/a.png", "folder/tex/a.png"),
            ("tex\\a.png", "folder/tex/a.png"),
            ("../a.png", "folder/a.png"),
            ("/etc/a.png", "folder/a.png"),
            ("C:\\x\\a.png", "folder/a.png"),
        ] {
            assert_eq!(beside(obj, name), Path::new(expected), "for {name}");
        }
    }

    #[test]
    fn a_missing_library_is_a_note_and_names_stay() {
        let mut notes = Vec::new();
        let names = ["skin".to_owned()];
        let found = materials(
            Path::new("no/such/folder/a.obj"),
            &names,
            &["a.mtl".to_owned()],
            &mut notes,
        );
        assert_eq!(found.materials[0]["name"], "skin", "the name is kept");
        assert!(notes[0].contains("a.mtl"), "{notes:?}");
    }
}
