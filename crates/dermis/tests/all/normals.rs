//! Skinned normals against those of the deformed faces.

use dermis::fit::{SsdOptions, fit_ssd};
use dermis::mesh::vertex_normals;
use dermis::normal::{
    BlendedNormal, NormalError, NormalReport, TangentOptions, TangentPairs, blended_normals,
    fit_tangents, measure_normals, project_normals, tangents_from_rest_normals,
    tangents_with_weight_gradient,
};
use dermis::progress::Silent;
use dermis::skin::{SsdProgram, Weight};
use dermis::synth::{ArmOptions, Tube, TubeOptions, arm, tube};
use dermis::{BoneId, Pose, Skeleton, Skin, TriMesh, VertexProgram};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A skin, its mesh, poses to fit on and poses to measure on.
struct Case {
    skin: Skin,
    mesh: TriMesh,
    training: Vec<Pose>,
    held_out: Vec<Pose>,
}

impl Case {
    fn new(skin: Skin, mesh: TriMesh, poses: &[Pose]) -> Self {
        let every_other = |first| poses.iter().skip(first).step_by(2).cloned().collect();
        Self {
            skin,
            mesh,
            training: every_other(0),
            held_out: every_other(1),
        }
    }

    fn of_tube(tube: Tube) -> Self {
        let examples = tube.examples.examples();
        let poses: Vec<Pose> = examples.iter().map(|e| e.pose.clone()).collect();
        Self::new(tube.truth, tube.examples.rest().clone(), &poses)
    }

    fn rest_normals(&self) -> Vec<DVec3> {
        vertex_normals(self.mesh.positions(), self.mesh.triangles())
    }

    fn faces(&self, options: &TangentOptions) -> TangentPairs {
        fit_tangents(&self.skin, &self.mesh, &self.training, options).expect("fits")
    }

    fn gradient(&self, options: &TangentOptions) -> TangentPairs {
        let normals = self.rest_normals();
        tangents_with_weight_gradient(&self.skin, &self.mesh, &normals, &self.training, options)
            .expect("fits")
    }

    fn measure(&self, tangents: &TangentPairs) -> NormalReport {
        let normals = |pose: &Pose| project_normals(&self.skin, tangents, pose);
        measure_normals(&self.skin, &self.mesh, &self.held_out, normals).expect("fits")
    }

    fn measure_blended(&self, kind: BlendedNormal) -> NormalReport {
        let rest = self.rest_normals();
        let normals = |pose: &Pose| blended_normals(&self.skin, &rest, pose, kind);
        measure_normals(&self.skin, &self.mesh, &self.held_out, normals).expect("fits")
    }
}

fn bent_tube() -> Case {
    Case::of_tube(tube(&TubeOptions {
        ring_count: 36,
        segment_count: 16,
        bone_count: 3,
        example_count: 16,
    }))
}

fn with_bone_weights() -> TangentOptions {
    TangentOptions {
        bone_weights: true,
        ..TangentOptions::default()
    }
}

/// ```text
///  y ^  6 x 6 points, bone 0 at the left, bone 1 at the right;
///    |  the right bone's weight grows evenly from 0.1 to 0.9
///    +--> x
/// ```
fn sheet() -> Case {
    const SIDE: u32 = 6;
    let skeleton = Skeleton::from_rest_frames([
        ("left".to_owned(), None, DAffine3::from_rotation_z(0.3)),
        (
            "right".to_owned(),
            Some(BoneId(0)),
            DAffine3::from_rotation_translation(
                DQuat::from_rotation_y(0.7),
                DVec3::new(2.0, 0.5, 0.3),
            ),
        ),
    ])
    .expect("two bones");
    let place = |v: u32| DVec3::new(f64::from(v % SIDE), f64::from(v / SIDE), 0.0) / 5.0;
    let rest_positions: Vec<DVec3> = (0..SIDE * SIDE).map(place).collect();
    let weights = rest_positions
        .iter()
        .map(|p| {
            let right = 0.1 + 0.8 * p.x;
            [(0, 1.0 - right), (1, right)].map(|(bone, weight)| Weight {
                bone: BoneId(bone),
                weight,
            })
        })
        .collect();
    let mut triangles = Vec::new();
    for v in (0..SIDE * (SIDE - 1)).filter(|v| v % SIDE != SIDE - 1) {
        triangles.push([v, v + 1, v + SIDE + 1]);
        triangles.push([v, v + SIDE + 1, v + SIDE]);
    }
    let mesh = TriMesh::new(rest_positions.clone(), triangles).expect("finite");
    let program = SsdProgram {
        rest_positions,
        weights,
        corrections: Vec::new(),
    };
    let skin = Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new()).expect("valid");
    let poses: Vec<Pose> = (0..12).map(|k| sliding_pose(&skin.skeleton, k)).collect();
    Case::new(skin, mesh, &poses)
}

/// Every bone turns and also slides out of its joint.
fn sliding_pose(skeleton: &Skeleton, k: usize) -> Pose {
    let mut pose = skeleton.rest_pose();
    for (j, local) in pose.parent_from_bone.iter_mut().enumerate() {
        let wave = |step: f64| ((k * 17 + j * 5 + 1) as f64 * step).sin();
        let turn = DQuat::from_scaled_axis(0.8 * DVec3::new(wave(0.71), wave(0.37), wave(0.53)));
        let slide = 0.3 * DVec3::new(wave(0.29), wave(0.61), wave(0.83));
        *local = DAffine3::from_translation(slide) * *local * DAffine3::from_quat(turn);
    }
    pose
}

fn largest_angle_deg(a: &[DVec3], b: &[DVec3]) -> f64 {
    let angle = |(a, b): (&DVec3, &DVec3)| a.cross(*b).length().atan2(a.dot(*b)).to_degrees();
    a.iter().zip(b).map(angle).fold(0.0, f64::max)
}

#[test]
fn every_method_is_exact_with_one_bone() {
    let case = Case::of_tube(tube(&TubeOptions {
        ring_count: 8,
        segment_count: 7,
        bone_count: 1,
        example_count: 4,
    }));
    let options = TangentOptions::default();
    let reports = [
        case.measure(&case.faces(&options)),
        case.measure(&case.faces(&with_bone_weights())),
        case.measure(&case.gradient(&options)),
        case.measure(&tangents_from_rest_normals(&case.skin, &case.rest_normals()).expect("fits")),
        case.measure_blended(BlendedNormal::Matrix),
        case.measure_blended(BlendedNormal::InverseTranspose),
    ];
    for (way, report) in reports.iter().enumerate() {
        assert!(report.all.max_deg < 1e-6, "way {way}: {report:?}");
        assert_eq!(report.blended.count, 0, "one bone blends nothing");
    }
}

/// Measured in the mean: faces and gradient 0.36°, the blended matrix 9.2°, its inverse transpose
/// 6.8°.
#[test]
fn at_the_joints_of_a_tube_tangents_are_ten_times_better_than_blending() {
    let case = bent_tube();
    let options = TangentOptions::default();
    let [faces, gradient] = [case.faces(&options), case.gradient(&options)];
    let [faces, gradient] = [&faces, &gradient].map(|t| case.measure(t).blended);
    for kind in [BlendedNormal::Matrix, BlendedNormal::InverseTranspose] {
        let usual = case.measure_blended(kind).blended;
        for (way, angles) in [("faces", faces), ("gradient", gradient)] {
            assert!(
                angles.mean_deg < 0.1 * usual.mean_deg,
                "{way}: {angles:?} against {usual:?}"
            );
            assert!(
                angles.percentile_95_deg < 0.1 * usual.percentile_95_deg,
                "{way}: {angles:?} against {usual:?}"
            );
        }
    }
}

/// Measured in the mean: faces 0.49°, gradient 0.66°, the blended inverse transpose 8.3°.
#[test]
fn on_the_blended_arm_tangents_beat_blending() {
    let set = arm(&ArmOptions {
        ring_count: 48,
        segment_count: 20,
        ..ArmOptions::default()
    })
    .examples;
    let all: Vec<usize> = (0..set.examples().len()).collect();
    let fitted = fit_ssd(&set, &all, &SsdOptions::default(), &Silent).expect("can be fitted");
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let case = Case::new(fitted.skin, set.rest().clone(), &poses);
    let options = TangentOptions::default();
    let usual = case
        .measure_blended(BlendedNormal::InverseTranspose)
        .blended;
    let faces = case.measure(&case.faces(&options)).blended;
    let gradient = case.measure(&case.gradient(&options)).blended;
    assert!(
        faces.mean_deg < 0.1 * usual.mean_deg,
        "faces: {faces:?} against {usual:?}"
    );
    assert!(
        gradient.mean_deg < 0.15 * usual.mean_deg,
        "gradient: {gradient:?} against {usual:?}"
    );
}

#[test]
fn without_poses_joints_are_treated_as_independent() {
    let mut case = bent_tube();
    case.training.clear();
    let options = TangentOptions::default();
    let usual = case
        .measure_blended(BlendedNormal::InverseTranspose)
        .blended;
    for tangents in [case.faces(&options), case.gradient(&options)] {
        let angles = case.measure(&tangents).blended;
        assert!(
            angles.mean_deg < 0.15 * usual.mean_deg,
            "{angles:?} against {usual:?}"
        );
    }
}

/// [Merry07] Eq. 4.8 and 3.35 are the same normal.
#[test]
fn plain_rest_tangents_equal_the_inverse_transpose() {
    let case = bent_tube();
    let rest = case.rest_normals();
    let tangents = tangents_from_rest_normals(&case.skin, &rest).expect("fits");
    for pose in &case.held_out {
        let by_tangents = project_normals(&case.skin, &tangents, pose).expect("fits");
        let by_matrix = blended_normals(&case.skin, &rest, pose, BlendedNormal::InverseTranspose)
            .expect("fits");
        let angle = largest_angle_deg(&by_tangents, &by_matrix);
        assert!(angle < 1e-6, "{angle}°");
    }
}

/// [Merry07] Eq. 4.10: on the sheet `v(x, y) = Σ_j w_j(x) N_j v̂`, so the tangents are known.
/// Around an inner point the one-ring is symmetric, which makes its least squares exact.
#[test]
fn the_weight_gradient_is_the_derivative_of_the_posed_surface() {
    let case = sheet();
    let tangents = case.gradient(&with_bone_weights());
    for pose in &case.held_out {
        let found = project_normals(&case.skin, &tangents, pose).expect("fits");
        let palette = case.skin.skeleton.palette(pose).expect("fits");
        let n = case.skin.skeleton.posed_from_rest(&palette);
        let expected = |p: DVec3| {
            let right = 0.1 + 0.8 * p.x;
            let blended = (1.0 - right) * n[0].matrix3 + right * n[1].matrix3;
            let parting = 0.8 * (n[1].transform_point3(p) - n[0].transform_point3(p));
            (blended * DVec3::X + parting).cross(blended * DVec3::Y)
        };
        for (i, p) in case.mesh.positions().iter().enumerate() {
            let (column, row) = (i % 6, i / 6);
            if (1..5).contains(&column) && (1..5).contains(&row) {
                let angle = largest_angle_deg(&[found[i]], &[expected(*p)]);
                assert!(angle < 1e-6, "vertex {i}: {angle}°");
            }
        }
    }
}

#[test]
fn bones_that_slide_need_their_fourth_number() {
    let case = sheet();
    for fit in [Case::faces, Case::gradient] {
        let three = case.measure(&fit(&case, &TangentOptions::default())).all;
        let four = case.measure(&fit(&case, &with_bone_weights())).all;
        assert!(
            four.mean_deg < 0.2 * three.mean_deg,
            "{four:?} against {three:?}"
        );
    }
}

#[test]
fn bones_that_meet_in_joints_need_only_three_numbers() {
    let case = bent_tube();
    let three = case.faces(&TangentOptions::default());
    let four = case.faces(&with_bone_weights());
    let sums = four.bone_weights.as_ref().expect("asked for").iter();
    for row in sums {
        let sum = row
            .iter()
            .fold([0.0, 0.0], |s, w| [s[0] + w[0], s[1] + w[1]]);
        assert!(
            sum[0].abs() + sum[1].abs() < 1e-9,
            "a tangent has weight 0: {sum:?}"
        );
    }
    for pose in &case.held_out {
        let [a, b] = [&three, &four].map(|t| project_normals(&case.skin, t, pose).expect("fits"));
        let angle = largest_angle_deg(&a, &b);
        assert!(angle < 1e-4, "{angle}°");
    }
}

#[test]
fn given_normals_are_kept_at_rest() {
    let case = sheet();
    let tilted: Vec<DVec3> = (0..36)
        .map(|i| DVec3::new(0.2 * f64::from(i).sin(), 0.3 * f64::from(i).cos(), 1.0).normalize())
        .collect();
    for options in [TangentOptions::default(), with_bone_weights()] {
        // One of the poses must be rest, or the mean over them may give a little of it away.
        let mut poses = vec![case.skin.skeleton.rest_pose()];
        if options.bone_weights {
            poses.extend(case.training.clone());
        }
        let tangents =
            tangents_with_weight_gradient(&case.skin, &case.mesh, &tilted, &poses, &options)
                .expect("fits");
        let shown = project_normals(&case.skin, &tangents, &poses[0]).expect("fits");
        let angle = largest_angle_deg(&shown, &tilted);
        let limit = if options.bone_weights { 1e-6 } else { 1.0 };
        assert!(angle < limit, "{angle}°");
    }
}

#[test]
fn fitted_pairs_are_orthonormal_in_l22() {
    for (case, bone_weights) in [(bent_tube(), false), (sheet(), true)] {
        let options = TangentOptions {
            bone_weights,
            prior_share: 0.0,
        };
        for tangents in [case.faces(&options), case.gradient(&options)] {
            let palettes: Vec<_> = case
                .training
                .iter()
                .map(|pose| case.skin.skeleton.palette(pose).expect("fits"))
                .collect();
            let VertexProgram::Ssd(ssd) = &case.skin.program else {
                panic!("made as SSD")
            };
            for i in 0..case.skin.vertex_count() {
                // E[(G a)·(G b)] over the poses of the fit, written out.
                let mean = |a: usize, b: usize| -> f64 {
                    let posed = |k: usize, which: usize| -> DVec3 {
                        ssd.weights
                            .range(i)
                            .map(|item| {
                                let bone = ssd.weights.items()[item].bone;
                                let matrix = &palettes[k].model_from_bone[bone.index()];
                                let weight = (tangents.bone_weights.as_ref())
                                    .map_or(0.0, |w| w.items()[item][which]);
                                matrix.matrix3 * tangents.rows.items()[item][which]
                                    + weight * matrix.translation
                            })
                            .sum()
                    };
                    let products = (0..palettes.len()).map(|k| posed(k, a).dot(posed(k, b)));
                    products.sum::<f64>() / palettes.len() as f64
                };
                for (a, b, expected) in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.0)] {
                    let found = mean(a, b);
                    assert!((found - expected).abs() < 1e-7, "{i} {a}{b}: {found}");
                }
            }
        }
    }
}

#[test]
fn turning_the_whole_character_turns_the_normals() {
    let turn = DQuat::from_scaled_axis(DVec3::new(0.5, -1.2, 0.8));
    let motion = DAffine3::from_rotation_translation(turn, DVec3::new(30.0, -7.0, 2.0));
    for case in [bent_tube(), sheet()] {
        let options = with_bone_weights();
        for tangents in [case.faces(&options), case.gradient(&options)] {
            for pose in &case.held_out {
                let mut moved = pose.clone();
                moved.parent_from_bone[0] = motion * moved.parent_from_bone[0];
                let [before, after] = [pose, &moved]
                    .map(|pose| project_normals(&case.skin, &tangents, pose).expect("fits"));
                let turned: Vec<DVec3> = before.iter().map(|n| turn * *n).collect();
                let angle = largest_angle_deg(&turned, &after);
                assert!(angle < 1e-5, "{angle}°");
            }
        }
    }
}

#[test]
fn scale_shear_and_mirrors_turn_tangents_as_they_turn_faces() {
    let mut case = Case::of_tube(tube(&TubeOptions {
        ring_count: 8,
        segment_count: 9,
        bone_count: 1,
        example_count: 2,
    }));
    let mut sheared = DMat3::from_diagonal(DVec3::new(2.0, 0.4, 1.3));
    sheared.y_axis.x = 0.7;
    let mirrored = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    for matrix in [sheared, mirrored, sheared * mirrored] {
        case.held_out = vec![Pose::new(vec![DAffine3::from_mat3(matrix)])];
        let options = TangentOptions::default();
        for tangents in [case.faces(&options), case.gradient(&options)] {
            let worst = case.measure(&tangents).all.max_deg;
            assert!(worst < 1e-5, "{worst}°");
        }
        let inverse_transpose = case.measure_blended(BlendedNormal::InverseTranspose);
        assert!(
            inverse_transpose.all.max_deg < 1e-5,
            "{inverse_transpose:?}"
        );
        let matrix = case.measure_blended(BlendedNormal::Matrix);
        assert!(matrix.all.max_deg > 20.0, "{matrix:?}");
    }
}

/// ```text
///  3 --- 2      4: in no triangle;    5: only in a triangle that names it twice
///  |  /  |      6: on the edge 0-1, in a triangle without area
///  0 -6- 1
/// ```
#[test]
fn broken_faces_and_lone_points_give_zero_normals_and_do_not_affect_others() {
    let rest_positions = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(1.0, 1.0, 0.0),
        DVec3::Y,
        DVec3::splat(9.0),
        DVec3::splat(-3.0),
        DVec3::X * 0.5,
    ];
    let triangles = vec![[0, 1, 2], [0, 2, 3], [5, 5, 0], [0, 6, 1]];
    let mesh = TriMesh::new(rest_positions.clone(), triangles).expect("finite");
    let skeleton = Skeleton::from_rest_frames([
        ("a".to_owned(), None, DAffine3::IDENTITY),
        ("b".to_owned(), Some(BoneId(0)), DAffine3::IDENTITY),
    ])
    .expect("two bones");
    let half = |bone| Weight {
        bone: BoneId(bone),
        weight: 0.5,
    };
    // Vertex 3 names a bone twice; the lone point has no bone at all.
    let rows = [
        vec![half(0), half(1)],
        vec![half(0), half(1)],
        vec![half(0), half(1)],
        vec![half(0), half(0)],
        vec![],
        vec![half(0), half(1)],
        vec![half(0), half(1)],
    ];
    let program = SsdProgram {
        rest_positions,
        weights: rows.into_iter().collect(),
        corrections: Vec::new(),
    };
    let skin = Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new()).expect("valid");
    let rest = skin.skeleton.rest_pose();
    let case = Case::new(skin, mesh, &[rest.clone(), rest.clone()]);
    for options in [TangentOptions::default(), with_bone_weights()] {
        for prior_share in [0.0, options.prior_share] {
            let options = TangentOptions {
                prior_share,
                ..options.clone()
            };
            for tangents in [case.faces(&options), case.gradient(&options)] {
                let normals = project_normals(&case.skin, &tangents, &rest).expect("fits");
                let (with_faces, without) = normals.split_at(4);
                // The prior moves neighbours that have other bones, which tilts the fit a little.
                let angle = largest_angle_deg(with_faces, &[DVec3::Z; 4]);
                assert!(angle < 0.01, "{with_faces:?}");
                assert_eq!(without, [DVec3::ZERO; 3], "no face, no normal");
            }
        }
    }
    let report = case.measure(&case.faces(&TangentOptions::default()));
    assert_eq!(report.all.count, 4, "points without faces are not compared");
}

#[test]
fn a_linear_program_gets_the_tangents_of_its_ssd() {
    let case = bent_tube();
    let linear = Case {
        skin: case.skin.to_linear().expect("linear blending is linear"),
        mesh: case.mesh.clone(),
        training: case.training.clone(),
        held_out: case.held_out.clone(),
    };
    for fit in [Case::faces, Case::gradient] {
        let options = TangentOptions::default();
        let [ssd, linear_tangents] = [&case, &linear].map(|case| fit(case, &options));
        for pose in &case.held_out {
            let a = project_normals(&case.skin, &ssd, pose).expect("fits");
            let b = project_normals(&linear.skin, &linear_tangents, pose).expect("fits");
            let angle = largest_angle_deg(&a, &b);
            assert!(angle < 1e-6, "{angle}°");
        }
    }
}

#[test]
fn fact_12_one_thread_and_three_give_the_same_bits() {
    let case = bent_tube();
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool can be made")
            .install(|| {
                let options = with_bone_weights();
                (case.faces(&options), case.gradient(&options))
            })
    };
    assert_eq!(on(1), on(3), "the same tangents");
}

#[test]
fn wrong_inputs_are_refused_and_named() {
    let case = bent_tube();
    let count = case.skin.vertex_count();
    let normals = case.rest_normals();
    let options = TangentOptions {
        prior_share: 1.5,
        ..TangentOptions::default()
    };
    let error = fit_tangents(&case.skin, &case.mesh, &[], &options).expect_err("above 1");
    assert_eq!(
        error.to_string(),
        "prior_share must be 0 to 1, found 1.5",
        "name, range and value"
    );
    let options = TangentOptions::default();
    let error = fit_tangents(&case.skin, &TriMesh::default(), &[], &options).expect_err("no mesh");
    assert_eq!(
        error.to_string(),
        format!("expected {count} mesh vertices, found 0"),
        "both counts"
    );
    let mut poses = case.training.clone();
    poses[3].parent_from_bone[1].translation.x = f64::NAN;
    let error = fit_tangents(&case.skin, &case.mesh, &poses, &options).expect_err("NaN");
    assert_eq!(
        error.to_string(),
        "pose 3 contains NaN or infinity",
        "which pose"
    );
    let mut broken = normals.clone();
    broken[5].z = f64::INFINITY;
    let error = tangents_from_rest_normals(&case.skin, &broken).expect_err("infinite");
    assert_eq!(
        error.to_string(),
        "rest normal 5 contains NaN or infinity",
        "which"
    );
    let pose = Pose::new(vec![DAffine3::IDENTITY]);
    let error = fit_tangents(&case.skin, &case.mesh, &[pose], &options).expect_err("one bone");
    assert!(matches!(error, NormalError::Skin(_)), "{error}");
    let none = TangentPairs::default();
    let error = project_normals(&case.skin, &none, &case.training[0]).expect_err("no tangents");
    assert!(error.to_string().contains("rows of tangents"), "{error}");
}
