//! Raw arguments of `dermis subdivide`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::input_args::UpArgs;
use crate::output_args::OutputArgs;

/// Arguments of `dermis subdivide`.
#[derive(Debug, Args)]
pub(crate) struct SubdivideArgs {
    /// The file to subdivide; a skin, a mesh or a sequence.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// The subdivision scheme: loop for triangles, catmull-clark for quads.
    #[arg(long, value_name = "SCHEME", default_value = "loop")]
    pub(crate) scheme: SchemeName,
    /// How many times to subdivide; each time, there are four times as many triangles.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub(crate) levels: i64,
    /// Keep edges sharp (creases) whose faces meet at more than this many degrees in the rest pose.
    #[arg(long, value_name = "DEG", allow_hyphen_values = true)]
    pub(crate) crease_angle: Option<f64>,
    /// Keep edges sharp (creases) along which the file splits its normals.
    #[arg(long)]
    pub(crate) crease_normals: bool,
    /// For how many levels creases stay sharp, such as 1.5; for ever unless given.
    #[arg(long, value_name = "LEVELS", allow_hyphen_values = true)]
    pub(crate) crease_sharpness: Option<f64>,
    /// Whether corners of the border that only one face has stay sharp or are rounded.
    #[arg(long, value_name = "RULE", default_value = "sharp")]
    pub(crate) corners: CornersName,
    /// Whether UVs and colours are smoothed with the surface, or taken linearly in edges and faces.
    #[arg(long, value_name = "RULE", default_value = "smooth")]
    pub(crate) uv: UvName,
    /// Move points onto the smooth surface that endless subdivision would give.
    #[arg(long)]
    pub(crate) limit: bool,
    /// For catmull-clark: keep every triangle, instead of joining pairs that look like quads.
    #[arg(long)]
    pub(crate) keep_triangles: bool,
    /// Write a skin that stock players show exactly, with up to four joints per bone.
    #[arg(long)]
    pub(crate) plain_exact: bool,
    /// Where the result goes: .glb .gltf .obj .ply .npz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeName {
    Loop,
    CatmullClark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CornersName {
    Sharp,
    Smooth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UvName {
    Smooth,
    Linear,
}
