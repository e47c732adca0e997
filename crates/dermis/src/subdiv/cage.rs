//! Cages: faces of any number of corners, and the sharpness of their edges.

use super::SubdivisionError;
use crate::{Rows, TriMesh};

/// An edge of a [`Cage`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Its ends, the smaller number first.
    pub points: [u32; 2],
    /// For how many levels it stays a crease: 0 is smooth, infinity means always. A fraction is a partial crease at
    /// that level. Borders are infinitely sharp.
    pub sharpness: f64,
    /// How many faces share it.
    pub face_count: u32,
    /// The corners at which it starts in its two faces, when it has two that run in opposite directions.
    pub(super) sides: Option<[u32; 2]>,
}

impl Edge {
    /// Whether it is not shared by exactly two faces that run along it in opposite directions.
    pub fn is_border(&self) -> bool {
        self.sides.is_none()
    }

    /// The end that is not `point`.
    pub(super) fn other_end(&self, point: u32) -> u32 {
        let [a, b] = self.points;
        if a == point { b } else { a }
    }
}

/// A mesh to subdivide: faces over numbered points, with a sharpness for each edge.
///
/// It does not hold positions: the same cage serves the rest shape, every frame and every coordinate of animation
/// space.
#[derive(Debug, Clone, PartialEq)]
pub struct Cage {
    point_count: usize,
    faces: Rows<u32>,
    face_of_corner: Vec<u32>,
    edge_of_corner: Vec<u32>,
    edges: Vec<Edge>,
}

impl Cage {
    /// Builds a cage and finds the edges of its faces.
    ///
    /// Cost: O(corners) time and memory.
    ///
    /// # Errors
    /// [`SubdivisionError::BadFace`] for a face of fewer than three different corners, one that names a
    /// point twice, or one that does not exist.
    pub fn new(point_count: usize, faces: Rows<u32>) -> Result<Self, SubdivisionError> {
        for (face, corners) in faces.iter().enumerate() {
            let in_range = corners.iter().all(|&p| (p as usize) < point_count);
            if corners.len() < 3 || !in_range || names_a_point_twice(corners) {
                return Err(SubdivisionError::BadFace {
                    face,
                    corners: corners.to_vec(),
                    point_count,
                });
            }
        }
        Ok(Self::of_sound_faces(point_count, faces))
    }

    /// The triangles of a mesh, without those that name a point twice.
    pub fn from_mesh(mesh: &TriMesh) -> Self {
        let triangles = mesh.triangles().iter();
        let sound = triangles.filter(|t| !names_a_point_twice(&t[..]));
        Self::of_sound_faces(mesh.vertex_count(), sound.copied().collect())
    }

    pub(super) fn of_sound_faces(point_count: usize, faces: Rows<u32>) -> Self {
        let mut face_of_corner = Vec::with_capacity(faces.items().len());
        for (face, corners) in faces.iter().enumerate() {
            face_of_corner.extend(std::iter::repeat_n(face as u32, corners.len()));
        }
        let mut cage = Self {
            point_count,
            faces,
            face_of_corner,
            edge_of_corner: Vec::new(),
            edges: Vec::new(),
        };
        (cage.edges, cage.edge_of_corner) = cage.find_edges();
        cage
    }

    /// The edges, sorted by their smaller and then their larger end, and the edge of each corner.
    fn find_edges(&self) -> (Vec<Edge>, Vec<u32>) {
        let ends = |corner: u32| {
            let a = self.point(corner);
            let b = self.point(self.next(corner));
            (a.min(b), a.max(b))
        };
        let corners = 0..self.face_of_corner.len() as u32;
        let by_smaller_end = grouped(
            self.point_count,
            corners.map(|corner| (ends(corner).0, corner)),
        );
        let mut edges = Vec::with_capacity(corners_to_edges(self.face_of_corner.len()));
        let mut edge_of_corner = vec![0; self.face_of_corner.len()];
        let mut sharing = Vec::new();
        for group in by_smaller_end.iter() {
            sharing.clear();
            sharing.extend(group.iter().map(|&corner| (ends(corner).1, corner)));
            sharing.sort_unstable();
            for same in sharing.chunk_by(|a, b| a.0 == b.0) {
                for &(_, corner) in same {
                    edge_of_corner[corner as usize] = edges.len() as u32;
                }
                let sides = match same {
                    &[(_, a), (_, b)] if self.point(a) != self.point(b) => Some([a, b]),
                    _ => None,
                };
                let (low, high) = ends(same[0].1);
                edges.push(Edge {
                    points: [low, high],
                    sharpness: if sides.is_some() { 0.0 } else { f64::INFINITY },
                    face_count: same.len() as u32,
                    sides,
                });
            }
        }
        (edges, edge_of_corner)
    }

    /// How many points there are; some may have no face.
    pub fn point_count(&self) -> usize {
        self.point_count
    }

    /// The points of each face, counter-clockwise from outside.
    pub fn faces(&self) -> &Rows<u32> {
        &self.faces
    }

    /// The edges, sorted by their ends.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// How many triangles the faces give when they are cut into triangles.
    pub fn triangle_count(&self) -> usize {
        self.faces.items().len() - 2 * self.faces.len()
    }

    /// The faces cut into triangles, each as a fan from its first corner.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = Vec::with_capacity(self.triangle_count());
        for face in self.faces.iter() {
            let fan = face[1..].windows(2);
            triangles.extend(fan.map(|edge| [face[0], edge[0], edge[1]]));
        }
        triangles
    }

    /// Makes the edge between two points a crease for `sharpness` levels; infinity means always.
    ///
    /// Borders stay infinitely sharp.
    ///
    /// # Errors
    /// [`SubdivisionError::BadSharpness`] and [`SubdivisionError::NoSuchEdge`].
    pub fn set_sharpness(
        &mut self,
        a: u32,
        b: u32,
        sharpness: f64,
    ) -> Result<(), SubdivisionError> {
        if sharpness.is_nan() || sharpness < 0.0 {
            return Err(SubdivisionError::BadSharpness { found: sharpness });
        }
        let ends = [a.min(b), a.max(b)];
        let found = self.edges.binary_search_by_key(&ends, |edge| edge.points);
        let number = found.map_err(|_| SubdivisionError::NoSuchEdge { a, b })?;
        self.set_edge_sharpness(number, sharpness);
        Ok(())
    }

    pub(super) fn set_edge_sharpness(&mut self, edge: usize, sharpness: f64) {
        let edge = &mut self.edges[edge];
        if !edge.is_border() {
            edge.sharpness = sharpness;
        }
    }

    pub(super) fn point(&self, corner: u32) -> u32 {
        self.faces.items()[corner as usize]
    }

    pub(super) fn face_of_corner(&self, corner: u32) -> usize {
        self.face_of_corner[corner as usize] as usize
    }

    /// The edge from a corner to the next one of its face.
    pub(super) fn edge_of_corner(&self, corner: u32) -> usize {
        self.edge_of_corner[corner as usize] as usize
    }

    pub(super) fn next(&self, corner: u32) -> u32 {
        let face = self.faces.range(self.face_of_corner(corner));
        if corner as usize + 1 == face.end {
            face.start as u32
        } else {
            corner + 1
        }
    }

    pub(super) fn previous(&self, corner: u32) -> u32 {
        let face = self.faces.range(self.face_of_corner(corner));
        if corner as usize == face.start {
            face.end as u32 - 1
        } else {
            corner - 1
        }
    }

    /// The corner at which the edge of `corner` starts in the other face, running back; `None` at a border.
    pub(super) fn across(&self, corner: u32) -> Option<u32> {
        let [a, b] = self.edges[self.edge_of_corner(corner)].sides?;
        Some(if a == corner { b } else { a })
    }
}

/// Closed meshes have half as many edges as corners.
fn corners_to_edges(corners: usize) -> usize {
    corners / 2 + corners / 16
}

fn names_a_point_twice(corners: &[u32]) -> bool {
    if let [a, b, c] = *corners {
        return a == b || b == c || c == a;
    }
    let mut sorted = corners.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// The items of each group, in the order given: a counting sort.
pub(super) fn grouped(
    group_count: usize,
    items: impl Iterator<Item = (u32, u32)> + Clone,
) -> Rows<u32> {
    let mut ends = vec![0u32; group_count + 1];
    for (group, _) in items.clone() {
        ends[group as usize + 1] += 1;
    }
    for group in 0..group_count {
        ends[group + 1] += ends[group];
    }
    let starts = ends.clone();
    let mut sorted = vec![0; ends[group_count] as usize];
    for (group, item) in items {
        let at = &mut ends[group as usize];
        sorted[*at as usize] = item;
        *at += 1;
    }
    let mut rows = Rows::with_capacity(group_count, sorted.len());
    for group in 0..group_count {
        let own = starts[group] as usize..starts[group + 1] as usize;
        rows.push_row(sorted[own].iter().copied());
    }
    rows
}
