//! Bones that shear, each as two nested nodes: exact at the frames and without spins between them.

use dermis::mesh::DrawMesh;
use dermis::skin::{
    Coefficient, Correction, Delta, PlayableOptions, PoseClip, SsdProgram, Weight, to_playable,
};
use dermis::{BoneId, Pose, Skeleton, Skin, TriMesh, VertexProgram};
use dermis_io::Document;
use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::{TOLERANCE, difference, write_into};
use crate::support;
use crate::support::clients::{Shown, assert_valid, blender_positions, three_positions};

const RATE: f64 = 24.0;
const FRAMES: usize = 25;
const BONES: usize = 6;
const COLUMNS: usize = 31;
const LINES: usize = 7;

/// A cloth of 3 by 0.6, with six bones across it that shear, turn and stretch as it blows, each in
/// its own way: one nearly rigid, one mirrored, one that goes flat and back.
fn cloth() -> (TriMesh, Skin, Vec<Pose>) {
    let at = |i: usize| {
        let (column, line) = (i % COLUMNS, i / COLUMNS);
        let x = 3.0 * column as f64 / (COLUMNS - 1) as f64;
        let y = 0.6 * line as f64 / (LINES - 1) as f64;
        DVec3::new(x, y, 0.1 * (3.0 * x).sin())
    };
    let positions: Vec<DVec3> = (0..COLUMNS * LINES).map(at).collect();
    let mut triangles = Vec::new();
    for line in 0..LINES - 1 {
        for column in 0..COLUMNS - 1 {
            let corner = (line * COLUMNS + column) as u32;
            let above = corner + COLUMNS as u32;
            triangles.extend([[corner, corner + 1, above], [corner + 1, above + 1, above]]);
        }
    }
    let mesh = TriMesh::new(positions, triangles).expect("a cloth is a mesh");

    let centre = |j: usize| DVec3::new(0.25 + 0.5 * j as f64, 0.3, 0.0);
    let bones = (0..BONES).map(|j| {
        let frame = DAffine3::from_translation(centre(j));
        (format!("bone_{j}"), None, frame)
    });
    let skeleton = Skeleton::from_rest_frames(bones).expect("six bones");
    let row = |p: &DVec3| {
        let share = |j: usize| (-(p.x - centre(j).x).powi(2) / 0.08).exp();
        let mut row: Vec<Weight> = (0..BONES)
            .map(|j| Weight {
                bone: BoneId(j as u16),
                weight: share(j),
            })
            .collect();
        row.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        row.truncate(4);
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        row.iter_mut().for_each(|w| w.weight /= sum);
        row
    };
    let lift = |index: u32| Delta {
        index,
        value: DVec3::new(0.0, 0.0, 0.15),
    };
    let ssd = SsdProgram {
        rest_positions: mesh.positions().to_vec(),
        weights: mesh.positions().iter().map(row).collect(),
        corrections: vec![Correction {
            deltas: (0..40).map(lift).collect(),
        }],
    };
    let slider = Coefficient {
        name: "lift".to_owned(),
        default: 0.0,
    };
    let skin = Skin::new(skeleton, VertexProgram::Ssd(ssd), vec![slider]).expect("a skin");
    let poses = (0..FRAMES).map(|k| Pose {
        parent_from_bone: (0..BONES).map(|j| bone_at(j, k, centre(j))).collect(),
        coefficients: vec![0.5 - 0.5 * (0.3 * k as f64).cos()],
    });
    (mesh, skin, poses.collect())
}

/// The matrix of bone `j` in frame `k`.
fn bone_at(j: usize, k: usize, centre: DVec3) -> DAffine3 {
    let t = k as f64 / (FRAMES - 1) as f64;
    let swing = |speed: f64| (speed * std::f64::consts::TAU * t + j as f64).sin();
    let turn = DQuat::from_scaled_axis(DVec3::new(0.9 * swing(1.0), 0.6 * swing(1.5), 0.0));
    let mut m = match j {
        // Nearly rigid, with one full turn.
        0 => {
            let about = DVec3::new(0.6, 0.0, 0.8) * std::f64::consts::TAU * t;
            DMat3::from_quat(DQuat::from_scaled_axis(about))
        }
        1 => DMat3::from_quat(turn) * DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0)),
        2 => DMat3::from_diagonal(DVec3::new(1.0, 1.0, (2.0 * t - 1.0).abs().max(0.0))),
        _ => DMat3::from_quat(turn),
    };
    let shear = if j == 0 { 1e-3 } else { 0.4 };
    m.y_axis += shear * swing(1.0) * m.x_axis + 0.5 * shear * swing(0.7) * m.z_axis;
    m.x_axis *= 1.0 + 0.5 * shear * swing(2.0);
    let slide = DVec3::new(0.05 * swing(1.2), 0.0, 0.2 * swing(1.0));
    DAffine3::from_mat3_translation(m, centre + slide)
}

fn document(tolerance: f64) -> (Document, Skin, Vec<Pose>) {
    let (mesh, skin, poses) = cloth();
    let clip = PoseClip {
        name: "blow".to_owned(),
        poses: &poses,
        frames_per_second: RATE,
    };
    let options = PlayableOptions {
        key_tolerance: tolerance,
    };
    let playable = to_playable(&skin, &[clip], &options).expect("sound");
    if tolerance == 0.0 {
        assert_eq!(playable.split_count, BONES, "all six shear");
    }
    let keys: usize = (playable.clips[0].channels.iter())
        .map(|channel| channel.times().len())
        .sum();
    eprintln!("cloth within {tolerance}: {keys} keys");
    let document = Document {
        draw: DrawMesh::plain("cloth", mesh.vertex_count(), mesh.triangles()),
        mesh,
        skin: Some(playable.skin),
        clips: playable.clips,
        ..Document::default()
    };
    (document, skin, poses)
}

/// Largest difference at frames from the affine skin, as a share of the diagonal.
fn at_frames(document: &Document, skin: &Skin, poses: &[Pose], shown: &[Shown]) -> f64 {
    let pairs = poses.iter().zip(shown);
    let off = pairs.map(|(pose, shown)| {
        let points = skin.evaluate(pose).expect("the pose fits");
        difference(document, &points, shown)
    });
    off.fold(0.0, f64::max)
}

#[test]
fn three_shows_affine_bones_exactly_at_frames_and_without_a_spin_between() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (document, skin, poses) = document(0.0);
    let file = write_into(folder.path(), "affine.glb", &document);
    assert_valid(&clients, std::slice::from_ref(&file));
    let times: Vec<f64> = (0..4 * FRAMES - 3).map(|n| n as f64 / 4.0 / RATE).collect();
    let shown = three_positions(&clients, &file, Some("blow"), &times);
    let frames: Vec<Shown> = shown.iter().step_by(4).cloned().collect();
    let off = at_frames(&document, &skin, &poses, &frames);
    eprintln!("affine.glb: three differs by {off:.1e} of the diagonal at frames");
    assert!(off < TOLERANCE, "{off:.2e}");

    let positions: Vec<Vec<DVec3>> = (poses.iter())
        .map(|pose| skin.evaluate(pose).expect("the pose fits"))
        .collect();
    let (mut stray, mut step) = (0.0f64, 0.0f64);
    for (n, shown) in shown.iter().enumerate().filter(|(n, _)| n % 4 != 0) {
        let (k, part) = (n / 4, (n % 4) as f64 / 4.0);
        let ends = positions[k].iter().zip(&positions[k + 1]);
        let line: Vec<DVec3> = ends.clone().map(|(a, b)| a.lerp(*b, part)).collect();
        stray = stray.max(difference(&document, &line, shown));
        let longest = ends.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        step = step.max(longest / document.mesh.bounds().diagonal());
    }
    eprintln!("affine.glb: strays {stray:.1e} of the diagonal between frames of up to {step:.1e}");
    assert!(
        stray < 0.01 && stray < 0.1 * step,
        "{stray:.2e} of {step:.2e}"
    );
}

#[test]
fn three_keeps_a_key_tolerance() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (mesh, _, _) = cloth();
    let share = 2e-3;
    let (document, skin, poses) = document(share * mesh.bounds().diagonal());
    let file = write_into(folder.path(), "reduced.glb", &document);
    assert_valid(&clients, std::slice::from_ref(&file));
    let times: Vec<f64> = (0..FRAMES).map(|k| k as f64 / RATE).collect();
    let shown = three_positions(&clients, &file, Some("blow"), &times);
    let off = at_frames(&document, &skin, &poses, &shown);
    // No vertex is off by more than four times the root mean square.
    let share = 4.0 * share;
    eprintln!("reduced.glb: three differs by {off:.1e} of the diagonal, allowed {share:.1e}");
    assert!(off < share + TOLERANCE, "{off:.2e}");
}

#[test]
#[ignore = "slow: starts Blender"]
fn blender_shows_affine_bones_exactly() {
    let (Some(python), Some(clients)) = (support::blender_python(), support::node_clients()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (document, skin, poses) = document(0.0);
    let file = write_into(folder.path(), "affine.glb", &document);
    let times: Vec<f64> = (0..FRAMES).map(|k| k as f64 / RATE).collect();
    let shown = blender_positions(&python, &clients, &file, Some("blow"), &times);
    let off = at_frames(&document, &skin, &poses, &shown);
    eprintln!("affine.glb: Blender differs by {off:.1e} of the diagonal at frames");
    assert!(off < TOLERANCE, "{off:.2e}");
}

#[test]
fn only_inner_nodes_are_joints_and_all_nodes_are_read_back_as_bones() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (document, skin, poses) = document(0.0);
    let file = write_into(folder.path(), "affine.glb", &document);
    let back = dermis_io::read(&file).expect("our own file");
    assert_eq!(
        back.facts.joints_of_skin,
        [BONES],
        "one joint per affine bone"
    );
    let (given, found) = (
        &document.skin.as_ref().expect("it has a skin").skeleton,
        &back.skin.as_ref().expect("it has a skin").skeleton,
    );
    let names = |skeleton: &Skeleton| -> Vec<String> {
        skeleton.bones().iter().map(|b| b.name.clone()).collect()
    };
    assert_eq!(
        names(given),
        names(found),
        "the same bones in the same order"
    );
    for bone in given.ids() {
        let (a, b) = (&given.bones()[bone.index()], &found.bones()[bone.index()]);
        assert_eq!(a.parent, b.parent, "parent of {}", a.name);
        assert_eq!(given.is_carrier(bone), found.is_carrier(bone), "{}", a.name);
        assert!(
            a.bone_from_rest.abs_diff_eq(b.bone_from_rest, 1e-6),
            "inverse bind matrix of {}",
            a.name
        );
    }
    let reread = back.skin.as_ref().expect("it has a skin");
    for (k, pose) in poses.iter().enumerate() {
        let sampled = reread.sample(&back.clips[0], k as f64 / RATE);
        let shown = reread.evaluate(&sampled).expect("the clip fits");
        let wanted = skin.evaluate(pose).expect("the pose fits");
        for (a, b) in shown.iter().zip(&wanted) {
            assert!(a.distance(*b) < 3e-5, "frame {k}: {a} against {b}");
        }
    }
    let again = dermis_io::gltf::to_glb(&back).expect("sound");
    let first = std::fs::read(&file).expect("it was written");
    assert_eq!(
        again.len(),
        first.len(),
        "writing the document again gives the same bytes"
    );
}
