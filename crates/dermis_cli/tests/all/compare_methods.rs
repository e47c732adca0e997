//! Somebody asks which method suits a character, and gets a table, a page and the skins.

use dermis::fit::Method;
use serde_json::Value;

use crate::common::{SMALL_TUBE, Scratch, number, tube_document};

/// A folder with the examples of a tube that linear blending made.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch
}

#[test]
fn every_method_has_a_row_and_linear_blending_explains_what_it_made() {
    let scratch = folder();
    let report = scratch.dermis("compare tube.npz --json").done().json();
    let rows = report["methods"].as_array().expect("a list");
    let keys: Vec<&str> = rows.iter().filter_map(|r| r["method"].as_str()).collect();
    let expected: Vec<&str> = Method::all(4).iter().map(Method::key).collect();
    assert_eq!(keys, expected, "all of them, the simplest first");
    for row in rows {
        let has_numbers = row["heldOut"]["eRms"].is_f64();
        let has_reason = row["error"].is_string();
        assert!(has_numbers != has_reason, "one of the two: {row:#}");
        if has_numbers {
            assert!(number(row, "/nsPerVertex") > 0.0, "timed: {row:#}");
            assert!(number(row, "/cost/bytesPerVertex") > 12.0, "sized: {row:#}");
            let plays = row["playback"] == "exact";
            let in_engines = number(row, "/stockEngines/heldOut/eRms");
            let of_model = number(row, "/heldOut/eRms");
            assert_eq!(plays, row["stockEngines"]["shows"] == "theSkin", "{row:#}");
            assert!(
                !plays || in_engines == of_model,
                "what plays is the skin: {row:#}"
            );
        }
    }
    let error_of = |key: &str| {
        let row = rows.iter().find(|row| row["method"] == key);
        number(row.expect("a row"), "/heldOut/eRms")
    };
    assert!(error_of("ssd") < 0.01, "exact, found {}", error_of("ssd"));
    assert!(
        error_of("dual-quaternion") > 1.0,
        "a linear blend is none, found {}",
        error_of("dual-quaternion")
    );
    let advice = report["advice"].as_array().expect("sentences");
    assert!(!advice.is_empty(), "{report:#}");
}

#[test]
fn the_table_names_what_was_asked_for_and_says_what_it_means() {
    let scratch = folder();
    let run = scratch
        .dermis("compare tube.npz --methods dual-quaternion,ssd --max-influences 2 --wide")
        .done();
    let first_words: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(first_words.contains(&"ssd"), "{run:#?}");
    assert!(first_words.contains(&"dual-quaternion"), "{run:#?}");
    assert!(!run.says("mwe"), "it was not asked for: {run:#?}");
    let lowest = "Linear blend skinning has the lowest error on the held-out examples";
    assert!(run.says(lowest), "{run:#?}");
    // What stock engines show of dual quaternions is linear blending with the same weights: exact here.
    let last_of = |key: &str| {
        let line = run.stdout.lines().find(|line| line.starts_with(key));
        let last = line.and_then(|line| line.split_whitespace().last());
        last.and_then(|word| word.parse::<f64>().ok())
            .expect("E_RMS there")
    };
    assert!(run.says("needs dermis runtime"), "{run:#?}");
    assert!(last_of("dual-quaternion ") < 0.01, "{run:#?}");
    assert_eq!(last_of("ssd "), last_of("dual-quaternion "), "{run:#?}");
    assert_eq!(run.stderr, "", "something is held out: {run:#?}");
}

#[test]
fn numbers_without_held_out_examples_come_with_a_warning() {
    let scratch = folder();
    let command = "compare tube.npz --methods ssd --hold-out none";
    let run = scratch.dermis(command).done();
    assert!(run.stderr.contains("nothing is held out"), "{run:#?}");
    assert!(
        run.says("none were held out"),
        "and in the advice: {run:#?}"
    );
}

#[test]
fn the_page_shows_table_charts_and_pictures_and_needs_no_other_file() {
    let scratch = folder();
    let command = "compare tube.npz --methods ssd,pseudo-bones,dual-quaternion --report page.html";
    let run = scratch.dermis(command).done();
    assert!(run.stderr.contains("wrote page.html"), "{run:#?}");
    let html = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    let command = format!("<code>dermis {command}</code>");
    assert!(html.contains(&command), "the command");
    assert!(
        html.contains("in stock engines"),
        "and how well what they show fits"
    );
    for key in ["ssd", "pseudo-bones", "dual-quaternion"] {
        assert!(html.contains(&format!("<code>{key}</code>")), "row {key}");
        // Two charts of cost, one of examples: the name beside each point and line.
        let entries = html.matches(&format!(">{key}</text>")).count();
        assert_eq!(entries, 3, "{key} in the charts");
    }
    assert_eq!(html.matches("class=\"dermis-chart\"").count(), 3, "charts");
    for heading in ["What the numbers say", "Where the error is", "How to read"] {
        assert!(html.contains(heading), "{heading}");
    }
    let html = html.replace("http://www.w3.org/2000/svg", "");
    let html = html.replace("url(#", "");
    for link in ["http://", "https://", "href=", "<script", "<link", "url("] {
        assert!(!html.contains(link), "{link} in the page");
    }
    let sources = html.matches("src=").count();
    let pictures = html.matches("src=\"data:image/png;base64,").count();
    assert_eq!(sources, pictures, "every source is inside");
    // One example of six is held out, so the worst pose is also the typical one.
    assert_eq!(
        pictures, 7,
        "the truth, and of three methods the shape and the error"
    );
}

#[test]
fn the_skins_are_saved_under_the_names_of_their_methods() {
    let scratch = folder();
    scratch
        .dermis("compare tube.npz --methods ssd,pseudo-bones --save skins --quiet")
        .done();
    for key in ["ssd", "pseudo-bones"] {
        let document = scratch.read(&format!("skins/{key}.glb"));
        assert!(document.skin.is_some(), "a skin by {key}");
        let record = document.record.expect("how it was made");
        assert_eq!(record.method, key, "the method is on record");
        assert!(record.held_out.is_some(), "and how good it is");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_numbers() {
    let scratch = folder();
    let without_times = |threads: usize| {
        let command = format!("compare tube.npz --json --threads {threads}");
        let mut report = scratch.dermis(&command).done().json();
        for row in report["methods"].as_array_mut().expect("a list") {
            row["nsPerVertex"] = Value::Null;
            row["fitSeconds"] = Value::Null;
        }
        // The command has the number of threads in it.
        report["provenance"]["command"] = Value::Null;
        report
    };
    assert_eq!(without_times(1), without_times(3), "bit for bit");
}
