//! Nodes to bones: which nodes move vertices, and where each node was when the mesh was bound.

use std::collections::{BTreeMap, HashMap};

use dermis::rig::{Bone, BoneId, RigError, Skeleton, Trs};
use glam::DAffine3;

use super::accessor::{Accessors, Count};
use super::scene::{Instance, Scene, affine_from_columns};
use super::schema::{self, Schema};
use crate::Fault;
use crate::gltf::names::COMMON_ROOT;

/// The skeleton of a file, and how its elements map to bones.
pub(super) struct Bones {
    pub(super) skeleton: Skeleton,
    /// The bone that a node became, and that its animation moves.
    pub(super) of_node: Vec<Option<BoneId>>,
    /// The bone of each joint of the skins in use.
    pub(super) of_skin: BTreeMap<usize, Vec<BoneId>>,
    /// The bone that moves the unskinned primitives of a mesh node.
    pub(super) of_rigid_node: BTreeMap<usize, Rigid>,
}

/// A node that carries vertices of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rigid {
    pub(super) bone: BoneId,
    /// Takes the mesh's coordinates to rest space.
    pub(super) rest_from_mesh: DAffine3,
}

/// True when the scene has something that moves: a skin, a morph target or a moved mesh node; or, when it has no mesh
/// at all, any moved node, as in files of captured motion.
pub(super) fn has_motion(schema: &Schema, scene: &Scene) -> bool {
    if scene.instances.is_empty() {
        return moved_nodes(schema).contains(&true);
    }
    let moved = scene.with_descendants(moved_nodes(schema));
    scene.instances.iter().any(|instance| {
        let mesh = &schema.meshes[instance.mesh];
        moved[instance.node]
            || mesh.target_count() > 0
            || instance.skin.is_some() && mesh.primitives.iter().any(|p| p.is_skinned())
    })
}

/// The nodes that an animation moves.
fn moved_nodes(schema: &Schema) -> Vec<bool> {
    let mut moved = vec![false; schema.nodes.len()];
    for channel in schema.animations.iter().flat_map(|a| &a.channels) {
        let target = &channel.target;
        if let Some(node) = target.node.and_then(|node| moved.get_mut(node)) {
            *node |= matches!(&*target.path, "translation" | "rotation" | "scale");
        }
    }
    moved
}

impl Bones {
    /// Makes bones of joints, of nodes with unskinned meshes, and of all their ancestors.
    pub(super) fn new(
        schema: &Schema,
        scene: &Scene,
        accessors: &Accessors<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, Fault> {
        let uses = Uses::of(schema, scene)?;
        let nodes = scene.order.iter().copied().filter(|&n| uses.needed[n]);
        let mut binder = Binder::new(schema, scene, nodes)?;
        let mut of_skin = BTreeMap::new();
        for &skin in &uses.skins {
            let binds = bind_matrices(schema, skin, accessors)?;
            let joints = schema.skins[skin].joints.iter().zip(binds);
            let bones: Result<Vec<_>, _> = joints.map(|(&j, bind)| binder.bind(j, bind)).collect();
            of_skin.insert(skin, bones?);
        }
        let mut of_rigid_node = BTreeMap::new();
        let mut flat = Vec::new();
        for &node in &uses.rigid_nodes {
            let model_from_node = scene.model_from_node[node];
            let (bone_from_rest, rest_from_mesh) = match inverse(&model_from_node) {
                Some(inverse) => (inverse, model_from_node),
                None => {
                    flat.push(schema.node_name(node));
                    (DAffine3::IDENTITY, DAffine3::IDENTITY)
                }
            };
            let bone = binder.bind(node, bone_from_rest)?;
            of_rigid_node.insert(
                node,
                Rigid {
                    bone,
                    rest_from_mesh,
                },
            );
        }
        if !flat.is_empty() {
            notes.push(format!(
                "the default transform of {} cannot be inverted (a scale of zero): their meshes \
                 stay in their own coordinates",
                schema::listed(&flat)
            ));
        }
        // Nodes to which no vertex is bound only carry the nodes below them.
        let carriers = (binder.of_node.iter().enumerate())
            .filter(|(node, _)| !binder.bones_of_node.contains_key(node))
            .filter_map(|(_, bone)| *bone);
        let carriers: Vec<BoneId> = carriers.collect();
        Ok(Self {
            skeleton: Skeleton::new(binder.bones)?.with_carriers(carriers),
            of_node: binder.of_node,
            of_skin,
            of_rigid_node,
        })
    }
}

/// The skins and nodes that the scene's meshes use.
struct Uses {
    /// By first use.
    skins: Vec<usize>,
    rigid_nodes: Vec<usize>,
    /// Joints, rigid nodes and all ancestors.
    needed: Vec<bool>,
}

impl Uses {
    fn of(schema: &Schema, scene: &Scene) -> Result<Self, Fault> {
        let mut skins = Vec::new();
        let mut seen = vec![false; schema.skins.len()];
        let mut rigid_nodes = Vec::new();
        for &Instance { node, mesh, skin } in &scene.instances {
            let primitives = &schema.meshes[mesh].primitives;
            match skin {
                Some(skin) if primitives.iter().any(|p| p.is_skinned()) => {
                    if !std::mem::replace(&mut seen[skin], true) {
                        skins.push(skin);
                    }
                    if !primitives.iter().all(|p| p.is_skinned()) {
                        rigid_nodes.push(node);
                    }
                }
                _ if primitives.is_empty() => {}
                _ => rigid_nodes.push(node),
            }
        }
        let mut needed = vec![false; schema.nodes.len()];
        let mut need = |mut node: usize| {
            while !std::mem::replace(&mut needed[node], true) {
                match scene.parents[node] {
                    Some(parent) => node = parent,
                    None => break,
                }
            }
        };
        for &skin in &skins {
            let named_by = format!("skin {skin}");
            for &joint in &schema.skins[skin].joints {
                schema::get(&schema.nodes, joint, "node", &named_by)?;
                need(joint);
            }
        }
        rigid_nodes.iter().copied().for_each(&mut need);
        if scene.instances.is_empty() {
            // Without meshes, the moved nodes are the skeleton.
            let moved = moved_nodes(schema).into_iter().enumerate();
            let nodes = moved.filter_map(|(node, is_moved)| is_moved.then_some(node));
            nodes.for_each(need);
        }
        // The node that dermis writes above several roots is not a bone of the skeleton.
        let moved = moved_nodes(schema);
        let is_joint = |node: usize| {
            let mut joints = skins.iter().flat_map(|&skin| &schema.skins[skin].joints);
            joints.any(|&joint| joint == node)
        };
        for (node, needed) in needed.iter_mut().enumerate() {
            let stands_still = scene.parents[node].is_none()
                && !moved[node]
                && scene.model_from_node[node] == DAffine3::IDENTITY;
            if stands_still
                && schema.nodes[node].name.as_deref() == Some(COMMON_ROOT)
                && schema.nodes[node].children.len() > 1
                && !rigid_nodes.contains(&node)
                && !is_joint(node)
            {
                *needed = false;
            }
        }
        Ok(Self {
            skins,
            rigid_nodes,
            needed,
        })
    }
}

/// Gives every (node, bind matrix) its bone.
struct Binder {
    bones: Vec<Bone>,
    of_node: Vec<Option<BoneId>>,
    /// The bones that stand for a node so far, one per bind matrix.
    bound: HashMap<(usize, [u64; 12]), BoneId>,
    bones_of_node: HashMap<usize, usize>,
}

impl Binder {
    fn new(
        schema: &Schema,
        scene: &Scene,
        parents_first: impl Iterator<Item = usize>,
    ) -> Result<Self, Fault> {
        let mut bones: Vec<Bone> = Vec::new();
        let mut of_node = vec![None; schema.nodes.len()];
        for node in parents_first {
            of_node[node] = Some(next_id(&bones)?);
            let name = schema.node_name(node);
            bones.push(Bone {
                parent: scene.parents[node].and_then(|parent| of_node[parent]),
                default_parent_from_bone: scene.local_trs(node, &name)?,
                bone_from_rest: inverse(&scene.model_from_node[node]).unwrap_or(DAffine3::IDENTITY),
                name,
            });
        }
        Ok(Self {
            bones,
            of_node,
            bound: HashMap::new(),
            bones_of_node: HashMap::new(),
        })
    }

    /// The bone of a node for one bind matrix: the node's own bone for the first, a child that never moves for others.
    fn bind(&mut self, node: usize, bone_from_rest: DAffine3) -> Result<BoneId, Fault> {
        // Adding zero makes -0, which inverses leave, a +0.
        let bits = bone_from_rest.to_cols_array().map(|x| (x + 0.0).to_bits());
        let key = (node, bits);
        if let Some(&bone) = self.bound.get(&key) {
            return Ok(bone);
        }
        let Some(own) = self.of_node[node] else {
            // Every bound node was counted as needed before.
            return Err(Fault::malformed(format!("node {node}"), "a bone", "none"));
        };
        let number = self.bones_of_node.entry(node).or_insert(0);
        *number += 1;
        let bone = if *number == 1 {
            self.bones[own.index()].bone_from_rest = bone_from_rest;
            own
        } else {
            let copy = next_id(&self.bones)?;
            self.bones.push(Bone {
                name: format!("{}.{number}", self.bones[own.index()].name),
                parent: Some(own),
                default_parent_from_bone: Trs::IDENTITY,
                bone_from_rest,
            });
            copy
        };
        self.bound.insert(key, bone);
        Ok(bone)
    }
}

fn next_id(bones: &[Bone]) -> Result<BoneId, Fault> {
    let found = bones.len() + 1;
    match u16::try_from(bones.len()) {
        Ok(id) if id < u16::MAX => Ok(BoneId(id)),
        _ => Err(Fault::Rig(RigError::TooManyBones { found })),
    }
}

/// A skin's inverse bind matrices, one per joint; identity where the skin has none.
fn bind_matrices(
    schema: &Schema,
    skin: usize,
    accessors: &Accessors<'_>,
) -> Result<Vec<DAffine3>, Fault> {
    let joint_count = schema.skins[skin].joints.len();
    if joint_count == 0 {
        return Err(Fault::malformed(
            format!("skin {skin}"),
            "at least one joint",
            "none",
        ));
    }
    let Some(accessor) = schema.skins[skin].inverse_bind_matrices else {
        return Ok(vec![DAffine3::IDENTITY; joint_count]);
    };
    let role = format!("skin {skin} inverseBindMatrices");
    let numbers = accessors.finite(accessor, &role, &["MAT4"], Count::AtLeast(joint_count))?;
    let (matrices, _) = numbers.values.as_chunks::<16>();
    (matrices.iter().enumerate())
        .map(|(joint, m)| {
            let element = format!("inverse bind matrix {joint} of skin {skin}");
            affine_from_columns(&m.map(f64::from), &element)
        })
        .collect()
}

/// The inverse of a placement, unless some axis is so short that positions would be lost.
fn inverse(matrix: &DAffine3) -> Option<DAffine3> {
    /// Axes shorter than this, in model units or relative to the longest, count as zero: beyond
    /// it less than single precision of the mesh survives the way to rest space and back.
    const SHORTEST: f64 = 1e-7;
    let size = |m: &DAffine3| {
        let columns = m.matrix3.to_cols_array();
        columns.iter().fold(0.0f64, |sum, x| sum.hypot(*x))
    };
    let inverse = matrix.inverse();
    let shortest = 1.0 / size(&inverse);
    let usable = matrix.is_finite()
        && inverse.is_finite()
        && shortest > SHORTEST * size(matrix).max(f64::MIN_POSITIVE)
        && shortest > SHORTEST;
    usable.then_some(inverse)
}
