//! A crowd in an engine's loop: characters outside the picture are skipped, and none vanishes that could be seen.
//!
//! `cargo run --example bounds_in_a_loop`; explained in docs/examples/bounds_in_a_loop.md.

use std::path::Path;

use dermis::bounds::{Camera, Frustum};
use dermis::document::{AssumedPoses, Spheres};
use dermis::joint::JointLimits;
use dermis::mesh::Ball;
use dermis::run::{Player, PlayerOptions};
use glam::{DVec3, Vec3};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/dermis_skin_v1.glb");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = dermis_io::read(Path::new(FILE))?;
    let mut player = Player::new(&file, &PlayerOptions::default())?;

    // Once per character: a sphere that holds it while every joint stays within the range that it has in the clips,
    // in any combination. (`dermis bounds` writes the sphere into the file, so that an engine only has to read it.)
    let (skin, shown) = (file.expect_skin()?, file.shown_poses()?);
    let seen = skin.joint_statistics(&shown[0].poses);
    let limits: Vec<JointLimits> = seen.iter().map(JointLimits::from_statistics).collect();
    let assumes = AssumedPoses::Seen;
    let spheres = Spheres::new(&file, skin, &shown, &limits, assumes)?;
    let sphere = spheres.record.best().ok_or("this skin has no sphere")?;
    println!("radius {:.2}, for {}", sphere.radius, assumes.description());

    // A thousand on a field. The sphere moves with its character and never changes.
    let at = |n: u32| 4.0 * DVec3::new(f64::from(n % 40) - 19.5, 0.0, f64::from(n / 40) - 12.0);
    let crowd: Vec<DVec3> = (0..1000).map(at).collect();
    let radius = sphere.radius;
    let ball = |place: &DVec3| Ball {
        center: sphere.center + *place,
        radius,
    };
    let balls: Vec<Ball> = crowd.iter().map(ball).collect();

    for frame in 0..4 {
        let turn = 0.5 * f64::from(frame);
        let eye = DVec3::new(0.0, 3.0, 0.0);
        let target = eye + DVec3::new(turn.sin(), -0.1, turn.cos());
        let (up, fov_y_rad, aspect, near, far) = (DVec3::Y, 0.8, 1.6, 0.1, 60.0);
        let camera = Camera {
            eye,
            target,
            up,
            fov_y_rad,
            aspect,
            near,
            far,
        };
        let frustum = Frustum::of_camera(&camera);
        // The engine's part: only these are posed and drawn.
        let visible = frustum.visible(&balls);
        println!(
            "frame {frame}: {} of {} may be seen",
            visible.len(),
            crowd.len()
        );
        assert!(
            visible.len() < crowd.len() / 2,
            "most are beside or behind the camera"
        );

        // The proof: pose all of them, each at a time of its own, and look for points within the picture.
        for (n, place) in crowd.iter().enumerate() {
            player.play_looped(&file.clips[0].name, turn + 0.01 * n as f64)?;
            let is_seen = player.positions().iter().any(|point| {
                let point = (Vec3::from_array(*point).as_dvec3() + *place).extend(1.0);
                frustum.planes.iter().all(|plane| plane.dot(point) >= 0.0)
            });
            assert!(!is_seen || visible.contains(&n), "character {n} vanished");
        }
    }
    Ok(())
}
