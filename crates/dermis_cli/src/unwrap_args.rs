//! Raw arguments of `dermis unwrap`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dermis::param::UnwrapOptions;

use crate::args::{Up, parse_count, parse_positive};
use crate::input_args::UpArgs;
use crate::output_args::OutputArgs;

/// Arguments of `dermis unwrap`.
#[derive(Debug, Args)]
pub(crate) struct UnwrapArgs {
    /// The file to unwrap; a skin, a mesh or a sequence.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// Where the seams come from: auto finds charts; seams takes the seams of the file's UVs, materials the borders of its
    /// materials; creases finds charts that do not cross an edge with split normals; a FILE with the same points, in the same
    /// order, gives the seams of its UVs or, without UVs, the borders of its groups. Seams that are given are kept, whatever
    /// the stretch.
    #[arg(
        long,
        value_name = "auto|seams|materials|creases|FILE",
        default_value = "auto",
        value_parser = parse_source,
        hide_default_value = true
    )]
    pub(crate) from: Source,
    /// How many charts to make; as few as --max-stretch allows unless given.
    #[arg(long, value_name = "N", value_parser = parse_positive, allow_negative_numbers = true)]
    pub(crate) charts: Option<usize>,
    /// Join charts as long as their stretch stays below this, from 1; larger gives fewer charts.
    #[arg(
        long,
        value_name = "X",
        default_value_t = UnwrapOptions::default().max_stretch,
        allow_negative_numbers = true
    )]
    pub(crate) max_stretch: f64,
    /// Join charts that would be narrower than this, in texels, to a neighbour even if that stretches them.
    #[arg(
        long,
        value_name = "TEXELS",
        default_value_t = UnwrapOptions::default().min_width,
        allow_negative_numbers = true
    )]
    pub(crate) min_width: f64,
    /// Make borders between charts straight lines in the atlas, so that levels of detail can keep its texture.
    #[arg(long)]
    pub(crate) straight_borders: bool,
    /// Width and height of the atlas, in texels.
    #[arg(
        long,
        value_name = "TEXELS",
        default_value_t = UnwrapOptions::default().size,
        allow_negative_numbers = true
    )]
    pub(crate) size: u32,
    /// Texels that stay free between charts.
    #[arg(
        long,
        value_name = "TEXELS",
        default_value_t = UnwrapOptions::default().padding,
        allow_negative_numbers = true
    )]
    pub(crate) padding: u32,
    /// Texels that a length of one model unit gets, for characters that share a look; as many as fit unless given.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) texels_per_unit: Option<f64>,
    /// How large charts are beside each other: even makes stretched ones larger, which has the least stretch; by-area gives
    /// each the area that it has on the surface.
    #[arg(long, value_name = "RULE", default_value = "even")]
    pub(crate) texel_density: DensityName,
    /// Lower the stretch of the UVs that are there, without moving their seams.
    #[arg(long, conflicts_with_all = ["from", "charts", "straight_borders"])]
    pub(crate) keep: bool,
    /// The set that the UVs go to, TEXCOORD_N: the first unless given, or a new one where textures use those that are there.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) set: Option<usize>,
    /// The poses in which stretch should be low: shown in clips and frames (else within limits, else at rest), the rest pose
    /// alone, poses within the limits that the file records, or any rotation of every joint.
    #[arg(long, value_name = "WHICH", default_value = "shown")]
    pub(crate) poses: PosesName,
    /// Where the result goes: .glb .gltf .obj
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Draw the character in three poses under a chequered texture, its atlas, and how much is stretched: a .png
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Write a report with these pictures: one self-contained HTML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Which axis points up in the pictures.
    #[arg(long = "up", value_name = "AXIS", value_enum, default_value_t = Up::Y)]
    pub(crate) picture_up: Up,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Where seams come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nowhere: charts are found.
    Auto,
    /// The UVs that are there.
    Seams,
    /// Borders of materials.
    Materials,
    /// Edges with split normals.
    Creases,
    /// Another file with the same points.
    File(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DensityName {
    Even,
    ByArea,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PosesName {
    Shown,
    Rest,
    Limits,
    Any,
}

/// A word, or a file, whose name has an ending.
fn parse_source(text: &str) -> Result<Source, String> {
    Ok(match text {
        "auto" => Source::Auto,
        "seams" => Source::Seams,
        "materials" => Source::Materials,
        "creases" => Source::Creases,
        _ if text.contains('.') => Source::File(text.into()),
        _ => return Err("expected auto, seams, materials, creases or a file".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_an_ending_is_a_file_and_a_slip_is_none() {
        let file = |name: &str| Ok(Source::File(name.into()));
        assert_eq!(parse_source("drawn.obj"), file("drawn.obj"), "a file");
        assert_eq!(parse_source("./seams"), file("./seams"), "in a folder");
        assert_eq!(parse_source("seams"), Ok(Source::Seams), "a word");
        assert!(parse_source("seam").is_err(), "a slip");
    }
}
