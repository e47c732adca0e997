//! Alembic: the files in `data/alembic`, which `scripts/make_alembic_samples.py` made with the official library, and
//! real ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use dermis_io::{Document, MotionOptions, WriteOptions, read, read_animation, read_bytes, write};
use glam::{DMat3, DQuat, DVec3};

use crate::support;

/// The faces of each box are in this order in all samples; point k has the signs of its three bits.
fn box_points() -> Vec<DVec3> {
    let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
    (0..8)
        .map(|k| DVec3::new(sign(k & 1), sign(k & 2), sign(k & 4)))
        .collect()
}

fn sample(name: &str) -> PathBuf {
    support::repository().join("data/alembic").join(name)
}

fn read_sample(name: &str) -> Document {
    read(&sample(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_near(found: &[DVec3], expected: &[DVec3], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "points {what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let off = a.distance(*b);
        assert!(off <= tolerance, "point {i} {what} is {off:.1e} away");
    }
}

fn names(document: &Document) -> Vec<&str> {
    let parts = document.draw.parts.iter();
    parts.map(|part| part.mesh_name.as_str()).collect()
}

#[test]
fn a_sheet_keeps_its_frames_faces_uvs_normals_and_sets_of_faces() {
    let cloth = read_sample("cloth.abc");
    assert_eq!(cloth.frames.len(), 5, "frames");
    assert_eq!(cloth.frames_per_second, Some(24.0), "as the file says");
    assert!(cloth.is_motion, "frames at times are a motion");
    for (k, frame) in cloth.frames.iter().enumerate() {
        let wave = |i: usize| {
            let (x, y, k) = ((i % 5) as f64, (i / 5) as f64, k as f64);
            DVec3::new(x, y, 0.25 * (x + 0.7 * k).sin() * (y + k))
        };
        let expected: Vec<DVec3> = (0..20).map(wave).collect();
        assert_near(&frame.positions, &expected, 1e-6, &format!("of frame {k}"));
    }
    assert_eq!(cloth.mesh.positions(), cloth.frames[0].positions, "at rest");
    let polygons = cloth.polygons.as_ref().expect("quads");
    assert_eq!(polygons.counts, [4; 12], "quads stay quads");
    assert_eq!(polygons.corners[..4], [0, 1, 6, 5], "counter-clockwise");

    assert_eq!(names(&cloth), ["sheet", "sheet"], "one part for each set");
    let materials = cloth.materials.materials.iter().map(|m| &m["name"]);
    assert_eq!(
        materials.collect::<Vec<_>>(),
        ["linen", "silk"],
        "materials"
    );
    assert_eq!(
        cloth.draw.point_triangles().len(),
        24,
        "every face is drawn once"
    );
    for part in &cloth.draw.parts {
        for (v, &point) in part.points.iter().enumerate() {
            let [u, v_from_top] = part.uvs[0][v];
            let (x, y) = ((point % 5) as f32, (point / 5) as f32);
            // The right half has its own UVs, one further to the right.
            let along = [x / 4.0, x / 4.0 + 1.0].map(|expected| (u - expected).abs());
            assert!(along[0].min(along[1]) < 1e-6, "u of point {point} is {u}");
            let expected = 1.0 - y / 3.0;
            assert!((v_from_top - expected).abs() < 1e-6, "v of point {point}");
            assert_eq!(part.normals[v], [0.0, 0.0, 1.0], "normal of point {point}");
        }
        let middle = part.points.iter().filter(|&&point| point % 5 == 2).count();
        assert_eq!(
            middle, 5,
            "of three points of the seam, two are in both halves"
        );
    }
    assert_eq!(cloth.notes, Vec::<String>::new(), "nothing is left out");
}

#[test]
fn transforms_of_every_kind_move_what_is_under_them() {
    let machine = read_sample("machine.abc");
    let expected = [
        "base/block",
        "hand",
        "base/arm/free/block",
        "mirrored",
        "still",
    ];
    assert_eq!(names(&machine), expected, "two are called block");
    assert_eq!(machine.facts.mesh_count, 5, "meshes");
    assert_eq!(
        machine.frames.len(),
        4,
        "the camera's times are not asked for"
    );
    assert_eq!(machine.frames_per_second, Some(24.0), "as the file says");
    let note = "Left out, because only meshes are read: 1 camera.";
    assert_eq!(machine.notes, [note], "the camera");
    for (frame, k) in machine.frames.iter().zip([0.0f64, 1.0, 2.0, 3.0]) {
        let turn = |axis: DVec3, degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
        let base = |p: DVec3| {
            let scaled = p * DVec3::new(1.0 + k / 4.0, 1.0, 1.0 - k / 8.0);
            let axis = DVec3::new(1.0, 2.0, 2.0) / 3.0;
            turn(axis, 20.0 * k) * scaled + DVec3::new(k, 2.0 * k, -1.0)
        };
        let arm = |p: DVec3| {
            let moved = p + DVec3::new(0.0, 3.0, 0.0);
            let turned = turn(DVec3::Y, 20.0) * turn(DVec3::Z, -15.0 * k) * moved;
            base(turn(DVec3::X, 10.0 * k) * turned)
        };
        let hand = |p: DVec3| {
            // What the file holds in single precision.
            let x = f64::from((p.x * (1.0 + k / 10.0)) as f32);
            arm(DVec3::new(x, p.y, f64::from((p.z + k / 3.0) as f32)))
        };
        let shear = DMat3::from_cols(
            DVec3::new(1.0, 0.5 * k, 0.0),
            DVec3::new(0.0, 1.0, 0.25),
            DVec3::new(0.0, 0.0, 2.0),
        );
        let free = |p: DVec3| shear * p + DVec3::new(3.0, 0.0, k);
        let mirrored = |p: DVec3| DVec3::new(-p.x - 5.0, p.y, p.z);
        let of = |place: &dyn Fn(DVec3) -> DVec3| box_points().into_iter().map(place).collect();
        let parts: [Vec<DVec3>; 5] = [of(&base), of(&hand), of(&free), of(&mirrored), box_points()];
        for (name, (found, expected)) in expected.iter().zip(frame.positions.chunks(8).zip(&parts))
        {
            assert_near(found, expected, 1e-12, &format!("of {name}, frame {k}"));
        }
    }
}

#[test]
fn faces_are_seen_from_outside_even_in_a_mirror() {
    let machine = read_sample("machine.abc");
    for part in &machine.draw.parts {
        for frame in &machine.frames {
            let corner = |v: u32| frame.positions[part.points[v as usize] as usize];
            let middle: DVec3 = (0..8).map(corner).sum::<DVec3>() / 8.0;
            let volume = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| corner(v) - middle);
                a.cross(b).dot(c) / 6.0
            };
            let volume: f64 = part.triangles.iter().map(volume).sum();
            let name = (&part.mesh_name, &frame.name);
            assert!(volume > 1.0, "{name:?}: a box of volume {volume}");
        }
    }
}

#[test]
fn samples_at_any_times_are_shown_at_all_of_them() {
    let document = read_sample("samplings.abc");
    // Uneven: 0, 0.5, 2. Cyclic: 0, 0.25, 1, 1.25, 2. Even: 0, 1, 2.
    let expected = [
        // time, z of the first, z of the second, x of the third
        (0.0, 0.0, 10.0, 0.0),
        (0.25, 0.5, 11.0, 0.25),
        (0.5, 1.0, 11.0 + 1.0 / 3.0, 0.5),
        (1.0, 2.0, 12.0, 1.0),
        (1.25, 2.5, 13.0, 1.25),
        (2.0, 4.0, 14.0, 2.0),
    ];
    assert_eq!(document.frames.len(), expected.len(), "frames");
    for (frame, (time, first, second, third)) in document.frames.iter().zip(expected) {
        let moved = [
            DVec3::new(0.0, 0.0, first),
            DVec3::new(0.0, 0.0, second),
            DVec3::new(third, 0.0, 0.0),
        ];
        for (found, by) in frame.positions.chunks(8).zip(moved) {
            let expected: Vec<DVec3> = box_points().iter().map(|p| *p + by).collect();
            assert_near(found, &expected, 1e-6, &format!("at {time} s"));
        }
    }
    assert_eq!(document.frames_per_second, None, "no even speed");
    let notes = document.notes.join("\n");
    assert!(notes.contains("not evenly spaced"), "{notes}");
    assert!(notes.contains("sampled at the same times"), "{notes}");
}

#[test]
fn frames_that_repeat_are_kept_and_samples_without_times_have_no_speed() {
    let document = read_sample("unchanging.abc");
    let heights = document.frames.iter().map(|frame| frame.positions[0].z);
    assert_eq!(
        heights.collect::<Vec<_>>(),
        [-1.0, -1.0, 0.0, 1.0, 1.0, 1.0],
        "all six samples"
    );
    assert_eq!(document.frames_per_second, None, "the file does not say");
    assert!(document.is_motion, "in order all the same");
}

#[test]
fn what_is_not_read_is_said() {
    let others = read_sample("others.abc");
    assert_eq!(names(&others), ["smooth"], "the subdivision surface");
    assert!(others.frames.is_empty(), "it stands still");
    let notes = others.notes.join("\n");
    for part in [
        "object /melting is left out, because its faces change",
        "1 cloud of points",
        "1 object of curves",
        "without creases",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let refused = read(&sample("melting.abc")).expect_err("no mesh is left");
    let message = refused.to_string();
    for part in [
        "melting.abc",
        "object /melting",
        "change over time",
        "export",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert_eq!(message.lines().count(), 1, "one sentence: {message}");
}

#[test]
fn the_old_container_is_refused_with_what_to_do() {
    let error = read_bytes(Path::new("old.abc"), b"\x89HDF\r\n\x1a\n and so on");
    let message = error.expect_err("not Ogawa").to_string();
    assert!(message.starts_with("old.abc: "), "{message}");
    assert!(message.contains("abcconvert -toOgawa"), "{message}");
}

#[test]
fn alembic_is_not_written_and_the_message_names_what_is() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("out.abc");
    let error = write(&path, &read_sample("cloth.abc"), &WriteOptions::default());
    let message = error.expect_err("no writer").to_string();
    assert!(message.contains("writing Alembic"), "{message}");
    assert!(message.contains(".glb, .gltf, .obj"), "{message}");
    assert!(!message.contains(".abc or"), "{message}");
    assert!(!path.exists(), "nothing is written");
}

#[test]
fn a_file_is_a_motion_called_after_it() {
    let read = read_animation(&[sample("cloth.abc")], &MotionOptions::default());
    let animation = read.unwrap_or_else(|error| panic!("{error}"));
    let clips = animation.animation.clips();
    assert_eq!(clips.len(), 1, "one motion");
    assert_eq!(clips[0].name, "cloth", "after the file");
    assert_eq!(animation.held, [false], "a motion, not poses");
}

#[test]
fn what_blender_exported_is_what_it_cached() {
    let Some(folder) = support::data("bpy/tube_csmooth") else {
        return;
    };
    let read = |name: &str| read(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
    let (alembic, arrays) = (read("truth.abc"), read("truth.npz"));
    assert_eq!(alembic.frames.len(), arrays.frames.len(), "frames");
    for (k, (found, expected)) in alembic.frames.iter().zip(&arrays.frames).enumerate() {
        // Blender turns to y up as it exports; its arrays are z up.
        let turned = expected
            .positions
            .iter()
            .map(|p| DVec3::new(p.x, p.z, -p.y));
        let turned: Vec<DVec3> = turned.collect();
        assert_near(&found.positions, &turned, 1e-6, &format!("of frame {k}"));
    }
}

/// The points of every mesh at some times as the official library reads them, where they were sampled then.
fn official(python: &Path, file: &Path, times: &[f64]) -> Vec<Vec<Option<Vec<DVec3>>>> {
    let mut command = Command::new(python);
    command.arg(support::repository().join("clients/alembic_positions.py"));
    command.arg(file).args(times.iter().map(f64::to_string));
    let output = command.output().expect("Python starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = |value: &serde_json::Value| value.as_array().expect("a list").clone();
    let points = |mesh: &serde_json::Value| {
        let numbers = mesh["positions"].as_array()?;
        let numbers: Vec<f64> = numbers.iter().filter_map(|n| n.as_f64()).collect();
        Some(
            numbers
                .as_chunks()
                .0
                .iter()
                .copied()
                .map(DVec3::from_array)
                .collect(),
        )
    };
    let at_time = |meshes: &serde_json::Value| list(meshes).iter().map(points).collect();
    list(&value).iter().map(at_time).collect()
}

#[test]
#[ignore = "slow: starts Python"]
fn points_are_those_that_the_official_library_reads() {
    let Some(python) = support::alembic_python() else {
        return;
    };
    let even = |start: f64, step: f64, count: usize| -> Vec<f64> {
        (0..count).map(|k| start + step * k as f64).collect()
    };
    let step = 1.0 / 24.0;
    let mut files = vec![
        (sample("cloth.abc"), even(step, step, 5)),
        (sample("machine.abc"), even(step, step, 4)),
        (
            sample("samplings.abc"),
            vec![0.0, 0.25, 0.5, 1.0, 1.25, 2.0],
        ),
        (sample("unchanging.abc"), even(0.0, 1.0, 6)),
    ];
    for name in ["bpy/tube_csmooth/truth.abc", "dem-bones/Bone_Anim.abc"] {
        files.extend(support::data(name).map(|file| (file, even(step, step, 40))));
    }
    for (file, times) in files {
        let document = read(&file).unwrap_or_else(|error| panic!("{error}"));
        let size = document.mesh.bounds().diagonal();
        let mut compared = 0;
        for (frame, meshes) in document.frames.iter().zip(official(&python, &file, &times)) {
            let mut first = 0;
            let count = document.mesh.vertex_count() / meshes.len();
            for points in meshes {
                if let Some(points) = points {
                    assert_eq!(points.len(), count, "all meshes here are alike");
                    let own = &frame.positions[first..first + points.len()];
                    let what = format!("of {}, {}", file.display(), frame.name);
                    assert_near(own, &points, 1e-12 * size, &what);
                    compared += 1;
                }
                first += count;
            }
        }
        assert!(compared >= times.len(), "{}: too little", file.display());
    }
}
