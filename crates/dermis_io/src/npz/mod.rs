//! NumPy archives (`.npz`): meshes, frames and bones as named arrays.
//!
//! | array | shape | meaning |
//! | --- | --- | --- |
//! | `rest` | (V, 3) | rest positions; the first frame when absent |
//! | `positions` | (F, V, 3) | frames |
//! | `faces` | (T, 3) | triangles, counted from 0 |
//! | `face_counts`, `face_indices` | (P), (corners) | the same faces as polygons |
//! | `frame_names` | (F) | text or numbers |
//! | `fps` | () | frames per second; absent when the frames are no motion |
//! | `bone_names`, `bone_parents` | (B) | parents in any order, −1 for none |
//! | `bone_rest` | (B, 4, 4) | `Ĝ`, columns act on points |
//! | `bone_pose` | (F, B, 4, 4) | `G` of each frame, in model space |
//! | `weights` | (V, B) | linear blend weights |
//!
//! Numbers may be of any width and byte order. The `.npy` layer is our own because a header may
//! declare any shape: memory must follow the bytes that really arrive.

mod archive;
mod bones;
mod npy;
mod read;
mod tangent_map;
mod write;

pub(crate) use read::{read, read_bones};
pub use tangent_map::tangent_map_npz;
pub(crate) use write::write;
