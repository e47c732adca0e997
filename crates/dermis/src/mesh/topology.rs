//! What touches what: half-edges, boundary loops, components.

/// Index of a half-edge: corner `k` of triangle `t` starts half-edge `3t + k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfEdgeId(pub u32);

/// Connectivity.
#[derive(Debug)]
pub struct Topology;
