//! Real files: the answers of the programs that wrote them, and the files of Dem Bones.

use std::path::Path;

use glam::DVec3;

use crate::support::data;
use crate::{farthest, read, shown};

/// The points of an OBJ answer, in centimetres in the file's axes.
fn answer(path: &Path) -> Vec<DVec3> {
    let text = std::fs::read_to_string(path).expect("the answer is there");
    let lines = text.lines().filter_map(|line| line.strip_prefix("v "));
    let point = |line: &str| {
        let mut numbers = line
            .split_whitespace()
            .map(|x| x.parse().expect("a number"));
        DVec3::from_array(std::array::from_fn(|_| {
            numbers.next().expect("three numbers")
        }))
    };
    lines.map(|line| 0.01 * point(line)).collect()
}

fn size(points: &[DVec3]) -> f64 {
    let (min, max) = points
        .iter()
        .fold((points[0], points[0]), |(a, b), p| (a.min(*p), b.max(*p)));
    min.distance(max)
}

#[test]
fn a_skin_with_scales_that_are_not_inherited_is_as_maya_shows_it() {
    let Some(folder) = data("fbx-ufbx/maya_game_sausage") else {
        return;
    };
    let sausage = read(&folder.join("maya_game_sausage_7500_binary_deform.fbx"));
    for frame in [8, 15] {
        let expected = answer(&folder.join(format!("maya_game_sausage_deform_{frame}.obj")));
        let found = shown(&sausage, Some(("deform", f64::from(frame) / 24.0)));
        let error = farthest(&found, &expected) / size(&expected);
        println!("frame {frame}: {error:.2e} of the size");
        assert!(error < 1e-5, "frame {frame}: {error:.2e} of the size");
    }
}

#[test]
fn dual_quaternion_skins_are_as_maya_shows_them() {
    let Some(folder) = data("fbx-ufbx/maya_dual_quaternion") else {
        return;
    };
    let bar = read(&folder.join("maya_dual_quaternion_7500_ascii.fbx"));
    let expected = answer(&folder.join("maya_dual_quaternion.obj"));
    let error = farthest(&shown(&bar, None), &expected) / size(&expected);
    println!("{error:.2e} of the size");
    assert!(error < 1e-5, "{error:.2e} of the size");
}

#[test]
fn what_dual_quaternions_cannot_hold_is_said() {
    let Some(folder) = data("fbx-ufbx/maya_dual_quaternion") else {
        return;
    };
    for (file, said) in [
        (
            "maya_dual_quaternion_scale_7500_ascii.fbx",
            "their scale is left out",
        ),
        (
            "maya_dq_weights_7500_binary.fbx",
            "76 vertices with a blend",
        ),
    ] {
        let notes = read(&folder.join(file)).notes;
        assert!(
            notes.iter().any(|note| note.contains(said)),
            "{file}: {notes:?}"
        );
    }
}

#[test]
fn a_point_cache_beside_the_file_becomes_frames() {
    let Some(folder) = data("fbx-ufbx/max_cache_box") else {
        return;
    };
    let boxed = read(&folder.join("max_cache_box_7500_binary.fbx"));
    assert_eq!(boxed.frames.len(), 11, "samples");
    for name in ["44", "48"] {
        let mut expected = answer(&folder.join(format!("max_cache_box_{name}.obj")));
        let frame = boxed.frames.iter().find(|frame| frame.name == name);
        let found = &frame.expect("a frame of that number").positions;
        // The answer is z up, has another origin and another order: points are matched by place.
        for point in &mut expected {
            *point = DVec3::new(point.x, point.z, -point.y);
        }
        let error = nearest(found, &expected) / size(&expected);
        println!("frame {name}: {error:.2e} of the size");
        assert!(error < 1e-3, "frame {name}: {error:.2e} of the size");
    }
}

/// The largest distance of a point to the nearest of the others, after their boxes were put in one place.
fn nearest(found: &[DVec3], expected: &[DVec3]) -> f64 {
    assert_eq!(found.len(), expected.len(), "as many points");
    let middle = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len() as f64;
    let shift = middle(expected) - middle(found);
    let to_nearest = |p: &DVec3| {
        let apart = expected.iter().map(|e| e.distance(*p + shift));
        apart.fold(f64::MAX, f64::min)
    };
    found.iter().map(to_nearest).fold(0.0, f64::max)
}

#[test]
fn maya_caches_become_frames() {
    let Some(folder) = data("fbx-ufbx/maya_cache_sine") else {
        return;
    };
    let sine = read(&folder.join("maya_cache_sine_7500_binary.fbx"));
    assert_eq!(sine.frames.len(), 30, "samples");
    assert_eq!(
        sine.frames_per_second.map(f64::round),
        Some(24.0),
        "their rate"
    );
    let (first, last) = (&sine.frames[0].positions, &sine.frames[29].positions);
    assert!(farthest(first, last) > 1e-4, "points move");
}

#[test]
fn a_cache_that_is_not_there_is_named_in_a_note() {
    let Some(folder) = data("fbx-ufbx/max_cache_box") else {
        return;
    };
    let path = folder.join("max_cache_box_7500_binary.fbx");
    let bytes = std::fs::read(&path).expect("the file is there");
    let nothing = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
    let alone = dermis_fbx::read(&path, &bytes, &nothing).expect("the mesh is read");
    assert!(alone.frames.is_empty(), "no frames");
    let said = |note: &String| note.starts_with("max_cache_box.pc2 is named by the file");
    assert!(alone.notes.iter().any(said), "{:?}", alone.notes);
}

#[test]
fn all_files_of_dem_bones_have_their_vertices_bones_and_takes() {
    let Some(folder) = data("dem-bones") else {
        return;
    };
    for (file, bones, takes, has_skin) in [
        ("Bone_All", 6, &["Take 001"][..], true),
        ("Bone_Geom", 0, &[], false),
        ("Bone_Helpers", 8, &["Take 001"], true),
        ("Bone_PartiallySkinned", 6, &["Take 001"], true),
        ("Bone_Skin", 6, &[], true),
        ("Bone_Trans", 6, &["Take 001"], false),
        ("Decomposition_05", 5, &["demBones"], true),
        ("Decomposition_10", 10, &["demBones"], true),
        ("Decomposition_20", 20, &["demBones"], true),
        ("Decomposition_20_grouped", 20, &["demBones"], true),
        ("Optimized", 6, &["Take 001", "demBones"], true),
        ("SolvedHelpers", 8, &["Take 001", "demBones"], true),
        ("SolvedPartialWeights", 6, &["Take 001", "demBones"], true),
        ("SolvedTransformations", 6, &["demBones"], true),
        ("SolvedWeights", 6, &["Take 001", "demBones"], true),
    ] {
        let document = read(&folder.join(format!("{file}.fbx")));
        assert_eq!(document.mesh.vertex_count(), 754, "vertices of {file}");
        assert_eq!(document.skin.is_some(), has_skin, "skin of {file}");
        let of_skin = document.skin.as_ref().map(|skin| &skin.skeleton);
        let skeleton = of_skin.or(document.skeleton.as_ref());
        assert_eq!(
            skeleton.map_or(0, |s| s.bone_count()),
            bones,
            "bones of {file}"
        );
        let names: Vec<&str> = document
            .clips
            .iter()
            .map(|clip| clip.name.as_str())
            .collect();
        assert_eq!(names, takes, "takes of {file}");
    }
}
