//! The skin that a project's shapes are put on.

use std::path::Path;

use anyhow::Context;
use dermis::skin::{SsdProgram, Weight};
use dermis::{BoneId, Rows, Skeleton, Skin, VertexProgram};
use dermis_io::Document;
use glam::DAffine3;

/// Reads a base; a mesh without a skin gets one bone, which moves all of it.
pub(super) fn read(path: &Path) -> anyhow::Result<(Document, Skin)> {
    let document = dermis_io::read(path)?;
    let skin = skin_of(&document).with_context(|| path.display().to_string())?;
    Ok((document, skin))
}

/// The skin of a base.
pub(super) fn skin_of(document: &Document) -> anyhow::Result<Skin> {
    match &document.skin {
        Some(skin) => Ok(skin.clone()),
        None => rigid(document),
    }
}

/// One bone for everything.
fn rigid(document: &Document) -> anyhow::Result<Skin> {
    let root = ("root".to_owned(), None, DAffine3::IDENTITY);
    let skeleton = Skeleton::from_rest_frames([root])?;
    let whole = [Weight {
        bone: BoneId(0),
        weight: 1.0,
    }];
    let positions = document.mesh.positions();
    let program = SsdProgram {
        rest_positions: positions.to_vec(),
        weights: Rows::from_iter(positions.iter().map(|_| whole)),
        corrections: Vec::new(),
    };
    Ok(Skin::new(
        skeleton,
        VertexProgram::Ssd(program),
        Vec::new(),
    )?)
}
