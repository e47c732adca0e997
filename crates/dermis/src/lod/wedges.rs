//! Triangles that can be taken away: points, the wedges that draw them, and what may not be torn or merged.
//!
//! A wedge is a drawn vertex: a point with one normal, one UV, one material. Where two wedges of a point meet along an
//! edge there is a seam; where an edge has one triangle there is a rim. Both are *feature lines*, and an edge along them is
//! a feature. A point on no line is free, one on lines may be merged along them only, and one where the surface is no
//! surface stays for ever.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use super::attributes::AttributeLayout;
use crate::mesh::{DrawMesh, TriMesh};

/// Where a point may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointKind {
    /// Inside the surface.
    Free,
    /// On one feature line.
    OnLine,
    /// Where lines end or meet: it goes along one of them only, and only into another point, which stays where it is.
    Junction,
    /// Where the surface is not a surface.
    Corner,
}

/// What lies along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EdgeKind {
    /// Two triangles that share both wedges.
    Inner,
    /// Two triangles with other wedges, materials or mirrored textures.
    Seam,
    /// One triangle.
    Rim,
    /// More than two, or two that run the same way.
    Tangled,
}

/// The triangles of a character, and its wedges.
#[derive(Debug, Clone)]
pub(super) struct WedgeMesh {
    /// Three wedges each; what was taken away keeps its corners.
    pub(super) faces: Vec<[u32; 3]>,
    pub(super) is_alive: Vec<bool>,
    pub(super) alive_count: usize,
    /// The part that draws each face.
    pub(super) part_of_face: Vec<u32>,
    /// Whether a face shows its texture mirrored.
    is_mirrored: Vec<bool>,
    pub(super) point_of_wedge: Vec<u32>,
    pub(super) part_of_wedge: Vec<u32>,
    /// Numbers per wedge: the most that a part has.
    pub(super) width: usize,
    /// `width` numbers for each wedge.
    pub(super) attributes: Vec<f64>,
    pub(super) layouts: Vec<AttributeLayout>,
    /// Faces around each point, in no order that matters.
    pub(super) faces_of_point: Vec<Vec<u32>>,
    pub(super) kinds: Vec<PointKind>,
    /// Faces of the given mesh that name a point twice or repeat another face; they are left out.
    pub(super) dropped_faces: usize,
    /// The wedge that each drawn vertex of a part belongs to.
    pub(super) wedges_of_part: Vec<Vec<u32>>,
    /// The face of each triangle of a part; `None` for those that are left out.
    pub(super) faces_of_part: Vec<Vec<Option<u32>>>,
}

impl WedgeMesh {
    pub(super) fn new(mesh: &TriMesh, draw: &DrawMesh) -> Self {
        let layouts: Vec<AttributeLayout> = (draw.parts.iter())
            .map(|part| AttributeLayout::of(part, mesh))
            .collect();
        let width = layouts.iter().map(|layout| layout.width).max().unwrap_or(0);
        let mut built = Self {
            faces: Vec::new(),
            is_alive: Vec::new(),
            alive_count: 0,
            part_of_face: Vec::new(),
            is_mirrored: Vec::new(),
            point_of_wedge: Vec::new(),
            part_of_wedge: Vec::new(),
            width,
            attributes: Vec::new(),
            layouts,
            faces_of_point: vec![Vec::new(); mesh.vertex_count()],
            kinds: vec![PointKind::Free; mesh.vertex_count()],
            dropped_faces: 0,
            wedges_of_part: Vec::with_capacity(draw.parts.len()),
            faces_of_part: Vec::with_capacity(draw.parts.len()),
        };
        for (number, part) in draw.parts.iter().enumerate() {
            built.add_part(number as u32, part);
        }
        built.find_kinds();
        built
    }

    /// Welds what a part draws twice without a difference that is seen, and adds its faces.
    fn add_part(&mut self, number: u32, part: &crate::mesh::DrawPart) {
        let layout = self.layouts[number as usize].clone();
        let mut values = vec![0.0; self.width];
        let mut known: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut wedge_of = Vec::with_capacity(part.points.len());
        for (v, &point) in part.points.iter().enumerate() {
            layout.read(part, v, &mut values);
            let at_point = known.entry(point).or_default();
            let same = |wedge: &&u32| layout.looks_same(self.values(**wedge), &values);
            let wedge = at_point.iter().find(same).copied().unwrap_or_else(|| {
                let next = self.point_of_wedge.len() as u32;
                at_point.push(next);
                self.point_of_wedge.push(point);
                self.part_of_wedge.push(number);
                self.attributes.extend_from_slice(&values);
                next
            });
            wedge_of.push(wedge);
        }
        let mut face_of = Vec::with_capacity(part.triangles.len());
        for triangle in &part.triangles {
            let corners = triangle.map(|v| wedge_of[v as usize]);
            let points = corners.map(|wedge| self.point_of_wedge[wedge as usize]);
            let [a, b, c] = points;
            if a == b || b == c || c == a || self.is_repeated(points) {
                self.dropped_faces += 1;
                face_of.push(None);
                continue;
            }
            let face = self.faces.len() as u32;
            face_of.push(Some(face));
            for point in points {
                self.faces_of_point[point as usize].push(face);
            }
            self.faces.push(corners);
            self.is_alive.push(true);
            self.alive_count += 1;
            self.part_of_face.push(number);
            let area = self.texture_area(corners);
            self.is_mirrored.push(area.is_some_and(|area| area < 0.0));
        }
        self.wedges_of_part.push(wedge_of);
        self.faces_of_part.push(face_of);
    }

    /// Whether a face on these points, in this direction, is there already.
    fn is_repeated(&self, points: [u32; 3]) -> bool {
        let turned = |p: [u32; 3]| {
            let least = (0..3).min_by_key(|&k| p[k]).unwrap_or(0);
            [p[least], p[(least + 1) % 3], p[(least + 2) % 3]]
        };
        let own = turned(points);
        let around = &self.faces_of_point[points[0] as usize];
        around
            .iter()
            .any(|&f| turned(self.points(f as usize)) == own)
    }

    /// The points of a face.
    pub(super) fn points(&self, face: usize) -> [u32; 3] {
        self.faces[face].map(|wedge| self.point_of_wedge[wedge as usize])
    }

    /// The attributes of a wedge.
    pub(super) fn values(&self, wedge: u32) -> &[f64] {
        &self.attributes[wedge as usize * self.width..][..self.width]
    }

    pub(super) fn values_mut(&mut self, wedge: u32) -> &mut [f64] {
        &mut self.attributes[wedge as usize * self.width..][..self.width]
    }

    /// Twice the signed area of three wedges in the first texture; `None` without one.
    pub(super) fn texture_area(&self, corners: [u32; 3]) -> Option<f64> {
        let part = self.part_of_wedge[corners[0] as usize];
        let at = self.layouts[part as usize].first_uv?;
        let [a, b, c] = corners.map(|wedge| {
            let values = self.values(wedge);
            DVec2::new(values[at], values[at + 1])
        });
        Some((b - a).perp_dot(c - a))
    }

    /// The faces that have both points.
    pub(super) fn faces_of_edge(&self, a: u32, b: u32) -> impl Iterator<Item = u32> + '_ {
        let around = self.faces_of_point[a as usize].iter().copied();
        around.filter(move |&f| self.points(f as usize).contains(&b))
    }

    /// The wedge of a face at a point of it.
    pub(super) fn wedge_at(&self, face: u32, point: u32) -> u32 {
        let corners = self.faces[face as usize];
        let own = |wedge: &u32| self.point_of_wedge[*wedge as usize] == point;
        corners.into_iter().find(own).unwrap_or(corners[0])
    }

    pub(super) fn edge_kind(&self, a: u32, b: u32) -> EdgeKind {
        let mut faces = self.faces_of_edge(a, b);
        let Some(first) = faces.next() else {
            return EdgeKind::Tangled;
        };
        let Some(second) = faces.next() else {
            return EdgeKind::Rim;
        };
        if faces.next().is_some() || self.runs(first, a, b) == self.runs(second, a, b) {
            return EdgeKind::Tangled;
        }
        let same = |point| self.wedge_at(first, point) == self.wedge_at(second, point);
        let mirrored = |face: u32| self.is_mirrored[face as usize];
        match same(a) && same(b) && mirrored(first) == mirrored(second) {
            true => EdgeKind::Inner,
            false => EdgeKind::Seam,
        }
    }

    /// Whether a face goes from `a` to `b`, not back.
    fn runs(&self, face: u32, a: u32, b: u32) -> bool {
        let points = self.points(face as usize);
        (0..3).any(|k| points[k] == a && points[(k + 1) % 3] == b)
    }

    /// The points that share a face with a point, in rising order.
    pub(super) fn neighbors(&self, point: u32, into: &mut Vec<u32>) {
        into.clear();
        for &face in &self.faces_of_point[point as usize] {
            into.extend(
                self.points(face as usize)
                    .into_iter()
                    .filter(|&p| p != point),
            );
        }
        into.sort_unstable();
        into.dedup();
    }

    fn find_kinds(&mut self) {
        let mut around = Vec::new();
        for point in 0..self.faces_of_point.len() as u32 {
            self.neighbors(point, &mut around);
            let mut features = 0;
            let mut is_tangled = false;
            for &other in &around {
                match self.edge_kind(point, other) {
                    EdgeKind::Inner => {}
                    EdgeKind::Seam | EdgeKind::Rim => features += 1,
                    EdgeKind::Tangled => is_tangled = true,
                }
            }
            self.kinds[point as usize] = match features {
                _ if is_tangled || self.fan_count(point) != 1 => PointKind::Corner,
                0 => PointKind::Free,
                2 => PointKind::OnLine,
                _ => PointKind::Junction,
            };
        }
    }

    /// How many groups of faces meet at a point without sharing an edge there.
    fn fan_count(&self, point: u32) -> usize {
        let faces = &self.faces_of_point[point as usize];
        let mut is_seen = vec![false; faces.len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..faces.len() {
            if is_seen[start] {
                continue;
            }
            count += 1;
            is_seen[start] = true;
            stack.push(start);
            while let Some(at) = stack.pop() {
                let own = self.points(faces[at] as usize);
                for next in 0..faces.len() {
                    let others = self.points(faces[next] as usize);
                    let shares = |p: &u32| *p != point && others.contains(p);
                    if !is_seen[next] && own.iter().any(shares) {
                        is_seen[next] = true;
                        stack.push(next);
                    }
                }
            }
        }
        count
    }

    /// The gradient of each attribute over a face as `(g, d)`: `value = g·x + d` at a point `x` of its plane; `None` for
    /// a face without area.
    pub(super) fn gradients(
        &self,
        face: usize,
        positions: [DVec3; 3],
        mut each: impl FnMut(usize, DVec3, f64),
    ) -> Option<()> {
        let [p, q, r] = positions;
        let (e, f) = (q - p, r - p);
        let (a, b, c) = (e.length_squared(), e.dot(f), f.length_squared());
        let square = a * c - b * b;
        if square.is_nan() || square <= 1e-24 * a * c {
            return None;
        }
        // The dual basis of the two edges within their plane.
        let (dual_e, dual_f) = ((c * e - b * f) / square, (a * f - b * e) / square);
        let corners = self.faces[face];
        for n in 0..self.width {
            let [s, t, u] = corners.map(|wedge| self.values(wedge)[n]);
            let g = (t - s) * dual_e + (u - s) * dual_f;
            each(n, g, s - g.dot(p));
        }
        Some(())
    }
}
