//! `MSFT_lod`: which nodes are coarser forms of which mesh nodes.
//!
//! Files of other programs may name nodes that do not exist, that have levels themselves, or that cannot move as the full
//! mesh does. Those are left out, and a note says so.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bones::Bones;
use super::scene::{Instance, Scene};
use super::schema::{self, Schema};
use super::sliders::targets_in_full;
use crate::gltf::names::{LEVELS, SCREEN_COVERAGE};

/// Most levels of one node: each draws the whole character again, so the number must not be the file's to choose.
const MOST_LEVELS: usize = 64;

/// The nodes that a file names as levels of others.
#[derive(Debug, Default)]
pub(super) struct LevelNodes {
    /// From fine to coarse, for each node of the scene that has some.
    of_node: BTreeMap<usize, Vec<usize>>,
    is_level: Vec<bool>,
}

impl LevelNodes {
    /// Finds them, given which nodes are in the scene.
    pub(super) fn find(schema: &Schema, in_scene: &[bool], notes: &mut Vec<String>) -> Self {
        let count = schema.nodes.len();
        let mut found = Self {
            of_node: BTreeMap::new(),
            is_level: vec![false; count],
        };
        let mut is_full = vec![false; count];
        let mut left_out = Vec::new();
        for (full, node) in schema.nodes.iter().enumerate() {
            let ids = node.extensions.get(LEVELS).and_then(|e| e.get("ids"));
            let Some(ids) = ids.and_then(Value::as_array) else {
                continue;
            };
            let name = || schema.node_name(full);
            if !in_scene[full] {
                continue;
            }
            if found.is_level[full] || node.mesh.is_none() {
                let why = match found.is_level[full] {
                    true => "which is a level itself",
                    false => "which draws no mesh itself",
                };
                left_out.push(format!("those of {}, {why}", name()));
                continue;
            }
            is_full[full] = true;
            let mut levels = Vec::new();
            for id in ids {
                let level = id.as_u64().and_then(|id| usize::try_from(id).ok());
                let why = match level.filter(|&level| level < count) {
                    None => format!("{id} of {}, which is no node", name()),
                    Some(level) if is_full[level] || levels.contains(&level) => format!(
                        "{} of {}, which has levels of its own or is named twice",
                        schema.node_name(level),
                        name()
                    ),
                    Some(level)
                        if schema.nodes[level].mesh.is_none()
                            && !schema.nodes[level].children.is_empty() =>
                    {
                        format!("{}, whose meshes are below it", schema.node_name(level))
                    }
                    Some(_) if levels.len() == MOST_LEVELS => {
                        format!("more than {MOST_LEVELS} of {}", name())
                    }
                    Some(level) => {
                        levels.push(level);
                        found.is_level[level] = true;
                        continue;
                    }
                };
                left_out.push(why);
            }
            found.of_node.insert(full, levels);
        }
        note_left_out(&left_out, notes);
        let both = (0..count).filter(|&node| found.is_level[node] && in_scene[node]);
        let both: Vec<String> = both.map(|node| schema.node_name(node)).collect();
        if !both.is_empty() {
            notes.push(format!(
                "levels of detail that are also in the scene were read as levels alone: {}",
                schema::listed(&both)
            ));
        }
        found
    }

    /// Whether a node is a level of another, and not drawn with the full character.
    pub(super) fn contains(&self, node: usize) -> bool {
        self.is_level[node]
    }
}

/// What the levels of a file draw in the place of each mesh node of its scene.
#[derive(Debug, Default)]
pub(super) struct LevelPlan {
    /// For each mesh node of the scene, its levels; `None` where nothing of it is left.
    of_instance: Vec<Vec<Option<Instance>>>,
    count: usize,
    /// The share of the picture down to which each form is drawn, where the file says so.
    coverage: Vec<Option<f64>>,
}

impl LevelPlan {
    /// The levels that can move as the full meshes do.
    pub(super) fn new(
        schema: &Schema,
        scene: &Scene,
        bones: Option<&Bones>,
        notes: &mut Vec<String>,
    ) -> Self {
        let mut left_out = Vec::new();
        let mut levels_of = |full: &Instance| {
            let nodes = scene.levels.of_node.get(&full.node);
            let fitting = nodes.into_iter().flatten().filter_map(|&node| {
                let level = level_instance(schema, full, node, bones);
                level
                    .map_err(|why| {
                        left_out.push(format!(
                            "{} of {}, {why}",
                            schema.node_name(node),
                            schema.node_name(full.node)
                        ));
                    })
                    .ok()
            });
            fitting.collect()
        };
        let of_instance: Vec<Vec<_>> = scene.instances.iter().map(&mut levels_of).collect();
        note_left_out(&left_out, notes);
        let count = of_instance.iter().map(Vec::len).max().unwrap_or(0);
        let most = of_instance.iter().position(|levels| levels.len() == count);
        let extras = most.map(|first| &schema.nodes[scene.instances[first].node].extras);
        let coverage = extras.and_then(|extras| extras.get(SCREEN_COVERAGE)?.as_array());
        let share = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        Self {
            of_instance,
            count,
            coverage: coverage.map_or(Vec::new(), |list| list.iter().map(share).collect()),
        }
    }

    /// How many levels there are, the full character not counted.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What a level draws for each mesh node of the scene: its level of that number, else its last one, else itself.
    pub(super) fn level<'a>(
        &'a self,
        scene: &'a Scene,
        number: usize,
    ) -> impl Iterator<Item = Option<Instance>> + Clone + 'a {
        (scene.instances.iter().zip(&self.of_instance)).map(move |(full, levels)| {
            let own = levels.get(number).or(levels.last());
            own.copied().unwrap_or(Some(*full))
        })
    }

    /// Everything that is read: the scene, and again for each level.
    pub(super) fn all<'a>(
        &'a self,
        scene: &'a Scene,
    ) -> impl Iterator<Item = Instance> + Clone + 'a {
        let levels = (0..self.count).flat_map(move |number| self.level(scene, number).flatten());
        scene.instances.iter().copied().chain(levels)
    }

    /// The share of the picture below which a level is drawn, where the nodes say so.
    pub(super) fn screen_coverage(&self, number: usize) -> Option<f64> {
        self.coverage.get(number).copied().flatten()
    }
}

/// What a level node draws in the place of a full one, `None` for nothing; the error says why it cannot.
fn level_instance(
    schema: &Schema,
    full: &Instance,
    node: usize,
    bones: Option<&Bones>,
) -> Result<Option<Instance>, &'static str> {
    let Some(mesh) = schema.nodes[node].mesh else {
        return Ok(None);
    };
    let skin = schema.nodes[node].skin;
    let level = Instance { node, mesh, skin };
    if targets_in_full(schema, full, &level).is_none() {
        return Err("which has morph targets that the full mesh has not");
    }
    for primitive in &schema.meshes[mesh].primitives {
        match (skin.filter(|_| primitive.is_skinned()), bones) {
            (Some(skin), _) if !bones.is_some_and(|b| b.of_skin.contains_key(&skin)) => {
                return Err("whose skin moves nothing of the full character");
            }
            (None, Some(bones)) if !bones.of_rigid_node.contains_key(&full.node) => {
                return Err("which has no joints, though the full mesh has");
            }
            _ => {}
        }
    }
    Ok(Some(level))
}

fn note_left_out(left_out: &[String], notes: &mut Vec<String>) {
    if !left_out.is_empty() {
        notes.push(format!(
            "levels of detail left out: {}",
            schema::listed(left_out)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The levels of the first mesh node of the scene, and the notes.
    fn levels(nodes: &str) -> (Vec<usize>, Vec<String>) {
        let json = format!(
            r#"{{"asset":{{"version":"2.0"}},"meshes":[{{"primitives":[]}},
                {{"primitives":[{{"attributes":{{}},"targets":[{{}}]}}]}}],
                "scenes":[{{"nodes":[0,1]}}],"nodes":[{nodes}]}}"#
        );
        let schema = Schema::parse(json.as_bytes()).expect("the JSON is fine");
        let mut notes = Vec::new();
        let scene = Scene::new(&schema, &mut notes).expect("a tree");
        let plan = LevelPlan::new(&schema, &scene, None, &mut notes);
        let drawn = (0..plan.count()).filter_map(|k| plan.level(&scene, k).next().flatten());
        (drawn.map(|instance| instance.node).collect(), notes)
    }

    fn with_ids(ids: &str) -> String {
        format!(
            r#"{{"mesh":0,"name":"hero","extensions":{{"MSFT_lod":{{"ids":{ids}}}}}}},
               {{"mesh":0,"name":"other"}},{{"mesh":0,"name":"far"}},
               {{"name":"group","children":[4]}},{{"mesh":0}},{{"mesh":1,"name":"smiling"}}"#
        )
    }

    #[test]
    fn levels_that_cannot_be_read_are_left_out_with_their_reason() {
        for (ids, found, said) in [
            ("[2]", &[2][..], ""),
            ("[2,2]", &[2], "far of hero, which has levels of its own"),
            ("[0,2]", &[2], "hero of hero, which has levels of its own"),
            ("[9,2]", &[2], "9 of hero, which is no node"),
            (r#"[-1,"x",2]"#, &[2], "-1 of hero, which is no node"),
            ("[3]", &[], "group, whose meshes are below it"),
            ("[5]", &[], "smiling of hero, which has morph targets"),
            ("[1]", &[1], "read as levels alone: other"),
            ("{}", &[], ""),
            ("[]", &[], ""),
        ] {
            let (levels, notes) = levels(&with_ids(ids));
            assert_eq!(levels, found, "of {ids}");
            let notes = notes.join("; ");
            assert!(notes.contains(said), "{ids}: {notes}");
        }
    }

    #[test]
    fn two_nodes_that_are_levels_of_each_other_are_a_full_one_and_its_level() {
        let node =
            |id: usize| format!(r#"{{"mesh":0,"extensions":{{"MSFT_lod":{{"ids":[{id}]}}}}}}"#);
        let (levels, notes) = levels(&format!("{},{}", node(1), node(0)));
        assert_eq!(levels, [1], "the first one is the full one");
        assert!(notes.join(" ").contains("is a level itself"), "{notes:?}");
    }

    #[test]
    fn a_node_has_at_most_64_levels() {
        let many: Vec<String> = (2..200).map(|id| id.to_string()).collect();
        let nodes = vec![r#"{"mesh":0}"#; 200].join(",");
        let full = format!(
            r#"{{"mesh":0,"extensions":{{"MSFT_lod":{{"ids":[{}]}}}}}},{nodes}"#,
            many.join(",")
        );
        let (levels, notes) = levels(&full);
        assert_eq!(levels.len(), MOST_LEVELS, "no more are read");
        assert!(notes[0].contains("more than 64 of"), "{notes:?}");
    }
}
