//! Raw arguments of the commands about all poses at once: `stats`, `bounds`, `transform`.

use std::path::PathBuf;

use clap::Args;

use crate::input_args::UpArgs;
use crate::output_args::OutputArgs;
use crate::output_file::StreamArgs;

/// Arguments of `dermis stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// A clip to take poses from, instead of all clips. May be repeated. With --limits, clips say what the
    /// joints do that the limits file does not name.
    #[arg(long, value_name = "NAME", conflicts_with = "uniform")]
    pub(crate) clip: Vec<String>,
    /// A text file of joint limits: joints that it names take every pose within them, all equally likely.
    /// With others = "seen" in it, the rest do what the clips show.
    #[arg(long, value_name = "FILE", conflicts_with = "uniform")]
    pub(crate) limits: Option<PathBuf>,
    /// Assume that every rotation of every joint is equally likely.
    #[arg(long)]
    pub(crate) uniform: bool,
    /// Where the file with the statistics goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Arguments of `dermis bounds`.
#[derive(Debug, Args)]
pub(crate) struct BoundsArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// A text file of joint limits, instead of what the file says of its joints.
    #[arg(long, value_name = "FILE", conflicts_with = "any_rotation")]
    pub(crate) limits: Option<PathBuf>,
    /// Ignore what is known of the joints: let them turn every way.
    #[arg(long)]
    pub(crate) any_rotation: bool,
    /// Where the file with the bounds goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A camera at EYE that looks at TARGET, as X,Y,Z:X,Y,Z. Prints whether it may see the skin.
    #[arg(long, value_name = "EYE:TARGET", value_parser = parse_eye)]
    pub(crate) frustum: Option<[[f64; 3]; 2]>,
    /// The camera's vertical field of view, in degrees.
    #[arg(
        long,
        value_name = "DEG",
        default_value_t = 45.0,
        requires = "frustum",
        allow_negative_numbers = true
    )]
    pub(crate) fov: f64,
    /// A grid of instances on the ground, as COLUMNSxROWS:DISTANCE. Prints how many the camera may see.
    #[arg(long, value_name = "CxR:D", value_parser = parse_crowd, requires = "frustum")]
    pub(crate) crowd: Option<Crowd>,
    /// Exit with 1 when the sphere for all allowed poses is more than RATIO times as large as one around the widest
    /// poses that were found.
    #[arg(long, value_name = "RATIO", allow_negative_numbers = true)]
    pub(crate) max_ratio: Option<f64>,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// Instances in a grid, in the plane of x and z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crowd {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) distance: f64,
}

/// Arguments of `dermis transform`.
#[derive(Debug, Args)]
pub(crate) struct TransformArgs {
    /// The file to move: .glb .gltf .npz .obj .ply .pc2 .mdd .abc .fbx
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// A factor above 0, about the origin.
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub(crate) scale: f64,
    /// Turns about axes, in degrees and in this order: x=-90 or y=30,x=10
    #[arg(long, value_name = "AXIS=DEG,...", value_parser = parse_turns, allow_hyphen_values = true)]
    pub(crate) rotate: Option<Turns>,
    /// A translation, after scale and rotation: X,Y,Z
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true)]
    pub(crate) translate: Option<[f64; 3]>,
    /// Where the moved file goes; - for standard output, with --format.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// Turns about coordinate axes, in degrees, the first one first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turns(pub(crate) Vec<(usize, f64)>);

fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(format!("expected a number, found '{}'", text.trim())),
    }
}

fn parse_vector(text: &str) -> Result<[f64; 3], String> {
    let parts: Vec<f64> = text.split(',').map(number).collect::<Result<_, _>>()?;
    parts
        .try_into()
        .map_err(|_| "expected three numbers, such as 0,0,1".to_owned())
}

pub(crate) fn parse_eye(text: &str) -> Result<[[f64; 3]; 2], String> {
    let Some((eye, target)) = text.split_once(':') else {
        return Err("expected EYE:TARGET, such as 3,2,5:0,1,0".to_owned());
    };
    let (eye, target) = (parse_vector(eye)?, parse_vector(target)?);
    match eye == target {
        true => Err("expected a camera and a target in different places".to_owned()),
        false => Ok([eye, target]),
    }
}

fn parse_crowd(text: &str) -> Result<Crowd, String> {
    let problem = || "expected COLUMNSxROWS:DISTANCE, such as 40x25:2.5".to_owned();
    let (grid, distance) = text.split_once(':').ok_or_else(problem)?;
    let (columns, rows) = grid.split_once('x').ok_or_else(problem)?;
    let count = |text: &str| text.trim().parse::<usize>().map_err(|_| problem());
    let (columns, rows) = (count(columns)?, count(rows)?);
    if columns == 0 || rows == 0 {
        return Err("expected at least one column and one row".to_owned());
    }
    if columns.saturating_mul(rows) > 10_000_000 {
        return Err("expected at most ten million instances".to_owned());
    }
    Ok(Crowd {
        columns,
        rows,
        distance: number(distance)?,
    })
}

fn parse_turns(text: &str) -> Result<Turns, String> {
    let turn = |item: &str| {
        let (axis, angle) = item
            .split_once('=')
            .ok_or_else(|| format!("expected AXIS=DEGREES, such as x=-90, found '{item}'"))?;
        let axis = match axis.trim() {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            other => return Err(format!("expected x, y or z, found '{other}'")),
        };
        Ok((axis, number(angle)?))
    };
    Ok(Turns(text.split(',').map(turn).collect::<Result<_, _>>()?))
}
