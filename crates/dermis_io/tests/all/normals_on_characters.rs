//! Angles between skinned normals and those of the deformed faces, on real characters.
//!
//! Prints the table of `docs/results/normals.md`:
//! `cargo test -p dermis_io --test all normals_on_characters -- --nocapture`

use dermis::mesh::vertex_normals;
use dermis::normal::{
    BlendedNormal, NormalReport, TangentOptions, TangentPairs, blended_normals, fit_tangents,
    measure_normals, project_normals, tangents_from_rest_normals, tangents_with_weight_gradient,
};
use dermis::{Pose, Skin, TriMesh};

use crate::support;

/// At most this many poses are used: half to fit, half held out to measure.
const MAX_POSES: usize = 40;
/// Poses taken from each clip of a file without meshes per frame.
const POSES_PER_CLIP: usize = 16;

struct Character {
    name: &'static str,
    skin: Skin,
    mesh: TriMesh,
    training: Vec<Pose>,
    held_out: Vec<Pose>,
}

/// Reports of one character, one per row of the table.
struct Reports {
    faces: NormalReport,
    faces_with_bone_weights: NormalReport,
    gradient: NormalReport,
    gradient_with_bone_weights: NormalReport,
    plain_rest: NormalReport,
    inverse_transpose: NormalReport,
    matrix: NormalReport,
}

fn load(name: &'static str, relative: &str) -> Option<Character> {
    let path = support::data(relative)?;
    let document = dermis_io::read(&path).expect("a readable character");
    let skin = document.skin.expect("the file has a skin");
    let mut poses = document.frame_poses;
    if poses.is_empty() {
        for clip in &document.clips {
            let length = clip.end() - clip.start();
            poses.extend((0..POSES_PER_CLIP).map(|k| {
                let share = (k as f64 + 0.5) / POSES_PER_CLIP as f64;
                skin.sample(clip, clip.start() + share * length)
            }));
        }
    }
    let step = poses.len().div_ceil(MAX_POSES).max(1);
    let every_other = |first: usize| {
        let thinned = poses.iter().step_by(step);
        thinned.skip(first).step_by(2).cloned().collect()
    };
    Some(Character {
        name,
        mesh: document.mesh,
        training: every_other(0),
        held_out: every_other(1),
        skin,
    })
}

fn measure(character: &Character) -> Reports {
    let Character {
        skin,
        mesh,
        training,
        held_out,
        ..
    } = character;
    let rest = vertex_normals(mesh.positions(), mesh.triangles());
    let three = TangentOptions::default();
    let four = TangentOptions {
        bone_weights: true,
        ..TangentOptions::default()
    };
    let projected = |tangents: TangentPairs| {
        let normals = |pose: &Pose| project_normals(skin, &tangents, pose);
        measure_normals(skin, mesh, held_out, normals).expect("held-out poses fit")
    };
    let blended = |kind| {
        let normals = |pose: &Pose| blended_normals(skin, &rest, pose, kind);
        measure_normals(skin, mesh, held_out, normals).expect("held-out poses fit")
    };
    let faces = |options| fit_tangents(skin, mesh, training, options).expect("poses fit");
    let gradient = |options| {
        tangents_with_weight_gradient(skin, mesh, &rest, training, options).expect("poses fit")
    };
    Reports {
        faces: projected(faces(&three)),
        faces_with_bone_weights: projected(faces(&four)),
        gradient: projected(gradient(&three)),
        gradient_with_bone_weights: projected(gradient(&four)),
        plain_rest: projected(tangents_from_rest_normals(skin, &rest).expect("normals fit")),
        inverse_transpose: blended(BlendedNormal::InverseTranspose),
        matrix: blended(BlendedNormal::Matrix),
    }
}

fn print_rows(character: &Character, reports: &Reports) {
    let rows = [
        ("tangents, faces", &reports.faces),
        (
            "tangents, faces, bone weights",
            &reports.faces_with_bone_weights,
        ),
        ("tangents, gradient", &reports.gradient),
        (
            "tangents, gradient, bone weights",
            &reports.gradient_with_bone_weights,
        ),
        ("tangents, rest normal only", &reports.plain_rest),
        ("blended inverse transpose", &reports.inverse_transpose),
        ("blended matrix", &reports.matrix),
    ];
    for (way, report) in rows {
        let angles = [report.all, report.blended].map(|a| {
            format!(
                "{:.2} | {:.2} | {:.1}",
                a.mean_deg, a.percentile_95_deg, a.max_deg
            )
        });
        println!("| {} | {way} | {} |", character.name, angles.join(" | "));
    }
}

#[test]
fn tangents_beat_blended_matrices_at_the_joints_of_characters() {
    // At joints, mean angle over that of the blended inverse transpose must stay below: fitted to
    // faces, with bone weights, with gradient, with gradient and bone weights. Measured values
    // are half to nine tenths of each.
    let characters = [
        ("tube", "bpy/tube_lbs/truth.npz", [0.03, 0.03, 0.03, 0.03]),
        // The same weights and poses as above: its meshes are smoothed, but the skin is not.
        (
            "tube, csmooth",
            "bpy/tube_csmooth/truth.npz",
            [0.03, 0.03, 0.03, 0.03],
        ),
        // All fingers are children of the root and tear apart as they turn, which three numbers per
        // bone cannot express.
        ("hand", "bpy/hand_csmooth/truth.npz", [0.8, 0.05, 0.8, 0.12]),
        (
            "makehuman",
            "bpy/makehuman_csmooth/truth.npz",
            [0.15, 0.15, 0.3, 0.3],
        ),
        // 290 points: at this size the gradient over a one-ring says little.
        ("Fox", "gltf/Fox.glb", [0.5, 0.5, 0.95, 0.95]),
        ("CesiumMan", "gltf/CesiumMan.glb", [0.25, 0.25, 0.6, 0.6]),
        (
            "RobotExpressive",
            "gltf/RobotExpressive.glb",
            [0.08, 0.08, 0.8, 0.8],
        ),
    ];
    println!("Angle to the normals of the deformed faces, degrees; held-out poses.\n");
    println!("| character | normals | mean | 95% | max | joints: mean | 95% | max |");
    println!("| --- | --- | --: | --: | --: | --: | --: | --: |");
    for (name, file, limits) in characters {
        let Some(character) = load(name, file) else {
            return;
        };
        let reports = measure(&character);
        print_rows(&character, &reports);
        let usual = reports.inverse_transpose;
        assert!(usual.blended.count > 1000, "{name} has joints");
        let same = reports.plain_rest.all.mean_deg - usual.all.mean_deg;
        assert!(same.abs() < 1e-6, "{name}: Eq. 4.8 is Eq. 3.35: {same}");
        let ways = [
            ("faces", reports.faces),
            ("faces, bone weights", reports.faces_with_bone_weights),
            ("gradient", reports.gradient),
            ("gradient, bone weights", reports.gradient_with_bone_weights),
        ];
        for ((way, report), limit) in ways.into_iter().zip(limits) {
            let ratio = report.blended.mean_deg / usual.blended.mean_deg;
            assert!(
                ratio < limit,
                "{name}, {way}: {ratio:.3} of the usual angle at joints, at most {limit} expected"
            );
            assert!(
                report.all.mean_deg < usual.all.mean_deg,
                "{name}, {way}: no better over all vertices"
            );
        }
    }
}
