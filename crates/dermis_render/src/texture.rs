//! A picture that a surface wears: sampled smoothly, near and far.
//!
//! Pixels are blended in linear light. Where a screen pixel sees many texture pixels, halved copies of the picture
//! (*mip levels*) are read instead, so that fine detail turns into its mean rather than into noise. A surface that is
//! seen at a slant is blurred along both directions by the longer one.
//!
//! Not here: transparency. Alpha is kept out of the blending, and the picture is drawn as if it were opaque.

use glam::{DVec2, Vec3};

use crate::color::{byte_from_linear, linear_from_byte};
use crate::error::RenderError;

/// A texture: RGBA pixels in sRGB, top row first, that repeats in both directions.
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
    levels: Vec<Level>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Level {
    width: usize,
    height: usize,
    /// sRGB; alpha is not kept.
    pixels: Vec<[u8; 3]>,
}

impl TexturePicture {
    /// Takes pixels row by row from the top and prepares their halved copies. Alpha is ignored.
    ///
    /// # Errors
    /// [`RenderError::TextureSize`] when there are no pixels, or not `width × height` of them.
    pub fn new(width: u32, height: u32, pixels: Vec<[u8; 4]>) -> Result<Self, RenderError> {
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
            pixels: pixels.into_iter().map(|[r, g, b, _]| [r, g, b]).collect(),
        };
        let mut levels = Vec::new();
        while last.width > 1 || last.height > 1 {
            let next = last.halved();
            levels.push(std::mem::replace(&mut last, next));
        }
        levels.push(last);
        Ok(Self { levels })
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.levels[0].width as u32
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.levels[0].height as u32
    }

    /// Linear light at a texture coordinate, averaged over about the area that `steps` span: how far the coordinate
    /// moves from one screen pixel to the next, to the right and down.
    pub(crate) fn linear_color(&self, uv: DVec2, steps: [DVec2; 2]) -> Vec3 {
        let first = &self.levels[0];
        let size = DVec2::new(first.width as f64, first.height as f64);
        let longest = (steps[0] * size).length().max((steps[1] * size).length());
        // Up to one texture pixel per screen pixel the picture itself serves.
        let level = longest.max(1.0).log2().min((self.levels.len() - 1) as f64);
        let (fine, blend) = (level as usize, level.fract() as f32);
        let color = self.levels[fine].sample(uv);
        match self.levels.get(fine + 1) {
            Some(coarse) if blend > 0.0 => color.lerp(coarse.sample(uv), blend),
            _ => color,
        }
    }
}

impl Level {
    /// Half as wide and half as high, rounded down, at least one pixel: each new pixel is the mean light of those it
    /// covers at least in part.
    fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let covered =
            |i: usize, new: usize, old: usize| i * old / new..((i + 1) * old).div_ceil(new);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                for row in covered(y, height, self.height) {
                    for column in covered(x, width, self.width) {
                        sum += self.linear(column, row);
                        count += 1.0;
                    }
                }
                pixels.push((sum / count).to_array().map(byte_from_linear));
            }
        }
        Self {
            width,
            height,
            pixels,
        }
    }

    fn linear(&self, x: usize, y: usize) -> Vec3 {
        Vec3::from_array(self.pixels[y * self.width + x].map(linear_from_byte))
    }

    /// Blends the four nearest pixels; pixel centres are at halves, and the picture repeats.
    fn sample(&self, uv: DVec2) -> Vec3 {
        let axis = |coordinate: f64, size: usize| {
            let place = coordinate.rem_euclid(1.0) * size as f64 - 0.5;
            let before = place.floor();
            let index = |i: f64| i.rem_euclid(size as f64).min((size - 1) as f64) as usize;
            (
                [index(before), index(before + 1.0)],
                (place - before) as f32,
            )
        };
        let ([x0, x1], right) = axis(uv.x, self.width);
        let ([y0, y1], down) = axis(uv.y, self.height);
        let upper = self.linear(x0, y0).lerp(self.linear(x1, y0), right);
        let lower = self.linear(x0, y1).lerp(self.linear(x1, y1), right);
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
        let at = |u: f64, v: f64| texture.linear_color(DVec2::new(u, v), NEAR).x;
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
            let inside = texture.linear_color(DVec2::new(u, 0.5), NEAR);
            for turn in [-2.0, 1.0, 7.0] {
                let outside = texture.linear_color(DVec2::new(u + turn, 0.5 - turn), NEAR);
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
            let seen = texture.linear_color(DVec2::new(u, 0.2), far).x;
            assert!((seen - 0.5).abs() < 0.01, "at {u}: {seen}");
        }
        let endless = [DVec2::splat(1e9); 2];
        let seen = texture.linear_color(DVec2::ZERO, endless).x;
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
                .all(|level| level.pixels.iter().all(|&p| p == [100; 3])),
            "a plain picture stays plain"
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
