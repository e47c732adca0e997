//! Reading the `DERMIS_skin` block, and checking that it agrees with the skin.

use dermis::rig::DerivedBone;
use dermis::skin::{PlacedBones, Skin, SsdProgram, VertexProgram};
use dermis::{BoneId, Skeleton};
use glam::{DAffine3, DVec3};
use serde_json::Value;

use super::SkinBlock;
use super::read_proxies as proxies;
use crate::Fault;
use crate::gltf::read::accessor::Accessors;
use crate::gltf::read::schema::Schema;

/// Largest mean distance, as a share of the diagonal, between the rest positions of the exact and the plain model.
///
/// The stand-in is fitted to the exact model and rests within a few hundredths of it. Where joints
/// were renumbered, or rest positions moved to other units, the two are as far apart as the bones.
const MOST_APART: f64 = 0.1;

/// The `DERMIS_skin` extension of the first skin; `None` when it is absent or this version cannot read it.
///
/// `bones` are the bones of that skin's joints: the block numbers joints, the result numbers bones. Its drivers
/// keep joint numbers until [`apply`].
pub(in crate::gltf) fn read(
    schema: &Schema,
    bones: &[BoneId],
    notes: &mut Vec<String>,
) -> Option<SkinBlock> {
    let name = SkinBlock::EXTENSION;
    let block = schema.skins.first()?.extensions.get(name)?;
    let version = block.get("version").and_then(Value::as_u64);
    if let Some(version) = version.filter(|&v| v > u64::from(SkinBlock::VERSION)) {
        notes.push(format!(
            "the {name} block has version {version}, newer than {}, and was ignored",
            SkinBlock::VERSION
        ));
        return None;
    }
    let mut found: SkinBlock = match serde_json::from_value(block.clone()) {
        Ok(found) => found,
        Err(error) => {
            notes.push(format!("the {name} block was ignored: {error}"));
            return None;
        }
    };
    let bone = |joint: BoneId| bones.get(joint.index()).copied();
    let derived = found.derived.iter().map(|d| {
        Some(DerivedBone {
            bone: bone(d.bone)?,
            of: bone(d.of)?,
            motion: d.motion,
        })
    });
    let derived: Option<Vec<DerivedBone>> = derived.collect();
    let joints = std::mem::take(&mut found.record.joints)
        .into_iter()
        .map(|mut s| {
            s.bone = bone(s.bone)?;
            Some(s)
        });
    let joints: Option<Vec<_>> = joints.collect();
    let limits = std::mem::take(&mut found.record.limits)
        .into_iter()
        .map(|mut l| {
            l.bone = bone(l.bone)?;
            l.check().ok()?;
            Some(l)
        });
    let limits: Option<Vec<_>> = limits.collect();
    if derived.is_none() || joints.is_none() || limits.is_none() {
        notes.push(format!(
            "the {name} block names joints that the skin does not have: its derived bones, \
             joint statistics and limits were ignored"
        ));
    }
    found.record.limits = limits.unwrap_or_default();
    found.derived = derived.unwrap_or_default();
    found.proxies = match found.proxies.map(|p| proxies::with_bones(p, bones)) {
        None => None,
        Some(Ok(proxies)) => Some(proxies),
        Some(Err(joint)) => {
            notes.push(proxies_left_out(&format!("there is no joint {joint}")));
            None
        }
    };
    found.record.joints = joints.unwrap_or_default();
    Some(found)
}

/// The note about proxy bones that do not fit the skin.
fn proxies_left_out(why: &str) -> String {
    format!(
        "the proxy bones of the {} block are not computed, because {why}: only the clips move them",
        SkinBlock::EXTENSION
    )
}

/// Whether an exact model and its plain stand-in have the same rest positions; adds a note if not.
pub(in crate::gltf) fn agrees_at_rest(
    exact: &VertexProgram,
    plain: &SsdProgram,
    skeleton: &Skeleton,
    notes: &mut Vec<String>,
) -> bool {
    let rest: Vec<DAffine3> = (skeleton.bones().iter())
        .map(|bone| bone.bone_from_rest.inverse())
        .collect();
    let resting: Vec<DVec3> = match exact {
        VertexProgram::Linear(linear) => (linear.influences.iter())
            .map(|row| {
                let terms = row.iter().map(|i| {
                    let frame = &rest[i.bone.index()];
                    frame.matrix3 * i.p.truncate() + frame.translation * i.p.w
                });
                terms.sum()
            })
            .collect(),
        // At rest every matrix is the identity, so that only weights on the diagonal count.
        VertexProgram::MultiWeight(multi) => (multi.influences.iter().zip(&multi.rest_positions))
            .map(|(row, v)| {
                let scales = row.iter().map(|i| {
                    let w = &i.weights;
                    DVec3::new(w[0][0], w[1][1], w[2][2])
                });
                scales.sum::<DVec3>() * *v
            })
            .collect(),
        _ => return true,
    };
    let count = resting.len();
    let (low, high) = (plain.rest_positions.iter())
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    let pairs = resting.iter().zip(&plain.rest_positions);
    let total: f64 = pairs.map(|(a, b)| a.distance(*b)).sum();
    let apart = total / count.max(1) as f64 / low.distance(high);
    // A mesh without extent, or bones without an inverse, allow no comparison.
    if count == 0 || !apart.is_finite() || apart <= MOST_APART {
        return true;
    }
    notes.push(format!(
        "the plain weights were read instead of {}: at rest it is {:.0}% of the diagonal away from them; \
         another program may have renumbered the joints",
        exact.name(),
        100.0 * apart
    ));
    false
}

/// Gives the skin the derived bones or proxies of the block.
pub(in crate::gltf) fn apply(
    block: &SkinBlock,
    mut skin: Skin,
    accessors: &Accessors<'_>,
    notes: &mut Vec<String>,
) -> Result<Skin, Fault> {
    notes.extend(block.program.note_of_other(&skin.program));
    let bone_count = skin.skeleton.bone_count();
    let first = bone_count.saturating_sub(block.derived.len());
    let in_place = (block.derived.iter().zip(first..))
        .all(|(derived, j)| derived.bone.index() == j && derived.of.index() < j);
    match in_place {
        true => skin.pose_program.placed = PlacedBones::Derived(block.derived.clone()),
        false => notes.push(
            "derived bones are no longer the last ones of the skeleton, so they are not computed: only \
             the clips move them"
                .to_owned(),
        ),
    }
    if let Some(given) = &block.proxies {
        match proxies::restore(given, &skin, accessors) {
            Ok(restored) => skin = skin.with_proxies(restored)?,
            Err(why) => notes.push(proxies_left_out(&why)),
        }
    }
    Ok(skin)
}
