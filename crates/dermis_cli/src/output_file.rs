//! `-o`: a file, or standard output as `-o - --format glb`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dermis_io::{Document, Format, WriteOptions};

/// What may be said about standard output as an output.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct StreamArgs {
    /// The format of standard output, which -o - writes to. Files have the format that their ending says.
    #[arg(long, value_name = "FORMAT", value_parser = stream_format())]
    format: Option<Format>,
}

/// Takes the extension of a format that is one file, and so can be sent through a pipe.
fn stream_format() -> impl TypedValueParser<Value = Format> {
    let is_one_file = |format: &Format| format.is_written() && !format.needs_files_beside();
    let formats = Format::ALL.into_iter().filter(is_one_file);
    let extensions = PossibleValuesParser::new(formats.map(Format::extension));
    extensions.try_map(|extension| Format::of(&stream_name(&extension)))
}

/// What messages call standard output in a format.
fn stream_name(extension: &str) -> PathBuf {
    PathBuf::from(format!("stdout.{extension}"))
}

/// Where the one result of a command goes.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// The file; for standard output a name that says so.
    path: PathBuf,
    format: Format,
    is_stdout: bool,
}

impl OutputFile {
    /// What was asked for with `-o` and `--format`.
    pub(crate) fn new(output: &Path, stream: StreamArgs) -> anyhow::Result<Self> {
        match (is_stdout(output), stream.format) {
            (false, None) => Ok(Self {
                format: Format::of(output)?,
                path: output.to_owned(),
                is_stdout: false,
            }),
            (false, Some(_)) => bail!(
                "{}: --format is for standard output (-o -); a file has the format that its ending says",
                output.display()
            ),
            (true, None) => bail!(
                "-o -: standard output has no ending that says its format: add --format, such as --format glb"
            ),
            (true, Some(format)) => {
                if !format.is_text() {
                    refuse_terminal()?;
                }
                Ok(Self {
                    path: stream_name(format.extension()),
                    format,
                    is_stdout: true,
                })
            }
        }
    }

    /// The file as messages name it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The format.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The file that would be replaced; none for standard output.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        (!self.is_stdout).then_some(&self.path)
    }

    /// Writes a document, and returns the files that are there now.
    pub(crate) fn write(
        &self,
        document: &Document,
        options: &WriteOptions,
    ) -> anyhow::Result<Vec<PathBuf>> {
        if !self.is_stdout {
            return Ok(dermis_io::write(&self.path, document, options)?);
        }
        let bytes = dermis_io::to_bytes(document, self.format, options);
        send(&bytes.context("standard output")?)?;
        Ok(Vec::new())
    }
}

/// Whether an output is standard output.
pub(crate) fn is_stdout(output: &Path) -> bool {
    output == Path::new("-")
}

/// One sentence for a terminal, which binary data would leave in a mess.
pub(crate) fn refuse_terminal() -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        bail!(
            "standard output is a terminal, and this is not text: send it to a file or a program with > or |"
        );
    }
    Ok(())
}

/// Writes bytes to standard output.
pub(crate) fn send(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let sent = out.write_all(bytes).and_then(|()| out.flush());
    sent.context("standard output cannot be written")
}
