//! How files are opened and put in place: only plain files are read, and files that belong together are either all
//! written or none.

mod place;
mod plain;
mod staging;
mod transaction;

pub use plain::{on_read, read_file};
pub use staging::abandon_writes;
pub use transaction::{Transaction, write_file};
