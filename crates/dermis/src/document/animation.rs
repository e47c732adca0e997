//! The frames and clips of documents as one animation of a mesh.

use super::matching::can_reorder;
use super::motion::FRAMES_PER_SECOND;
use super::{Document, DocumentError, Frame, MatchError, MatchOptions, MatchPair, Note};
use super::{free_name, match_frames};
use crate::clip::Clip;
use crate::example::{MeshAnimation, MeshClip};

/// A document that moves, and what its motion is called where it does not say.
#[derive(Debug, Clone)]
pub struct NamedMotion {
    /// The name for frames, and for a clip without a name.
    pub name: String,
    /// Its frames, or a skin with clips.
    pub document: Document,
}

/// How documents become an animation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnimationOptions {
    /// Frames per second of frames, and at which clips are played. Default: as the documents say, or as the keys of
    /// their clips lie.
    pub frames_per_second: Option<f64>,
    /// Whether frames without a rate may be poses that have nothing to do with each other; else they are a motion of
    /// 24 frames per second. Default: yes.
    pub may_be_poses: bool,
    /// What to do with meshes that seem not to belong together.
    pub matching: MatchOptions,
}

impl Default for AnimationOptions {
    fn default() -> Self {
        Self {
            frames_per_second: None,
            may_be_poses: true,
            matching: MatchOptions::default(),
        }
    }
}

/// Meshes that move, and the document that says what they look like.
#[derive(Debug, Clone)]
pub struct AssembledAnimation {
    /// The motions, each a clip.
    pub animation: MeshAnimation,
    /// The first document: mesh, attributes, materials; its frames are taken out.
    pub look: Document,
    /// Whether each clip is a set of poses, held one after another, and no motion.
    pub held: Vec<bool>,
    /// What was assumed.
    pub notes: Vec<Note>,
}

/// Puts the motions of one mesh together: frames of a document are a clip, and a skin gives what its clips show.
///
/// All share the first one's rest mesh.
///
/// # Errors
/// [`DocumentError`].
///
/// # Panics
/// Without a document.
pub fn assemble_animation(
    motions: Vec<NamedMotion>,
    options: &AnimationOptions,
) -> Result<AssembledAnimation, DocumentError> {
    let asked = options.frames_per_second;
    let mut look: Option<Document> = None;
    let mut clips: Vec<MeshClip> = Vec::new();
    let mut held = Vec::new();
    let mut notes = Vec::new();
    for NamedMotion { name, mut document } in motions {
        if let Some(first) = &look {
            check_same_mesh(first, &document, &options.matching)?;
        }
        let rate = match options.may_be_poses {
            true => {
                let rate = document.motion_rate(asked);
                notes.extend(rate.note);
                rate.frames_per_second
            }
            false => (asked.or(document.frames_per_second)).or(Some(FRAMES_PER_SECOND)),
        };
        let mut found = clips_of(&mut document, &name, asked, rate)?;
        if let Some(first) = &look {
            let note = match_clips(first, &document, &mut found, &options.matching)?;
            notes.extend(note);
        }
        for (clip, is_held) in found {
            let is_taken = |name: &str| clips.iter().any(|clip| clip.name == name);
            clips.push(MeshClip {
                name: free_name(&clip.name, is_taken),
                ..clip
            });
            held.push(is_held);
        }
        look.get_or_insert(document);
    }
    let look = look.expect("at least one document is given");
    let animation = MeshAnimation::new(look.mesh.clone(), clips);
    let mut animation = animation.map_err(DocumentError::in_file(&look.path))?;
    if let Some(skin) = &look.skin {
        let size = skin.size().map_err(DocumentError::in_file(&look.path))?;
        animation = animation.with_size(size);
    }
    Ok(AssembledAnimation {
        animation,
        look,
        held,
        notes,
    })
}

/// The motions of one document, and whether each is held poses instead; `rate` is that of its frames.
fn clips_of(
    document: &mut Document,
    name: &str,
    asked: Option<f64>,
    rate: Option<f64>,
) -> Result<Vec<(MeshClip, bool)>, DocumentError> {
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
        return Err(document.no_motion());
    };
    let all: Vec<&Clip> = document.clips.iter().collect();
    let played = document.play_clips(&all, asked)?;
    let clips = all.into_iter().zip(played).map(|(clip, played)| {
        let is_held = asked.is_none() && skin.unbaked(clip).is_held();
        let clip = MeshClip {
            name: match clip.name.is_empty() {
                true => name.to_owned(),
                false => clip.name.clone(),
            },
            frames: played.frames,
            frames_per_second: played.frames_per_second,
        };
        (clip, is_held)
    });
    Ok(clips.collect())
}

/// Refuses a document of another mesh.
fn check_same_mesh(
    first: &Document,
    other: &Document,
    options: &MatchOptions,
) -> Result<(), MatchError> {
    let (meshes, rest) = (other.path.clone(), first.path.clone());
    let (expected, found) = (first.mesh.vertex_count(), other.mesh.vertex_count());
    if expected != found {
        return Err(MatchError::VertexCount {
            meshes,
            found,
            rest,
            expected,
        });
    }
    let (a, b) = (first.mesh.triangles(), other.mesh.triangles());
    let may_differ = options.reorder || options.force;
    // A cloud of points says nothing about faces.
    if may_differ || a.is_empty() || b.is_empty() || a == b {
        return Ok(());
    }
    Err(MatchError::Faces {
        meshes,
        rest,
        can_reorder: can_reorder(&first.mesh, &other.mesh),
    })
}

/// Holds the clips of another document against the first one's rest mesh.
fn match_clips(
    first: &Document,
    other: &Document,
    clips: &mut [(MeshClip, bool)],
    options: &MatchOptions,
) -> Result<Vec<Note>, MatchError> {
    let frames = clips.iter_mut().flat_map(|(clip, _)| {
        let name = &clip.name;
        (clip.frames.iter_mut().enumerate()).map(move |(k, positions)| Frame {
            name: format!("{name} {k}"),
            positions: std::mem::take(positions),
        })
    });
    let mut frames: Vec<Frame> = frames.collect();
    let pair = MatchPair {
        meshes: &other.path,
        rest: &first.path,
        is_own_rest: false,
    };
    let notes = match_frames(&first.rest_meshes(), &mut frames, pair, options)?;
    let places = clips.iter_mut().flat_map(|(clip, _)| &mut clip.frames);
    for (positions, frame) in places.zip(frames) {
        *positions = frame.positions;
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TriMesh;
    use crate::document::testing::{meshes_alone, tube_with_clips, tube_with_frames};

    fn motion(name: &str, document: Document) -> NamedMotion {
        NamedMotion {
            name: name.to_owned(),
            document,
        }
    }

    fn names(found: &AssembledAnimation) -> Vec<&str> {
        let clips = found.animation.clips().iter();
        clips.map(|clip| clip.name.as_str()).collect()
    }

    #[test]
    fn frames_and_clips_of_one_mesh_are_one_animation() {
        let motions = vec![
            motion("walk", meshes_alone(&tube_with_frames())),
            motion("rig", tube_with_clips(&["run", "walk"])),
        ];
        let found = assemble_animation(motions, &AnimationOptions::default());
        let found = found.expect("one mesh");
        assert_eq!(names(&found), ["walk", "run", "walk_2"], "each is a clip");
        assert_eq!(found.animation.frame_count(), 18, "six each");
        assert_eq!(found.held, [false; 3], "with a rate they are motions");
        assert!(found.look.frames.is_empty(), "frames are in the animation");
        assert_eq!(found.notes, [], "nothing was assumed");
    }

    #[test]
    fn unrelated_meshes_are_poses_unless_they_belong_to_a_motion() {
        let mut meshes = meshes_alone(&tube_with_frames());
        meshes.frames_per_second = None;
        for (k, by) in [3, 0, 5, 1, 4, 2].into_iter().enumerate() {
            meshes.frames[k].positions = tube_with_frames().frames[by].positions.clone();
        }
        let motions = || vec![motion("scan", meshes.clone())];
        let poses = assemble_animation(motions(), &AnimationOptions::default());
        let poses = poses.expect("poses");
        assert_eq!(names(&poses), ["scan_poses"], "called what they are");
        assert_eq!(poses.held, [true], "no motion");
        assert_eq!(poses.notes, [Note::TakenForPoses { mesh_count: 6 }], "said");
        let known = AnimationOptions {
            may_be_poses: false,
            ..AnimationOptions::default()
        };
        let known = assemble_animation(motions(), &known).expect("a motion");
        assert_eq!(names(&known), ["scan"], "called what it is");
        assert_eq!(known.held, [false], "a motion");
    }

    #[test]
    fn other_faces_are_refused_with_what_may_help() {
        let tube = meshes_alone(&tube_with_frames());
        let count = tube.mesh.vertex_count();
        let new_of_old = |v: u32| (v as usize * 37 + 5) % count;
        let mut mixed = tube.clone();
        let shuffle = |points: &[glam::DVec3]| {
            let mut shuffled = points.to_vec();
            for (v, point) in points.iter().enumerate() {
                shuffled[new_of_old(v as u32)] = *point;
            }
            shuffled
        };
        let faces = tube.mesh.triangles().iter();
        let faces = faces.map(|face| face.map(|v| new_of_old(v) as u32));
        let points = shuffle(tube.mesh.positions());
        mixed.mesh = TriMesh::new(points, faces.collect()).expect("the same tube");
        // One shape must be in the rest pose for an order to be seen.
        mixed.frames[0].positions = tube.mesh.positions().to_vec();
        for frame in &mut mixed.frames {
            frame.positions = shuffle(&frame.positions);
        }
        let motions = || vec![motion("a", tube.clone()), motion("b", mixed.clone())];
        let error = assemble_animation(motions(), &AnimationOptions::default());
        let error = error.expect_err("other faces");
        assert!(
            matches!(
                error,
                DocumentError::Match(MatchError::Faces {
                    can_reorder: true,
                    ..
                })
            ),
            "{error:?}"
        );
        let reorder = AnimationOptions {
            matching: MatchOptions {
                reorder: true,
                ..MatchOptions::default()
            },
            ..AnimationOptions::default()
        };
        let found = assemble_animation(motions(), &reorder).expect("put in order");
        let frames: Vec<_> = found.animation.frames().collect();
        assert_eq!(frames[1], frames[7], "both are the same motion");
        let mut smaller = meshes_alone(&tube);
        smaller.mesh = TriMesh::new(vec![glam::DVec3::ZERO; 4], Vec::new()).expect("points");
        let error = assemble_animation(
            vec![motion("a", tube), motion("b", smaller)],
            &AnimationOptions::default(),
        );
        assert!(
            matches!(
                error,
                Err(DocumentError::Match(MatchError::VertexCount {
                    found: 4,
                    ..
                }))
            ),
            "{error:?}"
        );
    }
}
