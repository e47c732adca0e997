//! Whether shapes correspond to a mesh vertex by vertex: the same vertex order, unit of length and axes.
//!
//! Three signs are measured, all from the triangles of the rest mesh:
//!
//! - **Order.** A deformation moves the edges around a vertex nearly as a single matrix would, however much it bends,
//!   stretches or squashes. Vertices in another order land anywhere, which no matrix explains. The share of the edges'
//!   squared lengths that the best matrix does not explain is between 0 and 1; rings (the edges around a vertex) above
//!   one half are *torn*.
//! - **Unit.** Another unit scales every edge by the same factor in every shape. Squash and stretch does not.
//! - **Axes.** A quarter turn about x takes a shape onto the rest mesh, and without the turn no shape lies near it.
//!
//! The thresholds lie between values measured on correct sets (bodies, hands, tubes, cloth, horses, cats, faces and a
//! wolf; 14 shapes of each) and on the same sets made wrong:
//!
//! | sign | worst correct set | mildest wrong set | threshold |
//! | --- | ---: | ---: | ---: |
//! | share of torn rings | 0.008, a scanned face | 0.53 in another order; 0.19 with one vertex in twenty exchanged; 0.10 a face counted backwards | 0.05 |
//! | median of edge ratios | 0.93 and 1.07 | 2.54, centimetres for inches | 4, or 1% about a ratio of units |
//!
//! Not detected: an order that maps the surface onto itself, such as a regular tube counted from its other end; and any
//! order of a point cloud, which has no edges.

use glam::{DMat3, DVec3};

use super::{Aabb, TriMesh};

/// A ring is torn when the best matrix leaves more than this share of its edges' squares unexplained.
const TORN: f64 = 0.5;
/// A larger share of torn rings means another vertex order.
const MOST_TORN: f64 = 0.05;
/// Vertices with fewer neighbours are left out: a matrix explains any three edges.
const FEWEST_NEIGHBORS: usize = 5;
/// With fewer rings than this, no judgement is made.
const FEWEST_RINGS: usize = 12;
/// At most this many rings are measured, evenly spread over the vertices.
const MOST_RINGS: usize = 2000;
/// At most this many shapes are measured, evenly spread.
const MOST_SHAPES: usize = 24;
/// Edges longer or shorter by this factor, in every shape alike, mean another unit.
const OTHER_UNIT: f64 = 4.0;
/// A smaller factor must be this near to a ratio of units to count as one; 3, for example, is no such ratio.
const AT_UNIT: f64 = 0.01;
/// How near a factor must be to a ratio of units to be reported as that ratio.
const NEAR_UNIT: f64 = 0.08;
/// The largest ratio between the factors of two shapes in one unit.
const SAME_UNIT: f64 = 1.25;
/// A turned shape lies on the rest mesh when its distance is within this share of the size.
const ON_REST: f64 = 0.03;
/// Without the turn, the nearest shape must be farther from the rest mesh than this share of the size, and [`FARTHER`]
/// times as far as the turned one.
const OFF_REST: f64 = 0.05;
const FARTHER: f64 = 3.0;

/// Ratios of units in use: metre, centimetre, millimetre, inch, foot.
const UNITS: [f64; 9] = [
    2.54, 3.048, 3.280_84, 10.0, 12.0, 30.48, 39.370_08, 100.0, 1000.0,
];

/// Which way is up in the shapes, when it differs from the rest mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upright {
    /// Shapes are z up and their rest mesh is y up.
    ZInY,
    /// Shapes are y up and their rest mesh is z up.
    YInZ,
}

impl Upright {
    /// Turns a point of a shape into the axes of the rest mesh.
    pub fn turn(self, v: DVec3) -> DVec3 {
        match self {
            Self::ZInY => DVec3::new(v.x, v.z, -v.y),
            Self::YInZ => DVec3::new(v.x, -v.z, v.y),
        }
    }
}

/// Why shapes do not correspond to a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mismatch {
    /// The vertices are in another order, or belong to another mesh.
    Order {
        /// Share of torn vertices, whose edges no matrix explains; the median over shapes.
        torn: f64,
    },
    /// The shapes have another unit, other axes, or both.
    Space {
        /// How many times as long edges are in the shapes; 1 for the same unit.
        scale: f64,
        /// The axes of the shapes, when they differ.
        upright: Option<Upright>,
    },
}

/// Finds why shapes do not correspond to a mesh; `None` when no sign speaks against it.
///
/// Shapes equal to the rest mesh are ignored. Time grows with the size of the mesh, but hardly with the number of
/// shapes.
///
/// # Panics
/// When a shape has fewer vertices than the mesh.
pub fn find_mismatch(rest: &TriMesh, shapes: &[&[DVec3]]) -> Option<Mismatch> {
    let own = rest.positions();
    let moved: Vec<&[DVec3]> = shapes.iter().copied().filter(|s| *s != own).collect();
    let chosen = spread(moved.len(), MOST_SHAPES).map(|k| moved[k]);
    let rings = Rings::new(rest);
    let measured: Vec<RingMeasures> = chosen
        .filter_map(|shape| rings.measure(own, shape))
        .collect();
    if measured.is_empty() {
        return find_turn(own, &moved, 1.0).map(|upright| Mismatch::Space {
            scale: 1.0,
            upright: Some(upright),
        });
    }
    let torn = median(measured.iter().map(|s| s.torn).collect());
    if torn > MOST_TORN {
        return Some(Mismatch::Order { torn });
    }
    let scale = other_unit(&measured).unwrap_or(1.0);
    let upright = find_turn(own, &moved, scale);
    (scale != 1.0 || upright.is_some()).then_some(Mismatch::Space { scale, upright })
}

/// The ratio of units nearest to a factor, when one is near; else the factor itself.
pub fn nearest_unit(factor: f64) -> f64 {
    let ratios = UNITS.into_iter().flat_map(|unit| [unit, 1.0 / unit]);
    let apart = |ratio: &f64| (factor / ratio).ln().abs();
    let nearest = ratios.min_by(|a, b| apart(a).total_cmp(&apart(b)));
    nearest
        .filter(|ratio| apart(ratio) < NEAR_UNIT)
        .unwrap_or(factor)
}

/// At most `most` numbers from 0 up to `count`, evenly spread.
fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(most);
    (0..taken).map(move |n| n * count / taken.max(1))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    let half = numbers.len() / 2;
    *numbers.select_nth_unstable_by(half, f64::total_cmp).1
}

/// Measures of one shape over all rings.
struct RingMeasures {
    torn: f64,
    /// Median over edges of their length divided by their length at rest.
    scale: f64,
}

/// Vertices with their neighbours.
struct Rings {
    rings: Vec<(u32, Vec<u32>)>,
}

impl Rings {
    fn new(mesh: &TriMesh) -> Self {
        let topology = super::Topology::new(mesh.vertex_count(), mesh.triangles());
        let has_enough = |v: &u32| topology.neighbors(*v as usize).len() >= FEWEST_NEIGHBORS;
        let all: Vec<u32> = (0..mesh.vertex_count() as u32).filter(has_enough).collect();
        let chosen = spread(all.len(), MOST_RINGS).map(|n| all[n]);
        Self {
            rings: chosen
                .map(|v| (v, topology.neighbors(v as usize).to_vec()))
                .collect(),
        }
    }

    /// `None` when there are too few rings.
    fn measure(&self, rest: &[DVec3], shape: &[DVec3]) -> Option<RingMeasures> {
        let (mut torn, mut count) = (0, 0);
        let mut ratios = Vec::with_capacity(6 * self.rings.len());
        for (center, ring) in &self.rings {
            let edges = |at: &[DVec3]| -> Vec<DVec3> {
                let center = at[*center as usize];
                ring.iter().map(|&v| at[v as usize] - center).collect()
            };
            let (before, after) = (edges(rest), edges(shape));
            let Some(unexplained) = unexplained_share(&before, &after) else {
                continue;
            };
            count += 1;
            torn += usize::from(unexplained > TORN);
            let pairs = before.iter().zip(&after);
            let pairs = pairs.map(|(a, b)| (a.length(), b.length()));
            ratios.extend(pairs.filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a));
        }
        (count >= FEWEST_RINGS && !ratios.is_empty()).then(|| RingMeasures {
            torn: torn as f64 / count as f64,
            scale: median(ratios),
        })
    }
}

/// The share of the squared lengths of the edges `after` that the best matrix from the edges `before` leaves
/// unexplained.
///
/// `None` where all edges before or all edges after have no length.
fn unexplained_share(before: &[DVec3], after: &[DVec3]) -> Option<f64> {
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let pairs = before.iter().zip(after);
    let (own, mixed) = pairs.fold((DMat3::ZERO, DMat3::ZERO), |(own, mixed), (a, b)| {
        (own + outer(*a, *a), mixed + outer(*b, *a))
    });
    let squares = |edges: &[DVec3]| edges.iter().map(|e| e.length_squared()).sum::<f64>();
    let (at_rest, there) = (squares(before), squares(after));
    if !(at_rest > 0.0 && there > 0.0 && (at_rest * there).is_finite()) {
        return None;
    }
    // Rings are nearly flat: without this term, small heights above the plane could give a large matrix.
    let held = own + DMat3::from_diagonal(DVec3::splat(0.02 * at_rest));
    let best = mixed * held.inverse();
    let explained: f64 = (0..3).map(|c| best.col(c).dot(mixed.col(c))).sum();
    Some(1.0 - explained / there)
}

/// The factor of another unit, when all shapes agree on it.
fn other_unit(measured: &[RingMeasures]) -> Option<f64> {
    let scale = median(measured.iter().map(|s| s.scale).collect());
    if scale <= 0.0 || !scale.is_finite() {
        return None;
    }
    let farthest = measured
        .iter()
        .map(|s| (s.scale / scale).max(scale / s.scale));
    let farthest = farthest.fold(1.0, f64::max);
    let unit = nearest_unit(scale);
    let is_ratio =
        unit != scale && (scale / unit - 1.0).abs() < AT_UNIT && farthest < 1.0 + AT_UNIT;
    let is_far = !(1.0 / OTHER_UNIT..=OTHER_UNIT).contains(&scale) && farthest < SAME_UNIT;
    (is_ratio || is_far).then_some(unit)
}

/// The quarter turn that takes a shape onto the rest mesh, when no shape lies near it without the turn.
fn find_turn(rest: &[DVec3], shapes: &[&[DVec3]], scale: f64) -> Option<Upright> {
    let size = Aabb::of(rest)?.diagonal();
    let center = |at: &[DVec3]| at.iter().sum::<DVec3>() / at.len() as f64;
    let at_rest = center(rest);
    let nearest = |turn: &dyn Fn(DVec3) -> DVec3| {
        let distance = |shape: &&[DVec3]| {
            let there = center(shape);
            let pairs = rest.iter().zip(*shape);
            let squares = pairs.map(|(a, b)| {
                let turned = turn(*b - there) / scale;
                (*a - at_rest).distance_squared(turned)
            });
            (squares.sum::<f64>() / rest.len() as f64).sqrt()
        };
        let distances = shapes.iter().map(distance);
        distances.fold(f64::INFINITY, f64::min) / size
    };
    let unturned = nearest(&|v| v);
    if shapes.is_empty() || size <= 0.0 || unturned < OFF_REST {
        return None;
    }
    let most = ON_REST.min(unturned / FARTHER);
    [Upright::ZInY, Upright::YInZ]
        .into_iter()
        .find(|upright| nearest(&|v| upright.turn(v)) < most)
}

/// Finds the order of a shape's vertices by position: for each vertex of the mesh, the nearest vertex of the shape.
/// `None` unless each vertex of the shape is the nearest to exactly one.
pub fn order_by_place(rest: &[DVec3], shape: &[DVec3]) -> Option<Vec<u32>> {
    if rest.len() != shape.len() {
        return None;
    }
    let mut by_x: Vec<u32> = (0..shape.len() as u32).collect();
    by_x.sort_by(|&a, &b| shape[a as usize].x.total_cmp(&shape[b as usize].x));
    let mut is_taken = vec![false; shape.len()];
    let mut order = Vec::with_capacity(rest.len());
    for &point in rest {
        let found = nearest_by_x(&by_x, shape, point)?;
        if std::mem::replace(&mut is_taken[found as usize], true) {
            return None;
        }
        order.push(found);
    }
    Some(order)
}

/// The single nearest point of a list that is sorted by x; `None` when two are equally near.
fn nearest_by_x(by_x: &[u32], points: &[DVec3], to: DVec3) -> Option<u32> {
    let x = |n: usize| points[by_x[n] as usize].x;
    let start = by_x.partition_point(|&v| points[v as usize].x < to.x);
    let (mut low, mut high) = (start, start);
    let (mut best, mut found, mut is_only) = (f64::INFINITY, None, true);
    loop {
        let left = (low > 0).then(|| to.x - x(low - 1));
        let right = (high < by_x.len()).then(|| x(high) - to.x);
        let goes_left = match (left, right) {
            (Some(l), Some(r)) => l <= r,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => break,
        };
        if left.into_iter().chain(right).fold(f64::INFINITY, f64::min) > best {
            break;
        }
        let at = if goes_left {
            low -= 1;
            low
        } else {
            high += 1;
            high - 1
        };
        let distance = points[by_x[at] as usize].distance(to);
        if distance <= best {
            is_only = distance < best;
            (best, found) = (distance, Some(by_x[at]));
        }
    }
    found.filter(|_| is_only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Tube, TubeOptions, tube};

    fn bent() -> Tube {
        tube(&TubeOptions {
            ring_count: 24,
            segment_count: 12,
            bone_count: 3,
            example_count: 8,
        })
    }

    fn mismatch(tube: &Tube, change: impl Fn(usize, &[DVec3]) -> Vec<DVec3>) -> Option<Mismatch> {
        let examples = tube.examples.examples().iter().enumerate();
        let changed: Vec<Vec<DVec3>> = examples.map(|(k, e)| change(k, &e.positions)).collect();
        let shapes: Vec<&[DVec3]> = changed.iter().map(Vec::as_slice).collect();
        find_mismatch(tube.examples.rest(), &shapes)
    }

    fn scaled(shape: &[DVec3], by: DVec3) -> Vec<DVec3> {
        shape.iter().map(|v| *v * by).collect()
    }

    /// A permutation without a pattern: steps by a number that has no divisor in common with the count.
    fn shuffled(shape: &[DVec3]) -> Vec<DVec3> {
        let count = shape.len();
        (0..count).map(|i| shape[(i * 131 + 17) % count]).collect()
    }

    #[test]
    fn a_bent_tube_is_a_shape_of_its_mesh() {
        assert_eq!(
            mismatch(&bent(), |_, shape| shape.to_vec()),
            None,
            "a bent tube corresponds"
        );
    }

    #[test]
    fn squash_stretch_and_growth_are_accepted_as_motion() {
        let tube = bent();
        let squash = |k: usize| 1.0 + 2.0 * (k as f64 / 7.0);
        let found = mismatch(&tube, |k, shape| {
            let along = squash(k);
            scaled(shape, DVec3::new(along, along.powf(-0.5), along.powf(-0.5)))
        });
        assert_eq!(found, None, "long and thin, with its volume");
        let found = mismatch(&tube, |k, shape| scaled(shape, DVec3::splat(squash(k))));
        assert_eq!(found, None, "growing from shape to shape");
        let found = mismatch(&tube, |_, shape| scaled(shape, DVec3::splat(3.0)));
        assert_eq!(
            found, None,
            "three times as large, which is no ratio of units"
        );
        let found = mismatch(&tube, |k, shape| {
            scaled(shape, DVec3::splat(100f64.powf(k as f64 / 7.0)))
        });
        assert_eq!(found, None, "grown out of a point");
    }

    #[test]
    fn other_units_are_named_by_their_ratio() {
        let tube = bent();
        for factor in [100.0, 0.01, 39.370_08, 2.54, 1.0 / 2.54, 17.0] {
            let found = mismatch(&tube, |_, shape| {
                scaled(shape, DVec3::splat(factor * 1.001))
            });
            let Some(Mismatch::Space { scale, upright }) = found else {
                panic!("{factor}: {found:?}");
            };
            assert!((scale / factor - 1.0).abs() < 2e-3, "{factor}: {scale}");
            assert_eq!(upright, None, "only the unit");
        }
    }

    #[test]
    fn another_vertex_order_is_detected_and_restored_by_position() {
        let tube = bent();
        let found = mismatch(&tube, |_, shape| shuffled(shape));
        let torn = match found {
            Some(Mismatch::Order { torn }) => torn,
            other => panic!("{other:?}"),
        };
        assert!(torn > 0.5, "{torn}");
        let rest = tube.examples.rest().positions();
        let mixed = shuffled(rest);
        let order = order_by_place(rest, &mixed).expect("all places differ");
        let ordered: Vec<DVec3> = order.iter().map(|&v| mixed[v as usize]).collect();
        assert_eq!(ordered, rest, "the original order");
        let mut double = mixed.clone();
        double[3] = double[8];
        assert_eq!(order_by_place(rest, &double), None, "two in one place");
    }

    #[test]
    fn a_quarter_turn_onto_the_rest_mesh_is_other_axes() {
        let tube = bent();
        // Without the motion, so that a shape lies on the rest mesh; its sides differ.
        let rest = tube.examples.rest().clone();
        let sides = DVec3::new(1.0, 3.0, 0.5);
        let flat = rest
            .with_positions(scaled(rest.positions(), sides))
            .expect("finite");
        let turned = |scale: f64| -> Vec<DVec3> {
            let points = flat.positions().iter();
            points.map(|v| scale * DVec3::new(v.x, -v.z, v.y)).collect()
        };
        for scale in [1.0, 100.0] {
            let shape = turned(scale);
            let found = find_mismatch(&flat, &[&shape]);
            let expected = Mismatch::Space {
                scale,
                upright: Some(Upright::ZInY),
            };
            assert_eq!(
                found,
                Some(expected),
                "z up in y up, {scale} times as large"
            );
            let moving = [&shape[..], flat.positions(), &shape[..]];
            assert_eq!(
                find_mismatch(&flat, &moving),
                Some(expected),
                "the rest mesh itself is ignored"
            );
        }
        let mut near = flat.positions().to_vec();
        near[0].x += 1e-3;
        let shapes = [turned(1.0), near];
        let shapes: Vec<&[DVec3]> = shapes.iter().map(Vec::as_slice).collect();
        assert_eq!(
            find_mismatch(&flat, &shapes),
            None,
            "one shape has the axes of the rest mesh"
        );
    }

    #[test]
    fn points_without_triangles_and_single_triangles_pass() {
        let cloud = TriMesh::new(bent().examples.rest().positions().to_vec(), Vec::new());
        let cloud = cloud.expect("finite");
        let other = scaled(cloud.positions(), DVec3::splat(100.0));
        assert_eq!(find_mismatch(&cloud, &[&other]), None, "no edges");
        assert_eq!(find_mismatch(&cloud, &[]), None, "no shapes");
        let empty = TriMesh::default();
        assert_eq!(find_mismatch(&empty, &[&[]]), None, "no points");
    }
}
