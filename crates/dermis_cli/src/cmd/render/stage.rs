//! A character with its materials, ready to be drawn in any pose.

use std::collections::HashMap;
use std::ops::Range;

use dermis::bake::{DrawnSurface, Frames, Wrap as FileWrap};
use dermis::mesh::{DrawMesh, DrawPart};
use dermis_io::{Document, Format, Look, Looks, Opacity, PlacedPicture};
use dermis_render::glam::{Vec2, Vec3, Vec4};
use dermis_render::{
    Glow, Material, NormalMap, Paint, Shading, Sides, Surface, SurfaceFollower, TexturePicture,
    Wireframe, Wrap, smooth_normals,
};

use crate::report::single;

/// A character as it is drawn: vertices of all parts in one list.
pub(super) struct Stage {
    parts: Vec<Part>,
    /// The point that each vertex shows.
    points: Vec<u32>,
    rest_normals: Vec<Vec3>,
    follower: SurfaceFollower,
    textures: Vec<TexturePicture>,
    /// What is not shown as the file has it, a sentence each.
    pub(super) notes: Vec<String>,
}

/// A part with one material.
struct Part {
    vertices: Range<usize>,
    /// Corners, counted from the first vertex of the part.
    triangles: Vec<[u32; 3]>,
    /// What its material says; `None` for clay.
    look: Option<Look>,
    sides: Sides,
    colors: Vec<[f32; 3]>,
    color_map: Option<Laid>,
    glow_map: Option<Laid>,
    normal_map: Option<Laid>,
    /// Tangents at rest, for the normal map.
    tangents: Vec<Vec4>,
}

/// A texture, and where the vertices of a part are on it.
struct Laid {
    texture: usize,
    uvs: Vec<Vec2>,
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
        let mut shelf = Shelf::new(&looks, with_looks);
        let plain;
        let draw = match document.draw.parts.is_empty() {
            false => &document.draw,
            true => {
                let mesh = &document.mesh;
                plain = DrawMesh::plain("mesh", mesh.vertex_count(), mesh.triangles());
                &plain
            }
        };
        let rest = single(document.mesh.positions());
        let smooth = smooth_normals(&rest, document.mesh.triangles());
        let is_gltf = Format::of(&document.path)
            .is_ok_and(|format| matches!(format, Format::Glb | Format::Gltf));
        let mut stage = Self {
            parts: Vec::new(),
            points: Vec::new(),
            rest_normals: Vec::new(),
            follower: SurfaceFollower::new(&[], &[], &[]),
            textures: Vec::new(),
            notes: looks.notes.clone(),
        };
        let mut triangles = Vec::new();
        for drawn in &draw.parts {
            let look = drawn.material.and_then(|m| looks.materials.get(m));
            let normals = normals_of(drawn, &smooth);
            let first = stage.points.len() as u32;
            let (part, origins) = Part::new(drawn, look, &normals, &rest, is_gltf, &mut shelf);
            triangles.extend((part.triangles.iter()).map(|corners| corners.map(|v| first + v)));
            let origins = origins.iter().map(|&origin| origin as usize);
            stage
                .points
                .extend(origins.clone().map(|o| drawn.points[o]));
            stage.rest_normals.extend(origins.map(|o| normals[o]));
            let vertices = first as usize..stage.points.len();
            stage.parts.push(Part { vertices, ..part });
        }
        let drawn_rest: Vec<Vec3> = stage.points.iter().map(|&p| rest[p as usize]).collect();
        let groups = groups(&stage.points, &stage.rest_normals);
        stage.follower = SurfaceFollower::new(&drawn_rest, &triangles, &groups);
        stage.notes.extend(shelf.notes);
        stage.textures = shelf.textures;
        stage
    }

    /// How many triangles are drawn.
    pub(super) fn triangle_count(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }

    /// How many vertices are drawn.
    pub(super) fn vertex_count(&self) -> usize {
        self.points.len()
    }

    /// Puts the character into a pose; `points` are the positions of the document's points.
    pub(super) fn posed(&self, points: &[Vec3]) -> Posed {
        let positions: Vec<Vec3> = self.points.iter().map(|&p| points[p as usize]).collect();
        let shape = self.follower.shape(&positions);
        let tangents = |part: &Part| {
            let first = part.vertices.start as u32;
            let origins: Vec<u32> = (first..part.vertices.end as u32).collect();
            shape.tangents(&part.tangents, &origins)
        };
        Posed {
            normals: shape.normals(&self.rest_normals),
            tangents: self.parts.iter().map(tangents).collect(),
            positions,
        }
    }

    /// The surfaces of a pose.
    pub(super) fn surfaces<'a>(
        &'a self,
        posed: &'a Posed,
        wireframe: Option<Wireframe>,
    ) -> Vec<Surface<'a>> {
        let surface = |(part, tangents): (&'a Part, &'a Vec<Vec4>)| {
            let vertices = part.vertices.clone();
            let positions = &posed.positions[vertices.clone()];
            let normals = &posed.normals[vertices];
            let is_unlit = part.look.as_ref().is_some_and(|look| look.is_unlit);
            let paint = self.material(part, tangents);
            Surface {
                wireframe,
                shading: match is_unlit {
                    true => Shading::Unlit,
                    false => Shading::Clay,
                },
                paint: paint.map_or(Paint::default(), Paint::Material),
                ..Surface::new(positions, normals, &part.triangles)
            }
        };
        let parts = self.parts.iter().zip(&posed.tangents);
        parts
            .filter(|(part, _)| !part.triangles.is_empty())
            .map(surface)
            .collect()
    }

    /// What a part is painted with; `None` for clay.
    fn material<'a>(&'a self, part: &'a Part, tangents: &'a [Vec4]) -> Option<Material<'a>> {
        let plain = Material {
            vertex_colors: &part.colors,
            sides: part.sides,
            ..Material::default()
        };
        let Some(look) = &part.look else {
            return (!part.colors.is_empty()).then_some(plain);
        };
        let texture = |laid: &Laid| &self.textures[laid.texture];
        let glows = look.glow != [0.0; 3];
        Some(Material {
            color: look.color,
            uvs: part.color_map.as_ref().map_or(&[], |laid| &laid.uvs),
            picture: part.color_map.as_ref().map(texture),
            normal_map: part.normal_map.as_ref().map(|laid| NormalMap {
                uvs: &laid.uvs,
                picture: texture(laid),
                tangents,
                scale: look.normal_scale,
            }),
            glow: glows.then(|| Glow {
                color: look.glow,
                uvs: part.glow_map.as_ref().map_or(&[], |laid| &laid.uvs),
                picture: part.glow_map.as_ref().map(texture),
            }),
            cutoff: match look.opacity {
                Opacity::Ignored => None,
                Opacity::Cutoff(cutoff) => Some(cutoff),
                // Nothing shines through in these pictures: what a picture has half of is there, what is faint as a whole
                // is there, too.
                Opacity::Blended => Some(0.5 * look.color[3]),
            },
            ..plain
        })
    }
}

impl Part {
    /// A part of a drawn mesh, and which of its vertices each vertex is a copy of: normal maps may need some twice.
    fn new(
        drawn: &DrawPart,
        look: Option<&Look>,
        normals: &[Vec3],
        rest: &[Vec3],
        is_gltf: bool,
        shelf: &mut Shelf<'_>,
    ) -> (Self, Vec<u32>) {
        let mut part = Self {
            vertices: 0..0,
            triangles: drawn.triangles.clone(),
            look: look.cloned(),
            sides: match look {
                Some(look) if look.is_double_sided => Sides::Alike,
                // Other formats do not say which sides are seen.
                Some(_) if is_gltf => Sides::Outer,
                _ => Sides::DarkInside,
            },
            colors: Vec::new(),
            color_map: None,
            glow_map: None,
            normal_map: None,
            tangents: Vec::new(),
        };
        let mut origins: Vec<u32> = (0..drawn.points.len() as u32).collect();
        let bumps = look.and_then(|look| look.normal_picture);
        if let Some(placed) = bumps.filter(|placed| shelf.has_uvs(placed, drawn)) {
            match tangents(drawn, &placed, normals, rest) {
                Some(found) => {
                    part.tangents = found.tangents;
                    part.triangles = found.triangles;
                    origins = found.origins;
                    part.normal_map = shelf.laid(&placed, drawn, &origins, Encoding::Linear);
                }
                None => shelf.note(format!(
                    "the normal map of '{}' is not shown: its texture coordinates are not finite",
                    drawn.mesh_name
                )),
            }
        }
        if let Some(look) = look {
            let mut laid = |placed: &Option<PlacedPicture>| {
                let placed = placed.as_ref()?;
                shelf.laid(placed, drawn, &origins, Encoding::Srgb)
            };
            part.color_map = laid(&look.color_picture);
            part.glow_map = laid(&look.glow_picture);
        }
        if shelf.has_looks
            && let Some(colors) = drawn.colors.first()
        {
            let color = |&o: &u32| {
                let [r, g, b, _] = colors[o as usize];
                [r, g, b]
            };
            part.colors = origins.iter().map(color).collect();
        }
        (part, origins)
    }
}

/// What the bytes of a texture mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Encoding {
    Srgb,
    Linear,
}

/// Textures, each made once.
struct Shelf<'a> {
    looks: &'a Looks,
    has_looks: bool,
    textures: Vec<TexturePicture>,
    known: HashMap<(usize, Encoding, [u8; 2]), usize>,
    notes: Vec<String>,
}

impl<'a> Shelf<'a> {
    fn new(looks: &'a Looks, has_looks: bool) -> Self {
        Self {
            looks,
            has_looks,
            textures: Vec::new(),
            known: HashMap::new(),
            notes: Vec::new(),
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Whether a part has the texture coordinates of a picture; a note where it has not.
    fn has_uvs(&mut self, placed: &PlacedPicture, part: &DrawPart) -> bool {
        let has = part.uvs.get(placed.uv_set).is_some();
        if !has {
            self.note(format!(
                "image {} is not shown on '{}', which has no texture coordinates TEXCOORD_{}",
                placed.image, part.mesh_name, placed.uv_set
            ));
        }
        has
    }

    /// A picture on a part whose vertices are copies of others.
    fn laid(
        &mut self,
        placed: &PlacedPicture,
        part: &DrawPart,
        origins: &[u32],
        encoding: Encoding,
    ) -> Option<Laid> {
        if !self.has_uvs(placed, part) {
            return None;
        }
        let all = placed.coordinates(part)?;
        let uvs = origins.iter().map(|&o| Vec2::from(all[o as usize]));
        let key = (placed.image, encoding, placed.wrap.map(|wrap| wrap as u8));
        let texture = match self.known.get(&key) {
            Some(&texture) => texture,
            None => {
                let made = self.texture(placed, encoding)?;
                self.textures.push(made);
                self.known.insert(key, self.textures.len() - 1);
                self.textures.len() - 1
            }
        };
        Some(Laid {
            texture,
            uvs: uvs.collect(),
        })
    }

    fn texture(&self, placed: &PlacedPicture, encoding: Encoding) -> Option<TexturePicture> {
        let picture = self.looks.pictures.get(placed.image)?.as_ref()?;
        let (width, height) = (picture.width as u32, picture.height as u32);
        let pixels = picture.pixels.clone();
        let made = match encoding {
            Encoding::Srgb => TexturePicture::new(width, height, pixels),
            Encoding::Linear => TexturePicture::linear(width, height, pixels),
        };
        let wrap = placed.wrap.map(|wrap| match wrap {
            FileWrap::Repeat => Wrap::Repeat,
            FileWrap::Mirror => Wrap::Mirror,
            FileWrap::Clamp => Wrap::Clamp,
        });
        // A picture that was decoded has all of its pixels.
        Some(made.ok()?.wrapped(wrap))
    }
}

/// Tangents for a normal map: those of the file, else as MikkTSpace makes them, for which some vertices are split.
struct Tangents {
    tangents: Vec<Vec4>,
    triangles: Vec<[u32; 3]>,
    origins: Vec<u32>,
}

fn tangents(
    part: &DrawPart,
    placed: &PlacedPicture,
    normals: &[Vec3],
    rest: &[Vec3],
) -> Option<Tangents> {
    if !part.tangents.is_empty() {
        return Some(Tangents {
            tangents: part.tangents.iter().map(|&t| t.into()).collect(),
            triangles: part.triangles.clone(),
            origins: (0..part.points.len() as u32).collect(),
        });
    }
    let uvs = placed.coordinates(part)?;
    let positions = [(part.points.iter())
        .map(|&p| rest[p as usize].as_dvec3())
        .collect()];
    let normals = [normals.iter().map(|n| n.as_dvec3()).collect()];
    let frames = Frames::at_rest(&DrawnSurface {
        triangles: &part.triangles,
        parts: &[],
        uvs: &uvs,
        positions: &positions,
        normals: &normals,
    });
    let frames = frames.ok()?;
    Some(Tangents {
        tangents: (frames.gltf_tangents().iter()).map(|&t| t.into()).collect(),
        triangles: frames.triangles,
        origins: frames.origins,
    })
}

/// The unit normals of a part at rest: its own where they are usable, else the smooth ones of the points.
fn normals_of(part: &DrawPart, smooth: &[Vec3]) -> Vec<Vec3> {
    let own = |(vertex, &point): (usize, &u32)| {
        let own = part.normals.get(vertex).map(|&n| Vec3::from(n));
        let own = own.and_then(Vec3::try_normalize);
        own.unwrap_or_else(|| smooth[point as usize].try_normalize().unwrap_or(Vec3::Y))
    };
    part.points.iter().enumerate().map(own).collect()
}

/// Which vertices are shaded as one: those of one point and one normal.
fn groups(points: &[u32], normals: &[Vec3]) -> Vec<u32> {
    let mut known: HashMap<(u32, [u32; 3]), u32> = HashMap::new();
    let group = |(&point, normal): (&u32, &Vec3)| {
        let next = known.len() as u32;
        let key = (point, normal.to_array().map(f32::to_bits));
        *known.entry(key).or_insert(next)
    };
    points.iter().zip(normals).map(group).collect()
}
