//! glTF 2.0: `.glb`, and `.gltf` with buffers beside it or inside.

mod extension;
mod names;
mod read;
mod uri;
mod write;

pub use read::read;
pub(crate) use write::add_with_buffer;
pub use write::to_glb;
