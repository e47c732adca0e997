//! Raw arguments about what is read: its unit, its axes, and whether meshes must belong together.

use clap::Args;
use dermis::document::MatchOptions;
use dermis_io::Placement;

use crate::talk::Talk;

/// Which axis points up in what is read.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct UpArgs {
    /// Which axis points up in the files that are read: y, or z, which turns meshes, frames, bones, poses and
    /// clips to y up. glTF files are y up by their standard and never turned. frames=z turns only the frames
    /// of a sequence and leaves its rest mesh.
    #[arg(long, value_name = "AXIS", value_parser = parse_up)]
    pub(crate) input_up: Option<InputUp>,
}

/// Unit and axes of the meshes that are read, and what happens when they do not belong together.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct MatchArgs {
    #[command(flatten)]
    pub(crate) up: UpArgs,
    /// Multiply all lengths of the input by this, such as 0.01 for centimetres to metres; frames=0.01 scales
    /// only the frames of a sequence and leaves its rest mesh. Files beside the input stay as they are: the
    /// rig of --skeleton or --keep, the skin that is posed, the base of a project.
    #[arg(long, value_name = "FACTOR", value_parser = parse_scale)]
    pub(crate) scale: Option<Scale>,
    /// Put vertices that are in another order than in the rest mesh into its order, each where it lies
    /// nearest in a mesh that is in the rest pose.
    #[arg(long)]
    pub(crate) reorder: bool,
}

/// What an argument is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// All of the input.
    All,
    /// The frames of a sequence without their rest mesh.
    Frames,
}

/// `--input-up`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputUp {
    pub(crate) of: Of,
    pub(crate) is_z: bool,
}

/// `--scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) of: Of,
    pub(crate) factor: f64,
}

impl UpArgs {
    /// How the rest mesh and all that comes with it is placed, and how the frames are.
    pub(crate) fn placements(&self) -> [Placement; 2] {
        let z_up = |of: Of| {
            let is_meant = |up: &InputUp| up.is_z && (up.of == Of::All || up.of == of);
            self.input_up.as_ref().is_some_and(is_meant)
        };
        [Of::All, Of::Frames].map(|of| Placement {
            z_up: z_up(of),
            ..Placement::default()
        })
    }
}

impl MatchArgs {
    /// What happens to meshes that do not belong together.
    pub(crate) fn options(&self, talk: &Talk) -> MatchOptions {
        MatchOptions {
            reorder: self.reorder,
            force: talk.is_forced(),
        }
    }

    /// How the rest mesh and all that comes with it is placed, and how the frames are.
    pub(crate) fn placements(&self) -> [Placement; 2] {
        let mut placements = self.up.placements();
        if let Some(scale) = self.scale {
            placements[1].scale = scale.factor;
            if scale.of == Of::All {
                placements[0].scale = scale.factor;
            }
        }
        placements
    }
}

/// `frames=VALUE` or `VALUE`.
fn split(text: &str) -> (Of, &str) {
    match text.trim().strip_prefix("frames=") {
        Some(value) => (Of::Frames, value.trim()),
        None => (Of::All, text.trim()),
    }
}

fn parse_up(text: &str) -> Result<InputUp, String> {
    let (of, axis) = split(text);
    match axis {
        "y" | "z" => Ok(InputUp {
            of,
            is_z: axis == "z",
        }),
        _ => Err("expected y, z or frames=z".to_owned()),
    }
}

fn parse_scale(text: &str) -> Result<Scale, String> {
    let (of, factor) = split(text);
    match factor.parse::<f64>() {
        Ok(factor) if factor > 0.0 && factor.is_finite() => Ok(Scale { of, factor }),
        _ => Err("expected a number above 0, such as 0.01 or frames=0.01".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_and_factors_are_of_all_or_of_frames() {
        let up = |text: &str| parse_up(text).map(|up| (up.of, up.is_z));
        assert_eq!(up("z"), Ok((Of::All, true)), "all");
        assert_eq!(up("frames=z"), Ok((Of::Frames, true)), "frames");
        assert_eq!(up("y"), Ok((Of::All, false)), "as it is");
        assert!(up("x").is_err() && up("frames=").is_err(), "no such axis");
        let scale = |text: &str| parse_scale(text).map(|scale| (scale.of, scale.factor));
        assert_eq!(scale("0.01"), Ok((Of::All, 0.01)), "all");
        assert_eq!(scale("frames=100"), Ok((Of::Frames, 100.0)), "frames");
        for wrong in ["0", "-1", "nan", "inf", "", "frames=", "rest=2"] {
            assert!(scale(wrong).is_err(), "{wrong}");
        }
    }
}
