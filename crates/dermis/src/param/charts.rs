//! Charts of a surface, each a disc by construction.
//!
//! At first every triangle is a chart. Two charts are merged along one *run* of their borders: edges that follow each other
//! in both borders. Gluing two discs along an arc gives a disc, so no test of topology is needed, whatever the surface;
//! where the two also meet elsewhere, that stays a cut within the chart (an open cylinder becomes a rectangle). A border
//! is a ring of half-edges, so that merging exchanges four links. A cut that ends inside the chart is zipped up.

use std::f64::consts::PI;

use glam::DVec3;

use super::half_edges::{HalfEdges, NONE, next_in_triangle};
use super::piece::{EdgeProducts, Piece};

/// How much long borders count (\[Merry07\] §5.2).
const COMPACTNESS: f64 = 0.2;

/// Charts of a mesh.
#[derive(Debug, Clone)]
pub(crate) struct Charts<'a> {
    pub(crate) mesh: &'a HalfEdges,
    /// Length of the edge of each half-edge.
    lengths: &'a [f64],
    /// Unit normals times areas at rest.
    normals: &'a [DVec3],
    /// The chart of each triangle, and where it is in the chart's list.
    chart_of: Vec<u32>,
    slots: Vec<u32>,
    /// Whether the half-edge is joined to its twin.
    is_glued: Vec<bool>,
    /// The neighbours of each border half-edge in its ring.
    next: Vec<u32>,
    before: Vec<u32>,
    /// By the number of a chart; empty lists are charts that went into others.
    pub(crate) members: Vec<Member>,
}

/// What is known of a chart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    /// Its triangles.
    pub(crate) triangles: Vec<u32>,
    /// A half-edge of its border.
    border: u32,
    /// How many half-edges the border has.
    border_count: usize,
    pub(crate) shape: Shape,
}

/// What the shape of a chart at rest is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Shape {
    /// Length of the border.
    pub(crate) perimeter: f64,
    /// Area.
    pub(crate) area: f64,
    /// Sum of unit normals times areas: its length is the largest area of a projection to a plane.
    pub(crate) normal: DVec3,
}

impl Shape {
    /// Its cost (\[Merry07\] Eq. 5.4): the area over that of its largest projection, with a term for borders that are long
    /// for the area. Finite for closed shapes, which have no projection, so that seams that people give can be followed.
    pub(crate) fn cost(self) -> f64 {
        let border = COMPACTNESS * self.perimeter.powi(2) / (4.0 * PI);
        let projected = self.normal.length().max(1e-6 * self.area);
        (self.area + border) / projected.max(f64::MIN_POSITIVE)
    }

    /// The width of a long rectangle with this area and perimeter.
    pub(crate) fn width(self) -> f64 {
        2.0 * self.area / self.perimeter.max(f64::MIN_POSITIVE)
    }

    /// Two charts together that are joined along a length of border.
    pub(crate) fn joined(self, other: Self, length: f64) -> Self {
        Self {
            perimeter: self.perimeter + other.perimeter - 2.0 * length,
            area: self.area + other.area,
            normal: self.normal + other.normal,
        }
    }
}

/// Edges along which two charts can be merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    /// The other chart.
    pub(crate) neighbour: u32,
    /// The first half-edge, in the border of the one chart.
    pub(crate) first: u32,
    /// How many half-edges follow each other.
    pub(crate) count: usize,
    /// Their length together.
    pub(crate) length: f64,
}

/// What a merge joins: half-edges of either side, each once, and how much shorter the borders become.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seam {
    /// Half-edges that are glued to their twins, those of the run first.
    pub(crate) glued: Vec<u32>,
    length: f64,
}

impl<'a> Charts<'a> {
    /// A chart for each triangle; `normals` are unit normals times areas.
    pub(crate) fn new(mesh: &'a HalfEdges, lengths: &'a [f64], normals: &'a [DVec3]) -> Self {
        let count = mesh.triangle_count() as u32;
        let member = |t: u32| Member {
            triangles: vec![t],
            border: 3 * t,
            border_count: 3,
            shape: Shape {
                perimeter: (3 * t..3 * t + 3).map(|h| lengths[h as usize]).sum(),
                area: normals[t as usize].length(),
                normal: normals[t as usize],
            },
        };
        Self {
            mesh,
            lengths,
            normals,
            chart_of: (0..count).collect(),
            slots: vec![0; count as usize],
            is_glued: vec![false; 3 * count as usize],
            next: (0..3 * count).map(next_in_triangle).collect(),
            before: (0..3 * count)
                .map(|h| next_in_triangle(next_in_triangle(h)))
                .collect(),
            members: (0..count).map(member).collect(),
        }
    }

    /// Numbers of the charts that there are.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let count = self.members.len() as u32;
        (0..count).filter(|&c| !self.members[c as usize].triangles.is_empty())
    }

    pub(crate) fn length(&self, h: u32) -> f64 {
        self.lengths[h as usize]
    }

    /// Unit normal of a triangle times its area, at rest.
    pub(crate) fn normal(&self, triangle: u32) -> DVec3 {
        self.normals[triangle as usize]
    }

    /// The chart across a half-edge, or [`NONE`].
    pub(crate) fn across(&self, h: u32) -> u32 {
        match self.mesh.twins[h as usize] {
            NONE => NONE,
            twin => self.chart_of[twin as usize / 3],
        }
    }

    /// The border of a chart, in order.
    pub(crate) fn border(&self, chart: u32) -> impl Iterator<Item = u32> + '_ {
        let member = &self.members[chart as usize];
        let mut h = member.border;
        (0..member.border_count).map(move |_| {
            let this = h;
            h = self.next[h as usize];
            this
        })
    }

    /// Whether `g` follows `h` in one border, and their twins in the other.
    fn continues(&self, h: u32, g: u32) -> bool {
        let [t, s] = [h, g].map(|h| self.mesh.twins[h as usize]);
        t != NONE && s != NONE && self.next[s as usize] == t
    }

    /// Whether the border of a chart has a corner where `h` begins: another chart is across, or a rim ends.
    pub(crate) fn is_corner(&self, h: u32) -> bool {
        let before = self.before[h as usize];
        let are_rims = [before, h].map(|h| self.mesh.twins[h as usize] == NONE);
        match are_rims {
            [true, true] => false,
            [false, false] => !self.continues(before, h),
            _ => true,
        }
    }

    /// The longest run towards each neighbour, by the neighbours' numbers.
    pub(crate) fn runs(&self, chart: u32, runs: &mut Vec<Run>) {
        runs.clear();
        let member = &self.members[chart as usize];
        // Begin where a run begins, so that none is seen in two parts.
        let mut start = member.border;
        for h in self.border(chart) {
            if !self.continues(self.before[h as usize], h) {
                start = h;
                break;
            }
        }
        let mut h = start;
        let mut open: Option<Run> = None;
        for _ in 0..member.border_count {
            let neighbour = self.across(h);
            match &mut open {
                Some(run) if self.continues(self.before[h as usize], h) => {
                    run.count += 1;
                    run.length += self.lengths[h as usize];
                }
                _ => {
                    runs.extend(open.take());
                    if neighbour != NONE && neighbour != chart {
                        open = Some(Run {
                            neighbour,
                            first: h,
                            count: 1,
                            length: self.lengths[h as usize],
                        });
                    }
                }
            }
            h = self.next[h as usize];
        }
        runs.extend(open);
        runs.sort_by(|a, b| {
            (a.neighbour.cmp(&b.neighbour))
                .then(b.length.total_cmp(&a.length))
                .then(a.first.cmp(&b.first))
        });
        runs.dedup_by_key(|run| run.neighbour);
    }

    /// The longest run between two charts.
    pub(crate) fn run_between(&self, chart: u32, neighbour: u32) -> Option<Run> {
        let mut runs = Vec::new();
        self.runs(chart, &mut runs);
        runs.into_iter().find(|run| run.neighbour == neighbour)
    }

    /// What would be joined if `chart` were merged along a run; `None` when that would close the surface.
    ///
    /// With `zip`, cuts that would end inside the chart are joined, too.
    pub(crate) fn seam(&self, chart: u32, run: Run, zip: bool) -> Option<Seam> {
        let [own, other] = [chart, run.neighbour].map(|c| self.members[c as usize].border_count);
        let mut left = (own + other).checked_sub(2 * run.count)?;
        if left < 3 {
            return None;
        }
        let mut seam = Seam::default();
        let mut last = run.first;
        for k in 0..run.count {
            seam.glued.push(last);
            seam.length += self.lengths[last as usize];
            if k + 1 < run.count {
                last = self.next[last as usize];
            }
        }
        if zip {
            let ends = self.open_ends(run, last);
            // Where a whole border goes into the run, both ends are one place.
            let places = if ends[0] == ends[1] { 1 } else { 2 };
            for &(mut pair) in &ends[..places] {
                while left >= 5 && self.mesh.twins[pair.0 as usize] == pair.1 {
                    seam.glued.push(pair.0);
                    seam.length += self.lengths[pair.0 as usize];
                    left -= 2;
                    // Neighbours in the ring that the merge will make.
                    pair = (
                        self.before_after_merge(pair.0, run, last),
                        self.next_after_merge(pair.1, run, last),
                    );
                }
            }
        }
        Some(seam)
    }

    /// The two places of the merged ring where the ends of the run were: half-edges before and after each.
    fn open_ends(&self, run: Run, last: u32) -> [(u32, u32); 2] {
        let [first_twin, last_twin] = [run.first, last].map(|h| self.mesh.twins[h as usize]);
        let (own_before, own_next) = (self.before[run.first as usize], self.next[last as usize]);
        let (other_next, other_before) = (
            self.next[first_twin as usize],
            self.before[last_twin as usize],
        );
        // Where one border goes into the run as a whole, its own ends lie within the run.
        let is_whole = own_before == last;
        let is_other_whole = other_next == last_twin;
        match (is_whole, is_other_whole) {
            (true, _) => [(other_before, other_next); 2],
            (_, true) => [(own_before, own_next); 2],
            _ => [(own_before, other_next), (other_before, own_next)],
        }
    }

    fn next_after_merge(&self, h: u32, run: Run, last: u32) -> u32 {
        let ends = self.open_ends(run, last);
        match ends.iter().find(|end| end.0 == h) {
            Some(end) => end.1,
            None => self.next[h as usize],
        }
    }

    fn before_after_merge(&self, h: u32, run: Run, last: u32) -> u32 {
        let ends = self.open_ends(run, last);
        match ends.iter().find(|end| end.1 == h) {
            Some(end) => end.0,
            None => self.before[h as usize],
        }
    }

    /// Merges a chart with a neighbour; returns the number of both together.
    pub(crate) fn merge(&mut self, chart: u32, run: Run, seam: &Seam) -> u32 {
        let mut last = run.first;
        for _ in 1..run.count {
            last = self.next[last as usize];
        }
        for (h, g) in self.open_ends(run, last) {
            self.next[h as usize] = g;
            self.before[g as usize] = h;
        }
        for &h in &seam.glued[run.count..] {
            let twin = self.mesh.twins[h as usize];
            let (a, b) = (self.before[h as usize], self.next[twin as usize]);
            self.next[a as usize] = b;
            self.before[b as usize] = a;
        }
        for &h in &seam.glued {
            self.is_glued[h as usize] = true;
            self.is_glued[self.mesh.twins[h as usize] as usize] = true;
        }
        let [own, other] = [chart, run.neighbour].map(|c| &self.members[c as usize]);
        let (kept, gone) = match own.triangles.len() >= other.triangles.len() {
            true => (chart, run.neighbour),
            false => (run.neighbour, chart),
        };
        let gone = std::mem::take(&mut self.members[gone as usize]);
        let slots = self.members[kept as usize].triangles.len() as u32..;
        for (&t, slot) in gone.triangles.iter().zip(slots) {
            self.chart_of[t as usize] = kept;
            self.slots[t as usize] = slot;
        }
        let mut border = [self.members[kept as usize].border, gone.border];
        let member = &mut self.members[kept as usize];
        member.triangles.extend(gone.triangles);
        member.shape = member.shape.joined(gone.shape, seam.length);
        member.border_count = member.border_count + gone.border_count - 2 * seam.glued.len();
        // Most rings still have a half-edge that was remembered.
        border.sort_by_key(|&h| self.is_glued[h as usize]);
        if self.is_glued[border[0] as usize] {
            let halves = member.triangles.iter().flat_map(|&t| 3 * t..3 * t + 3);
            border[0] = halves
                .into_iter()
                .find(|&h| !self.is_glued[h as usize])
                .unwrap_or(NONE);
        }
        member.border = border[0];
        kept
    }

    /// A chart by itself, or two with what a merge would join.
    pub(crate) fn piece(
        &self,
        charts: &[u32],
        seam: &Seam,
        metrics: &[EdgeProducts],
    ) -> ChartPiece {
        let lists = charts.iter().map(|&c| &self.members[c as usize].triangles);
        let triangles: Vec<u32> = lists.flatten().copied().collect();
        // Where the corner of a half-edge is among those of the piece.
        let local = |h: u32| {
            let t = h as usize / 3;
            let second = self.chart_of[t] != charts[0];
            let before = if second {
                self.members[charts[0] as usize].triangles.len()
            } else {
                0
            };
            3 * (before + self.slots[t] as usize) + h as usize % 3
        };
        let mut is_joined: Vec<bool> = (triangles.iter())
            .flat_map(|&t| 3 * t..3 * t + 3)
            .map(|h| self.is_glued[h as usize])
            .collect();
        for &h in &seam.glued {
            is_joined[local(h)] = true;
            is_joined[local(self.mesh.twins[h as usize])] = true;
        }
        let mut vertices = vec![NONE; 3 * triangles.len()];
        let mut points = Vec::new();
        for h in triangles.iter().flat_map(|&t| 3 * t..3 * t + 3) {
            if vertices[local(h)] != NONE {
                continue;
            }
            let vertex = points.len() as u32;
            points.push(self.mesh.start(h));
            self.mark_corners(h, &local, &is_joined, |corner| vertices[corner] = vertex);
        }
        let corners = vertices.chunks_exact(3).map(|c| [c[0], c[1], c[2]]);
        let twin = |(h, is_joined): (u32, bool)| match is_joined {
            true => local(self.mesh.twins[h as usize]) as u32,
            false => NONE,
        };
        let halves = triangles.iter().flat_map(|&t| 3 * t..3 * t + 3);
        let twins = halves.zip(is_joined).map(twin).collect();
        ChartPiece {
            piece: Piece {
                triangles: corners.collect(),
                // Who asks for no metric wants the connections alone.
                metrics: (triangles.iter())
                    .filter_map(|&t| metrics.get(t as usize).copied())
                    .collect(),
                vertex_count: points.len(),
            },
            triangles,
            points,
            twins,
        }
    }

    /// Visits all corners around the vertex where `h` begins, across joined edges: one way around, then the other.
    fn mark_corners(
        &self,
        h: u32,
        local: &dyn Fn(u32) -> usize,
        is_joined: &[bool],
        mut mark: impl FnMut(usize),
    ) {
        let mut corner = h;
        loop {
            mark(local(corner));
            // The edge that ends in this corner.
            let incoming = next_in_triangle(next_in_triangle(corner));
            if !is_joined[local(incoming)] {
                break;
            }
            corner = self.mesh.twins[incoming as usize];
            if corner == h {
                return;
            }
        }
        corner = h;
        while is_joined[local(corner)] {
            corner = next_in_triangle(self.mesh.twins[corner as usize]);
            mark(local(corner));
        }
    }

    /// Divides the triangles of two charts anew; `path` is the border between the two `sides`.
    ///
    /// The two together, joined along `seam`, must be a disc, and the path an arc from border to border.
    pub(crate) fn divide(
        &mut self,
        charts: [u32; 2],
        seam: &[u32],
        path: &[u32],
        sides: [Vec<u32>; 2],
    ) {
        let set = |is_glued: &mut [bool], h: u32, value: bool| {
            is_glued[h as usize] = value;
            is_glued[self.mesh.twins[h as usize] as usize] = value;
        };
        for &h in seam {
            set(&mut self.is_glued, h, true);
        }
        for &h in path {
            set(&mut self.is_glued, h, false);
        }
        for (chart, triangles) in charts.into_iter().zip(sides) {
            self.rebuild(chart, triangles);
        }
    }

    /// Makes a chart of triangles that are joined to a disc.
    fn rebuild(&mut self, chart: u32, triangles: Vec<u32>) {
        let mut shape = Shape::default();
        let mut border = Vec::new();
        for (slot, &t) in triangles.iter().enumerate() {
            self.chart_of[t as usize] = chart;
            self.slots[t as usize] = slot as u32;
            shape.area += self.normals[t as usize].length();
            shape.normal += self.normals[t as usize];
            border.extend((3 * t..3 * t + 3).filter(|&h| !self.is_glued[h as usize]));
        }
        for &h in &border {
            let mut after = next_in_triangle(h);
            while self.is_glued[after as usize] {
                after = next_in_triangle(self.mesh.twins[after as usize]);
            }
            self.next[h as usize] = after;
            self.before[after as usize] = h;
            shape.perimeter += self.lengths[h as usize];
        }
        self.members[chart as usize] = Member {
            border: border.first().copied().unwrap_or(NONE),
            border_count: border.len(),
            triangles,
            shape,
        };
    }
}

/// A chart as a piece of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChartPiece {
    /// The surface, with vertices numbered from 0.
    pub(crate) piece: Piece,
    /// The triangles of the mesh that the piece's are.
    pub(crate) triangles: Vec<u32>,
    /// The point that each vertex is a copy of.
    pub(crate) points: Vec<u32>,
    /// The twin of each half-edge of the piece, or [`NONE`] on its border.
    pub(crate) twins: Vec<u32>,
}

impl ChartPiece {
    /// The half-edge of the mesh that one of the piece is.
    pub(crate) fn in_mesh(&self, h: u32) -> u32 {
        3 * self.triangles[h as usize / 3] + h % 3
    }

    /// The vertex where a half-edge of the piece begins.
    pub(crate) fn start(&self, h: u32) -> u32 {
        self.piece.triangles[h as usize / 3][h as usize % 3]
    }

    /// The half-edges that begin at each vertex.
    pub(crate) fn outgoing(&self) -> Outgoing {
        let mut starts = vec![0; self.piece.vertex_count + 1];
        let count = self.twins.len() as u32;
        for h in 0..count {
            starts[self.start(h) as usize + 1] += 1;
        }
        for v in 0..self.piece.vertex_count {
            starts[v + 1] += starts[v];
        }
        let mut ends = starts.clone();
        let mut halves = vec![0; count as usize];
        for h in 0..count {
            let end: &mut usize = &mut ends[self.start(h) as usize];
            halves[*end] = h;
            *end += 1;
        }
        Outgoing { starts, halves }
    }
}

/// Half-edges by the vertex where they begin.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    starts: Vec<usize>,
    halves: Vec<u32>,
}

impl Outgoing {
    pub(crate) fn of(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.halves[self.starts[v]..self.starts[v + 1]]
    }
}
