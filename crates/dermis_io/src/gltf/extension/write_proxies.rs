//! Proxy bones to the block, and their matrices to accessors.

use std::borrow::Cow;

use dermis::Skin;
use dermis::rig::{BoneId, ProxyBones};
use dermis::skin::PlacedBones;

use super::ProxyRecord;
use crate::Fault;
use crate::gltf::write::builder::{Builder, Use};
use crate::gltf::write::rig::Joints;

/// The skin with its proxies checked, and with their default transforms computed by the pose program.
///
/// The skin's constructor does both, but the fields may have changed since.
pub(in crate::gltf) fn with_placed_proxies(skin: &Skin) -> Result<Cow<'_, Skin>, Fault> {
    let Some(proxies) = skin.pose_program.proxies() else {
        return Ok(Cow::Borrowed(skin));
    };
    let mut without = skin.clone();
    without.pose_program.placed = PlacedBones::default();
    Ok(Cow::Owned(without.with_proxies(proxies.clone())?))
}

/// Adds the matrices of proxies, and returns their record for the block, with bones as joint numbers.
pub(in crate::gltf) fn add_proxies(
    builder: &mut Builder,
    proxies: &ProxyBones,
    joints: &Joints,
) -> Result<ProxyRecord, Fault> {
    let c1 = add_matrix(builder, "C1", &proxies.from_patches)?;
    let c2 = add_matrix(builder, "C2", &proxies.from_sources)?;
    let mut record = ProxyRecord::new(proxies, c1, c2);
    for bone in record.bones_mut() {
        *bone = BoneId(joints.of_bone(bone.0));
    }
    Ok(record)
}

/// Adds numbers in elements of four; glTF has no empty accessors.
fn add_matrix(builder: &mut Builder, name: &str, numbers: &[f64]) -> Result<Option<usize>, Fault> {
    let (elements, _) = numbers.as_chunks::<4>();
    if elements.is_empty() {
        return Ok(None);
    }
    let elements: Vec<[f32; 4]> = elements.iter().map(|e| e.map(|x| x as f32)).collect();
    let what = format!("{name} of the proxy bones");
    let accessor = builder.floats(&what, &elements, Use::Other)?;
    Ok(Some(accessor.value()))
}
