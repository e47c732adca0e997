//! The equivalent ways to write a matrix as rotation, scale, rotation, and the choice of the one that interpolates
//! best.

use glam::{DMat3, DQuat, DVec3};

/// The linear part of two nested nodes: `outer · diag(scale) · inner`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NestedForm {
    /// `R1`, of unit length.
    pub(crate) outer: DQuat,
    /// `S`; negative entries mirror.
    pub(crate) scale: DVec3,
    /// `R2`, of unit length.
    pub(crate) inner: DQuat,
}

/// How many nodes a bone gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// One, which cannot shear: `R2` is the identity.
    One,
    /// Two, for any matrix.
    Two,
}

/// The points between two keys at which the product is compared with the straight line.
const BETWEEN: [f64; 3] = [0.5, 0.25, 0.75];

/// Forms whose rotations are further than 120° from those of the key before are not tried. This is the cosine of half
/// that angle.
const FURTHEST_DOT: f64 = 0.5;

impl NestedForm {
    /// The form of the identity.
    pub(crate) const IDENTITY: Self = Self {
        outer: DQuat::IDENTITY,
        scale: DVec3::ONE,
        inner: DQuat::IDENTITY,
    };

    /// The product of the three.
    pub(crate) fn product(&self) -> DMat3 {
        let outer = DMat3::from_quat(self.outer) * DMat3::from_diagonal(self.scale);
        outer * DMat3::from_quat(self.inner)
    }

    /// The form that players show at `s` of the way to another key: each part is interpolated separately.
    pub(crate) fn between(&self, next: &Self, s: f64) -> Self {
        Self {
            outer: self.outer.slerp(next.outer, s),
            scale: self.scale.lerp(next.scale, s),
            inner: self.inner.slerp(next.inner, s),
        }
    }

    /// The same form with the signs of its quaternions chosen so that the way from `other` is short.
    pub(crate) fn signed_like(self, other: &Self) -> Self {
        let near = |q: DQuat, to: DQuat| if q.dot(to) < 0.0 { -q } else { q };
        Self {
            outer: near(self.outer, other.outer),
            inner: near(self.inner, other.inner),
            ..self
        }
    }
}

/// One of the 24 rotations that map coordinate axes to coordinate axes.
#[derive(Debug, Clone, Copy)]
struct AxisTurn {
    /// Axis `k` goes to axis `places[k]`, in either direction.
    places: [usize; 3],
    rotation: DQuat,
}

/// All ways to write a matrix as rotation, scale, rotation, given one of them.
///
/// `M = R1 S R2 = (R1 g)(g⁻¹ S h)(h⁻¹ R2)`, where `g` maps axes to axes and `h` differs from it by the signs of no or
/// two axes: 24 × 4 forms. For different singular values there are no others.
///
/// Applying the same `(g, h)` to two keys does not change the interpolation between them, since slerps turn with it. So
/// the straying of a step depends only on the ratio of its two forms. Choosing the best form of every key, given that
/// of the key before, therefore gives the best sequence of forms: a dynamic programme would find no better one.
#[derive(Debug)]
pub(crate) struct Forms {
    turns: Vec<AxisTurn>,
}

/// Sign changes of no or two axes, and the rotation of each.
const SIGN_PAIRS: [(DVec3, DQuat); 4] = [
    (DVec3::ONE, DQuat::IDENTITY),
    (
        DVec3::new(1.0, -1.0, -1.0),
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
    ),
    (
        DVec3::new(-1.0, 1.0, -1.0),
        DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
    ),
    (
        DVec3::new(-1.0, -1.0, 1.0),
        DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0),
    ),
];

impl Forms {
    pub(crate) fn new() -> Self {
        let mut turns = Vec::with_capacity(24);
        // The identity comes first, so that it is chosen among equally good forms.
        for places in [
            [0, 1, 2],
            [1, 2, 0],
            [2, 0, 1],
            [0, 2, 1],
            [1, 0, 2],
            [2, 1, 0],
        ] {
            for signs in 0..8u8 {
                let column = |k: usize| {
                    let sign = if signs >> k & 1 == 0 { 1.0 } else { -1.0 };
                    sign * DVec3::AXES[places[k]]
                };
                let matrix = DMat3::from_cols(column(0), column(1), column(2));
                if matrix.determinant() > 0.0 {
                    turns.push(AxisTurn {
                        places,
                        rotation: DQuat::from_mat3(&matrix).normalize(),
                    });
                }
            }
        }
        Self { turns }
    }

    /// The form of `to`, given one of its forms, whose interpolation from `before` strays least from the straight line
    /// between the two matrices; and how far it strays, as a Frobenius norm.
    pub(crate) fn best_after(
        &self,
        before: &NestedForm,
        from: &DMat3,
        to: &DMat3,
        given: &NestedForm,
        nodes: Nodes,
    ) -> (NestedForm, f64) {
        let mut best = given.signed_like(before);
        let mut least = stray(before, &best, from, to, f64::INFINITY);
        let rounding = 1e-13
            * to.to_cols_array()
                .into_iter()
                .fold(0.0, |most: f64, x| most.max(x.abs()));
        for turn in &self.turns {
            let outer = given.outer * turn.rotation;
            if outer.dot(before.outer).abs() < FURTHEST_DOT {
                continue;
            }
            let placed = DVec3::from_array(turn.places.map(|k| given.scale[k]));
            for (signs, sign_turn) in SIGN_PAIRS {
                let h = turn.rotation * sign_turn;
                let inner = h.conjugate() * given.inner;
                if inner.dot(before.inner).abs() < FURTHEST_DOT
                    || nodes == Nodes::One && h.w.abs() < 0.999
                {
                    continue;
                }
                let form = NestedForm {
                    outer: outer.normalize(),
                    scale: signs * placed,
                    inner: match nodes {
                        Nodes::One => given.inner,
                        Nodes::Two => inner.normalize(),
                    },
                }
                .signed_like(before);
                // A form must be better by more than rounding.
                let found = stray(before, &form, from, to, least);
                if found < least * (1.0 - 1e-9) - rounding {
                    (best, least) = (form, found);
                }
            }
        }
        (best, least)
    }
}

/// How far the interpolation between two keys strays from the straight line between two matrices, at most.
///
/// Returns infinity as soon as it strays further than `enough`.
fn stray(before: &NestedForm, after: &NestedForm, from: &DMat3, to: &DMat3, enough: f64) -> f64 {
    let mut most = 0.0f64;
    for s in BETWEEN {
        let line = *from * (1.0 - s) + *to * s;
        most = most.max(norm(&(before.between(after, s).product() - line)));
        if most > enough {
            return f64::INFINITY;
        }
    }
    most
}

/// Frobenius norm.
pub(crate) fn norm(m: &DMat3) -> f64 {
    let squared = |k: usize| m.col(k).length_squared();
    (squared(0) + squared(1) + squared(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> NestedForm {
        NestedForm {
            outer: DQuat::from_scaled_axis(DVec3::new(0.3, -2.0, 1.1)),
            scale: DVec3::new(2.0, 1.5, -0.5),
            inner: DQuat::from_scaled_axis(DVec3::new(1.3, 0.2, -0.4)),
        }
    }

    #[test]
    fn there_are_96_forms_and_all_have_the_same_product() {
        let forms = Forms::new();
        assert_eq!(forms.turns.len(), 24, "rotations of a cube");
        let form = form();
        for turn in &forms.turns {
            for (signs, sign_turn) in SIGN_PAIRS {
                let other = NestedForm {
                    outer: form.outer * turn.rotation,
                    scale: signs * DVec3::from_array(turn.places.map(|k| form.scale[k])),
                    inner: (turn.rotation * sign_turn).conjugate() * form.inner,
                };
                assert!(
                    other.product().abs_diff_eq(form.product(), 1e-14),
                    "{:?} {signs}",
                    turn.places
                );
            }
        }
    }

    #[test]
    fn the_nearest_form_is_found_from_any_equivalent_one() {
        let forms = Forms::new();
        let before = form();
        let after = NestedForm {
            outer: DQuat::from_rotation_x(0.1) * before.outer,
            ..before
        };
        let (from, to) = (before.product(), after.product());
        for turn in &forms.turns {
            for (signs, sign_turn) in SIGN_PAIRS {
                let mixed = NestedForm {
                    outer: -after.outer * turn.rotation,
                    scale: signs * DVec3::from_array(turn.places.map(|k| after.scale[k])),
                    inner: (turn.rotation * sign_turn).conjugate() * after.inner,
                };
                let (found, stray) = forms.best_after(&before, &from, &to, &mixed, Nodes::Two);
                assert!(
                    found.outer.abs_diff_eq(after.outer, 1e-12)
                        && found.scale.abs_diff_eq(after.scale, 1e-12)
                        && found.inner.abs_diff_eq(after.inner, 1e-12),
                    "found {found:?}"
                );
                // The sagitta of the arc: 2.5 (1 − cos 0.05).
                assert!(stray < 0.004, "strays {stray}");
            }
        }
    }
}
