//! `dermis bench --cost-model`: time as a sum over vertices, influences and objects.
//!
//! Bodies of several sizes are timed and `T = a·vertices + b·influences + c·objects + d` is fitted
//! to the times of each program, as in \[Merry07\] §8.6.1. Relative errors are minimised, because the
//! times span three orders of magnitude. All sizes stay within the caches: beyond them the time is
//! that of moving bytes, which `dermis bench` shows.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use dermis::run::{Output, Plane};
use dermis::synth::{BodyOptions, body};
use glam::{DMat4, DVec4};
use serde::Serialize;

use super::bench::{Case, cases};
use crate::Outcome;
use crate::args::BenchArgs;
use crate::talk::Talk;

const VERTICES: [usize; 3] = [500, 2_000, 8_000];
const INFLUENCES: [usize; 4] = [1, 2, 4, 8];
const OBJECTS: [usize; 2] = [1, 8];

/// Coefficients in nanoseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    program: &'static str,
    normals: &'static str,
    ns_per_vertex: f64,
    ns_per_influence: f64,
    ns_per_object: f64,
    ns_constant: f64,
    /// Root mean square of the relative error of the model over all sizes.
    relative_error: f64,
}

/// One timing: counts of vertices, influences and objects, 1, and nanoseconds.
struct Sample {
    counts: DVec4,
    ns: f64,
}

pub(super) fn run(args: &BenchArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let mut samples: Vec<((&'static str, &'static str), Vec<Sample>)> = Vec::new();
    let total = VERTICES.len() * INFLUENCES.len();
    let mut done = 0;
    for vertex_count in VERTICES {
        for influences in INFLUENCES {
            use dermis::progress::Progress;
            talk.report("timing", done, total);
            talk.check_stopped()?;
            let subject = body(&BodyOptions {
                vertex_count,
                influences,
                bone_count: args.bones,
            });
            for case in cases(&subject.mesh, &subject.skin)? {
                let key = (case.program, case.normals);
                let index = samples.iter().position(|(k, _)| *k == key);
                let index = index.unwrap_or_else(|| {
                    samples.push((key, Vec::new()));
                    samples.len() - 1
                });
                for objects in OBJECTS {
                    samples[index].1.push(Sample {
                        counts: objects as f64
                            * DVec4::new(
                                case.packed.vertex_count() as f64,
                                (case.packed.vertex_count() * influences) as f64,
                                1.0,
                                1.0 / objects as f64,
                            ),
                        ns: time(&case, &subject.pose, objects)?,
                    });
                }
            }
            done += 1;
        }
    }
    talk.clear();
    let models: Vec<Model> = samples
        .iter()
        .map(|(key, samples)| fit(*key, samples))
        .collect();
    let text = match args.json {
        true => serde_json::to_string_pretty(&models).context("numbers are plain JSON")?,
        false => table(&models),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// Least nanoseconds of evaluating so many objects one after the other, on one thread.
fn time(case: &Case, pose: &dermis::Pose, objects: usize) -> anyhow::Result<f64> {
    let frame = case.packed.frame(&case.skin.run_pose_program(pose)?)?;
    let zero = [Plane::ZERO; 3];
    let mut positions = vec![zero; case.packed.block_count()];
    let mut normals = vec![zero; case.packed.block_count()];
    let mut best = f64::INFINITY;
    // Half a millisecond of work at a time, so that the clock's own cost does not count.
    let group = (500_000 / (objects * case.packed.vertex_count()).max(1)).max(1);
    for _ in 0..25 {
        let start = Instant::now();
        for _ in 0..group * objects {
            let normals = case.packed.has_normals().then_some(&mut normals[..]);
            let out = Output::Blocks {
                positions: &mut positions,
                normals,
            };
            case.packed.evaluate(&frame.inputs(), out)?;
        }
        best = best.min(start.elapsed().as_secs_f64() / group as f64);
    }
    Ok(1e9 * best)
}

/// Weighted normal equations of four unknowns.
fn fit((program, normals): (&'static str, &'static str), samples: &[Sample]) -> Model {
    let mut matrix = DMat4::ZERO;
    let mut right = DVec4::ZERO;
    for sample in samples {
        let row = sample.counts / sample.ns;
        matrix += DMat4::from_cols(row * row.x, row * row.y, row * row.z, row * row.w);
        right += row;
    }
    let solution = matrix.inverse() * right;
    let squared: f64 = samples
        .iter()
        .map(|s| (s.counts.dot(solution) / s.ns - 1.0).powi(2))
        .sum();
    Model {
        program,
        normals,
        ns_per_vertex: solution.x,
        ns_per_influence: solution.y,
        ns_per_object: solution.z,
        ns_constant: solution.w,
        relative_error: (squared / samples.len() as f64).sqrt(),
    }
}

fn table(models: &[Model]) -> String {
    let head = format!(
        "{:<16}{:<10}{:>12}{:>14}{:>12}{:>12}{:>10}",
        "program", "normals", "ns/vertex", "ns/influence", "ns/object", "ns", "error"
    );
    let rows = models.iter().map(|m| {
        format!(
            "{:<16}{:<10}{:>12.3}{:>14.3}{:>12.0}{:>12.0}{:>9.1}%",
            m.program,
            m.normals,
            m.ns_per_vertex,
            m.ns_per_influence,
            m.ns_per_object,
            m.ns_constant,
            100.0 * m.relative_error
        )
    });
    std::iter::once(head)
        .chain(rows)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_follow_the_model_give_its_coefficients_back() {
        let truth = DVec4::new(0.4, 0.3, 50.0, 20.0);
        let mut samples = Vec::new();
        for vertices in [500.0, 2000.0, 8000.0] {
            for influences in [1.0, 2.0, 4.0, 8.0] {
                for objects in [1.0, 8.0] {
                    let counts = DVec4::new(vertices, vertices * influences, 1.0, 1.0 / objects);
                    let counts = objects * counts;
                    samples.push(Sample {
                        counts,
                        ns: counts.dot(truth),
                    });
                }
            }
        }
        let model = fit(("test", "none"), &samples);
        assert!((model.ns_per_vertex - 0.4).abs() < 1e-6, "{model:?}");
        assert!((model.ns_per_influence - 0.3).abs() < 1e-6, "{model:?}");
        assert!((model.ns_per_object - 50.0).abs() < 1e-3, "{model:?}");
        assert!(model.relative_error < 1e-9, "{model:?}");
    }
}
