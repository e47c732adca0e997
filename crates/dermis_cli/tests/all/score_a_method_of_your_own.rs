//! A researcher has the meshes of a method of their own, and wants the numbers of the papers for them.

use dermis_io::{Document, Frame};
use glam::DVec3;

use crate::common::{Run, SMALL_TUBE, Scratch, number, tube_document};

/// Examples with poses, and meshes that are a little off: vertex 7 of frame 2 by a tenth, all others by a hundredth.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    let truth = tube_document(&SMALL_TUBE);
    scratch.write("truth.npz", &truth);
    let mut mine = alone(&truth);
    for frame in &mut mine.frames {
        for at in &mut frame.positions {
            at.x += 0.01;
        }
    }
    mine.frames[2].positions[7].x += 0.09;
    scratch.write("mine.npz", &mine);
    scratch
}

/// The meshes without bones.
fn alone(document: &Document) -> Document {
    Document {
        skin: None,
        frame_poses: Vec::new(),
        ..document.clone()
    }
}

#[track_caller]
fn refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "one sentence: {run:#?}");
    assert_eq!(run.stdout, "", "no results: {run:#?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
}

#[test]
fn meshes_are_measured_as_fits_are() {
    let scratch = folder();
    let json = scratch
        .dermis("measure truth.npz mine.npz --surface --json")
        .done()
        .json();
    let truth = scratch.read("truth.npz");
    let size = truth.mesh.bounds().diagonal();
    let largest = number(&json, "/total/maxDistance");
    assert!((largest - 0.1 / size).abs() < 1e-6, "{json:#}");
    assert_eq!(number(&json, "/worst/vertex"), 7.0, "{json:#}");
    assert_eq!(number(&json, "/worst/example"), 2.0, "{json:#}");
    assert_eq!(
        json["worst"]["name"],
        truth.frames[2].name.as_str(),
        "by name"
    );
    assert!(
        number(&json, "/total/envelopingErrorPercent") > 0.0,
        "bones are known"
    );
    assert!(
        number(&json, "/surface/meanDistance") <= number(&json, "/total/meanDistance"),
        "{json:#}"
    );
    assert!(json["perFrame"].is_null(), "only when asked for: {json:#}");
    let text = scratch.dermis("measure truth.npz mine.npz").done();
    assert!(text.says("at vertex 7 in frame 2 ("), "{text:#?}");
    let swapped = scratch.dermis("measure mine.npz truth.npz --json").done();
    let swapped = swapped.json();
    assert!(
        swapped["total"]["envelopingErrorPercent"].is_null(),
        "without bones there is none: {swapped:#}"
    );
}

#[test]
fn frames_and_vertices_have_rows_of_their_own() {
    let scratch = folder();
    let frames = scratch
        .dermis("measure truth.npz mine.npz --per-frame --csv")
        .done();
    let rows: Vec<&str> = (frames.stdout.lines())
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert!(
        rows[0].starts_with("frame,eRms,meanDistance,maxDistance,worstVertex"),
        "{rows:?}"
    );
    assert_eq!(rows.len(), 1 + SMALL_TUBE.example_count, "{rows:?}");
    assert_eq!(
        rows[3].split(',').nth(4),
        Some("7"),
        "its worst vertex: {rows:?}"
    );
    let json = scratch
        .dermis("measure truth.npz mine.npz --per-vertex --json")
        .done()
        .json();
    let vertices = json["perVertex"].as_array().expect("a list");
    assert_eq!(
        vertices.len(),
        scratch.read("truth.npz").mesh.vertex_count(),
        "all"
    );
    assert_eq!(vertices[7]["worstExample"], 2, "{}", vertices[7]);
    // E_RMS is a root mean square over vertices.
    let squares = vertices.iter().map(|v| number(v, "/eRms").powi(2));
    let e_rms = (squares.sum::<f64>() / vertices.len() as f64).sqrt();
    let total = number(&json, "/total/eRms");
    assert!((e_rms / total - 1.0).abs() < 1e-9, "{e_rms} and {total}");
    let table = scratch
        .dermis("measure truth.npz mine.npz --per-frame")
        .done();
    assert!(
        table.stdout.lines().count() > SMALL_TUBE.example_count,
        "{table:#?}"
    );
}

#[test]
fn a_skin_is_posed_by_the_poses_of_the_truth() {
    let scratch = folder();
    scratch
        .dermis("fit truth.npz -o skin.glb --hold-out none --json -q")
        .done();
    let fitted = scratch
        .dermis("fit truth.npz -o skin.glb --hold-out none --json -q")
        .done()
        .json();
    let run = scratch.dermis("measure truth.npz skin.glb --json").done();
    assert!(
        run.stderr
            .contains("skin.glb is posed as the bones of truth.npz are"),
        "{run:#?}"
    );
    let json = run.json();
    let (said, found) = (
        number(&fitted, "/overall/eRms"),
        number(&json, "/total/eRms"),
    );
    // The file has single precision.
    assert!(
        (said - found).abs() < 1e-3,
        "{said} was said, {found} is shown"
    );
    // The same as meshes, written and read again.
    scratch
        .dermis("eval skin.glb --poses truth.npz -o shown.npz")
        .done();
    let shown = scratch
        .dermis("measure truth.npz shown.npz --json")
        .done()
        .json();
    let again = number(&shown, "/total/eRms");
    assert!((again - found).abs() < 1e-3, "{again} and {found}");
}

#[test]
fn what_cannot_be_measured_is_one_sentence() {
    let scratch = folder();
    let truth = tube_document(&SMALL_TUBE);
    let mut fewer = alone(&truth);
    fewer.frames.truncate(4);
    scratch.write("fewer.npz", &fewer);
    refused(
        &scratch.dermis("measure truth.npz fewer.npz"),
        &["fewer.npz: has 4 meshes, but truth.npz has 6"],
    );
    let mut large = alone(&truth);
    for frame in &mut large.frames {
        frame.positions.iter_mut().for_each(|at| *at *= 100.0);
    }
    large.mesh = large
        .mesh
        .with_positions(large.mesh.positions().iter().map(|p| *p * 100.0).collect())
        .expect("the same faces");
    scratch.write("large.npz", &large);
    refused(
        &scratch.dermis("measure truth.npz large.npz"),
        &["large.npz", "100 times as large", "--scale 0.01"],
    );
    scratch
        .dermis("measure truth.npz large.npz --scale 0.01")
        .done();
    let shuffled = |points: &[DVec3]| -> Vec<DVec3> {
        let count = points.len();
        (0..count).map(|i| points[(i * 37 + 5) % count]).collect()
    };
    let mut mixed = alone(&truth);
    for frame in &mut mixed.frames {
        frame.positions = shuffled(&frame.positions);
    }
    mixed.mesh =
        dermis::TriMesh::new(shuffled(truth.mesh.positions()), Vec::new()).expect("points");
    mixed.draw = dermis::mesh::DrawMesh::default();
    scratch.write("mixed.npz", &mixed);
    refused(
        &scratch.dermis("measure truth.npz mixed.npz -q"),
        &["mixed.npz: the vertices are in another order"],
    );
    let mut other = alone(&truth);
    other.mesh = dermis::TriMesh::new(vec![DVec3::ZERO; 5], Vec::new()).expect("points");
    other.frames = vec![Frame {
        name: "a".to_owned(),
        positions: vec![DVec3::ZERO; 5],
    }];
    scratch.write("other.npz", &other);
    refused(
        &scratch.dermis("measure truth.npz other.npz -q"),
        &["other.npz: has 5 vertices, but truth.npz has 98"],
    );
}

#[test]
fn an_error_above_the_one_allowed_is_exit_code_1() {
    let scratch = folder();
    let run = scratch.dermis("measure truth.npz mine.npz --max-error 0.001");
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.stderr.contains("tolerance missed"), "{run:#?}");
    assert!(run.says("E_RMS"), "the numbers are there: {run:#?}");
    scratch
        .dermis("measure truth.npz mine.npz --max-error 1000")
        .done();
}
