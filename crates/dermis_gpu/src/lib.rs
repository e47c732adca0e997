//! Skins of dermis on graphics cards.
#[cfg(feature = "wgpu")]
mod device;
mod error;
#[cfg(feature = "wgpu")]
pub use device::Gpu;
pub use error::GpuError;
