//! Influence sets from the examples alone.
//!
//! A vertex may use the bones that explain its motion best *in animation space*, which are not
//! those with the largest blend weights: a bone may help with a small weight and a large vector.
//! So twice as many bones as allowed are first found by linear blend skinning, whose weights none
//! negative keep distant bones out; animation-space vectors are fitted to all of them; and then
//! the bone whose loss raises the error least is taken out until few enough are left.
//!
//! Taking one bone out of a least-squares solution `q = A⁻¹b` costs `q_jᵀ (A⁻¹)_jj⁻¹ q_j`, and the
//! solution without it follows by the same block, so nothing is solved anew.

use glam::{DMat4, DVec4};

use super::anim_space::{FitFrames, distinct_sets, full_normal};
use super::{FitError, InfluenceSets, SsdOptions, fit_ssd};
use crate::example::ExampleSet;
use crate::par;
use crate::progress::Progress;
use crate::rig::BoneId;
use crate::rows::Rows;
use crate::skin::{VertexProgram, Weight};
use crate::solve::{SLOT, SymmetricEigen};

/// Bones tried for every one that is kept.
const TRIED_PER_KEPT: usize = 2;

pub(super) fn automatic_sets(
    set: &ExampleSet,
    training: &[usize],
    max_influences: usize,
    progress: &dyn Progress,
) -> Result<InfluenceSets, FitError> {
    let env = |name: &str, default: f64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let options = SsdOptions {
        max_influences: (env("TRIED", TRIED_PER_KEPT as f64) * max_influences as f64) as usize,
        ..SsdOptions::default()
    };
    let fitted = fit_ssd(set, training, &options, progress)?;
    let VertexProgram::Ssd(ssd) = fitted.skin.program else {
        unreachable!("linear blend skinning was fitted");
    };
    let bone_count = set.skeleton().bone_count();
    let mut pools: Vec<Vec<BoneId>> = ssd.weights.iter().map(|row| row.iter().map(|w| w.bone).collect()).collect();
    if env("NEAR", 0.0) > 0.0 {
        let topology = crate::mesh::Topology::new(set.rest().vertex_count(), set.rest().triangles());
        pools = (0..pools.len()).map(|i| {
            let mut pool = pools[i].clone();
            for &n in topology.neighbors(i) { for w in ssd.weights.row(n as usize) { if w.weight > 0.01 && !pool.contains(&w.bone) && pool.len() < 16 { pool.push(w.bone); } } }
            pool
        }).collect();
    }
    if env("FAMILY", 0.0) > 0.0 {
        for pool in &mut pools {
            for b in pool.clone() {
                if let Some(p) = set.skeleton().bones()[b.index()].parent && !pool.contains(&p) { pool.push(p); }
            }
        }
    }
    let pools = InfluenceSets::new(pools, bone_count)?;
    let frames = FitFrames::new(set, training);
    let (distinct, kind_of) = distinct_sets(&pools);
    let lambda = env("LAMBDA", 1e-3);
    let inverses = par::map(distinct.len(), |kind| inverse(&full_normal(&frames, distinct[kind]), lambda));
    let rows = par::map(pools.vertex_count(), |i| {
        let bones = pools.bones(i);
        if bones.len() <= max_influences {
            return bones.to_vec();
        }
        let right = right_side(&frames, bones, &ssd.weights, lambda, i);
        prune(bones, inverses[kind_of[i] as usize].clone(), &right, max_influences)
    });
    InfluenceSets::new(rows, bone_count)
}

/// How strongly the sum of weights is held at 1: far above what poses say, far from rounding.
const SUM_HELD: f64 = 1e4;

fn right_side(
    frames: &FitFrames<'_>,
    bones: &[BoneId],
    prior: &Rows<Weight>,
    lambda: f64,
    i: usize,
) -> Vec<DVec4> {
    let mut right = frames.pull(bones, i);
    for (right, bone) in right.iter_mut().zip(bones) {
        right.w += SUM_HELD;
        if let Some(share) = prior.row(i).iter().find(|w| w.bone == *bone) {
            *right += lambda * share.weight * frames.rest_in_frame(i, bone.index()).extend(1.0);
        }
    }
    right
}

/// `(D + λI + s eeᵀ)⁻¹`, where `e` sums the weights, as blocks of four by four.
fn inverse(normal: &[f64], lambda: f64) -> Vec<DMat4> {
    let size = normal.len().isqrt();
    let mut held = normal.to_vec();
    for r in 0..size {
        held[r * size + r] += lambda;
        if r % SLOT == 3 {
            for c in (3..size).step_by(SLOT) {
                held[r * size + c] += SUM_HELD;
            }
        }
    }
    let eigen = SymmetricEigen::new(&held, size);
    let mut inverse = vec![0.0; size * size];
    for (vector, value) in eigen.vectors.chunks_exact(size).zip(&eigen.values) {
        for (r, &a) in vector.iter().enumerate() {
            for (entry, &b) in inverse[r * size..(r + 1) * size].iter_mut().zip(vector) {
                *entry += a * b / value.max(lambda);
            }
        }
    }
    let blocks = size / SLOT;
    (0..blocks * blocks)
        .map(|at| {
            let (r, c) = (SLOT * (at / blocks), SLOT * (at % blocks));
            let column = |k: usize| {
                DVec4::from_array([0, 1, 2, 3].map(|row| inverse[(r + row) * size + c + k]))
            };
            DMat4::from_cols(column(0), column(1), column(2), column(3))
        })
        .collect()
}

/// Takes bones out, the least missed first, until `keep` are left.
fn prune(bones: &[BoneId], mut inverse: Vec<DMat4>, right: &[DVec4], keep: usize) -> Vec<BoneId> {
    let count = bones.len();
    let mut left: Vec<usize> = (0..count).collect();
    let mut q: Vec<DVec4> = (0..count)
        .map(|r| (0..count).map(|c| inverse[r * count + c] * right[c]).sum())
        .collect();
    while left.len() > keep {
        let block = |j: usize| inverse[j * count + j].inverse();
        let cost = |j: usize| q[j].dot(block(j) * q[j]);
        let out = left
            .iter()
            .copied()
            .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
            .expect("more bones than are kept");
        left.retain(|&j| j != out);
        let own = block(out);
        let step = own * q[out];
        for &r in &left {
            let toward = inverse[r * count + out];
            q[r] -= toward * step;
            for &c in &left {
                let change = toward * (own * inverse[out * count + c]);
                inverse[r * count + c] -= change;
            }
        }
    }
    left.into_iter().map(|j| bones[j]).collect()
}
