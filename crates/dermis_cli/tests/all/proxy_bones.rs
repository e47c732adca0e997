//! A file with proxy bones goes through every command that takes skins, or is refused in one sentence.

use dermis_io::Document;

use crate::common::{Scratch, number, quoted};
use crate::support;

/// The shipped file of proxy bones, animation space and drivers.
fn file() -> String {
    quoted(&support::repository().join("data/dermis_skin_v4.glb"))
}

/// Largest distance between the frames of two documents.
fn apart(a: &Document, b: &Document) -> f64 {
    assert_eq!(a.frames.len(), b.frames.len(), "as many frames");
    let mut most = 0.0f64;
    for (a, b) in a.frames.iter().zip(&b.frames) {
        let off = a.positions.iter().zip(&b.positions);
        most = off.map(|(a, b)| a.distance(*b)).fold(most, f64::max);
    }
    most
}

#[test]
fn info_counts_them() {
    let scratch = Scratch::new();
    let text = scratch.dermis(&format!("info {}", file())).done().stdout;
    let line = text.lines().find(|line| line.contains("proxy bones"));
    let line = line.unwrap_or_else(|| panic!("no proxies in\n{text}"));
    assert!(
        line.ends_with("5, placed from 5 patches at 2 joints and 3 bones, 2.5 KiB of matrices"),
        "{line}"
    );
    let json = scratch.dermis(&format!("info {} --json", file())).done();
    let info = json.json();
    assert_eq!(number(&info, "/0/proxies/bones"), 5.0, "bones");
    // Four rows of five, of four numbers each for a patch and for a bone.
    assert_eq!(
        number(&info, "/0/proxies/matrixBytes"),
        4.0 * 20.0 * (20.0 + 12.0),
        "32-bit floats"
    );
}

#[test]
fn stats_are_of_joints_alone() {
    let scratch = Scratch::new();
    let text = scratch.dermis(&format!("stats {}", file())).done().stdout;
    assert!(text.contains("forearm"), "{text}");
    assert!(!text.contains("proxy"), "no joint moves them: {text}");
}

#[test]
fn convert_and_eval_keep_them() {
    let scratch = Scratch::new();
    let source = file();
    scratch
        .dermis(&format!("convert {source} copy.gltf"))
        .done();
    let copy = scratch.read("copy.gltf");
    let skin = copy.skin.expect("it has a skin");
    assert!(skin.pose_program.proxies().is_some(), "alive in the copy");

    for (input, output) in [(source.as_str(), "a.npz"), ("copy.gltf", "b.npz")] {
        scratch.dermis(&format!("eval {input} -o {output}")).done();
    }
    let (a, b) = (scratch.read("a.npz"), scratch.read("b.npz"));
    assert_eq!(
        a.frames.len(),
        12,
        "the keys of bones that are posed, not those of proxies between them"
    );
    assert!(apart(&a, &b) < 1e-6, "off by {:.1e}", apart(&a, &b));
    scratch
        .dermis(&format!("convert {source} c.npz --clip 'curl and turn'"))
        .done();
    let c = scratch.read("c.npz");
    assert!(apart(&a, &c) < 1e-6, "off by {:.1e}", apart(&a, &c));
    // Frames of vertices, for programs that know no bones.
    scratch
        .dermis(&format!("convert {source} d.pc2 --clip 'curl and turn'"))
        .done();
}

#[test]
fn poses_by_hand_move_what_can_be_posed() {
    let scratch = Scratch::new();
    let document = dermis_io::read(&support::repository().join("data/dermis_skin_v4.glb"));
    let skin = document.expect("it ships").skin.expect("it has a skin");
    let name = |j: usize| &skin.skeleton.bones()[j].name;
    let (posed, proxy) = (name(1), name(skin.posed_bone_count() + 1));
    let source = file();
    for (pose, name) in [(format!("{posed}.rz=40"), "bent"), ("rest".into(), "rest")] {
        scratch
            .dermis(&format!("eval {source} --pose '{pose}' -o {name}.npz"))
            .done();
    }
    let (bent, rest) = (scratch.read("bent.npz"), scratch.read("rest.npz"));
    assert!(apart(&bent, &rest) > 0.05, "the arm moved");
    let run = scratch.dermis(&format!("eval {source} --pose '{proxy}.rz=40' -o no.npz"));
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(
        run.stderr.contains("is placed by other bones"),
        "{}",
        run.stderr
    );
    let run = scratch.dermis(&format!("pose {source} --to rest.npz"));
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(
        run.stderr.contains("a skin with 5 proxy bones"),
        "{}",
        run.stderr
    );
}
