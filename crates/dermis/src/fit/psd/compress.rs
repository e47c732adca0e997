//! Many shapes as sums of fewer: EigenSkin \[Kry02\].

use faer::Mat;
use glam::DVec3;

use super::weighted::Part;
use crate::skin::Delta;
use crate::solve::{SymmetricEigen, lower_gram};

/// Squared sizes below this share of the largest are rounding.
const ROUNDING: f64 = 1e-24;
/// A displacement as files have it: three numbers of four bytes.
const DELTA_BYTES: usize = 12;
/// The number of its vertex, where a shape lists those that it moves.
const INDEX_BYTES: usize = 4;
/// A weight of a driver, which files have as text.
const WEIGHT_BYTES: usize = 20;

/// What combining the shapes of a layer would save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compression {
    /// Shapes as they are.
    pub shapes: usize,
    /// Sums that they could be made of.
    pub sums: usize,
    /// Bytes of the shapes as they are, about as files have them.
    pub bytes: usize,
    /// Bytes of the sums, and of the weights that mix them.
    pub sum_bytes: usize,
}

impl Compression {
    /// Whether the sums were taken: only where they are smaller than what they replace.
    pub fn is_used(&self) -> bool {
        self.sum_bytes < self.bytes
    }

    /// That of two parts of a layer together, each taken where it is smaller.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            shapes: self.shapes + other.shapes,
            sums: self.sums + other.sums,
            bytes: self.bytes + other.bytes,
            sum_bytes: self.sum_bytes + other.sum_bytes,
        }
    }
}

/// Bytes of shapes: each lists the vertices that it moves, or has all of them, whichever is less.
fn bytes_of(moved: impl Iterator<Item = usize>, vertex_count: usize) -> usize {
    let one = |moved: usize| (moved * (DELTA_BYTES + INDEX_BYTES)).min(vertex_count * DELTA_BYTES);
    moved.map(one).sum()
}

/// Fewest combinations of a layer's shapes that miss none of them by more than `tolerance` anywhere.
///
/// With the shapes as rows of `D` (n × 3V), the eigenvectors `U` of `D Dᵀ` make the best sums of any
/// number r: `D ≈ U_r (U_rᵀ D)`. The shapes become the rows of `U_rᵀ D`, and the driver's outputs
/// `c U_r`. Sums move every vertex that one of the shapes moves: where shapes move few vertices each, the sums
/// are larger than they, and the shapes stay as they are.
///
/// Cost: O(n² V) time, O(n V) memory.
pub(super) fn compress(
    part: Part,
    tolerance: f64,
    layer: &str,
    vertex_count: usize,
) -> (Part, Compression) {
    let count = part.shapes.len();
    let mut vertices: Vec<u32> = part.shapes.iter().flatten().map(|d| d.index).collect();
    vertices.sort_unstable();
    vertices.dedup();
    let column_of = |index: u32| 3 * vertices.binary_search(&index).expect("one of them");
    let mut rows = Mat::<f64>::zeros(count, 3 * vertices.len());
    for (m, shape) in part.shapes.iter().enumerate() {
        for delta in shape {
            let first = column_of(delta.index);
            for c in 0..3 {
                rows[(m, first + c)] += delta.value[c];
            }
        }
    }
    let kept = combinations(&rows, tolerance);
    let moved = part.shapes.iter().map(Vec::len);
    let weights = kept.len() * part.solved.driver.centers.len();
    let found = Compression {
        shapes: count,
        sums: kept.len(),
        bytes: bytes_of(moved, vertex_count),
        sum_bytes: bytes_of(kept.iter().map(|_| vertices.len()), vertex_count)
            + weights * WEIGHT_BYTES,
    };
    if !found.is_used() {
        return (part, found);
    }
    let combine = |rows: &[Vec<f64>], r: usize| -> Vec<f64> {
        let width = rows.first().map_or(0, Vec::len);
        (0..width)
            .map(|k| (0..count).map(|m| kept[r].0[m] * rows[m][k]).sum())
            .collect()
    };
    let mut solved = part.solved;
    let linear = std::mem::take(&mut solved.driver.linear);
    solved.driver.weights = (0..kept.len())
        .map(|r| combine(&solved.driver.weights, r))
        .collect();
    if !linear.is_empty() {
        solved.driver.linear = (0..kept.len()).map(|r| combine(&linear, r)).collect();
    }
    let part = Part {
        solved,
        names: (0..kept.len()).map(|r| format!("{layer}.{r}")).collect(),
        shapes: (kept.iter())
            .map(|(_, sum)| {
                let delta = |(&index, xyz): (&u32, &[f64; 3])| Delta {
                    index,
                    value: DVec3::from_array(*xyz),
                };
                vertices.iter().zip(sum.as_chunks().0).map(delta).collect()
            })
            .collect(),
    };
    (part, found)
}

/// Fewest sums of rows that miss none of them by more than a tolerance: for each sum the unit vector
/// `u` of how much of it each row has, and the sum `uᵀ rows` itself, most important first.
///
/// Rows hold x, y, z of vertices; what is missed is the longest such vector.
pub(super) fn combinations(rows: &Mat<f64>, tolerance: f64) -> Vec<(Vec<f64>, Vec<f64>)> {
    let count = rows.nrows();
    let eigen = SymmetricEigen::new(&symmetric(lower_gram(rows.as_ref()), count), count);
    let mut left = rows.clone();
    let mut kept: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    while kept.len() < count && longest(&left) > tolerance {
        // Eigenvalues rise: the last vectors matter most.
        let first = (count - 1 - kept.len()) * count;
        let u = eigen.vectors[first..first + count].to_vec();
        let sum: Vec<f64> = (0..left.ncols())
            .map(|c| (0..count).map(|m| u[m] * rows[(m, c)]).sum())
            .collect();
        let size = |sum: &[f64]| sum.iter().map(|x| x * x).sum::<f64>();
        // What is left is rounding, and sums of rounding point anywhere.
        if (kept.first()).is_some_and(|(_, first)| size(&sum) < ROUNDING * size(first)) {
            break;
        }
        for (c, s) in sum.iter().enumerate() {
            for m in 0..count {
                left[(m, c)] -= u[m] * s;
            }
        }
        kept.push((u, sum));
    }
    kept
}

/// A matrix with both halves, from its lower half by columns.
fn symmetric(lower: Vec<f64>, size: usize) -> Vec<f64> {
    let mut full = lower;
    for column in 0..size {
        for row in column + 1..size {
            full[row * size + column] = full[column * size + row];
        }
    }
    full
}

/// The longest displacement in rows of x, y, z.
fn longest(rows: &Mat<f64>) -> f64 {
    let mut longest: f64 = 0.0;
    for m in 0..rows.nrows() {
        for c in (0..rows.ncols()).step_by(3) {
            let v = DVec3::new(rows[(m, c)], rows[(m, c + 1)], rows[(m, c + 2)]);
            longest = longest.max(v.length());
        }
    }
    longest
}
