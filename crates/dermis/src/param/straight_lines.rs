//! Which border vertices of a chart lie on straight lines between its corners.

use glam::DVec2;

use super::charts::{ChartPiece, Charts};
use super::elements::Tie;
use super::half_edges::NONE;

/// Which border half-edges of all charts begin at a corner.
///
/// A corner is where another chart is across, where the border of a free layout bends, on either side, and where two edges
/// of one triangle meet, which a straight line would flatten.
pub(crate) fn corners(charts: &Charts<'_>, free: &[(u32, &ChartPiece, &[DVec2])]) -> Vec<bool> {
    let mut is_corner = vec![false; charts.mesh.twins.len()];
    for &(number, chart, uvs) in free {
        let ring: Vec<u32> = charts.border(number).collect();
        let count = ring.len();
        let points: Vec<DVec2> = vertices(chart, &ring)
            .into_iter()
            .map(|vertex| uvs[vertex as usize])
            .collect();
        let mut own: Vec<bool> = ring.iter().map(|&h| charts.is_corner(h)).collect();
        for k in 0..count {
            let before = ring[(k + count - 1) % count];
            let twins = [before, ring[k]].map(|h| charts.mesh.twins[h as usize]);
            let is_ear_across =
                twins.iter().all(|&twin| twin != NONE) && twins[0] / 3 == twins[1] / 3;
            own[k] |= before / 3 == ring[k] / 3 || is_ear_across;
        }
        add_corners(&mut own, &ring, charts);
        let tolerance = BEND * chart.piece.area().sqrt();
        for (start, edges) in spans(&own) {
            mark_bends(&points, start, edges, tolerance, &mut own);
        }
        for k in (0..count).filter(|&k| own[k]) {
            is_corner[ring[k] as usize] = true;
            // The same vertex in the border of the chart across.
            let twin = charts.mesh.twins[ring[(k + count - 1) % count] as usize];
            if twin != NONE {
                is_corner[twin as usize] = true;
            }
        }
    }
    is_corner
}

/// How far a border may be from a straight line before it gets a corner, as a share of the root of the chart's area.
const BEND: f64 = 0.03;

/// Marks the vertices of a border that are too far from the lines between those marked (Douglas and Peucker).
fn mark_bends(points: &[DVec2], start: usize, edges: usize, tolerance: f64, own: &mut [bool]) {
    let count = points.len();
    let mut open = vec![(start, start + edges)];
    while let Some((from, to)) = open.pop() {
        let [a, b] = [from, to].map(|k| points[k % count]);
        let along = (b - a).normalize_or_zero();
        let distance = |k: &usize| {
            let offset = points[k % count] - a;
            let on_line = along * offset.dot(along).clamp(0.0, a.distance(b));
            offset.distance(on_line)
        };
        let farthest = (from + 1..to).max_by(|j, k| distance(j).total_cmp(&distance(k)));
        if let Some(k) = farthest.filter(|k| distance(k) > tolerance) {
            own[k % count] = true;
            open.extend([(from, k), (k, to)]);
        }
    }
}

/// Ties of the border vertices of a chart between corners, spaced by the lengths of the edges.
pub(crate) fn straight_lines(
    charts: &Charts<'_>,
    number: u32,
    chart: &ChartPiece,
    is_corner: &[bool],
) -> Vec<Tie> {
    let ring: Vec<u32> = charts.border(number).collect();
    let own: Vec<bool> = ring.iter().map(|&h| is_corner[h as usize]).collect();
    ties(charts, &ring, &vertices(chart, &ring), &own)
}

/// Divides the longest borders until there are three corners.
fn add_corners(is_corner: &mut [bool], ring: &[u32], charts: &Charts<'_>) {
    let count = ring.len();
    if !is_corner.contains(&true) {
        is_corner[0] = true;
    }
    while count >= 3 && is_corner.iter().filter(|&&corner| corner).count() < 3 {
        let spans = spans(is_corner);
        let length = |&(start, edges): &(usize, usize)| -> f64 {
            let own = (start..start + edges).map(|k| charts.length(ring[k % count]));
            own.sum()
        };
        let longest = (spans.iter().filter(|(_, edges)| *edges > 1))
            .max_by(|a, b| length(a).total_cmp(&length(b)));
        let Some(&(start, edges)) = longest else {
            return;
        };
        let mut walked = 0.0;
        let half = 0.5 * length(&(start, edges));
        let middle = (start..start + edges - 1).find(|k| {
            walked += charts.length(ring[k % count]);
            walked >= half
        });
        is_corner[(middle.unwrap_or(start) + 1) % count] = true;
    }
}

/// Where each border between corners begins, and how many edges it has.
fn spans(is_corner: &[bool]) -> Vec<(usize, usize)> {
    let count = is_corner.len();
    let corners: Vec<usize> = (0..count).filter(|&k| is_corner[k]).collect();
    let span = |(n, &start): (usize, &usize)| {
        let end = corners.get(n + 1).map_or(corners[0] + count, |&end| end);
        (start, end - start)
    };
    corners.iter().enumerate().map(span).collect()
}

fn ties(charts: &Charts<'_>, ring: &[u32], vertex_of: &[u32], is_corner: &[bool]) -> Vec<Tie> {
    let count = ring.len();
    let mut ties = Vec::new();
    for (start, edges) in spans(is_corner) {
        let lengths: Vec<f64> = (start..start + edges)
            .map(|k| charts.length(ring[k % count]))
            .collect();
        let total: f64 = lengths.iter().sum();
        let mut walked = 0.0;
        for k in 1..edges {
            walked += lengths[k - 1];
            // Edges without length still get some of the line.
            let even = k as f64 / edges as f64;
            let share = if total > 0.0 { walked / total } else { even };
            ties.push(Tie {
                vertex: vertex_of[(start + k) % count],
                from: vertex_of[start],
                to: vertex_of[(start + edges) % count],
                share: (0.999 * share + 0.001 * even).clamp(1e-6, 1.0 - 1e-6),
            });
        }
    }
    ties
}

/// The vertex of the piece where each half-edge of a ring begins.
fn vertices(chart: &ChartPiece, ring: &[u32]) -> Vec<u32> {
    let mut places: Vec<(u32, u32)> = chart.triangles.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let vertex = |&h: &u32| {
        let at = places.partition_point(|&(t, _)| t < h / 3);
        chart.start(3 * places[at].1 + h % 3)
    };
    ring.iter().map(vertex).collect()
}
