//! Bones that the training poses do not determine.
//!
//! An influence set of `n` bones has `4n − 1` unknowns (the weights sum to 1), and their normal matrix
//! `Σ_k (Gᵏ)ᵀGᵏ` is the same for every vertex. Its rank is smaller than the number of unknowns where the poses are
//! too few, or too much alike: an elbow that only bends does not show what twisting does.
//!
//! One loss of rank is not a fault of the poses. A joint that turns in place keeps a point that is fixed
//! in both its bones, so weight at this point can be moved from one to the other without an effect in any
//! pose (\[Merry07\] B.3). For every such point, all bones of a set but the first that hold it are forgiven
//! one direction each: bone and parent, siblings that hang from the same point, and chains of bones without
//! length. A set is *open* by the directions that remain, and a bone is weak for a vertex when taking it out
//! of the set leaves fewer of them.

use std::collections::HashMap;

use glam::DVec3;

use super::WeakBone;
use super::anim_space::{FitFrames, normal_eigenvalues};
use crate::example::ExampleSet;
use crate::par;
use crate::rig::BoneId;
use crate::skin::{Skin, VertexProgram};

/// A direction counts as not determined when its eigenvalue is below this share of the largest.
const OPEN: f64 = 1e-8;

/// How far apart points may be that count as one, as a share of the model: rounding of single precision.
const SAME_POINT: f64 = 1e-6;

/// The bones with unknowns that the poses do not determine, in the skeleton's order.
///
/// A property of poses and influence sets: the kind of skin does not matter. Bones that are not in the
/// examples' skeleton are skipped.
pub(super) fn under_determined(set: &ExampleSet, training: &[usize], skin: &Skin) -> Vec<WeakBone> {
    let bones = set.skeleton().bones();
    let mut vertices_of: HashMap<Vec<BoneId>, usize> = HashMap::new();
    for mut row in bone_rows(&skin.program) {
        row.retain(|bone| bone.index() < bones.len());
        row.sort_unstable();
        row.dedup();
        if !row.is_empty() {
            *vertices_of.entry(row).or_default() += 1;
        }
    }
    let mut sets: Vec<(Vec<BoneId>, usize)> = vertices_of.into_iter().collect();
    sets.sort_unstable();
    let frames = FitFrames::new(set, training);
    let points = FixedPoints::new(set, training, frames.unit());
    let open = |bones: &[BoneId]| {
        let values = normal_eigenvalues(&frames, bones);
        let largest = values.last().copied().unwrap_or(0.0);
        let unseen = values.iter().filter(|&&v| v <= OPEN * largest).count();
        unseen.saturating_sub(points.forgiven(bones))
    };
    let weak_bones = par::map(sets.len(), |number| {
        let bones = &sets[number].0;
        let all = open(bones);
        let without = |bone: &BoneId| -> Vec<BoneId> {
            bones.iter().filter(|b| *b != bone).copied().collect()
        };
        let brings = |bone: &&BoneId| match without(bone).as_slice() {
            _ if all == 0 => false,
            [] => true,
            others => open(others) < all,
        };
        bones.iter().filter(brings).copied().collect::<Vec<_>>()
    });
    let mut counts = vec![[0; 2]; bones.len()];
    for ((set, vertices), weak) in sets.iter().zip(&weak_bones) {
        set.iter()
            .for_each(|bone| counts[bone.index()][0] += vertices);
        weak.iter()
            .for_each(|bone| counts[bone.index()][1] += vertices);
    }
    bones
        .iter()
        .zip(counts)
        .filter(|(_, [_, open_vertices])| *open_vertices > 0)
        .map(|(bone, [vertices, open_vertices])| WeakBone {
            bone: bone.name.clone(),
            vertices,
            open_vertices,
        })
        .collect()
}

/// The bones of every vertex.
fn bone_rows(program: &VertexProgram) -> Vec<Vec<BoneId>> {
    match program {
        VertexProgram::Ssd(ssd) => rows_of(ssd.weights.iter(), |w| w.bone),
        VertexProgram::Linear(linear) => rows_of(linear.influences.iter(), |i| i.bone),
        VertexProgram::MultiWeight(multi) => rows_of(multi.influences.iter(), |i| i.bone),
        VertexProgram::DualQuaternion(dual) => rows_of(dual.weighted.weights.iter(), |w| w.bone),
    }
}

fn rows_of<'a, T: 'a>(
    rows: impl Iterator<Item = &'a [T]>,
    bone: impl Fn(&T) -> BoneId,
) -> Vec<Vec<BoneId>> {
    rows.map(|row| row.iter().map(&bone).collect()).collect()
}

/// Points that stay fixed in more than one bone.
struct FixedPoints {
    /// Numbers of the points that are fixed in each bone.
    of_bone: Vec<Vec<usize>>,
}

impl FixedPoints {
    fn new(set: &ExampleSet, training: &[usize], unit: f64) -> Self {
        let skeleton = set.skeleton();
        let mut of_bone: Vec<Vec<usize>> = vec![Vec::new(); skeleton.bone_count()];
        // For every joint that turns in place: its position in the parent.
        let mut hangs: Vec<Option<(BoneId, DVec3)>> = Vec::new();
        // Number of the point at each bone's origin.
        let mut origin: Vec<usize> = Vec::new();
        for (j, bone) in skeleton.bones().iter().enumerate() {
            let place = bone.parent.and_then(|parent| {
                let at = turns_in_place(set, training, j, unit)?;
                Some((parent, at))
            });
            let same = |a: DVec3, b: DVec3| a.distance(b) <= SAME_POINT * unit;
            let point = place.and_then(|(parent, at)| {
                if same(at, DVec3::ZERO) {
                    return Some(origin[parent.index()]);
                }
                let sibling = hangs
                    .iter()
                    .position(|other| other.is_some_and(|(p, a)| p == parent && same(a, at)))?;
                Some(origin[sibling])
            });
            let point = point.unwrap_or(j);
            origin.push(point);
            of_bone[j].push(point);
            if let Some((parent, _)) = place
                && !of_bone[parent.index()].contains(&point)
            {
                of_bone[parent.index()].push(point);
            }
            hangs.push(place);
        }
        Self { of_bone }
    }

    /// Number of directions of a set that are zero in every pose of these joints.
    fn forgiven(&self, bones: &[BoneId]) -> usize {
        let mut held: Vec<usize> = bones
            .iter()
            .flat_map(|bone| self.of_bone[bone.index()].iter().copied())
            .collect();
        held.sort_unstable();
        held.chunk_by(|a, b| a == b)
            .map(|same| same.len() - 1)
            .sum()
    }
}

/// The position of bone `j` in its parent, when it is the same in all poses.
fn turns_in_place(set: &ExampleSet, training: &[usize], j: usize, unit: f64) -> Option<DVec3> {
    let mut places = training
        .iter()
        .map(|&k| set.examples()[k].pose.parent_from_bone[j].translation);
    let first = places.next()?;
    places
        .all(|place| place.distance(first) <= SAME_POINT * unit)
        .then_some(first)
}
