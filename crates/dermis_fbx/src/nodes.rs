//! Where nodes stand: transforms of FBX nodes as matrices, with the three ways in which a scale is inherited.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use ufbx::{Anim, InheritMode, Node, Scene};

/// A node in one pose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    /// Takes the node's coordinates to its parent's.
    pub(crate) local: DAffine3,
    /// Takes the node's coordinates to the model's.
    pub(crate) world: DAffine3,
    /// The same without the node's own scale.
    unscaled: DAffine3,
    /// The scale that children may take over component by component.
    inherit_scale: DVec3,
}

impl Placed {
    const IDENTITY: Self = Self {
        local: DAffine3::IDENTITY,
        world: DAffine3::IDENTITY,
        unscaled: DAffine3::IDENTITY,
        inherit_scale: DVec3::ONE,
    };
}

pub(crate) fn vec3(v: ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub(crate) fn affine(m: &ufbx::Matrix) -> DAffine3 {
    DAffine3 {
        matrix3: DMat3::from_cols(
            DVec3::new(m.m00, m.m10, m.m20),
            DVec3::new(m.m01, m.m11, m.m21),
            DVec3::new(m.m02, m.m12, m.m22),
        ),
        translation: DVec3::new(m.m03, m.m13, m.m23),
    }
}

/// The matrix of a translation, rotation and scale; a quaternion of any length turns as its direction does.
fn matrix(translation: DVec3, rotation: DQuat, scale: DVec3) -> DAffine3 {
    let length = rotation.length();
    let rotation = match length > 0.0 && length.is_finite() {
        true => rotation * (1.0 / length),
        false => DQuat::IDENTITY,
    };
    DAffine3 {
        matrix3: DMat3::from_quat(rotation) * DMat3::from_diagonal(scale),
        translation,
    }
}

/// The inverse, where there is one.
pub(crate) fn inverse(m: &DAffine3) -> Option<DAffine3> {
    let inverse = m.inverse();
    inverse.is_finite().then_some(inverse)
}

/// The number of a node in `Scene::nodes`; parents have lower numbers.
pub(crate) fn number(node: &Node) -> usize {
    node.element.typed_id as usize
}

/// All nodes in the pose of a take at a time, or in the default pose; nodes that are not wanted stand anywhere.
pub(crate) fn place(scene: &Scene, at: Option<(&Anim, f64)>, wanted: &[bool]) -> Vec<Placed> {
    let mut placed = vec![Placed::IDENTITY; scene.nodes.count];
    for (i, node) in scene.nodes.into_iter().enumerate() {
        if !wanted[i] {
            continue;
        }
        let own = match at {
            Some((anim, time)) if !node.is_root => ufbx::evaluate_transform(anim, node, time),
            _ => node.local_transform,
        };
        let (translation, scale) = (vec3(own.translation), vec3(own.scale));
        let q = own.rotation;
        let rotation = DQuat::from_xyzw(q.x, q.y, q.z, q.w);
        let local = matrix(translation, rotation, scale);
        let parent = node.parent.as_ref().map(|parent| number(parent));
        let Some(parent) = parent.map(|parent| placed[parent]) else {
            placed[i] = Placed {
                local,
                world: local,
                unscaled: matrix(translation, rotation, DVec3::ONE),
                inherit_scale: scale,
            };
            continue;
        };
        placed[i] = match node.inherit_mode {
            InheritMode::Normal => Placed {
                local,
                world: parent.world * local,
                unscaled: parent.world * matrix(translation, rotation, DVec3::ONE),
                inherit_scale: scale,
            },
            // The scale of the parent is left out, or multiplied component by component after the rotation.
            _ => {
                let inherited = (node.inherit_scale_node.as_ref())
                    .map_or(DVec3::ONE, |from| placed[number(from)].inherit_scale);
                let scale = scale * inherited;
                let translation = translation * parent.inherit_scale;
                let world = parent.unscaled * matrix(translation, rotation, scale);
                Placed {
                    local: inverse(&parent.world).map_or(local, |inverse| inverse * world),
                    world,
                    unscaled: parent.unscaled * matrix(translation, rotation, DVec3::ONE),
                    inherit_scale: scale,
                }
            }
        };
    }
    placed
}

/// The nodes that some take moves, by number.
pub(crate) fn moved(scene: &Scene) -> Vec<bool> {
    let mut moved = vec![false; scene.nodes.count];
    for stack in &scene.anim_stacks {
        for prop in stack.layers.into_iter().flat_map(|layer| &layer.anim_props) {
            let is_node = prop.element.type_ == ufbx::ElementType::Node;
            let node = scene.nodes.get(prop.element.typed_id as usize);
            let Some(node) = node.filter(|_| is_node && !prop.prop_name.starts_with("Visibility"))
            else {
                continue;
            };
            let curves = prop.anim_value.curves.iter().flatten();
            let varies = { curves }.any(|curve| curve.min_value != curve.max_value);
            let there = ufbx::evaluate_transform(&stack.anim, node, stack.time_begin);
            let own = &node.local_transform;
            let apart = [
                (there.translation.x, own.translation.x),
                (there.translation.y, own.translation.y),
                (there.translation.z, own.translation.z),
                (there.scale.x, own.scale.x),
                (there.scale.y, own.scale.y),
                (there.scale.z, own.scale.z),
            ];
            let same_turn = ufbx::quat_dot(there.rotation, own.rotation).abs() > 1.0 - 1e-12;
            let is_apart = apart
                .iter()
                .any(|(a, b)| (a - b).abs() > 1e-9 * (1.0 + b.abs()));
            moved[number(node)] |= varies || is_apart || !same_turn;
        }
    }
    moved
}

/// Marks everything below marked nodes, too.
pub(crate) fn with_descendants(scene: &Scene, mut marked: Vec<bool>) -> Vec<bool> {
    for (i, node) in scene.nodes.into_iter().enumerate() {
        if let Some(parent) = &node.parent {
            marked[i] |= marked[number(parent)];
        }
    }
    marked
}

/// Marks everything above marked nodes, too, but not the root of the scene.
pub(crate) fn with_ancestors(scene: &Scene, mut marked: Vec<bool>) -> Vec<bool> {
    for (i, node) in scene.nodes.iter().enumerate().rev() {
        if let Some(parent) = &node.parent
            && marked[i]
            && !parent.is_root
        {
            marked[number(parent)] = true;
        }
    }
    marked
}
