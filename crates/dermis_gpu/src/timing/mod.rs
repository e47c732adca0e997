//! How fast skins are on a graphics card.
//!
//! Times are the card's own where it has a clock, else those between handing work in and its end. Each is the
//! median of several runs, because clocks and neighbours on the same processor speed single runs up as well as slow them down
//! (the best of many would find the one run that had everything to itself); and a run repeats the work until it is long enough to be measured.

mod draw;
mod stopwatch;

use std::time::{Duration, Instant};

use dermis::run::{Frame, FrameInputs};

pub use draw::{Drawn, time_passes, time_vertex_stage};
use stopwatch::Stopwatch;

use crate::layout::{FaceTable, GpuSkin};
use crate::skin::{FaceNormalPass, SkinBuffers, SkinPipelines};
use crate::{Gpu, GpuError};

/// How something is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuTimingOptions {
    /// Number of runs, of which the median counts. At least 1, default 5.
    pub runs: usize,
    /// Work is repeated within a run for about this long; default 20 ms.
    pub run_time: Duration,
}

impl Default for GpuTimingOptions {
    fn default() -> Self {
        Self {
            runs: 5,
            run_time: Duration::from_millis(20),
        }
    }
}

/// A skin on the card in a pose, with the pipeline for it.
struct Loaded {
    pipelines: SkinPipelines,
    buffers: SkinBuffers,
}

impl Loaded {
    fn new(gpu: &Gpu, skin: &GpuSkin, inputs: &FrameInputs<'_>) -> Result<Self, GpuError> {
        let pipelines = SkinPipelines::new(gpu, &[skin.kind]);
        let mut buffers = SkinBuffers::new(gpu, &pipelines, skin.clone(), 1)?;
        buffers.write_frame(gpu, 0, inputs)?;
        Ok(Self { pipelines, buffers })
    }
}

/// Nanoseconds per vertex of the compute pass that poses a skin.
///
/// # Errors
/// Those of [`SkinBuffers`] and [`GpuError::Lost`].
pub fn time_compute(
    gpu: &Gpu,
    skin: &GpuSkin,
    inputs: &FrameInputs<'_>,
    options: &GpuTimingOptions,
) -> Result<f64, GpuError> {
    let Loaded { pipelines, buffers } = Loaded::new(gpu, skin, inputs)?;
    let seconds = Stopwatch::new(gpu).typical(options, |encoder, marks, repeats| {
        let mut pass = encoder.begin_compute_pass(&marks.compute(true, true));
        for _ in 0..repeats {
            buffers.dispatch(&pipelines, &mut pass)?;
        }
        Ok(())
    })?;
    Ok(1e9 * seconds / f64::from(skin.info.vertices))
}

/// Nanoseconds per vertex of the two passes that make normals of posed faces.
///
/// # Errors
/// Those of [`FaceNormalPass`] and [`SkinBuffers`], and [`GpuError::Lost`].
pub fn time_face_normals(
    gpu: &Gpu,
    skin: &GpuSkin,
    inputs: &FrameInputs<'_>,
    table: &FaceTable,
    options: &GpuTimingOptions,
) -> Result<f64, GpuError> {
    let Loaded { pipelines, buffers } = Loaded::new(gpu, skin, inputs)?;
    let normals = FaceNormalPass::new(gpu, table, buffers.positions())?;
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    buffers.dispatch(
        &pipelines,
        &mut encoder.begin_compute_pass(&Default::default()),
    )?;
    gpu.queue.submit([encoder.finish()]);
    let seconds = Stopwatch::new(gpu).typical(options, |encoder, marks, repeats| {
        let mut pass = encoder.begin_compute_pass(&marks.compute(true, true));
        (0..repeats).for_each(|_| normals.dispatch(&mut pass));
        Ok(())
    })?;
    Ok(1e9 * seconds / f64::from(skin.info.vertices))
}

/// Seconds of a frame of several objects, from the first write of a palette until the card has posed the last vertex.
///
/// Every object has buffers of its own, which are written and dispatched one after the other: what
/// [`CostModel`](crate::cost::CostModel) is fitted to.
///
/// # Errors
/// Those of [`SkinBuffers`], and [`GpuError::Lost`].
pub fn time_objects(
    gpu: &Gpu,
    skin: &GpuSkin,
    frame: &Frame,
    objects: usize,
    options: &GpuTimingOptions,
) -> Result<f64, GpuError> {
    let pipelines = SkinPipelines::new(gpu, &[skin.kind]);
    let mut all = (0..objects)
        .map(|_| SkinBuffers::new(gpu, &pipelines, skin.clone(), 1))
        .collect::<Result<Vec<_>, _>>()?;
    let mut frames = Vec::new();
    let begin = Instant::now();
    let [least, most] = [2, 50].map(|each| each * options.runs.max(1));
    while frames.len() < least || (begin.elapsed() < options.run_time && frames.len() < most) {
        let start = Instant::now();
        for buffers in &mut all {
            buffers.write_frame(gpu, 0, &frame.inputs())?;
        }
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for buffers in &all {
                buffers.dispatch(&pipelines, &mut pass)?;
            }
        }
        gpu.queue.submit([encoder.finish()]);
        gpu.wait()?;
        frames.push(start.elapsed().as_secs_f64());
    }
    frames.sort_by(f64::total_cmp);
    Ok(frames[frames.len() / 2])
}
