//! Tangent maps: which point of a full surface each texel of a coarse one shows.

use dermis::bake::SurfaceMap;

use super::write::Arrays;
use crate::{Document, Fault};

/// A tangent map as a NumPy archive, for run-times that take a texel's normal from the posed full surface.
///
/// | array | shape | meaning |
/// | --- | --- | --- |
/// | `triangle` | (size, size) | the face of the full character that the texel's centre shows, −1 for none; rows from the top |
/// | `weights` | (size, size, 3) | how much of each corner |
/// | `faces` | (T, 3) | corners of the full character's faces, as points of `source` |
///
/// Of a map with several samples per texel the first is taken.
///
/// # Errors
/// [`Fault::Unsupported`] for numbers that the format has no room for.
pub fn tangent_map_npz(map: &SurfaceMap, source: &Document) -> Result<Vec<u8>, Fault> {
    let size = map.size();
    let mut triangles = vec![-1_i64; size * size];
    let mut weights = vec![0.0; 3 * size * size];
    for (y, row) in map.rows().iter().enumerate() {
        for (texel, samples) in row.iter() {
            let Some(sample) = samples.first() else {
                continue;
            };
            let at = y * size + texel.column as usize;
            triangles[at] = i64::from(sample.source.triangle);
            // As 32 bits hold them, so that the array is no larger than it need be.
            let single = sample.source.weights().map(|w| f64::from(w as f32));
            weights[3 * at..3 * at + 3].copy_from_slice(&single);
        }
    }
    let faces = source.draw.point_triangles();
    let mut arrays = Arrays::new();
    arrays.integers("triangle", &[size, size], triangles.into_iter())?;
    arrays.floats("weights", &[size, size, 3], weights)?;
    arrays.integers("faces", &[faces.len(), 3], faces.into_iter().flatten())?;
    arrays.finish()
}

#[cfg(test)]
mod tests {
    use dermis::bake::{AtlasOptions, DrawnSurface, MatchOptions, match_surfaces};
    use dermis::mesh::DrawMesh;
    use glam::DVec3;

    use super::super::archive::Archive;
    use super::*;

    #[test]
    fn texels_have_a_triangle_and_weights_or_nothing() {
        let positions = [vec![DVec3::ZERO, DVec3::X, DVec3::Y]];
        let normals = [vec![DVec3::Z; 3]];
        let surface = DrawnSurface {
            triangles: &[[0, 1, 2]],
            parts: &[],
            uvs: &[[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]],
            positions: &positions,
            normals: &normals,
        };
        let atlas = AtlasOptions {
            size: 8,
            samples: 1,
            reach: 0.0,
        };
        let map = match_surfaces(&surface, &surface, atlas, &MatchOptions::default());
        let source = Document {
            draw: DrawMesh::plain("a", 3, &[[0, 1, 2]]),
            ..Document::default()
        };
        let bytes = tangent_map_npz(&map.expect("a triangle"), &source).expect("arrays");
        let mut archive = Archive::open(&bytes).expect("an archive");
        let mut array = |name: &str| archive.array(name).expect("readable").expect("there");
        let (triangles, weights) = (array("triangle"), array("weights"));
        assert_eq!(triangles.shape(), [8, 8], "a number per texel");
        let triangles = triangles.integers().expect("integers");
        assert_eq!(
            (triangles[7], triangles[56]),
            (-1, 0),
            "corners of the atlas"
        );
        let weights = weights.floats().expect("floats");
        let sum: f64 = weights[3 * 56..3 * 57].iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "weights sum to 1, not {sum}");
        let faces = array("faces").integers().expect("integers");
        assert_eq!(faces, [0, 1, 2], "corners as points");
    }
}
