//! The pose program of a skin, packed: from a pose to the matrices and coefficients that the vertices need.

use super::derived::PackedDerived;
use super::{Mat3x4, PackedDrivers, PackedProxies, PackedSkeleton, PoseBuffer, RunError};
use crate::skin::Skin;

/// Turns a pose into matrices and coefficients, including those that the skin computes: derived bones, proxy
/// bones and driven coefficients.
///
/// Call it each frame, between sampling and [`PackedSkin::load_palette`](super::PackedSkin::load_palette).
/// Values given for bones and coefficients that the skin computes are overwritten. The results equal those of
/// [`Skin::run_pose_program`] to rounding. Allocates nothing. A clone shares the packed numbers: pack once,
/// and clone for every character or thread.
///
/// ```
/// use dermis::run::{Mat3x4, PackedPoseProgram, PoseBuffer};
/// use dermis::synth::{ProxyOptions, TubeOptions, proxied, tube};
///
/// let tube = tube(&TubeOptions { ring_count: 8, segment_count: 6, bone_count: 3, example_count: 1 });
/// let skin = proxied(&tube.truth, &ProxyOptions { proxy_count: 5, ..Default::default() });
///
/// // Once.
/// let mut program = PackedPoseProgram::new(&skin)?;
/// let mut pose = PoseBuffer::for_skin(&skin);
/// let mut matrices: Vec<Mat3x4> = vec![[0.0; 12]; skin.skeleton.bone_count()];
///
/// // Every frame.
/// program.run(&mut pose, &mut matrices)?;
///
/// let placed = &skin.run_pose_program(&pose.to_pose())?.palette.model_from_bone;
/// assert!((f64::from(matrices[4][3]) - placed[4].translation.x).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedPoseProgram {
    derived: PackedDerived,
    drivers: PackedDrivers,
    skeleton: PackedSkeleton,
    proxies: PackedProxies,
}

impl PackedPoseProgram {
    /// Packs the pose program of a skin, with its skeleton.
    ///
    /// # Errors
    /// [`RunError::Skin`] when the program does not fit the skin, and [`RunError::TooManyColumns`] for too
    /// many proxy bones.
    pub fn new(skin: &Skin) -> Result<Self, RunError> {
        skin.pose_program
            .check(&skin.skeleton, skin.coefficients.len())?;
        Ok(Self {
            derived: PackedDerived::new(skin),
            drivers: PackedDrivers::new(skin)?,
            skeleton: PackedSkeleton::for_skin(skin),
            proxies: PackedProxies::new(skin)?,
        })
    }

    /// Completes a pose, and writes `G_j` of every bone.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] and [`RunError::Rig`] when the pose or the output does not have the
    /// bones and coefficients of the skin.
    pub fn run(
        &mut self,
        pose: &mut PoseBuffer,
        model_from_bone: &mut [Mat3x4],
    ) -> Result<(), RunError> {
        self.derived.place(pose)?;
        self.drivers.drive(pose)?;
        self.skeleton.palette(pose, model_from_bone)?;
        self.proxies.place(model_from_bone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::Clip;
    use crate::fit::{SsdOptions, fit_pseudo_bones, fit_ssd};
    use crate::progress::Silent;
    use crate::run::{ClipSampler, PackOptions, PackedSkin, PaletteEntry};
    use crate::run::{FrameInputs, Output};
    use crate::synth::{ProxyOptions, arm, proxied};

    /// Plays a clip of the posed bones alone; returns how far vertices are from the plain evaluation, over
    /// the diagonal.
    fn played_difference(skin: &Skin, clip: &Clip, diagonal: f64) -> f64 {
        let packed = PackedSkin::new(skin, &PackOptions::default()).expect("it packs");
        let mut program = PackedPoseProgram::new(skin).expect("it fits");
        let mut sampler = ClipSampler::for_skin(skin, clip).expect("its own clip");
        let mut pose = PoseBuffer::for_skin(skin);
        let mut matrices = vec![[0.0; 12]; packed.bone_count()];
        let mut palette = vec![PaletteEntry::default(); packed.bone_count()];
        let mut positions = vec![[0.0; 3]; packed.vertex_count()];
        let mut largest = 0.0f64;
        for time in [0.0, 0.11, 0.37, 0.5, 0.9] {
            sampler.sample(time, &mut pose).expect("it fits");
            program.run(&mut pose, &mut matrices).expect("it fits");
            (packed.load_palette(&matrices, &mut palette)).expect("it fits");
            let inputs = FrameInputs {
                palette: &palette,
                coefficients: pose.coefficients(),
            };
            let out = Output::Vertices {
                positions: &mut positions,
                normals: None,
            };
            packed.evaluate(&inputs, out).expect("it fits");
            let exact = skin.evaluate(&skin.sample(clip, time)).expect("it fits");
            for (a, b) in positions.iter().zip(&exact) {
                largest = largest.max(glam::Vec3::from(*a).as_dvec3().distance(*b));
            }
        }
        largest / diagonal
    }

    #[test]
    fn a_skin_that_computes_bones_plays_its_skeletons_own_clip() {
        let arm = arm(&Default::default());
        let set = &arm.examples;
        let training: Vec<usize> = (0..set.examples().len()).collect();
        let poses: Vec<_> = set.examples().iter().map(|e| e.pose.clone()).collect();
        let clip = Clip::from_poses("arm", set.skeleton(), &poses, 24.0).expect("rigid poses");
        let pseudo = fit_pseudo_bones(set, &training, &SsdOptions::default(), &Silent);
        let pseudo = pseudo.expect("it fits").skin;
        assert!(!pseudo.pose_program.derived().is_empty(), "some are of use");
        let ssd = fit_ssd(set, &training, &SsdOptions::default(), &Silent).expect("it fits");
        let proxies = proxied(&ssd.skin, &ProxyOptions::default());
        let diagonal = set.rest().bounds().diagonal();
        for skin in [pseudo, proxies] {
            let off = played_difference(&skin, &clip, diagonal);
            let what = skin.pose_program.summary();
            assert!(off < 2e-5, "{what:?}: {off} of the diagonal");
        }
    }
}
