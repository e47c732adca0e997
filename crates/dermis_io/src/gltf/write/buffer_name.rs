//! The file for the buffer of a `.gltf`: never one that belongs to another file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::gltf::read::Resource;

/// The name of the buffer of a `.gltf`: `hero.bin` beside `hero.gltf`.
///
/// `hero_1.bin` and so on when `hero.bin` exists and is not the buffer of the `.gltf` that is about to be
/// replaced.
pub(super) fn buffer_beside(gltf: &Path) -> PathBuf {
    let plain = gltf.with_extension("bin");
    // A dangling link occupies its name, too.
    let is_free = |path: &PathBuf| std::fs::symlink_metadata(path).is_err();
    if is_free(&plain) {
        return plain;
    }
    let own = buffers_of(gltf);
    let numbered = (1..).map(|number: usize| {
        let mut name = OsString::from(gltf.file_stem().unwrap_or_default());
        name.push(format!("_{number}.bin"));
        gltf.with_file_name(name)
    });
    std::iter::once(plain)
        .chain(numbered)
        .find(|path| own.contains(path) || is_free(path))
        .expect("there is always a further number")
}

/// The files that a `.gltf` names as its buffers: none when it is not there or cannot be read.
fn buffers_of(gltf: &Path) -> Vec<PathBuf> {
    let json: Option<Value> = (crate::files::read_unrecorded(gltf).ok())
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let buffers = json.as_ref().and_then(|json| json["buffers"].as_array());
    let uris = (buffers.into_iter().flatten()).filter_map(|buffer| buffer["uri"].as_str());
    uris.filter_map(|uri| match Resource::locate(gltf, uri, "buffer") {
        Ok(Resource::Beside(file)) => Some(file),
        _ => None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_belongs_to_something_else_is_left_alone() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        let put = |name: &str, text: &str| std::fs::write(at(name), text).expect("written");
        let chosen = || {
            let path = buffer_beside(&at("a b.gltf"));
            let name = path.file_name().expect("a name");
            name.to_string_lossy().into_owned()
        };
        assert_eq!(chosen(), "a b.bin", "nothing is there");
        put("a b.bin", "of something else");
        assert_eq!(chosen(), "a b_1.bin", "no .gltf names the first");
        put("a b.gltf", "no JSON");
        assert_eq!(chosen(), "a b_1.bin", "nor does this");
        put("a b_1.bin", "of something else, too");
        assert_eq!(chosen(), "a b_2.bin", "both are taken");
        put("a b.gltf", r#"{"buffers": [{}, {"uri": "./a%20b_1.bin"}]}"#);
        assert_eq!(chosen(), "a b_1.bin", "its own");
        put("a b.gltf", r#"{"buffers": [{"uri": "a%20b.bin"}]}"#);
        assert_eq!(chosen(), "a b.bin", "its own");
    }
}
