//! Somebody has a simulation and asks how small it can be made, and what plays it.

use dermis::compare::Decomposer;
use dermis::synth::{FlagOptions, flag};
use dermis_io::{Document, Frame};
use serde_json::Value;

use crate::common::{Scratch, number, quoted};
use crate::support;

/// A folder with a small flag in the wind.
fn folder() -> Scratch {
    let made = flag(&FlagOptions {
        width: 18,
        height: 12,
        frame_count: 24,
    });
    let frame = |(number, positions): (usize, &[glam::DVec3])| Frame {
        name: format!("frame {number}"),
        positions: positions.to_vec(),
    };
    let scratch = Scratch::new();
    scratch.write(
        "flag.npz",
        &Document {
            mesh: made.rest().clone(),
            frames: made.frames().enumerate().map(frame).collect(),
            frames_per_second: Some(30.0),
            ..Document::default()
        },
    );
    scratch
}

fn row<'a>(report: &'a Value, key: &str) -> &'a Value {
    let rows = report["methods"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["method"] == key);
    row.unwrap_or_else(|| panic!("no row {key} in {report:#}"))
}

#[test]
fn every_way_has_numbers_and_none_is_below_the_bound() {
    let command = "compare flag.npz --decompose 5 --rank 3 --json";
    let report = folder().dermis(command).done().json();
    let bound = number(&report, "/bound");
    assert!(bound > 0.0, "five bones do not repeat a flag");
    for decomposer in Decomposer::all() {
        let row = row(&report, decomposer.key());
        assert!(
            number(row, "/numbers/eRms") >= 0.999 * bound,
            "fact 2: {row:#}"
        );
        assert_eq!(row["keepsTheBound"], true, "{row:#}");
        assert_eq!(
            number(row, "/numbers/bytesPerFrame"),
            240.0,
            "the same data: {row:#}"
        );
        assert_eq!(
            row["frameErrors"].as_array().map(Vec::len),
            Some(24),
            "{row:#}"
        );
        if row["kind"] == "skin" {
            let corrected = number(row, "/withEigenSkin/eRms");
            assert!(
                corrected < number(row, "/numbers/eRms"),
                "corrected: {row:#}"
            );
            assert_eq!(row["playback"], "exact", "{row:#}");
        } else {
            assert!(
                row["withEigenSkin"].is_null() && row["playback"].is_null(),
                "{row:#}"
            );
        }
    }
}

#[test]
fn the_table_names_every_way_and_says_what_it_means() {
    let run = folder().dermis("compare flag.npz --decompose 5").done();
    for decomposer in Decomposer::all() {
        let begins = |line: &str| line.split_whitespace().next() == Some(decomposer.key());
        assert!(
            run.stdout.lines().any(begins),
            "{}: {run:#?}",
            decomposer.key()
        );
    }
    assert!(run.says("216 vertices, 24 frames, 5 bones"), "{run:#?}");
    assert!(run.says("+ rank 10"), "ten unless given: {run:#?}");
    assert!(run.says("Of the skins,"), "{run:#?}");
    assert_eq!(run.stderr, "", "nothing to warn of: {run:#?}");
    let plain = folder()
        .dermis("compare flag.npz --decompose 5 --rank 0")
        .done();
    assert!(!plain.says("rank"), "no such column: {plain:#?}");
}

#[test]
fn the_page_shows_table_charts_and_a_picture_and_needs_no_other_file() {
    let scratch = folder();
    let command = "compare flag.npz --decompose 4 --rank 2 --report page.html";
    let run = scratch.dermis(command).done();
    assert!(run.stderr.contains("wrote page.html"), "{run:#?}");
    let html = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    assert!(
        html.contains(&format!("<code>dermis {command}</code>")),
        "the command"
    );
    for decomposer in Decomposer::all() {
        let key = decomposer.key();
        assert!(html.contains(&format!("<code>{key}</code>")), "row {key}");
        assert_eq!(
            html.matches(&format!(">{key}</text>")).count(),
            2,
            "{key} below its bars and at its line"
        );
    }
    let charts = html.matches("class=\"dermis-chart\"").count();
    assert_eq!(charts, 2, "charts");
    assert_eq!(
        html.matches("src=\"data:image/png;base64,").count(),
        1 + 2 * Decomposer::all().len(),
        "the animation, and of each way the shape and the error"
    );
    let html = html
        .replace("http://www.w3.org/2000/svg", "")
        .replace("url(#", "");
    for link in ["http://", "https://", "href=", "<script", "<link", "url("] {
        assert!(!html.contains(link), "{link} in the page");
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_exit_code_2() {
    let scratch = folder();
    for (arguments, words) in [
        ("compare flag.npz --decompose 0", &["--decompose", "0"][..]),
        (
            "compare flag.npz --decompose 999",
            &["flag.npz", "999 bones", "216 vertices"],
        ),
        (
            "compare flag.npz --decompose 3 --methods ssd",
            &["--decompose", "--methods"],
        ),
        (
            "compare flag.npz --decompose 3 --bones 4",
            &["--decompose", "--bones"],
        ),
        (
            "compare flag.npz --decompose 3 --hold-out one",
            &["--decompose", "--hold-out"],
        ),
        (
            "compare flag.npz --decompose 3 --save skins",
            &["--decompose", "--save"],
        ),
        ("compare flag.npz --rank 4", &["--decompose"]),
    ] {
        let run = scratch.dermis(arguments);
        assert_eq!(run.code, 2, "{run:#?}");
        assert_eq!(run.stdout, "", "{run:#?}");
        for word in words {
            assert!(run.stderr.contains(word), "{word}: {run:#?}");
        }
    }
}

#[test]
fn a_mesh_that_does_not_move_is_refused_in_one_sentence() {
    let scratch = folder();
    scratch.put("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let run = scratch.dermis("compare one.obj --decompose 2");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(
        run.stderr.contains("one.obj: expected a mesh that moves"),
        "{run:#?}"
    );
    assert_eq!(run.stderr.trim().lines().count(), 1, "{run:#?}");
}

#[test]
fn any_number_of_threads_gives_the_same_numbers() {
    let scratch = folder();
    let without_times = |threads: usize| {
        let command = format!("compare flag.npz --decompose 6 --json --threads {threads}");
        let mut report = scratch.dermis(&command).done().json();
        for row in report["methods"].as_array_mut().expect("a list") {
            for numbers in ["numbers", "withEigenSkin"] {
                if let Some(numbers) = row[numbers].as_object_mut() {
                    numbers.remove("seconds");
                }
            }
        }
        // The command has the number of threads in it.
        report["provenance"]["command"] = Value::Null;
        report
    };
    assert_eq!(without_times(1), without_times(3), "bit for bit");
}

/// Table 2 of \[Kavan10\] on the horse that collapses like cloth: half again the errors given there.
#[test]
fn a_collapsing_horse_has_the_errors_of_the_paper() {
    let Some(horse) = support::data("horse-collapse/horse-collapse.npz") else {
        return;
    };
    let scratch = Scratch::new();
    let command = format!("compare {} --decompose 6 --json --quiet", quoted(&horse));
    let report = scratch.dermis(&command).done().json();
    for (key, as_it_is, corrected) in [
        ("sma", 48.0, Some(1.3)),
        ("sad", 26.0, Some(0.8)),
        ("clustered-pca", 12.4, None),
        ("svd", 1.0, None),
    ] {
        let row = row(&report, key);
        let found = number(row, "/numbers/eRms");
        assert!(
            found < 1.5 * as_it_is,
            "{key}: {found}, in the paper {as_it_is}"
        );
        if let Some(paper) = corrected {
            let found = number(row, "/withEigenSkin/eRms");
            assert!(
                found < 3.0 * paper,
                "{key} corrected: {found}, in the paper {paper}"
            );
        }
    }
}
