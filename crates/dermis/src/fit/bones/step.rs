//! The step of all bones in all meshes that lowers the error of a blend most, its weights following.
//!
//! A Gauss-Newton step: the part of each vertex's residual that a change of its own weights could remove is
//! taken out first (variable projection with Kaufman's simplification). On an exact blend that converges to
//! rounding in a few steps.

use glam::{DAffine3, DMat3, DVec3};

use super::blend::Blend;
use super::motion::Motion;
use crate::par;

/// Parts into which sums over the vertices are divided: a fixed number, for the same bits on any threads.
const CHUNKS: usize = 16;
/// Iterations and accuracy of the linear solve in a step; the next step corrects the remaining error.
const CG_ITERATIONS: usize = 30;
const CG_TOLERANCE: f64 = 2e-2;
/// A direction of weights that depends on others to this share of its length is left out.
const DEPENDENT: f64 = 1e-6;

/// The normal equations of all bones' small motions at one blend, with the weights eliminated.
///
/// Unknowns: for each mesh and bone a turn about the middle of the bone's vertices, and a shift.
pub(super) struct System {
    bone_count: usize,
    mesh_count: usize,
    /// Weighted middle of every bone's vertices at rest.
    centers: Vec<DVec3>,
    points: Vec<Point>,
    /// The part of the equations within each mesh, without elimination: `6 bones` squared numbers.
    blocks: Vec<Vec<f64>>,
    /// Right-hand side: the negative gradient.
    right: Vec<f64>,
}

/// The contribution of one vertex.
struct Point {
    weights: Vec<(usize, f64)>,
    /// From each bone's middle to the vertex, turned: by influence, then mesh.
    arms: Vec<DVec3>,
    /// Perpendicular directions that its own weights can make up for, `mesh_count` vectors each.
    absorbed: Vec<DVec3>,
    /// The error of the blend, by mesh.
    residual: Vec<DVec3>,
    /// The slope of its loss: 1 where its error is far below the scale.
    importance: f64,
}

impl Point {
    fn new(motion: &Motion, blend: &Blend, centers: &[DVec3], i: usize, scale: f64) -> Self {
        let meshes = motion.mesh_count;
        let weights = blend.weights[i].clone();
        let rest = motion.rest[i];
        let mut arms = Vec::with_capacity(weights.len() * meshes);
        let mut placed = Vec::with_capacity(weights.len() * meshes);
        let mut residual: Vec<DVec3> = motion.of_vertex(i).iter().map(|place| -*place).collect();
        for &(j, weight) in &weights {
            for (matrix, residual) in blend.bones[j].iter().zip(&mut residual) {
                let place = matrix.transform_point3(rest);
                arms.push(matrix.matrix3 * (rest - centers[j]));
                placed.push(place);
                *residual += weight * place;
            }
        }
        let mut absorbed: Vec<DVec3> = Vec::with_capacity(weights.len() * meshes);
        for other in placed.chunks_exact(meshes).skip(1) {
            let mut direction: Vec<DVec3> = other
                .iter()
                .zip(&placed)
                .map(|(other, first)| *other - *first)
                .collect();
            let whole = inner(&direction, &direction);
            // Twice: once leaves rounding behind where bones move nearly alike.
            for _ in 0..2 {
                remove(&absorbed, &mut direction);
            }
            let left = inner(&direction, &direction);
            if left > DEPENDENT * DEPENDENT * whole && left > 0.0 {
                let scale = left.sqrt().recip();
                absorbed.extend(direction.iter().map(|d| scale * *d));
            }
        }
        remove(&absorbed, &mut residual);
        Self {
            weights,
            arms,
            absorbed,
            residual,
            importance: 1.0 / (1.0 + blend.errors[i] / scale),
        }
    }
}

fn inner(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Takes perpendicular unit directions out of a vector.
fn remove(directions: &[DVec3], from: &mut [DVec3]) {
    for direction in directions.chunks_exact(from.len()) {
        let along = inner(direction, from);
        for (from, direction) in from.iter_mut().zip(direction) {
            *from -= along * *direction;
        }
    }
}

impl System {
    /// The equations at a blend; errors above `scale`, a squared error, pull less ([`Blend::loss`]).
    pub(super) fn new(motion: &Motion, blend: &Blend, scale: f64) -> Self {
        let bone_count = blend.bones.len();
        let mut sums = vec![(DVec3::ZERO, 0.0); bone_count];
        for (weights, rest) in blend.weights.iter().zip(&motion.rest) {
            for &(j, weight) in weights {
                sums[j].0 += weight * *rest;
                sums[j].1 += weight;
            }
        }
        let center = |(sum, total): (DVec3, f64)| match total > 0.0 {
            true => sum / total,
            false => DVec3::ZERO,
        };
        let centers: Vec<DVec3> = sums.into_iter().map(center).collect();
        let points = par::map(motion.vertex_count(), |i| {
            Point::new(motion, blend, &centers, i, scale)
        });
        let mut system = Self {
            bone_count,
            mesh_count: motion.mesh_count,
            centers,
            points,
            blocks: Vec::new(),
            right: Vec::new(),
        };
        system.blocks = par::map(motion.mesh_count, |k| system.block(k));
        system.right = system.sum_over_points(|point, left| {
            for (left, residual) in left.iter_mut().zip(&point.residual) {
                *left = -*residual;
            }
        });
        system
    }

    fn size(&self) -> usize {
        6 * self.bone_count
    }

    /// The equations of one mesh: `Σ s w_a w_b Jₐᵀ J_b`, with `J = [−[arm]ₓ, 1]`.
    fn block(&self, k: usize) -> Vec<f64> {
        let size = self.size();
        let mut block = vec![0.0; size * size];
        for point in &self.points {
            for (a, &(ja, wa)) in point.weights.iter().enumerate() {
                let arm_a = point.arms[a * self.mesh_count + k];
                for (b, &(jb, wb)) in point.weights.iter().enumerate() {
                    if jb > ja {
                        continue;
                    }
                    let both = point.importance * wa * wb;
                    let arm_b = point.arms[b * self.mesh_count + k];
                    let cross_a = cross_matrix(arm_a);
                    let cross_b = cross_matrix(arm_b);
                    // J = [-[p]x 1], so that J (turn, shift) = turn x p + shift.
                    let turns = cross_a.transpose() * cross_b;
                    for row in 0..3 {
                        for column in 0..3 {
                            let at = |r: usize, c: usize| (6 * ja + r) * size + 6 * jb + c;
                            block[at(row, column)] += both * turns.col(column)[row];
                            block[at(row, 3 + column)] -= both * cross_a.col(row)[column];
                            block[at(3 + row, column)] -= both * cross_b.col(column)[row];
                        }
                        block[(6 * ja + 3 + row) * size + 6 * jb + 3 + row] += both;
                    }
                }
            }
        }
        block
    }

    /// `Σ_i sᵢ Jᵢᵀ (1 − Q Qᵀ) uᵢ`, with the importance `sᵢ`, and `uᵢ` filled by `fill`.
    fn sum_over_points(&self, fill: impl Fn(&Point, &mut [DVec3]) + Sync + Send) -> Vec<f64> {
        let chunk = self.points.len().div_ceil(CHUNKS).max(1);
        let parts = par::map(self.points.len().div_ceil(chunk), |part| {
            let mut sum = vec![0.0; self.mesh_count * self.size()];
            let mut moved = vec![DVec3::ZERO; self.mesh_count];
            for point in self.points[part * chunk..].iter().take(chunk) {
                fill(point, &mut moved);
                remove(&point.absorbed, &mut moved);
                for (&(j, weight), arms) in point
                    .weights
                    .iter()
                    .zip(point.arms.chunks_exact(self.mesh_count))
                {
                    for (k, (arm, moved)) in arms.iter().zip(&moved).enumerate() {
                        let at = k * self.size() + 6 * j;
                        let force = point.importance * weight * *moved;
                        let turn = arm.cross(force);
                        let sum = &mut sum[at..at + 6];
                        sum[0] += turn.x;
                        sum[1] += turn.y;
                        sum[2] += turn.z;
                        sum[3] += force.x;
                        sum[4] += force.y;
                        sum[5] += force.z;
                    }
                }
            }
            sum
        });
        let mut parts = parts.into_iter();
        let mut sum = parts.next().unwrap_or_default();
        for part in parts {
            sum.iter_mut()
                .zip(part)
                .for_each(|(sum, part)| *sum += part);
        }
        sum
    }

    /// The equations times a vector, undamped.
    fn multiply(&self, x: &[f64]) -> Vec<f64> {
        self.sum_over_points(|point, moved| {
            moved.fill(DVec3::ZERO);
            for (&(j, weight), arms) in point
                .weights
                .iter()
                .zip(point.arms.chunks_exact(self.mesh_count))
            {
                for (k, (arm, moved)) in arms.iter().zip(moved.iter_mut()).enumerate() {
                    let (turn, shift) = turn_and_shift(&x[k * self.size() + 6 * j..]);
                    *moved += weight * (turn.cross(*arm) + shift);
                }
            }
        })
    }

    /// The bones after a damped step.
    pub(super) fn step(&self, bones: &[Vec<DAffine3>], damping: f64) -> Vec<Vec<DAffine3>> {
        let size = self.size();
        let diagonal: Vec<f64> = self
            .blocks
            .iter()
            .flat_map(|block| (0..size).map(|i| block[i * size + i]))
            .collect();
        let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        let extra: Vec<f64> = diagonal.iter().map(|d| damping * d + 1e-9 * mean).collect();
        let factors = par::map(self.mesh_count, |k| {
            let mut factor = self.blocks[k].clone();
            for i in 0..size {
                factor[i * size + i] += extra[k * size + i];
            }
            cholesky(&mut factor, size);
            factor
        });
        let solve = |right: &[f64]| {
            par::map(self.mesh_count, |k| {
                let mut x = right[k * size..(k + 1) * size].to_vec();
                solve_factored(&factors[k], &mut x);
                x
            })
            .concat()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut x = vec![0.0; self.right.len()];
        let mut left = self.right.clone();
        let mut z = solve(&left);
        let mut direction = z.clone();
        let mut rho = dot(&left, &z);
        let limit = CG_TOLERANCE * CG_TOLERANCE * rho;
        for _ in 0..CG_ITERATIONS {
            if rho <= limit {
                break;
            }
            let mut product = self.multiply(&direction);
            for ((product, direction), extra) in product.iter_mut().zip(&direction).zip(&extra) {
                *product += extra * direction;
            }
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                break;
            }
            let length = rho / curvature;
            for at in 0..x.len() {
                x[at] += length * direction[at];
                left[at] -= length * product[at];
            }
            z = solve(&left);
            let next = dot(&left, &z);
            let keep = next / rho;
            rho = next;
            for (direction, z) in direction.iter_mut().zip(&z) {
                *direction = z + keep * *direction;
            }
        }
        self.moved(bones, &x)
    }

    /// Bones turned and shifted.
    fn moved(&self, bones: &[Vec<DAffine3>], x: &[f64]) -> Vec<Vec<DAffine3>> {
        let moved = |(j, bone): (usize, &Vec<DAffine3>)| {
            let center = self.centers[j];
            bone.iter()
                .enumerate()
                .map(|(k, matrix)| {
                    let (turn, shift) = turn_and_shift(&x[k * self.size() + 6 * j..]);
                    let rotation = DMat3::from_quat(
                        glam::DQuat::from_scaled_axis(turn)
                            * glam::DQuat::from_mat3(&matrix.matrix3),
                    );
                    DAffine3 {
                        matrix3: rotation,
                        translation: matrix.transform_point3(center) + shift - rotation * center,
                    }
                })
                .collect()
        };
        bones.iter().enumerate().map(moved).collect()
    }
}

fn turn_and_shift(x: &[f64]) -> (DVec3, DVec3) {
    (DVec3::from_slice(x), DVec3::from_slice(&x[3..]))
}

/// The matrix of `v ↦ p × v`.
fn cross_matrix(p: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, p.z, -p.y),
        DVec3::new(-p.z, 0.0, p.x),
        DVec3::new(p.y, -p.x, 0.0),
    )
}

/// Factors a symmetric positive matrix in its lower half, row by row.
fn cholesky(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        let (above, own) = matrix.split_at_mut(i * size);
        for j in 0..=i {
            let other = if j < i {
                &above[j * size..j * size + j]
            } else {
                &[][..]
            };
            if j < i {
                let sum = dot_lanes(&own[..j], other);
                own[j] = (own[j] - sum) / above[j * size + j];
            } else {
                let sum = dot_lanes(&own[..i], &own[..i]);
                own[i] = (own[i] - sum).max(f64::MIN_POSITIVE).sqrt();
            }
        }
    }
}

/// Solves with the factor, in place.
fn solve_factored(factor: &[f64], x: &mut [f64]) {
    let size = x.len();
    for i in 0..size {
        let sum = dot_lanes(&factor[i * size..i * size + i], &x[..i]);
        x[i] = (x[i] - sum) / factor[i * size + i];
    }
    for i in (0..size).rev() {
        x[i] /= factor[i * size + i];
        let value = x[i];
        for (x, f) in x[..i].iter_mut().zip(&factor[i * size..i * size + i]) {
            *x -= f * value;
        }
    }
}

/// Inner product in four running sums.
fn dot_lanes(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, a_tail) = a.as_chunks::<4>();
    let (b4, b_tail) = b.as_chunks::<4>();
    for (a, b) in a4.iter().zip(b4) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}
