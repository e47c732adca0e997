//! The skin that a project's shapes are put on.

use std::path::Path;

use dermis::skin::{SkinError, SsdProgram, Weight};
use dermis::{BoneId, Rows, Skeleton, Skin, VertexProgram};
use glam::DAffine3;

use crate::{Document, Fault, IoError};

/// Reads a base; a mesh without a skin gets one bone, which moves all of it.
pub(super) fn read(path: &Path) -> Result<(Document, Skin), IoError> {
    let document = crate::read(path)?;
    let skin = skin_of(&document).map_err(|error| Fault::Skin(error).in_file(path))?;
    Ok((document, skin))
}

/// The skin of a base.
pub(super) fn skin_of(document: &Document) -> Result<Skin, SkinError> {
    match &document.skin {
        Some(skin) => Ok(skin.clone()),
        None => rigid(document),
    }
}

/// One bone for everything.
fn rigid(document: &Document) -> Result<Skin, SkinError> {
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
    Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new())
}
