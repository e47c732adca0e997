//! `dermis psd new`: an empty project around a base and its controls.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};

use crate::Outcome;
use crate::psd_args::NewArgs;
use crate::psd_project::controls::{control_lines, quoted};
use crate::psd_project::{Project, VERSION, folder_of};
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &NewArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    if args
        .project
        .extension()
        .is_none_or(|ending| ending != "toml")
    {
        bail!(
            "{}: expected a project name that ends in .toml, such as arm.psd.toml",
            args.project.display()
        );
    }
    if args.project.exists() {
        bail!(
            "{}: is there already: choose another name, or edit it",
            args.project.display()
        );
    }
    if !args.base.is_file() {
        bail!("{}: the base cannot be read", args.base.display());
    }
    let base = relative(&args.base, folder_of(&args.project))?;
    let mut text = format!(
        "# Shapes sculpted in poses: see docs/guide/sculpt-poses.md of dermis.\n\
         version = {VERSION}\n\
         base = {}\n",
        quoted(&base.to_string_lossy().replace('\\', "/"))
    );
    for typed in &args.control {
        let (name, lines) = control_lines(typed)?;
        let key = toml_edit::Key::new(&name);
        text += &format!("\n[control.{}]\n{lines}", key.display_repr());
    }
    // Reading it back finds bones that are not there, and names that come twice.
    let project = Project::from_text(&args.project, text, talk)?;
    talk.check_stopped()?;
    dermis_io::write_file(&args.project, project.text.as_bytes())?;
    let shown = args.project.display();
    let next = match project.controls.first() {
        Some(control) => format!("pose {shown} --pose {}=... -o to_sculpt.obj", control.name),
        None => format!("import {shown} FILE, which adds sliders with their shapes"),
    };
    talk.remark(format!(
        "wrote {shown}: {} over {} vertices; next: dermis psd {next}",
        plural(project.controls.len(), "control"),
        project.skin.vertex_count(),
    ));
    Ok(Outcome::Done)
}

/// The way from a folder to a file, so that both can be moved together.
fn relative(file: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let full = |path: &Path| {
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        std::path::absolute(path).with_context(|| format!("{}: no path", path.display()))
    };
    let (file, folder) = (cleaned(&full(file)?), cleaned(&full(folder)?));
    let shared = (file.components())
        .zip(folder.components())
        .take_while(|(a, b)| a == b)
        .count();
    // Nothing in common, as on two drives: only the whole path says where it is.
    if shared == 0 {
        return Ok(file);
    }
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(shared)).collect())
}

/// A full path without `.` and `..`.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_named_as_seen_from_the_project() {
        for (file, folder, expected) in [
            ("arm.glb", "", "arm.glb"),
            ("arm.glb", ".", "arm.glb"),
            ("models/arm.glb", "work", "../models/arm.glb"),
            ("./work/../arm.glb", "work", "../arm.glb"),
            ("work/a/arm.glb", "work", "a/arm.glb"),
        ] {
            let found = relative(Path::new(file), Path::new(folder)).expect("paths");
            assert_eq!(found, Path::new(expected), "{file} from {folder}");
        }
    }
}
