//! Small animations of random points, for which joining bones once never ended.

use dermis::fit::{BoneCount, BoneMotion, DecomposeOptions, decompose, join_bones};
use dermis::progress::Silent;
use dermis::skin::{PlayableOptions, PoseClip, to_playable};
use dermis::{MeshAnimation, MeshClip, TriMesh};
use glam::DVec3;

/// Numbers in -1 to 1 that look random (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn point(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// A few vertices in a few frames: scattered, in a plane, on a line, or moved little. In every other one, the
/// rest mesh is smaller than the rounding of the moved positions.
fn animation(seed: u64) -> (MeshAnimation, usize) {
    let mut numbers = Numbers(seed);
    let mut below = |count: u64| ((numbers.next() + 1.0) / 2.0 * count as f64) as u64;
    let (vertices, frames, bones) = (1 + below(8), 1 + below(5), 1 + below(4));
    let (kind, size) = (below(6), [1e-3, 1.0, 1.0, 1.0][below(4) as usize]);
    let mut point = || {
        let p = numbers.point();
        match kind {
            0 => p.with_z(0.0),
            1 => DVec3::X * p.x,
            // Like numbers in a file written by hand: many are equal.
            2 => (2.0 * p).round(),
            _ => p,
        }
    };
    let (small, far) = match seed % 2 {
        0 => (1.0, DVec3::ZERO),
        _ => (1e-7, 1e3 * point()),
    };
    let rest: Vec<DVec3> = (0..vertices).map(|_| small * point()).collect();
    let mut frame = || -> Vec<DVec3> {
        let shift = point();
        let mut moved =
            |p: &DVec3| *p + size * point() + if kind == 3 { shift } else { DVec3::ZERO };
        match kind {
            4 => rest.iter().map(|p| far + *p + shift).collect(),
            5 => rest.iter().map(|p| far + *p).collect(),
            _ => rest.iter().map(|p| far + moved(p)).collect(),
        }
    };
    let clip = MeshClip {
        name: format!("seed {seed}"),
        frames: (0..frames).map(|_| frame()).collect(),
        frames_per_second: 24.0,
    };
    let triangles = (2..vertices as u32).map(|k| [0, k - 1, k]).collect();
    let mesh = TriMesh::new(rest.clone(), triangles).expect("finite");
    let animation = MeshAnimation::new(mesh, vec![clip]).expect("frames");
    (animation, bones as usize)
}

/// Decomposes, joins, and makes a clip of the result as the command does.
fn run(seed: u64) {
    let (animation, bones) = animation(seed);
    let options = DecomposeOptions {
        bones: BoneCount::Exactly(bones),
        motion: BoneMotion::Rigid,
        rounds: 4,
        ..DecomposeOptions::default()
    };
    // More bones than points is an expected error.
    let Ok(free) = decompose(&animation, &options, &Silent) else {
        return;
    };
    let joined = join_bones(free, &animation, &options, &Silent).expect("joined");
    assert!(joined.e_rms.is_finite(), "seed {seed}: {}", joined.e_rms);
    let clip = PoseClip {
        name: "clip".to_owned(),
        poses: &joined.poses,
        frames_per_second: 24.0,
    };
    let ball = animation.unit_ball_radius();
    let rest = animation.rest().bounds().diagonal();
    for key_tolerance in [0.0, 1e-9 * ball, 1e-4 * ball, 5e-6 * rest, 1e-300] {
        let options = PlayableOptions { key_tolerance };
        to_playable(&joined.skin, std::slice::from_ref(&clip), &options).expect("playable");
    }
}

#[test]
fn joining_small_random_animations_always_ends() {
    let count: u64 = match std::env::var("DERMIS_SEEDS") {
        Ok(count) => count.parse().expect("a number of seeds"),
        Err(_) => 300,
    };
    for seed in 0..count {
        if std::env::var_os("DERMIS_SEEDS").is_some() {
            eprintln!("seed {seed}");
        }
        run(seed);
    }
}
