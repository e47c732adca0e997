//! A character with its materials, ready to be drawn in any pose.

use std::collections::HashMap;

use dermis::bake::Wrap as FileWrap;
use dermis_io::{
    Document, DrawnCharacter, DrawnPart, Format, Look, Looks, Opacity as FileOpacity, PlacedPicture,
};
use dermis_render::glam::{Vec3, Vec4};
use dermis_render::{
    CLAY, Glow, Material, NormalMap, Opacity, Paint, Shading, Sides, Surface, SurfaceFollower,
    TexturePicture, Wireframe, Wrap, linear_from_srgb3,
};

use crate::report::single;

/// A character as it is drawn, and what it wears.
pub(super) struct Stage {
    drawn: DrawnCharacter,
    looks: Looks,
    /// Linear colours of vertices, for each part.
    colors: Vec<Vec<[f32; 3]>>,
    follower: SurfaceFollower,
    textures: HashMap<TextureKey, TexturePicture>,
    /// Whether the file says which sides of triangles are seen.
    says_sides: bool,
    /// What is not shown as the file has it, a sentence each.
    pub(super) notes: Vec<String>,
}

/// Which image, what its bytes mean, and what there is beyond its borders.
type TextureKey = (usize, Encoding, [u8; 2]);

/// What the bytes of a texture mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Encoding {
    Srgb,
    Linear,
}

/// The character in one pose.
pub(super) struct Posed {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// For each part.
    tangents: Vec<Vec<Vec4>>,
}

impl Stage {
    /// Takes a document apart; `with_looks` is false for plain clay.
    pub(super) fn new(document: &Document, with_looks: bool) -> Self {
        let looks = match with_looks {
            true => Looks::of(document),
            false => Looks::default(),
        };
        let drawn = DrawnCharacter::new(document, &looks);
        let rest = single(document.mesh.positions());
        let rest: Vec<Vec3> = drawn.points.iter().map(|&p| rest[p as usize]).collect();
        let follower = SurfaceFollower::new(&rest, &drawn.triangles(), &drawn.groups);
        let colors = drawn.parts.iter().map(|part| match with_looks {
            true => part.colors.iter().map(|&[r, g, b, _]| [r, g, b]).collect(),
            false => Vec::new(),
        });
        let format = Format::of(&document.path);
        Self {
            colors: colors.collect(),
            textures: textures(&looks),
            notes: [&*looks.notes, &*drawn.notes].concat(),
            says_sides: format.is_ok_and(|f| matches!(f, Format::Glb | Format::Gltf)),
            follower,
            drawn,
            looks,
        }
    }

    /// How many triangles are drawn.
    pub(super) fn triangle_count(&self) -> usize {
        let parts = self.drawn.parts.iter();
        parts.map(|part| part.triangles.len()).sum()
    }

    /// How many vertices are drawn.
    pub(super) fn vertex_count(&self) -> usize {
        self.drawn.points.len()
    }

    /// Puts the character into a pose; `points` are the positions of the document's points.
    pub(super) fn posed(&self, points: &[Vec3]) -> Posed {
        let shown = self.drawn.points.iter();
        let positions: Vec<Vec3> = shown.map(|&p| points[p as usize]).collect();
        let shape = self.follower.shape(&positions);
        let tangents = |part: &DrawnPart| {
            let vertices = part.vertices.start as u32..part.vertices.end as u32;
            shape.tangents(&part.tangents, &vertices.collect::<Vec<u32>>())
        };
        Posed {
            normals: shape.normals(&self.drawn.normals),
            tangents: self.drawn.parts.iter().map(tangents).collect(),
            positions,
        }
    }

    /// The surfaces of a pose.
    pub(super) fn surfaces<'a>(
        &'a self,
        posed: &'a Posed,
        wireframe: Option<Wireframe>,
    ) -> Vec<Surface<'a>> {
        let surface = |(k, part): (usize, &'a DrawnPart)| {
            let vertices = part.vertices.clone();
            let positions = &posed.positions[vertices.clone()];
            let normals = &posed.normals[vertices];
            let look = part.material.map(|m| &self.looks.materials[m]);
            let paint = match look {
                Some(look) => Paint::Material(self.material(k, part, look, &posed.tangents[k])),
                None if self.colors[k].is_empty() => Paint::default(),
                None => Paint::Material(Material {
                    vertex_colors: &self.colors[k],
                    ..Material::default()
                }),
            };
            Surface {
                wireframe,
                shading: match look.is_some_and(|look| look.is_unlit) {
                    true => Shading::Unlit,
                    false => Shading::Clay,
                },
                ..Surface::new(positions, normals, &part.triangles).painted(paint)
            }
        };
        let parts = self.drawn.parts.iter().enumerate();
        parts
            .filter(|(_, part)| !part.triangles.is_empty())
            .map(surface)
            .collect()
    }

    /// What a part with a material is painted with.
    fn material<'a>(
        &'a self,
        k: usize,
        part: &'a DrawnPart,
        look: &Look,
        tangents: &'a [Vec4],
    ) -> Material<'a> {
        let texture = |placed: &Option<PlacedPicture>, encoding| {
            self.textures.get(&key(placed.as_ref()?, encoding))
        };
        let laid = |placed, uvs: &[_]| match uvs.is_empty() {
            true => None,
            false => texture(placed, Encoding::Srgb),
        };
        let bumps = texture(&look.normal_picture, Encoding::Linear);
        let picture = laid(&look.color_picture, &part.color_uvs);
        let is_unsaid = !look.says_color && picture.is_none() && self.colors[k].is_empty();
        Material {
            color: match is_unsaid {
                // White would be too bright for the light on it to show a shape.
                true => linear_from_srgb3(CLAY).extend(1.0).to_array(),
                false => look.color,
            },
            uvs: &part.color_uvs,
            picture,
            vertex_colors: &self.colors[k],
            normal_map: (bumps.filter(|_| !part.tangents.is_empty())).map(|picture| NormalMap {
                uvs: &part.normal_uvs,
                picture,
                tangents,
                scale: look.normal_scale,
            }),
            glow: (look.glow != [0.0; 3]).then(|| Glow {
                color: look.glow,
                uvs: &part.glow_uvs,
                picture: laid(&look.glow_picture, &part.glow_uvs),
            }),
            opacity: match look.opacity {
                FileOpacity::Ignored => Opacity::Ignored,
                FileOpacity::Cutoff(cutoff) => Opacity::Cutoff(cutoff),
                FileOpacity::Blended => Opacity::Blended,
            },
            sides: match (look.is_double_sided, self.says_sides) {
                (true, _) => Sides::Alike,
                (false, true) => Sides::Outer,
                (false, false) => Sides::DarkInside,
            },
        }
    }
}

fn key(placed: &PlacedPicture, encoding: Encoding) -> TextureKey {
    (placed.image, encoding, placed.wrap.map(|wrap| wrap as u8))
}

/// The textures of all materials, each made once.
fn textures(looks: &Looks) -> HashMap<TextureKey, TexturePicture> {
    let mut made = HashMap::new();
    for look in &looks.materials {
        for (placed, encoding) in [
            (&look.color_picture, Encoding::Srgb),
            (&look.glow_picture, Encoding::Srgb),
            (&look.normal_picture, Encoding::Linear),
        ] {
            let Some(placed) = placed else { continue };
            let Some(picture) = &looks.pictures[placed.image] else {
                continue;
            };
            made.entry(key(placed, encoding)).or_insert_with(|| {
                let (width, height) = (picture.width as u32, picture.height as u32);
                let pixels = picture.pixels.clone();
                let texture = match encoding {
                    Encoding::Srgb => TexturePicture::new(width, height, pixels),
                    Encoding::Linear => TexturePicture::linear(width, height, pixels),
                };
                let texture = texture.expect("a decoded picture has all of its pixels");
                texture.wrapped(placed.wrap.map(|wrap| match wrap {
                    FileWrap::Repeat => Wrap::Repeat,
                    FileWrap::Mirror => Wrap::Mirror,
                    FileWrap::Clamp => Wrap::Clamp,
                }))
            });
        }
    }
    made
}
