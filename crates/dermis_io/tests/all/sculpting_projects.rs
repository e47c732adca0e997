//! Sculpting projects as another program would work on them: no command line.

use std::path::PathBuf;

use dermis::mesh::DrawMesh;
use dermis::skin::Delta;
use dermis::synth::{TubeOptions, tube};
use dermis_io::project::{
    AddedShape, NewControl, Project, ProjectError, ProjectFault, SculptOptions,
};
use dermis_io::{Document, Frame, FrameStorage, WriteOptions};
use glam::DVec3;
use tempfile::TempDir;

/// The vertex that sculpts pull.
const PULLED: usize = 17;

struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// A folder with a tube.
    fn new() -> Self {
        let scratch = Self {
            folder: tempfile::tempdir().expect("a scratch folder"),
        };
        let made = tube(&TubeOptions::default());
        let mesh = made.examples.rest().clone();
        let document = Document {
            draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
            mesh,
            skin: Some(made.truth),
            ..Document::default()
        };
        let path = scratch.at("tube.glb");
        dermis_io::write(&path, &document, &WriteOptions::default()).expect("it can be written");
        scratch
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A project of the tube, not saved.
    fn project(&self) -> Project {
        let controls = ["bend=bone_1:hinge:y", "load=slider"];
        let controls = controls.map(|typed| NewControl::parse(typed).expect("a control"));
        let (path, base) = (self.at("tube.psd.toml"), self.at("tube.glb"));
        Project::new(&path, &base, &controls).expect("a project of the tube")
    }

    fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("readable").path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => names.push(path.display().to_string()),
                }
            }
        }
        names.sort();
        names
    }
}

/// Pulls one vertex out in a pose.
fn pull(
    project: &mut Project,
    pose: &str,
    options: &SculptOptions,
    by: f64,
) -> Result<AddedShape, ProjectError> {
    let plan = project.plan_sculpt(pose, options)?;
    let mut sculpted = plan.shown().to_vec();
    sculpted[PULLED] += by * DVec3::ONE;
    project.add_shape(&plan, &sculpted, project.tolerance())
}

fn fault(error: ProjectError) -> ProjectFault {
    match error {
        ProjectError::Content { fault, .. } => *fault,
        error => panic!("expected something wrong in the project: {error}"),
    }
}

#[test]
fn a_sculpt_is_in_memory_until_it_is_saved_and_then_shows_in_its_pose() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    let before = scratch.files();
    let added = pull(&mut project, "bend=60", &SculptOptions::default(), 0.1);
    let added = added.expect("a sculpt");
    assert_eq!(
        (&*added.name, &*added.layer),
        ("bend60", "bend"),
        "by its pose"
    );
    assert!(
        added.falloff_is_a_guess && added.falloff == "bend=30",
        "{added:?}"
    );
    assert_eq!(added.found.shape.len(), 1, "one vertex");
    assert!(added.moved.is_empty(), "{:?}", added.moved);
    assert_eq!(scratch.files(), before, "nothing is written yet");

    project.save().expect("it can be written");
    let read = Project::read(&scratch.at("tube.psd.toml")).expect("as saved");
    assert_eq!(read.text(), project.text(), "the text");
    let at = read.parse_pose("bend=60").expect("a pose");
    let shown = read.shown(&at).expect("it can be solved");
    let below = read.skin().evaluate(&read.pose(&at)).expect("its own pose");
    let moved = shown[PULLED] - below[PULLED];
    assert!(moved.abs_diff_eq(DVec3::splat(0.1), 1e-9), "{moved}");
    let result = read.document().expect("it has a sculpt");
    assert!(result.moved.is_empty(), "it is met: {:?}", result.moved);
    let skin = result.document.skin.expect("a skin");
    assert!(
        skin.coefficients.iter().any(|c| c.name == "bend60"),
        "a morph target"
    );
}

#[test]
fn edits_keep_comments_and_a_sculpt_is_replaced_in_its_place() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    pull(&mut project, "bend=60", &SculptOptions::default(), 0.1).expect("a sculpt");
    project.save().expect("it can be written");
    let path = scratch.at("tube.psd.toml");
    let text = std::fs::read_to_string(&path).expect("a text");
    let commented = text.replace(
        "falloff = { bend = 30 }",
        "falloff = { bend = 25 } # narrow",
    );
    assert_ne!(commented, text, "{text}");
    std::fs::write(&path, commented).expect("it can be written");

    let mut project = Project::read(&path).expect("as edited");
    let taken = pull(&mut project, "bend=60", &SculptOptions::default(), 0.2);
    let taken = fault(taken.expect_err("a sculpt stands there"));
    assert!(matches!(taken, ProjectFault::PoseTaken { .. }), "{taken:?}");
    let files = scratch.files();
    let replace = SculptOptions {
        replace: true,
        ..SculptOptions::default()
    };
    let added = pull(&mut project, "bend=60", &replace, 0.2).expect("it is replaced");
    assert!(
        !added.falloff_is_a_guess && added.falloff == "bend=25",
        "{added:?}"
    );
    assert!(project.text().contains("# narrow"), "{}", project.text());
    project.save().expect("it can be written");
    let mut now = scratch.files();
    now.retain(|file| !file.contains("tube.psd.history"));
    assert_eq!(now, files, "in the same file, but for what can be undone");
}

#[test]
fn shapes_of_a_file_become_sliders_and_the_others_are_listed() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    let rest = project.base().mesh.clone();
    let frame = |name: &str, by: f64| {
        let mut positions = rest.positions().to_vec();
        positions[PULLED].x += by;
        Frame {
            name: name.to_owned(),
            positions,
        }
    };
    let face = Document {
        path: "face.npz".into(),
        mesh: rest.clone(),
        frames: vec![frame("smile", 0.1), frame("still", 0.0), frame("load", 0.2)],
        ..Document::default()
    };
    let text = project.text().to_owned();
    let imported = project.import_targets(&face, None).expect("two shapes");
    assert_eq!(imported.layer, "shapes", "unless one is named");
    assert_eq!(
        imported.controls,
        ["smile", "load"],
        "load was a slider already"
    );
    let skipped: Vec<String> = imported.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(skipped, ["still: moves nothing"], "and why");
    assert!(project.text().starts_with(&text), "{}", project.text());
    project.save().expect("it can be written");
    let mut read = Project::read(project.path()).expect("as saved");
    let at = read.parse_pose("smile=0.5").expect("a pose");
    let moved = read.shown(&at).expect("it can be solved")[PULLED].x - rest.positions()[PULLED].x;
    assert!((moved - 0.05).abs() < 1e-9, "half of it: {moved}");

    let again = fault(read.import_targets(&face, None).expect_err("all are there"));
    let ProjectFault::NothingToImport { skipped, .. } = &again else {
        panic!("{again:?}");
    };
    assert!(
        skipped[0].contains("smile: is sculpted already"),
        "{skipped:?}"
    );
    assert_eq!(read.text(), project.text(), "left as it was");
    let other = Document {
        mesh: tube(&TubeOptions {
            ring_count: 3,
            ..TubeOptions::default()
        })
        .examples
        .rest()
        .clone(),
        ..face
    };
    let error = read.import_targets(&other, None).expect_err("another mesh");
    assert!(error.to_string().starts_with("face.npz: has "), "{error}");
}

#[test]
fn a_check_names_shapes_that_are_gone_and_controls_that_nobody_uses() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    pull(&mut project, "bend=60", &SculptOptions::default(), 0.1).expect("a sculpt");
    let kinds = |project: &Project| -> Vec<&str> {
        let (_, warnings) = project.check();
        warnings.iter().map(|w| w.kind).collect()
    };
    assert_eq!(kinds(&project), ["control"], "nobody reads load");
    project.save().expect("it can be written");
    std::fs::remove_file(scratch.at("tube.psd/bend60.txt")).expect("it was there");
    assert_eq!(kinds(&project), ["shape", "control"], "it is gone");
    let (_, warnings) = project.check();
    let sentence = warnings[0].to_string();
    assert!(
        sentence.starts_with("layer bend, sculpt bend60: "),
        "{sentence}"
    );
}

#[test]
fn a_sweep_passes_through_its_sculpts() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    pull(&mut project, "bend=60", &SculptOptions::default(), 0.1).expect("a sculpt");
    let sweep = project.sweep("bend", project.at_rest()).expect("a control");
    assert!(
        sweep.from < 0.0 && sweep.to > 60.0,
        "a little more: {sweep:?}"
    );
    let skin = project.build().expect("it can be solved").skin;
    let curves = sweep.curves(&skin, 101).expect("its own skin");
    let [curve] = &curves[..] else {
        panic!("one shape: {curves:?}");
    };
    let [[x, y]] = curve.sculpted_at[..] else {
        panic!("one pose: {curve:?}");
    };
    assert!(
        (x - 60.0).abs() < 1e-9 && (y - 1.0).abs() < 0.01,
        "at {x}: {y}"
    );
    let falloff = curve.falloff.as_ref().expect("one falloff");
    assert_eq!(falloff.len(), curve.points.len(), "at the same numbers");
    let error = project
        .sweep("knee", project.at_rest())
        .expect_err("no knee");
    assert!(
        error.to_string().contains("there are bend, load"),
        "{error}"
    );
}

#[test]
fn a_posed_mesh_is_a_frame_or_the_mesh_itself() {
    let scratch = Scratch::new();
    let project = scratch.project();
    let at = project.parse_pose("bend=90").expect("a pose");
    let shown = project.shown(&at).expect("no shapes");
    let frames = project.posed_mesh(&at, FrameStorage::FileEach);
    let frames = frames.expect("no shapes");
    assert_eq!(frames.frames[0].name, "bend=90", "the pose");
    assert_eq!(frames.mesh, project.base().mesh, "at rest");
    let targets = project.posed_mesh(&at, FrameStorage::MorphTargets);
    let targets = targets.expect("no shapes");
    assert!(targets.frames.is_empty(), "no frames beside it");
    assert_eq!(targets.mesh.positions(), shown, "posed");
}

#[test]
fn what_is_refused_leaves_the_project_alone_and_names_no_flag() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    let named = |name: &str| SculptOptions {
        name: Some(name.to_owned()),
        ..SculptOptions::default()
    };
    pull(&mut project, "bend=60", &named("flex"), 0.1).expect("a sculpt");
    let text = project.text().to_owned();
    let default = SculptOptions::default();
    let to_layer = SculptOptions {
        layer: Some("bend".to_owned()),
        ..SculptOptions::default()
    };
    let replace = SculptOptions {
        replace: true,
        ..SculptOptions::default()
    };
    let with_falloff = |falloff: &str| SculptOptions {
        falloff: Some(falloff.to_owned()),
        ..SculptOptions::default()
    };
    for (pose, options, by, expected) in [
        ("bend=0", &default, 0.1, "pose 'bend=0' is the pose rest"),
        (
            "knee=1",
            &default,
            0.1,
            "no control of the project (bend, load)",
        ),
        (
            "bend=60",
            &default,
            0.1,
            "pose bend=60 is taken: sculpt flex",
        ),
        ("bend=30", &default, 0.0, "nothing was sculpted"),
        ("bend=30", &replace, 0.1, "no sculpt stands at bend=30"),
        ("load=1", &to_layer, 0.1, "are the same to layer bend"),
        (
            "load=1",
            &named("flex"),
            0.1,
            "layer bend has a sculpt of that name",
        ),
        ("load=1", &named("load"), 0.1, "a slider or morph target"),
        ("load=1", &named("a,b"), 0.1, "'a,b' is no name"),
        (
            "bend=30",
            &with_falloff("0"),
            0.1,
            "falloff '0': expected more than 0",
        ),
        (
            "bend=30,load=1",
            &with_falloff("4"),
            0.1,
            "such as bend=40,load=0.5",
        ),
    ] {
        let error = pull(&mut project, pose, options, by).expect_err(pose);
        let sentence = error.to_string();
        assert!(sentence.contains("tube.psd.toml: "), "{sentence}");
        assert!(sentence.contains(expected), "{expected:?} in {sentence}");
        assert!(
            !sentence.contains("--") && !sentence.contains('\n'),
            "{sentence}"
        );
        assert_eq!(project.text(), text, "as it was");
    }
    let plan = project.plan_sculpt("bend=30", &default).expect("a pose");
    let few = [DVec3::ZERO; 3];
    let error = fault(project.add_shape(&plan, &few, 0.0).expect_err("three"));
    assert!(
        matches!(error, ProjectFault::OtherMesh { found: 3, .. }),
        "{error}"
    );
}

#[test]
fn a_shape_of_the_project_is_what_was_sculpted() {
    let scratch = Scratch::new();
    let mut project = scratch.project();
    let added = pull(&mut project, "load=1", &SculptOptions::default(), 0.25);
    let added = added.expect("a sculpt");
    let layer = &project.layers()[0];
    let sculpt = project.sculpt(layer, &layer.sculpts[0]).expect("in memory");
    let expected = [Delta {
        index: PULLED as u32,
        value: DVec3::splat(0.25),
    }];
    // At rest the base moves nothing.
    assert_eq!(added.layer, "load", "after the slider");
    let apart = sculpt.shape[0].value.distance(expected[0].value);
    assert!(sculpt.shape.len() == 1 && apart < 1e-12, "{sculpt:?}");
}
