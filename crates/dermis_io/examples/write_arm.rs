//! Writes examples of an arm made by formula: it bends, turns its hand by 180 degrees and flexes its biceps.
//!
//! `cargo run --release -p dermis_io --example write_arm -- arm.npz`, then `dermis fit arm.npz -o arm.glb`.

use std::path::PathBuf;

use dermis::synth::{ArmOptions, arm};
use dermis_io::{Document, Frame, WriteOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("expected a file to write, such as arm.npz")?;
    let made = arm(&ArmOptions::default());
    let examples = made.examples.examples();
    let document = Document {
        mesh: made.examples.rest().clone(),
        draw: made.draw,
        skeleton: Some(made.examples.skeleton().clone()),
        frames: (examples.iter())
            .map(|example| Frame {
                name: example.name.clone(),
                positions: example.positions.clone(),
            })
            .collect(),
        frame_poses: examples.iter().map(|e| e.pose.clone()).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    };
    dermis_io::write(&PathBuf::from(path), &document, &WriteOptions::default())?;
    Ok(())
}
