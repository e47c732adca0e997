//! Points against searches over all sets of bones.

use super::*;
use crate::solve::SimplexLs;

/// Numbers without a pattern.
fn noise(seed: usize) -> f64 {
    let x = (seed as f64 * 12.9898).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

/// Random bones, and points that follow three of them and some noise.
fn problem(bone_count: usize, point_count: usize) -> (Targets, Bones, Points) {
    let dimension = 12;
    let mut bones = Bones::zeros(bone_count, dimension);
    for bone in 0..bone_count {
        for component in 0..4 {
            for (r, value) in bones.column_mut(component, bone).iter_mut().enumerate() {
                *value = noise(1 + r + 12 * (component + 4 * bone));
            }
        }
    }
    let rest: Vec<[f64; 3]> = (0..point_count)
        .map(|p| [0, 1, 2].map(|axis| noise(90_000 + 3 * p + axis)))
        .collect();
    let mut coordinates = Vec::new();
    let mut out = vec![0.0; dimension];
    for (p, place) in rest.iter().enumerate() {
        let mut sum: Vec<f64> = (0..dimension)
            .map(|r| 0.2 * noise(500_000 + 12 * p + r))
            .collect();
        for (share, step) in [(0.5, 1), (0.3, 3), (0.2, 5)] {
            bones.predict((p * step + step) % bone_count, place, &mut out);
            sum.iter_mut().zip(&out).for_each(|(s, o)| *s += share * o);
        }
        coordinates.extend(sum);
    }
    let points = Points {
        rest,
        supports: Supports::single(&vec![0; point_count], 3).with_stride(3),
        errors: vec![0.0; point_count],
    };
    let targets = Targets::new(dimension, coordinates, vec![1.0; point_count]);
    (targets, bones, points)
}

fn step(update_rest: bool) -> PointStep<'static> {
    PointStep {
        max_influences: 3,
        exchange: true,
        update_rest,
        passes: 1,
        locked: None,
        smooth: None,
    }
}

/// The errors of single bones at a point, one column after the other.
fn residuals(targets: &Targets, bones: &Bones, rest: &[f64; 3], point: usize) -> Vec<f64> {
    let mut out = vec![0.0; targets.dimension];
    let mut columns = Vec::new();
    for bone in 0..bones.count {
        bones.predict(bone, rest, &mut out);
        let left = out.iter().zip(targets.column(point)).map(|(a, b)| a - b);
        columns.extend(left);
    }
    columns
}

#[test]
fn reported_errors_match_the_weights_and_are_near_the_best_of_all_sets() {
    let (targets, bones, mut points) = problem(9, 60);
    for _ in 0..3 {
        points = step(false).run(&targets, &bones, &points);
    }
    let d = targets.dimension;
    let (mut found, mut best, mut four_best_alone) = (0.0, 0.0, 0.0);
    for point in 0..60 {
        let columns = residuals(&targets, &bones, &points.rest[point], point);
        let column = |bone: usize| &columns[bone * d..][..d];
        let mut blend = vec![0.0; d];
        for (bone, weight) in points.supports.pairs(point) {
            let pairs = blend.iter_mut().zip(column(bone));
            pairs.for_each(|(sum, x)| *sum += weight * x);
        }
        let error: f64 = blend.iter().map(|x| x * x).sum();
        let told = points.errors[point];
        assert!((error - told).abs() < 1e-9, "point {point}: {error} {told}");
        found += error;
        // Every set of three.
        let mut least = f64::INFINITY;
        for a in 0..9 {
            for b in a..9 {
                for c in b..9 {
                    let set = [column(a), column(b), column(c)].concat();
                    least = least.min(SimplexLs::new().solve(&set, d, 3).squared_error);
                }
            }
        }
        best += least;
        let mut order: Vec<usize> = (0..9).collect();
        let alone = |bone: usize| column(bone).iter().map(|x| x * x).sum::<f64>();
        order.sort_by(|&a, &b| alone(a).total_cmp(&alone(b)));
        let set: Vec<f64> = order[..3]
            .iter()
            .flat_map(|&bone| column(bone).to_vec())
            .collect();
        four_best_alone += SimplexLs::new().solve(&set, d, 3).squared_error;
    }
    println!("found {found:.4}, best {best:.4}, best alone {four_best_alone:.4}");
    assert!(found < 1.05 * best, "{found} {best}");
    assert!(found < four_best_alone, "{found} {four_best_alone}");
}

#[test]
fn rest_positions_move_to_their_optimum() {
    let (targets, bones, points) = problem(5, 20);
    let moved = step(true).run(&targets, &bones, &points);
    let fixed_sets = PointStep {
        exchange: false,
        update_rest: false,
        locked: None,
        ..step(false)
    };
    let locked = vec![true; 20];
    let evaluate = PointStep {
        locked: Some(&locked),
        ..fixed_sets
    };
    let here = evaluate.run(&targets, &bones, &moved);
    for point in 0..20 {
        let told = moved.errors[point];
        assert!((here.errors[point] - told).abs() < 1e-9, "point {point}");
    }
    for axis in 0..3 {
        for step in [-1e-3, 1e-3] {
            let mut beside = moved.clone();
            beside.rest.iter_mut().for_each(|p| p[axis] += step);
            let there = evaluate.run(&targets, &bones, &beside);
            for point in 0..20 {
                let rises = there.errors[point] >= here.errors[point] - 1e-12;
                assert!(rises, "point {point} along axis {axis}");
            }
        }
    }
}

#[test]
fn locked_points_keep_their_weights() {
    let (targets, bones, points) = problem(5, 20);
    let locked: Vec<bool> = (0..20).map(|p| p % 2 == 0).collect();
    let step = PointStep {
        locked: Some(&locked),
        ..step(false)
    };
    let solved = step.run(&targets, &bones, &points);
    for (point, &is_locked) in locked.iter().enumerate() {
        let kept = solved.supports.bones(point) == points.supports.bones(point);
        assert_eq!(
            kept && solved.supports.weights(point) == [1.0],
            is_locked,
            "{point}"
        );
    }
}
