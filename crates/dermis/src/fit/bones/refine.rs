//! First motions of bones, and rounds that fit skins and poses in turn.

use glam::{DAffine3, DVec3};

use super::clusters::rigid_clusters;
use super::motion::Motion;
use super::search::{FoundBlend, Search};
use super::{BoneOptions, ExampleMesh, UnitBox, with_motions};
use crate::example::ExampleSet;
use crate::fit::influence_set::strongest_bones;
use crate::fit::reach::near_cores;
use crate::fit::{
    AnimSpaceOptions, FitError, InfluenceChoice, PoseOptions, PoseSolver, Prior, Smoothing,
    SsdOptions, fit_anim_space, fit_ssd,
};
use crate::measure::posed_from_rest;
use crate::mesh::{Topology, TriMesh};
use crate::progress::Progress;
use crate::rig::{BoneId, Skeleton};
use crate::skin::{Rows, Skin, SkinError, SsdProgram, VertexProgram, Weight};

/// Most meshes that clusters are found on; more take time and change little.
const CLUSTER_MESHES: usize = 48;

/// Most meshes that a blend is searched on; its bones are then posed in the other meshes.
const SEARCH_MESHES: usize = 24;

/// The starting point of the refinement.
pub(super) struct FirstMotions {
    /// The bone that each vertex follows most.
    pub(super) cores: Vec<BoneId>,
    /// The motion of every bone from rest, by bone and mesh.
    pub(super) motions: Vec<Vec<DAffine3>>,
    /// Names of the bones without a core.
    pub(super) carried: Vec<String>,
    /// The weights with which the bones explain the meshes exactly, and the errors of the steps to them.
    pub(super) exact: Option<(Rows<Weight>, Vec<f64>)>,
}

/// Rest and meshes scaled to the unit box.
pub(super) struct UnitMeshes {
    rest: TriMesh,
    meshes: Vec<ExampleMesh>,
}

impl UnitMeshes {
    pub(super) fn new(rest: &TriMesh, meshes: &[ExampleMesh], unit_box: &UnitBox) -> Self {
        let scale = |points: &[DVec3]| {
            points
                .iter()
                .map(|p| unit_box.scale(*p))
                .collect::<Vec<_>>()
        };
        let scaled_rest = rest
            .with_positions(scale(rest.positions()))
            .expect("scaling keeps the number of vertices and every number finite");
        let meshes = meshes
            .iter()
            .map(|mesh| ExampleMesh {
                name: mesh.name.clone(),
                positions: scale(&mesh.positions),
            })
            .collect();
        Self {
            rest: scaled_rest,
            meshes,
        }
    }

    /// Bones of the blend that made the meshes if there is one, else rigid parts of the mesh.
    pub(super) fn discover(
        &self,
        topology: &Topology,
        count: usize,
        max_influences: usize,
        progress: &dyn Progress,
    ) -> Result<FirstMotions, FitError> {
        let chosen = spread_out(&self.meshes, SEARCH_MESHES);
        let found = Search {
            motion: &self.motion_in(&chosen),
            topology,
            count,
            max_influences,
            progress,
        }
        .run()?;
        match found {
            Some(found) => Ok(self.begin_with(found, &chosen)),
            None => self.rigid_parts(topology, count, progress),
        }
    }

    /// The vertices in some of the meshes.
    fn motion_in(&self, chosen: &[usize]) -> Motion {
        let chosen: Vec<&[DVec3]> = chosen
            .iter()
            .map(|&k| self.meshes[k].positions.as_slice())
            .collect();
        Motion::new(self.rest.positions(), &chosen)
    }

    /// Bones that were found in some of the meshes, in all of them.
    fn begin_with(&self, found: FoundBlend, chosen: &[usize]) -> FirstMotions {
        let is_exact = found.is_exact();
        let weight = |&(j, weight): &(usize, f64)| Weight {
            bone: BoneId(j as u16),
            weight,
        };
        let weights: Rows<Weight> = (found.blend.weights.iter())
            .map(|row| row.iter().map(weight).collect::<Vec<_>>())
            .collect();
        let cores = strongest_bones(&weights);
        let assigned: Vec<Option<BoneId>> = cores.iter().copied().map(Some).collect();
        let mut motions = self.core_motions(&assigned, found.blend.bones.len());
        for (all, found) in motions.iter_mut().zip(&found.blend.bones) {
            for (&k, matrix) in chosen.iter().zip(found) {
                all[k] = *matrix;
            }
        }
        FirstMotions {
            cores,
            motions,
            carried: Vec::new(),
            exact: is_exact.then_some((weights, found.errors)),
        }
    }

    /// Bones as rigid parts of the mesh.
    fn rigid_parts(
        &self,
        topology: &Topology,
        count: usize,
        progress: &dyn Progress,
    ) -> Result<FirstMotions, FitError> {
        let motion = self.motion_in(&spread_out(&self.meshes, CLUSTER_MESHES));
        let labels = rigid_clusters(&motion, topology, count, progress)?;
        let cores: Vec<BoneId> = labels.into_iter().map(BoneId).collect();
        let bone_count = cores.iter().map(|core| core.index() + 1).max().unwrap_or(0);
        let assigned: Vec<Option<BoneId>> = cores.iter().copied().map(Some).collect();
        Ok(FirstMotions {
            motions: self.core_motions(&assigned, bone_count),
            cores,
            carried: Vec::new(),
            exact: None,
        })
    }

    /// Bones of a given skeleton, each moved as its core vertices are.
    pub(super) fn follow(&self, skeleton: &Skeleton, cores: &[Option<BoneId>]) -> FirstMotions {
        let mut motions = self.core_motions(cores, skeleton.bone_count());
        let mut sizes = vec![0_usize; skeleton.bone_count()];
        cores
            .iter()
            .flatten()
            .for_each(|core| sizes[core.index()] += 1);
        let mut carried = Vec::new();
        for (j, bone) in skeleton.bones().iter().enumerate() {
            if sizes[j] < 3 {
                carried.push(bone.name.clone());
                motions[j] = match bone.parent {
                    Some(parent) => motions[parent.index()].clone(),
                    None => vec![DAffine3::IDENTITY; self.meshes.len()],
                };
            }
        }
        // Vertices between bones join whichever bone predicts them best.
        let nearest = |i: usize| {
            let error = |j: &usize| -> f64 {
                let places = self.meshes.iter().map(|mesh| mesh.positions[i]);
                let predicted = motions[*j]
                    .iter()
                    .map(|m| m.transform_point3(self.rest.positions()[i]));
                predicted
                    .zip(places)
                    .map(|(a, b)| a.distance_squared(b))
                    .sum()
            };
            let best = (0..motions.len())
                .filter(|&j| sizes[j] >= 3)
                .min_by(|a, b| error(a).total_cmp(&error(b)).then(a.cmp(b)));
            BoneId(best.unwrap_or(0) as u16)
        };
        let full = cores
            .iter()
            .enumerate()
            .map(|(i, core)| core.unwrap_or_else(|| nearest(i)));
        FirstMotions {
            cores: full.collect(),
            motions: motions.clone(),
            carried,
            exact: None,
        }
    }

    /// The rigid motion of each bone's core, by bone and mesh.
    fn core_motions(&self, cores: &[Option<BoneId>], bone_count: usize) -> Vec<Vec<DAffine3>> {
        let motion = self.motion_in(&(0..self.meshes.len()).collect::<Vec<_>>());
        let mut members: Vec<Vec<(usize, f64)>> = vec![Vec::new(); bone_count];
        for (i, core) in cores.iter().enumerate() {
            if let Some(core) = core {
                members[core.index()].push((i, 1.0));
            }
        }
        members
            .iter()
            .map(|members| motion.rigid_motions(members))
            .collect()
    }
}

/// The numbers of at most `count` meshes that differ most, each the farthest from those before it.
fn spread_out(meshes: &[ExampleMesh], count: usize) -> Vec<usize> {
    if meshes.len() <= count {
        return (0..meshes.len()).collect();
    }
    let distance = |a: usize, b: usize| -> f64 {
        // A few hundred vertices distinguish poses as well as all of them.
        let step = (meshes[a].positions.len() / 500).max(1);
        let pairs = meshes[a]
            .positions
            .iter()
            .zip(&meshes[b].positions)
            .step_by(step);
        pairs.map(|(p, q)| p.distance_squared(*q)).sum()
    };
    let mut chosen = vec![0];
    let mut nearest: Vec<f64> = (0..meshes.len()).map(|k| distance(0, k)).collect();
    while chosen.len() < count {
        let next = (0..meshes.len())
            .max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)))
            .expect("there are more meshes than chosen ones");
        chosen.push(next);
        for (k, nearest) in nearest.iter_mut().enumerate() {
            *nearest = nearest.min(distance(next, k));
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Bones without a hierarchy, in the unit box, and the rounds that improve them.
pub(super) struct Refinement {
    pub(super) set: ExampleSet,
    pub(super) cores: Vec<BoneId>,
    /// Root-mean-square distance after each round.
    pub(super) errors: Vec<f64>,
}

impl Refinement {
    pub(super) fn new(
        unit: UnitMeshes,
        cores: Vec<BoneId>,
        motions: &[Vec<DAffine3>],
    ) -> Result<Self, FitError> {
        // Every frame at the origin: a bone's matrix is then its motion from rest.
        let side_by_side = (0..motions.len()).map(|j| (j.to_string(), None, DAffine3::IDENTITY));
        let skeleton = Skeleton::from_rest_frames(side_by_side).map_err(SkinError::from)?;
        Ok(Self {
            set: with_motions(&unit.rest, &unit.meshes, skeleton, motions)?,
            cores,
            errors: Vec::new(),
        })
    }

    pub(super) fn run(
        &mut self,
        topology: &Topology,
        options: &BoneOptions,
        progress: &dyn Progress,
    ) -> Result<(), FitError> {
        let everything: Vec<usize> = (0..self.set.examples().len()).collect();
        let ssd = SsdOptions {
            max_influences: options.max_influences,
            ..SsdOptions::default()
        };
        for _ in 0..options.blend_rounds {
            let fitted = fit_ssd(&self.set, &everything, &ssd, progress)?;
            if let VertexProgram::Ssd(blend) = &fitted.skin.program {
                self.cores = strongest_bones(&blend.weights);
            }
            self.improve(&fitted.skin, progress)?;
        }
        for _ in 0..options.space_rounds {
            let sets = near_cores(
                self.set.rest().positions(),
                topology,
                &self.cores,
                self.set.skeleton().bone_count(),
                options.reach,
                options.max_influences,
            )?;
            let space = AnimSpaceOptions {
                max_influences: options.max_influences,
                influences: InfluenceChoice::Given(sets),
                smoothing: Smoothing::Ridge {
                    lambda: options.lambda,
                },
                prior: Prior::Ssd,
                ..AnimSpaceOptions::default()
            };
            let fitted = fit_anim_space(&self.set, &everything, &space, progress)?;
            let before = self.set.clone();
            self.improve(&fitted.skin, progress)?;
            // Where linear blending, with bones that reach far, explains the meshes better, keep its bones.
            if let [.., last, new] = self.errors[..]
                && new > last
            {
                self.set = before;
                self.errors.pop();
                break;
            }
        }
        Ok(())
    }

    /// Takes the weights that explain the meshes exactly: only poses are solved for.
    pub(super) fn settle(
        &mut self,
        weights: Rows<Weight>,
        errors: Vec<f64>,
        progress: &dyn Progress,
    ) -> Result<(), FitError> {
        self.errors = errors;
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions: self.set.rest().positions().to_vec(),
            weights,
            corrections: Vec::new(),
        });
        let skin = Skin::new(self.set.skeleton().clone(), program, Vec::new())?;
        self.improve(&skin, progress)
    }

    /// Takes the poses in which a skin matches the meshes best.
    fn improve(&mut self, skin: &Skin, progress: &dyn Progress) -> Result<(), FitError> {
        let targets: Vec<&[DVec3]> = self
            .set
            .examples()
            .iter()
            .map(|example| example.positions.as_slice())
            .collect();
        let starts: Vec<_> = self.set.examples().iter().map(|e| e.pose.clone()).collect();
        let solver = PoseSolver::new(skin, &PoseOptions::default())?;
        let solved = solver.solve_all(&targets, &starts, progress)?;
        let mean = solved
            .iter()
            .map(|fit| fit.rms_distance.powi(2))
            .sum::<f64>()
            / solved.len() as f64;
        self.errors.push(mean.sqrt());
        let poses = solved.into_iter().map(|fit| fit.pose).collect();
        self.set = self.set.clone().with_poses(poses)?;
        Ok(())
    }

    /// The motion of every bone from rest, by bone and mesh.
    pub(super) fn motions(&self) -> Vec<Vec<DAffine3>> {
        let everything: Vec<usize> = (0..self.set.examples().len()).collect();
        let by_mesh = posed_from_rest(&self.set, &everything);
        (0..self.set.skeleton().bone_count())
            .map(|j| by_mesh.iter().map(|matrices| matrices[j]).collect())
            .collect()
    }
}
