//! One file per command: checks the arguments, calls the library, prints the result.

pub(crate) mod bench;
mod bench_against;
mod bench_frame;
pub(crate) mod bounds;
pub(crate) mod compare;
mod compare_decompositions;
pub(crate) mod convert;
mod cost_model;
pub(crate) mod decompose;
mod decompose_keep;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod fit;
pub(crate) mod info;
mod legal;
pub(crate) mod pose;
pub(crate) mod pose_text;
pub(crate) mod psd;
pub(crate) mod rig;
mod spheres;
pub(crate) mod stats;
pub(crate) mod subdivide;
pub(crate) mod transform;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::{Clip, Skin};
use dermis_io::{Content, Document, Format, SequenceOptions};
use glam::DVec3;

use crate::args::SequenceArgs;
use crate::talk::Talk;

/// Reads the inputs of a command and passes on what had to be repaired.
pub(crate) fn read_inputs(
    inputs: &[PathBuf],
    args: &SequenceArgs,
    talk: &Talk,
) -> anyhow::Result<Document> {
    let options = SequenceOptions {
        rest: args.rest.clone(),
        mesh: args.mesh.clone(),
    };
    let mut document = dermis_io::read_inputs(inputs, &options)?;
    talk.remark_notes(&document);
    if args.z_up_frames {
        for position in document
            .frames
            .iter_mut()
            .flat_map(|frame| &mut frame.positions)
        {
            *position = DVec3::new(position.x, position.z, -position.y);
        }
    }
    Ok(document)
}

/// The skin of a file, or a sentence that says what the file has instead.
fn skin_of(document: &Document) -> anyhow::Result<&Skin> {
    document.skin.as_ref().with_context(|| {
        format!(
            "{}: expected a file with a skin, found {} vertices without one",
            document.path.display(),
            document.mesh.vertex_count()
        )
    })
}

/// The clip that was named, or the only one there is.
pub(crate) fn choose_clip<'a>(
    document: &'a Document,
    name: Option<&str>,
) -> anyhow::Result<&'a Clip> {
    let names = || {
        let quoted: Vec<String> = document
            .clips
            .iter()
            .map(|clip| format!("'{}'", clip.name))
            .collect();
        quoted.join(", ")
    };
    let path = document.path.display();
    match (name, &document.clips[..]) {
        (_, []) => bail!("{path}: expected a clip, found none: choose another file"),
        (None, [clip]) => Ok(clip),
        (None, _) => bail!(
            "{path}: has several clips; choose one with --clip: {}",
            names()
        ),
        (Some(name), clips) => clips
            .iter()
            .find(|clip| clip.name == name)
            .with_context(|| format!("{path}: has no clip '{name}'; it has {}", names())),
    }
}

/// Frames per second at which to sample a clip: as asked, else on its keys, else 30.
///
/// Keys of bones and shapes that the skin computes by itself, which lie between those of the others,
/// do not count.
pub(crate) fn sampling_rate(asked: Option<f64>, clip: &Clip, skin: Option<&Skin>) -> f64 {
    let of_keys = || {
        let Some(skin) = skin else {
            return clip.key_rate();
        };
        let mut given = skin.unbaked(clip);
        // In a file the sliders of a mesh have the keys of what is driven, too.
        if !skin.drivers.is_empty() && given.channels.iter().any(|c| c.bone().is_some()) {
            given.channels.retain(|c| c.bone().is_some());
        }
        given.key_rate()
    };
    asked.or_else(of_keys).unwrap_or(30.0)
}

/// What a file of a skin must hold: weights, motions, and how they were made.
pub(crate) const SKIN_FILE: &[Content] = &[Content::Skin, Content::Clips, Content::Record];

/// The format of a file to write. One that cannot hold what it must is refused before any work is done;
/// `what` begins the sentence, as in "a skin is".
pub(crate) fn output_format(
    output: &Path,
    contents: &[Content],
    what: &str,
) -> anyhow::Result<Format> {
    let format = Format::of(output)?;
    if !contents.iter().all(|&content| format.holds(content)) {
        bail!(
            "{}: {what} written as {}",
            output.display(),
            Format::writers_of(contents)
        );
    }
    Ok(format)
}

/// Says what a format has no place for of a document that is about to be written.
fn remark_left_out(document: &Document, format: Format, talk: &Talk) {
    let lost = [
        (Content::Skin, document.skin.is_some(), "the skin"),
        (Content::Clips, !document.clips.is_empty(), "the clips"),
    ];
    let lost: Vec<&str> = (lost.into_iter())
        .filter(|&(content, is_there, _)| is_there && !format.holds(content))
        .map(|(.., what)| what)
        .collect();
    if !lost.is_empty() {
        talk.remark(format!(
            "note: .{} files cannot hold {}: left out",
            format.extension(),
            lost.join(" and ")
        ));
    }
}
