//! `dermis decompose`: a mesh animation to bones and weights.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use dermis::compare::{ComparatorOptions, truncated_svd};
use dermis::document::{
    AssembledAnimation, decomposed_document, hold_poses, playable_decomposition, playable_e_rms,
};
use dermis::fit::{
    BoneCount, BoneMotion, DecomposeOptions, Decomposition, Quality, decompose, join_bones,
};
use dermis::skin::Playable;
use dermis::{Clip, MeshAnimation};
use dermis_io::{Document, MotionOptions, Transaction, WriteOptions, read_animation};

use super::decompose_keep::onto_rig;
use super::{SKIN_FILE, output_format};
use crate::Outcome;
use crate::decompose_args::{DecomposeArgs, QualityArg};
use crate::hints::Explained;
use crate::overwrite;
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
    let outputs = std::iter::once(&args.output).chain(&args.report);
    let beside = args.sequence.files().chain(&args.keep);
    overwrite::check(outputs, args.inputs.iter().chain(beside), talk)?;
    let options = options(args)?;
    options.check()?;
    match args.checkpoint {
        true => talk.finish_when_stopped(),
        false => talk.advise_when_stopped("--checkpoint would keep the best so far"),
    }
    for path in std::iter::once(&args.output).chain(&args.report) {
        check_place(path)?;
    }
    let motion = MotionOptions {
        inputs: args.sequence.options(talk),
        frames_per_second: args.fps,
        // The rig of --keep has the motion.
        may_be_poses: args.keep.is_none(),
    };
    let read = read_animation(&args.inputs, &motion).explained(&args.sequence.matching)?;
    talk.remark_all(&read.notes);
    let AssembledAnimation {
        animation,
        look,
        held,
        ..
    } = read;
    if args.keep.is_none() {
        super::check_faces(&look, &args.output)?;
    }
    let start = Instant::now();
    let Solved {
        found,
        rig_alone,
        look,
        clip_names,
    } = match &args.keep {
        Some(path) => onto_rig(args, path, &animation, &options, talk)?,
        None => from_nothing(args, &animation, &options, look, talk)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let was_stopped = talk.was_stopped();
    check_checkpoint(args, talk)?;
    let key_tolerance = key_tolerance(args.key_tolerance, found.e_rms);
    let playable = |e_rms: f64| -> anyhow::Result<Playable> {
        let mut playable = playable_decomposition(&animation, &found, e_rms)?;
        for (clip, name) in playable.clips.iter_mut().zip(&clip_names) {
            clip.name.clone_from(name);
        }
        Ok(playable)
    };
    let unreduced = playable(0.0)?;
    let playable = match held.contains(&true) {
        // Keys of poses that are held cannot be left out: nothing lies between them.
        true => hold_poses(unreduced.clone(), &animation, &held),
        false => playable(key_tolerance)?,
    };
    let training = found.measures(&animation)?;
    let document = |playable: &Playable| -> anyhow::Result<Document> {
        let mut document = decomposed_document(playable, &training, look.clone());
        if args.keep.is_some() {
            document.clips.extend(look.clips_kept_on(playable)?);
        }
        Ok(document)
    };
    let bytes = |playable: &Playable| -> anyhow::Result<usize> {
        let document = document(playable)?;
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
    let file_e_rms = playable_e_rms(&animation, &playable)?;
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
    let document = document(&job.playable)?;
    let mut files = Transaction::new();
    let skin_files = files.add_document(&args.output, &document, &WriteOptions::default())?;
    if let Some((path, page)) = &page {
        files.add(path, page.as_bytes())?;
    }
    files.commit()?;
    talk.clear();
    report::print(&report, args.print)?;
    talk.remark_written(&skin_files);
    if let Some((path, _)) = page {
        talk.remark_written(&[path]);
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
    /// What each motion is called in the file.
    pub(super) clip_names: Vec<String>,
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
        clip_names: motion_names(animation),
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

/// The names of an animation's motions.
pub(super) fn motion_names(animation: &MeshAnimation) -> Vec<String> {
    let clips = animation.clips().iter();
    clips.map(|clip| clip.name.clone()).collect()
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
