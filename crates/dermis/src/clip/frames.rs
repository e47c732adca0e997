//! The times at which a clip is sampled: frames at a fixed rate, or its own keys.

use super::{Channel, Clip};
use crate::rig::RigError;

/// The largest number of frames at which a clip is sampled: nearly two days at 100 frames per second. Beyond it, glTF's
/// single-precision times cannot tell frames apart.
pub const MOST_FRAMES: usize = 1 << 24;

/// Times that differ by no more than this share of the largest count as one: rounding to single precision keeps only 24
/// bits.
const SAME_TIME: f64 = 4.0 / 16_777_216.0;

impl Clip {
    /// How many whole frames there are from the first key to the last, both included. For a clip of held poses, as
    /// [`Clip::from_held_poses`] makes it, the last key is not counted: it repeats the last pose.
    ///
    /// # Errors
    /// [`RigError::BadRate`] and [`RigError::TooManyFrames`].
    pub fn frame_count(&self, frames_per_second: f64) -> Result<usize, RigError> {
        if !(frames_per_second > 0.0 && frames_per_second.is_finite()) {
            return Err(RigError::BadRate {
                found: frames_per_second,
            });
        }
        // A floating-point number, because the count for two keys and a rate may overflow an integer.
        let frames = ((self.end() - self.start()) * frames_per_second).round() + 1.0;
        match frames <= MOST_FRAMES as f64 {
            true if self.ends_held() => Ok((frames as usize - 1).max(1)),
            true => Ok(frames as usize),
            false => Err(RigError::TooManyFrames {
                clip: self.name.clone(),
                frames_per_second,
                frames,
                most: MOST_FRAMES,
            }),
        }
    }

    /// Times of whole frames from the first key to the last, [`Clip::frame_count`] of them.
    ///
    /// # Errors
    /// As [`Clip::frame_count`].
    pub fn frame_times(&self, frames_per_second: f64) -> Result<Vec<f64>, RigError> {
        let (start, end) = (self.start(), self.end());
        let time = |k: usize| (start + k as f64 / frames_per_second).min(end);
        Ok((0..self.frame_count(frames_per_second)?)
            .map(time)
            .collect())
    }

    /// The times of all keys in rising order, in seconds. Times of several channels that differ only by rounding to
    /// single precision are listed once.
    pub fn key_times(&self) -> Vec<f64> {
        let channels = self.channels.iter();
        let mut times: Vec<f64> = channels.flat_map(Channel::times).copied().collect();
        times.sort_by(f64::total_cmp);
        let same = SAME_TIME * self.largest_time();
        times.dedup_by(|later, earlier| *later - *earlier <= same);
        times
    }

    fn largest_time(&self) -> f64 {
        self.start().abs().max(self.end().abs())
    }

    /// The frames per second at which all keys lie on whole frames, if there is such a rate; any number, such as 24 or
    /// 30.8.
    pub fn key_rate(&self) -> Option<f64> {
        let times = self.key_times();
        let gaps = || times.windows(2).map(|pair| pair[1] - pair[0]);
        let (shortest, longest) = (gaps().reduce(f64::min)?, gaps().reduce(f64::max)?);
        let (start, duration) = (times[0], times[times.len() - 1] - times[0]);
        // A single gap between single-precision times far from 0 has few exact digits; the sum of many has more.
        let step_count = match longest < 1.5 * shortest {
            true => (times.len() - 1) as f64,
            false => (duration / shortest).round(),
        };
        let rate = step_count / duration;
        // Rounded to a round number where the first and the last time cannot tell the two apart.
        let unsure = rate * SAME_TIME * self.largest_time() / duration;
        let is_near = |round: &f64| *round > 0.0 && (rate - round).abs() <= unsure;
        let round = [rate.round(), (rate * 1e3).round() / 1e3];
        let rate = round.into_iter().find(is_near).unwrap_or(rate);
        let on_frame = |&time: &f64| {
            let frame = (time - start) * rate;
            (frame - frame.round()).abs() < 0.02
        };
        times.iter().all(on_frame).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::clip::{Interpolation, Keys};
    use crate::rig::BoneId;

    /// A clip of two bones' keys at some frames, times rounded as files do.
    fn at_frames(rate: f64, frames: [&[f64]; 2]) -> Clip {
        let channel = |bone: u16, frames: &[f64]| {
            let times = frames.iter().map(|f| f64::from((f / rate) as f32));
            let keys = Keys {
                interpolation: Interpolation::Linear,
                times: times.collect(),
                values: vec![DVec3::ZERO; frames.len()],
            };
            Channel::Translation(BoneId(bone), keys)
        };
        Clip {
            name: "keys".to_owned(),
            channels: vec![channel(0, frames[0]), channel(1, frames[1])],
        }
    }

    #[test]
    fn the_rate_of_keys_on_whole_frames_is_found() {
        for rate in [
            1.0, 12.5, 23.976, 24.0, 29.97, 30.0, 30.8, 31.4, 59.94, 120.0, 1000.0,
        ] {
            for count in [2, 48, 3000] {
                let frames: Vec<f64> = (0..count).map(f64::from).collect();
                let clip = at_frames(rate, [&frames, &frames[..1]]);
                let found = clip.key_rate().expect("whole frames");
                assert!((found - rate).abs() < 1e-4 * rate, "{rate}: {found}");
                let times = clip.frame_times(found).expect("few frames");
                assert_eq!(times.len(), frames.len(), "{rate}: one for each key");
                for (time, key) in times.iter().zip(clip.channels[0].times()) {
                    let rounding = 1e-6 * key.max(1.0 / rate);
                    assert!((time - key).abs() <= rounding, "{rate}: {time} {key}");
                }
                assert_eq!(clip.key_times(), clip.channels[0].times(), "{rate}");
            }
        }
        let sparse = at_frames(30.8, [&[0.0, 1.0, 5.0], &[0.0, 8.0]]);
        assert_eq!(sparse.key_rate(), Some(30.8), "some frames without a key");
        assert_eq!(sparse.frame_count(30.8), Ok(9), "all frames");
        assert_eq!(sparse.key_times().len(), 4, "frames 0, 1, 5 and 8");
    }

    #[test]
    fn irregular_keys_have_times_and_no_rate() {
        let clip = at_frames(1.0, [&[0.0, 0.31, 1.0], &[0.5, 0.31000001, 2.7]]);
        assert_eq!(clip.key_rate(), None, "no frames");
        assert_eq!(clip.key_times().len(), 5, "two keys are one moment");
        assert_eq!(at_frames(1.0, [&[], &[]]).key_rate(), None, "no keys");
        assert_eq!(at_frames(1.0, [&[2.0], &[]]).key_rate(), None, "one key");
    }

    #[test]
    fn clips_with_too_many_frames_are_refused_before_memory_is_taken() {
        let clip = |end: f64| Clip {
            name: "run".to_owned(),
            channels: vec![Channel::Translation(
                BoneId(0),
                Keys {
                    interpolation: Interpolation::Linear,
                    times: vec![0.0, end],
                    values: vec![DVec3::ZERO, DVec3::X],
                },
            )],
        };
        let refused = |end: f64, rate: f64| {
            let error = clip(end).frame_times(rate).expect_err("refused");
            error.to_string()
        };
        let message = refused(1.0, 1e9);
        assert!(
            message.contains("would have 1000000001 frames"),
            "{message}"
        );
        let message = refused(1e9, 30.0);
        assert!(
            message.contains("would have 30000000001 frames"),
            "{message}"
        );
        assert!(
            refused(1.0, 1e300).contains("at most 16777216 are allowed"),
            "{}",
            refused(1.0, 1e300)
        );
        assert!(
            refused(1e300, 1e300).contains("inf frames"),
            "the count overflows"
        );
        for rate in [0.0, -24.0, f64::NAN, f64::INFINITY] {
            assert!(
                refused(1.0, rate).contains("above 0"),
                "{rate} frames per second"
            );
        }
        assert_eq!(clip(1e9).frame_count(1e-6), Ok(1001), "slowly enough");
        assert_eq!(clip(0.0).frame_count(1e300), Ok(1), "one key is one frame");
    }
}
