//! Bones to nodes, and the skin over them.

use dermis::Skeleton;
use dermis::rig::Trs;
use glam::{DAffine3, DQuat, DVec3};
use gltf_json::scene::{Node, UnitQuaternion};
use gltf_json::{Index, Skin, extensions};

use super::builder::{Builder, Use};
use crate::{Fault, ProgramKind, SkinRecord};

/// Adds every bone as a node, so that node and bone numbers agree, and returns what the scene
/// must hold.
///
/// The builder must have no nodes yet. Joints need a common root, or the file is invalid: when
/// several bones hang in model space, an unmoving node carries them.
pub(super) fn add_bones(builder: &mut Builder, skeleton: &Skeleton) -> Result<Index<Node>, Fault> {
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
            name: Some("skeleton".to_owned()),
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
        "a finite translation, rotation and scale",
        format!("{trs:?}"),
    ))
}

/// The block that a skin's file gets: what is known of its making, with what the skin itself says.
///
/// `None` for a linear blend skin of which nothing is known. Joints are bones here, in order, so
/// bone numbers stay as they are.
pub(super) fn file_record(skin: &dermis::Skin, given: Option<&SkinRecord>) -> Option<SkinRecord> {
    let program = ProgramKind::of(&skin.program)?;
    if given.is_none() && program == ProgramKind::Ssd && skin.derived.is_empty() {
        return None;
    }
    let mut record = given.cloned().unwrap_or_else(|| SkinRecord {
        method: program.key().to_owned(),
        ..SkinRecord::default()
    });
    record.version = SkinRecord::VERSION;
    record.program = program;
    record.max_influences = skin.program.max_influences();
    record.derived.clone_from(&skin.derived);
    if program == ProgramKind::Ssd {
        record.fallback = None;
    }
    Some(record)
}

/// Adds the skin: all bones in order, with the matrices that take rest positions to them.
pub(super) fn add_skin(
    builder: &mut Builder,
    skeleton: &Skeleton,
    record: Option<&SkinRecord>,
) -> Result<Index<Skin>, Fault> {
    let bones = skeleton.bones();
    let matrices: Vec<[f32; 16]> = bones
        .iter()
        .map(|bone| matrix_columns(&bone.bone_from_rest))
        .collect();
    let matrices = builder.floats("inverse bind matrices", &matrices, Use::Other)?;
    let mut roots = (0u32..)
        .zip(bones)
        .filter(|(_, bone)| bone.parent.is_none());
    let skeleton_root = match (roots.next(), roots.next()) {
        (Some((only, _)), None) => Some(Index::new(only)),
        _ => None,
    };
    let extensions = record.map(|record| {
        let json = serde_json::to_value(record).expect("a record is plain JSON");
        extensions::skin::Skin {
            others: [(SkinRecord::EXTENSION.to_owned(), json)]
                .into_iter()
                .collect(),
        }
    });
    Ok(builder.root.push(Skin {
        extensions,
        extras: None,
        inverse_bind_matrices: Some(matrices),
        joints: (0..bones.len() as u32).map(Index::new).collect(),
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
    use dermis::BoneId;

    use super::*;

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
        let skin = add_skin(&mut builder, &skeleton, None).expect("finite");
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
