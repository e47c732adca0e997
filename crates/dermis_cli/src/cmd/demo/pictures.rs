//! The demo's pictures: how the arm should be, before and after, from one place.

use std::time::Duration;

use dermis::compare::Compared;
use dermis::fit::Shown;
use dermis::progress::Progress;
use dermis::synth::HumanArm;
use dermis::{ExampleSet, Pose, Skin};
use dermis_render::glam::Vec3;
use dermis_render::{
    Align, Background, Camera, HeatScale, Image, LegendSide, Paint, Panel, Scene, SheetStyle,
    Surface, TextStyle, animated_png, draw_text, render, sheet, smooth_normals,
};
use glam::DVec3;

use crate::report::single;
use crate::talk::Talk;

/// Frames per second of the moving picture.
const FPS: f64 = 12.0;
/// Width and height of each of its three parts, in pixels: together they are as wide as a page of a code host.
const PART: [u32; 2] = [276, 400];
/// Height of the words above and below them, in pixels.
const WORDS: [u32; 2] = [30, 28];
/// Side of each picture of the still, in pixels.
const STILL: u32 = 420;
/// The error that has the darkest colour, in millimetres: most of what is seen as wrong in a picture of this size. A
/// collapsed wrist has more.
const DARKEST_MM: f32 = 20.0;
/// Nearly white. One colour compresses better than the usual gradient.
const PAPER: [u8; 4] = [246, 246, 247, 255];
const GREY: [u8; 4] = [96, 99, 106, 255];

/// What is to be compared, and from where it is seen.
pub(super) struct Stage<'a> {
    arm: &'a HumanArm,
    set: &'a ExampleSet,
    after: &'a Compared,
    title: &'a str,
    scale: HeatScale,
}

/// A mesh in one of the three columns.
struct Shot {
    positions: Vec<Vec3>,
    /// Distances from where vertices should be, in millimetres.
    error_mm: Vec<f32>,
}

impl Shot {
    fn new(truth: &[DVec3], shown: &[DVec3]) -> Self {
        let apart = truth.iter().zip(shown).map(|(a, b)| a.distance(*b));
        Self {
            positions: single(shown),
            error_mm: apart.map(|d| (1000.0 * d) as f32).collect(),
        }
    }

    fn worst_mm(&self) -> f32 {
        self.error_mm.iter().copied().fold(0.0, f32::max)
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        arm: &'a HumanArm,
        set: &'a ExampleSet,
        after: &'a Compared,
        title: &'a str,
    ) -> Self {
        Self {
            arm,
            set,
            after,
            title,
            scale: HeatScale::new(DARKEST_MM, "mm"),
        }
    }

    /// The arm in motion, as an APNG file: truth, before, after. No pose of it is an example.
    pub(super) fn moving_picture(&self, talk: &Talk) -> anyhow::Result<Vec<u8>> {
        let after = self.after.engine.shown.skin(&self.after.report.skin);
        let mut shots = Vec::new();
        for angles in self.arm.motion(FPS) {
            let truth = self.arm.truth(&angles);
            shots.push(self.shots(&truth, &self.arm.pose(&angles), after)?);
        }
        let truths = shots.iter().flat_map(|[truth, ..]| &truth.positions);
        let camera = camera(truths.copied(), PART);
        let total = shots.len();
        let mut frames = Vec::new();
        for shots in &shots {
            frames.push(self.frame(shots, &camera)?);
            talk.report("drawing the motion", frames.len(), total);
            talk.check_stopped()?;
        }
        Ok(animated_png(&frames, Duration::from_secs_f64(1.0 / FPS))?)
    }

    /// The held-out example that painted weights miss by most, and a picture of it as a PNG file. What is shown as after
    /// has not seen it.
    pub(super) fn worst_pose(&self, talk: &Talk) -> anyhow::Result<(String, Vec<u8>)> {
        let held_out = self.after.report.held_out.as_ref();
        let held_out = held_out.expect("the demo holds examples out");
        let (unseen, seen): (Vec<usize>, Vec<usize>) =
            (0..self.set.examples().len()).partition(|&k| held_out.contains(k));
        let example = |k: usize| &self.set.examples()[k];
        let mut worst = (0.0, unseen[0]);
        for k in unseen {
            let painted = self.arm.painted().evaluate(&example(k).pose)?;
            let squares = painted.iter().zip(&example(k).positions);
            let sum: f64 = squares.map(|(a, b)| a.distance_squared(*b)).sum();
            if sum > worst.0 {
                worst = (sum, k);
            }
        }
        let example = example(worst.1);
        let model = held_out.skin_for(worst.1);
        let poses: Vec<Pose> =
            (seen.iter().map(|&k| self.set.examples()[k].pose.clone())).collect();
        let shown = Shown::of(model, &poses, false, talk)?;
        let shots = self.shots(&example.positions, &example.pose, shown.skin(model))?;
        Ok((example.name.clone(), self.still(&shots)?.to_png()?))
    }

    fn shots(&self, truth: &[DVec3], pose: &Pose, after: &Skin) -> anyhow::Result<[Shot; 3]> {
        let before = self.arm.painted().evaluate(pose)?;
        let after = after.evaluate(pose)?;
        Ok([truth, &before, &after].map(|shown| Shot::new(truth, shown)))
    }

    /// One frame of the moving picture.
    fn frame(&self, shots: &[Shot; 3], camera: &Camera) -> anyhow::Result<Image> {
        let [above, below] = WORDS;
        let [width, height] = PART;
        let mut image = Image::new(3 * width, above + height + below, PAPER);
        let headings = [
            "as it should be".to_owned(),
            "before: painted weights".to_owned(),
            format!("after: {}", self.title),
        ];
        for (column, (shot, heading)) in shots.iter().zip(&headings).enumerate() {
            let left = column as u32 * width;
            let middle = left as f32 + 0.5 * width as f32;
            let is_truth = column == 0;
            let drawn = self.draw(shot, camera, PART, !is_truth)?;
            image.blit(&drawn, left as i32, above as i32);
            words(&mut image, heading, [middle, 6.0], 19.0, None);
            let line = (above + height) as f32 + 2.0;
            match is_truth {
                true => words(
                    &mut image,
                    "slow muscle rig",
                    [middle, line],
                    17.0,
                    Some(GREY),
                ),
                false => {
                    let text = format!("off by up to {:.0} mm", shot.worst_mm());
                    words(&mut image, &text, [middle, line], 17.0, Some(GREY));
                }
            }
        }
        let length = 120;
        let legend = self.scale.legend(LegendSide::Horizontal, length, 14.0);
        image.blit(&legend, (2 * width - length / 2) as i32, (above + 4) as i32);
        Ok(image)
    }

    /// Shapes above, errors below.
    fn still(&self, shots: &[Shot; 3]) -> anyhow::Result<Image> {
        let size = [STILL, STILL];
        let [truth, before, after] = shots;
        let camera = camera(truth.positions.iter().copied(), size);
        let draw = |shot: &Shot, with_error: bool| self.draw(shot, &camera, size, with_error);
        let mut explained = Image::new(STILL, STILL, PAPER);
        let middle = 0.5 * STILL as f32;
        words(
            &mut explained,
            "distance from",
            [middle, middle - 70.0],
            26.0,
            None,
        );
        words(
            &mut explained,
            "where it should be",
            [middle, middle - 38.0],
            26.0,
            None,
        );
        let length = STILL * 7 / 10;
        let legend = self.scale.legend(LegendSide::Horizontal, length, 24.0);
        explained.blit(&legend, (STILL - length) as i32 / 2, middle as i32 + 14);
        let error = |shot: &Shot| format!("error, at most {:.0} mm", shot.worst_mm());
        let panels = [
            Panel::new(draw(truth, false)?, "as it should be"),
            Panel::new(draw(before, false)?, "before: painted weights"),
            Panel::new(draw(after, false)?, format!("after: {}", self.title)),
            Panel::new(explained, ""),
            Panel::new(draw(before, true)?, error(before)),
            Panel::new(draw(after, true)?, error(after)),
        ];
        let style = SheetStyle {
            columns: Some(3),
            caption_px: 28.0,
            paper: PAPER,
            gap: 8,
            ..SheetStyle::default()
        };
        Ok(sheet(&panels, &style))
    }

    fn draw(
        &self,
        shot: &Shot,
        camera: &Camera,
        [width, height]: [u32; 2],
        with_error: bool,
    ) -> anyhow::Result<Image> {
        let triangles = self.arm.mesh().triangles();
        let normals = smooth_normals(&shot.positions, triangles);
        let mut surface = Surface::new(&shot.positions, &normals, triangles);
        if with_error {
            surface = surface.painted(Paint::Heat {
                values: &shot.error_mm,
                scale: self.scale.clone(),
            });
        }
        let [r, g, b, _] = PAPER.map(|channel| f32::from(channel) / 255.0);
        let scene = Scene {
            surfaces: vec![surface],
            background: Background::Solid([r, g, b]),
            ..Scene::default()
        };
        Ok(render(&scene, camera, width, height)?)
    }
}

/// Looks at the front of the arm, from a little to its side and above.
fn camera(points: impl IntoIterator<Item = Vec3>, [width, height]: [u32; 2]) -> Camera {
    let direction = Vec3::new(-0.30, -0.12, -1.0);
    Camera::framing(points, direction, Vec3::Y, width as f32 / height as f32)
}

/// A line of text about a middle, with its top at a height.
fn words(image: &mut Image, text: &str, [x, y]: [f32; 2], size_px: f32, color: Option<[u8; 4]>) {
    let mut style = TextStyle {
        size_px,
        align: Align::Center,
        ..TextStyle::default()
    };
    style.color = color.unwrap_or(style.color);
    draw_text(image, text, x, y, &style);
}
