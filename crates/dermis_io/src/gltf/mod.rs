//! glTF 2.0: `.glb`, and `.gltf` with buffers beside it or inside.

mod names;
mod read;
mod uri;
mod write;

pub use read::read;
pub use write::{GltfOptions, to_glb};
pub(crate) use write::{add, plain_program};
