//! How files are opened and put in place: only plain files are read, and what belongs together
//! appears together or not at all.

mod place;
mod plain;
mod staging;
mod transaction;

pub use plain::read_file;
pub use staging::abandon_writes;
pub use transaction::{Transaction, write_file};
