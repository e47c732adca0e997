//! Sums over a skin's vertices, and the squared distance that they give for any matrices.

use glam::{DAffine3, DMat3, DVec3};

use crate::skin::LinearProgram;

/// `M = Σ p_i p_iᵀ`, a block of 4×4 for every pair of bones.
#[derive(Debug)]
pub(super) struct Moments {
    bone_count: usize,
    blocks: Vec<Moment>,
}

/// One block of `M`, in the parts that the formulas name: rows belong to bone j, columns to l.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// `Σ q_j q_lᵀ`.
    pub(super) linear: DMat3,
    /// `Σ q_j w_l`.
    pub(super) mixed: DVec3,
    /// `Σ w_j w_l`.
    pub(super) weight: f64,
}

/// `B = Σ v_i p_iᵀ` by bone, and `Σ |v_i|²`.
pub(super) struct Target {
    pub(super) linear: Vec<DMat3>,
    pub(super) offset: Vec<DVec3>,
    pub(super) squared: f64,
}

impl Moment {
    const ZERO: Self = Self {
        linear: DMat3::ZERO,
        mixed: DVec3::ZERO,
        weight: 0.0,
    };
}

impl Moments {
    pub(super) fn new(program: &LinearProgram, bone_count: usize) -> Self {
        let mut blocks = vec![Moment::ZERO; bone_count * bone_count];
        for row in program.influences.iter() {
            for a in row {
                for b in row {
                    let (qa, qb) = (a.p.truncate(), b.p.truncate());
                    let block = &mut blocks[a.bone.index() * bone_count + b.bone.index()];
                    block.linear += DMat3::from_cols(qa * qb.x, qa * qb.y, qa * qb.z);
                    block.mixed += qa * b.p.w;
                    block.weight += a.p.w * b.p.w;
                }
            }
        }
        Self { bone_count, blocks }
    }

    pub(super) fn block(&self, j: usize, l: usize) -> &Moment {
        &self.blocks[j * self.bone_count + l]
    }

    /// `Σ |G p_i − v_i|²`.
    pub(super) fn energy(&self, sums: &Target, matrices: &[DAffine3]) -> f64 {
        let mut energy = sums.squared;
        for (j, g) in matrices.iter().enumerate() {
            energy -= 2.0 * (dot(g.matrix3, sums.linear[j]) + g.translation.dot(sums.offset[j]));
            for (l, h) in self.row(j) {
                let other = matrices[l];
                energy += dot(g.matrix3 * h.linear, other.matrix3)
                    + 2.0 * (g.matrix3 * h.mixed).dot(other.translation)
                    + h.weight * g.translation.dot(other.translation);
            }
        }
        energy
    }

    /// The bones that share a vertex with bone `j`, and their blocks.
    pub(super) fn row(&self, j: usize) -> impl Iterator<Item = (usize, &Moment)> {
        let row = &self.blocks[j * self.bone_count..(j + 1) * self.bone_count];
        row.iter()
            .enumerate()
            .filter(|(_, m)| m.weight != 0.0 || m.mixed != DVec3::ZERO || m.linear != DMat3::ZERO)
    }
}

impl Target {
    pub(super) fn new(program: &LinearProgram, target: &[DVec3], bone_count: usize) -> Self {
        let mut sums = Self {
            linear: vec![DMat3::ZERO; bone_count],
            offset: vec![DVec3::ZERO; bone_count],
            squared: target.iter().map(|v| v.length_squared()).sum(),
        };
        for (row, &v) in program.influences.iter().zip(target) {
            for influence in row {
                let q = influence.p.truncate();
                let j = influence.bone.index();
                sums.linear[j] += DMat3::from_cols(v * q.x, v * q.y, v * q.z);
                sums.offset[j] += v * influence.p.w;
            }
        }
        sums
    }
}

/// `Σ_rc A_rc B_rc`.
fn dot(a: DMat3, b: DMat3) -> f64 {
    (0..3).map(|c| a.col(c).dot(b.col(c))).sum()
}
