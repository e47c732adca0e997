//! Reading a texture at texture coordinates, as a graphics card does.

use super::field::Picture;

/// What lies beyond the edge of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// The texture again: glTF's `REPEAT`, its default.
    #[default]
    Repeat,
    /// The texture mirrored: `MIRRORED_REPEAT`.
    Mirror,
    /// The pixel at the edge: `CLAMP_TO_EDGE`.
    Clamp,
}

/// A picture and how it is read.
#[derive(Debug, Clone, Copy)]
pub struct Texture<'a> {
    /// The picture.
    pub picture: &'a Picture,
    /// What lies beyond its edges, along u and v.
    pub wrap: [Wrap; 2],
    /// Whether values between pixel centres are blended (glTF's `LINEAR`) or taken from the nearest pixel.
    pub smooth: bool,
}

impl<'a> Texture<'a> {
    /// A texture that repeats and is smooth: glTF's defaults.
    pub fn new(picture: &'a Picture) -> Self {
        Self {
            picture,
            wrap: [Wrap::Repeat; 2],
            smooth: true,
        }
    }

    /// The value at texture coordinates, each pixel decoded before pixels are blended; `None` of a picture without pixels.
    pub(crate) fn sample(
        &self,
        uv: [f64; 2],
        decode: impl Fn([u8; 4]) -> [f32; 4],
    ) -> Option<[f32; 4]> {
        let (width, height) = (self.picture.width, self.picture.height);
        if width == 0 || height == 0 || self.picture.pixels.len() != width * height {
            return None;
        }
        let pixel = |x: i64, y: i64| {
            let (x, y) = (
                wrapped(x, width, self.wrap[0]),
                wrapped(y, height, self.wrap[1]),
            );
            decode(self.picture.pixels[y * width + x])
        };
        let (x, y) = (uv[0] * width as f64, uv[1] * height as f64);
        if !self.smooth {
            return Some(pixel(x.floor() as i64, y.floor() as i64));
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (column, row) = (x.floor() as i64, y.floor() as i64);
        let (s, t) = ((x - x.floor()) as f32, (y - y.floor()) as f32);
        let corners = [
            (pixel(column, row), (1.0 - s) * (1.0 - t)),
            (pixel(column.saturating_add(1), row), s * (1.0 - t)),
            (pixel(column, row.saturating_add(1)), (1.0 - s) * t),
            (
                pixel(column.saturating_add(1), row.saturating_add(1)),
                s * t,
            ),
        ];
        let sum = |i: usize| corners.iter().map(|(value, w)| value[i] * w).sum();
        Some(std::array::from_fn(sum))
    }
}

/// The pixel that stands for one beyond the edge.
fn wrapped(index: i64, count: usize, wrap: Wrap) -> usize {
    let length = count as i64;
    let index = match wrap {
        Wrap::Repeat => index.rem_euclid(length),
        Wrap::Clamp => index.clamp(0, length - 1),
        Wrap::Mirror => {
            let turn = index.rem_euclid(2 * length);
            turn.min(2 * length - 1 - turn)
        }
    };
    index as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(pixel: [u8; 4]) -> [f32; 4] {
        pixel.map(f32::from)
    }

    fn stripes() -> Picture {
        Picture {
            width: 4,
            height: 1,
            pixels: [0, 100, 200, 40].map(|r| [r, 0, 0, 255]).to_vec(),
        }
    }

    #[test]
    fn pixel_centres_have_their_own_value_and_places_between_are_blended() {
        let picture = stripes();
        let texture = Texture::new(&picture);
        let red = |u: f64| texture.sample([u, 0.5], plain).expect("pixels")[0];
        assert_eq!(red(0.375), 100.0, "the centre of the second pixel");
        assert_eq!(red(0.5), 150.0, "between the second and the third");
        assert_eq!(red(1.0), 20.0, "across the edge, where it repeats");
    }

    #[test]
    fn beyond_the_edge_is_what_the_wrap_says() {
        let beyond = [-5, -1, 4, 6, 9];
        let at = |wrap| beyond.map(|i| wrapped(i, 4, wrap));
        assert_eq!(at(Wrap::Repeat), [3, 3, 0, 2, 1], "again and again");
        assert_eq!(at(Wrap::Clamp), [0, 0, 3, 3, 3], "the edge");
        assert_eq!(at(Wrap::Mirror), [3, 0, 3, 1, 1], "to and fro");
    }

    #[test]
    fn the_nearest_pixel_is_taken_when_asked_and_odd_numbers_do_no_harm() {
        let picture = stripes();
        let texture = Texture {
            smooth: false,
            ..Texture::new(&picture)
        };
        let red = |u: f64| texture.sample([u, 0.5], plain).expect("pixels")[0];
        assert_eq!(red(0.49), 100.0, "the second pixel as it is");
        for odd in [f64::NAN, f64::INFINITY, -1e300] {
            let smooth = Texture::new(&picture).sample([odd, odd], plain);
            assert!(smooth.is_some() && red(odd) >= 0.0, "{odd} reads something");
        }
        let none = Picture::default();
        let nothing = Texture::new(&none).sample([0.5, 0.5], plain);
        assert_eq!(nothing, None, "no pixels, no value");
    }
}
