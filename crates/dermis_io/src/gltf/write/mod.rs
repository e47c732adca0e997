//! [`Document`](crate::Document) to glTF 2.0 that stock engines play.
//!
//! The file holds one scene: the bones as nodes in skeleton order, one skin over all of them, and
//! one node at the scene's root for every mesh. Corrections become morph targets and clips become
//! animations; a mesh sequence without a skin becomes one morph target per frame. A skin that is no
//! linear blend is written as its plain stand-in, with the exact model in custom attributes. Levels are further nodes
//! outside the scene, which `MSFT_lod` names.
//!
//! Names, UVs, colours, custom attributes, materials, textures and pictures are written unchanged.
//! Normals that are not of unit length, colours outside 0 to 1, and key times that are equal in single
//! precision are repaired, because the specification forbids them. The same document always gives the
//! same bytes.

mod buffer_name;
pub(super) mod builder;
mod check;
mod check_levels;
mod check_progressive;
mod clips;
mod exact;
mod file;
mod form;
mod looks;
mod meshes;
mod morphs;
mod normals;
pub(super) mod rig;
mod weights;

pub(crate) use file::add_with_buffer;
pub use file::to_glb;
