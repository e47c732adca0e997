//! The conclusion of a comparison in one sentence, for people who read no further.

use super::advice::{Entry, ROUNDING, capitalized, short, with_numbers};
use super::{DecomposedNumbers, DecompositionComparison, DecompositionRow, RowNumbers, RowSummary};

/// Errors of this `E_RMS` are about a pixel when the mesh fills a window of 1000: hard to see.
const HARD_TO_SEE: f64 = 1.0;
/// Of methods whose errors differ by less than this factor, the smaller one wins.
const AS_GOOD: f64 = 1.01;

/// Which method wins for stock engines and which for dermis' own run-time, by how much and at what size; and whether
/// any is good enough. `None` when no method has numbers.
///
/// Methods that distort a character which faces another way than in the examples win only where there are no others:
/// held-out examples seldom show it.
pub fn verdict(rows: &[RowSummary]) -> Option<String> {
    let all = with_numbers(rows);
    let turns = |(row, _): &&Entry<'_>| row.turns_with_the_character;
    let safe: Vec<Entry<'_>> = all.iter().filter(turns).copied().collect();
    let rows = if safe.is_empty() { all } else { safe };
    let in_engines = |c: &RowNumbers| c.engine_e_rms;
    let itself = |c: &RowNumbers| c.tested_e_rms;
    let stock = winner(&rows, in_engines)?;
    let own = winner(&rows, itself)?;
    let where_ = match own.1.is_held_out {
        true => "on held-out examples",
        false => "on the examples that it was fitted to",
    };
    let bytes = |c: &RowNumbers| format!("{:.0} bytes per vertex", c.bytes_per_vertex);
    let is_one = stock.0.label == own.0.label && in_engines(stock.1) <= AS_GOOD * itself(own.1);
    let mut text = match is_one {
        true => format!(
            "{} wins, for stock engines and for dermis' own run-time: {} {where_}{}, at most {:.2}% of the size off, \
             at {}",
            capitalized(&own.0.title),
            error(itself(own.1)),
            lead(&rows, own, itself),
            100.0 * own.1.tested_max_distance,
            bytes(own.1)
        ),
        false => format!(
            "For stock engines {} wins: {} {where_}{}, at {}; for dermis' own run-time {}: {}{}, at {}",
            stock.0.title,
            error(in_engines(stock.1)),
            lead(&rows, stock, in_engines),
            bytes(stock.1),
            own.0.title,
            error(itself(own.1)),
            lead(&rows, own, itself),
            bytes(own.1)
        ),
    };
    text += &match (
        itself(own.1) > HARD_TO_SEE,
        in_engines(stock.1) > HARD_TO_SEE,
    ) {
        (true, _) => format!(
            ". No method is within E_RMS {HARD_TO_SEE}, below which errors are hard to see."
        ),
        (false, true) => format!(
            ". In stock engines none is within E_RMS {HARD_TO_SEE}, below which errors are hard to see."
        ),
        (false, false) => ".".to_owned(),
    };
    if own.1.is_torn {
        text += &format!(" But {} tears the mesh.", own.0.title);
    }
    Some(text)
}

impl DecompositionComparison {
    /// Which skin wins, and which way when a player of its own may be written; `None` when no way has numbers.
    pub fn verdict(&self) -> Option<String> {
        let error = |way: &DecomposedNumbers| way.numbers.e_rms;
        let least = |playable: bool| {
            self.decomposed()
                .filter(|(_, way)| !playable || way.playback.is_some())
                .min_by(|(_, a), (_, b)| error(a).total_cmp(&error(b)))
        };
        let describe = |(row, way): (&DecompositionRow, &DecomposedNumbers)| {
            let numbers = &way.numbers;
            format!(
                "{} wins with E_RMS {:.3} at {:.0} bytes per vertex",
                row.key, numbers.e_rms, numbers.bytes_per_vertex
            )
        };
        let skin = least(true);
        let any = least(false)?;
        let stock = match skin {
            Some(skin) => format!("For stock engines {}", describe(skin)),
            None => "Nothing here plays in stock engines".to_owned(),
        };
        let own = match skin {
            Some((row, _)) if row.key == any.0.key => String::new(),
            _ => format!("; with a player of one's own {}", describe(any)),
        };
        let seen = match skin {
            Some((_, way)) if error(way) > 1.0 => {
                ". No skin is within E_RMS 1, below which errors are hard to see."
            }
            _ => ".",
        };
        Some(format!("{stock}{own}{seen}"))
    }
}

/// The method of the lowest error; of those that are as good, the smallest.
fn winner<'a>(rows: &[Entry<'a>], error: impl Fn(&RowNumbers) -> f64) -> Option<Entry<'a>> {
    let least = rows
        .iter()
        .map(|(_, c)| error(c))
        .fold(f64::INFINITY, f64::min);
    let bytes = |c: &RowNumbers| c.bytes_per_vertex;
    rows.iter()
        .filter(|(_, c)| error(c) <= (AS_GOOD * least).max(ROUNDING))
        .min_by(|(_, a), (_, b)| bytes(a).total_cmp(&bytes(b)))
        .copied()
}

fn error(e_rms: f64) -> String {
    match e_rms < ROUNDING {
        true => "exact up to rounding".to_owned(),
        false => format!("E_RMS {}", short(e_rms)),
    }
}

/// By how much the winner is ahead: of linear blend skinning, which everybody has, else of the next.
fn lead(rows: &[Entry<'_>], best: Entry<'_>, error: impl Fn(&RowNumbers) -> f64) -> String {
    let least = error(best.1);
    let others = || rows.iter().filter(|(row, _)| row.label != best.0.label);
    let usual = others().find(|(row, _)| row.label == "ssd");
    let next = others().min_by(|(_, a), (_, b)| error(a).total_cmp(&error(b)));
    match usual.or(next) {
        Some((row, c)) if least >= ROUNDING && error(c) > 1.05 * least => {
            let times = error(c) / least;
            let digits = if times < 10.0 { 1 } else { 0 };
            format!(", {times:.digits$} times lower than {}", row.title)
        }
        Some((row, c)) if least >= ROUNDING && error(c) >= least => {
            format!(", no better than {}", row.title)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::advice::tests::rows;

    #[test]
    fn one_winner_is_named_once_with_its_lead_and_its_size() {
        let found = rows(&[
            ("ssd", [2.0, 2.1], 30.0),
            ("pseudo-bones", [0.5, 0.7], 36.0),
        ]);
        let verdict = found.verdict().expect("two methods");
        for part in [
            "Linear blend skinning with pseudo-bones wins, for stock engines and for dermis' own run-time",
            "E_RMS 0.700 on held-out examples, 3.0 times lower than linear blend skinning",
            "at 36 bytes per vertex.",
        ] {
            assert!(verdict.contains(part), "{part} in {verdict}");
        }
    }

    #[test]
    fn of_equally_good_methods_the_smaller_wins() {
        let found = rows(&[
            ("pseudo-bones", [0.5, 0.7], 90.0),
            ("ssd", [0.5, 0.703], 30.0),
        ]);
        let verdict = found.verdict().expect("two methods");
        assert!(
            verdict.starts_with("Linear blend skinning wins"),
            "{verdict}"
        );
    }

    #[test]
    fn a_method_that_cannot_turn_the_character_does_not_win() {
        let found = rows(&[("ssd", [0.8, 0.9], 30.0), ("mwe", [0.1, 0.2], 200.0)]);
        let verdict = found.verdict().expect("two methods");
        assert!(
            verdict.starts_with("Linear blend skinning wins"),
            "{verdict}"
        );
    }

    #[test]
    fn that_no_method_is_good_enough_is_said() {
        let found = rows(&[("ssd", [4.0, 5.0], 30.0)]);
        let verdict = found.verdict().expect("a method");
        assert!(verdict.contains("No method is within E_RMS 1"), "{verdict}");
        let good = rows(&[("ssd", [0.4, 0.5], 30.0)]);
        let verdict = good.verdict().expect("a method");
        assert!(!verdict.contains("No method"), "{verdict}");
    }
}
