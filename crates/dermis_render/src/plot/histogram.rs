//! Distributions as SVG: what share of something falls into each bin, for one or several series.
//!
//! Bars stand side by side within their bin, outlines are drawn over them, and each name stands beside the peak of its
//! series. Axes, ticks and colours are those of [`Chart`]. A bar's height is its share, not its density: on a
//! logarithmic axis the bins should be equally wide there, as [`bin_edges`] makes them.
//!
//! A bin that cannot be shown (its edges are not finite, do not rise, or are not on the axis) is left out.

use std::fmt::Write as _;

use super::labels::{Area, beside};
use super::svg::{Frame, Svg, TEXT_PX, dashed, paint, title, width_of};
use super::{Axis, AxisScale, Chart};
use crate::ticks::number_label;

/// Room above the highest bar, as a share of its height: a name fits there.
const HEADROOM: f64 = 0.16;
/// Width of the sample of a series before its name, with the gap after it.
const SAMPLE: f64 = 21.0;

/// A chart of distributions over common bins.
///
/// ```
/// use dermis_render::{
///     Axis, AxisScale, Histogram, HistogramDraw, HistogramSeries, bin_edges, shares_in_bins,
/// };
///
/// // Stretch of each triangle, weighted by its area.
/// let rest = [(0.9, 1.0), (1.0, 6.0), (1.1, 2.0)];
/// let posed = [(0.7, 1.0), (1.0, 4.0), (1.6, 2.0)];
/// let edges = bin_edges(0.5, 2.0, 24, AxisScale::Log10);
/// let chart = Histogram {
///     title: "Stretch".into(),
///     x: Axis::log10("texture length over surface length"),
///     y: Axis::linear("share of the area"),
///     series: vec![
///         HistogramSeries::new("rest pose", HistogramDraw::Bars, shares_in_bins(&edges, rest)),
///         HistogramSeries::new("over poses", HistogramDraw::Outline, shares_in_bins(&edges, posed)),
///     ],
///     edges,
///     ..Histogram::default()
/// };
/// assert!(chart.to_svg().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// One line above the chart; empty for none.
    pub title: String,
    /// The horizontal axis, linear or logarithmic; it fits the bins unless it has a range.
    pub x: Axis,
    /// The vertical axis; a linear one starts at 0.
    pub y: Axis,
    /// Edges of the bins, rising: one more than there are bins.
    pub edges: Vec<f64>,
    /// The series; later ones are drawn over earlier ones.
    pub series: Vec<HistogramSeries>,
    /// Width in CSS pixels; the picture scales to narrower columns. Default 640.
    pub width: u32,
    /// Height in CSS pixels. Default 320.
    pub height: u32,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            title: String::new(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            edges: Vec::new(),
            series: Vec::new(),
            width: 640,
            height: 320,
        }
    }
}

/// One distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramSeries {
    /// Its name, beside its peak; empty for none.
    pub name: String,
    /// Bars or an outline.
    pub draw: HistogramDraw,
    /// One number per bin, in the unit of the vertical axis. Those that are missing, negative or not finite are not
    /// drawn.
    pub shares: Vec<f64>,
    /// A CSS colour; `None` takes the next of the built-in ones, which [`crate::dark_chart_style`] changes on dark pages.
    pub color: Option<String>,
}

impl HistogramSeries {
    /// A series in the next built-in colour.
    pub fn new(name: impl Into<String>, draw: HistogramDraw, shares: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            draw,
            shares,
            color: None,
        }
    }
}

/// How a distribution is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HistogramDraw {
    /// Filled bars; those of several series share their bin side by side.
    #[default]
    Bars,
    /// A stepped line over the tops, for comparison with others.
    Outline,
}

/// Edges of bins that are equally wide on an axis: `count + 1` numbers from `low` to `high`.
///
/// Empty when there is no such axis: no bins, ends that are not finite or do not rise, or a logarithm of what is not
/// positive.
///
/// ```
/// use dermis_render::{AxisScale, bin_edges};
///
/// assert_eq!(bin_edges(0.0, 1.0, 2, AxisScale::Linear), [0.0, 0.5, 1.0]);
/// assert_eq!(bin_edges(0.25, 4.0, 2, AxisScale::Log10), [0.25, 1.0, 4.0]);
/// ```
pub fn bin_edges(low: f64, high: f64, count: usize, scale: AxisScale) -> Vec<f64> {
    let is_axis = low.is_finite() && high.is_finite() && low < high;
    if !is_axis || count == 0 || (scale == AxisScale::Log10 && low <= 0.0) {
        return Vec::new();
    }
    let edge = |i: usize| {
        let share = i as f64 / count as f64;
        match (i, scale) {
            (0, _) => low,
            (i, _) if i == count => high,
            (_, AxisScale::Linear) => low + (high - low) * share,
            (_, AxisScale::Log10) => low * (high / low).powf(share),
        }
    };
    (0..=count).map(edge).collect()
}

/// The share of the weight, 0 to 1, that falls into each bin, from pairs of a value and its weight.
///
/// A value on an edge belongs to the bin above it. Values beyond the first or last edge count in the first or last
/// bin, so that the shares add up to 1; name the axis accordingly or choose edges that hold them all. Pairs that are
/// not finite or without a positive weight are left out; without any, all shares are 0.
pub fn shares_in_bins(edges: &[f64], values: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
    let count = edges.len().saturating_sub(1);
    let mut shares = vec![0.0; count];
    let mut total = 0.0;
    for (value, weight) in values {
        if count > 0 && value.is_finite() && weight.is_finite() && weight > 0.0 {
            let above = edges.partition_point(|&edge| edge <= value);
            shares[above.saturating_sub(1).min(count - 1)] += weight;
            total += weight;
        }
    }
    if total > 0.0 {
        for share in &mut shares {
            *share /= total;
        }
    }
    shares
}

impl Histogram {
    /// The chart as one `<svg>` element.
    pub fn to_svg(&self) -> String {
        let bins: Vec<(usize, [f64; 2])> = (0..self.edges.len())
            .filter_map(|bin| Some((bin, self.bin(bin)?)))
            .collect();
        let shares: Vec<f64> = (self.series.iter())
            .flat_map(|series| bins.iter().map(move |&(bin, _)| (series, bin)))
            .filter_map(|(series, bin)| self.share(series, bin))
            .collect();
        let shell = self.shell(&bins, &shares);
        let ends = [
            shell.x.ends(bins.iter().flat_map(|(_, ends)| *ends)),
            shell.y.ends(shares.iter().copied()),
        ];
        let has_floor = [
            bins.iter().any(|(_, ends)| self.x.is_below_floor(ends[0])),
            shares.iter().any(|&share| self.y.is_below_floor(share)),
        ];
        let (across, up) = ((self.width / 90).max(2), (self.height / 55).max(2));
        let ticks = [
            shell.x.ticks(ends[0], across as usize, has_floor[0]),
            shell.y.ticks(ends[1], up as usize, has_floor[1]),
        ];
        let frame = Frame::new(&shell, ends, &ticks);
        let plot = Plot {
            histogram: self,
            columns: bins
                .iter()
                .map(|&(bin, ends)| Column::new(self, &shell, &frame, bin, ends))
                .collect(),
            foot: frame.y(&shell, 0.0_f64.clamp(ends[1][0], ends[1][1])),
            frame: &frame,
        };
        let mut svg = Svg::new(&shell, self);
        svg.axes(&shell, &frame, &ticks);
        plot.bars(&mut svg);
        plot.outlines(&mut svg);
        plot.names(&mut svg);
        plot.tooltips(&mut svg);
        svg.finish()
    }

    /// A chart with the axes of this one and nothing on them; `bins` and `shares` are those that can be shown.
    fn shell(&self, bins: &[(usize, [f64; 2])], shares: &[f64]) -> Chart {
        let mut chart = Chart {
            title: self.title.clone(),
            x: self.x.clone(),
            y: self.y.clone(),
            width: self.width,
            height: self.height,
            ..Chart::default()
        };
        // Bins touch the ends of their axis.
        let ends = (bins.iter()).fold([f64::INFINITY, f64::NEG_INFINITY], |ends, (_, bin)| {
            [ends[0].min(bin[0]), ends[1].max(bin[1])]
        });
        if chart.x.range.is_none() && ends[0] < ends[1] {
            chart.x.range = Some(ends.map(|end| self.x.drawn(end)));
        }
        if chart.y.scale == AxisScale::Linear && chart.y.range.is_none() {
            let largest = shares.iter().copied().fold(0.0, f64::max);
            let top = if largest > 0.0 { largest } else { 1.0 };
            chart.y.range = Some([0.0, top * (1.0 + HEADROOM)]);
        }
        chart
    }

    /// Ends of a bin, when it can be shown.
    fn bin(&self, bin: usize) -> Option<[f64; 2]> {
        let ends = [*self.edges.get(bin)?, *self.edges.get(bin + 1)?];
        let shown = ends.iter().all(|&end| self.x.can_show(end));
        (shown && self.x.drawn(ends[0]) < self.x.drawn(ends[1])).then_some(ends)
    }

    /// The share of a series in a bin, when it can be shown.
    fn share(&self, series: &HistogramSeries, bin: usize) -> Option<f64> {
        let share = series.shares.get(bin).copied()?;
        (share >= 0.0 && self.y.can_show(share)).then_some(share)
    }
}

/// A bin in SVG units.
struct Column {
    left: f64,
    right: f64,
    /// Height of the top of each series; `None` where it has no share to show.
    tops: Vec<Option<f64>>,
    tooltip: String,
}

impl Column {
    fn new(
        histogram: &Histogram,
        shell: &Chart,
        frame: &Frame,
        bin: usize,
        ends: [f64; 2],
    ) -> Self {
        let [left, right] = ends.map(|end| frame.x(shell, end).clamp(frame.left, frame.right));
        let mut tooltip = ends.map(number_label).join(" to ");
        let tops = histogram.series.iter().map(|series| {
            let share = histogram.share(series, bin)?;
            // Writing to a string cannot fail.
            let _ = match series.name.is_empty() {
                true => write!(tooltip, "\n{}", number_label(share)),
                false => write!(tooltip, "\n{}: {}", series.name, number_label(share)),
            };
            Some(frame.y(shell, share).clamp(frame.top, frame.bottom))
        });
        let tops = tops.collect();
        Self {
            left,
            right,
            tops,
            tooltip,
        }
    }
}

/// A histogram laid out.
struct Plot<'a> {
    histogram: &'a Histogram,
    columns: Vec<Column>,
    /// Where bars stand.
    foot: f64,
    frame: &'a Frame,
}

impl Plot<'_> {
    fn series_drawn(&self, draw: HistogramDraw) -> impl Iterator<Item = (usize, &HistogramSeries)> {
        let series = self.histogram.series.iter().enumerate();
        series.filter(move |(_, series)| series.draw == draw)
    }

    fn open_group(&self, svg: &mut Svg, series: &HistogramSeries, index: usize) {
        let clip = svg.clip.clone();
        svg.push(format_args!(
            "<g class=\"series\" clip-path=\"url(#{clip})\" {}>",
            paint(series.color.as_deref(), index)
        ));
    }

    fn bars(&self, svg: &mut Svg) {
        let count = self.series_drawn(HistogramDraw::Bars).count() as f64;
        // Under outlines bars are paler, so that the lines stand out.
        let opacity = match self.series_drawn(HistogramDraw::Outline).next() {
            Some(_) => 0.45,
            None => 0.85,
        };
        for (slot, (index, series)) in self.series_drawn(HistogramDraw::Bars).enumerate() {
            self.open_group(svg, series, index);
            for column in &self.columns {
                let Some(top) = column.tops[index].filter(|top| *top < self.foot) else {
                    continue;
                };
                // A hairline of paper between neighbouring bins, when there is room for one.
                let room = column.right - column.left;
                let gap = if room > 3.0 * count { 1.0 } else { 0.0 };
                let width = (room - gap) / count;
                svg.push(format_args!(
                    "<rect x=\"{:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{:.2}\" stroke=\"none\" \
                     fill-opacity=\"{opacity}\"/>",
                    column.left + gap / 2.0 + slot as f64 * width,
                    self.foot - top
                ));
            }
            svg.push(format_args!("</g>"));
        }
    }

    /// One path per series, down to the foot at its ends and wherever a bin is missing.
    fn outlines(&self, svg: &mut Svg) {
        for (index, series) in self.series_drawn(HistogramDraw::Outline) {
            let mut path = String::new();
            let mut reached = None;
            for column in &self.columns {
                let Some(top) = column.tops[index] else {
                    continue;
                };
                let (left, right) = (column.left, column.right);
                // Neighbours share an edge to the last bit.
                let _ = match reached == Some(left) {
                    true => write!(path, "V{top:.2}H{right:.2}"),
                    false => {
                        if reached.is_some() {
                            let _ = write!(path, "V{:.2}", self.foot);
                        }
                        write!(path, "M{left:.2} {:.2}V{top:.2}H{right:.2}", self.foot)
                    }
                };
                reached = Some(right);
            }
            if reached.is_none() {
                continue;
            }
            self.open_group(svg, series, index);
            svg.push(format_args!(
                "<path d=\"{path}V{:.2}\" fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{}/>",
                self.foot,
                dashed(index)
            ));
            svg.push(format_args!("</g>"));
        }
    }

    /// Names beside the peaks, each after a sample of its bars or line.
    fn names(&self, svg: &mut Svg) {
        let frame = self.frame;
        let area = Area {
            left: frame.left + 2.0,
            top: frame.top - 4.0,
            width: frame.right - frame.left,
            height: frame.bottom - frame.top,
        };
        let covered = self.covered();
        let mut placed: Vec<Area> = Vec::new();
        for (index, series) in self.histogram.series.iter().enumerate() {
            let Some(peak) = self.peak(index).filter(|_| !series.name.is_empty()) else {
                continue;
            };
            let size = [SAMPLE + width_of(&series.name), 1.15 * TEXT_PX];
            let name = beside(peak, size, &covered, &placed, &area);
            let middle = name.top + name.height / 2.0;
            let paint = paint(series.color.as_deref(), index);
            let nearest = [
                peak[0].clamp(name.left - 3.0, name.left + name.width + 3.0),
                peak[1].clamp(name.top, name.top + name.height),
            ];
            svg.push(format_args!("<g {paint}>"));
            // A name that stands away from its peak is led to it.
            if f64::hypot(nearest[0] - peak[0], nearest[1] - peak[1]) > 10.0 {
                svg.push(format_args!(
                    "<path class=\"lead\" d=\"M{:.2} {:.2}L{:.2} {:.2}\" fill=\"none\" stroke-opacity=\"0.7\"/>",
                    peak[0], peak[1], nearest[0], nearest[1]
                ));
            }
            match series.draw {
                HistogramDraw::Bars => svg.push(format_args!(
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"10\" height=\"10\" stroke=\"none\" fill-opacity=\"0.6\"/>",
                    name.left + 4.0,
                    middle - 5.0
                )),
                HistogramDraw::Outline => svg.push(format_args!(
                    "<path d=\"M{:.2} {middle:.2}h17\" fill=\"none\" stroke-width=\"1.8\"{}/>",
                    name.left,
                    dashed(index)
                )),
            }
            svg.push(format_args!("</g>"));
            svg.name(&series.name, name.left + SAMPLE, middle);
            placed.push(name);
        }
    }

    /// Middle of the top of a series' largest bar; `None` when all are empty.
    fn peak(&self, series: usize) -> Option<[f64; 2]> {
        let mut bars = self.series_drawn(HistogramDraw::Bars);
        let share = match bars.position(|(index, _)| index == series) {
            Some(slot) => {
                let count = self.series_drawn(HistogramDraw::Bars).count();
                (slot as f64 + 0.5) / count as f64
            }
            None => 0.5,
        };
        let middle = |column: &Column| column.left + share * (column.right - column.left);
        let tops = (self.columns.iter())
            .filter_map(|column| Some([middle(column), column.tops[series]?]))
            .filter(|peak| peak[1] < self.foot);
        // The first of equal ones.
        tops.reduce(|best, other| if other[1] < best[1] { other } else { best })
    }

    /// Places that names should keep clear of: bars all over, outlines along their tops.
    fn covered(&self) -> Vec<[f64; 2]> {
        const APART: f64 = 10.0;
        let mut places = Vec::new();
        for column in &self.columns {
            for (index, series) in self.histogram.series.iter().enumerate() {
                let Some(top) = column.tops[index] else {
                    continue;
                };
                let rows = match series.draw {
                    HistogramDraw::Bars => ((self.foot - top) / APART) as usize,
                    HistogramDraw::Outline => 0,
                };
                let wide = ((column.right - column.left) / APART) as usize + 1;
                for row in 0..=rows {
                    for i in 0..wide {
                        let share = (i as f64 + 0.5) / wide as f64;
                        let x = column.left + share * (column.right - column.left);
                        places.push([x, top + APART * row as f64]);
                    }
                }
            }
        }
        places
    }

    /// What is under the pointer: one transparent column per bin, over everything.
    fn tooltips(&self, svg: &mut Svg) {
        svg.push(format_args!("<g fill=\"none\" pointer-events=\"all\">"));
        for column in self.columns.iter().filter(|c| c.left < c.right) {
            svg.push(format_args!(
                "<rect class=\"bin\" x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\">{}</rect>",
                column.left,
                self.frame.top,
                column.right - column.left,
                self.frame.bottom - self.frame.top,
                title(&column.tooltip)
            ));
        }
        svg.push(format_args!("</g>"));
    }
}

#[cfg(test)]
mod tests;
