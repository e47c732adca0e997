//! Small surfaces for the tests of this folder.

use glam::{DVec2, DVec3};

use super::elements::Tie;
use super::piece::{EdgeProducts, Piece};

/// Reproducible chance (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1))
    }

    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between -1 and 1.
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}

/// A piece of triangles between points in space.
pub(crate) fn piece_of(points: &[DVec3], triangles: Vec<[u32; 3]>) -> Piece {
    let metric = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|vertex| points[vertex as usize]);
        let (e, f) = (b - a, c - a);
        EdgeProducts {
            ee: e.dot(e),
            ef: e.dot(f),
            ff: f.dot(f),
        }
    };
    Piece {
        metrics: triangles.iter().map(metric).collect(),
        vertex_count: points.len(),
        triangles,
    }
}

/// Two triangles for each cell of a grid; vertex `j (columns + 1) + i`.
pub(crate) fn grid(columns: u32, rows: u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            let a = j * (columns + 1) + i;
            let (b, c, d) = (a + 1, a + columns + 2, a + columns + 1);
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

/// Points of a grid, from their shares in both directions.
pub(crate) fn grid_points(
    columns: u32,
    rows: u32,
    mut place: impl FnMut(f64, f64) -> DVec3,
) -> Vec<DVec3> {
    let mut points = Vec::new();
    for j in 0..=rows {
        for i in 0..=columns {
            points.push(place(
                f64::from(i) / f64::from(columns),
                f64::from(j) / f64::from(rows),
            ));
        }
    }
    points
}

/// The shares of a square grid as UVs.
pub(crate) fn grid_uvs(size: u32) -> Vec<DVec2> {
    let points = grid_points(size, size, |s, t| DVec3::new(s, t, 0.0));
    points.iter().map(|p| p.truncate()).collect()
}

/// A flat rectangle.
pub(crate) fn strip(columns: u32, rows: u32, width: f64, height: f64) -> Piece {
    let points = grid_points(columns, rows, |s, t| DVec3::new(width * s, height * t, 0.0));
    piece_of(&points, grid(columns, rows))
}

/// An open cylinder of radius 1 and height 2, cut along a line.
pub(crate) fn cut_cylinder(columns: u32, rows: u32) -> Piece {
    let points = grid_points(columns, rows, |s, t| {
        DVec2::from_angle(std::f64::consts::TAU * s).extend(2.0 * t)
    });
    piece_of(&points, grid(columns, rows))
}

/// Rings of triangles about a pole, `6 rings²` in all; `place` gives a point from the share of the radius and the angle.
pub(crate) fn rings(rings: u32, place: impl Fn(f64, f64) -> DVec3) -> Piece {
    let mut points = vec![place(0.0, 0.0)];
    let mut triangles = Vec::new();
    let vertex = |ring: u32, at: u32| {
        if ring == 0 {
            0
        } else {
            1 + 3 * ring * (ring - 1) + at % (6 * ring)
        }
    };
    for ring in 1..=rings {
        for k in 0..6 * ring {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(6 * ring);
            points.push(place(f64::from(ring) / f64::from(rings), angle));
        }
        for sector in 0..6 {
            for t in 0..ring {
                let inner = |t| vertex(ring - 1, sector * (ring - 1) + t);
                let outer = |t| vertex(ring, sector * ring + t);
                triangles.push([inner(t), outer(t), outer(t + 1)]);
                if t + 1 < ring {
                    triangles.push([inner(t), outer(t + 1), inner(t + 1)]);
                }
            }
        }
    }
    piece_of(&points, triangles)
}

/// Half a sphere of radius 1.
pub(crate) fn hemisphere(ring_count: u32) -> Piece {
    rings(ring_count, |share, angle| {
        let (sine, cosine) = (share * std::f64::consts::FRAC_PI_2).sin_cos();
        (sine * DVec2::from_angle(angle)).extend(cosine)
    })
}

/// A closed sleeve: a tube of length `length` and radius 1 with a cap, open at one end. Hard to lay out flat.
pub(crate) fn sock(ring_count: u32, length: f64) -> Piece {
    rings(ring_count, |share, angle| {
        let along = share * (length + 1.0);
        (along.min(1.0) * DVec2::from_angle(angle)).extend((1.0 - along).min(0.0))
    })
}

/// A grid with points moved sideways and up by chance.
pub(crate) fn bumpy(seed: u64, size: u32, height: f64) -> Piece {
    let mut chance = Chance::new(seed);
    let points = grid_points(size, size, |s, t| {
        let wobble = 0.3 / f64::from(size);
        DVec3::new(
            s + wobble * chance.signed(),
            t + wobble * chance.signed(),
            height / f64::from(size) * chance.signed(),
        )
    });
    piece_of(&points, grid(size, size))
}

/// A flat L of three squares.
pub(crate) fn ell(size: u32) -> Piece {
    let side = 2 * size;
    let points = grid_points(side, side, |s, t| DVec3::new(2.0 * s, 2.0 * t, 0.0));
    let all = grid(side, side);
    let kept = all.into_iter().enumerate().filter(|(k, _)| {
        let (i, j) = ((*k as u32 / 2) % side, (*k as u32 / 2) / side);
        i < size || j < size
    });
    let mut number = vec![u32::MAX; points.len()];
    let mut used = Vec::new();
    let triangles = kept
        .map(|(_, corners)| {
            corners.map(|vertex| {
                let slot = &mut number[vertex as usize];
                if *slot == u32::MAX {
                    *slot = used.len() as u32;
                    used.push(points[vertex as usize]);
                }
                *slot
            })
        })
        .collect();
    piece_of(&used, triangles)
}

/// A bent grid in which points coincide: triangles without area, some without any extent, inside and on the border.
pub(crate) fn with_waste() -> Piece {
    let mut points = grid_points(10, 10, |s, t| DVec3::new(s, t, 0.2 * (3.0 * s).sin() * t));
    for (from, to) in [
        (0, 1),
        (60, 61),
        (50, 61),
        (49, 61),
        (38, 27),
        (5, 6),
        (120, 119),
    ] {
        points[from] = points[to];
    }
    // A vertex in the middle of its opposite edge.
    points[84] = 0.5 * (points[83] + points[85]);
    piece_of(&points, grid(10, 10))
}

/// A dome over a square whose four sides are tied between its corners.
pub(crate) fn tied_square(size: u32) -> (Piece, Vec<Tie>) {
    let points = grid_points(size, size, |s, t| {
        DVec3::new(s, t, s * (1.0 - s) + 2.0 * t * (1.0 - t))
    });
    let corner = |i: u32, j: u32| j * (size + 1) + i;
    let mut ties = Vec::new();
    for k in 1..size {
        let share = f64::from(k) / f64::from(size);
        for (vertex, from, to) in [
            (corner(k, 0), corner(0, 0), corner(size, 0)),
            (corner(k, size), corner(0, size), corner(size, size)),
            (corner(0, k), corner(0, 0), corner(0, size)),
            (corner(size, k), corner(size, 0), corner(size, size)),
        ] {
            ties.push(Tie {
                vertex,
                from,
                to,
                share,
            });
        }
    }
    (piece_of(&points, grid(size, size)), ties)
}
