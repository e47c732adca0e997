//! The `DERMIS_skin` block, and what it and the skin must agree on.

use dermis::rig::DerivedBone;
use dermis::skin::{Skin, SsdProgram, VertexProgram};
use dermis::{BoneId, Skeleton};
use glam::{DAffine3, DVec3};
use serde_json::Value;

use super::accessor::Accessors;
use super::proxies;
use super::schema::Schema;
use crate::{DriverRecord, Fault, ProgramKind, SkinRecord};

/// How far, on average and as a share of the diagonal, an exact model may rest from the plain one.
///
/// The stand-in is fitted to the exact model and rests within a few hundredths of it. Where joints
/// were renumbered, or rest positions moved to other units, the two are as far apart as the bones.
const MOST_APART: f64 = 0.1;

/// What the `DERMIS_skin` extension of the first skin says, when this version understands it.
///
/// `bones` are the bones of that skin's joints: the block counts joints, the record bones. Its drivers
/// still count joints, until [`apply`].
pub(super) fn read(
    schema: &Schema,
    bones: &[BoneId],
    notes: &mut Vec<String>,
) -> Option<SkinRecord> {
    let name = SkinRecord::EXTENSION;
    let block = schema.skins.first()?.extensions.get(name)?;
    let version = block.get("version").and_then(Value::as_u64);
    if let Some(version) = version.filter(|&v| v > u64::from(SkinRecord::VERSION)) {
        notes.push(format!(
            "the {name} block has version {version}, newer than {}, and was ignored",
            SkinRecord::VERSION
        ));
        return None;
    }
    let mut record: SkinRecord = match serde_json::from_value(block.clone()) {
        Ok(record) => record,
        Err(error) => {
            notes.push(format!("the {name} block was ignored: {error}"));
            return None;
        }
    };
    let bone = |joint: BoneId| bones.get(joint.index()).copied();
    let derived = record.derived.iter().map(|d| {
        Some(DerivedBone {
            bone: bone(d.bone)?,
            of: bone(d.of)?,
            motion: d.motion,
        })
    });
    let derived: Option<Vec<DerivedBone>> = derived.collect();
    let joints = std::mem::take(&mut record.joints).into_iter().map(|mut s| {
        s.bone = bone(s.bone)?;
        Some(s)
    });
    let joints: Option<Vec<_>> = joints.collect();
    let limits = std::mem::take(&mut record.limits).into_iter().map(|mut l| {
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
    record.limits = limits.unwrap_or_default();
    record.derived = derived.unwrap_or_default();
    record.proxies = match record.proxies.map(|p| proxies::with_bones(p, bones)) {
        None => None,
        Some(Ok(proxies)) => Some(proxies),
        Some(Err(joint)) => {
            notes.push(left_proxies(&format!("there is no joint {joint}")));
            None
        }
    };
    record.joints = joints.unwrap_or_default();
    Some(record)
}

/// The note about proxy bones that the skin cannot have.
fn left_proxies(why: &str) -> String {
    format!(
        "the proxy bones of the {} block are not computed, because {why}: only the clips move them",
        SkinRecord::EXTENSION
    )
}

/// Whether an exact model rests where its plain stand-in does; where not, a note says so.
pub(super) fn agrees_at_rest(
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
    // A mesh without extent, or bones without an inverse, cannot tell.
    if count == 0 || !apart.is_finite() || apart <= MOST_APART {
        return true;
    }
    notes.push(format!(
        "the plain weights were read instead of {}: at rest it is {:.0}% of the diagonal away from them, as \
         when another program has renumbered the joints",
        exact.name(),
        100.0 * apart
    ));
    false
}

/// Gives the skin what the record says of its bones, and the record what became of the skin.
pub(super) fn apply(
    record: &mut SkinRecord,
    mut skin: Skin,
    accessors: &Accessors<'_>,
    notes: &mut Vec<String>,
) -> Result<Skin, Fault> {
    let kind = ProgramKind::of(&skin.program).unwrap_or_default();
    if record.program != kind {
        notes.push(format!(
            "the file was written with a {} skin; a {} skin was read",
            record.program.key(),
            kind.key()
        ));
        record.program = kind;
    }
    let bone_count = skin.skeleton.bone_count();
    let first = bone_count.saturating_sub(record.derived.len());
    let in_place = (record.derived.iter().zip(first..))
        .all(|(derived, j)| derived.bone.index() == j && derived.of.index() < j);
    if !in_place {
        notes.push(
            "derived bones are no longer the last ones of the skeleton, so they are not computed: only \
             the clips move them"
                .to_owned(),
        );
        record.derived.clear();
    }
    skin.derived.clone_from(&record.derived);
    if let Some(given) = record.proxies.take() {
        match proxies::restore(&given, &skin, accessors) {
            Ok(restored) => {
                skin = skin.with_proxies(restored)?;
                record.proxies = Some(given);
            }
            Err(why) => notes.push(left_proxies(&why)),
        }
    }
    record.drivers = DriverRecord::all_of(&skin);
    Ok(skin)
}
