//! Where pictures are taken from: one place for all of them, or all around.

use std::f32::consts::TAU;

use dermis_render::glam::{Quat, Vec3};
use dermis_render::{Camera, UpAxis, three_quarter_direction};

use super::shown::Shot;
use crate::render_args::{RenderArgs, Side};

/// Places of a turn when nobody says how many: on a sheet, and as frames.
const AROUND: [usize; 2] = [8, 48];

/// A place to look from.
pub(super) struct View {
    pub(super) camera: Camera,
    /// How far around the character it is, in degrees.
    pub(super) degrees: f32,
}

/// The places of all pictures. Each has all shots in it, so that nothing jumps from picture to picture.
///
/// `standing` is the full character as it stands: what decides where it is seen from when nobody says, so that pictures of
/// other times and levels are taken from the same side.
pub(super) fn views(
    args: &RenderArgs,
    standing: &[Vec3],
    shots: &[Shot],
    size: [u32; 2],
    is_sheet: bool,
) -> Vec<View> {
    let aspect = size[0] as f32 / size[1] as f32;
    let points = || shots.iter().flat_map(|shot| shot.positions.iter().copied());
    let (direction, up) = direction(args, standing);
    if !args.turntable {
        let camera = framed(args, points(), direction, up, aspect);
        return vec![View {
            camera,
            degrees: 0.0,
        }];
    }
    let count = args.count.unwrap_or(AROUND[usize::from(!is_sheet)]);
    let axis = axis_of(points());
    let turned = |k: usize, point: Vec3| {
        let turn = Quat::from_rotation_y(k as f32 / count as f32 * TAU);
        axis + turn * (point - axis)
    };
    // What the camera sees from all around is what one camera sees of all that turns before it. More steps than these
    // change little.
    let steps = count.min(64);
    let around = (0..steps).flat_map(|k| {
        let turn = Quat::from_rotation_y(k as f32 / steps as f32 * TAU);
        points().map(move |point| axis + turn * (point - axis))
    });
    let first = framed(args, around, direction, up, aspect);
    let view = |k: usize| View {
        camera: Camera {
            eye: turned(k, first.eye),
            target: turned(k, first.target),
            up: turned(k, axis + first.up) - axis,
            ..first
        },
        degrees: k as f32 / count as f32 * 360.0,
    };
    (0..count).map(view).collect()
}

/// Which way the camera looks, and which way is up in the picture.
fn direction(args: &RenderArgs, standing: &[Vec3]) -> (Vec3, Vec3) {
    if let Some(direction) = args.direction {
        // In double precision, where no square is too large.
        let direction = Vec3::from(direction).as_dvec3().normalize();
        return (direction.as_vec3(), Vec3::Y);
    }
    match args.view {
        Side::ThreeQuarter => {
            let points = standing.iter().copied();
            (three_quarter_direction(points, UpAxis::Y), Vec3::Y)
        }
        Side::Front => (Vec3::NEG_Z, Vec3::Y),
        Side::Back => (Vec3::Z, Vec3::Y),
        // Who faces +Z has their left at +X.
        Side::Left => (Vec3::NEG_X, Vec3::Y),
        Side::Right => (Vec3::X, Vec3::Y),
        Side::Top => (Vec3::NEG_Y, Vec3::NEG_Z),
        Side::Bottom => (Vec3::Y, Vec3::Z),
    }
}

fn framed(
    args: &RenderArgs,
    points: impl Iterator<Item = Vec3>,
    direction: Vec3,
    up: Vec3,
    aspect: f32,
) -> Camera {
    match args.orthographic {
        true => Camera::framing_orthographic(points, direction, up, aspect),
        false => {
            let opening = args.field_of_view.to_radians();
            Camera::framing_perspective(points, direction, up, aspect, opening)
        }
    }
}

/// A point on the upright line through the middle of some points.
fn axis_of(points: impl Iterator<Item = Vec3>) -> Vec3 {
    let finite = points.filter(|p| p.is_finite());
    let (low, high) = finite.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
        (low.min(p), high.max(p))
    });
    let middle = (low + high) / 2.0;
    match middle.is_finite() {
        true => Vec3::new(middle.x, 0.0, middle.z),
        false => Vec3::ZERO,
    }
}
