//! New points as sums of old ones.

use std::ops::{Add, Mul};

use crate::{Rows, par};

/// One old point in the sum of a new one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The old point.
    pub point: u32,
    /// Its weight, above 0.
    pub weight: f64,
}

/// A sparse matrix from old points to new ones: no weight is negative, and every row sums to 1.
///
/// So in every pose a new point lies in the convex hull of its old ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Stencil {
    source_count: usize,
    rows: Rows<Term>,
}

impl Stencil {
    /// Builds `count` rows; `fill` pushes the terms of one row, in any order and with repeated points.
    pub(super) fn build(
        source_count: usize,
        count: usize,
        fill: impl Fn(usize, &mut Vec<Term>) + Sync + Send,
    ) -> Self {
        let rows = rows_in_parallel(count, |i, items: &mut Vec<Term>| {
            let start = items.len();
            fill(i, items);
            merge(items, start);
        });
        Self { source_count, rows }
    }

    /// How many old points there are.
    pub fn source_count(&self) -> usize {
        self.source_count
    }

    /// The terms of each new point, by rising old point.
    pub fn rows(&self) -> &Rows<Term> {
        &self.rows
    }

    /// The new points computed from old ones: positions, UVs, or any values that can be averaged.
    ///
    /// # Panics
    /// When there are fewer than [`Stencil::source_count`] values.
    pub fn apply<T>(&self, values: &[T]) -> Vec<T>
    where
        T: Copy + Default + Send + Sync + Add<Output = T> + Mul<f64, Output = T>,
    {
        par::map(self.rows.len(), |i| {
            let row = self.rows.row(i).iter();
            row.fold(T::default(), |sum, term| {
                sum + values[term.point as usize] * term.weight
            })
        })
    }
}

/// Merges terms of the same point after `start`, and drops those without weight.
fn merge(items: &mut Vec<Term>, start: usize) {
    // A stable sort, so that the order of summation is fixed.
    items[start..].sort_by_key(|term| term.point);
    let mut kept = start;
    for at in start..items.len() {
        let term = items[at];
        if kept > start && items[kept - 1].point == term.point {
            items[kept - 1].weight += term.weight;
        } else if term.weight != 0.0 {
            items[kept] = term;
            kept += 1;
        }
    }
    items.truncate(kept);
}

/// The rows that `fill` pushes, computed in parallel and kept in order.
pub(super) fn rows_in_parallel<T: Send>(
    count: usize,
    fill: impl Fn(usize, &mut Vec<T>) + Sync + Send,
) -> Rows<T> {
    /// Rows per task: enough to make allocations rare.
    const CHUNK: usize = 2048;
    let chunks = par::map(count.div_ceil(CHUNK), |chunk| {
        let mut items = Vec::new();
        let range = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
        let lengths: Vec<usize> = range
            .map(|i| {
                let before = items.len();
                fill(i, &mut items);
                items.len() - before
            })
            .collect();
        (lengths, items)
    });
    let total = chunks.iter().map(|(_, items)| items.len()).sum();
    let mut rows = Rows::with_capacity(count, total);
    for (lengths, items) in chunks {
        let mut items = items.into_iter();
        for length in lengths {
            rows.push_row(items.by_ref().take(length));
        }
    }
    rows
}
