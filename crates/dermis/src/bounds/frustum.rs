//! View-frustum culling: spheres against six planes.

use glam::{DMat4, DVec3, DVec4};

use crate::mesh::Ball;

/// The volume that a camera sees, as six planes.
///
/// A point `x` is inside when `n·x + d ≥ 0` for all planes `(n, d)`, `n` of unit length. The test of a
/// sphere is conservative: a sphere outside, near an edge of the frustum, may pass; a sphere that touches the
/// frustum always passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frustum {
    /// Left, right, bottom, top, near, far.
    pub planes: [DVec4; 6],
}

/// A perspective camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it stands.
    pub eye: DVec3,
    /// What it looks at.
    pub target: DVec3,
    /// Which way is up in the picture; not along the line of sight.
    pub up: DVec3,
    /// Angle between the lower and the upper edge of the picture, in radians, above 0 and below π.
    pub fov_y_rad: f64,
    /// Width of the picture over its height.
    pub aspect: f64,
    /// Distance of the near plane, above 0.
    pub near: f64,
    /// Distance of the far plane; infinity for none.
    pub far: f64,
}

impl Camera {
    /// `clip_from_world`, with `−w ≤ z ≤ w` as in OpenGL.
    pub fn clip_from_world(&self) -> DMat4 {
        let forward = (self.target - self.eye).normalize();
        let right = forward.cross(self.up).normalize();
        let up = right.cross(forward);
        let axis = |v: DVec3| v.extend(-v.dot(self.eye));
        let view = [axis(right), axis(up), axis(-forward)];
        let scale = 1.0 / (0.5 * self.fov_y_rad).tan();
        let (n, f) = (self.near, self.far);
        let (a, b) = match f.is_finite() {
            true => ((n + f) / (n - f), 2.0 * n * f / (n - f)),
            false => (-1.0, -2.0 * n),
        };
        DMat4::from_cols(
            view[0] * (scale / self.aspect),
            view[1] * scale,
            view[2] * a + DVec4::W * b,
            -view[2],
        )
        .transpose()
    }
}

impl Frustum {
    /// The frustum of a camera.
    pub fn of_camera(camera: &Camera) -> Self {
        Self::from_matrix(&camera.clip_from_world(), -1.0)
    }

    /// The planes of a projection: `clip_from_world` takes visible points to `−w ≤ x, y ≤ w` and
    /// `near_z · w ≤ z ≤ w`, with `near_z` −1 as in OpenGL and glTF viewers or 0 as elsewhere.
    ///
    /// A plane at infinity (no far plane) is kept as a plane that holds everything.
    pub fn from_matrix(clip_from_world: &DMat4, near_z: f64) -> Self {
        let row = |n: usize| clip_from_world.row(n);
        let (x, y, z, w) = (row(0), row(1), row(2), row(3));
        let near = z - near_z * w;
        let planes = [w + x, w - x, w + y, w - y, near, w - z];
        Self {
            planes: planes.map(unit_plane),
        }
    }

    /// Whether any part of a ball may be visible.
    pub fn may_see(&self, ball: &Ball) -> bool {
        let beyond = |plane: &DVec4| plane.truncate().dot(ball.center) + plane.w < -ball.radius;
        !self.planes.iter().any(beyond)
    }

    /// The indices, rising, of the balls of which any part may be visible.
    ///
    /// Works in batches without branches, about a nanosecond per ball and plane.
    pub fn visible(&self, balls: &[Ball]) -> Vec<usize> {
        /// Small enough to stay in registers, large enough to fill vectors.
        const BATCH: usize = 8;
        let mut seen = Vec::new();
        for (batch, chunk) in balls.chunks(BATCH).enumerate() {
            // How far inside the worst plane the centre is, less −radius.
            let mut margin = [f64::INFINITY; BATCH];
            for plane in &self.planes {
                let (n, d) = (plane.truncate(), plane.w);
                for (margin, ball) in margin.iter_mut().zip(chunk) {
                    *margin = margin.min(n.dot(ball.center) + d + ball.radius);
                }
            }
            let numbers = (batch * BATCH..).zip(&margin[..chunk.len()]);
            seen.extend(
                numbers
                    .filter(|(_, m)| **m >= 0.0)
                    .map(|(number, _)| number),
            );
        }
        seen
    }
}

/// A plane with a normal of unit length; one without a normal holds everything.
fn unit_plane(plane: DVec4) -> DVec4 {
    let length = plane.truncate().length();
    let largest = plane.abs().max_element();
    match length > 1e-12 * largest && length > 0.0 {
        true => plane / length,
        false => DVec3::ZERO.extend(f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CAMERA: Camera = Camera {
        eye: DVec3::new(3.0, 2.0, 5.0),
        target: DVec3::ZERO,
        up: DVec3::Y,
        fov_y_rad: 0.9,
        aspect: 1.5,
        near: 0.1,
        far: 100.0,
    };

    proptest! {
        /// No visible ball is culled.
        #[test]
        fn a_ball_with_a_visible_point_passes(
            center in prop::array::uniform3(-20.0..20.0f64),
            radius in 0.0..3.0f64,
            toward in prop::array::uniform3(-1.0..1.0f64),
        ) {
            let matrix = CAMERA.clip_from_world();
            let frustum = Frustum::from_matrix(&matrix, -1.0);
            let ball = Ball { center: DVec3::from_array(center), radius };
            let inside = ball.center + radius * DVec3::from_array(toward).clamp_length_max(1.0);
            let clip = matrix * inside.extend(1.0);
            let seen = clip.truncate().abs().max_element() <= clip.w;
            if seen {
                prop_assert!(frustum.may_see(&ball), "{ball:?} holds {inside}");
            }
            prop_assert_eq!(
                frustum.visible(&[ball; 11]).len(),
                if frustum.may_see(&ball) { 11 } else { 0 },
                "a crowd is tested as one is"
            );
        }
    }

    #[test]
    fn balls_behind_or_beside_the_camera_are_culled() {
        let frustum = Frustum::of_camera(&CAMERA);
        let ball = |x: f64, y: f64, z: f64| Ball {
            center: DVec3::new(x, y, z),
            radius: 0.5,
        };
        let crowd = [
            ball(0.0, 0.0, 0.0),
            ball(6.0, 4.0, 10.0),
            ball(0.0, 50.0, 0.0),
            ball(-3.0, -2.0, -5.0),
        ];
        assert_eq!(frustum.visible(&crowd), [0, 3], "behind, and above");
        let far = ball(-3e6, -2e6, -5e6);
        assert!(!frustum.may_see(&far), "beyond the far plane");
        let endless = Camera {
            far: f64::INFINITY,
            ..CAMERA
        };
        assert!(Frustum::of_camera(&endless).may_see(&far), "no far plane");
        let middle = CAMERA.clip_from_world() * DVec4::W;
        let at = middle.truncate() / middle.w;
        assert!(
            at.x.abs() < 1e-12 && at.y.abs() < 1e-12 && at.z.abs() < 1.0,
            "what is looked at is in the middle: {at}"
        );
    }
}
