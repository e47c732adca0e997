//! Which bones may move each vertex.

use super::FitError;
use crate::rig::BoneId;
use crate::skin::Rows;

/// The bones that each vertex may use: one row per vertex, none empty, in rising order.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluenceSets {
    rows: Rows<BoneId>,
}

/// Where the influence sets of a fit come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum InfluenceChoice {
    /// From the examples: bones that move like the vertex or its neighbours do.
    #[default]
    Automatic,
    /// As given: painted, or taken from an existing skin.
    Given(InfluenceSets),
}

impl InfluenceSets {
    /// Sorts every row and checks it.
    ///
    /// # Errors
    /// [`FitError::BadOption`] when a row is empty or names a bone that does not exist.
    pub fn new(
        rows: impl IntoIterator<Item = Vec<BoneId>>,
        bone_count: usize,
    ) -> Result<Self, FitError> {
        let bad = |problem: String| FitError::BadOption {
            option: "influences",
            problem,
        };
        let mut checked = Vec::new();
        for (vertex, mut row) in rows.into_iter().enumerate() {
            row.sort_unstable();
            row.dedup();
            match row.last() {
                None => return Err(bad(format!("vertex {vertex} may use no bone"))),
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

    /// The bones that vertex `i` may use, in rising order.
    pub fn bones(&self, i: usize) -> &[BoneId] {
        self.rows.row(i)
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.rows.len()
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

    pub(super) fn check(&self, vertex_count: usize, bone_count: usize) -> Result<(), FitError> {
        let bad = |problem: String| {
            Err(FitError::BadOption {
                option: "influences",
                problem,
            })
        };
        if self.rows.len() != vertex_count {
            return bad(format!(
                "expected a set for each of {vertex_count} vertices, found {}",
                self.rows.len()
            ));
        }
        match self.rows.items().iter().find(|b| b.index() >= bone_count) {
            Some(bone) => bad(format!(
                "a vertex may use bone {}, but there are only {bone_count} bones",
                bone.index()
            )),
            None => Ok(()),
        }
    }

    /// auto
    pub fn automatic(
        set: &crate::example::ExampleSet,
        training: &[usize],
        max_influences: usize,
        progress: &dyn crate::progress::Progress,
    ) -> Result<Self, FitError> {
        let options = super::SsdOptions {
            max_influences,
            ..Default::default()
        };
        let fitted = super::fit_ssd(set, training, &options, progress)?;
        let crate::skin::VertexProgram::Ssd(ssd) = fitted.skin.program else {
            unreachable!()
        };
        let env = |name: &str, default: f64| {
            std::env::var(name)
                .ok()
                .and_then(|v| v.parse().ok())
                .unwrap_or(default)
        };
        let rings = env("RINGS", 3.0) as usize;
        let share = env("SHARE", 0.5);
        let topology =
            crate::mesh::Topology::new(set.rest().vertex_count(), set.rest().triangles());
        let mut scores: Vec<Vec<(u16, f64)>> = ssd
            .weights
            .iter()
            .map(|row| row.iter().map(|w| (w.bone.0, w.weight)).collect())
            .collect();
        let original = scores.clone();
        for _ in 0..rings {
            scores = crate::par::map(scores.len(), |i| {
                let mut sum: std::collections::BTreeMap<u16, f64> = Default::default();
                for (b, w) in &original[i] {
                    *sum.entry(*b).or_default() += w;
                }
                let n = topology.neighbors(i);
                for &o in n {
                    for (b, w) in &scores[o as usize] {
                        *sum.entry(*b).or_default() += share * w / n.len() as f64;
                    }
                }
                sum.into_iter().collect()
            });
        }
        let min = env("MINSCORE", 0.0);
        let rows = scores.into_iter().map(|mut row| {
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let total: f64 = row.iter().map(|r| r.1).sum();
            let keep = row
                .iter()
                .take(max_influences)
                .take_while(|r| r.1 > min * total)
                .count()
                .max(1);
            row.truncate(keep);
            row.into_iter().map(|(b, _)| BoneId(b)).collect::<Vec<_>>()
        });
        Self::new(rows, set.skeleton().bone_count())
    }
}
