//! Skins with drivers: other players do not know drivers, and play the weights baked into the clips.

use dermis::clip::Interpolation::Linear;
use dermis::clip::{Channel, Keys};
use dermis::pose_space::{Center, Control, Driver, JointTurn, Kernel};
use dermis::skin::{Coefficient, Delta, SsdProgram};
use dermis::{BoneId, Skin, VertexProgram};
use dermis_io::Document;
use glam::DVec3;

use super::documents::{dressed, plain};
use super::exact::{compare, exact_cases};
use super::write_into;
use crate::support;
use crate::support::clients::{assert_valid, blender_positions, three_exact, three_positions};

/// Times at which baked weights have a key: the clip's own, and thirtieths between them.
const TIMES: [f64; 5] = [0.0, 0.2, 0.5, 0.8, 1.0];
const KEYS: [f64; 3] = [0.0, 0.5, 1.0];

fn shape(vertices: std::ops::Range<u32>, value: DVec3) -> Vec<Delta<DVec3>> {
    let delta = |index: u32| Delta {
        index,
        value: value * (1.0 + f64::from(index % 3)),
    };
    vertices.map(delta).collect()
}

/// Adds a slider without a shape, and a driver that reads it and a joint; the second shape extends
/// over both meshes of a document that has two, and is on at rest.
fn drive(skin: &mut Skin) {
    let count = skin.vertex_count() as u32;
    let load = skin.coefficients.len();
    skin.coefficients.push(Coefficient {
        name: "load".to_owned(),
        default: 0.5,
    });
    skin.program
        .push_corrections(&skin.skeleton, vec![Vec::new()]);
    let center = |name: &str, angle: f64, load: f64| Center {
        name: name.to_owned(),
        point: vec![angle, 0.0, 0.0, load],
        falloffs: vec![0.7, 0.5],
    };
    let driver = Driver {
        name: "bend".to_owned(),
        controls: vec![
            Control::Joint {
                bone: BoneId(1),
                turn: JointTurn::Free,
            },
            Control::Slider { coefficient: load },
        ],
        kernel: Kernel::Gaussian,
        centers: vec![center("rest", 0.0, 0.0), center("bent", 0.4, 1.0)],
        weights: vec![vec![0.2, 1.0], vec![1.0, -0.4]],
        linear: Vec::new(),
    };
    let names = ["bulge", "crease"].map(str::to_owned).to_vec();
    let shapes = vec![
        shape(0..30, DVec3::new(0.0, 0.1, 0.05)),
        shape(20..count, DVec3::new(0.02, -0.03, 0.04)),
    ];
    skin.push_driver(driver, names, shapes).expect("it fits");
}

/// Drives the skin of a document, and moves the slider of its clip.
fn driven(mut document: Document) -> Document {
    let skin = document.skin.as_mut().expect("it has a skin");
    drive(skin);
    let load = Keys {
        interpolation: Linear,
        times: vec![0.0, 0.5, 1.0],
        values: [0.0, 1.0, 0.3].map(|value| vec![value]).to_vec(),
    };
    document.clips[0]
        .channels
        .push(Channel::Coefficients(0, load));
    document
}

/// A document by the name of its file, and the skin that plain players should show.
fn cases() -> Vec<(String, Document, Skin)> {
    let mut split = dressed();
    for part in &mut split.draw.parts {
        // Attributes of different widths would trigger Blender's bug.
        part.custom.clear();
    }
    let linear_blend = [("tube", plain(4, 4, Linear)), ("split", split)];
    let linear_blend = linear_blend.map(|(name, document)| {
        let document = driven(document);
        let skin = document.skin.clone().expect("it has a skin");
        (format!("driven_{name}.glb"), document, skin)
    });
    let exact = exact_cases().into_iter().map(|case| {
        let document = driven(case.document);
        let skin = document.skin.clone().expect("it has a skin");
        let corrections = skin.program.rest_corrections(&skin.skeleton);
        let VertexProgram::Ssd(stand_in) = case.plain.program else {
            panic!("a stand-in is linear blend");
        };
        let stand_in = SsdProgram {
            corrections: corrections.expect("made from displacements"),
            ..stand_in
        };
        let plain = Skin {
            program: VertexProgram::Ssd(stand_in),
            ..skin
        };
        (format!("driven_{}", case.name), document, plain)
    });
    linear_blend.into_iter().chain(exact).collect()
}

#[test]
fn driven_files_are_valid_and_three_plays_the_baked_weights() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files = Vec::new();
    for (name, document, plain) in cases() {
        let file = write_into(folder.path(), &name, &document);
        let shown = three_positions(&clients, &file, Some("bend"), &TIMES);
        compare(&name, &document, &plain, &TIMES, &shown);
        let mut still = document.clone();
        still.clips[0].channels.clear();
        let shown = three_positions(&clients, &file, None, &[0.0]);
        compare(&format!("{name}, still"), &still, &plain, &[0.0], &shown);
        files.push(file);
    }
    assert_valid(&clients, &files);
}

#[test]
fn a_few_lines_in_three_show_exact_skins_with_driven_shapes() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, document, _) in cases() {
        let skin = document.skin.as_ref().expect("it has a skin");
        if matches!(skin.program, VertexProgram::DualQuaternion(_)) {
            continue;
        }
        let file = write_into(folder.path(), &name, &document);
        let shown = three_exact(&clients, &file, Some("bend"), &TIMES);
        compare(&name, &document, skin, &TIMES, &shown);
    }
}

#[test]
#[ignore = "slow: starts Blender for every file"]
fn blender_plays_the_baked_weights() {
    let (Some(python), Some(clients)) = (support::blender_python(), support::node_clients()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, document, plain) in cases() {
        let file = write_into(folder.path(), &name, &document);
        let shown = blender_positions(&python, &clients, &file, Some("bend"), &KEYS);
        compare(&name, &document, &plain, &KEYS, &shown);
    }
}
