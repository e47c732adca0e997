//! Rest meshes that lie in a plane, such as a sheet of cloth.

use glam::{DMat3, DVec3};

use crate::solve::SymmetricEigen;

/// The normal of the only plane in which all points lie, if there is one; `unit` is a length about the size
/// of the whole.
pub(crate) fn flat_normal(positions: &[DVec3], middle: DVec3, unit: f64) -> Option<DVec3> {
    let mut spread = [0.0; 9];
    for position in positions {
        let from = ((*position - middle) / unit).to_array();
        for (at, sum) in spread.iter_mut().enumerate() {
            *sum += from[at / 3] * from[at % 3];
        }
    }
    let eigen = SymmetricEigen::new(&spread, 3);
    let nothing = 1e-12 * eigen.values[2];
    let flat = eigen.values[0] <= nothing && eigen.values[1] > nothing;
    flat.then(|| DVec3::from_slice(&eigen.vectors[..3]))
}

/// A matrix that does the same in a plane and takes the plane's normal to the normal of the moved plane.
///
/// A flat rest mesh does not determine where its bones take the normal. Least squares would take it to 0,
/// which makes matrices without an inverse: no correction could act in that direction, and tools that split
/// matrices into turns and scales would fail.
pub(crate) fn with_normal(matrix: DMat3, normal: DVec3) -> DMat3 {
    let (first, second) = normal.any_orthonormal_pair();
    // The pair and the normal are right-handed.
    let across = (matrix * first).cross(matrix * second);
    let length = across.length();
    let to = if length > 0.0 {
        across / length.sqrt()
    } else {
        normal
    };
    let change = to - matrix * normal;
    matrix + DMat3::from_cols(change * normal.x, change * normal.y, change * normal.z)
}
