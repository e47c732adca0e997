//! `dermis rig`: meshes to bones, and their pose in each mesh.

use std::io::Write;

use anyhow::Context;
use dermis::Pose;
use dermis::document::guess_bones;
use dermis::fit::{BoneGuess, BoneOptions, FittedBones, SsdOptions, fit_bones, fit_ssd};
use dermis::joint::joint_statistics;
use dermis_io::{Content, Document, Format, WriteOptions};
use serde_json::json;

use super::{check_faces, output_format};
use crate::Outcome;
use crate::args::RigArgs;
use crate::hints::Explained;
use crate::matching::{read_beside, read_inputs};
use crate::overwrite;
use crate::report::NameColumn;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &RigArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = output_format(&args.output, &[Content::Skin], "rigged meshes are")?;
    let beside = args.sequence.files().chain(&args.skeleton);
    overwrite::check([&args.output], args.inputs.iter().chain(beside), talk)?;
    let options = BoneOptions {
        blend_rounds: args.blend_rounds,
        space_rounds: args.space_rounds,
        max_influences: args.max_influences,
        reach: args.reach,
        ..BoneOptions::default()
    };
    options.check()?;
    let mut document = read_inputs(&args.inputs, &args.sequence, talk)?;
    let matching = &args.sequence.matching;
    document.show_clips(args.fps).explained(matching)?;
    check_faces(&document, &args.output)?;
    let meshes = document.example_meshes(!args.without_rest)?;
    let guess = match (&args.skeleton, args.bones) {
        (Some(path), _) => {
            let rig = read_beside(path, &matching.up, talk)?;
            let guess = guess_bones(&rig, &document, &matching.options(talk));
            let (guess, note) = guess.explained(matching)?;
            talk.remark_all(&note);
            guess
        }
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
    let result = rigged_document(&document, &found, skin, format, args, talk);
    dermis_io::write(&args.output, &result, &WriteOptions::default())?;
    talk.clear();
    let text = match args.json {
        true => json(&found)?,
        false => table(&found),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    talk.remark_written(&[&args.output]);
    Ok(Outcome::Done)
}

fn rigged_document(
    document: &Document,
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
        ..document.clone()
    };
    if format.holds(Content::FramePoses) {
        let frame = |example: &dermis::Example| dermis_io::Frame {
            name: example.name.clone(),
            positions: example.positions.clone(),
        };
        result.frames = examples.iter().map(frame).collect();
        result.frame_poses = poses;
    } else {
        let skeleton = found.examples.skeleton();
        let (clips, notes) = document.clip_of_examples(skeleton, &poses, args.fps);
        talk.remark_all(&notes);
        result.clips = clips;
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
