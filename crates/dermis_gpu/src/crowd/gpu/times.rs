//! How long each stage takes, by the card's own clock.

use crate::{Gpu, GpuError};

/// Milliseconds of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StageTimes {
    /// Camera and lights handed over, and commands written, on the processor.
    pub submit: f64,
    /// Culling, levels, and the order of instances; `None` where the card has no clock.
    pub choose: Option<f64>,
    /// Matrices.
    pub palettes: Option<f64>,
    /// Ground, shadows, skinning, pixels.
    pub draw: Option<f64>,
    /// From the first call until the picture was there, on the processor's clock.
    pub total: f64,
}

/// Stages that are timed.
const STAGES: u32 = 3;

/// Begin and end of each stage.
#[derive(Debug)]
pub(super) struct Clock {
    queries: wgpu::QuerySet,
    ticks: wgpu::Buffer,
    nanoseconds_per_tick: f64,
}

impl Clock {
    /// `None` where the card has no clock.
    pub(super) fn new(gpu: &Gpu) -> Option<Self> {
        if !gpu.has_timestamps() {
            return None;
        }
        Some(Self {
            queries: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stages of a crowd"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * STAGES,
            }),
            ticks: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("ticks"),
                size: u64::from(2 * STAGES) * 8,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            nanoseconds_per_tick: f64::from(gpu.queue.get_timestamp_period()),
        })
    }

    pub(super) fn compute(&self, stage: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * stage),
            end_of_pass_write_index: Some(2 * stage + 1),
        }
    }

    pub(super) fn render(&self, stage: u32) -> wgpu::RenderPassTimestampWrites<'_> {
        wgpu::RenderPassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * stage),
            end_of_pass_write_index: Some(2 * stage + 1),
        }
    }

    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2 * STAGES, &self.ticks, 0);
    }

    /// Milliseconds of each stage.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<[f64; STAGES as usize], GpuError> {
        let bytes = gpu.read(&self.ticks)?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(std::array::from_fn(|stage| {
            let span = ticks[2 * stage + 1].saturating_sub(ticks[2 * stage]);
            span as f64 * self.nanoseconds_per_tick * 1e-6
        }))
    }
}
