//! Proxy bones of a character that is moved, turned or scaled as a whole.

use glam::{DAffine3, DMat3, DVec3};

use super::{JointReading, PatchPredictor, PredictedTurn, ProxyBones, Similarity};

impl Similarity {
    /// The same proxies in the moved model: for a moved pose, they are placed where moving the original proxies would
    /// put them.
    ///
    /// | symbol | meaning |
    /// | --- | --- |
    /// | `s`, `R`, `M` | scale, rotation, and the whole move |
    /// | `G' = M G S⁻¹`, `N' = M N M⁻¹` | how bones are moved |
    /// | `θ' = R θ` | turns are given in the axes of model space |
    /// | `D' = M D T(−c) M⁻¹ T(c')` | motion of a patch about its middle `c` |
    ///
    /// Places (fourth columns) enter a proxy's place with weights that sum to 1, and its directions with weights that
    /// sum to 0, so the translation of the move needs no term of its own.
    #[must_use]
    pub fn proxies(&self, proxies: &ProxyBones) -> ProxyBones {
        let turn = DMat3::from_quat(self.rotation());
        let rows = |matrix: &[f64], turned: DMat3| -> Vec<f64> {
            let per_row = matrix.len() / (4 * proxies.bones.len()).max(1);
            let scaled = |row: usize, c: &[f64]| {
                let along = turned * DVec3::from_slice(c);
                // Directions keep their length; places are scaled.
                match row % 4 {
                    3 => (along * self.scale()).extend(c[3]).to_array(),
                    _ => along.extend(c[3] / self.scale()).to_array(),
                }
            };
            (matrix.chunks_exact(per_row.max(1)).enumerate())
                .flat_map(|(r, row)| row.chunks_exact(4).map(move |c| (r, c)))
                .flat_map(|(r, c)| scaled(r, c))
                .collect()
        };
        ProxyBones {
            bones: proxies.bones.clone(),
            joints: (proxies.joints.iter())
                .map(|joint| JointReading {
                    middle: turn * joint.middle,
                    ..*joint
                })
                .collect(),
            patches: proxies
                .patches
                .iter()
                .map(|patch| self.patch(patch))
                .collect(),
            sources: proxies.sources.clone(),
            from_patches: rows(&proxies.from_patches, turn),
            // Values in the frames of bones do not turn.
            from_sources: rows(&proxies.from_sources, DMat3::IDENTITY),
        }
    }

    fn patch(&self, patch: &PatchPredictor) -> PatchPredictor {
        let turn = self.rotation();
        let moved_turn = |t: &PredictedTurn| PredictedTurn {
            offset: turn * t.offset * turn.inverse(),
            ..*t
        };
        let inputs = 9 * patch.stretch_joints.len();
        let mut stretch = Vec::with_capacity(inputs + 1);
        for rows in patch.stretch[..inputs].chunks_exact(9) {
            stretch.extend(self.shares(rows));
        }
        stretch.extend(&patch.stretch[inputs..]);
        PatchPredictor {
            frame: patch.frame.clone(),
            pivot: self.point(patch.pivot),
            turns: patch.turns.iter().map(moved_turn).collect(),
            stretch_joints: patch.stretch_joints.clone(),
            stretch: stretch.iter().map(|row| self.outputs(row)).collect(),
        }
    }

    /// `[R X Rᵀ | s R x]`.
    fn outputs(&self, row: &[f64; 12]) -> [f64; 12] {
        let turn = DMat3::from_quat(self.rotation());
        let DAffine3 {
            matrix3,
            translation,
        } = DAffine3::from_cols_array(row);
        DAffine3 {
            matrix3: turn * matrix3 * turn.transpose(),
            translation: self.vector(translation),
        }
        .to_cols_array()
    }

    /// Nine rows for inputs of `θ` as rows for inputs of `θ' = R θ`: a linear and a quadratic form each.
    fn shares(&self, rows: &[[f64; 12]]) -> [[f64; 12]; 9] {
        let turn = DMat3::from_quat(self.rotation());
        let mut moved = [[0.0; 12]; 9];
        for output in 0..12 {
            let at = |input: usize| rows[input][output];
            let linear = turn * DVec3::new(at(0), at(1), at(2));
            let (yz, xz, xy) = (0.5 * at(6), 0.5 * at(7), 0.5 * at(8));
            let quadratic = DMat3::from_cols(
                DVec3::new(at(3), xy, xz),
                DVec3::new(xy, at(4), yz),
                DVec3::new(xz, yz, at(5)),
            );
            let q = turn * quadratic * turn.transpose();
            let values = [
                linear.x,
                linear.y,
                linear.z,
                q.x_axis.x,
                q.y_axis.y,
                q.z_axis.z,
                2.0 * q.y_axis.z,
                2.0 * q.x_axis.z,
                2.0 * q.x_axis.y,
            ];
            for (row, value) in moved.iter_mut().zip(values) {
                row[output] = value;
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::synth::{BodyOptions, ProxyOptions, body, proxied};

    #[test]
    fn a_moved_skin_in_a_moved_pose_shows_the_moved_vertices() {
        let body = body(&BodyOptions {
            vertex_count: 300,
            influences: 3,
            bone_count: 9,
        });
        let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -1.1, 2.0));
        let by = Similarity::new(2.5, turn, DVec3::new(3.0, -1.0, 7.0)).expect("finite");
        for seed in 1..6 {
            let options = ProxyOptions {
                proxy_count: 6,
                patch_count: 12,
                source_count: 4,
                seed,
            };
            let skin = proxied(&body.skin, &options);
            let moved = skin.moved(&by).expect("linear blending can be moved");
            let before = skin.evaluate(&body.pose).expect("fits");
            let mut pose = body.pose.clone();
            for (local, bone) in pose.parent_from_bone.iter_mut().zip(skin.skeleton.bones()) {
                *local = by.local(local, bone.parent.is_none());
            }
            let after = moved.evaluate(&pose).expect("fits");
            for (a, b) in before.iter().zip(&after) {
                let expected = by.point(*a);
                assert!(b.abs_diff_eq(expected, 1e-9), "{b}, not {expected}");
            }
        }
    }
}
