//! All blocks of `P`, for metrics that are evaluated often.

use glam::{DAffine3, DMat3, DMat4, DVec3, DVec4};

use super::pose_metric::Chain;
use crate::skin::Influence;

/// `E[G_jᵀ G_k]` for `j ≤ k`, column by column: all `j` of a `k` stand together.
#[derive(Debug, Clone)]
pub(super) struct BlockTable {
    blocks: Vec<DMat4>,
}

fn column_start(k: usize) -> usize {
    k * (k + 1) / 2
}

impl BlockTable {
    /// Fills the table parents first: `P_jk = P_ja E[L_k]` with `a` the parent of `k` (\[Merry07\]
    /// Eq. 3.7), which holds for every `j ≠ k` that is not below `k`. No bone before `k` is below it.
    pub(super) fn from_chain(chain: &Chain) -> Self {
        let count = chain.grams.len();
        let mut blocks: Vec<DMat4> = Vec::with_capacity(column_start(count));
        // E[G_j], the blocks between a bone and model space.
        let mut means: Vec<DAffine3> = Vec::with_capacity(count);
        for k in 0..count {
            let local = &chain.means[k];
            match chain.parents[k].map(|a| a.index()) {
                None => {
                    blocks.extend(means.iter().map(|mean| with_model_space(mean, local)));
                    means.push(*local);
                }
                Some(a) => {
                    let start = column_start(a);
                    for j in 0..=a {
                        let product = times_affine(&blocks[start + j], local);
                        blocks.push(product);
                    }
                    for j in a + 1..k {
                        let above = blocks[column_start(j) + a].transpose();
                        blocks.push(times_affine(&above, local));
                    }
                    means.push(means[a] * *local);
                }
            }
            blocks.push(chain.grams[k]);
        }
        Self { blocks }
    }

    /// From the blocks `j = 0..=k` of every `k`.
    pub(super) fn from_columns(columns: Vec<Vec<DMat4>>) -> Self {
        Self {
            blocks: columns.into_iter().flatten().collect(),
        }
    }

    /// The block of two bones, the lower one first.
    pub(super) fn block(&self, j: usize, k: usize) -> &DMat4 {
        &self.blocks[column_start(k) + j]
    }

    pub(super) fn dot(&self, s: &[Influence], t: &[Influence]) -> f64 {
        let mut sum = 0.0;
        for a in s {
            for b in t {
                let (j, k) = (a.bone.index(), b.bone.index());
                sum += match j <= k {
                    true => a.p.dot(*self.block(j, k) * b.p),
                    false => b.p.dot(*self.block(k, j) * a.p),
                };
            }
        }
        sum
    }
}

/// `P · L` for an affine `L`: 48 products instead of 64.
fn times_affine(block: &DMat4, local: &DAffine3) -> DMat4 {
    let linear = |v: DVec3| block.x_axis * v.x + block.y_axis * v.y + block.z_axis * v.z;
    DMat4::from_cols(
        linear(local.matrix3.x_axis),
        linear(local.matrix3.y_axis),
        linear(local.matrix3.z_axis),
        linear(local.translation) + block.w_axis,
    )
}

/// `E[G_j]ᵀ (I | 0) L`: two trees meet in model space only.
fn with_model_space(mean: &DAffine3, local: &DAffine3) -> DMat4 {
    let turned: DMat3 = mean.matrix3.transpose();
    let column = |v: DVec3| -> DVec4 { (turned * v).extend(mean.translation.dot(v)) };
    DMat4::from_cols(
        column(local.matrix3.x_axis),
        column(local.matrix3.y_axis),
        column(local.matrix3.z_axis),
        column(local.translation),
    )
}
