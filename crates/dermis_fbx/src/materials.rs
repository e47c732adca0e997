//! Materials as glTF has them: base colour, roughness, metalness and the picture of the base colour.

use dermis::document::{Image, Materials};
use serde_json::{Map, Value, json};
use ufbx::{Material, MaterialMap, Scene, Texture};

use crate::load::{Beside, last_name};

/// The materials in use, by their numbers in the scene.
pub(crate) fn read(
    scene: &Scene,
    numbers: &[u32],
    beside: &Beside<'_>,
    notes: &mut Vec<String>,
) -> Materials {
    let mut all = Materials::default();
    for &number in numbers {
        let material = &scene.materials[number as usize];
        let texture = base_texture(material);
        let picture = texture.and_then(|texture| image_of(texture, beside, &mut all, notes));
        all.materials.push(gltf_material(material, picture));
    }
    all
}

fn base_texture(material: &Material) -> Option<&Texture> {
    let of = |map: &MaterialMap| map.texture_enabled && map.texture.is_some();
    let maps = [&material.pbr.base_color, &material.fbx.diffuse_color];
    let map = maps.into_iter().find(|map| of(map))?;
    map.texture.as_deref()
}

fn gltf_material(material: &Material, picture: Option<usize>) -> Value {
    let pbr = &material.pbr;
    let share = |map: &MaterialMap, usual: f64| match map.has_value {
        true => map.value_vec4.x.clamp(0.0, 1.0),
        false => usual,
    };
    let factor = share(&pbr.base_factor, 1.0);
    let base = match (&picture, pbr.base_color.has_value) {
        // The picture has the colour; the value beside it is not used by programs that write FBX.
        (Some(_), _) | (_, false) => [1.0; 3],
        (None, true) => {
            let c = pbr.base_color.value_vec4;
            [c.x, c.y, c.z].map(|c| (factor * c).clamp(0.0, 1.0))
        }
    };
    let opacity = match pbr.opacity.has_value {
        true => pbr.opacity.value_vec4.x.clamp(0.0, 1.0),
        false => 1.0,
    };
    let mut look = Map::new();
    let [r, g, b] = base;
    look.insert("baseColorFactor".to_owned(), json!([r, g, b, opacity]));
    look.insert(
        "metallicFactor".to_owned(),
        json!(share(&pbr.metalness, 0.0)),
    );
    look.insert(
        "roughnessFactor".to_owned(),
        json!(share(&pbr.roughness, 1.0)),
    );
    if let Some(index) = picture {
        look.insert("baseColorTexture".to_owned(), json!({ "index": index }));
    }
    let mut value = json!({
        "name": material.element.name.to_string(),
        "pbrMetallicRoughness": look,
    });
    if opacity < 1.0 {
        value["alphaMode"] = json!("BLEND");
    }
    value
}

/// The number of the glTF texture that shows a picture, which is added if it is new.
fn image_of(
    texture: &Texture,
    beside: &Beside<'_>,
    all: &mut Materials,
    notes: &mut Vec<String>,
) -> Option<usize> {
    let own = texture.content.as_ref_bytes();
    let name = [
        &texture.relative_filename,
        &texture.filename,
        &texture.absolute_filename,
    ]
    .into_iter()
    .find(|name| !name.is_empty())?
    .to_string();
    let shown = last_name(&name).to_owned();
    if let Some(known) = (all.images.iter()).position(|image| image.name.as_deref() == Some(&shown))
    {
        return Some(known);
    }
    let found;
    let bytes = match own.is_empty() {
        false => own,
        true => {
            found = beside.find(&name)?;
            &found
        }
    };
    let mime_type = match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        _ => {
            notes.push(format!(
                "texture {shown} is neither PNG nor JPEG: left out, convert it first"
            ));
            return None;
        }
    };
    all.images.push(Image {
        name: Some(shown),
        mime_type: mime_type.to_owned(),
        bytes: bytes.to_vec(),
    });
    all.textures.push(json!({ "source": all.images.len() - 1 }));
    Some(all.textures.len() - 1)
}

/// The bytes of a blob.
trait Bytes {
    fn as_ref_bytes(&self) -> &[u8];
}

impl Bytes for ufbx::Blob {
    fn as_ref_bytes(&self) -> &[u8] {
        self
    }
}
