//! What joints do, from clips, from limits, and from both joint by joint.

use dermis::Clip;
use dermis::joint::JointStatistics;
use dermis::metric::{PoseMetric, SurfacePoint, between};
use dermis_io::{Document, SkinRecord};
use serde_json::Value;

use crate::common::Scratch;

/// An arm whose clips, "bend" and "twist", are the two halves of its examples.
fn arm(scratch: &Scratch) {
    let arm = dermis::synth::arm(&Default::default()).examples;
    let fitted = dermis::fit::fit_ssd(
        &arm,
        &[0, 10, 20],
        &Default::default(),
        &dermis::progress::Silent,
    );
    let poses: Vec<_> = arm.examples().iter().map(|e| e.pose.clone()).collect();
    let (bend, twist) = poses.split_at(poses.len() / 2);
    let clips = [("bend", bend), ("twist", twist)].map(|(name, poses)| {
        Clip::from_poses(name, arm.skeleton(), poses, 24.0).expect("poses of the arm")
    });
    let document = Document {
        mesh: arm.rest().clone(),
        skin: Some(fitted.expect("a fit").skin),
        clips: clips.to_vec(),
        ..Document::default()
    };
    scratch.write("arm.glb", &document);
}

const HAND: &str = r#"
[[joint]]
bone = "hand"
turn = "ball"
axis = [0, 1, 0]
swing_deg = 40
twist_deg = [-30, 30]
"#;

const HINGE: &str = r#"
others = "fixed"

[[joint]]
bone = "forearm"
turn = "hinge"
axis = [0, 0, 1]
angle_deg = [-10, 70]
"#;

fn joints(scratch: &Scratch, command: &str) -> Vec<Value> {
    let mut json = scratch.dermis(command).done().json();
    let joints = json.as_array_mut().expect("a list");
    for joint in joints.iter_mut() {
        // Another command is another provenance.
        joint["provenance"] = Value::Null;
    }
    joints.clone()
}

fn statistics(values: &[Value]) -> Vec<JointStatistics> {
    let parsed = values.iter().map(|v| serde_json::from_value(v.clone()));
    parsed.collect::<Result<_, _>>().expect("statistics")
}

#[test]
fn joints_that_limits_do_not_name_keep_what_clips_show() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.put("hand.toml", format!("others = \"seen\"\n{HAND}"));
    let clips = joints(&scratch, "stats arm.glb --json");
    let mixed = joints(
        &scratch,
        "stats arm.glb --limits hand.toml -o mixed.glb --json",
    );
    assert_eq!(mixed.len(), 3, "one per joint");
    assert_eq!(mixed[..2], clips[..2], "what the clips show, to the bit");
    assert!(clips[0]["poseCount"].as_u64() > Some(10), "{}", clips[0]);
    assert_eq!(mixed[2]["poseCount"], 0, "even over limits: {}", mixed[2]);

    // Distances that the hand has no part in are those of the clips alone.
    let document = scratch.read("mixed.glb");
    let record = document.record.as_ref().expect("a block");
    assert_eq!(record.limits.len(), 3, "bounds take limits of every joint");
    let skin = document
        .skin
        .as_ref()
        .expect("a skin")
        .to_linear()
        .expect("linear");
    let dermis::VertexProgram::Linear(program) = &skin.program else {
        panic!("it was made linear");
    };
    let of_file = PoseMetric::from_statistics(&skin, &record.joints).expect("one per bone");
    let of_clips = PoseMetric::from_statistics(&skin, &statistics(&clips)).expect("one per bone");
    let (mut same, mut other) = (0, 0);
    for vertex in 1..skin.vertex_count() as u32 {
        let s = between(
            program,
            SurfacePoint::Vertex(0),
            SurfacePoint::Vertex(vertex),
        )
        .expect("vertices");
        let (a, b) = (of_file.norm(s.terms()), of_clips.norm(s.terms()));
        match s.terms().iter().any(|term| term.bone.0 == 2) {
            true => other += usize::from((a - b).abs() > 1e-3 * b),
            false => {
                same += 1;
                assert!(
                    (a - b).abs() < 1e-9 * (1.0 + b),
                    "{vertex}: {a} against {b}"
                );
            }
        }
    }
    assert!(
        same > 10 && other > 10,
        "{same} without the hand, {other} with"
    );

    let table = scratch
        .dermis("stats arm.glb --limits hand.toml")
        .done()
        .stdout;
    assert!(
        table.contains("swing 40.0°, twist -30.0° to 30.0°"),
        "{table}"
    );
    assert!(
        table.contains("of 2 clips"),
        "where the rest is from: {table}"
    );
}

#[test]
fn limits_of_some_joints_and_one_clip_for_the_rest() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.put("hand.toml", HAND);
    scratch.put("hinge.toml", HINGE);
    let bend = joints(&scratch, "stats arm.glb --clip bend --json");
    let mixed = joints(
        &scratch,
        "stats arm.glb --clip bend --limits hand.toml --json",
    );
    assert_eq!(mixed[..2], bend[..2], "the clip that was asked for");
    assert_eq!(mixed[2]["poseCount"], 0, "even over limits: {}", mixed[2]);
    // Without a clip, joints that are not named turn every way unless the file says otherwise.
    let free = joints(&scratch, "stats arm.glb --limits hand.toml --json");
    assert_eq!(free[1]["poseCount"], 0, "{}", free[1]);

    let both = scratch.dermis("stats arm.glb --clip bend --limits hinge.toml");
    assert_eq!(both.code, 2, "two answers to one question: {both:?}");
    assert!(both.stderr.contains("others = \"seen\""), "{both:?}");
}

#[test]
fn a_clip_that_is_named_twice_counts_once() {
    let scratch = Scratch::new();
    arm(&scratch);
    let once = scratch
        .dermis("stats arm.glb --clip bend --clip twist")
        .done();
    let twice = scratch
        .dermis("stats arm.glb --clip bend --clip twist --clip bend")
        .done();
    assert_eq!(once.stdout, twice.stdout, "the same poses");
}

#[test]
fn the_table_shows_limits_as_they_were_written() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.put("hinge.toml", HINGE);
    let table = scratch
        .dermis("stats arm.glb --limits hinge.toml")
        .done()
        .stdout;
    let row = table.lines().find(|line| line.starts_with("forearm"));
    let row = row.unwrap_or_else(|| panic!("{table}"));
    assert!(
        row.contains("hinge  -10.0° to 70.0°"),
        "kind, then turns: {table}"
    );
    assert!(table.contains("angles from the rest pose"), "{table}");
    let hand = table.lines().find(|line| line.starts_with("hand"));
    assert!(hand.is_some_and(|row| row.contains("still")), "{table}");
    let uniform = scratch.dermis("stats arm.glb --uniform").done().stdout;
    assert!(uniform.contains("every way"), "{uniform}");

    // Joints that turn every way have limits that restrict nothing.
    scratch.dermis("stats arm.glb --uniform -o free.glb").done();
    let bounds = scratch.dermis("bounds free.glb").done().stdout;
    assert!(!bounds.contains("within limits"), "{bounds}");
    let clips = scratch.dermis("stats arm.glb").done().stdout;
    assert!(clips.contains("angles from each joint's middle"), "{clips}");
}

#[test]
fn what_statistics_replace_is_said() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.put("hinge.toml", HINGE);
    let first = scratch.dermis("stats arm.glb -o plain.glb").done();
    assert!(
        !first.stderr.contains("left out"),
        "nothing was there: {first:?}"
    );
    scratch
        .dermis("bounds arm.glb --limits hinge.toml -o bounded.glb")
        .done();
    let again = scratch.dermis("stats bounded.glb -o again.glb").done();
    assert!(again.stderr.contains("spheres"), "{again:?}");
    assert!(again.stderr.contains("limits in the file"), "{again:?}");
    let record = scratch.read("again.glb").record.expect("a block");
    let SkinRecord { bounds, limits, .. } = record;
    assert!(
        bounds.is_none() && limits.is_empty(),
        "neither is for these joints"
    );
}

#[test]
fn long_names_do_not_run_into_the_next_column() {
    let scratch = Scratch::new();
    arm(&scratch);
    scratch.dermis("convert arm.glb arm.gltf --quiet").done();
    let text = std::fs::read_to_string(scratch.at("arm.gltf")).expect("it was written");
    let long = "mixamorig:LeftHandIndex1_end_of_the_chain";
    let longer = format!("hips{}pivot", "_of_the_armature".repeat(8));
    let text = text.replace("\"hand\"", &format!("\"{long}\""));
    let text = text.replace("\"forearm\"", &format!("\"{longer}\""));
    scratch.put("arm.gltf", text);
    let table = scratch.dermis("stats arm.gltf").done().stdout;
    let rows: Vec<&str> = table.lines().collect();
    let column = |row: &str| row.chars().count() - row.trim_end_matches("clips").chars().count();
    assert!(
        rows.iter().filter(|row| column(row) > 0).count() >= 2,
        "{table}"
    );
    let row = rows.iter().find(|row| row.starts_with(long));
    let row = row.unwrap_or_else(|| panic!("no row of {long} in\n{table}"));
    assert!(
        row[long.len()..].starts_with("  "),
        "a gap behind the name: {row}"
    );
    let cut = rows.iter().find(|row| row.starts_with("hips_of_the"));
    let cut = cut.unwrap_or_else(|| panic!("no row of {longer} in\n{table}"));
    assert!(
        cut.contains('…') && cut.contains("pivot  "),
        "its middle is cut: {cut}"
    );
    let ends: Vec<usize> = (rows.iter().filter(|row| row.ends_with("  clips")))
        .map(|row| row.chars().count())
        .collect();
    assert!(
        ends.windows(2).all(|pair| pair[0] == pair[1]),
        "aligned: {table}"
    );
}
