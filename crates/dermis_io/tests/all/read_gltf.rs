//! Real glTF files, made by many exporters.

use std::io::Read as _;

use dermis::Skin;
use dermis::clip::{Channel, Interpolation};
use dermis_io::Document;
use glam::{DMat4, DVec3};

use crate::support;

/// Reads a file of the data sets, and makes the checks that apply to every file.
fn read(relative: &str) -> Option<Document> {
    let path = support::data(relative)?;
    let bytes = std::fs::read(&path).expect("the file opens");
    let document = dermis_io::gltf::read(&path, &bytes).expect("the file is legal");
    let points = document.mesh.vertex_count();
    for part in &document.draw.parts {
        let vertices = part.points.len();
        for length in [part.normals.len(), part.tangents.len()] {
            assert!(length == 0 || length == vertices, "one per vertex or none");
        }
        assert!(
            part.uvs.iter().all(|uv| uv.len() == vertices),
            "one UV each"
        );
    }
    if let Some(skin) = &document.skin {
        assert_eq!(skin.vertex_count(), points, "a row per point");
        for clip in &document.clips {
            let span = clip.end() - clip.start();
            for k in 0..=8 {
                let time = clip.start() + span * f64::from(k) / 8.0;
                let posed = skin
                    .evaluate(&skin.sample(clip, time))
                    .expect("the clip fits");
                let finite = posed.iter().all(|p| p.is_finite());
                assert!(finite, "{} at {time} s", clip.name);
            }
        }
    }
    Some(document)
}

fn skin(document: &Document) -> &Skin {
    document.skin.as_ref().expect("the file has motion")
}

/// Drawn vertices, points, triangles, bones and clips.
fn counts(document: &Document) -> [usize; 5] {
    [
        document.draw.vertex_count(),
        document.mesh.vertex_count(),
        document.mesh.triangles().len(),
        document
            .skin
            .as_ref()
            .map_or(0, |s| s.skeleton.bone_count()),
        document.clips.len(),
    ]
}

#[test]
fn rigged_characters_have_the_points_that_were_modelled() {
    // The fox's and the man's points are as many as their positions: no weights differ at a seam.
    // Bones are the joints and the nodes above them.
    for (file, expected) in [
        ("Fox.glb", [1728, 290, 576, 25, 3]),
        ("CesiumMan.glb", [3273, 2338, 4672, 21, 1]),
        ("RiggedFigure.glb", [370, 130, 256, 21, 1]),
        ("RiggedSimple.glb", [160, 96, 188, 4, 1]),
        ("Cow.gltf", [1644, 400, 796, 29, 5]),
        ("Pug.gltf", [1284, 324, 644, 25, 5]),
        ("r_hand_rhs.glb", [1070, 906, 1808, 26, 0]),
        ("SimpleSkin.gltf", [10, 10, 8, 2, 1]),
    ] {
        let Some(document) = read(&format!("gltf/{file}")) else {
            return;
        };
        assert_eq!(counts(&document), expected, "{file}");
        assert!(document.notes.is_empty(), "{file}: {:?}", document.notes);
    }
}

#[test]
fn the_default_pose_of_the_fox_is_its_bind_pose() {
    let Some(fox) = read("gltf/Fox.glb") else {
        return;
    };
    let still = skin(&fox).evaluate(&skin(&fox).skeleton.default_pose());
    let still = still.expect("the pose fits");
    let tolerance = 1e-6 * fox.mesh.bounds().diagonal();
    for (found, rest) in still.iter().zip(fox.mesh.positions()) {
        assert!(found.abs_diff_eq(*rest, tolerance), "{found} is {rest}");
    }
    assert_eq!(fox.materials.images.len(), 1, "one texture");
    assert_eq!(
        fox.materials.images[0].mime_type, "image/png",
        "of that kind"
    );
}

#[test]
fn repairs_of_the_robot_are_one_note() {
    let Some(robot) = read("gltf/RobotExpressive.glb") else {
        return;
    };
    assert_eq!(counts(&robot), [7214, 1820, 3237, 57, 14], "19 primitives");
    assert_eq!(
        robot.notes,
        ["the weights of 752 vertices did not sum to 1 (the worst sum is 1.7551) and were scaled"],
        "one note for the whole file"
    );
    let names: Vec<_> = skin(&robot).coefficients.iter().map(|c| &*c.name).collect();
    assert_eq!(names, ["Angry", "Surprised", "Sad"], "its expressions");
}

#[test]
fn skeletons_that_share_one_mesh_each_move_their_own_copy() {
    let Some(document) = read("gltf/RecursiveSkeletons.glb") else {
        return;
    };
    assert_eq!(
        counts(&document),
        [3360, 3360, 6384, 840, 1],
        "84 skins of 10 joints"
    );
    assert_eq!(document.draw.parts.len(), 84, "one part per mesh node");
    assert_eq!(document.facts.mesh_count, 1, "of one mesh");
    assert_eq!(document.facts.joints_of_skin, [10; 84], "as the file says");
}

#[test]
fn every_kind_of_interpolation_is_read() {
    let Some(document) = read("gltf/InterpolationTest.glb") else {
        return;
    };
    assert_eq!(
        counts(&document),
        [220, 76, 110, 10, 9],
        "nine cubes and a board"
    );
    let kinds: Vec<_> = (document.clips.iter())
        .map(|clip| match &clip.channels[0] {
            Channel::Translation(_, keys) | Channel::Scale(_, keys) => keys.interpolation,
            Channel::Rotation(_, keys) => keys.interpolation,
            Channel::Coefficients(_, keys) => keys.interpolation,
        })
        .collect();
    for kind in [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::Cubic,
    ] {
        let count = kinds.iter().filter(|k| **k == kind).count();
        assert_eq!(count, 3, "{kind:?} for translation, rotation and scale");
    }
}

#[test]
fn the_alien_is_read_without_its_missing_textures() {
    let Some(alien) = read("gltf/Alien/Alien.gltf") else {
        return;
    };
    assert_eq!(
        counts(&alien),
        [13429, 12626, 25222, 11, 1],
        "skins and morphs"
    );
    assert_eq!(alien.notes.len(), 3, "{:?}", alien.notes);
    for (note, file) in alien.notes.iter().zip(["baseColor", "occlusion", "normal"]) {
        assert!(
            note.contains(&format!("Alien_{file}")),
            "{note} names the file"
        );
    }
    assert!(alien.materials.images.is_empty(), "no picture");
    assert!(alien.materials.textures.is_empty(), "so no texture");
    let material = alien.materials.materials[0].to_string();
    assert!(
        !material.contains("Texture"),
        "and no reference: {material}"
    );
    let beside = support::data("gltf/Alien/Alien.bin").expect("it was read");
    let beside = beside.metadata().expect("it is a file").len();
    assert!(alien.facts.bytes > beside, "the buffer beside counts");
}

#[test]
fn morph_targets_are_corrections() {
    for (file, expected, targets) in [
        ("gltf/MorphStressTest.glb", [1528, 1224, 2412, 1, 3], 8),
        ("gltf/AnimatedMorphCube.glb", [24, 8, 12, 1, 1], 2),
        ("gltf/SimpleMorph.gltf", [3, 3, 1, 1, 1], 2),
        ("gltf-morph-sequences/Horse.glb", [796, 494, 984, 1, 1], 15),
        (
            "gltf-morph-sequences/Flamingo.glb",
            [337, 273, 542, 1, 1],
            14,
        ),
        ("gltf-morph-sequences/Parrot.glb", [497, 315, 626, 1, 1], 12),
    ] {
        let Some(document) = read(file) else {
            return;
        };
        assert_eq!(counts(&document), expected, "{file}");
        assert_eq!(skin(&document).coefficients.len(), targets, "{file}");
        assert_eq!(document.facts.morph_targets_of_mesh, [targets], "{file}");
        let clip = &document.clips[0];
        let pose = skin(&document).sample(clip, 0.5 * (clip.start() + clip.end()));
        let posed = skin(&document).evaluate(&pose).expect("the clip fits");
        assert_ne!(posed, document.mesh.positions(), "{file} moves");
    }
}

/// One array of an npz file.
fn array(npz: &std::path::Path, name: &str) -> Vec<f64> {
    let file = std::fs::File::open(npz).expect("the file opens");
    let mut archive = zip::ZipArchive::new(file).expect("npz is zip");
    let mut bytes = Vec::new();
    let mut member = archive
        .by_name(&format!("{name}.npy"))
        .expect("it is there");
    member.read_to_end(&mut bytes).expect("it unpacks");
    // Magic and version, the header's length in two bytes, the header, then the numbers.
    let header_length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, values) = bytes[10..].split_at(header_length);
    assert!(
        String::from_utf8_lossy(header).contains("'<f4'"),
        "single precision"
    );
    let values = values.as_chunks().0.iter();
    values.map(|&b| f64::from(f32::from_le_bytes(b))).collect()
}

/// Blender's own weights and bone matrices, blended here, against its GLB of the same rig.
#[test]
fn a_clip_from_blender_plays_as_in_blender() {
    let Some(document) = read("bpy/tube_csmooth/truth.glb") else {
        return;
    };
    let npz = support::data("bpy/tube_csmooth/truth.npz").expect("beside the GLB");
    let points = |name: &str| -> Vec<DVec3> {
        let values = array(&npz, name);
        values.chunks_exact(3).map(DVec3::from_slice).collect()
    };
    // Row by row in the file, so each is the transpose of its matrix.
    let matrices = |name: &str| -> Vec<DMat4> {
        let values = array(&npz, name);
        let rows = values.chunks_exact(16).map(DMat4::from_cols_slice);
        rows.map(|m| m.transpose()).collect()
    };
    // Blender's z is up; its glTF has y up.
    let y_up = |p: DVec3| DVec3::new(p.x, p.z, -p.y);
    let rest = points("rest");
    let (bone_rest, bone_pose) = (matrices("bone_rest"), matrices("bone_pose"));
    let weights = array(&npz, "weights");
    let bone_count = bone_rest.len();
    let index_of: Vec<usize> = (document.mesh.positions().iter())
        .map(|p| {
            let distance = |i: &usize| y_up(rest[*i]).distance_squared(*p);
            let nearest = (0..rest.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.expect("there are points")
        })
        .collect();
    let skin = skin(&document);
    let mut farthest = 0.0f64;
    for (frame, pose) in bone_pose.chunks_exact(bone_count).enumerate() {
        // Blender's first frame is number 1, at 24 frames a second.
        let time = (frame + 1) as f64 / 24.0;
        let posed = skin.evaluate(&skin.sample(&document.clips[0], time));
        for (found, &i) in posed.expect("the clip fits").iter().zip(&index_of) {
            let blended: DVec3 = (0..bone_count)
                .map(|j| {
                    let posed_from_rest = pose[j] * bone_rest[j].inverse();
                    weights[i * bone_count + j] * posed_from_rest.transform_point3(rest[i])
                })
                .sum();
            farthest = farthest.max(found.distance(y_up(blended)));
        }
    }
    let diagonal = document.mesh.bounds().diagonal();
    assert!(farthest < 1e-6 * diagonal, "found {farthest} of {diagonal}");
}
