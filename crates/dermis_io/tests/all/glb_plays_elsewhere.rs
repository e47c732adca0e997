//! Files that dermis writes are valid and move the same in other players (fact 11 of the spec).

mod affine;
mod documents;
mod driven;
mod exact;
mod proxies;

use std::path::{Path, PathBuf};

use dermis::VertexProgram;
use dermis_io::gltf::to_glb;
use dermis_io::{Document, WriteOptions};
use documents::{WIDE_ATTRIBUTE, corrected, documents, point_cloud};
use glam::DVec3;

use crate::support;
use crate::support::clients::{
    Shown, assert_valid, blender_positions, largest_distance, three_positions,
};

/// Largest allowed distance between a player's positions and ours, as a share of the rest box's diagonal.
const TOLERANCE: f64 = 1e-5;

fn write_into(folder: &Path, name: &str, document: &Document) -> PathBuf {
    let path = folder.join(name);
    dermis_io::write(&path, document, &WriteOptions::default()).expect("the document is sound");
    path
}

/// The expected position of every point: from the skin, from the frames, or at rest.
///
/// With `only_four`, only the four largest weights of each vertex are used, as in three.js.
fn expected_points(document: &Document, time: f64, only_four: bool) -> Vec<DVec3> {
    if let Some(skin) = &document.skin {
        let mut skin = skin.clone();
        if let (VertexProgram::Ssd(ssd), true) = (&mut skin.program, only_four) {
            *ssd = ssd.largest_weights(4);
        }
        let pose = skin.sample(&document.clips[0], time);
        return skin.evaluate(&pose).expect("the pose fits");
    }
    if document.frames.is_empty() {
        return document.mesh.positions().to_vec();
    }
    let rate = document.frames_per_second.expect("it says");
    let last = document.frames.len() - 1;
    let at = (time * rate).clamp(0.0, last as f64);
    let (k, s) = (at.floor() as usize, at.fract());
    let (a, b) = (&document.frames[k], &document.frames[(k + 1).min(last)]);
    (a.positions.iter().zip(&b.positions))
        .map(|(a, b)| a.lerp(*b, s))
        .collect()
}

/// The name of the animation in a document's file, if any.
fn clip_name(document: &Document) -> Option<&str> {
    match (&document.skin, document.frames.is_empty()) {
        (Some(_), _) => Some("bend"),
        (None, false) => Some("frames"),
        (None, true) => None,
    }
}

/// Largest difference between a player and us, as a share of the diagonal.
///
/// Vertices are matched by `_ORIG` where the player passes it on, else in file order.
fn difference(document: &Document, points: &[DVec3], shown: &Shown) -> f64 {
    let parts = &document.draw.parts;
    let in_order: Vec<u32> = if parts.is_empty() {
        (0..points.len() as u32).collect()
    } else {
        parts.iter().flat_map(|part| part.points.clone()).collect()
    };
    let mut remaining = in_order.iter().map(|&point| point as usize);
    let mut found = Vec::new();
    let mut expected = Vec::new();
    for mesh in shown {
        let by_order: Vec<usize> = remaining.by_ref().take(mesh.positions.len()).collect();
        let drawn = mesh.points.as_ref().unwrap_or(&by_order);
        expected.extend(drawn.iter().map(|&point| points[point].to_array()));
        found.extend_from_slice(&mesh.positions);
    }
    assert_eq!(found.len(), in_order.len(), "every drawn vertex is shown");
    largest_distance(&found, &expected) / document.mesh.bounds().diagonal()
}

#[test]
fn every_file_is_valid() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files: Vec<PathBuf> = (documents().iter())
        .map(|(name, document)| write_into(folder.path(), name, document))
        .collect();
    files.push(write_into(folder.path(), "points.glb", &point_cloud()));
    files.push(write_into(folder.path(), "text é.gltf", &corrected()));
    assert!(
        folder.path().join("text é.bin").is_file(),
        "the buffer is beside the .gltf"
    );
    assert_valid(&clients, &files);
}

#[test]
fn three_shows_what_we_evaluate() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let times = [0.0, 0.1, 0.3, 0.5, 0.85, 1.0];
    for (name, document) in documents() {
        let file = write_into(folder.path(), name, &document);
        let shown = three_positions(&clients, &file, clip_name(&document), &times);
        for (time, shown) in times.iter().zip(&shown) {
            let points = expected_points(&document, *time, true);
            let difference = difference(&document, &points, shown);
            eprintln!("{name} at {time} s: three differs by {difference:.1e} of the diagonal");
            assert!(
                difference < TOLERANCE,
                "{name} at {time} s: {difference:.2e}"
            );
        }
    }
}

#[test]
#[ignore = "slow: starts Blender for every file"]
fn blender_shows_what_we_evaluate() {
    let (Some(python), Some(clients)) = (support::blender_python(), support::node_clients()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let documents = documents();
    for (name, document) in documents.iter().filter(|d| d.0 != WIDE_ATTRIBUTE) {
        // Key times only: between them Blender blends rotations component by component.
        let times: &[f64] = match &document.skin {
            Some(_) => &[0.0, 0.5, 1.0],
            None => &[0.0, 0.2, 0.25],
        };
        let file = write_into(folder.path(), name, document);
        let clip = clip_name(document);
        let shown = blender_positions(&python, &clients, &file, clip, times);
        for (time, shown) in times.iter().zip(&shown) {
            let points = expected_points(document, *time, false);
            let difference = difference(document, &points, shown);
            eprintln!("{name} at {time} s: Blender differs by {difference:.1e} of the diagonal");
            assert!(
                difference < TOLERANCE,
                "{name} at {time} s: {difference:.2e}"
            );
        }
    }
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    let bytes = || to_glb(&corrected()).expect("the document is sound");
    assert!(bytes() == bytes(), "two runs differ");
}
