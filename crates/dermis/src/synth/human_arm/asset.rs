//! The embedded file: mesh, bones and painted weights.

use glam::{DAffine3, DMat3, DVec3};

use crate::mesh::TriMesh;
use crate::rig::{BoneId, Skeleton};
use crate::skin::{Skin, SsdProgram, VertexProgram, Weight};

/// Made by `scripts/make_demo_arm.py`, which says what the lines mean.
const FILE: &str = include_str!("../../../assets/human_arm.txt");
/// Lengths are in hundredths of a millimetre.
const UNIT: f64 = 1e-5;
/// Weights are in thousandths.
const WEIGHT_UNIT: f64 = 1e-3;

/// A bone as the file has it.
#[derive(Debug, Clone)]
pub(super) struct AssetBone {
    pub(super) name: String,
    pub(super) parent: Option<BoneId>,
    /// Where it begins: the centre of its joint.
    pub(super) head: DVec3,
    /// Where it ends.
    pub(super) tail: DVec3,
    /// The axis of its joint, across the bone, of length 1.
    pub(super) hinge: DVec3,
}

/// The file as numbers.
#[derive(Debug, Clone)]
pub(super) struct Asset {
    pub(super) bones: Vec<AssetBone>,
    pub(super) mesh: TriMesh,
    pub(super) weights: Vec<Vec<Weight>>,
}

impl Asset {
    /// Reads the embedded file, which is part of this crate: if it is wrong, that is a bug.
    pub(super) fn embedded() -> Self {
        let mut bones: Vec<AssetBone> = Vec::new();
        let (mut positions, mut weights) = (Vec::new(), Vec::new());
        let mut triangles = Vec::new();
        for line in FILE.lines() {
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("bone") => {
                    let name = words.next().expect("a name").to_owned();
                    let parent = words.next().expect("a parent");
                    let parent = bones.iter().position(|bone| bone.name == parent);
                    let [head, tail, hinge] = vectors(&numbers(words));
                    let along = (tail - head).normalize();
                    bones.push(AssetBone {
                        name,
                        parent: parent.map(|j| BoneId(j as u16)),
                        head,
                        tail,
                        hinge: hinge.reject_from_normalized(along).normalize(),
                    });
                }
                Some("v") => {
                    let numbers = numbers(words);
                    let [position] = vectors(&numbers[..3]);
                    positions.push(position);
                    let pairs = numbers[3..].chunks_exact(2);
                    weights.push(
                        pairs
                            .map(|pair| Weight {
                                bone: BoneId(pair[0] as u16),
                                weight: pair[1] * WEIGHT_UNIT,
                            })
                            .collect(),
                    );
                }
                Some("f") => {
                    let corners = numbers(words);
                    let corner = |k: usize| corners[k] as u32;
                    let fan = (2..corners.len()).map(|k| [corner(0), corner(k - 1), corner(k)]);
                    triangles.extend(fan);
                }
                _ => {}
            }
        }
        Self {
            bones,
            mesh: TriMesh::new(positions, triangles).expect("the embedded mesh is whole"),
            weights,
        }
    }

    /// A bone by its name.
    pub(super) fn bone(&self, name: &str) -> (BoneId, &AssetBone) {
        let found = self.bones.iter().position(|bone| bone.name == name);
        let j = found.unwrap_or_else(|| panic!("the embedded rig has a bone {name}"));
        (BoneId(j as u16), &self.bones[j])
    }

    /// Linear blend skinning with the painted weights.
    pub(super) fn painted_skin(&self) -> Skin {
        let frames = self.bones.iter().map(|bone| {
            let along = (bone.tail - bone.head).normalize();
            let axes = DMat3::from_cols(along.cross(bone.hinge), along, bone.hinge);
            let frame = DAffine3::from_mat3_translation(axes, bone.head);
            (bone.name.clone(), bone.parent, frame)
        });
        let skeleton = Skeleton::from_rest_frames(frames).expect("parents come before children");
        let program = SsdProgram {
            rest_positions: self.mesh.positions().to_vec(),
            weights: self.weights.iter().cloned().collect(),
            corrections: Vec::new(),
        };
        Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new())
            .expect("weights name bones of the rig")
    }
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<f64> {
    words
        .map(|word| word.parse().expect("a whole number"))
        .collect()
}

fn vectors<const N: usize>(numbers: &[f64]) -> [DVec3; N] {
    std::array::from_fn(|k| UNIT * DVec3::from_slice(&numbers[3 * k..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Topology, triangle_normals, vertex_normals};

    #[test]
    fn every_vertex_has_one_to_four_weights_that_sum_to_one() {
        let asset = Asset::embedded();
        assert_eq!(
            asset.weights.len(),
            asset.mesh.vertex_count(),
            "one row each"
        );
        for (i, row) in asset.weights.iter().enumerate() {
            assert!((1..=4).contains(&row.len()), "vertex {i}: {row:?}");
            assert!(row.iter().all(|w| w.weight > 0.0), "vertex {i}: {row:?}");
            let sum: f64 = row.iter().map(|w| w.weight).sum();
            assert!((sum - 1.0).abs() < 1e-12, "vertex {i}: sum {sum}");
        }
    }

    #[test]
    fn the_mesh_is_one_surface_with_one_rim() {
        let mesh = Asset::embedded().mesh;
        let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
        assert_eq!(topology.component_count(), 1, "one piece");
        assert_eq!(topology.boundary_loops().len(), 1, "where it was cut");
        assert!(topology.non_manifold_edges().is_empty(), "a surface");
        assert!(topology.unreferenced_vertices().is_empty(), "no loose ends");
        assert!(mesh.vertex_count() < 6000, "a few thousand vertices");
    }

    #[test]
    fn no_triangle_is_folded_over_at_rest() {
        let mesh = Asset::embedded().mesh;
        let of_triangles = triangle_normals(mesh.positions(), mesh.triangles());
        let of_vertices = vertex_normals(mesh.positions(), mesh.triangles());
        for (triangle, normal) in mesh.triangles().iter().zip(&of_triangles) {
            assert!(normal.length() > 0.0, "{triangle:?} has an area");
            let mean: DVec3 = triangle.iter().map(|&i| of_vertices[i as usize]).sum();
            assert!(normal.dot(mean) > 0.0, "{triangle:?} faces the other way");
        }
    }

    #[test]
    fn bones_have_the_scale_of_a_person() {
        let asset = Asset::embedded();
        let length = |name| {
            let (_, bone) = asset.bone(name);
            bone.head.distance(bone.tail)
        };
        assert!((0.2..0.35).contains(&length("upper_arm")), "metres");
        assert!((0.2..0.35).contains(&length("forearm")), "metres");
        assert!(
            (1.2..1.5).contains(&asset.bone("upper_arm").1.head.y),
            "y up"
        );
    }
}
