//! The metric of a model that was moved as a whole (\[Merry07\] §3.4).

use glam::{DAffine3, DMat4};

use super::pose_metric::Chain;
use super::{JointModel, JointMoments, PoseMetric};
use crate::rig::{Palette, Similarity};

/// How frames change when a model is moved: `G' = M G S⁻¹`, `S` scaling the bone's own frame.
///
/// The scale goes into the positions, not into the bones: `p' = S p`, so `G'p' = M G p`, and rotations stay
/// rotations.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameChange<'a>(&'a Similarity);

impl PoseMetric {
    /// The metric of the model after it was moved by a [`Similarity`]. The poses that the metric was made
    /// from are not needed.
    ///
    /// Distances of the moved model are those of the old one times the scale. Blocks follow
    /// \[Merry07\] Eq. 3.31, restated for every joint: `E[L']` and `E[G'ᵀG']` from `E[L]` and
    /// `E[GᵀG]` alone.
    #[must_use]
    pub fn transformed(&self, similarity: &Similarity) -> Self {
        self.map_frames(&FrameChange(similarity))
    }
}

impl JointModel {
    /// The model of a joint after the whole character was moved; `is_root` for a bone that hangs in
    /// model space.
    ///
    /// `frame_mean` is `E[G]` of its bone, the product of the means down to it: only
    /// [`JointModel::Independent`] uses it.
    #[must_use]
    pub fn transformed(
        &self,
        similarity: &Similarity,
        is_root: bool,
        frame_mean: &DAffine3,
    ) -> Self {
        let local = |mean: &DAffine3| similarity.local(mean, is_root);
        let s = similarity.scale();
        match self {
            Self::Independent { mean, bone_gram } => Self::Independent {
                mean: local(mean),
                bone_gram: moved_gram(similarity, bone_gram, frame_mean),
            },
            Self::IndependentComponents {
                mean,
                linear_gram,
                squared_length,
            } => Self::IndependentComponents {
                mean: local(mean),
                linear_gram: *linear_gram,
                // Of a root, |s R t + d|² = s²|t|² + 2 s R t·d + |d|².
                squared_length: match is_root {
                    false => s * s * squared_length,
                    true => {
                        let d = similarity.translation();
                        let turned = similarity.rotation() * mean.translation;
                        s * s * squared_length + 2.0 * s * turned.dot(d) + d.length_squared()
                    }
                },
            },
            Self::FixedTranslation { linear_gram, .. } => {
                let mean = local(&self.mean());
                Self::FixedTranslation {
                    translation: mean.translation,
                    mean_linear: mean.matrix3,
                    linear_gram: *linear_gram,
                }
            }
            Self::Rotation {
                mean,
                linear_square,
                translation_covariance,
            } => {
                let covariance = *translation_covariance * (s * s);
                let turn = glam::DMat3::from_quat(similarity.rotation());
                Self::Rotation {
                    mean: local(mean),
                    linear_square: *linear_square,
                    translation_covariance: match is_root {
                        true => turn * covariance * turn.transpose(),
                        false => covariance,
                    },
                }
            }
            Self::UniformRotation { .. } => Self::UniformRotation {
                translation: local(&self.mean()).translation,
            },
            Self::Fixed { parent_from_bone } => Self::Fixed {
                parent_from_bone: local(parent_from_bone),
            },
            Self::Moments(moments) => Self::Moments(moved_moments(moments, similarity, is_root)),
        }
    }
}

fn moved_moments(moments: &JointMoments, similarity: &Similarity, is_root: bool) -> JointMoments {
    let (left, right) = similarity.local_factors(is_root);
    moments.between(&left, &right)
}

/// `E[G'ᵀG']` with `G' = M G S⁻¹`: the offsets' parts need `E[G]`, as in \[Merry07\] after Eq. 3.32.
///
/// With `G = (A | t)`, `A' = R A` and `t' = s R t + d`: `A'ᵀA'` stays, `A'ᵀt' = s AᵀT + Aᵀ Rᵀ d`, and
/// `|t'|² = s²|t|² + 2 s t·Rᵀd + |d|²`.
fn moved_gram(similarity: &Similarity, gram: &DMat4, mean: &DAffine3) -> DMat4 {
    let s = similarity.scale();
    let d = similarity.translation();
    let turned = similarity.rotation().inverse() * d;
    let cross = s * gram.w_axis.truncate() + mean.matrix3.transpose() * turned;
    let offset =
        s * s * gram.w_axis.w + 2.0 * s * mean.translation.dot(turned) + d.length_squared();
    DMat4::from_cols(
        gram.x_axis.truncate().extend(cross.x),
        gram.y_axis.truncate().extend(cross.y),
        gram.z_axis.truncate().extend(cross.z),
        cross.extend(offset),
    )
}

impl FrameChange<'_> {
    pub(super) fn chain(&self, chain: &Chain) -> Chain {
        // E[G_j] is the product of the joints' means: they are independent.
        let mut frame_means: Vec<DAffine3> = Vec::with_capacity(chain.means.len());
        for (parent, mean) in chain.parents.iter().zip(&chain.means) {
            let above = parent.map_or(DAffine3::IDENTITY, |a| frame_means[a.index()]);
            frame_means.push(above * *mean);
        }
        let grams = chain.grams.iter().zip(&frame_means);
        let locals = chain.parents.iter().zip(&chain.means);
        Chain {
            parents: chain.parents.clone(),
            means: locals
                .map(|(parent, mean)| self.0.local(mean, parent.is_none()))
                .collect(),
            grams: grams
                .map(|(gram, mean)| moved_gram(self.0, gram, mean))
                .collect(),
        }
    }

    pub(super) fn palettes(&self, palettes: &[Palette]) -> Vec<Palette> {
        let moved = |palette: &Palette| Palette {
            model_from_bone: (palette.model_from_bone.iter())
                .map(|frame| self.0.frame(frame))
                .collect(),
        };
        palettes.iter().map(moved).collect()
    }
}
