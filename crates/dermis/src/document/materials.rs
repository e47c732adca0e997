//! Materials, textures and images, kept as they were in the file.

use serde_json::Value;

/// The materials of a mesh as glTF's own JSON; a fit passes them on unchanged.
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
