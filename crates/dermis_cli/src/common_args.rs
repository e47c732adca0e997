//! Options of every command.

use clap::{Args, ColorChoice};

use crate::memory::parse_size;

/// Heads them in help.
const EVERY_COMMAND: &str = "Options of every command";

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = EVERY_COMMAND)]
pub(crate) struct Common {
    /// Go ahead although the input looks wrong (meshes in another vertex order, unit or axes), or a file that is
    /// read would be replaced.
    #[arg(long, global = true)]
    pub(crate) force: bool,
    /// Threads to use, at most 1024; all cores unless given. The result is the same for any number of threads.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Most memory that a step may plan to take, such as 500M or 4G; what would take more is refused before it begins
    /// [default: three quarters of the machine's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) limit_memory: Option<u64>,
    /// Say more: every file that is read, every stage of the work and every choice, with times.
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Print results and errors only: no progress, no notes, no warnings.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// When to use colours: auto means in a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
}
