//! `dermis bench`: what it says is complete and consistent; how fast it is, no test may say.

mod common;

use common::{Scratch, number};

#[test]
fn every_program_is_timed_and_the_numbers_agree_with_each_other() {
    let scratch = Scratch::new();
    let run = scratch
        .dermis("bench --vertices 2000 --bones 20 --json --quiet")
        .done();
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
        text.contains("plain evaluation in double precision"),
        "{text}"
    );
}

#[test]
fn a_file_and_a_made_up_size_together_are_refused() {
    let run = Scratch::new().dermis("bench arm.glb --vertices 100");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.stderr.contains("cannot be used with"), "{run:#?}");
}

#[test]
fn whole_frames_with_proxies_are_compared_with_linear_blend_skinning() {
    let scratch = Scratch::new();
    let report = scratch
        .dermis("bench --vertices 1000 --bones 20 --proxies 9 --json --quiet")
        .done()
        .json();
    assert_eq!(number(&report, "/bones"), 38.0, "with proxies and carriers");
    assert_eq!(number(&report, "/wholeFrame/proxies"), 9.0, "as asked");
    // Four rows per proxy; nine patches and six sources of four numbers.
    let matrices = 4.0 * 4.0 * 9.0 * (9.0 * 4.0 + 6.0 * 4.0);
    assert_eq!(number(&report, "/wholeFrame/matrixBytes"), matrices);
    let place = number(&report, "/wholeFrame/placeMicroseconds");
    let frame = number(&report, "/wholeFrame/rows/0/microseconds");
    let plain = number(&report, "/wholeFrame/rows/0/linearBlendMicroseconds");
    let times = number(&report, "/wholeFrame/rows/0/timesLinearBlend");
    assert!(0.0 < place && 0.0 < plain, "time passes: {report}");
    assert!((frame / plain / times - 1.0).abs() < 1e-6, "{report}");
}
