//! `dermis decompose --keep`: onto a rig that exists.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::fit::{
    DecomposeOptions, KnownRig, LockedWeights, PoseOptions, PoseSolver, decompose_onto,
};
use dermis::{MeshAnimation, Pose, Skin};
use dermis_io::Document;
use glam::DVec3;

use super::decompose::Solved;
use super::{choose_clip, skin_of};
use crate::args::DecomposeArgs;
use crate::input_args::Of;
use crate::matching::{Pair, check, read_beside, rest_meshes};
use crate::talk::{Talk, plural};

/// A rig that is so far from the meshes, as an `E_RMS`, is probably another's, or stands otherwise.
const FAR: f64 = 200.0;

/// Fits what the arguments leave free of a rig. The result looks as the rig does: whoever animates
/// has its materials and texture coordinates there, and caches have none.
pub(super) fn onto_rig(
    args: &DecomposeArgs,
    path: &Path,
    animation: &MeshAnimation,
    options: &DecomposeOptions,
    talk: &Talk,
) -> anyhow::Result<Solved> {
    let matching = &args.sequence.matching;
    let document = read_beside(path, &matching.up, talk)?;
    let skin = skin_of(&document)?;
    let (expected, found) = (animation.vertex_count(), skin.vertex_count());
    if expected != found {
        bail!(
            "{}: the rig has {found} vertices, but the animation has {expected}: they must be the \
             same, in the same order",
            path.display()
        );
    }
    let frames: Vec<&[DVec3]> = animation.frames().collect();
    let pair = Pair {
        meshes: args.inputs.first().map_or(path, |input| input),
        rest: path,
        of: Of::All,
    };
    check(&rest_meshes(&document), &frames, pair, matching)?;
    if !skin.coefficients.is_empty() {
        talk.remark(format!(
            "warning: {}: {} left out: bones and weights are fitted without them",
            path.display(),
            match skin.coefficients.len() {
                1 => "1 morph target is".to_owned(),
                count => format!("{count} morph targets are"),
            }
        ));
    }
    let helpers = args.bones.unwrap_or(0);
    if args.transforms_only {
        if helpers > 0 {
            bail!(
                "--transforms-only keeps all weights, so new bones would move nothing: leave --bones out"
            );
        }
        if args.lock.is_some() {
            bail!("--transforms-only keeps all weights: leave --lock out");
        }
        if args.clip.is_some() {
            bail!("--transforms-only finds the motion, so no clip is read: leave --clip out");
        }
        let rig = KnownRig {
            skin,
            poses: None,
            locked_weights: LockedWeights::All,
        };
        let found = in_file(path, decompose_onto(animation, &rig, 0, options, talk))?;
        return Ok(Solved {
            found,
            rig_alone: None,
            look: document,
        });
    }
    if args.weights_only && helpers > 0 {
        bail!("--weights-only keeps the bones as they are: leave --bones out");
    }
    if !args.weights_only && helpers == 0 {
        bail!(
            "--keep: say what to fit: helper bones with --bones N, new weights with --weights-only, or new \
             motion with --transforms-only"
        );
    }
    let poses = rig_poses(args, &document, skin, animation, talk)?;
    let errors = vertex_errors(skin, &poses, animation)?;
    let rig_alone = root_mean_square(&errors);
    if rig_alone > FAR {
        talk.remark(format!(
            "warning: {} alone is far off (E_RMS {rig_alone:.0}): check that it is the rig of these meshes, in \
             their clip, with the same axis up (--input-up z)",
            path.display()
        ));
    }
    let locked_weights = locked(args.lock.as_deref(), &errors, talk)?;
    let rig = KnownRig {
        skin,
        poses: Some(&poses),
        locked_weights,
    };
    let found = decompose_onto(animation, &rig, helpers, options, talk);
    Ok(Solved {
        found: in_file(path, found)?,
        rig_alone: Some(rig_alone),
        look: document,
    })
}

fn root_mean_square(numbers: &[f64]) -> f64 {
    let sum: f64 = numbers.iter().map(|x| x * x).sum();
    (sum / numbers.len().max(1) as f64).sqrt()
}

fn in_file<T>(path: &Path, result: Result<T, dermis::fit::FitError>) -> anyhow::Result<T> {
    result.with_context(|| path.display().to_string())
}

/// The pose of the rig in every frame: from its clips, else solved from the meshes.
fn rig_poses(
    args: &DecomposeArgs,
    document: &Document,
    skin: &Skin,
    animation: &MeshAnimation,
    talk: &Talk,
) -> anyhow::Result<Vec<Pose>> {
    if document.frame_poses.len() == animation.frame_count() {
        return Ok(document.frame_poses.clone());
    }
    if document.clips.is_empty() {
        talk.remark(format!(
            "note: {} has no clip: the pose of its bones in each frame is found from the meshes",
            document.path.display()
        ));
        let solver = PoseSolver::new(skin, &PoseOptions::default())
            .with_context(|| document.path.display().to_string())?;
        let meshes: Vec<&[DVec3]> = animation.frames().collect();
        let starts = vec![skin.skeleton.default_pose(); meshes.len()];
        let found = solver.solve_all(&meshes, &starts, talk)?;
        return Ok(found.into_iter().map(|fit| fit.pose).collect());
    }
    let mut poses = Vec::with_capacity(animation.frame_count());
    for clip in animation.clips() {
        // Clips of the same name belong together; a single one may have any.
        let name = match animation.clips().len() {
            1 => args.clip.as_deref(),
            _ => Some(clip.name.as_str()),
        };
        let motion = choose_clip(document, name)?;
        let start = motion.start();
        let end = start + (clip.frames.len() - 1) as f64 / clip.frames_per_second;
        if (end - motion.end()).abs() > 1.5 / clip.frames_per_second {
            talk.remark(format!(
                "warning: {} of '{}' at {} per second end at {end:.3} s, but clip '{}' of {} ends at \
                 {:.3} s; --fps says how fast the meshes play",
                plural(clip.frames.len(), "frame"),
                clip.name,
                clip.frames_per_second,
                motion.name,
                document.path.display(),
                motion.end()
            ));
        }
        for frame in 0..clip.frames.len() {
            poses.push(skin.sample(motion, start + frame as f64 / clip.frames_per_second));
        }
    }
    Ok(poses)
}

/// Reads `--lock`: `none`, `fit:E`, or a file of vertex numbers.
///
/// `errors` are those of the rig at every vertex.
fn locked(text: Option<&str>, errors: &[f64], talk: &Talk) -> anyhow::Result<LockedWeights> {
    let Some(text) = text.filter(|text| *text != "none") else {
        return Ok(LockedWeights::None);
    };
    let which = match text.strip_prefix("fit:") {
        Some(limit) => {
            let limit: f64 = (limit.parse().ok())
                .filter(|limit: &f64| *limit >= 0.0)
                .with_context(|| {
                    format!("--lock {text}: expected an error (E_RMS) after fit:, such as fit:0.5")
                })?;
            errors.iter().map(|&error| error <= limit).collect()
        }
        None => vertex_list(text, errors.len())?,
    };
    let count = which.iter().filter(|&&locked| locked).count();
    talk.remark(format!(
        "{count} of {} vertices keep their weights",
        which.len()
    ));
    Ok(LockedWeights::Vertices(which))
}

/// `E_RMS` of a rig at every vertex.
fn vertex_errors(
    skin: &Skin,
    poses: &[Pose],
    animation: &MeshAnimation,
) -> anyhow::Result<Vec<f64>> {
    let mut sums = vec![0.0; animation.vertex_count()];
    for (frame, pose) in animation.frames().zip(poses) {
        let shown = skin.evaluate(pose)?;
        for ((sum, a), b) in sums.iter_mut().zip(frame).zip(&shown) {
            *sum += a.distance_squared(*b);
        }
    }
    let count = (3 * animation.frame_count()) as f64;
    let e_rms = |sum: f64| 1000.0 * (sum / count).sqrt() / animation.unit_ball_radius();
    Ok(sums.into_iter().map(e_rms).collect())
}

/// The vertices that a text file lists, by number from 0.
fn vertex_list(path: &str, vertex_count: usize) -> anyhow::Result<Vec<bool>> {
    let text = std::fs::read_to_string(path).with_context(|| {
        format!("--lock {path}: expected none, fit:E, or a file of vertex numbers")
    })?;
    let mut which = vec![false; vertex_count];
    for word in text.split(|c: char| c.is_whitespace() || c == ',') {
        if word.is_empty() {
            continue;
        }
        match word.parse::<usize>().ok().filter(|&v| v < vertex_count) {
            Some(vertex) => which[vertex] = true,
            None => bail!(
                "{path}: expected vertex numbers from 0 to {}, found '{word}'",
                vertex_count - 1
            ),
        }
    }
    Ok(which)
}
