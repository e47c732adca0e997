//! Charts joined as long as they can still be laid out flat together.
//!
//! Whether two charts make a good one is found out by flattening them. This is the test that no formula replaces: it
//! joins the halves of a limb to a tube with one cut, and keeps the finger out of the arm's chart. Merges are tried from the
//! smallest stretch up, in rounds of rising limits, those first that take most of a chart's border away. Two charts of which
//! parts could not be joined are not tried: that is nearly always in vain, and takes most of the time.

use std::collections::BTreeMap;

use super::charts::{Charts, Run, Seam};
use super::piece::{EdgeProducts, Piece};
use crate::par;

/// Pairs that are tried at once: a number of its own, so that the result does not depend on the number of threads.
const PAIRS_AT_ONCE: usize = 8;

/// When to stop joining.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinLimits {
    /// Limits of the stretch of a chart, rising; each is used until no pair is within it.
    pub(crate) stretches: Vec<f64>,
    /// No fewer charts than this.
    pub(crate) least_charts: usize,
    /// Charts narrower than this, in model units, are joined to a neighbour at more stretch.
    pub(crate) least_width: f64,
    /// The limit for those.
    pub(crate) narrow_stretch: f64,
    /// Whether pairs of which parts could not be joined are tried in the end, too, to get as few charts as asked for.
    pub(crate) tries_all: bool,
}

/// What a pair of neighbours would be together.
#[derive(Debug, Clone, Copy)]
struct Pair {
    run: Run,
    /// Stretch of both together, once it was tried.
    stretch: Option<f64>,
    /// What is expected of it until then: no less than parts of the two had together.
    expected: f64,
    /// Share of the smaller border that would go.
    share: f64,
    /// Width of the narrower chart.
    width: f64,
}

/// Joins charts; `stretch_of` flattens a piece, and is infinite where that fails. False when `go_on` says to stop.
pub(crate) fn join(
    charts: &mut Charts<'_>,
    metrics: &[EdgeProducts],
    limits: &JoinLimits,
    stretch_of: &(dyn Fn(&Piece) -> f64 + Sync),
    go_on: &dyn Fn(usize) -> bool,
) -> bool {
    let mut joining = Joining {
        pairs: BTreeMap::new(),
        count: charts.numbers().count(),
    };
    let numbers: Vec<u32> = charts.numbers().collect();
    for &chart in &numbers {
        joining.offer(charts, chart, &[]);
    }
    let mut within = |joining: &mut Joining, limit, widest| {
        let trial = Trial {
            metrics,
            stretch_of,
            limit,
            widest,
        };
        joining.join_all(charts, limits.least_charts, &trial, go_on)
    };
    for &limit in &limits.stretches {
        if !within(&mut joining, limit, f64::INFINITY) {
            return false;
        }
    }
    if !within(&mut joining, limits.narrow_stretch, limits.least_width) {
        return false;
    }
    match limits.stretches.last() {
        Some(&limit) if limits.tries_all => {
            joining.expect_nothing();
            within(&mut joining, limit, f64::INFINITY)
        }
        _ => true,
    }
}

/// How pairs are tried, and which are joined.
struct Trial<'a> {
    metrics: &'a [EdgeProducts],
    stretch_of: &'a (dyn Fn(&Piece) -> f64 + Sync),
    /// The largest stretch.
    limit: f64,
    /// One chart of a pair must be narrower.
    widest: f64,
}

type Key = (u32, u32);

struct Joining {
    /// Neighbours, the lower number first.
    pairs: BTreeMap<Key, Pair>,
    count: usize,
}

impl Joining {
    /// Joins until no pair is within the limit, or there are few enough charts; false when `go_on` says to stop.
    fn join_all(
        &mut self,
        charts: &mut Charts<'_>,
        least_charts: usize,
        trial: &Trial<'_>,
        go_on: &dyn Fn(usize) -> bool,
    ) -> bool {
        while self.count > least_charts {
            let wanted = self.next_pairs(trial.limit, trial.widest, self.count - least_charts);
            if wanted.is_empty() {
                break;
            }
            let tried = try_pairs(charts, &wanted, trial);
            for ((key, pair), (stretch, seam)) in wanted.into_iter().zip(tried) {
                if stretch <= trial.limit
                    && let Some(seam) = seam
                {
                    self.merge(charts, key, pair, &seam);
                } else if let Some(known) = self.pairs.get_mut(&key) {
                    known.stretch = Some(stretch);
                }
            }
            if !go_on(self.count) {
                return false;
            }
        }
        true
    }

    /// Forgets what parts of pairs had together, so that all pairs are tried.
    fn expect_nothing(&mut self) {
        for pair in self.pairs.values_mut() {
            pair.expected = 1.0;
        }
    }

    /// Lists the pairs of a chart with its neighbours, of some of which something is expected.
    fn offer(&mut self, charts: &Charts<'_>, chart: u32, expected: &[(u32, f64)]) {
        let mut runs = Vec::new();
        charts.runs(chart, &mut runs);
        for run in runs {
            let [own, other] = [chart, run.neighbour].map(|c| charts.members[c as usize].shape);
            let perimeter = own.perimeter.min(other.perimeter);
            let key = (chart.min(run.neighbour), chart.max(run.neighbour));
            let expected = expected.iter().find(|(other, _)| *other == run.neighbour);
            let pair = Pair {
                run,
                stretch: None,
                expected: expected.map_or(1.0, |known| known.1),
                share: run.length / perimeter.max(f64::MIN_POSITIVE),
                width: own.width().min(other.width()),
            };
            self.pairs.insert(key, pair);
        }
    }

    /// The pairs to try next, each chart in one of them at most: those that take most of a border away.
    fn next_pairs(&self, limit: f64, widest: f64, most: usize) -> Vec<(Key, Pair)> {
        let is_open =
            |pair: &Pair| pair.width < widest && pair.stretch.unwrap_or(pair.expected) <= limit;
        let mut open: Vec<(Key, Pair)> = (self.pairs.iter())
            .filter(|(_, pair)| is_open(pair))
            .map(|(&key, &pair)| (key, pair))
            .collect();
        // Shares that differ by rounding are the same.
        open.sort_by(|a, b| {
            let [a_share, b_share] = [a, b].map(|pair| pair.1.share as f32);
            b_share.total_cmp(&a_share).then(a.0.cmp(&b.0))
        });
        let mut busy = Vec::new();
        open.retain(|&((c, d), _)| {
            let is_free = !busy.contains(&c) && !busy.contains(&d);
            if is_free && busy.len() < 2 * PAIRS_AT_ONCE.min(most) {
                busy.extend([c, d]);
                return true;
            }
            false
        });
        open
    }

    fn merge(&mut self, charts: &mut Charts<'_>, (c, d): Key, pair: Pair, seam: &Seam) {
        let chart = if pair.run.neighbour == d { c } else { d };
        let kept = charts.merge(chart, pair.run, seam);
        let mut expected = Vec::new();
        self.pairs.retain(|&(a, b), pair| {
            let is_own = |chart: u32| chart == c || chart == d;
            if is_own(a) || is_own(b) {
                let other = if is_own(a) { b } else { a };
                expected.push((other, pair.stretch.unwrap_or(pair.expected)));
            }
            !is_own(a) && !is_own(b)
        });
        // The larger of two first, so that it is found.
        expected.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        self.offer(charts, kept, &expected);
        self.count -= 1;
    }
}

/// The stretch of each pair, and what joining it would glue.
fn try_pairs(
    charts: &Charts<'_>,
    pairs: &[(Key, Pair)],
    trial: &Trial<'_>,
) -> Vec<(f64, Option<Seam>)> {
    par::map(pairs.len(), |k| {
        let ((c, d), pair) = pairs[k];
        let chart = if pair.run.neighbour == d { c } else { d };
        let Some(seam) = charts.seam(chart, pair.run, true) else {
            return (f64::INFINITY, None);
        };
        if let Some(stretch) = pair.stretch {
            return (stretch, Some(seam));
        }
        let piece = charts.piece(&[c, d], &seam, trial.metrics);
        ((trial.stretch_of)(&piece.piece), Some(seam))
    })
}
