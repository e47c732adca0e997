//! Animation space as a linear blend skin, exactly, over more bones.
//!
//! A linear blend vertex uses one rest position `v̂` for all its bones; an animation-space vertex has
//! another position for each. The difference, `d_j = p_j / w_j − Ĝ_j⁻¹ v̂`, can be carried by copies
//! of the bone: bones that move with it, but are bound at an offset `c_m`, with inverse bind matrix
//! `T(c_m) Ĝ_j⁻¹`. When the offsets are the corners of a tetrahedron around all deviations of the
//! bone, and `λ_m` are the barycentric coordinates of `d_j` in it,
//!
//! ```text
//! Σ_m w_j λ_m (Ĝ_j⁻¹ v̂ + c_m) = w_j (Ĝ_j⁻¹ v̂ + d_j) = p_j
//! ```
//!
//! with weights `w_j λ_m` that are never negative when `w_j` is not.
//!
//! A weight that is negative, or zero with a displacement, has to be changed first. The total weight on a
//! bone is the sum over its copies, so no choice of copies helps. But where a joint's translation `t_j` is
//! the same in all poses, the origin of bone j is a point of its parent, `G_j (0, 1) = G_parent (t_j, 1)`,
//! and weight can move freely from one to the other (\[Merry07\] B.3). Within a part of the skeleton joined
//! in this way, all weights of the same sum are equivalent; each is raised to a share of that sum, so that no
//! deviation, which is divided by the weight, becomes too large.
//!
//! Not exact, and reported as such: weight that has to cross a joint whose translation changes.

use glam::{DAffine3, DVec3, DVec4};

use super::FitError;
use super::tetrahedron::Tetrahedron;
use crate::rig::{Bone, BoneId, Pose, Skeleton, Trs};
use crate::skin::{LinearProgram, Rows, Skin, SkinError, SsdProgram, VertexProgram, Weight};

/// Error of a vertex, as a share of the diagonal, up to which an influence needs no copies: half of the
/// rounding of single precision. Also how far a joint may stray and still count as keeping its translation.
const SMALLEST: f64 = 3e-8;

/// Deviations above this share of the diagonal are brought nearer by moving weight to their bone:
/// in single precision a tetrahedron loses about 1e-7 of its size.
const LARGEST: f64 = 1.0;

/// Where weights are moved, every bone gets at least this much of an even share: deviations are divided by
/// the weight, so small weights make large offsets, and large ones leave the other bones too little.
const LEAST_SHARE: f64 = 0.5;

/// Weights, and displacements as shares of the diagonal, below this count as zero.
const ROUNDING: f64 = 1e-12;

/// How far from 1 the sum of a vertex's weights may be: rounding of single precision.
const SUM_TOLERANCE: f64 = 1e-5;

/// Sums of weights up to this are too small to share.
const NO_WEIGHT: f64 = 1e-6;

/// A linear blend skin that equals an animation-space skin.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactSsd {
    /// The skin; copies of bones follow after all bones of the given one.
    pub skin: Skin,
    /// How many bones were added.
    pub copy_count: usize,
    /// Vertices whose weights were moved between bones.
    pub moved_count: usize,
    /// Those of them whose weight had to cross a joint that does not keep its translation: they may be off by
    /// up to `max_error`.
    pub inexact_count: usize,
    /// Largest distance to the given skin in the given poses, as a share of the rest box's diagonal;
    /// 0 without poses.
    pub max_error: f64,
}

impl ExactSsd {
    /// A pose of the given skin as one of this skin.
    pub fn pose(&self, given: &Pose) -> Pose {
        let mut pose = given.clone();
        let bone_count = self.skin.skeleton.bone_count();
        pose.parent_from_bone.resize(bone_count, DAffine3::IDENTITY);
        pose
    }
}

/// The linear blend skin that equals an animation-space skin whose joints turn in place.
///
/// As [`exact_ssd`] without poses: where weights have to be moved between bones, every joint is assumed to
/// keep its default translation.
///
/// # Errors
/// As [`exact_ssd`].
pub fn to_exact_ssd(skin: &Skin) -> Result<Skin, FitError> {
    exact_ssd(skin, &[]).map(|exact| exact.skin)
}

/// The linear blend skin that equals an animation-space skin, over up to five times as many bones.
///
/// A vertex has up to four weights for each influence. `poses` show which joints keep their translation, and
/// are used to measure the result; without poses, all joints are assumed to keep it. Linear blend skins stay
/// as they are.
///
/// ```
/// use dermis::fit::exact_ssd;
///
/// let tube = dermis::synth::tube(&dermis::synth::TubeOptions {
///     ring_count: 10, segment_count: 8, bone_count: 2, example_count: 4,
/// });
/// let mut skin = tube.truth.to_linear()?;
/// if let dermis::VertexProgram::Linear(linear) = &mut skin.program {
///     let mut influences = linear.influences.iter().map(<[_]>::to_vec).collect::<Vec<_>>();
///     let shared = influences.iter_mut().find(|row| row.len() == 2).expect("two bones meet");
///     shared[0].p.x += 0.1;
///     linear.influences = influences.into_iter().collect();
/// }
/// let poses: Vec<_> = tube.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let exact = exact_ssd(&skin, &poses)?;
/// assert!(exact.max_error < 1e-7 && exact.copy_count > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FitError::Skin`] for programs that are not linear and poses of another skeleton;
/// [`FitError::BadOption`] for skins with corrections, derived or proxy bones; [`FitError::NoExactForm`] for
/// a vertex whose weights are not positive and whose bones have different roots.
pub fn exact_ssd(skin: &Skin, poses: &[Pose]) -> Result<ExactSsd, FitError> {
    let linear = match &skin.program {
        VertexProgram::Ssd(_) => {
            return Ok(ExactSsd {
                skin: skin.clone(),
                copy_count: 0,
                moved_count: 0,
                inexact_count: 0,
                max_error: 0.0,
            });
        }
        VertexProgram::Linear(linear) => linear,
        other => {
            return Err(FitError::Skin(SkinError::NotLinear {
                program: other.name(),
            }));
        }
    };
    let corrections = (!linear.corrections.is_empty()).then(|| "corrections".to_owned());
    if let Some(what) = corrections.or_else(|| skin.pose_program.summary()) {
        return Err(FitError::BadOption {
            option: "plain-exact",
            problem: format!("a skin with {what} has no exact linear blend form"),
        });
    }
    let diagonal = skin.size()?;
    let tree = Tree::new(&skin.skeleton, poses, diagonal)?;
    let (mut moved_count, mut inexact_count) = (0, 0);
    let mut vertices = Vec::with_capacity(linear.influences.len());
    for vertex in 0..linear.influences.len() {
        let mut mended = Vertex::new(linear, vertex, &tree);
        let sum: f64 = mended.p.iter().map(|(_, p)| p.w).sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let problem = format!("its weights must sum to 1, found {sum}");
            return Err(FitError::NoExactForm { vertex, problem });
        }
        match mended.mend(&tree, diagonal * LARGEST) {
            Mend::Fine => {}
            Mend::Moved => moved_count += 1,
            Mend::Inexact => {
                moved_count += 1;
                inexact_count += 1;
            }
            Mend::Impossible(problem) => {
                return Err(FitError::NoExactForm { vertex, problem });
            }
        }
        vertices.push(mended);
    }
    let tetrahedra = tetrahedra(&vertices, &tree, diagonal * SMALLEST);
    let mut exact = ExactSsd {
        skin: assemble(&vertices, &tetrahedra, &tree, diagonal * SMALLEST)?,
        copy_count: 4 * tetrahedra.iter().flatten().count(),
        moved_count,
        inexact_count,
        max_error: 0.0,
    };
    for pose in poses {
        let expected = skin.evaluate(pose)?;
        let found = exact.skin.evaluate(&exact.pose(pose))?;
        let apart = expected.iter().zip(&found).map(|(a, b)| a.distance(*b));
        exact.max_error = apart.fold(exact.max_error, |most, d| most.max(d / diagonal));
    }
    Ok(exact)
}

/// The bones, where they rest, and which of them share their parent's points.
struct Tree<'a> {
    bones: &'a [Bone],
    rest_model_from_bone: Vec<DAffine3>,
    /// Where each bone's origin is in its parent.
    origin_in_parent: Vec<DVec3>,
    /// Whether it stays there.
    is_fixed: Vec<bool>,
}

impl<'a> Tree<'a> {
    fn new(skeleton: &'a Skeleton, poses: &[Pose], diagonal: f64) -> Result<Self, FitError> {
        let bones = skeleton.bones();
        for pose in poses {
            skeleton.palette(pose).map_err(SkinError::from)?;
        }
        let rest_model_from_bone: Vec<DAffine3> =
            bones.iter().map(|b| b.bone_from_rest.inverse()).collect();
        let mut origin_in_parent = Vec::with_capacity(bones.len());
        let mut is_fixed = Vec::with_capacity(bones.len());
        for (j, bone) in bones.iter().enumerate() {
            let origins = || poses.iter().map(|p| p.parent_from_bone[j].translation);
            let mean = match poses.len() {
                0 => bone.default_parent_from_bone.translation,
                count => origins().sum::<DVec3>() / count as f64,
            };
            let in_model =
                (bone.parent).map_or(DAffine3::IDENTITY, |a| rest_model_from_bone[a.index()]);
            let strays =
                |o: DVec3| in_model.transform_vector3(o - mean).length() > diagonal * SMALLEST;
            is_fixed.push(bone.parent.is_some() && !origins().any(strays));
            origin_in_parent.push(mean);
        }
        Ok(Self {
            bones,
            rest_model_from_bone,
            origin_in_parent,
            is_fixed,
        })
    }

    fn parent(&self, j: usize) -> Option<usize> {
        self.bones[j].parent.map(BoneId::index)
    }

    /// A bone and its ancestors, upwards, as far as weight may move.
    fn reach(&self, j: usize, across_moving: bool) -> Vec<usize> {
        let mut chain = vec![j];
        let mut at = j;
        while let Some(parent) = self.parent(at)
            && (self.is_fixed[at] || across_moving)
        {
            chain.push(parent);
            at = parent;
        }
        chain
    }

    /// Length in model space, at rest, of a vector in a bone's frame.
    fn model_length(&self, j: usize, v: DVec3) -> f64 {
        self.rest_model_from_bone[j].transform_vector3(v).length()
    }
}

/// One vertex: its rest position and its animation-space vectors, each bone once, in rising order.
struct Vertex {
    rest: DVec3,
    p: Vec<(usize, DVec4)>,
}

/// The result of changing the weights of a vertex where needed.
enum Mend {
    Fine,
    Moved,
    Inexact,
    Impossible(String),
}

impl Vertex {
    fn new(linear: &LinearProgram, vertex: usize, tree: &Tree<'_>) -> Self {
        let mut p: Vec<(usize, DVec4)> = Vec::new();
        for influence in linear.influences.row(vertex) {
            let j = influence.bone.index();
            match p.iter_mut().find(|(other, _)| *other == j) {
                Some((_, sum)) => *sum += influence.p,
                None => p.push((j, influence.p)),
            }
        }
        p.sort_by_key(|&(j, _)| j);
        let at_rest = p.iter().map(|&(j, p)| {
            let frame = &tree.rest_model_from_bone[j];
            frame.matrix3 * p.truncate() + frame.translation * p.w
        });
        Self {
            rest: at_rest.sum(),
            p,
        }
    }

    /// `w_j d_j`: the displacement that copies of bone j must add to a plain influence of the same weight.
    fn moment(&self, j: usize, p: DVec4, tree: &Tree<'_>) -> DVec3 {
        let local = tree.bones[j].bone_from_rest.transform_point3(self.rest);
        p.truncate() - p.w * local
    }

    /// `d_j`; `None` when the vertex does not need it.
    fn deviation(&self, j: usize, p: DVec4, tree: &Tree<'_>, tiny: f64) -> Option<DVec3> {
        let moment = self.moment(j, p, tree);
        let counts = p.w > 0.0 && tree.model_length(j, moment) > tiny;
        counts.then(|| moment / p.w)
    }

    /// Whether an influence needs another weight: below zero, or too small for its displacement.
    fn is_unfit(&self, j: usize, p: DVec4, tree: &Tree<'_>, reach: f64) -> bool {
        let moment = tree.model_length(j, self.moment(j, p, tree));
        p.w < -ROUNDING || moment > reach * p.w.max(ROUNDING)
    }

    /// Moves weight between bones until no influence is unfit.
    fn mend(&mut self, tree: &Tree<'_>, reach: f64) -> Mend {
        if !(self.p.iter()).any(|&(j, p)| self.is_unfit(j, p, tree, reach)) {
            return Mend::Fine;
        }
        for across_moving in [false, true] {
            if let Some(moved) = self.redistributed(tree, reach, across_moving) {
                self.p = moved;
                return match across_moving {
                    false => Mend::Moved,
                    true => Mend::Inexact,
                };
            }
        }
        // Positive weights that are small for their displacement are exact, if less precise.
        let mut unfit = (self.p.iter()).filter(|&&(j, p)| self.is_unfit(j, p, tree, reach));
        match unfit.find(|(_, p)| p.w <= 0.0) {
            None => Mend::Fine,
            Some(&(j, p)) => Mend::Impossible(format!(
                "bone {} has weight {:.3e}, and the weights of the bones that hang together with it \
                 do not sum to more than zero",
                tree.bones[j].name, p.w
            )),
        }
    }

    /// The same vertex with other weights; `None` where some bones together have no weight to share.
    fn redistributed(
        &self,
        tree: &Tree<'_>,
        reach: f64,
        across_moving: bool,
    ) -> Option<Vec<(usize, DVec4)>> {
        let chains: Vec<Vec<usize>> = (self.p.iter())
            .map(|&(j, _)| tree.reach(j, across_moving))
            .collect();
        let top = |chain: &Vec<usize>| chain.last().copied();
        let mut tops: Vec<usize> = chains.iter().filter_map(top).collect();
        tops.sort_unstable();
        tops.dedup();
        let mut result = Vec::new();
        for group_top in tops {
            let in_group = |chain: &&Vec<usize>| top(chain) == Some(group_top);
            let of_group = || {
                let pairs = self.p.iter().zip(&chains);
                pairs.filter(|(_, chain)| in_group(chain))
            };
            let unfit = |&(j, p): &(usize, DVec4)| self.is_unfit(j, p, tree, reach);
            if !of_group().any(|(item, _)| unfit(item)) {
                result.extend(of_group().map(|(&item, _)| item));
                continue;
            }
            let total: f64 = of_group().map(|((_, p), _)| p.w).sum();
            if total <= NO_WEIGHT {
                return None;
            }
            let members = spanning(of_group().map(|(_, chain)| chain.as_slice()));
            let mut p: Vec<(usize, DVec4)> = members.iter().map(|&j| (j, DVec4::ZERO)).collect();
            for (&(j, value), _) in of_group() {
                p[members.binary_search(&j).ok()?].1 = value;
            }
            share_weight(&mut p, total, tree);
            result.extend(p);
        }
        result.sort_by_key(|&(j, _)| j);
        Some(result)
    }
}

/// The bones on the ways between some bones, in rising order, from their chains of ancestors.
fn spanning<'a>(chains: impl Iterator<Item = &'a [usize]> + Clone) -> Vec<usize> {
    let mut members: Vec<usize> = chains.clone().flatten().copied().collect();
    members.sort_unstable();
    members.dedup();
    // Above the lowest common ancestor every chain is the same; that ancestor is the last of the
    // bones that are in all chains.
    let mut common = members.iter().rev().copied();
    let lowest = common.find(|j| chains.clone().all(|chain| chain.contains(j)));
    members.retain(|&j| Some(j) >= lowest);
    members
}

/// Raises every weight to a share of the total, taking from bones that have more.
///
/// `p` is a subtree in rising order, so that a parent comes before its children.
fn share_weight(p: &mut [(usize, DVec4)], total: f64, tree: &Tree<'_>) {
    let least = total * LEAST_SHARE / p.len() as f64;
    let above: f64 = p.iter().map(|(_, p)| (p.w - least).max(0.0)).sum();
    let scale = (total - least * p.len() as f64) / above;
    // From the original weights: weight that children pass up must not count.
    let wanted: Vec<f64> = (p.iter())
        .map(|(_, p)| least + scale * (p.w - least).max(0.0))
        .collect();
    for at in (1..p.len()).rev() {
        let (j, value) = p[at];
        let given = value.w - wanted[at];
        p[at].1.w = wanted[at];
        // Weight at the bone's origin is weight at that point of its parent.
        let origin = tree.origin_in_parent[j];
        if let Some(parent) = tree.parent(j)
            && let Ok(up) = p.binary_search_by_key(&parent, |&(k, _)| k)
        {
            p[up].1 += given * origin.extend(1.0);
        }
    }
}

/// For every bone the tetrahedron around its deviations; `None` where all are tiny.
fn tetrahedra(vertices: &[Vertex], tree: &Tree<'_>, tiny: f64) -> Vec<Option<Tetrahedron>> {
    let mut deviations: Vec<Vec<DVec3>> = vec![Vec::new(); tree.bones.len()];
    for vertex in vertices {
        for &(j, p) in &vertex.p {
            if let Some(d) = vertex.deviation(j, p, tree, tiny) {
                deviations[j].push(d);
            }
        }
    }
    let around =
        |points: &Vec<DVec3>| (!points.is_empty()).then(|| Tetrahedron::around(points, tiny));
    deviations.iter().map(around).collect()
}

/// The skin over bones and copies.
fn assemble(
    vertices: &[Vertex],
    tetrahedra: &[Option<Tetrahedron>],
    tree: &Tree<'_>,
    tiny: f64,
) -> Result<Skin, FitError> {
    let mut bones = tree.bones.to_vec();
    let mut first_copy = vec![0; tree.bones.len()];
    for (j, tetrahedron) in tetrahedra.iter().enumerate() {
        let Some(tetrahedron) = tetrahedron else {
            continue;
        };
        first_copy[j] = bones.len();
        for m in 0..4 {
            let offset = DAffine3::from_translation(tetrahedron.corner(m));
            bones.push(Bone {
                name: format!("{}_copy{}", tree.bones[j].name, m + 1),
                parent: Some(BoneId(j as u16)),
                default_parent_from_bone: Trs::IDENTITY,
                bone_from_rest: offset * tree.bones[j].bone_from_rest,
            });
        }
    }
    let skeleton = Skeleton::new(bones).map_err(SkinError::from)?;
    let weights: Rows<Weight> = (vertices.iter())
        .map(|vertex| {
            let mut row = Vec::new();
            for &(j, p) in &vertex.p {
                let mut add = |bone: usize, weight: f64| {
                    if weight > 0.0 {
                        let bone = BoneId(bone as u16);
                        row.push(Weight { bone, weight });
                    }
                };
                match (tetrahedra[j], vertex.deviation(j, p, tree, tiny)) {
                    (Some(tetrahedron), Some(d)) => {
                        for (m, share) in tetrahedron.coordinates(d).into_iter().enumerate() {
                            add(first_copy[j] + m, p.w * share);
                        }
                    }
                    _ => add(j, p.w),
                }
            }
            let sum: f64 = row.iter().map(|w| w.weight).sum();
            row.iter_mut().for_each(|w| w.weight /= sum);
            row
        })
        .collect();
    let program = SsdProgram {
        rest_positions: vertices.iter().map(|vertex| vertex.rest).collect(),
        weights,
        corrections: Vec::new(),
    };
    Ok(Skin::new(
        skeleton,
        VertexProgram::Ssd(program),
        Vec::new(),
    )?)
}
