//! Edges that reach across the character: a few vertices that are in another order than in the rest mesh.
//!
//! [`find_mismatch`](super::find_mismatch) refuses shapes whose order is wrong nearly everywhere. When only a strip of
//! vertices is exchanged, or all of them are shifted by one, most neighbours are still neighbours, and what gives it
//! away is a short edge that suddenly spans a good part of the character. Measured over 14 shapes of each set: edges of
//! bodies, hands, tubes, cloth, horses and cats grow by at most 0.09 of the size, and by 0.48 or more when all vertices
//! are shifted by one. The one exception is real damage: 80 vertices of a scanned face are on its other side.

use glam::DVec3;

use super::{Aabb, Topology, TriMesh};

/// Edges longer than this share of the size at rest may reach across anything.
const SHORT: f64 = 0.1;
/// An edge is far when it is longer than this share of the shape's size, and so many times its share at rest.
const FAR: f64 = 0.2;
const TIMES: f64 = 6.0;
/// Shapes that are looked at, evenly spaced.
const MOST_SHAPES: usize = 24;

/// Edges of a mesh that are short at rest and reach across most of its shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FarEdges {
    /// How many there are.
    pub count: usize,
    /// The vertices of the first one.
    pub first: [u32; 2],
}

/// Finds edges that are short in the rest mesh and reach across the character in more than half of the shapes.
///
/// # Panics
/// When a shape has fewer vertices than the mesh.
pub fn find_far_edges(rest: &TriMesh, shapes: &[&[DVec3]]) -> Option<FarEdges> {
    let size = |positions: &[DVec3]| Aabb::of(positions).map_or(0.0, |b| b.diagonal());
    let taken = shapes.len().min(MOST_SHAPES);
    let looked_at: Vec<(&[DVec3], f64)> = (0..taken)
        .map(|n| shapes[n * shapes.len() / taken])
        .map(|shape| (shape, size(shape)))
        .filter(|(_, size)| *size > 0.0)
        .collect();
    let at_rest = (rest.positions(), size(rest.positions()));
    if looked_at.is_empty() || at_rest.1 <= 0.0 {
        return None;
    }
    let share = |(positions, size): (&[DVec3], f64), [a, b]: [u32; 2]| {
        positions[a as usize].distance(positions[b as usize]) / size
    };
    let is_far = |edge: [u32; 2]| {
        let before = share(at_rest, edge);
        let reaches = |shape: &&(&[DVec3], f64)| {
            let after = share(**shape, edge);
            after > FAR && after > TIMES * before
        };
        before < SHORT && 2 * looked_at.iter().filter(reaches).count() > looked_at.len()
    };
    let topology = Topology::new(rest.vertex_count(), rest.triangles());
    let edges = (0..rest.vertex_count() as u32).flat_map(|a| {
        let later = topology
            .neighbors(a as usize)
            .iter()
            .filter(move |&&b| b > a);
        later.map(move |&b| [a, b]).collect::<Vec<_>>()
    });
    let far: Vec<[u32; 2]> = edges.filter(|edge| is_far(*edge)).collect();
    Some(FarEdges {
        count: far.len(),
        first: *far.first()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleSet;
    use crate::synth::{TubeOptions, tube};

    fn bent_tube() -> ExampleSet {
        let options = TubeOptions {
            ring_count: 24,
            segment_count: 12,
            bone_count: 3,
            example_count: 8,
        };
        tube(&options).examples
    }

    fn shifted(set: &ExampleSet, by: usize) -> Vec<Vec<DVec3>> {
        let examples = set.examples().iter();
        let mut shapes: Vec<Vec<DVec3>> = examples.map(|e| e.positions.clone()).collect();
        for shape in &mut shapes {
            shape.rotate_right(by);
        }
        shapes
    }

    fn found(set: &ExampleSet, shapes: &[Vec<DVec3>]) -> Option<FarEdges> {
        let shapes: Vec<&[DVec3]> = shapes.iter().map(Vec::as_slice).collect();
        find_far_edges(set.rest(), &shapes)
    }

    #[test]
    fn vertices_shifted_by_a_few_are_noticed() {
        let set = bent_tube();
        assert_eq!(found(&set, &shifted(&set, 0)), None, "the right order");
        for by in [1, 2, 7, 50] {
            let far = found(&set, &shifted(&set, by)).expect("edges across the tube");
            assert!(far.count >= 1, "shifted by {by}: {far:?}");
        }
    }

    #[test]
    fn two_exchanged_vertices_are_named() {
        let set = bent_tube();
        let mut shapes = shifted(&set, 0);
        let last = set.rest().vertex_count() - 1;
        for shape in &mut shapes {
            shape.swap(0, last);
        }
        let far = found(&set, &shapes).expect("both have edges across the tube");
        assert!(far.first.contains(&0), "the first vertex: {far:?}");
    }

    #[test]
    fn one_shape_with_a_stray_vertex_is_no_other_order() {
        let set = bent_tube();
        let mut shapes = shifted(&set, 0);
        shapes[3].swap(0, 200);
        assert_eq!(
            found(&set, &shapes),
            None,
            "seven shapes of eight are right"
        );
    }

    #[test]
    fn nothing_to_look_at_is_no_damage() {
        let set = bent_tube();
        assert_eq!(found(&set, &[]), None, "no shape");
        let point = vec![vec![DVec3::ONE; set.rest().vertex_count()]];
        assert_eq!(found(&set, &point), None, "a shape without size");
    }
}
