//! What a document must fulfil before a byte of it is written.
//!
//! Documents made by hand, or joined from several files, can disagree with themselves: the fields
//! are public. Everything after these checks may index without looking.

use dermis::mesh::{DrawPart, MeshError};
use dermis::rig::{Channel, Clip, RigError};
use dermis::skin::{Skin, SkinError, SsdProgram, VertexProgram};

use crate::{Document, Fault};

/// The linear blend program of a skin that a plain glTF file can hold.
pub(super) fn ssd_program(skin: &Skin) -> Result<&SsdProgram, Fault> {
    match &skin.program {
        VertexProgram::Ssd(ssd) => Ok(ssd),
        VertexProgram::Linear(_) => Err(Fault::unsupported(
            "a skin of animation-space vectors in glTF",
            "plain glTF holds linear blend skins (ssd); fit with that method, or keep the skin \
             in memory",
        )),
        _ => Err(Fault::unsupported(
            "this kind of skin in glTF",
            "plain glTF holds linear blend skins (ssd)",
        )),
    }
}

/// Checks everything that is counted or indexed.
pub(super) fn check(document: &Document, parts: &[DrawPart]) -> Result<(), Fault> {
    let vertex_count = document.mesh.vertex_count();
    if !parts.iter().any(|part| !part.points.is_empty()) {
        return Err(Fault::malformed(
            "mesh",
            "at least one vertex to draw",
            format!("{vertex_count} points in {} parts", parts.len()),
        ));
    }
    for (number, part) in parts.iter().enumerate() {
        check_part(
            number,
            part,
            vertex_count,
            document.materials.materials.len(),
        )?;
    }
    if let Some(skin) = &document.skin {
        check_skin(skin, ssd_program(skin)?, vertex_count)?;
        for clip in &document.clips {
            check_clip(clip, skin)?;
        }
        return Ok(());
    }
    for frame in &document.frames {
        if frame.positions.len() != vertex_count {
            return Err(Fault::malformed(
                format!("frame {}", frame.name),
                format!("{vertex_count} positions"),
                frame.positions.len().to_string(),
            ));
        }
    }
    let rate = document.frames_per_second.unwrap_or(1.0);
    if !document.frames.is_empty() && (rate.is_nan() || rate <= 0.0) {
        return Err(Fault::malformed(
            "frames per second",
            "a positive number",
            rate.to_string(),
        ));
    }
    Ok(())
}

fn check_part(
    number: usize,
    part: &DrawPart,
    vertex_count: usize,
    material_count: usize,
) -> Result<(), Fault> {
    let name = || format!("part {number} (mesh {})", part.mesh_name);
    let drawn = part.points.len();
    let mismatch = |what: &str, expected: usize, found: usize| {
        Fault::malformed(
            name(),
            format!("{expected} {what}"),
            format!("{found} {what}"),
        )
    };
    if let Some(&point) = part.points.iter().find(|&&p| p as usize >= vertex_count) {
        return Err(Fault::malformed(
            name(),
            format!("points below {vertex_count}"),
            format!("point {point}"),
        ));
    }
    for (face, triangle) in part.triangles.iter().enumerate() {
        if let Some(&vertex) = triangle.iter().find(|&&v| v as usize >= drawn) {
            return Err(MeshError::VertexOutOfRange {
                what: "triangle",
                face,
                vertex,
                vertex_count: drawn,
            }
            .into());
        }
    }
    if !part.normals.is_empty() && part.normals.len() != drawn {
        return Err(mismatch("normals", drawn, part.normals.len()));
    }
    if !part.tangents.is_empty() && part.tangents.len() != drawn {
        return Err(mismatch("tangents", drawn, part.tangents.len()));
    }
    if let Some(uvs) = part.uvs.iter().find(|uvs| uvs.len() != drawn) {
        return Err(mismatch("UVs", drawn, uvs.len()));
    }
    if let Some(colors) = part.colors.iter().find(|colors| colors.len() != drawn) {
        return Err(mismatch("colours", drawn, colors.len()));
    }
    for (at, attribute) in part.custom.iter().enumerate() {
        let element = || format!("{}, attribute {}", name(), attribute.name);
        if !attribute.name.starts_with('_') || attribute.name.len() < 2 {
            return Err(Fault::malformed(
                element(),
                "a name that begins with an underscore",
                format!("{:?}", attribute.name),
            ));
        }
        if part.custom[..at].iter().any(|a| a.name == attribute.name) {
            return Err(Fault::malformed(element(), "one of that name", "two"));
        }
        let width = attribute.data.width;
        if !(1..=4).contains(&width) {
            return Err(Fault::malformed(
                element(),
                "1 to 4 numbers per vertex",
                width.to_string(),
            ));
        }
        if attribute.data.values.len() != width * drawn {
            return Err(Fault::malformed(
                element(),
                format!("{} numbers", width * drawn),
                attribute.data.values.len().to_string(),
            ));
        }
    }
    match part.material {
        Some(material) if material >= material_count => Err(Fault::malformed(
            name(),
            format!("one of {material_count} materials"),
            format!("material {material}"),
        )),
        _ => Ok(()),
    }
}

fn check_skin(skin: &Skin, ssd: &SsdProgram, vertex_count: usize) -> Result<(), Fault> {
    let counts = [
        ("rows of weights", vertex_count, ssd.weights.len()),
        ("rest positions", vertex_count, ssd.rest_positions.len()),
        (
            "coefficients",
            ssd.corrections.len(),
            skin.coefficients.len(),
        ),
    ];
    for (what, expected, found) in counts {
        if found != expected {
            return Err(SkinError::CountMismatch {
                what,
                expected,
                found,
            }
            .into());
        }
    }
    if skin.skeleton.bone_count() == 0 {
        return Err(Fault::malformed("skin", "at least one bone", "none"));
    }
    for (vertex, row) in ssd.weights.iter().enumerate() {
        if let Some(weight) = (row.iter()).find(|w| w.bone.index() >= skin.skeleton.bone_count()) {
            return Err(SkinError::BoneOutOfRange {
                vertex,
                bone: weight.bone.index(),
                bone_count: skin.skeleton.bone_count(),
            }
            .into());
        }
    }
    for (correction, coefficient) in ssd.corrections.iter().zip(&skin.coefficients) {
        let mut indices = correction.deltas.iter().map(|delta| delta.index as usize);
        if let Some(vertex) = indices.find(|&vertex| vertex >= vertex_count) {
            return Err(SkinError::CorrectionOutOfRange {
                name: coefficient.name.clone(),
                vertex,
                vertex_count,
            }
            .into());
        }
    }
    Ok(())
}

fn check_clip(clip: &Clip, skin: &Skin) -> Result<(), Fault> {
    let bad = |problem: &str| {
        Err(Fault::Rig(RigError::BadKeys {
            clip: clip.name.clone(),
            problem: problem.to_owned(),
        }))
    };
    for channel in &clip.channels {
        if let Channel::Coefficients(first, keys) = channel {
            // Before `Clip::check`, whose sum of the two must not overflow.
            if *first > skin.coefficients.len() {
                return bad("coefficients begin past the last correction of the skin");
            }
            let mut pairs = keys.values.windows(2);
            if pairs.any(|pair| pair[0].len() != pair[1].len()) {
                return bad("the keys of one channel have different numbers of coefficients");
            }
        }
    }
    clip.check(&skin.skeleton, skin.coefficients.len())?;
    if clip.start() < 0.0 {
        return bad("a key time is negative, which glTF does not allow");
    }
    Ok(())
}
