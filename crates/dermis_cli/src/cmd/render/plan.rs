//! Which files are written, checked before anything is read.

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::output_file::{is_stdout, refuse_terminal};
use crate::render_args::RenderArgs;

/// What the pictures become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One picture in one file.
    Single,
    /// Several pictures in one file.
    Sheet,
    /// One file that moves.
    Animation,
    /// A file each.
    Files,
}

/// Where the pictures go.
pub(super) struct Plan {
    pub(super) kind: Kind,
    /// The file, or the pattern of the files.
    path: PathBuf,
    pub(super) is_stdout: bool,
}

impl Plan {
    pub(super) fn new(args: &RenderArgs) -> anyhow::Result<Self> {
        let plan = match (&args.frames, &args.output) {
            (Some(pattern), _) => Self::of_frames(pattern)?,
            (None, Some(output)) => Self::of_file(output, args)?,
            // The command line asks for one of them.
            (None, None) => bail!("expected a file to write: give it with -o"),
        };
        if args.sheet && plan.kind == Kind::Animation {
            bail!("--sheet: a sheet does not move: write it as .png");
        }
        if args.pose.len() > 1 && args.turntable {
            bail!(
                "--turntable: expected one --pose, found {}",
                args.pose.len()
            );
        }
        let has_count = plan.kind == Kind::Sheet || args.turntable;
        if args.count.is_some() && !has_count {
            bail!(
                "--count is about --sheet and --turntable; --fps says how many frames a second there are"
            );
        }
        if args.columns.is_some() && plan.kind != Kind::Sheet {
            bail!("--columns is about a sheet: add --sheet, or --turntable");
        }
        let has_rate = matches!(plan.kind, Kind::Files | Kind::Animation);
        if args.fps.is_some() && !has_rate {
            bail!("--fps is about --frames and .apng; --count says how many pictures a sheet has");
        }
        Ok(plan)
    }

    fn of_frames(pattern: &Path) -> anyhow::Result<Self> {
        let name = pattern.file_name().unwrap_or_default().to_string_lossy();
        let runs = name.split(|c| c != '#').filter(|run| !run.is_empty());
        if runs.count() != 1 || !ends_in(pattern, "png") {
            bail!(
                "--frames {}: expected a name with # for the digits of the frame's number, such as out_####.png",
                pattern.display()
            );
        }
        Ok(Self {
            kind: Kind::Files,
            path: pattern.to_owned(),
            is_stdout: false,
        })
    }

    fn of_file(output: &Path, args: &RenderArgs) -> anyhow::Result<Self> {
        let to_stdout = is_stdout(output);
        if to_stdout {
            refuse_terminal()?;
            if args.print.json || args.print.csv {
                bail!(
                    "-o -: standard output can hold the picture or the numbers: give a file for the picture"
                );
            }
        }
        let kind = match () {
            () if ends_in(output, "apng") => Kind::Animation,
            () if !to_stdout && !ends_in(output, "png") => bail!(
                "{}: a picture is written as .png, and one that moves as .apng",
                output.display()
            ),
            () if args.sheet || args.turntable => Kind::Sheet,
            () => Kind::Single,
        };
        Ok(Self {
            kind,
            path: output.to_owned(),
            is_stdout: to_stdout,
        })
    }

    /// The file of a picture; that of all where there is one.
    pub(super) fn file(&self, number: usize) -> PathBuf {
        if self.kind != Kind::Files {
            return self.path.clone();
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let width = name.matches('#').count();
        let number = format!("{number:0width$}");
        self.path
            .with_file_name(name.replace(&"#".repeat(width), &number))
    }
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_of_a_pattern_are_the_frames_number() {
        let plan = Plan::of_frames(Path::new("a#b/out_###.png")).expect("a pattern");
        assert_eq!(plan.file(7), Path::new("a#b/out_007.png"), "padded");
        assert_eq!(plan.file(1234), Path::new("a#b/out_1234.png"), "longer");
        for wrong in ["out.png", "##.jpg", "#_#.png", "a#/out.png", "####"] {
            let refused = Plan::of_frames(Path::new(wrong));
            assert!(refused.is_err(), "{wrong}");
        }
    }
}
