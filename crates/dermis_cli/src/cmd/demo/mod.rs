//! `dermis demo`: a human arm before and after, in files, numbers and moving pictures.

mod pictures;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use dermis::compare::{CompareOptions, Compared, Comparison, ComparisonRow, compare};
use dermis::fit::{Budget, Method, PsdOptions, SsdOptions, choose_fitted};
use dermis::measure::{Measures, measure_predictions};
use dermis::mesh::DrawMesh;
use dermis::synth::HumanArm;
use dermis::{ExampleSet, Pose, Split};
use dermis_io::{Document, Frame, Transaction, WriteOptions};

use self::pictures::Stage;
use super::fit::skin_document;
use crate::Outcome;
use crate::args::{DemoArgs, Up};
use crate::examples::Prepared;
use crate::report;
use crate::talk::Talk;

/// Frames per second of the clips.
const FPS: f64 = 24.0;
/// Which examples no fit sees.
const SPLIT: Split = Split::EveryNth(4);

pub(crate) fn run(args: &DemoArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    check_folder(&args.folder)?;
    let arm = HumanArm::shared();
    let prepared = prepare(arm);
    let set = &prepared.set;
    let budget = Budget::default();
    let methods = methods(budget.max_influences);
    let comparison = compare(set, &SPLIT, &methods, &CompareOptions::default(), talk)?;
    let (row, after) = choose(set, &comparison, &budget, talk)?;
    let before = painted_measures(arm, set, after)?;

    let stage = Stage::new(arm, set, after, &row.title);
    let moving = stage.moving_picture(talk)?;
    let (worst_pose, still) = stage.worst_pose(talk)?;
    let command = report::command_line();
    let compared = report::comparison_report(set, &comparison, command);
    let figures = report::comparison_figures(set, &comparison, Up::Y, talk)?;
    let page = report::html(&compared, &figures)?;
    talk.check_stopped()?;

    let names = [
        "before_after.png",
        "worst.png",
        "before.glb",
        "after.glb",
        "compare.html",
        "examples.npz",
    ];
    let paths = names.map(|name| args.folder.join(name));
    let [
        moving_path,
        still_path,
        before_path,
        after_path,
        page_path,
        examples_path,
    ] = &paths;
    let before_file = Document {
        skin: Some(arm.painted().clone()),
        skeleton: None,
        clips: prepared.clips.clone(),
        frames: Vec::new(),
        frame_poses: Vec::new(),
        frames_per_second: None,
        ..prepared.look.clone()
    };
    let after_file = skin_document(&prepared, &row.method, &after.report, &after.engine, talk);
    let mut files = Transaction::new();
    files.add(moving_path, &moving)?;
    files.add(still_path, &still)?;
    files.add_document(before_path, &before_file, &WriteOptions::default())?;
    files.add_document(after_path, &after_file, &WriteOptions::default())?;
    files.add(page_path, page.as_bytes())?;
    files.add_document(examples_path, &prepared.look, &WriteOptions::default())?;
    files.commit()?;
    talk.clear();

    let shown = paths.each_ref().map(|path| path.display().to_string());
    let what = [
        "the motion as it should be, before and after: open it in a browser".to_owned(),
        format!("the pose where painted weights are worst: {worst_pose}"),
        "what everyone has: painted weights, linear blend skinning, with the clip".to_owned(),
        format!(
            "{}, with the clip: drop both into any glTF viewer",
            row.title
        ),
        "every method side by side: numbers, pictures, error against cost".to_owned(),
        "the example meshes with their poses, as you would bring your own".to_owned(),
    ];
    let page = report::page_width();
    let prose = |text: &str| {
        let lines = text.lines().map(|line| report::wrap(line, page, 0));
        lines.collect::<Vec<String>>().join("\n")
    };
    writeln!(
        std::io::stdout().lock(),
        "{}\n\n\
         {}\n\n\
         {}\n\n\
         {}\n\n\
         Look at:\n{}\n\n\
         Then:\n  \
         # the same choice, from more ways to fit\n  \
         dermis fit {examples} --method auto -o skin.glb\n  \
         # the table and the page\n  \
         dermis compare {examples} --report compare.html\n  \
         # what is in the file\n  \
         dermis info {after}",
        prose(&summary(set, &before, after, row)),
        prose("Every method, fitted to three quarters of the examples and tested on the rest:"),
        report::text(&compared),
        prose(&about_the_rows(set, &before, row)),
        listed(&shown, &what, page),
        examples = shown[5],
        after = shown[3],
    )
    .context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// Files, and what is in each: beside its name, or below where names are long.
fn listed(files: &[String], what: &[String], page: usize) -> String {
    let longest = files.iter().map(|file| file.chars().count()).max();
    let width = longest.unwrap_or(0);
    let beside = width + 4 <= page / 2;
    let lines = files.iter().zip(what).map(|(file, what)| match beside {
        true => report::wrap(&format!("  {file:<width$}  {what}"), page, width + 4),
        false => format!(
            "  {file}\n{}",
            report::wrap(&format!("      {what}"), page, 6)
        ),
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Every method; pose space deformation with a base that spreads twist, because trying every base takes minutes.
fn methods(max_influences: usize) -> Vec<Method> {
    let with_one_base = |method: Method| match method {
        Method::Psd(options) => Method::Psd(PsdOptions {
            bases: vec![Method::PseudoBones(SsdOptions::default())],
            ..options
        })
        .with_max_influences(max_influences),
        other => other,
    };
    let all = Method::all(max_influences).into_iter();
    all.map(with_one_base).collect()
}

/// Finds out now, not after all the work, that the folder cannot be made.
fn check_folder(folder: &Path) -> anyhow::Result<()> {
    match folder.ancestors().find(|part| part.is_file()) {
        Some(file) => bail!(
            "{}: cannot be made, because {} is a file",
            folder.display(),
            file.display()
        ),
        None => Ok(()),
    }
}

/// The arm as if it had been read from a file.
fn prepare(arm: &HumanArm) -> Prepared {
    let set = arm.examples();
    let frames = (set.examples().iter())
        .map(|example| Frame {
            name: example.name.clone(),
            positions: example.positions.clone(),
        })
        .collect();
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let mesh = arm.mesh();
    let look = Document {
        mesh: mesh.clone(),
        draw: DrawMesh::plain("arm", mesh.vertex_count(), mesh.triangles()),
        skeleton: Some(set.skeleton().clone()),
        frames,
        frame_poses: poses,
        ..Document::default()
    };
    Prepared {
        set,
        look,
        clips: vec![arm.clip(FPS)],
        rig_skin: None,
        notes: Vec::new(),
    }
}

/// The row that `--method auto --target engine` would take, if it tried no other options than those of the table.
fn choose<'a>(
    set: &ExampleSet,
    comparison: &'a Comparison,
    budget: &Budget,
    talk: &Talk,
) -> anyhow::Result<(&'a ComparisonRow, &'a Compared)> {
    let eligible: Vec<(&ComparisonRow, &Compared)> = comparison
        .compared()
        .filter(|(row, _)| row.method.turns_with_the_character())
        .collect();
    let fits = eligible.iter().map(|(row, c)| (&row.method, &c.report));
    let choice = choose_fitted(set, &SPLIT, fits, budget, talk)?;
    Ok(eligible[choice.chosen])
}

/// Errors of the painted weights on the poses that no fit has seen.
fn painted_measures(
    arm: &HumanArm,
    set: &ExampleSet,
    after: &Compared,
) -> anyhow::Result<Measures> {
    let held_out = after.report.held_out.as_ref();
    let unseen: Vec<usize> = (0..set.examples().len())
        .filter(|&k| held_out.is_some_and(|held_out| held_out.contains(k)))
        .collect();
    let measured = measure_predictions(set, &unseen, |k| {
        arm.painted().evaluate(&set.examples()[k].pose)
    })?;
    Ok(measured.total)
}

/// What it is, and what was gained.
fn summary(set: &ExampleSet, before: &Measures, after: &Compared, row: &ComparisonRow) -> String {
    let shown = after.engine.tested();
    let millimetres = |share: f64| 1000.0 * share * set.size();
    format!(
        "A human arm of {} vertices on a game rig of {} bones, in {} poses of a slow muscle rig.\n\
         On {} of them, which no fit has seen, painted weights are off by {:.1} mm (mean; at most {:.0}), \
         and {} by {:.2} mm (at most {:.1}): {:.0} times less.",
        set.rest().vertex_count(),
        set.skeleton().bone_count(),
        set.examples().len(),
        before.example_count,
        millimetres(before.mean_distance),
        millimetres(before.max_distance),
        row.title,
        millimetres(shown.mean_distance),
        millimetres(shown.max_distance),
        before.mean_distance / shown.mean_distance
    )
}

/// What the table does not say: where before and after are in it.
fn about_the_rows(set: &ExampleSet, before: &Measures, row: &ComparisonRow) -> String {
    format!(
        "before.glb is not in the table: the painted weights as they are, E_RMS {:.3} on the same {} poses. \
         The row ssd has the best weights that linear blend skinning can have. psd and eigenskin stand on \
         pseudo-bones here; dermis compare tries other bases too, which takes minutes.\n\
         after.glb is {}: of the methods that stock players show, the smallest within 5% of the lowest error on \
         poses held out; then fitted to all {} examples.",
        before.e_rms,
        before.example_count,
        row.label,
        set.examples().len()
    )
}
