//! What is known of one joint: the statistical models of \[Merry07\] §3.3.1.

use glam::{DAffine3, DMat3, DMat4, DVec3};

use super::pose_metric::{linear_part, trace};
use super::{JointMoments, MetricError};
use crate::joint::JointStatistics;
use crate::rig::{Palette, Pose, Skeleton};

/// What is known of one joint's motion. Joints of one skeleton may have different models.
///
/// In every model joints are independent of each other. `G` is the matrix from the joint's bone to
/// model space and `L` that to its parent, `lin` a matrix's linear part and `off` its translation.
/// Shapes: 3×3 and 4×4 matrices are symmetric where they are means of squares.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum JointModel {
    /// Independent joints: the mean of squares is given with the bone's whole chain in it.
    Independent {
        /// `E[L]`.
        mean: DAffine3,
        /// `E[GᵀG]` with `G` as a 3×4 matrix: the papers' block less 1 in the last entry.
        bone_gram: DMat4,
    },
    /// Independent components: the translation is also independent of the linear part.
    IndependentComponents {
        /// `E[L]`.
        mean: DAffine3,
        /// `E[lin(G)ᵀ lin(G)]`: how the chain stretches.
        linear_gram: DMat3,
        /// `E[off(L)ᵀ lin(Gₐ)ᵀ lin(Gₐ) off(L)]`, `Gₐ` being the parent's: the bone's squared length in
        /// model space.
        squared_length: f64,
    },
    /// Fixed translations: the bone is tied to one point of its parent.
    FixedTranslation {
        /// `off(L)`, in the parent's frame and model units.
        translation: DVec3,
        /// `E[lin(L)]`.
        mean_linear: DMat3,
        /// `E[lin(G)ᵀ lin(G)]`.
        linear_gram: DMat3,
    },
    /// Rotation and, in the papers, a fixed translation, below bones that stretch evenly if at all.
    ///
    /// Here the joint may also slide and stretch, all three independently;
    /// [`JointModel::rotation`] is the papers' model.
    Rotation {
        /// `E[L]`.
        mean: DAffine3,
        /// `E[lin(L)ᵀ lin(L)]`: the identity for rotations.
        linear_square: DMat3,
        /// Covariance of `off(L)`: zero for a fixed translation.
        translation_covariance: DMat3,
    },
    /// Every rotation is as likely as any other, and the translation is fixed: needs no poses or clips.
    UniformRotation {
        /// `off(L)`, in the parent's frame and model units.
        translation: DVec3,
    },
    /// The joint does not move: with all joints fixed, the metric is that of one pose.
    Fixed {
        /// `L`.
        parent_from_bone: DAffine3,
    },
    /// First and second moments of `L`: assumes only that the joint is independent of the bones above.
    Moments(JointMoments),
}

/// The models that can be made from poses, from the fewest assumptions to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelKind {
    /// [`JointModel::Moments`].
    Moments,
    /// [`JointModel::Independent`].
    Independent,
    /// [`JointModel::IndependentComponents`].
    IndependentComponents,
    /// [`JointModel::FixedTranslation`], at the mean translation.
    FixedTranslation,
    /// [`JointModel::Rotation`] as the papers have it, at the mean translation.
    Rotation,
    /// [`JointModel::UniformRotation`], at the mean translation.
    UniformRotation,
    /// [`JointModel::Fixed`], in the rest pose.
    Fixed,
}

impl ModelKind {
    /// Every kind, in the order above.
    pub const ALL: [Self; 7] = [
        Self::Moments,
        Self::Independent,
        Self::IndependentComponents,
        Self::FixedTranslation,
        Self::Rotation,
        Self::UniformRotation,
        Self::Fixed,
    ];

    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Moments => "moments",
            Self::Independent => "independent joints",
            Self::IndependentComponents => "independent components",
            Self::FixedTranslation => "fixed translations",
            Self::Rotation => "rotations",
            Self::UniformRotation => "uniform rotations",
            Self::Fixed => "fixed skeleton",
        }
    }
}

impl JointModel {
    /// The papers' "rotation and fixed translation only".
    pub fn rotation(mean_rotation: DMat3, translation: DVec3) -> Self {
        Self::Rotation {
            mean: DAffine3 {
                matrix3: mean_rotation,
                translation,
            },
            linear_square: DMat3::IDENTITY,
            translation_covariance: DMat3::ZERO,
        }
    }

    /// The model that a file's joint statistics allow: turns, slides and stretches, independently.
    ///
    /// Statistics hold how far translations stray, but not in which direction. Below bones that stretch
    /// evenly, which this model requires, the direction makes no difference.
    pub fn from_statistics(seen: &JointStatistics) -> Self {
        Self::Rotation {
            mean: seen.mean_parent_from_bone,
            linear_square: seen.linear_square.unwrap_or(DMat3::IDENTITY),
            translation_covariance: DMat3::IDENTITY * (seen.translation_deviation.powi(2) / 3.0),
        }
    }

    /// `E[L]`.
    pub fn mean(&self) -> DAffine3 {
        match self {
            Self::Independent { mean, .. }
            | Self::IndependentComponents { mean, .. }
            | Self::Rotation { mean, .. } => *mean,
            Self::FixedTranslation {
                translation,
                mean_linear,
                ..
            } => DAffine3 {
                matrix3: *mean_linear,
                translation: *translation,
            },
            Self::UniformRotation { translation } => DAffine3 {
                matrix3: DMat3::ZERO,
                translation: *translation,
            },
            Self::Fixed { parent_from_bone } => *parent_from_bone,
            Self::Moments(moments) => *moments.mean(),
        }
    }

    /// `E[GᵀG]` of the bone from that of its parent, both with `G` as 3×4 matrices.
    ///
    /// Errs with the parent's smallest and largest mean square of scale, when the model needs them to
    /// be equal and they are not.
    pub(super) fn bone_gram(&self, parent: &DMat4) -> Result<DMat4, [f64; 2]> {
        let above = linear_part(parent);
        let even = || {
            let scales = above.diagonal_and_rest();
            match scales.is_even() {
                true => Ok(scales.mean),
                false => Err([scales.least, scales.most]),
            }
        };
        Ok(match self {
            Self::Independent { bone_gram, .. } => *bone_gram,
            Self::IndependentComponents {
                mean,
                linear_gram,
                squared_length,
            } => components(parent, mean, *linear_gram, *squared_length),
            Self::FixedTranslation {
                translation,
                linear_gram,
                ..
            } => {
                let length = translation.dot(above.0 * *translation);
                components(parent, &self.mean(), *linear_gram, length)
            }
            Self::Rotation {
                mean,
                linear_square,
                translation_covariance,
            } => {
                let scale = even()?;
                let wander = trace(&(above.0 * *translation_covariance));
                let length = mean.translation.dot(above.0 * mean.translation) + wander;
                components(parent, mean, *linear_square * scale, length)
            }
            Self::UniformRotation { translation } => {
                // E[Rᵀ A R] = trace(A)/3 · I for even rotations (\[Merry07\] B.2).
                let gram = DMat3::IDENTITY * (trace(&above.0) / 3.0);
                let length = translation.dot(above.0 * *translation);
                components(parent, &self.mean(), gram, length)
            }
            Self::Fixed { parent_from_bone } => {
                let l = DMat4::from(*parent_from_bone);
                l.transpose() * *parent * l
            }
            Self::Moments(moments) => moments.conjugate(parent),
        })
    }

    pub(super) fn is_finite(&self) -> bool {
        self.mean().is_finite()
            && match self {
                Self::Independent { bone_gram, .. } => bone_gram.is_finite(),
                Self::IndependentComponents {
                    linear_gram,
                    squared_length,
                    ..
                } => linear_gram.is_finite() && squared_length.is_finite(),
                Self::FixedTranslation { linear_gram, .. } => linear_gram.is_finite(),
                Self::Rotation {
                    linear_square,
                    translation_covariance,
                    ..
                } => linear_square.is_finite() && translation_covariance.is_finite(),
                Self::UniformRotation { .. } | Self::Fixed { .. } => true,
                Self::Moments(moments) => moments.is_finite(),
            }
    }
}

/// \[Merry07\] Eq. 3.10 to 3.12, with the marks for linear part and translation put back:
///
/// ```text
/// E[lin(G)ᵀ off(G)] = E[lin L]ᵀ (E[lin(Gₐ)ᵀ off(Gₐ)] + E[lin(Gₐ)ᵀ lin(Gₐ)] E[off L])
/// E|off G|² = E|off Gₐ|² + 2 E[off(Gₐ)ᵀ lin(Gₐ)] E[off L] + E[off(L)ᵀ lin(Gₐ)ᵀ lin(Gₐ) off(L)]
/// ```
fn components(parent: &DMat4, mean: &DAffine3, linear: DMat3, squared_length: f64) -> DMat4 {
    let above = linear_part(parent).0;
    let above_cross = parent.w_axis.truncate();
    let cross = mean.matrix3.transpose() * (above_cross + above * mean.translation);
    let offset = parent.w_axis.w + 2.0 * above_cross.dot(mean.translation) + squared_length;
    DMat4::from_cols(
        linear.x_axis.extend(cross.x),
        linear.y_axis.extend(cross.y),
        linear.z_axis.extend(cross.z),
        cross.extend(offset),
    )
}

/// A model of each joint from poses that are equally likely, all of one kind.
///
/// Poses must have every bone of the skeleton. Derived bones and proxy bones are computed from other bones,
/// so they are not joints: [`PoseMetric::of_skin`](super::PoseMetric::of_skin) refuses skins that have them.
///
/// # Errors
/// [`MetricError::NoPoses`], and [`MetricError::Rig`] when a pose has another number of bones.
pub fn models_from_poses(
    skeleton: &Skeleton,
    poses: &[Pose],
    kind: ModelKind,
) -> Result<Vec<JointModel>, MetricError> {
    if poses.is_empty() {
        return Err(MetricError::NoPoses);
    }
    let palettes: Vec<Palette> = (poses.iter())
        .map(|pose| skeleton.palette(pose))
        .collect::<Result<_, _>>()?;
    let rest = skeleton.rest_pose();
    let share = 1.0 / poses.len() as f64;
    let bones = skeleton.bones().iter().enumerate();
    Ok(bones
        .map(|(j, bone)| {
            let locals: Vec<DAffine3> = poses.iter().map(|pose| pose.parent_from_bone[j]).collect();
            let moments = JointMoments::from_equal_samples(&locals);
            let mean = *moments.mean();
            let frames = palettes.iter().map(|palette| palette.model_from_bone[j]);
            let linear_gram = || {
                frames.clone().fold(DMat3::ZERO, |sum, g| {
                    sum + (g.matrix3.transpose() * g.matrix3) * share
                })
            };
            match kind {
                ModelKind::Moments => JointModel::Moments(moments),
                ModelKind::Independent => JointModel::Independent {
                    mean,
                    bone_gram: frames
                        .clone()
                        .fold(DMat4::ZERO, |sum, g| sum + gram_of_frame(&g) * share),
                },
                ModelKind::IndependentComponents => {
                    let above = palettes.iter().map(|palette| {
                        bone.parent.map_or(DMat3::IDENTITY, |a| {
                            palette.model_from_bone[a.index()].matrix3
                        })
                    });
                    let lengths = above
                        .zip(&locals)
                        .map(|(above, local)| share * (above * local.translation).length_squared());
                    JointModel::IndependentComponents {
                        mean,
                        linear_gram: linear_gram(),
                        squared_length: lengths.sum(),
                    }
                }
                ModelKind::FixedTranslation => JointModel::FixedTranslation {
                    translation: mean.translation,
                    mean_linear: mean.matrix3,
                    linear_gram: linear_gram(),
                },
                ModelKind::Rotation => JointModel::rotation(mean.matrix3, mean.translation),
                ModelKind::UniformRotation => JointModel::UniformRotation {
                    translation: mean.translation,
                },
                ModelKind::Fixed => JointModel::Fixed {
                    parent_from_bone: rest.parent_from_bone[j],
                },
            }
        })
        .collect())
}

/// `GᵀG` of one pose, `G` as a 3×4 matrix.
pub(super) fn gram_of_frame(g: &DAffine3) -> DMat4 {
    frame_product(g, g)
}

/// `G_jᵀ G_k` of one pose, both as 3×4 matrices.
pub(super) fn frame_product(j: &DAffine3, k: &DAffine3) -> DMat4 {
    let turned = j.matrix3.transpose();
    let column = |v: DVec3| (turned * v).extend(j.translation.dot(v));
    DMat4::from_cols(
        column(k.matrix3.x_axis),
        column(k.matrix3.y_axis),
        column(k.matrix3.z_axis),
        column(k.translation),
    )
}
