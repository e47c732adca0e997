//! Small constrained least squares, and large sparse systems whose blocks follow a mesh's graph.

mod block_cg;
mod coarse_levels;
mod edge_system;
mod simplex_gram;
mod simplex_ls;
mod small_matrix;
mod sparse_cholesky;
mod symmetric_eigen;
mod tall_product;

pub(crate) use block_cg::{CgLimits, CgSystem, conjugate_gradients};
pub(crate) use coarse_levels::CoarseLevels;
pub(crate) use edge_system::{EdgeSystem, NodeKind, SLOT};
pub(crate) use simplex_gram::SimplexGram;
pub use simplex_ls::{SimplexLs, SimplexSolution};
pub(crate) use sparse_cholesky::{CholeskyError, LowerColumns, SparseCholesky};
pub(crate) use symmetric_eigen::SymmetricEigen;
pub(crate) use tall_product::{lower_gram, product, squared_column_norms, squared_norm};
