//! Files of every released version of `DERMIS_skin` still load and give the same positions.

use std::path::Path;

use dermis::fit::{SsdOptions, fit_ssd, plain_fallback};
use dermis::pose_space::{Center, Control, InterpolateOptions, JointTurn, interpolate};
use dermis::progress::Silent;
use dermis::skin::{Coefficient, Delta, PlacedBones};
use dermis::synth::{ArmOptions, arm, arm_motion};
use dermis::{BoneId, Clip, Pose, Skin, VertexProgram};
use dermis_io::{Document, FallbackError, SkinRecord, WriteOptions};
use glam::DVec3;

use crate::support;
use crate::support::glb_json::json_of;
use crate::support::proxy_skins;

fn version_of(path: &Path) -> u64 {
    let json = json_of(&std::fs::read(path).expect("the file is there"));
    let version = &json["skins"][0]["extensions"]["DERMIS_skin"]["version"];
    version.as_u64().expect("a whole number")
}

#[test]
fn version_1_loads_and_gives_the_same_positions() {
    let path = support::repository().join("data/dermis_skin_v1.glb");
    let document = dermis_io::read(&path).expect("version 1 stays readable");
    let record = document.record.expect("it says how it was made");
    assert_eq!(version_of(&path), 1, "the version that was written");
    assert_eq!(record.method, "ssd", "linear blend skinning");
    let held_out = record.held_out.expect("a quarter was held out");
    assert!(
        (held_out.e_rms - 5.732).abs() < 5e-4,
        "found {}",
        held_out.e_rms
    );

    // Values of the run that made the file, in single precision.
    let skin = document.skin.expect("it has a skin");
    let pose = skin.sample(&document.clips[0], 10.0 / 24.0);
    let posed = skin.evaluate(&pose).expect("its own clip");
    let mean = posed.iter().sum::<DVec3>() / posed.len() as f64;
    let expected = DVec3::new(0.65525447, 0.41204639, 0.00025354);
    assert!(mean.distance(expected) < 1e-6, "the mean moved to {mean}");
    let expected = DVec3::new(0.85336724, 0.10155353, -0.08049534);
    assert!(
        posed[100].distance(expected) < 1e-6,
        "vertex 100 moved to {}",
        posed[100]
    );
}

#[test]
fn version_2_loads_and_gives_the_same_positions() {
    let path = support::repository().join("data/dermis_skin_v2.glb");
    let document = dermis_io::read(&path).expect("version 2 stays readable");
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    let record = document.record.expect("it says how it was made");
    assert_eq!(version_of(&path), 2, "the version that was written");
    let fallback = record.fallback.expect("it has a stand-in");
    assert!(fallback.rms < fallback.max, "{fallback:?}");

    // Values of the run that made the file.
    let skin = document.skin.expect("it has a skin");
    assert!(
        matches!(skin.program, VertexProgram::Linear(_)),
        "animation space"
    );
    let pose = skin.sample(&document.clips[0], 10.0 / 24.0);
    let posed = skin.evaluate(&pose).expect("its own clip");
    let expected = DVec3::new(0.83581547, 0.16157820, -0.07664271);
    assert!(
        posed[100].distance(expected) < 1e-6,
        "vertex 100 moved to {}",
        posed[100]
    );
    let program = document.fallback.expect("it has a stand-in");
    let plain = Skin {
        program: VertexProgram::Ssd(program),
        ..skin
    };
    let posed = plain.evaluate(&pose).expect("its own clip");
    let expected = DVec3::new(0.84387303, 0.12369407, -0.07912507);
    assert!(
        posed[100].distance(expected) < 1e-6,
        "the stand-in's vertex 100 moved to {}",
        posed[100]
    );
}

#[test]
fn version_3_loads_and_its_drivers_give_the_same_values() {
    let path = support::repository().join("data/dermis_skin_v3.glb");
    let document = dermis_io::read(&path).expect("version 3 stays readable");
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    assert!(document.record.is_some(), "it says how it was made");
    assert_eq!(version_of(&path), 3, "the version that was written");
    let skin = document.skin.expect("it has a skin");
    assert_eq!(skin.pose_program.drivers.len(), 1, "one driver");
    let names: Vec<&str> = skin.coefficients.iter().map(|c| &*c.name).collect();
    assert_eq!(
        names,
        ["load", "bent", "resting"],
        "a slider, then what is driven"
    );

    // Values of the run that made the file.
    let mut pose = skin.sample(&document.clips[0], 10.0 / 24.0);
    pose.coefficients = vec![0.75];
    let inputs = skin.run_pose_program(&pose).expect("its own clip");
    let exact = skin.evaluate(&pose).expect("its own clip")[100];
    let program = document.fallback.expect("it has a stand-in");
    let plain = Skin {
        program: VertexProgram::Ssd(program),
        ..skin
    };
    let plain = plain.evaluate(&pose).expect("its own clip")[100];
    let found = (&inputs.coefficients[1..], exact, plain);
    let driven = [0.65231936, -0.02237254];
    let off = (found.0.iter().zip(&driven)).map(|(a, b)| (a - b).abs());
    let off = (off.fold(0.0, f64::max))
        .max(exact.distance(DVec3::new(0.81768439, 0.15607069, -0.07064294)))
        .max(plain.distance(DVec3::new(0.82574945, 0.11801277, -0.07315928)));
    assert!(off < 1e-6, "driven, and vertex 100 of both: {found:?}");
}

#[test]
fn version_4_loads_and_its_proxies_give_the_same_positions() {
    let path = support::repository().join("data/dermis_skin_v4.glb");
    let document = dermis_io::read(&path).expect("version 4 stays readable");
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    assert!(document.record.is_some(), "it says how it was made");
    assert_eq!(version_of(&path), 4, "the version that was written");
    let skin = document.skin.expect("it has a skin");
    assert_eq!(skin.pose_program.drivers.len(), 1, "one driver");
    let proxies = skin.pose_program.proxies().expect("it has proxies");
    assert_eq!(proxies.bones.len(), 5, "as many as were written");

    // Values of the run that made the file, computed by the pose program and played from the clip.
    let pose = skin.sample(&document.clips[0], 10.0 / 24.0);
    let live = skin.evaluate(&pose).expect("its own clip")[100];
    let mut played = skin.clone();
    played.pose_program.placed = PlacedBones::default();
    let played = played.evaluate(&pose).expect("its own clip")[100];
    let expected = DVec3::new(0.85082183, 0.10323179, -0.07624279);
    let off = live.distance(expected).max(played.distance(expected));
    assert!(off < 1e-6, "vertex 100 moved to {live} and {played}");
}

/// The drivers of versions 3 and 4: a shape for a bent elbow under load, and one for rest.
fn drive(skin: &mut Skin) {
    let load = Coefficient {
        name: "load".to_owned(),
        default: 0.0,
    };
    *skin = skin.clone().with_sliders([load]);
    let center = |name: &str, angle: f64, load: f64| Center {
        name: name.to_owned(),
        point: vec![angle, load],
        falloffs: vec![0.8, 0.6],
    };
    let controls = [
        Control::Joint {
            bone: BoneId(1),
            turn: JointTurn::Hinge { axis: DVec3::Z },
        },
        Control::Slider { coefficient: 0 },
    ];
    let centers = [center("bent", 1.2, 1.0), center("rest", 0.0, 0.0)];
    let options = InterpolateOptions::default();
    let solved = interpolate("elbow", &controls, &centers, 2, &options).expect("two poses");
    let shape = |vertices: std::ops::Range<u32>, value: DVec3| -> Vec<Delta<DVec3>> {
        vertices.map(|index| Delta { index, value }).collect()
    };
    let shapes = vec![
        shape(80..120, DVec3::new(0.0, 0.03, 0.01)),
        shape(100..101, DVec3::new(0.01, 0.0, 0.02)),
    ];
    let names = ["bent", "resting"].map(str::to_owned).to_vec();
    skin.push_driver(solved.driver, names, shapes)
        .expect("it fits");
}

/// Writes a file of the newest version to the path in `DERMIS_WRITE_VERSION`.
#[test]
#[ignore = "makes a file to keep: only for a new version of the format"]
fn make_a_file_of_this_version() {
    let Some(path) = std::env::var_os("DERMIS_WRITE_VERSION") else {
        eprintln!("skipped: DERMIS_WRITE_VERSION names no file");
        return;
    };
    let character = arm(&ArmOptions {
        ring_count: 20,
        segment_count: 10,
        poses: arm_motion(12),
    });
    let set = character.examples;
    let examples = set.examples().iter();
    let poses: Vec<Pose> = examples.map(|e| e.pose.clone()).collect();
    let all: Vec<usize> = (0..poses.len()).collect();
    let fitted = fit_ssd(&set, &all, &SsdOptions::default(), &Silent).expect("it fits");
    let proxied = proxy_skins::with_proxies(&fitted.skin, 5, 4);
    let mut skin = proxied.to_linear().expect("linear blend is linear");
    let plain = plain_fallback(&skin, &poses, 4, &Silent).expect("it fits");
    eprintln!(
        "stand-in: rms {:.4}, max {:.4}",
        plain.rms_error, plain.max_error
    );
    drive(&mut skin);
    let clip = Clip::from_poses("curl and turn", set.skeleton(), &poses, 24.0);
    let document = Document {
        mesh: set.rest().clone(),
        draw: character.draw,
        skin: Some(skin),
        fallback: Some(plain.program),
        clips: vec![clip.expect("joints turn")],
        record: Some(SkinRecord {
            method: "animation-space".to_owned(),
            fallback: Some(FallbackError {
                rms: plain.rms_error,
                max: plain.max_error,
            }),
            // Every field of a block.
            joints: dermis::joint::joint_statistics(set.skeleton(), &poses),
            ..SkinRecord::default()
        }),
        ..Document::default()
    };
    dermis_io::write(path.as_ref(), &document, &WriteOptions::default()).expect("it is written");
}
