//! Meshes: the geometry that is fitted, the form in which it is drawn, and what connects it.

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

/// What can be wrong with a mesh.
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
    /// Two lists that belong together have different lengths.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}
