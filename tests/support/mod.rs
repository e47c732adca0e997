//! Code shared by the tests of several crates: the places of the optional data and clients.
//!
//! Included by path from each crate's `tests/all/main.rs`, because a crate of its own would have to be published
//! with the others.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod bone_match;
pub(crate) mod clients;
pub(crate) mod dice;
pub(crate) mod glb_json;
pub(crate) mod pieces;
pub(crate) mod prefixes;
pub(crate) mod proxy_skins;

use std::path::{Path, PathBuf};

/// The top folder of the checkout.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file or folder of the shared data sets, or `None`, with a printed message, where they are absent.
///
/// `DERMIS_DATA` names the folder; without it, `../shared/data` beside the checkout is tried.
/// A file that is missing from a folder that does exist fails the test.
pub(crate) fn data(relative: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DERMIS_DATA")
        .map_or_else(|| repository().join("../shared/data"), PathBuf::from);
    if !folder.is_dir() {
        eprintln!(
            "skipped: needs {relative}, and there is no folder {}",
            folder.display()
        );
        return None;
    }
    let path = folder.join(relative);
    assert!(
        path.exists(),
        "{} is missing from the data folder",
        path.display()
    );
    Some(path)
}

/// The folder of the Node clients, or `None`, with a printed message, where they are not installed.
///
/// With `DERMIS_REQUIRE_CLIENTS` set, as the test command does, their absence fails the test.
pub(crate) fn node_clients() -> Option<PathBuf> {
    let folder = repository().join("clients");
    if folder.join("node_modules").is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("DERMIS_REQUIRE_CLIENTS").is_none(),
        "the Node clients are not installed: run npm ci in clients/"
    );
    eprintln!("skipped: needs the Node clients; run npm ci in clients/");
    None
}

/// A Python with the official library of Alembic, or `None`, with a printed message, where there is none.
///
/// With `DERMIS_REQUIRE_CLIENTS` set, as the test command does, its absence fails the test.
pub(crate) fn alembic_python() -> Option<PathBuf> {
    let python = repository().join("clients/.venv/bin/python");
    let mut import = std::process::Command::new(&python);
    let found = import.args(["-c", "import alembic3d"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    assert!(
        std::env::var_os("DERMIS_REQUIRE_CLIENTS").is_none(),
        "the official library of Alembic is not installed: run scripts/test.sh"
    );
    eprintln!("skipped: needs the Python module alembic3d in clients/.venv; run scripts/test.sh");
    None
}

/// A Python with Blender's module `bpy`, or `None`, with a printed message, where there is none.
///
/// With `DERMIS_REQUIRE_CLIENTS` set, as the test command does, its absence fails the test.
pub(crate) fn blender_python() -> Option<PathBuf> {
    let python = repository().join("clients/.venv/bin/python");
    if python.is_file() {
        return Some(python);
    }
    assert!(
        std::env::var_os("DERMIS_REQUIRE_CLIENTS").is_none(),
        "Blender's Python module is not installed: run scripts/test.sh"
    );
    eprintln!("skipped: needs Blender's Python module in clients/.venv; run scripts/test.sh");
    None
}
