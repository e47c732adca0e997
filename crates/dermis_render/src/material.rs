//! What a file says of a surface, as [`Paint::Material`](crate::Paint::Material) draws it.

use glam::{Vec2, Vec4};

use crate::texture::TexturePicture;

/// What a file says of a surface: colours, pictures, bumps.
///
/// A place of the surface has the colour `color · picture · vertex colour`, by channel and in linear light; lights are
/// those of all pictures, [`crate::Lights`]. Texture coordinates that are not finite are "no data" and grey.
#[derive(Debug, Clone)]
pub struct Material<'a> {
    /// A factor in linear light, with opacity: glTF's `baseColorFactor`. Default 1.
    pub color: [f32; 4],
    /// One texture coordinate per vertex, for `picture`; may be empty without one.
    pub uvs: &'a [Vec2],
    /// Colours and opacity. Default none.
    pub picture: Option<&'a TexturePicture>,
    /// One colour per vertex, linear; or none at all.
    pub vertex_colors: &'a [[f32; 3]],
    /// Bumps. Default none.
    pub normal_map: Option<NormalMap<'a>>,
    /// Light that the surface sends out of itself, whatever shines on it. Default none.
    pub glow: Option<Glow<'a>>,
    /// What opacity means. The ground's shadow has no holes. Default nothing.
    pub opacity: Opacity,
    /// Which sides of its triangles are seen. Default both, the inner one darker.
    pub sides: Sides,
}

/// What the opacity of a material means.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Opacity {
    /// Nothing: everything is opaque.
    #[default]
    Ignored,
    /// Places whose opacity is below this are holes; all others are opaque.
    Cutoff(f32),
    /// What is behind shines through: of the sixteen samples of a pixel so many show the surface as its opacity says, and
    /// the others what is behind. Surfaces need no order, and 17 opacities can be told apart.
    Blended,
}

impl Opacity {
    /// The opacity that a sample asks for to show a surface, so that it is hidden below.
    ///
    /// For blended surfaces these are different for each sample, and in another order for each surface of a scene and for the
    /// inside: of two faint surfaces, one behind the other, each shows something. With `k` the sample's number in
    /// [`crate::SAMPLE_PLACES`] and `s` the surface's, it is `((7 k + 5 s + (3 inside)) mod 16 + ½) / 16`.
    pub(crate) fn threshold(self, sample: usize, surface: usize, inside: bool) -> f32 {
        match self {
            Self::Ignored => 0.0,
            Self::Cutoff(cutoff) => cutoff,
            Self::Blended => {
                let place = 7 * sample + 5 * surface + 3 * usize::from(inside);
                ((place % 16) as f32 + 0.5) / 16.0
            }
        }
    }
}

/// Which sides of its triangles a surface shows, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sides {
    /// Both; the inner one is darker, so that a look into something open is seen as such.
    #[default]
    DarkInside,
    /// Both alike: glTF's `doubleSided`.
    Alike,
    /// The outer one; from inside it cannot be seen, as engines draw what is not double-sided.
    Outer,
}

impl Default for Material<'_> {
    fn default() -> Self {
        Self {
            color: [1.0; 4],
            uvs: &[],
            picture: None,
            vertex_colors: &[],
            normal_map: None,
            glow: None,
            opacity: Opacity::default(),
            sides: Sides::default(),
        }
    }
}

/// Bumps: normals relative to those of the vertices, in tangent space.
///
/// With `n` and `t` the interpolated vertex normal and tangent as they are, not brought back to length 1, and `w` the
/// sign, a texel's red, green and blue as `(x, y, z) = 2 rgb − 1` give the normal `scale x t + scale y w (n × t) + z n`,
/// which is then brought to length 1: the advice of MikkTSpace and what glTF asks for. Where that is not possible the
/// surface is smooth.
#[derive(Debug, Clone, Copy)]
pub struct NormalMap<'a> {
    /// One texture coordinate per vertex.
    pub uvs: &'a [Vec2],
    /// Directions, made with [`TexturePicture::linear`]: green is up the picture.
    pub picture: &'a TexturePicture,
    /// One tangent per vertex, in the pose that is drawn; the fourth number is the sign of the bitangent.
    pub tangents: &'a [Vec4],
    /// How strong it is; 1 as it is drawn, 0 smooth.
    pub scale: f32,
}

/// Light of a surface's own.
#[derive(Debug, Clone, Copy)]
pub struct Glow<'a> {
    /// Linear light: glTF's `emissiveFactor`.
    pub color: [f32; 3],
    /// One texture coordinate per vertex, for `picture`; may be empty without one.
    pub uvs: &'a [Vec2],
    /// Multiplied with `color`.
    pub picture: Option<&'a TexturePicture>,
}

impl Material<'_> {
    /// The lists of this material that need one entry per vertex: their names and lengths.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (&'static str, usize)> {
        const UVS: &str = "texture coordinates";
        let colors = self.vertex_colors.len();
        let bumps = self.normal_map.as_ref();
        let glow = self.glow.as_ref();
        [
            self.picture.map(|_| (UVS, self.uvs.len())),
            (colors > 0).then_some(("vertex colours", colors)),
            bumps.map(|map| ("texture coordinates of the normal map", map.uvs.len())),
            bumps.map(|map| ("tangents", map.tangents.len())),
            glow.and_then(|glow| glow.picture.map(|_| (UVS, glow.uvs.len()))),
        ]
        .into_iter()
        .flatten()
    }

    /// Whether it may have holes.
    pub(crate) fn has_holes(&self) -> bool {
        match self.opacity {
            Opacity::Ignored => false,
            Opacity::Cutoff(cutoff) => cutoff > 0.0,
            Opacity::Blended => true,
        }
    }
}
