//! One primitive of a mesh: its triangles, its attributes, and its vertices in rest space.

use dermis::mesh::{AttributeData, CustomAttribute, DrawPart};
use dermis::skin::Weight;
use glam::{DAffine3, DMat3, DVec3};

use super::accessor::{Accessors, Component, Count};
use super::exact::{ExactRow, ExactRows, Shift};
use super::points::Vertices;
use super::schema::{self, Primitive, Schema};
use crate::Fault;
use crate::gltf::names::{Exact, Name};

/// The influences on a primitive's vertices, and their transform to rest space.
pub(super) struct Placement<'a> {
    /// Takes the file's coordinates to rest space.
    pub(super) rest_from_mesh: DAffine3,
    pub(super) influences: Influences,
    /// The exact model that the influences approximate.
    pub(super) exact: Option<ExactRows>,
    /// The coefficient of each morph target.
    pub(super) coefficients: &'a [usize],
}

/// How bones act on a primitive.
pub(super) enum Influences {
    /// The same influences for every vertex; empty in a file without motion.
    Same(Vec<Weight>),
    /// From `JOINTS_n` and `WEIGHTS_n`.
    PerVertex(dermis::skin::Rows<Weight>),
}

/// Content of the whole file that was left out or reinterpreted, for the notes.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    pub(super) undrawable: Vec<String>,
    pub(super) unskinned: Vec<String>,
    attributes: Vec<String>,
    spare_corners: Vec<String>,
    /// Why the plain weights were read instead of exact models, one reason each.
    pub(super) inexact: Vec<String>,
    not_finite: usize,
}

impl LeftOut {
    /// One sentence for each kind.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut list = |items: &[String], what: &str| {
            if !items.is_empty() {
                notes.push(format!("{what}: {}", schema::listed(items)));
            }
        };
        list(&self.undrawable, "left out, because they are not triangles");
        list(&self.attributes, "attributes left out");
        list(
            &self.spare_corners,
            "corners left out, because they do not make a whole triangle",
        );
        list(
            &self.unskinned,
            "primitives without joints on a node that has a skin, which move with the node instead",
        );
        list(
            &self.inexact,
            "the plain weights were read instead of the exact model, because",
        );
        if self.not_finite > 0 {
            notes.push(format!(
                "{} numbers in normals, tangents, UVs and colours were not finite and were set \
                 to zero",
                self.not_finite
            ));
        }
        notes
    }
}

/// How a primitive's corners form triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Triangles,
    Strip,
    Fan,
}

impl Mode {
    /// `None` for points and lines.
    fn of(primitive: &Primitive, label: &str) -> Result<Option<Self>, Fault> {
        match primitive.mode.unwrap_or(4) {
            0..=3 => Ok(None),
            4 => Ok(Some(Self::Triangles)),
            5 => Ok(Some(Self::Strip)),
            6 => Ok(Some(Self::Fan)),
            other => Err(Fault::malformed(
                label,
                "a mode of 0 to 6",
                other.to_string(),
            )),
        }
    }

    /// `None` also for primitives without positions.
    pub(super) fn of_drawn(primitive: &Primitive, label: &str) -> Result<Option<Self>, Fault> {
        let mode = Self::of(primitive, label)?;
        Ok(mode.filter(|_| primitive.attributes.contains_key("POSITION")))
    }

    /// Triangles in the order and orientation of glTF §3.7.2.1.
    fn triangles(self, corners: &[u32]) -> Vec<[u32; 3]> {
        match self {
            Self::Triangles => corners.as_chunks::<3>().0.to_vec(),
            Self::Strip => (corners.windows(3).enumerate())
                .map(|(i, w)| match i % 2 {
                    0 => [w[0], w[1], w[2]],
                    _ => [w[0], w[2], w[1]],
                })
                // Strips contain triangles without area to turn or join them.
                .filter(|[a, b, c]| a != b && b != c && c != a)
                .collect(),
            Self::Fan => {
                let rim = corners.get(1..).unwrap_or_default();
                rim.windows(2).map(|w| [w[0], w[1], corners[0]]).collect()
            }
        }
    }
}

/// Reads primitives of one file.
pub(super) struct Reader<'a> {
    pub(super) schema: &'a Schema,
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) left_out: LeftOut,
}

impl Reader<'_> {
    /// The positions of a primitive, as in the file.
    pub(super) fn positions(
        &self,
        primitive: &Primitive,
        label: &str,
    ) -> Result<Vec<DVec3>, Fault> {
        let Some(&accessor) = primitive.attributes.get("POSITION") else {
            return Err(Fault::malformed(label, "a POSITION attribute", "none"));
        };
        let role = format!("{label} POSITION");
        let positions = self
            .accessors
            .finite(accessor, &role, &["VEC3"], Count::Backed)?;
        Ok(vectors(&positions.values).collect())
    }

    /// Reads everything but the positions, and adds the vertices to those of the file.
    pub(super) fn part(
        &mut self,
        primitive: &Primitive,
        mode: Mode,
        label: &str,
        positions: &[DVec3],
        placement: &Placement<'_>,
        vertices: &mut Vertices,
    ) -> Result<DrawPart, Fault> {
        if let Some(material) = primitive.material {
            schema::get(&self.schema.materials, material, "material", label)?;
        }
        let mut part = DrawPart {
            material: primitive.material,
            triangles: self.triangles(primitive, mode, label, positions.len())?,
            ..DrawPart::default()
        };
        let original = self.attributes(primitive, label, positions.len(), &mut part)?;
        let rest_from_mesh = &placement.rest_from_mesh;
        if *rest_from_mesh != DAffine3::IDENTITY {
            place(&mut part, &rest_from_mesh.matrix3);
        }
        let targets = self.targets(primitive, label, positions.len())?;
        let mut deltas = Vec::new();
        for (v, &position) in positions.iter().enumerate() {
            deltas.clear();
            for (m, target) in targets.iter().enumerate() {
                let delta = target.as_ref().and_then(|t| t.as_chunks::<3>().0.get(v));
                let Some(delta) = delta.filter(|d| **d != [0.0; 3]) else {
                    continue;
                };
                let delta = rest_from_mesh.transform_vector3(DVec3::from(delta.map(f64::from)));
                if !delta.is_finite() {
                    return Err(Fault::malformed(
                        format!("{label} target {m}"),
                        "finite displacements in rest space",
                        format!("{delta} at vertex {v}"),
                    ));
                }
                deltas.push((placement.coefficients[m] as u32, delta));
            }
            // Copies of one point may be in meshes whose targets are in a different order.
            deltas.sort_by_key(|(coefficient, _)| *coefficient);
            let weights = match &placement.influences {
                Influences::Same(weights) => weights,
                Influences::PerVertex(rows) => rows.row(v),
            };
            let exact = placement.exact.as_ref();
            let mut exact = exact.map_or(ExactRow::None, |rows| rows.row(v));
            let shifts: Vec<Shift>;
            if let ExactRow::Linear(row, of_targets) = exact {
                // By coefficient; shifts of missing targets are left out.
                let coefficients = &placement.coefficients;
                let by_coefficient = of_targets.iter().filter_map(|shift| {
                    let of = *coefficients.get(shift.of as usize)? as u32;
                    Some(Shift { of, ..*shift })
                });
                shifts = by_coefficient.collect();
                exact = ExactRow::Linear(row, &shifts);
            }
            let position = rest_from_mesh.transform_point3(position);
            vertices.push(position, weights, &deltas, exact);
        }
        let kind = placement.exact.as_ref().map(|rows| match rows {
            ExactRows::Linear(..) => Exact::Linear,
            ExactRows::MultiWeight(..) => Exact::MultiWeight,
        });
        vertices.end_part(original, kind);
        Ok(part)
    }

    fn triangles(
        &mut self,
        primitive: &Primitive,
        mode: Mode,
        label: &str,
        vertex_count: usize,
    ) -> Result<Vec<[u32; 3]>, Fault> {
        let corners = match primitive.indices {
            None => (0..vertex_count as u32).collect(),
            Some(accessor) => {
                let types = [Component::U8, Component::U16, Component::U32];
                let role = format!("{label} indices");
                let count = Count::Backed;
                self.accessors
                    .integers(accessor, &role, "SCALAR", &types, count)?
            }
        };
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertex_count) {
            return Err(Fault::malformed(
                format!("indices of {label}"),
                format!("vertices below {vertex_count}"),
                vertex.to_string(),
            ));
        }
        if mode == Mode::Triangles && !corners.len().is_multiple_of(3) {
            let spare = corners.len() % 3;
            self.left_out
                .spare_corners
                .push(format!("{spare} of {label}"));
        }
        Ok(mode.triangles(&corners))
    }

    /// Fills all attributes of a part and returns the point numbers, when the file has them.
    fn attributes(
        &mut self,
        primitive: &Primitive,
        label: &str,
        vertex_count: usize,
        part: &mut DrawPart,
    ) -> Result<Option<Vec<f32>>, Fault> {
        let count = Count::Exactly(vertex_count);
        let mut original = None;
        for (name, &accessor) in &primitive.attributes {
            let role = format!("{label} {name}");
            if name == "NORMAL" {
                let values = self.cleaned(accessor, &role, &["VEC3"], count)?;
                part.normals = values.as_chunks().0.to_vec();
            } else if name == "TANGENT" {
                let values = self.cleaned(accessor, &role, &["VEC4"], count)?;
                part.tangents = values.as_chunks().0.to_vec();
            } else if Name::of(name) == Some(Name::Point)
                && matches!(self.accessors.shape(accessor), Some("SCALAR" | "VEC4"))
            {
                // VEC4 where other custom attributes are; the first component is the point.
                let shapes = ["SCALAR", "VEC4"];
                let floats = self.accessors.floats(accessor, &role, &shapes, count)?;
                original = Some(
                    floats
                        .values
                        .iter()
                        .step_by(floats.width)
                        .copied()
                        .collect(),
                );
            } else if Name::of(name).is_some_and(|name| name != Name::Point) {
                // Read together with the influences.
            } else if name.starts_with('_') {
                let shape = self.accessors.shape(accessor).unwrap_or_default();
                if shape.starts_with("MAT") {
                    self.left_out.attributes.push(format!("{role} ({shape})"));
                    continue;
                }
                let shapes = ["SCALAR", "VEC2", "VEC3", "VEC4"];
                let floats = self.accessors.floats(accessor, &role, &shapes, count)?;
                part.custom.push(CustomAttribute {
                    name: name.clone(),
                    data: AttributeData {
                        width: floats.width,
                        values: floats.values,
                    },
                });
            }
        }
        let find = |name: String| primitive.attributes.get(&name).copied();
        for n in 0.. {
            let Some(accessor) = find(format!("TEXCOORD_{n}")) else {
                break;
            };
            let role = format!("{label} TEXCOORD_{n}");
            let values = self.cleaned(accessor, &role, &["VEC2"], count)?;
            part.uvs.push(values.as_chunks().0.to_vec());
        }
        for n in 0.. {
            let Some(accessor) = find(format!("COLOR_{n}")) else {
                break;
            };
            let role = format!("{label} COLOR_{n}");
            let values = self.cleaned(accessor, &role, &["VEC3", "VEC4"], count)?;
            part.colors
                .push(if self.accessors.shape(accessor) == Some("VEC4") {
                    values.as_chunks().0.to_vec()
                } else {
                    let colors = values.as_chunks().0.iter();
                    colors.map(|&[r, g, b]| [r, g, b, 1.0]).collect()
                });
        }
        for name in primitive.attributes.keys() {
            let beyond = |prefix: &str, read: usize| {
                let n = name.strip_prefix(prefix)?.parse::<usize>();
                Some(n.is_ok_and(|n| n < read))
            };
            let known = beyond("TEXCOORD_", part.uvs.len())
                .or_else(|| beyond("COLOR_", part.colors.len()))
                .unwrap_or_else(|| {
                    matches!(&**name, "POSITION" | "NORMAL" | "TANGENT")
                        || ["_", "JOINTS_", "WEIGHTS_"]
                            .iter()
                            .any(|p| name.starts_with(p))
                });
            if !known {
                self.left_out.attributes.push(format!("{label} {name}"));
            }
        }
        Ok(original)
    }

    /// Numbers of an attribute that only affects the look; those that are not finite become zero.
    fn cleaned(
        &mut self,
        accessor: usize,
        role: &str,
        shapes: &[&str],
        count: Count,
    ) -> Result<Vec<f32>, Fault> {
        let mut values = self.accessors.floats(accessor, role, shapes, count)?.values;
        for value in values.iter_mut().filter(|v| !v.is_finite()) {
            *value = 0.0;
            self.left_out.not_finite += 1;
        }
        Ok(values)
    }

    /// The displacements of each morph target; `None` where a target moves no positions.
    fn targets(
        &self,
        primitive: &Primitive,
        label: &str,
        vertex_count: usize,
    ) -> Result<Vec<Option<Vec<f32>>>, Fault> {
        let mut targets = Vec::with_capacity(primitive.targets.len());
        for (k, target) in primitive.targets.iter().enumerate() {
            let Some(&accessor) = target.get("POSITION") else {
                targets.push(None);
                continue;
            };
            let role = format!("{label} target {k} POSITION");
            let count = Count::Exactly(vertex_count);
            let deltas = self.accessors.finite(accessor, &role, &["VEC3"], count)?;
            targets.push(Some(deltas.values));
        }
        Ok(targets)
    }
}

fn vectors(values: &[f32]) -> impl Iterator<Item = DVec3> {
    let (vectors, _) = values.as_chunks::<3>();
    vectors.iter().map(|v| DVec3::from(v.map(f64::from)))
}

/// Turns a part's normals, tangents and triangles with the matrix that places its positions.
fn place(part: &mut DrawPart, matrix: &DMat3) {
    // Normals follow the cofactor matrix, which unlike the inverse transpose always exists.
    let cofactor = DMat3::from_cols(
        matrix.y_axis.cross(matrix.z_axis),
        matrix.z_axis.cross(matrix.x_axis),
        matrix.x_axis.cross(matrix.y_axis),
    );
    let mirrors = matrix.determinant() < 0.0;
    let sign = if mirrors { -1.0 } else { 1.0 };
    let turn = |m: &DMat3, v: [f32; 3], sign: f64| {
        let v = *m * DVec3::from(v.map(f64::from)) * sign;
        v.normalize_or_zero().to_array().map(|x| x as f32)
    };
    for normal in &mut part.normals {
        *normal = turn(&cofactor, *normal, sign);
    }
    for tangent in &mut part.tangents {
        let [x, y, z, w] = *tangent;
        let [x, y, z] = turn(matrix, [x, y, z], 1.0);
        *tangent = [x, y, z, w * sign as f32];
    }
    if mirrors {
        // Keeps the outside of the surface outside: glTF flips the winding of mirrored nodes.
        for [_, b, c] in &mut part.triangles {
            std::mem::swap(b, c);
        }
    }
}
