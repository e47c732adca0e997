//! The command line of dermis.
//!
//! Raw arguments (`args`) become checked plans inside each command (`cmd`), which call the library
//! and hand their results to `report`. Data goes to stdout, talk to stderr.

mod args;
mod bake_args;
mod cmd;
mod common_args;
mod crowd_args;
mod decompose_args;
mod examples;
mod help_texts;
mod hints;
mod influences;
mod input_args;
mod length;
mod level_args;
mod lod_args;
mod matching;
mod measure_args;
mod memory;
mod method_args;
mod option_flags;
mod output_args;
mod output_file;
mod overwrite;
mod plan;
mod pose_args;
mod psd_args;
mod render_args;
mod report;
mod resumed;
mod subdivide_args;
mod talk;
mod unwrap_args;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, Command};
use talk::Talk;

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// As asked.
    Done,
    /// Done, but a tolerance that was demanded is missed.
    ToleranceMissed,
}

fn main() -> ExitCode {
    // Help and mistakes have colours, too, and come before the arguments are known.
    asked_color(std::env::args_os()).write_global();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // --help and --version are answers, not mistakes.
            let asked = matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            // A reader that went away (`dermis --help | head`) is no reason to complain.
            let _ = error.print();
            return ExitCode::from(if asked { 0 } else { 2 });
        }
    };
    memory::set_limit(cli.common.limit_memory);
    if cli.command.output().has_provenance() {
        dermis_io::record_reads();
    }
    let talk = Talk::new(&cli.common);
    talk.listen_for_ctrl_c();
    talk.listen_for_reads();
    talk.say_more(|| {
        let memory = talk::format_bytes(dermis::limits::memory_bytes());
        let threads = cli.common.threads.map_or("all cores".to_owned(), |n| {
            talk::plural(usize::from(n), "thread")
        });
        format!(
            "dermis {}, {threads}, at most {memory} of memory",
            env!("CARGO_PKG_VERSION")
        )
    });
    let result = set_threads(cli.common.threads).and_then(|()| match &cli.command {
        Command::Info(args) => cmd::info::run(args, &talk),
        Command::Convert(args) => cmd::convert::run(args, &talk),
        Command::Fit(args) => cmd::fit::run(args, &talk),
        Command::Compare(args) => cmd::compare::run(args, &talk),
        Command::Decompose(args) => cmd::decompose::run(args, &talk),
        Command::Rig(args) => cmd::rig::run(args, &talk),
        Command::Pose(args) => cmd::pose::run(args, &talk),
        Command::Psd(args) => cmd::psd::run(args, &talk),
        Command::BakeClips(args) => cmd::bake_clips::run(args, &talk),
        Command::Eval(args) => cmd::eval::run(args, &talk),
        Command::Measure(args) => cmd::measure::run(args, &talk),
        Command::Stats(args) => cmd::stats::run(args, &talk),
        Command::Bounds(args) => cmd::bounds::run(args, &talk),
        Command::Transform(args) => cmd::transform::run(args, &talk),
        Command::Lod(args) => cmd::lod::run(args, &talk),
        Command::Subdivide(args) => cmd::subdivide::run(args, &talk),
        Command::Unwrap(args) => cmd::unwrap::run(args, &talk),
        Command::Bake(args) => cmd::bake::run(args, &talk),
        Command::Render(args) => cmd::render::run(args, &talk),
        Command::Crowd(args) => cmd::crowd::run(args, &talk),
        Command::Bench(args) => cmd::bench::run(args, &talk),
        Command::Completions(args) => cmd::shell::completions(args),
        Command::Man(args) => cmd::shell::man(args, &talk),
        Command::Demo(args) => cmd::demo::run(args, &talk),
    });
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::ToleranceMissed) => ExitCode::from(1),
        // `dermis bounds x.glb | head -1`: what was asked for was read.
        Err(error) if reader_went_away(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let sentence = memory::with_flag(one_sentence(&error));
            talk.last_word(format!("error: {sentence}"));
            ExitCode::from(2)
        }
    }
}

/// What `--color` says, which may stand anywhere; the rest of the program asks `anstream`, which also knows NO_COLOR
/// and CLICOLOR_FORCE.
fn asked_color(arguments: impl Iterator<Item = std::ffi::OsString>) -> anstream::ColorChoice {
    let mut words = arguments.filter_map(|word| word.into_string().ok());
    let mut asked = None;
    while let Some(word) = words.next() {
        match word.strip_prefix("--color") {
            Some("") => asked = words.next(),
            Some(value) => asked = value.strip_prefix('=').map(ToOwned::to_owned).or(asked),
            None if word == "--" => break,
            None => {}
        }
    }
    match asked.as_deref() {
        Some("always") => anstream::ColorChoice::Always,
        Some("never") => anstream::ColorChoice::Never,
        _ => anstream::ColorChoice::Auto,
    }
}

/// Whether printing failed because nobody reads any more.
fn reader_went_away(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The error and its causes, without those that a message already contains.
fn one_sentence(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(ToString::to_string)
        .fold(String::new(), |text, cause| match text.is_empty() {
            true => cause,
            false if text.contains(&cause) => text,
            false => format!("{text}: {cause}"),
        })
}

fn set_threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()?;
    }
    Ok(())
}
