//! Arrays in, skin out: fits a forearm that twists, which linear blend skinning cannot.
//!
//! `cargo run --release --example fit_from_code`; explained in docs/examples/fit_from_code.md.

use dermis::fit::{Method, evaluate_fit};
use dermis::progress::Silent;
use dermis::{BoneId, Example, ExampleSet, Skeleton, Split, TriMesh};
use glam::{DAffine3, DQuat, DVec3};

const RINGS: u32 = 21;
const SIDES: u32 = 12;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The rest mesh and the bones; in your program they come from your own tools.
    let mesh = TriMesh::new(forearm(0.0), triangles())?;
    let wrist = DAffine3::from_translation(2.0 * DVec3::X);
    let skeleton = Skeleton::from_rest_frames([
        ("elbow".to_owned(), None, DAffine3::IDENTITY),
        ("wrist".to_owned(), Some(BoneId(0)), wrist),
    ])?;

    // An example is a pose of the bones and the mesh that belongs to it: the same points in the same order.
    let examples = (0..16).map(|k| {
        let twist = 0.15 * f64::from(k);
        let mut pose = skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_rotation_x(twist));
        let (name, positions) = (format!("twisted by {twist:.2}"), forearm(twist));
        Example {
            name,
            pose,
            positions,
        }
    });
    let set = ExampleSet::new(mesh, skeleton.clone(), examples.collect())?;

    // Every fourth example is kept from the fit: its error says what to expect in poses that nobody gave.
    let mut unseen = Vec::new();
    for key in ["lbs", "animation-space", "rotational-regression"] {
        let method = Method::from_key(key).ok_or("no such method")?;
        let fit = |training: &[usize]| method.fit(&set, training, &Silent);
        let report = evaluate_fit(&set, &Split::EveryNth(4), fit)?;
        let held_out = report
            .held_out
            .ok_or("nothing was held out")?
            .measured
            .total;
        println!(
            "{key:<22} E_RMS on poses it has not seen: {:.2}",
            held_out.e_rms
        );
        unseen.push(held_out.e_rms);
        // `report.skin` was fitted to all examples. It turns any pose into positions.
        report.skin.evaluate(&set.examples()[8].pose)?;
    }
    assert!(
        unseen[2] < 0.1 * unseen[0],
        "skin that turns follows a twist"
    );
    Ok(())
}

/// What the slow rig does: every ring turns, the more the nearer it is to the wrist.
fn forearm(twist: f64) -> Vec<DVec3> {
    let point = |at: u32| {
        let along = f64::from(at / SIDES) / f64::from(RINGS - 1);
        let turn = std::f64::consts::TAU * f64::from(at % SIDES) / f64::from(SIDES);
        let rest = DVec3::new(2.0 * along, 0.3 * turn.cos(), 0.2 * turn.sin());
        DQuat::from_rotation_x(twist * along) * rest
    };
    (0..RINGS * SIDES).map(point).collect()
}

/// Two triangles between each pair of neighbours on a ring and the next ring.
fn triangles() -> Vec<[u32; 3]> {
    let pair = |at: u32| [at, at / SIDES * SIDES + (at + 1) % SIDES];
    let field = |[a, b]: [u32; 2]| [[a, b, a + SIDES], [b, b + SIDES, a + SIDES]];
    (0..(RINGS - 1) * SIDES).map(pair).flat_map(field).collect()
}
