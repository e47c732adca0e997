//! Morph targets to coefficients: one each, or, in a file with drivers, one for each name.
//!
//! A coefficient that moves several meshes is a morph target of each of them. What drives it names
//! it once, so in a file with drivers a name is one coefficient, wherever it stands. Driven ones
//! come last, in the order of their drivers, as a skin wants them.

use std::collections::{BTreeMap, BTreeSet};

use dermis::pose_space::Driver;
use dermis::skin::Coefficient;
use serde_json::Value;

use super::record::drivers_left;
use super::scene::Instance;
use super::schema::{self, Schema};
use crate::DriverRecord;

/// The coefficients of a file.
#[derive(Debug, Default)]
pub(super) struct Sliders {
    pub(super) coefficients: Vec<Coefficient>,
    /// The coefficient of each morph target of each node.
    pub(super) of_node: Vec<Vec<usize>>,
    /// What drives the last of them.
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
    /// Drivers that do not fit the file, or a skeleton of so many bones, are left with a note.
    pub(super) fn read(
        schema: &Schema,
        instances: &[Instance],
        drivers: &[DriverRecord],
        bone_count: usize,
        notes: &mut Vec<String>,
    ) -> Self {
        let targets: Vec<Targets> = instances.iter().map(|i| targets(schema, i)).collect();
        let node_count = schema.nodes.len();
        if !drivers.is_empty() {
            match Self::by_name(&targets, node_count, drivers, bone_count) {
                Ok(sliders) => return sliders,
                Err(why) => notes.push(drivers_left(&why)),
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
        bone_count: usize,
    ) -> Result<Self, String> {
        let first_of_name = first_of_each_name(targets)?;
        let mut driven: BTreeMap<String, usize> = BTreeMap::new();
        for output in drivers.iter().flat_map(|driver| &driver.outputs) {
            let name = schema::shorten_name(output);
            if !first_of_name.names.contains_key(&*name) {
                return Err(format!("there is no morph target {name}"));
            }
            if driven.contains_key(&name) {
                return Err(format!("morph target {name} is driven twice"));
            }
            driven.insert(name, driven.len());
        }
        // What a pose gives comes first, in the order of the file.
        let posed_count = first_of_name.order.len() - driven.len();
        let mut coefficients = Vec::with_capacity(first_of_name.order.len());
        let mut number_of: BTreeMap<&str, usize> = BTreeMap::new();
        for target in &first_of_name.order {
            if !driven.contains_key(&target.name) {
                number_of.insert(&target.name, coefficients.len());
                coefficients.push((*target).clone());
            }
        }
        let mut by_driver: Vec<(&str, usize)> = driven.iter().map(|(n, k)| (&**n, *k)).collect();
        by_driver.sort_by_key(|(_, number)| *number);
        for (name, number) in by_driver {
            let target = first_of_name.names[name];
            number_of.insert(&target.name, posed_count + number);
            coefficients.push(target.clone());
        }
        let number = |name: &str| number_of.get(&*schema::shorten_name(name)).copied();
        let driver = |record: &DriverRecord| {
            let name = &record.name;
            let missing = |slider: &str| format!("there is no morph target {slider} to read");
            let driver = record.to_driver(number).map_err(missing)?;
            if record.outputs.len() != driver.output_count() {
                return Err(format!(
                    "driver {name} has {} outputs and {} rows of weights",
                    record.outputs.len(),
                    driver.output_count()
                ));
            }
            let checked = driver.check(bone_count, posed_count);
            checked.map_err(|error| error.to_string())?;
            Ok(driver)
        };
        let drivers = drivers
            .iter()
            .map(driver)
            .collect::<Result<Vec<_>, String>>()?;
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
    let names = mesh.extras.get("targetNames").and_then(Value::as_array);
    let target = |k: usize| {
        let name = names.and_then(|names| names.get(k)?.as_str());
        Coefficient {
            name: match name {
                Some(name) => schema::shorten_name(name),
                None => format!("{mesh_name}.{k}"),
            },
            default: defaults.get(k).copied().unwrap_or(0.0),
        }
    };
    Targets {
        node,
        list: (0..mesh.target_count()).map(target).collect(),
    }
}

/// The first morph target of every name.
struct Firsts<'a> {
    order: Vec<&'a Coefficient>,
    names: BTreeMap<&'a str, &'a Coefficient>,
}

/// Collects names over all meshes; within one mesh each must be there once.
fn first_of_each_name(targets: &[Targets]) -> Result<Firsts<'_>, String> {
    let mut firsts = Firsts {
        order: Vec::new(),
        names: BTreeMap::new(),
    };
    for Targets { list, .. } in targets {
        let mut own = BTreeSet::new();
        for target in list {
            if !own.insert(&target.name) {
                return Err(format!("a mesh has two morph targets {}", target.name));
            }
            firsts.names.entry(&target.name).or_insert_with(|| {
                firsts.order.push(target);
                target
            });
        }
    }
    Ok(firsts)
}
