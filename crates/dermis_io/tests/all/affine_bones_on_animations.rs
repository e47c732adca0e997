//! Mesh animations shown by affine bones, written as nodes that every player supports.

use std::time::Instant;

use dermis::fit::{JointFreedom, PoseOptions, PoseSolver};
use dermis::mesh::DrawMesh;
use dermis::skin::{Playable, PlayableOptions, PoseClip, SsdProgram, Weight, to_playable};
use dermis::{BoneId, Pose, Skeleton, Skin, VertexProgram};
use dermis_io::Document;
use glam::{DAffine3, DVec3};

use crate::support;

const RATE: f64 = 24.0;

/// Bones at points far from each other; each vertex follows its nearest four.
fn spread_bones(rest: &[DVec3], bone_count: usize) -> Skin {
    let mut centres = vec![rest[0]];
    let mut nearest: Vec<f64> = rest.iter().map(|p| p.distance(rest[0])).collect();
    while centres.len() < bone_count {
        let furthest = (0..rest.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]));
        let next = rest[furthest.expect("the mesh has vertices")];
        for (known, p) in nearest.iter_mut().zip(rest) {
            *known = known.min(p.distance(next));
        }
        centres.push(next);
    }
    let bones = centres.iter().enumerate().map(|(j, centre)| {
        let frame = DAffine3::from_translation(*centre);
        (format!("bone_{j}"), None, frame)
    });
    let skeleton = Skeleton::from_rest_frames(bones).expect("bones without a hierarchy");
    let row = |p: &DVec3| {
        let mut row: Vec<(f64, usize)> = (centres.iter().enumerate())
            .map(|(j, centre)| (p.distance_squared(*centre), j))
            .collect();
        row.sort_by(|a, b| a.0.total_cmp(&b.0));
        row.truncate(4);
        let width = row[3].0.max(1e-12);
        let share = move |d: f64| (-3.0 * d / width).exp();
        let sum: f64 = row.iter().map(|(d, _)| share(*d)).sum();
        row.into_iter().map(move |(d, j)| Weight {
            bone: BoneId(j as u16),
            weight: share(d) / sum,
        })
    };
    let ssd = SsdProgram {
        rest_positions: rest.to_vec(),
        weights: rest.iter().map(row).collect(),
        corrections: Vec::new(),
    };
    Skin::new(skeleton, VertexProgram::Ssd(ssd), Vec::new()).expect("a skin")
}

/// Largest distances at frames, and at quarters of frames from the straight line between frames.
fn distances(skin: &Skin, poses: &[Pose], playable: &Playable) -> (f64, f64, f64) {
    let positions: Vec<Vec<DVec3>> = (poses.iter())
        .map(|pose| skin.evaluate(pose).expect("the pose fits"))
        .collect();
    let shown = |frame: f64| {
        let pose = playable.skin.sample(&playable.clips[0], frame / RATE);
        playable.skin.evaluate(&pose).expect("the clip fits")
    };
    let most = |a: &[DVec3], b: &[DVec3]| {
        let apart = a.iter().zip(b).map(|(a, b)| a.distance(*b));
        apart.fold(0.0, f64::max)
    };
    let (mut at_frames, mut between, mut step) = (0.0f64, 0.0f64, 0.0f64);
    for (k, wanted) in positions.iter().enumerate() {
        at_frames = at_frames.max(most(wanted, &shown(k as f64)));
        let Some(next) = positions.get(k + 1) else {
            break;
        };
        step = step.max(most(wanted, next));
        for part in [0.25, 0.5, 0.75] {
            let ends = wanted.iter().zip(next);
            let line: Vec<DVec3> = ends.map(|(a, b)| a.lerp(*b, part)).collect();
            between = between.max(most(&line, &shown(k as f64 + part)));
        }
    }
    (at_frames, between, step)
}

#[test]
fn affine_bones_of_real_animations_do_not_spin_between_frames() {
    for (file, bone_count) in [
        ("horse-gallop/horse-gallop.npz", 30),
        ("horse-collapse/horse-collapse.npz", 30),
        ("crane/crane.npz", 60),
    ] {
        let Some(path) = support::data(file) else {
            return;
        };
        let document = dermis_io::read(&path).expect("the data set is sound");
        let diagonal = document.mesh.bounds().diagonal();
        let skin = spread_bones(document.mesh.positions(), bone_count);
        let options = PoseOptions {
            joints: JointFreedom::Affine,
            ..PoseOptions::default()
        };
        let rest_pose = skin.skeleton.rest_pose();
        let solver = PoseSolver::new(&skin, &options).expect("affine bones");
        let poses: Vec<Pose> = (document.frames.iter())
            .map(|frame| {
                solver
                    .solve(&frame.positions, &rest_pose)
                    .expect("a mesh of its own")
                    .pose
            })
            .collect();
        for share in [0.0, 1e-4, 1e-3] {
            let clip = PoseClip {
                name: "motion".to_owned(),
                poses: &poses,
                frames_per_second: RATE,
            };
            let options = PlayableOptions {
                key_tolerance: share * diagonal,
            };
            let start = Instant::now();
            let playable = to_playable(&skin, &[clip], &options).expect("sound");
            let seconds = start.elapsed().as_secs_f64();
            let (at_frames, between, step) = distances(&skin, &poses, &playable);
            let channels = &playable.clips[0].channels;
            let keys: usize = channels.iter().map(|c| c.times().len()).sum();
            let added = (channels.iter())
                .map(|c| c.times().len().saturating_sub(poses.len()))
                .max();
            let glb = Document {
                draw: DrawMesh::plain("mesh", skin.vertex_count(), document.mesh.triangles()),
                mesh: document.mesh.clone(),
                skin: Some(playable.skin.clone()),
                clips: playable.clips.clone(),
                ..Document::default()
            };
            let bytes = dermis_io::gltf::to_glb(&glb).expect("sound");
            eprintln!(
                "{file}, {bone_count} bones, {} frames, tolerance {share:.0e}: {} split, {keys} keys \
                 in {} channels, at most {} added to one; off {:.1e} at frames, {:.1e} between steps \
                 of {:.1e} (shares of the diagonal); {} kB; {seconds:.2} s",
                poses.len(),
                playable.split_count,
                channels.len(),
                added.unwrap_or(0),
                at_frames / diagonal,
                between / diagonal,
                step / diagonal,
                bytes.len() / 1000,
            );
            assert!(
                at_frames <= (4.0 * share * diagonal).max(1e-9 * diagonal),
                "{file}: no vertex by more than four times the root mean square"
            );
            assert!(
                between <= 0.2 * step + 4.0 * share * diagonal,
                "{file}: {between} of {step}"
            );
        }
    }
}
