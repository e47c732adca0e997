//! Files whose unit or up axis differs from the model's.

use dermis::Document;
use dermis::rig::Similarity;
use glam::{DQuat, DVec3};

use crate::{Fault, Format, IoError};

/// The unit and axes of a file, relative to the model's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Factor of all lengths; above 0.
    pub scale: f64,
    /// The file is z up. glTF files are y up by their standard and never turned.
    pub z_up: bool,
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            scale: 1.0,
            z_up: false,
        }
    }
}

impl Placement {
    /// The transform from a file of some format to the model's unit and axes; `None` for the identity.
    ///
    /// # Errors
    /// [`Fault::Malformed`] for a scale that is not above 0.
    pub fn of_format(&self, format: Format) -> Result<Option<Similarity>, Fault> {
        let turns = self.z_up && !format.is_y_up();
        if !turns && self.scale == 1.0 {
            return Ok(None);
        }
        let turn = match turns {
            true => DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            false => DQuat::IDENTITY,
        };
        let by = Similarity::new(self.scale, turn, DVec3::ZERO);
        by.map(Some).map_err(|_| {
            let found = self.scale.to_string();
            Fault::malformed("scale of the input", "a number above 0", found)
        })
    }
}

/// The document, moved to the model's unit and axes: frames by one placement, everything else by another.
///
/// # Errors
/// [`IoError::Content`] when it cannot be moved, with its path.
pub fn placed(
    document: Document,
    rest: &Placement,
    frames: &Placement,
) -> Result<Document, IoError> {
    if [rest, frames].iter().all(|p| **p == Placement::default()) {
        return Ok(document);
    }
    let format = Format::of(&document.path)?;
    let fault = |fault: Fault| fault.in_file(&document.path);
    let by = rest.of_format(format).map_err(fault)?;
    let frames_by = frames.of_format(format).map_err(fault)?;
    if by.is_none() && frames_by.is_none() {
        return Ok(document);
    }
    let mut placed = match &by {
        Some(by) => (document.moved(by))
            .map_err(|error| fault(Fault::unsupported("the move", error.to_string())))?,
        None => document.clone(),
    };
    if by != frames_by {
        placed.frames.clone_from(&document.frames);
        if let Some(by) = &frames_by {
            for frame in &mut placed.frames {
                move_points(&mut frame.positions, by);
            }
        }
    }
    Ok(placed)
}

/// Moves points in place.
pub(crate) fn move_points(points: &mut [DVec3], by: &Similarity) {
    for point in points {
        *point = by.point(*point);
    }
}
