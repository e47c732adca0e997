//! A decomposition as a document to write.

use super::{Document, SkinRecord};
use crate::example::MeshAnimation;
use crate::fit::Decomposition;
use crate::measure::Measures;
use crate::skin::{Playable, PlayableOptions, PoseClip, SkinError, to_playable};

/// A decomposition as a skin that every player takes, with a clip for each motion of the animation.
///
/// `key_tolerance` is the `E_RMS` that leaving keys out may add; with 0 every key is kept.
///
/// # Errors
/// As [`to_playable`].
///
/// # Panics
/// When the decomposition is of an animation with fewer frames.
pub fn playable_decomposition(
    animation: &MeshAnimation,
    found: &Decomposition,
    key_tolerance: f64,
) -> Result<Playable, SkinError> {
    let mut first = 0;
    let mut clips = Vec::with_capacity(animation.clips().len());
    for clip in animation.clips() {
        let count = clip.frames.len();
        clips.push(PoseClip {
            name: clip.name.clone(),
            poses: &found.poses[first..first + count],
            frames_per_second: clip.frames_per_second,
        });
        first += count;
    }
    let options = PlayableOptions {
        // E_RMS is over coordinates, the tolerance over vertices.
        key_tolerance: key_tolerance / 1000.0 * 3f64.sqrt() * animation.unit_ball_radius(),
    };
    to_playable(&found.skin, &clips, &options)
}

/// Makes clips of poses what they are: nothing between the poses, each shown as long as the others.
///
/// `held` says of each clip whether it is such a one, as in
/// [`AssembledAnimation::held`](super::AssembledAnimation::held). All keys must be there.
pub fn hold_poses(mut playable: Playable, animation: &MeshAnimation, held: &[bool]) -> Playable {
    for ((motion, clip), _) in (animation.clips().iter())
        .zip(&mut playable.clips)
        .zip(held)
        .filter(|(_, held)| **held)
    {
        let time = |frame| frame as f64 / motion.frames_per_second;
        let times: Vec<f64> = (0..=motion.frames.len()).map(time).collect();
        *clip = clip.held_at(&times);
    }
    playable
}

/// `E_RMS` of what the clips of a decomposition show at the frames.
///
/// # Errors
/// [`SkinError`] for clips of another skin.
pub fn playable_e_rms(animation: &MeshAnimation, playable: &Playable) -> Result<f64, SkinError> {
    let mut shown = Vec::with_capacity(animation.frame_count());
    for (given, clip) in animation.clips().iter().zip(&playable.clips) {
        for k in 0..given.frames.len() {
            let pose = (playable.skin).sample(clip, k as f64 / given.frames_per_second);
            shown.push(playable.skin.evaluate(&pose)?);
        }
    }
    Ok(animation.e_rms(shown.iter().map(Vec::as_slice)))
}

/// The document of a decomposition: a skin in the place of meshes, which looks as `look` does.
pub fn decomposed_document(playable: &Playable, training: &Measures, look: Document) -> Document {
    Document {
        skin: Some(playable.skin.clone()),
        clips: playable.clips.clone(),
        levels: Vec::new(),
        progressive: None,
        fallback: None,
        skeleton: None,
        frames: Vec::new(),
        frame_poses: Vec::new(),
        record: Some(SkinRecord {
            method: "decomposition".to_owned(),
            training: Some(training.clone()),
            ..SkinRecord::default()
        }),
        ..look
    }
}
