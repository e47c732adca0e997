//! Damaged files of every format: an error or a document, never a panic, never much memory.

use std::path::{Path, PathBuf};

use dermis_io::{
    Document, Frame, PlyEncoding, SequenceOptions, WriteOptions, read, read_inputs, write,
};
use glam::DVec3;

const MESH: &str = "mtllib a.mtl\no body\nv 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1.5e-3\n\
    vt 0 0\nvt 1 0.5\nvn 0 0 1\nusemtl skin\nf 1/1/1 2/2/1 3/1/1 -2/2/1\ng tail\nf 1 2 5\nl 1 2\n";

/// Small files of every format, each in a folder with the files that it needs.
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
        let options = WriteOptions { ply };
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
    for name in ["cloth.abc", "machine.abc", "samplings.abc", "others.abc"] {
        let made = crate::support::repository().join("data/alembic").join(name);
        std::fs::copy(made, at(name)).expect("copied");
        samples.push((at(name), plain.clone()));
    }
    samples
}

/// Reads bytes under a sample's name; a document that comes out must be consistent.
fn try_read(scratch: &Path, sample: &Path, bytes: &[u8], options: &SequenceOptions) {
    let name = sample.file_name().expect("samples have names");
    let path = scratch.join(name);
    // A new file each time: some file systems wait for the disk when an old one is cut and
    // written again, which makes this test ten times slower.
    if path.exists() {
        std::fs::remove_file(&path).expect("removed");
    }
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

/// A small generator of our own: the same damage on every run and machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// The same bytes with some of them changed.
    fn damage(&mut self, bytes: &[u8], count: usize) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        for _ in 0..count {
            let at = self.below(damaged.len());
            damaged[at] = match self.below(4) {
                0 => damaged[at] ^ (1 << self.below(8)),
                1 => 0xff,
                2 => b"0123456789-+./# \n\\"[self.below(18)],
                _ => self.below(256) as u8,
            };
        }
        damaged
    }
}

#[test]
fn files_with_damaged_bytes_do_not_panic() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (sample, options) in samples(folder.path()) {
        let bytes = std::fs::read(&sample).expect("just written");
        for round in 0..3000 {
            let damaged = random.damage(&bytes, 1 + round % 4);
            try_read(scratch.path(), &sample, &damaged, &options);
        }
    }
}

#[test]
fn archives_of_damaged_arrays_do_not_panic() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let (sample, options) = samples(folder.path())
        .into_iter()
        .find(|(path, _)| path.extension().is_some_and(|e| e == "npz"))
        .expect("one sample is an archive");
    let bytes = std::fs::read(&sample).expect("just written");
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("valid zip");
    let mut arrays = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).expect("an entry");
        let name = entry.name().expect("a name").into_owned();
        let mut npy = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut npy).expect("valid data");
        arrays.push((name, npy));
    }
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for round in 0..3000 {
        let mut damaged = arrays.clone();
        let array = random.below(arrays.len());
        // Damages mostly numbers, sometimes the header, and sometimes removes the whole array.
        if round % 20 == 0 {
            damaged.remove(array);
        } else {
            let npy = &arrays[array].1;
            let from = if round % 3 == 0 {
                8
            } else {
                npy.len().min(128) - 1
            };
            let tail = random.damage(&npy[from..], 1 + round % 2);
            damaged[array].1.splice(from.., tail);
        }
        try_read(scratch.path(), &sample, &stored_zip(&damaged), &options);
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
        std::fs::write(&path, stored_zip(&[("rest.npy".to_owned(), npy)])).expect("written");
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

#[test]
fn an_archive_with_a_changed_number_is_noticed() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend([1; 24]);
    let mut zip = stored_zip(&[("rest.npy".to_owned(), npy)]);
    let path = folder.path().join("a.npz");
    std::fs::write(&path, &zip).expect("written");
    read(&path).expect("two points");
    let number = zip
        .windows(24)
        .position(|w| w == [1; 24])
        .expect("stored as it is");
    zip[number + 5] = 2;
    std::fs::write(&path, &zip).expect("written");
    let message = read(&path).expect_err("the checksum is off").to_string();
    assert!(message.contains("damaged"), "{message}");
}

#[test]
fn an_archive_that_claims_four_billion_entries_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("many.npz");
    // The zip64 end record: entries, size and start of a directory that is not there.
    for (entries, start) in [(1u64 << 32, 0u64), (1 << 32, 1 << 40), (1 << 20, 1 << 40)] {
        let mut bytes = b"PK\x06\x06".to_vec();
        bytes.extend(44u64.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for field in [entries, entries, 1 << 40, start] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(b"PK\x05\x06");
        bytes.extend([0xff; 16]);
        bytes.extend([0, 0]);
        std::fs::write(&path, &bytes).expect("written");
        let begin = std::time::Instant::now();
        read(&path).expect_err("no entries at all");
        assert!(begin.elapsed().as_secs_f64() < 1.0, "refused slowly");
    }
}

/// A zip archive of entries that are not compressed.
fn stored_zip(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, data) in entries {
        zip.start_file(name, options).expect("memory");
        std::io::Write::write_all(&mut zip, data).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}
