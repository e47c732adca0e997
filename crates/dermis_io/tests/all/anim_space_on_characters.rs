//! Animation space against linear blend skinning on held-out meshes (kept from the fit and used only to test it).
//!
//! Prints the table of `docs/methods/animation-space.md`, the slow rows with `--include-ignored`:
//! `cargo test -p dermis_io --test all anim_space_on_characters -- --nocapture`

use dermis::Split;
use dermis::fit::{AnimSpaceOptions, Method, SsdOptions};
use dermis::measure::measure;
use dermis::progress::Silent;

use crate::example_sets::blender_character;

/// Fits both with four influences to three of four meshes, and expects the held-out enveloping error of
/// animation space to be below the given limit and below that of linear blend skinning.
fn check(name: &str, below_percent: f64) {
    let Some(set) = blender_character(name) else {
        return;
    };
    let fold = &set.folds(&Split::EveryNth(4)).expect("enough meshes")[0];
    let held_out = |method: &Method| {
        let fitted = method
            .fit(&set, &fold.training, &Silent)
            .expect("can be fitted");
        let measured = measure(&fitted.skin, &set, &fold.held_out).expect("poses fit");
        let error = measured.total.enveloping_error_percent.expect("bones move");
        (error, fitted.smoothing)
    };
    let (ssd, _) = held_out(&Method::Ssd(SsdOptions::default()));
    let (linear, delta) = held_out(&Method::AnimSpace(AnimSpaceOptions::default()));
    let delta = delta.expect("it smooths");
    println!("| {name} | {ssd:.2}% | {linear:.2}% | {delta} |");
    assert!(
        linear < below_percent,
        "{name}: {linear}% instead of {below_percent}%"
    );
    assert!(
        linear < ssd || ssd < 1e-3,
        "{name}: {linear}% against {ssd}% of linear blend skinning"
    );
}

#[test]
fn animation_space_fits_tubes_better_that_linear_blending_cannot_fit() {
    check("tube_dqs", 27.0);
    check("tube_csmooth", 6.6);
    check("tube_surfdef", 24.0);
}

#[test]
fn a_tube_made_by_linear_blending_is_fitted_as_well() {
    check("tube_lbs", 1e-3);
}

#[test]
fn animation_space_fits_a_hand_better() {
    check("hand_csmooth", 5.5);
}

#[test]
#[ignore = "slow: 152 bones on 13,380 vertices take a minute"]
fn animation_space_fits_bodies_better() {
    check("makehuman_csmooth", 12.5);
    check("makehuman_bulge", 16.5);
}
