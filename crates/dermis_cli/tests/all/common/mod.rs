//! Runs the real binary in a scratch folder and keeps what it said.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod psd;

use std::path::{Path, PathBuf};
use std::process::Command;

use dermis::skin::{SsdProgram, Weight};
use dermis::synth::{BarOptions, TubeOptions, bar, tube};
use dermis::{BoneId, Example, MeshAnimation, MeshClip, Skin, TriMesh, VertexProgram};
use dermis_io::{Document, Frame, WriteOptions};
use glam::DVec3;
use serde_json::Value;

/// A folder of its own for one test, gone when the test ends.
pub(crate) struct Scratch(tempfile::TempDir);

/// What one run of the program gave.
#[derive(Debug)]
pub(crate) struct Run {
    /// What was typed, for messages.
    pub(crate) command: String,
    /// The exit code; -1 when a signal ended it.
    pub(crate) code: i32,
    /// The results.
    pub(crate) stdout: String,
    /// Everything else that it said.
    pub(crate) stderr: String,
}

impl Scratch {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch folder"))
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts a file in it.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().expect("a name in a folder")).expect("folders");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    /// Every file below it, sorted, with `/` between folders.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the folder can be read") {
                let path = entry.expect("an entry").path();
                match path.strip_prefix(self.path()) {
                    _ if path.is_dir() => folders.push(path),
                    Ok(name) => found.push(name.display().to_string().replace('\\', "/")),
                    Err(_) => unreachable!("an entry of the folder is below it"),
                }
            }
        }
        found.sort();
        found
    }

    /// The program, about to run here with arguments as one would type them; `'...'` keeps spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dermis"));
        command.current_dir(self.path()).args(words(arguments));
        command
    }

    /// Runs the program here to its end.
    pub(crate) fn dermis(&self, arguments: &str) -> Run {
        run(self.command(arguments), arguments)
    }

    /// Runs the program here to its end with at most 3 GB of address space, so that a test of what asks for too much
    /// memory cannot take the machine's.
    pub(crate) fn dermis_in_3_gb(&self, arguments: &str) -> Run {
        let mut command = Command::new("sh");
        command.current_dir(self.path()).args([
            "-c",
            "ulimit -v 3000000; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_dermis"),
        ]);
        command.args(words(arguments));
        run(command, arguments)
    }

    /// Writes a document as a file of this folder.
    pub(crate) fn write(&self, name: &str, document: &Document) {
        let written = dermis_io::write(&self.at(name), document, &WriteOptions::default());
        written.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Reads a file of this folder.
    pub(crate) fn read(&self, name: &str) -> Document {
        dermis_io::read(&self.at(name)).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn run(mut command: Command, arguments: &str) -> Run {
    let output = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the program speaks UTF-8");
    Run {
        command: format!("dermis {arguments}"),
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

impl Run {
    /// Fails unless the program did what it was asked to.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    /// Whether the results say something, wherever their lines are broken.
    pub(crate) fn says(&self, part: &str) -> bool {
        unbroken(&self.stdout).contains(part)
    }

    /// The results as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// A text in one line, with single blanks.
pub(crate) fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A tube whose fit takes no time.
pub(crate) const SMALL_TUBE: TubeOptions = TubeOptions {
    ring_count: 12,
    segment_count: 8,
    bone_count: 3,
    example_count: 6,
};

/// A tube with bones, weights, and frames with their poses.
pub(crate) fn tube_document(options: &TubeOptions) -> Document {
    let made = tube(options);
    let examples = made.examples.examples();
    let frame = |example: &Example| Frame {
        name: example.name.clone(),
        positions: example.positions.clone(),
    };
    Document {
        mesh: made.examples.rest().clone(),
        skin: Some(made.truth),
        frames: examples.iter().map(frame).collect(),
        frame_poses: examples.iter().map(|e| e.pose.clone()).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    }
}

/// A bar that bends and twists at its only joint, in twelve poses; its skin says nothing but which bones there are.
pub(crate) fn bar_document() -> Document {
    let turn = |k: usize| {
        let phase = |step: f64| 2.0 * ((k + 1) as f64 * step).fract() - 1.0;
        DVec3::new(1.6 * phase(0.819), 1.2 * phase(0.671), 1.2 * phase(0.549))
    };
    let examples = bar(&BarOptions {
        ring_count: 25,
        segment_count: 8,
        turns: (0..12).map(turn).collect(),
    })
    .examples;
    let first_bone = Weight {
        bone: BoneId(0),
        weight: 1.0,
    };
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions: examples.rest().positions().to_vec(),
        weights: (0..examples.rest().vertex_count())
            .map(|_| vec![first_bone])
            .collect(),
        corrections: Vec::new(),
    });
    let frame = |example: &Example| Frame {
        name: example.name.clone(),
        positions: example.positions.clone(),
    };
    Document {
        mesh: examples.rest().clone(),
        skin: Some(Skin::new(examples.skeleton().clone(), program, Vec::new()).expect("a skin")),
        frames: examples.examples().iter().map(frame).collect(),
        frame_poses: examples.examples().iter().map(|e| e.pose.clone()).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    }
}

/// A motion as a file of meshes, 24 a second.
pub(crate) fn sequence(rest: &TriMesh, frames: &[Vec<DVec3>]) -> Document {
    let frame = |(number, positions): (usize, &Vec<DVec3>)| Frame {
        name: format!("frame {number}"),
        positions: positions.clone(),
    };
    Document {
        mesh: rest.clone(),
        frames: frames.iter().enumerate().map(frame).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    }
}

/// `E_RMS` of what a skinned file shows against meshes, 24 a second, clip by clip in its order.
#[track_caller]
pub(crate) fn shown_error(file: &Document, rest: &TriMesh, clips: &[&[Vec<DVec3>]]) -> f64 {
    let skin = file.skin.as_ref().expect("a skin");
    assert_eq!(file.clips.len(), clips.len(), "as many clips as motions");
    let mut shown = Vec::new();
    for (clip, frames) in file.clips.iter().zip(clips) {
        for k in 0..frames.len() {
            let pose = skin.sample(clip, k as f64 / 24.0);
            shown.push(skin.evaluate(&pose).expect("its own clip"));
        }
    }
    let of_frames = |frames: &&[Vec<DVec3>]| MeshClip {
        name: String::new(),
        frames: frames.to_vec(),
        frames_per_second: 24.0,
    };
    let truth = MeshAnimation::new(rest.clone(), clips.iter().map(of_frames).collect());
    let truth = truth.expect("frames of one mesh");
    truth.e_rms(shown.iter().map(Vec::as_slice))
}

/// A path as [`Scratch::dermis`] takes it.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_str().expect("a path in UTF-8"))
}

/// A number of a JSON report.
#[track_caller]
pub(crate) fn number(value: &Value, pointer: &str) -> f64 {
    let number = value.pointer(pointer).and_then(Value::as_f64);
    number.unwrap_or_else(|| panic!("no number {pointer} in {value:#}"))
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut inside = false;
    for c in text.chars() {
        match c {
            '\'' => {
                inside = !inside;
                word.get_or_insert_default();
            }
            ' ' if !inside => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    assert!(!inside, "an open quote in {text}");
    words.extend(word);
    words
}
