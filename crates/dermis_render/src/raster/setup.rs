//! From meshes to triangles on the pixel grid: projection, clipping, snapping, sorting into tiles.

use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;

use super::tile::TILE;
use crate::color::linear_from_srgb3;
use crate::error::RenderError;
use crate::heatmap::HeatScale;
use crate::material::{Material, Sides};
use crate::projector::{Projected, Projector};
use crate::scene::{Paint, Scene, Surface};
use crate::texture::TexturePicture;

/// Subpixels per pixel, along each axis.
pub(super) const SUBPIXELS: i32 = 256;
/// How far a triangle may reach beyond the picture's top and left before it is clipped, in pixels.
const GUARD_LOW: f64 = -4096.0;
/// The same for bottom and right, from the top left corner. The span of 2¹⁴ pixels keeps edge functions in 32
/// bits: see [`super::tile`].
const GUARD_HIGH: f64 = 12288.0;

/// A surface with its vertices in pixels.
pub(super) struct Mesh<'a> {
    pub(super) surface: &'a Surface<'a>,
    pub(super) vertices: Vec<Projected>,
    pub(super) paint: LinearPaint<'a>,
    /// Colour of the lines of its wireframe, linear.
    pub(super) line_color: Vec3,
    /// Number of this surface's first triangle among those of the whole scene.
    pub(super) first_id: u32,
    /// Whether its triangles are seen from outside alone.
    outer_only: bool,
}

/// A paint with its colours in linear light.
pub(super) enum LinearPaint<'a> {
    Solid(Vec3),
    Heat(&'a [f32], &'a HeatScale),
    Vertices(Vec<Vec3>),
    Triangles(Vec<Vec3>),
    Chequer {
        uvs: &'a [Vec2],
        squares: f64,
        colors: [Vec3; 2],
        tints: Vec<Vec3>,
    },
    Texture(&'a [Vec2], &'a TexturePicture),
    Material {
        material: &'a Material<'a>,
        vertex_colors: Vec<Vec3>,
    },
}

impl<'a> LinearPaint<'a> {
    fn new(paint: &'a Paint<'a>) -> Self {
        let linear = |colors: &[[f32; 3]]| {
            let colors = colors.par_iter().copied();
            colors.map(linear_from_srgb3).collect()
        };
        match paint {
            Paint::Solid(color) => Self::Solid(linear_from_srgb3(*color)),
            Paint::Heat { values, scale } => Self::Heat(values, scale),
            Paint::VertexColors(colors) => Self::Vertices(linear(colors)),
            Paint::TriangleColors(colors) => Self::Triangles(linear(colors)),
            Paint::Chequer {
                uvs,
                squares,
                colors,
                tints,
            } => Self::Chequer {
                uvs,
                squares: f64::from(*squares),
                colors: colors.map(linear_from_srgb3),
                tints: linear(tints),
            },
            Paint::Texture { uvs, picture } => Self::Texture(uvs, picture),
            Paint::Material(material) => Self::Material {
                material,
                vertex_colors: (material.vertex_colors.iter())
                    .map(|&color| color.into())
                    .collect(),
            },
        }
    }
}

/// A triangle, or a piece of one that was clipped, on the pixel grid.
pub(super) struct GridTriangle {
    /// Number of the triangle it comes from, counted through the whole scene.
    pub(super) id: u32,
    /// Corners in subpixels, in the order of positive area (y down).
    pub(super) corners: [[i32; 2]; 3],
    /// `[a, b, c]`: depth at pixel position (x, y) is `a·x + b·y + c`; larger is nearer.
    pub(super) depth_plane: DVec3,
    /// Smallest and largest depth at the corners.
    pub(super) depth_range: [f32; 2],
}

/// Most corners a triangle can have after clipping: each of five planes adds at most one.
const POLYGON_MAX: usize = 8;

/// A convex polygon with few corners, kept off the heap because there is one per triangle.
#[derive(Clone, Copy)]
struct Polygon {
    corners: [Projected; POLYGON_MAX],
    count: usize,
}

impl Polygon {
    fn as_slice(&self) -> &[Projected] {
        &self.corners[..self.count]
    }

    /// Adds a corner. Rounding may make a polygon touch a plane once too often; such a corner is dropped.
    fn push(&mut self, corner: Projected) {
        if let Some(free) = self.corners.get_mut(self.count) {
            *free = corner;
            self.count += 1;
        }
    }
}

/// Checks the scene and projects all its vertices.
pub(super) fn prepare<'a>(
    scene: &'a Scene<'a>,
    projector: &Projector,
) -> Result<Vec<Mesh<'a>>, RenderError> {
    // The largest number is left free: it marks a sample that nothing covers.
    let count = scene
        .surfaces
        .iter()
        .map(|surface| surface.triangles.len())
        .sum::<usize>();
    if count >= u32::MAX as usize {
        return Err(RenderError::TooManyTriangles { count });
    }
    let mut first_id = 0;
    let mut meshes = Vec::with_capacity(scene.surfaces.len());
    for (index, surface) in scene.surfaces.iter().enumerate() {
        surface.check(index)?;
        let line_color = surface
            .wireframe
            .map_or(Vec3::ZERO, |lines| linear_from_srgb3(lines.color));
        let vertices = surface
            .positions
            .par_iter()
            .map(|&p| projector.project(p))
            .collect();
        meshes.push(Mesh {
            surface,
            vertices,
            paint: LinearPaint::new(&surface.paint),
            line_color,
            first_id,
            outer_only: matches!(&surface.paint, Paint::Material(m) if m.sides == Sides::Outer),
        });
        first_id += surface.triangles.len() as u32;
    }
    Ok(meshes)
}

/// Clips all triangles and snaps them to the grid; those that cannot be seen are left out.
pub(super) fn set_up_triangles(
    meshes: &[Mesh<'_>],
    projector: &Projector,
    width: u32,
    height: u32,
) -> Vec<GridTriangle> {
    let size = [f64::from(width), f64::from(height)];
    let mut all = Vec::new();
    for mesh in meshes {
        // Collecting in parallel keeps the order, so that equal depths are settled the same way each time.
        let pieces: Vec<GridTriangle> = mesh
            .surface
            .triangles
            .par_iter()
            .enumerate()
            .flat_map_iter(|(index, corners)| {
                let id = mesh.first_id + index as u32;
                let corners = corners.map(|vertex| mesh.vertices[vertex as usize]);
                set_up_triangle(id, corners, projector, size, mesh.outer_only)
            })
            .collect();
        all.extend(pieces);
    }
    all
}

/// The pieces of one triangle: none when hidden or broken, one as a rule, more when clipped.
fn set_up_triangle(
    id: u32,
    corners: [Projected; 3],
    projector: &Projector,
    size: [f64; 2],
    outer_only: bool,
) -> impl Iterator<Item = GridTriangle> {
    let (polygon, plane) = visible_polygon(corners, projector, size).unwrap_or((
        Polygon {
            corners: [corners[0]; POLYGON_MAX],
            count: 0,
        },
        DVec3::ZERO,
    ));
    let fan = polygon.count.saturating_sub(2);
    (0..fan).filter_map(move |i| {
        snap(
            id,
            [
                polygon.corners[0],
                polygon.corners[i + 1],
                polygon.corners[i + 2],
            ],
            plane,
            outer_only,
        )
    })
}

/// The part of a triangle in front of the camera and near the picture, with its depth plane.
fn visible_polygon(
    corners: [Projected; 3],
    projector: &Projector,
    size: [f64; 2],
) -> Option<(Polygon, DVec3)> {
    if !corners.iter().all(|corner| corner.is_finite()) {
        return None;
    }
    let all = |outside: &dyn Fn(&Projected) -> bool| corners.iter().all(outside);
    if projector.perspective && all(&|c| c.w < projector.near) {
        return None;
    }
    if all(&|c| c.w > 0.0 && c.x < 0.0)
        || all(&|c| c.w > 0.0 && c.y < 0.0)
        || all(&|c| c.w > 0.0 && c.x > size[0] * c.w)
        || all(&|c| c.w > 0.0 && c.y > size[1] * c.w)
    {
        return None;
    }
    let plane = depth_plane(corners)?;
    let [a, b, c] = corners;
    let mut polygon = Polygon {
        corners: [a, b, c, c, c, c, c, c],
        count: 3,
    };
    if projector.perspective && corners.iter().any(|c| c.w < projector.near) {
        polygon = clip(polygon, |c| c.w - projector.near);
    }
    let beyond = |c: &Projected| {
        let guard = GUARD_LOW * c.w..=GUARD_HIGH * c.w;
        !guard.contains(&c.x) || !guard.contains(&c.y)
    };
    if polygon.as_slice().iter().any(beyond) {
        polygon = clip(polygon, |c| c.x - GUARD_LOW * c.w);
        polygon = clip(polygon, |c| GUARD_HIGH * c.w - c.x);
        polygon = clip(polygon, |c| c.y - GUARD_LOW * c.w);
        polygon = clip(polygon, |c| GUARD_HIGH * c.w - c.y);
    }
    Some((polygon, plane))
}

/// Depth as a linear function of pixel position; `None` for a triangle seen exactly edge-on.
///
/// With `nᵢ` the cross products of the other two homogeneous corners, `Σ depthᵢ nᵢ / det` is that function.
fn depth_plane(corners: [Projected; 3]) -> Option<DVec3> {
    let [a, b, c] = corners.map(Projected::xyw);
    let (na, nb, nc) = (b.cross(c), c.cross(a), a.cross(b));
    let plane = (na * corners[0].depth + nb * corners[1].depth + nc * corners[2].depth) / a.dot(na);
    plane.is_finite().then_some(plane)
}

/// Cuts a convex polygon to the side where `inside` is not negative (Sutherland and Hodgman).
fn clip(polygon: Polygon, inside: impl Fn(&Projected) -> f64) -> Polygon {
    let mut kept = Polygon {
        count: 0,
        ..polygon
    };
    let corners = polygon.as_slice();
    for (i, corner) in corners.iter().enumerate() {
        let next = &corners[(i + 1) % corners.len()];
        let (here, there) = (inside(corner), inside(next));
        if here >= 0.0 {
            kept.push(*corner);
        }
        if (here < 0.0) != (there < 0.0) {
            let t = here / (here - there);
            let mix = |a: f64, b: f64| a + (b - a) * t;
            kept.push(Projected {
                x: mix(corner.x, next.x),
                y: mix(corner.y, next.y),
                w: mix(corner.w, next.w),
                depth: mix(corner.depth, next.depth),
            });
        }
    }
    kept
}

/// Puts a triangle on the grid; `None` when it has no area there, or is seen from inside and should not be.
fn snap(
    id: u32,
    corners: [Projected; 3],
    depth_plane: DVec3,
    outer_only: bool,
) -> Option<GridTriangle> {
    let subpixels = f64::from(SUBPIXELS);
    let mut grid = corners.map(|c| [c.x, c.y].map(|v| (v / c.w * subpixels).round() as i32));
    let [a, b, c] = grid.map(|corner| corner.map(i64::from));
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    // Anticlockwise from outside, with y up, is a negative area with y down.
    if area == 0 || (outer_only && area > 0) {
        return None;
    }
    if area < 0 {
        grid.swap(1, 2);
    }
    let depths = corners.map(|c| (c.depth / c.w) as f32);
    let depth_range = [
        depths[0].min(depths[1]).min(depths[2]),
        depths[0].max(depths[1]).max(depths[2]),
    ];
    Some(GridTriangle {
        id,
        corners: grid,
        depth_plane,
        depth_range,
    })
}

/// Which triangles each tile has to look at, in scene order.
pub(super) struct Bins {
    /// Tiles per row.
    pub(super) columns: usize,
    /// Where each tile's list starts in `indices`; one more entry than tiles.
    starts: Vec<usize>,
    indices: Vec<u32>,
}

impl Bins {
    /// A counting sort: one pass to count, one to fill.
    pub(super) fn new(triangles: &[GridTriangle], width: u32, height: u32) -> Self {
        let columns = (width as usize).div_ceil(TILE);
        let rows = (height as usize).div_ceil(TILE);
        let mut starts = vec![0; columns * rows + 1];
        let spans: Vec<_> = triangles
            .iter()
            .map(|triangle| tile_span(triangle, columns, rows))
            .collect();
        for [x0, x1, y0, y1] in &spans {
            for y in *y0..*y1 {
                for x in *x0..*x1 {
                    starts[y * columns + x + 1] += 1;
                }
            }
        }
        for tile in 0..columns * rows {
            starts[tile + 1] += starts[tile];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; starts[columns * rows]];
        for (index, [x0, x1, y0, y1]) in spans.iter().enumerate() {
            for y in *y0..*y1 {
                for x in *x0..*x1 {
                    let slot = &mut next[y * columns + x];
                    indices[*slot] = index as u32;
                    *slot += 1;
                }
            }
        }
        Self {
            columns,
            starts,
            indices,
        }
    }

    pub(super) fn triangles_of(&self, column: usize, row: usize) -> &[u32] {
        let tile = row * self.columns + column;
        &self.indices[self.starts[tile]..self.starts[tile + 1]]
    }
}

/// First and one-past-last tile column and row that a triangle's box touches.
fn tile_span(triangle: &GridTriangle, columns: usize, rows: usize) -> [usize; 4] {
    let tile = TILE as i32 * SUBPIXELS;
    let range = |axis: usize, count: usize| {
        let values = triangle.corners.map(|corner| corner[axis].div_euclid(tile));
        let low = values[0]
            .min(values[1])
            .min(values[2])
            .clamp(0, count as i32);
        let high = (values[0].max(values[1]).max(values[2]) + 1).clamp(low, count as i32);
        [low as usize, high as usize]
    };
    let ([x0, x1], [y0, y1]) = (range(0, columns), range(1, rows));
    [x0, x1, y0, y1]
}
