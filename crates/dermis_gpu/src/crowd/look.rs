//! What the parts of a character look like.

use dermis_render::Image;

/// What a crowd shows of materials: base colours.
#[derive(Debug, Clone, Default)]
pub struct CrowdLook {
    /// For each part of the document, in its order; parts without one are white.
    pub parts: Vec<PartLook>,
    /// Pictures of base colours, in sRGB.
    pub pictures: Vec<Image>,
}

/// The look of one part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartLook {
    /// Base colour in linear light, which the picture is multiplied with.
    pub color: [f32; 4],
    /// Number of a picture in [`CrowdLook::pictures`].
    pub picture: Option<usize>,
    /// What is less solid than this is a hole; 0 for none.
    pub cutoff: f32,
}

impl Default for PartLook {
    fn default() -> Self {
        Self {
            color: [1.0; 4],
            picture: None,
            cutoff: 0.0,
        }
    }
}
