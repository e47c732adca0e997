//! Angles between normals.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::statistics::influences;
use super::{NormalError, check_count};
use crate::mesh::{TriMesh, vertex_normals};
use crate::par;
use crate::rig::Pose;
use crate::skin::Skin;

/// Angles between normals and those of the deformed faces, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NormalAngles {
    /// How many normals were compared, over all poses.
    pub count: usize,
    /// Mean angle.
    pub mean_deg: f64,
    /// 95 of 100 angles are at most this.
    pub percentile_95_deg: f64,
    /// Largest angle.
    pub max_deg: f64,
}

/// How far normals are from those of the deformed faces, over some poses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NormalReport {
    /// Over all vertices.
    pub all: NormalAngles,
    /// Over the vertices near a joint, by [`is_blended`].
    pub blended: NormalAngles,
}

/// Whether a vertex is near a joint: two bones at least have a tenth of its weight each.
pub fn is_blended(skin: &Skin, vertex: usize) -> bool {
    const SIGNIFICANT_WEIGHT: f64 = 0.1;
    let (_, weights) = influences(skin, vertex);
    let significant = weights.iter().filter(|w| w.abs() >= SIGNIFICANT_WEIGHT);
    significant.count() >= 2
}

/// Compares normals, however made, with those of the skin's own deformed faces.
///
/// A vertex whose faces give no normal is skipped; a vertex with a face normal but none from `normals` counts
/// as 90°.
///
/// # Errors
/// Errors of `normals`, and [`NormalError::CountMismatch`] when it returns too many or too few.
///
/// ```
/// use dermis::mesh::vertex_normals;
/// use dermis::normal::{BlendedNormal, blended_normals, measure_normals};
/// use dermis::synth::{TubeOptions, tube};
///
/// let tube = tube(&TubeOptions { ring_count: 12, segment_count: 8, bone_count: 2, example_count: 4 });
/// let (skin, mesh) = (&tube.truth, tube.examples.rest());
/// let poses: Vec<_> = tube.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let rest_normals = vertex_normals(mesh.positions(), mesh.triangles());
/// let report = measure_normals(skin, mesh, &poses, |pose| {
///     blended_normals(skin, &rest_normals, pose, BlendedNormal::Matrix)
/// })?;
/// assert!(report.blended.mean_deg > 1.0, "blended matrices err at the joint");
/// # Ok::<(), dermis::normal::NormalError>(())
/// ```
pub fn measure_normals(
    skin: &Skin,
    mesh: &TriMesh,
    poses: &[Pose],
    normals: impl Fn(&Pose) -> Result<Vec<DVec3>, NormalError>,
) -> Result<NormalReport, NormalError> {
    let blended = par::map(skin.vertex_count(), |i| is_blended(skin, i));
    let mut all_angles = Vec::new();
    let mut blended_angles = Vec::new();
    for pose in poses {
        let truth = vertex_normals(&skin.evaluate(pose)?, mesh.triangles());
        let found = normals(pose)?;
        check_count("normals", truth.len(), found.len())?;
        for (i, (found, truth)) in found.iter().zip(&truth).enumerate() {
            if *truth == DVec3::ZERO {
                continue;
            }
            let angle = match *found == DVec3::ZERO {
                true => 90.0,
                false => found
                    .cross(*truth)
                    .length()
                    .atan2(found.dot(*truth))
                    .to_degrees(),
            };
            all_angles.push(angle);
            if blended[i] {
                blended_angles.push(angle);
            }
        }
    }
    Ok(NormalReport {
        all: NormalAngles::of(all_angles),
        blended: NormalAngles::of(blended_angles),
    })
}

impl NormalAngles {
    fn of(mut angles: Vec<f64>) -> Self {
        angles.sort_by(f64::total_cmp);
        let count = angles.len();
        let at = (0.95 * count as f64).ceil() as usize;
        Self {
            count,
            mean_deg: angles.iter().sum::<f64>() / count.max(1) as f64,
            percentile_95_deg: angles.get(at.saturating_sub(1)).copied().unwrap_or(0.0),
            max_deg: angles.last().copied().unwrap_or(0.0),
        }
    }
}
