//! Linear blend skinning with pseudo-bones: what it gains, and that its poses need none of them.

use dermis::fit::{SsdOptions, evaluate_fit, fit_pseudo_bones, fit_ssd};
use dermis::measure::{measure, vertex_distances};
use dermis::progress::Silent;
use dermis::rig::DerivedMotion;
use dermis::synth::{ArmOptions, ArmPose, arm, arm_motion};
use dermis::{Clip, ExampleSet, Pose, Skin, Split};

fn arm_in(poses: Vec<ArmPose>) -> ExampleSet {
    arm(&ArmOptions {
        ring_count: 40,
        segment_count: 12,
        poses,
    })
    .examples
}

/// The arm as a tube: only twisted, by up to 170°.
fn twisted() -> ExampleSet {
    arm_in(
        (0..18)
            .map(|k| ArmPose {
                bend_rad: 0.0,
                twist_rad: (10.0 * k as f64).to_radians(),
            })
            .collect(),
    )
}

/// Only bent, by up to 110°.
fn bent() -> ExampleSet {
    arm_in(
        (0..12)
            .map(|k| ArmPose {
                bend_rad: (10.0 * k as f64).to_radians(),
                twist_rad: 0.0,
            })
            .collect(),
    )
}

fn all(set: &ExampleSet) -> Vec<usize> {
    (0..set.examples().len()).collect()
}

fn fit(set: &ExampleSet) -> Skin {
    let fitted = fit_pseudo_bones(set, &all(set), &SsdOptions::default(), &Silent);
    fitted.expect("the arm can be fitted").skin
}

fn plain(set: &ExampleSet) -> Skin {
    let fitted = fit_ssd(set, &all(set), &SsdOptions::default(), &Silent);
    fitted.expect("the arm can be fitted").skin
}

fn e_rms(skin: &Skin, set: &ExampleSet) -> f64 {
    measure(skin, set, &all(set)).expect("fits").total.e_rms
}

#[test]
fn a_half_turned_bone_mends_most_of_a_twist() {
    let set = twisted();
    let plain = e_rms(&plain(&set), &set);
    let with_half_turns = fit(&set);
    let mended = e_rms(&with_half_turns, &set);
    assert!(mended < plain / 3.0, "{mended} against {plain}");
    let bones = with_half_turns.skeleton.bones().iter();
    let names: Vec<&str> = bones.map(|bone| bone.name.as_str()).collect();
    assert_eq!(names[..3], ["upper_arm", "forearm", "hand"], "{names:?}");
    assert!(names.contains(&"hand.half"), "{names:?}");
    let of_the_hand = names[3..].iter().all(|name| name.starts_with("hand."));
    assert!(of_the_hand, "the elbow did not turn: {names:?}");
}

#[test]
fn swelling_bones_show_a_muscle() {
    let set = bent();
    // The elbow's crease is no swelling: only the biceps is looked at.
    let off_by = |skin: &Skin| {
        let most_bent = set.examples().last().expect("twelve");
        let distances = vertex_distances(skin, most_bent).expect("fits");
        let rest = set.rest().positions().iter();
        let biceps = rest
            .zip(distances)
            .filter(|(p, _)| (0.3..0.65).contains(&p.x));
        biceps.map(|(_, distance)| distance).fold(0.0, f64::max)
    };
    let plain = off_by(&plain(&set));
    let swelling = off_by(&fit(&set));
    assert!(swelling < plain / 4.0, "{swelling} against {plain}");
}

#[test]
fn joints_that_do_not_turn_add_no_bone() {
    let still = arm_in(vec![ArmPose::default(); 3]);
    assert_eq!(fit(&still), plain(&still), "plain linear blend skinning");
}

#[test]
fn only_pseudo_bones_that_a_vertex_follows_are_kept() {
    let skin = fit(&arm_in(arm_motion(24)));
    assert_eq!(skin.posed_bone_count(), 3, "the arm's own");
    assert!(!skin.pose_program.derived().is_empty(), "some are of use");
    for d in skin.pose_program.derived() {
        let follows = skin.program.bones().any(|bone| bone == d.bone);
        let name = &skin.skeleton.bones()[d.bone.index()].name;
        assert!(follows, "{name} moves no vertex");
        let expected = match d.motion {
            DerivedMotion::PartTurn { .. } => "half",
            DerivedMotion::Swell { gain } if gain > 0.0 => "swell",
            DerivedMotion::Swell { .. } => "shrink",
        };
        let of = &skin.skeleton.bones()[d.of.index()].name;
        assert!(
            name.starts_with(of.as_str()) && name.ends_with(expected),
            "{name}"
        );
    }
}

#[test]
fn examples_without_the_derived_bones_are_measured_and_held_out() {
    let set = arm_in(arm_motion(24));
    let report = evaluate_fit(&set, &Split::EveryNth(4), |training| {
        fit_pseudo_bones(&set, training, &SsdOptions::default(), &Silent)
    })
    .expect("fits and measures");
    let plain = evaluate_fit(&set, &Split::EveryNth(4), |training| {
        fit_ssd(&set, training, &SsdOptions::default(), &Silent)
    })
    .expect("fits and measures");
    let held_out = |report: &dermis::fit::FitReport| {
        let held_out = report.held_out.as_ref().expect("a quarter");
        held_out.measured.total.e_rms
    };
    assert!(
        held_out(&report) < 0.6 * held_out(&plain),
        "held out: {} against {}",
        held_out(&report),
        held_out(&plain)
    );
    assert_eq!(
        report.cost.palette_size,
        3 + report.skin.pose_program.derived().len(),
        "the palette holds the derived bones too"
    );
    assert_eq!(
        report.rig.indistinct, plain.rig.indistinct,
        "about the posed bones"
    );
}

#[test]
fn a_baked_clip_shows_the_same_without_the_pose_program() {
    let set = arm_in(arm_motion(24));
    let skin = fit(&set);
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let clip = Clip::from_poses("arm", set.skeleton(), &poses, 24.0).expect("rigid poses");
    let baked = skin.bake(&clip).expect("the clip fits");
    let plain = skin.without_pose_program();
    for (example, time) in set
        .examples()
        .iter()
        .zip(clip.frame_times(24.0).expect("few frames"))
    {
        let shown = plain
            .evaluate(&plain.sample(&baked, time))
            .expect("all bones are posed");
        let expected = skin.evaluate(&example.pose).expect("fits");
        for (a, b) in shown.iter().zip(&expected) {
            assert!(a.distance(*b) < 1e-9, "{}: {a} against {b}", example.name);
        }
    }
}
