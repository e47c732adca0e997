//! Somebody reads tables on a screen of ordinary width, and puts the numbers into a spreadsheet with a note of where they
//! come from.

use crate::common::{SMALL_TUBE, Scratch, number, sequence, tube_document};
use dermis::synth::{FlagOptions, flag};
use glam::DVec3;
use serde_json::Value;

fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    let made = flag(&FlagOptions {
        width: 8,
        height: 6,
        frame_count: 8,
    });
    let frames: Vec<Vec<DVec3>> = made.frames().map(<[DVec3]>::to_vec).collect();
    scratch.write("flag.npz", &sequence(made.rest(), &frames));
    scratch.dermis("fit tube.npz -o skin.glb -q").done();
    scratch
}

/// Every command that prints results.
const COMMANDS: [&str; 12] = [
    "info tube.npz skin.glb",
    "fit tube.npz -o out.glb",
    "fit tube.npz --method auto -o out.glb",
    "compare tube.npz --methods ssd,animation-space",
    "compare flag.npz --decompose 3",
    "decompose flag.npz --bones 3 --quality fast -o out.glb",
    "rig tube.npz --bones 3 -o out.npz",
    "pose skin.glb --to tube.npz",
    "stats skin.glb",
    "bounds skin.glb",
    "subdivide skin.glb -o out.glb",
    "measure tube.npz skin.glb --per-frame",
];

/// The lines of CSV that are no comments, as fields; none of these tests has a comma inside a field.
fn records(csv: &str) -> Vec<Vec<&str>> {
    let lines = csv.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(',').collect()).collect()
}

#[test]
fn no_table_is_wider_than_100_letters_unless_asked_for() {
    let scratch = folder();
    for command in COMMANDS {
        let run = scratch.dermis(command).done();
        let widest = run.stdout.lines().max_by_key(|line| line.chars().count());
        let widest = widest.unwrap_or_default();
        assert!(
            widest.chars().count() <= 100,
            "{command}: {} letters in {widest}",
            widest.chars().count()
        );
        let wide = scratch.dermis(&format!("{command} --wide")).done();
        assert!(!wide.stdout.is_empty(), "{wide:#?}");
    }
    let narrow = scratch.dermis("compare tube.npz --methods ssd").done();
    let wide = scratch
        .dermis("compare tube.npz --methods ssd --wide")
        .done();
    for part in ["ns/", "seconds", "normal"] {
        assert!(!narrow.stdout.contains(part), "{part} in {narrow:#?}");
        assert!(wide.stdout.contains(part), "{part} in {wide:#?}");
    }
}

#[test]
fn every_result_can_be_had_as_json_and_csv_with_what_it_comes_from() {
    let scratch = folder();
    for command in COMMANDS {
        let json = scratch.dermis(&format!("{command} --json -q")).done();
        let json = json.json();
        let entry = match &json {
            Value::Array(entries) => &entries[0],
            one => one,
        };
        let provenance = &entry["provenance"];
        assert_eq!(provenance["dermis"], env!("CARGO_PKG_VERSION"), "{command}");
        let said = provenance["command"].as_str().unwrap_or_default();
        assert!(
            said.starts_with("dermis ") && said.contains(command),
            "{said}"
        );
        assert!(provenance["options"].is_object(), "{provenance:#}");
        let inputs = provenance["inputs"].as_array().expect("a list");
        assert!(!inputs.is_empty(), "{command}: {provenance:#}");
        for input in inputs {
            let hash = input["sha256"].as_str().unwrap_or_default();
            assert_eq!(hash.len(), 64, "{command}: {input}");
            let file = input["file"].as_str().unwrap_or_default();
            assert!(command.contains(file), "{file} in {command}");
        }

        let csv = scratch.dermis(&format!("{command} --csv -q")).done();
        let comments: Vec<&str> = (csv.stdout.lines())
            .take_while(|line| line.starts_with("# "))
            .collect();
        assert!(comments[0].starts_with("# dermis: "), "{csv:#?}");
        let hash = inputs[0]["sha256"].as_str().unwrap_or_default();
        assert!(
            comments.iter().any(|line| line.ends_with(hash)),
            "{command}: the hash of its input in {comments:?}"
        );
        let lines: Vec<&str> = csv.stdout.lines().skip(comments.len()).collect();
        assert!(lines.len() >= 2, "names and a row: {csv:#?}");
        assert!(
            !lines[0].contains(' ') || lines[0].contains(','),
            "{csv:#?}"
        );
    }
}

#[test]
fn csv_has_all_columns_and_all_digits_of_the_json() {
    let scratch = folder();
    let command = "compare tube.npz --methods ssd,dual-quaternion";
    let csv = scratch.dermis(&format!("{command} --csv")).done().stdout;
    let json = scratch.dermis(&format!("{command} --json")).done().json();
    let records = records(&csv);
    let names = &records[0];
    for (row, method) in [(1, 0), (2, 1)] {
        let label = json["methods"][method]["label"].as_str();
        assert_eq!(records[row].len(), names.len(), "a field for each name");
        assert_eq!(Some(records[row][0]), label, "its name");
        for key in ["heldOut.eRms", "training.eRms", "cost.bytesPerFrame"] {
            let column = names.iter().position(|name| *name == key);
            let column = column.unwrap_or_else(|| panic!("{key} in {names:?}"));
            let pointer = format!("/methods/{method}/{}", key.replace('.', "/"));
            let found: f64 = records[row][column].parse().expect("a number");
            assert_eq!(found, number(&json, &pointer), "{key}, to the last digit");
        }
    }
    let options = json["provenance"]["methods"]["ssd"]["options"].clone();
    assert_eq!(options["max-influences"], "4", "{options:#}");
    assert_eq!(
        json["provenance"]["options"]["hold-out"], "every:4",
        "a default"
    );
}

#[test]
fn the_hash_is_that_of_the_file_before_it_is_written_over() {
    let scratch = folder();
    let hash = |command: &str| {
        let json = scratch.dermis(command).done().json();
        let entry = json.get(0).unwrap_or(&json).clone();
        entry["provenance"]["inputs"][0]["sha256"].clone()
    };
    let before = hash("stats skin.glb --json");
    assert_eq!(
        hash("stats skin.glb -o skin.glb --force --json"),
        before,
        "as it was read"
    );
    assert_ne!(hash("stats skin.glb --json"), before, "another file now");
}
