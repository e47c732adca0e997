//! The zip container of an `.npz` file.

use std::collections::HashMap;
use std::io::{BufReader, Cursor};

use dermis::limits::check_memory;
use zip::ZipArchive;

use super::npy::{Array, Header, shape_text};
use crate::Fault;

/// An open archive.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    size: usize,
    /// Entry of each array, by name without `.npy`.
    entries: HashMap<String, usize>,
    /// The names in file order.
    names: Vec<String>,
    /// Bytes of memory that the arrays read so far may take.
    planned: u64,
}

/// Deflate cannot shrink data to less than a thousandth, so larger sizes in a header are false.
const MOST_PER_BYTE: usize = 1100;

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
            Fault::malformed("file", "a zip archive of .npy arrays", error.to_string())
        })?;
        let mut entries = HashMap::new();
        let mut names = Vec::new();
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index).map_err(|error| {
                Fault::malformed(format!("entry {index}"), "a zip entry", error.to_string())
            })?;
            let name = entry.name().map_err(|error| {
                Fault::malformed(format!("entry {index}"), "a name", error.to_string())
            })?;
            let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
            names.push(name.clone());
            entries.insert(name, index);
        }
        Ok(Self {
            zip,
            size: bytes.len(),
            entries,
            names,
            planned: 0,
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Reads one array, or `None` when the archive does not have it.
    pub(super) fn array(&mut self, name: &str) -> Result<Option<Array>, Fault> {
        let Some(&index) = self.entries.get(name) else {
            return Ok(None);
        };
        let entry = self.zip.by_index(index).map_err(|error| {
            Fault::malformed(
                format!("array {name}"),
                "a readable zip entry",
                error.to_string(),
            )
        })?;
        let mut input = BufReader::new(entry);
        let header = Header::read(name, &mut input)?;
        let most = self.size.saturating_mul(MOST_PER_BYTE);
        if header.byte_count().is_none_or(|bytes| bytes > most) {
            return Err(Fault::malformed(
                format!("array {name}"),
                format!("at most {most} bytes, all that the archive can hold"),
                format!("shape {}", shape_text(&header.shape)),
            ));
        }
        self.planned = self.planned.saturating_add(header.memory_bytes());
        let what = || format!("array {name} of shape {}", shape_text(&header.shape));
        check_memory(
            &[self.planned],
            what,
            "save fewer frames or vertices in one file",
        )?;
        Array::read(name, header, &mut input).map(Some)
    }

    /// The arrays with their shapes, for messages about a missing array.
    pub(super) fn describe(&mut self) -> String {
        const SHOWN: usize = 20;
        let mut texts = Vec::new();
        for name in self.names.iter().take(SHOWN) {
            let index = self.entries.get(name).copied();
            let header = index
                .and_then(|index| self.zip.by_index(index).ok())
                .and_then(|mut entry| Header::read(name, &mut entry).ok());
            texts.push(match header {
                Some(header) => format!("{name} {}", shape_text(&header.shape)),
                None => name.clone(),
            });
        }
        match (self.names.len(), texts.join(", ")) {
            (0, _) => "no arrays".to_owned(),
            (n, text) if n > SHOWN => format!("{text} and {} more", n - SHOWN),
            (_, text) => text,
        }
    }
}
