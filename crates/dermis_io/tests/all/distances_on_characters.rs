//! Mean distances and bounds on real characters: checks the claims of docs/results/distances-and-bounds.md.
//!
//! The tables themselves are made by `cargo run --release -p dermis_io --example distances_and_bounds`.

use dermis::bounds::{coefficient_ranges, enclose, extreme_poses, hold_vertices, sampled_ball};
use dermis::joint::{JointLimits, TurnLimits, joint_statistics};
use dermis::metric::{AnimationVector, ModelKind, PoseMetric, models_from_poses};
use dermis::rig::Similarity;
use dermis::{Pose, Skin, VertexProgram};
use dermis_io::Document;
use glam::{DQuat, DVec3};

use crate::support;

fn read(file: &str) -> Option<(Document, Skin, Vec<Pose>)> {
    let path = support::data(file)?;
    let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let skin = document.skin.clone().expect("a skin");
    let mut poses = document.frame_poses.clone();
    for clip in &document.clips {
        let times = clip
            .frame_times(clip.key_rate().unwrap_or(30.0))
            .expect("few frames");
        poses.extend(times.into_iter().map(|time| skin.sample(clip, time)));
    }
    assert!(poses.len() > 10, "{file} has motion");
    Some((document, skin, poses))
}

/// Distances from joint statistics alone, against the true mean over all poses.
fn mean_distances(file: &str) {
    let Some((document, skin, poses)) = read(file) else {
        return;
    };
    let linear = skin.to_linear().expect("linear");
    let VertexProgram::Linear(program) = &linear.program else {
        unreachable!("it was made linear");
    };
    let truth = PoseMetric::average(&skin, &poses).expect("poses");
    let models = models_from_poses(&skin.skeleton, &poses, ModelKind::Moments).expect("poses");
    let metric = PoseMetric::of_skin(&skin, &models).expect("independent joints");
    let triangles = document.mesh.triangles();
    let mut errors = Vec::new();
    for n in 0..400 {
        let [a, b, _] = triangles[n * 7919 % triangles.len()];
        let far = triangles[n * 104_729 % triangles.len()][0];
        for other in [b, far] {
            let row = |v: u32| program.influences.row(v as usize);
            let s = AnimationVector::difference(row(a), row(other));
            let expected = truth.norm(s.terms());
            if expected > 1e-6 {
                errors.push((metric.norm(s.terms()) / expected - 1.0).abs());
            }
        }
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    println!("{file}: {:.2}% over {} pairs", 100.0 * mean, errors.len());
    assert!(mean < 0.05, "{file}: {:.2}%", 100.0 * mean);
}

/// Spheres within limits taken from the clips, against the best sphere that a search over legal poses found.
fn bounds(file: &str) {
    let Some((document, skin, poses)) = read(file) else {
        return;
    };
    let ranges = coefficient_ranges(&skin, &document.clips).expect("no drivers");
    let seen = joint_statistics(&skin.skeleton, &poses);
    let limits: Vec<JointLimits> = seen.iter().map(JointLimits::from_statistics).collect();
    let free: Vec<JointLimits> = (limits.iter())
        .map(|joint| JointLimits {
            turn: TurnLimits::Free,
            ..joint.clone()
        })
        .collect();
    let held = hold_vertices(&skin, &limits, &ranges).expect("linear");
    let any = enclose(&hold_vertices(&skin, &free, &ranges).expect("linear"));
    let ball = enclose(&held);
    assert!(
        ball.radius <= any.radius * 1.0001,
        "limits never make it larger"
    );
    for pose in poses.iter().step_by(3) {
        for at in skin.evaluate(pose).expect("it fits") {
            let out = at.distance(ball.center) - ball.radius;
            assert!(
                out <= 1e-6 * ball.radius,
                "{file}: a clip leaves it by {out}"
            );
        }
    }
    let far = extreme_poses(&skin, &limits, &ranges, &held, None, 200).expect("linear");
    let best = sampled_ball(&skin, &far, None).expect("they fit");
    let ratio = ball.radius / best.radius;
    println!("{file}: {ratio:.3} times the best found");
    assert!((1.0..1.5).contains(&ratio), "{file}: {ratio}");
}

/// A fox that was scaled and turned has the same sphere, likewise scaled and turned: rounding does not decide which of
/// several spheres is chosen.
#[test]
fn a_moved_fox_has_the_same_sphere() {
    let Some((document, _, poses)) = read("gltf/Fox.glb") else {
        return;
    };
    let radius = |document: &Document, limits: &[JointLimits]| {
        let skin = document.skin.as_ref().expect("a skin");
        enclose(&hold_vertices(skin, limits, &[]).expect("linear")).radius
    };
    let skeleton = &document.skin.as_ref().expect("a skin").skeleton;
    let limits: Vec<JointLimits> = (joint_statistics(skeleton, &poses).iter())
        .map(JointLimits::from_statistics)
        .collect();
    let own = radius(&document, &limits);
    let turns = [0.0, 0.0, 0.4, 1.1, 2.9].map(DQuat::from_rotation_x);
    for (scale, turn) in [0.01, 0.013, 0.3, 2.0, 100.0].into_iter().zip(turns) {
        let turn = turn * DQuat::from_rotation_z(turn.x);
        let by = Similarity::new(scale, turn, DVec3::ZERO).expect("a move");
        let moved = document.moved(&by).expect("linear");
        let limits: Vec<_> = limits.iter().map(|l| by.limits(skeleton, l)).collect();
        let ratio = radius(&moved, &limits) / scale / own;
        assert!((ratio - 1.0).abs() < 1e-3, "scaled by {scale}: {ratio}");
    }
}

const CHARACTERS: [&str; 3] = [
    "gltf/Fox.glb",
    "gltf/CesiumMan.glb",
    "bpy/hand_csmooth/truth.npz",
];
const BODIES: [&str; 3] = [
    "bpy/makehuman_csmooth/truth.npz",
    "bpy/makehuman_bulge/truth.npz",
    "bpy/makehuman_cloth/truth.npz",
];

#[test]
fn distances_of_characters_follow_from_their_joints() {
    CHARACTERS
        .into_iter()
        .chain(BODIES)
        .for_each(mean_distances);
}

#[test]
fn spheres_within_limits_are_at_most_half_as_large_again_as_the_best() {
    CHARACTERS.into_iter().for_each(bounds);
}

#[test]
fn spheres_of_bodies_are_at_most_half_as_large_again_as_the_best() {
    BODIES.into_iter().for_each(bounds);
}
