//! Vertices that follow fewer bones: one influence at a time, at most so many, or without some bones at all.
//!
//! A vertex that loses a bone takes the place, among those that its other bones can give it, that is nearest to the old
//! one over the sample poses. For an animation-space vertex that is the least-squares solution of \[Merry07\] section 6.3,
//! in sample poses instead of their mean product; a linear blend keeps a rest position and weights that are not negative.

use super::freedom::SmallSystem;
use super::lanes::{Lanes3, sum, wide};
use super::model::{Change, Operation};
use super::placing::positions_of;
use super::quadrics::Quadric;
use super::rank;
use super::samples::SamplePoses;
use super::simplify::{Entry, Simplifier};
use super::vertices::{Blending, LevelVertex, Placement};
use crate::par;
use crate::rig::BoneId;
use crate::skin::Influence;

/// Steps towards the best place of a plain vertex, whose weights and rest position act together; a free one is there after
/// the first.
const PLAIN_STEPS: usize = 3;
/// Most bones that are exchanged for others; nearly all vertices are at their best after one or two.
const MOST_EXCHANGES: usize = 6;
/// An exchange must lower a squared distance by this share.
const WORTH_EXCHANGING: f64 = 1e-6;
/// Decides only what no sample pose shows.
const RIDGE: f64 = 1e-7;

/// A vertex that has lost a bone.
#[derive(Debug, Clone)]
pub(super) struct Without {
    pub(super) vertex: LevelVertex,
    /// Squared distance from where it should be, mean over the poses.
    pub(super) square: f64,
}

/// Where a vertex should be in some poses.
pub(super) struct Wanted<'a> {
    blocks: &'a [SamplePoses],
    /// Squared distances from there; nothing else moves, so every distance is seen, along the surface, too.
    quadrics: Vec<Quadric>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(
        vertex: &LevelVertex,
        blocks: &'a [SamplePoses],
        blending: &Blending,
    ) -> Self {
        let quadric = |samples: &SamplePoses| {
            let mut stays = Quadric::NONE;
            stays.add_point(&positions_of(vertex, samples, blending), &samples.weights);
            stays
        };
        Self {
            quadrics: blocks.iter().map(quadric).collect(),
            blocks,
        }
    }

    /// A vertex moved to where its bones bring it nearest.
    fn nearest(&self, start: LevelVertex, blending: &Blending) -> Without {
        let places = |vertex: &LevelVertex| -> Vec<Lanes3> {
            let blocks = self.blocks.iter();
            blocks
                .map(|samples| positions_of(vertex, samples, blending))
                .collect()
        };
        let square = |at: &[Lanes3]| {
            let each = self.quadrics.iter().zip(at);
            each.map(|(quadric, at)| quadric.value(at)).sum::<f64>()
        };
        let mut at = places(&start);
        let mut best = Without {
            square: square(&at),
            vertex: start,
        };
        let steps = match blending.placement {
            Placement::Plain => PLAIN_STEPS,
            Placement::Free => 1,
        };
        for _ in 0..steps {
            let mut system = None;
            let mut floors = Vec::new();
            for ((samples, quadric), at) in self.blocks.iter().zip(&self.quadrics).zip(&at) {
                let freedom = blending.freedom(&best.vertex, samples);
                let count = freedom.directions.len();
                floors.clone_from(&freedom.floors);
                let system = system.get_or_insert_with(|| SmallSystem::new(count));
                wide(
                    #[inline(always)]
                    || freedom.add_quadric(quadric, at, system),
                );
            }
            let Some(step) = system.and_then(|system| system.solve_above(&floors, RIDGE)) else {
                break;
            };
            let vertex = blending.stepped(&best.vertex, &step);
            at = places(&vertex);
            let next = square(&at);
            if next >= best.square {
                break;
            }
            best = Without {
                vertex,
                square: next,
            };
        }
        best
    }
}

impl Blending {
    /// A vertex without a bone, as near as can be to where it should be; `None` when nothing is left to follow.
    ///
    /// An `heir` takes the bone's weight first, whether the vertex follows it or not.
    pub(super) fn without(
        &self,
        vertex: &LevelVertex,
        bone: BoneId,
        heir: Option<BoneId>,
        wanted: &Wanted<'_>,
    ) -> Option<Without> {
        let lost = vertex.influences.iter().find(|i| i.bone == bone)?.p.w;
        let mut weights: Vec<(BoneId, f64)> = (vertex.influences.iter())
            .filter(|i| i.bone != bone)
            .map(|i| (i.bone, i.p.w))
            .collect();
        let left: f64 = weights.iter().map(|item| item.1).sum();
        match heir {
            Some(heir) => match weights.iter_mut().find(|item| item.0 == heir) {
                Some(item) => item.1 += lost,
                None => {
                    weights.push((heir, lost));
                    weights.sort_by_key(|item| item.0);
                }
            },
            None if left.abs() < 1e-9 => return None,
            None => weights
                .iter_mut()
                .for_each(|item| item.1 *= (left + lost) / left),
        }
        self.keep_heaviest(&mut weights);
        let start = self.vertex(&weights, vertex.rest, (vertex, vertex, 0.0));
        Some(wanted.nearest(start, self))
    }

    /// A vertex with at most so many bones: those whose loss is seen least go, one after the other, and come back where
    /// that is better than what was kept.
    pub(super) fn capped(&self, given: &LevelVertex, blocks: &[SamplePoses]) -> LevelVertex {
        let wanted = Wanted::new(given, blocks, self);
        let mut vertex = given.clone();
        while vertex.influences.len() > self.most {
            let each = vertex.influences.iter();
            let tried = each.filter_map(|i| self.without(&vertex, i.bone, None, &wanted));
            let Some(best) = tried.min_by(|a, b| a.square.total_cmp(&b.square)) else {
                break;
            };
            vertex = best.vertex;
        }
        let mut best = wanted.nearest(vertex, self);
        for _ in 0..MOST_EXCHANGES {
            let Some(better) = self.exchanged(&best, given, &wanted) else {
                break;
            };
            best = better;
        }
        best.vertex
    }

    /// The best vertex that follows another bone of the given one in the place of one of its own; `None` when none is
    /// better than it is.
    ///
    /// A body of 152 bones, all of which move, is off by 3 hundredths less for it, and a body in its clips by a tenth.
    fn exchanged(
        &self,
        now: &Without,
        given: &LevelVertex,
        wanted: &Wanted<'_>,
    ) -> Option<Without> {
        let own = &now.vertex.influences;
        let others = given.influences.iter().map(|i| i.bone);
        let others = others.filter(|bone| own.iter().all(|i| i.bone != *bone));
        let mut best: Option<Without> = None;
        for other in others {
            for out in own {
                let bone = |i: &Influence| if i.bone == out.bone { other } else { i.bone };
                let mut weights: Vec<(BoneId, f64)> =
                    own.iter().map(|i| (bone(i), i.p.w)).collect();
                weights.sort_by_key(|item| item.0);
                let start = self.vertex(&weights, given.rest, (given, given, 0.0));
                let tried = wanted.nearest(start, self);
                let least = best.as_ref().unwrap_or(now).square;
                if tried.square < (1.0 - WORTH_EXCHANGING) * least {
                    best = Some(tried);
                }
            }
        }
        best
    }
}

impl Simplifier {
    /// The bones that a point could do without.
    pub(super) fn drops(&self, point: u32, into: &mut Vec<Entry>) {
        let vertex = &self.model.vertices[point as usize];
        if !self.options.drop_influences || vertex.influences.len() < 2 {
            return;
        }
        let area = self.area_at(point);
        let wanted = self.wanted(point);
        for influence in &vertex.influences {
            let without = self.blending.without(vertex, influence.bone, None, &wanted);
            let Some(without) = without else { continue };
            into.push(Entry {
                cost: rank(area * without.square, 1).to_bits(),
                a: point,
                b: u32::from(influence.bone.0),
                is_drop: true,
                versions: [self.versions[point as usize]; 2],
                has_slide: false,
            });
        }
    }

    /// Where a point is in the sample poses, and should stay.
    fn wanted(&self, point: u32) -> Wanted<'_> {
        let vertex = &self.model.vertices[point as usize];
        Wanted::new(vertex, std::slice::from_ref(&self.samples), &self.blending)
    }

    fn area_at(&self, point: u32) -> f64 {
        sum(&self.quadrics[point as usize].areas())
    }

    /// Takes an influence away, if that is legal.
    pub(super) fn drop_influence(&mut self, point: u32, bone: BoneId) -> bool {
        let vertex = &self.model.vertices[point as usize];
        let without = (self.blending).without(vertex, bone, None, &self.wanted(point));
        let Some(without) = without.filter(|new| new.square <= self.tolerance.powi(2)) else {
            return false;
        };
        let positions = positions_of(&without.vertex, &self.samples, &self.blending);
        if self.flips([point, point], &positions) {
            return false;
        }
        self.replace(point, without.vertex);
        self.requeue(point);
        true
    }

    /// Gives every vertex at most as many influences as may be.
    pub(super) fn cap_influences(&mut self) {
        let is_over = |point: &usize| {
            let count = self.model.vertices[*point].influences.len();
            count > self.blending.most && !self.model.mesh.faces_of_point[*point].is_empty()
        };
        let over: Vec<usize> = (0..self.model.vertices.len()).filter(is_over).collect();
        let capped = par::map(over.len(), |n| {
            let vertex = &self.model.vertices[over[n]];
            self.blending.capped(vertex, &self.more_samples)
        });
        for (point, vertex) in over.into_iter().zip(capped) {
            self.replace(point as u32, vertex);
        }
    }

    /// Another vertex in the place of one.
    pub(super) fn replace(&mut self, point: u32, after: LevelVertex) {
        self.positions[point as usize] = positions_of(&after, &self.samples, &self.blending);
        let before = self.model.vertices[point as usize].clone();
        let operation = Operation::Drop(Change {
            point,
            before,
            after,
        });
        self.model.apply(&operation);
        self.operations.push(operation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lod::samples::SamplePoses;
    use crate::lod::vertices::vertices_of;
    use crate::rig::{Bone, Pose, Skeleton};
    use crate::skin::Skin;
    use crate::synth::{TubeOptions, tube};
    use glam::{DAffine3, DQuat, DVec3};

    /// A tube of three bones with some poses, and its vertices as free ones.
    fn free_tube() -> (Skin, Vec<Pose>, Vec<LevelVertex>) {
        let made = tube(&TubeOptions {
            ring_count: 20,
            segment_count: 6,
            bone_count: 3,
            example_count: 40,
        });
        let examples = made.examples.examples().iter();
        let poses = examples.map(|example| example.pose.clone()).collect();
        let rest = made.examples.rest().positions();
        let (vertices, _) = vertices_of(&made.truth, rest, true).expect("linear");
        (made.truth, poses, vertices)
    }

    fn square_between(
        a: &LevelVertex,
        b: &LevelVertex,
        blocks: &[SamplePoses],
        by: &Blending,
    ) -> f64 {
        Wanted::new(a, blocks, by)
            .quadrics
            .iter()
            .zip(blocks)
            .map(|(quadric, samples)| quadric.value(&positions_of(b, samples, by)))
            .sum()
    }

    /// L6 and the specification's fact 7: in which order bones go does not matter, and costs add.
    #[test]
    fn bones_go_in_any_order_and_costs_add() {
        let (skin, poses, vertices) = free_tube();
        let size = skin.size().expect("it has vertices");
        let blocks = SamplePoses::choose_many(&skin, &poses, &[], size).expect("its own poses");
        let by = Blending::new(&skin.skeleton, Placement::Free, 8);
        // All three bones, so that two can go.
        let mut vertex = vertices[60].clone();
        let weights = [0.3, 0.45, 0.25];
        let bones = (0..3).map(|j| (BoneId(j), weights[usize::from(j)]));
        vertex = by.vertex(
            &bones.collect::<Vec<_>>(),
            vertex.rest,
            (&vertex, &vertex, 0.0),
        );
        let after = |first: u16, second: u16| {
            let mut now = vertex.clone();
            let mut costs = Vec::new();
            for bone in [first, second] {
                let wanted = Wanted::new(&now, &blocks, &by);
                let next = by
                    .without(&now, BoneId(bone), None, &wanted)
                    .expect("others are left");
                costs.push(next.square);
                now = next.vertex;
            }
            (now, costs)
        };
        let (ours, costs) = after(0, 2);
        let (other, _) = after(2, 0);
        let apart = square_between(&ours, &other, &blocks, &by).sqrt();
        assert!(apart < 1e-5 * size, "the same vertex: {apart}");
        let joint = square_between(&vertex, &ours, &blocks, &by);
        let sum: f64 = costs.iter().sum();
        assert!(
            (sum - joint).abs() < 1e-4 * joint,
            "{costs:?} add up to {joint}"
        );
        assert!(joint > 0.0, "it is seen");
    }

    /// L6: onto the parent of a hinge, the loss has a closed form: `|q|² (1 − (sin h / h)²)`, q the part across the axis.
    #[test]
    fn a_hinge_that_goes_costs_what_the_formula_says() {
        let bone = |name: &str, parent: Option<BoneId>| Bone {
            name: name.to_owned(),
            parent,
            bone_from_rest: DAffine3::IDENTITY,
            default_parent_from_bone: crate::rig::Trs::IDENTITY,
        };
        let bones = vec![bone("parent", None), bone("child", Some(BoneId(0)))];
        let skeleton = Skeleton::new(bones).expect("two bones");
        let half: f64 = 1.1;
        let count = 120;
        let pose = |k: usize| {
            let angle = half * (2.0 * (k as f64 + 0.5) / count as f64 - 1.0);
            let mut pose = skeleton.rest_pose();
            pose.parent_from_bone[1] = DAffine3::from_quat(DQuat::from_rotation_z(angle));
            pose
        };
        let poses: Vec<Pose> = (0..count).map(pose).collect();
        let at = DVec3::new(2.0, 0.5, 0.7);
        // Another vertex stays, so that poses can be told apart.
        let rest = vec![at, DVec3::NEG_X];
        let follows = |bone: u16| {
            vec![crate::skin::Weight {
                bone: BoneId(bone),
                weight: 1.0,
            }]
        };
        let program = crate::skin::SsdProgram {
            rest_positions: rest.clone(),
            weights: [follows(1), follows(0)].into_iter().collect(),
            corrections: Vec::new(),
        };
        let program = crate::skin::VertexProgram::Ssd(program);
        let skin = Skin::new(skeleton.clone(), program, Vec::new()).expect("two vertices");
        let (vertices, _) = vertices_of(&skin, &rest, true).expect("linear");
        let blocks = SamplePoses::choose_many(&skin, &poses, &[], 1.0).expect("its poses");
        // Poses are centred on the character: centre them on the joint instead.
        let blocks: Vec<SamplePoses> = blocks.into_iter().map(|b| b.about_bone(0)).collect();
        let by = Blending::new(&skeleton, Placement::Free, 4);
        let wanted = Wanted::new(&vertices[0], &blocks, &by);
        let gone = by
            .without(&vertices[0], BoneId(1), Some(BoneId(0)), &wanted)
            .expect("an heir");
        let across = at.x * at.x + at.y * at.y;
        let formula = across * (1.0 - (half.sin() / half).powi(2));
        assert!(
            (gone.square - formula).abs() < 2e-3 * formula,
            "{} against {formula}",
            gone.square
        );
    }

    /// L7: what a vertex loses is never more than when the bone is dropped and the others are scaled up.
    #[test]
    fn a_vertex_never_loses_more_than_by_dropping_and_scaling_up() {
        let (skin, poses, vertices) = free_tube();
        let size = skin.size().expect("it has vertices");
        let blocks = SamplePoses::choose_many(&skin, &poses, &[], size).expect("its own poses");
        let mut gains = 0;
        for placement in [Placement::Plain, Placement::Free] {
            let by = Blending::new(&skin.skeleton, placement, 8);
            for vertex in vertices.iter().filter(|v| v.influences.len() > 1) {
                let wanted = Wanted::new(vertex, &blocks, &by);
                let bone = vertex.influences[0].bone;
                let Some(ours) = by.without(vertex, bone, None, &wanted) else {
                    continue;
                };
                let left: Vec<_> = vertex.influences[1..]
                    .iter()
                    .map(|i| (i.bone, i.p.w))
                    .collect();
                let sum: f64 = left.iter().map(|item| item.1).sum();
                let scaled: Vec<_> = left.iter().map(|&(b, w)| (b, w / sum)).collect();
                let dropped = by.vertex(&scaled, vertex.rest, (vertex, vertex, 0.0));
                let theirs = square_between(vertex, &dropped, &blocks, &by);
                assert!(
                    ours.square <= theirs * (1.0 + 1e-9) + 1e-20,
                    "{} {theirs}",
                    ours.square
                );
                gains += usize::from(ours.square < 0.9 * theirs);
            }
        }
        assert!(gains > 50, "and often much less: {gains}");
    }
}
