//! Proxy bones as stored in the `DERMIS_skin` extension: predictors as JSON, large matrices as binary.

use dermis::rig::{BoneId, JointReading, PatchPredictor, ProxyBones};
use serde::{Deserialize, Serialize};

/// How far from 1 the length of a quaternion in a file may be.
const LENGTH_TOLERANCE: f64 = 1e-6;

/// [`ProxyBones`] without the numbers of their two matrices, which are in the file's buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct ProxyRecord {
    /// The proxy bones, in order.
    pub bones: Vec<BoneId>,
    /// The joints whose rotations are the input.
    pub joints: Vec<JointReading>,
    /// How patches of skin move.
    pub patches: Vec<PatchPredictor>,
    /// The bones whose matrices enter directly.
    pub sources: Vec<BoneId>,
    /// Number of the accessor with `C1` in the file: four rows per bone, in each a VEC4 of 32-bit
    /// floats per patch. The writer sets it; `None` without patches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_patches: Option<usize>,
    /// The same of `C2`: in each row a VEC4 per source; `None` without sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_sources: Option<usize>,
}

impl ProxyRecord {
    /// The record of proxies whose matrices are in these accessors.
    pub(crate) fn new(
        proxies: &ProxyBones,
        from_patches: Option<usize>,
        from_sources: Option<usize>,
    ) -> Self {
        Self {
            bones: proxies.bones.clone(),
            joints: proxies.joints.clone(),
            patches: proxies.patches.clone(),
            sources: proxies.sources.clone(),
            from_patches,
            from_sources,
        }
    }

    /// The proxies, given the numbers of both matrices.
    ///
    /// Checks only that quaternions have unit length; [`ProxyBones::check`] does the rest.
    pub(crate) fn to_proxies(
        &self,
        from_patches: Vec<f64>,
        from_sources: Vec<f64>,
    ) -> Result<ProxyBones, String> {
        for (l, patch) in self.patches.iter().enumerate() {
            for turn in &patch.turns {
                let length = turn.offset.length();
                // Written so that NaN fails, too.
                let is_unit = (length - 1.0).abs() <= LENGTH_TOLERANCE;
                if !is_unit {
                    return Err(format!(
                        "a rotation of patch {l} has a quaternion of length {length}, expected 1"
                    ));
                }
            }
        }
        Ok(ProxyBones {
            bones: self.bones.clone(),
            joints: self.joints.clone(),
            patches: self.patches.clone(),
            sources: self.sources.clone(),
            from_patches,
            from_sources,
        })
    }

    /// Every bone that the record names.
    pub(crate) fn bones_mut(&mut self) -> impl Iterator<Item = &mut BoneId> {
        let frames = self.patches.iter_mut().flat_map(|p| &mut p.frame);
        let frames = frames.map(|(bone, _)| bone);
        let joints = (self.joints.iter_mut()).flat_map(|j| [&mut j.bone, &mut j.parent]);
        let lists = self.bones.iter_mut().chain(&mut self.sources);
        lists.chain(frames).chain(joints)
    }

    /// How many VEC4 the accessors of `C1` and `C2` must have; `None` where
    /// there are more than can be counted.
    pub(crate) fn matrix_sizes(&self) -> Option<[usize; 2]> {
        let rows = self.bones.len().checked_mul(4)?;
        let patches = rows.checked_mul(self.patches.len())?;
        Some([patches, rows.checked_mul(self.sources.len())?])
    }
}

#[cfg(test)]
mod tests {
    use dermis::rig::PredictedTurn;
    use glam::{DQuat, DVec3};
    use serde_json::json;

    use super::*;

    fn record() -> ProxyRecord {
        ProxyRecord {
            bones: vec![BoneId(2)],
            joints: vec![JointReading {
                bone: BoneId(1),
                parent: BoneId(0),
                middle: DVec3::new(0.5, 0.0, 0.0),
            }],
            patches: vec![PatchPredictor {
                frame: vec![(BoneId(0), 1.0)],
                pivot: DVec3::new(0.0, 2.0, 0.0),
                turns: vec![PredictedTurn {
                    joint: 0,
                    scale: 0.5,
                    offset: DQuat::IDENTITY,
                }],
                stretch_joints: Vec::new(),
                stretch: vec![[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.25, 0.0]],
            }],
            sources: vec![BoneId(0), BoneId(1)],
            from_patches: Some(7),
            from_sources: Some(8),
        }
    }

    #[test]
    fn the_json_is_as_documented() {
        let expected = json!({
            "bones": [2],
            "joints": [{"bone": 1, "parent": 0, "middle": [0.5, 0.0, 0.0]}],
            "patches": [{
                "frame": [[0, 1.0]],
                "pivot": [0.0, 2.0, 0.0],
                "turns": [{"joint": 0, "scale": 0.5, "offset": [0.0, 0.0, 0.0, 1.0]}],
                "stretchJoints": [],
                "stretch": [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.25, 0.0]],
            }],
            "sources": [0, 1],
            "fromPatches": 7,
            "fromSources": 8,
        });
        let json = serde_json::to_value(record()).expect("a record is JSON");
        assert_eq!(json, expected, "field by field");
        let back: ProxyRecord = serde_json::from_value(json).expect("its own JSON");
        assert_eq!(back, record(), "and back");
    }

    #[test]
    fn a_rotation_that_is_not_of_unit_length_is_refused() {
        let mut record = record();
        assert!(
            record.to_proxies(Vec::new(), Vec::new()).is_ok(),
            "of length 1"
        );
        record.patches[0].turns[0].offset = DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0);
        let why = record.to_proxies(Vec::new(), Vec::new());
        let why = why.expect_err("too long");
        assert!(why.contains("a rotation of patch 0"), "{why}");
    }

    #[test]
    fn every_bone_is_named_once() {
        let mut record = record();
        let named: Vec<u16> = record.bones_mut().map(|bone| bone.0).collect();
        assert_eq!(named, [2, 0, 1, 0, 1, 0], "bones, sources, frame, joint");
        assert_eq!(record.matrix_sizes(), Some([4, 8]), "four rows each");
    }
}
