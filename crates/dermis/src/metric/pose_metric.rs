//! The mean square of distances over poses, as a quadratic form on animation space.

use glam::{DAffine3, DMat3, DMat4, DVec3, DVec4};

use super::block_table::BlockTable;
use super::joint_model::frame_product;
use super::vector::project;
use super::{AnimationVector, JointModel, MetricError};
use crate::joint::JointStatistics;
use crate::par;
use crate::rig::{BoneId, Palette, Pose, Skeleton};
use crate::skin::{Influence, Skin};

/// An inner product on animation space: `⟨s, t⟩ = E[G s · G t] = sᵀ P t`.
///
/// With `s` the difference of two points, [`PoseMetric::norm`] is their root-mean-square distance over
/// all poses, `|s|₂,₂` of \[Merry07\] §3.3. `G` is taken as 3×4 matrices, so a block of `P` here is the
/// papers' less 1 in its last entry; the two differ by the product of the weights of `s` and `t`, which
/// is 0 for differences of points.
///
/// It is a norm except for vectors that are zero in every pose: with a fixed translation, moving a vertex's
/// weight between a bone and its parent at the joint does nothing (`P` is positive semidefinite, and of 4b
/// dimensions at least one per such joint is lost).
///
/// [`PoseMetric::new`] keeps O(b) numbers and finds a block of `P` in as many steps as there are bones
/// between the two; [`PoseMetric::with_all_blocks`] keeps all of `P`, O(b²), and finds it at once.
///
/// ```
/// use dermis::metric::{JointModel, PoseMetric, SurfacePoint, between};
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let fitted = dermis::fit::fit_ssd(&arm, &[0, 10, 20], &Default::default(),
///     &dermis::progress::Silent)?;
/// let skin = fitted.skin.to_linear()?;
/// let dermis::VertexProgram::Linear(program) = &skin.program else { unreachable!() };
/// // Without knowledge of the joints, take every rotation as equally likely.
/// let rest = skin.skeleton.rest_pose();
/// let models: Vec<JointModel> = rest.parent_from_bone.iter()
///     .map(|local| JointModel::UniformRotation { translation: local.translation })
///     .collect();
/// let metric = PoseMetric::new(&skin.skeleton, &models)?;
/// let s = between(program, SurfacePoint::Vertex(0), SurfacePoint::Vertex(1))?;
/// let at_rest = s.project(&skin.skeleton.palette(&rest)?).length();
/// // Both follow the upper arm, which turns as a whole.
/// assert!((metric.norm(s.terms()) - at_rest).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PoseMetric {
    form: Form,
    table: Option<BlockTable>,
    bone_count: usize,
}

#[derive(Debug, Clone)]
enum Form {
    /// Independent joints.
    Chain(Chain),
    /// The average over these poses.
    Samples(Vec<Palette>),
}

/// The expectations that describe independent joints.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) parents: Vec<Option<BoneId>>,
    /// `E[L_j]`.
    pub(super) means: Vec<DAffine3>,
    /// `E[G_jᵀ G_j]`, 3×4 form.
    pub(super) grams: Vec<DMat4>,
}

/// `GᵀG` of model space itself: `G = (I | 0)`.
pub(super) const MODEL_SPACE: DMat4 = DMat4::from_cols(DVec4::X, DVec4::Y, DVec4::Z, DVec4::ZERO);

impl PoseMetric {
    /// The metric of independent joints, one model per bone.
    ///
    /// Assumes that every bone has a joint of its own; [`PoseMetric::of_skin`] refuses skins where this is
    /// not so.
    ///
    /// Cost: O(b).
    ///
    /// # Errors
    /// [`MetricError::CountMismatch`], [`MetricError::NotFinite`], and [`MetricError::UnevenScale`] for a
    /// [`JointModel::Rotation`] below bones that stretch more one way than another.
    pub fn new(skeleton: &Skeleton, models: &[JointModel]) -> Result<Self, MetricError> {
        if models.len() != skeleton.bone_count() {
            return Err(MetricError::CountMismatch {
                what: "joint models",
                expected: skeleton.bone_count(),
                found: models.len(),
            });
        }
        let mut grams: Vec<DMat4> = Vec::with_capacity(models.len());
        for (j, (bone, model)) in skeleton.bones().iter().zip(models).enumerate() {
            let parent = bone.parent.map_or(MODEL_SPACE, |a| grams[a.index()]);
            let gram = model.bone_gram(&parent);
            let gram = gram.map_err(|[least, most]| MetricError::UnevenScale {
                bone: j,
                name: bone.name.clone(),
                least,
                most,
            })?;
            if !gram.is_finite() || !model.is_finite() {
                return Err(MetricError::NotFinite {
                    bone: j,
                    name: bone.name.clone(),
                });
            }
            grams.push(gram);
        }
        let chain = Chain {
            parents: skeleton.bones().iter().map(|bone| bone.parent).collect(),
            means: models.iter().map(JointModel::mean).collect(),
            grams,
        };
        Ok(Self {
            bone_count: models.len(),
            form: Form::Chain(chain),
            table: None,
        })
    }

    /// As [`PoseMetric::new`], but refuses skins with derived or proxy bones.
    ///
    /// # Errors
    /// As [`PoseMetric::new`]; [`MetricError::Placed`]: derived and proxy bones
    /// move with the joints that they follow, so they are not independent of them, and neither is the
    /// distance of their vertices.
    pub fn of_skin(skin: &Skin, models: &[JointModel]) -> Result<Self, MetricError> {
        refuse_computed_bones(skin)?;
        Self::new(&skin.skeleton, models)
    }

    /// The metric of a skin from the statistics that a file keeps, one per bone in any order.
    ///
    /// Joints turn, slide and stretch independently ([`JointModel::from_statistics`]). Statistics can be made
    /// from poses ([`joint_statistics`](crate::joint::joint_statistics)), from limits
    /// ([`statistics_from_limits`](super::statistics_from_limits)), or joint by joint from either.
    ///
    /// ```
    /// use dermis::metric::{PoseMetric, SurfacePoint, between};
    ///
    /// let arm = dermis::synth::arm(&Default::default());
    /// let poses: Vec<_> = arm.examples.examples().iter().map(|e| e.pose.clone()).collect();
    /// let skin = dermis::fit::fit_ssd(&arm.examples, &[0, 10, 20], &Default::default(),
    ///     &dermis::progress::Silent)?.skin.to_linear()?;
    /// let dermis::VertexProgram::Linear(program) = &skin.program else { unreachable!() };
    /// let last = SurfacePoint::Vertex(skin.vertex_count() as u32 - 1);
    /// let s = between(program, SurfacePoint::Vertex(0), last)?;
    ///
    /// let seen = dermis::joint::joint_statistics(&skin.skeleton, &poses);
    /// let from_joints = PoseMetric::from_statistics(&skin, &seen)?.norm(s.terms());
    /// let truth = PoseMetric::average(&skin, &poses)?.norm(s.terms());
    /// assert!((from_joints / truth - 1.0).abs() < 0.05, "{from_joints} against {truth}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`PoseMetric::of_skin`], and [`MetricError::BadStatistics`] for a bone without statistics, with two
    /// entries, or that does not exist.
    pub fn from_statistics(skin: &Skin, joints: &[JointStatistics]) -> Result<Self, MetricError> {
        refuse_computed_bones(skin)?;
        let bones = skin.skeleton.bones();
        let mut models: Vec<Option<JointModel>> = vec![None; bones.len()];
        for joint in joints {
            let j = joint.bone.index();
            let problem = match models.get(j) {
                None => format!("bone {j} does not exist: there are {}", bones.len()),
                Some(Some(_)) => format!("bone {j} ({}) has two entries", bones[j].name),
                Some(None) => {
                    models[j] = Some(JointModel::from_statistics(joint));
                    continue;
                }
            };
            return Err(MetricError::BadStatistics { problem });
        }
        let models: Vec<JointModel> = (models.into_iter().zip(bones).enumerate())
            .map(|(j, (model, bone))| {
                model.ok_or_else(|| MetricError::BadStatistics {
                    problem: format!("bone {j} ({}) has no entry", bone.name),
                })
            })
            .collect::<Result<_, _>>()?;
        Self::new(&skin.skeleton, &models)
    }

    /// The average over the given poses, each equally likely: assumes nothing about joints and covers no
    /// other poses.
    ///
    /// Works for every skin, because poses go through its pose program. Cost: O(poses · b)
    /// numbers, and a dot product visits every pose until [`PoseMetric::with_all_blocks`].
    ///
    /// # Errors
    /// [`MetricError::NoPoses`] and [`MetricError::Skin`].
    pub fn average(skin: &Skin, poses: &[Pose]) -> Result<Self, MetricError> {
        if poses.is_empty() {
            return Err(MetricError::NoPoses);
        }
        let palettes = poses
            .iter()
            .map(|pose| Ok(skin.run_pose_program(pose)?.palette))
            .collect::<Result<Vec<_>, MetricError>>()?;
        Ok(Self {
            bone_count: skin.skeleton.bone_count(),
            form: Form::Samples(palettes),
            table: None,
        })
    }

    /// The same metric with every block of `P` at hand.
    ///
    /// Cost: O(b²) time for independent joints, O(poses · b²) for an average; 64 b² bytes.
    #[must_use]
    pub fn with_all_blocks(mut self) -> Self {
        let table = match &self.form {
            Form::Chain(chain) => BlockTable::from_chain(chain),
            Form::Samples(palettes) => {
                let columns = par::map(self.bone_count, |k| {
                    (0..=k).map(|j| average_block(palettes, j, k)).collect()
                });
                BlockTable::from_columns(columns)
            }
        };
        self.table = Some(table);
        self
    }

    /// How many bones the metric has.
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// `E[G_jᵀ G_k]` with 3×4 matrices: a block of `P`, less 1 in the last entry.
    ///
    /// # Panics
    /// When there is no such bone.
    pub fn block(&self, j: BoneId, k: BoneId) -> DMat4 {
        if let Some(table) = &self.table {
            return match j <= k {
                true => *table.block(j.index(), k.index()),
                false => table.block(k.index(), j.index()).transpose(),
            };
        }
        match &self.form {
            Form::Chain(chain) => chain.block(j, k),
            Form::Samples(palettes) => average_block(palettes, j.index(), k.index()),
        }
    }

    /// `⟨s, t⟩ = E[G s · G t]`.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn dot(&self, s: &[Influence], t: &[Influence]) -> f64 {
        match (&self.table, &self.form) {
            (Some(table), _) => table.dot(s, t),
            (None, Form::Samples(palettes)) => {
                let products = palettes.iter().map(|g| project(s, g).dot(project(t, g)));
                products.sum::<f64>() / palettes.len() as f64
            }
            (None, Form::Chain(_)) => {
                let mut sum = 0.0;
                for a in s {
                    for b in t {
                        sum += a.p.dot(self.block(a.bone, b.bone) * b.p);
                    }
                }
                sum
            }
        }
    }

    /// `|s|² = E|G s|²`; rounding never makes it negative.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn squared_norm(&self, s: &[Influence]) -> f64 {
        self.dot(s, s).max(0.0)
    }

    /// `|s|₂,₂`: the root-mean-square length of `G s`.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn norm(&self, s: &[Influence]) -> f64 {
        self.squared_norm(s).sqrt()
    }

    /// The root-mean-square distance of two points.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn distance(&self, a: &[Influence], b: &[Influence]) -> f64 {
        self.norm(AnimationVector::difference(a, b).terms())
    }

    /// The part of `P` between some bones: a matrix of `4n` rows for `n` bones, row by row.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn restricted(&self, bones: &[BoneId]) -> Vec<f64> {
        let size = 4 * bones.len();
        let mut matrix = vec![0.0; size * size];
        for (a, &j) in bones.iter().enumerate() {
            for (b, &k) in bones.iter().enumerate() {
                let block = self.block(j, k);
                for r in 0..4 {
                    for c in 0..4 {
                        matrix[(4 * a + r) * size + 4 * b + c] = block.col(c)[r];
                    }
                }
            }
        }
        matrix
    }

    pub(super) fn table(&self) -> Option<&BlockTable> {
        self.table.as_ref()
    }

    pub(super) fn map_frames(&self, change: &super::transform::FrameChange) -> Self {
        let form = match &self.form {
            Form::Chain(chain) => Form::Chain(change.chain(chain)),
            Form::Samples(palettes) => Form::Samples(change.palettes(palettes)),
        };
        let same = Self {
            form,
            table: None,
            bone_count: self.bone_count,
        };
        match self.table {
            Some(_) => same.with_all_blocks(),
            None => same,
        }
    }
}

impl Chain {
    /// `P_jk = E[L_c…L_j]ᵀ P_cc E[L_c…L_k]` with `c` the nearest bone above both, or model space: joints
    /// on the two ways down are independent of each other and of `G_c` (\[Merry07\] Eq. 3.8).
    fn block(&self, j: BoneId, k: BoneId) -> DMat4 {
        let (mut left, mut right) = (Some(j), Some(k));
        let (mut down_left, mut down_right) = (DAffine3::IDENTITY, DAffine3::IDENTITY);
        // The later bone cannot be above the earlier one, so it is the one to step up from.
        while left != right {
            if left > right {
                let bone = left.expect("none comes before every bone").index();
                down_left = self.means[bone] * down_left;
                left = self.parents[bone];
            } else {
                let bone = right.expect("none comes before every bone").index();
                down_right = self.means[bone] * down_right;
                right = self.parents[bone];
            }
        }
        let common = left.map_or(MODEL_SPACE, |c| self.grams[c.index()]);
        let [l, r] = [down_left, down_right].map(DMat4::from);
        l.transpose() * common * r
    }
}

/// Returns an error when the skin has bones that are computed from other bones.
fn refuse_computed_bones(skin: &Skin) -> Result<(), MetricError> {
    let posed = skin.posed_bone_count();
    match skin.skeleton.bones().get(posed) {
        Some(first) => Err(MetricError::Placed {
            count: skin.pose_program.placed_bone_count(),
            name: first.name.clone(),
        }),
        None => Ok(()),
    }
}

fn average_block(palettes: &[Palette], j: usize, k: usize) -> DMat4 {
    let share = 1.0 / palettes.len() as f64;
    palettes.iter().fold(DMat4::ZERO, |sum, palette| {
        let frames = &palette.model_from_bone;
        sum + frame_product(&frames[j], &frames[k]) * share
    })
}

/// The linear-linear part of a block.
pub(super) struct LinearPart(pub(super) DMat3);

/// The sum of the diagonal.
pub(super) fn trace(m: &DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// How even a mean square of scales is.
pub(super) struct Scales {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) mean: f64,
    /// Largest entry off the diagonal.
    rest: f64,
}

pub(super) fn linear_part(block: &DMat4) -> LinearPart {
    LinearPart(DMat3::from_mat4(*block))
}

impl LinearPart {
    pub(super) fn diagonal_and_rest(&self) -> Scales {
        let m = &self.0;
        let diagonal = DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z);
        let rest = [m.x_axis.y, m.x_axis.z, m.y_axis.z].map(f64::abs);
        Scales {
            least: diagonal.min_element(),
            most: diagonal.max_element(),
            mean: diagonal.element_sum() / 3.0,
            rest: rest.into_iter().fold(0.0, f64::max),
        }
    }
}

impl Scales {
    /// Whether the scales are those of one number times the identity, but for single precision.
    pub(super) fn is_even(&self) -> bool {
        const ROUNDING: f64 = 1e-3;
        self.most - self.least <= ROUNDING * self.mean && self.rest <= ROUNDING * self.mean
    }
}
