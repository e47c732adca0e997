//! Options of the comparators, and the result of those that make no skin.

use faer::MatRef;
use glam::DVec3;

use crate::example::MeshAnimation;
use crate::fit::decompose::check_trajectories;
use crate::fit::{FitError, bad_option};
use crate::par;
use crate::progress::Progress;

/// How large the models may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparatorOptions {
    /// `P`: bones, or clusters of four components, or a quarter of the terms of a sum. From 1 to the
    /// number of vertices and 65535; default 30. All methods then have 12 P numbers per frame.
    pub bone_count: usize,
    /// Most bones that may move one vertex; at least 1, default 4. Only for methods that make a skin.
    pub max_influences: usize,
}

impl Default for ComparatorOptions {
    fn default() -> Self {
        Self {
            bone_count: 30,
            max_influences: 4,
        }
    }
}

impl ComparatorOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        if self.bone_count == 0 {
            return bad_option("bone_count", "at least 1 bone is needed");
        }
        if self.bone_count > usize::from(u16::MAX) {
            return bad_option("bone_count", "at most 65535 bones can be numbered");
        }
        if self.max_influences == 0 {
            return bad_option("max_influences", "at least 1 bone must move a vertex");
        }
        Ok(())
    }

    /// Checks that every option is in its range for a mesh.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check_for(&self, animation: &MeshAnimation) -> Result<(), FitError> {
        self.check()?;
        check_trajectories(animation)?;
        let vertices = animation.vertex_count();
        match self.bone_count > vertices {
            true => bad_option(
                "bone_count",
                format!(
                    "{} bones are more than the {vertices} vertices",
                    self.bone_count
                ),
            ),
            false => Ok(()),
        }
    }
}

/// The frames of a model that is not a skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Where the model puts every vertex in every frame, in model units.
    pub frames: Vec<Vec<DVec3>>,
    /// `E_RMS` of these. Below about 1e-4 it is rounding of the input.
    pub e_rms: f64,
    /// Numbers that are stored for each vertex.
    pub numbers_per_vertex: usize,
    /// Indices that are stored for each vertex.
    pub indices_per_vertex: usize,
    /// Numbers that are stored for each frame.
    pub numbers_per_frame: usize,
}

impl Prediction {
    /// From a column of 3F numbers per vertex, in units of the first frame's ball.
    pub(super) fn new(
        animation: &MeshAnimation,
        trajectories: MatRef<'_, f64>,
        [numbers_per_vertex, indices_per_vertex]: [usize; 2],
        numbers_per_frame: usize,
    ) -> Self {
        let unit = animation.unit_ball_radius();
        let frames = par::map(animation.frame_count(), |f| {
            (0..animation.vertex_count())
                .map(|i| {
                    let at = |axis: usize| unit * trajectories[(3 * f + axis, i)];
                    DVec3::new(at(0), at(1), at(2))
                })
                .collect()
        });
        let slices = |frames: &Vec<Vec<DVec3>>| animation.e_rms(frames.iter().map(Vec::as_slice));
        Self {
            e_rms: slices(&frames),
            frames,
            numbers_per_vertex,
            indices_per_vertex,
            numbers_per_frame,
        }
    }
}

/// Reports progress.
///
/// # Errors
/// [`FitError::Stopped`] when the job is to stop.
pub(super) fn report_progress(
    progress: &dyn Progress,
    stage: &str,
    done: usize,
    total: usize,
) -> Result<(), FitError> {
    match progress.report(stage, done, total) {
        true => Ok(()),
        false => Err(FitError::Stopped),
    }
}
