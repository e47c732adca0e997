//! Functions of the singular values of one triangle's Jacobian, and their derivatives.
//!
//! A function `Ψ(σ₁, σ₂)` of a 2 by 2 matrix has a Hessian with a closed eigensystem \[Smith19\]: two stretches, a twist
//! of eigenvalue `(Ψ₁ + Ψ₂)/(σ₁ + σ₂)` and a flip of `(Ψ₁ − Ψ₂)/(σ₁ − σ₂)`. Negative eigenvalues are set to 0.

use glam::{DMat2, DVec2};

use super::elements::Term;

/// Weights of `σ₁² + σ₂²`, of `σ₁⁻² + σ₂⁻²` and of `σ₁σ₂` in the function `Ψ` of one triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights {
    /// Of stretch from surface to UV.
    pub(crate) out: f64,
    /// Of stretch from UV to surface.
    pub(crate) back: f64,
    /// Of area in UV.
    pub(crate) area: f64,
}

/// The derivative by the Jacobian of `area Ψ(J)`, and its Hessian without negative parts.
pub(crate) fn second_order(jacobian: DMat2, area: f64, weights: Weights) -> (DMat2, [Term; 4]) {
    let Parts {
        turn,
        mirror,
        s1,
        s2,
    } = Parts::new(jacobian);
    let (turned, mirrored) = (rotation(turn), reflection(mirror));
    let cubes = [s1, s2].map(|s| 1.0 / (s * s * s));
    let slopes = [
        2.0 * weights.out * s1 - 2.0 * weights.back * cubes[0] + weights.area * s2,
        2.0 * weights.out * s2 - 2.0 * weights.back * cubes[1] + weights.area * s1,
    ];
    let stress = turned * (0.5 * area * (slopes[0] + slopes[1]))
        + mirrored * (0.5 * area * (slopes[0] - slopes[1]));

    let bends = [
        2.0 * weights.out + 6.0 * weights.back * cubes[0] / s1,
        2.0 * weights.out + 6.0 * weights.back * cubes[1] / s2,
    ];
    let twist = (slopes[0] + slopes[1]) / (s1 + s2);
    let flip = 2.0 * weights.out
        + 2.0 * weights.back * (s1 * s1 + s1 * s2 + s2 * s2) * cubes[0] * cubes[1]
        - weights.area;
    // Stretches along u₁v₁ᵀ and u₂v₂ᵀ, coupled by the area: completed squares, the coupling cut to what is convex.
    let along = [(turned + mirrored) * 0.5, (turned - mirrored) * 0.5];
    let most = (bends[0] * bends[1]).sqrt();
    let coupling = weights.area.clamp(-most, most);
    let term = |weight: f64, mode: DMat2| Term {
        weight: area * weight.max(0.0),
        mode,
    };
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let terms = [
        term(bends[1], along[1] + along[0] * (coupling / bends[1])),
        term(bends[0] - coupling * coupling / bends[1], along[0]),
        term(twist, rotation(turn.perp()) * half),
        term(flip, reflection(mirror.perp()) * half),
    ];
    (stress, terms)
}

/// The largest factor of a singular value in a layout that is near its surface. With 2 or 4 a chart of 4,000 triangles
/// of a horse's leg went from energy 3.6e6 to 20 in 19 or 9 rounds; by plain Newton rounds with steps of 1 in 23.
const NEAR: f64 = 4.0;

/// The inverse of the change of a triangle's reference that leaves singular values within [`NEAR`]; none if they are.
pub(crate) fn reference_between(jacobian: DMat2) -> Option<DMat2> {
    let Parts {
        turn,
        mirror,
        s1,
        s2,
    } = Parts::new(jacobian);
    if s1 <= NEAR && s2 >= 1.0 / NEAR {
        return None;
    }
    let farthest = s1.ln().abs().max(s2.ln().abs());
    let power = NEAR.ln() / farthest - 1.0;
    let (p1, p2) = (s1.powf(power), s2.powf(power));
    // V diag(1, −1) Vᵀ is the reflection in J after its rotation is undone.
    let axes = DVec2::new(turn.x, -turn.y).rotate(mirror);
    Some(DMat2::from_diagonal(DVec2::splat(0.5 * (p1 + p2))) + reflection(axes) * (0.5 * (p1 - p2)))
}

/// The rotation and the reflection nearest to a matrix, as angles of unit vectors, and its singular values.
///
/// With `J = E I + F diag(1,−1) + G (0 1; 1 0) + H (0 −1; 1 0)` the planes of `(E, H)` and `(F, G)` hold the two: no
/// angles are needed.
struct Parts {
    turn: DVec2,
    mirror: DVec2,
    s1: f64,
    s2: f64,
}

impl Parts {
    fn new(jacobian: DMat2) -> Self {
        let [a, c, b, d] = jacobian.to_cols_array();
        let turned = DVec2::new(0.5 * (a + d), 0.5 * (c - b));
        let mirrored = DVec2::new(0.5 * (a - d), 0.5 * (c + b));
        let (q, r) = (turned.length(), mirrored.length());
        Self {
            turn: turned / q,
            mirror: if r > 0.0 { mirrored / r } else { DVec2::X },
            s1: q + r,
            // By the determinant: q − r would cancel in slivers.
            s2: jacobian.determinant() / (q + r),
        }
    }
}

fn rotation(unit: DVec2) -> DMat2 {
    DMat2::from_cols_array(&[unit.x, unit.y, -unit.y, unit.x])
}

fn reflection(unit: DVec2) -> DMat2 {
    DMat2::from_cols_array(&[unit.x, unit.y, unit.y, -unit.x])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::shapes::Chance;

    fn chance_jacobian(chance: &mut Chance) -> DMat2 {
        loop {
            let jacobian = DMat2::from_cols_array(&[(); 4].map(|()| chance.signed()));
            if jacobian.determinant() > 0.1 {
                return jacobian;
            }
        }
    }

    fn psi(jacobian: DMat2, weights: Weights) -> f64 {
        let determinant = jacobian.determinant();
        let norm = jacobian.x_axis.length_squared() + jacobian.y_axis.length_squared();
        weights.out * norm
            + weights.back * norm / (determinant * determinant)
            + weights.area * determinant
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let mut chance = Chance::new(5);
        let weights = Weights {
            out: 0.7,
            back: 0.4,
            area: 0.2,
        };
        let mut convex = 0;
        for _ in 0..300 {
            let jacobian = chance_jacobian(&mut chance);
            let (stress, terms) = second_order(jacobian, 2.0, weights);
            let h = 1e-4;
            let way = DMat2::from_cols_array(&[(); 4].map(|()| chance.signed()));
            let at = |t: f64| 2.0 * psi(jacobian + way * t, weights);
            let dot = |a: DMat2, b: DMat2| a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis);
            let slope = (at(h) - at(-h)) / (2.0 * h);
            let scale = 1.0 + slope.abs();
            assert!(
                (dot(stress, way) - slope).abs() < 1e-2 * scale,
                "{jacobian} {slope}"
            );
            let bend = (at(h) - 2.0 * at(0.0) + at(-h)) / (h * h);
            let model: f64 = terms
                .iter()
                .map(|t| t.weight * dot(t.mode, way).powi(2))
                .sum();
            assert!(
                model >= bend - 1e-2 * (1.0 + bend.abs()),
                "no less convex: {model} {bend}"
            );
            if terms.iter().all(|term| term.weight > 0.0) {
                assert!(
                    (model - bend).abs() < 1e-2 * (1.0 + bend.abs()),
                    "{model} {bend}"
                );
                convex += 1;
            }
        }
        assert!(convex > 20, "the exact Hessian occurs: {convex}");
    }

    #[test]
    fn a_reference_between_leaves_the_powers_of_the_singular_values() {
        let mut chance = Chance::new(6);
        for _ in 0..200 {
            let stretched = DMat2::from_diagonal(DVec2::new(1.0 + 20.0 * chance.unit(), 0.1));
            let (left, right) = (3.0 * chance.signed(), 3.0 * chance.signed());
            let jacobian = DMat2::from_angle(left) * stretched * DMat2::from_angle(right);
            let inverse = reference_between(jacobian).expect("0.1 is far from 1");
            let before = Parts::new(jacobian);
            let after = Parts::new(jacobian * inverse);
            let power = after.s1.ln() / before.s1.ln();
            assert!(
                (after.s2.ln() / before.s2.ln() - power).abs() < 1e-9,
                "one power"
            );
            let farthest = after.s1.max(1.0 / after.s2);
            assert!((farthest - NEAR).abs() < 1e-9, "{farthest}");
            assert!(after.turn.distance(before.turn) < 1e-9, "same rotation");
        }
        assert_eq!(reference_between(DMat2::IDENTITY), None, "near as it is");
    }
}
