//! Pictures of target, fit and error, at the same scale and from the same place.

use anyhow::Context;
use dermis::fit::FitReport;
use dermis::measure::{ExampleMeasures, vertex_distances};
use dermis::{ExampleSet, Skin};
use dermis_render::glam::Vec3;
use dermis_render::{
    Camera, Ground, HeatScale, Image, LegendSide, Paint, Panel, Scene, SheetStyle, Surface, UpAxis,
    render, sheet, smooth_normals,
};
use glam::DVec3;

use crate::args::Up;
use crate::talk::Talk;

/// An example to show, and why.
pub(crate) struct Chosen {
    /// Number of the example in its set.
    pub(crate) index: usize,
    /// Such as "worst held-out pose".
    pub(crate) why: &'static str,
}

/// The worst example and two typical ones, held out if any are.
pub(crate) fn choose_examples(fitted: &FitReport) -> Vec<Chosen> {
    let (measured, worst_why) = match &fitted.held_out {
        Some(held_out) => (&held_out.measured, "worst held-out pose"),
        None => (&fitted.overall, "worst pose"),
    };
    let mut ranked: Vec<&ExampleMeasures> = measured.examples.iter().collect();
    ranked.sort_by(|a, b| b.e_rms.total_cmp(&a.e_rms).then(a.index.cmp(&b.index)));
    let at = |share: f64| ((ranked.len() - 1) as f64 * share).round() as usize;
    let mut chosen: Vec<Chosen> = Vec::new();
    if ranked.is_empty() {
        return chosen;
    }
    for (place, why) in [
        (0, worst_why),
        (at(0.4), "typical pose"),
        (at(0.6), "typical pose"),
    ] {
        let index = ranked[place].index;
        if chosen.iter().all(|c| c.index != index) {
            chosen.push(Chosen { index, why });
        }
    }
    chosen
}

/// One row of three panels per chosen example: target, fit, error.
pub(crate) fn picture_rows(
    set: &ExampleSet,
    fitted: &FitReport,
    chosen: &[Chosen],
    up: Up,
    size: u32,
    talk: &Talk,
) -> anyhow::Result<Vec<Image>> {
    use dermis::progress::Progress;
    let up_axis = match up {
        Up::Y => UpAxis::Y,
        Up::Z => UpAxis::Z,
    };
    let diagonal = set.rest().bounds().diagonal();
    let skin_for = |k: usize| -> &Skin {
        fitted
            .held_out
            .as_ref()
            .map_or(&fitted.skin, |held_out| held_out.skin_for(k))
    };
    let mut shots = Vec::new();
    for c in chosen {
        let example = &set.examples()[c.index];
        let skin = skin_for(c.index);
        let percent = vertex_distances(skin, example)?
            .iter()
            .map(|d| (100.0 * d / diagonal) as f32)
            .collect();
        shots.push(Shot {
            name: format!("{} ({})", example.name, c.why),
            target: single(&example.positions),
            fit: single(&skin.evaluate(&example.pose)?),
            percent,
        });
    }
    // One scale for all rows: the darkest colour is the largest error anywhere in them.
    let errors = shots
        .iter()
        .flat_map(|shot: &Shot| shot.percent.iter().copied());
    let scale = HeatScale::fitting(errors, "% of size");
    let total = 3 * shots.len();
    let mut rows = Vec::new();
    for (number, shot) in shots.iter().enumerate() {
        let camera = Camera::three_quarter(&[&shot.target, &shot.fit], up_axis, 1.0);
        let ground = lowest(&[&shot.target, &shot.fit], up_axis);
        let view = View {
            triangles: set.rest().triangles(),
            camera: &camera,
            ground: Ground {
                up_axis,
                height: Some(ground),
                ..Ground::default()
            },
            size,
        };
        let heat = Paint::Heat {
            values: &shot.percent,
            scale: scale.clone(),
        };
        let worst = shot.percent.iter().copied().fold(0.0, f32::max);
        let panels = [
            Panel::new(
                view.draw(&shot.target, None)?,
                format!("example: {}", shot.name),
            ),
            Panel::new(view.draw(&shot.fit, None)?, "linear blend skinning"),
            Panel::new(
                view.draw(&shot.fit, Some(heat))?,
                format!("error, at most {worst:.2}% of the diagonal"),
            ),
        ];
        // Pictures are shown at about half their size: text this large reads as body text.
        let text_px = size as f32 / 22.0;
        let style = SheetStyle {
            legend: Some(scale.legend(LegendSide::Vertical, size - 60, text_px)),
            caption_px: text_px,
            ..SheetStyle::default()
        };
        rows.push(sheet(&panels, &style));
        talk.report("drawing", 3 * (number + 1), total);
        talk.check_stopped()?;
    }
    Ok(rows)
}

struct Shot {
    name: String,
    target: Vec<Vec3>,
    fit: Vec<Vec3>,
    percent: Vec<f32>,
}

struct View<'a> {
    triangles: &'a [[u32; 3]],
    camera: &'a Camera,
    ground: Ground,
    size: u32,
}

impl View<'_> {
    fn draw(&self, positions: &[Vec3], paint: Option<Paint<'_>>) -> anyhow::Result<Image> {
        let normals = smooth_normals(positions, self.triangles);
        let surface = Surface::new(positions, &normals, self.triangles);
        let surface = match paint {
            Some(paint) => surface.painted(paint),
            None => surface,
        };
        let scene = Scene {
            surfaces: vec![surface],
            ground: Some(self.ground),
            ..Scene::default()
        };
        render(&scene, self.camera, self.size, self.size).context("the picture cannot be drawn")
    }
}

fn single(positions: &[DVec3]) -> Vec<Vec3> {
    positions.iter().map(|p| p.as_vec3()).collect()
}

fn lowest(meshes: &[&[Vec3]], up_axis: UpAxis) -> f32 {
    let heights = meshes
        .iter()
        .flat_map(|mesh| mesh.iter())
        .map(|p| p.dot(up_axis.up()));
    heights.fold(f32::INFINITY, f32::min)
}
