//! Somebody tries `dermis demo`, looks at what it made, and goes on from its files.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::LazyLock;

use dermis::Split;
use dermis::measure::measure_predictions;
use dermis::synth::HumanArm;

use crate::common::{Run, Scratch, number};
use crate::support;
use crate::support::clients::assert_valid;

/// One run for all tests: it takes a while.
static DEMO: LazyLock<(Scratch, Run)> = LazyLock::new(|| {
    let scratch = Scratch::new();
    let run = scratch.dermis("demo 'my demo'").done();
    (scratch, run)
});

const FILES: [&str; 6] = [
    "after.glb",
    "before.glb",
    "before_after.png",
    "compare.html",
    "examples.npz",
    "worst.png",
];

/// A folder with the demo's files, to go on in.
pub(crate) fn demo_files() -> Scratch {
    let own = Scratch::new();
    copy_demo(own.path());
    own
}

/// Puts the demo's files into a folder.
pub(crate) fn copy_demo(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder can be made");
    for name in FILES {
        let from = DEMO.0.at("my demo").join(name);
        std::fs::copy(from, folder.join(name)).expect("the demo wrote it");
    }
}

/// Width, height and the number of distinct colours of each frame of a picture.
fn frames(path: &Path) -> (u32, u32, Vec<usize>) {
    let file = BufReader::new(File::open(path).expect("the picture opens"));
    let mut decoder = png::Decoder::new(file);
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a PNG");
    let (width, height) = (reader.info().width, reader.info().height);
    let control = reader.info().animation_control;
    let count = control.map_or(1, |control| control.num_frames);
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size that fits")];
    let colors = (0..count).map(|_| {
        let frame = reader.next_frame(&mut pixels).expect("whole");
        let samples = frame.color_type.samples();
        let seen = pixels[..frame.buffer_size()].chunks_exact(samples);
        seen.collect::<HashSet<&[u8]>>().len()
    });
    let colors = colors.collect();
    (width, height, colors)
}

#[test]
fn the_demo_writes_what_it_names() {
    let (scratch, run) = &*DEMO;
    let files = FILES.map(|name| format!("my demo/{name}"));
    assert_eq!(scratch.files(), files, "these and no others");
    for file in &files {
        assert!(run.stdout.contains(file), "{file} in {run:#?}");
    }
    for row in ["ssd", "pseudo-bones", "psd", "rotational-regression"] {
        let is_there = run.stdout.lines().any(|line| line.starts_with(row));
        assert!(is_there, "a row {row} in {run:#?}");
    }
    assert!(run.stdout.contains("which no fit has seen"), "{run:#?}");
}

#[test]
fn the_moving_picture_moves_and_is_small() {
    let path = DEMO.0.at("my demo/before_after.png");
    let (width, height, colors) = frames(&path);
    assert!(
        (800..=840).contains(&width) && height > 250,
        "{width} x {height}"
    );
    assert!(colors.len() > 30, "{} frames", colors.len());
    assert!(
        colors.iter().all(|&count| count > 40),
        "shading and error colours in all frames: {colors:?}"
    );
    let bytes = std::fs::metadata(&path).expect("it is there").len();
    assert!(bytes < 1_500_000, "{bytes} bytes");
    let (width, height, colors) = frames(&DEMO.0.at("my demo/worst.png"));
    assert!(width >= 3 * 400 && height >= 800, "{width} x {height}");
    assert!(colors[0] > 500, "{colors:?} colours");
}

/// The files themselves, read back and measured on poses that no fit has seen: those of the clip.
#[test]
fn after_is_several_times_nearer_than_before() {
    let scratch = demo_files();
    let arm = HumanArm::shared();
    let [before, after] = ["before.glb", "after.glb"].map(|name| {
        let file = scratch.read(name);
        file.plain_skin().or(file.skin).expect("a skin")
    });
    let mut sums = [0.0f64; 2];
    for angles in arm.motion(6.0) {
        let (pose, truth) = (arm.pose(&angles), arm.truth(&angles));
        for (sum, skin) in sums.iter_mut().zip([&before, &after]) {
            let mut pose = pose.clone();
            pose.parent_from_bone.truncate(arm.skeleton().bone_count());
            let shown = skin.evaluate(&pose).expect("the rig is the same");
            let apart = shown.iter().zip(&truth).map(|(a, b)| a.distance(*b));
            *sum += apart.sum::<f64>();
        }
    }
    let factor = sums[0] / sums[1];
    eprintln!("before is {factor:.1} times as far away as after, in the clip");
    assert!(factor > CLIP_FACTOR, "{factor}");

    let info = scratch.dermis("info after.glb --json").done().json();
    let after = number(&info, "/0/dermisSkin/heldOut/eRms");
    let set = arm.examples();
    let folds = set.folds(&Split::EveryNth(4)).expect("enough examples");
    let measured = measure_predictions(&set, &folds[0].held_out, |k| {
        arm.painted().evaluate(&set.examples()[k].pose)
    });
    let before = measured.expect("the rig is the same").total.e_rms;
    eprintln!("E_RMS on held-out examples: {before:.3} before, {after:.3} after");
    assert!(before > HELD_OUT_FACTOR * after, "{before} and {after}");
}

/// Less than half of what was measured: about 26 in the clip and 14 on held-out examples.
const CLIP_FACTOR: f64 = 10.0;
const HELD_OUT_FACTOR: f64 = 6.0;

#[test]
fn the_page_needs_no_other_file() {
    let html = std::fs::read_to_string(DEMO.0.at("my demo/compare.html")).expect("a page");
    // The name of SVG looks like an address, but nothing is fetched from it; and `url(#` is a place
    // in the page itself.
    let html = html.replace("http://www.w3.org/2000/svg", "");
    let html = html.replace("url(#", "");
    for link in ["http://", "https://", "href=", "<script", "<link", "url("] {
        assert!(!html.contains(link), "{link} in the page");
    }
    let sources = html.matches("src=").count();
    let pictures = html.matches("src=\"data:image/png;base64,").count();
    assert_eq!(sources, pictures, "every source is inside");
    assert!(pictures >= 1, "found {pictures} pictures");
    assert!(html.contains("<svg"), "a chart");
    assert!(
        html.contains("<code>dermis demo &#39;my demo&#39;</code>")
            || html.contains("dermis demo 'my demo'"),
        "the command"
    );
}

#[test]
fn the_demos_files_go_on_to_other_commands() {
    let scratch = demo_files();
    scratch
        .dermis("fit examples.npz -o again.glb --report r.html")
        .done();
    let report = std::fs::read_to_string(scratch.at("r.html")).expect("a page");
    let command = "dermis fit examples.npz -o again.glb --report r.html";
    assert!(report.contains(command), "the report says how it was made");

    let info = scratch
        .dermis("info before.glb after.glb again.glb --json")
        .done();
    let info = info.json();
    let points = HumanArm::shared().mesh().vertex_count() as f64;
    for file in 0..3 {
        assert_eq!(number(&info, &format!("/{file}/points")), points, "points");
    }
    for file in 0..2 {
        assert_eq!(
            info[file]["clips"][0]["name"], "lift, curl and reach",
            "its motion"
        );
    }

    // Bending about the hinge's axis moves the fingers, and the shoulder not at all.
    scratch
        .dermis("eval before.glb --pose 'forearm.rz=90' -o posed.obj")
        .done();
    let (rest, posed) = (scratch.read("before.glb"), scratch.read("posed.obj"));
    let moved: Vec<f64> = (rest.mesh.positions().iter().zip(posed.mesh.positions()))
        .map(|(a, b)| a.distance(*b))
        .collect();
    let farthest = moved.iter().copied().fold(0.0, f64::max);
    assert!(
        (0.4..0.7).contains(&farthest),
        "a forearm and a hand: {farthest} m"
    );
    let still = moved.iter().filter(|&&d| d < 1e-6).count();
    assert!(still > 1000, "shoulder and chest stay: {still}");
}

#[test]
fn before_and_after_are_valid_files() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let scratch = demo_files();
    assert_valid(
        &clients,
        &[scratch.at("before.glb"), scratch.at("after.glb")],
    );
}
