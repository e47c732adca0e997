//! `dermis demo`: the main job on a character made on the spot.

use std::io::Write;

use anyhow::Context;
use dermis::compare::{CompareOptions, compare};
use dermis::fit::{Method, SsdOptions, engine_report};
use dermis::synth::{ArmOptions, arm};
use dermis::{Clip, Pose, Split};
use dermis_io::{Document, Frame, Transaction, WriteOptions};

use super::fit::{Chosen, FitJob, skin_document};
use crate::Outcome;
use crate::args::{DemoArgs, Up};
use crate::examples::Prepared;
use crate::report::{self, Shown, choose_examples, picture_rows};
use crate::talk::Talk;

/// Frames per second of the demo's motion.
const FPS: f64 = 24.0;

pub(crate) fn run(args: &DemoArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let prepared = make_arm()?;
    let set = &prepared.set;
    talk.remark(format!(
        "An arm of {} vertices and {} bones bends its elbow, turns its hand by 180 degrees and \
         flexes its biceps in {} examples.",
        set.rest().vertex_count(),
        set.skeleton().bone_count(),
        set.examples().len()
    ));
    let job = FitJob {
        prepared: &prepared,
        choice: Chosen::Asked(Method::Ssd(SsdOptions::default())),
        split: Split::EveryNth(4),
        up: Up::Y,
        command: report::command_line(),
    };
    let fitted = job.fit(talk)?;
    let engine = engine_report(set, &fitted, false, talk)?;
    let chosen = choose_examples(&fitted);
    let worst: Vec<Shown> = chosen.into_iter().take(1).collect();
    let picture = picture_rows(&job, &fitted, &worst, 640, talk)?
        .remove(0)
        .to_png()?;
    let html = report::html(&job, &fitted, &engine, talk)?;
    let methods = Method::all(SsdOptions::default().max_influences);
    let comparison = compare(set, &job.split, &methods, &CompareOptions::default(), talk)?;
    let compared = report::compare_html(&prepared, &comparison, job.up, &job.command, talk)?;
    talk.check_stopped()?;

    let names = [
        "examples.npz",
        "arm.glb",
        "report.html",
        "worst.png",
        "compare.html",
    ];
    let [examples, skin, page, png, others] = names.map(|name| args.folder.join(name));
    let document = skin_document(&prepared, job.method(), &fitted, &engine, talk);
    let mut files = Transaction::new();
    files.add_document(&examples, &prepared.look, &WriteOptions::default())?;
    files.add_document(&skin, &document, &WriteOptions::default())?;
    files.add(&png, &picture)?;
    files.add(&page, html.as_bytes())?;
    files.add(&others, compared.as_bytes())?;
    files.commit()?;
    talk.clear();

    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}\n\nThe same arm, fitted in every way:\n{}\n\n\
         {:<32} every method side by side: numbers, pictures, error against cost\n\
         {:<32} linear blend skinning alone: numbers, pictures, error per frame\n\
         {:<32} the worst pose that it was not fitted to: look at the forearm, which collapses\n\
         {:<32} the skin with its clip: drop it into any glTF viewer\n\
         {:<32} the examples, for: dermis fit {} -o again.glb",
        report::table(&job, &fitted, &engine),
        report::compare_table(set, &comparison),
        others.display(),
        page.display(),
        png.display(),
        skin.display(),
        examples.display(),
        examples.display()
    )
    .context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// The arm as if it had been read from a file.
fn make_arm() -> anyhow::Result<Prepared> {
    let character = arm(&ArmOptions::default());
    let set = character.examples;
    let poses: Vec<Pose> = set
        .examples()
        .iter()
        .map(|example| example.pose.clone())
        .collect();
    let frames = set
        .examples()
        .iter()
        .map(|example| Frame {
            name: example.name.clone(),
            positions: example.positions.clone(),
        })
        .collect();
    let look = Document {
        mesh: set.rest().clone(),
        draw: character.draw,
        skeleton: Some(set.skeleton().clone()),
        frames,
        frame_poses: poses.clone(),
        frames_per_second: Some(FPS),
        ..Document::default()
    };
    let clip = Clip::from_poses("curl and turn", set.skeleton(), &poses, FPS)?;
    Ok(Prepared {
        set,
        look,
        clips: vec![clip],
        rig_skin: None,
    })
}
