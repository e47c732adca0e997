//! The faces of a document, with the drawn vertex of every corner.

use crate::Rows;
use crate::mesh::{DrawMesh, MeshError, Polygons};
use crate::subdiv::{Cage, Scheme, pair_triangles};

use super::SubdivideOptions;
use super::counted;
use crate::document::{Document, EditError};

/// Faces with more corners are cut into triangles: each new point of a face would be a sum over all its corners.
const MOST_CORNERS: usize = 64;

/// The drawn vertex of a corner, and its part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) part: u32,
    pub(super) vertex: u32,
}

/// The faces that are subdivided.
pub(super) struct Faces {
    pub(super) cage: Cage,
    /// The drawn vertex of each corner; `None` for a document without a drawn form, for which the writer makes one.
    pub(super) drawn: Option<Vec<Drawn>>,
    pub(super) crease_count: usize,
    pub(super) notes: Vec<String>,
}

/// Faces before their edges are known: points and drawn vertices of all corners.
#[derive(Default)]
struct Corners {
    points: Rows<u32>,
    drawn: Vec<Drawn>,
}

impl Corners {
    fn push(&mut self, corners: &[(u32, Drawn)]) {
        self.points.push_row(corners.iter().map(|corner| corner.0));
        self.drawn.extend(corners.iter().map(|corner| corner.1));
    }
}

impl Faces {
    pub(super) fn of(document: &Document, options: &SubdivideOptions) -> Result<Self, EditError> {
        let point_count = document.mesh.vertex_count();
        let has_drawing = document
            .draw
            .parts
            .iter()
            .any(|part| !part.triangles.is_empty());
        let plain;
        let draw = match has_drawing {
            true => &document.draw,
            false => {
                plain = DrawMesh::plain("", point_count, document.mesh.triangles());
                &plain
            }
        };
        check(draw, point_count)?;
        let is_loop = options.subdivision.scheme == Scheme::Loop;
        let polygons = document.polygons.as_ref().filter(|_| !is_loop);
        let mut notes = Vec::new();
        let triangles = triangles(draw);
        let total = triangles.len();
        let corners = match polygons {
            Some(polygons) => with_polygons(polygons, triangles),
            None => {
                let mut corners = Corners::default();
                triangles
                    .iter()
                    .filter(|t| is_sound(&t[..]))
                    .for_each(|t| corners.push(t));
                let left = total - corners.points.len();
                if left > 0 {
                    let what = counted(left, "triangle", "triangles");
                    notes.push(format!("{what} left out: two corners are the same point"));
                }
                corners
            }
        };
        let mut faces = Self {
            cage: Cage::new(point_count, corners.points)?,
            drawn: Some(corners.drawn),
            crease_count: 0,
            notes,
        };
        if faces.cage.faces().is_empty() {
            return Err(EditError::NoFaces {
                points: point_count,
            });
        }
        faces.crease(document, draw, options)?;
        if let Some(quads) = options.join_triangles.as_ref().filter(|_| !is_loop)
            && document.polygons.is_none()
        {
            let positions = document.mesh.positions();
            let drawn = faces.drawn.as_deref().unwrap_or_default();
            let same_look =
                |a: u32, b: u32| look(draw, drawn[a as usize]) == look(draw, drawn[b as usize]);
            let faces_of = faces.cage.faces();
            let after = |corner: u32| {
                if corner % 3 == 2 {
                    corner - 2
                } else {
                    corner + 1
                }
            };
            // Both ends of the diagonal must be one drawn vertex, or look the same.
            let may_join = |a: u32, b: u32| {
                drawn[a as usize].part == drawn[b as usize].part
                    && same_look(a, after(b))
                    && same_look(after(a), b)
            };
            let joined = pair_triangles(&faces.cage, positions, quads, may_join)?;
            let points = joined.iter().map(|corners| {
                let point = |&corner: &u32| faces_of.items()[corner as usize];
                corners.iter().map(point).collect::<Vec<u32>>()
            });
            let cage = Cage::new(point_count, points.collect())?;
            let drawn = joined.items().iter().map(|&corner| drawn[corner as usize]);
            faces.drawn = Some(drawn.collect());
            faces.cage = cage;
            faces.crease(document, draw, options)?;
        }
        if !has_drawing {
            faces.drawn = None;
        }
        Ok(faces)
    }

    /// Sets creases by angle and by split normals.
    fn crease(
        &mut self,
        document: &Document,
        draw: &DrawMesh,
        options: &SubdivideOptions,
    ) -> Result<(), EditError> {
        if let Some(angle) = options.crease_angle_rad {
            let positions = document.mesh.positions();
            self.cage
                .crease_above(positions, angle, options.crease_sharpness)?;
        }
        if options.crease_normals {
            let drawn = self.drawn.as_deref().unwrap_or_default();
            let normal = |at: &Drawn| {
                let normals = &draw.parts[at.part as usize].normals;
                let normal = normals.get(at.vertex as usize);
                normal.map(|n| n.map(|x| (x + 0.0).to_bits()))
            };
            let numbers = ranks(drawn.iter().map(normal));
            self.cage
                .crease_splits(&numbers, options.crease_sharpness)?;
        }
        let is_crease = |edge: &&crate::subdiv::Edge| !edge.is_border() && edge.sharpness > 0.0;
        self.crease_count = self.cage.edges().iter().filter(is_crease).count();
        Ok(())
    }

    /// How many faces have three, four and more corners.
    pub(super) fn kinds(&self) -> [usize; 3] {
        let mut kinds = [0; 3];
        for face in self.cage.faces().iter() {
            kinds[face.len().clamp(3, 5) - 3] += 1;
        }
        kinds
    }

    /// Whether each part has a point of another one.
    pub(super) fn parts_that_share_points(&self, draw: &DrawMesh) -> Vec<bool> {
        const NONE: u32 = u32::MAX;
        let mut owner = vec![NONE; self.cage.point_count()];
        let mut shared = vec![false; draw.parts.len()];
        for (number, part) in draw.parts.iter().enumerate() {
            for &point in &part.points {
                let Some(owner) = owner.get_mut(point as usize) else {
                    continue;
                };
                if *owner == NONE {
                    *owner = number as u32;
                } else if *owner != number as u32 {
                    shared[*owner as usize] = true;
                    shared[number] = true;
                }
            }
        }
        shared
    }
}

/// Refuses inconsistent documents, which can be made by hand; after this check, code may index freely.
fn check(draw: &DrawMesh, point_count: usize) -> Result<(), MeshError> {
    let in_range = |what, face, vertex: u32, vertex_count: usize| {
        let error = MeshError::VertexOutOfRange {
            what,
            face,
            vertex,
            vertex_count,
        };
        ((vertex as usize) < vertex_count)
            .then_some(())
            .ok_or(error)
    };
    for part in &draw.parts {
        let drawn = part.points.len();
        for (vertex, &point) in part.points.iter().enumerate() {
            in_range("drawn vertex", vertex, point, point_count)?;
        }
        for (face, triangle) in part.triangles.iter().enumerate() {
            for &vertex in triangle {
                in_range("triangle", face, vertex, drawn)?;
            }
        }
        let uvs = part.uvs.iter().map(|set| ("UVs", set.len()));
        let colors = part.colors.iter().map(|set| ("colours", set.len()));
        if let Some((what, found)) = uvs.chain(colors).find(|(_, count)| *count != drawn) {
            return Err(MeshError::CountMismatch {
                what,
                expected: drawn,
                found,
            });
        }
    }
    Ok(())
}

/// The triangles of all parts.
fn triangles(draw: &DrawMesh) -> Vec<[(u32, Drawn); 3]> {
    let mut triangles = Vec::new();
    for (number, part) in draw.parts.iter().enumerate() {
        triangles.extend(part.triangles.iter().map(|triangle| {
            triangle.map(|vertex| {
                let drawn = Drawn {
                    part: number as u32,
                    vertex,
                };
                (part.points[vertex as usize], drawn)
            })
        }));
    }
    triangles
}

fn is_sound(corners: &[(u32, Drawn)]) -> bool {
    let mut points: Vec<u32> = corners.iter().map(|corner| corner.0).collect();
    points.sort_unstable();
    points.len() >= 3 && points.windows(2).all(|pair| pair[0] != pair[1])
}

/// Polygons with the drawn vertices of their triangles, and the triangles that belong to no polygon.
fn with_polygons(polygons: &Polygons, triangles: Vec<[(u32, Drawn); 3]>) -> Corners {
    let key = |points: [u32; 3]| {
        let least = (0..3).min_by_key(|&k| points[k]).unwrap_or(0);
        [0, 1, 2].map(|k| points[(least + k) % 3])
    };
    let mut by_key: Vec<([u32; 3], u32)> = (triangles.iter().zip(0..))
        .map(|(triangle, number)| (key(triangle.map(|corner| corner.0)), number))
        .collect();
    by_key.sort_unstable();
    let mut is_used = vec![false; triangles.len()];
    // The first triangle with these points that is not part of a polygon yet.
    let mut find = |points: [u32; 3]| {
        let wanted = key(points);
        let start = by_key.partition_point(|(key, _)| *key < wanted);
        let same = by_key[start..].iter().take_while(|(key, _)| *key == wanted);
        let number = same
            .map(|&(_, number)| number as usize)
            .find(|&n| !is_used[n])?;
        is_used[number] = true;
        Some(number)
    };
    let mut corners = Corners::default();
    for face in polygons.iter().filter(|face| face.len() >= 3) {
        let fan = face[1..].windows(2).map(|edge| [face[0], edge[0], edge[1]]);
        let own: Vec<usize> = fan.filter_map(&mut find).collect();
        match whole(face, &own, &triangles) {
            Some(polygon) => corners.push(&polygon),
            None => {
                let cut = own.iter().map(|&number| &triangles[number]);
                cut.filter(|t| is_sound(&t[..]))
                    .for_each(|t| corners.push(t));
            }
        }
    }
    let left = triangles
        .iter()
        .zip(&is_used)
        .filter(|(_, is_used)| !**is_used);
    left.filter(|(t, _)| is_sound(&t[..]))
        .for_each(|(t, _)| corners.push(t));
    corners
}

/// The drawn corners of a polygon, when all its triangles are drawn and agree on them.
fn whole(
    face: &[u32],
    own: &[usize],
    triangles: &[[(u32, Drawn); 3]],
) -> Option<Vec<(u32, Drawn)>> {
    if own.len() + 2 != face.len() || face.len() > MOST_CORNERS {
        return None;
    }
    let mut corners: Vec<(u32, Drawn)> = Vec::with_capacity(face.len());
    for &point in face {
        let mut drawn = own.iter().flat_map(|&number| &triangles[number]);
        let first = *drawn.find(|corner| corner.0 == point)?;
        if drawn.any(|corner| corner.0 == point && corner.1 != first.1) {
            return None;
        }
        corners.push(first);
    }
    let part = corners[0].1.part;
    (is_sound(&corners) && corners.iter().all(|corner| corner.1.part == part)).then_some(corners)
}

/// The attributes of a drawn vertex except its normal, as bits.
fn look(draw: &DrawMesh, at: Drawn) -> (u32, Vec<u32>) {
    let part = &draw.parts[at.part as usize];
    let v = at.vertex as usize;
    let uvs = part.uvs.iter().flat_map(|set| set[v]);
    let colors = part.colors.iter().flat_map(|set| set[v]);
    (
        part.points[v],
        uvs.chain(colors).map(f32::to_bits).collect(),
    )
}

/// Equal keys get equal numbers.
pub(super) fn ranks<K: Ord + Clone>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let keys: Vec<K> = keys.collect();
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    (keys.iter())
        .map(|key| distinct.partition_point(|k| k < key) as u32)
        .collect()
}
