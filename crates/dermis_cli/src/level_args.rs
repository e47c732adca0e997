//! Which level of a file with several is meant, the same for every command that takes one out.

use anyhow::{Context, bail};
use clap::Args;
use dermis_io::Document;

use crate::length::{Length, parse_length};

/// Which level of detail is taken.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LevelArgs {
    /// Take this level of detail alone, of a file made with `dermis lod`: 0 is the full character, 1 the first coarser
    /// one.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) level: Option<usize>,
    /// Take the character after so many steps of its simplification, of a file made with `dermis lod --progressive`: 0 is
    /// the full character.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        conflicts_with = "level"
    )]
    pub(crate) steps: Option<usize>,
    /// Take the character after as many steps as there are without one that strays farther than this, root mean square
    /// over poses: 2mm, 0.01 (model units), or 0.5% of the size. For a file made with `dermis lod --progressive`.
    #[arg(
        long,
        value_name = "LENGTH",
        value_parser = parse_length,
        allow_hyphen_values = true,
        conflicts_with_all = ["level", "steps"]
    )]
    pub(crate) level_error: Option<Length>,
}

impl LevelArgs {
    /// The level that was asked for as a document of its own; the document itself where none was.
    pub(crate) fn taken_from(self, document: Document) -> anyhow::Result<Document> {
        if self.steps.is_some() || self.level_error.is_some() {
            return self.after_steps(&document);
        }
        let Some(number) = self.level else {
            return Ok(document);
        };
        match document.at_level(number) {
            Some(level) => Ok(level),
            None => bail!(
                "{}: --level {number}: expected {}",
                document.path.display(),
                match document.levels.len() {
                    0 => "0, because the file has no levels of detail: `dermis lod` makes them"
                        .to_owned(),
                    coarsest => format!("0 to {coarsest}"),
                }
            ),
        }
    }

    /// The document after as many steps as were asked for.
    fn after_steps(self, document: &Document) -> anyhow::Result<Document> {
        let file = document.path.display();
        let flag = match self.steps {
            Some(_) => "--steps",
            None => "--level-error",
        };
        let (Some(sequence), Some(skin)) = (&document.progressive, &document.skin) else {
            bail!(
                "{file}: {flag}: expected a file with the steps of its simplification: `dermis lod --progressive` \
                 makes one"
            );
        };
        let steps = match (self.steps, self.level_error) {
            (Some(steps), _) => steps,
            (None, Some(length)) => sequence.steps_within(length.model_units(skin.size()?)),
            (None, None) => 0,
        };
        let count = sequence.step_count();
        if steps > count {
            bail!("{file}: {flag} {steps}: expected 0 to {count}");
        }
        let taken = document.at_steps(steps);
        let taken = taken.with_context(|| file.to_string())?;
        taken.with_context(|| format!("{file}: {flag}: found no steps"))
    }
}
