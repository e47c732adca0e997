//! Skins whose morph targets are driven by the pose keep working drivers in a file.

use std::path::Path;

use dermis::clip::{Channel, Interpolation, Keys};
use dermis::fit::plain_fallback;
use dermis::mesh::{DrawMesh, DrawPart};
use dermis::pose_space::{Center, Control, Driver, JointTurn, Kernel};
use dermis::progress::Silent;
use dermis::skin::{
    Coefficient, Delta, DualQuaternionProgram, Influence, LinearProgram, MultiWeight,
    MultiWeightProgram, SsdProgram,
};
use dermis::synth::{TubeOptions, tube};
use dermis::{BoneId, Clip, Pose, Skin, TriMesh, VertexProgram};
use dermis_io::Document;
use dermis_io::gltf::{read, to_glb};
use glam::{DAffine3, DQuat, DVec3};
use serde_json::{Value, json};

use crate::support;
use crate::support::glb_json::{json_of, with_json};

/// A tube of four bones.
fn base() -> (TriMesh, Skin) {
    let tube = tube(&TubeOptions {
        ring_count: 14,
        segment_count: 6,
        bone_count: 4,
        example_count: 1,
    });
    (tube.examples.rest().clone(), tube.truth)
}

fn ssd(skin: &Skin) -> SsdProgram {
    match &skin.program {
        VertexProgram::Ssd(ssd) => ssd.clone(),
        other => panic!("expected linear blend, found {}", other.name()),
    }
}

/// The tube as every kind of program; animation space and multi-weight are not linear blends.
fn programs(skin: &Skin) -> Vec<VertexProgram> {
    let weighted = ssd(skin);
    let linear = weighted.to_linear(&skin.skeleton);
    let rows = linear.influences.iter().enumerate().map(|(i, row)| {
        let moved = move |influence: &Influence| Influence {
            p: influence.p + (0.02 * DVec3::splat(i as f64).map(f64::sin)).extend(0.0),
            ..*influence
        };
        row.iter().map(moved)
    });
    let twelve = weighted.weights.iter().enumerate().map(|(i, row)| {
        let twelve = move |w: &dermis::skin::Weight| {
            let entry = |n: usize| w.weight + 0.02 * ((i + 5 * n) as f64).sin();
            MultiWeight {
                bone: w.bone,
                weights: [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| entry(4 * r + c))),
            }
        };
        row.iter().map(twelve)
    });
    vec![
        VertexProgram::Ssd(weighted.clone()),
        VertexProgram::Linear(LinearProgram {
            influences: rows.collect(),
            corrections: Vec::new(),
        }),
        VertexProgram::MultiWeight(MultiWeightProgram {
            rest_positions: weighted.rest_positions.clone(),
            influences: twelve.collect(),
            corrections: Vec::new(),
        }),
        VertexProgram::DualQuaternion(DualQuaternionProgram { weighted }),
    ]
}

fn shape(vertices: std::ops::Range<u32>, value: DVec3) -> Vec<Delta<DVec3>> {
    let delta = |index: u32| Delta {
        index,
        value: value * (1.0 + f64::from(index % 5)),
    };
    vertices.map(delta).collect()
}

fn center(name: &str, point: &[f64], falloffs: &[f64]) -> Center {
    Center {
        name: name.to_owned(),
        point: point.to_vec(),
        falloffs: falloffs.to_vec(),
    }
}

fn joint(bone: u16, turn: JointTurn) -> Control {
    Control::Joint {
        bone: BoneId(bone),
        turn,
    }
}

/// Adds two sliders with shapes, one without a shape, and drivers of every kernel and control.
fn with_drivers(mut skin: Skin) -> Skin {
    let count = skin.vertex_count() as u32;
    let first = skin.coefficients.len();
    let sliders = [("swell", 0.5), ("tip", 0.0), ("load", 0.25)];
    let named = sliders.map(|(name, default)| Coefficient {
        name: name.to_owned(),
        default,
    });
    skin.coefficients.extend(named);
    let shapes = vec![
        shape(0..count, DVec3::new(0.0, 0.01, -0.02)),
        shape(count - 8..count, DVec3::new(0.05, 0.0, 0.0)),
        Vec::new(),
    ];
    skin.program.push_corrections(&skin.skeleton, shapes);
    let slider = |k: usize| Control::Slider {
        coefficient: first + k,
    };
    let elbow = Driver {
        name: "elbow".to_owned(),
        controls: vec![joint(1, JointTurn::Hinge { axis: DVec3::Z }), slider(2)],
        kernel: Kernel::Gaussian,
        centers: vec![
            center("bent", &[1.0, 1.0], &[0.6, 0.7]),
            center("rest", &[0.0, 0.0], &[0.5, 0.5]),
        ],
        weights: vec![vec![1.1, -0.2], vec![0.3, 0.4]],
        linear: Vec::new(),
    };
    let wrist = Driver {
        name: "wrist".to_owned(),
        controls: vec![
            joint(3, JointTurn::SwingTwist { axis: DVec3::X }),
            joint(2, JointTurn::Free),
            joint(1, JointTurn::Swing { axis: DVec3::Y }),
        ],
        kernel: Kernel::Shepard { power: 2.5 },
        centers: vec![
            center("a", &[0.4, 0.1, 0.2, 0.0, 0.3, 0.1, 0.0, 0.5], &[1.0; 3]),
            center("b", &[0.0; 8], &[0.8; 3]),
        ],
        weights: vec![vec![0.7, -0.3]],
        linear: vec![vec![0.2, 0.1, 0.0, 0.3, 0.0, 0.0, -0.2, 0.0, 0.1]],
    };
    let corner = Driver {
        name: "corner".to_owned(),
        controls: vec![slider(0), slider(1)],
        kernel: Kernel::Superposition,
        centers: vec![center("both", &[1.0, 1.0], &[1.0, 1.0])],
        weights: vec![vec![1.0]],
        linear: Vec::new(),
    };
    let name = |name: &str| name.to_owned();
    let half = count / 2;
    let all = [
        (
            elbow,
            vec![name("bent"), name("nothing")],
            vec![
                // Over the border of the two meshes that the tube is cut into.
                shape(half - 20..half + 20, DVec3::new(0.02, 0.03, 0.0)),
                Vec::new(),
            ],
        ),
        (
            wrist,
            vec![name("crease")],
            vec![shape(count - 30..count, DVec3::new(0.0, 0.0, 0.04))],
        ),
        (
            corner,
            vec![name("swell+tip")],
            vec![shape(0..9, DVec3::new(-0.03, 0.0, 0.02))],
        ),
    ];
    for (driver, names, shapes) in all {
        skin.push_driver(driver, names, shapes).expect("it fits");
    }
    skin
}

/// The bones at some time in a motion that moves every joint.
fn bones_at(skin: &Skin, t: f64) -> Vec<DAffine3> {
    let turned = |(j, rest): (usize, &DAffine3)| {
        let j = j as f64;
        let turn = DVec3::new(
            (t + j).sin(),
            (2.0 * t - j).cos(),
            (3.0 * t + 2.0 * j).sin(),
        );
        *rest * DAffine3::from_quat(DQuat::from_scaled_axis(0.7 * turn))
    };
    let rest = skin.skeleton.rest_pose().parent_from_bone;
    rest.iter().enumerate().map(turned).collect()
}

/// The largest distance between two skins in the same poses, with sliders matched by name.
fn difference(a: &Skin, b: &Skin) -> f64 {
    assert_eq!(a.vertex_count(), b.vertex_count(), "as many points");
    let mut most = 0.0f64;
    for k in 0..30 {
        let bones = bones_at(a, f64::from(k));
        let pose = |skin: &Skin| {
            let posed = &skin.coefficients[..skin.posed_coefficient_count()];
            let value = |c: &Coefficient| (f64::from(k) + c.name.len() as f64).sin().abs();
            Pose {
                parent_from_bone: bones.clone(),
                coefficients: posed.iter().map(value).collect(),
            }
        };
        let [a, b] = [a, b].map(|skin| skin.evaluate(&pose(skin)).expect("it fits"));
        let off = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
        most = off.fold(most, f64::max);
    }
    most
}

/// A clip with three keys for bones and two for all sliders; a file gets further keys for driven coefficients.
fn clip(skin: &Skin) -> Clip {
    let times = vec![0.0, 0.5, 1.0];
    let rotations = skin.skeleton.ids().map(|bone| {
        let values = times.iter().map(|t| {
            let local = bones_at(skin, 2.0 * t)[bone.index()];
            DQuat::from_mat3(&local.matrix3)
        });
        let keys = Keys {
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values: values.collect(),
        };
        Channel::Rotation(bone, keys)
    });
    let all = |value: f64| vec![value; skin.posed_coefficient_count()];
    let sliders = Keys {
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![all(0.0), all(1.0)],
    };
    let mut channels: Vec<Channel> = rotations.collect();
    channels.push(Channel::Coefficients(0, sliders));
    Clip {
        name: "move".to_owned(),
        channels,
    }
}

/// The skin with drivers in a document, as one mesh or as two that share a ring of points.
fn document(mesh: &TriMesh, base: &Skin, two_meshes: bool) -> Document {
    let fallback = match &base.program {
        VertexProgram::Linear(_) | VertexProgram::MultiWeight(_) => {
            let poses: Vec<Pose> = (0..20)
                .map(|k| Pose::new(bones_at(base, f64::from(k))))
                .collect();
            Some(
                plain_fallback(base, &poses, 4, &Silent)
                    .expect("it fits")
                    .program,
            )
        }
        _ => None,
    };
    let skin = with_drivers(base.clone());
    let draw = match two_meshes {
        false => DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        true => {
            let half = mesh.triangles().len() / 2;
            let (lower, upper) = mesh.triangles().split_at(half);
            DrawMesh {
                parts: vec![split("lower", lower), split("upper", upper)],
            }
        }
    };
    Document {
        mesh: mesh.clone(),
        draw,
        clips: vec![clip(&skin)],
        skin: Some(skin),
        fallback,
        ..Document::default()
    }
}

/// A part in which every corner is a vertex of its own.
fn split(name: &str, triangles: &[[u32; 3]]) -> DrawPart {
    let points = triangles.as_flattened().to_vec();
    let corners: Vec<u32> = (0..points.len() as u32).collect();
    DrawPart {
        mesh_name: name.to_owned(),
        triangles: corners.as_chunks().0.to_vec(),
        points,
        ..DrawPart::default()
    }
}

fn bytes(document: &Document) -> Vec<u8> {
    to_glb(document).expect("the document is sound")
}

fn round_trip(document: &Document) -> Document {
    read(Path::new("t.glb"), &bytes(document)).expect("our own file")
}

fn names(skin: &Skin) -> Vec<&str> {
    skin.coefficients.iter().map(|c| &*c.name).collect()
}

#[test]
fn drivers_work_after_a_file_for_every_kind_of_skin() {
    let (mesh, plain) = base();
    for program in programs(&plain) {
        let kind = program.name();
        let base = Skin {
            program,
            ..plain.clone()
        };
        for two_meshes in [false, true] {
            let document = document(&mesh, &base, two_meshes);
            let given = document.skin.as_ref().expect("it has a skin");
            let back = round_trip(&document);
            assert!(back.notes.is_empty(), "{kind}: {:?}", back.notes);
            let found = back.skin.as_ref().expect("it has a skin");
            assert_eq!(found.program.name(), kind, "the exact model");
            assert_eq!(found.coefficients.len(), 7, "{kind}: each name once");
            assert_eq!(
                names(found)[3..],
                ["bent", "nothing", "crease", "swell+tip"],
                "{kind}: driven ones last, in order"
            );
            let off = difference(given, found);
            eprintln!("{kind}, two meshes {two_meshes}: off by {off:.1e}");
            assert!(off < 4e-6, "{kind} is off by {off:.2e}");
            // Between the keys of the clip, where baked weights are only approximate.
            for time in [0.0, 0.137, 0.5, 0.713] {
                let sampled = |skin: &Skin, clip: &Clip| skin.evaluate(&skin.sample(clip, time));
                let a = sampled(given, &document.clips[0]).expect("it fits");
                let b = sampled(found, &back.clips[0]).expect("it fits");
                let off = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
                let off = off.fold(0.0, f64::max);
                assert!(off < 4e-6, "{kind} at {time} s: {off:.2e}");
            }
            assert_eq!(found.pose_program.drivers.len(), 3, "all of them");
            let json = json_of(&to_glb(&document).expect("it is written"));
            let block = &json["skins"][0]["extensions"]["DERMIS_skin"];
            assert_eq!(
                block["drivers"][0]["controls"][1]["name"], "load",
                "by name"
            );
            assert!(
                bytes(&back) == bytes(&round_trip(&back)),
                "{kind}: writing what was read changes nothing any more"
            );
            if let Some(fallback) = &document.fallback {
                let corrections = given.program.rest_corrections(&given.skeleton);
                let with = |program: SsdProgram, skin: &Skin| Skin {
                    program: VertexProgram::Ssd(program),
                    ..skin.clone()
                };
                let given = with(
                    SsdProgram {
                        corrections: corrections.expect("made from displacements"),
                        ..fallback.clone()
                    },
                    given,
                );
                let stand_in = back.fallback.clone().expect("it was written");
                let off = difference(&given, &with(stand_in, found));
                assert!(off < 4e-6, "{kind}: the stand-in is off by {off:.2e}");
            }
        }
    }
}

#[test]
fn a_still_file_shows_the_default_pose_and_sliders_without_shapes_stay() {
    let (mesh, base) = base();
    let mut document = document(&mesh, &base, true);
    document.clips.clear();
    let glb = bytes(&document);
    let json = json_of(&glb);
    let skin = document.skin.as_ref().expect("it has a skin");
    let inputs = skin.run_pose_program(&skin.skeleton.default_pose());
    let expected = inputs.expect("it fits").coefficients;
    let mut seen = Vec::new();
    for mesh in json["meshes"].as_array().expect("meshes") {
        let names = mesh["extras"]["targetNames"].as_array().expect("names");
        let weights = mesh["weights"].as_array().expect("weights");
        for (name, weight) in names.iter().zip(weights) {
            let number = skin.coefficients.iter().position(|c| c.name == *name);
            let number = number.expect("one of ours");
            let off = weight.as_f64().expect("a number") - expected[number];
            assert!(off.abs() < 1e-7, "{name} is off by {off}");
            seen.push(number);
        }
    }
    assert!(expected[5].abs() > 0.05, "a driver is on at rest");
    for number in 0..7 {
        let name = &skin.coefficients[number].name;
        assert!(seen.contains(&number), "{name} has a morph target");
    }
    // Without drivers, a coefficient that moves no vertex gets no morph target.
    document
        .skin
        .as_mut()
        .expect("it has a skin")
        .pose_program
        .drivers
        .clear();
    let targets = round_trip(&document).facts.morph_targets_of_mesh;
    assert!(targets.iter().sum::<usize>() < seen.len(), "{targets:?}");
}

#[test]
fn drivers_that_do_not_fit_are_left_out_with_one_note_and_the_clips_still_play() {
    let (mesh, base) = base();
    let document = document(&mesh, &base, true);
    let glb = bytes(&document);
    let whole = json_of(&glb);
    let place = "/skins/0/extensions/DERMIS_skin/drivers";
    type Damage = (&'static str, &'static str, fn(&mut Value));
    let damages: [Damage; 9] = [
        ("/meshes/0/extras/targetNames/2", "no morph target", |v| {
            *v = json!("renamed")
        }),
        ("/0/outputs/0", "no morph target gone", |v| {
            *v = json!("gone")
        }),
        ("/1/outputs/0", "bent is driven twice", |v| {
            *v = json!("bent")
        }),
        ("/0/outputs", "1 outputs and 2 rows", |v| {
            *v = json!(["bent"])
        }),
        (
            "/0/controls/1/name",
            "it reads coefficient 6, but a pose gives only 3",
            |v| {
                *v = json!("swell+tip");
            },
        ),
        ("/0/controls/0/bone", "there is no joint 4 to read", |v| {
            *v = json!(4)
        }),
        ("/0/controls/0/axis", "is not of length 1", |v| {
            *v = json!([0, 0, 2])
        }),
        ("/1/centers/0/falloffs/0", "not above 0", |v| *v = json!(0)),
        ("/1/weights/0", "1 weights in a row, expected 2", |v| {
            *v = json!([1])
        }),
    ];
    for (path, why, damage) in damages {
        let path = match path.starts_with("/meshes") {
            true => path.to_owned(),
            false => format!("{place}{path}"),
        };
        let mut json = whole.clone();
        damage(json.pointer_mut(&path).expect("the place exists"));
        let back = read(Path::new("t.glb"), &with_json(&glb, &json)).expect("still legal");
        assert_eq!(back.notes.len(), 1, "{path}: {:?}", back.notes);
        assert!(back.notes[0].contains(why), "{path}: {:?}", back.notes);
        let skin = back.skin.as_ref().expect("it has a skin");
        assert!(skin.pose_program.drivers.is_empty(), "{path}: none is left");
        let given = document.skin.as_ref().expect("it has a skin");
        for time in [0.0, 0.5, 1.0] {
            let a = given.evaluate(&given.sample(&document.clips[0], time));
            let b = skin.evaluate(&skin.sample(&back.clips[0], time));
            let (a, b) = (a.expect("it fits"), b.expect("it fits"));
            assert_eq!(a.len(), b.len(), "{path}: as many points");
            let off = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
            let off = off.fold(0.0, f64::max);
            assert!(off < 4e-6, "{path} at {time} s: {off:.2e}");
        }
    }
}

#[test]
fn a_block_of_another_shape_is_ignored() {
    let (mesh, base) = base();
    let document = document(&mesh, &base, false);
    let glb = bytes(&document);
    let mut json = json_of(&glb);
    let drivers = "/skins/0/extensions/DERMIS_skin/drivers";
    *json.pointer_mut(drivers).expect("it is there") = json!(7);
    let back = read(Path::new("t.glb"), &with_json(&glb, &json)).expect("still legal");
    assert!(
        back.notes[0].contains("block was ignored"),
        "{:?}",
        back.notes
    );
    assert!(
        back.skin.expect("it has a skin").pose_program.is_empty(),
        "none"
    );
}

#[test]
fn two_morphs_of_a_real_file_get_a_combination() {
    let Some(path) = support::data("gltf/MorphStressTest.glb") else {
        return;
    };
    let file = std::fs::read(&path).expect("the file opens");
    let mut document = read(&path, &file).expect("the file is legal");
    let skin = document.skin.as_mut().expect("it has morph targets");
    let given_names: Vec<String> = names(skin).into_iter().map(str::to_owned).collect();
    let combination = Driver {
        name: "combination".to_owned(),
        controls: [0, 3]
            .map(|coefficient| Control::Slider { coefficient })
            .to_vec(),
        kernel: Kernel::Superposition,
        centers: vec![center("both", &[1.0, 1.0], &[1.0, 1.0])],
        weights: vec![vec![1.0]],
        linear: Vec::new(),
    };
    let count = skin.vertex_count() as u32;
    let bulge = shape(0..count / 3, DVec3::new(0.1, 0.2, -0.1));
    let only = vec!["both".to_owned()];
    skin.push_driver(combination, only, vec![bulge])
        .expect("it fits");
    let given = skin.clone();
    let back = round_trip(&document);
    assert!(back.notes.is_empty(), "{:?}", back.notes);
    let found = back.skin.as_ref().expect("it has a skin");
    assert_eq!(names(found)[..8], given_names[..], "its own first");
    assert_eq!(names(found)[8], "both", "then the combination");
    let diagonal = document.mesh.bounds().diagonal();
    let off = difference(&given, found) / diagonal;
    eprintln!("morphs with a combination: off by {off:.1e} of the diagonal");
    assert!(off < 2e-6, "off by {off:.2e}");
    // At the corner it is fully there, half-way along both a quarter.
    let driven = |a: f64, b: f64| {
        let mut pose = found.skeleton.default_pose();
        pose.coefficients = vec![a, 0.0, 0.0, b];
        let inputs = found.run_pose_program(&pose).expect("it fits");
        inputs.coefficients[8]
    };
    assert_eq!(
        [driven(1.0, 1.0), driven(0.5, 0.5), driven(1.0, 0.0)],
        [1.0, 0.25, 0.0]
    );
    let clips = document.clips.iter().zip(&back.clips);
    for (a, b) in clips {
        let time = 0.4 * a.start() + 0.6 * a.end();
        let a = given.evaluate(&given.sample(a, time)).expect("it fits");
        let b = found.evaluate(&found.sample(b, time)).expect("it fits");
        let off = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
        let off = off.fold(0.0, f64::max) / diagonal;
        assert!(off < 1e-3, "baking keeps the clip: {off:.2e}");
    }
}

#[test]
fn drivers_are_written_from_the_skin_not_from_the_record() {
    let (mesh, base) = base();
    let mut document = document(&mesh, &base, false);
    document.record = round_trip(&document).record;
    let skin = document.skin.as_mut().expect("it has a skin");
    skin.pose_program.drivers.clear();
    let back = round_trip(&document);
    let skin = back.skin.expect("it has a skin");
    assert!(skin.pose_program.is_empty(), "the skin counts");
    assert!(back.notes.is_empty(), "{:?}", back.notes);
}
