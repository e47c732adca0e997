//! Charts are parsed as XML and checked.

use roxmltree::{Document, Node};

use super::*;

fn parse(svg: &str) -> Document<'_> {
    Document::parse(svg).unwrap_or_else(|error| panic!("not well-formed: {error}\n{svg}"))
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name)
        .and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("{name} is a number"))
}

/// The elements with this tag that belong to series, not to the legend.
fn drawn<'a>(document: &'a Document<'a>, tag: &'a str) -> Vec<Node<'a, 'a>> {
    document
        .descendants()
        .filter(|node| node.attribute("class") == Some("series"))
        .flat_map(|group| {
            group
                .children()
                .filter(|node| node.has_tag_name(tag))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn curve() -> Series {
    Series::new(
        "curve",
        Draw::LineAndPoints,
        (0..5).map(|i| Point::new(f64::from(i), f64::from(i * i))),
    )
}

#[test]
fn hostile_text_is_escaped_everywhere() {
    let nasty = "<script>\"&'\u{1}]]>";
    let chart = Chart {
        title: nasty.into(),
        x: Axis::linear(nasty),
        y: Axis::log10(nasty),
        series: vec![Series {
            color: Some(nasty.into()),
            ..Series::new(
                nasty,
                Draw::LineAndPoints,
                [Point::new(1.0, 2.0).titled(nasty)],
            )
        }],
        bands: vec![Band {
            range: [0.0, 9.0],
            title: nasty.into(),
        }],
        open_means: nasty.into(),
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    assert!(
        !document
            .descendants()
            .any(|node| node.has_tag_name("script")),
        "the text adds no element"
    );
    let tooltip = drawn(&document, "circle")[0]
        .first_element_child()
        .and_then(|title| title.text());
    assert_eq!(
        tooltip,
        Some("<script>\"&']]>: <script>\"&']]>"),
        "the text itself survives"
    );
}

#[test]
fn points_are_where_their_numbers_say() {
    let chart = Chart {
        x: Axis {
            range: Some([0.0, 4.0]),
            ..Axis::linear("x")
        },
        y: Axis {
            range: Some([0.0, 16.0]),
            ..Axis::linear("y")
        },
        series: vec![curve()],
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let circles = drawn(&document, "circle");
    assert_eq!(circles.len(), 5, "one per point");
    let x: Vec<f64> = circles.iter().map(|&c| number(c, "cx")).collect();
    let y: Vec<f64> = circles.iter().map(|&c| number(c, "cy")).collect();
    for i in 0..5 {
        let t = i as f64 / 4.0;
        assert!(
            (x[i] - (x[0] + t * (x[4] - x[0]))).abs() < 0.02,
            "x is linear: {x:?}"
        );
        assert!(
            (y[i] - (y[0] + t * t * (y[4] - y[0]))).abs() < 0.02,
            "y is the square: {y:?}"
        );
    }
    assert!(y[4] < y[0], "larger is higher");
}

#[test]
fn equal_factors_are_equally_far_apart_on_a_log_axis() {
    let points = [1.0, 10.0, 100.0].map(|y| Point::new(y, y));
    let chart = Chart {
        y: Axis::log10("error"),
        series: vec![Series::new("", Draw::Points, points)],
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let y: Vec<f64> = drawn(&document, "circle")
        .iter()
        .map(|&c| number(c, "cy"))
        .collect();
    assert!(((y[0] - y[1]) - (y[1] - y[2])).abs() < 0.02, "{y:?}");
}

#[test]
fn a_point_that_cannot_be_shown_is_left_out_and_breaks_the_line() {
    let values = [1.0, 2.0, f64::NAN, 3.0, 0.0, 4.0, -1.0, f64::INFINITY];
    let points = values
        .iter()
        .enumerate()
        .map(|(i, &y)| Point::new(i as f64, y));
    let chart = Chart {
        y: Axis::log10("error"),
        series: vec![Series::new("s", Draw::LineAndPoints, points)],
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    assert_eq!(
        drawn(&document, "circle").len(),
        4,
        "four positive finite numbers"
    );
    let path = drawn(&document, "path")[0]
        .attribute("d")
        .unwrap_or_default()
        .to_owned();
    assert_eq!(path.matches('M').count(), 3, "three runs: {path}");
    assert!(
        !svg.contains("NaN") && !svg.contains("inf"),
        "no broken number is written"
    );
}

#[test]
fn held_out_points_are_open_and_explained() {
    let points = (0..4).map(|i| {
        let marker = if i == 2 { Marker::Open } else { Marker::Filled };
        Point::new(f64::from(i), 1.0)
            .marked(marker)
            .titled(format!("frame {i}"))
    });
    let chart = Chart {
        series: vec![Series::new("ours", Draw::Points, points)],
        open_means: "held out".into(),
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let open: Vec<_> = drawn(&document, "circle")
        .into_iter()
        .filter(|circle| circle.attribute("style").is_some())
        .collect();
    assert_eq!(open.len(), 1, "one of four");
    let tooltip = open[0].first_element_child().and_then(|title| title.text());
    assert_eq!(tooltip, Some("ours: frame 2"), "it is the held-out one");
    assert!(
        document
            .descendants()
            .any(|node| node.text() == Some("held out")),
        "the legend says so"
    );
}

#[test]
fn charts_without_data_or_room_are_still_charts() {
    let empty = Chart::default();
    let point = Chart {
        series: vec![Series::new("", Draw::Line, [Point::new(3.0, 0.0)])],
        ..Chart::default()
    };
    let nothing_shown = Chart {
        y: Axis {
            range: Some([5.0, f64::NAN]),
            ..Axis::log10("")
        },
        series: vec![Series::new(
            "s",
            Draw::Bars { width: f64::NAN },
            [Point::new(f64::NAN, 1.0), Point::new(1.0, 1.0)],
        )],
        bands: vec![Band {
            range: [f64::NAN, 1.0],
            title: String::new(),
        }],
        ..Chart::default()
    };
    let no_room = Chart {
        width: 0,
        height: 0,
        series: vec![curve()],
        ..Chart::default()
    };
    for chart in [empty, point, nothing_shown, no_room] {
        let svg = chart.to_svg();
        parse(&svg);
        assert!(
            !svg.contains("NaN") && !svg.contains("inf"),
            "no broken number: {svg}"
        );
    }
}

#[test]
fn a_histogram_counts_every_finite_value_once() {
    let values = [0.0, 0.1, 0.1, 0.9, 1.0, f64::NAN];
    let series = histogram("errors", &values, 4);
    let counts: Vec<f64> = series.points.iter().map(|point| point.y).collect();
    assert_eq!(
        counts,
        [3.0, 0.0, 0.0, 2.0],
        "the largest value is in the last bin"
    );
    assert_eq!(histogram("none", &[], 4).points, [], "no values");
    assert_eq!(histogram("none", &values, 0).points, [], "no bins");
    let same: f64 = histogram("same", &[2.0; 3], 5)
        .points
        .iter()
        .map(|point| point.y)
        .sum();
    assert_eq!(same, 3.0, "equal values still count");
}

#[test]
fn bars_stand_on_zero() {
    let series = Series::new(
        "",
        Draw::Bars { width: 0.5 },
        [Point::new(0.0, 2.0), Point::new(1.0, 4.0)],
    );
    let chart = Chart {
        y: Axis::linear("count").from_zero(),
        series: vec![series],
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let bars = drawn(&document, "rect");
    let heights: Vec<f64> = bars.iter().map(|&bar| number(bar, "height")).collect();
    assert!(
        (heights[1] / heights[0] - 2.0).abs() < 0.01,
        "twice the count, twice the height: {heights:?}"
    );
}

#[test]
fn names_stand_at_the_ends_of_lines_and_do_not_cover_each_other() {
    let line = |n: usize| {
        // All end at nearly the same height.
        let points = (0..4).map(move |i| Point::new(f64::from(i), 1.0 + 0.001 * n as f64));
        Series::new(format!("method {n}"), Draw::LineAndPoints, points)
    };
    let chart = Chart {
        y: Axis::linear("error").from_zero(),
        series: (0..8).map(line).collect(),
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let mut heights: Vec<f64> = document
        .descendants()
        .filter(|node| node.text().is_some_and(|text| text.starts_with("method")))
        .filter(|node| node.has_tag_name("text"))
        .map(|node| number(node, "y"))
        .collect();
    assert_eq!(heights.len(), 8, "each name once, and no legend");
    heights.sort_by(f64::total_cmp);
    assert!(
        heights.windows(2).all(|pair| pair[1] - pair[0] > 11.9),
        "a line of text apart: {heights:?}"
    );
    let right = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    let right = right.filter(|node| node.text() == Some("method 0"));
    let x = right.map(|node| number(node, "x")).fold(0.0, f64::max);
    assert!(x < 640.0 - 50.0, "within the chart: {x}");
}

#[test]
fn single_points_have_their_names_beside_them() {
    let point = |n: usize| {
        let at = Point::new(10.0 + 0.1 * n as f64, 5.0);
        Series::new(format!("method {n}"), Draw::Points, [at])
    };
    let chart = Chart {
        x: Axis::linear("bytes").from_zero(),
        y: Axis::linear("error").from_zero(),
        series: (0..8).map(point).collect(),
        ..Chart::default()
    };
    let svg = chart.to_svg();
    assert_names_apart(&svg, 8);
}

#[test]
fn eight_series_differ_in_colour_dash_and_marker() {
    let line = |n: usize| {
        let points = (0..3).map(move |i| Point::new(f64::from(i), n as f64));
        Series::new(format!("{n}"), Draw::LineAndPoints, points)
    };
    let chart = Chart {
        series: (0..8).map(line).collect(),
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let groups: Vec<_> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("series"))
        .collect();
    let distinct = |values: Vec<String>| {
        let mut values = values;
        values.sort();
        values.dedup();
        values.len()
    };
    let colors = groups
        .iter()
        .map(|g| g.attribute("fill").unwrap_or("").to_owned());
    assert_eq!(distinct(colors.collect()), 8, "colours");
    let dashes = groups.iter().map(|group| {
        let line = group.children().find(|node| node.has_tag_name("path"));
        let line = line.expect("a line");
        line.attribute("stroke-dasharray").unwrap_or("").to_owned()
    });
    assert_eq!(distinct(dashes.collect()), 8, "dashes");
}

#[test]
fn numbers_below_the_floor_are_drawn_on_it_with_an_arrow_and_the_axis_says_so() {
    let points = [5.0, 1e-9, 0.0, 40.0].iter().enumerate();
    let points = points.map(|(i, &y)| Point::new(i as f64, y));
    let chart = Chart {
        y: Axis::log10("error").with_floor(0.01),
        series: vec![Series::new("s", Draw::LineAndPoints, points)],
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let circles = drawn(&document, "circle");
    assert_eq!(circles.len(), 4, "none is left out");
    let y: Vec<f64> = circles.iter().map(|&c| number(c, "cy")).collect();
    assert_eq!(y[1], y[2], "both on the floor");
    let below: Vec<_> = drawn(&document, "path")
        .into_iter()
        .filter(|path| path.attribute("class") == Some("below"))
        .collect();
    assert_eq!(below.len(), 2, "an arrow each");
    let texts: Vec<_> = document
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    assert!(texts.contains(&"≤ 0.01"), "{texts:?}");
    assert!(texts.contains(&"10"), "{texts:?}");
    assert!(
        !texts.contains(&"1e−9"),
        "the axis ends at the floor: {texts:?}"
    );
    let tooltip = circles[1]
        .first_element_child()
        .and_then(|title| title.text());
    assert_eq!(tooltip, Some("s: 1, 1e−9"), "the number itself is not lost");
}

#[test]
fn a_floor_that_nothing_falls_below_is_not_shown() {
    let chart = Chart {
        y: Axis::log10("error").with_floor(0.01),
        series: vec![curve()],
        ..Chart::default()
    };
    assert!(chart.to_svg().contains("≤"), "0 is below it");
    let positive = Series::new("s", Draw::Line, [1.0, 9.0].map(|y| Point::new(y, y)));
    let chart = Chart {
        series: vec![positive],
        ..chart
    };
    assert!(!chart.to_svg().contains("≤"), "1 is not");
}

#[test]
fn bars_have_names_below_them() {
    let bars = [3.0, 5.0].iter().enumerate();
    let bars = bars.map(|(i, &y)| Point::new(i as f64 + 1.0, y));
    let chart = Chart {
        x: Axis::named("", ["ours <1>".to_owned(), "theirs".to_owned()]),
        y: Axis::linear("error").from_zero(),
        series: vec![Series::new("", Draw::Bars { width: 0.6 }, bars)],
        ..Chart::default()
    };
    let svg = chart.to_svg();
    let document = parse(&svg);
    let x_of = |name: &str| {
        let node = document
            .descendants()
            .find(|node| node.has_tag_name("text") && node.text() == Some(name));
        number(node.expect("a name"), "x")
    };
    for (name, bar) in ["ours <1>", "theirs"].iter().zip(drawn(&document, "rect")) {
        let middle = number(bar, "x") + number(bar, "width") / 2.0;
        assert!((x_of(name) - middle).abs() < 0.02, "{name} below its bar");
    }
}

/// Asserts that the names of so many methods stand in a chart, each once, and that none covers another.
pub(crate) fn assert_names_apart(svg: &str, count: usize) {
    let document = parse(svg);
    let places: Vec<[f64; 2]> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter(|node| node.text().is_some_and(|text| text.starts_with("method")))
        .map(|node| [number(node, "x"), number(node, "y")])
        .collect();
    assert_eq!(places.len(), count, "each once");
    for (i, a) in places.iter().enumerate() {
        for b in &places[..i] {
            let apart = [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()];
            assert!(apart[1] > 11.0 || apart[0] > 50.0, "{a:?} covers {b:?}");
        }
    }
}
