//! A few poses that stand for many: those that are farthest from each other, each with the share of poses it is nearest to.

use glam::{DAffine3, DVec3};

use super::lanes::{LANES, Lanes, ZERO, ZERO3};
use super::quadrics::BoneLanes;
use crate::par;
use crate::rig::Pose;
use crate::skin::{Skin, SkinError};

/// So many vertices, evenly spaced, say how far two poses are apart.
const PROBES: usize = 96;

/// Blocks of poses where more than one may be used, enough for the 200 poses that documents are judged in: vertices that
/// lose bones on a body of 152 bones, all of which move, are off by a tenth less with 40 poses than with 16, and by another
/// hundredth with 200 than with 128.
const MORE_BLOCKS: usize = 13;
/// Most rare poses.
const RARE_LANES: usize = 2;
/// What rare poses count for together.
const RARE_SHARE: f64 = 1e-3;

/// Poses side by side, and how much each counts.
#[derive(Debug, Clone)]
pub(super) struct SamplePoses {
    pub(super) weights: Lanes,
    pub(super) bones: Vec<BoneLanes>,
    /// Of each coefficient, in each pose.
    pub(super) coefficients: Vec<Lanes>,
    /// Which of the given poses were taken.
    pub(super) chosen: Vec<usize>,
}

impl SamplePoses {
    /// Takes as many poses as there are lanes, a few of them `rare` ones, which count little.
    ///
    /// # Panics
    /// Without poses.
    pub(super) fn choose(
        skin: &Skin,
        poses: &[Pose],
        rare: &[Pose],
        size: f64,
    ) -> Result<Self, SkinError> {
        let mut blocks = choose_blocks(skin, poses, rare, size, 1)?;
        Ok(blocks.swap_remove(0))
    }

    /// Takes more poses, in several blocks whose weights sum to 1 together.
    ///
    /// # Panics
    /// Without poses.
    pub(super) fn choose_many(
        skin: &Skin,
        poses: &[Pose],
        rare: &[Pose],
        size: f64,
    ) -> Result<Vec<Self>, SkinError> {
        choose_blocks(skin, poses, rare, size, MORE_BLOCKS)
    }
}

#[cfg(test)]
impl SamplePoses {
    /// The same poses with a bone's rest space in the place of the character's middle.
    pub(super) fn about_bone(mut self, bone: usize) -> Self {
        let origin = self.bones[bone].translation;
        for lanes in &mut self.bones {
            lanes.translation = super::lanes::sub3(&lanes.translation, &origin);
        }
        self
    }
}

fn choose_blocks(
    skin: &Skin,
    poses: &[Pose],
    rare: &[Pose],
    size: f64,
    blocks: usize,
) -> Result<Vec<SamplePoses>, SkinError> {
    assert!(!poses.is_empty(), "at least one pose");
    let rare = &rare[..rare.len().min(RARE_LANES)];
    let (common, poses) = (poses.len(), &[poses, rare].concat()[..]);
    let step = skin.vertex_count().div_ceil(PROBES).max(1);
    let shapes: Vec<(DVec3, Vec<DVec3>)> = par::map(poses.len(), |k| {
        let all = skin.evaluate(&poses[k])?;
        let mean = all.iter().sum::<DVec3>() / all.len().max(1) as f64;
        // Where the whole character stands does not matter.
        Ok((mean, all.iter().step_by(step).map(|v| *v - mean).collect()))
    })
    .into_iter()
    .collect::<Result<_, SkinError>>()?;
    let probed: Vec<&[DVec3]> = shapes.iter().map(|(_, probes)| &probes[..]).collect();
    let most = blocks * LANES - rare.len();
    let (mut chosen, mut shares) = spread(&probed[..common], most, size);
    if !rare.is_empty() {
        shares
            .iter_mut()
            .for_each(|share| *share *= 1.0 - RARE_SHARE);
        shares.extend(rare.iter().map(|_| RARE_SHARE / rare.len() as f64));
        chosen.extend(common..poses.len());
    }
    let block = |(chosen, shares): (&[usize], &[f64])| {
        let mut samples = SamplePoses {
            weights: ZERO,
            bones: Vec::new(),
            coefficients: vec![ZERO; skin.coefficients.len()],
            chosen: chosen.to_vec(),
        };
        let mut posed_from_rest = Vec::with_capacity(chosen.len());
        for (k, &pose) in chosen.iter().enumerate() {
            samples.weights[k] = shares[k];
            let input = skin.run_pose_program(&poses[pose])?;
            let mut matrices = skin.skeleton.posed_from_rest(&input.palette);
            // Small numbers leave more digits to quadrics.
            let center = shapes[pose].0;
            matrices.iter_mut().for_each(|m| m.translation -= center);
            for (m, lanes) in samples.coefficients.iter_mut().enumerate() {
                lanes[k] = input.coefficients[m];
            }
            posed_from_rest.push(matrices);
        }
        samples.bones = (0..skin.skeleton.bone_count())
            .map(|j| bone_lanes(&posed_from_rest, j))
            .collect();
        Ok(samples)
    };
    chosen
        .chunks(LANES)
        .zip(shares.chunks(LANES))
        .map(block)
        .collect()
}

fn bone_lanes(posed_from_rest: &[Vec<DAffine3>], j: usize) -> BoneLanes {
    let mut lanes = BoneLanes {
        linear: [ZERO; 9],
        translation: ZERO3,
    };
    for (k, matrices) in posed_from_rest.iter().enumerate() {
        let matrix = matrices[j];
        for row in 0..3 {
            for column in 0..3 {
                lanes.linear[3 * row + column][k] = matrix.matrix3.col(column)[row];
            }
            lanes.translation[row][k] = matrix.translation[row];
        }
    }
    lanes
}

/// The numbers of at most `most` shapes far apart, and the share of all shapes that are nearest to each.
fn spread(shapes: &[&[DVec3]], most: usize, size: f64) -> (Vec<usize>, Vec<f64>) {
    let apart = |a: usize, b: usize| {
        let pairs = shapes[a].iter().zip(shapes[b]);
        pairs.map(|(a, b)| a.distance_squared(*b)).sum::<f64>()
    };
    let alike = (1e-6 * size).powi(2) * shapes[0].len() as f64;
    let mut chosen = vec![0];
    let mut nearest: Vec<(f64, usize)> = (0..shapes.len()).map(|k| (apart(0, k), 0)).collect();
    while chosen.len() < most {
        let far = |a: &usize, b: &usize| nearest[*a].0.total_cmp(&nearest[*b].0).then(b.cmp(a));
        let Some(next) = (0..shapes.len()).max_by(far) else {
            break;
        };
        if nearest[next].0 <= alike {
            break;
        }
        for (k, best) in nearest.iter_mut().enumerate() {
            let own = apart(next, k);
            if own < best.0 {
                *best = (own, chosen.len());
            }
        }
        chosen.push(next);
    }
    let mut shares = vec![0.0; chosen.len()];
    for (_, cluster) in &nearest {
        shares[*cluster] += 1.0 / shapes.len() as f64;
    }
    (chosen, shares)
}
