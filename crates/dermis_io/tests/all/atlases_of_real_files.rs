//! P6 on every mesh of the data sets: no triangle of an atlas is flipped, and no two overlap.

use dermis::Document;
use dermis::document::{AtlasOptions, PosesFor};
use dermis::progress::Silent;

use crate::overlaps::{assert_no_overlap, side};
use crate::support;

const FILES: &[&str] = &[
    "bpy/hand_csmooth/truth.npz",
    "bpy/makehuman_bulge/truth.npz",
    "bpy/makehuman_cloth/truth.npz",
    "bpy/makehuman_csmooth/truth.npz",
    "bpy/tube_cloth/truth.npz",
    "bpy/tube_csmooth/truth.npz",
    "bpy/tube_dqs/truth.npz",
    "bpy/tube_lbs/truth.npz",
    "bpy/tube_surfdef/truth.npz",
    "cat-poses/cat-poses-reference.obj",
    "crane/crane.npz",
    "face-poses/face-poses.npz",
    "gltf/Alien/Alien.gltf",
    "gltf/AnimatedMorphCube.glb",
    "gltf/CesiumMan.glb",
    "gltf/Cow.gltf",
    "gltf/Fox.glb",
    "gltf/InterpolationTest.glb",
    "gltf/MorphStressTest.glb",
    "gltf/Pug.gltf",
    "gltf/RecursiveSkeletons.glb",
    "gltf/RiggedFigure.glb",
    "gltf/RiggedSimple.glb",
    "gltf/RobotExpressive.glb",
    "gltf/SimpleMorph.gltf",
    "gltf/SimpleSkin.gltf",
    "gltf/r_hand_rhs.glb",
    "fbx-ufbx/max_cache_box/max_cache_box_44.obj",
    "fbx-ufbx/maya_dual_quaternion/maya_dual_quaternion.obj",
    "fbx-ufbx/maya_game_sausage/maya_game_sausage_deform_8.obj",
    "gltf-morph-sequences/Flamingo.glb",
    "gltf-morph-sequences/Horse.glb",
    "gltf-morph-sequences/Parrot.glb",
    "gt-cylinder/cylinder.obj",
    "gt-wolf/wolf.obj",
    "horse-collapse/horse-collapse.npz",
    "horse-gallop/horse-gallop.npz",
    "horse-poses/horse-poses-reference.obj",
    "makehuman/base.obj",
    "spot-sim/spot_helpers.obj",
];

#[test]
#[ignore = "slow: unwraps every mesh of the data sets"]
fn fact_p6_no_two_triangles_overlap_in_the_atlas_of_any_real_file() {
    for file in FILES {
        let Some(path) = support::data(file) else {
            return;
        };
        let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
        // What any pose would do is tested by the poses of a few; the rest shape is quicker to measure.
        let options = AtlasOptions {
            poses: PosesFor::Rest,
            ..AtlasOptions::default()
        };
        let unwrapped = document
            .unwrapped(&options, &Silent)
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        let triangles = document.draw.point_triangles();
        assert_no_overlap(&unwrapped.atlas, &triangles, file);
        assert_rounding_turns_nothing(&unwrapped.document, unwrapped.set, file);
        println!("{file}: {} triangles", triangles.len());
    }
}

/// What a file holds are floats of 32 bits: rounded so, a triangle may become a line, but never turn over.
fn assert_rounding_turns_nothing(document: &Document, set: usize, file: &str) {
    for part in &document.draw.parts {
        for (number, triangle) in part.triangles.iter().enumerate() {
            let [a, b, c] =
                triangle.map(|v| glam::Vec2::from_array(part.uvs[set][v as usize]).as_dvec2());
            // V runs down in files.
            assert!(
                side(a, b, c) <= 0.0,
                "{file}: triangle {number} of {}",
                part.mesh_name
            );
        }
    }
}
