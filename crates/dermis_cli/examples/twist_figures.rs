//! The pictures of rotational regression: a bar that twists by half a turn and an arm that bends and twists, both
//! learned from few poses and shown in poses between them (spec fact 9; \[Wang07\] shows the like of both).
//!
//! ```sh
//! cargo run --release -p dermis_cli --example twist_figures -- docs/pictures
//! ```
//!
//! Writes `twist_bar.png` and `twist_arm.png`, and prints the enveloping error of every method, over all unseen poses.

use std::error::Error;
use std::path::PathBuf;

use dermis::fit::Method;
use dermis::measure::{measure, vertex_distances};
use dermis::progress::Silent;
use dermis::synth::{ArmOptions, ArmPose, BarOptions, arm, bar};
use dermis::{ExampleSet, Skin};
use dermis_render::glam::Vec3;
use dermis_render::{
    Camera, Ground, HeatScale, Image, LegendSide, Paint, Panel, Scene, SheetStyle, Surface, render,
    sheet, smooth_normals,
};
use glam::DVec3;

/// Pixels of one picture.
const SIZE: (u32, u32) = (460, 300);
/// Size of all text, in pixels.
const TEXT: f32 = 25.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or(".".into()));
    let save = |name: &str, image: &Image| -> Result<(), Box<dyn Error>> {
        Ok(std::fs::write(folder.join(name), image.to_png()?)?)
    };
    save("twist_bar.png", &bar_figure()?)?;
    save("twist_arm.png", &arm_figure()?)
}

/// Three poses of a twist to learn from, and two between them.
fn bar_figure() -> Result<Image, Box<dyn Error>> {
    let degrees = [0.0, 90.0, 180.0, 45.0, 135.0];
    let set = bar(&BarOptions {
        turns: degrees.map(|d: f64| DVec3::X * d.to_radians()).to_vec(),
        ..BarOptions::default()
    })
    .examples;
    println!("bar: learned from twists of 0, 90 and 180 degrees");
    figure(&Figure {
        set: &set,
        training: &[0, 1, 2],
        shown: &[
            (0, "learned from: twist 0°"),
            (1, "learned from: twist 90°"),
            (2, "learned from: twist 180°"),
        ],
        unseen: &[(3, "twist 45°"), (4, "twist 135°")],
        methods: &["rotational-regression", "psd", "ssd"],
        from: Vec3::new(-0.35, -0.5, -1.0),
    })
}

/// Nine poses of bend and twist to learn from, and three between them.
fn arm_figure() -> Result<Image, Box<dyn Error>> {
    let mut poses = Vec::new();
    for bend in [0.0, 55.0, 110.0f64] {
        for twist in [0.0, 90.0, 180.0f64] {
            poses.push((bend, twist));
        }
    }
    poses.extend([(30.0, 135.0), (85.0, 45.0), (85.0, 135.0)]);
    let set = arm(&ArmOptions {
        poses: (poses.iter())
            .map(|&(bend, twist): &(f64, f64)| ArmPose {
                bend_rad: bend.to_radians(),
                twist_rad: twist.to_radians(),
            })
            .collect(),
        ..ArmOptions::default()
    })
    .examples;
    println!("arm: learned from bends of 0, 55 and 110 degrees with twists of 0, 90 and 180");
    figure(&Figure {
        set: &set,
        training: &(0..9).collect::<Vec<_>>(),
        shown: &[],
        unseen: &[
            (9, "bend 30°, twist 135°"),
            (10, "bend 85°, twist 45°"),
            (11, "bend 85°, twist 135°"),
        ],
        methods: &["rotational-regression", "pseudo-bones", "psd", "ssd"],
        from: Vec3::new(-0.1, -0.35, -1.0),
    })
}

struct Figure<'a> {
    set: &'a ExampleSet,
    training: &'a [usize],
    /// Those of them that have a row above the others, and what they are called.
    shown: &'a [(usize, &'a str)],
    /// Examples to show, and what they are called.
    unseen: &'a [(usize, &'a str)],
    methods: &'a [&'a str],
    /// The direction of view.
    from: Vec3,
}

/// A row for what is learned from, where that is few poses, and one for every unseen pose: the truth, and every method with its error as colour.
fn figure(figure: &Figure<'_>) -> Result<Image, Box<dyn Error>> {
    let set = figure.set;
    let mut skins: Vec<(Method, Skin)> = Vec::new();
    for key in figure.methods {
        let mut method = Method::from_key(key).ok_or("no such method")?;
        // Shapes on what collapses: on skin that turns they would have little to do.
        if let Method::Psd(options) = &mut method {
            options.bases.truncate(1);
        }
        let skin = method.fit(set, figure.training, &Silent)?.skin;
        let unseen: Vec<usize> = figure.unseen.iter().map(|(k, _)| *k).collect();
        let [seen, unseen] = [figure.training, &unseen].map(|which| error(&skin, set, which));
        println!(
            "  {key}: EE {:.2}% on what it saw, {:.2}% on the rest",
            seen?, unseen?
        );
        skins.push((method, skin));
    }
    let diagonal = set.rest().bounds().diagonal();
    let mut shots = Vec::new();
    for &(k, _) in figure.unseen {
        for (_, skin) in &skins {
            let example = &set.examples()[k];
            let far: Vec<f32> = (vertex_distances(skin, example)?.iter())
                .map(|d| (100.0 * d / diagonal) as f32)
                .collect();
            shots.push((single(&skin.evaluate(&example.pose)?), far));
        }
    }
    let scale = HeatScale::fitting(
        shots.iter().flat_map(|(_, far)| far.iter().copied()),
        "% of size",
    );
    let columns = 1 + skins.len();
    let mut panels = Vec::new();
    for &(k, name) in figure.shown {
        let truth = single(&set.examples()[k].positions);
        let camera = figure.camera(&truth);
        let image = figure.draw(&camera, &truth, Paint::default())?;
        panels.push(Panel::new(image, name));
    }
    // The next row begins at the left.
    let paper = Image::new(SIZE.0, SIZE.1, SheetStyle::default().paper);
    let filled = panels.len().next_multiple_of(columns);
    panels.resize_with(filled, || Panel::new(paper.clone(), ""));
    let mut shots = shots.iter();
    for &(k, name) in figure.unseen {
        let truth = single(&set.examples()[k].positions);
        let camera = figure.camera(&truth);
        let draw = |positions: &[Vec3], paint| figure.draw(&camera, positions, paint);
        panels.push(Panel::new(
            draw(&truth, Paint::default())?,
            format!("truth, {name}"),
        ));
        for ((method, skin), (shown, far)) in skins.iter().zip(shots.by_ref()) {
            let heat = Paint::Heat {
                values: far,
                scale: scale.clone(),
            };
            let title = short_title(method);
            let caption = format!("{title}: EE {:.1}%", error(skin, set, &[k])?);
            panels.push(Panel::new(draw(shown, heat)?, caption));
        }
    }
    let rows = (panels.len() / columns) as u32;
    let style = SheetStyle {
        columns: Some(columns),
        caption_px: TEXT,
        legend: Some(scale.legend(LegendSide::Vertical, rows * SIZE.1, TEXT)),
        ..SheetStyle::default()
    };
    Ok(sheet(&panels, &style))
}

impl Figure<'_> {
    fn camera(&self, positions: &[Vec3]) -> Camera {
        let aspect = SIZE.0 as f32 / SIZE.1 as f32;
        Camera::framing(positions.iter().copied(), self.from, Vec3::Y, aspect)
    }

    fn draw(
        &self,
        camera: &Camera,
        positions: &[Vec3],
        paint: Paint<'_>,
    ) -> Result<Image, Box<dyn Error>> {
        let triangles = self.set.rest().triangles();
        let normals = smooth_normals(positions, triangles);
        let scene = Scene {
            surfaces: vec![Surface::new(positions, &normals, triangles).painted(paint)],
            ground: Some(Ground::default()),
            ..Scene::default()
        };
        Ok(render(&scene, camera, SIZE.0, SIZE.1)?)
    }
}

fn short_title(method: &Method) -> &'static str {
    match method {
        Method::PseudoBones(_) => "pseudo-bones",
        other => other.title(),
    }
}

/// Enveloping error over some examples, in per cent.
fn error(skin: &Skin, set: &ExampleSet, which: &[usize]) -> Result<f64, Box<dyn Error>> {
    let measured = measure(skin, set, which)?.total;
    Ok(measured.enveloping_error_percent.unwrap_or(0.0))
}

fn single(positions: &[DVec3]) -> Vec<Vec3> {
    positions.iter().map(|p| p.as_vec3()).collect()
}
