//! Rigid parts that move, morph targets and animations.

use dermis::clip::{Channel, Interpolation};
use glam::{DQuat, DVec3};
use serde_json::{Value, json};

use super::{File, skin_of};

/// A triangle on node 0, with one animation of the given channels on one sampler.
fn animated(nodes: Value, path: &str, times: &[f32], shape: &str, values: &[f32]) -> File {
    let mut file = File::triangle(json!({}));
    file.json["nodes"] = nodes;
    let input = file.floats("SCALAR", times);
    let output = file.floats(shape, values);
    let animation = json!({
        "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
        "samplers": [{"input": input, "output": output}],
    });
    file.push("animations", animation);
    file
}

#[test]
fn a_moved_mesh_node_and_its_ancestors_become_bones() {
    let nodes = json!([
        {"mesh": 0, "translation": [0, 0, 1]},
        {"children": [0], "name": "arm", "scale": [2, 2, 2]},
        {"name": "camera"},
    ]);
    let times = [0.0, 1.0];
    let document = animated(
        nodes,
        "translation",
        &times,
        "VEC3",
        &[0., 0., 1., 0., 5., 1.],
    )
    .read();
    let (skin, ssd) = skin_of(&document);
    let names: Vec<_> = skin.skeleton.bones().iter().map(|b| &*b.name).collect();
    assert_eq!(names, ["arm", "node_0"], "parents first, and no camera");
    assert_eq!(
        document.mesh.positions()[1],
        DVec3::new(2., 0., 2.),
        "model space"
    );
    assert_eq!(ssd.weights.longest(), 1, "rigid");
    let posed = skin
        .evaluate(&skin.sample(&document.clips[0], 1.0))
        .expect("fits");
    assert!(
        posed[1].abs_diff_eq(DVec3::new(2., 10., 2.), 1e-12),
        "{}",
        posed[1]
    );
    assert_eq!(document.clips[0].name, "clip_0", "unnamed");
}

#[test]
fn a_file_of_captured_motion_has_a_skeleton_and_clips_but_no_skin() {
    let mut file = animated(
        json!([{"name": "hips"}, {"children": [0], "name": "root"}, {"name": "camera"}]),
        "translation",
        &[0.0, 1.0],
        "VEC3",
        &[0., 0., 0., 0., 5., 1.],
    );
    for list in ["meshes", "materials"] {
        file.json.as_object_mut().expect("an object").remove(list);
    }
    let document = file.read();
    assert!(document.skin.is_none(), "nothing to skin");
    let skeleton = document.skeleton.expect("what moves is a skeleton");
    let names: Vec<_> = skeleton.bones().iter().map(|b| &*b.name).collect();
    assert_eq!(names, ["root", "hips"], "parents first, and no camera");
    let hips = skeleton.find("hips").expect("a bone");
    assert_eq!(document.clips[0].channels[0].bone(), Some(hips), "it moves");
}

#[test]
fn an_animation_that_moves_no_mesh_gives_no_skin() {
    let nodes = json!([{}, {"mesh": 0}]);
    let document = animated(nodes, "translation", &[0.0], "VEC3", &[0.; 3]).read();
    assert!(
        document.skin.is_none() && document.clips.is_empty(),
        "still"
    );
    assert_eq!(
        document.notes,
        ["animations that move no bone or morph target were left out: clip_0"],
        "a note says so"
    );
}

#[test]
fn a_mesh_that_starts_at_scale_zero_rests_in_its_own_coordinates() {
    let nodes = json!([{"mesh": 0, "name": "pop", "scale": [0, 0, 0], "translation": [0, 0, 1]}]);
    let document = animated(
        nodes,
        "scale",
        &[0.0, 1.0],
        "VEC3",
        &[0., 0., 0., 1., 1., 1.],
    )
    .read();
    let (skin, _) = skin_of(&document);
    assert_eq!(
        document.mesh.positions()[1],
        DVec3::X,
        "its own coordinates"
    );
    assert!(
        document.notes[0].starts_with("the default transform of pop"),
        "{:?}",
        document.notes
    );
    let posed = skin
        .evaluate(&skin.sample(&document.clips[0], 1.0))
        .expect("fits");
    assert_eq!(posed[1], DVec3::new(1., 0., 1.), "grown");
}

#[test]
fn equal_times_keep_the_later_key_and_falling_times_are_refused() {
    let nodes = || json!([{"mesh": 0}]);
    let values: Vec<f32> = (0..12).map(|x| x as f32).collect();
    let document = animated(nodes(), "translation", &[0., 1., 1., 2.], "VEC3", &values).read();
    let Channel::Translation(_, keys) = &document.clips[0].channels[0] else {
        panic!("a translation");
    };
    assert_eq!(keys.times, [0., 1., 2.], "one key per time");
    assert_eq!(keys.values[1], DVec3::new(6., 7., 8.), "the later one");
    assert_eq!(
        document.notes,
        ["animation keys left out, because the next key has the same time: 1"],
        "a note says so"
    );
    animated(nodes(), "translation", &[0., 2., 1.], "VEC3", &values[..9])
        .refused("animation 0 channel 0 key 2: expected a time after 2 s, found 1 s");
    animated(
        nodes(),
        "translation",
        &[0., f32::NAN],
        "VEC3",
        &values[..6],
    )
    .refused("accessor 1 (animation 0 channel 0 input): expected finite numbers, found NaN");
    animated(nodes(), "translation", &[0., 1.], "VEC3", &values[..9])
        .refused("accessor 2 (animation 0 channel 0 output): expected 2 elements, found 3");
}

#[test]
fn rotations_are_normalised_also_from_integers_and_zero_is_refused() {
    let nodes = || json!([{"mesh": 0}]);
    let quaternions = [0., 0., 0., 2., 3., 0., 0., 0.];
    let mut file = animated(nodes(), "rotation", &[0., 1.], "VEC4", &quaternions);
    let rotations = |file: &File| match &file.read().clips[0].channels[0] {
        Channel::Rotation(_, keys) => keys.values.clone(),
        other => panic!("a rotation, found {other:?}"),
    };
    let half_turn = DQuat::from_xyzw(1., 0., 0., 0.);
    assert_eq!(
        rotations(&file),
        [DQuat::IDENTITY, half_turn],
        "unit length"
    );
    let bytes = [0i16, 0, 0, 32767, 32767, 0, 0, 0]
        .map(i16::to_le_bytes)
        .concat();
    let output = file.packed("VEC4", 5122, 2, &bytes);
    file.json["accessors"][output]["normalized"] = true.into();
    file.json["animations"][0]["samplers"][0]["output"] = output.into();
    assert_eq!(rotations(&file), [DQuat::IDENTITY, half_turn], "from i16");
    animated(
        nodes(),
        "rotation",
        &[0., 1.],
        "VEC4",
        &[0., 0., 0., 1., 0., 0., 0., 0.],
    )
    .refused("animation 0 channel 0 key 1: expected a unit quaternion, found [0.0, 0.0");
}

#[test]
fn cubic_keys_have_three_values_of_which_the_middle_one_is_a_rotation() {
    let values = [0., 0., 0., 9., 0., 0., 0., 2., 0., 0., 0., 0.];
    let mut file = animated(json!([{"mesh": 0}]), "rotation", &[0.], "VEC4", &values);
    file.json["animations"][0]["samplers"][0]["interpolation"] = "CUBICSPLINE".into();
    let document = file.read();
    let Channel::Rotation(_, keys) = &document.clips[0].channels[0] else {
        panic!("a rotation");
    };
    assert_eq!(keys.interpolation, Interpolation::Cubic, "cubic");
    let lengths: Vec<f64> = keys.values.iter().map(|q| q.length()).collect();
    assert_eq!(lengths, [9.0, 1.0, 0.0], "tangents stay as they are");
    file.json["animations"][0]["samplers"][0]["interpolation"] = "BEZIER".into();
    file.refused("animation 0 channel 0: expected LINEAR, STEP or CUBICSPLINE, found BEZIER");
}

/// A triangle with two targets on a node that is scaled by 2.
fn morphed() -> File {
    let mut file = File::triangle(json!({}));
    let lift = file.floats("VEC3", &[0., 0., 0., 0., 0., 1., 0., 0., 0.]);
    // Accessors without a buffer view are zero, except for their sparse values.
    let indices = file.view(&[2]);
    let values = file.view(&[0., 3., 0f32].map(f32::to_le_bytes).concat());
    let sparse = file.push(
        "accessors",
        json!({"componentType": 5126, "count": 3, "type": "VEC3", "sparse": {
            "count": 1,
            "indices": {"bufferView": indices, "componentType": 5121},
            "values": {"bufferView": values},
        }}),
    );
    file.primitive()["targets"] = json!([{"POSITION": lift}, {"POSITION": sparse, "NORMAL": 0}]);
    file.json["meshes"][0]["name"] = "face".into();
    file.json["nodes"] = json!([{"mesh": 0, "scale": [2, 2, 2]}]);
    file
}

#[test]
fn morph_targets_become_corrections_in_rest_space() {
    let mut file = morphed();
    file.json["meshes"][0]["weights"] = json!([0.5, 0.25]);
    let document = file.read();
    let (skin, ssd) = skin_of(&document);
    let sliders: Vec<_> = skin
        .coefficients
        .iter()
        .map(|c| (&*c.name, c.default))
        .collect();
    assert_eq!(
        sliders,
        [("face.0", 0.5), ("face.1", 0.25)],
        "unnamed, mesh weights"
    );
    let moved: Vec<Vec<(u32, DVec3)>> = (ssd.corrections.iter())
        .map(|c| c.deltas.iter().map(|d| (d.index, d.value)).collect())
        .collect();
    assert_eq!(
        moved,
        [vec![(1, DVec3::Z * 2.0)], vec![(2, DVec3::Y * 6.0)]],
        "scaled like the mesh, zeros left out"
    );
    file.json["meshes"][0]["extras"] = json!({"targetNames": ["smile"]});
    file.json["nodes"][0]["weights"] = json!([1.0]);
    let document = file.read();
    let named = &skin_of(&document).0.coefficients;
    assert_eq!(
        (&*named[0].name, named[0].default),
        ("smile", 1.0),
        "node weights first"
    );
    assert_eq!(
        (&*named[1].name, named[1].default),
        ("face.1", 0.0),
        "the rest is 0"
    );
}

#[test]
fn every_instance_of_a_morphed_mesh_has_its_own_sliders() {
    let mut file = morphed();
    file.push("nodes", json!({"mesh": 0}));
    let input = file.floats("SCALAR", &[0.0, 1.0]);
    let output = file.floats("SCALAR", &[0., 0.25, 0.5, 0.75]);
    let animation = json!({
        "name": "talk",
        "channels": [
            {"sampler": 0, "target": {"node": 1, "path": "weights"}},
            {"sampler": 0, "target": {"path": "pointer"}},
        ],
        "samplers": [{"input": input, "output": output, "interpolation": "STEP"}],
    });
    file.push("animations", animation);
    let document = file.read();
    let (skin, ssd) = skin_of(&document);
    assert_eq!(skin.coefficients.len(), 4, "two for each node");
    let Channel::Coefficients(first, keys) = &document.clips[0].channels[0] else {
        panic!("coefficients");
    };
    assert_eq!(*first, 2, "those of the second node");
    assert_eq!(keys.values, [[0., 0.25], [0.5, 0.75]], "one list per key");
    assert_eq!(document.clips[0].channels.len(), 1, "no node, no channel");
    assert_eq!(ssd.corrections[2].deltas[0].value, DVec3::Z, "not scaled");
    let pose = skin.sample(&document.clips[0], 1.0);
    assert_eq!(pose.coefficients, [0., 0., 0.5, 0.75], "as the clip says");
}
