//! Which poses are shown, what a skin makes of them, and from where that is looked at.

use anyhow::Context;
use dermis::fit::FitReport;
use dermis::measure::ExampleMeasures;
use dermis::progress::Progress;
use dermis::{ExampleSet, Skin, TriMesh};
use dermis_render::glam::Vec3;
use dermis_render::{
    Background, Camera, Ground, HeatScale, Image, LegendSide, Paint, Panel, Scene, SheetStyle,
    Surface, UpAxis, render, sheet, smooth_normals,
};
use glam::DVec3;

use crate::args::Up;
use crate::cmd::fit::FitJob;
use crate::talk::Talk;

/// An example to show, and why.
pub(crate) struct Shown {
    /// Number of the example in its set.
    pub(crate) index: usize,
    /// Such as "worst held-out pose".
    pub(crate) why: &'static str,
}

/// The examples that tell most about a fit: those held out if any are.
pub(super) fn telling(fitted: &FitReport) -> (&[ExampleMeasures], &'static str) {
    match &fitted.held_out {
        Some(held_out) => (&held_out.measured.examples, "worst held-out pose"),
        None => (&fitted.overall.examples, "worst pose"),
    }
}

/// The worst example and two typical ones, held out if any are.
pub(crate) fn choose_examples(fitted: &FitReport) -> Vec<Shown> {
    let (examples, worst_why) = telling(fitted);
    let errors = examples.iter().map(|m| (m.index, m.e_rms)).collect();
    choose_by(errors, worst_why, &[0.4, 0.6])
}

/// The example of the largest error, and those at some shares of the way down from there.
pub(super) fn choose_by(
    mut errors: Vec<(usize, f64)>,
    worst_why: &'static str,
    typical: &[f64],
) -> Vec<Shown> {
    errors.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let last = errors.len().saturating_sub(1) as f64;
    let places = typical
        .iter()
        .map(|share| ((last * share).round() as usize, "typical pose"));
    let mut chosen: Vec<Shown> = Vec::new();
    for (place, why) in std::iter::once((0, worst_why)).chain(places) {
        if let Some(&(index, _)) = errors.get(place)
            && chosen.iter().all(|c| c.index != index)
        {
            chosen.push(Shown { index, why });
        }
    }
    chosen
}

/// The skin that answers for an example: one that has not seen it, where there is one.
pub(super) fn skin_for(fitted: &FitReport, example: usize) -> &Skin {
    let held_out = fitted.held_out.as_ref();
    held_out.map_or(&fitted.skin, |held_out| held_out.skin_for(example))
}

/// One row of three panels per chosen example: target, fit, error.
pub(crate) fn picture_rows(
    job: &FitJob<'_>,
    fitted: &FitReport,
    chosen: &[Shown],
    size: u32,
    talk: &Talk,
) -> anyhow::Result<Vec<Image>> {
    let set = &job.prepared.set;
    let mut shots = Vec::new();
    for c in chosen {
        shots.push(Shot::of(set, skin_for(fitted, c.index), c.index)?);
    }
    // One scale for all rows.
    let errors = shots.iter().flat_map(|shot| shot.percent.iter().copied());
    let scale = HeatScale::comparing(&[errors.collect()], "% of size");
    let total = 3 * shots.len();
    let mut rows = Vec::new();
    for (number, (shot, c)) in shots.iter().zip(chosen).enumerate() {
        let example = &set.examples()[c.index];
        let target = single(&example.positions);
        let view = View::new(set.rest(), &[&target, &shot.fit], job.up, size);
        let panels = [
            Panel::new(
                view.draw(&target, None)?,
                format!("example: {} ({})", example.name, c.why),
            ),
            Panel::new(view.draw(&shot.fit, None)?, job.method().title()),
            Panel::new(
                view.draw(&shot.fit, Some(shot.heat(&scale)))?,
                format!("error, at most {:.2}% of the diagonal", shot.worst()),
            ),
        ];
        rows.push(sheet(&panels, &style(&scale, size, 3)));
        talk.report("drawing", 3 * (number + 1), total);
        talk.check_stopped()?;
    }
    Ok(rows)
}

/// So many panels in a row, with the scale's legend at the right end.
fn style(scale: &HeatScale, size: u32, columns: usize) -> SheetStyle {
    // Three pictures in a row are shown at about half their size, more of them smaller: text this
    // large reads as body text.
    let text_px = size as f32 / 22.0 * (columns as f32 / 3.0).max(1.0);
    SheetStyle {
        columns: Some(columns),
        legend: Some(scale.legend(LegendSide::Vertical, size - 60, text_px)),
        caption_px: text_px,
        ..SheetStyle::default()
    }
}

/// A mesh in the place of another.
pub(super) struct Shot {
    pub(super) fit: Vec<Vec3>,
    /// Distance of each vertex from where it should be, in per cent of the rest box's diagonal.
    pub(super) percent: Vec<f32>,
}

impl Shot {
    /// What is shown in the place of a mesh; `size` is that of the model.
    pub(super) fn new(truth: &[DVec3], shown: &[DVec3], size: f64) -> Self {
        let distances = truth.iter().zip(shown).map(|(a, b)| a.distance(*b));
        Self {
            fit: single(shown),
            percent: distances.map(|d| (100.0 * d / size) as f32).collect(),
        }
    }

    /// What a skin makes of an example.
    pub(super) fn of(set: &ExampleSet, skin: &Skin, index: usize) -> anyhow::Result<Self> {
        let example = &set.examples()[index];
        let shown = skin.evaluate(&example.pose)?;
        Ok(Self::new(&example.positions, &shown, set.size()))
    }

    /// The largest distance.
    pub(super) fn worst(&self) -> f32 {
        self.percent.iter().copied().fold(0.0, f32::max)
    }

    /// The distances as colours.
    pub(super) fn heat(&self, scale: &HeatScale) -> Paint<'_> {
        Paint::Heat {
            values: &self.percent,
            scale: scale.clone(),
        }
    }
}

/// One place to look from, for pictures that are to be compared.
pub(crate) struct View<'a> {
    triangles: &'a [[u32; 3]],
    camera: Camera,
    /// Width over height.
    aspect: f32,
    /// What has to be in it.
    points: Vec<Vec3>,
    ground: Ground,
    background: Background,
    pixels: [u32; 2],
}

impl<'a> View<'a> {
    /// A view that has all of some meshes in it.
    pub(crate) fn new(mesh: &'a TriMesh, meshes: &[&[Vec3]], up: Up, size: u32) -> Self {
        let up_axis = match up {
            Up::Y => UpAxis::Y,
            Up::Z => UpAxis::Z,
        };
        Self {
            triangles: mesh.triangles(),
            camera: Camera::three_quarter(meshes, up_axis, 1.0),
            aspect: 1.0,
            points: meshes
                .iter()
                .flat_map(|mesh| mesh.iter().copied())
                .collect(),
            background: Background::Studio,
            ground: Ground {
                up_axis,
                height: Some(lowest(meshes, up_axis)),
                ..Ground::default()
            },
            pixels: [size; 2],
        }
    }

    /// The same view for a page: so wide for its height, with as many pixels as a square of this side, and on the page's
    /// own paper.
    pub(super) fn for_page(self, side: f32, aspect: f32) -> Self {
        let direction = self.camera.target - self.camera.eye;
        let points = self.points.iter().copied();
        let up = self.ground.up_axis.up();
        let pixels = [side * aspect.sqrt(), side / aspect.sqrt()].map(|side| side.round() as u32);
        Self {
            camera: Camera::framing(points, direction, up, aspect),
            aspect,
            background: Background::Transparent,
            pixels,
            ..self
        }
    }

    /// Where the eye is.
    pub(super) fn eye(&self) -> Vec3 {
        self.camera.eye
    }

    /// Where a point is in the picture, in shares of its width and height; `None` when it is outside.
    pub(super) fn place(&self, point: Vec3) -> Option<[f32; 2]> {
        let place = self.camera.place_in_picture(point, self.aspect)?;
        let is_inside = place.iter().all(|share| (0.0..=1.0).contains(share));
        is_inside.then_some(place)
    }

    pub(crate) fn draw(
        &self,
        positions: &[Vec3],
        paint: Option<Paint<'_>>,
    ) -> anyhow::Result<Image> {
        let normals = smooth_normals(positions, self.triangles);
        let surface = Surface::new(positions, &normals, self.triangles);
        let surface = match paint {
            Some(paint) => surface.painted(paint),
            None => surface,
        };
        let scene = Scene {
            surfaces: vec![surface],
            ground: Some(self.ground),
            background: self.background,
        };
        let [width, height] = self.pixels;
        render(&scene, &self.camera, width, height).context("the picture cannot be drawn")
    }
}

pub(crate) fn single(positions: &[DVec3]) -> Vec<Vec3> {
    positions.iter().map(|p| p.as_vec3()).collect()
}

fn lowest(meshes: &[&[Vec3]], up_axis: UpAxis) -> f32 {
    let heights = meshes
        .iter()
        .flat_map(|mesh| mesh.iter())
        .map(|p| p.dot(up_axis.up()));
    heights.fold(f32::INFINITY, f32::min)
}
