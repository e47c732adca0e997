//! Means over poses: the metric in which tangents are fitted.

use glam::{DAffine3, DQuat, DVec3};

use super::dense::Square;
use super::{NormalError, TangentOptions};
use crate::par;
use crate::rig::{BoneId, Palette, Pose, Skeleton};
use crate::skin::{Skin, VertexProgram};

/// A pose, its weight, and the skin's matrices and positions in it.
pub(super) struct Sample {
    /// Weight of the pose in expectations.
    pub(super) share: f64,
    pub(super) palette: Palette,
    pub(super) positions: Vec<DVec3>,
}

/// The poses over which expectations `E[·]` are taken.
///
/// Holds every vertex in every pose: 24 bytes each.
pub(super) struct Statistics {
    pub(super) samples: Vec<Sample>,
}

/// Poses of the prior: enough to distinguish three turns of each of nine bones.
const PRIOR_POSES: usize = 24;

impl Statistics {
    /// `1 − prior_share` of the given poses, in equal parts, and `prior_share` of poses in which
    /// every joint turns by itself; only the latter when no poses are given.
    ///
    /// The two kinds may differ in size, as when a root bone scales the model in every pose but
    /// not at rest: the prior's lengths are measured against the given ones.
    pub(super) fn new(
        skin: &Skin,
        poses: &[Pose],
        options: &TangentOptions,
    ) -> Result<Self, NormalError> {
        options.check()?;
        let mut given = samples(skin, poses)?;
        if let Some(index) = given.iter().position(|sample| !is_finite(sample)) {
            return Err(NormalError::NotFinite {
                what: "pose",
                index,
            });
        }
        let prior_part = match poses.is_empty() {
            true => 1.0,
            false => options.prior_share,
        };
        let mut prior = match prior_part > 0.0 {
            true => samples(skin, &independent_joints(&skin.skeleton, PRIOR_POSES))?,
            false => Vec::new(),
        };
        prior.retain(is_finite);
        let (given_size, prior_size) = (mean_squared_scale(&given), mean_squared_scale(&prior));
        let size_ratio = match given_size > 0.0 && prior_size > 0.0 {
            true => given_size / prior_size,
            false => 1.0,
        };
        let given_share = (1.0 - prior_part) / given.len().max(1) as f64;
        let prior_share = prior_part * size_ratio / prior.len().max(1) as f64;
        given.iter_mut().for_each(|s| s.share = given_share);
        prior.iter_mut().for_each(|s| s.share = prior_share);
        given.append(&mut prior);
        Ok(Self { samples: given })
    }
}

/// How the numbers of one vertex's tangent act in every pose: `H`, with `G s = H x`.
///
/// `x` has three numbers per bone, `x_j`, and with bone weights one more for each bone but the
/// last. Those are counted from where the bones carry the vertex itself, which keeps the numbers
/// small and the system well conditioned: with `c_j = Ĝ_j⁻¹ v̂`, weights `w_j` that sum to 0 and
/// `s_j = (x_j + w_j c_j, w_j)`,
///
/// `Σ_j G_j s_j = Σ_j lin(G_j) x_j + Σ_{j≠last} w_j (N_j v̂ − N_last v̂)`.
pub(super) struct Motion<'a> {
    statistics: &'a Statistics,
    bone_count: usize,
    /// Columns of `H` for one sample after the other.
    columns: Vec<DVec3>,
    column_count: usize,
    /// `c_j`, and the weight that one unit of each column stands for; empty without bone weights.
    pivots: Vec<DVec3>,
    weight_units: Vec<f64>,
}

impl<'a> Motion<'a> {
    pub(super) fn new(
        skin: &Skin,
        statistics: &'a Statistics,
        (bones, rest_position): (&[BoneId], DVec3),
        options: &TangentOptions,
    ) -> Self {
        let samples = &statistics.samples;
        let pivots: Vec<DVec3> = match options.bone_weights {
            false => Vec::new(),
            true => bones
                .iter()
                .map(|bone| {
                    let bone_from_rest = &skin.skeleton.bones()[bone.index()].bone_from_rest;
                    bone_from_rest.transform_point3(rest_position)
                })
                .collect(),
        };
        let apart = |sample: &Sample, j: usize| {
            let carried = |j: usize| sample.matrix(bones[j]).transform_point3(pivots[j]);
            carried(j) - carried(bones.len() - 1)
        };
        // Columns of unit size beside the turns; bones that never part need no weight.
        let weight_units: Vec<f64> = (0..pivots.len().saturating_sub(1))
            .map(|j| {
                let squared = |s: &Sample| s.share * apart(s, j).length_squared();
                let size = samples.iter().map(squared).sum::<f64>().sqrt();
                let pivot = pivots[j].length().max(rest_position.length());
                if size > 1e-9 * pivot { 1.0 / size } else { 0.0 }
            })
            .collect();
        let column_count = 3 * bones.len() + weight_units.len();
        let mut columns = Vec::with_capacity(column_count * samples.len());
        for sample in samples {
            for &bone in bones {
                let linear = sample.matrix(bone).matrix3;
                columns.extend([linear.x_axis, linear.y_axis, linear.z_axis]);
            }
            columns.extend((weight_units.iter().enumerate()).map(|(j, u)| *u * apart(sample, j)));
        }
        Self {
            statistics,
            bone_count: bones.len(),
            columns,
            column_count,
            pivots,
            weight_units,
        }
    }

    fn samples(&self) -> impl Iterator<Item = (&Sample, &[DVec3])> {
        let columns = self.columns.chunks_exact(self.column_count.max(1));
        self.statistics.samples.iter().zip(columns)
    }

    /// `P = E[HᵀH]`: the L2,2 metric on the numbers `x`.
    pub(super) fn metric(&self) -> Square {
        let n = self.column_count;
        let mut sum = Square::zero(n);
        for (sample, columns) in self.samples() {
            for (r, left) in columns.iter().enumerate() {
                let left = sample.share * *left;
                for (c, right) in columns.iter().enumerate().skip(r) {
                    sum.add(r, c, left.dot(*right));
                }
            }
        }
        for r in 0..n {
            for c in 0..r {
                sum.add(r, c, sum.at(c, r));
            }
        }
        sum
    }

    /// `E[Hᵀ v]` for a vector `v` of each sample, by its number.
    pub(super) fn pullback(&self, v: impl Fn(usize) -> DVec3) -> Vec<f64> {
        let mut sum = vec![0.0; self.column_count];
        for (k, (sample, columns)) in self.samples().enumerate() {
            let v = sample.share * v(k);
            for (sum, column) in sum.iter_mut().zip(columns) {
                *sum += column.dot(v);
            }
        }
        sum
    }

    /// The numbers `x` as a tangent: position and weight for every bone.
    pub(super) fn tangent(&self, x: &[f64]) -> Vec<(DVec3, f64)> {
        let (turned, weights) = x.split_at(3 * self.bone_count);
        let mut weights: Vec<f64> = weights
            .iter()
            .zip(&self.weight_units)
            .map(|(weight, unit)| weight * unit)
            .collect();
        weights.push(-weights.iter().sum::<f64>());
        weights.resize(self.bone_count, 0.0);
        turned
            .chunks_exact(3)
            .zip(&weights)
            .enumerate()
            .map(|(j, (x, &weight))| match self.pivots.get(j) {
                None => (DVec3::from_slice(x), 0.0),
                Some(pivot) => (DVec3::from_slice(x) + weight * pivot, weight),
            })
            .collect()
    }
}

impl Sample {
    fn matrix(&self, bone: BoneId) -> &DAffine3 {
        &self.palette.model_from_bone[bone.index()]
    }
}

/// The bones that act on a vertex and their weights, whichever kind of skin it is.
pub(super) fn influences(skin: &Skin, vertex: usize) -> (Vec<BoneId>, Vec<f64>) {
    match &skin.program {
        VertexProgram::Ssd(ssd) => {
            let row = ssd.weights.row(vertex).iter();
            row.map(|w| (w.bone, w.weight)).unzip()
        }
        VertexProgram::Linear(linear) => {
            let row = linear.influences.row(vertex).iter();
            row.map(|i| (i.bone, i.p.w)).unzip()
        }
        // Not linear in one weight per bone: tangents only come near these, as their docs say.
        VertexProgram::MultiWeight(multi) => {
            let row = multi.influences.row(vertex).iter();
            let mean = |weights: &[[f64; 4]; 3]| weights.iter().flatten().sum::<f64>() / 12.0;
            row.map(|m| (m.bone, mean(&m.weights))).unzip()
        }
        VertexProgram::DualQuaternion(dual) => {
            let row = dual.weighted.weights.row(vertex).iter();
            row.map(|w| (w.bone, w.weight)).unzip()
        }
    }
}

fn samples(skin: &Skin, poses: &[Pose]) -> Result<Vec<Sample>, NormalError> {
    par::map(poses.len(), |k| {
        Ok(Sample {
            share: 0.0,
            palette: skin.run_pose_program(&poses[k])?.palette,
            positions: skin.evaluate(&poses[k])?,
        })
    })
    .into_iter()
    .collect()
}

fn is_finite(sample: &Sample) -> bool {
    let mut matrices = sample.palette.model_from_bone.iter();
    matrices.all(|m| m.is_finite()) && sample.positions.iter().all(|p| p.is_finite())
}

/// Mean of `|lin(G_j)|²` over bones and samples.
fn mean_squared_scale(samples: &[Sample]) -> f64 {
    let squared = |m: &DAffine3| m.matrix3.to_cols_array().map(|v| v * v).iter().sum::<f64>();
    let all = samples.iter().flat_map(|s| &s.palette.model_from_bone);
    let (sum, count) = all.fold((0.0, 0usize), |(sum, n), m| (sum + squared(m), n + 1));
    sum / count.max(1) as f64
}

/// Poses in which every joint turns by itself, about its own place in the rest pose: the model of
/// independent joints with fixed translations (\[Merry07\] §3.3), sampled.
///
/// Turns reach a radian about each axis and never repeat; no random numbers.
fn independent_joints(skeleton: &Skeleton, count: usize) -> Vec<Pose> {
    let rest = skeleton.rest_pose();
    (0..count)
        .map(|k| {
            let mut pose = rest.clone();
            for (j, local) in pose.parent_from_bone.iter_mut().enumerate() {
                // Multiples of irrational steps fill the range evenly.
                let phase = |step: f64| 2.0 * ((k * 131 + j * 37 + 1) as f64 * step).fract() - 1.0;
                let turn = DVec3::new(phase(0.819_172_5), phase(0.671_043_6), phase(0.549_700_5));
                *local *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
            }
            pose
        })
        .collect()
}
