//! How a character looks: its materials in plain numbers and its pictures, decoded, as whoever draws it wants them.
//!
//! Files say far more than this of a surface. What is here is what a picture in plain light needs: colours, opacity, bumps,
//! glow, and which sides are seen. Metal, roughness and occlusion are not.

mod drawn;
mod material;

use dermis::bake::Picture;
use dermis::document::Document;

use crate::decode_image;

pub use drawn::{DrawnCharacter, DrawnPart};
pub use material::{Look, Opacity, PlacedPicture};

/// The materials of a document, and the pictures that they show.
///
/// ```
/// use dermis::document::Document;
/// use dermis_io::{Looks, Opacity};
/// use serde_json::json;
///
/// let mut document = Document::default();
/// document.materials.materials = vec![json!({
///     "pbrMetallicRoughness": { "baseColorFactor": [1.0, 0.5, 0.0, 1.0] }, "alphaMode": "MASK"
/// })];
/// let looks = Looks::of(&document);
/// assert_eq!(looks.materials[0].color, [1.0, 0.5, 0.0, 1.0]);
/// assert_eq!(looks.materials[0].opacity, Opacity::Cutoff(0.5));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Looks {
    /// One for each material of the document, in its order.
    pub materials: Vec<Look>,
    /// One for each image of the document, in its order; `None` for those that no material shows, and for those that cannot
    /// be read, which materials here do not name.
    pub pictures: Vec<Option<Picture>>,
    /// Pictures that cannot be read, a sentence each.
    pub notes: Vec<String>,
}

impl Looks {
    /// Reads the materials of a document and decodes the pictures that they show.
    pub fn of(document: &Document) -> Self {
        let all = &document.materials;
        let mut looks = Self {
            materials: (all.materials.iter())
                .map(|material| Look::new(material, all))
                .collect(),
            pictures: vec![None; all.images.len()],
            notes: Vec::new(),
        };
        let shown = looks.materials.iter().flat_map(Look::pictures);
        let mut shown: Vec<usize> = shown.map(|placed| placed.image).collect();
        shown.sort_unstable();
        shown.dedup();
        for image in shown {
            match decode_image(&all.images[image].bytes) {
                Ok(picture) => looks.pictures[image] = Some(picture),
                Err(error) => {
                    let name = all.images[image].name.as_ref();
                    let name = name.map_or(String::new(), |name| format!(" '{name}'"));
                    (looks.notes).push(format!("image {image}{name} is not shown: {error}"));
                }
            }
        }
        for look in &mut looks.materials {
            look.keep_pictures(|image| looks.pictures[image].is_some());
        }
        looks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode_png;
    use dermis::document::Image;
    use serde_json::json;

    #[test]
    fn pictures_that_materials_show_are_decoded_and_broken_ones_are_told_of() {
        let green = Picture {
            width: 1,
            height: 1,
            pixels: vec![[0, 255, 0, 255]],
        };
        let png = encode_png(&green).expect("a pixel");
        let image = |name: Option<&str>, bytes: &[u8]| Image {
            name: name.map(str::to_owned),
            mime_type: "image/png".to_owned(),
            bytes: bytes.to_vec(),
        };
        let mut document = Document::default();
        let materials = &mut document.materials;
        materials.images = vec![
            image(None, &png),
            image(Some("skin"), b"RIFF....WEBP"),
            image(None, &png),
        ];
        materials.textures = vec![json!({"source": 1}), json!({"source": 2}), json!({})];
        materials.materials = vec![json!({
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
            "normalTexture": {"index": 1}, "emissiveTexture": {"index": 2},
        })];
        let looks = Looks::of(&document);
        assert_eq!(
            looks.pictures,
            [None, None, Some(green)],
            "the one that is shown"
        );
        let look = &looks.materials[0];
        assert!(look.color_picture.is_none(), "it cannot be read");
        assert!(look.normal_picture.is_some(), "it can");
        assert!(look.glow_picture.is_none(), "its texture has no picture");
        assert_eq!(
            looks.notes,
            ["image 1 'skin' is not shown: the picture is WebP; dermis reads PNG and JPEG"],
            "the sentence"
        );
    }
}
