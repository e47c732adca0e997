//! A square field of numbers while it is baked, and the picture that it becomes.

use crate::par;

/// A picture as plain pixels, red, green, blue and opacity of 8 bits, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width × height` pixels.
    pub pixels: Vec<[u8; 4]>,
}

/// Values of the texels of a square atlas, of which some are not known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    size: usize,
    values: Vec<[f32; 4]>,
    known: Vec<bool>,
}

impl Field {
    /// Puts rows of values together.
    pub(crate) fn from_rows(size: usize, rows: Vec<Vec<Option<[f32; 4]>>>) -> Self {
        let texels = rows.into_iter().flatten();
        let (known, values) = texels
            .map(|value| (value.is_some(), value.unwrap_or_default()))
            .unzip();
        Self {
            size,
            values,
            known,
        }
    }

    /// Fills unknown texels from their known neighbours, a ring of one texel each round: without, filtering and smaller
    /// copies of the picture would mix in what lies between charts.
    pub(crate) fn dilate(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let rows = par::map(self.size, |y| self.ring_of_row(y));
            let fills: Vec<(usize, [f32; 4])> = rows.into_iter().flatten().collect();
            if fills.is_empty() {
                return;
            }
            for (texel, value) in fills {
                self.values[texel] = value;
                self.known[texel] = true;
            }
        }
    }

    /// Values for the unknown texels of a row that have known ones around them.
    fn ring_of_row(&self, y: usize) -> Vec<(usize, [f32; 4])> {
        let last = self.size - 1;
        let mut fills = Vec::new();
        for x in 0..self.size {
            if self.known[y * self.size + x] {
                continue;
            }
            let (mut sum, mut count) = ([0.0_f32; 4], 0.0_f32);
            for v in y.saturating_sub(1)..=(y + 1).min(last) {
                for u in x.saturating_sub(1)..=(x + 1).min(last) {
                    let texel = v * self.size + u;
                    if self.known[texel] {
                        let value = self.values[texel];
                        sum = std::array::from_fn(|i| sum[i] + value[i]);
                        count += 1.0;
                    }
                }
            }
            if count > 0.0 {
                fills.push((y * self.size + x, sum.map(|s| s / count)));
            }
        }
        fills
    }

    /// The mean of the known texels.
    pub(crate) fn mean(&self) -> Option<[f32; 4]> {
        let mut sum = [0.0_f64; 4];
        let mut count = 0.0;
        let texels = self.values.iter().zip(&self.known);
        for (value, _) in texels.filter(|(_, known)| **known) {
            sum = std::array::from_fn(|i| sum[i] + f64::from(value[i]));
            count += 1.0;
        }
        (count > 0.0).then(|| sum.map(|s| (s / count) as f32))
    }

    /// The picture, with `rest` where nothing is known.
    pub(crate) fn to_picture(
        &self,
        rest: [u8; 4],
        encode: impl Fn([f32; 4]) -> [u8; 4] + Sync + Send,
    ) -> Picture {
        let row = |y: usize| -> Vec<[u8; 4]> {
            let texels = y * self.size..(y + 1) * self.size;
            let pixel = |t: usize| {
                if self.known[t] {
                    encode(self.values[t])
                } else {
                    rest
                }
            };
            texels.map(pixel).collect()
        };
        Picture {
            width: self.size,
            height: self.size,
            pixels: par::map(self.size, row).concat(),
        }
    }
}

/// A number from 0 to 1 as 8 bits; others are brought into the range, and what is not a number is 0.
pub(crate) fn to_byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known_count(field: &Field) -> usize {
        field.known.iter().filter(|known| **known).count()
    }

    #[test]
    fn dilation_grows_by_one_texel_a_round_and_keeps_what_is_known() {
        let mut rows = vec![vec![None; 9]; 9];
        rows[4][4] = Some([1.0, 2.0, 3.0, 4.0]);
        let mut field = Field::from_rows(9, rows);
        field.dilate(2);
        assert_eq!(known_count(&field), 25, "two rings around one texel");
        assert_eq!(
            field.mean(),
            Some([1.0, 2.0, 3.0, 4.0]),
            "all have its value"
        );
        field.dilate(100);
        assert_eq!(known_count(&field), 81, "until all are filled");
    }

    #[test]
    fn nothing_known_stays_nothing() {
        let mut field = Field::from_rows(4, vec![vec![None; 4]; 4]);
        field.dilate(3);
        assert_eq!(field.mean(), None, "no texel has a value");
        let picture = field.to_picture([1, 2, 3, 4], |_| [0; 4]);
        assert_eq!(
            picture.pixels,
            vec![[1, 2, 3, 4]; 16],
            "the rest everywhere"
        );
    }

    #[test]
    fn bytes_are_rounded_and_bounded() {
        let bytes = [-1.0, 0.0, 0.5, 1.0, 7.0, f32::NAN].map(to_byte);
        assert_eq!(
            bytes,
            [0, 0, 128, 255, 255, 0],
            "ends, middle, and no number"
        );
    }
}
