//! How fast a packed skin is on this machine, and how fast it could be.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::kernel::{InstructionSet, copy_planes};
use super::pack::Planes;
use super::plane::{BLOCK, BlockXyz, Plane, QuantizedPlane};
use super::source::KernelKind;
use super::{FrameInputs, Output, PackedSkin, RunError};

/// How a skin is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimingOptions {
    /// Number of runs; the fastest call of all runs counts. At least 1, default 7.
    pub runs: usize,
    /// Calls are repeated within a run for at least this long; default 20 ms.
    pub run_time: Duration,
    /// What is written.
    pub output: TimedOutput,
    /// True to use the current rayon pool; default false, one thread.
    pub threaded: bool,
}

impl Default for TimingOptions {
    fn default() -> Self {
        Self {
            runs: 7,
            run_time: Duration::from_millis(20),
            output: TimedOutput::Blocks,
            threaded: false,
        }
    }
}

/// Which [`Output`] is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedOutput {
    /// Blocks in packed order.
    Blocks,
    /// Interleaved vertices in the caller's order.
    Vertices,
}

/// The result of timing a skin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Fastest time of one evaluation, divided by the number of vertices (padding not counted).
    pub ns_per_vertex: f64,
    /// Bytes read and written by one evaluation, from the sizes of the arrays.
    pub traffic: Traffic,
    /// Those bytes per second, in units of 10⁹.
    pub gigabytes_per_second: f64,
}

/// Bytes that one evaluation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Read: planes, bones, tables and palette.
    pub read: usize,
    /// Written: positions, and normals when the skin has them.
    pub written: usize,
}

impl PackedSkin {
    /// Bytes that one evaluation moves, when all corrections are on.
    pub fn traffic(&self, output: TimedOutput) -> Traffic {
        let planes = match &self.planes {
            Planes::Full(planes) => size_of_val(&planes[..]),
            Planes::Quantized(planes) => planes.len() * size_of::<QuantizedPlane>(),
        };
        let corrections = self.corrections.bytes();
        let bones = size_of_val(&self.bones[..]) + size_of_val(&self.bone_starts[..]);
        let palette = self.bone_count * 64;
        let attributes = 1 + usize::from(self.has_normals);
        let (places, written) = match output {
            TimedOutput::Blocks => (0, self.block_count() * size_of::<BlockXyz>()),
            TimedOutput::Vertices => (self.block_count() * BLOCK * 4, self.vertex_count * 12),
        };
        Traffic {
            read: planes + corrections + bones + palette + places,
            written: written * attributes,
        }
    }

    /// Additions and multiplications per vertex, padding counted, corrections and the scaling to
    /// unit length not.
    pub fn flops_per_vertex(&self) -> f64 {
        let normals = if self.has_normals { 1.0 } else { 0.0 };
        let (per_bone, per_slot) = match self.kernel {
            // Twelve entries blended; three rows times a point, three times a normal.
            KernelKind::Ssd | KernelKind::MultiWeight => (24.0, 18.0 + 15.0 * normals),
            KernelKind::Linear { normal_planes } => {
                let cross = if normal_planes > 3 { 9.0 } else { 0.0 };
                (24.0 + 6.0 * normal_planes as f64, cross)
            }
            // Eight numbers blended; a length, a division, four crosses and their sums.
            KernelKind::DualQuaternion => (17.0, 62.0 + 33.0 * normals),
        };
        per_bone * self.bones_per_vertex() + per_slot * self.padding_ratio()
    }

    /// Times the evaluation of one frame, best of several runs.
    ///
    /// Memory for the results is made here, once, and touched before the clock starts.
    ///
    /// # Errors
    /// As [`PackedSkin::evaluate`].
    pub fn time(
        &self,
        inputs: &FrameInputs<'_>,
        options: &TimingOptions,
    ) -> Result<Timing, RunError> {
        let zero = [Plane::ZERO; 3];
        let with_normals = |count| if self.has_normals { count } else { 0 };
        let (blocks, vertices) = match options.output {
            TimedOutput::Blocks => (self.block_count(), 0),
            TimedOutput::Vertices => (0, self.vertex_count),
        };
        let mut block_positions = vec![zero; blocks];
        let mut block_normals = vec![zero; with_normals(blocks)];
        let mut positions = vec![[0.0; 3]; vertices];
        let mut normals = vec![[0.0; 3]; with_normals(vertices)];
        let mut evaluate = || {
            let out = match options.output {
                TimedOutput::Blocks => Output::Blocks {
                    positions: &mut block_positions,
                    normals: self.has_normals.then_some(&mut block_normals[..]),
                },
                TimedOutput::Vertices => Output::Vertices {
                    positions: &mut positions,
                    normals: self.has_normals.then_some(&mut normals[..]),
                },
            };
            match options.threaded {
                true => self.evaluate_threaded(inputs, out),
                false => self.evaluate(inputs, out),
            }
        };
        evaluate()?;
        let seconds = best_time(options, || {
            evaluate().expect("it went well before");
        });
        let traffic = self.traffic(options.output);
        Ok(Timing {
            ns_per_vertex: seconds * 1e9 / self.vertex_count.max(1) as f64,
            traffic,
            gigabytes_per_second: (traffic.read + traffic.written) as f64 / seconds / 1e9,
        })
    }
}

/// How fast memory is copied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyBandwidth {
    /// With stores through the caches, in 10⁹ bytes read and written per second.
    pub cached: f64,
    /// With stores past the caches.
    pub streamed: f64,
}

/// Copies `bytes` from one buffer to another with both kinds of store, best of several.
pub fn copy_bandwidth(bytes: usize, options: &TimingOptions) -> CopyBandwidth {
    let planes = bytes.div_ceil(64).max(1);
    let from = vec![Plane([1.0; BLOCK]); planes];
    let mut to = vec![Plane::ZERO; planes];
    let [cached, streamed] = [false, true].map(|stream| {
        let seconds = best_time(options, || {
            copy_planes(InstructionSet::best(), &from, &mut to, stream);
            black_box(&mut to);
        });
        (2 * planes * 64) as f64 / seconds / 1e9
    });
    CopyBandwidth { cached, streamed }
}

/// Seconds of one call: the least over all calls of all runs, so that other work of the machine matters
/// little. Very short calls are timed in groups.
pub fn best_time(options: &TimingOptions, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let mut group = 1u32;
    for _ in 0..options.runs.max(1) {
        let run = Instant::now();
        let mut done = false;
        while !done {
            let start = Instant::now();
            (0..group).for_each(|_| call());
            let seconds = start.elapsed().as_secs_f64();
            match seconds < 20e-6 && group < 1 << 20 {
                true => group *= 2,
                false => best = best.min(seconds / f64::from(group)),
            }
            done = run.elapsed() >= options.run_time && best.is_finite();
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Normals, PackOptions};
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn bytes_are_counted_and_something_is_timed() {
        let tube = tube(&TubeOptions {
            ring_count: 64,
            segment_count: 16,
            bone_count: 2,
            example_count: 0,
        });
        let skin = &tube.truth;
        let normals = vec![glam::DVec3::X; skin.vertex_count()];
        let options = PackOptions {
            normals: Normals::Rest(normals),
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(skin, &options).expect("packs");
        let blocks = packed.block_count();
        let traffic = packed.traffic(TimedOutput::Blocks);
        assert_eq!(traffic.written, blocks * 6 * 64, "six planes per block");
        let bones = packed.bones.len();
        let planes = 64 * (6 * blocks + bones);
        let tables = 2 * bones + 4 * (blocks + 1) + 2 * 64;
        assert_eq!(traffic.read, planes + tables, "six planes and the weights");
        let frame = packed
            .frame(
                &skin
                    .run_pose_program(&skin.skeleton.rest_pose())
                    .expect("fits"),
            )
            .expect("fits");
        let quick = TimingOptions {
            runs: 1,
            run_time: Duration::from_micros(100),
            ..TimingOptions::default()
        };
        let timed = packed.time(&frame.inputs(), &quick).expect("sizes agree");
        assert!(timed.ns_per_vertex > 0.0, "time passes");
        assert!(copy_bandwidth(1 << 16, &quick).cached > 0.0, "bytes move");
    }
}
