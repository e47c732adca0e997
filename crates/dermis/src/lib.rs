//! Fits real-time skinning models to example meshes.

pub mod example;
pub mod fit;
pub mod measure;
pub mod mesh;
mod par;
pub mod progress;
pub mod rig;
mod rows;
pub mod run;
pub mod skin;
pub mod solve;
pub mod synth;

pub use example::{Example, ExampleSet, Fold, Split};
pub use mesh::TriMesh;
pub use rig::{BoneId, Clip, Palette, Pose, Skeleton};
pub use rows::Rows;
pub use skin::{Skin, VertexProgram};
