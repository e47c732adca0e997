//! What a base misses of examples, as a sum of functions of its joints.

use std::collections::BTreeMap;

use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Mat, MatRef, Side};
use glam::{DMat3, DVec3};

use super::PsdOptions;
use super::flattened::{FlattenedVertex, Functions};
use super::joints::{Joints, next_to_joints};
use super::sculpt::bounded_inverse;
use crate::example::{Example, ExampleSet};
use crate::fit::FitError;
use crate::limits::check_memory;
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::Pose;
use crate::skin::{Skin, SkinError};
use crate::solve::product;

/// A vertex that the base shrinks to less than this in some example is fitted to what corrections do instead of
/// being pulled back to rest space: those that are pulled back are at most twice as long as what they do.
const ROOM: f64 = 0.5;
/// The same without smoothing and tolerance, which asks for every example to be met, whatever comes between: then
/// all are pulled back, and directions that are flatter than this are left alone.
const ROOM_EXACT: f64 = 1e-5;
/// What the base misses by less than this share of the tolerance is not worth a system of its own: no shape will show
/// it.
const WORTH: f64 = 0.25;
/// Falloffs that are tried, in radians (14° to 230°): wider ones differ only in their scale.
const FALLOFFS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Smoothings that are tried.
const SMOOTHINGS: [f64; 4] = [1e-5, 1e-4, 1e-3, 1e-2];
/// A pose whose Gaussian the others have but for this share, squared, is one of them.
const LEAST_PIVOT: f64 = 1e-12;
/// So many of the flattened vertices, evenly spaced, stand for all when falloffs are chosen.
const MOST_TRIED: usize = 24;

/// Vertices that see the same joints.
pub(super) struct Group {
    /// Numbers of the joints.
    pub(super) near: Vec<u16>,
    /// By rising number.
    pub(super) vertices: Vec<u32>,
}

/// What a base misses, as functions of its joints.
pub(super) struct Corrections {
    pub(super) joints: Joints,
    pub(super) groups: Vec<Group>,
    /// `φ` of each joint.
    pub(super) kernels: Vec<Mat<f64>>,
    /// `α / |C|` of each group.
    pub(super) solved: Vec<Mat<f64>>,
    pub(super) falloff: f64,
    pub(super) smoothing: f64,
    /// What corrections do in each example when it is left out, in the pose.
    left_out: Vec<Vec<DVec3>>,
    /// Sum of squares of what is missed of each example when it is left out.
    pub(super) left_out_error: f64,
}

/// What a base misses, one row per example and one for the rest pose.
///
/// The rest pose is right by itself, but for proxy bones: those are predicted there as anywhere, and an example in
/// the rest pose would contradict a row of zeros.
struct Missed {
    /// `r`: in the pose.
    posed: Vec<Vec<DVec3>>,
    /// `δ`: in rest space, three columns per vertex. Means nothing for flattened vertices.
    pulled_back: Mat<f64>,
    /// Frames in each row of the vertices that the base flattens in some of them.
    flattened: BTreeMap<u32, Vec<DMat3>>,
}

/// Falloff and smoothings with the least error on examples left out.
struct Chosen {
    falloff: f64,
    smoothing: f64,
    /// Of flattened vertices.
    flattened_smoothing: f64,
}

impl Corrections {
    pub(super) fn solve(
        set: &ExampleSet,
        training: &[usize],
        base: &Skin,
        options: &PsdOptions,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        let rows = rows(set, training, base)?;
        let poses: Vec<Pose> = rows.iter().map(|row| row.pose.clone()).collect();
        let joints = Joints::that_turn(base, &poses);
        check_size(training.len(), joints.len())?;
        let is_exact = options.smoothing == Some(0.0) && options.tolerance == 0.0;
        let worth = WORTH * options.tolerance * set.size();
        let missed = Missed::of(&rows, base, is_exact, worth)?;
        let groups = groups(next_to_joints(base, &joints));
        let chosen = choose(&joints, &groups, &missed, options, progress)?;
        let kernels = joints.kernels(chosen.falloff);
        let stage = Stage::new(progress, "solving shapes", groups.len());
        let parts = par::map(groups.len(), |g| {
            stage.step();
            let alike = joints.alike(&groups[g].near);
            solve_group(&groups[g], &kernels, &missed, &chosen, &alike)
        });
        if stage.is_stopped() {
            return Err(FitError::Stopped);
        }
        let mut corrections = Self {
            joints,
            groups,
            kernels,
            solved: Vec::new(),
            falloff: chosen.falloff,
            smoothing: chosen.smoothing,
            left_out: Vec::new(),
            left_out_error: 0.0,
        };
        let (solved, left_out): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        corrections.solved = solved;
        corrections.bound(&rows, base, &missed, left_out)?;
        Ok(corrections)
    }

    /// Shortens the corrections of vertices that do more in some example than there is to mend of the vertex in
    /// any; notes what they do in examples left out.
    fn bound(
        &mut self,
        rows: &[Row<'_>],
        base: &Skin,
        missed: &Missed,
        left_out: Vec<LeftOut>,
    ) -> Result<(), SkinError> {
        let vertex_count = base.vertex_count();
        let effects: Vec<Mat<f64>> = par::map(self.groups.len(), |g| {
            let kernel = mean_kernel(
                &self.kernels,
                &self.groups[g].near,
                self.groups[g].near.len() as f64,
            );
            &kernel * &self.solved[g]
        });
        let posed = par::map(rows.len(), |k| {
            let frames = base.vertex_frames(&base.run_pose_program(&rows[k].pose)?);
            let mut lengths = vec![0.0; vertex_count];
            let mut unseen = vec![DVec3::ZERO; vertex_count];
            for (g, group) in self.groups.iter().enumerate() {
                for (at, &i) in group.vertices.iter().enumerate() {
                    let i = i as usize;
                    lengths[i] = (frames[i] * vector(&effects[g], k, at)).length();
                    unseen[i] = match left_out[g].posed.get(&(i as u32)) {
                        Some(effects) => effects[k],
                        None => frames[i] * vector(&left_out[g].pulled_back, k, at),
                    };
                }
            }
            Ok((lengths, unseen))
        });
        let posed: Vec<(Vec<f64>, Vec<DVec3>)> =
            posed.into_iter().collect::<Result<_, SkinError>>()?;
        let share = |i: usize| {
            let most = |lengths: &mut dyn Iterator<Item = f64>| lengths.fold(0.0, f64::max);
            let wanted = most(&mut missed.posed.iter().map(|row| row[i].length()));
            let done = most(&mut posed.iter().map(|row| row.0[i]));
            if done > wanted { wanted / done } else { 1.0 }
        };
        let shares: Vec<f64> = (0..vertex_count).map(share).collect();
        for (g, group) in self.groups.iter().enumerate() {
            for (at, &i) in group.vertices.iter().enumerate() {
                let share = shares[i as usize];
                if share < 1.0 {
                    for c in 3 * at..3 * at + 3 {
                        self.solved[g]
                            .col_mut(c)
                            .iter_mut()
                            .for_each(|a| *a *= share);
                    }
                }
            }
        }
        // Not the rest pose, the last: it is no example.
        let examples = rows.len() - 1;
        self.left_out = (posed.into_iter().take(examples))
            .map(|(_, unseen)| unseen.iter().zip(&shares).map(|(e, s)| *e * *s).collect())
            .collect();
        let apart = |(effects, missed): (&Vec<DVec3>, &Vec<DVec3>)| {
            let pairs = effects.iter().zip(missed);
            pairs.map(|(e, r)| e.distance_squared(*r)).sum::<f64>()
        };
        self.left_out_error = self.left_out.iter().zip(&missed.posed).map(apart).sum();
        Ok(())
    }

    /// The examples without what is explained by shapes when each is left out: what a base alone should look like.
    pub(super) fn undriven(
        &self,
        set: &ExampleSet,
        training: &[usize],
    ) -> Result<ExampleSet, FitError> {
        let without = |(&k, effects): (&usize, &Vec<DVec3>)| {
            let example = &set.examples()[k];
            let positions = example.positions.iter().zip(effects);
            Example {
                positions: positions.map(|(v, effect)| *v - *effect).collect(),
                ..example.clone()
            }
        };
        let examples = training.iter().zip(&self.left_out).map(without).collect();
        let (rest, skeleton) = (set.rest().clone(), set.skeleton().clone());
        Ok(ExampleSet::new(rest, skeleton, examples)?.with_size(set.size()))
    }
}

/// A pose with every bone of the base, and the mesh in it.
struct Row<'a> {
    pose: Pose,
    /// `None` where the base is right by itself.
    positions: Option<&'a [DVec3]>,
}

/// The examples, and the rest pose.
fn rows<'a>(
    set: &'a ExampleSet,
    training: &[usize],
    base: &Skin,
) -> Result<Vec<Row<'a>>, SkinError> {
    let example = |&k: &usize| {
        let example = &set.examples()[k];
        Ok(Row {
            pose: base.complete_pose(&example.pose)?,
            positions: Some(&example.positions[..]),
        })
    };
    let rest = Row {
        pose: base.skeleton.rest_pose(),
        positions: (!base.pose_program.keeps_rest_shape()).then(|| set.rest().positions()),
    };
    training.iter().map(example).chain([Ok(rest)]).collect()
}

impl Missed {
    fn of(rows: &[Row<'_>], base: &Skin, is_exact: bool, worth: f64) -> Result<Self, SkinError> {
        let vertex_count = base.vertex_count();
        let room = if is_exact { ROOM_EXACT } else { ROOM };
        let parts = par::map(rows.len(), |k| {
            let inputs = base.run_pose_program(&rows[k].pose)?;
            let frames = base.vertex_frames(&inputs);
            let shown = base.evaluate(&rows[k].pose)?;
            let positions = rows[k].positions.unwrap_or(&shown);
            let missed = |i: usize| positions[i] - shown[i];
            let posed: Vec<DVec3> = (0..vertex_count).map(missed).collect();
            let inverse = |i: usize| bounded_inverse(frames[i], room);
            let (back, has_room): (Vec<DVec3>, Vec<bool>) = (0..vertex_count)
                .map(|i| {
                    let (inverse, has_room) = inverse(i);
                    (inverse * posed[i], has_room)
                })
                .unzip();
            Ok((posed, back, has_room))
        });
        let parts: Vec<_> = parts.into_iter().collect::<Result<_, SkinError>>()?;
        let is_flattened = |i: &usize| {
            !is_exact
                && parts.iter().any(|part| !part.2[*i])
                && parts.iter().any(|part| part.0[*i].length() > worth)
        };
        let flat: Vec<usize> = (0..vertex_count).filter(is_flattened).collect();
        let mut flattened: BTreeMap<u32, Vec<DMat3>> =
            flat.iter().map(|&i| (i as u32, Vec::new())).collect();
        if !flat.is_empty() {
            let of_row = par::map(rows.len(), |k| {
                let frames = base.vertex_frames(&base.run_pose_program(&rows[k].pose)?);
                Ok::<Vec<DMat3>, SkinError>(flat.iter().map(|&i| frames[i]).collect())
            });
            for row in of_row {
                let lists = flattened.values_mut().zip(row?);
                lists.for_each(|(list, frame)| list.push(frame));
            }
        }
        let pulled_back = Mat::from_fn(rows.len(), 3 * vertex_count, |k, c| {
            parts[k].1[c / 3][c % 3]
        });
        Ok(Self {
            posed: parts.into_iter().map(|part| part.0).collect(),
            pulled_back,
            flattened,
        })
    }

    /// What is missed of a vertex in each row.
    fn of_vertex(&self, vertex: u32) -> Vec<DVec3> {
        let rows = self.posed.iter();
        rows.map(|row| row[vertex as usize]).collect()
    }

    /// The columns of the vertices of a group that are not flattened.
    fn with_room(&self, group: &Group) -> Vec<u32> {
        let own = group.vertices.iter().copied();
        own.filter(|i| !self.flattened.contains_key(i)).collect()
    }
}

/// Vertices that see the same joints, by joints; those that see none are left out.
fn groups(near: Vec<Vec<u16>>) -> Vec<Group> {
    let mut groups: BTreeMap<Vec<u16>, Vec<u32>> = BTreeMap::new();
    for (i, near) in near.into_iter().enumerate() {
        if !near.is_empty() {
            groups.entry(near).or_default().push(i as u32);
        }
    }
    let group = |(near, vertices)| Group { near, vertices };
    groups.into_iter().map(group).collect()
}

/// What a group's functions say of examples that are left out.
struct LeftOut {
    /// In rest space, by place in the group; means nothing for flattened vertices.
    pulled_back: Mat<f64>,
    /// What they do in the pose, for flattened vertices.
    posed: BTreeMap<u32, Vec<DVec3>>,
}

/// `α / |C|` of a group, and what follows for examples left out, each with those that are alike.
fn solve_group(
    group: &Group,
    kernels: &[Mat<f64>],
    missed: &Missed,
    chosen: &Chosen,
    alike: &[Vec<usize>],
) -> (Mat<f64>, LeftOut) {
    let inverse = inverse(kernels, &group.near, chosen.smoothing);
    let own = columns(missed.pulled_back.as_ref(), &group.vertices);
    let mut alpha = &inverse * &own;
    let answers = left_out_weights(&inverse, alike);
    let pulled_back = Mat::from_fn(own.nrows(), own.ncols(), |k, c| {
        let missed: f64 = answers[k].iter().map(|&(l, w)| w * alpha[(l, c)]).sum();
        own[(k, c)] - missed
    });
    let mut posed = BTreeMap::new();
    let mut functions = None;
    for (at, i) in group.vertices.iter().enumerate() {
        let Some(frames) = missed.flattened.get(i) else {
            continue;
        };
        let functions =
            functions.get_or_insert_with(|| Functions::of(&mean_kernel(kernels, &group.near, 1.0)));
        let vertex = FlattenedVertex {
            frames,
            missed: &missed.of_vertex(*i),
        };
        let solved = vertex.system(functions).solve(chosen.flattened_smoothing);
        for (k, value) in solved.coefficients(functions).into_iter().enumerate() {
            for c in 0..3 {
                alpha[(k, 3 * at + c)] = value[c];
            }
        }
        posed.insert(*i, vertex.left_out(&solved, alike));
    }
    alpha *= faer::Scale(1.0 / group.near.len() as f64);
    (alpha, LeftOut { pulled_back, posed })
}

/// The columns of some vertices.
fn columns(missed: MatRef<'_, f64>, vertices: &[u32]) -> Mat<f64> {
    Mat::from_fn(missed.nrows(), 3 * vertices.len(), |k, c| {
        missed[(k, 3 * vertices[c / 3] as usize + c % 3)]
    })
}

/// A vertex's vector in a row.
fn vector(rows: &Mat<f64>, k: usize, at: usize) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|c| rows[(k, 3 * at + c)]))
}

/// `K` times a number: the mean of the Gaussians of some joints.
fn mean_kernel(kernels: &[Mat<f64>], near: &[u16], times: f64) -> Mat<f64> {
    let size = kernels[usize::from(near[0])].nrows();
    let scale = times / near.len() as f64;
    Mat::from_fn(size, size, |k, l| {
        let sum: f64 = near.iter().map(|&j| kernels[usize::from(j)][(k, l)]).sum();
        scale * sum
    })
}

/// `(K + λI)⁻¹`.
fn inverse(kernels: &[Mat<f64>], near: &[u16], smoothing: f64) -> Mat<f64> {
    let mut matrix = mean_kernel(kernels, near, 1.0);
    let size = matrix.nrows();
    (0..size).for_each(|k| matrix[(k, k)] += smoothing);
    // Of the pivots of poses alike only rounding is left.
    let is_sound = |factors: &Llt<f64>| {
        let pivot = |k: usize| factors.L()[(k, k)].powi(2);
        (0..size).all(|k| pivot(k) > LEAST_PIVOT)
    };
    match matrix.llt(Side::Lower) {
        Ok(factors) if is_sound(&factors) => factors.inverse(),
        // Without smoothing, and with poses alike: the least-norm answer.
        _ => crate::pose_space::pseudo_inverse(&matrix),
    }
}

/// The falloff and smoothings with the least error on examples left out, each with those that are alike.
fn choose(
    joints: &Joints,
    groups: &[Group],
    missed: &Missed,
    options: &PsdOptions,
    progress: &dyn Progress,
) -> Result<Chosen, FitError> {
    let falloffs = options.falloff.map_or(FALLOFFS.to_vec(), |one| vec![one]);
    let smoothings = options
        .smoothing
        .map_or(SMOOTHINGS.to_vec(), |one| vec![one]);
    let mut best = Chosen {
        falloff: falloffs[0],
        smoothing: smoothings[0],
        flattened_smoothing: smoothings[0],
    };
    if falloffs.len() * smoothings.len() == 1 {
        return Ok(best);
    }
    let grams = par::map(groups.len(), |g| {
        let own = columns(missed.pulled_back.as_ref(), &missed.with_room(&groups[g]));
        product(own.as_ref(), own.transpose())
    });
    let alike: Vec<Vec<Vec<usize>>> = par::map(groups.len(), |g| joints.alike(&groups[g].near));
    let tried = tried(groups, missed);
    let stage = Stage::new(progress, "choosing falloffs", falloffs.len() * groups.len());
    let mut least = f64::INFINITY;
    for &falloff in &falloffs {
        let kernels = joints.kernels(falloff);
        let errors = par::map(groups.len(), |g| {
            stage.step();
            let error = |&smoothing: &f64| {
                let inverse = inverse(&kernels, &groups[g].near, smoothing);
                left_out_error(&inverse, &grams[g], &alike[g])
            };
            let with_room: Vec<f64> = smoothings.iter().map(error).collect();
            let flat = flattened_errors(
                &tried[g],
                &groups[g],
                &kernels,
                missed,
                &smoothings,
                &alike[g],
            );
            (with_room, flat)
        });
        if stage.is_stopped() {
            return Err(FitError::Stopped);
        }
        let lowest = |errors: &dyn Fn(usize) -> f64| {
            let totals = (0..smoothings.len()).map(|s| (errors(s), smoothings[s]));
            totals
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .expect("there is a smoothing")
        };
        let with_room = lowest(&|s| errors.iter().map(|group| group.0[s]).sum());
        let flat = lowest(&|s| errors.iter().map(|group| group.1[s]).sum());
        if with_room.0 + flat.0 < least {
            least = with_room.0 + flat.0;
            best = Chosen {
                falloff,
                smoothing: with_room.1,
                flattened_smoothing: flat.1,
            };
        }
    }
    Ok(best)
}

/// Flattened vertices of each group that stand for all of them, and how many each stands for.
fn tried(groups: &[Group], missed: &Missed) -> Vec<Vec<(u32, f64)>> {
    let is_flat = |i: &&u32| missed.flattened.contains_key(i);
    let count: usize = (groups.iter())
        .map(|group| group.vertices.iter().filter(is_flat).count())
        .sum();
    let step = count.div_ceil(MOST_TRIED).max(1);
    let mut number = 0usize;
    let mut of_group = |group: &Group| {
        let mut own = Vec::new();
        for &i in group.vertices.iter().filter(is_flat) {
            if number.is_multiple_of(step) {
                own.push((i, step as f64));
            }
            number += 1;
        }
        own
    };
    groups.iter().map(&mut of_group).collect()
}

/// Sums of squares, for each smoothing, of what is missed of examples left out.
fn flattened_errors(
    tried: &[(u32, f64)],
    group: &Group,
    kernels: &[Mat<f64>],
    missed: &Missed,
    smoothings: &[f64],
    alike: &[Vec<usize>],
) -> Vec<f64> {
    let mut errors = vec![0.0; smoothings.len()];
    if tried.is_empty() {
        return errors;
    }
    let functions = Functions::of(&mean_kernel(kernels, &group.near, 1.0));
    for (i, count) in tried {
        let vertex = FlattenedVertex {
            frames: &missed.flattened[i],
            missed: &missed.of_vertex(*i),
        };
        let system = vertex.system(&functions);
        for (error, &smoothing) in errors.iter_mut().zip(smoothings) {
            let solved = system.solve(smoothing);
            let effects = vertex.left_out(&solved, alike);
            let pairs = effects.iter().zip(vertex.missed);
            // Not the rest pose, the last.
            let pairs = pairs.take(effects.len() - 1);
            *error += count * pairs.map(|(e, r)| e.distance_squared(*r)).sum::<f64>();
        }
    }
    errors
}

/// What is missed of each example when those alike are left out with it, as a sum of rows of `X δ`, where
/// `X = (K + λI)⁻¹`: the numbers of the rows, and how much each counts.
///
/// Without a set `B` of examples these are missed by `(X_BB)⁻¹ (X δ)_B`; one alone by `(X δ)_k / X_kk`.
fn left_out_weights(inverse: &Mat<f64>, alike: &[Vec<usize>]) -> Vec<Vec<(usize, f64)>> {
    let one = |(k, block): (usize, &Vec<usize>)| match &block[..] {
        [_] => vec![(k, 1.0 / inverse[(k, k)])],
        block => {
            let own = Mat::from_fn(block.len(), block.len(), |a, b| {
                inverse[(block[a], block[b])]
            });
            let unit = Mat::from_fn(block.len(), 1, |a, _| f64::from(u8::from(block[a] == k)));
            let weights = own.partial_piv_lu().solve(&unit);
            (0..block.len())
                .map(|a| (block[a], weights[(a, 0)]))
                .collect()
        }
    };
    alike.iter().enumerate().map(one).collect()
}

/// Sum of squares of what is missed of examples left out, from `X = (K + λI)⁻¹` and `δ δᵀ`.
fn left_out_error(inverse: &Mat<f64>, gram: &Mat<f64>, alike: &[Vec<usize>]) -> f64 {
    let half = inverse * gram;
    let size = inverse.nrows();
    let product =
        |a: usize, b: usize| -> f64 { (0..size).map(|l| half[(a, l)] * inverse[(l, b)]).sum() };
    let one = |weights: Vec<(usize, f64)>| -> f64 {
        let pairs = weights
            .iter()
            .flat_map(|a| weights.iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| a.1 * b.1 * product(a.0, b.0)).sum()
    };
    // Not the rest pose, the last: there the base is right by itself.
    let answers = left_out_weights(inverse, alike).into_iter().take(size - 1);
    answers.map(one).sum()
}

/// Fails when the tables between all examples would not fit into memory.
fn check_size(examples: usize, joints: usize) -> Result<(), FitError> {
    // One for each joint, two of products, and a matrix, its factors and its inverse for each of a few groups at once.
    let tables = joints + 2 + 3 * 4;
    // The rest pose is one more.
    let factors = [examples + 1, examples + 1, tables, size_of::<f64>()].map(|n| n as u64);
    let what = || {
        format!(
            "pose space deformation of {examples} examples, each against each at {joints} joints,"
        )
    };
    Ok(check_memory(&factors, what, "fit to fewer examples")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_what_kernels_without_some_examples_say() {
        let angles: Vec<f64> = (0..7).map(|k| 0.3 * f64::from(k)).collect();
        let between = |k: usize, l: usize| (-0.5 * (angles[k] - angles[l]).powi(2)).exp();
        let smoothing = 1e-2;
        let kernels = [Mat::from_fn(7, 7, between)];
        let values: Vec<f64> = angles.iter().map(|a| (2.0 * a).sin()).collect();
        let inverse_of = |kept: &[usize]| {
            let kernel = [Mat::from_fn(kept.len(), kept.len(), |a, b| {
                between(kept[a], kept[b])
            })];
            inverse(&kernel, &[0], smoothing)
        };
        let alike = vec![
            vec![0, 3],
            vec![1],
            vec![2, 4, 5],
            vec![0, 3],
            vec![4],
            vec![5],
            vec![6],
        ];
        let whole = inverse(&kernels, &[0], smoothing);
        let column = Mat::from_fn(7, 1, |k, _| values[k]);
        let alpha = &whole * &column;
        let answers = left_out_weights(&whole, &alike);
        let mut squared = 0.0;
        for k in 0..7 {
            let kept: Vec<usize> = (0..7).filter(|l| !alike[k].contains(l)).collect();
            let without = inverse_of(&kept);
            let solved = &without * Mat::from_fn(kept.len(), 1, |a, _| values[kept[a]]);
            let shown = (0..kept.len()).map(|a| between(k, kept[a]) * solved[(a, 0)]);
            let plain = values[k] - shown.sum::<f64>();
            let closed: f64 = answers[k].iter().map(|&(l, w)| w * alpha[(l, 0)]).sum();
            assert!((closed - plain).abs() < 1e-9, "{k}: {closed}, not {plain}");
            // The rest pose, the last, is no example.
            if k < 6 {
                squared += plain * plain;
            }
        }
        let gram = &column * column.transpose();
        let closed = left_out_error(&whole, &gram, &alike);
        assert!((closed - squared).abs() < 1e-9, "{closed}, not {squared}");
    }
}
