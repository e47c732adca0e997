//! Any text as joint limits of a skin: limits or an error, never a panic.
#![no_main]

use std::sync::LazyLock;

use dermis_io::limits::{Others, read_limits};

/// A character with two joints, and a place for the text.
static PLACE: LazyLock<(dermis_io::Document, tempfile::TempDir)> = LazyLock::new(|| {
    dermis_fuzz::limit_memory();
    let glb = include_bytes!("../../data/dermis_skin_v4.glb");
    let document = dermis_io::read_bytes("skin.glb".as_ref(), glb).expect("a file of ours");
    (document, tempfile::tempdir().expect("a folder"))
});

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let (document, folder) = &*PLACE;
    let skin = document.skin.as_ref().expect("it has a skin");
    let path = folder.path().join("limits.toml");
    std::fs::write(&path, text).expect("a file can be written");
    let _ = read_limits(&path, skin, &[], Others::Free);
});
