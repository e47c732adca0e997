//! From files to a set of examples: meshes, and the pose of the skeleton in each.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::fit::{BoneGuess, BoneOptions, fit_bones};
use dermis::mesh::Aabb;
use dermis::{Clip, Example, ExampleSet, Pose, Skeleton, Skin, Split};
use dermis_io::Document;
use glam::DVec3;

use crate::args::ExampleArgs;
use crate::cmd::rig::example_meshes;
use crate::cmd::{choose_clip, read_inputs, sampling_rate};
use crate::input_args::{MatchArgs, Of};
use crate::matching::{Pair, check_rig, is_other_order, read_beside};
use crate::talk::Talk;

/// Examples, and what the file around them has that a fit should keep.
pub(crate) struct Prepared {
    pub(crate) set: ExampleSet,
    /// Mesh, attributes and materials for the file that will be written.
    pub(crate) look: Document,
    /// Motions to write with the skin.
    pub(crate) clips: Vec<Clip>,
    /// The skin that the rig came with, when it moves the same vertices.
    pub(crate) rig_skin: Option<Skin>,
}

/// Reads the meshes of a command and finds the pose of each.
pub(crate) fn prepare_examples(args: &ExampleArgs, talk: &Talk) -> anyhow::Result<Prepared> {
    let source = PoseSource {
        skeleton: args.skeleton.as_deref(),
        bones: args.bones,
        clip: args.clip.as_deref(),
        fps: args.fps,
        matching: args.sequence.matching,
    };
    prepare(
        read_inputs(&args.inputs, &args.sequence, talk)?,
        &source,
        talk,
    )
}

/// Where the poses of the examples come from.
pub(crate) struct PoseSource<'a> {
    pub(crate) skeleton: Option<&'a Path>,
    /// How many bones to find from the meshes alone.
    pub(crate) bones: Option<usize>,
    pub(crate) clip: Option<&'a str>,
    pub(crate) fps: Option<f64>,
    pub(crate) matching: MatchArgs,
}

/// Puts meshes and poses together.
pub(crate) fn prepare(
    document: Document,
    source: &PoseSource<'_>,
    talk: &Talk,
) -> anyhow::Result<Prepared> {
    let (document, skeleton, poses, clips, rig_skin) = match (source.skeleton, source.bones) {
        (Some(path), _) => with_skeleton_from(document, path, source, talk)?,
        (None, Some(count)) => with_found_bones(document, count, source, talk)?,
        (None, None) if !document.frames.is_empty() => with_own_poses(document, source, talk)?,
        (None, None) => from_own_clips(document, source)?,
    };
    let examples = document
        .frames
        .iter()
        .zip(poses)
        .map(|(frame, pose)| Example {
            name: frame.name.clone(),
            pose: Pose::new(pose.parent_from_bone),
            positions: frame.positions.clone(),
        })
        .collect();
    let mut set = ExampleSet::new(document.mesh.clone(), skeleton, examples)
        .with_context(|| document.path.display().to_string())?;
    if let Some(rig) = source.skeleton {
        let pair = Pair {
            meshes: &document.path,
            rest: rig,
            of: Of::All,
        };
        check_rig(&set, pair, &source.matching)?;
    }
    if let Some(skin) = &rig_skin {
        let stored = Aabb::of(&skin.evaluate(&skin.skeleton.rest_pose())?);
        let is_ours = |b: Aabb| (b.diagonal() / set.size() - 1.0).abs() < 0.01;
        let size = skin.size()?;
        // Bind matrices that scale make another size; rounding makes none, and nor does a rig elsewhere.
        if stored.is_some_and(is_ours) && (size / set.size() - 1.0).abs() > 1e-6 {
            set = set.with_size(size);
        }
    }
    Ok(Prepared {
        set,
        look: document,
        clips,
        rig_skin,
    })
}

type Assembled = (Document, Skeleton, Vec<Pose>, Vec<Clip>, Option<Skin>);

/// A file that says which pose each of its frames is in.
fn with_own_poses(
    document: Document,
    source: &PoseSource<'_>,
    talk: &Talk,
) -> anyhow::Result<Assembled> {
    let skeleton = own_skeleton(&document);
    let (Some(skeleton), false) = (skeleton, document.frame_poses.is_empty()) else {
        bail!(
            "{}: has {} meshes but not the skeleton's pose in each; \
             give a rigged file with --skeleton, or let bones be found with --bones N",
            document.path.display(),
            document.frames.len()
        );
    };
    let poses = document.frame_poses.clone();
    let fps = source.fps.or(document.frames_per_second).unwrap_or(24.0);
    let clips = bake(&skeleton, &poses, fps, talk);
    let rig_skin = document.skin.clone();
    Ok((document, skeleton, poses, clips, rig_skin))
}

/// Meshes alone: bones are found first, as `dermis rig` does.
fn with_found_bones(
    mut document: Document,
    count: usize,
    source: &PoseSource<'_>,
    talk: &Talk,
) -> anyhow::Result<Assembled> {
    let meshes = example_meshes(&document, false)?;
    let guess = BoneGuess::Count(count);
    let found = fit_bones(
        &document.mesh,
        &meshes,
        &guess,
        &BoneOptions::default(),
        talk,
    )
    .with_context(|| document.path.display().to_string())?;
    document.frames = meshes
        .into_iter()
        .map(|mesh| dermis_io::Frame {
            name: mesh.name,
            positions: mesh.positions,
        })
        .collect();
    let set = found.examples;
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let fps = source.fps.or(document.frames_per_second).unwrap_or(24.0);
    let clips = bake(set.skeleton(), &poses, fps, talk);
    Ok((document, set.skeleton().clone(), poses, clips, None))
}

fn own_skeleton(document: &Document) -> Option<Skeleton> {
    let of_skin = document.skin.as_ref().map(|skin| skin.skeleton.clone());
    of_skin.or_else(|| document.skeleton.clone())
}

/// Meshes from one file, their poses from another.
fn with_skeleton_from(
    mut document: Document,
    path: &Path,
    source: &PoseSource<'_>,
    talk: &Talk,
) -> anyhow::Result<Assembled> {
    if document.frames.is_empty() {
        bail!(
            "{}: expected example meshes, found a single one: give the sequence as input and the \
             rig with --skeleton",
            document.path.display()
        );
    }
    let rig = read_beside(path, &source.matching.up, talk)?;
    let Some(skeleton) = own_skeleton(&rig) else {
        bail!("{}: expected a skeleton, found none", path.display());
    };
    let count = document.frames.len();
    let poses = if source.clip.is_none() && rig.frame_poses.len() == count {
        rig.frame_poses.clone()
    } else if source.clip.is_none() && rig.clips.is_empty() && !rig.frame_poses.is_empty() {
        bail!(
            "{}: has {} poses, but {} has {count} meshes",
            path.display(),
            rig.frame_poses.len(),
            document.path.display()
        );
    } else {
        let clip = choose_clip(&rig, source.clip)?;
        let times = frame_times(clip, count, source.fps.or(document.frames_per_second), talk);
        times
            .iter()
            .map(|&time| clip.sample(&skeleton, &[], time))
            .collect()
    };
    take_stored_rest(&mut document, &rig, talk);
    compare_places(&document, &rig, talk);
    take_look(&mut document, &rig);
    let fps = source.fps.or(document.frames_per_second).unwrap_or(24.0);
    let clips = bake(&skeleton, &poses, fps, talk);
    let has_weights = rig.mesh.vertex_count() == document.mesh.vertex_count();
    let is_mixed = has_weights && is_other_order(&rig, &document.mesh);
    if is_mixed {
        talk.remark(format!(
            "note: the vertices of {} are in another order than the meshes', so its weights are left out",
            path.display()
        ));
    }
    let rig_skin = rig.skin.filter(|_| has_weights && !is_mixed);
    Ok((document, skeleton, poses, clips, rig_skin))
}

/// A skinned file on its own: what its clips show is what should be fitted.
fn from_own_clips(mut document: Document, source: &PoseSource<'_>) -> anyhow::Result<Assembled> {
    let path = document.path.display().to_string();
    let Some(skin) = document.skin.clone() else {
        bail!("{path}: has no example meshes: give a sequence, or a skinned file with clips");
    };
    let chosen: Vec<Clip> = match source.clip {
        Some(_) => vec![choose_clip(&document, source.clip)?.clone()],
        None => document.clips.clone(),
    };
    if chosen.is_empty() {
        bail!("{path}: has a skin but no clip, so there are no poses to fit to");
    }
    let mut poses = Vec::new();
    for clip in &chosen {
        let fps = sampling_rate(source.fps, clip, Some(&skin));
        for (k, time) in clip.frame_times(fps).into_iter().enumerate() {
            let pose = skin.sample(clip, time);
            document.frames.push(dermis_io::Frame {
                name: format!("{} {k}", clip.name),
                positions: skin.evaluate(&pose).with_context(|| path.clone())?,
            });
            poses.push(pose);
        }
    }
    let clips = document.clips.clone();
    Ok((document, skin.skeleton.clone(), poses, clips, Some(skin)))
}

/// When the frames of a sequence happen in a clip.
fn frame_times(clip: &Clip, count: usize, fps: Option<f64>, talk: &Talk) -> Vec<f64> {
    let (start, end) = (clip.start(), clip.end());
    match fps {
        Some(fps) => (0..count).map(|k| start + k as f64 / fps).collect(),
        None => {
            let step = (end - start) / count.saturating_sub(1).max(1) as f64;
            talk.remark(format!(
                "note: the {count} meshes are taken to be spread evenly over clip '{}' \
                 ({start:.3} s to {end:.3} s); --fps says otherwise",
                clip.name
            ));
            (0..count).map(|k| start + k as f64 * step).collect()
        }
    }
}

/// A clip of the examples' poses, or a remark why there can be none.
pub(crate) fn bake(skeleton: &Skeleton, poses: &[Pose], fps: f64, talk: &Talk) -> Vec<Clip> {
    match Clip::from_poses("examples", skeleton, poses, fps) {
        Ok(clip) => vec![clip],
        Err(error) => {
            talk.remark(format!(
                "note: the examples' poses are not written as a clip: {error}"
            ));
            Vec::new()
        }
    }
}

/// Takes the rest mesh as the rig stores it, where the meshes have it as the rig draws it: bind matrices that scale
/// or turn make the two different, and they are made for the first.
fn take_stored_rest(document: &mut Document, rig: &Document, talk: &Talk) {
    let drawn = rig.skin.as_ref().and_then(|skin| skin.drawn_at_rest().ok());
    let Some(drawn) = drawn else {
        return;
    };
    let are_near = |points: &[DVec3]| {
        let near = 1e-3 * document.mesh.bounds().diagonal();
        let mut pairs = points.iter().zip(document.mesh.positions());
        points.len() == document.mesh.vertex_count() && pairs.all(|(a, b)| a.distance(*b) <= near)
    };
    if are_near(&drawn) && !are_near(rig.mesh.positions()) {
        talk.remark(format!(
            "note: the rest mesh is taken as {} stores it: its bind matrices scale or turn it to where the \
             meshes have it",
            rig.path.display()
        ));
        document.mesh = rig.mesh.clone();
    }
}

/// Warns when mesh and rig do not stand in the same place.
fn compare_places(document: &Document, rig: &Document, talk: &Talk) {
    if rig.mesh.vertex_count() == 0 {
        return;
    }
    let (a, b) = (document.mesh.bounds(), rig.mesh.bounds());
    let apart = a.min.distance(b.min).max(a.max.distance(b.max));
    if apart > 0.05 * a.diagonal().max(b.diagonal()) {
        talk.remark(format!(
            "warning: the rest mesh of {} and the mesh of {} do not fill the same box \
             ({:.3} apart); is one of them turned (y up, z up) or scaled?",
            document.path.display(),
            rig.path.display(),
            apart
        ));
    }
}

/// Takes attributes and materials from the rig when it draws the same points.
fn take_look(document: &mut Document, rig: &Document) {
    let same_points = rig.mesh.vertex_count() == document.mesh.vertex_count() && {
        let near = 1e-4 * document.mesh.bounds().diagonal();
        let pairs = rig.mesh.positions().iter().zip(document.mesh.positions());
        pairs.into_iter().all(|(a, b)| a.distance(*b) <= near)
    };
    if same_points && !rig.draw.parts.is_empty() {
        document.draw = rig.draw.clone();
        document.materials = rig.materials.clone();
    }
}

/// Reads `--hold-out`.
pub(crate) fn parse_split(text: &str, set: &ExampleSet) -> anyhow::Result<Split> {
    let expected = "expected every:N, one, none, numbers such as 3,7,9, or names such as 'run_*'";
    let example_count = set.examples().len();
    let split = match text {
        "none" => Split::TrainOnAll,
        "one" => Split::LeaveOneOut,
        _ if text.contains('*') => {
            let matches = |k: &usize| matches_pattern(text, &set.examples()[*k].name);
            let named: Vec<usize> = (0..example_count).filter(matches).collect();
            if named.is_empty() {
                bail!(
                    "--hold-out {text}: no example has such a name; the first is '{}'",
                    set.examples().first().map_or("", |e| e.name.as_str())
                );
            }
            Split::HoldOut(named)
        }
        _ => match text.strip_prefix("every:") {
            Some(n) => match n.parse::<usize>() {
                // Fewer examples than that leave none to hold out.
                Ok(n) if n >= 2 && n > example_count => Split::TrainOnAll,
                Ok(n) if n >= 2 => Split::EveryNth(n),
                _ => bail!("--hold-out {text}: expected a whole number of at least 2 after every:"),
            },
            None => {
                let numbers: Result<Vec<usize>, _> = text
                    .split(',')
                    .map(|number| number.trim().parse())
                    .collect();
                Split::HoldOut(numbers.with_context(|| format!("--hold-out {text}: {expected}"))?)
            }
        },
    };
    Ok(split)
}

/// True when a name fits a pattern in which `*` stands for any letters.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|&at| rest.is_char_boundary(at))
                .any(|at| matches_pattern(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(matches_pattern("g_*", "g_0007"), "a prefix");
        assert!(matches_pattern("*_b", "a_b"), "a suffix");
        assert!(matches_pattern("a*c*e", "abcde"), "both and between");
        assert!(!matches_pattern("g_*", "10"), "another name");
        assert!(!matches_pattern("*x", "größe"), "letters of several bytes");
    }
}
