//! Proxy bones of the fast run-time equal those of the plain evaluation.

use std::f64::consts::TAU;

use dermis::rig::{ProxyBones, RigError, Trs};
use dermis::run::{
    FrameInputs, Mat3x4, Output, PackOptions, PackedProxies, PackedSkeleton, PackedSkin,
    PaletteEntry, PoseBuffer, RunError,
};
use dermis::synth::{ProxyOptions, proxied};
use dermis::{BoneId, Pose, Skin};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use proptest::prelude::*;

use crate::run_support::{Dice, KINDS, Kind, Size, random_skin};

/// A skin with proxies and a pose of its other bones, whose scales are 1 and up to `scale` times a
/// random vector more.
fn skin_and_pose(
    dice: &mut Dice,
    bones: usize,
    options: &ProxyOptions,
    scale: DVec3,
) -> (Skin, Pose) {
    let size = Size {
        vertices: 3 * options.proxy_count,
        bones,
        most_influences: 3,
        corrections: 0,
        proxies: 0,
    };
    let (skin, mut pose) = random_skin(dice, size, Kind::Ssd);
    for local in &mut pose.parent_from_bone {
        let (_, turn, at) = local.to_scale_rotation_translation();
        let sizes = match scale == DVec3::splat(scale.x) {
            true => DVec3::splat(1.0 + scale.x * dice.number()),
            false => DVec3::ONE + scale * dice.vector(),
        };
        *local = DAffine3::from_scale_rotation_translation(sizes, turn, at);
    }
    (proxied(&skin, options), pose)
}

/// The matrices of the posed bones in 32 bits; those of proxies, still to be placed, are NaN.
fn palette(skin: &Skin, pose: &Pose) -> Vec<Mat3x4> {
    let palette = skin.run_pose_program(pose).expect("fits").palette;
    let mut matrices: Vec<Mat3x4> = (palette.model_from_bone.iter())
        .map(|m| {
            let columns = m.to_cols_array_2d();
            std::array::from_fn(|i| columns[i % 4][i / 4] as f32)
        })
        .collect();
    matrices[skin.posed_bone_count()..].fill([f32::NAN; 12]);
    matrices
}

fn to_affine(m: &Mat3x4) -> DAffine3 {
    let column = |k: usize| Vec3::new(m[k], m[k + 4], m[k + 8]).as_dvec3();
    DAffine3 {
        matrix3: DMat3::from_cols(column(0), column(1), column(2)),
        translation: column(3),
    }
}

/// Sets the middle of each joint's turns to a function of its turn in a pose.
///
/// Turns near half a circle from their middle are near a jump, where rounding decides.
fn set_middles(skin: &mut Skin, palette: &[Mat3x4], mut middle: impl FnMut(DVec3) -> DVec3) {
    let skeleton = skin.skeleton.clone();
    let linear = |bone: BoneId| {
        let rest = &skeleton.bones()[bone.index()].bone_from_rest;
        to_affine(&palette[bone.index()]).matrix3 * rest.matrix3
    };
    for joint in &mut skin
        .pose_program
        .proxies_mut()
        .expect("made with them")
        .joints
    {
        joint.middle = DVec3::ZERO;
        joint.middle = middle(joint.turn(&linear(joint.parent), &linear(joint.bone)));
    }
}

/// The sum of the sizes of the terms of each proxy, which rounding is relative to.
fn magnitudes(proxies: &ProxyBones, skin: &Skin, matrices: &[DAffine3]) -> Vec<f64> {
    let largest = |x: &[f64]| x.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let patches: Vec<f64> = (proxies.motions(&skin.skeleton, matrices).iter())
        .map(|d| largest(&d.to_cols_array()))
        .collect();
    let sources: Vec<f64> = (proxies.sources.iter())
        .map(|bone| largest(&matrices[bone.index()].to_cols_array()))
        .collect();
    let (width1, width2) = (4 * patches.len(), 4 * sources.len());
    let row = |row: usize| {
        let of_patches = &proxies.from_patches[row * width1..(row + 1) * width1];
        let of_sources = &proxies.from_sources[row * width2..(row + 1) * width2];
        (of_patches.chunks(4).zip(&patches))
            .chain(of_sources.chunks(4).zip(&sources))
            .map(|(shares, size)| shares.iter().map(|c| c.abs()).sum::<f64>() * size)
            .sum::<f64>()
    };
    (0..proxies.bones.len())
        .map(|m| (4 * m..4 * (m + 1)).map(row).fold(0.0, f64::max))
        .collect()
}

/// By how much of its magnitude the worst number is off.
fn worst(skin: &Skin, palette: &[Mat3x4]) -> f64 {
    let proxies = skin.pose_program.proxies().expect("made with them");
    let mut packed = PackedProxies::new(skin).expect("fits");
    assert_eq!(packed.proxy_count(), proxies.bones.len(), "all of them");
    let mut placed = palette.to_vec();
    packed.place(&mut placed).expect("as many bones");
    let posed_count = skin.posed_bone_count();
    assert_eq!(
        placed[..posed_count],
        palette[..posed_count],
        "posed bones are left alone"
    );
    // Of the same 32-bit matrices.
    let exact: Vec<DAffine3> = palette.iter().map(to_affine).collect();
    let expected = proxies.place(&skin.skeleton, &exact);
    let sizes = magnitudes(proxies, skin, &exact);
    let mut worst: f64 = 0.0;
    for (m, (expected, size)) in expected.iter().zip(sizes).enumerate() {
        let [carrier, proxy] = [0, 1].map(|k| &placed[posed_count + 2 * m + k]);
        assert_eq!(carrier, proxy, "a carrier goes where its proxy goes");
        let found = to_affine(proxy).to_cols_array();
        for (found, expected) in found.iter().zip(expected.to_cols_array()) {
            let off = (found - expected).abs() / size.max(1e-30);
            worst = if off >= 0.0 {
                worst.max(off)
            } else {
                f64::INFINITY
            };
        }
    }
    worst
}

fn options() -> impl Strategy<Value = ProxyOptions> {
    (1..=100usize, 0..80usize, 0..30usize, any::<u64>()).prop_map(
        |(proxy_count, patch_count, source_count, seed)| ProxyOptions {
            proxy_count,
            patch_count,
            // Often none.
            source_count: source_count.saturating_sub(6),
            seed,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn proxies_are_placed_as_in_double_precision(
        seed: u64,
        bones in 1..20usize,
        options in options(),
        scale in 0..3usize,
    ) {
        let mut dice = Dice::new(seed);
        let scale = [DVec3::ZERO, DVec3::splat(0.4), DVec3::new(0.4, 0.3, 0.3)][scale];
        let (mut skin, pose) = skin_and_pose(&mut dice, bones, &options, scale);
        let matrices = palette(&skin, &pose);
        set_middles(&mut skin, &matrices, |turn| match turn.length() > 2.9 {
            true => turn,
            false => DVec3::ZERO,
        });
        let off = worst(&skin, &matrices);
        prop_assert!(off < 2e-6, "scale {scale}: off by {off:e}");
    }

    #[test]
    fn long_turns_are_read_on_the_side_of_their_middles(
        seed: u64,
        bones in 2..20usize,
        options in options(),
    ) {
        let mut dice = Dice::new(seed);
        let (mut skin, pose) = skin_and_pose(&mut dice, bones, &options, DVec3::splat(0.4));
        let matrices = palette(&skin, &pose);
        set_middles(&mut skin, &matrices, |turn| {
            // A turn of nearly nothing has no axis in 32 bits to go round once more.
            let angle = turn.length();
            let long = match angle > 0.5 {
                true => turn * (1.0 + TAU * (dice.below(3) as f64 - 1.0) / angle),
                false => turn,
            };
            long + 0.8 * dice.vector()
        });
        let off = worst(&skin, &matrices);
        prop_assert!(off < 5e-6, "off by {off:e}");
    }
}

#[test]
fn mirrored_flat_and_vanished_bones_are_placed_correctly() {
    let options = ProxyOptions::default();
    for seed in 0..20 {
        let mut dice = Dice::new(seed);
        let (mut skin, mut pose) = skin_and_pose(&mut dice, 9, &options, DVec3::ZERO);
        let odd = [
            DVec3::new(-1.0, 1.0, 0.4),
            DVec3::new(1.0, 0.01, 0.7),
            DVec3::new(1.2, 0.8, -0.3),
            DVec3::new(-2.0, -2.0, -2.0),
        ];
        for (k, local) in pose.parent_from_bone.iter_mut().enumerate() {
            // Of the leaves and of the whole character.
            if k == 0 || k > 5 {
                let sizes = odd[dice.below(odd.len())];
                *local *= DAffine3::from_scale(sizes);
            }
        }
        let mut matrices = palette(&skin, &pose);
        set_middles(&mut skin, &matrices, |turn| turn);
        let off = worst(&skin, &matrices);
        assert!(off < 2e-5, "seed {seed}: off by {off:e}");
        // A bone scaled to nothing has no turn; the results must still be finite.
        for entry in &mut matrices[8] {
            *entry = 0.0;
        }
        let mut packed = PackedProxies::new(&skin).expect("fits");
        packed.place(&mut matrices).expect("as many bones");
        let finite = matrices.as_flattened().iter().all(|x| x.is_finite());
        assert!(finite, "seed {seed}: {matrices:?}");
    }
}

#[test]
fn a_pose_gives_the_vertices_of_every_program() {
    let size = Size {
        vertices: 150,
        bones: 7,
        most_influences: 4,
        corrections: 2,
        proxies: 11,
    };
    for kind in KINDS {
        let (skin, random) = random_skin(&mut Dice::new(77), size, kind);
        let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
        for (id, local) in skin.skeleton.ids().zip(&random.parent_from_bone) {
            pose.set_local(id, &Trs::from_affine(local).0);
        }
        pose.coefficients_mut().copy_from_slice(&[0.3, -0.4]);
        let packed = PackedSkin::new(&skin, &PackOptions::default()).expect("packs");
        let mut matrices = vec![[0.0; 12]; packed.bone_count()];
        let mut entries = vec![PaletteEntry::default(); packed.bone_count()];
        PackedSkeleton::for_skin(&skin)
            .palette(&pose, &mut matrices)
            .expect("as many bones");
        let mut proxies = PackedProxies::new(&skin).expect("fits");
        proxies.place(&mut matrices).expect("as many bones");
        packed
            .load_palette(&matrices, &mut entries)
            .expect("as many bones");
        let expected = skin.evaluate(&pose.to_pose()).expect("fits");
        let frame = packed.frame(&skin.run_pose_program(&pose.to_pose()).expect("fits"));
        let frame = frame.expect("fits");
        let placed = FrameInputs {
            palette: &entries,
            coefficients: pose.coefficients(),
        };
        for (what, inputs) in [("placed here", placed), ("by the skin", frame.inputs())] {
            let mut positions = vec![[f32::NAN; 3]; size.vertices];
            let out = Output::Vertices {
                positions: &mut positions,
                normals: None,
            };
            packed.evaluate(&inputs, out).expect("sizes agree");
            for (found, exact) in positions.iter().zip(&expected) {
                let found = DVec3::from_array(found.map(f64::from));
                assert!(
                    found.distance(*exact) < 1e-4,
                    "{kind:?}, {what}: {found} for {exact}"
                );
            }
        }
    }
}

#[test]
fn wrong_sizes_are_refused() {
    let mut dice = Dice::new(5);
    let (skin, pose) = skin_and_pose(&mut dice, 4, &ProxyOptions::default(), DVec3::ZERO);
    let mut packed = PackedProxies::new(&skin).expect("fits");
    let error = packed.place(&mut palette(&skin, &pose)[..43]);
    assert_eq!(
        error.expect_err("a bone is missing").to_string(),
        "expected 44 matrices in the palette, found 43",
        "both numbers are named"
    );
    let mut bad = skin.clone();
    bad.pose_program
        .proxies_mut()
        .expect("made with them")
        .joints[0]
        .bone = BoneId(9);
    let error = PackedProxies::new(&bad).expect_err("a carrier is not posed");
    assert!(
        matches!(error, RunError::Rig(RigError::BadProxyBones { .. })),
        "{error}"
    );
    let plain = skin.without_pose_program();
    let mut packed = PackedProxies::new(&plain).expect("nothing to place");
    assert_eq!(packed.proxy_count(), 0, "none");
    let mut matrices = vec![[7.0; 12]; 44];
    packed.place(&mut matrices).expect("as many bones");
    assert_eq!(matrices, vec![[7.0; 12]; 44], "nothing is touched");
}
