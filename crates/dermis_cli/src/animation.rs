//! Inputs to a mesh animation: sequences, and skinned or morphed files whose clips are played.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::{Clip, MeshAnimation, MeshClip, Pose, Skin};
use dermis_io::{Document, Format, Frame, FrameStorage};
use glam::DVec3;

use crate::args::SequenceArgs;
use crate::cmd::{Pace, read_inputs, sampled};
use crate::examples::unused_name;
use crate::input_args::Of;
use crate::matching::{Pair, check, rest_meshes};
use crate::motion::{FRAMES_PER_SECOND, motion_rate};
use crate::talk::Talk;

/// Meshes that move, and the file that says what they look like.
pub(crate) struct ReadAnimation {
    pub(crate) animation: MeshAnimation,
    /// The first file: mesh, attributes, materials; its frames are taken out.
    pub(crate) look: Document,
    /// Whether each clip is a set of poses, held one after another, and no motion.
    pub(crate) held: Vec<bool>,
}

/// Reads clips of one mesh.
///
/// Single meshes make one clip together; of several sequences each is a clip of its own, and they
/// share the first one's rest mesh. A file that has a skin but no meshes gives what its clips show.
/// Meshes without a rate may be poses, unless they belong to a motion that is known.
pub(crate) fn read_animation(
    inputs: &[PathBuf],
    sequence: &SequenceArgs,
    fps: Option<f64>,
    may_be_poses: bool,
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
    let mut held = Vec::new();
    for group in groups {
        let mut document = read_inputs(group, sequence, talk)?;
        let rate = match may_be_poses {
            true => motion_rate(group, &document, fps, talk),
            false => (fps.or(document.frames_per_second)).or(Some(FRAMES_PER_SECOND)),
        };
        let found = clips_of(&mut document, &clip_name(group), fps, rate)?;
        if let Some(first) = &look {
            check_same_mesh(first, &document)?;
            let shapes: Vec<&[DVec3]> = (found.iter())
                .flat_map(|(clip, _)| clip.frames.iter().map(Vec::as_slice))
                .collect();
            let pair = Pair {
                meshes: &document.path,
                rest: &first.path,
                of: Of::All,
            };
            check(&rest_meshes(first), &shapes, pair, &sequence.matching)?;
        }
        for (clip, is_held) in found {
            let is_taken = |name: &str| clips.iter().any(|clip| clip.name == name);
            clips.push(MeshClip {
                name: unused_name(clip.name, is_taken),
                ..clip
            });
            held.push(is_held);
        }
        look.get_or_insert(document);
    }
    let look = look.context("at least one input is needed")?;
    let path = look.path.display().to_string();
    let mut animation = MeshAnimation::new(look.mesh.clone(), clips).context(path)?;
    if let Some(skin) = &look.skin {
        animation = animation.with_size(skin.size()?);
    }
    Ok(ReadAnimation {
        animation,
        look,
        held,
    })
}

/// What a clip shows, at equal steps of time.
pub(crate) struct PlayedClip {
    pub(crate) poses: Vec<Pose>,
    /// The mesh in each of `poses`.
    pub(crate) frames: Vec<Vec<DVec3>>,
    pub(crate) frames_per_second: f64,
}

/// Plays clips of a file: every command that takes the motion of a file for meshes sees the same ones.
pub(crate) fn play_clips(
    document: &Document,
    skin: &Skin,
    clips: &[&Clip],
    fps: Option<f64>,
) -> anyhow::Result<Vec<PlayedClip>> {
    let sampled = sampled(fps, clips, skin, document, Pace::Even)?;
    let play = |(clip, (frames_per_second, times)): (&&Clip, (f64, Vec<f64>))| {
        let poses: Vec<Pose> = times.iter().map(|&time| skin.sample(clip, time)).collect();
        let frames = poses.iter().map(|pose| skin.evaluate(pose));
        Ok(PlayedClip {
            frames: frames
                .collect::<Result<_, _>>()
                .with_context(|| document.path.display().to_string())?,
            poses,
            frames_per_second,
        })
    };
    clips.iter().zip(sampled).map(play).collect()
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
    let clips: Vec<&Clip> = document.clips.iter().collect();
    let played = play_clips(document, skin, &clips, fps)?;
    let names: Vec<String> = clips.iter().map(|clip| clip.name.clone()).collect();
    for (name, played) in names.iter().zip(played) {
        let frames = played.frames.into_iter().enumerate();
        document.frames.extend(frames.map(|(k, positions)| Frame {
            name: format!("{name} {k}"),
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

/// The motions of one file, and whether each is held poses instead; `rate` is that of its meshes.
fn clips_of(
    document: &mut Document,
    name: &str,
    fps: Option<f64>,
    rate: Option<f64>,
) -> anyhow::Result<Vec<(MeshClip, bool)>> {
    if !document.frames.is_empty() {
        let frames = std::mem::take(&mut document.frames);
        let clip = MeshClip {
            name: match rate.is_some() || name.contains("poses") {
                true => name.to_owned(),
                false => format!("{name}_poses"),
            },
            frames_per_second: rate.unwrap_or(1.0),
            frames: frames.into_iter().map(|frame| frame.positions).collect(),
        };
        return Ok(vec![(clip, rate.is_none())]);
    }
    let (Some(skin), false) = (&document.skin, document.clips.is_empty()) else {
        bail!(no_motion(document));
    };
    let mut clips = Vec::with_capacity(document.clips.len());
    let all: Vec<&Clip> = document.clips.iter().collect();
    let played = play_clips(document, skin, &all, fps)?;
    for (clip, played) in all.into_iter().zip(played) {
        let is_held = fps.is_none() && skin.unbaked(clip).is_held();
        let clip = MeshClip {
            name: match clip.name.is_empty() {
                true => name.to_owned(),
                false => clip.name.clone(),
            },
            frames: played.frames,
            frames_per_second: played.frames_per_second,
        };
        clips.push((clip, is_held));
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
