//! Exact normals of a deformed mesh: the area-weighted mean of its faces.
//!
//! Every vertex gathers the faces around it from a table made once, so that threads write to no
//! common place and the sum always runs in the same order: the same bits on any number of threads.
//! The cost is one cross product per face and six reads per vertex, some ten times that of the
//! approximations in [`Normals`](super::Normals), which need no faces.

use super::RunError;
use crate::Rows;
use crate::mesh::MeshError;

/// The faces around every vertex of a mesh.
///
/// ```
/// use dermis::run::FaceNormals;
///
/// let table = FaceNormals::new(&[[0, 1, 2]], 3)?;
/// let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// let mut faces = vec![[0.0; 3]; table.triangle_count()];
/// let mut normals = [[0.0; 3]; 3];
/// table.evaluate(&positions, &mut faces, &mut normals)?;
/// assert_eq!(normals, [[0.0, 0.0, 1.0]; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FaceNormals {
    triangles: Vec<[u32; 3]>,
    faces_of_vertex: Rows<u32>,
}

/// Faces or vertices that one thread handles in one go.
#[cfg(feature = "threads")]
const GRAIN: usize = 4096;

impl FaceNormals {
    /// Makes the table.
    ///
    /// # Errors
    /// [`MeshError::VertexOutOfRange`].
    pub fn new(triangles: &[[u32; 3]], vertex_count: usize) -> Result<Self, MeshError> {
        let mut faces: Vec<Vec<u32>> = vec![Vec::new(); vertex_count];
        for (face, triangle) in triangles.iter().enumerate() {
            for &vertex in triangle {
                let around = faces
                    .get_mut(vertex as usize)
                    .ok_or(MeshError::VertexOutOfRange {
                        what: "triangle",
                        face,
                        vertex,
                        vertex_count,
                    })?;
                around.push(face as u32);
            }
        }
        Ok(Self {
            triangles: triangles.to_vec(),
            faces_of_vertex: faces.into_iter().collect(),
        })
    }

    /// How many faces there are, which is how long the scratch memory must be.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Unit normals of the vertices, or zero where there is no face or the faces cancel.
    ///
    /// `face_normals` is scratch memory of the caller; afterwards it holds the normal of each face, with
    /// twice the face's area as its length. Uses the current rayon pool and allocates nothing.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when a buffer has the wrong length.
    pub fn evaluate(
        &self,
        positions: &[[f32; 3]],
        face_normals: &mut [[f32; 3]],
        normals: &mut [[f32; 3]],
    ) -> Result<(), RunError> {
        let vertex_count = self.faces_of_vertex.len();
        RunError::check_count("positions", vertex_count, positions.len())?;
        RunError::check_count("normals", vertex_count, normals.len())?;
        RunError::check_count("face normals", self.triangles.len(), face_normals.len())?;
        fill(face_normals, |face| {
            let [a, b, c] = self.triangles[face].map(|v| positions[v as usize]);
            cross(sub(b, a), sub(c, a))
        });
        let face_normals = &*face_normals;
        fill(normals, |vertex| {
            let mut sum = [0.0f32; 3];
            for &face in self.faces_of_vertex.row(vertex) {
                let n = face_normals[face as usize];
                sum = [sum[0] + n[0], sum[1] + n[1], sum[2] + n[2]];
            }
            // Tiny meshes have faces whose squares underflow: scale by the largest number first.
            let largest = sum.iter().fold(0.0f32, |a, b| a.max(b.abs()));
            if largest == 0.0 || !largest.is_finite() {
                return [0.0; 3];
            }
            let sum = sum.map(|x| x / largest);
            let length = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]).sqrt();
            sum.map(|x| x / length)
        });
        Ok(())
    }
}

/// `out[i] = value(i)`, on all threads of the pool.
fn fill(out: &mut [[f32; 3]], value: impl Fn(usize) -> [f32; 3] + Sync) {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        let chunks = out.par_chunks_mut(GRAIN).enumerate();
        chunks.for_each(|(chunk, out)| {
            for (k, to) in out.iter_mut().enumerate() {
                *to = value(chunk * GRAIN + k);
            }
        });
    }
    #[cfg(not(feature = "threads"))]
    for (i, to) in out.iter_mut().enumerate() {
        *to = value(i);
    }
}

fn sub(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::vertex_normals;
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn normals_equal_those_of_the_plain_function() {
        let set = tube(&TubeOptions {
            ring_count: 300,
            segment_count: 24,
            bone_count: 6,
            example_count: 1,
        })
        .examples;
        let posed = &set.examples()[0].positions;
        let expected = vertex_normals(posed, set.rest().triangles());
        let positions: Vec<_> = posed.iter().map(|p| p.as_vec3().to_array()).collect();
        let table = FaceNormals::new(set.rest().triangles(), positions.len()).expect("in range");
        let mut faces = vec![[0.0; 3]; table.triangle_count()];
        let mut normals = vec![[0.0; 3]; positions.len()];
        table
            .evaluate(&positions, &mut faces, &mut normals)
            .expect("sizes agree");
        // Small faces far from the origin lose bits in their edges: 6 units over edges of 0.02.
        for (n, e) in normals.iter().zip(&expected) {
            let off = glam::Vec3::from_array(*n).as_dvec3().distance(*e);
            assert!(off < 2e-4, "{n:?} is not {e}");
        }
        let error = table.evaluate(&positions[1..], &mut faces, &mut normals);
        assert!(
            matches!(
                error,
                Err(RunError::CountMismatch {
                    what: "positions",
                    ..
                })
            ),
            "a missing position is found: {error:?}"
        );
    }
}
