//! Curves over one pair of axes, as a picture.
//!
//! [`crate::Chart`] is SVG for pages; this draws on an [`Image`], for curves that belong beside or below
//! rendered pictures in one file. Lines are smooth, full or dashed; a curve may carry markers; the legend
//! stands above the data.

use crate::image::Image;
use crate::palette;
use crate::text::{Align, TextStyle, draw_text, text_width};
use crate::ticks::linear_ticks;

const GRID: [u8; 4] = [226, 228, 232, 255];
const AXIS: [u8; 4] = [140, 144, 150, 255];

/// Several curves and how they are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePlot {
    /// Words below the horizontal axis.
    pub x_label: String,
    /// Words above the vertical axis.
    pub y_label: String,
    /// The numbers at the ends of the horizontal axis.
    pub x_range: [f64; 2],
    /// The numbers at the ends of the vertical axis.
    pub y_range: [f64; 2],
    /// The curves; the first one is drawn lowest.
    pub curves: Vec<Curve>,
    /// Width of the picture in pixels. Default 960.
    pub width: u32,
    /// Height of the picture in pixels. Default 320.
    pub height: u32,
    /// Size of all text, in pixels. Default 18.
    pub text_px: f32,
}

/// A line through points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Its name in the legend; empty for none.
    pub name: String,
    /// Number of its colour; curves with the same number share a colour.
    pub color: usize,
    /// Thin, light and dashed, for curves that only explain the others.
    pub is_faint: bool,
    /// In the order of drawing; a point that is not finite breaks the line.
    pub points: Vec<[f64; 2]>,
    /// Places with a dot on them.
    pub markers: Vec<[f64; 2]>,
}

impl Default for CurvePlot {
    fn default() -> Self {
        Self {
            x_label: String::new(),
            y_label: String::new(),
            x_range: [0.0, 1.0],
            y_range: [0.0, 1.0],
            curves: Vec::new(),
            width: 960,
            height: 320,
            text_px: 18.0,
        }
    }
}

impl CurvePlot {
    /// Draws the plot on white.
    ///
    /// A picture too small for its text, or a range that is empty or not finite, gives an empty sheet of the
    /// asked size.
    ///
    /// ```
    /// use dermis_render::{Curve, CurvePlot};
    ///
    /// let bump = (0..=60).map(|x| [f64::from(x), (-f64::from(x - 30).powi(2) / 200.0).exp()]);
    /// let plot = CurvePlot {
    ///     x_label: "elbow (degrees)".into(),
    ///     x_range: [0.0, 60.0],
    ///     curves: vec![Curve { name: "flex".into(), points: bump.collect(), ..Curve::default() }],
    ///     ..CurvePlot::default()
    /// };
    /// assert_eq!(plot.draw().width(), 960);
    /// ```
    pub fn draw(&self) -> Image {
        let mut image = Image::new(self.width, self.height, [255; 4]);
        let legend = self.legend_rows();
        let Some(area) = self.area(legend.len()) else {
            return image;
        };
        self.draw_axes(&mut image, &area);
        for curve in &self.curves {
            curve.draw(&mut image, &area, self.text_px);
        }
        self.draw_legend(&mut image, &area, &legend);
        image
    }

    /// The data area, below the legend.
    fn area(&self, legend_rows: usize) -> Option<Area> {
        let em = f64::from(self.text_px);
        let ticks = linear_ticks(self.y_range[0], self.y_range[1], 4);
        let widest = ticks.iter().map(|t| text_width(&t.label, self.text_px));
        let widest = f64::from(widest.fold(0.0, f32::max));
        let area = Area {
            left: widest + 1.2 * em,
            right: f64::from(self.width) - em,
            top: (1.6 + 1.4 * legend_rows as f64) * em,
            bottom: f64::from(self.height) - 3.2 * em,
            x_range: self.x_range,
            y_range: self.y_range,
        };
        let is_range = |[low, high]: [f64; 2]| low < high && (high - low).is_finite();
        let has_room = area.right > area.left + em && area.bottom > area.top + em;
        (has_room && is_range(area.x_range) && is_range(area.y_range)).then_some(area)
    }

    fn draw_axes(&self, image: &mut Image, area: &Area) {
        let em = f64::from(self.text_px);
        let text = |align| TextStyle {
            size_px: self.text_px,
            align,
            ..TextStyle::default()
        };
        let (width, height) = (area.right - area.left, area.bottom - area.top);
        let line = |image: &mut Image, x: f64, y: f64, w: f64, h: f64, color| {
            let size = |s: f64| s.round().max(1.0) as u32;
            image.fill_rect(x.round() as i32, y.round() as i32, size(w), size(h), color);
        };
        for tick in linear_ticks(self.y_range[0], self.y_range[1], 4) {
            let y = area.y(tick.value);
            line(image, area.left, y, width, 1.0, GRID);
            let style = text(Align::Right);
            let x = area.left - 0.4 * em;
            draw_text(image, &tick.label, x as f32, (y - 0.55 * em) as f32, &style);
        }
        for tick in linear_ticks(self.x_range[0], self.x_range[1], 8) {
            let x = area.x(tick.value);
            line(image, x, area.top, 1.0, height, GRID);
            let y = area.bottom + 0.3 * em;
            draw_text(image, &tick.label, x as f32, y as f32, &text(Align::Center));
        }
        line(image, area.left, area.bottom, width, 1.0, AXIS);
        line(image, area.left, area.top, 1.0, height, AXIS);
        let (x, y) = (area.left + 0.5 * width, area.bottom + 1.7 * em);
        draw_text(
            image,
            &self.x_label,
            x as f32,
            y as f32,
            &text(Align::Center),
        );
        let y = (area.top - 1.35 * em) as f32;
        draw_text(
            image,
            &self.y_label,
            (0.4 * em) as f32,
            y,
            &text(Align::Left),
        );
    }

    /// Named curves, as many in a row as there is room for, each with where it begins.
    fn legend_rows(&self) -> Vec<Vec<(f32, &Curve)>> {
        let mut rows: Vec<Vec<(f32, &Curve)>> = Vec::new();
        let mut x = 0.0;
        for curve in self.curves.iter().filter(|curve| !curve.name.is_empty()) {
            let width = text_width(&curve.name, self.text_px) + 3.6 * self.text_px;
            let is_full = x + width > self.width as f32 - self.text_px;
            if rows.is_empty() || (is_full && x > 0.0) {
                rows.push(Vec::new());
                x = 0.4 * self.text_px;
            }
            if let Some(row) = rows.last_mut() {
                row.push((x, curve));
            }
            x += width;
        }
        rows
    }

    fn draw_legend(&self, image: &mut Image, area: &Area, rows: &[Vec<(f32, &Curve)>]) {
        let em = self.text_px;
        for (number, row) in rows.iter().enumerate() {
            let y = 0.1 * em + 1.4 * em * number as f32;
            for (x, curve) in row {
                let middle = f64::from(y + 0.6 * em);
                let ends = [*x, x + 1.8 * em].map(|x| [f64::from(x), middle]);
                // The sample is drawn over the whole picture, not only over the data.
                let sheet = Area {
                    left: 0.0,
                    right: f64::from(image.width()),
                    top: 0.0,
                    bottom: f64::from(image.height()),
                    ..*area
                };
                curve.stroke(image, &sheet, em, &ends);
                let style = TextStyle {
                    size_px: em,
                    ..TextStyle::default()
                };
                draw_text(image, &curve.name, x + 2.2 * em, y, &style);
            }
        }
    }
}

/// Where the data is, in pixels, and which numbers it spans.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x_range: [f64; 2],
    y_range: [f64; 2],
}

impl Area {
    fn x(&self, value: f64) -> f64 {
        let [low, high] = self.x_range;
        self.left + (value - low) / (high - low) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        let [low, high] = self.y_range;
        self.bottom - (value - low) / (high - low) * (self.bottom - self.top)
    }

    fn has(&self, x: f64, y: f64) -> bool {
        (self.left - 1.0..=self.right + 1.0).contains(&x)
            && (self.top - 1.0..=self.bottom + 1.0).contains(&y)
    }
}

impl Curve {
    fn color(&self) -> [u8; 4] {
        let [r, g, b] = palette::ON_WHITE[self.color % palette::COUNT];
        [r, g, b, if self.is_faint { 120 } else { 255 }]
    }

    fn draw(&self, image: &mut Image, area: &Area, text_px: f32) {
        let pixel = |[x, y]: &[f64; 2]| [area.x(*x), area.y(*y)];
        for run in self.points.split(|p| !p.iter().all(|x| x.is_finite())) {
            let pixels: Vec<[f64; 2]> = run.iter().map(pixel).collect();
            self.stroke(image, area, text_px, &pixels);
        }
        let radius = 0.3 * f64::from(text_px);
        for [x, y] in self.markers.iter().map(pixel) {
            disc(image, x, y, radius + 1.5, [255; 4]);
            disc(image, x, y, radius, self.color());
        }
    }

    /// A line through pixels, cut off at the area.
    fn stroke(&self, image: &mut Image, area: &Area, text_px: f32, pixels: &[[f64; 2]]) {
        let em = f64::from(text_px);
        let (half_width, pieces) = match self.is_faint {
            false => (0.07 * em, vec![pixels.to_vec()]),
            true => (0.045 * em, dashes(pixels, 0.4 * em)),
        };
        // Each pixel is blended once, with its largest coverage: joints do not show.
        let width = image.width() as usize;
        let mut coverage = vec![0f32; width * image.height() as usize];
        let segments = pieces.iter().flat_map(|piece| piece.windows(2));
        for segment in segments {
            let [a, b] = [segment[0], segment[1]];
            let reach = half_width + 1.0;
            let low = |c: usize| (a[c].min(b[c]) - reach).floor().max(0.0) as usize;
            let high = |c: usize, end: u32| {
                (a[c].max(b[c]) + reach).ceil().clamp(0.0, f64::from(end)) as usize
            };
            for y in low(1)..high(1, image.height()) {
                for x in low(0)..high(0, image.width()) {
                    let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                    if area.has(px, py) {
                        let covered = half_width + 0.5 - distance([px, py], a, b);
                        let known = &mut coverage[y * width + x];
                        *known = known.max(covered.clamp(0.0, 1.0) as f32);
                    }
                }
            }
        }
        for (i, c) in coverage.into_iter().enumerate().filter(|(_, c)| *c > 0.0) {
            image.blend_pixel((i % width) as i64, (i / width) as i64, self.color(), c);
        }
    }
}

/// Distance of a point from a segment.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let along = [b[0] - a[0], b[1] - a[1]];
    let from = [p[0] - a[0], p[1] - a[1]];
    let squared = along[0] * along[0] + along[1] * along[1];
    let t = match squared > 0.0 {
        true => ((from[0] * along[0] + from[1] * along[1]) / squared).clamp(0.0, 1.0),
        false => 0.0,
    };
    f64::hypot(from[0] - t * along[0], from[1] - t * along[1])
}

/// Cuts a line into pieces of one length, and leaves out every second.
fn dashes(pixels: &[[f64; 2]], length: f64) -> Vec<Vec<[f64; 2]>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<[f64; 2]> = pixels.first().copied().into_iter().collect();
    let (mut is_drawn, mut left) = (true, length);
    for pair in pixels.windows(2) {
        let [mut from, to] = [pair[0], pair[1]];
        let mut rest = f64::hypot(to[0] - from[0], to[1] - from[1]);
        while rest > left {
            let t = left / rest;
            from = [
                from[0] + t * (to[0] - from[0]),
                from[1] + t * (to[1] - from[1]),
            ];
            rest -= left;
            piece.push(from);
            if is_drawn {
                pieces.push(std::mem::take(&mut piece));
            }
            piece = vec![from];
            is_drawn = !is_drawn;
            left = length;
        }
        left -= rest;
        piece.push(to);
    }
    if is_drawn && piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

fn disc(image: &mut Image, x: f64, y: f64, radius: f64, color: [u8; 4]) {
    let ends = |middle: f64| {
        (
            (middle - radius - 1.0) as i64,
            (middle + radius + 1.0) as i64,
        )
    };
    let ((left, right), (top, bottom)) = (ends(x), ends(y));
    for row in top..=bottom {
        for column in left..=right {
            let off = f64::hypot(column as f64 + 0.5 - x, row as f64 + 0.5 - y);
            let covered = (radius + 0.5 - off).clamp(0.0, 1.0);
            image.blend_pixel(column, row, color, covered as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(curve: Curve) -> CurvePlot {
        CurvePlot {
            width: 300,
            height: 200,
            text_px: 12.0,
            curves: vec![curve],
            ..CurvePlot::default()
        }
    }

    fn blue(image: &Image) -> Vec<(u32, u32)> {
        let places = (0..image.height()).flat_map(|y| (0..image.width()).map(move |x| (x, y)));
        let is_blue = |&(x, y): &(u32, u32)| {
            let [r, _, b, _] = image.pixel(x, y).expect("inside");
            i32::from(b) - i32::from(r) > 60
        };
        places.filter(is_blue).collect()
    }

    #[test]
    fn a_curve_is_where_its_numbers_are() {
        let rising = Curve {
            points: vec![[0.0, 0.0], [1.0, 1.0]],
            ..Curve::default()
        };
        let plot = plot(rising);
        let area = plot.area(0).expect("there is room");
        let found = blue(&plot.draw());
        assert!(found.len() > 100, "{} pixels", found.len());
        for (x, y) in found {
            let (x, y) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
            let share = (x - area.left) / (area.right - area.left);
            assert!((y - area.y(share)).abs() < 4.0, "{x} {y} is off the line");
        }
    }

    #[test]
    fn faint_curves_have_gaps_and_points_that_are_not_finite_break_a_line() {
        let flat = |is_faint, middle: f64| Curve {
            is_faint,
            points: vec![
                [0.0, 0.5],
                [0.4, 0.5],
                [0.5, middle],
                [0.6, 0.5],
                [1.0, 0.5],
            ],
            ..Curve::default()
        };
        let count = |curve| blue(&plot(curve).draw()).len();
        let whole = count(flat(false, 0.5));
        assert!(count(flat(true, 0.5)) < 2 * whole / 3, "dashes");
        let broken = count(flat(false, f64::NAN));
        assert!(broken < whole && broken > whole / 2, "{broken} of {whole}");
    }

    #[test]
    fn parts_of_a_curve_outside_the_range_are_cut_off() {
        let high = Curve {
            points: vec![[0.0, 5.0], [1.0, 5.0]],
            ..Curve::default()
        };
        assert_eq!(blue(&plot(high).draw()), [], "above the area");
    }

    #[test]
    fn names_and_markers_are_drawn() {
        let named = |name: &str, markers| Curve {
            name: name.to_owned(),
            markers,
            ..Curve::default()
        };
        let nothing = blue(&plot(named("", Vec::new())).draw()).len();
        assert_eq!(nothing, 0, "no points, no name");
        let sample = blue(&plot(named("flex", Vec::new())).draw());
        assert!(sample.iter().all(|(_, y)| *y < 20), "in the legend");
        assert!(!sample.is_empty(), "a piece of line");
        let dot = blue(&plot(named("", vec![[0.5, 0.5]])).draw()).len();
        assert!((20..120).contains(&dot), "a disc of {dot} pixels");
    }

    #[test]
    fn a_plot_without_room_or_range_does_not_panic() {
        for (width, height, x_range) in [
            (0, 0, [0.0, 1.0]),
            (20, 20, [0.0, 1.0]),
            (300, 200, [1.0, 1.0]),
            (300, 200, [f64::NAN, 1.0]),
        ] {
            let plot = CurvePlot {
                width,
                height,
                x_range,
                ..CurvePlot::default()
            };
            let image = plot.draw();
            assert_eq!((image.width(), image.height()), (width, height), "as asked");
        }
    }
}
