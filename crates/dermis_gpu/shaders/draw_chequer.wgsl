// What one sample of a pixel shows of a chequerboard that texture coordinates lay over a surface, averaged over the sample's
// part of the pixel, a quarter along each side.
//
// binding        what                                                 stride  written by
// 0.0 view       camera and lights                                    -       the program, for every picture
// 1.0 surface    the two colours; lines; their width, and squares along one unit   -   the program, for every surface

struct View {
    clip_from_world: mat4x4f,
    // The eye and 1; or, without perspective, the direction towards it and 0.
    eye: vec4f,
    // dermis_render::Lights, with another of its numbers in the last place of each.
    up_knee: vec4f, key_wrap: vec4f, fill_wrap: vec4f, below_curve: vec4f, above_curve: vec4f,
    key_glint: vec4f, fill_power: vec4f, rim_gloss: vec4f, even_backface: vec4f,
}
struct Surface { color: vec4f, glow: vec4f, line: vec4f, numbers: vec4f, which: vec4u }
const IS_UNLIT = 64u;
const HAS_LINES = 128u;
const NO_DATA = vec3f(0.26327, 0.28465, 0.31855);

@group(0) @binding(0) var<uniform> view: View;
@group(1) @binding(0) var<uniform> surface: Surface;

struct Corner {
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec4f,
    @location(3) color_and_bump_uv: vec4f,
    @location(4) glow_uv: vec2f,
    @location(5) broken: vec4f,
    @location(6) tangent: vec4f,
    @location(7) @interpolate(linear) edges: vec3f,
    @location(8) @interpolate(flat) facet: vec3f,
}

// dermis_render::Lights::reflect.
fn reflected(color: vec3f, even: f32, n: vec3f, v: vec3f) -> vec3f {
    let facing = clamp(dot(n, v), 0.0, 1.0);
    let above = 0.5 + 0.5 * dot(n, view.up_knee.xyz);
    let around = mix(view.below_curve.xyz, view.above_curve.xyz, above);
    let k = max((dot(n, view.key_wrap.xyz) + view.key_wrap.w) / (1.0 + view.key_wrap.w), 0.0);
    let key = view.key_glint.xyz * (k * (view.below_curve.w + view.above_curve.w * k));
    let f = max((dot(n, view.fill_wrap.xyz) + view.fill_wrap.w) / (1.0 + view.fill_wrap.w), 0.0);
    let rim = view.rim_gloss.xyz * (pow(1.0 - facing, 4.0) * above);
    let half_way = view.key_wrap.xyz + v;
    let h = half_way / max(length(half_way), 1e-6);
    let glint = pow(max(dot(n, h), 1e-6), view.fill_power.w) * view.key_glint.w * (1.0 - even);
    let diffuse = mix(around + key + view.fill_power.xyz * (f * f) + rim, vec3f(1.0), even);
    let light = color * diffuse + rim * (view.rim_gloss.w * (1.0 - even)) + glint;
    let room = 1.0 - view.up_knee.w;
    return select(1.0 - room * exp((view.up_knee.w - light) / room), light, light <= vec3f(view.up_knee.w));
}

// How much of its lines a sample shows. The weights of the corners are linear across the picture here.
fn lines(edges: vec3f) -> f32 {
    let right = dpdx(edges);
    let down = dpdy(edges);
    let away = abs(edges) / sqrt(right * right + down * down);
    return clamp(0.5 * surface.numbers.y + 0.5 - min(away.x, min(away.y, away.z)), 0.0, 1.0) * surface.line.w;
}

// The integral of the wave that is 1 from 0 to 1 and -1 from 1 to 2.
fn wave(x: vec2f) -> vec2f { return 1.0 - abs(x - 2.0 * floor(0.5 * x) - 1.0); }

// How much of the part the first colour covers; squares near the size of a pixel fade.
fn share(uv: vec2f, right: vec2f, down: vec2f) -> f32 {
    let place = uv * surface.numbers.z;
    let extent = sqrt(right * right + down * down) * surface.numbers.z;
    let width = max(0.25 * extent, vec2f(1e-4));
    let mean = clamp((wave(place + 0.5 * width) - wave(place - 0.5 * width)) / width, vec2f(-1.0), vec2f(1.0));
    let both = mean * (1.0 - smoothstep(vec2f(0.5), vec2f(1.0), extent));
    return 0.5 + 0.5 * both.x * both.y;
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4f {
    let flags = surface.which.x;
    let line = select(0.0, lines(in.edges), (flags & HAS_LINES) != 0u);
    let right = dpdx(in.color_and_bump_uv.xy);
    let down = dpdy(in.color_and_bump_uv.xy);
    var color = mix(surface.glow.rgb, surface.color.rgb, share(in.color_and_bump_uv.xy, right, down)) * in.color.rgb;
    if in.broken.x > 0.0 { color = NO_DATA; }
    color = mix(color, surface.line.rgb, line);
    if (flags & IS_UNLIT) != 0u { return vec4f(color, 1.0); }
    let viewer = normalize(select(view.eye.xyz, view.eye.xyz - in.world, view.eye.w > 0.0));
    let facet = normalize(in.facet);
    let normal = select(facet, normalize(in.normal), dot(in.normal, in.normal) > 0.0);
    let is_inside = dot(normal, facet) * dot(facet, viewer) < 0.0;
    let light = reflected(color, 0.0, select(normal, -normal, is_inside), viewer);
    return vec4f(light * select(1.0, surface.numbers.w, is_inside), 1.0);
}
