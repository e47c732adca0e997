//! Meshes that a known rig made: the fit must find weights as good as those that made them.

use std::io::Read as _;
use std::path::Path;

use dermis::{Pose, Skeleton};
use dermis_io::{Document, Frame, read};
use glam::{DAffine3, DMat3, DVec3};
use serde_json::Value;

use crate::common::{Scratch, number, quoted};
use crate::support;
use crate::support::bone_match;

/// Largest `E_RMS` of an exact rig: fact 1 of the spec.
const EXACT: f64 = 0.05;

/// One of the ground-truth characters, with the poses of one of its folders.
///
/// Its bones all stand at the origin in rest, so that a bone's pose is the matrix of its `.Tmat`.
struct KnownRig {
    document: Document,
    /// Most bones that move one vertex.
    influences: usize,
    /// Weight of every bone on every vertex.
    weights: Vec<Vec<f64>>,
}

impl KnownRig {
    fn read(character: &str, poses: &str) -> Option<Self> {
        let folder = support::data(&format!("gt-{character}"))?;
        let (bone_count, weights) = read_dmat(&folder.join(format!("{character}.DMAT.gz")));
        let mesh = read(&folder.join(format!("{character}.obj"))).expect("the rest mesh");
        let vertex_count = mesh.mesh.vertex_count();
        assert_eq!(weights.len(), bone_count * vertex_count, "one each");
        let weights_of = |i| weights.iter().skip(i).step_by(vertex_count);
        let influences = (0..vertex_count)
            .map(|i| weights_of(i).filter(|&&w| w > 0.0).count())
            .max();

        let rows = (0..vertex_count)
            .map(|i| weights_of(i).copied().collect())
            .collect();
        let at_origin = |j| (format!("bone_{j}"), None, DAffine3::IDENTITY);
        let skeleton = Skeleton::from_rest_frames((0..bone_count).map(at_origin));
        let mut document = Document {
            skeleton: Some(skeleton.expect("bones without parents")),
            ..mesh
        };
        for k in 1.. {
            let name = format!("{character}-{k}");
            let posed = folder.join(poses).join(format!("{name}.obj.gz"));
            if !posed.is_file() {
                break;
            }
            let bones = read_tmat(&folder.join(poses).join(format!("{name}.Tmat")));
            document.frame_poses.push(Pose::new(bones));
            let positions = read(&posed).expect("a pose").mesh.positions().to_vec();
            document.frames.push(Frame { name, positions });
        }
        Some(Self {
            document,
            influences: influences.expect("vertices"),
            weights: rows,
        })
    }

    /// Fits with as many influences as the rig has, and returns the measures.
    fn fit(&self, hold_out: &str) -> Value {
        let scratch = Scratch::new();
        scratch.write("examples.npz", &self.document);
        let run = scratch.dermis(&format!(
            "fit examples.npz -o skin.glb --json --hold-out {hold_out} --max-influences {}",
            self.influences
        ));
        let skin = scratch.read("skin.glb").skin.expect("a skin");
        assert_eq!(
            skin.vertex_count(),
            self.document.mesh.vertex_count(),
            "every vertex is in the file"
        );
        run.done().json()
    }
}

/// Bones and weights of a `.DMAT`: two counts, then the weights, vertex fastest.
fn read_dmat(path: &Path) -> (usize, Vec<f64>) {
    let file = std::fs::File::open(path).expect("the weights open");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .expect("gzipped text");
    let mut words = text.split_whitespace();
    let bone_count = words.next().expect("a count").parse().expect("a count");
    let weights = words.skip(1).map(|word| word.parse().expect("a weight"));
    (bone_count, weights.collect())
}

/// The matrices of a `.Tmat`: for each bone four lines of three, the transpose of `[R|t]`.
fn read_tmat(path: &Path) -> Vec<DAffine3> {
    let text = std::fs::read_to_string(path).expect("the transforms open");
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let columns: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
    columns
        .chunks_exact(4)
        .map(|c| DAffine3::from_mat3_translation(DMat3::from_cols(c[0], c[1], c[2]), c[3]))
        .collect()
}

#[test]
fn every_known_rig_is_recovered() {
    for (character, poses, count) in [
        ("wolf", "poses-1", 6),
        ("wolf", "poses-2", 21),
        ("cylinder", "poses-1", 4),
        ("cylinder", "poses-2", 4),
    ] {
        let Some(rig) = KnownRig::read(character, poses) else {
            return;
        };
        assert_eq!(rig.document.frames.len(), count, "poses of the {character}");
        let report = rig.fit("none");
        let e_rms = number(&report, "/overall/eRms");
        eprintln!(
            "{character} {poses}, {} influences: E_RMS {e_rms:.2e}",
            rig.influences
        );
        assert!(e_rms < EXACT, "E_RMS {e_rms} of {character} {poses}");
    }
}

#[test]
fn a_tube_of_blender_is_recovered() {
    let Some(path) = support::data("bpy/tube_lbs/truth.npz") else {
        return;
    };
    let scratch = Scratch::new();
    let fit = format!("fit {} -o tube.glb --hold-out none --json", quoted(&path));
    let e_rms = number(&scratch.dermis(&fit).done().json(), "/overall/eRms");
    eprintln!("tube_lbs: E_RMS {e_rms:.2e}");
    assert!(e_rms < EXACT, "E_RMS {e_rms}");
}

/// The wolf's poses-2 turn one joint each, so that no pose can stand for another: whole sets are
/// held out instead of some of their poses.
#[test]
fn known_rigs_move_right_in_poses_that_were_held_out() {
    for (character, seen, held_out, limit) in [
        // Measured: 0.0002, 0.25, 0.0004, 0.0002. The wolf's six poses-1 leave a few of up to 18
        // weights per vertex open.
        ("wolf", "poses-2", "poses-1", EXACT),
        ("wolf", "poses-1", "poses-2", 0.5),
        ("cylinder", "poses-2", "poses-1", EXACT),
        ("cylinder", "poses-1", "poses-2", EXACT),
    ] {
        let (Some(mut rig), Some(more)) = (
            KnownRig::read(character, seen),
            KnownRig::read(character, held_out),
        ) else {
            return;
        };
        let first = rig.document.frames.len();
        rig.document.frames.extend(more.document.frames);
        rig.document.frame_poses.extend(more.document.frame_poses);
        let numbers: Vec<String> = (first..rig.document.frames.len())
            .map(|k| k.to_string())
            .collect();
        let report = rig.fit(&numbers.join(","));
        let e_rms = number(&report, "/heldOut/eRms");
        eprintln!("{character} {seen}, {held_out} held out: E_RMS {e_rms:.2e}");
        assert!(e_rms < limit, "E_RMS {e_rms} of {character} {held_out}");
    }
}

#[test]
fn a_pose_that_follows_from_others_can_be_held_out() {
    let Some(rig) = KnownRig::read("cylinder", "poses-2") else {
        return;
    };
    let e_rms = number(&rig.fit("every:3"), "/heldOut/eRms");
    eprintln!("cylinder poses-2, every third held out: E_RMS {e_rms:.2e}");
    // Measured: 0.00009. The third pose turns the same joint as the second, another way.
    assert!(e_rms < EXACT, "E_RMS {e_rms}");
}

#[test]
fn a_body_that_is_no_linear_blend_generalises() {
    let Some(path) = support::data("bpy/makehuman_csmooth/truth.npz") else {
        return;
    };
    let scratch = Scratch::new();
    let fit = format!(
        "fit {} -o body.glb --hold-out every:4 --json",
        quoted(&path)
    );
    let report = scratch.dermis(&fit).done().json();
    let error = number(&report, "/heldOut/envelopingErrorPercent");
    eprintln!("makehuman_csmooth, every fourth held out: EE {error:.2}%");
    // 23.5% when this was written; the errors of the 60 other poses are as large.
    assert!(error <= 25.0, "EE {error}%");
}

/// The bones of a rig, from its meshes alone: the share of vertices whose heaviest bone is right, and `E_RMS`
/// with half the diagonal as the radius.
fn found_again(meshes: &Document, influences: usize, weights: &[Vec<f64>]) -> (f64, f64) {
    let scratch = Scratch::new();
    scratch.write("meshes.npz", meshes);
    let bone_count = weights[0].len();
    let rig = format!(
        "rig meshes.npz --bones {bone_count} --max-influences {influences} -o rigged.npz -q"
    );
    scratch.dermis(&rig).done();
    let rigged = scratch.read("rigged.npz");
    let skin = rigged.skin.as_ref().expect("a skin");
    let mut squared = 0.0;
    for (frame, pose) in rigged.frames.iter().zip(&rigged.frame_poses) {
        let shown = skin.evaluate(pose).expect("its own pose");
        let pairs = shown.iter().zip(&frame.positions);
        squared += pairs.map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
    }
    let numbers = 3 * rigged.frames.len() * rigged.mesh.vertex_count();
    let radius = 0.5 * rigged.mesh.bounds().diagonal();
    let e_rms = 1000.0 * (squared / numbers as f64).sqrt() / radius;
    (bone_match::share_right(skin, weights), e_rms)
}

#[test]
fn bones_of_known_rigs_are_found_from_their_meshes_alone() {
    for (character, poses) in [
        ("cylinder", "poses-1"),
        ("cylinder", "poses-2"),
        ("wolf", "poses-1"),
        ("wolf", "poses-2"),
    ] {
        let Some(rig) = KnownRig::read(character, poses) else {
            return;
        };
        let meshes = Document {
            skeleton: None,
            frame_poses: Vec::new(),
            ..rig.document
        };
        let (right, e_rms) = found_again(&meshes, rig.influences, &rig.weights);
        eprintln!("{character}, {poses}, bones found: {right} right, E_RMS {e_rms:.1e}");
        assert!(right > 0.99, "{character}, {poses}: {right} are right");
        assert!(e_rms < 0.01, "{character}, {poses}: E_RMS {e_rms}");
    }
}
