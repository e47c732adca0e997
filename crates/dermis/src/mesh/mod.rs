//! Meshes: the geometry that is fitted, the form in which it is drawn, and its connectivity.

mod correspondence;
mod deform_grad;
mod draw_mesh;
mod enclosing_ball;
mod far_edges;
mod normals;
mod topology;
mod tri_mesh;
mod weld;

pub use correspondence::{Mismatch, Upright, find_mismatch, nearest_unit, order_by_place};
pub(crate) use deform_grad::inverse_frame;
pub use deform_grad::{deformation_gradients, triangle_frame};
pub use draw_mesh::{AttributeData, CustomAttribute, DrawMesh, DrawPart};
pub use enclosing_ball::{Ball, enclosing_ball, enclosing_ball_of_balls};
pub use far_edges::{FarEdges, find_far_edges};
pub use normals::{triangle_normals, vertex_normals};
pub use topology::{HalfEdgeId, Topology};
pub use tri_mesh::{Aabb, Polygons, TriMesh};
pub use weld::{Weld, weld_by_key};

/// Why a mesh is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A triangle or polygon names a vertex that does not exist.
    #[error("{what} {face} names vertex {vertex}, but there are only {vertex_count} vertices")]
    VertexOutOfRange {
        /// "triangle" or "polygon".
        what: &'static str,
        /// Index of the face.
        face: usize,
        /// The vertex that it names.
        vertex: u32,
        /// How many vertices there are.
        vertex_count: usize,
    },
    /// A position holds NaN or infinity.
    #[error("vertex {vertex} has a position that is not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// Two lists that must have the same length do not.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// The thing that was counted, in the plural.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}
