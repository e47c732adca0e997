//! Exchanging bones of a blend that explain little for bones where it errs most.
//!
//! In an exact rig the right bones explain their vertices to rounding, whatever other bones are missing. Least
//! squares does not show that, because it bends the right bones towards vertices that the missing ones should
//! explain. So bones first settle under a loss that hardly counts such vertices; then one bone is added at the worst of
//! them, and the bone that is missed least is removed.

use super::blend::Blend;
use super::search::{EXACT, Sample, Search};
use crate::fit::FitError;

/// Exchanges that may fail one after the other. A bone that is missing shows at few places: on the wolf, no
/// exchange succeeded after more than two failures.
const FAILURES: usize = 6;
/// Sizes of the patch whose motion the new bone takes: the one that explains most is chosen.
const PATCHES: [usize; 5] = [4, 7, 12, 30, 60];
/// Vertices around a seed that are not tried after it, because their patches are nearly the same.
const TRIED: usize = 12;
/// Share of the loss that a step or an exchange must remove to go on.
const GAIN: f64 = 0.03;
/// Steps before a bone is removed, and after.
const STEPS_BEFORE: usize = 4;
const STEPS_AFTER: usize = 10;
/// Most times that the scale follows the errors, and steps for each.
const SCALES: usize = 20;
const STEPS_FOR_SCALE: usize = 2;

impl Search<'_> {
    /// Exchanges bones until the blend is exact or no exchange helps; their number stays.
    pub(super) fn exchange(
        &self,
        blend: &mut Blend,
        sample: &Sample,
        influences: usize,
    ) -> Result<(), FitError> {
        let motion = &sample.motion;
        let mut is_tried = vec![false; self.motion.vertex_count()];
        let mut failures = 0;
        self.settle(blend, sample, influences)?;
        while blend.rms(motion) > EXACT && failures < FAILURES {
            let open = |at: &usize| !is_tried[sample.vertices[*at]];
            let worst = (0..motion.vertex_count())
                .filter(open)
                .max_by(|&a, &b| blend.errors[a].total_cmp(&blend.errors[b]).then(b.cmp(&a)));
            let Some(seed) = worst.map(|at| sample.vertices[at]) else {
                break;
            };
            for (i, _) in self.patch(seed, TRIED) {
                is_tried[i] = true;
            }
            let scale = self.scale(blend);
            match self.exchanged(blend, sample, influences, seed, scale)? {
                Some(next) if next.loss(scale) < (1.0 - GAIN) * blend.loss(scale) => {
                    *blend = next;
                    self.settle(blend, sample, influences)?;
                    failures = 0;
                    is_tried.fill(false);
                }
                _ => failures += 1,
            }
        }
        Ok(())
    }

    /// The blend with a bone added around `seed`, and the bone that is missed least removed; `None` when
    /// that is the new one.
    fn exchanged(
        &self,
        blend: &Blend,
        sample: &Sample,
        influences: usize,
        seed: usize,
        scale: f64,
    ) -> Result<Option<Blend>, FitError> {
        let motion = &sample.motion;
        let with_patch = |size: usize| {
            let mut bones = blend.bones.clone();
            bones.push(self.motion.rigid_motions(&self.patch(seed, size)));
            Blend::new(motion, bones, influences)
        };
        let mut more = PATCHES
            .map(with_patch)
            .into_iter()
            .min_by(|a, b| a.loss(scale).total_cmp(&b.loss(scale)))
            .expect("there are several sizes");
        self.improve(&mut more, sample, influences, STEPS_BEFORE, GAIN, scale)?;
        let costs = more.costs_of_removal(motion, influences, scale);
        let missed_least = (0..costs.len())
            .min_by(|&a, &b| costs[a].total_cmp(&costs[b]).then(a.cmp(&b)))
            .expect("there is a new bone");
        if missed_least == blend.bones.len() {
            return Ok(None);
        }
        let mut bones = more.bones;
        bones.remove(missed_least);
        let mut next = Blend::new(motion, bones, influences);
        self.improve(&mut next, sample, influences, STEPS_AFTER, GAIN, scale)?;
        Ok(Some(next))
    }

    /// Moves the bones to where they explain most vertices exactly, and hardly count those that they cannot explain.
    fn settle(
        &self,
        blend: &mut Blend,
        sample: &Sample,
        influences: usize,
    ) -> Result<(), FitError> {
        for _ in 0..SCALES {
            let scale = self.scale(blend);
            let before = blend.loss(scale);
            self.improve(blend, sample, influences, STEPS_FOR_SCALE, GAIN, scale)?;
            if blend.loss(scale) > (1.0 - GAIN) * before {
                break;
            }
        }
        Ok(())
    }

    /// The middle error of the vertices that are not exact. With the middle of all, a bone that is wrong for
    /// a few vertices would no longer be moved once half of all are exact.
    fn scale(&self, blend: &Blend) -> f64 {
        blend.middle_error_above(EXACT * EXACT * self.motion.mesh_count as f64)
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat, DVec3};

    use super::*;
    use crate::fit::bones::motion::Motion;
    use crate::mesh::Topology;
    use crate::progress::Silent;

    const LONG: usize = 31;
    const ROUND: usize = 6;

    /// Rest points of a tube along x from 0 to 3, and its triangles.
    fn tube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let point = |i: usize| {
            let angle = std::f64::consts::TAU * (i % ROUND) as f64 / ROUND as f64;
            let along = 3.0 * (i / ROUND) as f64 / (LONG - 1) as f64;
            DVec3::new(along, 0.3 * angle.cos(), 0.3 * angle.sin())
        };
        let mut triangles = Vec::new();
        for i in 0..(LONG - 1) * ROUND {
            let next = i / ROUND * ROUND + (i + 1) % ROUND;
            let [a, b, up] = [i, next, ROUND].map(|n| n as u32);
            triangles.extend([[a, b, a + up], [b, b + up, a + up]]);
        }
        ((0..LONG * ROUND).map(point).collect(), triangles)
    }

    /// Three bones, which end at 1 and 2, in four poses.
    fn three_bones() -> Vec<Vec<DAffine3>> {
        let turn = |x: f64, axis: DVec3| {
            let joint = DVec3::new(x, 0.0, 0.0);
            DAffine3::from_translation(joint)
                * DAffine3::from_quat(DQuat::from_scaled_axis(axis))
                * DAffine3::from_translation(-joint)
        };
        let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.4, -0.5, 0.3)];
        let first = axes.map(|axis| turn(0.0, 0.2 * axis));
        let second = axes.map(|axis| turn(1.0, 0.7 * DVec3::new(axis.y, axis.z, axis.x)));
        let third = axes.map(|axis| turn(2.0, DVec3::new(-axis.z, axis.x, axis.y)));
        let chain = |k: usize| {
            [
                first[k],
                first[k] * second[k],
                first[k] * second[k] * third[k],
            ]
        };
        (0..3)
            .map(|j| (0..axes.len()).map(|k| chain(k)[j]).collect())
            .collect()
    }

    #[test]
    fn a_doubled_bone_is_exchanged_for_the_missing_one() {
        let (rest, triangles) = tube();
        let bones = three_bones();
        // Weights change over 0.4 around each joint.
        let share = |x: f64, joint: f64| ((x - joint) / 0.4 + 0.5).clamp(0.0, 1.0);
        let blended = |k: usize, p: &DVec3| {
            let (second, third) = (share(p.x, 1.0), share(p.x, 2.0));
            let weights = [1.0 - second, second - third, third];
            let parts = bones.iter().zip(weights);
            parts
                .map(|(bone, w)| w * bone[k].transform_point3(*p))
                .sum()
        };
        let meshes: Vec<Vec<DVec3>> = (0..bones[0].len())
            .map(|k| rest.iter().map(|p| blended(k, p)).collect())
            .collect();
        let meshes: Vec<&[DVec3]> = meshes.iter().map(Vec::as_slice).collect();
        let motion = Motion::new(&rest, &meshes);
        let search = Search {
            motion: &motion,
            topology: &Topology::new(rest.len(), &triangles),
            count: 3,
            max_influences: 2,
            progress: &Silent,
        };
        let sample = Sample::new(&motion, (0..rest.len()).collect());
        // The first bone twice, and no third.
        let mut doubled = bones[0].clone();
        doubled[0].translation.x += 1e-3;
        let start = vec![bones[0].clone(), doubled, bones[1].clone()];
        let mut blend = Blend::new(&sample.motion, start, 2);
        assert!(blend.rms(&sample.motion) > 0.05, "a third is not explained");
        search
            .exchange(&mut blend, &sample, 2)
            .expect("nobody stops it");
        assert_eq!(blend.bones.len(), 3, "as many bones as before");
        let error = blend.rms(&sample.motion);
        assert!(error <= EXACT, "rms distance {error}");
    }
}
