//! Merging vertices that are copies of one point.

use std::collections::HashMap;
use std::hash::Hash;

/// Which vertices are copies of the same point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weld {
    /// The point of each vertex; points are numbered in order of first appearance.
    pub point_of_vertex: Vec<u32>,
    /// The first vertex of each point.
    pub first_vertex: Vec<u32>,
}

/// Merges vertices of equal keys.
///
/// The key decides what "the same point" means: position alone, or position and influences and
/// morph deltas, so that two shells that touch but move apart stay apart.
///
/// ```
/// let weld = dermis::mesh::weld_by_key(["a", "b", "a"]);
/// assert_eq!(weld.point_of_vertex, [0, 1, 0]);
/// assert_eq!(weld.first_vertex, [0, 1]);
/// ```
pub fn weld_by_key<K: Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Weld {
    let mut seen: HashMap<K, u32> = HashMap::new();
    let mut first_vertex = Vec::new();
    let point_of_vertex = keys
        .into_iter()
        .enumerate()
        .map(|(vertex, key)| {
            *seen.entry(key).or_insert_with(|| {
                first_vertex.push(vertex as u32);
                first_vertex.len() as u32 - 1
            })
        })
        .collect();
    Weld {
        point_of_vertex,
        first_vertex,
    }
}
