//! Starts of the solver: a first bone for every point.
//!
//! There are two kinds, because neither is always better. **Spread** is \[Kavan10\] §4.1: seeds evenly over
//! the surface (p-centre), regions that grow where a seed's motion predicts best; good for cloth. **By
//! error** places each new bone where the error is largest, and gives it the points that it predicts better;
//! good for limbs. The paper takes the deformation gradient of a seed triangle; here a small patch around the
//! seed is fitted, which needs no triangle and no normal.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::bone_step::Sums;
use super::model::{Bones, Points, Supports, Targets};
use super::point_step::PointStep;
use crate::par;
use crate::solve::SymmetricEigen;

/// Points that are fitted around a seed when regions grow.
const SPREAD_PATCH: usize = 12;

/// A kind of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Evenly over the surface, the first seed at this point.
    Spread { first: usize },
    /// Where the error is largest, with patches of `patch` points.
    ByError { patch: usize },
}

/// The inputs of the starts.
pub(super) struct StartInputs<'a> {
    pub(super) targets: &'a Targets,
    pub(super) rest: &'a [[f64; 3]],
    pub(super) neighbors: &'a [Vec<u32>],
    /// The affine motion of the whole mesh, as four columns: patches use it in directions that they do not
    /// span.
    global: Vec<f64>,
}

impl<'a> StartInputs<'a> {
    pub(super) fn new(
        targets: &'a Targets,
        rest: &'a [[f64; 3]],
        neighbors: &'a [Vec<u32>],
    ) -> Self {
        let mut start_inputs = Self {
            targets,
            rest,
            neighbors,
            global: vec![0.0; 4 * targets.dimension],
        };
        let all: Vec<usize> = (0..targets.count()).collect();
        start_inputs.global = start_inputs.fit_patch(&all);
        start_inputs
    }

    /// The bones of a start, and the points with one bone each.
    pub(super) fn begin(&self, start: Start, bone_count: usize) -> (Bones, Points) {
        let owners = match start {
            Start::Spread { first } => self.spread(bone_count, first),
            Start::ByError { patch } => self.by_error(bone_count, patch),
        };
        self.fit_owners(&owners, bone_count)
    }

    /// The bones that fit best when every point follows one.
    fn fit_owners(&self, owners: &[usize], bone_count: usize) -> (Bones, Points) {
        let points = Points {
            rest: self.rest.to_vec(),
            supports: Supports::single(owners, 1),
            errors: vec![0.0; owners.len()],
        };
        let mut bones = Bones::zeros(bone_count, self.targets.dimension);
        // A bone with too few points keeps the motion of the whole mesh where they do not determine its own.
        for bone in 0..bone_count {
            bones.set(bone, &self.global);
        }
        let all: Vec<usize> = (0..bone_count).collect();
        Sums::new(self.targets, &points, bone_count).solve_affine(&mut bones, &all);
        (bones, points)
    }

    /// Assigns each point to the bone that predicts it best and fits the bones to their points, in turn.
    fn regroup(&self, owners: &mut [usize], bone_count: usize) -> (Bones, Vec<f64>) {
        let (bones, points) = self.fit_owners(owners, bone_count);
        let points = hard_step().run(self.targets, &bones, &points);
        for (point, owner) in owners.iter_mut().enumerate() {
            *owner = usize::from(points.supports.bones(point)[0]);
        }
        (bones, points.errors)
    }

    fn spread(&self, bone_count: usize, first: usize) -> Vec<usize> {
        let seeds = self.far_seeds(bone_count, first);
        let fits = par::map(seeds.len(), |at| {
            self.fit_patch(&self.patch(seeds[at], SPREAD_PATCH))
        });
        let mut owners = vec![usize::MAX; self.rest.len()];
        let mut front: BinaryHeap<Reach> = seeds
            .iter()
            .enumerate()
            .map(|(bone, &point)| Reach {
                distance: 0.0,
                point,
                bone,
            })
            .collect();
        while let Some(Reach { point, bone, .. }) = front.pop() {
            if owners[point] != usize::MAX {
                continue;
            }
            owners[point] = bone;
            for &next in &self.neighbors[point] {
                let next = next as usize;
                if owners[next] == usize::MAX {
                    front.push(Reach {
                        distance: self.prediction_error(&fits[bone], next),
                        point: next,
                        bone,
                    });
                }
            }
        }
        owners
    }

    /// Points far from each other along the surface: each is the farthest from those before it.
    fn far_seeds(&self, count: usize, first: usize) -> Vec<usize> {
        let mut nearest = vec![f64::INFINITY; self.rest.len()];
        let mut seeds = Vec::with_capacity(count);
        let mut next = first.min(self.rest.len() - 1);
        while seeds.len() < count {
            seeds.push(next);
            nearest[next] = 0.0;
            let mut front = BinaryHeap::from([Reach {
                distance: 0.0,
                point: next,
                bone: 0,
            }]);
            while let Some(Reach {
                distance, point, ..
            }) = front.pop()
            {
                if distance > nearest[point] {
                    continue;
                }
                for &other in &self.neighbors[point] {
                    let other = other as usize;
                    let reach = distance + self.rest_distance(point, other);
                    if reach < nearest[other] {
                        nearest[other] = reach;
                        front.push(Reach {
                            distance: reach,
                            point: other,
                            bone: 0,
                        });
                    }
                }
            }
            next = largest(&nearest, |_| true);
        }
        seeds
    }

    fn by_error(&self, bone_count: usize, patch: usize) -> Vec<usize> {
        let count = self.rest.len();
        let mut owners = vec![0; count];
        let mut errors = self.prediction_errors(&self.global);
        let mut next_regroup = 2;
        for bone in 1..bone_count {
            let seed = largest(&self.smoothed(&errors, 1), |_| true);
            let mut members = self.patch(seed, patch);
            // The points that it predicts better than the bones so far: found, and the bone fitted to them,
            // twice.
            for _ in 0..2 {
                let own = self.prediction_errors(&self.fit_patch(&members));
                members = (0..count).filter(|&p| own[p] < errors[p]).collect();
                if members.is_empty() {
                    break;
                }
            }
            let own = self.prediction_errors(&self.fit_patch(&members));
            for point in members {
                if own[point] < errors[point] {
                    owners[point] = bone;
                    errors[point] = own[point];
                }
            }
            // All bones adapt to the new ones, less often when there are many, because a few more then change
            // little.
            if bone + 1 >= next_regroup || bone + 1 == bone_count {
                errors = self.regroup(&mut owners, bone + 1).1;
                next_regroup = bone + 2 + bone / 48;
            }
        }
        owners
    }

    /// A point and those around it, nearest first by steps.
    pub(super) fn patch(&self, seed: usize, size: usize) -> Vec<usize> {
        let mut seen = std::collections::BTreeSet::from([seed]);
        let mut list = vec![seed];
        let mut at = 0;
        while list.len() < size && at < list.len() {
            for &next in &self.neighbors[list[at]] {
                if seen.insert(next as usize) {
                    list.push(next as usize);
                }
            }
            at += 1;
        }
        list
    }

    /// The affine motion of some points, as four columns; directions that they do not span follow the whole
    /// mesh.
    pub(super) fn fit_patch(&self, points: &[usize]) -> Vec<f64> {
        let d = self.targets.dimension;
        let weight = |&point: &usize| self.targets.multiplicity[point];
        let total: f64 = points.iter().map(weight).sum();
        if total <= 0.0 {
            return self.global.clone();
        }
        let mut middle = [0.0; 3];
        for point in points {
            for (sum, x) in middle.iter_mut().zip(self.rest[*point]) {
                *sum += weight(point) * x / total;
            }
        }
        let mut square = [0.0; 9];
        let mut moments = vec![0.0; 3 * d];
        let mut mean = vec![0.0; d];
        let [gx, gy, gz] = [0, 1, 2].map(|c| &self.global[c * d..][..d]);
        for point in points {
            let w = weight(point);
            let offset: [f64; 3] = std::array::from_fn(|c| self.rest[*point][c] - middle[c]);
            for a in 0..3 {
                for b in 0..3 {
                    square[3 * a + b] += w * offset[a] * offset[b];
                }
            }
            for (r, &y) in self.targets.column(*point).iter().enumerate() {
                // The error of the motion of the whole mesh.
                let left = y - offset[0] * gx[r] - offset[1] * gy[r] - offset[2] * gz[r];
                mean[r] += w * y / total;
                for a in 0..3 {
                    moments[a * d + r] += w * offset[a] * left;
                }
            }
        }
        let eigen = SymmetricEigen::new(&square, 3);
        let trace: f64 = eigen.values.iter().sum();
        let mut columns = self.global.clone();
        for (axis, &value) in eigen.values.iter().enumerate() {
            if value <= 1e-6 * trace {
                continue;
            }
            let direction = &eigen.vectors[3 * axis..][..3];
            for r in 0..d {
                let slope: f64 = (0..3).map(|a| direction[a] * moments[a * d + r]).sum();
                for a in 0..3 {
                    columns[a * d + r] += direction[a] * slope / value;
                }
            }
        }
        for r in 0..d {
            let turned: f64 = (0..3).map(|a| columns[a * d + r] * middle[a]).sum();
            columns[3 * d + r] = mean[r] - turned;
        }
        columns
    }

    /// The squared error of a motion at every point.
    fn prediction_errors(&self, columns: &[f64]) -> Vec<f64> {
        const BLOCK: usize = 256;
        let count = self.rest.len();
        let simd = pulp::Arch::new();
        let blocks = par::map(count.div_ceil(BLOCK), |block| {
            let range = block * BLOCK..count.min((block + 1) * BLOCK);
            simd.dispatch(
                #[inline(always)]
                || -> Vec<f64> { range.map(|p| self.prediction_error(columns, p)).collect() },
            )
        });
        blocks.concat()
    }

    #[inline(always)]
    fn prediction_error(&self, columns: &[f64], point: usize) -> f64 {
        let d = self.targets.dimension;
        let [x, y, z, one] = [0, 1, 2, 3].map(|c| &columns[c * d..][..d]);
        let [px, py, pz] = self.rest[point];
        let target = &self.targets.column(point)[..d];
        // Eight sums side by side: a single one would wait for each addition.
        let mut sums = [0.0; 8];
        for r in 0..d {
            let error = px * x[r] + py * y[r] + pz * z[r] + one[r] - target[r];
            sums[r % 8] += error * error;
        }
        sums.iter().sum()
    }

    /// Errors averaged with those of neighbours, so that a single bad point does not count as a region.
    pub(super) fn smoothed(&self, errors: &[f64], times: usize) -> Vec<f64> {
        let mut errors = errors.to_vec();
        for _ in 0..times {
            let average = |(point, list): (usize, &Vec<u32>)| {
                let around: f64 = list.iter().map(|&p| errors[p as usize]).sum();
                (errors[point] + around) / (1 + list.len()) as f64
            };
            errors = self.neighbors.iter().enumerate().map(average).collect();
        }
        errors
    }

    fn rest_distance(&self, a: usize, b: usize) -> f64 {
        let pairs = self.rest[a].iter().zip(&self.rest[b]);
        pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
    }
}

/// A step that gives every point to the one bone that predicts it best.
pub(super) fn hard_step() -> PointStep<'static> {
    PointStep {
        max_influences: 1,
        exchange: true,
        update_rest: false,
        passes: 1,
        locked: None,
        smooth: None,
    }
}

/// Index of the largest allowed value; the first of equal ones.
pub(super) fn largest(values: &[f64], allowed: impl Fn(usize) -> bool) -> usize {
    let mut best = 0;
    let mut most = f64::NEG_INFINITY;
    for (at, &value) in values.iter().enumerate() {
        if value > most && allowed(at) {
            most = value;
            best = at;
        }
    }
    best
}

/// A point that a search has reached; the nearest compares greatest.
#[derive(Debug, PartialEq)]
struct Reach {
    distance: f64,
    point: usize,
    bone: usize,
}

impl Eq for Reach {}

impl Ord for Reach {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = other.distance.total_cmp(&self.distance);
        order
            .then(other.point.cmp(&self.point))
            .then(other.bone.cmp(&self.bone))
    }
}

impl PartialOrd for Reach {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
