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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: RenderArgs,
    }

    fn typed(flags: &str) -> RenderArgs {
        let words = ["render", "in.glb", "-o", "out.png"].into_iter();
        Typed::parse_from(words.chain(flags.split_whitespace())).args
    }

    /// A long thing that stands beside the origin, in two places.
    fn shots() -> Vec<Shot> {
        let long = |shift: f32| {
            let corners = [[5.0, 0.0, 0.0], [9.0, 0.5, 0.2], [5.0, 2.0, 0.3]];
            Shot {
                positions: corners.map(|c| Vec3::from(c) + shift * Vec3::Z).to_vec(),
                caption: String::new(),
                time: None,
            }
        };
        vec![long(0.0), long(1.5)]
    }

    #[test]
    fn all_of_all_pictures_is_seen_from_all_around_and_fills_the_picture() {
        let shots = shots();
        for flags in [
            "--turntable --count 5",
            "--turntable --orthographic --view top --count 3",
            "--field-of-view 90",
            "--direction 1,2,3",
        ] {
            let args = typed(flags);
            let found = views(&args, &shots[0].positions, &shots, [400, 200], true);
            let mut widest: f32 = 0.0;
            for view in &found {
                for point in shots.iter().flat_map(|shot| &shot.positions) {
                    let place = view.camera.place_in_picture(*point, 2.0);
                    let [x, y] = place.unwrap_or_else(|| panic!("{flags}: it is seen"));
                    let off = (x - 0.5).abs().max((y - 0.5).abs());
                    assert!(off < 0.43, "{flags}: at {x}, {y}");
                    widest = widest.max(off);
                }
            }
            assert!(widest > 0.25, "{flags}: {widest} is far from the border");
        }
    }

    #[test]
    fn sides_are_those_of_a_character_that_faces_z() {
        let shots = shots();
        for (side, towards) in [
            ("front", Vec3::Z),
            ("back", Vec3::NEG_Z),
            ("left", Vec3::X),
            ("right", Vec3::NEG_X),
            ("top", Vec3::Y),
            ("bottom", Vec3::NEG_Y),
        ] {
            let args = typed(&format!("--view {side}"));
            let views = views(&args, &shots[0].positions, &shots, [100, 100], false);
            let camera = &views[0].camera;
            let found = (camera.eye - camera.target).normalize();
            assert!(found.distance(towards) < 1e-4, "{side}: {found}");
        }
    }

    #[test]
    fn a_turn_goes_once_around() {
        let shots = shots();
        let args = typed("--turntable --count 4 --view front");
        let found = views(&args, &shots[0].positions, &shots, [100, 100], false);
        let degrees: Vec<f32> = found.iter().map(|view| view.degrees).collect();
        assert_eq!(degrees, [0.0, 90.0, 180.0, 270.0], "evenly");
        for (view, towards) in found
            .iter()
            .zip([Vec3::Z, Vec3::X, Vec3::NEG_Z, Vec3::NEG_X])
        {
            let seen_from = (view.camera.eye - view.camera.target).normalize();
            assert!(seen_from.distance(towards) < 1e-4, "{seen_from}");
        }
        let count = |flags: &str, is_sheet: bool| {
            views(
                &typed(flags),
                &shots[0].positions,
                &shots,
                [100, 100],
                is_sheet,
            )
            .len()
        };
        assert_eq!(count("--turntable", true), 8, "on a sheet");
        assert_eq!(count("--turntable", false), 48, "as frames");
        assert_eq!(count("", true), 1, "no turn");
    }
}
