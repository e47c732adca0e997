//! Text files that people write.

use std::path::Path;

use anyhow::bail;
use serde::de::DeserializeOwned;

/// Reads TOML; what is wrong with it is one sentence, with the line.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> anyhow::Result<T> {
    let error = match toml_edit::de::from_str(text) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let line_of = |at: usize| {
        let before = text.bytes().take(at);
        1 + before.filter(|byte| *byte == b'\n').count()
    };
    let line = error.span().map(|span| line_of(span.start));
    // The parser would draw the line with a mark below it.
    let message = error.message().replace('\n', ", ").replace('`', "'");
    match line {
        Some(line) => bail!("{}: line {line}: {message}", path.display()),
        None => bail!("{}: {message}", path.display()),
    }
}
