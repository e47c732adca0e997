//! Inputs to a mesh animation: sequences, and skinned or morphed files whose clips are played.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::{MeshAnimation, MeshClip};
use dermis_io::Document;

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
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        matches!(extension.as_deref(), Some("obj" | "ply")) && path.is_file()
    };
    let groups: Vec<&[PathBuf]> = match inputs.iter().all(single_meshes) {
        true => vec![inputs],
        false => inputs.chunks(1).collect(),
    };
    let mut look: Option<Document> = None;
    let mut clips: Vec<MeshClip> = Vec::new();
    for group in groups {
        let mut document = read_inputs(group, sequence, talk)?;
        let found = clips_of(&mut document, fps)?;
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

/// The motions of one file.
fn clips_of(document: &mut Document, fps: Option<f64>) -> anyhow::Result<Vec<MeshClip>> {
    let path = document.path.display().to_string();
    let name = file_stem(&document.path);
    if !document.frames.is_empty() {
        let frames = std::mem::take(&mut document.frames);
        return Ok(vec![MeshClip {
            name,
            frames_per_second: fps
                .or(document.frames_per_second)
                .unwrap_or(FRAMES_PER_SECOND),
            frames: frames.into_iter().map(|frame| frame.positions).collect(),
        }]);
    }
    let Some(skin) = &document.skin else {
        bail!("{path}: expected a mesh that moves, found a single one");
    };
    if document.clips.is_empty() {
        bail!("{path}: expected a mesh that moves, found a skin without a clip");
    }
    let mut clips = Vec::with_capacity(document.clips.len());
    for clip in &document.clips {
        let frames_per_second = sampling_rate(fps, clip);
        let frames = clip
            .frame_times(frames_per_second)
            .into_iter()
            .map(|time| skin.evaluate(&skin.sample(clip, time)))
            .collect::<Result<_, _>>()
            .with_context(|| path.clone())?;
        clips.push(MeshClip {
            name: match clip.name.is_empty() {
                true => name.clone(),
                false => clip.name.clone(),
            },
            frames,
            frames_per_second,
        });
    }
    Ok(clips)
}

fn file_stem(path: &Path) -> String {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| "clip".to_owned())
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
