//! A crowd on a graphics card: four compute shaders and three that draw, one module for each stage.
//!
//! | module | stage | shaders |
//! | --- | --- | --- |
//! | `packed`, `buffers` | what is written once | |
//! | `stages` | choose, order, place, palettes | `crowd_choose`, `crowd_order`, `crowd_place`, `crowd_palettes` |
//! | `draw` | ground, shadows, levels | `crowd_ground`, `crowd_shadow`, `crowd_skin` with `crowd_draw` |
//! | `probe` | positions for tests and tools | `crowd_skin` with `crowd_probe` |

mod binding;
mod buffers;
mod draw;
mod packed;
mod picture;
mod probe;
mod scenery;
mod stages;
#[cfg(test)]
mod tests;
mod times;

use std::time::Instant;

use dermis::run::Mat3x4;
use dermis_render::{Camera, Image};

use super::{Character, Counts, CrowdError, CrowdLook, FrameOptions, Instance, View};
use crate::Gpu;
use buffers::Buffers;
use draw::Drawing;
use packed::PackedLevels;
use picture::Target;
use probe::Probe;
use scenery::{LightNumbers, Scenery};
use stages::Stages;
use times::Clock;

pub use times::StageTimes;

/// The air is as thick as if the crowd were at least so wide, in heights of the character.
const LEAST_ACROSS: f32 = 80.0;

/// Draws a crowd.
///
/// Everything is made once: pipelines, buffers, and room for all instances at once. A frame writes the camera and hands in
/// one list of commands; which instances are drawn and with which levels never leaves the card.
#[derive(Debug)]
pub struct CrowdRenderer {
    gpu: Gpu,
    character: Character,
    instances: Vec<Instance>,
    size: [u32; 2],
    /// Width of the crowd, in model units.
    across: f32,
    packed: PackedLevels,
    buffers: Buffers,
    stages: Stages,
    drawing: Drawing,
    probe: Probe,
    target: Target,
    clock: Option<Clock>,
    /// Whether instances have shadows. Default true.
    pub shadows: bool,
}

impl CrowdRenderer {
    /// Uploads a crowd, for pictures of one size.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] for more instances than the card can hold, and for pictures that are too large.
    pub fn new(
        gpu: &Gpu,
        character: Character,
        instances: Vec<Instance>,
        look: &CrowdLook,
        size: [u32; 2],
    ) -> Result<Self, CrowdError> {
        let most = gpu.device.limits().max_texture_dimension_2d;
        for (option, side) in [("width", size[0]), ("height", size[1])] {
            if side == 0 || side > most {
                let problem = format!("expected 1 to {most} pixels, found {side}");
                return Err(CrowdError::BadOption { option, problem });
            }
        }
        let packed = PackedLevels::new(&character);
        let buffers = Buffers::new(gpu, &character, &packed, &instances)?;
        let far = |i: &Instance| i.place[0].abs().max(i.place[2].abs());
        let widest = instances.iter().map(far).fold(0.0, f32::max);
        Ok(Self {
            stages: Stages::new(&gpu.device, &buffers),
            drawing: Drawing::new(gpu, &packed, look, &buffers)?,
            probe: Probe::new(gpu, &packed, &buffers)?,
            target: Target::new(gpu, size)?,
            clock: Clock::new(gpu),
            gpu: gpu.clone(),
            across: (2.0 * widest).max(LEAST_ACROSS * character.height() as f32),
            character,
            instances,
            size,
            packed,
            buffers,
            shadows: true,
        })
    }

    /// The character that is drawn.
    pub fn character(&self) -> &Character {
        &self.character
    }

    /// The instances, in the order they were given.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Draws a frame and returns when the picture is there.
    ///
    /// # Errors
    /// [`CrowdError`]: for cameras and options as [`View::new`], and when the card stops answering.
    pub fn draw(
        &mut self,
        camera: &Camera,
        options: &FrameOptions,
    ) -> Result<StageTimes, CrowdError> {
        let view = View::new(&self.character, &self.instances, camera, self.size, options)?;
        let start = Instant::now();
        let aspect = self.size[0] as f32 / self.size[1] as f32;
        let lights = LightNumbers::new(camera, self.across);
        let scenery = Scenery::new(camera, aspect, &self.character, self.across);
        let queue = &self.gpu.queue;
        queue.write_buffer(&self.buffers.view, 0, bytemuck::bytes_of(&view));
        queue.write_buffer(&self.drawing.lights, 0, bytemuck::bytes_of(&lights));
        queue.write_buffer(&self.drawing.scenery, 0, bytemuck::bytes_of(&scenery));
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let clock = self.clock.as_ref();
        let begin = |encoder: &mut wgpu::CommandEncoder, label, stage| {
            let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(label),
                timestamp_writes: clock.map(|clock| clock.compute(stage)),
            });
            pass.forget_lifetime()
        };
        let mut pass = begin(&mut encoder, "choose", 0);
        self.stages.choose(&mut pass, self.instances.len() as u32);
        drop(pass);
        let mut pass = begin(&mut encoder, "palettes", 1);
        self.stages.pose(&mut pass, &self.buffers);
        drop(pass);
        let mut pass = draw::begin(
            &mut encoder,
            &self.target,
            clock.map(|clock| clock.render(2)),
        );
        self.drawing.run(&mut pass, &self.buffers, self.shadows);
        drop(pass);
        if let Some(clock) = clock {
            clock.resolve(&mut encoder);
        }
        queue.submit([encoder.finish()]);
        let submit = milliseconds(start);
        self.gpu.wait()?;
        let total = milliseconds(start);
        let stages = clock.map(|clock| clock.read(&self.gpu)).transpose()?;
        let stage = |number: usize| stages.map(|stages| stages[number]);
        Ok(StageTimes {
            submit,
            choose: stage(0),
            palettes: stage(1),
            draw: stage(2),
            total,
        })
    }

    /// What the last frame drew and cost, as the card counted it.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] when the card stops answering.
    pub fn counts(&self) -> Result<Counts, CrowdError> {
        let summary = self.summary()?;
        let column = |c: usize| {
            summary[..summary.len() - 1]
                .iter()
                .map(|row| u64::from(row[c]))
                .collect()
        };
        Ok(Counts::new(
            &self.character,
            self.instances.len() as u64,
            column(1),
            column(2),
        ))
    }

    /// The picture of the last frame.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] when the card stops answering.
    pub fn picture(&self) -> Result<Image, CrowdError> {
        Ok(self.target.read(&self.gpu)?)
    }

    /// The instances that the last frame drew, in its order, and how far each is on the way to the next level.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] when the card stops answering.
    pub fn drawn(&self) -> Result<Vec<(u32, f32)>, CrowdError> {
        let count = self.summary()?.last().map_or(0, |totals| totals[0]) as usize;
        let rows: Vec<[u32; 2]> =
            bytemuck::pod_collect_to_vec(&self.gpu.read(&self.buffers.drawn)?);
        let rows = rows.into_iter().take(count);
        Ok(rows
            .map(|[instance, share]| (instance, f32::from_bits(share)))
            .collect())
    }

    /// The matrices that the last frame made, `bones` of [`Moves`](super::Moves) for each instance that it drew. Entries of
    /// bones that the level of an instance does not use mean nothing.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] when the card stops answering.
    pub fn palettes(&self) -> Result<Vec<Mat3x4>, CrowdError> {
        Ok(bytemuck::pod_collect_to_vec(
            &self.gpu.read(&self.buffers.palettes)?,
        ))
    }

    /// Positions of the drawn vertices of one instance of the last frame, by its place in [`CrowdRenderer::drawn`], in model
    /// space: as the picture shows them.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] when the card stops answering.
    pub fn positions(&self, row: usize, level: usize) -> Result<Vec<[f32; 3]>, CrowdError> {
        let [first, end] = [0, 1].map(|next| self.packed.first_vertices[level + next]);
        self.probe.run(&self.gpu, row as u32, first, end)
    }

    fn summary(&self) -> Result<Vec<[u32; 4]>, CrowdError> {
        Ok(bytemuck::pod_collect_to_vec(
            &self.gpu.read(&self.buffers.summary)?,
        ))
    }
}

fn milliseconds(since: Instant) -> f64 {
    1e3 * since.elapsed().as_secs_f64()
}
