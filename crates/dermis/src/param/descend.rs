//! Less stretch, from a layout without flips and never through one.
//!
//! Projected Newton: one sparse system, the convex part of each triangle's Hessian, gives the direction, and the step is
//! at most a share of the one at which the first triangle would lose its area (the least positive root of a quadratic
//! per triangle \[Smith15\]).

use glam::{DMat2, DVec2};

use super::distortion::{Weights, reference_between, second_order};
use super::elements::{ElementSolver, Elements};

/// What is made small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Energy {
    /// `Σ A (σ₁² + σ₂² + σ₁⁻² + σ₂⁻²)`: a good judge of layouts far from the best, and of scale.
    SymmetricDirichlet,
    /// `ln Σ A (σ₁⁻² + σ₂⁻²)/2 + ln Σ A σ₁σ₂`: twice the logarithm of the L2 stretch, whatever the scale.
    L2Stretch,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DescendOptions {
    /// The most Newton rounds; default 40. More only matter far from the best.
    pub(crate) rounds: usize,
    /// Stop when a round lowers the energy by less than this share of it (of 1 for the L2 stretch, whose energy is a
    /// logarithm); default 1e-6. Larger stops earlier.
    pub(crate) tolerance: f64,
}

impl Default for DescendOptions {
    fn default() -> Self {
        Self {
            rounds: 40,
            tolerance: 1e-6,
        }
    }
}

/// How a descent went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Descent {
    /// Rounds that moved anything.
    pub(crate) rounds: usize,
    /// The energy at the end; infinite if the start had a flip.
    pub(crate) energy: f64,
}

/// Of the step that would flatten the first triangle, take at most this.
const STEP_SHARE: f64 = 0.9;
/// Sufficient decrease of a step, as a share of what the slope promises.
const ARMIJO: f64 = 1e-4;
/// How much the diagonal is raised: moving all is free, and so is turning an isometry.
const RIDGE: f64 = 1e-9;

/// Where the nodes may go; steps end before other places.
pub(crate) type Allowed<'a> = &'a dyn Fn(&[DVec2]) -> bool;

/// Moves the nodes to lower the energy; never through a flip, and only to places that are allowed.
pub(crate) fn descend(
    elements: &Elements,
    x: &mut Vec<DVec2>,
    energy: Energy,
    options: &DescendOptions,
    allowed: Allowed<'_>,
    solver: &mut ElementSolver,
) -> Descent {
    if energy == Energy::SymmetricDirichlet {
        rescale(elements, x);
    }
    let mut value = total(elements, x, energy);
    let mut rounds = 0;
    let mut entries = vec![0.0; elements.entry_count()];
    while value.is_finite() && rounds < options.rounds {
        let Some((direction, slope)) = newton_direction(elements, x, energy, solver, &mut entries)
        else {
            break;
        };
        let found = search(elements, x, energy, value, &direction, slope, allowed);
        let Some((moved, lower)) = found else {
            break;
        };
        let gain = match energy {
            Energy::SymmetricDirichlet => (value - lower) / value,
            Energy::L2Stretch => value - lower,
        };
        *x = moved;
        value = lower;
        rounds += 1;
        if gain < options.tolerance {
            break;
        }
    }
    Descent {
        rounds,
        energy: value,
    }
}

/// Brings a layout that is far from the surface nearer, by the symmetric Dirichlet energy, until a round gains less than
/// [`WORTHWHILE`], no triangle is stretched by more than four times to either side, or the rounds are over; returns how many there were.
///
/// Newton steps from a poor layout are cut short by the first triangle that would flip. So each round aims at a surface
/// between: the reference of each triangle is moved towards its present shape, `σ → σᵗ`, until it is within the bound
/// \[Liu18\].
pub(crate) fn approach(
    elements: &Elements,
    x: &mut Vec<DVec2>,
    rounds: usize,
    allowed: Allowed<'_>,
    solver: &mut ElementSolver,
) -> usize {
    let energy = Energy::SymmetricDirichlet;
    rescale(elements, x);
    let mut value = total(elements, x, energy);
    let is_far = |element| reference_between(elements.jacobian(element, x)).is_some();
    if !value.is_finite() || !(0..elements.areas().len()).any(is_far) {
        return 0;
    }
    let mut between = elements.clone();
    let mut entries = vec![0.0; elements.entry_count()];
    let mut stalls = 0;
    for round in 0..rounds {
        let mut near = true;
        between.rereference(elements, |element| {
            let reference = reference_between(elements.jacobian(element, x));
            near &= reference.is_none();
            reference.unwrap_or(DMat2::IDENTITY)
        });
        if near {
            return round;
        }
        let found =
            newton_direction(&between, x, energy, solver, &mut entries).and_then(|(way, slope)| {
                let value = total(&between, x, energy);
                search(&between, x, energy, value, &way, slope, allowed)
            });
        let Some((mut moved, _)) = found else {
            return round;
        };
        rescale(elements, &mut moved);
        let lower = total(elements, &moved, energy);
        stalls += usize::from(lower > (1.0 - WORTHWHILE) * value);
        let stalled = stalls > if value < FAR { 0 } else { PATIENCE };
        if lower < value || !stalled {
            *x = moved;
            value = lower;
        }
        if stalled {
            return round + 1;
        }
    }
    rounds
}

/// The least gain of a round of [`approach`] as a share; below it plain Newton rounds do better.
const WORTHWHILE: f64 = 0.2;
/// The energy at unit area (4 at best) above which [`approach`] goes on through [`PATIENCE`] rounds of less gain.
const FAR: f64 = 50.0;
/// See [`FAR`].
const PATIENCE: usize = 10;

/// The scale of least symmetric Dirichlet energy.
fn rescale(elements: &Elements, x: &mut [DVec2]) {
    if let Some([out, back, _]) = sums(elements, x) {
        let scale = (back / out).powf(0.25);
        x.iter_mut().for_each(|point| *point *= scale);
    }
}

/// Sums over all triangles: `Σ A |J|²`, `Σ A |J⁻¹|²`, `Σ A det J`; none if one has no positive area.
fn sums(elements: &Elements, x: &[DVec2]) -> Option<[f64; 3]> {
    let mut sums = [0.0; 3];
    for (element, &area) in elements.areas().iter().enumerate() {
        let jacobian = elements.jacobian(element, x);
        let determinant = jacobian.determinant();
        if determinant <= 0.0 || determinant.is_nan() {
            return None;
        }
        let norm = jacobian.x_axis.length_squared() + jacobian.y_axis.length_squared();
        sums[0] += area * norm;
        sums[1] += area * norm / (determinant * determinant);
        sums[2] += area * determinant;
    }
    Some(sums)
}

fn total(elements: &Elements, x: &[DVec2], energy: Energy) -> f64 {
    match (sums(elements, x), energy) {
        (None, _) => f64::INFINITY,
        (Some([out, back, _]), Energy::SymmetricDirichlet) => out + back,
        (Some([_, back, area]), Energy::L2Stretch) => (0.5 * back).ln() + area.ln(),
    }
}

/// The function of each triangle whose sum has the derivative of the energy; none if a triangle has no area.
fn weights_at(elements: &Elements, x: &[DVec2], energy: Energy) -> Option<Weights> {
    match energy {
        Energy::SymmetricDirichlet => Some(Weights {
            out: 1.0,
            back: 1.0,
            area: 0.0,
        }),
        // The derivative of a logarithm of a sum; the Hessian's dense part, the products of the two gradients
        // with themselves, is left out. Those are the changes of scale, which cost nothing.
        Energy::L2Stretch => sums(elements, x).map(|[_, back, area]| Weights {
            out: 0.0,
            back: 1.0 / back,
            area: 1.0 / area,
        }),
    }
}

/// The direction that minimises the convex part of the second-order model, and the slope along it.
fn newton_direction(
    elements: &Elements,
    x: &[DVec2],
    energy: Energy,
    solver: &mut ElementSolver,
    entries: &mut [f64],
) -> Option<(Vec<DVec2>, f64)> {
    let weights = weights_at(elements, x, energy)?;
    let mut gradient = vec![0.0; 2 * elements.node_count()];
    entries.fill(0.0);
    for (element, &area) in elements.areas().iter().enumerate() {
        let (stress, terms) = second_order(elements.jacobian(element, x), area, weights);
        elements.add_gradient(element, stress, &mut gradient);
        elements.add_terms(element, &terms, entries);
    }
    let mut ridge = RIDGE;
    for _ in 0..4 {
        for &start in &elements.column_starts()[..2 * elements.node_count()] {
            entries[start] *= 1.0 + ridge;
        }
        let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
        if solver.solve(elements, entries, &mut step).is_ok() {
            let slope: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
            let finite = step.iter().all(|s| s.is_finite());
            return (finite && slope < 0.0)
                .then(|| (step.chunks_exact(2).map(DVec2::from_slice).collect(), slope));
        }
        ridge *= 1e3;
    }
    None
}

/// A step along a direction that lowers the energy enough: halved from the longest allowed, at most 1, or else doubled
/// from 1 while that helps. Far from the best an inverse square shrinks to 9/16 in a Newton step, so doubling pays.
fn search(
    elements: &Elements,
    x: &[DVec2],
    energy: Energy,
    value: f64,
    direction: &[DVec2],
    slope: f64,
    allowed: Allowed<'_>,
) -> Option<(Vec<DVec2>, f64)> {
    let longest = STEP_SHARE * step_before_flip(elements, x, direction);
    let at = |step: f64| {
        let ways = x.iter().zip(direction);
        let moved: Vec<DVec2> = ways.map(|(at, by)| *at + step * *by).collect();
        let energy = total(elements, &moved, energy);
        (moved, energy)
    };
    let mut step = longest.min(1.0);
    for halving in 0..40 {
        let (mut moved, mut lower) = at(step);
        if lower <= value + ARMIJO * step * slope && lower < value && allowed(&moved) {
            while halving == 0 && 2.0 * step <= longest {
                step *= 2.0;
                let (further, lowest) = at(step);
                if lowest >= lower || !allowed(&further) {
                    break;
                }
                (moved, lower) = (further, lowest);
            }
            return Some((moved, lower));
        }
        step *= 0.5;
    }
    None
}

/// The least step at which a triangle has no area: `det(J + t K) = 0`.
fn step_before_flip(elements: &Elements, x: &[DVec2], direction: &[DVec2]) -> f64 {
    let mut least = f64::INFINITY;
    for element in 0..elements.areas().len() {
        let at = elements.jacobian(element, x);
        let by = elements.jacobian(element, direction);
        let c = at.determinant();
        let b = at.x_axis.perp_dot(by.y_axis) + by.x_axis.perp_dot(at.y_axis);
        let a = by.determinant();
        least = least.min(least_positive_root(a, b, c));
    }
    least
}

/// The least `t > 0` with `a t² + b t + c = 0`, for `c > 0`; infinite if there is none.
fn least_positive_root(a: f64, b: f64, c: f64) -> f64 {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    // Roots 2c / (−b ± √…): the form that does not cancel for the one wanted, nor divide by a small a.
    let root = discriminant.sqrt();
    if b < 0.0 {
        2.0 * c / (root - b)
    } else if a < 0.0 {
        (-b - root) / (2.0 * a)
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::elements::Nodes;
    use crate::param::shapes;
    use crate::param::stretch::{StretchSums, symmetric_dirichlet};

    #[test]
    fn the_least_positive_root_is_found() {
        let cases = [
            ((1.0, -3.0, 2.0), 1.0),
            ((-1.0, 1.0, 2.0), 2.0),
            ((0.0, -2.0, 1.0), 0.5),
            ((1.0, 3.0, 2.0), f64::INFINITY),
            ((1.0, 0.0, 2.0), f64::INFINITY),
            ((0.0, 0.0, 1.0), f64::INFINITY),
            ((1e-30, -1.0, 1.0), 1.0),
        ];
        for ((a, b, c), wanted) in cases {
            let found = least_positive_root(a, b, c);
            assert!(
                found == wanted || (found - wanted).abs() < 1e-12,
                "{a} {b} {c}: {found}"
            );
        }
    }

    #[test]
    fn energies_are_those_of_the_measures() {
        let piece = shapes::bumpy(3, 8, 0.5);
        let nodes = Nodes::new(piece.vertex_count, &[]).expect("no ties");
        let elements = Elements::new(&piece.triangles, &piece.metrics, &nodes);
        let uvs = shapes::grid_uvs(8);
        let energy = total(&elements, &uvs, Energy::SymmetricDirichlet);
        let wanted = symmetric_dirichlet(&piece.triangles, &piece.metrics, &uvs);
        assert!((energy / wanted - 1.0).abs() < 1e-12, "{energy} {wanted}");
        let sums = StretchSums::new(&piece.triangles, &piece.metrics, &uvs);
        let l2 = (0.5 * total(&elements, &uvs, Energy::L2Stretch)).exp() / sums.area;
        assert!((l2 / sums.l2() - 1.0).abs() < 1e-12, "{l2} {}", sums.l2());
    }

    #[test]
    fn a_square_sheared_by_hand_finds_its_shape_again() {
        let piece = shapes::strip(6, 6, 1.0, 1.0);
        let nodes = Nodes::new(piece.vertex_count, &[]).expect("no ties");
        let elements = Elements::new(&piece.triangles, &piece.metrics, &nodes);
        let shear = DMat2::from_cols_array(&[3.0, 0.0, 2.0, 0.2]);
        for energy in [Energy::SymmetricDirichlet, Energy::L2Stretch] {
            let mut x: Vec<DVec2> = shapes::grid_uvs(6).iter().map(|&u| shear * u).collect();
            let options = DescendOptions {
                tolerance: 1e-14,
                ..Default::default()
            };
            let descent = descend(
                &elements,
                &mut x,
                energy,
                &options,
                &|_| true,
                &mut Default::default(),
            );
            let l2 = StretchSums::new(&piece.triangles, &piece.metrics, &x).l2();
            assert!(
                (l2 - 1.0).abs() < 1e-9,
                "{energy:?} {l2} after {}",
                descent.rounds
            );
        }
    }

    #[test]
    fn a_flipped_start_stays_where_it_is() {
        let piece = shapes::strip(2, 2, 1.0, 1.0);
        let nodes = Nodes::new(piece.vertex_count, &[]).expect("no ties");
        let elements = Elements::new(&piece.triangles, &piece.metrics, &nodes);
        let start: Vec<DVec2> = shapes::grid_uvs(2)
            .iter()
            .map(|u| DVec2::new(-u.x, u.y))
            .collect();
        let mut x = start.clone();
        let descent = descend(
            &elements,
            &mut x,
            Energy::L2Stretch,
            &DescendOptions::default(),
            &|_| true,
            &mut Default::default(),
        );
        assert_eq!((descent.rounds, x), (0, start), "nothing to do");
    }
}
