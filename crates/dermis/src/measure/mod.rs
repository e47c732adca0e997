//! Numbers about a fit: how far it is from the examples, and what it costs. The two main ones are E_RMS (root
//! mean square error of a coordinate, times 1000, with the model scaled to a radius of 1) and EE (enveloping
//! error: the error as a share of the error when every vertex follows one bone rigidly).

mod cost;
mod damage;
mod enveloping_error;
mod meshes;
mod stretch;
mod surface;

use glam::DVec3;
use serde::{Deserialize, Serialize};

pub use cost::Cost;
pub use damage::{Damage, DamageFinder, Fold, ShapeDamage, Tear};
pub(crate) use enveloping_error::posed_from_rest;
pub use enveloping_error::{e_rms_at_enveloping_error, rigid_squared_error};
use enveloping_error::{enveloping_error, rigid_squared_errors};
pub use meshes::{
    ExampleDistances, MeshMeasures, MeshOptions, TextureStretch, VertexDistances, WorstPlace,
    measure_meshes,
};
pub use stretch::texture_stretch;
pub use surface::{SurfaceDistance, SurfaceMeasures, measure_surface};

use crate::example::{Example, ExampleSet};
use crate::mesh::vertex_normals;
use crate::par;
use crate::skin::{Skin, SkinError};

/// How well a skin reproduces some examples.
///
/// | here | meaning |
/// | --- | --- |
/// | `N`, `F` | vertices, examples |
/// | `A`, `A'` | positions of the examples and of the skin, 3N×F |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measures {
    /// How many examples were measured.
    pub example_count: usize,
    /// E_RMS: `1000 |A − A'|_F / √(3NF)`, with the set's first mesh scaled to fit a unit ball tightly
    /// (\[Kavan10\] §5).
    pub e_rms: f64,
    /// EE: the error as a share of that of the best rigid prediction, each vertex following one bone, in per
    /// cent (\[Wang07\] §7.1); `None` when the rigid prediction is already exact, and without bones.
    pub enveloping_error_percent: Option<f64>,
    /// Standard deviation of EE over vertices, in per cent: of `√(s_i / r̄)`, where `s_i` is the
    /// squared error of a vertex over all examples and `r̄` the mean over vertices of the best rigid prediction's.
    /// `None` as above, and in files of older versions.
    #[serde(default)]
    pub enveloping_error_deviation_percent: Option<f64>,
    /// The error as a share of that of the best motionless prediction, in per cent (\[Karni04\]); `None` when
    /// nothing moves.
    pub position_error_percent: Option<f64>,
    /// Mean distance over the rest box's diagonal.
    pub mean_distance: f64,
    /// Largest distance over the rest box's diagonal.
    pub max_distance: f64,
    /// Mean angle between vertex normals, in degrees.
    pub mean_normal_angle_deg: f64,
    /// Largest angle between vertex normals, in degrees.
    pub max_normal_angle_deg: f64,
}

/// How well a skin reproduces one example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExampleMeasures {
    /// Name of the example.
    pub name: String,
    /// Number of the example in its set.
    pub index: usize,
    /// As [`Measures::e_rms`], over this example alone.
    pub e_rms: f64,
    /// As [`Measures::mean_distance`].
    pub mean_distance: f64,
    /// As [`Measures::max_distance`].
    pub max_distance: f64,
    /// As [`Measures::mean_normal_angle_deg`].
    pub mean_normal_angle_deg: f64,
    /// As [`Measures::max_normal_angle_deg`].
    pub max_normal_angle_deg: f64,
}

/// Measures of a skin over part of a set, as a whole and one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Over all examples that were measured.
    pub total: Measures,
    /// One by one, in the order asked for.
    pub examples: Vec<ExampleMeasures>,
    /// Tears and folds in any of them.
    pub damage: Damage,
}

/// Raw sums of one example's errors.
struct Sums {
    squared: f64,
    /// Of every vertex.
    squared_by_vertex: Vec<f64>,
    distance: f64,
    max_distance: f64,
    angle_deg: f64,
    max_angle_deg: f64,
    angle_count: usize,
    damage: ShapeDamage,
}

/// Evaluates a skin in the poses of some examples and compares.
///
/// # Errors
/// [`SkinError`] when the skin does not fit the examples' skeleton or vertex count.
///
/// # Panics
/// When `which` names an example that does not exist.
pub fn measure(skin: &Skin, set: &ExampleSet, which: &[usize]) -> Result<Measured, SkinError> {
    measure_predictions(set, which, |k| skin.evaluate(&set.examples()[k].pose))
}

/// Compares predictions of some examples, however made, with the examples.
///
/// `predict` takes the number of an example and returns a position per vertex. Leave-one-out tests use it to
/// predict each example with the skin that was fitted without it.
///
/// # Errors
/// Errors of `predict`, and [`SkinError::CountMismatch`] when it returns too many or too few positions.
///
/// # Panics
/// When `which` names an example that does not exist.
pub fn measure_predictions(
    set: &ExampleSet,
    which: &[usize],
    predict: impl Fn(usize) -> Result<Vec<DVec3>, SkinError> + Sync + Send,
) -> Result<Measured, SkinError> {
    let factor = set.unit_factor();
    // Measures do not depend on the unit of length: rescale only where a float could not hold the squares.
    let scaled = match (1e-100..1e100).contains(&factor) {
        true => None,
        false => set.scaled(factor).ok(),
    };
    match scaled {
        None => measure_in_range(set, which, predict),
        Some(scaled) => measure_in_range(&scaled, which, |k| {
            let predicted = predict(k)?;
            Ok(predicted.into_iter().map(|p| p * factor).collect())
        }),
    }
}

fn measure_in_range(
    set: &ExampleSet,
    which: &[usize],
    predict: impl Fn(usize) -> Result<Vec<DVec3>, SkinError> + Sync + Send,
) -> Result<Measured, SkinError> {
    let finder = DamageFinder::new(set.rest(), set.size());
    let sums: Vec<Sums> = par::map(which.len(), |k| {
        let example = &set.examples()[which[k]];
        let found = predict(which[k])?;
        if found.len() != example.positions.len() {
            return Err(SkinError::CountMismatch {
                what: "predicted vertices",
                expected: example.positions.len(),
                found: found.len(),
            });
        }
        Ok(Sums {
            damage: finder.find(&example.positions, &found),
            ..compare(&found, example, set.rest().triangles())
        })
    })
    .into_iter()
    .collect::<Result<_, SkinError>>()?;

    let vertex_count = set.rest().vertex_count().max(1) as f64;
    let diagonal = set.size();
    let e_rms = |squared: f64, example_count: usize| {
        let mean = squared / (3.0 * vertex_count * example_count.max(1) as f64);
        1000.0 * mean.sqrt() / set.unit_ball_radius()
    };
    let examples = which
        .iter()
        .zip(&sums)
        .map(|(&index, s)| ExampleMeasures {
            name: set.examples()[index].name.clone(),
            index,
            e_rms: e_rms(s.squared, 1),
            mean_distance: s.distance / vertex_count / diagonal,
            max_distance: s.max_distance / diagonal,
            mean_normal_angle_deg: s.angle_deg / s.angle_count.max(1) as f64,
            max_normal_angle_deg: s.max_angle_deg,
        })
        .collect();

    let squared: f64 = sums.iter().map(|s| s.squared).sum();
    let over = |other: f64| (other > 0.0).then(|| 100.0 * (squared / other).sqrt());
    let angle_count: usize = sums.iter().map(|s| s.angle_count).sum();
    let mut by_vertex = vec![0.0; set.rest().vertex_count()];
    for sums in &sums {
        let pairs = by_vertex.iter_mut().zip(&sums.squared_by_vertex);
        pairs.for_each(|(total, squared)| *total += squared);
    }
    let enveloping = enveloping_error(&by_vertex, &rigid_squared_errors(set, which));
    let largest = |value: fn(&Sums) -> f64| sums.iter().map(value).fold(0.0, f64::max);
    let total = Measures {
        example_count: which.len(),
        e_rms: e_rms(squared, which.len()),
        enveloping_error_percent: enveloping.map(|(error, _)| error),
        enveloping_error_deviation_percent: enveloping.map(|(_, deviation)| deviation),
        position_error_percent: over(motionless_squared_error(set, which)),
        mean_distance: sums.iter().map(|s| s.distance).sum::<f64>()
            / (vertex_count * which.len().max(1) as f64)
            / diagonal,
        max_distance: largest(|s| s.max_distance) / diagonal,
        mean_normal_angle_deg: sums.iter().map(|s| s.angle_deg).sum::<f64>()
            / angle_count.max(1) as f64,
        max_normal_angle_deg: largest(|s| s.max_angle_deg),
    };
    let damage = Damage::of(which.iter().copied().zip(sums.iter().map(|s| &s.damage)));
    Ok(Measured {
        total,
        examples,
        damage,
    })
}

/// Distance of every vertex from where an example has it, in model units.
///
/// # Errors
/// [`SkinError`] when the skin does not fit the example's pose.
pub fn vertex_distances(skin: &Skin, example: &Example) -> Result<Vec<f64>, SkinError> {
    let found = skin.evaluate(&example.pose)?;
    Ok(found
        .iter()
        .zip(&example.positions)
        .map(|(a, b)| a.distance(*b))
        .collect())
}

fn compare(found: &[DVec3], example: &Example, triangles: &[[u32; 3]]) -> Sums {
    let mut sums = Sums {
        squared: 0.0,
        squared_by_vertex: Vec::with_capacity(found.len()),
        distance: 0.0,
        max_distance: 0.0,
        angle_deg: 0.0,
        max_angle_deg: 0.0,
        angle_count: 0,
        damage: ShapeDamage::default(),
    };
    for (a, b) in found.iter().zip(&example.positions) {
        let squared = a.distance_squared(*b);
        let distance = squared.sqrt();
        sums.squared += squared;
        sums.squared_by_vertex.push(squared);
        sums.distance += distance;
        sums.max_distance = sums.max_distance.max(distance);
    }
    let normals = vertex_normals(found, triangles);
    let expected = vertex_normals(&example.positions, triangles);
    for (a, b) in normals.iter().zip(&expected) {
        // A vertex without faces, or whose faces cancel, has no normal to compare.
        if *a != DVec3::ZERO && *b != DVec3::ZERO {
            let angle_deg = a.angle_between(*b).to_degrees();
            sums.angle_deg += angle_deg;
            sums.max_angle_deg = sums.max_angle_deg.max(angle_deg);
            sums.angle_count += 1;
        }
    }
    sums
}

/// Squared error when every vertex stays at its mean over the examples.
fn motionless_squared_error(set: &ExampleSet, which: &[usize]) -> f64 {
    let per_vertex = par::map(set.rest().vertex_count(), |i| {
        let positions = || which.iter().map(|&k| set.examples()[k].positions[i]);
        let mean = positions().sum::<DVec3>() / which.len().max(1) as f64;
        positions().map(|p| p.distance_squared(mean)).sum::<f64>()
    });
    per_vertex.iter().sum()
}

/// A length to divide by: the length itself, or 1 for a mesh without extent.
pub(crate) fn positive_or_one(length: f64) -> f64 {
    if length > 0.0 { length } else { 1.0 }
}
