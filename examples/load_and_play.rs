//! Reads a GLB, plays its clip, and fills the vertex buffer that a renderer draws.
//!
//! `cargo run --example load_and_play`; explained in docs/examples/load_and_play.md.

use std::path::Path;

use dermis::run::{Player, PlayerOptions};
use glam::Vec3;

/// A file that ships with dermis: any other skinned glTF file will do.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/dermis_skin_v1.glb");
/// Numbers per vertex in our buffer: position, normal, and two that we keep for UVs.
const STRIDE: usize = 8;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Once per character: read it, and pack it for the run-time.
    let file = dermis_io::read(Path::new(FILE))?;
    let mut player = Player::new(&file, &PlayerOptions::default())?;
    let clip = file.clips.first().ok_or("the file has no clip")?;
    let [start, end] = player.clip_range(&clip.name)?;
    println!("clip '{}', {start:.2} s to {end:.2} s", clip.name);

    // A point with two normals or UVs is drawn as two vertices. The player works on drawn vertices, part after
    // part, so the file's own index buffers fit its results.
    let (points, vertices) = (file.mesh.vertex_count(), player.positions().len());
    println!("{points} points, drawn as {vertices} vertices");
    let mut buffer = vec![0.0f32; STRIDE * vertices];

    // Every frame. Nothing here allocates.
    for frame in 0..4 {
        let time = 0.15 * f64::from(frame);
        player.play_looped(&clip.name, time)?;
        player.write_interleaved(STRIDE, &mut buffer)?;
        let tip = &buffer[STRIDE * (vertices - 1)..];
        println!("{time:.2} s: the last vertex is at {:.3?}", &tip[..3]);
    }

    // The run-time works in 32 bits, many vertices at a time; the plain code in 64 bits, one by one. They agree.
    let skin = file.expect_skin()?;
    let size = skin.size()?;
    let exact = skin.evaluate(&skin.sample(clip, end))?;
    player.play(&clip.name, end)?;
    let drawn = file.draw.parts.iter().flat_map(|part| &part.points);
    let apart = drawn.zip(player.positions()).map(|(&point, at)| {
        let at = Vec3::from_array(*at).as_dvec3();
        exact[point as usize].distance(at) / size
    });
    let worst = apart.fold(0.0, f64::max);
    println!("largest difference to the plain evaluation: {worst:.1e} of the size");
    assert!(worst < 1e-6, "two evaluations of one model");
    Ok(())
}
