//! Raw arguments of `dermis bake`.

use std::path::PathBuf;

use clap::Args;

use crate::input_args::UpArgs;
use crate::length::{Length, parse_length};
use crate::output_args::OutputArgs;

/// Arguments of `dermis bake`.
#[derive(Debug, Args)]
pub(crate) struct BakeArgs {
    /// The character in full detail.
    #[arg(value_name = "SOURCE")]
    pub(crate) input: PathBuf,
    /// The coarser form that gets the pictures, with UVs and the same bones: a file of its own, or one with levels, which all
    /// get theirs. The levels of SOURCE itself unless given.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// Of a file with levels, bake to this one alone; the others stay as they are.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) level: Option<usize>,
    /// Bake a normal map. Without this and --texture, both are baked.
    #[arg(long)]
    pub(crate) normal_map: bool,
    /// Bake the textures that SOURCE has: base colour, metal and roughness, occlusion, emission. All materials become one.
    /// Without this and --normal-map, both are baked.
    #[arg(long)]
    pub(crate) texture: bool,
    /// Width and height of each picture, in texels.
    #[arg(
        long,
        value_name = "TEXELS",
        default_value_t = 1024,
        allow_negative_numbers = true
    )]
    pub(crate) size: i64,
    /// Samples along each side of a texel, 1 to 8; more give smoother pictures of fine textures.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        allow_negative_numbers = true
    )]
    pub(crate) samples: i64,
    /// How far from the coarse surface, outwards and inwards, to look for the full one: 2mm, 0.01 (model units), or 2% of the
    /// size.
    #[arg(
        long,
        value_name = "LENGTH",
        default_value = "2%",
        value_parser = parse_length,
        allow_hyphen_values = true
    )]
    pub(crate) cage: Length,
    /// How many texels pictures go on beyond the charts, so that filtering does not mix in what lies between.
    #[arg(
        long,
        value_name = "TEXELS",
        default_value_t = 8,
        allow_negative_numbers = true
    )]
    pub(crate) padding: i64,
    /// Make the normal map for the rest pose alone, instead of the one that is best over the poses of the clips.
    #[arg(long)]
    pub(crate) rest_only: bool,
    /// The set of UVs to bake to: 0 is TEXCOORD_0. The last that the coarse form has unless given.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) set: Option<usize>,
    /// Also write which point of the full surface each texel shows: a face and three weights, as arrays. A run-time that
    /// poses the full surface gets exact normals from it in every pose, wrinkles too, which no fixed map has.
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) tangent_map: Option<PathBuf>,
    /// Where the coarse form with its pictures goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}
