//! One square of the picture: finds the nearest triangle at each sample, and from these the colour of each
//! pixel.
//!
//! Edge functions are integers. Corners lie within 2¹⁴ pixels, so a corner difference is below 2²² subpixels
//! and its product with a sample's offset from the pixel centre, at most 120 subpixels on each axis, sums to
//! below 2·120·2²² < 1.01·10⁹. The value at the pixel centre needs 64 bits, but is only compared with such
//! offsets: it is clamped to ±2³⁰, and the sum fits in 32 bits without changing its sign.

use glam::{DVec3, Vec3};

use super::setup::{GridTriangle, SUBPIXELS};
use super::shade::{Holes, Shader};

/// Side of a tile, in pixels.
pub(super) const TILE: usize = 16;
/// Sample points per pixel.
pub(super) const SAMPLES: usize = 16;
/// Marks a sample that no triangle covers.
const NOTHING: u32 = u32::MAX;

/// Sample offsets from the pixel centre, in subpixels: column i, row i with its four bits reversed. All rows
/// and all columns differ, so that nearly level edges get 16 shades too, where a 4×4 grid gives four.
const OFFSETS: [[i32; 2]; SAMPLES] = {
    let mut offsets = [[0; 2]; SAMPLES];
    let mut i = 0;
    while i < SAMPLES {
        let step = SUBPIXELS / SAMPLES as i32;
        let reversed = ((i as u32).reverse_bits() >> 28) as i32;
        offsets[i] = [
            step * i as i32 + step / 2 - SUBPIXELS / 2,
            step * reversed + step / 2 - SUBPIXELS / 2,
        ];
        i += 1;
    }
    offsets
};

/// Where the samples of a pixel are, as shares of it to the right and down from its top left corner: one in each of 16
/// columns, and one in each of 16 rows.
///
/// A renderer that takes the same ones has the same edges.
pub const SAMPLE_PLACES: [[f32; 2]; SAMPLES] = {
    let mut places = [[0.0; 2]; SAMPLES];
    let mut i = 0;
    while i < SAMPLES {
        let [x, y] = OFFSETS[i];
        let size = SUBPIXELS as f32;
        places[i] = [x as f32 / size + 0.5, y as f32 / size + 0.5];
        i += 1;
    }
    places
};

/// The samples of one tile.
pub(super) struct Tile {
    /// Top left pixel.
    origin: [i32; 2],
    depths: Vec<[f32; SAMPLES]>,
    ids: Vec<[u32; SAMPLES]>,
    /// Pixels that some triangle touched.
    touched: Vec<bool>,
}

/// A half-plane: a sample is inside when its edge function is not negative.
struct Edge {
    /// Value at the centre of the first pixel, stepped along.
    row: i64,
    step_x: i64,
    step_y: i64,
    offsets: [i32; SAMPLES],
    largest_offset: i64,
}

impl Edge {
    fn new(from: [i32; 2], to: [i32; 2], first_center: [i64; 2]) -> Self {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        // A sample exactly on the edge belongs to one of the two triangles there: they see opposite
        // directions.
        let owns_edge = dy > 0 || (dy == 0 && dx > 0);
        let value = i64::from(dx) * (first_center[1] - i64::from(from[1]))
            - i64::from(dy) * (first_center[0] - i64::from(from[0]));
        let offsets = OFFSETS.map(|[x, y]| dx * y - dy * x);
        Self {
            row: if owns_edge { value } else { value - 1 },
            step_x: -i64::from(dy) * i64::from(SUBPIXELS),
            step_y: i64::from(dx) * i64::from(SUBPIXELS),
            offsets,
            largest_offset: i64::from(offsets.into_iter().max().unwrap_or(0)),
        }
    }
}

impl Tile {
    pub(super) fn new() -> Self {
        Self {
            origin: [0; 2],
            depths: vec![[f32::NEG_INFINITY; SAMPLES]; TILE * TILE],
            ids: vec![[NOTHING; SAMPLES]; TILE * TILE],
            touched: vec![false; TILE * TILE],
        }
    }

    /// Clears all samples and moves to another place of the picture.
    pub(super) fn clear(&mut self, column: usize, row: usize) {
        self.origin = [(column * TILE) as i32, (row * TILE) as i32];
        for (i, touched) in self.touched.iter_mut().enumerate() {
            if std::mem::take(touched) {
                self.depths[i] = [f32::NEG_INFINITY; SAMPLES];
                self.ids[i] = [NOTHING; SAMPLES];
            }
        }
    }

    /// Draws a triangle at every sample where it is nearer than the one there; at equal depth the earlier one stays.
    ///
    /// Samples in `holes` of the triangle are left as they are.
    pub(super) fn draw(&mut self, triangle: &GridTriangle, holes: Option<&Holes<'_>>) {
        let [x0, x1] = self.pixel_range(triangle, 0);
        let [y0, y1] = self.pixel_range(triangle, 1);
        let center = |pixel: i32| i64::from(pixel * SUBPIXELS + SUBPIXELS / 2);
        let [a, b, c] = triangle.corners;
        let first = [center(x0), center(y0)];
        let mut edges = [
            Edge::new(a, b, first),
            Edge::new(b, c, first),
            Edge::new(c, a, first),
        ];

        let plane = triangle.depth_plane;
        let per_subpixel = [plane.x, plane.y].map(|slope| slope / f64::from(SUBPIXELS));
        let depth_offsets = OFFSETS
            .map(|[x, y]| (per_subpixel[0] * f64::from(x) + per_subpixel[1] * f64::from(y)) as f32);
        let offsets = edges.each_ref().map(|edge| edge.offsets);

        for y in y0..y1 {
            let mut values = [edges[0].row, edges[1].row, edges[2].row];
            for x in x0..x1 {
                let missed = (0..3).any(|i| values[i] + edges[i].largest_offset < 0);
                if !missed {
                    let at_center =
                        plane.dot(DVec3::new(f64::from(x) + 0.5, f64::from(y) + 0.5, 1.0)) as f32;
                    let i = (y - self.origin[1]) as usize * TILE + (x - self.origin[0]) as usize;
                    let mut sides = inside_signs(values, &offsets);
                    if let Some(holes) = holes {
                        leave_out(&mut sides, holes, x, y);
                    }
                    enter_samples(
                        &mut self.depths[i],
                        &mut self.ids[i],
                        &sides,
                        &depth_offsets.map(|offset| at_center + offset),
                        triangle,
                    );
                    self.touched[i] = true;
                }
                for (value, edge) in values.iter_mut().zip(&edges) {
                    *value += edge.step_x;
                }
            }
            for edge in &mut edges {
                edge.row += edge.step_y;
            }
        }
    }

    /// Turns the samples into light and coverage of pixels; `rows` are the picture's rows from this tile's top on.
    pub(super) fn resolve(&self, shader: &Shader<'_>, width: usize, rows: &mut [[f32; 4]]) {
        for (row, pixels) in rows.chunks_mut(width).enumerate() {
            let left = self.origin[0] as usize;
            for column in 0..TILE.min(width - left) {
                let i = row * TILE + column;
                let (x, y) = (self.origin[0] + column as i32, self.origin[1] + row as i32);
                if self.touched[i] {
                    let (light, covered) = shade_pixel(&self.ids[i], shader, x, y);
                    pixels[left + column] = light.extend(covered).to_array();
                }
            }
        }
    }

    /// First and one-past-last pixel of this tile that a triangle's box touches.
    fn pixel_range(&self, triangle: &GridTriangle, axis: usize) -> [i32; 2] {
        let values = triangle
            .corners
            .map(|corner| corner[axis].div_euclid(SUBPIXELS));
        let low = values[0].min(values[1]).min(values[2]);
        let high = values[0].max(values[1]).max(values[2]) + 1;
        let (first, end) = (self.origin[axis], self.origin[axis] + TILE as i32);
        [low.clamp(first, end), high.clamp(first, end)]
    }
}

/// For each sample a number that is not negative when all three edges have the sample inside.
///
/// The sums never wrap, see the module's documentation; saying so lets the compiler do several samples at
/// once where overflow is checked.
fn inside_signs(centers: [i64; 3], offsets: &[[i32; SAMPLES]; 3]) -> [i32; SAMPLES] {
    let [e0, e1, e2] = centers.map(|value| value.clamp(-(1 << 30), 1 << 30) as i32);
    let mut signs = [0; SAMPLES];
    for s in 0..SAMPLES {
        signs[s] = e0.wrapping_add(offsets[0][s])
            | e1.wrapping_add(offsets[1][s])
            | e2.wrapping_add(offsets[2][s]);
    }
    signs
}

/// Takes the samples of one pixel that are in holes out of those inside a triangle.
fn leave_out(sides: &mut [i32; SAMPLES], holes: &Holes<'_>, x: i32, y: i32) {
    for (sample, (side, offset)) in sides.iter_mut().zip(OFFSETS).enumerate() {
        let place = |pixel: i32, offset: i32| {
            f64::from(pixel) + 0.5 + f64::from(offset) / f64::from(SUBPIXELS)
        };
        let (x, y) = (place(x, offset[0]), place(y, offset[1]));
        if *side >= 0 && holes.is_open(sample, x, y) {
            *side = -1;
        }
    }
}

/// Puts a triangle into the samples of one pixel that are inside it and have nothing nearer.
///
/// Works on copies and without branches, again for several samples at once.
fn enter_samples(
    depths: &mut [f32; SAMPLES],
    ids: &mut [u32; SAMPLES],
    sides: &[i32; SAMPLES],
    triangle_depths: &[f32; SAMPLES],
    triangle: &GridTriangle,
) {
    let [farthest, nearest] = triangle.depth_range;
    let (mut new_depths, mut new_ids) = (*depths, *ids);
    for s in 0..SAMPLES {
        // Snapping can push a sample just outside the true triangle, where a steep plane runs away: hold the
        // depth to what the triangle really has.
        let depth = triangle_depths[s];
        let depth = if depth < nearest { depth } else { nearest };
        let depth = if depth > farthest { depth } else { farthest };
        let wins = (sides[s] >= 0) & (depth > new_depths[s]);
        let mask = u32::from(wins).wrapping_neg();
        let choose = |new: u32, old: u32| (new & mask) | (old & !mask);
        new_depths[s] = f32::from_bits(choose(depth.to_bits(), new_depths[s].to_bits()));
        new_ids[s] = choose(triangle.id, new_ids[s]);
    }
    *depths = new_depths;
    *ids = new_ids;
}

/// Linear light of one pixel, already scaled by the part of it that surfaces cover.
fn shade_pixel(ids: &[u32; SAMPLES], shader: &Shader<'_>, x: i32, y: i32) -> (Vec3, f32) {
    let mut light = Vec3::ZERO;
    let mut covered = 0;
    let mut done: u32 = 0;
    for s in 0..SAMPLES {
        if done >> s & 1 == 1 || ids[s] == NOTHING {
            continue;
        }
        let (mut count, mut sum) = (0, [0, 0]);
        for t in s..SAMPLES {
            if ids[t] == ids[s] {
                done |= 1 << t;
                count += 1;
                sum = [sum[0] + OFFSETS[t][0], sum[1] + OFFSETS[t][1]];
            }
        }
        let middle = |pixel: i32, sum: i32| {
            f64::from(pixel) + 0.5 + f64::from(sum) / f64::from(count * SUBPIXELS)
        };
        let share = count as f32 / SAMPLES as f32;
        light += shader.shade(ids[s], middle(x, sum[0]), middle(y, sum[1]), share) * count as f32;
        covered += count;
    }
    (light / SAMPLES as f32, covered as f32 / SAMPLES as f32)
}
