//! Taking a step: what it changes, and what follows from that.

use std::cmp::Reverse;

use glam::DVec3;

use super::lanes::{Lanes3, wide};
use super::model::{Change, Collapse, Operation, WedgePair};
use super::placing::{FARTHEST, Placed, Scratch, positions_of};
use super::quadrics::AttributeQuadric;
use super::rank;
use super::simplify::{Entry, Simplifier};
use super::vertices::LevelVertex;

/// Pieces of so many faces may vanish, where pieces may: a tetrahedron.
const LAST_FACES: usize = 4;
/// Holds weights that the planes around a new point say little about.
const RIDGE: f64 = 1e-3;

impl Simplifier {
    /// Draws an edge together; the cost, or `None` where that is not legal, or where textures slide so far that another
    /// step is cheaper: then the edge goes back into the queue with all that it costs.
    pub(super) fn collapse(&mut self, entry: Entry) -> Option<f64> {
        let (a, b) = (entry.a, entry.b);
        let mut scratch = Scratch::default();
        let placed = self.evaluate(a, b, &mut scratch)?;
        if placed.cost > self.tolerance.powi(2) * self.area_of([a, b]) {
            return None;
        }
        if !self.is_sound(a, b) {
            let is_gone = self.options.drop_pieces && self.drop_piece(a);
            return is_gone.then_some(placed.cost);
        }
        let (kept, removed) = (placed.kept, placed.removed);
        let mut best = self.vertices_for(a, b, &placed).into_iter();
        let (vertex, positions) = best.find(|new| !self.flips([a, b], &new.1))?;
        let collapse = self.operation(a, b, &placed, vertex)?;
        if self.turns_texture(&collapse) {
            return None;
        }
        let cost = placed.cost + self.slide_cost(&collapse, &positions);
        if cost > self.tolerance.powi(2) * self.area_of([a, b]) {
            return None;
        }
        if !entry.has_slide {
            let influences = &self.model.vertices[removed as usize].influences;
            let whole = Entry {
                cost: rank(cost, influences.len()).to_bits(),
                has_slide: true,
                ..entry
            };
            if self.queue.peek().is_some_and(|next| next.0 < whole) {
                self.queue.push(Reverse(whole));
                return None;
            }
        }
        for pair in &collapse.wedges {
            let removed = std::mem::replace(
                &mut self.of_wedge[pair.removed as usize],
                AttributeQuadric::none(0),
            );
            self.of_wedge[pair.kept as usize].merge(&removed);
            self.of_wedge[pair.removed as usize] = removed;
        }
        let operation = Operation::Collapse(collapse);
        self.model.apply(&operation);
        self.operations.push(operation);
        self.positions[kept as usize] = positions;
        self.versions[removed as usize] += 1;
        if self.options.memoryless {
            self.measure_again(kept);
        } else {
            let merged = self.quadrics[kept as usize].plus(&self.quadrics[removed as usize]);
            self.quadrics[kept as usize] = merged;
        }
        self.requeue(kept);
        Some(cost)
    }

    /// The vertices that a collapse may leave, and where they are: first the best that their bones can give, then
    /// simpler ones, which turn fewer faces over.
    fn vertices_for(&self, a: u32, b: u32, placed: &Placed) -> Vec<(LevelVertex, Lanes3)> {
        let kept = placed.kept as usize;
        let stays = || (self.model.vertices[kept].clone(), self.positions[kept]);
        let Some(moved) = &placed.moved else {
            return vec![stays()];
        };
        let [from, to] = [a, b].map(|p| &self.model.vertices[p as usize]);
        let between = (from, to, moved.t);
        let vertex = self.blending.vertex(&moved.weights, moved.rest, between);
        let quadric = self.quadrics[a as usize].plus(&self.quadrics[b as usize]);
        let freedom = self.blending.freedom(&vertex, &self.samples);
        let step = wide(
            #[inline(always)]
            || freedom.best_step(&quadric, &moved.positions, RIDGE),
        );
        let mut found = Vec::with_capacity(3);
        if let Some(step) = step {
            let better = self.blending.stepped(&vertex, &step);
            let positions = positions_of(&better, &self.samples, &self.blending);
            let farthest = FARTHEST * from.rest.distance(to.rest);
            if quadric.value(&positions) < quadric.value(&moved.positions)
                && better.rest.distance(moved.rest) <= farthest
            {
                found.push((better, positions));
            }
        }
        found.push((vertex, moved.positions));
        found.push(stays());
        found
    }

    /// The quadrics of a point and of those around it, from the faces that there are now.
    fn measure_again(&mut self, point: u32) {
        let mut around = Vec::new();
        self.model.mesh.neighbors(point, &mut around);
        self.quadrics[point as usize] = self.quadric_of(point);
        for other in around {
            self.quadrics[other as usize] = self.quadric_of(other);
            self.requeue(other);
        }
    }

    /// Takes away the piece that a point belongs to, if only its last few faces are left.
    pub(super) fn drop_piece(&mut self, point: u32) -> bool {
        let mesh = &self.model.mesh;
        let mut faces = mesh.faces_of_point[point as usize].clone();
        let mut at = 0;
        while at < faces.len() {
            for other in mesh.points(faces[at] as usize) {
                for &next in &mesh.faces_of_point[other as usize] {
                    if !faces.contains(&next) {
                        faces.push(next);
                    }
                }
            }
            at += 1;
            if faces.len() > LAST_FACES {
                return false;
            }
        }
        for p in faces.iter().flat_map(|&face| mesh.points(face as usize)) {
            self.versions[p as usize] += 1;
        }
        let operation = Operation::Vanish(faces);
        self.model.apply(&operation);
        self.operations.push(operation);
        true
    }

    /// The collapse with all that it changes; `None` when a wedge of the point that goes has no partner.
    fn operation(&self, a: u32, b: u32, placed: &Placed, after: LevelVertex) -> Option<Collapse> {
        let mesh = &self.model.mesh;
        let (kept, removed) = (placed.kept, placed.removed);
        let mut pairs = Vec::new();
        self.wedge_pairs(kept, removed, &mut pairs);
        let vanished: Vec<u32> = mesh.faces_of_edge(a, b).collect();
        let mut redrawn = Vec::new();
        for &face in &mesh.faces_of_point[removed as usize] {
            if vanished.contains(&face) {
                continue;
            }
            let wedge = mesh.wedge_at(face, removed);
            if !pairs.iter().any(|pair| pair[1] == wedge) {
                return None;
            }
            let corner = mesh.faces[face as usize].iter().position(|&w| w == wedge)?;
            redrawn.push((face, corner as u8, wedge));
        }
        // One wedge cannot become two.
        let is_double = |pair: &[u32; 2]| {
            let same = pairs.iter().filter(|other| other[1] == pair[1]);
            same.count() > 1
        };
        if pairs.iter().any(is_double) {
            return None;
        }
        let before = self.model.vertices[kept as usize].clone();
        let wedges = pairs
            .into_iter()
            .map(|[kept, removed]| {
                let before = mesh.values(kept).to_vec();
                let after = match placed.moved {
                    None => before.clone(),
                    Some(_) => self.best_values([kept, removed], after.rest),
                };
                WedgePair {
                    kept,
                    removed,
                    before,
                    after,
                }
            })
            .collect();
        Some(Collapse {
            kept: Change {
                point: kept,
                before,
                after,
            },
            removed,
            wedges,
            vanished,
            redrawn,
        })
    }

    /// The attributes that fit best at a rest position.
    pub(super) fn best_values(&self, pair: [u32; 2], rest: DVec3) -> Vec<f64> {
        let mesh = &self.model.mesh;
        let quadrics = pair.map(|wedge| &self.of_wedge[wedge as usize]);
        let mut values = mesh.values(pair[0]).to_vec();
        for (n, value) in values.iter_mut().enumerate() {
            if let Some(best) = AttributeQuadric::best(quadrics, n, rest) {
                *value = best;
            }
        }
        let part = mesh.part_of_wedge[pair[0] as usize];
        mesh.layouts[part as usize].settle(&mut values);
        values
    }
}
