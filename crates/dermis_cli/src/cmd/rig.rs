//! `dermis rig`: meshes to bones, and their pose in each mesh.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use dermis::fit::{
    BoneGuess, BoneOptions, ExampleMesh, FittedBones, SsdOptions, fit_bones, fit_ssd,
};
use dermis::joint::joint_statistics;
use dermis::skin::VertexProgram;
use dermis::{BoneId, Pose, Skeleton};
use dermis_io::{Content, Document, Format, WriteOptions};
use glam::DVec3;
use serde_json::json;

use super::{check_faces, output_format, read_inputs};
use crate::Outcome;
use crate::animation::{no_motion, show_clips};
use crate::args::RigArgs;
use crate::examples::bake;
use crate::input_args::{MatchArgs, Of};
use crate::matching::{Pair, check, check_joints, read_beside, rest_meshes};
use crate::motion::motion_rate;
use crate::report::NameColumn;
use crate::talk::{Talk, plural};

/// A vertex with at least this share of one bone belongs to its core.
const CORE_WEIGHT: f64 = 0.95;
/// Without weights, a vertex belongs to the core of a bone that is this much nearer than the next.
const CORE_NEARER: f64 = 0.6;

pub(crate) fn run(args: &RigArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = output_format(&args.output, &[Content::Skin], "rigged meshes are")?;
    let options = BoneOptions {
        blend_rounds: args.blend_rounds,
        space_rounds: args.space_rounds,
        max_influences: args.max_influences,
        reach: args.reach,
        ..BoneOptions::default()
    };
    options.check()?;
    let mut document = read_inputs(&args.inputs, &args.sequence, talk)?;
    show_clips(&mut document, args.fps)?;
    check_faces(&document, &args.output)?;
    let meshes = example_meshes(&document, args.without_rest)?;
    let guess = match (&args.skeleton, args.bones) {
        (Some(path), _) => guess_from(path, &document, &args.sequence.matching, talk)?,
        (None, count) => BoneGuess::Count(count.unwrap_or(1)),
    };
    let found = fit_bones(&document.mesh, &meshes, &guess, &options, talk)
        .with_context(|| document.path.display().to_string())?;
    talk.check_stopped()?;
    let everything: Vec<usize> = (0..meshes.len()).collect();
    let ssd = SsdOptions {
        max_influences: args.max_influences,
        ..SsdOptions::default()
    };
    let skin = fit_ssd(&found.examples, &everything, &ssd, talk)?.skin;
    let result = rigged_document(document, &found, skin, format, args, talk);
    dermis_io::write(&args.output, &result, &WriteOptions::default())?;
    talk.clear();
    let text = match args.json {
        true => json(&found)?,
        false => table(&found),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    talk.remark(format!("wrote {}", args.output.display()));
    Ok(Outcome::Done)
}

/// The meshes of a file, with its rest mesh in front unless it is one of them.
pub(crate) fn example_meshes(
    document: &Document,
    without_rest: bool,
) -> anyhow::Result<Vec<ExampleMesh>> {
    if document.frames.is_empty() {
        bail!(no_motion(document));
    }
    let frames = document.frames.iter().map(|frame| ExampleMesh {
        name: frame.name.clone(),
        positions: frame.positions.clone(),
    });
    let rest = document.mesh.positions();
    let has_rest = document.frames.iter().any(|frame| frame.positions == rest);
    let rest = (!has_rest && !without_rest).then(|| ExampleMesh {
        name: "rest".to_owned(),
        positions: rest.to_vec(),
    });
    Ok(rest.into_iter().chain(frames).collect())
}

/// A skeleton from a file, and the vertices at the core of each of its bones.
fn guess_from(
    path: &Path,
    document: &Document,
    matching: &MatchArgs,
    talk: &Talk,
) -> anyhow::Result<BoneGuess> {
    let rig = read_beside(path, &matching.up, talk)?;
    let skeleton = match (&rig.skin, &rig.skeleton) {
        (Some(skin), _) => skin.skeleton.clone(),
        (None, Some(skeleton)) => skeleton.clone(),
        (None, None) => bail!("{}: expected a skeleton, found none", path.display()),
    };
    let vertex_count = document.mesh.vertex_count();
    let weights = rig.skin.as_ref().and_then(|skin| match &skin.program {
        VertexProgram::Ssd(ssd) if ssd.weights.len() == vertex_count => Some(&ssd.weights),
        _ => None,
    });
    let pair = Pair {
        meshes: &document.path,
        rest: path,
        of: Of::All,
    };
    match weights {
        // Weights go by the number of a vertex.
        Some(_) => {
            let shape = [document.mesh.positions()];
            check(&rest_meshes(&rig), &shape, pair, matching)?;
        }
        None => check_joints(&skeleton, &document.mesh, pair, matching)?,
    }
    let cores: Vec<Option<BoneId>> = match weights {
        Some(weights) => weights
            .iter()
            .map(|row| row.iter().find(|w| w.weight >= CORE_WEIGHT).map(|w| w.bone))
            .collect(),
        None => {
            talk.remark(format!(
                "note: {} has no weights for these {vertex_count} vertices: each bone gets the vertices \
                 that are nearest to it",
                path.display()
            ));
            nearest_bones(&skeleton, document.mesh.positions())
        }
    };
    if cores.iter().all(Option::is_none) {
        bail!(
            "{}: no vertex follows a single bone (a weight of 0.95 or more), so the motion of the bones cannot be \
             found: give weights with parts that move rigidly, or use --bones",
            path.display()
        );
    }
    Ok(BoneGuess::Skeleton { skeleton, cores })
}

/// The bone that each vertex is clearly nearest to; bones run from their joint to their children's.
fn nearest_bones(skeleton: &Skeleton, positions: &[DVec3]) -> Vec<Option<BoneId>> {
    let joints: Vec<DVec3> = skeleton
        .bones()
        .iter()
        .map(|bone| bone.bone_from_rest.inverse().translation)
        .collect();
    let mut segments: Vec<(BoneId, DVec3, DVec3)> = Vec::new();
    for (id, bone) in skeleton.ids().zip(skeleton.bones()) {
        segments.push((id, joints[id.index()], joints[id.index()]));
        if let Some(parent) = bone.parent {
            segments.push((parent, joints[parent.index()], joints[id.index()]));
        }
    }
    let distance = |p: DVec3, a: DVec3, b: DVec3| {
        let along = b - a;
        let t = (p - a).dot(along) / along.length_squared();
        p.distance(
            a + along
                * if t.is_finite() {
                    t.clamp(0.0, 1.0)
                } else {
                    0.0
                },
        )
    };
    let nearest = |p: &DVec3| {
        let mut best = vec![f64::INFINITY; joints.len()];
        for &(id, a, b) in &segments {
            best[id.index()] = best[id.index()].min(distance(*p, a, b));
        }
        let mut order: Vec<usize> = (0..best.len()).collect();
        order.sort_by(|&a, &b| best[a].total_cmp(&best[b]).then(a.cmp(&b)));
        let clear = order
            .get(1)
            .is_none_or(|&second| best[order[0]] < CORE_NEARER * best[second]);
        clear.then(|| BoneId(order[0] as u16))
    };
    positions.iter().map(nearest).collect()
}

fn rigged_document(
    document: Document,
    found: &FittedBones,
    skin: dermis::Skin,
    format: Format,
    args: &RigArgs,
    talk: &Talk,
) -> Document {
    let examples = found.examples.examples();
    let poses: Vec<Pose> = examples
        .iter()
        .map(|example| example.pose.clone())
        .collect();
    let mut result = Document {
        skin: Some(skin),
        frames_per_second: args.fps.or(document.frames_per_second),
        frames: Vec::new(),
        // What was known of another skin that moved these meshes.
        frame_poses: Vec::new(),
        skeleton: None,
        fallback: None,
        record: None,
        ..document
    };
    if format.holds(Content::FramePoses) {
        let frame = |example: &dermis::Example| dermis_io::Frame {
            name: example.name.clone(),
            positions: example.positions.clone(),
        };
        result.frames = examples.iter().map(frame).collect();
        result.frame_poses = poses;
    } else {
        let rate = motion_rate(&args.inputs, &result, args.fps, talk);
        result.frames.clear();
        result.clips = bake(found.examples.skeleton(), &poses, rate, talk);
    }
    result
}

fn table(found: &FittedBones) -> String {
    let skeleton = found.examples.skeleton();
    let diagonal = found.examples.size();
    let poses: Vec<Pose> = found
        .examples
        .examples()
        .iter()
        .map(|e| e.pose.clone())
        .collect();
    let statistics = joint_statistics(skeleton, &poses);
    let names = skeleton.bones().iter().map(|bone| bone.name.as_str());
    let names = NameColumn::of(names.chain(["bone", "parent"]));
    let mut text = format!(
        "{}{}{:>10}{:>16}{:>12}\n",
        names.cell("bone"),
        names.cell("parent"),
        "vertices",
        "joint strays",
        "turns"
    );
    for (id, bone) in skeleton.ids().zip(skeleton.bones()) {
        let parent = bone
            .parent
            .map_or("-", |p| skeleton.bones()[p.index()].name.as_str());
        let vertices = found.cores.iter().filter(|core| **core == id).count();
        let turns = statistics.iter().find(|s| s.bone == id);
        text += &format!(
            "{}{}{vertices:>10}{:>15.3}%{:>12}\n",
            names.cell(&bone.name),
            names.cell(parent),
            100.0 * found.joint_deviation[id.index()] / diagonal,
            turns.map_or("-".to_owned(), |s| format!(
                "{:.0}°",
                s.max_angle_rad.to_degrees()
            )),
        );
    }
    let rounds: Vec<String> = found
        .round_errors
        .iter()
        .map(|error| format!("{:.4}%", 100.0 * error / diagonal))
        .collect();
    text += &format!(
        "{} in {}; rms distance after each round: {}",
        plural(skeleton.bone_count(), "bone"),
        plural(poses.len(), "pose"),
        rounds.join(", ")
    );
    if !found.carried.is_empty() {
        text += &format!(
            "\nbones without vertices of their own, which move with their parents: {}",
            found.carried.join(", ")
        );
    }
    text
}

fn json(found: &FittedBones) -> anyhow::Result<String> {
    let skeleton = found.examples.skeleton();
    let poses: Vec<Pose> = found
        .examples
        .examples()
        .iter()
        .map(|e| e.pose.clone())
        .collect();
    let bones: Vec<_> = skeleton
        .ids()
        .zip(skeleton.bones())
        .map(|(id, bone)| {
            json!({
                "name": bone.name,
                "parent": bone.parent.map(|p| &skeleton.bones()[p.index()].name),
                "vertices": found.cores.iter().filter(|core| **core == id).count(),
                "jointDeviation": found.joint_deviation[id.index()],
            })
        })
        .collect();
    let value = json!({
        "bones": bones,
        "meshes": poses.len(),
        "roundErrors": found.round_errors,
        "carried": found.carried,
        "joints": joint_statistics(skeleton, &poses),
    });
    serde_json::to_string_pretty(&value).context("bones are plain JSON")
}
