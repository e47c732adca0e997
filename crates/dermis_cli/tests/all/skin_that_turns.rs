//! Skin that turns with joints: rotational regression from the command line to a file that plays.

use crate::common::{SMALL_TUBE, Scratch, bar_document, number, tube_document};

/// A folder with a bar that bends and twists.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("bar.npz", &bar_document());
    scratch
}

#[test]
fn the_report_says_how_many_proxies_and_which_vertices_need_none() {
    let scratch = folder();
    let fit = "fit bar.npz -o bar.glb --method rotational-regression --proxy-bones 8";
    let text = scratch.dermis(&format!("{fit} --wide")).done().stdout;
    let line = |part: &str| {
        let found = text.lines().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("no {part} in\n{text}"))
    };
    let proxies = line("patches of skin");
    assert!(
        proxies.contains("predicted from the turns of 1 joint;"),
        "{proxies}"
    );
    let vertices = line("near-rigid");
    assert!(
        vertices.contains("of 202 vertices are near-rigid")
            && vertices.contains("0.05% of the size"),
        "{vertices}"
    );
    let json = scratch.dermis(&format!("{fit} --json")).done().json();
    let of = |name: &str| number(&json, &format!("/proxies/{name}"));
    assert!((1.0..=8.0).contains(&of("proxies")), "{json:#}");
    let vertices = ["proxiedVertices", "nearRigidVertices", "givenBackVertices"].map(of);
    assert_eq!(
        vertices.iter().sum::<f64>(),
        202.0,
        "each once: {vertices:?}"
    );
    // A quarter at each end follows its bone: seven rings of eight and a pole, less the ring where the turn begins.
    assert!(vertices[1] >= 98.0, "the ends: {vertices:?}");
    let skin = scratch.read("bar.glb").skin.expect("a skin");
    let written = skin.pose_program.proxies().expect("proxies").bones.len();
    assert_eq!(written as f64, of("proxies"), "in the file, too");
    assert!(
        number(&json, "/heldOut/envelopingErrorDeviationPercent") > 0.0,
        "{json:#}"
    );
}

#[test]
fn looser_tolerances_leave_more_vertices_to_the_skeleton() {
    let scratch = folder();
    let near_rigid = |flags: &str| {
        let fit = format!("fit bar.npz -o bar.glb --method rotational-regression --json {flags}");
        let json = scratch.dermis(&fit).done().json();
        json["proxies"]["nearRigidVertices"].as_f64()
    };
    let strict = near_rigid("--rigid-tolerance 0").expect("proxies");
    let usual = near_rigid("--place-weight 0").expect("proxies");
    assert!(strict < usual, "{strict} and {usual}");
    assert_eq!(
        near_rigid("--rigid-tolerance 1"),
        None,
        "all are near enough"
    );
}

#[test]
fn a_target_decides_how_many_proxies_there_are() {
    let scratch = folder();
    let fit = |target: &str| {
        let fit = format!(
            "fit bar.npz -o bar.glb --method rotational-regression --json --target-error {target}"
        );
        scratch.dermis(&fit).json()
    };
    let count = |target: &str| number(&fit(target), "/proxies/proxies");
    let (coarse, fine) = (count("60%"), count("10%"));
    assert!(coarse < fine, "{coarse} and {fine}");
    // The same in the other unit.
    let json = fit("20%");
    let rigid = number(&json, "/overall/eRms") / number(&json, "/overall/envelopingErrorPercent");
    let same = count(&format!("{}", 20.0 * rigid));
    assert_eq!(
        number(&json, "/proxies/proxies"),
        same,
        "20% is {}",
        20.0 * rigid
    );
}

#[test]
fn a_target_is_missed_when_the_skin_misses_it() {
    let scratch = folder();
    for method in ["rotational-regression", "psd --base rotational-regression"] {
        let fit = |target: &str| {
            let fit = format!("fit bar.npz -o bar.glb --method {method} --json");
            scratch.dermis(&format!("{fit} --target-error {target}"))
        };
        let mut codes = Vec::new();
        for target in [100.0, 10.0, 5.0, 2.0, 1.0, 0.5, 1e-7] {
            let run = fit(&target.to_string());
            let e_rms = number(&run.json(), "/overall/eRms");
            assert_eq!(run.code, i32::from(e_rms > target), "{e_rms} in {run:#?}");
            let remark = format!("target missed: asked E_RMS {target}, the skin has {e_rms:.3} on");
            assert_eq!(run.stderr.contains(&remark), run.code == 1, "{run:#?}");
            codes.push(run.code);
        }
        assert!(codes.contains(&0) && codes.contains(&1), "both: {codes:?}");
        let run = fit("0.001%");
        let percent = number(&run.json(), "/overall/envelopingErrorPercent");
        let remark = format!("asked an enveloping error of 0.001%, the skin has {percent:.3}% on");
        assert!(run.code == 1 && run.stderr.contains(&remark), "{run:#?}");
    }
}

#[test]
fn a_comparison_shows_error_and_size_over_the_number_of_proxies() {
    let scratch = folder();
    let compare = "compare bar.npz --methods ssd,rotational-regression --proxy-bones 2,16";
    let run = scratch
        .dermis(&format!("{compare} --report page.html --save skins"))
        .done();
    for label in [
        "rotational-regression-2 ",
        "rotational-regression-16 ",
        "ssd ",
    ] {
        assert!(
            run.stdout.lines().any(|l| l.starts_with(label)),
            "{label} in {run:#?}"
        );
    }
    assert!(run.says("EE ± sd %"), "{run:#?}");
    assert!(
        run.says("otational regression with 16 proxy bones"),
        "{run:#?}"
    );
    let page = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    assert!(page.contains("Error over proxy bones") && page.contains("Size over proxy bones"));
    let charts = page.matches("class=\"dermis-chart\"").count();
    assert_eq!(charts, 5, "charts");
    for label in ["ssd", "rotational-regression-2", "rotational-regression-16"] {
        assert!(
            scratch.at(&format!("skins/{label}.glb")).exists(),
            "{label}"
        );
    }
    let json = scratch.dermis(&format!("{compare} --json")).done().json();
    let row = |n: usize, name: &str| number(&json["methods"][n], name);
    assert!(
        row(1, "/cost/proxyBytes") < row(2, "/cost/proxyBytes"),
        "{json:#}"
    );
    let error = "/training/envelopingErrorPercent";
    assert!(row(2, error) < row(1, error), "{json:#}");
    assert!(
        row(2, error) < row(0, error),
        "below linear blending: {json:#}"
    );
    assert_eq!(json["methods"][2]["label"], "rotational-regression-16");
}

#[test]
fn what_cannot_be_is_refused_in_one_sentence() {
    let scratch = folder();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    for (command, sentence) in [
        (
            "compare bar.npz --methods ssd --proxy-bones 10",
            "--proxy-bones belongs to rotational-regression, which is not among --methods",
        ),
        (
            "compare bar.npz --proxy-bones 10,20,10",
            "--proxy-bones: 10 is there twice",
        ),
        (
            "compare bar.npz --proxy-bones 0,10",
            "option proxy-bones: 0 is not between 1 and 2000",
        ),
        (
            "fit bar.npz -o x.glb --method rotational-regression --proxy-bones 3000",
            "option proxy-bones: 3000 is not between 1 and 2000",
        ),
        (
            "fit bar.npz -o x.glb --method rotational-regression --target-error 0%",
            "--target-error: 0 is not a finite number above 0; expected an E_RMS such as 1.5, or an \
             enveloping error",
        ),
        (
            "compare bar.npz --target-error -1",
            "--target-error: -1 is not a finite number above 0",
        ),
        (
            "fit bar.npz -o x.glb --method rotational-regression --proxy-bones -3",
            "invalid value '-3' for '--proxy-bones <N>': expected auto or a whole number of at least 1",
        ),
        (
            "fit bar.npz -o x.glb --method rotational-regression --proxy-bones 10,20",
            "expected one whole number; several, separated by commas, are for dermis compare",
        ),
        (
            "fit bar.npz -o x.glb --method psd --proxy-bones 10",
            "not to psd unless --base rotational-regression",
        ),
        (
            "fit bar.npz -o x.glb --proxy-bones 10",
            "--proxy-bones belongs to --method rotational-regression, not to ssd",
        ),
    ] {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.contains(sentence), "{sentence} in {run:#?}");
    }
    let plain = "fit tube.npz -o tube.glb --method rotational-regression";
    let run = scratch.dermis(plain).done();
    assert!(run.says("no vertex needs a proxy bone"), "{run:#?}");
}

#[test]
fn eigenskin_is_pose_space_deformation_with_few_shapes() {
    let scratch = folder();
    // On linear blending, which leaves much to shapes.
    let bytes = ["psd", "eigenskin"].map(|method| {
        let fit = format!("fit bar.npz -o {method}.glb --method {method} --base ssd --json");
        let json = scratch.dermis(&fit).done().json();
        assert_eq!(json["method"], method, "{json:#}");
        assert_eq!(json["base"], "ssd", "{json:#}");
        number(&json, "/cost/bytesPerVertex")
    });
    assert!(bytes[1] < bytes[0], "fewer shapes: {bytes:?}");
    let skin = scratch.read("eigenskin.glb").skin.expect("a skin");
    let text = scratch
        .dermis("fit bar.npz -o bar.glb --method psd --wide")
        .done();
    let chosen = text
        .stdout
        .lines()
        .find(|l| l.starts_with("shapes stand on "));
    let chosen = chosen.unwrap_or_else(|| panic!("which base: {text:#?}"));
    assert!(
        chosen.contains("left out of those that were fitted"),
        "{chosen}"
    );
    assert!(
        text.stdout
            .lines()
            .any(|l| l.starts_with("smoothing ") && l.ends_with(" (--smoothing)")),
        "in the words of its own flag: {text:#?}"
    );
    let shapes: Vec<usize> = skin
        .pose_program
        .drivers
        .iter()
        .map(|d| d.weights.len())
        .collect();
    assert_eq!(shapes, [5], "five of the only joint");
}
