//! How much each triangle is stretched in one shape, and how that is spread.

use dermis::param::Atlas;
use dermis_render::{
    Axis, AxisScale, Curve, CurvePlot, Histogram, HistogramDraw, HistogramSeries, Image, bin_edges,
    shares_in_bins,
};
use glam::DVec3;

/// Bins of a histogram: fewer would hide the peak of a good atlas, more would make poor meshes look ragged.
const BINS: usize = 60;
/// The share of the area that may be beyond either end of the histogram, and counts in its last bins.
const BEYOND: f64 = 0.002;
/// Least and largest ratio of the ends of the axis to 1.
const SPREAD: [f64; 2] = [1.05, 8.0];
/// Ratio from which on the axis is logarithmic; below, it would have hardly any numbers to read.
const WIDE: f64 = 2.5;

/// What the axis shows.
const LABEL: &str = "stretch of a triangle; beyond the ends, in the last bins";

/// Stretch and area of a triangle.
pub(super) type Weighed = (f64, f64);

/// The stretch and the area of every triangle in a shape, with the atlas scaled so that the areas of both agree.
///
/// With edges `e`, `f` of the triangle, `d1`, `d2` of its UVs and `D = det(d1, d2)`, it is the root of `N / 2D²`, where
/// `N = e² d2² − 2 ef d1 d2 + f² d1²`: the root mean square of the two singular values. So its own root mean square over
/// the area is the L2 stretch of the shape.
pub(super) fn triangle_stretches(atlas: &Atlas, shape: &[DVec3]) -> Vec<Weighed> {
    let mut areas = [0.0; 2];
    let mut found: Vec<Weighed> = Vec::with_capacity(atlas.triangles.len());
    for corners in &atlas.triangles {
        let [a, b, c] = corners.map(|vertex| shape[atlas.points[vertex as usize] as usize]);
        let [u, v, w] = corners.map(|vertex| atlas.uvs[vertex as usize]);
        let (e, f, d1, d2) = (b - a, c - a, v - u, w - u);
        let n = e.length_squared() * d2.length_squared() - 2.0 * e.dot(f) * d1.dot(d2)
            + f.length_squared() * d1.length_squared();
        let d = d1.perp_dot(d2);
        let area = 0.5 * e.cross(f).length();
        areas[0] += area;
        areas[1] += 0.5 * d.abs();
        found.push(((0.5 * n.max(0.0)).sqrt() / d.abs(), area));
    }
    let scale = (areas[1] / areas[0]).sqrt();
    for (stretch, _) in &mut found {
        *stretch *= scale;
    }
    found
}

/// How stretch is spread over the area, at rest and over poses.
pub(super) struct Spread {
    scale: AxisScale,
    edges: Vec<f64>,
    rest: Vec<f64>,
    /// Of all poses together; empty when there is none but the rest pose.
    poses: Vec<f64>,
}

impl Spread {
    /// Counts the triangles of all shapes, the rest shape first.
    pub(super) fn new(atlas: &Atlas, shapes: &[Vec<DVec3>]) -> Self {
        let of_shape = |shape: &Vec<DVec3>| triangle_stretches(atlas, shape);
        let rest: Vec<Weighed> = shapes.first().map(of_shape).unwrap_or_default();
        let posed: Vec<Weighed> = shapes.iter().skip(1).flat_map(of_shape).collect();
        let end = spread(rest.iter().chain(&posed));
        let scale = match end < WIDE {
            true => AxisScale::Linear,
            false => AxisScale::Log10,
        };
        let edges = bin_edges(1.0 / end, end, BINS, scale);
        Self {
            scale,
            rest: shares_in_bins(&edges, rest),
            poses: match posed.is_empty() {
                true => Vec::new(),
                false => shares_in_bins(&edges, posed),
            },
            edges,
        }
    }

    /// The chart of a page.
    pub(super) fn histogram(&self, pose_words: &str, width: u32) -> Histogram {
        let percent = |shares: &[f64]| shares.iter().map(|share| 100.0 * share).collect();
        let rest = |draw| HistogramSeries::new("at rest", draw, percent(&self.rest));
        let series = match self.poses.is_empty() {
            true => vec![rest(HistogramDraw::Bars)],
            false => vec![
                HistogramSeries::new(pose_words, HistogramDraw::Bars, percent(&self.poses)),
                rest(HistogramDraw::Outline),
            ],
        };
        Histogram {
            x: Axis {
                scale: self.scale,
                ..Axis::linear(LABEL)
            },
            y: Axis::linear("% of the area"),
            edges: self.edges.clone(),
            series,
            width,
            height: 340,
            ..Histogram::default()
        }
    }

    /// The same as a picture, on a linear axis.
    pub(super) fn plot(&self, pose_words: &str, [width, height]: [u32; 2], text_px: f32) -> Image {
        let curve = |name: &str, color: usize, shares: &[f64]| Curve {
            name: name.to_owned(),
            color,
            points: self.steps(shares),
            ..Curve::default()
        };
        let mut curves = Vec::new();
        if !self.poses.is_empty() {
            curves.push(curve(pose_words, 0, &self.poses));
        }
        curves.push(curve("at rest", 1, &self.rest));
        let shares = || self.rest.iter().chain(&self.poses).copied();
        let top = 100.0 * shares().fold(0.0, f64::max);
        let [low, high] = [self.edges.first(), self.edges.last()].map(|e| e.copied());
        let plot = CurvePlot {
            x_label: LABEL.to_owned(),
            y_label: "% of the area".to_owned(),
            x_range: [low.unwrap_or(0.0), high.unwrap_or(1.0)],
            y_range: [0.0, 1.1 * top.max(f64::MIN_POSITIVE)],
            curves,
            width,
            height,
            text_px,
        };
        plot.draw()
    }

    /// A stepped line over the bins, from the foot to the foot.
    fn steps(&self, shares: &[f64]) -> Vec<[f64; 2]> {
        let bins = self.edges.windows(2).zip(shares);
        let tops =
            bins.flat_map(|(ends, share)| [[ends[0], 100.0 * share], [ends[1], 100.0 * share]]);
        let foot = |edge: Option<&f64>| edge.map(|&edge| [edge, 0.0]);
        let (first, last) = (foot(self.edges.first()), foot(self.edges.last()));
        first.into_iter().chain(tops).chain(last).collect()
    }
}

/// The larger end of an axis that is symmetric about 1 by ratio, with nearly all of the area within it.
fn spread<'a>(stretches: impl Iterator<Item = &'a Weighed>) -> f64 {
    let mut ratios: Vec<Weighed> = stretches
        .filter(|(stretch, area)| stretch.is_finite() && *stretch > 0.0 && *area > 0.0)
        .map(|&(stretch, area)| (stretch.max(1.0 / stretch), area))
        .collect();
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut left = BEYOND * ratios.iter().map(|(_, area)| area).sum::<f64>();
    let within = ratios.into_iter().find(|(_, area)| {
        left -= area;
        left < 0.0
    });
    within.map_or(SPREAD[0], |(ratio, _)| ratio.clamp(SPREAD[0], SPREAD[1]))
}

#[cfg(test)]
mod tests {
    use dermis::document::stretch_in;
    use dermis_render::glam;
    use glam::DVec2;

    use super::*;

    /// Two triangles of a unit square, lifted at one corner; the UVs are those of the flat square.
    fn lifted(height: f64) -> (Atlas, Vec<DVec3>) {
        let uvs = [[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 0.5]].map(DVec2::from);
        let mut shape: Vec<DVec3> = uvs.iter().map(|uv| (2.0 * *uv).extend(0.0)).collect();
        shape[2].z = height;
        let atlas = Atlas {
            uvs: uvs.to_vec(),
            points: vec![0, 1, 2, 3],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            ..Atlas::default()
        };
        (atlas, shape)
    }

    #[test]
    fn a_flat_square_is_not_stretched_anywhere() {
        let (atlas, shape) = lifted(0.0);
        for (stretch, area) in triangle_stretches(&atlas, &shape) {
            assert!((stretch - 1.0).abs() < 1e-12, "{stretch}");
            assert!((area - 0.5).abs() < 1e-12, "{area}");
        }
        let spread = Spread::new(&atlas, &[shape]);
        let sum: f64 = spread.rest.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "all of the area is shown");
        assert!(spread.poses.is_empty(), "there is no pose");
    }

    #[test]
    fn root_mean_square_over_the_area_is_the_stretch_of_the_shape() {
        let (mut atlas, shape) = lifted(0.7);
        atlas.uvs[1] = DVec2::new(0.4, 0.1);
        let found = triangle_stretches(&atlas, &shape);
        let area: f64 = found.iter().map(|(_, area)| area).sum();
        let squares: f64 = found.iter().map(|(s, area)| s * s * area).sum();
        let (mean, expected) = ((squares / area).sqrt(), stretch_in(&atlas, &shape));
        assert!((mean - expected).abs() < 1e-9, "{mean} and {expected}");
    }

    #[test]
    fn the_axis_leaves_out_no_more_than_a_few_slivers() {
        let mut stretches = vec![(1.2, 1.0); 1000];
        stretches.push((50.0, 1.0));
        assert_eq!(spread(stretches.iter()), 1.2, "one of a thousand is beyond");
        stretches.extend([(0.5, 1.0); 10]);
        assert_eq!(spread(stretches.iter()), 2.0, "a hundredth is not");
        assert_eq!(spread([].iter()), SPREAD[0], "nothing to show");
    }
}
