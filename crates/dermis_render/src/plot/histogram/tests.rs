//! Histograms are parsed as XML and checked.

use roxmltree::{Document, Node};

use super::*;
use crate::plot::tests::assert_names_apart;

fn parse(svg: &str) -> Document<'_> {
    assert!(
        !svg.contains("NaN") && !svg.contains("inf"),
        "no broken number: {svg}"
    );
    Document::parse(svg).unwrap_or_else(|error| panic!("not well-formed: {error}\n{svg}"))
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name)
        .and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("{name} is a number"))
}

/// The elements with this tag of each series.
fn drawn<'a>(document: &'a Document<'a>, tag: &str) -> Vec<Vec<Node<'a, 'a>>> {
    document
        .descendants()
        .filter(|node| node.attribute("class") == Some("series"))
        .map(|group| {
            let children = group.children();
            children.filter(|node| node.has_tag_name(tag)).collect()
        })
        .collect()
}

fn bars(name: &str, shares: &[f64]) -> HistogramSeries {
    HistogramSeries::new(name, HistogramDraw::Bars, shares.to_vec())
}

fn outline(name: &str, shares: &[f64]) -> HistogramSeries {
    HistogramSeries::new(name, HistogramDraw::Outline, shares.to_vec())
}

#[test]
fn bars_are_as_high_as_their_shares_and_touch_the_ends_of_the_axis() {
    let chart = Histogram {
        edges: vec![0.0, 1.0, 2.0, 4.0],
        series: vec![bars("", &[0.1, 0.4, 0.2])],
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let rects = &drawn(&document, "rect")[0];
    let (heights, widths): (Vec<f64>, Vec<f64>) = rects
        .iter()
        .map(|&bar| (number(bar, "height"), number(bar, "width")))
        .unzip();
    assert!(
        (heights[1] / heights[0] - 4.0).abs() < 0.01
            && (heights[2] / heights[0] - 2.0).abs() < 0.01,
        "{heights:?}"
    );
    assert!(
        ((widths[2] + 1.0) / (widths[0] + 1.0) - 2.0).abs() < 0.01,
        "twice as wide a bin, but for the gap: {widths:?}"
    );
}

#[test]
fn bars_of_several_series_stand_side_by_side() {
    let chart = Histogram {
        edges: bin_edges(0.0, 1.0, 3, AxisScale::Linear),
        series: vec![bars("a", &[0.1, 0.2, 0.3]), bars("b", &[0.3, 0.2, 0.1])],
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let groups = drawn(&document, "rect");
    for (&a, &b) in groups[0].iter().zip(&groups[1]) {
        let end = number(a, "x") + number(a, "width");
        assert!((end - number(b, "x")).abs() < 0.02, "b begins where a ends");
        assert_eq!(number(a, "width"), number(b, "width"), "equally wide");
    }
}

#[test]
fn equal_factors_are_equally_wide_on_a_log_axis() {
    let chart = Histogram {
        x: Axis::log10("stretch"),
        edges: bin_edges(0.25, 4.0, 4, AxisScale::Log10),
        series: vec![bars("", &[0.25; 4])],
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let widths: Vec<f64> = drawn(&document, "rect")[0]
        .iter()
        .map(|&bar| number(bar, "width"))
        .collect();
    assert_eq!(widths.len(), 4, "all of them");
    assert!(
        widths.iter().all(|width| (width - widths[0]).abs() < 0.02),
        "{widths:?}"
    );
    assert!(svg.contains(">1</text>"), "the axis has a one");
}

#[test]
fn an_outline_runs_over_the_tops_and_breaks_where_a_bin_is_missing() {
    let chart = Histogram {
        edges: bin_edges(0.0, 5.0, 5, AxisScale::Linear),
        series: vec![outline("over poses", &[0.1, 0.4, f64::NAN, 0.3])],
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let path = drawn(&document, "path")[0][0];
    let path = path.attribute("d").expect("a path");
    assert_eq!(path.matches('M').count(), 2, "two runs: {path}");
    assert_eq!(path.matches('H').count(), 3, "three tops: {path}");
}

#[test]
fn bins_that_cannot_be_shown_are_left_out() {
    let edges = vec![-1.0, 0.0, 1.0, 1.0, 10.0, f64::INFINITY, 3.0, 100.0];
    let series = vec![bars("s", &[0.2, 0.2, 0.2, 0.2, -1.0, 0.2, 0.2, 9.0])];
    let chart = Histogram {
        x: Axis::log10("x"),
        edges,
        series,
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    assert_eq!(drawn(&document, "rect")[0].len(), 2, "1 to 10 and 3 to 100");
    let floored = Histogram {
        x: Axis::log10("x").with_floor(0.1),
        ..chart
    };
    let svg = floored.to_svg();
    let document = parse(&svg);
    assert_eq!(
        drawn(&document, "rect")[0].len(),
        3,
        "a floor also shows 0 to 1"
    );
    assert!(svg.contains("≤ 0.1"), "and says so");
}

#[test]
fn names_stand_near_their_peaks_and_do_not_cover_each_other() {
    // Three series with nearly the same peak.
    let chart = Histogram {
        edges: bin_edges(0.0, 1.0, 20, AxisScale::Linear),
        series: (0..3)
            .map(|n| {
                let shares: Vec<f64> = (0..20)
                    .map(|i| 0.2 * (-0.2 * f64::from((i - 9 - n) * (i - 9 - n))).exp())
                    .collect();
                outline(&format!("method {n}"), &shares)
            })
            .collect(),
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    assert_names_apart(&svg, 3);
}

#[test]
fn a_bin_tells_all_its_shares() {
    let chart = Histogram {
        edges: vec![0.5, 1.0, 2.0],
        series: vec![
            bars("rest <1>", &[0.75, 0.25]),
            outline("posed", &[0.5, 0.5]),
        ],
        ..Histogram::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let tooltips: Vec<&str> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("bin"))
        .filter_map(|node| node.first_element_child()?.text())
        .collect();
    assert_eq!(
        tooltips,
        [
            "0.5 to 1\nrest <1>: 0.75\nposed: 0.5",
            "1 to 2\nrest <1>: 0.25\nposed: 0.5"
        ],
        "one per bin"
    );
}

#[test]
fn histograms_without_data_or_room_are_still_charts() {
    let empty = Histogram::default();
    let no_shares = Histogram {
        edges: vec![0.0, 1.0],
        series: vec![bars("s", &[]), outline("t", &[])],
        ..Histogram::default()
    };
    let all_zero = Histogram {
        edges: vec![0.0, 1.0],
        series: vec![bars("s", &[0.0]), outline("t", &[0.0])],
        ..Histogram::default()
    };
    let no_room = Histogram {
        width: 0,
        height: 0,
        series: vec![bars("s", &[1.0]), outline("t", &[1.0])],
        ..all_zero.clone()
    };
    let log = Histogram {
        y: Axis::log10("share"),
        series: vec![bars("s", &[0.5]), outline("t", &[0.0])],
        ..all_zero.clone()
    };
    for chart in [empty, no_shares, all_zero, no_room, log] {
        parse(&chart.to_svg());
    }
}

#[test]
fn shares_add_up_and_nothing_falls_off_the_ends() {
    let edges = bin_edges(0.0, 1.0, 4, AxisScale::Linear);
    let values = [
        (-3.0, 1.0),
        (0.25, 2.0),
        (0.6, 3.0),
        (1.0, 1.0),
        (9.0, 1.0),
        (f64::NAN, 5.0),
        (0.5, f64::NAN),
        (0.5, -1.0),
    ];
    assert_eq!(
        shares_in_bins(&edges, values),
        [0.125, 0.25, 0.375, 0.25],
        "an edge belongs to the bin above it, the ends hold what is beyond"
    );
    assert_eq!(shares_in_bins(&edges, []), [0.0; 4], "nothing to share");
    assert_eq!(shares_in_bins(&[1.0], values), [0.0; 0], "no bins");
}

#[test]
fn impossible_axes_have_no_bins() {
    for (low, high, count, scale) in [
        (1.0, 1.0, 4, AxisScale::Linear),
        (0.0, f64::NAN, 4, AxisScale::Linear),
        (0.0, 1.0, 0, AxisScale::Linear),
        (0.0, 1.0, 4, AxisScale::Log10),
    ] {
        assert!(
            bin_edges(low, high, count, scale).is_empty(),
            "{low} to {high}"
        );
    }
}
