//! Meshes: points over time, faces, UVs, normals, and sets of faces.

use std::fmt::Display;

use glam::DVec3;

use super::archive::{Archive, Kind, Object, Property, named};
use super::samples::Values;
use super::times::around;
use super::transform::Animated;
use crate::Fault;

/// A mesh of a file, with its own coordinates.
#[derive(Debug)]
pub(super) struct Mesh<'a> {
    pub(super) path: String,
    pub(super) name: String,
    /// The transform above it, as the scene counts them.
    pub(super) node: Option<usize>,
    pub(super) points: Animated<'a>,
    pub(super) point_count: usize,
    /// How many corners each face has.
    pub(super) counts: Vec<u32>,
    /// The points of all faces, in the order of the file: clockwise from outside.
    pub(super) corners: Vec<u32>,
    pub(super) uvs: Option<Attribute<2>>,
    pub(super) normals: Option<Attribute<3>>,
    pub(super) face_sets: Vec<FaceSet>,
}

/// Values at the corners of faces.
#[derive(Debug)]
pub(super) struct Attribute<const N: usize> {
    pub(super) values: Vec<[f64; N]>,
    /// The value of each corner.
    pub(super) of_corner: Vec<u32>,
}

/// Faces that belong together, as those of one material.
#[derive(Debug)]
pub(super) struct FaceSet {
    pub(super) name: String,
    pub(super) faces: Vec<u32>,
}

/// What became of an object that is a mesh.
pub(super) enum Found<'a> {
    Mesh(Box<Mesh<'a>>),
    /// It has no points, or no faces.
    Empty,
    /// It has other faces or points in some samples.
    Changing,
}

impl<'a> Mesh<'a> {
    /// Reads what does not change over time, and makes sure that it does not.
    pub(super) fn read(
        archive: &Archive<'a>,
        object: &Object<'a>,
        node: Option<usize>,
        notes: &mut Vec<String>,
    ) -> Result<Found<'a>, Fault> {
        let properties = archive.properties(object)?;
        let Some(geometry) = named(&properties, ".geom") else {
            return Ok(Found::Empty);
        };
        let parts = archive.parts(geometry, &object.to_string())?;
        let values = |name: &str, extent: usize| {
            let property = named(&parts, name).filter(|property| property.sample_count > 0);
            property
                .map(|property| Values::new(property, extent, object))
                .transpose()
        };
        let (Some(points), Some(counts), Some(corners)) = (
            values("P", 3)?,
            values(".faceCounts", 1)?,
            values(".faceIndices", 1)?,
        ) else {
            return Ok(Found::Empty);
        };
        if changes(archive, &counts)? || changes(archive, &corners)? {
            return Ok(Found::Changing);
        }
        let size = points.stored_bytes(archive, 0)?.len();
        for stored in 1..points.stored_count() {
            if points.stored_bytes(archive, stored)?.len() != size {
                return Ok(Found::Changing);
            }
        }
        let point_count = points.numbers(archive, 0)?.len() / 3;
        let (counts, corners) = (counts.indices(archive)?, corners.indices(archive)?);
        if point_count == 0 || counts.is_empty() {
            return Ok(Found::Empty);
        }
        check_faces(&counts, &corners, point_count, object)?;
        // Corners are sorted, and become polygons, triangles and drawn triangles.
        let what = format!("{object} of {} corners", corners.len());
        archive
            .container
            .plan(&[(corners.len() + counts.len()) as u64, 64], &what)?;
        let Some(points) = Animated::new(points, archive)? else {
            return Ok(Found::Empty);
        };
        let sizes = Sizes {
            corners: &corners,
            point_count,
        };
        let uvs = attribute(archive, named(&parts, "uv"), &sizes, object, notes)?;
        let normals = attribute(archive, named(&parts, "N"), &sizes, object, notes)?;
        Ok(Found::Mesh(Box::new(Self {
            path: object.path.clone(),
            name: object.name.to_owned(),
            node,
            points,
            point_count,
            uvs,
            normals,
            face_sets: face_sets(archive, object, counts.len())?,
            counts,
            corners,
        })))
    }

    /// Adds where the points are at a time, in the mesh's own coordinates.
    pub(super) fn add_points(
        &self,
        archive: &Archive<'a>,
        time: f64,
        points: &mut Vec<DVec3>,
    ) -> Result<(), Fault> {
        let Animated { values, times } = &self.points;
        let samples = around(times, time);
        let first = points.len();
        let mut numbers = values.numbers(archive, samples.before)?;
        while let (Some(x), Some(y), Some(z)) = (numbers.next(), numbers.next(), numbers.next()) {
            points.push(DVec3::new(x, y, z));
        }
        if let Some((after, share)) = samples.after {
            let mut numbers = values.numbers(archive, after)?;
            for point in &mut points[first..] {
                for axis in 0..3 {
                    // Samples of one mesh all have its number of points.
                    let next = numbers.next().unwrap_or(point[axis]);
                    point[axis] += share * (next - point[axis]);
                }
            }
        }
        match points[first..].iter().position(|point| !point.is_finite()) {
            None => Ok(()),
            Some(point) => Err(Fault::malformed(
                format!("{}, point {point} at {time} s", values.what()),
                "finite numbers",
                points[first + point].to_string(),
            )),
        }
    }
}

/// True when a stored sample differs from the first.
fn changes<'a>(archive: &Archive<'a>, values: &Values<'a>) -> Result<bool, Fault> {
    let first = values.stored_bytes(archive, 0)?;
    for stored in 1..values.stored_count() {
        let other = values.stored_bytes(archive, stored)?;
        // Equal samples are usually stored once.
        if std::ptr::eq(first, other) {
            continue;
        }
        archive.container.spend(other.len(), values.what())?;
        if first != other {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_faces(
    counts: &[u32],
    corners: &[u32],
    point_count: usize,
    object: &impl Display,
) -> Result<(), Fault> {
    let expected: u64 = counts.iter().map(|&n| u64::from(n)).sum();
    if expected != corners.len() as u64 {
        let expected = format!("{expected} corners of {} faces", counts.len());
        return Err(Fault::malformed(
            object.to_string(),
            expected,
            corners.len().to_string(),
        ));
    }
    match corners
        .iter()
        .position(|&point| point as usize >= point_count)
    {
        None => Ok(()),
        Some(at) => Err(Fault::malformed(
            format!("{object}, corner {at}"),
            format!("a point from 0 to {}", point_count - 1),
            corners[at].to_string(),
        )),
    }
}

/// What values of a mesh can be counted by.
struct Sizes<'m> {
    corners: &'m [u32],
    point_count: usize,
}

/// Reads values at corners or points, stored plainly or with indices. Those of the first sample count.
fn attribute<'a, const N: usize>(
    archive: &Archive<'a>,
    property: Option<&Property<'a>>,
    sizes: &Sizes,
    object: &impl Display,
    notes: &mut Vec<String>,
) -> Result<Option<Attribute<N>>, Fault> {
    let Some(property) = property else {
        return Ok(None);
    };
    let what = format!("{object}, property {}", property.name);
    let (values, indices, owner) = match property.kind {
        Kind::Scalar | Kind::Array => (Some(property.clone()), None, object.to_string()),
        Kind::Compound => {
            let parts = archive.parts(property, &what)?;
            let part = |name: &str| named(&parts, name).cloned();
            (part(".vals"), part(".indices"), what.clone())
        }
    };
    let Some(values) = values.filter(|values| values.sample_count > 0) else {
        return Ok(None);
    };
    let values: Vec<[f64; N]> = Values::new(&values, N, &owner)?.rows(archive)?;
    let indices = match indices.filter(|indices| indices.sample_count > 0) {
        Some(indices) => Values::new(&indices, 1, &owner)?.indices(archive)?,
        None => {
            archive.container.plan(&[values.len() as u64, 4], &what)?;
            (0..values.len() as u32).collect()
        }
    };
    if let Some(at) = indices.iter().position(|&i| i as usize >= values.len()) {
        let expected = format!("numbers below {}", values.len());
        return Err(Fault::malformed(what, expected, indices[at].to_string()));
    }
    // A quad alone has as many points as corners: there the file's own word counts.
    let at_points = matches!(property.says("geoScope"), Some("vtx" | "var"));
    let fits_points = indices.len() == sizes.point_count;
    let of_corner = match indices.len() == sizes.corners.len() && !(at_points && fits_points) {
        true => indices,
        false if fits_points => {
            let of_point = |&point: &u32| indices[point as usize];
            sizes.corners.iter().map(of_point).collect()
        }
        false => {
            notes.push(format!(
                "{what} is left out: it has {} values for {} points and {} corners.",
                indices.len(),
                sizes.point_count,
                sizes.corners.len()
            ));
            return Ok(None);
        }
    };
    Ok(Some(Attribute { values, of_corner }))
}

/// The sets of faces that a mesh has as children.
fn face_sets<'a>(
    archive: &Archive<'a>,
    mesh: &Object<'a>,
    face_count: usize,
) -> Result<Vec<FaceSet>, Fault> {
    let mut sets = Vec::new();
    for child in archive.children(mesh)? {
        if !is_face_set(&child) {
            continue;
        }
        let properties = archive.properties(&child)?;
        let Some(schema) = named(&properties, ".faceset") else {
            continue;
        };
        let parts = archive.parts(schema, &child.to_string())?;
        let Some(faces) = named(&parts, ".faces").filter(|faces| faces.sample_count > 0) else {
            continue;
        };
        let faces = Values::new(faces, 1, &child)?.indices(archive)?;
        if let Some(&face) = faces.iter().find(|&&face| face as usize >= face_count) {
            let expected = format!("faces from 0 to {}", face_count - 1);
            return Err(Fault::malformed(
                child.to_string(),
                expected,
                face.to_string(),
            ));
        }
        // Exporters write sets of materials that no face has.
        if faces.is_empty() {
            continue;
        }
        sets.push(FaceSet {
            name: child.name.to_owned(),
            faces,
        });
    }
    Ok(sets)
}

/// True for sets of faces, which are read with their mesh.
pub(super) fn is_face_set(object: &Object) -> bool {
    object.schema().starts_with("AbcGeom_FaceSet_v")
}
