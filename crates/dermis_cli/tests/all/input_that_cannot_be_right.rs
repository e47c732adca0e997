//! Meshes in another unit, with other axes or in another vertex order are noticed, with the flag that mends it.

use dermis::rig::Similarity;
use dermis::{Clip, TriMesh, VertexProgram};
use dermis_io::{Document, Frame};
use glam::{DAffine3, DQuat, DVec3};

use crate::common;
use crate::common::psd::{put_arm, sculpt};
use crate::common::{Run, SMALL_TUBE, Scratch, number, tube_document};

/// A tube that stands on the ground, y up, whose first frame is its rest mesh.
fn standing() -> Document {
    let up = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let by = Similarity::new(1.0, up, DVec3::new(0.5, 0.0, 0.25)).expect("a move");
    let mut tube = tube_document(&SMALL_TUBE).moved(&by).expect("a plain skin");
    let skin = tube.skin.as_ref().expect("a skin");
    tube.frames[0].positions = tube.mesh.positions().to_vec();
    tube.frame_poses[0] = skin.skeleton.rest_pose();
    tube
}

/// The frames alone, each point changed.
fn frames(document: &Document, change: impl Fn(&[DVec3]) -> Vec<DVec3>) -> Document {
    let frame = |frame: &Frame| Frame {
        name: frame.name.clone(),
        positions: change(&frame.positions),
    };
    Document {
        mesh: document.mesh.clone(),
        frames: document.frames.iter().map(frame).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    }
}

/// The mesh alone.
fn mesh(document: &Document) -> Document {
    Document {
        mesh: document.mesh.clone(),
        ..Document::default()
    }
}

/// The skin with the poses of the frames as its clip, in another unit.
fn rig(document: &Document, scale: f64) -> Document {
    let skin = document.skin.as_ref().expect("a skin");
    let clip = Clip::from_poses("bend", &skin.skeleton, &document.frame_poses, 24.0);
    let rig = Document {
        frames: Vec::new(),
        frame_poses: Vec::new(),
        clips: vec![clip.expect("rigid bones")],
        ..document.clone()
    };
    let by = Similarity::new(scale, DQuat::IDENTITY, DVec3::ZERO).expect("a move");
    rig.moved(&by).expect("a plain skin")
}

fn scaled(by: f64) -> impl Fn(&[DVec3]) -> Vec<DVec3> {
    move |points| points.iter().map(|v| *v * by).collect()
}

/// What Blender has where glTF has y up.
fn z_up(points: &[DVec3]) -> Vec<DVec3> {
    points.iter().map(|v| DVec3::new(v.x, -v.z, v.y)).collect()
}

fn shuffled(points: &[DVec3]) -> Vec<DVec3> {
    let count = points.len();
    (0..count).map(|i| points[(i * 37 + 5) % count]).collect()
}

#[track_caller]
fn refused(run: Run, expected: &[&str]) {
    assert_eq!(run.code, 2, "{run:#?}");
    let lines: Vec<&str> = run
        .stderr
        .lines()
        .filter(|l| l.contains("--force"))
        .collect();
    assert_eq!(lines.len(), 1, "one sentence: {run:#?}");
    for part in expected {
        assert!(lines[0].contains(part), "{part}: {run:#?}");
    }
}

/// Largest distance between frames of two files.
#[track_caller]
fn apart(a: &Document, b: &Document) -> f64 {
    assert_eq!(a.frames.len(), b.frames.len(), "as many frames");
    let pairs = a.frames.iter().zip(&b.frames);
    let points = pairs.flat_map(|(a, b)| a.positions.iter().zip(&b.positions));
    points.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// Every command that reads a cache and its mesh, with what it needs beside.
const WITH_A_CACHE: [&str; 6] = [
    "convert tube.pc2 --mesh tube.obj out.npz",
    "decompose tube.pc2 --mesh tube.obj --bones 3 -o out.glb",
    "rig tube.pc2 --mesh tube.obj --bones 3 -o out.npz",
    "fit tube.pc2 --mesh tube.obj --bones 3 -o out.glb",
    "compare tube.pc2 --mesh tube.obj --decompose 3",
    "pose rig.glb --to tube.pc2 --mesh tube.obj -o out.npz",
];

fn with_a_cache(frames: &Document, mesh: &Document, rig: &Document) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.pc2", frames);
    scratch.write("tube.obj", mesh);
    scratch.write("rig.glb", rig);
    scratch
}

#[test]
fn a_cache_in_another_vertex_order_is_refused_by_every_command() {
    let tube = standing();
    let wrong = frames(&tube, shuffled);
    let scratch = with_a_cache(&wrong, &mesh(&tube), &rig(&tube, 1.0));
    for command in WITH_A_CACHE {
        let parts = ["tube.pc2: the vertices are in another order", "--reorder"];
        refused(scratch.dermis(command), &parts);
        assert!(
            !scratch.at("out.glb").exists(),
            "{command}: nothing is written"
        );
    }
    scratch
        .dermis(&format!("{} --force", WITH_A_CACHE[0]))
        .done();
    assert!(apart(&scratch.read("out.npz"), &tube) > 0.1, "as it is");
    let run = scratch
        .dermis(&format!("{} --reorder", WITH_A_CACHE[0]))
        .done();
    assert!(
        run.stderr.contains("put in the order of tube.obj"),
        "{run:#?}"
    );
    assert!(
        apart(&scratch.read("out.npz"), &tube) < 1e-5,
        "in its order"
    );
}

#[test]
fn a_cache_in_centimetres_beside_a_mesh_in_metres_is_refused_by_every_command() {
    let tube = standing();
    let scratch = with_a_cache(
        &frames(&tube, scaled(100.0)),
        &mesh(&tube),
        &rig(&tube, 1.0),
    );
    for command in WITH_A_CACHE {
        let parts = ["100 times as large", "give --scale frames=0.01"];
        refused(scratch.dermis(command), &parts);
    }
    let mended = format!("{} --scale frames=0.01", WITH_A_CACHE[0]);
    scratch.dermis(&mended).done();
    assert!(apart(&scratch.read("out.npz"), &tube) < 1e-5, "in metres");
}

#[test]
fn a_cache_that_is_z_up_beside_a_mesh_that_is_y_up_is_refused() {
    let tube = standing();
    let scratch = with_a_cache(&frames(&tube, z_up), &mesh(&tube), &rig(&tube, 1.0));
    let parts = ["z up where that is y up", "give --input-up frames=z"];
    refused(scratch.dermis(WITH_A_CACHE[0]), &parts);
    let mended = format!("{} --input-up frames=z", WITH_A_CACHE[0]);
    scratch.dermis(&mended).done();
    assert!(apart(&scratch.read("out.npz"), &tube) < 1e-5, "upright");
    // glTF is y up by its standard: the short form turns the cache alone.
    let beside = "convert tube.pc2 --mesh rig.glb out.npz";
    refused(scratch.dermis(beside), &["give --input-up z,"]);
    scratch.dermis(&format!("{beside} --input-up z")).done();
    assert!(apart(&scratch.read("out.npz"), &tube) < 1e-5, "upright");
}

#[test]
fn a_rig_a_hundred_times_smaller_than_the_meshes_is_refused() {
    let tube = standing();
    let scratch = Scratch::new();
    scratch.write("meshes.npz", &frames(&tube, |points| points.to_vec()));
    scratch.write("rig.glb", &rig(&tube, 0.01));
    let fit = "fit meshes.npz --skeleton rig.glb --fps 24 -o out.glb --json --hold-out none";
    let parts = ["100 times as large", "give --scale 0.01", "rig.glb"];
    refused(scratch.dermis(fit), &parts);
    let compare = "compare meshes.npz --skeleton rig.glb --fps 24 --methods ssd";
    refused(scratch.dermis(compare), &parts);
    let run = scratch.dermis(&format!("{fit} --scale 0.01")).done();
    let ee = number(&run.json(), "/overall/envelopingErrorPercent");
    assert!(ee < 1.0, "EE {ee}% in one unit");
    scratch.dermis(&format!("{fit} --force")).done();
    // Without weights for the meshes, joints alone say how large it is.
    let mut bones = rig(&tube, 0.01);
    bones.mesh = TriMesh::new(vec![DVec3::ZERO], Vec::new()).expect("a point");
    bones.skeleton = bones.skin.take().map(|skin| skin.skeleton);
    bones.clips.clear();
    scratch.write("bones.npz", &bones);
    let guess = "rig meshes.npz --skeleton bones.npz -o rigged.npz";
    refused(scratch.dermis(guess), &["--scale 0.01"]);
}

#[test]
fn meshes_that_are_z_up_for_a_rig_that_is_y_up_are_refused() {
    let tube = standing();
    let scratch = Scratch::new();
    let mut turned = frames(&tube, z_up);
    let points = z_up(tube.mesh.positions());
    turned.mesh = tube.mesh.with_positions(points).expect("finite");
    scratch.write("meshes.npz", &turned);
    scratch.write("rig.glb", &rig(&tube, 1.0));
    let fit = "fit meshes.npz --skeleton rig.glb --fps 24 -o out.glb --json --hold-out none";
    refused(
        scratch.dermis(fit),
        &["z up where that is y up", "give --input-up z,"],
    );
    let run = scratch.dermis(&format!("{fit} --input-up z")).done();
    let ee = number(&run.json(), "/overall/envelopingErrorPercent");
    assert!(ee < 1.0, "EE {ee}% upright");
}

#[test]
fn a_target_in_centimetres_or_in_another_order_is_refused_by_pose() {
    let tube = standing();
    let scratch = Scratch::new();
    scratch.write("skin.glb", &rig(&tube, 1.0));
    let posed = &tube.frames[2].positions;
    let target = |positions: Vec<DVec3>| Document {
        mesh: tube.mesh.with_positions(positions).expect("finite"),
        ..Document::default()
    };
    scratch.write("cm.obj", &target(scaled(100.0)(posed)));
    scratch.write("mixed.obj", &target(shuffled(posed)));
    scratch.write("right.obj", &target(posed.clone()));
    refused(
        scratch.dermis("pose skin.glb --to cm.obj"),
        &["100 times as large", "give --scale 0.01"],
    );
    scratch
        .dermis("pose skin.glb --to cm.obj --scale 0.01 --max-error 0.01")
        .done();
    refused(
        scratch.dermis("pose skin.glb --to mixed.obj"),
        &["another order"],
    );
    scratch
        .dermis("pose skin.glb --to right.obj --max-error 0.01")
        .done();
}

#[test]
fn a_sculpt_in_another_unit_or_order_is_refused_by_psd_add() {
    let scratch = Scratch::new();
    put_arm(&scratch);
    let new = "psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:z";
    scratch.dermis(new).done();
    let pose = "psd pose arm.psd.toml --pose elbow=90 -o posed.obj";
    scratch.dermis(pose).done();
    let brush = |i: usize| DVec3::Y * if i % 50 < 5 { 0.02 } else { 0.0 };
    sculpt(&scratch, "posed.obj", "sculpt.obj", brush);
    let right = scratch.read("sculpt.obj");
    let changed = |change: &dyn Fn(&[DVec3]) -> Vec<DVec3>| {
        let points = change(right.mesh.positions());
        Document {
            mesh: right.mesh.with_positions(points).expect("finite"),
            ..Document::default()
        }
    };
    scratch.write("cm.obj", &changed(&scaled(100.0)));
    scratch.write("z.obj", &changed(&z_up));
    scratch.write("mixed.obj", &changed(&shuffled));
    let add = |mesh: &str| format!("psd add arm.psd.toml --pose elbow=90 --mesh {mesh}");
    let before = std::fs::read(scratch.at("arm.psd.toml")).expect("a project");
    let parts = ["100 times as large", "give --scale 0.01"];
    refused(scratch.dermis(&add("cm.obj")), &parts);
    refused(scratch.dermis(&add("z.obj")), &["give --input-up z"]);
    refused(scratch.dermis(&add("mixed.obj")), &["--reorder"]);
    let after = std::fs::read(scratch.at("arm.psd.toml")).expect("a project");
    assert_eq!(
        before, after,
        "a refused sculpt leaves the project as it was"
    );
    for (mesh, mend) in [
        ("cm.obj", "--scale 0.01"),
        ("z.obj", "--input-up z"),
        ("mixed.obj", "--reorder"),
    ] {
        scratch.put("arm.psd.toml", &before);
        scratch.dermis(&format!("{} {mend}", add(mesh))).done();
        common::psd::assert_shows(&scratch, "arm.psd.toml", "elbow=90", "sculpt.obj");
    }
}

#[test]
fn squash_and_stretch_by_three_is_motion() {
    let tube = standing();
    let scratch = Scratch::new();
    let mut stretched = frames(&tube, |points| points.to_vec());
    for (k, frame) in stretched.frames.iter_mut().enumerate() {
        let along = [1.0, 3.0, 1.0 / 3.0, 2.0, 0.5, 2.5][k % 6];
        let across = f64::powf(along, -0.5);
        for v in &mut frame.positions {
            *v *= DVec3::new(across, along, across);
        }
    }
    scratch.write("stretched.npz", &stretched);
    scratch
        .dermis("decompose stretched.npz --bones 4 -o out.glb --quality fast")
        .done();
}

#[test]
fn input_that_is_z_up_stands_upright_in_a_glb_and_is_the_same_fit() {
    let tube = standing();
    let quarter = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let by = Similarity::new(1.0, quarter, DVec3::ZERO).expect("a move");
    let scratch = Scratch::new();
    scratch.write("z.npz", &tube.moved(&by).expect("a plain skin"));
    let fit = |more: &str| {
        let command = format!("fit z.npz -o out.glb --json {more}");
        scratch.dermis(&command).done().json()
    };
    let lying = fit("");
    let upright = fit("--input-up z");
    for pointer in ["/overall/eRms", "/heldOut/eRms"] {
        let (a, b) = (number(&lying, pointer), number(&upright, pointer));
        assert!((a - b).abs() < 1e-3 + 1e-6 * a, "{pointer}: {a} and {b}");
    }
    let file = scratch.read("out.glb");
    let size = file.mesh.bounds().size();
    assert!(
        size.y > 2.9 && size.x < 0.5 && size.z < 0.5,
        "upright: {size}"
    );
    let skin = file.skin.as_ref().expect("a skin");
    for (k, frame) in tube.frames.iter().enumerate() {
        let shown = skin.sample(&file.clips[0], k as f64 / 24.0);
        let shown = skin.evaluate(&shown).expect("its own clip");
        let pairs = shown.iter().zip(&frame.positions);
        let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-3, "frame {k} is {off} away");
    }
    // Every other command that reads such a file turns it, too.
    for command in [
        "eval z.npz -o out.npz",
        "stats z.npz -o out.glb",
        "bounds z.npz -o out.glb",
        "subdivide z.npz -o out.glb",
        "convert z.npz out.glb",
        "rig z.npz --bones 3 -o out.npz",
    ] {
        scratch
            .dermis(&format!("{command} --input-up z --quiet"))
            .done();
        let words: Vec<&str> = command.split(' ').collect();
        let file = scratch.read(words.last().expect("an output"));
        let size = file.mesh.bounds().size();
        assert!(size.y > 2.5 && size.z < 0.5, "{command}: {size}");
    }
}

/// The same drawing from rest positions in centimetres: bind matrices scale them.
fn with_scaling_binds(document: &Document) -> Document {
    let by = DAffine3::from_scale(DVec3::splat(100.0));
    let mut scaling = document.clone();
    let skin = scaling.skin.as_mut().expect("a skin");
    let mut bones = skin.skeleton.bones().to_vec();
    for bone in &mut bones {
        bone.bone_from_rest *= by.inverse();
    }
    skin.skeleton = dermis::Skeleton::new(bones).expect("the same tree");
    let VertexProgram::Ssd(ssd) = &mut skin.program else {
        panic!("a plain skin");
    };
    for v in &mut ssd.rest_positions {
        *v = by.transform_point3(*v);
    }
    let rest = ssd.rest_positions.clone();
    scaling.mesh = document.mesh.with_positions(rest).expect("finite");
    scaling
}

#[test]
fn shares_of_the_size_are_of_what_is_drawn_whatever_bind_matrices_scale() {
    let tube = standing();
    let scratch = Scratch::new();
    let plain = rig(&tube, 1.0);
    scratch.write("plain.glb", &plain);
    scratch.write("scaling.glb", &with_scaling_binds(&plain));
    let mut target = mesh(&tube);
    let mut points = tube.frames[1].positions.clone();
    points[20] += DVec3::X * 0.3;
    target.mesh = tube.mesh.with_positions(points).expect("finite");
    scratch.write("target.obj", &target);
    // Meshes as they are drawn, for a rig that stores them in centimetres.
    scratch.write("meshes.npz", &frames(&tube, <[DVec3]>::to_vec));
    let fit = "fit meshes.npz --skeleton scaling.glb --fps 24 -o out.glb --json --hold-out none";
    let run = scratch.dermis(fit).done();
    let ee = number(&run.json(), "/overall/envelopingErrorPercent");
    assert!(ee < 1.0, "EE {ee}%: {run:#?}");
    for (command, pointers) in [
        (
            "fit FILE -o out.glb --json --max-influences 1",
            &["/overall/maxDistance", "/overall/meanDistance"][..],
        ),
        ("bounds FILE --json", &["/restLeftBy"]),
        ("pose FILE --to target.obj --json", &["/rmsDistance"]),
    ] {
        let [a, b] = ["plain.glb", "scaling.glb"].map(|file| {
            let run = scratch.dermis(&command.replace("FILE", file));
            run.done().json()
        });
        for pointer in pointers {
            let (a, b) = (number(&a, pointer), number(&b, pointer));
            assert!(
                (a / b - 1.0).abs() < 0.02,
                "{command} {pointer}: {a} and {b}"
            );
        }
    }
}
