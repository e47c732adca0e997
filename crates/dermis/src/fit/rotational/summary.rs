//! A summary of a skin with proxy bones: which vertices follow what.

use serde::Serialize;

use super::vertex_errors;
use crate::example::ExampleSet;
use crate::fit::FitError;
use crate::rig::BoneId;
use crate::skin::Skin;

/// How many proxies a skin has, and which vertices follow them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxySummary {
    /// Proxy bones.
    pub proxies: usize,
    /// Patches of skin whose motion is predicted.
    pub patches: usize,
    /// Joints whose turns it is predicted from.
    pub joints: usize,
    /// Vertices that follow proxies.
    pub proxied_vertices: usize,
    /// Vertices that follow the skeleton because linear blend skinning fits them to the tolerance.
    pub near_rigid_vertices: usize,
    /// Vertices that follow the skeleton because proxies would not fit them better.
    pub given_back_vertices: usize,
}

/// Counts how many vertices [`fit_rotational_regression`](super::fit_rotational_regression) gave to proxies
/// and to the skeleton.
///
/// A vertex that follows the skeleton is where linear blend skinning puts it, so its error on the examples
/// numbered in `which` shows whether it stayed because of the tolerance (see
/// [`RotationalOptions::rigid_tolerance`](super::RotationalOptions::rigid_tolerance)). Shapes that joints
/// drive are ignored. `None` for a skin without proxies.
///
/// # Errors
/// [`FitError::Skin`] when the skin is not one of these examples.
pub fn proxy_summary(
    skin: &Skin,
    set: &ExampleSet,
    which: &[usize],
    rigid_tolerance: f64,
) -> Result<Option<ProxySummary>, FitError> {
    let Some(proxies) = skin.pose_program.proxies() else {
        return Ok(None);
    };
    let below = skin.without_drivers();
    let errors = vertex_errors(|pose| Ok(below.evaluate(pose)?), set, which)?;
    let tolerance = rigid_tolerance * set.size();
    let follows_proxy = |bone: BoneId| bone.index() >= skin.posed_bone_count();
    let mut summary = ProxySummary {
        proxies: proxies.bones.len(),
        patches: proxies.patches.len(),
        joints: proxies.joints.len(),
        proxied_vertices: 0,
        near_rigid_vertices: 0,
        given_back_vertices: 0,
    };
    for (vertex, error) in errors.into_iter().enumerate() {
        let count = match skin.program.bones_of(vertex).any(follows_proxy) {
            true => &mut summary.proxied_vertices,
            false if error <= tolerance => &mut summary.near_rigid_vertices,
            false => &mut summary.given_back_vertices,
        };
        *count += 1;
    }
    Ok(Some(summary))
}
