//! A graphics card, ready to be used: device, queue, and the few calls that every stage needs.

use wgpu::util::DeviceExt;

use crate::GpuError;

/// A graphics card.
///
/// Asks for nothing beyond WebGPU's default limits, so that everything here also runs in a browser; timestamps are used
/// where there are some. One is enough for a program: buffers and pipelines of one card are of no use to another.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// Where buffers and pipelines are made.
    pub device: wgpu::Device,
    /// Where work is handed in.
    pub queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
}

impl Gpu {
    /// The fastest card of this machine; a software one counts, when there is no other.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] when there is none, [`GpuError::NoDevice`] when it refuses.
    pub fn new() -> Result<Self, GpuError> {
        let mut options = wgpu::InstanceDescriptor::new_without_display_handle();
        options.flags = wgpu::InstanceFlags::from_build_config();
        let instance = wgpu::Instance::new(options);
        let wanted = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&wanted))
            .map_err(|_| GpuError::NoAdapter)?;
        let info = adapter.get_info();
        let asked = wgpu::DeviceDescriptor {
            label: Some("dermis"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: wgpu::Limits::default(),
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&asked)).map_err(|e| GpuError::NoDevice {
                name: info.name.clone(),
                why: e.to_string(),
            })?;
        Ok(Self {
            device,
            queue,
            info,
        })
    }

    /// Name, kind and interface, for people: "llvmpipe (LLVM 15.0.6, 256 bits), software, Vulkan".
    pub fn description(&self) -> String {
        let kind = match self.info.device_type {
            wgpu::DeviceType::DiscreteGpu => "graphics card",
            wgpu::DeviceType::IntegratedGpu => "integrated graphics",
            wgpu::DeviceType::VirtualGpu => "virtual graphics card",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "unknown kind",
        };
        let backend = match self.info.backend {
            wgpu::Backend::Dx12 => "Direct3D 12".to_owned(),
            other => format!("{other:?}"),
        };
        format!("{}, {kind}, {backend}", self.info.name)
    }

    /// True when the "card" is a program on the processor: its times say little about graphics cards.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// True when passes can be timed by the card itself.
    pub fn has_timestamps(&self) -> bool {
        let timed = wgpu::Features::TIMESTAMP_QUERY;
        self.device.features().contains(timed)
    }

    /// A buffer that shaders read, and may write, filled with `bytes`; copies in and out are possible, and so are
    /// `more` uses. A buffer of no bytes gets sixteen zeros: shaders cannot bind an empty one.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] for more than one binding may hold.
    pub fn storage(
        &self,
        label: &str,
        bytes: &[u8],
        more: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        self.check_binding(label, bytes.len() as u64)?;
        let empty = [0; 16];
        let descriptor = wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents: if bytes.is_empty() { &empty } else { bytes },
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC
                | more,
        };
        Ok(self.device.create_buffer_init(&descriptor))
    }

    /// As [`Gpu::storage`], with `size` bytes of zeros.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] for more than one binding may hold.
    pub fn storage_zeros(
        &self,
        label: &str,
        size: u64,
        more: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        self.check_binding(label, size)?;
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: size.max(16).next_multiple_of(4),
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC
                | more,
            mapped_at_creation: false,
        }))
    }

    /// A uniform buffer filled with `bytes`, which can be written again.
    pub fn uniform(&self, label: &str, bytes: &[u8]) -> wgpu::Buffer {
        let descriptor = wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents: bytes,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        };
        self.device.create_buffer_init(&descriptor)
    }

    /// The bytes of a buffer, once everything handed in before is done. It must have been made for copies.
    ///
    /// # Errors
    /// [`GpuError::Lost`] when the card does not answer.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, GpuError> {
        let size = buffer.size();
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        let slice = staging.slice(..);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        self.wait()?;
        let mapped = slice.get_mapped_range().map_err(|_| GpuError::Lost)?;
        Ok(mapped.to_vec())
    }

    /// Returns once everything that was handed in is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`] when the card does not answer.
    pub fn wait(&self) -> Result<(), GpuError> {
        let done = self.device.poll(wgpu::PollType::wait_indefinitely());
        done.map(|_| ()).map_err(|_| GpuError::Lost)
    }

    fn check_binding(&self, label: &str, bytes: u64) -> Result<(), GpuError> {
        let most = self.device.limits().max_storage_buffer_binding_size;
        match bytes > most {
            true => Err(GpuError::TooLarge {
                what: label.to_owned(),
                bytes,
                most,
            }),
            false => Ok(()),
        }
    }
}
