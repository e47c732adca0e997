//! Products with small matrices whose size is a multiple of four, on the widest registers of the processor.

use faer::traits::pulp::Arch;

/// Runs loops compiled for the widest vectors of this processor.
///
/// Only code that is inlined into `work` runs faster. The sums of a loop over independent lanes have the same order and
/// the same rounding at any width, so results do not depend on the processor.
#[inline(always)]
pub(super) fn on_widest_vectors<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// `Σ_m factors[m] · vectors[m]`; the vectors are stored one after the other, each as long as `out`.
///
/// With the columns of a matrix this is its product with `factors`; with its rows, the product of its transpose.
/// Lengths of 4 to 16 keep the sum in registers.
#[inline(always)]
pub(super) fn combine(vectors: &[f64], factors: &[f64], out: &mut [f64]) {
    match out.len() {
        4 => combine_fixed::<1>(vectors, factors, out),
        8 => combine_fixed::<2>(vectors, factors, out),
        12 => combine_fixed::<3>(vectors, factors, out),
        16 => combine_fixed::<4>(vectors, factors, out),
        0 => {}
        length => {
            out.fill(0.0);
            for (vector, &factor) in vectors.chunks_exact(length).zip(factors) {
                for (out, v) in out.iter_mut().zip(vector) {
                    *out += factor * v;
                }
            }
        }
    }
}

/// `N` quadruples in registers: lanes of four are what compilers turn into vectors.
#[inline(always)]
fn combine_fixed<const N: usize>(vectors: &[f64], factors: &[f64], out: &mut [f64]) {
    let mut sum = [[0.0; 4]; N];
    let (quads, _) = vectors.as_chunks::<4>();
    let (vectors, _) = quads.as_chunks::<N>();
    for (vector, &factor) in vectors.iter().zip(factors) {
        for n in 0..N {
            for lane in 0..4 {
                sum[n][lane] += factor * vector[n][lane];
            }
        }
    }
    let (out, _) = out.as_chunks_mut::<4>();
    for (out, sum) in out.iter_mut().zip(sum) {
        *out = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_gives_the_plain_sum() {
        for length in [0usize, 4, 8, 12, 16, 20, 36] {
            let factors: Vec<f64> = (0..length).map(|m| (m as f64).cos()).collect();
            let vectors: Vec<f64> = (0..length * length).map(|at| (at as f64).sin()).collect();
            let mut out = vec![7.0; length];
            combine(&vectors, &factors, &mut out);
            for (r, found) in out.iter().enumerate() {
                let wanted: f64 = (0..length)
                    .map(|m| factors[m] * vectors[m * length + r])
                    .sum();
                assert!((found - wanted).abs() < 1e-12, "{length}: {found} {wanted}");
            }
        }
    }
}
