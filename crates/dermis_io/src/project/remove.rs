//! Shapes and layers are taken out of a project.

use std::path::PathBuf;

use super::error::{Placed, ProjectError, ProjectFault};
use super::{MovedSculpt, Project, all_sculpts, edit};

/// What was taken out.
#[derive(Debug, Clone)]
pub struct RemovedShapes {
    /// The layer that they were in.
    pub layer: String,
    /// Their names.
    pub sculpts: Vec<String>,
    /// Their files, where no other sculpt of the project uses them. They stay where they are: other projects may.
    pub unused: Vec<PathBuf>,
    /// How many sculpts the layer still has; `None` when it was removed itself.
    pub left: Option<usize>,
    /// Sculpts that are not met without them.
    pub moved: Vec<MovedSculpt>,
}

impl Project {
    /// Takes a sculpt out; its layer stays, even when it was the last.
    ///
    /// The project is in memory until it is [saved](Self::save).
    ///
    /// # Errors
    /// [`ProjectFault::NoSculpt`]. The project is as it was then.
    pub fn remove_sculpt(&mut self, name: &str) -> Result<RemovedShapes, ProjectError> {
        let place = (self.layers.iter().enumerate()).find_map(|(number, layer)| {
            let sculpt = layer.sculpts.iter().position(|s| s.name == name)?;
            Some((number, sculpt))
        });
        let Some((number, sculpt)) = place else {
            let fault = ProjectFault::NoSculpt {
                name: name.to_owned(),
                known: (all_sculpts(&self.layers).map(|(_, s)| s.name.clone())).collect(),
            };
            return Err(Placed::from(fault).in_file(&self.path));
        };
        let layer = self.layers[number].settings.name.clone();
        let text = edit::without_sculpt(self, number, sculpt);
        self.without(
            text,
            format!("removed {name} of layer {layer}"),
            RemovedShapes {
                layer,
                sculpts: vec![name.to_owned()],
                unused: vec![self.layers[number].sculpts[sculpt].shape.clone()],
                left: Some(self.layers[number].sculpts.len() - 1),
                moved: Vec::new(),
            },
        )
    }

    /// Takes a layer out, with all its sculpts; its controls stay.
    ///
    /// The project is in memory until it is [saved](Self::save).
    ///
    /// # Errors
    /// [`ProjectFault::NoLayer`]. The project is as it was then.
    pub fn remove_layer(&mut self, name: &str) -> Result<RemovedShapes, ProjectError> {
        let names = || self.layers.iter().map(|layer| &layer.settings.name);
        let Some(number) = names().position(|own| own == name) else {
            let fault = ProjectFault::NoLayer {
                name: name.to_owned(),
                known: names().cloned().collect(),
            };
            return Err(Placed::from(fault).in_file(&self.path));
        };
        let sculpts = &self.layers[number].sculpts;
        let removed = RemovedShapes {
            layer: name.to_owned(),
            sculpts: sculpts.iter().map(|sculpt| sculpt.name.clone()).collect(),
            unused: sculpts.iter().map(|sculpt| sculpt.shape.clone()).collect(),
            left: None,
            moved: Vec::new(),
        };
        let what = format!("removed layer {name} with {} sculpts", sculpts.len());
        self.without(edit::without_layer(self, number), what, removed)
    }

    /// Takes a text that has less.
    fn without(
        &mut self,
        text: Result<String, ProjectFault>,
        what: String,
        mut removed: RemovedShapes,
    ) -> Result<RemovedShapes, ProjectError> {
        let text = text.map_err(|fault| Placed::from(fault).in_file(&self.path))?;
        self.set_text(text)?;
        let still_used = |path: &PathBuf| all_sculpts(&self.layers).any(|(_, s)| s.shape == *path);
        removed.unused.retain(|path| !still_used(path));
        let saved_nowhere = |(path, _): &(PathBuf, _)| !removed.unused.contains(path);
        self.unsaved.retain(saved_nowhere);
        self.edits.push(what);
        // A shape that cannot be read may be the next to go.
        if let Ok(built) = self.build() {
            removed.moved = self.moved_sculpts(&built);
        }
        Ok(removed)
    }
}
