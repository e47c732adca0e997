//! One file per command: checks the arguments, calls the library, prints the result.

pub(crate) mod bake_clips;
pub(crate) mod bench;
mod bench_against;
mod bench_frame;
pub(crate) mod bounds;
pub(crate) mod compare;
mod compare_decompositions;
pub(crate) mod convert;
pub(crate) mod decompose;
mod decompose_keep;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod fit;
pub(crate) mod info;
mod legal;
pub(crate) mod pose;
pub(crate) mod pose_text;
pub(crate) mod psd;
pub(crate) mod rig;
mod spheres;
pub(crate) mod stats;
pub(crate) mod subdivide;
pub(crate) mod transform;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::limits::check_memory;
use dermis::{Clip, Skin};
use dermis_io::{Content, Document, Format, SequenceOptions};

use crate::args::SequenceArgs;
use crate::matching::{check_frames, remark_unturned};
use crate::talk::Talk;

/// Reads the inputs of a command, passes on what had to be repaired, and refuses frames that cannot be shapes of
/// their rest mesh.
pub(crate) fn read_inputs(
    inputs: &[PathBuf],
    args: &SequenceArgs,
    talk: &Talk,
) -> anyhow::Result<Document> {
    let [placement, frame_placement] = args.matching.placements();
    let options = SequenceOptions {
        rest: args.rest.clone(),
        mesh: args.mesh.clone(),
        placement,
        frame_placement,
        any_faces: args.matching.reorder || args.matching.force,
    };
    let mut document = dermis_io::read_inputs(inputs, &options)?;
    talk.remark_notes(&document);
    if let [only] = inputs {
        remark_unturned(only, &args.matching.up, talk);
    }
    let meshes = inputs.first().map_or(PathBuf::new(), PathBuf::clone);
    check_frames(&mut document, &args.matching, &meshes, talk)?;
    Ok(document)
}

/// The skin of a file, or a sentence that says what the file has instead.
fn skin_of(document: &Document) -> anyhow::Result<&Skin> {
    document.skin.as_ref().with_context(|| {
        format!(
            "{}: expected a file with a skin, found {} vertices without one",
            document.path.display(),
            document.mesh.vertex_count()
        )
    })
}

/// One sentence when points without faces would go to a format that draws faces: at the start, not after a fit.
pub(crate) fn check_faces(document: &Document, output: &Path) -> anyhow::Result<()> {
    let draws_faces = matches!(Format::of(output)?, Format::Glb | Format::Gltf);
    if draws_faces && document.mesh.triangles().is_empty() {
        bail!(
            "{}: has {} points and no faces, and {} needs faces: give the mesh with its faces, or write .npz",
            document.path.display(),
            document.mesh.vertex_count(),
            output.display()
        );
    }
    Ok(())
}

/// The clip that was named, or the only one there is.
pub(crate) fn choose_clip<'a>(
    document: &'a Document,
    name: Option<&str>,
) -> anyhow::Result<&'a Clip> {
    let names = || {
        let quoted: Vec<String> = document
            .clips
            .iter()
            .map(|clip| format!("'{}'", clip.name))
            .collect();
        quoted.join(", ")
    };
    let path = document.path.display();
    match (name, &document.clips[..]) {
        (_, []) => bail!("{path}: expected a clip, found none: choose another file"),
        (None, [clip]) => Ok(clip),
        (None, _) => bail!(
            "{path}: has several clips; choose one with --clip: {}",
            names()
        ),
        (Some(name), clips) => clips
            .iter()
            .find(|clip| clip.name == name)
            .with_context(|| format!("{path}: has no clip '{name}'; it has {}", names())),
    }
}

/// Where the poses of a clip are taken when nobody asks for a frame rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At its keys, however they lie: for poses.
    AtKeys,
    /// At frames of one rate, that of its keys or 30: for meshes that go on as a sequence.
    Even,
}

/// When a clip is sampled.
enum Sampling {
    /// At every frame of a clip, so many a second.
    Frames(Clip, f64),
    /// At these times, so many a second in the mean.
    Keys(Vec<f64>, f64),
}

impl Sampling {
    /// At frames of the rate that was asked for. Else where the clip's keys are; and where these lie on frames, at
    /// least half of which have one, at the frames without a key, too.
    fn new(asked: Option<f64>, clip: &Clip, skin: Option<&Skin>, pace: Pace) -> Self {
        if let Some(rate) = asked {
            return Self::Frames(clip.clone(), rate);
        }
        let posed = posed_part(clip, skin);
        if pace == Pace::Even {
            return Self::Frames(clip.clone(), posed.key_rate().unwrap_or(30.0));
        }
        let times = posed.key_times();
        let duration = posed.end() - posed.start();
        match posed.key_rate() {
            Some(rate) if duration * rate < 2.0 * times.len() as f64 => Self::Frames(posed, rate),
            _ if times.len() < 2 => Self::Keys(vec![clip.start()], 30.0),
            _ => {
                let rate = (times.len() - 1) as f64 / duration;
                Self::Keys(times, rate)
            }
        }
    }

    fn rate(&self) -> f64 {
        match self {
            Self::Frames(_, rate) | Self::Keys(_, rate) => *rate,
        }
    }

    fn frame_count(&self) -> anyhow::Result<usize> {
        Ok(match self {
            Self::Frames(clip, rate) => clip.frame_count(*rate)?,
            Self::Keys(times, _) => times.len(),
        })
    }

    fn times(self) -> anyhow::Result<Vec<f64>> {
        Ok(match self {
            Self::Frames(clip, rate) => clip.frame_times(rate)?,
            Self::Keys(times, _) => times,
        })
    }
}

/// Frames per second at which a clip is sampled, in the mean: as asked, else on its keys, else 30.
pub(crate) fn sampling_rate(asked: Option<f64>, clip: &Clip, skin: Option<&Skin>) -> f64 {
    Sampling::new(asked, clip, skin, Pace::AtKeys).rate()
}

/// When some clips of a file are sampled: frames per second, and the time of each frame.
///
/// Refused when all their meshes and poses together would not fit into memory.
pub(crate) fn sampled(
    asked: Option<f64>,
    clips: &[&Clip],
    skin: &Skin,
    document: &Document,
    pace: Pace,
) -> anyhow::Result<Vec<(f64, Vec<f64>)>> {
    let in_file = || document.path.display().to_string();
    let samplings: Vec<Sampling> = (clips.iter())
        .map(|clip| Sampling::new(asked, clip, Some(skin), pace))
        .collect();
    let mut frames = 0u64;
    for sampling in &samplings {
        frames += sampling.frame_count().with_context(in_file)? as u64;
    }
    let vertices = skin.vertex_count();
    // Positions as they are shown, as examples, and as a file has them; poses of both.
    let bytes =
        3 * 24 * vertices + 2 * (96 * skin.skeleton.bone_count() + 8 * skin.coefficients.len());
    let what = || format!("{frames} frames of {vertices} vertices");
    let instead = "ask for fewer frames per second with --fps";
    check_memory(&[frames, bytes as u64], what, instead).with_context(in_file)?;
    let times = |sampling: Sampling| Ok((sampling.rate(), sampling.times()?));
    samplings.into_iter().map(times).collect()
}

/// The channels of a clip whose keys say when something happens: not those of bones and shapes that the
/// skin computes by itself, whose keys lie between the others'.
fn posed_part(clip: &Clip, skin: Option<&Skin>) -> Clip {
    let Some(skin) = skin else {
        return clip.clone();
    };
    let mut given = skin.unbaked(clip);
    // In a file the sliders of a mesh have the keys of what is driven, too.
    if !skin.pose_program.drivers.is_empty() && given.channels.iter().any(|c| c.bone().is_some()) {
        given.channels.retain(|c| c.bone().is_some());
    }
    given
}

/// What a file of a skin must hold: weights, motions, and how they were made.
pub(crate) const SKIN_FILE: &[Content] = &[Content::Skin, Content::Clips, Content::Record];

/// The format of a file to write. One that cannot hold what it must is refused before any work is done;
/// `what` begins the sentence, as in "a skin is".
pub(crate) fn output_format(
    output: &Path,
    contents: &[Content],
    what: &str,
) -> anyhow::Result<Format> {
    let format = Format::of(output)?;
    if !contents.iter().all(|&content| format.holds(content)) {
        bail!(
            "{}: {what} written as {}",
            output.display(),
            Format::writers_of(contents)
        );
    }
    Ok(format)
}

/// Says what a format has no place for of a document that is about to be written.
fn remark_left_out(document: &Document, format: Format, talk: &Talk) {
    let lost = [
        (Content::Skin, document.skin.is_some(), "the skin"),
        (Content::Clips, !document.clips.is_empty(), "the clips"),
    ];
    let lost: Vec<&str> = (lost.into_iter())
        .filter(|&(content, is_there, _)| is_there && !format.holds(content))
        .map(|(.., what)| what)
        .collect();
    if !lost.is_empty() {
        talk.remark(format!(
            "note: .{} files cannot hold {}: left out",
            format.extension(),
            lost.join(" and ")
        ));
    }
}
