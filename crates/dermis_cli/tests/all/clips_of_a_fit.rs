//! What moves in the file of a fit: the clips of its rig, clips that come later, and poses that are no motion.

use dermis::clip::Interpolation;
use dermis::{Clip, Pose, Skin};
use dermis_io::{Document, Frame};
use glam::{DAffine3, DQuat, DVec3};

use crate::common::{Run, SMALL_TUBE, Scratch, bar_document, tube_document};

/// The methods whose skins compute bones or shapes from their joints, and one that does not.
const METHODS: [&str; 4] = ["ssd", "pseudo-bones", "psd", "rotational-regression"];

/// How far a stock player may be from the model at keys, as a share of the diagonal.
const AT_KEYS: f64 = 1e-5;

/// Poses in which the last bone of a skin turns, from one angle to another.
fn swing(skin: &Skin, count: usize, from: DVec3, to: DVec3) -> Vec<Pose> {
    let last = skin.posed_bone_count() - 1;
    let pose = |k: usize| {
        let turn = from.lerp(to, k as f64 / (count - 1) as f64);
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[last] *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
        pose
    };
    (0..count).map(pose).collect()
}

/// `bar.npz`, poses with their meshes; and `rig.glb`, its bones with a clip of those poses and two others.
fn rigged() -> Scratch {
    let scratch = Scratch::new();
    let document = bar_document();
    let skin = document.skin.clone().expect("a skin");
    let clip = |name: &str, poses: &[Pose]| {
        Clip::from_poses(name, &skin.skeleton, poses, 24.0).expect("rigid bones")
    };
    let walk = swing(&skin, 9, DVec3::ZERO, DVec3::new(1.0, 0.3, -0.4));
    let run = swing(&skin, 5, DVec3::Y, DVec3::new(-0.8, 0.0, 1.1));
    let clips = vec![
        clip("Captured", &document.frame_poses),
        clip("Walk", &walk),
        clip("Run", &run),
    ];
    scratch.write("bar.npz", &document);
    let rig = Document {
        frames: Vec::new(),
        frame_poses: Vec::new(),
        clips,
        ..document
    };
    scratch.write("rig.glb", &rig);
    scratch
}

fn names(document: &Document) -> Vec<&str> {
    document
        .clips
        .iter()
        .map(|clip| clip.name.as_str())
        .collect()
}

fn clip_of<'a>(document: &'a Document, name: &str) -> &'a Clip {
    let clip = document.clips.iter().find(|clip| clip.name == name);
    clip.unwrap_or_else(|| panic!("no clip {name} in {:?}", names(document)))
}

/// The file as a player has it that does not know `DERMIS_skin`.
fn as_plain_gltf(scratch: &Scratch, name: &str) -> Document {
    let mut bytes = std::fs::read(scratch.at(name)).expect("written");
    let (known, unknown) = (b"DERMIS_skin", b"UNHEARD_of_");
    let places: Vec<usize> = (0..bytes.len() - known.len())
        .filter(|&at| bytes[at..].starts_with(known))
        .collect();
    assert!(!places.is_empty(), "{name} has the extension");
    for at in places {
        bytes[at..at + unknown.len()].copy_from_slice(unknown);
    }
    let plain = format!("plain_{name}");
    scratch.put(&plain, bytes);
    scratch.read(&plain)
}

/// Fails unless a stock player shows a clip as the model moves, at every key of the posed joints.
#[track_caller]
fn assert_plays(scratch: &Scratch, file: &str, clip: &str, wanted: &[Pose]) {
    let (model, plain) = (scratch.read(file), as_plain_gltf(scratch, file));
    let (exact, shown) = (model.skin.as_ref(), plain.skin.as_ref());
    let (exact, shown) = (exact.expect("a skin"), shown.expect("a skin"));
    assert_eq!(
        shown.posed_bone_count(),
        shown.skeleton.bone_count(),
        "nothing is computed"
    );
    let diagonal = model.mesh.bounds().diagonal();
    let mut moved = 0.0f64;
    let first = exact.evaluate(&wanted[0]).expect("its pose");
    for (k, pose) in wanted.iter().enumerate() {
        let at = shown.sample(clip_of(&plain, clip), k as f64 / 24.0);
        let found = shown.evaluate(&at).expect("its own clip");
        let expected = exact.evaluate(pose).expect("its pose");
        let off = farthest(&found, &expected) / diagonal;
        assert!(
            off < AT_KEYS,
            "{file}, {clip}, frame {k}: {off:.1e} of the diagonal"
        );
        moved = moved.max(farthest(&expected, &first) / diagonal);
    }
    assert!(
        moved > 0.05,
        "a clip that hardly moves proves little: {moved:.1e}"
    );
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn a_fit_keeps_every_clip_of_the_rig_and_stock_players_show_them() {
    let scratch = rigged();
    let rig = scratch.read("rig.glb").skin.expect("a skin");
    let walk = swing(&rig, 9, DVec3::ZERO, DVec3::new(1.0, 0.3, -0.4));
    for method in METHODS {
        let fit = format!(
            "fit bar.npz --skeleton rig.glb --clip Captured --fps 24 --method {method} \
             --hold-out none -o {method}.glb"
        );
        scratch.dermis(&fit).done();
        let file = format!("{method}.glb");
        let document = scratch.read(&file);
        assert_eq!(
            names(&document),
            ["Captured", "Walk", "Run"],
            "{method}: and no `examples`"
        );
        assert_plays(&scratch, &file, "Walk", &walk);
    }
}

#[test]
fn poses_that_no_clip_of_the_rig_has_are_added_to_its_clips() {
    let scratch = rigged();
    scratch
        .dermis("fit bar.npz --skeleton bar.npz --hold-out none -o own.glb")
        .done();
    assert_eq!(
        names(&scratch.read("own.glb")),
        ["examples"],
        "an npz has no clips"
    );
}

/// The file of `names`' clips that `dermis bake-clips` takes, made from a skin's bones.
fn write_clips(scratch: &Scratch, file: &str, skin: &Skin, clips: &[(&str, &[Pose])]) {
    let bones = skin.skeleton.bones().iter().take(skin.posed_bone_count());
    let skeleton = dermis::Skeleton::new(bones.cloned().collect()).expect("the posed bones");
    let clip = |(name, poses): &(&str, &[Pose])| {
        Clip::from_poses(*name, &skeleton, poses, 24.0).expect("rigid bones")
    };
    let bar = bar_document();
    let document = Document {
        clips: clips.iter().map(clip).collect(),
        frames: Vec::new(),
        frame_poses: Vec::new(),
        skin: bar.skin.clone().map(|bar| Skin {
            skeleton: skeleton.clone(),
            ..bar
        }),
        ..bar
    };
    scratch.write(file, &document);
}

#[test]
fn clips_that_come_later_are_baked_for_every_method() {
    let scratch = rigged();
    let rig = scratch.read("rig.glb").skin.expect("a skin");
    let jump = swing(
        &rig,
        7,
        DVec3::new(0.2, 0.0, 0.9),
        DVec3::new(0.9, -0.7, 0.0),
    );
    write_clips(
        &scratch,
        "mocap.glb",
        &rig,
        &[("Jump", &jump), ("Run", &jump)],
    );
    for method in METHODS {
        let file = format!("{method}.glb");
        scratch
            .dermis(&format!(
                "fit bar.npz --method {method} --hold-out none -o {file}"
            ))
            .done();
        let bake = format!("bake-clips {file} --clips mocap.glb -o baked_{file}");
        scratch.dermis(&bake).done();
        let (before, after) = (scratch.read(&file), scratch.read(&format!("baked_{file}")));
        assert_eq!(names(&after), ["examples", "Jump", "Run"], "{method}");
        let models = [&before, &after].map(|file| file.skin.as_ref().expect("a skin"));
        let counts = |skin: &Skin| [skin.posed_bone_count(), skin.posed_coefficient_count()];
        assert_eq!(
            counts(models[0]),
            counts(models[1]),
            "{method}: the same model"
        );
        for pose in &jump {
            let [a, b] = models.map(|skin| skin.evaluate(pose).expect("its pose"));
            let off = farthest(&a, &b) / before.mesh.bounds().diagonal();
            assert!(
                off < 1e-6,
                "{method}: the exact model is as it was, to {off:.1e}"
            );
        }
        assert_plays(&scratch, &format!("baked_{file}"), "Jump", &jump);
    }
}

#[test]
fn a_clip_whose_name_is_taken_gets_a_number_or_replaces_the_other() {
    let scratch = rigged();
    let rig = scratch.read("rig.glb").skin.expect("a skin");
    let jump = swing(&rig, 7, DVec3::X, DVec3::Z);
    write_clips(&scratch, "a.glb", &rig, &[("Run", &jump)]);
    write_clips(&scratch, "b.glb", &rig, &[("Run", &jump)]);
    let run = scratch
        .dermis("bake-clips rig.glb --clips a.glb b.glb -o both.glb")
        .done();
    let found = scratch.read("both.glb");
    assert_eq!(
        names(&found),
        ["Captured", "Walk", "Run", "Run_2", "Run_3"],
        "{run:#?}"
    );
    assert_said(
        &run,
        "there is a clip 'Run' already, so the new one is called 'Run_2'",
    );

    let run = scratch
        .dermis("bake-clips rig.glb --clips a.glb --replace -o one.glb")
        .done();
    let found = scratch.read("one.glb");
    assert_eq!(names(&found), ["Captured", "Walk", "Run"], "{run:#?}");
    assert_eq!(
        clip_of(&found, "Run").end(),
        0.25,
        "seven frames instead of five"
    );
}

#[test]
fn what_does_not_match_is_named_and_nothing_at_all_is_refused() {
    let scratch = rigged();
    let rig = scratch.read("rig.glb").skin.expect("a skin");
    let jump = swing(&rig, 7, DVec3::X, DVec3::Z);
    let bones = rig.skeleton.bones().to_vec();
    let renamed = |change: &dyn Fn(usize, &mut dermis::rig::Bone)| {
        let mut bones = bones.clone();
        bones
            .iter_mut()
            .enumerate()
            .for_each(|(j, bone)| change(j, bone));
        Skin {
            skeleton: dermis::Skeleton::new(bones).expect("other names"),
            ..rig.clone()
        }
    };
    let last = bones.len() - 1;
    // The last bone is keyed under a name that the skin lacks, and the root moves.
    let partly = renamed(&|j, bone| {
        if j == last {
            bone.name = "Tail".to_owned();
        }
    });
    let mut poses = jump.clone();
    for (k, pose) in poses.iter_mut().enumerate() {
        pose.parent_from_bone[0].translation.y += k as f64;
    }
    write_clips(&scratch, "partly.glb", &partly, &[("Hop", &poses)]);
    let run = scratch
        .dermis("bake-clips rig.glb --clips partly.glb -o out.glb")
        .done();
    assert_said(
        &run,
        "partly.glb moves 1 joint that rig.glb does not have, which is left out: Tail",
    );
    let still = &bones[last].name;
    assert_said(
        &run,
        &format!("of rig.glb stands still in the clips of partly.glb: {still}"),
    );

    let longer = renamed(&|j, bone| {
        if j == last {
            bone.default_parent_from_bone.translation *= 1.5;
        }
    });
    write_clips(&scratch, "longer.glb", &longer, &[("Hop", &poses)]);
    let run = scratch
        .dermis("bake-clips rig.glb --clips longer.glb -o out.glb")
        .done();
    assert_said(
        &run,
        "1 joint of longer.glb stands otherwise by default than in rig.glb",
    );

    let other = renamed(&|j, bone| bone.name = format!("other_{j}"));
    write_clips(&scratch, "other.glb", &other, &[("Hop", &poses)]);
    let run = scratch.dermis("bake-clips rig.glb --clips other.glb -o none.glb");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(
        run.stderr
            .contains("error: other.glb: none of the joints that it moves (other_0, "),
        "{run:#?}"
    );
    assert!(!scratch.at("none.glb").exists(), "nothing is written");
    let run = scratch.dermis("bake-clips rig.glb --clips rig.glb -o out.obj");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.stderr.contains("as .glb or .gltf"), "{run:#?}");
}

#[track_caller]
fn assert_said(run: &Run, text: &str) {
    assert!(run.stderr.contains(text), "`{text}` in {run:#?}");
}

/// Single meshes in no order, each a file.
fn scans(scratch: &Scratch) -> Vec<Vec<DVec3>> {
    let document = tube_document(&SMALL_TUBE);
    let mut meshes = Vec::new();
    for (k, n) in [3usize, 0, 5, 1, 4, 2].into_iter().enumerate() {
        let frame = &document.frames[n];
        let mesh = document.mesh.with_positions(frame.positions.clone());
        let scan = Document {
            mesh: mesh.expect("finite"),
            ..Document::default()
        };
        scratch.write(&format!("scan_{k}.obj"), &scan);
        meshes.push(frame.positions.clone());
    }
    meshes
}

/// Fails unless a clip holds as many poses as meshes, a second each, and shows nothing between them.
#[track_caller]
fn assert_holds_poses(document: &Document, clip: &str, count: usize) {
    let clip = clip_of(document, clip);
    let is_step = |c: &dermis::clip::Channel| c.interpolation() == Interpolation::Step;
    assert!(
        clip.channels.iter().all(is_step),
        "{} is no motion",
        clip.name
    );
    assert_eq!(clip.end() - clip.start(), count as f64, "a second for each");
    assert_eq!(clip.frame_count(1.0), Ok(count), "each once");
}

#[test]
fn unrelated_meshes_are_poses_in_every_command_and_stay_so() {
    let scratch = Scratch::new();
    let meshes = scans(&scratch);
    let run = scratch.dermis("convert 'scan_*.obj' morphs.glb").done();
    assert_said(&run, "they are taken for poses, a second each");
    assert_holds_poses(&scratch.read("morphs.glb"), "poses", 6);

    scratch
        .dermis("fit 'scan_*.obj' --bones 2 --hold-out none -o fit.glb")
        .done();
    assert_holds_poses(&scratch.read("fit.glb"), "poses", 6);
    scratch
        .dermis("rig 'scan_*.obj' --bones 2 --without-rest -o rig.glb")
        .done();
    assert_holds_poses(&scratch.read("rig.glb"), "poses", 6);
    scratch
        .dermis("rig 'scan_*.obj' --bones 2 --without-rest -o rig.npz")
        .done();
    scratch.dermis("convert rig.npz again.glb").done();
    assert_holds_poses(&scratch.read("again.glb"), "poses", 6);

    scratch
        .dermis("decompose 'scan_*.obj' --bones 3 --quality fast -o skin.glb")
        .done();
    let skin = scratch.read("skin.glb");
    assert_holds_poses(&skin, "scan_poses", 6);
    let model = skin.skin.as_ref().expect("a skin");
    let diagonal = skin.mesh.bounds().diagonal();
    for (k, mesh) in meshes.iter().enumerate() {
        let at = |part: f64| model.sample(clip_of(&skin, "scan_poses"), k as f64 + part);
        let shown = model.evaluate(&at(0.0)).expect("its own clip");
        assert!(farthest(&shown, mesh) < 0.05 * diagonal, "pose {k}");
        assert_eq!(at(0.0), at(0.9), "pose {k} is held");
    }

    // Through frames and back: still poses.
    scratch
        .dermis("eval rig.glb --clip poses -o frames.npz")
        .done();
    let frames = scratch.read("frames.npz");
    assert_eq!(frames.frames.len(), 6, "each pose once");
    assert_eq!(frames.frames_per_second, None, "no motion");
    scratch
        .dermis("convert rig.glb --clip poses back.glb")
        .done();
    assert_holds_poses(&scratch.read("back.glb"), "poses", 6);
}

#[test]
fn a_frame_rate_makes_a_motion_and_survives_an_npz() {
    let scratch = Scratch::new();
    scans(&scratch);
    scratch
        .dermis("convert 'scan_*.obj' --fps 12 moving.glb")
        .done();
    let moving = scratch.read("moving.glb");
    assert_eq!(names(&moving), ["frames"], "a motion");
    let end = clip_of(&moving, "frames").end();
    assert!((end - 5.0 / 12.0).abs() < 1e-6, "six frames, found {end} s");
    scratch
        .dermis("convert 'scan_*.obj' --fps 12 moving.npz")
        .done();
    assert_eq!(
        scratch.read("moving.npz").frames_per_second,
        Some(12.0),
        "kept"
    );
    scratch
        .dermis("fit moving.npz --bones 2 --hold-out none -o fit.glb")
        .done();
    assert_eq!(names(&scratch.read("fit.glb")), ["examples"], "a motion");
    // Meshes that follow each other smoothly are one, too, and so is every point cache.
    let mut document = tube_document(&SMALL_TUBE);
    let (first, last) = (&document.frames[0], &document.frames[5]);
    let between = |k: usize| {
        let part = k as f64 / 11.0;
        let pairs = first.positions.iter().zip(&last.positions);
        Frame {
            name: format!("{k}"),
            positions: pairs.map(|(a, b)| a.lerp(*b, part)).collect(),
        }
    };
    let smooth: Vec<Frame> = (0..12).map(between).collect();
    document.frames = smooth;
    document.frame_poses = Vec::new();
    document.frames_per_second = None;
    scratch.write("smooth.npz", &document);
    scratch
        .dermis("convert smooth.npz smooth.glb --frames")
        .done();
    assert_eq!(names(&scratch.read("smooth.glb")), ["frames"], "a motion");
    scratch
        .dermis("rig smooth.npz --bones 2 --without-rest -o rigged.glb")
        .done();
    assert_eq!(names(&scratch.read("rigged.glb")), ["examples"], "a motion");
    scratch.dermis("convert 'scan_*.obj' scans.pc2").done();
    scratch
        .dermis("convert scans.pc2 --mesh scan_0.obj cache.glb")
        .done();
    assert_eq!(names(&scratch.read("cache.glb")), ["frames"], "a motion");
}
