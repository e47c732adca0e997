//! A bound for every legal pose: no point of the given surface is farther from a level than this.
//!
//! A triangle of the given surface and one triangle of the level: give each corner of the first a foot on the second, the
//! same in every pose. Between corners the difference is linear, and a norm is convex, so the farthest corner bounds every
//! point between. Each corner's distance is bounded over all legal poses by `|s|₂,∞` ([`SkinBounds`]). Where the corners
//! of a triangle belong to several triangles of the level, one of them is too far for some corner; then the triangle is cut
//! in four. No texture is needed, and nothing adds up over the steps of the simplification.

use super::feet::{Foot, LevelSurface};
use super::lanes::{Lanes3, lerp3};
use crate::bounds::SkinBounds;
use crate::metric::AnimationVector;
use crate::par;
use crate::skin::Influence;

/// How often a triangle is cut in four.
const DEEPEST: usize = 4;
/// A bound this near to that of the farthest vertex, which no cutting lowers, is good enough.
const NEAR_ENOUGH: f64 = 1.02;

/// The given surface: what a level is measured from.
pub(super) struct GivenSurface<'a> {
    pub(super) faces: &'a [[u32; 3]],
    pub(super) positions: &'a [Lanes3],
    pub(super) rows: &'a [Vec<Influence>],
    /// The level's point that each point went to.
    pub(super) went_to: &'a [u32],
}

/// A corner of a piece of a given triangle.
#[derive(Clone)]
struct Corner {
    row: Vec<Influence>,
    positions: Lanes3,
    start: u32,
}

/// No point of the given surface is farther from the level than this, in any pose that the bounds allow.
pub(super) fn certify(
    given: &GivenSurface<'_>,
    level: &LevelSurface<'_>,
    level_rows: &[Vec<Influence>],
    bounds: &SkinBounds<'_>,
) -> f64 {
    let has_vanished = |p: &u32| given.went_to[*p as usize] == u32::MAX;
    if given.faces.iter().flatten().any(has_vanished) {
        return f64::INFINITY;
    }
    let judge = Judge {
        level,
        rows: level_rows,
        bounds,
    };
    let corner = |p: u32| Corner {
        row: given.rows[p as usize].clone(),
        positions: given.positions[p as usize],
        start: given.went_to[p as usize],
    };
    let mut is_used = vec![false; given.positions.len()];
    for &p in given.faces.iter().flatten() {
        is_used[p as usize] = true;
    }
    let of_vertices = par::map(given.positions.len(), |i| match is_used[i] {
        true => judge.distance(&corner(i as u32)),
        false => 0.0,
    });
    let least = of_vertices.iter().copied().fold(0.0, f64::max);
    let enough = NEAR_ENOUGH * least;
    let of_faces = par::map(given.faces.len(), |f| {
        judge.bound(&given.faces[f].map(corner), enough, DEEPEST)
    });
    of_faces.into_iter().fold(least, f64::max)
}

struct Judge<'a> {
    level: &'a LevelSurface<'a>,
    rows: &'a [Vec<Influence>],
    bounds: &'a SkinBounds<'a>,
}

impl Judge<'_> {
    /// How far a point can be from its nearest foot.
    fn distance(&self, corner: &Corner) -> f64 {
        let foot = self.level.nearest(&corner.positions, corner.start);
        foot.map_or(f64::INFINITY, |foot| self.apart(&corner.row, &foot))
    }

    /// `|x − foot|₂,∞`.
    fn apart(&self, row: &[Influence], foot: &Foot) -> f64 {
        let corners = self.level.faces[foot.face as usize];
        let feet = corners.into_iter().zip(foot.weights);
        let feet = feet.map(|(p, w)| (-w, &self.rows[p as usize][..]));
        let terms = std::iter::once((1.0, row)).chain(feet);
        self.bounds
            .norm(AnimationVector::combination(terms).terms())
    }

    /// A bound for all points of a triangle.
    fn bound(&self, corners: &[Corner; 3], enough: f64, deeper: usize) -> f64 {
        let mut best = f64::INFINITY;
        let mut tried = Vec::with_capacity(4);
        let nearest = |corner: &Corner| self.level.nearest(&corner.positions, corner.start);
        let middle = self.blend(corners, [1.0 / 3.0; 3]);
        for foot in [&middle, &corners[0], &corners[1], &corners[2]].map(nearest) {
            let Some(Foot { face, .. }) = foot else {
                return f64::INFINITY;
            };
            if tried.contains(&face) {
                continue;
            }
            tried.push(face);
            let apart = |corner: &Corner| {
                let foot = self.level.foot_on(face, &corner.positions);
                self.apart(&corner.row, &foot)
            };
            best = corners.iter().map(apart).fold(0.0, f64::max).min(best);
            if best <= enough {
                return best;
            }
        }
        if deeper == 0 {
            return best;
        }
        let [a, b, c] = corners;
        let half = |u: &Corner, v: &Corner| self.between(u, v);
        let (ab, bc, ca) = (half(a, b), half(b, c), half(c, a));
        let parts = [
            [a.clone(), ab.clone(), ca.clone()],
            [ab.clone(), b.clone(), bc.clone()],
            [ca.clone(), bc.clone(), c.clone()],
            [ab, bc, ca],
        ];
        let of_parts = parts
            .iter()
            .map(|part| self.bound(part, enough, deeper - 1));
        best.min(of_parts.fold(0.0, f64::max))
    }

    fn between(&self, a: &Corner, b: &Corner) -> Corner {
        let row = AnimationVector::combination([(0.5, &a.row[..]), (0.5, &b.row[..])]);
        Corner {
            row: row.terms().to_vec(),
            positions: lerp3(&a.positions, &b.positions, 0.5),
            start: a.start,
        }
    }

    fn blend(&self, corners: &[Corner; 3], weights: [f64; 3]) -> Corner {
        let rows = corners.iter().zip(weights).map(|(c, w)| (w, &c.row[..]));
        let [a, b, c] = corners;
        let ab = lerp3(&a.positions, &b.positions, 0.5);
        Corner {
            row: AnimationVector::combination(rows).terms().to_vec(),
            positions: lerp3(&ab, &c.positions, weights[2]),
            start: a.start,
        }
    }
}
