//! Proxy bones from the block and the accessors that it names.

use dermis::rig::ProxyBones;
use dermis::{BoneId, Skin};

use super::ProxyRecord;
use crate::Fault;
use crate::gltf::read::accessor::{Accessors, Count};

/// The record with joint numbers turned into bones; the error is a joint that does not exist.
pub(super) fn with_bones(mut record: ProxyRecord, bones: &[BoneId]) -> Result<ProxyRecord, u16> {
    for joint in record.bones_mut() {
        *joint = *bones.get(joint.index()).ok_or(joint.0)?;
    }
    Ok(record)
}

/// The proxies that a record describes, if they fit the skin; the error says why not.
pub(super) fn restore(
    record: &ProxyRecord,
    skin: &Skin,
    accessors: &Accessors<'_>,
) -> Result<ProxyBones, String> {
    if !skin.pose_program.derived().is_empty() {
        return Err("the skin also has derived bones".to_owned());
    }
    let Some([c1, c2]) = record.matrix_sizes() else {
        return Err("their matrices are too large".to_owned());
    };
    let read = |accessor: Option<usize>, count: usize| match accessor {
        None if count == 0 => Ok(Vec::new()),
        None => Err(format!("a matrix of {count} VEC4 is missing")),
        Some(accessor) => {
            let count = Count::ExactlyBacked(count);
            let numbers = accessors.finite(accessor, "proxy bones", &["VEC4"], count);
            let numbers = numbers.map_err(|fault: Fault| fault.to_string())?;
            Ok(numbers.values.into_iter().map(f64::from).collect())
        }
    };
    let from_patches = read(record.from_patches, c1)?;
    let from_sources = read(record.from_sources, c2)?;
    let proxies = record.to_proxies(from_patches, from_sources)?;
    match proxies.check(&skin.skeleton) {
        Ok(()) => Ok(proxies),
        Err(error) => Err(error.to_string()),
    }
}
