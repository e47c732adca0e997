//! Raw arguments of `dermis crowd`.

use std::path::PathBuf;

use clap::Args;

use crate::args::parse_positive;
use crate::input_args::UpArgs;
use crate::output_args::OutputArgs;
use crate::pose_args::parse_eye;

/// Arguments of `dermis crowd`.
#[derive(Debug, Args)]
pub(crate) struct CrowdArgs {
    /// A character with clips, and with levels of detail as `dermis lod` makes them: .glb .gltf
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The picture to write: .png
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// How many instances.
    #[arg(long, value_name = "N", value_parser = parse_positive, default_value_t = 10_000)]
    pub(crate) count: usize,
    /// Width and height of the picture in pixels, such as 1920x1080.
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "1280x720", allow_hyphen_values = true)]
    pub(crate) size: [u32; 2],
    /// How many pixels the surface of an instance may be off: the coarsest level within that is drawn.
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 1.0,
        allow_hyphen_values = true
    )]
    pub(crate) pixels: f64,
    /// A clip to play, by name. May be repeated; all clips unless given. Each instance plays one, from a time of its own.
    #[arg(long, value_name = "NAME")]
    pub(crate) clip: Vec<String>,
    /// When, in seconds.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.0,
        allow_hyphen_values = true
    )]
    pub(crate) time: f64,
    /// Draw so many frames, a thirtieth of a second each, and give the mean of their times. The picture is the last one.
    #[arg(long, value_name = "N", value_parser = parse_positive, default_value_t = 1)]
    pub(crate) frames: usize,
    /// Distance between neighbours, as a multiple of the character's width.
    #[arg(
        long,
        value_name = "RATIO",
        default_value_t = 1.3,
        allow_hyphen_values = true
    )]
    pub(crate) spacing: f64,
    /// Another seed, another crowd: places, sizes, clips and times.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A camera at EYE that looks at TARGET, as X,Y,Z:X,Y,Z in model units. The crowd stands on the ground around 0,0,0 and
    /// faces +Z.
    #[arg(long, value_name = "EYE:TARGET", value_parser = parse_eye, conflicts_with_all = ["distance", "height"])]
    pub(crate) camera: Option<[[f64; 3]; 2]>,
    /// Where the camera stands instead: so far before the front row, in heights of the character; below 0 it is among the
    /// crowd. Unless given, a fifth of the crowd's depth behind its front row.
    #[arg(long, value_name = "HEIGHTS", allow_hyphen_values = true)]
    pub(crate) distance: Option<f64>,
    /// How high the camera is, in heights of the character; 2.6 unless given.
    #[arg(long, value_name = "HEIGHTS", allow_hyphen_values = true)]
    pub(crate) height: Option<f64>,
    /// The camera's angle from bottom to top, in degrees.
    #[arg(
        long,
        value_name = "DEG",
        default_value_t = 40.0,
        allow_hyphen_values = true
    )]
    pub(crate) field_of_view: f64,
    /// Draw every instance with this level: 0 is the full character.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) level: Option<usize>,
    /// Choose levels by the error that the file guarantees in every legal pose, instead of the largest one measured in the
    /// poses of the clips.
    #[arg(long, conflicts_with = "level")]
    pub(crate) guaranteed: bool,
    /// Cull by the sphere around the clips, which is smaller, instead of the one around every legal pose.
    #[arg(long)]
    pub(crate) clips_sphere: bool,
    /// Draw every instance, seen or not.
    #[arg(long)]
    pub(crate) no_culling: bool,
    /// Change levels at once, instead of moving vertices over.
    #[arg(long)]
    pub(crate) no_morph: bool,
    /// Write a report with the picture: one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let problem =
        || "expected a width and a height of 1 to 8192 pixels, such as 1920x1080".to_owned();
    let (width, height) = text.split_once('x').ok_or_else(problem)?;
    let side = |text: &str| {
        let side = text.trim().parse::<u32>().ok();
        side.filter(|side| (1..=8192).contains(side))
            .ok_or_else(problem)
    };
    Ok([side(width)?, side(height)?])
}
