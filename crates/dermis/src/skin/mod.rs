//! A fitted skin: a pose program and a vertex program, and the plain evaluation of both.

mod copied;
mod correction;
mod eval;
mod fewer_keys;
mod joints;
mod moved;
mod playable;
mod pose_program;
mod pose_text;
mod rest_space;
mod shares;
mod size;
mod vertex_program;

pub use crate::Rows;
pub use correction::{Correction, Delta};
pub(crate) use eval::{DualQuaternion, heaviest, rigid_from_affine};
pub use joints::{ShownError, ShownPoses};
pub use playable::{Playable, PlayableOptions, PoseClip, to_playable};
pub use pose_program::{PlacedBones, PoseProgram};
pub use pose_text::{PoseProblem, PoseTextError};
pub use vertex_program::{
    DualQuaternionProgram, Influence, LinearProgram, MultiWeight, MultiWeightProgram, SsdProgram,
    VertexProgram, Weight,
};

use crate::clip::Clip;
use crate::pose_space::PoseSpaceError;
use crate::rig::{Palette, Pose, RigError, Skeleton};

/// Why a skin is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// The pose does not fit the skin's skeleton.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A driver does not fit the skin.
    #[error(transparent)]
    PoseSpace(#[from] PoseSpaceError),
    /// An influence names a bone that does not exist.
    #[error("vertex {vertex} is influenced by bone {bone}, but there are only {bone_count} bones")]
    BoneOutOfRange {
        /// Index of the vertex.
        vertex: usize,
        /// The bone that it names.
        bone: usize,
        /// How many bones there are.
        bone_count: usize,
    },
    /// Lists with one entry per vertex have different lengths.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// The thing that was counted, in the plural.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A correction moves a vertex that does not exist.
    #[error("correction {name} moves vertex {vertex}, but there are only {vertex_count} vertices")]
    CorrectionOutOfRange {
        /// Name of the correction.
        name: String,
        /// The vertex that it names.
        vertex: usize,
        /// How many vertices there are.
        vertex_count: usize,
    },
    /// The skin is not a sum of matrices times vectors.
    #[error("{program} cannot be written as animation-space vectors")]
    NotLinear {
        /// The kind of skin.
        program: &'static str,
    },
    /// A correction of animation-space vectors is not a displacement of the rest shape.
    #[error(
        "correction {name} moves each influence of vertex {vertex} differently, which is no \
         displacement of the rest shape"
    )]
    NotInRestSpace {
        /// Name or number of the correction.
        name: String,
        /// Index of the vertex.
        vertex: usize,
    },
    /// A stand-in (a linear blend skin for other players to show) is missing.
    #[error(
        "{program} has no linear blend stand-in for other programs to show: make one with \
         fit::plain_fallback"
    )]
    NoStandIn {
        /// The kind of skin.
        program: &'static str,
    },
    /// The skin cannot be turned or translated.
    #[error(
        "{program} cannot be turned or translated with its character, only scaled: with a weight for each \
         entry of a matrix, a turned pose gives another shape"
    )]
    CannotMove {
        /// The kind of skin.
        program: &'static str,
    },
    /// An option is out of range.
    #[error("option {option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The weights of a vertex are negative or do not sum to 1.
    #[error(
        "the weights of vertex {vertex} must be at least 0 and sum to 1: the smallest is {least}, \
         the sum {sum}"
    )]
    NoShares {
        /// Index of the vertex.
        vertex: usize,
        /// Its smallest weight.
        least: f64,
        /// The sum of its weights.
        sum: f64,
    },
    /// A weight or a position holds NaN or infinity.
    #[error("vertex {vertex} has a weight or rest position that is not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
}

/// A model that turns a pose into vertex positions.
///
/// The **pose program** turns a pose into a palette of matrices, one per bone, and passes on the pose's coefficients;
/// the **vertex program** computes the positions from these. Every linear model compiles to one vertex program,
/// [`LinearProgram`]: see [`Skin::to_linear`].
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// The bones that pose it.
    pub skeleton: Skeleton,
    /// How each vertex is computed from the matrices.
    pub program: VertexProgram,
    /// Names and defaults of the coefficients, one per correction of the vertex program.
    pub coefficients: Vec<Coefficient>,
    /// Computes the last bones and the last coefficients from the others. A pose may leave those out; values given for
    /// them are ignored.
    pub pose_program: PoseProgram,
}

/// A slider of a skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// Name shown to people and written to files.
    pub name: String,
    /// The value when a pose gives none.
    pub default: f64,
}

/// The output of the pose program, which the vertex program reads.
#[derive(Debug, Clone, PartialEq)]
pub struct PosedInputs {
    /// `G_j` for every bone.
    pub palette: Palette,
    /// One number per correction.
    pub coefficients: Vec<f64>,
}

impl Skin {
    /// Checks a skin: bones in range, lists of equal length, every number finite.
    ///
    /// # Errors
    /// The first [`SkinError`] found.
    pub fn new(
        skeleton: Skeleton,
        program: VertexProgram,
        coefficients: Vec<Coefficient>,
    ) -> Result<Self, SkinError> {
        program.check(skeleton.bone_count())?;
        if program.correction_count() != coefficients.len() {
            return Err(SkinError::CountMismatch {
                what: "coefficients",
                expected: program.correction_count(),
                found: coefficients.len(),
            });
        }
        Ok(Self {
            skeleton,
            program,
            coefficients,
            pose_program: PoseProgram::default(),
        })
    }

    /// How many vertices the skin moves.
    pub fn vertex_count(&self) -> usize {
        self.program.vertex_count()
    }

    /// The value of every coefficient when a pose gives none.
    pub fn default_coefficients(&self) -> Vec<f64> {
        self.coefficients.iter().map(|c| c.default).collect()
    }

    /// The pose of a clip at a time in seconds.
    pub fn sample(&self, clip: &Clip, time: f64) -> Pose {
        clip.sample(&self.skeleton, &self.default_coefficients(), time)
    }

    /// Runs the pose program: the matrices and coefficients of a pose.
    ///
    /// Derived bones, proxy bones and driven coefficients are computed here, whether the pose has them or leaves them
    /// out.
    ///
    /// # Errors
    /// [`SkinError::Rig`] when the pose has another number of bones, and
    /// [`SkinError::CountMismatch`] when it has more coefficients than the skin.
    pub fn run_pose_program(&self, pose: &Pose) -> Result<PosedInputs, SkinError> {
        let mut coefficients = self.default_coefficients();
        if pose.coefficients.len() > coefficients.len() {
            return Err(SkinError::CountMismatch {
                what: "coefficients in the pose",
                expected: coefficients.len(),
                found: pose.coefficients.len(),
            });
        }
        coefficients[..pose.coefficients.len()].copy_from_slice(&pose.coefficients);
        let completed;
        let pose = match self.pose_program.placed_bone_count() {
            0 => pose,
            _ => {
                completed = self.complete_pose(pose)?;
                &completed
            }
        };
        let palette = self.skeleton.palette(pose)?;
        self.pose_program
            .drive(&self.skeleton, &pose.parent_from_bone, &mut coefficients);
        Ok(PosedInputs {
            palette,
            coefficients,
        })
    }

    /// The same skin with the one vertex program that every linear model compiles to.
    ///
    /// # Errors
    /// [`SkinError::NotLinear`], as [`VertexProgram::to_linear`].
    pub fn to_linear(&self) -> Result<Self, SkinError> {
        Ok(Self {
            skeleton: self.skeleton.clone(),
            program: VertexProgram::Linear(self.program.to_linear(&self.skeleton)?),
            coefficients: self.coefficients.clone(),
            pose_program: self.pose_program.clone(),
        })
    }
}
