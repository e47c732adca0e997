//! Why meshes cannot belong together.

use std::path::PathBuf;

use super::error::named;
use crate::example::RigMismatch;
use crate::mesh::Upright;

/// Why meshes cannot belong together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatchError {
    /// Vertices are in another order, or of another mesh.
    #[error(
        "{}: the vertices are in another order than in {}, or of another mesh: {:.0}% of them have lost \
         their neighbours",
        named(meshes), named(rest), 100.0 * torn
    )]
    Order {
        /// Where the meshes come from.
        meshes: PathBuf,
        /// What they should be shapes of.
        rest: PathBuf,
        /// Share of vertices that have lost their neighbours.
        torn: f64,
        /// Whether [`MatchOptions::reorder`](super::MatchOptions::reorder) would find an order.
        can_reorder: bool,
    },
    /// No mesh of an order lies on the rest mesh, so that vertices cannot be told apart by place.
    #[error(
        "{}: no order is found for the vertices of mesh {name}: no mesh lies on the rest mesh of {}, vertex on \
         vertex, each on another",
        named(meshes),
        named(rest)
    )]
    NoOrder {
        /// Where the meshes come from.
        meshes: PathBuf,
        /// The mesh.
        name: String,
        /// What they should be shapes of.
        rest: PathBuf,
    },
    /// Meshes have another unit, or other axes, or both.
    #[error(
        "{}: the meshes are not in the space of {}: {}",
        named(meshes), named(rest), difference(*scale, *upright)
    )]
    Space {
        /// Where the meshes come from.
        meshes: PathBuf,
        /// What they should be shapes of.
        rest: PathBuf,
        /// How many times as large they are; 1 for the same unit.
        scale: f64,
        /// Which axes they have, when those are others.
        upright: Option<Upright>,
        /// As [`MatchPair::is_own_rest`](super::MatchPair::is_own_rest).
        is_own_rest: bool,
    },
    /// Meshes have another unit or other axes than the skeleton in their poses.
    #[error(
        "{}: the meshes are not in the space of the skeleton in {}: {} (its bones miss them by {:.0}% of the \
         size, and by {:.0}% otherwise)",
        named(meshes), named(rig), difference(found.scale, found.upright), 100.0 * found.misses,
        100.0 * found.would_miss
    )]
    SkeletonSpace {
        /// Where the meshes come from.
        meshes: PathBuf,
        /// The file of the skeleton.
        rig: PathBuf,
        /// How they differ.
        found: RigMismatch,
    },
    /// A skeleton at rest is far larger or smaller than the mesh that it should stand in.
    #[error(
        "{}: the mesh is about {} times the size of the skeleton in {}, which should stand in it",
        named(mesh), short(*scale), named(rig)
    )]
    SkeletonSize {
        /// Where the mesh comes from.
        mesh: PathBuf,
        /// The file of the skeleton.
        rig: PathBuf,
        /// The power of ten nearest to the ratio of their sizes.
        scale: f64,
    },
    /// Meshes have another number of vertices.
    #[error(
        "{}: has {found} vertices, but {} has {expected}: all clips must be of one mesh, vertex by vertex",
        named(meshes),
        named(rest)
    )]
    VertexCount {
        /// Where the meshes come from.
        meshes: PathBuf,
        /// Vertices that they have.
        found: usize,
        /// What they should be shapes of.
        rest: PathBuf,
        /// Vertices that it has.
        expected: usize,
    },
    /// Meshes have other faces, which may mean another vertex order.
    #[error(
        "{}: has other faces than {}: all clips must be of one mesh, vertex by vertex",
        named(meshes),
        named(rest)
    )]
    Faces {
        /// Where the meshes come from.
        meshes: PathBuf,
        /// What they should be shapes of.
        rest: PathBuf,
        /// Whether [`MatchOptions::reorder`](super::MatchOptions::reorder) would find an order.
        can_reorder: bool,
    },
}

/// What is different, for people.
fn difference(scale: f64, upright: Option<Upright>) -> String {
    let larger = match scale {
        1.0 => None,
        _ if scale > 1.0 => Some(format!("{} times as large", short(scale))),
        _ => Some(format!("{} times smaller", short(1.0 / scale))),
    };
    let turned = upright.map(|upright| match upright {
        Upright::ZInY => "z up where that is y up".to_owned(),
        Upright::YInZ => "y up where that is z up".to_owned(),
    });
    let parts: Vec<String> = larger.into_iter().chain(turned).collect();
    format!("they are {}", parts.join(" and "))
}

/// A factor with as few digits as name it.
fn short(factor: f64) -> String {
    let rounded = format!("{factor:.4e}").parse::<f64>().unwrap_or(factor);
    format!("{rounded}")
}
