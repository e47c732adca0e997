//! How long the card takes for passes, by its own clock where it has one.

use std::time::Instant;

use super::GpuTimingOptions;
use crate::{Gpu, GpuError};

/// Most repetitions in one run: an encoder keeps every one of them in memory.
const MOST_REPEATS: usize = 2_000;

pub(super) struct Stopwatch<'a> {
    gpu: &'a Gpu,
    clock: Option<Clock>,
}

/// The begin and the end of the passes, as the card notes them.
struct Clock {
    marks: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    copied: wgpu::Buffer,
}

/// What passes are begun with.
#[derive(Clone, Copy)]
pub(super) struct Marks<'a>(Option<&'a wgpu::QuerySet>);

impl<'a> Marks<'a> {
    /// A compute pass which may be the first that is timed, and may be the last.
    pub(super) fn compute(self, first: bool, last: bool) -> wgpu::ComputePassDescriptor<'a> {
        let marks = self.0.filter(|_| first || last);
        wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: marks.map(|query_set| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: first.then_some(0),
                end_of_pass_write_index: last.then_some(1),
            }),
        }
    }

    /// As [`Marks::compute`], of a pass that draws.
    pub(super) fn render(
        self,
        first: bool,
        last: bool,
    ) -> Option<wgpu::RenderPassTimestampWrites<'a>> {
        let marks = self.0.filter(|_| first || last);
        marks.map(|query_set| wgpu::RenderPassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: first.then_some(0),
            end_of_pass_write_index: last.then_some(1),
        })
    }
}

impl<'a> Stopwatch<'a> {
    pub(super) fn new(gpu: &'a Gpu) -> Self {
        let clock = gpu.has_timestamps().then(|| {
            let buffer = |usage| {
                gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("timestamps"),
                    size: 16,
                    usage: usage | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                })
            };
            Clock {
                marks: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("timestamps"),
                    ty: wgpu::QueryType::Timestamp,
                    count: 2,
                }),
                resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE),
                copied: buffer(wgpu::BufferUsages::COPY_DST),
            }
        });
        Self { gpu, clock }
    }

    /// Seconds of one repetition, the median of all runs. `record` records passes that do the work so many times.
    pub(super) fn typical(
        &self,
        options: &GpuTimingOptions,
        record: impl Fn(&mut wgpu::CommandEncoder, Marks<'_>, usize) -> Result<(), GpuError>,
    ) -> Result<f64, GpuError> {
        // The first time, memory is touched and shaders may still be compiled.
        self.seconds(|encoder, marks| record(encoder, marks, 1))?;
        let once = self.seconds(|encoder, marks| record(encoder, marks, 1))?;
        let wanted = options.run_time.as_secs_f64() / once.max(1e-9);
        let repeats = (wanted.ceil() as usize).clamp(1, MOST_REPEATS);
        let mut runs = Vec::new();
        for _ in 0..options.runs.max(1) {
            let run = self.seconds(|encoder, marks| record(encoder, marks, repeats))?;
            runs.push(run / repeats as f64);
        }
        runs.sort_by(f64::total_cmp);
        Ok(runs[runs.len() / 2])
    }

    fn seconds(
        &self,
        record: impl FnOnce(&mut wgpu::CommandEncoder, Marks<'_>) -> Result<(), GpuError>,
    ) -> Result<f64, GpuError> {
        let gpu = self.gpu;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        record(
            &mut encoder,
            Marks(self.clock.as_ref().map(|clock| &clock.marks)),
        )?;
        if let Some(clock) = &self.clock {
            encoder.resolve_query_set(&clock.marks, 0..2, &clock.resolved, 0);
            encoder.copy_buffer_to_buffer(&clock.resolved, 0, &clock.copied, 0, 16);
        }
        let commands = encoder.finish();
        let start = Instant::now();
        gpu.queue.submit([commands]);
        gpu.wait()?;
        let elapsed = start.elapsed().as_secs_f64();
        let Some(clock) = &self.clock else {
            return Ok(elapsed);
        };
        let bytes = gpu.read(&clock.copied)?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes[..16]);
        let ticks = ticks[1].saturating_sub(ticks[0]);
        Ok(1e-9 * ticks as f64 * f64::from(gpu.queue.get_timestamp_period()))
    }
}
