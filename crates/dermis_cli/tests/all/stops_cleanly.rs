//! Ctrl-C ends any work soon, and leaves nothing half done.

#![cfg(unix)]

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use dermis::synth::{FlagOptions, TubeOptions, flag};
use glam::DVec3;

use crate::common;
use crate::common::{Scratch, sequence, shown_error, tube_document};

/// Longer than reading the examples takes, and far shorter than the fit.
const BEFORE_STOPPING: Duration = Duration::from_millis(800);
/// A user's patience.
const SOON: Duration = Duration::from_secs(3);

/// Runs the program for a moment, sends it a signal, and returns what it said until its end.
#[track_caller]
fn stopped(scratch: &Scratch, arguments: &str, signal: &str) -> Output {
    let mut child = scratch
        .command(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(BEFORE_STOPPING);
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill starts").success(), "it was still running");
    let start = Instant::now();
    while child.try_wait().expect("its state is known").is_none() {
        if start.elapsed() > SOON {
            child.kill().expect("it can be ended");
            panic!("{signal} did not stop it within {SOON:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    eprintln!("{signal}: stopped after {:.1?}", start.elapsed());
    child.wait_with_output().expect("it has ended")
}

#[test]
fn ctrl_c_stops_a_fit_and_leaves_no_file() {
    let scratch = Scratch::new();
    let tube = tube_document(&TubeOptions {
        ring_count: 60,
        segment_count: 40,
        bone_count: 12,
        example_count: 24,
    });
    scratch.write("tube.npz", &tube);
    // An old result is not touched either.
    scratch.put("report.html", "of an earlier run");
    let before = scratch.files();
    for signal in ["-INT", "-TERM"] {
        // Twenty-five fits of a thousand rounds each.
        let output = stopped(
            &scratch,
            "fit tube.npz -o skin.glb --report report.html --hold-out one --rest-rounds 1000",
            signal,
        );
        assert_eq!(output.status.code(), Some(2), "an exit, no crash");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.starts_with("error: ") && said.contains("stopped"),
            "{said}"
        );
        assert!(output.stdout.is_empty(), "no results");
        assert_eq!(scratch.files(), before, "no skin, no report, no .part");
        let report = std::fs::read_to_string(scratch.at("report.html"));
        assert_eq!(
            report.expect("it is there"),
            "of an earlier run",
            "untouched"
        );
    }
}

/// A flag whose decomposition into many bones takes far longer than anybody waits.
const LONG: &str =
    "decompose flag.npz --bones 40 --rounds 100000 --starts 1 -o skin.glb --report report.html";

#[test]
fn ctrl_c_stops_a_decomposition_and_leaves_no_file() {
    let (scratch, _) = flag_folder();
    scratch.put("report.html", "of an earlier run");
    let before = scratch.files();
    for signal in ["-INT", "-TERM"] {
        let output = stopped(&scratch, LONG, signal);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "an exit, no crash: {said}");
        assert!(
            said.starts_with("error: stopped") && said.contains("--checkpoint"),
            "{said}"
        );
        assert_eq!(said.trim().lines().count(), 1, "one sentence: {said}");
        assert!(output.stdout.is_empty(), "no results");
        assert_eq!(scratch.files(), before, "no skin, no .part");
        let report = std::fs::read_to_string(scratch.at("report.html"));
        assert_eq!(
            report.expect("it is there"),
            "of an earlier run",
            "untouched"
        );
    }
}

#[test]
fn ctrl_c_with_a_checkpoint_keeps_the_best_so_far() {
    let (scratch, frames) = flag_folder();
    let rest = scratch.read("flag.npz").mesh;
    let output = stopped(&scratch, &format!("{LONG} --checkpoint --json"), "-INT");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("the best so far"), "{said}");
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("the results are whole");
    assert_eq!(report["stopped"], true, "{report:#}");
    let rounds = report["roundErrors"].as_array().map_or(0, Vec::len);
    assert!((1..99_999).contains(&rounds), "{rounds} rounds of 100000");
    let printed = report["eRms"].as_f64().expect("a number");
    let shown = shown_error(&scratch.read("skin.glb"), &rest, &[&frames]);
    assert!(
        (shown - printed).abs() < 0.01 * printed,
        "the file shows {shown}, {printed} was said"
    );
    assert_eq!(
        scratch.files(),
        ["flag.npz", "report.html", "skin.glb"],
        "all that was asked for, no .part"
    );
}

#[test]
fn ctrl_c_stops_a_conversion_and_leaves_no_file() {
    let scratch = Scratch::new();
    let tube = tube_document(&TubeOptions {
        ring_count: 60,
        segment_count: 40,
        bone_count: 12,
        example_count: 24,
    });
    scratch.write("tube.npz", &tube);
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    let before = scratch.files();
    for (command, signal) in [
        // Thousands of frames, baked and written one by one.
        (
            "convert tube.glb frames/#.obj --clip frames --fps 3000",
            "-INT",
        ),
        (
            "eval tube.glb --clip frames --fps 3000 -o frames.obj",
            "-TERM",
        ),
    ] {
        let output = stopped(&scratch, command, signal);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "an exit, no crash: {said}");
        assert_eq!(
            said, "error: stopped; nothing was written\n",
            "one sentence of {command}"
        );
        assert_eq!(scratch.files(), before, "no frame, no .part");
        assert!(!scratch.at("frames").exists(), "no folder");
    }
}

#[test]
fn ctrl_c_stops_work_that_never_looks_up() {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&common::SMALL_TUBE));
    // Nobody reads from the pipe, so the program waits inside the system, with a buffer written aside.
    let made = Command::new("mkfifo").arg(scratch.at("out.gltf")).status();
    assert!(made.expect("mkfifo starts").success(), "a pipe");
    let output = stopped(&scratch, "convert tube.npz out.gltf", "-INT");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "an exit, no crash: {said}");
    assert!(
        said.ends_with("error: stopped; nothing was written\n"),
        "{said}"
    );
    assert_eq!(scratch.files(), ["out.gltf", "tube.npz"], "no .part");
}

/// A folder with a flag, and its frames.
fn flag_folder() -> (Scratch, Vec<Vec<DVec3>>) {
    let made = flag(&FlagOptions {
        width: 40,
        height: 30,
        frame_count: 30,
    });
    let frames: Vec<Vec<DVec3>> = made.frames().map(<[DVec3]>::to_vec).collect();
    let scratch = Scratch::new();
    scratch.write("flag.npz", &sequence(made.rest(), &frames));
    (scratch, frames)
}
