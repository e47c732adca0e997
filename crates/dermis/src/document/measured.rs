//! Documents to measure against each other: what is true, and what somebody made of it.

use super::{Document, DocumentError, Frame, MatchOptions, MatchPair, Note, match_frames};
use crate::example::{Example, ExampleSet};
use crate::rig::{Pose, Skeleton};

use super::poses_by_name::MatchedPoses;

/// Meshes to measure against those of another document.
#[derive(Debug, Clone)]
pub struct BesideTruth {
    /// One for each mesh of the other document, in its order.
    pub frames: Vec<Frame>,
    /// What a skin was posed by, where the poses are those of the other document.
    pub posed: Option<MatchedPoses>,
    /// What is good to know.
    pub notes: Vec<Note>,
}

/// Examples that no fit has seen, for the mesh and skeleton of others.
#[derive(Debug, Clone)]
pub struct TestSet {
    /// What they are called: after their file.
    pub name: String,
    /// The examples, measured in the unit of the others.
    pub set: ExampleSet,
    /// Bones that their file does not pose: they stay as they are by default.
    pub still: Vec<String>,
}

impl Document {
    /// The document with the meshes of its clips, or of the one of this name, as frames; a single mesh is one frame. One
    /// that has frames keeps those.
    ///
    /// # Errors
    /// As [`Document::show_clips`] and [`Document::choose_clip`].
    pub fn with_frames(
        mut self,
        clip: Option<&str>,
        rate: Option<f64>,
    ) -> Result<Self, DocumentError> {
        if self.frames.is_empty() && self.skin.is_some() && clip.is_some() {
            self.clips = vec![self.choose_clip(clip)?.clone()];
        }
        self.show_clips(rate)?;
        if self.frames.is_empty() {
            let name = self.path.file_stem().unwrap_or_default();
            // As it is drawn, which bind matrices can make another shape than the one that is stored.
            let drawn = self.rest_meshes().pop().unwrap_or_default();
            self.frames = vec![Frame {
                name: name.to_string_lossy().into_owned(),
                positions: drawn.positions().to_vec(),
            }];
        }
        Ok(self)
    }

    /// The frames as a set to measure others against, with the poses of bones where they are known.
    ///
    /// # Errors
    /// [`DocumentError::Content`] for frames that are no shapes of the mesh.
    pub fn truth(&self) -> Result<ExampleSet, DocumentError> {
        let bones = self.expect_skeleton().ok();
        let bones = bones.filter(|_| self.frame_poses.len() == self.frames.len());
        let no_bones = || Skeleton::new(Vec::new());
        let skeleton = bones.cloned().map_or_else(no_bones, Ok);
        let skeleton = skeleton.map_err(|error| {
            DocumentError::in_file(&self.path)(crate::skin::SkinError::from(error))
        })?;
        let example = |(k, frame): (usize, &Frame)| Example {
            name: frame.name.clone(),
            pose: match bones {
                Some(_) => Pose::new(self.frame_poses[k].parent_from_bone.clone()),
                None => Pose::default(),
            },
            positions: frame.positions.clone(),
        };
        let examples = self.frames.iter().enumerate().map(example).collect();
        let set = ExampleSet::new(self.mesh.clone(), skeleton, examples);
        let set = set.map_err(DocumentError::in_file(&self.path))?;
        let size = self.skin.as_ref().map(crate::Skin::size).transpose();
        Ok(match size.map_err(DocumentError::in_file(&self.path))? {
            Some(size) => set.with_size(size),
            None => set,
        })
    }

    /// The meshes of this document to measure against the frames of another. A skin without frames is posed as the
    /// other's bones are, where these are known and have the same names; else its clips are played.
    ///
    /// # Errors
    /// [`DocumentError::FrameCount`], [`DocumentError::VertexCount`], [`DocumentError::Match`] for meshes that cannot be
    /// shapes of the same mesh, and what reading clips can give.
    pub fn beside(
        self,
        truth: &Self,
        clip: Option<&str>,
        rate: Option<f64>,
        options: &MatchOptions,
    ) -> Result<BesideTruth, DocumentError> {
        let [expected, found] = [truth, &self].map(|document| document.mesh.vertex_count());
        if expected != found {
            return Err(DocumentError::VertexCount {
                path: self.path,
                found,
                other: truth.path.clone(),
                expected,
            });
        }
        let is_posed = self.frames.is_empty() && clip.is_none() && !truth.frame_poses.is_empty();
        let posed = match (&self.skin, is_posed) {
            (Some(skin), true) => match self.poses_from(truth) {
                Ok(posed) => Some((skin, posed)),
                // Other bones can still play their own clips.
                Err(DocumentError::OtherBones { .. }) if !self.clips.is_empty() => None,
                Err(error) => return Err(error),
            },
            _ => None,
        };
        let (path, mut frames, posed) = match posed {
            Some((skin, posed)) => {
                let frame = |(frame, pose): (&Frame, &Pose)| {
                    Ok(Frame {
                        name: frame.name.clone(),
                        positions: skin.evaluate(pose)?,
                    })
                };
                let frames: Result<Vec<Frame>, crate::skin::SkinError> =
                    truth.frames.iter().zip(&posed.poses).map(frame).collect();
                let frames = frames.map_err(DocumentError::in_file(&self.path))?;
                (self.path, frames, Some(posed))
            }
            None => {
                let shown = self.with_frames(clip, rate)?;
                (shown.path, shown.frames, None)
            }
        };
        if frames.len() != truth.frames.len() {
            return Err(DocumentError::FrameCount {
                path,
                found: frames.len(),
                truth: truth.path.clone(),
                expected: truth.frames.len(),
            });
        }
        let pair = MatchPair {
            meshes: &path,
            rest: &truth.path,
            is_own_rest: false,
        };
        let notes = match_frames(&truth.rest_meshes(), &mut frames, pair, options)?;
        Ok(BesideTruth {
            frames,
            posed,
            notes,
        })
    }

    /// The examples of this document as a test of fits to others: same mesh, bones by name, measured in the same unit.
    ///
    /// `examples` are this document's own, as [`assemble_examples`](super::assemble_examples) gives them.
    ///
    /// # Errors
    /// [`DocumentError::VertexCount`], [`DocumentError::OtherBones`], and [`DocumentError::Match`] for meshes that cannot be
    /// shapes of the mesh that was fitted.
    pub fn as_test_of(
        &self,
        examples: &ExampleSet,
        fitted: &ExampleSet,
        fitted_path: &std::path::Path,
        options: &MatchOptions,
    ) -> Result<(TestSet, Vec<Note>), DocumentError> {
        let [expected, found] = [fitted, examples].map(|set| set.rest().vertex_count());
        if expected != found {
            return Err(DocumentError::VertexCount {
                path: self.path.clone(),
                found,
                other: fitted_path.to_owned(),
                expected,
            });
        }
        let poses: Vec<Pose> = (examples.examples().iter())
            .map(|example| example.pose.clone())
            .collect();
        let posed = super::poses_by_name(examples.skeleton(), &poses, fitted.skeleton());
        let posed = posed.map_err(|problem| DocumentError::OtherBones {
            path: self.path.clone(),
            other: fitted_path.to_owned(),
            problem,
        })?;
        let frame = |example: &Example| Frame {
            name: example.name.clone(),
            positions: example.positions.clone(),
        };
        let mut frames: Vec<Frame> = examples.examples().iter().map(frame).collect();
        let pair = MatchPair {
            meshes: &self.path,
            rest: fitted_path,
            is_own_rest: false,
        };
        let mut rests = vec![fitted.rest().clone()];
        rests.extend(self.rest_meshes());
        let notes = match_frames(&rests, &mut frames, pair, options)?;
        let examples = frames
            .into_iter()
            .zip(posed.poses)
            .map(|(frame, pose)| Example {
                name: frame.name,
                pose,
                positions: frame.positions,
            });
        let set = ExampleSet::new(
            fitted.rest().clone(),
            fitted.skeleton().clone(),
            examples.collect(),
        );
        let set = set.map_err(DocumentError::in_file(&self.path))?;
        let name = self.path.file_stem().unwrap_or_default();
        let test = TestSet {
            name: name.to_string_lossy().into_owned(),
            set: set.in_unit_of(fitted),
            still: posed.still,
        };
        Ok((test, notes))
    }
}
