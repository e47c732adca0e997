//! Round numbers for axes and legends.
//!
//! A linear axis gets steps of 1, 2, 2.5 or 5 times a power of ten; a logarithmic axis gets powers of ten,
//! with 2 and 5 between them when there are few. Labels of one axis share their number of decimals.

/// A place on an axis and the number written there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// About `target` round numbers within `[low, high]`, in rising order.
///
/// Empty when the range is empty or not finite.
pub(crate) fn linear_ticks(low: f64, high: f64, target: usize) -> Vec<Tick> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return Vec::new();
    }
    let step = round_step(span / target.max(1) as f64);
    // A hair of slack, so that 0.3 is not lost to 0.30000000000000004.
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let decimals = decimals_for(step);
    let largest = low.abs().max(high.abs());
    (first..=last)
        .map(|i| {
            let value = i as f64 * step;
            Tick {
                value,
                label: tick_label(value, decimals, largest),
            }
        })
        .collect()
}

/// Ticks of a logarithmic axis within `[low, high]`; empty unless `0 < low < high`.
pub(crate) fn log_ticks(low: f64, high: f64) -> Vec<Tick> {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Vec::new();
    }
    let (first, last) = (
        (low.log10() + 1e-9).floor() as i32,
        (high.log10() - 1e-9).ceil() as i32,
    );
    let decades = last - first;
    let factors: &[f64] = if decades <= 3 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let stride = (decades / 8 + 1) as usize;
    let slack = 1.0 + 1e-9;
    let ticks: Vec<Tick> = (first..=last)
        .step_by(stride)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(|value| (low / slack..=high * slack).contains(value))
        .map(|value| Tick {
            value,
            label: number_label(value),
        })
        .collect();
    // Less than a decade can miss all of 1, 2 and 5; an axis needs two numbers to be read.
    if ticks.len() < 2 {
        return linear_ticks(low, high, 4);
    }
    ticks
}

/// The smallest round number that is at least `value`: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten.
pub(crate) fn round_up(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 0.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let fraction = value / power;
    let round = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .find(|&candidate| fraction <= candidate * (1.0 + 1e-9))
        .unwrap_or(10.0);
    round * power
}

/// A number as short as it can be with four significant digits: `0.25`, `1200`, `3e-6`.
pub(crate) fn number_label(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = value.abs();
    if value != 0.0 && !(1e-4..1e6).contains(&magnitude) {
        return trim_exponent(&format!("{value:.3e}"));
    }
    let digits_before = if magnitude >= 1.0 {
        magnitude.log10().floor() as i32 + 1
    } else {
        0
    };
    let leading_zeros = if magnitude > 0.0 && magnitude < 1.0 {
        -(magnitude.log10().floor() as i32) - 1
    } else {
        0
    };
    let decimals = (4 - digits_before + leading_zeros).max(0) as usize;
    with_minus(trim_zeros(&format!("{value:.decimals$}")))
}

fn tick_label(value: f64, decimals: usize, largest: f64) -> String {
    if largest >= 1e6 || decimals > 5 {
        if value == 0.0 {
            "0".to_owned()
        } else {
            trim_exponent(&format!("{value:.3e}"))
        }
    } else {
        with_minus(&format!("{value:.decimals$}"))
    }
}

/// The round step nearest to `raw` from above.
fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let fraction = raw / power;
    let factor = [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .find(|&f| fraction <= f * (1.0 + 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Decimals that write every multiple of a round step exactly.
fn decimals_for(step: f64) -> usize {
    (0..12)
        .find(|&d| {
            let scaled = step * 10f64.powi(d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .unwrap_or(12) as usize
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

fn trim_exponent(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    with_minus(&format!("{}e{exponent}", trim_zeros(mantissa)))
}

/// A typographic minus, as wide as the digits; "-0" loses its sign.
fn with_minus(text: &str) -> String {
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if is_zero {
        text.replace('-', "")
    } else {
        text.replace('-', "−")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_inside() {
        assert_eq!(
            labels(&linear_ticks(0.0, 1.0, 5)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"],
            "fifths"
        );
        assert_eq!(
            labels(&linear_ticks(0.0, 0.3, 3)),
            ["0.0", "0.1", "0.2", "0.3"],
            "the end is not lost"
        );
        assert_eq!(
            labels(&linear_ticks(-1.0, 1.0, 4)),
            ["−1.0", "−0.5", "0.0", "0.5", "1.0"],
            "both signs"
        );
        assert_eq!(
            labels(&linear_ticks(3.0, 118.0, 5)),
            ["25", "50", "75", "100"],
            "quarters"
        );
        assert_eq!(
            labels(&linear_ticks(0.0, 2e-7, 2)),
            ["0", "1e−7", "2e−7"],
            "tiny ranges"
        );
    }

    #[test]
    fn empty_and_infinite_ranges_have_no_ticks() {
        for (low, high) in [
            (1.0, 1.0),
            (2.0, 1.0),
            (0.0, f64::NAN),
            (0.0, f64::INFINITY),
        ] {
            assert_eq!(linear_ticks(low, high, 5), [], "{low}..{high}");
            assert_eq!(log_ticks(low, high), [], "{low}..{high}");
        }
        assert_eq!(log_ticks(0.0, 1.0), [], "zero is not on a logarithmic axis");
    }

    #[test]
    fn log_ticks_follow_the_decades() {
        assert_eq!(
            labels(&log_ticks(0.01, 1.0)),
            ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"],
            "few"
        );
        assert_eq!(
            labels(&log_ticks(1e-3, 1e2)),
            ["0.001", "0.01", "0.1", "1", "10", "100"],
            "many"
        );
        assert_eq!(
            labels(&log_ticks(2.1, 4.9)),
            ["3", "4"],
            "less than one decade"
        );
    }

    #[test]
    fn rounding_up_never_goes_below() {
        for value in [1e-9, 0.013, 0.99, 1.0, 1.01, 7.3, 9.9, 12345.0] {
            let rounded = round_up(value);
            assert!(
                rounded >= value * (1.0 - 1e-9) && rounded <= value * 1.6,
                "{value} gives {rounded}"
            );
        }
        assert_eq!(round_up(-1.0), 0.0, "nothing to round");
    }

    #[test]
    fn numbers_are_written_short() {
        let written: Vec<String> = [0.0, -0.0, 0.25, 1200.0, -3.5, 3e-6, 1.0 / 3.0]
            .map(number_label)
            .to_vec();
        assert_eq!(
            written,
            ["0", "0", "0.25", "1200", "−3.5", "3e−6", "0.3333"],
            "labels"
        );
    }
}
