//! Faces, and drawn vertices: corners that differ in normal, UV or colour are vertices of their own.

use dermis::TriMesh;
use dermis::mesh::{DrawMesh, DrawPart, Polygons};
use glam::{DMat3, DVec3};
use ufbx::{Face, Mesh};

use crate::FbxError;
use crate::instances::Instance;
use crate::nodes::vec3;

/// Points, faces and drawn vertices of all meshes.
pub(crate) struct Drawn {
    pub(crate) mesh: TriMesh,
    pub(crate) polygons: Polygons,
    pub(crate) draw: DrawMesh,
    /// For each material of the document, its number in the scene.
    pub(crate) materials: Vec<u32>,
}

/// Reads all meshes in rest space.
pub(crate) fn read(instances: &[Instance<'_>]) -> Result<Drawn, FbxError> {
    let positions: Vec<DVec3> = instances
        .iter()
        .flat_map(Instance::rest_positions)
        .collect();
    let (mut counts, mut all_corners) = (Vec::new(), Vec::new());
    let mut parts = Vec::new();
    let mut materials = Vec::new();
    for instance in instances {
        let faces = Faces::of(instance);
        for face in &faces.list {
            counts.push(face.num_indices);
            all_corners.extend(faces.corners(*face).map(|c| faces.point(c)));
        }
        faces.add_parts(&mut parts, &mut materials);
    }
    let polygons = Polygons::new(counts, all_corners, positions.len())?;
    Ok(Drawn {
        mesh: TriMesh::new(positions, polygons.triangulate())?,
        polygons,
        draw: DrawMesh { parts },
        materials,
    })
}

/// The faces of a mesh that have an area.
struct Faces<'a> {
    instance: &'a Instance<'a>,
    mesh: &'a Mesh,
    list: Vec<Face>,
    /// The number of each face in the file.
    numbers: Vec<usize>,
    /// A mirrored mesh shows its faces from behind, so they are turned round.
    is_mirrored: bool,
}

/// A corner as it is drawn: its point, and the bits of its attributes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Vertex {
    point: u32,
    attributes: Vec<u32>,
}

impl<'a> Faces<'a> {
    fn of(instance: &'a Instance<'a>) -> Self {
        let mesh = instance.mesh;
        let corner_count = mesh.vertex_indices.len();
        let is_face = |face: &Face| {
            let end = face.index_begin as usize + face.num_indices as usize;
            face.num_indices >= 3 && end <= corner_count
        };
        let faces = mesh.faces.iter().copied().enumerate();
        let (numbers, list) = faces.filter(|(_, face)| is_face(face)).unzip();
        Self {
            instance,
            mesh,
            list,
            numbers,
            is_mirrored: instance.rest_from_geometry.matrix3.determinant() < 0.0,
        }
    }

    /// The corners of a face, counter-clockwise from outside; the first stays the first.
    fn corners(&self, face: Face) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = (face.index_begin as usize, face.num_indices as usize);
        let is_mirrored = self.is_mirrored;
        (0..count).map(move |k| match is_mirrored {
            true => first + (count - k) % count,
            false => first + k,
        })
    }

    fn point(&self, corner: usize) -> u32 {
        (self.instance.first_point as u32).saturating_add(self.mesh.vertex_indices[corner])
    }

    /// One part for each material, by first use.
    fn add_parts(&self, parts: &mut Vec<DrawPart>, materials: &mut Vec<u32>) {
        if self.list.is_empty() {
            let first = self.instance.first_point as u32;
            parts.push(DrawPart {
                mesh_name: self.instance.name().to_owned(),
                points: (first..first + self.mesh.num_vertices as u32).collect(),
                ..DrawPart::default()
            });
            return;
        }
        let mut groups: Vec<(Option<u32>, Vec<Face>)> = Vec::new();
        for (face, &number) in self.list.iter().zip(&self.numbers) {
            let material = self.material(number);
            match groups.iter_mut().find(|(of, _)| *of == material) {
                Some((_, faces)) => faces.push(*face),
                None => groups.push((material, vec![*face])),
            }
        }
        for (material, faces) in groups {
            let material = material.map(|number| {
                let known = materials.iter().position(|&m| m == number);
                known.unwrap_or_else(|| {
                    materials.push(number);
                    materials.len() - 1
                })
            });
            parts.push(self.part(material, &faces));
        }
    }

    /// The material of a face, by its number in the scene; nodes may have materials of their own.
    fn material(&self, face: usize) -> Option<u32> {
        let list = match self.instance.node.materials.count {
            0 => &self.mesh.materials,
            _ => &self.instance.node.materials,
        };
        let slot = self.mesh.face_material.get(face).copied().unwrap_or(0);
        list.get(slot as usize)
            .map(|material| material.element.typed_id)
    }

    fn part(&self, material: Option<usize>, faces: &[Face]) -> DrawPart {
        let corners: Vec<usize> = faces.iter().flat_map(|&face| self.corners(face)).collect();
        let of_corner: Vec<Vertex> = corners.iter().map(|&c| self.vertex(c)).collect();
        // By point, so that neighbours in the file stay neighbours.
        let mut order: Vec<usize> = (0..corners.len()).collect();
        order.sort_by(|&a, &b| of_corner[a].cmp(&of_corner[b]));
        let mut vertex_of = vec![0u32; corners.len()];
        let mut firsts: Vec<usize> = Vec::new();
        for &k in &order {
            if firsts
                .last()
                .is_none_or(|&last| of_corner[last] != of_corner[k])
            {
                firsts.push(k);
            }
            vertex_of[k] = firsts.len() as u32 - 1;
        }
        let mut triangles = Vec::new();
        let mut start = 0;
        for face in faces {
            let own = &vertex_of[start..start + face.num_indices as usize];
            start += own.len();
            triangles.extend(own[1..].windows(2).map(|edge| [own[0], edge[0], edge[1]]));
        }
        let firsts = || firsts.iter().map(|&k| corners[k]);
        let uv_sets = self.mesh.uv_sets.iter();
        let color_sets = self.mesh.color_sets.iter();
        DrawPart {
            mesh_name: self.instance.name().to_owned(),
            material,
            points: firsts().map(|c| self.point(c)).collect(),
            triangles,
            normals: match self.mesh.vertex_normal.exists {
                true => self.normals(firsts()),
                false => Vec::new(),
            },
            uvs: uv_sets
                .map(|set| firsts().map(|c| uv(&set.vertex_uv, c)).collect())
                .collect(),
            colors: (color_sets.map(|set| firsts().map(|c| color(&set.vertex_color, c)).collect()))
                .collect(),
            ..DrawPart::default()
        }
    }

    fn vertex(&self, corner: usize) -> Vertex {
        let mesh = self.mesh;
        let mut attributes = Vec::new();
        if mesh.vertex_normal.exists {
            let normal = mesh.vertex_normal[corner];
            attributes.extend([normal.x, normal.y, normal.z].map(|x| (x as f32).to_bits()));
        }
        for set in &mesh.uv_sets {
            attributes.extend(uv(&set.vertex_uv, corner).map(f32::to_bits));
        }
        for set in &mesh.color_sets {
            attributes.extend(color(&set.vertex_color, corner).map(f32::to_bits));
        }
        Vertex {
            point: self.point(corner),
            attributes,
        }
    }

    /// Unit normals in rest space; none when one of them has no direction.
    fn normals(&self, corners: impl Iterator<Item = usize>) -> Vec<[f32; 3]> {
        let matrix = &self.instance.rest_from_geometry.matrix3;
        // The cofactors, which turn normals as the inverse transpose does, and exist for flat meshes, too.
        let cofactors = DMat3::from_cols(
            matrix.y_axis.cross(matrix.z_axis),
            matrix.z_axis.cross(matrix.x_axis),
            matrix.x_axis.cross(matrix.y_axis),
        );
        let sign = if self.is_mirrored { -1.0 } else { 1.0 };
        let normal = |corner: usize| {
            let turned = cofactors * vec3(self.mesh.vertex_normal[corner]) * sign;
            turned.try_normalize().map(|n| n.as_vec3().to_array())
        };
        corners
            .map(normal)
            .collect::<Option<_>>()
            .unwrap_or_default()
    }
}

/// FBX counts v from the bottom of a picture, glTF from the top.
fn uv(uvs: &ufbx::VertexVec2, corner: usize) -> [f32; 2] {
    match uvs.exists {
        true => [uvs[corner].x as f32, (1.0 - uvs[corner].y) as f32],
        false => [0.0; 2],
    }
}

/// Colours are painted as they are seen on a screen (sRGB); documents have them in linear light.
fn color(colors: &ufbx::VertexVec4, corner: usize) -> [f32; 4] {
    if !colors.exists {
        return [1.0; 4];
    }
    let c = colors[corner];
    let [r, g, b] = [c.x, c.y, c.z].map(|c| linear_from_srgb(c) as f32);
    [r, g, b, c.w as f32]
}

fn linear_from_srgb(c: f64) -> f64 {
    match c <= 0.04045 {
        true => c / 12.92,
        false => ((c + 0.055) / 1.055).powf(2.4),
    }
}
