//! The drawn form of a subdivided document.

use crate::mesh::{DrawMesh, DrawPart};
use crate::subdiv::{AttributeRule, Subdivision, SubdivisionError, subdivide_corners};
use glam::{DVec2, DVec3, DVec4};

use super::counted;
use super::faces::{Drawn, Faces, ranks};
use crate::document::Document;

/// Values at the corners of the last level.
struct Set<V> {
    of_corner: Vec<u32>,
    values: Vec<V>,
}

/// The parts of the last level, and notes about attributes that were left out.
pub(super) fn draw(
    document: &Document,
    faces: &Faces,
    subdivision: &Subdivision,
    positions: &[DVec3],
    rule: AttributeRule,
) -> Result<(DrawMesh, Vec<String>), SubdivisionError> {
    let Some(drawn) = &faces.drawn else {
        // Without a drawn form, the writer makes one from the mesh.
        return Ok((document.draw.clone(), Vec::new()));
    };
    let parts = &document.draw.parts;
    let most = |count: fn(&DrawPart) -> usize| parts.iter().map(count).max().unwrap_or(0);
    let part = |at: &Drawn| &parts[at.part as usize];
    let uvs = (0..most(|part| part.uvs.len()))
        .map(|set| {
            let value = |at: &Drawn| {
                let values = part(at).uvs.get(set);
                values.map_or([0.0; 2], |values| values[at.vertex as usize])
            };
            let of_corner: Vec<[f32; 2]> = drawn.iter().map(value).collect();
            let to_value = |[x, y]: [f32; 2]| DVec2::new(x.into(), y.into());
            subdivided_set(subdivision, &of_corner, rule, to_value)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let colors = (0..most(|part| part.colors.len()))
        .map(|set| {
            let value = |at: &Drawn| {
                let values = part(at).colors.get(set);
                values.map_or([0.0; 4], |values| values[at.vertex as usize])
            };
            let of_corner: Vec<[f32; 4]> = drawn.iter().map(value).collect();
            let to_value = |color: [f32; 4]| DVec4::from_array(color.map(f64::from));
            subdivided_set(subdivision, &of_corner, rule, to_value)
        })
        .collect::<Result<Vec<_>, _>>()?;
    // Hard edges need normals even if the file had none.
    let has_normals = parts.iter().any(|part| !part.normals.is_empty()) || faces.crease_count > 0;
    let normals = match has_normals {
        true => Some(subdivision.finest().corner_normals(positions)?),
        false => None,
    };
    let looks = Looks {
        normals: normals.map(|normals| Set {
            of_corner: normals.normal_of_corner,
            values: normals.normals,
        }),
        uvs,
        colors,
    };

    let first_corner: Vec<usize> = (0..faces.cage.faces().len())
        .map(|face| faces.cage.faces().range(face).start)
        .collect();
    let origins = subdivision.face_origins();
    let mut faces_of_part: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
    for (face, &origin) in origins.iter().enumerate() {
        let part = drawn[first_corner[origin as usize]].part;
        faces_of_part[part as usize].push(face as u32);
    }
    let finer =
        (parts.iter().zip(&faces_of_part)).map(|(part, faces)| match part.triangles.is_empty() {
            // Parts that draw single points keep them.
            true => part.clone(),
            false => looks.part(part, faces, subdivision),
        });
    Ok((
        DrawMesh {
            parts: finer.collect(),
        },
        left_out(parts),
    ))
}

/// Notes about attributes that cannot be averaged.
fn left_out(parts: &[DrawPart]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut names: Vec<&str> = (parts.iter().flat_map(|part| &part.custom))
        .map(|custom| custom.name.as_str())
        .filter(|name| *name != "_ORIG")
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        let what = counted(names.len(), "attribute", "attributes");
        notes.push(format!(
            "{what} left out, because they may not be numbers that can be averaged: {}",
            names.join(", ")
        ));
    }
    if parts.iter().any(|part| !part.tangents.is_empty()) {
        notes.push("tangents are left out: players make them from UVs".to_owned());
    }
    notes
}

fn subdivided_set<const N: usize, V>(
    subdivision: &Subdivision,
    of_corner: &[[f32; N]],
    rule: AttributeRule,
    to_value: impl Fn([f32; N]) -> V,
) -> Result<Set<V>, SubdivisionError>
where
    V: Copy + Default + Send + Sync + std::ops::Add<Output = V> + std::ops::Mul<f64, Output = V>,
{
    // Adding zero makes -0 a +0.
    let numbers = ranks(
        of_corner
            .iter()
            .map(|value| value.map(|x| (x + 0.0).to_bits())),
    );
    let count = numbers.iter().max().map_or(0, |&most| most as usize + 1);
    let mut given = vec![V::default(); count];
    for (&number, &value) in numbers.iter().zip(of_corner) {
        given[number as usize] = to_value(value);
    }
    let finer = subdivide_corners(subdivision, &numbers, rule)?;
    Ok(Set {
        values: finer.apply(&given),
        of_corner: finer.value_of_corner().to_vec(),
    })
}

/// The attributes in which drawn copies of a point can differ.
struct Looks {
    normals: Option<Set<DVec3>>,
    uvs: Vec<Set<DVec2>>,
    colors: Vec<Set<DVec4>>,
}

impl Looks {
    /// The numbers of a corner's values.
    fn numbers(&self, corner: usize) -> impl Iterator<Item = u32> + '_ {
        let normals = self.normals.iter().map(move |set| set.of_corner[corner]);
        let uvs = self.uvs.iter().map(move |set| set.of_corner[corner]);
        let colors = self.colors.iter().map(move |set| set.of_corner[corner]);
        normals.chain(uvs).chain(colors)
    }

    /// One part of the last level: each point once for every different set of attributes.
    fn part(&self, part: &DrawPart, faces: &[u32], subdivision: &Subdivision) -> DrawPart {
        const NONE: u32 = u32::MAX;
        let finest = subdivision.finest();
        // The copies of a point are a chain of drawn vertices.
        let mut latest = vec![NONE; finest.point_count()];
        let mut earlier: Vec<u32> = Vec::new();
        let mut corner_of: Vec<u32> = Vec::new();
        let mut points: Vec<u32> = Vec::new();
        let mut triangles = Vec::with_capacity(2 * faces.len());
        let mut vertices: Vec<u32> = Vec::new();
        for &face in faces {
            vertices.clear();
            for corner in finest.faces().range(face as usize) {
                let point = finest.faces().items()[corner];
                let mut copy = latest[point as usize];
                while copy != NONE
                    && !self
                        .numbers(corner)
                        .eq(self.numbers(corner_of[copy as usize] as usize))
                {
                    copy = earlier[copy as usize];
                }
                if copy == NONE {
                    copy = points.len() as u32;
                    earlier.push(latest[point as usize]);
                    latest[point as usize] = copy;
                    corner_of.push(corner as u32);
                    points.push(point);
                }
                vertices.push(copy);
            }
            let fan = vertices[1..].windows(2);
            triangles.extend(fan.map(|edge| [vertices[0], edge[0], edge[1]]));
        }
        let corners = || corner_of.iter().map(|&corner| corner as usize);
        DrawPart {
            mesh_name: part.mesh_name.clone(),
            material: part.material,
            normals: self.normals.as_ref().map_or(Vec::new(), |set| {
                let normal = |c: usize| set.values[set.of_corner[c] as usize];
                corners().map(|c| normal(c).as_vec3().to_array()).collect()
            }),
            tangents: Vec::new(),
            uvs: (self.uvs.iter().take(part.uvs.len()))
                .map(|set| {
                    let value = |c: usize| set.values[set.of_corner[c] as usize];
                    corners().map(|c| value(c).as_vec2().to_array()).collect()
                })
                .collect(),
            colors: (self.colors.iter().take(part.colors.len()))
                .map(|set| {
                    let value = |c: usize| set.values[set.of_corner[c] as usize];
                    corners().map(|c| value(c).as_vec4().to_array()).collect()
                })
                .collect(),
            custom: Vec::new(),
            points,
            triangles,
        }
    }
}
