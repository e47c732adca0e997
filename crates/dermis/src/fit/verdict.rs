//! The conclusion of a fit in one sentence, for people who read no further.

use super::{EngineReport, FitReport, Method};

/// Errors of this `E_RMS` are about a pixel when the mesh fills a window of 1000: hard to see.
const HARD_TO_SEE: f64 = 1.0;

/// How good a fit is, where it is worst, what stock engines show of it and how large it is.
pub fn fit_verdict(method: &Method, fitted: &FitReport, engine: &EngineReport) -> String {
    let (measured, which) = match &fitted.held_out {
        Some(held_out) => (&held_out.measured, "held-out examples"),
        None => (
            &fitted.overall,
            "the examples that it was fitted to (none were held out)",
        ),
    };
    let error = measured.total.e_rms;
    let seen = match error <= HARD_TO_SEE {
        true => "hard to see".to_owned(),
        false => format!("visible: below {HARD_TO_SEE} it is hard to see"),
    };
    let farthest =
        (measured.examples.iter()).max_by(|a, b| a.max_distance.total_cmp(&b.max_distance));
    let farthest = farthest.map_or(String::new(), |example| {
        let percent = 100.0 * example.max_distance;
        format!(
            ", at most {percent:.2}% of the size off (in {})",
            example.name
        )
    });
    let there = engine.tested().e_rms;
    let shown = match there <= 1.01 * error {
        true => "stock engines show it as well".to_owned(),
        false => format!("stock engines show it with E_RMS {}", short(there)),
    };
    let mut chars = method.title().chars();
    let title: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(chars)
        .collect();
    format!(
        "{title} has E_RMS {} on {which}, which is {seen}{farthest}; {shown}, at {:.0} bytes per vertex.",
        short(error),
        fitted.cost.bytes_per_vertex
    )
}

/// Three decimals, or the order of magnitude where three decimals would all be zero.
fn short(value: f64) -> String {
    match value != 0.0 && value < 5e-4 {
        true => format!("{value:.0e}"),
        false => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Split;
    use crate::fit::{SsdOptions, engine_report, evaluate_fit};
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn a_fit_is_called_hard_to_see_or_visible_by_its_held_out_error() {
        let options = TubeOptions {
            ring_count: 6,
            segment_count: 5,
            bone_count: 2,
            example_count: 5,
        };
        let set = tube(&options).examples;
        let method = Method::Ssd(SsdOptions::default());
        let fitted = evaluate_fit(&set, &Split::EveryNth(4), |training| {
            method.fit(&set, training, &Silent)
        });
        let mut fitted = fitted.expect("a tube can be fitted");
        let engine = engine_report(&set, &fitted, false, &Silent).expect("a skin");
        let good = fit_verdict(&method, &fitted, &engine);
        assert!(
            good.starts_with("Linear blend skinning has E_RMS"),
            "{good}"
        );
        assert!(
            good.contains("on held-out examples, which is hard to see"),
            "{good}"
        );
        let held_out = fitted.held_out.as_mut().expect("one was held out");
        held_out.measured.total.e_rms = 7.25;
        let bad = fit_verdict(&method, &fitted, &engine);
        assert!(
            bad.contains("E_RMS 7.250 on held-out examples, which is visible"),
            "{bad}"
        );
    }
}
