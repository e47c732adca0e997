//! The few operations on small dense matrices that tangents need.

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Square {
    pub(super) size: usize,
    pub(super) values: Vec<f64>,
}

impl Square {
    pub(super) fn zero(size: usize) -> Self {
        Self {
            size,
            values: vec![0.0; size * size],
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        self.values
            .chunks_exact(self.size.max(1))
            .map(|row| dot(row, x))
            .collect()
    }

    /// `xᵀ M y`.
    pub(super) fn form(&self, x: &[f64], y: &[f64]) -> f64 {
        dot(x, &self.times(y))
    }
}

pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// `alpha x + y`, in place of `y`.
pub(super) fn add_scaled(y: &mut [f64], alpha: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// Eigenvalues of a symmetric matrix, largest first, each with its unit eigenvector.
///
/// Jacobi's method: rotate the off-diagonal numbers to zero, one by one, until none is left. Slow for
/// large matrices, accurate for small ones, and the same on every machine.
pub(super) fn symmetric_eigen(matrix: &Square) -> Vec<(f64, Vec<f64>)> {
    /// Sweeps are quadratic once the numbers are small; ten have sufficed for every size met.
    const MAX_SWEEPS: usize = 40;
    let n = matrix.size;
    let mut a = matrix.clone();
    // Row k of `vectors` is the k-th eigenvector.
    let mut vectors = Square::zero(n);
    for k in 0..n {
        vectors.add(k, k, 1.0);
    }
    let total = dot(&a.values, &a.values);
    for _ in 0..MAX_SWEEPS {
        let off: f64 = (0..n)
            .flat_map(|r| (0..r).map(move |c| (r, c)))
            .map(|(r, c)| a.at(r, c).powi(2))
            .sum();
        if off <= 1e-30 * total {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate_away(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut pairs: Vec<_> = (0..n)
        .map(|k| (a.at(k, k), vectors.values[k * n..(k + 1) * n].to_vec()))
        .collect();
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
    pairs
}

/// Turns the axes `p` and `q` so that `a_pq` becomes zero.
fn rotate_away(a: &mut Square, vectors: &mut Square, p: usize, q: usize) {
    let n = a.size;
    let off = a.at(p, q);
    if off == 0.0 {
        return;
    }
    let ratio = (a.at(q, q) - a.at(p, p)) / (2.0 * off);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for k in 0..n {
        let (x, y) = (a.at(k, p), a.at(k, q));
        a.values[k * n + p] = cosine * x - sine * y;
        a.values[k * n + q] = sine * x + cosine * y;
    }
    for k in 0..n {
        let (x, y) = (a.at(p, k), a.at(q, k));
        a.values[p * n + k] = cosine * x - sine * y;
        a.values[q * n + k] = sine * x + cosine * y;
        let (x, y) = (vectors.at(p, k), vectors.at(q, k));
        vectors.values[p * n + k] = cosine * x - sine * y;
        vectors.values[q * n + k] = sine * x + cosine * y;
    }
    // Zero but for rounding, which would keep the sweeps from ending.
    a.values[p * n + q] = 0.0;
    a.values[q * n + p] = 0.0;
}

/// Directions of unit length in a positive semidefinite metric `P`: the columns of `C⁻¹` where
/// `P = CᵀC`, without directions to which `P` gives no length.
///
/// `Σ_k d_k d_kᵀ` over the directions is the pseudo-inverse of `P`.
pub(super) fn unit_directions(metric: &Square) -> Vec<Vec<f64>> {
    /// Far above rounding of the sums in `P`, far below what a prior of one part in a thousand adds.
    const RELATIVE_FLOOR: f64 = 1e-10;
    let pairs = symmetric_eigen(metric);
    let floor = RELATIVE_FLOOR * pairs.first().map_or(0.0, |(value, _)| *value);
    pairs
        .into_iter()
        .filter(|(value, _)| *value > floor)
        .map(|(value, mut vector)| {
            let scale = 1.0 / value.sqrt();
            vector.iter_mut().for_each(|x| *x *= scale);
            vector
        })
        .collect()
}

/// The pair `x`, `y`, orthonormal in the metric whose [`unit_directions`] are given, that makes
/// `xᵀ B y` largest, for `B` with `Bᵀ = −B`; `None` when `B` is zero.
///
/// With `x = Σ u_k d_k` and `K_kl = d_kᵀ B d_l` that is the leading singular pair `u`, `v` of `K`
/// (\[Merry07\] A.5, A.6). `K` is antisymmetric, so `−K²` is symmetric, its leading eigenvector is a
/// `v`, and `u = K v / σ` is perpendicular to it: `vᵀ K v = 0`.
pub(super) fn leading_pair(directions: &[Vec<f64>], form: &Square) -> Option<[Vec<f64>; 2]> {
    let n = directions.len();
    let mut k = Square::zero(n);
    for (l, direction) in directions.iter().enumerate() {
        let image = form.times(direction);
        for (r, direction) in directions.iter().enumerate() {
            k.add(r, l, dot(direction, &image));
        }
    }
    let mut minus_square = Square::zero(n);
    for r in 0..n {
        for c in 0..n {
            let value = dot(&k.values[r * n..(r + 1) * n], &k.values[c * n..(c + 1) * n]);
            minus_square.add(r, c, value);
        }
    }
    let (_, v) = symmetric_eigen(&minus_square).into_iter().next()?;
    let u = k.times(&v);
    let sigma = dot(&u, &u).sqrt();
    if sigma.is_nan() || sigma <= f64::MIN_POSITIVE {
        return None;
    }
    let combine = |coefficients: &[f64], scale: f64| {
        let mut x = vec![0.0; form.size];
        for (c, direction) in coefficients.iter().zip(directions) {
            add_scaled(&mut x, c * scale, direction);
        }
        x
    };
    Some([combine(&u, 1.0 / sigma), combine(&v, 1.0)])
}

/// Turns and scales a pair within its plane until it is orthonormal in a metric, keeping its sense;
/// `None` when it spans no plane there.
pub(super) fn orthonormalize(
    metric: &Square,
    [mut x, mut y]: [Vec<f64>; 2],
) -> Option<[Vec<f64>; 2]> {
    let unit = |x: &mut Vec<f64>, least: f64| {
        let length = metric.form(x, x).max(0.0).sqrt();
        (length > least).then(|| x.iter_mut().for_each(|v| *v /= length))
    };
    let before = metric.form(&y, &y).max(0.0).sqrt();
    unit(&mut x, f64::MIN_POSITIVE)?;
    // Once more removes what rounding left of nearly parallel pairs.
    for _ in 0..2 {
        let along = metric.form(&x, &y);
        add_scaled(&mut y, -along, &x);
    }
    unit(&mut y, 1e-12 * before)?;
    Some([x, y])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symmetric matrix without pattern.
    fn some_symmetric(n: usize) -> Square {
        let mut a = Square::zero(n);
        for r in 0..n {
            for c in 0..=r {
                let value = ((r * 7 + c * 13 + 1) as f64).sin();
                a.values[r * n + c] = value;
                a.values[c * n + r] = value;
            }
        }
        a
    }

    #[test]
    fn eigenvectors_are_unit_perpendicular_and_only_scaled() {
        for n in [1, 2, 3, 12, 24] {
            let a = some_symmetric(n);
            let pairs = symmetric_eigen(&a);
            assert!(pairs.is_sorted_by(|x, y| x.0 >= y.0), "largest first");
            for (k, (value, x)) in pairs.iter().enumerate() {
                let mut residual = a.times(x);
                add_scaled(&mut residual, -value, x);
                assert!(dot(&residual, &residual).sqrt() < 1e-12, "A x = λ x");
                for (l, (_, y)) in pairs.iter().enumerate() {
                    let expected = f64::from(u8::from(k == l));
                    assert!((dot(x, y) - expected).abs() < 1e-12, "size {n}: {k} {l}");
                }
            }
        }
    }

    #[test]
    fn the_leading_pair_beats_every_other_pair() {
        let n = 6;
        let mut metric = Square::zero(n);
        let mut form = Square::zero(n);
        let number = |k: usize| (k as f64 * 1.7 + 0.3).sin();
        for r in 0..n {
            for c in 0..n {
                // A sum of squares plus a little of the identity.
                let sum: f64 = (0..9).map(|k| number(9 * r + k) * number(9 * c + k)).sum();
                metric.add(r, c, sum + f64::from(u8::from(r == c)));
                form.add(r, c, number(r * n + c) - number(c * n + r));
            }
        }
        let [x, y] = leading_pair(&unit_directions(&metric), &form).expect("the form is not zero");
        for (a, b, expected) in [(&x, &x, 1.0), (&y, &y, 1.0), (&x, &y, 0.0)] {
            assert!((metric.form(a, b) - expected).abs() < 1e-12, "orthonormal");
        }
        let best = form.form(&x, &y);
        for k in 0..200 {
            let vector = |s: usize| (0..n).map(|i| number(100 * k + 10 * s + i)).collect();
            let pair = orthonormalize(&metric, [vector(0), vector(1)]).expect("independent");
            let other = form.form(&pair[0], &pair[1]);
            assert!(other <= best + 1e-12, "{other} against {best}");
        }
    }

    #[test]
    fn a_zero_form_has_no_leading_pair() {
        let mut metric = Square::zero(3);
        (0..3).for_each(|k| metric.add(k, k, 1.0));
        let none = leading_pair(&unit_directions(&metric), &Square::zero(3));
        assert_eq!(none, None, "a zero form has no leading pair");
        let none = leading_pair(&unit_directions(&Square::zero(3)), &Square::zero(3));
        assert_eq!(none, None, "nor has a metric that sees nothing");
        let x = vec![1.0, 2.0, 3.0];
        let none = orthonormalize(&metric, [x.clone(), x]);
        assert_eq!(none, None, "parallel vectors span no plane");
    }
}
