//! Sources of the shaders that skin, in WGSL: whole files, which stand alone.
//!
//! The same in GLSL and HLSL is in the package's folders `shaders/glsl` and `shaders/hlsl`; which buffers they read is in the
//! README.

use dermis::run::PackedProgram;

use crate::layout::SkinKind;

/// Where in a frame a skin is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkinStage {
    /// Once per frame, into buffers of positions and normals that any number of passes draw.
    Compute,
    /// By each pass that draws, for each vertex it draws.
    Vertex,
}

/// Normals of posed faces: entry points `faces` and `gather`.
pub const FACE_NORMALS: &str = include_str!("../shaders/face_normals.wgsl");

/// Normals of texels in any pose: entry point `tangent_map`.
pub const TANGENT_MAP: &str = include_str!("../shaders/tangent_map.wgsl");

/// The shader of a kind of skin: entry point `skin` for [`SkinStage::Compute`], `vertex` for [`SkinStage::Vertex`].
pub fn skin(kind: SkinKind, stage: SkinStage) -> &'static str {
    use PackedProgram::{DualQuaternion, Linear, LinearBlend, MultiWeight};
    match (stage, kind.program) {
        (SkinStage::Compute, Linear) if kind.rest_space => {
            include_str!("../shaders/skin_linear_rest.wgsl")
        }
        (SkinStage::Vertex, Linear) if kind.rest_space => {
            include_str!("../shaders/skin_vertex_linear_rest.wgsl")
        }
        (SkinStage::Compute, Linear) => include_str!("../shaders/skin_linear.wgsl"),
        (SkinStage::Compute, LinearBlend) => include_str!("../shaders/skin_linear_blend.wgsl"),
        (SkinStage::Compute, MultiWeight) => include_str!("../shaders/skin_multi_weight.wgsl"),
        (SkinStage::Compute, DualQuaternion) => {
            include_str!("../shaders/skin_dual_quaternion.wgsl")
        }
        (SkinStage::Vertex, Linear) => include_str!("../shaders/skin_vertex_linear.wgsl"),
        (SkinStage::Vertex, LinearBlend) => {
            include_str!("../shaders/skin_vertex_linear_blend.wgsl")
        }
        (SkinStage::Vertex, MultiWeight) => {
            include_str!("../shaders/skin_vertex_multi_weight.wgsl")
        }
        (SkinStage::Vertex, DualQuaternion) => {
            include_str!("../shaders/skin_vertex_dual_quaternion.wgsl")
        }
    }
}
