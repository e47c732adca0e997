//! The queue: the cheapest step first, until there are few enough triangles or influences.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lanes::{Lanes3, sum};
use super::model::{Model, Operation};
use super::placing::{Scratch, positions_of};
use super::quadrics::{AttributeQuadric, Quadric};
use super::samples::SamplePoses;
use super::texture::GivenTexture;
use super::vertices::Blending;
use super::{LevelTarget, LodOptions, rank};
use crate::par;
use crate::progress::Progress;
use crate::rig::{BoneId, Skeleton};

/// A step that may be worth taking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Bits of the rank, which is not negative: they sort as it does.
    pub(super) cost: u64,
    pub(super) a: u32,
    /// The other point, or the bone that is dropped.
    pub(super) b: u32,
    pub(super) is_drop: bool,
    pub(super) versions: [u32; 2],
    /// Whether the cost has what textures slide by, which is worked out only for steps that come to the front.
    pub(super) has_slide: bool,
}

/// A character on its way down.
pub(super) struct Simplifier {
    pub(super) model: Model,
    pub(super) operations: Vec<Operation>,
    pub(super) samples: SamplePoses,
    /// More poses, for what is decided once for a vertex.
    pub(super) more_samples: Vec<SamplePoses>,
    pub(super) blending: Blending,
    pub(super) options: LodOptions,
    /// The surface before the first step.
    pub(super) given: Given,
    pub(super) positions: Vec<Lanes3>,
    pub(super) quadrics: Vec<Quadric>,
    pub(super) of_wedge: Vec<AttributeQuadric>,
    pub(super) importances: Vec<Vec<f64>>,
    pub(super) versions: Vec<u32>,
    pub(super) queue: BinaryHeap<Reverse<Entry>>,
    /// How far each collapse strays, as a root mean square around its vertex; 0 for other steps.
    pub(super) step_errors: Vec<f64>,
    /// No step may stray farther than this, as a root mean square around its vertex.
    pub(super) tolerance: f64,
}

/// The surface before the first step, in the sample poses.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) faces: Vec<[u32; 3]>,
    pub(super) positions: Vec<Lanes3>,
    /// Where it shows its texture; `None` without one.
    pub(super) texture: Option<GivenTexture>,
}

impl Simplifier {
    pub(super) fn new(
        model: Model,
        samples: SamplePoses,
        more_samples: Vec<SamplePoses>,
        blending: Blending,
        options: &LodOptions,
    ) -> Self {
        let positions = par::map(model.vertices.len(), |i| {
            positions_of(&model.vertices[i], &samples, &blending)
        });
        let importances = (model.mesh.layouts.iter())
            .map(|layout| layout.weights(options.uv_weight))
            .collect();
        let given = Given {
            faces: (0..model.mesh.faces.len())
                .map(|face| model.mesh.points(face))
                .collect(),
            positions: positions.clone(),
            texture: GivenTexture::new(&model.mesh),
        };
        let mut simplifier = Self {
            given,
            operations: Vec::new(),
            step_errors: Vec::new(),
            options: options.clone(),
            quadrics: Vec::new(),
            of_wedge: Vec::new(),
            versions: vec![0; model.vertices.len()],
            queue: BinaryHeap::new(),
            tolerance: f64::INFINITY,
            samples,
            more_samples,
            blending,
            positions,
            importances,
            model,
        };
        simplifier.measure_surface();
        simplifier
    }

    /// Goes on to the level of this number: first without the bones that it may not have.
    ///
    /// Returns false when the caller stopped it.
    pub(super) fn reach(
        &mut self,
        number: usize,
        target: LevelTarget,
        skeleton: &Skeleton,
        progress: &dyn Progress,
    ) -> bool {
        let most_bones = &self.options.max_bones;
        if let Some(&most) = most_bones.get(number).or(most_bones.last()) {
            self.queue.clear();
            if !self.drop_bones(skeleton, most, progress) {
                return false;
            }
        }
        self.run(target, progress)
    }

    /// Takes steps until a target is met, or nothing more can be done.
    ///
    /// Returns false when the caller stopped it.
    pub(super) fn run(&mut self, target: LevelTarget, progress: &dyn Progress) -> bool {
        let start = self.model.mesh.alive_count;
        let is_met = |model: &Model| match target {
            LevelTarget::Triangles(count) => model.mesh.alive_count <= count,
            LevelTarget::Influences(count) => model.influence_count <= count,
            LevelTarget::Error(_) => false,
        };
        self.tolerance = match target {
            LevelTarget::Error(tolerance) => tolerance,
            _ => f64::INFINITY,
        };
        while !is_met(&self.model) {
            // Steps that were refused may be allowed now, since others were taken.
            if self.queue.is_empty() {
                self.fill_queue();
            }
            let before = self.operations.len();
            while let Some(Reverse(entry)) = self.queue.pop() {
                if self.take(entry) && self.operations.len().is_multiple_of(1024) {
                    let done = start - self.model.mesh.alive_count;
                    if !progress.report("collapsing edges", done, start) {
                        return false;
                    }
                }
                if is_met(&self.model) {
                    return true;
                }
            }
            if self.operations.len() == before {
                return true;
            }
        }
        true
    }

    /// Every edge and every influence.
    pub(super) fn fill_queue(&mut self) {
        let mesh = &self.model.mesh;
        let lists = par::map_with(
            self.model.vertices.len(),
            || (Scratch::default(), Vec::new()),
            |(scratch, around), i| {
                let point = i as u32;
                let mut entries = Vec::new();
                if mesh.faces_of_point[i].is_empty() {
                    return entries;
                }
                mesh.neighbors(point, around);
                for &other in around.iter().filter(|&&other| other > point) {
                    entries.extend(self.entry(point, other, scratch));
                }
                self.drops(point, &mut entries);
                entries
            },
        );
        self.queue = lists.into_iter().flatten().map(Reverse).collect();
    }

    pub(super) fn entry(&self, a: u32, b: u32, scratch: &mut Scratch) -> Option<Entry> {
        if !self.options.collapse {
            return None;
        }
        let placed = self.evaluate(a, b, scratch)?;
        let removed = self.model.vertices[placed.removed as usize]
            .influences
            .len();
        Some(Entry {
            cost: rank(placed.cost, removed).to_bits(),
            a,
            b,
            is_drop: false,
            versions: [a, b].map(|p| self.versions[p as usize]),
            has_slide: false,
        })
    }

    /// The area around some points, over the sample poses.
    pub(super) fn area_of(&self, points: [u32; 2]) -> f64 {
        let areas = points.map(|p| sum(&self.quadrics[p as usize].areas()));
        areas[0] + areas[1]
    }

    /// Takes a step when it is still what it was and nothing forbids it.
    pub(super) fn take(&mut self, entry: Entry) -> bool {
        let second = if entry.is_drop { entry.a } else { entry.b };
        let is_current = [entry.a, second].map(|p| self.versions[p as usize]) == entry.versions;
        if !is_current {
            return false;
        }
        if entry.is_drop {
            return self.drop_influence(entry.a, BoneId(entry.b as u16));
        }
        let area = self.area_of([entry.a, entry.b]);
        let Some(cost) = self.collapse(entry) else {
            return false;
        };
        self.step_errors.resize(self.operations.len(), 0.0);
        if let Some(error) = self.step_errors.last_mut().filter(|_| area > 0.0) {
            *error = (cost / area).sqrt();
        }
        true
    }

    /// Everything that depends on a point, again.
    pub(super) fn requeue(&mut self, point: u32) {
        self.versions[point as usize] += 1;
        let mut around = Vec::new();
        self.model.mesh.neighbors(point, &mut around);
        let mut entries = Vec::new();
        let mut scratch = Scratch::default();
        for &other in &around {
            let (a, b) = (point.min(other), point.max(other));
            entries.extend(self.entry(a, b, &mut scratch));
        }
        self.drops(point, &mut entries);
        self.queue.extend(entries.into_iter().map(Reverse));
    }
}
