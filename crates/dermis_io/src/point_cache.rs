//! point_cache
