//! Clips of one file on the skin of another: joints and sliders are the same when their names are.

use super::Document;
use crate::clip::{Channel, Clip, Keys};
use crate::rig::{Bone, BoneId, Skeleton};
use crate::skin::{Skin, SkinError};

/// Default transforms that differ by more than this are different: in lengths as a share of the skeleton's size, in
/// rotations as a quaternion's distance, in scales as they are.
const SAME_DEFAULT: f64 = 1e-3;

/// The clips of a file as motions of a skin, and what did not match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchedClips {
    /// With channels of the skin's own joints and sliders; none is empty.
    pub clips: Vec<Clip>,
    /// Joints that the file moves and the skin has not.
    pub unmatched: Vec<String>,
    /// Joints of the skin that no clip moves.
    pub still: Vec<String>,
    /// Joints that stand otherwise by default than the skin's. Keys are taken as they are: where they move such a
    /// joint it goes where they say, and elsewhere it stays as the skin has it.
    pub other_defaults: Vec<String>,
}

/// Why clips of a file cannot be played on a skin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipsError {
    /// There is nothing to move.
    #[error("expected a skin for the clips, found none")]
    NoSkin,
    /// There is no motion.
    #[error("expected a clip, found none")]
    NoClips,
    /// No name is that of a joint or slider of the skin.
    #[error("none of the joints that it moves ({}) has the name of a joint of the skin ({})",
        moved.join(", "), own.join(", "))]
    NothingMatches {
        /// Joints that the file moves.
        moved: Vec<String>,
        /// Joints of the skin.
        own: Vec<String>,
    },
    /// What the skin computes by itself cannot be baked into a clip.
    #[error("clip '{clip}': {source}")]
    Bake {
        /// The clip.
        clip: String,
        /// Why.
        source: SkinError,
    },
}

/// What happens to a clip whose name another one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameName {
    /// It gets a number behind its name.
    Number,
    /// It takes the other's place.
    Replace,
}

impl Document {
    /// The clips of another document as motions of this one's joints and sliders that have the same names.
    ///
    /// A clip without a name is named after its file.
    ///
    /// # Errors
    /// [`ClipsError`] when nothing of them moves the skin.
    pub fn matched_clips(&self, source: &Self) -> Result<MatchedClips, ClipsError> {
        let skin = self.skin.as_ref().ok_or(ClipsError::NoSkin)?;
        let of_skin = source.skin.as_ref().map(|skin| &skin.skeleton);
        let skeleton = of_skin.or(source.skeleton.as_ref());
        let (Some(skeleton), false) = (skeleton, source.clips.is_empty()) else {
            return Err(ClipsError::NoClips);
        };
        let matching = Matching::new(skeleton, source, skin);
        let unmatched = matching.unmatched(skeleton, source);
        let mut clips: Vec<Clip> = source
            .clips
            .iter()
            .map(|clip| matching.clip(clip))
            .collect();
        clips.retain(|clip| !clip.channels.is_empty());
        if clips.is_empty() {
            return Err(ClipsError::NothingMatches {
                moved: unmatched,
                own: posed_names(skin).map(ToOwned::to_owned).collect(),
            });
        }
        for clip in clips.iter_mut().filter(|clip| clip.name.is_empty()) {
            let stem = source.path.file_stem().unwrap_or_default();
            clip.name = stem.to_string_lossy().into_owned();
        }
        Ok(MatchedClips {
            unmatched,
            still: still(skin, &clips),
            other_defaults: other_defaults(skeleton, skin, &matching.bones),
            clips,
        })
    }

    /// Adds a clip with everything that the skin computes baked in, and returns its name.
    ///
    /// Spheres of the record held the old clips only, and are dropped.
    ///
    /// # Errors
    /// [`ClipsError::NoSkin`], [`ClipsError::Bake`].
    pub fn add_clip(&mut self, clip: &Clip, same_name: SameName) -> Result<String, ClipsError> {
        let skin = self.skin.as_ref().ok_or(ClipsError::NoSkin)?;
        let mut baked = skin.bake(clip).map_err(|source| ClipsError::Bake {
            clip: clip.name.clone(),
            source,
        })?;
        if let Some(record) = &mut self.record {
            record.bounds = None;
        }
        let same = self.clips.iter().position(|old| old.name == baked.name);
        if let (SameName::Replace, Some(old)) = (same_name, same) {
            let name = baked.name.clone();
            self.clips[old] = baked;
            return Ok(name);
        }
        let is_taken = |name: &str| self.clips.iter().any(|old| old.name == name);
        baked.name = free_name(&baked.name, is_taken);
        let name = baked.name.clone();
        self.clips.push(baked);
        Ok(name)
    }
}

/// A name, or the first of it with a number behind it that is not taken: `smile`, `smile_2`.
///
/// ```
/// let name = dermis::document::free_name("smile", |name| name == "smile");
/// assert_eq!(name, "smile_2");
/// ```
pub fn free_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let others = (2u64..).map(|n| format!("{name}_{n}"));
    std::iter::once(name.to_owned())
        .chain(others)
        .find(|name| !is_taken(name))
        .expect("there is always a further number")
}

/// What stands for each bone and each slider of another file.
struct Matching {
    bones: Vec<Option<BoneId>>,
    sliders: Vec<Option<usize>>,
}

impl Matching {
    fn new(skeleton: &Skeleton, source: &Document, skin: &Skin) -> Self {
        let bone = |bone: &Bone| {
            let at = posed_names(skin).position(|own| own == bone.name)?;
            Some(BoneId(at as u16))
        };
        let own = &skin.coefficients[..skin.posed_coefficient_count()];
        let sliders = source.skin.iter().flat_map(|skin| &skin.coefficients);
        Self {
            bones: skeleton.bones().iter().map(bone).collect(),
            sliders: sliders
                .map(|slider| own.iter().position(|own| own.name == slider.name))
                .collect(),
        }
    }

    /// Bones without a match that some clip of a file moves, without those that its own skin computes.
    fn unmatched(&self, skeleton: &Skeleton, source: &Document) -> Vec<String> {
        let posed = (source.skin.as_ref()).map_or(usize::MAX, Skin::posed_bone_count);
        let channels = || source.clips.iter().flat_map(|clip| &clip.channels);
        let is_moved = |id: &BoneId| channels().any(|channel| channel.bone() == Some(*id));
        (skeleton.ids().take(posed))
            .filter(|id| self.bones[id.index()].is_none() && is_moved(id))
            .map(|id| skeleton.bones()[id.index()].name.clone())
            .collect()
    }

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

/// Joints of a skin that no clip moves.
fn still(skin: &Skin, clips: &[Clip]) -> Vec<String> {
    let is_moved = |id: BoneId| {
        let mut channels = clips.iter().flat_map(|clip| &clip.channels);
        channels.any(|channel| channel.bone() == Some(id))
    };
    (skin.skeleton.ids().zip(posed_names(skin)))
        .filter(|(id, _)| !is_moved(*id))
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// Names of matched bones that have another place, rotation or scale by default.
fn other_defaults(skeleton: &Skeleton, skin: &Skin, bones: &[Option<BoneId>]) -> Vec<String> {
    let lengths = skin.skeleton.bones().iter();
    let size = lengths
        .map(|bone| bone.default_parent_from_bone.translation.length())
        .fold(0.0, f64::max);
    let differs = |(bone, own): &(&Bone, &Option<BoneId>)| {
        let Some(own) = own else {
            return false;
        };
        let a = bone.default_parent_from_bone;
        let b = skin.skeleton.bones()[own.index()].default_parent_from_bone;
        // q and -q are one rotation.
        let turned = 1.0 - a.rotation.dot(b.rotation).abs();
        a.translation.distance(b.translation) > SAME_DEFAULT * size
            || turned > SAME_DEFAULT * SAME_DEFAULT
            || a.scale.distance(b.scale) > SAME_DEFAULT
    };
    let pairs = skeleton.bones().iter().zip(bones).filter(differs);
    pairs.map(|(bone, _)| bone.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skin::Coefficient;
    use crate::synth::{TubeOptions, tube};

    /// A tube with a slider.
    fn document(bone_count: usize) -> Document {
        let made = tube(&TubeOptions {
            bone_count,
            ..TubeOptions::default()
        });
        let smile = Coefficient {
            name: "smile".to_owned(),
            default: 0.0,
        };
        Document {
            mesh: made.examples.rest().clone(),
            skin: Some(made.truth.with_sliders([smile])),
            ..Document::default()
        }
    }

    fn with_clip(mut document: Document, bones: &[u16], name: &str) -> Document {
        let keys = |value| Keys {
            interpolation: crate::clip::Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![value; 2],
        };
        let turn = |&bone: &u16| Channel::Rotation(BoneId(bone), keys(glam::DQuat::IDENTITY));
        let slide = Keys {
            interpolation: crate::clip::Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![vec![0.0], vec![1.0]],
        };
        let mut channels: Vec<Channel> = bones.iter().map(turn).collect();
        channels.push(Channel::Coefficients(0, slide));
        document.clips.push(Clip {
            name: name.to_owned(),
            channels,
        });
        document
    }

    #[test]
    fn joints_and_sliders_of_one_name_move_and_the_others_are_listed() {
        let skin = document(3);
        let mut source = with_clip(document(5), &[1, 4], "");
        source.path = "motions/wave.glb".into();
        let longer = source.skin.as_mut().expect("it has one");
        let bones = longer.skeleton.bones().iter().map(|bone| {
            let mut bone = bone.clone();
            bone.default_parent_from_bone.translation *= 2.0;
            bone
        });
        longer.skeleton = Skeleton::new(bones.collect()).expect("the same bones");
        let found = skin.matched_clips(&source).expect("a joint matches");
        assert_eq!(found.unmatched, ["bone_4"], "the skin has three");
        assert_eq!(found.still, ["bone_0", "bone_2"], "nobody moves them");
        let clip = &found.clips[0];
        assert_eq!(clip.name, "wave", "after its file");
        assert_eq!(clip.channels.len(), 2, "bone_1 and the slider");
        assert!(
            found.other_defaults.contains(&"bone_1".to_owned()),
            "twice as long: {:?}",
            found.other_defaults
        );
        let same = skin.matched_clips(&with_clip(document(3), &[1], "nod"));
        let same = same.expect("a joint matches");
        assert!(same.other_defaults.is_empty(), "{same:?}");
    }

    #[test]
    fn clips_that_move_nothing_of_a_skin_are_refused() {
        let skin = document(3);
        assert_eq!(
            skin.matched_clips(&document(3)),
            Err(ClipsError::NoClips),
            "no motion"
        );
        let mut stranger = with_clip(document(3), &[1], "nod");
        stranger.clips[0].channels.truncate(1);
        let other = stranger.skin.take().expect("it has one");
        let bones = other.skeleton.bones().iter().map(|bone| Bone {
            name: format!("other_{}", bone.name),
            ..bone.clone()
        });
        stranger.skeleton = Some(Skeleton::new(bones.collect()).expect("the same bones"));
        let error = skin.matched_clips(&stranger).expect_err("no name matches");
        let sentence = error.to_string();
        assert!(sentence.contains("(other_bone_1)"), "{sentence}");
        let nobody = Document::default().matched_clips(&stranger);
        assert_eq!(nobody, Err(ClipsError::NoSkin), "nothing to move");
    }

    #[test]
    fn a_clip_of_the_same_name_gets_a_number_or_takes_its_place() {
        let mut skin = with_clip(document(3), &[1], "nod");
        let clip = with_clip(document(3), &[2], "nod").clips.remove(0);
        let name = skin.add_clip(&clip, SameName::Number).expect("it is baked");
        assert_eq!(name, "nod_2", "the first free one");
        let name = skin
            .add_clip(&clip, SameName::Replace)
            .expect("it is baked");
        assert_eq!(name, "nod", "in its place");
        assert_eq!(skin.clips.len(), 2, "none more");
        let moved = skin.clips[0].channels[0].bone();
        assert_eq!(moved, Some(BoneId(2)), "the new one");
    }
}
