//! A mesh as it is drawn: points split where normals or UVs differ, in parts of one material each.
//!
//! Files for engines repeat a point once for every normal, UV or material that meets there (a fox of 290 points has
//! 1728 vertices). A fit must see each point once, and the file must be written with its own vertices again. So a
//! [`DrawMesh`] keeps the file's vertices and, for each of them, the point of the [`TriMesh`](super::TriMesh) that
//! moves it.

/// The drawn form of a mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DrawMesh {
    /// Parts in file order.
    pub parts: Vec<DrawPart>,
}

/// Triangles of one material, with their own vertices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DrawPart {
    /// Name of the mesh that the part belongs to; parts in a row with one name form one mesh.
    pub mesh_name: String,
    /// Index into the materials that travel with the mesh.
    pub material: Option<usize>,
    /// The point that each drawn vertex is a copy of.
    pub points: Vec<u32>,
    /// Corners, as indices into this part's vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Unit normals in the rest pose; empty when the file has none.
    pub normals: Vec<[f32; 3]>,
    /// Tangents with handedness; empty when the file has none.
    pub tangents: Vec<[f32; 4]>,
    /// UV sets in order, `TEXCOORD_0` first.
    pub uvs: Vec<Vec<[f32; 2]>>,
    /// Colour sets in order, RGBA in linear light, `COLOR_0` first.
    pub colors: Vec<Vec<[f32; 4]>>,
    /// Attributes of the application that wrote the file (`_NAME` in glTF).
    pub custom: Vec<CustomAttribute>,
}

/// A per-vertex attribute that is passed on unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomAttribute {
    /// Name as in the file, with its leading underscore.
    pub name: String,
    /// The values.
    pub data: AttributeData,
}

/// Values of 1 to 4 numbers per vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeData {
    /// How many numbers each vertex has, 1 to 4.
    pub width: usize,
    /// `width` numbers for every vertex.
    pub values: Vec<f32>,
}

impl DrawPart {
    /// The part with other vertices, each a copy of one that it has, and triangles of those.
    ///
    /// # Panics
    /// When a copied vertex does not exist.
    pub(crate) fn with_copies(&self, copy_of: &[u32], triangles: Vec<[u32; 3]>) -> Self {
        fn copied<T: Copy>(values: &[T], copy_of: &[u32]) -> Vec<T> {
            match values.is_empty() {
                true => Vec::new(),
                false => copy_of.iter().map(|&v| values[v as usize]).collect(),
            }
        }
        let custom = |attribute: &CustomAttribute| {
            let AttributeData { width, values } = &attribute.data;
            let row = |&v: &u32| &values[v as usize * width..(v as usize + 1) * width];
            CustomAttribute {
                name: attribute.name.clone(),
                data: AttributeData {
                    width: *width,
                    values: copy_of.iter().flat_map(row).copied().collect(),
                },
            }
        };
        Self {
            mesh_name: self.mesh_name.clone(),
            material: self.material,
            points: copied(&self.points, copy_of),
            triangles,
            normals: copied(&self.normals, copy_of),
            tangents: copied(&self.tangents, copy_of),
            uvs: self.uvs.iter().map(|set| copied(set, copy_of)).collect(),
            colors: self.colors.iter().map(|set| copied(set, copy_of)).collect(),
            custom: self.custom.iter().map(custom).collect(),
        }
    }
}

impl DrawMesh {
    /// One part that draws every point once, without attributes.
    pub fn plain(name: impl Into<String>, vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        Self {
            parts: vec![DrawPart {
                mesh_name: name.into(),
                points: (0..vertex_count as u32).collect(),
                triangles: triangles.to_vec(),
                ..DrawPart::default()
            }],
        }
    }

    /// How many vertices are drawn, all parts together.
    pub fn vertex_count(&self) -> usize {
        self.parts.iter().map(|part| part.points.len()).sum()
    }

    /// The triangles of all parts, with corners as point numbers.
    pub fn point_triangles(&self) -> Vec<[u32; 3]> {
        self.parts
            .iter()
            .flat_map(|part| {
                let point = |v: u32| part.points[v as usize];
                part.triangles.iter().map(move |t| t.map(point))
            })
            .collect()
    }
}
