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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::{tube_with_clips, tube_with_frames};
    use crate::document::{FRAMES_PER_SECOND, MatchError, hold_poses, playable_decomposition};
    use crate::example::MeshClip;
    use crate::fit::{DecomposeOptions, KnownRig, LockedWeights, decompose_onto};
    use crate::progress::Silent;

    /// The tube's frames as motions of these names, so many frames each.
    fn animation(motions: &[(&str, usize)]) -> MeshAnimation {
        let tube = tube_with_frames();
        let clip = |(name, count): &(&str, usize)| MeshClip {
            name: (*name).to_owned(),
            frames: (tube.frames.iter().take(*count))
                .map(|frame| frame.positions.clone())
                .collect(),
            frames_per_second: FRAMES_PER_SECOND,
        };
        MeshAnimation::new(tube.mesh.clone(), motions.iter().map(clip).collect())
            .expect("frames of one mesh")
    }

    #[test]
    fn clips_of_one_name_belong_together_and_a_single_one_is_chosen() {
        let rig = tube_with_clips(&["run", "walk"]);
        let both = animation(&[("walk", 6), ("run", 6)]);
        let found = rig
            .rig_motion(&both, None, &Silent)
            .expect("both are there");
        assert_eq!(
            found.clips,
            [Some("walk".to_owned()), Some("run".to_owned())],
            "by name"
        );
        assert!(found.e_rms < 1e-6, "E_RMS {}", found.e_rms);
        assert_eq!(found.vertex_errors.len(), both.vertex_count(), "one each");
        assert_eq!(found.notes, [], "nothing was assumed");
        let one = animation(&[("sim", 6)]);
        let found = rig
            .rig_motion(&one, Some("run"), &Silent)
            .expect("one clip");
        assert_eq!(found.clips, [Some("run".to_owned())], "as it was named");
        let error = rig.rig_motion(&one, None, &Silent).expect_err("two clips");
        assert!(
            matches!(error, DocumentError::AmbiguousClip { .. }),
            "{error:?}"
        );
        let shorter = animation(&[("sim", 3)]);
        let found = rig.rig_motion(&shorter, Some("run"), &Silent);
        let notes = found.expect("a part of the clip").notes;
        assert!(
            matches!(&notes[..], [Note::OtherDuration { frame_count: 3, .. }]),
            "{notes:?}"
        );
    }

    #[test]
    fn poses_come_with_frames_or_are_solved_where_nothing_has_them() {
        let one = animation(&[("sim", 6)]);
        let found = tube_with_frames().rig_motion(&one, None, &Silent);
        let found = found.expect("a pose for each frame");
        assert_eq!(found.poses, tube_with_frames().frame_poses, "its own");
        assert_eq!(found.clips, [None], "no clip has them");
        let still = tube_with_clips(&[]);
        let found = still.rig_motion(&one, None, &Silent).expect("solved");
        assert!(found.e_rms < 1.0, "E_RMS {}", found.e_rms);
        assert!(
            matches!(&found.notes[..], [Note::PosesFound { .. }]),
            "{:?}",
            found.notes
        );
    }

    #[test]
    fn a_rig_of_another_mesh_is_refused() {
        let rig = tube_with_clips(&["run"]);
        let meshes = Path::new("sim.npz");
        let one = animation(&[("sim", 6)]);
        let options = MatchOptions::default();
        let (_, note) = rig.rig_of(&one, meshes, &options).expect("its own meshes");
        assert_eq!(note, None, "it has no shapes");
        let points = vec![vec![DVec3::ZERO; 4]];
        let clip = MeshClip {
            name: "points".to_owned(),
            frames: points.clone(),
            frames_per_second: 24.0,
        };
        let mesh = crate::TriMesh::new(points[0].clone(), Vec::new()).expect("points");
        let other = MeshAnimation::new(mesh, vec![clip]).expect("one frame");
        let error = rig
            .rig_of(&other, meshes, &options)
            .expect_err("four points");
        assert!(
            matches!(
                error,
                DocumentError::RigVertexCount {
                    expected: 4,
                    found: 98,
                    ..
                }
            ),
            "{error:?}"
        );
        let large = one.frames().map(|frame| frame.iter().map(|v| *v * 100.0));
        let clip = MeshClip {
            name: "large".to_owned(),
            frames: large.map(Iterator::collect).collect(),
            frames_per_second: 24.0,
        };
        let large = MeshAnimation::new(one.rest().clone(), vec![clip]).expect("frames");
        let error = rig
            .rig_of(&large, meshes, &options)
            .expect_err("centimetres");
        assert!(
            matches!(error, DocumentError::Match(MatchError::Space { .. })),
            "{error:?}"
        );
    }

    #[test]
    fn clips_of_a_rig_play_on_the_skin_that_was_made_from_it() {
        let rig = tube_with_clips(&["run", "walk"]);
        let one = animation(&[("run", 6)]);
        let skin = rig.expect_skin().expect("a skin");
        let motion = rig.rig_motion(&one, Some("run"), &Silent).expect("a clip");
        let known = KnownRig {
            skin,
            poses: Some(&motion.poses),
            locked_weights: LockedWeights::None,
        };
        let options = DecomposeOptions {
            update_rest: false,
            ..DecomposeOptions::default()
        };
        let found = decompose_onto(&one, &known, 1, &options, &Silent).expect("a helper");
        let playable = playable_decomposition(&one, &found, 0.0).expect("a skin to play");
        let playable = hold_poses(playable, &one, &[false]);
        let kept = rig.clips_kept_on(&playable).expect("clips of the rig");
        let names: Vec<&str> = kept.iter().map(|clip| clip.name.as_str()).collect();
        assert_eq!(names, ["walk"], "'run' is there already");
        let size = one.size();
        for k in 0..6 {
            let time = f64::from(k) / 24.0;
            let shown = playable.skin.sample(&kept[0], time);
            let shown = playable.skin.evaluate(&shown).expect("its own bones");
            let wanted = skin.evaluate(&skin.sample(&rig.clips[1], time));
            let pairs = shown.iter().zip(wanted.expect("its own clip"));
            let pairs: Vec<f64> = pairs.map(|(a, b)| a.distance(b)).collect();
            let off = pairs.into_iter().fold(0.0, f64::max);
            assert!(off < 0.05 * size, "frame {k} is {off} away");
        }
    }
}
