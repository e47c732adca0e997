//! Closed surfaces of rings about an axis.

use glam::DVec3;

use crate::mesh::{DrawMesh, DrawPart};

/// Rings of points about the x axis, closed by a point at either end.
///
/// ```text
///          ring 0    ring 1          points: 0 | ring 0 | ring 1 | ... | last
///         s ---- s+1 ...             segments run from +y towards +z
///  0 ----            ---- last
/// ```
pub(super) struct Lathe {
    pub(super) ring_count: usize,
    pub(super) segment_count: usize,
}

impl Lathe {
    pub(super) fn vertex_count(&self) -> usize {
        self.ring_count * self.segment_count + 2
    }

    /// Ring and segment of a point; `None` for the first and the last, which close the ends.
    pub(super) fn place(&self, vertex: usize) -> Option<(usize, usize)> {
        let inner = vertex.checked_sub(1)?;
        let (ring, segment) = (inner / self.segment_count, inner % self.segment_count);
        (ring < self.ring_count).then_some((ring, segment))
    }

    /// Angle of a segment about the axis, in radians from +y towards +z.
    pub(super) fn angle(&self, segment: usize) -> f64 {
        std::f64::consts::TAU * segment as f64 / self.segment_count as f64
    }

    /// Corners of all triangles, counter-clockwise from outside.
    pub(super) fn triangles(&self) -> Vec<[u32; 3]> {
        let corner = |ring: usize, segment: usize| {
            (1 + ring * self.segment_count + segment % self.segment_count) as u32
        };
        let last_ring = self.ring_count - 1;
        let last = self.vertex_count() as u32 - 1;
        let mut triangles = Vec::new();
        for segment in 0..self.segment_count {
            triangles.push([0, corner(0, segment + 1), corner(0, segment)]);
            for ring in 0..last_ring {
                let [a, b] = [segment, segment + 1].map(|s| corner(ring, s));
                let [c, d] = [segment, segment + 1].map(|s| corner(ring + 1, s));
                triangles.push([a, b, d]);
                triangles.push([a, d, c]);
            }
            triangles.push([
                last,
                corner(last_ring, segment),
                corner(last_ring, segment + 1),
            ]);
        }
        triangles
    }

    /// The surface with UVs: u once around, v along, cut along segment 0.
    pub(super) fn draw(&self, name: &str) -> DrawMesh {
        let rows = self.ring_count + 2;
        let is_pole = |row: usize| row == 0 || row == rows - 1;
        let mut part = DrawPart {
            mesh_name: name.to_owned(),
            ..DrawPart::default()
        };
        let mut uvs = Vec::new();
        let mut row_starts = Vec::new();
        for row in 0..rows {
            row_starts.push(part.points.len());
            // A pole has a vertex for each triangle, in the middle of it; a ring closes on a seam.
            let (extra, shift) = if is_pole(row) { (0, 0.5) } else { (1, 0.0) };
            for column in 0..self.segment_count + extra {
                let point = match row {
                    0 => 0,
                    _ if is_pole(row) => self.vertex_count() - 1,
                    _ => 1 + (row - 1) * self.segment_count + column % self.segment_count,
                };
                part.points.push(point as u32);
                let u = (column as f32 + shift) / self.segment_count as f32;
                uvs.push([u, row as f32 / (rows - 1) as f32]);
            }
        }
        let vertex = |row: usize, column: usize| (row_starts[row] + column) as u32;
        for row in 0..rows - 1 {
            for column in 0..self.segment_count {
                let next = column + 1;
                if row == 0 {
                    part.triangles
                        .push([vertex(0, column), vertex(1, next), vertex(1, column)]);
                } else if row == rows - 2 {
                    let tip = vertex(row + 1, column);
                    part.triangles
                        .push([tip, vertex(row, column), vertex(row, next)]);
                } else {
                    let [a, b] = [column, next].map(|c| vertex(row, c));
                    let [c, d] = [column, next].map(|c| vertex(row + 1, c));
                    part.triangles.push([a, b, d]);
                    part.triangles.push([a, d, c]);
                }
            }
        }
        part.uvs = vec![uvs];
        DrawMesh { parts: vec![part] }
    }
}

/// A point of a cross-section: `radius` away from the axis at an angle from +y towards +z.
pub(super) fn around(angle: f64, radius: f64) -> DVec3 {
    let (sin, cos) = angle.sin_cos();
    DVec3::new(0.0, radius * cos, radius * sin)
}

/// 0 below `from`, 1 above `to`, smooth between.
pub(super) fn smoothstep(from: f64, to: f64, x: f64) -> f64 {
    let s = ((x - from) / (to - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Topology, vertex_normals};

    #[test]
    fn the_surface_is_closed_faces_outwards_and_matches_its_drawn_mesh() {
        let lathe = Lathe {
            ring_count: 4,
            segment_count: 6,
        };
        let triangles = lathe.triangles();
        let topology = Topology::new(lathe.vertex_count(), &triangles);
        assert!(topology.boundary_loops().is_empty(), "closed");
        assert!(topology.non_manifold_edges().is_empty(), "manifold");
        let positions: Vec<DVec3> = (0..lathe.vertex_count())
            .map(|v| match lathe.place(v) {
                Some((ring, s)) => DVec3::X * ring as f64 + around(lathe.angle(s), 1.0),
                None if v == 0 => -DVec3::X,
                None => DVec3::X * 4.0,
            })
            .collect();
        let normals = vertex_normals(&positions, &triangles);
        for v in 1..lathe.vertex_count() - 1 {
            let outwards = DVec3::new(0.0, positions[v].y, positions[v].z);
            assert!(normals[v].dot(outwards) > 0.5, "vertex {v} faces inwards");
        }
        let sorted = |mut list: Vec<[u32; 3]>| {
            list.iter_mut().for_each(|t| {
                let least = (0..3).min_by_key(|&k| t[k]).expect("three corners");
                t.rotate_left(least);
            });
            list.sort_unstable();
            list
        };
        assert_eq!(
            sorted(lathe.draw("test").point_triangles()),
            sorted(triangles),
            "the drawn surface is the same surface"
        );
        let part = &lathe.draw("test").parts[0];
        let mut used = vec![false; part.points.len()];
        part.triangles
            .iter()
            .flatten()
            .for_each(|&v| used[v as usize] = true);
        assert!(
            used.iter().all(|&u| u),
            "every drawn vertex belongs to a triangle"
        );
    }
}
