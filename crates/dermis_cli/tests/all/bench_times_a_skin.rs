//! `dermis bench`: what it says is complete and consistent; how fast it is, no test may say.

use crate::common::{SMALL_TUBE, Scratch, bar_document, number, tube_document};

#[test]
fn every_program_is_timed_and_the_numbers_agree_with_each_other() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    let run = scratch.dermis("bench tube.glb --json --quiet").done();
    let report = run.json();
    let rows = report["rows"].as_array().expect("a list of rows");
    let programs: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["program"].as_str())
        .collect();
    for program in ["linear", "linear blend", "multi-weight", "dual quaternion"] {
        assert!(
            programs.contains(&program),
            "{program} is missing: {programs:?}"
        );
    }
    for (k, row) in rows.iter().enumerate() {
        let ns = number(&report, &format!("/rows/{k}/nsPerVertex"));
        let million = number(&report, &format!("/rows/{k}/millionVerticesPerSecond"));
        let bytes = number(&report, &format!("/rows/{k}/bytesPerVertex"));
        let gigabytes = number(&report, &format!("/rows/{k}/gigabytesPerSecond"));
        assert!(ns > 0.0 && (ns * million / 1e3 - 1.0).abs() < 1e-6, "{row}");
        assert!((bytes / ns / gigabytes - 1.0).abs() < 1e-6, "{row}");
        assert!(
            number(&report, &format!("/rows/{k}/padding")) >= 1.0,
            "{row}"
        );
    }
    assert!(
        number(&report, "/plainNsPerVertex") > 0.0,
        "the reference is timed too"
    );
    assert!(report.get("wholeFrame").is_none(), "no proxies: {report}");
}

#[test]
fn a_file_is_timed_in_the_middle_of_its_clip() {
    let scratch = Scratch::new();
    let skin = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/dermis_skin_v1.glb");
    scratch.put(
        "arm.glb",
        std::fs::read(skin).expect("it ships with the project"),
    );
    let text = scratch.dermis("bench arm.glb --quiet").done().stdout;
    assert!(text.contains("202 vertices, 3 bones"), "{text}");
    assert!(
        text.contains("simple evaluation in double precision"),
        "{text}"
    );
}

#[test]
fn without_a_file_one_sentence_says_that_one_is_needed() {
    let run = Scratch::new().dermis("bench");
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(
        run.stderr, "error: which skin? `dermis bench` times that of a file, such as skin.glb\n",
        "{run:#?}"
    );
}

#[test]
fn whole_frames_with_proxies_are_compared_with_linear_blend_skinning() {
    let scratch = Scratch::new();
    scratch.write("bar.npz", &bar_document());
    scratch
        .dermis("fit bar.npz -o turning.glb --method rotational-regression --hold-out none")
        .done();
    let report = scratch
        .dermis("bench turning.glb --json --quiet")
        .done()
        .json();
    let of = |key: &str| number(&report, &format!("/wholeFrame/{key}"));
    let proxies = of("proxies");
    assert!(proxies > 0.0, "{report}");
    let bones = 2.0 + 2.0 * proxies;
    assert_eq!(
        number(&report, "/bones"),
        bones,
        "with proxies and carriers"
    );
    // Four rows per proxy, and four numbers of four bytes in each for every patch and source.
    let matrices = 64.0 * proxies * (of("patches") + of("sources"));
    assert_eq!(of("matrixBytes"), matrices, "{report}");
    let place = number(&report, "/wholeFrame/placeMicroseconds");
    let frame = number(&report, "/wholeFrame/rows/0/microseconds");
    let plain = number(&report, "/wholeFrame/rows/0/linearBlendMicroseconds");
    let times = number(&report, "/wholeFrame/rows/0/timesLinearBlend");
    assert!(0.0 < place && 0.0 < plain, "time passes: {report}");
    assert!((frame / plain / times - 1.0).abs() < 1e-6, "{report}");
}

#[test]
fn whole_frames_are_compared_with_those_of_another_fit() {
    let scratch = Scratch::new();
    scratch.write("bar.npz", &bar_document());
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    for (input, output, method) in [
        ("bar.npz", "turning.glb", "rotational-regression"),
        ("bar.npz", "shapes.glb", "psd"),
        ("bar.npz", "ssd.glb", "ssd"),
        ("tube.npz", "tube.glb", "ssd"),
    ] {
        scratch
            .dermis(&format!(
                "fit {input} -o {output} --method {method} --hold-out none"
            ))
            .done();
    }
    let report = scratch
        .dermis("bench turning.glb --against ssd.glb --json --quiet")
        .done()
        .json();
    assert_eq!(report["against"]["file"], "ssd.glb", "{report}");
    assert_eq!(number(&report, "/against/bones"), 2.0, "without proxies");
    let of = |name: &str| number(&report, &format!("/against/rows/0/{name}"));
    let times = of("microseconds") / of("otherMicroseconds");
    assert!((times / of("timesOther") - 1.0).abs() < 1e-6, "{report}");
    // Any two skins, not only those with proxies.
    let text = scratch
        .dermis("bench shapes.glb --against ssd.glb --threads 1")
        .done()
        .stdout;
    assert!(
        text.contains("times ssd.glb (") && text.contains("ssd.glb: 2 bones"),
        "{text}"
    );
    let run = scratch.dermis("bench turning.glb --against tube.glb");
    assert_eq!(run.code, 2, "{run:#?}");
    let sentence = "tube.glb: --against takes a skin of the same mesh, but this one has 98 vertices and \
                    the other 202";
    assert!(run.stderr.contains(sentence), "{run:#?}");
    let run = scratch.dermis("bench --against ssd.glb");
    assert_eq!(run.code, 2, "{run:#?}");
}

/// Runs `bench --gpu`; `None`, with a printed message, where there is no graphics card.
#[cfg(feature = "gpu")]
fn on_a_card(scratch: &Scratch, command: &str) -> Option<serde_json::Value> {
    let run = scratch.dermis(command);
    if run.code == 2 && run.stderr.contains("no graphics card was found") {
        assert!(
            std::env::var_os("DERMIS_REQUIRE_GPU").is_none(),
            "DERMIS_REQUIRE_GPU is set: {run:#?}"
        );
        eprintln!("skipped: {}", run.stderr);
        return None;
    }
    Some(run.done().json())
}

#[cfg(feature = "gpu")]
#[test]
fn a_skin_is_timed_on_a_graphics_card_with_the_processor_beside_it() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_document(&SMALL_TUBE));
    let Some(report) = on_a_card(&scratch, "bench tube.glb --gpu --json --quiet") else {
        return;
    };
    let rows = report["rows"].as_array().expect("a list of rows");
    for (k, row) in rows.iter().enumerate() {
        assert!(
            number(&report, &format!("/rows/{k}/computeNsPerVertex")) > 0.0,
            "{row}"
        );
        let has = |key: &str| row[key].as_f64().is_some_and(|time| time > 0.0);
        let of_faces = row["normals"] == "faces";
        let on_cards_alone = of_faces || row["normals"] == "blended";
        assert_eq!(has("vertexStageNsPerVertex"), !of_faces, "{row}");
        assert_eq!(has("cpuNsPerVertex"), !on_cards_alone, "{row}");
    }
    let passes = report["passes"].as_array().expect("a list of frames");
    let counts: Vec<_> = passes
        .iter()
        .filter_map(|row| row["passes"].as_u64())
        .collect();
    assert_eq!(counts, [1, 2, 4], "frames of so many passes");
    assert!(
        report.get("costModels").is_none(),
        "one skin tells no terms apart"
    );
    assert!(
        report["adapter"]
            .as_str()
            .is_some_and(|name| !name.is_empty()),
        "{report}"
    );
}

#[cfg(feature = "gpu")]
#[test]
#[ignore = "slow: half a minute of measurements"]
fn cost_models_are_fitted_on_bodies_of_many_sizes() {
    let Some(report) = on_a_card(&Scratch::new(), "bench --gpu --json --quiet") else {
        return;
    };
    let rows = report["rows"].as_array().expect("a list of rows");
    for program in ["linear", "linear blend", "multi-weight", "dual quaternion"] {
        let of = rows.iter().filter(|row| row["program"] == program);
        let mut influences: Vec<_> = of.filter_map(|row| row["influences"].as_f64()).collect();
        influences.dedup();
        influences.sort_by(f64::total_cmp);
        influences.dedup();
        assert_eq!(influences, [2.0, 4.0, 8.0], "{program}");
    }
    for k in 0..2 {
        let r_squared = number(&report, &format!("/costModels/{k}/rSquared"));
        assert!((0.0..=1.0).contains(&r_squared), "a share: {r_squared}");
        let frames = number(&report, &format!("/costModels/{k}/frames"));
        assert_eq!(
            frames, 36.0,
            "two sizes, three influences, two skeletons, three crowds"
        );
    }
}

#[cfg(not(feature = "gpu"))]
#[test]
fn without_graphics_cards_it_says_how_to_build_them_in() {
    let run = Scratch::new().dermis("bench --gpu");
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(
        run.stderr,
        "error: --gpu: this dermis was built without graphics cards: build it with `cargo build --release --features \
         gpu`, or leave --gpu out to time the processor\n",
        "{run:#?}"
    );
}
