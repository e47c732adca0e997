//! Time as a sum over vertices, influences and objects: `DERMIS_TABLES=cost-model`.
//!
//! Bodies of several sizes are timed and `T = a·vertices + b·influences + c·objects + d` is fitted
//! to the times of each program, as in \[Merry07\] §8.6.1. Relative errors are minimised, because the
//! times span three orders of magnitude. All sizes stay within the caches: beyond them the time is
//! that of moving bytes, which the other tables show.

use dermis::normal::tangents_from_rest_normals;
use dermis::run::timing::{TimingOptions, best_time};
use dermis::run::{Normals, Output, PackOptions, PackedSkin, Plane};
use dermis::{Pose, Skin};
use glam::{DMat4, DVec4};

use super::Body;

const VERTICES: [usize; 3] = [500, 2_000, 8_000];
const INFLUENCES: [usize; 4] = [1, 2, 4, 8];
const OBJECTS: [usize; 2] = [1, 8];

/// One timing: counts of vertices, influences and objects, 1, and nanoseconds.
struct Sample {
    counts: DVec4,
    ns: f64,
}

/// Times all sizes and prints a row of coefficients for each program.
pub(super) fn table() {
    let mut samples: Vec<(String, Vec<Sample>)> = Vec::new();
    for vertex_count in VERTICES {
        for influences in INFLUENCES {
            let body = Body::new(vertex_count, 100, influences);
            for (number, (name, skin, normals)) in cases(&body).into_iter().enumerate() {
                if samples.len() == number {
                    samples.push((name, Vec::new()));
                }
                let options = PackOptions {
                    normals,
                    ..PackOptions::default()
                };
                let packed = PackedSkin::new(&skin, &options).expect("packs");
                let vertices = packed.vertex_count() as f64;
                for objects in OBJECTS {
                    let count = objects as f64;
                    let each = DVec4::new(vertices, vertices * influences as f64, 1.0, 1.0 / count);
                    samples[number].1.push(Sample {
                        counts: count * each,
                        ns: time(&packed, &skin, &body.pose, objects),
                    });
                }
            }
        }
    }
    println!("\n| program | ns/vertex | ns/influence | ns/object | ns | error |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, samples) in &samples {
        let (found, error) = fit(samples);
        println!(
            "| {name} | {:.3} | {:.3} | {:.0} | {:.0} | {:.1}% |",
            found.x,
            found.y,
            found.z,
            found.w,
            100.0 * error
        );
    }
}

/// The programs of a body with the normals that suit each.
fn cases(body: &Body) -> Vec<(String, Skin, Normals)> {
    let rest = || Normals::Rest(body.normals.clone());
    let mut cases = Vec::new();
    for (name, skin) in body.programs() {
        let (kind, normals) = match name {
            "linear" => {
                let tangents = tangents_from_rest_normals(&skin, &body.normals);
                let tangents = tangents.expect("a normal per vertex").four_vectors();
                ("tangents", Normals::Tangents(tangents))
            }
            _ => ("rest", rest()),
        };
        if matches!(name, "ssd" | "linear") {
            cases.push((format!("{name}, no normals"), skin.clone(), Normals::None));
        }
        cases.push((format!("{name}, normals: {kind}"), skin, normals));
    }
    cases
}

/// Least nanoseconds of evaluating so many objects one after the other, on one thread.
fn time(packed: &PackedSkin, skin: &Skin, pose: &Pose, objects: usize) -> f64 {
    let frame = packed.frame(&skin.run_pose_program(pose).expect("fits"));
    let frame = frame.expect("fits");
    let mut positions = vec![[Plane::ZERO; 3]; packed.block_count()];
    let mut normals = positions.clone();
    let seconds = best_time(&TimingOptions::default(), || {
        for _ in 0..objects {
            let out = Output::Blocks {
                positions: &mut positions,
                normals: packed.has_normals().then_some(&mut normals[..]),
            };
            packed.evaluate(&frame.inputs(), out).expect("sizes agree");
        }
    });
    1e9 * seconds
}

/// Coefficients by weighted normal equations, and the root mean square of the relative error.
fn fit(samples: &[Sample]) -> (DVec4, f64) {
    let mut matrix = DMat4::ZERO;
    let mut right = DVec4::ZERO;
    for sample in samples {
        let row = sample.counts / sample.ns;
        matrix += DMat4::from_cols(row * row.x, row * row.y, row * row.z, row * row.w);
        right += row;
    }
    let found = matrix.inverse() * right;
    let squared: f64 = samples
        .iter()
        .map(|s| (s.counts.dot(found) / s.ns - 1.0).powi(2))
        .sum();
    (found, (squared / samples.len() as f64).sqrt())
}
