//! One file per command: checks the arguments, calls the library, prints the result.

pub(crate) mod bake;
pub(crate) mod bake_clips;
pub(crate) mod bench;
mod bench_against;
mod bench_frame;
mod bench_gpu;
pub(crate) mod bounds;
pub(crate) mod compare;
mod compare_decompositions;
pub(crate) mod convert;
pub(crate) mod crowd;
pub(crate) mod decompose;
mod decompose_keep;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod fit;
pub(crate) mod info;
mod info_bones;
mod info_levels;
mod legal;
pub(crate) mod lod;
pub(crate) mod measure;
pub(crate) mod pose;
pub(crate) mod psd;
pub(crate) mod render;
pub(crate) mod rig;
pub(crate) mod shell;
pub(crate) mod stats;
pub(crate) mod subdivide;
pub(crate) mod transform;
pub(crate) mod unwrap;
mod unwrap_polygons;
mod unwrap_seams;

use std::path::Path;

use anyhow::bail;
use dermis::{Clip, Skin};
use dermis_io::{Content, Document, Format};

use crate::hints::Explained;
use crate::input_args::MatchArgs;
use crate::output_file::is_stdout;
use crate::talk::Talk;

/// The skin of a file, or a sentence that says what the file has instead.
fn skin_of(document: &Document) -> anyhow::Result<&Skin> {
    Ok(document.expect_skin()?)
}

/// One sentence when points without faces would go to a format that draws faces: at the start, not after a fit.
pub(crate) fn check_faces(document: &Document, output: &Path) -> anyhow::Result<()> {
    if Format::of(output)?.needs_faces() && document.mesh.triangles().is_empty() {
        bail!(
            "{}: has {} points and no faces, and {} needs faces: give the mesh with its faces, or write .npz",
            document.path.display(),
            document.mesh.vertex_count(),
            output.display()
        );
    }
    Ok(())
}

/// The clip that was named, or the only one there is.
pub(crate) fn choose_clip<'a>(
    document: &'a Document,
    name: Option<&str>,
) -> anyhow::Result<&'a Clip> {
    document.choose_clip(name).explained(&MatchArgs::default())
}

/// Frames per second of meshes that are a motion, with what was assumed about it said.
pub(crate) fn motion_rate(document: &Document, asked: Option<f64>, talk: &Talk) -> Option<f64> {
    let rate = document.motion_rate(asked);
    talk.remark_all(&rate.note);
    rate.frames_per_second
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
    if is_stdout(output) {
        bail!("-o -: standard output is for what this command prints: name a file");
    }
    let format = Format::of(output)?;
    check_contents(output, format, contents, what)?;
    Ok(format)
}

/// Refuses a format that cannot hold what it must.
fn check_contents(
    output: &Path,
    format: Format,
    contents: &[Content],
    what: &str,
) -> anyhow::Result<()> {
    if !contents.iter().all(|&content| format.holds(content)) {
        bail!(
            "{}: {what} written as {}",
            output.display(),
            Format::writers_of(contents)
        );
    }
    Ok(())
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
