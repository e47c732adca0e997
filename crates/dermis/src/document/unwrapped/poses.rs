//! The shapes that an atlas is made for, and their mean metric.

use glam::DVec3;
use serde::Serialize;

use crate::document::legal::{evenly, poses_within};
use crate::document::{AssumedPoses, Document, EditError};
use crate::fit::made_up_poses;
use crate::metric::{JointModel, PoseMetric};
use crate::par;
use crate::param::EdgeProducts;
use crate::rig::{Bone, Pose};
use crate::skin::{ShownPoses, Skin};

/// Most poses that a metric is the mean of; of more, so many evenly spaced ones.
const MOST_POSES: usize = 200;

/// The poses in which stretch should be low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PosesFor {
    /// What the document shows: its clips and frames; else poses within its limits; else the rest shape.
    #[default]
    Shown,
    /// The rest shape alone.
    Rest,
    /// Poses within the limits or statistics of the document's record, or, without them, joints turned by up to 60°.
    Limits,
    /// Every joint turns freely, and each apart from the others: what a skeleton alone tells.
    AnyRotation,
}

/// Where the poses of an atlas came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AtlasPoses {
    /// The document's clips and frames.
    Clips,
    /// Poses within limits.
    Limits,
    /// Joints turned by up to 60°, for want of limits.
    MadeUp,
    /// Joints that turn freely.
    AnyRotation,
    /// The rest shape alone.
    Rest,
}

/// What an atlas is made for.
pub(super) struct AtlasShapes {
    /// The drawn rest shape.
    pub(super) rest: Vec<DVec3>,
    /// Mean products of the edges of every triangle.
    pub(super) metrics: Vec<EdgeProducts>,
    pub(super) source: AtlasPoses,
    /// Poses of the mean, beside frames.
    poses: Vec<Pose>,
    pub(super) note: Option<String>,
}

impl AtlasShapes {
    pub(super) fn new(
        document: &Document,
        wanted: PosesFor,
        triangles: &[[u32; 3]],
    ) -> Result<Self, EditError> {
        let mut shapes = Self {
            rest: match &document.skin {
                Some(skin) => skin.drawn_at_rest()?,
                None => document.mesh.positions().to_vec(),
            },
            metrics: Vec::new(),
            source: AtlasPoses::Rest,
            poses: Vec::new(),
            note: None,
        };
        if let (Some(skin), PosesFor::AnyRotation) = (&document.skin, wanted) {
            shapes.metrics = free_metrics(skin, triangles)?;
            shapes.source = AtlasPoses::AnyRotation;
            return Ok(shapes);
        }
        (shapes.poses, shapes.source) = poses_of(document, wanted)?;
        if shapes.source == AtlasPoses::Rest && wanted != PosesFor::Rest {
            shapes.note = Some(
                "no clips, frames or limits were found: the stretch is low at rest, and not known in other poses"
                    .to_owned(),
            );
        }
        let mut of_poses = shapes.of_poses(document, MOST_POSES)?;
        if of_poses.is_empty() {
            of_poses.push(shapes.rest.clone());
        }
        shapes.metrics = mean_metrics(&of_poses, triangles);
        Ok(shapes)
    }

    /// The drawn rest shape, and at most so many of the poses.
    pub(super) fn measured(
        &self,
        document: &Document,
        most: usize,
    ) -> Result<Vec<Vec<DVec3>>, EditError> {
        let mut shapes = vec![self.rest.clone()];
        let mut of_poses = self.of_poses(document, most)?;
        if of_poses.is_empty() && self.source == AtlasPoses::AnyRotation {
            // Nothing is known of the motion but what the clips show.
            let (poses, source) = poses_of(document, PosesFor::Shown)?;
            let shown = Self {
                source,
                poses,
                rest: Vec::new(),
                metrics: Vec::new(),
                note: None,
            };
            of_poses = shown.of_poses(document, most)?;
        }
        shapes.extend(of_poses);
        Ok(shapes)
    }

    /// At most so many shapes: the document's frames, which are what is to be shown, and its skin in the poses.
    fn of_poses(&self, document: &Document, most: usize) -> Result<Vec<Vec<DVec3>>, EditError> {
        let frames = match self.source {
            AtlasPoses::Clips => &document.frames[..],
            _ => &[],
        };
        let count = document.mesh.vertex_count();
        if let Some(frame) = (frames.iter()).find(|frame| frame.positions.len() != count) {
            return Err(EditError::FrameMismatch {
                name: frame.name.clone(),
                expected: count,
                found: frame.positions.len(),
            });
        }
        let at: Vec<usize> = evenly(frames.len() + self.poses.len(), most).collect();
        let shapes = par::map(at.len(), |k| match (frames.get(at[k]), &document.skin) {
            (Some(frame), _) => Ok(frame.positions.clone()),
            (None, Some(skin)) => skin.evaluate(&self.poses[at[k] - frames.len()]),
            (None, None) => Ok(self.rest.clone()),
        });
        Ok(shapes.into_iter().collect::<Result<_, _>>()?)
    }
}

fn poses_of(document: &Document, wanted: PosesFor) -> Result<(Vec<Pose>, AtlasPoses), EditError> {
    let Some(skin) = &document.skin else {
        let source = match wanted == PosesFor::Rest || document.frames.is_empty() {
            true => AtlasPoses::Rest,
            false => AtlasPoses::Clips,
        };
        return Ok((Vec::new(), source));
    };
    if wanted == PosesFor::Rest {
        return Ok((Vec::new(), AtlasPoses::Rest));
    }
    let shown = ShownPoses::all(&document.shown_poses()?);
    if wanted == PosesFor::Shown && !(shown.is_empty() && document.frames.is_empty()) {
        // Poses of frames come last; the frames themselves are nearer to the truth than the skin is in these.
        let of_frames = match document.frames.is_empty() {
            true => 0,
            false => document.frame_poses.len(),
        };
        let of_clips = shown[..shown.len() - of_frames].to_vec();
        return Ok((of_clips, AtlasPoses::Clips));
    }
    let (limits, assumes) = document.legal_limits(&skin.joint_statistics(&shown));
    match (assumes, wanted) {
        (AssumedPoses::AnyRotation, PosesFor::Limits) => {
            Ok((made_up_poses(&skin.skeleton), AtlasPoses::MadeUp))
        }
        (AssumedPoses::AnyRotation, _) => Ok((Vec::new(), AtlasPoses::Rest)),
        _ => Ok((poses_within(skin, &limits)?, AtlasPoses::Limits)),
    }
}

/// Mean products over shapes.
fn mean_metrics(shapes: &[Vec<DVec3>], triangles: &[[u32; 3]]) -> Vec<EdgeProducts> {
    let share = 1.0 / shapes.len() as f64;
    par::map(triangles.len(), |t| {
        let mut mean = EdgeProducts {
            ee: 0.0,
            ef: 0.0,
            ff: 0.0,
        };
        for shape in shapes {
            let [a, b, c] = triangles[t].map(|point| shape[point as usize]);
            let (e, f) = (b - a, c - a);
            mean.ee += share * e.length_squared();
            mean.ef += share * e.dot(f);
            mean.ff += share * f.length_squared();
        }
        mean
    })
}

/// Products when every joint turns freely.
fn free_metrics(skin: &Skin, triangles: &[[u32; 3]]) -> Result<Vec<EdgeProducts>, EditError> {
    let model = |bone: &Bone| JointModel::UniformRotation {
        translation: bone.default_parent_from_bone.translation,
    };
    let models: Vec<JointModel> = skin.skeleton.bones().iter().map(model).collect();
    let linear = skin.to_linear()?;
    let metric = PoseMetric::of_skin(&linear, &models)?.with_all_blocks();
    let crate::VertexProgram::Linear(program) = &linear.program else {
        return Err(EditError::NoSkin);
    };
    let edge = |a: usize, b: usize| {
        let mut factors = [0.0; 3];
        (factors[a], factors[b]) = (-1.0, 1.0);
        factors
    };
    Ok(par::map(triangles.len(), |t| {
        let gram =
            metric.triangle(triangles[t].map(|point| program.influences.row(point as usize)));
        let (e, f) = (edge(0, 1), edge(0, 2));
        EdgeProducts {
            ee: gram.dot(e, e),
            ef: gram.dot(e, f),
            ff: gram.dot(f, f),
        }
    }))
}
