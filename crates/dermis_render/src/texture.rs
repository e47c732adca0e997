//! A picture that a surface wears: sampled smoothly, near and far.
//!
//! Pixels are blended in linear light. Where a screen pixel sees many texture pixels, halved copies of the picture
//! (*mip levels*) are read instead, so that fine detail turns into its mean rather than into noise. A surface that is
//! seen at a slant is blurred along both directions by the longer one.
//!
//! Opacity is averaged beside the colours and has no say in them.

use std::sync::Arc;

use glam::{DVec2, Vec3, Vec4};

use crate::color::{byte_from_linear, linear_from_byte};
use crate::error::RenderError;

/// A texture: RGBA pixels, top row first, that repeats in both directions unless [`TexturePicture::wrapped`] says
/// otherwise. Colours are sRGB, or with [`TexturePicture::linear`] plain numbers.
///
/// ```
/// use dermis_render::TexturePicture;
///
/// let texture = TexturePicture::new(2, 1, vec![[255, 0, 0, 255], [0, 0, 255, 255]])?;
/// assert_eq!((texture.width(), texture.height()), (2, 1));
/// assert!(TexturePicture::new(2, 2, vec![[0; 4]; 3]).is_err());
/// # Ok::<(), dermis_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TexturePicture {
    /// The picture, then halved copies of it down to one pixel.
    levels: Arc<[Level]>,
    encoding: Encoding,
    wrap: [Wrap; 2],
}

/// What a texture shows beyond its borders, along one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// Itself again.
    #[default]
    Repeat,
    /// Itself again, every other copy mirrored.
    Mirror,
    /// The pixels of its border.
    Clamp,
}

/// What the bytes of red, green and blue mean; opacity is always linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Srgb,
    Linear,
}

impl Encoding {
    fn decode(self, [r, g, b, a]: [u8; 4]) -> Vec4 {
        let linear = |byte: u8| f32::from(byte) / 255.0;
        let color = match self {
            Self::Srgb => [r, g, b].map(linear_from_byte),
            Self::Linear => [r, g, b].map(linear),
        };
        Vec3::from_array(color).extend(linear(a))
    }

    fn encode(self, value: Vec4) -> [u8; 4] {
        let linear = |value: f32| (value * 255.0).round() as u8;
        let color = value.truncate().to_array();
        let [r, g, b] = match self {
            Self::Srgb => color.map(byte_from_linear),
            Self::Linear => color.map(linear),
        };
        [r, g, b, linear(value.w)]
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Level {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl TexturePicture {
    /// Takes colours row by row from the top, in sRGB, and prepares their halved copies.
    ///
    /// # Errors
    /// [`RenderError::TextureSize`] when there are no pixels, or not `width × height` of them.
    pub fn new(width: u32, height: u32, pixels: Vec<[u8; 4]>) -> Result<Self, RenderError> {
        Self::encoded(width, height, pixels, Encoding::Srgb)
    }

    /// As [`TexturePicture::new`] for numbers that are no colours, such as the directions of a normal map: byte 255 is 1,
    /// and all others in proportion.
    ///
    /// # Errors
    /// As [`TexturePicture::new`].
    pub fn linear(width: u32, height: u32, pixels: Vec<[u8; 4]>) -> Result<Self, RenderError> {
        Self::encoded(width, height, pixels, Encoding::Linear)
    }

    fn encoded(
        width: u32,
        height: u32,
        pixels: Vec<[u8; 4]>,
        encoding: Encoding,
    ) -> Result<Self, RenderError> {
        let expected = u64::from(width) * u64::from(height);
        if expected == 0 || expected != pixels.len() as u64 {
            return Err(RenderError::TextureSize {
                width,
                height,
                actual: pixels.len(),
            });
        }
        let mut last = Level {
            width: width as usize,
            height: height as usize,
            pixels,
        };
        let mut levels = Vec::new();
        while last.width > 1 || last.height > 1 {
            let next = last.halved(encoding);
            levels.push(std::mem::replace(&mut last, next));
        }
        levels.push(last);
        Ok(Self {
            levels: levels.into(),
            encoding,
            wrap: [Wrap::Repeat; 2],
        })
    }

    /// The same picture with something else beyond its borders, along u and along v.
    pub fn wrapped(self, wrap: [Wrap; 2]) -> Self {
        Self { wrap, ..self }
    }

    /// What it shows beyond its borders, along u and along v.
    pub fn wrap(&self) -> [Wrap; 2] {
        self.wrap
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.levels[0].width as u32
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.levels[0].height as u32
    }

    /// Whether this is a copy of another picture, whatever they show beyond their borders: copies share their pixels, and
    /// a renderer needs them once.
    pub fn shares_pixels_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.levels, &other.levels)
    }

    /// Whether red, green and blue are sRGB, and not plain numbers.
    pub fn is_srgb(&self) -> bool {
        self.encoding == Encoding::Srgb
    }

    /// How many levels there are: the picture itself and its halved copies, down to one pixel.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// Width and height of a level, in pixels; level 0 is the picture, and each level has half the size of the one
    /// before, rounded down, at least 1.
    ///
    /// # Panics
    /// When there is no such level.
    pub fn level_size(&self, level: usize) -> [u32; 2] {
        let Level { width, height, .. } = self.levels[level];
        [width as u32, height as u32]
    }

    /// The pixels of a level, row by row from the top, encoded as those of the picture.
    ///
    /// # Panics
    /// When there is no such level.
    pub fn level_rgba(&self, level: usize) -> &[[u8; 4]] {
        &self.levels[level].pixels
    }

    /// Linear light and opacity at a texture coordinate, averaged over about the area that `steps` span: how far the coordinate
    /// moves from one screen pixel to the next, to the right and down.
    pub(crate) fn sample(&self, uv: DVec2, steps: [DVec2; 2]) -> Vec4 {
        let first = &self.levels[0];
        let size = DVec2::new(first.width as f64, first.height as f64);
        let longest = (steps[0] * size).length().max((steps[1] * size).length());
        // Up to one texture pixel per screen pixel the picture itself serves.
        let level = longest.max(1.0).log2().min((self.levels.len() - 1) as f64);
        let (fine, blend) = (level as usize, level.fract() as f32);
        let at = |level: &Level| level.sample(uv, self.encoding, self.wrap);
        let color = at(&self.levels[fine]);
        match self.levels.get(fine + 1) {
            Some(coarse) if blend > 0.0 => color.lerp(at(coarse), blend),
            _ => color,
        }
    }
}

impl Level {
    /// Half as wide and half as high, rounded down, at least one pixel: each new pixel is the mean light of those it
    /// covers at least in part.
    fn halved(&self, encoding: Encoding) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let covered =
            |i: usize, new: usize, old: usize| i * old / new..((i + 1) * old).div_ceil(new);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (mut sum, mut count) = (Vec4::ZERO, 0.0);
                for row in covered(y, height, self.height) {
                    for column in covered(x, width, self.width) {
                        sum += encoding.decode(self.pixels[row * self.width + column]);
                        count += 1.0;
                    }
                }
                pixels.push(encoding.encode(sum / count));
            }
        }
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Blends the four nearest pixels; pixel centres are at halves.
    fn sample(&self, uv: DVec2, encoding: Encoding, wrap: [Wrap; 2]) -> Vec4 {
        let axis = |coordinate: f64, size: usize, wrap: Wrap| {
            let inside = match wrap {
                Wrap::Repeat => coordinate.rem_euclid(1.0),
                Wrap::Mirror => 1.0 - (coordinate.rem_euclid(2.0) - 1.0).abs(),
                Wrap::Clamp => coordinate.clamp(0.0, 1.0),
            };
            let place = inside * size as f64 - 0.5;
            let before = place.floor();
            let last = (size - 1) as f64;
            let index = |i: f64| match wrap {
                Wrap::Repeat => i.rem_euclid(size as f64).min(last) as usize,
                // What is mirrored at a border is the pixel at the border.
                Wrap::Mirror | Wrap::Clamp => i.clamp(0.0, last) as usize,
            };
            (
                [index(before), index(before + 1.0)],
                (place - before) as f32,
            )
        };
        let ([x0, x1], right) = axis(uv.x, self.width, wrap[0]);
        let ([y0, y1], down) = axis(uv.y, self.height, wrap[1]);
        let at = |x: usize, y: usize| encoding.decode(self.pixels[y * self.width + x]);
        let upper = at(x0, y0).lerp(at(x1, y0), right);
        let lower = at(x0, y1).lerp(at(x1, y1), right);
        upper.lerp(lower, down)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: [DVec2; 2] = [DVec2::ZERO; 2];

    /// Grey levels as a texture.
    fn grey(width: u32, height: u32, levels: &[u8]) -> TexturePicture {
        let pixels = levels.iter().map(|&l| [l, l, l, 255]).collect();
        TexturePicture::new(width, height, pixels).expect("as many as the size says")
    }

    #[test]
    fn pixel_centres_have_their_own_colour_and_the_middle_between_them_half_the_light() {
        let texture = grey(2, 2, &[0, 255, 255, 0]);
        let at = |u: f64, v: f64| texture.sample(DVec2::new(u, v), NEAR).x;
        assert_eq!(at(0.25, 0.25), 0.0, "top left");
        assert_eq!(at(0.75, 0.25), 1.0, "top right");
        assert_eq!(at(0.25, 0.75), 1.0, "bottom left: v runs down");
        assert_eq!(at(0.5, 0.25), 0.5, "between");
        assert_eq!(at(0.0, 0.25), 0.5, "across the seam");
    }

    #[test]
    fn a_texture_repeats() {
        let texture = grey(3, 1, &[10, 90, 200]);
        for u in [0.1, 0.45, 0.99] {
            let inside = texture.sample(DVec2::new(u, 0.5), NEAR);
            for turn in [-2.0, 1.0, 7.0] {
                let outside = texture.sample(DVec2::new(u + turn, 0.5 - turn), NEAR);
                assert!(
                    inside.distance(outside) < 1e-5,
                    "{turn} to the side of {u}: {outside}, not {inside}"
                );
            }
        }
    }

    #[test]
    fn from_afar_a_texture_is_its_mean_light() {
        let levels: Vec<u8> = (0..64 * 64).map(|i| (i % 2 * 255) as u8).collect();
        let texture = grey(64, 64, &levels);
        let far = [DVec2::new(0.3, 0.0), DVec2::new(0.0, 0.3)];
        for u in [0.0, 0.01, 0.37] {
            let seen = texture.sample(DVec2::new(u, 0.2), far).x;
            assert!((seen - 0.5).abs() < 0.01, "at {u}: {seen}");
        }
        let endless = [DVec2::splat(1e9); 2];
        let seen = texture.sample(DVec2::ZERO, endless).x;
        assert!((seen - 0.5).abs() < 0.01, "the last level: {seen}");
    }

    #[test]
    fn odd_sizes_halve_too() {
        let texture = grey(5, 3, &[100; 15]);
        let sizes: Vec<[usize; 2]> = texture.levels.iter().map(|l| [l.width, l.height]).collect();
        assert_eq!(sizes, [[5, 3], [2, 1], [1, 1]], "down to one pixel");
        assert!(
            texture
                .levels
                .iter()
                .all(|level| level.pixels.iter().all(|&p| p == [100, 100, 100, 255])),
            "a plain picture stays plain"
        );
    }

    #[test]
    fn beyond_its_borders_a_texture_is_mirrored_or_goes_on_as_it_ends() {
        let at = |wrap: Wrap, u: f64| {
            let texture = grey(4, 1, &[0, 255, 255, 128]).wrapped([wrap, Wrap::Repeat]);
            texture.sample(DVec2::new(u, 0.5), NEAR).x
        };
        let [first, last] = [0, 128].map(linear_from_byte);
        for (u, mirrored, clamped) in [
            (0.0, first, first),
            (1.0, last, last),
            (-0.1, 0.0, first),
            (1.125, last, last),
            (1.9, 0.0, last),
            (-0.375, 1.0, first),
            (7.0, last, last),
        ] {
            let seen = [at(Wrap::Mirror, u), at(Wrap::Clamp, u)];
            assert!(
                (seen[0] - mirrored).abs() < 1e-6,
                "mirrored at {u}: {seen:?}"
            );
            assert!((seen[1] - clamped).abs() < 1e-6, "clamped at {u}: {seen:?}");
        }
    }

    #[test]
    fn levels_are_halved_in_light_or_as_plain_numbers_and_opacity_beside_them() {
        let pixels = || vec![[0, 0, 0, 0], [255, 255, 255, 255]];
        let color = TexturePicture::new(2, 1, pixels()).expect("two pixels");
        let plain = TexturePicture::linear(2, 1, pixels()).expect("two pixels");
        assert_eq!(color.level_count(), 2, "down to one pixel");
        assert_eq!(color.level_size(1), [1, 1], "one pixel");
        assert_eq!(
            color.level_rgba(1),
            [[188, 188, 188, 128]],
            "half the light"
        );
        assert_eq!(plain.level_rgba(1), [[128; 4]], "half the number");
        assert!(color.is_srgb() && !plain.is_srgb(), "as they were made");
        let copy = color.clone().wrapped([Wrap::Clamp; 2]);
        assert!(copy.shares_pixels_with(&color), "a copy");
        assert!(!plain.shares_pixels_with(&color), "another one");
        let grey = TexturePicture::linear(1, 1, vec![[51, 51, 51, 204]]).expect("a pixel");
        let seen = grey.sample(DVec2::ZERO, NEAR);
        assert!(
            seen.distance(Vec4::new(0.2, 0.2, 0.2, 0.8)) < 1e-6,
            "{seen}"
        );
    }

    #[test]
    fn a_wrong_number_of_pixels_is_an_error() {
        for (width, height, actual) in [(2, 2, 3), (0, 4, 0), (u32::MAX, u32::MAX, 1)] {
            let error = TexturePicture::new(width, height, vec![[0; 4]; actual]);
            assert_eq!(
                error,
                Err(RenderError::TextureSize {
                    width,
                    height,
                    actual
                }),
                "{width} × {height}"
            );
        }
    }
}
