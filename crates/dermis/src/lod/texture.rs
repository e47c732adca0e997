//! How far textures slide: the distance between the two points, of the given surface and of a level, that show one texel.
//!
//! Both are laid over each other in the texture (\[Merry07\] section 6.2). Where a given triangle and one of the level
//! overlap, both are linear functions of the texture's coordinates, and so is their difference; a norm is convex, so its
//! largest value over the overlap is at one of the corners. The norm is the root mean square over the sample poses.
//!
//! A level's triangle shows the chart that it began in, so that charts which share a place in the texture (mirrored
//! halves) are told apart. Where a chart lies over itself, the nearer of the two points counts.

use glam::DVec2;

use super::lanes::{LANES, Lanes3, ZERO3, dot3, sub3, sum, wide};
use super::quadrics::unit_normals;
use super::simplify::Given;
use super::snapshot::Snapshot;
use super::wedges::{EdgeKind, WedgeMesh};
use crate::par;

/// What a level does to textures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureDeviation {
    /// Largest distance between two points with the same place in the texture, root mean square over the sample poses, in
    /// model units.
    pub largest: f64,
    /// Root mean square of that distance over the textured surface, in model units: at most so much, since each overlap of
    /// two triangles counts with its largest.
    pub rms: f64,
    /// The share of what the given surface shows of its textures that the level does not show: strips along seams that
    /// became straighter.
    pub lost_share: f64,
}

/// Where the given surface shows its texture.
#[derive(Debug, Clone)]
pub(super) struct GivenTexture {
    /// Corners of each face in the texture; `None` for faces without one.
    corners: Vec<Option<[DVec2; 3]>>,
    pub(super) chart_of_face: Vec<u32>,
    chart_count: usize,
    /// The wedges of each face, and `width` numbers for each wedge.
    pub(super) wedges: Vec<[u32; 3]>,
    pub(super) attributes: Vec<f64>,
    pub(super) width: usize,
}

impl GivenTexture {
    /// `None` where nothing has a texture.
    pub(super) fn new(mesh: &WedgeMesh) -> Option<Self> {
        let corners: Vec<_> = (0..mesh.faces.len())
            .map(|face| texture_corners(mesh, face))
            .collect();
        if corners.iter().all(Option::is_none) {
            return None;
        }
        let mut chart_of_face = vec![u32::MAX; corners.len()];
        let mut chart_count = 0;
        let mut stack = Vec::new();
        for start in 0..corners.len() {
            if chart_of_face[start] != u32::MAX {
                continue;
            }
            chart_of_face[start] = chart_count as u32;
            stack.push(start);
            while let Some(face) = stack.pop() {
                let points = mesh.points(face);
                for k in 0..3 {
                    let [a, b] = [points[k], points[(k + 1) % 3]];
                    if mesh.edge_kind(a, b) != EdgeKind::Inner {
                        continue;
                    }
                    for next in mesh.faces_of_edge(a, b).map(|f| f as usize) {
                        if chart_of_face[next] == u32::MAX {
                            chart_of_face[next] = chart_count as u32;
                            stack.push(next);
                        }
                    }
                }
            }
            chart_count += 1;
        }
        Some(Self {
            corners,
            chart_of_face,
            chart_count,
            wedges: mesh.faces.clone(),
            attributes: mesh.attributes.clone(),
            width: mesh.width,
        })
    }
}

fn texture_corners(mesh: &WedgeMesh, face: usize) -> Option<[DVec2; 3]> {
    let corners = mesh.faces[face];
    let part = mesh.part_of_wedge[corners[0] as usize];
    let at = mesh.layouts[part as usize].first_uv?;
    let place = |wedge: u32| DVec2::from_slice(&mesh.values(wedge)[at..]);
    Some(corners.map(place))
}

impl Snapshot {
    /// What the level does to the textures of the given surface; `None` where it has none.
    pub(super) fn texture_deviation(
        &self,
        given: &Given,
        weights: &super::lanes::Lanes,
    ) -> Option<TextureDeviation> {
        let texture = given.texture.as_ref()?;
        let overlay = Overlay::new(texture, self);
        let of_faces = par::map(given.faces.len(), |face| {
            let own = texture.corners[face]?;
            let corners = given.faces[face].map(|p| &given.positions[p as usize]);
            let chart = texture.chart_of_face[face] as usize;
            Some(overlay.deviation(own, corners, chart, weights))
        });
        let all: Vec<FaceDeviation> = of_faces.into_iter().flatten().collect();
        let total = |of: fn(&FaceDeviation) -> f64| all.iter().map(of).sum::<f64>();
        let (surface, squares) = (total(|own| own.surface), total(|own| own.square));
        let (shown, whole) = (total(|own| own.shown), total(|own| own.whole));
        Some(TextureDeviation {
            largest: all.iter().map(|own| own.largest).fold(0.0, f64::max),
            rms: match surface > 0.0 {
                true => (squares / surface).sqrt(),
                false => 0.0,
            },
            lost_share: match whole > 0.0 {
                true => (1.0 - shown / whole).max(0.0),
                false => 0.0,
            },
        })
    }
}

/// What a level does to the texture of one given face.
struct FaceDeviation {
    /// Largest distance.
    largest: f64,
    /// Squared distances times the area on the surface.
    square: f64,
    /// Area on the surface that is shown, mean over the sample poses.
    surface: f64,
    /// Area in the texture that the level shows.
    shown: f64,
    /// Area in the texture.
    whole: f64,
}

/// A level's faces in the texture.
struct Overlay<'a> {
    level: &'a Snapshot,
    corners: Vec<Option<[DVec2; 3]>>,
    charts: Vec<Grid>,
}

impl<'a> Overlay<'a> {
    fn new(texture: &GivenTexture, level: &'a Snapshot) -> Self {
        let mesh = &level.model.mesh;
        let mut of_chart = vec![Vec::new(); texture.chart_count];
        let alive = (0..mesh.faces.len()).filter(|&face| mesh.is_alive[face]);
        let corners: Vec<_> = (alive.enumerate())
            .map(|(n, face)| {
                of_chart[texture.chart_of_face[face] as usize].push(n as u32);
                texture_corners(mesh, face)
            })
            .collect();
        let grid = |faces: Vec<u32>| Grid::new(faces, &corners);
        Self {
            level,
            charts: of_chart.into_iter().map(grid).collect(),
            corners,
        }
    }

    fn deviation(
        &self,
        own: [DVec2; 3],
        positions: [&Lanes3; 3],
        chart: usize,
        weights: &super::lanes::Lanes,
    ) -> FaceDeviation {
        let area = signed_area(own);
        let mut cells: Vec<(f64, f64)> = Vec::new();
        for face in self.charts[chart].faces_near(own) {
            let Some(other) = self.corners[face as usize] else {
                continue;
            };
            let cell = overlap(own, other);
            let covered = polygon_area(&cell);
            if covered <= 1e-12 * area.abs() {
                continue;
            }
            let level = self.level.faces[face as usize].map(|p| &self.level.positions[p as usize]);
            let apart = cell
                .iter()
                .map(|&u| apart([(own, positions), (other, level)], u, weights));
            cells.push((apart.fold(0.0, f64::max), covered));
        }
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let whole = area.abs();
        let (_, areas) = unit_normals(positions);
        let on_surface: f64 = areas.iter().zip(weights).map(|(a, w)| a * w).sum();
        let (mut largest, mut shown, mut squares) = (0.0, 0.0, 0.0);
        for (apart, covered) in cells {
            if shown >= (1.0 - 1e-9) * whole {
                break;
            }
            squares += covered.min(whole - shown) * apart * apart;
            (largest, shown) = (apart, shown + covered);
        }
        let shown = f64::min(shown, whole);
        // No area in the texture, no cells.
        let per_texel = if whole > 0.0 { on_surface / whole } else { 0.0 };
        FaceDeviation {
            largest,
            square: per_texel * squares,
            surface: per_texel * shown,
            shown,
            whole,
        }
    }
}

/// How far two triangles are apart at a place in the texture.
fn apart(
    triangles: [([DVec2; 3], [&Lanes3; 3]); 2],
    place: DVec2,
    weights: &super::lanes::Lanes,
) -> f64 {
    let [given, level] = triangles.map(|(corners, positions)| {
        let shares = barycentric(corners, place);
        wide(
            #[inline(always)]
            || blend(positions, shares),
        )
    });
    let between = sub3(&given, &level);
    let mut squares = dot3(&between, &between);
    for k in 0..LANES {
        squares[k] *= weights[k];
    }
    sum(&squares).sqrt()
}

#[inline(always)]
fn blend(corners: [&Lanes3; 3], shares: [f64; 3]) -> Lanes3 {
    let mut result = ZERO3;
    for (corner, share) in corners.into_iter().zip(shares) {
        for axis in 0..3 {
            for k in 0..LANES {
                result[axis][k] += share * corner[axis][k];
            }
        }
    }
    result
}

fn signed_area([a, b, c]: [DVec2; 3]) -> f64 {
    0.5 * (b - a).perp_dot(c - a)
}

fn barycentric([a, b, c]: [DVec2; 3], p: DVec2) -> [f64; 3] {
    let all = (b - a).perp_dot(c - a);
    let (s, t) = ((p - a).perp_dot(c - a) / all, (b - a).perp_dot(p - a) / all);
    [1.0 - s - t, s, t]
}

fn polygon_area(corners: &[DVec2]) -> f64 {
    let fan = |n: usize| signed_area([corners[0], corners[n], corners[n + 1]]);
    (1..corners.len().saturating_sub(1))
        .map(fan)
        .sum::<f64>()
        .abs()
}

/// What two triangles have in common: none where they run in opposite directions.
fn overlap(first: [DVec2; 3], second: [DVec2; 3]) -> Vec<DVec2> {
    let direction = signed_area(second);
    if direction * signed_area(first) <= 0.0 {
        return Vec::new();
    }
    let mut kept = first.to_vec();
    for n in 0..3 {
        let (from, to) = (second[n], second[(n + 1) % 3]);
        let side = |p: DVec2| direction.signum() * (to - from).perp_dot(p - from);
        let mut next = Vec::with_capacity(kept.len() + 1);
        for m in 0..kept.len() {
            let (p, q) = (kept[m], kept[(m + 1) % kept.len()]);
            let (a, b) = (side(p), side(q));
            if a >= 0.0 {
                next.push(p);
            }
            if (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0) {
                next.push(p.lerp(q, a / (a - b)));
            }
        }
        kept = next;
    }
    kept
}

/// Faces of a chart by where they are in the texture.
struct Grid {
    low: DVec2,
    /// Cells per unit of the texture.
    scale: DVec2,
    /// Cells along each side.
    side: usize,
    cells: Vec<Vec<u32>>,
}

impl Grid {
    fn new(faces: Vec<u32>, corners: &[Option<[DVec2; 3]>]) -> Self {
        let own = || (faces.iter()).filter_map(|&face| Some((face, corners[face as usize]?)));
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for place in own().flat_map(|(_, corners)| corners) {
            (low, high) = (low.min(place), high.max(place));
        }
        let side = ((faces.len() as f64).sqrt().ceil() as usize).clamp(1, 1024);
        let extent = (high - low).max(DVec2::splat(f64::MIN_POSITIVE));
        let mut grid = Self {
            low,
            scale: side as f64 / extent,
            side,
            cells: vec![Vec::new(); side * side],
        };
        for (face, corners) in own() {
            for cell in grid.cells_of(corners) {
                grid.cells[cell].push(face);
            }
        }
        grid
    }

    /// The faces whose cells a triangle touches, in rising order.
    fn faces_near(&self, corners: [DVec2; 3]) -> Vec<u32> {
        let cells = self.cells_of(corners);
        let mut faces: Vec<u32> = cells.flat_map(|cell| &self.cells[cell]).copied().collect();
        faces.sort_unstable();
        faces.dedup();
        faces
    }

    /// The cells of the box around a triangle.
    fn cells_of(&self, [a, b, c]: [DVec2; 3]) -> impl Iterator<Item = usize> + use<> {
        let side = self.side;
        let cell = |place: DVec2| {
            let at = (place - self.low) * self.scale;
            // What is not a number goes to the first cell.
            at.to_array().map(|x| (x.max(0.0) as usize).min(side - 1))
        };
        let (low, high) = (cell(a.min(b).min(c)), cell(a.max(b).max(c)));
        (low[1]..=high[1]).flat_map(move |y| (low[0]..=high[0]).map(move |x| y * side + x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lod::testing::{poses_of, simplifier_of, textured_tube};
    use crate::lod::{LevelTarget, LodOptions};
    use crate::progress::Silent;

    /// L3: at no place in the texture are the surfaces farther apart than at the farthest corner.
    #[test]
    fn fact_l3_no_texel_is_farther_off_than_the_farthest_corner() {
        let (made, draw) = textured_tube();
        let count = made.examples.rest().triangles().len();
        let options = LodOptions::default();
        let mut simplifier = simplifier_of(&made, &draw, &poses_of(&made), &options);
        for kept in [2, 6] {
            assert!(
                simplifier.run(LevelTarget::Triangles(count / kept), &Silent),
                "nobody stopped it"
            );
            let level = Snapshot::after(&simplifier, simplifier.operations.len());
            let (given, weights) = (&simplifier.given, &simplifier.samples.weights);
            let told = level
                .texture_deviation(given, weights)
                .expect("it has a texture");
            let found = farthest_sampled(&level, given, weights);
            assert!(
                found <= told.largest * (1.0 + 1e-9),
                "{found} at a sample, {} at a corner",
                told.largest
            );
            assert!(
                found > 0.8 * told.largest,
                "and samples come near: {found} of {}",
                told.largest
            );
            assert!(told.lost_share < 0.1, "{} is lost", told.lost_share);
        }
    }

    /// The largest of many distances between points of one place, found one by one.
    fn farthest_sampled(
        level: &Snapshot,
        given: &Given,
        weights: &super::super::lanes::Lanes,
    ) -> f64 {
        const FINE: usize = 24;
        let texture = given.texture.as_ref().expect("it has a texture");
        let overlay = Overlay::new(texture, level);
        let mesh = &level.model.mesh;
        let alive: Vec<usize> = (0..mesh.faces.len())
            .filter(|&f| mesh.is_alive[f])
            .collect();
        let mut farthest: f64 = 0.0;
        for (face, points) in given.faces.iter().enumerate() {
            let own = texture.corners[face].expect("every face has");
            let positions = points.map(|p| &given.positions[p as usize]);
            for n in 0..FINE * FINE {
                let (s, t) = (n % FINE, n / FINE);
                if s + t >= FINE || signed_area(own) == 0.0 {
                    continue;
                }
                let [s, t] = [s, t].map(|x| x as f64 / FINE as f64);
                let place = own[0] + s * (own[1] - own[0]) + t * (own[2] - own[0]);
                let nearest = (alive.iter().zip(&overlay.corners).enumerate())
                    .filter(|(_, (f, _))| texture.chart_of_face[**f] == texture.chart_of_face[face])
                    .filter_map(|(number, (_, corners))| {
                        let other = (*corners)?;
                        let shares = barycentric(other, place);
                        shares.iter().all(|w| *w >= 0.0).then(|| {
                            let corners = level.faces[number].map(|p| &level.positions[p as usize]);
                            apart([(own, positions), (other, corners)], place, weights)
                        })
                    })
                    .fold(f64::INFINITY, f64::min);
                if nearest.is_finite() {
                    farthest = farthest.max(nearest);
                }
            }
        }
        farthest
    }

    #[test]
    fn a_level_of_all_triangles_moves_no_texel() {
        let (made, draw) = textured_tube();
        let simplifier = simplifier_of(&made, &draw, &poses_of(&made), &LodOptions::default());
        let level = Snapshot::after(&simplifier, 0);
        let told = level.texture_deviation(&simplifier.given, &simplifier.samples.weights);
        let told = told.expect("it has a texture");
        let size = made.truth.size().expect("it has vertices");
        assert!(told.largest < 1e-9 * size, "{}", told.largest);
        assert!(told.lost_share < 1e-9, "{}", told.lost_share);
    }

    /// Two triangles of a square:
    /// ```text
    /// 3---2
    /// | / |
    /// 0---1
    /// ```
    #[test]
    fn triangles_overlap_in_polygons() {
        let place = |x: f64, y: f64| DVec2::new(x, y);
        let lower = [place(0.0, 0.0), place(1.0, 0.0), place(1.0, 1.0)];
        let upper = [place(0.0, 0.0), place(1.0, 1.0), place(0.0, 1.0)];
        let moved = lower.map(|p| p + place(0.25, 0.0));
        assert!(
            polygon_area(&overlap(lower, upper)) < 1e-12,
            "an edge is no overlap"
        );
        assert!(
            (polygon_area(&overlap(lower, lower)) - 0.5).abs() < 1e-12,
            "itself"
        );
        let common = polygon_area(&overlap(lower, moved));
        assert!((common - 0.28125).abs() < 1e-12, "{common}");
        let turned = [lower[0], lower[2], lower[1]];
        assert!(overlap(lower, turned).is_empty(), "mirrored");
    }
}
