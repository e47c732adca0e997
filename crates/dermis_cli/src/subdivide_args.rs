//! Raw arguments of `dermis subdivide`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::input_args::UpArgs;

/// Arguments of `dermis subdivide`.
#[derive(Debug, Args)]
pub(crate) struct SubdivideArgs {
    /// The file to subdivide; a skin, a mesh or a sequence.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// How the inside is smoothed: loop for triangles, catmull-clark for quads.
    #[arg(long, value_name = "SCHEME", default_value = "loop")]
    pub(crate) scheme: SchemeName,
    /// How often; each level has four times the triangles of the one before.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub(crate) levels: i64,
    /// Edges whose faces meet at more than so many degrees in the rest pose are creases.
    #[arg(long, value_name = "DEG", allow_hyphen_values = true)]
    pub(crate) crease_angle: Option<f64>,
    /// Edges along which the file splits normals are creases.
    #[arg(long)]
    pub(crate) crease_normals: bool,
    /// For how many levels creases stay sharp, also parts of a level; for ever unless given.
    #[arg(long, value_name = "LEVELS", allow_hyphen_values = true)]
    pub(crate) crease_sharpness: Option<f64>,
    /// Corners of the border that only one face has: they stay, or are rounded.
    #[arg(long, value_name = "RULE", default_value = "sharp")]
    pub(crate) corners: CornersName,
    /// UVs and colours follow the surface smoothly, or stay in the middles of edges and faces.
    #[arg(long, value_name = "RULE", default_value = "smooth")]
    pub(crate) uv: UvName,
    /// Move points to where endless subdivision would take them.
    #[arg(long)]
    pub(crate) limit: bool,
    /// For catmull-clark: take every triangle for a face, also where two of them were a quad.
    #[arg(long)]
    pub(crate) keep_triangles: bool,
    /// Let stock players show the result exactly, at up to four joints per bone.
    #[arg(long)]
    pub(crate) plain_exact: bool,
    /// Where the result goes: .glb .gltf .obj .ply .npz
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
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
