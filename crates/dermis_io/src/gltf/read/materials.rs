//! Materials, textures and images: passed on unchanged, except for missing pictures.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::accessor::Accessors;
use super::container::{Container, Resource};
use super::schema;
use crate::{Fault, Image, Materials};

/// Reads the materials, textures and images of a file.
///
/// Pictures that cannot be loaded are dropped with everything that refers to them, with a note.
pub(super) fn read(
    path: &Path,
    container: &Container<'_>,
    accessors: &Accessors<'_>,
    notes: &mut Vec<String>,
) -> Result<Materials, Fault> {
    /// How many images may share the same bytes; sharing is rare, and thousands are an attack.
    const MOST_REPEATS: u64 = 16;
    let schema = &container.schema;
    let mut bytes_left = container.byte_count.saturating_mul(MOST_REPEATS);
    let mut files = HashSet::new();
    let mut images: Vec<Image> = Vec::new();
    // The new index of each image and texture, or `None` when it was dropped.
    let mut image_map = Vec::new();
    for (i, image) in schema.images.iter().enumerate() {
        match load(path, i, image, accessors)? {
            Ok((image, file)) => {
                let size = image.bytes.len() as u64;
                if file.is_some_and(|file| files.insert(file)) {
                    bytes_left = bytes_left.saturating_add(size.saturating_mul(MOST_REPEATS));
                }
                bytes_left = bytes_left.checked_sub(size).ok_or_else(|| {
                    Fault::unsupported(
                        format!("a file with the same picture more than {MOST_REPEATS} times"),
                        "let the textures share one image",
                    )
                })?;
                image_map.push(Some(images.len()));
                images.push(image);
            }
            Err(why) => {
                image_map.push(None);
                notes.push(format!("image {i} was left out: {why}"));
            }
        }
    }
    let mut textures = Vec::new();
    let mut texture_map = Vec::new();
    for (i, texture) in schema.textures.iter().enumerate() {
        let mut texture = texture.clone();
        if keep_texture(&mut texture, i, &image_map, schema.samplers.len())? {
            texture_map.push(Some(textures.len()));
            textures.push(texture);
        } else {
            texture_map.push(None);
        }
    }
    let mut materials = schema.materials.clone();
    for (i, material) in materials.iter_mut().enumerate() {
        renumber_textures(material, i, &texture_map)?;
    }
    let used = schema.extensions_used.iter();
    Ok(Materials {
        materials,
        textures,
        samplers: schema.samplers.clone(),
        images,
        extensions_used: used
            .filter(|name| schema::is_about_the_look(name))
            .cloned()
            .collect(),
    })
}

/// An image, and the file that it came from.
///
/// The inner error says why a picture is missing; the outer error means a broken glTF file.
fn load(
    path: &Path,
    index: usize,
    image: &schema::Image,
    accessors: &Accessors<'_>,
) -> Result<Result<(Image, Option<PathBuf>), String>, Fault> {
    let element = format!("image {index}");
    let mut from_file = None;
    let (bytes, media_type) = match (&image.uri, image.buffer_view) {
        (_, Some(view)) => (accessors.view(view, &element)?.to_vec(), None),
        (Some(uri), None) => match Resource::locate(path, uri, &element) {
            Ok(Resource::Inline { media_type, bytes }) => (bytes, media_type),
            Ok(Resource::Beside(file)) => match crate::read_file(&file) {
                Ok(bytes) => {
                    let media_type = type_of_name(&file);
                    from_file = Some(file);
                    (bytes, media_type)
                }
                Err(error) => return Ok(Err(format!("{}: {error}", file.display()))),
            },
            Err(fault) => return Ok(Err(fault.to_string())),
        },
        (None, None) => {
            return Err(Fault::malformed(
                element,
                "a uri or a buffer view",
                "neither",
            ));
        }
    };
    let mime_type = type_of_bytes(&bytes).map(str::to_owned);
    let mime_type = image.mime_type.clone().or(mime_type).or(media_type);
    let image = Image {
        name: image.name.clone(),
        mime_type: mime_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
        bytes,
    };
    Ok(Ok((image, from_file)))
}

fn type_of_bytes(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG") {
        Some("image/png")
    } else if bytes.starts_with(b"\xFF\xD8\xFF") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"\xABKTX 20") {
        Some("image/ktx2")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

fn type_of_name(file: &Path) -> Option<String> {
    let extension = file.extension()?.to_str()?.to_ascii_lowercase();
    Some(match &*extension {
        "jpg" => "image/jpeg".to_owned(),
        other => format!("image/{other}"),
    })
}

/// Renumbers a texture's pictures; false when it had some and all of them are gone.
///
/// Extensions such as `KHR_texture_basisu` name a second picture in another encoding.
fn keep_texture(
    texture: &mut Value,
    index: usize,
    image_map: &[Option<usize>],
    sampler_count: usize,
) -> Result<bool, Fault> {
    let element = format!("texture {index}");
    let Value::Object(texture) = texture else {
        return Err(Fault::malformed(element, "an object", texture.to_string()));
    };
    if let Some(sampler) = texture.get("sampler") {
        lookup(sampler, &element, "sampler", sampler_count)?;
    }
    let (mut kept, mut lost) = (0, 0);
    let mut renumber = |object: &mut serde_json::Map<String, Value>| -> Result<bool, Fault> {
        let Some(source) = object.get_mut("source") else {
            return Ok(true);
        };
        match image_map[lookup(source, &element, "image", image_map.len())?] {
            Some(new) => {
                *source = new.into();
                kept += 1;
                Ok(true)
            }
            None => {
                lost += 1;
                Ok(false)
            }
        }
    };
    if !renumber(texture)? {
        texture.remove("source");
    }
    if let Some(Value::Object(extensions)) = texture.get_mut("extensions") {
        let mut gone = Vec::new();
        for (name, extension) in extensions.iter_mut() {
            if let Value::Object(extension) = extension
                && !renumber(extension)?
            {
                gone.push(name.clone());
            }
        }
        for name in gone {
            extensions.remove(&name);
        }
    }
    Ok(kept > 0 || lost == 0)
}

/// Renumbers the textures that a material or a part of it names, and removes those that are gone.
///
/// In a material, only texture references are objects with an `index`, extensions included. The
/// recursion is as deep as the JSON, which the parser limits to 128 levels.
fn renumber_textures(
    value: &mut Value,
    material: usize,
    texture_map: &[Option<usize>],
) -> Result<(), Fault> {
    let element = format!("material {material}");
    let Value::Object(object) = value else {
        return Ok(());
    };
    let mut gone = Vec::new();
    for (name, child) in object.iter_mut() {
        if name == "extras" {
            continue;
        }
        if let Some(index) = child.get_mut("index") {
            match texture_map[lookup(index, &element, "texture", texture_map.len())?] {
                Some(new) => *index = new.into(),
                None => gone.push(name.clone()),
            }
        }
        renumber_textures(child, material, texture_map)?;
    }
    for name in gone {
        object.remove(&name);
    }
    Ok(())
}

/// An index in raw JSON, checked.
fn lookup(value: &Value, element: &str, what: &str, count: usize) -> Result<usize, Fault> {
    let index = value.as_u64().and_then(|i| usize::try_from(i).ok());
    index.filter(|&i| i < count).ok_or_else(|| {
        Fault::malformed(element, schema::index_below(what, count), value.to_string())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_picture_takes_its_references_along() {
        let json = json!({
            "asset": {"version": "2.0"},
            "images": [{"uri": "missing.png"}, {"uri": "data:image/png;base64,AQID"}],
            "samplers": [{"wrapS": 10497}],
            "textures": [{"source": 0, "sampler": 0}, {"source": 1, "extras": 5}, {}],
            "materials": [{
                "name": "both",
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "roughnessFactor": 0.5},
                "normalTexture": {"index": 1, "scale": 2.0},
                "extensions": {"KHR_materials_clearcoat": {
                    "clearcoatTexture": {"index": 0},
                    "clearcoatNormalTexture": {"index": 2},
                }},
                "extras": {"kept": {"index": 99}},
            }],
            "extensionsUsed": ["KHR_materials_clearcoat", "KHR_lights_punctual"],
        });
        let json = json.to_string();
        let path = Path::new("no-such-folder/model.gltf");
        let container = Container::open(path, json.as_bytes()).expect("legal");
        let accessors = Accessors::new(&container);
        let mut notes = Vec::new();
        let read =
            read(path, &container, &accessors, &mut notes).expect("a missing picture is no error");
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(
            notes[0].starts_with("image 0 was left out: no-such-folder/missing.png: "),
            "{}",
            notes[0]
        );
        assert_eq!(
            read.images,
            [Image {
                name: None,
                mime_type: "image/png".to_owned(),
                bytes: vec![1, 2, 3]
            }],
            "the other picture stays"
        );
        assert_eq!(
            read.textures,
            [json!({"source": 0, "extras": 5}), json!({})],
            "renumbered, and a texture that never had a picture stays"
        );
        assert_eq!(
            read.materials,
            [json!({
                "name": "both",
                "pbrMetallicRoughness": {"roughnessFactor": 0.5},
                "normalTexture": {"index": 0, "scale": 2.0},
                "extensions": {"KHR_materials_clearcoat": {
                    "clearcoatNormalTexture": {"index": 1},
                }},
                "extras": {"kept": {"index": 99}},
            })],
            "references to the missing one are gone, the rest is renumbered"
        );
        assert_eq!(
            read.extensions_used,
            ["KHR_materials_clearcoat"],
            "lights are not part of a material"
        );
    }

    #[test]
    fn indices_out_of_range_are_refused() {
        for (json, expected) in [
            (
                json!({"textures": [{"source": 3}]}),
                "texture 0: expected an image index below 0, found 3",
            ),
            (
                json!({"materials": [{"normalTexture": {"index": -1}}]}),
                "material 0: expected a texture index below 0, found -1",
            ),
            (
                json!({"textures": [{"sampler": 0}]}),
                "texture 0: expected a sampler index below 0, found 0",
            ),
            (
                json!({"images": [{"bufferView": 2}]}),
                "image 0: expected a buffer view index below 0, found 2",
            ),
        ] {
            let mut json = json;
            json["asset"] = json!({"version": "2.0"});
            let json = json.to_string();
            let path = Path::new("x.gltf");
            let container = Container::open(path, json.as_bytes()).expect("legal JSON");
            let accessors = Accessors::new(&container);
            let error = read(path, &container, &accessors, &mut Vec::new());
            let error = error.expect_err("out of range").to_string();
            assert_eq!(error, expected, "the index and its range");
        }
    }
}
