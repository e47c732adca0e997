//! Meshes without bones: a rig is found, a skin is fitted to it, and new meshes are matched by it.

use dermis::synth::TubeOptions;
use dermis_io::Document;

use crate::common::{SMALL_TUBE, Scratch, number, quoted, tube_document};
use crate::support;

/// A tube as meshes alone.
fn meshes(options: &TubeOptions) -> Document {
    let rigged = tube_document(options);
    Document {
        mesh: rigged.mesh,
        frames: rigged.frames,
        ..Document::default()
    }
}

const TUBE: TubeOptions = TubeOptions {
    ring_count: 30,
    segment_count: 8,
    bone_count: 3,
    example_count: 10,
};

#[test]
fn meshes_alone_become_a_rig_that_can_be_compared_and_played() {
    let scratch = Scratch::new();
    scratch.write("meshes.npz", &meshes(&TUBE));
    let table = scratch
        .dermis("rig meshes.npz --bones 3 -o rigged.npz")
        .done();
    assert!(table.says("bone_00"), "{table:#?}");
    assert!(table.says("joint strays"), "{table:#?}");
    let rigged = scratch.read("rigged.npz");
    assert_eq!(rigged.frames.len(), 11, "the rest mesh is an example too");
    assert_eq!(rigged.frame_poses.len(), 11, "a pose for each");
    assert_eq!(rigged.frames[0].name, "rest", "in front");

    let compared = scratch
        .dermis("compare rigged.npz --methods ssd,animation-space --surface --json")
        .done()
        .json();
    let error = |n: usize| number(&compared, &format!("/methods/{n}/heldOut/eRms"));
    // The tube is an exact blend, so its own bones are found; animation space is kept smooth.
    assert!(error(0) < 0.05 && error(1) < 5.0, "{compared:#}");
    let to_surface = number(&compared, "/methods/0/surface/1/meanDistance");
    let to_vertex = number(&compared, "/methods/0/heldOut/meanDistance");
    assert!(to_surface <= to_vertex, "{to_surface} against {to_vertex}");

    scratch
        .dermis("rig meshes.npz --bones 3 -o rigged.glb -q")
        .done();
    let played = scratch.read("rigged.glb");
    assert_eq!(played.clips.len(), 1, "the examples' poses as a clip");
    assert!(played.skin.is_some(), "with a first skin");
    assert!(played.frames.is_empty(), "and no frames beside it");
}

#[test]
fn meshes_without_a_skeleton_are_fitted_in_one_command() {
    let scratch = Scratch::new();
    scratch.write("meshes.npz", &meshes(&TUBE));
    let without = scratch.dermis("fit meshes.npz -o skin.glb");
    assert_eq!(without.code, 2, "{without:#?}");
    assert!(without.stderr.contains("--bones N"), "{without:#?}");
    let fitted = scratch
        .dermis("fit meshes.npz --bones 3 --method animation-space -o skin.glb --json")
        .done()
        .json();
    assert!(number(&fitted, "/heldOut/eRms") < 20.0, "{fitted:#}");
    let skin = scratch.read("skin.glb");
    assert_eq!(skin.clips.len(), 1, "the examples' poses as a clip");
    let program = &skin.skin.as_ref().expect("a skin").program;
    assert_eq!(
        program.name(),
        "animation space",
        "the exact model comes back"
    );
    let record = skin.record.expect("how it was made");
    assert!(
        record.fallback.is_some(),
        "the stand-in's error is kept: {record:?}"
    );
    assert!(
        !record.joints.is_empty(),
        "and the joints' statistics: {record:?}"
    );
}

#[test]
fn a_drawn_skeleton_keeps_its_names_and_its_joints_are_moved() {
    let scratch = Scratch::new();
    scratch.write("meshes.npz", &meshes(&TUBE));
    let mut guess = tube_document(&TUBE);
    guess.frames.clear();
    guess.frame_poses.clear();
    scratch.write("guess.glb", &guess);
    let found = scratch
        .dermis("rig meshes.npz --skeleton guess.glb -o rigged.npz --json")
        .done()
        .json();
    let names = |document: &Document| -> Vec<String> {
        let skin = document.skin.as_ref().expect("a skin");
        skin.skeleton
            .bones()
            .iter()
            .map(|bone| bone.name.clone())
            .collect()
    };
    assert_eq!(
        names(&scratch.read("rigged.npz")),
        names(&guess),
        "the same bones"
    );
    let bones = found["bones"].as_array().expect("bones");
    for bone in bones.iter().filter(|bone| !bone["parent"].is_null()) {
        assert!(number(bone, "/jointDeviation") < 0.02, "{bone}");
    }
    assert!(
        found["joints"].as_array().is_some_and(|j| !j.is_empty()),
        "{found:#}"
    );
}

#[test]
fn a_skin_is_posed_to_match_meshes_that_it_has_not_seen() {
    let scratch = Scratch::new();
    let known = tube_document(&SMALL_TUBE);
    let mut skin = known.clone();
    skin.frames.clear();
    skin.frame_poses.clear();
    scratch.write("skin.glb", &skin);
    let target = Document {
        mesh: known
            .mesh
            .with_positions(known.frames[4].positions.clone())
            .expect("as many"),
        ..Document::default()
    };
    scratch.write("target.obj", &target);
    let one = scratch
        .dermis("pose skin.glb --to target.obj -o posed.glb --json")
        .done()
        .json();
    assert!(number(&one, "/rmsDistance") < 1e-4, "{one:#}");
    let posed = scratch.read("posed.glb");
    let clip = posed
        .clips
        .iter()
        .find(|clip| clip.name == "posed")
        .expect("a clip of the pose");
    let shown = posed.skin.as_ref().expect("a skin");
    let shown = shown
        .evaluate(&shown.sample(clip, 0.0))
        .expect("its own clip");
    let diagonal = known.mesh.bounds().diagonal();
    for (a, b) in shown.iter().zip(&known.frames[4].positions) {
        assert!(a.distance(*b) < 1e-3 * diagonal, "{a} against {b}");
    }

    scratch.write("all.npz", &meshes(&SMALL_TUBE));
    let table = scratch
        .dermis("pose skin.glb --to all.npz --joints turn -o all_posed.npz")
        .done();
    // A heading, the whole, and what the numbers are shares of.
    assert!(
        table.stdout.lines().count() == SMALL_TUBE.example_count + 3,
        "{table:#?}"
    );
    assert_eq!(
        scratch.read("all_posed.npz").frame_poses.len(),
        SMALL_TUBE.example_count,
        "all"
    );
    let missed = scratch.dermis("pose skin.glb --to target.obj --max-error 1e-12");
    assert_eq!(missed.code, 1, "{missed:#?}");
    assert!(missed.stderr.contains("tolerance missed"), "{missed:#?}");
}

#[test]
fn what_cannot_be_rigged_or_posed_gets_one_sentence() {
    let scratch = Scratch::new();
    scratch.write("meshes.npz", &meshes(&SMALL_TUBE));
    let mut skin = tube_document(&SMALL_TUBE);
    skin.frames.clear();
    skin.frame_poses.clear();
    scratch.write("skin.glb", &skin);
    let single = Document {
        mesh: tube_document(&TUBE).mesh,
        ..Document::default()
    };
    scratch.write("other.obj", &single);
    for (arguments, expected) in [
        ("rig meshes.npz -o r.npz", "--bones"),
        ("rig meshes.npz --bones 0 -o r.npz", "at least 1"),
        ("rig other.obj --bones 3 -o r.npz", "several meshes"),
        ("rig meshes.npz --bones 3 -o r.obj", ".npz"),
        ("rig meshes.npz --bones 3 --reach 0 -o r.npz", "reach"),
        (
            "rig meshes.npz --skeleton other.obj -o r.npz",
            "expected a skeleton",
        ),
        (
            "pose meshes.npz --to other.obj",
            "expected a file with a skin",
        ),
        ("pose skin.glb --to other.obj", "vertices"),
        ("pose skin.glb --to meshes.npz -o p.obj", ".npz"),
    ] {
        let run = scratch.dermis(arguments);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(
            run.stderr.contains(expected),
            "expected '{expected}': {run:#?}"
        );
    }
    let made: Vec<String> = scratch.files();
    assert_eq!(
        made,
        ["meshes.npz", "other.obj", "skin.glb"],
        "nothing half-written"
    );
}

/// The experiment of the papers on their own horse: bones found from all meshes, skins fitted to
/// the eleven poses, tested on the gallop.
#[test]
fn animation_space_beats_linear_blending_on_the_horse() {
    let (Some(poses), Some(gallop)) = (support::data("horse-poses"), support::data("horse-gallop"))
    else {
        return;
    };
    let scratch = Scratch::new();
    let convert = format!(
        "convert {} g_##.obj -q",
        quoted(&gallop.join("horse-gallop.npz"))
    );
    scratch.dermis(&convert).done();
    let numbered: Vec<String> = (1..=10)
        .map(|n| quoted(&poses.join(format!("{n}.obj"))))
        .collect();
    let rig = format!(
        "rig {} 'g_*.obj' --rest {} --bones 25 -o rig.npz -q",
        numbered.join(" "),
        quoted(&poses.join("horse-poses-reference.obj"))
    );
    scratch.dermis(&rig).done();
    let found = scratch
        .dermis("compare rig.npz --methods ssd,animation-space --hold-out 'g_*' --json -q")
        .done()
        .json();
    let count = |part: &str| number(&found, &format!("/methods/0/{part}/exampleCount"));
    assert_eq!(
        (count("training"), count("heldOut")),
        (11.0, 48.0),
        "eleven poses and the gallop"
    );
    let mean = |n: usize| {
        let part = |part: &str| number(&found, &format!("/methods/{n}/{part}/meanDistance"));
        (11.0 * part("training") + 48.0 * part("heldOut")) / 59.0
    };
    let ratio = mean(1) / mean(0);
    assert!(
        ratio < 0.65,
        "animation space has {ratio} of the error of linear blend skinning"
    );
}

/// The frames of a tube as morph targets of one glTF file, as `dermis convert` writes a sequence.
fn morph_sequence(scratch: &Scratch) {
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch.write("meshes.npz", &meshes(&SMALL_TUBE));
    scratch
        .dermis("convert meshes.npz morphs.glb --quiet")
        .done();
}

#[test]
fn every_command_reads_the_meshes_of_a_morph_sequence() {
    let scratch = Scratch::new();
    morph_sequence(&scratch);
    let frames = |name: &str| {
        let decomposed =
            format!("decompose {name} --bones 3 --quality fast -o {name}.skin.glb --json");
        number(
            &scratch.dermis(&decomposed).done().json(),
            "/clips/0/frames",
        )
    };
    assert_eq!(frames("morphs.glb"), 6.0, "decompose reads them");
    assert_eq!(frames("meshes.npz"), 6.0, "and those of the archive");
    let counts = |name: &str| {
        let count = |command: &str, pointer: &str| {
            number(
                &scratch.dermis(&command.replace("IN", name)).done().json(),
                pointer,
            )
        };
        let fit = "--hold-out none -o IN.fit.glb --json";
        let posed = scratch
            .dermis(&format!("pose tube.glb --to {name} --json"))
            .done();
        [
            count("rig IN --bones 3 -o IN.npz --json", "/meshes"),
            count(&format!("fit IN --bones 3 {fit}"), "/overall/exampleCount"),
            count(
                &format!("fit IN --skeleton tube.npz {fit}"),
                "/overall/exampleCount",
            ),
            posed.json()["meshes"].as_array().map_or(0, Vec::len) as f64,
        ]
    };
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    let expected = counts("meshes.npz");
    assert_eq!(expected[2..], [6.0, 6.0], "six meshes");
    assert_eq!(
        counts("morphs.glb"),
        expected,
        "rig, fit, fit --skeleton, pose"
    );
}

#[test]
fn a_horse_of_morph_targets_has_a_mesh_for_each_key_for_every_command() {
    let Some(horse) = support::data("gltf-morph-sequences/Horse.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let horse = quoted(&horse);
    let fit = format!("fit {horse} --bones 4 --hold-out none -o fit.glb --json");
    let fitted = number(&scratch.dermis(&fit).done().json(), "/overall/exampleCount");
    let decompose = format!("decompose {horse} --bones 4 --quality fast -o skin.glb --json");
    let decomposed = number(&scratch.dermis(&decompose).done().json(), "/clips/0/frames");
    // The rest mesh, when it is none of the frames, is an example, too.
    assert_eq!(decomposed, 16.0, "frames");
    assert!((16.0..=17.0).contains(&fitted), "examples: {fitted}");
}
