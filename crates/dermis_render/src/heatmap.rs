//! Numbers as colours: the scale behind error heat maps, and its legend.
//!
//! The colours are *magma* by Nathaniel Smith and Stéfan van der Walt (public domain, CC0), a perceptually
//! uniform map: equal steps in the number look like equal steps in colour, also in grey and to colour-blind
//! eyes. We run it backwards, from just below its lightest yellow, which turns green in the shade, and stop
//! before black. A small error is then a pale cream on which clay shading still reads, and a large one is a
//! deep purple that stands out; the other way round most of a good fit would be drawn in black.

use std::sync::LazyLock;

use glam::Vec3;

use crate::color::{linear_from_srgb3, pixel_from_srgb};
use crate::image::Image;
use crate::text::{Align, INK, TextStyle, draw_text, text_width};
use crate::ticks::{linear_ticks, round_up};

/// Magma from its light end down, at equal steps, as sRGB.
const COLORS: [[f32; 3]; 25] = [
    [0.9898, 0.9346, 0.6904],
    [0.9928, 0.8776, 0.6335],
    [0.9954, 0.8205, 0.5798],
    [0.9970, 0.7633, 0.5296],
    [0.9973, 0.7057, 0.4835],
    [0.9959, 0.6477, 0.4423],
    [0.9923, 0.5891, 0.4072],
    [0.9859, 0.5300, 0.3801],
    [0.9755, 0.4709, 0.3635],
    [0.9592, 0.4135, 0.3599],
    [0.9348, 0.3609, 0.3699],
    [0.9013, 0.3165, 0.3899],
    [0.8600, 0.2814, 0.4142],
    [0.8135, 0.2542, 0.4381],
    [0.7640, 0.2324, 0.4590],
    [0.7132, 0.2139, 0.4762],
    [0.6619, 0.1971, 0.4895],
    [0.6108, 0.1809, 0.4990],
    [0.5603, 0.1645, 0.5049],
    [0.5105, 0.1473, 0.5077],
    [0.4614, 0.1291, 0.5076],
    [0.4128, 0.1096, 0.5045],
    [0.3643, 0.0896, 0.4976],
    [0.3151, 0.0712, 0.4848],
    [0.2640, 0.0601, 0.4609],
];
/// "No data", as sRGB: a grey that is not on the map of [`HeatScale`].
pub const NO_DATA: [f32; 3] = [0.55, 0.57, 0.60];

/// Entries of [`LINEAR`]: finer than the 8 bits of a pixel can show.
const LINEAR_STEPS: usize = 2048;

/// The map in linear light: fragments are too many to decode sRGB for each.
static LINEAR: LazyLock<Vec<Vec3>> = LazyLock::new(|| {
    (0..=LINEAR_STEPS)
        .map(|i| linear_from_srgb3(color_at(i as f32 / LINEAR_STEPS as f32)))
        .collect()
});

/// Which number gets which colour: 0 is pale, `max` and above are deep purple.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatScale {
    /// The number at the dark end, in the unit below; larger ones look the same. If it is not above 0, every
    /// positive number is at the dark end.
    pub max: f32,
    /// The unit of the numbers, for the legend: "mm", "% of height", "°".
    pub unit: String,
}

/// Where the legend's long side goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegendSide {
    /// A standing bar, small numbers at the bottom; for the right side of a picture.
    Vertical,
    /// A lying bar, small numbers at the left; for below a picture.
    Horizontal,
}

impl HeatScale {
    /// A scale from 0 to `max`.
    pub fn new(max: f32, unit: impl Into<String>) -> Self {
        Self {
            max,
            unit: unit.into(),
        }
    }

    /// A scale from 0 to the next round number above the largest finite value.
    ///
    /// Pictures that are to be compared need one scale: pass the values of all of them. Without a positive
    /// value the scale ends at 1.
    ///
    /// ```
    /// use dermis_render::HeatScale;
    ///
    /// assert_eq!(HeatScale::fitting([0.02, 0.37, f32::NAN], "mm").max, 0.4);
    /// ```
    pub fn fitting(values: impl IntoIterator<Item = f32>, unit: impl Into<String>) -> Self {
        let largest = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold(0.0, f32::max);
        let max = round_up(f64::from(largest)) as f32;
        Self::new(if max > 0.0 { max } else { 1.0 }, unit)
    }

    /// A scale for pictures whose numbers may be far apart, such as the errors of several methods: a group of numbers
    /// for each picture, or for each method.
    ///
    /// It ends at the next round number above the median over the groups of the number that 99 of 100 in the group do
    /// not exceed. So neither a few outliers nor one group that went astray take the colours from the others, and
    /// groups better and worse than the middle one can be told apart. What is beyond the end looks like the end:
    /// [`HeatScale::share_beyond`] counts it. Between an even number of groups the median is the geometric mean of the
    /// middle two. Without a positive number the scale ends at 1.
    ///
    /// ```
    /// use dermis_render::HeatScale;
    ///
    /// let groups = [vec![0.1, 0.2], vec![0.3, 0.9], vec![40.0, 70.0]];
    /// assert_eq!(HeatScale::comparing(&groups, "mm").max, 1.0);
    /// ```
    pub fn comparing(groups: &[Vec<f32>], unit: impl Into<String>) -> Self {
        let mut ends: Vec<f32> = groups
            .iter()
            .filter_map(|group| usual_most(group))
            .collect();
        ends.sort_by(f32::total_cmp);
        let middle = match ends.len() {
            0 => 0.0,
            count if count % 2 == 1 => ends[count / 2],
            count => (ends[count / 2 - 1] * ends[count / 2]).sqrt(),
        };
        // A half of the groups without any error leaves the others to decide.
        let end = match middle > 0.0 {
            true => middle,
            false => ends.last().copied().unwrap_or(0.0),
        };
        Self::fitting([end], unit)
    }

    /// The share of some numbers, 0 to 1, that is beyond the end of the scale.
    pub fn share_beyond(&self, values: &[f32]) -> f64 {
        let beyond = values.iter().filter(|value| **value > self.max).count();
        beyond as f64 / values.len().max(1) as f64
    }

    /// The colour of a number, as sRGB fractions; grey when it is not finite.
    pub fn color(&self, value: f32) -> [f32; 3] {
        self.fraction(value).map_or(NO_DATA, color_at)
    }

    /// The colours of the map in linear light, from pale to dark at equal steps of the number; a number has the colour of
    /// the nearest step.
    pub fn linear_colors() -> &'static [Vec3] {
        &LINEAR
    }

    /// The colour of a number as linear light, from a table.
    pub(crate) fn linear_color(&self, value: f32) -> Vec3 {
        match self.fraction(value) {
            Some(fraction) => LINEAR[(fraction * LINEAR_STEPS as f32 + 0.5) as usize],
            None => linear_from_srgb3(NO_DATA),
        }
    }

    /// Place of a number on the scale, 0 to 1; `None` when it is not finite.
    fn fraction(&self, value: f32) -> Option<f32> {
        if !value.is_finite() {
            None
        } else if value <= 0.0 {
            Some(0.0)
        } else if self.max > 0.0 {
            Some((value / self.max).min(1.0))
        } else {
            Some(1.0)
        }
    }

    /// Draws the legend: a colour bar with round numbers and the unit, on a transparent background.
    ///
    /// `length` is the long side of the whole legend and `text_px` the text size, both in pixels; the short
    /// side follows. Too short a length gives an empty picture.
    pub fn legend(&self, side: LegendSide, length: u32, text_px: f32) -> Image {
        let line = text_px.ceil().max(1.0);
        let style = TextStyle {
            size_px: text_px,
            color: INK,
            align: Align::Left,
        };
        let bar = Bar {
            thick: (text_px * 1.1).round().max(2.0),
            tick: (text_px * 0.32).round(),
            line,
        };
        let target = match side {
            LegendSide::Vertical => (length as f32 / (text_px * 3.2)) as usize,
            LegendSide::Horizontal => (length as f32 / (text_px * 4.5)) as usize,
        };
        let ticks = linear_ticks(0.0, f64::from(self.max), target.clamp(2, 6));
        let widest = ticks
            .iter()
            .map(|tick| text_width(&tick.label, text_px))
            .fold(0.0, f32::max);
        let ticks: Vec<(f32, &str)> = ticks
            .iter()
            .map(|tick| {
                (
                    (tick.value / f64::from(self.max)) as f32,
                    tick.label.as_str(),
                )
            })
            .collect();
        match side {
            LegendSide::Vertical => self.vertical(length, &bar, &ticks, widest, &style),
            LegendSide::Horizontal => self.horizontal(length, &bar, &ticks, widest, &style),
        }
    }

    /// The legend as one `<svg>` element for a page: a lying bar with its numbers above it and, below it, the same in
    /// another unit, of which there are so many in one. The bar ends in an arrow, because larger numbers look like the
    /// end. Text takes the colour of the text around it.
    pub fn legend_svg(&self, width: u32, (factor, other_unit): (f64, &str)) -> String {
        const TEXT_PX: f64 = 12.0;
        let (left, top, thick) = (28.0, 24.0, 14.0);
        let units = f64::from(text_width(&self.unit, TEXT_PX as f32));
        let units = 1.4 * units.max(f64::from(text_width(other_unit, TEXT_PX as f32)));
        let span = (f64::from(width) - left - units - 34.0).max(40.0);
        let (right, bottom) = (left + span, top + thick);
        let stop = |i: usize| {
            let share = i as f32 / 24.0;
            let [r, g, b, _] = pixel_from_srgb(color_at(share));
            format!("<stop offset=\"{share:.4}\" stop-color=\"#{r:02x}{g:02x}{b:02x}\"/>")
        };
        let stops: String = (0..=24).map(stop).collect();
        let [r, g, b, _] = pixel_from_srgb(color_at(1.0));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dermis-legend\" viewBox=\"0 0 {width} 62\" \
             width=\"{width}\" height=\"62\" role=\"img\" aria-label=\"colours of errors\" \
             font-family=\"Inter,system-ui,sans-serif\" font-size=\"{TEXT_PX}\" fill=\"currentColor\">\n\
             <defs><linearGradient id=\"dermis-heat\">{stops}</linearGradient></defs>\n\
             <rect x=\"{left}\" y=\"{top}\" width=\"{span:.2}\" height=\"{thick}\" fill=\"url(#dermis-heat)\" \
             stroke=\"currentColor\" stroke-opacity=\"0.5\"/>\n\
             <path d=\"M{right:.2} {top}l11 7l-11 7z\" fill=\"#{r:02x}{g:02x}{b:02x}\" stroke=\"currentColor\" \
             stroke-opacity=\"0.5\"/>\n"
        );
        let mut row = |end: f64, unit: &str, y: f64, tick_y: f64| {
            for tick in linear_ticks(0.0, end, (span / 75.0) as usize) {
                let x = left + tick.value / end * span;
                svg += &format!(
                    "<path d=\"M{x:.2} {tick_y}v4\" stroke=\"currentColor\"/>\
                     <text x=\"{x:.2}\" y=\"{y}\" text-anchor=\"middle\">{}</text>\n",
                    tick.label
                );
            }
            let unit = unit.replace('&', "&amp;").replace('<', "&lt;");
            svg += &format!("<text x=\"{:.2}\" y=\"{y}\">{unit}</text>\n", right + 20.0);
        };
        let end = f64::from(self.max);
        row(end, &self.unit, top - 8.0, top - 4.0);
        row(end * factor, other_unit, bottom + 17.0, bottom);
        svg + "</svg>"
    }

    /// Unit on top, bar below it, numbers on the right.
    fn vertical(
        &self,
        length: u32,
        bar: &Bar,
        ticks: &[(f32, &str)],
        widest: f32,
        style: &TextStyle,
    ) -> Image {
        let unit_height = if self.unit.is_empty() {
            0.0
        } else {
            (bar.line * 1.4).round()
        };
        let top = unit_height + (bar.line / 2.0).ceil();
        let span = length as f32 - top - (bar.line / 2.0).ceil();
        if span < 2.0 {
            return Image::new(0, 0, [0; 4]);
        }
        let labels = bar.thick + bar.tick * 2.2;
        let width = (labels + widest)
            .max(text_width(&self.unit, style.size_px))
            .ceil() as u32
            + 1;
        let mut image = Image::new(width, length, [0; 4]);
        draw_text(&mut image, &self.unit, 0.0, 0.0, style);
        for row in 0..span as u32 {
            let fraction = 1.0 - (row as f32 + 0.5) / span.floor();
            let color = pixel_from_srgb(self.color(fraction * self.max));
            image.fill_rect(0, top as i32 + row as i32, bar.thick as u32, 1, color);
        }
        outline(&mut image, [0, top as i32], [bar.thick as u32, span as u32]);
        for (fraction, label) in ticks {
            let y = top + (1.0 - fraction) * (span.floor() - 1.0);
            image.fill_rect(bar.thick as i32, y.round() as i32, bar.tick as u32, 1, INK);
            draw_text(
                &mut image,
                label,
                labels,
                y.round() - bar.line * 0.5 + 0.5,
                style,
            );
        }
        image
    }

    /// Bar on top, numbers below it, unit after the last number.
    fn horizontal(
        &self,
        length: u32,
        bar: &Bar,
        ticks: &[(f32, &str)],
        widest: f32,
        style: &TextStyle,
    ) -> Image {
        let left = (widest / 2.0).ceil() + 1.0;
        let unit_width = if self.unit.is_empty() {
            0.0
        } else {
            text_width(&self.unit, style.size_px) + style.size_px * 0.5
        };
        let span = length as f32 - left - left.max(unit_width);
        if span < 2.0 {
            return Image::new(0, 0, [0; 4]);
        }
        let labels = bar.thick + bar.tick * 1.2;
        let mut image = Image::new(length, (labels + bar.line).ceil() as u32, [0; 4]);
        for column in 0..span as u32 {
            let fraction = (column as f32 + 0.5) / span.floor();
            let color = pixel_from_srgb(self.color(fraction * self.max));
            image.fill_rect(left as i32 + column as i32, 0, 1, bar.thick as u32, color);
        }
        outline(
            &mut image,
            [left as i32, 0],
            [span as u32, bar.thick as u32],
        );
        for (fraction, label) in ticks {
            let x = left + fraction * (span.floor() - 1.0);
            image.fill_rect(x.round() as i32, bar.thick as i32, 1, bar.tick as u32, INK);
            draw_text(
                &mut image,
                label,
                x.round() + 0.5,
                labels,
                &TextStyle {
                    align: Align::Center,
                    ..*style
                },
            );
        }
        let unit_x = left + span + style.size_px * 0.5;
        draw_text(
            &mut image,
            &self.unit,
            unit_x,
            (bar.thick - bar.line) / 2.0,
            style,
        );
        image
    }
}

/// The number that 99 of 100 in a group do not exceed; `None` without a finite one.
fn usual_most(group: &[f32]) -> Option<f32> {
    let mut finite: Vec<f32> = group.iter().copied().filter(|v| v.is_finite()).collect();
    let place = (0.99 * finite.len() as f64).ceil() as usize;
    let last = place.clamp(1, finite.len().max(1)) - 1;
    let found =
        (last < finite.len()).then(|| *finite.select_nth_unstable_by(last, f32::total_cmp).1);
    found.map(|value| value.max(0.0))
}

/// The map at a fraction of its length, as sRGB.
fn color_at(fraction: f32) -> [f32; 3] {
    let last = COLORS.len() - 1;
    let place = fraction * last as f32;
    let i = (place as usize).min(last - 1);
    let t = place - i as f32;
    std::array::from_fn(|channel| {
        COLORS[i][channel] + (COLORS[i + 1][channel] - COLORS[i][channel]) * t
    })
}

/// Measures of a legend's bar, in whole pixels.
struct Bar {
    thick: f32,
    tick: f32,
    line: f32,
}

/// A thin frame, so that the pale end of the bar does not melt into the paper.
fn outline(image: &mut Image, [x, y]: [i32; 2], [width, height]: [u32; 2]) {
    const FRAME: [u8; 4] = [38, 40, 44, 120];
    let (right, bottom) = (x + width as i32 - 1, y + height as i32 - 1);
    image.fill_rect(x, y, width, 1, FRAME);
    image.fill_rect(x, bottom, width, 1, FRAME);
    image.fill_rect(x, y + 1, 1, height.saturating_sub(2), FRAME);
    image.fill_rect(right, y + 1, 1, height.saturating_sub(2), FRAME);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIELAB from sRGB (D65), written out here so that it is independent of the code under test.
    fn lab(srgb: [f32; 3]) -> [f64; 3] {
        let [r, g, b] = srgb.map(|c| {
            let c = f64::from(c);
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
        let y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
        let z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883;
        let f = |t: f64| {
            if t > 0.008856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        [
            116.0 * f(y) - 16.0,
            500.0 * (f(x) - f(y)),
            200.0 * (f(y) - f(z)),
        ]
    }

    #[test]
    fn lightness_falls_all_the_way_and_evenly() {
        let scale = HeatScale::new(2.0, "mm");
        let lightness: Vec<f64> = (0..=200)
            .map(|i| lab(scale.color(i as f32 / 100.0))[0])
            .collect();
        let steps: Vec<f64> = lightness.windows(2).map(|pair| pair[0] - pair[1]).collect();
        assert!(
            steps.iter().all(|&step| step > 0.0),
            "each colour is darker than the one before"
        );
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        assert!(
            steps
                .iter()
                .all(|&step| step > 0.4 * mean && step < 1.8 * mean),
            "steps are alike"
        );
        assert!(
            lightness[0] > 92.0 && lightness[200] < 20.0,
            "from pale to dark: {lightness:?}"
        );
    }

    #[test]
    fn numbers_off_the_scale_take_its_ends_and_no_data_is_grey() {
        let scale = HeatScale::new(0.5, "");
        assert_eq!(scale.color(-1.0), scale.color(0.0), "below");
        assert_eq!(scale.color(9.0), scale.color(0.5), "above");
        assert_eq!(scale.color(f32::NAN), NO_DATA, "NaN");
        assert_eq!(scale.color(f32::INFINITY), NO_DATA, "infinity");
        for max in [0.0, -1.0, f32::NAN] {
            let flat = HeatScale::new(max, "");
            assert_eq!(flat.color(0.0), COLORS[0], "zero is pale at max {max}");
            assert_eq!(
                flat.color(0.1),
                COLORS[24],
                "any positive number is dark, at max {max}"
            );
        }
    }

    #[test]
    fn a_fitting_scale_is_round_and_covers_all_values() {
        assert_eq!(
            HeatScale::fitting([0.0, 0.0123], "").max,
            0.015,
            "the next round number"
        );
        assert_eq!(HeatScale::fitting([], "").max, 1.0, "no values");
        assert_eq!(
            HeatScale::fitting([0.0, f32::INFINITY], "").max,
            1.0,
            "no finite positive value"
        );
    }

    #[test]
    fn one_group_that_went_astray_leaves_the_colours_to_the_others() {
        let group = |most: f32| {
            (0..1000)
                .map(|i| most * i as f32 / 999.0)
                .collect::<Vec<_>>()
        };
        let good = [group(0.1), group(0.2), group(0.4)];
        let usual = HeatScale::comparing(&good, "");
        let with_astray = [good.to_vec(), vec![group(50.0), group(90.0)]].concat();
        let found = HeatScale::comparing(&with_astray, "");
        assert_eq!(usual.max, 0.2, "the middle of three");
        assert_eq!(
            found.max, 0.4,
            "not 90, which would make all others look perfect"
        );
        let beyond = found.share_beyond(&group(0.8));
        assert!(
            (beyond - 0.5).abs() < 0.01,
            "half is beyond the end: {beyond}"
        );
    }

    #[test]
    fn groups_without_errors_or_numbers_make_a_scale_all_the_same() {
        let exact = vec![0.0; 50];
        let groups = [exact.clone(), exact.clone(), vec![3.0; 50]];
        assert_eq!(
            HeatScale::comparing(&groups, "").max,
            3.0,
            "the one with errors"
        );
        assert_eq!(HeatScale::comparing(&[exact], "").max, 1.0, "all exact");
        assert_eq!(HeatScale::comparing(&[], "").max, 1.0, "no group");
        let nothing = [vec![f32::NAN], Vec::new()];
        assert_eq!(HeatScale::comparing(&nothing, "").max, 1.0, "no number");
        let outlier: Vec<f32> = (0..1000).map(|i| if i == 7 { 99.0 } else { 0.9 }).collect();
        assert_eq!(
            HeatScale::comparing(&[outlier], "").max,
            1.0,
            "one of a thousand"
        );
    }

    #[test]
    fn a_page_legend_has_both_units_and_the_colours_of_the_scale() {
        let scale = HeatScale::new(2.0, "% of the size");
        let svg = scale.legend_svg(480, (0.1, "m"));
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let texts: Vec<&str> = (document.descendants())
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| node.text())
            .collect();
        for text in ["2.0", "% of the size", "0.20", "m"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
        let stops: Vec<_> = (document.descendants())
            .filter(|node| node.has_tag_name("stop"))
            .filter_map(|node| node.attribute("stop-color"))
            .collect();
        let [r, g, b, _] = pixel_from_srgb(scale.color(2.0));
        let dark = format!("#{r:02x}{g:02x}{b:02x}");
        assert_eq!(
            stops.last().copied(),
            Some(dark.as_str()),
            "dark at its end"
        );
    }

    #[test]
    fn a_legend_runs_from_pale_to_dark() {
        let scale = HeatScale::new(1.0, "mm");
        let standing = scale.legend(LegendSide::Vertical, 300, 16.0);
        assert_eq!(standing.height(), 300, "the long side is as asked");
        let column: Vec<f64> = (0..300)
            .filter_map(|y| standing.pixel(5, y))
            .filter(|pixel| pixel[3] == 255 && pixel[0] != INK[0])
            .map(|[r, g, b, _]| lab([r, g, b].map(|c| f32::from(c) / 255.0))[0])
            .collect();
        // Without the frame's pixels at the ends.
        let bar = &column[column.len() - 200..column.len() - 2];
        assert!(bar.is_sorted(), "pale at the bottom");
        let lying = scale.legend(LegendSide::Horizontal, 300, 16.0);
        assert_eq!(lying.width(), 300, "the long side is as asked");
        assert!(
            scale.legend(LegendSide::Vertical, 3, 16.0).is_empty(),
            "too short to draw"
        );
        HeatScale::new(f32::NAN, "mm").legend(LegendSide::Horizontal, 300, 16.0);
    }
}
