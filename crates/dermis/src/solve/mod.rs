//! Small constrained least squares.

mod simplex_ls;

pub use simplex_ls::{SimplexLs, SimplexSolution};
