//! How files are opened and put in place: only plain files are read, and files that belong together are either all
//! written or none.

mod place;
mod plain;
mod read_log;
mod staging;
mod transaction;

pub(crate) use plain::read_unrecorded;
pub use plain::{on_read, read_file};
pub use read_log::{ReadFile, record_reads, recorded_reads, sha256};
pub use staging::abandon_writes;
pub use transaction::{Transaction, write_file};
