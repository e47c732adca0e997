//! Raw arguments of `dermis decompose`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{SequenceArgs, Up, parse_fps, parse_positive};
use crate::output_args::OutputArgs;

/// Arguments of `dermis decompose`.
#[derive(Debug, Args)]
pub(crate) struct DecomposeArgs {
    /// A sequence; several sequences of one mesh; a folder of meshes; or a pattern such as 'poses/*.obj' or
    /// 'frame_####.obj'.
    #[arg(required = true, value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    /// The skin to write, .glb or .gltf.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// How many bones to find; with --keep, how many helper bones to add.
    #[arg(long, value_name = "N", value_parser = parse_positive, conflicts_with = "target_error")]
    pub(crate) bones: Option<usize>,
    /// Find as few bones as reach this error (E_RMS); if --max-bones do not, the exit code is 1.
    #[arg(long, value_name = "E_RMS")]
    pub(crate) target_error: Option<f64>,
    /// Most bones that --target-error may use; 256 unless given.
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) max_bones: Option<usize>,
    /// Bones may also stretch and shear (any affine matrix): the closest fit, and the default.
    #[arg(long, conflicts_with_all = ["rigid", "hierarchy"])]
    pub(crate) affine: bool,
    /// Bones only turn and move.
    #[arg(long)]
    pub(crate) rigid: bool,
    /// Bones hang together in joints that turn in place, with constant lengths; they are rigid.
    #[arg(long)]
    pub(crate) hierarchy: bool,
    /// Most bones that may move one vertex.
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = parse_positive)]
    pub(crate) max_influences: usize,
    /// How much time to take.
    #[arg(long, value_enum, default_value_t = QualityArg::Default)]
    pub(crate) quality: QualityArg,
    /// Rounds of solving, each for bones, weights and rest positions in turn; by --quality unless given.
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) rounds: Option<usize>,
    /// How many starting points are tried; by --quality unless given.
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) starts: Option<usize>,
    /// Keep the rest mesh as it is, instead of fitting it too.
    #[arg(long)]
    pub(crate) fixed_rest: bool,
    /// Make the weights of neighbouring vertices alike: 0 not at all, 1 clearly.
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    pub(crate) smooth: f64,
    /// A rig to keep: its bones, in the poses of its clip, and its rest mesh stay as they are.
    #[arg(long, value_name = "FILE")]
    pub(crate) keep: Option<PathBuf>,
    /// The clip of --keep that belongs to the meshes, when it has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Option<String>,
    /// Vertices that keep the rig's weights: none; fit:E for those where the rig's error is an E_RMS of at
    /// most E; or a text file of vertex numbers.
    #[arg(long, value_name = "WHICH")]
    pub(crate) lock: Option<String>,
    /// Fit only weights, for the bones of --keep in their poses.
    #[arg(long, conflicts_with = "transforms_only")]
    pub(crate) weights_only: bool,
    /// Fit only the motion of the bones, for the weights of --keep.
    #[arg(long)]
    pub(crate) transforms_only: bool,
    /// On Ctrl-C, write the best so far instead of nothing.
    #[arg(long)]
    pub(crate) checkpoint: bool,
    /// How much error keys may be left out for, as a share of the fit's own E_RMS: with 0.1 vertices move by at
    /// most a tenth of it (root mean square, in every frame and for every bone). 0 keeps every key. An E_RMS below
    /// 0.01 counts as 0.01.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub(crate) key_tolerance: f64,
    /// Frames per second of the meshes.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// Write a report with pictures: one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Which axis points up in the report's pictures.
    #[arg(long, value_enum, default_value_t = Up::Y)]
    pub(crate) up: Up,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// How much time a decomposition takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum QualityArg {
    /// One start and a few rounds: a preview.
    Fast,
    /// Several starts, and rounds while each still helps much.
    Default,
    /// Many starts and many rounds: about a tenth less error, and several times the time.
    Best,
}
