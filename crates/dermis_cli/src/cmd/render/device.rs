//! What draws: the processor, or a graphics card.

use anyhow::bail;
use dermis_render::{Camera, Image, Scene};

use crate::render_args::Device;
use crate::talk::Talk;

/// Refuses at once what this build cannot do.
pub(super) fn check(device: Device) -> anyhow::Result<()> {
    if device == Device::Gpu && !cfg!(feature = "gpu") {
        bail!(
            "--device gpu: this dermis was built without graphics cards: build it with `--features gpu`, or leave --device \
             out to draw the same picture on the processor"
        );
    }
    Ok(())
}

/// Something that draws.
pub(super) enum Drawer {
    /// The processor.
    Cpu,
    /// A graphics card.
    #[cfg(feature = "gpu")]
    Gpu {
        renderer: Box<dermis_gpu::draw::Renderer>,
        /// Whether the processor may take over.
        may_give_up: bool,
    },
}

impl Drawer {
    /// What was asked for.
    #[cfg(feature = "gpu")]
    pub(super) fn new(device: Device, talk: &Talk) -> anyhow::Result<Self> {
        if device == Device::Cpu {
            return Ok(Self::Cpu);
        }
        let gpu = match dermis_gpu::Gpu::new() {
            Ok(gpu) => gpu,
            Err(error) if device == Device::Gpu => {
                bail!("--device gpu: {error}; --device cpu draws the same picture")
            }
            Err(error) => {
                talk.say_more(|| format!("drawing on the processor: {error}"));
                return Ok(Self::Cpu);
            }
        };
        if device == Device::Auto && gpu.is_software() {
            let name = gpu.description();
            talk.say_more(|| {
                format!("drawing on the processor, which is faster than {name}; --device gpu says otherwise")
            });
            return Ok(Self::Cpu);
        }
        Ok(Self::Gpu {
            renderer: Box::new(dermis_gpu::draw::Renderer::new(gpu)?),
            may_give_up: device == Device::Auto,
        })
    }

    /// The processor: there is nothing else in this build.
    #[cfg(not(feature = "gpu"))]
    pub(super) fn new(_: Device, talk: &Talk) -> anyhow::Result<Self> {
        talk.say_more(|| "drawing on the processor".to_owned());
        Ok(Self::Cpu)
    }

    /// Its name, for people.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Cpu => "processor".to_owned(),
            #[cfg(feature = "gpu")]
            Self::Gpu { renderer, .. } => renderer.gpu().description(),
        }
    }

    /// Draws a picture; what a card cannot draw, such as too large a mesh, the processor draws unless the card was asked for.
    pub(super) fn draw(
        &mut self,
        scene: &Scene<'_>,
        camera: &Camera,
        [width, height]: [u32; 2],
        talk: &Talk,
    ) -> anyhow::Result<Image> {
        #[cfg(feature = "gpu")]
        if let Self::Gpu {
            renderer,
            may_give_up,
        } = self
        {
            match renderer.draw(scene, camera, width, height) {
                Ok(image) => return Ok(image),
                Err(error) if !*may_give_up => {
                    bail!("--device gpu: {error}; --device cpu draws the same picture")
                }
                Err(error) => {
                    talk.remark(format!("note: {error}; drawing on the processor instead"));
                    *self = Self::Cpu;
                }
            }
        }
        #[cfg(not(feature = "gpu"))]
        let _ = talk;
        Ok(dermis_render::render(scene, camera, width, height)?)
    }
}
