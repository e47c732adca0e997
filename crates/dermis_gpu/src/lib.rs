//! Skins of dermis on graphics cards.
pub mod crowd;
#[cfg(feature = "wgpu")]
mod device;
mod error;
pub mod layout;
#[cfg(feature = "wgpu")]
pub use device::Gpu;
pub use error::GpuError;
