//! Skins of dermis on graphics cards: shaders that stand alone, the bytes that they read, and what runs them.
//!
//! | module | what it is | needs the feature `wgpu` |
//! | --- | --- | --- |
//! | [`layout`] | packed skins as buffers, documented in the README; a plain twin of every shader that skins | no |
//! | [`shaders`] | sources in WGSL; GLSL and HLSL are files of the package | no |
//! | [`cost`] | time of a frame as a sum over vertices, influences, objects and bones | no |
//! | [`crowd`] | thousands of instances: culling, levels, clips, in plain Rust and on a card | for the card |
//! | `skin` | upload a skin once, pose it every frame: in a compute pass, or in the vertex stage | yes |
//! | `draw` | pictures of `dermis_render`'s scenes, with its look | yes |
//! | `timing` | how long skinning takes on this machine's card | yes |
//! | `Gpu` | device, queue, buffers | yes |
//!
//! Only WebGPU's default limits are asked for. Where there is no card, [`GpuError::NoAdapter`] says so in one sentence, and
//! `dermis::run` does the same work on the processor.

pub mod cost;
pub mod crowd;
#[cfg(feature = "wgpu")]
mod device;
#[cfg(feature = "wgpu")]
pub mod draw;
mod error;
pub mod layout;
pub mod shaders;
#[cfg(feature = "wgpu")]
pub mod skin;
#[cfg(feature = "wgpu")]
pub mod timing;

#[cfg(feature = "wgpu")]
pub use device::Gpu;
pub use error::GpuError;
