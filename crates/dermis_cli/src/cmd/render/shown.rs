//! What is to be seen: the poses of a character, each as a mesh with a caption.

use anyhow::{Context, bail};
use dermis::document::FRAMES_PER_SECOND;
use dermis::limits::check_memory;
use dermis::progress::Progress;
use dermis::{Clip, Pose, Skin};
use dermis_io::{Document, Frame};
use dermis_render::glam::Vec3;

use super::super::{choose_clip, motion_rate, skin_of};
use super::plan::Kind;
use crate::hints::Explained;
use crate::input_args::MatchArgs;
use crate::render_args::RenderArgs;
use crate::report::single;
use crate::talk::{Talk, plural};

/// Moments on a sheet when nobody says how many.
const ON_A_SHEET: usize = 8;

/// A mesh to draw.
pub(super) struct Shot {
    /// One position for each point of the document.
    pub(super) positions: Vec<Vec3>,
    /// Such as `0.40 s`.
    pub(super) caption: String,
    /// When in the clip, in seconds.
    pub(super) time: Option<f64>,
}

/// The meshes to draw, and how fast they follow each other.
pub(super) struct Shown {
    pub(super) shots: Vec<Shot>,
    pub(super) frames_per_second: f64,
    /// The clip that they are of.
    pub(super) clip: Option<String>,
}

/// What a character can do.
enum Source<'a> {
    /// Nothing, or nothing that is asked for.
    Still,
    /// Poses that were given.
    Poses(&'a Skin, Vec<(String, Pose)>),
    /// A clip of a skin.
    Clip(&'a Skin, &'a Clip),
    /// Meshes that follow each other.
    Frames(&'a [Frame], f64),
}

/// A character as it stands when nothing moves it.
pub(super) fn standing(document: &Document) -> anyhow::Result<Vec<Vec3>> {
    Ok(match &document.skin {
        Some(skin) => single(&skin.evaluate(&skin.default_pose())?),
        None => single(document.mesh.positions()),
    })
}

/// Evaluates what was asked for.
pub(super) fn shown(
    args: &RenderArgs,
    document: &Document,
    kind: Kind,
    talk: &Talk,
) -> anyhow::Result<Shown> {
    let moves = kind != Kind::Single && !args.turntable;
    let source = source(args, document, moves, talk)?;
    let frames_per_second = args.fps.unwrap_or(match &source {
        Source::Frames(_, rate) => *rate,
        _ => FRAMES_PER_SECOND,
    });
    let moments = moments(&source, args, document, kind, frames_per_second)?;
    let points = document.mesh.vertex_count() as u64;
    let count = moments.len() as u64;
    let what = || format!("{} of {points} points", plural(moments.len(), "mesh"));
    // In the double precision of one at a time, and in the single precision of all.
    check_memory(&[count + 2, points, 12], what, "ask for fewer frames")
        .with_context(|| document.path.display().to_string())?;
    let mut shots = Vec::with_capacity(moments.len());
    for (k, moment) in moments.iter().enumerate() {
        talk.report("posing", k, moments.len());
        talk.check_stopped()?;
        shots.push(source.shot(*moment, document)?);
    }
    Ok(Shown {
        shots,
        frames_per_second,
        clip: match source {
            Source::Clip(_, clip) => Some(clip.name.clone()),
            _ => None,
        },
    })
}

fn source<'a>(
    args: &RenderArgs,
    document: &'a Document,
    moves: bool,
    talk: &Talk,
) -> anyhow::Result<Source<'a>> {
    let file = document.path.display();
    if let Some(path) = &args.poses {
        let skin = skin_of(document)?;
        let source = dermis_io::read_poses(path)?;
        let found = document
            .poses_from(&source)
            .explained(&MatchArgs::default())?;
        let names = source.frames.iter().map(|frame| frame.name.clone());
        return Ok(Source::Poses(skin, names.zip(found.poses).collect()));
    }
    if !args.pose.is_empty() {
        let skin = skin_of(document)?;
        let poses = args.pose.iter();
        let poses = poses.map(|text| Ok((text.clone(), skin.parse_pose(text)?)));
        return Ok(Source::Poses(skin, poses.collect::<anyhow::Result<_>>()?));
    }
    let wants_motion = moves || args.time.is_some();
    let is_clip = args.clip.is_some() || (wants_motion && !document.clips.is_empty());
    if is_clip {
        let clip = choose_clip(document, args.clip.as_deref())?;
        return Ok(Source::Clip(skin_of(document)?, clip));
    }
    match (wants_motion, &document.skin) {
        (true, _) if !document.frames.is_empty() => {
            // How fast meshes follow each other is no matter where they stand side by side.
            let rate = match args.frames.is_some() || args.fps.is_some() {
                true => motion_rate(document, args.fps, talk),
                false => document.motion_rate(None).frames_per_second,
            };
            // Poses that have nothing to do with each other are seen for a second each.
            Ok(Source::Frames(&document.frames, rate.unwrap_or(1.0)))
        }
        (true, Some(_)) => bail!(
            "{file}: has no clip to show: give poses with --pose or --poses, or leave out --time, --sheet and --frames"
        ),
        (true, None) => bail!(
            "{file}: is one mesh that does not move: leave out --time, --sheet and --frames, or show it from all around with \
             --turntable"
        ),
        (false, _) => Ok(Source::Still),
    }
}

/// What is shown of a source: a time in seconds, or the number of a pose; 0 where there is no choice.
fn moments(
    source: &Source<'_>,
    args: &RenderArgs,
    document: &Document,
    kind: Kind,
    rate: f64,
) -> anyhow::Result<Vec<f64>> {
    let file = document.path.display();
    let is_one = kind == Kind::Single || args.turntable;
    let numbers = |count: usize| (0..count).map(|k| k as f64).collect();
    let [start, end] = match source {
        Source::Still => return Ok(vec![0.0]),
        Source::Poses(_, poses) if is_one && poses.len() > 1 => bail!(
            "{file}: {} were given for one picture: --sheet shows them side by side",
            plural(poses.len(), "pose")
        ),
        Source::Poses(_, poses) => return Ok(numbers(poses.len())),
        Source::Clip(_, clip) => [clip.start(), clip.end()],
        Source::Frames(frames, own) => [0.0, (frames.len() - 1) as f64 / own],
    };
    if let Some(time) = args.time {
        if !is_one {
            bail!("--time is about one picture: leave it out of --sheet, --frames and .apng");
        }
        // Keys are in single precision.
        let rounding = 1e-6 * (1.0 + end.abs());
        if !(start - rounding..=end + rounding).contains(&time) {
            bail!("{file}: --time {time}: expected {start:.3} to {end:.3}, when the motion is");
        }
        return Ok(vec![time.clamp(start, end)]);
    }
    if is_one {
        return Ok(vec![start]);
    }
    if kind == Kind::Sheet {
        let count = args.count.unwrap_or(ON_A_SHEET);
        let steps = (count - 1).max(1) as f64;
        let moment = |k: usize| start + (end - start) * k as f64 / steps;
        return Ok((0..count).map(moment).collect());
    }
    match source {
        Source::Clip(_, clip) => (clip.frame_times(rate)).with_context(|| file.to_string()),
        _ => {
            // The frame nearest to each moment is shown; at their own rate that is each one.
            let count = ((end - start) * rate + 1e-6).floor() as usize + 1;
            let what = || plural(count, "frame");
            check_memory(&[count as u64, 12], what, "ask for fewer frames per second")?;
            Ok((0..count).map(|k| start + k as f64 / rate).collect())
        }
    }
}

impl Source<'_> {
    fn shot(&self, moment: f64, document: &Document) -> anyhow::Result<Shot> {
        let seconds = || format!("{moment:.2} s");
        let (positions, caption, time) = match self {
            Self::Still => (standing(document)?, String::new(), None),
            Self::Poses(skin, poses) => {
                let (name, pose) = &poses[moment as usize];
                (single(&skin.evaluate(pose)?), name.clone(), None)
            }
            Self::Clip(skin, clip) => {
                let positions = skin.evaluate(&skin.sample(clip, moment))?;
                (single(&positions), seconds(), Some(moment))
            }
            Self::Frames(frames, rate) => {
                let nearest = (moment * rate).round() as usize;
                let frame = &frames[nearest.min(frames.len() - 1)];
                (single(&frame.positions), frame.name.clone(), Some(moment))
            }
        };
        Ok(Shot {
            positions,
            caption,
            time,
        })
    }
}
