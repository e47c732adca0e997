//! Borders between charts made short (\[Merry07\] §5.2.3).
//!
//! A border is a run of edges that two charts share. It is replaced by the shortest path between its ends through the two
//! charts that touches no other border, unless a chart becomes much less flat or compact by that.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::charts::{ChartPiece, Charts, Run, Shape};
use super::half_edges::{NONE, next_in_triangle};

/// How much less flat or compact a chart may become (\[Merry07\] §5.2.3).
const MOST_WORSE: f64 = 1.2;

/// Whether a chart is still good after one of its borders has changed.
pub(crate) type IsGood<'a> = &'a dyn Fn(&Charts<'_>, u32) -> bool;

/// Shortens all borders between two charts, once each, where both are good afterwards.
pub(crate) fn straighten(charts: &mut Charts<'_>, is_good: IsGood<'_>) {
    let numbers: Vec<u32> = charts.numbers().collect();
    let mut runs = Vec::new();
    for chart in numbers {
        charts.runs(chart, &mut runs);
        for run in runs.clone() {
            // Borders that were shortened before may have changed this one: look again.
            if run.neighbour > chart
                && let Some(run) = charts.run_between(chart, run.neighbour)
            {
                shorten(charts, chart, run, is_good);
            }
        }
    }
}

fn shorten(charts: &mut Charts<'_>, chart: u32, run: Run, is_good: IsGood<'_>) {
    let pair = [chart, run.neighbour];
    if run.count < 2 {
        return;
    }
    let Some(seam) = charts.seam(chart, run, false) else {
        return;
    };
    let union = charts.piece(&pair, &seam, &[]);
    let own = charts.members[chart as usize].triangles.len();
    let local = |h: &u32| {
        let t = h / 3;
        let at = union.triangles[..own].iter().position(|&own| own == t);
        3 * at.unwrap_or_default() as u32 + h % 3
    };
    let (Some(first), Some(last)) = (seam.glued.first(), seam.glued.last()) else {
        return;
    };
    let [first, last] = [first, last].map(local);
    let ends = [union.start(first), union.start(next_in_triangle(last))];
    if ends[0] == ends[1] {
        // The one chart fills a hole of the other: there is no other border between them.
        return;
    }
    let Some(path) = shortest_path(charts, &union, ends, run.length) else {
        return;
    };
    let is_left = left_of(&union, &path);
    let sides = [true, false].map(|left| {
        let own = (0..union.triangles.len()).filter(|&i| is_left[i] == left);
        own.map(|i| union.triangles[i]).collect::<Vec<u32>>()
    });
    let shapes = shapes(charts, &union, &is_left, &path);
    let is_worse = |k: usize| {
        shapes[k].cost() > MOST_WORSE * charts.members[pair[k] as usize].shape.cost()
            || sides[k].is_empty()
    };
    if is_worse(0) || is_worse(1) {
        return;
    }
    let path: Vec<u32> = path.iter().map(|&h| union.in_mesh(h)).collect();
    let before = pair.map(|c| charts.members[c as usize].triangles.clone());
    charts.divide(pair, &seam.glued, &path, sides);
    if !pair.iter().all(|&c| is_good(charts, c)) {
        charts.divide(pair, &path, &seam.glued, before);
    }
}

/// A vertex that was reached, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    distance: f64,
    vertex: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    /// The heap gives the nearest first, then the lowest number.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.distance.total_cmp(&self.distance)).then(other.vertex.cmp(&self.vertex))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Half-edges from one border vertex to another through the inside of a piece; `None` when there is no path that is
/// shorter than `longest`.
fn shortest_path(
    charts: &Charts<'_>,
    piece: &ChartPiece,
    [from, to]: [u32; 2],
    longest: f64,
) -> Option<Vec<u32>> {
    let count = piece.piece.vertex_count;
    let mut is_inside = vec![true; count];
    for h in (0..piece.twins.len() as u32).filter(|&h| piece.twins[h as usize] == NONE) {
        is_inside[piece.start(h) as usize] = false;
        is_inside[piece.start(next_in_triangle(h)) as usize] = false;
    }
    let outgoing = piece.outgoing();
    let mut distances = vec![f64::INFINITY; count];
    let mut arrived_by = vec![NONE; count];
    let mut heap = BinaryHeap::from([Reached {
        distance: 0.0,
        vertex: from,
    }]);
    distances[from as usize] = 0.0;
    while let Some(Reached { distance, vertex }) = heap.pop() {
        if distance > distances[vertex as usize] || vertex == to {
            continue;
        }
        for &h in outgoing.of(vertex) {
            let end = piece.start(next_in_triangle(h));
            let is_open = is_inside[end as usize] || end == to;
            if piece.twins[h as usize] == NONE || !is_open {
                continue;
            }
            let farther = distance + charts.length(piece.in_mesh(h));
            // Rounding alone makes no path shorter.
            if farther < distances[end as usize] * (1.0 - 1e-9) {
                distances[end as usize] = farther;
                arrived_by[end as usize] = h;
                heap.push(Reached {
                    distance: farther,
                    vertex: end,
                });
            }
        }
    }
    // Rounding alone is no gain.
    if distances[to as usize] >= longest * (1.0 - 1e-9) {
        return None;
    }
    let mut path = Vec::new();
    let mut vertex = to;
    while vertex != from {
        let h = arrived_by[vertex as usize];
        path.push(h);
        vertex = piece.start(h);
    }
    path.reverse();
    Some(path)
}

/// Which triangles of a disc are on the left of an arc that divides it.
fn left_of(piece: &ChartPiece, path: &[u32]) -> Vec<bool> {
    let mut is_path = vec![false; piece.twins.len()];
    for &h in path {
        is_path[h as usize] = true;
        is_path[piece.twins[h as usize] as usize] = true;
    }
    let mut is_left = vec![false; piece.triangles.len()];
    let mut open = vec![path[0] / 3];
    is_left[path[0] as usize / 3] = true;
    while let Some(t) = open.pop() {
        for h in (3 * t..3 * t + 3).filter(|&h| !is_path[h as usize]) {
            let twin = piece.twins[h as usize];
            if twin != NONE && !is_left[twin as usize / 3] {
                is_left[twin as usize / 3] = true;
                open.push(twin / 3);
            }
        }
    }
    is_left
}

/// The shapes of the two sides of a path, the left one first.
fn shapes(charts: &Charts<'_>, piece: &ChartPiece, is_left: &[bool], path: &[u32]) -> [Shape; 2] {
    let mut shapes = [Shape::default(); 2];
    for (i, &t) in piece.triangles.iter().enumerate() {
        let shape = &mut shapes[usize::from(!is_left[i])];
        shape.area += charts.normal(t).length();
        shape.normal += charts.normal(t);
        let border = (3 * i as u32..3 * i as u32 + 3).filter(|&h| piece.twins[h as usize] == NONE);
        shape.perimeter += border.map(|h| charts.length(piece.in_mesh(h))).sum::<f64>();
    }
    let length: f64 = path.iter().map(|&h| charts.length(piece.in_mesh(h))).sum();
    shapes.map(|shape| Shape {
        perimeter: shape.perimeter + length,
        ..shape
    })
}
