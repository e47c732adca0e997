//! Skins with proxy bones survive a file with their pose program alive.

use std::path::Path;

use dermis::clip::{Channel, Interpolation, Keys};
use dermis::fit::plain_fallback;
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::rig::ProxyBones;
use dermis::skin::{DualQuaternionProgram, PlacedBones};
use dermis::{BoneId, Pose, Skeleton, Skin, TriMesh, VertexProgram};
use dermis_io::gltf::{read, to_glb};
use dermis_io::{Document, WriteOptions};
use glam::{DQuat, DVec3};
use serde_json::{Value, json};

use crate::support::glb_json::{json_of, with_json};
use crate::support::proxy_skins::{ProxyTube, bones_at, clip, proxy_tube};

const SIZE: ProxyTube = ProxyTube {
    rings: 16,
    bones: 4,
    proxies: 9,
    seed: 11,
};

fn document(mesh: &TriMesh, skin: Skin) -> Document {
    Document {
        draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        mesh: mesh.clone(),
        clips: vec![clip(&skin, 13, 24.0)],
        skin: Some(skin),
        ..Document::default()
    }
}

fn sound() -> Document {
    let (mesh, skin) = proxy_tube(&SIZE);
    document(&mesh, skin)
}

fn skin_of(document: &Document) -> &Skin {
    document.skin.as_ref().expect("it has a skin")
}

fn proxies_of(document: &Document) -> &ProxyBones {
    skin_of(document)
        .pose_program
        .proxies()
        .expect("it has proxies")
}

fn bytes(document: &Document) -> Vec<u8> {
    to_glb(document).expect("the document is sound")
}

fn read_back(glb: &[u8]) -> Document {
    read(Path::new("t.glb"), glb).expect("a legal file")
}

fn block(json: &mut Value) -> &mut Value {
    &mut json["skins"][0]["extensions"]["DERMIS_skin"]
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many points");
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// The largest distance between two skins, in poses of the bones that a pose must give.
fn live_difference(a: &Skin, b: &Skin) -> f64 {
    let off = (0..30).map(|k| {
        let pose = Pose::new(bones_at(a, 0.4 * f64::from(k)));
        let [a, b] = [a, b].map(|skin| skin.evaluate(&pose).expect("the pose fits"));
        farthest(&a, &b)
    });
    off.fold(0.0, f64::max)
}

/// The largest distance between the written skin and the document as shown by players without a pose program.
fn played_difference(given: &Document, back: &Document) -> f64 {
    let (skin, other) = (skin_of(given), skin_of(back));
    let mut other = other.clone();
    other.pose_program.placed = PlacedBones::default();
    let off = (0..13).map(|k| {
        let time = f64::from(k) / 24.0;
        let wanted = skin.evaluate(&skin.sample(&given.clips[0], time));
        let shown = other.evaluate(&other.sample(&back.clips[0], time));
        farthest(&wanted.expect("fits"), &shown.expect("fits"))
    });
    off.fold(0.0, f64::max)
}

#[test]
fn proxies_of_many_sizes_are_still_computed_after_reading() {
    for (bones, proxies) in [(1, 1), (3, 5), (12, 60), (40, 100)] {
        let (mesh, skin) = proxy_tube(&ProxyTube {
            rings: 40,
            bones,
            proxies,
            seed: 2,
        });
        let diagonal = mesh.bounds().diagonal();
        let given = document(&mesh, skin);
        let glb = bytes(&given);
        let back = read_back(&glb);
        assert!(back.notes.is_empty(), "{:?}", back.notes);
        let (a, b) = (proxies_of(&given), proxies_of(&back));
        assert_eq!(a.bones, b.bones, "the same bones");
        assert_eq!(a.sources, b.sources, "the same sources");
        let named = |p: &ProxyBones| -> Vec<BoneId> {
            let joints = p.joints.iter().flat_map(|j| [j.bone, j.parent]);
            joints
                .chain(p.patches.iter().flat_map(|g| g.frame.iter().map(|f| f.0)))
                .collect()
        };
        assert_eq!(named(a), named(b), "the same bones are read");
        let live = live_difference(skin_of(&given), skin_of(&back)) / diagonal;
        let played = played_difference(&given, &back) / diagonal;
        let matrices = 4 * (a.from_patches.len() + a.from_sources.len());
        let json = json_of(&glb);
        let record = json["skins"][0]["extensions"]["DERMIS_skin"].to_string();
        eprintln!(
            "{bones} bones, {proxies} proxies: off by {live:.1e} of the diagonal live, {played:.1e} \
             in the clip; {} bytes, of which {matrices} matrices and {} the block",
            glb.len(),
            record.len()
        );
        assert!(live < 1e-6, "{live:.1e} of the diagonal");
        assert!(played < 1e-5, "{played:.1e} of the diagonal in the clip");
        assert!(back.record.is_some(), "it has a block");
        let again = read_back(&bytes(&back));
        let more = live_difference(skin_of(&back), skin_of(&again)) / diagonal;
        assert!(more < 1e-8, "single precision is lost once: {more:.1e}");
    }
}

#[test]
fn a_file_with_its_buffer_beside_it_is_the_same() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("tube.gltf");
    let given = sound();
    dermis_io::write(&path, &given, &WriteOptions::default()).expect("it is written");
    let back = dermis_io::read(&path).expect("our own file");
    assert_eq!(
        proxies_of(&back),
        proxies_of(&read_back(&bytes(&given))),
        "as from a GLB"
    );
    // Without the buffer the proxies cannot be read.
    std::fs::write(folder.path().join("tube.bin"), [0; 64]).expect("a scratch file");
    dermis_io::read(&path).expect_err("the buffer is too short");
}

#[test]
fn proxies_survive_with_every_vertex_program() {
    let (mesh, skin) = proxy_tube(&SIZE);
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("it is linear blend");
    };
    let dual = VertexProgram::DualQuaternion(DualQuaternionProgram {
        weighted: ssd.clone(),
    });
    let linear = VertexProgram::Linear(ssd.to_linear(&skin.skeleton));
    for program in [dual, linear] {
        let skin = Skin {
            program,
            ..skin.clone()
        };
        let poses: Vec<Pose> = (0..8)
            .map(|k| Pose::new(bones_at(&skin, f64::from(k))))
            .collect();
        let mut given = document(&mesh, skin.clone());
        if matches!(skin.program, VertexProgram::Linear(_)) {
            let plain = plain_fallback(&skin, &poses, 4, &Silent).expect("it fits");
            given.fallback = Some(plain.program);
        }
        let back = read_back(&bytes(&given));
        assert!(back.notes.is_empty(), "{:?}", back.notes);
        let name = skin.program.name();
        assert_eq!(skin_of(&back).program.name(), name, "the exact model");
        let off = live_difference(&skin, skin_of(&back)) / mesh.bounds().diagonal();
        eprintln!("{name}: off by {off:.1e} of the diagonal");
        assert!(off < 1e-6, "{name}: {off:.1e} of the diagonal");
    }
}

#[test]
fn carriers_are_not_joints_but_bones_that_proxies_read_are() {
    let mut given = sound();
    let skin = given.skin.as_mut().expect("it has a skin");
    // No vertex is bound to the root or to bone 1; proxies read both.
    let carriers = [0, 1]
        .map(BoneId)
        .into_iter()
        .chain(skin.skeleton.ids().filter(|b| skin.skeleton.is_carrier(*b)));
    let carriers: Vec<BoneId> = carriers.collect();
    skin.skeleton = Skeleton::new(skin.skeleton.bones().to_vec())
        .expect("as before")
        .with_carriers(carriers);
    if let VertexProgram::Ssd(ssd) = &mut skin.program {
        let rows = ssd.weights.iter().map(|row| {
            let moved = |w: &dermis::skin::Weight| dermis::skin::Weight {
                bone: w.bone.max(BoneId(2)),
                ..*w
            };
            row.iter().map(moved).collect::<Vec<_>>()
        });
        ssd.weights = rows.collect();
    }
    let back = read_back(&bytes(&given));
    assert!(back.notes.is_empty(), "{:?}", back.notes);
    assert_eq!(
        back.facts.joints_of_skin,
        [4 + 9],
        "all posed bones and proxies, no carriers"
    );
    let off = live_difference(skin_of(&given), skin_of(&back));
    assert!(off < 1e-6, "off by {off:.1e}");
}

#[test]
fn a_still_file_shows_the_default_pose() {
    let mut given = sound();
    given.clips.clear();
    let skin = given.skin.as_mut().expect("it has a skin");
    let mut bones = skin.skeleton.bones().to_vec();
    for bone in &mut bones[1..4] {
        bone.default_parent_from_bone.rotation = DQuat::from_scaled_axis(DVec3::new(0.3, 0.8, 0.2));
    }
    let carriers: Vec<BoneId> = (skin.skeleton.ids())
        .filter(|bone| skin.skeleton.is_carrier(*bone))
        .collect();
    // The default transforms of the proxies are not updated.
    skin.skeleton = Skeleton::new(bones)
        .expect("as before")
        .with_carriers(carriers);
    let back = read_back(&bytes(&given));
    let mut plain = skin_of(&back).clone();
    plain.pose_program.placed = PlacedBones::default();
    let wanted = skin_of(&given).evaluate(&skin_of(&given).skeleton.default_pose());
    let shown = plain.evaluate(&plain.skeleton.default_pose());
    let off = farthest(&wanted.expect("fits"), &shown.expect("fits"));
    assert!(
        off < 1e-5 * given.mesh.bounds().diagonal(),
        "off by {off:.1e}"
    );
    let rest = farthest(
        &plain
            .evaluate(&plain.skeleton.default_pose())
            .expect("fits"),
        given.mesh.positions(),
    );
    assert!(rest > 0.1, "and that is not the rest pose: {rest}");
}

#[test]
fn the_writer_bakes_proxies_into_clips_over_any_keys_they_had() {
    let mut given = sound();
    let expected = bytes(&given);
    let baked = skin_of(&given).bake(&given.clips[0]).expect("fits");
    given.clips[0] = baked.clone();
    assert!(bytes(&given) == expected, "baked already");
    for channel in &mut given.clips[0].channels[4..] {
        if let Channel::Translation(_, keys) = channel {
            keys.values.fill(DVec3::ONE);
        }
    }
    assert_ne!(given.clips[0], baked, "nonsense");
    assert!(bytes(&given) == expected, "replaced");
}

#[test]
fn proxies_that_do_not_fit_are_left_out_with_a_note_and_the_clips_still_play() {
    type Damage = fn(&mut Value);
    let damages: [(&str, Damage); 18] = [
        ("no joint 200", |p| p["bones"][0] = json!(200)),
        ("no joint 200", |p| p["joints"][0]["parent"] = json!(200)),
        ("proxy 0 is bone", |p| p["bones"][0] = json!(1)),
        ("proxy 0 is bone", |p| {
            let last = p["bones"].as_array_mut().expect("a list").pop();
            last.expect("it has some");
            // The matrices of fewer bones.
            p["patches"] = json!([]);
            p["sources"] = json!([]);
            for name in ["fromPatches", "fromSources"] {
                p.as_object_mut().expect("an object").remove(name);
            }
        }),
        ("is read, but only", |p| p["sources"][1] = json!(7)),
        ("is read, but only", |p| {
            p["patches"][0]["frame"] = json!([[8, 1.0]])
        }),
        ("patch 1 reads joint 90", |p| {
            p["patches"][1]["turns"][0]["joint"] = json!(90);
        }),
        ("rows of stretch", |p| {
            p["patches"][1]["stretch"] = json!([]);
        }),
        ("a quaternion of length 2", |p| {
            p["patches"][1]["turns"][0]["offset"] = json!([0, 2, 0, 0]);
        }),
        ("expected 288 elements, found 324", |p| {
            let patches = p["patches"].as_array_mut().expect("a list");
            patches.pop().expect("it has some");
        }),
        ("expected 180 elements, found 144", |p| {
            p["sources"] = json!([0, 1, 2, 3, 0])
        }),
        ("expected 144 elements, found 324", |p| {
            p["fromSources"] = p["fromPatches"].clone();
        }),
        ("expected VEC4, found MAT4", |p| p["fromPatches"] = json!(2)),
        ("an accessor index below", |p| {
            p["fromPatches"] = json!(99_999)
        }),
        ("a matrix of 324 VEC4 is missing", |p| {
            p["fromPatches"] = Value::Null
        }),
        ("was ignored: invalid", |p| p["fromPatches"] = json!(-1)),
        ("was ignored: invalid type", |p| {
            p["patches"][0]["stretch"][0][1] = json!("x");
        }),
        ("was ignored: missing field", |p| {
            p.as_object_mut().expect("an object").remove("joints");
        }),
    ];
    let given = sound();
    let glb = bytes(&given);
    for (why, damage) in damages {
        let mut json = json_of(&glb);
        damage(&mut block(&mut json)["proxies"]);
        let back = read_back(&with_json(&glb, &json));
        assert_eq!(back.notes.len(), 1, "{why}: {:?}", back.notes);
        assert!(back.notes[0].contains(why), "{why}: {}", back.notes[0]);
        assert_eq!(skin_of(&back).pose_program.proxies(), None, "{why}: left");
        let played = played_difference(&given, &back);
        assert!(played < 1e-5, "{why}: the clip is off by {played:.1e}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let given = sound();
    let glb = bytes(&given);
    let json = json_of(&glb);
    let at = json["skins"][0]["extensions"]["DERMIS_skin"]["proxies"]["fromSources"].as_u64();
    let accessor = &json["accessors"][at.expect("a number") as usize];
    let view = accessor["bufferView"].as_u64().expect("a number") as usize;
    let offset = &json["bufferViews"][view]["byteOffset"];
    let offset = offset.as_u64().expect("a number") as usize;
    let length = u32::from_le_bytes(glb[12..16].try_into().expect("four bytes")) as usize;
    let mut broken = glb;
    let first = 20 + length + 8 + offset;
    broken[first..first + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let back = read_back(&broken);
    assert_eq!(skin_of(&back).pose_program.proxies(), None, "left");
    assert!(back.notes[0].contains("finite numbers"), "{:?}", back.notes);

    type Damage = fn(&mut ProxyBones);
    let damages: [(&str, Damage); 3] = [
        ("single precision", |p| p.from_patches[3] = 1e300),
        ("C2 has", |p| p.from_sources.clear()),
        ("NaN", |p| p.joints[0].middle.x = f64::NAN),
    ];
    for (why, damage) in damages {
        let mut given = sound();
        let skin = given.skin.as_mut().expect("it has a skin");
        damage(skin.pose_program.proxies_mut().expect("it has proxies"));
        let fault = to_glb(&given).expect_err(why);
        assert!(fault.to_string().contains(why), "{why}: {fault}");
    }
}

#[test]
fn a_proxy_that_overflows_cannot_be_baked_or_written() {
    let mut given = sound();
    for bone in [BoneId(0), BoneId(1)] {
        let huge = Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.0],
            values: vec![DVec3::splat(1e200)],
        };
        given.clips[0].channels.push(Channel::Scale(bone, huge));
    }
    let baked = skin_of(&given).bake(&given.clips[0]);
    let message = baked.map(|_| "a clip").expect_err("infinite").to_string();
    assert!(
        message.contains("the pose at 0 s of clip wave"),
        "{message}"
    );
    let fault = to_glb(&given).expect_err("nor a file");
    assert_eq!(fault.to_string(), message, "for the same reason");
}
