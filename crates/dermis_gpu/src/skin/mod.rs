//! Skinning on a graphics card: all vertices of a packed skin in a compute pass, or each vertex where it is drawn.
//!
//! ```
//! use dermis::run::{PackOptions, PackedSkin};
//! use dermis_gpu::{Gpu, GpuError, layout::GpuSkin};
//! use dermis_gpu::skin::{SkinBuffers, SkinPipelines};
//! # let options = dermis::synth::TubeOptions { ring_count: 9, segment_count: 8, bone_count: 3, example_count: 1 };
//! # let skin = dermis::synth::tube(&options).truth;
//!
//! // Once, for a skin of any kind.
//! let packed = PackedSkin::new(&skin, &PackOptions::default())?;
//! let gpu = match Gpu::new() {
//!     Err(GpuError::NoAdapter) => return Ok(()), // this machine has none
//!     gpu => gpu?,
//! };
//! let layout = GpuSkin::new(&packed)?;
//! let pipelines = SkinPipelines::new(&gpu, &[layout.kind]);
//! let mut buffers = SkinBuffers::new(&gpu, &pipelines, layout, 1)?;
//!
//! // Every frame: hand in a pose and the work.
//! let frame = packed.frame(&skin.run_pose_program(&skin.skeleton.default_pose())?)?;
//! buffers.write_frame(&gpu, 0, &frame.inputs())?;
//! let mut encoder = gpu.device.create_command_encoder(&Default::default());
//! {
//!     let mut pass = encoder.begin_compute_pass(&Default::default());
//!     buffers.dispatch(&pipelines, &mut pass)?;
//! }
//! gpu.queue.submit([encoder.finish()]);
//!
//! // `buffers.positions()` can be a vertex buffer now. To see them here:
//! let positions = buffers.read_positions(&gpu)?;
//! let expected = skin.evaluate(&skin.skeleton.default_pose())?;
//! assert!((f64::from(positions[30][0]) - expected[30].x).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For exact normals, [`FaceNormalPass`] makes them from the positions, and [`TangentMapPass`] makes a picture of such normals for
//! a level of detail to wear. To pose vertices in the vertex stage, see
//! [`SkinPipelines::vertex_module`] and [`SkinBuffers::vertex_groups`].

mod buffers;
mod face_normals;
mod pipelines;
mod tangent_map;

pub use buffers::SkinBuffers;
pub use face_normals::FaceNormalPass;
pub use pipelines::SkinPipelines;
pub use tangent_map::TangentMapPass;
