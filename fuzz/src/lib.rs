//! What the fuzz targets share.

use std::path::Path;

/// The most memory that a reader may plan to take: well below the limit that the fuzzer has for all of a run, so that
/// passing the latter is a defect and not a large file.
const MEMORY_BYTES: u64 = 256 << 20;

/// Makes readers refuse what would take much memory. To be called before anything is read.
pub fn limit_memory() {
    dermis::limits::set_memory_bytes(MEMORY_BYTES);
}

/// Reads bytes as the file of a format: a document or an error, never a panic.
pub fn read(extension: &str, bytes: &[u8]) {
    limit_memory();
    let path = Path::new("fuzzed").with_extension(extension);
    let _ = dermis_io::read_bytes(&path, bytes);
}
