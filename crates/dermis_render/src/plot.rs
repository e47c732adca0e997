//! Small charts as SVG text, ready to be put into an HTML page.
//!
//! Lines, points and bars over one pair of axes, and distributions ([`Histogram`]). Text, axes and grid take the colour of the surrounding text
//! (`currentColor`), each of eight series has a colour, a dash and a marker of its own, which colour-blind readers can
//! tell apart, and nothing is loaded from elsewhere. Names stand at the ends of their lines and beside their points.
//! Points can be filled (frames used for the fit) or open (held-out frames, kept from the fit and used only to test
//! it), and carry a tooltip.
//!
//! A point that cannot be shown (not finite, or not positive on a logarithmic axis without a floor) is left out, and
//! breaks the line that would run through it. A number below the floor of a logarithmic axis is drawn on the floor,
//! with an arrow down.

mod histogram;
mod labels;
mod svg;

pub use histogram::{Histogram, HistogramDraw, HistogramSeries, bin_edges, shares_in_bins};
use svg::{Frame, Svg};

use crate::ticks::{Tick, linear_ticks, log_ticks, number_label};

/// A chart: a title, two axes and any number of series.
///
/// ```
/// use dermis_render::{Axis, Chart, Draw, Marker, Point, Series};
///
/// let points = (0..10).map(|frame| {
///     let held_out = frame % 3 == 2;
///     Point::new(f64::from(frame), 0.1 + 0.01 * f64::from(frame * frame))
///         .titled(format!("frame {frame}"))
///         .marked(if held_out { Marker::Open } else { Marker::Filled })
/// });
/// let chart = Chart {
///     title: "Error per frame".into(),
///     x: Axis::linear("frame"),
///     y: Axis::linear("RMS error (mm)").from_zero(),
///     series: vec![Series::new("linear blend skinning", Draw::LineAndPoints, points)],
///     ..Chart::default()
/// };
/// assert!(chart.to_svg().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// One line above the chart; empty for none.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series; the first one is drawn lowest.
    pub series: Vec<Series>,
    /// Shaded ranges of x, behind everything.
    pub bands: Vec<Band>,
    /// The legend's text for open markers, such as "held out"; empty for no entry.
    pub open_means: String,
    /// Width in CSS pixels; the picture scales to narrower columns. Default 640.
    pub width: u32,
    /// Height in CSS pixels. Default 320.
    pub height: u32,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            title: String::new(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            series: Vec::new(),
            bands: Vec::new(),
            open_means: String::new(),
            width: 640,
            height: 320,
        }
    }
}

/// An axis: its label, its scale, and its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The quantity on the axis, with its unit.
    pub label: String,
    /// Even steps, or even factors.
    pub scale: AxisScale,
    /// Ends of the axis; `None` fits the data.
    pub range: Option<[f64; 2]>,
    /// Whether a fitted linear axis starts at 0 when all data is on one side of it.
    pub start_at_zero: bool,
    /// On a logarithmic axis, the least number that is told from 0: what is below, 0 included, is drawn there with an
    /// arrow down, and the axis says so. `None` leaves out what is not positive. A linear axis has no floor.
    pub floor: Option<f64>,
    /// Names to stand at 1, 2, 3 and so on instead of numbers.
    pub names: Vec<String>,
}

/// How numbers are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AxisScale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal factors are equally far apart; only positive numbers show.
    Log10,
}

impl Axis {
    /// A linear axis that fits the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: AxisScale::Linear,
            range: None,
            start_at_zero: false,
            floor: None,
            names: Vec::new(),
        }
    }

    /// A logarithmic axis that fits the positive part of the data.
    pub fn log10(label: impl Into<String>) -> Self {
        Self {
            scale: AxisScale::Log10,
            ..Self::linear(label)
        }
    }

    /// The same axis, starting at 0.
    pub fn from_zero(self) -> Self {
        Self {
            start_at_zero: true,
            ..self
        }
    }

    /// An axis with a name at each of 1, 2, 3 and so on, for bars.
    pub fn named(label: impl Into<String>, names: impl IntoIterator<Item = String>) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        Self {
            range: Some([0.4, names.len() as f64 + 0.6]),
            names,
            ..Self::linear(label)
        }
    }

    /// The same logarithmic axis, which draws smaller numbers at this one.
    pub fn with_floor(self, floor: f64) -> Self {
        Self {
            floor: Some(floor),
            ..self
        }
    }

    /// Whether a number has a place on this axis.
    fn can_show(&self, value: f64) -> bool {
        value.is_finite()
            && match self.scale {
                AxisScale::Linear => true,
                AxisScale::Log10 => value > 0.0 || self.is_below_floor(value),
            }
    }

    /// Whether a number is drawn at the floor because it is below it.
    fn is_below_floor(&self, value: f64) -> bool {
        self.scale == AxisScale::Log10
            && self
                .floor
                .is_some_and(|floor| floor > 0.0 && (0.0..floor).contains(&value))
    }

    /// The number in whose place a number is drawn.
    fn drawn(&self, value: f64) -> f64 {
        match self.floor {
            Some(floor) if self.is_below_floor(value) => floor,
            _ => value,
        }
    }

    /// Ends of the axis: those asked for, else around the data, never equal.
    fn ends(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        if let Some([low, high]) = self.range
            && self.can_show(low)
            && self.can_show(high)
            && low < high
        {
            return [low, high];
        }
        let (mut low, mut high) = values
            .filter(|&value| self.can_show(value))
            .map(|value| self.drawn(value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        match self.scale {
            AxisScale::Log10 if low == high => [low / 2.0, high * 2.0],
            AxisScale::Log10 => {
                let room = (high / low).powf(0.06);
                [low / room, high * room]
            }
            AxisScale::Linear => {
                if self.start_at_zero {
                    (low, high) = (low.min(0.0), high.max(0.0));
                }
                if low == high {
                    let around = if low == 0.0 { 1.0 } else { low.abs() * 0.5 };
                    return [low - around, high + around];
                }
                let room = (high - low) * 0.05;
                let keep_zero = |value: f64, moved: f64| {
                    if self.start_at_zero && value == 0.0 {
                        0.0
                    } else {
                        moved
                    }
                };
                [keep_zero(low, low - room), keep_zero(high, high + room)]
            }
        }
    }

    /// `has_floor` says that a number is below the floor, which then stands among the ticks.
    fn ticks(&self, [low, high]: [f64; 2], target: usize, has_floor: bool) -> Vec<Tick> {
        if !self.names.is_empty() {
            let tick = |(number, name): (usize, &String)| Tick {
                value: number as f64 + 1.0,
                label: name.clone(),
            };
            return self.names.iter().enumerate().map(tick).collect();
        }
        let mut ticks = match self.scale {
            AxisScale::Linear => linear_ticks(low, high, target),
            AxisScale::Log10 => log_ticks(low, high),
        };
        if let Some(floor) = self.floor.filter(|_| has_floor) {
            // Numbers too near to the floor would be written over its own.
            let room = (high / floor).powf(1.0 / target.max(1) as f64 / 2.0);
            ticks.retain(|tick| tick.value > floor * room);
            let label = format!("≤ {}", number_label(floor));
            ticks.insert(
                0,
                Tick {
                    value: floor,
                    label,
                },
            );
        }
        ticks
    }

    /// Place of a number along the axis, 0 to 1 within its ends.
    fn fraction(&self, value: f64, [low, high]: [f64; 2]) -> f64 {
        let value = self.drawn(value);
        match self.scale {
            AxisScale::Linear => (value - low) / (high - low),
            AxisScale::Log10 => (value / low).ln() / (high / low).ln(),
        }
    }
}

/// A shaded range of x, such as held-out frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Where it starts and ends, in units of x.
    pub range: [f64; 2],
    /// Tooltip; empty for none.
    pub title: String,
}

/// One set of points and how to show them.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name: at the end of its line, beside its point where it has only one, else in the legend; empty for none.
    pub name: String,
    /// Lines, points or bars.
    pub draw: Draw,
    /// The points; a line visits them in this order.
    pub points: Vec<Point>,
    /// A CSS colour; `None` takes the next of the built-in ones, which [`crate::dark_chart_style`] changes on dark pages.
    pub color: Option<String>,
}

impl Series {
    /// A series in the next built-in colour.
    pub fn new(
        name: impl Into<String>,
        draw: Draw,
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        Self {
            name: name.into(),
            draw,
            points: points.into_iter().collect(),
            color: None,
        }
    }
}

/// How the points of a series are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draw {
    /// A line through the points.
    Line,
    /// Markers.
    Points,
    /// Markers on a line.
    LineAndPoints,
    /// Bars standing on zero, or on the lower end of the axis if zero is not on it.
    Bars {
        /// Width of each bar, in units of x.
        width: f64,
    },
}

/// One point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// Tooltip; `None` shows the two numbers.
    pub title: Option<String>,
    /// Filled or open.
    pub marker: Marker,
}

/// How a point's marker is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marker {
    /// Full, usually for data used in the fit.
    #[default]
    Filled,
    /// An outline, usually for held-out data.
    Open,
}

impl Point {
    /// A filled point whose tooltip shows its numbers.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            title: None,
            marker: Marker::Filled,
        }
    }

    /// The same point with another tooltip.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self {
            title: Some(title.into()),
            ..self
        }
    }

    /// The same point, filled or open.
    pub fn marked(self, marker: Marker) -> Self {
        Self { marker, ..self }
    }

    fn tooltip(&self) -> String {
        self.title
            .clone()
            .unwrap_or_else(|| format!("{}, {}", number_label(self.x), number_label(self.y)))
    }
}

/// Counts values in equal bins: a series of bars with a tooltip each.
///
/// Values that are not finite are left out; without any, or without bins, the series is empty.
pub fn histogram(name: impl Into<String>, values: &[f64], bin_count: usize) -> Series {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
    );
    if low > high || bin_count == 0 {
        return Series::new(name, Draw::Bars { width: 1.0 }, []);
    }
    let width = if high > low {
        (high - low) / bin_count as f64
    } else {
        1.0
    };
    let mut counts = vec![0_u64; bin_count];
    for value in finite() {
        counts[(((value - low) / width) as usize).min(bin_count - 1)] += 1;
    }
    let points = counts.into_iter().enumerate().map(|(i, count)| {
        let start = low + i as f64 * width;
        Point::new(start + width / 2.0, count as f64).titled(format!(
            "{} to {}: {count}",
            number_label(start),
            number_label(start + width)
        ))
    });
    Series::new(name, Draw::Bars { width }, points)
}

impl Chart {
    /// The chart as one `<svg>` element.
    pub fn to_svg(&self) -> String {
        let bar_ends = |point: &Point, draw: Draw| match draw {
            Draw::Bars { width } => [point.x - width / 2.0, point.x + width / 2.0],
            Draw::Line | Draw::Points | Draw::LineAndPoints => [point.x, point.x],
        };
        let shown = |series: &Series| {
            let draw = series.draw;
            series
                .points
                .iter()
                .filter(|point| self.can_show(point))
                .map(move |point| (bar_ends(point, draw), point.y))
                .collect::<Vec<_>>()
        };
        let shown: Vec<_> = self.series.iter().flat_map(shown).collect();
        let ends = [
            self.x.ends(shown.iter().flat_map(|(xs, _)| *xs)),
            self.y.ends(shown.iter().map(|(_, y)| *y)),
        ];
        let points = || self.series.iter().flat_map(|series| &series.points);
        let has_floor = [
            points().any(|point| self.x.is_below_floor(point.x)),
            points().any(|point| self.y.is_below_floor(point.y)),
        ];
        let (across, up) = ((self.width / 90).max(2), (self.height / 55).max(2));
        let ticks = [
            self.x.ticks(ends[0], across as usize, has_floor[0]),
            self.y.ticks(ends[1], up as usize, has_floor[1]),
        ];
        let frame = Frame::new(self, ends, &ticks);
        let mut svg = Svg::new(self, self);
        svg.bands(self, &frame);
        svg.axes(self, &frame, &ticks);
        for (index, series) in self.series.iter().enumerate() {
            svg.series(self, series, index, &frame);
        }
        svg.names(self, &frame);
        svg.legend(self, &frame);
        svg.finish()
    }

    /// Whether any number is drawn at the floor of its axis.
    fn is_below_floor(&self, point: &Point) -> bool {
        self.x.is_below_floor(point.x) || self.y.is_below_floor(point.y)
    }

    fn can_show(&self, point: &Point) -> bool {
        self.x.can_show(point.x) && self.y.can_show(point.y)
    }
}

#[cfg(test)]
mod tests;
