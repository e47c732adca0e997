//! Documents made in memory, one for each feature of the writer.

use base64::Engine;
use dermis::clip::{Channel, Interpolation, Keys};
use dermis::measure::Measures;
use dermis::mesh::{AttributeData, CustomAttribute, DrawMesh, DrawPart};
use dermis::skin::{Coefficient, Correction, Delta, Rows, SsdProgram, Weight};
use dermis::{BoneId, Clip, Skeleton, Skin, TriMesh, VertexProgram};
use dermis_io::{Document, Frame, Image, Materials, SkinRecord};
use glam::{DAffine3, DQuat, DVec3};
use serde_json::json;

use Interpolation::{Cubic, Linear, Step};

const RINGS: usize = 25;
const SIDES: usize = 8;
/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg\
                   GAWjR9awAAAABJRU5ErkJggg==";

/// A file with custom attributes of different widths, on which Blender 5.0's importer fails at
/// random: it pairs the members of an unordered set of names with a list.
pub(crate) const WIDE_ATTRIBUTE: &str = "wide_attribute.glb";

/// All kinds of triangle document, by the name that its file gets.
pub(crate) fn documents() -> Vec<(&'static str, Document)> {
    vec![
        ("tube.glb", plain(4, 4, Linear)),
        ("one_influence.glb", plain(4, 1, Linear)),
        ("eight_influences.glb", plain(10, 8, Linear)),
        ("many_bones.glb", plain(300, 4, Linear)),
        ("cubic.glb", plain(4, 4, Cubic)),
        ("step.glb", plain(4, 4, Step)),
        ("dressed.glb", dressed()),
        (WIDE_ATTRIBUTE, wide_attribute()),
        ("corrected.glb", corrected()),
        ("free_bones.glb", free_bones()),
        ("sequence.glb", sequence()),
        ("static.glb", still()),
    ]
}

/// A tube along x from 0 to 4, radius 0.5.
fn tube() -> TriMesh {
    let point = |ring: usize, side: usize| {
        let angle = side as f64 / SIDES as f64 * std::f64::consts::TAU;
        let x = 4.0 * ring as f64 / (RINGS - 1) as f64;
        DVec3::new(x, 0.5 * angle.cos(), 0.5 * angle.sin())
    };
    let positions = (0..RINGS * SIDES)
        .map(|i| point(i / SIDES, i % SIDES))
        .collect();
    let mut triangles = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let at = |r: usize, s: usize| (r * SIDES + s % SIDES) as u32;
            let [a, b] = [at(ring, side), at(ring, side + 1)];
            let [c, d] = [at(ring + 1, side), at(ring + 1, side + 1)];
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    TriMesh::new(positions, triangles).expect("a tube is a mesh")
}

/// Bones along the tube, each turned a little in its parent: a chain, or a tree when there are
/// many, because a player's single precision suffers from a chain of hundreds.
fn chain(bone_count: usize) -> Skeleton {
    let children = if bone_count > 20 { 4 } else { 1 };
    let frame = |j: usize| {
        let x = 4.0 * j as f64 / bone_count as f64;
        let turn = DQuat::from_scaled_axis(DVec3::new(0.1, 0.2, -0.3) * j as f64);
        DAffine3::from_rotation_translation(turn, DVec3::new(x, 0.0, 0.0))
    };
    let bone = |j: usize| {
        let parent = j
            .checked_sub(1)
            .map(|before| BoneId((before / children) as u16));
        (format!("bone {j}"), parent, frame(j))
    };
    Skeleton::from_rest_frames((0..bone_count).map(bone)).expect("a chain is a skeleton")
}

/// Every point follows its nearest bones, nearer ones more.
fn skin(mesh: &TriMesh, skeleton: Skeleton, influences: usize) -> Skin {
    let centers: Vec<f64> = (skeleton.bones().iter())
        .map(|bone| bone.bone_from_rest.inverse().translation.x)
        .collect();
    let row = |p: &DVec3| {
        let mut row: Vec<Weight> = (skeleton.ids())
            .map(|bone| Weight {
                bone,
                weight: (-(p.x - centers[bone.index()]).powi(2)).exp(),
            })
            .collect();
        row.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        row.truncate(influences);
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        row.iter_mut().for_each(|w| w.weight /= sum);
        row
    };
    let weights: Rows<Weight> = mesh.positions().iter().map(row).collect();
    let ssd = SsdProgram {
        rest_positions: mesh.positions().to_vec(),
        weights,
        corrections: Vec::new(),
    };
    Skin::new(skeleton, VertexProgram::Ssd(ssd), Vec::new()).expect("a skin")
}

fn keys<T>(interpolation: Interpolation, times: &[f64], values: Vec<T>) -> Keys<T> {
    Keys {
        interpolation,
        times: times.to_vec(),
        values,
    }
}

/// Turns every bone, moves the first and swells the last, at keys 0, 0.5 and 1 s.
fn bend(skeleton: &Skeleton, interpolation: Interpolation) -> Clip {
    let times = [0.0, 0.5, 1.0];
    // A chain turns by the same angle, however many bones it has.
    let step_rad = 1.6 / skeleton.bone_count().min(20) as f64;
    let mut channels = Vec::new();
    for (j, bone) in skeleton.ids().enumerate() {
        let rest = skeleton.bones()[j].default_parent_from_bone.rotation;
        let turn = |k: usize| {
            let axis = DVec3::new(0.3, -0.2, 1.0).normalize();
            (rest * DQuat::from_axis_angle(axis, step_rad * k as f64)).normalize()
        };
        let values = (0..3).flat_map(|k| match interpolation {
            Cubic => {
                let tangent = DQuat::from_xyzw(0.1, -0.3, 0.2, 0.05 * k as f64);
                vec![tangent, turn(k), -tangent]
            }
            Linear | Step => vec![turn(k)],
        });
        channels.push(Channel::Rotation(
            bone,
            keys(interpolation, &times, values.collect()),
        ));
    }
    let moves = vec![DVec3::ZERO, DVec3::new(0.5, 1.0, -0.25), DVec3::Y];
    channels.push(Channel::Translation(BoneId(0), keys(Linear, &times, moves)));
    let last = BoneId(skeleton.bone_count() as u16 - 1);
    let sizes = [1.0, 1.2, 0.9].map(DVec3::splat).to_vec();
    channels.push(Channel::Scale(last, keys(Linear, &times, sizes)));
    Clip {
        name: "bend".to_owned(),
        channels,
    }
}

pub(crate) fn plain(bones: usize, influences: usize, interpolation: Interpolation) -> Document {
    let mesh = tube();
    let skin = skin(&mesh, chain(bones), influences);
    Document {
        draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        clips: vec![bend(&skin.skeleton, interpolation)],
        mesh,
        skin: Some(skin),
        ..Document::default()
    }
}

/// The tube cut into two meshes, the second of two parts, with split vertices and a texture.
pub(crate) fn dressed() -> Document {
    let mut document = plain(4, 4, Linear);
    let triangles = document.mesh.triangles();
    let third = triangles.len() / 3;
    document.draw.parts = vec![
        split_part("lower", &triangles[..third], Some(0)),
        split_part("upper", &triangles[third..2 * third], None),
        split_part("upper", &triangles[2 * third..], Some(1)),
    ];
    let texture = json!({ "index": 0, "extensions": {
        "KHR_texture_transform": { "scale": [2.0, 2.0] } } });
    document.materials = Materials {
        materials: vec![
            json!({ "name": "cloth", "pbrMetallicRoughness": { "baseColorTexture": texture } }),
            json!({ "doubleSided": true }),
        ],
        textures: vec![json!({ "source": 0, "sampler": 0 })],
        samplers: vec![json!({ "wrapS": 10497 })],
        images: vec![Image {
            name: Some("grey".to_owned()),
            mime_type: "image/png".to_owned(),
            bytes: base64::engine::general_purpose::STANDARD
                .decode(PNG)
                .expect("the constant is base64"),
        }],
        extensions_used: vec!["KHR_texture_transform".to_owned()],
    };
    document.record = Some(SkinRecord {
        generator: "dermis test".to_owned(),
        method: "ssd".to_owned(),
        training: Some(Measures {
            example_count: 3,
            e_rms: 0.5,
            enveloping_error_percent: None,
            enveloping_error_deviation_percent: None,
            position_error_percent: Some(3.5),
            mean_distance: 0.1,
            max_distance: 0.2,
            mean_normal_angle_deg: 1.0,
            max_normal_angle_deg: 2.0,
        }),
        ..SkinRecord::default()
    });
    document
}

/// The same with an attribute of three numbers beside those of one.
fn wide_attribute() -> Document {
    let mut document = dressed();
    for part in &mut document.draw.parts {
        part.custom.push(CustomAttribute {
            name: "_FLOW".to_owned(),
            data: AttributeData {
                width: 3,
                values: vec![0.5; 3 * part.points.len()],
            },
        });
    }
    document
}

/// Every corner is its own vertex, the most that a file can split, with attributes of every kind,
/// some of which glTF forbids and the writer repairs.
fn split_part(name: &str, triangles: &[[u32; 3]], material: Option<usize>) -> DrawPart {
    let points: Vec<u32> = triangles.as_flattened().to_vec();
    let corners: Vec<u32> = (0..points.len() as u32).collect();
    let count = points.len();
    let custom = |name: &str, width: usize, value: f32| CustomAttribute {
        name: name.to_owned(),
        data: AttributeData {
            width,
            values: vec![value; width * count],
        },
    };
    DrawPart {
        mesh_name: name.to_owned(),
        material,
        triangles: corners.as_chunks().0.to_vec(),
        normals: vec![[0.0, 0.0, 0.0]; count],
        tangents: vec![[0.0, 3.0, 0.0, 1.0]; count],
        uvs: vec![(0..count).map(|i| [i as f32 * 0.01, 0.5]).collect()],
        colors: vec![vec![[1.5, 0.5, 0.0, 1.0]; count]],
        custom: vec![custom("_ORIG", 1, 9.0), custom("_HEAT", 1, 0.25)],
        points,
    }
}

/// Corrections that move one end, a few points, all points (on by default) and no points; their
/// coefficients have keys in two channels of different times.
pub(crate) fn corrected() -> Document {
    let mut document = dressed();
    let skin = document.skin.as_mut().expect("it has a skin");
    let VertexProgram::Ssd(ssd) = &mut skin.program else {
        panic!("the skin is linear blend");
    };
    let count = ssd.rest_positions.len();
    let correction = |range: std::ops::Range<usize>, value: DVec3| Correction {
        deltas: range
            .map(|i| Delta {
                index: i as u32,
                value: value * (1.0 + (i % 5) as f64),
            })
            .collect(),
    };
    ssd.corrections = vec![
        correction(0..count / 4, DVec3::new(0.0, 0.1, 0.05)),
        correction(count - 4..count, DVec3::new(0.2, 0.0, 0.0)),
        correction(0..count, DVec3::new(0.0, -0.02, 0.03)),
        correction(3..5, DVec3::ZERO),
    ];
    skin.coefficients = ["start", "end", "all", "none"]
        .iter()
        .zip([0.0, 0.0, 0.5, 0.0])
        .map(|(name, default)| Coefficient {
            name: (*name).to_owned(),
            default,
        })
        .collect();
    let both = vec![vec![0.0, 1.0], vec![1.0, 0.5], vec![0.25, 0.0]];
    document.clips[0].channels.extend([
        Channel::Coefficients(0, keys(Linear, &[0.0, 0.5, 1.0], both)),
        Channel::Coefficients(2, keys(Linear, &[0.25, 0.75], vec![vec![1.0], vec![0.0]])),
    ]);
    document
}

/// Two bones without parents, as a decomposition makes them.
fn free_bones() -> Document {
    let mut document = plain(4, 2, Linear);
    let frame = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
    let skeleton = Skeleton::from_rest_frames([
        ("left".to_owned(), None, frame(1.0)),
        ("right".to_owned(), None, frame(3.0)),
    ])
    .expect("two bones");
    document.clips = vec![bend(&skeleton, Linear)];
    document.skin = Some(skin(&document.mesh, skeleton, 2));
    document
}

/// The tube bent in five frames, without a skin.
fn sequence() -> Document {
    let source = plain(4, 4, Linear);
    let skin = source.skin.expect("it has a skin");
    let frame = |k: usize| {
        let pose = skin.sample(&source.clips[0], k as f64 * 0.2);
        Frame {
            name: format!("frame_{k}"),
            positions: skin.evaluate(&pose).expect("the pose fits"),
        }
    };
    Document {
        mesh: source.mesh,
        draw: source.draw,
        frames: (0..5).map(frame).collect(),
        frames_per_second: Some(10.0),
        ..Document::default()
    }
}

/// A mesh alone, without even its drawn form.
fn still() -> Document {
    Document {
        mesh: tube(),
        ..Document::default()
    }
}

/// Points without triangles, skinned.
pub(crate) fn point_cloud() -> Document {
    let mut document = plain(3, 2, Linear);
    document.draw.parts[0].triangles.clear();
    let positions = document.mesh.positions().to_vec();
    document.mesh = TriMesh::new(positions, Vec::new()).expect("finite points");
    document
}
