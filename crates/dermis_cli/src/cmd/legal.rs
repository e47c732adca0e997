//! Joints and poses of a file: what commands that read and write them share.

use std::path::Path;

use anyhow::Context;
use dermis_io::{Document, WriteOptions};

use crate::talk::Talk;

/// Refuses outputs that hold no record of a skin, before any work is done.
pub(super) fn check_output(output: Option<&Path>) -> anyhow::Result<()> {
    if let Some(path) = output {
        super::output_format(
            path,
            super::SKIN_FILE,
            "what is known of joints and bounds is",
        )?;
    }
    Ok(())
}

/// Writes a document that has a skin.
pub(super) fn write(document: &Document, output: &Path, talk: &Talk) -> anyhow::Result<()> {
    let mut document = document.clone();
    frames_to_clip(&mut document, talk)?;
    dermis_io::write(output, &document, &WriteOptions::default())?;
    Ok(())
}

/// Forgets the guaranteed errors of levels when other poses than before are legal or shown, and says so.
pub(super) fn forget_guarantees(document: &mut Document, talk: &Talk) {
    let guarantees = (document.levels.iter_mut()).map(|level| &mut level.record.guaranteed_error);
    let forgotten = guarantees.filter_map(Option::take).count();
    if forgotten > 0 {
        talk.remark(
            "note: the guaranteed errors of the levels held for the poses of the old file only and are left out; dermis \
             lod makes levels with new ones",
        );
    }
}

/// Turns the poses of frames into a clip, for files that have a skin and no frames beside it.
pub(super) fn frames_to_clip(document: &mut Document, talk: &Talk) -> anyhow::Result<()> {
    let rate = match document.frame_poses.is_empty() {
        true => None,
        false => super::motion_rate(document, None, talk),
    };
    let path = document.path.display().to_string();
    document.frames_to_clip(rate).with_context(|| path)
}
