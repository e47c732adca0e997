//! Buffers of a crowd: what is written once, and what every frame writes.

use bytemuck::Zeroable;
use wgpu::{Buffer, BufferUsages};

use super::super::{Character, CrowdError, Instance, View};
use super::packed::PackedLevels;
use crate::Gpu;

/// Words of commands before those of draws: workgroups, and shadows.
pub(super) const COMMANDS_BEFORE_DRAWS: usize = 8;
/// Words of one indexed draw.
pub(super) const COMMANDS_PER_DRAW: usize = 5;
/// Where the command for shadows begins, in bytes.
pub(super) const SHADOW_COMMAND: u64 = 16;

/// All of them.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) view: Buffer,
    pub(super) instances: Buffer,
    pub(super) levels: Buffer,
    pub(super) draws: Buffer,
    pub(super) choices: Buffer,
    pub(super) groups: Buffer,
    pub(super) summary: Buffer,
    pub(super) commands: Buffer,
    pub(super) drawn: Buffer,
    pub(super) clips: Buffer,
    pub(super) level_bones: Buffer,
    pub(super) steps: Buffer,
    pub(super) palettes: Buffer,
    pub(super) bones: Buffer,
    pub(super) fixed: Buffer,
    pub(super) of_bones: Buffer,
    pub(super) vertices: Buffer,
    pub(super) corners: Buffer,
}

impl Buffers {
    pub(super) fn new(
        gpu: &Gpu,
        character: &Character,
        packed: &PackedLevels,
        instances: &[Instance],
    ) -> Result<Self, CrowdError> {
        let none = BufferUsages::empty();
        let filled = |label: &str, bytes: &[u8], more| gpu.storage(label, bytes, more);
        let zeros = |label: &str, size: usize| gpu.storage_zeros(label, size as u64, none);
        let count = instances.len();
        let level_count = character.levels.len();
        let clips: Vec<[u32; 4]> = (character.moves.clips.iter())
            .map(|clip| [clip.first, clip.steps, clip.seconds.to_bits(), 0])
            .collect();
        let matrix_bytes = size_of::<dermis::run::Mat3x4>();
        let commands = COMMANDS_BEFORE_DRAWS + COMMANDS_PER_DRAW * packed.draws.len();
        Ok(Self {
            view: gpu.uniform("camera of a crowd", bytemuck::bytes_of(&View::zeroed())),
            instances: filled(
                "instances of a crowd",
                bytemuck::cast_slice(instances),
                none,
            )?,
            levels: filled("levels", bytemuck::cast_slice(&packed.levels), none)?,
            draws: filled("draws", bytemuck::cast_slice(&packed.draws), none)?,
            choices: zeros("choices", 8 * count)?,
            groups: zeros("counts of workgroups", 4 * level_count * count.div_ceil(64))?,
            summary: zeros("summary", 16 * (level_count + 1))?,
            commands: gpu.storage_zeros("commands", 4 * commands as u64, BufferUsages::INDIRECT)?,
            drawn: zeros("instances that are drawn", 8 * count)?,
            clips: filled("clips", bytemuck::cast_slice(&clips), none)?,
            level_bones: filled(
                "bones of levels",
                bytemuck::cast_slice(&packed.level_bones),
                none,
            )?,
            steps: filled(
                "steps of clips",
                bytemuck::cast_slice(&character.moves.matrices),
                none,
            )?,
            palettes: zeros(
                "palettes of all instances",
                count * character.moves.bones.len() * matrix_bytes,
            )?,
            bones: filled(
                "bones of vertices",
                bytemuck::cast_slice(&packed.bones),
                none,
            )?,
            fixed: filled(
                "numbers of vertices",
                bytemuck::cast_slice(&packed.fixed),
                none,
            )?,
            of_bones: filled(
                "numbers of influences",
                bytemuck::cast_slice(&packed.of_bones),
                none,
            )?,
            vertices: filled(
                "vertices of levels",
                bytemuck::cast_slice(&packed.vertices),
                none,
            )?,
            corners: filled(
                "corners of triangles",
                bytemuck::cast_slice(&packed.corners),
                BufferUsages::INDEX,
            )?,
        })
    }
}
