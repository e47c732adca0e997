//! Writes a flag in the wind, made by formula: a mesh animation to try `dermis decompose` on.
//!
//! `cargo run --release -p dermis_io --example write_flag -- flag.npz`; any format for sequences will do.

use std::path::PathBuf;

use dermis::synth::{FlagOptions, flag};
use dermis_io::{Document, Frame, WriteOptions};
use glam::DVec3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os()
        .nth(1)
        .ok_or("expected a file to write, such as flag.npz")?;
    let made = flag(&FlagOptions::default());
    let frame = |(number, positions): (usize, &[DVec3])| Frame {
        name: format!("frame_{number:03}"),
        positions: positions.to_vec(),
    };
    let document = Document {
        mesh: made.rest().clone(),
        frames: made.frames().enumerate().map(frame).collect(),
        frames_per_second: Some(made.clips()[0].frames_per_second),
        ..Document::default()
    };
    dermis_io::write(&PathBuf::from(path), &document, &WriteOptions::default())?;
    Ok(())
}
