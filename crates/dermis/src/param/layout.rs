//! Charts laid out flat, each by itself; one that cannot be is cut in two.

use glam::{DVec2, DVec3};

use super::charts::{ChartPiece, Charts, Seam};
use super::elements::Tie;
use super::flatten::{Flat, FlattenOptions, flatten, improve};
use super::grow::grow;
use super::half_edges::HalfEdges;
use super::options::{UnwrapError, UnwrapOptions};
use super::piece::{EdgeProducts, Piece};
use super::straight_lines::{corners, straight_lines};
use super::unwrap::{
    NARROW_STRETCH, Surface, TO_STAY, edge_lengths, judged, packs_well, root_of_area,
};
use crate::par;
use crate::progress::{Progress, Stage};

/// A chart and its layout.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) chart: ChartPiece,
    pub(crate) flat: Flat,
    /// Whether its borders are straight lines.
    pub(crate) is_straight: bool,
}

/// Straight borders are given up where they make the stretch of a chart so many times larger. The thesis allows 4
/// (\[Merry07\] §5.3), with fewer corners.
const MOST_FOR_STRAIGHTNESS: f64 = 1.5;

/// Lays out all charts.
pub(crate) fn lay_out(
    charts: &Charts<'_>,
    surface: &Surface<'_>,
    normals: &[DVec3],
    options: &UnwrapOptions,
    progress: &dyn Progress,
) -> Result<Vec<Layout>, UnwrapError> {
    let numbers: Vec<u32> = charts.numbers().collect();
    let stages = if options.straight_borders { 2 } else { 1 };
    let stage = Stage::new(progress, "flattening", stages * numbers.len());
    // Who gives seams or a number of charts wants those. Straight borders are made for charts that stay whole.
    let is_given = options.keep_seams || options.charts.is_some();
    let most = match is_given {
        true => f64::INFINITY,
        false => options.max_stretch.max(NARROW_STRETCH),
    };
    let side = match is_given || options.straight_borders {
        true => f64::INFINITY,
        false => root_of_area(surface.metrics),
    };
    let is_good =
        |piece: &Piece, flat: &Flat| judged(flat) <= most && packs_well(piece, flat, side, TO_STAY);
    let mut layouts = par::map(numbers.len(), |k| {
        if stage.is_stopped() {
            return Vec::new();
        }
        let chart = charts.piece(&[numbers[k]], &Seam::default(), surface.metrics);
        let given = (!surface.uvs.is_empty()).then(|| kept(&chart, surface.uvs));
        let layouts = match given.flatten() {
            Some(layout) => vec![layout],
            None => laid_out(chart, normals, &is_good),
        };
        stage.step();
        layouts
    });
    if options.straight_borders && !stage.is_stopped() {
        let free = numbers
            .iter()
            .zip(&layouts)
            .filter_map(|(&number, own)| match &own[..] {
                [layout] => Some((number, &layout.chart, &layout.flat.uvs[..])),
                // Charts that were cut have other borders.
                _ => None,
            });
        let free: Vec<(u32, &ChartPiece, &[DVec2])> = free.collect();
        let is_corner = corners(charts, &free);
        let straight = par::map(numbers.len(), |k| {
            let [layout] = &layouts[k][..] else {
                return None;
            };
            let ties = straight_lines(charts, numbers[k], &layout.chart, &is_corner);
            let straight = straight(layout, ties);
            stage.step();
            straight
        });
        for (own, straight) in layouts.iter_mut().zip(straight) {
            own.splice(..usize::from(straight.is_some()), straight);
        }
    }
    match stage.is_stopped() {
        true => Err(UnwrapError::Stopped),
        false => Ok(layouts.into_iter().flatten().collect()),
    }
}

/// The layout of a chart, or of its parts when it overlaps itself or is not good otherwise.
fn laid_out(
    chart: ChartPiece,
    normals: &[DVec3],
    is_good: &dyn Fn(&Piece, &Flat) -> bool,
) -> Vec<Layout> {
    let mut done = Vec::new();
    let mut open = vec![chart];
    while let Some(chart) = open.pop() {
        match flatten(&chart.piece, &FlattenOptions::default()) {
            Ok(flat) if flat.overlaps.is_none() && is_good(&chart.piece, &flat) => {
                done.push(Layout {
                    chart,
                    flat,
                    is_straight: false,
                })
            }
            _ if chart.triangles.len() > 1 => open.extend(halves(&chart, normals)),
            // One triangle has a layout, whatever its numbers are.
            _ => done.push(single_triangle(chart)),
        }
    }
    done
}

/// Given UVs of a chart with less stretch; `None` where they are folded or overlap.
fn kept(chart: &ChartPiece, uvs: &[[DVec2; 3]]) -> Option<Layout> {
    let mut start = vec![DVec2::ZERO; chart.piece.vertex_count];
    for (&t, corners) in chart.triangles.iter().zip(&chart.piece.triangles) {
        for k in 0..3 {
            start[corners[k] as usize] = uvs[t as usize][k];
        }
    }
    let mirrored = start.iter().map(|uv| DVec2::new(-uv.x, uv.y)).collect();
    let flat = [start, mirrored].into_iter().find_map(|start| {
        let flat = improve(&chart.piece, &start, &FlattenOptions::default()).ok()?;
        flat.overlaps.is_none().then_some(flat)
    })?;
    Some(Layout {
        chart: chart.clone(),
        flat,
        is_straight: false,
    })
}

/// The layout with straight borders, where that stretches it little.
fn straight(free: &Layout, ties: Vec<Tie>) -> Option<Layout> {
    let options = FlattenOptions {
        ties,
        ..FlattenOptions::default()
    };
    let flat = flatten(&free.chart.piece, &options).ok()?;
    let most = free.flat.l2 * MOST_FOR_STRAIGHTNESS;
    let is_good = flat.overlaps.is_none() && flat.l2 <= most;
    is_good.then(|| Layout {
        chart: free.chart.clone(),
        flat,
        is_straight: true,
    })
}

/// A chart cut in two.
fn halves(chart: &ChartPiece, normals: &[DVec3]) -> Vec<ChartPiece> {
    let own: Vec<DVec3> = chart
        .triangles
        .iter()
        .map(|&t| normals[t as usize])
        .collect();
    let mesh = HalfEdges::new(&chart.piece.triangles, &own);
    let lengths = edge_lengths(&chart.piece.metrics);
    let mut parts = Charts::new(&mesh, &lengths, &own);
    grow(&mut parts, f64::INFINITY, 2, &|_| true);
    let numbers: Vec<u32> = parts.numbers().collect();
    let part = |number: &u32| {
        let part = parts.piece(&[*number], &Seam::default(), &chart.piece.metrics);
        ChartPiece {
            triangles: part
                .triangles
                .iter()
                .map(|&t| chart.triangles[t as usize])
                .collect(),
            points: part
                .points
                .iter()
                .map(|&v| chart.points[v as usize])
                .collect(),
            ..part
        }
    };
    numbers.iter().map(part).collect()
}

/// A triangle by itself, of a small area where it has none.
fn single_triangle(chart: ChartPiece) -> Layout {
    let EdgeProducts { ee, ef, .. } = chart.piece.metrics[0];
    let width = ee.max(0.0).sqrt();
    let area = chart.piece.metrics[0].area();
    let (width, height) = match width > 0.0 && area > 0.0 && (ef / width).is_finite() {
        true => (width, 2.0 * area / width),
        false => (1e-6, 1e-6),
    };
    let along = if area > 0.0 { ef / width } else { 0.0 };
    let [a, b, c] = chart.piece.triangles[0];
    let mut uvs = vec![DVec2::ZERO; 3];
    uvs[a as usize] = DVec2::ZERO;
    uvs[b as usize] = DVec2::new(width, 0.0);
    uvs[c as usize] = DVec2::new(along, height);
    Layout {
        chart,
        flat: Flat {
            uvs,
            l2: 1.0,
            worst: 1.0,
            overlaps: None,
            rounds: 0,
        },
        is_straight: false,
    }
}
