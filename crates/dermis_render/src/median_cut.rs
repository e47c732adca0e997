//! Few colours for many: a palette for pictures that must be small, by median cut.
//!
//! Colours are counted in bins of 5 bits per channel. The box of bins with the most spread, weighted by how often its
//! colours occur, is halved at the median of its longest side, until there are as many boxes as colours are wanted; the
//! mean of a box becomes a colour of the palette [Heckbert 1982].

use crate::image::Image;

const BITS: u32 = 5;
const BIN_COUNT: usize = 1 << (3 * BITS);

/// A palette, and which of its colours is nearest to any colour.
pub(crate) struct Palette {
    pub(crate) colors: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

/// How often the colours of a bin occur, and the sums of their channels.
#[derive(Clone, Copy, Default)]
struct Bin {
    count: u64,
    sums: [u64; 3],
}

impl Bin {
    fn mean(&self) -> [f64; 3] {
        self.sums.map(|sum| sum as f64 / self.count.max(1) as f64)
    }
}

impl Palette {
    /// At most `most` colours (1 to 256) for some pictures together; transparency is ignored.
    pub(crate) fn of(images: &[Image], most: usize) -> Self {
        let mut bins = vec![Bin::default(); BIN_COUNT];
        for pixel in images.iter().flat_map(|image| image.pixels()) {
            let bin = &mut bins[bin_of(*pixel)];
            bin.count += 1;
            for (sum, channel) in bin.sums.iter_mut().zip(pixel) {
                *sum += u64::from(*channel);
            }
        }
        let used: Vec<Bin> = bins.into_iter().filter(|bin| bin.count > 0).collect();
        let mut boxes = vec![used];
        while boxes.len() < most.clamp(1, 256) {
            let widest = (0..boxes.len()).map(|b| (spread(&boxes[b]), b));
            let Some(((spread, channel), b)) = widest.max_by(|a, b| a.0.0.total_cmp(&b.0.0)) else {
                break;
            };
            if spread <= 0.0 {
                break;
            }
            let [low, high] = halves(std::mem::take(&mut boxes[b]), channel);
            boxes[b] = low;
            boxes.push(high);
        }
        let colors: Vec<[u8; 3]> = (boxes.iter())
            .map(|bins| mean(bins).map(|channel| channel.round() as u8))
            .collect();
        let nearest = (0..BIN_COUNT)
            .map(|bin| nearest_color(&colors, middle_of(bin)))
            .collect();
        Self { colors, nearest }
    }

    /// The number of the colour that stands for another.
    pub(crate) fn index_of(&self, pixel: [u8; 4]) -> u8 {
        self.nearest[bin_of(pixel)]
    }
}

fn bin_of([r, g, b, _]: [u8; 4]) -> usize {
    let high = |channel: u8| usize::from(channel >> (8 - BITS));
    high(r) << (2 * BITS) | high(g) << BITS | high(b)
}

fn middle_of(bin: usize) -> [f64; 3] {
    let channel = |shift: u32| {
        let high = (bin >> shift) & ((1 << BITS) - 1);
        ((high << (8 - BITS)) + (1 << (7 - BITS))) as f64
    };
    [channel(2 * BITS), channel(BITS), channel(0)]
}

fn mean(bins: &[Bin]) -> [f64; 3] {
    let mut all = Bin::default();
    for bin in bins {
        all.count += bin.count;
        for (sum, part) in all.sums.iter_mut().zip(bin.sums) {
            *sum += part;
        }
    }
    all.mean()
}

/// How far the colours of a box are apart, counted gently by how often they occur, and along which channel.
fn spread(bins: &[Bin]) -> (f64, usize) {
    let middle = mean(bins);
    let mut squares = [0.0f64; 3];
    for bin in bins {
        // Rare colours count too: an error's colour covers few pixels, and is what the picture is about.
        let often = (bin.count as f64).sqrt();
        for ((square, value), middle) in squares.iter_mut().zip(bin.mean()).zip(middle) {
            *square += often * (value - middle).powi(2);
        }
    }
    let longest = (0..3).max_by(|&a, &b| squares[a].total_cmp(&squares[b]));
    let longest = longest.unwrap_or(0);
    (squares[longest], longest)
}

/// A box cut in two at the middle of its colours along a channel; neither is empty.
fn halves(mut bins: Vec<Bin>, channel: usize) -> [Vec<Bin>; 2] {
    bins.sort_by(|a, b| a.mean()[channel].total_cmp(&b.mean()[channel]));
    let often = |bin: &Bin| (bin.count as f64).sqrt();
    let total: f64 = bins.iter().map(often).sum();
    let mut passed = 0.0;
    let mut cut = bins.len();
    for (k, bin) in bins.iter().enumerate() {
        passed += often(bin);
        if passed >= 0.5 * total {
            cut = k + 1;
            break;
        }
    }
    let high = bins.split_off(cut.clamp(1, bins.len() - 1));
    [bins, high]
}

fn nearest_color(colors: &[[u8; 3]], wanted: [f64; 3]) -> u8 {
    let distance = |color: &[u8; 3]| -> f64 {
        let parts = color.iter().zip(wanted);
        parts.map(|(&c, w)| (f64::from(c) - w).powi(2)).sum()
    };
    let best =
        (0..colors.len()).min_by(|&a, &b| distance(&colors[a]).total_cmp(&distance(&colors[b])));
    best.unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_stay_as_they_are() {
        let mut image = Image::new(4, 1, [250, 250, 250, 255]);
        image.set_pixel(1, 0, [200, 30, 40, 255]);
        image.set_pixel(2, 0, [38, 40, 44, 255]);
        let palette = Palette::of(std::slice::from_ref(&image), 256);
        assert_eq!(palette.colors.len(), 3, "one each");
        for pixel in image.pixels() {
            let shown = palette.colors[usize::from(palette.index_of(*pixel))];
            assert_eq!(shown, pixel[..3], "as it was");
        }
    }

    #[test]
    fn many_colours_become_near_ones() {
        let mut image = Image::new(64, 64, [0; 4]);
        for y in 0..64 {
            for x in 0..64 {
                image.set_pixel(x, y, [4 * x as u8, 4 * y as u8, 120, 255]);
            }
        }
        let palette = Palette::of(std::slice::from_ref(&image), 255);
        assert!(
            (200..=255).contains(&palette.colors.len()),
            "nearly all used"
        );
        for pixel in image.pixels() {
            let shown = palette.colors[usize::from(palette.index_of(*pixel))];
            let off = (0..3).map(|c| shown[c].abs_diff(pixel[c])).max();
            assert!(off <= Some(20), "{pixel:?} became {shown:?}");
        }
    }
}
