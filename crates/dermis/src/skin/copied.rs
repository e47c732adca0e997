//! A vertex program for drawn vertices, each of which copies a point of the skin.

use super::{
    Correction, Delta, DualQuaternionProgram, LinearProgram, MultiWeightProgram, SsdProgram,
    VertexProgram,
};
use crate::Rows;

impl VertexProgram {
    /// The program whose vertex `n` moves as vertex `of_vertex[n]` of this one.
    ///
    /// # Panics
    /// When a vertex is named that does not exist.
    #[must_use]
    pub fn copied(&self, of_vertex: &[u32]) -> Self {
        match self {
            Self::Ssd(ssd) => Self::Ssd(copied_ssd(ssd, of_vertex)),
            Self::DualQuaternion(dual) => Self::DualQuaternion(DualQuaternionProgram {
                weighted: copied_ssd(&dual.weighted, of_vertex),
            }),
            Self::MultiWeight(multi) => Self::MultiWeight(MultiWeightProgram {
                rest_positions: picked(&multi.rest_positions, of_vertex),
                influences: rows(&multi.influences, of_vertex),
                corrections: corrections(&multi.corrections, of_vertex),
            }),
            Self::Linear(linear) => {
                let influences = rows(&linear.influences, of_vertex);
                // Corrections of this program number items of the influence table, not vertices.
                let items: Vec<u32> = (of_vertex.iter())
                    .flat_map(|&v| linear.influences.range(v as usize))
                    .map(|item| item as u32)
                    .collect();
                Self::Linear(LinearProgram {
                    influences,
                    corrections: corrections(&linear.corrections, &items),
                })
            }
        }
    }
}

fn copied_ssd(ssd: &SsdProgram, of_vertex: &[u32]) -> SsdProgram {
    SsdProgram {
        rest_positions: picked(&ssd.rest_positions, of_vertex),
        weights: rows(&ssd.weights, of_vertex),
        corrections: corrections(&ssd.corrections, of_vertex),
    }
}

fn picked<T: Copy>(list: &[T], of: &[u32]) -> Vec<T> {
    of.iter().map(|&v| list[v as usize]).collect()
}

fn rows<T: Copy>(table: &Rows<T>, of: &[u32]) -> Rows<T> {
    of.iter()
        .map(|&v| table.row(v as usize).iter().copied())
        .collect()
}

/// `of` holds, for each new index, the index that it copies.
fn corrections<V: Copy>(given: &[Correction<V>], of: &[u32]) -> Vec<Correction<V>> {
    let copy = |correction: &Correction<V>| {
        let deltas = (0..).zip(of).filter_map(|(index, old)| {
            let found = correction.deltas.binary_search_by_key(old, |d| d.index);
            let value = correction.deltas[found.ok()?].value;
            Some(Delta { index, value })
        });
        Correction {
            deltas: deltas.collect(),
        }
    };
    given.iter().map(copy).collect()
}
