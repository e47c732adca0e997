//! Which texels of an atlas are covered by which triangle, with several samples per texel.
//!
//! A texel that a triangle only touches, so that no sample falls into it, takes the triangle's point nearest to its centre:
//! bilinear filtering reads such texels along every chart's border. Rows are independent, so that threads can share them.
//!
//! Texture coordinates outside 0 to 1 wrap, as with glTF's `REPEAT`. Where triangles overlap in the atlas (mirrored halves
//! that share their texels) the first one owns the texel.

use glam::{DVec2, DVec3};

use super::surface::{BakeError, DrawnSurface, SurfacePoint};
use super::tree::closest_point;

/// Texels along a side that a picture can have.
const MAX_SIZE: usize = 16_384;

/// Turns of the atlas that a single triangle may span; one that spans more is left out, as its texels say nothing.
const MAX_TURNS: f64 = 4.0;

/// Size of a baked picture, and how finely texels are sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtlasOptions {
    /// Texels along each side, 1 to 16,384. Default 1024. Time and memory grow with its square.
    pub size: usize,
    /// Samples along each side of a texel, 1 to 8. Default 2, so 4 samples. More take away jags where colours change
    /// within a texel, and take time and 24 bytes each.
    pub samples: usize,
    /// How far outside every chart a texel's centre may lie and still be baked from the chart's nearest point, in texels.
    /// Default 1: farther ones are filled from their neighbours.
    pub reach: f64,
}

impl Default for AtlasOptions {
    fn default() -> Self {
        Self {
            size: 1024,
            samples: 2,
            reach: 1.0,
        }
    }
}

/// Which triangles each row of an atlas meets.
#[derive(Debug, Clone)]
pub(crate) struct TexelCover {
    options: AtlasOptions,
    /// Corners of the triangles, in texels.
    corners: Vec<[DVec2; 3]>,
    /// For each row, triangles that reach it and the row's number in their own turn of the atlas.
    rows: Vec<Vec<(u32, i32)>>,
}

/// The samples of one row, texel by texel.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoveredRow {
    /// The texels that have samples, from left to right.
    pub(crate) texels: Vec<CoveredTexel>,
    /// Points of the target, those of a texel together.
    pub(crate) samples: Vec<SurfacePoint>,
}

/// A texel and its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoveredTexel {
    /// Its column.
    pub column: u32,
    /// How many samples it has.
    pub sample_count: u32,
    /// Whether its samples lie in it; otherwise it only borders on a chart and has the chart's nearest point.
    pub inside: bool,
}

impl TexelCover {
    /// Sorts the triangles of a surface into the rows of an atlas.
    pub(crate) fn new(
        surface: &DrawnSurface<'_>,
        options: AtlasOptions,
    ) -> Result<Self, BakeError> {
        let size = options.size;
        if !(1..=MAX_SIZE).contains(&size) {
            return Err(BakeError::PictureSize { size });
        }
        if surface.uvs.len() != surface.vertex_count() {
            return Err(BakeError::Length {
                what: "texture coordinates of the coarse surface",
                actual: surface.uvs.len(),
                expected: surface.vertex_count(),
            });
        }
        let options = AtlasOptions {
            samples: options.samples.clamp(1, 8),
            reach: options.reach.clamp(0.0, 8.0),
            ..options
        };
        let place = |c: u32| {
            let [u, v] = surface.uvs[c as usize];
            DVec2::new(f64::from(u), f64::from(v)) * size as f64
        };
        let corners = surface.triangles.iter().map(|t| t.map(place));
        let mut cover = Self {
            options,
            corners: corners.map(|t| to_first_turn(t, size as f64)).collect(),
            rows: vec![Vec::new(); size],
        };
        for (triangle, corners) in (0..).zip(&cover.corners) {
            let (low, high) = bounds(corners, options.reach);
            if (high - low).max_element() > MAX_TURNS * size as f64 {
                continue;
            }
            for row in first_centre(low.y)..=last_centre(high.y) {
                cover.rows[row.rem_euclid(size as i32) as usize].push((triangle, row));
            }
        }
        Ok(cover)
    }

    /// Texels along a side.
    pub(crate) fn size(&self) -> usize {
        self.options.size
    }

    /// The samples of a row.
    pub(crate) fn row(&self, row: usize) -> CoveredRow {
        let per_texel = self.options.samples * self.options.samples;
        let mut owners: Vec<Option<SurfacePoint>> = vec![None; self.options.size * per_texel];
        let mut bordering: Vec<(f64, SurfacePoint)> =
            vec![(f64::INFINITY, SurfacePoint::default()); self.options.size];
        for &(triangle, own_row) in &self.rows[row] {
            self.sample(triangle, own_row, &mut owners, &mut bordering);
        }
        let mut covered = CoveredRow::default();
        for (column, samples) in (0..).zip(owners.chunks(per_texel)) {
            let before = covered.samples.len();
            covered.samples.extend(samples.iter().flatten());
            let inside = covered.samples.len() > before;
            let (away, nearest) = bordering[column as usize];
            if !inside && away <= self.options.reach {
                covered.samples.push(nearest);
            }
            if covered.samples.len() > before {
                covered.texels.push(CoveredTexel {
                    column,
                    sample_count: (covered.samples.len() - before) as u32,
                    inside,
                });
            }
        }
        covered
    }

    /// Gives the samples of a row that lie in a triangle to it, and its nearest points to texels around it.
    fn sample(
        &self,
        triangle: u32,
        row: i32,
        owners: &mut [Option<SurfacePoint>],
        bordering: &mut [(f64, SurfacePoint)],
    ) {
        let AtlasOptions {
            size,
            samples,
            reach,
        } = self.options;
        let corners = self.corners[triangle as usize];
        let (low, high) = bounds(&corners, reach);
        let inside = Barycentric::new(corners);
        let solid = corners.map(|c| c.extend(0.0));
        for column in first_centre(low.x)..=last_centre(high.x) {
            let wrapped = column.rem_euclid(size as i32) as usize;
            let mut any = false;
            for sample in 0..samples * samples {
                let step = |i: usize| (i as f64 + 0.5) / samples as f64;
                let offset = DVec2::new(step(sample % samples), step(sample / samples));
                let place = DVec2::new(f64::from(column), f64::from(row)) + offset;
                let Some(weights) = inside.as_ref().and_then(|b| b.weights(place)) else {
                    continue;
                };
                any = true;
                owners[wrapped * samples * samples + sample]
                    .get_or_insert(SurfacePoint::new(triangle, weights));
            }
            if any {
                continue;
            }
            let centre = DVec3::new(f64::from(column) + 0.5, f64::from(row) + 0.5, 0.0);
            let (weights, squared) = closest_point(centre, solid);
            if squared.sqrt() < bordering[wrapped].0 {
                bordering[wrapped] = (squared.sqrt(), SurfacePoint::new(triangle, weights));
            }
        }
    }
}

/// Moves a triangle by whole turns so that its low corner is in the first one.
fn to_first_turn(corners: [DVec2; 3], size: f64) -> [DVec2; 3] {
    let low = corners[0].min(corners[1]).min(corners[2]);
    let high = corners[0].max(corners[1]).max(corners[2]);
    // A triangle that ends exactly at 1 stays where it is, one that begins there moves.
    let turn = if high.max_element() <= size && low.min_element() >= 0.0 {
        DVec2::ZERO
    } else {
        (low / size).floor() * size
    };
    corners.map(|c| c - turn)
}

/// The box of a triangle, with the texels around it.
fn bounds(corners: &[DVec2; 3], reach: f64) -> (DVec2, DVec2) {
    let low = corners[0].min(corners[1]).min(corners[2]);
    let high = corners[0].max(corners[1]).max(corners[2]);
    (low - reach.max(0.5), high + reach.max(0.5))
}

/// The first texel whose centre is at or after a place.
fn first_centre(place: f64) -> i32 {
    (place - 0.5).ceil() as i32
}

/// The last texel whose centre is at or before a place.
fn last_centre(place: f64) -> i32 {
    (place - 0.5).floor() as i32
}

/// Barycentric weights of places in a flat triangle, whichever way round it is.
struct Barycentric {
    origin: DVec2,
    second: DVec2,
    third: DVec2,
}

impl Barycentric {
    /// `None` for a triangle without area.
    fn new([a, b, c]: [DVec2; 3]) -> Option<Self> {
        let (ab, ac) = (b - a, c - a);
        let area = ab.perp_dot(ac);
        if area == 0.0 || !area.is_finite() {
            return None;
        }
        Some(Self {
            origin: a,
            second: DVec2::new(ac.y, -ac.x) / area,
            third: DVec2::new(-ab.y, ab.x) / area,
        })
    }

    /// The weights of a place in the triangle or on its border.
    fn weights(&self, place: DVec2) -> Option<[f64; 3]> {
        let offset = place - self.origin;
        let (second, third) = (self.second.dot(offset), self.third.dot(offset));
        let first = 1.0 - second - third;
        let inside = first >= 0.0 && second >= 0.0 && third >= 0.0;
        inside.then_some([first, second, third])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cover(uvs: &[[f32; 2]], triangles: &[[u32; 3]], options: AtlasOptions) -> Vec<CoveredRow> {
        let poses = vec![vec![DVec3::ZERO; uvs.len()]];
        let surface = DrawnSurface {
            triangles,
            parts: &[],
            uvs,
            positions: &poses,
            normals: &poses,
        };
        let cover = TexelCover::new(&surface, options).expect("a picture of a fair size");
        (0..cover.size()).map(|row| cover.row(row)).collect()
    }

    const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn square(low: f32, high: f32) -> Vec<[f32; 2]> {
        vec![[low, low], [high, low], [high, high], [low, high]]
    }

    fn options(size: usize, reach: f64) -> AtlasOptions {
        AtlasOptions {
            size,
            samples: 2,
            reach,
        }
    }

    #[test]
    fn a_square_over_the_whole_atlas_owns_every_sample_once() {
        for row in cover(&square(0.0, 1.0), &SQUARE, options(8, 1.0)) {
            let full = |t: &CoveredTexel| t.inside && t.sample_count == 4;
            assert!(
                row.texels.len() == 8 && row.texels.iter().all(full),
                "every texel has four samples: {:?}",
                row.texels
            );
        }
    }

    #[test]
    fn samples_lie_where_their_weights_say() {
        let uvs = [[0.1, 0.2], [0.9, 0.3], [0.4, 0.8]];
        let rows = cover(&uvs, &[[0, 1, 2]], options(16, 0.0));
        let mut count = 0;
        for (y, row) in rows.iter().enumerate() {
            let mut samples = row.samples.iter();
            for texel in &row.texels {
                for sample in samples.by_ref().take(texel.sample_count as usize) {
                    let weights = sample.weights();
                    let at = |i: usize| -> f64 {
                        let terms = weights.iter().zip(&uvs);
                        16.0 * terms.map(|(w, uv)| w * f64::from(uv[i])).sum::<f64>()
                    };
                    let (du, dv) = (at(0) - f64::from(texel.column), at(1) - y as f64);
                    assert!(
                        (0.0..=1.0).contains(&du) && (0.0..=1.0).contains(&dv),
                        "sample at {du}, {dv} of its texel"
                    );
                    count += 1;
                }
            }
        }
        // The triangle has 0.215 of the area of 16 × 16 × 4 samples.
        assert!((200..=240).contains(&count), "{count} samples");
    }

    #[test]
    fn a_border_is_one_texel_wide_and_does_not_replace_samples() {
        let rows = cover(&square(0.25, 0.75), &SQUARE, options(16, 1.0));
        let inside: usize = rows.iter().map(|r| inside_count(r, true)).sum();
        let border: usize = rows.iter().map(|r| inside_count(r, false)).sum();
        assert_eq!(inside, 64, "the square itself");
        // Centres of the four corner texels are 0.71 texels away.
        assert_eq!(border, 36, "a frame around it");
        let bare = cover(&square(0.25, 0.75), &SQUARE, options(16, 0.0));
        let border: usize = bare.iter().map(|r| inside_count(r, false)).sum();
        assert_eq!(border, 0, "no reach, no frame");
    }

    fn inside_count(row: &CoveredRow, inside: bool) -> usize {
        row.texels.iter().filter(|t| t.inside == inside).count()
    }

    #[test]
    fn coordinates_beyond_the_atlas_wrap() {
        let here = cover(&square(0.25, 0.5), &SQUARE, options(16, 1.0));
        let there = cover(&square(-2.75, -2.5), &SQUARE, options(16, 1.0));
        for (a, b) in here.iter().zip(&there) {
            assert_eq!(a.texels, b.texels, "three turns away is the same place");
        }
        let across = cover(&square(0.75, 1.25), &SQUARE, options(16, 0.0));
        let columns: Vec<u32> = across[0].texels.iter().map(|t| t.column).collect();
        assert_eq!(columns, [0, 1, 2, 3, 12, 13, 14, 15], "both sides");
    }

    #[test]
    fn triangles_without_area_or_beyond_all_measure_do_no_harm() {
        let uvs = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [1e9, 0.0]];
        let rows = cover(&uvs, &[[0, 1, 2], [0, 1, 3]], options(16, 0.8));
        let covered: usize = rows.iter().map(|r| r.texels.len()).sum();
        assert_eq!(covered, 4, "a point has the four texels around it");
    }
}
