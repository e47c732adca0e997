//! Checks of the levels of a document before a byte of it is written.

use dermis::document::Level;
use dermis::mesh::DrawPart;

use super::check::{check_drawn, check_programs};
use super::form::Form;
use crate::{Document, Fault};

/// Checks every level against the full character, whose parts are given.
pub(super) fn check_levels<'a>(
    document: &'a Document,
    parts: &[DrawPart],
) -> Result<Vec<Form<'a>>, Fault> {
    let mut points_before = document.mesh.vertex_count();
    let mut forms = Vec::with_capacity(document.levels.len());
    for (number, level) in document.levels.iter().enumerate() {
        let form = check_level(document, parts, level, points_before);
        forms.push(form.map_err(|fault| fault.in_level(number + 1))?);
        points_before = level.mesh.vertex_count();
    }
    Ok(forms)
}

fn check_level<'a>(
    document: &'a Document,
    parts: &[DrawPart],
    level: &'a Level,
    points_before: usize,
) -> Result<Form<'a>, Fault> {
    let own = &level.draw.parts;
    if own.len() != parts.len() {
        return Err(Fault::malformed(
            "parts",
            format!("{}, as the full character has", parts.len()),
            own.len().to_string(),
        ));
    }
    let is_new =
        |(full, part): (&DrawPart, &DrawPart)| full.points.is_empty() && !part.points.is_empty();
    if let Some(number) = parts.iter().zip(own).position(is_new) {
        return Err(Fault::malformed(
            format!("part {number} (mesh {})", parts[number].mesh_name),
            "no vertices, because that part of the full character has none",
            format!("{} vertices", own[number].points.len()),
        ));
    }
    check_drawn(&level.mesh, own, document.materials.materials.len())?;
    let skin = document.skin.as_ref();
    let programs = skin.map(|skin| {
        let count = level.mesh.vertex_count();
        check_programs(skin, &level.program, level.fallback.as_ref(), count)
    });
    check_becomes(level, points_before)?;
    match level.record.screen_coverage {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(Fault::malformed(
            "screen coverage",
            "a share of the picture, 0 to 1",
            share.to_string(),
        )),
        _ => Ok(Form {
            mesh: &level.mesh,
            parts: own,
            programs: programs.transpose()?,
            frames: &[],
        }),
    }
}

fn check_becomes(level: &Level, points_before: usize) -> Result<(), Fault> {
    let (becomes, count) = (&level.becomes, level.mesh.vertex_count());
    let element = "what the points of the level before become";
    if !becomes.is_empty() && becomes.len() != points_before {
        return Err(Fault::malformed(
            element,
            format!("{points_before} points, or nothing"),
            becomes.len().to_string(),
        ));
    }
    match becomes.iter().find(|&&point| point as usize >= count) {
        None => Ok(()),
        Some(point) => Err(Fault::malformed(
            element,
            format!("points below {count}"),
            format!("point {point}"),
        )),
    }
}
