//! The text of a project: what its fields are, and one sentence when they are something else.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{self, MapAccess, SeqAccess, Visitor};

use super::error::{Placed, ProjectError, ProjectFault};

/// The version of project files that this build reads and writes.
pub(super) const VERSION: i64 = 1;

/// How a layer's `kernel` says that its shapes are added up.
pub(super) const SUPERPOSITION: &str = "superposition";

/// A whole project, as typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectText {
    pub(super) version: i64,
    pub(super) base: PathBuf,
    #[serde(default)]
    pub(super) control: InOrder<ControlText>,
    #[serde(default)]
    pub(super) layer: Vec<LayerText>,
}

/// `[control.NAME]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControlText {
    pub(super) joint: Option<String>,
    pub(super) turn: Option<TurnText>,
    pub(super) axis: Option<AxisText>,
    pub(super) slider: Option<String>,
    pub(super) default: Option<f64>,
}

/// What of a joint's turn counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TurnText {
    Hinge,
    Swing,
    SwingTwist,
    Free,
}

/// `[[layer]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerText {
    pub(super) name: String,
    pub(super) controls: Vec<String>,
    #[serde(default)]
    pub(super) kernel: KernelText,
    pub(super) power: Option<f64>,
    pub(super) hold_rest: Option<bool>,
    pub(super) weightings: Option<usize>,
    pub(super) compress: Option<f64>,
    #[serde(default)]
    pub(super) sculpt: Vec<SculptText>,
}

/// The shape of a layer's bumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KernelText {
    #[default]
    Gaussian,
    #[serde(rename = "gaussian+linear")]
    GaussianLinear,
    Shepard,
    Superposition,
}

/// `[[layer.sculpt]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SculptText {
    pub(super) name: String,
    pub(super) at: InOrder<Numbers>,
    pub(super) falloff: Option<FalloffText>,
    pub(super) shape: PathBuf,
}

/// A table whose order counts.
#[derive(Debug)]
pub(super) struct InOrder<T>(pub(super) Vec<(String, T)>);

/// One number, or a list of them.
#[derive(Debug)]
pub(super) struct Numbers(pub(super) Vec<f64>);

/// A direction: a letter, or three numbers.
#[derive(Debug)]
pub(super) enum AxisText {
    Letter(String),
    Vector(Vec<f64>),
}

/// One falloff for all controls of a layer, or one for each.
#[derive(Debug)]
pub(super) enum FalloffText {
    One(f64),
    Each(Vec<(String, f64)>),
}

impl ProjectText {
    /// Reads a project's text; what is wrong with it is said with the line where it is.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, ProjectError> {
        let project: Self = crate::text_file::parse_toml(path, text)?;
        if project.version != VERSION {
            let fault = ProjectFault::Version {
                found: project.version,
                expected: VERSION,
            };
            return Err(Placed::from(fault).in_file(path));
        }
        Ok(project)
    }
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
            type Value = InOrder<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table, such as { elbow = 90 }")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(InOrder(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Numbers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or one for each axis, such as [30, 0, 45]")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Self::Value, E> {
                Ok(Numbers(vec![x]))
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Self::Value, E> {
                Ok(Numbers(vec![x as f64]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Ok(Numbers(list(seq)?))
            }
        }
        deserializer.deserialize_any(One)
    }
}

impl<'de> Deserialize<'de> for AxisText {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Axis;
        impl<'de> Visitor<'de> for Axis {
            type Value = AxisText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "an axis: \"x\", \"-z\" and so on, or three numbers as in [0, 0.6, 0.8]",
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(AxisText::Letter(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Ok(AxisText::Vector(list(seq)?))
            }
        }
        deserializer.deserialize_any(Axis)
    }
}

impl<'de> Deserialize<'de> for FalloffText {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Falloff;
        impl<'de> Visitor<'de> for Falloff {
            type Value = FalloffText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or one for each control, such as { elbow = 40, load = 0.5 }")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Self::Value, E> {
                Ok(FalloffText::One(x))
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Self::Value, E> {
                Ok(FalloffText::One(x as f64))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(FalloffText::Each(pairs))
            }
        }
        deserializer.deserialize_any(Falloff)
    }
}

fn list<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<f64>, A::Error> {
    let mut numbers = Vec::new();
    while let Some(number) = seq.next_element()? {
        numbers.push(number);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: &str = r#"
version = 1
base = "arm.glb"
[control.shoulder]
joint = "upper_arm"
turn = "swing-twist"
axis = [0, 0.6, 0.8]
[control.elbow]
joint = "forearm"
turn = "hinge"
axis = "z"
[[layer]]
name = "elbow"
controls = ["elbow"]
kernel = "gaussian+linear"
[[layer.sculpt]]
name = "flex"
at = { elbow = 90, shoulder = [1, 2.5, 3] }
falloff = { elbow = 40 }
shape = "arm.psd/flex.txt"
"#;

    fn parse(text: &str) -> Result<ProjectText, ProjectError> {
        ProjectText::parse(Path::new("arm.psd.toml"), text)
    }

    #[test]
    fn a_project_is_read_in_the_order_of_its_lines() {
        let project = parse(ARM).expect("a good project");
        let names: Vec<&str> = project.control.0.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["shoulder", "elbow"], "not by alphabet");
        let layer = &project.layer[0];
        assert_eq!(layer.kernel, KernelText::GaussianLinear, "by its name");
        let at = &layer.sculpt[0].at.0;
        assert_eq!(at[0].1.0, [90.0], "one number");
        assert_eq!(at[1].1.0, [1.0, 2.5, 3.0], "several");
    }

    #[test]
    fn mistakes_are_one_sentence_with_file_and_line() {
        for (from, to, expected) in [
            ("version = 1", "version = 2", "version is 2, expected 1"),
            (
                "base",
                "bass",
                "line 3: unknown field 'bass', expected one of",
            ),
            (
                "\"hinge\"",
                "\"bend\"",
                "line 10: unknown variant 'bend', expected one of",
            ),
            (
                "= 90,",
                "= \"far\",",
                "line 18: invalid type: string \"far\", expected a number",
            ),
            (
                "shape = \"arm.psd/flex.txt\"\n",
                "",
                "missing field 'shape'",
            ),
            ("[[layer]]", "[[layer]", "line 12"),
        ] {
            let error = parse(&ARM.replace(from, to)).expect_err(to).to_string();
            assert!(error.starts_with("arm.psd.toml: "), "{error}");
            assert!(error.contains(expected), "{expected:?} in {error}");
            assert!(!error.contains('\n'), "one sentence: {error}");
        }
    }
}
