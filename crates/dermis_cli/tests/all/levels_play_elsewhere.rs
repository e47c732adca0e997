//! Levels of detail are plain skins: other players show each as `dermis eval` does, and of one file with all of them the
//! full character alone.

use crate::common::{Scratch, quoted};
use crate::glb_plays_elsewhere::{assert_plays, assert_plays_in_blender};
use crate::support;

/// A folder with a character as one file with two levels, `all.glb`, and as files of their own: `own.glb`,
/// `own_lod1.glb` and `own_lod2.glb`.
fn leveled(character: &str) -> Option<Scratch> {
    let character = support::data(character)?;
    let scratch = Scratch::new();
    for options in ["-o all.glb", "--separate -o own.glb"] {
        let character = quoted(&character);
        let command = format!("lod {character} --ratios 0.5,0.3 {options} --quiet");
        let run = scratch.dermis(&command);
        // 1 says that a level could not be made as small as asked.
        assert!(run.code <= 1, "{run:#?}");
    }
    Some(scratch)
}

const FILES: [&str; 4] = ["all.glb", "own.glb", "own_lod1.glb", "own_lod2.glb"];

/// Three sets of traps: one texture and 24 bones; several skins of seams; morph targets and parts without bones.
#[test]
fn levels_play_in_three_and_a_file_of_all_shows_the_full_character() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    for (character, clip) in [
        ("gltf/Fox.glb", "Run"),
        ("gltf/CesiumMan.glb", ""),
        ("gltf/RobotExpressive.glb", "Dance"),
    ] {
        let Some(scratch) = leveled(character) else {
            return;
        };
        let clips = scratch.read("all.glb").clips;
        let clip = match clip.is_empty() {
            true => &clips[0].name,
            false => clip,
        };
        for name in FILES {
            // What is drawn on top of the full character would be counted.
            assert_plays(&clients, &scratch, name, clip, 25.0);
        }
        let counts = FILES.map(|name| scratch.read(name).mesh.triangles().len());
        assert!(
            counts[0] == counts[1] && counts[1] > counts[2] && counts[2] > counts[3],
            "{character}: {counts:?} triangles"
        );
    }
}

#[test]
#[ignore = "slow: starts Blender for every file"]
fn levels_play_in_blender_and_a_file_of_all_shows_the_full_character() {
    let (Some(python), Some(clients), Some(scratch)) = (
        support::blender_python(),
        support::node_clients(),
        leveled("gltf/Fox.glb"),
    ) else {
        return;
    };
    for name in FILES {
        assert_plays_in_blender(&python, &clients, &scratch, name, "Walk");
    }
}
