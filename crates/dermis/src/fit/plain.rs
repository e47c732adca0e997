//! The stand-in that stock engines show for a skin that they do not support: the best linear blend skin.
//!
//! The stand-in is fitted to the skin's own positions in the relevant poses, by linear blending over the
//! bones that each vertex already has; rest positions are fitted too. Animation space can keep the girth of a
//! twisted limb and linear blending cannot, so the stand-in is no better than any linear blend skin;
//! [`exact_ssd`](super::exact_ssd) is exact, for more influences.

use glam::{DAffine3, DQuat, DVec3};

use super::FitError;
use super::ssd::{SsdOptions, fit_ssd_among};
use crate::example::{Example, ExampleSet};
use crate::mesh::TriMesh;
use crate::par;
use crate::progress::Progress;
use crate::rig::{Pose, Skeleton};
use crate::skin::{Skin, SsdProgram, VertexProgram};

/// Rounds of fitting rest positions and weights in turn. On the synthetic arm the first takes 17% off
/// the error, the next three 0.7%, and twelve more 0.05%.
const REST_ROUNDS: usize = 4;

/// Most poses that are fitted, evenly spaced among those given. A stand-in has at most four
/// weights and three coordinates per vertex, which far fewer poses determine.
const MOST_POSES: usize = 96;

/// How many poses are made up when none are given.
const MADE_UP_POSES: usize = 24;

/// The linear blend stand-in of a skin.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainFallback {
    /// Weights of at least 0 that sum to 1, and rest positions.
    pub program: SsdProgram,
    /// Root-mean-square distance to the skin over all vertices and poses, as a share of the rest
    /// box's diagonal.
    pub rms_error: f64,
    /// Largest such distance.
    pub max_error: f64,
}

/// Fits the linear blend skin that stock engines show in place of another skin.
///
/// `poses` are the poses to fit, such as the frames of the clips in the same file; without any, the rest pose
/// and a fixed set of joint turns are used. Each vertex keeps to the bones that it has. Linear blend skins
/// that have no more influences than allowed, and dual quaternion skins, whose weights are linear blend
/// weights already, are only measured.
///
/// The stand-in has no corrections: the skin's corrections act with the coefficients of each pose, and the
/// stand-in is fitted to the result.
///
/// ```
/// use dermis::fit::plain_fallback;
/// use dermis::progress::Silent;
///
/// let tube = dermis::synth::tube(&dermis::synth::TubeOptions {
///     ring_count: 10, segment_count: 8, bone_count: 2, example_count: 4,
/// });
/// let skin = tube.truth.to_linear()?;
/// let poses: Vec<_> = tube.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let plain = plain_fallback(&skin, &poses, 4, &Silent)?;
/// assert!(plain.max_error < 1e-6, "the skin is a linear blend skin");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FitError::BadOption`] for no influences, [`FitError::Skin`] for poses of another skeleton,
/// [`FitError::NothingToFit`] without bones, and [`FitError::Stopped`].
pub fn plain_fallback(
    skin: &Skin,
    poses: &[Pose],
    max_influences: usize,
    progress: &dyn Progress,
) -> Result<PlainFallback, FitError> {
    let made_up;
    let poses = if poses.is_empty() {
        made_up = made_up_poses(&skin.skeleton);
        &made_up
    } else {
        poses
    };
    let program = match &skin.program {
        VertexProgram::Ssd(ssd) if ssd.weights.longest() <= max_influences => ssd.clone(),
        VertexProgram::DualQuaternion(dual) => dual.weighted.clone(),
        _ => fit(skin, poses, max_influences, progress)?,
    };
    let plain = Skin {
        program: VertexProgram::Ssd(program),
        ..skin.clone()
    };
    let (rms_error, max_error) = differences(skin, &plain, poses)?;
    let VertexProgram::Ssd(program) = plain.program else {
        unreachable!("it was made above");
    };
    Ok(PlainFallback {
        program,
        rms_error,
        max_error,
    })
}

fn fit(
    skin: &Skin,
    poses: &[Pose],
    max_influences: usize,
    progress: &dyn Progress,
) -> Result<SsdProgram, FitError> {
    let rest = match &skin.program {
        VertexProgram::MultiWeight(multi) => multi.rest_positions.clone(),
        _ => skin.evaluate(&skin.skeleton.rest_pose())?,
    };
    let chosen: Vec<&Pose> = if poses.len() <= MOST_POSES {
        poses.iter().collect()
    } else {
        let at = |k: usize| &poses[k * (poses.len() - 1) / (MOST_POSES - 1)];
        (0..MOST_POSES).map(at).collect()
    };
    let targets = par::map(chosen.len(), |k| skin.evaluate(chosen[k]));
    let examples = chosen.iter().zip(targets).enumerate();
    let examples = examples
        .map(|(k, (pose, positions))| {
            Ok(Example {
                name: k.to_string(),
                // A pose may leave out bones that the skin computes, or give wrong values for them.
                pose: skin.complete_pose(pose)?,
                positions: positions?,
            })
        })
        .collect::<Result<Vec<_>, FitError>>()?;
    let training: Vec<usize> = (0..examples.len()).collect();
    // Candidates are given, so the fit does not use the triangles.
    let mesh = TriMesh::new(rest, Vec::new()).map_err(|source| {
        FitError::Examples(crate::example::ExampleError::Mesh {
            name: "rest".to_owned(),
            source,
        })
    })?;
    let set = ExampleSet::new(mesh, skin.skeleton.clone(), examples)?;
    let options = SsdOptions {
        max_influences,
        rest_rounds: REST_ROUNDS,
        ..SsdOptions::default()
    };
    let fitted = fit_ssd_among(&set, &training, &own_bones(skin), &options, progress)?;
    match fitted.skin.program {
        VertexProgram::Ssd(program) => Ok(program),
        _ => unreachable!("a linear blend fit makes a linear blend skin"),
    }
}

/// The bones of every vertex in rising order; for a vertex without any, the first of all.
fn own_bones(skin: &Skin) -> Vec<Vec<u16>> {
    let row = |bones: &mut dyn Iterator<Item = u16>| {
        let mut row: Vec<u16> = bones.collect();
        row.sort_unstable();
        row.dedup();
        if row.is_empty() {
            row.push(0);
        }
        row
    };
    match &skin.program {
        VertexProgram::Ssd(ssd) => (ssd.weights.iter())
            .map(|items| row(&mut items.iter().map(|w| w.bone.0)))
            .collect(),
        VertexProgram::DualQuaternion(dual) => (dual.weighted.weights.iter())
            .map(|items| row(&mut items.iter().map(|w| w.bone.0)))
            .collect(),
        VertexProgram::Linear(linear) => (linear.influences.iter())
            .map(|items| row(&mut items.iter().map(|i| i.bone.0)))
            .collect(),
        VertexProgram::MultiWeight(multi) => (multi.influences.iter())
            .map(|items| row(&mut items.iter().map(|i| i.bone.0)))
            .collect(),
    }
}

/// Root-mean-square and largest distance between two skins over some poses, as shares of the
/// diagonal of the first one's rest box.
pub(super) fn differences(a: &Skin, b: &Skin, poses: &[Pose]) -> Result<(f64, f64), FitError> {
    let diagonal = a.size()?;
    let apart = par::map(poses.len(), |k| -> Result<(f64, f64), FitError> {
        let (a, b) = (a.evaluate(&poses[k])?, b.evaluate(&poses[k])?);
        let squares = a.iter().zip(&b).map(|(a, b)| a.distance_squared(*b));
        Ok(squares.fold((0.0, 0.0f64), |(sum, most), d| (sum + d, most.max(d))))
    });
    let (mut sum, mut most) = (0.0, 0.0f64);
    for apart in apart {
        let (squares, largest) = apart?;
        sum += squares;
        most = most.max(largest);
    }
    let count = (poses.len() * a.vertex_count()).max(1) as f64;
    Ok(((sum / count).sqrt() / diagonal, most.sqrt() / diagonal))
}

/// The rest pose, and poses in which every joint is turned by up to 60° about an axis of its own.
///
/// They stand in where nothing is known of what a character does. Turns come from an additive sequence of three irrational
/// steps, which fills a cube evenly.
pub fn made_up_poses(skeleton: &Skeleton) -> Vec<Pose> {
    const STEPS: DVec3 = DVec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5);
    let rest = skeleton.rest_pose();
    let bent = (1..=MADE_UP_POSES).map(|k| {
        let mut pose = rest.clone();
        for (j, bone) in skeleton.bones().iter().enumerate() {
            // Turning a root turns the whole model, so it adds no information.
            if bone.parent.is_some() {
                let unit = (STEPS * (k + MADE_UP_POSES * j) as f64).fract() * 2.0 - 1.0;
                let turn = unit / 3f64.sqrt() * 60f64.to_radians();
                pose.parent_from_bone[j] *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
            }
        }
        pose
    });
    std::iter::once(rest.clone()).chain(bent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::skin::{DualQuaternionProgram, MultiWeight, MultiWeightProgram, Rows};
    use crate::synth::{Tube, TubeOptions, tube};

    fn small() -> Tube {
        tube(&TubeOptions {
            ring_count: 12,
            segment_count: 6,
            bone_count: 3,
            example_count: 12,
        })
    }

    fn poses(tube: &Tube) -> Vec<Pose> {
        let examples = tube.examples.examples().iter();
        examples.map(|e| e.pose.clone()).collect()
    }

    /// The tube's vectors, each moved by a little.
    fn disturbed(tube: &Tube, by: f64) -> Skin {
        let mut skin = tube.truth.to_linear().expect("linear blend is linear");
        if let VertexProgram::Linear(linear) = &mut skin.program {
            let mut n = 0.0;
            linear.influences = (linear.influences.iter())
                .map(|row| {
                    let row: Vec<_> = (row.iter())
                        .map(|i| {
                            n += 1.0;
                            let mut moved = *i;
                            let push = DVec3::new((n * 1.7f64).sin(), (n * 2.3).cos(), n.sin());
                            moved.p += (by * push).extend(0.0);
                            moved
                        })
                        .collect();
                    row
                })
                .collect();
        }
        skin
    }

    #[test]
    fn a_linear_blend_skin_is_recovered_from_its_vectors() {
        let tube = small();
        let linear = tube.truth.to_linear().expect("linear blend is linear");
        let plain = plain_fallback(&linear, &poses(&tube), 4, &Silent).expect("it fits");
        assert!(plain.max_error < 1e-6, "off by {}", plain.max_error);
        let (rms, max) = (plain.rms_error, plain.max_error);
        assert!(rms <= max, "the mean {rms} is at most the largest {max}");
    }

    #[test]
    fn a_stand_in_is_close_and_reports_its_error() {
        let tube = small();
        let skin = disturbed(&tube, 0.05);
        let poses = poses(&tube);
        let plain = plain_fallback(&skin, &poses, 4, &Silent).expect("it fits");
        let stand_in = Skin::new(
            skin.skeleton.clone(),
            VertexProgram::Ssd(plain.program.clone()),
            Vec::new(),
        )
        .expect("a skin");
        let (rms, max) = differences(&skin, &stand_in, &poses).expect("the poses fit");
        assert_eq!(
            (rms, max),
            (plain.rms_error, plain.max_error),
            "as measured"
        );
        // The rest mesh's own weights, without a fit, to compare with.
        let (unfitted, _) = differences(&skin, &tube.truth, &poses).expect("the poses fit");
        assert!(
            rms < 0.8 * unfitted && rms > 0.0,
            "{rms} against {unfitted} without a fit"
        );
        for row in plain.program.weights.iter() {
            let sum: f64 = row.iter().map(|w| w.weight).sum();
            assert!((sum - 1.0).abs() < 1e-12, "weights sum to {sum}");
            assert!(row.iter().all(|w| w.weight >= 0.0), "none is negative");
            assert!(row.len() <= 4, "at most four");
        }
    }

    #[test]
    fn one_influence_is_enough_to_fit_with() {
        let tube = small();
        let plain = plain_fallback(&disturbed(&tube, 0.01), &poses(&tube), 1, &Silent);
        let plain = plain.expect("it fits");
        assert_eq!(plain.program.weights.longest(), 1, "one bone each");
    }

    #[test]
    fn without_poses_joints_are_turned_and_the_stand_in_works_in_other_poses() {
        let tube = small();
        let linear = tube.truth.to_linear().expect("linear blend is linear");
        let plain = plain_fallback(&linear, &[], 4, &Silent).expect("it fits");
        let stand_in = Skin {
            program: VertexProgram::Ssd(plain.program),
            ..linear.clone()
        };
        let (_, max) = differences(&linear, &stand_in, &poses(&tube)).expect("the poses fit");
        assert!(max < 1e-6, "off by {max} in poses that were not made up");
    }

    #[test]
    fn other_programs_get_a_stand_in_too() {
        let tube = small();
        let VertexProgram::Ssd(ssd) = &tube.truth.program else {
            panic!("the tube is linear blend");
        };
        let influences: Rows<MultiWeight> = (ssd.weights.iter())
            .map(|row| {
                let twelve = |w: &crate::skin::Weight| MultiWeight {
                    bone: w.bone,
                    weights: [[w.weight; 4]; 3],
                };
                row.iter().map(twelve).collect::<Vec<_>>()
            })
            .collect();
        let with = |program| Skin {
            program,
            ..tube.truth.clone()
        };
        let multi = with(VertexProgram::MultiWeight(MultiWeightProgram {
            rest_positions: ssd.rest_positions.clone(),
            influences,
            corrections: Vec::new(),
        }));
        let plain = plain_fallback(&multi, &poses(&tube), 4, &Silent).expect("it fits");
        assert!(plain.max_error < 1e-6, "off by {}", plain.max_error);

        let dual = with(VertexProgram::DualQuaternion(DualQuaternionProgram {
            weighted: ssd.clone(),
        }));
        let plain = plain_fallback(&dual, &poses(&tube), 4, &Silent).expect("it is measured");
        assert_eq!(&plain.program, ssd, "its weights as they are");
        assert!(plain.max_error > 1e-3, "dual quaternions do not shrink");
    }
}
