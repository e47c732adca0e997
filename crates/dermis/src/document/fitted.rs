//! What was fitted, as a document to write.

use super::{AssembledExamples, Document, FallbackError, SkinRecord};
use crate::example::MeshAnimation;
use crate::fit::{Decomposition, EngineReport, FitReport, Shown};
use crate::joint::joint_statistics;
use crate::measure::Measures;
use crate::rig::Pose;
use crate::skin::{
    DualQuaternionProgram, Playable, PlayableOptions, PoseClip, SkinError, VertexProgram,
    to_playable,
};

/// The document of a fitted skin: the model itself, what stock players show of it, the clips of the examples, and how
/// it was made. `method` is what the method is called in files ([`Method::key`](crate::fit::Method::key)).
pub fn skin_document(
    examples: &AssembledExamples,
    method: &str,
    fitted: &FitReport,
    engine: &EngineReport,
) -> Document {
    let (skin, fallback) = match &engine.shown {
        Shown::Exact(exact) => (exact.skin.clone(), None),
        Shown::StandIn { fallback, .. } => (fitted.skin.clone(), Some(fallback)),
        Shown::Itself | Shown::FourWeights(_) => (fitted.skin.clone(), None),
    };
    let poses = examples.set.examples().iter();
    let poses: Vec<Pose> = poses.map(|example| example.pose.clone()).collect();
    let look = &examples.look;
    let mut document = Document {
        mesh: look.mesh.clone(),
        polygons: look.polygons.clone(),
        draw: look.draw.clone(),
        materials: look.materials.clone(),
        skin: Some(skin),
        fallback: match fitted.skin.program {
            // Its weights are those of its stand-in.
            VertexProgram::DualQuaternion(_) => None,
            _ => fallback.map(|plain| plain.program.clone()),
        },
        clips: examples.clips.clone(),
        record: Some(SkinRecord {
            generator: format!("dermis {}", env!("CARGO_PKG_VERSION")),
            method: method.to_owned(),
            training: Some(fitted.overall.total.clone()),
            held_out: fitted.held_out.as_ref().map(|h| h.measured.total.clone()),
            fallback: fallback.map(|plain| FallbackError {
                rms: plain.rms_error,
                max: plain.max_error,
            }),
            plain_training: fallback.map(|_| engine.overall.clone()),
            plain_held_out: fallback.and(engine.held_out.clone()),
            joints: joint_statistics(examples.set.skeleton(), &poses),
            ..SkinRecord::default()
        }),
        ..Document::default()
    };
    // Coefficients belong to morph targets of the input, which the fitted skin has absorbed.
    for clip in &mut document.clips {
        clip.channels.retain(|channel| channel.bone().is_some());
    }
    document.clips.retain(|clip| !clip.channels.is_empty());
    if let VertexProgram::Ssd(ssd)
    | VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd }) =
        &fitted.skin.program
        && let Ok(moved) = look.mesh.with_positions(ssd.rest_positions.clone())
        && moved != look.mesh
    {
        // Normals of another rest shape would light this one wrongly; the writer makes new ones.
        document.mesh = moved;
        for part in &mut document.draw.parts {
            part.normals.clear();
            part.tangents.clear();
        }
    }
    document
}

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
