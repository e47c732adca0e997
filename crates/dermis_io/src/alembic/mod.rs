//! Alembic (`.abc`): meshes and transforms sampled over time, in the container Ogawa.
//!
//! `ogawa` is the container, `archive` what Alembic puts into it, `samples` and `times` the values of one property and
//! when they were taken. `transform`, `mesh` and `scene` are the objects that are read; `document` makes one mesh with
//! frames of them. Nobody has written the format down; what is here was learned from files, from the sources of the official
//! library, and by comparison with what that library reads.

mod archive;
mod bytes;
mod document;
mod mesh;
mod ogawa;
mod samples;
mod scene;
mod times;
mod transform;

pub(crate) use document::read;
