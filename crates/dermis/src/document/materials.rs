//! Materials, textures and images, kept as the file had them.

use serde_json::Value;

/// The look of a mesh in glTF's own words; it passes through a fit untouched.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Materials {
    /// glTF material objects.
    pub materials: Vec<Value>,
    /// glTF texture objects; their `source` counts `images`.
    pub textures: Vec<Value>,
    /// glTF sampler objects.
    pub samplers: Vec<Value>,
    /// The pictures.
    pub images: Vec<Image>,
    /// Extensions that the objects above use, such as `KHR_texture_transform`.
    pub extensions_used: Vec<String>,
}

/// A picture, still encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Name in the file.
    pub name: Option<String>,
    /// `image/png`, `image/jpeg` or another type that an extension allows.
    pub mime_type: String,
    /// The encoded picture.
    pub bytes: Vec<u8>,
}
