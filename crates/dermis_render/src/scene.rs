//! The content of a picture: surfaces, their paint, the background and the ground.
//!
//! Everything is borrowed, so that a scene costs nothing to put together from arrays that exist already.

use glam::{Vec2, Vec3};

use crate::camera::UpAxis;
use crate::error::RenderError;
use crate::heatmap::HeatScale;
use crate::material::Material;
use crate::texture::TexturePicture;

/// The warm light grey of modelling clay, as sRGB.
pub const CLAY: [f32; 3] = [0.80, 0.76, 0.72];

/// A light and a dark grey for [`Paint::Chequer`], as sRGB: far enough apart to read, near enough that the
/// shape of the surface still does.
pub const CHEQUER: [[f32; 3]; 2] = [[0.95, 0.95, 0.95], [0.52, 0.53, 0.55]];

/// Everything that a picture shows.
#[derive(Debug, Clone, Default)]
pub struct Scene<'a> {
    /// The meshes, in any order. Where two coincide exactly, the first one shows.
    pub surfaces: Vec<Surface<'a>>,
    /// The background. Default [`Background::Studio`].
    pub background: Background,
    /// A floor that catches a soft contact shadow. Default none.
    pub ground: Option<Ground>,
}

/// One triangle mesh with its paint.
#[derive(Debug, Clone)]
pub struct Surface<'a> {
    /// One position per vertex, in model units. Triangles with a corner that is not finite are left out.
    pub positions: &'a [Vec3],
    /// One normal per vertex, of any length, for smooth shading; or none at all for flat facets.
    pub normals: &'a [Vec3],
    /// Vertex indices of each triangle, anticlockwise when seen from outside.
    pub triangles: &'a [[u32; 3]],
    /// Its colours.
    pub paint: Paint<'a>,
    /// Lines along the triangle edges, or none.
    pub wireframe: Option<Wireframe>,
    /// Whether light falls on it. Default [`Shading::Clay`].
    pub shading: Shading,
}

/// What light does to the colours of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shading {
    /// Soft lights that stand still relative to the camera; the inside is darker than the outside.
    #[default]
    Clay,
    /// None: the bare colours of the paint, the same on both sides, as a flat drawing needs them.
    Unlit,
}

/// How a surface is coloured; all colours but those of a material are sRGB fractions from 0 to 1.
#[derive(Debug, Clone)]
pub enum Paint<'a> {
    /// One colour all over, such as [`CLAY`].
    Solid([f32; 3]),
    /// A number per vertex shown through a colour scale. The number is interpolated and then coloured, so
    /// that contours stay crisp inside large triangles. Not finite means "no data" and is grey.
    Heat {
        /// One number per vertex, in the unit of the scale.
        values: &'a [f32],
        /// Which number gets which colour.
        scale: HeatScale,
    },
    /// One colour per vertex, blended across triangles in linear light.
    VertexColors(&'a [[f32; 3]]),
    /// One colour per triangle, without blending.
    TriangleColors(&'a [[f32; 3]]),
    /// A chequerboard laid over the surface by texture coordinates: even squares show a layout without
    /// stretch. Squares smaller than a pixel turn into the mean of their colours. Coordinates that are not
    /// finite are "no data" and grey.
    Chequer {
        /// One texture coordinate per vertex.
        uvs: &'a [Vec2],
        /// Squares along one unit of u or v; with 32, a person whose charts fill one atlas has squares about
        /// 5 cm wide. The first square from the origin has the first colour.
        squares: f32,
        /// The two colours, such as [`CHEQUER`].
        colors: [[f32; 3]; 2],
        /// One colour per vertex that both colours are multiplied with, in linear light, to tell charts apart
        /// ([`crate::chart_tint`]); or none at all.
        tints: &'a [[f32; 3]],
    },
    /// A picture laid over the surface by texture coordinates. Coordinates that are not finite are "no data"
    /// and grey.
    Texture {
        /// One texture coordinate per vertex; (0, 0) is the picture's top left corner, as glTF has it.
        uvs: &'a [Vec2],
        /// The picture; it repeats outside 0 to 1.
        picture: &'a TexturePicture,
    },
    /// What a file says of a surface: colours, pictures, bumps.
    Material(Material<'a>),
}

impl Default for Paint<'_> {
    fn default() -> Self {
        Self::Solid(CLAY)
    }
}

/// Lines along the edges of all triangles of a surface; hidden ones stay hidden.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wireframe {
    /// sRGB fractions. Default a dark slate.
    pub color: [f32; 3],
    /// Width in pixels. Default 1.
    pub width_px: f32,
    /// 0 for invisible to 1 for solid. Default 0.55.
    pub opacity: f32,
}

impl Default for Wireframe {
    fn default() -> Self {
        Self {
            color: [0.13, 0.15, 0.19],
            width_px: 1.0,
            opacity: 0.55,
        }
    }
}

/// The background behind the surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Background {
    /// A soft, light, neutral gradient.
    #[default]
    Studio,
    /// One sRGB colour.
    Solid([f32; 3]),
    /// Nothing: pixels that no surface covers are transparent. A ground's shadow stays, as translucent black.
    Transparent,
}

/// A floor that catches a soft contact shadow; it is not drawn itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Which way is up.
    pub up_axis: UpAxis,
    /// Where the floor is along that axis, in model units; `None` puts it under the lowest vertex
    /// of the scene. Give it when several pictures are compared, so that all have the same floor.
    pub height: Option<f32>,
    /// Darkness where surfaces touch the floor, 0 to 1. Default 0.55.
    pub strength: f32,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            up_axis: UpAxis::Y,
            height: None,
            strength: 0.55,
        }
    }
}

impl Scene<'_> {
    /// Checks that the lists of all surfaces have the right lengths and that corners exist, as [`crate::render`] does.
    ///
    /// # Errors
    /// [`RenderError::LengthMismatch`], [`RenderError::TriangleLengthMismatch`] and [`RenderError::IndexOutOfRange`].
    pub fn check(&self) -> Result<(), RenderError> {
        let mut surfaces = self.surfaces.iter().enumerate();
        surfaces.try_for_each(|(index, surface)| surface.check(index))
    }
}

impl<'a> Surface<'a> {
    /// A clay-coloured surface without lines.
    pub fn new(positions: &'a [Vec3], normals: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Self {
        Self {
            positions,
            normals,
            triangles,
            paint: Paint::default(),
            wireframe: None,
            shading: Shading::default(),
        }
    }

    /// The same surface with another paint.
    pub fn painted(self, paint: Paint<'a>) -> Self {
        Self { paint, ..self }
    }

    /// Checks that lists have the right lengths and indices exist; `surface` is its number for the error.
    pub(crate) fn check(&self, surface: usize) -> Result<(), RenderError> {
        let expected = self.positions.len();
        let same_length = |what, actual| {
            if actual == expected {
                Ok(())
            } else {
                Err(RenderError::LengthMismatch {
                    surface,
                    what,
                    expected,
                    actual,
                })
            }
        };
        if !self.normals.is_empty() {
            same_length("normals", self.normals.len())?;
        }
        match &self.paint {
            Paint::Solid(_) => {}
            Paint::Heat { values, .. } => same_length("heat values", values.len())?,
            Paint::VertexColors(colors) => same_length("vertex colours", colors.len())?,
            Paint::TriangleColors(colors) if colors.len() != self.triangles.len() => {
                return Err(RenderError::TriangleLengthMismatch {
                    surface,
                    what: "triangle colours",
                    expected: self.triangles.len(),
                    actual: colors.len(),
                });
            }
            Paint::TriangleColors(_) => {}
            Paint::Chequer { uvs, tints, .. } => {
                same_length("texture coordinates", uvs.len())?;
                if !tints.is_empty() {
                    same_length("tints", tints.len())?;
                }
            }
            Paint::Texture { uvs, .. } => same_length("texture coordinates", uvs.len())?,
            Paint::Material(material) => {
                for (what, length) in material.lists() {
                    same_length(what, length)?;
                }
            }
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= expected) {
                return Err(RenderError::IndexOutOfRange {
                    surface,
                    triangle,
                    vertex,
                    vertex_count: expected,
                });
            }
        }
        Ok(())
    }
}

/// Smooth normals for a mesh that has none: each vertex gets the area-weighted mean of its triangles'
/// normals.
///
/// Vertices without a usable triangle get zero, which renders as a flat facet. Triangles that name missing
/// vertices are left out.
///
/// ```
/// use dermis_render::{glam::Vec3, smooth_normals};
///
/// let normals = smooth_normals(&[Vec3::ZERO, Vec3::X, Vec3::Y], &[[0, 1, 2]]);
/// assert_eq!(normals, [Vec3::Z; 3]);
/// ```
pub fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for corners in triangles {
        let corners = corners.map(|vertex| vertex as usize);
        if corners.iter().any(|&vertex| vertex >= positions.len()) {
            continue;
        }
        let [a, b, c] = corners.map(|vertex| positions[vertex]);
        let twice_area = (b - a).cross(c - a);
        if twice_area.is_finite() {
            for vertex in corners {
                sums[vertex] += twice_area;
            }
        }
    }
    sums.into_iter().map(Vec3::normalize_or_zero).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

    #[test]
    fn a_wrong_length_is_named() {
        let surface = Surface::new(&CORNERS, &CORNERS[..2], &[]);
        assert_eq!(
            surface.check(4),
            Err(RenderError::LengthMismatch {
                surface: 4,
                what: "normals",
                expected: 3,
                actual: 2
            }),
            "normals"
        );
        let heat = Paint::Heat {
            values: &[0.0; 5],
            scale: HeatScale::new(1.0, "mm"),
        };
        let error = Surface::new(&CORNERS, &[], &[])
            .painted(heat)
            .check(0)
            .expect_err("five values");
        assert_eq!(
            error.to_string(),
            "surface 0 has 3 positions but 5 heat values",
            "the message"
        );
    }

    #[test]
    fn paints_of_the_wrong_length_are_named() {
        let message = |paint| {
            let surface = Surface::new(&CORNERS, &[], &[[0, 1, 2]]).painted(paint);
            surface.check(0).expect_err("a wrong length").to_string()
        };
        assert_eq!(
            message(Paint::TriangleColors(&[])),
            "surface 0 has 1 triangles but 0 triangle colours",
            "per triangle"
        );
        let chequer = |uvs, tints| Paint::Chequer {
            uvs,
            squares: 8.0,
            colors: CHEQUER,
            tints,
        };
        assert_eq!(
            message(chequer(&[Vec2::ZERO; 2], &[])),
            "surface 0 has 3 positions but 2 texture coordinates",
            "coordinates"
        );
        assert_eq!(
            message(chequer(&[Vec2::ZERO; 3], &[CLAY])),
            "surface 0 has 3 positions but 1 tints",
            "tints"
        );
    }

    #[test]
    fn a_missing_vertex_is_named() {
        let surface = Surface::new(&CORNERS, &[], &[[0, 1, 2], [0, 3, 1]]);
        assert_eq!(
            surface.check(1),
            Err(RenderError::IndexOutOfRange {
                surface: 1,
                triangle: 1,
                vertex: 3,
                vertex_count: 3
            }),
            "the second triangle"
        );
    }

    #[test]
    fn smooth_normals_ignore_broken_triangles() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::NAN];
        let normals = smooth_normals(&positions, &[[0, 1, 2], [0, 1, 3], [0, 1, 9]]);
        assert_eq!(
            normals,
            [Vec3::Z, Vec3::Z, Vec3::Z, Vec3::ZERO],
            "only the first triangle counts"
        );
    }
}
