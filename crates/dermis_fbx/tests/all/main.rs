//! Tests of the FBX reader: a small file that comes with dermis, real files with answers, and broken ones.

mod bar;
mod broken;
mod real_files;
#[path = "../../../../tests/support/mod.rs"]
mod support;

use std::path::Path;

use dermis::document::Document;
use dermis_fbx::FbxError;
use glam::DVec3;

/// Reads a file with everything beside it.
fn read(path: &Path) -> Document {
    let bytes = std::fs::read(path).expect("the file is there");
    read_bytes(path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Document, FbxError> {
    dermis_fbx::read(path, bytes, &|beside| std::fs::read(beside))
}

/// The document's points in a clip at a time, or in the default pose.
fn shown(document: &Document, clip: Option<(&str, f64)>) -> Vec<DVec3> {
    let skin = document.skin.as_ref().expect("a skin");
    let pose = match clip {
        Some((name, time)) => {
            let clip = document.clips.iter().find(|clip| clip.name == name);
            skin.sample(clip.expect("a clip of that name"), time)
        }
        None => skin.skeleton.default_pose(),
    };
    skin.evaluate(&pose).expect("the pose fits")
}

/// The largest distance between points of the same number.
fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many points");
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}
