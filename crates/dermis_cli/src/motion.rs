//! Motions and poses: whether meshes follow each other in time, and the clip that shows them.

use std::path::PathBuf;

use dermis::rig::RigError;
use dermis::{Clip, Pose, Skeleton};
use dermis_io::{Document, Format, Frame};

use crate::talk::Talk;

/// Frames per second of a motion that does not say.
pub(crate) const FRAMES_PER_SECOND: f64 = 24.0;

/// Neighbours count as alike when their mean squared distance is below this share of that of any two meshes.
///
/// It is 1 for meshes in random order. Of our sequences without a frame rate, the eleven motions have at most 0.16
/// (the galloping horse; 0.003 the crane) and the six sets of poses at least 0.88 (cat, horse, face, hand, bodies).
const ALIKE: f64 = 0.25;

/// Frames per second of meshes that are a motion; `None` for poses that have nothing to do with each other.
///
/// A rate that was asked for or that the file has makes a motion, and so does a point cache. Other meshes are a
/// motion when each is much more like the next than like the others. Says what was assumed.
pub(crate) fn motion_rate(
    inputs: &[PathBuf],
    document: &Document,
    asked: Option<f64>,
    talk: &Talk,
) -> Option<f64> {
    let known = asked.or(document.frames_per_second);
    // One mesh is no motion, and nobody takes it for one.
    if known.is_some() || document.frames.len() < 2 {
        return known;
    }
    let is_cache = |path: &PathBuf| Format::of(path).is_ok_and(Format::is_point_cache);
    if inputs.iter().any(is_cache) || is_continuous(&document.frames) {
        return Some(FRAMES_PER_SECOND);
    }
    talk.remark(format!(
        "note: nothing says how fast the {} meshes follow each other, and neighbours are not much more alike \
         than others: they are taken for poses, a second each; --fps {FRAMES_PER_SECOND} would make a motion of them",
        document.frames.len()
    ));
    None
}

/// Whether neighbours are much more alike than any two meshes are.
fn is_continuous(frames: &[Frame]) -> bool {
    let squared = |a: &Frame, b: &Frame| -> f64 {
        let pairs = a.positions.iter().zip(&b.positions);
        pairs.map(|(a, b)| a.distance_squared(*b)).sum()
    };
    let count = frames.len() as f64;
    let steps = frames.windows(2).map(|pair| squared(&pair[0], &pair[1]));
    let steps = steps.sum::<f64>() / (count - 1.0);
    // Over all pairs the mean squared distance is twice the variance.
    let vertex_count = frames.first().map_or(0, |frame| frame.positions.len());
    let mut variance = 0.0;
    for i in 0..vertex_count {
        let places = frames.iter().map(|frame| frame.positions[i]);
        let mean = places.clone().sum::<glam::DVec3>() / count;
        variance += places.map(|p| p.distance_squared(mean)).sum::<f64>() / (count - 1.0);
    }
    steps < ALIKE * 2.0 * variance
}

/// The clip of some poses: a motion of that name, or, without a rate, `poses` that are each held for a second.
///
/// # Errors
/// As [`Clip::from_poses`].
pub(crate) fn clip_of(
    motion: &str,
    skeleton: &Skeleton,
    poses: &[Pose],
    rate: Option<f64>,
) -> Result<Clip, RigError> {
    match rate {
        Some(fps) => Clip::from_poses(motion, skeleton, poses, fps),
        None => Clip::from_held_poses("poses", skeleton, poses),
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn frames(at: impl Iterator<Item = f64>) -> Vec<Frame> {
        let frame = |x: f64| Frame {
            name: String::new(),
            positions: vec![DVec3::new(x, 0.0, 1.0), DVec3::new(0.0, 2.0 * x, x)],
        };
        at.map(frame).collect()
    }

    #[test]
    fn a_swing_is_a_motion_and_poses_in_any_order_are_none() {
        let swing = (0..24).map(|k| (f64::from(k) * 0.26).sin());
        assert!(is_continuous(&frames(swing)), "each is like the next");
        let any = (0..24).map(|k| (f64::from(k) * 0.618).fract());
        assert!(!is_continuous(&frames(any)), "each is unlike the next");
        assert!(
            !is_continuous(&frames([1.0].into_iter())),
            "one does not move"
        );
        assert!(
            !is_continuous(&frames([0.0, 1.0].into_iter())),
            "two say nothing"
        );
        assert!(!is_continuous(&[]), "nor do none");
    }

    #[test]
    fn a_frame_rate_or_a_point_cache_makes_a_motion() {
        let talk = Talk::new(true);
        let mut document = Document {
            frames: frames([0.0, 1.0, 0.0].into_iter()),
            ..Document::default()
        };
        let obj = [PathBuf::from("a.obj")];
        assert_eq!(motion_rate(&obj, &document, None, &talk), None, "poses");
        let asked = motion_rate(&obj, &document, Some(12.0), &talk);
        assert_eq!(asked, Some(12.0), "as asked");
        let cache = motion_rate(&[PathBuf::from("a.pc2")], &document, None, &talk);
        assert_eq!(cache, Some(24.0), "a cache is a motion");
        document.frames_per_second = Some(30.0);
        assert_eq!(
            motion_rate(&obj, &document, None, &talk),
            Some(30.0),
            "as in the file"
        );
    }
}
