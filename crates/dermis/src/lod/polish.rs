//! A level's points moved to where the level fits the given surface best, over all sample poses.
//!
//! Collapses place each point by the planes around it alone. When a level is done, every sample of the given surface has a
//! foot on it, and the distances from those feet, across the level's faces, can be made smaller for all points together:
//! `Σ_s a_s Σ_k ω_k (n_k·(x_sk − Σ_c b_c y_ck))²`, with `y_c` a function of the parameters of the point (its
//! [`Freedom`]: rest position and weights). By convexity `(Σ_c b_c u_c)² ≤ Σ_c b_c u_c²`, so a small system for each point,
//! with `b_c` in the place of `b_c²`, lowers the sum; feet and normals are found again in every round.

use super::feet::{Foot, LevelSurface};
use super::freedom::{MOST, SmallSystem};
use super::lanes::{LANES, Lanes, Lanes3, ZERO, cross3, dot3, sub3, sum, wide};
use super::placing::positions_of;
use super::quadrics::unit_normals;
use super::samples::SamplePoses;
use super::vertices::{Blending, LevelVertex};
use crate::par;

/// Rounds of feet and steps.
const ROUNDS: usize = 5;
/// Steps are made longer by this: those of a bound are too short.
const LONGER: f64 = 1.6;
/// Holds parameters that little is measured of.
const RIDGE: f64 = 1e-3;
/// Farthest that a point may go in all rounds, as a share of the edges around it: beyond, faces are what they were no
/// longer, and points that few samples hold would fly away.
const FARTHEST: f64 = 0.5;

/// A point of the given surface.
pub(super) struct Sample {
    pub(super) positions: Lanes3,
    /// Area that it stands for.
    pub(super) area: f64,
    /// The level's point from which its foot is looked for.
    pub(super) start: u32,
}

/// A level whose points may move.
pub(super) struct Movable<'a> {
    pub(super) faces: &'a [[u32; 3]],
    pub(super) samples: &'a SamplePoses,
    pub(super) blending: &'a Blending,
    pub(super) may_move: &'a [bool],
}

/// Moves vertices, and their positions in the sample poses with them.
pub(super) fn polish(
    level: &Movable<'_>,
    vertices: &mut [LevelVertex],
    positions: &mut [Lanes3],
    on_surface: &[Sample],
) {
    let mut feet: Vec<Option<Foot>> = vec![None; on_surface.len()];
    let starts = positions.to_vec();
    let reach = level.reach(positions);
    for _ in 0..ROUNDS {
        let steps = level.round(vertices, positions, on_surface, &mut feet);
        let tried: Vec<Option<(LevelVertex, Lanes3)>> = par::map(vertices.len(), |c| {
            let vertex = level.blending.stepped(&vertices[c], steps[c].as_ref()?);
            let places = positions_of(&vertex, level.samples, level.blending);
            let moved = level.mean_square(&sub3(&places, &starts[c]));
            (moved <= reach[c].powi(2)).then_some((vertex, places))
        });
        let mut is_taken: Vec<bool> = tried.iter().map(Option::is_some).collect();
        // Points of faces that would turn over stay; others may turn over then, but fewer and fewer.
        loop {
            let mut is_sound = true;
            for face in level.faces {
                let takes = |p: u32| tried[p as usize].as_ref().filter(|_| is_taken[p as usize]);
                let after = face.map(|p| takes(p).map_or(&positions[p as usize], |new| &new.1));
                let before = face.map(|p| &positions[p as usize]);
                if face.iter().any(|&p| is_taken[p as usize])
                    && turns_over(before, after, &level.samples.weights)
                {
                    is_sound = false;
                    face.iter().for_each(|&p| is_taken[p as usize] = false);
                }
            }
            if is_sound {
                break;
            }
        }
        for (c, tried) in tried.into_iter().enumerate() {
            if let Some((vertex, places)) = tried.filter(|_| is_taken[c]) {
                vertices[c] = vertex;
                positions[c] = places;
            }
        }
    }
}

fn turns_over(before: [&Lanes3; 3], after: [&Lanes3; 3], weights: &Lanes) -> bool {
    let normal = |[a, b, c]: [&Lanes3; 3]| cross3(&sub3(b, a), &sub3(c, a));
    let cosine = wide(
        #[inline(always)]
        || dot3(&normal(before), &normal(after)),
    );
    (0..LANES).any(|k| weights[k] > 0.0 && cosine[k] < 0.0)
}

impl Movable<'_> {
    /// How far each point may go: a share of the mean length of the edges around it.
    fn reach(&self, positions: &[Lanes3]) -> Vec<f64> {
        let mut lengths = vec![(0.0, 0); positions.len()];
        for face in self.faces {
            for k in 0..3 {
                let [a, b] = [face[k], face[(k + 1) % 3]];
                let edge = sub3(&positions[a as usize], &positions[b as usize]);
                let length = self.mean_square(&edge).sqrt();
                for end in [a, b] {
                    lengths[end as usize].0 += length;
                    lengths[end as usize].1 += 1;
                }
            }
        }
        let mean = |(sum, count): (f64, usize)| FARTHEST * sum / count.max(1) as f64;
        lengths.into_iter().map(mean).collect()
    }

    /// The squared length of a vector, mean over the sample poses.
    fn mean_square(&self, vector: &Lanes3) -> f64 {
        let mut squares = dot3(vector, vector);
        for k in 0..LANES {
            squares[k] *= self.samples.weights[k];
        }
        sum(&squares)
    }

    /// The step of each point that lowers the sum.
    fn round(
        &self,
        vertices: &[LevelVertex],
        positions: &[Lanes3],
        on_surface: &[Sample],
        feet: &mut Vec<Option<Foot>>,
    ) -> Vec<Option<Vec<f64>>> {
        let surface = LevelSurface::new(self.faces, positions, &self.samples.weights);
        let normals: Vec<Lanes3> = par::map(self.faces.len(), |f| {
            unit_normals(self.faces[f].map(|p| &positions[p as usize])).0
        });
        *feet = par::map(on_surface.len(), |s| {
            let sample = &on_surface[s];
            match feet[s] {
                Some(foot) => surface.nearest_from(&sample.positions, foot.face),
                None => surface.nearest(&sample.positions, sample.start),
            }
        });
        let mut of_point: Vec<Vec<(u32, u8)>> = vec![Vec::new(); positions.len()];
        for (s, foot) in feet.iter().enumerate() {
            let Some(foot) = foot else { continue };
            let corners = self.faces[foot.face as usize];
            for (c, &p) in corners.iter().enumerate() {
                if foot.weights[c] > 0.0 && self.may_move[p as usize] {
                    of_point[p as usize].push((s as u32, c as u8));
                }
            }
        }
        // What is left between a sample and its foot, across the face, in each pose.
        let missed: Vec<Lanes> = par::map(on_surface.len(), |s| {
            let Some(foot) = &feet[s] else {
                return ZERO;
            };
            let corners = self.faces[foot.face as usize].map(|p| &positions[p as usize]);
            let normal = &normals[foot.face as usize];
            wide(
                #[inline(always)]
                || across(&on_surface[s].positions, corners, foot, normal),
            )
        });
        let weights = &self.samples.weights;
        par::map(positions.len(), |c| {
            if of_point[c].is_empty() {
                return None;
            }
            let freedom = self.blending.freedom(&vertices[c], self.samples);
            let mut system = SmallSystem::new(freedom.directions.len());
            for &(s, corner) in &of_point[c] {
                let Some(foot) = &feet[s as usize] else {
                    continue;
                };
                let normal = &normals[foot.face as usize];
                let share = on_surface[s as usize].area * foot.weights[corner as usize];
                wide(
                    #[inline(always)]
                    || {
                        let mut slopes = [ZERO; MOST];
                        for (slope, direction) in slopes.iter_mut().zip(&freedom.directions) {
                            *slope = dot3(direction, normal);
                        }
                        let mut shares = ZERO;
                        for k in 0..LANES {
                            shares[k] = share * weights[k];
                        }
                        let slopes = &slopes[..freedom.directions.len()];
                        system.add(slopes, &missed[s as usize], &shares);
                    },
                );
            }
            let mut step = system.solve_above(&freedom.floors, RIDGE)?;
            for (z, floor) in step.iter_mut().zip(&freedom.floors) {
                *z = floor.max(LONGER * *z);
            }
            Some(step)
        })
    }
}

/// How far a sample is from its foot, across the face, in each pose.
#[inline(always)]
fn across(sample: &Lanes3, corners: [&Lanes3; 3], foot: &Foot, normal: &Lanes3) -> Lanes {
    let mut apart = *sample;
    for (corner, w) in corners.into_iter().zip(foot.weights) {
        for axis in 0..3 {
            for k in 0..LANES {
                apart[axis][k] -= w * corner[axis][k];
            }
        }
    }
    dot3(normal, &apart)
}
