//! Which steps are forbidden: those that tear or pinch the surface, turn a face over, or mirror its texture.

use super::lanes::{LANES, Lanes, Lanes3, cross3, dot3, sub3};
use super::model::{Collapse, WedgePair};
use super::simplify::Simplifier;

/// Cosine of the largest turn of a triangle in any pose. With 0.02, a fox without seams is off by up to 1.7 times as
/// much, and with its seams by a tenth less.
const LEAST_COSINE: f64 = 0.2;

impl Simplifier {
    /// Whether the surface stays a surface: the only common neighbours are those of the faces that vanish.
    pub(super) fn is_sound(&self, a: u32, b: u32) -> bool {
        let mesh = &self.model.mesh;
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        mesh.neighbors(a, &mut of_a);
        mesh.neighbors(b, &mut of_b);
        let common = of_a.iter().filter(|p| of_b.binary_search(p).is_ok());
        let faces = mesh.faces_of_edge(a, b).count();
        // A piece of one or two faces would vanish.
        let around = mesh.faces_of_point[a as usize].len() + mesh.faces_of_point[b as usize].len();
        common.count() == faces && around > 2 * faces && of_a.len().min(of_b.len()) > 1 && {
            // Three faces at a point of a closed piece and one below: a tetrahedron stays.
            let rest = of_a.iter().chain(&of_b).filter(|&&p| p != a && p != b);
            let mut rest: Vec<u32> = rest.copied().collect();
            rest.sort_unstable();
            rest.dedup();
            rest.len() > faces || faces == 1 && rest.len() >= 2
        }
    }

    /// Whether a face around the ends turns too far in some pose when they go to one place.
    pub(super) fn flips(&self, ends: [u32; 2], to: &Lanes3) -> bool {
        let mesh = &self.model.mesh;
        let [a, b] = ends;
        for end in if a == b { &ends[..1] } else { &ends[..] } {
            for &face in &mesh.faces_of_point[*end as usize] {
                let points = mesh.points(face as usize);
                if a != b && points.contains(&a) && points.contains(&b) {
                    continue;
                }
                let before = points.map(|p| &self.positions[p as usize]);
                let after = points.map(|p| match ends.contains(&p) {
                    true => to,
                    false => &self.positions[p as usize],
                });
                let normal = |c: [&Lanes3; 3]| cross3(&sub3(c[1], c[0]), &sub3(c[2], c[0]));
                let (old, new) = (normal(before), normal(after));
                let cosine = dot3(&old, &new);
                let squares: (Lanes, Lanes) = (dot3(&old, &old), dot3(&new, &new));
                for k in 0..LANES {
                    if self.samples.weights[k] > 0.0
                        && cosine[k] < LEAST_COSINE * (squares.0[k] * squares.1[k]).sqrt()
                    {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether a face around the new point shows its texture mirrored, and did not before.
    pub(super) fn turns_texture(&self, collapse: &Collapse) -> bool {
        let mesh = &self.model.mesh;
        let turned = |face: u32| {
            let before = mesh.faces[face as usize];
            let Some(old) = mesh.texture_area(before) else {
                return false;
            };
            old != 0.0 && self.new_texture_area(face, collapse) * old < 0.0
        };
        let kept = &mesh.faces_of_point[collapse.kept.point as usize];
        let around = kept.iter().filter(|face| !collapse.vanished.contains(face));
        let redrawn = collapse.redrawn.iter().map(|item| item.0);
        around.copied().chain(redrawn).any(turned)
    }

    pub(super) fn new_texture_area(&self, face: u32, collapse: &Collapse) -> f64 {
        let mesh = &self.model.mesh;
        let corners = mesh.faces[face as usize];
        let part = mesh.part_of_wedge[corners[0] as usize];
        let Some(at) = mesh.layouts[part as usize].first_uv else {
            return 0.0;
        };
        let [a, b, c] = corners.map(|wedge| {
            let is_end = |pair: &&WedgePair| pair.kept == wedge || pair.removed == wedge;
            let values = match collapse.wedges.iter().find(is_end) {
                Some(pair) => &pair.after[..],
                None => mesh.values(wedge),
            };
            glam::DVec2::new(values[at], values[at + 1])
        });
        (b - a).perp_dot(c - a)
    }
}
