//! What can go wrong with a graphics card.

/// Errors of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no graphics card, and no software that acts as one.
    #[error(
        "no graphics card was found: install a driver for Vulkan, Metal or Direct3D 12 (on Debian, mesa-vulkan-drivers also \
         works without a card)"
    )]
    NoAdapter,
    /// The card is there and cannot be used.
    #[error("the graphics card '{name}' cannot be used: {why}")]
    NoDevice {
        /// Its name.
        name: String,
        /// What it said.
        why: String,
    },
    /// The card stopped answering.
    #[error("the graphics card stopped answering: its driver may have been reset")]
    Lost,
    /// A buffer is larger than shaders can see at once.
    #[error(
        "{what} take {bytes} bytes, and shaders of WebGPU's default profile see {most} at most"
    )]
    TooLarge {
        /// What it would hold.
        what: String,
        /// How many bytes that is.
        bytes: u64,
        /// How many there may be.
        most: u64,
    },
    /// A texture is larger than the card takes.
    #[error(
        "a texture of {} × {} pixels is larger than the {most} along a side that WebGPU's default profile has: make it smaller",
        size[0], size[1]
    )]
    TextureSize {
        /// Width and height.
        size: [u32; 2],
        /// Most pixels along a side.
        most: u32,
    },
    /// Skins that should share buffers are of different kinds.
    #[error(
        "levels of one character must be packed alike: level 0 is {first}, level {level} is {found}"
    )]
    MixedPrograms {
        /// What the first one is.
        first: String,
        /// Which one differs.
        level: usize,
        /// What that one is.
        found: String,
    },
    /// There is more than one dispatch can handle.
    #[error("a graphics card handles at most {most} {what} at once")]
    TooMany {
        /// What was counted.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// Pipelines were made for other kinds of skins.
    #[error(
        "there is no pipeline for this kind of skin: make SkinPipelines with its kind among them"
    )]
    NoPipeline,
    /// Measurements do not tell the terms of a cost model apart.
    #[error(
        "a cost model needs five frames or more, in which vertices, influences, objects and bones do not always grow together"
    )]
    CostSamples,
    /// A list has the wrong length.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The processor's side of the work failed.
    #[error(transparent)]
    Run(#[from] dermis::run::RunError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    Render(#[from] dermis_render::RenderError),
}
