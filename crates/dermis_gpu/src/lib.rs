//! Skins of dermis on graphics cards.
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
