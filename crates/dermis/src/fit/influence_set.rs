//! Which bones may move each vertex.

use std::collections::{BTreeMap, HashSet};

use super::reach::near_cores;
use super::{FitError, SsdOptions, fit_ssd};
use crate::example::ExampleSet;
use crate::limits::check_memory;
use crate::mesh::Topology;
use crate::par;
use crate::progress::Progress;
use crate::rig::BoneId;
use crate::skin::{Rows, VertexProgram, Weight};

/// The bones that each vertex may use: one row per vertex, none empty, in rising order.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluenceSets {
    rows: Rows<BoneId>,
}

/// Where the influence sets of a fit come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum InfluenceChoice {
    /// From the examples: bones that move like the vertex or its neighbours.
    #[default]
    Automatic,
    /// As given: painted, or taken from an existing skin. Used unchanged, with any number of bones.
    Given(InfluenceSets),
}

/// How many edges away a vertex looks for bones to fill its set with.
///
/// Not sensitive: with ranking by spread weights alone, 1 and 6 rings gave an EE (enveloping error) on
/// held-out examples of 5.05% and 5.02% on a hand. Filling at all takes a tube from 6.34% to 6.24%.
const FILL_RINGS: usize = 3;

/// Factor of a neighbour's weight per edge of distance.
const FILL_FADE: f64 = 0.5;

/// How far a bone reaches beyond its core, as a share of the longest side of the rest box.
///
/// On the horse (bones found from its meshes) 0.06 to 0.1 are alike; 0.03 leaves joints rigid.
const REACH: f64 = 0.07;

impl InfluenceSets {
    /// Returns an error when the matrices of all different sets would not fit into memory.
    ///
    /// Fits make some of them for each set, four rows and columns per bone, and some of four columns per bone that have
    /// a row for each example; `examples` is 0 for fits without such matrices.
    pub(super) fn check_memory(&self, examples: usize) -> Result<(), FitError> {
        let distinct: HashSet<&[BoneId]> = self.rows.iter().collect();
        let numbers = |bones: &&[BoneId]| {
            let columns = 4 * bones.len() as u64;
            columns.saturating_mul(columns + examples as u64)
        };
        let numbers = distinct.iter().map(numbers).fold(0, u64::saturating_add);
        let what = || {
            let most = self.rows.longest();
            format!(
                "fitting {} different sets of up to {most} bones",
                distinct.len()
            )
        };
        let factors = [numbers, 3, size_of::<f64>() as u64];
        Ok(check_memory(
            &factors,
            what,
            "allow fewer influences or use fewer examples",
        )?)
    }

    /// Sorts every row and checks it.
    ///
    /// # Errors
    /// [`FitError::BadOption`] when a row is empty or names a bone that does not exist.
    pub fn new(
        rows: impl IntoIterator<Item = Vec<BoneId>>,
        bone_count: usize,
    ) -> Result<Self, FitError> {
        let mut checked = Vec::new();
        for (vertex, mut row) in rows.into_iter().enumerate() {
            row.sort_unstable();
            row.dedup();
            match row.last() {
                None => return Err(bad(format!("vertex {vertex} has no bone that it may use"))),
                Some(bone) if bone.index() >= bone_count => {
                    return Err(bad(format!(
                        "vertex {vertex} may use bone {}, but there are only {bone_count} bones",
                        bone.index()
                    )));
                }
                Some(_) => checked.push(row),
            }
        }
        Ok(Self {
            rows: checked.into_iter().collect(),
        })
    }

    /// Every bone for every vertex.
    ///
    /// # Panics
    /// Without any bone.
    pub fn all(vertex_count: usize, bone_count: usize) -> Self {
        assert!(bone_count > 0, "a vertex needs a bone");
        let row = || (0..bone_count as u16).map(BoneId);
        Self {
            rows: (0..vertex_count).map(|_| row()).collect(),
        }
    }

    /// The bones with more than a share of the weight of each vertex, and always the heaviest.
    ///
    /// # Errors
    /// As [`InfluenceSets::new`]: a vertex without weights, or a bone that does not exist.
    pub fn from_weights(
        weights: &Rows<Weight>,
        min_weight: f64,
        bone_count: usize,
    ) -> Result<Self, FitError> {
        let rows = weights.iter().map(|row| {
            let heaviest = row
                .iter()
                .map(|w| w.weight)
                .fold(f64::NEG_INFINITY, f64::max);
            row.iter()
                .filter(|w| w.weight > min_weight || w.weight == heaviest)
                .map(|w| w.bone)
                .collect()
        });
        Self::new(rows, bone_count)
    }

    /// Sets from the examples alone, at most `max_influences` bones each.
    ///
    /// A vertex may use the bones that linear blend skinning gives it: its weights, none negative,
    /// keep distant bones that happen to move alike out. Where these are fewer than allowed, the
    /// bones that its neighbours use fill the set, the nearest and heaviest first, so that the sets of
    /// neighbours overlap and the influence of a bone does not end abruptly.
    ///
    /// # Errors
    /// As [`fit_ssd`].
    pub fn automatic(
        set: &ExampleSet,
        training: &[usize],
        max_influences: usize,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        let weights = blend_weights(set, training, max_influences, progress)?;
        let topology = Topology::new(set.rest().vertex_count(), set.rest().triangles());
        Self::around_weights(set, &weights, &topology, max_influences)
    }

    /// The recipes for automatic sets: as [`InfluenceSets::automatic`], and the bones whose core
    /// lies near along the surface.
    ///
    /// Only poses that are held out (kept from the fit) show which is better: with a true skeleton the
    /// weights are, with bones found from the meshes nearness is.
    pub(super) fn automatic_recipes(
        set: &ExampleSet,
        training: &[usize],
        max_influences: usize,
        progress: &dyn Progress,
    ) -> Result<[Self; 2], FitError> {
        let weights = blend_weights(set, training, max_influences, progress)?;
        let topology = Topology::new(set.rest().vertex_count(), set.rest().triangles());
        let near = near_cores(
            set.rest().positions(),
            &topology,
            &strongest_bones(&weights),
            set.skeleton().bone_count(),
            REACH * set.rest().bounds().size().max_element(),
            max_influences,
        )?;
        let around = Self::around_weights(set, &weights, &topology, max_influences)?;
        Ok([around, near])
    }

    fn around_weights(
        set: &ExampleSet,
        weights: &Rows<Weight>,
        topology: &Topology,
        max_influences: usize,
    ) -> Result<Self, FitError> {
        let own: Scores = weights
            .iter()
            .map(|row| row.iter().map(|w| (w.bone, w.weight)).collect())
            .collect();
        let spread = spread(topology, own.clone(), FILL_RINGS);
        Self::new(
            joined(&own, &spread, max_influences),
            set.skeleton().bone_count(),
        )
    }

    /// The sets joined with those of vertices up to `rings` edges away, at most `max_influences`
    /// bones each: always the vertex's own, then the nearest and most common.
    pub fn grown(&self, topology: &Topology, rings: usize, max_influences: usize) -> Self {
        let own: Scores = self
            .rows
            .iter()
            .map(|row| row.iter().map(|&bone| (bone, 1.0)).collect())
            .collect();
        let spread = spread(topology, own.clone(), rings);
        let rows = joined(&own, &spread, max_influences.max(1)).map(|mut row| {
            row.sort_unstable();
            row
        });
        // Never fewer than a vertex had.
        let rows = rows
            .enumerate()
            .map(|(i, row)| match row.len() < self.bones(i).len() {
                true => self.bones(i).to_vec(),
                false => row,
            });
        Self {
            rows: rows.collect(),
        }
    }

    /// The bones that vertex `i` may use, in rising order.
    pub fn bones(&self, i: usize) -> &[BoneId] {
        self.rows.row(i)
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn check(&self, vertex_count: usize, bone_count: usize) -> Result<(), FitError> {
        if self.rows.len() != vertex_count {
            return Err(bad(format!(
                "expected a set for each of {vertex_count} vertices, found {}",
                self.rows.len()
            )));
        }
        match self.rows.items().iter().find(|b| b.index() >= bone_count) {
            Some(bone) => Err(bad(format!(
                "a vertex may use bone {}, but there are only {bone_count} bones",
                bone.index()
            ))),
            None => Ok(()),
        }
    }
}

fn bad(problem: String) -> FitError {
    FitError::BadOption {
        option: "influences",
        problem,
    }
}

/// A score of each bone for each vertex.
type Scores = Vec<Vec<(BoneId, f64)>>;

/// Scores that reach `rings` edges far: each vertex's own, and the mean of its neighbours' faded.
fn spread(topology: &Topology, own: Scores, rings: usize) -> Scores {
    let mut scores = own.clone();
    for _ in 0..rings {
        scores = par::map(own.len(), |i| {
            let mut sum: BTreeMap<BoneId, f64> = own[i].iter().copied().collect();
            let neighbors = topology.neighbors(i);
            let share = FILL_FADE / neighbors.len().max(1) as f64;
            for &(bone, score) in neighbors.iter().flat_map(|&n| &scores[n as usize]) {
                *sum.entry(bone).or_default() += share * score;
            }
            sum.into_iter().collect()
        });
    }
    scores
}

/// A vertex's own bones first, then those spread to it, the highest score first.
fn joined(
    own: &Scores,
    spread: &Scores,
    max_influences: usize,
) -> impl Iterator<Item = Vec<BoneId>> {
    own.iter().zip(spread).map(move |(own, spread)| {
        let is_own = |bone: BoneId| own.iter().any(|&(b, _)| b == bone);
        let mut ranked = spread.clone();
        ranked.sort_by(|a, b| {
            let own_first = is_own(b.0).cmp(&is_own(a.0));
            own_first.then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0))
        });
        ranked.truncate(max_influences);
        ranked.into_iter().map(|(bone, _)| bone).collect()
    })
}

/// The weights of linear blend skinning on some examples.
fn blend_weights(
    set: &ExampleSet,
    training: &[usize],
    max_influences: usize,
    progress: &dyn Progress,
) -> Result<Rows<Weight>, FitError> {
    let options = SsdOptions {
        max_influences,
        ..SsdOptions::default()
    };
    match fit_ssd(set, training, &options, progress)?.skin.program {
        VertexProgram::Ssd(ssd) => Ok(ssd.weights),
        _ => unreachable!("linear blend skinning was fitted"),
    }
}

/// The bone with the largest weight at each vertex; of equal ones the first.
pub(super) fn strongest_bones(weights: &Rows<Weight>) -> Vec<BoneId> {
    let largest = |row: &[Weight]| {
        row.iter()
            .max_by(|a, b| a.weight.total_cmp(&b.weight).then(b.bone.cmp(&a.bone)))
            .map_or(BoneId(0), |w| w.bone)
    };
    weights.iter().map(largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(bones: [u16; N]) -> Vec<BoneId> {
        bones.map(BoneId).to_vec()
    }

    /// ```text
    ///  1 --- 3 --- 5      bone 0 at vertices 0 to 2, bone 7 at 3 to 5
    ///  |  /  |  /  |
    ///  0 --- 2 --- 4      6: a point on its own
    /// ```
    #[test]
    fn sets_grow_ring_by_ring_and_own_bones_stay() {
        let triangles = [[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]];
        let topology = Topology::new(7, &triangles);
        let rows = [0, 0, 0, 7, 7, 7, 3].map(|bone| ids([bone]));
        let sets = InfluenceSets::new(rows, 8).expect("a bone each");
        let one = sets.grown(&topology, 1, 2);
        assert_eq!(one.bones(0), ids([0, 7]), "3 is a neighbour");
        assert_eq!(one.bones(5), ids([0, 7]), "2 is a neighbour");
        assert_eq!(one.bones(6), ids([3]), "no neighbours");
        assert_eq!(sets.grown(&topology, 0, 2), sets, "no rings, no change");
        assert_eq!(sets.grown(&topology, 2, 1), sets, "no room, own bones stay");
        assert_eq!(
            sets.grown(&topology, 1, 2).grown(&topology, 1, 1),
            one,
            "what a vertex has is never taken away"
        );
    }

    #[test]
    fn weights_give_the_bones_above_a_share() {
        let weight = |(bone, weight)| Weight {
            bone: BoneId(bone),
            weight,
        };
        let rows = [vec![(4, 0.9), (1, 0.1)], vec![(2, 0.04), (3, 0.03)]];
        let weights: Rows<Weight> = rows
            .into_iter()
            .map(|row| row.into_iter().map(weight))
            .collect();
        let sets = InfluenceSets::from_weights(&weights, 0.05, 5).expect("weights for all");
        assert_eq!(sets.bones(0), ids([1, 4]), "both count");
        assert_eq!(sets.bones(1), ids([2]), "the heaviest in any case");
        let error = InfluenceSets::from_weights(&weights, 0.05, 4).expect_err("four bones");
        assert!(error.to_string().contains("bone 4"), "{error}");
        let nothing: Rows<Weight> = [Vec::new()].into_iter().collect();
        let error = InfluenceSets::from_weights(&nothing, 0.0, 4).expect_err("no weights");
        assert!(error.to_string().contains("no bone"), "{error}");
    }
}
