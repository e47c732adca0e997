//! How far an error in a bone's transform moves the vertices of a skin, as a root mean square.
//!
//! A bone `j` holds vertices at `x` in its own frame, each with a share `s ≥ 0`: its weight. When its
//! matrix in model space is off by the 3×4 matrix `E`, they move by `E x`, with `x = (position, 1)`, and
//!
//! ```text
//! Σ s |E x|² = Σ s tr(E x xᵀ Eᵀ) = tr(E Q Eᵀ),      Q = Σ s x xᵀ,
//! ```
//!
//! so ten numbers hold all that is needed about the vertices: the second moments of their homogeneous coordinates, the
//! last of which is their mass `Σ s`.
//!
//! Moments transform with the points: `x = L y` has `Q = L (Σ s y yᵀ) Lᵀ`. The vertices that a bone carries, its own
//! and those of its children, therefore have `Q̂ = Q + Σ L_c Q̂_c L_cᵀ`, from the leaves to the root. When the
//! transform `L` of a bone in its parent is off by `δL`, and `A` is the linear part of the parent's matrix in model
//! space, its vertices move by `√(tr(A δL Q̂ δLᵀ Aᵀ) / mass)`.
//!
//! A vertex with several bones moves by `Σ s_j e_j`, and `|Σ s_j e_j|² ≤ Σ s_j |e_j|²` where shares sum to 1 (Jensen):
//! for the error of one bone, the moments never give too small a distance.

use glam::{DAffine3, DMat3, DMat4, DVec3};

use crate::math::largest_stretch;
use crate::rig::{Pose, Skeleton};

/// Second moments of vertices about the origin of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments(DMat4);

impl Moments {
    /// The moments of no vertices.
    pub(crate) const NONE: Self = Self(DMat4::ZERO);

    /// Adds a vertex at a place, with a share above 0.
    pub(crate) fn add(&mut self, place: DVec3, share: f64) {
        let x = place.extend(1.0);
        self.0 += DMat4::from_cols(x * x.x, x * x.y, x * x.z, x) * share;
    }

    /// `Σ s`: 0 without vertices.
    pub(crate) fn mass(&self) -> f64 {
        self.0.w_axis.w
    }

    /// The moments of the same vertices in another frame.
    fn in_frame(&self, other_from_this: &DAffine3) -> Self {
        let matrix = DMat4::from(*other_from_this);
        Self(matrix * self.0 * matrix.transpose())
    }

    /// The root mean square distance by which an error of a matrix moves the vertices; 0 without vertices.
    pub(crate) fn moved_by(&self, linear: &DMat3, offset: DVec3) -> f64 {
        let mass = self.mass();
        if mass <= 0.0 {
            return 0.0;
        }
        let row = |r: usize| linear.row(r).extend(offset[r]);
        let squared = |r: usize| row(r).dot(self.0 * row(r));
        // Rounding may give a negative number.
        ((squared(0) + squared(1) + squared(2)) / mass)
            .max(0.0)
            .sqrt()
    }

    /// An upper bound of the distance by which a linear error moves the vertices, divided by its Frobenius norm: the
    /// root of the largest second moment in any direction.
    pub(crate) fn reach(&self) -> f64 {
        let mass = self.mass();
        match mass > 0.0 {
            true => (largest_stretch(&DMat3::from_mat4(self.0)) / mass).sqrt(),
            false => 0.0,
        }
    }
}

/// Turns an error of one bone in one pose into distances in model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Carried {
    /// The linear part of the parent's matrix in model space.
    pub(crate) model_from_parent: DMat3,
    /// Moments of all vertices that the bone moves, itself or through its descendants, in its own frame.
    pub(crate) moments: Moments,
}

impl Carried {
    /// The root mean square distance, in model space, by which an error of the bone's transform moves its vertices.
    pub(crate) fn moved_by(&self, linear: &DMat3, offset: DVec3) -> f64 {
        let in_model = self.model_from_parent * *linear;
        (self.moments).moved_by(&in_model, self.model_from_parent * offset)
    }
}

/// The moments that every bone carries in a pose, given those of its own vertices.
pub(crate) fn carried(skeleton: &Skeleton, pose: &Pose, own: &[Moments]) -> Vec<Carried> {
    let bones = skeleton.bones();
    let mut moments = own.to_vec();
    for (j, bone) in bones.iter().enumerate().rev() {
        if let Some(parent) = bone.parent {
            let moved = moments[j].in_frame(&pose.parent_from_bone[j]);
            moments[parent.index()].0 += moved.0;
        }
    }
    let mut model_from_bone: Vec<DMat3> = Vec::with_capacity(bones.len());
    let mut result = Vec::with_capacity(bones.len());
    for ((bone, local), moments) in bones.iter().zip(&pose.parent_from_bone).zip(moments) {
        let model_from_parent =
            (bone.parent).map_or(DMat3::IDENTITY, |parent| model_from_bone[parent.index()]);
        model_from_bone.push(model_from_parent * local.matrix3);
        result.push(Carried {
            model_from_parent,
            moments,
        });
    }
    result
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::rig::BoneId;

    /// A root, an arm on it, a hand on the arm.
    fn arm() -> Skeleton {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        Skeleton::from_rest_frames([
            ("root".to_owned(), None, at(0.0)),
            ("arm".to_owned(), Some(BoneId(0)), at(1.0)),
            ("hand".to_owned(), Some(BoneId(1)), at(3.0)),
        ])
        .expect("parents come first")
    }

    #[test]
    fn moments_give_the_distance_that_vertices_move() {
        let skeleton = arm();
        let held = [
            (1, DVec3::new(0.2, -0.3, 0.1), 0.4),
            (2, DVec3::new(0.5, 0.1, -0.2), 0.6),
            (2, DVec3::new(-0.1, 0.7, 0.3), 1.0),
        ];
        let mut own = vec![Moments::NONE; 3];
        for (bone, place, share) in held {
            own[bone].add(place, share);
        }
        let mut pose = skeleton.rest_pose();
        for (j, local) in pose.parent_from_bone.iter_mut().enumerate() {
            let turn = DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.2 + j as f64));
            local.matrix3 =
                DMat3::from_quat(turn) * DMat3::from_diagonal(DVec3::new(1.0, 2.0, 0.7));
        }
        let places = |pose: &Pose| -> Vec<DVec3> {
            let palette = skeleton.palette(pose).expect("it fits");
            let place = |(bone, x, _): (usize, DVec3, f64)| {
                palette.model_from_bone[bone].transform_point3(x)
            };
            held.map(place).to_vec()
        };
        let carried = carried(&skeleton, &pose, &own);
        for (j, carried) in carried.iter().enumerate() {
            let mut off = pose.clone();
            off.parent_from_bone[j].matrix3.x_axis += DVec3::new(0.1, 0.2, -0.3);
            off.parent_from_bone[j].translation += DVec3::new(0.05, -0.1, 0.02);
            let linear = off.parent_from_bone[j].matrix3 - pose.parent_from_bone[j].matrix3;
            let offset = off.parent_from_bone[j].translation - pose.parent_from_bone[j].translation;
            let (mut sum, mut mass) = (0.0, 0.0);
            for ((a, b), (bone, _, share)) in places(&pose).iter().zip(places(&off)).zip(held) {
                if bone >= j {
                    sum += share * a.distance_squared(b);
                    mass += share;
                }
            }
            let expected = (sum / mass).sqrt();
            let found = carried.moved_by(&linear, offset);
            assert!((found - expected).abs() < 1e-12, "{j}: {found} {expected}");
            let bound = carried.moments.reach() * largest_stretch(&carried.model_from_parent);
            let alone = carried.moved_by(&linear, DVec3::ZERO);
            assert!(alone <= bound * 0.14f64.sqrt() * 1.000_001, "{j}: {alone}");
        }
        let nothing = Moments::NONE;
        assert_eq!(nothing.moved_by(&DMat3::IDENTITY, DVec3::ONE), 0.0, "none");
        assert_eq!(nothing.reach(), 0.0, "none");
    }
}
