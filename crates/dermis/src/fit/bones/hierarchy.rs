//! A skeleton over bones whose motion is known.

use glam::{DAffine3, DVec3};

use super::joints::{find_joint, span, walk};
use super::refine::Refinement;
use super::{BoneGuess, UnitBox};
use crate::fit::FitError;
use crate::mesh::Topology;
use crate::rig::{BoneId, Skeleton};
use crate::skin::SkinError;

/// Cost of a joint between parts that do not touch, in the unit box: more than any joint between parts that
/// do.
const APART: f64 = 10.0;

/// Bones in an order in which parents come first.
pub(super) struct Hierarchy {
    /// The bone that comes at each place.
    pub(super) order: Vec<usize>,
    /// Place of each bone's parent, by place.
    parents: Vec<Option<usize>>,
    /// Where each bone's joint is at rest, in the unit box, by place.
    joints: Vec<DVec3>,
    /// How far each joint strays in the parent, in the unit box, by place.
    pub(super) deviation: Vec<f64>,
}

impl Hierarchy {
    /// The cheapest joints between bones: those that turn in place, where the parts touch.
    pub(super) fn discover(
        refinement: &Refinement,
        topology: &Topology,
        motions: &[Vec<DAffine3>],
    ) -> Self {
        let rest = refinement.set.rest().positions();
        let borders = Borders::new(rest, topology, &refinement.cores, motions.len());
        let cost = |a: usize, b: usize| {
            let (middle, gap) = borders.between(a, b);
            let joint = find_joint(&motions[a], &motions[b], middle);
            // A fixed point far from where the parts meet is a coincidence, not a joint.
            joint.deviation
                + 0.1 * joint.place.distance(middle)
                + if gap > 0.0 { APART + gap } else { 0.0 }
        };
        let parents = span(&cost, &borders.sizes);
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); motions.len()];
        for (j, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                near[*parent].push(j);
                near[j].push(*parent);
            }
        }
        let root = parents.iter().position(Option::is_none).unwrap_or(0);
        let steps = walk(&near, root);
        let order: Vec<usize> = steps.iter().map(|step| step.0).collect();
        let place = |bone: usize| order.iter().position(|&j| j == bone);
        let found: Vec<(DVec3, f64)> = steps
            .iter()
            .map(|&(bone, parent, _)| match parent {
                None => (borders.centers[bone], 0.0),
                Some(parent) => {
                    let (middle, _) = borders.between(parent, bone);
                    let joint = find_joint(&motions[parent], &motions[bone], middle);
                    (joint.place, joint.deviation)
                }
            })
            .collect();
        Self {
            parents: steps.iter().map(|step| step.1.and_then(place)).collect(),
            joints: found.iter().map(|f| f.0).collect(),
            deviation: found.iter().map(|f| f.1).collect(),
            order,
        }
    }

    /// The hierarchy of a given skeleton, with its joints moved to where they turn in place.
    pub(super) fn follow(
        skeleton: &Skeleton,
        motions: &[Vec<DAffine3>],
        unit_box: &UnitBox,
    ) -> Self {
        let mut joints = Vec::new();
        let mut deviation = Vec::new();
        for (j, bone) in skeleton.bones().iter().enumerate() {
            let guess = unit_box.scale(bone.bone_from_rest.inverse().translation);
            let (place, stray) = match bone.parent {
                None => (guess, 0.0),
                Some(parent) => {
                    let joint = find_joint(&motions[parent.index()], &motions[j], guess);
                    (joint.place, joint.deviation)
                }
            };
            joints.push(place);
            deviation.push(stray);
        }
        Self {
            order: (0..skeleton.bone_count()).collect(),
            parents: skeleton
                .bones()
                .iter()
                .map(|b| b.parent.map(BoneId::index))
                .collect(),
            joints,
            deviation,
        }
    }

    /// The skeleton, in model units; bones keep the names and directions of a given one.
    pub(super) fn skeleton(
        &self,
        guess: &BoneGuess,
        unit_box: &UnitBox,
    ) -> Result<Skeleton, FitError> {
        let bones = (0..self.order.len()).map(|place| {
            let (name, mut frame) = match guess {
                BoneGuess::Count(_) => (format!("bone_{place:02}"), DAffine3::IDENTITY),
                BoneGuess::Skeleton { skeleton, .. } => {
                    let bone = &skeleton.bones()[place];
                    (bone.name.clone(), bone.bone_from_rest.inverse())
                }
            };
            frame.translation = unit_box.unscale(self.joints[place]);
            (name, self.parents[place].map(|p| BoneId(p as u16)), frame)
        });
        Ok(Skeleton::from_rest_frames(bones).map_err(SkinError::from)?)
    }
}

/// Where the parts of a mesh meet.
struct Borders {
    /// Vertices of each part.
    sizes: Vec<usize>,
    /// Mean of each part's vertices.
    centers: Vec<DVec3>,
    /// Sum and number of the midpoints of edges between two parts, at `a * count + b`.
    seams: Vec<(DVec3, usize)>,
}

impl Borders {
    fn new(rest: &[DVec3], topology: &Topology, cores: &[BoneId], count: usize) -> Self {
        let mut sizes = vec![0; count];
        let mut centers = vec![DVec3::ZERO; count];
        let mut seams = vec![(DVec3::ZERO, 0); count * count];
        for (i, core) in cores.iter().enumerate() {
            let a = core.index();
            sizes[a] += 1;
            centers[a] += rest[i];
            for &n in topology.neighbors(i) {
                let b = cores[n as usize].index();
                if a != b {
                    let seam = &mut seams[a * count + b];
                    seam.0 += 0.5 * (rest[i] + rest[n as usize]);
                    seam.1 += 1;
                }
            }
        }
        for (center, size) in centers.iter_mut().zip(&sizes) {
            *center /= f64::max(*size as f64, 1.0);
        }
        Self {
            sizes,
            centers,
            seams,
        }
    }

    /// The middle of the border of two parts and 0, or of their centres and the distance of those.
    fn between(&self, a: usize, b: usize) -> (DVec3, f64) {
        let (sum, edges) = self.seams[a * self.sizes.len() + b];
        match edges {
            0 => (
                0.5 * (self.centers[a] + self.centers[b]),
                self.centers[a].distance(self.centers[b]),
            ),
            _ => (sum / edges as f64, 0.0),
        }
    }
}
