//! Raw arguments, as typed. What they mean together is checked by the commands.

use std::path::PathBuf;

use anstyle::AnsiColor;
use clap::builder::Styles;
use clap::{Args, Parser, Subcommand};
use dermis_io::InputOptions;

use crate::bake_args::BakeArgs;
use crate::common_args::Common;
use crate::crowd_args::CrowdArgs;
use crate::decompose_args::DecomposeArgs;
use crate::help_texts;
use crate::input_args::{MatchArgs, UpArgs};
use crate::level_args::LevelArgs;
use crate::lod_args::LodArgs;
use crate::measure_args::MeasureArgs;
use crate::method_args::{MethodArgs, TargetError, parse_target};
use crate::option_flags::{OptionFlags, heading, method_keys, methods_with, option_names};
use crate::output_args::OutputArgs;
use crate::output_file::StreamArgs;
use crate::pose_args::{BoundsArgs, StatsArgs, TransformArgs};
use crate::psd_args::PsdArgs;
use crate::render_args::RenderArgs;
use crate::subdivide_args::SubdivideArgs;
use crate::talk::Talk;
use crate::unwrap_args::UnwrapArgs;

/// Colours of help: those that many programs have.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Turns example meshes into real-time skins.
#[derive(Debug, Parser)]
#[command(
    name = "dermis",
    version,
    about,
    styles = STYLES,
    arg_required_else_help = true,
    before_help = help_texts::BEFORE_ALL,
    after_help = help_texts::AFTER_ALL
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what is in files: meshes, skins, clips, and problems.
    #[command(after_help = help_texts::INFO)]
    Info(InfoArgs),
    /// Convert files to another format; a sequence of meshes becomes a sequence, or one GLB with morph targets.
    #[command(after_help = help_texts::CONVERT)]
    Convert(ConvertArgs),
    /// Fit a skin to example meshes, and measure it, also on examples that it has not seen.
    #[command(after_help = help_texts::FIT)]
    Fit(Box<FitArgs>),
    /// Fit every method to the same examples, and show their errors, sizes and speeds side by side.
    #[command(after_help = help_texts::COMPARE)]
    Compare(CompareArgs),
    /// Find bones, weights and a clip for a mesh animation: cloth, muscles, a captured performance.
    #[command(after_help = help_texts::DECOMPOSE)]
    Decompose(DecomposeArgs),
    /// Find a skeleton for meshes that have none, and its pose in every mesh.
    #[command(after_help = help_texts::RIG)]
    Rig(RigArgs),
    /// Find the poses in which a skin comes closest to given meshes.
    #[command(after_help = help_texts::POSE)]
    Pose(PoseArgs),
    /// Add sculpted shapes to a skin, each in its own pose (pose space deformation).
    #[command(after_help = help_texts::PSD)]
    Psd(PsdArgs),
    /// Put clips of other files on a skin, with everything that the skin computes baked in.
    #[command(after_help = help_texts::BAKE_CLIPS)]
    BakeClips(BakeClipsArgs),
    /// Write the meshes that a skin shows, in the poses of a clip or in poses given by hand.
    #[command(after_help = help_texts::EVAL)]
    Eval(EvalArgs),
    /// Measure meshes against others in vertex correspondence, whoever made them: score a method of your own.
    #[command(after_help = help_texts::MEASURE)]
    Measure(MeasureArgs),
    /// Measure how far each joint turns, moves and stretches, in clips or within limits.
    #[command(after_help = help_texts::STATS)]
    Stats(StatsArgs),
    /// Find spheres that a skin never leaves, in every pose that its joints allow and in its clips.
    #[command(after_help = help_texts::BOUNDS)]
    Bounds(BoundsArgs),
    /// Scale, turn and move a whole model, with its clips, statistics and bounds.
    #[command(after_help = help_texts::TRANSFORM)]
    Transform(TransformArgs),
    /// Subdivide a skin, a mesh or a sequence: a smoother surface that moves exactly as subdividing each frame would.
    #[command(after_help = help_texts::SUBDIVIDE)]
    Subdivide(SubdivideArgs),
    /// Make coarser levels of a skinned character, for when it is far away, that are good in every pose of its clips.
    #[command(after_help = help_texts::LOD)]
    Lod(LodArgs),
    /// Give a character texture coordinates whose stretch is low in every pose of its clips: charts, packed into an atlas.
    #[command(after_help = help_texts::UNWRAP)]
    Unwrap(Box<UnwrapArgs>),
    /// Carry the detail of a character to a coarser form of it: a normal map that is best over its poses, and its textures.
    #[command(after_help = help_texts::BAKE)]
    Bake(Box<BakeArgs>),
    /// Draw a character with its materials: a picture, a sheet of poses, a turn, or the frames of a clip.
    #[command(after_help = help_texts::RENDER)]
    Render(Box<RenderArgs>),
    /// Draw thousands of instances of a character, culled and with levels of detail, on a graphics card.
    #[command(after_help = help_texts::CROWD)]
    Crowd(Box<CrowdArgs>),
    /// Time the evaluation of a skin on this machine.
    #[command(after_help = help_texts::BENCH)]
    Bench(BenchArgs),
    /// Print the script with which a shell completes commands and flags of dermis.
    #[command(hide = true, after_help = help_texts::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write the man pages, one for each command; without a folder, print the first.
    #[command(hide = true, after_help = help_texts::MAN)]
    Man(ManArgs),
    /// See a human arm before and after: painted weights, every method fitted to it, and the best of them in motion.
    #[command(after_help = help_texts::DEMO)]
    Demo(DemoArgs),
}

/// How meshes are read, for the commands that take sequences.
#[derive(Debug, Args)]
pub(crate) struct SequenceArgs {
    /// The mesh in its rest pose; the first of the sequence unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) rest: Option<PathBuf>,
    /// The mesh that a point cache (PC2, MDD) moves; the file of the same name beside it unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) mesh: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchArgs,
}

impl SequenceArgs {
    /// Files that are read beside the inputs.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.rest.iter().chain(&self.mesh)
    }

    /// How the inputs are read.
    pub(crate) fn options(&self, talk: &Talk) -> InputOptions {
        let [placement, frame_placement] = self.matching.placements();
        InputOptions {
            rest: self.rest.clone(),
            mesh: self.mesh.clone(),
            placement,
            frame_placement,
            matching: self.matching.options(talk),
        }
    }
}

/// Arguments of `dermis info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Files of any format.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// List the bones: their tree, how many points each moves, how its joint turns in the clips, and its limits.
    #[arg(long)]
    pub(crate) bones: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Arguments of `dermis convert`.
#[derive(Debug, Args)]
#[command(
    override_usage = "dermis convert [OPTIONS] <IN>... <OUT>\n       dermis convert [OPTIONS] <IN>... -o <OUT>"
)]
pub(crate) struct ConvertArgs {
    /// A file; several meshes with the same vertices in the same order; a folder of them; or a pattern
    /// such as 'poses/*.obj' or 'frame_####.obj'. Without -o, the last one, OUT, is the file to write.
    // One list: with OUT on its own, no option could stand between it and the inputs.
    #[arg(required = true, value_name = "IN")]
    pub(crate) paths: Vec<PathBuf>,
    /// The file to write: .glb .gltf .obj .ply .npz .pc2 .mdd; or - for standard output, with --format.
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    /// The clip to turn into frames, when the input is a skin and the output a sequence.
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Option<String>,
    /// Frames per second of the sequence.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// When a file has both frames and a skin: write the frames as morph targets, not the skin.
    #[arg(long)]
    pub(crate) frames: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    /// How .ply files are stored.
    #[arg(long, value_enum, default_value_t = Ply::Binary)]
    pub(crate) ply: Ply,
}

/// Encodings of PLY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Ply {
    /// Little endian.
    Binary,
    /// Big endian.
    BinaryBig,
    /// Text.
    Ascii,
}

/// Where the examples come from, and which of them are kept for testing.
#[derive(Debug, Args)]
pub(crate) struct ExampleArgs {
    /// A file; several meshes with the same vertices in the same order; a folder of them; or a pattern
    /// such as 'poses/*.obj' or 'frame_####.obj'.
    #[arg(required = true, value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    /// The file with the skeleton, when the examples have none: .glb, .gltf or .npz.
    #[arg(long, value_name = "FILE")]
    pub(crate) skeleton: Option<PathBuf>,
    /// First find this many bones from the meshes alone, as `dermis rig` does.
    #[arg(long, value_name = "N", value_parser = parse_positive, conflicts_with_all = ["skeleton", "clip"])]
    pub(crate) bones: Option<usize>,
    /// The clip whose poses belong to the examples.
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Option<String>,
    /// Frames per second at which clips are sampled; at their own keys unless given.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// Which examples to hold out, that is, to test on and not fit to: every:N (every Nth), one (each in
    /// turn), none, or numbers such as 3,7,9 counting from 0 and names such as 'run_*', which may be mixed and
    /// repeated. The skin that is written is fitted to all examples.
    #[arg(long, value_name = "WHICH", default_value = "every:4")]
    pub(crate) hold_out: Vec<String>,
    /// Examples to test on that are never fitted: another file of the same mesh, with bones of the same names and
    /// the pose of each mesh. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Vec<PathBuf>,
}

impl ExampleArgs {
    /// Every file, folder and pattern that is read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let beside = self.sequence.files().chain(&self.skeleton);
        self.inputs.iter().chain(beside)
    }
}

/// Arguments of `dermis fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) examples: ExampleArgs,
    /// The skin to write, .glb or .gltf.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
    /// Largest error (E_RMS) to accept, on the examples of --test, else on held-out ones if there are any; above it the
    /// exit code is 1.
    #[arg(long, value_name = "E_RMS")]
    pub(crate) max_error: Option<f64>,
    /// Write a report with pictures: one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Which axis points up in the report's pictures.
    #[arg(long, value_enum, default_value_t = Up::Y)]
    pub(crate) up: Up,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Arguments of `dermis compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) examples: ExampleArgs,
    /// Compare ways to decompose a mesh animation into P bones instead. No skeleton is needed, and nothing
    /// is held out.
    #[arg(
        long,
        value_name = "P",
        value_parser = parse_positive,
        conflicts_with_all = ["skeleton", "bones", "clip", "hold_out", "test", "methods", "save", "resume", "surface", "target_error"]
            .into_iter()
            .chain(option_names())
    )]
    pub(crate) decompose: Option<usize>,
    /// With --decompose: how many morph targets are added to every skin for a second error; 0 for none, 10
    /// unless given.
    #[arg(long, value_name = "R", value_parser = parse_count, requires = "decompose")]
    pub(crate) rank: Option<usize>,
    /// The methods to compare, separated by commas; all unless given.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = method_keys(&[]))]
    pub(crate) methods: Vec<String>,
    /// Most bones that may move one vertex.
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = parse_positive)]
    pub(crate) max_influences: usize,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    /// Use as few proxy bones as can reach this error on the examples fitted to: an E_RMS such as 1.5, or an enveloping
    /// error such as 5%
    #[arg(long, value_name = "ERROR", value_parser = parse_target, allow_negative_numbers = true,
        conflicts_with = "proxy-bones", help_heading = heading(&methods_with("target-error")))]
    pub(crate) target_error: Option<TargetError>,
    /// Write a report with pictures: one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write every skin into this folder, named after its method.
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Keep the numbers of finished methods in this file, and take from it what an earlier run with the same inputs,
    /// options and version has finished. For numbers alone: pictures and skins need a run without it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["report", "save"])]
    pub(crate) resume: Option<PathBuf>,
    /// Which axis points up in the report's pictures.
    #[arg(long, value_enum, default_value_t = Up::Y)]
    pub(crate) up: Up,
    /// Also measure distances to the examples' surfaces, as comparisons of scans do; takes longer.
    #[arg(long)]
    pub(crate) surface: bool,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Arguments of `dermis rig`.
#[derive(Debug, Args)]
pub(crate) struct RigArgs {
    /// A sequence; several meshes with the same vertices in the same order; a folder of them; or a pattern
    /// such as 'poses/*.obj' or 'frame_####.obj'.
    #[arg(required = true, value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    /// Where the rigged meshes go: .npz .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// How many bones to find.
    #[arg(long, value_name = "N", value_parser = parse_positive, required_unless_present = "skeleton")]
    pub(crate) bones: Option<usize>,
    /// Take the hierarchy from this file; its weights, or the places of its joints, say which vertices each
    /// bone has.
    #[arg(long, value_name = "FILE", conflicts_with = "bones")]
    pub(crate) skeleton: Option<PathBuf>,
    /// Rounds of fitting weights, then poses.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = parse_count)]
    pub(crate) blend_rounds: usize,
    /// Rounds of fitting an animation-space skin, then poses, after those.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = parse_count)]
    pub(crate) space_rounds: usize,
    /// Most bones that may move one vertex.
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = parse_positive)]
    pub(crate) max_influences: usize,
    /// How far bones reach beyond their core, as a share of the mesh's longest side.
    #[arg(long, value_name = "R", default_value_t = 0.07)]
    pub(crate) reach: f64,
    /// Do not use the rest mesh as an example.
    #[arg(long)]
    pub(crate) without_rest: bool,
    /// Frames per second of the clip that is written.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Arguments of `dermis pose`.
#[derive(Debug, Args)]
pub(crate) struct PoseArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    /// The meshes to match: a file, several, a folder or a pattern. A file with clips is played.
    #[arg(long, required = true, num_args = 1.., value_name = "IN")]
    pub(crate) to: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    /// Where the poses go: .glb .gltf .npz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What bones may do.
    #[arg(long, value_enum, default_value_t = Joints::Free)]
    pub(crate) joints: Joints,
    /// Frames per second of the clip that is written.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// Largest root-mean-square distance to accept, in per cent of the rest box's diagonal; above it the
    /// exit code is 1.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) max_error: Option<f64>,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// What bones may do when poses are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Joints {
    /// Turn and move.
    Free,
    /// Turn in place; only bones without a parent move.
    Turn,
    /// Turn, move, stretch and shear: any affine matrix.
    Affine,
}

/// An axis of model space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Up {
    /// As in glTF.
    Y,
    /// As in Blender and 3ds Max.
    Z,
}

/// Arguments of `dermis bake-clips`.
#[derive(Debug, Args)]
pub(crate) struct BakeClipsArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    /// Files with the clips, .glb or .gltf; with or without meshes.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(crate) clips: Vec<PathBuf>,
    /// The skin with its old and new clips, .glb or .gltf; or - for standard output, with --format.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Let a new clip take the place of an old one that has its name; else it gets a number.
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Arguments of `dermis eval`.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    /// The clip to play.
    #[arg(long, value_name = "NAME", conflicts_with = "pose")]
    pub(crate) clip: Option<String>,
    /// Frames per second at which the clip is sampled; at its own keys unless given.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// A pose: rest, default, or a list such as 'forearm.rz=90, smile=0.5'. May be repeated.
    #[arg(long, value_name = "POSE")]
    pub(crate) pose: Vec<String>,
    /// A file of poses, .npz with bone_rest and bone_pose: bones are found by their names.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pose", "clip", "fps"])]
    pub(crate) poses: Option<PathBuf>,
    /// Where the frames go: .npz .obj .ply .pc2 .mdd .glb; or - for standard output, with --format.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Write the vertices as the file draws them, split at seams, instead of each point once.
    #[arg(long)]
    pub(crate) drawn: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) up: UpArgs,
}

/// Arguments of `dermis bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// The file with the skin to time, in the middle of its first clip.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: Option<PathBuf>,
    /// Another skin of the same mesh, such as one fitted with --method lbs: whole frames of both, from poses to
    /// positions and normals, are timed in turn.
    #[arg(long, value_name = "OTHER", requires = "skin")]
    pub(crate) against: Option<PathBuf>,
    /// Time this machine's graphics card, with the processor beside it; without SKIN, on bodies with 2, 4 and 8
    /// influences, with a cost model. Needs dermis built with `--features gpu`.
    #[arg(long, conflicts_with = "against")]
    pub(crate) gpu: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Arguments of `dermis completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `dermis man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder to write the pages to.
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Arguments of `dermis demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder to write to.
    #[arg(value_name = "DIR", default_value = "dermis_demo")]
    pub(crate) folder: PathBuf,
}

pub(crate) fn parse_fps(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Beyond these the times of frames are nothing or endless in the single precision of files.
        Ok(fps) if (1e-9..=1e9).contains(&fps) => Ok(fps),
        _ => Err("expected a number above 0 and at most 1000000000, such as 24".to_owned()),
    }
}

/// Most that anything may be counted to on the command line: more bones, rounds or pictures than this are a slip of the
/// finger. What fits a mesh and the memory is checked when these are known.
const MOST_COUNT: usize = 1_000_000;

/// A count of at least 1.
pub(crate) fn parse_positive(text: &str) -> Result<usize, String> {
    let expected = || format!("expected a whole number of at least 1 and at most {MOST_COUNT}");
    parse_count(text)
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(expected)
}

/// A count that may be 0.
pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if count <= MOST_COUNT => Ok(count),
        _ => Err(format!("expected a whole number of at most {MOST_COUNT}")),
    }
}
