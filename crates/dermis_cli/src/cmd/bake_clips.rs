//! `dermis bake-clips`: motions of other files on a skin.

use std::path::Path;

use anyhow::anyhow;
use dermis::document::{ClipsError, MatchedClips, SameName};
use dermis_io::WriteOptions;

use super::{check_contents, legal, skin_of};
use crate::Outcome;
use crate::args::BakeClipsArgs;
use crate::output_file::OutputFile;
use crate::overwrite;
use crate::talk::{Talk, plural};

/// Most names in one remark.
const MOST_NAMES: usize = 6;

pub(crate) fn run(args: &BakeClipsArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let output = OutputFile::new(&args.output, args.stream)?;
    let what = "clips with their skin are";
    check_contents(output.path(), output.format(), super::SKIN_FILE, what)?;
    let inputs = args.clips.iter().chain([&args.skin]);
    overwrite::check(output.file(), inputs, talk)?;
    let mut document = dermis_io::read(&args.skin)?;
    talk.remark_notes(&document);
    skin_of(&document)?;
    // What an npz shows is a clip in glTF.
    legal::frames_to_clip(&mut document, talk)?;
    let had_bounds = document.record.as_ref().is_some_and(|r| r.bounds.is_some());
    let mut added = Vec::new();
    for path in &args.clips {
        let source = dermis_io::read(path)?;
        talk.remark_notes(&source);
        let matched = (document.matched_clips(&source))
            .map_err(|error| unmatched(error, path, &args.skin))?;
        remark_differences(&matched, path, &args.skin, talk);
        for clip in &matched.clips {
            let same_name = match args.replace && !added.contains(&clip.name) {
                true => SameName::Replace,
                false => SameName::Number,
            };
            let name = document.add_clip(clip, same_name)?;
            if name != clip.name {
                remark_number(&clip.name, &name, args.replace, talk);
            }
            added.push(name);
        }
        talk.check_stopped()?;
    }
    if had_bounds {
        talk.remark(
            "note: the spheres of the file held its old clips only and are left out; dermis bounds makes new ones",
        );
    }
    legal::forget_guarantees(&mut document, talk);
    let files = output.write(&document, &WriteOptions::default())?;
    let quoted: Vec<String> = added.iter().map(|name| format!("'{name}'")).collect();
    talk.remark(format!(
        "added {}: {}",
        plural(added.len(), "clip"),
        quoted.join(", ")
    ));
    talk.remark_written(&files);
    Ok(Outcome::Done)
}

/// Why nothing of a file moves the skin, with both files.
fn unmatched(error: ClipsError, path: &Path, skin: &Path) -> anyhow::Error {
    let (path, skin) = (path.display(), skin.display());
    match error {
        ClipsError::NothingMatches { moved, own } => anyhow!(
            "{path}: none of the joints that it moves ({}) has the name of a joint of {skin} ({})",
            listed(&moved),
            listed(&own)
        ),
        error => anyhow!("{path}: {error}"),
    }
}

fn remark_number(wanted: &str, name: &str, replace: bool, talk: &Talk) {
    let instead = match replace {
        true => "",
        false => "; --replace would put it in the place of the other",
    };
    talk.remark(format!(
        "note: there is a clip '{wanted}' already, so the new one is called '{name}'{instead}"
    ));
}

/// Says which joints of a file and of a skin are not the same.
fn remark_differences(matched: &MatchedClips, path: &Path, skin: &Path, talk: &Talk) {
    let (path, skin) = (path.display(), skin.display());
    let MatchedClips {
        unmatched,
        still,
        other_defaults,
        ..
    } = matched;
    if !unmatched.is_empty() {
        talk.remark(format!(
            "note: {path} moves {} that {skin} does not have, which {} left out: {}",
            plural(unmatched.len(), "joint"),
            if unmatched.len() == 1 { "is" } else { "are" },
            listed(unmatched)
        ));
    }
    if !still.is_empty() {
        talk.remark(format!(
            "note: {} of {skin} {} still in the clips of {path}: {}",
            plural(still.len(), "joint"),
            stands(still.len()),
            listed(still)
        ));
    }
    if !other_defaults.is_empty() {
        talk.remark(format!(
            "note: {} of {path} {} otherwise by default than in {skin}: {}; the keys are taken as they are, so \
             where they move a joint it goes where they say, and elsewhere it stays as the skin has it",
            plural(other_defaults.len(), "joint"),
            stands(other_defaults.len()),
            listed(other_defaults)
        ));
    }
}

fn stands(count: usize) -> &'static str {
    if count == 1 { "stands" } else { "stand" }
}

fn listed(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}
