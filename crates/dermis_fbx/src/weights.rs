//! Weights of skins, with the repairs that real files need.

use dermis::BoneId;
use dermis::rig::RigError;
use dermis::skin::{Rows, Weight};
use glam::DVec3;
use ufbx::{SkinDeformer, SkinWeight, SkinningMethod};

use crate::bones::Bones;
use crate::counted;
use crate::instances::Instance;
use crate::nodes::{affine, inverse};

/// Weights whose sum is further from 1 get a note; smaller deviations are rounding.
const SUM_TOLERANCE: f64 = 1e-3;

/// Counts of the repairs to the weights of a whole file.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    scaled: usize,
    /// The sum furthest from 1.
    worst_sum: f64,
    negative: usize,
    unweighted: usize,
}

impl Repairs {
    /// One sentence for each kind of repair.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let vertices = |count| counted(count, "vertex", "vertices");
        let scaled = (self.scaled > 0).then(|| {
            format!(
                "the weights of {} did not sum to 1 (the worst sum is {:.4}) and were scaled",
                vertices(self.scaled),
                self.worst_sum
            )
        });
        let negative = (self.negative > 0)
            .then(|| format!("negative or endless weights, left out: {}", self.negative));
        let unweighted = (self.unweighted > 0).then(|| {
            format!(
                "vertices without any weight, which follow the node of their mesh: {}",
                self.unweighted
            )
        });
        scaled.into_iter().chain(negative).chain(unweighted)
    }
}

/// The weights of a vertex that are above 0.
fn own_weights(skin: &SkinDeformer, vertex: usize) -> impl Iterator<Item = &SkinWeight> {
    let range = skin.vertices.get(vertex).map_or(0..0, |of| {
        let first = of.weight_begin as usize;
        first..first + of.num_weights as usize
    });
    let weights = skin.weights.get(range).unwrap_or_default();
    weights
        .iter()
        .filter(|of| of.weight > 0.0 && of.weight.is_finite())
}

/// Whether some vertex of a mesh follows its node, because no bone has it.
pub(crate) fn follows_node(instance: &Instance<'_>) -> bool {
    instance.skin.is_none_or(|skin| {
        (0..instance.mesh.num_vertices).any(|v| own_weights(skin, v).next().is_none())
    })
}

/// Adds the rows of a mesh: those of its skin, or all of the weight on the bone of its node.
pub(crate) fn add_rows(
    rows: &mut Rows<Weight>,
    instance: &Instance<'_>,
    bones: &mut Bones,
    repairs: &mut Repairs,
) -> Result<(), RigError> {
    let corners = corners(instance);
    let own = match follows_node(instance) {
        true => Some(bones.bind(instance.node, instance.node_from_rest(), &corners)?),
        false => None,
    };
    let alone = own.map(|bone| Weight { bone, weight: 1.0 });
    let Some(skin) = instance.skin else {
        for _ in 0..instance.mesh.num_vertices {
            rows.push_row(alone);
        }
        return Ok(());
    };
    let used = used_clusters(skin);
    let geometry_from_rest = inverse(&instance.rest_from_geometry).unwrap_or_default();
    let mut bone_of: Vec<Option<BoneId>> = Vec::with_capacity(used.len());
    for (cluster, used) in skin.clusters.into_iter().zip(used) {
        let bound = affine(&cluster.geometry_to_bone) * geometry_from_rest;
        bone_of.push(match &cluster.bone_node {
            Some(node) if used => Some(bones.bind(node, bound, &corners)?),
            Some(node) => {
                bones.add_unused(node, bound);
                None
            }
            None => None,
        });
    }
    let mut row: Vec<Weight> = Vec::new();
    for vertex in 0..instance.mesh.num_vertices {
        row.clear();
        row.extend(own_weights(skin, vertex).filter_map(|of| {
            let bone = *bone_of.get(of.cluster_index as usize)?;
            let weight = of.weight;
            bone.map(|bone| Weight { bone, weight })
        }));
        finish(&mut row, repairs);
        if row.is_empty() {
            repairs.unweighted += 1;
            row.extend(alone);
        }
        rows.push_row(row.iter().copied());
    }
    let broken = |of: &&SkinWeight| of.weight < 0.0 || !of.weight.is_finite();
    repairs.negative += skin.weights.iter().filter(broken).count();
    Ok(())
}

/// The clusters that give some vertex a weight.
fn used_clusters(skin: &SkinDeformer) -> Vec<bool> {
    let mut used = vec![false; skin.clusters.count];
    for vertex in 0..skin.vertices.len() {
        for of in own_weights(skin, vertex) {
            if let Some(used) = used.get_mut(of.cluster_index as usize) {
                *used = true;
            }
        }
    }
    used
}

/// Sums the weights of each bone, sorts the row and scales it to sum to 1.
fn finish(row: &mut Vec<Weight>, repairs: &mut Repairs) {
    row.sort_by_key(|w| w.bone);
    row.dedup_by(|later, kept| {
        let same = later.bone == kept.bone;
        if same {
            kept.weight += later.weight;
        }
        same
    });
    // Sorted before summing, so that one set of weights in any order gives the same bits.
    row.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
    let sum: f64 = row.iter().map(|w| w.weight).sum();
    if row.is_empty() || sum == 1.0 {
        return;
    }
    row.iter_mut().for_each(|w| w.weight /= sum);
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        repairs.scaled += 1;
        if (sum - 1.0).abs() > (repairs.worst_sum - 1.0).abs() || repairs.scaled == 1 {
            repairs.worst_sum = sum;
        }
    }
}

/// The box of a mesh in rest space.
fn corners(instance: &Instance<'_>) -> [DVec3; 2] {
    let mut positions = instance.rest_positions();
    let first = positions.next().unwrap_or(DVec3::ZERO);
    positions.fold([first; 2], |[min, max], p| [min.min(p), max.max(p)])
}

/// How skins say that their bones are blended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blend {
    /// Matrices.
    Linear,
    /// Dual quaternions.
    DualQuaternion,
}

/// How all meshes together are read, with a note when that is not as the file says.
pub(crate) fn blend(instances: &[Instance<'_>], notes: &mut Vec<String>) -> Blend {
    let (mut linear, mut dual, mut mixed) = (0, 0, 0);
    for instance in instances {
        let count = instance.mesh.num_vertices;
        let Some(skin) = instance.skin else {
            linear += count;
            continue;
        };
        match skin.skinning_method {
            SkinningMethod::DualQuaternion => dual += count,
            SkinningMethod::BlendedDqLinear => {
                for of in &skin.vertices {
                    match of.dq_weight {
                        share if share >= 1.0 - 1e-6 => dual += 1,
                        share if share <= 1e-6 => linear += 1,
                        _ => mixed += 1,
                    }
                }
            }
            SkinningMethod::Linear | SkinningMethod::Rigid => linear += count,
        }
    }
    let vertices = |count| counted(count, "vertex", "vertices");
    match (linear, dual, mixed) {
        (_, 0, 0) => Blend::Linear,
        (0, _, 0) => {
            notes.push(
                "dual quaternion skinning: read as such; players that know only linear blending \
                 show the same weights blended linearly"
                    .to_owned(),
            );
            Blend::DualQuaternion
        }
        _ => {
            notes.push(format!(
                "{} skinned with dual quaternions and {} with a blend of these and linear skinning were \
                 read as linear: a skin has one kind of blending for all its vertices",
                vertices(dual),
                vertices(mixed)
            ));
            Blend::Linear
        }
    }
}
