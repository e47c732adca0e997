//! The fast evaluation of skins: 32-bit numbers, sixteen vertices at a time, on every core.
//!
//! A vertex program is the same few products for every vertex, but with the matrices of other bones.
//! So the work is arranged once, when a skin is packed: vertices that use the same bones form blocks
//! of sixteen, and each number of a block is a plane of sixteen neighbours in memory. A kernel then
//! loads a matrix entry once, multiplies it into sixteen vertices in one or two instructions, and
//! never gathers. This is the loop over bones of \[Merry07\] §7.4.1 turned inside out: his kept the
//! results in memory and added to them bone by bone; here they stay in registers.
//!
//! ```text
//!   skin                   packed (linear blend, with normals)
//!   v0: bones 3 7          bones   [3 7]                       [3 7 9]
//!   v1: bones 3 7          planes  x y z nx ny nz w3 w7        x y z nx ny nz w3 w7 w9
//!   v2: bones 3 9          places  v0 v1 v5 .. v40 (16)        v2 v3 v9 - - - (padding)
//!   ...                    results x y z | nx ny nz            per block
//! ```
//!
//! Vertices left over from a set of bones join a block with a few more bones, where those bones have weight
//! 0; [`PackedSkin::padding_ratio`] and [`PackedSkin::bones_per_vertex`] give the cost (a few per cent on
//! meshes with many vertices per bone).
//!
//! # From a file to vertices
//!
//! [`Player`] does everything: it samples a clip, runs the pose program, and evaluates the drawn vertices.
//! Use its parts to keep your own buffers:
//!
//! ```
//! use dermis::run::{ClipSampler, FrameInputs, Mat3x4, Output, PackOptions, PackedPoseProgram};
//! use dermis::run::{PackedSkin, PaletteEntry, PoseBuffer};
//! # use dermis::clip::Clip;
//! # use dermis::synth::{ProxyOptions, TubeOptions, proxied, tube};
//! # use glam::{DAffine3, DQuat};
//! # let options = TubeOptions { ring_count: 9, segment_count: 8, bone_count: 3, example_count: 1 };
//! # let skin = proxied(&tube(&options).truth, &ProxyOptions::default());
//! # let mut bent = skin.skeleton.rest_pose();
//! # bent.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_rotation_z(0.8));
//! # let clip = Clip::from_poses("bend", &skin.skeleton, &[bent], 24.0)?;
//!
//! // Once, for a skin of any kind and a clip.
//! let packed = PackedSkin::new(&skin, &PackOptions::default())?;
//! let mut program = PackedPoseProgram::new(&skin)?;
//! let mut sampler = ClipSampler::for_skin(&skin, &clip)?;
//! let mut pose = PoseBuffer::for_skin(&skin);
//! let mut matrices: Vec<Mat3x4> = vec![[0.0; 12]; packed.bone_count()];
//! let mut palette = vec![PaletteEntry::default(); packed.bone_count()];
//! let mut positions = vec![[0.0f32; 3]; packed.vertex_count()];
//!
//! // Every frame.
//! sampler.sample(0.0, &mut pose)?;
//! program.run(&mut pose, &mut matrices)?;
//! packed.load_palette(&matrices, &mut palette)?;
//! let inputs = FrameInputs { palette: &palette, coefficients: pose.coefficients() };
//! packed.evaluate(&inputs, Output::Vertices { positions: &mut positions, normals: None })?;
//!
//! let expected = skin.evaluate(&skin.sample(&clip, 0.0))?;
//! assert!((f64::from(positions[30][0]) - expected[30].x).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ClipSampler`] writes a [`PoseBuffer`]; [`PoseBuffer::blend`] mixes two of them. [`PackedPoseProgram`] is made
//! of [`PackedSkeleton`], which chains a pose down the tree to matrices, four bones at a time; of
//! [`PackedDrivers`], which write driven coefficients; of a part that places derived bones; and of
//! [`PackedProxies`], which place proxy bones. All give the same results as
//! [`Clip::sample`](crate::Clip::sample), [`Pose::blend`](crate::Pose::blend) and
//! [`Skin::run_pose_program`](crate::Skin::run_pose_program) in double precision, to rounding, and allocate
//! nothing. Only `+ − × ÷ √` are used there, never a library sine and never a fused multiply-add, so a pose
//! is the same to the bit on every machine that rounds as IEEE 754 asks.
//!
//! # Accuracy
//!
//! Inputs are rounded to 32 bits once, and so is every product and sum. A result is off by at most
//! about `4k + 24` units in the 24th bit of the largest sum of absolute terms in its block, for `k`
//! influences; not of the result itself, since large terms may cancel. The instruction sets differ
//! by such roundings. On one machine the bits never depend on the number of threads, and a vertex
//! never depends on its neighbours, except that a matrix with NaN or infinity spoils all vertices of
//! a block that names its bone.
//!
//! # Cost
//!
//! Linear blend: 12 multiply-adds per influence, 9 for the position and 9 for a normal. Linear: 12
//! per influence, 9 more for a normal, 18 to 24 for tangents. Multi-weight: as linear blend, with
//! twelve times the weights to read. Dual quaternions: 8 per influence and about 50 at the end.
//! Beyond the second-level cache, memory sets the time: bytes per vertex over the bandwidth. Corrections
//! cost only in the blocks they touch, and only while their coefficient is not zero: three
//! multiply-adds and 12 bytes per vertex, or 6 or 3 with
//! [`PackOptions::correction_precision`]; of a linear program per influence. Vertices that a correction moves
//! share blocks, so that the other blocks read no corrections.
//!
//! # What it cannot do
//!
//! Normals ignore corrections (bulges keep the normals of the shape they grew from):
//! [`FaceNormals`] follow them. Normals from tangents are for linear programs only. Scale is lost in dual
//! quaternions. There is no GPU code here: the crate `dermis_gpu` takes packed skins to graphics cards.

mod blocks;
mod chain;
mod corrections;
mod derived;
mod drivers;
mod elementary;
mod evaluate;
mod face_normals;
mod geomorph;
mod kernel;
mod lane_math;
mod options;
mod pack;
mod pack_clip;
mod palette;
mod plane;
mod player;
mod pose_buffer;
mod pose_program;
mod program;
mod proxies;
mod proxy_inputs;
mod sampler;
mod source;
mod streams;
mod timeline;
pub mod timing;

pub use chain::{Mat3x4, PackedSkeleton};
pub use drivers::PackedDrivers;
pub use evaluate::{Frame, FrameInputs, Output};
pub use face_normals::FaceNormals;
pub use geomorph::Geomorph;
pub use kernel::InstructionSet;
pub use options::{
    CorrectionPrecision, Layout, NormalLength, Normals, PackOptions, Precision, STREAMED_BYTES,
    Stores,
};
pub use pack::PackedSkin;
pub use plane::{BLOCK, BlockXyz, PaletteEntry, Plane, QuantizedPlane};
pub use player::{Player, PlayerOptions};
pub use pose_buffer::PoseBuffer;
pub use pose_program::PackedPoseProgram;
pub use proxies::PackedProxies;
pub use sampler::ClipSampler;
pub use streams::{BlockCorrection, CorrectionNumbers, PackedBlock, PackedProgram};
pub use timeline::loop_time;

/// Errors of packing and evaluating.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A list has the wrong length.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The tangents of a vertex are not one pair per influence.
    #[error("vertex {vertex} has {expected} influences but {found} pairs of tangents")]
    TangentCount {
        /// Index of the vertex.
        vertex: usize,
        /// Its influences.
        expected: usize,
        /// Its pairs of tangents.
        found: usize,
    },
    /// This kind of skin does not support the request.
    #[error("{what} cannot be packed for {program}: {hint}")]
    NotSupported {
        /// What was asked.
        what: &'static str,
        /// The kind of skin.
        program: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// Normals were requested from a skin that was packed without them.
    #[error("the skin was packed without normals: set PackOptions::normals")]
    NoNormals,
    /// A number is NaN, infinite, or too large for a 32-bit float.
    #[error("vertex {vertex} has a number that is NaN, infinite or too large for a 32-bit float")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// This machine does not have the instructions that were asked for.
    #[error("this machine has no {set:?} instructions: leave instruction_set at None")]
    MissingInstructions {
        /// What was asked.
        set: InstructionSet,
    },
    /// A part of the pose program does not fit the skin.
    #[error(transparent)]
    Skin(#[from] crate::skin::SkinError),
    /// Proxy bones do not fit the skin.
    #[error(transparent)]
    Rig(#[from] crate::rig::RigError),
    /// The document has no skin.
    #[error("the document has no skin, so there is nothing to play")]
    NoSkin,
    /// A clip does not exist.
    #[error("there is no clip '{wanted}': the clips are {}", quoted(names))]
    NoClip {
        /// The clip that was asked for.
        wanted: String,
        /// The clips that exist.
        names: Vec<String>,
    },
    /// The skin has more than 2³² influences.
    #[error("a packed skin holds at most 2^32 influences")]
    TooLarge,
    /// The proxy bones of a skin have more than 2¹⁶ columns to sum.
    #[error("packed proxy bones have at most 2^16 columns of gradients and sources, found {found}")]
    TooManyColumns {
        /// How many there are.
        found: usize,
    },
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}

impl RunError {
    fn check_count(what: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if expected == found {
            return Ok(());
        }
        Err(Self::CountMismatch {
            what,
            expected,
            found,
        })
    }
}
