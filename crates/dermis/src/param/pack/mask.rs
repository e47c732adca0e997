//! The cells of a grid that a turned and scaled chart touches, widened by half the padding.
//!
//! A cell belongs to the mask if any point of it lies within the margin of the chart. So if the masks of two charts share no
//! cell, the charts are at least twice the margin apart, exactly, wherever in the cells their borders lie.

use glam::DVec2;

use super::outline::Outline;

/// Widens every mask a little, in cells, so that rounding of coordinates never costs padding.
const ROUNDING: f64 = 1e-7;

/// Cells of one row that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    /// The row, from 0 at the lowest.
    pub(super) row: u32,
    /// The first cell.
    pub(super) start: u32,
    /// How many cells, at least 1.
    pub(super) len: u32,
}

/// The cells that one chart takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Mask {
    /// Cells from the leftmost to the rightmost.
    pub(super) width: u32,
    /// Cells from the lowest to the highest.
    pub(super) height: u32,
    /// All cells, sorted by row and start, with at least one free cell between two of a row.
    pub(super) runs: Vec<Run>,
    /// The same runs in an order that meets obstacles early: the longest first, then rows far apart.
    pub(super) probes: Vec<Run>,
    /// Where the centre of the chart lies from the lower left corner of the mask, in cells.
    pub(super) centre: DVec2,
    /// Mean height of the cells over the lower edge of the mask, in cells.
    pub(super) mean_height: f64,
}

impl Mask {
    /// Draws a chart turned by `angle` radians, with `scale` cells to a unit, widened by `margin` cells.
    ///
    /// A chart without vertices gives a mask without cells.
    pub(super) fn new(outline: &Outline, angle: f64, scale: f64, margin: f64) -> Self {
        if outline.edges.is_empty() {
            return Self::default();
        }
        let margin = margin + ROUNDING;
        let turn = DVec2::from_angle(angle) * scale;
        let mut ends: Vec<[DVec2; 2]> = outline
            .edges
            .iter()
            .map(|e| e.ends.map(|u| turn.rotate(u)))
            .collect();
        let low = ends
            .iter()
            .flatten()
            .copied()
            .reduce(DVec2::min)
            .unwrap_or_default();
        let centre = DVec2::splat(margin) - low;
        for end in ends.iter_mut().flatten() {
            *end += centre;
        }
        let high = ends
            .iter()
            .flatten()
            .copied()
            .reduce(DVec2::max)
            .unwrap_or_default()
            + margin;
        let height = high.y.floor() as u32 + 1;
        let mut rows = vec![Vec::new(); height as usize];
        for &[a, b] in &ends {
            draw_edge(a, b, margin, &mut rows);
        }
        let crossings = row_crossings(outline, &ends, height);
        let mut runs = Vec::new();
        for (row, (spans, crossings)) in rows.iter_mut().zip(&crossings).enumerate() {
            fill_row(row as u32, spans, crossings, &mut runs);
        }
        let width = runs.iter().map(|r| r.start + r.len).max().unwrap_or(0);
        let (cells, heights) = runs.iter().fold((0.0, 0.0), |(cells, heights), r| {
            let len = f64::from(r.len);
            (cells + len, heights + len * (f64::from(r.row) + 0.5))
        });
        let probes = probe_order(&runs);
        Self {
            width,
            height,
            runs,
            probes,
            centre,
            mean_height: heights / f64::max(cells, 1.0),
        }
    }
}

/// Adds the cells within `margin` of the segment from `a` to `b`, as first and last cell of each row.
fn draw_edge(a: DVec2, b: DVec2, margin: f64, rows: &mut [Vec<(u32, u32)>]) {
    let first = (a.y.min(b.y) - margin).max(0.0).floor() as usize;
    let last = ((a.y.max(b.y) + margin).max(0.0).floor() as usize).min(rows.len() - 1);
    let aside = (b - a).normalize_or_zero().perp() * margin;
    for (row, spans) in rows.iter_mut().enumerate().take(last + 1).skip(first) {
        let band = (row as f64, row as f64 + 1.0);
        let mut span = (f64::INFINITY, f64::NEG_INFINITY);
        for end in [a, b] {
            let away = (band.0 - end.y).max(end.y - band.1).max(0.0);
            if away <= margin {
                let reach = (margin * margin - away * away).max(0.0).sqrt();
                span = (span.0.min(end.x - reach), span.1.max(end.x + reach));
            }
        }
        for shift in [aside, -aside] {
            if let Some((x0, x1)) = clip_to_band(a + shift, b + shift, band) {
                span = (span.0.min(x0.min(x1)), span.1.max(x0.max(x1)));
            }
        }
        if span.0 <= span.1 {
            spans.push((
                span.0.max(0.0).floor() as u32,
                span.1.max(0.0).floor() as u32,
            ));
        }
    }
}

/// Where a segment enters and leaves a band of heights.
fn clip_to_band(a: DVec2, b: DVec2, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    let (a, b) = if a.y <= b.y { (a, b) } else { (b, a) };
    if b.y < low || a.y > high {
        return None;
    }
    let x_at = |y: f64| {
        let rise = b.y - a.y;
        if rise > 0.0 {
            a.x + (b.x - a.x) * ((y - a.y) / rise).clamp(0.0, 1.0)
        } else {
            a.x
        }
    };
    let x0 = if a.y >= low { a.x } else { x_at(low) };
    let x1 = if b.y <= high { b.x } else { x_at(high) };
    Some((x0, x1))
}

/// Where the border crosses the middle of each row, with the change of the winding number, from left to right.
fn row_crossings(outline: &Outline, ends: &[[DVec2; 2]], height: u32) -> Vec<Vec<(f64, i32)>> {
    let mut crossings = vec![Vec::new(); height as usize];
    for (edge, &[a, b]) in outline.edges.iter().zip(ends) {
        if edge.count == 0 || a.y == b.y {
            continue;
        }
        let (low, high, count) = if a.y < b.y {
            (a, b, edge.count)
        } else {
            (b, a, -edge.count)
        };
        // Rows whose middle lies in low.y < middle <= high.y, so that two edges that meet there count once.
        let first = ((low.y - 0.5).floor() + 1.0).max(0.0) as usize;
        let end = ((high.y - 0.5).floor() + 1.0).max(0.0) as usize;
        for (row, crossings) in crossings.iter_mut().enumerate().take(end).skip(first) {
            let along = ((row as f64 + 0.5 - low.y) / (high.y - low.y)).clamp(0.0, 1.0);
            crossings.push((low.x + (high.x - low.x) * along, count));
        }
    }
    for row in &mut crossings {
        row.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    crossings
}

/// Joins the spans of a row and fills the gaps between them that lie inside the chart.
///
/// No border passes through a gap, so one point tells for the whole of it.
fn fill_row(row: u32, spans: &mut [(u32, u32)], crossings: &[(f64, i32)], runs: &mut Vec<Run>) {
    spans.sort_unstable();
    let Some(&(mut start, mut last)) = spans.first() else {
        return;
    };
    let (mut winding, mut passed) = (0, 0);
    for &(next_start, next_last) in spans.iter() {
        if next_start > last + 1 {
            let middle = f64::from(last + 1) + 0.5;
            while passed < crossings.len() && crossings[passed].0 < middle {
                winding += crossings[passed].1;
                passed += 1;
            }
            if winding == 0 {
                runs.push(Run {
                    row,
                    start,
                    len: last + 1 - start,
                });
                start = next_start;
            }
        }
        last = last.max(next_last);
    }
    runs.push(Run {
        row,
        start,
        len: last + 1 - start,
    });
}

/// The runs with the longest first, then in steps that halve: rows far apart are blocked by different obstacles.
fn probe_order(runs: &[Run]) -> Vec<Run> {
    let mut order = Vec::with_capacity(runs.len());
    let Some(longest) = (0..runs.len()).max_by_key(|&i| (runs[i].len, usize::MAX - i)) else {
        return order;
    };
    let mut taken = vec![false; runs.len()];
    let mut take = |i: usize| {
        if !std::mem::replace(&mut taken[i], true) {
            order.push(runs[i]);
        }
    };
    take(longest);
    take(0);
    take(runs.len() - 1);
    let mut step = runs.len().next_power_of_two();
    while step >= 1 {
        (0..runs.len()).step_by(step).for_each(&mut take);
        step /= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::outline::FlatChart;
    use super::*;

    fn square_with_hole() -> Outline {
        // A frame: outer square 0..3, hole 1..2.
        let corner = |x: f64, y: f64| DVec2::new(x, y);
        let outer = [
            corner(0., 0.),
            corner(3., 0.),
            corner(3., 3.),
            corner(0., 3.),
        ];
        let inner = [
            corner(1., 1.),
            corner(2., 1.),
            corner(2., 2.),
            corner(1., 2.),
        ];
        let triangles = (0..4).flat_map(|i| {
            let j = (i + 1) % 4;
            [[i, j, 4 + j], [i, 4 + j, 4 + i]]
        });
        let chart = FlatChart {
            uvs: [outer, inner].concat(),
            triangles: triangles.collect(),
        };
        Outline::new(&chart, 0).unwrap_or_default()
    }

    fn has(mask: &Mask, x: u32, y: u32) -> bool {
        mask.runs
            .iter()
            .any(|r| r.row == y && (r.start..r.start + r.len).contains(&x))
    }

    #[test]
    fn a_hole_stays_free_and_the_frame_is_filled() {
        let mask = Mask::new(&square_with_hole(), 0.0, 10.0, 1.0);
        assert!(
            mask.width == 33 && mask.height == 33,
            "{} by {} cells",
            mask.width,
            mask.height
        );
        assert!(
            has(&mask, 5, 5) && has(&mask, 16, 5) && has(&mask, 5, 16),
            "the frame is filled"
        );
        assert!(!has(&mask, 16, 16), "the hole is free");
        assert!(
            !has(&mask, 14, 16) || !has(&mask, 13, 16),
            "the hole is wide"
        );
    }

    #[test]
    fn every_point_within_the_margin_has_its_cell() {
        let outline = square_with_hole();
        for (angle, scale, margin) in [
            (0.3, 4.0, 0.0),
            (1.1, 7.3, 2.0),
            (2.5, 0.2, 0.5),
            (0.0, 0.0, 1.5),
        ] {
            let mask = Mask::new(&outline, angle, scale, margin);
            let turn = DVec2::from_angle(angle) * scale;
            for i in 0..90 * 90 {
                let u = DVec2::new(f64::from(i % 90), f64::from(i / 90)) / 30.0;
                let in_hole = u.cmpgt(DVec2::ONE).all() && u.cmplt(DVec2::splat(2.0)).all();
                let around = DVec2::from_angle(f64::from(i)) * margin;
                let cell = (mask.centre + turn.rotate(u - outline.centre) + around).floor();
                assert!(
                    in_hole || has(&mask, cell.x as u32, cell.y as u32),
                    "no cell {cell} at angle {angle}"
                );
            }
        }
    }

    #[test]
    fn probes_are_the_runs_in_another_order() {
        let mask = Mask::new(&square_with_hole(), 0.7, 5.0, 1.0);
        let mut probes = mask.probes.clone();
        probes.sort_unstable();
        assert_eq!(probes, mask.runs, "sorted probes and runs");
    }
}
