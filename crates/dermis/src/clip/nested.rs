//! A track of any affine matrices as two nested nodes, each a translation, rotation and scale.
//!
//! Every matrix is `T · R1 · S · R2` by its singular value decomposition: a node (T, R1, S) and a child (R2) show it
//! exactly. Players interpolate each of the four separately, and the product must not spin between two keys. A matrix
//! with different singular values has few forms ([`Forms`]); but for nearly rigid bones, whose values are nearly equal,
//! the slightest change turns R1 and R2 against each other. Three measures limit that:
//!
//! 1. Each key starts from the key before: the columns of `M R2⁻¹` are turned just until they are perpendicular, and
//!    not at all while their shear is within the tolerance. A rigid bone keeps its R2.
//! 2. Of the equivalent forms of the result, the one whose interpolation strays least from the straight line between
//!    the two matrices is taken.
//! 3. Where even that form strays by more than [`STRAY_SHARE`] of the step, keys are added half-way.
//!
//! The reference is the straight line between matrices rather than a slerp of their polar rotations, because the
//! vertices of the animation themselves move in straight lines between frames, and because it always exists: flat,
//! mirrored and zero matrices have no nearest rotation, or several. A bone that turns by 60° between two keys shrinks
//! by 13% half-way on that line, while the nodes go along the arc; that counts as straying by 0.13 of the step, far
//! from a spin.

use glam::{DMat3, DQuat, DVec3};

use super::nested_form::{Forms, NestedForm, Nodes, norm};
use crate::math::orthogonal_columns;

/// How far the interpolated product may stray from the straight line between two keys, as a share of the line's length.
///
/// R1 and R2 that turn against each other by φ, while the product turns a little, stray by 0.13 of
/// the step for φ = 60° and by 0.5 for φ = 180°; a rigid turn reaches 0.25 at 106°.
const STRAY_SHARE: f64 = 0.25;
/// Straying that is always allowed, as a share of the largest matrix of a track: single precision loses as much.
const STRAY_FLOOR: f64 = 1e-6;
/// How often a step between two frames is halved at most.
const MOST_HALVINGS: u32 = 3;
/// Columns shorter than this share of the largest matrix count as having no direction.
const NO_LENGTH: f64 = 1e-13;
/// Shear that counts as zero, as a share of the largest matrix: two nodes show a bone this exactly.
const EXACT: f64 = 1e-12;
/// Shear that rounding to single precision can cause in the matrix of one node, relative to its size.
const ROUNDING_SHEAR: f64 = 1e-6;

/// One key of a track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NestedKey {
    /// Number of the frame; halves, quarters and eighths where keys were added.
    pub(crate) frame: f64,
    /// The matrix of that frame.
    pub(crate) form: NestedForm,
}

/// Whether a matrix shears by more than a tolerance (an error of the matrix, as a Frobenius norm)
/// and more than rounding.
pub(crate) fn needs_two_nodes(m: &DMat3, tolerance: f64) -> bool {
    let part = |p: usize, q: usize| {
        let (x, y) = (m.col(p), m.col(q));
        let longer = x.length().max(y.length());
        if longer > 0.0 { x.dot(y) / longer } else { 0.0 }
    };
    let error = DVec3::new(part(0, 1), part(0, 2), part(1, 2)).length();
    error > tolerance.max(ROUNDING_SHEAR * norm(m))
}

/// The keys of a bone that has these linear parts in consecutive frames.
///
/// At every frame the product of a key differs from the matrix by at most `tolerance`, as a Frobenius
/// norm, or rounding: with two nodes always, with one if no matrix [needs two](needs_two_nodes).
///
/// Time is linear in the number of frames.
pub(crate) fn split_track(matrices: &[DMat3], nodes: Nodes, tolerance: f64) -> Vec<NestedKey> {
    let largest = matrices.iter().map(norm).fold(0.0, f64::max);
    if largest == 0.0 {
        let form = NestedForm {
            scale: DVec3::ZERO,
            ..NestedForm::IDENTITY
        };
        let key = |frame: usize| NestedKey {
            frame: frame as f64,
            form,
        };
        return (0..matrices.len()).map(key).collect();
    }
    let splitter = Splitter {
        forms: Forms::new(),
        nodes,
        // Each of the three pairs of columns may have this shear. Shear equals the error of the matrix only for small
        // angles: hence the upper limit, and the factor of 0.9.
        pair_tolerance: ((0.9 * tolerance / largest).min(0.05) / 3.0f64.sqrt()).max(EXACT),
    };
    let unit: Vec<DMat3> = matrices.iter().map(|m| *m * (1.0 / largest)).collect();
    // Starts from a frame with three clear directions and goes both ways, so that flat frames take their directions
    // from their neighbours.
    let start = (unit.iter().position(is_solid)).unwrap_or_else(|| {
        let longest = |a: &usize, b: &usize| norm(&unit[*a]).total_cmp(&norm(&unit[*b]));
        (0..unit.len()).rev().max_by(longest).unwrap_or(0)
    });
    let first = NestedKey {
        frame: start as f64,
        form: splitter.nearest(&unit[start], &NestedForm::IDENTITY),
    };
    let backward: Vec<usize> = (0..=start).rev().collect();
    let mut keys = splitter.follow(first, &unit, &backward);
    keys.reverse();
    // On the way back, signs of quaternions were chosen from the other side.
    for k in 1..keys.len() {
        keys[k].form = keys[k].form.signed_like(&keys[k - 1].form);
    }
    let forward: Vec<usize> = (start..unit.len()).collect();
    if let Some(first) = keys.pop() {
        keys.extend(splitter.follow(first, &unit, &forward));
    }
    for key in &mut keys {
        key.form.scale *= largest;
    }
    keys
}

/// Whether a matrix is clearly of rank three.
fn is_solid(m: &DMat3) -> bool {
    m.determinant().abs() > 1e-6 * norm(m).powi(3) && norm(m) > 1e-6
}

struct Splitter {
    forms: Forms,
    nodes: Nodes,
    pair_tolerance: f64,
}

impl Splitter {
    /// The keys of some frames in the given order; the key of the first is known.
    fn follow(&self, first: NestedKey, unit: &[DMat3], frames: &[usize]) -> Vec<NestedKey> {
        let mut keys = vec![first];
        for pair in frames.windows(2) {
            let at = |frame: usize| (frame as f64, unit[frame]);
            self.step(&mut keys, at(pair[0]), at(pair[1]), MOST_HALVINGS);
        }
        keys
    }

    /// Adds the key of a frame, and keys before it where the interpolation would stray.
    fn step(&self, keys: &mut Vec<NestedKey>, from: (f64, DMat3), to: (f64, DMat3), halvings: u32) {
        let before = keys[keys.len() - 1].form;
        let near = self.nearest(&to.1, &before);
        let (form, stray) = self
            .forms
            .best_after(&before, &from.1, &to.1, &near, self.nodes);
        let allowed = STRAY_SHARE * norm(&(to.1 - from.1)) + STRAY_FLOOR;
        // A bone of one node gets no extra keys: players move it along an arc, which keeps its size.
        if self.nodes == Nodes::Two && halvings > 0 && stray > allowed {
            let middle = (0.5 * (from.0 + to.0), (from.1 + to.1) * 0.5);
            self.step(keys, from, middle, halvings - 1);
            self.step(keys, middle, to, halvings - 1);
            return;
        }
        keys.push(NestedKey { frame: to.0, form });
    }

    /// The form of a matrix that turns R2 the least from the form before.
    fn nearest(&self, m: &DMat3, before: &NestedForm) -> NestedForm {
        let mut inner = before.inner;
        if self.nodes == Nodes::Two {
            let turned = *m * DMat3::from_quat(inner).transpose();
            let turn = orthogonal_columns(turned, self.pair_tolerance).turn;
            if turn != DMat3::IDENTITY {
                inner = (DQuat::from_mat3(&turn).conjugate() * inner).normalize();
            }
        }
        let columns = *m * DMat3::from_quat(inner).transpose();
        let (outer, scale) = rotation_and_scale(&columns, &DMat3::from_quat(before.outer));
        NestedForm {
            outer,
            scale,
            inner,
        }
    }
}

/// A rotation whose axes are the perpendicular columns, longest first, and the lengths along them.
///
/// The shortest column gets the sign that makes the three a rotation. Columns without length take their direction from
/// `before`.
fn rotation_and_scale(columns: &DMat3, before: &DMat3) -> (DQuat, DVec3) {
    let mut order = [0, 1, 2];
    order.sort_by(|&p, &q| {
        let (x, y) = (columns.col(p).length(), columns.col(q).length());
        y.total_cmp(&x)
    });
    let [i, j, k] = order;
    let direction = |v: DVec3| (v.length() > NO_LENGTH).then(|| v.normalize());
    let x = direction(columns.col(i)).unwrap_or(before.col(i));
    let across = |v: DVec3| v - x * x.dot(v);
    let y = direction(across(columns.col(j)))
        .or_else(|| across(before.col(j)).try_normalize())
        .unwrap_or_else(|| x.any_orthonormal_vector());
    let cyclic = (i + 1) % 3 == j;
    let z = if cyclic { x.cross(y) } else { y.cross(x) };
    let mut rotation = DMat3::IDENTITY;
    *rotation.col_mut(i) = x;
    *rotation.col_mut(j) = y;
    *rotation.col_mut(k) = z;
    let along = |k: usize| rotation.col(k).dot(columns.col(k));
    let scale = DVec3::new(along(0), along(1), along(2));
    (DQuat::from_mat3(&rotation).normalize(), scale)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use proptest::prelude::*;

    use super::*;

    /// How exactly a track plays.
    #[derive(Debug)]
    struct Played {
        /// Largest difference at a frame, relative to the largest matrix.
        at_frames: f64,
        /// Largest distance from the straight line between frames, relative to the largest matrix.
        between: f64,
        /// The same relative to the length of the line (plus a millionth of the largest matrix).
        share: f64,
        added_keys: usize,
    }

    fn play(matrices: &[DMat3], keys: &[NestedKey]) -> Played {
        let largest = matrices.iter().map(norm).fold(0.0, f64::max).max(1e-300);
        let at = |frame: f64| {
            let next = keys.partition_point(|key| key.frame <= frame);
            match (keys.get(next.wrapping_sub(1)), keys.get(next)) {
                (Some(a), Some(b)) => {
                    let s = (frame - a.frame) / (b.frame - a.frame);
                    a.form.between(&b.form, s).product()
                }
                (Some(only), None) | (None, Some(only)) => only.form.product(),
                (None, None) => panic!("no keys"),
            }
        };
        let mut played = Played {
            at_frames: 0.0,
            between: 0.0,
            share: 0.0,
            added_keys: keys.len() - matrices.len(),
        };
        for (k, m) in matrices.iter().enumerate() {
            let off = norm(&(at(k as f64) - *m)) / largest;
            played.at_frames = played.at_frames.max(off);
        }
        for (k, pair) in matrices.windows(2).enumerate() {
            let length = norm(&(pair[1] - pair[0]));
            for part in 1..16 {
                let s = f64::from(part) / 16.0;
                let line = pair[0] * (1.0 - s) + pair[1] * s;
                let off = norm(&(at(k as f64 + s) - line));
                played.between = played.between.max(off / largest);
                played.share = played.share.max(off / (length + 1e-6 * largest));
            }
        }
        for pair in keys.windows(2) {
            assert!(pair[0].frame < pair[1].frame, "keys in order");
            let (a, b) = (&pair[0].form, &pair[1].form);
            assert!(
                a.outer.dot(b.outer) >= 0.0 && a.inner.dot(b.inner) >= 0.0,
                "each rotation takes the short way"
            );
        }
        for key in keys {
            let unit = |q: DQuat| (q.length() - 1.0).abs() < 1e-12;
            assert!(unit(key.form.outer) && unit(key.form.inner), "{key:?}");
        }
        played
    }

    fn turn(v: [f64; 3]) -> DMat3 {
        DMat3::from_quat(DQuat::from_scaled_axis(DVec3::from_array(v)))
    }

    fn matrix() -> impl Strategy<Value = DMat3> {
        let entries = prop::array::uniform9(-1.0..1.0f64);
        let rank = 0..4usize;
        (entries, rank, prop::array::uniform3(-3.0..3.0f64)).prop_map(|(m, rank, v)| {
            let keep = DVec3::from_array([0, 1, 2].map(|k| f64::from(u8::from(k < rank))));
            DMat3::from_cols_array(&m) * turn(v) * DMat3::from_diagonal(keep)
        })
    }

    proptest! {
        #[test]
        fn any_matrices_are_exact_at_their_frames(
            matrices in prop::collection::vec(matrix(), 1..12),
            exponent in -6..6i32,
        ) {
            let scaled: Vec<DMat3> = matrices.iter().map(|m| *m * 10f64.powi(exponent)).collect();
            let keys = split_track(&scaled, Nodes::Two, 0.0);
            let played = play(&scaled, &keys);
            prop_assert!(played.at_frames < 1e-11, "{played:?}");
            // Even between unrelated frames there is no spin.
            prop_assert!(played.share < 0.75, "{played:?}");
        }

        #[test]
        fn a_tolerance_is_kept(
            matrices in prop::collection::vec(matrix(), 1..12),
            tolerance in 0.0..0.5f64,
        ) {
            let keys = split_track(&matrices, Nodes::Two, tolerance);
            for key in keys.iter().filter(|key| key.frame.fract() == 0.0) {
                let off = norm(&(key.form.product() - matrices[key.frame as usize]));
                prop_assert!(off < tolerance + 1e-10, "{off} at {}", key.frame);
            }
        }

        #[test]
        fn one_node_is_enough_without_shear(
            parts in prop::collection::vec(
                (prop::array::uniform3(-3.0..3.0f64), prop::array::uniform3(-2.0..2.0f64)),
                1..12,
            ),
        ) {
            let matrices: Vec<DMat3> = parts
                .iter()
                .map(|(v, s)| turn(*v) * DMat3::from_diagonal(DVec3::from_array(*s)))
                .collect();
            prop_assert!(!matrices.iter().any(|m| needs_two_nodes(m, 0.0)), "no shear");
            let keys = split_track(&matrices, Nodes::One, 0.0);
            prop_assert!(keys.iter().all(|key| key.form.inner == DQuat::IDENTITY), "one node");
            let played = play(&matrices, &keys);
            prop_assert!(played.at_frames < 1e-11 && played.added_keys == 0, "{played:?}");
        }
    }

    /// A matrix for every frame.
    type Track<'a> = &'a dyn Fn(usize) -> DMat3;

    /// Pseudo-random numbers from -1 to 1.
    fn noise(n: usize) -> f64 {
        let x = (n as f64 * 12.9898).sin() * 43_758.545_3;
        2.0 * (x - x.floor()) - 1.0
    }

    fn noisy(n: usize, size: f64) -> DMat3 {
        let mut entries = [0.0; 9];
        for (k, x) in entries.iter_mut().enumerate() {
            *x = size * noise(9 * n + k);
        }
        DMat3::from_cols_array(&entries)
    }

    #[test]
    fn nearly_rigid_bones_do_not_spin() {
        let frames = 48;
        for size in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1] {
            let turned = |k: usize| {
                let angle = k as f64 / frames as f64 * TAU;
                turn([0.36 * angle, 0.48 * angle, 0.8 * angle])
            };
            let stretch = DMat3::from_diagonal(DVec3::new(1.0 + size, 1.0, 1.0 - size));
            let kinds: [(&str, Track<'_>); 4] = [
                ("stretched in its own frame", &|k| turned(k) * stretch),
                ("stretched in the parent's", &|k| stretch * turned(k)),
                ("noisy", &|k| turned(k) + noisy(k, size)),
                ("still and noisy", &|k| DMat3::IDENTITY + noisy(k, size)),
            ];
            for (name, at) in kinds {
                let matrices: Vec<DMat3> = (0..=frames).map(at).collect();
                let played = play(&matrices, &split_track(&matrices, Nodes::Two, 0.0));
                eprintln!("{name} by {size:e}: {played:?}");
                assert!(played.at_frames < 1e-11, "{name} by {size}: {played:?}");
                assert!(played.share < 0.3, "{name} by {size}: {played:?}");
                let smooth = !name.contains("noisy");
                assert!(
                    !smooth || played.added_keys == 0,
                    "smooth motion needs no more keys: {name} by {size}: {played:?}"
                );
            }
        }
    }

    #[test]
    fn frames_split_independently_stray_further() {
        let stretch = DMat3::from_diagonal(DVec3::new(1.1, 1.0, 0.9));
        let at = |k: usize| stretch * turn([0.1 * k as f64, 0.0, 0.2 * k as f64]);
        let matrices: Vec<DMat3> = (0..30).map(at).collect();
        let splitter = Splitter {
            forms: Forms::new(),
            nodes: Nodes::Two,
            pair_tolerance: EXACT,
        };
        let mut keys: Vec<NestedKey> = Vec::new();
        for (k, m) in matrices.iter().enumerate() {
            let form = splitter.nearest(m, &NestedForm::IDENTITY);
            let before = keys.last().map_or(form, |key| key.form);
            keys.push(NestedKey {
                frame: k as f64,
                form: form.signed_like(&before),
            });
        }
        let alone = play(&matrices, &keys);
        assert!(alone.at_frames < 1e-11 && alone.share > 0.2, "{alone:?}");
        let played = play(&matrices, &split_track(&matrices, Nodes::Two, 0.0));
        assert!(played.share < 0.05, "{played:?}");
    }

    #[test]
    fn a_tolerance_keeps_the_inner_turn_of_noisy_rigid_bones() {
        let turned = |k: usize| turn([0.0, 0.1 * k as f64, 0.05 * k as f64]);
        let matrices: Vec<DMat3> = (0..60).map(|k| turned(k) + noisy(k, 1e-4)).collect();
        let keys = split_track(&matrices, Nodes::Two, 1e-3);
        let still = |key: &NestedKey| key.form.inner == keys[0].form.inner;
        assert!(keys.iter().all(still), "R2 does not move");
    }

    #[test]
    fn hard_tracks_stay_near_the_straight_line() {
        let frames = 40;
        let ramp = |k: usize| k as f64 / frames as f64;
        let (left, right) = ([0.4, -0.7, 1.1], [1.0, 0.3, -0.6]);
        let diagonal = |x: f64, y: f64, z: f64| {
            turn(left) * DMat3::from_diagonal(DVec3::new(x, y, z)) * turn(right)
        };
        let slow = |k: usize| turn([0.0, 1.5 * ramp(k), 0.7 * ramp(k)]);
        let kinds: [(&str, f64, Track<'_>); 9] = [
            ("values that cross", 0.01, &|k| {
                slow(k) * diagonal(1.0 + ramp(k), 2.0 - ramp(k), 0.5)
            }),
            ("values that nearly cross", 0.03, &|k| {
                let mut m = diagonal(1.0 + ramp(k), 2.0 - ramp(k), 0.5);
                m.x_axis.y += 0.02;
                slow(k) * m
            }),
            ("mirrored", 0.01, &|k| {
                slow(k) * diagonal(1.0, 1.0, -1.0) * slow(k)
            }),
            ("mirrored, values that cross", 0.01, &|k| {
                slow(k) * diagonal(-1.0 - ramp(k), 2.0 - ramp(k), 1.4)
            }),
            ("through flat", 0.01, &|k| {
                slow(k) * diagonal(1.2, 0.8, 0.7 - 1.4 * ramp(k))
            }),
            ("through a line", 0.01, &|k| {
                slow(k) * diagonal(1.2, 0.3 - 0.6 * ramp(k), 0.7 - 1.4 * ramp(k))
            }),
            ("through a point", 0.01, &|k| {
                slow(k)
                    * diagonal(
                        1.0 - 2.0 * ramp(k),
                        0.3 - 0.6 * ramp(k),
                        0.7 - 1.4 * ramp(k),
                    )
            }),
            ("from nothing, turned", 0.02, &|k| {
                turn([2.0, 0.5, 1.0])
                    * slow(k)
                    * diagonal(1.0, 0.9, 1.2)
                    * ramp(k.saturating_sub(3))
            }),
            ("pure shear that grows and turns", 0.01, &|k| {
                let mut m = DMat3::IDENTITY;
                m.y_axis.x = 2.0 * ramp(k);
                slow(k) * m * slow(k).transpose()
            }),
        ];
        for (name, bound, at) in kinds {
            let matrices: Vec<DMat3> = (0..=frames).map(at).collect();
            let keys = split_track(&matrices, Nodes::Two, 0.0);
            let played = play(&matrices, &keys);
            eprintln!("{name}: {played:?}");
            assert!(played.at_frames < 1e-11, "{name}: {played:?}");
            assert!(
                played.between < bound && played.share < 0.3,
                "{name}: {played:?}"
            );
        }
    }

    #[test]
    fn a_mirrored_matrix_keeps_its_negative_scale_on_one_axis() {
        // The singular values cross, so that the shortest axis changes.
        let at = |k: usize| DMat3::from_diagonal(DVec3::new(1.0, 0.2 + 0.1 * k as f64, -0.75));
        let matrices: Vec<DMat3> = (0..12).map(at).collect();
        for nodes in [Nodes::One, Nodes::Two] {
            let keys = split_track(&matrices, nodes, 0.0);
            assert!(
                (keys.windows(2)).all(|pair| {
                    pair[0].form.scale.signum() == pair[1].form.scale.signum()
                        && pair[0].form.outer == pair[1].form.outer
                }),
                "{keys:?}"
            );
        }
    }

    #[test]
    fn empty_and_constant_tracks_get_no_extra_keys() {
        assert!(split_track(&[], Nodes::Two, 0.0).is_empty(), "no frames");
        let keys = split_track(&[DMat3::ZERO; 3], Nodes::Two, 0.0);
        assert!(
            keys.iter().all(|key| key.form.product() == DMat3::ZERO) && keys.len() == 3,
            "{keys:?}"
        );
        let keys = split_track(&[DMat3::IDENTITY; 3], Nodes::Two, 0.0);
        assert!(
            keys.iter().all(|key| key.form == NestedForm::IDENTITY),
            "{keys:?}"
        );
    }
}
