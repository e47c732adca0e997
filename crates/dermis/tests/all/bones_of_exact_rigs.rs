//! The bones of meshes made by linear blend skinning are recovered to rounding.

use dermis::TriMesh;
use dermis::fit::{
    BoneGuess, BoneOptions, ExampleMesh, FittedBones, SsdOptions, fit_bones, fit_ssd,
};
use dermis::measure::measure;
use dermis::progress::Silent;
use dermis::skin::{Skin, VertexProgram};
use dermis::synth::{TubeOptions, tube};
use glam::{DAffine3, DQuat, DVec3};

use crate::support::bone_match::share_right;
use crate::support::dice::Dice;

/// A tree of bones with a tube of skin around each, and smooth weights.
struct Rig {
    rest: TriMesh,
    /// Weight of every bone on every vertex.
    weights: Vec<Vec<f64>>,
    meshes: Vec<ExampleMesh>,
}

/// A bone from one end to the other, and its parent.
type Segment = (DVec3, DVec3, Option<usize>);

/// How far apart vertices stand along and around a bone.
const RINGS: usize = 10;
const AROUND: usize = 10;

fn random_tree(dice: &mut Dice, count: usize) -> Vec<Segment> {
    let mut bones: Vec<Segment> = vec![(DVec3::ZERO, 0.6 * dice.vector().normalize(), None)];
    while bones.len() < count {
        let parent = dice.below(bones.len());
        let (from, to, _) = bones[parent];
        let mut along = dice.vector().normalize();
        if along.dot(to - from) < 0.0 {
            along = -along;
        }
        let length = 0.6 + 0.2 * dice.number();
        bones.push((to, to + length * along, Some(parent)));
    }
    bones
}

/// Hips, chest, head, two arms and two legs of two bones each.
fn biped() -> Vec<Segment> {
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    vec![
        (at(0.0, 1.0), at(0.0, 1.2), None),
        (at(0.0, 1.2), at(0.0, 1.5), Some(0)),
        (at(0.0, 1.55), at(0.0, 1.85), Some(1)),
        (at(0.18, 1.45), at(0.45, 1.45), Some(1)),
        (at(0.45, 1.45), at(0.75, 1.44), Some(3)),
        (at(-0.18, 1.45), at(-0.45, 1.45), Some(1)),
        (at(-0.45, 1.45), at(-0.75, 1.44), Some(5)),
        (at(0.1, 0.95), at(0.1, 0.5), Some(0)),
        (at(0.1, 0.5), at(0.11, 0.05), Some(7)),
        (at(-0.1, 0.95), at(-0.1, 0.5), Some(0)),
        (at(-0.1, 0.5), at(-0.11, 0.05), Some(9)),
    ]
}

fn distance_to(p: DVec3, from: DVec3, to: DVec3) -> f64 {
    let along = to - from;
    let t = ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    p.distance(from + t * along)
}

/// Falls with the distance, and to zero where the next bone after the last would begin.
fn weights_of(p: DVec3, bones: &[Segment], influences: usize) -> Vec<f64> {
    let mut near: Vec<(f64, usize)> = bones
        .iter()
        .enumerate()
        .map(|(j, bone)| (distance_to(p, bone.0, bone.1), j))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = near[near.len() - 1].0;
    let far = near.get(influences).map_or(1.5 * last, |next| next.0);
    let mut row = vec![0.0; bones.len()];
    for &(distance, j) in near.iter().take(influences) {
        row[j] = f64::max(distance.powi(-3) - far.powi(-3), 0.0);
    }
    row[near[0].1] += 1e-6;
    let sum: f64 = row.iter().sum();
    row.iter().map(|w| w / sum).collect()
}

fn rig(bones: &[Segment], influences: usize, poses: usize, turn: f64, dice: &mut Dice) -> Rig {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for &(from, to, _) in bones {
        let along = (to - from).normalize();
        let side = along.any_orthonormal_vector();
        let other = along.cross(side);
        let base = points.len() as u32;
        for ring in 0..RINGS {
            let place = from.lerp(to, (ring as f64 + 0.05) / (RINGS as f64 - 0.8));
            let radius = 0.08 * (1.0 + 0.2 * (3.0 * ring as f64).sin());
            for k in 0..AROUND {
                let angle = std::f64::consts::TAU * k as f64 / AROUND as f64;
                points.push(place + radius * (angle.cos() * side + angle.sin() * other));
            }
        }
        let around = AROUND as u32;
        for ring in 0..RINGS as u32 - 1 {
            for k in 0..around {
                let (a, b) = (
                    base + ring * around + k,
                    base + ring * around + (k + 1) % around,
                );
                triangles.extend([[a, b, a + around], [b, b + around, a + around]]);
            }
        }
    }
    let weights: Vec<Vec<f64>> = points
        .iter()
        .map(|p| weights_of(*p, bones, influences))
        .collect();
    let meshes = (0..poses)
        .map(|k| {
            let mut moved: Vec<DAffine3> = Vec::new();
            for &(joint, _, parent) in bones {
                let rotation = DQuat::from_scaled_axis(turn * dice.vector());
                let about = DAffine3::from_translation(joint)
                    * DAffine3::from_quat(rotation)
                    * DAffine3::from_translation(-joint);
                moved.push(match parent {
                    Some(parent) => moved[parent] * about,
                    None => DAffine3::from_translation(0.3 * dice.vector()) * about,
                });
            }
            let blend = |(p, row): (&DVec3, &Vec<f64>)| {
                let parts = moved.iter().zip(row);
                parts.map(|(m, w)| *w * m.transform_point3(*p)).sum()
            };
            ExampleMesh {
                name: format!("pose {k}"),
                positions: points.iter().zip(&weights).map(blend).collect(),
            }
        })
        .collect();
    Rig {
        rest: TriMesh::new(points, triangles).expect("tubes"),
        weights,
        meshes,
    }
}

fn find(rest: &TriMesh, meshes: &[ExampleMesh], count: usize) -> FittedBones {
    fit_bones(
        rest,
        meshes,
        &BoneGuess::Count(count),
        &BoneOptions::default(),
        &Silent,
    )
    .expect("the meshes have bones")
}

/// The skin of linear blending on found bones, and its `E_RMS`.
fn blended(found: &FittedBones) -> (Skin, f64) {
    let set = &found.examples;
    let all: Vec<usize> = (0..set.examples().len()).collect();
    let skin = fit_ssd(set, &all, &SsdOptions::default(), &Silent)
        .expect("bones can be fitted to")
        .skin;
    let error = measure(&skin, set, &all).expect("its own examples").total;
    (skin, error.e_rms)
}

fn assert_found(name: &str, rig: &Rig, asked: usize) {
    let found = find(&rig.rest, &rig.meshes, asked);
    let bones = found.examples.skeleton().bone_count();
    assert_eq!(bones, rig.weights[0].len(), "{name}: as many as there are");
    let (skin, error) = blended(&found);
    assert!(error < 0.01, "{name}: E_RMS {error}");
    let right = share_right(&skin, &rig.weights);
    assert!(right > 0.995, "{name}: {right} of the vertices are right");
}

#[test]
fn random_trees_with_smooth_weights_are_found_exactly() {
    for (seed, count, influences, poses) in [
        (1, 3, 2, 6),
        (2, 5, 3, 5),
        (3, 8, 4, 12),
        (4, 12, 4, 8),
        (5, 16, 2, 10),
    ] {
        let mut dice = Dice::new(seed);
        let bones = random_tree(&mut dice, count);
        let name = format!("{count} bones, {influences} on a vertex, {poses} poses");
        assert_found(
            &name,
            &rig(&bones, influences, poses, 0.7, &mut dice),
            count,
        );
    }
}

#[test]
fn the_head_of_a_biped_stays_one_bone() {
    let mut dice = Dice::new(7);
    for (influences, poses) in [(4, 8), (3, 5), (2, 20)] {
        let name = format!("{influences} on a vertex, {poses} poses");
        let rig = rig(&biped(), influences, poses, 0.6, &mut dice);
        assert_found(&name, &rig, 11);
    }
}

/// Three poses are nine numbers for each vertex: bones that are nearly right bend to explain them nearly.
#[test]
fn three_poses_are_enough() {
    let mut dice = Dice::new(1);
    assert_found("biped", &rig(&biped(), 4, 3, 0.7, &mut dice), 11);
    let mut dice = Dice::new(2);
    let bones = random_tree(&mut dice, 20);
    assert_found("tree", &rig(&bones, 3, 3, 0.7, &mut dice), 20);
}

#[test]
fn poses_of_meshes_outside_the_search_are_found_too() {
    let mut dice = Dice::new(8);
    let rig = rig(&biped(), 3, 60, 0.6, &mut dice);
    assert_found("60 poses", &rig, 11);
}

#[test]
fn no_more_bones_are_made_than_the_meshes_need() {
    let mut dice = Dice::new(9);
    let bones = random_tree(&mut dice, 4);
    assert_found(
        "7 asked for where 4 are",
        &rig(&bones, 3, 8, 0.7, &mut dice),
        7,
    );
}

#[test]
fn the_unit_of_the_meshes_does_not_matter() {
    let mut dice = Dice::new(10);
    let bones = random_tree(&mut dice, 6);
    let small = rig(&bones, 3, 8, 0.7, &mut dice);
    let far = DVec3::new(3000.0, -200.0, 40.0);
    let larger = |points: &[DVec3]| points.iter().map(|p| 250.0 * *p + far).collect::<Vec<_>>();
    let large = Rig {
        rest: small
            .rest
            .with_positions(larger(small.rest.positions()))
            .expect("as many"),
        meshes: small
            .meshes
            .iter()
            .map(|mesh| ExampleMesh {
                name: mesh.name.clone(),
                positions: larger(&mesh.positions),
            })
            .collect(),
        weights: small.weights,
    };
    assert_found("centimetres, far away", &large, 6);
}

#[test]
fn a_tube_is_found_exactly() {
    let tube = tube(&TubeOptions {
        ring_count: 40,
        segment_count: 10,
        bone_count: 4,
        example_count: 14,
    });
    let VertexProgram::Ssd(ssd) = &tube.truth.program else {
        panic!("the tube is a linear blend skin");
    };
    let row = |row: &[dermis::skin::Weight]| {
        let mut full = vec![0.0; 4];
        row.iter().for_each(|w| full[w.bone.index()] += w.weight);
        full
    };
    let example = |example: &dermis::Example| ExampleMesh {
        name: example.name.clone(),
        positions: example.positions.clone(),
    };
    let rig = Rig {
        rest: tube.examples.rest().clone(),
        weights: ssd.weights.iter().map(row).collect(),
        meshes: tube.examples.examples().iter().map(example).collect(),
    };
    assert_found("tube", &rig, 4);
}

#[test]
fn exact_bones_are_the_same_on_any_number_of_threads() {
    let mut dice = Dice::new(11);
    let bones = random_tree(&mut dice, 5);
    let rig = rig(&bones, 3, 6, 0.7, &mut dice);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let found = pool
            .build()
            .expect("threads")
            .install(|| find(&rig.rest, &rig.meshes, 5));
        found.examples
    };
    assert_eq!(on(1), on(3), "the same bits");
}
