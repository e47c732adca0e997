//! Conclusions from the numbers of a comparison, in sentences.

use serde::{Deserialize, Serialize};

use super::{Compared, Comparison, ComparisonRow, Playback, verdict};

/// Errors below this `E_RMS` are rounding, and their ratios mean nothing.
pub(super) const ROUNDING: f64 = 1e-3;
/// Held-out error over training error from which a method counts as overfitting.
const OVERFIT: f64 = 1.5;
/// Error over the lowest within which a cheaper method is worth naming.
const NEARLY_AS_GOOD: f64 = 1.1;

/// The numbers of a row that conclusions are drawn from: as much as a later comparison needs of an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowSummary {
    /// As [`ComparisonRow::label`].
    pub label: String,
    /// As [`ComparisonRow::title`].
    pub title: String,
    /// As [`Method::turns_with_the_character`](crate::fit::Method::turns_with_the_character).
    pub turns_with_the_character: bool,
    /// Its numbers, or the sentence that says why it has none.
    pub outcome: Result<RowNumbers, String>,
}

/// The numbers of a method that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowNumbers {
    /// Whether examples were held out.
    pub is_held_out: bool,
    /// E_RMS on the examples that were fitted to.
    pub trained_e_rms: f64,
    /// E_RMS on held-out examples; on all when none were held out.
    pub tested_e_rms: f64,
    /// EE on the same, in per cent.
    pub tested_enveloping_error_percent: Option<f64>,
    /// Largest distance on the same, as a share of the size.
    pub tested_max_distance: f64,
    /// Whether the mesh is torn in one of them.
    pub is_torn: bool,
    /// As [`Cost::bytes_per_vertex`](crate::measure::Cost::bytes_per_vertex).
    pub bytes_per_vertex: f64,
    /// How stock players show it.
    pub playback: Playback,
    /// E_RMS of what they show, on the same examples.
    pub engine_e_rms: f64,
    /// What of its clips is baked for players that cannot compute it.
    pub baked: Baked,
}

/// What a skin computes from its joints, which clips of its file have keys for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Baked {
    /// Nothing.
    Nothing,
    /// Further bones.
    Bones,
    /// The weights of shapes.
    Shapes,
}

impl RowNumbers {
    fn of(c: &Compared) -> Self {
        let program = &c.report.skin.pose_program;
        let held_out = c.report.held_out.as_ref();
        let tested = held_out.map_or(&c.report.overall, |held_out| &held_out.measured);
        Self {
            is_held_out: c.report.held_out.is_some(),
            trained_e_rms: c.trained().e_rms,
            tested_e_rms: c.tested().e_rms,
            tested_enveloping_error_percent: c.tested().enveloping_error_percent,
            tested_max_distance: c.tested().max_distance,
            is_torn: tested.damage.worst_tear.is_some(),
            bytes_per_vertex: c.report.cost.bytes_per_vertex,
            playback: c.playback,
            engine_e_rms: c.engine.tested().e_rms,
            baked: match (program.placed_bone_count(), program.drivers.is_empty()) {
                (0, true) => Baked::Nothing,
                (_, true) => Baked::Bones,
                (_, false) => Baked::Shapes,
            },
        }
    }

    /// True when the error on held-out examples is much larger than on the training examples.
    fn overfits(&self) -> bool {
        let (seen, unseen) = (self.trained_e_rms, self.tested_e_rms);
        unseen > ROUNDING && unseen > OVERFIT * seen
    }
}

impl ComparisonRow {
    /// The numbers that conclusions are drawn from.
    pub fn summary(&self) -> RowSummary {
        RowSummary {
            label: self.label.clone(),
            title: self.title.clone(),
            turns_with_the_character: self.method.turns_with_the_character(),
            outcome: match &self.outcome {
                Ok(compared) => Ok(RowNumbers::of(compared)),
                Err(reason) => Err(reason.to_string()),
            },
        }
    }
}

impl Comparison {
    /// Conclusions from the numbers: see [`advice`].
    pub fn advice(&self) -> Vec<String> {
        advice(&self.summaries())
    }

    /// The conclusion in one sentence: see [`verdict`](super::verdict()).
    pub fn verdict(&self) -> Option<String> {
        verdict(&self.summaries())
    }

    fn summaries(&self) -> Vec<RowSummary> {
        self.rows.iter().map(ComparisonRow::summary).collect()
    }
}

/// The rows that have numbers.
pub(super) fn with_numbers(all: &[RowSummary]) -> Vec<Entry<'_>> {
    let numbers = |row| -> Option<Entry<'_>> {
        let row: &RowSummary = row;
        Some((row, row.outcome.as_ref().ok()?))
    };
    all.iter().filter_map(numbers).collect()
}

/// Conclusions from the numbers of rows, a sentence each. Times are not used, so the sentences are the same in
/// every run.
pub fn advice(all: &[RowSummary]) -> Vec<String> {
    let rows = with_numbers(all);
    let best = rows.iter().min_by(|a, b| by_error(a, b));
    let mut advice = Vec::new();
    if let Some(&(row, best)) = best {
        advice.push(lowest(row, best, &rows));
        advice.extend(fragile(row, &rows));
        advice.extend(cheaper(row, best, &rows));
        advice.extend(overfitting(&rows));
        advice.extend(playable(row, best, &rows));
        advice.extend(hopeless(best));
    }
    for row in all {
        if let Err(reason) = &row.outcome {
            advice.push(format!(
                "{} has no numbers: {reason}.",
                capitalized(&row.title)
            ));
        }
    }
    advice
}

/// A method and its numbers.
pub(super) type Entry<'a> = (&'a RowSummary, &'a RowNumbers);

fn by_error((_, a): &Entry<'_>, (_, b): &Entry<'_>) -> std::cmp::Ordering {
    a.tested_e_rms.total_cmp(&b.tested_e_rms)
}

fn lowest(row: &RowSummary, best: &RowNumbers, rows: &[Entry<'_>]) -> String {
    let where_ = match best.is_held_out {
        true => "on the held-out examples",
        false => "on the examples that it was fitted to, because none were held out",
    };
    let worst = rows
        .iter()
        .max_by(|a, b| by_error(a, b))
        .filter(|(other, _)| other.label != row.label);
    let span = worst.map_or(String::new(), |(other, worst)| {
        format!(
            "; the highest is {} of {}",
            short(worst.tested_e_rms),
            other.title
        )
    });
    format!(
        "{} has the lowest error {where_}: E_RMS {}{span}.",
        capitalized(&row.title),
        short(best.tested_e_rms)
    )
}

fn cheaper(row: &RowSummary, best: &RowNumbers, rows: &[Entry<'_>]) -> Option<String> {
    let limit = (NEARLY_AS_GOOD * best.tested_e_rms).max(ROUNDING);
    let bytes = |c: &RowNumbers| c.bytes_per_vertex;
    let (other, cheapest) = rows
        .iter()
        .filter(|(_, c)| c.tested_e_rms <= limit)
        .min_by(|(_, a), (_, b)| bytes(a).total_cmp(&bytes(b)))?;
    // Less than a tenth fewer bytes are no reason to choose another method.
    (other.label != row.label && bytes(cheapest) < 0.9 * bytes(best)).then(|| {
        format!(
            "{} comes within 10% of the lowest error ({}) with {:.0} bytes per vertex instead of {:.0}.",
            capitalized(&other.title),
            short(cheapest.tested_e_rms),
            bytes(cheapest),
            bytes(best)
        )
    })
}

/// Held-out examples seldom turn the whole character, so they do not show that a method cannot turn.
fn fragile(row: &RowSummary, rows: &[Entry<'_>]) -> Option<String> {
    if row.turns_with_the_character {
        return None;
    }
    let safe = rows
        .iter()
        .filter(|(other, _)| other.turns_with_the_character)
        .min_by(|a, b| by_error(a, b));
    let instead = safe.map_or(String::new(), |(other, c)| {
        format!(
            "; of the methods that do not, {} is best, with E_RMS {} and {:.0} bytes per vertex",
            other.title,
            short(c.tested_e_rms),
            c.bytes_per_vertex
        )
    });
    Some(format!(
        "But it distorts a character that faces another way than in the examples{instead}."
    ))
}

fn overfitting(rows: &[Entry<'_>]) -> Option<String> {
    let found: Vec<String> = rows
        .iter()
        .filter(|(_, c)| c.overfits())
        .map(|(row, c)| {
            format!(
                "{} (E_RMS {} on the examples that it was fitted to, {} on the others)",
                row.title,
                short(c.trained_e_rms),
                short(c.tested_e_rms)
            )
        })
        .collect();
    let remedy = match found.len() == rows.len() {
        true => "there are too few examples, or the held-out ones are unlike the others",
        false => "more examples, fewer influences or more smoothing would help",
    };
    (!found.is_empty()).then(|| {
        format!(
            "Much worse on held-out examples than on the examples fitted to: {}; {remedy}.",
            found.join(", ")
        )
    })
}

fn playable(row: &RowSummary, best: &RowNumbers, rows: &[Entry<'_>]) -> Option<String> {
    let exact: Vec<&Entry<'_>> = rows
        .iter()
        .filter(|(_, c)| c.playback == Playback::Exact)
        .collect();
    let (other, c) = exact.iter().min_by(|a, b| by_error(a, b))?;
    // Players cannot compute bones and weights from other bones: they play the baked clips.
    let baked = match c.baked {
        Baked::Nothing => "",
        Baked::Bones => " (in the clips of the file, into which its extra bones are baked)",
        Baked::Shapes => {
            " (in the clips of the file, into which the weights of its shapes are baked)"
        }
    };
    if other.label == row.label {
        let alone = match exact.len() {
            1 if rows.len() > 1 => ", the only one here that does",
            _ => "",
        };
        let title = capitalized(&row.title);
        return Some(format!(
            "{title} plays in stock glTF players as it is{baked}{alone}."
        ));
    }
    Some(format!(
        "Of the methods that stock glTF players show exactly, {} is best, with E_RMS {}{baked}; of {} \
         they show an approximation, with E_RMS {}{}.",
        other.title,
        short(c.tested_e_rms),
        row.title,
        short(best.engine_e_rms),
        match best.playback {
            Playback::OwnRuntime => "",
            _ => ", unless the exact form is exported",
        }
    ))
}

/// A warning when even the best method is hardly better than no blending at all.
fn hopeless(best: &RowNumbers) -> Option<String> {
    let percent = best.tested_enveloping_error_percent?;
    (percent > 90.0 && best.tested_e_rms > ROUNDING).then(|| {
        format!(
            "Even the best is hardly better than every vertex following one bone rigidly (EE {percent:.0}%): \
             the shape depends on more than these bones, or the poses do not belong to the meshes."
        )
    })
}

/// Three decimals, or the order of magnitude where three decimals would all be zero.
pub(super) fn short(value: f64) -> String {
    match value != 0.0 && value < 5e-4 {
        true => format!("{value:.0e}"),
        false => format!("{value:.3}"),
    }
}

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::compare::{CompareOptions, compare};
    use crate::example::Split;
    use crate::fit::Method;
    use crate::progress::Silent;
    use crate::run::timing::TimingOptions;
    use crate::synth::{TubeOptions, tube};

    /// Rows with the given errors on training and held-out examples, and bytes per vertex.
    pub(in crate::compare) fn rows(wishes: &[(&str, [f64; 2], f64)]) -> Comparison {
        let set = tube(&TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 2,
            example_count: 4,
        })
        .examples;
        let options = CompareOptions {
            timing: TimingOptions {
                runs: 1,
                run_time: Duration::from_micros(10),
                ..TimingOptions::default()
            },
            timed_poses: 1,
            surface: false,
        };
        let ssd = Method::from_key("ssd").expect("a method");
        let methods = vec![ssd; wishes.len()];
        let found = compare(&set, &Split::EveryNth(4), &methods, &options, &Silent);
        let mut found = found.expect("a tube can be fitted");
        for (row, (key, [trained, tested], bytes)) in found.rows.iter_mut().zip(wishes) {
            row.method = Method::from_key(key).expect("a method");
            row.label = row.method.key().to_owned();
            row.title = row.method.title().to_owned();
            let report = &mut row.outcome.as_mut().expect("fitted").report;
            report.cost.bytes_per_vertex = *bytes;
            let held_out = report.held_out.as_mut().expect("one was held out");
            held_out.training.total.e_rms = *trained;
            held_out.measured.total.e_rms = *tested;
            let engine = &mut row.outcome.as_mut().expect("fitted").engine;
            engine.held_out.as_mut().expect("one was held out").e_rms = *tested;
        }
        found
    }

    #[track_caller]
    fn assert_said(advice: &[String], parts: &[&str]) {
        let said = |sentence: &&String| parts.iter().all(|part| sentence.contains(part));
        assert!(advice.iter().any(|s| said(&s)), "{parts:?} in {advice:#?}");
    }

    #[test]
    fn a_smaller_method_that_is_nearly_as_good_is_named() {
        let near = rows(&[
            ("ssd", [2.0, 2.1], 30.0),
            ("animation-space", [1.9, 2.0], 66.0),
        ]);
        let advice = near.advice();
        assert_said(&advice, &["Animation space has the lowest error", "2.000"]);
        assert_said(
            &advice,
            &["within 10%", "2.100", "30 bytes", "instead of 66"],
        );
        let far = rows(&[
            ("ssd", [3.0, 3.1], 30.0),
            ("animation-space", [1.9, 2.0], 66.0),
        ]);
        let said = far.advice().iter().any(|s| s.contains("within 10%"));
        assert!(
            !said,
            "a third more is not nearly as good: {:#?}",
            far.advice()
        );
    }

    #[test]
    fn overfitting_methods_are_named() {
        let one = rows(&[
            ("ssd", [2.0, 2.1], 30.0),
            ("animation-space", [0.5, 1.9], 66.0),
        ]);
        let parts = [
            "Much worse",
            "animation space (E_RMS 0.500",
            "1.900",
            "more examples",
        ];
        assert_said(&one.advice(), &parts);
        let both = rows(&[
            ("ssd", [1.0, 2.1], 30.0),
            ("animation-space", [0.5, 1.9], 66.0),
        ]);
        assert_said(&both.advice(), &["Much worse", "too few"]);
        let none = rows(&[("ssd", [2.0, 2.1], 30.0)]);
        assert!(
            !none.advice().iter().any(|s| s.contains("Much worse")),
            "5% is little"
        );
    }

    #[test]
    fn a_best_method_that_cannot_turn_the_character_comes_with_a_warning() {
        let found = rows(&[("ssd", [2.0, 2.1], 30.0), ("mwe", [0.9, 1.0], 200.0)]);
        let advice = found.advice();
        assert!(
            advice[0].starts_with("Multi-weight enveloping"),
            "{advice:#?}"
        );
        assert!(advice[1].contains("faces another way"), "{advice:#?}");
        assert!(
            advice[1].contains("linear blend skinning is best"),
            "{advice:#?}"
        );
    }
}
