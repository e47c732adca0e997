//! A character for a crowd: what its joints do, a sphere that holds it, and the whole of it moved.

mod common;

use common::Scratch;
use dermis::mesh::Ball;
use dermis::rig::LegalPoses;
use dermis_io::Document;
use glam::{DAffine3, DQuat, DVec3};
use serde_json::Value;

/// An arm with a clip, fitted by the program itself.
fn arm(scratch: &Scratch) {
    let arm = dermis::synth::arm(&Default::default()).examples;
    let frames = arm.examples().iter().map(|example| dermis_io::Frame {
        name: example.name.clone(),
        positions: example.positions.clone(),
    });
    let document = Document {
        mesh: arm.rest().clone(),
        skeleton: Some(arm.skeleton().clone()),
        frames: frames.collect(),
        frame_poses: arm.examples().iter().map(|e| e.pose.clone()).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    };
    scratch.write("arm.npz", &document);
    scratch
        .dermis("fit arm.npz --max-influences 2 -o arm.glb")
        .done();
}

fn ball(value: &Value) -> Ball {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn holds(ball: &Ball, at: DVec3) -> bool {
    at.distance(ball.center) <= ball.radius * (1.0 + 1e-6)
}

/// The JSON of a GLB file: its first chunk.
fn json_of_glb(bytes: &[u8]) -> Value {
    let length = u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")) as usize;
    serde_json::from_slice(&bytes[20..20 + length]).expect("JSON")
}

/// Every position that the clips of a file show.
fn shown(document: &Document) -> Vec<DVec3> {
    let skin = document.skin.as_ref().expect("a skin");
    let mut all = Vec::new();
    for clip in &document.clips {
        for time in clip.frame_times(240.0) {
            all.extend(skin.evaluate(&skin.sample(clip, time)).expect("it fits"));
        }
    }
    assert!(!all.is_empty(), "a clip");
    all
}

const LIMITS: &str = r#"
others = "fixed"

[[joint]]
bone = "forearm"
turn = "hinge"
axis = [0, 0, 1]
angle_deg = [0, 120]

[[joint]]
bone = "hand"
turn = "ball"
axis = [0, 1, 0]
swing_deg = 40
twist_deg = [-30, 30]
"#;

#[test]
fn statistics_then_bounds_then_a_camera() {
    let scratch = Scratch::new();
    arm(&scratch);
    let all = scratch
        .dermis("bounds arm.glb --any-rotation --json")
        .done()
        .json();
    let seen = scratch.dermis("bounds arm.glb --json").done().json();
    let (any, legal) = (
        ball(&all["bounds"]["legal"]),
        ball(&seen["bounds"]["legal"]),
    );
    assert!(legal.radius < any.radius, "a fit keeps what its joints did");
    assert_eq!(
        seen["bounds"]["assumes"], "seen",
        "from the file's statistics"
    );
    assert!(
        seen["legalRatio"].as_f64().expect("a number") < 1.5,
        "{seen}"
    );

    scratch.put("limits.toml", LIMITS);
    let stats = scratch
        .dermis("stats arm.glb --limits limits.toml -o limited.glb --json")
        .done();
    let joints = stats.json();
    let forearm = &joints[1];
    assert_eq!(forearm["poseCount"], 0, "no pose was seen: {forearm}");
    assert!(forearm["hinge"].is_object(), "{forearm}");
    let limited = scratch
        .dermis("bounds limited.glb -o bounded.glb --json --frustum 6,2,6:0,0,0 --crowd 10x10:3")
        .done()
        .json();
    let sphere = ball(&limited["bounds"]["legal"]);
    assert_eq!(limited["bounds"]["assumes"], "limits", "as the file says");
    let visible = limited["seen"]["visible"].as_u64().expect("a count");
    assert!((1..100).contains(&visible), "{limited}");

    // What is written is read again, and holds every legal pose.
    let document = scratch.read("bounded.glb");
    let record = document.record.as_ref().expect("a block");
    let kept = record.bounds.as_ref().expect("spheres");
    assert_eq!(
        kept.legal.map(|b| b.radius),
        Some(sphere.radius),
        "the same sphere"
    );
    assert_eq!(record.limits.len(), 3, "one per joint");
    let skin = document.skin.as_ref().expect("a skin");
    let legal = LegalPoses::new(&skin.skeleton, &record.limits, 0.5, 9).expect("limits");
    for pose in legal.take(300) {
        for at in skin.evaluate(&pose).expect("it fits") {
            assert!(holds(&sphere, at), "{at} outside {sphere:?}");
        }
    }
    let clips = ball(&limited["bounds"]["clips"]);
    for at in shown(&document) {
        assert!(holds(&clips, at), "{at} outside {clips:?}");
    }
    // Engines find it in extras, with no knowledge of the block.
    let json = json_of_glb(&std::fs::read(scratch.at("bounded.glb")).expect("it was written"));
    let mesh = &json["meshes"][0];
    for extras in [&mesh["extras"], &mesh["primitives"][0]["extras"]] {
        let found = ball(&extras["boundingSphere"]);
        assert!(
            (found.radius - sphere.radius).abs() < 1e-5 * sphere.radius,
            "{extras}"
        );
    }
    let table = scratch.dermis("bounds bounded.glb").done().stdout;
    assert!(table.contains("every pose within limits"), "{table}");
    let missed = scratch.dermis("bounds bounded.glb --max-ratio 0.9");
    assert_eq!(missed.code, 1, "no bound is below the best: {missed:?}");
}

#[test]
fn a_moved_model_keeps_its_motion_and_its_bounds() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.dermis("bounds arm.glb -o bounded.glb").done();
    scratch
        .dermis(
            "transform bounded.glb --scale 2.5 --rotate x=-90,y=30 --translate 1,-2,3 -o moved.glb",
        )
        .done();
    let by = DAffine3::from_scale_rotation_translation(
        DVec3::splat(2.5),
        DQuat::from_rotation_y(30f64.to_radians()) * DQuat::from_rotation_x(-90f64.to_radians()),
        DVec3::new(1.0, -2.0, 3.0),
    );
    let (before, after) = (scratch.read("bounded.glb"), scratch.read("moved.glb"));
    let pairs = shown(&before).into_iter().zip(shown(&after));
    for (old, new) in pairs {
        let expected = by.transform_point3(old);
        assert!(expected.distance(new) < 1e-4, "{expected} against {new}");
    }
    let sphere = |document: &Document| {
        let record = document.record.as_ref().expect("a block");
        record
            .bounds
            .as_ref()
            .and_then(|b| b.legal)
            .expect("a sphere")
    };
    let (old, new) = (sphere(&before), sphere(&after));
    assert!(
        (2.5 * old.radius - new.radius).abs() < 1e-9,
        "{old:?} to {new:?}"
    );
    assert!(
        by.transform_point3(old.center).distance(new.center) < 1e-9,
        "{old:?} to {new:?}"
    );
    // Made anew it is the same, to single precision.
    let anew = scratch.dermis("bounds moved.glb --json").done().json();
    let anew = ball(&anew["bounds"]["legal"]);
    assert!(
        (anew.radius - new.radius).abs() < 1e-3 * new.radius,
        "{anew:?} against {new:?}"
    );
}

#[test]
fn what_is_wrong_is_said_in_one_sentence() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.put(
        "unknown.toml",
        "[[joint]]\nbone = \"tail\"\nturn = \"free\"\n",
    );
    scratch.put("twice.toml", "[[joint]]\nbone = \"hand\"\nturn = \"free\"\n[[joint]]\nbone = \"hand\"\nturn = \"free\"\n");
    scratch.put(
        "extra.toml",
        "[[joint]]\nbone = \"hand\"\nturn = \"free\"\ncone_deg = 3\n",
    );
    scratch.put(
        "bare.toml",
        "[[joint]]\nbone = \"hand\"\nturn = \"hinge\"\naxis = [1, 0, 0]\n",
    );
    scratch.put(
        "order.toml",
        "[[joint]]\nbone = \"hand\"\nturn = \"hinge\"\naxis = [1, 0, 0]\nangle_deg = [9, 3]\n",
    );
    scratch
        .dermis("transform arm.npz --scale 2 -o larger.npz")
        .done();
    scratch
        .dermis("fit arm.npz --method mwe -o multi.glb")
        .done();
    let cases = [
        ("bounds arm.glb --limits unknown.toml", "tail"),
        ("bounds arm.glb --limits twice.toml", "twice"),
        ("bounds arm.glb --limits extra.toml", "cone_deg"),
        ("bounds arm.glb --limits bare.toml", "angle_deg"),
        ("bounds arm.glb --limits order.toml", "smaller first"),
        ("bounds arm.glb --limits nowhere.toml", "nowhere.toml"),
        ("bounds arm.glb -o arm.obj", ".glb"),
        ("stats arm.glb --clip sprint", "sprint"),
        (
            "stats arm.glb --uniform --clip poses",
            "cannot be used with",
        ),
        ("transform arm.glb --scale 0 -o x.glb", "above 0"),
        ("transform arm.glb --rotate w=3 -o x.glb", "x, y or z"),
        ("transform multi.glb --rotate x=90 -o x.glb", "multi-weight"),
    ];
    for (command, part) in cases {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(part), "{run:?}");
        assert!(run.stdout.is_empty(), "{run:?}");
    }
    // A skin that is no sum of matrices times vectors gets the sphere of its clips, and a remark.
    let multi = scratch.dermis("bounds multi.glb --json").done();
    assert!(multi.stderr.contains("multi-weight"), "{multi:?}");
    let json = multi.json();
    assert!(
        json["bounds"]["legal"].is_null() && json["bounds"]["clips"].is_object(),
        "{json}"
    );
}
