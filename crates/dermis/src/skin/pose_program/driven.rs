//! Drivers in a pose program: coefficients computed from the pose.

use glam::{DAffine3, DMat3, DVec3};

use crate::pose_space::Driver;
use crate::rig::Skeleton;
use crate::skin::eval::frame_of_dual_quaternion;
use crate::skin::{
    Coefficient, Correction, Delta, MultiWeight, PosedInputs, Skin, SkinError, SsdProgram,
    VertexProgram, Weight,
};

impl Skin {
    /// The skin with drivers for its last coefficients, in the order of the list.
    ///
    /// A driver may read any bone, and all coefficients that are not driven: a coefficient with an empty correction is
    /// a plain slider.
    ///
    /// # Errors
    /// [`SkinError::CountMismatch`] when there are fewer coefficients than outputs, and
    /// [`SkinError::PoseSpace`] for a driver that does not fit.
    pub fn with_drivers(self, drivers: Vec<Driver>) -> Result<Self, SkinError> {
        let mut pose_program = self.pose_program;
        pose_program.drivers = drivers;
        pose_program.check(&self.skeleton, self.coefficients.len())?;
        Ok(Self {
            pose_program,
            ..self
        })
    }

    /// Adds sliders that move no vertices by themselves, after the coefficients that a pose gives.
    ///
    /// # Panics
    /// When the skin has drivers: sliders must come first.
    #[must_use]
    pub fn with_sliders(mut self, sliders: impl IntoIterator<Item = Coefficient>) -> Self {
        assert!(
            self.pose_program.drivers.is_empty(),
            "sliders must be added before drivers"
        );
        for slider in sliders {
            self.coefficients.push(slider);
            self.program
                .push_corrections(&self.skeleton, vec![Vec::new()]);
        }
        self
    }

    /// Adds a driver and the shapes that its outputs switch on: one list of rest-space displacements for each output.
    ///
    /// # Errors
    /// [`SkinError::CountMismatch`] when the numbers of names, shapes and outputs differ; [`SkinError::PoseSpace`]; and
    /// [`SkinError::CorrectionOutOfRange`].
    pub fn push_driver(
        &mut self,
        driver: Driver,
        names: Vec<String>,
        shapes: Vec<Vec<Delta<DVec3>>>,
    ) -> Result<(), SkinError> {
        for found in [names.len(), shapes.len()] {
            if found != driver.output_count() {
                return Err(SkinError::CountMismatch {
                    what: "driven shapes",
                    expected: driver.output_count(),
                    found,
                });
            }
        }
        driver.check(self.skeleton.bone_count(), self.posed_coefficient_count())?;
        let vertex_count = self.vertex_count();
        for (name, shape) in names.iter().zip(&shapes) {
            if let Some(bad) = shape.iter().find(|d| d.index as usize >= vertex_count) {
                return Err(SkinError::CorrectionOutOfRange {
                    name: name.clone(),
                    vertex: bad.index as usize,
                    vertex_count,
                });
            }
        }
        self.program.push_corrections(&self.skeleton, shapes);
        let coefficient = |name| Coefficient { name, default: 0.0 };
        self.coefficients.extend(names.into_iter().map(coefficient));
        self.pose_program.drivers.push(driver);
        Ok(())
    }

    /// The skin without drivers, their coefficients and their corrections.
    #[must_use]
    pub fn without_drivers(&self) -> Self {
        let posed = self.posed_coefficient_count();
        let mut skin = self.clone();
        skin.pose_program.drivers.clear();
        skin.coefficients.truncate(posed);
        match &mut skin.program {
            VertexProgram::Ssd(ssd) => ssd.corrections.truncate(posed),
            VertexProgram::DualQuaternion(dual) => dual.weighted.corrections.truncate(posed),
            VertexProgram::MultiWeight(multi) => multi.corrections.truncate(posed),
            VertexProgram::Linear(linear) => linear.corrections.truncate(posed),
        }
        skin
    }

    /// For each vertex, the matrix that takes a displacement in rest space to the pose: the linear part of the vertex's
    /// own motion. The "local frame" of \[Lewis00\] §4.
    ///
    /// It is singular where blending collapses the skin.
    pub fn vertex_frames(&self, inputs: &PosedInputs) -> Vec<DMat3> {
        let posed_from_rest = self.skeleton.posed_from_rest(&inputs.palette);
        let blend = |row: &[Weight]| {
            row.iter().fold(DMat3::ZERO, |sum, w| {
                sum + posed_from_rest[w.bone.index()].matrix3 * w.weight
            })
        };
        match &self.program {
            VertexProgram::Ssd(ssd) => ssd.weights.iter().map(blend).collect(),
            VertexProgram::Linear(linear) => (linear.influences.iter())
                .map(|row| {
                    row.iter().fold(DMat3::ZERO, |sum, i| {
                        sum + posed_from_rest[i.bone.index()].matrix3 * i.p.w
                    })
                })
                .collect(),
            VertexProgram::MultiWeight(multi) => (multi.influences.iter())
                .map(|row| row.iter().map(|i| i.frame(&posed_from_rest)).sum())
                .collect(),
            VertexProgram::DualQuaternion(dual) => {
                let motions = self.rigid_motions(&inputs.palette);
                (dual.weighted.weights.iter())
                    .map(|row| frame_of_dual_quaternion(row, &motions))
                    .collect()
            }
        }
    }
}

impl MultiWeight {
    /// `W_ij ∘ lin(N_j)`.
    fn frame(&self, posed_from_rest: &[DAffine3]) -> DMat3 {
        let n = posed_from_rest[self.bone.index()].matrix3;
        let column = |c: usize| {
            let weights = [0, 1, 2].map(|row| self.weights[row][c]);
            DVec3::from_array(weights) * n.col(c)
        };
        DMat3::from_cols(column(0), column(1), column(2))
    }
}

impl VertexProgram {
    /// Adds corrections given as rest-space displacements, in the form of this program.
    ///
    /// [`VertexProgram::rest_corrections`] is the inverse. A skin with this program then needs as many more
    /// coefficients.
    ///
    /// # Panics
    /// When a displacement names a vertex, or an influence a bone, that does not exist.
    pub fn push_corrections(&mut self, skeleton: &Skeleton, shapes: Vec<Vec<Delta<DVec3>>>) {
        let corrections = shapes.into_iter().map(|deltas| Correction { deltas });
        match self {
            Self::Ssd(SsdProgram {
                corrections: own, ..
            }) => own.extend(corrections),
            Self::DualQuaternion(dual) => dual.weighted.corrections.extend(corrections),
            Self::MultiWeight(multi) => multi.corrections.extend(corrections),
            Self::Linear(linear) => {
                let spread: Vec<_> = corrections
                    .map(|c| linear.spread_over_bones(skeleton, &c))
                    .collect();
                linear.corrections.extend(spread);
            }
        }
    }

    /// Replaces a correction by displacements of the rest shape.
    ///
    /// # Panics
    /// When there is no correction of that number.
    pub(crate) fn replace_correction(
        &mut self,
        skeleton: &Skeleton,
        number: usize,
        shape: Vec<Delta<DVec3>>,
    ) {
        self.push_corrections(skeleton, vec![shape]);
        match self {
            Self::Ssd(ssd) => drop(ssd.corrections.swap_remove(number)),
            Self::DualQuaternion(dual) => drop(dual.weighted.corrections.swap_remove(number)),
            Self::MultiWeight(multi) => drop(multi.corrections.swap_remove(number)),
            Self::Linear(linear) => drop(linear.corrections.swap_remove(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::{Channel, Clip, Interpolation, Keys};
    use crate::pose_space::{Center, Control, InterpolateOptions, JointTurn, interpolate};
    use crate::rig::{BoneId, Pose};
    use crate::skin::{DualQuaternionProgram, MultiWeightProgram};
    use crate::synth::{TubeOptions, tube};

    fn base() -> Skin {
        let options = TubeOptions {
            ring_count: 12,
            segment_count: 6,
            bone_count: 3,
            example_count: 1,
        };
        tube(&options).truth
    }

    const ELBOW: Control = Control::Joint {
        bone: BoneId(1),
        turn: JointTurn::Hinge { axis: DVec3::Z },
    };

    /// The skin with a bulge of one vertex when the elbow bends by 1 and the slider is at 1.
    fn driven(base: Skin) -> Skin {
        let load = Coefficient {
            name: "load".to_owned(),
            default: 0.0,
        };
        let mut skin = base.with_sliders([load]);
        let slider = skin.coefficients.len() - 1;
        let controls = [
            ELBOW,
            Control::Slider {
                coefficient: slider,
            },
        ];
        let center = |name: &str, angle, load| Center {
            name: name.to_owned(),
            point: vec![angle, load],
            falloffs: vec![0.5, 0.5],
        };
        let centers = [center("bent", 1.0, 1.0), center("rest", 0.0, 0.0)];
        let solved = interpolate(
            "elbow",
            &controls,
            &centers,
            1,
            &InterpolateOptions::default(),
        )
        .expect("two poses");
        let bulge = vec![Delta {
            index: 5,
            value: DVec3::new(0.1, 0.2, 0.3),
        }];
        skin.push_driver(solved.driver, vec!["bent".to_owned()], vec![bulge])
            .expect("one output, one shape");
        skin
    }

    fn pose(skin: &Skin, angle: f64, load: f64) -> Pose {
        let mut pose = skin.skeleton.rest_pose();
        pose.coefficients = vec![load];
        ELBOW.place(&skin.skeleton, &[angle], &mut pose);
        pose
    }

    #[test]
    fn a_driven_shape_appears_in_its_pose_and_not_at_rest() {
        let skin = driven(base());
        assert_eq!(skin.posed_coefficient_count(), 1, "one slider");
        let c = |angle, load| {
            let inputs = skin.run_pose_program(&pose(&skin, angle, load));
            inputs.expect("fits").coefficients[1]
        };
        assert!((c(1.0, 1.0) - 1.0).abs() < 1e-12, "fully there in its pose");
        assert!(c(0.0, 0.0).abs() < 1e-12, "not at rest");
        assert!(c(1.0, 0.0) < 0.2, "weak without the load: {}", c(1.0, 0.0));
        let mut stale = pose(&skin, 1.0, 1.0);
        stale.coefficients.push(77.0);
        let inputs = skin.run_pose_program(&stale).expect("may be given");
        assert!(
            (inputs.coefficients[1] - 1.0).abs() < 1e-12,
            "the given value is ignored"
        );
    }

    #[test]
    fn a_displacement_moves_a_vertex_by_its_frame_in_every_program() {
        let base = base();
        let VertexProgram::Ssd(ssd) = base.program.clone() else {
            panic!("the tube is linear blend skinning");
        };
        let twelve = |w: &Weight| MultiWeight {
            bone: w.bone,
            weights: [[w.weight; 4], [0.9 * w.weight; 4], [1.1 * w.weight; 4]],
        };
        let rows = ssd.weights.iter();
        let programs = [
            VertexProgram::Ssd(ssd.clone()),
            VertexProgram::Linear(ssd.to_linear(&base.skeleton)),
            VertexProgram::DualQuaternion(DualQuaternionProgram {
                weighted: ssd.clone(),
            }),
            VertexProgram::MultiWeight(MultiWeightProgram {
                influences: rows
                    .map(|row| row.iter().map(twelve).collect::<Vec<_>>())
                    .collect(),
                rest_positions: ssd.rest_positions.clone(),
                corrections: Vec::new(),
            }),
        ];
        for program in programs {
            let name = program.name();
            let plain = Skin {
                program,
                ..base.clone()
            };
            let skin = driven(plain.clone());
            let bent = pose(&skin, 1.0, 1.0);
            let inputs = skin.run_pose_program(&bent).expect("fits");
            let frame = skin.vertex_frames(&inputs)[5];
            let moved = skin.evaluate(&bent).expect("fits")[5];
            let mut unmoved = bent.clone();
            unmoved.coefficients.clear();
            let unmoved = plain.evaluate(&unmoved).expect("fits")[5];
            let base = skin.without_drivers().evaluate(&bent).expect("fits")[5];
            assert!(
                base.distance(unmoved) < 1e-12,
                "{name}: the base is unchanged"
            );
            let expected = unmoved + frame * DVec3::new(0.1, 0.2, 0.3);
            assert!(
                moved.distance(expected) < 1e-12,
                "{name}: {moved} {expected}"
            );
        }
    }

    #[test]
    fn a_baked_clip_plays_without_drivers() {
        let skin = driven(base());
        let bend = Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [0.0, 1.4]
                .map(|angle| {
                    let pose = pose(&skin, angle, 0.0);
                    crate::rig::Trs::from_affine(&pose.parent_from_bone[1])
                        .0
                        .rotation
                })
                .to_vec(),
        };
        let load = Keys {
            interpolation: Interpolation::Step,
            times: vec![0.0, 0.5],
            values: vec![vec![0.0], vec![1.0]],
        };
        let clip = Clip {
            name: "lift".to_owned(),
            channels: vec![
                Channel::Rotation(BoneId(1), bend),
                Channel::Coefficients(0, load),
            ],
        };
        let baked = skin.bake(&clip).expect("fits");
        assert_eq!(
            baked.channels[..2],
            clip.channels[..],
            "channels of the pose are unchanged"
        );
        let plain = skin.without_pose_program();
        for time in [0.0, 0.3, 0.5, 0.8, 1.0] {
            let played = plain.evaluate(&plain.sample(&baked, time)).expect("fits");
            let expected = skin.evaluate(&skin.sample(&clip, time)).expect("fits");
            let off = played.iter().zip(&expected).map(|(a, b)| a.distance(*b));
            let off = off.fold(0.0, f64::max);
            assert!(
                off < 1e-9,
                "a key every thirtieth of a second: {off} at {time}"
            );
        }
        let again = skin.bake(&baked).expect("fits");
        assert_eq!(again, baked, "baking twice changes nothing");
    }

    #[test]
    fn invalid_drivers_are_refused_with_a_reason() {
        let mut skin = driven(base());
        let mut driver = skin.pose_program.drivers[0].clone();
        driver.name = "second".to_owned();
        driver.controls[1] = Control::Slider { coefficient: 1 };
        let shape = vec![Vec::new()];
        let error = skin.push_driver(driver.clone(), vec!["x".to_owned()], shape.clone());
        assert_eq!(
            error.expect_err("reads a driven coefficient").to_string(),
            "driver second: it reads coefficient 1, but a pose gives only 1"
        );
        driver.controls[1] = Control::Slider { coefficient: 0 };
        let error = skin.push_driver(driver.clone(), Vec::new(), shape);
        let error = error.expect_err("no name").to_string();
        assert_eq!(error, "expected 1 driven shapes, found 0");
        let far = vec![vec![Delta {
            index: 9999,
            value: DVec3::X,
        }]];
        let error = skin.push_driver(driver, vec!["far".to_owned()], far);
        let error = error.expect_err("no such vertex").to_string();
        assert!(
            error.contains("correction far moves vertex 9999"),
            "{error}"
        );
    }
}
