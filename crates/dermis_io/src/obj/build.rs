//! Parsed OBJ lists to a [`Document`]: points in file order, drawn vertices split per part.

use std::collections::HashMap;
use std::path::Path;

use dermis::mesh::{DrawMesh, DrawPart, weld_by_key};

use super::material::materials;
use super::parse::{Corner, NONE, ObjData, parse};
use crate::format::stem;
use crate::geometry::{Geometry, counted, linear_from_srgb, unit};
use crate::{Document, Fault, FileFacts};

/// Reads an OBJ file from its bytes; a material library is looked for beside `path`.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Document, Fault> {
    let mut data = parse(bytes)?;
    let mut notes = std::mem::take(&mut data.notes);
    let Geometry { mesh, polygons } = geometry(&mut data)?;
    let (groups, material_names) = group_faces(&data, &stem(path));
    let materials = materials(path, &material_names, &data.libraries, &mut notes);
    let draw = draw_mesh(
        &data,
        groups,
        mesh.vertex_count(),
        mesh.triangles(),
        &mut notes,
    );

    let mut names: Vec<&str> = draw.parts.iter().map(|p| p.mesh_name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let facts = FileFacts {
        mesh_count: names.len(),
        ..FileFacts::default()
    };
    Ok(Document {
        mesh,
        polygons,
        draw,
        materials,
        facts,
        notes,
        ..Document::default()
    })
}

/// Points and faces alone: a sequence needs no more of its other files.
pub(crate) fn read_geometry(bytes: &[u8]) -> Result<Geometry, Fault> {
    geometry(&mut parse(bytes)?)
}

/// Moves the positions out of `data`, and copies the rest.
fn geometry(data: &mut ObjData) -> Result<Geometry, Fault> {
    if data.positions.is_empty() {
        return Err(Fault::malformed("file", "vertices (`v` lines)", "none"));
    }
    Geometry::new(
        std::mem::take(&mut data.positions),
        data.counts.clone(),
        data.corners.iter().map(|c| c.point).collect(),
    )
}

/// Faces that are drawn together.
struct Group {
    name: String,
    material: Option<usize>,
    /// Corners of each face, as ranges of the file's corners.
    faces: Vec<std::ops::Range<usize>>,
}

/// Sorts faces by name and material, in order of first appearance, and lists the materials.
fn group_faces(data: &ObjData, default_name: &str) -> (Vec<Group>, Vec<String>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of_key: HashMap<(&str, Option<usize>), usize> = HashMap::new();
    let mut materials: Vec<String> = Vec::new();
    let mut material_of_name: HashMap<&str, usize> = HashMap::new();
    let mut start = 0;
    let ends = data.sections[1.min(data.sections.len())..]
        .iter()
        .map(|next| next.first_face)
        .chain([data.counts.len()]);
    for (section, end) in data.sections.iter().zip(ends) {
        let name = section.name.as_deref().unwrap_or(default_name);
        let material = section.material.as_deref().map(|name| {
            *material_of_name.entry(name).or_insert_with(|| {
                materials.push(name.to_owned());
                materials.len() - 1
            })
        });
        let group = *group_of_key.entry((name, material)).or_insert_with(|| {
            groups.push(Group {
                name: name.to_owned(),
                material,
                faces: Vec::new(),
            });
            groups.len() - 1
        });
        for &count in &data.counts[section.first_face..end] {
            let range = start..start + count as usize;
            start = range.end;
            groups[group].faces.push(range);
        }
    }
    if groups.is_empty() {
        groups.push(Group {
            name: default_name.to_owned(),
            material: None,
            faces: Vec::new(),
        });
    }
    (groups, materials)
}

fn draw_mesh(
    data: &ObjData,
    groups: Vec<Group>,
    vertex_count: usize,
    triangles: &[[u32; 3]],
    notes: &mut Vec<String>,
) -> DrawMesh {
    let splits = |c: &Corner| c.uv != NONE || c.normal != NONE;
    if let [group] = groups.as_slice()
        && !data.corners.iter().any(splits)
    {
        // No UVs or normals split a point, so the drawn vertices are the points, including unused ones.
        let mut draw = DrawMesh::plain(&group.name, vertex_count, triangles);
        draw.parts[0].material = group.material;
        draw.parts[0].colors = colors(data, &draw.parts[0].points);
        return draw;
    }
    let mut partial = 0;
    let parts = groups
        .into_iter()
        .map(|group| draw_part(data, group, &mut partial))
        .collect();
    if partial > 0 {
        let what = counted(partial, "part", "parts");
        notes.push(format!(
            "{what} only partly covered by UVs or normals: missing UVs are 0 0, such normals are left out."
        ));
    }
    DrawMesh { parts }
}

fn draw_part(data: &ObjData, group: Group, partial: &mut usize) -> DrawPart {
    let corners = |range: &std::ops::Range<usize>| &data.corners[range.clone()];
    let weld = weld_by_key(group.faces.iter().flat_map(corners).copied());
    // Number vertices by point, not by first use: neighbours in the file stay neighbours.
    let all: Vec<Corner> = group.faces.iter().flat_map(corners).copied().collect();
    let first = |v: u32| all[weld.first_vertex[v as usize] as usize];
    let mut order: Vec<u32> = (0..weld.first_vertex.len() as u32).collect();
    order.sort_unstable_by_key(|&v| first(v));
    let mut rank = vec![0; order.len()];
    for (new, &old) in (0..).zip(&order) {
        rank[old as usize] = new;
    }
    let vertices: Vec<Corner> = order.iter().map(|&v| first(v)).collect();

    let mut triangles = Vec::new();
    let mut start = 0;
    for face in &group.faces {
        let of_face = &weld.point_of_vertex[start..start + face.len()];
        start += face.len();
        let vertex = |k: usize| rank[of_face[k] as usize];
        triangles.extend((1..face.len() - 1).map(|k| [vertex(0), vertex(k), vertex(k + 1)]));
    }

    let with_uv = vertices.iter().filter(|c| c.uv != NONE).count();
    let with_normal = vertices.iter().filter(|c| c.normal != NONE).count();
    let incomplete = |n: usize| n > 0 && n < vertices.len();
    *partial += usize::from(incomplete(with_uv) || incomplete(with_normal));
    let uv = |c: &Corner| match data.uvs.get(c.uv as usize) {
        // OBJ counts v from the bottom of a picture, glTF from the top.
        Some(&[u, v]) => [u as f32, (1.0 - v) as f32],
        None => [0.0; 2],
    };
    let normal = |c: &Corner| data.normals.get(c.normal as usize).map(|&n| unit(n));
    let points: Vec<u32> = vertices.iter().map(|c| c.point).collect();
    DrawPart {
        mesh_name: group.name,
        material: group.material,
        triangles,
        normals: (vertices.iter().map(normal).collect::<Option<_>>()).unwrap_or_default(),
        uvs: match with_uv {
            0 => Vec::new(),
            _ => vec![vertices.iter().map(uv).collect()],
        },
        colors: colors(data, &points),
        points,
        ..DrawPart::default()
    }
}

fn colors(data: &ObjData, points: &[u32]) -> Vec<Vec<[f32; 4]>> {
    if data.colors.is_empty() {
        return Vec::new();
    }
    let color = |&point: &u32| {
        let [r, g, b] = data.colors[point as usize].map(|c| linear_from_srgb(c) as f32);
        [r, g, b, 1.0]
    };
    vec![points.iter().map(color).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        read(Path::new("folder/cube.obj"), text.as_bytes()).expect("valid OBJ")
    }

    /// ```text
    ///  4 --- 3 --- 6     a quad and a triangle, 1 2 3 4 and 2 5 3,
    ///  |     |  /        that meet at 2-3 with different UVs
    ///  1 --- 2 --- 5
    /// ```
    const STRIP: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\n\
        vt 0 0\nvt 1 0.25\nvn 0 0 2\n\
        f 1/1/1 2/1/1 3/1/1 4/1/1\nf 2/2/1 5/2/1 3/2/1\n";

    #[test]
    fn points_stay_whole_and_drawn_vertices_split_at_seams() {
        let document = document(STRIP);
        assert_eq!(document.mesh.vertex_count(), 6, "the loose point is kept");
        let polygons = document.polygons.as_ref().expect("a quad is no triangle");
        assert_eq!(polygons.counts, [4, 3], "the quad stays a quad");
        let part = &document.draw.parts[0];
        assert_eq!(part.mesh_name, "cube", "named after the file");
        assert_eq!(part.points, [0, 1, 1, 2, 2, 3, 4], "the seam is double");
        assert_eq!(part.uvs[0][2], [1.0, 0.75], "v counts from the top");
        assert_eq!(part.normals[0], [0.0, 0.0, 1.0], "normals have length 1");
        assert_eq!(
            document.draw.point_triangles(),
            document.mesh.triangles(),
            "both forms have the same triangles"
        );
    }

    #[test]
    fn faces_of_one_object_and_material_are_one_part_even_when_apart_in_the_file() {
        let document = document(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\nusemtl b\nf 2 3 1\nusemtl a\nf 3 1 2\n\
             g tail\nf 1 3 2\n",
        );
        let parts: Vec<_> = (document.draw.parts.iter())
            .map(|p| (p.mesh_name.as_str(), p.material, p.triangles.len()))
            .collect();
        let expected = [
            ("cube", Some(0), 2),
            ("cube", Some(1), 1),
            ("tail", Some(0), 1),
        ];
        assert_eq!(parts, expected, "one part per name and material");
        assert_eq!(
            document.materials.materials[1]["name"], "b",
            "plain materials"
        );
        assert_eq!(document.facts.mesh_count, 2, "cube and tail");
    }

    #[test]
    fn without_uvs_the_drawn_vertices_are_the_points() {
        let document = document("v 5 5 5\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 4 2 3\n");
        assert_eq!(document.draw.parts[0].points, [0, 1, 2, 3], "in file order");
        assert!(document.polygons.is_none(), "triangles need no polygons");
    }

    #[test]
    fn a_part_with_only_some_uvs_or_normals_gets_a_note() {
        let document = document("v 0 0 0\nvt 1 1\nvn 0 0 1\nf 1/1 1 1//1\n");
        assert!(document.draw.parts[0].normals.is_empty(), "no half normals");
        assert_eq!(document.draw.parts[0].uvs[0].len(), 3, "missing UVs are 0");
        assert!(
            document.notes[0].starts_with("1 part is only"),
            "{:?}",
            document.notes
        );
    }

    #[test]
    fn a_file_without_points_is_refused() {
        let error = read(Path::new("a.obj"), b"hello\n\x00\xff").expect_err("no mesh");
        assert!(error.to_string().contains("`v` lines"), "{error}");
    }
}
