//! Meshes that belong together, and examples.

use std::path::{Path, PathBuf};

use dermis::document::{
    AssembleOptions, AssembledExamples, Document, MatchOptions, Note, PoseSource, assemble_examples,
};
use dermis::fit::BoneGuess;
use dermis::progress::Progress;

use crate::{Format, InputError, IoError, Placement, SequenceOptions, read_inputs};

/// How meshes are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputOptions {
    /// The rest mesh, as [`SequenceOptions::rest`].
    pub rest: Option<PathBuf>,
    /// The mesh whose points a point cache moves, as [`SequenceOptions::mesh`].
    pub mesh: Option<PathBuf>,
    /// Unit and axes of the rest mesh, and of all that comes with it.
    pub placement: Placement,
    /// Unit and axes of the frames.
    pub frame_placement: Placement,
    /// What to do with meshes that seem not to belong together.
    pub matching: MatchOptions,
}

/// How examples are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExampleOptions {
    /// How the meshes are read.
    pub inputs: InputOptions,
    /// The file with the skeleton and its poses, when the examples have none.
    ///
    /// Its axes are those of the meshes, its unit is its own.
    pub skeleton: Option<PathBuf>,
    /// How many bones to find from the meshes alone, without a skeleton.
    pub bones: Option<usize>,
    /// The clip whose poses belong to the examples. Default: the only one of a skeleton's file, or all of a skinned
    /// file.
    pub clip: Option<String>,
    /// Frames per second of the meshes, and at which clips are sampled. Default: as the files say, or as keys lie.
    pub frames_per_second: Option<f64>,
}

/// Meshes that were read, and what is good to know about it.
#[derive(Debug, Clone)]
pub struct ReadMeshes {
    /// The rest mesh with its frames.
    pub document: Document,
    /// What was repaired, left out or assumed.
    pub notes: Vec<Note>,
}

impl InputOptions {
    fn sequence(&self) -> SequenceOptions {
        SequenceOptions {
            rest: self.rest.clone(),
            mesh: self.mesh.clone(),
            placement: self.placement,
            frame_placement: self.frame_placement,
            any_faces: self.matching.reorder || self.matching.force,
        }
    }
}

/// Reads meshes of one character, and refuses frames that cannot be shapes of their rest mesh.
///
/// # Errors
/// As [`read_inputs`], and [`InputError::Document`] for meshes that do not belong together.
pub fn read_meshes<P: AsRef<Path>>(
    inputs: &[P],
    options: &InputOptions,
) -> Result<ReadMeshes, InputError> {
    let mut document = read_inputs(inputs, &options.sequence())?;
    let mut notes = Note::of_reading(&document.path, &document.notes);
    if let [only] = inputs {
        notes.extend(not_turned(only.as_ref(), &options.placement));
    }
    let meshes = inputs.first().map_or(Path::new(""), AsRef::as_ref);
    notes.extend(document.match_own_frames(meshes, &options.matching)?);
    Ok(ReadMeshes { document, notes })
}

/// Says when a file is not turned although z up was asked for.
fn not_turned(path: &Path, placement: &Placement) -> Option<Note> {
    let is_y_up = Format::of(path).is_ok_and(Format::is_y_up);
    (placement.z_up && is_y_up).then(|| Note::NotTurned {
        path: path.to_owned(),
    })
}

/// Reads a file beside meshes, such as their rig: its axes are those of the meshes, its unit is its own.
///
/// # Errors
/// As [`read_inputs`].
pub fn read_rig(path: &Path, options: &InputOptions) -> Result<ReadMeshes, IoError> {
    let with_own_unit = |placement: Placement| Placement {
        scale: 1.0,
        ..placement
    };
    let options = SequenceOptions {
        placement: with_own_unit(options.placement),
        frame_placement: with_own_unit(options.frame_placement),
        ..SequenceOptions::default()
    };
    let document = read_inputs(&[path], &options)?;
    let notes = Note::of_reading(&document.path, &document.notes);
    Ok(ReadMeshes { document, notes })
}

/// Reads meshes and finds the pose of each: in the files themselves, in a rig beside them, or from the meshes alone.
///
/// # Errors
/// As [`read_meshes`], and [`InputError::Document`] where no poses are found.
pub fn read_examples<P: AsRef<Path>>(
    inputs: &[P],
    options: &ExampleOptions,
    progress: &dyn Progress,
) -> Result<AssembledExamples, InputError> {
    let ReadMeshes {
        document,
        mut notes,
    } = read_meshes(inputs, &options.inputs)?;
    let clip = options.clip.as_deref();
    let rig = (options.skeleton.as_deref())
        .map(|path| read_rig(path, &options.inputs))
        .transpose()?;
    let poses = match (&rig, options.bones) {
        (Some(rig), _) => {
            notes.extend(rig.notes.iter().cloned());
            let rig = &rig.document;
            PoseSource::Rig { rig, clip }
        }
        (None, Some(count)) => PoseSource::Bones(BoneGuess::Count(count)),
        (None, None) => PoseSource::Own { clip },
    };
    let how = AssembleOptions {
        frames_per_second: options.frames_per_second,
        matching: options.inputs.matching,
    };
    let mut examples = assemble_examples(document, poses, &how, progress)?;
    examples.notes.splice(0..0, notes);
    Ok(examples)
}
