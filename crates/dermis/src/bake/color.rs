//! Colours and other textures of a detailed surface, carried into the atlas of a coarse one.

use std::sync::LazyLock;

use super::field::{Field, Picture, to_byte};
use super::nearest::{MatchedSample, SurfaceMap};
use super::normal_map::uv_at;
use super::surface::{BakeError, DrawnSurface};
use super::texture::Texture;
use crate::par;

/// How the numbers of a texture stand for amounts. Averages are taken of amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Colours by eye: base colour and emission. Opacity is an amount as it is.
    #[default]
    Srgb,
    /// Amounts as they are: metal, roughness, occlusion.
    Linear,
}

/// Where the values of a texture come from.
#[derive(Debug, Clone, Copy)]
pub struct ColorBake<'a> {
    /// Which points show which.
    pub map: &'a SurfaceMap,
    /// The detailed surface, with the texture coordinates that go with the textures.
    pub source: &'a DrawnSurface<'a>,
    /// The texture of each part.
    pub textures: &'a [Option<Texture<'a>>],
    /// The value of parts that have no texture, as a pixel. White leaves a material's factors as they are.
    pub plain: [u8; 4],
    /// What the amounts of each part are multiplied by, for materials that differ in their factors; parts beyond the list
    /// by 1.
    pub factors: &'a [[f32; 4]],
    /// How numbers stand for amounts.
    pub encoding: Encoding,
}

impl ColorBake<'_> {
    /// Bakes the textures of all parts into one picture. Texels between charts are filled for `gutter` texels, and have
    /// the mean beyond.
    ///
    /// A texel is the mean of its samples, each read with blending between pixels. A source that is much finer than the
    /// atlas wants more samples per texel: about its pixels per texel along a side.
    ///
    /// # Errors
    /// A fault of the surface, or another one than was matched.
    pub fn bake(&self, gutter: usize) -> Result<Picture, BakeError> {
        self.source.check()?;
        self.map.check(None, self.source)?;
        let size = self.map.size();
        let rows = par::map(size, |row| self.bake_row(row));
        let mut field = Field::from_rows(size, rows);
        let mean = field.mean().map_or(self.plain, |mean| self.encode(mean));
        field.dilate(gutter);
        Ok(field.to_picture(mean, |value| self.encode(value)))
    }

    fn bake_row(&self, row: usize) -> Vec<Option<[f32; 4]>> {
        let mut values = vec![None; self.map.size()];
        for (texel, samples) in self.map.rows()[row].iter() {
            let mut sum = [0.0_f32; 4];
            for sample in samples {
                let value = self.value(sample);
                sum = std::array::from_fn(|i| sum[i] + value[i]);
            }
            values[texel.column as usize] = Some(sum.map(|s| s / samples.len() as f32));
        }
        values
    }

    /// The amounts at a sample.
    fn value(&self, sample: &MatchedSample) -> [f32; 4] {
        let part = self.source.part(sample.source.triangle as usize) as usize;
        let texture = self.textures.get(part).copied().flatten();
        let value = texture
            .zip(uv_at(self.source, sample.source))
            .and_then(|(texture, uv)| texture.sample(uv, |pixel| self.decode(pixel)));
        let value = value.unwrap_or_else(|| self.decode(self.plain));
        let factors = self.factors.get(part).unwrap_or(&[1.0; 4]);
        std::array::from_fn(|i| value[i] * factors[i])
    }

    fn decode(&self, pixel: [u8; 4]) -> [f32; 4] {
        let share = |byte: u8| f32::from(byte) / 255.0;
        match self.encoding {
            Encoding::Linear => pixel.map(share),
            Encoding::Srgb => {
                let [r, g, b, a] = pixel;
                let amount = |byte: u8| AMOUNTS[usize::from(byte)];
                [amount(r), amount(g), amount(b), share(a)]
            }
        }
    }

    fn encode(&self, value: [f32; 4]) -> [u8; 4] {
        match self.encoding {
            Encoding::Linear => value.map(to_byte),
            Encoding::Srgb => {
                let [r, g, b, a] = value;
                let byte = |amount: f32| to_byte(srgb_from_amount(amount));
                [byte(r), byte(g), byte(b), to_byte(a)]
            }
        }
    }
}

/// Amounts of light of the 256 values of sRGB.
static AMOUNTS: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let c = byte as f64 / 255.0;
        let amount = if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        };
        amount as f32
    })
});

fn srgb_from_amount(amount: f32) -> f32 {
    if amount <= 0.003_130_8 {
        12.92 * amount
    } else {
        1.055 * amount.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::nearest::{MatchOptions, match_surfaces};
    use crate::bake::testing::{Shape, quad};
    use crate::bake::texels::AtlasOptions;

    fn picture(width: usize, height: usize, pixel: impl Fn(usize, usize) -> [u8; 4]) -> Picture {
        let pixels = (0..width * height).map(|i| pixel(i % width, i / width));
        Picture {
            width,
            height,
            pixels: pixels.collect(),
        }
    }

    fn bake(
        target: &Shape,
        source: &Shape,
        textures: &[Option<Texture<'_>>],
        encoding: Encoding,
        size: usize,
    ) -> Picture {
        let atlas = AtlasOptions {
            size,
            ..Default::default()
        };
        let options = MatchOptions::default();
        let map = match_surfaces(&target.surface(), &source.surface(), atlas, &options);
        let bake = ColorBake {
            map: &map.expect("two shapes"),
            source: &source.surface(),
            textures,
            plain: [255; 4],
            factors: &[],
            encoding,
        };
        bake.bake(2).expect("a bake")
    }

    #[test]
    fn a_texture_of_the_same_size_and_coordinates_stays_as_it_is() {
        // Blocks of four equal pixels, so that blending between pixels leaves their insides alone.
        let texture = picture(32, 32, |x, y| {
            [
                (x / 4 * 30) as u8,
                (y / 4 * 30) as u8,
                77,
                (200 + x / 4) as u8,
            ]
        });
        let textures = [Some(Texture::new(&texture))];
        for encoding in [Encoding::Srgb, Encoding::Linear] {
            let baked = bake(
                &quad(false),
                &Shape::plate(5, |_, _| 0.0),
                &textures,
                encoding,
                32,
            );
            for (i, (own, wanted)) in baked.pixels.iter().zip(&texture.pixels).enumerate() {
                let inside = |c: usize| (1..3).contains(&(c % 4));
                if inside(i % 32) && inside(i / 32) {
                    assert_eq!(own, wanted, "{encoding:?}: pixel {i}");
                }
            }
        }
    }

    #[test]
    fn a_mirrored_atlas_mirrors_the_picture() {
        let texture = picture(2, 1, |x, _| [(x * 255) as u8, 0, 0, 255]);
        let textures = [Some(Texture {
            smooth: false,
            ..Texture::new(&texture)
        })];
        let source = Shape::plate(2, |_, _| 0.0);
        let baked = bake(&quad(true), &source, &textures, Encoding::Srgb, 8);
        assert_eq!(baked.pixels[0][0], 255, "left is what was right");
        assert_eq!(baked.pixels[7][0], 0, "right is what was left");
    }

    #[test]
    fn averages_are_of_light_for_colours_and_of_numbers_for_the_rest() {
        let checks = picture(64, 64, |x, y| [if (x + y) % 2 == 0 { 255 } else { 0 }; 4]);
        let textures = [Some(Texture {
            smooth: false,
            ..Texture::new(&checks)
        })];
        let source = Shape::plate(1, |_, _| 0.0);
        let light = bake(&quad(false), &source, &textures, Encoding::Srgb, 32);
        assert_eq!(light.pixels[500], [188, 188, 188, 128], "half the light");
        let plain = bake(&quad(false), &source, &textures, Encoding::Linear, 32);
        assert_eq!(plain.pixels[500], [128; 4], "half the number");
    }

    #[test]
    fn parts_bring_their_own_textures_into_one_atlas() {
        let red = picture(1, 1, |_, _| [255, 0, 0, 255]);
        let mut source = Shape::plate(2, |_, _| 0.0);
        // Cells from the top left: two triangles each.
        source.parts = vec![0, 0, 1, 1, 2, 2, 0, 0];
        let textures = [Some(Texture::new(&red)), None];
        let mut target = quad(false);
        target.parts = vec![9, 9];
        let baked = bake(&target, &source, &textures, Encoding::Srgb, 16);
        let at = |x: usize, y: usize| baked.pixels[y * 16 + x];
        assert_eq!(at(3, 3), [255, 0, 0, 255], "the first part's texture");
        assert_eq!(at(12, 3), [255; 4], "a part without one is plain");
        assert_eq!(at(3, 12), [255; 4], "and one beyond the list");
    }

    #[test]
    fn factors_multiply_amounts_of_light() {
        let target = quad(false);
        let map = match_surfaces(
            &target.surface(),
            &target.surface(),
            AtlasOptions {
                size: 8,
                ..Default::default()
            },
            &MatchOptions::default(),
        );
        let bake = ColorBake {
            map: &map.expect("a quad"),
            source: &target.surface(),
            textures: &[],
            plain: [255; 4],
            factors: &[[0.5, 1.0, 0.0, 0.5]],
            encoding: Encoding::Srgb,
        };
        let baked = bake.bake(0).expect("a bake");
        assert_eq!(baked.pixels[30], [188, 255, 0, 128], "half the light");
    }

    #[test]
    fn every_value_of_srgb_survives_both_ways() {
        for byte in 0..=255_u8 {
            let amount = AMOUNTS[usize::from(byte)];
            assert_eq!(to_byte(srgb_from_amount(amount)), byte, "byte {byte}");
        }
    }
}
