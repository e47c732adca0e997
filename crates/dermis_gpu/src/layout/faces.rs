//! Which faces are around each vertex, for normals of posed faces.

use crate::GpuError;

/// Triangles, and the faces around every vertex, as shaders read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaceTable {
    /// Three vertices for each triangle.
    pub triangles: Vec<u32>,
    /// For each vertex the index in this list of its first face, one more for the end of the last vertex, then the faces.
    pub around: Vec<u32>,
    /// How many vertices there are.
    pub vertices: u32,
}

/// Makes the table, with faces in rising order, so that sums are those of [`dermis::run::FaceNormals`].
///
/// # Errors
/// [`GpuError::CountMismatch`] when a triangle has a vertex that does not exist.
pub fn face_table(triangles: &[[u32; 3]], vertices: usize) -> Result<FaceTable, GpuError> {
    let mut around = vec![Vec::new(); vertices];
    for (face, triangle) in triangles.iter().enumerate() {
        for &vertex in triangle {
            let found = around.get_mut(vertex as usize);
            let faces: &mut Vec<u32> = found.ok_or(GpuError::CountMismatch {
                what: "vertices at least, for the triangles",
                expected: vertex as usize + 1,
                found: vertices,
            })?;
            faces.push(super::word(face)?);
        }
    }
    let mut words = vec![0; vertices + 1];
    for (vertex, faces) in around.iter().enumerate() {
        words[vertex] = super::word(words.len())?;
        words.extend(faces);
    }
    words[vertices] = super::word(words.len())?;
    Ok(FaceTable {
        triangles: triangles.as_flattened().to_vec(),
        around: words,
        vertices: super::word(vertices)?,
    })
}
