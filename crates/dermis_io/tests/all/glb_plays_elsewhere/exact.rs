//! Skins that plain glTF cannot hold: other players show their stand-in, and a few lines of code show them exactly.

use dermis::clip::Interpolation::Linear;
use dermis::fit::{exact_ssd, plain_fallback};
use dermis::progress::Silent;
use dermis::skin::{
    DualQuaternionProgram, Influence, LinearProgram, MultiWeight, MultiWeightProgram,
};
use dermis::{BoneId, Pose, Skin, VertexProgram};
use dermis_io::Document;
use glam::DVec3;

use super::documents::{dressed, plain};
use super::{TOLERANCE, difference, write_into};
use crate::support;
use crate::support::clients::{
    Shown, assert_valid, blender_positions, three_exact, three_positions,
};

/// Times of the clip's keys and, for players that interpolate rotations as glTF requires, times between them.
const KEYS: [f64; 3] = [0.0, 0.5, 1.0];
const TIMES: [f64; 4] = [0.0, 0.2, 0.5, 0.85];

/// The file of an animation-space skin's exact form over copies of bones.
const COPIES: &str = "copies.glb";

/// A document with its file's name, and the skin that plain players should show.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) document: Document,
    pub(crate) plain: Skin,
}

fn clip_poses(document: &Document) -> Vec<Pose> {
    let skin = document.skin.as_ref().expect("it has a skin");
    let time = |k: usize| k as f64 / 10.0;
    (0..=10)
        .map(|k| skin.sample(&document.clips[0], time(k)))
        .collect()
}

/// The document with another program, and the stand-in that it needs.
fn with_program(name: &'static str, mut document: Document, program: VertexProgram) -> Case {
    let skin = document.skin.as_mut().expect("it has a skin");
    skin.program = program;
    let skin = skin.clone();
    let fallback = plain_fallback(&skin, &clip_poses(&document), 4, &Silent).expect("it fits");
    eprintln!(
        "{name}: the stand-in is off by {:.2}% of the diagonal, at most {:.2}%",
        100.0 * fallback.rms_error,
        100.0 * fallback.max_error
    );
    document.fallback = Some(fallback.program.clone());
    Case {
        name,
        document,
        plain: Skin {
            program: VertexProgram::Ssd(fallback.program),
            ..skin
        },
    }
}

/// The vectors of a linear blend document, each moved by a twentieth of the tube's radius.
fn vectors(document: &Document) -> LinearProgram {
    let skin = document.skin.as_ref().expect("it has a skin");
    let linear = skin.to_linear().expect("linear blend is linear");
    let VertexProgram::Linear(linear) = linear.program else {
        panic!("it is linear now");
    };
    let rows = linear.influences.iter().enumerate().map(|(i, row)| {
        let moved = move |(k, influence): (usize, &Influence)| {
            let t = (5 * i + 3 * k) as f64;
            let push = DVec3::new(t.sin(), (1.3 * t).cos(), (2.1 * t).sin());
            Influence {
                bone: influence.bone,
                p: influence.p + (0.025 * push).extend(0.0),
            }
        };
        row.iter().enumerate().map(moved)
    });
    LinearProgram {
        influences: rows.collect(),
        corrections: Vec::new(),
    }
}

/// Animation space, in one part and in parts with split vertices, with more than four influences,
/// with weights below zero; multi-weight; dual quaternions.
pub(crate) fn exact_cases() -> Vec<Case> {
    let plain_tube = || plain(4, 4, Linear);
    let space = |name, document: Document| {
        let program = VertexProgram::Linear(vectors(&document));
        with_program(name, document, program)
    };
    let mut split = dressed();
    for part in &mut split.draw.parts {
        // Attributes of different widths would trigger Blender's bug.
        part.custom.clear();
    }
    let ssd = |document: &Document| match document.skin.as_ref().map(|skin| &skin.program) {
        Some(VertexProgram::Ssd(ssd)) => ssd.clone(),
        _ => panic!("the tube is linear blend"),
    };
    let weighted = ssd(&plain_tube());
    let influences = weighted.weights.iter().enumerate().map(|(i, row)| {
        let twelve = move |w: &dermis::skin::Weight| {
            let entry = |n: usize| w.weight * (1.0 + 0.02 * ((i + 5 * n) as f64).sin());
            MultiWeight {
                bone: w.bone,
                weights: [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| entry(4 * r + c))),
            }
        };
        row.iter().map(twelve)
    });
    let multi = MultiWeightProgram {
        rest_positions: weighted.rest_positions.clone(),
        influences: influences.collect(),
        corrections: Vec::new(),
    };
    let dual = DualQuaternionProgram {
        weighted: weighted.clone(),
    };
    vec![
        space("animation_space.glb", plain_tube()),
        space("animation_space_split.glb", split),
        space("animation_space_six.glb", plain(10, 6, Linear)),
        with_program(
            "multi_weight.glb",
            plain_tube(),
            VertexProgram::MultiWeight(multi),
        ),
        with_program(
            "dual_quaternion.glb",
            plain_tube(),
            VertexProgram::DualQuaternion(dual),
        ),
    ]
}

/// The document of a linear skin's exact form over copies of bones, and the linear skin.
fn copies() -> (Document, Skin) {
    let mut document = plain(4, 4, Linear);
    let mut linear = vectors(&document);
    // Weights below zero, which must be moved to other bones first.
    let rows = linear.influences.iter().enumerate().map(|(i, row)| {
        let mut row = row.to_vec();
        if i.is_multiple_of(4) {
            row[0].p.w += 0.2;
            row[1].p.w -= 0.2;
        }
        row
    });
    linear.influences = rows.collect();
    let skin = document.skin.as_mut().expect("it has a skin");
    skin.program = VertexProgram::Linear(linear);
    let skin = skin.clone();
    let exact = exact_ssd(&skin, &clip_poses(&document)).expect("it has an exact form");
    eprintln!(
        "{COPIES}: {} copies, {} influences, weights of {} vertices moved, off by {:.1e}",
        exact.copy_count,
        exact.skin.program.max_influences(),
        exact.moved_count,
        exact.max_error
    );
    assert!(exact.inexact_count == 0, "joints turn in place");
    document.skin = Some(exact.skin);
    (document, skin)
}

/// Compares a player's positions with those of a skin that has the document's first bones.
pub(crate) fn compare(
    case: &str,
    document: &Document,
    skin: &Skin,
    times: &[f64],
    shown: &[Shown],
) {
    for (time, shown) in times.iter().zip(shown) {
        let mut pose = skin.sample(&document.clips[0], *time);
        pose.parent_from_bone.truncate(skin.skeleton.bone_count());
        let points = skin.evaluate(&pose).expect("the pose fits");
        let off = difference(document, &points, shown);
        eprintln!("{case} at {time} s: differs by {off:.1e} of the diagonal");
        assert!(off < TOLERANCE, "{case} at {time} s: {off:.2e}");
    }
}

#[test]
fn exact_files_are_valid_and_three_shows_the_stand_in() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files = Vec::new();
    for case in exact_cases() {
        let file = write_into(folder.path(), case.name, &case.document);
        let shown = three_positions(&clients, &file, Some("bend"), &TIMES);
        compare(case.name, &case.document, &case.plain, &TIMES, &shown);
        files.push(file);
    }
    assert_valid(&clients, &files);
}

#[test]
fn a_few_lines_in_three_show_the_exact_skin() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    for case in exact_cases() {
        let skin = case.document.skin.as_ref().expect("it has a skin");
        if matches!(skin.program, VertexProgram::DualQuaternion(_)) {
            continue;
        }
        let file = write_into(folder.path(), case.name, &case.document);
        let shown = three_exact(&clients, &file, Some("bend"), &TIMES);
        compare(case.name, &case.document, skin, &TIMES, &shown);
    }
}

#[test]
fn copies_of_bones_play_animation_space_exactly_in_three() {
    let Some(clients) = support::node_clients() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (document, skin) = copies();
    let file = write_into(folder.path(), COPIES, &document);
    // Posed by hand from all sets: three itself reads only the first four influences.
    let shown = three_exact(&clients, &file, Some("bend"), &TIMES);
    compare(COPIES, &document, &skin, &TIMES, &shown);
    assert_valid(&clients, &[file]);
}

#[test]
#[ignore = "slow: starts Blender for every file"]
fn blender_shows_stand_ins_and_copies() {
    let (Some(python), Some(clients)) = (support::blender_python(), support::node_clients()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    for case in exact_cases() {
        let file = write_into(folder.path(), case.name, &case.document);
        // Several times, because Blender's bug with custom attributes depends on the seed of a hash.
        let runs = if case.name.contains("split") { 4 } else { 1 };
        for _ in 0..runs {
            let shown = blender_positions(&python, &clients, &file, Some("bend"), &KEYS);
            compare(case.name, &case.document, &case.plain, &KEYS, &shown);
        }
    }
    let (document, skin) = copies();
    let file = write_into(folder.path(), COPIES, &document);
    let shown = blender_positions(&python, &clients, &file, Some("bend"), &KEYS);
    compare(COPIES, &document, &skin, &KEYS, &shown);
}

#[test]
fn bones_of_copies_come_after_the_bones_that_clips_name() {
    let (document, skin) = copies();
    let extended = &document.skin.as_ref().expect("it has a skin").skeleton;
    for bone in skin.skeleton.ids() {
        let (a, b) = (&skin.skeleton.bones(), &extended.bones());
        assert_eq!(a[bone.index()], b[bone.index()], "clips need no change");
    }
    let copy = &extended.bones()[skin.skeleton.bone_count()];
    assert_eq!(copy.parent, Some(BoneId(0)), "a child of its bone");
}
