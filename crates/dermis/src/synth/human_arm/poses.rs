//! The angles of the arm's joints, in examples and in motion.

use std::f64::consts::{PI, TAU};

/// Angles of the arm's joints, from rest, where the arm hangs 50 degrees below the horizontal, slightly bent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HumanArmPose {
    /// How far the arm is lifted sideways, in radians; -0.3 to 1.9 is what people do.
    pub raise_rad: f64,
    /// How far it then swings forwards, in radians; -0.4 to 1.4.
    pub swing_rad: f64,
    /// How far the upper arm turns about itself, in radians, outwards; -0.7 to 1.6.
    pub roll_rad: f64,
    /// How far the elbow is bent, in radians, beyond the 0.21 that it has at rest; -0.15 to 2.25.
    pub bend_rad: f64,
    /// How far the hand turns about the forearm, in radians; -1.2 to 2.6.
    pub turn_rad: f64,
    /// How far the fingers close, from 0 as at rest to 1 for a fist.
    pub grip: f64,
}

impl HumanArmPose {
    fn degrees([raise, swing, roll, bend, turn]: [f64; 5], grip: f64) -> Self {
        Self {
            raise_rad: raise.to_radians(),
            swing_rad: swing.to_radians(),
            roll_rad: roll.to_radians(),
            bend_rad: bend.to_radians(),
            turn_rad: turn.to_radians(),
            grip,
        }
    }

    /// Some of the way to another pose, 0 for none and 1 for all of it.
    fn towards(self, other: Self, share: f64) -> Self {
        let mix = |from: f64, to: f64| from + share * (to - from);
        Self {
            raise_rad: mix(self.raise_rad, other.raise_rad),
            swing_rad: mix(self.swing_rad, other.swing_rad),
            roll_rad: mix(self.roll_rad, other.roll_rad),
            bend_rad: mix(self.bend_rad, other.bend_rad),
            turn_rad: mix(self.turn_rad, other.turn_rad),
            grip: mix(self.grip, other.grip),
        }
    }
}

/// Least and largest of each angle of [`HumanArmPose`] in the examples, in degrees, and of the grip.
const RANGES: [(f64, f64); 6] = [
    (-12.0, 105.0),
    (-20.0, 75.0),
    (-35.0, 90.0),
    (-8.0, 128.0),
    (-65.0, 150.0),
    (0.0, 1.0),
];

/// Names and angles of the examples.
///
/// First each joint alone in four steps, as riggers test it, then 32 mixtures. Their angles come from a sequence
/// that never repeats and fills the ranges evenly, with half its steps at the ends, where skins fail.
pub(super) fn examples() -> Vec<(String, HumanArmPose)> {
    const NAMES: [&str; 5] = ["raise", "swing", "roll", "bend", "turn"];
    let mut result = Vec::new();
    for (joint, name) in NAMES.iter().enumerate() {
        let (least, most) = RANGES[joint];
        for share in [0.0, 0.4, 0.7, 1.0] {
            let mut angles = [0.0; 5];
            angles[joint] = least + share * (most - least);
            let name = format!("{name} {:.0}", angles[joint]);
            result.push((name, HumanArmPose::degrees(angles, 0.0)));
        }
    }
    // Powers of the root of x⁷ = x + 1 are as badly approximated by fractions as six numbers can be together.
    let root = (0..64).fold(1.0f64, |x, _| (1.0 + x).powf(1.0 / 7.0));
    for k in 0..32 {
        let part = |d: usize| {
            let even = (0.5 + f64::from(k + 1) * root.powi(-(d as i32 + 1))).fract();
            // Towards the ends.
            let ends = 0.5 - 0.5 * (PI * even).cos();
            let (least, most) = RANGES[d];
            least + 0.5 * (even + ends) * (most - least)
        };
        let angles = [part(0), part(1), part(2), part(3), part(4)];
        let name = format!("mixture {}", k + 1);
        result.push((name, HumanArmPose::degrees(angles, part(5))));
    }
    result
}

/// Seconds of the motion.
const SECONDS: f64 = 4.0;

/// Angles in degrees, and the grip, that the motion passes through, at equal steps; it ends where it begins.
const WAY: [([f64; 5], f64); 6] = [
    ([4.0, 4.0, 2.0, 6.0, 4.0], 0.10),
    ([48.0, 6.0, 40.0, 14.0, 134.0], 0.10),
    ([62.0, 4.0, 82.0, 122.0, 88.0], 0.95),
    ([97.0, 8.0, 58.0, 30.0, -44.0], 0.15),
    ([52.0, 20.0, 62.0, 66.0, 142.0], 0.05),
    ([22.0, 10.0, 34.0, 34.0, 64.0], 0.45),
];

/// Poses of the motion, one per frame; after the last one comes the first.
pub(super) fn motion(frames_per_second: f64) -> Vec<HumanArmPose> {
    let frame_count = (SECONDS * frames_per_second).round().max(1.0) as usize;
    let way = WAY.map(|(angles, grip)| HumanArmPose::degrees(angles, grip));
    (0..frame_count)
        .map(|k| {
            let place = way.len() as f64 * k as f64 / frame_count as f64;
            let (n, t) = (place as usize, place.fract());
            // Slow at each point of the way, but never still.
            let eased = t - 0.7 / TAU * (TAU * t).sin();
            way[n].towards(way[(n + 1) % way.len()], eased)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn angles(pose: &HumanArmPose) -> [f64; 6] {
        [
            pose.raise_rad,
            pose.swing_rad,
            pose.roll_rad,
            pose.bend_rad,
            pose.turn_rad,
            pose.grip,
        ]
    }

    fn apart(a: &HumanArmPose, b: &HumanArmPose) -> f64 {
        let pairs = angles(a).into_iter().zip(angles(b));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn no_pose_is_there_twice() {
        let all = examples();
        assert!((40..=60).contains(&all.len()), "{} examples", all.len());
        for (k, (name, pose)) in all.iter().enumerate() {
            for (other_name, other) in &all[..k] {
                assert!(apart(pose, other) > 0.02, "{name} is {other_name}");
            }
            for moving in motion(24.0) {
                assert!(apart(pose, &moving) > 0.02, "{name} is in the motion");
            }
        }
    }

    #[test]
    fn the_motion_stays_within_the_examples_ranges_and_flows() {
        let frames = motion(30.0);
        for (k, pose) in frames.iter().enumerate() {
            for (value, (least, most)) in angles(pose).into_iter().zip(RANGES).take(5) {
                let degrees = value.to_degrees();
                assert!((least..=most).contains(&degrees), "frame {k}: {degrees}");
            }
            let next = &frames[(k + 1) % frames.len()];
            // The hand turns by 186 degrees in 20 frames, at most 1.7 times as fast as in the mean.
            assert!(apart(pose, next) < 0.28, "frame {k} jumps");
        }
    }
}
