//! The point of a small simplex that is closest to a target, computed from dot products alone.
//!
//! For four bones this is the closest point on a tetrahedron (\[Kavan10\] §4.4): the d-dimensional problem depends on
//! the corners `φ_j` and the target `y` only through `φ_i·φ_j` and `φ_i·y`, so the cost here does not depend on d.
//! [`SimplexLs`](super::SimplexLs) solves the same problem from the vectors themselves, for any number of them, and is
//! the reference.

/// A corner that depends on the others up to this share of its length is passed over.
const DEPENDENT: f64 = 1e-12;

/// A problem with at most `N` corners: `g[i][j] = φ_i·φ_j` and `b[i] = φ_i·y`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimplexGram<const N: usize> {
    pub(crate) count: usize,
    pub(crate) g: [[f64; N]; N],
    pub(crate) b: [f64; N],
}

impl<const N: usize> SimplexGram<N> {
    /// Minimises `|Σ w_j φ_j − y|²` over `w ≥ 0`, `Σ w = 1`, by an active-set method.
    ///
    /// `weights` is the start of the search and must satisfy the same conditions. Returns `|Σ w_j φ_j − y|² − |y|²`. A
    /// corner that repeats others (a redundant bone) ends with weight 0.
    #[inline(always)]
    pub(crate) fn solve(&self, weights: &mut [f64; N]) -> f64 {
        let n = self.count;
        let mut inside = [false; N];
        for i in 0..n {
            inside[i] = weights[i] > 0.0;
        }
        // Every pass lowers the error strictly, so it ends; the limit guards against rounding.
        for _ in 0..4 * n {
            self.descend(weights, &mut inside);
            match self.entering(weights, &inside) {
                Some(best) => inside[best] = true,
                None => break,
            }
        }
        self.value(weights)
    }

    /// `wᵀ g w − 2 bᵀ w`.
    #[inline(always)]
    pub(crate) fn value(&self, weights: &[f64; N]) -> f64 {
        let n = self.count;
        let mut value = 0.0;
        for i in 0..n {
            let mut sum = -2.0 * self.b[i];
            for (g, w) in self.g[i][..n].iter().zip(&weights[..n]) {
                sum += g * w;
            }
            value += weights[i] * sum;
        }
        value
    }

    /// Moves to the optimum of the face spanned by the corners in use, dropping corners whose weight reaches 0 on the
    /// way.
    #[inline(always)]
    fn descend(&self, weights: &mut [f64; N], inside: &mut [bool; N]) {
        let n = self.count;
        loop {
            let mut list = [0; N];
            let mut m = 0;
            for (i, _) in inside[..n]
                .iter()
                .enumerate()
                .filter(|(_, inside)| **inside)
            {
                list[m] = i;
                m += 1;
            }
            if m == 1 {
                weights[..n].fill(0.0);
                weights[list[0]] = 1.0;
                return;
            }
            let mut optimum = [0.0; N];
            if let Err(redundant) = self.face_optimum(&list[..m], &mut optimum) {
                // The weight of the dropped corner goes to the others: they span the same face without it.
                let left = 1.0 - weights[redundant];
                weights[redundant] = 0.0;
                inside[redundant] = false;
                if left > 1e-9 {
                    weights[..n].iter_mut().for_each(|w| *w /= left);
                } else {
                    weights[..n].fill(0.0);
                    weights[list[m - 1]] = 1.0;
                }
                continue;
            }
            // Steps only as far as no weight becomes negative.
            let mut step = 1.0;
            let mut leaving = None;
            for (&i, &x) in list[..m].iter().zip(&optimum) {
                if x <= 0.0 {
                    let reach = weights[i] / (weights[i] - x);
                    if leaving.is_none() || reach < step {
                        step = reach;
                        leaving = Some(i);
                    }
                }
            }
            for (&i, &x) in list[..m].iter().zip(&optimum) {
                weights[i] = (weights[i] + step * (x - weights[i])).max(0.0);
            }
            match leaving {
                None => return,
                Some(i) => {
                    weights[i] = 0.0;
                    inside[i] = false;
                }
            }
        }
    }

    /// Weights of either sign at the optimum of the plane through the listed corners, relative to the last of them; or
    /// an error with a corner that depends on the others.
    #[inline(always)]
    fn face_optimum(&self, list: &[usize], optimum: &mut [f64; N]) -> Result<(), usize> {
        let free = list.len() - 1;
        let r = list[free];
        let g = &self.g;
        let mut a = [[0.0; N]; N];
        for p in 0..free {
            let i = list[p];
            for q in 0..=p {
                let j = list[q];
                a[p][q] = g[i][j] - g[i][r] - g[j][r] + g[r][r];
            }
            optimum[p] = self.b[i] - self.b[r] - g[i][r] + g[r][r];
        }
        for p in 0..free {
            for q in 0..=p {
                let (above, row) = (a[q], a[p]);
                let mut sum = row[q];
                for (x, y) in row[..q].iter().zip(&above) {
                    sum -= x * y;
                }
                if p != q {
                    a[p][q] = sum / a[q][q];
                } else if sum > DEPENDENT * (g[list[p]][list[p]] + g[r][r]) {
                    a[p][p] = sum.sqrt();
                } else {
                    return Err(list[p]);
                }
            }
        }
        for p in 0..free {
            for k in 0..p {
                optimum[p] -= a[p][k] * optimum[k];
            }
            optimum[p] /= a[p][p];
        }
        let mut last = 1.0;
        for p in (0..free).rev() {
            for k in p + 1..free {
                optimum[p] -= a[k][p] * optimum[k];
            }
            optimum[p] /= a[p][p];
            last -= optimum[p];
        }
        optimum[free] = last;
        Ok(())
    }

    /// The unused corner towards which the error falls fastest, if it falls towards any.
    #[inline(always)]
    fn entering(&self, weights: &[f64; N], inside: &[bool; N]) -> Option<usize> {
        let n = self.count;
        let mut slope = [0.0; N];
        let mut mean = 0.0;
        let mut scale = 0.0;
        for i in 0..n {
            let mut sum = self.b[i];
            for (g, w) in self.g[i][..n].iter().zip(&weights[..n]) {
                sum -= g * w;
            }
            slope[i] = sum;
            mean += weights[i] * sum;
            scale += self.b[i].abs();
        }
        let mut best = None;
        let mut steepest = 1e-11 * scale;
        for i in 0..n {
            if !inside[i] && slope[i] - mean > steepest {
                steepest = slope[i] - mean;
                best = Some(i);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SimplexLs;
    use super::*;

    /// The problem of some corners in five dimensions.
    fn problem(corners: &[[f64; 5]], target: &[f64; 5]) -> SimplexGram<4> {
        let dot = |a: &[f64; 5], b: &[f64; 5]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let mut gram = SimplexGram {
            count: corners.len(),
            g: [[0.0; 4]; 4],
            b: [0.0; 4],
        };
        for (i, corner) in corners.iter().enumerate() {
            gram.b[i] = dot(corner, target);
            for (j, other) in corners.iter().enumerate() {
                gram.g[i][j] = dot(corner, other);
            }
        }
        gram
    }

    proptest! {
        #[test]
        fn the_closest_point_is_the_one_found_from_the_vectors(
            numbers in prop::collection::vec(-1.0f64..1.0, 25),
            count in 1usize..=4,
            start in 0usize..4,
        ) {
            let rows: Vec<[f64; 5]> = numbers.chunks(5).map(|c| c.try_into().expect("five")).collect();
            let (target, corners) = (rows[4], &rows[..count]);
            let gram = problem(corners, &target);
            let mut weights = [0.0; 4];
            weights[start % count] = 1.0;
            let length: f64 = target.iter().map(|y| y * y).sum();
            let found = gram.solve(&mut weights) + length;
            let columns: Vec<f64> = corners
                .iter()
                .flat_map(|c| c.iter().zip(&target).map(|(x, y)| x - y))
                .collect();
            let expected = SimplexLs::new().solve(&columns, 5, 4);
            prop_assert!((found - expected.squared_error).abs() < 1e-10, "{found} {expected:?}");
            prop_assert!(weights.iter().all(|&w| w >= 0.0), "{weights:?}");
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
        }
    }

    #[test]
    fn a_corner_that_repeats_another_gets_no_weight() {
        let corner = [1.0, 0.0, 0.0, 0.0, 0.0];
        let other = [0.0, 1.0, 0.0, 0.0, 0.0];
        let gram = problem(&[corner, corner, other, other], &[0.5, 0.5, 0.0, 0.0, 0.0]);
        let mut weights = [0.25; 4];
        let value = gram.solve(&mut weights);
        assert!((value + 0.5).abs() < 1e-12, "the target is met: {value}");
        let used = weights.iter().filter(|&&w| w > 0.0).count();
        assert_eq!(used, 2, "one of each: {weights:?}");
    }
}
