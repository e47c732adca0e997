//! A rig that exists, for an animation of its mesh: its pose in every frame, and its clips on the skin that becomes of
//! it.

use std::path::Path;

use glam::DVec3;

use super::{Document, DocumentError, MatchOptions, MatchPair, Note, check_shapes};
use crate::Skin;
use crate::clip::Clip;
use crate::example::MeshAnimation;
use crate::fit::{PoseOptions, PoseSolver};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::skin::{Playable, SkinError};

/// A rig that is so far from the meshes, as an `E_RMS`, is probably another's, or stands otherwise.
const FAR: f64 = 200.0;

/// The poses of a rig in an animation, and how well it does in them.
#[derive(Debug, Clone)]
pub struct RigMotion {
    /// The pose of the rig in every frame.
    pub poses: Vec<Pose>,
    /// For each clip of the animation the clip of the rig that has its poses; `None` when they come from elsewhere.
    pub clips: Vec<Option<String>>,
    /// `E_RMS` of the rig at every vertex.
    pub vertex_errors: Vec<f64>,
    /// `E_RMS` of the rig as it is.
    pub e_rms: f64,
    /// What was assumed.
    pub notes: Vec<Note>,
}

impl Document {
    /// The skin of a rig whose vertices are those of an animation; `meshes` is where that comes from.
    ///
    /// Morph targets are no part of such a skin: a note says so when there are some.
    ///
    /// # Errors
    /// [`DocumentError::NoSkin`], [`DocumentError::RigVertexCount`], and [`DocumentError::Match`] for another order
    /// or space.
    pub fn rig_of(
        &self,
        animation: &MeshAnimation,
        meshes: &Path,
        options: &MatchOptions,
    ) -> Result<(&Skin, Option<Note>), DocumentError> {
        let skin = self.expect_skin()?;
        let (expected, found) = (animation.vertex_count(), skin.vertex_count());
        if expected != found {
            return Err(DocumentError::RigVertexCount {
                rig: self.path.clone(),
                expected,
                found,
            });
        }
        let frames: Vec<&[DVec3]> = animation.frames().collect();
        let pair = MatchPair {
            meshes,
            rest: &self.path,
            is_own_rest: false,
        };
        check_shapes(&self.rest_meshes(), &frames, pair, options)?;
        let note = (!skin.coefficients.is_empty()).then(|| Note::ShapesLeftOut {
            rig: self.path.clone(),
            count: skin.coefficients.len(),
        });
        Ok((skin, note))
    }

    /// The pose of this rig in every frame of an animation: those of its frames when it has as many, else from its
    /// clips, else solved from the meshes.
    ///
    /// Clips of the same name belong together; a single motion may have any, and `clip` names the rig's.
    ///
    /// # Errors
    /// As [`Document::expect_skin`] and [`Document::choose_clip`]; [`DocumentError::Content`] for poses that the rig
    /// cannot take.
    pub fn rig_motion(
        &self,
        animation: &MeshAnimation,
        clip: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<RigMotion, DocumentError> {
        let skin = self.expect_skin()?;
        let in_file = |error: SkinError| DocumentError::in_file(&self.path)(error);
        let mut notes = Vec::new();
        let mut clips = vec![None; animation.clips().len()];
        let poses = if self.frame_poses.len() == animation.frame_count() {
            self.frame_poses.clone()
        } else if self.clips.is_empty() {
            let rig = self.path.clone();
            notes.push(Note::PosesFound { rig });
            self.solved_poses(animation, progress)?
        } else {
            let mut poses = Vec::with_capacity(animation.frame_count());
            for (motion, of_rig) in animation.clips().iter().zip(&mut clips) {
                let name = match animation.clips().len() {
                    1 => clip,
                    _ => Some(motion.name.as_str()),
                };
                let clip = self.choose_clip(name)?;
                let rate = motion.frames_per_second;
                let start = clip.start();
                let end = start + (motion.frames.len() - 1) as f64 / rate;
                if (end - clip.end()).abs() > 1.5 / rate {
                    notes.push(Note::OtherDuration {
                        motion: motion.name.clone(),
                        frame_count: motion.frames.len(),
                        frames_per_second: rate,
                        end,
                        rig: self.path.clone(),
                        clip: clip.name.clone(),
                        clip_end: clip.end(),
                    });
                }
                let times = (0..motion.frames.len()).map(|frame| start + frame as f64 / rate);
                poses.extend(times.map(|time| skin.sample(clip, time)));
                *of_rig = Some(clip.name.clone());
            }
            poses
        };
        let shown: Result<Vec<_>, _> = poses.iter().map(|pose| skin.evaluate(pose)).collect();
        let shown = shown.map_err(in_file)?;
        let vertex_errors = animation.vertex_e_rms(shown.iter().map(Vec::as_slice));
        let e_rms = animation.e_rms(shown.iter().map(Vec::as_slice));
        if e_rms > FAR {
            let rig = self.path.clone();
            notes.push(Note::FarOff { rig, e_rms });
        }
        Ok(RigMotion {
            poses,
            clips,
            vertex_errors,
            e_rms,
            notes,
        })
    }

    /// The poses in which the skin matches the frames best.
    fn solved_poses(
        &self,
        animation: &MeshAnimation,
        progress: &dyn Progress,
    ) -> Result<Vec<Pose>, DocumentError> {
        let skin = self.expect_skin()?;
        let meshes: Vec<&[DVec3]> = animation.frames().collect();
        let starts = vec![skin.skeleton.default_pose(); meshes.len()];
        let found = PoseSolver::new(skin, &PoseOptions::default())
            .and_then(|solver| solver.solve_all(&meshes, &starts, progress))
            .map_err(DocumentError::in_file(&self.path))?;
        Ok(found.into_iter().map(|fit| fit.pose).collect())
    }

    /// The clips of this rig on a skin that was made from it, without those that the skin has by name.
    ///
    /// What the rig computes by itself has keys, new bones follow the bones that they hang on, and channels of morph
    /// targets, which such a skin does not have, are left out.
    ///
    /// # Errors
    /// [`DocumentError::Content`] for clips of another skin.
    pub fn clips_kept_on(&self, playable: &Playable) -> Result<Vec<Clip>, DocumentError> {
        let is_new = |clip: &Clip| playable.clips.iter().all(|own| own.name != clip.name);
        let mut kept = self.baked_clips()?;
        kept.retain(is_new);
        for clip in &mut kept {
            *clip = playable.adopted(clip);
        }
        kept.retain(|clip| !clip.channels.is_empty());
        Ok(kept)
    }
}
