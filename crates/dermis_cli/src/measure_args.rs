//! Raw arguments of `dermis measure`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{SequenceArgs, parse_fps};
use crate::output_args::OutputArgs;

/// Arguments of `dermis measure`.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// What is true: a sequence, a pattern such as 'truth/*.obj', a mesh, or a skin, whose clips are played.
    #[arg(value_name = "TRUTH")]
    pub(crate) truth: PathBuf,
    /// What to measure: the same vertices in the same order, and as many frames. A skin without frames is posed as the
    /// bones of TRUTH are, where that has poses of bones of the same names; else its clips are played.
    #[arg(value_name = "MINE")]
    pub(crate) mine: PathBuf,
    #[command(flatten)]
    pub(crate) sequence: SequenceArgs,
    /// The clip to play in files that are skins.
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Option<String>,
    /// Frames per second at which clips are played; at their own keys unless given.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// Also measure distances to the surfaces of TRUTH, as comparisons of scans do; takes longer.
    #[arg(long)]
    pub(crate) surface: bool,
    /// Print a row for each frame.
    #[arg(long, conflicts_with = "per_vertex")]
    pub(crate) per_frame: bool,
    /// Print a row for each vertex.
    #[arg(long)]
    pub(crate) per_vertex: bool,
    /// Largest error (E_RMS) to accept; above it the exit code is 1.
    #[arg(long, value_name = "E_RMS")]
    pub(crate) max_error: Option<f64>,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}
