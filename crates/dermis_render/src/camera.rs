//! Where a picture is taken from, and how to choose that place so that everything fits.
//!
//! [`Camera::framing`] moves a camera along a given direction until a set of points just fits the picture. It
//! is exact, not a bounding sphere's guess: each side of the picture is a plane through the eye, the
//! outermost point against each plane is known before the eye is, and the four of them decide where the eye
//! must be.
//!
//! [`three_quarter_direction`] chooses the direction for you. With `C` the covariance of the points, the area
//! that they spread over when seen along `d` grows with `dᵀ adj(C) d`; its best horizontal direction shows a
//! bent arm in the plane of its bend, and a character from the front or the back. From there the camera goes
//! 30° to the side and a little up, so that the picture has depth.

use glam::{DMat3, DMat4, DVec3, DVec4, Mat4, Vec3};

use crate::error::RenderError;
use crate::projector::{Basis, Projector};

/// Empty border that [`Camera::framing`] leaves on each side, as a fraction of the picture.
const MARGIN: f64 = 0.08;
/// How far [`three_quarter_direction`] turns to the side of the widest view, in radians (30°).
const SIDE_TURN_RAD: f64 = std::f64::consts::FRAC_PI_6;
/// How far [`three_quarter_direction`] looks down, in radians (17°).
const ELEVATION_RAD: f64 = 0.30;
/// When the widest view is wider than the narrowest by less than this factor, the object looks alike from all
/// sides (a sphere, a straight tube) and the usual front is used.
const ROUND_OBJECT: f64 = 1.15;
/// Vertical opening of a framing camera, in radians (28°): long enough a lens not to distort a character.
const FRAMING_FOV_Y_RAD: f32 = 0.49;
/// The narrowest and the widest lens that a framing camera can have, in radians (0.1° and 170°): beyond these its place
/// loses its digits.
const FOV_Y_RANGE: [f32; 2] = [0.00175, 2.967];
/// The nearest visible distance, as a fraction of the distance from eye to target.
const NEAR_FRACTION: f64 = 1e-3;

/// How far the clip space of a parallel camera reaches before and behind its eye, in distances from eye to target. The
/// rasteriser here has no such limit; [`Camera::framing_orthographic`] needs less than 3.
const ORTHOGRAPHIC_REACH: f64 = 16.0;

/// How depth shows in a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Far things look smaller, as to the eye.
    Perspective {
        /// Angle from the bottom to the top of the picture, in radians, above 0 and below π.
        fov_y_rad: f32,
    },
    /// Parallel lines stay parallel, as in a technical drawing. Nothing is ever behind the camera.
    Orthographic {
        /// Height of the visible part of the world, in model units, above 0.
        height: f32,
    },
}

/// The axis that points up in a mesh's file, which also says where its front is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpAxis {
    /// Y is up and characters face +Z: glTF, Maya, Houdini.
    #[default]
    Y,
    /// Z is up and characters face −Y: Blender, 3ds Max.
    Z,
}

impl UpAxis {
    /// The direction that is up.
    pub fn up(self) -> Vec3 {
        match self {
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
        }
    }

    /// The direction that a character usually faces.
    pub fn front(self) -> Vec3 {
        match self {
            Self::Y => Vec3::Z,
            Self::Z => -Vec3::Y,
        }
    }
}

/// A camera: an eye, the point it looks at, which way is up, and how depth shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where the eye is, in model units.
    pub eye: Vec3,
    /// A point that appears in the middle of the picture. Its distance also sets the near plane, at a
    /// thousandth.
    pub target: Vec3,
    /// Any direction that should point to the top of the picture; not parallel to the view.
    pub up: Vec3,
    /// Perspective or parallel.
    pub projection: Projection,
}

impl Camera {
    /// A perspective camera that looks along `direction` and just fits all points into the picture.
    ///
    /// `aspect` is width over height of the picture. Each side keeps a border of 8 %. Points that are not
    /// finite are ignored; without points the camera looks at the unit cube about the origin. When `up` is
    /// parallel to the direction, another up is chosen. For a box, pass its eight corners.
    ///
    /// ```
    /// use dermis_render::{Camera, glam::Vec3};
    ///
    /// let points = [Vec3::ZERO, Vec3::new(3.0, 1.0, 0.0)];
    /// let camera = Camera::framing(points, -Vec3::Z, Vec3::Y, 16.0 / 9.0);
    /// assert!(camera.eye.z > 3.0);
    /// ```
    pub fn framing(
        points: impl IntoIterator<Item = Vec3>,
        direction: Vec3,
        up: Vec3,
        aspect: f32,
    ) -> Self {
        Self::framing_perspective(points, direction, up, aspect, FRAMING_FOV_Y_RAD)
    }

    /// As [`Camera::framing`], with a lens of your choice: the angle from the bottom to the top of the picture, in radians,
    /// which is 0.49 (28°) there. Angles that no camera has are moved to the nearest that one can have.
    pub fn framing_perspective(
        points: impl IntoIterator<Item = Vec3>,
        direction: Vec3,
        up: Vec3,
        aspect: f32,
        fov_y_rad: f32,
    ) -> Self {
        let fov_y_rad = match fov_y_rad.is_nan() {
            true => FRAMING_FOV_Y_RAD,
            false => fov_y_rad.clamp(FOV_Y_RANGE[0], FOV_Y_RANGE[1]),
        };
        let basis = Basis::new(direction, up);
        let tan_y = f64::from(fov_y_rad / 2.0).tan();
        let tan = [
            tan_y * sane_aspect(aspect) * (1.0 - 2.0 * MARGIN),
            tan_y * (1.0 - 2.0 * MARGIN),
        ];
        let axes = [basis.right, basis.up];

        // Point p is left of the picture's right side when `x − tan·z ≤ eye_x − tan·eye_z`, and so on for all
        // four sides: only the largest left-hand sides matter.
        let mut high = [f64::NEG_INFINITY; 2];
        let mut low = [f64::NEG_INFINITY; 2];
        let mut depth = [f64::INFINITY, f64::NEG_INFINITY];
        let mut farthest = 0.0_f64;
        for p in finite_or_unit_cube(points) {
            farthest = farthest.max(p.abs().max_element());
            let z = p.dot(basis.forward);
            depth = [depth[0].min(z), depth[1].max(z)];
            for side in 0..2 {
                let x = p.dot(axes[side]);
                high[side] = high[side].max(x - tan[side] * z);
                low[side] = low[side].max(-x - tan[side] * z);
            }
        }
        let size = (depth[1] - depth[0])
            .max(high[0] + low[0] + 2.0 * tan[0] * depth[0])
            .max(high[1] + low[1] + 2.0 * tan[1] * depth[0]);
        let size = at_least_visible(size, farthest);
        // The fitting eye; for a single point it would sit on the point, so keep a little away.
        let eye_z = (0..2)
            .map(|side| -(high[side] + low[side]) / (2.0 * tan[side]))
            .fold(depth[0] - 0.5 * size, f64::min);
        let eye = basis.forward * eye_z
            + basis.right * (high[0] - low[0]) / 2.0
            + basis.up * (high[1] - low[1]) / 2.0;
        let middle = eye + basis.forward * ((depth[0] + depth[1]) / 2.0 - eye_z);
        Self {
            eye: eye.as_vec3(),
            target: middle.as_vec3(),
            up: basis.up.as_vec3(),
            projection: Projection::Perspective { fov_y_rad },
        }
    }

    /// As [`Camera::framing`], with parallel projection.
    pub fn framing_orthographic(
        points: impl IntoIterator<Item = Vec3>,
        direction: Vec3,
        up: Vec3,
        aspect: f32,
    ) -> Self {
        let basis = Basis::new(direction, up);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for p in finite_or_unit_cube(points) {
            let p = basis.view_from_world(p);
            low = low.min(p);
            high = high.max(p);
        }
        let size = high - low;
        let height = size.y.max(size.x / sane_aspect(aspect)) / (1.0 - 2.0 * MARGIN);
        let height = at_least_visible(height, high.abs().max(low.abs()).max_element());
        let middle = (low + high) / 2.0;
        let world = |v: DVec3| basis.right * v.x + basis.up * v.y + basis.forward * v.z;
        let eye = DVec3::new(middle.x, middle.y, low.z - size.z.max(height));
        Self {
            eye: world(eye).as_vec3(),
            target: world(middle).as_vec3(),
            up: basis.up.as_vec3(),
            projection: Projection::Orthographic {
                height: height as f32,
            },
        }
    }

    /// One good three-quarter view for several meshes, so that pictures side by side share their camera.
    ///
    /// Pass the positions of every mesh, and every frame, that will be drawn with it: see
    /// [`three_quarter_direction`] and [`Camera::framing`].
    pub fn three_quarter(meshes: &[&[Vec3]], up_axis: UpAxis, aspect: f32) -> Self {
        let points = || meshes.iter().flat_map(|mesh| mesh.iter().copied());
        Self::framing(
            points(),
            three_quarter_direction(points(), up_axis),
            up_axis.up(),
            aspect,
        )
    }

    /// Where a point appears in a picture, as fractions of its width from the left and of its height from the top;
    /// `None` when it is behind the eye or the camera cannot take pictures. Points beside the picture are outside 0..1.
    ///
    /// ```
    /// use dermis_render::{Camera, glam::Vec3};
    ///
    /// let camera = Camera::framing([Vec3::ZERO, Vec3::ONE], -Vec3::Z, Vec3::Y, 1.0);
    /// let [x, y] = camera.place_in_picture(camera.target, 1.0).expect("it is in front");
    /// assert!((x - 0.5).abs() < 1e-6 && (y - 0.5).abs() < 1e-6);
    /// ```
    pub fn place_in_picture(&self, point: Vec3, aspect: f32) -> Option<[f32; 2]> {
        const HEIGHT: f32 = 1000.0;
        let width = HEIGHT * sane_aspect(aspect) as f32;
        let projector = self.projector(width as u32, HEIGHT as u32).ok()?;
        let seen = projector.project(point);
        let is_visible = seen.is_finite() && (!projector.perspective || seen.w > projector.near);
        is_visible.then(|| {
            [
                (seen.x / seen.w) as f32 / width,
                (seen.y / seen.w) as f32 / HEIGHT,
            ]
        })
    }

    /// The matrix of this camera for a graphics card: from the world to clip space with x to the right, y up, and depth 0
    /// near to 1 far (as WebGPU, Direct3D and Metal have it; not reversed).
    ///
    /// In perspective, depth is 0 at the near plane, a thousandth of the distance from eye to target, and 1 at infinity:
    /// `1 − near / distance`. In parallel projection it runs evenly from 0 at 16 such distances behind the eye to 1 at 16
    /// before it. A point has the place in the picture that [`Camera::place_in_picture`] says.
    ///
    /// # Errors
    /// [`RenderError::BadCamera`].
    ///
    /// ```
    /// use dermis_render::{Camera, glam::{Vec2, Vec3}};
    ///
    /// let camera = Camera::framing([Vec3::ZERO, Vec3::ONE], -Vec3::Z, Vec3::Y, 1.5);
    /// let clip = camera.clip_from_world(1.5)? * camera.target.extend(1.0);
    /// assert!((clip.truncate().truncate() / clip.w).length() < 1e-6, "the middle of the picture");
    /// # Ok::<(), dermis_render::RenderError>(())
    /// ```
    pub fn clip_from_world(&self, aspect: f32) -> Result<Mat4, RenderError> {
        // A picture one pixel high has as many pixels per unit as it has heights per unit.
        let projector = self.projector(1, 1)?;
        let Basis { right, up, forward } = projector.basis;
        let scale = 2.0 * projector.pixels_per_unit;
        let distance = (self.target - self.eye).as_dvec3().length();
        let row =
            |direction: DVec3, offset: f64| direction.extend(offset - direction.dot(projector.eye));
        let (z, w) = if projector.perspective {
            (row(forward, -projector.near), row(forward, 0.0))
        } else {
            let reach = ORTHOGRAPHIC_REACH * distance;
            (row(forward / (2.0 * reach), 0.5), DVec4::W)
        };
        let rows = DMat4::from_cols(
            row(right * (scale / sane_aspect(aspect)), 0.0),
            row(up * scale, 0.0),
            z,
            w,
        );
        Ok(rows.transpose().as_mat4())
    }

    /// The unit vectors of the picture.
    pub(crate) fn basis(&self) -> Basis {
        Basis::new(self.target - self.eye, self.up)
    }

    /// The map from the world to the pixels of a picture.
    pub(crate) fn projector(&self, width: u32, height: u32) -> Result<Projector, RenderError> {
        let bad = |reason| Err(RenderError::BadCamera { reason });
        if !(self.eye.is_finite() && self.target.is_finite() && self.up.is_finite()) {
            return bad("eye, target and up must be finite");
        }
        let distance = (self.target - self.eye).as_dvec3().length();
        if distance == 0.0 {
            return bad("eye and target are the same point");
        }
        let (perspective, units_high) = match self.projection {
            Projection::Perspective { fov_y_rad }
                if fov_y_rad > 0.0 && fov_y_rad < std::f32::consts::PI =>
            {
                (true, 2.0 * f64::from(fov_y_rad / 2.0).tan())
            }
            Projection::Orthographic { height } if height > 0.0 && height.is_finite() => {
                (false, f64::from(height))
            }
            Projection::Perspective { .. } => return bad("fov_y_rad must be between 0 and π"),
            Projection::Orthographic { .. } => {
                return bad("the orthographic height must be above 0");
            }
        };
        Ok(Projector {
            eye: self.eye.as_dvec3(),
            basis: self.basis(),
            perspective,
            near: distance * NEAR_FRACTION,
            pixels_per_unit: f64::from(height) / units_high,
            center: [f64::from(width) / 2.0, f64::from(height) / 2.0],
        })
    }
}

/// Chooses the direction of a three-quarter view: from the front, a third of a quarter turn to the side, from
/// a little above.
///
/// "Front" is the horizontal direction from which the points spread widest; of the two such directions it is
/// the one nearer to [`UpAxis::front`], and for objects that look alike from all sides it is that front
/// itself.
pub fn three_quarter_direction(points: impl IntoIterator<Item = Vec3>, up_axis: UpAxis) -> Vec3 {
    let (up, front) = (up_axis.up().as_dvec3(), up_axis.front().as_dvec3());
    let side = up.cross(front);
    let spread = adjugate(covariance(points));
    // The quadratic form of `spread` on the horizontal plane, in the basis (front, side).
    let (a, b, c) = (
        front.dot(spread * front),
        front.dot(spread * side),
        side.dot(spread * side),
    );
    let half_gap = ((a - c) / 2.0).hypot(b);
    let (widest, narrowest) = ((a + c) / 2.0 + half_gap, (a + c) / 2.0 - half_gap);
    // `dᵀ adj(C) d` is an area squared.
    let angle = if widest > ROUND_OBJECT * ROUND_OBJECT * narrowest.max(0.0) {
        0.5 * (2.0 * b).atan2(a - c)
    } else {
        0.0
    };
    // atan2 gives an angle within a quarter turn of the front, which settles front against back.
    let yaw = angle + SIDE_TURN_RAD;
    let from =
        (front * yaw.cos() + side * yaw.sin()) * ELEVATION_RAD.cos() + up * ELEVATION_RAD.sin();
    -from.as_vec3()
}

fn sane_aspect(aspect: f32) -> f64 {
    if aspect.is_finite() && aspect > 0.0 {
        f64::from(aspect)
    } else {
        1.0
    }
}

/// A size large enough that `f32` does not round it to 0 at that distance from the origin.
fn at_least_visible(size: f64, farthest: f64) -> f64 {
    let smallest = if farthest > 0.0 { 1e-4 * farthest } else { 1.0 };
    size.max(smallest)
}

fn finite_or_unit_cube(points: impl IntoIterator<Item = Vec3>) -> Vec<DVec3> {
    let finite: Vec<DVec3> = points
        .into_iter()
        .filter(|p| p.is_finite())
        .map(|p| p.as_dvec3())
        .collect();
    if !finite.is_empty() {
        return finite;
    }
    (0..8)
        .map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) - 0.5)
        .collect()
}

fn covariance(points: impl IntoIterator<Item = Vec3>) -> DMat3 {
    let points = finite_or_unit_cube(points);
    let count = points.len() as f64;
    let mean = points.iter().sum::<DVec3>() / count;
    points.iter().fold(DMat3::ZERO, |sum, p| {
        let d = *p - mean;
        sum + DMat3::from_cols(d * d.x, d * d.y, d * d.z)
    }) * (1.0 / count)
}

/// The adjugate of a symmetric matrix: its columns are cross products of columns.
fn adjugate(m: DMat3) -> DMat3 {
    DMat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(camera: &Camera, width: u32, height: u32, points: &[Vec3]) -> Vec<[f64; 2]> {
        let projector = camera.projector(width, height).expect("a usable camera");
        points
            .iter()
            .map(|&p| {
                let q = projector.project(p);
                [q.x / q.w, q.y / q.w]
            })
            .collect()
    }

    /// A lopsided cloud: a spiral that drifts away.
    fn cloud() -> Vec<Vec3> {
        (0..200)
            .map(|i| {
                let t = i as f32 * 0.1;
                Vec3::new(t.cos() * 2.0 + 7.0, t * 0.3, t.sin() + t * 0.2 - 4.0)
            })
            .collect()
    }

    #[test]
    fn framing_touches_the_margin_and_never_crosses_it() {
        let points = cloud();
        for (width, height) in [(400, 400), (900, 300), (200, 700)] {
            let aspect = width as f32 / height as f32;
            for camera in [
                Camera::framing(
                    points.iter().copied(),
                    Vec3::new(-1.0, -0.4, -0.7),
                    Vec3::Y,
                    aspect,
                ),
                Camera::framing_orthographic(
                    points.iter().copied(),
                    Vec3::new(1.0, -0.4, 2.0),
                    Vec3::Y,
                    aspect,
                ),
                Camera::framing_perspective(
                    points.iter().copied(),
                    Vec3::new(1.0, -0.4, -2.0),
                    Vec3::Y,
                    aspect,
                    1.1,
                ),
            ] {
                let pixels = pixels(&camera, width, height, &points);
                let size = [f64::from(width), f64::from(height)];
                let reach = [0, 1].map(|axis| {
                    let low = pixels
                        .iter()
                        .map(|p| p[axis] / size[axis])
                        .fold(f64::INFINITY, f64::min);
                    let high = pixels
                        .iter()
                        .map(|p| p[axis] / size[axis])
                        .fold(0.0, f64::max);
                    (low, high)
                });
                for (low, high) in reach {
                    assert!(
                        low > MARGIN - 1e-3 && high < 1.0 - MARGIN + 1e-3,
                        "{reach:?} in {width}×{height}"
                    );
                }
                let tight = reach.iter().any(|(low, high)| {
                    (low - MARGIN).abs() < 1e-3 && (high - 1.0 + MARGIN).abs() < 1e-3
                });
                assert!(tight, "one axis is filled from margin to margin: {reach:?}");
            }
        }
    }

    #[test]
    fn clip_space_has_points_where_the_picture_has_them() {
        let points = cloud();
        for aspect in [1.0, 1.6, 0.4] {
            let direction = Vec3::new(-1.0, -0.4, -0.7);
            let close = Camera {
                eye: Vec3::new(6.0, 2.0, 1.0),
                target: Vec3::new(7.0, 3.0, -2.0),
                up: Vec3::new(0.2, 1.0, 0.0),
                projection: Projection::Perspective { fov_y_rad: 1.4 },
            };
            for camera in [
                Camera::framing(points.iter().copied(), direction, Vec3::Y, aspect),
                Camera::framing_orthographic(points.iter().copied(), direction, Vec3::Y, aspect),
                close,
            ] {
                let clip_from_world = camera.clip_from_world(aspect).expect("a usable camera");
                for &point in &points {
                    let clip = clip_from_world * point.extend(1.0);
                    let Some([x, y]) = camera.place_in_picture(point, aspect) else {
                        assert!(clip.z < 0.0 || clip.w <= 0.0, "behind the eye: {clip}");
                        continue;
                    };
                    let seen = [0.5 + 0.5 * clip.x / clip.w, 0.5 - 0.5 * clip.y / clip.w];
                    let tolerance = 1e-5 * (1.0 + x.abs() + y.abs());
                    assert!(
                        (seen[0] - x).abs() < tolerance && (seen[1] - y).abs() < tolerance,
                        "{seen:?}, not {:?}",
                        [x, y]
                    );
                    let depth = clip.z / clip.w;
                    assert!((0.0..=1.0).contains(&depth), "depth {depth}");
                }
                let towards = camera.target - camera.eye;
                let depth = |t: f32| {
                    let clip = clip_from_world * (camera.eye + towards * t).extend(1.0);
                    clip.z / clip.w
                };
                assert!(depth(0.5) < depth(1.0), "depth grows away from the eye");
                if let Projection::Perspective { .. } = camera.projection {
                    assert!(depth(1e-3).abs() < 1e-2, "0 at the near plane");
                }
            }
        }
    }

    #[test]
    fn missing_infinite_or_equal_points_still_give_a_usable_camera() {
        let clouds: [&[Vec3]; 4] = [
            &[],
            &[Vec3::NAN],
            &[Vec3::splat(5.0)],
            &[Vec3::ZERO, Vec3::new(0.0, 9.0, 0.0)],
        ];
        for points in clouds {
            for (direction, up) in [
                (-Vec3::Z, Vec3::Y),
                (-Vec3::Y, Vec3::Y),
                (Vec3::ZERO, Vec3::NAN),
            ] {
                let camera = Camera::framing(points.iter().copied(), direction, up, 1.0);
                assert!(camera.projector(10, 10).is_ok(), "{camera:?}");
                for lens in [f32::NAN, -1.0, 0.0, 1e-9, 4.0, f32::INFINITY] {
                    let points = points.iter().copied();
                    let camera = Camera::framing_perspective(points, direction, up, 1.0, lens);
                    assert!(camera.projector(10, 10).is_ok(), "{lens}: {camera:?}");
                }
                let camera =
                    Camera::framing_orthographic(points.iter().copied(), direction, up, f32::NAN);
                assert!(camera.projector(10, 10).is_ok(), "{camera:?}");
            }
        }
    }

    #[test]
    fn a_bent_arm_is_seen_across_the_plane_of_its_bend() {
        // An L in the plane x = 0: the widest view is along x.
        let arm: Vec<Vec3> = (0..20)
            .flat_map(|i| {
                let t = i as f32 / 20.0;
                [Vec3::new(0.05 * t, t, 0.0), Vec3::new(0.0, 0.0, t)]
            })
            .collect();
        let direction = three_quarter_direction(arm, UpAxis::Y);
        let flat = Vec3::new(direction.x, 0.0, direction.z).normalize();
        let turned = flat.dot(Vec3::X).abs().acos();
        assert!(
            (turned - SIDE_TURN_RAD as f32).abs() < 0.1,
            "turned by {turned}"
        );
        assert!(direction.y < 0.0, "from above");
    }

    #[test]
    fn a_round_object_is_seen_from_its_front() {
        let ring: Vec<Vec3> = (0..64)
            .flat_map(|i| {
                let (s, c) = (i as f32 * std::f32::consts::TAU / 64.0).sin_cos();
                [Vec3::new(c, 0.0, s), Vec3::new(c, 5.0, s)]
            })
            .collect();
        let y_up = three_quarter_direction(ring.iter().copied(), UpAxis::Y);
        assert!(y_up.z < -0.7, "glTF characters face +Z: {y_up}");
        let z_up =
            three_quarter_direction(ring.iter().map(|p| Vec3::new(p.x, -p.z, p.y)), UpAxis::Z);
        assert!(z_up.y > 0.7, "Blender characters face −Y: {z_up}");
    }

    #[test]
    fn cameras_that_see_nothing_are_refused() {
        let good = Camera::framing([], -Vec3::Z, Vec3::Y, 1.0);
        for bad in [
            Camera {
                eye: Vec3::NAN,
                ..good
            },
            Camera {
                target: good.eye,
                ..good
            },
            Camera {
                projection: Projection::Perspective { fov_y_rad: 4.0 },
                ..good
            },
            Camera {
                projection: Projection::Orthographic { height: -1.0 },
                ..good
            },
        ] {
            assert!(
                matches!(bad.projector(8, 8), Err(RenderError::BadCamera { .. })),
                "{bad:?} is refused"
            );
        }
    }
}
