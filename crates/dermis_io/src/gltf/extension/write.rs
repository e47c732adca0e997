//! Making the block for a skin.

use dermis::{BoneId, Skin};

use super::write_proxies::add_proxies;
use super::{DriverRecord, LevelBlock, ProgramKind, ProgressiveBlock, SkinBlock};
use crate::gltf::write::builder::Builder;
use crate::gltf::write::rig::Joints;
use crate::{Fault, SkinRecord};

pub(in crate::gltf) use super::level_record::add_levels;
pub(in crate::gltf) use super::progressive_record::add_progressive;
pub(in crate::gltf) use super::write_proxies::with_placed_proxies;

/// The block for a skin and the record of how it was made; large matrices go to the file's buffer.
///
/// `None` for a linear blend skin without a record, levels and steps.
pub(in crate::gltf) fn add_block(
    builder: &mut Builder,
    skin: &Skin,
    joints: &Joints,
    given: Option<&SkinRecord>,
    levels: Vec<LevelBlock>,
    progressive: Option<ProgressiveBlock>,
) -> Result<Option<SkinBlock>, Fault> {
    let Some(program) = ProgramKind::of(&skin.program) else {
        return Ok(None);
    };
    let is_plain = program == ProgramKind::Ssd && skin.pose_program.is_empty();
    if given.is_none() && is_plain && levels.is_empty() && progressive.is_none() {
        return Ok(None);
    }
    let mut record = given.cloned().unwrap_or_else(|| SkinRecord {
        method: program.key().to_owned(),
        ..SkinRecord::default()
    });
    let joint = |bone: &mut BoneId| *bone = BoneId(joints.of_bone(bone.0));
    record.joints.iter_mut().for_each(|s| joint(&mut s.bone));
    record.limits.iter_mut().for_each(|l| joint(&mut l.bone));
    if program == ProgramKind::Ssd {
        record.fallback = None;
    }
    let mut derived = skin.pose_program.derived().to_vec();
    for derived in &mut derived {
        joint(&mut derived.bone);
        joint(&mut derived.of);
    }
    let mut drivers = DriverRecord::all_of(skin);
    let bones = drivers.iter_mut().flat_map(DriverRecord::bones_mut);
    bones.for_each(joint);
    Ok(Some(SkinBlock {
        version: SkinBlock::VERSION,
        record,
        max_influences: skin.program.max_influences(),
        program,
        derived,
        proxies: (skin.pose_program.proxies())
            .map(|proxies| add_proxies(builder, proxies, joints))
            .transpose()?,
        drivers,
        levels,
        progressive,
    }))
}
