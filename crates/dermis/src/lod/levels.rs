//! The levels of a character, from fine to coarse.

use super::certify::{GivenSurface, certify};
use super::extract::extract;
use super::feet::LevelSurface;
use super::model::Model;
use super::progressive::Progressive;
use super::samples::SamplePoses;
use super::sequence::{check_progressive, sequence};
use super::simplify::Simplifier;
use super::snapshot::Snapshot;
use super::vertices::{Blending, LevelVertex, vertices_of};
use super::wedges::WedgeMesh;
use super::{LevelTarget, LodError, LodOptions};
use crate::bounds::SkinBounds;
use crate::joint::JointLimits;
use crate::mesh::{DrawMesh, TriMesh};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::skin::{Influence, Skin, VertexProgram};

/// What joints may do, for errors that hold in every legal pose.
#[derive(Debug, Clone, Copy)]
pub struct LegalPoseLimits<'a> {
    /// One for every bone that a pose moves.
    pub limits: &'a [JointLimits],
    /// No level may be farther than this from the full character in any legal pose, in model units; `None` to state the
    /// error alone.
    pub tolerance: Option<f64>,
}

/// One level of a skin.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelShape {
    /// Each point once, in rest pose.
    pub mesh: TriMesh,
    /// As it is drawn, with as many parts as were given.
    pub draw: DrawMesh,
    /// What moves the points.
    pub program: VertexProgram,
    /// For each point of the level before, the point that it becomes; empty where pieces vanished.
    pub becomes: Vec<u32>,
    /// Root mean square distance of the full surface over the sample poses, in model units.
    pub rms_error: f64,
    /// Largest root mean square over the sample poses of any point, in model units.
    pub largest_error: f64,
    /// No point of the full surface is farther than this in any legal pose; `None` when no limits were given, and for skins
    /// with corrections.
    pub guaranteed_error: Option<f64>,
    /// Whether the target was met. If not, nothing more could be done within what must be kept.
    pub is_met: bool,
}

/// The levels of a skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Simplified {
    /// From fine to coarse, one for each target, or fewer where a tolerance ended them.
    pub levels: Vec<LevelShape>,
    /// Given triangles that name a point twice or repeat another one; no level has them.
    pub dropped_triangles: usize,
    /// Which of the given poses were worked with.
    pub sample_poses: Vec<usize>,
    /// Every step to the coarsest level, where [`LodOptions::progressive`] asks for them and any was taken.
    pub progressive: Option<Progressive>,
}

/// Simplifies a skin until each of some targets is met, from fine to coarse.
///
/// `draw` says what must stay together: seams of normals, UVs and materials. `poses` are what the character does; levels
/// are best in those. Cost: O(n log n) for n triangles; about 7 kB for each vertex.
///
/// ```
/// use dermis::lod::{LevelTarget, simplify};
/// use dermis::mesh::DrawMesh;
///
/// let made = dermis::synth::tube(&Default::default());
/// let mesh = made.examples.rest();
/// let draw = DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles());
/// let poses: Vec<_> = made.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let quarter = LevelTarget::Triangles(mesh.triangles().len() / 4);
/// let simplified = simplify(&made.truth, mesh, &draw, &poses, &[quarter], &Default::default(), None,
///     &dermis::progress::Silent)?;
/// let level = &simplified.levels[0];
/// assert!(level.mesh.triangles().len() <= mesh.triangles().len() / 4);
/// // Off by less than a hundredth of the tube's length in the mean over its poses.
/// assert!(level.rms_error < 0.01 * made.truth.size()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LodError`].
#[allow(
    clippy::too_many_arguments,
    reason = "a skin and how it is drawn, what it does, what is wanted: four subjects that callers hold apart"
)]
pub fn simplify(
    skin: &Skin,
    mesh: &TriMesh,
    draw: &DrawMesh,
    poses: &[Pose],
    targets: &[LevelTarget],
    options: &LodOptions,
    legal: Option<LegalPoseLimits<'_>>,
    progress: &dyn Progress,
) -> Result<Simplified, LodError> {
    options.check()?;
    check_progressive(skin, options)?;
    if poses.is_empty() {
        return Err(LodError::NoPoses);
    }
    let (vertices, placement) = vertices_of(skin, mesh.positions(), options.free)?;
    let model = Model::new(WedgeMesh::new(mesh, draw), vertices);
    if model.mesh.alive_count == 0 {
        return Err(LodError::NoTriangles);
    }
    let size = skin.size()?;
    let samples = SamplePoses::choose(skin, poses, &options.rare_poses, size)?;
    let is_over = |vertex: &LevelVertex| vertex.influences.len() > options.max_influences;
    let more_samples = match !options.max_bones.is_empty() || model.vertices.iter().any(is_over) {
        true => SamplePoses::choose_many(skin, poses, &options.rare_poses, size)?,
        false => Vec::new(),
    };
    let blending = Blending::new(&skin.skeleton, placement, options.max_influences);
    let judge = match legal {
        Some(legal) if skin.coefficients.is_empty() => {
            Some((SkinBounds::new(skin, legal.limits)?, legal.tolerance))
        }
        _ => None,
    };
    let mut options = options.clone();
    options.drop_influences |= !options.collapse;
    let rows = |model: &Model, points: &[u32]| -> Vec<Vec<Influence>> {
        let own = points.iter().map(|&p| &model.vertices[p as usize]);
        own.map(|vertex| vertex.influences.clone()).collect()
    };
    let all: Vec<u32> = (0..model.vertices.len() as u32).collect();
    let given_rows = judge.is_some().then(|| rows(&model, &all));
    let mut simplified = Simplified {
        levels: Vec::new(),
        dropped_triangles: model.mesh.dropped_faces,
        sample_poses: samples.chosen.clone(),
        progressive: None,
    };
    let mut simplifier = Simplifier::new(model, samples, more_samples, blending, &options);
    // Points that nothing draws are in no level.
    let is_drawn: Vec<bool> = (simplifier.model.mesh.faces_of_point.iter())
        .map(|faces| !faces.is_empty())
        .collect();
    let mut before: Vec<u32> = all;
    let mut taken = 0;
    simplifier.cap_influences();
    for (number, target) in targets.iter().enumerate() {
        let last = options.max_bones.last();
        let most_bones = options.max_bones.get(number).or(last).copied();
        let is_done = most_bones.is_none_or(|most| {
            simplifier.queue.clear();
            simplifier.drop_bones(&skin.skeleton, most, progress)
        });
        if !is_done || !simplifier.run(*target, progress) {
            return Err(LodError::Stopped);
        }
        let polished = |count: usize| {
            let mut snapshot = Snapshot::after(&simplifier, count);
            if options.collapse {
                snapshot.polish(&simplifier.given, &simplifier.samples, &simplifier.blending);
            }
            let certified = judge
                .as_ref()
                .zip(given_rows.as_ref())
                .map(|((bounds, _), given)| {
                    let surface = LevelSurface::new(
                        &snapshot.faces,
                        &snapshot.positions,
                        &simplifier.samples.weights,
                    );
                    let start = |p: &u32| snapshot.number[*p as usize];
                    let went_to: Vec<u32> = snapshot.went_to.iter().map(start).collect();
                    let given = GivenSurface {
                        faces: &simplifier.given.faces,
                        positions: &simplifier.given.positions,
                        rows: given,
                        went_to: &went_to,
                    };
                    certify(
                        &given,
                        &surface,
                        &rows(&snapshot.model, &snapshot.points),
                        bounds,
                    )
                });
            (snapshot, certified)
        };
        let mut count = simplifier.operations.len();
        let (mut snapshot, mut certified) = polished(count);
        let tolerance = judge.as_ref().and_then(|(_, tolerance)| *tolerance);
        let is_held_back =
            matches!((certified, tolerance), (Some(error), Some(most)) if error > most);
        if is_held_back {
            // Halving finds a number of steps that is allowed while a few more are not. None at all always are.
            let enough = (count - taken) / 256 + 1;
            let (mut allowed, mut too_many) = (taken, count);
            let mut found = None;
            while too_many - allowed > enough {
                if !progress.report("holding the guarantee", allowed - taken, count - taken) {
                    return Err(LodError::Stopped);
                }
                let middle = allowed + (too_many - allowed) / 2;
                let (tried, bound) = polished(middle);
                match bound <= tolerance {
                    true => (allowed, found) = (middle, Some((tried, bound))),
                    false => too_many = middle,
                }
            }
            let Some(found) = found else { break };
            (snapshot, certified) = found;
            count = allowed;
        }
        let is_met = match target {
            LevelTarget::Triangles(most) => snapshot.faces.len() <= *most,
            LevelTarget::Influences(most) => snapshot.model.influence_count <= *most,
            LevelTarget::Error(_) => true,
        };
        let becomes: Vec<u32> = (before.iter())
            .map(|&point| match is_drawn[point as usize] {
                true => snapshot.number[snapshot.went_to[point as usize] as usize],
                false => 0,
            })
            .collect();
        let weights = &simplifier.samples.weights;
        let [rms_error, largest_error] = snapshot.errors(&simplifier.given, weights);
        let (level, drawn, program) =
            extract(&snapshot, draw, skin, simplifier.blending.placement)?;
        simplified.levels.push(LevelShape {
            mesh: level,
            draw: drawn,
            program,
            becomes: match becomes.contains(&u32::MAX) {
                true => Vec::new(),
                false => becomes,
            },
            rms_error,
            largest_error,
            guaranteed_error: certified.filter(|error| error.is_finite()),
            is_met: is_met && !is_held_back,
        });
        before = snapshot.points;
        taken = count;
        if is_held_back {
            break;
        }
    }
    if options.progressive && taken > 0 {
        simplified.progressive = Some(sequence(&simplifier, taken, skin, mesh, draw));
    }
    Ok(simplified)
}
