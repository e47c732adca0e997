//! Somebody has a rig already and a simulation that it does not quite show: helper bones, other weights
//! or another motion make up for it, and what is theirs stays.

use dermis::rig::Palette;
use dermis::skin::Weight;
use dermis::synth::{Tube, TubeOptions, tube};
use dermis::{BoneId, Clip, Pose, Skin, TriMesh, VertexProgram};
use dermis_io::Document;
use glam::DVec3;
use serde_json::Value;

use crate::common::{Scratch, number, sequence, shown_error};

/// A tube that swells where it bends, its rig, and the poses of the rig.
struct Sim {
    made: Tube,
    poses: Vec<Pose>,
    frames: Vec<Vec<DVec3>>,
}

impl Sim {
    /// `swell` is how far the skin stands off the rig where it does so most.
    fn new(swell: f64) -> Self {
        let made = tube(&TubeOptions {
            ring_count: 30,
            segment_count: 12,
            bone_count: 3,
            example_count: 16,
        });
        let examples = made.examples.examples();
        let rest = made.examples.rest().positions();
        let frames = (examples.iter().enumerate())
            .map(|(k, example)| {
                // About the second joint only: the ends are the rig's own.
                let lift = |at: &DVec3| {
                    let near = (-(at.x - 2.0).powi(2) / 0.08).exp();
                    let time = std::f64::consts::TAU * k as f64 / examples.len() as f64;
                    swell * near * time.sin() * DVec3::new(0.2, 1.0, 0.4)
                };
                let pairs = example.positions.iter().zip(rest);
                pairs.map(|(shown, at)| *shown + lift(at)).collect()
            })
            .collect();
        Self {
            poses: examples.iter().map(|e| e.pose.clone()).collect(),
            frames,
            made,
        }
    }

    fn rest(&self) -> &TriMesh {
        self.made.examples.rest()
    }

    /// The rig as a file, with a clip for each range of poses.
    fn rig(&self, skin: Skin, clips: &[(&str, std::ops::Range<usize>)]) -> Document {
        let clip = |(name, range): &(&str, std::ops::Range<usize>)| {
            let poses = &self.poses[range.clone()];
            Clip::from_poses(*name, &skin.skeleton, poses, 24.0).expect("rigid bones")
        };
        Document {
            mesh: self.rest().clone(),
            clips: clips.iter().map(clip).collect(),
            skin: Some(skin),
            ..Document::default()
        }
    }

    /// A folder with the meshes in `sim.npz` and the rig in `rig.glb`.
    fn folder(&self) -> Scratch {
        let scratch = Scratch::new();
        scratch.write("sim.npz", &sequence(self.rest(), &self.frames));
        let all = 0..self.frames.len();
        let rig = self.rig(self.made.truth.clone(), &[("wave", all)]);
        scratch.write("rig.glb", &rig);
        scratch
    }

    /// `E_RMS` of a file of one clip.
    fn error(&self, scratch: &Scratch, name: &str) -> f64 {
        shown_error(&scratch.read(name), self.rest(), &[&self.frames])
    }
}

#[track_caller]
fn decompose(scratch: &Scratch, arguments: &str) -> Value {
    let run = scratch
        .dermis(&format!("decompose {arguments} --json"))
        .done();
    assert!(!run.stderr.contains("warning"), "{run:#?}");
    run.json()
}

fn skin(document: &Document) -> &Skin {
    document.skin.as_ref().expect("a skin")
}

/// A vertex's weights by the names of its bones, sorted.
fn named_weights(skin: &Skin, vertex: usize) -> Vec<(String, f64)> {
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("linear blend skinning");
    };
    let name = |bone: BoneId| skin.skeleton.bones()[bone.index()].name.clone();
    let row = ssd.weights.row(vertex).iter();
    let mut named: Vec<_> = row.map(|w| (name(w.bone), w.weight)).collect();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    named
}

/// Largest difference of two vertices' weights.
fn weight_difference(a: &[(String, f64)], b: &[(String, f64)]) -> f64 {
    let of = |list: &[(String, f64)], name: &str| {
        let found = list.iter().find(|(other, _)| other == name);
        found.map_or(0.0, |(_, weight)| *weight)
    };
    let names = a.iter().chain(b).map(|(name, _)| name);
    names.fold(0.0, |most, name| {
        (of(a, name) - of(b, name)).abs().max(most)
    })
}

fn palette(skin: &Skin, clip: &Clip, k: usize) -> Palette {
    let pose = skin.sample(clip, k as f64 / 24.0);
    skin.skeleton.palette(&pose).expect("its own clip")
}

/// Fails unless all bones of a rig are in a file, with their parents, rest frames and motion.
#[track_caller]
fn assert_keeps_bones(rig: &Document, helped: &Document, clip: &str, frame_count: usize) {
    let of = |document: &Document| -> Clip {
        let clip = document.clips.iter().find(|found| found.name == clip);
        clip.expect("the clip of the rig").clone()
    };
    let (before, after) = (&skin(rig).skeleton, &skin(helped).skeleton);
    for bone in before.ids() {
        let given = &before.bones()[bone.index()];
        let kept = after.find(&given.name);
        let kept = kept.unwrap_or_else(|| panic!("no bone {}", given.name));
        let found = &after.bones()[kept.index()];
        let name_of = |parent: Option<BoneId>, skin: &Document| {
            let bones = skin.skin.as_ref().expect("a skin").skeleton.bones();
            parent.map(|parent| bones[parent.index()].name.clone())
        };
        assert_eq!(
            name_of(given.parent, rig),
            name_of(found.parent, helped),
            "parent of {}",
            given.name
        );
        assert!(
            given.bone_from_rest.abs_diff_eq(found.bone_from_rest, 1e-6),
            "rest frame of {}",
            given.name
        );
        for k in 0..frame_count {
            let a = palette(skin(rig), &of(rig), k).model_from_bone[bone.index()];
            let b = palette(skin(helped), &of(helped), k).model_from_bone[kept.index()];
            assert!(
                a.abs_diff_eq(b, 2e-5),
                "{} at frame {k}: {a} became {b}",
                given.name
            );
        }
    }
}

#[test]
fn helpers_lower_the_error_of_a_rig_and_leave_it_as_it_was() {
    let sim = Sim::new(0.1);
    let scratch = sim.folder();
    let said = decompose(&scratch, "sim.npz --keep rig.glb --bones 2 -o helped.glb");
    let (alone, helped) = (number(&said, "/rigERms"), number(&said, "/eRms"));
    let shown = sim.error(&scratch, "rig.glb");
    assert!(
        (alone - shown).abs() < 0.01 * shown,
        "{alone} was said, it shows {shown}"
    );
    eprintln!("the rig alone {alone:.3}, with two helpers {helped:.3}");
    assert!(helped < 0.5 * alone, "{helped} against {alone}");
    let shown = sim.error(&scratch, "helped.glb");
    assert!(
        (helped - shown).abs() < 0.01 * helped,
        "{helped} was said, it shows {shown}"
    );
    assert_eq!(number(&said, "/bones"), 5.0, "three and two helpers");
    let (rig, file) = (scratch.read("rig.glb"), scratch.read("helped.glb"));
    assert_keeps_bones(&rig, &file, "wave", sim.frames.len());
    let VertexProgram::Ssd(ssd) = &skin(&file).program else {
        panic!("linear blend skinning");
    };
    let pairs = ssd.rest_positions.iter().zip(sim.rest().positions());
    let moved = pairs.fold(0.0f64, |most, (a, b)| a.distance(*b).max(most));
    assert!(moved < 1e-6, "the rest mesh is the rig's: {moved}");
}

#[test]
fn vertices_that_fit_keep_their_weights_when_locked() {
    let sim = Sim::new(0.1);
    let scratch = sim.folder();
    let rig = scratch.read("rig.glb");
    let command = "decompose sim.npz --keep rig.glb --bones 2 --lock fit:1 -o fit.glb";
    let run = scratch.dermis(command).done();
    let line = run
        .stderr
        .lines()
        .find(|l| l.contains("keep their weights"));
    let line = line.unwrap_or_else(|| panic!("it says how many: {run:#?}"));
    let count: usize = line
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    let file = scratch.read("fit.glb");
    let same = (0..sim.rest().vertex_count())
        .filter(|&v| {
            let (a, b) = (named_weights(skin(&rig), v), named_weights(skin(&file), v));
            weight_difference(&a, &b) < 1e-5
        })
        .count();
    assert!(
        count > 50 && count < sim.rest().vertex_count() - 50,
        "{line}"
    );
    assert!(
        same >= count,
        "{same} are as they were, {count} were locked"
    );
    assert_keeps_bones(&rig, &file, "wave", sim.frames.len());
    assert!(
        sim.error(&scratch, "fit.glb") < 0.8 * sim.error(&scratch, "rig.glb"),
        "it helps"
    );
}

#[test]
fn listed_vertices_keep_their_weights() {
    let sim = Sim::new(0.1);
    let scratch = sim.folder();
    // Every third vertex, in any layout that people write lists in.
    let locked: Vec<usize> = (0..sim.rest().vertex_count()).step_by(3).collect();
    let words: Vec<String> = locked.iter().map(usize::to_string).collect();
    let (first, second) = words.split_at(words.len() / 2);
    let text = format!("{}\n{}\n", first.join(", "), second.join("\n"));
    scratch.put("locked.txt", text);
    decompose(
        &scratch,
        "sim.npz --keep rig.glb --bones 2 --lock locked.txt -o helped.glb",
    );
    let (rig, file) = (scratch.read("rig.glb"), scratch.read("helped.glb"));
    let difference = |v: usize| {
        let (a, b) = (named_weights(skin(&rig), v), named_weights(skin(&file), v));
        weight_difference(&a, &b)
    };
    for &vertex in &locked {
        let off = difference(vertex);
        assert!(off < 1e-5, "vertex {vertex} is locked and changed by {off}");
    }
    let others = (0..sim.rest().vertex_count()).filter(|v| v % 3 != 0);
    let changed = others.filter(|&v| difference(v) > 0.01).count();
    assert!(changed > 20, "the others take the helpers up: {changed}");
    assert!(
        sim.error(&scratch, "helped.glb") < sim.error(&scratch, "rig.glb"),
        "it helps"
    );
}

#[test]
fn spoiled_weights_are_recovered() {
    let sim = Sim::new(0.0);
    let scratch = sim.folder();
    let mut spoiled = sim.made.truth.clone();
    let VertexProgram::Ssd(ssd) = &mut spoiled.program else {
        panic!("linear blend skinning");
    };
    // Everybody follows the bones by thirds.
    let third = |j: u16| Weight {
        bone: BoneId(j),
        weight: 1.0 / 3.0,
    };
    ssd.weights = (0..sim.rest().vertex_count())
        .map(|_| (0..3).map(third))
        .collect();
    let rig = sim.rig(spoiled, &[("wave", 0..sim.frames.len())]);
    scratch.write("spoiled.glb", &rig);
    assert!(sim.error(&scratch, "spoiled.glb") > 100.0, "it is spoiled");
    let command = "decompose sim.npz --keep spoiled.glb --weights-only -o fixed.glb --json --quiet";
    let said = scratch.dermis(command).done().json();
    assert!(number(&said, "/eRms") < 0.05, "{said:#}");
    let file = scratch.read("fixed.glb");
    assert!(sim.error(&scratch, "fixed.glb") < 0.05, "as it was said");
    assert_keeps_bones(&rig, &file, "wave", sim.frames.len());
    for vertex in 0..sim.rest().vertex_count() {
        let (a, b) = (
            named_weights(&sim.made.truth, vertex),
            named_weights(skin(&file), vertex),
        );
        let off = weight_difference(&a, &b);
        assert!(off < 2e-3, "vertex {vertex}: {a:?} became {b:?}");
    }
}

#[test]
fn the_motion_of_known_weights_is_recovered() {
    let sim = Sim::new(0.0);
    let scratch = sim.folder();
    scratch.write("still.glb", &sim.rig(sim.made.truth.clone(), &[]));
    let rig = scratch.read("rig.glb");
    for (motion, tolerance) in [("", 1e-3), ("--rigid", 1e-3)] {
        let command = format!("sim.npz --keep still.glb --transforms-only {motion} -o moved.glb");
        let said = decompose(&scratch, &command);
        assert!(number(&said, "/eRms") < 0.05, "{motion}: {said:#}");
        assert!(
            sim.error(&scratch, "moved.glb") < 0.05,
            "{motion}: as it was said"
        );
        let file = scratch.read("moved.glb");
        for k in 0..sim.frames.len() {
            let truth = palette(skin(&rig), &rig.clips[0], k);
            let found = palette(skin(&file), &file.clips[0], k);
            for bone in skin(&rig).skeleton.ids() {
                let given = &skin(&rig).skeleton.bones()[bone.index()];
                // A bone that shears is two nodes, of which the inner one has its vertices.
                let inner = skin(&file).skeleton.bones().iter().position(|found| {
                    found.bone_from_rest.abs_diff_eq(given.bone_from_rest, 1e-6)
                        && found.name.starts_with(&given.name)
                });
                let inner = inner.unwrap_or_else(|| panic!("no bone {}", given.name));
                let (a, b) = (
                    truth.model_from_bone[bone.index()],
                    found.model_from_bone[inner],
                );
                assert!(
                    a.abs_diff_eq(b, tolerance),
                    "{motion} frame {k}: {a} became {b}"
                );
            }
        }
    }
    // Weights stay even where the meshes would like others.
    let swollen = Sim::new(0.1);
    let scratch = swollen.folder();
    scratch.write("still.glb", &swollen.rig(swollen.made.truth.clone(), &[]));
    decompose(
        &scratch,
        "sim.npz --keep still.glb --transforms-only -o moved.glb",
    );
    let (rig, file) = (scratch.read("rig.glb"), scratch.read("moved.glb"));
    let (VertexProgram::Ssd(a), VertexProgram::Ssd(b)) =
        (&skin(&rig).program, &skin(&file).program)
    else {
        panic!("linear blend skinning");
    };
    for (vertex, (a, b)) in a.weights.iter().zip(b.weights.iter()).enumerate() {
        let mut given: Vec<f64> = a.iter().map(|w| w.weight).collect();
        let mut kept: Vec<f64> = b.iter().map(|w| w.weight).collect();
        given.sort_by(f64::total_cmp);
        kept.sort_by(f64::total_cmp);
        assert_eq!(given.len(), kept.len(), "vertex {vertex}");
        let same = given.iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(same, "vertex {vertex}: {given:?} became {kept:?}");
    }
    assert!(
        swollen.error(&scratch, "moved.glb") < swollen.error(&scratch, "rig.glb"),
        "other motion helps"
    );
}

#[test]
fn clips_of_one_name_belong_together() {
    let sim = Sim::new(0.1);
    let scratch = Scratch::new();
    let (walk, run) = sim.frames.split_at(6);
    scratch.write("walk.npz", &sequence(sim.rest(), walk));
    scratch.write("run.npz", &sequence(sim.rest(), run));
    // In another order than the meshes are given.
    let clips = [("run", 6..sim.frames.len()), ("walk", 0..6)];
    scratch.write("rig.glb", &sim.rig(sim.made.truth.clone(), &clips));
    let said = decompose(
        &scratch,
        "walk.npz run.npz --keep rig.glb --bones 2 -o helped.glb",
    );
    let file = scratch.read("helped.glb");
    let names: Vec<&str> = file.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["walk", "run"], "as the meshes");
    let shown = shown_error(&file, sim.rest(), &[walk, run]);
    let printed = number(&said, "/eRms");
    assert!(
        (shown - printed).abs() < 0.01 * printed,
        "{shown}, {printed} was said"
    );
    assert!(printed < 0.5 * number(&said, "/rigERms"), "{said:#}");
    // A single motion may have any name, and the rig's clip is chosen.
    let one = decompose(
        &scratch,
        "walk.npz --keep rig.glb --clip walk --bones 2 -o one.glb",
    );
    assert!(
        number(&one, "/rigERms") < 30.0,
        "it is the right clip: {one:#}"
    );
    let other =
        scratch.dermis("decompose walk.npz --keep rig.glb --clip run --bones 2 -o other.glb");
    assert!(
        other.stderr.contains("warning"),
        "its length is another: {other:#?}"
    );
}

/// Fails unless a file shows a clip of the rig as the rig shows it, to a share of the size.
#[track_caller]
fn assert_plays_as_the_rig(rig: &Document, file: &Document, name: &str, share: f64) {
    let of = |document: &Document, time: f64| {
        let clip = document.clips.iter().find(|clip| clip.name == name);
        let clip = clip.unwrap_or_else(|| panic!("no clip {name}"));
        let pose = skin(document).sample(clip, time);
        skin(document).evaluate(&pose).expect("its own clip")
    };
    let diagonal = rig.mesh.bounds().diagonal();
    for k in 0..6 {
        let time = f64::from(k) / 24.0;
        let pairs = of(rig, time).into_iter().zip(of(file, time));
        let off = pairs.fold(0.0f64, |off, (a, b)| off.max(a.distance(b)));
        assert!(off < share * diagonal, "{name} at {time} s is {off} away");
    }
}

#[test]
fn every_clip_of_the_rig_is_kept() {
    let sim = Sim::new(0.1);
    let scratch = Scratch::new();
    let (captured, _) = sim.frames.split_at(6);
    scratch.write("sim.npz", &sequence(sim.rest(), captured));
    let clips = [("Walk", 6..12), ("Captured", 0..6), ("Run", 10..16)];
    scratch.write("rig.glb", &sim.rig(sim.made.truth.clone(), &clips));
    let rig = scratch.read("rig.glb");
    for (how, bones) in [
        ("--clip Captured --bones 2", 5),
        ("--clip Captured --weights-only", 3),
    ] {
        let said = decompose(
            &scratch,
            &format!("sim.npz --keep rig.glb {how} -o kept.glb"),
        );
        assert_eq!(number(&said, "/bones"), f64::from(bones), "{how}");
        let file = scratch.read("kept.glb");
        let names: Vec<&str> = file.clips.iter().map(|clip| clip.name.as_str()).collect();
        assert_eq!(
            names,
            ["Captured", "Walk", "Run"],
            "{how}: those of the rig"
        );
        for name in ["Walk", "Run"] {
            // Helpers follow the bones that they hang on, and weights are others.
            assert_plays_as_the_rig(&rig, &file, name, 0.1);
            assert_keeps_bones(&rig, &file, name, 6);
        }
    }
    // Bones that shear are two nodes, of which the outer one plays the clips of the rig exactly.
    decompose(
        &scratch,
        "sim.npz --keep rig.glb --transforms-only -o moved.glb",
    );
    let file = scratch.read("moved.glb");
    let names: Vec<&str> = file.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(
        names,
        ["sim", "Walk", "Captured", "Run"],
        "new motion first"
    );
    for name in ["Walk", "Captured", "Run"] {
        assert_plays_as_the_rig(&rig, &file, name, 1e-5);
    }
}

#[test]
fn poses_are_found_for_a_rig_without_a_clip() {
    let sim = Sim::new(0.05);
    let scratch = sim.folder();
    scratch.write("still.glb", &sim.rig(sim.made.truth.clone(), &[]));
    let command = "decompose sim.npz --keep still.glb --bones 2 -o helped.glb --json";
    let run = scratch.dermis(command).done();
    assert!(run.stderr.contains("has no clip"), "it says so: {run:#?}");
    let said = run.json();
    assert!(
        number(&said, "/eRms") < number(&said, "/rigERms"),
        "{said:#}"
    );
    // The rig moves about as the one that made the meshes: the swelling is not in its power.
    let truth = sim.error(&scratch, "rig.glb");
    assert!(
        number(&said, "/rigERms") < 1.05 * truth,
        "{truth}: {said:#}"
    );
}

#[test]
fn the_result_looks_as_the_rig_does() {
    let sim = Sim::new(0.05);
    let scratch = sim.folder();
    // Meshes without faces, as a point cache gives them, onto a rig that has some.
    let cloud = TriMesh::new(sim.rest().positions().to_vec(), Vec::new()).expect("points");
    scratch.write("cloud.npz", &sequence(&cloud, &sim.frames));
    decompose(&scratch, "cloud.npz --keep rig.glb --bones 1 -o helped.glb");
    let file = scratch.read("helped.glb");
    assert_eq!(
        file.mesh.triangles(),
        sim.rest().triangles(),
        "the rig's faces"
    );
}

#[test]
fn a_rig_of_other_meshes_is_warned_of() {
    let sim = Sim::new(0.0);
    let scratch = sim.folder();
    let turned: Vec<Vec<DVec3>> = (sim.frames.iter())
        .map(|frame| frame.iter().map(|p| DVec3::new(p.z, p.x, p.y)).collect())
        .collect();
    scratch.write("turned.npz", &sequence(sim.rest(), &turned));
    let command = "decompose turned.npz --keep rig.glb --bones 1 -o helped.glb";
    let run = scratch.dermis(command).done();
    assert!(
        run.stderr
            .contains("warning: rig.glb alone is far off (E_RMS"),
        "{run:#?}"
    );
}
