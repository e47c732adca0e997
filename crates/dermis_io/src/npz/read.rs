//! Arrays of an `.npz` file to a [`Document`].

use std::path::Path;

use dermis::TriMesh;
use dermis::mesh::{DrawMesh, Polygons};
use glam::DVec3;

use super::archive::Archive;
use super::bones::{read_poses, read_skeleton, read_skin};
use crate::format::stem;
use crate::geometry::frame_name;
use crate::{Document, Fault, FileFacts, Frame};

/// Reads an `.npz` file from its bytes; the table in the module's documentation lists the arrays.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Document, Fault> {
    let mut archive = Archive::open(bytes)?;
    if !archive.has("rest") && !archive.has("positions") {
        return Err(Fault::malformed(
            "archive",
            "an array `rest` (V, 3) or `positions` (F, V, 3)",
            archive.describe(),
        ));
    }
    let mut notes = Vec::new();
    let frames = read_frames(&mut archive)?;
    let rest = read_rest(&mut archive, &frames, &mut notes)?;
    let (triangles, polygons) = read_faces(&mut archive, rest.len(), &mut notes)?;
    let mesh = TriMesh::new(rest, triangles)?;

    let bones = read_skeleton(&mut archive, &mut notes)?;
    let (mut skin, mut skeleton, mut frame_poses) = (None, None, Vec::new());
    if let Some(bones) = bones {
        if archive.has("positions") {
            frame_poses = read_poses(&mut archive, &bones, frames.len())?;
        } else if archive.has("bone_pose") {
            notes.push("bone_pose is left out: there are no positions.".to_owned());
        }
        skin = read_skin(&mut archive, &bones, &mesh, &mut notes)?;
        if skin.is_none() {
            skeleton = Some(bones.skeleton);
        }
    }
    let joints = skin.as_ref().map(|skin| skin.skeleton.bone_count());
    Ok(Document {
        draw: DrawMesh::plain(stem(path), mesh.vertex_count(), mesh.triangles()),
        mesh,
        polygons,
        skin,
        skeleton,
        frames,
        frame_poses,
        facts: FileFacts {
            mesh_count: 1,
            joints_of_skin: joints.into_iter().collect(),
            ..FileFacts::default()
        },
        notes,
        ..Document::default()
    })
}

fn read_frames(archive: &mut Archive) -> Result<Vec<Frame>, Fault> {
    let Some(positions) = archive.array("positions")? else {
        return Ok(Vec::new());
    };
    positions.expect_shape(&[None, None, Some(3)])?;
    let [frame_count, vertex_count] = [positions.shape()[0], positions.shape()[1]];
    if frame_count == 0 || vertex_count == 0 {
        let expected = "at least one frame and one vertex";
        let found = format!("{frame_count} frames of {vertex_count} vertices");
        return Err(Fault::malformed("array positions", expected, found));
    }
    let names = match archive.array("frame_names")? {
        Some(names) => {
            names.expect_shape(&[Some(frame_count)])?;
            names.strings()?
        }
        None => (0..frame_count).map(frame_name).collect(),
    };
    let numbers = positions.floats()?;
    let frames = numbers
        .chunks_exact(3 * vertex_count)
        .zip(names)
        .enumerate();
    frames
        .map(|(k, (numbers, name))| {
            let positions = points(numbers);
            match positions.iter().position(|p| !p.is_finite()) {
                None => Ok(Frame { name, positions }),
                Some(vertex) => Err(Fault::malformed(
                    format!("array positions, frame {k} ({name}), vertex {vertex}"),
                    "finite numbers",
                    positions[vertex].to_string(),
                )),
            }
        })
        .collect()
}

fn read_rest(
    archive: &mut Archive,
    frames: &[Frame],
    notes: &mut Vec<String>,
) -> Result<Vec<DVec3>, Fault> {
    let vertex_count = frames.first().map(|frame| frame.positions.len());
    match (archive.array("rest")?, frames.first()) {
        (Some(rest), _) => {
            rest.expect_shape(&[vertex_count, Some(3)])?;
            if rest.shape()[0] == 0 {
                return Err(Fault::malformed(
                    "array rest",
                    "at least one vertex",
                    "none",
                ));
            }
            Ok(points(&rest.floats()?))
        }
        (None, Some(first)) => {
            notes.push(format!(
                "No array rest: frame {} is the rest mesh.",
                first.name
            ));
            Ok(first.positions.clone())
        }
        (None, None) => Err(Fault::malformed("archive", "rest or positions", "neither")),
    }
}

fn points(numbers: &[f64]) -> Vec<DVec3> {
    let (points, _) = numbers.as_chunks();
    points.iter().copied().map(DVec3::from_array).collect()
}

type Faces = (Vec<[u32; 3]>, Option<Polygons>);

fn read_faces(
    archive: &mut Archive,
    vertex_count: usize,
    notes: &mut Vec<String>,
) -> Result<Faces, Fault> {
    let counts = archive.array("face_counts")?;
    let corners = archive.array("face_indices")?;
    let polygons = match (counts, corners) {
        (Some(counts), Some(corners)) => {
            counts.expect_shape(&[None])?;
            corners.expect_shape(&[None])?;
            let counts = indices("face_counts", &counts.integers()?)?;
            let corners = indices("face_indices", &corners.integers()?)?;
            Some(Polygons::new(counts, corners, vertex_count)?)
        }
        (None, None) => None,
        (Some(_), None) => return Err(lone("face_counts", "face_indices")),
        (None, Some(_)) => return Err(lone("face_indices", "face_counts")),
    };
    let triangles = match archive.array("faces")? {
        Some(faces) => {
            faces.expect_shape(&[None, Some(3)])?;
            let corners = indices("faces", &faces.integers()?)?;
            corners.as_chunks().0.to_vec()
        }
        None => match &polygons {
            Some(polygons) => polygons.triangulate(),
            None => {
                notes.push("No array faces: the mesh is a cloud of points.".to_owned());
                Vec::new()
            }
        },
    };
    // Triangles alone need no polygons: the triangles say the same.
    let polygons = polygons.filter(|p| p.counts.iter().any(|&n| n != 3));
    Ok((triangles, polygons))
}

fn lone(found: &str, missing: &str) -> Fault {
    Fault::malformed(
        "archive",
        format!("{missing} beside {found}"),
        "no such array",
    )
}

fn indices(name: &str, values: &[i64]) -> Result<Vec<u32>, Fault> {
    values
        .iter()
        .enumerate()
        .map(|(at, &value)| {
            u32::try_from(value).map_err(|_| {
                let element = format!("array {name}, number {at}");
                Fault::malformed(element, "a number from 0 to 4294967295", value.to_string())
            })
        })
        .collect()
}
