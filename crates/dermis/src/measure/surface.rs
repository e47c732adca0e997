//! Distance from points to a surface.
//!
//! Tools that compare scans measure to the nearest point of the other surface, which ignores sliding along
//! it. The thesis's table of skinning errors (\[Merry07\] Table 8.2) is of that kind;
//! [`Measures`](super::Measures) compare vertex with vertex, which never gives less.

use glam::DVec3;
use serde::Serialize;

use crate::example::ExampleSet;
use crate::par;
use crate::skin::SkinError;

/// Triangles in a box at the end of the tree.
const LEAF: usize = 6;

/// A surface made ready for distances: a tree of boxes around its triangles.
///
/// Cost: O(T log T) to make for T triangles; about O(log T) for each point near the surface.
#[derive(Debug)]
pub struct SurfaceDistance {
    triangles: Vec<[DVec3; 3]>,
    boxes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    min: DVec3,
    max: DVec3,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// A range of triangles.
    Triangles(usize, usize),
    /// Numbers of two further boxes.
    Boxes(usize, usize),
}

impl SurfaceDistance {
    /// Sorts the triangles of a mesh into boxes.
    ///
    /// # Panics
    /// When a triangle names a vertex that does not exist.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let mut corners: Vec<[DVec3; 3]> = triangles
            .iter()
            .map(|triangle| triangle.map(|i| positions[i as usize]))
            .collect();
        let mut boxes = Vec::new();
        if !corners.is_empty() {
            let count = corners.len();
            split(&mut corners, 0, count, &mut boxes);
        }
        Self {
            triangles: corners,
            boxes,
        }
    }

    /// Distance of a point from the surface; infinite when there is no triangle.
    pub fn distance(&self, point: DVec3) -> f64 {
        let mut best = f64::INFINITY;
        let mut stack = Vec::with_capacity(32);
        if !self.boxes.is_empty() {
            stack.push((self.box_distance(0, point), 0));
        }
        while let Some((near, at)) = stack.pop() {
            if near >= best {
                continue;
            }
            match self.boxes[at].content {
                Content::Triangles(from, to) => {
                    for triangle in &self.triangles[from..to] {
                        best = best.min(closest_point(triangle, point).distance_squared(point));
                    }
                }
                Content::Boxes(a, b) => {
                    let (da, db) = (self.box_distance(a, point), self.box_distance(b, point));
                    // The nearer box last, so that it is looked at first.
                    let order = if da < db {
                        [(db, b), (da, a)]
                    } else {
                        [(da, a), (db, b)]
                    };
                    stack.extend(order);
                }
            }
        }
        best.sqrt()
    }

    /// Distances of several points, on all threads.
    pub fn distances(&self, points: &[DVec3]) -> Vec<f64> {
        par::map(points.len(), |i| self.distance(points[i]))
    }

    /// Squared distance of a point from a box.
    fn box_distance(&self, at: usize, point: DVec3) -> f64 {
        let node = &self.boxes[at];
        point.clamp(node.min, node.max).distance_squared(point)
    }
}

/// How far predicted vertices are from the examples' surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SurfaceMeasures {
    /// How many examples were measured.
    pub example_count: usize,
    /// Mean distance over the rest box's diagonal.
    pub mean_distance: f64,
    /// Largest distance over the rest box's diagonal.
    pub max_distance: f64,
}

/// Measures predictions of some examples against the examples' surfaces.
///
/// # Errors
/// Errors of `predict`.
///
/// # Panics
/// When `which` names an example that does not exist.
pub fn measure_surface(
    set: &ExampleSet,
    which: &[usize],
    predict: impl Fn(usize) -> Result<Vec<DVec3>, SkinError> + Sync + Send,
) -> Result<SurfaceMeasures, SkinError> {
    let (mut sum, mut largest, mut count) = (0.0, 0.0_f64, 0);
    for &k in which {
        let surface = SurfaceDistance::new(&set.examples()[k].positions, set.rest().triangles());
        let distances = surface.distances(&predict(k)?);
        count += distances.len();
        sum += distances.iter().sum::<f64>();
        largest = distances.into_iter().fold(largest, f64::max);
    }
    let diagonal = set.size();
    Ok(SurfaceMeasures {
        example_count: which.len(),
        mean_distance: sum / count.max(1) as f64 / diagonal,
        max_distance: largest / diagonal,
    })
}

/// Puts triangles `from..to` into a box, halved along its longest side until few are left; returns
/// the number of the box.
fn split(triangles: &mut [[DVec3; 3]], from: usize, to: usize, boxes: &mut Vec<Node>) -> usize {
    let all = triangles[from..to].iter().flatten();
    let min = all.clone().copied().fold(DVec3::INFINITY, DVec3::min);
    let max = all.copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let at = boxes.len();
    boxes.push(Node {
        min,
        max,
        content: Content::Triangles(from, to),
    });
    if to - from > LEAF {
        let size = max - min;
        let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        let key = |triangle: &[DVec3; 3]| triangle.iter().map(|p| p[axis]).sum::<f64>();
        let middle = (from + to) / 2;
        triangles[from..to].select_nth_unstable_by(middle - from, |a, b| key(a).total_cmp(&key(b)));
        let a = split(triangles, from, middle, boxes);
        let b = split(triangles, middle, to, boxes);
        boxes[at].content = Content::Boxes(a, b);
    }
    at
}

/// The point of a triangle that is nearest to another point.
///
/// Goes through the regions around the triangle: corners, sides, inside (\[Ericson05\] §5.1.5).
fn closest_point([a, b, c]: &[DVec3; 3], p: DVec3) -> DVec3 {
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return *a + ab * (d1 / (d1 - d3));
    }
    let cp = p - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return *a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return *b + (*c - *b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let inside = 1.0 / (va + vb + vc);
    let nearest = *a + ab * (vb * inside) + ac * (vc * inside);
    // A triangle without area has no inside; its corners are within rounding of all of it.
    if nearest.is_finite() { nearest } else { *a }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grid() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let side = 7_u32;
        let at =
            |x: u32, y: u32| DVec3::new(f64::from(x), f64::from(y), (0.7 * f64::from(x * y)).sin());
        let positions = (0..side * side).map(|n| at(n % side, n / side)).collect();
        let triangles = (0..side - 1)
            .flat_map(|y| (0..side - 1).map(move |x| y * side + x))
            .flat_map(|n| [[n, n + 1, n + side], [n + 1, n + side + 1, n + side]])
            .collect();
        (positions, triangles)
    }

    proptest! {
        #[test]
        fn no_point_of_any_triangle_is_nearer(point in prop::array::uniform3(-3.0..9.0f64)) {
            let point = DVec3::from_array(point);
            let (positions, triangles) = grid();
            let found = SurfaceDistance::new(&positions, &triangles).distance(point);
            let mut nearest = f64::INFINITY;
            for triangle in &triangles {
                let [a, b, c] = triangle.map(|i| positions[i as usize]);
                for u in 0..=40 {
                    for v in 0..=(40 - u) {
                        let (u, v) = (f64::from(u) / 40.0, f64::from(v) / 40.0);
                        nearest = nearest.min((a + u * (b - a) + v * (c - a)).distance(point));
                    }
                }
            }
            // Samples are at most a fortieth of an edge from the nearest point.
            prop_assert!(found <= nearest + 1e-12, "{found} against {nearest}");
            prop_assert!(found >= nearest - 0.05, "{found} against {nearest}");
        }
    }

    #[test]
    fn a_point_on_the_surface_has_distance_zero_and_a_mesh_without_triangles_is_infinitely_far() {
        let (positions, triangles) = grid();
        let surface = SurfaceDistance::new(&positions, &triangles);
        assert!(
            surface.distances(&positions).iter().all(|d| *d < 1e-12),
            "vertices lie on it"
        );
        assert_eq!(
            SurfaceDistance::new(&[], &[]).distance(DVec3::ZERO),
            f64::INFINITY,
            "no surface"
        );
    }
}
