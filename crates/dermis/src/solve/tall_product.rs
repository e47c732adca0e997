//! Products of tall matrices on all cores, with the same bits on any number of cores.
//!
//! Work is divided by blocks of the result, whose size does not depend on the number of threads, and each block is one
//! product on one thread: no sum is ever split.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::par;

/// Rows and columns of the blocks of a Gram matrix: small enough that a few hundred rows make work for
/// many cores, large enough that each block is worth the product's own blocking.
const TILE: usize = 96;
/// Columns of the blocks of a product.
const COLUMNS: usize = 256;

/// `left · right`.
pub(crate) fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut result = Mat::zeros(left.nrows(), right.ncols());
    let mut blocks = column_blocks(result.as_mut(), COLUMNS);
    par::map_mut(&mut blocks, |number, block| {
        let right = right.subcols(number * COLUMNS, block.ncols());
        matmul(block.as_mut(), Accum::Replace, left, right, 1.0, Par::Seq);
    });
    result
}

/// Splits a matrix into blocks of neighbouring columns, each `width` wide at most.
fn column_blocks(mut matrix: MatMut<'_, f64>, width: usize) -> Vec<MatMut<'_, f64>> {
    let mut blocks = Vec::new();
    while matrix.ncols() > width {
        let (block, others) = matrix.split_at_col_mut(width);
        blocks.push(block);
        matrix = others;
    }
    blocks.push(matrix);
    blocks
}

/// The lower half of `rows · rowsᵀ`, column by column; entries above the diagonal are not set.
///
/// Cost: half the multiplications of the whole product.
pub(crate) fn lower_gram(rows: MatRef<'_, f64>) -> Vec<f64> {
    let size = rows.nrows();
    let count = size.div_ceil(TILE);
    let tiles: Vec<(usize, usize)> = (0..count)
        .flat_map(|c| (c..count).map(move |r| (r, c)))
        .collect();
    let extent = |tile: usize| TILE.min(size - tile * TILE);
    let blocks = par::map(tiles.len(), |at| {
        let (r, c) = tiles[at];
        let mut block = Mat::zeros(extent(r), extent(c));
        matmul(
            block.as_mut(),
            Accum::Replace,
            rows.subrows(r * TILE, extent(r)),
            rows.subrows(c * TILE, extent(c)).transpose(),
            1.0,
            Par::Seq,
        );
        block
    });
    let mut gram = vec![0.0; size * size];
    for (&(r, c), block) in tiles.iter().zip(&blocks) {
        for column in 0..block.ncols() {
            let from = (c * TILE + column) * size + r * TILE;
            gram[from..from + block.nrows()].copy_from_slice(block.col_as_slice(column));
        }
    }
    gram
}

/// `|A|²`, the sum of all squares.
pub(crate) fn squared_norm(matrix: MatRef<'_, f64>) -> f64 {
    squared_column_norms(matrix).iter().sum()
}

/// The sum of squares of every column.
pub(crate) fn squared_column_norms(matrix: MatRef<'_, f64>) -> Vec<f64> {
    par::map(matrix.ncols(), |j| matrix.col(j).squared_norm_l2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wavy(rows: usize, columns: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |r, c| {
            (0.37 * (r * c) as f64 + r as f64).sin()
        })
    }

    #[test]
    fn blocks_make_up_the_plain_product() {
        let (left, right) = (wavy(5, 7), wavy(7, 2 * COLUMNS + 3));
        let found = product(left.as_ref(), right.as_ref());
        let plain = &left * &right;
        assert!((&found - &plain).norm_max() < 1e-12, "the same product");
        assert_eq!(
            product(wavy(0, 7).as_ref(), right.as_ref()).nrows(),
            0,
            "no rows"
        );
    }

    #[test]
    fn tiles_make_up_the_lower_half_of_the_gram_matrix() {
        for size in [1, TILE - 1, TILE, 2 * TILE + 5] {
            let rows = wavy(size, 40);
            let found = lower_gram(rows.as_ref());
            let plain = &rows * rows.transpose();
            for c in 0..size {
                for r in c..size {
                    let difference = (found[c * size + r] - plain[(r, c)]).abs();
                    assert!(difference < 1e-11, "({r}, {c}) of {size}: {difference}");
                }
            }
        }
    }
}
