//! Wavefront OBJ: points, polygons, groups, and the colours of a material library.
//!
//! The parser is our own because correspondence is our subject: the nth `v` line must be the nth
//! point, named by a face or not. The usual crate, tobj, renumbers points in the order in which
//! each group's faces name them and drops the others.

mod build;
mod material;
mod parse;
mod text;
mod write;

pub(crate) use build::{read, read_geometry};
pub(crate) use write::ObjWriter;
