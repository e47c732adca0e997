//! What of a set of layers will not look as it was sculpted, at the sculpts or between them.

use super::build::{PsdSkin, build_psd};
use super::sculpt::{LEAST_STRETCH, bounded_inverse};
use super::{PsdLayer, Sculpt};
use crate::fit::FitError;
use crate::pose_space::{Center, Control, Driver, squared_distance};
use crate::skin::{Skin, SkinError};

/// Something about a layer that its author should know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PsdFinding {
    /// Bumps overlap so much that they cancel each other: rounding and jumps between poses grow.
    Overlap {
        /// Name of the layer.
        layer: String,
        /// Its condition number.
        condition: f64,
        /// The two poses that are nearest to each other, in falloffs.
        poses: [String; 2],
        /// Falloffs of the layer times this leave two of them between those poses.
        falloff_factor: f64,
    },
    /// A shape shows more than fully, or turned inside out, between two poses.
    Overshoot {
        /// Name of the layer.
        layer: String,
        /// The sculpt whose shape it is.
        sculpt: String,
        /// The coefficient that is farthest out of 0 to 1.
        coefficient: f64,
        /// The neighbours between which it happens.
        poses: [String; 2],
        /// The sculpt's pose and the one nearest to it, whose bumps fight each other.
        crowded: [String; 2],
        /// As in [`PsdFinding::Overlap`], for the crowded poses.
        falloff_factor: f64,
    },
    /// Between two neighbours the layer goes back to nothing.
    Hole {
        /// Name of the layer.
        layer: String,
        /// The neighbours.
        poses: [String; 2],
        /// How far on the way from the first to the second, 0 to 1.
        share: f64,
        /// The sum of all coefficients there.
        sum: f64,
        /// What a straight line between the two would have.
        expected: f64,
        /// As in [`PsdFinding::Overlap`].
        falloff_factor: f64,
    },
    /// A sculpt is not met.
    Missed {
        /// Name of the layer.
        layer: String,
        /// Name of the sculpt.
        sculpt: String,
        /// How far its worst vertex is off, in rest space.
        distance: f64,
        /// The layer above that moves it, if it is one.
        moved_by: Option<String>,
    },
    /// The base leaves a sculpt no room: its vertices cannot be brought to where they were sculpted.
    Flattened {
        /// Name of the layer.
        layer: String,
        /// Name of the sculpt.
        sculpt: String,
        /// How many of its vertices.
        vertices: usize,
    },
    /// A sculpt moves nothing.
    Empty {
        /// Name of the layer.
        layer: String,
        /// Name of the sculpt.
        sculpt: String,
    },
}

/// Beyond this condition number a layer is said to overlap.
const MOST_CONDITION: f64 = 1e4;
/// How far out of 0 to 1 a coefficient may go between poses.
const MOST_OVERSHOOT: f64 = 0.25;
/// Below this share of the straight line between two poses there is a hole.
const LEAST_SUM: f64 = 0.5;
/// Steps on the way between two poses.
const STEPS: usize = 32;
/// Falloffs between two poses at which shapes fade evenly into each other: a Gaussian has fallen to
/// 0.61 half-way.
const GOOD_DISTANCE: f64 = 2.0;

/// Looks for falloffs that overlap or leave holes, sculpts that are not met, and sculpts that the
/// base has no room for, layer by layer.
///
/// `tolerance` is the distance in rest space within which a sculpt is met; what a layer's compression
/// may miss comes on top. Falloffs are judged on the straight lines between neighbouring poses, those
/// at which a layer is held at nothing included; two poses are neighbours when no third one lies in
/// the ball that has them at its ends. Layers with weightings or compression are judged without.
///
/// Cost: O(n³) per layer of n poses, and that of [`build_psd`] twice.
///
/// # Errors
/// Those of [`build_psd`].
pub fn check_psd(
    base: &Skin,
    layers: &[PsdLayer],
    tolerance: f64,
) -> Result<Vec<PsdFinding>, FitError> {
    // One driver per layer, whose outputs are the sculpts' own coefficients.
    let plain: Vec<PsdLayer> = (layers.iter())
        .map(|layer| PsdLayer {
            weightings: None,
            compress: None,
            ..layer.clone()
        })
        .collect();
    let shown = build_psd(base, &plain)?;
    let built = match plain == layers {
        true => shown.clone(),
        false => build_psd(base, layers)?,
    };
    let mut findings = Vec::new();
    let drivers = &shown.skin.pose_program.drivers[base.pose_program.drivers.len()..];
    for (number, (layer, driver)) in layers.iter().zip(drivers).enumerate() {
        check_falloffs(driver, shown.layers[number].condition, &mut findings);
        check_sculpts(&built, number, layer, tolerance, &mut findings);
        for sculpt in &layer.sculpts {
            check_room(base, layer, sculpt, &mut findings)?;
        }
    }
    Ok(findings)
}

/// A layer's poses with one scale for all of them.
struct Space<'a> {
    controls: &'a [Control],
    centers: Vec<Center>,
}

impl<'a> Space<'a> {
    /// Falloffs become the means over all poses.
    fn new(driver: &'a Driver) -> Self {
        let count = driver.centers.len().max(1) as f64;
        let mean: Vec<f64> = (0..driver.controls.len())
            .map(|c| driver.centers.iter().map(|k| k.falloffs[c]).sum::<f64>() / count)
            .collect();
        let centers = driver.centers.iter().map(|center| Center {
            falloffs: mean.clone(),
            ..center.clone()
        });
        Self {
            controls: &driver.controls,
            centers: centers.collect(),
        }
    }

    fn squared(&self, a: usize, b: usize) -> f64 {
        squared_distance(self.controls, &self.centers[a], &self.centers[b].point)
    }

    /// Pairs of poses without a third in the ball between them.
    fn neighbours(&self) -> Vec<(usize, usize)> {
        let count = self.centers.len();
        let table: Vec<Vec<f64>> = (0..count)
            .map(|a| (0..count).map(|b| self.squared(a, b)).collect())
            .collect();
        let is_between = |a: usize, b: usize, c: usize| {
            c != a && c != b && table[a][c] + table[c][b] < table[a][b] * (1.0 - 1e-9)
        };
        let pairs = (0..count).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs
            .filter(|&(a, b)| !(0..count).any(|c| is_between(a, b, c)))
            .collect()
    }

    /// What falloffs must be multiplied by to have [`GOOD_DISTANCE`] of them between two poses.
    fn factor(&self, a: usize, b: usize) -> f64 {
        self.squared(a, b).sqrt() / GOOD_DISTANCE
    }

    /// A point on the way from one pose to another, hinges the short way round.
    fn between(&self, a: usize, b: usize, share: f64) -> Vec<f64> {
        let (from, to) = (&self.centers[a].point, &self.centers[b].point);
        let mut point = Vec::with_capacity(from.len());
        for control in self.controls {
            for _ in 0..control.dimension() {
                let at = point.len();
                let step = match control.dimension() {
                    1 => control.shortest_step(from[at], to[at]),
                    _ => to[at] - from[at],
                };
                point.push(from[at] + share * step);
            }
        }
        point
    }

    fn names(&self, a: usize, b: usize) -> [String; 2] {
        [a, b].map(|k| self.centers[k].name.clone())
    }
}

fn check_falloffs(driver: &Driver, condition: f64, findings: &mut Vec<PsdFinding>) {
    let space = Space::new(driver);
    let neighbours = space.neighbours();
    if condition > MOST_CONDITION {
        let nearest = (neighbours.iter())
            .min_by(|&&(a, b), &&(c, d)| space.squared(a, b).total_cmp(&space.squared(c, d)));
        if let Some(&(a, b)) = nearest {
            findings.push(PsdFinding::Overlap {
                layer: driver.name.clone(),
                condition,
                poses: space.names(a, b),
                falloff_factor: space.factor(a, b),
            });
            // Everything between the poses follows from this.
            return;
        }
    }
    let mut overshoot: Option<(f64, PsdFinding)> = None;
    for (a, b) in neighbours {
        if let Some((beyond, finding)) = worst_overshoot(driver, &space, a, b)
            && overshoot.as_ref().is_none_or(|(worst, _)| beyond > *worst)
        {
            overshoot = Some((beyond, finding));
        }
        findings.extend(hole(driver, &space, a, b));
    }
    findings.extend(overshoot.map(|(_, finding)| finding));
}

/// The coefficient farthest out of 0 to 1 between two poses, and by how much, if by too much.
fn worst_overshoot(
    driver: &Driver,
    space: &Space<'_>,
    a: usize,
    b: usize,
) -> Option<(f64, PsdFinding)> {
    let mut worst = (MOST_OVERSHOOT, None);
    for step in 1..STEPS {
        let outputs = driver.evaluate(&space.between(a, b, step as f64 / STEPS as f64));
        for (m, c) in outputs.into_iter().enumerate() {
            let beyond = (c - 1.0).max(-c);
            if beyond > worst.0 {
                worst = (beyond, Some((m, c)));
            }
        }
    }
    let (m, coefficient) = worst.1?;
    // What runs away does so to make up for its nearest neighbour, wherever it shows.
    let others = (0..space.centers.len()).filter(|&k| k != m);
    let nearest = others.min_by(|&k, &l| space.squared(m, k).total_cmp(&space.squared(m, l)))?;
    let finding = PsdFinding::Overshoot {
        layer: driver.name.clone(),
        sculpt: driver.centers[m].name.clone(),
        coefficient,
        poses: space.names(a, b),
        crowded: space.names(m, nearest),
        // Also where these two are far enough apart, narrower is the way out.
        falloff_factor: space.factor(m, nearest).min(0.8),
    };
    Some((worst.0, finding))
}

/// Where the sum of all coefficients is farthest below the straight line between two poses.
fn hole(driver: &Driver, space: &Space<'_>, a: usize, b: usize) -> Option<PsdFinding> {
    let at_pose = |k: usize| f64::from(u8::from(k < driver.output_count()));
    // Between poses at which the layer is held at nothing, nothing is missing.
    if at_pose(a) + at_pose(b) == 0.0 {
        return None;
    }
    let mut worst: Option<(f64, f64, f64, f64)> = None;
    // Only the middle half: a shape may come in gently near the poses themselves.
    for step in STEPS / 4..=3 * STEPS / 4 {
        let share = step as f64 / STEPS as f64;
        let expected = at_pose(a) * (1.0 - share) + at_pose(b) * share;
        let sum: f64 = driver.evaluate(&space.between(a, b, share)).iter().sum();
        if sum < LEAST_SUM * expected && worst.is_none_or(|w| sum / expected < w.0) {
            worst = Some((sum / expected, share, sum, expected));
        }
    }
    let (_, share, sum, expected) = worst?;
    Some(PsdFinding::Hole {
        layer: driver.name.clone(),
        poses: space.names(a, b),
        share,
        sum,
        expected,
        // Also where the mean falloff would do, wider is the way out.
        falloff_factor: space.factor(a, b).max(1.25),
    })
}

fn check_sculpts(
    built: &PsdSkin,
    number: usize,
    layer: &PsdLayer,
    tolerance: f64,
    findings: &mut Vec<PsdFinding>,
) {
    let accepted = tolerance + layer.compress.unwrap_or(0.0);
    for report in &built.layers[number].sculpts {
        if report.vertices == 0 {
            findings.push(PsdFinding::Empty {
                layer: layer.name.clone(),
                sculpt: report.name.clone(),
            });
        }
        if report.missed > accepted {
            findings.push(PsdFinding::Missed {
                layer: layer.name.clone(),
                sculpt: report.name.clone(),
                distance: report.missed,
                moved_by: report.moved_by.clone(),
            });
        }
    }
}

/// Counts the vertices of a sculpt that the base has flattened in its pose.
fn check_room(
    base: &Skin,
    layer: &PsdLayer,
    sculpt: &Sculpt,
    findings: &mut Vec<PsdFinding>,
) -> Result<(), SkinError> {
    let frames = base.vertex_frames(&base.run_pose_program(&sculpt.pose)?);
    let is_flat = |index: u32| !bounded_inverse(frames[index as usize], LEAST_STRETCH).1;
    let vertices = sculpt.shape.iter().filter(|d| is_flat(d.index)).count();
    if vertices > 0 {
        findings.push(PsdFinding::Flattened {
            layer: layer.name.clone(),
            sculpt: sculpt.name.clone(),
            vertices,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::pose_space::JointTurn;
    use crate::rig::BoneId;
    use crate::skin::Delta;
    use crate::synth::{TubeOptions, tube};

    const ELBOW: Control = Control::Joint {
        bone: BoneId(1),
        turn: JointTurn::Hinge { axis: DVec3::Y },
    };

    fn base() -> Skin {
        tube(&TubeOptions {
            ring_count: 40,
            segment_count: 6,
            bone_count: 3,
            example_count: 1,
        })
        .truth
    }

    /// Sculpts of one vertex at some angles of the elbow, all with one falloff, in degrees.
    fn layer(base: &Skin, degrees: &[f64], falloff: f64) -> PsdLayer {
        let sculpt = |angle: &f64| {
            let mut pose = base.skeleton.rest_pose();
            ELBOW.place(&base.skeleton, &[angle.to_radians()], &mut pose);
            Sculpt {
                name: format!("at {angle}"),
                pose,
                falloffs: vec![falloff.to_radians()],
                shape: vec![Delta {
                    index: 7,
                    value: DVec3::X,
                }],
            }
        };
        PsdLayer {
            sculpts: degrees.iter().map(sculpt).collect(),
            ..PsdLayer::new("elbow", vec![ELBOW])
        }
    }

    fn check(layer: PsdLayer) -> Vec<PsdFinding> {
        check_psd(&base(), &[layer], 1e-9).expect("it can be solved")
    }

    /// Every falloff times what was advised.
    fn advised(mut layer: PsdLayer, factor: f64) -> PsdLayer {
        for sculpt in &mut layer.sculpts {
            sculpt.falloffs.iter_mut().for_each(|f| *f *= factor);
        }
        layer
    }

    #[test]
    fn good_falloffs_give_no_findings() {
        let base = base();
        for (degrees, falloff) in [(&[90.0][..], 45.0), (&[60.0, 120.0], 30.0)] {
            let found = check(layer(&base, degrees, falloff));
            assert_eq!(found, [], "half the distance to the next pose");
        }
    }

    #[test]
    fn falloffs_that_overlap_are_found_and_the_advice_helps() {
        let base = base();
        let wide = layer(&base, &[20.0, 40.0, 60.0, 80.0, 100.0], 60.0);
        let found = check(wide.clone());
        let [
            PsdFinding::Overlap {
                poses,
                condition,
                falloff_factor,
                ..
            },
        ] = &found[..]
        else {
            panic!("one finding, not {found:?}");
        };
        assert!(*condition > 1e4, "{condition}");
        assert!(
            poses.iter().all(|p| p == "rest" || p.starts_with("at ")),
            "{poses:?}"
        );
        assert!((falloff_factor - 20.0 / 120.0).abs() < 1e-9, "to 10");
        assert_eq!(
            check(advised(wide, *falloff_factor)),
            [],
            "then all is well"
        );
    }

    #[test]
    fn a_coefficient_that_runs_away_is_found_and_the_advice_helps() {
        let base = base();
        // Two near each other, and a wide way to the third.
        let uneven = layer(&base, &[30.0, 50.0, 150.0], 40.0);
        let found = check(uneven.clone());
        let overshoot = found.iter().find_map(|finding| match finding {
            PsdFinding::Overshoot {
                coefficient,
                falloff_factor,
                ..
            } => Some((*coefficient, *falloff_factor)),
            _ => None,
        });
        let (coefficient, factor) = overshoot.unwrap_or_else(|| panic!("not {found:?}"));
        assert!(!(-0.25..=1.25).contains(&coefficient), "{coefficient}");
        let after = check(advised(uneven, factor));
        assert!(
            !after
                .iter()
                .any(|f| matches!(f, PsdFinding::Overshoot { .. })),
            "narrower: {after:?}"
        );
    }

    #[test]
    fn poses_that_are_only_held_have_no_hole_between_them() {
        let base = base();
        let lower = layer(&base, &[40.0, 80.0, 120.0], 20.0);
        let mut upper = layer(&base, &[-60.0], 30.0);
        upper.name = "upper".to_owned();
        upper.sculpts[0].name = "on top".to_owned();
        let found = check_psd(&base, &[lower, upper], 1e-9).expect("it can be solved");
        assert_eq!(found, [], "rest to at 40 to at 80 is nobody's business");
    }

    #[test]
    fn holes_between_poses_are_found_and_the_advice_helps() {
        let base = base();
        let narrow = layer(&base, &[60.0, 120.0], 12.0);
        let found = check(narrow.clone());
        let between = found.iter().find_map(|finding| match finding {
            PsdFinding::Hole {
                poses,
                sum,
                expected,
                falloff_factor,
                ..
            } if poses.iter().all(|p| p != "rest") => Some((*sum, *expected, *falloff_factor)),
            _ => None,
        });
        let (sum, expected, factor) = between.unwrap_or_else(|| panic!("not {found:?}"));
        assert!(sum < 0.5 && expected == 1.0, "{sum} of {expected}");
        assert_eq!(found.len(), 2, "and one on the way from rest: {found:?}");
        assert_eq!(check(advised(narrow, factor)), [], "then all is well");
    }

    #[test]
    fn sculpts_that_are_empty_moved_or_without_room_are_found() {
        let base = base();
        let mut first = layer(&base, &[90.0], 45.0);
        first.name = "first".to_owned();
        let mut second = layer(&base, &[90.0], 45.0);
        second.sculpts[0].name = "again".to_owned();
        second.sculpts[0].shape[0].value = DVec3::Y;
        let mut nothing = layer(&base, &[50.0], 25.0);
        nothing.name = "nothing".to_owned();
        nothing.sculpts[0].shape.clear();
        let layers = [first, second, nothing];
        let found = check_psd(&base, &layers, 1e-9).expect("it can be solved");
        let moved = found.iter().find_map(|finding| match finding {
            PsdFinding::Missed {
                sculpt,
                distance,
                moved_by,
                ..
            } => Some((sculpt.clone(), *distance, moved_by.clone())),
            _ => None,
        });
        let (sculpt, distance, by) = moved.unwrap_or_else(|| panic!("not {found:?}"));
        assert_eq!(
            (sculpt.as_str(), by.as_deref()),
            ("at 90", Some("elbow")),
            "who"
        );
        assert!(
            (distance - 2f64.sqrt()).abs() < 1e-9,
            "from X to Y: {distance}"
        );
        assert!(
            found.contains(&PsdFinding::Empty {
                layer: "nothing".to_owned(),
                sculpt: "at 50".to_owned(),
            }),
            "{found:?}"
        );

        // Half a turn folds the tube's middle flat.
        let folded = check(layer(&base, &[179.9], 90.0));
        let all: Vec<u32> = (0..base.vertex_count() as u32).collect();
        assert!(folded.len() <= 1, "vertex 7 may have room: {folded:?}");
        let mut whole = layer(&base, &[179.9], 90.0);
        whole.sculpts[0].shape = (all.iter())
            .map(|&index| Delta {
                index,
                value: DVec3::X,
            })
            .collect();
        let found = check(whole);
        assert!(
            matches!(&found[..], [PsdFinding::Flattened { vertices, .. }] if *vertices > 0),
            "{found:?}"
        );
    }
}
