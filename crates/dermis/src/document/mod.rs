//! A character as files hold it: mesh, drawn mesh, materials, skin, clips, frames.
//!
//! `dermis_io` reads and writes it. Edits of a whole character work on it: [`Document::moved`],
//! [`Document::subdivided`], [`Document::with_levels`], [`Document::add_clip`]. Fits begin with what is assembled from it, [`assemble_examples`] and
//! [`assemble_animation`], and end with it, [`Document::of_fit`] and [`decomposed_document`].

mod animation;
mod baked;
mod bone_guess;
mod bones;
mod bounds_record;
mod clips;
mod clips_by_name;
mod decomposed;
mod edit_error;
mod error;
mod examples;
mod fitted;
mod known_rig;
mod legal;
mod level;
mod leveled;
mod match_error;
mod matching;
mod materials;
mod measured;
mod motion;
mod moved;
mod note;
mod poses_by_name;
mod progressive;
mod record;
mod spheres;
mod subdivided;
mod testing;
mod unwrapped;

use std::borrow::Cow;
use std::path::PathBuf;

use glam::DVec3;

use crate::clip::Clip;
use crate::lod::Progressive;
use crate::mesh::{DrawMesh, Polygons};
use crate::rig::{Pose, Skeleton};
use crate::skin::{SkinError, SsdProgram, VertexProgram};
use crate::{Skin, TriMesh};

pub use animation::{AnimationOptions, AssembledAnimation, NamedMotion, assemble_animation};
pub use baked::{BakeOptions, Baked, MapKind};
pub use bone_guess::guess_bones;
pub use bones::BoneSummary;
pub use bounds_record::{AssumedPoses, BoundsRecord, PartBounds};
pub use clips::{Pace, PlayedClip, SampleTimes, sampling_rate};
pub use clips_by_name::{ClipsError, MatchedClips, SameName, free_name};
pub use decomposed::{decomposed_document, hold_poses, playable_decomposition, playable_e_rms};
pub use edit_error::EditError;
pub use error::DocumentError;
pub use examples::{AssembleOptions, AssembledExamples, PoseSource, assemble_examples};
pub use known_rig::RigMotion;
pub use level::{Level, LevelRecord};
pub use leveled::{LevelOptions, LevelPoses, Leveled};
pub use match_error::MatchError;
pub use matching::{
    MatchOptions, MatchPair, can_reorder, check_shapes, match_frames, match_sculpt,
};
pub use materials::{Image, Materials};
pub use measured::{BesideTruth, TestSet};
pub use motion::{FRAMES_PER_SECOND, MotionRate, clip_of};
pub use note::Note;
pub use poses_by_name::{MatchedPoses, PosesError, poses_by_name};
pub use record::{FallbackError, SkinRecord};
pub use spheres::{FoundRadii, Spheres, farthest_shown};
pub use subdivided::{LevelFacts, SubdivideOptions, Subdivided};
pub use unwrapped::{
    AtlasMeasures, AtlasOptions, AtlasPoses, PosesFor, SeamSource, Unwrapped, seams_of, stretch_in,
};

/// Everything that dermis understands of a file.
///
/// Each format fills the fields that it can hold: an OBJ file a mesh, a point cache frames, a GLB a skin, clips
/// and materials. Model space is the file's own: nothing is turned or scaled unless the caller asks the reader for it.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The file it came from, for messages; empty for a document made in memory.
    pub path: PathBuf,
    /// Each point once, in rest pose.
    pub mesh: TriMesh,
    /// The faces before triangulation, when the format has polygons.
    pub polygons: Option<Polygons>,
    /// The mesh as the file draws it: split vertices, attributes, parts.
    pub draw: DrawMesh,
    /// Materials that the parts of `draw` name.
    pub materials: Materials,
    /// The model that moves the points; one row per point of `mesh`.
    pub skin: Option<Skin>,
    /// The linear blend stand-in of a skin that is not a linear blend; plain players show it.
    ///
    /// Animation-space and multi-weight skins need one to be written as glTF
    /// ([`fit::plain_fallback`](crate::fit::plain_fallback) makes it), and have one after reading. Its corrections are
    /// those of the skin: a writer takes them from the skin, and a reader gives them to both. Only where the
    /// skin's corrections are not displacements of the rest shape, as after [`Document::subdivided`], it has its own.
    pub fallback: Option<SsdProgram>,
    /// Bones without weights, when the file has poses but no skin.
    pub skeleton: Option<Skeleton>,
    /// Motions of the skin.
    pub clips: Vec<Clip>,
    /// Coarser forms of the character, from fine to coarse; all have the skin's bones and coefficients.
    pub levels: Vec<Level>,
    /// Every step of the simplification of the skin, from which [`Document::at_steps`] takes any level.
    pub progressive: Option<Progressive>,
    /// Meshes of a sequence, each with the points of `mesh`; empty when the file has none.
    pub frames: Vec<Frame>,
    /// The skeleton's pose in each of `frames`; empty when the file has none.
    pub frame_poses: Vec<Pose>,
    /// Frames per second of `frames`, when the file has them.
    pub frames_per_second: Option<f64>,
    /// Whether `frames` follow each other in time even when nobody says how fast, as those of a point cache do.
    pub is_motion: bool,
    /// How the skin was made, from the `DERMIS_skin` extension.
    pub record: Option<SkinRecord>,
    /// Counts that the other fields do not show.
    pub facts: FileFacts,
    /// Repairs and omissions while reading, one sentence each.
    pub notes: Vec<String>,
}

impl Document {
    /// The stand-in that plain players show for a skin that is not a linear blend, with the skin's pose program; `None`
    /// when they show the skin itself, and when no stand-in was made.
    pub fn plain_skin(&self) -> Option<Skin> {
        let skin = self.skin.as_ref()?;
        if matches!(skin.program, VertexProgram::Ssd(_)) {
            return None;
        }
        let plain = self.plain_program().ok()??;
        Some(Skin {
            program: VertexProgram::Ssd(plain.into_owned()),
            ..skin.clone()
        })
    }

    /// The linear blend program that plain players show; `None` without a skin.
    ///
    /// That of an exact model is the document's stand-in with the model's own corrections, which are
    /// displacements of the rest shape for both.
    ///
    /// # Errors
    /// [`SkinError::NoStandIn`], and [`SkinError::NotInRestSpace`] for corrections that the stand-in cannot have.
    pub fn plain_program(&self) -> Result<Option<Cow<'_, SsdProgram>>, SkinError> {
        let Some(skin) = &self.skin else {
            return Ok(None);
        };
        plain_program(&skin.program, self.fallback.as_ref(), skin).map(Some)
    }
}

/// The linear blend program that plain players show for a program with the bones and coefficients of a skin, such as
/// the program of a [`Level`]; `fallback` is its stand-in. The skin's own program is not looked at.
///
/// # Errors
/// Those of [`Document::plain_program`].
pub fn plain_program<'a>(
    program: &'a VertexProgram,
    fallback: Option<&'a SsdProgram>,
    skin: &Skin,
) -> Result<Cow<'a, SsdProgram>, SkinError> {
    let stand_in = match program {
        VertexProgram::Ssd(ssd) => return Ok(Cow::Borrowed(ssd)),
        VertexProgram::DualQuaternion(dual) => return Ok(Cow::Borrowed(&dual.weighted)),
        VertexProgram::Linear(_) | VertexProgram::MultiWeight(_) => {
            fallback.ok_or(SkinError::NoStandIn {
                program: program.name(),
            })?
        }
    };
    if program.correction_count() == 0 && stand_in.corrections.is_empty() {
        return Ok(Cow::Borrowed(stand_in));
    }
    let corrections = match program.rest_corrections(&skin.skeleton) {
        Ok(corrections) => corrections,
        // The stand-in has its own shapes, and the skin's shapes are written beside them.
        Err(SkinError::NotInRestSpace { .. })
            if stand_in.corrections.len() == program.correction_count() =>
        {
            return Ok(Cow::Borrowed(stand_in));
        }
        Err(error) => return Err(named(error, skin)),
    };
    Ok(Cow::Owned(SsdProgram {
        corrections,
        ..stand_in.clone()
    }))
}

/// The error with the name of the correction in the place of its number.
fn named(error: SkinError, skin: &Skin) -> SkinError {
    match error {
        SkinError::NotInRestSpace { name, vertex } => {
            let coefficient = name
                .parse()
                .ok()
                .and_then(|m: usize| skin.coefficients.get(m));
            let name = coefficient.map_or(name, |coefficient| coefficient.name.clone());
            SkinError::NotInRestSpace { name, vertex }
        }
        other => other,
    }
}

/// One mesh of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Frame or file name.
    pub name: String,
    /// One position per point.
    pub positions: Vec<DVec3>,
}

/// Counts of a file's own elements, for `dermis info`.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileFacts {
    /// Bytes of the file and of the buffers beside it.
    pub bytes: u64,
    /// Meshes (glTF), objects (OBJ), 1 elsewhere.
    pub mesh_count: usize,
    /// Skins, and how many joints each has.
    pub joints_of_skin: Vec<usize>,
    /// Morph targets of each mesh that has some.
    pub morph_targets_of_mesh: Vec<usize>,
}
