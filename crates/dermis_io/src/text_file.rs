//! Text files that people write.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::{Fault, IoError};

/// Reads a file of text.
pub(crate) fn read(path: &Path) -> Result<String, IoError> {
    let bytes = crate::read_file(path).map_err(|source| IoError::Read {
        path: path.to_owned(),
        source,
    })?;
    String::from_utf8(bytes).map_err(|_| {
        let fault = Fault::Text {
            line: None,
            problem: "expected text, found other bytes".to_owned(),
        };
        fault.in_file(path)
    })
}

/// Reads TOML; what is wrong with it is one sentence, with the line.
pub(crate) fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, IoError> {
    toml_edit::de::from_str(text).map_err(|error| {
        let line_of = |at: usize| {
            let before = text.bytes().take(at);
            1 + before.filter(|byte| *byte == b'\n').count()
        };
        let fault = Fault::Text {
            line: error.span().map(|span| line_of(span.start)),
            // The parser would draw the line with a mark below it.
            problem: error.message().replace('\n', ", ").replace('`', "'"),
        };
        fault.in_file(path)
    })
}
