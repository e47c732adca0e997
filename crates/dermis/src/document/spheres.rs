//! Spheres around a character: in every legal pose, in its clips, and for engines.

use glam::DVec3;

use super::{AssumedPoses, BoundsRecord, Document, PartBounds};
use crate::bounds::{
    BoundsError, Holding, coefficient_ranges, complete_limits, enclose, extreme_poses,
    hold_vertices, sampled_ball,
};
use crate::joint::{JointLimits, LegalPoses, LimitExcess};
use crate::mesh::{Ball, enclosing_ball_of_balls};
use crate::rig::Pose;
use crate::skin::{ShownPoses, Skin, SkinError};

/// Farther outside, as a share of the radius, is no rounding.
const ROUNDING: f64 = 1e-6;

/// Legal poses that are looked for to see how loose a sphere is: found by search, and drawn.
const SEARCHED: usize = 400;
const SEARCHED_OF_PART: usize = 100;
const DRAWN: usize = 100;

/// The spheres of a skin, and what they were made from.
#[derive(Debug, Clone)]
pub struct Spheres {
    /// The spheres themselves.
    pub record: BoundsRecord,
    /// Radius around the poses of the clips, without the margin for what lies between.
    pub clips_radius: Option<f64>,
    /// Where clips and limits contradict each other, and why a sphere is missing: one sentence each.
    pub notes: Vec<String>,
    /// How far each coefficient goes; empty without `held`.
    ranges: Vec<[f64; 2]>,
    /// The balls of each vertex in every legal pose; `None` for skins that are no sums of matrices times vectors.
    held: Option<Vec<Holding>>,
    /// The points of each part, each once.
    parts: Vec<Vec<u32>>,
}

/// Radii of the smallest balls around legal poses: those that stretch the skin out, and drawn ones. No sphere for
/// legal poses can be smaller.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRadii {
    /// Of the whole skin; `None` where there is no sphere for legal poses.
    pub whole: Option<f64>,
    /// Of each part.
    pub parts: Vec<Option<f64>>,
}

impl Spheres {
    /// Makes the spheres of a document's skin.
    ///
    /// `shown` are the poses of [`Document::shown_poses`]; `limits` what joints may do, one for each bone that a pose
    /// moves, and `assumes` where that comes from.
    ///
    /// # Errors
    /// [`BoundsError`] for skins without a sphere for all legal poses, unless the document shows poses.
    pub fn new(
        document: &Document,
        skin: &Skin,
        shown: &[ShownPoses],
        limits: &[JointLimits],
        assumes: AssumedPoses,
    ) -> Result<Self, BoundsError> {
        let parts: Vec<Vec<u32>> = (document.draw.parts.iter())
            .map(|part| {
                let mut points = part.points.clone();
                points.sort_unstable();
                points.dedup();
                points
            })
            .collect();
        let mut targets: Vec<Option<&[u32]>> = vec![None];
        if parts.len() > 1 {
            targets.extend(parts.iter().map(|points| Some(&points[..])));
        }
        let mut notes = Vec::new();
        let mut exact = Model::new(skin, shown, &targets)?;
        let ranges = coefficient_ranges(skin, &document.clips);
        let held = ranges.and_then(|ranges| Ok((hold_vertices(skin, limits, &ranges)?, ranges)));
        let mut models = Vec::new();
        let mut all_ranges = Vec::new();
        match held {
            Ok((held, ranges)) => (exact.held, all_ranges) = (Some(held), ranges),
            Err(error) if !shown.is_empty() => notes.push(format!(
                "no sphere for all poses that the joints allow: {error}"
            )),
            Err(error) => return Err(error),
        }
        let is_bounded = exact.held.is_some();
        models.push(exact);
        let plain = document.plain_skin();
        if let Some(plain) = &plain {
            // Stock players show another shape, which may reach farther.
            let mut model = Model::new(plain, shown, &targets)?;
            if is_bounded {
                model.held = Some(hold_vertices(plain, limits, &all_ranges)?);
            }
            models.push(model);
        }
        let leaving = farthest_joint(document, skin, shown, limits);
        let legal: Vec<Option<Ball>> = (targets.iter())
            .map(|target| models[0].holding(*target).map(|held| enclose(&held)))
            .collect();
        let (culling, clips_leave) = culling(&models, shown, &targets, &legal, leaving.is_some())?;
        if clips_leave {
            let why = leaving.map_or(String::new(), |joint| format!(": {joint}"));
            notes.push(format!(
                "the clips leave the sphere for {}{why}; engines get a sphere that holds both",
                assumes.description()
            ));
        }
        let of_target = |n: usize| PartBounds {
            legal: legal[n],
            clips: models[0].clips.get(n).copied(),
            culling: culling[n],
        };
        let whole = of_target(0);
        let record = BoundsRecord {
            assumes,
            legal: whole.legal,
            clips: whole.clips,
            culling: whole.culling,
            parts: (0..parts.len())
                .map(|part| of_target(if parts.len() > 1 { part + 1 } else { 0 }))
                .collect(),
        };
        let exact = models.swap_remove(0);
        Ok(Self {
            record,
            ranges: all_ranges,
            clips_radius: exact.clips_radius,
            held: exact.held,
            parts,
            notes,
        })
    }

    /// Looks for legal poses that stretch the skin out, to see how much larger the spheres are than they must be.
    ///
    /// Takes the skin and the limits that the spheres were made of.
    ///
    /// # Errors
    /// As [`extreme_poses`].
    pub fn search(&self, skin: &Skin, limits: &[JointLimits]) -> Result<FoundRadii, BoundsError> {
        let Some(held) = &self.held else {
            return Ok(FoundRadii {
                whole: None,
                parts: vec![None; self.parts.len()],
            });
        };
        let all = complete_limits(skin, limits)?;
        let drawn: Vec<Pose> = LegalPoses::new(&skin.skeleton, &all, 0.5, 1)?
            .take(DRAWN)
            .collect();
        let radius = |points: Option<&[u32]>, searched: usize| {
            let mut poses = extreme_poses(skin, limits, &self.ranges, held, points, searched)?;
            poses.extend_from_slice(&drawn);
            Ok::<_, BoundsError>(Some(sampled_ball(skin, &poses, points)?.radius))
        };
        let whole = radius(None, SEARCHED)?;
        let parts = match &self.parts[..] {
            [_] => vec![whole],
            parts => (parts.iter())
                .map(|points| radius(Some(points), SEARCHED_OF_PART))
                .collect::<Result<_, _>>()?,
        };
        Ok(FoundRadii { whole, parts })
    }
}

/// A shape that is shown: the skin itself, or its plain stand-in.
struct Model<'a> {
    skin: &'a Skin,
    held: Option<Vec<Holding>>,
    /// Around each target in the clips, with a margin for what lies between samples; empty without clips.
    clips: Vec<Ball>,
    clips_radius: Option<f64>,
    margin: f64,
}

impl<'a> Model<'a> {
    fn new(
        skin: &'a Skin,
        shown: &[ShownPoses],
        targets: &[Option<&[u32]>],
    ) -> Result<Self, BoundsError> {
        let mut model = Self {
            skin,
            held: None,
            clips: Vec::new(),
            clips_radius: None,
            margin: 0.0,
        };
        let poses = ShownPoses::all(shown);
        if !poses.is_empty() {
            model.margin = between_samples(skin, shown)?;
            for target in targets {
                let ball = sampled_ball(skin, &poses, *target)?;
                model.clips_radius.get_or_insert(ball.radius);
                model.clips.push(Ball {
                    radius: ball.radius + model.margin,
                    ..ball
                });
            }
        }
        Ok(model)
    }

    /// The balls of a target's points.
    fn holding(&self, target: Option<&[u32]>) -> Option<Vec<Holding>> {
        let held = self.held.as_ref()?;
        Some(match target {
            None => held.clone(),
            Some(points) => points.iter().map(|&p| held[p as usize]).collect(),
        })
    }
}

/// What engines should cull each target by, where that is not the sphere for legal poses, and whether
/// clips are the reason anywhere.
fn culling(
    models: &[Model<'_>],
    shown: &[ShownPoses],
    targets: &[Option<&[u32]>],
    legal: &[Option<Ball>],
    poses_are_illegal: bool,
) -> Result<(Vec<Option<Ball>>, bool), BoundsError> {
    let is_replaced = models.len() > 1;
    let mut items: Vec<Vec<Holding>> = Vec::new();
    let mut spheres: Vec<Option<Ball>> = Vec::new();
    for (target, legal) in targets.iter().zip(legal) {
        let held = models.iter().filter_map(|model| model.holding(*target));
        let held = held.flatten().collect::<Vec<_>>();
        spheres.push(legal.map(|legal| match is_replaced {
            true => enclose(&held),
            false => legal,
        }));
        items.push(held);
    }
    if models[0].held.is_none() {
        // Nothing but clips is known.
        let around = |n: usize| {
            let balls: Vec<Ball> = models.iter().map(|model| model.clips[n]).collect();
            enclosing_ball_of_balls(&balls)
        };
        let all = (0..targets.len()).map(|n| is_replaced.then(|| around(n)));
        return Ok((all.collect(), false));
    }
    let mut is_left = vec![false; targets.len()];
    for model in models.iter().filter(|model| !model.clips.is_empty()) {
        // Legal poses are held between samples, too.
        let margin = match poses_are_illegal {
            true => model.margin,
            false => 0.0,
        };
        let centers: Vec<DVec3> = (spheres.iter())
            .map(|sphere| sphere.map_or(DVec3::ZERO, |sphere| sphere.center))
            .collect();
        let reaches = farthest_shown(model.skin, shown, targets, &centers)?;
        for (n, reach) in reaches.into_iter().enumerate() {
            let radius = spheres[n].map_or(0.0, |sphere| sphere.radius);
            if reach + margin > radius * (1.0 + ROUNDING) {
                items[n].push(Holding([model.clips[n]; 3]));
                is_left[n] = true;
            }
        }
    }
    let clips_leave = is_left.contains(&true);
    let all = (items.iter().zip(&is_left).zip(spheres)).map(|((items, is_left), sphere)| {
        match (is_left, is_replaced) {
            (true, _) => Some(enclose(items)),
            (false, true) => sphere,
            (false, false) => None,
        }
    });
    Ok((all.collect(), clips_leave))
}

/// How far points of some shown poses are from a centre, for each target: the numbers of its points, or all.
///
/// # Errors
/// [`SkinError`] when the poses are not the skin's.
pub fn farthest_shown(
    skin: &Skin,
    shown: &[ShownPoses],
    targets: &[Option<&[u32]>],
    centers: &[DVec3],
) -> Result<Vec<f64>, SkinError> {
    let mut farthest = vec![0f64; targets.len()];
    for pose in shown.iter().flat_map(|shown| &shown.poses) {
        let positions = skin.evaluate(pose)?;
        for ((most, target), center) in farthest.iter_mut().zip(targets).zip(centers) {
            let reach = |at: &DVec3| at.distance_squared(*center);
            let own = match target {
                None => positions.iter().map(reach).fold(0.0, f64::max),
                Some(points) => (points.iter())
                    .map(|&p| reach(&positions[p as usize]))
                    .fold(0.0, f64::max),
            };
            *most = most.max(own.sqrt());
        }
    }
    Ok(farthest)
}

/// How far a vertex may leave the line between two samples of a clip: twice what a parabola through
/// three samples does, none of which but the outer ones is a key.
fn between_samples(skin: &Skin, clips: &[ShownPoses]) -> Result<f64, SkinError> {
    let mut bent: f64 = 0.0;
    for clip in clips {
        let mut before: [Vec<DVec3>; 2] = [Vec::new(), Vec::new()];
        for (k, pose) in clip.poses.iter().enumerate() {
            let now = skin.evaluate(pose)?;
            if k >= 2 && !clip.is_key[k - 1] {
                let triples = before[0].iter().zip(&before[1]).zip(&now);
                let second = triples.map(|((a, b), c)| (*a - 2.0 * *b + *c).length());
                bent = second.fold(bent, f64::max);
            }
            before = [std::mem::take(&mut before[1]), now];
        }
    }
    // A parabola leaves its chord by an eighth of the second difference.
    Ok(2.0 * bent / 8.0)
}

/// The joint that leaves its limits most in the clips, in words; `None` when all stay within.
fn farthest_joint(
    document: &Document,
    skin: &Skin,
    shown: &[ShownPoses],
    limits: &[JointLimits],
) -> Option<String> {
    /// Smaller angles in radians, stretches, and slides as shares of what is there are rounding.
    const SMALL: f64 = 1e-4;
    let mut by_turn: Option<(f64, String)> = None;
    let mut by_other: Option<(f64, String)> = None;
    for (n, clip) in shown.iter().enumerate() {
        let in_clip = || match document.clips.get(n) {
            Some(clip) => format!("clip {}", clip.name),
            None => "the frames".to_owned(),
        };
        for pose in &clip.poses {
            for (joint, local) in limits.iter().zip(&pose.parent_from_bone) {
                let LimitExcess {
                    turn_rad,
                    slide,
                    stretch,
                } = joint.excess(local);
                let name = || &skin.skeleton.bones()[joint.bone.index()].name;
                if turn_rad > by_turn.as_ref().map_or(SMALL, |(most, _)| *most) {
                    let degrees = turn_rad.to_degrees();
                    let text = format!("joint {} turns {degrees:.1} degrees", name());
                    by_turn = Some((turn_rad, format!("{text} too far in {}", in_clip())));
                }
                let (size, verb) = (
                    joint.translation.length() + joint.translation_radius,
                    if stretch > SMALL {
                        "stretches"
                    } else {
                        "slides"
                    },
                );
                let other = (slide / size.max(f64::MIN_POSITIVE)).max(stretch);
                if other > by_other.as_ref().map_or(SMALL, |(most, _)| *most) {
                    let text = format!("joint {} {verb} too far in {}", name(), in_clip());
                    by_other = Some((other, text));
                }
            }
        }
    }
    by_turn.or(by_other).map(|(_, text)| text)
}
