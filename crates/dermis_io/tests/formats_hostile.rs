//! Damaged files of every format: an error or a document, never a panic, never much memory.

use std::path::{Path, PathBuf};

use dermis_io::{
    Document, Frame, PlyEncoding, SequenceOptions, WriteOptions, read, read_inputs, write,
};
use glam::DVec3;

const MESH: &str = "mtllib a.mtl\no body\nv 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1.5e-3\n\
    vt 0 0\nvt 1 0.5\nvn 0 0 1\nusemtl skin\nf 1/1/1 2/2/1 3/1/1 -2/2/1\ng tail\nf 1 2 5\nl 1 2\n";

/// Small files of every format of ours, each with what it takes to read it.
fn samples(folder: &Path) -> Vec<(PathBuf, SequenceOptions)> {
    let at = |name: &str| folder.join(name);
    std::fs::write(at("mesh.obj"), MESH).expect("written");
    let mut document = read(&at("mesh.obj")).expect("valid OBJ");
    let plain = SequenceOptions::default();
    let with_mesh = SequenceOptions {
        mesh: Some(at("mesh.obj")),
        ..SequenceOptions::default()
    };
    let mut samples = vec![(at("mesh.obj"), plain.clone())];
    for (name, ply) in [
        ("binary.ply", PlyEncoding::Binary),
        ("ascii.ply", PlyEncoding::Ascii),
    ] {
        let options = WriteOptions {
            ply,
            ..WriteOptions::default()
        };
        write(&at(name), &document, &options).expect("written");
        samples.push((at(name), plain.clone()));
    }
    write(&at("packed.obj.gz"), &document, &WriteOptions::default()).expect("written");
    samples.push((at("packed.obj.gz"), plain.clone()));
    document.frames = (0..2u8)
        .map(|k| Frame {
            name: format!("f{k}"),
            positions: vec![DVec3::splat(f64::from(k)); 5],
        })
        .collect();
    let skeleton = dermis::Skeleton::from_rest_frames([
        ("a".to_owned(), None, glam::DAffine3::IDENTITY),
        (
            "b".to_owned(),
            Some(dermis::BoneId(0)),
            glam::DAffine3::IDENTITY,
        ),
    ])
    .expect("two bones");
    document.frame_poses = vec![skeleton.rest_pose(); 2];
    let program = dermis::VertexProgram::Ssd(dermis::skin::SsdProgram {
        rest_positions: document.mesh.positions().to_vec(),
        weights: (0..5)
            .map(|_| {
                [dermis::skin::Weight {
                    bone: dermis::BoneId(1),
                    weight: 1.0,
                }]
            })
            .collect(),
        corrections: Vec::new(),
    });
    document.skin = Some(dermis::Skin::new(skeleton, program, Vec::new()).expect("a skin"));
    for (name, options) in [
        ("a.npz", &plain),
        ("a.pc2", &with_mesh),
        ("a.mdd", &with_mesh),
    ] {
        write(&at(name), &document, &WriteOptions::default()).expect("written");
        samples.push((at(name), options.clone()));
    }
    samples
}

/// Reads bytes under a sample's name; what comes out must hold together.
fn try_read(scratch: &Path, sample: &Path, bytes: &[u8], options: &SequenceOptions) {
    let name = sample.file_name().expect("samples have names");
    let path = scratch.join(name);
    std::fs::write(&path, bytes).expect("written");
    if let Ok(document) = read_inputs(&[&path], options) {
        check(&document);
    }
}

fn check(document: &Document) {
    let count = document.mesh.vertex_count();
    assert!(count > 0, "a document has points");
    for frame in &document.frames {
        assert_eq!(
            frame.positions.len(),
            count,
            "frames have the mesh's points"
        );
    }
    for part in &document.draw.parts {
        let vertices = part.points.len();
        assert!(
            part.points.iter().all(|&p| (p as usize) < count),
            "points exist"
        );
        let corners = part.triangles.iter().flatten();
        assert!(
            corners.copied().all(|v| (v as usize) < vertices),
            "vertices exist"
        );
        assert!(
            part.normals.is_empty() || part.normals.len() == vertices,
            "normals fit"
        );
        assert!(part.uvs.iter().all(|uvs| uvs.len() == vertices), "UVs fit");
        let material_count = document.materials.materials.len();
        assert!(
            part.material.is_none_or(|m| m < material_count),
            "materials exist"
        );
    }
}

#[test]
fn files_cut_at_any_byte_do_not_panic() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for (sample, options) in samples(folder.path()) {
        let bytes = std::fs::read(&sample).expect("just written");
        for length in 0..=bytes.len() {
            try_read(scratch.path(), &sample, &bytes[..length], &options);
        }
    }
}

#[test]
fn files_with_damaged_bytes_do_not_panic() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    // A small generator of our own: the same damage on every run and machine.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for (sample, options) in samples(folder.path()) {
        let bytes = std::fs::read(&sample).expect("just written");
        for round in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..=round % 4 {
                let at = random(damaged.len());
                damaged[at] = match random(4) {
                    0 => damaged[at] ^ (1 << random(8)),
                    1 => 0xff,
                    2 => b"0123456789-+./# \n\\"[random(18)],
                    _ => random(256) as u8,
                };
            }
            try_read(scratch.path(), &sample, &damaged, &options);
        }
    }
}

#[test]
fn an_archive_that_claims_more_than_it_holds_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let shapes = [
        "(1152921504606846976, 3)",
        "(384307168202282325, 3)",
        "(1000000000000, 3)",
        "(18446744073709551615, 18446744073709551615)",
        "(3, 3)",
        "(3,)",
        "()",
    ];
    for shape in shapes {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut npy = b"\x93NUMPY\x01\x00".to_vec();
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.as_bytes());
        npy.extend([0; 24]);
        let path = folder.path().join("lie.npz");
        std::fs::write(&path, stored_zip("rest.npy", &npy)).expect("written");
        let start = std::time::Instant::now();
        let message = read(&path)
            .expect_err("24 bytes are two points")
            .to_string();
        assert!(message.contains("array rest"), "{message}");
        assert!(
            start.elapsed().as_secs_f64() < 1.0,
            "refused slowly: {message}"
        );
    }
}

/// A zip archive of one entry that is not compressed.
fn stored_zip(name: &str, data: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file(name, options).expect("memory");
    std::io::Write::write_all(&mut zip, data).expect("memory");
    zip.finish().expect("memory").into_inner()
}
