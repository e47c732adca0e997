//! Bones found for meshes whose bones are known.

use dermis::fit::{
    BoneGuess, BoneOptions, ExampleMesh, FitError, FittedBones, SsdOptions, fit_bones, fit_ssd,
};
use dermis::measure::measure;
use dermis::progress::Silent;
use dermis::skin::VertexProgram;
use dermis::synth::{Tube, TubeOptions, tube};
use dermis::{BoneId, ExampleSet, Skeleton};
use glam::{DAffine3, DVec3};

fn known() -> Tube {
    tube(&TubeOptions {
        ring_count: 40,
        segment_count: 10,
        bone_count: 4,
        example_count: 14,
    })
}

fn meshes(set: &ExampleSet) -> Vec<ExampleMesh> {
    set.examples()
        .iter()
        .map(|example| ExampleMesh {
            name: example.name.clone(),
            positions: example.positions.clone(),
        })
        .collect()
}

/// E_RMS of linear blend skinning over found bones.
fn blend_error(found: &FittedBones) -> f64 {
    let set = &found.examples;
    let all: Vec<usize> = (0..set.examples().len()).collect();
    let skin = fit_ssd(set, &all, &SsdOptions::default(), &Silent)
        .expect("bones can be fitted to")
        .skin;
    measure(&skin, set, &all)
        .expect("its own examples")
        .total
        .e_rms
}

#[test]
fn as_many_bones_as_a_tube_has_explain_it() {
    let tube = known();
    let find = |count: usize| {
        let guess = BoneGuess::Count(count);
        fit_bones(
            tube.examples.rest(),
            &meshes(&tube.examples),
            &guess,
            &BoneOptions::default(),
            &Silent,
        )
        .expect("the tube has bones")
    };
    let (two, four) = (find(2), find(4));
    assert_eq!(
        four.examples.skeleton().bone_count(),
        4,
        "as many as asked for"
    );
    // The tube is a linear blend of four bones; two cannot explain it.
    let (coarse, fine) = (blend_error(&two), blend_error(&four));
    assert!(fine < 0.01, "E_RMS {fine} with four bones");
    assert!(coarse > 1.0, "E_RMS {coarse} with two");
    assert!(
        four.round_errors.last() < four.round_errors.first(),
        "rounds improve the match: {:?}",
        four.round_errors
    );
    // The result must be a chain too: no bone has two children, except the root in its middle.
    let parents: Vec<_> = four
        .examples
        .skeleton()
        .bones()
        .iter()
        .map(|b| b.parent)
        .collect();
    assert_eq!(
        parents.iter().filter(|p| p.is_none()).count(),
        1,
        "one root: {parents:?}"
    );
    for id in four.examples.skeleton().ids().skip(1) {
        let children = parents.iter().filter(|p| **p == Some(id)).count();
        assert!(
            children <= 1,
            "bone {id:?} has {children} children: {parents:?}"
        );
    }
}

#[test]
fn joints_of_a_drawn_skeleton_move_to_where_they_turn_in_place() {
    let tube = known();
    let truth = &tube.truth;
    let VertexProgram::Ssd(ssd) = &truth.program else {
        panic!("the tube is a linear blend skin");
    };
    let cores: Vec<Option<BoneId>> = ssd
        .weights
        .iter()
        .map(|row| row.iter().find(|w| w.weight > 0.99).map(|w| w.bone))
        .collect();
    // Every joint is drawn beside the place where it really is.
    let off = DVec3::new(0.15, -0.1, 0.2);
    let drawn = truth.skeleton.bones().iter().map(|bone| {
        let frame = DAffine3::from_translation(off) * bone.bone_from_rest.inverse();
        (bone.name.clone(), bone.parent, frame)
    });
    let guess = BoneGuess::Skeleton {
        skeleton: Skeleton::from_rest_frames(drawn).expect("the same tree"),
        cores,
    };
    let found = fit_bones(
        tube.examples.rest(),
        &meshes(&tube.examples),
        &guess,
        &BoneOptions::default(),
        &Silent,
    )
    .expect("the tube has bones");
    assert!(blend_error(&found) < 0.2, "E_RMS {}", blend_error(&found));
    let joint =
        |skeleton: &Skeleton, j: usize| skeleton.bones()[j].bone_from_rest.inverse().translation;
    for (j, bone) in truth.skeleton.bones().iter().enumerate() {
        assert_eq!(
            found.examples.skeleton().bones()[j].parent,
            bone.parent,
            "the tree is kept"
        );
        if bone.parent.is_some() {
            let distance = joint(found.examples.skeleton(), j).distance(joint(&truth.skeleton, j));
            assert!(
                distance < 0.1 * off.length(),
                "joint {j} is {distance} away"
            );
            assert!(
                found.joint_deviation[j] < 0.01,
                "joint {j} strays {}",
                found.joint_deviation[j]
            );
        }
    }
}

#[test]
fn a_bone_without_core_vertices_moves_with_its_parent_and_is_named() {
    let tube = known();
    let last = tube.truth.skeleton.bone_count() - 1;
    let VertexProgram::Ssd(ssd) = &tube.truth.program else {
        panic!("the tube is a linear blend skin");
    };
    let core = |row: &[dermis::skin::Weight]| {
        row.iter()
            .find(|w| w.weight > 0.99 && w.bone.index() < last)
            .map(|w| w.bone)
    };
    let guess = BoneGuess::Skeleton {
        skeleton: tube.truth.skeleton.clone(),
        cores: ssd.weights.iter().map(core).collect(),
    };
    let options = BoneOptions {
        blend_rounds: 0,
        space_rounds: 0,
        ..BoneOptions::default()
    };
    let found = fit_bones(
        tube.examples.rest(),
        &meshes(&tube.examples),
        &guess,
        &options,
        &Silent,
    )
    .expect("the others have cores");
    assert_eq!(
        found.carried,
        [tube.truth.skeleton.bones()[last].name.clone()],
        "named"
    );
    let rest = found.examples.skeleton().rest_pose().parent_from_bone[last];
    for example in found.examples.examples() {
        let local = example.pose.parent_from_bone[last];
        assert!(
            local.abs_diff_eq(rest, 1e-9),
            "it stands still in its parent: {local:?}"
        );
    }
}

#[test]
fn bones_are_the_same_on_any_number_of_threads() {
    let tube = known();
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads")
            .install(|| {
                let guess = BoneGuess::Count(3);
                fit_bones(
                    tube.examples.rest(),
                    &meshes(&tube.examples),
                    &guess,
                    &BoneOptions::default(),
                    &Silent,
                )
                .expect("the tube has bones")
                .examples
            })
    };
    assert_eq!(on(1), on(3), "the same bits");
}

#[test]
fn meshes_and_guesses_that_cannot_be_rigged_are_refused() {
    let tube = known();
    let rest = tube.examples.rest();
    let find = |meshes: &[ExampleMesh], count: usize| {
        fit_bones(
            rest,
            meshes,
            &BoneGuess::Count(count),
            &BoneOptions::default(),
            &Silent,
        )
    };
    assert!(
        matches!(find(&[], 3), Err(FitError::NothingToFit { .. })),
        "no mesh"
    );
    assert!(
        matches!(
            find(&meshes(&tube.examples), 0),
            Err(FitError::NothingToFit { .. })
        ),
        "no bone"
    );
    let mut short = meshes(&tube.examples);
    short[2].positions.pop();
    assert!(
        matches!(find(&short, 3), Err(FitError::Examples(_))),
        "a vertex is missing"
    );
    let mut broken = meshes(&tube.examples);
    broken[1].positions[5].y = f64::NAN;
    assert!(
        matches!(find(&broken, 3), Err(FitError::Examples(_))),
        "not a number"
    );
}
