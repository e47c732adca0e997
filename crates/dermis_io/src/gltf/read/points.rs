//! Drawn vertices to points: vertices that always move together are joined.
//!
//! Vertices are one point when their rest positions, influences and morph deltas agree bit for
//! bit, so that a fit sees the 290 points of a fox and not its 1728 vertices, while shells that
//! touch but move apart stay separate. A file that dermis wrote stores the point numbers (`_ORIG`).

use std::hash::{Hash, Hasher};

use dermis::mesh::{DrawPart, Weld, weld_by_key};
use dermis::skin::{
    Correction, Delta, Influence, LinearProgram, MultiWeight, MultiWeightProgram, Rows, SsdProgram,
    VertexProgram, Weight,
};
use glam::{DVec3, DVec4};

use super::exact::{ExactRow, Shift};
use crate::gltf::names::{Exact, POINT};

/// The drawn vertices of all parts, in order.
#[derive(Debug, Default)]
pub(super) struct Vertices {
    positions: Vec<DVec3>,
    weights: Rows<Weight>,
    /// Coefficient and displacement, for every morph target that moves the vertex.
    deltas: Rows<(u32, DVec3)>,
    /// Rows of an exact model; empty where a part has none of that kind.
    linear: Rows<Influence>,
    /// The vectors that coefficients add to the influences of `linear`.
    shifts: Rows<Shift>,
    multi: Rows<MultiWeight>,
    /// The rest position of each vertex of `multi`.
    multi_rest: Rows<DVec3>,
    /// The point number of the vertex, where the file stores it.
    original: Vec<f32>,
    parts: usize,
    parts_with_original: usize,
    parts_with_linear: usize,
    parts_with_multi: usize,
}

/// The points that the vertices join to.
pub(super) struct Points {
    pub(super) point_of_vertex: Vec<u32>,
    pub(super) program: SsdProgram,
    /// The exact model that the program approximates; without corrections where it shares those of the program.
    pub(super) exact: Option<VertexProgram>,
}

impl Points {
    /// Parts, in the order in which their vertices were added, with the points of their vertices.
    pub(super) fn numbered(&self, mut parts: Vec<DrawPart>) -> Vec<DrawPart> {
        let mut of_vertex = self.point_of_vertex.iter().copied();
        for part in &mut parts {
            let count = part.points.len();
            part.points = of_vertex.by_ref().take(count).collect();
        }
        parts
    }
}

/// A vertex, compared with others bit for bit by rest position, influences and morph deltas.
///
/// The bits are computed on each use: stored, they would be more than half of the memory that a large file
/// takes.
#[derive(Clone, Copy)]
struct Key<'a> {
    vertices: &'a Vertices,
    vertex: usize,
}

impl Key<'_> {
    fn bits(&self) -> impl Iterator<Item = u64> {
        let (all, v) = (self.vertices, self.vertex);
        let (weights, deltas) = (all.weights.row(v), all.deltas.row(v));
        let (linear, shifts) = (all.linear.row(v), all.shifts.row(v));
        // Adding zero makes -0 a +0: one position, one key.
        let number = |x: f64| (x + 0.0).to_bits();
        let place = move |v: DVec3| v.to_array().map(number);
        let counts = [weights.len(), deltas.len(), linear.len(), shifts.len()].map(|n| n as u64);
        let weight_bits = (weights.iter()).flat_map(|w| [u64::from(w.bone.0), w.weight.to_bits()]);
        let delta_bits = deltas.iter().flat_map(move |&(m, d)| {
            let [x, y, z] = place(d);
            [u64::from(m), x, y, z]
        });
        let linear_bits = linear.iter().flat_map(move |i| {
            let [x, y, z, w] = i.p.to_array().map(number);
            [u64::from(i.bone.0), x, y, z, w]
        });
        let shift_bits = shifts.iter().flat_map(move |shift| {
            let [x, y, z, w] = shift.value.to_array().map(number);
            [u64::from(shift.of), u64::from(shift.place), x, y, z, w]
        });
        let rest_bits = all.multi_rest.row(v).iter().flat_map(move |&p| place(p));
        let multi_bits = all.multi.row(v).iter().flat_map(move |i| {
            let weights = i.weights.as_flattened().iter().map(move |&x| number(x));
            std::iter::once(u64::from(i.bone.0)).chain(weights)
        });
        place(all.positions[v])
            .into_iter()
            .chain(counts)
            .chain(weight_bits)
            .chain(delta_bits)
            .chain(linear_bits)
            .chain(shift_bits)
            .chain(rest_bits)
            .chain(multi_bits)
    }
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().for_each(|bits| state.write_u64(bits));
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bits().eq(other.bits())
    }
}

impl Eq for Key<'_> {}

impl Vertices {
    /// Adds a drawn vertex.
    pub(super) fn push(
        &mut self,
        position: DVec3,
        weights: &[Weight],
        deltas: &[(u32, DVec3)],
        exact: ExactRow<'_>,
    ) {
        let (mut linear, mut shifts): (&[Influence], &[Shift]) = (&[], &[]);
        let (mut multi_rest, mut multi): (Option<DVec3>, &[MultiWeight]) = (None, &[]);
        match exact {
            ExactRow::None => {}
            ExactRow::Linear(row, added) => (linear, shifts) = (row, added),
            ExactRow::MultiWeight(rest, row) => (multi_rest, multi) = (Some(rest), row),
        }
        self.positions.push(position);
        self.weights.push_row(weights.iter().copied());
        self.deltas.push_row(deltas.iter().copied());
        self.linear.push_row(linear.iter().copied());
        self.shifts.push_row(shifts.iter().copied());
        self.multi.push_row(multi.iter().copied());
        self.multi_rest.push_row(multi_rest);
    }

    /// The key that decides which point a vertex becomes: position, influences and morph deltas.
    fn key(&self, vertex: usize) -> Key<'_> {
        Key {
            vertices: self,
            vertex,
        }
    }

    /// Ends a part, given the point numbers of its vertices in the file, and the kind of its exact
    /// model.
    pub(super) fn end_part(&mut self, original: Option<Vec<f32>>, exact: Option<Exact>) {
        self.parts += 1;
        self.parts_with_linear += usize::from(exact == Some(Exact::Linear));
        self.parts_with_multi += usize::from(exact == Some(Exact::MultiWeight));
        self.parts_with_original += usize::from(original.is_some());
        self.original.extend(original.into_iter().flatten());
    }

    /// Joins the vertices to points, and makes their program with the given number of corrections.
    pub(super) fn weld(self, correction_count: usize, notes: &mut Vec<String>) -> Points {
        let numbered = if self.parts_with_original == 0 {
            None
        } else {
            match self.weld_as_numbered() {
                Ok(weld) => Some(weld),
                Err(why) => {
                    notes.push(format!(
                        "the point numbers in {POINT} were not used, because {why}"
                    ));
                    None
                }
            }
        };
        let weld = numbered.unwrap_or_else(|| {
            weld_by_key((0..self.positions.len()).map(|vertex| self.key(vertex)))
        });
        let first = |v: &u32| *v as usize;
        let firsts = weld.first_vertex.iter().map(first);
        let mut corrections = vec![Correction { deltas: Vec::new() }; correction_count];
        for (index, vertex) in firsts.clone().enumerate() {
            for &(m, value) in self.deltas.row(vertex) {
                corrections[m as usize].deltas.push(Delta {
                    index: index as u32,
                    value,
                });
            }
        }
        let weight_row = |v: usize| self.weights.row(v).iter().copied();
        Points {
            exact: self.exact(firsts.clone(), correction_count, notes),
            program: SsdProgram {
                rest_positions: firsts.clone().map(|v| self.positions[v]).collect(),
                weights: firsts.map(weight_row).collect(),
                corrections,
            },
            point_of_vertex: weld.point_of_vertex,
        }
    }

    /// The exact model of the points, when every part has its attributes.
    fn exact(
        &self,
        firsts: impl Iterator<Item = usize> + Clone,
        correction_count: usize,
        notes: &mut Vec<String>,
    ) -> Option<VertexProgram> {
        let (kind, parts) = match (self.parts_with_linear, self.parts_with_multi) {
            (0, 0) => return None,
            (0, multi) => (Exact::MultiWeight, multi),
            (linear, _) => (Exact::Linear, linear),
        };
        let mut unused = |why: String| {
            notes.push(format!(
                "the {} were not used, because {why}: the plain weights were read",
                kind.title()
            ));
            None
        };
        if parts != self.parts {
            return unused(format!("only {parts} of {} parts have them", self.parts));
        }
        Some(match kind {
            Exact::Linear => VertexProgram::Linear(LinearProgram {
                corrections: self.shifted(firsts.clone(), correction_count),
                influences: firsts.map(|v| self.linear.row(v).iter().copied()).collect(),
            }),
            Exact::MultiWeight => VertexProgram::MultiWeight(MultiWeightProgram {
                rest_positions: (firsts.clone())
                    .flat_map(|v| self.multi_rest.row(v).iter().copied())
                    .collect(),
                influences: firsts.map(|v| self.multi.row(v).iter().copied()).collect(),
                corrections: Vec::new(),
            }),
        })
    }

    /// The vectors that coefficients add to influences; empty when morph targets are enough.
    fn shifted(
        &self,
        firsts: impl Iterator<Item = usize>,
        correction_count: usize,
    ) -> Vec<Correction<DVec4>> {
        if self.shifts.items().is_empty() {
            return Vec::new();
        }
        let mut corrections = vec![Correction { deltas: Vec::new() }; correction_count];
        let mut start = 0;
        for vertex in firsts {
            for shift in self.shifts.row(vertex) {
                corrections[shift.of as usize].deltas.push(Delta {
                    index: start + shift.place,
                    value: shift.value,
                });
            }
            start += self.linear.row(vertex).len() as u32;
        }
        corrections
    }

    /// Points as numbered in the file, or the reason why those numbers cannot be used.
    fn weld_as_numbered(&self) -> Result<Weld, String> {
        if self.parts_with_original != self.parts {
            return Err(format!(
                "only {} of {} parts have it",
                self.parts_with_original, self.parts
            ));
        }
        let vertex_count = self.positions.len();
        let mut first_vertex = vec![None; vertex_count];
        let mut point_of_vertex = Vec::with_capacity(vertex_count);
        let mut point_count = 0;
        for (vertex, &number) in self.original.iter().enumerate() {
            let point = number as usize;
            // The conversion saturates, so NaN, negative and huge numbers fail one of these.
            let Some(first) = first_vertex
                .get_mut(point)
                .filter(|_| point as f32 == number)
            else {
                return Err(format!("vertex {vertex} has the number {number}"));
            };
            let first = *first.get_or_insert(vertex as u32);
            if self.key(first as usize) != self.key(vertex) {
                return Err(format!(
                    "vertices {first} and {vertex} have the number {point} but differ in \
                     position, influences or morph targets"
                ));
            }
            point_count = point_count.max(point + 1);
            point_of_vertex.push(point as u32);
        }
        first_vertex.truncate(point_count);
        if let Some(missing) = first_vertex.iter().position(Option::is_none) {
            return Err(format!("no vertex has the number {missing}"));
        }
        Ok(Weld {
            point_of_vertex,
            first_vertex: first_vertex.into_iter().flatten().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use dermis::BoneId;

    use super::*;

    fn weight(bone: u16) -> [Weight; 1] {
        [Weight {
            bone: BoneId(bone),
            weight: 1.0,
        }]
    }

    #[test]
    fn vertices_that_differ_in_position_influences_or_deltas_are_different_points() {
        let mut vertices = Vertices::default();
        let delta = [(0, DVec3::Y)];
        vertices.push(DVec3::ZERO, &weight(0), &[], ExactRow::None);
        vertices.push(DVec3::new(-0.0, 0.0, 0.0), &weight(0), &[], ExactRow::None);
        vertices.push(DVec3::ZERO, &weight(1), &[], ExactRow::None);
        vertices.push(DVec3::ZERO, &weight(1), &delta, ExactRow::None);
        vertices.push(DVec3::X, &weight(0), &[], ExactRow::None);
        vertices.push(DVec3::ZERO, &weight(1), &delta, ExactRow::None);
        vertices.end_part(None, None);
        let points = vertices.weld(1, &mut Vec::new());
        assert_eq!(points.point_of_vertex, [0, 0, 1, 2, 3, 2], "four points");
        let deltas = &points.program.corrections[0].deltas;
        assert_eq!(deltas.len(), 1, "one point moves");
        assert_eq!(deltas[0].index, 2, "the third");
    }

    fn numbered(numbers: &[f32], positions: &[f64]) -> (Vec<u32>, Vec<String>) {
        let mut vertices = Vertices::default();
        for &x in positions {
            vertices.push(DVec3::new(x, 0.0, 0.0), &weight(0), &[], ExactRow::None);
        }
        vertices.end_part(Some(numbers.to_vec()), None);
        let mut notes = Vec::new();
        let points = vertices.weld(0, &mut notes);
        (points.point_of_vertex, notes)
    }

    #[test]
    fn points_keep_the_numbers_that_dermis_wrote() {
        let (points, notes) = numbered(&[2.0, 0.0, 1.0, 0.0], &[5.0, 7.0, 7.0, 7.0]);
        assert_eq!(points, [2, 0, 1, 0], "0 and 1 stay two points at one place");
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn with_invalid_point_numbers_vertices_are_welded_by_position() {
        for (numbers, why) in [
            (
                [0.0, 0.0, 1.0],
                "vertices 0 and 1 have the number 0 but differ",
            ),
            ([0.0, 2.0, 2.0], "no vertex has the number 1"),
            ([0.0, 1.5, 1.0], "vertex 1 has the number 1.5"),
            ([0.0, -1.0, 1.0], "vertex 1 has the number -1"),
            ([0.0, f32::NAN, 1.0], "vertex 1 has the number NaN"),
            ([0.0, 1e30, 1.0], "vertex 1 has the number 1000000"),
        ] {
            let (points, notes) = numbered(&numbers, &[5.0, 7.0, 7.0]);
            assert_eq!(points, [0, 1, 1], "welded by position for {numbers:?}");
            assert_eq!(notes.len(), 1, "one note for {numbers:?}");
            assert!(notes[0].contains(why), "{}", notes[0]);
        }
    }
}
