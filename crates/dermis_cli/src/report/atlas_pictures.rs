//! Pictures of a texture atlas: the character in a few poses under a chequered texture, the charts, and how stretch is
//! spread.

use dermis::document::stretch_in;
use dermis::param::Atlas;
use dermis::progress::Progress;
use dermis_render::glam::{Vec2, Vec3};
use dermis_render::{
    Align, AtlasFill, AtlasPicture, Background, CHEQUER, Image, Paint, Panel, SheetStyle, Surface,
    TextStyle, atlas_picture, chart_tint, draw_text, hstack, sheet, smooth_normals, text_width,
};

use super::atlas::{pose_words, verdict};
use super::atlas_stretch::Spread;
use super::charts::CHART_WIDTH;
use super::gallery::{Picture, PictureCell, PictureRow};
use super::model::{Figure, Part};
use super::pictures::{View, aspect, single};
use crate::args::Up;
use crate::cmd::unwrap::UnwrapJob;
use crate::talk::Talk;

/// Chequers along the height of the character.
const SQUARES: f32 = 40.0;
/// A character is taken to be no lower than this share of its diagonal, so that a flat one has chequers, too.
const LEAST_HEIGHT: f32 = 0.3;
/// Pixels of a square picture's side.
const SIDE: f32 = 640.0;
/// Pixels of the atlas's side.
const ATLAS_SIDE: u32 = 800;
/// Size of the text of a picture, and of its first line, in pixels.
const TEXT_PX: f32 = 24.0;
const TITLE_PX: f32 = 30.0;

/// A pose that is shown, and why.
struct Shown {
    shape: Vec<Vec3>,
    name: &'static str,
    stretch: f64,
}

/// The atlas as a surface: its vertices are split along seams.
struct Stage<'a> {
    job: &'a UnwrapJob<'a>,
    uvs: Vec<Vec2>,
    charts: Vec<[f32; 3]>,
    tints: Vec<[f32; 3]>,
    squares: f32,
    shown: Vec<Shown>,
}

/// What the page shows beside tables.
pub(crate) fn atlas_figures(job: &UnwrapJob<'_>, talk: &Talk) -> anyhow::Result<Vec<Figure>> {
    let stage = Stage::new(job);
    let mut cells = Vec::new();
    for (shown, image) in stage.characters(talk)? {
        cells.push(PictureCell {
            heading: shown.name.to_owned(),
            lines: vec![format!("stretch {:.3}", shown.stretch)],
            pictures: vec![Picture {
                alt: format!("the chequered character {}", shown.name),
                image,
                mark: None,
            }],
            is_truth: false,
        });
    }
    let charts = job.unwrapped.measures.charts;
    cells.push(PictureCell {
        heading: "the atlas".to_owned(),
        lines: vec![format!(
            "{:.0}% covered",
            100.0 * job.unwrapped.measures.packing
        )],
        pictures: vec![Picture {
            alt: format!("the atlas: {charts} charts in their colours"),
            image: stage.atlas(Background::Transparent)?,
            mark: None,
        }],
        is_truth: false,
    });
    let pictures = Figure {
        heading: "What it looks like",
        parts: vec![Part::Pictures(PictureRow {
            title: "Chequers, and the charts that they lie on".to_owned(),
            cells,
        })],
        note: "Each chart has one colour, on the character and in the atlas. Chequers that are square and of one size show \
               no stretch; larger ones have fewer texels."
            .to_owned(),
    };
    let words = pose_words(job).unwrap_or_default();
    let histogram = stage.spread().histogram(&words, CHART_WIDTH);
    let spread = Figure {
        heading: "How much is stretched",
        parts: vec![Part::Histograms(vec![histogram])],
        note: "The stretch of each triangle in each pose, with the share of the area that has it, beside an atlas of the same \
               area: below 1 there are more texels than the mean, above 1 fewer."
            .to_owned(),
    };
    Ok(vec![pictures, spread])
}

/// The same as one picture: what was found in a line, the poses, and below them the atlas and its stretch.
pub(crate) fn atlas_sheet(job: &UnwrapJob<'_>, talk: &Talk) -> anyhow::Result<Image> {
    let stage = Stage::new(job);
    let style = SheetStyle {
        caption_px: TEXT_PX,
        ..SheetStyle::default()
    };
    let caption = |shown: &Shown| format!("{}: stretch {:.3}", shown.name, shown.stretch);
    let characters = stage.characters(talk)?;
    let characters: Vec<Panel> = (characters.into_iter())
        .map(|(shown, image)| Panel::new(image, caption(shown)))
        .collect();
    let poses = sheet(&characters, &style);
    let background = AtlasPicture::new(&[], &[]).background;
    let covered = format!(
        "{:.0}% of the atlas covered",
        100.0 * job.unwrapped.measures.packing
    );
    let atlas = sheet(&[Panel::new(stage.atlas(background)?, covered)], &style);
    let beside = poses.width().saturating_sub(atlas.width());
    let width = beside.saturating_sub(2 * style.border).max(ATLAS_SIDE);
    let words = pose_words(job).unwrap_or_default();
    let plot = stage.spread().plot(&words, [width, ATLAS_SIDE], TEXT_PX);
    let plot = sheet(
        &[Panel::new(plot, "how much of the area is stretched")],
        &style,
    );
    let below = hstack(&[atlas, plot], 0);
    let title = titled(&verdict(job), poses.width().max(below.width()));
    Ok(stacked(&[title, poses, below]))
}

/// A line of text, no wider than a picture below it.
fn titled(text: &str, width: u32) -> Image {
    let room = width as f32 - 2.0 * TEXT_PX;
    let size_px = TITLE_PX.min(TITLE_PX * room / text_width(text, TITLE_PX));
    let mut line = Image::new(width, (2.2 * TITLE_PX) as u32, [255; 4]);
    let text_style = TextStyle {
        size_px,
        align: Align::Center,
        ..TextStyle::default()
    };
    draw_text(&mut line, text, 0.5 * width as f32, TITLE_PX, &text_style);
    line
}

/// Pictures one below the other on white, their middles on one line.
fn stacked(pictures: &[Image]) -> Image {
    let width = pictures.iter().map(Image::width).max().unwrap_or(0);
    let height = pictures.iter().map(Image::height).sum();
    let mut page = Image::new(width, height, [255; 4]);
    let mut y = 0;
    for picture in pictures {
        page.blit(picture, (width - picture.width()) as i32 / 2, y);
        y += picture.height() as i32;
    }
    page
}

impl<'a> Stage<'a> {
    fn new(job: &'a UnwrapJob<'a>) -> Self {
        let atlas = &job.unwrapped.atlas;
        // Pictures have their first row on top.
        let uvs = (atlas.uvs.iter()).map(|uv| Vec2::new(uv.x as f32, 1.0 - uv.y as f32));
        let charts: Vec<[f32; 3]> = (atlas.chart_of.iter())
            .map(|&chart| chart_tint(chart as usize))
            .collect();
        let mut tints = vec![[1.0; 3]; atlas.uvs.len()];
        for (corners, color) in atlas.triangles.iter().zip(&charts) {
            for &vertex in corners {
                tints[vertex as usize] = *color;
            }
        }
        Self {
            job,
            uvs: uvs.collect(),
            charts,
            tints,
            squares: squares(job),
            shown: shown(job),
        }
    }

    fn spread(&self) -> Spread {
        Spread::new(&self.job.unwrapped.atlas, &self.job.unwrapped.shapes)
    }

    /// The poses, all seen along one direction and equally large.
    fn characters(&self, talk: &Talk) -> anyhow::Result<Vec<(&Shown, Image)>> {
        let mesh = &self.job.unwrapped.document.mesh;
        let up = self.job.args.picture_up;
        let shapes: Vec<Vec<Vec3>> = self.shown.iter().map(|shown| shown.shape.clone()).collect();
        let middles: Vec<Vec3> = shapes.iter().map(|shape| middle(shape)).collect();
        // Clips may carry a character far away: all poses are laid over each other to find the room that they need.
        let room = |at: Vec3| -> Vec<Vec3> {
            let moved = shapes.iter().zip(&middles);
            moved
                .flat_map(|(shape, middle)| shape.iter().map(move |p| *p - *middle + at))
                .collect()
        };
        let aspect = aspect(mesh, &shapes, up);
        let mut drawn = Vec::new();
        let mut direction = None;
        for (k, shown) in self.shown.iter().enumerate() {
            talk.report("drawing", k, self.shown.len());
            talk.check_stopped()?;
            let view = View::new(mesh, &[&shown.shape], up, 0);
            let direction = *direction.get_or_insert_with(|| view.direction());
            let view = view
                .toward(room(middles[k]), direction)
                .for_page(SIDE, aspect);
            drawn.push((shown, self.draw(&view, &shown.shape)?));
        }
        Ok(drawn)
    }

    fn draw(&self, view: &View<'_>, shape: &[Vec3]) -> anyhow::Result<Image> {
        let atlas = &self.job.unwrapped.atlas;
        let triangles = self.job.unwrapped.document.draw.point_triangles();
        // Of points, not of vertices: light does not show where a surface is cut.
        let smooth = smooth_normals(shape, &triangles);
        let each = |values: &[Vec3]| -> Vec<Vec3> {
            let points = atlas.points.iter();
            points.map(|&point| values[point as usize]).collect()
        };
        let (positions, normals) = (each(shape), each(&smooth));
        let surface = Surface::new(&positions, &normals, &atlas.triangles);
        view.draw_surface(surface.painted(Paint::Chequer {
            uvs: &self.uvs,
            squares: self.squares,
            colors: CHEQUER,
            tints: &self.tints,
        }))
    }

    /// The charts, with dark borders.
    fn atlas(&self, background: Background) -> anyhow::Result<Image> {
        let atlas = &self.job.unwrapped.atlas;
        let borders = borders(atlas, &self.uvs);
        let picture = AtlasPicture {
            fill: AtlasFill::Colors(&self.charts),
            borders: &borders,
            background,
            ..AtlasPicture::new(&self.uvs, &atlas.triangles)
        };
        Ok(atlas_picture(&picture, ATLAS_SIDE, ATLAS_SIDE)?)
    }
}

/// The rest pose, the pose of the largest stretch, and one in the middle, as far as there are so many.
fn shown(job: &UnwrapJob<'_>) -> Vec<Shown> {
    let (atlas, shapes) = (&job.unwrapped.atlas, &job.unwrapped.shapes);
    let stretches: Vec<f64> = shapes.iter().map(|s| stretch_in(atlas, s)).collect();
    let posed = 1..shapes.len();
    let worst = posed
        .clone()
        .max_by(|a, b| stretches[*a].total_cmp(&stretches[*b]));
    let mut chosen = vec![(0, "at rest")];
    if let Some(worst) = worst {
        chosen.push((worst, "in the pose that stretches it most"));
        // The worst pose may be the one in the middle.
        let middle = shapes.len() / 2;
        let other = [middle, middle + 1, middle.saturating_sub(1)];
        let other = other.into_iter().find(|k| posed.contains(k) && *k != worst);
        chosen.extend(other.map(|k| (k, "in the middle of the poses")));
    }
    let shown = |(k, name): (usize, &'static str)| Shown {
        shape: single(&shapes[k]),
        name,
        stretch: stretches[k],
    };
    chosen.into_iter().map(shown).collect()
}

/// Chequers along one unit of UV, so that a good many fit along the height of the character.
fn squares(job: &UnwrapJob<'_>) -> f32 {
    let rest = job.unwrapped.shapes.first().map(|shape| single(shape));
    let rest = rest.unwrap_or_default();
    let low = rest.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = rest.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    let size = high - low;
    let along = match job.args.picture_up {
        Up::Y => size.y,
        Up::Z => size.z,
    };
    let height = along.max(LEAST_HEIGHT * size.length());
    let texels = job.unwrapped.measures.texels_per_unit as f32;
    let units = job.args.size as f32 / texels;
    let squares = SQUARES * units / height;
    if squares.is_finite() {
        squares
    } else {
        SQUARES
    }
}

fn middle(shape: &[Vec3]) -> Vec3 {
    let low = shape.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = shape.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    0.5 * (low + high)
}

/// Edges that one triangle of the atlas has: the borders of charts, and cuts within them.
fn borders(atlas: &Atlas, uvs: &[Vec2]) -> Vec<[Vec2; 2]> {
    let sides =
        |[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]].map(|[a, b]| [*a.min(b), *a.max(b)]);
    let mut edges: Vec<[u32; 2]> = atlas.triangles.iter().flat_map(sides).collect();
    edges.sort_unstable();
    let single = edges.chunk_by(|a, b| a == b).filter(|same| same.len() == 1);
    single
        .map(|same| same[0].map(|vertex| uvs[vertex as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_go_round_a_chart() {
        let atlas = Atlas {
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            ..Atlas::default()
        };
        let uvs = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(Vec2::from);
        let found = borders(&atlas, &uvs);
        assert_eq!(found.len(), 4, "the diagonal is none: {found:?}");
    }
}
