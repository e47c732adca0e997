//! Motions and poses: whether meshes follow each other in time, and the clip that shows them.

use super::{Document, Frame, Note};
use crate::clip::Clip;
use crate::rig::{Pose, RigError, Skeleton};

/// Frames per second of a motion that does not say.
pub const FRAMES_PER_SECOND: f64 = 24.0;

/// Neighbours count as alike when their mean squared distance is below this share of that of any two meshes.
///
/// It is 1 for meshes in random order. Of our sequences without a frame rate, the eleven motions have at most 0.16
/// (the galloping horse; 0.003 the crane) and the six sets of poses at least 0.88 (cat, horse, face, hand, bodies).
const ALIKE: f64 = 0.25;

/// How fast meshes follow each other, and what had to be assumed.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionRate {
    /// Frames per second of a motion; `None` for poses that have nothing to do with each other.
    pub frames_per_second: Option<f64>,
    /// What was assumed.
    pub note: Option<Note>,
}

impl Document {
    /// How fast the frames follow each other if they are a motion.
    ///
    /// A rate that was asked for or that the document has makes a motion, and so does a point cache
    /// ([`Document::is_motion`]). Other meshes are a motion when each is much more like the next than like the
    /// others. Motions without a rate have [`FRAMES_PER_SECOND`].
    pub fn motion_rate(&self, asked: Option<f64>) -> MotionRate {
        let known = asked.or(self.frames_per_second);
        let without_note = |frames_per_second| MotionRate {
            frames_per_second,
            note: None,
        };
        // One mesh is no motion, and nobody takes it for one.
        if known.is_some() || self.frames.len() < 2 {
            return without_note(known);
        }
        if self.is_motion || is_continuous(&self.frames) {
            return without_note(Some(FRAMES_PER_SECOND));
        }
        MotionRate {
            frames_per_second: None,
            note: Some(Note::TakenForPoses {
                mesh_count: self.frames.len(),
            }),
        }
    }
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
pub fn clip_of(
    motion: &str,
    skeleton: &Skeleton,
    poses: &[Pose],
    frames_per_second: Option<f64>,
) -> Result<Clip, RigError> {
    match frames_per_second {
        Some(rate) => Clip::from_poses(motion, skeleton, poses, rate),
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
        let mut document = Document {
            frames: frames([0.0, 1.0, 0.0].into_iter()),
            ..Document::default()
        };
        let poses = document.motion_rate(None);
        assert_eq!(poses.frames_per_second, None, "poses");
        assert_eq!(
            poses.note,
            Some(Note::TakenForPoses { mesh_count: 3 }),
            "it says so"
        );
        let asked = document.motion_rate(Some(12.0));
        assert_eq!(asked.frames_per_second, Some(12.0), "as asked");
        assert_eq!(asked.note, None, "nothing was assumed");
        document.is_motion = true;
        let cache = document.motion_rate(None).frames_per_second;
        assert_eq!(cache, Some(24.0), "a cache is a motion");
        document.frames_per_second = Some(30.0);
        let own = document.motion_rate(None).frames_per_second;
        assert_eq!(own, Some(30.0), "as in the file");
    }
}
