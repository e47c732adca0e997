//! Thousands of instances of a character with levels of detail, and what that costs.

use crate::common::{SMALL_TUBE, Scratch, tube_document};

/// A folder with a tube that has a clip, as `tube.glb`, and with levels, as `lod.glb`.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    let mut tube = tube_document(&SMALL_TUBE);
    tube.frames_to_clip(Some(6.0)).expect("rigid bones");
    tube.frames.clear();
    scratch.write("tube.glb", &tube);
    scratch
        .dermis("lod tube.glb --ratios 0.5,0.2 -o lod.glb --quiet")
        .done();
    scratch
}

#[test]
fn arguments_that_cannot_be_right_are_said_before_anything_is_drawn() {
    let scratch = folder();
    for (command, said) in [
        ("crowd lod.glb -o out.jpg", "ends in .png"),
        ("crowd lod.glb -o a.png --report a.png", "--report"),
        ("crowd lod.glb -o a.png --pixels 0", "--pixels: expected"),
        ("crowd lod.glb -o a.png --spacing -1", "--spacing: expected"),
        ("crowd lod.glb -o a.png --count 0", "--count"),
        ("crowd lod.glb -o a.png --size 10", "1920x1080"),
        ("crowd lod.glb -o lod.glb", "lod.glb"),
    ] {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{command}: {run:#?}");
        assert!(run.stderr.contains(said), "{command}: {}", run.stderr);
    }
    assert_eq!(
        scratch.files(),
        ["lod.glb", "tube.glb"],
        "nothing is written"
    );
}

/// Without the feature, a sentence says how to get it and what works without.
#[cfg(not(feature = "gpu"))]
#[test]
fn without_graphics_cards_it_says_how_to_build_them_in() {
    let scratch = folder();
    let run = scratch.dermis("crowd lod.glb -o crowd.png");
    assert_eq!(run.code, 2, "{run:#?}");
    for part in [
        "--features gpu",
        "`dermis render`",
        "`dermis bounds --crowd`",
    ] {
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
    assert_eq!(
        scratch.files(),
        ["lod.glb", "tube.glb"],
        "nothing is written"
    );
}

#[cfg(feature = "gpu")]
mod with_a_card {
    use serde_json::Value;

    use super::*;

    /// Whether there is a card; says so where there is none.
    fn has_card(scratch: &Scratch) -> bool {
        let run = scratch.dermis("crowd lod.glb --count 1 --size 8x8 -o try.png");
        if run.code == 0 {
            std::fs::remove_file(scratch.at("try.png")).expect("it was written");
            return true;
        }
        let required = std::env::var_os("DERMIS_REQUIRE_GPU").is_some_and(|v| v == "1");
        assert!(!required, "DERMIS_REQUIRE_GPU is 1, and {}", run.stderr);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(
            run.stderr.contains("`dermis render`"),
            "what works without: {}",
            run.stderr
        );
        eprintln!("skipped: {}", run.stderr.trim());
        false
    }

    fn count(value: &Value, at: &str) -> u64 {
        let found = value.pointer(at).and_then(Value::as_u64);
        found.unwrap_or_else(|| panic!("{at} in {value}"))
    }

    #[test]
    fn a_crowd_is_drawn_for_a_part_of_what_all_in_full_would_cost() {
        let scratch = folder();
        if !has_card(&scratch) {
            return;
        }
        let crowd = "crowd lod.glb --count 400 --size 240x135";
        let said = scratch
            .dermis(&format!("{crowd} -o crowd.png --report crowd.html --json"))
            .done()
            .json();
        let [drawn, all] =
            ["/drawn", "/allInFull"].map(|row| count(&said, &format!("{row}/triangles")));
        assert!(0 < drawn && 2 * drawn < all, "{drawn} triangles of {all}");
        let instances = count(&said, "/drawn/instances") + count(&said, "/culled");
        assert_eq!(instances, 400, "each is drawn or culled");
        let saved = |key: &str| said["savings"][key].as_f64().expect("a number");
        let product = ["culling", "levels", "influencesPerVertex", "movingOver"].map(saved);
        let product: f64 = product.iter().product();
        assert!(
            (product / saved("product") - 1.0).abs() < 1e-9,
            "one times the other: {said}"
        );
        let page = std::fs::read_to_string(scratch.at("crowd.html")).expect("the page");
        for part in [
            "<img",
            "all in full",
            "cull and choose levels",
            "data:image/png;base64,",
        ] {
            assert!(page.contains(part), "{part} on the page");
        }
        // Without culling, the same picture; drawn again, too.
        let picture = |name: &str| std::fs::read(scratch.at(name)).expect("a picture");
        scratch.dermis(&format!("{crowd} -o again.png")).done();
        assert!(
            picture("crowd.png") == picture("again.png"),
            "the same picture"
        );
        let more = scratch
            .dermis(&format!("{crowd} --no-culling -o all.png --json"))
            .done()
            .json();
        assert_eq!(count(&more, "/culled"), 0, "nothing is culled");
        assert!(
            picture("crowd.png") == picture("all.png"),
            "no pixel is missing"
        );
        scratch
            .dermis(&format!("{crowd} --seed 2 -o other.png"))
            .done();
        assert!(
            picture("crowd.png") != picture("other.png"),
            "another crowd"
        );
    }

    #[test]
    fn files_without_levels_are_drawn_in_full_with_a_remark() {
        let scratch = folder();
        if !has_card(&scratch) {
            return;
        }
        let run = scratch
            .dermis("crowd tube.glb --count 30 --size 64x36 -o crowd.png")
            .done();
        assert!(run.says("`dermis lod` makes some"), "{run:#?}");
        let run = scratch.dermis("crowd tube.glb --level 1 -o no.png");
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(
            run.stderr.contains("--level 1: expected 0"),
            "{}",
            run.stderr
        );
        let run = scratch.dermis("crowd tube.glb --clip Gallop -o no.png");
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(
            run.stderr.contains("there is no clip 'Gallop'"),
            "{}",
            run.stderr
        );
        let run = scratch.dermis("crowd tube.glb --count 1000000 --size 8x8 -o no.png");
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(
            run.stderr.contains("--count 1000000") && run.stderr.contains("shaders of WebGPU"),
            "{}",
            run.stderr
        );
        assert!(
            !scratch.files().contains(&"no.png".to_owned()),
            "nothing half-written"
        );
    }
}
