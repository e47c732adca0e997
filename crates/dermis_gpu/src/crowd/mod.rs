//! Thousands of instances of one character: culled, each with the level that its distance allows, and drawn at once.
//!
//! A [`Character`] is made from a document once. A [`Spread`] places [`Instance`]s of it, each with a clip and a time of its
//! own. For every frame a [`View`] says what the camera asks for, and a [`Plan`] what is drawn:
//!
//! | step | rule |
//! | --- | --- |
//! | cull | by a ball that holds the character in every legal pose; what it leaves out has no pixel in the picture |
//! | choose | the coarsest level whose error is at most so many pixels at the nearest point of the ball ([`Picture`](dermis::lod::Picture)) |
//! | blend | in the last part of a level's range its vertices move to where they are in the next level |
//! | pose | matrices of the bones that the level uses, blended from steps of the clip ([`Moves`]) |
//! | skin | each drawn vertex from the matrices of its own bones, however many |
//!
//! With the feature `wgpu` a graphics card does all of it (`CrowdRenderer`), without a word from the processor between the
//! camera and the picture. Everything else here is plain Rust, and what the shaders are tested against.

mod character;
mod error;
mod errors;
#[cfg(feature = "wgpu")]
mod gpu;
mod instances;
mod level;
mod look;
mod moves;
mod plan;
mod stripped;
#[cfg(test)]
mod tests;
mod view;

pub use character::{BallKind, Character, CharacterOptions, LevelErrors};
pub use error::CrowdError;
#[cfg(feature = "wgpu")]
pub use gpu::{CrowdRenderer, StageTimes};
pub use instances::{Instance, Spread};
pub use level::CrowdLevel;
pub use look::{CrowdLook, PartLook};
pub use moves::{Moment, Move, Moves};
pub use plan::{Choice, Counts, Plan};
pub use view::{FrameOptions, View};
