//! The colour of a point on a surface.

use glam::{DVec3, Vec2, Vec3, Vec4};

use super::pattern::{Footprint, chequer_share};
use super::setup::{LinearPaint, Mesh};
use super::tile::SAMPLES;
use crate::color::linear_from_srgb3;
use crate::heatmap::NO_DATA;
use crate::lights::Lights;
use crate::material::{Material, NormalMap, Sides};
use crate::projector::Projector;
use crate::scene::{Shading, Wireframe};
use crate::texture::TexturePicture;

/// Everything needed to colour fragments.
pub(super) struct Shader<'a> {
    meshes: &'a [Mesh<'a>],
    projector: &'a Projector,
    lights: Lights,
    /// Whether some surface may have holes.
    has_holes: bool,
}

/// Where a triangle of a surface with holes is not drawn.
pub(super) struct Holes<'a> {
    material: &'a Material<'a>,
    /// Number of the surface in its scene.
    surface: usize,
    /// Whether its inner side is seen.
    inside: bool,
    corners: [usize; 3],
    triangle: usize,
    lines: [DVec3; 3],
}

impl Holes<'_> {
    /// Whether a sample at a pixel position sees through; each of a pixel's samples answers for its own part.
    pub(super) fn is_open(&self, sample: usize, x: f64, y: f64) -> bool {
        let spot = Spot {
            triangle: self.triangle,
            corners: self.corners,
            weights: barycentric(&self.lines, x, y),
            lines: self.lines,
            at: [x, y],
            share: 1.0 / SAMPLES as f32,
        };
        let texel = (self.material.picture)
            .and_then(|picture| spot.texel(self.material.uvs, picture))
            .map_or(1.0, |texel| texel.w);
        let opacity = self.material.color[3] * texel;
        let threshold = (self.material.opacity).threshold(sample, self.surface, self.inside);
        opacity < threshold
    }
}

impl<'a> Shader<'a> {
    pub(super) fn new(meshes: &'a [Mesh<'a>], projector: &'a Projector) -> Self {
        Self {
            meshes,
            projector,
            lights: Lights::new(&projector.basis),
            has_holes: meshes.iter().any(|mesh| {
                matches!(&mesh.paint, LinearPaint::Material { material, .. } if material.has_holes())
            }),
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
        let mut glow = spot.glow(&mesh.paint);
        if let Some(wireframe) = &surface.wireframe {
            let coverage = line_coverage(wireframe, &spot.lines, x, y);
            color = color.lerp(mesh.line_color, coverage);
            glow *= 1.0 - coverage;
        }
        match surface.shading {
            Shading::Unlit => color,
            Shading::Clay => self.light(mesh, &spot, color) + glow,
        }
    }

    /// The holes of a triangle; `None` where it has none.
    pub(super) fn holes(&self, id: u32) -> Option<Holes<'_>> {
        if !self.has_holes {
            return None;
        }
        let surface = self.meshes.partition_point(|mesh| mesh.first_id <= id) - 1;
        let mesh = &self.meshes[surface];
        let LinearPaint::Material { material, .. } = &mesh.paint else {
            return None;
        };
        if !material.has_holes() {
            return None;
        }
        let triangle = (id - mesh.first_id) as usize;
        let corners = mesh.surface.triangles[triangle].map(|vertex| vertex as usize);
        let seen = corners.map(|vertex| mesh.vertices[vertex].xyw());
        Some(Holes {
            material,
            surface,
            // Anticlockwise from outside, with y up, is clockwise with y down.
            inside: seen[0].dot(seen[1].cross(seen[2])) > 0.0,
            corners,
            triangle,
            lines: edge_lines(seen),
        })
    }

    /// Light that a surface of a linear colour sends to the viewer from one spot.
    fn light(&self, mesh: &Mesh<'_>, spot: &Spot, color: Vec3) -> Vec3 {
        let surface = mesh.surface;
        let even = match mesh.paint {
            LinearPaint::Heat(..) => self.lights.heat_evenness,
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
        if let LinearPaint::Material { material, .. } = &mesh.paint
            && let Some(map) = &material.normal_map
        {
            let smooth = match surface.normals.is_empty() {
                true => facet,
                false => spot.blend(surface.normals),
            };
            normal = spot.bent(smooth, map).unwrap_or(normal);
        }
        let light = self
            .lights
            .reflect(color, even, if inside { -normal } else { normal }, viewer);
        let is_dark = match &mesh.paint {
            LinearPaint::Material { material, .. } => material.sides == Sides::DarkInside,
            _ => true,
        };
        if inside && is_dark {
            light * self.lights.backface
        } else {
            light
        }
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
            LinearPaint::Texture(uvs, picture) => match self.texel(uvs, picture) {
                Some(texel) => texel.truncate(),
                None => linear_from_srgb3(NO_DATA),
            },
            LinearPaint::Material {
                material,
                vertex_colors,
            } => {
                let [r, g, b, _] = material.color;
                let mut color = Vec3::new(r, g, b);
                if let Some(picture) = material.picture {
                    match self.texel(material.uvs, picture) {
                        Some(texel) => color *= texel.truncate(),
                        None => return linear_from_srgb3(NO_DATA),
                    }
                }
                if !vertex_colors.is_empty() {
                    color *= self.blend(vertex_colors);
                }
                color
            }
        }
    }

    /// Light that a paint sends out of itself.
    fn glow(&self, paint: &LinearPaint<'_>) -> Vec3 {
        let LinearPaint::Material { material, .. } = paint else {
            return Vec3::ZERO;
        };
        let Some(glow) = &material.glow else {
            return Vec3::ZERO;
        };
        let texel = glow
            .picture
            .and_then(|picture| self.texel(glow.uvs, picture));
        Vec3::from_array(glow.color) * texel.map_or(Vec3::ONE, |texel| texel.truncate())
    }

    /// The normal that a map makes of a vertex normal, interpolated as it is; `None` where it has none.
    fn bent(&self, normal: Vec3, map: &NormalMap<'_>) -> Option<Vec3> {
        let texel = self.texel(map.uvs, map.picture)?.truncate() * 2.0 - 1.0;
        let [a, b, c] = self.corners.map(|vertex| map.tangents[vertex]);
        let tangent = a * self.weights.x + b * self.weights.y + c * self.weights.z;
        let along = tangent.truncate();
        if along.length_squared() < 1e-12 {
            return None;
        }
        // All corners of a triangle have one sign.
        let across = normal.cross(along) * tangent.w.signum();
        let bent =
            along * (texel.x * map.scale) + across * (texel.y * map.scale) + normal * texel.z;
        bent.try_normalize()
    }

    /// What a texture has here; `None` when a coordinate is not finite.
    fn texel(&self, uvs: &[Vec2], picture: &TexturePicture) -> Option<Vec4> {
        let footprint = self.footprint(uvs)?;
        let steps = footprint.steps.map(|step| step * footprint.side);
        Some(picture.sample(footprint.uv, steps))
    }

    /// The part of the texture below this triangle's part of the pixel; `None` when a coordinate is not finite.
    fn footprint(&self, uvs: &[Vec2]) -> Option<Footprint> {
        let uvs = self.corners.map(|vertex| uvs[vertex].as_dvec2());
        let side = f64::from(self.share).sqrt();
        Footprint::new(uvs, self.weights, &self.lines, self.at, side)
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
