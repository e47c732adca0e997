//! A format keeps exactly the content that its row in the table of formats lists.

use std::path::Path;

use dermis::clip::Clip;
use dermis::mesh::{DrawMesh, Polygons};
use dermis::skin::{SsdProgram, Weight};
use dermis::{BoneId, Skeleton, Skin, TriMesh, VertexProgram};
use dermis_io::{
    Content, Document, Format, Frame, FrameStorage, SequenceOptions, SkinRecord, WriteOptions,
    read, read_inputs, to_bytes, write,
};
use glam::{DAffine3, DVec3};

/// A square and a triangle on it, moved by two bones, in three frames with their poses: all content that a
/// format can list.
fn everything() -> Document {
    let positions = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(1.0, 1.0, 0.0),
        DVec3::Y,
        DVec3::new(0.5, 1.5, 0.25),
    ];
    let polygons = Polygons {
        counts: vec![4, 3],
        corners: vec![0, 1, 2, 3, 3, 2, 4],
    };
    let triangles = vec![[0, 1, 2], [0, 2, 3], [3, 2, 4]];
    let skeleton = Skeleton::from_rest_frames([
        ("root".to_owned(), None, DAffine3::IDENTITY),
        (
            "tip".to_owned(),
            Some(BoneId(0)),
            DAffine3::from_translation(DVec3::Y),
        ),
    ])
    .expect("two bones");
    let poses: Vec<_> = (0..3)
        .map(|k| {
            let mut pose = skeleton.rest_pose();
            pose.parent_from_bone[1] *= DAffine3::from_rotation_x(0.25 * f64::from(k));
            pose
        })
        .collect();
    let bone_of_vertex = |i: usize| BoneId(u16::from(i > 2));
    let weights = (0..5).map(|i| {
        vec![Weight {
            bone: bone_of_vertex(i),
            weight: 1.0,
        }]
    });
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions: positions.clone(),
        weights: weights.collect(),
        corrections: Vec::new(),
    });
    let clip = Clip::from_poses("nod", &skeleton, &poses, 24.0).expect("poses that only turn");
    let frames: Vec<Frame> = (0..3)
        .map(|k| Frame {
            name: format!("frame_{k}"),
            positions: (positions.iter())
                .map(|p| *p + f64::from(k) * DVec3::new(0.0, 0.0, 0.5 * p.y))
                .collect(),
        })
        .collect();
    Document {
        draw: DrawMesh::plain("mesh", 5, &triangles),
        mesh: TriMesh::new(positions, triangles).expect("a mesh"),
        polygons: Some(polygons),
        skin: Some(Skin::new(skeleton, program, Vec::new()).expect("a skin")),
        clips: vec![clip],
        frames,
        frame_poses: poses,
        frames_per_second: Some(24.0),
        record: Some(SkinRecord {
            method: "made by hand".to_owned(),
            ..SkinRecord::default()
        }),
        ..Document::default()
    }
}

/// Writes a document and reads it back, with the mesh that a point cache needs beside it.
fn round_trip(document: &Document, format: Format, folder: &Path) -> Document {
    let path = folder.join("it").with_extension(format.extension());
    let files = write(&path, document, &WriteOptions::default())
        .unwrap_or_else(|error| panic!("{format:?}: {error}"));
    let one = [path];
    let files = match format.frames() {
        FrameStorage::FileEach => &files[..],
        FrameStorage::OneFile | FrameStorage::MorphTargets => &one[..],
    };
    let mut options = SequenceOptions::default();
    if format.is_point_cache() {
        let bare = Document {
            mesh: document.mesh.clone(),
            draw: document.draw.clone(),
            ..Document::default()
        };
        let mesh = folder.join("mesh.ply");
        write(&mesh, &bare, &WriteOptions::default()).expect("a mesh");
        options.mesh = Some(mesh);
    }
    read_inputs(files, &options).unwrap_or_else(|error| panic!("{format:?}: {error}"))
}

/// The document without frames, for formats that hold either a skin or frames.
fn without_frames(document: &Document) -> Document {
    Document {
        frames: Vec::new(),
        frame_poses: Vec::new(),
        ..document.clone()
    }
}

fn formats() -> impl Iterator<Item = Format> {
    (Format::ALL.into_iter()).filter(|format| format.is_read() && format.is_written())
}

#[test]
fn formats_of_one_file_are_made_in_memory_and_those_of_text_are_text() {
    let document = without_frames(&everything());
    for format in Format::ALL.into_iter().filter(|f| f.is_written()) {
        let made = to_bytes(&document, format, &WriteOptions::default());
        assert_eq!(made.is_err(), format.needs_files_beside(), "{format:?}");
        if let Ok(bytes) = made {
            let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
            assert_eq!(is_text, format.is_text(), "{format:?}");
        }
    }
}

#[test]
fn a_format_keeps_the_content_in_its_row_and_no_other() {
    for format in formats() {
        let all = everything();
        let written = match format.frames() {
            FrameStorage::MorphTargets => without_frames(&all),
            FrameStorage::OneFile | FrameStorage::FileEach => all.clone(),
        };
        let folder = tempfile::tempdir().expect("a scratch folder");
        let back = round_trip(&written, format, folder.path());
        let clip_names = |d: &Document| d.clips.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        for (content, is_back, is_there) in [
            (
                Content::Polygons,
                back.polygons == all.polygons,
                back.polygons.is_some(),
            ),
            (
                Content::Skin,
                back.skin.as_ref().map(shown) == all.skin.as_ref().map(shown),
                back.skin.is_some(),
            ),
            (
                Content::Clips,
                clip_names(&back) == clip_names(&all),
                !back.clips.is_empty(),
            ),
            (
                Content::Record,
                (back.record.as_ref()).is_some_and(|r| r.method == "made by hand"),
                back.record.is_some(),
            ),
            (
                Content::FramePoses,
                back.frame_poses == all.frame_poses,
                !back.frame_poses.is_empty(),
            ),
        ] {
            match format.holds(content) {
                true => assert!(is_back, "{format:?} holds {content:?}"),
                false => assert!(!is_there, "{format:?} does not hold {content:?}"),
            }
        }
        assert_eq!(back.mesh.vertex_count(), 5, "points of {format:?}");
    }
}

/// Bones, and where they take the points when the second one turns.
fn shown(skin: &Skin) -> (Vec<String>, Vec<[i64; 3]>) {
    let names = skin.skeleton.bones().iter().map(|bone| bone.name.clone());
    let mut pose = skin.skeleton.rest_pose();
    pose.parent_from_bone[1] *= DAffine3::from_rotation_z(0.5);
    let positions = skin.evaluate(&pose).expect("its own pose");
    let rounded = |p: &DVec3| p.to_array().map(|x| (x * 1e5).round() as i64);
    (names.collect(), positions.iter().map(rounded).collect())
}

#[test]
fn a_format_holds_faces_or_is_a_point_cache() {
    for format in formats() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("it").with_extension(format.extension());
        write(
            &path,
            &without_frames(&everything()),
            &WriteOptions::default(),
        )
        .expect("written");
        let alone = read(&path);
        match format.holds(Content::Faces) {
            true => assert_eq!(
                alone.expect("a mesh").mesh.triangles().len(),
                3,
                "triangles of {format:?}"
            ),
            false => assert!(alone.is_err(), "{format:?} needs a mesh"),
        }
    }
}

#[test]
fn every_format_keeps_frames() {
    for format in formats() {
        let mut all = everything();
        all.skin = None;
        all.clips.clear();
        all.frame_poses.clear();
        all.record = None;
        let folder = tempfile::tempdir().expect("a scratch folder");
        let back = round_trip(&all, format, folder.path());
        let frames: Vec<Vec<DVec3>> = match format.frames() {
            FrameStorage::OneFile | FrameStorage::FileEach => {
                (back.frames.iter()).map(|f| f.positions.clone()).collect()
            }
            FrameStorage::MorphTargets => {
                let skin = back.skin.as_ref().expect("morph targets");
                assert_eq!(back.clips.len(), 1, "a clip of {format:?}");
                let at = |k: usize| back.clips[0].start() + k as f64 / 24.0;
                let show = |k| skin.evaluate(&skin.sample(&back.clips[0], at(k)));
                (0..3).map(|k| show(k).expect("its own clip")).collect()
            }
        };
        assert_eq!(frames.len(), 3, "frames of {format:?}");
        for (found, expected) in frames.iter().zip(&all.frames) {
            for (a, b) in found.iter().zip(&expected.positions) {
                assert!(a.distance(*b) < 1e-6, "{format:?}: {a} instead of {b}");
            }
        }
    }
}

#[test]
fn only_formats_listed_as_gzipped_are_compressed() {
    for format in Format::ALL {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join(format!("it.{}.gz", format.extension()));
        let written = write(
            &path,
            &without_frames(&everything()),
            &WriteOptions::default(),
        );
        assert_eq!(written.is_ok(), format.may_be_gzipped(), "{format:?}");
        if format.may_be_gzipped() {
            assert_eq!(
                read(&path).expect("our own").mesh.vertex_count(),
                5,
                "{format:?}"
            );
        }
    }
}
