//! Time and memory against triangles: a tube in finer and finer tessellations, simplified to a tenth.

use std::time::Instant;

use dermis::lod::{LevelTarget, LodOptions, simplify};
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::synth::{TubeOptions, tube};

pub fn print(most: usize) -> Result<(), Box<dyn std::error::Error>> {
    println!("| triangles | seconds | µs per triangle | peak memory |");
    println!("| ---: | ---: | ---: | ---: |");
    let mut triangles = 12_500;
    while triangles <= most {
        triangles *= 2;
        let around = ((triangles as f64 / 8.0).sqrt() as usize).max(8);
        let made = tube(&TubeOptions {
            ring_count: triangles / (2 * around) + 1,
            segment_count: around,
            bone_count: 4,
            example_count: 20,
        });
        let mesh = made.examples.rest();
        let draw = DrawMesh::plain("", mesh.vertex_count(), mesh.triangles());
        let poses: Vec<_> = made
            .examples
            .examples()
            .iter()
            .map(|e| e.pose.clone())
            .collect();
        let count = mesh.triangles().len();
        let start = Instant::now();
        let targets = [LevelTarget::Triangles(count / 10)];
        let options = LodOptions::default();
        simplify(
            &made.truth,
            mesh,
            &draw,
            &poses,
            &targets,
            &options,
            None,
            &Silent,
        )?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "| {count} | {seconds:.2} | {:.2} | {:.0} MB |",
            1e6 * seconds / count as f64,
            peak_megabytes()?
        );
    }
    Ok(())
}

/// The most memory that this process has had.
fn peak_megabytes() -> Result<f64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line
        .and_then(|line| line.split_whitespace().next())
        .ok_or("no VmHWM")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
