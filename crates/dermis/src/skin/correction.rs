//! Corrections: sparse displacements, scaled by a coefficient.

/// A displacement of one vertex (or of one influence of it).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delta<V> {
    /// Number of the vertex, or of the item in the influence table.
    pub index: u32,
    /// The displacement at coefficient 1.
    pub value: V,
}

/// A shape that is added in proportion to its coefficient: a morph target, a sculpted corrective.
#[derive(Debug, Clone, PartialEq)]
pub struct Correction<V> {
    /// The displacements, by rising index; everything else stays.
    pub deltas: Vec<Delta<V>>,
}
