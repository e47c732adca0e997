//! What is good to know about examples and animations that were put together.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something that was repaired, left out or assumed.
///
/// Its sentence ends without a full stop, so that a program can add what its user may do about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// What reading a file repaired or left out.
    Reading {
        /// The file.
        path: PathBuf,
        /// The sentence, as in [`Document::notes`](super::Document::notes).
        text: String,
    },
    /// A file was not turned although it was said to be z up: its format is y up by its standard.
    NotTurned {
        /// The file.
        path: PathBuf,
    },
    /// The vertices of meshes were put in the order of their rest mesh.
    Reordered {
        /// How many meshes were in another order.
        mesh_count: usize,
        /// The file of the rest mesh.
        rest: PathBuf,
    },
    /// Edges that are short in the rest mesh reach across most meshes: a few vertices may be in another order.
    FarEdges {
        /// The file of the meshes.
        meshes: PathBuf,
        /// The file of the rest mesh.
        rest: PathBuf,
        /// How many edges.
        count: usize,
        /// The vertices of the first one.
        first: [u32; 2],
    },
    /// Meshes without a frame rate are taken for poses that have nothing to do with each other.
    TakenForPoses {
        /// How many meshes there are.
        mesh_count: usize,
    },
    /// Meshes without a frame rate are taken to be spread evenly over a clip.
    SpreadOverClip {
        /// How many meshes there are.
        mesh_count: usize,
        /// The clip.
        clip: String,
        /// Where the clip begins, in seconds.
        start: f64,
        /// Where it ends, in seconds.
        end: f64,
    },
    /// The poses of the examples cannot be written as a clip.
    NoClipOfPoses {
        /// Why not.
        problem: String,
    },
    /// The rest mesh is taken as the rig stores it, and not as the meshes have it.
    StoredRestTaken {
        /// The file of the rig.
        rig: PathBuf,
    },
    /// Meshes and rig do not stand in the same place.
    OtherPlace {
        /// The file of the meshes.
        meshes: PathBuf,
        /// The file of the rig.
        rig: PathBuf,
        /// Largest distance between the corners of their boxes, in model units.
        apart: f64,
    },
    /// The vertices of a rig are in another order than the meshes', so its weights are left out.
    WeightsLeftOut {
        /// The file of the rig.
        rig: PathBuf,
    },
    /// A skeleton comes without weights for these vertices: each bone gets the vertices nearest to it.
    NearestVertices {
        /// The file of the skeleton.
        rig: PathBuf,
        /// How many vertices there are.
        vertex_count: usize,
    },
    /// A rig has no clip: its pose in each frame is found from the meshes.
    PosesFound {
        /// The file of the rig.
        rig: PathBuf,
    },
    /// Morph targets of a rig are left out.
    ShapesLeftOut {
        /// The file of the rig.
        rig: PathBuf,
        /// How many there are.
        count: usize,
    },
    /// A motion and the clip of a rig that belongs to it do not end together.
    OtherDuration {
        /// The motion.
        motion: String,
        /// How many frames it has.
        frame_count: usize,
        /// How fast they play.
        frames_per_second: f64,
        /// Where it ends, in seconds.
        end: f64,
        /// The file of the rig.
        rig: PathBuf,
        /// The clip.
        clip: String,
        /// Where that ends, in seconds.
        clip_end: f64,
    },
    /// A rig is so far from the meshes that it is probably another's, or stands otherwise.
    FarOff {
        /// The file of the rig.
        rig: PathBuf,
        /// Error of the rig as it was given, in its poses.
        e_rms: f64,
    },
}

impl Note {
    /// What reading a file said, sentence by sentence.
    pub fn of_reading(path: &Path, notes: &[String]) -> Vec<Self> {
        let note = |text: &String| Self::Reading {
            path: path.to_owned(),
            text: text.clone(),
        };
        notes.iter().map(note).collect()
    }

    /// True when the result may not be what was wanted.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::OtherPlace { .. }
                | Self::ShapesLeftOut { .. }
                | Self::OtherDuration { .. }
                | Self::FarOff { .. }
                | Self::FarEdges { .. }
        )
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Notes of a sequence name the file that they are about.
            Self::Reading { path, text } if text.starts_with(&*path.to_string_lossy()) => {
                write!(f, "{text}")
            }
            Self::Reading { path, text } => write!(f, "{}: {text}", path.display()),
            Self::NotTurned { path } => write!(
                f,
                "{} is not turned: glTF files are y up by their standard",
                path.display()
            ),
            Self::Reordered { mesh_count: 0, .. } => {
                write!(f, "all vertices are in the order of the rest mesh already")
            }
            Self::Reordered { mesh_count, rest } => write!(
                f,
                "the vertices of {mesh_count} mesh{} were put in the order of {}",
                if *mesh_count == 1 { "" } else { "es" },
                rest.display()
            ),
            Self::FarEdges {
                meshes,
                rest,
                count,
                first: [a, b],
            } => write!(
                f,
                "{}: {count} edge{} short in {} and reach{} across the character in most meshes, such as the one \
                 from vertex {a} to vertex {b}: these vertices seem to be in another order",
                meshes.display(),
                if *count == 1 { " is" } else { "s are" },
                rest.display(),
                if *count == 1 { "es" } else { "" },
            ),
            Self::TakenForPoses { mesh_count } => write!(
                f,
                "nothing says how fast the {mesh_count} meshes follow each other, and neighbours are not \
                 much more alike than others: they are taken for poses, a second each"
            ),
            Self::SpreadOverClip {
                mesh_count,
                clip,
                start,
                end,
            } => write!(
                f,
                "the {mesh_count} meshes are taken to be spread evenly over clip '{clip}' \
                 ({start:.3} s to {end:.3} s)"
            ),
            Self::NoClipOfPoses { problem } => write!(
                f,
                "the examples' poses are not written as a clip: {problem}"
            ),
            Self::StoredRestTaken { rig } => write!(
                f,
                "the rest mesh is taken as {} stores it: its bind matrices scale or turn it to where the \
                 meshes have it",
                rig.display()
            ),
            Self::OtherPlace { meshes, rig, apart } => write!(
                f,
                "the rest mesh of {} and the mesh of {} do not fill the same box ({apart:.3} apart); is \
                 one of them turned (y up, z up) or scaled?",
                meshes.display(),
                rig.display()
            ),
            Self::WeightsLeftOut { rig } => write!(
                f,
                "the vertices of {} are in another order than the meshes', so its weights are left out",
                rig.display()
            ),
            Self::NearestVertices { rig, vertex_count } => write!(
                f,
                "{} has no weights for these {vertex_count} vertices: each bone gets the vertices that \
                 are nearest to it",
                rig.display()
            ),
            Self::PosesFound { rig } => write!(
                f,
                "{} has no clip: the pose of its bones in each frame is found from the meshes",
                rig.display()
            ),
            Self::ShapesLeftOut { rig, count } => write!(
                f,
                "{}: {count} morph target{} left out: bones and weights are fitted without them",
                rig.display(),
                if *count == 1 { " is" } else { "s are" }
            ),
            Self::OtherDuration {
                motion,
                frame_count,
                frames_per_second,
                end,
                rig,
                clip,
                clip_end,
            } => write!(
                f,
                "{frame_count} frame{} of '{motion}' at {frames_per_second} per second end at {end:.3} s, \
                 but clip '{clip}' of {} ends at {clip_end:.3} s",
                if *frame_count == 1 { "" } else { "s" },
                rig.display()
            ),
            Self::FarOff { rig, e_rms } => write!(
                f,
                "{} alone is far off (E_RMS {e_rms:.0}): check that it is the rig of these meshes, in \
                 their clip, with the same axis up",
                rig.display()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_of_reading_names_its_file_once() {
        let notes = ["a.glb: two skins.".to_owned(), "No faces.".to_owned()];
        let said: Vec<String> = (Note::of_reading(Path::new("a.glb"), &notes).iter())
            .map(ToString::to_string)
            .collect();
        assert_eq!(said, ["a.glb: two skins.", "a.glb: No faces."], "once");
    }

    #[test]
    fn counts_are_said_in_words_that_fit_them() {
        let rest = PathBuf::from("rest.obj");
        let said = |mesh_count| {
            let rest = rest.clone();
            Note::Reordered { mesh_count, rest }.to_string()
        };
        assert!(said(1).contains("of 1 mesh were"), "{}", said(1));
        assert!(said(3).contains("of 3 meshes were"), "{}", said(3));
        assert!(said(0).contains("already"), "{}", said(0));
    }
}
