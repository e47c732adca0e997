//! Animation space from examples: a free 4-vector per influence instead of a weight.
//!
//! A vertex is `v = Σ_j G_j p_j`, and the fourth components of its `p_j` sum to 1 (\[Merry06\] §3).
//! Linear blend skinning is the special case in which every `p_j` is a share of one rest position;
//! here they are free, so that examples can set where the vertices of a joint go when it bends. The
//! model is linear in `p`, so the best one is a least-squares solution (\[Merry06\] §6), and the remaining
//! choice is how to keep it sensible where the examples determine little:
//!
//! * which bones a vertex may use: [`InfluenceSets`](super::InfluenceSets);
//! * a ridge per vertex, or springs along the mesh's edges: [`Smoothing`];
//! * what both pull towards: [`Prior`].
//!
//! What it cannot do: anything that is not linear in the bones' matrices, such as a muscle that
//! swells with the angle of a joint, except where that happens to be nearly linear over the poses seen.

mod choose;
mod entry;
mod frames;
mod global;
mod kinds;
mod options;
mod problem;

pub use entry::fit_anim_space;
pub use options::{AnimSpaceOptions, GlobalSolver, Prior, Smoothing};

pub(super) use options::INFO;

pub(super) use frames::FitFrames;
pub(super) use kinds::normal_eigenvalues;
