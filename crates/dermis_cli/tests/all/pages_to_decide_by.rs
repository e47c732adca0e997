//! Somebody opens a page and wants to know in a minute which skin to take.

use serde_json::Value;

use crate::common::{SMALL_TUBE, Scratch, tube_document};

/// A folder with a tube, and the page of a comparison of it.
fn compared(options: &str) -> String {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    let command = format!("compare tube.npz {options} --report page.html --quiet");
    scratch.dermis(&command).done();
    std::fs::read_to_string(scratch.at("page.html")).expect("a page")
}

/// Where each of some parts begins; they must be there in this order.
#[track_caller]
fn assert_in_order(page: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = page[from..].find(part);
        from += at.unwrap_or_else(|| panic!("{part} is missing, or before what it should follow"));
    }
}

#[test]
fn a_comparison_begins_with_a_verdict_and_goes_from_numbers_to_pictures_to_charts_to_words() {
    let page = compared("--methods ssd,dual-quaternion");
    assert_in_order(
        &page,
        &[
            "<p class=\"verdict\">Linear blend skinning wins, for stock engines and for dermis' own run-time",
            "<thead>",
            "What the numbers say",
            "Where the error is",
            "class=\"dermis-legend\"",
            "class=\"pictures\"",
            "Error against cost",
            "class=\"dermis-chart\"",
            "How to read the numbers",
        ],
    );
}

#[test]
fn few_columns_are_shown_first_and_all_of_them_without_a_script() {
    let page = compared("--methods ssd,dual-quaternion");
    let head = page.split("<thead>").nth(1).expect("a table");
    let head = head.split("</thead>").next().expect("its head");
    let columns = head.matches("<th").count() - 1;
    let later = head.matches("later\"").count();
    assert!(
        (5..=7).contains(&(columns - later)),
        "{columns} columns, {later} later"
    );
    assert!(
        page.contains(&format!("show all {columns} columns</label>")),
        "a switch"
    );
    assert!(
        page.contains(".later{display:none}"),
        "which works by style alone"
    );
    assert!(!page.contains("<script"), "no script");
    assert!(page.contains("prefers-color-scheme:dark"), "dark paper");
    assert!(page.contains("@media print"), "and real paper");
}

#[test]
fn every_row_of_pictures_has_the_truth_first_and_names_the_worst_vertex_of_each_method() {
    let page = compared("--methods ssd,dual-quaternion");
    let row = page
        .split("<div class=\"pictures\">")
        .nth(1)
        .expect("a row");
    let row = row.split("</section>").next().expect("its end");
    let cells: Vec<&str> = row.split("<div class=\"cell").skip(1).collect();
    assert_eq!(cells.len(), 3, "the truth and two methods");
    assert!(cells[0].starts_with(" truth\"><b>truth</b>"), "first");
    assert!(cells[1].contains("<b>ssd</b>"), "the lowest error first");
    for cell in &cells[1..] {
        assert_eq!(cell.matches("<img").count(), 2, "its shape and its error");
        for part in ["worst: vertex ", " model units off, ", "% of the size"] {
            assert!(cell.contains(part), "{part}");
        }
    }
    assert!(
        cells[2].contains("<i class=\"mark"),
        "and shows where it is"
    );
    let sizes = |cell: &str| {
        let from = cell.find("width=\"").expect("a width");
        cell[from..from + 24].to_owned()
    };
    assert!(
        cells.iter().all(|cell| sizes(cell) == sizes(cells[0])),
        "one framing"
    );
}

#[test]
fn a_skin_that_tears_the_mesh_gets_a_sentence_and_a_whole_one_none() {
    let scratch = Scratch::new();
    let mut document = tube_document(&dermis::synth::TubeOptions {
        example_count: 12,
        ..SMALL_TUBE
    });
    let whole = "compare tube.npz --methods ssd,psd --json --quiet";
    scratch.write("tube.npz", &document);
    let report = scratch.dermis(whole).done().json();
    for row in report["methods"].as_array().expect("a list") {
        for part in ["overall", "training", "heldOut"] {
            assert_eq!(row["damage"][part]["tornEdges"], 0, "{part}: {row:#}");
            assert_eq!(row["damage"][part]["foldedTriangles"], 0, "{part}: {row:#}");
        }
    }
    // In every example but those that will be held out a vertex sits far from the mesh. Shapes learn that, and put it
    // there in the held-out poses too, where it is as it should be.
    let size = document.mesh.bounds().diagonal();
    for (number, frame) in document.frames.iter_mut().enumerate() {
        if number % 4 != 3 {
            frame.positions[40].z += (0.3 + 0.05 * number as f64) * size;
        }
    }
    scratch.write("spiked.npz", &document);
    let run = scratch
        .dermis("compare spiked.npz --methods psd --quiet")
        .done();
    assert!(
        run.says("psd tears the mesh in held-out poses: an edge near "),
        "{run:#?}"
    );
    assert!(
        run.says("times as long as it should be in pose "),
        "{run:#?}"
    );
    let json = "compare spiked.npz --methods psd --json --quiet";
    let report = scratch.dermis(json).done().json();
    let tear: &Value = &report["methods"][0]["damage"]["heldOut"]["worstTear"];
    let ends: Vec<u64> = (tear["vertices"].as_array().expect("two ends").iter())
        .filter_map(Value::as_u64)
        .collect();
    assert!(ends.contains(&40), "{tear:#}");
    assert!(
        tear["times"].as_f64().is_some_and(|times| times > 4.0),
        "{tear:#}"
    );
}

#[test]
fn the_page_of_a_fit_says_how_good_it_is_before_all_else() {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    let command = "fit tube.npz -o skin.glb --method dual-quaternion --report page.html --quiet";
    scratch.dermis(command).done();
    let page = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    assert_in_order(
        &page,
        &[
            "<h1>",
            "<p class=\"verdict\">Dual quaternion",
            "on held-out examples, which is visible",
            "<thead>",
            "class=\"pictures\"",
            "class=\"dermis-chart\"",
        ],
    );
}
