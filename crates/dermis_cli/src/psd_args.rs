//! Raw arguments of `dermis psd`, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::Up;
use crate::input_args::MatchArgs;
use crate::output_file::StreamArgs;

/// Arguments of `dermis psd`.
#[derive(Debug, Args)]
pub(crate) struct PsdArgs {
    #[command(subcommand)]
    pub(crate) step: PsdStep,
}

/// A step of the work on a sculpting project.
#[derive(Debug, Subcommand)]
pub(crate) enum PsdStep {
    /// Start a project: name a skin, and the controls that shapes will depend on.
    #[command(after_help = "\
Examples:
  dermis psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:auto
  dermis psd new arm.psd.toml --base arm.glb --control wrist=hand:swing-twist:x
  dermis psd new face.psd.toml --base face.obj --control smile=slider
  dermis psd new face.psd.toml --base face.obj  (dermis psd import adds sliders)

A control is NAME=BONE:TURN:AXIS or NAME=slider[:DEFAULT]. TURN is hinge (1 axis), swing (2), \
swing-twist (3) or free (3); AXIS is x, y, z, -x, -y or -z of the bone at rest, and free has none. \
hinge:auto finds the axis that the bone turns about in the clips of the base; `dermis info --bones` \
shows it for every bone.")]
    New(NewArgs),
    /// Write the mesh in a pose, with all shapes so far, to sculpt on.
    #[command(after_help = "\
Example:
  dermis psd pose arm.psd.toml --pose elbow=90,load=1 -o to_sculpt.obj")]
    Pose(PosedArgs),
    /// Add a sculpted mesh to the project: from now on it appears in its pose.
    #[command(after_help = "\
Examples:
  dermis psd add arm.psd.toml --pose elbow=90 --mesh sculpt.obj --falloff 40deg
  dermis psd add arm.psd.toml --pose elbow=90,load=1 --mesh lifting.obj \\
    --falloff elbow=40,load=0.5
  dermis psd add arm.psd.toml --pose forearm.rz=90 --mesh better.obj --replace

A pose lists what differs from rest: CONTROL=VALUE in degrees (90, 90deg, 1.2rad; 30/0/45 for \
several axes) or as a slider's number; or BONE.rx=DEGREES, if a control reads that turn.")]
    Add(AddArgs),
    /// Take all shapes of a face at once, each with a slider of its name.
    #[command(after_help = "\
Examples:
  dermis psd new face.psd.toml --base neutral.obj
  dermis psd import face.psd.toml face.glb
  dermis psd import face.psd.toml expressions.npz --layer expressions

Takes the morph targets of a .glb or .gltf, and of other files the frames: each becomes a slider, and a sculpt \
where the slider is at 1, in a new layer that adds them up. What moves nothing, or is there already, is skipped \
and named. The project is written when all went well, and otherwise left alone.")]
    Import(ImportArgs),
    /// Take shapes, or a layer with all its shapes, out of the project.
    #[command(after_help = "\
Examples:
  dermis psd remove arm.psd.toml flex90
  dermis psd remove arm.psd.toml --layer elbow+load

Files of shapes stay where they are. `dermis psd undo` takes it back.")]
    Remove(RemoveArgs),
    /// Take back the last edit: add, import or remove. Again, and the one before it is taken back.
    #[command(after_help = "\
Example:
  dermis psd undo arm.psd.toml

The edits are in the folder arm.psd.history beside the project, a file each. When the project was edited by \
hand after the last of them, undo asks for --force, because it would take that back, too.")]
    Undo(UndoArgs),
    /// Write the skin with all shapes of the project.
    #[command(after_help = "Example:\n  dermis psd fit arm.psd.toml -o arm_sculpted.glb")]
    Fit(PsdFitArgs),
    /// Draw the result along a control, with the curves that drive it.
    #[command(after_help = "\
Examples:
  dermis psd show arm.psd.toml --sweep elbow -o sweep.png
  dermis psd show arm.psd.toml --sweep elbow --at load=1 --steps 9 -o sweep.png")]
    Show(ShowArgs),
    /// List what is in a project, and warn about what will not look as it was sculpted.
    #[command(after_help = "\
Example:
  dermis psd check arm.psd.toml --strict

Exit code 0 even with warnings; 1 with --strict when there are any.")]
    Check(CheckArgs),
}

/// Arguments of `dermis psd new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The project to write, such as arm.psd.toml.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// A file with a skin; or a mesh alone, for sliders.
    #[arg(long, value_name = "FILE")]
    pub(crate) base: PathBuf,
    /// NAME=BONE:TURN:AXIS, such as elbow=forearm:hinge:auto; or NAME=slider, or NAME=slider:DEFAULT. May be repeated.
    #[arg(long, value_name = "CONTROL")]
    pub(crate) control: Vec<String>,
}

/// Arguments of `dermis psd import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// A file with morph targets or frames, with the vertices of the base in their order.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Name of the layer that is made for them; shapes unless given.
    #[arg(long, value_name = "NAME")]
    pub(crate) layer: Option<String>,
}

/// Arguments of `dermis psd pose`.
#[derive(Debug, Args)]
pub(crate) struct PosedArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// What differs from rest, such as elbow=90,load=1.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true)]
    pub(crate) pose: String,
    /// Where the mesh goes: .obj .ply .npz .glb and whatever else dermis writes; - for standard output, with
    /// --format.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// Arguments of `dermis psd add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// The pose of the mesh: what differs from rest, such as elbow=90,load=1.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true)]
    pub(crate) pose: String,
    /// The sculpted mesh, with the vertices of the base in their order.
    #[arg(long, value_name = "FILE")]
    pub(crate) mesh: PathBuf,
    /// How far from its pose the shape still shows: 40deg, 0.5, or one value per control, as in
    /// elbow=40,load=0.5. Half the distance to the nearest other pose unless given.
    #[arg(long, value_name = "FALLOFF")]
    pub(crate) falloff: Option<String>,
    /// Name of the sculpt and of its morph target; made from the pose unless given.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The layer to add it to. Unless given, the layer whose controls are exactly those that the pose moves.
    #[arg(long, value_name = "NAME")]
    pub(crate) layer: Option<String>,
    /// Replace the sculpt of that pose, or of that name.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Vertices that moved less than this, in model units, count as not sculpted; a millionth of the rest
    /// box's diagonal unless given.
    #[arg(long, value_name = "DISTANCE")]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) matching: MatchArgs,
}

/// Arguments of `dermis psd remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// Names of the shapes; `dermis psd check` lists them.
    #[arg(value_name = "SHAPE", required_unless_present = "layer")]
    pub(crate) shapes: Vec<String>,
    /// A layer to remove with all its shapes, instead.
    #[arg(long, value_name = "NAME", conflicts_with = "shapes")]
    pub(crate) layer: Option<String>,
}

/// Arguments of `dermis psd undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
}

/// Arguments of `dermis psd fit`.
#[derive(Debug, Args)]
pub(crate) struct PsdFitArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// Where the skin goes: .glb .gltf
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `dermis psd show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// The control to move: elbow, or shoulder.2 for the second of several axes.
    #[arg(long, value_name = "CONTROL")]
    pub(crate) sweep: String,
    /// Where the sweep begins, in degrees or as a slider's number.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) from: Option<f64>,
    /// Where the sweep ends. It covers the sculpts and a little more unless given.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) to: Option<f64>,
    /// Where the other controls stand, such as load=1.
    #[arg(long, value_name = "POSE", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// How many pictures, at most 100.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = parse_steps)]
    pub(crate) steps: usize,
    /// Which axis points up.
    #[arg(long, value_enum, default_value_t = Up::Y)]
    pub(crate) up: Up,
    /// Where the picture goes: .png; - for standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Arguments of `dermis psd check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The project.
    #[arg(value_name = "PROJECT")]
    pub(crate) project: PathBuf,
    /// Exit with 1 when there are warnings.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_steps(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(steps) if (1..=100).contains(&steps) => Ok(steps),
        _ => Err("expected a whole number of at least 1 and at most 100".to_owned()),
    }
}
