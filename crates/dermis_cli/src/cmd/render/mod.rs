//! `dermis render`: pictures of a character with its materials, in any pose and from any side.

mod device;
mod plan;
mod shown;
mod stage;
mod views;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dermis::limits::check_memory;
use dermis::progress::Progress;
use dermis_io::{Document, Transaction};
use dermis_render::glam::Vec3;
use dermis_render::{
    Background, Camera, Ground, Image, Panel, Projection, Scene, SheetStyle, Wireframe,
    animated_png, sheet,
};
use serde::Serialize;

use crate::Outcome;
use crate::matching::read_upright;
use crate::output_file::send;
use crate::overwrite;
use crate::render_args::{Backdrop, RenderArgs};
use crate::report::{self, Block, Column, Format as Cell, Report, Row, Table};
use crate::talk::{Talk, plural};
use device::Drawer;
use plan::{Kind, Plan};
use shown::{Shot, Shown, shown, standing};
use stage::Stage;
use views::{View, views};

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    files: Vec<PathBuf>,
    /// Of each picture, in pixels; a sheet has several.
    width: u32,
    height: u32,
    pictures: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    clip: Option<String>,
    /// When in the clip each picture is, in seconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    times: Vec<f64>,
    /// Of the first picture.
    camera: CameraFacts,
    /// In each picture.
    triangles: usize,
    vertices: usize,
    device: String,
    /// For drawing all pictures, without reading and writing files.
    seconds: f64,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CameraFacts {
    eye: [f32; 3],
    target: [f32; 3],
    up: [f32; 3],
    /// From the bottom to the top of the picture, in degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    field_of_view: Option<f32>,
    /// Of what an orthographic camera sees, in model units.
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<f32>,
}

pub(crate) fn run(args: &RenderArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let plan = Plan::new(args)?;
    let known = (!plan.is_stdout && plan.kind != Kind::Files).then(|| plan.file(0));
    overwrite::check(known.iter(), [&args.input], talk)?;
    device::check(args.device)?;
    let document = read_upright(&args.input, &args.up, talk)?;
    check_faces(&document)?;
    let standing = standing(&document)?;
    let document = args.level.taken_from(document)?;
    let shown = shown(args, &document, plan.kind, talk)?;
    let stage = Stage::new(&document, !args.no_textures);
    // Looking for a graphics card takes a moment, and some drivers talk.
    let mut drawer = Drawer::new(args.device, talk)?;
    for note in &stage.notes {
        talk.remark(format!("note: {}: {note}", document.path.display()));
    }
    let size = args.size.unwrap_or(match plan.kind {
        Kind::Sheet => [320; 2],
        _ => [1024; 2],
    });
    let views = views(
        args,
        &standing,
        &shown.shots,
        size,
        plan.kind == Kind::Sheet,
    );
    let mut studio = Studio {
        args,
        stage: &stage,
        floor: floor(&shown.shots),
        size,
        drawer: &mut drawer,
        seconds: 0.0,
    };
    let written = studio.write(&plan, &shown, &views, &args.input, talk)?;
    let facts = Facts {
        width: size[0],
        height: size[1],
        pictures: shown.shots.len().max(views.len()),
        times: shown.shots.iter().filter_map(|shot| shot.time).collect(),
        clip: shown.clip,
        camera: camera_facts(&views[0].camera),
        triangles: stage.triangle_count(),
        vertices: stage.vertex_count(),
        seconds: studio.seconds,
        device: drawer.name(),
        notes: stage.notes,
        files: written,
    };
    talk.clear();
    if !plan.is_stdout {
        report::print(&report_of(&facts)?, args.print)?;
        talk.remark_written(&facts.files);
    }
    Ok(Outcome::Done)
}

/// One sentence for files in which there is nothing to draw.
fn check_faces(document: &Document) -> anyhow::Result<()> {
    let file = document.path.display();
    match document.mesh.vertex_count() {
        0 => bail!("{file}: has no mesh: there is nothing to draw"),
        points if document.mesh.triangles().is_empty() => bail!(
            "{file}: has {} and no faces: there is nothing to draw; give the mesh with its faces",
            plural(points, "point")
        ),
        _ => Ok(()),
    }
}

/// The height of the lowest point of all shots.
fn floor(shots: &[Shot]) -> Option<f32> {
    let heights = shots.iter().flat_map(|shot| &shot.positions).map(|p| p.y);
    heights.filter(|y| y.is_finite()).min_by(f32::total_cmp)
}

/// Draws pictures that belong together.
struct Studio<'a> {
    args: &'a RenderArgs,
    stage: &'a Stage,
    floor: Option<f32>,
    size: [u32; 2],
    drawer: &'a mut Drawer,
    /// Spent on drawing.
    seconds: f64,
}

impl Studio<'_> {
    /// Draws all pictures and writes them, all or none.
    fn write(
        &mut self,
        plan: &Plan,
        shown: &Shown,
        views: &[View],
        input: &PathBuf,
        talk: &Talk,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let count = shown.shots.len().max(views.len());
        if plan.kind != Kind::Files {
            let [width, height] = self.size;
            let what = || {
                let pictures = plural(count, "picture");
                format!("{pictures} of {width} × {height} pixels")
            };
            // Each picture, and the whole that they are put into.
            let factors = [count as u64 + 1, u64::from(width), u64::from(height), 8];
            check_memory(&factors, what, "choose fewer or smaller ones")?;
        }
        let mut files = Transaction::new();
        let mut paths = Vec::new();
        let mut panels = Vec::new();
        for k in 0..count {
            talk.report("drawing", k, count);
            talk.check_stopped()?;
            // Either all shots from one place, or one shot from all places.
            let shot = &shown.shots[k.min(shown.shots.len() - 1)];
            let view = &views[k.min(views.len() - 1)];
            let image = self.draw(shot, &view.camera, talk)?;
            if plan.kind == Kind::Files {
                let path = plan.file(k);
                overwrite::check([&path], [input], talk)?;
                files.add(&path, &image.to_png()?)?;
                paths.push(path);
                continue;
            }
            let caption = match views.len() {
                1 => shot.caption.clone(),
                _ => format!("{:.0}°", view.degrees),
            };
            panels.push(Panel::new(image, caption));
        }
        talk.check_stopped()?;
        if let Some(bytes) = self.bytes(plan.kind, panels, shown.frames_per_second)? {
            if plan.is_stdout {
                talk.clear();
                send(&bytes)?;
                return Ok(Vec::new());
            }
            paths.push(plan.file(0));
            files.add(&plan.file(0), &bytes)?;
        }
        talk.check_stopped()?;
        files.commit()?;
        Ok(paths)
    }

    /// The one file of all pictures; `None` where each has its own.
    fn bytes(
        &self,
        kind: Kind,
        mut panels: Vec<Panel>,
        frames_per_second: f64,
    ) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(match kind {
            Kind::Files => None,
            Kind::Single => panels.pop().map(|panel| panel.image.to_png()).transpose()?,
            Kind::Animation => {
                let images: Vec<Image> = panels.into_iter().map(|panel| panel.image).collect();
                let step = Duration::from_secs_f64(1.0 / frames_per_second);
                Some(animated_png(&images, step)?)
            }
            Kind::Sheet => {
                let [width, height] = self.size;
                let columns = self.args.columns;
                let style = SheetStyle {
                    columns: Some(columns.unwrap_or_else(|| columns_of(panels.len(), self.size))),
                    caption_px: (width.min(height) as f32 / 16.0).clamp(12.0, 40.0),
                    paper: match self.args.background {
                        Backdrop::Transparent => [0; 4],
                        _ => [255; 4],
                    },
                    ..SheetStyle::default()
                };
                Some(sheet(&panels, &style).to_png()?)
            }
        })
    }

    /// One picture.
    fn draw(&mut self, shot: &Shot, camera: &Camera, talk: &Talk) -> anyhow::Result<Image> {
        let started = Instant::now();
        let posed = self.stage.posed(&shot.positions);
        let ground = Ground {
            height: self.floor,
            ..Ground::default()
        };
        let scene = Scene {
            surfaces: self
                .stage
                .surfaces(&posed, self.args.wireframe.then(Wireframe::default)),
            background: match self.args.background {
                Backdrop::Studio => Background::Studio,
                Backdrop::Solid(color) => Background::Solid(color),
                Backdrop::Transparent => Background::Transparent,
            },
            ground: (!self.args.no_ground).then_some(ground),
        };
        let image = self.drawer.draw(&scene, camera, self.size, talk);
        self.seconds += started.elapsed().as_secs_f64();
        image
    }
}

/// How many pictures a row has when nobody says: about twice as wide as high, with full rows if there are some.
fn columns_of(count: usize, [width, height]: [u32; 2]) -> usize {
    let wanted = (2.0 * count as f64 * f64::from(height) / f64::from(width)).sqrt();
    let nearest = (wanted.round() as usize).clamp(1, count.max(1));
    let rows = count.div_ceil(nearest);
    count.div_ceil(rows.max(1)).max(1)
}

fn camera_facts(camera: &Camera) -> CameraFacts {
    let (field_of_view, height) = match camera.projection {
        Projection::Perspective { fov_y_rad } => (Some(fov_y_rad.to_degrees()), None),
        Projection::Orthographic { height } => (None, Some(height)),
    };
    CameraFacts {
        eye: camera.eye.to_array(),
        target: camera.target.to_array(),
        up: camera.up.normalize_or(Vec3::Y).to_array(),
        field_of_view,
        height,
    }
}

fn report_of(facts: &Facts) -> anyhow::Result<Report> {
    let column = |key: &str, heading: &str, format| Column::new(key, ["", heading], format);
    let first = facts.files.first();
    let table = Table {
        names: "file",
        columns: vec![
            column("/pictures", "pictures", Cell::Count),
            column("/width", "width", Cell::Count),
            column("/height", "height", Cell::Count),
            column("/triangles", "triangles", Cell::Count),
            column("/vertices", "vertices", Cell::Count),
            column("/seconds", "seconds", Cell::Number(2)),
        ],
        rows: vec![Row::new(
            first.map_or(String::new(), |file| file.display().to_string()),
            "",
        )],
        ..Table::default()
    };
    let data = serde_json::to_value(facts).context("numbers are plain JSON")?;
    let blocks = vec![
        Block::Table(table),
        Block::Sentences(vec![format!("drawn by: {}", facts.device)]),
    ];
    Ok(Report::plain(data, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_are_about_twice_as_wide_as_high() {
        for (count, size, columns) in [
            (1, [320, 320], 1),
            (2, [320, 320], 2),
            (8, [320, 320], 4),
            (9, [320, 320], 3),
            (12, [320, 320], 4),
            (8, [100, 400], 8),
            (3, [400, 100], 1),
        ] {
            assert_eq!(columns_of(count, size), columns, "{count} of {size:?}");
        }
    }
}
