//! Sculpts on skins of every kind: met in their poses, gone elsewhere, layer upon layer.

use std::f64::consts::PI;

use dermis::fit::{PsdLayer, Sculpt, build_psd, sculpted_shape};
use dermis::pose_space::{Control, InterpolateOptions, JointTurn, Kernel};
use dermis::skin::{
    Coefficient, Delta, DualQuaternionProgram, MultiWeight, MultiWeightProgram, SsdProgram,
};
use dermis::synth::{TubeOptions, tube};
use dermis::{BoneId, Pose, Skin, VertexProgram};
use glam::DVec3;

const ELBOW: Control = Control::Joint {
    bone: BoneId(1),
    turn: JointTurn::Hinge { axis: DVec3::Y },
};
const WRIST: Control = Control::Joint {
    bone: BoneId(2),
    turn: JointTurn::Free,
};

fn ssd() -> (Skin, SsdProgram) {
    let skin = tube(&TubeOptions {
        ring_count: 30,
        segment_count: 10,
        bone_count: 4,
        example_count: 1,
    })
    .truth;
    let VertexProgram::Ssd(program) = skin.program.clone() else {
        panic!("the tube is linear blend skinning");
    };
    (skin, program)
}

/// The same tube as a skin of every kind.
fn bases() -> Vec<Skin> {
    let (skin, program) = ssd();
    let row = |row: &[dermis::skin::Weight]| -> Vec<MultiWeight> {
        let twelve = |w: &dermis::skin::Weight| MultiWeight {
            bone: w.bone,
            weights: [[w.weight; 4]; 3],
        };
        row.iter().map(twelve).collect()
    };
    let programs = [
        VertexProgram::Linear(program.to_linear(&skin.skeleton)),
        VertexProgram::DualQuaternion(DualQuaternionProgram {
            weighted: program.clone(),
        }),
        VertexProgram::MultiWeight(MultiWeightProgram {
            rest_positions: program.rest_positions.clone(),
            influences: program.weights.iter().map(row).collect(),
            corrections: Vec::new(),
        }),
        // Rigid: every vertex on its heaviest bone.
        VertexProgram::Ssd(program.largest_weights(1)),
        VertexProgram::Ssd(program),
    ];
    let with = |program| Skin {
        program,
        ..skin.clone()
    };
    programs.into_iter().map(with).collect()
}

fn posed(skin: &Skin, places: &[(Control, &[f64])]) -> Pose {
    let mut pose = skin.skeleton.rest_pose();
    pose.coefficients = skin.default_coefficients()[..skin.posed_coefficient_count()].to_vec();
    for (control, at) in places {
        control.place(&skin.skeleton, at, &mut pose);
    }
    pose
}

/// What an artist would save: the mesh that is shown, with a bump around one place.
fn sculpt_mesh(shown: &Skin, pose: &Pose, around: usize, height: f64) -> Vec<DVec3> {
    let mesh = shown.evaluate(pose).expect("fits");
    let at = mesh[around];
    let bump = |v: DVec3| {
        let distance = v.distance(at) / 0.4;
        DVec3::new(0.3, 1.0, 0.2) * height * (1.0 - distance).max(0.0)
    };
    mesh.iter().map(|v| *v + bump(*v)).collect()
}

/// Sculpts on top of layers as `dermis psd add` does: the new one belongs to the last layer.
fn add(base: &Skin, layers: &mut [PsdLayer], name: &str, pose: Pose, around: usize) -> Vec<DVec3> {
    let shown = build_psd(base, layers).expect("solvable").skin;
    let mesh = sculpt_mesh(&shown, &pose, around, 0.1);
    let (last, lower) = layers.split_last_mut().expect("a layer");
    let below = build_psd(base, lower).expect("solvable").skin;
    let found = sculpted_shape(base, &below, &pose, &mesh, 1e-9).expect("same vertices");
    assert!(!found.shape.is_empty(), "something was sculpted");
    let falloffs = vec![0.6; last.controls.len()];
    last.sculpts.push(Sculpt {
        name: name.to_owned(),
        pose,
        falloffs,
        shape: found.shape,
    });
    mesh
}

fn farthest(skin: &Skin, pose: &Pose, mesh: &[DVec3]) -> f64 {
    let shown = skin.evaluate(pose).expect("fits");
    let distances = shown.iter().zip(mesh).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, f64::max)
}

#[test]
fn fact_8_every_sculpt_is_exact_in_its_pose_and_the_base_returns_far_away() {
    for base in bases() {
        let kind = base.program.name();
        let mut layers = vec![PsdLayer::new("elbow", vec![ELBOW])];
        let mut meshes = Vec::new();
        for (name, angle, around) in [("half", 0.7, 120), ("full", 1.5, 130), ("back", -0.8, 110)] {
            let pose = posed(&base, &[(ELBOW, &[angle])]);
            let mesh = add(&base, &mut layers, name, pose.clone(), around);
            meshes.push((pose, mesh));
        }
        let fitted = build_psd(&base, &layers).expect("three poses");
        for (pose, mesh) in &meshes {
            let missed = farthest(&fitted.skin, pose, mesh);
            assert!(missed < 1e-9, "{kind}: a sculpt is missed by {missed}");
        }
        let rest = posed(&base, &[]);
        let plain = base.evaluate(&rest).expect("fits");
        assert!(
            farthest(&fitted.skin, &rest, &plain) < 1e-12,
            "{kind}: at rest"
        );
        // 3.1 radians are 2.7 falloffs from the nearest sculpt; a narrower one would be further.
        layers[0]
            .sculpts
            .iter_mut()
            .for_each(|s| s.falloffs = vec![0.2]);
        let narrow = build_psd(&base, &layers).expect("three poses").skin;
        let far = posed(&base, &[(ELBOW, &[3.1])]);
        let plain = base.evaluate(&far).expect("fits");
        assert!(farthest(&narrow, &far, &plain) < 1e-12, "{kind}: far away");
        assert_eq!(fitted.layers[0].held, ["rest"], "{kind}");
        assert!(
            fitted.layers[0]
                .sculpts
                .iter()
                .all(|s| s.missed < 1e-9 && s.moved_by.is_none()),
            "{kind}: {:?}",
            fitted.layers[0].sculpts
        );
    }
}

#[test]
fn earlier_sculpts_stay_exact_under_later_layers_in_any_order() {
    let (base, _) = ssd();
    let mut layers = vec![PsdLayer::new("elbow", vec![ELBOW])];
    let mut meshes = Vec::new();
    let both = |a: f64, b: f64| posed(&base, &[(ELBOW, &[a]), (WRIST, &[0.0, b, 0.0])]);
    for (name, angle) in [("e1", 0.6), ("e2", 1.4)] {
        let mesh = add(&base, &mut layers, name, both(angle, 0.0), 150);
        meshes.push((both(angle, 0.0), mesh));
    }
    layers.push(PsdLayer::new("wrist", vec![WRIST]));
    let mesh = add(&base, &mut layers, "w1", both(0.0, 0.9), 170);
    meshes.push((both(0.0, 0.9), mesh));
    layers.push(PsdLayer::new("elbow+wrist", vec![ELBOW, WRIST]));
    // In the same place as the lower layers' sculpts, where all three push the same vertices.
    let mesh = add(&base, &mut layers, "corner", both(1.4, 0.9), 150);
    meshes.push((both(1.4, 0.9), mesh));

    let check = |layers: &[PsdLayer], what: &str| {
        let fitted = build_psd(&base, layers).expect("solvable");
        for (k, (pose, mesh)) in meshes.iter().enumerate() {
            let missed = farthest(&fitted.skin, pose, mesh);
            assert!(missed < 1e-9, "{what}: sculpt {k} is missed by {missed}");
        }
    };
    check(&layers, "as sculpted");
    layers.swap(0, 1);
    check(&layers, "with the wrist first");
}

#[test]
fn a_layer_that_disturbs_another_layers_sculpt_is_reported() {
    let (base, _) = ssd();
    let mut layers = vec![PsdLayer::new("elbow+wrist", vec![ELBOW, WRIST])];
    let corner = posed(&base, &[(ELBOW, &[1.0]), (WRIST, &[0.0, 0.8, 0.0])]);
    add(&base, &mut layers, "corner", corner, 150);
    // To the elbow alone, that is the same pose as the corner: no function of it tells them apart.
    layers.push(PsdLayer::new("elbow", vec![ELBOW]));
    let bent = posed(&base, &[(ELBOW, &[1.0])]);
    add(&base, &mut layers, "bent", bent, 150);
    let fitted = build_psd(&base, &layers).expect("solvable");
    let corner = &fitted.layers[0].sculpts[0];
    assert_eq!(corner.moved_by.as_deref(), Some("elbow"), "{corner:?}");
    assert!(corner.missed > 1e-3, "{corner:?}");
    assert!(
        fitted.layers[1].sculpts[0].missed < 1e-12,
        "the later one is met"
    );
}

#[test]
fn a_second_sculpt_in_the_same_pose_is_refused_naming_both() {
    let (base, _) = ssd();
    let mut layers = vec![PsdLayer::new("elbow", vec![ELBOW])];
    add(
        &base,
        &mut layers,
        "flex",
        posed(&base, &[(ELBOW, &[1.0])]),
        150,
    );
    let refused = |pose: Pose, name: &str| {
        let mut layers = layers.clone();
        layers[0].sculpts.push(Sculpt {
            name: name.to_owned(),
            pose,
            falloffs: vec![0.6],
            shape: Vec::new(),
        });
        build_psd(&base, &layers).expect_err("taken").to_string()
    };
    let again = refused(posed(&base, &[(ELBOW, &[1.0])]), "again");
    assert!(
        again.contains("poses flex and again are the same"),
        "{again}"
    );
    // A whole turn further is the same pose, too.
    let around = refused(posed(&base, &[(ELBOW, &[1.0 - 2.0 * PI])]), "around");
    assert!(around.contains("flex and around"), "{around}");
    // Another pose, but not with a falloff this wide.
    let mut wide = vec![PsdLayer::new("elbow", vec![ELBOW])];
    add(
        &base,
        &mut wide,
        "flex",
        posed(&base, &[(ELBOW, &[0.1])]),
        150,
    );
    wide[0].sculpts[0].falloffs = vec![10.0];
    let wide = build_psd(&base, &wide).expect_err("too wide").to_string();
    assert!(
        wide.contains("rest and flex cannot be told apart with falloffs this wide"),
        "{wide}"
    );
    let unmoved = refused(posed(&base, &[]), "unmoved");
    assert!(
        unmoved.contains("poses rest and unmoved are the same"),
        "{unmoved}"
    );
}

#[test]
fn a_load_is_switched_on_at_run_time() {
    let (base, _) = ssd();
    let load = Coefficient {
        name: "load".to_owned(),
        default: 0.0,
    };
    let base = base.with_sliders([load]);
    let slider = Control::Slider { coefficient: 0 };
    let mut layers = vec![PsdLayer::new("elbow", vec![ELBOW])];
    let bent = posed(&base, &[(ELBOW, &[1.2])]);
    let light = add(&base, &mut layers, "light", bent.clone(), 150);
    layers.push(PsdLayer::new("elbow+load", vec![ELBOW, slider]));
    let heavy_pose = posed(&base, &[(ELBOW, &[1.2]), (slider, &[1.0])]);
    let heavy = add(&base, &mut layers, "heavy", heavy_pose.clone(), 150);
    let skin = build_psd(&base, &layers).expect("solvable").skin;
    assert!(farthest(&skin, &bent, &light) < 1e-9, "off");
    assert!(farthest(&skin, &heavy_pose, &heavy) < 1e-9, "on");
    assert!(farthest(&skin, &bent, &heavy) > 0.01, "they differ");
}

#[test]
fn compressed_shapes_are_fewer_and_within_the_tolerance() {
    let (base, _) = ssd();
    let mut layer = PsdLayer::new("elbow", vec![ELBOW]);
    // Ten poses whose shapes are sums of two.
    for k in 1..=10 {
        let angle = 0.15 * f64::from(k);
        let delta = |index: u32| Delta {
            index,
            value: DVec3::new(angle.sin(), 0.0, 0.0) * f64::from(index % 3)
                + DVec3::Y * angle * angle,
        };
        layer.sculpts.push(Sculpt {
            name: format!("s{k}"),
            pose: posed(&base, &[(ELBOW, &[angle])]),
            falloffs: vec![0.2],
            shape: (100..160).map(delta).collect(),
        });
    }
    layer.compress = Some(1e-9);
    let fitted = build_psd(&base, &[layer.clone()]).expect("solvable");
    assert_eq!(fitted.skin.coefficients.len(), 2, "two sums say it all");
    let worst = |fitted: &dermis::fit::PsdSkin| {
        let missed = fitted.layers[0].sculpts.iter().map(|s| s.missed);
        missed.fold(0.0, f64::max)
    };
    assert!(worst(&fitted) < 2e-9, "missed by {}", worst(&fitted));
    layer.compress = Some(0.9);
    let coarse = build_psd(&base, &[layer]).expect("solvable");
    assert_eq!(coarse.skin.coefficients.len(), 1, "one is near enough");
    assert!(worst(&coarse) <= 0.9 + 1e-9, "missed by {}", worst(&coarse));
}

/// A layer over elbow and wrist, with sculpts at corners.
fn corners(base: &Skin) -> PsdLayer {
    let mut layer = PsdLayer::new("arm", vec![ELBOW, WRIST]);
    for (k, (a, b)) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].into_iter().enumerate() {
        let delta = |index: u32| Delta {
            index,
            value: DVec3::new(0.1 * (k as f64 + 1.0), 0.05 * f64::from(index % 7), 0.0),
        };
        layer.sculpts.push(Sculpt {
            name: format!("corner {k}"),
            pose: posed(base, &[(ELBOW, &[a]), (WRIST, &[0.0, b, 0.0])]),
            falloffs: vec![0.7, 0.7],
            shape: (0..base.vertex_count() as u32).map(delta).collect(),
        });
    }
    layer
}

#[test]
fn weighted_layers_are_exact_and_more_weightings_approach_one_system_per_vertex() {
    let (base, _) = ssd();
    let with = |weightings: usize| {
        let layer = PsdLayer {
            weightings: Some(weightings),
            ..corners(&base)
        };
        build_psd(&base, &[layer]).expect("solvable")
    };
    let between = posed(&base, &[(ELBOW, &[0.5]), (WRIST, &[0.0, 0.4, 0.0])]);
    let shown = |weightings: usize| with(weightings).skin.evaluate(&between).expect("fits");
    // As many weightings as the tube has different vertices: a system for each of them.
    let (exact, plain) = (shown(400), shown(1));
    let off = |mesh: &[DVec3]| {
        let distances = mesh.iter().zip(&exact).map(|(a, b)| a.distance(*b));
        distances.fold(0.0, f64::max)
    };
    let (few, some) = (off(&shown(3)), off(&shown(12)));
    assert!(off(&plain) > 5e-3, "weights matter here: {}", off(&plain));
    assert!(
        some < 0.5 * few && few < off(&plain),
        "{} > {few} > {some}",
        off(&plain)
    );
    for weightings in [1, 3, 12] {
        for sculpt in &with(weightings).layers[0].sculpts {
            assert!(sculpt.missed < 1e-9, "{weightings}: {sculpt:?}");
        }
    }
}

#[test]
fn other_kernels_are_exact_at_sculpts_too() {
    let (base, _) = ssd();
    let kinds = [
        (Kernel::Shepard { power: 2.0 }, false),
        (Kernel::Gaussian, true),
    ];
    for (kernel, linear) in kinds {
        let layer = PsdLayer {
            interpolation: InterpolateOptions { kernel, linear },
            ..corners(&base)
        };
        let fitted = build_psd(&base, &[layer]).expect("solvable");
        for sculpt in &fitted.layers[0].sculpts {
            assert!(sculpt.missed < 1e-9, "{kernel:?}: {sculpt:?}");
        }
    }
}

#[test]
fn invalid_layers_are_refused_with_their_names() {
    let (base, _) = ssd();
    let refused = |change: fn(&mut PsdLayer)| {
        let mut layer = corners(&base);
        change(&mut layer);
        build_psd(&base, &[layer]).expect_err("refused").to_string()
    };
    let text = refused(|l| l.sculpts[1].falloffs = vec![1.0]);
    assert!(
        text.contains("sculpt corner 1 of layer arm has 1 for 2 controls"),
        "{text}"
    );
    let text = refused(|l| l.sculpts[1].falloffs = vec![1.0, 0.0]);
    assert!(text.contains("falloff that is not above 0"), "{text}");
    let text = refused(|l| l.weightings = Some(0));
    assert!(text.contains("weightings"), "{text}");
    let text = refused(|l| l.compress = Some(f64::NAN));
    assert!(text.contains("compress"), "{text}");
    let text = refused(|l| l.controls[0] = Control::Slider { coefficient: 3 });
    assert!(text.contains("reads coefficient 3"), "{text}");
}
