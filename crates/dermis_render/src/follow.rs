//! Normals and tangents that follow a surface from its rest shape to others.

use glam::{DMat3, DVec3, Vec3, Vec4};
use rayon::prelude::*;

/// Turns the normals and tangents of a rest shape as the faces around them turn and stretch.
///
/// Files have normals of their own, with hard edges and with artists' wishes, for the rest shape alone. For a triangle let
/// `F` be the matrix that takes its two edges, and a vector across it that is as long as the triangle is large, from the
/// rest shape to the other. Around a vertex the mean of the `F`, by area at rest, carries tangents, and the mean of their
/// cofactors, which carry what is perpendicular to surfaces, carries normals.
///
/// So the rest shape has its own normals again, motions, scales and shears of the whole give exactly what they should, and
/// whatever moved the vertices, be it bones, morph targets or a recording, shows in the light.
#[derive(Debug, Clone)]
pub struct SurfaceFollower {
    triangles: Vec<RestTriangle>,
    /// The group of each vertex.
    groups: Vec<u32>,
    group_count: usize,
}

/// A triangle with an area.
#[derive(Debug, Clone)]
struct RestTriangle {
    corners: [u32; 3],
    area: f64,
    /// From coordinates along its edges and across it.
    unrest: DMat3,
}

/// What the faces around each group of vertices did: matrices for normals and tangents.
#[derive(Debug, Clone)]
pub struct FollowedShape<'a> {
    follower: &'a SurfaceFollower,
    /// Sums of cofactors and of matrices, by area.
    sums: Vec<[DMat3; 2]>,
}

impl SurfaceFollower {
    /// Prepares a rest shape.
    ///
    /// `groups` says for each vertex which group it belongs to, any numbers below the number of vertices: copies of one
    /// point that should be shaded as one (the two sides of a seam of texture coordinates) share theirs, copies on the sides
    /// of a hard edge do not. Triangles with corners that do not exist or are not finite, and those without area, say nothing.
    pub fn new(rest: &[Vec3], triangles: &[[u32; 3]], groups: &[u32]) -> Self {
        let usable = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|v| rest.get(v as usize).map(|p| p.as_dvec3()));
            let (a, b, c) = (a?, b?, c?);
            let edges = edges_and_across([a, b, c]);
            let unrest = edges.inverse();
            unrest.is_finite().then(|| RestTriangle {
                corners: *corners,
                area: (b - a).cross(c - a).length(),
                unrest,
            })
        };
        Self {
            triangles: triangles.iter().filter_map(usable).collect(),
            group_count: groups.iter().max().map_or(0, |&most| most as usize + 1),
            groups: groups.to_vec(),
        }
    }

    /// What the faces do on the way to another shape with the same vertices.
    pub fn shape(&self, positions: &[Vec3]) -> FollowedShape<'_> {
        let moved = |triangle: &RestTriangle| {
            let corners = (triangle.corners)
                .map(|v| (positions.get(v as usize)).map_or(DVec3::NAN, |p| p.as_dvec3()));
            let turn = edges_and_across(corners) * triangle.unrest;
            turn.is_finite()
                .then(|| [cofactors(&turn) * triangle.area, turn * triangle.area])
        };
        let moved: Vec<Option<[DMat3; 2]>> = self.triangles.par_iter().map(moved).collect();
        let mut sums = vec![[DMat3::ZERO; 2]; self.group_count];
        for (triangle, moved) in self.triangles.iter().zip(moved) {
            let Some(moved) = moved else { continue };
            for corner in triangle.corners {
                let Some(&group) = self.groups.get(corner as usize) else {
                    continue;
                };
                for (sum, matrix) in sums[group as usize].iter_mut().zip(moved) {
                    *sum += matrix;
                }
            }
        }
        FollowedShape {
            follower: self,
            sums,
        }
    }
}

impl FollowedShape<'_> {
    /// Unit normals of the shape, from those of the rest shape; where there are no faces they stay.
    pub fn normals(&self, rest: &[Vec3]) -> Vec<Vec3> {
        let normal = |(vertex, &normal): (usize, &Vec3)| self.carried(vertex, normal, 0);
        rest.iter().enumerate().map(normal).collect()
    }

    /// Unit tangents of the shape, with their signs, from those of the rest shape. `origins` says which vertex each of
    /// them belongs to, for vertices that are split for their tangents' sake.
    pub fn tangents(&self, rest: &[Vec4], origins: &[u32]) -> Vec<Vec4> {
        let tangent = |(tangent, &origin): (&Vec4, &u32)| {
            let carried = self.carried(origin as usize, tangent.truncate(), 1);
            carried.extend(tangent.w)
        };
        rest.iter().zip(origins).map(tangent).collect()
    }

    fn carried(&self, vertex: usize, vector: Vec3, kind: usize) -> Vec3 {
        let group = self.follower.groups.get(vertex);
        let sum = group.and_then(|&group| self.sums.get(group as usize));
        let carried = sum.and_then(|sums| (sums[kind] * vector.as_dvec3()).try_normalize());
        carried.map_or(vector, |carried| carried.as_vec3())
    }
}

/// Two edges of a triangle and a vector across it that grows as they do.
fn edges_and_across([a, b, c]: [DVec3; 3]) -> DMat3 {
    let (first, second) = (b - a, c - a);
    let across = first.cross(second);
    let length = across.length();
    // A triangle without area has no inverse, and no direction across it.
    let across = match length > 0.0 {
        true => across / length.sqrt(),
        false => DVec3::ZERO,
    };
    DMat3::from_cols(first, second, across)
}

/// `det(M) M⁻ᵀ`, which takes `a × b` to `M a × M b`.
fn cofactors(m: &DMat3) -> DMat3 {
    DMat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    )
}

#[cfg(test)]
mod tests {
    use glam::{Mat3, Quat};

    use super::*;
    use crate::scene::smooth_normals;

    /// A folded strip: two squares that meet at a right angle, with a vertex of each at the fold.
    const STRIP: [[u32; 3]; 4] = [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]];

    fn strip(at: impl Fn(f32, f32) -> Vec3) -> Vec<Vec3> {
        let corners = [
            [-1, 0],
            [0, 0],
            [0, 1],
            [-1, 1],
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
        ];
        let corners = corners.map(|[x, y]| [x as f32, y as f32]);
        corners.map(|[x, y]| at(x, y)).to_vec()
    }

    #[test]
    fn the_rest_shape_keeps_its_normals_and_tangents() {
        let rest = strip(|x, y| Vec3::new(x, y, 0.3 * x * x));
        let groups = [0, 1, 2, 3, 1, 4, 5, 2];
        let follower = SurfaceFollower::new(&rest, &STRIP, &groups);
        let normals: Vec<Vec3> = (0..8)
            .map(|i| Vec3::new(0.1 * i as f32, 0.3, 1.0).normalize())
            .collect();
        let tangents: Vec<Vec4> = (normals.iter())
            .map(|n| n.any_orthonormal_vector().extend(-1.0))
            .collect();
        let shape = follower.shape(&rest);
        for (found, expected) in shape.normals(&normals).iter().zip(&normals) {
            assert!(found.distance(*expected) < 1e-6, "{found}, not {expected}");
        }
        let origins: Vec<u32> = (0..8).collect();
        for (found, expected) in shape.tangents(&tangents, &origins).iter().zip(&tangents) {
            assert!(found.distance(*expected) < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn affine_motions_carry_normals_and_tangents_as_geometry_asks() {
        let rest = strip(|x, y| Vec3::new(x, y, 0.2 * x));
        let groups: Vec<u32> = (0..8).collect();
        let follower = SurfaceFollower::new(&rest, &STRIP, &groups);
        let turn = Mat3::from_quat(Quat::from_rotation_y(2.0));
        let tilted = Vec3::new(0.3, 0.2, 1.0).normalize();
        let tangent = Vec3::new(1.0, 0.0, 0.2).normalize();
        for (motion, is_similar) in [
            (turn, true),
            (turn * 5.0, true),
            (turn * Mat3::from_diagonal(Vec3::new(3.0, 0.5, 1.0)), false),
        ] {
            let moved: Vec<Vec3> = rest.iter().map(|&p| motion * p + Vec3::ONE).collect();
            let shape = follower.shape(&moved);
            let across = Vec3::new(-0.2, 0.0, 1.0).normalize();
            let expected = (motion.inverse().transpose() * across).normalize();
            let found = shape.normals(&[across; 8]);
            assert!(
                found.iter().all(|n| n.distance(expected) < 1e-5),
                "perpendicular: {found:?}, not {expected}"
            );
            let found = shape.tangents(&[tangent.extend(1.0); 8], &groups)[3];
            let expected = (motion * tangent).normalize().extend(1.0);
            assert!(found.distance(expected) < 1e-5, "{found}, not {expected}");
            if is_similar {
                let expected = (motion * tilted).normalize();
                let found = shape.normals(&[tilted; 8])[5];
                assert!(found.distance(expected) < 1e-5, "tilted: {found}");
            }
        }
    }

    #[test]
    fn a_bend_turns_smooth_normals_with_the_faces_and_leaves_hard_edges_hard() {
        let rest = strip(|x, y| Vec3::new(x, y, 0.0));
        let bent = strip(|x, y| {
            if x > 0.0 {
                Vec3::new(0.0, y, -x)
            } else {
                Vec3::new(x, y, 0.0)
            }
        });
        let up = [Vec3::Z; 8];
        let smooth = SurfaceFollower::new(&rest, &STRIP, &[0, 1, 2, 3, 1, 4, 5, 2]);
        let normals = smooth.shape(&bent).normals(&up);
        // Two triangles of the side that turns meet there, and one of the other.
        let between = Vec3::new(2.0, 0.0, 1.0).normalize();
        assert!(
            normals[1].distance(between) < 1e-6 && normals[1] == normals[4],
            "one normal at the fold, in between: {}",
            normals[1]
        );
        assert!(normals[0].distance(Vec3::Z) < 1e-6, "the side that stays");
        assert!(normals[5].distance(Vec3::X) < 1e-6, "the side that turns");
        let hard = SurfaceFollower::new(&rest, &STRIP, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let normals = hard.shape(&bent).normals(&up);
        let expected = smooth_normals(&bent, &STRIP);
        for (found, expected) in normals.iter().zip(&expected) {
            assert!(found.distance(*expected) < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn faces_without_area_or_numbers_say_nothing() {
        let rest = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::NAN];
        let follower =
            SurfaceFollower::new(&rest, &[[0, 1, 2], [0, 1, 3], [0, 1, 9]], &[0, 1, 2, 3]);
        let shape = follower.shape(&[Vec3::Y, Vec3::X, Vec3::Z, Vec3::ZERO]);
        assert_eq!(shape.normals(&[Vec3::Z; 4]), [Vec3::Z; 4], "as they were");
        let whole = SurfaceFollower::new(&[Vec3::ZERO, Vec3::X, Vec3::Y], &[[0, 1, 2]], &[0, 1, 2]);
        let shape = whole.shape(&[Vec3::NAN; 3]);
        assert_eq!(shape.normals(&[Vec3::Z; 3]), [Vec3::Z; 3], "not a number");
    }
}
