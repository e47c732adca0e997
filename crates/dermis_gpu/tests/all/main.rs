//! Everything that skins of dermis do on a graphics card, next to what they do on the processor.

#[cfg(feature = "wgpu")]
mod adapter;
#[cfg(feature = "wgpu")]
mod gpu_equals_run;
mod layout_equals_run;
#[cfg(feature = "wgpu")]
mod real_files;
#[path = "../../../dermis/tests/all/run_support/mod.rs"]
mod run_support;
mod shaders_are_files;
mod skins;
#[path = "../../../../tests/support/mod.rs"]
mod support;
#[cfg(feature = "wgpu")]
mod tangent_maps;
#[cfg(feature = "wgpu")]
mod times;
#[cfg(feature = "wgpu")]
mod vertex_stage;
