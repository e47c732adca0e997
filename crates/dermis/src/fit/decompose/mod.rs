//! Skinning decomposition: bones and weights for a mesh of which only the motion is known.
//!
//! \[Kavan10\] writes the animation as a matrix `A` with a column of 3F numbers per vertex and looks
//! for `A ≈ T X`, where `T` holds the matrices of all bones in all frames and the columns of `X`
//! are sparse: `w_ij v̂_i`.

//!
//! Everything happens in a reduced space, `C ≈ T_r X` with `A ≈ B C`, in rounds: bones for the points
//! as they are, then weights and rest positions of each point for the bones as they are. Beyond the
//! paper: bones are exchanged by what they add to a point's others instead of chosen one by one
//! (`point_step`), two kinds of start compete (`start`), bones over-relax (`solver`), bones that die
//! are placed anew, and rigid bones are fitted without reduction (`bone_step`).

mod bone_step;
mod model;
mod options;
mod point_step;
mod points;
mod products;
mod reduce;
mod solver;
mod start;

pub use options::{BoneCount, BoneMotion, DecomposeOptions, Quality};
pub use reduce::{Reduced, Reduction, reduce};

use faer::{Mat, MatRef};
use glam::{DAffine3, DMat3, DVec3};

use super::{FitError, bad_option};
use crate::example::MeshAnimation;
use crate::mesh::Weld;
use crate::progress::Progress;
use crate::rig::{BoneId, Palette, Pose, Skeleton};
use crate::rows::Rows;
use crate::skin::{Skin, SkinError, SsdProgram, VertexProgram, Weight};
use bone_step::Sums;
use model::{Bones, Points, Targets};
use point_step::{PointStep, Smooth};
use solver::{Solver, State};
use start::Ground;

/// A skin, and the pose in which it shows each frame of an animation.
#[derive(Debug, Clone)]
pub struct Decomposition {
    /// Linear blend skinning over the bones that were found.
    pub skin: Skin,
    /// One pose per frame of the animation, through all clips. Bones may shear.
    pub poses: Vec<Pose>,
    /// `E_RMS` of the skin in these poses.
    pub e_rms: f64,
    /// `E_RMS` after each round.
    pub round_errors: Vec<f64>,
}

/// Decomposes a mesh animation: bones, their matrices in every frame, and weights.
///
/// The same animation gives the same skin, bit for bit, on any number of threads.
///
/// # Errors
/// [`FitError::BadOption`], and [`FitError::Stopped`] when `progress` stops it before a first result.
pub fn decompose(
    animation: &MeshAnimation,
    options: &DecomposeOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    options.check()?;
    let problem = Problem::new(animation, options)?;
    match options.bones {
        BoneCount::Exactly(count) => problem.solve(count, options, progress),
        BoneCount::ForError { .. } => bad_option("bones", "not yet"),
    }
}

/// An animation in the solver's units: points, centred in every frame, in a unit ball.
struct Problem<'a> {
    animation: &'a MeshAnimation,
    weld: Weld,
    neighbors: Vec<Vec<u32>>,
    units: Units,
    /// In rest pose, in the solver's units.
    rest: Vec<[f64; 3]>,
    /// `A`, a column per point.
    whole: Targets,
    /// `B` and `C`, when reduced.
    reduced: Option<(Mat<f64>, Targets)>,
    /// Squared error that the reduction leaves.
    left: f64,
}

/// Takes the solver's units to the animation's.
struct Units {
    radius: f64,
    rest_center: DVec3,
    frame_centers: Vec<DVec3>,
}

impl<'a> Problem<'a> {
    fn new(animation: &'a MeshAnimation, options: &DecomposeOptions) -> Result<Self, FitError> {
        let weld = points::weld_trajectories(animation);
        let count = weld.first_vertex.len();
        if count == 0 {
            return Err(FitError::NothingToFit {
                examples: animation.frame_count(),
                bones: 0,
            });
        }
        let mean = |positions: &[DVec3]| {
            positions.iter().copied().sum::<DVec3>() / positions.len() as f64
        };
        let frames: Vec<&[DVec3]> = animation.frames().collect();
        let units = Units {
            radius: animation.unit_ball_radius(),
            rest_center: mean(animation.rest().positions()),
            frame_centers: frames.iter().map(|frame| mean(frame)).collect(),
        };
        let rest: Vec<[f64; 3]> = (weld.first_vertex.iter())
            .map(|&vertex| {
                let position = animation.rest().positions()[vertex as usize];
                ((position - units.rest_center) / units.radius).to_array()
            })
            .collect();
        let mut multiplicity = vec![0.0; count];
        for &point in &weld.point_of_vertex {
            multiplicity[point as usize] += 1.0;
        }
        let dimension = 3 * frames.len();
        let mut coordinates = Vec::with_capacity(dimension * count);
        for &vertex in &weld.first_vertex {
            for (frame, center) in frames.iter().zip(&units.frame_centers) {
                let place = (frame[vertex as usize] - center) / units.radius;
                coordinates.extend(place.to_array());
            }
        }
        let whole = Targets::new(dimension, coordinates, multiplicity);
        let neighbors = points::neighbors(animation.rest().triangles(), &weld, &rest);
        let mut problem = Self {
            animation,
            weld,
            neighbors,
            units,
            rest,
            whole,
            reduced: None,
            left: 0.0,
        };
        if options.motion == BoneMotion::Affine && options.reduction_error > 0.0 {
            problem.reduce(options);
        }
        Ok(problem)
    }

    fn reduce(&mut self, options: &DecomposeOptions) {
        let whole = &self.whole;
        let (rows, count) = (whole.dimension, whole.count());
        let epsilon = 1e-3 * options.reduction_error * self.number_count().sqrt();
        let matrix = MatRef::from_column_major_slice(&whole.coordinates, rows, count);
        // A point that stands for several vertices counts as often.
        let is_plain = whole.multiplicity.iter().all(|&m| m == 1.0);
        let reduced = if is_plain {
            reduce(matrix, epsilon, options.reduction)
        } else {
            let weighted = Mat::from_fn(rows, count, |row, point| {
                matrix[(row, point)] * whole.multiplicity[point].sqrt()
            });
            let mut reduced = reduce(weighted.as_ref(), epsilon, options.reduction);
            for (point, column) in reduced.coordinates.col_iter_mut().enumerate() {
                let factor = 1.0 / whole.multiplicity[point].sqrt();
                column.iter_mut().for_each(|x| *x *= factor);
            }
            reduced
        };
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

    /// `3NF`.
    fn number_count(&self) -> f64 {
        (self.whole.dimension * self.animation.vertex_count()) as f64
    }

    fn e_rms(&self, squared_error: f64) -> f64 {
        1000.0 * ((squared_error + self.left) / self.number_count()).sqrt()
    }

    fn solve(
        &self,
        bone_count: usize,
        options: &DecomposeOptions,
        progress: &dyn Progress,
    ) -> Result<Decomposition, FitError> {
        let targets = self.reduced.as_ref().map_or(&self.whole, |(_, c)| c);
        if bone_count > targets.count() {
            return bad_option(
                "bones",
                format!(
                    "{bone_count} bones are more than the {} points of the mesh",
                    targets.count()
                ),
            );
        }
        let frame_count = self.animation.frame_count() as f64;
        let smooth = (options.smoothness > 0.0).then(|| Smooth {
            strength: options.smoothness * 3.0 * frame_count * 1e-6,
            neighbors: &self.neighbors,
        });
        let ground = Ground::new(targets, &self.rest, &self.neighbors);
        let solver = Solver {
            targets,
            ground: &ground,
            motion: options.motion,
            free: (0..bone_count).collect(),
            step: PointStep {
                max_influences: options.max_influences,
                exchange: true,
                update_rest: options.update_rest,
                passes: 1,
                locked: None,
                smooth,
            },
        };
        let mut round_errors = Vec::new();
        let mut on_round = |error: f64| {
            let e_rms = self.e_rms(error);
            round_errors.push(e_rms);
            progress.report("decompose", round_errors.len(), options.rounds)
        };
        let mut state = solver.solve(bone_count, options.starts, options.rounds, &mut on_round);
        let bones = self.finish(&mut state, &solver);
        self.to_decomposition(&bones, &state.points, round_errors)
    }

    /// Bones in all frames, fitted once more without reduction.
    fn finish(&self, state: &mut State, solver: &Solver<'_>) -> Bones {
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
        let columns =
            MatRef::from_column_major_slice(&reduced.columns, reduced.dimension, 4 * reduced.padded);
        let full = basis * columns;
        let mut bones = Bones::zeros(reduced.count, self.whole.dimension);
        for (to, from) in (bones.columns.chunks_exact_mut(self.whole.dimension)).zip(full.col_iter())
        {
            to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from);
        }
        let sums = Sums::new(&self.whole, &state.points, bones.count);
        sums.solve_affine(&mut bones, &solver.free);
        bones
    }

    /// The skin and poses of a solution, in the animation's units.
    fn to_decomposition(
        &self,
        bones: &Bones,
        points: &Points,
        round_errors: Vec<f64>,
    ) -> Result<Decomposition, FitError> {
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
        let matrices: Vec<Vec<DAffine3>> = (units.frame_centers.iter().enumerate())
            .map(|(frame, center)| {
                let part = |component, bone| {
                    DVec3::from_slice(&bones.column(component, bone)[3 * frame..])
                };
                (0..bones.count)
                    .map(|bone| {
                        let matrix3 =
                            DMat3::from_cols(part(0, bone), part(1, bone), part(2, bone));
                        DAffine3 {
                            matrix3,
                            translation: part(3, bone) * units.radius + center
                                - matrix3 * units.rest_center,
                        }
                    })
                    .collect()
            })
            .collect();
        Decomposition::from_matrices(
            self.animation,
            rest_positions,
            weights,
            &matrices,
            round_errors,
        )
    }
}

impl Decomposition {
    /// A skin of bones without a hierarchy, from the matrices that take rest positions to each frame.
    ///
    /// `posed_from_rest[f][j]` belongs to frame `f` and bone `j`. Each bone's frame stands at the
    /// weighted middle of its vertices, unturned, so that keys are interpolated about the part that
    /// the bone moves.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the numbers are no valid skin.
    pub fn from_matrices(
        animation: &MeshAnimation,
        rest_positions: Vec<DVec3>,
        weights: Rows<Weight>,
        posed_from_rest: &[Vec<DAffine3>],
        round_errors: Vec<f64>,
    ) -> Result<Self, FitError> {
        let bone_count = posed_from_rest.first().map_or(0, Vec::len);
        let centres = bone_centres(&rest_positions, &weights, bone_count);
        let digits = bone_count.saturating_sub(1).to_string().len();
        let bones = centres.iter().enumerate().map(|(j, centre)| {
            let frame = DAffine3::from_translation(*centre);
            (format!("bone_{j:0digits$}"), None, frame)
        });
        let skeleton = Skeleton::from_rest_frames(bones).map_err(SkinError::from)?;
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions,
            weights,
            corrections: Vec::new(),
        });
        let poses = posed_from_rest
            .iter()
            .map(|matrices| {
                let model_from_bone = matrices
                    .iter()
                    .zip(&centres)
                    .map(|(matrix, centre)| *matrix * DAffine3::from_translation(*centre))
                    .collect();
                skeleton.pose_from_palette(&Palette { model_from_bone })
            })
            .collect::<Result<Vec<Pose>, _>>()
            .map_err(SkinError::from)?;
        let skin = Skin::new(skeleton, program, Vec::new())?;
        let frames: Vec<Vec<DVec3>> = poses
            .iter()
            .map(|pose| skin.evaluate(pose))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            e_rms: animation.e_rms(frames.iter().map(Vec::as_slice)),
            skin,
            poses,
            round_errors,
        })
    }
}

/// The weighted middle of every bone's vertices; of all vertices for a bone that moves none.
fn bone_centres(rest: &[DVec3], weights: &Rows<Weight>, bone_count: usize) -> Vec<DVec3> {
    let mut sums = vec![(DVec3::ZERO, 0.0); bone_count];
    for (row, position) in weights.iter().zip(rest) {
        for &Weight { bone, weight } in row {
            let (sum, total) = &mut sums[bone.index()];
            *sum += weight * *position;
            *total += weight;
        }
    }
    let middle = rest.iter().copied().sum::<DVec3>() / rest.len().max(1) as f64;
    let centre = |(sum, total): (DVec3, f64)| if total > 0.0 { sum / total } else { middle };
    sums.into_iter().map(centre).collect()
}
