//! Errors of making a picture.

use thiserror::Error;

use crate::raster::MAX_SIDE;

/// A picture could not be made; the fields say which part of the input is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The picture would have no pixels.
    #[error("a picture of {width} × {height} pixels is empty: both sides must be at least 1")]
    EmptyImage {
        /// Requested width, in pixels.
        width: u32,
        /// Requested height, in pixels.
        height: u32,
    },
    /// The picture is larger than the rasteriser's fixed-point numbers allow.
    #[error(
        "a picture of {width} × {height} pixels is too large: the longest side may be {MAX_SIDE}"
    )]
    ImageTooLarge {
        /// Requested width, in pixels.
        width: u32,
        /// Requested height, in pixels.
        height: u32,
    },
    /// A per-vertex list does not have one entry per vertex.
    #[error("surface {surface} has {expected} positions but {actual} {what}")]
    LengthMismatch {
        /// Index of the surface in its scene.
        surface: usize,
        /// Which list, such as "normals", "heat values" or "texture coordinates".
        what: &'static str,
        /// Number of positions.
        expected: usize,
        /// Length of the list.
        actual: usize,
    },
    /// A per-triangle list does not have one entry per triangle.
    #[error("surface {surface} has {expected} triangles but {actual} {what}")]
    TriangleLengthMismatch {
        /// Index of the surface in its scene; 0 for an atlas.
        surface: usize,
        /// Which list: "triangle colours" or "triangle values".
        what: &'static str,
        /// Number of triangles.
        expected: usize,
        /// Length of the list.
        actual: usize,
    },
    /// A texture has no pixels, or not as many as its size says.
    #[error("a texture of {width} × {height} pixels cannot have {actual} of them")]
    TextureSize {
        /// Width, in pixels.
        width: u32,
        /// Height, in pixels.
        height: u32,
        /// Number of pixels given.
        actual: usize,
    },
    /// The light of surfaces is not one entry per pixel.
    #[error("a picture of {width} × {height} pixels cannot be made from {actual} of them")]
    PixelCount {
        /// Width, in pixels.
        width: u32,
        /// Height, in pixels.
        height: u32,
        /// Number of pixels given.
        actual: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error(
        "triangle {triangle} of surface {surface} uses vertex {vertex}, but there are only {vertex_count}"
    )]
    IndexOutOfRange {
        /// Index of the surface in its scene.
        surface: usize,
        /// Index of the triangle in its surface.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of positions.
        vertex_count: usize,
    },
    /// The scene has more triangles than 32-bit numbers can count.
    #[error("the scene has {count} triangles, more than can be numbered with 32 bits")]
    TooManyTriangles {
        /// Number of triangles of all surfaces.
        count: usize,
    },
    /// The camera has no usable view.
    #[error("the camera is not usable: {reason}")]
    BadCamera {
        /// Which of its fields is wrong, and how.
        reason: &'static str,
    },
    /// The frames of a moving picture have several sizes.
    #[error(
        "frame {frame} has {} × {} pixels, but the first has {} × {}",
        actual[0], actual[1], expected[0], expected[1]
    )]
    FrameSize {
        /// Number of the first frame that differs, from 0.
        frame: usize,
        /// Width and height of the first frame, in pixels.
        expected: [u32; 2],
        /// Width and height of this one.
        actual: [u32; 2],
    },
    /// The PNG encoder failed.
    #[error("the picture could not be encoded as PNG: {message}")]
    Png {
        /// The encoder's own words.
        message: String,
    },
}
