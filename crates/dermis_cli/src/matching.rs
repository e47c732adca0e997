//! Calls of the readers, with what they note printed and the flags that mend what they refuse.

use std::path::{Path, PathBuf};

use dermis::document::{MatchOptions, match_sculpt};
use dermis_io::{Document, Frame, InputOptions, Placement, ReadMeshes, read_meshes, read_rig};
use glam::DVec3;

use crate::args::SequenceArgs;
use crate::hints::Explained;
use crate::input_args::{MatchArgs, UpArgs};
use crate::talk::Talk;

/// Reads the inputs of a command, passes on what had to be repaired, and refuses frames that cannot be shapes of
/// their rest mesh.
pub(crate) fn read_inputs(
    inputs: &[PathBuf],
    args: &SequenceArgs,
    talk: &Talk,
) -> anyhow::Result<Document> {
    let read = read_meshes(inputs, &args.options(talk)).explained(&args.matching)?;
    Ok(said(read, talk))
}

/// Reads a file that is the input of a command, turned to y up when asked to.
pub(crate) fn read_upright(path: &Path, up: &UpArgs, talk: &Talk) -> anyhow::Result<Document> {
    read_placed(path, up.placements(), talk)
}

/// Reads a file beside the input, such as a rig, turned to y up when asked to.
pub(crate) fn read_beside(path: &Path, up: &UpArgs, talk: &Talk) -> anyhow::Result<Document> {
    Ok(said(read_rig(path, &placed(up.placements()))?, talk))
}

/// Reads a file with its rest mesh, and all that comes with it, in one placement and its frames in another.
pub(crate) fn read_placed(
    path: &Path,
    placements: [Placement; 2],
    talk: &Talk,
) -> anyhow::Result<Document> {
    let read = read_meshes(&[path], &placed(placements)).explained(&MatchArgs::default())?;
    Ok(said(read, talk))
}

/// As it is, in some placements: whether its frames are shapes of its rest mesh is not asked.
fn placed([placement, frame_placement]: [Placement; 2]) -> InputOptions {
    InputOptions {
        placement,
        frame_placement,
        matching: MatchOptions {
            force: true,
            ..MatchOptions::default()
        },
        ..InputOptions::default()
    }
}

/// Holds a sculpted mesh against what is shown in its pose.
pub(crate) fn check_sculpt(
    base: &Document,
    shown: &[DVec3],
    sculpt: &mut Frame,
    file: &Path,
    args: &MatchArgs,
    talk: &Talk,
) -> anyhow::Result<()> {
    let note = match_sculpt(base, shown, sculpt, file, &args.options(talk)).explained(args)?;
    talk.remark_all(note.iter());
    Ok(())
}

fn said(read: ReadMeshes, talk: &Talk) -> Document {
    talk.remark_all(&read.notes);
    read.document
}
