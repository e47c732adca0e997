//! `dermis bake-clips`: motions of other files on a skin.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::clip::{Channel, Keys};
use dermis::{BoneId, Clip, Skeleton, Skin};
use dermis_io::{Document, Format, WriteOptions};

use super::{legal, skin_of};
use crate::Outcome;
use crate::args::BakeClipsArgs;
use crate::examples::unused_name;
use crate::talk::{Talk, plural};

/// Default transforms that differ by more than this are different: in lengths as a share of the skeleton's size, in
/// rotations as a quaternion's distance, in scales as they are.
const SAME_REST: f64 = 1e-3;

/// Most names in one remark.
const MOST_NAMES: usize = 6;

pub(crate) fn run(args: &BakeClipsArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    if !matches!(Format::of(&args.output)?, Format::Glb | Format::Gltf) {
        bail!(
            "{}: clips are written with their skin, as .glb or .gltf",
            args.output.display()
        );
    }
    let mut document = dermis_io::read(&args.skin)?;
    talk.remark_notes(&document);
    skin_of(&document)?;
    // What an npz shows is a clip in glTF.
    legal::frames_to_clip(&mut document, talk)?;
    let mut added = Vec::new();
    for path in &args.clips {
        let source = dermis_io::read(path)?;
        talk.remark_notes(&source);
        for clip in matched_clips(skin_of(&document)?, &args.skin, &source, path, talk)? {
            added.push(add(&mut document, clip, &added, args.replace, talk)?);
        }
        talk.check_stopped()?;
    }
    if let Some(record) = &mut document.record
        && record.bounds.take().is_some()
    {
        talk.remark(
            "note: the spheres of the file held its old clips only and are left out; dermis bounds makes new ones",
        );
    }
    dermis_io::write(&args.output, &document, &WriteOptions::default())?;
    let quoted: Vec<String> = added.iter().map(|name| format!("'{name}'")).collect();
    talk.remark(format!(
        "added {}: {}; wrote {}",
        plural(added.len(), "clip"),
        quoted.join(", "),
        args.output.display()
    ));
    Ok(Outcome::Done)
}

/// Puts a clip into a document, with everything that the skin computes baked in, and returns its name.
fn add(
    document: &mut Document,
    clip: Clip,
    added: &[String],
    replace: bool,
    talk: &Talk,
) -> anyhow::Result<String> {
    let skin = skin_of(document)?;
    let mut baked = skin
        .bake(&clip)
        .with_context(|| format!("clip '{}'", clip.name))?;
    let same = document.clips.iter().position(|old| old.name == baked.name);
    if let (true, Some(old)) = (replace && !added.contains(&baked.name), same) {
        document.clips[old] = baked.clone();
        return Ok(baked.name);
    }
    let name = unused_name(baked.name.clone(), |name| {
        document.clips.iter().any(|old| old.name == name)
    });
    if name != baked.name {
        let instead = match replace {
            true => "",
            false => "; --replace would put it in the place of the other",
        };
        talk.remark(format!(
            "note: there is a clip '{}' already, so the new one is called '{name}'{instead}",
            baked.name
        ));
    }
    baked.name.clone_from(&name);
    document.clips.push(baked);
    Ok(name)
}

/// The clips of a file as motions of a skin's joints and sliders that have the same names.
fn matched_clips(
    skin: &Skin,
    skin_path: &Path,
    source: &Document,
    path: &Path,
    talk: &Talk,
) -> anyhow::Result<Vec<Clip>> {
    let of_skin = source.skin.as_ref().map(|skin| &skin.skeleton);
    let skeleton = of_skin.or(source.skeleton.as_ref());
    let (Some(skeleton), false) = (skeleton, source.clips.is_empty()) else {
        bail!("{}: expected a clip, found none", path.display());
    };
    let sliders: Vec<&str> = (source.skin.iter())
        .flat_map(|skin| &skin.coefficients)
        .map(|slider| slider.name.as_str())
        .collect();
    let matching = Matching {
        bones: bones_by_name(skeleton, skin),
        sliders: (sliders.iter())
            .map(|name| {
                let own = &skin.coefficients[..skin.posed_coefficient_count()];
                own.iter().position(|slider| slider.name == *name)
            })
            .collect(),
    };
    let moved = moved_bones(source, skeleton);
    let unmatched: Vec<&str> = (moved.iter())
        .filter(|bone| matching.bones[bone.index()].is_none())
        .map(|bone| skeleton.bones()[bone.index()].name.as_str())
        .collect();
    let mut clips: Vec<Clip> = source
        .clips
        .iter()
        .map(|clip| matching.clip(clip))
        .collect();
    clips.retain(|clip| !clip.channels.is_empty());
    if clips.is_empty() {
        let own: Vec<&str> = posed_names(skin).collect();
        bail!(
            "{}: none of the joints that it moves ({}) has the name of a joint of {} ({})",
            path.display(),
            listed(&unmatched),
            skin_path.display(),
            listed(&own)
        );
    }
    for clip in &mut clips {
        if clip.name.is_empty() {
            clip.name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
        }
    }
    if !unmatched.is_empty() {
        talk.remark(format!(
            "note: {} moves {} that {} does not have, which {} left out: {}",
            path.display(),
            plural(unmatched.len(), "joint"),
            skin_path.display(),
            if unmatched.len() == 1 { "is" } else { "are" },
            listed(&unmatched)
        ));
    }
    let is_moved = |id: BoneId| {
        let mut channels = clips.iter().flat_map(|clip| &clip.channels);
        channels.any(|channel| channel.bone() == Some(id))
    };
    let still: Vec<&str> = (skin.skeleton.ids().zip(posed_names(skin)))
        .filter(|(id, _)| !is_moved(*id))
        .map(|(_, name)| name)
        .collect();
    if !still.is_empty() {
        talk.remark(format!(
            "note: {} of {} {} still in the clips of {}: {}",
            plural(still.len(), "joint"),
            skin_path.display(),
            stands(still.len()),
            path.display(),
            listed(&still)
        ));
    }
    let other = other_rest(skeleton, skin, &matching.bones);
    if !other.is_empty() {
        talk.remark(format!(
            "note: {} of {} {} otherwise by default than in {}: {}; the keys are taken as they are, so \
             where they move a joint it goes where they say, and elsewhere it stays as the skin has it",
            plural(other.len(), "joint"),
            path.display(),
            stands(other.len()),
            skin_path.display(),
            listed(&other)
        ));
    }
    Ok(clips)
}

/// What stands for each bone and each slider of another file.
struct Matching {
    bones: Vec<Option<BoneId>>,
    sliders: Vec<Option<usize>>,
}

impl Matching {
    /// The part of a clip that moves something of the skin.
    fn clip(&self, clip: &Clip) -> Clip {
        let channel = |channel: &Channel| -> Vec<Channel> {
            let bone = |bone: &BoneId| self.bones[bone.index()];
            match channel {
                Channel::Translation(id, keys) => (bone(id).into_iter())
                    .map(|id| Channel::Translation(id, keys.clone()))
                    .collect(),
                Channel::Rotation(id, keys) => (bone(id).into_iter())
                    .map(|id| Channel::Rotation(id, keys.clone()))
                    .collect(),
                Channel::Scale(id, keys) => (bone(id).into_iter())
                    .map(|id| Channel::Scale(id, keys.clone()))
                    .collect(),
                Channel::Coefficients(first, keys) => {
                    let width = keys.values.first().map_or(0, Vec::len);
                    let slider = |m: usize| {
                        let own = self.sliders.get(first + m).copied().flatten()?;
                        let values = keys.values.iter().map(|value| vec![value[m]]);
                        let keys = Keys {
                            interpolation: keys.interpolation,
                            times: keys.times.clone(),
                            values: values.collect(),
                        };
                        Some(Channel::Coefficients(own, keys))
                    };
                    (0..width).filter_map(slider).collect()
                }
            }
        };
        Clip {
            name: clip.name.clone(),
            channels: clip.channels.iter().flat_map(channel).collect(),
        }
    }
}

/// Names of the joints that a pose gives.
fn posed_names(skin: &Skin) -> impl Iterator<Item = &str> {
    let bones = skin.skeleton.bones().iter().take(skin.posed_bone_count());
    bones.map(|bone| bone.name.as_str())
}

/// For each bone of another skeleton the posed bone of the skin that has its name.
fn bones_by_name(skeleton: &Skeleton, skin: &Skin) -> Vec<Option<BoneId>> {
    let find = |name: &str| {
        let at = posed_names(skin).position(|own| own == name)?;
        Some(BoneId(at as u16))
    };
    skeleton
        .bones()
        .iter()
        .map(|bone| find(&bone.name))
        .collect()
}

/// Bones that some clip of a file moves, without those that its own skin computes.
fn moved_bones(source: &Document, skeleton: &Skeleton) -> Vec<BoneId> {
    let posed = source
        .skin
        .as_ref()
        .map_or(usize::MAX, Skin::posed_bone_count);
    let channels = || source.clips.iter().flat_map(|clip| &clip.channels);
    let is_moved = |id: &BoneId| channels().any(|channel| channel.bone() == Some(*id));
    let ids = skeleton.ids().take(posed);
    ids.filter(is_moved).collect()
}

/// Names of matched bones that have another place, rotation or scale by default.
fn other_rest<'a>(skeleton: &'a Skeleton, skin: &Skin, bones: &[Option<BoneId>]) -> Vec<&'a str> {
    let lengths = skin.skeleton.bones().iter();
    let size = lengths
        .map(|bone| bone.default_parent_from_bone.translation.length())
        .fold(0.0, f64::max);
    let differs = |(bone, own): &(&'a dermis::rig::Bone, &Option<BoneId>)| {
        let Some(own) = own else {
            return false;
        };
        let a = bone.default_parent_from_bone;
        let b = skin.skeleton.bones()[own.index()].default_parent_from_bone;
        // q and -q are one rotation.
        let turned = 1.0 - a.rotation.dot(b.rotation).abs();
        a.translation.distance(b.translation) > SAME_REST * size
            || turned > SAME_REST * SAME_REST
            || a.scale.distance(b.scale) > SAME_REST
    };
    let pairs = skeleton.bones().iter().zip(bones).filter(differs);
    pairs.map(|(bone, _)| bone.name.as_str()).collect()
}

fn stands(count: usize) -> &'static str {
    if count == 1 { "stands" } else { "stand" }
}

fn listed(names: &[&str]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}
