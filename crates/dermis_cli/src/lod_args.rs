//! Raw arguments of `dermis lod`.

use std::path::PathBuf;

use clap::Args;

use crate::args::Up;
use crate::input_args::UpArgs;
use crate::length::{Length, parse_length};
use crate::method_args::TargetArg;
use crate::output_args::OutputArgs;

/// Arguments of `dermis lod`.
#[derive(Debug, Args)]
pub(crate) struct LodArgs {
    /// The skinned character to simplify.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// The share of the triangles that each level keeps, from fine to coarse. [default: 0.5,0.25,0.1]
    #[arg(
        long,
        value_name = "SHARES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        group = "wanted"
    )]
    pub(crate) ratios: Vec<f64>,
    /// How many triangles each level has at most.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', group = "wanted")]
    pub(crate) triangles: Vec<usize>,
    /// How many influences (bones that act on a vertex, over all vertices) each level has at most.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', group = "wanted")]
    pub(crate) influences: Vec<usize>,
    /// A level for each of these distances from the camera, such as 5,10,20 or 5m,1km, at which no step of the
    /// simplification moves anything by more than --pixels (root mean square over poses).
    #[arg(
        long,
        value_name = "LENGTHS",
        value_delimiter = ',',
        value_parser = parse_length,
        allow_hyphen_values = true,
        group = "wanted"
    )]
    pub(crate) distances: Vec<Length>,
    /// A level for each of these errors, such as 0.1%,0.5% (of the size) or 1mm,5mm: as coarse as can be while no step strays
    /// farther (root mean square over poses).
    #[arg(
        long,
        value_name = "LENGTHS",
        value_delimiter = ',',
        value_parser = parse_length,
        allow_hyphen_values = true,
        group = "wanted"
    )]
    pub(crate) errors: Vec<Length>,
    /// How many pixels may be seen at --distances, and the error that the table gives a distance for.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1.0,
        allow_hyphen_values = true
    )]
    pub(crate) pixels: f64,
    /// Keep all triangles: vertices lose influences alone, as many as --errors, --influences, --max-influences or --max-bones
    /// say.
    #[arg(long, conflicts_with_all = ["ratios", "triangles"])]
    pub(crate) no_mesh: bool,
    /// Most influences of any vertex of a level [default: 4]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_influences: Option<i64>,
    /// Most bones that move vertices, for all levels or for each: 40,20,10. Vertices follow the parents of those that go;
    /// bones at the ends of limbs go first.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub(crate) max_bones: Vec<usize>,
    /// Bones that --max-bones leaves, by name; a * stands for anything: head,hand_*
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "max_bones"
    )]
    pub(crate) lock_bones: Vec<String>,
    /// What will play the levels: a stock engine, for which new vertices are linear blends, or dermis itself, whose
    /// animation-space vertices fit better.
    #[arg(long, value_enum, default_value_t = TargetArg::Engine)]
    pub(crate) target: TargetArg,
    /// No point of the full character may be farther from any level than this, in any legal pose: 2mm, 0.5cm, 1in, 0.01
    /// (model units, which are metres in glTF), or 0.5% of the size. Levels that cannot hold that are not made.
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, allow_hyphen_values = true)]
    pub(crate) guarantee: Option<Length>,
    /// Let pieces vanish that are down to their last few triangles, such as teeth and buttons.
    #[arg(long)]
    pub(crate) drop_pieces: bool,
    /// How much textures are held in place, 0 or more; larger holds them better and the shape worse.
    #[arg(
        long,
        value_name = "WEIGHT",
        default_value_t = 0.1,
        allow_hyphen_values = true
    )]
    pub(crate) uv_weight: f64,
    /// Write each level as a file of its own, hero_lod1.glb for level 1 of hero.glb, beside the full one.
    #[arg(long)]
    pub(crate) separate: bool,
    /// Also store every step on the way to the coarsest level, so that a run-time takes any level in between and changes
    /// without popping.
    #[arg(long, conflicts_with = "separate")]
    pub(crate) progressive: bool,
    /// Where the result goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Write a report with pictures: one self-contained HTML file. It also simplifies the character at rest alone, and
    /// shows what that would lose.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Which axis points up in the report's pictures.
    #[arg(long = "up", value_name = "AXIS", value_enum, default_value_t = Up::Y)]
    pub(crate) picture_up: Up,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}
