//! The character between two operations: its triangles and vertices, and how an operation is done and undone.

use super::vertices::LevelVertex;
use super::wedges::WedgeMesh;

/// Triangles and the vertices that move them.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) mesh: WedgeMesh,
    pub(super) vertices: Vec<LevelVertex>,
    /// Bones that act on vertices in use, one for each vertex that they act on.
    pub(super) influence_count: usize,
}

/// One step of simplification; with what was there before, so that it can be undone.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    /// Two points become one.
    Collapse(Collapse),
    /// A vertex follows one bone fewer.
    Drop(Change),
    /// A whole piece goes, by its last faces.
    Vanish(Vec<u32>),
}

/// A vertex before and after.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) point: u32,
    pub(super) before: LevelVertex,
    pub(super) after: LevelVertex,
}

/// An edge that is drawn together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Collapse {
    /// The point that stays, and what it becomes.
    pub(super) kept: Change,
    /// The point that goes; its vertex stays as it was.
    pub(super) removed: u32,
    pub(super) wedges: Vec<WedgePair>,
    /// Faces that had both points.
    pub(super) vanished: Vec<u32>,
    /// Corners of the other faces of the point that goes: face, corner, wedge before.
    pub(super) redrawn: Vec<(u32, u8, u32)>,
}

/// Two wedges that become one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WedgePair {
    pub(super) kept: u32,
    pub(super) removed: u32,
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
}

impl Model {
    pub(super) fn new(mesh: WedgeMesh, vertices: Vec<LevelVertex>) -> Self {
        let is_used = |point: usize| !mesh.faces_of_point[point].is_empty();
        let influence_count = (vertices.iter().enumerate())
            .filter(|(point, _)| is_used(*point))
            .map(|(_, vertex)| vertex.influences.len())
            .sum();
        Self {
            mesh,
            vertices,
            influence_count,
        }
    }

    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Drop(change) => self.change(change, true),
            Operation::Vanish(faces) => {
                self.influence_count -= self.influences_of(faces);
                self.remove_faces(faces);
            }
            Operation::Collapse(collapse) => {
                self.influence_count -= self.vertices[collapse.removed as usize].influences.len();
                self.change(&collapse.kept, true);
                for pair in &collapse.wedges {
                    self.mesh.values_mut(pair.kept).copy_from_slice(&pair.after);
                }
                self.remove_faces(&collapse.vanished);
                for &(face, corner, before) in &collapse.redrawn {
                    let kept = collapse.kept_wedge(before);
                    self.mesh.faces[face as usize][corner as usize] = kept;
                    self.mesh.faces_of_point[collapse.kept.point as usize].push(face);
                }
                self.mesh.faces_of_point[collapse.removed as usize].clear();
            }
        }
    }

    pub(super) fn undo(&mut self, operation: &Operation) {
        match operation {
            Operation::Drop(change) => self.change(change, false),
            Operation::Vanish(faces) => {
                self.restore_faces(faces);
                self.influence_count += self.influences_of(faces);
            }
            Operation::Collapse(collapse) => {
                for &(face, corner, before) in &collapse.redrawn {
                    self.mesh.faces[face as usize][corner as usize] = before;
                    let kept = collapse.kept.point as usize;
                    self.mesh.faces_of_point[kept].retain(|&f| f != face);
                    self.mesh.faces_of_point[collapse.removed as usize].push(face);
                }
                self.restore_faces(&collapse.vanished);
                for pair in &collapse.wedges {
                    self.mesh
                        .values_mut(pair.kept)
                        .copy_from_slice(&pair.before);
                }
                self.change(&collapse.kept, false);
                self.influence_count += self.vertices[collapse.removed as usize].influences.len();
            }
        }
    }

    fn remove_faces(&mut self, faces: &[u32]) {
        for &face in faces {
            self.mesh.is_alive[face as usize] = false;
            self.mesh.alive_count -= 1;
            for point in self.mesh.points(face as usize) {
                self.mesh.faces_of_point[point as usize].retain(|&f| f != face);
            }
        }
    }

    fn restore_faces(&mut self, faces: &[u32]) {
        for &face in faces {
            self.mesh.is_alive[face as usize] = true;
            self.mesh.alive_count += 1;
            for point in self.mesh.points(face as usize) {
                self.mesh.faces_of_point[point as usize].push(face);
            }
        }
    }

    /// Influences of all points of some faces.
    fn influences_of(&self, faces: &[u32]) -> usize {
        let mut points: Vec<u32> = (faces.iter())
            .flat_map(|&face| self.mesh.points(face as usize))
            .collect();
        points.sort_unstable();
        points.dedup();
        let influences = points
            .iter()
            .map(|&p| self.vertices[p as usize].influences.len());
        influences.sum()
    }

    fn change(&mut self, change: &Change, forward: bool) {
        let next = if forward {
            &change.after
        } else {
            &change.before
        };
        let vertex = &mut self.vertices[change.point as usize];
        self.influence_count -= vertex.influences.len();
        self.influence_count += next.influences.len();
        vertex.clone_from(next);
    }
}

impl Collapse {
    /// The wedge that a wedge of the removed point becomes.
    fn kept_wedge(&self, removed: u32) -> u32 {
        let pair = self.wedges.iter().find(|pair| pair.removed == removed);
        pair.map_or(removed, |pair| pair.kept)
    }
}
