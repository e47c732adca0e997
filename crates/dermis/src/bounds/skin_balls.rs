//! A ball for every vertex, and a ball around many vertices.

use glam::{DAffine3, DVec3};

use super::proxied::Predicted;
use super::{BoundsError, Holding, PoseBounds, complete_limits};
use crate::joint::JointLimits;
use crate::limits::check_memory;
use crate::math::largest_stretch;
use crate::mesh::{Ball, enclosing_ball};
use crate::par;
use crate::rig::Pose;
use crate::skin::{Influence, LinearProgram, Skin};

/// Balls that hold each vertex in every legal pose, with every coefficient in its range;
/// [`enclose`](super::enclose) makes one ball of many.
///
/// `limits` are given for all bones or for the posed ones; the limits of derived bones ([`complete_limits`])
/// and bounds on the predictions for proxy bones follow from them. `ranges` has one range per coefficient
/// ([`coefficient_ranges`](super::coefficient_ranges) makes them); a correction adds at most half its range
/// times its own `|d|₂,∞` around the middle of its range.
///
/// # Errors
/// [`BoundsError::Skin`] for skins that are not linear, whose vertices could leave these balls;
/// [`BoundsError::CountMismatch`]; [`BoundsError::BadRange`]; and [`BoundsError::Rig`].
pub fn hold_vertices(
    skin: &Skin,
    limits: &[JointLimits],
    ranges: &[[f64; 2]],
) -> Result<Vec<Holding>, BoundsError> {
    let program = skin.program.to_linear(&skin.skeleton)?;
    let limits = complete_limits(skin, limits)?;
    let bounds = PoseBounds::new(&skin.skeleton, &limits)?;
    if ranges.len() != program.corrections.len() {
        return Err(BoundsError::CountMismatch {
            what: "ranges of coefficients",
            expected: program.corrections.len(),
            found: ranges.len(),
        });
    }
    let in_order = |range: &[f64; 2]| range.iter().all(|v| v.is_finite()) && range[0] <= range[1];
    if let Some(index) = ranges.iter().position(|range| !in_order(range)) {
        return Err(BoundsError::BadRange {
            index,
            found: ranges[index],
        });
    }
    let bounds = SkinBounds {
        predicted: Predicted::new(skin, &limits),
        bounds,
    };
    let holding = |s: &[Influence]| bounds.holding(s);
    let middle = at_middle(&program, ranges);
    let moving = moving_parts(&program, ranges);
    Ok(par::map(program.influences.len(), |i| {
        let range = program.influences.range(i);
        let mut held = holding(&middle[range]);
        for (half, terms) in &moving[i] {
            held.widen(half * holding(terms).reach(DVec3::ZERO));
        }
        held
    }))
}

/// Bounds on sums of a skin's animation-space vectors over all legal poses, whatever computes its bones.
#[derive(Debug)]
pub struct SkinBounds<'a> {
    bounds: PoseBounds,
    predicted: Predicted<'a>,
}

impl<'a> SkinBounds<'a> {
    /// `limits` are given for all bones or for the posed ones, as for [`hold_vertices`].
    ///
    /// # Errors
    /// [`BoundsError::Skin`] for skins that are not linear; [`BoundsError::CountMismatch`] and [`BoundsError::Rig`].
    pub fn new(skin: &'a Skin, limits: &[JointLimits]) -> Result<Self, BoundsError> {
        skin.program.to_linear(&skin.skeleton)?;
        let limits = complete_limits(skin, limits)?;
        Ok(Self {
            bounds: PoseBounds::new(&skin.skeleton, &limits)?,
            predicted: Predicted::new(skin, &limits),
        })
    }

    /// Balls that hold `G s` in every legal pose.
    pub fn holding(&self, s: &[Influence]) -> Holding {
        self.bounds.holding_of(self.predicted.terms(s).into_iter())
    }

    /// `|s|₂,∞`: `G s` is no longer than this in any legal pose.
    pub fn norm(&self, s: &[Influence]) -> f64 {
        self.holding(s).reach(DVec3::ZERO)
    }
}

/// The influences of all vertices with every coefficient in the middle of its range.
fn at_middle(program: &LinearProgram, ranges: &[[f64; 2]]) -> Vec<Influence> {
    let mut items = program.influences.items().to_vec();
    for (correction, [low, high]) in program.corrections.iter().zip(ranges) {
        let middle = 0.5 * (low + high);
        for delta in &correction.deltas {
            items[delta.index as usize].p += middle * delta.value;
        }
    }
    items
}

/// For each vertex, the corrections that move it: half their range, and their vector.
fn moving_parts(program: &LinearProgram, ranges: &[[f64; 2]]) -> Vec<Vec<(f64, Vec<Influence>)>> {
    let rows = &program.influences;
    let mut vertex_of_item = vec![0; rows.items().len()];
    for i in 0..rows.len() {
        vertex_of_item[rows.range(i)].fill(i);
    }
    let mut moving: Vec<Vec<(f64, Vec<Influence>)>> = vec![Vec::new(); rows.len()];
    for (correction, [low, high]) in program.corrections.iter().zip(ranges) {
        let half = 0.5 * (high - low);
        if half == 0.0 {
            continue;
        }
        // Deltas rise by item, so those of a vertex follow each other.
        let of_vertex = |index: u32| vertex_of_item[index as usize];
        for run in correction
            .deltas
            .chunk_by(|a, b| of_vertex(a.index) == of_vertex(b.index))
        {
            let terms = run.iter().map(|delta| Influence {
                bone: rows.items()[delta.index as usize].bone,
                p: delta.value,
            });
            moving[of_vertex(run[0].index)].push((half, terms.collect()));
        }
    }
    moving
}

/// The smallest ball around all vertices in all given poses, for every kind of skin.
///
/// # Errors
/// [`BoundsError::Skin`] when a pose does not belong to the skin.
pub fn sampled_ball(
    skin: &Skin,
    poses: &[Pose],
    vertices: Option<&[u32]>,
) -> Result<Ball, BoundsError> {
    let chosen = |positions: Vec<DVec3>| match vertices {
        None => positions,
        Some(vertices) => vertices.iter().map(|&v| positions[v as usize]).collect(),
    };
    let count = vertices.map_or(skin.vertex_count(), <[u32]>::len);
    // Positions are held twice: in a list per pose and in one list of all.
    let factors = [poses.len(), count, 2 * size_of::<DVec3>()].map(|n| n as u64);
    let what = || format!("{count} vertices in {} poses", poses.len());
    check_memory(&factors, what, "use fewer poses")?;
    let posed = par::map(poses.len(), |k| Ok(chosen(skin.evaluate(&poses[k])?)));
    let points = posed
        .into_iter()
        .collect::<Result<Vec<_>, BoundsError>>()?
        .concat();
    Ok(enclosing_ball(&points))
}

/// A ball moved by a matrix, such as that of an instance or a node.
///
/// A matrix that stretches unevenly makes an ellipsoid of the ball; the result is a ball around it.
pub fn moved_ball(ball: &Ball, matrix: &DAffine3) -> Ball {
    Ball {
        center: matrix.transform_point3(ball.center),
        radius: largest_stretch(&matrix.matrix3) * ball.radius,
    }
}
