//! The measurements; the JSON form is the structs here, field by field.

use std::time::Duration;

use dermis::measure::Cost;
use dermis::run::timing::{TimedOutput, TimingOptions};
use dermis_gpu::Gpu;
use dermis_gpu::cost::{CostModel, CostSample};
use dermis_gpu::layout::face_table;
use dermis_gpu::shaders::SkinStage;
use dermis_gpu::timing::{
    Drawn, GpuTimingOptions, time_compute, time_face_normals, time_objects, time_passes,
    time_vertex_stage,
};
use serde::Serialize;

use super::cases::{BLENDED, Case, cases, made};
use crate::args::BenchArgs;
use crate::cmd::bench::{Subject, read_subject};
use crate::talk::Talk;

/// Influences of the made bodies.
const INFLUENCES: [usize; 3] = [2, 4, 8];
/// Bones of the made bodies.
const BONES: usize = 60;
/// Passes of a frame: a picture; with a shadow; with a shadow and depth of two more lights.
const PASSES: [usize; 3] = [1, 2, 4];
/// How often everything is timed; the median counts.
const ROUNDS: usize = 3;

/// Everything that was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timings {
    pub(super) adapter: String,
    /// True when the "card" is a program on the processor.
    pub(super) software: bool,
    /// True when times are the card's own.
    pub(super) timestamps: bool,
    pub(super) vertices: usize,
    pub(super) bones: usize,
    pub(super) rows: Vec<Timed>,
    /// Of the first program, with moved rest normals.
    pub(super) passes: Vec<Passes>,
    /// Of made bodies; none when a skin was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cost_models: Vec<Modelled>,
}

/// One way to skin.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timed {
    pub(super) program: &'static str,
    pub(super) normals: &'static str,
    pub(super) influences: f64,
    compute_ns_per_vertex: f64,
    /// Over that of linear blend skinning without normals.
    times_linear_blend: Option<f64>,
    /// The vertex stage alone; normals of faces have none.
    vertex_stage_ns_per_vertex: Option<f64>,
    /// One thread, in the caller's order.
    cpu_ns_per_vertex: Option<f64>,
}

/// A frame that draws more than once.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Passes {
    pub(super) passes: usize,
    compute_ns_per_vertex: f64,
    vertex_stage_ns_per_vertex: f64,
    /// Vertex stage over compute.
    ratio: f64,
}

/// `T = aV + bI + cO + eB + d` of one program.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Modelled {
    pub(super) program: &'static str,
    pub(super) frames: usize,
    ns_per_vertex: f64,
    ns_per_influence: f64,
    microseconds_per_object: f64,
    microseconds_per_bone: f64,
    microseconds_per_frame: f64,
    pub(super) r_squared: f64,
}

pub(super) fn measure(gpu: &Gpu, args: &BenchArgs, talk: &Talk) -> anyhow::Result<Timings> {
    let subjects = match &args.skin {
        Some(path) => {
            let subject = read_subject(path, args.level, talk)?;
            if subject.skin.vertex_count() == 0 {
                anyhow::bail!("{}: there are no vertices to time", path.display());
            }
            vec![subject]
        }
        None => INFLUENCES
            .map(|influences| made(size(gpu), influences, BONES))
            .into(),
    };
    let mut rows = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        time_subject(gpu, subject, &mut rows, &|step, steps| {
            talk_of(talk, number * steps + step, subjects.len() * steps)
        })?;
    }
    // The middle one has four influences, which is what engines have.
    let typical = &subjects[subjects.len() / 2];
    Ok(Timings {
        adapter: gpu.description(),
        software: gpu.is_software(),
        timestamps: gpu.has_timestamps(),
        vertices: typical.skin.vertex_count(),
        bones: typical.skin.skeleton.bone_count(),
        rows,
        passes: time_frames(gpu, typical, talk)?,
        cost_models: match &args.skin {
            // One skin has one number of everything, which tells no terms apart.
            Some(_) => Vec::new(),
            None => ["linear blend", "linear"]
                .map(|program| fitted(gpu, program, talk))
                .into_iter()
                .collect::<anyhow::Result<_>>()?,
        },
    })
}

/// Vertices of the made bodies: enough to keep a card busy, few enough for a program that acts as one.
fn size(gpu: &Gpu) -> usize {
    if gpu.is_software() { 5_000 } else { 100_000 }
}

fn talk_of(talk: &Talk, step: usize, steps: usize) -> anyhow::Result<()> {
    use dermis::progress::Progress;
    talk.report("timing", step, steps);
    talk.check_stopped()
}

/// All programs of one skin, and normals of its faces: each in every round, so that what else the machine does in between
/// slows none of them alone.
fn time_subject(
    gpu: &Gpu,
    subject: &Subject,
    rows: &mut Vec<Timed>,
    step: &dyn Fn(usize, usize) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let influences = Cost::of(&subject.skin).mean_influences;
    let cases = cases(subject)?;
    let mut times = vec![[const { Vec::new() }; 3]; cases.len()];
    let mut faces = Vec::new();
    for round in 0..ROUNDS {
        for (number, (case, all)) in cases.iter().zip(&mut times).enumerate() {
            step(round * cases.len() + number, ROUNDS * cases.len())?;
            for (all, time) in all.iter_mut().zip(time_case(gpu, case)?) {
                all.push(time);
            }
        }
        faces.push(time_faces(gpu, subject, &cases)?);
    }
    let times: Vec<[f64; 3]> = times.into_iter().map(|all| all.map(median)).collect();
    let faces = median(faces);
    let is_base = |case: &Case| (case.program, case.normals) == ("linear blend", "none");
    let base = cases.iter().position(is_base).map(|k| times[k][0]);
    for (case, [compute, vertex_stage, cpu]) in cases.iter().zip(times) {
        rows.push(Timed {
            program: case.program,
            normals: case.normals,
            influences,
            compute_ns_per_vertex: compute,
            times_linear_blend: base.map(|base| compute / base),
            vertex_stage_ns_per_vertex: Some(vertex_stage),
            cpu_ns_per_vertex: (case.normals != BLENDED).then_some(cpu),
        });
    }
    if faces.is_finite() {
        rows.push(Timed {
            program: "normals alone",
            normals: "faces",
            influences,
            compute_ns_per_vertex: faces,
            times_linear_blend: base.map(|base| faces / base),
            vertex_stage_ns_per_vertex: None,
            cpu_ns_per_vertex: None,
        });
    }
    Ok(())
}

/// The one in the middle, which neither a busy moment of the machine nor a quiet one has a part in.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Nanoseconds per vertex: the compute pass, the vertex stage, and one thread of the processor.
fn time_case(gpu: &Gpu, case: &Case) -> anyhow::Result<[f64; 3]> {
    let inputs = case.frame.inputs();
    let options = options(gpu);
    let cpu = TimingOptions {
        output: TimedOutput::Vertices,
        run_time: options.run_time,
        ..TimingOptions::default()
    };
    Ok([
        time_compute(gpu, &case.layout, &inputs, &options)?,
        time_vertex_stage(gpu, &case.layout, &inputs, &options)?,
        case.packed.time(&inputs, &cpu)?.ns_per_vertex,
    ])
}

/// Normals of faces; endless where there are none.
fn time_faces(gpu: &Gpu, subject: &Subject, cases: &[Case]) -> anyhow::Result<f64> {
    let triangles = subject.mesh.triangles();
    let (Some(case), false) = (cases.first(), triangles.is_empty()) else {
        return Ok(f64::INFINITY);
    };
    let table = face_table(triangles, subject.skin.vertex_count())?;
    let inputs = case.frame.inputs();
    Ok(time_face_normals(
        gpu,
        &case.layout,
        &inputs,
        &table,
        &options(gpu),
    )?)
}

/// How long each is timed. A program that acts as a card shares the processor with all else, so its times scatter: many
/// short runs have a steadier median than few long ones.
fn options(gpu: &Gpu) -> GpuTimingOptions {
    match gpu.is_software() {
        true => GpuTimingOptions {
            runs: 9,
            run_time: Duration::from_millis(6),
        },
        false => GpuTimingOptions::default(),
    }
}

/// Frames of several passes, posed by each or once before them.
fn time_frames(gpu: &Gpu, subject: &Subject, talk: &Talk) -> anyhow::Result<Vec<Passes>> {
    let options = options(gpu);
    let cases = cases(subject)?;
    let Some(case) = cases.iter().find(|case| case.normals == "rest") else {
        return Ok(Vec::new());
    };
    let drawn = Drawn {
        packed: &case.packed,
        inputs: case.frame.inputs(),
        triangles: subject.mesh.triangles(),
    };
    let mut times = [const { [const { Vec::new() }; 2] }; PASSES.len()];
    for _ in 0..ROUNDS {
        for (passes, both) in PASSES.into_iter().zip(&mut times) {
            for (stage, all) in [SkinStage::Compute, SkinStage::Vertex]
                .into_iter()
                .zip(both)
            {
                talk.check_stopped()?;
                all.push(time_passes(gpu, &drawn, passes, stage, &options)?);
            }
        }
    }
    let rows = PASSES.into_iter().zip(times.map(|both| both.map(median)));
    let rows = rows.map(|(passes, [compute, vertex_stage])| Passes {
        passes,
        compute_ns_per_vertex: compute,
        vertex_stage_ns_per_vertex: vertex_stage,
        ratio: vertex_stage / compute,
    });
    Ok(rows.collect())
}

/// The cost model of a program, from frames of made bodies of many sizes.
fn fitted(gpu: &Gpu, program: &'static str, talk: &Talk) -> anyhow::Result<Modelled> {
    let options = GpuTimingOptions::default();
    let mut samples = Vec::new();
    for vertex_count in [size(gpu) / 8, size(gpu) / 2] {
        for influences in INFLUENCES {
            for bone_count in [10, BONES] {
                let subject = made(vertex_count, influences, bone_count);
                let cases = cases(&subject)?;
                let is_it = |case: &&Case| (case.program, case.normals) == (program, "none");
                let Some(case) = cases.iter().find(is_it) else {
                    continue;
                };
                for objects in [1, 4, 16] {
                    talk.check_stopped()?;
                    let each = case.packed.vertex_count() as f64;
                    let count = objects as f64;
                    samples.push(CostSample {
                        vertices: count * each,
                        influences: count * each * influences as f64,
                        objects: count,
                        bones: count * bone_count as f64,
                        seconds: time_objects(gpu, &case.layout, &case.frame, objects, &options)?,
                    });
                }
            }
        }
    }
    let model = CostModel::fit(&samples)?;
    Ok(Modelled {
        program,
        frames: samples.len(),
        ns_per_vertex: model.ns_per_vertex,
        ns_per_influence: model.ns_per_influence,
        microseconds_per_object: 1e-3 * model.ns_per_object,
        microseconds_per_bone: 1e-3 * model.ns_per_bone,
        microseconds_per_frame: 1e-3 * model.ns_per_frame,
        r_squared: model.r_squared,
    })
}
