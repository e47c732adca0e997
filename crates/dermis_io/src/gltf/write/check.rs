//! Checks of a document before a byte of it is written.
//!
//! A document made by hand, or joined from several files, can be inconsistent, because its fields
//! are public. Code after these checks may index without checking.

use std::borrow::Cow;
use std::collections::BTreeSet;

use dermis::TriMesh;
use dermis::clip::{Channel, Clip};
use dermis::document::plain_program;
use dermis::mesh::{DrawPart, MeshError};
use dermis::rig::RigError;
use dermis::skin::{Skin, SkinError, SsdProgram, VertexProgram};

use super::check_levels::check_levels;
use super::form::Form;
use crate::{Document, Fault};

/// Smaller meshes lose the digits of their vertices in single precision, or vanish.
const SMALLEST_SIZE: f64 = 1e-30;

/// Checks everything that is counted or indexed, and gives the full character and its levels.
pub(super) fn check<'a>(
    document: &'a Document,
    parts: &'a [DrawPart],
) -> Result<Vec<Form<'a>>, Fault> {
    let vertex_count = document.mesh.vertex_count();
    check_drawn(&document.mesh, parts, document.materials.materials.len())?;
    let mut full = Form {
        mesh: &document.mesh,
        parts,
        programs: None,
        frames: &document.frames,
    };
    if let Some(skin) = &document.skin {
        let fallback = document.fallback.as_ref();
        full.programs = Some(check_programs(skin, &skin.program, fallback, vertex_count)?);
        check_pose_program(skin)?;
        for clip in &document.clips {
            check_clip(clip, skin)?;
        }
    } else {
        check_frames(document, vertex_count)?;
    }
    let mut forms = vec![full];
    forms.extend(check_levels(document, parts)?);
    Ok(forms)
}

/// Checks what is drawn of the full character or of a level.
pub(super) fn check_drawn(
    mesh: &TriMesh,
    parts: &[DrawPart],
    material_count: usize,
) -> Result<(), Fault> {
    let vertex_count = mesh.vertex_count();
    if !parts.iter().any(|part| !part.points.is_empty()) {
        return Err(Fault::malformed(
            "mesh",
            "at least one vertex to draw",
            format!("{vertex_count} points in {} parts", parts.len()),
        ));
    }
    let size = mesh.bounds().size().max_element();
    if size > 0.0 && size < SMALLEST_SIZE {
        return Err(Fault::malformed(
            "mesh",
            format!("a size of at least {SMALLEST_SIZE:e}, which single precision can hold"),
            format!("{size:e}: give the meshes in a smaller unit of length"),
        ));
    }
    (parts.iter().enumerate())
        .try_for_each(|(number, part)| check_part(number, part, vertex_count, material_count))
}

/// Checks what moves the points of the full character or of a level, and adds the program of the plain part.
pub(super) fn check_programs<'a>(
    skin: &Skin,
    program: &'a VertexProgram,
    fallback: Option<&'a SsdProgram>,
    vertex_count: usize,
) -> Result<(&'a VertexProgram, Cow<'a, SsdProgram>), Fault> {
    // The stand-in is computed from the exact model, which is checked first.
    if fallback.is_some() && !matches!(program, VertexProgram::Ssd(_)) {
        check_exact(skin, program, vertex_count)?;
    }
    let plain = plain_program(program, fallback, skin)?;
    check_skin(skin, &plain, vertex_count)?;
    Ok((program, plain))
}

/// Checks the frames of a document without a skin.
fn check_frames(document: &Document, vertex_count: usize) -> Result<(), Fault> {
    for frame in &document.frames {
        if frame.positions.len() != vertex_count {
            return Err(Fault::malformed(
                format!("frame {}", frame.name),
                format!("{vertex_count} positions"),
                frame.positions.len().to_string(),
            ));
        }
    }
    let rate = document.frames_per_second.unwrap_or(1.0);
    if !document.frames.is_empty() && (!rate.is_finite() || rate <= 0.0) {
        return Err(Fault::malformed(
            "frames per second",
            "a positive number",
            rate.to_string(),
        ));
    }
    Ok(())
}

fn check_part(
    number: usize,
    part: &DrawPart,
    vertex_count: usize,
    material_count: usize,
) -> Result<(), Fault> {
    let name = || format!("part {number} (mesh {})", part.mesh_name);
    let drawn = part.points.len();
    let mismatch = |what: &str, expected: usize, found: usize| {
        Fault::malformed(
            name(),
            format!("{expected} {what}"),
            format!("{found} {what}"),
        )
    };
    if let Some(&point) = part.points.iter().find(|&&p| p as usize >= vertex_count) {
        return Err(Fault::malformed(
            name(),
            format!("points below {vertex_count}"),
            format!("point {point}"),
        ));
    }
    for (face, triangle) in part.triangles.iter().enumerate() {
        if let Some(&vertex) = triangle.iter().find(|&&v| v as usize >= drawn) {
            return Err(MeshError::VertexOutOfRange {
                what: "triangle",
                face,
                vertex,
                vertex_count: drawn,
            }
            .into());
        }
    }
    if !part.normals.is_empty() && part.normals.len() != drawn {
        return Err(mismatch("normals", drawn, part.normals.len()));
    }
    if !part.tangents.is_empty() && part.tangents.len() != drawn {
        return Err(mismatch("tangents", drawn, part.tangents.len()));
    }
    if let Some(uvs) = part.uvs.iter().find(|uvs| uvs.len() != drawn) {
        return Err(mismatch("UVs", drawn, uvs.len()));
    }
    if let Some(colors) = part.colors.iter().find(|colors| colors.len() != drawn) {
        return Err(mismatch("colours", drawn, colors.len()));
    }
    for (at, attribute) in part.custom.iter().enumerate() {
        let element = || format!("{}, attribute {}", name(), attribute.name);
        if !attribute.name.starts_with('_') || attribute.name.len() < 2 {
            return Err(Fault::malformed(
                element(),
                "a name that begins with an underscore",
                format!("{:?}", attribute.name),
            ));
        }
        if part.custom[..at].iter().any(|a| a.name == attribute.name) {
            return Err(Fault::malformed(
                element(),
                "one attribute of that name",
                "two",
            ));
        }
        let width = attribute.data.width;
        if !(1..=4).contains(&width) {
            return Err(Fault::malformed(
                element(),
                "1 to 4 numbers per vertex",
                width.to_string(),
            ));
        }
        if attribute.data.values.len() != width * drawn {
            return Err(Fault::malformed(
                element(),
                format!("{} numbers", width * drawn),
                attribute.data.values.len().to_string(),
            ));
        }
    }
    match part.material {
        Some(material) if material >= material_count => Err(Fault::malformed(
            name(),
            format!("one of {material_count} materials"),
            format!("material {material}"),
        )),
        _ => Ok(()),
    }
}

/// Checks a program that stands beside the plain one.
fn check_exact(skin: &Skin, program: &VertexProgram, vertex_count: usize) -> Result<(), Fault> {
    if program.vertex_count() != vertex_count {
        return Err(SkinError::CountMismatch {
            what: "rows of influences",
            expected: vertex_count,
            found: program.vertex_count(),
        }
        .into());
    }
    // The skin's own check, because its fields may have changed since it was made.
    Skin::new(
        skin.skeleton.clone(),
        program.clone(),
        skin.coefficients.clone(),
    )?;
    Ok(())
}

/// Checks the pose program, whose drivers files tie to coefficients by name.
fn check_pose_program(skin: &Skin) -> Result<(), Fault> {
    skin.pose_program
        .check(&skin.skeleton, skin.coefficients.len())?;
    if skin.pose_program.drivers.is_empty() {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    match (skin.coefficients.iter()).find(|c| !names.insert(&*c.name)) {
        None => Ok(()),
        Some(twice) => Err(Fault::unsupported(
            format!(
                "a skin with drivers and two coefficients named {:?} in glTF",
                twice.name
            ),
            "drivers find coefficients by name, so give each its own",
        )),
    }
}

fn check_skin(skin: &Skin, ssd: &SsdProgram, vertex_count: usize) -> Result<(), Fault> {
    let counts = [
        ("rows of weights", vertex_count, ssd.weights.len()),
        ("rest positions", vertex_count, ssd.rest_positions.len()),
        (
            "coefficients",
            ssd.corrections.len(),
            skin.coefficients.len(),
        ),
    ];
    for (what, expected, found) in counts {
        if found != expected {
            return Err(SkinError::CountMismatch {
                what,
                expected,
                found,
            }
            .into());
        }
    }
    if skin.skeleton.bone_count() == 0 {
        return Err(Fault::malformed("skin", "at least one bone", "none"));
    }
    for (vertex, row) in ssd.weights.iter().enumerate() {
        if let Some(weight) = (row.iter()).find(|w| w.bone.index() >= skin.skeleton.bone_count()) {
            return Err(SkinError::BoneOutOfRange {
                vertex,
                bone: weight.bone.index(),
                bone_count: skin.skeleton.bone_count(),
            }
            .into());
        }
    }
    for (correction, coefficient) in ssd.corrections.iter().zip(&skin.coefficients) {
        let mut indices = correction.deltas.iter().map(|delta| delta.index as usize);
        if let Some(vertex) = indices.find(|&vertex| vertex >= vertex_count) {
            return Err(SkinError::CorrectionOutOfRange {
                name: coefficient.name.clone(),
                vertex,
                vertex_count,
            }
            .into());
        }
    }
    Ok(())
}

fn check_clip(clip: &Clip, skin: &Skin) -> Result<(), Fault> {
    let bad = |problem: &str| {
        Err(Fault::Rig(RigError::BadKeys {
            clip: clip.name.clone(),
            problem: problem.to_owned(),
        }))
    };
    for channel in &clip.channels {
        if let Channel::Coefficients(first, keys) = channel {
            // Before `Clip::check`, whose sum of the two must not overflow.
            if *first > skin.coefficients.len() {
                return bad("coefficients begin past the last correction of the skin");
            }
            let mut pairs = keys.values.windows(2);
            if pairs.any(|pair| pair[0].len() != pair[1].len()) {
                return bad("the keys of one channel have different numbers of coefficients");
            }
        }
    }
    clip.check(&skin.skeleton, skin.coefficients.len())?;
    if clip.start() < 0.0 {
        return bad("a key time is negative, which glTF does not allow");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dermis::clip::{Interpolation, Keys};
    use dermis::mesh::DrawMesh;
    use dermis::pose_space::{Control, Driver, JointTurn, Kernel};
    use dermis::skin::{Coefficient, Correction, Delta, LinearProgram, Weight};
    use dermis::{BoneId, Skeleton};
    use glam::{DAffine3, DVec3};

    use super::*;
    use crate::Frame;
    use crate::gltf::to_glb;

    /// A triangle on one bone, with one correction and one clip that moves both.
    fn sound() -> Document {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        let mesh = TriMesh::new(corners.clone(), vec![[0, 1, 2]]).expect("a triangle");
        let bone = ("bone".to_owned(), None, DAffine3::IDENTITY);
        let weight = Weight {
            bone: BoneId(0),
            weight: 1.0,
        };
        let delta = Delta {
            index: 1,
            value: DVec3::Z,
        };
        let ssd = SsdProgram {
            rest_positions: corners,
            weights: [[weight]; 3].into_iter().collect(),
            corrections: vec![Correction {
                deltas: vec![delta],
            }],
        };
        let coefficient = Coefficient {
            name: "lift".to_owned(),
            default: 0.0,
        };
        let skeleton = Skeleton::from_rest_frames([bone]).expect("one bone");
        let program = VertexProgram::Ssd(ssd);
        Document {
            draw: DrawMesh::plain("triangle", 3, mesh.triangles()),
            mesh,
            skin: Some(Skin::new(skeleton, program, vec![coefficient]).expect("a skin")),
            clips: vec![Clip {
                name: "clip".to_owned(),
                channels: vec![
                    Channel::Translation(BoneId(0), keys(vec![DVec3::ZERO, DVec3::X])),
                    Channel::Coefficients(0, keys(vec![vec![0.0], vec![1.0]])),
                ],
            }],
            ..Document::default()
        }
    }

    fn keys<T>(values: Vec<T>) -> Keys<T> {
        Keys {
            interpolation: Interpolation::Linear,
            times: (0..values.len()).map(|k| k as f64).collect(),
            values,
        }
    }

    fn ssd(document: &mut Document) -> &mut SsdProgram {
        match &mut document.skin.as_mut().expect("it has a skin").program {
            VertexProgram::Ssd(ssd) => ssd,
            _ => panic!("the skin is linear blend"),
        }
    }

    fn hinge(axis: DVec3) -> Control {
        Control::Joint {
            bone: BoneId(0),
            turn: JointTurn::Hinge { axis },
        }
    }

    /// Drives one output by how far the bone has turned.
    fn driver() -> Driver {
        Driver {
            name: "up".to_owned(),
            controls: vec![hinge(DVec3::Z)],
            kernel: Kernel::Gaussian,
            centers: Vec::new(),
            weights: vec![Vec::new()],
            linear: vec![vec![0.0, 1.0]],
        }
    }

    fn drive(document: &mut Document) {
        let skin = document.skin.as_mut().expect("it has a skin");
        let (names, shapes) = (vec!["up".to_owned()], vec![Vec::new()]);
        skin.push_driver(driver(), names, shapes).expect("it fits");
    }

    #[test]
    fn inconsistent_documents_are_refused() {
        type Damage = fn(&mut Document);
        let damages: [(&str, Damage); 29] = [
            ("at least one vertex", |d| *d = Document::default()),
            ("points below 3, found point 3", |d| {
                d.draw.parts[0].points[0] = 3;
            }),
            ("names vertex 9", |d| d.draw.parts[0].triangles[0][2] = 9),
            ("3 normals, found 1", |d| {
                d.draw.parts[0].normals = vec![[0.0; 3]];
            }),
            ("3 UVs, found 0", |d| d.draw.parts[0].uvs = vec![Vec::new()]),
            ("UVs of part 0 (mesh triangle), element 1", |d| {
                d.draw.parts[0].uvs = vec![vec![[0.0, 0.0], [f32::NAN, 0.0], [0.0, 0.0]]];
            }),
            ("colours of part 0", |d| {
                d.draw.parts[0].colors = vec![vec![[f32::NAN; 4]; 3]];
            }),
            ("one of 0 materials, found material 0", |d| {
                d.draw.parts[0].material = Some(0);
            }),
            ("3 rows of weights, found 0", |d| {
                ssd(d).weights = Default::default();
            }),
            ("3 rest positions, found 2", |d| {
                ssd(d).rest_positions.pop();
            }),
            ("positions of part 0", |d| {
                ssd(d).rest_positions[2] = DVec3::splat(1e300);
            }),
            ("1 coefficients, found 0", |d| {
                d.skin.as_mut().expect("it has a skin").coefficients.clear();
            }),
            ("bone 7, but there are only 1", |d| {
                let weight = Weight {
                    bone: BoneId(7),
                    weight: 1.0,
                };
                ssd(d).weights = [[weight]; 3].into_iter().collect();
            }),
            ("correction lift moves vertex 5", |d| {
                ssd(d).corrections[0].deltas[0].index = 5;
            }),
            ("morph target lift of mesh triangle, element 1", |d| {
                ssd(d).corrections[0].deltas[0].value.x = f64::INFINITY;
            }),
            ("correction lift: expected a finite default", |d| {
                d.skin.as_mut().expect("it has a skin").coefficients[0].default = f64::NAN;
            }),
            ("animation space has no linear blend stand-in", |d| {
                let skin = d.skin.as_mut().expect("it has a skin");
                skin.program = VertexProgram::Linear(LinearProgram::default());
            }),
            (
                "correction lift of vertex 1: expected weights that sum to 0",
                |d| {
                    d.fallback = Some(ssd(d).clone());
                    let skin = d.skin.as_mut().expect("it has a skin");
                    *skin = skin.to_linear().expect("linear blend is linear");
                    if let VertexProgram::Linear(linear) = &mut skin.program {
                        linear.corrections[0].deltas[0].value.w = 0.5;
                    }
                },
            ),
            ("two coefficients named \"lift\"", |d| {
                let skin = d.skin.as_mut().expect("it has a skin");
                let again = vec!["lift".to_owned()];
                let shape = vec![Vec::new()];
                skin.push_driver(driver(), again, shape).expect("it fits");
            }),
            ("driver up: its axis", |d| {
                drive(d);
                let skin = d.skin.as_mut().expect("it has a skin");
                let axis = DVec3::splat(f64::NAN);
                skin.pose_program.drivers[0].controls[0] = hinge(axis);
            }),
            ("2 coefficients to drive, found 1", |d| {
                drive(d);
                let skin = d.skin.as_mut().expect("it has a skin");
                skin.pose_program.drivers.push(driver());
                skin.coefficients.pop();
                ssd(d).corrections.pop();
                d.clips.clear();
            }),
            ("3 rows of influences, found 0", |d| {
                d.clips.clear();
                d.fallback = Some(std::mem::take(ssd(d)));
                let skin = d.skin.as_mut().expect("it has a skin");
                skin.coefficients.clear();
                skin.program = VertexProgram::Linear(LinearProgram::default());
            }),
            ("3 rows of weights, found 0", |d| {
                d.clips.clear();
                ssd(d).corrections.clear();
                d.fallback = Some(SsdProgram::default());
                let skin = d.skin.as_mut().expect("it has a skin");
                skin.coefficients.clear();
                *skin = skin.to_linear().expect("linear blend is linear");
            }),
            ("bone 3, which does not exist", |d| {
                let keys = keys(vec![DVec3::ZERO]);
                d.clips[0].channels = vec![Channel::Scale(BoneId(3), keys)];
            }),
            ("begin past the last correction", |d| {
                let keys = keys(vec![vec![0.0]]);
                d.clips[0].channels = vec![Channel::Coefficients(usize::MAX, keys)];
            }),
            ("different numbers of coefficients", |d| {
                let keys = keys(vec![vec![0.0], vec![]]);
                d.clips[0].channels = vec![Channel::Coefficients(0, keys)];
            }),
            ("a key time is negative", |d| {
                let mut keys = keys(vec![DVec3::ZERO]);
                keys.times[0] = -1.0;
                d.clips[0].channels = vec![Channel::Scale(BoneId(0), keys)];
            }),
            ("frame late: expected 3 positions, found 0", |d| {
                d.skin = None;
                d.frames = vec![Frame {
                    name: "late".to_owned(),
                    positions: Vec::new(),
                }];
            }),
            (
                "frames per second: expected a positive number, found 0",
                |d| {
                    d.skin = None;
                    d.frames_per_second = Some(0.0);
                    d.frames = vec![Frame {
                        name: "only".to_owned(),
                        positions: d.mesh.positions().to_vec(),
                    }];
                },
            ),
        ];
        to_glb(&sound()).expect("undamaged, it is written");
        for (message, damage) in damages {
            let mut document = sound();
            damage(&mut document);
            let fault = to_glb(&document).expect_err(message).to_string();
            assert!(
                fault.contains(message),
                "expected {message:?}, found {fault:?}"
            );
        }
    }

    #[test]
    fn custom_attributes_must_fit_their_vertices() {
        use dermis::mesh::{AttributeData, CustomAttribute};
        let attribute = |name: &str, width: usize, count: usize| CustomAttribute {
            name: name.to_owned(),
            data: AttributeData {
                width,
                values: vec![0.0; count],
            },
        };
        for (custom, message) in [
            (vec![attribute("HEAT", 1, 3)], "begins with an underscore"),
            (vec![attribute("_HEAT", 5, 15)], "1 to 4 numbers"),
            (vec![attribute("_HEAT", 2, 5)], "6 numbers, found 5"),
            (
                vec![attribute("_HEAT", 1, 3); 2],
                "one attribute of that name, found two",
            ),
        ] {
            let mut document = sound();
            document.draw.parts[0].custom = custom;
            let fault = to_glb(&document).expect_err(message);
            assert!(
                fault.to_string().contains(message),
                "expected {message:?}, found {fault}"
            );
        }
    }
}
