//! Skins, joints and bind matrices.

use dermis::BoneId;
use glam::{DAffine3, DVec3};
use serde_json::{Value, json};

use super::{File, skin_of};

/// A triangle on a mesh node 0, skinned to joints 1 and 2, a chain along x that binds at 0 and 1.
pub(super) fn skinned(joints: &[u8], weights: &[f32]) -> File {
    let mut file = File::triangle(json!({}));
    let joints = file.packed("VEC4", 5121, 3, joints);
    let weights = file.floats("VEC4", weights);
    merge_attributes(&mut file, json!({"JOINTS_0": joints, "WEIGHTS_0": weights}));
    file.json["nodes"] = json!([
        {"mesh": 0, "skin": 0, "translation": [7, 7, 7]},
        {"name": "lower", "children": [2]},
        {"name": "upper", "translation": [1, 0, 0]},
    ]);
    let binds = file.floats("MAT4", &[moved_by(0.0), moved_by(-1.0)].concat());
    file.push(
        "skins",
        json!({"joints": [1, 2], "inverseBindMatrices": binds}),
    );
    file
}

pub(super) fn merge_attributes(file: &mut File, attributes: Value) {
    super::merge(&mut file.primitive()["attributes"], attributes);
}

fn moved_by(x: f32) -> [f32; 16] {
    [
        1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., x, 0., 0., 1.,
    ]
}

const ONE_EACH: [u8; 12] = [0, 9, 9, 9, 1, 0, 9, 9, 1, 0, 1, 9];
const WEIGHTS: [f32; 12] = [1., 0., 0., 0., 0.25, 0.75, 0., 0., 0.25, 0.5, 0.25, 0.];

#[test]
fn joints_become_bones_and_the_mesh_node_is_ignored() {
    let document = skinned(&ONE_EACH, &WEIGHTS).read();
    let (skin, ssd) = skin_of(&document);
    let names: Vec<_> = skin.skeleton.bones().iter().map(|b| &*b.name).collect();
    assert_eq!(names, ["lower", "upper"], "only the joints");
    assert_eq!(ssd.rest_positions[0], DVec3::ZERO, "not moved by (7, 7, 7)");
    let rows: Vec<Vec<(u16, f64)>> = (ssd.weights.iter())
        .map(|row| row.iter().map(|w| (w.bone.0, w.weight)).collect())
        .collect();
    assert_eq!(
        rows,
        [
            vec![(0, 1.0)],
            vec![(0, 0.75), (1, 0.25)],
            vec![(0, 0.5), (1, 0.5)]
        ],
        "joint 9 does not exist but has no weight, and joint 1 twice is summed"
    );
    assert_eq!(
        document.notes,
        [
            "at 3 vertices, influences of weight 0 name joints that the skin does not have (such as joint 9 of 2 joints at \
             mesh 0 primitive 0 vertex 0): left out"
        ],
        "and says so once, with how many and one of them"
    );
    let still = skin.evaluate(&skin.skeleton.default_pose()).expect("fits");
    assert_eq!(
        still,
        document.mesh.positions(),
        "the default pose is the bind pose"
    );
}

#[test]
fn weights_may_be_normalised_integers_in_several_sets() {
    let mut file = skinned(&[0; 12], &[0.0; 12]);
    let joints: Vec<u8> = [1u16, 0, 0, 0]
        .repeat(3)
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let joints = file.packed("VEC4", 5123, 3, &joints);
    let weights = file.packed("VEC4", 5121, 3, &[255, 0, 0, 0].repeat(3));
    file.json["accessors"][weights]["normalized"] = true.into();
    merge_attributes(&mut file, json!({"JOINTS_1": joints, "WEIGHTS_1": weights}));
    let document = file.read();
    for row in skin_of(&document).1.weights.iter() {
        assert_eq!(
            (row.len(), row[0].bone, row[0].weight),
            (1, BoneId(1), 1.0),
            "set 1"
        );
    }
    let attributes = &mut file.primitive()["attributes"];
    attributes
        .as_object_mut()
        .expect("an object")
        .remove("WEIGHTS_1");
    file.refused("mesh 0 primitive 0: expected JOINTS and WEIGHTS in pairs, found JOINTS_1 alone");
}

#[test]
fn a_weighted_joint_out_of_range_is_refused_with_its_place() {
    let mut joints = ONE_EACH;
    joints[4] = 2;
    skinned(&joints, &WEIGHTS).refused(
        "mesh 0 primitive 0 vertex 1: expected one of the 2 joints of its skin, \
         found joint 2 with weight 0.25 (1 vertex names joints out of range)",
    );
    joints[9] = 200;
    skinned(&joints, &WEIGHTS).refused(
        "mesh 0 primitive 0 vertex 1: expected one of the 2 joints of its skin, \
         found joint 2 with weight 0.25 (2 vertices name joints out of range)",
    );
    let mut weights = WEIGHTS;
    weights[0] = -0.5;
    skinned(&ONE_EACH, &weights).refused("mesh 0 primitive 0 vertex 0: expected weights of 0");
    weights[0] = f32::NAN;
    skinned(&ONE_EACH, &weights)
        .refused("accessor 2 (mesh 0 primitive 0 WEIGHTS_0): expected finite");
}

#[test]
fn bind_matrices_must_be_affine_but_may_be_singular_or_absent() {
    let mut file = skinned(&ONE_EACH, &WEIGHTS);
    let mut projective = moved_by(0.0);
    projective[3] = 0.5;
    let binds = file.floats("MAT4", &[moved_by(0.0), projective].concat());
    file.json["skins"][0]["inverseBindMatrices"] = binds.into();
    file.refused("inverse bind matrix 1 of skin 0: expected an affine matrix");
    let mut flat = [0.0; 16];
    flat[15] = 1.0;
    let binds = file.floats("MAT4", &[flat, flat].concat());
    file.json["skins"][0]["inverseBindMatrices"] = binds.into();
    assert!(
        file.try_read().is_ok(),
        "singular ones are the file's choice"
    );
    let one = file.floats("MAT4", &flat);
    file.json["skins"][0]["inverseBindMatrices"] = one.into();
    file.refused("accessor 6 (skin 0 inverseBindMatrices): expected at least 2 elements, found 1");
    file.json["skins"][0]["inverseBindMatrices"] = Value::Null;
    let document = file.read();
    for bone in skin_of(&document).0.skeleton.bones() {
        assert_eq!(
            bone.bone_from_rest,
            DAffine3::IDENTITY,
            "none means identity"
        );
    }
}

#[test]
fn a_node_with_two_bind_matrices_becomes_two_bones() {
    let mut file = skinned(&ONE_EACH, &WEIGHTS);
    let binds = file.floats("MAT4", &[moved_by(0.0), moved_by(-3.0)].concat());
    file.push(
        "skins",
        json!({"joints": [1, 2], "inverseBindMatrices": binds}),
    );
    file.push("nodes", json!({"mesh": 0, "skin": 1}));
    // A rigid mesh on joint 2 binds where joint 2 stands, as skin 0 does.
    let rigid = json!({"primitives": [{"attributes": {"POSITION": 0}}]});
    file.push("meshes", rigid);
    file.json["nodes"][2]["mesh"] = 1.into();
    let document = file.read();
    let (skin, ssd) = skin_of(&document);
    let bones = skin.skeleton.bones();
    let names: Vec<_> = bones
        .iter()
        .map(|b| (&*b.name, b.parent.map(|p| p.0)))
        .collect();
    assert_eq!(
        names,
        [("lower", None), ("upper", Some(0)), ("upper.2", Some(1))],
        "only the matrix that differs needs a second bone"
    );
    assert_eq!(
        bones[2].bone_from_rest.translation.x, -3.0,
        "the second bind"
    );
    assert_eq!(document.draw.parts.len(), 3, "two skinned, one rigid");
    let rigid_point = document.draw.parts[1].points[0] as usize;
    assert_eq!(document.draw.parts[1].mesh_name, "mesh_1", "parts by node");
    assert_eq!(
        ssd.weights.row(rigid_point)[0].bone,
        BoneId(1),
        "the joint's bone"
    );
    assert_eq!(
        ssd.rest_positions[rigid_point],
        DVec3::X,
        "where the node stands"
    );
}

#[test]
fn a_skinned_node_without_joints_moves_with_its_node() {
    let in_range = ONE_EACH.map(|joint| joint % 9);
    let mut file = skinned(&in_range, &WEIGHTS);
    let plain = json!({"attributes": {"POSITION": 0}});
    file.json["meshes"][0]["primitives"]
        .as_array_mut()
        .expect("a list")
        .push(plain);
    let document = file.read();
    assert_eq!(
        document.notes,
        [
            "primitives without joints on a node that has a skin, which move with the node instead: mesh 0 primitive 1"
        ],
        "a note says so"
    );
    let (skin, ssd) = skin_of(&document);
    let point = document.draw.parts[1].points[0] as usize;
    let bone = ssd.weights.row(point)[0].bone;
    assert_eq!(
        skin.skeleton.bones()[bone.index()].name,
        "node_0",
        "the mesh node"
    );
    assert_eq!(
        ssd.rest_positions[point],
        DVec3::splat(7.0),
        "where the node stands"
    );
}

#[test]
fn skins_with_missing_pieces_are_refused() {
    let mut file = skinned(&ONE_EACH, &WEIGHTS);
    file.json["skins"][0]["joints"] = json!([]);
    file.refused("skin 0: expected at least one joint, found none");
    file.json["skins"][0]["joints"] = json!([1, 8]);
    file.refused("skin 0: expected a node index below 3, found 8");
    file.json["nodes"][0]["skin"] = 4.into();
    file.refused("node 0: expected a skin index below 1, found 4");
}

#[test]
fn sheared_bones_are_refused_and_other_matrices_taken_apart() {
    let mut file = skinned(&ONE_EACH, &WEIGHTS);
    let sheared = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    file.json["nodes"][2] = json!({"name": "upper", "matrix": sheared});
    file.refused("the matrix of node 2 (upper) is sheared by 4.47e-1");
    let scaled = json!([0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]);
    file.json["nodes"][2] = json!({"matrix": scaled});
    let document = file.read();
    let upper = skin_of(&document).0.skeleton.bones()[1].default_parent_from_bone;
    assert!(
        upper.scale.abs_diff_eq(DVec3::splat(2.0), 1e-12),
        "{upper:?}"
    );
    assert!(
        (upper.rotation * DVec3::X).abs_diff_eq(DVec3::Y, 1e-12),
        "{upper:?}"
    );
}
