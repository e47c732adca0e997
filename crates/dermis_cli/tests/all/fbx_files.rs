//! FBX files go wherever glTF files go. `data/bar.fbx` has two bones, a blend shape with an in-between, and two takes.

#[cfg(feature = "fbx")]
use crate::common::quoted;
use crate::common::{Scratch, unbroken};
use crate::support;

fn scratch_with_bar() -> Scratch {
    let scratch = Scratch::new();
    let bar = std::fs::read(support::repository().join("data/bar.fbx"));
    scratch.put("bar.fbx", bar.expect("the file comes with dermis"));
    scratch
}

/// The largest distance between the frames of two takes that `dermis eval` wrote, as a share of their size.
#[cfg(feature = "fbx")]
fn apart(scratch: &Scratch, a: &str, b: &str) -> f64 {
    let (a, b) = (scratch.read(a), scratch.read(b));
    assert_eq!(a.frames.len(), b.frames.len(), "as many frames");
    let size = a.mesh.bounds().diagonal();
    let frames = a.frames.iter().zip(&b.frames);
    let points = frames.flat_map(|(a, b)| {
        assert_eq!(a.positions.len(), b.positions.len(), "as many points");
        a.positions.iter().zip(&b.positions)
    });
    points.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / size
}

#[cfg(feature = "fbx")]
#[test]
fn a_take_of_an_fbx_file_is_the_same_clip_in_a_glb() {
    let scratch = scratch_with_bar();
    let run = scratch.dermis("convert bar.fbx bar.glb").done();
    let said = unbroken(&run.stderr);
    assert!(
        said.contains("centimetres, z up: read as metres, y up"),
        "{said}"
    );
    for clip in ["Bend", "Bulge"] {
        for file in ["bar.fbx", "bar.glb"] {
            let out = format!("{clip}_{}.npz", &file[4..]);
            scratch
                .dermis(&format!("eval {file} --clip {clip} --fps 24 -o {out}"))
                .done();
        }
        let error = apart(
            &scratch,
            &format!("{clip}_fbx.npz"),
            &format!("{clip}_glb.npz"),
        );
        assert!(error < 1e-5, "take {clip}: {error:.2e} of the size");
    }
}

#[cfg(feature = "fbx")]
#[test]
fn info_tells_what_an_fbx_file_has() {
    let scratch = scratch_with_bar();
    let run = scratch.dermis("info bar.fbx").done();
    for part in ["Bend", "Bulge", "12", "metres, y up"] {
        assert!(run.says(part), "{part} in {}{}", run.stdout, run.stderr);
    }
}

#[cfg(feature = "fbx")]
#[test]
fn meshes_are_fitted_to_the_rig_of_an_fbx_file() {
    let scratch = scratch_with_bar();
    scratch
        .dermis("eval bar.fbx --clip Bend --fps 24 -o bent.npz")
        .done();
    let fit = "fit bent.npz --skeleton bar.fbx --clip Bend -o skin.glb";
    scratch.dermis(fit).done();
    let skin = scratch.read("skin.glb").skin.expect("a skin");
    assert!(
        skin.skeleton.find("Upper").is_some(),
        "the bones of the rig"
    );
}

#[cfg(feature = "fbx")]
#[test]
fn real_files_are_the_same_in_a_glb() {
    let Some(file) = support::data("dem-bones/Decomposition_20_grouped.fbx") else {
        return;
    };
    let scratch = Scratch::new();
    let file = quoted(&file);
    scratch.dermis(&format!("convert {file} bones.glb")).done();
    for (input, out) in [(file.as_str(), "a.npz"), ("bones.glb", "b.npz")] {
        scratch
            .dermis(&format!("eval {input} --clip demBones --fps 24 -o {out}"))
            .done();
    }
    let error = apart(&scratch, "a.npz", "b.npz");
    assert!(error < 1e-5, "{error:.2e} of the size");
}

#[cfg(not(feature = "fbx"))]
#[test]
fn a_build_without_fbx_says_so() {
    let run = scratch_with_bar().dermis("info bar.fbx");
    assert_eq!(run.code, 2, "refused");
    assert!(
        unbroken(&run.stderr).contains("reading FBX in this build is not supported"),
        "{}",
        run.stderr
    );
}

#[cfg(feature = "fbx")]
#[test]
fn fbx_is_not_written() {
    let scratch = scratch_with_bar();
    let run = scratch.dermis("convert bar.fbx bar_2.fbx --clip Bend");
    assert_eq!(run.code, 2, "refused");
    let said = unbroken(&run.stderr);
    assert!(
        said.contains("writing FBX is not supported: choose .glb"),
        "{said}"
    );
    let files = scratch.files();
    assert!(
        !files.iter().any(|name| name == "bar_2.fbx"),
        "nothing is written"
    );
}
