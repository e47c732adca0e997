//! How far a sculpt reaches, as text and as numbers.

use super::controls::{NamedControl, names};
use super::error::{Placed, ProjectFault};
use super::pose::{Coordinates, parse_number};

/// What joints and sliders get when no other pose tells how far things are.
const WIDE_JOINT_DEGREES: f64 = 45.0;
const WIDE_SLIDER: f64 = 0.5;

/// Reads `40deg`, `0.5`, or `elbow=40,load=0.5`: one falloff per control of a layer.
pub(super) fn parse_falloff(text: &str, controls: &[&NamedControl]) -> Result<Vec<f64>, Placed> {
    typed(text, controls).map_err(|fault| fault.in_item(format!("falloff '{text}'")))
}

fn typed(text: &str, controls: &[&NamedControl]) -> Result<Vec<f64>, ProjectFault> {
    let falloffs = if text.contains('=') {
        let mut found: Vec<Option<f64>> = vec![None; controls.len()];
        for item in text.split([',', ';']).map(str::trim) {
            let pair = item.split_once('=');
            let (name, value) = pair.ok_or_else(|| ProjectFault::expected("CONTROL=VALUE"))?;
            let place = place_of(name.trim(), controls)?;
            found[place] = Some(parse_number(value, controls[place])?);
        }
        all_given(found, controls)?
    } else {
        check_alike(controls)?;
        (controls.iter())
            .map(|control| parse_number(text, control))
            .collect::<Result<_, _>>()?
    };
    check_positive(&falloffs, controls)?;
    Ok(falloffs)
}

/// The falloffs of a project file: one for all, in shown units.
pub(super) fn one_for_all(
    shown: f64,
    controls: &[&NamedControl],
) -> Result<Vec<f64>, ProjectFault> {
    check_alike(controls)?;
    let falloffs: Vec<f64> = controls.iter().map(|c| c.coordinate(shown)).collect();
    check_positive(&falloffs, controls)?;
    Ok(falloffs)
}

/// The falloffs of a project file: one for each, in shown units.
pub(super) fn one_for_each(
    shown: &[(String, f64)],
    controls: &[&NamedControl],
) -> Result<Vec<f64>, ProjectFault> {
    let mut found: Vec<Option<f64>> = vec![None; controls.len()];
    for (name, value) in shown {
        let place = place_of(name, controls)?;
        found[place] = Some(controls[place].coordinate(*value));
    }
    let falloffs = all_given(found, controls)?;
    check_positive(&falloffs, controls)?;
    Ok(falloffs)
}

fn place_of(name: &str, controls: &[&NamedControl]) -> Result<usize, ProjectFault> {
    let place = controls.iter().position(|control| control.name == name);
    place.ok_or_else(|| ProjectFault::NotOfLayer {
        name: name.to_owned(),
        controls: names(controls.iter().copied()),
    })
}

fn all_given(
    found: Vec<Option<f64>>,
    controls: &[&NamedControl],
) -> Result<Vec<f64>, ProjectFault> {
    (found.into_iter().zip(controls))
        .map(|(value, control)| {
            let missing = || ProjectFault::expected(format!("one for {}", control.name));
            value.ok_or_else(missing)
        })
        .collect()
}

/// One number has one unit.
fn check_alike(controls: &[&NamedControl]) -> Result<(), ProjectFault> {
    let joints = controls.iter().filter(|control| control.is_joint()).count();
    if joints == 0 || joints == controls.len() {
        return Ok(());
    }
    let examples: Vec<String> = (controls.iter())
        .map(|c| format!("{}={}", c.name, if c.is_joint() { "40" } else { "0.5" }))
        .collect();
    Err(ProjectFault::MixedUnits {
        controls: names(controls.iter().copied()),
        example: examples.join(","),
    })
}

fn check_positive(falloffs: &[f64], controls: &[&NamedControl]) -> Result<(), ProjectFault> {
    for (falloff, control) in falloffs.iter().zip(controls) {
        if !(*falloff > 0.0 && falloff.is_finite()) {
            let expected = format!("more than 0 for {}", control.name);
            return Err(ProjectFault::expected(expected));
        }
    }
    Ok(())
}

/// Half the distance to the nearest other pose, per control of the layer.
///
/// With n controls each counts √n times its own distance, so that the nearest pose is two falloffs
/// away in the space of all of them: a Gaussian has fallen to 0.14 there, and to 0.61 half-way.
pub(super) fn default_falloffs(
    controls: &[(usize, &NamedControl)],
    at: &Coordinates,
    others: &[&Coordinates],
) -> Vec<f64> {
    let spread = (controls.len() as f64).sqrt();
    (controls.iter())
        .map(|&(c, control)| {
            let distance = |other: &&Coordinates| {
                let pairs = at[c].iter().zip(&other[c]);
                pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
            };
            let apart = others.iter().map(distance).filter(|d| *d > 1e-6);
            let nearest = apart.fold(f64::INFINITY, f64::min);
            let wide = match control.is_joint() {
                true => WIDE_JOINT_DEGREES,
                false => WIDE_SLIDER,
            };
            let falloff = match nearest.is_finite() {
                true => control.to_shown(0.5 * spread * nearest),
                false => wide,
            };
            // Two decimals are enough for a guess, unless they are nothing.
            let rounded = (falloff * 100.0).round() / 100.0;
            control.coordinate(if rounded > 0.0 { rounded } else { falloff })
        })
        .collect()
}

/// Falloffs as people type them: `elbow=40,load=0.5`.
pub(super) fn falloff_text(falloffs: &[f64], controls: &[&NamedControl]) -> String {
    let items: Vec<String> = (falloffs.iter().zip(controls))
        .map(|(f, control)| format!("{}={}", control.name, control.to_shown(*f)))
        .collect();
    items.join(",")
}

#[cfg(test)]
mod tests {
    use dermis::BoneId;
    use dermis::pose_space::{Control, JointTurn};

    use super::*;

    fn control(name: &str, is_joint: bool) -> NamedControl {
        let control = match is_joint {
            true => Control::Joint {
                bone: BoneId(0),
                turn: JointTurn::Hinge {
                    axis: glam::DVec3::Z,
                },
            },
            false => Control::Slider { coefficient: 0 },
        };
        NamedControl {
            name: name.to_owned(),
            control,
            default: vec![0.0],
        }
    }

    #[test]
    fn falloffs_are_typed_for_all_or_each() {
        let (elbow, load) = (control("elbow", true), control("load", false));
        let text = |typed: &str, controls: &[&NamedControl]| {
            parse_falloff(typed, controls)
                .map(|f| falloff_text(&f, controls))
                .map_err(|e| format!("{}{}", e.place, e.fault))
        };
        assert_eq!(text("40deg", &[&elbow]).as_deref(), Ok("elbow=40"), "one");
        assert_eq!(
            text("load=0.5, elbow=1rad", &[&elbow, &load]).as_deref(),
            Ok("elbow=57.295779513,load=0.5"),
            "in any order"
        );
        for (typed, expected) in [
            ("40", "the layer has joints and sliders (elbow, load)"),
            ("elbow=40", "expected one for load"),
            ("elbow=40,load=0", "expected more than 0 for load"),
            ("knee=1,load=1", "'knee' is no control of the layer"),
            ("load=1deg,elbow=3", "load is a slider"),
        ] {
            let error = text(typed, &[&elbow, &load]).expect_err(typed);
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
    }

    #[test]
    fn a_guess_is_half_the_way_to_the_nearest_pose() {
        let (elbow, load) = (control("elbow", true), control("load", false));
        let at = |degrees: f64, load: f64| vec![vec![degrees.to_radians()], vec![load]];
        let one = default_falloffs(&[(0, &elbow)], &at(90.0, 0.0), &[&at(0.0, 0.0)]);
        assert_eq!(elbow.to_shown(one[0]), 45.0, "rest is 90 degrees away");
        let nearer = [&at(0.0, 0.0), &at(60.0, 0.0)];
        let one = default_falloffs(&[(0, &elbow)], &at(90.0, 0.0), &nearer);
        assert_eq!(elbow.to_shown(one[0]), 15.0, "and a sculpt 30");
        let both = [(0, &elbow), (1, &load)];
        let two = default_falloffs(&both, &at(90.0, 1.0), &[&at(0.0, 0.0)]);
        let squared: f64 = [(two[0], 90f64.to_radians()), (two[1], 1.0)]
            .map(|(falloff, distance)| (distance / falloff).powi(2))
            .iter()
            .sum();
        assert!((squared.sqrt() - 2.0).abs() < 0.02, "two falloffs: {two:?}");
    }
}
