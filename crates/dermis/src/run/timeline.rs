//! Where a time falls among keys, found quickly when it moves forwards.
//!
//! Key times stay in `f64`. The tracks of a baked clip share one list of times, so it costs nothing;
//! the key found is then the reference's own, and an hour-long clip is as smooth as a short one,
//! where `f32` seconds would leave steps of 0.2 ms.

/// How far to walk from the last key before searching all of them. Playing a clip keyed at 120
/// frames a second on a screen of 30 passes four keys per frame.
const NEAR_KEYS: usize = 4;

/// Two keys and how far to go from one to the other.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Position {
    /// The key at or before the time.
    pub(super) key: u32,
    /// The next key, or the same where a value is held.
    pub(super) next: u32,
    /// 0 at `key`, 1 at `next`; 0 where a value is held.
    pub(super) s: f32,
    /// Seconds between the two; 0 where a value is held.
    pub(super) span: f32,
}

/// Rising times that some tracks share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Timeline {
    /// In seconds, strictly rising, at least one.
    pub(super) times: Vec<f64>,
    /// Whether values are held from one key to the next.
    pub(super) step: bool,
}

impl Timeline {
    /// The position of a time; before the first and after the last key it is held there.
    ///
    /// `hint` is the key that an earlier call returned, or any other number: it changes only how long the
    /// search takes.
    pub(super) fn find(&self, time: f64, hint: u32) -> Position {
        let times = self.times.as_slice();
        let key = key_before(times, time, hint as usize);
        let (from, to) = (times[key], times.get(key + 1));
        match to {
            Some(to) if from <= time && !self.step => Position {
                key: key as u32,
                next: key as u32 + 1,
                s: ((time - from) / (to - from)) as f32,
                span: (to - from) as f32,
            },
            _ => Position {
                key: key as u32,
                next: key as u32,
                s: 0.0,
                span: 0.0,
            },
        }
    }
}

/// The last key that is not after the time, or the first key.
fn key_before(times: &[f64], time: f64, hint: usize) -> usize {
    // Playing forwards, it is the hint or the key after it. Which of the two is a coin toss that a
    // branch would lose half the time, so that choice is arithmetic; the branches after it hold.
    let mut key = match times.get(hint..hint.saturating_add(2)) {
        Some(&[_, next]) => hint + usize::from(next <= time),
        _ => hint.min(times.len() - 1),
    };
    if times[key] <= time {
        for _ in 0..NEAR_KEYS {
            match times.get(key + 1) {
                Some(&next) if next <= time => key += 1,
                _ => return key,
            }
        }
    }
    times.partition_point(|&t| t <= time).saturating_sub(1)
}

/// The time in `start..end` at which a loop of that stretch shows what `time` shows.
///
/// ```
/// use dermis::run::loop_time;
///
/// assert_eq!(loop_time(7.5, 1.0, 3.0), 1.5);
/// assert_eq!(loop_time(0.5, 1.0, 3.0), 2.5);
/// assert_eq!(loop_time(3.0, 1.0, 3.0), 1.0);
/// assert_eq!(loop_time(9.0, 1.0, 1.0), 1.0); // one key only
/// ```
pub fn loop_time(time: f64, start: f64, end: f64) -> f64 {
    let length = end - start;
    if length <= 0.0 {
        return start;
    }
    let looped = start + (time - start).rem_euclid(length);
    // A time a hair before the start rounds up to the end.
    if looped < end { looped } else { start }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(times: &[f64], step: bool) -> Timeline {
        Timeline {
            times: times.to_vec(),
            step,
        }
    }

    #[test]
    fn values_are_held_outside_the_keys_and_between_steps() {
        let linear = at(&[1.0, 2.0, 4.0], false);
        let held = |key| Position {
            key,
            next: key,
            s: 0.0,
            span: 0.0,
        };
        assert_eq!(linear.find(0.5, 0), held(0), "before the first");
        assert_eq!(linear.find(4.0, 0), held(2), "at the last");
        assert_eq!(linear.find(9.0, 0), held(2), "after the last");
        assert_eq!(linear.find(f64::NAN, 1), held(0), "no time at all");
        let between = Position {
            key: 1,
            next: 2,
            s: 0.25,
            span: 2.0,
        };
        assert_eq!(linear.find(2.5, 0), between, "a quarter of the way");
        assert_eq!(at(&[1.0, 2.0, 4.0], true).find(2.5, 0), held(1), "a step");
    }

    #[test]
    fn keys_closer_than_single_precision_stay_apart() {
        let times = [3600.0, 3600.0 + 1e-6, 3600.0 + 2e-6];
        let found = at(&times, false).find(3600.0 + 1.5e-6, 0);
        assert_eq!((found.key, found.next), (1, 2), "the second stretch");
        assert!((found.s - 0.5).abs() < 1e-3, "found {}", found.s);
    }

    proptest! {
        #[test]
        fn the_hint_does_not_change_the_result(
            steps in prop::collection::vec(0.01..1.0f64, 0..40),
            time in -1.0..30.0f64,
            hint in 0..60u32,
        ) {
            let mut times = vec![0.0];
            for step in steps {
                times.push(times[times.len() - 1] + step);
            }
            let naive = times.iter().rposition(|&t| t <= time).unwrap_or(0);
            let timeline = at(&times, false);
            for time in [time, times[naive]] {
                prop_assert_eq!(timeline.find(time, hint), timeline.find(time, 0));
                prop_assert_eq!(timeline.find(time, hint).key as usize, naive);
            }
        }

        #[test]
        fn a_looped_time_is_inside_and_whole_loops_away(
            time in -1e3..1e3f64,
            start in -10.0..10.0f64,
            length in 0.1..10.0f64,
        ) {
            let looped = loop_time(time, start, start + length);
            prop_assert!(looped >= start && looped < start + length);
            let loops = (time - looped) / length;
            prop_assert!((loops - loops.round()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_hair_before_the_start_loops_to_the_start() {
        assert_eq!(loop_time(-1e-20, 0.0, 2.0), 0.0, "not to the end");
    }
}
