//! Simulated tubes that are cut into shells decompose as well as uncut tubes.

use dermis::fit::{BoneCount, DecomposeOptions, decompose};
use dermis::progress::Silent;
use dermis::{MeshAnimation, MeshClip};

use crate::support;
use crate::support::pieces::{across, cut, piece_count};

/// So few bones that the error is well above rounding.
const BONES: usize = 4;

fn error(animation: &MeshAnimation) -> f64 {
    let options = DecomposeOptions {
        bones: BoneCount::Exactly(BONES),
        ..DecomposeOptions::default()
    };
    let found = decompose(animation, &options, &Silent).expect("an animation");
    found.e_rms
}

fn check(name: &str) {
    let Some(path) = support::data(&format!("bpy/{name}/truth.npz")) else {
        return;
    };
    let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let clip = MeshClip {
        name: name.to_owned(),
        frames: document.frames.into_iter().map(|f| f.positions).collect(),
        frames_per_second: 24.0,
    };
    let whole = MeshAnimation::new(document.mesh, vec![clip]).expect("frames of one mesh");
    let base = error(&whole);
    assert!(base > 0.5, "{name}: {base} is well above rounding");
    for count in [2, 8, 16, 40] {
        let shells = cut(&whole, across(&whole, count));
        assert_eq!(piece_count(&shells), count, "{name}: shells");
        let found = error(&shells);
        let ratio = found / base;
        eprintln!("{name}, {count} shells: E_RMS {found:.4}, {ratio:.3} of {base:.4}");
        assert!(
            (0.95..1.05).contains(&ratio),
            "{name}, {count} shells: {found} against {base}"
        );
    }
}

#[test]
fn a_tube_with_smoothed_creases() {
    check("tube_csmooth");
}

#[test]
fn a_tube_in_a_cage() {
    check("tube_surfdef");
}
