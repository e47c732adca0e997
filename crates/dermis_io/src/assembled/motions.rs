//! Mesh animations from files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dermis::document::{AnimationOptions, AssembledAnimation, NamedMotion, assemble_animation};

use super::{InputOptions, ReadMeshes, read_meshes};
use crate::{Fault, Format, FrameStorage, InputError};

/// How a mesh animation is read.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionOptions {
    /// How the meshes are read.
    pub inputs: InputOptions,
    /// Frames per second of meshes, and at which clips are played. Default: as the files say, or as keys lie.
    pub frames_per_second: Option<f64>,
    /// As [`AnimationOptions::may_be_poses`]. Default: yes.
    pub may_be_poses: bool,
}

impl Default for MotionOptions {
    fn default() -> Self {
        Self {
            inputs: InputOptions::default(),
            frames_per_second: None,
            may_be_poses: true,
        }
    }
}

/// Reads clips of one mesh.
///
/// Single meshes make one clip together; of several sequences each is a clip of its own, named after its file, and
/// they share the first one's rest mesh. A file that has a skin but no meshes gives what its clips show.
///
/// # Errors
/// As [`read_meshes`], and [`InputError::Document`] for files that do not move or are of another mesh.
pub fn read_animation(
    inputs: &[PathBuf],
    options: &MotionOptions,
) -> Result<AssembledAnimation, InputError> {
    if inputs.is_empty() {
        let fault = Fault::malformed("input", "at least one file", "none");
        return Err(fault.in_file(Path::new("-")).into());
    }
    let single_mesh = |path: &PathBuf| {
        let format = Format::of(path);
        format.is_ok_and(|format| format.frames() == FrameStorage::FileEach) && path.is_file()
    };
    let groups: Vec<&[PathBuf]> = match inputs.iter().all(single_mesh) {
        true => vec![inputs],
        false => inputs.chunks(1).collect(),
    };
    let mut motions = Vec::with_capacity(groups.len());
    let mut notes = Vec::new();
    for group in groups {
        let read = read_meshes(group, &options.inputs)?;
        let ReadMeshes {
            document,
            notes: said,
        } = read;
        notes.extend(said);
        motions.push(NamedMotion {
            name: clip_name(group),
            document,
        });
    }
    let how = AnimationOptions {
        frames_per_second: options.frames_per_second,
        may_be_poses: options.may_be_poses,
        matching: options.inputs.matching,
    };
    let mut animation = assemble_animation(motions, &how)?;
    animation.notes.splice(0..0, notes);
    Ok(animation)
}

/// What a motion is called: after its file, or after what the names of its meshes have in common
/// before they are counted (`walk` for `walk_001.obj` and `walk_002.obj`), else after their folder.
fn clip_name(inputs: &[PathBuf]) -> String {
    let text = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let stem = |path: &PathBuf| match path.is_dir() {
        true => text(path.file_name()),
        // `walk.obj.gz` is called walk.
        false
            if path
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("gz")) =>
        {
            text(Path::new(&text(path.file_stem())).file_stem())
        }
        false => text(path.file_stem()),
    };
    let Some(first) = inputs.first() else {
        return "clip".to_owned();
    };
    let name = stem(first);
    if let [only] = inputs
        && only.exists()
        && !name.is_empty()
    {
        return name;
    }
    let same = |other: &PathBuf| {
        let other = stem(other);
        let pairs = name.char_indices().zip(other.chars());
        let differs = |((at, a), b): ((usize, char), char)| (a != b).then_some(at);
        let shorter = name.len().min(other.len());
        pairs.into_iter().find_map(differs).unwrap_or(shorter)
    };
    let length = inputs.iter().map(same).min().unwrap_or(0);
    // A pattern says where its numbers are; `0001` and `0010` have in common what is no name.
    let before = name[..length].split(['*', '?', '#', '[']).next();
    let counts = |c: char| c.is_ascii_digit() || matches!(c, '_' | '-' | '.' | ' ');
    let common = before.unwrap_or_default().trim_end_matches(counts);
    let folder = text(first.parent().and_then(Path::file_name));
    let chosen = [common, &folder].into_iter().find(|name| !name.is_empty());
    chosen.unwrap_or("clip").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_called_what_their_files_have_in_common() {
        for (inputs, name) in [
            (&["sim/walk_001.obj", "sim/walk_002.obj"][..], "walk"),
            (&["sim/walk_*.obj"], "walk"),
            (&["sim/run.####.obj"], "run"),
            (&["sim/0001.obj", "sim/0010.obj"], "sim"),
            (&["sim/*.obj"], "sim"),
            (&["*.obj"], "clip"),
            (&["a.obj", "b.obj"], "clip"),
            (&["größe_1.obj", "größe_2.obj"], "größe"),
            (&["größe.obj", "grüße.obj"], "gr"),
            (&["walk.obj", "walk2.obj"], "walk"),
            (&["walk.obj.gz", "walk2.obj.gz"], "walk"),
        ] {
            let inputs: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
            assert_eq!(clip_name(&inputs), name, "{inputs:?}");
        }
    }

    #[test]
    fn a_file_and_a_folder_are_called_by_their_own_names() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let cloth = folder.path().join("cloth.v2");
        std::fs::create_dir(&cloth).expect("a folder");
        assert_eq!(
            clip_name(std::slice::from_ref(&cloth)),
            "cloth.v2",
            "all of it"
        );
        let file = cloth.join("sim_024.npz");
        std::fs::write(&file, "").expect("a file");
        assert_eq!(clip_name(&[file]), "sim_024", "one file is not counted");
    }
}
