//! What holds after any number of steps of a simplification (fact L8).

use std::collections::BTreeMap;

use dermis::lod::Progressive;
use dermis::mesh::{DrawMesh, DrawPart, TriMesh};

/// Checks the character after about `count` numbers of steps, the first and the last among them.
pub(crate) fn check_prefixes(name: &str, sequence: &Progressive, given: &DrawMesh, count: usize) {
    sequence.check().expect("what was made fits together");
    let steps = sequence.step_count();
    assert!(steps > 20, "{name}: {steps} steps");
    let edges_given = most_uses(&given.point_triangles());
    let mut triangles_before = usize::MAX;
    for k in 0..=count {
        let at = k * steps / count;
        let level = sequence.at(at).expect("finite positions");
        let what = format!("{name} after {at} of {steps} steps");
        let points = level.mesh.vertex_count();
        assert_eq!(points, level.nodes.len(), "{what}: nodes");
        assert_eq!(points, level.program.vertex_count(), "{what}: rows");
        let triangles = level.mesh.triangles();
        assert!(triangles.len() <= triangles_before, "{what}: ever fewer");
        triangles_before = triangles.len();
        assert_eq!(
            triangles,
            level.draw.point_triangles(),
            "{what}: what is drawn is the mesh"
        );
        if at > 0 {
            let is_flat = |[a, b, c]: &[u32; 3]| a == b || b == c || c == a;
            assert!(!triangles.iter().any(is_flat), "{what}: three points each");
            assert!(
                most_uses(triangles) <= edges_given,
                "{what}: an edge has as many triangles as one had before"
            );
        }
        check_textures(&what, sequence, given, &level.draw, at);
        let is_used = used_points(&level.mesh, &level.draw);
        let undrawn = is_used.iter().filter(|used| !**used).count();
        let undrawn_before = points_undrawn(sequence, given);
        assert!(undrawn <= undrawn_before, "{what}: no point is left over");
    }
    assert!(
        triangles_before < given.point_triangles().len(),
        "{name}: fewer triangles at the end"
    );
}

/// How often the most used edge is used, each way alone.
fn most_uses(triangles: &[[u32; 3]]) -> usize {
    let mut uses: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for [a, b, c] in triangles {
        for way in [(*a, *b), (*b, *c), (*c, *a)] {
            *uses.entry(way).or_insert(0) += 1;
        }
    }
    uses.into_values().max().unwrap_or(0)
}

/// No triangle shows its texture mirrored that did not before.
fn check_textures(
    what: &str,
    sequence: &Progressive,
    given: &DrawMesh,
    level: &DrawMesh,
    steps: usize,
) {
    for ((part, before), after) in sequence.parts.iter().zip(&given.parts).zip(&level.parts) {
        let left = before.triangles.iter().zip(&part.vanishes_with);
        let left: Vec<&[u32; 3]> = (left.filter(|(_, step)| **step as usize >= steps))
            .map(|item| item.0)
            .collect();
        assert_eq!(left.len(), after.triangles.len(), "{what}: those that stay");
        for (old, new) in left.into_iter().zip(&after.triangles) {
            let [old, new] = [(before, old), (after, new)].map(|(part, t)| texture_area(part, *t));
            // Single precision has areas of 1e-9 come out as anything.
            let product = old * new;
            assert!(product > -1e-9, "{what}: mirrored, {old} and then {new}");
        }
    }
}

fn texture_area(part: &DrawPart, triangle: [u32; 3]) -> f64 {
    let Some(uvs) = part.uvs.first() else {
        return 0.0;
    };
    let [a, b, c] = triangle.map(|v| uvs[v as usize].map(f64::from));
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn used_points(mesh: &TriMesh, draw: &DrawMesh) -> Vec<bool> {
    let mut is_used = vec![false; mesh.vertex_count()];
    for point in draw.point_triangles().into_iter().flatten() {
        is_used[point as usize] = true;
    }
    is_used
}

fn points_undrawn(sequence: &Progressive, given: &DrawMesh) -> usize {
    let mut drawn: Vec<u32> = given.point_triangles().into_iter().flatten().collect();
    drawn.sort_unstable();
    drawn.dedup();
    sequence.point_count - drawn.len()
}
