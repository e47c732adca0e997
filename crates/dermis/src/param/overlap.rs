//! Whether a flat chart overlaps itself.
//!
//! A disc whose triangles are all anticlockwise is laid out without overlap if and only if its border does not touch
//! itself: then every point inside is covered as often as the border winds about it, once. So only border edges are
//! compared, along a tree of boxes over consecutive edges, with exact orientations (Shewchuk's, crate `robust`):
//! about `n log n` for borders that do not run close to themselves everywhere.

use glam::DVec2;
use robust::{Coord, orient2d};

/// Twice the signed area of three points, with the right sign always.
pub(crate) fn orientation(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    orient2d(coord(a), coord(b), coord(c))
}

/// The first triangle that is not anticlockwise.
pub(crate) fn first_flip(triangles: &[[u32; 3]], uvs: &[DVec2]) -> Option<usize> {
    triangles.iter().position(|corners| {
        let [a, b, c] = corners.map(|vertex| uvs[vertex as usize]);
        orientation(a, b, c) <= 0.0
    })
}

/// Whether a layout without flips winds once about each inner vertex, and not twice or more.
///
/// Angles about inner vertices are whole turns, so by the theorem of Gauss and Bonnet the border turns once altogether
/// unless some wind more often. Only triangles at the border need be read.
pub(crate) fn winds_once(triangles: &[[u32; 3]], border: &[u32], uvs: &[DVec2]) -> bool {
    let mut on_border = vec![false; uvs.len()];
    for &vertex in border {
        on_border[vertex as usize] = true;
    }
    let mut turn = std::f64::consts::PI * border.len() as f64;
    for corners in triangles {
        for k in 0..3 {
            if on_border[corners[k] as usize] {
                let [at, next, last] = [0, 1, 2].map(|c| uvs[corners[(k + c) % 3] as usize]);
                turn -= (next - at).angle_to(last - at).abs();
            }
        }
    }
    (turn - std::f64::consts::TAU).abs() < std::f64::consts::PI
}

/// Two edges of the border that cross or touch, as positions in the loop where they begin, the lesser first; none if
/// the border is simple.
pub(crate) fn border_crossing(border: &[u32], uvs: &[DVec2]) -> Option<(usize, usize)> {
    let points: Vec<DVec2> = border.iter().map(|&vertex| uvs[vertex as usize]).collect();
    if points.len() < 3 {
        return None;
    }
    let tree = BoxTree::new(&points);
    tree.crossing_within(0, points.len(), 1)
}

/// A box with sides along the axes.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: DVec2,
    high: DVec2,
}

impl Bounds {
    fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// Boxes of ranges of border edges: node `k` has children `2k` and `2k + 1`, which halve its range.
struct BoxTree<'a> {
    points: &'a [DVec2],
    boxes: Vec<Bounds>,
}

impl<'a> BoxTree<'a> {
    fn new(points: &'a [DVec2]) -> Self {
        let empty = Bounds {
            low: DVec2::INFINITY,
            high: DVec2::NEG_INFINITY,
        };
        let boxes = vec![empty; 2 * points.len().next_power_of_two()];
        let mut tree = Self { points, boxes };
        tree.fill(0, points.len(), 1);
        tree
    }

    fn fill(&mut self, from: usize, to: usize, node: usize) -> Bounds {
        let bounds = if to - from == 1 {
            let (a, b) = self.edge(from);
            Bounds {
                low: a.min(b),
                high: a.max(b),
            }
        } else {
            let middle = from.midpoint(to);
            let left = self.fill(from, middle, 2 * node);
            let right = self.fill(middle, to, 2 * node + 1);
            Bounds {
                low: left.low.min(right.low),
                high: left.high.max(right.high),
            }
        };
        self.boxes[node] = bounds;
        bounds
    }

    fn edge(&self, at: usize) -> (DVec2, DVec2) {
        (self.points[at], self.points[(at + 1) % self.points.len()])
    }

    fn crossing_within(&self, from: usize, to: usize, node: usize) -> Option<(usize, usize)> {
        if to - from == 1 {
            return None;
        }
        let middle = from.midpoint(to);
        let (left, right) = ((from, middle, 2 * node), (middle, to, 2 * node + 1));
        self.crossing_within(left.0, left.1, left.2)
            .or_else(|| self.crossing_within(right.0, right.1, right.2))
            .or_else(|| self.crossing_between(left, right))
    }

    /// Ranges are `(from, to, node)`, the first before the second.
    fn crossing_between(
        &self,
        a: (usize, usize, usize),
        b: (usize, usize, usize),
    ) -> Option<(usize, usize)> {
        if !self.boxes[a.2].meets(&self.boxes[b.2]) {
            return None;
        }
        let halves = |(from, to, node): (usize, usize, usize)| {
            let middle = from.midpoint(to);
            [(from, middle, 2 * node), (middle, to, 2 * node + 1)]
        };
        let (length_a, length_b) = (a.1 - a.0, b.1 - b.0);
        if length_a == 1 && length_b == 1 {
            return self.touch(a.0, b.0).then_some((a.0, b.0));
        }
        if length_a >= length_b {
            let [first, second] = halves(a);
            self.crossing_between(first, b)
                .or_else(|| self.crossing_between(second, b))
        } else {
            let [first, second] = halves(b);
            self.crossing_between(a, first)
                .or_else(|| self.crossing_between(a, second))
        }
    }

    /// Whether two edges have a point in common other than the end they share as neighbours.
    fn touch(&self, i: usize, j: usize) -> bool {
        let count = self.points.len();
        let ((a, b), (c, d)) = (self.edge(i), self.edge(j));
        if (i + 1) % count == j {
            return folds_back(a, b, d);
        }
        if (j + 1) % count == i {
            return folds_back(c, d, b);
        }
        segments_meet(a, b, c, d)
    }
}

/// Whether the path turns round on the spot at `b`.
fn folds_back(a: DVec2, b: DVec2, c: DVec2) -> bool {
    a == b || b == c || (orientation(a, b, c) == 0.0 && (a - b).dot(c - b) > 0.0)
}

fn segments_meet(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    let side = |p, q, r| -> i32 {
        let turn = orientation(p, q, r);
        i32::from(turn > 0.0) - i32::from(turn < 0.0)
    };
    let (c_side, d_side) = (side(a, b, c), side(a, b, d));
    let (a_side, b_side) = (side(c, d, a), side(c, d, b));
    if [a_side, b_side, c_side, d_side] == [0; 4] {
        // On one line: the boxes decide.
        let first = Bounds {
            low: a.min(b),
            high: a.max(b),
        };
        let second = Bounds {
            low: c.min(d),
            high: c.max(d),
        };
        return first.meets(&second);
    }
    c_side * d_side <= 0 && a_side * b_side <= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::shapes::Chance;

    fn crossing(points: &[(f64, f64)]) -> Option<(usize, usize)> {
        let uvs: Vec<DVec2> = points.iter().map(|&(u, v)| DVec2::new(u, v)).collect();
        let border: Vec<u32> = (0..points.len() as u32).collect();
        border_crossing(&border, &uvs)
    }

    #[test]
    fn simple_borders_do_not_cross() {
        assert_eq!(crossing(&[(0., 0.), (1., 0.), (0., 1.)]), None, "triangle");
        let ell = [(0., 0.), (2., 0.), (2., 1.), (1., 1.), (1., 2.), (0., 2.)];
        assert_eq!(crossing(&ell), None, "L");
        let straight = [(0., 0.), (1., 0.), (2., 0.), (2., 1.), (1., 1.), (0., 1.)];
        assert_eq!(crossing(&straight), None, "points along straight sides");
    }

    #[test]
    fn crossings_and_touches_are_found() {
        let eight = [(0., 0.), (1., 1.), (1., 0.), (0., 1.)];
        assert_eq!(crossing(&eight), Some((0, 2)), "figure of eight");
        let spike = [(0., 0.), (2., 0.), (2., 2.), (1., 0.), (0., 2.)];
        assert!(crossing(&spike).is_some(), "a tip on the opposite side");
        let folded = [(0., 0.), (2., 0.), (1., 0.), (0., 1.)];
        assert_eq!(crossing(&folded), Some((0, 1)), "back along itself");
    }

    #[test]
    fn a_fan_of_two_turns_is_told_from_one_of_one() {
        for (turns, once) in [(1.0, true), (2.0, false)] {
            let angle = |k: u32| std::f64::consts::TAU * turns * f64::from(k) / 12.0;
            let mut uvs: Vec<DVec2> = (0..12).map(|k| DVec2::from_angle(angle(k))).collect();
            uvs.push(DVec2::ZERO);
            let fan: Vec<[u32; 3]> = (0..12).map(|k| [12, k, (k + 1) % 12]).collect();
            let border: Vec<u32> = (0..12).collect();
            assert_eq!(first_flip(&fan, &uvs), None, "{turns} turns: no flips");
            assert_eq!(winds_once(&fan, &border, &uvs), once, "{turns} turns");
        }
    }

    #[test]
    fn a_touch_is_told_from_a_gap_of_one_rounding() {
        let near = |height: f64| [(0., 0.), (3., 0.1), (3., 2.), (1.5, height), (0., 2.)];
        let on_line = 0.5 * 0.1;
        assert!(crossing(&near(on_line)).is_some(), "on the line");
        assert_eq!(crossing(&near(on_line * (1.0 + 1e-15))), None, "above it");
        assert!(crossing(&near(on_line * (1.0 - 1e-15))).is_some(), "below");
    }

    #[test]
    fn the_tree_agrees_with_all_pairs() {
        let mut chance = Chance::new(4);
        let (mut simple, mut crossed) = (0, 0);
        for case in 0..400 {
            let count = 4 + case % 40;
            let points: Vec<DVec2> = (0..count)
                .map(|k| {
                    let angle = std::f64::consts::TAU * k as f64 / count as f64;
                    let wobble = DVec2::new(chance.signed(), chance.signed());
                    DVec2::from_angle(angle) + 5.0 / count as f64 * wobble
                })
                .collect();
            let border: Vec<u32> = (0..count as u32).collect();
            let tree = BoxTree::new(&points);
            let naive = (0..count).any(|j| (0..j).any(|i| tree.touch(i, j)));
            let found = border_crossing(&border, &points);
            assert_eq!(found.is_some(), naive, "case {case}");
            if let Some((i, j)) = found {
                assert!(i < j && tree.touch(i, j), "case {case}: {i} {j}");
                crossed += 1;
            } else {
                simple += 1;
            }
        }
        assert!(
            simple > 50 && crossed > 50,
            "both occur: {simple} {crossed}"
        );
    }
}
