//! Inputs to a mesh animation: sequences, and skinned or morphed files whose clips are played.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::{Clip, MeshAnimation, MeshClip, Pose, Skin};
use dermis_io::{Document, Format, Frame, FrameStorage};
use glam::DVec3;

use crate::args::SequenceArgs;
use crate::cmd::{read_inputs, sampling_rate};
use crate::talk::Talk;

/// Frames per second of meshes that come without.
pub(crate) const FRAMES_PER_SECOND: f64 = 24.0;

/// Meshes that move, and the file that says what they look like.
pub(crate) struct ReadAnimation {
    pub(crate) animation: MeshAnimation,
    /// The first file: mesh, attributes, materials; its frames are taken out.
    pub(crate) look: Document,
}

/// Reads clips of one mesh.
///
/// Single meshes make one clip together; of several sequences each is a clip of its own, and they
/// share the first one's rest mesh. A file that has a skin but no meshes gives what its clips show.
pub(crate) fn read_animation(
    inputs: &[PathBuf],
    sequence: &SequenceArgs,
    fps: Option<f64>,
    talk: &Talk,
) -> anyhow::Result<ReadAnimation> {
    let single_meshes = |path: &PathBuf| {
        let format = Format::of(path);
        format.is_ok_and(|format| format.frames() == FrameStorage::FileEach) && path.is_file()
    };
    let groups: Vec<&[PathBuf]> = match inputs.iter().all(single_meshes) {
        true => vec![inputs],
        false => inputs.chunks(1).collect(),
    };
    let mut look: Option<Document> = None;
    let mut clips: Vec<MeshClip> = Vec::new();
    for group in groups {
        let mut document = read_inputs(group, sequence, talk)?;
        let found = clips_of(&mut document, &clip_name(group), fps)?;
        if let Some(first) = &look {
            check_same_mesh(first, &document)?;
        }
        for clip in found {
            clips.push(MeshClip {
                name: unused_name(&clips, clip.name),
                ..clip
            });
        }
        look.get_or_insert(document);
    }
    let look = look.context("at least one input is needed")?;
    let path = look.path.display().to_string();
    let animation = MeshAnimation::new(look.mesh.clone(), clips).context(path)?;
    Ok(ReadAnimation { animation, look })
}

/// What a clip shows, at equal steps of time.
pub(crate) struct PlayedClip {
    pub(crate) poses: Vec<Pose>,
    /// The mesh in each of `poses`.
    pub(crate) frames: Vec<Vec<DVec3>>,
    pub(crate) frames_per_second: f64,
}

/// Plays a clip: every command that takes the motion of a file for meshes sees the same ones.
pub(crate) fn play_clip(skin: &Skin, clip: &Clip, fps: Option<f64>) -> anyhow::Result<PlayedClip> {
    let frames_per_second = sampling_rate(fps, clip, Some(skin));
    let times = clip.frame_times(frames_per_second).into_iter();
    let poses: Vec<Pose> = times.map(|time| skin.sample(clip, time)).collect();
    let frames = poses.iter().map(|pose| skin.evaluate(pose));
    Ok(PlayedClip {
        frames: frames.collect::<Result<_, _>>()?,
        poses,
        frames_per_second,
    })
}

/// Gives a file that moves by clips alone, a skin or a morph sequence, the meshes that they show as its
/// frames. A file that has frames keeps those, and one without clips has none.
pub(crate) fn show_clips(document: &mut Document, fps: Option<f64>) -> anyhow::Result<()> {
    if !document.frames.is_empty() {
        return Ok(());
    }
    let Some(skin) = &document.skin else {
        return Ok(());
    };
    for clip in &document.clips {
        let played =
            play_clip(skin, clip, fps).with_context(|| document.path.display().to_string())?;
        let frames = played.frames.into_iter().enumerate();
        document.frames.extend(frames.map(|(k, positions)| Frame {
            name: format!("{} {k}", clip.name),
            positions,
        }));
        document.frame_poses.extend(played.poses);
        let rate = document.frames_per_second;
        document.frames_per_second = rate.or(Some(played.frames_per_second));
    }
    Ok(())
}

/// What a file has instead of a mesh that moves, and what to do about it.
pub(crate) fn no_motion(document: &Document) -> String {
    let found = match &document.skin {
        Some(_) => "a skin without a clip",
        None => "a single mesh",
    };
    format!(
        "{}: expected a mesh that moves, found {found}: give several meshes, a folder or a pattern such as \
         'poses/*.obj', a file with frames, or one with a clip",
        document.path.display()
    )
}

/// The motions of one file.
fn clips_of(
    document: &mut Document,
    name: &str,
    fps: Option<f64>,
) -> anyhow::Result<Vec<MeshClip>> {
    let path = document.path.display().to_string();
    if !document.frames.is_empty() {
        let frames = std::mem::take(&mut document.frames);
        return Ok(vec![MeshClip {
            name: name.to_owned(),
            frames_per_second: fps
                .or(document.frames_per_second)
                .unwrap_or(FRAMES_PER_SECOND),
            frames: frames.into_iter().map(|frame| frame.positions).collect(),
        }]);
    }
    let (Some(skin), false) = (&document.skin, document.clips.is_empty()) else {
        bail!(no_motion(document));
    };
    let mut clips = Vec::with_capacity(document.clips.len());
    for clip in &document.clips {
        let played = play_clip(skin, clip, fps).with_context(|| path.clone())?;
        clips.push(MeshClip {
            name: match clip.name.is_empty() {
                true => name.to_owned(),
                false => clip.name.clone(),
            },
            frames: played.frames,
            frames_per_second: played.frames_per_second,
        });
    }
    Ok(clips)
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

fn check_same_mesh(first: &Document, other: &Document) -> anyhow::Result<()> {
    let (a, b) = (first.mesh.vertex_count(), other.mesh.vertex_count());
    if a != b {
        bail!(
            "{}: has {b} vertices, but {} has {a}: all clips must be of one mesh, vertex by vertex",
            other.path.display(),
            first.path.display()
        );
    }
    let (a, b) = (first.mesh.triangles(), other.mesh.triangles());
    // A cloud of points says nothing about faces.
    if !a.is_empty() && !b.is_empty() && a != b {
        bail!(
            "{}: has other faces than {}: all clips must be of one mesh, vertex by vertex",
            other.path.display(),
            first.path.display()
        );
    }
    Ok(())
}

/// The name, or with a number behind it when a clip has it already.
fn unused_name(clips: &[MeshClip], name: String) -> String {
    let is_taken = |name: &String| clips.iter().any(|clip| clip.name == *name);
    if !is_taken(&name) {
        return name;
    }
    (2..)
        .map(|number| format!("{name}_{number}"))
        .find(|name| !is_taken(name))
        .unwrap_or(name)
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
