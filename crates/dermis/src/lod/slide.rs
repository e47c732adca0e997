//! What a step does to the texture: how far the surface slides below it, the appearance-preserving deviation of
//! \[Merry07\] section 6.2, around one edge.
//!
//! The triangles before and after the step are laid over each other in the texture. Where two of them overlap, both are
//! linear functions of its coordinates, and so is their difference; a norm is convex, so that its largest value is at a
//! corner of an overlap. With the ring around the edge unchanged, those corners are the two old points, the new one, and
//! the places where a new edge crosses an old one. `texture` measures whole levels in the same way, by all overlaps.
//!
//! Along seams and rims the new triangles do not cover all of the old ones: a point outside is compared with the nearest
//! place inside, so that the width of the strip that is lost counts.

use glam::DVec2;

use super::lanes::{LANES, Lanes, Lanes3, ZERO3, dot3, lerp3, sub3, sum, wide};
use super::model::{Collapse, WedgePair};
use super::simplify::Simplifier;

/// A vertex in the texture, and where it is in every sample pose.
#[derive(Clone, Copy)]
struct Place<'a> {
    uv: DVec2,
    positions: &'a Lanes3,
}

/// The triangles of one chart around an edge, before and after it is drawn together.
struct Patch<'a> {
    before: Vec<[Place<'a>; 3]>,
    after: Vec<[Place<'a>; 3]>,
    /// Edges inside, or at the end that moves: those that begin at one of the two points.
    old_edges: Vec<[Place<'a>; 2]>,
    /// Those that begin at the new point.
    new_edges: Vec<[Place<'a>; 2]>,
}

impl Simplifier {
    /// What a collapse costs because textures slide: a squared distance times an area, weighed as textures are.
    pub(super) fn slide_cost(&self, collapse: &Collapse, to: &Lanes3) -> f64 {
        if self.options.uv_weight == 0.0 || self.given.texture.is_none() {
            return 0.0;
        }
        let slide = wide(
            #[inline(always)]
            || self.square_slide(collapse, to),
        );
        let area = self.area_of([collapse.kept.point, collapse.removed]);
        self.options.uv_weight.powi(2) * area * slide
    }

    /// The largest squared distance between two points, before and after a collapse, with the same place in the texture:
    /// the mean over the sample poses.
    #[inline(always)]
    pub(super) fn square_slide(&self, collapse: &Collapse, to: &Lanes3) -> f64 {
        let Some(texture) = &self.given.texture else {
            return 0.0;
        };
        let mut largest: f64 = 0.0;
        for pair in &collapse.wedges {
            // One chart, but where the texture is mirrored along a line: there a wedge serves both sides.
            let mut charts: Vec<u32> = (collapse.redrawn.iter().map(|item| item.0))
                .chain(collapse.vanished.iter().copied())
                .map(|face| texture.chart_of_face[face as usize])
                .collect();
            charts.sort_unstable();
            charts.dedup();
            for chart in charts {
                let of_chart = |face: u32| texture.chart_of_face[face as usize] == chart;
                if let Some(patch) = self.patch(collapse, pair, of_chart, to) {
                    largest = largest.max(patch.square_slide(&self.samples.weights));
                }
            }
        }
        largest
    }

    /// The triangles of a chart around two wedges that become one; `None` where they have no texture.
    fn patch<'a>(
        &'a self,
        collapse: &'a Collapse,
        pair: &'a WedgePair,
        is_of_chart: impl Fn(u32) -> bool,
        to: &'a Lanes3,
    ) -> Option<Patch<'a>> {
        let mesh = &self.model.mesh;
        let part = mesh.part_of_wedge[pair.kept as usize];
        let at = mesh.layouts[part as usize].first_uv?;
        let uv = |values: &[f64]| DVec2::from_slice(&values[at..]);
        let is_end = |wedge: u32| wedge == pair.kept || wedge == pair.removed;
        let old = |wedge: u32| Place {
            uv: uv(mesh.values(wedge)),
            positions: &self.positions[mesh.point_of_wedge[wedge as usize] as usize],
        };
        let new = Place {
            uv: uv(&pair.after),
            positions: to,
        };
        let mut patch = Patch {
            before: Vec::with_capacity(12),
            after: Vec::with_capacity(12),
            old_edges: vec![[pair.kept, pair.removed].map(old)],
            new_edges: Vec::with_capacity(12),
        };
        let mut met: Vec<[u32; 2]> = Vec::with_capacity(12);
        let mut reached: Vec<u32> = Vec::with_capacity(12);
        let ends = [collapse.kept.point, collapse.removed];
        let around = ends.map(|end| &mesh.faces_of_point[end as usize]);
        let of_both = around[1].iter().filter(|face| !around[0].contains(face));
        for &face in around[0].iter().chain(of_both) {
            let corners = mesh.faces[face as usize];
            if !is_of_chart(face) || !corners.into_iter().any(is_end) {
                continue;
            }
            patch.before.push(corners.map(old));
            if !collapse.vanished.contains(&face) {
                let moved = |wedge| if is_end(wedge) { new } else { old(wedge) };
                patch.after.push(corners.map(moved));
            }
            for other in corners.into_iter().filter(|&wedge| !is_end(wedge)) {
                for end in corners.into_iter().filter(|&wedge| is_end(wedge)) {
                    if !met.contains(&[end, other]) {
                        met.push([end, other]);
                        patch.old_edges.push([end, other].map(old));
                    }
                }
                if !reached.contains(&other) {
                    reached.push(other);
                    patch.new_edges.push([new, old(other)]);
                }
            }
        }
        Some(patch)
    }
}

impl Patch<'_> {
    #[inline(always)]
    fn square_slide(&self, weights: &Lanes) -> f64 {
        let mut largest: f64 = 0.0;
        let mut meet = |a: &Lanes3, b: &Lanes3| {
            let between = sub3(a, b);
            let mut squares = dot3(&between, &between);
            for k in 0..LANES {
                squares[k] *= weights[k];
            }
            largest = largest.max(sum(&squares));
        };
        for end in self.old_edges[0] {
            if let Some(now) = at_place(&self.after, end.uv) {
                meet(end.positions, &now);
            }
        }
        if let Some([new, _]) = self.new_edges.first()
            && let Some(then) = at_place(&self.before, new.uv)
        {
            meet(&then, new.positions);
        }
        for [from, to] in &self.new_edges {
            for [other_from, other_to] in &self.old_edges {
                if let Some([s, t]) = crossing([from.uv, to.uv], [other_from.uv, other_to.uv]) {
                    let now = lerp3(from.positions, to.positions, s);
                    meet(&lerp3(other_from.positions, other_to.positions, t), &now);
                }
            }
        }
        largest
    }
}

/// Where a surface is, in every sample pose, at a place in the texture, or at the nearest corner or edge of the triangle that
/// comes closest to having it; `None` where no triangle has an area there.
#[inline(always)]
fn at_place(triangles: &[[Place<'_>; 3]], uv: DVec2) -> Option<Lanes3> {
    let mut best: Option<(f64, &[Place<'_>; 3], [f64; 3])> = None;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|place| place.uv);
        let all = (b - a).perp_dot(c - a);
        if all == 0.0 {
            continue;
        }
        let (s, t) = (
            (uv - a).perp_dot(c - a) / all,
            (b - a).perp_dot(uv - a) / all,
        );
        let shares = [1.0 - s - t, s, t];
        let least = shares.into_iter().fold(f64::INFINITY, f64::min);
        if best.is_none_or(|(best, ..)| least > best) {
            best = Some((least, triangle, shares));
        }
    }
    let (_, triangle, shares) = best?;
    let shares = shares.map(|share| share.max(0.0));
    let all = shares.iter().sum::<f64>();
    let mut result = ZERO3;
    for (place, share) in triangle.iter().zip(shares) {
        for axis in 0..3 {
            for k in 0..LANES {
                result[axis][k] += share / all * place.positions[axis][k];
            }
        }
    }
    Some(result)
}

/// Where two lines cross, as shares of their lengths; `None` where they do not, or only meet at an end of one of them.
#[inline(always)]
fn crossing([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> Option<[f64; 2]> {
    let (along, other) = (b - a, d - c);
    let all = along.perp_dot(other);
    let (s, t) = ((c - a).perp_dot(other) / all, (c - a).perp_dot(along) / all);
    // Not where a line has no length or both run side by side: neither number is one then.
    let is_inside = |x: f64| x > 0.0 && x < 1.0;
    (is_inside(s) && is_inside(t)).then_some([s, t])
}

#[cfg(test)]
mod tests {
    use crate::lod::model::Operation;
    use crate::lod::simplify::Entry;
    use crate::lod::snapshot::Snapshot;
    use crate::lod::testing::{poses_of, simplifier_of, textured_tube};
    use crate::lod::wedges::EdgeKind;
    use crate::lod::{LevelTarget, LodOptions};
    use crate::progress::Silent;

    #[test]
    fn a_step_slides_textures_by_what_an_overlay_of_all_triangles_finds() {
        let (made, draw) = textured_tube();
        let poses = poses_of(&made);
        let options = LodOptions::default();
        let faces = made.examples.rest().triangles();
        let mut compared = 0;
        for face in faces.iter().step_by(29) {
            let mut simplifier = simplifier_of(&made, &draw, &poses, &options);
            let [a, b] = [face[0].min(face[1]), face[0].max(face[1])];
            let is_inside = simplifier.model.mesh.edge_kind(a, b) == EdgeKind::Inner;
            let entry = Entry {
                cost: 0,
                a,
                b,
                is_drop: false,
                versions: [0; 2],
                has_slide: true,
            };
            if simplifier.collapse(entry).is_none() {
                continue;
            }
            let overlay = Snapshot::after(&simplifier, 1)
                .texture_deviation(&simplifier.given, &simplifier.samples.weights)
                .expect("it has a texture");
            // Back to before the step, whose cost is asked for.
            let Some(Operation::Collapse(collapse)) = simplifier.operations.pop() else {
                panic!("an edge was drawn together");
            };
            simplifier
                .model
                .undo(&Operation::Collapse(collapse.clone()));
            let kept = collapse.kept.point as usize;
            let to = std::mem::replace(
                &mut simplifier.positions[kept],
                simplifier.given.positions[kept],
            );
            let slide = simplifier.square_slide(&collapse, &to).sqrt();
            let tolerance = 1e-9 * made.truth.size().expect("it has vertices");
            if is_inside {
                assert!(
                    (slide - overlay.largest).abs() < tolerance,
                    "{a} {b}: {slide}, the overlay {}",
                    overlay.largest
                );
                compared += 1;
            }
            // Along lines, strips that are lost count, too.
            assert!(slide > overlay.largest - tolerance, "{a} {b}");
        }
        assert!(compared > 10, "most edges are inside: {compared}");
    }

    #[test]
    fn textures_slide_less_where_they_weigh_more() {
        let (made, draw) = textured_tube();
        let count = made.examples.rest().triangles().len();
        let rms = |uv_weight: f64| {
            let options = LodOptions {
                uv_weight,
                ..LodOptions::default()
            };
            let mut simplifier = simplifier_of(&made, &draw, &poses_of(&made), &options);
            let target = LevelTarget::Triangles(count / 8);
            assert!(simplifier.run(target, &Silent), "nobody stopped it");
            let level = Snapshot::after(&simplifier, simplifier.operations.len());
            let told = level.texture_deviation(&simplifier.given, &simplifier.samples.weights);
            told.expect("it has a texture").rms
        };
        let [free, held] = [0.0, 1.0].map(rms);
        assert!(held < 0.95 * free, "{held} when held, {free} when not");
    }
}
