//! The quadrics of the given surface: what every point begins with.

use super::lanes::{LANES, Lanes3, ZERO, cross3, dot3, sub3};
use super::quadrics::{AttributeQuadric, Quadric, unit_normals};
use super::simplify::Simplifier;
use super::wedges::{EdgeKind, PointKind};
use crate::par;

/// How much a rim weighs beside the surface: it is seen against the background.
const RIM_WEIGHT: f64 = 10.0;
/// How much other feature lines weigh.
const SEAM_WEIGHT: f64 = 1.0;
/// Share of a squared distance from the old place that is added to those from planes, so that points on flat ground stay.
const POINT_WEIGHT: f64 = 1e-3;

impl Simplifier {
    /// The quadrics of the given surface.
    pub(super) fn measure_surface(&mut self) {
        let mesh = &self.model.mesh;
        self.quadrics = par::map(self.model.vertices.len(), |i| self.quadric_of(i as u32));
        self.of_wedge = vec![AttributeQuadric::none(mesh.width); mesh.point_of_wedge.len()];
        if mesh.width == 0 {
            return;
        }
        for face in 0..mesh.faces.len() {
            let corners = mesh
                .points(face)
                .map(|p| self.model.vertices[p as usize].rest);
            // As large as it is seen: at rest a file may show a hand at a hundredth of its size.
            let shown = mesh.points(face).map(|p| &self.positions[p as usize]);
            let (_, areas) = unit_normals(shown);
            let area: f64 = (areas.iter().zip(&self.samples.weights))
                .map(|(area, weight)| area * weight / 3.0)
                .sum();
            let importances = &self.importances[mesh.part_of_face[face] as usize];
            let of_wedge = &mut self.of_wedge;
            let known = mesh.gradients(face, corners, |n, g, d| {
                let importance = importances.get(n).copied().unwrap_or(0.0);
                for wedge in mesh.faces[face] {
                    of_wedge[wedge as usize].add(n, g, d, area, importance);
                }
            });
            if known.is_some() {
                for wedge in mesh.faces[face] {
                    of_wedge[wedge as usize].weight += area;
                }
            }
        }
    }

    /// The planes of the faces around a point, each with a third of its area, and of feature lines that it is on.
    pub(super) fn quadric_of(&self, point: u32) -> Quadric {
        let mesh = &self.model.mesh;
        let mut quadric = Quadric::NONE;
        let own = &self.positions[point as usize];
        for &face in &mesh.faces_of_point[point as usize] {
            let points = mesh.points(face as usize);
            let corners = points.map(|p| &self.positions[p as usize]);
            let (normal, area) = unit_normals(corners);
            let mut weight = ZERO;
            let mut pull = ZERO;
            for k in 0..LANES {
                weight[k] = self.samples.weights[k] * area[k] / 3.0;
                pull[k] = POINT_WEIGHT * weight[k];
            }
            quadric.add_plane(&normal, own, &weight);
            quadric.add_point(own, &pull);
            if mesh.kinds[point as usize] == PointKind::Free {
                continue;
            }
            for other in points.into_iter().filter(|&p| p != point) {
                let share = match mesh.edge_kind(point, other) {
                    EdgeKind::Inner => continue,
                    EdgeKind::Rim => RIM_WEIGHT,
                    EdgeKind::Seam | EdgeKind::Tangled => SEAM_WEIGHT,
                };
                self.add_line(&mut quadric, [point, other], &normal, share);
            }
        }
        quadric
    }

    /// The plane through a feature edge across the face at it.
    pub(super) fn add_line(
        &self,
        quadric: &mut Quadric,
        edge: [u32; 2],
        normal: &Lanes3,
        share: f64,
    ) {
        let [a, b] = edge.map(|p| &self.positions[p as usize]);
        let along = sub3(b, a);
        let mut across = cross3(&along, normal);
        let squares = dot3(&along, &along);
        let mut weight = ZERO;
        for k in 0..LANES {
            let length = squares[k].sqrt();
            let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
            across.iter_mut().for_each(|c| c[k] *= scale);
            weight[k] = share * self.samples.weights[k] * squares[k] / 2.0;
        }
        quadric.add_plane(&across, a, &weight);
    }
}
