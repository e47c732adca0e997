//! Somebody stops a long comparison, and goes on with it later.

use dermis::synth::TubeOptions;

use crate::common::{SMALL_TUBE, Scratch, number, tube_document};

fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch
}

#[test]
fn finished_rows_are_reused_and_it_is_said_which() {
    let scratch = folder();
    let first = scratch
        .dermis("compare tube.npz --methods ssd --resume rows.json --json")
        .done();
    assert!(!first.stderr.contains("reused"), "{first:#?}");
    let run = scratch
        .dermis("compare tube.npz --methods ssd,dual-quaternion --resume rows.json --json")
        .done();
    assert!(
        run.stderr.contains("ssd is reused from rows.json"),
        "{run:#?}"
    );
    let (first, both) = (first.json(), run.json());
    // A time of its own would be another in every run.
    assert_eq!(
        both["methods"][0], first["methods"][0],
        "the same row, to the last digit"
    );
    assert_eq!(both["methods"][1]["method"], "dual-quaternion", "{both:#}");
    let fresh = scratch
        .dermis("compare tube.npz --methods ssd,dual-quaternion --json")
        .done()
        .json();
    assert_eq!(both["advice"], fresh["advice"], "as of a run in one go");
    let error = |report: &serde_json::Value| number(report, "/methods/1/heldOut/eRms");
    assert_eq!(error(&both), error(&fresh), "the same numbers");
    let all = scratch
        .dermis("compare tube.npz --methods ssd,dual-quaternion --resume rows.json")
        .done();
    assert!(
        all.stderr.contains("ssd and dual-quaternion are reused"),
        "{all:#?}"
    );
}

#[test]
fn other_inputs_or_options_are_compared_anew() {
    let scratch = folder();
    let compare = "compare tube.npz --methods ssd --resume rows.json";
    scratch.dermis(compare).done();
    for changed in ["--hold-out none", "--max-influences 2"] {
        let run = scratch
            .dermis(&format!("{compare} {changed} --json"))
            .done();
        assert!(!run.stderr.contains("reused"), "{run:#?}");
    }
    scratch.dermis(compare).done();
    let mut other = tube_document(&SMALL_TUBE);
    other.frames[0].positions[0].x += 0.001;
    scratch.write("tube.npz", &other);
    let run = scratch.dermis(compare).done();
    assert!(!run.stderr.contains("reused"), "another file: {run:#?}");
}

#[test]
fn a_file_of_something_else_is_not_written_over() {
    let scratch = folder();
    scratch.put("notes.json", "{\"mine\": true}");
    let run = scratch.dermis("compare tube.npz --methods ssd --resume notes.json");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(
        run.stderr.contains("notes.json: expected the numbers"),
        "{run:#?}"
    );
    let kept = std::fs::read_to_string(scratch.at("notes.json"));
    assert_eq!(kept.expect("it is there"), "{\"mine\": true}", "untouched");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_finished_and_says_how_to_go_on() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let scratch = Scratch::new();
    let tube = tube_document(&TubeOptions {
        ring_count: 60,
        segment_count: 40,
        bone_count: 12,
        example_count: 24,
    });
    scratch.write("tube.npz", &tube);
    // The first takes a moment; the second tries every base many times.
    let compare = "compare tube.npz --methods ssd,psd --resume rows.json --csv -v";
    let mut child = scratch
        .command(compare)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // With -v every stage is said: once the second method has begun, the first is finished.
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let begun = said.find(|line| (line.as_ref()).is_ok_and(|line| line.contains("method 2 of 2")));
    assert!(begun.is_some(), "the second method begins");
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("kill starts").success(), "it was still running");
    let start = Instant::now();
    while child.try_wait().expect("its state is known").is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it can be ended");
            panic!("Ctrl-C did not stop it");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it has ended");
    let said: String = said.map_while(Result::ok).collect();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("stopped after 1 of 2 methods; the same command goes on with the rest"),
        "{said}"
    );
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(
        table.lines().any(|line| line.starts_with("ssd,")),
        "what is finished: {table}"
    );
    let again = scratch
        .dermis("compare tube.npz --methods ssd --resume rows.json")
        .done();
    assert!(
        again.stderr.contains("ssd is reused from rows.json"),
        "{again:#?}"
    );
}
