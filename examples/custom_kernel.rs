//! A kernel of one's own on the packed numbers of a skin: what is in them, and that it agrees with ours.
//!
//! `cargo run --example custom_kernel`; explained in docs/examples/custom_kernel.md.

use dermis::run::{BLOCK, Output, PackOptions, PackedBlock, PackedSkin, PaletteEntry};
use dermis::synth::{BodyOptions, body};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Packing puts sixteen vertices that the same bones move into a block.
    let body = body(&BodyOptions::default());
    let packed = PackedSkin::new(&body.skin, &PackOptions::default())?;
    let blocks: Vec<PackedBlock<'_>> = packed.blocks().ok_or("packed in 16 bits")?.collect();
    println!(
        "{} vertices in {} blocks",
        packed.vertex_count(),
        blocks.len()
    );
    println!("bones of the first block: {:?}", blocks[0].bones);
    println!(
        "planes before the bones, and per bone: {:?}",
        blocks[0].plane_counts
    );

    // Once a frame: a matrix per bone. Then every block; `slots` says where a vertex is in the results.
    let frame = packed.frame(&body.skin.run_pose_program(&body.pose)?)?;
    let posed = blocks
        .iter()
        .flat_map(|block| linear_blend(block, &frame.palette));
    let posed: Vec<[f32; 3]> = posed.collect();
    let slots = packed.slots();

    // The same frame by the kernels of dermis, in the order of the vertices.
    let mut positions = vec![[0.0; 3]; packed.vertex_count()];
    let out = Output::Vertices {
        positions: &mut positions,
        normals: None,
    };
    packed.evaluate(&frame.inputs(), out)?;
    let apart = positions.iter().zip(slots).flat_map(|(expected, slot)| {
        let found = posed[slot as usize];
        (0..3).map(move |c| f64::from((found[c] - expected[c]).abs()))
    });
    let worst = apart.fold(0.0, f64::max) / body.skin.size()?;
    println!("largest difference to dermis: {worst:.1e} of the size");
    assert!(worst < 1e-6, "the same model, to rounding");
    Ok(())
}

/// Sixteen vertices of linear blend skinning: blend the matrices by weight, then move the rest positions.
///
/// The innermost loop runs over the lanes, which lie side by side: compilers vectorise it, and a GPU gives each lane
/// to a thread. All lanes use the same bones, so nothing is gathered.
fn linear_blend(block: &PackedBlock<'_>, palette: &[PaletteEntry]) -> [[f32; 3]; BLOCK] {
    let mut blended = [[[0.0f32; BLOCK]; 3]; 4];
    for (bone, weights) in block.bone_planes() {
        for (column, row) in (0..4).flat_map(|c| (0..3).map(move |r| (c, r))) {
            let entry = palette[bone].columns[column][row];
            for (sum, weight) in blended[column][row].iter_mut().zip(&weights[0].0) {
                *sum += weight * entry;
            }
        }
    }
    let rest = block.fixed_planes();
    std::array::from_fn(|lane| {
        [0, 1, 2].map(|row| {
            let turned = (0..3).map(|c| blended[c][row][lane] * rest[c].0[lane]);
            turned.sum::<f32>() + blended[3][row][lane]
        })
    })
}
