//! Raw arguments about how results are printed, the same for every command that prints some.

use clap::Args;

use crate::args::Command;

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON instead of a table: all numbers, and what they were made from and how
    #[arg(long, conflicts_with_all = ["csv", "wide"])]
    pub(crate) json: bool,
    /// Print CSV instead of a table: a line for each row, all columns, all digits; lines that begin with # say what the
    /// numbers were made from and how
    #[arg(long, conflicts_with = "wide")]
    pub(crate) csv: bool,
    /// Print all columns of tables, and break no lines, however wide that is
    #[arg(long)]
    pub(crate) wide: bool,
}

impl OutputArgs {
    /// Whether the result says what it comes from: then files are remembered as they are read.
    pub(crate) fn has_provenance(self) -> bool {
        self.json || self.csv
    }
}

impl Command {
    /// How the command prints its results; as text where it has no choice.
    pub(crate) fn output(&self) -> OutputArgs {
        match self {
            Self::Info(args) => args.print,
            Self::Fit(args) => args.print,
            Self::Compare(args) => args.print,
            Self::Decompose(args) => args.print,
            Self::Rig(args) => args.print,
            Self::Pose(args) => args.print,
            Self::Measure(args) => args.print,
            Self::Stats(args) => args.print,
            Self::Bounds(args) => args.print,
            Self::Subdivide(args) => args.print,
            Self::Lod(args) => args.print,
            Self::Unwrap(args) => args.print,
            Self::Bake(args) => args.print,
            Self::Render(args) => args.print,
            Self::Crowd(args) => args.print,
            Self::Bench(args) => args.print,
            // Named one by one, so that a new command is not forgotten here: its JSON would lack what it comes from.
            Self::Convert(_)
            | Self::Psd(_)
            | Self::BakeClips(_)
            | Self::Eval(_)
            | Self::Transform(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Demo(_) => OutputArgs::default(),
        }
    }
}
