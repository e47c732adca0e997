//! Pictures of meshes and of fitting error.
