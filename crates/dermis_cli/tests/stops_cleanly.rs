//! Ctrl-C ends a long fit soon, and leaves nothing half done.

#![cfg(unix)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Scratch, tube_document};
use dermis::synth::TubeOptions;

/// Longer than reading the examples takes, and far shorter than the fit.
const BEFORE_STOPPING: Duration = Duration::from_millis(800);
/// A user's patience.
const SOON: Duration = Duration::from_secs(3);

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
        let mut child = scratch
            .command(
                "fit tube.npz -o skin.glb --report report.html --hold-out one --rest-rounds 1000",
            )
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
        let output = child.wait_with_output().expect("it has ended");
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
