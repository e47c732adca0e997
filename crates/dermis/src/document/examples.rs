//! From documents to a set of examples: meshes, and the pose of the skeleton in each.

use glam::DVec3;

use super::matching::{check_rig, is_other_order};
use super::{
    Document, DocumentError, Frame, MatchOptions, Note, Pace, SampleTimes, clip_of, free_name,
};
use crate::Skin;
use crate::clip::Clip;
use crate::example::{Example, ExampleSet};
use crate::fit::{BoneGuess, BoneOptions, ExampleMesh, fit_bones};
use crate::mesh::Aabb;
use crate::progress::Progress;
use crate::rig::{Pose, Skeleton};

/// Where the poses of the examples come from.
#[derive(Debug, Clone)]
pub enum PoseSource<'a> {
    /// From the meshes' own document: the poses of its frames, or, where it has no frames, what its skin shows in
    /// its clips, or in the one of this name.
    Own {
        /// The clip; all of them unless given.
        clip: Option<&'a str>,
    },
    /// From a rig: the poses of its frames when it has as many as there are meshes and no clip is named, else a clip.
    Rig {
        /// The skeleton with its clips, and weights if it has some.
        rig: &'a Document,
        /// The clip; the only one unless given.
        clip: Option<&'a str>,
    },
    /// Bones are found from the meshes alone, and with them their poses.
    Bones(BoneGuess),
}

/// How examples are put together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AssembleOptions {
    /// Frames per second of the meshes, and at which clips are sampled. Default: as the document says, or as the keys
    /// of its clips lie.
    pub frames_per_second: Option<f64>,
    /// What to do with meshes and rigs that seem not to belong together.
    pub matching: MatchOptions,
}

/// Examples, and what the documents around them have that a fit should keep.
#[derive(Debug, Clone)]
pub struct AssembledExamples {
    /// The examples.
    pub set: ExampleSet,
    /// Mesh, attributes and materials for the file that will be written.
    pub look: Document,
    /// Motions to write with the skin.
    pub clips: Vec<Clip>,
    /// The skin that the rig came with, when it moves the same vertices.
    pub rig_skin: Option<Skin>,
    /// What was assumed or left out.
    pub notes: Vec<Note>,
}

/// Puts meshes and poses together.
///
/// ```
/// use dermis::document::{AssembleOptions, PoseSource, assemble_examples};
/// use dermis::progress::Silent;
/// use dermis::{Clip, Document, Pose};
///
/// let tube = dermis::synth::tube(&Default::default());
/// let poses: Vec<Pose> = tube.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let clip = Clip::from_poses("wave", &tube.truth.skeleton, &poses, 24.0)?;
/// let skinned = Document {
///     mesh: tube.examples.rest().clone(),
///     skin: Some(tube.truth),
///     clips: vec![clip],
///     ..Document::default()
/// };
/// let own = PoseSource::Own { clip: None };
/// let examples = assemble_examples(skinned, own, &AssembleOptions::default(), &Silent)?;
/// assert_eq!(examples.set.examples().len(), poses.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DocumentError`].
pub fn assemble_examples(
    meshes: Document,
    poses: PoseSource<'_>,
    options: &AssembleOptions,
    progress: &dyn Progress,
) -> Result<AssembledExamples, DocumentError> {
    let rig_path = match &poses {
        PoseSource::Rig { rig, .. } => Some(rig.path.clone()),
        _ => None,
    };
    let rate = options.frames_per_second;
    let posed = match poses {
        PoseSource::Rig { rig, clip } => with_rig(meshes, rig, clip, rate)?,
        PoseSource::Bones(guess) => with_found_bones(meshes, &guess, rate, progress)?,
        PoseSource::Own { .. } if !meshes.frames.is_empty() => with_own_poses(meshes, rate)?,
        PoseSource::Own { clip } => from_own_clips(meshes, clip, rate)?,
    };
    let document = posed.document;
    let in_file = |error| DocumentError::in_file(&document.path)(error);
    let example = |(frame, pose): (&Frame, Pose)| Example {
        name: frame.name.clone(),
        pose: Pose::new(pose.parent_from_bone),
        positions: frame.positions.clone(),
    };
    let examples = document.frames.iter().zip(posed.poses).map(example);
    let set = ExampleSet::new(document.mesh.clone(), posed.skeleton, examples.collect());
    let mut set = set.map_err(DocumentError::in_file(&document.path))?;
    if let Some(rig) = rig_path {
        check_rig(&set, &document.path, &rig, &options.matching)?;
    }
    if let Some(skin) = &posed.rig_skin {
        let stored = skin.evaluate(&skin.skeleton.rest_pose()).map_err(in_file)?;
        let is_ours = |b: Aabb| (b.diagonal() / set.size() - 1.0).abs() < 0.01;
        let size = skin.size().map_err(in_file)?;
        // Bind matrices that scale make another size; rounding makes none, and nor does a rig elsewhere.
        if Aabb::of(&stored).is_some_and(is_ours) && (size / set.size() - 1.0).abs() > 1e-6 {
            set = set.with_size(size);
        }
    }
    Ok(AssembledExamples {
        set,
        look: document,
        clips: posed.clips,
        rig_skin: posed.rig_skin,
        notes: posed.notes,
    })
}

/// Meshes with a pose for each, before they are known to be examples.
struct Posed {
    document: Document,
    skeleton: Skeleton,
    poses: Vec<Pose>,
    clips: Vec<Clip>,
    rig_skin: Option<Skin>,
    notes: Vec<Note>,
}

/// A document that says which pose each of its frames is in.
fn with_own_poses(document: Document, rate: Option<f64>) -> Result<Posed, DocumentError> {
    let skeleton = document.expect_skeleton().ok().cloned();
    let (Some(skeleton), false) = (skeleton, document.frame_poses.is_empty()) else {
        return Err(DocumentError::NoPoses {
            path: document.path,
            mesh_count: document.frames.len(),
        });
    };
    let poses = document.frame_poses.clone();
    let (clips, notes) = document.clip_of_examples(&skeleton, &poses, rate);
    Ok(Posed {
        rig_skin: document.skin.clone(),
        document,
        skeleton,
        poses,
        clips,
        notes,
    })
}

/// Meshes alone: bones are found first.
fn with_found_bones(
    mut document: Document,
    guess: &BoneGuess,
    rate: Option<f64>,
    progress: &dyn Progress,
) -> Result<Posed, DocumentError> {
    document.show_clips(rate)?;
    let meshes = document.example_meshes(true)?;
    let found = fit_bones(
        &document.mesh,
        &meshes,
        guess,
        &BoneOptions::default(),
        progress,
    );
    let set = found
        .map_err(DocumentError::in_file(&document.path))?
        .examples;
    let frame = |mesh: ExampleMesh| Frame {
        name: mesh.name,
        positions: mesh.positions,
    };
    document.frames = meshes.into_iter().map(frame).collect();
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let (clips, notes) = document.clip_of_examples(set.skeleton(), &poses, rate);
    Ok(Posed {
        document,
        skeleton: set.skeleton().clone(),
        poses,
        clips,
        rig_skin: None,
        notes,
    })
}

/// Meshes from one document, their poses from another.
fn with_rig(
    mut document: Document,
    rig: &Document,
    clip: Option<&str>,
    rate: Option<f64>,
) -> Result<Posed, DocumentError> {
    if document.frames.is_empty() && document.clips.len() > 1 {
        return Err(DocumentError::SeveralMotions {
            path: document.path,
            clip_count: document.clips.len(),
        });
    }
    document.show_clips(rate)?;
    if document.frames.is_empty() {
        return Err(document.no_motion());
    }
    let skeleton = rig.expect_skeleton()?.clone();
    let count = document.frames.len();
    let mut notes = Vec::new();
    let mut clips = rig.baked_clips()?;
    let poses = if clip.is_none() && rig.frame_poses.len() == count {
        // No clip has these poses.
        let rate = rate.or(rig.frames_per_second);
        let (own, said) = document.clip_of_examples(&skeleton, &rig.frame_poses, rate);
        notes.extend(said);
        for clip in own {
            let name = free_name(&clip.name, |name| clips.iter().any(|c| c.name == name));
            clips.push(Clip { name, ..clip });
        }
        rig.frame_poses.clone()
    } else if clip.is_none() && rig.clips.is_empty() && !rig.frame_poses.is_empty() {
        return Err(DocumentError::PoseCount {
            rig: rig.path.clone(),
            pose_count: rig.frame_poses.len(),
            meshes: document.path,
            mesh_count: count,
        });
    } else {
        let clip = rig.choose_clip(clip)?;
        let (times, said) = frame_times(clip, count, rate.or(document.frames_per_second));
        notes.extend(said);
        let pose = |&time: &f64| match &rig.skin {
            Some(skin) => skin.complete_pose(&skin.sample(clip, time)),
            None => Ok(clip.sample(&skeleton, &[], time)),
        };
        let poses: Result<_, _> = times.iter().map(pose).collect();
        poses.map_err(DocumentError::in_file(&rig.path))?
    };
    notes.extend(take_stored_rest(&mut document, rig));
    notes.extend(compare_places(&document, rig));
    take_look(&mut document, rig);
    let has_weights = rig.mesh.vertex_count() == document.mesh.vertex_count();
    let is_mixed = has_weights && is_other_order(rig, &document.mesh);
    if is_mixed {
        let rig = rig.path.clone();
        notes.push(Note::WeightsLeftOut { rig });
    }
    let rig_skin = rig.skin.clone().filter(|_| has_weights && !is_mixed);
    Ok(Posed {
        document,
        skeleton,
        poses,
        clips,
        rig_skin,
        notes,
    })
}

/// A skinned document on its own: what its clips show is what should be fitted.
fn from_own_clips(
    mut document: Document,
    clip: Option<&str>,
    rate: Option<f64>,
) -> Result<Posed, DocumentError> {
    let (Some(skin), false) = (document.skin.clone(), document.clips.is_empty()) else {
        return Err(document.no_motion());
    };
    let chosen: Vec<Clip> = match clip {
        Some(_) => vec![document.choose_clip(clip)?.clone()],
        None => document.clips.clone(),
    };
    let mut poses: Vec<Pose> = Vec::new();
    let clips: Vec<&Clip> = chosen.iter().collect();
    let sampled = document.sample_times(&clips, rate, Pace::AtKeys)?;
    for (clip, SampleTimes { times, .. }) in chosen.iter().zip(sampled) {
        for (k, time) in times.into_iter().enumerate() {
            let shown = skin
                .complete_pose(&skin.sample(clip, time))
                .and_then(|pose| Ok((skin.evaluate(&pose)?, pose)));
            let (positions, pose) = shown.map_err(DocumentError::in_file(&document.path))?;
            document.frames.push(Frame {
                name: format!("{} {k}", clip.name),
                positions,
            });
            poses.push(pose);
        }
    }
    if are_bones_still(&poses) && !are_meshes_still(&document.frames) {
        let path = document.path;
        return Err(DocumentError::NoMovingBones { path });
    }
    Ok(Posed {
        clips: document.baked_clips()?,
        document,
        skeleton: skin.skeleton.clone(),
        poses,
        rig_skin: Some(skin),
        notes: Vec::new(),
    })
}

fn are_bones_still(poses: &[Pose]) -> bool {
    let mut pairs = poses.windows(2);
    pairs.all(|pair| pair[0].parent_from_bone == pair[1].parent_from_bone)
}

fn are_meshes_still(frames: &[Frame]) -> bool {
    let mut pairs = frames.windows(2);
    pairs.all(|pair| pair[0].positions == pair[1].positions)
}

/// When the frames of a sequence happen in a clip.
fn frame_times(clip: &Clip, count: usize, rate: Option<f64>) -> (Vec<f64>, Option<Note>) {
    let (start, end) = (clip.start(), clip.end());
    if let Some(rate) = rate {
        return ((0..count).map(|k| start + k as f64 / rate).collect(), None);
    }
    let step = (end - start) / count.saturating_sub(1).max(1) as f64;
    let note = Note::SpreadOverClip {
        mesh_count: count,
        clip: clip.name.clone(),
        start,
        end,
    };
    let times = (0..count).map(|k| start + k as f64 * step);
    (times.collect(), Some(note))
}

impl Document {
    /// The meshes of the frames, with the rest mesh in front when asked for, unless it is one of them.
    ///
    /// # Errors
    /// [`DocumentError::NoMotion`] without frames.
    pub fn example_meshes(&self, with_rest: bool) -> Result<Vec<ExampleMesh>, DocumentError> {
        if self.frames.is_empty() {
            return Err(self.no_motion());
        }
        let frames = self.frames.iter().map(|frame| ExampleMesh {
            name: frame.name.clone(),
            positions: frame.positions.clone(),
        });
        let rest = self.mesh.positions();
        let has_rest = self.frames.iter().any(|frame| frame.positions == rest);
        let rest = (with_rest && !has_rest).then(|| ExampleMesh {
            name: "rest".to_owned(),
            positions: rest.to_vec(),
        });
        Ok(rest.into_iter().chain(frames).collect())
    }

    /// A clip of the examples' poses, or a note why there can be none. Without a rate they are poses, no motion.
    pub fn clip_of_examples(
        &self,
        skeleton: &Skeleton,
        poses: &[Pose],
        rate: Option<f64>,
    ) -> (Vec<Clip>, Vec<Note>) {
        let rate = self.motion_rate(rate);
        let mut notes: Vec<Note> = rate.note.into_iter().collect();
        match clip_of("examples", skeleton, poses, rate.frames_per_second) {
            Ok(clip) => (vec![clip], notes),
            Err(error) => {
                let problem = error.to_string();
                notes.push(Note::NoClipOfPoses { problem });
                (Vec::new(), notes)
            }
        }
    }
}

/// Takes the rest mesh as the rig stores it, where the meshes have it as the rig draws it: bind matrices that scale
/// or turn make the two different, and they are made for the first.
fn take_stored_rest(document: &mut Document, rig: &Document) -> Option<Note> {
    let drawn = rig.skin.as_ref()?.drawn_at_rest().ok()?;
    let are_near = |points: &[DVec3]| are_same_points(document, points, 1e-3);
    if !are_near(&drawn) || are_near(rig.mesh.positions()) {
        return None;
    }
    document.mesh = rig.mesh.clone();
    let rig = rig.path.clone();
    Some(Note::StoredRestTaken { rig })
}

/// Warns when mesh and rig do not stand in the same place.
fn compare_places(document: &Document, rig: &Document) -> Option<Note> {
    if rig.mesh.vertex_count() == 0 {
        return None;
    }
    let (a, b) = (document.mesh.bounds(), rig.mesh.bounds());
    let apart = a.min.distance(b.min).max(a.max.distance(b.max));
    let is_far = apart > 0.05 * a.diagonal().max(b.diagonal());
    is_far.then(|| Note::OtherPlace {
        meshes: document.path.clone(),
        rig: rig.path.clone(),
        apart,
    })
}

/// Takes attributes and materials from the rig when it draws the same points.
fn take_look(document: &mut Document, rig: &Document) {
    let same_points = are_same_points(document, rig.mesh.positions(), 1e-4);
    if same_points && !rig.draw.parts.is_empty() {
        document.draw = rig.draw.clone();
        document.materials = rig.materials.clone();
    }
}

/// Whether points are those of a rest mesh, within a share of its size.
fn are_same_points(document: &Document, points: &[DVec3], share: f64) -> bool {
    let near = share * document.mesh.bounds().diagonal();
    let mut pairs = points.iter().zip(document.mesh.positions());
    points.len() == document.mesh.vertex_count() && pairs.all(|(a, b)| a.distance(*b) <= near)
}

#[cfg(test)]
mod tests;
