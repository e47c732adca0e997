//! Which point of a level stands for a point of the given surface, the same in every pose.

use super::lanes::{Lanes, Lanes3, dot3, sub3, sum, wide};
use crate::Rows;

/// A point of a level's triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Foot {
    pub(super) face: u32,
    pub(super) weights: [f64; 3],
    /// Squared distance, mean over the sample poses.
    pub(super) square: f64,
}

/// A level in the sample poses, ready for feet.
pub(super) struct LevelSurface<'a> {
    pub(super) faces: &'a [[u32; 3]],
    pub(super) positions: &'a [Lanes3],
    pub(super) faces_of_point: Rows<u32>,
    pub(super) pose_weights: &'a Lanes,
}

impl<'a> LevelSurface<'a> {
    pub(super) fn new(
        faces: &'a [[u32; 3]],
        positions: &'a [Lanes3],
        pose_weights: &'a Lanes,
    ) -> Self {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); positions.len()];
        for (f, face) in faces.iter().enumerate() {
            face.iter().for_each(|&p| lists[p as usize].push(f as u32));
        }
        Self {
            faces,
            positions,
            faces_of_point: lists.into_iter().collect(),
            pose_weights,
        }
    }

    /// The nearest point of a face over all sample poses.
    #[inline(always)]
    pub(super) fn foot_on(&self, face: u32, x: &Lanes3) -> Foot {
        let [a, b, c] = self.faces[face as usize].map(|p| &self.positions[p as usize]);
        let (e, f, d) = (sub3(b, a), sub3(c, a), sub3(x, a));
        let mean = |u: &Lanes3, v: &Lanes3| {
            let mut products = dot3(u, v);
            products
                .iter_mut()
                .zip(self.pose_weights)
                .for_each(|(p, w)| *p *= w);
            sum(&products)
        };
        let (ee, ef, ff) = (mean(&e, &e), mean(&e, &f), mean(&f, &f));
        let (de, df, dd) = (mean(&d, &e), mean(&d, &f), mean(&d, &d));
        let [s, t] = nearest_in_triangle([ee, ef, ff], [de, df]);
        let square = dd - 2.0 * (s * de + t * df) + s * s * ee + 2.0 * s * t * ef + t * t * ff;
        Foot {
            face,
            weights: [1.0 - s - t, s, t],
            square: square.max(0.0),
        }
    }

    /// The nearest foot that is found by going from face to face, from those around a point.
    pub(super) fn nearest(&self, x: &Lanes3, start: u32) -> Option<Foot> {
        self.nearest_in(x, [start; 3])
    }

    /// The nearest foot that is found by going from face to face, from a given one, which is left only where the foot is on
    /// its edge.
    pub(super) fn nearest_from(&self, x: &Lanes3, face: u32) -> Option<Foot> {
        let foot = wide(
            #[inline(always)]
            || self.foot_on(face, x),
        );
        match foot.weights.iter().all(|w| *w > 0.0) {
            true => Some(foot),
            false => self.nearest_in(x, self.faces[face as usize]),
        }
    }

    fn nearest_in(&self, x: &Lanes3, mut around: [u32; 3]) -> Option<Foot> {
        let mut best: Option<Foot> = None;
        // Each step gets nearer, so that this ends; on real meshes after two or three.
        loop {
            let before = best;
            wide(
                #[inline(always)]
                || {
                    for &p in &around {
                        for &face in self.faces_of_point.row(p as usize) {
                            let foot = self.foot_on(face, x);
                            if best.is_none_or(|best| foot.square < best.square) {
                                best = Some(foot);
                            }
                        }
                    }
                },
            );
            if best == before {
                return best;
            }
            around = self.faces[best?.face as usize];
        }
    }
}

/// The point `s e + t f` of a triangle that is nearest to `d`, from dot products alone: `[e·e, e·f, f·f]`, `[d·e, d·f]`.
fn nearest_in_triangle(gram: [f64; 3], right: [f64; 2]) -> [f64; 2] {
    let [ee, ef, ff] = gram;
    let [de, df] = right;
    let det = ee * ff - ef * ef;
    if det > 1e-14 * ee * ff {
        let (s, t) = ((de * ff - df * ef) / det, (df * ee - de * ef) / det);
        if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
            return [s, t];
        }
    }
    let on = |length: f64, along: f64| match length > 0.0 {
        true => (along / length).clamp(0.0, 1.0),
        false => 0.0,
    };
    let third = on(ee - 2.0 * ef + ff, df - de - ef + ee);
    let ends = [[on(ee, de), 0.0], [0.0, on(ff, df)], [1.0 - third, third]];
    let square =
        |[s, t]: [f64; 2]| s * s * ee + 2.0 * s * t * ef + t * t * ff - 2.0 * (s * de + t * df);
    let nearest = ends
        .into_iter()
        .min_by(|a, b| square(*a).total_cmp(&square(*b)));
    nearest.unwrap_or([0.0; 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec2;

    #[test]
    fn the_nearest_point_of_a_triangle_is_found_from_dot_products() {
        let (e, f) = (DVec2::new(2.0, 0.5), DVec2::new(-0.5, 1.5));
        let gram = [e.dot(e), e.dot(f), f.dot(f)];
        for n in 0..400 {
            let d = DVec2::new(f64::from(n % 20) * 0.3 - 2.5, f64::from(n / 20) * 0.3 - 2.5);
            let [s, t] = nearest_in_triangle(gram, [d.dot(e), d.dot(f)]);
            assert!(s >= 0.0 && t >= 0.0 && s + t <= 1.0 + 1e-12, "inside");
            let found = d.distance(s * e + t * f);
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (s, t) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    let other = d.distance(s * e + t * f);
                    assert!(found <= other + 1e-12, "{d}: {found} against {other}");
                }
            }
        }
    }
}
