//! L10 on real characters: the guaranteed error of a level holds in legal poses.

use dermis::Pose;
use dermis::document::Document;
use dermis::joint::{LegalPoses, free_joints};
use dermis::lod::{LegalPoseLimits, LevelTarget, LodOptions, simplify};
use dermis::measure::SurfaceDistance;
use dermis::progress::Silent;
use dermis::skin::Skin;

use crate::support;

const POSES: usize = 1000;
const POINTS: usize = 1000;

/// Poses of the clips; those within free joints where there are none.
fn shown(document: &Document, skin: &Skin) -> Vec<Pose> {
    let mut poses = Vec::new();
    for clip in &document.clips {
        let times = clip.frame_times(10.0).expect("few frames");
        poses.extend(times.into_iter().map(|time| skin.sample(clip, time)));
    }
    if poses.is_empty() {
        let limits = free_joints(&skin.skeleton);
        let legal = LegalPoses::new(&skin.skeleton, &limits, 0.0, 5).expect("its own limits");
        poses.extend(legal.take(24));
    }
    poses
}

#[test]
#[ignore = "slow: a million distances to each of three characters"]
fn fact_l10_no_point_is_farther_off_than_guaranteed_in_any_of_a_thousand_legal_poses() {
    for file in ["gltf/Fox.glb", "gltf/CesiumMan.glb", "gltf/r_hand_rhs.glb"] {
        let Some(path) = support::data(file) else {
            return;
        };
        let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let skin = document.skin.as_ref().expect("a skin");
        let limits = free_joints(&skin.skeleton);
        let legal = LegalPoseLimits {
            limits: &limits,
            tolerance: None,
        };
        let triangles = document.mesh.triangles();
        let made = simplify(
            skin,
            &document.mesh,
            &document.draw,
            &shown(&document, skin),
            &[LevelTarget::Triangles(triangles.len() / 4)],
            &LodOptions::default(),
            Some(legal),
            &Silent,
        );
        let level = made.expect("it can be simplified").levels.remove(0);
        let most = level.guaranteed_error.expect("no shapes");
        let own = Skin {
            program: level.program.clone(),
            ..skin.clone()
        };
        let poses = LegalPoses::new(&skin.skeleton, &limits, 0.5, 11).expect("its own limits");
        let mut found: f64 = 0.0;
        for (k, pose) in poses.take(POSES).enumerate() {
            let shape = own.evaluate(&pose).expect("a legal pose");
            let surface = SurfaceDistance::new(&shape, level.mesh.triangles());
            let points = skin.evaluate(&pose).expect("a legal pose");
            for n in 0..POINTS {
                let triangle = triangles[(k * 7919 + n * 104_729) % triangles.len()];
                let [a, b, c] = triangle.map(|i| points[i as usize]);
                // Somewhere in the triangle, by two irrational steps.
                let at = [0.618_034 * n as f64, 0.754_878 * k as f64].map(f64::fract);
                let [s, t] = match at[0] + at[1] > 1.0 {
                    true => at.map(|x| 1.0 - x),
                    false => at,
                };
                found = found.max(surface.distance(a + s * (b - a) + t * (c - a)));
            }
        }
        println!("{file}: {found} found, {most} guaranteed");
        assert!(
            found <= most,
            "{file}: {found} was found, {most} is guaranteed"
        );
        assert!(
            found > 0.0,
            "{file}: a quarter of the triangles is not the same"
        );
    }
}
