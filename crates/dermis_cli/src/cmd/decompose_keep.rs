//! `dermis decompose --keep`: onto a rig that exists.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::MeshAnimation;
use dermis::fit::{DecomposeOptions, KnownRig, LockedWeights, decompose_onto};
use dermis_io::read_vertex_list;

use super::decompose::{Solved, motion_names};
use crate::decompose_args::DecomposeArgs;
use crate::hints::Explained;
use crate::matching::read_beside;
use crate::talk::Talk;

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
    let meshes = args.inputs.first().map_or(path, |input| input);
    let rig = document.rig_of(animation, meshes, &matching.options(talk));
    let (skin, note) = rig.explained(matching)?;
    talk.remark_all(&note);
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
            clip_names: motion_names(animation),
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
    let motion = document.rig_motion(animation, args.clip.as_deref(), talk);
    let motion = motion.explained(matching)?;
    talk.remark_all(&motion.notes);
    let rig = KnownRig {
        skin,
        poses: Some(&motion.poses),
        locked_weights: locked(args.lock.as_deref(), &motion.vertex_errors, talk)?,
    };
    let found = decompose_onto(animation, &rig, helpers, options, talk);
    Ok(Solved {
        found: in_file(path, found)?,
        rig_alone: Some(motion.e_rms),
        look: document,
        clip_names: clip_names(animation, motion.clips, path, talk),
    })
}

/// What the motions are called: as the clips of the rig that they are, so that whoever plays the rig finds them.
fn clip_names(
    animation: &MeshAnimation,
    of_rig: Vec<Option<String>>,
    path: &Path,
    talk: &Talk,
) -> Vec<String> {
    let names = motion_names(animation).into_iter().zip(of_rig);
    let name = |(own, of_rig): (String, Option<String>)| match of_rig {
        Some(name) if name != own && !name.is_empty() => {
            talk.remark(format!(
                "note: the motion of '{own}' is clip '{name}' of {} and keeps its name",
                path.display()
            ));
            name
        }
        _ => own,
    };
    names.map(name).collect()
}

fn in_file<T>(path: &Path, result: Result<T, dermis::fit::FitError>) -> anyhow::Result<T> {
    result.with_context(|| path.display().to_string())
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
            LockedWeights::where_fitting(errors, limit)
        }
        None => {
            let path = Path::new(text);
            if !path.is_file() {
                bail!("--lock {text}: expected none, fit:E, or a file of vertex numbers");
            }
            LockedWeights::Vertices(read_vertex_list(path, errors.len())?)
        }
    };
    if let LockedWeights::Vertices(which) = &which {
        let count = which.iter().filter(|&&locked| locked).count();
        talk.remark(format!(
            "{count} of {} vertices keep their weights",
            which.len()
        ));
    }
    Ok(which)
}
