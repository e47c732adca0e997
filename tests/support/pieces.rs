//! Mesh animations cut into pieces.
//!
//! Included by path by tests that decompose cut meshes.

use std::collections::BTreeMap;

use dermis::{MeshAnimation, MeshClip, TriMesh};
use glam::DVec3;

/// Cuts an animation into shells without moving a vertex; vertices on a cut are copied, one for each shell.
pub(crate) fn cut(
    whole: &MeshAnimation,
    shell_of_triangle: impl Fn(&[u32; 3]) -> usize,
) -> MeshAnimation {
    let mut vertex_in_shell: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    let mut origin: Vec<usize> = Vec::new();
    let mut triangles = Vec::new();
    for triangle in whole.rest().triangles() {
        let shell = shell_of_triangle(triangle);
        triangles.push(triangle.map(|vertex| {
            *vertex_in_shell.entry((shell, vertex)).or_insert_with(|| {
                origin.push(vertex as usize);
                origin.len() as u32 - 1
            })
        }));
    }
    let of = |positions: &[DVec3]| origin.iter().map(|&v| positions[v]).collect();
    with_frames(whole, of, triangles)
}

/// An animation whose frames, rest mesh included, are made from those of another.
pub(crate) fn with_frames(
    from: &MeshAnimation,
    frame: impl Fn(&[DVec3]) -> Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
) -> MeshAnimation {
    let rest = TriMesh::new(frame(from.rest().positions()), triangles).expect("a mesh");
    let clip = |clip: &MeshClip| MeshClip {
        name: clip.name.clone(),
        frames: clip
            .frames
            .iter()
            .map(|positions| frame(positions))
            .collect(),
        frames_per_second: clip.frames_per_second,
    };
    let clips = from.clips().iter().map(clip).collect();
    MeshAnimation::new(rest, clips).expect("as many vertices in every frame")
}

/// The shell of a triangle when a mesh is cut across its longest axis into `count` pieces.
pub(crate) fn across(whole: &MeshAnimation, count: usize) -> impl Fn(&[u32; 3]) -> usize {
    let bounds = whole.rest().bounds();
    let size = bounds.max - bounds.min;
    let axis = size.max_position();
    let positions = whole.rest().positions().to_vec();
    move |triangle| {
        let middle: f64 = triangle.iter().map(|&v| positions[v as usize][axis]).sum();
        let share = (middle / 3.0 - bounds.min[axis]) / size[axis];
        ((share * count as f64) as usize).min(count - 1)
    }
}

/// How many pieces a mesh is in.
pub(crate) fn piece_count(animation: &MeshAnimation) -> usize {
    let rest = animation.rest();
    let topology = dermis::mesh::Topology::new(rest.vertex_count(), rest.triangles());
    topology.component_count()
}
