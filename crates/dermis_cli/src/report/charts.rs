//! Charts of error: over the examples, over the rounds of a fit, and against what a skin costs.

use dermis::ExampleSet;
use dermis::compare::{Compared, Comparison};
use dermis::fit::{FitReport, Method};
use dermis::measure::ExampleMeasures;
use dermis_render::{Axis, Chart, Draw, Marker, Point, Series};

/// Width in CSS pixels: that of the page.
pub(super) const CHART_WIDTH: u32 = 1100;

/// Errors of which one is so many times another are drawn on a logarithmic axis.
const FAR_APART: f64 = 20.0;

/// Errors below this E_RMS are rounding: a millionth of the model's radius.
const ROUNDING: f64 = 1e-3;

/// E_RMS of every example in order, a line for every fit; those held out as open circles.
pub(super) fn example_chart<'a>(
    fits: impl Iterator<Item = (&'a str, &'a FitReport)> + Clone,
) -> Chart {
    let is_held_out = fits.clone().any(|(_, fitted)| fitted.held_out.is_some());
    let errors = fits.clone().map(|(_, fitted)| match &fitted.held_out {
        Some(held_out) => held_out.measured.total.e_rms,
        None => fitted.overall.total.e_rms,
    });
    Chart {
        x: Axis::linear("example"),
        y: error_axis(errors),
        series: fits
            .map(|(name, fitted)| example_series(name, fitted))
            .collect(),
        open_means: if is_held_out { "held out" } else { "" }.to_owned(),
        width: CHART_WIDTH,
        height: 400,
        ..Chart::default()
    }
}

fn example_series(name: &str, fitted: &FitReport) -> Series {
    let point = |m: &ExampleMeasures, marker: Marker| {
        let largest = 100.0 * m.max_distance;
        let title = format!("{}: E_RMS {:.3}, largest {largest:.2}%", m.name, m.e_rms);
        let point = Point::new(m.index as f64, m.e_rms);
        point.titled(title).marked(marker)
    };
    let (seen, unseen): (_, &[ExampleMeasures]) = match &fitted.held_out {
        None => (&fitted.overall.examples, &[]),
        Some(held_out) => (&held_out.training.examples, &held_out.measured.examples),
    };
    // With each example held out in turn, the first fold's training examples are among them.
    let held_out = fitted.held_out.as_ref();
    let seen = seen
        .iter()
        .filter(|m| !held_out.is_some_and(|h| h.contains(m.index)));
    let mut points: Vec<Point> = seen.map(|m| point(m, Marker::Filled)).collect();
    points.extend(unseen.iter().map(|m| point(m, Marker::Open)));
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Series::new(name, Draw::LineAndPoints, points)
}

/// Error after each round of a fit.
pub(super) fn round_chart(fitted: &FitReport) -> Chart {
    let points: Vec<Point> = fitted
        .round_errors
        .iter()
        .enumerate()
        .map(|(round, &error)| Point::new(round as f64, error))
        .collect();
    Chart {
        x: Axis::linear("round of rest positions and weights"),
        y: Axis::linear("rms distance, model units").from_zero(),
        series: vec![Series::new("", Draw::LineAndPoints, points)],
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

/// A chart that leaves room for another beside it.
pub(super) fn half(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Chart {
    Chart {
        title: title.to_owned(),
        x,
        y,
        series,
        width: CHART_WIDTH / 2 - 10,
        height: 340,
        ..Chart::default()
    }
}

/// Error against time and against size, a point per method: low and left is good.
pub(super) fn cost_charts(comparison: &Comparison) -> Vec<Chart> {
    let chart = |title: &str, label: &str, cost: fn(&Compared) -> f64| {
        let series = comparison.compared().map(|(row, c)| {
            let (x, y) = (cost(c), c.tested().e_rms);
            let point = Point::new(x, y).titled(format!("E_RMS {y:.3} at {x:.2} {label}"));
            Series::new(row.label.as_str(), Draw::Points, [point])
        });
        let errors = comparison.compared().map(|(_, c)| c.tested().e_rms);
        let costs = comparison.compared().map(|(_, c)| cost(c));
        let x = cost_axis(label, costs);
        half(title, x, error_axis(errors), series.collect())
    };
    vec![
        chart("Error against time", "ns per vertex", |c| c.ns_per_vertex),
        chart("Error against size", "bytes per vertex", |c| {
            c.report.cost.bytes_per_vertex
        }),
    ]
}

/// Error and size over the number of proxy bones; `None` unless there are several numbers to compare.
pub(super) fn proxy_charts(set: &ExampleSet, comparison: &Comparison) -> Option<Vec<Chart>> {
    let mut rows: Vec<(f64, &Compared)> = comparison
        .compared()
        .filter(|(row, _)| matches!(row.method, Method::RotationalRegression(_)))
        .map(|(_, c)| {
            let proxies = c.report.skin.pose_program.proxies();
            (proxies.map_or(0, |p| p.bones.len()) as f64, c)
        })
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.dedup_by(|a, b| a.0 == b.0);
    if rows.len() < 2 {
        return None;
    }
    let line = |name: &str, value: &dyn Fn(&Compared) -> Option<f64>| {
        let point = |(count, c): &(f64, &Compared)| {
            let y = value(c)?;
            Some(Point::new(*count, y).titled(format!("{name}: {y:.2} with {count} proxy bones")))
        };
        let points: Vec<Point> = rows.iter().filter_map(point).collect();
        Series::new(name, Draw::LineAndPoints, points)
    };
    let mut errors = vec![line("fitted to", &|c| c.trained().enveloping_error_percent)];
    if rows.iter().any(|(_, c)| c.report.held_out.is_some()) {
        errors.push(line("held out", &|c| c.tested().enveloping_error_percent));
    }
    let vertices = set.rest().vertex_count() as f64;
    let size = line("skin", &|c| {
        let cost = &c.report.cost;
        Some((cost.bytes_per_vertex * vertices + cost.proxy_bytes as f64) / 1024.0)
    });
    let axis = |label| Axis::linear(label).from_zero();
    Some(vec![
        half(
            "Error over proxy bones",
            axis("proxy bones"),
            axis("EE, %"),
            errors,
        ),
        half(
            "Size over proxy bones",
            axis("proxy bones"),
            axis("KiB"),
            vec![size],
        ),
    ])
}

/// An axis of errors, given those of the whole: logarithmic where they are far apart, down to a third of the lowest,
/// and never to what is only rounding.
pub(super) fn error_axis(errors: impl Iterator<Item = f64>) -> Axis {
    axis_down_to(ROUNDING, "E_RMS", errors)
}

/// An axis of errors, logarithmic where they are far apart, and never down to what is below `rounding`.
pub(super) fn axis_down_to(rounding: f64, label: &str, errors: impl Iterator<Item = f64>) -> Axis {
    let (low, high) = errors.fold((f64::INFINITY, 0.0_f64), |(low, high), error| {
        (low.min(error), high.max(error))
    });
    let low = low.max(rounding);
    match high > FAR_APART * low {
        true => {
            let floor = 10f64.powf((low / 3.0).log10().floor()).max(rounding);
            Axis::log10(format!("{label} (logarithmic)")).with_floor(floor)
        }
        false => Axis::linear(label).from_zero(),
    }
}

/// An axis of costs: logarithmic where they are far apart.
pub(super) fn cost_axis(label: &str, costs: impl Iterator<Item = f64>) -> Axis {
    let (low, high) = costs.fold((f64::INFINITY, 0.0_f64), |(low, high), cost| {
        (low.min(cost), high.max(cost))
    });
    match low > 0.0 && high > FAR_APART * low {
        true => Axis::log10(format!("{label} (logarithmic)")),
        false => Axis::linear(label).from_zero(),
    }
}
