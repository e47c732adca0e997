//! The bones of meshes that linear blend skinning made, found exactly.
//!
//! Rigid parts do not show the bones where weights are smooth: a head that shares its vertices with a neck
//! falls into several parts. The error of a blend of bones shows them better:
//!
//! 1. **Grow.** Solve weights over the bones so far. Where the error is largest, and the surface around is
//!    stiffest, the motion of a patch of vertices becomes the next bone. Bones do not change meanwhile: a
//!    patch that follows one bone alone gives that bone exactly, and fitting it to vertices that other bones
//!    have yet to explain would spoil it.
//! 2. **Improve** all bones together, weights following ([`Blend::improve`]).
//! 3. **Exchange** bones that explain little for bones where the error is largest (`exchange.rs`).
//! 4. **Widen.** If few bones for each vertex are not enough, allow more, and improve again.
//! 5. **Check** on all vertices: those with a large error join the sample.
//! 6. **Thin.** Remove bones without which the blend stays exact.
//!
//! The search gives up early on meshes that are not a blend of so few bones; clusters are used for them.

use glam::DAffine3;

use super::blend::Blend;
use super::motion::Motion;
use crate::fit::FitError;
use crate::mesh::Topology;
use crate::par;
use crate::progress::{Progress, Stage};

/// Root-mean-square distance, as a share of the box, below which a blend is exact. Rounding of files with six
/// digits is some hundred times smaller, the error of real meshes a hundred times larger.
pub(super) const EXACT: f64 = 1e-5;
/// Below this the blend is near enough to begin with. Horses and cats stay ten times above.
pub(super) const NEARLY: f64 = 2e-4;
/// Where steps end: rounding of 32-bit files.
const ROUNDING: f64 = 1e-8;
/// A single vertex may have an error of this many times [`EXACT`].
const STRAY: f64 = 30.0;
/// For more bones, clusters are used: the equations of a step grow with the cube of the bones.
const MOST_BONES: usize = 64;
/// Vertices of the sample: at least so many, and so many for each bone.
const SAMPLE: usize = 600;
const SAMPLE_PER_BONE: usize = 30;
/// Vertices of the patch whose motion a new bone takes, one start each. Characters of a few hundred vertices
/// need the smallest.
const PATCHES: [usize; 4] = [30, 12, 60, 6];
/// Most bones for each vertex until bones are exchanged. With six poses a vertex has 18 numbers, and a dozen
/// bones, right or wrong, explain most of them.
const FEW_INFLUENCES: usize = 4;
/// Bones for each vertex when the meshes were made with more.
const WIDE_INFLUENCES: usize = 12;
/// Number of steps, and the share of the squared error that each must remove: in the first phase, in the
/// last, and to test whether the other bones make up for a removed one.
const FIRST_STEPS: usize = 30;
const FIRST_GAIN: f64 = 0.03;
const LAST_STEPS: usize = 60;
const LAST_GAIN: f64 = 0.01;
const THIN_STEPS: usize = 8;
const THIN_GAIN: f64 = 0.3;
/// A start whose error is above this share of the box after the first steps is dropped.
const HOPELESS: f64 = 1.5e-3;
/// Times that the sample may grow, and by how many vertices.
const SAMPLES: usize = 3;
const MORE_SAMPLE: usize = 100;

/// The inputs of the search.
pub(super) struct Search<'a> {
    pub(super) motion: &'a Motion,
    pub(super) topology: &'a Topology,
    /// Most bones.
    pub(super) count: usize,
    /// Bones for each vertex, if they are enough.
    pub(super) max_influences: usize,
    pub(super) progress: &'a dyn Progress,
}

/// A blend over all vertices that the search found.
pub(super) struct FoundBlend {
    pub(super) blend: Blend,
    /// Root-mean-square distance, as a share of the box, as it fell.
    pub(super) errors: Vec<f64>,
}

impl FoundBlend {
    pub(super) fn is_exact(&self) -> bool {
        self.errors.last().is_some_and(|&error| error <= EXACT)
    }
}

/// Some vertices, and which they are.
pub(super) struct Sample {
    pub(super) vertices: Vec<usize>,
    pub(super) motion: Motion,
}

impl Sample {
    pub(super) fn new(all: &Motion, vertices: Vec<usize>) -> Self {
        Self {
            motion: all.of_some(&vertices),
            vertices,
        }
    }
}

impl Search<'_> {
    /// The bones and weights that explain the meshes exactly, or nearly; `None` when there are none.
    ///
    /// # Errors
    /// [`FitError::Stopped`].
    pub(super) fn run(&self) -> Result<Option<FoundBlend>, FitError> {
        if self.count > MOST_BONES {
            return Ok(None);
        }
        let size = SAMPLE.max(SAMPLE_PER_BONE * self.count);
        let mut sample = Sample::new(self.motion, spread_out(self.motion, size));
        let mut best: Option<FoundBlend> = None;
        for patch in PATCHES {
            for _ in 0..SAMPLES {
                let Some(found) = self.start(&sample, patch)? else {
                    break;
                };
                let worst = found.blend.errors.iter().copied().fold(0.0, f64::max);
                let limit = (STRAY * EXACT).powi(2) * self.motion.mesh_count as f64;
                let missed = found.on_sample <= EXACT && (!found.is_exact() || worst > limit);
                if found.is_exact() && worst <= limit {
                    return Ok(Some(found.into()));
                }
                let grown = missed && sample.vertices.len() < self.motion.vertex_count();
                let more = grown.then(|| with_worst(&sample.vertices, &found.blend.errors));
                if best
                    .as_ref()
                    .is_none_or(|best| found.errors.last() < best.errors.last())
                {
                    best = Some(found.into());
                }
                match more {
                    Some(vertices) => sample = Sample::new(self.motion, vertices),
                    None => break,
                }
            }
        }
        Ok(best.filter(|best| best.errors.last() < Some(&NEARLY)))
    }

    /// One start; `None` when it stays far from a blend.
    fn start(&self, sample: &Sample, patch: usize) -> Result<Option<Trial>, FitError> {
        let mut influences = self.max_influences.min(FEW_INFLUENCES);
        let mut blend = self.grow(sample, patch, influences)?;
        let mut errors = vec![blend.rms(&sample.motion)];
        self.improve(
            &mut blend,
            sample,
            influences,
            FIRST_STEPS,
            FIRST_GAIN,
            f64::INFINITY,
        )?;
        if blend.rms(&sample.motion) > HOPELESS {
            return Ok(None);
        }
        self.exchange(&mut blend, sample, influences)?;
        // The meshes may have been made with more bones per vertex. Up to half as many as a vertex has numbers
        // are tried, so that weights stay well determined.
        let wide = (WIDE_INFLUENCES.max(self.max_influences)).min(3 * self.motion.mesh_count / 2);
        if blend.rms(&sample.motion) > EXACT && influences < wide {
            influences = wide;
            blend = Blend::new(&sample.motion, blend.bones, influences);
            self.improve(
                &mut blend,
                sample,
                influences,
                FIRST_STEPS,
                FIRST_GAIN,
                f64::INFINITY,
            )?;
        }
        self.improve(
            &mut blend,
            sample,
            influences,
            LAST_STEPS,
            LAST_GAIN,
            f64::INFINITY,
        )?;
        self.thin(&mut blend, sample, influences)?;
        let on_sample = blend.rms(&sample.motion);
        let all = Blend::new(self.motion, blend.bones, influences);
        errors.push(all.rms(self.motion));
        Ok(Some(Trial {
            blend: all,
            errors,
            on_sample,
        }))
    }

    /// Adds bones where the error is largest, until there are enough or the blend is exact.
    fn grow(&self, sample: &Sample, patch: usize, influences: usize) -> Result<Blend, FitError> {
        let stage = Stage::new(self.progress, "finding blended parts", self.count);
        let motion = &sample.motion;
        let patch_motion = |at: usize| {
            let patch = self.patch(sample.vertices[at], patch);
            (self.motion.rigid_motions(&patch), patch)
        };
        // How far from rigid the surface around each vertex moves.
        let softness = par::map(sample.vertices.len(), |at| {
            let (bone, patch) = patch_motion(at);
            let error = |&(i, _): &(usize, f64)| self.motion.squared_error(i, &bone, f64::INFINITY);
            patch.iter().map(error).sum::<f64>() / patch.len() as f64
        });
        let mut sorted = softness.clone();
        sorted.sort_by(f64::total_cmp);
        let stiff = sorted[sorted.len() / 4].max(EXACT * EXACT);
        let everything: Vec<(usize, f64)> = (0..motion.vertex_count()).map(|i| (i, 1.0)).collect();
        let mut blend = Blend::new(motion, vec![motion.rigid_motions(&everything)], influences);
        let mut is_taken = vec![false; sample.vertices.len()];
        let mut bones: Vec<Vec<DAffine3>> = Vec::new();
        while bones.len() < self.count && blend.rms(motion) > EXACT {
            let score = |at: usize| blend.errors[at] * stiff / (stiff + softness[at]);
            let seed = (0..is_taken.len())
                .filter(|&at| !is_taken[at])
                .max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a)));
            let Some(seed) = seed else { break };
            is_taken[seed] = true;
            bones.push(patch_motion(seed).0);
            // The motion of the whole mesh, from which the first bone was found, is not itself a bone.
            blend = Blend::new(motion, bones.clone(), influences);
            if !stage.step() {
                return Err(FitError::Stopped);
            }
        }
        Ok(blend)
    }

    /// Steps that lower the loss with this scale ([`Blend::loss`]), as long as each removes `least_gain` of it.
    pub(super) fn improve(
        &self,
        blend: &mut Blend,
        sample: &Sample,
        influences: usize,
        steps: usize,
        least_gain: f64,
        scale: f64,
    ) -> Result<(), FitError> {
        for _ in 0..steps {
            let before = blend.loss(scale);
            let goes_on = self.progress.report("moving blended bones", 0, 1);
            if !goes_on {
                return Err(FitError::Stopped);
            }
            if blend.rms(&sample.motion) <= ROUNDING
                || !blend.improve(&sample.motion, influences, scale)
                || blend.loss(scale) > (1.0 - least_gain) * before
            {
                break;
            }
        }
        Ok(())
    }

    /// Removes bones as long as the others make up for them.
    fn thin(&self, blend: &mut Blend, sample: &Sample, influences: usize) -> Result<(), FitError> {
        while blend.bones.len() > 1 && blend.rms(&sample.motion) <= EXACT {
            let costs = blend.costs_of_removal(&sample.motion, influences, f64::INFINITY);
            let cheapest = (0..costs.len())
                .min_by(|&a, &b| costs[a].total_cmp(&costs[b]).then(a.cmp(&b)))
                .unwrap_or(0);
            let mut bones = blend.bones.clone();
            bones.remove(cheapest);
            let mut fewer = Blend::new(&sample.motion, bones, influences);
            if fewer.rms(&sample.motion) > EXACT {
                self.improve(
                    &mut fewer,
                    sample,
                    influences,
                    THIN_STEPS,
                    THIN_GAIN,
                    f64::INFINITY,
                )?;
            }
            if fewer.rms(&sample.motion) > EXACT {
                break;
            }
            *blend = fewer;
        }
        Ok(())
    }

    /// About `size` vertices around one, along edges.
    pub(super) fn patch(&self, seed: usize, size: usize) -> Vec<(usize, f64)> {
        let mut members = vec![seed];
        let mut at = 0;
        while at < members.len() && members.len() < size {
            for &n in self.topology.neighbors(members[at]) {
                if !members.contains(&(n as usize)) {
                    members.push(n as usize);
                }
            }
            at += 1;
        }
        members.into_iter().map(|i| (i, 1.0)).collect()
    }
}

/// The result of one start, over all vertices.
struct Trial {
    blend: Blend,
    errors: Vec<f64>,
    /// Root-mean-square distance on the sample alone.
    on_sample: f64,
}

impl Trial {
    fn is_exact(&self) -> bool {
        self.errors.last().is_some_and(|&error| error <= EXACT)
    }
}

impl From<Trial> for FoundBlend {
    fn from(trial: Trial) -> Self {
        Self {
            blend: trial.blend,
            errors: trial.errors,
        }
    }
}

/// At most `count` vertices, each far at rest from those before it.
fn spread_out(motion: &Motion, count: usize) -> Vec<usize> {
    let total = motion.vertex_count();
    if total <= count {
        return (0..total).collect();
    }
    let mut chosen = vec![0];
    let mut nearest = vec![f64::INFINITY; total];
    while chosen.len() < count {
        let last = motion.rest[chosen[chosen.len() - 1]];
        for (nearest, p) in nearest.iter_mut().zip(&motion.rest) {
            *nearest = nearest.min(p.distance_squared(last));
        }
        let next = (0..total)
            .max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)))
            .expect("there are more vertices than chosen ones");
        chosen.push(next);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The sample, extended by the vertices with the largest errors.
fn with_worst(sample: &[usize], errors: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
    let mut vertices = sample.to_vec();
    vertices.extend(order.into_iter().take(MORE_SAMPLE));
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn a_sample_begins_with_the_ends() {
        let line: Vec<DVec3> = (0..101).map(|i| f64::from(i) * DVec3::X).collect();
        let motion = Motion::new(&line, &[&line]);
        assert_eq!(spread_out(&motion, 3), [0, 50, 100], "ends and middle");
        assert_eq!(spread_out(&motion, 200).len(), 101, "all there are");
    }

    #[test]
    fn the_worst_vertices_join_the_sample() {
        let mut errors = vec![0.0; 1000];
        errors[321] = 2.0;
        let grown = with_worst(&[5, 999], &errors);
        assert!(grown.contains(&321), "the worst");
        assert!(grown.contains(&999), "those before");
        assert!(grown.is_sorted(), "in order");
        assert!(grown.len() <= 2 + MORE_SAMPLE, "not all");
    }
}
