//! A rigger sculpts what an arm does when it bends, turns its hand, and carries a load.

use glam::DVec3;

use crate::common::Scratch;
use crate::common::psd::{assert_shows, far_apart, put_arm, sculpt};

const NEW: &str = "psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:z \
                   --control wrist=hand:swing-twist:x --control load=slider";

/// A folder with an arm and an empty project.
fn begun() -> Scratch {
    let scratch = Scratch::new();
    put_arm(&scratch);
    scratch.dermis(NEW).done();
    scratch
}

/// Writes the current result in a pose with some of the arm pushed, and records it.
#[track_caller]
fn record(
    scratch: &Scratch,
    pose: &str,
    mesh: &str,
    along: std::ops::Range<f64>,
    push: DVec3,
    more: &str,
) {
    let rest = scratch.read("arm.glb").mesh.positions().to_vec();
    let posed = scratch.dermis(&format!("psd pose arm.psd.toml --pose {pose} -o posed.obj"));
    posed.done();
    let brush = |i: usize| match along.contains(&rest[i].x) {
        true => push,
        false => DVec3::ZERO,
    };
    sculpt(scratch, "posed.obj", mesh, brush);
    let add = format!("psd add arm.psd.toml --pose {pose} --mesh {mesh} {more}");
    scratch.dermis(&add).done();
}

fn project(scratch: &Scratch) -> String {
    std::fs::read_to_string(scratch.at("arm.psd.toml")).expect("a text")
}

#[test]
fn a_sculpt_is_there_in_its_pose_and_nowhere_else() {
    let scratch = begun();
    let rest = "psd pose arm.psd.toml --pose rest -o rest.obj";
    scratch.dermis(rest).done();
    let bulge = DVec3::new(0.0, 0.0, 0.08);
    record(
        &scratch,
        "elbow=90",
        "flex.obj",
        0.7..1.3,
        bulge,
        "--falloff 40deg --name flex",
    );
    assert_shows(&scratch, "arm.psd.toml", "elbow=90", "flex.obj");
    assert_shows(&scratch, "arm.psd.toml", "rest", "rest.obj");
    // Five falloffs away and more, both ways round: the base alone.
    let far = "eval arm.glb --pose forearm.rz=-60 -o far.obj";
    scratch.dermis(far).done();
    let narrow = project(&scratch).replace("{ elbow = 40 }", "{ elbow = 20 }");
    scratch.put("narrow.psd.toml", narrow);
    assert_shows(&scratch, "narrow.psd.toml", "elbow=-60", "far.obj");
    let text = project(&scratch);
    assert!(text.contains("at = { elbow = 90 }"), "{text}");
    assert!(text.contains("falloff = { elbow = 40 }"), "{text}");
    let shape = std::fs::read_to_string(scratch.at("arm.psd/flex.txt")).expect("a shape");
    let rest = scratch.read("arm.glb").mesh.positions().to_vec();
    let pushed = rest.iter().filter(|p| (0.7..1.3).contains(&p.x)).count();
    assert!(
        shape.contains(&format!("\nmoved {pushed}\n")),
        "only what was sculpted: {}",
        &shape[..60]
    );
}

#[test]
fn a_load_comes_on_top_and_earlier_sculpts_stay_exact() {
    let scratch = begun();
    let up = DVec3::new(0.0, 0.05, 0.0);
    record(
        &scratch,
        "elbow=90",
        "flex.obj",
        0.7..1.3,
        up,
        "--falloff 40",
    );
    record(&scratch, "elbow=45", "half.obj", 0.8..1.2, -up, "");
    record(
        &scratch,
        "elbow=90,load=1",
        "carry.obj",
        0.2..0.9,
        DVec3::new(0.0, 0.0, 0.1),
        "--falloff elbow=40,load=0.5",
    );
    record(&scratch, "wrist=0/0/90", "turned.obj", 1.4..2.0, up, "");
    for (pose, mesh) in [
        ("elbow=90", "flex.obj"),
        ("elbow=45", "half.obj"),
        ("elbow=90,load=1", "carry.obj"),
        ("wrist=0/0/90", "turned.obj"),
        ("forearm.rz=90,load=1", "carry.obj"),
    ] {
        assert_shows(&scratch, "arm.psd.toml", pose, mesh);
    }
    let report = scratch
        .dermis("psd fit arm.psd.toml -o out.glb --json")
        .done()
        .json();
    let layers = report["layers"].as_array().expect("layers");
    let names: Vec<_> = layers
        .iter()
        .map(|l| l["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        names,
        ["elbow", "elbow+load", "wrist"],
        "after their controls"
    );
    for layer in layers {
        assert!(
            layer["worstMissed"].as_f64().expect("a number") < 1e-9,
            "{layer}"
        );
    }
    let out = scratch.read("out.glb");
    assert_eq!(out.clips.len(), 1, "the base's clip");
    let table = scratch.dermis("psd fit arm.psd.toml -o out.glb").done();
    assert!(table.stdout.contains("elbow, load"), "{table:#?}");

    // Layers that do not read each other's controls may change places.
    let text = project(&scratch);
    let at = |name: &str| {
        let found = text.find(&format!("[[layer]]\nname = \"{name}\""));
        found.unwrap_or_else(|| panic!("{name} in {text}"))
    };
    let (elbow, load, wrist) = (at("elbow"), at("elbow+load"), at("wrist"));
    let swapped = [
        &text[..elbow],
        &text[wrist..],
        "\n",
        &text[elbow..load],
        &text[load..wrist],
    ];
    scratch.put("arm.psd.toml", swapped.concat());
    for (pose, mesh) in [
        ("elbow=90", "flex.obj"),
        ("elbow=45", "half.obj"),
        ("elbow=90,load=1", "carry.obj"),
        ("wrist=0/0/90", "turned.obj"),
    ] {
        assert_shows(&scratch, "arm.psd.toml", pose, mesh);
    }
}

#[test]
fn comments_and_order_survive_edits() {
    let scratch = begun();
    let up = DVec3::new(0.0, 0.05, 0.0);
    record(
        &scratch,
        "elbow=90",
        "flex.obj",
        0.7..1.3,
        up,
        "--falloff 40",
    );
    let text = project(&scratch)
        .replace(
            "[control.wrist]",
            "# The wrist is for later.\n[control.wrist]",
        )
        .replace("[[layer]]", "# What the elbow does.\n[[layer]]")
        .replace(
            "falloff = { elbow = 40 }",
            "falloff = { elbow = 40 } # found by eye",
        );
    scratch.put("arm.psd.toml", &text);
    record(&scratch, "wrist=0/0/90", "turned.obj", 1.4..2.0, up, "");
    record(&scratch, "elbow=45", "half.obj", 0.8..1.2, up, "");
    record(
        &scratch,
        "elbow=90",
        "better.obj",
        0.8..1.2,
        up,
        "--replace",
    );
    let edited = project(&scratch);
    for kept in [
        "# The wrist is for later.\n[control.wrist]",
        "# What the elbow does.\n[[layer]]",
        "falloff = { elbow = 40 } # found by eye",
    ] {
        assert!(edited.contains(kept), "{kept:?} in {edited}");
    }
    let places = [
        "elbow90\"",
        "elbow45\"",
        "name = \"wrist\"",
        "wrist0_0_90\"",
    ]
    .map(|name| {
        let found = edited.find(name);
        found.unwrap_or_else(|| panic!("{name} in {edited}"))
    });
    assert!(places.is_sorted(), "sculpts stay in their layers: {edited}");
    assert_shows(&scratch, "arm.psd.toml", "elbow=90", "better.obj");
    assert!(
        far_apart(&scratch, "flex.obj", "better.obj") > 1e-3,
        "another shape"
    );
    let shapes: Vec<String> = scratch.files();
    let shapes: Vec<&String> = shapes
        .iter()
        .filter(|f| f.starts_with("arm.psd/"))
        .collect();
    assert_eq!(
        shapes.len(),
        3,
        "a replaced shape leaves no other behind: {shapes:?}"
    );
}

#[test]
fn every_mesh_format_carries_a_sculpt() {
    let scratch = begun();
    for ending in ["ply", "npz", "glb"] {
        let pose = format!("psd pose arm.psd.toml --pose elbow=90 -o posed.{ending}");
        scratch.dermis(&pose).done();
        let posed = scratch.read(&format!("posed.{ending}"));
        let count = scratch.read("arm.glb").mesh.vertex_count();
        assert_eq!(posed.mesh.vertex_count(), count, "{ending}");
        let unchanged = format!("psd add arm.psd.toml --pose elbow=90 --mesh posed.{ending}");
        let run = scratch.dermis(&unchanged);
        assert!(
            run.stderr.contains("nothing was sculpted"),
            "{ending}: {run:#?}"
        );
    }
}

#[test]
fn weightings_compression_and_kernels_are_options_of_a_layer() {
    let scratch = begun();
    let up = DVec3::new(0.0, 0.05, 0.0);
    for (number, angle) in [30, 60, 90].into_iter().enumerate() {
        let mesh = format!("bent{angle}.obj");
        let push = up * (1.0 + number as f64);
        record(
            &scratch,
            &format!("elbow={angle}"),
            &mesh,
            0.7..1.3,
            push,
            "--falloff 15",
        );
    }
    let plain = project(&scratch);
    for (options, coefficients) in [
        ("kernel = \"gaussian+linear\"", 3),
        ("kernel = \"shepard\"\npower = 3", 3),
        ("weightings = 4", 3),
        ("hold_rest = false", 3),
        ("compress = 0.001", 1),
    ] {
        let text = plain.replace(
            "controls = [\"elbow\"]",
            &format!("controls = [\"elbow\"]\n{options}"),
        );
        assert_ne!(text, plain, "the layer is there");
        scratch.put("arm.psd.toml", &text);
        let json = scratch
            .dermis("psd fit arm.psd.toml -o out.glb --json")
            .done()
            .json();
        let layer = &json["layers"][0];
        let count = layer["coefficients"].as_u64().expect("a count") as usize;
        assert!(count >= coefficients, "{options}: {layer}");
        let missed = layer["worstMissed"].as_f64().expect("a number");
        let accepted = if options.starts_with("compress") {
            0.0011
        } else {
            1e-9
        };
        assert!(missed < accepted, "{options}: {layer}");
    }
}

#[test]
fn the_glb_has_the_drivers_and_shows_the_sculpts() {
    let scratch = begun();
    let bulge = DVec3::new(0.0, 0.0, 0.08);
    record(
        &scratch,
        "elbow=90",
        "flex.obj",
        0.7..1.3,
        bulge,
        "--falloff 40deg --name flex",
    );
    record(
        &scratch,
        "elbow=90,load=1",
        "carry.obj",
        0.2..0.9,
        bulge,
        "--falloff elbow=40,load=0.5",
    );
    scratch.dermis("psd fit arm.psd.toml -o out.glb").done();
    let skin = scratch.read("out.glb").skin.expect("a skin");
    assert_eq!(skin.pose_program.drivers.len(), 2, "one per layer");
    assert_eq!(skin.posed_coefficient_count(), 1, "the load");
    for (pose, mesh) in [
        ("forearm.rz=90", "flex.obj"),
        ("forearm.rz=90,load=1", "carry.obj"),
    ] {
        scratch
            .dermis(&format!("eval out.glb --pose {pose} -o shown.obj"))
            .done();
        let off = far_apart(&scratch, mesh, "shown.obj");
        assert!(off < 1e-6, "{pose}: {off}");
    }
}
