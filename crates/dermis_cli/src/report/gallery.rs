//! The pictures of a page: poses in rows; in each row the truth, then every method with its error, all from one place,
//! in one light and in one scale of colours.

use dermis::TriMesh;
use dermis::progress::Progress;
use dermis_render::glam::Vec3;
use dermis_render::{HeatScale, Image, Paint};
use glam::DVec3;

use super::model::Part;
use super::pictures::{Shot, View, aspect, single};
use super::short;
use crate::args::Up;
use crate::talk::Talk;

/// Pixels of a square picture's side; others have as many in all.
pub(super) const PICTURE_SIZE: f32 = 440.0;

/// A pose to show.
pub(super) struct PoseShown<'a> {
    /// Such as "Worst held-out pose: elbow 90".
    pub(super) title: String,
    /// What it is called in sentences, such as "example elbow 90".
    pub(super) name: String,
    pub(super) truth: &'a [DVec3],
    /// What is shown in its place, by the names of those who show it.
    pub(super) shots: Vec<(String, Shot)>,
}

/// How a gallery is made.
pub(super) struct Gallery<'a> {
    pub(super) mesh: &'a TriMesh,
    pub(super) up: Up,
    /// The length that errors are shares of, in model units.
    pub(super) size: f64,
    /// Above the truth, such as "example".
    pub(super) truth_name: &'static str,
    /// Colours of the vertices where the error is not shown; `None` for clay.
    pub(super) colors: Option<&'a [[f32; 3]]>,
    /// What the colours are about, below the pictures in them; empty for clay.
    pub(super) colors_mean: &'static str,
}

/// A pose with its pictures.
pub(super) struct PictureRow {
    pub(super) title: String,
    pub(super) cells: Vec<PictureCell>,
}

/// Pictures one below the other, with words above and below.
pub(super) struct PictureCell {
    pub(super) heading: String,
    pub(super) pictures: Vec<Picture>,
    pub(super) lines: Vec<String>,
    /// Whether it stays in sight when the others are moved along.
    pub(super) is_truth: bool,
}

/// A picture, and a place in it that is pointed out.
pub(super) struct Picture {
    /// What it shows, for those who cannot see it.
    pub(super) alt: String,
    pub(super) image: Image,
    pub(super) mark: Option<Mark>,
}

/// A ring in a picture.
pub(super) struct Mark {
    /// In shares of the picture's width and height, from its upper left corner.
    pub(super) place: [f32; 2],
    /// Whether the surface hides the place.
    pub(super) is_hidden: bool,
    pub(super) title: String,
}

impl Gallery<'_> {
    /// Draws the legend of the colours and all poses.
    pub(super) fn draw(&self, poses: &[PoseShown<'_>], talk: &Talk) -> anyhow::Result<Vec<Part>> {
        let scale = scale(poses);
        let mut parts = vec![Part::Scale {
            svg: scale.legend_svg(560, (self.size / 100.0, "model units")),
            note: beyond(&scale, poses),
        }];
        let truths: Vec<Vec<Vec3>> = poses.iter().map(|pose| single(pose.truth)).collect();
        let aspect = aspect(self.mesh, &truths, self.up);
        let total = poses.iter().map(|pose| 1 + 2 * pose.shots.len()).sum();
        let mut drawn = 0;
        for (pose, truth) in poses.iter().zip(truths) {
            let view = View::new(self.mesh, &[&truth], self.up, 0).for_page(PICTURE_SIZE, aspect);
            let mut step = |image: anyhow::Result<Image>| -> anyhow::Result<Image> {
                drawn += 1;
                talk.report("drawing", drawn, total);
                talk.check_stopped()?;
                image
            };
            let mut cells = vec![PictureCell {
                heading: self.truth_name.to_owned(),
                pictures: vec![Picture {
                    alt: pose.name.clone(),
                    image: step(view.draw(&truth, None))?,
                    mark: None,
                }],
                lines: vec![pose.name.clone()],
                is_truth: true,
            }];
            for (name, shot) in &pose.shots {
                let shape = Picture {
                    alt: format!("{name}: its shape in {}", pose.name),
                    image: step(view.draw(&shot.fit, self.colors.map(Paint::VertexColors)))?,
                    mark: None,
                };
                let (words, mark) = self.worst(&view, shot);
                let error = Picture {
                    alt: format!("{name}: its error in {} as colour; {words}", pose.name),
                    image: step(view.draw(&shot.fit, Some(shot.heat(&scale))))?,
                    mark,
                };
                let mut lines = vec![words];
                if !self.colors_mean.is_empty() {
                    lines.insert(0, self.colors_mean.to_owned());
                }
                cells.push(PictureCell {
                    heading: name.clone(),
                    pictures: vec![shape, error],
                    lines,
                    is_truth: false,
                });
            }
            // With one method there is room for its two pictures side by side.
            if let [_, one] = &mut cells[..] {
                let error = one.pictures.pop();
                let lines = one.lines.pop();
                cells.push(PictureCell {
                    heading: "error".to_owned(),
                    pictures: error.into_iter().collect(),
                    lines: lines.into_iter().collect(),
                    is_truth: false,
                });
            }
            parts.push(Part::Pictures(PictureRow {
                title: pose.title.clone(),
                cells,
            }));
        }
        Ok(parts)
    }

    /// The vertex that is furthest from where it should be, in words and as a place in the picture.
    fn worst(&self, view: &View<'_>, shot: &Shot) -> (String, Option<Mark>) {
        let by_error = |a: &usize, b: &usize| shot.percent[*a].total_cmp(&shot.percent[*b]);
        let Some(vertex) = (0..shot.percent.len()).max_by(by_error) else {
            return (String::new(), None);
        };
        let percent = f64::from(shot.percent[vertex]);
        let mut words = format!(
            "worst: vertex {vertex}, {} model units off, {percent:.2}% of the size",
            short(percent / 100.0 * self.size)
        );
        let at = shot.fit[vertex];
        let is_hidden = is_hidden(view.eye(), vertex as u32, &shot.fit, self.mesh.triangles());
        let mark = view.place(at).map(|place| Mark {
            place,
            is_hidden,
            title: words.clone(),
        });
        match (&mark, is_hidden) {
            (None, _) => words += " (outside the picture)",
            (Some(_), true) => words += " (hidden from here)",
            (Some(_), false) => {}
        }
        (words, mark)
    }
}

/// Whether a triangle stands between the eye and a vertex (the test of Möller and Trumbore, 1997).
pub(super) fn is_hidden(
    eye: Vec3,
    vertex: u32,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
) -> bool {
    let ray = positions[vertex as usize] - eye;
    let is_between = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|corner| positions[corner as usize]);
        let (ab, ac, from_a) = (b - a, c - a, eye - a);
        let across = ray.cross(ac);
        let volume = ab.dot(across);
        let u = from_a.dot(across) / volume;
        let turned = from_a.cross(ab);
        let v = ray.dot(turned) / volume;
        // The share of the way to the vertex; a triangle without area gives no number, and hides nothing.
        let along = ac.dot(turned) / volume;
        u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..0.999).contains(&along)
    };
    let others = triangles
        .iter()
        .filter(|corners| !corners.contains(&vertex));
    others.into_iter().any(is_between)
}

/// One scale for all pictures of a page, which tells good methods from bad ones.
fn scale(poses: &[PoseShown<'_>]) -> HeatScale {
    let mut groups: Vec<(&str, Vec<f32>)> = Vec::new();
    for (name, shot) in poses.iter().flat_map(|pose| &pose.shots) {
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.extend(&shot.percent),
            None => groups.push((name, shot.percent.clone())),
        }
    }
    let groups: Vec<Vec<f32>> = groups.into_iter().map(|(_, values)| values).collect();
    HeatScale::comparing(&groups, "% of the size")
}

/// What the colours do not show.
fn beyond(scale: &HeatScale, poses: &[PoseShown<'_>]) -> String {
    let shots = || poses.iter().flat_map(|pose| &pose.shots);
    let count: usize = shots().map(|(_, shot)| shot.percent.len()).sum();
    let clipped: f64 = shots()
        .map(|(_, shot)| scale.share_beyond(&shot.percent) * shot.percent.len() as f64)
        .sum();
    let worst = shots().max_by(|a, b| a.1.worst().total_cmp(&b.1.worst()));
    let share = 100.0 * clipped / count.max(1) as f64;
    let clipped = match worst {
        Some((name, worst)) if share > 0.0 => {
            let who = match poses.iter().all(|pose| pose.shots.len() == 1) {
                true => String::new(),
                false => format!(", of {name}"),
            };
            let share = match share < 0.1 {
                true => "less than 0.1%".to_owned(),
                false => format!("{share:.1}%"),
            };
            format!(
                "Beyond the arrow the colour is that of the end: {share} of the vertices shown, up to {:.2}% of the \
                 size{who}.",
                worst.worst()
            )
        }
        _ => "Nothing shown is beyond its end.".to_owned(),
    };
    format!(
        "Distance of each vertex from where it should be: pale is right, dark is wrong. {clipped}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_behind_another_triangle_is_hidden_and_one_in_front_is_not() {
        let square =
            |z: f32| [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, z));
        let positions = [square(0.0), square(5.0).map(|p| 9.0 * p)].concat();
        let triangles = [[0, 1, 2], [3, 4, 5]];
        let hidden = |eye: Vec3, vertex| is_hidden(eye, vertex, &positions, &triangles);
        let (front, back) = (Vec3::new(0.0, 0.0, 99.0), Vec3::new(0.0, 0.0, -99.0));
        assert!(hidden(front, 0), "behind the large triangle");
        assert!(!hidden(back, 0), "before it");
        assert!(
            !hidden(front, 3),
            "a triangle does not hide its own corners"
        );
    }

    #[test]
    fn what_is_beyond_the_scale_is_counted_and_named() {
        let truth = [DVec3::ZERO; 200];
        let shot = |error: f64| Shot::new(&truth, &[DVec3::X * error; 200], 1.0);
        let pose = |shots: Vec<(String, Shot)>| PoseShown {
            title: String::new(),
            name: String::new(),
            truth: &truth,
            shots,
        };
        let named = |name: &str, error: f64| (name.to_owned(), shot(error));
        let poses = [pose(vec![
            named("good", 0.004),
            named("middle", 0.01),
            named("astray", 0.5),
        ])];
        let scale = scale(&poses);
        assert_eq!(scale.max, 1.0, "the middle one decides, in per cent");
        let note = beyond(&scale, &poses);
        assert!(
            note.contains("33.3% of the vertices shown, up to 50.00%"),
            "{note}"
        );
        assert!(note.contains("of astray"), "{note}");
        let whole = [pose(vec![named("only", 0.004)])];
        let note = beyond(&super::scale(&whole), &whole);
        assert!(note.contains("Nothing shown is beyond"), "{note}");
    }
}
