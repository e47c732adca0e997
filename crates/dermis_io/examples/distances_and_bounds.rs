//! Two tables of docs/results/distances-and-bounds.md: mean distances by statistical model, and how tight bounds are.
//!
//! Usage: distances_and_bounds FILE...
//!
//! Each file is a skin with clips (glTF) or with poses of frames (npz). Distances are those of vertex
//! pairs, near and far; the truth is the root mean square over all poses of the file. Bounds are
//! compared with the smallest ball around all vertices in the poses that each bound is for.

use std::path::Path;

use dermis::bounds::{
    BoneBoxes, coefficient_ranges, enclose, extreme_poses, hold_vertices, sampled_ball,
};
use dermis::joint::{JointLimits, LegalPoses, free_joints, joint_statistics};
use dermis::mesh::enclosing_ball;
use dermis::metric::{
    AnimationVector, JointModel, MetricError, ModelKind, PoseMetric, model_from_limits,
    models_from_poses,
};
use dermis::skin::LinearProgram;
use dermis::{Pose, Skin, VertexProgram};
use dermis_io::Document;

/// Pairs of vertices per file.
const PAIRS: usize = 2000;
/// Legal poses, drawn and searched for, that say how large the best ball is at least.
const DRAWN: usize = 200;
const SEARCHED: usize = 400;
/// Share of joints at an end of their range in those poses.
const EXTREME: f64 = 0.7;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    assert!(!files.is_empty(), "usage: distances_and_bounds FILE...");
    let documents: Vec<(String, Document)> = (files.iter())
        .map(|file| {
            let document = dermis_io::read(Path::new(file)).unwrap_or_else(|e| panic!("{e}"));
            (name_of(file), document)
        })
        .collect();
    distances(&documents);
    bounds(&documents);
}

fn name_of(file: &str) -> String {
    let path = Path::new(file);
    let part =
        |p: Option<&std::ffi::OsStr>| p.map_or(String::new(), |s| s.to_string_lossy().into());
    match part(path.file_stem()).as_str() {
        "truth" => part(path.parent().and_then(Path::file_name)),
        stem => stem.to_owned(),
    }
}

/// Every pose of a file: whole frames of its clips, or those of its frames.
fn poses_of(document: &Document, skin: &Skin) -> Vec<Pose> {
    let mut poses = document.frame_poses.clone();
    for clip in &document.clips {
        let rate = clip.key_rate().unwrap_or(30.0);
        poses.extend(
            clip.frame_times(rate)
                .expect("few frames")
                .into_iter()
                .map(|time| skin.sample(clip, time)),
        );
    }
    poses
}

fn linear(skin: &Skin) -> LinearProgram {
    match skin.to_linear().expect("a linear skin").program {
        VertexProgram::Linear(program) => program,
        _ => unreachable!("it was made linear"),
    }
}

/// Vertex pairs spread over the mesh: half of them ends of edges, half of them any two.
fn pairs(document: &Document) -> Vec<[usize; 2]> {
    let triangles = document.mesh.triangles();
    let count = document.mesh.vertex_count();
    let step = |n: usize, of: usize, by: f64| ((n as f64 * by).fract() * of as f64) as usize;
    let edges = (0..PAIRS / 2).map(|n| {
        let [a, b, _] = triangles[step(n, triangles.len(), 0.618_034)];
        [a as usize, b as usize]
    });
    let any = (0..PAIRS / 2).map(|n| [step(n, count, 0.754_877_7), step(n, count, 0.569_840_3)]);
    edges.chain(any).filter(|[a, b]| a != b).collect()
}

fn distances(documents: &[(String, Document)]) {
    println!("Mean distances: relative error in per cent, mean and largest over vertex pairs\n");
    print!("| model |");
    documents.iter().for_each(|(name, _)| print!(" {name} |"));
    println!("\n| --- |{}", " ---: |".repeat(documents.len()));
    let mut rows: Vec<(String, Vec<String>)> = ModelKind::ALL
        .iter()
        .map(|kind| (kind.name().to_owned(), Vec::new()))
        .collect();
    rows.push(("statistics of the file".to_owned(), Vec::new()));
    rows.push(("even over the limits seen".to_owned(), Vec::new()));
    for (_, document) in documents {
        let skin = document.skin.as_ref().expect("a file with a skin");
        let poses = poses_of(document, skin);
        let program = linear(skin);
        let truth = PoseMetric::average(skin, &poses).expect("poses");
        let vectors: Vec<AnimationVector> = (pairs(document).iter())
            .map(|[a, b]| {
                let row = |v: usize| program.influences.row(v);
                AnimationVector::difference(row(*a), row(*b))
            })
            .collect();
        let expected: Vec<f64> = vectors.iter().map(|s| truth.norm(s.terms())).collect();
        let largest = expected.iter().copied().fold(0.0, f64::max);
        let seen = joint_statistics(&skin.skeleton, &poses);
        let limits: Vec<JointLimits> = seen.iter().map(JointLimits::from_statistics).collect();
        let mut all: Vec<Result<PoseMetric, MetricError>> = ModelKind::ALL
            .iter()
            .map(|&kind| {
                let models = models_from_poses(&skin.skeleton, &poses, kind)?;
                PoseMetric::of_skin(skin, &models)
            })
            .collect();
        all.push(PoseMetric::from_statistics(skin, &seen));
        let even: Vec<JointModel> = limits.iter().map(model_from_limits).collect();
        all.push(PoseMetric::of_skin(skin, &even));
        for ((_, cells), metric) in rows.iter_mut().zip(all) {
            let metric = match metric {
                Ok(metric) => metric.with_all_blocks(),
                Err(error) => {
                    eprintln!("{error}");
                    cells.push("–".to_owned());
                    continue;
                }
            };
            let errors: Vec<f64> = (vectors.iter().zip(&expected))
                .filter(|(_, d)| **d > 1e-6 * largest)
                .map(|(s, d)| (metric.norm(s.terms()) / d - 1.0).abs())
                .collect();
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let most = errors.iter().copied().fold(0.0, f64::max);
            cells.push(format!("{:.2}, {:.0}", 100.0 * mean, 100.0 * most));
        }
    }
    for (name, cells) in rows {
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn bounds(documents: &[(String, Document)]) {
    println!("\nBounds: radius over that of the smallest ball around the same poses\n");
    println!(
        "| character | radius at rest | any rotation | limits | bone boxes, clips | any rotation over clips | limits over clips | ms |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, document) in documents {
        let skin = document.skin.as_ref().expect("a file with a skin");
        let poses = poses_of(document, skin);
        let ranges = coefficient_ranges(skin, &document.clips).expect("bounded drivers");
        let seen = joint_statistics(&skin.skeleton, &poses);
        let limits: Vec<JointLimits> = seen.iter().map(JointLimits::from_statistics).collect();
        // Roots move as they do in the clips, in both.
        let free: Vec<JointLimits> = (free_joints(&skin.skeleton).into_iter().zip(&limits))
            .map(|(free, seen)| JointLimits {
                turn: free.turn,
                ..seen.clone()
            })
            .collect();
        let start = std::time::Instant::now();
        let radius = |limits: &[JointLimits]| {
            let balls = hold_vertices(skin, limits, &ranges).expect("linear");
            enclose(&balls).radius
        };
        let (any, limited) = (radius(&free), radius(&limits));
        let ms = 500.0 * start.elapsed().as_secs_f64();
        let best = |limits: &[JointLimits]| {
            let legal = LegalPoses::new(&skin.skeleton, limits, EXTREME, 1).expect("limits");
            let mut found: Vec<Pose> = legal.take(DRAWN).collect();
            let balls = hold_vertices(skin, limits, &ranges).expect("linear");
            found.extend(
                extreme_poses(skin, limits, &ranges, &balls, None, SEARCHED).expect("linear"),
            );
            sampled_ball(skin, &found, None).expect("they fit").radius
        };
        let (best_any, best_limited) = (best(&free), best(&limits));
        let clips = sampled_ball(skin, &poses, None).expect("they fit").radius;
        let rest = enclosing_ball(document.mesh.positions()).radius;
        let boxes = BoneBoxes::new(skin).expect("linear blend");
        let corners: Vec<_> = (poses.iter())
            .flat_map(|pose| {
                let palette = skin.run_pose_program(pose).expect("it fits").palette;
                boxes.corners(&palette)
            })
            .collect();
        let boxed = enclosing_ball(&corners).radius;
        println!(
            "| {name} | {rest:.3} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {ms:.1} |",
            any / best_any,
            limited / best_limited,
            boxed / clips,
            any / clips,
            limited / clips
        );
    }
}
