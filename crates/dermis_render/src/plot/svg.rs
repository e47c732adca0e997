//! Writes the parts of a chart as SVG elements.

use std::fmt::{Debug, Write as _};

use super::labels::{Area, beside, spread};
use super::{Chart, Draw, Marker, Point, Series};
use crate::palette::{self, Shape};
use crate::text::text_width;
use crate::ticks::Tick;

/// From the end of a line to its name: room for a line that leads there, and a marker.
const LEAD: f64 = 34.0;
pub(super) const TEXT_PX: f64 = 12.0;
const TITLE_PX: f64 = 14.0;

/// Where the data area is, in SVG units, and which numbers it spans.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) ends: [[f64; 2]; 2],
}

impl Frame {
    pub(super) fn new(chart: &Chart, ends: [[f64; 2]; 2], ticks: &[Vec<Tick>; 2]) -> Self {
        let widest = ticks[1]
            .iter()
            .map(|tick| width_of(&tick.label))
            .fold(0.0, f64::max);
        let y_label = if chart.y.label.is_empty() { 0.0 } else { 20.0 };
        let x_label = if chart.x.label.is_empty() { 0.0 } else { 20.0 };
        let title = if chart.title.is_empty() { 10.0 } else { 30.0 };
        let legend = 18.0 * legend_rows(chart).len() as f64;
        let names = chart
            .series
            .iter()
            .filter(|series| is_named_at_end(chart, series));
        let names = names.map(|series| LEAD + width_of(&series.name));
        let names = names.fold(16.0, f64::max);
        let (left, right) = (14.0 + y_label + widest, f64::from(chart.width) - names);
        let (top, bottom) = (title + legend, f64::from(chart.height) - 26.0 - x_label);
        // A chart too small for its labels keeps a sliver of data area rather than turning inside out.
        Self {
            left,
            right: right.max(left + 1.0),
            top,
            bottom: bottom.max(top + 1.0),
            ends,
        }
    }

    fn at(&self, chart: &Chart, point: &Point) -> [f64; 2] {
        [self.x(chart, point.x), self.y(chart, point.y)]
    }

    pub(super) fn x(&self, chart: &Chart, value: f64) -> f64 {
        self.left + chart.x.fraction(value, self.ends[0]) * (self.right - self.left)
    }

    pub(super) fn y(&self, chart: &Chart, value: f64) -> f64 {
        self.bottom - chart.y.fraction(value, self.ends[1]) * (self.bottom - self.top)
    }
}

/// The text of a chart under construction.
pub(super) struct Svg {
    text: String,
    pub(super) clip: String,
}

impl Svg {
    /// `shown` is everything the chart shows: it gives the chart's parts names of their own on a page.
    pub(super) fn new(chart: &Chart, shown: &impl Debug) -> Self {
        let (width, height) = (chart.width, chart.height);
        let mut svg = Self {
            text: String::new(),
            clip: clip_name(shown),
        };
        let name = if chart.title.is_empty() {
            &chart.y.label
        } else {
            &chart.title
        };
        svg.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dermis-chart\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\" \
             style=\"max-width:100%;height:auto\" font-family=\"Inter,system-ui,sans-serif\" \
             font-size=\"{TEXT_PX}\" fill=\"currentColor\">",
            escape(name)
        ));
        if !chart.title.is_empty() {
            svg.push(format_args!(
                "<text x=\"{}\" y=\"19\" text-anchor=\"middle\" font-size=\"{TITLE_PX}\" font-weight=\"600\">{}</text>",
                width / 2,
                escape(&chart.title)
            ));
        }
        svg
    }

    pub(super) fn bands(&mut self, chart: &Chart, frame: &Frame) {
        let [low, high] = frame.ends[0];
        for band in &chart.bands {
            let [from, to] = band.range;
            if !(from.is_finite() && to.is_finite() && from < high && to > low && from <= to) {
                continue;
            }
            let (x0, x1) = (frame.x(chart, from.max(low)), frame.x(chart, to.min(high)));
            self.push(format_args!(
                "<rect x=\"{x0:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" opacity=\"0.08\">{}</rect>",
                frame.top,
                (x1 - x0).max(1.0),
                frame.bottom - frame.top,
                title(&band.title)
            ));
        }
    }

    /// Grid lines, tick labels, axis lines and axis labels.
    pub(super) fn axes(&mut self, chart: &Chart, frame: &Frame, ticks: &[Vec<Tick>; 2]) {
        let Frame {
            left,
            right,
            top,
            bottom,
            ..
        } = *frame;
        self.push(format_args!(
            "<g stroke=\"currentColor\" stroke-opacity=\"0.14\">"
        ));
        for tick in &ticks[0] {
            let x = frame.x(chart, tick.value);
            self.push(format_args!(
                "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{top:.2}\" y2=\"{bottom:.2}\"/>"
            ));
        }
        for tick in &ticks[1] {
            let y = frame.y(chart, tick.value);
            let is_floor = tick.label.starts_with('≤');
            let style = match is_floor {
                true => " class=\"floor\" stroke-opacity=\"0.6\" stroke-dasharray=\"3 4\"",
                false => "",
            };
            self.push(format_args!(
                "<line x1=\"{left:.2}\" x2=\"{right:.2}\" y1=\"{y:.2}\" y2=\"{y:.2}\"{style}/>"
            ));
        }
        self.push(format_args!("</g>"));
        self.push(format_args!(
            "<path d=\"M{left:.2} {top:.2}V{bottom:.2}H{right:.2}\" fill=\"none\" stroke=\"currentColor\" \
             stroke-opacity=\"0.7\"/>"
        ));
        self.push(format_args!("<g text-anchor=\"middle\">"));
        for tick in &ticks[0] {
            let x = frame.x(chart, tick.value);
            self.push(format_args!(
                "<text x=\"{x:.2}\" y=\"{:.2}\">{}</text>",
                bottom + 17.0,
                escape(&tick.label)
            ));
        }
        self.push(format_args!("</g><g text-anchor=\"end\">"));
        for tick in &ticks[1] {
            let y = frame.y(chart, tick.value) + TEXT_PX * 0.36;
            self.push(format_args!(
                "<text x=\"{:.2}\" y=\"{y:.2}\">{}</text>",
                left - 7.0,
                tick.label
            ));
        }
        self.push(format_args!("</g>"));
        if !chart.x.label.is_empty() {
            self.push(format_args!(
                "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>",
                (left + right) / 2.0,
                bottom + 38.0,
                escape(&chart.x.label)
            ));
        }
        if !chart.y.label.is_empty() {
            let middle = (top + bottom) / 2.0;
            self.push(format_args!(
                "<text transform=\"translate(14 {middle:.2}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                escape(&chart.y.label)
            ));
        }
        // Only an axis with ends of its own can have data outside it, but clipping is the same for all.
        // Points on the border keep their whole circle.
        self.push(format_args!(
            "<clipPath id=\"{}\"><rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\"/></clipPath>",
            self.clip.clone(),
            left - 5.0,
            top - 5.0,
            right - left + 10.0,
            bottom - top + 10.0
        ));
    }

    pub(super) fn series(&mut self, chart: &Chart, series: &Series, index: usize, frame: &Frame) {
        self.push(format_args!(
            "<g class=\"series\" clip-path=\"url(#{})\" {}>",
            self.clip.clone(),
            paint(series.color.as_deref(), index)
        ));
        let shape = palette::shape(index);
        match series.draw {
            Draw::Line => self.line(chart, series, index, frame),
            Draw::Points => self.points(chart, series, shape, frame),
            Draw::LineAndPoints => {
                self.line(chart, series, index, frame);
                self.points(chart, series, shape, frame);
            }
            Draw::Bars { width } => self.bars(chart, series, frame, width),
        }
        self.push(format_args!("</g>"));
    }

    /// One path, with a gap wherever a point cannot be shown.
    fn line(&mut self, chart: &Chart, series: &Series, index: usize, frame: &Frame) {
        let mut path = String::new();
        for run in series.points.split(|point| !chart.can_show(point)) {
            for (i, point) in run.iter().enumerate() {
                let command = if i == 0 { 'M' } else { 'L' };
                let _ = write!(
                    path,
                    "{command}{:.2} {:.2}",
                    frame.x(chart, point.x),
                    frame.y(chart, point.y)
                );
            }
        }
        self.push(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{}>{}</path>",
            dashed(index),
            title(&series.name)
        ));
    }

    fn points(&mut self, chart: &Chart, series: &Series, shape: Shape, frame: &Frame) {
        for point in series.points.iter().filter(|point| chart.can_show(point)) {
            let at = frame.at(chart, point);
            let tooltip = title(&tooltip(series, point));
            if chart.is_below_floor(point) {
                let [x, y] = at;
                self.push(format_args!(
                    "<path class=\"below\" d=\"M{x:.2} {y:.2}v9m-3 -3.5l3 3.5l3 -3.5\" fill=\"none\" stroke-width=\"1.4\"/>"
                ));
            }
            self.marker(at, shape, point.marker, &tooltip);
        }
    }

    /// A marker; `content` is its tooltip, if it has one.
    fn marker(&mut self, [x, y]: [f64; 2], shape: Shape, marker: Marker, content: &str) {
        let look = match marker {
            Marker::Filled => "stroke=\"none\"",
            // The page's paper, which a dark page can set, covers the line below it.
            Marker::Open => "stroke-width=\"1.6\" style=\"fill:var(--chart-paper,#fff)\"",
        };
        let radius = match marker {
            Marker::Filled => 3.4,
            Marker::Open => 3.2,
        };
        match shape {
            Shape::Circle => self.push(format_args!(
                "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" {look}>{content}</circle>"
            )),
            Shape::Polygon(corners) => {
                let corner =
                    |[a, b]: &[f64; 2]| format!("{:.2},{:.2} ", x + radius * a, y + radius * b);
                let corners: String = corners.iter().map(corner).collect();
                self.push(format_args!(
                    "<polygon points=\"{}\" {look}>{content}</polygon>",
                    corners.trim_end()
                ));
            }
        }
    }

    /// Names of series, at the ends of lines and beside single points.
    pub(super) fn names(&mut self, chart: &Chart, frame: &Frame) {
        let ends: Vec<(usize, &Series, [f64; 2])> = (chart.series.iter().enumerate())
            .filter(|(_, series)| is_named_at_end(chart, series))
            .filter_map(|(index, series)| {
                let last = series.points.iter().rfind(|point| chart.can_show(point))?;
                Some((index, series, frame.at(chart, last)))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, _, at)| at[1]).collect();
        let heights = spread(&wanted, 1.25 * TEXT_PX, [frame.top + 4.0, frame.bottom]);
        for ((index, series, [x, y]), height) in ends.into_iter().zip(heights) {
            let marker_x = frame.right + LEAD - 12.0;
            self.push(format_args!(
                "<g {}>",
                paint(series.color.as_deref(), index)
            ));
            self.push(format_args!(
                "<path d=\"M{:.2} {y:.2}L{:.2} {height:.2}H{:.2}\" fill=\"none\" stroke-width=\"1\" stroke-opacity=\"0.7\"{}/>",
                x.min(frame.right) + 4.0,
                frame.right + 12.0,
                marker_x - 3.0,
                dashed(index)
            ));
            if series.draw != Draw::Line {
                self.marker(
                    [marker_x, height],
                    palette::shape(index),
                    Marker::Filled,
                    "",
                );
            }
            self.push(format_args!("</g>"));
            self.name(&series.name, marker_x + 7.0, height);
        }
        self.names_of_points(chart, frame);
    }

    fn names_of_points(&mut self, chart: &Chart, frame: &Frame) {
        let shown = |series: &Series| -> Vec<[f64; 2]> {
            let points = series.points.iter().filter(|point| chart.can_show(point));
            points.map(|point| frame.at(chart, point)).collect()
        };
        let points: Vec<[f64; 2]> = chart.series.iter().flat_map(shown).collect();
        let area = Area {
            left: frame.left,
            top: frame.top - 8.0,
            width: frame.right - frame.left + 12.0,
            height: frame.bottom - frame.top + 8.0,
        };
        let mut placed: Vec<Area> = Vec::new();
        for series in chart
            .series
            .iter()
            .filter(|series| is_named_at_point(chart, series))
        {
            let Some(&at) = shown(series).first() else {
                continue;
            };
            let size = [width_of(&series.name), 1.15 * TEXT_PX];
            let name = beside(at, size, &points, &placed, &area);
            // A name that stands away from its point is led to it.
            let nearest = [
                at[0].clamp(name.left, name.left + name.width),
                at[1].clamp(name.top, name.top + name.height),
            ];
            if f64::hypot(nearest[0] - at[0], nearest[1] - at[1]) > 14.0 {
                self.push(format_args!(
                    "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" stroke=\"currentColor\" \
                     stroke-opacity=\"0.45\"/>",
                    at[0], at[1], nearest[0], nearest[1]
                ));
            }
            self.name(&series.name, name.left, name.top + name.height / 2.0);
            placed.push(name);
        }
    }

    /// A name whose middle is at a height; the paper shines around its letters, so that lines below do not disturb.
    pub(super) fn name(&mut self, name: &str, x: f64, y: f64) {
        self.push(format_args!(
            "<text x=\"{x:.2}\" y=\"{:.2}\" style=\"paint-order:stroke;stroke:var(--chart-paper,#fff);stroke-width:3px\">{}</text>",
            y + 0.36 * TEXT_PX,
            escape(name)
        ));
    }

    fn bars(&mut self, chart: &Chart, series: &Series, frame: &Frame, width: f64) {
        let [low, high] = frame.ends[1];
        let foot = frame.y(chart, 0.0_f64.clamp(low, high));
        for point in series.points.iter().filter(|point| chart.can_show(point)) {
            let (x0, x1) = (
                frame.x(chart, point.x - width / 2.0),
                frame.x(chart, point.x + width / 2.0),
            );
            let y = frame.y(chart, point.y);
            if !(x0.is_finite() && x1.is_finite()) {
                continue;
            }
            // A hairline of paper between neighbours, when there is room for one.
            let gap = if (x1 - x0).abs() > 4.0 { 1.0 } else { 0.0 };
            self.push(format_args!(
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" stroke=\"none\" \
                 fill-opacity=\"0.85\">{}</rect>",
                x0.min(x1) + gap / 2.0,
                y.min(foot),
                (x1 - x0).abs() - gap,
                (y - foot).abs(),
                title(&tooltip(series, point))
            ));
        }
    }

    pub(super) fn legend(&mut self, chart: &Chart, frame: &Frame) {
        let top = if chart.title.is_empty() { 0.0 } else { 20.0 };
        for (row, entries) in legend_rows(chart).iter().enumerate() {
            let mut x = frame.left;
            let y = top + 18.0 * row as f64 + 16.0;
            for entry in entries {
                let mid = y - 4.0;
                self.push(format_args!("<g {}>", entry.paint));
                match entry.symbol {
                    Symbol::Marker(shape, marker) => {
                        self.marker([x + 10.0, mid], shape, marker, "")
                    }
                    Symbol::Square => self.push(format_args!(
                        "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"11\" height=\"11\" stroke=\"none\" \
                         fill-opacity=\"0.85\"/>",
                        x + 5.0,
                        mid - 5.5
                    )),
                }
                self.push(format_args!(
                    "</g><text x=\"{:.2}\" y=\"{y:.2}\">{}</text>",
                    x + 26.0,
                    escape(entry.name)
                ));
                x += entry.width();
            }
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }

    pub(super) fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(element);
        self.text.push('\n');
    }
}

/// One entry of the legend.
struct Entry<'a> {
    name: &'a str,
    paint: String,
    symbol: Symbol,
}

enum Symbol {
    Marker(Shape, Marker),
    Square,
}

impl Entry<'_> {
    fn width(&self) -> f64 {
        26.0 + width_of(self.name) + 18.0
    }
}

fn shown_count(chart: &Chart, series: &Series) -> usize {
    let shown = series.points.iter().filter(|point| chart.can_show(point));
    shown.count()
}

/// A line has its name at its end.
fn is_named_at_end(chart: &Chart, series: &Series) -> bool {
    let is_line = matches!(series.draw, Draw::Line | Draw::LineAndPoints);
    is_line && !series.name.is_empty() && shown_count(chart, series) > 0
}

/// A single point has its name beside it.
fn is_named_at_point(chart: &Chart, series: &Series) -> bool {
    series.draw == Draw::Points && !series.name.is_empty() && shown_count(chart, series) == 1
}

/// The legend's entries, broken into rows that fit the chart: what has no name beside it.
fn legend_rows(chart: &Chart) -> Vec<Vec<Entry<'_>>> {
    let is_here = |series: &Series| {
        let is_named = is_named_at_end(chart, series) || is_named_at_point(chart, series);
        !series.name.is_empty() && !is_named && shown_count(chart, series) > 0
    };
    let mut entries: Vec<Entry<'_>> = chart
        .series
        .iter()
        .enumerate()
        .filter(|(_, series)| is_here(series))
        .map(|(index, series)| Entry {
            name: &series.name,
            paint: paint(series.color.as_deref(), index),
            symbol: match series.draw {
                Draw::Bars { .. } => Symbol::Square,
                _ => Symbol::Marker(palette::shape(index), Marker::Filled),
            },
        })
        .collect();
    if !chart.open_means.is_empty() {
        entries.push(Entry {
            name: &chart.open_means,
            paint: "fill=\"currentColor\" stroke=\"currentColor\"".to_owned(),
            symbol: Symbol::Marker(Shape::Circle, Marker::Open),
        });
    }
    let room = f64::from(chart.width) - 80.0;
    let mut rows: Vec<Vec<Entry<'_>>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        if used + entry.width() > room {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += entry.width();
        if let Some(row) = rows.last_mut() {
            row.push(entry);
        }
    }
    rows
}

/// The colour of a series: its own, or a built-in one that dark pages can change.
pub(super) fn paint(color: Option<&str>, index: usize) -> String {
    let (color, look) = match color {
        Some(color) => (escape(color), String::new()),
        None => {
            let look = format!(" data-look=\"{}\"", index % palette::COUNT);
            (palette::color(index), look)
        }
    };
    format!("fill=\"{color}\" stroke=\"{color}\"{look}")
}

pub(super) fn dashed(index: usize) -> String {
    match palette::dashes(index) {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    }
}

fn tooltip(series: &Series, point: &Point) -> String {
    if series.name.is_empty() {
        point.tooltip()
    } else {
        format!("{}: {}", series.name, point.tooltip())
    }
}

pub(super) fn title(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escape(text))
    }
}

pub(super) fn width_of(text: &str) -> f64 {
    // Our sizes are line heights, 1.21 of the em that CSS means, and the page's own font may be an eighth
    // wider.
    f64::from(text_width(text, TEXT_PX as f32)) * 1.21 * 1.125
}

/// Text that is safe inside elements and quoted attributes. Control characters, which XML forbids, are
/// dropped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A name for the clip path that differs between the charts of one page and is the same on every run.
fn clip_name(shown: &impl Debug) -> String {
    // FNV-1a over everything the chart shows.
    let hash = format!("{shown:?}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("clip-{hash:016x}")
}
