//! A flag in the wind: cloth that a few bones cannot move exactly.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use crate::example::{MeshAnimation, MeshClip};
use crate::mesh::TriMesh;

/// Size of a flag and length of its motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagOptions {
    /// Points along the flag, from the pole to the free side; at least 2.
    pub width: usize,
    /// Points along the pole; at least 2.
    pub height: usize,
    /// Frames, 30 a second; at least 1. The first is some way into the motion, so not flat.
    pub frame_count: usize,
}

impl Default for FlagOptions {
    /// The size of the flag that \[Kavan10\] measures: 6942 points (theirs has 6906) in 200 frames.
    fn default() -> Self {
        Self {
            width: 89,
            height: 78,
            frame_count: 200,
        }
    }
}

/// Length of the flag along the wind, in its own height.
const LENGTH: f64 = 1.5;
/// Waves that travel over the flag. Many of different lengths and speeds make its motion need many
/// dimensions: so many, and so quickly weaker, that a basis within half a thousandth has about as many
/// columns as the flag of \[Kavan10\] Table 1.
const WAVES: usize = 76;

/// One wave: the phase is `wave · place − speed · time + start`.
struct Wave {
    wave: DVec2,
    speed: f64,
    start: f64,
    /// How far it moves a point, for each axis.
    amplitude: DVec3,
    /// How it comes and goes with the gusts: turns per second, and where it begins.
    gust: (f64, f64),
}

/// Makes a flag, pinned to its pole at `x = 0`, waving by formula; the rest mesh is flat.
///
/// Waves travel from the pole to the free side, where they are largest, and swell with gusts of their
/// own.
pub fn flag(options: &FlagOptions) -> MeshAnimation {
    let (width, height) = (options.width.max(2), options.height.max(2));
    let places: Vec<DVec2> = (0..width * height)
        .map(|at| {
            let along = (at % width) as f64 / (width - 1) as f64;
            let up = (at / width) as f64 / (height - 1) as f64;
            DVec2::new(LENGTH * along, up)
        })
        .collect();
    let rest = places.iter().map(|place| place.extend(0.0)).collect();
    let corner = |row: usize, column: usize| (row * width + column) as u32;
    let triangles = (0..height - 1)
        .flat_map(|row| (0..width - 1).map(move |column| (row, column)))
        .flat_map(|(r, c)| {
            let [a, b] = [corner(r, c), corner(r, c + 1)];
            let [d, e] = [corner(r + 1, c), corner(r + 1, c + 1)];
            [[a, b, e], [a, e, d]]
        })
        .collect();
    let waves: Vec<Wave> = (0..WAVES).map(wave).collect();
    let frames = (0..options.frame_count.max(1))
        .map(|frame| {
            let time = 1.0 + frame as f64 / 30.0;
            places
                .iter()
                .map(|place| blown(&waves, *place, time))
                .collect()
        })
        .collect();
    let clip = MeshClip {
        name: "wind".to_owned(),
        frames,
        frames_per_second: 30.0,
    };
    let rest = TriMesh::new(rest, triangles).expect("a grid of finite points");
    MeshAnimation::new(rest, vec![clip]).expect("frames in correspondence")
}

/// The `n`-th wave: ever shorter, faster and weaker, at an angle of its own.
fn wave(n: usize) -> Wave {
    // Irrational steps never repeat, and need no random numbers.
    let spread = |step: f64| ((n + 1) as f64 * step).fract() * 2.0 - 1.0;
    let order = n as f64;
    let length = 1.9 / (1.0 + 0.15 * order);
    let angle = 0.9 * spread(0.754_877_666);
    let strength = 0.16 / (1.0 + 0.35 * order).powf(1.28);
    Wave {
        wave: TAU / length * DVec2::new(angle.cos(), angle.sin()),
        speed: TAU * (0.8 + 0.11 * order + 0.1 * spread(0.569_840_291)),
        start: TAU * spread(0.438_744_877),
        amplitude: strength
            * DVec3::new(
                0.25 * spread(0.618_033_989),
                0.2 * spread(0.381_966_011),
                1.0,
            ),
        gust: (0.13 + 0.1 * spread(0.324_717_957), spread(0.245_122_334)),
    }
}

/// Where the wind has blown a point of the flat flag.
fn blown(waves: &[Wave], place: DVec2, time: f64) -> DVec3 {
    let along = place.x / LENGTH;
    // Nothing at the pole, and a free side that flutters more.
    let freedom = along.powf(1.28);
    let mut position = place.extend(0.0);
    for wave in waves {
        let phase = wave.wave.dot(place) - wave.speed * time + wave.start;
        let gust = 0.65 + 0.35 * (TAU * (wave.gust.0 * time + wave.gust.1)).sin();
        position += freedom * gust * phase.sin() * wave.amplitude;
    }
    // Cloth does not stretch: sideways motion shortens it.
    position.x -= 0.5 * position.z * position.z * along / LENGTH;
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_hangs_on_its_pole_and_its_free_side_moves() {
        let options = FlagOptions {
            width: 12,
            height: 9,
            frame_count: 20,
        };
        let flag = flag(&options);
        assert_eq!(flag.vertex_count(), 108, "a grid");
        assert_eq!(flag.frame_count(), 20, "as asked");
        let rest = flag.rest().positions();
        let moved = |i: usize| {
            let distances = flag.frames().map(|frame| frame[i].distance(rest[i]));
            distances.fold(0.0, f64::max)
        };
        for row in 0..9 {
            assert_eq!(moved(row * 12), 0.0, "pinned in row {row}");
            assert!(moved(row * 12 + 11) > 0.1, "free in row {row}");
        }
    }
}
