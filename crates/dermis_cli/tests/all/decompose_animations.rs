//! Somebody has meshes that move and wants bones, weights and a clip that any engine plays.

use dermis::clip::Channel;
use dermis::mesh::Topology;
use dermis::synth::{ArmOptions, FlagOptions, TubeOptions, arm, arm_motion, flag};
use dermis::{BoneId, Pose, Skin, TriMesh, VertexProgram};
use dermis_io::Document;
use glam::{DAffine3, DMat3, DVec3};

use crate::common::{Run, Scratch, number, sequence, shown_error, tube_document};

/// A mesh and its motion.
struct Motion {
    rest: TriMesh,
    frames: Vec<Vec<DVec3>>,
}

/// A flag in the wind: 48 frames, no few of its bones exact.
fn flag_motion() -> Motion {
    let made = flag(&FlagOptions {
        width: 18,
        height: 12,
        frame_count: 48,
    });
    Motion {
        rest: made.rest().clone(),
        frames: made.frames().map(<[DVec3]>::to_vec).collect(),
    }
}

/// An arm that bends and twists while it walks away.
fn walking_arm() -> Motion {
    let made = arm(&ArmOptions {
        ring_count: 30,
        segment_count: 12,
        poses: arm_motion(24),
    });
    let step = DVec3::new(0.05, 0.0, 0.1);
    let frame = |(k, example): (usize, &dermis::Example)| {
        let positions = example.positions.iter();
        positions.map(|p| *p + k as f64 * step).collect()
    };
    Motion {
        rest: made.examples.rest().clone(),
        frames: made
            .examples
            .examples()
            .iter()
            .enumerate()
            .map(frame)
            .collect(),
    }
}

/// A folder with a flag (`flag.npz`, and its halves `breeze.npz` and `gust.npz`) and an arm.
fn folder() -> (Scratch, Motion, Motion) {
    let (flag, arm) = (flag_motion(), walking_arm());
    let scratch = Scratch::new();
    scratch.write("flag.npz", &sequence(&flag.rest, &flag.frames));
    scratch.write("breeze.npz", &sequence(&flag.rest, &flag.frames[..20]));
    scratch.write("gust.npz", &sequence(&flag.rest, &flag.frames[20..]));
    scratch.write("arm.npz", &sequence(&arm.rest, &arm.frames));
    (scratch, flag, arm)
}

/// What the program says of itself, when it is asked for JSON.
#[track_caller]
fn decompose(scratch: &Scratch, arguments: &str) -> serde_json::Value {
    scratch
        .dermis(&format!("decompose {arguments} --json"))
        .done()
        .json()
}

fn skin(document: &Document) -> &Skin {
    document.skin.as_ref().expect("a skin")
}

/// Every pose of a file's first clip, 24 a second.
fn poses(document: &Document, count: usize) -> Vec<Pose> {
    let skin = skin(document);
    let sample = |k: usize| skin.sample(&document.clips[0], k as f64 / 24.0);
    (0..count).map(sample).collect()
}

/// How far a matrix is from a rotation.
fn deformation(m: &DMat3) -> f64 {
    let off = m.transpose() * *m - DMat3::IDENTITY;
    off.to_cols_array()
        .iter()
        .fold(0.0, |most, x| x.abs().max(most))
}

#[test]
fn the_clip_shows_the_meshes_within_the_error_that_is_said() {
    let (scratch, flag, arm) = folder();
    for (motion, arguments) in [
        (&flag, "flag.npz --bones 6"),
        (&flag, "flag.npz --bones 6 --rigid"),
        (&flag, "flag.npz --bones 6 --fixed-rest"),
        (&flag, "flag.npz --bones 6 --smooth 1 --quality fast"),
        (&flag, "flag.npz --bones 6 --hierarchy"),
        (&arm, "arm.npz --bones 4"),
        (&arm, "arm.npz --bones 4 --hierarchy"),
        (&arm, "arm.npz --bones 4 --rigid --max-influences 1"),
    ] {
        let said = decompose(&scratch, &format!("{arguments} -o skin.glb"));
        let file = scratch.read("skin.glb");
        let shown = shown_error(&file, &motion.rest, &[&motion.frames]);
        let printed = number(&said, "/eRms");
        eprintln!("{arguments}: E_RMS {printed:.4}, of the file {shown:.4}");
        assert!(
            printed > 0.1,
            "{arguments}: {printed} is well above rounding"
        );
        assert!(
            (shown - printed).abs() < 0.01 * printed,
            "{arguments}: the file shows {shown}, {printed} was said"
        );
        assert!(
            printed >= number(&said, "/svdBound"),
            "{arguments}: {said:#}"
        );
        assert_eq!(
            number(&said, "/vertices"),
            motion.rest.vertex_count() as f64,
            "{arguments}"
        );
        assert_eq!(
            file.mesh.triangles(),
            motion.rest.triangles(),
            "{arguments}"
        );
    }
}

#[test]
fn keys_are_left_out_within_a_share_of_the_error() {
    let (scratch, _, arm) = folder();
    let exact = decompose(
        &scratch,
        "arm.npz --bones 4 --rigid --key-tolerance 0 -o exact.glb",
    );
    assert_eq!(exact["keys"], exact["keysUnreduced"], "all are kept");
    assert_eq!(exact["fileBytes"], exact["fileBytesUnreduced"], "all bytes");
    let e_rms = number(&exact, "/eRms");
    let mut last = number(&exact, "/keys");
    for share in [0.1, 1.0, 10.0] {
        let said = decompose(
            &scratch,
            &format!("arm.npz --bones 4 --rigid --key-tolerance {share} -o loose.glb"),
        );
        let tolerance = number(&said, "/keyTolerance");
        assert!(
            (tolerance - share * e_rms).abs() < 1e-9 * e_rms,
            "{tolerance} is {share} of {e_rms}"
        );
        assert_eq!(exact["keysUnreduced"], said["keysUnreduced"], "of as many");
        let keys = number(&said, "/keys");
        assert!(keys <= last, "{keys} of {last}");
        last = keys;
        // What the files show is apart by no more than that, as an E_RMS in every frame.
        let (exact, loose) = (scratch.read("exact.glb"), scratch.read("loose.glb"));
        let count = 3.0 * arm.rest.vertex_count() as f64;
        let radius = dermis::mesh::enclosing_ball(&arm.frames[0]).radius;
        let mut most = 0.0f64;
        for (a, b) in poses(&exact, 24).iter().zip(&poses(&loose, 24)) {
            let (a, b) = (skin(&exact).evaluate(a), skin(&loose).evaluate(b));
            let pairs = a.expect("its pose").into_iter().zip(b.expect("its pose"));
            let squared: f64 = pairs.map(|(a, b)| a.distance_squared(b)).sum();
            most = most.max(1000.0 * (squared / count).sqrt() / radius);
        }
        // Files have single precision.
        assert!(most <= tolerance + 1e-3, "{most}, {tolerance} was allowed");
        assert!(
            number(&said, "/fileERms") <= e_rms + tolerance + 1e-3,
            "{said:#}"
        );
    }
    let all = number(&exact, "/keys");
    assert!(last < 0.8 * all, "{last} of {all} keys are left");
    let bytes = [scratch.at("exact.glb"), scratch.at("loose.glb")]
        .map(|path| std::fs::metadata(path).expect("it was written").len());
    assert!(bytes[1] < bytes[0], "{bytes:?}");
}

#[test]
fn any_unit_of_length_that_a_file_can_hold_gives_the_same() {
    let (scratch, flag, _) = folder();
    let command = "--bones 4 --quality fast --rigid --hierarchy";
    let expected = number(
        &decompose(&scratch, &format!("flag.npz {command} -o skin.glb")),
        "/fileERms",
    );
    for scale in [1e-300, 1e-150, 1e-12, 1e12, 1e150, 1e300] {
        let points = |points: &[DVec3]| points.iter().map(|p| scale * *p).collect::<Vec<_>>();
        let rest = flag.rest.with_positions(points(flag.rest.positions()));
        let frames: Vec<Vec<DVec3>> = flag.frames.iter().map(|f| points(f)).collect();
        scratch.write("scaled.npz", &sequence(&rest.expect("as many"), &frames));
        let run = scratch.dermis(&format!(
            "decompose scaled.npz {command} --json -o scaled.glb"
        ));
        if (1e-30..1e30).contains(&scale) {
            let found = number(&run.done().json(), "/fileERms");
            assert!(
                (found - expected).abs() < 0.05 * expected,
                "{scale:e}: {found} {expected}"
            );
            continue;
        }
        assert_eq!(run.code, 2, "{run:#?}");
        let last = run.stderr.lines().last().unwrap_or_default();
        assert!(
            last.contains("scaled.glb") && last.contains("single precision"),
            "{scale:e}: {last}"
        );
    }
}

#[test]
fn a_clip_is_sampled_at_its_own_keys() {
    let (scratch, _, arm) = folder();
    decompose(
        &scratch,
        "arm.npz --bones 4 --rigid --key-tolerance 0 --fps 30.8 -o skin.glb",
    );
    let file = scratch.read("skin.glb");
    let times = file.clips[0].key_times();
    assert_eq!(times.len(), arm.frames.len(), "a key for every frame");
    for (k, time) in times.iter().enumerate() {
        assert!((time - k as f64 / 30.8).abs() < 1e-6, "frame {k} at {time}");
    }
    scratch.dermis("eval skin.glb -o shown.npz").done();
    let shown = scratch.read("shown.npz");
    assert_eq!(shown.frames.len(), times.len(), "as many as keys");
    for (frame, time) in shown.frames.iter().zip(&times) {
        let pose = skin(&file).sample(&file.clips[0], *time);
        let expected = skin(&file).evaluate(&pose).expect("its pose");
        let pairs = frame.positions.iter().zip(&expected);
        let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-5, "{off} at {time} s");
    }
}

#[test]
fn several_inputs_are_several_clips_of_one_skin() {
    let (scratch, flag, _) = folder();
    let said = decompose(&scratch, "breeze.npz gust.npz --bones 6 -o both.glb");
    let file = scratch.read("both.glb");
    let names: Vec<&str> = file.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["breeze", "gust"], "called as their files");
    let (breeze, gust) = flag.frames.split_at(20);
    for (clip, frames) in file.clips.iter().zip([breeze, gust]) {
        let end = (frames.len() - 1) as f64 / 24.0;
        assert!(
            clip.start() == 0.0 && (clip.end() - end).abs() < 1e-6,
            "{}",
            clip.name
        );
    }
    let shown = shown_error(&file, &flag.rest, &[breeze, gust]);
    let printed = number(&said, "/eRms");
    assert!(
        (shown - printed).abs() < 0.01 * printed,
        "the file shows {shown}, {printed} was said"
    );
    // The order of frames says nothing about bones: one clip of both is as good.
    let one = number(
        &decompose(&scratch, "flag.npz --bones 6 -o one.glb"),
        "/eRms",
    );
    assert!(
        (one - printed).abs() < 0.1 * one,
        "{one} as one, {printed} as two"
    );
    // Two clips of one file name are told apart.
    std::fs::create_dir(scratch.at("more")).expect("a folder");
    std::fs::copy(scratch.at("gust.npz"), scratch.at("more/breeze.npz")).expect("a copy");
    let said = decompose(
        &scratch,
        "breeze.npz more/breeze.npz --bones 2 --quality fast -o same.glb",
    );
    assert_eq!(said["clips"][1]["name"], "breeze_2", "{said:#}");
    assert_eq!(said["clips"][1]["frames"], 28, "{said:#}");
}

#[test]
fn meshes_one_by_one_in_a_folder_and_by_pattern_are_one_clip() {
    let (scratch, flag, _) = folder();
    std::fs::create_dir(scratch.at("wave")).expect("a folder");
    let typed: Vec<String> = (0..12)
        .map(|k| {
            let name = format!("wave/wave_{k:03}.obj");
            let mesh = TriMesh::new(flag.frames[k].clone(), flag.rest.triangles().to_vec());
            let document = Document {
                mesh: mesh.expect("a flag"),
                ..Document::default()
            };
            scratch.write(&name, &document);
            name
        })
        .collect();
    let typed = typed.join(" ");
    let mut files = Vec::new();
    for inputs in [
        typed.as_str(),
        "wave",
        "'wave/*.obj'",
        "'wave/wave_###.obj'",
    ] {
        let said = decompose(&scratch, &format!("{inputs} --bones 3 -o skin.glb"));
        assert_eq!(said["clips"][0]["name"], "wave", "{inputs}: {said:#}");
        assert_eq!(said["clips"][0]["frames"], 12, "{inputs}: {said:#}");
        assert_eq!(said["clips"].as_array().map(Vec::len), Some(1), "{inputs}");
        files.push(std::fs::read(scratch.at("skin.glb")).expect("it was written"));
    }
    assert!(
        files.windows(2).all(|pair| pair[0] == pair[1]),
        "however they are named, the skin is the same"
    );
    // A rest mesh of its own is no frame, and gives the clip no name.
    let rest = sequence(&flag.rest, &[]);
    scratch.write("flat.obj", &rest);
    let said = decompose(
        &scratch,
        "wave --rest flat.obj --bones 3 --fixed-rest -o skin.glb",
    );
    assert_eq!(said["clips"][0]["frames"], 12, "{said:#}");
    assert_eq!(said["clips"][0]["name"], "wave", "{said:#}");
    let VertexProgram::Ssd(ssd) = &skin(&scratch.read("skin.glb")).program.clone() else {
        panic!("linear blend skinning");
    };
    let pairs = ssd.rest_positions.iter().zip(flag.rest.positions());
    let moved = pairs.fold(0.0f64, |most, (a, b)| a.distance(*b).max(most));
    assert!(moved < 1e-6, "the flat flag is the rest mesh: {moved}");
}

#[test]
fn skinned_and_morphed_files_give_what_their_clips_show() {
    let (scratch, flag, _) = folder();
    let tube = tube_document(&TubeOptions {
        ring_count: 24,
        segment_count: 10,
        bone_count: 3,
        example_count: 14,
    });
    scratch.write("tube.npz", &tube);
    scratch.dermis("convert tube.npz rig.glb --quiet").done();
    scratch.dermis("convert flag.npz morph.glb --quiet").done();
    assert!(
        scratch.read("morph.glb").frames.is_empty(),
        "targets and a clip"
    );

    let said = decompose(&scratch, "rig.glb --bones 3 -o again.glb");
    assert_eq!(said["clips"][0]["frames"], 14, "on the keys: {said:#}");
    let error = number(&said, "/eRms");
    assert!(error < 0.1, "three bones made it, three repeat it: {error}");
    let frames: Vec<Vec<DVec3>> = tube.frames.iter().map(|f| f.positions.clone()).collect();
    let shown = shown_error(&scratch.read("again.glb"), &tube.mesh, &[&frames]);
    assert!(shown < 0.1, "against the meshes behind the rig: {shown}");

    let said = decompose(&scratch, "morph.glb --bones 6 -o skin.glb");
    assert_eq!(said["clips"][0]["frames"], 48, "on the keys: {said:#}");
    let shown = shown_error(&scratch.read("skin.glb"), &flag.rest, &[&flag.frames]);
    let printed = number(&said, "/eRms");
    assert!(
        (shown - printed).abs() < 0.01 * printed,
        "the file shows {shown}, {printed} was said"
    );
}

#[test]
fn rigid_bones_have_neither_scale_nor_shear() {
    let (scratch, _, _) = folder();
    let said = decompose(&scratch, "flag.npz --bones 5 --rigid -o rigid.glb");
    assert_eq!(said["nestedBones"], 0, "{said:#}");
    let file = scratch.read("rigid.glb");
    let skeleton = &skin(&file).skeleton;
    assert_eq!(skeleton.bone_count(), 5, "one node each");
    let scales = |channel: &Channel| matches!(channel, Channel::Scale(..));
    assert!(!file.clips[0].channels.iter().any(scales), "no key scales");
    for (k, pose) in poses(&file, 48).iter().enumerate() {
        let palette = skeleton.palette(pose).expect("its own pose");
        for (j, matrix) in skeleton.posed_from_rest(&palette).iter().enumerate() {
            let off = deformation(&matrix.matrix3);
            assert!(off < 1e-5, "frame {k}, bone {j}: {off}");
        }
    }
    // The check can tell: affine bones are no rotations.
    decompose(&scratch, "flag.npz --bones 5 -o affine.glb");
    let affine = scratch.read("affine.glb");
    let palette = skin(&affine).skeleton.palette(&poses(&affine, 9)[8]);
    let matrices = palette.expect("its own pose").model_from_bone;
    assert!(
        matrices.iter().any(|m| deformation(&m.matrix3) > 0.01),
        "without --rigid they stretch"
    );
}

#[test]
fn joints_turn_in_place_and_the_root_moves() {
    let (scratch, _, arm) = folder();
    let said = decompose(&scratch, "arm.npz --bones 5 --hierarchy -o joined.glb");
    let (joined, free) = (number(&said, "/eRms"), number(&said, "/unjoinedERms"));
    eprintln!("joined {joined}, free {free}");
    assert!(free < joined, "joints cost error: {said:#}");
    let file = scratch.read("joined.glb");
    let skeleton = &skin(&file).skeleton;
    let roots: Vec<BoneId> = (skeleton.ids())
        .filter(|bone| skeleton.bones()[bone.index()].parent.is_none())
        .collect();
    assert_eq!(roots.len(), 1, "one tree");
    let poses = poses(&file, arm.frames.len());
    let diagonal = arm.rest.bounds().diagonal();
    let track = |bone: BoneId| -> Vec<DAffine3> {
        let local = |pose: &Pose| pose.parent_from_bone[bone.index()];
        poses.iter().map(local).collect()
    };
    for bone in skeleton.ids() {
        let name = &skeleton.bones()[bone.index()].name;
        let track = track(bone);
        let most = |of: &dyn Fn(&DAffine3) -> f64| track.iter().map(of).fold(0.0, f64::max);
        assert!(most(&|m| deformation(&m.matrix3)) < 1e-5, "{name} is rigid");
        let travelled = most(&|m| m.translation.distance(track[0].translation)) / diagonal;
        match bone == roots[0] {
            true => assert!(travelled > 0.3, "the root walks: {travelled}"),
            false => assert!(travelled < 1e-6, "{name} keeps its length: {travelled}"),
        }
    }
    let free = decompose(&scratch, "arm.npz --bones 5 --rigid -o free.glb");
    assert!(
        free["unjoinedERms"].is_null(),
        "nothing was joined: {free:#}"
    );
}

#[test]
fn a_vertex_has_as_many_bones_as_are_allowed() {
    let (scratch, _, _) = folder();
    let mut errors = Vec::new();
    for most in [1, 2, 4, 8] {
        let command = format!("flag.npz --bones 8 --max-influences {most} -o skin.glb");
        let said = decompose(&scratch, &command);
        assert_eq!(said["maxInfluences"], most, "{said:#}");
        let file = scratch.read("skin.glb");
        let VertexProgram::Ssd(ssd) = &skin(&file).program else {
            panic!("linear blend skinning");
        };
        for (vertex, row) in ssd.weights.iter().enumerate() {
            assert!(row.len() <= most, "vertex {vertex}: {row:?}");
            assert!(
                row.iter().all(|w| w.weight >= 0.0),
                "vertex {vertex}: {row:?}"
            );
            let sum: f64 = row.iter().map(|w| w.weight).sum();
            assert!((sum - 1.0).abs() < 1e-5, "vertex {vertex} sums to {sum}");
        }
        errors.push(number(&said, "/eRms"));
    }
    assert!(
        errors.is_sorted_by(|a, b| a > b),
        "more are better: {errors:?}"
    );
}

#[test]
fn a_target_error_is_reached_with_few_bones_or_said_to_be_missed() {
    let (scratch, flag, _) = folder();
    let of = |bones: usize| {
        let command = format!("flag.npz --bones {bones} -o skin.glb");
        number(&decompose(&scratch, &command), "/eRms")
    };
    // Between what eight and twelve bones reach.
    let target = 0.5 * (of(8) + of(12));
    let command = format!("flag.npz --target-error {target} --max-bones 40 -o skin.glb");
    let said = decompose(&scratch, &command);
    let bones = number(&said, "/bones");
    assert!(number(&said, "/eRms") <= target, "{said:#}");
    assert!((6.0..=12.0).contains(&bones), "{bones} for {target}");
    let shown = shown_error(&scratch.read("skin.glb"), &flag.rest, &[&flag.frames]);
    assert!(shown <= 1.01 * target, "{shown} for {target}");

    let command = format!("decompose flag.npz --target-error {target} --max-bones 4 -o four.glb");
    let run: Run = scratch.dermis(&command);
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.stderr.contains("tolerance missed"), "{run:#?}");
    assert!(run.says("E_RMS"), "the table is there: {run:#?}");
    let file = scratch.read("four.glb");
    assert_eq!(file.facts.joints_of_skin, [4], "the best there is is kept");
}

#[test]
fn a_fixed_rest_mesh_stays_where_it_was() {
    let (scratch, flag, _) = folder();
    let moved = |name: &str| {
        let file = scratch.read(name);
        let VertexProgram::Ssd(ssd) = &skin(&file).program else {
            panic!("linear blend skinning");
        };
        let pairs = ssd.rest_positions.iter().zip(flag.rest.positions());
        pairs.fold(0.0f64, |most, (a, b)| a.distance(*b).max(most))
    };
    let fixed = decompose(&scratch, "flag.npz --bones 6 --fixed-rest -o fixed.glb");
    let free = decompose(&scratch, "flag.npz --bones 6 -o free.glb");
    assert!(moved("fixed.glb") < 1e-6, "{}", moved("fixed.glb"));
    assert!(moved("free.glb") > 1e-3, "{}", moved("free.glb"));
    assert!(
        number(&free, "/eRms") < number(&fixed, "/eRms"),
        "freedom pays: {free:#} {fixed:#}"
    );
}

#[test]
fn smoothness_evens_weights_out() {
    let (scratch, flag, _) = folder();
    let topology = Topology::new(flag.rest.vertex_count(), flag.rest.triangles());
    let roughness = |name: &str| {
        let file = scratch.read(name);
        let VertexProgram::Ssd(ssd) = &skin(&file).program else {
            panic!("linear blend skinning");
        };
        let of = |vertex: usize, bone: BoneId| {
            let row = ssd.weights.row(vertex).iter();
            row.filter(|w| w.bone == bone)
                .map(|w| w.weight)
                .sum::<f64>()
        };
        let mut sum = 0.0;
        for vertex in 0..flag.rest.vertex_count() {
            for &other in topology.neighbors(vertex) {
                for bone in skin(&file).skeleton.ids() {
                    sum += (of(vertex, bone) - of(other as usize, bone)).powi(2);
                }
            }
        }
        sum
    };
    let rough = decompose(&scratch, "flag.npz --bones 8 -o rough.glb");
    let smooth = decompose(&scratch, "flag.npz --bones 8 --smooth 100 -o smooth.glb");
    let (a, b) = (roughness("rough.glb"), roughness("smooth.glb"));
    eprintln!("roughness {a} without, {b} with --smooth 100");
    assert!(b < 0.8 * a, "{b} against {a}");
    let (rough, smooth) = (number(&rough, "/eRms"), number(&smooth, "/eRms"));
    assert!(
        smooth < 1.5 * rough,
        "it costs little: {smooth} against {rough}"
    );
}

#[test]
fn the_report_shows_the_worst_frame_and_needs_no_other_file() {
    let (scratch, _, _) = folder();
    let command = "decompose flag.npz --bones 5 -o skin.glb --report page.html";
    let run = scratch.dermis(command).done();
    assert!(run.stderr.contains("wrote skin.glb"), "{run:#?}");
    assert!(run.stderr.contains("wrote page.html"), "{run:#?}");
    for name in [
        "mesh",
        "clips",
        "bones",
        "E_RMS",
        "no skin falls below",
        "keys",
        "file",
        "time",
    ] {
        assert!(
            run.stdout.lines().any(|line| line.starts_with(name)),
            "a line {name}: {run:#?}"
        );
    }
    let html = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    assert!(
        html.contains(&format!("<code>dermis {command}</code>")),
        "the command"
    );
    let pictures = html.matches("src=\"data:image/png;base64,").count();
    assert_eq!(
        pictures, 6,
        "of the worst frame and a typical one the animation, the skin and the error"
    );
    assert_eq!(
        html.matches("class=\"dermis-chart\"").count(),
        2,
        "errors by frame and by round"
    );
    assert!(html.contains("Worst frame"), "said in words");
    let html = html
        .replace("http://www.w3.org/2000/svg", "")
        .replace("url(#", "");
    for link in ["http://", "https://", "href=", "<script", "<link", "url("] {
        assert!(!html.contains(link), "{link} in the page");
    }
}
