//! Exact models beside plain weights: when they are used, ignored or refused.

use dermis::skin::VertexProgram;
use dermis::{BoneId, Skin};
use glam::DVec4;
use serde_json::{Value, json};

use super::File;
use super::skins::{merge_attributes, skinned};

/// The triangle on two joints with two animation-space influences each, equal to its plain weights.
///
/// Corners at x = 0, 1 and 0; all weight on joint 0, then half on each of the two.
pub(super) fn animation_space() -> File {
    let mut file = skinned(
        &[0, 1, 0, 0].repeat(3),
        &[1., 0., 0., 0., 0.5, 0.5, 0., 0., 0.5, 0.5, 0., 0.],
    );
    let joints = file.floats("VEC4", &[0., 1., 0., 0.].repeat(3));
    let first = [[0., 0., 0., 1.], [0.5, 0., 0., 0.5], [0., 0.5, 0., 0.5]];
    let second = [[0., 0., 0., 0.], [0., 0., 0., 0.5], [-0.5, 0.5, 0., 0.5]];
    let first = file.floats("VEC4", first.as_flattened());
    let second = file.floats("VEC4", second.as_flattened());
    merge_attributes(
        &mut file,
        json!({"_ASJ_0": joints, "_AS_0": first, "_AS_1": second}),
    );
    file
}

fn skin_and_notes(file: &File) -> (Skin, Vec<String>) {
    let document = file.read();
    (document.skin.expect("the file has motion"), document.notes)
}

#[test]
fn vectors_are_read_by_joint_and_empty_ones_left_out() {
    let (skin, notes) = skin_and_notes(&animation_space());
    assert!(notes.is_empty(), "{notes:?}");
    let VertexProgram::Linear(linear) = &skin.program else {
        panic!("expected animation space, found {}", skin.program.name());
    };
    assert_eq!(linear.influences.row(0).len(), 1, "one vector is zero");
    let last = linear.influences.row(2)[1];
    assert_eq!(last.bone, BoneId(1), "the second place");
    assert_eq!(last.p, DVec4::new(-0.5, 0.5, 0.0, 0.5), "as in the file");
}

#[test]
fn plain_weights_are_used_when_exact_attributes_do_not_fit_together() {
    type Damage = fn(&mut File);
    let damages: [(&str, Damage); 11] = [
        ("_AS_0 is VEC3 and not VEC4", |f| {
            let narrow = f.floats("VEC3", &[0.0; 9]);
            merge_attributes(f, json!({"_AS_0": narrow}));
        }),
        ("_ASJ_0 is SCALAR and not VEC4", |f| {
            let narrow = f.floats("SCALAR", &[0.0; 3]);
            merge_attributes(f, json!({"_ASJ_0": narrow}));
        }),
        ("_AS_1 of vertex 0 is [NaN", |f| {
            let broken = f.floats("VEC4", &[f32::NAN; 12]);
            merge_attributes(f, json!({"_AS_1": broken}));
        }),
        ("vertex 0 names joint 2 of 2", |f| {
            let far = f.floats("VEC4", &[2.0; 12]);
            merge_attributes(f, json!({"_ASJ_0": far}));
        }),
        ("vertex 0 names joint -1 of 2", |f| {
            let below = f.floats("VEC4", &[-1.0; 12]);
            merge_attributes(f, json!({"_ASJ_0": below}));
        }),
        ("vertex 0 names joint 0.5 of 2", |f| {
            let between = f.floats("VEC4", &[0.5; 12]);
            merge_attributes(f, json!({"_ASJ_0": between}));
        }),
        ("the weights of vertex 1 sum to 0.5", |f| {
            let none = f.floats("VEC4", &[0.0; 12]);
            merge_attributes(f, json!({"_AS_1": none}));
        }),
        ("2 _AS_n and 0 _ASJ_n do not belong together", |f| {
            attributes(f).remove("_ASJ_0");
        }),
        ("_AS_0 is missing", |f| {
            let moved = attributes(f).remove("_AS_0").expect("it is there");
            merge_attributes(f, json!({"_AS_7": moved}));
        }),
        ("two kinds of exact model", |f| {
            let other = attributes(f)["_AS_0"].clone();
            merge_attributes(f, json!({"_MW_0": other}));
        }),
        ("_MWR is missing", |f| {
            let at = attributes(f);
            let joints = at.remove("_ASJ_0").expect("it is there");
            let first = at.remove("_AS_0").expect("it is there");
            at.remove("_AS_1");
            merge_attributes(
                f,
                json!({"_MWJ_0": joints, "_MW_0": first, "_MW_1": first, "_MW_2": first}),
            );
        }),
    ];
    for (why, damage) in damages {
        let mut file = animation_space();
        damage(&mut file);
        let (skin, notes) = skin_and_notes(&file);
        assert!(
            matches!(skin.program, VertexProgram::Ssd(_)),
            "{why}: {notes:?}"
        );
        assert!(notes.iter().any(|n| n.contains(why)), "{why}: {notes:?}");
    }
}

fn attributes(file: &mut File) -> &mut serde_json::Map<String, Value> {
    let attributes = file.primitive()["attributes"].as_object_mut();
    attributes.expect("a primitive has attributes")
}

#[test]
fn attributes_of_another_length_are_refused() {
    let mut file = animation_space();
    let long = file.floats("VEC4", &[0.0; 16]);
    merge_attributes(&mut file, json!({"_AS_1": long}));
    let accessor = format!("accessor {long} (mesh 0 primitive 0 _AS_1): expected 3 elements");
    file.refused(&accessor);
    let mut file = animation_space();
    let huge = json!({"componentType": 5126, "count": 4_000_000_000u64, "type": "VEC4"});
    let huge = file.push("accessors", huge);
    merge_attributes(&mut file, json!({"_ASJ_0": huge}));
    file.refused(&format!(
        "accessor {huge} (mesh 0 primitive 0 _ASJ_0): expected 3 elements"
    ));
}

#[test]
fn plain_weights_are_used_when_one_part_lacks_the_exact_attributes() {
    let mut file = animation_space();
    let mut bare = file.primitive().clone();
    for name in ["_AS_0", "_AS_1", "_ASJ_0"] {
        let attributes = bare["attributes"].as_object_mut().expect("attributes");
        attributes.remove(name);
    }
    let primitives = file.json["meshes"][0]["primitives"].as_array_mut();
    primitives.expect("primitives").push(bare);
    let (skin, notes) = skin_and_notes(&file);
    assert!(matches!(skin.program, VertexProgram::Ssd(_)), "{notes:?}");
    assert!(notes[0].contains("only 1 of 2 parts"), "{notes:?}");
}

#[test]
fn a_morph_target_displaces_the_rest_shape_of_the_exact_model() {
    let mut file = animation_space();
    // The positions once more: everything twice as large.
    file.primitive()["targets"] = json!([{"POSITION": 0}]);
    let document = file.read();
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    let skin = document.skin.expect("it has a skin");
    assert!(matches!(skin.program, VertexProgram::Linear(_)), "exact");
    let mut pose = skin.skeleton.rest_pose();
    let small = skin.evaluate(&pose).expect("it fits");
    pose.coefficients = vec![1.0];
    let large = skin.evaluate(&pose).expect("it fits");
    for (small, large) in small.iter().zip(&large) {
        assert!(large.distance(2.0 * *small) < 1e-12, "{small} {large}");
    }
    let plain = document.fallback.expect("the stand-in");
    assert_eq!(plain.corrections.len(), 1, "it has the target, too");
}

#[test]
fn point_numbers_may_be_four_wide() {
    let mut file = animation_space();
    let numbers = [[2.0, 0., 0., 0.], [0.0, 0., 0., 0.], [1.0, 0., 0., 0.]];
    let numbers = file.floats("VEC4", numbers.as_flattened());
    merge_attributes(&mut file, json!({"_ORIG": numbers}));
    let document = file.read();
    assert_eq!(
        document.draw.parts[0].points,
        [2, 0, 1],
        "the first of four"
    );
}
