//! Finds the keys of a channel that interpolation of the other keys reproduces.

use super::Keys;

/// The keys of a linear channel, and how to judge an approximation of them.
pub(super) struct Spans<'a, T, Off, Between> {
    pub(super) keys: &'a Keys<T>,
    /// The error, in model units, of showing a value at a key.
    pub(super) off: Off,
    /// The value that players show at part of the way between two values, at a key; `None` when players would disagree.
    pub(super) between: Between,
}

impl<T, Off, Between> Spans<'_, T, Off, Between>
where
    Off: Fn(usize, &T) -> f64,
    Between: Fn(&T, &T, f64, usize) -> Option<T>,
{
    /// The keys that are needed to stay within a tolerance, above 0, at all keys.
    pub(super) fn needed(&self, default: &T, tolerance: f64) -> Vec<usize> {
        let Keys { times, values, .. } = self.keys;
        let count = times.len();
        let stays_at = |value: &T| (0..count).all(|k| (self.off)(k, value) <= tolerance);
        if stays_at(default) {
            return Vec::new();
        }
        if stays_at(&values[0]) {
            return vec![0];
        }
        let mut kept = vec![0];
        let mut from = 0;
        while from + 1 < count {
            from = self.furthest(from, tolerance);
            kept.push(from);
        }
        kept
    }

    /// The furthest key, counted from `from`, such that the keys between the two are not needed.
    ///
    /// Doubles the distance while that works, then bisects. It may miss a longer span that works beyond one that fails;
    /// in return it takes n log n.
    fn furthest(&self, from: usize, tolerance: f64) -> usize {
        let last = self.keys.times.len() - 1;
        let (mut works, mut fails, mut length) = (from + 1, last + 1, 2);
        while works < last && fails > last {
            let to = (from + length).min(last);
            if self.is_within(from, to, tolerance) {
                works = to;
            } else {
                fails = to;
            }
            length *= 2;
        }
        while works + 1 < fails && works < last {
            let middle = works + (fails - works) / 2;
            if self.is_within(from, middle, tolerance) {
                works = middle;
            } else {
                fails = middle;
            }
        }
        works
    }

    /// Whether the keys between two others are not needed.
    fn is_within(&self, from: usize, to: usize, tolerance: f64) -> bool {
        let Keys { times, values, .. } = self.keys;
        (from + 1..to).all(|k| {
            let s = (times[k] - times[from]) / (times[to] - times[from]);
            let shown = (self.between)(&values[from], &values[to], s, k);
            shown.is_some_and(|value| (self.off)(k, &value) <= tolerance)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::Interpolation;

    /// Keys of numbers, judged by their difference.
    fn needed(values: &[f64], default: f64, tolerance: f64) -> Vec<usize> {
        let keys = Keys {
            interpolation: Interpolation::Linear,
            times: (0..values.len()).map(|k| k as f64).collect(),
            values: values.to_vec(),
        };
        let spans = Spans {
            keys: &keys,
            off: |k: usize, value: &f64| (value - values[k]).abs(),
            between: |a: &f64, b: &f64, s: f64, _: usize| Some(a + s * (b - a)),
        };
        spans.needed(&default, tolerance)
    }

    #[test]
    fn corners_are_kept_and_keys_on_a_line_are_dropped() {
        let saw = [0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 5.0];
        assert_eq!(
            needed(&saw, 9.0, 1e-9),
            [0, 3, 6, 9, 10],
            "corners and ends"
        );
        assert_eq!(needed(&[1.0; 5], 2.0, 0.1), [0], "still");
        assert_eq!(needed(&[1.0; 5], 1.05, 0.1), [0; 0], "at the default");
        assert_eq!(needed(&[1.0, 2.0], 1.0, 0.1), [0, 1], "both ends");
    }

    #[test]
    fn long_channels_are_spanned_in_few_steps() {
        let line: Vec<f64> = (0..5000).map(|k| k as f64).collect();
        assert_eq!(needed(&line, -1.0, 1e-6), [0, 4999], "one span");
        let bent: Vec<f64> = (0..5000).map(|k| f64::from((k - 3210i32).abs())).collect();
        assert_eq!(needed(&bent, -1.0, 1e-6), [0, 3210, 4999], "bisected");
    }
}
