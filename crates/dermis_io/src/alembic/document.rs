//! The meshes of a file as one [`Document`]: a mesh, a frame for each time, and drawn parts.

use std::collections::HashMap;
use std::ops::Range;

use dermis::mesh::{DrawMesh, DrawPart, weld_by_key};
use glam::{DMat3, DVec3};
use serde_json::json;

use super::archive::Archive;
use super::mesh::{Attribute, Mesh};
use super::scene::{Scene, Timeline};
use crate::geometry::{Geometry, counted, frame_name, unit};
use crate::point_cache::frames_per_second;
use crate::{Document, Fault, FileFacts, Frame, Materials};

/// Reads an Alembic file from its bytes.
///
/// All meshes become one, each with parts of its own name. The first time at which something was sampled is the rest mesh.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, Fault> {
    let archive = Archive::open(bytes)?;
    let mut scene = Scene::read(&archive)?;
    let timeline = scene.timeline();
    let mut notes = std::mem::take(&mut scene.notes);
    notes.extend(timeline.notes());
    scene.plan_frames(timeline.times.len() + 1)?;

    let first = timeline.times.first().copied().unwrap_or_default();
    let frames = read_frames(&scene, &timeline)?;
    let rest = scene.points(first)?;
    let placed = scene.placed(first)?;
    let names = names(&scene.meshes);
    let mut assembly = Assembly::default();
    for (mesh, name) in scene.meshes.iter().zip(names) {
        let model_from_mesh = mesh
            .node
            .map_or(DMat3::IDENTITY, |node| placed[node].matrix3);
        assembly.add(mesh, name, &model_from_mesh);
    }
    notes.extend(assembly.note());
    let Geometry { mesh, polygons } = Geometry::new(rest, assembly.counts, assembly.corners)?;
    Ok(Document {
        mesh,
        polygons,
        draw: DrawMesh {
            parts: assembly.parts,
        },
        materials: assembly.materials,
        is_motion: !frames.is_empty(),
        frames_per_second: timeline.rate(),
        frames,
        facts: FileFacts {
            mesh_count: scene.meshes.len(),
            ..FileFacts::default()
        },
        notes,
        ..Document::default()
    })
}

/// A frame for each time; none for a single one, which the rest mesh shows.
fn read_frames(scene: &Scene, timeline: &Timeline) -> Result<Vec<Frame>, Fault> {
    if timeline.times.len() < 2 {
        return Ok(Vec::new());
    }
    let times = timeline.times.iter().enumerate();
    let frame = |(k, &time)| {
        Ok(Frame {
            name: frame_name(k),
            positions: scene.points(time)?,
        })
    };
    times.map(frame).collect()
}

impl Timeline {
    /// Frames per second, where all are evenly spaced and the file says their times.
    fn rate(&self) -> Option<f64> {
        match self.times.len() > 1 && self.is_in_seconds {
            true => frames_per_second(&self.times),
            false => None,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_mixed {
            let note = "Not all objects were sampled at the same times: what lies between samples is taken from the \
                straight line.";
            notes.push(note.to_owned());
        }
        if let [first, .., last] = self.times[..]
            && self.is_in_seconds
            && self.rate().is_none()
        {
            let count = self.times.len();
            notes.push(format!(
                "The {count} frames, from {first:.3} s to {last:.3} s, are not evenly spaced: their times are left out."
            ));
        }
        notes
    }
}

/// What each mesh is called: its own name, with those of its ancestors where several have that.
fn names(meshes: &[Mesh]) -> Vec<String> {
    let mut count_of_name: HashMap<&str, usize> = HashMap::new();
    for mesh in meshes {
        *count_of_name.entry(&mesh.name).or_default() += 1;
    }
    let name = |mesh: &Mesh| match count_of_name[mesh.name.as_str()] {
        1 => mesh.name.clone(),
        _ => mesh.path.trim_start_matches('/').to_owned(),
    };
    meshes.iter().map(name).collect()
}

/// All meshes so far as one.
#[derive(Default)]
struct Assembly {
    counts: Vec<u32>,
    corners: Vec<u32>,
    parts: Vec<DrawPart>,
    materials: Materials,
    material_of_name: HashMap<String, usize>,
    point_count: u32,
    /// Faces of one or two corners, which show nothing.
    thin_faces: usize,
}

/// A corner of a face: its point in the mesh, and its values where there are some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Corner {
    point: u32,
    uv: u32,
    normal: u32,
}

impl Assembly {
    /// Adds a mesh whose directions a matrix takes to the model's.
    fn add(&mut self, mesh: &Mesh, name: String, model_from_mesh: &DMat3) {
        // A mirror turns faces around, as Alembic's order does: both together change nothing.
        let is_mirrored = model_from_mesh.determinant() < 0.0;
        let corner = |k: usize| Corner {
            point: mesh.corners[k],
            uv: mesh.uvs.as_ref().map_or(0, |a| a.of_corner[k]),
            normal: mesh.normals.as_ref().map_or(0, |a| a.of_corner[k]),
        };
        let mut corners: Vec<Corner> = (0..mesh.corners.len()).map(corner).collect();
        let material_of_face = self.materials_of(mesh);
        let mut faces_of_material: Vec<(Option<usize>, Vec<Range<usize>>)> = Vec::new();
        let mut start = 0;
        for (&count, &material) in mesh.counts.iter().zip(&material_of_face) {
            let face = start..start + count as usize;
            start = face.end;
            if count < 3 {
                self.thin_faces += 1;
                continue;
            }
            if !is_mirrored {
                // The first corner stays the first, so that quads are cut where other programs cut them.
                corners[face.start + 1..face.end].reverse();
            }
            self.counts.push(count);
            let points = corners[face.clone()].iter();
            self.corners
                .extend(points.map(|c| self.point_count + c.point));
            match faces_of_material.iter_mut().find(|(m, _)| *m == material) {
                Some((_, faces)) => faces.push(face),
                None => faces_of_material.push((material, vec![face])),
            }
        }
        let is_plain = mesh.uvs.is_none() && mesh.normals.is_none() && faces_of_material.len() < 2;
        for (material, faces) in faces_of_material {
            let mut part = match is_plain {
                // Nothing splits a point, so the drawn vertices are the points, including unused ones.
                true => plain_part(&corners, &faces, mesh.point_count),
                false => split_part(&corners, &faces, mesh, model_from_mesh),
            };
            part.mesh_name.clone_from(&name);
            part.material = material;
            for point in &mut part.points {
                *point += self.point_count;
            }
            self.parts.push(part);
        }
        self.point_count += mesh.point_count as u32;
    }

    /// The material of each face: the first of the mesh's sets that has it.
    fn materials_of(&mut self, mesh: &Mesh) -> Vec<Option<usize>> {
        let mut of_face = vec![None; mesh.counts.len()];
        for set in &mesh.face_sets {
            let material = match self.material_of_name.get(&set.name) {
                Some(&material) => material,
                None => {
                    let all = &mut self.materials.materials;
                    // Metal is glTF's default, and Alembic does not say what it is.
                    all.push(json!({
                        "name": set.name,
                        "pbrMetallicRoughness": { "metallicFactor": 0.0 },
                    }));
                    self.material_of_name
                        .insert(set.name.clone(), all.len() - 1);
                    all.len() - 1
                }
            };
            for &face in &set.faces {
                of_face[face as usize].get_or_insert(material);
            }
        }
        of_face
    }

    fn note(&self) -> Option<String> {
        let what = counted(self.thin_faces, "face", "faces");
        (self.thin_faces > 0).then(|| format!("{what} left out, with fewer than three corners."))
    }
}

/// A part that draws every point of a mesh once.
fn plain_part(corners: &[Corner], faces: &[Range<usize>], point_count: usize) -> DrawPart {
    DrawPart {
        points: (0..point_count as u32).collect(),
        triangles: fans(faces, |k| corners[k].point),
        ..DrawPart::default()
    }
}

/// A part with a vertex for each point and the values that it has there.
fn split_part(
    corners: &[Corner],
    faces: &[Range<usize>],
    mesh: &Mesh,
    model_from_mesh: &DMat3,
) -> DrawPart {
    let mut used: Vec<usize> = faces.iter().cloned().flatten().collect();
    // Vertices are numbered by point, not by first use: neighbours in the file stay neighbours.
    used.sort_by_key(|&k| corners[k]);
    let weld = weld_by_key(used.iter().map(|&k| corners[k]));
    let mut vertex_of_corner = vec![0; corners.len()];
    for (&k, &vertex) in used.iter().zip(&weld.point_of_vertex) {
        vertex_of_corner[k] = vertex;
    }
    let first = weld.first_vertex.iter().map(|&v| corners[used[v as usize]]);
    let vertices: Vec<Corner> = first.collect();
    // Alembic counts v from the bottom of a picture, glTF from the top.
    let uv = |Attribute { values, .. }: &Attribute<2>| {
        let uv = |c: &Corner| values[c.uv as usize];
        let from_top = |[u, v]: [f64; 2]| [u as f32, (1.0 - v) as f32];
        vertices.iter().map(|c| from_top(uv(c))).collect()
    };
    let cofactors = DMat3::from_cols(
        model_from_mesh.y_axis.cross(model_from_mesh.z_axis),
        model_from_mesh.z_axis.cross(model_from_mesh.x_axis),
        model_from_mesh.x_axis.cross(model_from_mesh.y_axis),
    );
    let sign = model_from_mesh.determinant().signum();
    let normal = |Attribute { values, .. }: &Attribute<3>| {
        let normal = |c: &Corner| DVec3::from_array(values[c.normal as usize]);
        let turned = |c| unit((sign * (cofactors * normal(c))).to_array());
        vertices.iter().map(turned).collect()
    };
    DrawPart {
        points: vertices.iter().map(|c| c.point).collect(),
        triangles: fans(faces, |k| vertex_of_corner[k]),
        normals: mesh.normals.as_ref().map(normal).unwrap_or_default(),
        uvs: mesh.uvs.iter().map(uv).collect(),
        ..DrawPart::default()
    }
}

/// Faces cut into triangles around their first corners.
fn fans(faces: &[Range<usize>], vertex: impl Fn(usize) -> u32) -> Vec<[u32; 3]> {
    let fan = |face: &Range<usize>| {
        let first = face.start;
        (first + 1..face.end - 1).map(move |k| [first, k, k + 1])
    };
    let corners = faces.iter().flat_map(fan);
    corners.map(|triangle| triangle.map(&vertex)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_said_only_for_even_times_in_seconds() {
        let timeline = |times: &[f64], is_in_seconds| Timeline {
            times: times.to_vec(),
            is_in_seconds,
            is_mixed: false,
        };
        for (times, is_in_seconds, rate, notes) in [
            (&[0.5, 0.75, 1.0][..], true, Some(4.0), 0),
            (&[0.0, 1.0, 2.0], false, None, 0),
            (&[0.0, 1.0, 5.0], true, None, 1),
            (&[3.0], true, None, 0),
            (&[], false, None, 0),
        ] {
            let timeline = timeline(times, is_in_seconds);
            assert_eq!(timeline.rate(), rate, "of {times:?}");
            assert_eq!(timeline.notes().len(), notes, "notes on {times:?}");
        }
    }
}
