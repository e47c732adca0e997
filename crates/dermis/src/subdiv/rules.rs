//! Which rule holds at a point, and the rules that both schemes share.
//!
//! The number of sharp edges at a point decides (\[DeRose98\]): none or one (the end of a crease) is smooth, two are a
//! crease, more are a corner. Where a sharpness falls to 0 between this level and the next, the rules of both are
//! blended.

use super::cage::{Cage, grouped};
use super::stencil::Term;
use super::{Corners, Edge};
use crate::{Rows, par};

/// The edges and corners at each point.
pub(super) struct Stars {
    /// Edges that end there, by rising number.
    pub(super) edges: Rows<u32>,
    /// Corners that lie there, by rising number.
    pub(super) corners: Rows<u32>,
    /// Whether the point is held, regardless of its edges.
    pub(super) held: Vec<bool>,
}

/// The rule at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    Smooth,
    /// Along the curve through these two neighbours.
    Crease([u32; 2]),
    Corner,
}

impl Stars {
    pub(super) fn new(cage: &Cage, corners_rule: Corners) -> Self {
        let ends = cage.edges().iter().zip(0u32..).flat_map(|(edge, number)| {
            let [a, b] = edge.points;
            [(a, number), (b, number)]
        });
        let corners = cage.faces().items().iter().zip(0u32..);
        let mut stars = Self {
            edges: grouped(cage.point_count(), ends),
            corners: grouped(cage.point_count(), corners.map(|(&point, c)| (point, c))),
            held: Vec::new(),
        };
        stars.held = par::map(cage.point_count(), |point| {
            let alone = stars.corners.row(point).len() == 1;
            (alone && corners_rule == Corners::Sharp) || stars.is_bow_tie(cage, point)
        });
        stars
    }

    /// Whether faces meet here that no edge joins, such as in a bow tie or two cones tip to tip.
    ///
    /// Where more than two faces share an edge this is always so, but that edge is a crease already: the answer is false.
    fn is_bow_tie(&self, cage: &Cage, point: usize) -> bool {
        let corners = self.corners.row(point);
        let Some(&first) = corners.first() else {
            return false;
        };
        let crowded = |&edge: &u32| {
            let edge = &cage.edges()[edge as usize];
            edge.is_border() && edge.face_count > 1
        };
        if self.edges.row(point).iter().any(crowded) {
            return false;
        }
        self.fan(cage, first).len() < corners.len()
    }

    /// The corners around a point that are connected to `first` by edges, in order.
    ///
    /// Starts at the border where there is one.
    pub(super) fn fan(&self, cage: &Cage, first: u32) -> Vec<u32> {
        let most = self.corners.row(cage.point(first) as usize).len();
        let mut start = first;
        // Back to the border, or once around.
        for _ in 0..most {
            match cage.across(start) {
                Some(back) if cage.next(back) != first => start = cage.next(back),
                _ => break,
            }
        }
        let mut fan = vec![start];
        while let Some(corner) = cage.across(cage.previous(fan[fan.len() - 1])) {
            if corner == start || fan.len() == most {
                break;
            }
            fan.push(corner);
        }
        fan
    }

    /// The rule at a point, with the sharpness of each edge given by `sharpness`.
    pub(super) fn rule(&self, cage: &Cage, point: usize, sharpness: impl Fn(&Edge) -> f64) -> Rule {
        if self.held[point] {
            return Rule::Corner;
        }
        let edges = self.edges.row(point).iter();
        let edges = edges.map(|&edge| &cage.edges()[edge as usize]);
        let mut sharp = edges.filter(|edge| sharpness(edge) > 0.0);
        match (sharp.next(), sharp.next(), sharp.next()) {
            (Some(a), Some(b), None) => {
                Rule::Crease([a, b].map(|edge| edge.other_end(point as u32)))
            }
            (_, _, Some(_)) => Rule::Corner,
            _ => Rule::Smooth,
        }
    }

    /// The rules of this level and of the next, and the weight of the first.
    pub(super) fn blended_rules(&self, cage: &Cage, point: usize) -> [(Rule, f64); 2] {
        let now = self.rule(cage, point, |edge| edge.sharpness);
        let then = self.rule(cage, point, |edge| edge.sharpness - 1.0);
        if now == then {
            return [(now, 1.0), (then, 0.0)];
        }
        // The mean of the sharpnesses that end here is the weight of the first rule.
        let edges = self.edges.row(point).iter();
        let fading = edges
            .map(|&edge| cage.edges()[edge as usize].sharpness)
            .filter(|s| *s > 0.0 && *s <= 1.0);
        let (sum, count) = fading.fold((0.0, 0), |(sum, count), s| (sum + s, count + 1));
        let share = if count == 0 {
            1.0
        } else {
            sum / f64::from(count)
        };
        [(now, share), (then, 1.0 - share)]
    }

    /// Adds the terms of a point's new position; `smooth` adds those of the scheme, times a weight.
    pub(super) fn push_point(
        &self,
        cage: &Cage,
        point: usize,
        row: &mut Vec<Term>,
        smooth: impl Fn(&mut Vec<Term>, f64),
    ) {
        for (rule, share) in self.blended_rules(cage, point) {
            if share == 0.0 {
                continue;
            }
            match rule {
                Rule::Smooth if self.edges.row(point).len() >= 2 => smooth(row, share),
                // A point without edges has no neighbours to smooth with.
                Rule::Smooth | Rule::Corner => push(row, point as u32, share),
                Rule::Crease(ends) => {
                    push(row, point as u32, 0.75 * share);
                    for end in ends {
                        push(row, end, 0.125 * share);
                    }
                }
            }
        }
    }
}

/// Adds the terms of an edge's new point; `smooth` adds those of the scheme, times a weight.
pub(super) fn push_edge(
    edge: &Edge,
    row: &mut Vec<Term>,
    smooth: impl Fn(&mut Vec<Term>, [u32; 2], f64),
) {
    let sharp = edge.sharpness.min(1.0);
    if let Some(sides) = edge.sides
        && sharp < 1.0
    {
        smooth(row, sides, 1.0 - sharp);
    }
    if sharp > 0.0 {
        for point in edge.points {
            push(row, point, 0.5 * sharp);
        }
    }
}

pub(super) fn push(row: &mut Vec<Term>, point: u32, weight: f64) {
    row.push(Term { point, weight });
}

/// The sharpness of an edge one level later.
pub(super) fn one_level_on(sharpness: f64) -> f64 {
    (sharpness - 1.0).max(0.0)
}
