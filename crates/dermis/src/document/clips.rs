//! What the clips of a document show, and when.

use glam::DVec3;

use super::{Document, DocumentError, Frame};
use crate::Skin;
use crate::clip::Clip;
use crate::limits::check_memory;
use crate::rig::{Pose, RigError, Skeleton};
use crate::skin::SkinError;

/// Frames per second of a clip whose keys lie on no frames.
const RATE_WITHOUT_KEYS: f64 = 30.0;

/// Where the poses of a clip are taken when nobody asks for a frame rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// At its keys, however they lie: for poses.
    AtKeys,
    /// At frames of one rate, that of its keys or 30: for meshes that go on as a sequence.
    Even,
}

/// When a clip is sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleTimes {
    /// How many there are a second, in the mean.
    pub frames_per_second: f64,
    /// The time of each sample, in seconds.
    pub times: Vec<f64>,
}

/// What a clip shows, at equal steps of time.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedClip {
    /// The pose at each step.
    pub poses: Vec<Pose>,
    /// The mesh in each of `poses`.
    pub frames: Vec<Vec<DVec3>>,
    /// How fast they follow each other.
    pub frames_per_second: f64,
}

impl Document {
    /// The skin.
    ///
    /// # Errors
    /// [`DocumentError::NoSkin`].
    pub fn expect_skin(&self) -> Result<&Skin, DocumentError> {
        self.skin.as_ref().ok_or_else(|| DocumentError::NoSkin {
            path: self.path.clone(),
            vertex_count: self.mesh.vertex_count(),
        })
    }

    /// The bones of the skin, or those that come without one.
    ///
    /// # Errors
    /// [`DocumentError::NoSkeleton`].
    pub fn expect_skeleton(&self) -> Result<&Skeleton, DocumentError> {
        let of_skin = self.skin.as_ref().map(|skin| &skin.skeleton);
        of_skin
            .or(self.skeleton.as_ref())
            .ok_or_else(|| DocumentError::NoSkeleton {
                path: self.path.clone(),
            })
    }

    /// The clip of a name, or the only one that there is.
    ///
    /// # Errors
    /// [`DocumentError::NoClip`], [`DocumentError::AmbiguousClip`] and [`DocumentError::UnknownClip`].
    pub fn choose_clip(&self, name: Option<&str>) -> Result<&Clip, DocumentError> {
        let path = || self.path.clone();
        let clips = || self.clips.iter().map(|clip| clip.name.clone()).collect();
        match (name, &self.clips[..]) {
            (_, []) => Err(DocumentError::NoClip { path: path() }),
            (None, [clip]) => Ok(clip),
            (None, _) => Err(DocumentError::AmbiguousClip {
                path: path(),
                clips: clips(),
            }),
            (Some(name), all) => (all.iter().find(|clip| clip.name == name)).ok_or_else(|| {
                DocumentError::UnknownClip {
                    path: path(),
                    name: name.to_owned(),
                    clips: clips(),
                }
            }),
        }
    }

    /// When clips of the skin are sampled; `rate` is what was asked for, in frames per second.
    ///
    /// # Errors
    /// [`DocumentError::TooManyFrames`] when all their meshes and poses together would not fit into memory,
    /// [`DocumentError::NoSkin`], and [`DocumentError::Content`] for a rate that is none.
    pub fn sample_times(
        &self,
        clips: &[&Clip],
        rate: Option<f64>,
        pace: Pace,
    ) -> Result<Vec<SampleTimes>, DocumentError> {
        let skin = self.expect_skin()?;
        let in_file = |error: RigError| DocumentError::in_file(&self.path)(SkinError::from(error));
        let samplings: Vec<Sampling> = (clips.iter())
            .map(|clip| Sampling::new(rate, clip, Some(skin), pace))
            .collect();
        let mut frames = 0u64;
        for sampling in &samplings {
            frames += sampling.frame_count().map_err(in_file)? as u64;
        }
        let vertices = skin.vertex_count();
        // Positions as they are shown, as examples, and as a file has them; poses of both.
        let bytes =
            3 * 24 * vertices + 2 * (96 * skin.skeleton.bone_count() + 8 * skin.coefficients.len());
        let what = || format!("{frames} frames of {vertices} vertices");
        let instead = "ask for fewer frames per second";
        check_memory(&[frames, bytes as u64], what, instead).map_err(|source| {
            DocumentError::TooManyFrames {
                path: self.path.clone(),
                source,
            }
        })?;
        let times = |sampling: Sampling| {
            Ok(SampleTimes {
                frames_per_second: sampling.rate(),
                times: sampling.times().map_err(in_file)?,
            })
        };
        samplings.into_iter().map(times).collect()
    }

    /// Plays clips of the skin at equal steps of time; `rate` is what was asked for, in frames per second.
    ///
    /// # Errors
    /// As [`Document::sample_times`], and [`DocumentError::Content`] for clips of another skin.
    pub fn play_clips(
        &self,
        clips: &[&Clip],
        rate: Option<f64>,
    ) -> Result<Vec<PlayedClip>, DocumentError> {
        let skin = self.expect_skin()?;
        let sampled = self.sample_times(clips, rate, Pace::Even)?;
        let play = |(clip, at): (&&Clip, SampleTimes)| {
            let poses: Vec<Pose> = (at.times.iter())
                .map(|&time| skin.sample(clip, time))
                .collect();
            let frames = poses.iter().map(|pose| skin.evaluate(pose));
            Ok(PlayedClip {
                frames: frames
                    .collect::<Result<_, _>>()
                    .map_err(DocumentError::in_file(&self.path))?,
                poses,
                frames_per_second: at.frames_per_second,
            })
        };
        clips.iter().zip(sampled).map(play).collect()
    }

    /// Gives a document that moves by clips alone, a skin or a morph sequence, the meshes that they show as its
    /// frames. One that has frames keeps those, and one without clips has none.
    ///
    /// # Errors
    /// As [`Document::play_clips`].
    pub fn show_clips(&mut self, rate: Option<f64>) -> Result<(), DocumentError> {
        if !self.frames.is_empty() || self.skin.is_none() {
            return Ok(());
        }
        let clips: Vec<&Clip> = self.clips.iter().collect();
        let played = self.play_clips(&clips, rate)?;
        let names: Vec<String> = clips.iter().map(|clip| clip.name.clone()).collect();
        for (name, played) in names.iter().zip(played) {
            let frames = played.frames.into_iter().enumerate();
            self.frames.extend(frames.map(|(k, positions)| Frame {
                name: format!("{name} {k}"),
                positions,
            }));
            self.frame_poses.extend(played.poses);
            let own = self.frames_per_second;
            self.frames_per_second = own.or(Some(played.frames_per_second));
        }
        Ok(())
    }

    /// The clips for a skin that knows only the bones: what this document's skin computes has keys in them.
    ///
    /// # Errors
    /// [`DocumentError::Content`] for clips of another skin.
    pub fn baked_clips(&self) -> Result<Vec<Clip>, DocumentError> {
        let Some(skin) = &self.skin else {
            return Ok(self.clips.clone());
        };
        let baked: Result<Vec<Clip>, _> = self.clips.iter().map(|clip| skin.bake(clip)).collect();
        baked.map_err(DocumentError::in_file(&self.path))
    }

    /// The error of a document in which nothing moves.
    pub(super) fn no_motion(&self) -> DocumentError {
        DocumentError::NoMotion {
            path: self.path.clone(),
            has_skin: self.skin.is_some(),
        }
    }
}

/// Frames per second at which a clip is sampled for poses, in the mean: on its keys, else 30.
pub fn sampling_rate(clip: &Clip, skin: Option<&Skin>) -> f64 {
    Sampling::new(None, clip, skin, Pace::AtKeys).rate()
}

/// When a clip is sampled, before it is known that there is room for so many samples.
enum Sampling {
    /// At every frame of a clip, so many a second.
    Frames(Clip, f64),
    /// At these times, so many a second in the mean.
    Keys(Vec<f64>, f64),
}

impl Sampling {
    /// At frames of the rate that was asked for. Else where the clip's keys are; and where these lie on frames, at
    /// least half of which have one, at the frames without a key, too.
    fn new(asked: Option<f64>, clip: &Clip, skin: Option<&Skin>, pace: Pace) -> Self {
        if let Some(rate) = asked {
            return Self::Frames(clip.clone(), rate);
        }
        let posed = posed_part(clip, skin);
        if pace == Pace::Even {
            let rate = posed.key_rate().unwrap_or(RATE_WITHOUT_KEYS);
            return Self::Frames(clip.clone(), rate);
        }
        let times = posed.key_times();
        let duration = posed.end() - posed.start();
        match posed.key_rate() {
            Some(rate) if duration * rate < 2.0 * times.len() as f64 => Self::Frames(posed, rate),
            _ if times.len() < 2 => Self::Keys(vec![clip.start()], RATE_WITHOUT_KEYS),
            _ => {
                let rate = (times.len() - 1) as f64 / duration;
                Self::Keys(times, rate)
            }
        }
    }

    fn rate(&self) -> f64 {
        match self {
            Self::Frames(_, rate) | Self::Keys(_, rate) => *rate,
        }
    }

    fn frame_count(&self) -> Result<usize, RigError> {
        Ok(match self {
            Self::Frames(clip, rate) => clip.frame_count(*rate)?,
            Self::Keys(times, _) => times.len(),
        })
    }

    fn times(self) -> Result<Vec<f64>, RigError> {
        Ok(match self {
            Self::Frames(clip, rate) => clip.frame_times(rate)?,
            Self::Keys(times, _) => times,
        })
    }
}

/// The channels of a clip whose keys say when something happens: not those of bones and shapes that the
/// skin computes by itself, whose keys lie between the others'.
fn posed_part(clip: &Clip, skin: Option<&Skin>) -> Clip {
    let Some(skin) = skin else {
        return clip.clone();
    };
    let mut given = skin.unbaked(clip);
    // In a file the sliders of a mesh have the keys of what is driven, too.
    if !skin.pose_program.drivers.is_empty() && given.channels.iter().any(|c| c.bone().is_some()) {
        given.channels.retain(|c| c.bone().is_some());
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::tube_with_clips;

    #[test]
    fn a_clip_is_chosen_by_name_or_when_there_is_only_one() {
        let mut document = tube_with_clips(&["walk"]);
        document.path = "tube.glb".into();
        let chosen = document.choose_clip(None).map(|clip| clip.name.as_str());
        assert_eq!(chosen, Ok("walk"), "the only one");
        let error = document.choose_clip(Some("run")).expect_err("no such clip");
        assert_eq!(
            error.to_string(),
            "tube.glb: has no clip 'run'; it has 'walk'",
            "with those that there are"
        );
        let two = tube_with_clips(&["walk", "run"]);
        let error = two.choose_clip(None).expect_err("two clips");
        assert!(
            matches!(&error, DocumentError::AmbiguousClip { clips, .. } if clips.len() == 2),
            "{error}"
        );
        let error = Document::default().choose_clip(None).expect_err("no clip");
        assert!(matches!(error, DocumentError::NoClip { .. }), "{error}");
    }

    #[test]
    fn keys_on_frames_are_sampled_there_and_a_rate_overrides_them() {
        let document = tube_with_clips(&["walk"]);
        let clip = &document.clips[0];
        for pace in [Pace::AtKeys, Pace::Even] {
            let own = document.sample_times(&[clip], None, pace);
            let own = own.expect("a clip of the skin");
            assert_eq!(own[0].frames_per_second, 24.0, "{pace:?}");
            assert_eq!(own[0].times.len(), 6, "{pace:?}: a time for each key");
            let asked = document.sample_times(&[clip], Some(48.0), pace);
            let asked = asked.expect("a clip of the skin");
            assert_eq!(asked[0].times.len(), 11, "{pace:?}: and between them");
        }
        let error = document.sample_times(&[clip], Some(-1.0), Pace::Even);
        assert!(
            matches!(error, Err(DocumentError::Content { .. })),
            "{error:?}"
        );
    }

    #[test]
    fn clips_are_shown_as_frames_unless_there_are_some() {
        let mut document = tube_with_clips(&["walk", "run"]);
        document.show_clips(None).expect("clips of the skin");
        assert_eq!(document.frames.len(), 12, "both clips");
        assert_eq!(document.frame_poses.len(), 12, "with their poses");
        assert_eq!(document.frames[6].name, "run 0", "named after their clips");
        assert_eq!(document.frames_per_second, Some(24.0), "the rate of keys");
        document.frames.truncate(2);
        document.show_clips(None).expect("nothing to do");
        assert_eq!(document.frames.len(), 2, "frames stay");
    }
}
