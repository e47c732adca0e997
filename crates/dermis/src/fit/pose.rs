//! The pose in which a skin best matches a mesh that it has not seen: all bones at once.
//!
//! With a linear skin the squared distance to a mesh depends on the matrices through sums over the
//! vertices alone: with `p_i` the stacked 4-vectors of vertex i,
//! `Σ_i |G p_i − v_i|² = tr(G M Gᵀ) − 2 tr(G Bᵀ) + c`, `M = Σ p_i p_iᵀ` and `B = Σ v_i p_iᵀ`. `M`
//! belongs to the skin and is summed once; `B` takes one pass over the mesh; every round after that
//! costs only bones. Affine bones are then one linear solve (\[Merry06\] §7.1 solves so, and takes
//! the rotations out afterwards); rigid bones are found by Levenberg-Marquardt steps on the
//! rotations, which is the optimum that the papers' projection approaches.
//!
//! Rotations have local minima: a mesh in a pose far from every start may be matched badly, and the
//! error says so.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::FitError;
use crate::math::nearest_rotation;
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::{Palette, Pose};
use crate::skin::{LinearProgram, Skin, SkinError};

/// What a bone may do when a pose is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JointFreedom {
    /// Every bone turns and moves freely, as the papers do.
    #[default]
    Free,
    /// Joints turn in place: only bones without a parent move. What animators can edit.
    Turn,
    /// Every bone may take any affine matrix. The closest match, but bones shear and scale.
    Affine,
}

/// How to solve for a pose.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseOptions {
    /// What bones may do; default free.
    pub joints: JointFreedom,
    /// Most steps from each start; at least 1, default 40. Ten are usual.
    pub max_rounds: usize,
}

impl Default for PoseOptions {
    fn default() -> Self {
        Self {
            joints: JointFreedom::Free,
            max_rounds: 40,
        }
    }
}

/// A pose, and how well the skin matches the mesh in it.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseFit {
    /// Where every bone stands in its parent.
    pub pose: Pose,
    /// Root-mean-square distance from the mesh, in model units.
    pub rms_distance: f64,
    /// Largest distance from the mesh, in model units.
    pub max_distance: f64,
    /// Steps that were taken.
    pub rounds: usize,
}

/// A skin made ready to be matched to meshes.
///
/// Cost: O(V·n²) time for V vertices of n influences and O(b²) memory for b bones to make; O(V·n)
/// per mesh and O(b³) per step to use.
#[derive(Debug)]
pub struct PoseSolver<'a> {
    skin: &'a Skin,
    program: LinearProgram,
    options: PoseOptions,
    moments: Moments,
    /// Bones that move a vertex.
    is_used: Vec<bool>,
}

/// `M = Σ p_i p_iᵀ`, a block of 4×4 for every pair of bones.
#[derive(Debug)]
struct Moments {
    bone_count: usize,
    blocks: Vec<Moment>,
}

/// One block of `M`, in the parts that the formulas name: rows belong to bone j, columns to l.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    /// `Σ q_j q_lᵀ`.
    linear: DMat3,
    /// `Σ q_j w_l`.
    mixed: DVec3,
    /// `Σ w_j w_l`.
    weight: f64,
}

/// `B = Σ v_i p_iᵀ` by bone, and `Σ |v_i|²`.
struct Target {
    linear: Vec<DMat3>,
    offset: Vec<DVec3>,
    squared: f64,
}

/// Finds the pose in which a skin best matches a mesh.
///
/// `start` is where the search begins; a second search begins at the affine solution. The better
/// end is returned. To solve several meshes, make a [`PoseSolver`] once.
///
/// ```
/// use dermis::fit::{PoseOptions, SsdOptions, fit_pose, fit_ssd};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let skin = fit_ssd(&arm, &[0, 4, 8, 12], &SsdOptions::default(), &Silent)?.skin;
/// let unseen = &arm.examples()[9];
/// let found = fit_pose(&skin, &unseen.positions, &skin.skeleton.rest_pose(), &PoseOptions::default())?;
/// assert!(found.rms_distance < 0.1 * arm.rest().bounds().diagonal());
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// As [`PoseSolver::new`] and [`PoseSolver::solve`].
pub fn fit_pose(
    skin: &Skin,
    target: &[DVec3],
    start: &Pose,
    options: &PoseOptions,
) -> Result<PoseFit, FitError> {
    PoseSolver::new(skin, options)?.solve(target, start)
}

impl<'a> PoseSolver<'a> {
    /// Sums over the skin's vertices.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the skin is not linear, [`FitError::BadOption`] for options out of
    /// range or a skin whose bones follow other bones, and [`FitError::NothingToFit`] without bones.
    pub fn new(skin: &'a Skin, options: &PoseOptions) -> Result<Self, FitError> {
        if options.max_rounds == 0 {
            return Err(FitError::BadOption {
                option: "max_rounds",
                problem: "at least 1 step must be allowed".to_owned(),
            });
        }
        if !skin.derived.is_empty() {
            return Err(FitError::BadOption {
                option: "skin",
                problem: "poses cannot be solved for a skin with pseudo-bones: fit it without them"
                    .to_owned(),
            });
        }
        let bone_count = skin.skeleton.bone_count();
        if bone_count == 0 {
            return Err(FitError::NothingToFit {
                examples: 1,
                bones: 0,
            });
        }
        let program = skin.program.to_linear(&skin.skeleton)?;
        let program = with_default_corrections(program, &skin.default_coefficients());
        let mut is_used = vec![false; bone_count];
        for influence in program.influences.items() {
            is_used[influence.bone.index()] = true;
        }
        Ok(Self {
            skin,
            moments: Moments::new(&program, bone_count),
            program,
            options: options.clone(),
            is_used,
        })
    }

    /// The best pose for one mesh.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the mesh has another number of vertices or the start another number
    /// of bones.
    pub fn solve(&self, target: &[DVec3], start: &Pose) -> Result<PoseFit, FitError> {
        if target.len() != self.program.influences.len() {
            return Err(SkinError::CountMismatch {
                what: "vertices in the mesh to match",
                expected: self.program.influences.len(),
                found: target.len(),
            }
            .into());
        }
        let given = self
            .skin
            .skeleton
            .palette(start)
            .map_err(SkinError::from)?
            .model_from_bone;
        let sums = Target::new(&self.program, target, given.len());
        let affine = self.solve_affine(&sums, &given);
        let (matrices, rounds) = match self.options.joints {
            JointFreedom::Affine => (affine, 1),
            JointFreedom::Free | JointFreedom::Turn => {
                let from_affine = self.without_stretch(&affine, &given);
                let ends = [given.clone(), from_affine].map(|from| self.descend(&sums, from));
                let [a, b] = ends;
                let rounds = a.rounds + b.rounds;
                let better = if b.energy < a.energy { b } else { a };
                (better.matrices, rounds)
            }
        };
        self.finish(matrices, start, target, rounds)
    }

    /// The best pose for each of several meshes; `starts` has one per mesh.
    ///
    /// # Errors
    /// As [`PoseSolver::solve`], and [`FitError::Stopped`] when `progress` says so.
    ///
    /// # Panics
    /// When there are fewer starts than meshes.
    pub fn solve_all<T: AsRef<[DVec3]> + Sync>(
        &self,
        targets: &[T],
        starts: &[Pose],
        progress: &dyn Progress,
    ) -> Result<Vec<PoseFit>, FitError> {
        assert!(starts.len() >= targets.len(), "one start per mesh");
        let stage = Stage::new(progress, "solving poses", targets.len());
        par::map(targets.len(), |k| {
            if !stage.step() {
                return Err(FitError::Stopped);
            }
            self.solve(targets[k].as_ref(), &starts[k])
        })
        .into_iter()
        .collect()
    }

    /// Matrices without any constraint: `M X = Bᵀ`, held weakly at the given ones where the
    /// vertices of a bone do not determine all of it.
    fn solve_affine(&self, sums: &Target, given: &[DAffine3]) -> Vec<DAffine3> {
        let n = 4 * given.len();
        let mut normal = Mat::<f64>::zeros(n, n);
        let mut right = Mat::<f64>::zeros(n, 3);
        for j in 0..given.len() {
            for l in 0..given.len() {
                let m = self.moments.block(j, l);
                for r in 0..3 {
                    for c in 0..3 {
                        normal[(4 * j + r, 4 * l + c)] = m.linear.col(c)[r];
                    }
                    normal[(4 * j + r, 4 * l + 3)] = m.mixed[r];
                    normal[(4 * j + 3, 4 * l + r)] = self.moments.block(l, j).mixed[r];
                }
                normal[(4 * j + 3, 4 * l + 3)] = m.weight;
            }
            for r in 0..3 {
                for c in 0..3 {
                    right[(4 * j + c, r)] = sums.linear[j].col(c)[r];
                }
                right[(4 * j + 3, r)] = sums.offset[j][r];
            }
        }
        // A millionth of each bone's own size keeps flat and thin bones from taking any shape.
        for (j, matrix) in given.iter().enumerate() {
            let own = self.moments.block(j, j);
            let length = own.linear.col(0).x + own.linear.col(1).y + own.linear.col(2).z;
            for c in 0..4 {
                let size = if c == 3 { own.weight } else { length };
                let hold = 1e-6 * size + f64::MIN_POSITIVE.sqrt();
                normal[(4 * j + c, 4 * j + c)] += hold;
                for r in 0..3 {
                    let entry = match c {
                        3 => matrix.translation[r],
                        _ => matrix.matrix3.col(c)[r],
                    };
                    right[(4 * j + c, r)] += hold * entry;
                }
            }
        }
        let Some(solution) = solve_spd(&normal, &right) else {
            return given.to_vec();
        };
        (0..given.len())
            .map(|j| {
                let column =
                    |c: usize| DVec3::from_array([0, 1, 2].map(|r| solution[(4 * j + c, r)]));
                DAffine3 {
                    matrix3: DMat3::from_cols(column(0), column(1), column(2)),
                    translation: column(3),
                }
            })
            .collect()
    }

    /// The turns in affine matrices, with the given bones' own stretch, each bone's centre kept.
    fn without_stretch(&self, affine: &[DAffine3], given: &[DAffine3]) -> Vec<DAffine3> {
        let free = affine
            .iter()
            .zip(given)
            .enumerate()
            .map(|(j, (found, own))| {
                let turn = nearest_rotation(found.matrix3 * own.matrix3.inverse());
                let moment = self.moments.block(j, j);
                let center = match moment.weight > 0.0 {
                    true => moment.mixed / moment.weight,
                    false => DVec3::ZERO,
                };
                let matrix3 = turn * own.matrix3;
                DAffine3 {
                    matrix3,
                    translation: found.transform_point3(center) - matrix3 * center,
                }
            });
        let free: Vec<DAffine3> = free.collect();
        match self.options.joints {
            JointFreedom::Turn => self.rejoin(&free, given),
            JointFreedom::Free | JointFreedom::Affine => free,
        }
    }

    /// The same turns with every joint where its parent has it.
    fn rejoin(&self, turned: &[DAffine3], given: &[DAffine3]) -> Vec<DAffine3> {
        let mut joined = turned.to_vec();
        for (j, bone) in self.skin.skeleton.bones().iter().enumerate() {
            if let Some(parent) = bone.parent {
                let in_parent = given[parent.index()]
                    .inverse()
                    .transform_point3(given[j].translation);
                joined[j].translation = joined[parent.index()].transform_point3(in_parent);
            }
        }
        joined
    }

    /// Levenberg-Marquardt steps on turns and places of the bones.
    fn descend(&self, sums: &Target, from: Vec<DAffine3>) -> Descent {
        let mut current = Descent {
            energy: self.energy(sums, &from),
            matrices: from,
            rounds: 0,
        };
        // The part of the diagonal that is added: large goes downhill carefully, small like Newton.
        let mut damping = 1e-4;
        while current.rounds < self.options.max_rounds {
            current.rounds += 1;
            let (normal, right) = self.normal_equations(sums, &current.matrices);
            let reduction = self.reduction(&current.matrices);
            let (normal, right) = match &reduction {
                None => (normal, right),
                Some(s) => (s.transpose() * normal * s, s.transpose() * right),
            };
            let mut better = None;
            for _ in 0..12 {
                let step = damped_step(&normal, &right, damping);
                let step = match (step, &reduction) {
                    (Some(step), Some(s)) => Some((s * &step, step)),
                    (Some(step), None) => Some((step.clone(), step)),
                    (None, _) => None,
                };
                if let Some((step, own)) = step {
                    let matrices = self.moved(&current.matrices, &step, &own);
                    let energy = self.energy(sums, &matrices);
                    if energy < current.energy {
                        better = Some((matrices, energy));
                        break;
                    }
                }
                damping *= 10.0;
            }
            let Some((matrices, energy)) = better else {
                break;
            };
            damping = (damping * 0.1).max(1e-12);
            let gained = current.energy - energy;
            current.matrices = matrices;
            current.energy = energy;
            // A millionth of the error is below what anyone measures; rounding ends an exact match.
            if gained < 1e-6 * energy || energy < 1e-15 * sums.squared {
                break;
            }
        }
        current
    }

    /// `Σ |G p_i − v_i|²`.
    fn energy(&self, sums: &Target, matrices: &[DAffine3]) -> f64 {
        let mut energy = sums.squared;
        for (j, g) in matrices.iter().enumerate() {
            energy -= 2.0 * (dot(g.matrix3, sums.linear[j]) + g.translation.dot(sums.offset[j]));
            for (l, h) in self.moments.row(j) {
                let other = matrices[l];
                energy += dot(g.matrix3 * h.linear, other.matrix3)
                    + 2.0 * (g.matrix3 * h.mixed).dot(other.translation)
                    + h.weight * g.translation.dot(other.translation);
            }
        }
        energy
    }

    /// `JᵀJ` and `Jᵀr` in a turn (about the bone's origin) and a move of every bone.
    ///
    /// With `a_ij = lin(G_j) q_ij`, a turn ω moves a vertex by `ω × a_ij`, so the blocks are
    /// `Σ (a_ij·a_il) I − a_il a_ijᵀ`, `Σ [a_ij]× w_il` and `Σ w_ij w_il I`: all sums of `M`.
    fn normal_equations(&self, sums: &Target, matrices: &[DAffine3]) -> (Mat<f64>, Mat<f64>) {
        let n = 6 * matrices.len();
        let mut normal = Mat::<f64>::zeros(n, n);
        let mut right = Mat::<f64>::zeros(n, 1);
        for (j, g) in matrices.iter().enumerate() {
            let mut turn = axial(g.matrix3 * sums.linear[j].transpose());
            let mut shift = sums.offset[j];
            for (l, h) in self.moments.row(j) {
                let other = matrices[l];
                let product = g.matrix3 * h.linear * other.matrix3.transpose();
                let arm = g.matrix3 * h.mixed;
                turn -= axial(product) + arm.cross(other.translation);
                shift -=
                    other.matrix3 * self.moments.block(l, j).mixed + h.weight * other.translation;
                let trace = product.col(0).x + product.col(1).y + product.col(2).z;
                for r in 0..3 {
                    for c in 0..3 {
                        let identity = if r == c { 1.0 } else { 0.0 };
                        // column r of the product is row r of its transpose
                        normal[(6 * j + r, 6 * l + c)] = identity * trace - product.col(r)[c];
                    }
                    normal[(6 * j + 3 + r, 6 * l + 3 + r)] = h.weight;
                }
                for (r, c, value) in skew(arm) {
                    normal[(6 * j + r, 6 * l + 3 + c)] = value;
                    normal[(6 * l + 3 + c, 6 * j + r)] = value;
                }
            }
            for r in 0..3 {
                right[(6 * j + r, 0)] = turn[r];
                right[(6 * j + 3 + r, 0)] = shift[r];
            }
        }
        (normal, right)
    }

    /// How turns of joints, and moves of bones without a parent, move all bones; `None` when every
    /// bone is free.
    fn reduction(&self, matrices: &[DAffine3]) -> Option<Mat<f64>> {
        if self.options.joints != JointFreedom::Turn {
            return None;
        }
        let bones = self.skin.skeleton.bones();
        let root_count = bones.iter().filter(|bone| bone.parent.is_none()).count();
        let mut map = Mat::<f64>::zeros(6 * bones.len(), 3 * (bones.len() + root_count));
        let root_column = self.root_columns();
        for l in 0..bones.len() {
            let mut ancestor = Some(l);
            while let Some(j) = ancestor {
                // ω_j × (o_l − o_j), written as −[o_l − o_j]× ω_j
                let arm = matrices[l].translation - matrices[j].translation;
                for r in 0..3 {
                    map[(6 * l + r, 3 * j + r)] = 1.0;
                }
                for (r, c, value) in skew(arm) {
                    map[(6 * l + 3 + r, 3 * j + c)] = -value;
                }
                if let Some(column) = root_column[j] {
                    for r in 0..3 {
                        map[(6 * l + 3 + r, column + r)] = 1.0;
                    }
                }
                ancestor = bones[j].parent.map(|parent| parent.index());
            }
        }
        Some(map)
    }

    /// First column of the move of each bone without a parent.
    fn root_columns(&self) -> Vec<Option<usize>> {
        let bones = self.skin.skeleton.bones();
        let mut next = 3 * bones.len();
        bones
            .iter()
            .map(|bone| match bone.parent {
                Some(_) => None,
                None => {
                    next += 3;
                    Some(next - 3)
                }
            })
            .collect()
    }

    /// The matrices after a step; `own` is the step in joints when those turn in place.
    fn moved(&self, matrices: &[DAffine3], step: &Mat<f64>, own: &Mat<f64>) -> Vec<DAffine3> {
        let vector =
            |x: &Mat<f64>, at: usize| DVec3::new(x[(at, 0)], x[(at + 1, 0)], x[(at + 2, 0)]);
        if self.options.joints != JointFreedom::Turn {
            return matrices
                .iter()
                .enumerate()
                .map(|(j, g)| DAffine3 {
                    matrix3: turn_by(vector(step, 6 * j)) * g.matrix3,
                    translation: g.translation + vector(step, 6 * j + 3),
                })
                .collect();
        }
        // Turns add up down the chain only for small angles; chaining them keeps lengths exactly.
        let root_column = self.root_columns();
        let mut moved: Vec<DAffine3> = Vec::with_capacity(matrices.len());
        for (j, bone) in self.skin.skeleton.bones().iter().enumerate() {
            let own_turn = turn_by(vector(own, 3 * j));
            moved.push(match (bone.parent, root_column[j]) {
                (Some(parent), _) => {
                    let (before, after) = (matrices[parent.index()], moved[parent.index()]);
                    let carried = after * before.inverse();
                    DAffine3 {
                        matrix3: carried.matrix3 * own_turn * matrices[j].matrix3,
                        translation: carried.transform_point3(matrices[j].translation),
                    }
                }
                (None, column) => DAffine3 {
                    matrix3: own_turn * matrices[j].matrix3,
                    translation: matrices[j].translation
                        + column.map_or(DVec3::ZERO, |column| vector(own, column)),
                },
            });
        }
        moved
    }

    /// The pose of matrices, with bones that move nothing carried along, and its distance.
    fn finish(
        &self,
        mut matrices: Vec<DAffine3>,
        start: &Pose,
        target: &[DVec3],
        rounds: usize,
    ) -> Result<PoseFit, FitError> {
        let skeleton = &self.skin.skeleton;
        let given = skeleton
            .palette(start)
            .map_err(SkinError::from)?
            .model_from_bone;
        for (j, bone) in skeleton.bones().iter().enumerate() {
            if !self.is_used[j] {
                matrices[j] = match bone.parent {
                    Some(parent) => matrices[parent.index()] * start.parent_from_bone[j],
                    None => given[j],
                };
            }
        }
        let mut pose = skeleton
            .pose_from_palette(&Palette {
                model_from_bone: matrices,
            })
            .map_err(SkinError::from)?;
        pose.coefficients = start.coefficients.clone();
        let found = self.skin.evaluate(&pose)?;
        let squared = |i: usize| found[i].distance_squared(target[i]);
        let total: f64 = (0..target.len()).map(squared).sum();
        Ok(PoseFit {
            pose,
            rms_distance: (total / target.len().max(1) as f64).sqrt(),
            max_distance: (0..target.len()).map(squared).fold(0.0, f64::max).sqrt(),
            rounds,
        })
    }
}

/// Where a search stands.
struct Descent {
    matrices: Vec<DAffine3>,
    energy: f64,
    rounds: usize,
}

impl Moments {
    fn new(program: &LinearProgram, bone_count: usize) -> Self {
        let mut blocks = vec![Moment::default(); bone_count * bone_count];
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

    fn block(&self, j: usize, l: usize) -> &Moment {
        &self.blocks[j * self.bone_count + l]
    }

    /// The bones that share a vertex with bone `j`, and their blocks.
    fn row(&self, j: usize) -> impl Iterator<Item = (usize, &Moment)> {
        let row = &self.blocks[j * self.bone_count..(j + 1) * self.bone_count];
        row.iter()
            .enumerate()
            .filter(|(_, m)| m.weight != 0.0 || m.mixed != DVec3::ZERO || m.linear != DMat3::ZERO)
    }
}

impl Target {
    fn new(program: &LinearProgram, target: &[DVec3], bone_count: usize) -> Self {
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

/// The program with every correction at its default, and none left.
fn with_default_corrections(mut program: LinearProgram, defaults: &[f64]) -> LinearProgram {
    let mut items = program.influences.items().to_vec();
    for (correction, &c) in program.corrections.iter().zip(defaults) {
        for delta in &correction.deltas {
            items[delta.index as usize].p += c * delta.value;
        }
    }
    let rows = &program.influences;
    let changed = (0..rows.len()).map(|i| items[rows.range(i)].to_vec());
    program.influences = changed.collect();
    program.corrections.clear();
    program
}

/// Solves `(N + damping diag N) x = r`; `None` when that is not positive definite.
fn damped_step(normal: &Mat<f64>, right: &Mat<f64>, damping: f64) -> Option<Mat<f64>> {
    let mut damped = normal.clone();
    let largest = (0..normal.nrows())
        .map(|i| normal[(i, i)])
        .fold(0.0, f64::max);
    for i in 0..normal.nrows() {
        // What moves no vertex has a zero diagonal: holding it still is all that can be done.
        damped[(i, i)] += damping * normal[(i, i)] + 1e-14 * largest;
    }
    solve_spd(&damped, right)
}

fn solve_spd(matrix: &Mat<f64>, right: &Mat<f64>) -> Option<Mat<f64>> {
    let factor = Llt::new(matrix.as_ref(), Side::Lower).ok()?;
    let solution = factor.solve(right);
    let finite =
        (0..solution.ncols()).all(|c| (0..solution.nrows()).all(|r| solution[(r, c)].is_finite()));
    finite.then_some(solution)
}

fn turn_by(vector: DVec3) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(vector))
}

/// `Σ_rc A_rc B_rc`.
fn dot(a: DMat3, b: DMat3) -> f64 {
    (0..3).map(|c| a.col(c).dot(b.col(c))).sum()
}

/// `Σ x × y` from `Σ x yᵀ`.
fn axial(m: DMat3) -> DVec3 {
    let entry = |r: usize, c: usize| m.col(c)[r];
    DVec3::new(
        entry(1, 2) - entry(2, 1),
        entry(2, 0) - entry(0, 2),
        entry(0, 1) - entry(1, 0),
    )
}

/// The entries of `[v]×` that are not zero: row, column, value.
fn skew(v: DVec3) -> [(usize, usize, f64); 6] {
    [
        (0, 1, -v.z),
        (0, 2, v.y),
        (1, 0, v.z),
        (1, 2, -v.x),
        (2, 0, -v.y),
        (2, 1, v.x),
    ]
}
