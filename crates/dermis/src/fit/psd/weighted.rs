//! Controls that count for each vertex as much as it follows them \[Kurihara04\].
//!
//! In one space over many joints a finger would be held back by what the other hand does. Weighted
//! pose space deformation measures distance for each vertex by itself,
//! `d_i² = Σ_c α_ic d_c²`, and so has a system per vertex. Here vertices with like weights share one:
//! a few weightings are chosen among all, each is a driver, and a vertex takes its shapes from the two
//! next to it, in proportion. At a sculpt every one of them gives the sculpt, so nothing is lost
//! there; in between, more weightings come nearer to a system per vertex.

use glam::DVec3;

use super::PsdLayer;
use crate::fit::FitError;
use crate::pose_space::{Center, Control, Interpolated, PoseSpaceError};
use crate::skin::{Delta, Skin, SkinError, VertexProgram};

/// A driver, and the shapes of its outputs.
pub(super) struct Part {
    pub(super) solved: Interpolated,
    pub(super) names: Vec<String>,
    pub(super) shapes: Vec<Vec<Delta<DVec3>>>,
}

/// No control counts less than this, or two sculpts that differ in it alone would be one.
const LEAST_WEIGHT: f64 = 0.05;
/// Rounds of moving weightings to the middle of the vertices that are nearest to them.
const ROUNDS: usize = 20;

/// A layer as one driver per weighting.
pub(super) fn parts(
    skin: &Skin,
    layer: &PsdLayer,
    centers: &[Center],
    shapes: Vec<Vec<Delta<DVec3>>>,
    count: usize,
    solve: impl Fn(&[Control], &[Center]) -> Result<Interpolated, PoseSpaceError>,
) -> Result<Vec<Part>, FitError> {
    let mut vertices: Vec<u32> = shapes.iter().flatten().map(|d| d.index).collect();
    vertices.sort_unstable();
    vertices.dedup();
    let all = control_weights(skin, &layer.controls);
    let rows: Vec<&[f64]> = vertices
        .iter()
        .map(|&i| all[i as usize].as_slice())
        .collect();
    let weightings = choose(&rows, count);
    let shares: Vec<[(usize, f64); 2]> = rows.iter().map(|row| share(row, &weightings)).collect();
    let mut parts = Vec::new();
    for (g, weighting) in weightings.iter().enumerate() {
        let scaled: Vec<Center> = (centers.iter())
            .map(|center| Center {
                falloffs: (center.falloffs.iter().zip(weighting))
                    .map(|(falloff, weight)| falloff / weight.sqrt())
                    .collect(),
                ..center.clone()
            })
            .collect();
        let part_of = |delta: &Delta<DVec3>| {
            let at = vertices.binary_search(&delta.index).expect("one of them");
            let own: f64 = (shares[at].iter())
                .filter(|(weighting, _)| *weighting == g)
                .map(|(_, share)| share)
                .sum();
            (own != 0.0).then(|| Delta {
                value: own * delta.value,
                ..*delta
            })
        };
        parts.push(Part {
            solved: solve(&layer.controls, &scaled).map_err(SkinError::from)?,
            names: (layer.sculpts.iter())
                .map(|sculpt| match weightings.len() {
                    1 => sculpt.name.clone(),
                    _ => format!("{}.{g}", sculpt.name),
                })
                .collect(),
            shapes: (shapes.iter())
                .map(|shape| shape.iter().filter_map(part_of).collect())
                .collect(),
        });
    }
    Ok(parts)
}

/// How much each vertex follows each control: 1 for the one that it follows most.
///
/// A joint counts by the weights of the two bones that meet there; a slider counts fully.
pub(super) fn control_weights(skin: &Skin, controls: &[Control]) -> Vec<Vec<f64>> {
    let bones = skin.skeleton.bones();
    let row = |weights: &[(usize, f64)]| -> Vec<f64> {
        let of = |bone: usize| -> f64 {
            let own = weights.iter().filter(|(j, _)| *j == bone);
            own.map(|(_, w)| w.abs()).sum()
        };
        let follows = |control: &Control| match control {
            Control::Slider { .. } => None,
            Control::Joint { bone, .. } => {
                let parent = bones[bone.index()].parent;
                Some(of(bone.index()) + parent.map_or(0.0, |parent| of(parent.index())))
            }
        };
        let raw: Vec<Option<f64>> = controls.iter().map(follows).collect();
        let most = raw.iter().flatten().copied().fold(0.0, f64::max);
        let scaled = |w: &Option<f64>| match w {
            Some(w) if most > 0.0 => (w / most).max(LEAST_WEIGHT),
            // A slider, or a vertex that follows none of the joints: all count alike.
            _ => 1.0,
        };
        raw.iter().map(scaled).collect()
    };
    let mut weights = Vec::new();
    (0..skin.vertex_count())
        .map(|i| {
            bone_weights(skin, i, &mut weights);
            row(&weights)
        })
        .collect()
}

/// The bones of a vertex and how much it follows each, in whatever form the skin has that.
pub(super) fn bone_weights(skin: &Skin, vertex: usize, to: &mut Vec<(usize, f64)>) {
    to.clear();
    match &skin.program {
        VertexProgram::Ssd(ssd) => {
            let own = ssd.weights.row(vertex).iter();
            to.extend(own.map(|w| (w.bone.index(), w.weight)));
        }
        VertexProgram::DualQuaternion(dual) => {
            let own = dual.weighted.weights.row(vertex).iter();
            to.extend(own.map(|w| (w.bone.index(), w.weight)));
        }
        VertexProgram::Linear(linear) => {
            let own = linear.influences.row(vertex).iter();
            to.extend(own.map(|i| (i.bone.index(), i.p.w)));
        }
        VertexProgram::MultiWeight(multi) => {
            let own = multi.influences.row(vertex).iter();
            to.extend(own.map(|i| (i.bone.index(), i.weights[0][0])));
        }
    }
}

/// A few rows that stand for all: those farthest from each other, then the means around them.
fn choose(rows: &[&[f64]], count: usize) -> Vec<Vec<f64>> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let mut chosen = vec![first.to_vec()];
    while chosen.len() < count {
        let nearest = |row: &[f64]| {
            let distances = chosen.iter().map(|c| squared(row, c));
            distances.fold(f64::INFINITY, f64::min)
        };
        let farthest = rows
            .iter()
            .max_by(|a, b| nearest(a).total_cmp(&nearest(b)))
            .expect("there are rows");
        if nearest(farthest) < 1e-12 {
            break;
        }
        let farthest = farthest.to_vec();
        chosen.push(farthest);
    }
    for _ in 0..ROUNDS {
        let mut sums = vec![(vec![0.0; first.len()], 0.0); chosen.len()];
        for row in rows {
            let (sum, number) = &mut sums[nearest_of(row, &chosen)];
            sum.iter_mut().zip(*row).for_each(|(s, x)| *s += x);
            *number += 1.0;
        }
        for (weighting, (sum, number)) in chosen.iter_mut().zip(sums) {
            if number > 0.0 {
                *weighting = sum.iter().map(|s| s / number).collect();
            }
        }
    }
    chosen
}

/// The two weightings next to a row, and how much of each lies nearest to it.
fn share(row: &[f64], weightings: &[Vec<f64>]) -> [(usize, f64); 2] {
    let first = nearest_of(row, weightings);
    let others = (0..weightings.len()).filter(|&g| g != first);
    let second = others
        .min_by(|&a, &b| squared(row, &weightings[a]).total_cmp(&squared(row, &weightings[b])));
    let Some(second) = second else {
        return [(first, 1.0), (first, 0.0)];
    };
    let (a, b) = (&weightings[first], &weightings[second]);
    let along: f64 = (0..row.len())
        .map(|c| (row[c] - a[c]) * (b[c] - a[c]))
        .sum();
    let t = (along / squared(a, b).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    [(first, 1.0 - t), (second, t)]
}

fn nearest_of(row: &[f64], weightings: &[Vec<f64>]) -> usize {
    let distance = |&g: &usize| squared(row, &weightings[g]);
    (0..weightings.len())
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .expect("there are weightings")
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
