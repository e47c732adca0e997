//! A skin that is moved, turned or scaled as a whole.

use super::{
    Correction, DualQuaternionProgram, LinearProgram, MultiWeightProgram, Skin, SkinError,
    SsdProgram, VertexProgram,
};
use crate::rig::Similarity;
use crate::skin::{Delta, Influence};

impl Skin {
    /// The same skin in a moved model space: moved poses give moved positions.
    ///
    /// Frames keep their size and positions in them are scaled (\[Merry07\] §3.4), so rotations of bones do not change.
    /// For the pose program see [`PoseProgram::moved`](super::PoseProgram::moved).
    ///
    /// # Errors
    /// [`SkinError::CannotMove`] when a multi-weight skin would be turned or translated: each entry of its matrices has
    /// a weight of its own, and a turn mixes entries.
    pub fn moved(&self, by: &Similarity) -> Result<Self, SkinError> {
        let program = match &self.program {
            VertexProgram::Ssd(ssd) => VertexProgram::Ssd(ssd.moved(by)),
            VertexProgram::DualQuaternion(dual) => {
                VertexProgram::DualQuaternion(DualQuaternionProgram {
                    weighted: dual.weighted.moved(by),
                })
            }
            VertexProgram::Linear(linear) => VertexProgram::Linear(moved_linear(linear, by)),
            VertexProgram::MultiWeight(multi) => {
                let turns = by.rotation().w.abs() < 1.0 - 1e-12;
                if turns || by.translation() != glam::DVec3::ZERO {
                    return Err(SkinError::CannotMove {
                        program: self.program.name(),
                    });
                }
                VertexProgram::MultiWeight(MultiWeightProgram {
                    rest_positions: multi.rest_positions.iter().map(|v| by.point(*v)).collect(),
                    influences: multi.influences.clone(),
                    corrections: moved_corrections(&multi.corrections, |v| by.vector(v)),
                })
            }
        };
        Ok(Self {
            skeleton: by.skeleton(&self.skeleton)?,
            program,
            coefficients: self.coefficients.clone(),
            pose_program: self.pose_program.moved(by),
        })
    }
}

impl SsdProgram {
    /// The same weights on moved rest positions and corrections.
    #[must_use]
    pub fn moved(&self, by: &Similarity) -> Self {
        Self {
            rest_positions: self.rest_positions.iter().map(|v| by.point(*v)).collect(),
            weights: self.weights.clone(),
            corrections: moved_corrections(&self.corrections, |v| by.vector(v)),
        }
    }
}

fn moved_linear(linear: &LinearProgram, by: &Similarity) -> LinearProgram {
    let scaled = |p: glam::DVec4| (by.scale() * p.truncate()).extend(p.w);
    LinearProgram {
        influences: (linear.influences.iter())
            .map(|row| {
                row.iter().map(|i| Influence {
                    bone: i.bone,
                    p: scaled(i.p),
                })
            })
            .collect(),
        corrections: moved_corrections(&linear.corrections, scaled),
    }
}

fn moved_corrections<V: Copy>(
    corrections: &[Correction<V>],
    moved: impl Fn(V) -> V,
) -> Vec<Correction<V>> {
    let delta = |delta: &Delta<V>| Delta {
        index: delta.index,
        value: moved(delta.value),
    };
    (corrections.iter())
        .map(|correction| Correction {
            deltas: correction.deltas.iter().map(delta).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat, DVec3};

    use super::*;
    use crate::clip::{Channel, Clip, Interpolation, Keys};
    use crate::rig::{BoneId, DerivedBone, DerivedMotion, Skeleton};
    use crate::skin::{Coefficient, MultiWeight, Weight};

    fn skin() -> Skin {
        let at = |x: f64| {
            DAffine3::from_rotation_translation(DQuat::from_rotation_y(x), DVec3::new(x, 0.5, 0.0))
        };
        let skeleton = Skeleton::from_rest_frames([
            ("upper".to_owned(), None, at(0.2)),
            ("other".to_owned(), None, at(-2.0)),
            ("lower".to_owned(), Some(BoneId(0)), at(1.0)),
            ("half".to_owned(), Some(BoneId(0)), at(1.0)),
        ])
        .expect("parents come first");
        let weight = |bone, weight| Weight {
            bone: BoneId(bone),
            weight,
        };
        let ssd = SsdProgram {
            rest_positions: (0..3).map(|k| DVec3::new(k as f64, 0.7, 0.3)).collect(),
            weights: [
                vec![weight(0, 1.0)],
                vec![weight(0, 0.5), weight(2, 0.5)],
                vec![weight(1, 0.2), weight(2, 0.5), weight(3, 0.3)],
            ]
            .into_iter()
            .collect(),
            corrections: vec![Correction {
                deltas: vec![Delta {
                    index: 1,
                    value: DVec3::new(0.0, 0.3, 0.1),
                }],
            }],
        };
        let slider = Coefficient {
            name: "smile".to_owned(),
            default: 0.0,
        };
        let half = DerivedBone {
            bone: BoneId(3),
            of: BoneId(2),
            motion: DerivedMotion::PartTurn { share: 0.5 },
        };
        Skin::with_derived(skeleton, VertexProgram::Ssd(ssd), vec![slider], vec![half])
            .expect("a skin")
    }

    fn clip() -> Clip {
        let keys = |values: Vec<DQuat>| Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values,
        };
        let turns = [0.1, 1.3].map(DQuat::from_rotation_x).to_vec();
        let bends = [0.0, -1.1].map(DQuat::from_rotation_z).to_vec();
        let spline = Keys {
            interpolation: Interpolation::Cubic,
            times: vec![0.0, 1.0],
            values: (0..6)
                .map(|n| DVec3::new(0.3 * n as f64, (n as f64).sin(), 0.2))
                .collect(),
        };
        let slide = Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![DVec3::X, DVec3::new(1.2, 0.4, 0.0)],
        };
        let smile = Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![vec![0.0], vec![1.0]],
        };
        Clip {
            name: "move".to_owned(),
            channels: vec![
                Channel::Rotation(BoneId(0), keys(turns)),
                Channel::Translation(BoneId(1), spline),
                Channel::Rotation(BoneId(2), keys(bends)),
                Channel::Translation(BoneId(2), slide),
                Channel::Coefficients(0, smile),
            ],
        }
    }

    #[test]
    fn a_moved_skin_plays_a_moved_clip_at_the_moved_place() {
        let by = Similarity::new(
            2.5,
            DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 0.4)),
            DVec3::new(4.0, -3.0, 1.0),
        )
        .expect("finite");
        let skin = skin();
        let linear = skin.to_linear().expect("linear");
        let VertexProgram::Ssd(ssd) = &skin.program else {
            panic!("it is linear blend");
        };
        let dual = Skin {
            program: VertexProgram::DualQuaternion(DualQuaternionProgram {
                weighted: ssd.clone(),
            }),
            ..skin.clone()
        };
        for skin in [skin, linear, dual] {
            let moved = skin.moved(&by).expect("it can be moved");
            let (old, new) = (clip(), by.clip(&skin.skeleton, &clip()));
            for time in [0.0, 0.37, 1.0] {
                let expected = skin.evaluate(&skin.sample(&old, time)).expect("it fits");
                let found = moved.evaluate(&moved.sample(&new, time)).expect("it fits");
                for (a, b) in expected.iter().zip(&found) {
                    let at = by.point(*a);
                    assert!(
                        at.distance(*b) < 1e-9,
                        "{}: {at} against {b}",
                        skin.program.name()
                    );
                }
            }
            let rest = moved
                .evaluate(&moved.skeleton.rest_pose())
                .expect("it fits");
            assert!(
                rest.iter().all(|v| v.is_finite()),
                "bind matrices are moved, too"
            );
        }
    }

    #[test]
    fn multi_weight_skins_can_be_scaled_and_not_turned() {
        let base = skin();
        let VertexProgram::Ssd(ssd) = &base.program else {
            panic!("it is linear blend");
        };
        let influences = (ssd.weights.iter())
            .map(|row| {
                row.iter().map(|w| MultiWeight {
                    bone: w.bone,
                    weights: [[w.weight, 0.9 * w.weight, w.weight, 1.1 * w.weight]; 3],
                })
            })
            .collect();
        let multi = Skin {
            program: VertexProgram::MultiWeight(MultiWeightProgram {
                rest_positions: ssd.rest_positions.clone(),
                influences,
                corrections: ssd.corrections.clone(),
            }),
            ..base
        };
        let larger = Similarity::new(2.0, DQuat::IDENTITY, DVec3::ZERO).expect("finite");
        let moved = multi.moved(&larger).expect("scaling is fine");
        let pose = multi.sample(&clip(), 0.6);
        let expected = multi.evaluate(&pose).expect("it fits");
        let found = moved
            .evaluate(&larger.pose(&multi.skeleton, &pose))
            .expect("it fits");
        for (a, b) in expected.iter().zip(&found) {
            assert!((2.0 * *a).distance(*b) < 1e-9, "{a} against {b}");
        }
        let turned =
            Similarity::new(1.0, DQuat::from_rotation_x(1.0), DVec3::ZERO).expect("finite");
        let error = multi.moved(&turned).expect_err("it cannot turn");
        assert!(error.to_string().contains("multi-weight"), "{error}");
    }
}
