//! Any text as a sculpting project: a project or an error, never a panic.
#![no_main]

use std::sync::LazyLock;

use dermis_io::project::Project;

/// A folder with the base that projects name `base.glb`.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    dermis_fuzz::limit_memory();
    let folder = tempfile::tempdir().expect("a folder");
    let glb = include_bytes!("../../data/dermis_skin_v4.glb");
    std::fs::write(folder.path().join("base.glb"), glb).expect("a file can be written");
    folder
});

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let path = FOLDER.path().join("fuzzed.psd.toml");
    std::fs::write(&path, text).expect("a file can be written");
    let _ = Project::read(&path);
});
