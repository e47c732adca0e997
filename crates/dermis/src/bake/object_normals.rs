//! Normals of a texel in any pose: the exact form of a normal map, for run-times of our own.
//!
//! \[Merry07\] §7.5 stores two tangents per texel and poses them, so that wrinkles which come and go with the pose are
//! shaded. A [`SurfaceMap`] holds as much in less: a triangle of the detailed surface and two weights per sample, whose
//! normal follows from the posed normals of the three vertices. It costs a posed detailed mesh, and is what a fixed map is
//! measured against.

use glam::DVec3;

use super::nearest::SurfaceMap;
use super::surface::{BakeError, DrawnSurface};
use crate::par;

impl SurfaceMap {
    /// The detailed surface's normal in pose `k` for every texel, row by row, of length 1; `None` where nothing is shown.
    ///
    /// # Errors
    /// A fault of the surface, another surface than was matched, or no such pose.
    pub fn object_normals(
        &self,
        source: &DrawnSurface<'_>,
        k: usize,
    ) -> Result<Vec<Option<DVec3>>, BakeError> {
        source.check()?;
        self.check(None, source)?;
        if k >= source.pose_count() {
            return Err(BakeError::Length {
                what: "poses of the detailed surface",
                actual: source.pose_count(),
                expected: k + 1,
            });
        }
        let rows = par::map(self.size(), |row| {
            let mut normals = vec![None; self.size()];
            for (texel, samples) in self.rows()[row].iter() {
                let sum: DVec3 = samples.iter().map(|s| source.normal_at(k, s.source)).sum();
                normals[texel.column as usize] = sum.try_normalize();
            }
            normals
        });
        Ok(rows.concat())
    }
}

#[cfg(test)]
mod tests {
    use crate::bake::nearest::{MatchOptions, match_surfaces};
    use crate::bake::testing::{Shape, bumps};
    use crate::bake::texels::AtlasOptions;

    /// R5 of the specification.
    #[test]
    fn a_texel_has_the_normal_of_its_point_in_every_pose() {
        let bends = [0.0, 0.6, 1.5];
        let shape = Shape::tube(20, 16, &bends, bumps);
        let surface = shape.surface();
        let atlas = AtlasOptions {
            size: 48,
            samples: 1,
            ..Default::default()
        };
        let map = match_surfaces(&surface, &surface, atlas, &MatchOptions::default());
        let map = map.expect("a tube");
        for k in 0..bends.len() {
            let normals = map.object_normals(&surface, k).expect("a pose");
            for (y, row) in map.rows().iter().enumerate() {
                for (texel, samples) in row.iter() {
                    let wanted = surface.normal_at(k, samples[0].target);
                    let own = normals[y * 48 + texel.column as usize].expect("a sample");
                    assert!(own.distance(wanted) < 1e-5, "pose {k}: {own}, not {wanted}");
                }
            }
        }
        assert!(map.object_normals(&surface, 3).is_err(), "no such pose");
    }
}
