//! Triangles and their neighbours across edges, for any mesh, however dirty.
//!
//! Half-edge `3t + k` runs along triangle `t` from its corner `k` to the next. Its *twin* runs the other way along the
//! same edge, in the neighbouring triangle. Where more than two triangles meet at an edge, those that continue each other
//! most nearly are twins; edges without a twin are rims. So a surface is cut open where it is not one, and nothing is
//! refused.

use glam::DVec3;

/// No half-edge, no chart.
pub(crate) const NONE: u32 = u32::MAX;
/// Edges of more triangles than this are rims for all of them: pairing takes the square of their number.
const MOST_AT_AN_EDGE: usize = 32;

/// The half-edges of a mesh.
#[derive(Debug, Clone)]
pub(crate) struct HalfEdges {
    /// Corners of each triangle, as points.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The twin of each half-edge, or [`NONE`].
    pub(crate) twins: Vec<u32>,
}

impl HalfEdges {
    /// Finds the twins. `normals` are those of the triangles, of any length.
    ///
    /// Triangles with a repeated corner have none: they are lines.
    pub(crate) fn new(triangles: &[[u32; 3]], normals: &[DVec3]) -> Self {
        let mut edges: Vec<(u64, u32)> = Vec::with_capacity(3 * triangles.len());
        for (t, corners) in triangles.iter().enumerate() {
            if is_line(*corners) {
                continue;
            }
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let key = (u64::from(a.min(b)) << 32) | u64::from(a.max(b));
                edges.push((key, (3 * t + k) as u32));
            }
        }
        edges.sort_unstable();
        let mut mesh = Self {
            triangles: triangles.to_vec(),
            twins: vec![NONE; 3 * triangles.len()],
        };
        for group in edges.chunk_by(|a, b| a.0 == b.0) {
            mesh.pair(group, normals);
        }
        mesh
    }

    fn pair(&mut self, group: &[(u64, u32)], normals: &[DVec3]) {
        match *group {
            [_] => {}
            [(_, g), (_, h)] if self.start(g) == self.end(h) => self.make_twins(g, h),
            _ if group.len() > MOST_AT_AN_EDGE => {}
            _ => {
                let unit = |h: u32| normals[h as usize / 3].normalize_or_zero();
                let mut pairs = Vec::new();
                for (i, &(_, g)) in group.iter().enumerate() {
                    for &(_, h) in &group[i + 1..] {
                        if self.start(g) == self.end(h) {
                            pairs.push((unit(g).dot(unit(h)), g, h));
                        }
                    }
                }
                pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
                for (_, g, h) in pairs {
                    if self.twins[g as usize] == NONE && self.twins[h as usize] == NONE {
                        self.make_twins(g, h);
                    }
                }
            }
        }
    }

    fn make_twins(&mut self, g: u32, h: u32) {
        self.twins[g as usize] = h;
        self.twins[h as usize] = g;
    }

    /// Cuts the edge of a half-edge: no chart will cross it.
    pub(crate) fn cut(&mut self, h: u32) {
        let twin = self.twins[h as usize];
        if twin != NONE {
            self.twins[twin as usize] = NONE;
            self.twins[h as usize] = NONE;
        }
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The point where a half-edge begins.
    pub(crate) fn start(&self, h: u32) -> u32 {
        self.triangles[h as usize / 3][h as usize % 3]
    }

    /// The point where a half-edge ends.
    pub(crate) fn end(&self, h: u32) -> u32 {
        self.start(next_in_triangle(h))
    }
}

/// Whether two corners of a triangle are the same point.
pub(crate) fn is_line([a, b, c]: [u32; 3]) -> bool {
    a == b || b == c || c == a
}

/// The half-edge after `h` around its triangle.
pub(crate) fn next_in_triangle(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_of_a_square_are_neighbours() {
        let mesh = HalfEdges::new(&[[0, 1, 2], [0, 2, 3]], &[DVec3::Z; 2]);
        assert_eq!(mesh.twins, [NONE, NONE, 3, 2, NONE, NONE], "along 0 2");
    }

    /// Three sheets at one edge: the two that lie in one plane go on.
    #[test]
    fn sheets_that_continue_each_other_stay_together() {
        let triangles = [[0, 1, 2], [1, 0, 3], [1, 0, 4]];
        let mesh = HalfEdges::new(&triangles, &[DVec3::Z, DVec3::X, DVec3::Z]);
        assert_eq!((mesh.twins[0], mesh.twins[6]), (6, 0), "the flat pair");
        assert_eq!(mesh.twins[3], NONE, "the third sheet is cut off");
    }

    #[test]
    fn triangles_that_wind_the_other_way_are_no_neighbours_and_lines_have_none() {
        let mesh = HalfEdges::new(&[[0, 1, 2], [0, 1, 3]], &[DVec3::Z; 2]);
        assert!(
            mesh.twins.iter().all(|&twin| twin == NONE),
            "both run 0 to 1"
        );
        let mesh = HalfEdges::new(&[[0, 1, 1], [1, 0, 3]], &[DVec3::Z; 2]);
        assert!(
            mesh.twins.iter().all(|&twin| twin == NONE),
            "a line has no side"
        );
    }
}
