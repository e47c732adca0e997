//! What is drawn: every mesh on every node, and where its points are in rest space.

use dermis::limits::check_memory;
use glam::{DAffine3, DVec3};
use ufbx::{BlendChannel, Mesh, Node, Scene, SkinDeformer};

use crate::nodes::{Placed, affine, inverse, number, vec3};
use crate::{FbxError, counted};

/// Bytes that reading one point and one corner of a face takes at most, everywhere together.
const BYTES_PER_POINT: u64 = 400;
const BYTES_PER_CORNER: u64 = 200;

/// A mesh on a node.
pub(crate) struct Instance<'a> {
    pub(crate) node: &'a Node,
    pub(crate) mesh: &'a Mesh,
    /// What binds it to bones, if anything does.
    pub(crate) skin: Option<&'a SkinDeformer>,
    /// Takes the mesh's own coordinates to rest space: where the mesh was when it was bound, or stands by default.
    pub(crate) rest_from_geometry: DAffine3,
    /// Takes them to the coordinates of its node.
    pub(crate) node_from_geometry: DAffine3,
    /// Number of its first point in the document.
    pub(crate) first_point: usize,
}

impl Instance<'_> {
    /// The points in rest space.
    pub(crate) fn rest_positions(&self) -> impl Iterator<Item = DVec3> {
        let positions = self.mesh.vertices.iter();
        positions.map(|&v| self.rest_from_geometry.transform_point3(vec3(v)))
    }

    /// The channels of its blend shapes.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &BlendChannel> {
        let deformers = self.mesh.blend_deformers.into_iter();
        deformers.flat_map(|deformer| &deformer.channels)
    }

    /// The bone matrix of the node's own points: takes rest space to the node.
    pub(crate) fn node_from_rest(&self) -> DAffine3 {
        let geometry_from_rest = inverse(&self.rest_from_geometry).unwrap_or(DAffine3::IDENTITY);
        self.node_from_geometry * geometry_from_rest
    }

    /// The name of the mesh: that of its node, since most programs name no meshes.
    pub(crate) fn name(&self) -> &str {
        match self.node.element.name.as_ref() {
            "" => self.mesh.element.name.as_ref(),
            name => name,
        }
    }
}

/// Every mesh on every node, in the order of the nodes.
pub(crate) fn instances<'a>(
    scene: &'a Scene,
    default: &[Placed],
    notes: &mut Vec<String>,
) -> Result<Vec<Instance<'a>>, FbxError> {
    let mut pairs: Vec<(&Node, &Mesh)> = Vec::new();
    let (mut skinned_twice, mut unused, mut hidden) = (0, 0, 0);
    for mesh in &scene.meshes {
        let nodes = &mesh.element.instances;
        unused += usize::from(nodes.count == 0);
        // A skin stands where its bones are: on another node it would be the same again.
        let is_skinned = bound_skin(mesh).is_some();
        skinned_twice += usize::from(is_skinned && nodes.count > 1);
        let kept = if is_skinned { 1 } else { nodes.count };
        pairs.extend(nodes.into_iter().take(kept).map(|node| (node, mesh)));
    }
    pairs.sort_by_key(|(node, mesh)| (number(node), mesh.element.typed_id));
    check_size(&pairs)?;
    let mut first_point = 0;
    let mut list = Vec::with_capacity(pairs.len());
    let mut flat = Vec::new();
    for (node, mesh) in pairs {
        hidden += usize::from(!node.visible);
        let skin = bound_skin(mesh);
        let node_from_geometry = affine(&node.geometry_to_node);
        let stands = default[number(node)].world * node_from_geometry;
        let bound = skin.and_then(bind_place).unwrap_or(stands);
        let rest_from_geometry = match inverse(&bound) {
            Some(_) => bound,
            None => {
                flat.push(node.element.name.to_string());
                DAffine3::IDENTITY
            }
        };
        list.push(Instance {
            node,
            mesh,
            skin,
            rest_from_geometry,
            node_from_geometry,
            first_point,
        });
        first_point += mesh.num_vertices;
    }
    if let Some(first) = flat.first() {
        notes.push(format!(
            "{} with a scale of zero ({first}): read in their own coordinates",
            counted(flat.len(), "mesh", "meshes")
        ));
    }
    for (count, what) in [
        (unused, "on no node: left out"),
        (hidden, "hidden in the file: read as if shown"),
        (skinned_twice, "with a skin on several nodes: read once"),
    ] {
        if count > 0 {
            notes.push(format!("{} {what}", counted(count, "mesh", "meshes")));
        }
    }
    Ok(list)
}

/// The skin that moves a mesh: the first one that has bones and weights.
fn bound_skin(mesh: &Mesh) -> Option<&SkinDeformer> {
    let mut skins = mesh.skin_deformers.into_iter();
    skins.find(|skin| skin.clusters.count > 0 && skin.weights.count > 0)
}

/// Where the mesh was in model space when the skin was bound to its first bone.
fn bind_place(skin: &SkinDeformer) -> Option<DAffine3> {
    let cluster = skin.clusters.first()?;
    let place = affine(&cluster.bind_to_world) * affine(&cluster.geometry_to_bone);
    inverse(&place).map(|_| place)
}

/// Refuses meshes on so many nodes that their points would not fit into memory.
fn check_size(pairs: &[(&Node, &Mesh)]) -> Result<(), FbxError> {
    let bytes = pairs.iter().fold(0u64, |sum, (_, mesh)| {
        let points = BYTES_PER_POINT.saturating_mul(mesh.num_vertices as u64);
        let corners = BYTES_PER_CORNER.saturating_mul(mesh.num_indices as u64);
        sum.saturating_add(points).saturating_add(corners)
    });
    let what = || format!("{} on nodes", counted(pairs.len(), "mesh", "meshes"));
    check_memory(&[bytes], what, "split the file")?;
    let points: u64 = pairs.iter().map(|(_, mesh)| mesh.num_vertices as u64).sum();
    if points > u64::from(u32::MAX) {
        return Err(FbxError::malformed(
            "meshes",
            format!("at most {} points together", u32::MAX),
            points.to_string(),
        ));
    }
    Ok(())
}
