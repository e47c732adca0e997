//! `dermis fit --method psd` on bodies: muscles that no bone says, from a handful of poses.

use crate::common::{Scratch, number, quoted};
use crate::support;

/// Every fifth of the 40 poses is seen; the other 32 are not.
fn all_but_every_fifth() -> String {
    let unseen: Vec<String> = (0..40)
        .filter(|k| k % 5 != 0)
        .map(|k| k.to_string())
        .collect();
    unseen.join(",")
}

#[test]
fn eight_poses_of_a_body_tell_what_its_muscles_do() {
    let Some(body) = support::data("bpy/makehuman_bulge/truth.npz") else {
        return;
    };
    let scratch = Scratch::new();
    let body = quoted(&body);
    let unseen = all_but_every_fifth();
    let fitted = |method: &str| {
        let run = scratch.dermis(&format!(
            "fit {body} --method {method} --hold-out {unseen} -o {method}.glb --json"
        ));
        run.done().json()
    };
    let held_out = |method: &str| number(&fitted(method), "/heldOut/envelopingErrorPercent");
    let (plain, driven) = (held_out("ssd"), held_out("psd"));
    println!("held-out EE from 8 poses: ssd {plain:.2}%, psd {driven:.2}%");
    assert!(driven < 0.5 * plain, "{driven:.2}% against {plain:.2}%");

    // What was written is what was measured: drivers and all.
    let file = scratch.read("psd.glb");
    let skin = file.skin.expect("a skin");
    let driven_by: Vec<&str> = skin
        .pose_program
        .drivers
        .iter()
        .map(|d| d.name.as_str())
        .collect();
    for joint in [
        "lowerarm01.L",
        "lowerarm01.R",
        "lowerleg01.L",
        "lowerleg01.R",
    ] {
        assert!(
            driven_by.contains(&joint),
            "{joint} drives muscles: {driven_by:?}"
        );
    }
    assert!(
        file.clips
            .iter()
            .all(|clip| clip.channels.iter().any(|c| c.bone().is_none())),
        "weights are baked for other players"
    );
}
