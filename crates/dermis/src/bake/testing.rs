//! Shapes to bake in tests: a quad, spheres and bending tubes of any detail, with bumps.

use glam::{DQuat, DVec3};

use super::surface::DrawnSurface;

/// A shape that owns what a drawn surface borrows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    /// Corners of triangles.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Parts of triangles.
    pub(crate) parts: Vec<u32>,
    /// Texture coordinates.
    pub(crate) uvs: Vec<[f32; 2]>,
    /// Positions in each pose.
    pub(crate) positions: Vec<Vec<DVec3>>,
    /// Normals in each pose.
    pub(crate) normals: Vec<Vec<DVec3>>,
}

impl Shape {
    /// The shape as a surface to bake.
    pub(crate) fn surface(&self) -> DrawnSurface<'_> {
        DrawnSurface {
            triangles: &self.triangles,
            parts: &self.parts,
            uvs: &self.uvs,
            positions: &self.positions,
            normals: &self.normals,
        }
    }

    /// A grid of `rows × columns` cells over the unit square, top row first, placed by `place(k, u, v)` in each pose. When
    /// `joined`, the first and the last column are one place and share their normals.
    fn grid(
        rows: u32,
        columns: u32,
        joined: bool,
        pose_count: usize,
        place: impl Fn(usize, f64, f64) -> DVec3,
    ) -> Self {
        let mut shape = Self::default();
        let vertex = |row: u32, column: u32| row * (columns + 1) + column;
        let mut spots = Vec::new();
        for row in 0..=rows {
            for column in 0..=columns {
                let (u, v) = (
                    f64::from(column) / f64::from(columns),
                    f64::from(row) / f64::from(rows),
                );
                shape.uvs.push([u as f32, v as f32]);
                spots.push((u, v));
                if row < rows && column < columns {
                    let (a, b) = (vertex(row, column), vertex(row, column + 1));
                    let (c, d) = (vertex(row + 1, column), vertex(row + 1, column + 1));
                    shape.triangles.extend([[a, c, d], [a, d, b]]);
                }
            }
        }
        for k in 0..pose_count {
            let positions: Vec<DVec3> = spots.iter().map(|&(u, v)| place(k, u, v)).collect();
            let mut normals = vec![DVec3::ZERO; positions.len()];
            for triangle in &shape.triangles {
                let [a, b, c] = triangle.map(|i| positions[i as usize]);
                let normal = (b - a).cross(c - a);
                triangle.iter().for_each(|&i| normals[i as usize] += normal);
            }
            for row in (0..=rows).filter(|_| joined) {
                let (first, last) = (vertex(row, 0) as usize, vertex(row, columns) as usize);
                let sum = normals[first] + normals[last];
                (normals[first], normals[last]) = (sum, sum);
            }
            normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
            shape.positions.push(positions);
            shape.normals.push(normals);
        }
        shape
    }

    /// A sphere of radius `1 + bump(u, v)` with its north pole at the top of the picture.
    pub(crate) fn sphere(rows: u32, columns: u32, bump: impl Fn(f64, f64) -> f64) -> Self {
        let mut shape = Self::grid(rows, columns, true, 1, |_, u, v| {
            let (around, down) = (std::f64::consts::TAU * u, std::f64::consts::PI * v);
            let out = DVec3::new(
                down.sin() * around.cos(),
                down.cos(),
                -down.sin() * around.sin(),
            );
            out * (1.0 + bump(u, v))
        });
        let poles = shape.positions[0].iter().zip(&mut shape.normals[0]);
        for (position, normal) in poles {
            if position.x.hypot(position.z) < 1e-9 {
                *normal = position.normalize();
            }
        }
        shape.drop_slivers();
        shape
    }

    /// A tube along y of radius `1 + bump(u, v)` and length 6, bent in its middle about z by each of the angles.
    pub(crate) fn tube(
        rows: u32,
        columns: u32,
        angles: &[f64],
        bump: impl Fn(f64, f64) -> f64,
    ) -> Self {
        Self::grid(rows, columns, true, angles.len(), |k, u, v| {
            let around = std::f64::consts::TAU * u;
            let radius = 1.0 + bump(u, v);
            let rest = DVec3::new(
                radius * around.cos(),
                6.0 * (0.5 - v),
                -radius * around.sin(),
            );
            let share = (0.5 + rest.y / 5.0).clamp(0.0, 1.0);
            let share = share * share * (3.0 - 2.0 * share);
            rest.lerp(DQuat::from_rotation_z(angles[k]) * rest, share)
        })
    }

    /// A plate of side 2 that faces the viewer on z, with `height(x, y)` towards the viewer.
    pub(crate) fn plate(cells: u32, height: impl Fn(f64, f64) -> f64) -> Self {
        Self::grid(cells, cells, false, 1, |_, u, v| {
            let (x, y) = (2.0 * u - 1.0, 1.0 - 2.0 * v);
            DVec3::new(x, y, height(x, y))
        })
    }

    fn drop_slivers(&mut self) {
        let positions = &self.positions[0];
        self.triangles.retain(|t| {
            let [a, b, c] = t.map(|i| positions[i as usize]);
            (b - a).cross(c - a).length() > 1e-12
        });
    }
}

/// A plate of two triangles that faces the viewer on z; its picture is upright, or mirrored.
pub(crate) fn quad(mirrored: bool) -> Shape {
    let mut shape = Shape::plate(1, |_, _| 0.0);
    for uv in shape.uvs.iter_mut().filter(|_| mirrored) {
        uv[0] = 1.0 - uv[0];
    }
    shape
}

/// Bumps of a sphere or tube: about ten by five of them, 0.02 high.
pub(crate) fn bumps(u: f64, v: f64) -> f64 {
    let around = (std::f64::consts::TAU * 10.0 * u).sin();
    let along = (std::f64::consts::TAU * 5.0 * v).sin();
    0.02 * around * along
}
