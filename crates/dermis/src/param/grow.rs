//! Charts that are nearly flat at rest, grown by merging neighbours.
//!
//! The cost of a chart is `E = (A + ρ ℓ²/4π) / |Σ n|` (\[Merry07\] Eq. 5.4): its area over that of its largest projection,
//! and a term for borders that are long for the area. Merges go by the least increase of `Σ E A`, and none makes a chart
//! whose area is more than a given multiple of its projection. Charts that wrap around something (the thesis's "socks") are
//! far beyond that; whether charts can be flattened together is found out afterwards, by flattening them
//! ([`join`](super::join)).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::charts::{Charts, Run, Shape};

/// How often progress is reported.
const MERGES_PER_REPORT: usize = 4096;

/// A merge that was possible when it was found.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    cost: f64,
    charts: [u32; 2],
    versions: [u32; 2],
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// The heap gives the least cost first, then the lowest numbers. Costs that differ by rounding are the same, so that a
    /// character that is turned or scaled gets the same charts.
    fn cmp(&self, other: &Self) -> Ordering {
        let [own, others] = [self, other].map(|candidate| candidate.cost as f32);
        others.total_cmp(&own).then(other.charts.cmp(&self.charts))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Merges neighbours while a chart's area is at most `most_folded` times that of its largest projection, and there are more
/// than `least` charts.
///
/// Infinity merges all that can be: each part of the surface becomes one disc, or two where it is closed. Stops early, and
/// returns false, when `go_on` does; it is told how many merges there were.
pub(crate) fn grow(
    charts: &mut Charts<'_>,
    most_folded: f64,
    least: usize,
    go_on: &dyn Fn(usize) -> bool,
) -> bool {
    let mut growth = Growth {
        versions: vec![0; charts.members.len()],
        heap: BinaryHeap::new(),
        most_folded,
    };
    let mut runs = Vec::new();
    let numbers: Vec<u32> = charts.numbers().collect();
    for chart in numbers {
        charts.runs(chart, &mut runs);
        // Each pair once.
        runs.retain(|run| run.neighbour > chart);
        growth.offer(charts, chart, &runs);
    }
    let mut merged = 0;
    let most_merges = charts.numbers().count().saturating_sub(least);
    while merged < most_merges
        && let Some(candidate) = growth.heap.pop()
    {
        let [c, d] = candidate.charts;
        if [c, d].map(|c| growth.versions[c as usize]) != candidate.versions {
            continue;
        }
        let Some(run) = charts.run_between(c, d) else {
            continue;
        };
        let Some(seam) = charts.seam(c, run, true) else {
            continue;
        };
        let kept = charts.merge(c, run, &seam);
        for chart in [c, d] {
            growth.versions[chart as usize] += 1;
        }
        charts.runs(kept, &mut runs);
        growth.offer(charts, kept, &runs);
        merged += 1;
        if merged % MERGES_PER_REPORT == 0 && !go_on(merged) {
            return false;
        }
    }
    true
}

struct Growth {
    /// Counts the changes of each chart; candidates of earlier ones are stale.
    versions: Vec<u32>,
    heap: BinaryHeap<Candidate>,
    most_folded: f64,
}

impl Growth {
    fn offer(&mut self, charts: &Charts<'_>, chart: u32, runs: &[Run]) {
        for run in runs {
            let [own, other] = [chart, run.neighbour].map(|c| charts.members[c as usize].shape);
            let union = own.joined(other, run.length);
            if union.area > self.most_folded * union.normal.length() {
                continue;
            }
            self.heap.push(Candidate {
                cost: energy(union) - energy(own) - energy(other),
                charts: [chart, run.neighbour],
                versions: [chart, run.neighbour].map(|c| self.versions[c as usize]),
            });
        }
    }
}

/// The cost of a chart times its area; of a chart without area, something that grows with its border.
fn energy(shape: Shape) -> f64 {
    if shape.area > 0.0 {
        shape.cost() * shape.area
    } else {
        shape.perimeter.powi(2)
    }
}
