//! Every format, on real files and on files that dermis wrote.

use std::path::Path;

use dermis::mesh::Aabb;
use dermis::skin::{SsdProgram, Weight};
use dermis::{BoneId, Skeleton, Skin, VertexProgram};
use dermis_io::{
    Document, Format, Frame, PlyEncoding, SequenceOptions, WriteOptions, read, read_inputs, write,
};
use glam::{DAffine3, DVec3};

use crate::support;

fn read_data(relative: &str) -> Option<Document> {
    let path = support::data(relative)?;
    Some(read(&path).unwrap_or_else(|error| panic!("{error}")))
}

fn max_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many points");
    a.iter()
        .zip(b)
        .fold(0.0, |worst, (p, q)| p.distance(*q).max(worst))
}

fn as_f32(points: &[DVec3]) -> Vec<[f32; 3]> {
    points.iter().map(|p| p.as_vec3().to_array()).collect()
}

#[test]
fn makehuman_keeps_its_points_quads_and_groups() {
    let Some(document) = read_data("makehuman/base.obj") else {
        return;
    };
    assert_eq!(
        document.mesh.vertex_count(),
        19158,
        "every v line is a point"
    );
    let polygons = document.polygons.as_ref().expect("quads");
    assert!(polygons.counts.contains(&4), "quads stay quads");
    let body = &document.draw.parts[0];
    assert_eq!(body.mesh_name, "body", "the first group");
    assert_eq!(
        body.points.iter().max(),
        Some(&13379),
        "the first 13380 points"
    );
    assert!(document.draw.parts.len() > 100, "a part per group");
    assert!(!body.uvs.is_empty(), "UVs are kept");
}

#[test]
fn blender_skin_matrices_reproduce_blender_positions() {
    let Some(document) = read_data("bpy/tube_lbs/truth.npz") else {
        return;
    };
    let skin = document.skin.as_ref().expect("weights make a skin");
    assert_eq!(document.frames.len(), 40, "frames");
    assert_eq!(document.frame_poses.len(), 40, "a pose for each frame");
    assert!(document.polygons.is_some(), "the tube is made of quads");
    let diagonal = document.mesh.bounds().diagonal();
    for (frame, pose) in document.frames.iter().zip(&document.frame_poses) {
        let posed = skin.evaluate(pose).expect("the pose fits");
        let error = max_distance(&posed, &frame.positions) / diagonal;
        assert!(error < 1e-6, "frame {} is off by {error:e}", frame.name);
    }
}

#[test]
fn every_blender_archive_is_a_skin_with_poses() {
    for (name, vertices, bones, frames) in [
        ("tube_dqs", 2080, 3, 40),
        ("tube_surfdef", 2080, 3, 40),
        ("tube_cloth", 1696, 3, 80),
        ("hand_csmooth", 5426, 16, 100),
        ("makehuman_bulge", 13380, 152, 40),
        ("makehuman_csmooth", 13380, 152, 80),
        ("makehuman_cloth", 2037, 29, 100),
    ] {
        let Some(document) = read_data(&format!("bpy/{name}/truth.npz")) else {
            return;
        };
        let skin = document.skin.as_ref().expect("a skin");
        let vertex_count = document.mesh.vertex_count();
        let found = (
            vertex_count,
            skin.skeleton.bone_count(),
            document.frame_poses.len(),
        );
        assert_eq!(found, (vertices, bones, frames), "in {name}");
        // Blend skinning is near the truth, so bones, poses and weights belong together.
        let diagonal = document.mesh.bounds().diagonal();
        let posed = skin
            .evaluate(&document.frame_poses[frames / 2])
            .expect("the pose fits");
        let error = max_distance(&posed, &document.frames[frames / 2].positions) / diagonal;
        assert!(error < 0.2, "{name} is off by {error}");
        let span = Aabb::of(&posed).expect("points").diagonal();
        assert!(span > 0.3 * diagonal, "{name} collapsed to {span}");
    }
}

#[test]
fn an_archive_of_other_arrays_says_which_it_has() {
    let Some(path) = support::data("spot-sim/spot_helpers_extracted.npz") else {
        return;
    };
    let message = read(&path).expect_err("no rest, no positions").to_string();
    assert!(message.contains("verts_yoharol (180, 837, 3)"), "{message}");
    assert!(message.contains("`positions` (F, V, 3)"), "{message}");
}

#[test]
fn the_same_tube_is_in_npz_pc2_and_mdd() {
    let Some(npz) = support::data("bpy/tube_csmooth/truth.npz") else {
        return;
    };
    let expected = read(&npz).expect("valid npz");
    for extension in ["pc2", "mdd"] {
        let options = SequenceOptions {
            mesh: Some(npz.clone()),
            ..SequenceOptions::default()
        };
        let cache = read_inputs(&[npz.with_extension(extension)], &options).expect("a cache");
        assert_eq!(cache.frames.len(), 40, "frames of the {extension}");
        assert!(cache.skin.is_some(), "the mesh's own skin stays");
        assert!(cache.frame_poses.is_empty(), "the cache has no poses");
        for (a, b) in cache.frames.iter().zip(&expected.frames) {
            assert_eq!(
                as_f32(&a.positions),
                as_f32(&b.positions),
                "{} of {extension}",
                a.name
            );
        }
        let speed = cache.frames_per_second;
        assert_eq!(
            speed.is_some(),
            extension == "mdd",
            "only MDD has times, found {speed:?}"
        );
    }
}

#[test]
fn a_pc2_file_from_3ds_max_is_read() {
    let Some(folder) = support::data("fbx-ufbx/max_cache_box") else {
        return;
    };
    let cache = folder.join("max_cache_box.pc2");
    let message = read(&cache).expect_err("no mesh of that name").to_string();
    assert!(message.contains("max_cache_box.obj"), "{message}");

    let options = SequenceOptions {
        mesh: Some(folder.join("max_cache_box_44.obj")),
        ..SequenceOptions::default()
    };
    let document = read_inputs(&[cache], &options).expect("a cache and its mesh");
    assert_eq!(document.mesh.vertex_count(), 770, "points");
    assert_eq!(document.frames.len(), 11, "samples");
    assert_eq!(
        document.draw.parts[0].mesh_name, "Box001",
        "the OBJ's object"
    );
}

/// ```text
///       4          a tent: a quad floor 3 2 1 0 and two of its four sides,
///     / | \        with a loose point 5 far away
///    3 -|- 2
///   /   | /        bones: root at 0, tip at 1
///  0 --- 1
/// ```
fn moving_tent(folder: &Path) -> Document {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.1 0.2 0.3\nv 7 7 7\n\
        o tent\nusemtl cloth\nf 4 3 2 1\nf 1 2 5\nf 2 3 5\n";
    let obj = folder.join("tent.obj");
    std::fs::write(&obj, text).expect("written");
    let mut document = read(&obj).expect("valid OBJ");

    let lifted = |p: &DVec3, k: u8| (*p + f64::from(k) * DVec3::new(0.0, 0.1, p.x)).as_vec3();
    document.frames = (0..3)
        .map(|k| Frame {
            name: format!("lift {k} é"),
            positions: (document.mesh.positions().iter())
                .map(|p| lifted(p, k).as_dvec3())
                .collect(),
        })
        .collect();
    let skeleton = Skeleton::from_rest_frames([
        ("root".to_owned(), None, DAffine3::IDENTITY),
        (
            "tip".to_owned(),
            Some(BoneId(0)),
            DAffine3::from_translation(DVec3::X),
        ),
    ])
    .expect("two bones");
    document.frame_poses = (0..3u8)
        .map(|k| {
            let mut pose = skeleton.rest_pose();
            pose.parent_from_bone[1] *= DAffine3::from_rotation_z(0.5 * f64::from(k));
            pose
        })
        .collect();
    let weight = |bone, weight| Weight {
        bone: BoneId(bone),
        weight,
    };
    let weights = (0..6)
        .map(|i| match i {
            0 => vec![weight(0, 1.0)],
            _ => vec![weight(1, 0.75), weight(0, 0.25)],
        })
        .collect();
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions: document.mesh.positions().to_vec(),
        weights,
        corrections: Vec::new(),
    });
    document.skin = Some(Skin::new(skeleton, program, Vec::new()).expect("a skin"));
    document
}

#[test]
fn npz_keeps_every_part_of_a_document() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let document = moving_tent(folder.path());
    let path = folder.path().join("out.npz");
    let files = write(&path, &document, &WriteOptions::default()).expect("written");
    assert_eq!(files, [path.as_path()], "one file");
    let back = read(&path).expect("our own npz");
    assert_eq!(back.mesh, document.mesh, "rest and faces, bit for bit");
    assert_eq!(back.polygons, document.polygons, "polygons");
    assert_eq!(back.frames, document.frames, "frames and names");
    assert_eq!(back.skin, document.skin, "bones and weights");
    for (a, b) in back.frame_poses.iter().zip(&document.frame_poses) {
        for (m, n) in a.parent_from_bone.iter().zip(&b.parent_from_bone) {
            assert!(m.abs_diff_eq(*n, 1e-12), "pose {m:?}, expected {n:?}");
        }
    }
    assert_eq!(back.notes, Vec::<String>::new(), "nothing to remark");
}

#[test]
fn bones_without_weights_are_a_skeleton() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut document = moving_tent(folder.path());
    document.skeleton = document.skin.take().map(|skin| skin.skeleton);
    let path = folder.path().join("out.npz");
    write(&path, &document, &WriteOptions::default()).expect("written");
    let back = read(&path).expect("our own npz");
    assert_eq!(back.skeleton, document.skeleton, "the bones");
    assert!(back.skin.is_none(), "no weights, no skin");
    assert_eq!(back.frame_poses.len(), 3, "the poses");
}

#[test]
fn frames_are_written_as_numbered_files_and_read_back() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let document = moving_tent(folder.path());
    for (name, first) in [
        ("out.obj", "out_0001.obj"),
        ("packed.obj.gz", "packed_0001.obj.gz"),
        ("a.##.obj", "a.01.obj"),
        ("out.ply", "out_0001.ply"),
        ("b%03d.PLY", "b001.PLY"),
    ] {
        for ply in [
            PlyEncoding::Binary,
            PlyEncoding::BinaryBigEndian,
            PlyEncoding::Ascii,
        ] {
            let options = WriteOptions { ply };
            let files = write(&folder.path().join(name), &document, &options).expect("written");
            assert_eq!(files.len(), 3, "a file per frame");
            assert_eq!(files[0], folder.path().join(first), "numbered from 1");
            let back = read_inputs(&files, &SequenceOptions::default()).expect("our own files");
            assert_eq!(back.polygons, document.polygons, "polygons in {name}");
            assert_eq!(back.frames.len(), 3, "frames in {name}");
            for (a, b) in back.frames.iter().zip(&document.frames) {
                assert_eq!(
                    as_f32(&a.positions),
                    as_f32(&b.positions),
                    "{name}, {}",
                    b.name
                );
            }
        }
    }
}

#[test]
fn a_still_mesh_is_one_file_in_every_mesh_format() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut document = moving_tent(folder.path());
    document.frames.clear();
    document.frame_poses.clear();
    for name in ["still.obj", "still.ply", "still.npz"] {
        let path = folder.path().join(name);
        let files = write(&path, &document, &WriteOptions::default()).expect("written");
        assert_eq!(files, [path.as_path()], "the plain name");
        let back = read(&path).expect("our own file");
        let (a, b) = (back.mesh.positions(), document.mesh.positions());
        assert_eq!(as_f32(a), as_f32(b), "positions in {name}");
        assert_eq!(back.polygons, document.polygons, "polygons in {name}");
        assert_eq!(
            back.mesh.triangles(),
            document.mesh.triangles(),
            "triangles in {name}"
        );
        let size = std::fs::metadata(&path).expect("there").len();
        assert_eq!(back.facts.bytes, size, "the size of {name}");
        assert_eq!(back.path, path, "where it came from");
    }
    let obj = read(&folder.path().join("still.obj")).expect("our own file");
    assert_eq!(obj.draw.parts[0].mesh_name, "tent", "the object's name");
    assert_eq!(
        obj.materials.materials[0]["name"], "cloth",
        "the material's name"
    );
}

#[test]
fn a_point_cache_is_read_with_the_mesh_beside_it() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let document = moving_tent(folder.path());
    for name in ["tent.pc2", "tent.mdd"] {
        let path = folder.path().join(name);
        write(&path, &document, &WriteOptions::default()).expect("written");
        let back = read(&path).expect("tent.obj is beside it");
        assert_eq!(back.mesh, document.mesh, "the OBJ's mesh");
        for (a, b) in back.frames.iter().zip(&document.frames) {
            assert_eq!(a.positions, b.positions, "{name}, {}", b.name);
        }
    }
}

#[test]
fn materials_come_from_the_library_beside_the_mesh() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(
        at("a.mtl"),
        "newmtl red\nKd 1 0 0\nmap_Kd skin.png\nmap_Bump none.png\n",
    )
    .expect("written");
    std::fs::write(at("skin.png"), b"\x89PNG\r\n\x1a\n").expect("written");
    let text = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
    std::fs::write(at("a.obj"), text).expect("written");
    let document = read(&at("a.obj")).expect("valid OBJ");
    let look = &document.materials.materials[0]["pbrMetallicRoughness"];
    assert_eq!(
        look["baseColorFactor"],
        serde_json::json!([1.0, 0.0, 0.0, 1.0]),
        "Kd"
    );
    assert_eq!(look["baseColorTexture"]["index"], 0, "map_Kd");
    assert_eq!(
        document.materials.images[0].mime_type, "image/png",
        "the picture itself"
    );
    assert_eq!(document.notes, Vec::<String>::new(), "nothing is missing");
}

#[test]
fn frames_of_another_mesh_are_not_written() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut document = moving_tent(folder.path());
    document.frames[1].positions.pop();
    for format in Format::ALL {
        let path = folder.path().join("out").with_extension(format.extension());
        let error = write(&path, &document, &WriteOptions::default()).expect_err("5 of 6");
        assert!(
            error.to_string().contains("expected 6 positions, found 5"),
            "{error}"
        );
        assert!(!path.exists(), "nothing was written");
    }
}

#[test]
fn real_meshes_survive_every_format() {
    let Some(human) = read_data("makehuman/base.obj") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in ["human.obj", "human.ply", "human.npz"] {
        let path = folder.path().join(name);
        write(&path, &human, &WriteOptions::default()).expect("written");
        let back = read(&path).expect("our own file");
        assert_eq!(back.polygons, human.polygons, "polygons in {name}");
        assert_eq!(back.mesh, human.mesh, "positions, bit for bit, in {name}");
        if name.ends_with(".obj") {
            let seams = |d: &Document| {
                let parts = d.draw.parts.iter();
                parts
                    .map(|p| (p.mesh_name.clone(), p.points.clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(seams(&back), seams(&human), "groups and seams");
        }
    }
}
