//! Example sets out of the shared data, for tests that can read files.

use dermis::{Example, ExampleSet, Pose};

use crate::support;

/// The meshes and poses of one of Blender's characters, or `None`, with a printed message, where the data is absent.
pub(crate) fn blender_character(name: &str) -> Option<ExampleSet> {
    let path = support::data(&format!("bpy/{name}/truth.npz"))?;
    let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let skeleton = document.skin.expect("the file has bones").skeleton;
    let examples = document
        .frames
        .iter()
        .zip(&document.frame_poses)
        .map(|(frame, pose)| Example {
            name: frame.name.clone(),
            pose: Pose::new(pose.parent_from_bone.clone()),
            positions: frame.positions.clone(),
        })
        .collect();
    Some(ExampleSet::new(document.mesh, skeleton, examples).expect("meshes and poses agree"))
}
