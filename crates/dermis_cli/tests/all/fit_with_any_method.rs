//! `dermis fit --method`: the same examples by another way, or by whichever is best.

use dermis::fit::Method;
use glam::DVec3;

use crate::common::{SMALL_TUBE, Scratch, number, tube_document};

fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch
}

#[test]
fn linear_blending_is_what_one_gets_without_asking() {
    let scratch = folder();
    scratch.dermis("fit tube.npz -o plain.glb").done();
    let run = scratch
        .dermis("fit tube.npz -o asked.glb --method ssd")
        .done();
    assert!(run.says("linear blend skinning: "), "{run:#?}");
    let bytes = |name| std::fs::read(scratch.at(name)).expect("written");
    assert_eq!(bytes("plain.glb"), bytes("asked.glb"), "the same file");
}

#[test]
fn what_stock_engines_show_instead_of_a_skin_is_measured_everywhere() {
    let scratch = folder();
    let fit = "fit tube.npz -o skin.glb --method animation-space --report page.html --delta 1";
    let run = scratch.dermis(fit).done();
    let page = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    for row in ["held out, stock engines", "all, stock engines"] {
        assert!(run.says(row), "{row} in {run:#?}");
        assert!(page.contains(row), "{row} in the page");
    }
    let report = scratch.dermis(&format!("{fit} --json")).done().json();
    assert_eq!(report["stockEngines"]["shows"], "standIn", "{report:#}");
    let said = number(&report, "/stockEngines/heldOut/eRms");
    let record = scratch.read("skin.glb").record.expect("a record");
    let kept = record.plain_held_out.expect("measured").e_rms;
    assert!((said - kept).abs() <= 1e-12 * said, "{said} and {kept}");
    let info = scratch.dermis("info skin.glb --wide").done().stdout;
    let line = info.lines().find(|line| line.contains("stock engines"));
    let text = format!("{said:.3} on the 1 held out");
    assert!(
        line.is_some_and(|line| line.contains(&text)),
        "{text} in\n{info}"
    );
    // A plain skin is what they show.
    let run = scratch.dermis("fit tube.npz -o plain.glb").done();
    assert!(!run.says("stock engines"), "{run:#?}");
}

#[test]
fn auto_says_for_what_player_it_chose() {
    let scratch = folder();
    for (target, said) in [
        ("", "as stock engines show them"),
        ("--target engine", "as stock engines show them"),
        ("--target dermis", "of the exact models"),
    ] {
        let fit = format!("fit tube.npz -o best.glb --method auto --max-influences 2 {target}");
        let run = scratch.dermis(fit.trim_end()).done();
        assert!(run.says("the smallest within 5%"), "{run:#?}");
        assert!(run.says(said), "{run:#?}");
    }
}

#[test]
fn auto_takes_the_smallest_skin_that_reaches_the_target() {
    let scratch = folder();
    let run = scratch
        .dermis("fit tube.npz -o best.glb --method auto --target-error 0.05 --hold-out one --json");
    let report = run.done().json();
    assert_eq!(
        report["choice"]["reached"], true,
        "linear blending is exact"
    );
    let candidates = report["choice"]["candidates"].as_array().expect("a list");
    assert_eq!(
        candidates.len(),
        2 * Method::candidates(4).len(),
        "every method with two and with four influences"
    );
    let chosen = number(&report, "/choice/chosen") as usize;
    let bytes = |candidate| number(candidate, "/wholeBytesPerVertex");
    for candidate in candidates.iter().filter(|c| c["heldOut"].is_object()) {
        let reaches = number(candidate, "/heldOut/eRms") <= 0.05;
        assert!(
            !reaches || bytes(candidate) >= bytes(&candidates[chosen]),
            "{candidate:#} is smaller than {:#}",
            candidates[chosen]
        );
    }
    assert_eq!(
        report["method"], candidates[chosen]["method"],
        "what was chosen is used"
    );
    assert!(number(&report, "/heldOut/eRms") <= 0.05, "{report:#}");
}

#[test]
fn a_target_out_of_reach_is_said_and_the_best_is_kept() {
    let scratch = folder();
    // With one bone per vertex nothing bends smoothly.
    let run = scratch
        .dermis("fit tube.npz -o best.glb --method auto --max-influences 1 --target-error 0.01");
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.stderr.contains("target missed"), "{run:#?}");
    assert!(run.says("chosen"), "the list: {run:#?}");
    assert!(run.says("therefore a little lower"), "honest: {run:#?}");
    assert!(scratch.read("best.glb").skin.is_some(), "it is written");
}

#[test]
fn a_budget_that_nothing_fits_is_refused_with_the_least_there_is() {
    let scratch = folder();
    let run = scratch.dermis("fit tube.npz -o out.glb --method auto --max-bytes-per-vertex 3");
    assert_eq!(run.code, 2, "{run:#?}");
    for part in ["max_bytes_per_vertex", "the smallest", "takes"] {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
}

#[test]
fn a_pose_given_twice_is_named() {
    let scratch = Scratch::new();
    let mut tube = tube_document(&SMALL_TUBE);
    for (of, name, moved) in [(1, "again", 0.0), (2, "other", 0.3)] {
        let mut frame = tube.frames[of].clone();
        frame.name = name.to_owned();
        frame.positions[5] += DVec3::Z * moved;
        tube.frames.push(frame);
        tube.frame_poses.push(tube.frame_poses[of].clone());
    }
    let names: Vec<String> = tube.frames.iter().map(|f| f.name.clone()).collect();
    scratch.write("tube.npz", &tube);
    for command in [
        "fit tube.npz -o out.glb --hold-out none",
        "compare tube.npz --methods ssd",
    ] {
        let run = scratch.dermis(command).done();
        let same = format!(
            "{} and again have the same pose and the same mesh",
            names[1]
        );
        let other = format!("{} and other have the same pose but different", names[2]);
        for part in [same, other] {
            assert!(run.says(&part), "{part} in {run:#?}");
        }
    }
}
