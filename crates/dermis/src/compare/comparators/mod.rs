//! Other methods to make a mesh animation smaller, to compare the decomposition with.
//!
//! Two of them find bones and weights, so that the result is a skin that stock players can play: [`fit_sma`]
//! after \[James05\] and [`fit_sad`] after \[Kavan07\]. Two are sums of shapes that need a player of
//! their own: [`truncated_svd`] \[Alexa00\] and [`clustered_pca`] \[Sattler05\]. [`with_eigen_skin`]
//! adds corrections to a skin \[Kry02\]. The bones-and-weights ones are what the papers describe, with
//! today's solvers; each file states its differences.

mod blend;
mod clustered_pca;
mod eigen_skin;
mod options;
mod sad;
mod seeds;
mod sma;
mod truncated_svd;

pub use clustered_pca::clustered_pca;
pub use eigen_skin::with_eigen_skin;
pub use options::{ComparatorOptions, Prediction};
pub use sad::fit_sad;
pub use sma::fit_sma;
pub use truncated_svd::truncated_svd;
