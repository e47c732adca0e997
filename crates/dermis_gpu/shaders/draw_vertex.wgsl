// The vertices of a surface, pulled from storage buffers: corner `index` belongs to triangle `index / 3`.
//
// binding        what                                                 stride  written by
// 0.0 view       camera (and lights, which fragments read)            -       the program, for every picture
// 0.1 one        which part of the picture, and which sample          -       the program, for every sample
// 1.0 surface    what there is, and the look                          -       the program, for every surface
// 1.1 corners    the vertex of each corner                            4       the program
// 1.2 positions  three numbers a vertex                               12      the program, or skinning
// 1.3 normals    three numbers a vertex, of any length                12      the program, or skinning
// 1.4 uvs        two numbers a vertex, for one set after the other    8       the program
// 1.5 colors     linear; a number in the first place for heat maps    16      the program
// 1.6 tangents   direction and sign                                   16      the program

struct View { clip_from_world: mat4x4f, eye: vec4f }
struct Sample { scale: vec2f, shift: vec2f, to_center: vec2f, threshold: f32, unused: f32 }
struct Surface {
    color: vec4f, glow: vec4f, line: vec4f, numbers: vec4f,
    // Flags; then the first entries of the coordinates of colours, of bumps and of glow.
    which: vec4u,
}
const HAS_NORMALS = 1u;
const HAS_VERTEX_COLORS = 2u;
const HAS_TRIANGLE_COLORS = 4u;

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> one: Sample;
@group(1) @binding(0) var<uniform> surface: Surface;
@group(1) @binding(1) var<storage, read> corners: array<u32>;
@group(1) @binding(2) var<storage, read> positions: array<f32>;
@group(1) @binding(3) var<storage, read> normals: array<f32>;
@group(1) @binding(4) var<storage, read> uvs: array<vec2f>;
@group(1) @binding(5) var<storage, read> colors: array<vec4f>;
@group(1) @binding(6) var<storage, read> tangents: array<vec4f>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) color_and_bump_uv: vec4f,
    @location(4) glow_uv: vec2f,
    // Above 0 where a number of these is not finite: colour's coordinates, bumps', glow's, and the value of a heat map.
    @location(5) broken: vec4f,
    @location(6) tangent: vec4f,
    @location(7) @interpolate(linear) edges: vec3f,
    @location(8) @interpolate(flat) facet: vec3f,
}

// Compilers may take it that floats are finite, so look at their bits.
fn is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }
fn all_finite(v: vec3f) -> bool { return is_finite(v.x) && is_finite(v.y) && is_finite(v.z); }

fn position(vertex: u32) -> vec3f {
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

// A coordinate, and 1 where it is broken.
fn coordinate(place: u32) -> vec3f {
    if place >= arrayLength(&uvs) { return vec3f(0.0); }
    let uv = uvs[place];
    if is_finite(uv.x) && is_finite(uv.y) { return vec3f(uv, 0.0); }
    return vec3f(0.0, 0.0, 1.0);
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    let triangle = index / 3u;
    let own = corners[index];
    let a = position(corners[3u * triangle]);
    let b = position(corners[3u * triangle + 1u]);
    let c = position(corners[3u * triangle + 2u]);
    var out: Corner;
    out.facet = cross(b - a, c - a);
    out.world = position(own);
    let flags = surface.which.x;
    out.normal = out.facet;
    if (flags & HAS_NORMALS) != 0u { out.normal = vec3f(normals[3u * own], normals[3u * own + 1u], normals[3u * own + 2u]); }
    out.color = vec4f(1.0);
    if (flags & HAS_VERTEX_COLORS) != 0u { out.color = colors[own]; }
    if (flags & HAS_TRIANGLE_COLORS) != 0u { out.color = colors[triangle]; }
    let color_uv = coordinate(surface.which.y + own);
    let bump_uv = coordinate(surface.which.z + own);
    let glow_uv = coordinate(surface.which.w + own);
    out.color_and_bump_uv = vec4f(color_uv.xy, bump_uv.xy);
    out.glow_uv = glow_uv.xy;
    out.broken = vec4f(color_uv.z, bump_uv.z, glow_uv.z, select(1.0, 0.0, is_finite(out.color.x)));
    if out.broken.w > 0.0 { out.color = vec4f(0.0); }
    if own < arrayLength(&tangents) && all_finite(tangents[own].xyz) { out.tangent = tangents[own]; }
    out.edges = vec3f(f32(index % 3u == 0u), f32(index % 3u == 1u), f32(index % 3u == 2u));
    let clip = view.clip_from_world * vec4f(out.world, 1.0);
    out.clip = vec4f(clip.xy * one.scale + one.shift * clip.w, clip.zw);
    // A triangle with a corner that is nowhere has none of its corners in the picture.
    if !(all_finite(a) && all_finite(b) && all_finite(c)) { out.clip = vec4f(0.0, 0.0, -1.0, 1.0); }
    return out;
}
