//! The comparison of \[Lewis00\] §5.2: how a point of a face moves from a frown over neutral and a half
//! smile to a full smile, when shapes are added up and when they are interpolated.
//!
//! ```sh
//! cargo run --release -p dermis_cli --example smile_paths -- FACES.npz docs/pictures
//! ```
//!
//! FACES.npz is a neutral face and nine expressions in vertex correspondence, of which the frown, the
//! half smile and the smile are taken. Without it a mouth made by formula serves. Writes
//! `smile_weights.svg` and `smile_paths.svg`, and prints how much each path turns.

use std::error::Error;
use std::path::{Path, PathBuf};

use dermis::fit::{PsdLayer, Sculpt, build_psd};
use dermis::pose_space::Control;
use dermis::skin::{Coefficient, Delta, SsdProgram, Weight};
use dermis::{BoneId, Pose, Skeleton, Skin, VertexProgram};
use dermis_render::{Axis, Chart, Draw, Point, Series};
use glam::{DAffine3, DVec3};

/// Where the expressions stand on the axis from unhappy to happy.
const PLACES: [(&str, f64); 3] = [("frown", -1.0), ("half smile", 0.5), ("smile", 1.0)];
/// The numbers of those expressions among the frames of the file.
const FRAMES: [usize; 3] = [6, 7, 3];
/// Points that move by more than this share of the face's size in any expression are errors of the
/// scan: there are some along the lips.
const STRAY: f64 = 1.0 / 8.0;
/// Steps along the axis.
const STEPS: usize = 120;
/// Reach of each expression along the axis.
const FALLOFF: f64 = 0.6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (faces, folder) = (arguments.next(), arguments.next().unwrap_or(".".into()));
    let (neutral, shapes) = match faces.filter(|path| path.exists()) {
        Some(path) => read_faces(&path)?,
        None => {
            eprintln!("no faces given: a mouth made by formula instead");
            made_mouth()
        }
    };
    let skin = happy_face(&neutral, &shapes)?;
    // The point that moves most in a smile: a corner of the mouth.
    let (low, high) = (neutral.iter()).fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| {
        (l.min(*p), h.max(*p))
    });
    let is_sound = |i: &usize| {
        shapes
            .iter()
            .all(|s| s[*i].length() < STRAY * low.distance(high))
    };
    let corner = (0..neutral.len())
        .filter(is_sound)
        .max_by(|&a, &b| shapes[2][a].length().total_cmp(&shapes[2][b].length()))
        .ok_or("a face without points")?;

    let along = |s: f64| {
        let mut pose = skin.skeleton.rest_pose();
        pose.coefficients = vec![s];
        pose
    };
    let places: Vec<f64> = (0..=STEPS)
        .map(|k| -1.0 + 2.0 * k as f64 / STEPS as f64)
        .collect();
    let interpolated = (places.iter())
        .map(|&s| weights(&skin, &along(s)))
        .collect::<Result<Vec<_>, _>>()?;
    let added: Vec<[f64; 3]> = places.iter().map(|&s| zigzag(s)).collect();
    let path = |weights: &[[f64; 3]]| -> Vec<DVec3> {
        let at = |w: &[f64; 3]| {
            let moved: DVec3 = (0..3).map(|m| w[m] * shapes[m][corner]).sum();
            neutral[corner] + moved
        };
        weights.iter().map(at).collect()
    };
    let (smooth, broken) = (path(&interpolated), path(&added));
    let towards_smile = shapes[2][corner];
    for (name, path) in [
        ("pose space deformation", &smooth),
        ("superposition", &broken),
    ] {
        let on_the_way = path[STEPS / 2..].windows(2);
        let back = on_the_way.filter(|pair| (pair[1] - pair[0]).dot(towards_smile) < 0.0);
        println!(
            "{name}: sharpest turn {:.1} degrees; steps from neutral to smile that go back: {}",
            sharpest_turn(path),
            back.count()
        );
    }
    chart_weights(&folder, &places, &interpolated, &added)?;
    chart_paths(&folder, &smooth, &broken)?;
    Ok(())
}

type Face = (Vec<DVec3>, [Vec<DVec3>; 3]);

fn read_faces(path: &Path) -> Result<Face, Box<dyn Error>> {
    let document = dermis_io::read(path)?;
    let neutral = document.mesh.positions().to_vec();
    let shape = |frame: usize| -> Result<Vec<DVec3>, Box<dyn Error>> {
        let frame = document
            .frames
            .get(frame)
            .ok_or("too few expressions in the file")?;
        Ok(frame
            .positions
            .iter()
            .zip(&neutral)
            .map(|(a, b)| *a - *b)
            .collect())
    };
    let [a, b, c] = FRAMES;
    let shapes = [shape(a)?, shape(b)?, shape(c)?];
    Ok((neutral, shapes))
}

/// A line of points: the corners go down in a frown, up in a half smile, out and up in a smile.
fn made_mouth() -> Face {
    let points = (0..41).map(|k| f64::from(k) / 20.0 - 1.0);
    let neutral: Vec<DVec3> = points
        .map(|x| DVec3::new(x, 0.0, 0.2 * (1.0 - x * x)))
        .collect();
    let shape = |out: f64, up: f64, back: f64| {
        let moved = |p: &DVec3| DVec3::new(out * p.x, up * p.x * p.x, -back * p.x * p.x);
        neutral.iter().map(moved).collect()
    };
    let shapes = [
        shape(-0.05, -0.25, 0.0),
        shape(0.05, 0.2, 0.02),
        shape(0.3, 0.3, 0.12),
    ];
    (neutral, shapes)
}

/// A face on one bone, with expressions along one slider.
fn happy_face(neutral: &[DVec3], shapes: &[Vec<DVec3>; 3]) -> Result<Skin, Box<dyn Error>> {
    let head = ("head".to_owned(), None, DAffine3::IDENTITY);
    let rigid = [Weight {
        bone: BoneId(0),
        weight: 1.0,
    }];
    let program = SsdProgram {
        rest_positions: neutral.to_vec(),
        weights: neutral.iter().map(|_| rigid).collect(),
        corrections: Vec::new(),
    };
    let skeleton = Skeleton::from_rest_frames([head])?;
    let base = Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new())?;
    let base = base.with_sliders([Coefficient {
        name: "happy".to_owned(),
        default: 0.0,
    }]);
    let mut layer = PsdLayer::new("expression", vec![Control::Slider { coefficient: 0 }]);
    for ((name, place), shape) in PLACES.into_iter().zip(shapes) {
        let mut pose = base.skeleton.rest_pose();
        pose.coefficients = vec![place];
        let delta = |(index, &value): (usize, &DVec3)| Delta {
            index: index as u32,
            value,
        };
        layer.sculpts.push(Sculpt {
            name: name.to_owned(),
            pose,
            falloffs: vec![FALLOFF],
            shape: shape.iter().enumerate().map(delta).collect(),
        });
    }
    Ok(build_psd(&base, &[layer])?.skin)
}

fn weights(skin: &Skin, pose: &Pose) -> Result<[f64; 3], Box<dyn Error>> {
    let inputs = skin.run_pose_program(pose)?;
    Ok(inputs.coefficients[1..].try_into()?)
}

/// What an animator keys when shapes are added up: each shape up to 1 at its own place, and down again
/// on the way to the next.
fn zigzag(s: f64) -> [f64; 3] {
    let half = if s < 0.5 { 2.0 * s } else { 2.0 - 2.0 * s };
    [(-s).max(0.0), half.max(0.0), (2.0 * s - 1.0).max(0.0)]
}

/// The largest angle between one step of a path and the next.
fn sharpest_turn(path: &[DVec3]) -> f64 {
    let steps: Vec<DVec3> = path.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let angles = steps.windows(2).map(|pair| pair[0].angle_between(pair[1]));
    angles
        .filter(|angle| angle.is_finite())
        .fold(0.0, f64::max)
        .to_degrees()
}

fn chart_weights(
    folder: &Path,
    places: &[f64],
    interpolated: &[[f64; 3]],
    added: &[[f64; 3]],
) -> Result<(), Box<dyn Error>> {
    let mut series = Vec::new();
    for (m, (name, _)) in PLACES.into_iter().enumerate() {
        for (way, weights) in [("interpolated", interpolated), ("added", added)] {
            let points = places
                .iter()
                .zip(weights)
                .map(|(&s, w)| Point::new(s, w[m]));
            series.push(Series::new(format!("{name}, {way}"), Draw::Line, points));
        }
    }
    let chart = Chart {
        title: "Weights of the shapes along the axis".into(),
        x: Axis::linear("unhappy to happy"),
        y: Axis::linear("weight"),
        series,
        ..Chart::default()
    };
    write(&folder.join("smile_weights.svg"), &chart)
}

fn chart_paths(folder: &Path, smooth: &[DVec3], broken: &[DVec3]) -> Result<(), Box<dyn Error>> {
    // Seen from the side in which the path is widest.
    let spread = |axis: usize| {
        let along = smooth.iter().chain(broken).map(|p| p[axis]);
        along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
    };
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)));
    let points = |path: &[DVec3]| -> Vec<Point> {
        path.iter()
            .map(|p| Point::new(p[axes[0]], p[axes[1]]))
            .collect()
    };
    let at_places: Vec<Point> = (PLACES.iter().map(|(_, s)| *s).chain([0.0]))
        .map(|s| smooth[((s + 1.0) * 0.5 * STEPS as f64).round() as usize])
        .map(|p| Point::new(p[axes[0]], p[axes[1]]))
        .collect();
    let chart = Chart {
        title: "Path of the corner of the mouth, from frown to smile".into(),
        x: Axis::linear(["x", "y", "z"][axes[0]]),
        y: Axis::linear(["x", "y", "z"][axes[1]]),
        series: vec![
            Series::new("shapes added up", Draw::Line, points(broken)),
            Series::new("pose space deformation", Draw::Line, points(smooth)),
            Series::new("sculpted", Draw::Points, at_places),
        ],
        height: 420,
        ..Chart::default()
    };
    write(&folder.join("smile_paths.svg"), &chart)
}

fn write(path: &Path, chart: &Chart) -> Result<(), Box<dyn Error>> {
    std::fs::write(path, chart.to_svg())?;
    println!("wrote {}", path.display());
    Ok(())
}
