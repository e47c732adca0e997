//! Raw arguments of the commands about all poses at once: `stats`, `bounds`, `transform`.

use std::path::PathBuf;

use clap::Args;

use crate::input_args::UpArgs;

/// Arguments of `dermis stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// A clip to take poses from, instead of all clips; may be given again. With --limits: for the joints
    /// that the limits do not name.
    #[arg(long, value_name = "NAME", conflicts_with = "uniform")]
    pub(crate) clip: Vec<String>,
    /// What joints may do, as a text file: those that it names are spread evenly over their limits. With
    /// others = "seen" the rest keep what the clips show of them.
    #[arg(long, value_name = "FILE", conflicts_with = "uniform")]
    pub(crate) limits: Option<PathBuf>,
    /// Take every rotation of every joint for equally likely.
    #[arg(long)]
    pub(crate) uniform: bool,
    /// Where the file with the statistics goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `dermis bounds`.
#[derive(Debug, Args)]
pub(crate) struct BoundsArgs {
    /// A file with a skin.
    #[arg(value_name = "SKIN")]
    pub(crate) skin: PathBuf,
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// What joints may do, as a text file, instead of what the file says.
    #[arg(long, value_name = "FILE", conflicts_with = "any_rotation")]
    pub(crate) limits: Option<PathBuf>,
    /// Leave out what is known of the joints: they may turn every way.
    #[arg(long)]
    pub(crate) any_rotation: bool,
    /// Where the file with the bounds goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A camera at EYE that looks at TARGET, as X,Y,Z:X,Y,Z: says whether it may see the skin.
    #[arg(long, value_name = "EYE:TARGET", value_parser = parse_eye)]
    pub(crate) frustum: Option<[[f64; 3]; 2]>,
    /// Angle between the lower and the upper edge of its picture, in degrees.
    #[arg(
        long,
        value_name = "DEG",
        default_value_t = 45.0,
        requires = "frustum",
        allow_negative_numbers = true
    )]
    pub(crate) fov: f64,
    /// A crowd of instances on the ground, as COLUMNSxROWS:DISTANCE: says how many may be seen.
    #[arg(long, value_name = "CxR:D", value_parser = parse_crowd, requires = "frustum")]
    pub(crate) crowd: Option<Crowd>,
    /// Exit with 1 when the sphere for legal poses is more than so many times the best one found.
    #[arg(long, value_name = "RATIO", allow_negative_numbers = true)]
    pub(crate) max_ratio: Option<f64>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
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
    /// The file to move: .glb .gltf .npz .obj .ply .pc2 .mdd
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
    /// Turns in degrees about axes, after each other: x=-90 or y=30,x=10
    #[arg(long, value_name = "AXIS=DEG,...", value_parser = parse_turns, allow_hyphen_values = true)]
    pub(crate) rotate: Option<Turns>,
    /// A translation, after scale and rotation: X,Y,Z
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_vector, allow_hyphen_values = true)]
    pub(crate) translate: Option<[f64; 3]>,
    /// Where the moved file goes.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
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

fn parse_eye(text: &str) -> Result<[[f64; 3]; 2], String> {
    let Some((eye, target)) = text.split_once(':') else {
        return Err("expected EYE:TARGET, such as 3,2,5:0,1,0".to_owned());
    };
    let (eye, target) = (parse_vector(eye)?, parse_vector(target)?);
    match eye == target {
        true => Err("the camera stands where it looks at".to_owned()),
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
