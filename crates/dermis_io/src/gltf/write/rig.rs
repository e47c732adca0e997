//! Bones to nodes, and the skin over them.

use dermis::rig::{BoneId, Trs};
use dermis::{Skeleton, Skin as ModelSkin};
use glam::{DAffine3, DQuat, DVec3};
use gltf_json::scene::{Node, UnitQuaternion};
use gltf_json::{Index, Skin, extensions};

use super::builder::{Builder, Use};
use crate::gltf::extension::SkinBlock;
use crate::gltf::names::COMMON_ROOT;
use crate::{Fault, SkinRecord};

/// Adds every bone as a node, so that node and bone numbers agree, and returns the root nodes for the
/// scene.
///
/// The builder must have no nodes yet. Joints need a common root, or the file is invalid: when
/// several bones have no parent, a node that never moves is added above them.
pub(in crate::gltf) fn add_bones(
    builder: &mut Builder,
    skeleton: &Skeleton,
) -> Result<Index<Node>, Fault> {
    let index = |j: usize| Index::new(j as u32);
    let mut children: Vec<Vec<Index<Node>>> = vec![Vec::new(); skeleton.bone_count()];
    let mut roots = Vec::new();
    for (j, bone) in skeleton.bones().iter().enumerate() {
        match bone.parent {
            Some(parent) => children[parent.index()].push(index(j)),
            None => roots.push(index(j)),
        }
    }
    for (bone, children) in skeleton.bones().iter().zip(children) {
        let mut node = trs_node(&bone.name, &bone.default_parent_from_bone)?;
        node.name = (!bone.name.is_empty()).then(|| bone.name.clone());
        node.children = (!children.is_empty()).then_some(children);
        builder.root.push(node);
    }
    Ok(match roots.as_slice() {
        [only] => *only,
        _ => builder.root.push(Node {
            name: Some(COMMON_ROOT.to_owned()),
            children: Some(roots),
            ..Node::default()
        }),
    })
}

/// A node with the parts of a transform that are not the identity.
fn trs_node(name: &str, trs: &Trs) -> Result<Node, Fault> {
    let rotation = DQuat::normalize(trs.rotation).as_quat();
    let node = Node {
        translation: (trs.translation != DVec3::ZERO).then(|| trs.translation.as_vec3().to_array()),
        rotation: (trs.rotation != DQuat::IDENTITY).then(|| UnitQuaternion(rotation.to_array())),
        scale: (trs.scale != DVec3::ONE).then(|| trs.scale.as_vec3().to_array()),
        ..Node::default()
    };
    let parts = [node.translation, node.scale];
    let finite = parts.iter().flatten().flatten().all(|v| v.is_finite());
    if finite && rotation.is_finite() {
        return Ok(node);
    }
    Err(Fault::malformed(
        format!("default transform of bone {name}"),
        "a translation, rotation and scale that are finite in single precision",
        format!(
            "translation {}, rotation {}, scale {}",
            trs.translation, trs.rotation, trs.scale
        ),
    ))
}

/// The bones that a file's skin lists as joints.
///
/// All bones, in order, except carriers (see `Skeleton::is_carrier`) that no vertex, derived bone, proxy, driver,
/// statistics or limits name: every joint costs engines time, and a carrier has no bind matrix to lose.
#[derive(Debug, Clone)]
pub(in crate::gltf) struct Joints {
    bones: Vec<BoneId>,
    of_bone: Vec<Option<u16>>,
}

impl Joints {
    /// The joints of a skin that was checked; `of_vertices` are the bones that any vertex names.
    pub(in crate::gltf) fn of(
        skin: &ModelSkin,
        of_vertices: impl Iterator<Item = BoneId>,
        record: Option<&SkinRecord>,
    ) -> Self {
        let mut named = vec![false; skin.skeleton.bone_count()];
        let mut name = |bone: BoneId| {
            // Statistics may come from another document.
            if let Some(named) = named.get_mut(bone.index()) {
                *named = true;
            }
        };
        of_vertices.for_each(&mut name);
        let computed = skin.pose_program.named_bones(&skin.skeleton);
        computed.into_iter().for_each(&mut name);
        let statistics = record.map_or(&[][..], |record| &record.joints);
        statistics.iter().for_each(|joint| name(joint.bone));
        let limits = record.map_or(&[][..], |record| &record.limits);
        limits.iter().for_each(|joint| name(joint.bone));
        let bones: Vec<BoneId> = (skin.skeleton.ids())
            .filter(|&bone| named[bone.index()] || !skin.skeleton.is_carrier(bone))
            .collect();
        let mut of_bone = vec![None; skin.skeleton.bone_count()];
        for (joint, bone) in (0..).zip(&bones) {
            of_bone[bone.index()] = Some(joint);
        }
        Self { bones, of_bone }
    }

    /// How many there are.
    pub(in crate::gltf) fn count(&self) -> usize {
        self.bones.len()
    }

    /// The joint of a bone that is named by a vertex or by the record.
    pub(in crate::gltf) fn of_bone(&self, bone: u16) -> u16 {
        let joint = self.of_bone.get(usize::from(bone)).copied().flatten();
        joint.unwrap_or(bone)
    }
}

/// Adds the skin: its joints in order, with the matrices that take rest positions to them.
pub(in crate::gltf) fn add_skin(
    builder: &mut Builder,
    skeleton: &Skeleton,
    joints: &Joints,
    block: Option<&SkinBlock>,
) -> Result<Index<Skin>, Fault> {
    let bones = skeleton.bones();
    let matrices: Vec<[f32; 16]> = (joints.bones.iter())
        .map(|bone| matrix_columns(&bones[bone.index()].bone_from_rest))
        .collect();
    let matrices = builder.floats("inverse bind matrices", &matrices, Use::Other)?;
    let mut roots = (0u32..)
        .zip(bones)
        .filter(|(_, bone)| bone.parent.is_none());
    let skeleton_root = match (roots.next(), roots.next()) {
        (Some((only, _)), None) => Some(Index::new(only)),
        _ => None,
    };
    let extensions = block.map(|block| {
        let json = serde_json::to_value(block).expect("a block is plain JSON");
        extensions::skin::Skin {
            others: [(SkinBlock::EXTENSION.to_owned(), json)]
                .into_iter()
                .collect(),
        }
    });
    Ok(builder.root.push(Skin {
        extensions,
        extras: None,
        inverse_bind_matrices: Some(matrices),
        joints: (joints.bones.iter())
            .map(|bone| Index::new(u32::from(bone.0)))
            .collect(),
        name: None,
        skeleton: skeleton_root,
    }))
}

/// A 4x4 matrix, column by column, whose bottom row is exactly 0, 0, 0, 1.
fn matrix_columns(affine: &DAffine3) -> [f32; 16] {
    let [x, y, z] = [
        affine.matrix3.x_axis,
        affine.matrix3.y_axis,
        affine.matrix3.z_axis,
    ]
    .map(|axis| axis.as_vec3());
    let t = affine.translation.as_vec3();
    [
        x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, t.x, t.y, t.z, 1.0,
    ]
}

#[cfg(test)]
mod tests {
    use dermis::VertexProgram;
    use dermis::pose_space::{Control, Driver, JointTurn, Kernel};
    use dermis::skin::{SsdProgram, Weight};

    use super::*;
    use crate::gltf::extension::ControlRecord;
    use crate::gltf::extension::write::add_block;

    /// A skin without vertices, or with one on the bone that is given.
    fn skin(skeleton: Skeleton, bone: Option<u16>) -> ModelSkin {
        let ssd = SsdProgram {
            rest_positions: bone.iter().map(|_| DVec3::ZERO).collect(),
            weights: (bone.iter())
                .map(|&bone| {
                    [Weight {
                        bone: BoneId(bone),
                        weight: 1.0,
                    }]
                })
                .collect(),
            corrections: Vec::new(),
        };
        ModelSkin::new(skeleton, VertexProgram::Ssd(ssd), Vec::new()).expect("a skin")
    }

    #[test]
    fn carriers_are_no_joints_unless_something_names_them() {
        let frame = |j: usize| DAffine3::from_translation(DVec3::X * j as f64);
        let parent = |j: usize| j.checked_sub(1).map(|parent| BoneId(parent as u16));
        let bones = (0..4).map(|j| (format!("bone {j}"), parent(j), frame(j)));
        let skeleton = Skeleton::from_rest_frames(bones)
            .expect("a chain")
            .with_carriers([BoneId(0), BoneId(2)]);
        let joints = |skin: &ModelSkin, record: Option<&SkinRecord>| {
            Joints::of(skin, skin.program.bones(), record)
        };
        let unnamed = joints(&skin(skeleton.clone(), Some(3)), None);
        assert_eq!(unnamed.bones, [BoneId(1), BoneId(3)], "no carriers");
        assert_eq!(unnamed.of_bone(3), 1, "numbered as joints");
        let weighted = joints(&skin(skeleton.clone(), Some(2)), None);
        assert_eq!(weighted.bones, [1, 2, 3].map(BoneId), "it holds a vertex");

        let pose = skeleton.rest_pose();
        let statistics = dermis::joint::joint_statistics(&skeleton, &[pose]);
        let record = SkinRecord {
            joints: statistics.into_iter().filter(|s| s.bone.0 != 2).collect(),
            ..SkinRecord::default()
        };
        let skin = skin(skeleton, Some(3));
        let named = joints(&skin, Some(&record));
        assert_eq!(
            named.bones,
            [0, 1, 3].map(BoneId),
            "statistics name the root"
        );
        let block = |skin: &ModelSkin, joints: &Joints, record: Option<&SkinRecord>| {
            let block = add_block(
                &mut Builder::default(),
                skin,
                joints,
                record,
                Vec::new(),
                None,
            );
            block.expect("it fits").expect("there is something to say")
        };
        let written = block(&skin, &named, Some(&record));
        let found: Vec<u16> = written.record.joints.iter().map(|s| s.bone.0).collect();
        assert_eq!(found, [0, 1, 2], "bones 0, 1 and 3");

        let mut driven = skin;
        let driver = Driver {
            name: "wrist".to_owned(),
            controls: vec![Control::Joint {
                bone: BoneId(3),
                turn: JointTurn::Free,
            }],
            kernel: Kernel::Gaussian,
            centers: Vec::new(),
            weights: vec![Vec::new()],
            linear: Vec::new(),
        };
        let name = vec!["bulge".to_owned()];
        (driven.push_driver(driver, name, vec![Vec::new()])).expect("it fits");
        let read = joints(&driven, None);
        assert_eq!(
            read.bones,
            [1, 2, 3].map(BoneId),
            "a turn is measured against the rest of the bone above"
        );
        let written = block(&driven, &read, None);
        let control = ControlRecord::Joint {
            bone: BoneId(2),
            turn: JointTurn::Free,
        };
        assert_eq!(written.drivers[0].controls, [control], "bone 3 is joint 2");
    }

    #[test]
    fn several_roots_get_a_common_parent_after_the_bones() {
        let frame = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
        let skeleton = Skeleton::from_rest_frames([
            ("left".to_owned(), None, frame(-1.0)),
            ("right".to_owned(), None, frame(0.0)),
            ("hand".to_owned(), Some(BoneId(1)), frame(2.0)),
        ])
        .expect("a skeleton");
        let mut builder = Builder::default();
        let top = add_bones(&mut builder, &skeleton).expect("finite");
        let joints = Joints::of(&skin(skeleton.clone(), None), std::iter::empty(), None);
        let skin = add_skin(&mut builder, &skeleton, &joints, None).expect("finite");
        assert_eq!(top.value(), 3, "bones come first");
        let json = serde_json::to_value(&builder.root.nodes).expect("nodes are JSON");
        let expected = serde_json::json!([
            {"name": "left", "translation": [-1.0, 0.0, 0.0]},
            {"name": "right", "children": [2]},
            {"name": "hand", "translation": [2.0, 0.0, 0.0]},
            {"name": "skeleton", "children": [0, 1]},
        ]);
        assert_eq!(json, expected, "identity parts are left out");
        let skin = &builder.root.skins[skin.value()];
        assert!(skin.skeleton.is_none(), "no bone is the root of all");
        assert_eq!(skin.joints.len(), 3, "the common parent is no joint");
    }
}
