//! Files to what fits take: examples, animations, influences, lists of vertices.
//!
//! Only the reading is here; how meshes, poses and clips belong together is known to `dermis::document`.

mod influences;
mod meshes;
mod motions;
mod vertex_list;

pub use influences::read_influences;
pub use meshes::{ExampleOptions, InputOptions, ReadMeshes, read_examples, read_meshes, read_rig};
pub use motions::{MotionOptions, read_animation};
pub use vertex_list::read_vertex_list;
