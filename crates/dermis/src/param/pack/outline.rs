//! What the packer needs of a flat chart: the edges of its border, its area and the angle it fits a rectangle best at.
//!
//! Every triangle is first turned anticlockwise, then half-edges that run both ways between the same two vertices cancel.
//! What is left is the border of the sum of the triangles, so its winding number at a point is the number of triangles
//! over that point: right for folded, overlapping and non-manifold charts too.

use glam::DVec2;

use super::atlas::PackError;

/// A chart that is laid out flat.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FlatChart {
    /// Where each vertex lies, in a length unit that all charts share.
    pub(crate) uvs: Vec<DVec2>,
    /// Corners of each triangle, as indices into `uvs`.
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl FlatChart {
    /// The sum of the areas of the triangles, each counted positive.
    pub(crate) fn area(&self) -> f64 {
        let doubled = self
            .triangles
            .iter()
            .map(|&t| twice_area(&self.uvs, t).abs());
        0.5 * doubled.sum::<f64>()
    }
}

/// The longer and the shorter side of the smallest rectangle around a chart.
pub(crate) fn sides_of_rectangle(chart: &FlatChart) -> Result<[f64; 2], PackError> {
    let outline = Outline::new(chart, 0)?;
    Ok([outline.longer_side, outline.shorter_side])
}

/// One edge of a border, relative to [`Outline::centre`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BorderEdge {
    /// Where it starts and ends.
    pub(super) ends: [DVec2; 2],
    /// How often it counts for the winding number; 0 for edges that bound no area.
    pub(super) count: i32,
}

/// The border of a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Outline {
    /// All edges, and a point (an edge of no length) for each vertex that no triangle uses.
    pub(super) edges: Vec<BorderEdge>,
    /// The middle of the bounding box, which the edges are relative to.
    pub(super) centre: DVec2,
    /// Area of the triangles, in squared units.
    pub(super) area: f64,
    /// Length of all edges.
    pub(super) length: f64,
    /// The turn, in radians, that lays the smallest rectangle around the chart along the axes, its longer side along x.
    pub(super) level_angle: f64,
    /// Width of that rectangle, its longer side.
    pub(super) longer_side: f64,
    /// Height of that rectangle, its shorter side.
    pub(super) shorter_side: f64,
}

impl Outline {
    /// Finds the border of a chart. `index` is the chart's number, for the error.
    pub(super) fn new(chart: &FlatChart, index: usize) -> Result<Self, PackError> {
        if chart.uvs.iter().any(|u| !u.is_finite()) {
            return Err(PackError::NotFinite { chart: index });
        }
        let count = chart.uvs.len();
        if let Some(&corner) = chart
            .triangles
            .iter()
            .flatten()
            .find(|&&corner| corner as usize >= count)
        {
            return Err(PackError::NoSuchVertex {
                chart: index,
                corner,
                vertex_count: count,
            });
        }
        let low = chart
            .uvs
            .iter()
            .copied()
            .reduce(DVec2::min)
            .unwrap_or_default();
        let high = chart
            .uvs
            .iter()
            .copied()
            .reduce(DVec2::max)
            .unwrap_or_default();
        // Halves first: the sum of two huge coordinates may not be finite.
        let centre = 0.5 * low + 0.5 * high;
        let relative: Vec<DVec2> = chart.uvs.iter().map(|&u| u - centre).collect();
        let edges = border_edges(&relative, &chart.triangles);
        let radius = relative.iter().map(|u| u.length()).fold(0.0, f64::max);
        let length = edges
            .iter()
            .map(|e| e.ends[0].distance(e.ends[1]))
            .sum::<f64>();
        let area = chart.area();
        if !(radius.is_finite() && length.is_finite() && area.is_finite()) {
            return Err(PackError::NotFinite { chart: index });
        }
        let (level_angle, longer_side, shorter_side) = smallest_rectangle(&convex_hull(relative));
        Ok(Self {
            edges,
            centre,
            area,
            length,
            level_angle,
            longer_side,
            shorter_side,
        })
    }

    /// The lower left and upper right corner of the box around the chart when it is turned by `angle` radians about its
    /// centre, relative to that centre.
    pub(super) fn turned_box(&self, angle: f64) -> [DVec2; 2] {
        let turn = DVec2::from_angle(angle);
        let points = self
            .edges
            .iter()
            .flat_map(|e| e.ends.map(|u| turn.rotate(u)));
        let grow = |[low, high]: [DVec2; 2], point: DVec2| [low.min(point), high.max(point)];
        points
            .map(|p| [p, p])
            .reduce(|a, b| grow(grow(a, b[0]), b[1]))
            .unwrap_or_default()
    }
}

fn twice_area(uvs: &[DVec2], [a, b, c]: [u32; 3]) -> f64 {
    let origin = uvs[a as usize];
    (uvs[b as usize] - origin).perp_dot(uvs[c as usize] - origin)
}

/// The edges that do not cancel, those of triangles without area, and points for vertices of no triangle.
fn border_edges(uvs: &[DVec2], triangles: &[[u32; 3]]) -> Vec<BorderEdge> {
    let mut half_edges = Vec::with_capacity(3 * triangles.len());
    let mut edges = Vec::new();
    let mut used = vec![false; uvs.len()];
    let mut push = |from: u32, to: u32, count: i32| {
        let ends = [uvs[from as usize], uvs[to as usize]];
        edges.push(BorderEdge { ends, count });
    };
    for &[a, b, c] in triangles {
        let area = twice_area(uvs, [a, b, c]);
        let corners = if area < 0.0 { [a, c, b] } else { [a, b, c] };
        for side in 0..3 {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            used[from as usize] = true;
            if area == 0.0 {
                push(from, to, 0);
            }
            half_edges.push((from.min(to), from.max(to), if from < to { 1 } else { -1 }));
        }
    }
    half_edges.sort_unstable();
    for same in half_edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let count: i32 = same.iter().map(|h| h.2).sum();
        if count != 0 && same[0].0 != same[0].1 {
            push(same[0].0, same[0].1, count);
        }
    }
    for vertex in (0..uvs.len() as u32).filter(|&v| !used[v as usize]) {
        push(vertex, vertex, 0);
    }
    edges
}

/// Corners of the convex hull, anticlockwise, without those on its sides (Andrew's monotone chain).
fn convex_hull(mut points: Vec<DVec2>) -> Vec<DVec2> {
    points.sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut hull: Vec<DVec2> = Vec::new();
    let mut chain = |points: &mut dyn Iterator<Item = DVec2>| {
        let start = hull.len();
        for point in points {
            while hull.len() >= start + 2 {
                let [a, b] = [hull[hull.len() - 2], hull[hull.len() - 1]];
                if (b - a).perp_dot(point - b) > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(point);
        }
        hull.pop();
    };
    chain(&mut points.iter().copied());
    chain(&mut points.iter().rev().copied());
    hull
}

/// The turn that lays the smallest rectangle along the axes, and its longer and shorter side.
///
/// One side of the smallest rectangle lies along a side of the hull. Tries them all against all corners, up to a bound on
/// the sides: hulls of more are so round that every few sides give the same.
fn smallest_rectangle(hull: &[DVec2]) -> (f64, f64, f64) {
    const SIDES: usize = 256;
    let mut best = (f64::INFINITY, 0.0, 0.0, 0.0);
    let stride = hull.len().div_ceil(SIDES).max(1);
    for i in (0..hull.len()).step_by(stride) {
        let along = (hull[(i + 1) % hull.len()] - hull[i]).normalize_or_zero();
        if along == DVec2::ZERO {
            continue;
        }
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for &point in hull {
            let turned = DVec2::new(along.dot(point), along.perp_dot(point));
            (low, high) = (low.min(turned), high.max(turned));
        }
        let (width, height) = (high.x - low.x, high.y - low.y);
        if width * height < best.0 {
            let upright = if height > width {
                std::f64::consts::FRAC_PI_2
            } else {
                0.0
            };
            best = (
                width * height,
                -along.to_angle() + upright,
                width.max(height),
                width.min(height),
            );
        }
    }
    (best.1, best.2, best.3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(uvs: &[(f64, f64)], triangles: &[[u32; 3]]) -> Outline {
        let uvs = uvs.iter().map(|&(x, y)| DVec2::new(x, y)).collect();
        Outline::new(
            &FlatChart {
                uvs,
                triangles: triangles.to_vec(),
            },
            0,
        )
        .unwrap_or_default()
    }

    #[test]
    fn a_square_has_four_edges_however_its_triangles_turn() {
        let square = [(0., 0.), (2., 0.), (2., 1.), (0., 1.)];
        for triangles in [[[0, 1, 2], [0, 2, 3]], [[0, 2, 1], [0, 2, 3]]] {
            let outline = outline(&square, &triangles);
            assert_eq!(outline.edges.len(), 4, "edges of {triangles:?}");
            assert_eq!(
                (outline.area, outline.length),
                (2.0, 6.0),
                "area and length of {triangles:?}"
            );
        }
    }

    #[test]
    fn a_turned_rectangle_is_laid_level() {
        let turn = DVec2::from_angle(0.4);
        let corners = [(0., 0.), (1., 0.), (1., 3.), (0., 3.)]
            .map(|(x, y)| turn.rotate(DVec2::new(x, y)).into());
        let outline = outline(&corners, &[[0, 1, 2], [0, 2, 3]]);
        let [low, high] = outline.turned_box(outline.level_angle);
        assert!(
            (high - low).distance(DVec2::new(3.0, 1.0)) < 1e-12,
            "the box is {}",
            high - low
        );
        assert!(
            (outline.longer_side - 3.0).abs() < 1e-12,
            "its longer side is {}",
            outline.longer_side
        );
    }

    #[test]
    fn loose_vertices_and_flat_triangles_count() {
        let outline = outline(
            &[(0., 0.), (1., 0.), (2., 0.), (9., 9.)],
            &[[0, 1, 2], [0, 2, 1]],
        );
        assert_eq!(outline.edges.len(), 7, "six sides and a point");
        assert_eq!(outline.area, 0.0, "area");
    }
}
