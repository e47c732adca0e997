//! Morph targets to coefficients: one each, or, in a file with drivers, one for each name.
//!
//! A coefficient that moves several meshes is a morph target of each of them. A driver names it only
//! once, so in a file with drivers all morph targets of one name are one coefficient. Driven
//! coefficients come last, in the order of their drivers, as a skin requires.

use std::collections::{BTreeMap, BTreeSet};

use dermis::pose_space::Driver;
use dermis::rig::BoneId;
use dermis::skin::Coefficient;
use serde_json::Value;

use super::scene::Instance;
use super::schema::{self, Schema};
use crate::gltf::extension::{DriverRecord, SkinBlock};

/// The coefficients of a file.
#[derive(Debug, Default)]
pub(super) struct Sliders {
    pub(super) coefficients: Vec<Coefficient>,
    /// The coefficient of each morph target of each node.
    pub(super) of_node: Vec<Vec<usize>>,
    /// The drivers of the last coefficients.
    pub(super) drivers: Vec<Driver>,
}

/// The morph targets of a mesh node.
struct Targets {
    node: usize,
    list: Vec<Coefficient>,
}

impl Sliders {
    /// Numbers every morph target of every mesh node.
    ///
    /// `bones` are the bones of the joints that drivers read, out of `bone_count`. Drivers that do not fit
    /// are left out with a note.
    pub(super) fn read(
        schema: &Schema,
        instances: &[Instance],
        drivers: &[DriverRecord],
        bones: &[BoneId],
        bone_count: usize,
        notes: &mut Vec<String>,
    ) -> Self {
        let targets: Vec<Targets> = instances.iter().map(|i| targets(schema, i)).collect();
        let node_count = schema.nodes.len();
        if !drivers.is_empty() {
            let given = |list| Self::by_name(&targets, node_count, list, bones, bone_count);
            let why = match given(drivers) {
                Ok(sliders) => return sliders,
                Err(why) => why,
            };
            notes.push(format!(
                "the drivers of the {} block were not used, because {why}: only the clips move \
                 those morph targets",
                SkinBlock::EXTENSION
            ));
            // Targets of one name are still one coefficient.
            if let Ok(sliders) = given(&[]) {
                return sliders;
            }
        }
        Self::in_order(targets, node_count)
    }

    fn in_order(targets: Vec<Targets>, node_count: usize) -> Self {
        let mut sliders = Self {
            of_node: vec![Vec::new(); node_count],
            ..Self::default()
        };
        for Targets { node, list } in targets {
            let first = sliders.coefficients.len();
            sliders.of_node[node] = (first..first + list.len()).collect();
            sliders.coefficients.extend(list);
        }
        sliders
    }

    fn by_name(
        targets: &[Targets],
        node_count: usize,
        drivers: &[DriverRecord],
        bones: &[BoneId],
        bone_count: usize,
    ) -> Result<Self, String> {
        let firsts = first_of_each_name(targets)?;
        let outputs = output_names(drivers)?;
        // Coefficients that a pose sets come first, in file order.
        let is_driven: BTreeSet<&String> = outputs.iter().collect();
        let posed = firsts
            .iter()
            .filter(|first| !is_driven.contains(&first.name));
        let mut coefficients: Vec<Coefficient> = posed.map(|&first| first.clone()).collect();
        let posed_count = coefficients.len();
        let by_name: BTreeMap<&str, &Coefficient> =
            firsts.iter().map(|&first| (&*first.name, first)).collect();
        for name in &outputs {
            let Some(&first) = by_name.get(&**name) else {
                return Err(format!("there is no morph target {name}"));
            };
            coefficients.push(first.clone());
        }
        let numbers = coefficients.iter().map(|c| &*c.name).zip(0..);
        let number_of: BTreeMap<&str, usize> = numbers.collect();
        let number = |name: &str| number_of.get(&*schema::shorten_name(name)).copied();
        let driver = |record: &DriverRecord| {
            let missing = |slider: &str| format!("there is no morph target {slider} to read");
            let mut record = record.clone();
            for joint in record.bones_mut() {
                let Some(&bone) = bones.get(joint.index()) else {
                    return Err(format!("there is no joint {} to read", joint.0));
                };
                *joint = bone;
            }
            let driver = record.to_driver(number).map_err(missing)?;
            if record.outputs.len() != driver.output_count() {
                return Err(format!(
                    "driver {} has {} outputs and {} rows of weights",
                    record.name,
                    record.outputs.len(),
                    driver.output_count()
                ));
            }
            let checked = driver.check(bone_count, posed_count);
            checked.map_err(|error| error.to_string())?;
            Ok(driver)
        };
        let drivers = drivers.iter().map(driver).collect::<Result<_, String>>()?;
        let mut of_node = vec![Vec::new(); node_count];
        for Targets { node, list } in targets {
            of_node[*node] = list.iter().map(|target| number_of[&*target.name]).collect();
        }
        Ok(Self {
            coefficients,
            of_node,
            drivers,
        })
    }
}

/// The morph targets of one mesh node, with the weights that it starts with.
fn targets(schema: &Schema, &Instance { node, mesh, .. }: &Instance) -> Targets {
    let mesh_name = schema.mesh_name(mesh);
    let mesh = &schema.meshes[mesh];
    let defaults = schema.nodes[node].weights.as_ref();
    let defaults = defaults.unwrap_or(&mesh.weights);
    let target = |(k, name): (usize, Option<&str>)| Coefficient {
        name: match name {
            Some(name) => schema::shorten_name(name),
            None => format!("{mesh_name}.{k}"),
        },
        default: defaults.get(k).copied().unwrap_or(0.0),
    };
    Targets {
        node,
        list: target_names(mesh).enumerate().map(target).collect(),
    }
}

/// The names of a mesh's morph targets, where it has them.
fn target_names(mesh: &schema::Mesh) -> impl Iterator<Item = Option<&str>> {
    let names = mesh.extras.get("targetNames").and_then(Value::as_array);
    (0..mesh.target_count()).map(move |k| names.and_then(|names| names.get(k)?.as_str()))
}

/// For each morph target of a level, the one of the full mesh: by name, or by number where one of them has no name. `None`
/// when the full mesh lacks one.
pub(super) fn targets_in_full(
    schema: &Schema,
    full: &Instance,
    level: &Instance,
) -> Option<Vec<usize>> {
    let of_full: Vec<Option<&str>> = target_names(&schema.meshes[full.mesh]).collect();
    let numbers = of_full.iter().enumerate().rev();
    let number_of: BTreeMap<&str, usize> = numbers
        .filter_map(|(k, name)| Some(((*name)?, k)))
        .collect();
    (target_names(&schema.meshes[level.mesh]).enumerate())
        .map(|(k, name)| match (name, of_full.get(k)) {
            (None, Some(_)) | (Some(_), Some(None)) => Some(k),
            (Some(name), Some(Some(same))) if name == *same => Some(k),
            (Some(name), _) => number_of.get(name).copied(),
            (None, None) => None,
        })
        .collect()
}

/// The first morph target of every name, in order; within one mesh each name must be there once.
fn first_of_each_name(targets: &[Targets]) -> Result<Vec<&Coefficient>, String> {
    let mut firsts = Vec::new();
    let mut seen = BTreeSet::new();
    for Targets { list, .. } in targets {
        let mut own = BTreeSet::new();
        for target in list {
            if !own.insert(&target.name) {
                return Err(format!("a mesh has two morph targets {}", target.name));
            }
            if seen.insert(&target.name) {
                firsts.push(target);
            }
        }
    }
    Ok(firsts)
}

/// The names that the drivers drive, in order; the error is a name that is driven twice.
fn output_names(drivers: &[DriverRecord]) -> Result<Vec<String>, String> {
    let outputs = drivers.iter().flat_map(|driver| &driver.outputs);
    let names: Vec<String> = outputs.map(|name| schema::shorten_name(name)).collect();
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        None => Ok(names),
        Some(twice) => Err(format!("morph target {twice} is driven twice")),
    }
}
