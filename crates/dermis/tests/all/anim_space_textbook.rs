//! Animation space on a mesh small enough for the textbook: every equation written out.

use dermis::fit::{
    AnimSpaceOptions, Fitted, GlobalSolver, InfluenceChoice, InfluenceSets, Prior, Smoothing,
    SsdOptions, fit_anim_space, fit_ssd,
};
use dermis::mesh::TriMesh;
use dermis::progress::Silent;
use dermis::skin::Influence;
use dermis::{BoneId, Example, ExampleSet, Skeleton, Skin, VertexProgram};
use glam::{DAffine3, DQuat, DVec3, DVec4};

fn all(set: &ExampleSet) -> Vec<usize> {
    (0..set.examples().len()).collect()
}

fn fit(set: &ExampleSet, options: &AnimSpaceOptions) -> Fitted {
    fit_anim_space(set, &all(set), options, &Silent).expect("can be fitted")
}

fn vectors(skin: &Skin) -> Vec<Vec<Influence>> {
    match &skin.program {
        VertexProgram::Linear(linear) => linear.influences.iter().map(<[_]>::to_vec).collect(),
        other => panic!("expected animation space, found {}", other.name()),
    }
}

/// Three bones, four vertices and three poses in a box of side 1 around the origin, bones with the
/// axes of the model, so that the vectors in bones' frames are those of the fit.
///
/// ```text
///   3 ------- 2
///   |     /   |        bone 0 at the left, 1 in the middle, 2 at the right
///   0 ------- 1
/// ```
fn plain_square() -> (ExampleSet, InfluenceSets) {
    let at = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
    let skeleton = Skeleton::from_rest_frames([
        ("0".to_owned(), None, at(-0.5)),
        ("1".to_owned(), Some(BoneId(0)), at(0.0)),
        ("2".to_owned(), Some(BoneId(1)), at(0.25)),
    ])
    .expect("three bones");
    let corners = [(-0.5, -0.25), (0.5, -0.25), (0.5, 0.25), (-0.5, 0.25)];
    let corners: Vec<DVec3> = corners.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec();
    let rest = TriMesh::new(corners.clone(), vec![[0, 1, 2], [0, 2, 3]]).expect("a square");
    let example = |k: usize| {
        let t = k as f64;
        let mut pose = skeleton.rest_pose();
        pose.parent_from_bone[0] *= DAffine3::from_rotation_y(0.2 * t);
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(0.5 * t);
        pose.parent_from_bone[2] *= DAffine3::from_rotation_x(0.7 * t * t);
        let bent = |(i, p): (usize, &DVec3)| {
            let wobble = DVec3::new((t * i as f64).sin(), (t + i as f64).cos(), t);
            DQuat::from_rotation_z(0.3 * t) * *p + 0.05 * wobble
        };
        Example {
            name: format!("{k}"),
            pose,
            positions: corners.iter().enumerate().map(bent).collect(),
        }
    };
    let examples = (0..3).map(example).collect();
    let set = ExampleSet::new(rest, skeleton.clone(), examples).expect("valid");
    let sets = [vec![0, 1], vec![1, 2], vec![0, 1, 2], vec![0]];
    let sets = sets.map(|row| row.into_iter().map(BoneId).collect());
    (set, InfluenceSets::new(sets, 3).expect("valid sets"))
}

/// The textbook form of the fit: every equation a row, the last weight of every vertex replaced by
/// 1 less the others, solved by elimination on the normal equations.
fn textbook_fit(
    set: &ExampleSet,
    sets: &InfluenceSets,
    delta: f64,
    prior: Option<&Skin>,
) -> Vec<Vec<Influence>> {
    let vertex_count = set.rest().vertex_count();
    let mut starts = vec![0];
    for i in 0..vertex_count {
        starts.push(starts[i] + 4 * sets.bones(i).len() - 1);
    }
    let size = starts[vertex_count];
    // Adds `factor · p_ij[component]` to a row and its right-hand side.
    let term = |row: &mut Vec<f64>,
                right: &mut f64,
                i: usize,
                slot: usize,
                component: usize,
                factor: f64| {
        let count = sets.bones(i).len();
        if (slot, component) == (count - 1, 3) {
            *right -= factor;
            (0..count - 1).for_each(|other| row[starts[i] + 4 * other + 3] -= factor);
        } else {
            row[starts[i] + 4 * slot + component] += factor;
        }
    };
    let mut equations: Vec<(Vec<f64>, f64)> = Vec::new();
    for example in set.examples() {
        let palette = set
            .skeleton()
            .palette(&example.pose)
            .expect("fits")
            .model_from_bone;
        for i in 0..vertex_count {
            for axis in 0..3 {
                let (mut row, mut right) = (vec![0.0; size], example.positions[i][axis]);
                for (slot, bone) in sets.bones(i).iter().enumerate() {
                    let matrix = palette[bone.index()];
                    for component in 0..3 {
                        let factor = matrix.matrix3.col(component)[axis];
                        term(&mut row, &mut right, i, slot, component, factor);
                    }
                    term(&mut row, &mut right, i, slot, 3, matrix.translation[axis]);
                }
                equations.push((row, right));
            }
        }
    }
    let prior = prior.map(|skin| vectors(&skin.to_linear().expect("linear")));
    let prior_at = |i: usize, bone: BoneId, component: usize| {
        let row = prior.as_ref().map(|prior| &prior[i]);
        let own = row.and_then(|row| row.iter().find(|p| p.bone == bone));
        own.map_or(0.0, |p| p.p[component])
    };
    for [a, b] in [[0, 1], [1, 2], [0, 2], [2, 3], [0, 3]] {
        let length = |e: &Example| e.positions[a].distance(e.positions[b]);
        let mean = set.examples().iter().map(length).sum::<f64>() / set.examples().len() as f64;
        for bone in set.skeleton().ids() {
            for component in 0..4 {
                let (mut row, mut right) = (vec![0.0; size], 0.0);
                let factor = (delta / mean).sqrt();
                for (i, factor) in [(a, factor), (b, -factor)] {
                    if let Ok(slot) = sets.bones(i).binary_search(&bone) {
                        term(&mut row, &mut right, i, slot, component, factor);
                    }
                    right += factor * prior_at(i, bone, component);
                }
                equations.push((row, right));
            }
        }
    }
    let mut normal = vec![vec![0.0; size + 1]; size];
    for (row, right) in &equations {
        for r in 0..size {
            for c in 0..size {
                normal[r][c] += row[r] * row[c];
            }
            normal[r][size] += row[r] * right;
        }
    }
    let y = eliminate(normal);
    (0..vertex_count)
        .map(|i| {
            let own = &y[starts[i]..starts[i + 1]];
            let count = sets.bones(i).len();
            let others: f64 = (0..count - 1).map(|slot| own[4 * slot + 3]).sum();
            let at = |at: usize| own.get(at).copied().unwrap_or(1.0 - others);
            let vector = |(slot, &bone): (usize, &BoneId)| Influence {
                bone,
                p: DVec4::from_array([0, 1, 2, 3].map(|c| at(4 * slot + c))),
            };
            sets.bones(i).iter().enumerate().map(vector).collect()
        })
        .collect()
}

/// Gauss with pivots; the last column is the right-hand side.
fn eliminate(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let size = matrix.len();
    for k in 0..size {
        let pivot = (k..size)
            .max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()))
            .expect("rows are left");
        matrix.swap(k, pivot);
        let pivot_row = matrix[k].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(r, _)| *r != k) {
            let factor = row[k] / pivot_row[k];
            row.iter_mut()
                .zip(&pivot_row)
                .for_each(|(x, p)| *x -= factor * p);
        }
    }
    (0..size).map(|k| matrix[k][size] / matrix[k][k]).collect()
}

#[test]
fn both_solvers_agree_with_the_textbook() {
    let (set, sets) = plain_square();
    let ssd_options = SsdOptions::default();
    let ssd = fit_ssd(&set, &all(&set), &ssd_options, &Silent)
        .expect("can be fitted")
        .skin;
    for delta in [1e-3, 0.05, 2.0] {
        // The prior must lie within the sets, so the sets are the prior's own bones there.
        let VertexProgram::Ssd(weights) = &ssd.program else {
            panic!("linear blend skinning")
        };
        let own = weights
            .weights
            .iter()
            .map(|row| row.iter().map(|w| w.bone).collect());
        let own = InfluenceSets::new(own, 3).expect("bones for all");
        for (prior, sets) in [(Prior::Zero, &sets), (Prior::Ssd, &own)] {
            let expected = textbook_fit(&set, sets, delta, (prior == Prior::Ssd).then_some(&ssd));
            for solver in [
                GlobalSolver::Cholesky,
                GlobalSolver::ConjugateGradients,
                GlobalSolver::Auto,
            ] {
                let options = AnimSpaceOptions {
                    influences: InfluenceChoice::Given(sets.clone()),
                    smoothing: Smoothing::Edges { delta },
                    prior,
                    solver,
                    ..AnimSpaceOptions::default()
                };
                let fitted = fit(&set, &options);
                assert_eq!(fitted.smoothing, Some(delta), "as given");
                for (found, expected) in vectors(&fitted.skin).iter().zip(&expected) {
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            found.p.abs_diff_eq(expected.p, 1e-6),
                            "{prior:?}, {solver:?}, delta {delta}: {found:?} instead of {expected:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn only_the_given_bones_are_used() {
    let (set, sets) = plain_square();
    let options = AnimSpaceOptions {
        influences: InfluenceChoice::Given(sets.clone()),
        ..AnimSpaceOptions::default()
    };
    for (i, row) in vectors(&fit(&set, &options).skin).iter().enumerate() {
        let bones: Vec<BoneId> = row.iter().map(|influence| influence.bone).collect();
        assert_eq!(bones, sets.bones(i), "vertex {i}");
    }
    let options = AnimSpaceOptions {
        influences: InfluenceChoice::Given(InfluenceSets::all(3, 3)),
        ..options
    };
    let error = fit_anim_space(&set, &all(&set), &options, &Silent).expect_err("four vertices");
    assert!(error.to_string().contains("4 vertices"), "{error}");
}
