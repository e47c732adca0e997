//! Raw arguments of `dermis render`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{parse_fps, parse_positive};
use crate::input_args::UpArgs;
use crate::level_args::LevelArgs;
use crate::output_args::OutputArgs;

/// Arguments of `dermis render`.
#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    /// A character or a mesh: .glb .gltf .obj .ply .npz and everything else that dermis reads.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The picture to write, .png; or .apng, which moves: the clip, or the character turning with --turntable; or - for
    /// standard output.
    #[arg(
        long,
        short,
        value_name = "FILE",
        required_unless_present = "frames",
        conflicts_with = "frames"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Write one picture for each frame of the clip (of the turn, with --turntable) instead: a name with # for the digits of
    /// the frame's number, such as 'out_####.png'.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) frames: Option<PathBuf>,
    /// The clip to show.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pose", "poses"])]
    pub(crate) clip: Option<String>,
    /// When in the clip, in seconds; its beginning unless given. Of frames that are meshes, the nearest is shown.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, conflicts_with_all = ["pose", "poses"])]
    pub(crate) time: Option<f64>,
    /// A pose: rest, default, or a list such as 'forearm.rz=90, smile=0.5'. May be repeated with --sheet.
    #[arg(long, value_name = "POSE")]
    pub(crate) pose: Vec<String>,
    /// A file of poses, .npz with bone_rest and bone_pose: bones are found by their names.
    #[arg(long, value_name = "FILE", conflicts_with = "pose")]
    pub(crate) poses: Option<PathBuf>,
    /// Frames per second of --frames and .apng; 24 unless given, or what meshes in the file were recorded with.
    #[arg(long, value_name = "FPS", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
    /// Show several moments of the clip, or several poses, side by side in one picture.
    #[arg(long, conflicts_with = "frames")]
    pub(crate) sheet: bool,
    /// Show the character from all around: side by side, or as frames of a turn.
    #[arg(long)]
    pub(crate) turntable: bool,
    /// How many moments or views; 8 on a sheet, and 48 frames of a turn, unless given.
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) count: Option<usize>,
    /// Pictures in a row of a sheet; as near to twice as wide as high as can be unless given.
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    pub(crate) columns: Option<usize>,
    /// Width and height in pixels, such as 1920x1080, or one number for both; 1024 unless given, and 320 for each picture
    /// on a sheet.
    #[arg(long, value_name = "WxH", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<[u32; 2]>,
    /// Where it is seen from. Characters face +Z; three-quarter is from where they look widest, turned to the side a little.
    #[arg(long, value_name = "SIDE", value_enum, default_value_t = Side::ThreeQuarter)]
    pub(crate) view: Side,
    /// Which way the camera looks instead, as X,Y,Z: 0,0,-1 is from the front.
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_direction, allow_hyphen_values = true, conflicts_with = "view")]
    pub(crate) direction: Option<[f32; 3]>,
    /// No perspective: parallel lines stay parallel.
    #[arg(long, conflicts_with = "field_of_view")]
    pub(crate) orthographic: bool,
    /// The camera's angle from bottom to top, in degrees, 1 to 150; smaller is a longer lens from farther away.
    #[arg(long, value_name = "DEG", value_parser = parse_angle, default_value = "28", allow_hyphen_values = true)]
    pub(crate) field_of_view: f32,
    /// What is behind: studio (a soft light grey), white, black, transparent, or a colour such as #c0d0e0.
    #[arg(long, value_name = "COLOUR", value_parser = parse_background, default_value = "studio")]
    pub(crate) background: Backdrop,
    /// No shadow on the ground.
    #[arg(long)]
    pub(crate) no_ground: bool,
    /// Plain clay, whatever colours and textures the file has.
    #[arg(long)]
    pub(crate) no_textures: bool,
    /// Draw the edges of all triangles.
    #[arg(long)]
    pub(crate) wireframe: bool,
    /// What draws: auto takes a graphics card where there is one and dermis is built with `--features gpu`, else the
    /// processor. Pictures look the same.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Device::Auto)]
    pub(crate) device: Device,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// A place to look from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Side {
    /// From the front, a little from the side and from above.
    ThreeQuarter,
    /// Towards the face.
    Front,
    /// Towards the back.
    Back,
    /// From the character's left.
    Left,
    /// From the character's right.
    Right,
    /// From above.
    Top,
    /// From below.
    Bottom,
}

/// What draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Device {
    /// The graphics card if there is one.
    Auto,
    /// The graphics card; software that acts as one will do.
    Gpu,
    /// The processor.
    Cpu,
}

/// What is behind the character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Backdrop {
    /// A soft light grey.
    Studio,
    /// One sRGB colour.
    Solid([f32; 3]),
    /// Nothing.
    Transparent,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let most = dermis_render::MAX_SIDE;
    let side = |text: &str| {
        let side = text.trim().parse::<u32>().ok();
        side.filter(|side| (1..=most).contains(side))
    };
    let size = match text.split_once(['x', '×']) {
        Some((width, height)) => side(width).zip(side(height)),
        None => side(text).map(|side| (side, side)),
    };
    size.map(|(width, height)| [width, height])
        .ok_or_else(|| format!("expected 1 to {most} pixels, such as 1024 or 1920x1080"))
}

fn parse_direction(text: &str) -> Result<[f32; 3], String> {
    let expected = || "expected three numbers that are not all 0, such as -1,-0.5,-1".to_owned();
    let numbers: Option<Vec<f32>> = (text.split(','))
        .map(|word| word.trim().parse::<f32>().ok().filter(|x| x.is_finite()))
        .collect();
    let direction: [f32; 3] = numbers
        .and_then(|n| n.try_into().ok())
        .ok_or_else(expected)?;
    match direction == [0.0; 3] {
        true => Err(expected()),
        false => Ok(direction),
    }
}

fn parse_angle(text: &str) -> Result<f32, String> {
    match text.trim().parse::<f32>() {
        Ok(angle) if (1.0..=150.0).contains(&angle) => Ok(angle),
        _ => Err("expected an angle from 1 to 150 degrees".to_owned()),
    }
}

fn parse_background(text: &str) -> Result<Backdrop, String> {
    let expected = "expected studio, white, black, transparent or a colour such as #c0d0e0";
    let digits = match text {
        "studio" => return Ok(Backdrop::Studio),
        "transparent" => return Ok(Backdrop::Transparent),
        "white" => "ffffff",
        "black" => "000000",
        _ => text.strip_prefix('#').ok_or(expected)?,
    };
    let is_hex = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex);
    let [_, channels @ ..] = number.ok_or(expected)?.to_be_bytes();
    Ok(Backdrop::Solid(channels.map(|c| f32::from(c) / 255.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_number_or_two() {
        assert_eq!(parse_size("640"), Ok([640, 640]), "a square");
        assert_eq!(parse_size("1920x1080"), Ok([1920, 1080]), "both");
        assert_eq!(
            parse_size("8192 × 1"),
            Ok([8192, 1]),
            "the most and the least"
        );
        for wrong in ["0", "-5", "8193", "640x0", "640x", "x", "", "1e3", "6x4x2"] {
            let error = parse_size(wrong).expect_err(wrong);
            assert!(error.starts_with("expected 1 to 8192"), "{wrong}: {error}");
        }
    }

    #[test]
    fn directions_are_three_numbers() {
        assert_eq!(
            parse_direction("-1, 0.5,2"),
            Ok([-1.0, 0.5, 2.0]),
            "numbers"
        );
        for wrong in ["0,0,0", "1,2", "1,2,3,4", "a,b,c", "", "nan,0,1"] {
            assert!(parse_direction(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn backgrounds_have_names_or_digits() {
        assert_eq!(
            parse_background("studio"),
            Ok(Backdrop::Studio),
            "the usual"
        );
        let white = Backdrop::Solid([1.0; 3]);
        assert_eq!(parse_background("white"), Ok(white), "a name");
        assert_eq!(parse_background("#FFffff"), Ok(white), "digits");
        let orange = Backdrop::Solid([1.0, 128.0 / 255.0, 0.0]);
        assert_eq!(parse_background("#ff8000"), Ok(orange), "red first");
        for wrong in ["", "#", "#fff", "#gggggg", "#+12345", "red", "ff8000"] {
            assert!(parse_background(wrong).is_err(), "{wrong}");
        }
    }
}
