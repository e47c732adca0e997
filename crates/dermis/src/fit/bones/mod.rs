//! Bones from meshes: their motion in every pose, and joints that turn in place.
//!
//! When only meshes are given, bones have to be found before anything can be fitted to them. A given skeleton
//! supplies its hierarchy and the vertices at the core of each bone; its geometry is almost ignored. Without
//! a skeleton, the meshes may be exact blends of rigid bones, as those of animated characters are: then these
//! bones are found to rounding and kept. Otherwise rigid parts of the mesh become bones. The hierarchy is
//! made of the cheapest joints between bones. Bones that are not exact are refined: fit a skin to them, solve
//! for the pose in which that skin matches each mesh, and repeat, first with linear blend skinning, which is
//! robust, then in animation space, which does not bend the bones to make up for collapsing joints
//! (\[Merry07\] §4.1.4 stops at the rigid fit of the core vertices; on the horse the refinement takes a third
//! of the animation-space error away).
//!
//! Joint positions are fitted last; bones keep the translations that the meshes show.

mod blend;
mod clusters;
mod exchange;
mod hierarchy;
pub(super) mod joints;
mod motion;
mod refine;
mod search;
mod step;

use glam::{DAffine3, DVec3};

use super::{FitError, bad_option};
use crate::example::{Example, ExampleSet};
use crate::mesh::{Topology, TriMesh};
use crate::progress::Progress;
use crate::rig::{BoneId, Palette, Skeleton};
use crate::skin::SkinError;
use hierarchy::Hierarchy;
use refine::{Refinement, UnitMeshes};

/// A mesh in correspondence with others, in an unknown pose.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleMesh {
    /// Name shown in reports.
    pub name: String,
    /// One position per vertex, in model units.
    pub positions: Vec<DVec3>,
}

/// What the caller knows about the bones.
#[derive(Debug, Clone, PartialEq)]
pub enum BoneGuess {
    /// How many to find; fewer if fewer explain the meshes.
    Count(usize),
    /// A hierarchy and the vertices that belong to single bones.
    Skeleton {
        /// The hierarchy, with joints about where they should be.
        skeleton: Skeleton,
        /// The bone that each vertex follows alone; `None` for vertices between bones.
        cores: Vec<Option<BoneId>>,
    },
}

/// How to find bones.
#[derive(Debug, Clone, PartialEq)]
pub struct BoneOptions {
    /// Rounds of fitting weights and solving poses in turn; default 3.
    pub blend_rounds: usize,
    /// Rounds of fitting animation space and solving poses in turn, after those; default 8.
    pub space_rounds: usize,
    /// Most bones that move a vertex in those fits; default 4.
    pub max_influences: usize,
    /// How far a bone reaches beyond its core in the animation-space rounds, along the surface, as
    /// a share of the longest side of the rest box; above 0, default 0.07.
    pub reach: f64,
    /// Ridge of the animation-space rounds, towards linear blend skinning; default 0.1.
    pub lambda: f64,
}

impl Default for BoneOptions {
    fn default() -> Self {
        Self {
            blend_rounds: 3,
            space_rounds: 8,
            max_influences: 4,
            reach: 0.07,
            lambda: 0.1,
        }
    }
}

impl BoneOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        if self.max_influences == 0 {
            return bad_option("max_influences", "at least 1 bone must be allowed");
        }
        if !(self.reach > 0.0 && self.reach.is_finite()) {
            return bad_option("reach", "expected a number above 0");
        }
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return bad_option("lambda", "expected a number of at least 0");
        }
        Ok(())
    }
}

/// The bones found by [`fit_bones`].
#[derive(Debug, Clone)]
pub struct FittedBones {
    /// The meshes with the pose of the skeleton in each.
    pub examples: ExampleSet,
    /// The bone that each vertex follows most.
    pub cores: Vec<BoneId>,
    /// For each bone, how far its joint strays in the parent over the poses: root mean square, in
    /// model units; 0 for a bone without a parent.
    pub joint_deviation: Vec<f64>,
    /// Root-mean-square distance of the fit after each round, in model units.
    pub round_errors: Vec<f64>,
    /// Bones with fewer than three vertices of their own, which move with their parents.
    pub carried: Vec<String>,
}

/// Finds the motion of bones in every mesh, and their joints.
///
/// The same meshes give the same bones, on any number of threads.
///
/// ```
/// use dermis::fit::{BoneGuess, BoneOptions, ExampleMesh, fit_bones};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let meshes: Vec<ExampleMesh> = arm
///     .examples()
///     .iter()
///     .map(|e| ExampleMesh { name: e.name.clone(), positions: e.positions.clone() })
///     .collect();
/// let found = fit_bones(arm.rest(), &meshes, &BoneGuess::Count(3), &BoneOptions::default(), &Silent)?;
/// assert_eq!(found.examples.skeleton().bone_count(), 3);
/// assert_eq!(found.examples.examples().len(), meshes.len());
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::NothingToFit`] without meshes or bones, [`FitError::BadOption`],
/// [`FitError::Examples`] when a mesh is not in correspondence, and [`FitError::Stopped`].
pub fn fit_bones(
    rest: &TriMesh,
    meshes: &[ExampleMesh],
    guess: &BoneGuess,
    options: &BoneOptions,
    progress: &dyn Progress,
) -> Result<FittedBones, FitError> {
    options.check()?;
    check(rest, meshes, guess)?;
    let unit_box = UnitBox::of(rest);
    let unit = UnitMeshes::new(rest, meshes, &unit_box);
    let topology = Topology::new(rest.vertex_count(), rest.triangles());
    let first = match guess {
        BoneGuess::Count(count) => {
            unit.discover(&topology, *count, options.max_influences, progress)?
        }
        BoneGuess::Skeleton { skeleton, cores } => unit.follow(skeleton, cores),
    };
    let carried = first.carried;
    let mut refinement = Refinement::new(unit, first.cores, &first.motions)?;
    match first.exact {
        Some((weights, errors)) => refinement.settle(weights, errors, progress)?,
        None => refinement.run(&topology, options, progress)?,
    }
    let motions = refinement.motions();
    let hierarchy = match guess {
        BoneGuess::Count(_) => Hierarchy::discover(&refinement, &topology, &motions),
        BoneGuess::Skeleton { skeleton, .. } => Hierarchy::follow(skeleton, &motions, &unit_box),
    };
    let motions: Vec<Vec<DAffine3>> = hierarchy
        .order
        .iter()
        .map(|&j| {
            motions[j]
                .iter()
                .map(|m| unit_box.unscale_motion(*m))
                .collect()
        })
        .collect();
    let skeleton = hierarchy.skeleton(guess, &unit_box)?;
    let mut place_of = vec![BoneId(0); motions.len()];
    for (place, &j) in hierarchy.order.iter().enumerate() {
        place_of[j] = BoneId(place as u16);
    }
    Ok(FittedBones {
        examples: with_motions(rest, meshes, skeleton, &motions)?,
        cores: refinement
            .cores
            .iter()
            .map(|core| place_of[core.index()])
            .collect(),
        joint_deviation: hierarchy
            .deviation
            .iter()
            .map(|d| d * unit_box.size)
            .collect(),
        round_errors: refinement
            .errors
            .iter()
            .map(|e| e * unit_box.size)
            .collect(),
        carried,
    })
}

fn check(rest: &TriMesh, meshes: &[ExampleMesh], guess: &BoneGuess) -> Result<(), FitError> {
    let bones = match guess {
        BoneGuess::Count(count) => *count,
        BoneGuess::Skeleton { skeleton, .. } => skeleton.bone_count(),
    };
    if meshes.is_empty() || bones == 0 || rest.vertex_count() == 0 {
        return Err(FitError::NothingToFit {
            examples: meshes.len(),
            bones,
        });
    }
    if bones > usize::from(u16::MAX) {
        return Err(FitError::BadOption {
            option: "bones",
            problem: format!("{bones} bones are more than a skeleton can hold"),
        });
    }
    if let BoneGuess::Skeleton { cores, .. } = guess
        && cores.len() != rest.vertex_count()
    {
        return Err(FitError::BadOption {
            option: "cores",
            problem: format!(
                "expected a bone or none for each of {} vertices, found {}",
                rest.vertex_count(),
                cores.len()
            ),
        });
    }
    // `ExampleSet` checks its meshes; one bone that stands still is enough for that.
    let still = Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
        .map_err(SkinError::from)?;
    with_motions(
        rest,
        meshes,
        still,
        &[vec![DAffine3::IDENTITY; meshes.len()]],
    )?;
    Ok(())
}

/// The meshes with a pose each, from the motion of every bone from rest.
fn with_motions(
    rest: &TriMesh,
    meshes: &[ExampleMesh],
    skeleton: Skeleton,
    motions: &[Vec<DAffine3>],
) -> Result<ExampleSet, FitError> {
    let rest_frames: Vec<DAffine3> = skeleton
        .bones()
        .iter()
        .map(|bone| bone.bone_from_rest.inverse())
        .collect();
    let mut examples = Vec::with_capacity(meshes.len());
    for (k, mesh) in meshes.iter().enumerate() {
        let model_from_bone = motions
            .iter()
            .zip(&rest_frames)
            .map(|(motion, frame)| motion[k] * *frame)
            .collect();
        let pose = skeleton
            .pose_from_palette(&Palette { model_from_bone })
            .map_err(SkinError::from)?;
        examples.push(Example {
            name: mesh.name.clone(),
            pose,
            positions: mesh.positions.clone(),
        });
    }
    Ok(ExampleSet::new(rest.clone(), skeleton, examples)?)
}

/// The similarity that takes the rest box to one of longest side 1 around the origin.
struct UnitBox {
    center: DVec3,
    /// Model units per unit.
    size: f64,
}

impl UnitBox {
    fn of(rest: &TriMesh) -> Self {
        let bounds = rest.bounds();
        let size = bounds.size().max_element();
        Self {
            center: bounds.center(),
            size: if size > 0.0 { size } else { 1.0 },
        }
    }

    fn scale(&self, point: DVec3) -> DVec3 {
        (point - self.center) / self.size
    }

    fn unscale(&self, point: DVec3) -> DVec3 {
        point * self.size + self.center
    }

    /// A motion in model units, of one in the box's.
    fn unscale_motion(&self, motion: DAffine3) -> DAffine3 {
        DAffine3 {
            matrix3: motion.matrix3,
            translation: self.unscale(motion.translation) - motion.matrix3 * self.center,
        }
    }
}
