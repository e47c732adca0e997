//! A character gets coarser levels, in one file or in several.

use crate::common::{SMALL_TUBE, Scratch, number, quoted, tube_document};
use crate::support;

#[test]
fn each_level_has_fewer_triangles_and_plays_the_same_clips() {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    let run = scratch.dermis("lod tube.npz --ratios 0.5,0.25 --separate -o out.glb --json");
    let said = run.done().json();
    let full = scratch.read("out.glb");
    let mut before = full.mesh.triangles().len();
    for (number_of, name) in [(1, "out_lod1.glb"), (2, "out_lod2.glb")] {
        let level = scratch.read(name);
        let count = level.mesh.triangles().len();
        assert!(count < before, "{name}: {count} of {before} triangles");
        before = count;
        let row = format!("/levels/{number_of}");
        assert_eq!(
            number(&said, &format!("{row}/triangles")),
            count as f64,
            "as said"
        );
        let [shown, most] = ["clipsRmsPercent", "guaranteedPercent"]
            .map(|key| number(&said, &format!("{row}/{key}")));
        assert!(
            shown <= most,
            "{name}: {shown}% in the clips, {most}% guaranteed"
        );
        let names = |document: &dermis_io::Document| -> Vec<String> {
            document
                .clips
                .iter()
                .map(|clip| clip.name.clone())
                .collect()
        };
        assert_eq!(
            names(&level),
            names(&full),
            "{name}: the clips of the character"
        );
    }
}

#[test]
fn influences_alone_may_be_taken_away() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    let run =
        scratch.dermis("lod tube.glb --no-mesh --influences 130 --separate -o out.glb --json");
    let said = run.done().json();
    assert!(number(&said, "/levels/1/influences") <= 130.0, "{said}");
    let same = number(&said, "/levels/0/triangles") == number(&said, "/levels/1/triangles");
    assert!(same, "all triangles stay");
}

#[test]
fn a_guarantee_that_no_level_holds_is_refused() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    let run = scratch.dermis("lod tube.glb --triangles 20 --guarantee 0.0000001 -o out.glb");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.stderr.contains("--guarantee"), "{run:#?}");
    assert_eq!(scratch.files(), ["tube.glb"], "nothing is written");
}

/// Units are what people type; the file counts in metres.
#[test]
fn a_guarantee_in_any_unit_is_held_and_stated_in_the_file() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    let size = number(
        &scratch.dermis("lod tube.glb -o out.glb --json").json(),
        "/size",
    );
    let percent = format!("{}%", 100.0 * 0.25 / size);
    for guarantee in ["0.25", "25cm", "250mm", "0.25m", &percent] {
        let run = scratch.dermis(&format!(
            "lod tube.glb --triangles 60,20 --guarantee {guarantee} -o out.glb --force"
        ));
        assert!(run.code <= 1, "{run:#?}");
        let levels = scratch.read("out.glb").levels;
        assert!(!levels.is_empty(), "{guarantee}: a level is made");
        for level in levels {
            let most = level.record.guaranteed_error.expect("stated");
            assert!(most <= 0.25, "{guarantee}: {most}");
        }
    }
    let run = scratch.dermis("lod tube.glb --pixels 1 --distances 500cm,10m -o out.glb --json");
    assert!(run.code <= 1, "{run:#?}");
    assert_eq!(
        run.json()["levels"].as_array().map(Vec::len),
        Some(3),
        "two levels, near and far: {run:#?}"
    );
}

#[test]
fn a_report_shows_what_simplification_at_rest_alone_would_lose() {
    let scratch = Scratch::new();
    let fine = dermis::synth::TubeOptions {
        ring_count: 40,
        segment_count: 16,
        ..SMALL_TUBE
    };
    scratch.write("tube.npz", &tube_document(&fine));
    let plain = "lod tube.npz --ratios 0.5,0.1 -o out.glb --force";
    let said = scratch.dermis(&format!("{plain} --json")).done().json();
    let without = &said["levels"][2]["restOnlyRmsPercent"];
    assert!(without.is_null(), "nothing is compared without a page");
    let reported = format!("{plain} --report page.html");
    let said = scratch.dermis(&format!("{reported} --json")).done().json();
    let [own, rest] = ["clipsRmsPercent", "restOnlyRmsPercent"]
        .map(|key| number(&said, &format!("/levels/2/{key}")));
    assert!(
        rest > 1.5 * own,
        "the bent tube is worth it: {own}% against {rest}% at rest alone"
    );
    // Measured once more for the page, in the poses that the file's own error is measured in.
    let verdict = said["verdict"].as_str().expect("a verdict");
    let told = verdict.split("off by ").nth(1).expect("an error");
    let told = told.split('%').next().and_then(|text| text.parse().ok());
    let told: f64 = told.expect("a number");
    assert!((told / own - 1.0).abs() < 0.05, "{own}% in {verdict}");
    let out = number(&said, "/levels/2/standsOutPercent");
    assert!(
        (0.0..5.0).contains(&out),
        "the tube is near the level, too: {out}%"
    );
    assert!(!said.to_string().contains("spikes"), "it has none: {said}");
    let wide = scratch.dermis(&format!("{reported} --wide")).done();
    assert!(wide.stdout.contains("rest only"), "{wide:#?}");

    let page = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    let mut from = 0;
    for part in [
        "<h1>2 levels of tube.npz</h1>",
        "<p class=\"verdict\">Level 2 has a tenth of the triangles and is off by",
        "simplified at rest alone it would be off by",
        "<th>RMS %,<small>rest only</small></th>",
        "What it looks like",
        "class=\"dermis-legend\"",
        "% of the size",
        "class=\"pictures\"",
        "<b>full</b>",
        "<b>level 1</b>",
        "<b>level 2</b>",
        "<b>level 2, at rest alone</b>",
        "class=\"pictures\"",
        "class=\"dermis-chart\"",
        "How to read the numbers",
    ] {
        let at = page[from..].find(part);
        from += at.unwrap_or_else(|| panic!("{part} is missing, or before what it should follow"));
    }
    assert!(!page.contains("<script"), "no script");
    assert_eq!(
        page.matches("src=\"").count(),
        page.matches("src=\"data:").count(),
        "nothing from elsewhere"
    );
}

/// At rest nobody misses an influence, so there is nothing to compare with.
#[test]
fn a_report_of_fewer_influences_compares_with_nothing_at_rest() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    let run = "lod tube.glb --no-mesh --influences 130 -o out.glb --report page.html --json";
    let said = scratch.dermis(run).done().json();
    assert!(said["levels"][1]["restOnlyRmsPercent"].is_null(), "{said}");
    let verdict = said["verdict"].as_str().expect("a verdict");
    assert!(verdict.contains("of the influences"), "{verdict}");
    assert!(!verdict.contains("at rest"), "{verdict}");
    let page = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    assert!(page.contains("<b>level 1</b>"), "it is shown");
    assert!(!page.contains("at rest alone"), "and nothing beside it");
}

#[test]
fn levels_in_files_of_their_own_do_not_replace_the_input() {
    let scratch = Scratch::new();
    scratch.write("hero_lod2.glb", &tube_document(&SMALL_TUBE));
    let before = std::fs::read(scratch.at("hero_lod2.glb")).expect("the input");
    let run = scratch.dermis("lod hero_lod2.glb --ratios 0.5,0.25 --separate -o hero.glb");
    assert_eq!(run.code, 2, "level 2 has the name of the input: {run:#?}");
    let after = std::fs::read(scratch.at("hero_lod2.glb")).expect("the input");
    assert!(before == after, "it is as it was");
    assert_eq!(scratch.files(), ["hero_lod2.glb"], "nothing is written");
}

#[test]
fn options_that_make_no_sense_get_one_sentence() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    for (options, word) in [
        ("--ratios 2", "--ratios"),
        ("--ratios 0.1,0.5", "falling"),
        ("--distances 10,5", "rising"),
        ("--pixels 0", "--pixels"),
        ("--guarantee -1", "--guarantee"),
        ("--guarantee 2miles", "0.5% (of the size)"),
        ("--distances 1m,50cm", "from near to far, found 1m,50cm"),
        ("--max-influences 0", "--max-influences"),
    ] {
        let run = scratch.dermis(&format!("lod tube.glb {options} -o out.glb"));
        assert_eq!(run.code, 2, "{options}: {run:#?}");
        assert!(run.stderr.contains(word), "{options}: {}", run.stderr);
    }
    let bare = dermis_io::Document {
        skin: None,
        frame_poses: Vec::new(),
        frames: Vec::new(),
        ..tube_document(&SMALL_TUBE)
    };
    scratch.write("mesh.glb", &bare);
    let run = scratch.dermis("lod mesh.glb -o out.glb");
    assert_eq!(run.code, 2, "a mesh without a skin: {run:#?}");
}

/// Real characters: several primitives, seams, morph targets, weights that do not sum to 1.
#[test]
fn real_characters_are_simplified_within_a_small_error() {
    for (file, most_percent) in [
        ("gltf/Fox.glb", 1.0),
        ("gltf/CesiumMan.glb", 0.2),
        ("gltf/RobotExpressive.glb", 1.0),
    ] {
        let Some(path) = support::data(file) else {
            continue;
        };
        let scratch = Scratch::new();
        let run = scratch.dermis(&format!(
            "lod {} --ratios 0.5 --separate -o out.glb --json",
            quoted(&path)
        ));
        let said = run.done().json();
        let error = number(&said, "/levels/1/clipsRmsPercent");
        assert!(error < most_percent, "{file}: {error}% in its clips");
        let level = scratch.read("out_lod1.glb");
        let full = scratch.read("out.glb");
        assert_eq!(
            level.draw.parts.len(),
            full.draw.parts.len(),
            "{file}: every part is there"
        );
        assert_eq!(level.clips.len(), full.clips.len(), "{file}: every clip");
    }
}
