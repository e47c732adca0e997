//! Files of every released version of `DERMIS_skin` load for ever, and show what they showed.

#[path = "../../../tests/support/mod.rs"]
mod support;

use glam::DVec3;

#[test]
fn version_1_loads_and_moves_as_it_did() {
    let path = support::repository().join("data/dermis_skin_v1.glb");
    let document = dermis_io::read(&path).expect("version 1 stays readable");
    let record = document.record.expect("it says how it was made");
    assert_eq!(record.version, 1, "the version that was written");
    assert_eq!(record.method, "ssd", "linear blend skinning");
    let held_out = record.held_out.expect("a quarter was held out");
    assert!(
        (held_out.e_rms - 5.732).abs() < 5e-4,
        "found {}",
        held_out.e_rms
    );

    // Values of the run that made the file, in single precision.
    let skin = document.skin.expect("it has a skin");
    let pose = skin.sample(&document.clips[0], 10.0 / 24.0);
    let posed = skin.evaluate(&pose).expect("its own clip");
    let mean = posed.iter().sum::<DVec3>() / posed.len() as f64;
    let expected = DVec3::new(0.65525447, 0.41204639, 0.00025354);
    assert!(mean.distance(expected) < 1e-6, "the mean moved to {mean}");
    let expected = DVec3::new(0.85336724, 0.10155353, -0.08049534);
    assert!(
        posed[100].distance(expected) < 1e-6,
        "vertex 100 moved to {}",
        posed[100]
    );
}
