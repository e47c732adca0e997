//! What two documents must have in common so that the one's detail can be baked to the other, and the poses that both show.

use super::BakeOptions;
use super::material_of;
use super::surfaces::Drawn;
use crate::document::{Document, EditError};
use crate::mesh::{Aabb, DrawPart};
use crate::rig::Pose;
use crate::skin::ShownPoses;

/// Most poses beside the rest pose that a normal map is made for; of more, so many evenly spaced ones. Time grows with them.
const MOST_POSES: usize = 16;

/// Whether the two can be forms of one character.
pub(super) fn check_pair(source: &Document, target: &Document) -> Result<(), EditError> {
    for document in [source, target] {
        if (document.draw.parts.iter()).all(|part| part.triangles.is_empty()) {
            return Err(EditError::NothingToBake {
                points: document.mesh.vertex_count(),
            });
        }
    }
    let boxes = [source, target].map(|document| Aabb::of(document.mesh.positions()));
    if let [Some(full), Some(coarse)] = boxes {
        let size = coarse.diagonal().max(f64::MIN_POSITIVE);
        let ratio = full.diagonal() / size;
        let apart = full.center().distance(coarse.center()) / size;
        // Coarse forms shrink a little; another unit or place is far beyond this.
        if !(0.5..=2.0).contains(&ratio) || apart > 0.5 {
            return Err(EditError::OtherPlace { ratio, apart });
        }
    }
    let (Some(full), Some(coarse)) = (&source.skin, &target.skin) else {
        return Ok(());
    };
    let (full, coarse) = (full.skeleton.bones(), coarse.skeleton.bones());
    if full.len() != coarse.len() {
        return Err(EditError::OtherBones {
            found: format!("{} and {}", full.len(), coarse.len()),
        });
    }
    let other = full.iter().zip(coarse).position(|(a, b)| a.name != b.name);
    other.map_or(Ok(()), |j| {
        let (a, b) = (&full[j].name, &coarse[j].name);
        Err(EditError::OtherBones {
            found: format!("bone {j} is {a} in the one and {b} in the other"),
        })
    })
}

/// The set of UVs to bake to.
pub(super) fn uv_set_of(target: &Document, asked: Option<usize>) -> Result<usize, EditError> {
    let parts = target.draw.parts.iter();
    let drawn = parts.filter(|part| !part.triangles.is_empty());
    let poorest = drawn.min_by_key(|part| part.uvs.len());
    let (count, mesh) = poorest.map_or((0, ""), |part| (part.uvs.len(), &part.mesh_name));
    if count == 0 {
        return Err(EditError::NoUvsToBake {
            mesh: mesh.to_owned(),
        });
    }
    let (set, most) = (asked.unwrap_or(count - 1), count - 1);
    match set <= most {
        true => Ok(set),
        false => Err(EditError::NoSuchUvSet { set, most }),
    }
}

/// Poses of both skins beside the rest pose.
pub(super) fn poses_of(
    source: &Document,
    target: &Document,
    options: &BakeOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Pose>, EditError> {
    if !options.normal_map {
        return Ok(Vec::new());
    }
    let (Some(full), Some(coarse)) = (&source.skin, &target.skin) else {
        if source.skin.is_some() || target.skin.is_some() {
            notes.push(
                "only one of the two has a skin: normals are those of the rest pose".to_owned(),
            );
        }
        return Ok(Vec::new());
    };
    let shown = ShownPoses::all(&source.shown_poses()?);
    if shown.is_empty() {
        notes.push("no clips were found: normals are those of the rest pose".to_owned());
    }
    if full.coefficients.len() != coarse.coefficients.len() {
        notes.push(
            "the two have different morph targets: normals are those of the rest pose".to_owned(),
        );
        return Ok(Vec::new());
    }
    let taken = shown.len().min(MOST_POSES);
    let at = |k: usize| shown[k * (shown.len() - 1) / (taken - 1).max(1)].clone();
    Ok((0..taken).map(at).collect())
}

/// Numbers the parts of a coarse form as those of the full character that they are forms of: of the same mesh and material.
/// Others get numbers of their own, and are matched with everything.
pub(super) fn number_as(coarse: &mut Drawn, target: &Document, source: &Document) {
    let parts = &source.draw.parts;
    let same_parts = parts.len() == target.draw.parts.len();
    let name = |document: &Document, part: &DrawPart| {
        let name = &material_of(document, part)["name"];
        (part.mesh_name.clone(), name.as_str().map(str::to_owned))
    };
    let names: Vec<_> = parts.iter().map(|part| name(source, part)).collect();
    let number = |(at, part): (usize, &DrawPart)| {
        let own = name(target, part);
        let found = match same_parts && names[at].0 == own.0 {
            true => Some(at),
            false => names.iter().position(|name| *name == own),
        };
        found.unwrap_or(parts.len() + at) as u32
    };
    let numbers: Vec<u32> = target.draw.parts.iter().enumerate().map(number).collect();
    for part in &mut coarse.parts {
        *part = numbers[*part as usize];
    }
}
