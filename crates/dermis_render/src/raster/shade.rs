//! The colour of a point on a surface, and of a finished pixel.
//!
//! The lights stand still relative to the camera, as in a modelling viewport: a warm key from the upper left,
//! a cool fill from the right, light from all around that is stronger from above, and a soft rim where the
//! surface turns away. The numbers were tuned by eye on tubes, spheres and heat maps; a surface facing the
//! viewer comes out close to its own colour, so that heat maps can be read against their legend.

use glam::{DVec3, Vec2, Vec3};

use super::ground::Shadow;
use super::pattern::{Footprint, chequer_share};
use super::setup::{LinearPaint, Mesh};
use crate::color::{level_from_linear, linear_from_srgb3};
use crate::heatmap::NO_DATA;
use crate::projector::Projector;
use crate::scene::{Background, Shading, Wireframe};

/// How much darker the inside of a surface is than its outside.
const BACKFACE: f32 = 0.62;
/// How far the light on heat maps is evened out: 0 shades them like clay, 1 shows the bare colours. In
/// between, the shape still reads and a pale colour in the shade is not mistaken for a darker one.
const HEAT_EVENNESS: f32 = 0.38;
/// Thresholds of an 8×8 ordered dither, in 64ths: hides the steps of the backdrop's slow gradient, and being
/// regular it costs a PNG file little.
const DITHER: [[u8; 8]; 8] = [
    [0, 32, 8, 40, 2, 34, 10, 42],
    [48, 16, 56, 24, 50, 18, 58, 26],
    [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22],
    [3, 35, 11, 43, 1, 33, 9, 41],
    [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37],
    [63, 31, 55, 23, 61, 29, 53, 21],
];

/// Everything needed to colour fragments and pixels.
pub(super) struct Shader<'a> {
    meshes: &'a [Mesh<'a>],
    projector: &'a Projector,
    lights: Lights,
    background: Background,
    shadow: Option<Shadow>,
    size: [f32; 2],
}

/// Unit vectors towards the lights, in the world.
struct Lights {
    up: Vec3,
    key: Vec3,
    fill: Vec3,
}

impl<'a> Shader<'a> {
    pub(super) fn new(
        meshes: &'a [Mesh<'a>],
        projector: &'a Projector,
        background: Background,
        shadow: Option<Shadow>,
        size: [u32; 2],
    ) -> Self {
        let basis = projector.basis;
        let towards = |right: f64, up: f64, viewer: f64| {
            (basis.right * right + basis.up * up - basis.forward * viewer)
                .normalize()
                .as_vec3()
        };
        let lights = Lights {
            up: towards(0.0, 1.0, 0.25),
            key: towards(-0.55, 0.62, 0.62),
            fill: towards(0.85, 0.05, 0.45),
        };
        Self {
            meshes,
            projector,
            lights,
            background,
            shadow,
            size: size.map(|side| side as f32),
        }
    }

    /// Linear light from the triangle with number `id`, at a pixel position within it; `share` is the part of the
    /// pixel that it covers, 0 to 1.
    pub(super) fn shade(&self, id: u32, x: f64, y: f64, share: f32) -> Vec3 {
        let mesh = &self.meshes[self.meshes.partition_point(|mesh| mesh.first_id <= id) - 1];
        let surface = mesh.surface;
        let triangle = (id - mesh.first_id) as usize;
        let corners = surface.triangles[triangle].map(|vertex| vertex as usize);
        let lines = edge_lines(corners.map(|vertex| mesh.vertices[vertex].xyw()));
        let spot = Spot {
            triangle,
            corners,
            weights: barycentric(&lines, x, y),
            lines,
            at: [x, y],
            share,
        };
        let mut color = spot.color(&mesh.paint);
        if let Some(wireframe) = &surface.wireframe {
            let coverage = line_coverage(wireframe, &spot.lines, x, y);
            color = color.lerp(mesh.line_color, coverage);
        }
        match surface.shading {
            Shading::Unlit => color,
            Shading::Clay => self.light(mesh, &spot, color),
        }
    }

    /// Light that a surface of a linear colour sends to the viewer from one spot.
    fn light(&self, mesh: &Mesh<'_>, spot: &Spot, color: Vec3) -> Vec3 {
        let surface = mesh.surface;
        let even = match mesh.paint {
            LinearPaint::Heat(..) => HEAT_EVENNESS,
            _ => 0.0,
        };

        let viewer = if self.projector.perspective {
            (self.projector.eye.as_vec3() - spot.blend(surface.positions)).normalize_or_zero()
        } else {
            -self.projector.basis.forward.as_vec3()
        };
        let [a, b, c] = spot.corners.map(|vertex| surface.positions[vertex]);
        let facet = (b - a).cross(c - a).normalize_or_zero();
        let mut normal = if surface.normals.is_empty() {
            facet
        } else {
            spot.blend(surface.normals).normalize_or_zero()
        };
        if normal == Vec3::ZERO || !normal.is_finite() {
            normal = facet;
        }
        // The side that is seen is that of the flat facet; smooth normals only say which side is the outside.
        let seen = if facet.dot(viewer) < 0.0 {
            -facet
        } else {
            facet
        };
        let inside = normal.dot(seen) < 0.0;
        let light = self
            .lights
            .reflect(color, even, if inside { -normal } else { normal }, viewer);
        if inside { light * BACKFACE } else { light }
    }

    /// The pixel: surfaces over shadow over background, encoded.
    ///
    /// `color` is already scaled by `covered`, the part of the pixel that surfaces cover.
    pub(super) fn finish(&self, color: Vec3, covered: f32, x: f64, y: f64) -> [u8; 4] {
        let open = 1.0 - covered;
        let shade = match &self.shadow {
            Some(shadow) if open > 0.0 => {
                let (origin, direction) = self.projector.ray_in_world(x, y);
                shadow.darkness(origin, direction)
            }
            _ => 0.0,
        };
        let (color, alpha) = match self.background {
            Background::Transparent => {
                let alpha = covered + open * shade;
                (
                    if alpha > 0.0 {
                        color / alpha
                    } else {
                        Vec3::ZERO
                    },
                    alpha,
                )
            }
            Background::Solid(srgb) => (
                color + linear_from_srgb3(srgb) * (open * (1.0 - shade)),
                1.0,
            ),
            Background::Studio => {
                let behind = if open > 0.0 {
                    self.studio(x as f32, y as f32)
                } else {
                    Vec3::ZERO
                };
                (color + behind * (open * (1.0 - shade)), 1.0)
            }
        };
        let threshold = if self.background == Background::Studio && open > 0.0 {
            (f32::from(DITHER[y as usize % 8][x as usize % 8]) + 0.5) / 64.0
        } else {
            0.5
        };
        let [r, g, b] = color
            .to_array()
            .map(|light| (level_from_linear(light) + threshold) as u8);
        [r, g, b, (alpha * 255.0).round() as u8]
    }

    /// A light neutral backdrop: brightest a little above the middle, falling off to the corners.
    fn studio(&self, x: f32, y: f32) -> Vec3 {
        let u = x / self.size[0] - 0.5;
        let v = y / self.size[1] - 0.42;
        let distance = (u * u + v * v) / 0.58;
        let smooth = distance.min(1.0);
        Vec3::new(0.860, 0.868, 0.880).lerp(Vec3::new(0.590, 0.605, 0.630), smooth)
    }
}

/// A place on a triangle that is seen at a pixel position.
struct Spot {
    /// Number of the triangle in its surface.
    triangle: usize,
    /// Its vertices.
    corners: [usize; 3],
    /// Its edges, see [`edge_lines`].
    lines: [DVec3; 3],
    /// How much each corner counts.
    weights: Vec3,
    /// The pixel position.
    at: [f64; 2],
    /// The part of the pixel that the triangle covers, 0 to 1.
    share: f32,
}

impl Spot {
    /// A vector per vertex, interpolated.
    fn blend(&self, values: &[Vec3]) -> Vec3 {
        let [a, b, c] = self.corners;
        values[a] * self.weights.x + values[b] * self.weights.y + values[c] * self.weights.z
    }

    /// The linear colour that a paint has here.
    fn color(&self, paint: &LinearPaint<'_>) -> Vec3 {
        match paint {
            LinearPaint::Solid(color) => *color,
            LinearPaint::Vertices(colors) => self.blend(colors),
            LinearPaint::Triangles(colors) => colors[self.triangle],
            LinearPaint::Heat(values, scale) => {
                let [a, b, c] = self.corners;
                let value = values[a] * self.weights.x
                    + values[b] * self.weights.y
                    + values[c] * self.weights.z;
                scale.linear_color(value)
            }
            LinearPaint::Chequer {
                uvs,
                squares,
                colors,
                tints,
            } => {
                let Some(footprint) = self.footprint(uvs) else {
                    return linear_from_srgb3(NO_DATA);
                };
                let color = colors[1].lerp(colors[0], chequer_share(&footprint, *squares));
                match tints.is_empty() {
                    true => color,
                    false => color * self.blend(tints),
                }
            }
            LinearPaint::Texture(uvs, picture) => match self.footprint(uvs) {
                Some(footprint) => {
                    let steps = footprint.steps.map(|step| step * footprint.side);
                    picture.linear_color(footprint.uv, steps)
                }
                None => linear_from_srgb3(NO_DATA),
            },
        }
    }

    /// The part of the texture below this triangle's part of the pixel; `None` when a coordinate is not finite.
    fn footprint(&self, uvs: &[Vec2]) -> Option<Footprint> {
        let uvs = self.corners.map(|vertex| uvs[vertex].as_dvec2());
        let side = f64::from(self.share).sqrt();
        Footprint::new(uvs, self.weights, &self.lines, self.at, side)
    }
}

impl Lights {
    /// Light that a clay-like surface of a colour sends to the viewer; `even` takes shading back, 0 to 1.
    fn reflect(&self, color: Vec3, even: f32, normal: Vec3, viewer: Vec3) -> Vec3 {
        let facing = normal.dot(viewer).clamp(0.0, 1.0);
        let above = 0.5 + 0.5 * normal.dot(self.up);
        let around = Vec3::new(0.170, 0.158, 0.150).lerp(Vec3::new(0.350, 0.362, 0.385), above);
        // The key wraps a little around the edge of the light, as clay scatters.
        let key = ((normal.dot(self.key) + 0.22) / 1.22).max(0.0);
        let key = Vec3::new(0.860, 0.820, 0.760) * (key * (0.35 + 0.65 * key));
        let fill = ((normal.dot(self.fill) + 0.5) / 1.5).max(0.0);
        let fill = Vec3::new(0.200, 0.215, 0.240) * (fill * fill);
        let edge = (1.0 - facing) * (1.0 - facing);
        let rim = Vec3::new(0.36, 0.37, 0.39) * (edge * edge * above);
        let half = (self.key + viewer).normalize_or_zero();
        let glint = normal.dot(half).max(0.0).powi(28) * 0.06 * (1.0 - even);
        let diffuse = (around + key + fill + rim).lerp(Vec3::ONE, even);
        (color * diffuse + rim * 0.2 * (1.0 - even) + glint).map(shoulder)
    }
}

/// Rolls off towards white instead of clipping; also keeps one bright fragment from dominating its pixel.
fn shoulder(light: f32) -> f32 {
    const KNEE: f32 = 0.80;
    if light <= KNEE {
        light
    } else {
        1.0 - (1.0 - KNEE) * (-(light - KNEE) / (1.0 - KNEE)).exp()
    }
}

/// The three edges as homogeneous lines: `line · (x, y, 1)` is proportional to the weight of the corner
/// opposite.
fn edge_lines([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    [b.cross(c), c.cross(a), a.cross(b)]
}

/// Perspective-correct weights of the corners at a pixel position, held inside the triangle.
fn barycentric(lines: &[DVec3; 3], x: f64, y: f64) -> Vec3 {
    let p = DVec3::new(x, y, 1.0);
    let raw = DVec3::new(lines[0].dot(p), lines[1].dot(p), lines[2].dot(p));
    let weights = (raw / raw.element_sum()).max(DVec3::ZERO);
    let weights = weights / weights.element_sum();
    if weights.is_finite() {
        weights.as_vec3()
    } else {
        Vec3::splat(1.0 / 3.0)
    }
}

/// How much of its lines' colour a place near the edges takes; the distance to a line is in pixels.
fn line_coverage(wireframe: &Wireframe, lines: &[DVec3; 3], x: f64, y: f64) -> f32 {
    let p = DVec3::new(x, y, 1.0);
    let distance = lines
        .iter()
        .map(|line| line.dot(p).abs() / line.truncate().length())
        .fold(f64::INFINITY, f64::min) as f32;
    let coverage = (0.5 * wireframe.width_px + 0.5 - distance).clamp(0.0, 1.0);
    coverage * wireframe.opacity.clamp(0.0, 1.0)
}
