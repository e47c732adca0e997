//! Code that the mesh formats share: faces, attributes per point, colours, names of frames.

use dermis::TriMesh;
use dermis::mesh::{DrawPart, Polygons};
use glam::DVec3;

use crate::{Document, Fault};

/// Points and faces of a file, without UVs, normals and other attributes of drawn vertices.
#[derive(Debug)]
pub(crate) struct Geometry {
    pub(crate) mesh: TriMesh,
    /// `None` when every face is a triangle: `mesh` then has the same faces.
    pub(crate) polygons: Option<Polygons>,
}

impl Geometry {
    /// Checks points and faces, and cuts the faces into triangles.
    pub(crate) fn new(
        positions: Vec<DVec3>,
        counts: Vec<u32>,
        corners: Vec<u32>,
    ) -> Result<Self, Fault> {
        if positions.is_empty() {
            return Err(Fault::malformed("mesh", "at least one vertex", "none"));
        }
        let polygons = Polygons::new(counts, corners, positions.len())?;
        let mesh = TriMesh::new(positions, polygons.triangulate())?;
        let all_triangles = polygons.counts.iter().all(|&n| n == 3);
        Ok(Self {
            mesh,
            polygons: (!all_triangles).then_some(polygons),
        })
    }
}

/// The faces of a mesh: its polygons when it has some, its triangles otherwise.
pub(crate) fn faces<'a>(
    mesh: &'a TriMesh,
    polygons: Option<&'a Polygons>,
) -> impl Iterator<Item = &'a [u32]> {
    let triangles = match polygons {
        Some(_) => &[],
        None => mesh.triangles(),
    };
    (polygons.into_iter().flat_map(Polygons::iter)).chain(triangles.iter().map(|t| t.as_slice()))
}

/// An attribute of the drawn vertices as one value per point.
///
/// `None` when a part lacks the attribute, or when drawn copies of one point differ in it: a format with one
/// value per point cannot hold it then. Points that no part draws get zeros.
pub(crate) fn per_point<const N: usize>(
    document: &Document,
    attribute: impl Fn(&DrawPart) -> Option<&Vec<[f32; N]>>,
) -> Option<Vec<[f32; N]>> {
    let mut values: Vec<Option<[f32; N]>> = vec![None; document.mesh.vertex_count()];
    let mut any = false;
    for part in document.draw.parts.iter().filter(|p| !p.points.is_empty()) {
        let of_part = attribute(part).filter(|list| list.len() == part.points.len())?;
        for (&point, value) in part.points.iter().zip(of_part) {
            let slot = values.get_mut(point as usize)?;
            if slot.is_some_and(|seen| seen != *value) {
                return None;
            }
            *slot = Some(*value);
            any = true;
        }
    }
    any.then(|| values.iter().map(|v| v.unwrap_or([0.0; N])).collect())
}

/// Linear light from a colour as files of bytes and of OBJ text store it.
pub(crate) fn linear_from_srgb(c: f64) -> f64 {
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

/// Undoes [`linear_from_srgb`].
pub(crate) fn srgb_from_linear(c: f64) -> f64 {
    if c <= 0.003_130_8 {
        c * 12.92
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}

/// A unit vector, or zero where there is no direction.
pub(crate) fn unit(n: [f64; 3]) -> [f32; 3] {
    DVec3::from_array(n)
        .normalize_or_zero()
        .as_vec3()
        .to_array()
}

/// The name given to a frame that has none in its file, counted from 1.
pub(crate) fn frame_name(index: usize) -> String {
    format!("frame_{:04}", index + 1)
}

/// A note about a number of things: `1 face is`, `3 faces are`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one} is"),
        _ => format!("{count} {many} are"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_byte_colours_survive_linear_light() {
        for byte in 0..=255u8 {
            let linear = linear_from_srgb(f64::from(byte) / 255.0) as f32;
            let back = (srgb_from_linear(f64::from(linear)) * 255.0).round();
            assert_eq!(back as u8, byte, "byte {byte} became {back}");
        }
    }

    #[test]
    fn triangles_alone_need_no_polygons() {
        let points = vec![DVec3::ZERO; 4];
        let triangles = Geometry::new(points.clone(), vec![3, 3], vec![0, 1, 2, 0, 2, 3]);
        let quad = Geometry::new(points, vec![4], vec![0, 1, 2, 3]);
        let (triangles, quad) = (triangles.expect("valid"), quad.expect("valid"));
        assert!(triangles.polygons.is_none(), "nothing to add to triangles");
        assert_eq!(triangles.mesh, quad.mesh, "a quad is cut into a fan");
        assert_eq!(
            faces(&quad.mesh, quad.polygons.as_ref()).next(),
            Some([0, 1, 2, 3].as_slice()),
            "the quad itself is kept"
        );
    }
}
