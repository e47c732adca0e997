//! UVs and colours: values that may differ between the corners of one point.
//!
//! Values have faces of their own, the same as those of the points but torn at seams. Inside, values follow the rules
//! of the points; along seams they follow the rule of creases, on both sides alike, so that the two sides of a texture
//! still match. Where seams end, cross, or meet a border or a crease, values are held.

use std::ops::{Add, Mul};

use super::levels::refine;
use super::rules::Stars;
use super::{Cage, Stencil, Subdivision, SubdivisionError, limit};
use crate::par;

/// How values at corners are interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AttributeRule {
    /// By the rules of the points, with seams as creases: a texture moves with the surface.
    #[default]
    Smooth,
    /// Linearly: the midpoints of edges and faces.
    Linear,
}

/// Values at the corners of a subdivided cage.
#[derive(Debug, Clone, PartialEq)]
pub struct CornerValues {
    /// For each pair of a point and a value of the input, the index of the value.
    sources: Vec<u32>,
    stencils: Vec<Stencil>,
    value_of_corner: Vec<u32>,
}

/// Subdivides values at corners together with the points.
///
/// `value_of_corner` gives the number of the value of each corner of the input cage; corners of one point with equal
/// values are joined.
///
/// # Errors
/// [`SubdivisionError::CountMismatch`] for a wrong number of corners.
pub fn subdivide_corners(
    subdivision: &Subdivision,
    value_of_corner: &[u32],
    rule: AttributeRule,
) -> Result<CornerValues, SubdivisionError> {
    let coarse = &subdivision.cages[0];
    let corners = coarse.faces().items();
    if value_of_corner.len() != corners.len() {
        return Err(SubdivisionError::CountMismatch {
            what: "values at corners",
            expected: corners.len(),
            found: value_of_corner.len(),
        });
    }
    // A value that is used at two points counts as two values.
    let pairs: Vec<(u32, u32)> = corners
        .iter()
        .copied()
        .zip(value_of_corner.iter().copied())
        .collect();
    let mut distinct = pairs.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let number = |corner: usize| distinct.partition_point(|pair| *pair < pairs[corner]) as u32;
    let numbers = par::map(corners.len(), number);
    let faces = (0..coarse.faces().len()).map(|face| numbers[coarse.faces().range(face)].to_vec());
    let mut values = Cage::of_sound_faces(distinct.len(), faces.collect());
    for (corner, _) in corners.iter().enumerate() {
        let of_points = coarse.edges()[coarse.edge_of_corner(corner as u32)].sharpness;
        values.set_edge_sharpness(values.edge_of_corner(corner as u32), of_points);
    }

    let options = &subdivision.options;
    let mut stencils = Vec::new();
    for points in &subdivision.cages[..subdivision.cages.len() - 1] {
        let stars = stars_of_values(subdivision, points, &mut values, rule);
        let (finer, stencil) = refine(&values, &stars, options.scheme);
        values = finer;
        stencils.push(stencil);
    }
    if options.limit {
        let stars = stars_of_values(subdivision, subdivision.finest(), &mut values, rule);
        stencils.push(limit::stencil(&values, &stars, options.scheme));
    }
    Ok(CornerValues {
        sources: distinct.iter().map(|pair| pair.1).collect(),
        stencils,
        value_of_corner: values.faces().items().to_vec(),
    })
}

/// The stars of values; values that are neither inside nor on a plain seam are held.
fn stars_of_values(
    subdivision: &Subdivision,
    points: &Cage,
    values: &mut Cage,
    rule: AttributeRule,
) -> Stars {
    let corners = subdivision.options.corners;
    if rule == AttributeRule::Linear {
        for edge in 0..values.edges().len() {
            values.set_edge_sharpness(edge, f64::INFINITY);
        }
        let mut stars = Stars::new(values, corners);
        stars.held.fill(true);
        return stars;
    }
    let of_points = Stars::new(points, corners);
    let is_seam = |edge: u32| match points.edges()[edge as usize].sides {
        None => true,
        Some([a, b]) => values.edge_of_corner(a) != values.edge_of_corner(b),
    };
    let held = par::map(points.point_count(), |point| {
        let edges = of_points.edges.row(point);
        let seams = edges.iter().filter(|&&edge| is_seam(edge)).count();
        let creased =
            |&&edge: &&u32| points.edges()[edge as usize].sharpness > 0.0 && !is_seam(edge);
        let creases = edges.iter().filter(creased).count();
        of_points.held[point] || (seams > 0 && (seams != 2 || creases > 0))
    });
    let mut stars = Stars::new(values, corners);
    for (corner, &point) in points.faces().items().iter().enumerate() {
        // All values at one point follow the same rule.
        stars.held[values.point(corner as u32) as usize] = held[point as usize];
    }
    stars
}

impl CornerValues {
    /// The value of each corner of the last level, as an index into the result of [`CornerValues::apply`].
    pub fn value_of_corner(&self) -> &[u32] {
        &self.value_of_corner
    }

    /// The values of the last level, computed from the input values.
    ///
    /// # Panics
    /// When a value that a corner names does not exist.
    pub fn apply<T>(&self, given: &[T]) -> Vec<T>
    where
        T: Copy + Default + Send + Sync + Add<Output = T> + Mul<f64, Output = T>,
    {
        let start = self.sources.iter().map(|&value| given[value as usize]);
        let start = start.collect::<Vec<T>>();
        let levels = self.stencils.iter();
        levels.fold(start, |values, stencil| stencil.apply(&values))
    }
}
