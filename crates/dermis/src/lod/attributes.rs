//! What a wedge carries besides its place: normals, UVs, colours and numbers of the application, in one row.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::DVec3;

use crate::mesh::{AttributeData, DrawPart, TriMesh, triangle_normals};

/// Share of a part's edges that must be creases for its look to be made of them.
const CREASED_SHARE: f64 = 0.2;
/// Cosine of the angle below which two normals are one (1°).
const SAME_NORMAL: f64 = 0.99985;

/// UVs that differ by less are one: a fifth of a texel of 2048.
const SAME_UV: f64 = 1e-4;
/// Colours that differ by less are one: half a step of 8 bits.
const SAME_COLOR: f64 = 2e-3;

/// Where the numbers of a part's vertices stand in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributeLayout {
    pub(super) width: usize,
    /// Place of the normal's three numbers; `None` for parts without normals, and for those whose look is made of creases:
    /// their normals are made of whatever faces they have.
    normal: Option<usize>,
    /// The cosine of the angle from which on faces are shaded apart, where normals are made of faces.
    pub(super) crease_cosine: Option<f64>,
    /// Place of the first UV set.
    pub(super) first_uv: Option<usize>,
    uv_sets: usize,
    color_sets: usize,
    custom_widths: Vec<usize>,
    /// Model units per unit of the first UV set: the root of the ratio of areas.
    pub(super) uv_scale: f64,
}

impl AttributeLayout {
    pub(super) fn of(part: &DrawPart, mesh: &TriMesh) -> Self {
        let crease_cosine = crease_cosine(part, mesh);
        let normal = (!part.normals.is_empty() && crease_cosine.is_none()).then_some(0);
        let mut width = if normal.is_some() { 3 } else { 0 };
        let first_uv = (!part.uvs.is_empty()).then_some(width);
        width += 2 * part.uvs.len() + 4 * part.colors.len();
        let custom_widths: Vec<usize> = part.custom.iter().map(|own| own.data.width).collect();
        width += custom_widths.iter().sum::<usize>();
        Self {
            width,
            normal,
            crease_cosine,
            first_uv,
            uv_sets: part.uvs.len(),
            color_sets: part.colors.len(),
            custom_widths,
            uv_scale: uv_scale(part, mesh),
        }
    }

    /// The numbers of a vertex, zeros behind them.
    pub(super) fn read(&self, part: &DrawPart, vertex: usize, into: &mut [f64]) {
        into.fill(0.0);
        let mut rest = &mut into[..];
        let mut put = |values: &[f32]| {
            let (own, tail) = std::mem::take(&mut rest).split_at_mut(values.len());
            (own.iter_mut().zip(values)).for_each(|(to, from)| *to = f64::from(*from));
            rest = tail;
        };
        if self.normal.is_some() {
            put(&part.normals[vertex]);
        }
        part.uvs.iter().for_each(|set| put(&set[vertex]));
        part.colors.iter().for_each(|set| put(&set[vertex]));
        for own in &part.custom {
            put(&own.data.values[vertex * own.data.width..][..own.data.width]);
        }
    }

    /// Whether nobody would see a difference between two rows: exporters repeat vertices with normals and UVs that differ
    /// by rounding, which are no seams.
    pub(super) fn looks_same(&self, a: &[f64], b: &[f64]) -> bool {
        if let Some(at) = self.normal {
            let [m, n] = [a, b].map(|row| DVec3::from_slice(&row[at..]));
            if m.dot(n) < SAME_NORMAL * m.length() * n.length() {
                return false;
            }
        }
        let uvs = self.width_of_normal();
        let colors = uvs + 2 * self.uv_sets;
        let custom = colors + 4 * self.color_sets;
        let within = |from: usize, to: usize, most: f64| {
            let pairs = a[from..to].iter().zip(&b[from..to]);
            pairs.into_iter().all(|(a, b)| (a - b).abs() <= most)
        };
        within(uvs, colors, SAME_UV)
            && within(colors, custom, SAME_COLOR)
            && a[custom..] == b[custom..]
    }

    /// How much a squared difference of each number costs, in squared model units.
    pub(super) fn weights(&self, uv_weight: f64) -> Vec<f64> {
        let mut weights = vec![0.0; self.width];
        if let Some(at) = self.first_uv {
            weights[at..at + 2].fill((uv_weight * self.uv_scale).powi(2));
        }
        weights
    }

    /// Brings interpolated numbers back to what they mean: unit normals, colours within 0 and 1.
    pub(super) fn settle(&self, values: &mut [f64]) {
        if let Some(at) = self.normal {
            let normal = DVec3::from_slice(&values[at..]);
            let unit = normal.try_normalize().unwrap_or(DVec3::Z);
            values[at..at + 3].copy_from_slice(&unit.to_array());
        }
        let colors = self.first_uv.unwrap_or(self.width_of_normal()) + 2 * self.uv_sets;
        for value in &mut values[colors..colors + 4 * self.color_sets] {
            *value = value.clamp(0.0, 1.0);
        }
    }

    /// Where all UV sets stand in a row; `None` without any.
    pub(super) fn uvs(&self) -> Option<Range<usize>> {
        let first = self.first_uv?;
        Some(first..first + 2 * self.uv_sets)
    }

    fn width_of_normal(&self) -> usize {
        if self.normal.is_some() { 3 } else { 0 }
    }

    /// Puts rows of numbers into a part, which has its points and triangles already.
    pub(super) fn write(&self, given: &DrawPart, rows: &[&[f64]], part: &mut DrawPart) {
        let numbers = |row: &[f64], at: usize, count: usize| -> Vec<f32> {
            row[at..at + count]
                .iter()
                .map(|value| *value as f32)
                .collect()
        };
        let mut at = 0;
        if self.normal.is_some() {
            let normal = |row: &&[f64]| [row[0] as f32, row[1] as f32, row[2] as f32];
            part.normals = rows.iter().map(normal).collect();
            at += 3;
        }
        for _ in 0..self.uv_sets {
            let uv = |row: &&[f64]| [row[at] as f32, row[at + 1] as f32];
            part.uvs.push(rows.iter().map(uv).collect());
            at += 2;
        }
        for _ in 0..self.color_sets {
            let color = |row: &&[f64]| [0, 1, 2, 3].map(|c| row[at + c] as f32);
            part.colors.push(rows.iter().map(color).collect());
            at += 4;
        }
        for (own, &width) in given.custom.iter().zip(&self.custom_widths) {
            part.custom.push(crate::mesh::CustomAttribute {
                name: own.name.clone(),
                data: AttributeData {
                    width,
                    values: rows
                        .iter()
                        .flat_map(|row| numbers(row, at, width))
                        .collect(),
                },
            });
            at += width;
        }
    }
}

/// The cosine of the angle between faces above which a part shades them as one, if its look is made of creases.
///
/// Where many points have several normals, as in flat-shaded and hard-surface models, keeping every crease would keep every
/// point; there the angle that tells creases from smooth edges is what is kept. `None` for parts without normals or with few
/// creases, which are seams.
fn crease_cosine(part: &DrawPart, mesh: &TriMesh) -> Option<f64> {
    if part.normals.is_empty() {
        return None;
    }
    let corners = |t: &[u32; 3]| t.map(|v| part.points[v as usize]);
    let triangles: Vec<[u32; 3]> = part.triangles.iter().map(corners).collect();
    let of_face: Vec<DVec3> = triangle_normals(mesh.positions(), &triangles)
        .into_iter()
        .map(|normal| normal.normalize_or_zero())
        .collect();
    let normal = |v: u32| DVec3::from_array(part.normals[v as usize].map(f64::from));
    let is_same = |a: u32, b: u32| {
        let (a, b) = (normal(a), normal(b));
        a.dot(b) >= SAME_NORMAL * a.length() * b.length()
    };
    // The two faces of each edge, as (face, first vertex, second vertex) in the order of the points.
    let mut edges: BTreeMap<[u32; 2], Vec<(usize, [u32; 2])>> = BTreeMap::new();
    for (face, triangle) in part.triangles.iter().enumerate() {
        for k in 0..3 {
            let [v, w] = [triangle[k], triangle[(k + 1) % 3]];
            let [p, q] = [v, w].map(|v| part.points[v as usize]);
            let (key, ends) = if p < q {
                ([p, q], [v, w])
            } else {
                ([q, p], [w, v])
            };
            edges.entry(key).or_default().push((face, ends));
        }
    }
    let (mut smooth, mut hard) = (Vec::new(), Vec::new());
    for faces in edges.values() {
        let [(f, ends), (g, others)] = faces[..] else {
            continue;
        };
        let cosine = of_face[f].dot(of_face[g]);
        match is_same(ends[0], others[0]) && is_same(ends[1], others[1]) {
            true => smooth.push(cosine),
            false => hard.push(cosine),
        }
    }
    if hard.len() < (CREASED_SHARE * (hard.len() + smooth.len()) as f64) as usize || hard.is_empty()
    {
        return None;
    }
    smooth.sort_by(f64::total_cmp);
    hard.sort_by(f64::total_cmp);
    // Few of the smooth edges are sharper than this, and few of the hard ones flatter.
    let sharpest = smooth.get(smooth.len() / 20).copied();
    let flattest = hard[hard.len() - 1 - hard.len() / 20];
    Some(
        sharpest
            .map_or(flattest, |sharpest| 0.5 * (sharpest + flattest))
            .min(SAME_NORMAL),
    )
}

/// Normals at the corners of faces: of all faces around a point, those that are within the crease angle of the own one, by
/// area.
pub(super) fn creased_normals(
    positions: &[DVec3],
    faces: &[[u32; 3]],
    crease_cosine: f64,
) -> Vec<[DVec3; 3]> {
    let normals = triangle_normals(positions, faces);
    let mut around: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (f, face) in faces.iter().enumerate() {
        face.iter()
            .for_each(|&p| around.entry(p).or_default().push(f));
    }
    let corner = |f: usize, p: u32| {
        let own = normals[f];
        let is_near =
            |other: &&DVec3| own.dot(**other) >= crease_cosine * own.length() * other.length();
        let others = around[&p].iter().map(|&g| &normals[g]);
        let sum: DVec3 = others.filter(is_near).copied().sum();
        sum.normalize_or(own.normalize_or(DVec3::Z))
    };
    let each = faces.iter().enumerate();
    each.map(|(f, face)| face.map(|p| corner(f, p))).collect()
}

fn uv_scale(part: &DrawPart, mesh: &TriMesh) -> f64 {
    let Some(uvs) = part.uvs.first() else {
        return 0.0;
    };
    let (mut on_surface, mut in_texture) = (0.0, 0.0);
    for triangle in &part.triangles {
        let [p, q, r] = triangle.map(|v| mesh.positions()[part.points[v as usize] as usize]);
        on_surface += (q - p).cross(r - p).length();
        let [a, b, c] = triangle.map(|v| glam::Vec2::from_array(uvs[v as usize]).as_dvec2());
        in_texture += (b - a).perp_dot(c - a).abs();
    }
    match in_texture > 0.0 {
        true => (on_surface / in_texture).sqrt(),
        false => 0.0,
    }
}
