//! Tangent frames as game engines make them (MikkTSpace), and how shaders interpolate them.
//!
//! glTF's conventions, which decide what the colours of a normal map mean:
//!
//! - Texture coordinates have `v` down the picture, but the green of a normal map is up the picture: "+X is right and +Y is
//!   up". So the bitangent points where `v` falls.
//! - `bitangent = w · (normal × tangent)`, `w` the fourth number of `TANGENT`.
//! - Hence `w = +1` where the picture is seen upright from outside and −1 where it is mirrored. MikkTSpace itself takes
//!   `v` as up; given glTF's coordinates as they are it finds the opposite sign, which is turned round here, as Bevy and
//!   three.js do.

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{DMat3, DVec3};

use super::surface::{BakeError, DrawnSurface, SurfacePoint, blend};

/// How a shader makes the frame of a pixel from those of the vertices. A map looks right only in the shader that it was
/// baked for, though the difference is small where triangles are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrameRule {
    /// Interpolated normal and tangent as they are, not brought back to length 1, and the bitangent made from them in each
    /// pixel: MikkTSpace's own advice; Bevy, and by its account Blender, Unity and Unreal.
    #[default]
    Mikkelsen,
    /// Normal, tangent and bitangent are interpolated, each then brought to length 1: three.js.
    Normalized,
}

/// Tangents of a drawn surface.
///
/// Corners that share a vertex may want different tangents (where mirrored halves meet), so some vertices are split:
/// `triangles` and `origins` say how.
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    /// The surface's triangles after splitting.
    pub triangles: Vec<[u32; 3]>,
    /// Which vertex of the surface each one is a copy of: first all vertices as they were, then copies.
    pub origins: Vec<u32>,
    /// `tangents[k][vertex]`, of length 1, in each pose; pose 0 is the rest pose.
    pub tangents: Vec<Vec<DVec3>>,
    /// `w` of glTF's `TANGENT`, 1 or −1.
    pub signs: Vec<f64>,
}

impl Frames {
    /// Makes the tangents of the rest pose.
    ///
    /// # Errors
    /// A fault of the surface, or one without texture coordinates.
    pub fn at_rest(surface: &DrawnSurface<'_>) -> Result<Self, BakeError> {
        surface.check()?;
        if surface.uvs.len() != surface.vertex_count() {
            return Err(BakeError::Length {
                what: "texture coordinates",
                actual: surface.uvs.len(),
                expected: surface.vertex_count(),
            });
        }
        Ok(Self::split(surface, &corner_tangents(surface, 0)))
    }

    /// Makes the tangents of every pose anew from its positions.
    ///
    /// Run-times turn the tangents of the rest pose with the bones instead; [`Frames::pose`] takes those where the skin is
    /// at hand. The two differ only where the skin shears.
    ///
    /// # Errors
    /// As [`Frames::at_rest`], and when poses have normals but no positions.
    pub fn in_every_pose(surface: &DrawnSurface<'_>) -> Result<Self, BakeError> {
        let mut frames = Self::at_rest(surface)?;
        if surface.positions.len() < surface.pose_count() {
            return Err(BakeError::Length {
                what: "poses with positions",
                actual: surface.positions.len(),
                expected: surface.pose_count(),
            });
        }
        for k in 1..surface.pose_count() {
            let corners = corner_tangents(surface, k);
            let mut tangents = frames.tangents[0].clone();
            for (triangle, corners) in frames.triangles.iter().zip(&corners) {
                for (&vertex, tangent) in triangle.iter().zip(corners) {
                    if let Some(tangent) = tangent {
                        tangents[vertex as usize] = tangent.direction;
                    }
                }
            }
            frames.tangents.push(tangents);
        }
        Ok(frames)
    }

    /// Poses the tangents of the rest pose: `turn(k, vertex, tangent)` gives the tangent of a vertex of the surface in
    /// pose `k`, of any length, as the run-time's skinning does.
    pub fn pose(&mut self, pose_count: usize, turn: impl Fn(usize, u32, DVec3) -> DVec3) {
        self.tangents.truncate(1);
        let Some(rest) = self.tangents.first().cloned() else {
            return;
        };
        for k in 1..pose_count {
            let posed = rest.iter().zip(&self.origins).map(|(&tangent, &vertex)| {
                turn(k, vertex, tangent).try_normalize().unwrap_or(tangent)
            });
            self.tangents.push(posed.collect());
        }
    }

    /// The rest tangents as glTF stores them.
    pub fn gltf_tangents(&self) -> Vec<[f32; 4]> {
        let rest = self.tangents.first().into_iter().flatten();
        rest.zip(&self.signs)
            .map(|(t, &w)| [t.x as f32, t.y as f32, t.z as f32, w as f32])
            .collect()
    }

    /// Checks that these are tangents of a surface.
    pub(crate) fn check(&self, surface: &DrawnSurface<'_>) -> Result<(), BakeError> {
        let count = self.origins.len();
        let lengths = [
            (
                "triangles with tangents",
                self.triangles.len(),
                surface.triangles.len(),
            ),
            ("signs of tangents", self.signs.len(), count),
        ];
        let poses = self.tangents.iter();
        let poses = poses.map(|t| ("tangents of a pose", t.len(), count));
        for (what, actual, expected) in lengths.into_iter().chain(poses) {
            if actual != expected {
                return Err(BakeError::Length {
                    what,
                    actual,
                    expected,
                });
            }
        }
        let vertices = self.triangles.iter().flatten();
        check_range("a vertex with a tangent", vertices, count)?;
        check_range(
            "a split vertex",
            self.origins.iter(),
            surface.vertex_count(),
        )
    }

    /// Gives every vertex one tangent, splitting those whose corners want several.
    fn split(surface: &DrawnSurface<'_>, corners: &[[Option<CornerTangent>; 3]]) -> Self {
        let count = surface.vertex_count();
        let mut chosen: Vec<Option<CornerTangent>> = vec![None; count];
        let mut origins: Vec<u32> = (0..count as u32).collect();
        // Copies of each vertex, as a chain from the vertex through its copies.
        let mut next: Vec<Option<u32>> = vec![None; count];
        let mut triangles = surface.triangles.to_vec();
        for (triangle, corners) in triangles.iter_mut().zip(corners) {
            for (vertex, tangent) in triangle.iter_mut().zip(corners) {
                let Some(tangent) = tangent else { continue };
                let origin = *vertex;
                loop {
                    let own = *chosen[*vertex as usize].get_or_insert(*tangent);
                    if own == *tangent {
                        break;
                    }
                    if let Some(copy) = next[*vertex as usize] {
                        *vertex = copy;
                        continue;
                    }
                    let copy = origins.len() as u32;
                    next[*vertex as usize] = Some(copy);
                    origins.push(origin);
                    chosen.push(Some(*tangent));
                    next.push(None);
                    *vertex = copy;
                }
            }
        }
        let normals = &surface.normals[0];
        let directions = chosen.iter().zip(&origins).map(|(own, &origin)| {
            own.map_or_else(
                || any_perpendicular(normals[origin as usize]),
                |t| t.direction,
            )
        });
        Self {
            tangents: vec![directions.collect()],
            signs: chosen.iter().map(|t| t.map_or(1.0, |t| t.sign)).collect(),
            triangles,
            origins,
        }
    }

    /// The frame at a point in pose `k`, its columns tangent, bitangent and normal, as a shader has it before it applies
    /// the map.
    pub(crate) fn frame(
        &self,
        rule: FrameRule,
        normals: &[Vec<DVec3>],
        k: usize,
        point: SurfacePoint,
    ) -> DMat3 {
        let corners = self.triangles[point.triangle as usize];
        let origins = corners.map(|c| self.origins[c as usize]);
        let weights = point.weights();
        let normal = blend(&normals[k], origins, weights);
        let tangent = blend(&self.tangents[k], corners, weights);
        // MikkTSpace never joins corners of different signs, so the sign is that of any corner.
        let sign = self.signs[corners[0] as usize];
        match rule {
            FrameRule::Mikkelsen => DMat3::from_cols(tangent, sign * normal.cross(tangent), normal),
            FrameRule::Normalized => {
                let bitangent = |i: usize| {
                    let normal = normals[k][origins[i] as usize];
                    normal.cross(self.tangents[k][corners[i] as usize])
                };
                let bitangent = weights[0] * bitangent(0)
                    + weights[1] * bitangent(1)
                    + weights[2] * bitangent(2);
                DMat3::from_cols(
                    tangent.normalize_or_zero(),
                    sign * bitangent.normalize_or_zero(),
                    normal.normalize_or_zero(),
                )
            }
        }
    }
}

/// What MikkTSpace says about a corner.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CornerTangent {
    direction: DVec3,
    sign: f64,
}

/// A pose of a surface as MikkTSpace asks for it.
struct PosedSurface<'a> {
    surface: &'a DrawnSurface<'a>,
    k: usize,
    corners: Vec<[Option<CornerTangent>; 3]>,
}

impl PosedSurface<'_> {
    fn vertex(&self, face: usize, vert: usize) -> usize {
        self.surface.triangles[face][vert] as usize
    }
}

impl Geometry for PosedSurface<'_> {
    fn num_faces(&self) -> usize {
        self.surface.triangles.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, vert: usize) -> [f32; 3] {
        self.surface.positions[self.k][self.vertex(face, vert)]
            .as_vec3()
            .to_array()
    }

    fn normal(&self, face: usize, vert: usize) -> [f32; 3] {
        self.surface.normals[self.k][self.vertex(face, vert)]
            .as_vec3()
            .to_array()
    }

    fn tex_coord(&self, face: usize, vert: usize) -> [f32; 2] {
        self.surface.uvs[self.vertex(face, vert)]
    }

    fn set_tangent(&mut self, tangent_space: Option<TangentSpace>, face: usize, vert: usize) {
        let tangent = tangent_space.and_then(|space| {
            let [x, y, z, w] = space.tangent_encoded().map(f64::from);
            let direction = DVec3::new(x, y, z).try_normalize()?;
            Some(CornerTangent {
                direction,
                sign: -w,
            })
        });
        self.corners[face][vert] = tangent;
    }
}

/// The tangent of each corner in pose `k`; `None` where texture coordinates or positions do not tell.
fn corner_tangents(surface: &DrawnSurface<'_>, k: usize) -> Vec<[Option<CornerTangent>; 3]> {
    let mut posed = PosedSurface {
        surface,
        k,
        corners: vec![[None; 3]; surface.triangles.len()],
    };
    if surface.triangles.is_empty() {
        return posed.corners;
    }
    match generate_tangents(&mut posed) {
        Ok(()) => posed.corners,
        // It has no kind of failure today; one to come would leave every corner without a tangent.
        Err(_) => vec![[None; 3]; surface.triangles.len()],
    }
}

fn check_range<'a>(
    what: &'static str,
    mut indices: impl Iterator<Item = &'a u32>,
    count: usize,
) -> Result<(), BakeError> {
    match indices.find(|&&index| index as usize >= count) {
        None => Ok(()),
        Some(&index) => Err(BakeError::Length {
            what,
            actual: count,
            expected: index as usize + 1,
        }),
    }
}

fn any_perpendicular(normal: DVec3) -> DVec3 {
    normal
        .try_normalize()
        .map_or(DVec3::X, |n| n.any_orthonormal_vector())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::testing::{Shape, quad};

    #[test]
    fn an_upright_picture_has_w_plus_one_and_its_bitangent_up() {
        let shape = quad(false);
        let frames = Frames::at_rest(&shape.surface()).expect("a quad with UVs");
        for tangent in frames.gltf_tangents() {
            assert_eq!(tangent, [1.0, 0.0, 0.0, 1.0], "to the right, upright");
        }
        let point = SurfacePoint::default();
        for rule in [FrameRule::Mikkelsen, FrameRule::Normalized] {
            let frame = frames.frame(rule, &shape.normals, 0, point);
            assert_eq!(frame, DMat3::IDENTITY, "right, up and towards the viewer");
        }
    }

    #[test]
    fn a_mirrored_picture_has_w_minus_one_and_its_bitangent_up_still() {
        let shape = quad(true);
        let frames = Frames::at_rest(&shape.surface()).expect("a quad with UVs");
        for tangent in frames.gltf_tangents() {
            assert_eq!(tangent, [-1.0, 0.0, 0.0, -1.0], "to the left, mirrored");
        }
        let frame = frames.frame(
            FrameRule::Mikkelsen,
            &shape.normals,
            0,
            SurfacePoint::default(),
        );
        assert_eq!(frame.y_axis, DVec3::Y, "up the picture");
    }

    #[test]
    fn a_vertex_where_mirrored_halves_meet_is_split() {
        // Two triangles share an edge at u = 0.5; both run to u = 1, so the right one is mirrored.
        //       1---3
        //     / | /        u = 1 at 0, 0.5 at 1 and 2, 1 at 3
        //   0---2
        let positions = vec![vec![
            DVec3::new(-1.0, 0.0, 0.0),
            DVec3::new(0.0, 1.0, 0.0),
            DVec3::new(0.0, 0.0, 0.0),
            DVec3::new(1.0, 1.0, 0.0),
        ]];
        let normals = vec![vec![DVec3::Z; 4]];
        let uvs = [[1.0, 1.0], [0.5, 0.0], [0.5, 1.0], [1.0, 0.0]];
        let surface = DrawnSurface {
            triangles: &[[0, 2, 1], [2, 3, 1]],
            parts: &[],
            uvs: &uvs,
            positions: &positions,
            normals: &normals,
        };
        let frames = Frames::at_rest(&surface).expect("a strip with UVs");
        assert_eq!(frames.origins, [0, 1, 2, 3, 2, 1], "the shared edge twice");
        assert_eq!(frames.triangles, [[0, 2, 1], [4, 3, 5]], "a side each");
        let signs = frames.triangles.iter();
        let signs: Vec<_> = signs.map(|t| t.map(|c| frames.signs[c as usize])).collect();
        assert_eq!(signs, [[-1.0; 3], [1.0; 3]], "one sign in each triangle");
    }

    #[test]
    fn posed_tangents_turn_with_the_surface() {
        let shape = Shape::tube(24, 16, &[0.0, 0.5, 1.2], |_, _| 0.0);
        let frames = Frames::in_every_pose(&shape.surface()).expect("a tube with UVs");
        for k in 0..3 {
            for (i, &tangent) in frames.tangents[k].iter().enumerate() {
                let normal = shape.normals[k][frames.origins[i] as usize];
                assert!(
                    tangent.dot(normal).abs() < 1e-3 && (tangent.length() - 1.0).abs() < 1e-6,
                    "tangent {i} of pose {k} is tangent"
                );
            }
        }
    }

    #[test]
    fn texture_coordinates_without_area_still_give_a_frame() {
        let mut shape = quad(false);
        shape.uvs = vec![[0.5, 0.5]; 4];
        let frames = Frames::at_rest(&shape.surface()).expect("UVs, if poor ones");
        let perpendicular = |t: &DVec3| t.dot(DVec3::Z).abs() < 1e-12 && t.is_normalized();
        assert!(
            frames.tangents[0].iter().all(perpendicular),
            "any tangent is better than none: {:?}",
            frames.tangents[0]
        );
    }
}
