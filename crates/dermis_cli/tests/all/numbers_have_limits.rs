//! Whatever a file or a flag can multiply is counted first, and refused in one sentence before memory is asked for.
//!
//! Every run has 3 GB of address space, so that a limit that is gone ends the run and not the machine.

use std::io::Write;

use dermis::TriMesh;
use dermis::clip::Channel;
use dermis::synth::TubeOptions;
use dermis_io::Document;
use glam::DVec3;

use crate::common::{Run, SMALL_TUBE, Scratch, sequence, tube_document};

/// Fails unless the program refused with one sentence that has all the parts, and wrote nothing.
#[track_caller]
fn assert_refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(run.stdout, "", "no results: {run:#?}");
    let said = (run.stderr.lines()).filter(|line| !line.starts_with("note: "));
    assert_eq!(said.count(), 1, "one sentence: {run:#?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part:?} in {run:#?}");
    }
}

/// A folder with a tube that moves for 5/24 s.
fn with_tube() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    scratch
}

const SAMPLING: [&str; 4] = [
    "eval long.glb -o out.npz",
    "convert long.glb --clip frames out.npz",
    "fit long.glb -o out.glb",
    "decompose long.glb --bones 3 -o out.glb",
];

#[test]
fn more_frames_than_can_be_made_are_refused_with_their_number() {
    let scratch = with_tube();
    let before = scratch.files();
    for command in SAMPLING {
        let command = command.replace("long", "tube");
        let run = scratch.dermis_in_3_gb(&format!("{command} --fps 1e9"));
        assert_refused(
            &run,
            &[
                "tube.glb",
                "clip frames",
                "would have 2083333",
                "fewer frames per second",
            ],
        );
        let run = scratch.dermis_in_3_gb(&format!("{command} --fps 50000000 --limit-memory 1G"));
        assert_refused(
            &run,
            &[
                "tube.glb",
                " frames of 98 vertices",
                "the limit is 1.1 GB",
                "with --fps",
                "or raise the memory limit with --limit-memory",
            ],
        );
        for fps in ["1e300", "0", "-24", "nan", "inf"] {
            let run = scratch.dermis_in_3_gb(&format!("{command} --fps={fps}"));
            assert_eq!(run.code, 2, "{run:#?}");
            assert!(run.stderr.contains("above 0"), "{run:#?}");
        }
    }
    assert_eq!(scratch.files(), before, "nothing is left");
}

#[test]
fn a_clip_of_thirty_years_takes_no_more_memory_than_its_keys() {
    let scratch = with_tube();
    let mut document = scratch.read("tube.glb");
    for channel in &mut document.clips[0].channels {
        let times = match channel {
            Channel::Translation(_, keys) | Channel::Scale(_, keys) => &mut keys.times,
            Channel::Rotation(_, keys) => &mut keys.times,
            Channel::Coefficients(_, keys) => &mut keys.times,
        };
        *times.last_mut().expect("six keys") = 1e9;
    }
    scratch.write("long.glb", &document);
    for command in SAMPLING.iter().chain(&["compare long.glb"]) {
        let run = scratch.dermis_in_3_gb(command);
        // Keys that a clip so long cannot tell apart are one: few poses, not 24,000,000,001 frames.
        assert!((0..=2).contains(&run.code), "no crash: {run:#?}");
    }
    // These look between keys only so often.
    scratch.dermis_in_3_gb("stats long.glb").done();
    scratch.dermis_in_3_gb("bounds long.glb").done();
    scratch
        .dermis_in_3_gb("transform long.glb --scale 2 -o moved.glb")
        .done();
    let run = scratch
        .dermis_in_3_gb("eval long.glb --fps 1e-8 -o out.npz")
        .done();
    assert!(run.stderr.contains("in 11 poses"), "{run:#?}");
}

/// A glTF file of many nodes that draw one mesh of so many vertices.
fn put_shared_mesh(scratch: &Scratch, nodes: usize, vertices: usize) {
    let positions: Vec<u8> = (0..vertices)
        .flat_map(|i| [i as f32, (i % 7) as f32, (i % 3) as f32])
        .flat_map(f32::to_le_bytes)
        .collect();
    let length = positions.len();
    scratch.put("shared.bin", positions);
    let nodes = vec![r#"{"mesh":0,"translation":[1,0,0]}"#; nodes].join(",");
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":{length},"uri":"shared.bin"}}],
        "bufferViews":[{{"buffer":0,"byteLength":{length}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":{vertices},"type":"VEC3"}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{nodes}]}}"#
    );
    scratch.put("shared.gltf", json);
}

#[test]
fn a_mesh_on_hundreds_of_nodes_is_counted_before_it_is_copied() {
    let scratch = Scratch::new();
    put_shared_mesh(&scratch, 300, 150_000);
    let run = scratch.dermis_in_3_gb("info shared.gltf --limit-memory 4G");
    assert_refused(
        &run,
        &[
            "shared.gltf",
            "45000000 vertices",
            "300 nodes",
            "the limit is 4.3 GB",
            "--limit-memory",
        ],
    );
    put_shared_mesh(&scratch, 10, 30_000);
    let run = scratch
        .dermis_in_3_gb("info shared.gltf --limit-memory 4G")
        .done();
    assert!(run.stdout.contains("300000 drawn"), "{run:#?}");
}

#[test]
fn json_of_nothing_but_nodes_is_counted_before_it_is_read() {
    let scratch = Scratch::new();
    let nodes = vec!["{}"; 3_000_000].join(",");
    scratch.put(
        "nodes.gltf",
        format!(r#"{{"asset":{{"version":"2.0"}},"nodes":[{nodes}]}}"#),
    );
    let run = scratch.dermis_in_3_gb("info nodes.gltf --limit-memory 1G");
    assert_refused(
        &run,
        &["nodes.gltf", "3000002 JSON objects", "--limit-memory"],
    );
}

/// A zip archive of one entry of zeros behind a header, packed, that says how many bytes it is.
fn zeros_in_a_zip(name: &str, header: &[u8], zeros: usize, declared: u32) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut crc = flate2::Crc::new();
    let block = vec![0; 1 << 20];
    let blocks = std::iter::repeat_n(&block[..], zeros >> 20);
    for bytes in std::iter::once(header).chain(blocks) {
        encoder.write_all(bytes).expect("memory");
        crc.update(bytes);
    }
    let packed = encoder.finish().expect("memory");
    let mut about = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
    about.extend(crc.sum().to_le_bytes());
    about.extend((packed.len() as u32).to_le_bytes());
    about.extend(declared.to_le_bytes());
    about.extend((name.len() as u16).to_le_bytes());
    about.extend([0, 0]);
    let mut zip = [&b"PK\x03\x04"[..], &about, name.as_bytes(), &packed].concat();
    let start = zip.len() as u32;
    zip.extend(b"PK\x01\x02\x14\x00");
    zip.extend(&about);
    zip.extend([0; 14]);
    zip.extend(name.as_bytes());
    let size = zip.len() as u32 - start;
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(size.to_le_bytes());
    zip.extend(start.to_le_bytes());
    zip.extend([0, 0]);
    zip
}

#[test]
fn an_archive_of_zeros_is_refused_before_it_is_unpacked() {
    let scratch = Scratch::new();
    let numbers = 600usize << 20;
    let text = format!(
        "{{'descr': '|u1', 'fortran_order': False, 'shape': (1, {}, 3), }}\n",
        numbers / 3
    );
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.as_bytes());
    let entry = |declared| zeros_in_a_zip("positions.npy", &header, numbers, declared);
    scratch.put("lie.npz", entry(24));
    let run = scratch.dermis_in_3_gb("info lie.npz");
    assert_refused(&run, &["lie.npz", "array positions"]);
    scratch.put("zeros.npz", entry((header.len() + numbers) as u32));
    let size = std::fs::metadata(scratch.at("zeros.npz"))
        .expect("written")
        .len();
    assert!(size < 8 << 20, "a small file of {size} bytes");
    let run = scratch.dermis_in_3_gb("info zeros.npz --limit-memory 8G");
    assert_refused(
        &run,
        &[
            "zeros.npz",
            "array positions of shape (1, 209715200, 3)",
            "16.4 GB",
        ],
    );
}

#[test]
fn a_gzipped_mesh_is_unpacked_no_further_than_memory_allows() {
    let scratch = Scratch::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let lines: String = (0..100_000)
        .map(|i| format!("v {i} 0 {}\n", i % 7))
        .collect();
    for _ in 0..20 {
        encoder.write_all(lines.as_bytes()).expect("memory");
    }
    scratch.put("points.obj.gz", encoder.finish().expect("memory"));
    let run = scratch.dermis_in_3_gb("info points.obj.gz --limit-memory 100M");
    assert_refused(&run, &["points.obj.gz", "bytes of .obj", "--limit-memory"]);
    scratch.put("points.obj", lines.repeat(20));
    let run = scratch.dermis_in_3_gb("info points.obj --limit-memory 100M");
    assert_refused(&run, &["points.obj", "bytes of .obj", "--limit-memory"]);
}

#[test]
fn a_method_that_needs_too_much_keeps_its_row_and_the_others_go_on() {
    let scratch = Scratch::new();
    let many = TubeOptions {
        ring_count: 4,
        segment_count: 3,
        bone_count: 3,
        example_count: 3000,
    };
    scratch.write("many.npz", &tube_document(&many));
    let command = "compare many.npz --methods ssd,psd --limit-memory 500M";
    let run = scratch.dermis_in_3_gb(command).done();
    assert!(run.stdout.contains("ssd"), "{run:#?}");
    assert!(
        run.stdout.contains("3000 examples") && run.stdout.contains("fewer examples"),
        "the reason: {run:#?}"
    );
    let run = scratch.dermis_in_3_gb("fit many.npz --method psd -o out.glb --limit-memory 500M");
    assert_refused(
        &run,
        &[
            "pose space deformation of",
            "fewer examples",
            "--limit-memory",
        ],
    );
}

#[test]
fn a_long_animation_of_a_large_mesh_is_refused_before_its_tables_are_made() {
    let scratch = Scratch::new();
    let tube = tube_document(&TubeOptions {
        ring_count: 20,
        segment_count: 30,
        bone_count: 3,
        example_count: 200,
    });
    let frames: Vec<Vec<DVec3>> = tube.frames.iter().map(|f| f.positions.clone()).collect();
    scratch.write("tube.npz", &sequence(&tube.mesh, &frames));
    for command in [
        "decompose tube.npz --bones 3 -o out.glb",
        "compare tube.npz --decompose 3",
    ] {
        let run = scratch.dermis_in_3_gb(&format!("{command} --limit-memory 18M"));
        assert_refused(&run, &["200 frames of 602 vertices", "--limit-memory"]);
    }
    let run =
        scratch.dermis_in_3_gb("decompose tube.npz --bones 600 -o out.glb --limit-memory 100M");
    assert_refused(&run, &["600 bones", "--limit-memory"]);
}

#[test]
fn numbers_on_the_command_line_have_a_most() {
    let scratch = with_tube();
    scratch.write(
        "meshes.npz",
        &Document {
            skin: None,
            frame_poses: Vec::new(),
            ..tube_document(&SMALL_TUBE)
        },
    );
    let before = scratch.files();
    let most = "18446744073709551615";
    for command in [
        "info tube.glb --threads 65535",
        "info tube.glb --threads 1025",
        "info tube.glb --threads 0",
        "info tube.glb --limit-memory 0",
        "info tube.glb --limit-memory lots",
        "fit tube.npz -o out.glb --max-influences MOST",
        "fit tube.npz -o out.glb --rest-rounds MOST",
        "fit tube.npz -o out.glb --method psd --base-rounds MOST",
        "fit tube.npz -o out.glb --method psd --shapes-per-joint MOST",
        "fit tube.npz -o out.glb --method rotational-regression --proxy-bones MOST",
        "fit tube.npz -o out.glb --method rotational-regression --proxy-bones 100000",
        "fit meshes.npz -o out.glb --bones MOST",
        "fit meshes.npz -o out.glb --bones 1000000",
        "compare tube.npz --max-influences MOST",
        "compare tube.npz --proxy-bones MOST --methods rotational-regression",
        "compare meshes.npz --decompose MOST",
        "compare meshes.npz --decompose 70000",
        "compare meshes.npz --decompose 3 --rank MOST",
        "decompose meshes.npz -o out.glb --bones MOST",
        "decompose meshes.npz -o out.glb --bones 1000",
        "decompose meshes.npz -o out.glb --target-error 1 --max-bones MOST",
        "decompose meshes.npz -o out.glb --bones 3 --max-influences MOST",
        "decompose meshes.npz -o out.glb --bones 3 --rounds MOST",
        "decompose meshes.npz -o out.glb --bones 3 --starts MOST",
        "decompose meshes.npz -o out.glb --bones 3 --starts 1000000",
        "rig meshes.npz -o out.npz --bones MOST",
        "rig meshes.npz -o out.npz --bones 1000000",
        "rig meshes.npz -o out.npz --bones 3 --blend-rounds MOST",
        "rig meshes.npz -o out.npz --bones 3 --space-rounds MOST",
        "rig meshes.npz -o out.npz --bones 3 --max-influences MOST",
        "subdivide tube.glb -o out.glb --levels 9223372036854775807",
        "subdivide tube.glb -o out.glb --levels 40",
        "subdivide tube.glb -o out.glb --levels 7 --limit-memory 500M",
        "bounds tube.glb --frustum 0,0,5:0,0,0 --crowd MOSTxMOST:1",
        "psd show none.psd.toml --sweep elbow -o out.png --steps MOST",
        "psd show none.psd.toml --sweep elbow -o out.png --steps 101",
    ] {
        let run = scratch.dermis_in_3_gb(&command.replace("MOST", most));
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.starts_with("error: "), "no panic: {run:#?}");
        assert_eq!(scratch.files(), before, "nothing is left by {command}");
    }
}

/// A square without faces.
fn points() -> TriMesh {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y];
    TriMesh::new(corners, Vec::new()).expect("four points")
}

#[test]
fn points_without_faces_are_refused_where_faces_are_needed_and_kept_elsewhere() {
    let scratch = Scratch::new();
    let moved: Vec<DVec3> = points().positions().iter().map(|p| *p + DVec3::Z).collect();
    let frames = [points().positions().to_vec(), moved];
    scratch.write("points.npz", &sequence(&points(), &frames));
    let before = scratch.files();
    for command in [
        "convert points.npz out.glb",
        "convert points.npz out.gltf",
        "decompose points.npz --bones 1 -o out.glb",
        "rig points.npz --bones 1 -o out.glb",
        "fit points.npz --bones 1 -o out.glb",
    ] {
        let run = scratch.dermis_in_3_gb(command);
        assert_refused(
            &run,
            &[
                "points.npz",
                "4 points and no faces",
                "out.gl",
                "write .npz",
            ],
        );
        assert_eq!(scratch.files(), before, "nothing is left by {command}");
    }
    for name in ["out.npz", "out.obj", "out.ply"] {
        scratch
            .dermis_in_3_gb(&format!("convert points.npz {name}"))
            .done();
    }
    for file in ["out.npz", "out_0001.obj", "out_0002.ply"] {
        let document = scratch.read(file);
        assert_eq!(document.mesh.vertex_count(), 4, "{file} comes back");
        scratch.dermis_in_3_gb(&format!("info {file}")).done();
    }
    let run = scratch.dermis_in_3_gb("convert out_0001.obj again.glb");
    assert_refused(&run, &["out_0001.obj", "no faces"]);
}
