//! A character for a crowd: what its joints do, a sphere that holds it, and the whole of it moved.

use dermis::joint::{JointLimits, LegalPoses};
use dermis::mesh::Ball;
use dermis::skin::{Coefficient, Correction, Delta, SsdProgram, VertexProgram};
use dermis_io::{AssumedPoses, Document};
use glam::{DAffine3, DQuat, DVec3};
use serde_json::Value;

use crate::common::Scratch;
use crate::support::glb_json::json_of;

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

/// Every position that the clips of a file show.
fn shown(document: &Document) -> Vec<DVec3> {
    let skin = document.skin.as_ref().expect("a skin");
    let mut all = Vec::new();
    for clip in &document.clips {
        for time in clip.frame_times(240.0).expect("few frames") {
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
    // Engines find it in extras, with no knowledge of the block; the clips leave these limits.
    let sphere = ball(&limited["bounds"]["culling"]);
    let json = json_of(&std::fs::read(scratch.at("bounded.glb")).expect("it was written"));
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

/// The sphere that engines find on the first mesh of a file.
fn sphere_for_engines(scratch: &Scratch, file: &str) -> Ball {
    let json = json_of(&std::fs::read(scratch.at(file)).expect("it was written"));
    ball(&json["meshes"][0]["extras"]["boundingSphere"])
}

#[test]
fn clips_that_leave_the_limits_are_told_and_held() {
    let scratch = Scratch::new();
    arm(&scratch);
    let still =
        "others = \"fixed\"\n[[joint]]\nbone = \"forearm\"\nturn = \"cone\"\ncone_deg = 5\n";
    scratch.put("still.toml", still);
    let run = scratch
        .dermis("bounds arm.glb --limits still.toml -o still.glb --json")
        .done();
    let told: Vec<&str> = run.stderr.lines().collect();
    let leaves = |line: &&&str| {
        line.starts_with("note: the clips leave the sphere for every pose within limits: joint ")
            && line.contains("degrees too far in clip ")
    };
    assert_eq!(told.iter().filter(leaves).count(), 1, "{run:?}");
    let json = run.json();
    let (legal, given) = (
        ball(&json["bounds"]["legal"]),
        sphere_for_engines(&scratch, "still.glb"),
    );
    assert_eq!(
        given.radius,
        ball(&json["bounds"]["culling"]).radius,
        "{json}"
    );
    assert!(given.radius > 1.01 * legal.radius, "{given:?}, {legal:?}");
    let document = scratch.read("still.glb");
    let (skin, record) = (
        document.skin.as_ref().expect("a skin"),
        document.record.as_ref().expect("a block"),
    );
    let poses = LegalPoses::new(&skin.skeleton, &record.limits, 0.5, 9).expect("limits");
    for pose in poses.take(50) {
        for at in skin.evaluate(&pose).expect("it fits") {
            assert!(holds(&given, at), "{at} outside {given:?}");
        }
    }
    for at in shown(&document) {
        assert!(holds(&given, at), "{at} outside {given:?}");
    }
    let table = scratch.dermis("bounds arm.glb --limits still.toml").done();
    assert!(table.says("what engines get"), "{table:?}");
    // What the clips themselves allow is never left.
    let quiet = scratch.dermis("bounds arm.glb -o quiet.glb --json").done();
    assert!(!quiet.stderr.contains("leave"), "{quiet:?}");
    assert!(quiet.json()["bounds"]["culling"].is_null(), "{quiet:?}");
    scratch.dermis("stats arm.glb -o seen.glb").done();
    let seen = scratch.dermis("bounds seen.glb --json").done();
    assert!(!seen.stderr.contains("leave"), "{seen:?}");
}

#[test]
fn bounds_of_any_rotation_leave_the_rest_of_the_file_alone() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.put("limits.toml", LIMITS);
    scratch
        .dermis("stats arm.glb --limits limits.toml -o limited.glb")
        .done();
    scratch
        .dermis("bounds limited.glb --any-rotation -o free.glb")
        .done();
    let record = |file: &str| scratch.read(file).record.expect("a block");
    let (before, after) = (record("limited.glb"), record("free.glb"));
    assert_eq!(before.limits, after.limits, "as they were");
    assert_eq!(before.joints, after.joints, "as they were");
    assert_eq!(before.limits.len(), 3, "there were some");
    let bounds = after.bounds.expect("spheres");
    assert_eq!(bounds.assumes, AssumedPoses::AnyRotation, "as asked");
}

#[test]
fn what_stock_players_show_is_inside_too() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch
        .dermis("fit arm.npz --method animation-space --max-influences 2 -o exact.glb")
        .done();
    let json = scratch
        .dermis("bounds exact.glb -o bounded.glb --json")
        .done()
        .json();
    let legal = ball(&json["bounds"]["legal"]);
    let given = sphere_for_engines(&scratch, "bounded.glb");
    assert!(given.radius >= legal.radius * (1.0 - 1e-3), "{json}");
    let document = scratch.read("bounded.glb");
    let plain = document.plain_skin().expect("a stand-in");
    let limits: Vec<_> = (document.record.as_ref().expect("a block").joints.iter())
        .map(JointLimits::from_statistics)
        .collect();
    let legal = LegalPoses::new(&plain.skeleton, &limits, 0.5, 3).expect("limits");
    for pose in legal.take(200) {
        for skin in [&plain, document.skin.as_ref().expect("a skin")] {
            for at in skin.evaluate(&pose).expect("it fits") {
                assert!(holds(&given, at), "{at} outside {given:?}");
            }
        }
    }
    // A finer skin has a stand-in of its own.
    scratch.dermis("subdivide bounded.glb -o fine.glb").done();
    let given = sphere_for_engines(&scratch, "fine.glb");
    let document = scratch.read("fine.glb");
    let plain = document.plain_skin().expect("a stand-in");
    for clip in &document.clips {
        for time in clip.frame_times(30.0).expect("few frames") {
            for at in plain.evaluate(&plain.sample(clip, time)).expect("it fits") {
                assert!(holds(&given, at), "{at} outside {given:?}");
            }
        }
    }
}

/// Three points at one place on a bone, which a slider carries up.
fn slider(by: f64) -> Document {
    let root = ("root".to_owned(), None, DAffine3::IDENTITY);
    let weight = dermis::skin::Weight {
        bone: dermis::BoneId(0),
        weight: 1.0,
    };
    let program = SsdProgram {
        rest_positions: vec![DVec3::ZERO; 3],
        weights: (0..3).map(|_| vec![weight]).collect(),
        corrections: vec![Correction {
            deltas: (0..3)
                .map(|index| Delta {
                    index,
                    value: by * DVec3::Y,
                })
                .collect(),
        }],
    };
    let up = Coefficient {
        name: "up".to_owned(),
        default: 0.0,
    };
    let skeleton = dermis::Skeleton::from_rest_frames([root]).expect("one bone");
    let skin = dermis::Skin::new(skeleton, VertexProgram::Ssd(program), vec![up]);
    Document {
        mesh: dermis::TriMesh::new(vec![DVec3::ZERO; 3], vec![[0, 1, 2]]).expect("a triangle"),
        skin: Some(skin.expect("a skin")),
        ..Document::default()
    }
}

#[test]
fn sliders_count_in_what_is_the_best_found() {
    let scratch = Scratch::new();
    scratch.write("slider.glb", &slider(9.0));
    let json = scratch.dermis("bounds slider.glb --json").done().json();
    let ratio = json["legalRatio"].as_f64().expect("a number");
    assert!((ratio - 1.0).abs() < 0.01, "{json}");
    assert_eq!(json["partRatios"][0], json["legalRatio"], "one part");
}

#[test]
fn points_have_no_ratio() {
    let scratch = Scratch::new();
    scratch.write("point.glb", &slider(0.0));
    let run = scratch.dermis("bounds point.glb --any-rotation").done();
    assert!(!run.says("NaN"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new();
    arm(&scratch);
    let mut child = scratch
        .command("bounds arm.glb")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Closed long before the table is ready.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("error"), "{said}");
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
    scratch.put("broken.toml", "[[joint]]\nbone = \"hand\nturn = \"free\"\n");
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
            "stats arm.glb --uniform --clip frames",
            "cannot be used with",
        ),
        ("transform arm.glb --scale 0 -o x.glb", "above 0"),
        ("transform arm.glb --scale -2 -o x.glb", "above 0, found -2"),
        ("transform arm.glb --scale 1e-60 -o x.glb", "too small"),
        ("transform arm.glb --scale 1e39 -o x.glb", "too far out"),
        (
            "transform arm.glb --translate 1e39,0,0 -o x.glb",
            "too far out",
        ),
        (
            "bounds arm.glb --frustum 3,2,5:0,1,0 --fov 0",
            "between 0 and 180",
        ),
        (
            "bounds arm.glb --frustum 3,2,5:0,1,0 --fov -9",
            "between 0 and 180",
        ),
        (
            "bounds arm.glb --frustum 3,2,5:0,1,0 --fov NaN",
            "between 0 and 180",
        ),
        ("bounds arm.glb --max-ratio NaN", "above 0, found NaN"),
        ("bounds arm.glb --max-ratio -1", "above 0, found -1"),
        (
            "bounds arm.glb --frustum 3,2,5:0,1,0 --crowd 0x0:1",
            "at least one column",
        ),
        (
            "bounds arm.glb --limits broken.toml",
            "broken.toml: line 2: ",
        ),
        ("transform arm.glb --rotate w=3 -o x.glb", "x, y or z"),
        ("transform multi.glb --rotate x=90 -o x.glb", "multi-weight"),
    ];
    for (command, part) in cases {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(part), "{run:?}");
        assert!(run.stdout.is_empty(), "{run:?}");
        // Mistakes of arguments that clap finds have a hint below them.
        let is_ours = !run.stderr.contains("For more information");
        let lines: Vec<&str> = run.stderr.lines().collect();
        let errors = lines.iter().filter(|line| !line.starts_with("note: "));
        assert!(!is_ours || errors.count() == 1, "{run:?}");
        assert!(!run.stderr.contains("DVec3"), "{run:?}");
    }
    let order = scratch.dermis("bounds arm.glb --limits order.toml").stderr;
    assert_eq!(
        order,
        "error: order.toml: joint hand: expected a finite range of angles, the smaller first\n",
        "the joint once, and what is wrong with it"
    );
    // Formats without a place for skins say so.
    let obj = scratch
        .dermis("transform arm.glb --scale 2 -o arm.obj")
        .done();
    assert!(
        obj.stderr
            .contains(".obj files cannot hold the skin and the clips"),
        "{obj:?}"
    );
    // A skin that is no sum of matrices times vectors gets the sphere of its clips, and a remark.
    let multi = scratch.dermis("bounds multi.glb --json").done();
    assert!(multi.stderr.contains("multi-weight"), "{multi:?}");
    let json = multi.json();
    assert!(
        json["bounds"]["legal"].is_null() && json["bounds"]["clips"].is_object(),
        "{json}"
    );
}
