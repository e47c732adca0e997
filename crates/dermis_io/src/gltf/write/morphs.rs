//! Corrections and frames to morph targets.

use std::borrow::Cow;
use std::ops::Range;

use dermis::mesh::vertex_normals;
use dermis::skin::Correction;
use glam::DVec3;
use gltf_json::mesh::MorphTarget;

use super::builder::Builder;
use super::meshes::Surface;
use super::normals::normal_deltas;
use crate::{Fault, Frame};

/// A shape that the rest shape can move towards.
pub(super) enum Shape<'a> {
    /// A correction of the skin.
    Correction {
        /// Its displacements at coefficient 1.
        correction: &'a Correction<DVec3>,
        /// Name shown to people.
        name: &'a str,
        /// Its coefficient in the default pose.
        default: f64,
        /// Whether it needs a target even if it moves no vertex; the first mesh has it then.
        must_stay: bool,
    },
    /// A mesh of a sequence.
    Frame(&'a Frame),
}

/// The morph targets of one mesh.
#[derive(Default)]
pub(super) struct MeshTargets {
    /// Which of the shapes the mesh has.
    pub(super) shapes: Vec<usize>,
    /// The same targets for each drawn part of the mesh.
    pub(super) targets_of_part: Vec<Vec<MorphTarget>>,
}

impl Shape<'_> {
    /// Name shown to people.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Correction { name, .. } => name,
            Self::Frame(frame) => &frame.name,
        }
    }

    /// The shape's weight in the default pose.
    pub(super) fn default_weight(&self) -> f64 {
        match self {
            Self::Correction { default, .. } => *default,
            Self::Frame(_) => 0.0,
        }
    }

    /// Where every point stands when the shape is fully on.
    fn positions(&self, rest: &[DVec3]) -> Cow<'_, [DVec3]> {
        match self {
            Self::Frame(frame) => Cow::Borrowed(&frame.positions),
            Self::Correction { correction, .. } => {
                let mut moved = rest.to_vec();
                for delta in &correction.deltas {
                    moved[delta.index as usize] += delta.value;
                }
                Cow::Owned(moved)
            }
        }
    }

    /// Whether a mesh has the shape as a target: always for frames, and for corrections that move the mesh.
    fn concerns(&self, surface: &Surface<'_>, mesh: Range<usize>, moved: &[DVec3]) -> bool {
        let mut points = surface.drawn(mesh).flat_map(|(_, part)| &part.points);
        match self {
            Self::Frame(_) => true,
            Self::Correction { .. } => {
                points.any(|&p| moved[p as usize] != surface.rest[p as usize])
            }
        }
    }
}

/// Adds the morph targets of all meshes, one shape after the other.
///
/// `triangles` are corners in point numbers. Normals follow the surface: see [`normal_deltas`].
pub(super) fn add_targets(
    builder: &mut Builder,
    surface: &Surface<'_>,
    meshes: &[Range<usize>],
    triangles: &[[u32; 3]],
    rest_smooth: &[DVec3],
    shapes: &[Shape<'_>],
) -> Result<Vec<MeshTargets>, Fault> {
    let mut targets: Vec<MeshTargets> = (meshes.iter())
        .map(|mesh| MeshTargets {
            shapes: Vec::new(),
            targets_of_part: vec![Vec::new(); surface.drawn(mesh.clone()).count()],
        })
        .collect();
    for (number, shape) in shapes.iter().enumerate() {
        let moved = shape.positions(surface.rest);
        let moved_smooth = vertex_normals(&moved, triangles);
        let concerns = |mesh: &Range<usize>| shape.concerns(surface, mesh.clone(), &moved);
        let mut concerned: Vec<bool> = meshes.iter().map(concerns).collect();
        if let (
            Shape::Correction {
                must_stay: true, ..
            },
            false,
            Some(first),
        ) = (shape, concerned.contains(&true), concerned.first_mut())
        {
            *first = true;
        }
        let own = meshes.iter().zip(&mut targets).zip(concerned);
        for ((mesh, targets), _) in own.filter(|(_, concerned)| *concerned) {
            targets.shapes.push(number);
            let parts = surface.drawn(mesh.clone());
            for ((part_number, part), list) in parts.zip(&mut targets.targets_of_part) {
                let delta = |&p: &u32| {
                    let delta = moved[p as usize] - surface.rest[p as usize];
                    delta.as_vec3().to_array()
                };
                let positions: Vec<[f32; 3]> = part.points.iter().map(delta).collect();
                let normals = &surface.normals[part_number];
                let normals = normal_deltas(part, normals, rest_smooth, &moved_smooth);
                let what = format!("morph target {} of mesh {}", shape.name(), part.mesh_name);
                list.push(MorphTarget {
                    positions: Some(builder.deltas(&what, &positions, true)?),
                    normals: if normals.is_empty() {
                        None
                    } else {
                        Some(builder.deltas(&what, &normals, false)?)
                    },
                    tangents: None,
                });
            }
        }
    }
    Ok(targets)
}
