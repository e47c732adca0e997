//! Positions of one instance's vertices, as the shader that draws computes them.

use super::super::CrowdError;
use super::binding::{Slot, Step};
use super::buffers::Buffers;
use super::draw::skin_constants;
use super::packed::PackedLevels;
use crate::Gpu;

#[derive(Debug)]
pub(super) struct Probe {
    step: Step,
    asked: wgpu::Buffer,
    positions: wgpu::Buffer,
}

impl Probe {
    pub(super) fn new(gpu: &Gpu, packed: &PackedLevels, b: &Buffers) -> Result<Self, CrowdError> {
        let asked = gpu.uniform("what is asked", bytemuck::bytes_of(&[0u32; 4]));
        let most = packed
            .first_vertices
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .max();
        let bytes = 12 * u64::from(most.unwrap_or(0));
        let positions = gpu.storage_zeros("positions", bytes, wgpu::BufferUsages::empty())?;
        let source = concat!(
            include_str!("../../../shaders/crowd_skin.wgsl"),
            include_str!("../../../shaders/crowd_probe.wgsl")
        );
        use Slot::{Read, Uniform, Write};
        let bound = [
            (Uniform, &b.view),
            (Uniform, &asked),
            (Write, &positions),
            (Read, &b.drawn),
            (Read, &b.instances),
            (Read, &b.palettes),
            (Read, &b.bones),
            (Read, &b.fixed),
            (Read, &b.of_bones),
            (Read, &b.vertices),
        ];
        let step = Step::new(
            &gpu.device,
            "positions",
            source,
            &skin_constants(packed),
            &bound,
        );
        Ok(Self {
            step,
            asked,
            positions,
        })
    }

    /// Positions of some vertices.
    pub(super) fn run(
        &self,
        gpu: &Gpu,
        row: u32,
        first: u32,
        end: u32,
    ) -> Result<Vec<[f32; 3]>, CrowdError> {
        let count = end - first;
        gpu.queue
            .write_buffer(&self.asked, 0, bytemuck::bytes_of(&[row, first, count, 0]));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.step.begin(&mut pass);
        pass.dispatch_workgroups(count.div_ceil(64), 1, 1);
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
        let mut positions: Vec<[f32; 3]> =
            bytemuck::pod_collect_to_vec(&gpu.read(&self.positions)?);
        positions.truncate(count as usize);
        Ok(positions)
    }
}
