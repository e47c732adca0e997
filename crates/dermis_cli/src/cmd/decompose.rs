//! `dermis decompose`: a mesh animation to bones and weights.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use dermis::compare::{ComparatorOptions, truncated_svd};
use dermis::fit::{
    BoneCount, BoneMotion, DecomposeOptions, Decomposition, Quality, decompose, join_bones,
};
use dermis::measure::Measures;
use dermis::skin::{Playable, PlayableOptions, PoseClip, to_playable};
use dermis::{Clip, MeshAnimation};
use dermis_io::{Document, SkinRecord, Transaction, WriteOptions};

use super::decompose_keep::onto_rig;
use super::{SKIN_FILE, output_format};
use crate::Outcome;
use crate::animation::{ReadAnimation, read_animation};
use crate::args::{DecomposeArgs, QualityArg};
use crate::report;
use crate::talk::{Talk, plural};

/// Most bones that `--target-error` tries.
const MOST_BONES: usize = 256;
/// Keys are not kept for the sake of a smaller `E_RMS` than this: a hundred-thousandth of the size, at the
/// default tolerance a millionth, is what single precision leaves of a file anyway.
const SEEN_E_RMS: f64 = 0.01;
/// Above this many numbers per vertex or vertices, the bound by singular values is not computed.
const MOST_FOR_BOUND: usize = 2500;

/// A decomposition with all that its report needs to know.
pub(crate) struct DecomposeJob<'a> {
    pub(crate) args: &'a DecomposeArgs,
    pub(crate) animation: &'a MeshAnimation,
    pub(crate) found: Decomposition,
    /// Seconds that it took.
    pub(crate) seconds: f64,
    /// `E_RMS` that no skin of so many bones can fall below; `None` when it was not computed.
    pub(crate) bound: Option<f64>,
    /// What leaving keys out may add, as an `E_RMS`.
    pub(crate) key_tolerance: f64,
    pub(crate) playable: Playable,
    /// Keys that a tolerance of 0 would write.
    pub(crate) all_keys: usize,
    /// Bytes of the file with these keys, and with those that are written.
    pub(crate) file_bytes: [usize; 2],
    /// `E_RMS` of what is written, with the keys that it has.
    pub(crate) file_e_rms: f64,
    /// `E_RMS` of the rig of `--keep` as it was given, in the poses of its clip.
    pub(crate) rig_alone: Option<f64>,
    pub(crate) was_stopped: bool,
}

impl DecomposeJob<'_> {
    /// Keys that are written.
    pub(crate) fn keys(&self) -> usize {
        key_count(&self.playable)
    }
}

fn key_count(playable: &Playable) -> usize {
    playable.clips.iter().map(Clip::key_count).sum()
}

/// The `E_RMS` that leaving keys out may add: a share of that of the fit.
fn key_tolerance(share: f64, e_rms: f64) -> f64 {
    share * e_rms.max(SEEN_E_RMS)
}

pub(crate) fn run(args: &DecomposeArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    output_format(&args.output, SKIN_FILE, "a decomposition is")?;
    let options = options(args)?;
    options.check()?;
    match args.checkpoint {
        true => talk.finish_when_stopped(),
        false => talk.advise_when_stopped("--checkpoint would keep the best so far"),
    }
    for path in std::iter::once(&args.output).chain(&args.report) {
        check_place(path)?;
    }
    let ReadAnimation {
        animation,
        look,
        held,
    } = read_animation(
        &args.inputs,
        &args.sequence,
        args.fps,
        // The rig of --keep has the motion.
        args.keep.is_none(),
        talk,
    )?;
    if args.keep.is_none() {
        super::check_faces(&look, &args.output)?;
    }
    let start = Instant::now();
    let Solved {
        found,
        rig_alone,
        look,
    } = match &args.keep {
        Some(path) => onto_rig(args, path, &animation, &options, talk)?,
        None => from_nothing(args, &animation, &options, look, talk)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let was_stopped = talk.was_stopped();
    check_checkpoint(args, talk)?;
    let key_tolerance = key_tolerance(args.key_tolerance, found.e_rms);
    let playable = |e_rms: f64| {
        let clips = pose_clips(&animation, &found);
        let options = PlayableOptions {
            // E_RMS is over coordinates, the tolerance over vertices.
            key_tolerance: e_rms / 1000.0 * 3f64.sqrt() * animation.unit_ball_radius(),
        };
        to_playable(&found.skin, &clips, &options)
    };
    let unreduced = playable(0.0)?;
    let playable = match held.contains(&true) {
        // Keys of poses that are held cannot be left out: nothing lies between them.
        true => with_held_poses(unreduced.clone(), &animation, &held),
        false => playable(key_tolerance)?,
    };
    let training = found.measures(&animation)?;
    let bytes = |playable: &Playable| -> anyhow::Result<usize> {
        let document = document(playable, &training, look.clone());
        let bytes = dermis_io::gltf::to_glb(&document);
        let bytes = bytes.with_context(|| args.output.display().to_string())?;
        Ok(bytes.len())
    };
    let all_bytes = bytes(&unreduced)?;
    // Channels that share their key times share them in the file, too: a few keys less may be more bytes.
    let (playable, fewer_bytes) = match bytes(&playable)? {
        fewer if fewer < all_bytes => (playable, fewer),
        _ if held.contains(&true) => (playable, all_bytes),
        _ => (unreduced.clone(), all_bytes),
    };
    let file_e_rms = written_error(&animation, &playable)?;
    let job = DecomposeJob {
        args,
        animation: &animation,
        bound: bound(&animation, &found),
        found,
        seconds,
        key_tolerance,
        all_keys: key_count(&unreduced),
        file_bytes: [all_bytes, fewer_bytes],
        file_e_rms,
        playable,
        rig_alone,
        was_stopped,
    };
    let report = report::decomposition_report(&job);
    let page = match &args.report {
        Some(path) => {
            let figures = report::decomposition_figures(&job, talk)?;
            Some((path, report::html(&report, &figures)?))
        }
        None => None,
    };
    // Pictures take a while, and who stops them wants no skin either.
    check_checkpoint(args, talk)?;
    let document = document(&job.playable, &training, look);
    let mut files = Transaction::new();
    let skin_files = files.add_document(&args.output, &document, &WriteOptions::default())?;
    if let Some((path, page)) = &page {
        files.add(path, page.as_bytes())?;
    }
    files.commit()?;
    talk.clear();
    report::print(&report, args.json)?;
    talk.remark_written(&skin_files);
    if let Some((path, _)) = page {
        talk.remark(format!("wrote {}", path.display()));
    }
    if was_stopped {
        let joined = match args.hierarchy && job.found.unjoined_e_rms.is_none() {
            true => ", before its bones were joined in a hierarchy",
            false => "",
        };
        talk.remark(format!(
            "stopped after {}: this is the best so far{joined}",
            plural(job.found.round_errors.len(), "round")
        ));
    }
    Ok(outcome(&job, talk))
}

/// A decomposition, and the file that it is to look like.
pub(super) struct Solved {
    pub(super) found: Decomposition,
    /// See [`DecomposeJob::rig_alone`].
    pub(super) rig_alone: Option<f64>,
    pub(super) look: Document,
}

/// Finds bones for the meshes alone.
fn from_nothing(
    args: &DecomposeArgs,
    animation: &MeshAnimation,
    options: &DecomposeOptions,
    look: Document,
    talk: &Talk,
) -> anyhow::Result<Solved> {
    let in_file = || look.path.display().to_string();
    let mut found = decompose(animation, options, talk).with_context(in_file)?;
    if args.hierarchy && !talk.was_stopped() {
        found = join_bones(found, animation, options, talk).with_context(in_file)?;
    }
    Ok(Solved {
        found,
        rig_alone: None,
        look,
    })
}

/// Fails when the user has asked to stop and wants nothing to be kept.
fn check_checkpoint(args: &DecomposeArgs, talk: &Talk) -> anyhow::Result<()> {
    match args.checkpoint {
        true => Ok(()),
        false => talk.check_stopped(),
    }
}

/// Fails where no file can be written, before the work rather than after it.
fn check_place(path: &Path) -> anyhow::Result<()> {
    let above = path.ancestors().skip(1);
    if let Some(file) = above.into_iter().find(|above| above.is_file()) {
        bail!(
            "{}: cannot be written: {} is a file, not a folder",
            path.display(),
            file.display()
        );
    }
    if path.is_dir() {
        bail!("{}: cannot be written: it is a folder", path.display());
    }
    Ok(())
}

fn outcome(job: &DecomposeJob<'_>, talk: &Talk) -> Outcome {
    match job.args.target_error {
        Some(target) if job.found.e_rms > target => {
            talk.remark(format!(
                "tolerance missed: E_RMS {:.3} with {} bones, at most {target} was asked for; more \
                 bones (--max-bones), more influences or --quality best may reach it",
                job.found.e_rms,
                job.found.skin.skeleton.bone_count()
            ));
            Outcome::ToleranceMissed
        }
        _ => Outcome::Done,
    }
}

/// What the arguments mean, checked against each other.
fn options(args: &DecomposeArgs) -> anyhow::Result<DecomposeOptions> {
    if let Some(target) = args.target_error
        && !(target > 0.0 && target.is_finite())
    {
        bail!("--target-error {target}: expected an error (E_RMS) above 0, such as 1.5");
    }
    // `requires` of clap does not hear this: what it requires conflicts with --bones.
    if args.max_bones.is_some() && args.target_error.is_none() {
        bail!("--max-bones is for --target-error; to say how many bones, use --bones");
    }
    for (flag, value) in [
        ("--smooth", args.smooth),
        ("--key-tolerance", args.key_tolerance),
    ] {
        if !(value >= 0.0 && value.is_finite()) {
            bail!("{flag} {value}: expected a number of at least 0");
        }
    }
    if args.keep.is_none() {
        for (is_given, flag) in [
            (args.weights_only, "--weights-only"),
            (args.transforms_only, "--transforms-only"),
            (args.lock.is_some(), "--lock"),
            (args.clip.is_some(), "--clip"),
        ] {
            if is_given {
                bail!("{flag} is about an existing rig: give the rig with --keep");
            }
        }
        if args.bones.is_none() && args.target_error.is_none() {
            bail!(
                "say how many bones to find with --bones, or which error to reach with --target-error"
            );
        }
    }
    if args.keep.is_some() {
        if args.target_error.is_some() {
            bail!(
                "--target-error cannot be used with --keep: say how many helper bones with --bones"
            );
        }
        if args.hierarchy {
            bail!("--hierarchy cannot be used with --keep: the rig has its own hierarchy");
        }
    }
    let quality = match args.quality {
        QualityArg::Fast => Quality::Fast,
        QualityArg::Default => Quality::Default,
        QualityArg::Best => Quality::Best,
    };
    let of_quality = DecomposeOptions::of_quality(quality);
    Ok(DecomposeOptions {
        bones: match (args.bones, args.target_error) {
            (_, Some(e_rms)) => BoneCount::ForError {
                e_rms,
                at_most: args.max_bones.unwrap_or(MOST_BONES),
            },
            // Helper bones may be none; their count is passed on its own.
            (count, None) => BoneCount::Exactly(count.unwrap_or(1).max(1)),
        },
        motion: match args.rigid || args.hierarchy {
            true => BoneMotion::Rigid,
            false => BoneMotion::Affine,
        },
        max_influences: args.max_influences,
        rounds: args.rounds.unwrap_or(of_quality.rounds),
        starts: args.starts.unwrap_or(of_quality.starts),
        update_rest: !args.fixed_rest && args.keep.is_none(),
        smoothness: args.smooth,
        ..of_quality
    })
}

/// The poses of a decomposition, clip by clip.
fn pose_clips<'a>(animation: &MeshAnimation, found: &'a Decomposition) -> Vec<PoseClip<'a>> {
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
    clips
}

/// `E_RMS` of what the clips show at the frames.
fn written_error(animation: &MeshAnimation, playable: &Playable) -> anyhow::Result<f64> {
    let mut shown = Vec::with_capacity(animation.frame_count());
    for (given, clip) in animation.clips().iter().zip(&playable.clips) {
        for k in 0..given.frames.len() {
            let pose = (playable.skin).sample(clip, k as f64 / given.frames_per_second);
            shown.push(playable.skin.evaluate(&pose)?);
        }
    }
    Ok(animation.e_rms(shown.iter().map(Vec::as_slice)))
}

/// Makes clips of poses what they are: nothing between the poses, each shown as long as the others.
fn with_held_poses(mut playable: Playable, animation: &MeshAnimation, held: &[bool]) -> Playable {
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

/// The error of as many singular values as the bones have columns.
fn bound(animation: &MeshAnimation, found: &Decomposition) -> Option<f64> {
    let size = (3 * animation.frame_count()).min(animation.vertex_count());
    if size > MOST_FOR_BOUND {
        return None;
    }
    let options = ComparatorOptions {
        bone_count: found.skin.skeleton.bone_count(),
        ..ComparatorOptions::default()
    };
    let silent = &dermis::progress::Silent;
    let svd = truncated_svd(animation, &options, silent).ok()?;
    // Below this it is rounding, which a skin may well fall below.
    Some(if svd.e_rms < 1e-9 { 0.0 } else { svd.e_rms })
}

/// What is written: a skin in the place of meshes.
fn document(playable: &Playable, training: &Measures, look: Document) -> Document {
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
