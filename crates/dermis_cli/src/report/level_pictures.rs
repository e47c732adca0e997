//! Pictures and charts of levels of detail: the triangles of each, and below how far the full character is from it.

use dermis::TriMesh;
use dermis::progress::Progress;
use dermis_render::glam::{Quat, Vec3};
use dermis_render::{Draw, HeatScale, Paint, Point, Series, Surface, Wireframe, smooth_normals};

use super::charts::{axis_down_to, cost_axis, half};
use super::gallery::{Mark, PICTURE_SIZE, Picture, PictureCell, PictureRow, is_hidden};
use super::levels::rounded;
use super::model::{Figure, Part};
use super::pictures::{View, aspect, single};
use crate::cmd::lod::{Judged, Judgement, LodJob};
use crate::talk::{Talk, plural};

/// What a close-up shows, as a share of the size: all points no farther than this from the worst.
const CLOSE_UP_RADIUS: f64 = 0.16;
/// Errors below this per cent of the size are rounding.
const ROUNDING_PERCENT: f64 = 1e-5;
/// Lines along edges are drawn where there is a triangle for at least so many pixels of a picture.
const PIXELS_OF_A_TRIANGLE: f32 = 8.0;

/// A form of the character in the pose that is shown.
struct Shown<'a> {
    name: String,
    is_rest_only: bool,
    form: &'a Judgement,
    points: Vec<Vec3>,
    /// How far each point of the full character is from its surface, in per cent of the size.
    percent: Vec<f32>,
    rms_percent: f64,
}

/// The full character in the pose that is shown, and its levels.
struct Stage<'a> {
    job: &'a LodJob<'a>,
    pose_name: &'a str,
    truth: Vec<Vec3>,
    shown: Vec<Shown<'a>>,
    scale: HeatScale,
}

/// What the page shows beside tables: all forms side by side in a pose, from afar and near, and errors as curves.
pub(crate) fn levels_figures(job: &LodJob<'_>, talk: &Talk) -> anyhow::Result<Vec<Figure>> {
    let Some(judged) = &job.judged else {
        return Ok(Vec::new());
    };
    let stage = Stage::new(job, judged)?;
    let mesh = &job.leveled.document.mesh;
    let up = job.args.picture_up;
    let view = || View::new(mesh, &[&stage.truth], up, 0);
    // All forms fit into the picture but for spikes, and stand on the ground of the full character.
    let everything = stage.without_spikes();
    let shape = aspect(mesh, std::slice::from_ref(&everything), up);
    let direction = view().direction();
    let whole = view()
        .toward(everything, direction)
        .for_page(PICTURE_SIZE, shape);
    let (at, near) = stage.most_gained();
    let direction = stage.direction_to(at, &view());
    let close = view().toward(near, direction).for_page(PICTURE_SIZE, 1.0);
    let level = job.told() + 1;
    let [worst_for, where_] = match judged.rest_only.is_empty() {
        true => ["", "where it is worst"],
        false => [
            ", simplified at rest alone",
            "where it gains most over simplification at rest",
        ],
    };
    let pose = super::capitalized(stage.pose_name);
    let rows = [
        (
            format!("{pose}: worst for level {level}{worst_for}"),
            whole,
            false,
        ),
        (format!("Level {level} {where_}"), close, true),
    ];
    let mut parts = vec![stage.legend()];
    for (title, view, is_close) in rows {
        let cells = stage.draw(&view, is_close, talk)?;
        parts.push(Part::Pictures(PictureRow { title, cells }));
    }
    let mut figures = vec![Figure {
        heading: "What it looks like",
        parts,
        note: "Above, the triangles that are drawn. Below, the full character, with the distance of each of its points \
               from the level's surface as colour; the ring is at the farthest point, dashed where the surface hides it."
            .to_owned(),
    }];
    figures.push(charts(job, judged));
    Ok(figures)
}

impl<'a> Stage<'a> {
    fn new(job: &'a LodJob<'a>, judged: &'a Judged) -> anyhow::Result<Self> {
        let told = job.told();
        let at = judged.worst_pose(told);
        let (pose_name, pose) = &judged.poses[at];
        let truth = job.leveled.document.expect_skin()?.evaluate(pose)?;
        let level = |(k, form)| (format!("level {}", k + 1), form, false);
        let mut forms: Vec<_> = judged.levels.iter().enumerate().map(level).collect();
        if let Some(form) = judged.rest_only.get(told) {
            let name = format!("level {}, at rest alone", told + 1);
            forms.insert(told + 1, (name, form, true));
        }
        let mut shown = Vec::new();
        for (name, form, is_rest_only) in forms {
            let (points, distances) = form.posed(pose, &truth)?;
            let percent = |distance: &f64| (100.0 * distance / job.size) as f32;
            shown.push(Shown {
                name,
                is_rest_only,
                form,
                points: single(&points),
                percent: distances.iter().map(percent).collect(),
                rms_percent: 100.0 * form.rms_of_pose[at] / job.size,
            });
        }
        let groups: Vec<Vec<f32>> = shown.iter().map(|s| s.percent.clone()).collect();
        Ok(Self {
            job,
            pose_name,
            truth: single(&truth),
            shown,
            scale: HeatScale::comparing(&groups, "% of the size"),
        })
    }

    /// Points of the full character and of all forms; none that stands out so far that the picture would be about it.
    fn without_spikes(&self) -> Vec<Vec3> {
        let truth = || self.truth.iter().copied();
        let room = Vec3::splat(0.1 * self.job.size as f32);
        let low = truth().fold(Vec3::INFINITY, Vec3::min) - room;
        let high = truth().fold(Vec3::NEG_INFINITY, Vec3::max) + room;
        let forms = self.shown.iter().flat_map(|shown| &shown.points).copied();
        let near = forms.filter(|p| p.cmpge(low).all() && p.cmple(high).all());
        truth().chain(near).collect()
    }

    fn legend(&self) -> Part {
        let all = || self.shown.iter().flat_map(|shown| &shown.percent);
        let beyond = all().filter(|percent| **percent > self.scale.max).count();
        let most = all().copied().fold(0.0, f32::max);
        let beyond = match beyond {
            0 => "Nothing shown is beyond its end.".to_owned(),
            count => format!(
                "Beyond the arrow the colour is that of the end: {}% of the points shown, up to {}% of the size.",
                rounded(100.0 * count as f64 / all().count() as f64),
                rounded(f64::from(most))
            ),
        };
        Part::Scale {
            svg: (self.scale).legend_svg(560, (self.job.size / 100.0, "model units")),
            note: format!(
                "Distance of each point of the full character from the level's surface: pale is right, dark is wrong. \
                 {beyond}"
            ),
        }
    }

    /// The point of the full character at which the level gains most over simplification at rest, or where that was not tried
    /// the worst one; and the points around it.
    fn most_gained(&self) -> (usize, Vec<Vec3>) {
        let told = self.job.told();
        let gain = |i: &usize| {
            let level = self.shown[told].percent[*i];
            match self.shown.get(told + 1) {
                Some(beside) if beside.is_rest_only => beside.percent[*i] - level,
                _ => level,
            }
        };
        let gained = (0..self.truth.len()).max_by(|a, b| gain(a).total_cmp(&gain(b)));
        let at = gained.unwrap_or(0);
        let radius = (CLOSE_UP_RADIUS * self.job.size) as f32;
        let is_near = |p: &Vec3| p.distance(self.truth[at]) <= radius;
        let near = self.truth.iter().copied().filter(is_near).collect();
        (at, near)
    }

    /// From where a point is seen: as the whole is, or turned from there until nothing stands before it.
    fn direction_to(&self, at: usize, view: &View<'_>) -> Vec3 {
        let direction = view.direction();
        let far = 2.0 * direction.length();
        let triangles = self.job.leveled.document.mesh.triangles();
        let normal = smooth_normals(&self.truth, triangles)[at];
        let turned = [0, 45, -45, 90, -90, 135, -135, 180].map(|degrees: i16| {
            Quat::from_axis_angle(view.up(), f32::from(degrees).to_radians()) * direction
        });
        let sees = |direction: &Vec3| {
            let along = direction.normalize_or_zero();
            let eye = self.truth[at] - far * along;
            // A surface that is seen at a grazing angle shows little.
            normal.dot(-along) > 0.3 && !is_hidden(eye, at as u32, &self.truth, triangles)
        };
        turned.into_iter().find(sees).unwrap_or(direction)
    }

    /// A row of pictures from one place.
    fn draw(
        &self,
        view: &View<'_>,
        is_close: bool,
        talk: &Talk,
    ) -> anyhow::Result<Vec<PictureCell>> {
        let mesh = &self.job.leveled.document.mesh;
        let picture = |alt: String, image, mark| Picture { alt, image, mark };
        let full = format!("the full character in {}", self.pose_name);
        let mut cells = vec![PictureCell {
            heading: "full".to_owned(),
            pictures: vec![
                picture(
                    format!("{full}: its triangles"),
                    view.draw_surface(facets(&self.truth, mesh.triangles()))?,
                    None,
                ),
                picture(full, view.draw(&self.truth, None)?, None),
            ],
            lines: self.lines(mesh, is_close, Vec::new()),
            is_truth: true,
        }];
        for (number, shown) in self.shown.iter().enumerate() {
            let step = number + usize::from(is_close) * self.shown.len();
            talk.report("drawing", step, 2 * self.shown.len());
            talk.check_stopped()?;
            let heat = Paint::Heat {
                values: &shown.percent,
                scale: self.scale.clone(),
            };
            let (worst, mark) = self.worst(view, shown);
            let drawn = shown.form.mesh.triangles();
            let (name, pose) = (&shown.name, self.pose_name);
            let pictures = vec![
                picture(
                    format!("{name}: its triangles in {pose}"),
                    view.draw_surface(facets(&shown.points, drawn))?,
                    None,
                ),
                picture(
                    format!("{name}: its error in {pose} as colour; {worst}"),
                    view.draw(&self.truth, Some(heat))?,
                    mark,
                ),
            ];
            let off = rounded(shown.rms_percent);
            let errors = vec![
                format!("off by {off}% in this pose (root mean square)"),
                worst,
            ];
            cells.push(PictureCell {
                heading: name.clone(),
                pictures,
                lines: self.lines(&shown.form.mesh, is_close, errors),
                is_truth: false,
            });
        }
        Ok(cells)
    }

    /// What stands below pictures from afar; those from near need not say it again.
    fn lines(&self, mesh: &TriMesh, is_close: bool, errors: Vec<String>) -> Vec<String> {
        match is_close {
            true => Vec::new(),
            false => std::iter::once(plural(mesh.triangles().len(), "triangle"))
                .chain(errors)
                .collect(),
        }
    }

    /// The point that is farthest from a form, in words and as a place in the picture.
    fn worst(&self, view: &View<'_>, shown: &Shown<'_>) -> (String, Option<Mark>) {
        let by_error = |a: &usize, b: &usize| shown.percent[*a].total_cmp(&shown.percent[*b]);
        let Some(point) = (0..shown.percent.len()).max_by(by_error) else {
            return (String::new(), None);
        };
        let words = format!(
            "farthest point: {}%",
            rounded(f64::from(shown.percent[point]))
        );
        let triangles = self.job.leveled.document.mesh.triangles();
        let is_hidden = is_hidden(view.eye(), point as u32, &self.truth, triangles);
        let mark = view.place(self.truth[point]).map(|place| Mark {
            place,
            is_hidden,
            title: words.clone(),
        });
        (words, mark)
    }
}

/// A surface that shows its triangles.
fn facets<'a>(points: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Surface<'a> {
    let room = PICTURE_SIZE * PICTURE_SIZE / triangles.len().max(1) as f32;
    Surface {
        wireframe: (room > PIXELS_OF_A_TRIANGLE).then_some(Wireframe {
            width_px: 0.8,
            opacity: 0.35,
            ..Wireframe::default()
        }),
        ..Surface::new(points, &[], triangles)
    }
}

/// Errors over triangles, and over poses.
fn charts(job: &LodJob<'_>, judged: &Judged) -> Figure {
    let percent = |error: f64| 100.0 * error / job.size;
    const LABEL: &str = "RMS, % of the size";
    let axis = |errors: &[f64]| axis_down_to(ROUNDING_PERCENT, LABEL, errors.iter().copied());
    let of_levels = |name: &str, forms: &[Judgement]| {
        let point = |form: &Judgement| {
            let (x, y) = (form.mesh.triangles().len(), percent(form.rms()));
            let title = format!("{name}: {}% with {x} triangles", rounded(y));
            Point::new(x as f64, y).titled(title)
        };
        Series::new(name, Draw::LineAndPoints, forms.iter().map(point))
    };
    let (made, rest) = ("in the poses", "at rest alone");
    let mut over_triangles = vec![of_levels(made, &judged.levels)];
    let mut over_poses: Vec<Series> = Vec::new();
    let of_poses = |name: String, form: &Judgement| {
        let point = |(k, rms): (usize, &f64)| {
            let y = percent(*rms);
            let title = format!("{}: {}%", judged.poses[k].0, rounded(y));
            Point::new((k + 1) as f64, y).titled(title)
        };
        let points = form.rms_of_pose.iter().enumerate().map(point);
        Series::new(name, Draw::LineAndPoints, points)
    };
    let all = || judged.levels.iter().chain(&judged.rest_only);
    let told = job.told();
    over_poses.push(of_poses(
        format!("level {}", told + 1),
        &judged.levels[told],
    ));
    if let Some(form) = judged.rest_only.get(told) {
        over_triangles.push(of_levels(rest, &judged.rest_only));
        over_poses.push(of_poses(rest.to_owned(), form));
    }
    let errors: Vec<f64> = all().map(|form| percent(form.rms())).collect();
    let beside = judged.rest_only.get(told);
    let by_pose: Vec<f64> = std::iter::once(&judged.levels[told])
        .chain(beside)
        .flat_map(|form| form.rms_of_pose.iter().map(|rms| percent(*rms)))
        .collect();
    let counts = all().map(|form| form.mesh.triangles().len() as f64);
    Figure {
        heading: "How far off",
        parts: vec![Part::Charts(vec![
            half(
                "Error over triangles",
                cost_axis("triangles", counts),
                axis(&errors),
                over_triangles,
            ),
            half(
                &format!("Error of level {} in each pose", told + 1),
                dermis_render::Axis::linear("pose"),
                axis(&by_pose),
                over_poses,
            ),
        ])],
        note: "Distance of the full character's points from the surface, root mean square. Low is good; point at a mark \
               for its numbers."
            .to_owned(),
    }
}
