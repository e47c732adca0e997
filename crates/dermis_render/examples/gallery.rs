//! Draws a small gallery: `cargo run -p dermis_render --example gallery -- FOLDER`.
//!
//! A bent tube represents a fitted arm: the smooth bend is the example, the kinked bend is a poor skin,
//! and their distance is the heat map. The other pictures show the ball, the wireframe, and a
//! chart.

use std::error::Error;
use std::f32::consts::{PI, TAU};
use std::path::PathBuf;
use std::time::Instant;

use dermis_render::glam::{Quat, Vec3};
use dermis_render::{
    Axis, Background, Band, Camera, Chart, Draw, Ground, HeatScale, Image, LegendSide, Marker,
    Paint, Panel, Point, Scene, Series, SheetStyle, Surface, UpAxis, Wireframe, histogram, hstack,
    render, sheet, smooth_normals,
};

/// A mesh of the gallery.
struct Mesh {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// A closed grid of `rows` rings of `around` vertices, the first and last ring shrunk to caps by `place`.
    fn rings(rows: u32, around: u32, place: impl Fn(f32, f32) -> Vec3) -> Self {
        let positions: Vec<Vec3> = (0..=rows)
            .flat_map(|i| (0..around).map(move |j| (i, j)))
            .map(|(i, j)| place(i as f32 / rows as f32, j as f32 / around as f32 * TAU))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..rows)
            .flat_map(|i| (0..around).map(move |j| (i * around + j, i * around + (j + 1) % around)))
            .flat_map(|(a, b)| [[a, b, a + around], [b, b + around, a + around]])
            .collect();
        let normals = smooth_normals(&positions, &triangles);
        Self {
            positions,
            normals,
            triangles,
        }
    }

    /// A tube of length 4 with round ends, bent by `bend` about its middle; `sharpness` 1 is an arc, more is
    /// a kink.
    fn tube(rows: u32, around: u32, bend: f32, sharpness: f32, collapse: f32) -> Self {
        Self::rings(rows, around, |t, turn| {
            let along = t * 4.0 - 2.0;
            let radius = 0.52 - 0.10 * t;
            // Round ends: the radius falls to nothing over the last stretch.
            let end = ((2.0 - along.abs()) / radius).clamp(0.0, 1.0);
            let round = (1.0 - (1.0 - end) * (1.0 - end)).sqrt();
            let muscle = 1.0 + 0.18 * (-(along + 0.9) * (along + 0.9) * 3.0).exp();
            let pinch = 1.0 - collapse * (-along * along * 5.0).exp();
            let ring = Vec3::new(turn.cos(), 0.0, -turn.sin()) * radius * round * muscle * pinch;
            let amount = 1.0 / (1.0 + (-along * 2.2 * sharpness).exp());
            let spine = integrate_spine(along, bend, sharpness);
            spine + Quat::from_rotation_z(bend * amount) * ring
        })
    }

    fn ball(rows: u32, lumps: f32) -> Self {
        Self::rings(rows, rows * 2, |t, turn| {
            let polar = t * PI;
            let radius = 1.0 + lumps * (6.0 * turn).sin() * (polar * 5.0).sin() * polar.sin();
            Vec3::new(
                polar.sin() * turn.cos(),
                polar.cos(),
                polar.sin() * turn.sin(),
            ) * radius
        })
    }

    fn surface(&self) -> Surface<'_> {
        Surface::new(&self.positions, &self.normals, &self.triangles)
    }
}

/// The middle line of the tube, by adding up small steps from its root.
fn integrate_spine(along: f32, bend: f32, sharpness: f32) -> Vec3 {
    let steps = 400;
    let step = (along + 2.0) / steps as f32;
    (0..steps).fold(Vec3::new(0.0, -2.0, 0.0), |p, i| {
        let s = -2.0 + (i as f32 + 0.5) * step;
        let amount = 1.0 / (1.0 + (-s * 2.2 * sharpness).exp());
        p + Quat::from_rotation_z(bend * amount) * Vec3::Y * step
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: gallery FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    let save = |name: &str, image: &Image| -> Result<(), Box<dyn Error>> {
        Ok(std::fs::write(folder.join(name), image.to_png()?)?)
    };
    save("fit.png", &fit_sheet()?)?;
    save("ball.png", &ball_sheet()?)?;
    save("large.png", &large_picture()?)?;
    std::fs::write(folder.join("charts.html"), charts())?;
    println!("{}", timing()?);
    Ok(())
}

/// Example, fit and error side by side, with one camera and a legend.
fn fit_sheet() -> Result<Image, Box<dyn Error>> {
    let smooth = Mesh::tube(120, 64, -1.75, 1.0, 0.0);
    let kinked = Mesh::tube(120, 64, -1.75, 1.25, 0.28);
    let error: Vec<f32> = smooth
        .positions
        .iter()
        .zip(&kinked.positions)
        .map(|(a, b)| a.distance(*b) * 10.0)
        .collect();
    let scale = HeatScale::fitting(error.iter().copied(), "mm");
    let camera = Camera::three_quarter(&[&smooth.positions, &kinked.positions], UpAxis::Y, 1.0);
    let draw = |surface| {
        let scene = Scene {
            surfaces: vec![surface],
            ground: Some(Ground::default()),
            ..Scene::default()
        };
        render(&scene, &camera, 480, 480)
    };
    let heat = Paint::Heat {
        values: &error,
        scale: scale.clone(),
    };
    let worst = error.iter().copied().fold(0.0, f32::max);
    let panels = [
        Panel::new(draw(smooth.surface())?, "example"),
        Panel::new(draw(kinked.surface())?, "linear blend skinning"),
        Panel::new(
            draw(kinked.surface().painted(heat))?,
            format!("error, worst {worst:.2} mm"),
        ),
    ];
    let legend = Some(scale.legend(LegendSide::Vertical, 440, 17.0));
    Ok(sheet(
        &panels,
        &SheetStyle {
            legend,
            ..SheetStyle::default()
        },
    ))
}

/// A ball in every paint, in a grid, with a lying legend.
fn ball_sheet() -> Result<Image, Box<dyn Error>> {
    let ball = Mesh::ball(60, 0.06);
    let coarse = Mesh::ball(14, 0.0);
    let heights: Vec<f32> = ball
        .positions
        .iter()
        .map(|p| (p.length() - 0.94) * 100.0)
        .collect();
    let colors: Vec<[f32; 3]> = ball
        .positions
        .iter()
        .map(|p| (*p * 0.5 + 0.5).to_array())
        .collect();
    let scale = HeatScale::fitting(heights.iter().copied(), "µm²");
    let camera = Camera::three_quarter(&[&ball.positions], UpAxis::Y, 4.0 / 3.0);
    let draw = |surface| {
        let scene = Scene {
            surfaces: vec![surface],
            ground: Some(Ground::default()),
            ..Scene::default()
        };
        render(&scene, &camera, 400, 300)
    };
    let heat = Paint::Heat {
        values: &heights,
        scale: scale.clone(),
    };
    let flat = Surface::new(&coarse.positions, &[], &coarse.triangles);
    let lined = Surface {
        wireframe: Some(Wireframe::default()),
        ..coarse.surface()
    };
    let panels = [
        Panel::new(draw(ball.surface())?, "clay"),
        Panel::new(draw(ball.surface().painted(heat))?, "heat, 12° – 40°"),
        Panel::new(
            draw(ball.surface().painted(Paint::VertexColors(&colors)))?,
            "vertex colours",
        ),
        Panel::new(draw(lined)?, "wireframe"),
        Panel::new(
            draw(flat.painted(Paint::Solid([0.35, 0.55, 0.75])))?,
            "flat facets, 2× coarser",
        ),
        Panel::new(scale.legend(LegendSide::Horizontal, 360, 16.0), ""),
    ];
    Ok(sheet(
        &panels,
        &SheetStyle {
            columns: Some(3),
            ..SheetStyle::default()
        },
    ))
}

/// One large picture on a transparent background, cropped, next to one on the studio's.
fn large_picture() -> Result<Image, Box<dyn Error>> {
    let (rows, around) = (160, 96);
    let tube = Mesh::tube(rows, around, -2.2, 1.3, 0.0);
    // Open at the thin end, so that the inside shows.
    let kept = (rows * 86 / 100 * around * 2) as usize;
    let open = Surface {
        triangles: &tube.triangles[..kept],
        ..tube.surface()
    };
    let camera = Camera::three_quarter(&[&tube.positions], UpAxis::Y, 1.0);
    let ground = Some(Ground::default());
    let studio = Scene {
        surfaces: vec![open.clone()],
        ground,
        ..Scene::default()
    };
    let clear = Scene {
        background: Background::Transparent,
        ..studio.clone()
    };
    let clear = render(&clear, &camera, 700, 700)?.crop_to_content(10);
    Ok(hstack(&[render(&studio, &camera, 700, 700)?, clear], 20))
}

fn charts() -> String {
    let frame_points = |scale: f64| {
        (0..48).map(move |frame| {
            let x = f64::from(frame);
            let held_out = frame % 8 >= 6;
            let y = scale * (0.3 + (x / 9.0).sin().powi(2) + if held_out { 0.35 } else { 0.0 });
            Point::new(x, y)
                .titled(format!("frame {frame}: {y:.3} mm"))
                .marked(if held_out {
                    Marker::Open
                } else {
                    Marker::Filled
                })
        })
    };
    let series = || {
        vec![
            Series::new(
                "linear blend skinning",
                Draw::LineAndPoints,
                frame_points(1.0),
            ),
            Series::new(
                "animation space <4 influences>",
                Draw::LineAndPoints,
                frame_points(0.22),
            ),
        ]
    };
    let bands = (0..6).map(|i| Band {
        range: [f64::from(i) * 8.0 + 5.5, f64::from(i) * 8.0 + 7.5],
        title: "held out".into(),
    });
    let per_frame = Chart {
        title: "Error per frame".into(),
        x: Axis::linear("frame"),
        y: Axis::linear("RMS error (mm)").from_zero(),
        series: series(),
        bands: bands.collect(),
        open_means: "held out".into(),
        ..Chart::default()
    };
    let logarithmic = Chart {
        y: Axis::log10("RMS error (mm)"),
        bands: Vec::new(),
        ..per_frame.clone()
    };
    let values: Vec<f64> = (0..4000)
        .map(|i| (f64::from(i) * 0.618).fract().powi(2) * 0.8)
        .collect();
    let counts = Chart {
        title: "Vertices by error".into(),
        x: Axis::linear("error (mm)"),
        y: Axis::linear("vertices").from_zero(),
        series: vec![histogram("", &values, 30)],
        ..Chart::default()
    };
    let charts = [per_frame, logarithmic, counts]
        .map(|chart| chart.to_svg())
        .join("\n<br>\n");
    format!(
        "<!doctype html><meta charset=\"utf-8\"><body style=\"background:#fff;color:#222\">\n{charts}\n"
    )
}

/// Time for an 800 × 800 picture of 20,000 triangles on one thread: the best of ten.
fn timing() -> Result<String, Box<dyn Error>> {
    let tube = Mesh::tube(125, 80, -1.75, 1.0, 0.0);
    let values: Vec<f32> = tube.positions.iter().map(|p| p.y + 2.0).collect();
    let heat = Paint::Heat {
        values: &values,
        scale: HeatScale::new(4.0, ""),
    };
    let camera = Camera::three_quarter(&[&tube.positions], UpAxis::Y, 1.0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let time = |scene: &Scene<'_>| -> Result<f64, Box<dyn Error>> {
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let start = Instant::now();
            pool.install(|| render(scene, &camera, 800, 800))?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(best)
    };
    let clay = time(&Scene {
        surfaces: vec![tube.surface()],
        ..Scene::default()
    })?;
    let full = time(&Scene {
        surfaces: vec![tube.surface().painted(heat)],
        ground: Some(Ground::default()),
        ..Scene::default()
    })?;
    Ok(format!(
        "{} triangles at 800 × 800 on one thread: clay {clay:.1} ms, heat map and ground {full:.1} ms",
        tube.triangles.len()
    ))
}
