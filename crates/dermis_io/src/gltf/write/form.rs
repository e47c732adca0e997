//! The full character and its levels: what each of them draws, and the meshes that it adds to the file.

use std::borrow::Cow;
use std::ops::Range;

use dermis::document::BoundsRecord;
use dermis::mesh::{Ball, DrawPart, enclosing_ball_of_balls, vertex_normals};
use dermis::rig::BoneId;
use dermis::skin::{SsdProgram, VertexProgram};
use dermis::{Skin, TriMesh};
use gltf_json::extras::RawValue;
use gltf_json::mesh::Primitive;
use gltf_json::validation::Checked::Valid;
use gltf_json::{Index, Mesh};
use serde_json::{Value, json};

use super::builder::Builder;
use super::exact::ExactRows;
use super::meshes::Surface;
use super::morphs::{MeshTargets, Shape, add_targets};
use super::normals::{drawn_normals, turned_normals};
use super::rig::Joints;
use super::weights::file_rows;
use crate::{Fault, Frame};

/// The name of spheres in `extras` of meshes and primitives.
const BOUNDING_SPHERE: &str = "boundingSphere";

/// The full character or one of its levels, checked.
pub(super) struct Form<'a> {
    /// Each point once.
    pub(super) mesh: &'a TriMesh,
    /// The parts in file order: as many as the full character has.
    pub(super) parts: &'a [DrawPart],
    /// What moves the points, and the linear blend that plain players show; `None` without a skin.
    pub(super) programs: Option<(&'a VertexProgram, Cow<'a, SsdProgram>)>,
    /// Meshes of a sequence; only the full character has them.
    pub(super) frames: &'a [Frame],
}

impl Form<'_> {
    /// The bones that vertices name.
    pub(super) fn bones(&self) -> impl Iterator<Item = BoneId> {
        let programs = self.programs.iter();
        programs.flat_map(|(exact, plain)| {
            let of_plain = plain.weights.items().iter().map(|weight| weight.bone);
            exact.bones().chain(of_plain)
        })
    }

    /// What is drawn, with the shapes that it can move towards.
    pub(super) fn surface<'s>(
        &'s self,
        skinned: Option<(&Skin, &Joints)>,
        coefficients: &'s [DefaultCoefficient],
    ) -> Result<Surface<'s>, Fault> {
        let (parts, triangles) = (self.parts, self.mesh.triangles());
        let given = self.mesh.positions();
        let plain = self.programs.as_ref().map(|(_, plain)| plain.as_ref());
        let rest = plain.map_or(given, |plain| &plain.rest_positions);
        let smooth = vertex_normals(rest, triangles);
        let mut normals: Vec<Vec<[f32; 3]>> = (parts.iter())
            .map(|part| drawn_normals(part, &smooth))
            .collect();
        if rest != given {
            // The file's normals belong to the mesh, and a fitted skin may have another rest shape.
            let given = vertex_normals(given, triangles);
            for (part, normals) in parts.iter().zip(&mut normals) {
                turned_normals(part, normals, &given, &smooth);
            }
        }
        let mut surface = Surface {
            parts,
            triangles,
            rest,
            smooth,
            normals,
            rows: None,
            exact: None,
            joint_count: 0,
            shapes: self.frames.iter().map(Shape::Frame).collect(),
        };
        if let (Some((exact, plain)), Some((skin, joints))) = (&self.programs, skinned) {
            surface.exact = ExactRows::new(exact, skin, joints)?;
            surface.rows = Some(file_rows(plain, joints)?);
            surface.joint_count = joints.count();
            surface.shapes = (plain.corrections.iter().zip(coefficients))
                .map(|(correction, coefficient)| Shape::Correction {
                    correction,
                    coefficient,
                })
                .collect();
        }
        Ok(surface)
    }
}

/// A coefficient of the skin as a file has it.
#[derive(Debug, Clone)]
pub(super) struct DefaultCoefficient {
    /// Name shown to people.
    pub(super) name: String,
    /// Its value in the default pose.
    pub(super) default: f64,
    /// Whether it needs a morph target even if it moves no vertex; the first mesh has it then.
    pub(super) must_stay: bool,
}

impl DefaultCoefficient {
    /// Those of a skin: a still file shows the default pose with the corrections that drivers set for it.
    pub(super) fn all_of(skin: &Skin) -> Result<Vec<Self>, Fault> {
        let default = skin.run_pose_program(&skin.skeleton.default_pose())?;
        let named = skin.coefficients.iter().zip(default.coefficients);
        Ok(named
            .map(|(coefficient, default)| Self {
                name: coefficient.name.clone(),
                default,
                // Drivers find it by its name.
                must_stay: !skin.pose_program.drivers.is_empty(),
            })
            .collect())
    }
}

/// Adds the meshes of a surface, with the morph targets of each; `None` for a mesh of which nothing is left.
pub(super) fn add_meshes(
    builder: &mut Builder,
    surface: &Surface<'_>,
    meshes: &[Range<usize>],
    shapes_of_mesh: &[Vec<usize>],
    bounds: Option<&BoundsRecord>,
) -> Result<Vec<Option<Index<Mesh>>>, Fault> {
    let point_attribute = surface.needs_point_attribute();
    let mut primitives = (meshes.iter())
        .map(|mesh| surface.add_primitives(builder, mesh.clone(), point_attribute))
        .collect::<Result<Vec<_>, Fault>>()?;
    let targets = add_targets(builder, surface, meshes, shapes_of_mesh)?;
    if let Some(exact) = &surface.exact {
        for ((mesh, primitives), targets) in meshes.iter().zip(&mut primitives).zip(&targets) {
            for ((number, part), primitive) in surface.drawn(mesh.clone()).zip(primitives) {
                let label = format!("part {number} (mesh {})", part.mesh_name);
                for (target, &shape) in targets.shapes.iter().enumerate() {
                    let added = exact.add_shifts(builder, &part.points, shape, target, &label)?;
                    let added = added.into_iter().map(|(name, at)| (Valid(name), at));
                    primitive.attributes.extend(added);
                }
            }
        }
    }
    (meshes.iter().zip(primitives).zip(targets))
        .map(|((range, primitives), targets)| {
            if primitives.is_empty() {
                return Ok(None);
            }
            let drawn = surface.drawn(range.clone()).map(|(number, _)| number);
            let spheres: Vec<&Ball> = bounds.map_or(Vec::new(), |bounds| {
                drawn
                    .filter_map(|number| bounds.parts[number].best())
                    .collect()
            });
            let name = &surface.parts[range.start].mesh_name;
            let mesh = mesh_json(name, primitives, targets, &surface.shapes, &spheres)?;
            Ok(Some(builder.root.push(mesh)))
        })
        .collect()
}

fn mesh_json(
    name: &str,
    mut primitives: Vec<Primitive>,
    targets: MeshTargets,
    shapes: &[Shape<'_>],
    spheres: &[&Ball],
) -> Result<Mesh, Fault> {
    let (mut weights, mut extras) = (None, serde_json::Map::new());
    // Loaders hand extras on to their users: three.js as userData of mesh and geometry.
    if spheres.len() == primitives.len() && !spheres.is_empty() {
        for (primitive, sphere) in primitives.iter_mut().zip(spheres) {
            primitive.extras = raw_json(&json!({ BOUNDING_SPHERE: sphere }));
        }
        let balls: Vec<Ball> = spheres.iter().map(|ball| **ball).collect();
        let sphere = enclosing_ball_of_balls(&balls);
        extras.insert(BOUNDING_SPHERE.to_owned(), json!(sphere));
    }
    if !targets.shapes.is_empty() {
        let own = || targets.shapes.iter().map(|&m| &shapes[m]);
        let defaults: Vec<f32> = own().map(|shape| shape.default_weight() as f32).collect();
        if let Some(at) = defaults.iter().position(|w| !w.is_finite()) {
            return Err(Fault::malformed(
                format!("correction {}", shapes[targets.shapes[at]].name()),
                "a finite default",
                defaults[at].to_string(),
            ));
        }
        let names: Vec<&str> = own().map(Shape::name).collect();
        extras.insert("targetNames".to_owned(), json!(names));
        weights = Some(defaults);
        for (primitive, list) in primitives.iter_mut().zip(targets.targets_of_part) {
            primitive.targets = Some(list);
        }
    }
    Ok(Mesh {
        extensions: None,
        extras: match extras.is_empty() {
            true => None,
            false => raw_json(&Value::Object(extras)),
        },
        name: (!name.is_empty()).then(|| name.to_owned()),
        primitives,
        weights,
    })
}

/// JSON as `extras` hold it.
pub(super) fn raw_json(value: &Value) -> Option<Box<RawValue>> {
    let text = value.to_string();
    Some(RawValue::from_string(text).expect("a JSON value's text is JSON"))
}
