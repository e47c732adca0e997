//! Nodes to bones: which nodes become bones, and where each stood when vertices were bound to it.

use dermis::BoneId;
use dermis::document::free_name;
use dermis::rig::{Bone, Pose, RigError, Skeleton, Trs};
use glam::{DAffine3, DVec3};
use ufbx::{Node, Scene};

use crate::nodes::{Placed, affine, inverse, number};

/// How far two bind matrices of one bone may put a vertex apart and still be one, as a share of the size of what is bound.
///
/// Programs write the same matrix once for every mesh, rounded in its own way: by up to 3e-7 in files of Maya.
const SAME_PLACE: f64 = 1e-6;
/// Largest cosine between two axes of a bone that counts as rounding, as where clips are made of poses.
const ROUNDING_SHEAR: f64 = 1e-4;

/// Bones of the nodes of a scene.
pub(crate) struct Bones {
    bones: Vec<Bone>,
    of_node: Vec<Option<BoneId>>,
    /// The node of each bone; `None` for a second bone of a node, which never moves in the first.
    nodes: Vec<Option<usize>>,
    /// Whether vertices are bound to it, or the file says that it is a bone.
    is_joint: Vec<bool>,
    is_bound: Vec<bool>,
    /// Default transforms that shear, by bone.
    sheared: Vec<BoneId>,
}

impl Bones {
    /// Bones of the given nodes, which are closed upwards.
    pub(crate) fn new(
        scene: &Scene,
        needed: &[bool],
        default: &[Placed],
    ) -> Result<Self, RigError> {
        let mut all = Self {
            bones: Vec::new(),
            of_node: vec![None; needed.len()],
            nodes: Vec::new(),
            is_joint: Vec::new(),
            is_bound: Vec::new(),
            sheared: Vec::new(),
        };
        let bind_poses = bind_poses(scene);
        for (i, node) in scene.nodes.into_iter().enumerate() {
            if !needed[i] {
                continue;
            }
            let parent = (node.parent.as_ref()).and_then(|parent| all.of_node[number(parent)]);
            let (trs, shear) = Trs::from_affine(&local(&default[i], parent));
            let bound = bind_poses[i].unwrap_or(default[i].world);
            let bone = all.push(
                Bone {
                    name: node.element.name.to_string(),
                    parent,
                    default_parent_from_bone: trs,
                    bone_from_rest: inverse(&bound).unwrap_or(DAffine3::IDENTITY),
                },
                Some(i),
            )?;
            if shear > ROUNDING_SHEAR {
                all.sheared.push(bone);
            }
            all.is_joint[bone.index()] = node.bone.is_some();
            all.of_node[i] = Some(bone);
        }
        Ok(all)
    }

    fn push(&mut self, bone: Bone, node: Option<usize>) -> Result<BoneId, RigError> {
        let found = self.bones.len() + 1;
        let id = u16::try_from(self.bones.len()).ok();
        let id = id.filter(|&id| id < u16::MAX);
        let id = id.ok_or(RigError::TooManyBones { found })?;
        self.bones.push(bone);
        self.nodes.push(node);
        self.is_joint.push(false);
        self.is_bound.push(false);
        Ok(BoneId(id))
    }

    /// The bone of a node for vertices within a box, which the matrix takes from rest space to the node.
    ///
    /// That is the node's own bone for the first matrix, and a child that never moves in it for others.
    ///
    /// # Panics
    /// When the node is none of the given ones.
    pub(crate) fn bind(
        &mut self,
        node: &Node,
        bone_from_rest: DAffine3,
        corners: &[DVec3; 2],
    ) -> Result<BoneId, RigError> {
        let own = self.of_node[number(node)].expect("bound nodes were counted as needed");
        let copies = (own.index()..self.bones.len()).filter(|&j| {
            j == own.index() || self.nodes[j].is_none() && self.bones[j].parent == Some(own)
        });
        let copies: Vec<usize> = copies.collect();
        for &j in &copies {
            let other = self.bones[j].bone_from_rest;
            if self.is_bound[j] && same_place(&other, &bone_from_rest, corners) {
                return Ok(BoneId(j as u16));
            }
        }
        let bone = match self.is_bound[own.index()] {
            false => own,
            true => {
                let name = &self.bones[own.index()].name;
                let is_taken = |name: &str| self.bones.iter().any(|bone| bone.name == name);
                let bone = Bone {
                    name: free_name(name, is_taken),
                    parent: Some(own),
                    default_parent_from_bone: Trs::IDENTITY,
                    bone_from_rest,
                };
                self.push(bone, None)?
            }
        };
        self.bones[bone.index()].bone_from_rest = bone_from_rest;
        self.is_bound[bone.index()] = true;
        self.is_joint[bone.index()] = true;
        Ok(bone)
    }

    /// Notes where a bone without vertices was when a skin was bound that lists it.
    pub(crate) fn add_unused(&mut self, node: &Node, bone_from_rest: DAffine3) {
        if let Some(own) = self.of_node[number(node)].map(BoneId::index) {
            self.is_joint[own] = true;
            if !self.is_bound[own] && inverse(&bone_from_rest).is_some() {
                self.bones[own].bone_from_rest = bone_from_rest;
            }
        }
    }

    /// The skeleton: nodes that only hold others are carriers.
    pub(crate) fn skeleton(&self) -> Result<Skeleton, RigError> {
        let carriers = self
            .is_joint
            .iter()
            .enumerate()
            .filter(|(_, joint)| !**joint);
        let carriers: Vec<BoneId> = carriers.map(|(j, _)| BoneId(j as u16)).collect();
        Ok(Skeleton::new(self.bones.clone())?.with_carriers(carriers))
    }

    /// The transform of every bone in its parent.
    pub(crate) fn pose(&self, placed: &[Placed]) -> Pose {
        let of = |(bone, node): (&Bone, &Option<usize>)| match node {
            Some(node) => local(&placed[*node], bone.parent),
            None => DAffine3::IDENTITY,
        };
        Pose::new(self.bones.iter().zip(&self.nodes).map(of).collect())
    }

    /// Whether the default transform of some bone shears, so that no single node can hold it.
    pub(crate) fn shears_by_default(&self) -> bool {
        !self.sheared.is_empty()
    }
}

/// A node's transform in its parent bone, or in model space when it has none.
fn local(placed: &Placed, parent: Option<BoneId>) -> DAffine3 {
    match parent {
        Some(_) => placed.local,
        None => placed.world,
    }
}

/// Where the file's bind poses put nodes, by number.
fn bind_poses(scene: &Scene) -> Vec<Option<DAffine3>> {
    let mut places = vec![None; scene.nodes.count];
    for pose in scene.poses.into_iter().filter(|pose| pose.is_bind_pose) {
        for of_bone in &pose.bone_poses {
            let place = affine(&of_bone.bone_to_world);
            places[number(&of_bone.bone_node)].get_or_insert(place);
        }
    }
    places
}

/// Whether two matrices put the corners of a box at the same places, up to rounding.
fn same_place(a: &DAffine3, b: &DAffine3, [min, max]: &[DVec3; 2]) -> bool {
    let size = (*max - *min).length();
    (0..8).all(|k| {
        let pick = |axis: usize| {
            if k >> axis & 1 == 0 {
                min[axis]
            } else {
                max[axis]
            }
        };
        let corner = DVec3::new(pick(0), pick(1), pick(2));
        let stretch = a.matrix3.x_axis.length().max(a.matrix3.y_axis.length());
        let apart = a
            .transform_point3(corner)
            .distance(b.transform_point3(corner));
        apart <= SAME_PLACE * size * stretch
    })
}
