//! A surface to an atlas: charts, flattened, packed.

use glam::{DVec2, DVec3};

use super::charts::{ChartPiece, Charts, Seam};
use super::flatten::{Effort, Flat, FlattenOptions, flatten};
use super::grow::grow;
use super::half_edges::{HalfEdges, NONE, is_line, next_in_triangle};
use super::join::{JoinLimits, join};
use super::layout::{Layout, lay_out};
use super::options::{UnwrapError, UnwrapOptions};
use super::pack::{FlatChart, PackOptions, Rotations, pack, sides_of_rectangle};
use super::piece::{EdgeProducts, Piece};
use super::straighten::straighten;
use super::stretch::StretchSums;
use crate::progress::Progress;

/// Area of a chart over that of its projection, for charts that are grown without being flattened; larger ones when there
/// would be more than [`MOST_GROWN`]. Tried on cat, horse and hand: 1.1 to 1.2 end with as many charts.
const FOLDED: [f64; 4] = [1.15, 1.4, 2.0, 4.0];
/// Charts that are tried to be joined at most, but for parts that are too small to be cut.
const MOST_GROWN: usize = 600;
/// The stretch up to which narrow charts are joined to a neighbour.
pub(super) const NARROW_STRETCH: f64 = 1.3;
/// Parts of the largest stretch in excess of 1 that are allowed one after the other.
const RISING: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
/// Larger stretches that are allowed after that, when fewer charts were asked for.
const BEYOND: [f64; 10] = [1.1, 1.2, 1.35, 1.6, 2.0, 4.0, 16.0, 100.0, 1e4, 1e8];
/// Which charts can be part of a square that is filled well.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackShape {
    /// Length over the side of a square with the whole area.
    longest: f64,
    /// The least share of the rectangle around it.
    fill: f64,
}

/// Shapes that charts may have by joining: most atlases are then covered by 70%. Tried on cat, horse and man: with 1.0 and
/// 0.5 there are half as many charts, and 66% are covered.
const TO_JOIN: PackShape = PackShape {
    longest: 0.75,
    fill: 0.6,
};
/// Shapes of charts that are not cut in two for being hard to pack.
pub(super) const TO_STAY: PackShape = PackShape {
    longest: 1.0,
    fill: 0.45,
};
/// Charts of at most this share of the whole area may have any shape.
const SMALL: f64 = 0.01;
/// How much the largest stretch of single triangles counts beside that of the chart.
const WORST_COUNTS: f64 = 0.1;
/// The share of an atlas that is expected to be covered, to tell texels before packing.
const EXPECTED_PACKING: f64 = 0.7;

/// A surface to unwrap.
#[derive(Debug, Clone, Copy)]
pub struct Surface<'a> {
    /// Corners of each triangle, as points.
    pub triangles: &'a [[u32; 3]],
    /// Where each point rests.
    pub rest: &'a [DVec3],
    /// The metric of each triangle, over all poses that the atlas is for.
    pub metrics: &'a [EdgeProducts],
    /// Whether the edge after each corner is a seam that no chart may cross; empty for no seams. Three for each triangle.
    pub seams: &'a [bool],
    /// UVs of the corners of each triangle, whose stretch is lowered; empty to make new ones.
    ///
    /// They are seams wherever the two sides of an edge have others.
    pub uvs: &'a [[DVec2; 3]],
}

/// UVs for every corner of a surface.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Atlas {
    /// The UV of each of its vertices, from 0 to 1; triangles are anticlockwise.
    pub uvs: Vec<DVec2>,
    /// The point that each vertex is a copy of.
    pub points: Vec<u32>,
    /// Corners of each triangle of the surface, as vertices.
    pub triangles: Vec<[u32; 3]>,
    /// The chart of each triangle. Triangles that name a point twice are in that of a neighbour, without area.
    pub chart_of: Vec<u32>,
    /// What is known of each chart.
    pub charts: Vec<ChartFacts>,
    /// Texels per model unit.
    pub texels_per_unit: f64,
    /// The share of the atlas that charts cover.
    pub packing: f64,
    /// L2 stretch in the metric that was given.
    pub stretch: f64,
    /// Length of all borders between charts and of cuts within them, each once, in model units; rims are none.
    pub seam_length: f64,
}

/// What is known of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChartFacts {
    /// How many triangles it has.
    pub triangles: usize,
    /// Its area in the metric that was given.
    pub area: f64,
    /// Its own L2 stretch.
    pub stretch: f64,
    /// The largest stretch of one of its triangles.
    pub worst: f64,
    /// Whether its borders are straight lines, where that was asked for.
    pub is_straight: bool,
}

/// Lays a surface out in an atlas.
///
/// Every triangle is anticlockwise, no two overlap, and charts are as far apart as the padding says. Any mesh can be
/// unwrapped: it is cut where more than two triangles meet.
///
/// # Errors
/// [`UnwrapError`].
pub fn unwrap(
    surface: &Surface<'_>,
    options: &UnwrapOptions,
    progress: &dyn Progress,
) -> Result<Atlas, UnwrapError> {
    options.check()?;
    surface.check()?;
    let normals: Vec<DVec3> = (surface.triangles.iter())
        .map(|corners| {
            let [a, b, c] = corners.map(|point| surface.rest[point as usize]);
            0.5 * (b - a).cross(c - a)
        })
        .collect();
    let mut mesh = HalfEdges::new(surface.triangles, &normals);
    let lengths = edge_lengths(surface.metrics);
    let given_length = cut_seams(&mut mesh, surface, &lengths);
    let mut charts = Charts::new(&mesh, &lengths, &normals);
    make_charts(&mut charts, surface, options, progress)?;
    let layouts = lay_out(&charts, surface, &normals, options, progress)?;
    let seam_length = given_length + seam_length(&mesh, &layouts, &lengths);
    packed(surface, &layouts, seam_length, options, progress)
}

impl Surface<'_> {
    fn check(&self) -> Result<(), UnwrapError> {
        let count = self.triangles.len();
        if self.triangles.iter().all(|&corners| is_line(corners)) {
            return Err(UnwrapError::NoTriangles);
        }
        let mismatch = |what, expected, found| UnwrapError::CountMismatch {
            what,
            expected,
            found,
        };
        if self.metrics.len() != count {
            return Err(mismatch("metrics", count, self.metrics.len()));
        }
        if !self.seams.is_empty() && self.seams.len() != 3 * count {
            return Err(mismatch("seams", 3 * count, self.seams.len()));
        }
        if !self.uvs.is_empty() && self.uvs.len() != count {
            return Err(mismatch("UVs of triangles", count, self.uvs.len()));
        }
        let largest = self.triangles.iter().flatten().max();
        if let Some(&point) = largest.filter(|&&point| point as usize >= self.rest.len()) {
            return Err(mismatch("points", point as usize + 1, self.rest.len()));
        }
        let is_finite = |m: &EdgeProducts| (m.ee + m.ef.abs() + m.ff).is_finite();
        match self.metrics.iter().position(|metric| !is_finite(metric)) {
            Some(triangle) => Err(UnwrapError::NotFinite { triangle }),
            None => Ok(()),
        }
    }
}

/// Cuts edges that are seams, and those whose two sides have different UVs; returns how long they are together.
fn cut_seams(mesh: &mut HalfEdges, surface: &Surface<'_>, lengths: &[f64]) -> f64 {
    let is_marked = |h: u32| surface.seams.get(h as usize).copied().unwrap_or(false);
    let uv = |h: u32| (surface.uvs.get(h as usize / 3)).map(|corners| corners[h as usize % 3]);
    let ends = |h: u32| [uv(h), uv(next_in_triangle(h))];
    let mut length = 0.0;
    for h in 0..mesh.twins.len() as u32 {
        let twin = mesh.twins[h as usize];
        if twin == NONE {
            continue;
        }
        let [start, end] = ends(twin);
        if is_marked(h) || is_marked(twin) || ends(h) != [end, start] {
            mesh.cut(h);
            length += lengths[h as usize];
        }
    }
    length
}

/// The length of the edge after each corner.
pub(super) fn edge_lengths(metrics: &[EdgeProducts]) -> Vec<f64> {
    let lengths = metrics.iter().flat_map(|m| {
        let third = m.ee - 2.0 * m.ef + m.ff;
        [m.ee, third, m.ff].map(|square| square.max(0.0).sqrt())
    });
    lengths.collect()
}

/// The side of a square with the area of the surface.
pub(super) fn root_of_area(metrics: &[EdgeProducts]) -> f64 {
    metrics
        .iter()
        .map(|metric| metric.area())
        .sum::<f64>()
        .sqrt()
}

fn make_charts(
    charts: &mut Charts<'_>,
    surface: &Surface<'_>,
    options: &UnwrapOptions,
    progress: &dyn Progress,
) -> Result<(), UnwrapError> {
    let count = surface.triangles.len();
    let growing = |merged| progress.report("charts", merged, count);
    let stopped = |is_done: bool| is_done.then_some(()).ok_or(UnwrapError::Stopped);
    if options.keep_seams {
        stopped(grow(charts, f64::INFINITY, 1, &growing))?;
        straighten(charts, &|_, _| true);
        return Ok(());
    }
    let least = options.charts.unwrap_or(1);
    for (round, folded) in FOLDED.into_iter().enumerate() {
        if round == 0 || charts.numbers().count() > MOST_GROWN {
            stopped(grow(charts, folded, least, &growing))?;
        }
    }
    let side = root_of_area(surface.metrics);
    let unit_of_texel = side / EXPECTED_PACKING.sqrt() / f64::from(options.size);
    let excess = options.max_stretch - 1.0;
    let mut stretches: Vec<f64> = RISING.iter().map(|share| 1.0 + share * excess).collect();
    if options.charts.is_some() {
        stretches.extend(
            BEYOND
                .iter()
                .filter(|&&beyond| beyond > options.max_stretch),
        );
    }
    let limits = JoinLimits {
        stretches,
        least_charts: least,
        least_width: options.min_width * unit_of_texel,
        narrow_stretch: NARROW_STRETCH.max(options.max_stretch),
        tries_all: options.charts.is_some(),
    };
    let grown = charts.numbers().count();
    let joining = |left: usize| progress.report("joining", grown - left, grown);
    // Who asks for a number of charts wants that, packed well or not.
    let side = options.charts.map_or(side, |_| f64::INFINITY);
    let joined = |piece: &Piece| match quick(piece) {
        Some(flat) if packs_well(piece, &flat, side, TO_JOIN) => judged(&flat),
        _ => f64::INFINITY,
    };
    stopped(join(charts, surface.metrics, &limits, &joined, &joining))?;
    let is_good = |charts: &Charts<'_>, chart: u32| {
        let piece = charts.piece(&[chart], &Seam::default(), surface.metrics);
        quick(&piece.piece).is_some_and(|flat| judged(&flat) <= options.max_stretch)
    };
    straighten(charts, &is_good);
    Ok(())
}

/// What a layout is judged by: its stretch, more where single triangles are stretched much.
pub(super) fn judged(flat: &Flat) -> f64 {
    flat.l2.max(1.0 + WORST_COUNTS * (flat.worst - 1.0))
}

/// A quick layout that does not overlap itself.
fn quick(piece: &Piece) -> Option<Flat> {
    let options = FlattenOptions {
        effort: Effort::Quick,
        ..FlattenOptions::default()
    };
    let flat = flatten(piece, &options).ok()?;
    flat.overlaps.is_none().then_some(flat)
}

/// Whether a layout can be part of a square of this side that is filled well: it is not too long and, unless it is small,
/// fills enough of the rectangle around it.
pub(super) fn packs_well(piece: &Piece, flat: &Flat, side: f64, shape: PackShape) -> bool {
    if side.is_infinite() {
        return true;
    }
    let chart = FlatChart {
        uvs: flat.uvs.clone(),
        triangles: piece.triangles.clone(),
    };
    let area = chart.area();
    sides_of_rectangle(&chart).is_ok_and(|[long, short]| {
        let is_full = area >= shape.fill * long * short || area <= SMALL * side * side;
        long <= shape.longest * side && is_full
    })
}

/// The length of all borders but for rims, each once.
fn seam_length(mesh: &HalfEdges, layouts: &[Layout], lengths: &[f64]) -> f64 {
    let borders = layouts.iter().flat_map(|layout| {
        let chart = &layout.chart;
        let halves = (0..chart.twins.len() as u32).filter(|&h| chart.twins[h as usize] == NONE);
        halves.map(|h| chart.in_mesh(h))
    });
    let seams = borders.filter(|&h| mesh.twins[h as usize] != NONE);
    0.5 * seams.map(|h| lengths[h as usize]).sum::<f64>()
}

/// Packs layouts, and numbers their vertices one after the other.
fn packed(
    surface: &Surface<'_>,
    layouts: &[Layout],
    seam_length: f64,
    options: &UnwrapOptions,
    progress: &dyn Progress,
) -> Result<Atlas, UnwrapError> {
    if !progress.report("packing", 0, 1) {
        return Err(UnwrapError::Stopped);
    }
    let flat = |layout: &Layout| {
        let scale = options.density.scale(layout.flat.l2);
        FlatChart {
            uvs: layout.flat.uvs.iter().map(|uv| scale * *uv).collect(),
            triangles: layout.chart.piece.triangles.clone(),
        }
    };
    let flats: Vec<FlatChart> = layouts.iter().map(flat).collect();
    let packed = pack(
        &flats,
        &PackOptions {
            size: options.size,
            padding: options.padding,
            // Who keeps given UVs may have turned them for a reason.
            rotations: match surface.uvs.is_empty() {
                true => Rotations::Free,
                false => Rotations::Keep,
            },
            scale: options.texels_per_unit,
        },
    )?;
    let mut atlas = Atlas {
        triangles: vec![[NONE; 3]; surface.triangles.len()],
        chart_of: vec![NONE; surface.triangles.len()],
        texels_per_unit: packed.scale,
        packing: packed.efficiency,
        seam_length,
        ..Atlas::default()
    };
    let mut sums = StretchSums::default();
    for (number, (layout, uvs)) in layouts.iter().zip(packed.uvs).enumerate() {
        let ChartPiece {
            piece,
            triangles,
            points,
            ..
        } = &layout.chart;
        let own = StretchSums::new(&piece.triangles, &piece.metrics, &uvs);
        atlas.charts.push(ChartFacts {
            triangles: triangles.len(),
            area: own.area,
            stretch: own.l2(),
            worst: layout.flat.worst,
            is_straight: layout.is_straight,
        });
        sums.stretch += own.stretch;
        sums.uv_area += own.uv_area;
        sums.area += own.area;
        let first = atlas.uvs.len() as u32;
        for (&t, corners) in triangles.iter().zip(&piece.triangles) {
            atlas.triangles[t as usize] = corners.map(|vertex| first + vertex);
            atlas.chart_of[t as usize] = number as u32;
        }
        atlas.uvs.extend(uvs);
        atlas.points.extend(points);
    }
    atlas.stretch = sums.l2();
    atlas.place_lines(surface.triangles);
    Ok(atlas)
}

impl Atlas {
    /// Gives triangles that name a point twice the UVs of their neighbours.
    fn place_lines(&mut self, triangles: &[[u32; 3]]) {
        let mut vertex_of: Vec<(u32, u32)> = self.points.iter().copied().zip(0..).collect();
        vertex_of.sort_unstable();
        let mut chart_of_vertex = vec![0; self.uvs.len()];
        for (corners, &chart) in self.triangles.iter().zip(&self.chart_of) {
            for &vertex in corners.iter().filter(|&&vertex| vertex != NONE) {
                chart_of_vertex[vertex as usize] = chart;
            }
        }
        for (t, corners) in triangles.iter().enumerate().filter(|(_, c)| is_line(**c)) {
            let known = corners.iter().find_map(|&point| {
                let at = vertex_of.partition_point(|&(other, _)| other < point);
                vertex_of.get(at).filter(|(other, _)| *other == point)
            });
            let (uv, chart) = known.map_or((DVec2::ZERO, 0), |&(_, vertex)| {
                (self.uvs[vertex as usize], chart_of_vertex[vertex as usize])
            });
            self.chart_of[t] = chart;
            self.triangles[t] = corners.map(|point| {
                let at = vertex_of.partition_point(|&(other, _)| other < point);
                match vertex_of.get(at) {
                    Some(&(other, vertex)) if other == point => vertex,
                    _ => {
                        self.points.push(point);
                        self.uvs.push(uv);
                        self.uvs.len() as u32 - 1
                    }
                }
            });
        }
    }
}
