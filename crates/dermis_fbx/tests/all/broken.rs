//! Truncated and damaged files: an error or a document, never a panic.

use std::path::{Path, PathBuf};

use crate::support::{data, dice::Dice, repository};
use crate::{read, read_bytes};

/// A document that was read from a damaged file must hold together.
fn check(path: &Path, bytes: &[u8]) -> bool {
    let Ok(document) = read_bytes(path, bytes) else {
        return false;
    };
    let count = document.mesh.vertex_count();
    if let Some(skin) = &document.skin {
        assert_eq!(skin.vertex_count(), count, "a row for every point");
        for clip in &document.clips {
            let fits = clip.check(&skin.skeleton, skin.coefficients.len());
            assert!(fits.is_ok(), "{fits:?}");
        }
    }
    let parts = document.draw.parts.iter();
    let points = parts.flat_map(|part| &part.points);
    assert!(
        points.max().is_none_or(|&p| (p as usize) < count),
        "points that exist"
    );
    true
}

fn damage(path: &Path, cuts: usize, flips: usize) {
    let bytes = std::fs::read(path).expect("the file is there");
    for k in 0..cuts {
        check(path, &bytes[..k * bytes.len() / cuts]);
    }
    let mut dice = Dice::new(7);
    for _ in 0..flips {
        let mut damaged = bytes.clone();
        for _ in 0..3 {
            let place = dice.below(bytes.len());
            damaged[place] = dice.below(256) as u8;
        }
        check(path, &damaged);
    }
}

#[test]
fn a_damaged_ascii_file_gives_an_error_or_a_document() {
    damage(&repository().join("data/bar.fbx"), 400, 400);
}

#[test]
fn a_damaged_binary_file_gives_an_error_or_a_document() {
    let Some(folder) = data("fbx-ufbx") else {
        return;
    };
    let sausage = "maya_game_sausage/maya_game_sausage_7500_binary_deform.fbx";
    damage(&folder.join(sausage), 150, 150);
    damage(
        &folder.join("max_cache_box/max_cache_box_7500_binary.fbx"),
        20,
        20,
    );
}

#[test]
fn errors_say_what_was_expected_and_what_to_do() {
    let path = PathBuf::from("hero.fbx");
    for (bytes, expected) in [
        (&b""[..], "file: expected"),
        (
            b"v 0 0 0\nf 1 1 1\n",
            "file: expected a binary or ASCII FBX file",
        ),
        (
            b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0",
            "file: expected",
        ),
    ] {
        let error = read_bytes(&path, bytes)
            .expect_err("no FBX file")
            .to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains('\n'), "one sentence: {error}");
    }
}

#[test]
fn a_take_that_would_fill_the_memory_is_refused() {
    let path = repository().join("data/bar.fbx");
    let text = std::fs::read_to_string(&path).expect("text");
    let stop = "\"LocalStop\", \"KTime\", \"Time\", \"\",";
    let long = text.replacen(stop, &format!("{stop}9000000"), 1);
    assert_ne!(text, long, "the take is longer");
    let error = read_bytes(&path, long.as_bytes())
        .expect_err("too long")
        .to_string();
    assert!(
        error.contains("clip Bend at 24 frames per second would have"),
        "{error}"
    );
    assert_eq!(read(&path).clips.len(), 2, "as it was it is read");
}
