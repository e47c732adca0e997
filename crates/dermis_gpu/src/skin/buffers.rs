//! A skin on the card, the poses of its instances, and where they are written to.

use dermis::run::{FrameInputs, Mat3x4};
use wgpu::BufferUsages;

use super::SkinPipelines;
use crate::layout::GpuSkin;
use crate::{Gpu, GpuError};

/// Invocations that work together, as the shaders say.
const WORKGROUP: u32 = 64;

/// The buffers of one skin, or of several that share them, for a number of instances.
///
/// Everything is made once. [`SkinBuffers::write_frame`] and [`SkinBuffers::dispatch`] allocate nothing here.
#[derive(Debug)]
pub struct SkinBuffers {
    skin: GpuSkin,
    instances: u32,
    palette: wgpu::Buffer,
    coefficients: wgpu::Buffer,
    positions: wgpu::Buffer,
    normals: wgpu::Buffer,
    /// For compute: skin, frame, results.
    groups: [wgpu::BindGroup; 3],
    /// The skin with slots of vertices in the place of vertices of slots.
    vertex_group: wgpu::BindGroup,
    rows: Vec<Mat3x4>,
    words: Vec<u32>,
}

impl SkinBuffers {
    /// Uploads a skin, and makes room for the poses of `instances` characters and for their positions and normals.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when a buffer is larger than shaders can bind, and [`GpuError::TooMany`] for more slots or
    /// instances than one dispatch can have.
    pub fn new(
        gpu: &Gpu,
        pipelines: &SkinPipelines,
        skin: GpuSkin,
        instances: u32,
    ) -> Result<Self, GpuError> {
        let most = gpu.device.limits().max_compute_workgroups_per_dimension;
        check(
            "slots of vertices",
            skin.info.slots.div_ceil(WORKGROUP),
            most,
            WORKGROUP,
        )?;
        check("instances", instances, most, 1)?;
        let words = |label, words: &[u32]| {
            gpu.storage(label, bytemuck::cast_slice(words), BufferUsages::empty())
        };
        let info = gpu.uniform("skin", bytemuck::bytes_of(&skin.info));
        let blocks = words("blocks of a skin", &skin.blocks)?;
        let planes = words("numbers of a skin", &skin.planes)?;
        let corrections = words("corrections of a skin", &skin.corrections)?;
        let places = words("vertices of slots", &skin.places)?;
        let slots = words("slots of vertices", &skin.slots)?;
        let zeros = |label, each: u32, more| {
            gpu.storage_zeros(label, 4 * u64::from(each) * u64::from(instances), more)
        };
        let none = BufferUsages::empty();
        let palette = zeros("palettes", 12 * skin.info.bones, none)?;
        let coefficients = zeros("coefficients", skin.info.coefficient_words, none)?;
        let positions = zeros("positions", 3 * skin.info.vertices, BufferUsages::VERTEX)?;
        let normal_words = match skin.kind.normal_planes {
            0 => 0,
            _ => 3 * skin.info.vertices,
        };
        let normals = zeros("normals", normal_words, BufferUsages::VERTEX)?;
        let skin_group = |last| {
            gpu.group(
                "skin",
                &pipelines.skin,
                &[&info, &blocks, &planes, &corrections, last],
            )
        };
        let frame = gpu.group(
            "frame of a skin",
            &pipelines.frame,
            &[&palette, &coefficients],
        );
        let results = gpu.group("posed skin", &pipelines.results, &[&positions, &normals]);
        Ok(Self {
            instances,
            groups: [skin_group(&places), frame, results],
            vertex_group: skin_group(&slots),
            rows: vec![[0.0; 12]; skin.info.bones as usize],
            words: vec![0; skin.info.coefficient_words as usize],
            skin,
            palette,
            coefficients,
            positions,
            normals,
        })
    }

    /// The skin that was uploaded.
    pub fn skin(&self) -> &GpuSkin {
        &self.skin
    }

    /// Writes the pose of an instance, as `run` has it.
    ///
    /// # Errors
    /// [`GpuError::CountMismatch`] when there is no such instance, or the frame is of another skin.
    pub fn write_frame(
        &mut self,
        gpu: &Gpu,
        instance: u32,
        inputs: &FrameInputs<'_>,
    ) -> Result<(), GpuError> {
        mismatch("palette entries", self.rows.len(), inputs.palette.len())?;
        self.skin.write_palette(inputs.palette, &mut self.rows);
        self.write_rows(gpu, instance, &self.rows)?;
        self.write_coefficients(gpu, instance, inputs.coefficients)
    }

    /// Writes the matrices of an instance as rows. For a linear skin these are what
    /// [`PackedPoseProgram::run`](dermis::run::PackedPoseProgram::run) makes.
    ///
    /// # Errors
    /// [`GpuError::CountMismatch`] when there is no such instance, or another number of bones.
    pub fn write_rows(&self, gpu: &Gpu, instance: u32, rows: &[Mat3x4]) -> Result<(), GpuError> {
        mismatch(
            "rows of matrices",
            self.skin.info.bones as usize,
            rows.len(),
        )?;
        self.check_instance(instance)?;
        let first = u64::from(instance) * 48 * u64::from(self.skin.info.bones);
        gpu.queue
            .write_buffer(&self.palette, first, bytemuck::cast_slice(rows));
        Ok(())
    }

    /// Writes the coefficients of an instance.
    ///
    /// # Errors
    /// [`GpuError::CountMismatch`] when there is no such instance, or another number of coefficients.
    pub fn write_coefficients(
        &mut self,
        gpu: &Gpu,
        instance: u32,
        coefficients: &[f32],
    ) -> Result<(), GpuError> {
        mismatch(
            "coefficients",
            self.skin.coefficient_count(),
            coefficients.len(),
        )?;
        self.check_instance(instance)?;
        self.skin.write_coefficients(coefficients, &mut self.words);
        let first = u64::from(instance) * 4 * self.words.len() as u64;
        gpu.queue
            .write_buffer(&self.coefficients, first, bytemuck::cast_slice(&self.words));
        Ok(())
    }

    /// Poses all vertices of all instances.
    ///
    /// # Errors
    /// [`GpuError::NoPipeline`] when the pipelines are for other kinds of skins.
    pub fn dispatch(
        &self,
        pipelines: &SkinPipelines,
        pass: &mut wgpu::ComputePass<'_>,
    ) -> Result<(), GpuError> {
        pass.set_pipeline(pipelines.of(self.skin.kind)?);
        for (index, group) in (0..).zip(&self.groups) {
            pass.set_bind_group(index, group, &[]);
        }
        let workgroups = self.skin.info.slots.div_ceil(WORKGROUP);
        pass.dispatch_workgroups(workgroups, self.instances, 1);
        Ok(())
    }

    /// Positions after a dispatch: three floats for each vertex, in the caller's order, instance after instance. It can be
    /// a vertex buffer.
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.positions
    }

    /// Normals after a dispatch, as [`SkinBuffers::positions`]; sixteen bytes of no meaning when the skin has none.
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.normals
    }

    /// Groups 0 and 1 for pipelines that pose in the vertex stage.
    pub fn vertex_groups(&self) -> [&wgpu::BindGroup; 2] {
        [&self.vertex_group, &self.groups[1]]
    }

    /// Positions, brought back.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn read_positions(&self, gpu: &Gpu) -> Result<Vec<[f32; 3]>, GpuError> {
        self.read(gpu, &self.positions)
    }

    /// Normals, brought back; none when the skin has none.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn read_normals(&self, gpu: &Gpu) -> Result<Vec<[f32; 3]>, GpuError> {
        match self.skin.kind.normal_planes {
            0 => Ok(Vec::new()),
            _ => self.read(gpu, &self.normals),
        }
    }

    fn read(&self, gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<Vec<[f32; 3]>, GpuError> {
        let count = self.skin.info.vertices as usize * self.instances as usize;
        let bytes = gpu.read(buffer)?;
        // The smallest buffer has sixteen bytes, whatever it holds.
        Ok(bytemuck::pod_collect_to_vec(&bytes[..12 * count]))
    }

    fn check_instance(&self, instance: u32) -> Result<(), GpuError> {
        match instance < self.instances {
            true => Ok(()),
            false => mismatch(
                "instances, or more",
                instance as usize + 1,
                self.instances as usize,
            ),
        }
    }
}

fn mismatch(what: &'static str, expected: usize, found: usize) -> Result<(), GpuError> {
    match expected == found {
        true => Ok(()),
        false => Err(GpuError::CountMismatch {
            what,
            expected,
            found,
        }),
    }
}

fn check(what: &'static str, groups: u32, most: u32, each: u32) -> Result<(), GpuError> {
    match groups <= most {
        true => Ok(()),
        false => Err(GpuError::TooMany {
            what,
            most: u64::from(most) * u64::from(each),
        }),
    }
}
