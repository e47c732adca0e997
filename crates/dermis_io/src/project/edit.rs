//! Changes to a project's text that leave the user's comments, order and layout alone.

use std::path::{Path, PathBuf};

use dermis::document::free_name;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use super::controls::NamedControl;
use super::error::ProjectFault;
use super::pose::{self, Coordinates};
use super::{Project, all_sculpts, folder_beside};

/// Which layer a sculpt goes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// One that is there, by number.
    Layer(usize),
    /// A new one, after all others.
    New {
        /// Its name.
        name: String,
        /// Numbers of its controls.
        controls: Vec<usize>,
    },
}

/// A sculpt to write down.
#[derive(Debug)]
pub(super) struct NewSculpt<'a> {
    pub(super) name: &'a str,
    pub(super) at: &'a Coordinates,
    /// One per control of the layer; `None` where they do not count.
    pub(super) falloffs: Option<&'a [f64]>,
    pub(super) shape: &'a Path,
}

/// The project's text with a sculpt more, or in the place of number `replaced` of its layer.
pub(super) fn with_sculpt(
    project: &Project,
    target: &Target,
    sculpt: &NewSculpt<'_>,
    replaced: Option<usize>,
) -> Result<String, ProjectFault> {
    let mut text = editable(project);
    let controls = match target {
        Target::Layer(number) => &project.layers[*number].controls,
        Target::New { controls, .. } => controls,
    };
    let layers = tables(text.as_table_mut(), "layer")?;
    let layer = match target {
        Target::Layer(number) => layers.get_mut(*number),
        Target::New { name, controls } => {
            layers.push(new_layer(name, controls, &project.controls));
            layers.iter_mut().last()
        }
    };
    let layer = layer.expect("the text has the layers that were read from it");
    let sculpts = tables(layer, "sculpt")?;
    let table = match replaced {
        Some(number) => sculpts.get_mut(number),
        None => {
            sculpts.push(Table::new());
            sculpts.iter_mut().last()
        }
    };
    let table = table.expect("the text has the sculpts that were read from it");
    fill(table, project, controls, sculpt);
    Ok(text.to_string())
}

/// The project's text with more sliders: names of controls, and of what they slide.
pub(super) fn with_sliders(
    project: &Project,
    sliders: &[(&str, &str)],
) -> Result<String, ProjectFault> {
    let mut text = editable(project);
    let mut all = Table::new();
    // Only the tables in it have lines of their own.
    all.set_implicit(true);
    let all = text.entry("control").or_insert(Item::Table(all));
    let Item::Table(all) = all else {
        return Err(ProjectFault::InOneLine {
            key: "control".to_owned(),
            kind: "a table",
            instead: "[control.NAME]".to_owned(),
        });
    };
    for (control, slider) in sliders {
        let mut table = Table::new();
        table.insert("slider", value(*slider));
        all.insert(control, Item::Table(table));
    }
    Ok(text.to_string())
}

/// The project's text with a new layer after all others, and its sculpts.
pub(super) fn with_layer(
    project: &Project,
    name: &str,
    controls: &[usize],
    kernel: &str,
    sculpts: &[NewSculpt<'_>],
) -> Result<String, ProjectFault> {
    let mut text = editable(project);
    let mut layer = new_layer(name, controls, &project.controls);
    layer.insert("kernel", value(kernel));
    let mut tables_of_sculpts = ArrayOfTables::new();
    for sculpt in sculpts {
        let mut table = Table::new();
        fill(&mut table, project, controls, sculpt);
        tables_of_sculpts.push(table);
    }
    layer.insert("sculpt", Item::ArrayOfTables(tables_of_sculpts));
    tables(text.as_table_mut(), "layer")?.push(layer);
    Ok(text.to_string())
}

/// The project's text without a sculpt of a layer, by their numbers.
pub(super) fn without_sculpt(
    project: &Project,
    layer: usize,
    sculpt: usize,
) -> Result<String, ProjectFault> {
    let mut text = editable(project);
    let layers = tables(text.as_table_mut(), "layer")?;
    let layer = layers.get_mut(layer);
    let layer = layer.expect("the text has the layers that were read from it");
    tables(layer, "sculpt")?.remove(sculpt);
    Ok(text.to_string())
}

/// The project's text without a layer, by its number.
pub(super) fn without_layer(project: &Project, layer: usize) -> Result<String, ProjectFault> {
    let mut text = editable(project);
    tables(text.as_table_mut(), "layer")?.remove(layer);
    Ok(text.to_string())
}

fn editable(project: &Project) -> DocumentMut {
    project.text.parse().expect("the text was read as TOML")
}

/// A list of tables, made when it is not there.
fn tables<'a>(parent: &'a mut Table, key: &str) -> Result<&'a mut ArrayOfTables, ProjectFault> {
    let item = parent
        .entry(key)
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    match item {
        Item::ArrayOfTables(tables) => Ok(tables),
        _ => Err(ProjectFault::InOneLine {
            key: key.to_owned(),
            kind: "a list",
            instead: format!("[[{key}]]"),
        }),
    }
}

fn new_layer(name: &str, controls: &[usize], all: &[NamedControl]) -> Table {
    let mut table = Table::new();
    table.insert("name", value(name));
    let names: Array = controls.iter().map(|&c| all[c].name.as_str()).collect();
    table.insert("controls", value(names));
    table
}

fn fill(table: &mut Table, project: &Project, controls: &[usize], sculpt: &NewSculpt<'_>) {
    let all = &project.controls;
    put(table, "name", sculpt.name.into());
    let mut at = InlineTable::new();
    for c in pose::moved(all, sculpt.at) {
        let shown = sculpt.at[c].iter().map(|x| number(all[c].to_shown(*x)));
        let mut shown: Vec<Value> = shown.collect();
        let value = match shown.len() {
            1 => shown.remove(0),
            _ => Value::Array(shown.into_iter().collect()),
        };
        at.insert(&all[c].name, value);
    }
    put(table, "at", at.into());
    if let Some(falloffs) = sculpt.falloffs {
        let mut falloff = InlineTable::new();
        for (&c, f) in controls.iter().zip(falloffs) {
            falloff.insert(&all[c].name, number(all[c].to_shown(*f)));
        }
        put(table, "falloff", falloff.into());
    }
    let shape = sculpt.shape.to_string_lossy().replace('\\', "/");
    put(table, "shape", shape.into());
}

/// Sets a value, and keeps the comment behind the old one.
fn put(table: &mut Table, key: &str, mut new: Value) {
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
}

/// A number as people write it: 90, not 90.0.
fn number(x: f64) -> Value {
    match x == x.round() && x.abs() < 1e15 {
        true => Value::from(x as i64),
        false => Value::from(x),
    }
}

/// Where a new shape goes: a folder beside the project, under the sculpt's name. `others` are new, too.
pub(super) fn shape_path(project: &Project, name: &str, others: &[PathBuf]) -> PathBuf {
    let folder = folder_beside(&project.path, "");
    let safe: String = (name.chars())
        .map(|c| match c.is_alphanumeric() || "_-+.".contains(c) {
            true => c,
            false => '_',
        })
        .collect();
    let path = |name: &str| folder.join(format!("{name}.txt"));
    let is_taken = |name: &str| {
        let mut sculpts = all_sculpts(&project.layers);
        sculpts.any(|(_, sculpt)| sculpt.shape == path(name)) || others.contains(&path(name))
    };
    path(&free_name(&safe, is_taken))
}

/// A name for the sculpt of a pose that no other sculpt has: `elbow90_load1`. `others` are new, too.
pub(super) fn sculpt_name(project: &Project, at: &Coordinates, others: &[String]) -> String {
    let all = &project.controls;
    let parts: Vec<String> = (pose::moved(all, at).iter())
        .map(|&c| {
            let value = pose::value_text(&all[c], &at[c]).replace('/', "_");
            format!("{}{value}", all[c].name)
        })
        .collect();
    let name = parts.join("_");
    let is_taken = |name: &str| {
        let mut sliders = project.skin.coefficients.iter();
        all_sculpts(&project.layers).any(|(_, sculpt)| sculpt.name == name)
            || sliders.any(|slider| slider.name == name)
            || others.iter().any(|other| other == name)
    };
    free_name(&name, is_taken)
}
