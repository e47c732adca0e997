//! Skins that plain glTF cannot hold survive a file to single precision; when damaged, the stand-in is read.

use std::path::Path;

use dermis::clip::Channel;
use dermis::fit::{SsdOptions, fit_pseudo_bones, plain_fallback};
use dermis::joint::{JointStatistics, joint_statistics};
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::rig::{DerivedBone, DerivedMotion};
use dermis::skin::{
    DualQuaternionProgram, Influence, LinearProgram, MultiWeight, MultiWeightProgram, PlacedBones,
    PlayableOptions, PoseClip, SsdProgram, to_playable,
};
use dermis::synth::{ArmOptions, Tube, TubeOptions, arm, tube};
use dermis::{BoneId, Clip, Pose, Skin, VertexProgram};
use dermis_io::gltf::{read, to_glb};
use dermis_io::{Document, FallbackError, SkinRecord};
use glam::{DAffine3, DQuat, DVec3, DVec4};

use crate::support::glb_json::{json_of, with_json};

const TUBE: TubeOptions = TubeOptions {
    ring_count: 14,
    segment_count: 6,
    bone_count: 6,
    example_count: 6,
};

fn poses(tube: &Tube) -> Vec<Pose> {
    let examples = tube.examples.examples().iter();
    examples.map(|e| e.pose.clone()).collect()
}

fn ssd(skin: &Skin) -> &SsdProgram {
    match &skin.program {
        VertexProgram::Ssd(ssd) => ssd,
        other => panic!("expected linear blend, found {}", other.name()),
    }
}

/// The tube's vectors, disturbed, with a bone more for every third vertex; five bones for the first.
fn animation_space(tube: &Tube) -> Skin {
    let mut skin = tube.truth.to_linear().expect("linear blend is linear");
    let VertexProgram::Linear(linear) = &skin.program else {
        panic!("it is linear now");
    };
    let rows = linear.influences.iter().enumerate().map(|(i, row)| {
        let mut row = row.to_vec();
        let push = |k: usize| DVec3::new((i + k) as f64, 2.0 * i as f64, k as f64).map(f64::sin);
        for (k, influence) in row.iter_mut().enumerate() {
            influence.p += (0.02 * push(k)).extend(0.0);
        }
        let more = match i {
            0 => 1..6,
            _ if i.is_multiple_of(3) => 5..6,
            _ => 0..0,
        };
        for bone in more {
            if row.iter().all(|influence| influence.bone.0 != bone) {
                row[0].p.w += 0.03;
                let p = (0.01 * push(9)).extend(-0.03);
                let bone = BoneId(bone);
                row.push(Influence { bone, p });
            }
        }
        row
    });
    skin.program = VertexProgram::Linear(LinearProgram {
        influences: rows.collect(),
        corrections: Vec::new(),
    });
    skin
}

fn multi_weight(tube: &Tube) -> Skin {
    let plain = ssd(&tube.truth);
    let influences = plain.weights.iter().enumerate().map(|(i, row)| {
        let twelve = |w: &dermis::skin::Weight| {
            let entry = |n: usize| w.weight + 0.02 * ((i + 5 * n) as f64).sin();
            MultiWeight {
                bone: w.bone,
                weights: [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| entry(4 * r + c))),
            }
        };
        row.iter().map(twelve).collect::<Vec<_>>()
    });
    let program = MultiWeightProgram {
        rest_positions: plain.rest_positions.clone(),
        influences: influences.collect(),
        corrections: Vec::new(),
    };
    Skin {
        program: VertexProgram::MultiWeight(program),
        ..tube.truth.clone()
    }
}

fn dual_quaternion(tube: &Tube) -> Skin {
    let weighted = ssd(&tube.truth).clone();
    Skin {
        program: VertexProgram::DualQuaternion(DualQuaternionProgram { weighted }),
        ..tube.truth.clone()
    }
}

fn document(tube: &Tube, skin: Skin) -> Document {
    let plain = plain_fallback(&skin, &poses(tube), 4, &Silent).expect("it fits");
    let mesh = tube.examples.rest().clone();
    Document {
        draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        mesh,
        skin: Some(skin),
        fallback: Some(plain.program),
        record: Some(SkinRecord {
            fallback: Some(FallbackError {
                rms: plain.rms_error,
                max: plain.max_error,
            }),
            ..SkinRecord::default()
        }),
        ..Document::default()
    }
}

fn bytes(document: &Document) -> Vec<u8> {
    to_glb(document).expect("the document is sound")
}

fn round_trip(document: &Document) -> Document {
    read(Path::new("t.glb"), &bytes(document)).expect("our own file")
}

/// Largest distance between two skins of as many points, over the tube's poses.
fn difference(tube: &Tube, a: &Skin, b: &Skin) -> f64 {
    let mut most = 0.0f64;
    for pose in poses(tube) {
        let (a, b) = (a.evaluate(&pose), b.evaluate(&pose));
        let (a, b) = (a.expect("it fits"), b.expect("it fits"));
        assert_eq!(a.len(), b.len(), "as many points");
        most = a
            .iter()
            .zip(&b)
            .fold(most, |m, (a, b)| m.max(a.distance(*b)));
    }
    most
}

#[test]
fn every_kind_of_skin_survives_a_file_to_single_precision() {
    let tube = tube(&TUBE);
    for (skin, kind) in [
        (animation_space(&tube), "linear"),
        (multi_weight(&tube), "multi-weight"),
        (dual_quaternion(&tube), "dual-quaternion"),
    ] {
        let document = document(&tube, skin.clone());
        let back = round_trip(&document);
        assert!(back.notes.is_empty(), "{kind:?}: {:?}", back.notes);
        let found = back.skin.as_ref().expect("it has a skin");
        assert_eq!(found.program.name(), skin.program.name(), "its kind");
        let off = difference(&tube, &skin, found);
        assert!(off < 2e-6, "{kind:?} is off by {off:.2e}");
        assert!(off > 0.0, "{kind:?}: single precision rounds");
        let record = back.record.as_ref().expect("it has a block");
        let json = json_of(&bytes(&document));
        let block = &json["skins"][0]["extensions"]["DERMIS_skin"];
        assert_eq!(block["program"], kind, "the block says so");
        let wanted = document.record.as_ref().and_then(|r| r.fallback);
        let (found_error, wanted) = (record.fallback, wanted.expect("it was measured"));
        let off = found_error.map_or(1.0, |error| (error.max - wanted.max).abs());
        assert!(off < 1e-15, "its error: {found_error:?}");
        // Writing and reading again changes nothing.
        assert_eq!(
            bytes(&back),
            bytes(&round_trip(&back)),
            "{kind:?} is stable"
        );
        if kind != "dual-quaternion" {
            let (given, found) = (document.fallback, back.fallback);
            let (given, found) = (given.expect("made"), found.expect("read"));
            let with = |program| Skin {
                program: VertexProgram::Ssd(program),
                ..skin.clone()
            };
            let off = difference(&tube, &with(given), &with(found));
            assert!(off < 2e-6, "{kind:?}: the stand-in is off by {off:.2e}");
        }
    }
}

/// Splits every corner, so that the reader must join vertices to points.
fn split(document: &mut Document) {
    let part = &mut document.draw.parts[0];
    part.points = part.triangles.as_flattened().to_vec();
    let corners: Vec<u32> = (0..part.points.len() as u32).collect();
    part.triangles = corners.as_chunks().0.to_vec();
}

#[test]
fn split_vertices_are_joined_by_number_and_without_numbers() {
    let tube = tube(&TUBE);
    for skin in [animation_space(&tube), multi_weight(&tube)] {
        let mut document = document(&tube, skin.clone());
        split(&mut document);
        let back = round_trip(&document);
        assert!(back.notes.is_empty(), "{:?}", back.notes);
        let found = back.skin.as_ref().expect("it has a skin");
        let off = difference(&tube, &skin, found);
        assert!(off < 2e-6, "off by {off:.2e}");

        let renamed = renamed(&bytes(&document), |name| match name {
            "_ORIG" => None,
            other => Some(other.to_owned()),
        });
        let back = read(Path::new("t.glb"), &renamed).expect("legal");
        let count = back.skin.expect("it has a skin").vertex_count();
        assert_eq!(
            count,
            skin.vertex_count(),
            "joined by position and influences"
        );
    }
}

#[test]
fn points_at_one_place_that_move_apart_stay_apart() {
    let tube = tube(&TUBE);
    let mut skin = animation_space(&tube);
    let VertexProgram::Linear(linear) = &mut skin.program else {
        panic!("it is animation space");
    };
    let mut rows: Vec<Vec<Influence>> = linear.influences.iter().map(<[_]>::to_vec).collect();
    let mut other = rows[20].clone();
    other[0].p += DVec4::new(0.01, 0.0, 0.0, 0.0);
    rows[21] = other;
    linear.influences = rows.into_iter().collect();
    let mut document = document(&tube, skin);
    let plain = document.fallback.as_mut().expect("it was made");
    plain.rest_positions[21] = plain.rest_positions[20];
    let mut rows: Vec<_> = plain.weights.iter().map(<[_]>::to_vec).collect();
    rows[21] = rows[20].clone();
    plain.weights = rows.into_iter().collect();
    let count = document.mesh.vertex_count();
    let without_numbers = renamed(&bytes(&document), |name| {
        (name != "_ORIG").then(|| name.to_owned())
    });
    let back = read(Path::new("t.glb"), &without_numbers).expect("legal");
    assert_eq!(back.mesh.vertex_count(), count, "20 and 21 are two points");
}

/// A GLB with its attributes renamed, or left out where the answer is none.
fn renamed(glb: &[u8], rename: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let mut json = json_of(glb);
    for mesh in json["meshes"].as_array_mut().expect("meshes") {
        for primitive in mesh["primitives"].as_array_mut().expect("primitives") {
            let attributes = primitive["attributes"].as_object().expect("attributes");
            let kept: serde_json::Map<_, _> = attributes
                .iter()
                .filter_map(|(name, value)| Some((rename(name)?, value.clone())))
                .collect();
            primitive["attributes"] = kept.into();
        }
    }
    with_json(glb, &json)
}

#[test]
fn lower_case_names_are_read_and_the_plain_skin_where_some_are_missing() {
    let tube = tube(&TUBE);
    let document = document(&tube, animation_space(&tube));
    let glb = bytes(&document);
    let lower = renamed(&glb, |name| match name.starts_with('_') {
        true => Some(name.to_ascii_lowercase()),
        false => Some(name.to_owned()),
    });
    let back = read(Path::new("t.glb"), &lower).expect("legal");
    assert!(
        matches!(
            back.skin.as_ref().map(|s| &s.program),
            Some(VertexProgram::Linear(_))
        ),
        "{:?}",
        back.notes
    );
    assert!(back.draw.parts[0].custom.is_empty(), "none is left over");

    for (missing, why) in [
        ("_AS_1", "_AS_1 is missing"),
        ("_AS_0", "_AS_0 is missing"),
        ("_ASJ_0", "do not belong together"),
        ("_ASJ_1", "do not belong together"),
        ("_AS_4", "_AS_4 is missing"),
        ("_AS_5", "the weights of vertex 0 sum to"),
    ] {
        let damaged = renamed(&glb, |name| (name != missing).then(|| name.to_owned()));
        let back = read(Path::new("t.glb"), &damaged).expect("the plain part is legal");
        let skin = back.skin.expect("it has a skin");
        ssd(&skin);
        assert!(back.fallback.is_none(), "the stand-in is the skin now");
        let said = back.notes.iter().any(|note| note.contains(why));
        let kind = back
            .notes
            .iter()
            .any(|note| note.contains("a ssd skin was read"));
        assert!(said && kind, "without {missing}: {:?}", back.notes);
        assert!(back.record.is_some(), "the block is there");
    }
}

#[test]
fn the_plain_skin_is_read_when_the_exact_model_is_far_from_it_at_rest() {
    let tube = tube(&TUBE);
    // Like a tool that sorts the joints and renumbers them in the plain part, but not in custom attributes.
    let mut renumbered = document(&tube, animation_space(&tube));
    let skin = renumbered.skin.as_mut().expect("it has a skin");
    let VertexProgram::Linear(linear) = &mut skin.program else {
        panic!("it is animation space");
    };
    let turned = |i: &Influence| Influence {
        bone: BoneId(5 - i.bone.0),
        p: i.p,
    };
    let rows = linear.influences.iter().map(|row| row.iter().map(turned));
    linear.influences = rows.collect();
    // Like a tool that moves rest positions to other units and adjusts the bind matrices.
    let mut scaled = document(&tube, multi_weight(&tube));
    let plain = scaled.fallback.as_mut().expect("it was made");
    plain.rest_positions.iter_mut().for_each(|p| *p *= 100.0);
    for document in [renumbered, scaled] {
        let back = round_trip(&document);
        assert!(
            back.notes.iter().any(|note| note.contains("at rest it is")),
            "{:?}",
            back.notes
        );
        ssd(back.skin.as_ref().expect("it has a skin"));
    }
}

#[test]
fn bones_in_the_block_are_joints_of_the_file() {
    let tube = tube(&TUBE);
    // Two roots: the file gets a node above them, which does not become a bone when read.
    let mut skin = tube.truth.clone();
    let mut bones = skin.skeleton.bones().to_vec();
    bones[3].parent = None;
    bones[5].parent = Some(BoneId(3));
    skin.skeleton = dermis::Skeleton::new(bones).expect("two chains");
    skin.pose_program.placed = PlacedBones::Derived(vec![
        DerivedBone {
            bone: BoneId(4),
            of: BoneId(1),
            motion: DerivedMotion::Swell { gain: 0.5 },
        },
        DerivedBone {
            bone: BoneId(5),
            of: BoneId(3),
            motion: DerivedMotion::Swell { gain: 0.25 },
        },
    ]);
    let statistics = JointStatistics {
        bone: BoneId(2),
        pose_count: 7,
        mean_parent_from_bone: DAffine3::IDENTITY,
        translation_deviation: 0.0,
        translation_radius: Some(0.0),
        linear_square: None,
        mirrored: false,
        mean_rotation: DQuat::IDENTITY,
        rotation_min_rad: DVec3::ZERO,
        rotation_max_rad: DVec3::ONE,
        max_angle_rad: 1.0,
        hinge: None,
        scale_range: [1.0, 1.0],
    };
    let mut document = document(&tube, skin.clone());
    document.record = None;
    assert!(
        round_trip(&document).record.is_some(),
        "derived bones are kept even without a record"
    );
    document.record = Some(SkinRecord {
        joints: vec![statistics.clone()],
        ..SkinRecord::default()
    });
    let back = round_trip(&document);
    assert!(back.notes.is_empty(), "{:?}", back.notes);
    let found = back.skin.as_ref().expect("it has a skin");
    assert_eq!(found.skeleton.bone_count(), 6, "none for both roots");
    let name = |skin: &Skin, bone: BoneId| skin.skeleton.bones()[bone.index()].name.clone();
    for (found_bone, given) in found
        .pose_program
        .derived()
        .iter()
        .zip(skin.pose_program.derived())
    {
        assert_eq!(found_bone.motion, given.motion, "how it moves");
        assert_eq!(
            name(found, found_bone.bone),
            name(&skin, given.bone),
            "which"
        );
        assert_eq!(
            name(found, found_bone.of),
            name(&skin, given.of),
            "whose joint"
        );
    }
    assert_eq!(found.pose_program.derived().len(), 2, "both");
    let record = back.record.as_ref().expect("it has a block");
    assert_eq!(name(found, record.joints[0].bone), "bone_2", "by joint");
    assert_eq!(record.joints[0].pose_count, 7, "as it was");
    let again = round_trip(&back);
    assert_eq!(again.skin, back.skin, "and again");
    assert_eq!(again.record, back.record, "and again");
}

#[test]
fn carriers_are_not_joints_and_every_bone_number_is_translated() {
    let tube = tube(&TUBE);
    let mut sheared = poses(&tube);
    for pose in &mut sheared {
        pose.parent_from_bone[1].matrix3.y_axis.x += 0.4;
        pose.parent_from_bone[3].matrix3.x_axis.z -= 0.3;
    }
    let clip = PoseClip {
        name: "shear".to_owned(),
        poses: &sheared,
        frames_per_second: 10.0,
    };
    for skin in [
        tube.truth.clone(),
        animation_space(&tube),
        multi_weight(&tube),
        dual_quaternion(&tube),
    ] {
        let name = skin.program.name();
        let clips = std::slice::from_ref(&clip);
        let playable = to_playable(&skin, clips, &PlayableOptions::default()).expect("sound");
        let frames: Vec<Pose> = (0..sheared.len())
            .map(|k| playable.skin.sample(&playable.clips[0], k as f64 / 10.0))
            .collect();
        let mut document = document(&tube, tube.truth.clone());
        let plain = plain_fallback(&playable.skin, &frames, 4, &Silent).expect("it fits");
        document.fallback = Some(plain.program);
        document.clips = playable.clips.clone();
        // Statistics of the last bone alone: those of a carrier would make it a joint.
        let statistics = joint_statistics(&playable.skin.skeleton, &frames);
        let last = statistics.into_iter().filter(|s| s.bone.0 == 7).collect();
        document.record = Some(SkinRecord {
            joints: last,
            ..SkinRecord::default()
        });
        document.skin = Some(playable.skin.clone());
        let back = round_trip(&document);
        assert!(back.notes.is_empty(), "{name}: {:?}", back.notes);
        assert_eq!(
            back.facts.joints_of_skin,
            [6],
            "{name}: two carriers of eight"
        );
        let found = back.skin.as_ref().expect("it has a skin");
        assert_eq!(found.program.name(), name, "the exact model");
        let skeletons = [&playable.skin.skeleton, &found.skeleton];
        let names = skeletons.map(|s| s.bones().iter().map(|b| &*b.name).collect::<Vec<_>>());
        assert_eq!(names[0], names[1], "{name}");
        for bone in found.skeleton.ids() {
            let carriers = skeletons.map(|s| s.is_carrier(bone));
            assert_eq!(carriers[0], carriers[1], "{name}: bone {}", bone.0);
        }
        for (k, pose) in sheared.iter().enumerate() {
            let wanted = skin.evaluate(pose).expect("it fits");
            let sampled = found.sample(&back.clips[0], k as f64 / 10.0);
            let shown = found.evaluate(&sampled).expect("it fits");
            for (a, b) in wanted.iter().zip(&shown) {
                assert!(a.distance(*b) < 1e-4, "{name}, frame {k}: {a} against {b}");
            }
        }
        let record = back.record.as_ref().expect("it has a block");
        assert_eq!(
            record.joints[0].bone,
            BoneId(7),
            "{name}: joint 5 is bone 7"
        );
        let again = round_trip(&back);
        assert_eq!(again.skin, back.skin, "{name}: and again");
    }
}

#[test]
fn normals_follow_a_rest_mesh_that_was_fitted() {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    let mesh = dermis::TriMesh::new(corners.clone(), vec![[0, 1, 2]]).expect("a triangle");
    let turn = DQuat::from_rotation_x(1.0);
    let bone = ("bone".to_owned(), None, DAffine3::IDENTITY);
    let skeleton = dermis::Skeleton::from_rest_frames([bone]).expect("one bone");
    let mut weights = dermis::Rows::default();
    for _ in 0..3 {
        let (bone, weight) = (BoneId(0), 1.0);
        weights.push_row([dermis::skin::Weight { bone, weight }]);
    }
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions: corners.iter().map(|p| turn * *p).collect(),
        weights,
        corrections: Vec::new(),
    });
    let mut draw = DrawMesh::plain("sheet", 3, mesh.triangles());
    // Not the smooth normal: the file's own, leaning over.
    let leaning = DVec3::new(0.0, 0.6, 0.8);
    draw.parts[0].normals = vec![leaning.as_vec3().to_array(); 3];
    let document = Document {
        mesh,
        draw,
        skin: Some(Skin::new(skeleton, program, Vec::new()).expect("sound")),
        ..Document::default()
    };
    for normal in &round_trip(&document).draw.parts[0].normals {
        let found = glam::Vec3::from(*normal).as_dvec3();
        assert!(
            found.distance(turn * leaning) < 1e-6,
            "turned alike: {found}"
        );
    }
}

#[test]
fn the_writer_bakes_derived_bones_into_a_clip_of_the_posed_ones() {
    let set = arm(&ArmOptions::default()).examples;
    let training: Vec<usize> = (0..set.examples().len()).collect();
    let options = SsdOptions::default();
    let fitted = fit_pseudo_bones(&set, &training, &options, &Silent).expect("it fits");
    let skin = fitted.skin;
    let posed = skin.posed_bone_count();
    assert!(posed < skin.skeleton.bone_count(), "some bones are derived");
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let clip = Clip::from_poses("arm", set.skeleton(), &poses, 24.0).expect("rigid poses");
    let document = Document {
        mesh: set.rest().clone(),
        skin: Some(skin.clone()),
        clips: vec![clip.clone()],
        ..Document::default()
    };
    let back = round_trip(&document);
    let moves_derived =
        |channel: &Channel| channel.bone().is_some_and(|bone| bone.index() >= posed);
    let channels = &back.clips[0].channels;
    assert!(channels.iter().any(moves_derived), "they have keys");
    // A player without pose programs shows the same.
    let plain = back
        .skin
        .as_ref()
        .expect("it has a skin")
        .without_pose_program();
    let diagonal = set.rest().bounds().diagonal();
    for time in [0.0, 0.4, 1.0] {
        let shown = plain.evaluate(&plain.sample(&back.clips[0], time));
        let wanted = skin.evaluate(&skin.sample(&clip, time));
        let pairs = shown
            .expect("it fits")
            .into_iter()
            .zip(wanted.expect("it fits"));
        let off = pairs.map(|(a, b)| a.distance(b)).fold(0.0, f64::max) / diagonal;
        assert!(off < 1e-4, "{off} of the diagonal at {time} s");
    }
}
