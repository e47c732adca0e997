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
}
