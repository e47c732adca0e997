//! The match of two surfaces: for every sample of the coarse surface's atlas, the point of the detailed surface that it
//! shows.
//!
//! Points are matched in the rest pose and stay together in every other one: a point of a skinned surface is the same
//! triangle and weights in all poses, while nearness in a bent pose would tie an arm to the chest that it touches.

use glam::DVec3;

use super::surface::{BakeError, DrawnSurface, SurfacePoint, blend};
use super::texels::{AtlasOptions, CoveredTexel, TexelCover};
use super::tree::{Found, TriangleTree};
use crate::par;

/// How far apart two texture coordinates may be and still be the same, in turns of the atlas: rounding of 32 bits.
const SAME_UV: f64 = 1e-6;

/// How a point of the detailed surface is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// Along the coarse surface's interpolated normal, outwards or inwards, whichever is nearer. Neighbours on the coarse
    /// surface have neighbouring matches, so nothing is skipped or repeated in grooves.
    #[default]
    AlongNormal,
    /// The nearest point that faces the same way.
    Nearest,
    /// The point with the same texture coordinates; for levels that keep the coordinates of the full mesh.
    SameUv,
}

/// How two surfaces are matched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchOptions {
    /// How a point is found. Default: along the normal. Where it finds none, the nearest point that faces the same way is
    /// taken, and failing that the nearest.
    pub matching: Matching,
    /// How far along the normal to look, as a share of the diagonal of the detailed surface's box. Default 0.02. Larger
    /// finds matches of coarser levels, and wrong ones where parts lie close together.
    pub cage: f64,
    /// Whether a triangle is matched with triangles of the part of the same number only. Default true: skin does not take
    /// over what a coat shows. Parts that the detailed surface does not have are matched with all.
    pub same_part: bool,
}

impl Default for MatchOptions {
    fn default() -> Self {
        Self {
            matching: Matching::default(),
            cage: 0.02,
            same_part: true,
        }
    }
}

/// For every texel of the coarse surface's atlas, the points of both surfaces that it shows.
///
/// It takes 24 bytes for each sample: 70 MB for an atlas of 1024 × 1024 that is 70% full, at 4 samples a texel.
#[derive(Debug, Clone)]
pub struct SurfaceMap {
    size: usize,
    rows: Vec<MatchedRow>,
    target_triangles: usize,
    source_triangles: usize,
}

/// The matched samples of one row of the atlas, texel by texel.
#[derive(Debug, Clone, Default)]
pub struct MatchedRow {
    /// Texels that have samples, from left to right.
    pub texels: Vec<CoveredTexel>,
    /// Their samples, those of a texel together.
    pub samples: Vec<MatchedSample>,
    /// How many samples had no match of the kind asked for.
    fallback_count: usize,
}

/// Points of the two surfaces that show the same place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchedSample {
    /// The point of the coarse surface.
    pub target: SurfacePoint,
    /// The point of the detailed surface.
    pub source: SurfacePoint,
}

impl MatchedRow {
    /// The texels, each with its samples.
    pub fn iter(&self) -> impl Iterator<Item = (CoveredTexel, &[MatchedSample])> {
        let mut first = 0;
        self.texels.iter().map(move |&texel| {
            let samples = first..first + texel.sample_count as usize;
            first = samples.end;
            (texel, &self.samples[samples])
        })
    }
}

impl SurfaceMap {
    /// Texels along a side of the atlas.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Rows of the atlas, from the top.
    pub fn rows(&self) -> &[MatchedRow] {
        &self.rows
    }

    /// Checks that the surfaces can be the ones that were matched.
    pub(crate) fn check(
        &self,
        target: Option<&DrawnSurface<'_>>,
        source: &DrawnSurface<'_>,
    ) -> Result<(), BakeError> {
        let target = target.map_or(self.target_triangles, |t| t.triangles.len());
        let lengths = [
            (
                "triangles of the coarse surface",
                target,
                self.target_triangles,
            ),
            (
                "triangles of the detailed surface",
                source.triangles.len(),
                self.source_triangles,
            ),
        ];
        for (what, actual, expected) in lengths {
            if actual != expected {
                return Err(BakeError::Length {
                    what,
                    actual,
                    expected,
                });
            }
        }
        Ok(())
    }

    /// Samples of all texels.
    pub fn sample_count(&self) -> usize {
        self.rows.iter().map(|row| row.samples.len()).sum()
    }

    /// Samples that had no match of the kind asked for and took the nearest point instead.
    pub fn fallback_count(&self) -> usize {
        self.rows.iter().map(|row| row.fallback_count).sum()
    }
}

/// Matches the texels of the coarse surface's atlas with points of the detailed surface, in the rest pose.
///
/// Cost: O(s log n) for s samples and n triangles of the detailed surface.
///
/// ```
/// use dermis::bake::{AtlasOptions, DrawnSurface, MatchOptions, match_surfaces};
/// use glam::DVec3;
///
/// let (positions, normals) = (vec![vec![DVec3::ZERO, DVec3::X, DVec3::Y]], vec![vec![DVec3::Z; 3]]);
/// let coarse = DrawnSurface {
///     triangles: &[[0, 1, 2]],
///     parts: &[],
///     uvs: &[[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]],
///     positions: &positions,
///     normals: &normals,
/// };
/// let detailed = DrawnSurface { uvs: &[], ..coarse };
/// let atlas = AtlasOptions { size: 16, ..Default::default() };
/// let map = match_surfaces(&coarse, &detailed, atlas, &MatchOptions::default())?;
/// assert!(map.sample_count() > 16 * 16 * 4 / 2);
/// # Ok::<(), dermis::bake::BakeError>(())
/// ```
///
/// # Errors
/// A fault of either surface, no texture coordinates of the coarse one (of both, for [`Matching::SameUv`]), or a picture
/// of an impossible size: see [`BakeError`].
pub fn match_surfaces(
    target: &DrawnSurface<'_>,
    source: &DrawnSurface<'_>,
    atlas: AtlasOptions,
    options: &MatchOptions,
) -> Result<SurfaceMap, BakeError> {
    target.check()?;
    source.check()?;
    let cover = TexelCover::new(target, atlas)?;
    let matcher = Matcher::new(target, source, options)?;
    let rows = par::map(cover.size(), |row| matcher.row(&cover, row));
    Ok(SurfaceMap {
        size: cover.size(),
        rows,
        target_triangles: target.triangles.len(),
        source_triangles: source.triangles.len(),
    })
}

/// What is built once to match points.
struct Matcher<'a> {
    target: &'a DrawnSurface<'a>,
    source: &'a DrawnSurface<'a>,
    tree: TriangleTree,
    /// Texture coordinates as triangles of a plane.
    uv_tree: Option<TriangleTree>,
    cage: f64,
    matching: Matching,
    /// For each part of the target, whether the source has it too and its triangles are to stay with it.
    shared_parts: Vec<bool>,
}

impl<'a> Matcher<'a> {
    fn new(
        target: &'a DrawnSurface<'a>,
        source: &'a DrawnSurface<'a>,
        options: &MatchOptions,
    ) -> Result<Self, BakeError> {
        let matching = options.matching;
        if matching == Matching::SameUv && source.uvs.len() != source.vertex_count() {
            return Err(BakeError::Length {
                what: "texture coordinates of the detailed surface",
                actual: source.uvs.len(),
                expected: source.vertex_count(),
            });
        }
        let corners = (0..source.triangles.len()).map(|t| source.rest_corners(t));
        let flat = |t: &[u32; 3]| t.map(|c| uv_point(source.uvs, c));
        Ok(Self {
            target,
            source,
            tree: TriangleTree::new(corners),
            uv_tree: (matching == Matching::SameUv)
                .then(|| TriangleTree::new(source.triangles.iter().map(flat))),
            cage: options.cage.max(0.0) * diagonal(&source.positions[0]),
            matching,
            shared_parts: shared_parts(target, source, options.same_part),
        })
    }

    fn row(&self, cover: &TexelCover, row: usize) -> MatchedRow {
        let covered = cover.row(row);
        let mut matched = MatchedRow {
            texels: covered.texels,
            samples: Vec::with_capacity(covered.samples.len()),
            fallback_count: 0,
        };
        let mut previous = None;
        for point in covered.samples {
            let found = match self.first_choice(point, &mut previous) {
                Some(found) => Some(found),
                None => {
                    matched.fallback_count += usize::from(self.matching != Matching::Nearest);
                    self.nearest(point, &mut previous)
                }
            };
            // Only a source without triangles has no point at all; its samples are left without effect.
            let source = found.map(|f| SurfacePoint::new(f.triangle, f.weights));
            matched.samples.extend(source.map(|source| MatchedSample {
                target: point,
                source,
            }));
        }
        if matched.samples.is_empty() {
            matched.texels.clear();
        }
        matched
    }

    /// The match of the kind asked for.
    fn first_choice(
        &self,
        point: SurfacePoint,
        previous: &mut Option<SurfacePoint>,
    ) -> Option<Found> {
        match self.matching {
            Matching::AlongNormal => {
                let normal = self.target.normal_at(0, point);
                if normal == DVec3::ZERO {
                    return None;
                }
                let place = self.target_place(point);
                self.tree.crossing(place, normal, self.cage, |t, w| {
                    self.belongs(point.triangle, t) && self.faces(t, w, normal)
                })
            }
            Matching::Nearest => self.nearest(point, previous),
            Matching::SameUv => self.same_uv(point),
        }
    }

    /// The nearest point that faces the same way, or else the nearest of all.
    fn nearest(&self, point: SurfacePoint, previous: &mut Option<SurfacePoint>) -> Option<Found> {
        let (place, normal) = (self.target_place(point), self.target.normal_at(0, point));
        let accept =
            |t: u32, w: [f64; 3]| self.belongs(point.triangle, t) && self.faces(t, w, normal);
        // The last sample's match is near this one's, and whatever is nearer is nearer than that.
        let reach = previous
            .filter(|p| accept(p.triangle, p.weights()))
            .map_or(f64::INFINITY, |p| {
                self.source_place(p).distance(place) * (1.0 + 1e-6) + f64::MIN_POSITIVE
            });
        let found = self.tree.nearest(place, reach, accept);
        let found = found.or_else(|| self.tree.nearest(place, f64::INFINITY, accept));
        *previous = found.map(|f| SurfacePoint::new(f.triangle, f.weights));
        let any_side = |t: u32, _| self.belongs(point.triangle, t);
        found.or_else(|| self.tree.nearest(place, f64::INFINITY, any_side))
    }

    /// The point of the same texture coordinates; of several (mirrored halves) the one nearest in space.
    fn same_uv(&self, point: SurfacePoint) -> Option<Found> {
        let corners = self.target.triangles[point.triangle as usize];
        let uvs = corners.map(|c| uv_point(self.target.uvs, c));
        let weights = point.weights();
        let uv = weights[0] * uvs[0] + weights[1] * uvs[1] + weights[2] * uvs[2];
        let place = self.target_place(point);
        let mut best: Option<Found> = None;
        self.uv_tree.as_ref()?.within(uv, SAME_UV, |found| {
            if !self.belongs(point.triangle, found.triangle) {
                return;
            }
            let own = SurfacePoint::new(found.triangle, found.weights);
            let distance = self.source_place(own).distance(place);
            let nearer = best.is_none_or(|b| (distance, found.triangle) < (b.distance, b.triangle));
            if nearer {
                best = Some(Found { distance, ..found });
            }
        });
        best
    }

    /// Whether a triangle of the source may be a match of one of the target.
    fn belongs(&self, target: u32, source: u32) -> bool {
        let part = self.target.part(target as usize);
        let shared = self.shared_parts.get(part as usize).copied();
        !shared.unwrap_or(false) || self.source.part(source as usize) == part
    }

    fn faces(&self, triangle: u32, weights: [f64; 3], normal: DVec3) -> bool {
        let corners = self.source.triangles[triangle as usize];
        blend(&self.source.normals[0], corners, weights).dot(normal) > 0.0
    }

    fn target_place(&self, point: SurfacePoint) -> DVec3 {
        let corners = self.target.triangles[point.triangle as usize];
        blend(&self.target.positions[0], corners, point.weights())
    }

    fn source_place(&self, point: SurfacePoint) -> DVec3 {
        let corners = self.source.triangles[point.triangle as usize];
        blend(&self.source.positions[0], corners, point.weights())
    }
}

fn uv_point(uvs: &[[f32; 2]], vertex: u32) -> DVec3 {
    let [u, v] = uvs[vertex as usize];
    DVec3::new(f64::from(u), f64::from(v), 0.0)
}

fn diagonal(positions: &[DVec3]) -> f64 {
    let low = positions.iter().copied().reduce(DVec3::min);
    let high = positions.iter().copied().reduce(DVec3::max);
    low.zip(high).map_or(0.0, |(low, high)| low.distance(high))
}

/// For each part up to the largest of the target, whether the source has it too.
fn shared_parts(target: &DrawnSurface<'_>, source: &DrawnSurface<'_>, wanted: bool) -> Vec<bool> {
    if !wanted {
        return Vec::new();
    }
    let parts = |s: &DrawnSurface<'_>| {
        let mut parts: Vec<u32> = (0..s.triangles.len()).map(|t| s.part(t)).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    };
    let (own, theirs) = (parts(target), parts(source));
    let count = own.last().map_or(0, |&last| last as usize + 1);
    let mut shared = vec![false; count.min(1 << 16)];
    for part in own {
        if let Some(entry) = shared.get_mut(part as usize) {
            *entry = theirs.binary_search(&part).is_ok();
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::testing::{Shape, bumps, quad};

    const SMALL: AtlasOptions = AtlasOptions {
        size: 32,
        samples: 2,
        reach: 1.0,
    };

    fn places<'a>(
        map: &'a SurfaceMap,
        target: &'a DrawnSurface<'a>,
        source: &'a DrawnSurface<'a>,
    ) -> impl Iterator<Item = (DVec3, DVec3)> + 'a {
        let samples = map.rows().iter().flat_map(|row| &row.samples);
        samples.map(|s| {
            let place = |surface: &DrawnSurface<'_>, p: SurfacePoint| {
                let corners = surface.triangles[p.triangle as usize];
                blend(&surface.positions[0], corners, p.weights())
            };
            (place(target, s.target), place(source, s.source))
        })
    }

    #[test]
    fn a_surface_is_matched_with_itself() {
        let shape = Shape::sphere(12, 20, bumps);
        let surface = shape.surface();
        for matching in [Matching::AlongNormal, Matching::Nearest, Matching::SameUv] {
            let options = MatchOptions {
                matching,
                ..Default::default()
            };
            let map = match_surfaces(&surface, &surface, SMALL, &options).expect("a sphere");
            let worst = places(&map, &surface, &surface).map(|(a, b)| a.distance(b));
            let worst = worst.fold(0.0, f64::max);
            assert!(worst < 1e-6, "{matching:?}: {worst} apart");
            // At the border of the chart a texel of the frame may lie outside of every triangle.
            assert!(
                map.fallback_count() * 50 < map.sample_count(),
                "{matching:?}: {} of {} fell back",
                map.fallback_count(),
                map.sample_count()
            );
        }
    }

    #[test]
    fn a_coarse_sphere_is_matched_outwards() {
        let (coarse, fine) = (
            Shape::sphere(12, 20, |_, _| 0.0),
            Shape::sphere(60, 100, |_, _| 0.0),
        );
        let (target, source) = (coarse.surface(), fine.surface());
        for matching in [Matching::AlongNormal, Matching::Nearest, Matching::SameUv] {
            let options = MatchOptions {
                matching,
                ..Default::default()
            };
            let map = match_surfaces(&target, &source, SMALL, &options).expect("two spheres");
            for (a, b) in places(&map, &target, &source) {
                let angle = a.angle_between(b);
                assert!(
                    a.distance(b) < 0.06 && angle < 0.04,
                    "{matching:?}: {a} matched with {b}, {angle} off"
                );
            }
        }
    }

    #[test]
    fn a_point_is_not_matched_with_what_faces_away() {
        // A thin sheet of two sides: the back lies nearer than the front.
        let front = Shape::plate(4, |_, _| 0.05);
        let mut sheet = front.clone();
        let back = Shape::plate(4, |_, _| 0.01);
        let offset = sheet.positions[0].len() as u32;
        let turned = back
            .triangles
            .iter()
            .map(|t| [t[0], t[2], t[1]].map(|c| c + offset));
        sheet.triangles.extend(turned);
        sheet.uvs.extend(&back.uvs);
        sheet.positions[0].extend(&back.positions[0]);
        sheet.normals[0].extend(back.normals[0].iter().map(|n| -n));
        let target = quad(false);
        for matching in [Matching::AlongNormal, Matching::Nearest] {
            let options = MatchOptions {
                matching,
                ..Default::default()
            };
            let map = match_surfaces(&target.surface(), &sheet.surface(), SMALL, &options);
            let map = map.expect("a sheet");
            let (own, surface) = (target.surface(), sheet.surface());
            let front = places(&map, &own, &surface).all(|(_, b)| (b.z - 0.05).abs() < 1e-9);
            assert!(front, "{matching:?}: every match is on the front");
            assert_eq!(map.fallback_count(), 0, "{matching:?}");
        }
    }

    #[test]
    fn parts_keep_to_themselves_when_both_have_them() {
        let mut layers = Shape::plate(1, |_, _| 0.01);
        let coat = Shape::plate(1, |_, _| 0.02);
        layers.triangles.extend([[4, 6, 7], [4, 7, 5]]);
        layers.parts = vec![0, 0, 1, 1];
        layers.uvs.extend(&coat.uvs);
        layers.positions[0].extend(&coat.positions[0]);
        layers.normals[0].extend(&coat.normals[0]);
        let mut target = quad(false);
        let height = |part: u32, target: &mut Shape, same_part| {
            target.parts = vec![part; 2];
            let options = MatchOptions {
                same_part,
                ..Default::default()
            };
            let (own, surface) = (target.surface(), layers.surface());
            let map = match_surfaces(&own, &surface, SMALL, &options).expect("layers");
            let (_, place) = places(&map, &own, &surface).next().expect("samples");
            place.z
        };
        assert_eq!(height(1, &mut target, true), 0.02, "the coat");
        assert_eq!(height(1, &mut target, false), 0.01, "the nearer");
        assert_eq!(height(5, &mut target, true), 0.01, "a part of its own");
    }

    #[test]
    fn a_source_without_triangles_leaves_every_texel_open() {
        let target = quad(false);
        let mut nothing = quad(false);
        nothing.triangles.clear();
        let map = match_surfaces(
            &target.surface(),
            &nothing.surface(),
            SMALL,
            &MatchOptions::default(),
        );
        let map = map.expect("no fault");
        let open = map.rows().iter().all(|row| row.iter().next().is_none());
        assert!(open && map.sample_count() == 0, "no texel, no sample");
    }
}
