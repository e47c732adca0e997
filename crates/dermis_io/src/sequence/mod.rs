//! Many files read as one document: a rest mesh and its frames.
//!
//! Inputs are files, folders, glob patterns (`poses/*.obj`) and numbered names (`pose.####.obj`,
//! `pose.%04d.obj`). The files are put in natural order (1, 2, 10), because a shell that
//! expands `*.obj` hands over 1, 10, 2.

mod inputs;
mod order;
mod read;

pub(crate) use inputs::NumberedName;
pub use inputs::expand as expand_inputs;
pub use order::natural_order;
pub use read::{SequenceOptions, read_inputs};
