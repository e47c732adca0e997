//! Materials, textures and pictures, passed on as glTF's own JSON.

use serde_json::{Map, Value, json};

use super::builder::Builder;
use crate::{Fault, Materials};

/// The arrays of the file for materials, textures and pictures.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Name of each array and what is in it; empty arrays are left out, as glTF demands.
    pub(super) arrays: Vec<(&'static str, Vec<Value>)>,
    /// Extensions that the objects use, each once.
    pub(super) extensions_used: Vec<String>,
    /// Extensions that hold the only picture of some texture.
    pub(super) extensions_required: Vec<String>,
}

/// Adds the pictures to the buffer and checks the references of the objects.
///
/// Indices are unchanged, so that those in unknown extensions stay right.
pub(super) fn add_looks(builder: &mut Builder, looks: &Materials) -> Result<Looks, Fault> {
    let mut images = Vec::with_capacity(looks.images.len());
    for (number, image) in looks.images.iter().enumerate() {
        if image.bytes.is_empty() {
            return Err(Fault::malformed(
                format!("image {number}"),
                "an encoded picture",
                "no bytes",
            ));
        }
        let view = builder.view(&image.bytes, None);
        let mut json = json!({ "mimeType": image.mime_type, "bufferView": view.value() });
        if let Some(name) = &image.name {
            json["name"] = json!(name);
        }
        images.push(json);
    }
    let mut extensions_used: Vec<String> = Vec::new();
    let mut extensions_required: Vec<String> = Vec::new();
    for (number, texture) in looks.textures.iter().enumerate() {
        let element = format!("texture {number}");
        check_index(
            &element,
            &texture["sampler"],
            "samplers",
            looks.samplers.len(),
        )?;
        check_index(&element, &texture["source"], "images", images.len())?;
        for (name, extension) in objects(&texture["extensions"]) {
            let source = &extension["source"];
            check_index(
                &format!("{element}, {name}"),
                source,
                "images",
                images.len(),
            )?;
            if source.is_u64() && texture["source"].is_null() {
                add_once(&mut extensions_required, name);
            }
        }
    }
    for (number, material) in looks.materials.iter().enumerate() {
        check_textures(
            &format!("material {number}"),
            material,
            looks.textures.len(),
        )?;
    }
    for object in [&looks.materials, &looks.textures, &looks.samplers]
        .into_iter()
        .flatten()
    {
        collect_extensions(object, &mut extensions_used);
    }
    let mut arrays = vec![
        ("materials", looks.materials.clone()),
        ("textures", looks.textures.clone()),
        ("samplers", looks.samplers.clone()),
        ("images", images),
    ];
    arrays.retain(|(_, objects)| !objects.is_empty());
    Ok(Looks {
        arrays,
        extensions_used,
        extensions_required,
    })
}

/// The members of a JSON object; none for any other value.
fn objects(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn check_index(element: &str, index: &Value, what: &str, count: usize) -> Result<(), Fault> {
    let in_range = |i: u64| usize::try_from(i).is_ok_and(|i| i < count);
    if index.is_null() || index.as_u64().is_some_and(in_range) {
        return Ok(());
    }
    Err(Fault::malformed(
        element,
        format!("one of {count} {what}"),
        index.to_string(),
    ))
}

/// Checks every texture that a material names: members called `...Texture` with an `index`.
fn check_textures(element: &str, value: &Value, count: usize) -> Result<(), Fault> {
    for (name, member) in objects(value) {
        if name == "extras" {
            continue;
        }
        if name.ends_with("Texture") {
            let element = format!("{element}, {name}");
            check_index(&element, &member["index"], "textures", count)?;
        }
        check_textures(element, member, count)?;
    }
    Ok(())
}

/// Finds the extensions that an object and everything in it use.
fn collect_extensions(value: &Value, used: &mut Vec<String>) {
    for (name, member) in objects(value) {
        if name == "extras" {
            continue;
        }
        if name == "extensions" {
            objects(member).for_each(|(extension, _)| add_once(used, extension));
        }
        collect_extensions(member, used);
    }
    for item in value.as_array().into_iter().flatten() {
        collect_extensions(item, used);
    }
}

fn add_once(list: &mut Vec<String>, name: &str) {
    if !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    fn picture() -> Image {
        Image {
            name: Some("skin".to_owned()),
            mime_type: "image/webp".to_owned(),
            bytes: vec![1, 2, 3],
        }
    }

    #[test]
    fn used_extensions_are_declared_and_required_when_they_hold_the_only_picture() {
        let looks = Materials {
            materials: vec![json!({
                "pbrMetallicRoughness": { "baseColorTexture": {
                    "index": 0,
                    "extensions": { "KHR_texture_transform": {} },
                }},
                "extras": { "extensions": { "NOT_real": {} } },
            })],
            textures: vec![json!({ "extensions": { "EXT_texture_webp": { "source": 0 } } })],
            images: vec![picture()],
            extensions_used: vec!["KHR_unused".to_owned()],
            ..Materials::default()
        };
        let mut builder = Builder::default();
        let written = add_looks(&mut builder, &looks).expect("consistent");
        assert_eq!(
            written.extensions_used,
            ["KHR_texture_transform", "EXT_texture_webp"],
            "only what the objects use"
        );
        assert_eq!(
            written.extensions_required,
            ["EXT_texture_webp"],
            "no fallback"
        );
        assert_eq!(
            written.arrays[2],
            (
                "images",
                vec![json!({ "mimeType": "image/webp", "bufferView": 0, "name": "skin" })]
            ),
            "embedded; no samplers, no array of them"
        );
        assert_eq!(builder.bytes, [1, 2, 3, 0], "padded to four");
    }

    #[test]
    fn references_past_the_end_are_refused() {
        let look = |texture: Value, material: Value| Materials {
            materials: vec![material],
            textures: vec![texture],
            images: vec![picture()],
            ..Materials::default()
        };
        for (looks, message) in [
            (
                look(json!({ "source": 1 }), json!({})),
                "one of 1 images, found 1",
            ),
            (
                look(json!({ "sampler": 0 }), json!({})),
                "one of 0 samplers",
            ),
            (
                look(json!({}), json!({ "normalTexture": { "index": -1 } })),
                "material 0, normalTexture: expected one of 1 textures, found -1",
            ),
        ] {
            let fault = add_looks(&mut Builder::default(), &looks).expect_err(message);
            assert!(
                fault.to_string().contains(message),
                "expected {message}, found {fault}"
            );
        }
    }
}
