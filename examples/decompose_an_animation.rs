//! A mesh that moves, without bones, becomes a skin with a clip that every glTF player shows.
//!
//! `cargo run --release --example decompose_an_animation`; explained in docs/examples/decompose_an_animation.md.

use std::path::Path;

use dermis::document::{decomposed_document, playable_decomposition, playable_e_rms};
use dermis::fit::{BoneCount, DecomposeOptions, decompose};
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::synth::{FlagOptions, flag};
use dermis_io::Document;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // All that is known: where each point is in every frame. `MeshAnimation::new` takes your own arrays,
    // `dermis_io::read_animation` reads files.
    let (width, height, frame_count) = (31, 21, 60);
    let animation = flag(&FlagOptions {
        width,
        height,
        frame_count,
    });
    let points = animation.vertex_count();

    let mut errors = Vec::new();
    for bone_count in [4, 8, 16] {
        let bones = BoneCount::Exactly(bone_count);
        let options = DecomposeOptions {
            bones,
            ..Default::default()
        };
        let found = decompose(&animation, &options, &Silent)?;

        // Players know translations, rotations and scales, but no shear: a bone that shears becomes two nested
        // nodes. Keys that add less than a tenth of the error are left out.
        let playable = playable_decomposition(&animation, &found, 0.1 * found.e_rms)?;
        let shown = playable_e_rms(&animation, &playable)?;

        // The file, here in memory; `dermis_io::write` puts a document on the disk.
        let rest = animation.rest();
        let look = Document {
            mesh: rest.clone(),
            draw: DrawMesh::plain("flag", points, rest.triangles()),
            ..Document::default()
        };
        let document = decomposed_document(&playable, &found.measures(&animation)?, look);
        let bytes = dermis_io::gltf::to_glb(&document)?;
        println!(
            "{bone_count} bones: E_RMS {:.2}, {shown:.2} as played, {} bytes",
            found.e_rms,
            bytes.len()
        );
        assert!(
            shown < 1.2 * found.e_rms,
            "leaving keys out costs about a tenth"
        );

        let read = dermis_io::gltf::read(Path::new("flag.glb"), &bytes)?;
        assert_eq!(read.clips.len(), 1, "the animation is the clip of the skin");
        errors.push(found.e_rms);
    }
    println!(
        "positions of all frames: {} bytes",
        12 * points * frame_count
    );
    assert!(
        errors.is_sorted_by(|few, many| few > many),
        "more bones, less error"
    );
    Ok(())
}
