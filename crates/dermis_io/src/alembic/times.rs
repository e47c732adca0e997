//! When samples were taken: evenly, in cycles, or at any times.

use crate::Fault;

/// The times of the samples of properties that share them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeSampling {
    /// Times of one cycle, or of all samples.
    stored: Vec<f64>,
    /// Seconds from one cycle to the next; `None` when all times are stored.
    per_cycle: Option<f64>,
}

/// What the format writes as the length of a cycle where there is none; files may hold any number near it.
const ACYCLIC: f64 = f64::MAX / 64.0;

impl TimeSampling {
    /// The times as a file stores them.
    pub(super) fn new(stored: Vec<f64>, per_cycle: f64) -> Self {
        Self {
            stored,
            per_cycle: (per_cycle < ACYCLIC).then_some(per_cycle),
        }
    }

    /// When sample number `index` was taken, in seconds.
    fn time(&self, index: usize) -> Option<f64> {
        match self.per_cycle {
            None => self.stored.get(index).copied(),
            Some(per_cycle) => {
                let count = self.stored.len();
                let start = self.stored.get(index.checked_rem(count)?)?;
                Some(start + per_cycle * (index / count) as f64)
            }
        }
    }

    /// The times of the first `count` samples, which never go back.
    pub(super) fn times(&self, count: usize, what: &str) -> Result<Vec<f64>, Fault> {
        let mut times = Vec::new();
        for index in 0..count {
            let time = self.time(index).ok_or_else(|| {
                let expected = format!("times of {count} samples");
                Fault::malformed(what, expected, self.stored.len().to_string())
            })?;
            if !time.is_finite() || times.last().is_some_and(|&last| time < last) {
                let expected = "a time that is not before that of the sample before it";
                let found = format!("{time} s at sample {index}");
                return Err(Fault::malformed(what, expected, found));
            }
            times.push(time);
        }
        Ok(times)
    }
}

/// Times that lie closer together than this many seconds are one: samplings of two objects are rounded differently.
const SAME_TIME: f64 = 1e-7;

/// All times of several lists in order, each once.
pub(super) fn united<'a>(lists: impl IntoIterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut all: Vec<f64> = lists.into_iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|next, kept| *next - *kept <= SAME_TIME);
    all
}

/// Samples around a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Around {
    /// The last sample that is not after the time, or the first one.
    pub(super) before: usize,
    /// The sample after it, and its share in what is shown at the time, where that is above 0.
    pub(super) after: Option<(usize, f64)>,
}

/// The samples around a time, of samples taken at `times` in order.
pub(super) fn around(times: &[f64], time: f64) -> Around {
    let next = times.partition_point(|&t| t <= time + SAME_TIME);
    let before = next.saturating_sub(1);
    let only = Around {
        before,
        after: None,
    };
    match (times.get(before), times.get(next)) {
        (Some(&from), Some(&to)) if next > before && time > from + SAME_TIME => Around {
            after: Some((next, (time - from) / (to - from))),
            ..only
        },
        _ => only,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_even_cyclic_or_stored() {
        let even = TimeSampling::new(vec![2.0], 0.5);
        assert_eq!(even.times(3, ""), Ok(vec![2.0, 2.5, 3.0]), "one per cycle");
        let cyclic = TimeSampling::new(vec![0.0, 0.25], 1.0);
        assert_eq!(
            cyclic.times(5, ""),
            Ok(vec![0.0, 0.25, 1.0, 1.25, 2.0]),
            "two per cycle"
        );
        let stored = TimeSampling::new(vec![0.0, 1.0, 5.0], f64::MAX / 32.0);
        assert_eq!(stored.times(2, ""), Ok(vec![0.0, 1.0]), "as stored");
    }

    #[test]
    fn times_that_are_missing_or_go_back_are_refused() {
        for (sampling, part) in [
            (
                TimeSampling::new(vec![0.0], f64::MAX / 32.0),
                "times of 2 samples",
            ),
            (TimeSampling::new(Vec::new(), 1.0), "times of 2 samples"),
            (TimeSampling::new(vec![0.0], -1.0), "-1 s at sample 1"),
            (TimeSampling::new(vec![0.0], f64::NAN), "times of 2 samples"),
            (
                TimeSampling::new(vec![f64::INFINITY], 1.0),
                "inf s at sample 0",
            ),
        ] {
            let message = sampling.times(2, "object /a").expect_err(part).to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn times_of_several_objects_are_united() {
        let lists = [vec![0.0, 1.0, 2.0], vec![0.5, 1.0 + 1e-12]];
        assert_eq!(united(&lists), [0.0, 0.5, 1.0, 2.0], "each once");
    }

    #[test]
    fn a_time_between_samples_has_a_share_of_both() {
        let times = [0.0, 1.0, 3.0];
        for (time, before, after) in [
            (-1.0, 0, None),
            (0.0, 0, None),
            (1.0 + 1e-12, 1, None),
            (1.0 - 1e-12, 1, None),
            (2.0, 1, Some((2, 0.5))),
            (9.0, 2, None),
        ] {
            let expected = Around { before, after };
            assert_eq!(around(&times, time), expected, "at {time}");
        }
        let none = Around {
            before: 0,
            after: None,
        };
        assert_eq!(around(&[], 1.0), none, "no samples");
    }
}
