//! Corrections and frames to morph targets.

use std::borrow::Cow;
use std::ops::Range;

use dermis::mesh::vertex_normals;
use dermis::skin::Correction;
use glam::DVec3;
use gltf_json::mesh::MorphTarget;

use super::builder::Builder;
use super::form::DefaultCoefficient;
use super::meshes::Surface;
use super::normals::normal_deltas;
use crate::{Fault, Frame};

/// A shape that the rest shape can move towards.
pub(super) enum Shape<'a> {
    /// A correction of the skin.
    Correction {
        /// Its displacements at coefficient 1.
        correction: &'a Correction<DVec3>,
        /// What sets it.
        coefficient: &'a DefaultCoefficient,
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
            Self::Correction { coefficient, .. } => &coefficient.name,
            Self::Frame(frame) => &frame.name,
        }
    }

    /// The shape's weight in the default pose.
    pub(super) fn default_weight(&self) -> f64 {
        match self {
            Self::Correction { coefficient, .. } => coefficient.default,
            Self::Frame(_) => 0.0,
        }
    }

    /// Whether it needs a target even if it moves no vertex.
    fn must_stay(&self) -> bool {
        matches!(self, Self::Correction { coefficient, .. } if coefficient.must_stay)
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

/// The shapes that each mesh has as targets: those that move it, in the full character (the first surface) or in any
/// level, so that all forms of a mesh have the same list of weights.
pub(super) fn shapes_of_meshes(
    surfaces: &[Surface<'_>],
    meshes: &[Range<usize>],
) -> Vec<Vec<usize>> {
    let mut shapes_of_mesh = vec![Vec::new(); meshes.len()];
    let shapes = surfaces.first().map_or(&[][..], |full| &full.shapes);
    for (number, shape) in shapes.iter().enumerate() {
        let mut concerned = vec![false; meshes.len()];
        for surface in surfaces {
            // Levels of a sequence have no frames.
            let Some(own) = surface.shapes.get(number) else {
                continue;
            };
            let moved = own.positions(surface.rest);
            for (mesh, concerned) in meshes.iter().zip(&mut concerned) {
                *concerned |= own.concerns(surface, mesh.clone(), &moved);
            }
        }
        if shape.must_stay() && !concerned.contains(&true) {
            concerned.iter_mut().take(1).for_each(|first| *first = true);
        }
        let own = shapes_of_mesh.iter_mut().zip(concerned);
        own.filter(|(_, concerned)| *concerned)
            .for_each(|(shapes, _)| shapes.push(number));
    }
    shapes_of_mesh
}

/// Adds the morph targets of all meshes, one shape after the other, given the shapes that each mesh has.
///
/// Normals follow the surface: see [`normal_deltas`].
pub(super) fn add_targets(
    builder: &mut Builder,
    surface: &Surface<'_>,
    meshes: &[Range<usize>],
    shapes_of_mesh: &[Vec<usize>],
) -> Result<Vec<MeshTargets>, Fault> {
    let mut targets: Vec<MeshTargets> = (meshes.iter())
        .map(|mesh| MeshTargets {
            shapes: Vec::new(),
            targets_of_part: vec![Vec::new(); surface.drawn(mesh.clone()).count()],
        })
        .collect();
    for (number, shape) in surface.shapes.iter().enumerate() {
        let moved = shape.positions(surface.rest);
        let moved_smooth = vertex_normals(&moved, surface.triangles);
        let own = meshes.iter().zip(&mut targets).zip(shapes_of_mesh);
        for ((mesh, targets), _) in own.filter(|(_, shapes)| shapes.contains(&number)) {
            targets.shapes.push(number);
            let parts = surface.drawn(mesh.clone());
            for ((part_number, part), list) in parts.zip(&mut targets.targets_of_part) {
                let delta = |&p: &u32| {
                    let delta = moved[p as usize] - surface.rest[p as usize];
                    delta.as_vec3().to_array()
                };
                let positions: Vec<[f32; 3]> = part.points.iter().map(delta).collect();
                let normals = &surface.normals[part_number];
                let normals = normal_deltas(part, normals, &surface.smooth, &moved_smooth);
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
