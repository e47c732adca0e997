//! Vertex positions from the gradients of triangles: the whole Poisson equation.

use glam::{DMat3, DVec3};

use crate::fit::FitError;
use crate::mesh::{Topology, TriMesh};
use crate::solve::{LowerColumns, SparseCholesky};

/// Puts triangles with given gradients together to a mesh, some of whose vertices are held.
///
/// Minimises `Σ |D_k v̂ − v|²` over the three edges of every triangle (\[Wang07\] Eq. 2, which takes two of
/// them) for the vertices that are not held. The matrix depends on the mesh and on which vertices are held, so
/// it is factored once and every pose costs three back substitutions.
pub struct PoissonSolver {
    /// The unknown of each vertex; `None` for those that are held.
    unknowns: Vec<Option<usize>>,
    rest: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    factor: Option<SparseCholesky>,
    unknown_count: usize,
}

impl PoissonSolver {
    /// Factors the system of a mesh. Every part of the mesh must have a held vertex, and vertices without a
    /// triangle must be held.
    ///
    /// # Errors
    /// [`FitError::BadOption`] when a part of the mesh has no held vertex, or when the factor does not fit in
    /// memory.
    ///
    /// # Panics
    /// When `is_held` has not one entry per vertex.
    pub fn new(mesh: &TriMesh, is_held: &[bool]) -> Result<Self, FitError> {
        assert_eq!(is_held.len(), mesh.vertex_count(), "one entry per vertex");
        let bad = |problem: &str| FitError::BadOption {
            option: "held vertices",
            problem: problem.to_owned(),
        };
        // Rounding may let a singular matrix be factored, so this is checked first.
        let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
        let mut has_held = vec![false; topology.component_count()];
        for (&part, &held) in topology.component_of_vertex().iter().zip(is_held) {
            if let Some(has_held) = has_held.get_mut(part as usize) {
                *has_held |= held;
            }
        }
        let loose = topology.unreferenced_vertices().iter();
        if has_held.contains(&false) || loose.into_iter().any(|&i| !is_held[i as usize]) {
            return Err(bad("a part of the mesh has no vertex that is held"));
        }
        let mut unknown_count = 0;
        let unknowns: Vec<Option<usize>> = (is_held.iter())
            .map(|&held| {
                (!held).then(|| {
                    unknown_count += 1;
                    unknown_count - 1
                })
            })
            .collect();
        // Graph Laplacian: an edge counts once for every triangle at it.
        let mut entries: Vec<(usize, usize, f64)> = Vec::new();
        for &[a, b, c] in mesh.triangles() {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                if p == q {
                    continue;
                }
                let ends = [p, q].map(|i| unknowns[i as usize]);
                for end in ends.into_iter().flatten() {
                    entries.push((end, end, 1.0));
                }
                if let [Some(i), Some(j)] = ends {
                    entries.push((i.min(j), i.max(j), -1.0));
                }
            }
        }
        entries.sort_unstable_by_key(|&(column, row, _)| (column, row));
        let mut lower = LowerColumns {
            starts: vec![0],
            rows: Vec::new(),
            values: Vec::new(),
        };
        for same in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (column, row, _) = same[0];
            while lower.starts.len() <= column {
                lower.starts.push(lower.rows.len());
            }
            lower.rows.push(row);
            lower.values.push(same.iter().map(|entry| entry.2).sum());
        }
        while lower.starts.len() <= unknown_count {
            lower.starts.push(lower.rows.len());
        }
        let factor = match unknown_count {
            0 => None,
            _ => Some(SparseCholesky::new(lower).map_err(|error| bad(&error.to_string()))?),
        };
        Ok(Self {
            unknowns,
            rest: mesh.positions().to_vec(),
            triangles: mesh.triangles().to_vec(),
            factor,
            unknown_count,
        })
    }

    /// Moves the vertices that are not held; `positions` must hold the held ones in place.
    ///
    /// # Panics
    /// When there is not one gradient per triangle and one position per vertex.
    pub fn solve(&self, gradients: &[DMat3], positions: &mut [DVec3]) {
        assert_eq!(gradients.len(), self.triangles.len(), "one per triangle");
        assert_eq!(positions.len(), self.rest.len(), "one per vertex");
        let Some(factor) = &self.factor else {
            return;
        };
        let mut right = [(); 3].map(|()| vec![0.0; self.unknown_count]);
        for (&[a, b, c], gradient) in self.triangles.iter().zip(gradients) {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                if p == q {
                    continue;
                }
                let [p, q] = [p as usize, q as usize];
                let along = *gradient * (self.rest[q] - self.rest[p]);
                for (end, other, along) in [(q, p, along), (p, q, -along)] {
                    if let Some(unknown) = self.unknowns[end] {
                        let pull = match self.unknowns[other] {
                            None => along + positions[other],
                            Some(_) => along,
                        };
                        for (right, pull) in right.iter_mut().zip(pull.to_array()) {
                            right[unknown] += pull;
                        }
                    }
                }
            }
        }
        for right in &mut right {
            factor.solve(right);
        }
        for (position, unknown) in positions.iter_mut().zip(&self.unknowns) {
            if let Some(unknown) = unknown {
                *position = DVec3::from_array([0, 1, 2].map(|axis| right[axis][*unknown]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of 5 by 4 points.
    fn grid() -> TriMesh {
        let points =
            (0..20).map(|i| DVec3::new((i % 5) as f64, (i / 5) as f64, (i % 3) as f64 * 0.2));
        let mut triangles = Vec::new();
        for i in (0..14u32).filter(|i| i % 5 != 4) {
            triangles.extend([[i, i + 1, i + 5], [i + 1, i + 6, i + 5]]);
        }
        TriMesh::new(points.collect(), triangles).expect("a grid")
    }

    #[test]
    fn true_gradients_give_the_shape_back() {
        let mesh = grid();
        let bent: Vec<DVec3> = (mesh.positions().iter())
            .map(|p| DVec3::new(p.x.sin() * 3.0, p.y + 0.2 * p.x * p.x, p.z - p.y))
            .collect();
        let gradients =
            crate::mesh::deformation_gradients(mesh.triangles(), mesh.positions(), &bent);
        let gradients: Vec<DMat3> = gradients.into_iter().flatten().collect();
        assert_eq!(gradients.len(), mesh.triangles().len(), "none is flat");
        let mut is_held = vec![false; 20];
        (is_held[0], is_held[13]) = (true, true);
        let solver = PoissonSolver::new(&mesh, &is_held).expect("one part, two vertices held");
        let mut found = vec![DVec3::ZERO; 20];
        (found[0], found[13]) = (bent[0], bent[13]);
        solver.solve(&gradients, &mut found);
        for (a, b) in found.iter().zip(&bent) {
            assert!(a.abs_diff_eq(*b, 1e-12), "{a}, not {b}");
        }
    }

    #[test]
    fn a_part_without_a_held_vertex_is_refused_and_one_without_a_free_vertex_stays() {
        let mesh = grid();
        let error = PoissonSolver::new(&mesh, &[false; 20]).map(|_| ());
        let error = error.expect_err("nothing says where it is").to_string();
        assert!(error.contains("no vertex that is held"), "{error}");
        let solver = PoissonSolver::new(&mesh, &[true; 20]).expect("nothing to solve");
        let mut positions = mesh.positions().to_vec();
        solver.solve(&vec![DMat3::ZERO; mesh.triangles().len()], &mut positions);
        assert_eq!(positions, mesh.positions(), "all are held");
    }
}
