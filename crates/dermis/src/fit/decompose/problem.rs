//! An animation in the solver's units, and the conversion back.

use faer::{Mat, MatRef};
use glam::{DAffine3, DMat3, DVec3};

use super::bone_step::Sums;
use super::check_trajectories;
use super::flat::{flat_normal, with_normal};
use super::model::{Bones, Points, Targets};
use super::options::{BoneMotion, DecomposeOptions};
use super::point_step::{PointStep, Smooth};
use super::points;
use super::reduce::reduce;
use super::solver::{Solver, State};
use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::mesh::{Weld, weld_by_key};
use crate::rig::BoneId;
use crate::rows::Rows;
use crate::skin::Weight;

/// An animation in the solver's units: points, centred in every frame, in a unit ball.
pub(super) struct Problem<'a> {
    pub(super) animation: &'a MeshAnimation,
    pub(super) weld: Weld,
    pub(super) neighbors: Vec<Vec<u32>>,
    pub(super) units: Units,
    /// In rest pose, in the solver's units.
    pub(super) rest: Vec<[f64; 3]>,
    /// `A`, a column per point.
    pub(super) whole: Targets,
    /// `B` and `C`, when reduced.
    reduced: Option<(Mat<f64>, Targets)>,
    /// Squared error of the reduction.
    left: f64,
}

/// Takes the solver's units to the animation's.
pub(super) struct Units {
    pub(super) radius: f64,
    pub(super) rest_center: DVec3,
    pub(super) frame_centers: Vec<DVec3>,
}

impl<'a> Problem<'a> {
    /// Vertices that always stand together become one point; trajectories are reduced when that is
    /// allowed and the bones are affine.
    pub(super) fn new(
        animation: &'a MeshAnimation,
        options: &DecomposeOptions,
    ) -> Result<Self, FitError> {
        check_trajectories(animation)?;
        let mut problem = Self::of_points(animation, points::weld_trajectories(animation))?;
        if options.motion == BoneMotion::Affine && options.reduction_error > 0.0 {
            problem.reduce(options);
        }
        Ok(problem)
    }

    /// Every vertex is a point, and nothing is reduced: for rigs in which vertices at the same place may
    /// differ.
    pub(super) fn of_vertices(animation: &'a MeshAnimation) -> Result<Self, FitError> {
        check_trajectories(animation)?;
        Self::of_points(animation, weld_by_key(0..animation.vertex_count()))
    }

    fn of_points(animation: &'a MeshAnimation, weld: Weld) -> Result<Self, FitError> {
        let count = weld.first_vertex.len();
        if count == 0 {
            return Err(FitError::NothingToFit {
                examples: animation.frame_count(),
                bones: 0,
            });
        }
        // Over the points, so that duplicated vertices do not count more.
        let mean = |positions: &[DVec3]| {
            let points = weld.first_vertex.iter().map(|&v| positions[v as usize]);
            points.sum::<DVec3>() / count as f64
        };
        let frames: Vec<&[DVec3]> = animation.frames().collect();
        let units = Units {
            radius: animation.unit_ball_radius(),
            rest_center: mean(animation.rest().positions()),
            frame_centers: frames.iter().map(|frame| mean(frame)).collect(),
        };
        let positions = animation.rest().positions();
        let rest: Vec<[f64; 3]> = (weld.first_vertex.iter())
            .map(|&vertex| units.scale_rest(positions[vertex as usize]))
            .collect();
        let dimension = 3 * frames.len();
        let mut coordinates = Vec::with_capacity(dimension * count);
        for &vertex in &weld.first_vertex {
            for (frame, center) in frames.iter().zip(&units.frame_centers) {
                let place = (frame[vertex as usize] - center) / units.radius;
                coordinates.extend(place.to_array());
            }
        }
        let whole = Targets::new(dimension, coordinates, vec![1.0; count]);
        let neighbors = points::neighbors(animation.rest().triangles(), &weld, &rest);
        Ok(Self {
            animation,
            weld,
            neighbors,
            units,
            rest,
            whole,
            reduced: None,
            left: 0.0,
        })
    }

    fn reduce(&mut self, options: &DecomposeOptions) {
        let whole = &self.whole;
        let (rows, count) = (whole.dimension, whole.count());
        let epsilon = 1e-3 * options.reduction_error * self.number_count().sqrt();
        let matrix = MatRef::from_column_major_slice(&whole.coordinates, rows, count);
        let reduced = reduce(matrix, epsilon);
        let dimension = reduced.basis.ncols();
        if dimension == 0 {
            return;
        }
        let coordinates = (reduced.coordinates.col_iter())
            .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
            .collect();
        let targets = Targets::new(dimension, coordinates, whole.multiplicity.clone());
        self.left = reduced.squared_residual;
        self.reduced = Some((reduced.basis, targets));
    }

    /// `3NF` over the points.
    pub(super) fn number_count(&self) -> f64 {
        (self.whole.dimension * self.whole.count()) as f64
    }

    pub(super) fn e_rms(&self, squared_error: f64) -> f64 {
        1000.0 * ((squared_error + self.left) / self.number_count()).sqrt()
    }

    /// The trajectories to fit, reduced or whole.
    pub(super) fn targets(&self) -> &Targets {
        self.reduced.as_ref().map_or(&self.whole, |(_, c)| c)
    }

    /// The strength of a smoothness: 1 weighs a step of a whole weight as an error of one `E_RMS`.
    pub(super) fn smoothing(&self, smoothness: f64) -> f64 {
        1e-6 * smoothness * self.whole.dimension as f64
    }

    /// How points are solved under some options.
    pub(super) fn point_step(&self, options: &DecomposeOptions) -> PointStep<'_> {
        PointStep {
            max_influences: options.max_influences,
            exchange: true,
            update_rest: options.update_rest,
            passes: 1,
            locked: None,
            smooth: (options.smoothness > 0.0).then(|| Smooth {
                strength: self.smoothing(options.smoothness),
                neighbors: &self.neighbors,
            }),
        }
    }

    /// Bones in all frames, fitted once more without reduction.
    pub(super) fn finish(&self, state: &mut State, solver: &Solver<'_>) -> Bones {
        let fixed_sets = PointStep {
            exchange: false,
            ..solver.step.clone()
        };
        state.points = fixed_sets.run(solver.targets, &state.bones, &state.points);
        let Some((basis, _)) = &self.reduced else {
            solver.move_bones(state);
            return state.bones.clone();
        };
        let reduced = &state.bones;
        let columns = MatRef::from_column_major_slice(
            &reduced.columns,
            reduced.dimension,
            4 * reduced.padded,
        );
        let full = basis * columns;
        let mut bones = Bones::zeros(reduced.count, self.whole.dimension);
        for (to, from) in
            (bones.columns.chunks_exact_mut(self.whole.dimension)).zip(full.col_iter())
        {
            to.iter_mut()
                .zip(from.iter())
                .for_each(|(to, from)| *to = *from);
        }
        let sums = Sums::new(&self.whole, &state.points, bones.count);
        sums.solve_affine(&mut bones, &solver.free);
        bones
    }

    /// Rest positions and weights of all vertices, in the animation's units.
    pub(super) fn vertices(&self, points: &Points) -> (Vec<DVec3>, Rows<Weight>) {
        let units = &self.units;
        let rest_of = |&point: &u32| {
            DVec3::from_array(points.rest[point as usize]) * units.radius + units.rest_center
        };
        let rest_positions = self.weld.point_of_vertex.iter().map(rest_of).collect();
        let mut weights = Rows::with_capacity(self.weld.point_of_vertex.len(), 0);
        for &point in &self.weld.point_of_vertex {
            let mut row: Vec<Weight> = (points.supports.pairs(point as usize))
                .map(|(bone, weight)| Weight {
                    bone: BoneId(bone as u16),
                    weight,
                })
                .collect();
            row.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
            weights.push_row(row);
        }
        (rest_positions, weights)
    }

    /// The matrices of all bones, by frame, in the animation's units.
    pub(super) fn matrices(&self, bones: &Bones) -> Vec<Vec<DAffine3>> {
        let units = &self.units;
        let rest = self.animation.rest().positions();
        let flat = flat_normal(rest, units.rest_center, units.radius);
        let of_frame = |(frame, center): (usize, &DVec3)| {
            let matrix = |bone| {
                let part =
                    |component| DVec3::from_slice(&bones.column(component, bone)[3 * frame..]);
                let mut matrix3 = DMat3::from_cols(part(0), part(1), part(2));
                if let Some(normal) = flat
                    && (matrix3 * normal).length() < 1e-6
                {
                    matrix3 = with_normal(matrix3, normal);
                }
                DAffine3 {
                    matrix3,
                    translation: part(3) * units.radius + center - matrix3 * units.rest_center,
                }
            };
            (0..bones.count).map(matrix).collect()
        };
        units
            .frame_centers
            .iter()
            .enumerate()
            .map(of_frame)
            .collect()
    }
}

impl Units {
    /// A rest position in the solver's units.
    pub(super) fn scale_rest(&self, position: DVec3) -> [f64; 3] {
        ((position - self.rest_center) / self.radius).to_array()
    }

    /// Sets a bone's matrix in one frame from the animation's units.
    pub(super) fn set_matrix(&self, bones: &mut Bones, bone: usize, frame: usize, m: &DAffine3) {
        let origin = m.transform_point3(self.rest_center) - self.frame_centers[frame];
        let parts = [
            m.matrix3.x_axis,
            m.matrix3.y_axis,
            m.matrix3.z_axis,
            origin / self.radius,
        ];
        for (component, part) in parts.iter().enumerate() {
            part.write_to_slice(&mut bones.column_mut(component, bone)[3 * frame..]);
        }
    }
}
