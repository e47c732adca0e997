//! The modules form layers: each imports only from those above it in this list.

use std::path::{Path, PathBuf};

/// From the lowest layer up, as in ARCHITECTURE.md.
const LAYERS: [&str; 25] = [
    "limits",
    "rows",
    "par",
    "progress",
    "math",
    "solve",
    "mesh",
    "rig",
    "clip",
    "joint",
    "pose_space",
    "example",
    "skin",
    "subdiv",
    "metric",
    "bounds",
    "normal",
    "measure",
    "param",
    "bake",
    "lod",
    "fit",
    "document",
    "run",
    "compare",
];
/// Outside the layers: may import every module, and is imported by none of the above.
const BESIDE: [&str; 1] = ["synth"];

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .chain(&BESIDE)
        .position(|&name| name == module)
        .unwrap_or_else(|| panic!("module {module} has no layer: add it to the list"))
}

fn check_file(path: &Path, own: &str, problems: &mut Vec<String>) {
    let text = std::fs::read_to_string(path).expect("source files are readable");
    // From `#[cfg(test)]` on, and in files of `#![cfg(test)]`, are tests, which may use everything.
    let code = text.split("cfg(test)]").next().unwrap_or_default();
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                .collect();
            // Types re-exported at the root, such as crate::Rows, begin with a capital.
            if !name.is_empty() && layer(&name) > layer(own) {
                problems.push(format!("{}: {own} names {name}", path.display()));
            }
        }
    }
}

/// A file, or all files below a folder.
fn collect_files(path: &Path, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        return files.push(path.to_owned());
    }
    for entry in std::fs::read_dir(path).expect("readable") {
        collect_files(&entry.expect("readable").path(), files);
    }
}

#[test]
fn no_module_imports_from_a_higher_layer() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut problems = Vec::new();
    let mut checked = 0;
    for entry in std::fs::read_dir(&src).expect("the source folder exists") {
        let path = entry.expect("readable").path();
        let own = path
            .file_stem()
            .expect("named")
            .to_string_lossy()
            .into_owned();
        if own == "lib" {
            continue;
        }
        let mut files = Vec::new();
        collect_files(&path, &mut files);
        for file in files {
            check_file(&file, &own, &mut problems);
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} files were found");
    assert!(problems.is_empty(), "{problems:#?}");
}
