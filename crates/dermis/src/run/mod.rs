//! The fast way from a clip to a palette: single precision, four bones at a time, no allocation.
//!
//! [`ClipSampler`] writes a [`PoseBuffer`]; [`PoseBuffer::blend`] mixes two of them;
//! [`PackedSkeleton::palette`] chains one down the tree to matrices. All three give what
//! [`Clip::sample`](crate::Clip::sample), [`Pose::blend`](crate::Pose::blend) and
//! [`Skeleton::palette`](crate::Skeleton::palette) give in double precision, to rounding.
//!
//! Only `+ − × ÷ √` are used, never a library sine and never a fused multiply-add, so a pose is the
//! same to the bit on every machine that rounds as IEEE 754 asks.

mod chain;
mod pack_clip;
mod pose_buffer;
mod sampler;
mod timeline;

pub use chain::{Mat3x4, PackedSkeleton};
pub use pose_buffer::PoseBuffer;
pub use sampler::ClipSampler;
pub use timeline::loop_time;
