//! Arrays of an `.npz` file to a [`Document`].

use std::path::Path;

use dermis::TriMesh;
use dermis::mesh::{DrawMesh, Polygons};
use glam::DVec3;

use super::archive::Archive;
use super::bones::{pose_count, read_poses, read_skeleton, read_skin};
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
    let frames_per_second = read_rate(&mut archive)?;
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
        frames_per_second,
        facts: FileFacts {
            mesh_count: 1,
            joints_of_skin: joints.into_iter().collect(),
            ..FileFacts::default()
        },
        notes,
        ..Document::default()
    })
}

/// Reads bones and their poses alone, whatever meshes there are: frames have names and no positions.
pub(crate) fn read_bones(bytes: &[u8]) -> Result<Document, Fault> {
    let mut archive = Archive::open(bytes)?;
    let mut notes = Vec::new();
    let found = match (
        read_skeleton(&mut archive, &mut notes)?,
        pose_count(&mut archive)?,
    ) {
        (Some(bones), Some(count)) => Some((bones, count)),
        _ => None,
    };
    let Some((bones, count)) = found else {
        return Err(Fault::malformed(
            "archive",
            "poses: arrays `bone_rest` (B, 4, 4) and `bone_pose` (F, B, 4, 4)",
            archive.describe(),
        ));
    };
    let names = match archive.array("frame_names")? {
        Some(names) => {
            names.expect_shape(&[Some(count)])?;
            names.strings()?
        }
        None => (0..count).map(frame_name).collect(),
    };
    let frame = |name| Frame {
        name,
        positions: Vec::new(),
    };
    Ok(Document {
        frames: names.into_iter().map(frame).collect(),
        frame_poses: read_poses(&mut archive, &bones, count)?,
        frames_per_second: read_rate(&mut archive)?,
        skeleton: Some(bones.skeleton),
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

/// Frames per second, when the file has them.
fn read_rate(archive: &mut Archive) -> Result<Option<f64>, Fault> {
    let Some(rate) = archive.array("fps")? else {
        return Ok(None);
    };
    match rate.floats()?[..] {
        [rate] if rate > 0.0 && rate.is_finite() => Ok(Some(rate)),
        [rate] => {
            let expected = "frames per second, a number above 0";
            Err(Fault::malformed("array fps", expected, rate.to_string()))
        }
        ref several => {
            let found = format!("{} numbers", several.len());
            Err(Fault::malformed("array fps", "one number", found))
        }
    }
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
    // When all faces are triangles, polygons would only repeat them.
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

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::super::write::Arrays;
    use super::*;

    /// Two points, both at the given x in each frame.
    fn mesh_arrays(frames: &[f64]) -> Arrays {
        let mut arrays = Arrays::new();
        let positions = frames
            .iter()
            .flat_map(|&x| [x, 0.0, 0.0, x, 1.0, 0.0])
            .collect();
        (arrays.floats("positions", &[frames.len(), 2, 3], positions)).expect("memory");
        arrays
    }

    fn read_arrays(arrays: Arrays) -> Result<Document, Fault> {
        read(
            Path::new("folder/two.npz"),
            &arrays.finish().expect("memory"),
        )
    }

    fn refusal(arrays: Arrays) -> String {
        read_arrays(arrays)
            .expect_err("must be refused")
            .to_string()
    }

    /// A 4×4 matrix that moves along x.
    fn shift(x: f64) -> [f64; 16] {
        let mut matrix = [0.0; 16];
        for k in 0..4 {
            matrix[5 * k] = 1.0;
        }
        matrix[3] = x;
        matrix
    }

    #[test]
    fn frames_per_second_are_one_number_above_zero() {
        let with = |shape: &[usize], values: Vec<f64>| {
            let mut arrays = mesh_arrays(&[5.0, 6.0]);
            arrays.floats("fps", shape, values).expect("memory");
            arrays
        };
        for shape in [&[][..], &[1]] {
            let document = read_arrays(with(shape, vec![29.97])).expect("a rate");
            assert_eq!(document.frames_per_second, Some(29.97), "shape {shape:?}");
        }
        let unknown = read_arrays(mesh_arrays(&[5.0, 6.0])).expect("no rate");
        assert_eq!(unknown.frames_per_second, None, "the file does not say");
        assert_eq!(
            refusal(with(&[], vec![0.0])),
            "array fps: expected frames per second, a number above 0, found 0"
        );
        assert_eq!(
            refusal(with(&[2], vec![1.0, 2.0])),
            "array fps: expected one number, found 2 numbers"
        );
    }

    #[test]
    fn the_first_frame_stands_in_for_a_missing_rest() {
        let document = read_arrays(mesh_arrays(&[5.0, 6.0])).expect("positions are enough");
        assert_eq!(
            document.mesh.positions(),
            document.frames[0].positions,
            "frame 1"
        );
        assert!(document.mesh.triangles().is_empty(), "a cloud");
        assert_eq!(
            document.draw.parts[0].mesh_name, "two",
            "named after the file"
        );
        assert_eq!(
            document.notes,
            [
                "No array rest: frame frame_0001 is the rest mesh.",
                "No array faces: the mesh is a cloud of points.",
            ],
            "both repairs are in the notes"
        );
    }

    #[test]
    fn children_before_parents_keep_their_poses_and_weights() {
        // The file has tip, root; the tip is at x = 10 and 2 further in the frame.
        let mut arrays = mesh_arrays(&[0.0]);
        arrays
            .strings("bone_names", &["tip", "root"])
            .expect("memory");
        arrays
            .integers("bone_parents", &[2], [1, -1].into_iter())
            .expect("memory");
        let rest = [shift(10.0), shift(1.0)].concat();
        arrays
            .floats("bone_rest", &[2, 4, 4], rest)
            .expect("memory");
        let pose = [shift(12.0), shift(1.0)].concat();
        arrays
            .floats("bone_pose", &[1, 2, 4, 4], pose)
            .expect("memory");
        let weights = vec![0.25, 0.75, 3.0, 1.0];
        arrays.floats("weights", &[2, 2], weights).expect("memory");
        let document = read_arrays(arrays).expect("valid arrays");

        let skin = document.skin.as_ref().expect("weights make a skin");
        let names: Vec<&str> = skin
            .skeleton
            .bones()
            .iter()
            .map(|b| b.name.as_str())
            .collect();
        assert_eq!(names, ["root", "tip"], "parents first");
        let local = document.frame_poses[0].parent_from_bone[1];
        assert_eq!(
            local,
            DAffine3::from_translation(11.0 * DVec3::X),
            "the tip in its parent"
        );
        let moved = skin
            .evaluate(&document.frame_poses[0])
            .expect("the pose fits");
        assert_eq!(moved[0].x, 0.5, "a quarter of 2");
        assert_eq!(moved[1].x, 1.5, "three quarters of 2, after scaling 3:1");
        assert!(
            document
                .notes
                .contains(&"Weights that do not sum to 1 are scaled, at 1 vertices.".to_owned()),
            "{:?}",
            document.notes
        );
    }

    #[test]
    fn shapes_that_disagree_are_refused_with_both() {
        let mut rest = mesh_arrays(&[0.0]);
        rest.floats("rest", &[3, 3], vec![0.0; 9]).expect("memory");
        assert_eq!(
            refusal(rest),
            "array rest: expected shape (2, 3), found (3, 3)",
            "rest against positions"
        );
        let mut names = mesh_arrays(&[0.0]);
        names.strings("frame_names", &["a", "b"]).expect("memory");
        assert_eq!(
            refusal(names),
            "array frame_names: expected shape (1), found (2,)",
            "names"
        );
        let mut faces = mesh_arrays(&[0.0]);
        faces
            .integers("faces", &[1, 4], [0, 1, 1, 0].into_iter())
            .expect("memory");
        assert_eq!(
            refusal(faces),
            "array faces: expected shape (any, 3), found (1, 4)",
            "quads"
        );
        let mut weights = mesh_arrays(&[0.0]);
        weights
            .floats("bone_rest", &[1, 4, 4], shift(0.0).to_vec())
            .expect("memory");
        weights
            .floats("weights", &[2, 2], vec![0.5; 4])
            .expect("memory");
        assert_eq!(
            refusal(weights),
            "array weights: expected shape (2, 1), found (2, 2)",
            "bones"
        );
    }

    #[test]
    fn faces_and_numbers_out_of_range_are_refused() {
        for corner in [2, -1] {
            let mut arrays = mesh_arrays(&[0.0]);
            arrays
                .integers("faces", &[1, 3], [0, 1, corner].into_iter())
                .expect("memory");
            let message = refusal(arrays);
            assert!(message.contains(&corner.to_string()), "{message}");
        }
        let message = refusal(mesh_arrays(&[0.0, f64::NAN]));
        assert!(
            message.contains("frame 1 (frame_0002), vertex 0"),
            "{message}"
        );
    }

    #[test]
    fn weights_without_bones_are_a_note() {
        let mut arrays = mesh_arrays(&[0.0]);
        arrays
            .floats("weights", &[2, 2], vec![0.5; 4])
            .expect("memory");
        let document = read_arrays(arrays).expect("a mesh all the same");
        assert!(
            document.skin.is_none() && document.skeleton.is_none(),
            "no bones"
        );
        let note = "Left out, because there is no array bone_rest: weights.";
        assert!(
            document.notes.iter().any(|n| n == note),
            "{:?}",
            document.notes
        );
    }
}
