//! Where a crowd is seen from.

use dermis_gpu::crowd::{Character, Spread};
use dermis_render::glam::{DVec3, Vec3};
use dermis_render::{Camera, Projection};

use crate::crowd_args::CrowdArgs;

/// Height of the camera, in heights of the character.
const HEIGHT: f64 = 2.6;
/// How far behind the front row it is, as a share of the crowd's depth: near enough for faces, with crowd on all sides.
const BEHIND_FRONT: f64 = 0.2;
/// What it looks at is lower than itself by this share of the distance.
const DOWN: f64 = 0.24;
/// And to the side by this one, so that rows do not line up with the picture.
const ASIDE: f64 = 0.22;

/// The camera that was asked for, or one that looks across the crowd.
pub(super) fn camera(args: &CrowdArgs, character: &Character, spread: &Spread) -> Camera {
    let height = character.height();
    let [_, rows] = spread.grid();
    let depth = spread.distance(character) * (rows - 1) as f64;
    let [eye, target] = match args.camera {
        Some(given) => given.map(DVec3::from_array),
        None => {
            let before_front = match args.distance {
                Some(heights) => heights * height,
                None => (3.0 * height).min(0.1 * depth) - BEHIND_FRONT * depth,
            };
            let eye = DVec3::new(
                0.0,
                args.height.unwrap_or(HEIGHT) * height,
                0.5 * depth + before_front,
            );
            [eye, eye + height * DVec3::new(-ASIDE, -DOWN, -1.0)]
        }
    };
    let along = (target - eye).normalize_or(-DVec3::Z);
    Camera {
        eye: eye.as_vec3(),
        // Its distance sets the near plane, at a thousandth: nobody comes nearer than half a height.
        target: (eye + 20.0 * height * along).as_vec3(),
        up: if along.y.abs() > 0.999 {
            Vec3::Z
        } else {
            Vec3::Y
        },
        projection: Projection::Perspective {
            fov_y_rad: args.field_of_view.to_radians() as f32,
        },
    }
}
