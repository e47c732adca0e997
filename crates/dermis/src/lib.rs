//! Fits real-time skinning models to example meshes.

pub mod example;
pub mod measure;
pub mod mesh;
pub mod rig;
pub mod skin;

pub use example::{Example, ExampleSet, Fold, Split};
pub use mesh::TriMesh;
pub use rig::{BoneId, Clip, Palette, Pose, Skeleton};
pub use skin::{Skin, VertexProgram};
