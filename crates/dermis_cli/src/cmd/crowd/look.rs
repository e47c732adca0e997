//! What a crowd shows of a file's materials.

use dermis_gpu::crowd::{CrowdLook, PartLook};
use dermis_io::{Document, Looks, Opacity};
use dermis_render::{CLAY, Image};

/// Base colours and their pictures, for each part of the document.
pub(super) fn look(document: &Document) -> (CrowdLook, Vec<String>) {
    let looks = Looks::of(document);
    let mut look = CrowdLook::default();
    let mut number_of_image = vec![None; looks.pictures.len()];
    for (image, picture) in looks.pictures.iter().enumerate() {
        let is_shown = looks
            .materials
            .iter()
            .any(|m| m.color_picture.is_some_and(|placed| placed.image == image));
        if let (Some(picture), true) = (picture, is_shown) {
            let mut copy = Image::new(picture.width as u32, picture.height as u32, [255; 4]);
            for (at, pixel) in picture.pixels.iter().enumerate() {
                copy.set_pixel(
                    (at % picture.width) as u32,
                    (at / picture.width) as u32,
                    *pixel,
                );
            }
            number_of_image[image] = Some(look.pictures.len());
            look.pictures.push(copy);
        }
    }
    let clay = CLAY.map(|c| c.powf(2.2));
    for part in &document.draw.parts {
        let material = part.material.and_then(|number| looks.materials.get(number));
        look.parts.push(match material {
            None => PartLook {
                color: [clay[0], clay[1], clay[2], 1.0],
                ..PartLook::default()
            },
            Some(material) => PartLook {
                color: material.color,
                picture: material
                    .color_picture
                    .and_then(|placed| number_of_image[placed.image]),
                cutoff: match material.opacity {
                    Opacity::Cutoff(cutoff) => cutoff,
                    Opacity::Ignored | Opacity::Blended => 0.0,
                },
            },
        });
    }
    (look, looks.notes)
}
