//! The levels of a character, from fine to coarse.

use super::extract::extract;
use super::guarantee::{Allowed, Guarantee, Made};
use super::model::Model;
use super::progressive::Progressive;
use super::samples::SamplePoses;
use super::sequence::{check_progressive, sequence};
use super::simplify::Simplifier;
use super::snapshot::Snapshot;
use super::texture::TextureDeviation;
use super::vertices::{Blending, LevelVertex, vertices_of};
use super::wedges::WedgeMesh;
use super::{LevelTarget, LodError, LodOptions};
use crate::joint::JointLimits;
use crate::mesh::{DrawMesh, TriMesh};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::skin::{Skin, VertexProgram};

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
    /// What it does to the first texture of each part; `None` without textures.
    pub texture: Option<TextureDeviation>,
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
    let mut simplifier = begin(skin, mesh, draw, poses, options)?;
    let guarantee = Guarantee::new(skin, &simplifier.model, legal)?;
    let mut simplified = Simplified {
        levels: Vec::new(),
        dropped_triangles: simplifier.model.mesh.dropped_faces,
        sample_poses: simplifier.samples.chosen.clone(),
        progressive: None,
    };
    // Points that nothing draws are in no level.
    let is_drawn: Vec<bool> = (simplifier.model.mesh.faces_of_point.iter())
        .map(|faces| !faces.is_empty())
        .collect();
    let mut before: Vec<u32> = (0..is_drawn.len() as u32).collect();
    let mut taken = 0;
    simplifier.cap_influences();
    for (number, target) in targets.iter().enumerate() {
        if !simplifier.reach(number, *target, &skin.skeleton, progress) {
            return Err(LodError::Stopped);
        }
        let allowed = guarantee.farthest_allowed(&simplifier, taken, progress)?;
        let Some(Allowed { made, is_held_back }) = allowed else {
            break;
        };
        let mut level = level_of(&made, &simplifier, skin, draw)?;
        level.becomes = becomes(&before, &is_drawn, &made.snapshot);
        level.is_met = made.meets(target) && !is_held_back;
        simplified.levels.push(level);
        (before, taken) = (made.snapshot.points, made.steps);
        if is_held_back {
            break;
        }
    }
    if options.progressive && taken > 0 {
        simplified.progressive = Some(sequence(&simplifier, taken, skin, mesh, draw));
    }
    Ok(simplified)
}

/// The character before the first step, in its sample poses.
fn begin(
    skin: &Skin,
    mesh: &TriMesh,
    draw: &DrawMesh,
    poses: &[Pose],
    options: &LodOptions,
) -> Result<Simplifier, LodError> {
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
    let mut options = options.clone();
    options.drop_influences |= !options.collapse;
    Ok(Simplifier::new(
        model,
        samples,
        more_samples,
        blending,
        &options,
    ))
}

/// A level as others see it; what points become and whether the target is met is for the caller to say.
fn level_of(
    made: &Made,
    simplifier: &Simplifier,
    skin: &Skin,
    draw: &DrawMesh,
) -> Result<LevelShape, LodError> {
    let weights = &simplifier.samples.weights;
    let [rms_error, largest_error] = made.snapshot.errors(&simplifier.given, weights);
    let placement = simplifier.blending.placement;
    let (mesh, draw, program) = extract(&made.snapshot, draw, skin, placement)?;
    Ok(LevelShape {
        mesh,
        draw,
        program,
        becomes: Vec::new(),
        rms_error,
        largest_error,
        guaranteed_error: made.certified.filter(|error| error.is_finite()),
        texture: (made.snapshot).texture_deviation(&simplifier.given, weights),
        is_met: false,
    })
}

/// What each point of the level before becomes; empty where one of them vanished.
fn becomes(before: &[u32], is_drawn: &[bool], now: &Snapshot) -> Vec<u32> {
    let each = before.iter().map(|&point| match is_drawn[point as usize] {
        true => now.number[now.went_to[point as usize] as usize],
        false => 0,
    });
    let all: Vec<u32> = each.collect();
    match all.contains(&u32::MAX) {
        true => Vec::new(),
        false => all,
    }
}
