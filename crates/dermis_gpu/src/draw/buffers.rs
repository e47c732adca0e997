//! Buffers that are filled anew for every picture, and made anew only when they are too small.

use crate::{Gpu, GpuError};

/// A storage buffer with room.
#[derive(Debug, Default)]
pub(super) struct Growing {
    buffer: Option<wgpu::Buffer>,
}

impl Growing {
    /// Puts bytes into the buffer; true when it is another buffer than before. Shaders see its whole size, which bytes of no
    /// meaning fill up.
    pub(super) fn fill(&mut self, gpu: &Gpu, label: &str, bytes: &[u8]) -> Result<bool, GpuError> {
        let size = bytes.len() as u64;
        if let Some(buffer) = &self.buffer
            && size <= buffer.size()
            && buffer.size() <= (2 * size).max(256)
        {
            gpu.queue.write_buffer(buffer, 0, bytes);
            return Ok(false);
        }
        self.buffer = Some(gpu.storage(label, bytes, wgpu::BufferUsages::empty())?);
        Ok(true)
    }

    /// The buffer; there is one once it was filled.
    pub(super) fn binding(&self) -> Option<wgpu::BindingResource<'_>> {
        self.buffer.as_ref().map(wgpu::Buffer::as_entire_binding)
    }
}
