//! Published animations and simulations: the errors that decompositions reach, and what other players
//! show of them.

use std::path::Path;

use dermis_io::Document;
use glam::DVec3;

use crate::common::{Scratch, number, quoted, shown_error};
use crate::support;
use crate::support::clients::{Shown, assert_valid, three_positions};

/// How far three.js may be from `Skin::evaluate` at frames, as a share of the diagonal.
const TOLERANCE: f64 = 1e-5;

/// Decomposes a data set and holds it to an error; `None` without the data.
fn decomposed(scratch: &Scratch, name: &str, arguments: &str, most: f64) -> Option<f64> {
    let path = support::data(&format!("{name}/{name}.npz"))?;
    let path = quoted(&path);
    let command = format!("decompose {path} {arguments} -o skin.glb --json --quiet");
    let said = scratch.dermis(&command).done().json();
    let e_rms = number(&said, "/eRms");
    let seconds = number(&said, "/seconds");
    eprintln!("{name} {arguments}: E_RMS {e_rms:.3}, at most {most}; {seconds:.1} s");
    assert!(e_rms <= most, "{name} {arguments}: {e_rms}, at most {most}");
    assert!(
        e_rms >= number(&said, "/svdBound"),
        "{name} {arguments}: fact 2: {said:#}"
    );
    Some(e_rms)
}

#[test]
fn a_galloping_horse_has_the_errors_that_were_reached_before() {
    let scratch = Scratch::new();
    let errors = [
        ("--bones 30", 1.0),
        ("--bones 20", 1.3),
        ("--bones 30 --rigid", 2.4),
    ]
    .map(|(arguments, most)| decomposed(&scratch, "horse-gallop", arguments, most));
    if let [Some(thirty), Some(twenty), Some(rigid)] = errors {
        assert!(thirty < twenty, "more bones are better");
        assert!(thirty < rigid, "affine bones are better");
        // The file has what is said.
        let path = support::data("horse-gallop/horse-gallop.npz").expect("it was there before");
        let horse = dermis_io::read(&path).expect("the input");
        let frames: Vec<Vec<DVec3>> = horse.frames.into_iter().map(|f| f.positions).collect();
        let shown = shown_error(&scratch.read("skin.glb"), &horse.mesh, &[&frames]);
        assert!(
            (shown - rigid).abs() < 0.01 * rigid,
            "{shown}, {rigid} was said"
        );
    }
}

#[test]
fn a_collapsing_horse_has_the_error_that_was_reached_before() {
    decomposed(&Scratch::new(), "horse-collapse", "--bones 6", 6.2);
}

#[test]
fn a_captured_crane_has_the_error_that_was_reached_before() {
    decomposed(&Scratch::new(), "crane", "--bones 40", 1.33);
}

#[test]
fn keys_of_a_galloping_horse_are_left_out_within_the_tolerance() {
    let Some(path) = support::data("horse-gallop/horse-gallop.npz") else {
        return;
    };
    let scratch = Scratch::new();
    let mut last = f64::INFINITY;
    for share in [0.0, 0.1, 0.5, 2.0] {
        let command = format!(
            "decompose {} --bones 12 --quality fast --key-tolerance {share} -o skin.glb --json --quiet",
            quoted(&path)
        );
        let said = scratch.dermis(&command).done().json();
        let [keys, all] = ["/keys", "/keysUnreduced"].map(|name| number(&said, name));
        let [bytes, most] = ["/fileBytes", "/fileBytesUnreduced"].map(|name| number(&said, name));
        let [e_rms, shown] = ["/eRms", "/fileERms"].map(|name| number(&said, name));
        eprintln!(
            "{share}: {keys} of {all} keys, {bytes} of {most} bytes, E_RMS {shown} of {e_rms}"
        );
        assert!(keys <= all && bytes <= most, "{said:#}");
        assert!(shown <= (1.0 + share) * e_rms + 1e-6, "{said:#}");
        assert!(
            keys < last || share == 0.1,
            "more error, fewer keys: {said:#}"
        );
        last = keys;
    }
}

/// What a player shows, in the order of the mesh's points.
fn points(file: &Document, shown: &Shown) -> Vec<DVec3> {
    let drawn: Vec<DVec3> = (shown.iter().flat_map(|mesh| &mesh.positions))
        .map(|&p| DVec3::from_array(p))
        .collect();
    let of_drawn: Vec<usize> = (file.draw.parts.iter())
        .flat_map(|part| part.points.iter().map(|&point| point as usize))
        .collect();
    assert_eq!(drawn.len(), of_drawn.len(), "every drawn vertex is shown");
    let mut points = vec![DVec3::NAN; file.mesh.vertex_count()];
    for (position, point) in drawn.into_iter().zip(of_drawn) {
        points[point] = position;
    }
    points
}

/// Largest distance between two lists of points; NaN counts as far.
fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, |most, d| {
        if d.is_nan() {
            f64::INFINITY
        } else {
            d.max(most)
        }
    })
}

/// Fails unless three.js shows a file as `Skin::evaluate` does at frames, and near the straight line
/// between them: within `share` of the longest step that any vertex takes there.
#[track_caller]
fn assert_plays_straight(clients: &Path, scratch: &Scratch, name: &str, frames: usize, share: f64) {
    let path = scratch.at(name);
    assert_valid(clients, &[&path]);
    let file = scratch.read(name);
    let (skin, clip) = (file.skin.as_ref().expect("a skin"), &file.clips[0]);
    let diagonal = file.mesh.bounds().diagonal();
    let own: Vec<Vec<DVec3>> = (0..frames)
        .map(|k| {
            let pose = skin.sample(clip, k as f64 / 24.0);
            skin.evaluate(&pose).expect("its own clip")
        })
        .collect();
    // Every third frame, and the quarters after it: what a player prints is long.
    let some: Vec<usize> = (0..frames - 1).step_by(3).collect();
    let times: Vec<f64> = (some.iter())
        .flat_map(|&k| (0..4).map(move |quarter| (k as f64 + quarter as f64 / 4.0) / 24.0))
        .collect();
    let shown = three_positions(clients, &path, Some(&clip.name), &times);
    let (mut at_frames, mut stray, mut worst) = (0.0f64, 0.0f64, 0.0f64);
    for (&k, quarters) in some.iter().zip(shown.chunks(4)) {
        let step = apart(&own[k], &own[k + 1]);
        for (quarter, shown) in quarters.iter().enumerate() {
            let shown = points(&file, shown);
            let part = quarter as f64 / 4.0;
            let ends = own[k].iter().zip(&own[k + 1]);
            let line: Vec<DVec3> = ends.map(|(a, b)| a.lerp(*b, part)).collect();
            let off = apart(&shown, &line);
            if quarter == 0 {
                at_frames = at_frames.max(off / diagonal);
            } else {
                stray = stray.max(off / diagonal);
                worst = worst.max(off / step);
            }
        }
    }
    eprintln!(
        "{name}: three differs by {at_frames:.1e} of the diagonal at frames and strays {stray:.1e} \
         between them, {worst:.3} of a step"
    );
    assert!(at_frames < TOLERANCE, "{name}: {at_frames:.2e} at frames");
    assert!(
        worst < share,
        "{name}: {worst:.3} of the longest step between frames"
    );
}

#[test]
fn decomposed_animations_play_straight_in_three() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let scratch = Scratch::new();
    for (data, arguments, share) in [
        ("horse-gallop/horse-gallop.npz", "--bones 30", 0.25),
        ("horse-collapse/horse-collapse.npz", "--bones 6", 0.25),
        ("bpy/tube_cloth/truth.npz", "--bones 12", 0.25),
    ] {
        let Some(path) = support::data(data) else {
            return;
        };
        // Few rounds: how it plays does not depend on the last tenth of the error.
        let command = format!(
            "decompose {} {arguments} --quality fast --fps 24 -o skin.glb --json --quiet",
            quoted(&path)
        );
        let said = scratch.dermis(&command).done().json();
        let frames = said["clips"][0]["frames"].as_u64().expect("a count") as usize;
        assert!(number(&said, "/nestedBones") > 0.0, "they shear: {said:#}");
        assert_plays_straight(&clients, &scratch, "skin.glb", frames, share);
    }
}
