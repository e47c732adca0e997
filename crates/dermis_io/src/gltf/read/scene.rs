//! The node tree: parents, placements, and the meshes that are drawn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dermis::rig::{RigError, Trs};
use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::level_nodes::LevelNodes;
use super::schema::{self, Node, Schema};
use crate::Fault;

/// How far the last row of a matrix may be from 0, 0, 0, 1, and its axes from perpendicular.
///
/// Single-precision products of many matrices are off by about 1e-6; more than this is intended shear.
const MATRIX_TOLERANCE: f64 = 1e-4;

/// The nodes of a file as a checked tree, and the meshes of the scene that is read.
pub(super) struct Scene {
    pub(super) parents: Vec<Option<usize>>,
    /// All nodes, parents first, otherwise by index.
    pub(super) order: Vec<usize>,
    locals: Vec<Local>,
    /// Each node's default placement in model space.
    pub(super) model_from_node: Vec<DAffine3>,
    /// The mesh nodes of the scene that are no levels of others, by node index.
    pub(super) instances: Vec<Instance>,
    /// The nodes that are levels of others.
    pub(super) levels: LevelNodes,
}

/// A mesh on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) node: usize,
    pub(super) mesh: usize,
    pub(super) skin: Option<usize>,
}

enum Local {
    Trs(Trs),
    /// A matrix with this much shear, which translation, rotation and scale cannot express.
    Sheared(DAffine3, f64),
}

impl Scene {
    /// Checks the tree and finds the meshes of the default scene.
    pub(super) fn new(schema: &Schema, notes: &mut Vec<String>) -> Result<Self, Fault> {
        let parents = parents(schema)?;
        let order = parents_first(&schema.nodes, &parents)?;
        let locals = (schema.nodes.iter().enumerate())
            .map(|(i, node)| local(i, node))
            .collect::<Result<Vec<_>, _>>()?;
        let mut model_from_node = vec![DAffine3::IDENTITY; locals.len()];
        for &node in &order {
            let local = match &locals[node] {
                Local::Trs(trs) => trs.to_affine(),
                Local::Sheared(matrix, _) => *matrix,
            };
            model_from_node[node] = match parents[node] {
                None => local,
                Some(parent) => model_from_node[parent] * local,
            };
        }
        let in_scene = nodes_of_scene(schema, &parents, &order, notes)?;
        let levels = LevelNodes::find(schema, &in_scene, notes);
        let mut instances = Vec::new();
        let mut left_out = 0;
        for (i, node) in schema.nodes.iter().enumerate() {
            let named_by = format!("node {i}");
            if let Some(skin) = node.skin {
                schema::get(&schema.skins, skin, "skin", &named_by)?;
            }
            let Some(mesh) = node.mesh else { continue };
            schema::get(&schema.meshes, mesh, "mesh", &named_by)?;
            if levels.contains(i) {
                continue;
            }
            if in_scene[i] {
                instances.push(Instance {
                    node: i,
                    mesh,
                    skin: node.skin,
                });
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            notes.push(format!(
                "{left_out} mesh nodes outside the scene were left out"
            ));
        }
        Ok(Self {
            parents,
            order,
            locals,
            model_from_node,
            instances,
            levels,
        })
    }

    /// A node's transform in its parent, for use as a bone.
    pub(super) fn local_trs(&self, node: usize, name: &str) -> Result<Trs, Fault> {
        match &self.locals[node] {
            Local::Trs(trs) => Ok(*trs),
            Local::Sheared(_, shear) => Err(Fault::Rig(RigError::Sheared {
                what: format!("the matrix of node {node} ({name})"),
                shear: *shear,
            })),
        }
    }

    /// Marks nodes and everything below them.
    pub(super) fn with_descendants(&self, mut marked: Vec<bool>) -> Vec<bool> {
        for &node in &self.order {
            if let Some(parent) = self.parents[node] {
                marked[node] |= marked[parent];
            }
        }
        marked
    }
}

/// Checks that children exist and have one parent each.
fn parents(schema: &Schema) -> Result<Vec<Option<usize>>, Fault> {
    let mut parents = vec![None; schema.nodes.len()];
    for (i, node) in schema.nodes.iter().enumerate() {
        for &child in &node.children {
            let named_by = format!("node {i}");
            schema::get(&schema.nodes, child, "node", &named_by)?;
            if let Some(other) = parents[child].replace(i) {
                return Err(Fault::malformed(
                    format!("node {child}"),
                    "one parent",
                    format!("parents {other} and {i}"),
                ));
            }
        }
    }
    Ok(parents)
}

/// All nodes in an order where parents come first, and otherwise the smallest index.
///
/// A file whose nodes are already in such an order keeps it. Nodes on a cycle are never
/// reached.
fn parents_first(nodes: &[Node], parents: &[Option<usize>]) -> Result<Vec<usize>, Fault> {
    let roots = (0..nodes.len()).filter(|&i| parents[i].is_none());
    let mut free: BinaryHeap<Reverse<usize>> = roots.map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    let mut placed = vec![false; nodes.len()];
    while let Some(Reverse(node)) = free.pop() {
        order.push(node);
        placed[node] = true;
        free.extend(nodes[node].children.iter().copied().map(Reverse));
    }
    match placed.iter().position(|placed| !placed) {
        None => Ok(order),
        Some(node) => Err(Fault::malformed(
            format!("node {node}"),
            "a tree of nodes",
            "a cycle: the node or one of its ancestors is its own ancestor",
        )),
    }
}

/// The nodes of the default scene, else of the first scene, else of the file.
fn nodes_of_scene(
    schema: &Schema,
    parents: &[Option<usize>],
    order: &[usize],
    notes: &mut Vec<String>,
) -> Result<Vec<bool>, Fault> {
    let number = schema.scene.unwrap_or(0);
    if schema.scene.is_none() && schema.scenes.is_empty() {
        return Ok(vec![true; schema.nodes.len()]);
    }
    let scene = schema::get(&schema.scenes, number, "scene", "default scene")?;
    if schema.scene.is_none() && schema.scenes.len() > 1 {
        notes.push(format!(
            "the file has {} scenes and no default one: scene 0 was read",
            schema.scenes.len()
        ));
    }
    let mut inside = vec![false; schema.nodes.len()];
    for &root in &scene.nodes {
        let named_by = format!("scene {number}");
        schema::get(&schema.nodes, root, "node", &named_by)?;
        if let Some(parent) = parents[root] {
            return Err(Fault::malformed(
                named_by,
                "nodes without a parent",
                format!("node {root}, a child of node {parent}"),
            ));
        }
        inside[root] = true;
    }
    for &node in order {
        if let Some(parent) = parents[node] {
            inside[node] = inside[parent];
        }
    }
    Ok(inside)
}

/// A node's own transform: its matrix, or translation, rotation and scale.
fn local(index: usize, node: &Node) -> Result<Local, Fault> {
    if let Some(matrix) = node.matrix {
        let affine = affine_from_columns(&matrix, &format!("matrix of node {index}"))?;
        let (trs, shear) = Trs::from_affine(&affine);
        return Ok(if shear > MATRIX_TOLERANCE {
            Local::Sheared(affine, shear)
        } else {
            Local::Trs(trs)
        });
    }
    let rotation = match node.rotation {
        None => DQuat::IDENTITY,
        Some(rotation) => unit_quaternion(rotation)
            .ok_or_else(|| not_a_rotation(&format!("rotation of node {index}"), rotation))?,
    };
    Ok(Local::Trs(Trs {
        translation: node.translation.map_or(DVec3::ZERO, DVec3::from_array),
        rotation,
        scale: node.scale.map_or(DVec3::ONE, DVec3::from_array),
    }))
}

/// A rotation of exactly unit length, unless the numbers have no direction.
pub(super) fn unit_quaternion(xyzw: [f64; 4]) -> Option<DQuat> {
    let q = DQuat::from_array(xyzw);
    let length = q.length();
    (length > 1e-10 && length.is_finite()).then(|| q * (1.0 / length))
}

/// The fault of a quaternion that [`unit_quaternion`] refuses.
pub(super) fn not_a_rotation(element: &str, xyzw: [f64; 4]) -> Fault {
    Fault::malformed(element, "a unit quaternion", format!("{xyzw:?}"))
}

/// A glTF matrix, 16 numbers column by column, as an affine one.
pub(super) fn affine_from_columns(m: &[f64; 16], element: &str) -> Result<DAffine3, Fault> {
    let last_row = [m[3], m[7], m[11], m[15]];
    let off = (last_row.iter().zip([0.0, 0.0, 0.0, 1.0])).map(|(found, wanted)| found - wanted);
    if !off.into_iter().all(|x| x.abs() <= MATRIX_TOLERANCE) {
        return Err(Fault::malformed(
            element,
            "an affine matrix with last row 0, 0, 0, 1",
            format!("last row {last_row:?}"),
        ));
    }
    Ok(DAffine3 {
        matrix3: DMat3::from_cols(
            DVec3::new(m[0], m[1], m[2]),
            DVec3::new(m[4], m[5], m[6]),
            DVec3::new(m[8], m[9], m[10]),
        ),
        translation: DVec3::new(m[12], m[13], m[14]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(json: &str) -> Result<(Scene, Vec<String>), String> {
        let json =
            format!(r#"{{"asset":{{"version":"2.0"}},"meshes":[{{"primitives":[]}}],{json}}}"#);
        let schema = Schema::parse(json.as_bytes()).expect("the JSON is fine");
        let mut notes = Vec::new();
        let scene = Scene::new(&schema, &mut notes).map_err(|e| e.to_string())?;
        Ok((scene, notes))
    }

    #[test]
    fn parents_come_first_and_indices_decide_the_rest() {
        let (scene, _) = scene(r#""nodes":[{},{"children":[0,3]},{},{}]"#).expect("a tree");
        assert_eq!(scene.order, [1, 0, 2, 3], "0 waits for 1 alone");
    }

    #[test]
    fn cycles_and_second_parents_are_refused() {
        for (nodes, expected) in [
            (
                r#"[{"children":[1]},{"children":[0]}]"#,
                "node 0: expected a tree",
            ),
            (r#"[{"children":[0]}]"#, "node 0: expected a tree"),
            (
                r#"[{"children":[2]},{"children":[2]},{}]"#,
                "node 2: expected one parent, found parents 0 and 1",
            ),
            (
                r#"[{"children":[7]}]"#,
                "node 0: expected a node index below 1, found 7",
            ),
            (
                r#"[{"mesh":3}]"#,
                "node 0: expected a mesh index below 1, found 3",
            ),
            (
                r#"[{"rotation":[0,0,0,0]}]"#,
                "rotation of node 0: expected a unit",
            ),
            (
                r#"[{"matrix":[1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]}]"#,
                "matrix of node 0: expected an affine matrix",
            ),
        ] {
            let Err(message) = scene(&format!(r#""nodes":{nodes}"#)) else {
                panic!("{nodes} is refused");
            };
            assert!(message.starts_with(expected), "{message}");
        }
    }

    #[test]
    fn a_chain_of_100000_nodes_is_walked_without_recursion() {
        let nodes: Vec<String> = (1..100_000)
            .map(|i| format!(r#"{{"children":[{i}],"translation":[1,0,0]}}"#))
            .collect();
        let (scene, _) = scene(&format!(r#""nodes":[{},{{}}]"#, nodes.join(","))).expect("a chain");
        let last = scene.model_from_node[99_999].translation;
        assert_eq!(last, DVec3::new(99_999.0, 0.0, 0.0), "all steps add up");
    }

    #[test]
    fn the_default_scene_decides_which_meshes_are_read() {
        let nodes = r#""nodes":[{"mesh":0},{"children":[2]},{"mesh":0}]"#;
        let meshes = |scenes: &str| {
            let (scene, notes) = scene(&format!("{nodes}{scenes}")).expect("legal");
            let nodes: Vec<usize> = scene.instances.iter().map(|i| i.node).collect();
            (nodes, notes.len())
        };
        assert_eq!(meshes(""), (vec![0, 2], 0), "no scene, all roots");
        let two = r#","scenes":[{"nodes":[0]},{"nodes":[1]}]"#;
        assert_eq!(meshes(two), (vec![0], 2), "scene 0, and a note says so");
        let second = format!(r#"{two},"scene":1"#);
        assert_eq!(meshes(&second), (vec![2], 1), "the default one");
        let child = format!(r#"{nodes},"scenes":[{{"nodes":[2]}}]"#);
        assert!(scene(&child).is_err(), "node 2 has a parent");
    }
}
