//! What a pixel sees of a pattern that texture coordinates lay over a surface.
//!
//! A triangle is shaded once per pixel, so a pattern must be averaged over the pixel before it is sampled: squares
//! that shrink with distance would else turn into noise. Texture coordinates are a ratio of two functions that are
//! linear across the picture, which gives their derivatives exactly.

use glam::{DVec2, DVec3, Vec3};

/// Squares per pixel between which a chequerboard fades into the mean of its colours. A box alone is not enough: a
/// pixel as large as a square is all of one colour or half of each, depending on where it falls, and rows of such
/// pixels show rings that are not there.
const FADE: [f64; 2] = [0.5, 1.0];

/// The part of a texture that lies below a pixel, or below a part of one: a parallelogram about a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Footprint {
    /// Texture coordinate of the middle.
    pub(super) uv: DVec2,
    /// How far the coordinate moves from a pixel to the next one on the right, and to the next one below.
    pub(super) steps: [DVec2; 2],
    /// Side of the part, in pixels. It is below 1 where a pixel is shared with other triangles: each then answers for
    /// its own part, and the whole is no blurrier than elsewhere.
    pub(super) side: f64,
}

impl Footprint {
    /// `uvs` and `weights` belong to the corners, `lines` are the edges opposite to them, as homogeneous lines.
    ///
    /// With `lᵢ` the lines and `p = (x, y, 1)` the coordinate is `Σ uvᵢ (lᵢ·p) / Σ lᵢ·p`, and its derivative by x is
    /// `Σ (uvᵢ − uv) lᵢ.x / Σ lᵢ·p`. `None` when the coordinate is not finite.
    pub(super) fn new(
        uvs: [DVec2; 3],
        weights: Vec3,
        lines: &[DVec3; 3],
        [x, y]: [f64; 2],
        side: f64,
    ) -> Option<Self> {
        let weights = weights.as_dvec3();
        let uv = uvs[0] * weights.x + uvs[1] * weights.y + uvs[2] * weights.z;
        if !uv.is_finite() {
            return None;
        }
        let total = (lines[0] + lines[1] + lines[2]).dot(DVec3::new(x, y, 1.0));
        let mut steps = [DVec2::ZERO; 2];
        for (corner, line) in uvs.into_iter().zip(lines) {
            steps[0] += (corner - uv) * line.x;
            steps[1] += (corner - uv) * line.y;
        }
        // A triangle seen edge-on: everything is below one pixel.
        let steps = steps.map(|step| step / total).map(|step| {
            if step.is_finite() {
                step
            } else {
                DVec2::splat(1e9)
            }
        });
        Some(Self { uv, steps, side })
    }
}

/// How much of a footprint the first colour of a chequerboard covers, 0 to 1.
///
/// A square is of the first colour where the product of two square waves is positive. Averaged over a box the product
/// is that of the two averages; the box has the footprint's extent along each axis. Squares near the size of a pixel
/// fade, see [`FADE`].
pub(super) fn chequer_share(footprint: &Footprint, squares: f64) -> f32 {
    let [right, below] = footprint.steps;
    let (place, right, below) = (footprint.uv * squares, right * squares, below * squares);
    let wave =
        |place: f64, pixel: f64| mean_square_wave(place, pixel * footprint.side) * contrast(pixel);
    let u = wave(place.x, f64::hypot(right.x, below.x));
    let v = wave(place.y, f64::hypot(right.y, below.y));
    let share = 0.5 + 0.5 * u * v;
    if share.is_finite() { share as f32 } else { 0.5 }
}

/// Mean over `x ± width / 2` of the wave that is 1 from 0 to 1 and −1 from 1 to 2.
fn mean_square_wave(x: f64, width: f64) -> f64 {
    // The wave's integral goes up from 0 to 1 and down again.
    let integral = |x: f64| 1.0 - (x.rem_euclid(2.0) - 1.0).abs();
    // Narrower boxes only lose digits.
    let width = width.max(1e-6);
    let mean = (integral(x + width / 2.0) - integral(x - width / 2.0)) / width;
    mean.clamp(-1.0, 1.0)
}

/// What is left of the difference between the colours when a pixel is so many squares wide: 1 down to 0, smoothly.
fn contrast(width: f64) -> f64 {
    let [from, to] = FADE;
    let t = ((width - from) / (to - from)).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_square_wave_is_that_of_many_samples() {
        let wave = |x: f64| {
            if x.rem_euclid(2.0) < 1.0 { 1.0 } else { -1.0 }
        };
        for x in [-3.3, -0.5, 0.0, 0.2, 0.99, 1.5, 7.75] {
            for width in [0.01, 0.3, 1.0, 1.7, 2.0, 5.3] {
                let sum: f64 = (0..20_000)
                    .map(|i| wave(x + width * ((f64::from(i) + 0.5) / 20_000.0 - 0.5)))
                    .sum();
                let (sampled, exact) = (sum / 20_000.0, mean_square_wave(x, width));
                assert!(
                    (sampled - exact).abs() < 1e-3,
                    "at {x}, {width} wide: {exact}, sampled {sampled}"
                );
            }
        }
    }

    #[test]
    fn a_footprint_is_what_neighbouring_pixels_differ_by() {
        // A triangle in perspective: corners as (x·w, y·w, w).
        let corner = |x: f64, y: f64, w: f64| DVec3::new(x * w, y * w, w);
        let [a, b, c] = [
            corner(0.0, 0.0, 1.0),
            corner(100.0, 10.0, 3.0),
            corner(20.0, 90.0, 2.0),
        ];
        let lines = [b.cross(c), c.cross(a), a.cross(b)];
        let uvs = [DVec2::ZERO, DVec2::new(2.0, 0.5), DVec2::new(-1.0, 3.0)];
        let seen = |x: f64, y: f64| {
            let p = DVec3::new(x, y, 1.0);
            let raw = DVec3::new(lines[0].dot(p), lines[1].dot(p), lines[2].dot(p));
            let weights = (raw / raw.element_sum()).as_vec3();
            Footprint::new(uvs, weights, &lines, [x, y], 1.0).expect("finite")
        };
        let here = seen(40.0, 30.0);
        let neighbours = [[[39.5, 30.0], [40.5, 30.0]], [[40.0, 29.5], [40.0, 30.5]]];
        for (step, [before, after]) in here.steps.into_iter().zip(neighbours) {
            let difference = seen(after[0], after[1]).uv - seen(before[0], before[1]).uv;
            assert!(
                step.distance(difference) < 1e-4,
                "{step} against {difference}"
            );
        }
    }

    #[test]
    fn broken_coordinates_have_no_footprint_and_edge_on_triangles_an_endless_one() {
        let lines = [DVec3::X, DVec3::Y, DVec3::Z];
        let weights = Vec3::splat(1.0 / 3.0);
        let broken = [DVec2::NAN, DVec2::ZERO, DVec2::ZERO];
        assert!(
            Footprint::new(broken, weights, &lines, [0.0; 2], 1.0).is_none(),
            "not a number"
        );
        let uvs = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let flat = Footprint::new(uvs, weights, &[DVec3::ZERO; 3], [0.0; 2], 1.0).expect("finite");
        assert!(
            (chequer_share(&flat, 8.0) - 0.5).abs() < 1e-3,
            "the mean of both colours"
        );
    }
}
