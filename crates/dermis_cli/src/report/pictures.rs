//! Which poses are shown, what a skin makes of them, and from where that is looked at.

use anyhow::Context;
use dermis::fit::FitReport;
use dermis::measure::ExampleMeasures;
use dermis::{ExampleSet, Skin, TriMesh};
use dermis_render::glam::Vec3;
use dermis_render::{
    Background, Camera, Ground, HeatScale, Image, Paint, Scene, Surface, UpAxis, render,
    smooth_normals,
};
use glam::DVec3;

use crate::args::Up;

/// An example to show, and why.
pub(super) struct Shown {
    /// Number of the example in its set.
    pub(super) index: usize,
    /// Such as "worst held-out pose".
    pub(super) why: &'static str,
}

/// The examples that tell most about a fit: those held out if any are.
pub(super) fn telling(fitted: &FitReport) -> (&[ExampleMeasures], &'static str) {
    match &fitted.held_out {
        Some(held_out) => (&held_out.measured.examples, "worst held-out pose"),
        None => (&fitted.overall.examples, "worst pose"),
    }
}

/// The worst example and two typical ones, held out if any are.
pub(super) fn choose_examples(fitted: &FitReport) -> Vec<Shown> {
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

    /// The same place and light, with other points in the picture, looked at along another direction.
    pub(super) fn toward(self, points: Vec<Vec3>, direction: Vec3) -> Self {
        let camera = Camera {
            eye: self.camera.target - direction,
            ..self.camera
        };
        Self {
            camera,
            points,
            ..self
        }
    }

    /// The same view for a page: so wide for its height, with as many pixels as a square of this side, and on the page's
    /// own paper.
    pub(super) fn for_page(self, side: f32, aspect: f32) -> Self {
        let (direction, up) = (self.direction(), self.up());
        let points = self.points.iter().copied();
        let pixels = [side * aspect.sqrt(), side / aspect.sqrt()].map(|side| side.round() as u32);
        Self {
            camera: Camera::framing(points, direction, up, aspect),
            aspect,
            background: Background::Transparent,
            pixels,
            ..self
        }
    }

    /// Where the camera looks to, not of length 1.
    pub(super) fn direction(&self) -> Vec3 {
        self.camera.target - self.camera.eye
    }

    /// What is up.
    pub(super) fn up(&self) -> Vec3 {
        self.ground.up_axis.up()
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
        self.draw_surface(surface)
    }

    /// A surface that need not be of the mesh.
    pub(super) fn draw_surface(&self, surface: Surface<'_>) -> anyhow::Result<Image> {
        let scene = Scene {
            surfaces: vec![surface],
            ground: Some(self.ground),
            background: self.background,
        };
        let [width, height] = self.pixels;
        render(&scene, &self.camera, width, height).context("the picture cannot be drawn")
    }
}

/// Width over height of pictures that are to be compared: as the shapes need it, so that little of the paper stays empty.
pub(super) fn aspect(mesh: &TriMesh, shapes: &[Vec<Vec3>], up: Up) -> f32 {
    let (mut width, mut height) = (0.0_f32, 0.0_f32);
    for shape in shapes {
        let view = View::new(mesh, &[shape], up, 0);
        let places = shape.iter().filter_map(|p| view.place(*p));
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for [x, y] in places {
            low = low.min(Vec3::new(x, y, 0.0));
            high = high.max(Vec3::new(x, y, 0.0));
        }
        width = width.max(high.x - low.x);
        height = height.max(high.y - low.y);
    }
    match width > 0.0 && height > 0.0 {
        true => (width / height).clamp(0.6, 1.6),
        false => 1.0,
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
