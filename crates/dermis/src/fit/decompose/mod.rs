//! Skinning decomposition: bones and weights for a mesh of which only the motion is known.
//!
//! \[Kavan10\] writes the animation as a matrix `A` with a column of 3F numbers per vertex and looks
//! for `A ≈ T X`, where `T` holds the matrices of all bones in all frames and the columns of `X`
//! are sparse: `w_ij v̂_i`.

mod comparators;
mod deflate;
mod products;
mod reduce;

pub use comparators::{
    ComparatorOptions, Prediction, clustered_pca, fit_sad, fit_sma, truncated_svd, with_eigen_skin,
};
pub use reduce::{Reduced, Reduction, reduce};

use faer::Mat;
use glam::{DAffine3, DVec3};

use super::FitError;
use crate::example::MeshAnimation;
use crate::rig::{Palette, Pose, Skeleton};
use crate::rows::Rows;
use crate::skin::{Skin, SkinError, SsdProgram, VertexProgram, Weight};

/// A skin, and the pose in which it shows each frame of an animation.
#[derive(Debug, Clone)]
pub struct Decomposition {
    /// Linear blend skinning over the bones that were found.
    pub skin: Skin,
    /// One pose per frame of the animation, through all clips. Bones may shear.
    pub poses: Vec<Pose>,
    /// `E_RMS` of the skin in these poses.
    pub e_rms: f64,
    /// `E_RMS` after each round.
    pub round_errors: Vec<f64>,
}

/// The animation as a matrix: a column of 3F numbers per vertex, in units of the first frame's ball.
pub fn trajectories(animation: &MeshAnimation) -> Mat<f64> {
    let scale = 1.0 / animation.unit_ball_radius();
    let frames: Vec<&[DVec3]> = animation.frames().collect();
    Mat::from_fn(3 * frames.len(), animation.vertex_count(), |row, vertex| {
        scale * frames[row / 3][vertex][row % 3]
    })
}

impl Decomposition {
    /// A skin of bones without a hierarchy, from the matrices that take rest positions to each frame.
    ///
    /// `posed_from_rest[f][j]` belongs to frame `f` and bone `j`. Each bone's frame stands at the
    /// weighted middle of its vertices, unturned, so that keys are interpolated about the part that
    /// the bone moves.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the numbers are no valid skin.
    pub fn from_matrices(
        animation: &MeshAnimation,
        rest_positions: Vec<DVec3>,
        weights: Rows<Weight>,
        posed_from_rest: &[Vec<DAffine3>],
        round_errors: Vec<f64>,
    ) -> Result<Self, FitError> {
        let bone_count = posed_from_rest.first().map_or(0, Vec::len);
        let centres = bone_centres(&rest_positions, &weights, bone_count);
        let digits = bone_count.saturating_sub(1).to_string().len();
        let bones = centres.iter().enumerate().map(|(j, centre)| {
            let frame = DAffine3::from_translation(*centre);
            (format!("bone_{j:0digits$}"), None, frame)
        });
        let skeleton = Skeleton::from_rest_frames(bones).map_err(SkinError::from)?;
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions,
            weights,
            corrections: Vec::new(),
        });
        let poses = posed_from_rest
            .iter()
            .map(|matrices| {
                let model_from_bone = matrices
                    .iter()
                    .zip(&centres)
                    .map(|(matrix, centre)| *matrix * DAffine3::from_translation(*centre))
                    .collect();
                skeleton.pose_from_palette(&Palette { model_from_bone })
            })
            .collect::<Result<Vec<Pose>, _>>()
            .map_err(SkinError::from)?;
        let skin = Skin::new(skeleton, program, Vec::new())?;
        let frames: Vec<Vec<DVec3>> = poses
            .iter()
            .map(|pose| skin.evaluate(pose))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            e_rms: animation.e_rms(frames.iter().map(Vec::as_slice)),
            skin,
            poses,
            round_errors,
        })
    }
}

/// The weighted middle of every bone's vertices; of all vertices for a bone that moves none.
fn bone_centres(rest: &[DVec3], weights: &Rows<Weight>, bone_count: usize) -> Vec<DVec3> {
    let mut sums = vec![(DVec3::ZERO, 0.0); bone_count];
    for (row, position) in weights.iter().zip(rest) {
        for &Weight { bone, weight } in row {
            let (sum, total) = &mut sums[bone.index()];
            *sum += weight * *position;
            *total += weight;
        }
    }
    let middle = rest.iter().copied().sum::<DVec3>() / rest.len().max(1) as f64;
    let centre = |(sum, total): (DVec3, f64)| if total > 0.0 { sum / total } else { middle };
    sums.into_iter().map(centre).collect()
}
