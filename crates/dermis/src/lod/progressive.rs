//! All steps of a simplification, so that a run-time can take any level out of them (\[Hoppe96\]).
//!
//! A step makes one point of two, or gives a point another vertex; either way it makes one new *node*. So the points of the
//! full character are the first nodes, and step `n` makes node `points + n`. Every node knows the later node that it becomes, its
//! parent. After `n` steps a point has become the last of its ancestors that is below `points + n`: a walk up a tree, and
//! nothing is undone.
//!
//! ```text
//!   points   0   1   2   3        after 0 steps  0 1 2 3
//!             \ /    |   |        after 1 step   4 2 3
//!   step 0     4     |   |        after 2 steps  4 5 3      a vertex that follows fewer bones
//!   step 1     |     5   |        after 3 steps  6 3
//!   step 2      \   /    |
//!                 6      |
//! ```
//!
//! Drawn vertices, which have normals and UVs, form such trees, too, one for each part. A triangle knows the step that it
//! vanishes with; sorted by it, the latest first, the triangles of any level are the first few of a list.

use glam::DVec3;

use super::LodError;
use super::attributes::creased_normals;
use crate::mesh::{AttributeData, CustomAttribute, DrawMesh, DrawPart, TriMesh};
use crate::skin::VertexProgram;

/// A character with every step of its simplification.
///
/// Steps are as they were taken; the points of a [`LevelShape`](super::LevelShape) are moved once more when it is done.
/// Made by [`simplify`](super::simplify) with [`LodOptions::progressive`](super::LodOptions::progressive).
///
/// ```
/// use dermis::lod::{LevelTarget, LodOptions, simplify};
/// use dermis::mesh::DrawMesh;
///
/// let made = dermis::synth::tube(&Default::default());
/// let mesh = made.examples.rest();
/// let draw = DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles());
/// let poses: Vec<_> = made.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let tenth = LevelTarget::Triangles(mesh.triangles().len() / 10);
/// let options = LodOptions { progressive: true, ..LodOptions::default() };
/// let simplified = simplify(&made.truth, mesh, &draw, &poses, &[tenth], &options, None,
///     &dermis::progress::Silent)?;
/// let sequence = simplified.progressive.expect("asked for");
/// assert_eq!(&sequence.at(0)?.mesh, mesh, "no step: what was given");
/// // As coarse as it may be within a thousandth of the size.
/// let steps = sequence.steps_within(1e-3 * made.truth.size()?);
/// let level = sequence.at(steps)?;
/// assert!(level.mesh.triangles().len() < mesh.triangles().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Progressive {
    /// How many points the full character has: the first nodes.
    pub point_count: usize,
    /// Where each node rests.
    pub rest_positions: Vec<DVec3>,
    /// What moves each node: one row for each, so that one program plays every level.
    pub program: VertexProgram,
    /// The node that each node becomes; the number of nodes for one that stays.
    pub parents: Vec<u32>,
    /// The error after each number of steps, in model units and never falling, 0 first: the farthest that any step strayed, as
    /// a root mean square over poses around its vertex.
    pub errors: Vec<f64>,
    /// As it is drawn, in the parts of the full character.
    pub parts: Vec<ProgressivePart>,
}

/// Drawn vertices of one material, and what they become.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgressivePart {
    /// The part of the full character. Its normals, UVs, colours and custom attributes go on with those of the vertices
    /// that steps make; its points, triangles and tangents do not.
    pub drawn: DrawPart,
    /// The cosine of the angle from which on triangles are shaded apart, where normals are made of them: every triangle has
    /// its own vertices then, and those that steps make have no normals. `None` where normals are attributes like others.
    pub crease_cosine: Option<f64>,
    /// The drawn vertex that each becomes; their number for one that stays.
    pub parents: Vec<u32>,
    /// The step that makes each further vertex, never falling.
    pub made_by: Vec<u32>,
    /// The step that each triangle vanishes with; the number of steps for one that stays.
    pub vanishes_with: Vec<u32>,
}

/// A character after some steps.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressiveLevel {
    /// Each point once, in rest pose.
    pub mesh: TriMesh,
    /// As it is drawn, with the parts of the full character.
    pub draw: DrawMesh,
    /// What moves the points.
    pub program: VertexProgram,
    /// The node that each point is.
    pub nodes: Vec<u32>,
}

impl Progressive {
    /// How many steps there are.
    pub fn step_count(&self) -> usize {
        self.parents.len() - self.point_count
    }

    /// The most steps whose error is at most so large, in model units.
    pub fn steps_within(&self, error: f64) -> usize {
        let within = self.errors.partition_point(|own| *own <= error);
        within.saturating_sub(1)
    }

    /// The most steps that leave at least so many triangles.
    pub fn steps_to_triangles(&self, count: usize) -> usize {
        let mut last: Vec<u32> = (self.parts.iter())
            .flat_map(|part| part.vanishes_with.iter().copied())
            .collect();
        last.sort_unstable_by(|a, b| b.cmp(a));
        match count.checked_sub(1) {
            None => self.step_count(),
            Some(at) => last.get(at).map_or(0, |step| *step as usize),
        }
    }

    /// The character after so many steps, or after all where there are fewer. None give the full character.
    ///
    /// # Errors
    /// [`LodError::Mesh`] when rest positions are not finite.
    ///
    /// # Panics
    /// When [`Progressive::check`] would have failed.
    pub fn at(&self, steps: usize) -> Result<ProgressiveLevel, LodError> {
        let state = State::new(self, steps);
        let mut draw = DrawMesh {
            parts: (self.parts.iter()).map(|part| part.at(&state)).collect(),
        };
        let rest = |&node: &u32| self.rest_positions[node as usize];
        let rest: Vec<DVec3> = state.nodes.iter().map(rest).collect();
        let mesh = TriMesh::new(rest, draw.point_triangles())?;
        for (part, drawn) in self.parts.iter().zip(&mut draw.parts) {
            if let Some(crease) = part.crease_cosine.filter(|_| state.steps > 0) {
                drawn.normals = corner_normals(&mesh, drawn, crease);
            }
        }
        Ok(ProgressiveLevel {
            mesh,
            draw,
            program: self.program.copied(&state.nodes),
            nodes: state.nodes,
        })
    }

    /// For each point after `fine` steps, the point after `coarse` steps that it becomes; `None` when a piece vanishes
    /// between the two, and when `coarse` is less than `fine`.
    ///
    /// A [`geomorph`](super::geomorph) moves the one to the other. Points that nothing draws become point 0.
    pub fn becomes(&self, fine: usize, coarse: usize) -> Option<Vec<u32>> {
        if coarse < fine {
            return None;
        }
        let (fine, coarse) = (State::new(self, fine), State::new(self, coarse));
        // Triangles that name a point twice are gone with the first step, and need not be followed.
        let followed = State::new(self, fine.steps.max(1));
        let becomes = |&node: &u32| {
            let is_followed = followed.numbers[followed.last[node as usize] as usize] != u32::MAX;
            match coarse.numbers[coarse.last[node as usize] as usize] {
                u32::MAX if is_followed => None,
                u32::MAX => Some(0),
                number => Some(number),
            }
        };
        fine.nodes.iter().map(becomes).collect()
    }

    /// Whether all numbers fit together, as those that [`simplify`](super::simplify) makes do.
    ///
    /// # Errors
    /// [`LodError::BrokenSequence`].
    pub fn check(&self) -> Result<(), LodError> {
        let count = self.parents.len();
        let same = |what: &str, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => Err(broken(format!("expected {expected} {what}, found {found}"))),
        };
        if self.point_count > count {
            return Err(broken(format!(
                "expected at least {} nodes, one for each point, found {count}",
                self.point_count
            )));
        }
        same("rest positions", count, self.rest_positions.len())?;
        same("rows of the program", count, self.program.vertex_count())?;
        same("errors", self.step_count() + 1, self.errors.len())?;
        check_parents("node", &self.parents, self.point_count)?;
        let rises = |pair: &[f64]| pair[0] <= pair[1] && pair[1].is_finite();
        if self.errors[0] != 0.0 || !self.errors.windows(2).all(rises) {
            return Err(broken("expected errors that begin with 0 and never fall"));
        }
        let mut parts = self.parts.iter().enumerate();
        parts.try_for_each(|(number, part)| part.check(number, self.point_count, self.step_count()))
    }
}

impl ProgressivePart {
    /// What is drawn after some steps. Tangents are left out after the first: they belong to another surface.
    fn at(&self, state: &State) -> DrawPart {
        let given = &self.drawn;
        let point = |v: u32| {
            let node = state.last[given.points[v as usize] as usize];
            state.numbers[node as usize]
        };
        if state.steps == 0 {
            let all: Vec<u32> = (0..given.points.len() as u32).collect();
            return DrawPart {
                points: given
                    .points
                    .iter()
                    .map(|&p| state.numbers[p as usize])
                    .collect(),
                triangles: given.triangles.clone(),
                normals: given.normals[..given.normals.len().min(all.len())].to_vec(),
                tangents: given.tangents.clone(),
                ..self.picked(&all)
            };
        }
        let made = self
            .made_by
            .partition_point(|&step| (step as usize) < state.steps);
        let last = last_below(&self.parents, given.points.len() + made);
        let (mut triangles, mut points, mut picked) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = vec![u32::MAX; last.len()];
        for (triangle, &vanishes) in given.triangles.iter().zip(&self.vanishes_with) {
            if (vanishes as usize) < state.steps {
                continue;
            }
            triangles.push(triangle.map(|v| {
                let vertex = last[v as usize];
                let number = &mut numbers[vertex as usize];
                if self.crease_cosine.is_some() || *number == u32::MAX {
                    *number = picked.len() as u32;
                    picked.push(vertex);
                    points.push(point(v));
                }
                *number
            }));
        }
        let mut found = self.picked(&picked);
        if self.crease_cosine.is_none() && !given.normals.is_empty() {
            found.normals = picked.iter().map(|&v| given.normals[v as usize]).collect();
        }
        DrawPart {
            points,
            triangles,
            ..found
        }
    }

    /// The UVs, colours and custom attributes of some vertices.
    fn picked(&self, vertices: &[u32]) -> DrawPart {
        fn of<T: Copy>(set: &[T], vertices: &[u32]) -> Vec<T> {
            vertices.iter().map(|&v| set[v as usize]).collect()
        }
        let given = &self.drawn;
        let custom = |own: &CustomAttribute| {
            let width = own.data.width;
            let row = |&v: &u32| &own.data.values[v as usize * width..][..width];
            CustomAttribute {
                name: own.name.clone(),
                data: AttributeData {
                    width,
                    values: vertices.iter().flat_map(row).copied().collect(),
                },
            }
        };
        DrawPart {
            mesh_name: given.mesh_name.clone(),
            material: given.material,
            uvs: given.uvs.iter().map(|set| of(set, vertices)).collect(),
            colors: given.colors.iter().map(|set| of(set, vertices)).collect(),
            custom: given.custom.iter().map(custom).collect(),
            ..DrawPart::default()
        }
    }

    fn check(&self, number: usize, point_count: usize, step_count: usize) -> Result<(), LodError> {
        let given = &self.drawn;
        let (own, all) = (given.points.len(), self.parents.len());
        let fault = |problem: &str| Err(broken(format!("part {number}: {problem}")));
        if all != own + self.made_by.len() {
            return fault("expected what each drawn vertex becomes");
        }
        check_parents(&format!("part {number}: drawn vertex"), &self.parents, own)?;
        if given
            .points
            .iter()
            .any(|&point| point as usize >= point_count)
        {
            return fault("a drawn vertex copies a point that does not exist");
        }
        let corners = given.triangles.as_flattened();
        if corners.iter().any(|&v| v as usize >= own) {
            return fault("a triangle names a drawn vertex that does not exist");
        }
        let is_step = |&step: &u32| (step as usize) < step_count;
        if !self.made_by.is_sorted() || !self.made_by.iter().all(is_step) {
            return fault("expected drawn vertices in the order of the steps that make them");
        }
        let vanishes = &self.vanishes_with;
        if vanishes.len() != given.triangles.len()
            || vanishes.iter().any(|&step| step as usize > step_count)
        {
            return fault("expected a step, or the number of steps, for each triangle");
        }
        let normals = match self.crease_cosine.is_some() {
            true => own,
            false => all,
        };
        let are_whole = (given.normals.is_empty() || given.normals.len() == normals)
            && (given.tangents.is_empty() || given.tangents.len() == own)
            && given.uvs.iter().all(|set| set.len() == all)
            && given.colors.iter().all(|set| set.len() == all)
            && (given.custom.iter()).all(|set| set.data.values.len() == all * set.data.width);
        match are_whole {
            true => Ok(()),
            false => fault("expected attributes for every drawn vertex"),
        }
    }
}

/// Which nodes are left after some steps.
struct State {
    steps: usize,
    /// What each node that there is has become.
    last: Vec<u32>,
    /// The nodes that are left, in the order of the first points that become them.
    nodes: Vec<u32>,
    /// The number of each node among those; `u32::MAX` for others.
    numbers: Vec<u32>,
}

impl State {
    fn new(progressive: &Progressive, steps: usize) -> Self {
        let steps = steps.min(progressive.step_count());
        let last = last_below(&progressive.parents, progressive.point_count + steps);
        let is_left = |step: u32| step as usize >= steps;
        let parts = || progressive.parts.iter();
        // Where no triangle went, points that nothing draws stay as well.
        let is_whole = parts().all(|part| part.vanishes_with.iter().all(|&step| is_left(step)));
        let mut is_used = vec![is_whole; last.len()];
        for part in parts() {
            let triangles = part.drawn.triangles.iter().zip(&part.vanishes_with);
            for (triangle, _) in triangles.filter(|(_, step)| is_left(**step)) {
                for &v in triangle {
                    let point = part.drawn.points[v as usize];
                    is_used[last[point as usize] as usize] = true;
                }
            }
        }
        let mut numbers = vec![u32::MAX; last.len()];
        let mut nodes = Vec::new();
        for &node in &last[..progressive.point_count] {
            let number = &mut numbers[node as usize];
            if is_used[node as usize] && *number == u32::MAX {
                *number = nodes.len() as u32;
                nodes.push(node);
            }
        }
        Self {
            steps,
            last,
            nodes,
            numbers,
        }
    }
}

/// What each of the first nodes becomes while there are only these; parents come later than their children.
fn last_below(parents: &[u32], count: usize) -> Vec<u32> {
    let mut last: Vec<u32> = (0..count as u32).collect();
    for node in (0..count).rev() {
        if let Some(&above) = last.get(parents[node] as usize) {
            last[node] = above;
        }
    }
    last
}

/// The normals of a part whose triangles have vertices of their own.
fn corner_normals(mesh: &TriMesh, part: &DrawPart, crease_cosine: f64) -> Vec<[f32; 3]> {
    let corners = part.triangles.iter();
    let faces: Vec<[u32; 3]> = corners
        .map(|t| t.map(|v| part.points[v as usize]))
        .collect();
    let normals = creased_normals(mesh.positions(), &faces, crease_cosine);
    let each = normals.iter().flatten();
    each.map(|normal| normal.as_vec3().to_array()).collect()
}

fn check_parents(what: &str, parents: &[u32], given: usize) -> Result<(), LodError> {
    let is_later = |(node, &parent): (usize, &u32)| {
        let parent = parent as usize;
        parent > node && parent >= given && parent <= parents.len()
    };
    match parents.iter().enumerate().position(|item| !is_later(item)) {
        None => Ok(()),
        Some(node) => Err(broken(format!(
            "{what} {node} becomes {}, and expected is one that a later step makes",
            parents[node]
        ))),
    }
}

fn broken(problem: impl Into<String>) -> LodError {
    LodError::BrokenSequence {
        problem: problem.into(),
    }
}
