//! Drivers as stored in the `DERMIS_skin` extension: by the names of morph targets.
//!
//! A skin numbers its coefficients. In a file, each mesh has morph targets of its own, so one
//! coefficient may have a different number in each mesh, or none; its name is the same in all.

use dermis::Skin;
use dermis::pose_space::{Center, Control, Driver, JointTurn, Kernel};
use dermis::rig::BoneId;
use serde::{Deserialize, Serialize};

/// A [`Driver`] by names: smooth functions of a pose that set the weights of morph targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct DriverRecord {
    /// Name shown to people.
    pub name: String,
    /// Names of the morph targets that it drives, one per row of `weights`.
    pub outputs: Vec<String>,
    /// The controls that span the pose space.
    pub controls: Vec<ControlRecord>,
    /// The shape of the bumps.
    pub kernel: Kernel,
    /// The centers of the bumps.
    pub centers: Vec<Center>,
    /// One row per output, one number per center.
    pub weights: Vec<Vec<f64>>,
    /// One row per output: a constant and a number per coordinate. Empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linear: Vec<Vec<f64>>,
}

/// A [`Control`] by names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(in crate::gltf) enum ControlRecord {
    /// How far a bone has turned from its rest against its parent.
    Joint {
        /// The bone below the joint.
        bone: BoneId,
        /// Which part of its rotation is used.
        #[serde(flatten)]
        turn: JointTurn,
    },
    /// The weight of a morph target that is not driven.
    Slider {
        /// Its name.
        name: String,
    },
}

impl DriverRecord {
    /// The drivers of a skin, which fit its coefficients.
    pub(crate) fn all_of(skin: &Skin) -> Vec<Self> {
        let name = |coefficient: usize| skin.coefficients[coefficient].name.clone();
        let mut next = skin.posed_coefficient_count();
        let record = |driver: &Driver| {
            let outputs = next..next + driver.output_count();
            next = outputs.end;
            let control = |control: &Control| match *control {
                Control::Joint { bone, turn } => ControlRecord::Joint { bone, turn },
                Control::Slider { coefficient } => ControlRecord::Slider {
                    name: name(coefficient),
                },
            };
            Self {
                name: driver.name.clone(),
                outputs: outputs.map(name).collect(),
                controls: driver.controls.iter().map(control).collect(),
                kernel: driver.kernel,
                centers: driver.centers.clone(),
                weights: driver.weights.clone(),
                linear: driver.linear.clone(),
            }
        };
        skin.pose_program.drivers.iter().map(record).collect()
    }

    /// The driver, with slider names turned into numbers by a function; the error is a name that has no number.
    ///
    /// Only names are checked; [`Driver::check`] does the rest.
    pub(crate) fn to_driver(
        &self,
        coefficient: impl Fn(&str) -> Option<usize>,
    ) -> Result<Driver, &str> {
        let control = |control| match control {
            &ControlRecord::Joint { bone, turn } => Ok(Control::Joint { bone, turn }),
            ControlRecord::Slider { name } => match coefficient(name) {
                Some(coefficient) => Ok(Control::Slider { coefficient }),
                None => Err(name.as_str()),
            },
        };
        Ok(Driver {
            name: self.name.clone(),
            controls: self
                .controls
                .iter()
                .map(control)
                .collect::<Result<_, _>>()?,
            kernel: self.kernel,
            centers: self.centers.clone(),
            weights: self.weights.clone(),
            linear: self.linear.clone(),
        })
    }

    /// Every bone whose rotation the driver reads.
    pub(crate) fn bones_mut(&mut self) -> impl Iterator<Item = &mut BoneId> {
        (self.controls.iter_mut()).filter_map(|control| match control {
            ControlRecord::Joint { bone, .. } => Some(bone),
            ControlRecord::Slider { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use serde_json::json;

    use super::*;

    fn record() -> DriverRecord {
        DriverRecord {
            name: "elbow".to_owned(),
            outputs: vec!["bent".to_owned()],
            controls: vec![
                ControlRecord::Joint {
                    bone: BoneId(2),
                    turn: JointTurn::Hinge { axis: DVec3::Z },
                },
                ControlRecord::Joint {
                    bone: BoneId(3),
                    turn: JointTurn::Free,
                },
                ControlRecord::Slider {
                    name: "load".to_owned(),
                },
            ],
            kernel: Kernel::Gaussian,
            centers: vec![Center {
                name: "bent".to_owned(),
                point: vec![1.0, 0.0, 0.0, 0.0, 1.0],
                falloffs: vec![0.5, 0.5, 1.0],
            }],
            weights: vec![vec![1.25]],
            linear: Vec::new(),
        }
    }

    #[test]
    fn the_json_is_as_documented() {
        let expected = json!({
            "name": "elbow",
            "outputs": ["bent"],
            "controls": [
                {"kind": "joint", "bone": 2, "turn": "hinge", "axis": [0.0, 0.0, 1.0]},
                {"kind": "joint", "bone": 3, "turn": "free"},
                {"kind": "slider", "name": "load"},
            ],
            "kernel": {"kind": "gaussian"},
            "centers": [{
                "name": "bent", "point": [1.0, 0.0, 0.0, 0.0, 1.0], "falloffs": [0.5, 0.5, 1.0],
            }],
            "weights": [[1.25]],
        });
        let json = serde_json::to_value(record()).expect("a record is JSON");
        assert_eq!(json, expected, "field by field");
        let back: DriverRecord = serde_json::from_value(json).expect("its own JSON");
        assert_eq!(back, record(), "and back");
    }

    #[test]
    fn names_become_numbers_and_an_unknown_name_is_the_error() {
        let record = record();
        let driver = record.to_driver(|name| (name == "load").then_some(7));
        let driver = driver.expect("it is known");
        assert_eq!(
            driver.controls[2],
            Control::Slider { coefficient: 7 },
            "by number"
        );
        driver.check(4, 8).expect("the rest is as it was");
        assert_eq!(record.to_driver(|_| None), Err("load"), "which one");
    }
}
