//! Weights that are never negative, sum to exactly 1, and are few: least squares on a simplex.
//!
//! Minimises `|Σ_j w_j u_j|²` over `w ≥ 0`, `Σ w = 1`, where `u_j = a_j − b` is the residual when bone `j` alone
//! predicts the target `b` with `a_j`. Because the weights sum to 1, the residual of the blend is the blend of the
//! residuals: the problem is the point of smallest norm in the convex hull of the `u_j`, and \[Wolfe76\]'s active-set
//! method finds it exactly in a few steps. The sum needs no soft constraint, and large coordinates do not cancel.
//!
//! Each step prices every column against the current residual, O(n·m) for n columns of m numbers, and solves a small
//! system over the columns in use. Columns that are affine combinations of those in use are passed over, because the
//! data do not determine how bones that move alike share weight.
//!
//! A limit on how many weights differ from zero makes the problem combinatorial. The exact
//! solution is thinned by dropping, one at a time, the column whose loss costs least: a heuristic,
//! which the tests compare with a search over all subsets. Exchanging a column inside for one
//! outside afterwards was tried on bodies of 16 and 152 bones and lowered the error by less than a
//! part in ten thousand.

/// A vector of weights, as the few that differ from zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimplexSolution {
    /// Column and weight, by falling weight; weights are positive and sum to 1.
    pub weights: Vec<(usize, f64)>,
    /// `|Σ_j w_j u_j|²`.
    pub squared_error: f64,
}

/// A reusable solver: its buffers grow to the largest problem and stay.
#[derive(Debug, Clone, Default)]
pub struct SimplexLs {
    basis: Basis,
    /// `|u_j|²` of every column.
    norms: Vec<f64>,
    /// A squared error below this counts as an exact fit.
    exact: f64,
    /// `Σ_j w_j u_j`.
    residual: Vec<f64>,
    /// Columns that turned out to depend on others in use.
    dependent: Vec<bool>,
    scratch: Scratch,
}

/// Columns in use and their weights.
#[derive(Debug, Clone, Default)]
struct Basis {
    columns: Vec<usize>,
    weights: Vec<f64>,
    /// `u_i·u_j` over the columns in use, row by row.
    gram: Vec<f64>,
}

/// Buffers of the small systems.
#[derive(Debug, Clone, Default)]
struct Scratch {
    cholesky: Vec<f64>,
    /// Weights at the optimum of the small system, of either sign.
    trial: Vec<f64>,
}

/// A product of two columns below this share of their lengths counts as rounding.
const RELATIVE_ZERO: f64 = 1e-13;

/// Columns on the shortlist, which are priced again after each step; all others wait until the shortlist is used up.
const SHORTLIST: usize = 8;

impl SimplexLs {
    /// A solver with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds the best weights over columns `u_0, u_1, ...` of `row_count` numbers each, stored one
    /// after the other, with at most `max_nonzeros` of them positive.
    ///
    /// Of columns that are equally good the last wins: bones are numbered parents first, and a joint
    /// is a better home for weight than the helper nodes above it that move the same way.
    ///
    /// ```
    /// // The residuals of two bones that miss the target by -1 and +3 along one axis.
    /// let solution = dermis::solve::SimplexLs::new().solve(&[-1.0, 3.0], 1, 4);
    /// let [(0, first), (1, second)] = solution.weights[..] else { panic!("two weights") };
    /// assert!((first - 0.75).abs() < 1e-12 && (second - 0.25).abs() < 1e-12);
    /// ```
    ///
    /// # Panics
    /// When there is no column, `max_nonzeros` is 0, or the columns are no whole number of rows.
    pub fn solve(
        &mut self,
        columns: &[f64],
        row_count: usize,
        max_nonzeros: usize,
    ) -> SimplexSolution {
        assert!(max_nonzeros > 0, "at least one weight must be allowed");
        assert!(
            row_count > 0 && !columns.is_empty() && columns.len().is_multiple_of(row_count),
            "columns must be a whole number of rows, and at least one"
        );
        let problem = Problem {
            columns,
            row_count,
            count: columns.len() / row_count,
        };
        self.start(&problem);
        if max_nonzeros == 1 {
            // With one weight, the shortest column is the answer, and thinning could miss it.
            return self.solution();
        }
        // Every round lowers the error strictly, so it ends; the limit guards against rounding.
        for _ in 0..3 * problem.count {
            let shortlist = self.price(&problem, 0..problem.count);
            if shortlist.is_empty() {
                break;
            }
            self.enter_while_it_pays(&problem, shortlist);
        }
        self.thin_to(max_nonzeros);
        self.update_residual(&problem);
        self.solution()
    }

    /// Begins with the column that is shortest on its own.
    fn start(&mut self, problem: &Problem<'_>) {
        let norms = (0..problem.count).map(|j| dot(problem.column(j), problem.column(j)));
        self.norms.clear();
        self.norms.extend(norms);
        // A ten-thousand-millionth of the worst column: an error below that is rounding.
        self.exact = 1e-20 * self.norms.iter().copied().fold(0.0, f64::max);
        let least = self.norms.iter().copied().fold(f64::INFINITY, f64::min);
        let as_good = |norm: f64| norm <= (least * (1.0 + 1e-9)).max(self.exact);
        let best = self.norms.iter().rposition(|&norm| as_good(norm));
        let best = best.unwrap_or(0);

        self.dependent.clear();
        self.dependent.resize(problem.count, false);
        self.basis = Basis {
            columns: vec![best],
            weights: vec![1.0],
            gram: vec![self.norms[best]],
        };
        self.residual.clear();
        self.residual.extend_from_slice(problem.column(best));
    }

    /// The unused columns whose entry lowers the error most, best first; empty at the optimum.
    ///
    /// A column is ranked by the error on the way to it alone, `gap² / |u_j − r|²` for the residual `r`, not by Wolfe's
    /// `u_j·r`: that favours long columns, and uses dozens of distant bones before the near ones.
    fn price(&self, problem: &Problem<'_>, among: impl Iterator<Item = usize>) -> Vec<usize> {
        let here = dot(&self.residual, &self.residual);
        if here <= self.exact {
            return Vec::new();
        }
        let in_use = self.basis.columns.iter().map(|&j| self.norms[j]);
        let in_use = in_use.fold(0.0, f64::max);
        let gain = |j: usize| {
            let there = dot(problem.column(j), &self.residual);
            let gap = here - there;
            // The residual is known to rounding of the columns in use, and a product with it to
            // rounding of both.
            let rounding = 1e-12 * here + RELATIVE_ZERO * (self.norms[j] * in_use).sqrt();
            let apart = self.norms[j] - 2.0 * there + here;
            (gap > rounding && apart > 0.0).then_some(gap * gap / apart)
        };
        let mut priced: Vec<(f64, usize)> = among
            .filter(|&j| !self.dependent[j] && !self.basis.columns.contains(&j))
            .filter_map(|j| Some((gain(j)?, j)))
            .collect();
        priced.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        priced.truncate(SHORTLIST);
        priced.into_iter().map(|(_, j)| j).collect()
    }

    /// Uses columns of a shortlist, best first, until none of them lowers the error.
    ///
    /// Pricing all columns is most of the work. After each step only those that looked best last time are priced again,
    /// which saves most of it and gives the same optimum.
    fn enter_while_it_pays(&mut self, problem: &Problem<'_>, mut shortlist: Vec<usize>) {
        while let Some(&entering) = shortlist.first() {
            if self.basis.enter(problem, entering, &mut self.scratch) {
                self.basis.minimize(&mut self.scratch);
                self.update_residual(problem);
            } else {
                self.dependent[entering] = true;
            }
            shortlist = self.price(problem, shortlist.into_iter().skip(1));
        }
    }

    fn update_residual(&mut self, problem: &Problem<'_>) {
        self.residual.fill(0.0);
        for (&j, &w) in self.basis.columns.iter().zip(&self.basis.weights) {
            for (r, u) in self.residual.iter_mut().zip(problem.column(j)) {
                *r += w * u;
            }
        }
    }

    /// Drops columns until `max_nonzeros` are left, each time the one whose loss raises the error least.
    fn thin_to(&mut self, max_nonzeros: usize) {
        while self.basis.columns.len() > max_nonzeros {
            self.basis = (0..self.basis.columns.len())
                .map(|leaving| {
                    let mut without = self.basis.clone();
                    without.remove(leaving);
                    without.minimize(&mut self.scratch);
                    without
                })
                .min_by(|a, b| a.squared_error().total_cmp(&b.squared_error()))
                .expect("there is a column to drop");
        }
    }

    fn solution(&self) -> SimplexSolution {
        let Basis {
            columns, weights, ..
        } = &self.basis;
        let mut weights: Vec<(usize, f64)> = columns
            .iter()
            .copied()
            .zip(weights.iter().copied())
            .filter(|&(_, w)| w > 0.0)
            .collect();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        // The largest takes up the rounding, so that the sum is 1 to the last bit or two.
        let others: f64 = weights[1..].iter().map(|(_, w)| w).sum();
        weights[0].1 = 1.0 - others;
        SimplexSolution {
            weights,
            squared_error: dot(&self.residual, &self.residual),
        }
    }
}

impl Basis {
    /// `wᵀ G w`, the squared norm of the blend.
    fn squared_error(&self) -> f64 {
        let count = self.weights.len();
        let row = |i: usize| &self.gram[i * count..(i + 1) * count];
        let value: f64 = (0..count)
            .map(|i| self.weights[i] * dot(row(i), &self.weights))
            .sum();
        value.max(0.0)
    }

    /// Adds a column with weight 0; false, without a change, when it depends on the columns in use.
    fn enter(&mut self, problem: &Problem<'_>, column: usize, scratch: &mut Scratch) -> bool {
        let old = self.columns.len();
        let u = problem.column(column);
        let products: Vec<f64> = self
            .columns
            .iter()
            .map(|&j| dot(problem.column(j), u))
            .collect();
        let mut gram = Vec::with_capacity((old + 1) * (old + 1));
        for (i, product) in products.iter().enumerate() {
            gram.extend_from_slice(&self.gram[i * old..(i + 1) * old]);
            gram.push(*product);
        }
        gram.extend_from_slice(&products);
        gram.push(dot(u, u));
        let independent = affine_minimum(&gram, old + 1, scratch);
        if independent {
            self.gram = gram;
            self.columns.push(column);
            self.weights.push(0.0);
        }
        independent
    }

    /// Removes a column and scales the other weights to sum to 1.
    fn remove(&mut self, leaving: usize) {
        let count = self.columns.len();
        self.columns.remove(leaving);
        self.weights.remove(leaving);
        let mut position = 0;
        self.gram.retain(|_| {
            let (row, column) = (position / count, position % count);
            position += 1;
            row != leaving && column != leaving
        });
        let sum: f64 = self.weights.iter().sum();
        match sum > 0.0 {
            true => self.weights.iter_mut().for_each(|w| *w /= sum),
            false => self.weights[0] = 1.0,
        }
    }

    /// Wolfe's minor cycle: moves to the optimum over the columns in use, dropping those whose
    /// weight reaches zero on the way.
    fn minimize(&mut self, scratch: &mut Scratch) {
        while affine_minimum(&self.gram, self.columns.len(), scratch) {
            let trial = &scratch.trial;
            if trial.iter().all(|&t| t > 0.0) {
                self.weights.copy_from_slice(trial);
                return;
            }
            // Steps towards the optimum only as far as no weight turns negative.
            let reach = |i: usize| self.weights[i] / (self.weights[i] - trial[i]);
            let blocking = (0..trial.len())
                .filter(|&i| trial[i] <= 0.0)
                .min_by(|&a, &b| reach(a).total_cmp(&reach(b)));
            let Some(leaving) = blocking.filter(|_| self.columns.len() > 1) else {
                return;
            };
            let step = reach(leaving).clamp(0.0, 1.0);
            for (w, t) in self.weights.iter_mut().zip(trial) {
                *w = (*w + step * (t - *w)).max(0.0);
            }
            self.remove(leaving);
        }
    }
}

struct Problem<'a> {
    columns: &'a [f64],
    row_count: usize,
    count: usize,
}

impl<'a> Problem<'a> {
    fn column(&self, j: usize) -> &'a [f64] {
        &self.columns[j * self.row_count..(j + 1) * self.row_count]
    }
}

/// Inner product in eight running sums: the order is fixed, and the compiler can use vectors.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, a_tail) = a.as_chunks::<8>();
    let (b8, b_tail) = b.as_chunks::<8>();
    for (a, b) in a8.iter().zip(b8) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}

/// Puts into `trial` the weights, of either sign and summing to 1, of the point of smallest norm in the affine hull.
///
/// Solves `(G + s·11ᵀ) y = 1` and scales `y` to sum 1; adding `s·11ᵀ` changes nothing on the plane `Σ w = 1` but makes
/// the matrix definite even where the hull contains the origin (an exact fit). `s` is the longest column's norm², so
/// that the addition loses no digits. False when the columns are affinely dependent.
fn affine_minimum(gram: &[f64], count: usize, scratch: &mut Scratch) -> bool {
    let Scratch { cholesky, trial } = scratch;
    let longest = (0..count).map(|i| gram[i * count + i]).fold(0.0, f64::max);
    let shift = if longest > 0.0 { longest } else { 1.0 };
    cholesky.clear();
    cholesky.resize(count * count, 0.0);
    for i in 0..count {
        for j in 0..=i {
            let known = dot(
                &cholesky[i * count..i * count + j],
                &cholesky[j * count..j * count + j],
            );
            let rest = gram[i * count + j] + shift - known;
            if i == j {
                let diagonal = gram[i * count + i] + shift;
                if rest <= 1e-13 * diagonal {
                    return false;
                }
                cholesky[i * count + i] = rest.sqrt();
            } else {
                cholesky[i * count + j] = rest / cholesky[j * count + j];
            }
        }
    }
    trial.clear();
    trial.resize(count, 1.0);
    for i in 0..count {
        let known = dot(&cholesky[i * count..i * count + i], &trial[..i]);
        trial[i] = (trial[i] - known) / cholesky[i * count + i];
    }
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count)
            .map(|k| cholesky[k * count + i] * trial[k])
            .sum();
        trial[i] = (trial[i] - known) / cholesky[i * count + i];
    }
    let sum: f64 = trial.iter().sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return false;
    }
    trial.iter_mut().for_each(|t| *t /= sum);
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Best squared error over every set of at most `limit` columns, by solving each one.
    fn by_enumeration(columns: &[f64], rows: usize, limit: usize) -> f64 {
        let count = columns.len() / rows;
        let column = |j: usize| &columns[j * rows..(j + 1) * rows];
        let mut best = f64::INFINITY;
        for set in 1u32..1 << count {
            if set.count_ones() as usize > limit {
                continue;
            }
            let chosen: Vec<usize> = (0..count).filter(|j| set >> j & 1 == 1).collect();
            let gram: Vec<f64> = chosen
                .iter()
                .flat_map(|&i| chosen.iter().map(move |&j| dot(column(i), column(j))))
                .collect();
            let mut scratch = Scratch::default();
            let regular = affine_minimum(&gram, chosen.len(), &mut scratch);
            let subset = Basis {
                columns: chosen,
                weights: scratch.trial,
                gram,
            };
            // The optimum of some subset is interior to it, so negative ones can be passed over.
            if regular && subset.weights.iter().all(|&t| t >= 0.0) {
                best = best.min(subset.squared_error());
            }
        }
        best
    }

    fn problem(max_columns: usize) -> impl Strategy<Value = (Vec<f64>, usize)> {
        (1..=max_columns, 1usize..8).prop_flat_map(|(columns, rows)| {
            let numbers = prop::collection::vec(-1.0..1.0f64, columns * rows);
            (numbers, Just(rows))
        })
    }

    proptest! {
        #[test]
        fn without_a_limit_it_is_the_optimum((columns, rows) in problem(7)) {
            let count = columns.len() / rows;
            let found = SimplexLs::new().solve(&columns, rows, count);
            let best = by_enumeration(&columns, rows, count);
            prop_assert!(
                (found.squared_error - best).abs() <= 1e-9,
                "found {}, best {best}", found.squared_error
            );
        }

        #[test]
        fn weights_are_positive_few_and_sum_to_one(
            (columns, rows) in problem(9),
            limit in 1usize..5,
        ) {
            let found = SimplexLs::new().solve(&columns, rows, limit);
            prop_assert!(found.weights.len() <= limit, "{found:?}");
            prop_assert!(found.weights.iter().all(|&(_, w)| w > 0.0 && w <= 1.0), "{found:?}");
            let sum: f64 = found.weights.iter().map(|(_, w)| w).sum();
            prop_assert!((sum - 1.0).abs() < 1e-15, "sum {sum}");
            let best = by_enumeration(&columns, rows, limit);
            prop_assert!(found.squared_error >= best - 1e-9, "better than every subset");
        }
    }

    #[test]
    fn with_a_limit_it_is_seldom_far_from_the_best_subset() {
        // Ratio of errors over random problems of 8 columns and 12 rows, 3 weights allowed. The
        // worst and mean that the heuristic reaches here, with room; a broken exchange or drop
        // step goes past them at once.
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
        };
        let ratios: Vec<f64> = (0..300)
            .map(|_| {
                let columns: Vec<f64> = (0..8 * 12).map(|_| random() + 0.3).collect();
                let found = SimplexLs::new().solve(&columns, 12, 3);
                found.squared_error / by_enumeration(&columns, 12, 3)
            })
            .collect();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!(mean < 1.01 && worst < 1.25, "mean {mean}, worst {worst}");
    }

    #[test]
    fn one_weight_goes_to_the_column_that_is_shortest_alone() {
        // The blend of 1 and 2 is shorter than 0, but neither of them is.
        let u = [[1.0, 0.0], [0.0, 1.1], [0.0, -1.1]].concat();
        let found = SimplexLs::new().solve(&u, 2, 1);
        assert_eq!(found.weights, [(0, 1.0)], "the best alone");
    }

    #[test]
    fn bones_that_move_alike_do_not_disturb_the_solve() {
        // Columns 0 and 1 are equal, 2 is half-way between 0 and 3.
        let u = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 2.0]].concat();
        let found = SimplexLs::new().solve(&u, 2, 4);
        let expected = 0.5; // distance² from the origin to the line x + y = 1
        assert!((found.squared_error - expected).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn an_exact_column_gets_all_the_weight() {
        // Column 0 misses by rounding only; 1 and 2 could mend even that.
        let u = [[1e-15, 0.0], [-1.0, 0.0], [0.0, 1.0]].concat();
        let found = SimplexLs::new().solve(&u, 2, 4);
        assert_eq!(found.weights, [(0, 1.0)], "one bone is enough");
    }

    #[test]
    fn an_exact_blend_is_found_exactly() {
        let found = SimplexLs::new().solve(&[1.0, 0.0, -1.0, 2.0, -1.0, -2.0, 5.0, 5.0], 2, 4);
        assert!(
            found.squared_error < 1e-20,
            "the origin is inside: {found:?}"
        );
    }
}
