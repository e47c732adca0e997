//! Bases grown one trajectory at a time (\[Kavan10\] Algorithm 1 and its variants).
//!
//! The paper subtracts each new direction from every column of `A` (deflation). Here `A` stays as
//! it is: a direction `m` that is orthogonal to the basis has `mᵀ Aᵢ = mᵀ A`, so one reading pass gives
//! the new row of `C`, the squared length of the remainder of a column falls by the square of its
//! entry there, and only the column that is chosen is ever deflated. That halves the memory traffic,
//! which takes most of the time. Lengths that have fallen to rounding are computed anew, so the
//! stop rule holds down to the last digits.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::Reduction;
use crate::fit::decompose::reduce::Reduced;
use crate::par;
use crate::solve::{product, squared_column_norms};

/// Columns that one job multiplies: 64 of 600 numbers stay in the second-level cache between the two
/// products of the power method.
const COLUMNS: usize = 64;
/// Columns that Gram-Schmidt takes at once.
const TAKEN: usize = 32;
/// A squared length that has fallen to this share is computed anew: half of its digits are left.
const FALLEN: f64 = 1e-8;
/// A remainder below this share of the column's length is rounding.
const NOTHING: f64 = 1e-14;

/// Grows a basis by one of the strategies that take columns; see [`Reduction`].
pub(super) fn deflate(trajectories: MatRef<'_, f64>, epsilon: f64, strategy: Reduction) -> Reduced {
    let mut growing = Growing::new(trajectories);
    let limit = trajectories.nrows().min(trajectories.ncols());
    let mut next_column = 0;
    while growing.left() > epsilon * epsilon && growing.rows.len() < limit {
        match strategy {
            Reduction::GramSchmidt => {
                let end = (next_column + TAKEN).min(trajectories.ncols());
                if next_column == end {
                    break;
                }
                growing.take_in_order(next_column..end, epsilon * epsilon, limit);
                next_column = end;
            }
            _ => {
                let Some(longest) = growing.longest() else {
                    break;
                };
                let Some(mut direction) = growing.direction_of(longest) else {
                    growing.left[longest] = 0.0;
                    continue;
                };
                if let Reduction::PowerMethod(rounds) = strategy {
                    for _ in 0..rounds {
                        direction = growing.powered(&direction);
                    }
                }
                growing.append(direction);
            }
        }
    }
    growing.finish()
}

/// A basis that is not finished.
struct Growing<'a> {
    trajectories: MatRef<'a, f64>,
    /// `B`, column by column.
    basis: Vec<f64>,
    /// Rows of `C`.
    rows: Vec<Vec<f64>>,
    /// Squared length of each column of `A − B C`.
    left: Vec<f64>,
    /// The same when it was last computed and not subtracted.
    computed: Vec<f64>,
    /// Squared length of each column of `A`.
    whole: Vec<f64>,
}

impl<'a> Growing<'a> {
    fn new(trajectories: MatRef<'a, f64>) -> Self {
        let whole = squared_column_norms(trajectories);
        Self {
            trajectories,
            basis: Vec::new(),
            rows: Vec::new(),
            left: whole.clone(),
            computed: whole.clone(),
            whole,
        }
    }

    /// `|A − B C|²`.
    fn left(&self) -> f64 {
        self.left.iter().sum()
    }

    /// The column with the longest remainder, the first of equal ones.
    fn longest(&self) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (j, &left) in self.left.iter().enumerate() {
            if left > best.map_or(0.0, |best| self.left[best]) {
                best = Some(j);
            }
        }
        best
    }

    /// `B`, as it is so far.
    fn basis(&self) -> MatRef<'_, f64> {
        let rows = self.trajectories.nrows();
        MatRef::from_column_major_slice(&self.basis, rows, self.basis.len() / rows)
    }

    /// Removes from a vector the part that the basis spans.
    fn project_out(&self, vector: &mut Mat<f64>) {
        let basis = self.basis();
        let spanned = basis.transpose() * &*vector;
        matmul(
            vector.as_mut(),
            Accum::Add,
            basis,
            spanned.as_ref(),
            -1.0,
            Par::Seq,
        );
    }

    /// The unit vector along the remainder of a column; `None` when that is rounding.
    ///
    /// Taking out the basis twice is the paper's stabilisation (its line 5): the second time removes what
    /// rounding left the first time.
    fn direction_of(&self, column: usize) -> Option<Vec<f64>> {
        let mut vector = self.trajectories.subcols(column, 1).to_owned();
        self.project_out(&mut vector);
        if vector.squared_norm_l2() <= NOTHING * NOTHING * self.whole[column] {
            return None;
        }
        self.project_out(&mut vector);
        normalized(vector)
    }

    /// `A Aᵀ m` of the remainder of `A`, as a unit vector; `m` itself if the result is zero.
    fn powered(&self, direction: &[f64]) -> Vec<f64> {
        let rows = self.trajectories.nrows();
        let column = MatRef::from_column_major_slice(direction, rows, 1);
        let blocks = self.trajectories.ncols().div_ceil(COLUMNS);
        let parts = par::map(blocks, |block| {
            let columns = self.columns(block);
            columns * (columns.transpose() * column)
        });
        let mut sum = Mat::<f64>::zeros(rows, 1);
        for part in &parts {
            sum += part;
        }
        self.project_out(&mut sum);
        self.project_out(&mut sum);
        normalized(sum).unwrap_or_else(|| direction.to_vec())
    }

    fn columns(&self, block: usize) -> MatRef<'a, f64> {
        let first = block * COLUMNS;
        let count = COLUMNS.min(self.trajectories.ncols() - first);
        self.trajectories.subcols(first, count)
    }

    /// Adds a unit vector that is orthogonal to the basis.
    fn append(&mut self, direction: Vec<f64>) {
        let rows = self.trajectories.nrows();
        let column = MatRef::from_column_major_slice(&direction, rows, 1);
        let blocks = self.trajectories.ncols().div_ceil(COLUMNS);
        let row: Vec<f64> = par::map(blocks, |block| {
            let entries = self.columns(block).transpose() * column;
            entries.col_as_slice(0).to_vec()
        })
        .concat();
        self.basis.extend(direction);
        self.add_row(row);
    }

    /// Adds a row of `C`, whose direction is in the basis.
    fn add_row(&mut self, row: Vec<f64>) {
        for (left, entry) in self.left.iter_mut().zip(&row) {
            *left = (*left - entry * entry).max(0.0);
        }
        self.rows.push(row);
        let fallen: Vec<usize> = (0..self.left.len())
            .filter(|&j| self.left[j] <= FALLEN * self.computed[j] && self.computed[j] > 0.0)
            .collect();
        let computed = par::map(fallen.len(), |at| self.compute_left(fallen[at]));
        for (&j, squared) in fallen.iter().zip(computed) {
            self.left[j] = squared;
            self.computed[j] = squared;
        }
    }

    /// Squared length of one column of `A − B C`; zero when it is rounding.
    fn compute_left(&self, column: usize) -> f64 {
        let mut vector = self.trajectories.subcols(column, 1).to_owned();
        let basis = self.basis();
        for (k, row) in self.rows.iter().enumerate() {
            let taken = basis.col(k).try_as_col_major().expect("stored by columns");
            let vector = vector.col_as_slice_mut(0);
            for (v, b) in vector.iter_mut().zip(taken.as_slice()) {
                *v -= row[column] * b;
            }
        }
        let squared = vector.squared_norm_l2();
        match squared <= NOTHING * NOTHING * self.whole[column] {
            true => 0.0,
            false => squared,
        }
    }

    /// Gram-Schmidt on some columns, whose rows of `C` are then one product.
    fn take_in_order(&mut self, columns: std::ops::Range<usize>, enough: f64, limit: usize) {
        let rows = self.trajectories.nrows();
        let before = self.rows.len();
        for column in columns {
            if self.left[column] == 0.0 || self.basis.len() / rows == limit {
                continue;
            }
            if let Some(direction) = self.direction_of(column) {
                self.basis.extend(direction);
            }
        }
        let found = self.basis.split_off(before * rows);
        let count = found.len() / rows;
        let taken = MatRef::from_column_major_slice(&found, rows, count);
        let entries = product(taken.transpose(), self.trajectories);
        for k in 0..count {
            if self.left() <= enough {
                return;
            }
            self.basis
                .extend_from_slice(&found[k * rows..(k + 1) * rows]);
            self.add_row(entries.row(k).iter().copied().collect());
        }
    }

    fn finish(self) -> Reduced {
        let columns = self.trajectories.ncols();
        Reduced {
            basis: self.basis().to_owned(),
            coordinates: Mat::from_fn(self.rows.len(), columns, |k, j| self.rows[k][j]),
            squared_residual: self.left(),
        }
    }
}

fn normalized(vector: Mat<f64>) -> Option<Vec<f64>> {
    let length = vector.norm_l2();
    let scaled = vector.col_as_slice(0).iter().map(|v| v / length);
    (length > 0.0 && length.is_finite()).then(|| scaled.collect())
}
