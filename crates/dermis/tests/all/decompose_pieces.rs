//! Skinning decomposition works on moving points: cuts, gaps, loose points and bad triangles do not matter.

use dermis::fit::{BoneCount, BoneMotion, DecomposeOptions, Decomposition, decompose, join_bones};
use dermis::progress::Silent;
use dermis::synth::{ArmOptions, arm, arm_motion};
use dermis::{MeshAnimation, MeshClip, TriMesh};
use glam::{DVec2, DVec3};

use crate::support::pieces::{across, cut, piece_count, with_frames};

const LENGTH: f64 = 4.0;
const RINGS: usize = 49;
const SEGMENTS: usize = 14;
const FRAMES: usize = 24;
/// Few enough that the error is far above rounding.
const BONES: usize = 5;

/// Where a point of the tube is: `along` the straight tube and at `across` from its axis.
///
/// The axis bends everywhere, by more or less in each frame, and the tube twists and swells: a few bones
/// cannot do that exactly.
fn bent(along: f64, across: DVec2, frame: usize) -> DVec3 {
    let time = frame as f64 / FRAMES as f64 * std::f64::consts::TAU;
    let bend = 1.2 * time.sin();
    let wave = |s: f64| 0.9 * (2.5 * s - 2.0 * time).sin() + 0.4 * (6.0 * s + 3.0 * time).sin();
    let heading = |s: f64| bend * s / 2.0 + wave(s);
    const STEPS: usize = 64;
    let step = along / STEPS as f64;
    let mut axis = DVec3::ZERO;
    for k in 0..STEPS {
        let angle = heading((k as f64 + 0.5) * step);
        axis += step * DVec3::new(angle.cos(), angle.sin(), 0.0);
    }
    let swell = 1.0 + 0.3 * (3.0 * along + time).sin();
    let turned = DVec2::from_angle(0.3 * along * time.sin()).rotate(swell * across);
    let angle = heading(along);
    axis + turned.x * DVec3::new(-angle.sin(), angle.cos(), 0.0) + turned.y * DVec3::Z
}

/// A tube that bends smoothly; each point is where `place` puts its distance along the straight tube.
fn tube(place: impl Fn(f64) -> f64) -> MeshAnimation {
    let points: Vec<(f64, DVec2)> = (0..RINGS * SEGMENTS)
        .map(|at| {
            let (ring, segment) = (at / SEGMENTS, at % SEGMENTS);
            let turn = segment as f64 / SEGMENTS as f64 * std::f64::consts::TAU;
            let along = LENGTH * ring as f64 / (RINGS - 1) as f64;
            (place(along), 0.35 * DVec2::from_angle(turn))
        })
        .collect();
    let mut triangles = Vec::new();
    for ring in 0..RINGS - 1 {
        for segment in 0..SEGMENTS {
            let vertex =
                |ring: usize, segment: usize| (ring * SEGMENTS + segment % SEGMENTS) as u32;
            let [a, b] = [vertex(ring, segment), vertex(ring, segment + 1)];
            let [c, d] = [vertex(ring + 1, segment), vertex(ring + 1, segment + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    let rest = points.iter().map(|(along, p)| DVec3::new(*along, p.x, p.y));
    let rest = TriMesh::new(rest.collect(), triangles).expect("a tube");
    let frame = |k| points.iter().map(|&(along, p)| bent(along, p, k)).collect();
    let clip = MeshClip {
        name: "bend".to_owned(),
        frames: (0..FRAMES).map(frame).collect(),
        frames_per_second: 24.0,
    };
    MeshAnimation::new(rest, vec![clip]).expect("frames of one mesh")
}

fn options(bones: usize) -> DecomposeOptions {
    DecomposeOptions {
        bones: BoneCount::Exactly(bones),
        ..DecomposeOptions::default()
    }
}

fn solve(animation: &MeshAnimation, options: &DecomposeOptions) -> Decomposition {
    let found = decompose(animation, options, &Silent).expect("an animation of enough points");
    let frames: Vec<Vec<DVec3>> = (found.poses.iter())
        .map(|pose| found.skin.evaluate(pose).expect("its own pose"))
        .collect();
    let shown = animation.e_rms(frames.iter().map(Vec::as_slice));
    assert!(
        (shown - found.e_rms).abs() <= 1e-9 * shown,
        "{shown} is shown, {} was said",
        found.e_rms
    );
    found
}

fn error(animation: &MeshAnimation, bones: usize) -> f64 {
    solve(animation, &options(bones)).e_rms
}

/// Fails unless an error is at most `most` times another.
#[track_caller]
fn assert_close(what: &str, error: f64, whole: f64, most: f64) {
    eprintln!(
        "{what}: E_RMS {error:.4}, {:.3} of {whole:.4}",
        error / whole
    );
    assert!(
        error <= most * whole,
        "{what}: {error} is more than {most} times {whole}"
    );
}

#[test]
fn cutting_a_tube_does_not_change_its_error() {
    let whole = tube(|along| along);
    let base = error(&whole, BONES);
    assert!(base > 1.0, "{base}: {BONES} bones do not repeat this tube");
    for count in [1, 2, 8, 16, 40] {
        let pieces = cut(&whole, across(&whole, count));
        assert_eq!(piece_count(&pieces), count, "shells");
        let error = error(&pieces, BONES);
        assert_close(&format!("{count} shells"), error, base, 1.05);
        assert_close("the whole", base, error, 1.05);
    }
}

#[test]
fn cutting_lengthwise_and_into_single_triangles_does_not_change_the_error() {
    let whole = tube(|along| along);
    let base = error(&whole, BONES);
    let strips = cut(&whole, |t| {
        t.iter().map(|v| *v as usize % SEGMENTS).min().unwrap_or(0)
    });
    assert_close("strips", error(&strips, BONES), base, 1.05);
    let position = |t: &[u32; 3]| whole.rest().triangles().iter().position(|other| other == t);
    let soup = cut(&whole, |t| position(t).expect("one of them"));
    assert_eq!(
        piece_count(&soup),
        whole.rest().triangles().len(),
        "all apart"
    );
    assert_close("soup", error(&soup, BONES), base, 1.05);
}

/// Gaps of a hundredth of the length: every shell shrinks towards its middle.
#[test]
fn shells_apart_have_the_error_of_the_whole() {
    let whole = tube(|along| along);
    let base = error(&whole, BONES);
    for count in [2, 8, 16] {
        let shell = LENGTH / count as f64;
        let shells: Vec<MeshAnimation> = (0..count)
            .map(|number| {
                let middle = (number as f64 + 0.5) * shell;
                let shrunk = tube(|along| {
                    let inside = (along / LENGTH - 0.5) * (shell - 0.01 * LENGTH);
                    middle + inside
                });
                every_nth_ring(&shrunk, count)
            })
            .collect();
        let apart = beside(&shells, DVec3::ZERO);
        assert_eq!(piece_count(&apart), count, "shells");
        let error = error(&apart, BONES);
        assert_close(&format!("{count} shells apart"), error, base, 1.1);
        assert_close("the whole", base, error, 1.1);
    }
}

/// A tube of only every n-th ring, first and last included.
fn every_nth_ring(tube: &MeshAnimation, n: usize) -> MeshAnimation {
    let rings: Vec<usize> = (0..RINGS).step_by(n.min(RINGS / 4)).collect();
    let of = |positions: &[DVec3]| -> Vec<DVec3> {
        let ring = |&ring: &usize| positions[ring * SEGMENTS..(ring + 1) * SEGMENTS].to_vec();
        rings.iter().flat_map(ring).collect()
    };
    let most = (rings.len() * SEGMENTS) as u32;
    let triangles = (tube.rest().triangles().iter().copied())
        .filter(|triangle| triangle.iter().all(|&v| v < most))
        .collect();
    with_frames(tube, of, triangles)
}

/// Animations of as many frames as one, each further one moved by `step` from the one before.
fn beside(parts: &[MeshAnimation], step: DVec3) -> MeshAnimation {
    let mut triangles = Vec::new();
    let mut first = 0;
    for part in parts {
        let moved = part.rest().triangles().iter();
        triangles.extend(moved.map(|t| t.map(|vertex| vertex + first)));
        first += part.vertex_count() as u32;
    }
    let joined = |of: &dyn Fn(&MeshAnimation) -> Vec<DVec3>| -> Vec<DVec3> {
        let shift = |(k, part): (usize, &MeshAnimation)| {
            let positions = of(part).into_iter();
            positions.map(|p| p + k as f64 * step).collect::<Vec<_>>()
        };
        parts.iter().enumerate().flat_map(shift).collect()
    };
    let rest = joined(&|part| part.rest().positions().to_vec());
    let frame = |k: usize| joined(&|part| part.frames().nth(k).expect("a frame").to_vec());
    let clip = MeshClip {
        name: "together".to_owned(),
        frames: (0..parts[0].frame_count()).map(frame).collect(),
        frames_per_second: 24.0,
    };
    let rest = TriMesh::new(rest, triangles).expect("parts of one mesh");
    MeshAnimation::new(rest, vec![clip]).expect("frames of one mesh")
}

fn bending_arm() -> MeshAnimation {
    let made = arm(&ArmOptions {
        ring_count: 40,
        segment_count: 14,
        poses: arm_motion(FRAMES),
    });
    let clip = MeshClip {
        name: "bend".to_owned(),
        frames: (made.examples.examples().iter())
            .map(|example| example.positions.clone())
            .collect(),
        frames_per_second: 24.0,
    };
    MeshAnimation::new(made.examples.rest().clone(), vec![clip]).expect("frames of one mesh")
}

/// Twice the bones for two characters beside each other: at least as good as each alone.
#[test]
fn two_characters_divide_the_bones_between_them() {
    let parts = [tube(|along| along), bending_arm()];
    let squared = |animation: &MeshAnimation, e_rms: f64| {
        (e_rms * animation.unit_ball_radius()).powi(2) * animation.vertex_count() as f64
    };
    let alone: f64 = (parts.iter())
        .map(|part| squared(part, error(part, BONES)))
        .sum();
    for distance in [2.0, 50.0] {
        let both = beside(&parts, DVec3::Z * distance);
        assert_eq!(piece_count(&both), 2, "characters");
        let found = solve(&both, &options(2 * BONES));
        let together = squared(&both, found.e_rms);
        let what = format!("two characters, {distance} apart");
        assert_close(&what, together.sqrt(), alone.sqrt(), 1.1);
    }
}

#[test]
fn loose_points_have_the_error_of_the_mesh() {
    let whole = tube(|along| along);
    let base = error(&whole, BONES);
    let loose = with_frames(&whole, <[DVec3]>::to_vec, Vec::new());
    assert_close("no triangles", error(&loose, BONES), base, 1.05);
    // A mesh with some further points that no triangle has.
    let half: Vec<[u32; 3]> = whole
        .rest()
        .triangles()
        .iter()
        .step_by(2)
        .copied()
        .collect();
    let some = with_frames(&whole, <[DVec3]>::to_vec, half[..half.len() / 2].to_vec());
    assert!(piece_count(&some) > 100, "loose points count as pieces");
    assert_close("half of the mesh", error(&some, BONES), base, 1.05);
}

#[test]
fn duplicated_vertices_count_twice_and_no_more() {
    let whole = tube(|along| along);
    let base = error(&whole, BONES);
    let twice = |positions: &[DVec3]| [positions, positions].concat();
    let triangles = whole.rest().triangles().to_vec();
    let doubled = with_frames(&whole, twice, triangles);
    let found = solve(&doubled, &options(BONES));
    assert_close("all vertices twice", found.e_rms, base, 1.001);
    assert_close("once", base, found.e_rms, 1.001);
    let pose = &found.poses[7];
    let shown = found.skin.evaluate(pose).expect("its own pose");
    let (first, second) = shown.split_at(whole.vertex_count());
    assert_eq!(first, second, "vertices with one trajectory stay together");
}

#[test]
fn triangles_without_area_do_no_harm() {
    let whole = tube(|along| along);
    let base = error(&whole, BONES);
    let twice = |positions: &[DVec3]| [positions, &positions[..SEGMENTS]].concat();
    let first_copy = whole.vertex_count() as u32;
    let mut triangles = whole.rest().triangles().to_vec();
    for vertex in 0..SEGMENTS as u32 {
        // Corners in one place, twice the same corner, and three times.
        triangles.push([vertex, first_copy + vertex, vertex + SEGMENTS as u32]);
        triangles.push([vertex, vertex, vertex + 1]);
        triangles.push([vertex, vertex, vertex]);
    }
    let degenerate = with_frames(&whole, twice, triangles);
    assert_close("degenerate", error(&degenerate, BONES), base, 1.05);
}

#[test]
fn rigid_and_joined_bones_work_on_pieces_too() {
    let whole = tube(|along| along);
    let rigid = DecomposeOptions {
        motion: BoneMotion::Rigid,
        ..options(BONES)
    };
    let base = solve(&whole, &rigid);
    let joined = join_bones(base.clone(), &whole, &rigid, &Silent).expect("rigid bones");
    for count in [8, 40] {
        let pieces = cut(&whole, across(&whole, count));
        let found = solve(&pieces, &rigid);
        assert_close(&format!("{count} rigid"), found.e_rms, base.e_rms, 1.05);
        let hung = join_bones(found, &pieces, &rigid, &Silent).expect("rigid bones");
        let what = format!("{count} joined");
        assert_close(&what, hung.e_rms, joined.e_rms, 1.1);
    }
}
