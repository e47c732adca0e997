//! Characters for the demo, examples, tests and benches: made by formula, of any size, and one human arm.

mod arm;
mod bar;
mod body;
mod flag;
mod human_arm;
mod lathe;
mod proxied;
mod tube;

pub use arm::{ArmOptions, ArmPose, arm, arm_motion};
pub use bar::{BarOptions, bar};
pub use body::{Body, BodyOptions, body};
pub use flag::{FlagOptions, flag};
pub use human_arm::{HumanArm, HumanArmPose};
pub use proxied::{ProxyOptions, proxied};
pub use tube::{Tube, TubeOptions, tube};

use crate::example::ExampleSet;
use crate::mesh::DrawMesh;

/// A made-up character: how it should move, and how it is drawn.
#[derive(Debug, Clone)]
pub struct Character {
    /// Rest mesh, skeleton and examples.
    pub examples: ExampleSet,
    /// The rest mesh with its UV seam.
    pub draw: DrawMesh,
}
