//! A piece of surface that is laid out flat.

/// Products of the edges `e = p₁ − p₀` and `f = p₂ − p₀` of a triangle: its metric, in squared model units.
///
/// Of one shape these are dot products; over all poses they are mean dot products, and everything that asks for
/// lengths, angles or areas of single triangles works the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeProducts {
    /// `⟨e, e⟩`.
    pub ee: f64,
    /// `⟨e, f⟩`.
    pub ef: f64,
    /// `⟨f, f⟩`.
    pub ff: f64,
}

impl EdgeProducts {
    /// The area of the flat triangle with these products.
    pub(crate) fn area(self) -> f64 {
        0.5 * (self.ee * self.ff - self.ef * self.ef).max(0.0).sqrt()
    }

    /// The squared length of the edge `f − e`.
    pub(crate) fn third(self) -> f64 {
        (self.ee - 2.0 * self.ef + self.ff).max(0.0)
    }

    /// The squared lengths of the edges that begin at each corner, in the order of the corners.
    pub(crate) fn squared_lengths(self) -> [f64; 3] {
        [self.ee, self.third(), self.ff]
    }

    /// The products of lengths that are `√factor` times as large.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            ee: self.ee * factor,
            ef: self.ef * factor,
            ff: self.ff * factor,
        }
    }

    /// The same triangle if its area is at least `least_area`, else one a little fatter with that area.
    ///
    /// Adds the products of a small equilateral triangle, which treats all corners alike: its squared side `x`
    /// solves `¾x² + x s + det = 4 least_area²`, where `s` is half the sum of the squared edges.
    pub(crate) fn thickened(self, least_area: f64) -> Self {
        if self.area() >= least_area {
            return self;
        }
        let lack = 4.0 * least_area * least_area - (self.ee * self.ff - self.ef * self.ef);
        let half_sum = self.ee + self.ff - self.ef;
        let side = 2.0 * lack / (half_sum + (half_sum * half_sum + 3.0 * lack).sqrt());
        Self {
            ee: self.ee + side,
            ef: self.ef + 0.5 * side,
            ff: self.ff + side,
        }
    }
}

/// A disc to lay out flat, possibly with cuts; its vertices are numbered from 0, those on a cut once for each side.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Piece {
    /// Corners of each triangle, anticlockwise.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The metric of each triangle. Areas may be 0 (slivers, points that coincide).
    pub(crate) metrics: Vec<EdgeProducts>,
    /// How many vertices there are.
    pub(crate) vertex_count: usize,
}

/// Metrics fit for energies: at unit scale and without triangles of no area.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnitMetrics {
    /// The metric of each triangle, the total area being about 1.
    pub(crate) metrics: Vec<EdgeProducts>,
    /// Whether a triangle was too thin, and is thicker here than it is.
    pub(crate) thin: Vec<bool>,
    /// Model units in one unit of length here.
    pub(crate) length: f64,
}

/// The least thickness of a triangle over its longest edge. Slivers of 1:1e4, which files do have, stay themselves.
const LEAST_ASPECT: f64 = 1e-5;
/// The least area of a triangle over the mean area: an edge of a ten-thousandth of the mean.
const LEAST_AREA_SHARE: f64 = 1e-8;

impl Piece {
    /// The sum of the triangles' areas.
    pub(crate) fn area(&self) -> f64 {
        self.metrics.iter().map(|metric| metric.area()).sum()
    }

    /// The metrics divided by the total area, thin triangles thickened.
    pub(crate) fn unit_metrics(&self) -> UnitMetrics {
        let longest = self
            .metrics
            .iter()
            .flat_map(|metric| metric.squared_lengths())
            .fold(0.0, f64::max);
        // A piece without area is laid out all the same, by its edges or, if those are 0 too, as if they were 1.
        let squared_length = match (self.area(), longest) {
            (area, _) if area > 1e-12 * longest && area > 0.0 => area,
            (_, longest) if longest > 0.0 => longest,
            _ => 1.0,
        };
        let floor = LEAST_AREA_SHARE / self.metrics.len().max(1) as f64;
        let mut thin = Vec::with_capacity(self.metrics.len());
        let metrics = self
            .metrics
            .iter()
            .map(|metric| {
                let unit = metric.scaled(1.0 / squared_length);
                let longest = unit.squared_lengths().into_iter().fold(0.0, f64::max);
                let least_area = floor.max(0.5 * LEAST_ASPECT * longest);
                thin.push(unit.area() < least_area);
                unit.thickened(least_area)
            })
            .collect();
        UnitMetrics {
            metrics,
            thin,
            length: squared_length.sqrt(),
        }
    }

    /// The vertices of the border, anticlockwise, beginning with the least; none unless the piece is a disc.
    ///
    /// A disc: every vertex in use, every edge with one triangle on either side or none, all triangles joined across
    /// edges, one border that passes no vertex twice, `V − E + F = 1`.
    pub(crate) fn border_loop(&self) -> Option<Vec<u32>> {
        let sides = self.sorted_sides()?;
        let mut next = vec![u32::MAX; self.vertex_count];
        let mut joined = Joined::new(self.triangles.len());
        let mut edge_count = 0;
        let mut border_count = 0;
        let mut rest = sides.as_slice();
        while let Some(&(key, side)) = rest.first() {
            edge_count += 1;
            let same = rest.iter().take_while(|other| other.0 == key).count();
            match same {
                1 => {
                    let (from, to) = self.side_ends(side);
                    let slot = &mut next[from as usize];
                    if *slot != u32::MAX {
                        return None;
                    }
                    *slot = to;
                    border_count += 1;
                }
                2 => {
                    let other = rest[1].1;
                    if self.side_ends(side).0 == self.side_ends(other).0 {
                        return None;
                    }
                    joined.join(side / 3, other / 3);
                }
                _ => return None,
            }
            rest = &rest[same..];
        }
        let euler = self.vertex_count as i64 - edge_count + self.triangles.len() as i64;
        if euler != 1 || joined.parts != 1 {
            return None;
        }
        let first = next.iter().position(|&to| to != u32::MAX)? as u32;
        let mut border = vec![first];
        let mut at = next[first as usize];
        while at != first && border.len() < border_count {
            border.push(at);
            at = next[at as usize];
        }
        (at == first && border.len() == border_count).then_some(border)
    }

    /// The sides of all triangles (`3 triangle + corner` where it begins) sorted by their vertices; none if a vertex
    /// is out of range, unused, or twice in a triangle.
    fn sorted_sides(&self) -> Option<Vec<(u64, u32)>> {
        let mut used = vec![false; self.vertex_count];
        let mut sides = Vec::with_capacity(3 * self.triangles.len());
        for (index, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                *used.get_mut(from as usize)? = true;
                if from == to {
                    return None;
                }
                let key = (u64::from(from.min(to)) << 32) | u64::from(from.max(to));
                sides.push((key, (3 * index + k) as u32));
            }
        }
        sides.sort_unstable();
        used.iter().all(|&used| used).then_some(sides)
    }

    fn side_ends(&self, side: u32) -> (u32, u32) {
        let corners = self.triangles[side as usize / 3];
        let k = side as usize % 3;
        (corners[k], corners[(k + 1) % 3])
    }
}

/// Which triangles hang together.
struct Joined {
    parents: Vec<u32>,
    parts: usize,
}

impl Joined {
    fn new(count: usize) -> Self {
        Self {
            parents: (0..count as u32).collect(),
            parts: count,
        }
    }

    fn root(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parents[a.max(b) as usize] = a.min(b);
            self.parts -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(vertex_count: usize, triangles: &[[u32; 3]]) -> Piece {
        let metric = EdgeProducts {
            ee: 1.0,
            ef: 0.5,
            ff: 1.0,
        };
        Piece {
            triangles: triangles.to_vec(),
            metrics: vec![metric; triangles.len()],
            vertex_count,
        }
    }

    #[test]
    fn two_triangles_have_a_border_of_four() {
        let square = piece(4, &[[0, 1, 2], [0, 2, 3]]);
        assert_eq!(
            square.border_loop(),
            Some(vec![0, 1, 2, 3]),
            "anticlockwise"
        );
    }

    #[test]
    fn what_is_no_disc_has_no_border_loop() {
        let cases: [(&str, Piece); 7] = [
            ("empty", piece(0, &[])),
            ("unused vertex", piece(4, &[[0, 1, 2]])),
            ("vertex out of range", piece(2, &[[0, 1, 2]])),
            ("corner twice", piece(2, &[[0, 1, 1]])),
            ("two parts", piece(6, &[[0, 1, 2], [3, 4, 5]])),
            ("bow tie", piece(5, &[[0, 1, 2], [0, 3, 4]])),
            (
                "closed",
                piece(4, &[[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]),
            ),
        ];
        for (name, case) in cases {
            assert_eq!(case.border_loop(), None, "{name}");
        }
        let against = piece(4, &[[0, 1, 2], [2, 0, 3]]);
        assert_eq!(against.border_loop(), None, "2-0 twice the same way");
        let ring = piece(
            6,
            &[
                [0, 1, 3],
                [1, 4, 3],
                [1, 2, 4],
                [2, 5, 4],
                [2, 0, 5],
                [0, 3, 5],
            ],
        );
        assert_eq!(ring.border_loop(), None, "two borders");
    }

    #[test]
    fn a_thickened_triangle_has_the_area_asked_for() {
        for (ee, ef, ff) in [
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (1.0, 2.0, 4.0),
            (1.0, 1.0, 1.0),
        ] {
            let thick = EdgeProducts { ee, ef, ff }.thickened(1e-3);
            assert!((thick.area() / 1e-3 - 1.0).abs() < 1e-9, "{thick:?}");
        }
        let fat = EdgeProducts {
            ee: 1.0,
            ef: 0.5,
            ff: 1.0,
        };
        assert_eq!(fat.thickened(1e-3), fat, "thick enough as it is");
    }
}
