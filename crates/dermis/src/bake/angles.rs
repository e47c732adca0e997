//! How far the shading of a coarse surface is from that of the detailed one, with its normal map and without.

use glam::DVec3;

use super::field::Picture;
use super::nearest::MatchedSample;
use super::normal_map::{NormalBake, decode_texel, uv_at};
use super::surface::{BakeError, DrawnSurface};
use super::texture::Texture;
use crate::par;

/// Angles between the normals that a coarse surface is drawn with and those of the detailed one, over the coarse surface
/// (by its area in the rest pose) and over poses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalAngles {
    /// With interpolated vertex normals alone.
    pub vertex_normals: AngleStatistics,
    /// With the normal map, read as a shader does: 8 bits, blended between texels.
    pub mapped: AngleStatistics,
}

/// Angles in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AngleStatistics {
    /// The mean.
    pub mean_degrees: f64,
    /// The root of the mean square.
    pub rms_degrees: f64,
    /// The largest.
    pub max_degrees: f64,
}

impl NormalBake<'_> {
    /// Measures the normals that a map gives over some poses, beside those of the vertices alone.
    ///
    /// # Errors
    /// As [`NormalBake::check`].
    pub fn angles(&self, picture: &Picture, poses: &[usize]) -> Result<NormalAngles, BakeError> {
        self.check(poses)?;
        let densities: Vec<f64> = (0..self.target.triangles.len())
            .map(|t| area_per_texel(self.target, t))
            .collect();
        let texture = Texture::new(picture);
        let rows = par::map(self.map.size(), |row| {
            let mut sums = [Sums::default(); 2];
            for (texel, samples) in self.map.rows()[row].iter() {
                // What only borders on a chart is no part of the surface.
                for sample in samples.iter().filter(|_| texel.inside) {
                    let weight = densities[sample.target.triangle as usize];
                    self.add_angles(&texture, sample, poses, weight, &mut sums);
                }
            }
            sums
        });
        let mut total = [Sums::default(); 2];
        for row in &rows {
            total[0].add(&row[0]);
            total[1].add(&row[1]);
        }
        Ok(NormalAngles {
            vertex_normals: total[0].statistics(),
            mapped: total[1].statistics(),
        })
    }

    fn add_angles(
        &self,
        texture: &Texture<'_>,
        sample: &MatchedSample,
        poses: &[usize],
        weight: f64,
        sums: &mut [Sums; 2],
    ) {
        let texel =
            uv_at(self.target, sample.target).and_then(|uv| texture.sample(uv, decode_texel));
        let [x, y, z, _] = texel.unwrap_or([0.0, 0.0, 1.0, 0.0]).map(f64::from);
        for &k in poses {
            let wanted = self.normal(k, sample.source);
            let frame = self.frame(k, sample.target);
            sums[0].take(angle(frame.z_axis, wanted), weight);
            sums[1].take(angle(frame * DVec3::new(x, y, z), wanted), weight);
        }
    }
}

/// Weighted sums of angles in radians.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    weight: f64,
    angle: f64,
    square: f64,
    max: f64,
}

impl Sums {
    fn take(&mut self, angle: f64, weight: f64) {
        self.weight += weight;
        self.angle += weight * angle;
        self.square += weight * angle * angle;
        self.max = self.max.max(angle);
    }

    fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.angle += other.angle;
        self.square += other.square;
        self.max = self.max.max(other.max);
    }

    fn statistics(&self) -> AngleStatistics {
        if self.weight <= 0.0 {
            return AngleStatistics::default();
        }
        AngleStatistics {
            mean_degrees: (self.angle / self.weight).to_degrees(),
            rms_degrees: (self.square / self.weight).sqrt().to_degrees(),
            max_degrees: self.max.to_degrees(),
        }
    }
}

/// The angle between two directions of any length, exact for small ones too; 0 when either has none.
fn angle(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

/// Area in space of a unit of area in the atlas; 0 for a triangle without area there, which has no samples.
fn area_per_texel(surface: &DrawnSurface<'_>, triangle: usize) -> f64 {
    let [a, b, c] = surface.rest_corners(triangle);
    let [s, t, u] = surface.triangles[triangle].map(|i| {
        let [u, v] = surface.uvs[i as usize].map(f64::from);
        glam::DVec2::new(u, v)
    });
    let flat = (t - s).perp_dot(u - s).abs();
    if flat > 0.0 {
        (b - a).cross(c - a).length() / flat
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::frames::{FrameRule, Frames};
    use crate::bake::nearest::{MatchOptions, match_surfaces};
    use crate::bake::testing::{Shape, quad};
    use crate::bake::texels::AtlasOptions;

    #[test]
    fn a_slope_of_a_tenth_is_six_degrees_off_without_a_map_and_none_with_it() {
        let (coarse, fine) = (quad(false), Shape::plate(4, |x, _| 0.1 * x));
        let (target, source) = (coarse.surface(), fine.surface());
        let atlas = AtlasOptions {
            size: 16,
            ..Default::default()
        };
        let options = MatchOptions {
            cage: 0.1,
            ..Default::default()
        };
        let map = match_surfaces(&target, &source, atlas, &options).expect("plates");
        let bake = NormalBake {
            map: &map,
            target: &target,
            frames: &Frames::at_rest(&target).expect("a quad"),
            source: &source,
            detail: None,
            rule: FrameRule::Mikkelsen,
        };
        let angles = bake.bake(&[0], 2).and_then(|p| bake.angles(&p, &[0]));
        let angles = angles.expect("a bake");
        let slope = 0.1_f64.atan().to_degrees();
        let off = |s: AngleStatistics| {
            [s.mean_degrees, s.rms_degrees, s.max_degrees].map(|a| (a - slope).abs())
        };
        let worst = off(angles.vertex_normals).into_iter().fold(0.0, f64::max);
        assert!(worst < 1e-9, "{angles:?} against {slope}");
        // A byte is 1/127.5, or 0.45°: half of it at the most in each of two directions.
        assert!(angles.mapped.max_degrees < 0.32, "{angles:?}");
    }

    #[test]
    fn parts_of_the_surface_count_by_their_area_and_not_by_their_texels() {
        let shape = Shape::sphere(8, 12, |_, _| 0.0);
        let surface = shape.surface();
        let total = |weight: &dyn Fn(usize) -> f64| -> f64 {
            (0..surface.triangles.len()).map(weight).sum()
        };
        let texels = |t: usize| {
            let [a, b, c] = surface.triangles[t].map(|i| {
                let [u, v] = surface.uvs[i as usize].map(f64::from);
                glam::DVec2::new(u, v)
            });
            (b - a).perp_dot(c - a).abs()
        };
        let weighted = total(&|t| area_per_texel(&surface, t) * texels(t));
        let area = total(&|t| {
            let [a, b, c] = surface.rest_corners(t);
            (b - a).cross(c - a).length()
        });
        assert!((weighted - area).abs() < 1e-12 * area, "{weighted}, {area}");
    }
}
