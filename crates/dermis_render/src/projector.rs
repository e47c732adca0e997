//! From the world to the pixels of a picture, and back along a ray.

use glam::{DVec3, Vec3};

/// Unit vectors of a picture: to its right, to its top and away from the eye.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basis {
    pub(crate) right: DVec3,
    pub(crate) up: DVec3,
    pub(crate) forward: DVec3,
}

impl Basis {
    pub(crate) fn new(direction: Vec3, up: Vec3) -> Self {
        let forward = direction.as_dvec3().try_normalize().unwrap_or(DVec3::NEG_Z);
        let up = up.as_dvec3();
        let right = forward
            .cross(up)
            .try_normalize()
            .filter(|right| right.is_finite() && forward.cross(up).length() > 1e-6 * up.length())
            .unwrap_or_else(|| forward.any_orthonormal_vector());
        Self {
            right,
            up: right.cross(forward),
            forward,
        }
    }

    pub(crate) fn view_from_world(&self, p: DVec3) -> DVec3 {
        DVec3::new(p.dot(self.right), p.dot(self.up), p.dot(self.forward))
    }
}

/// A vertex in homogeneous pixel coordinates: divide `x` and `y` by `w` for pixels, `depth` by `w` for a
/// number that is linear across the picture and larger when nearer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projected {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) w: f64,
    pub(crate) depth: f64,
}

impl Projected {
    /// As a row of the 3×3 system that gives perspective-correct barycentric coordinates.
    pub(crate) fn xyw(self) -> DVec3 {
        DVec3::new(self.x, self.y, self.w)
    }

    pub(crate) fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.w.is_finite() && self.depth.is_finite()
    }
}

/// From the world to pixels, y down, pixel centres at halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projector {
    pub(crate) eye: DVec3,
    pub(crate) basis: Basis,
    pub(crate) perspective: bool,
    /// Smallest visible `w`; only for perspective.
    pub(crate) near: f64,
    pub(crate) pixels_per_unit: f64,
    /// Middle of the picture, in pixels.
    pub(crate) center: [f64; 2],
}

impl Projector {
    pub(crate) fn project(&self, p: Vec3) -> Projected {
        let view = self.basis.view_from_world(p.as_dvec3() - self.eye);
        // In perspective 1/w is the number that is linear across the picture; in parallel, depth itself is.
        let (w, depth) = if self.perspective {
            (view.z, 1.0)
        } else {
            (1.0, -view.z)
        };
        Projected {
            x: self.center[0] * w + self.pixels_per_unit * view.x,
            y: self.center[1] * w - self.pixels_per_unit * view.y,
            w,
            depth,
        }
    }

    /// Origin and (not normalised) direction of the ray through a pixel position.
    pub(crate) fn ray_in_world(&self, x: f64, y: f64) -> (DVec3, DVec3) {
        let across = self.basis.right * ((x - self.center[0]) / self.pixels_per_unit)
            + self.basis.up * ((self.center[1] - y) / self.pixels_per_unit);
        if self.perspective {
            (self.eye, self.basis.forward + across)
        } else {
            (self.eye + across, self.basis.forward)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_through_a_projected_point_meets_the_point() {
        let point = Vec3::new(0.3, -1.2, 2.0);
        for perspective in [true, false] {
            let projector = Projector {
                eye: DVec3::new(5.0, 4.0, 9.0),
                basis: Basis::new(Vec3::new(-0.5, -0.4, -0.9), Vec3::Y),
                perspective,
                near: 0.01,
                pixels_per_unit: 70.0,
                center: [50.0, 40.0],
            };
            let seen = projector.project(point);
            let (origin, direction) = projector.ray_in_world(seen.x / seen.w, seen.y / seen.w);
            let towards = point.as_dvec3() - origin;
            let miss = towards.cross(direction.normalize()).length();
            assert!(
                miss < 1e-9,
                "perspective {perspective}: the ray passes at {miss}"
            );
        }
    }

    #[test]
    fn depth_grows_towards_the_eye() {
        for perspective in [true, false] {
            let projector = Projector {
                eye: DVec3::ZERO,
                basis: Basis::new(Vec3::NEG_Z, Vec3::Y),
                perspective,
                near: 0.01,
                pixels_per_unit: 1.0,
                center: [0.0; 2],
            };
            let depth = |z: f32| {
                let seen = projector.project(Vec3::new(0.0, 0.0, z));
                seen.depth / seen.w
            };
            assert!(depth(-1.0) > depth(-2.0), "perspective {perspective}");
        }
    }
}
