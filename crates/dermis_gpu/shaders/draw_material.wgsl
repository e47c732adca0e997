// What one sample of a pixel shows of a surface with a material: colours, textures, bumps, glow and holes.
//
// binding        what                                                 stride  written by
// 0.0 view       camera and lights                                    -       the program, for every picture
// 0.1 one        which part of the picture, and which sample          -       the program, for every sample
// 1.0 surface    colour, opacity; glow, strength of bumps; lines; opacity of holes, width of lines, first threshold, light inside
// 2.0 to 2.5     textures of colour, bumps and glow, each before how it is read

struct View {
    clip_from_world: mat4x4f,
    // The eye and 1, or in parallel projection the direction to it and 0; dermis_render::Lights, two of its numbers in each.
    eye: vec4f,
    up_knee: vec4f, key_wrap: vec4f, fill_wrap: vec4f, below_curve: vec4f, above_curve: vec4f,
    key_glint: vec4f, fill_power: vec4f, rim_gloss: vec4f, even_backface: vec4f,
}
struct Sample { scale: vec2f, shift: vec2f, to_center: vec2f, threshold: f32, unused: f32 }
struct Surface { color: vec4f, glow: vec4f, line: vec4f, numbers: vec4f, which: vec4u }
const HAS_COLORS = 8u; const HAS_BUMPS = 16u; const HAS_GLOW = 32u; const IS_UNLIT = 64u;
const HAS_LINES = 128u; const HAS_HOLES = 256u; const IS_OUTER_ONLY = 512u; const IS_BLENDED = 1024u;
const NO_DATA = vec3f(0.26327, 0.28465, 0.31855);

@group(0) @binding(0) var<uniform> view: View; @group(0) @binding(1) var<uniform> one: Sample;
@group(1) @binding(0) var<uniform> surface: Surface;
@group(2) @binding(0) var colors: texture_2d<f32>; @group(2) @binding(1) var color_sampler: sampler;
@group(2) @binding(2) var bumps: texture_2d<f32>; @group(2) @binding(3) var bump_sampler: sampler;
@group(2) @binding(4) var glows: texture_2d<f32>; @group(2) @binding(5) var glow_sampler: sampler;

struct Corner {
    @location(0) world: vec3f, @location(1) normal: vec3f, @location(2) color: vec4f,
    @location(3) color_and_bump_uv: vec4f, @location(4) glow_uv: vec2f, @location(5) broken: vec4f,
    @location(6) tangent: vec4f, @location(7) @interpolate(linear) edges: vec3f, @location(8) @interpolate(flat) facet: vec3f,
}
// dermis_render::Lights::reflect.
fn reflected(color: vec3f, even: f32, n: vec3f, v: vec3f) -> vec3f {
    let facing = clamp(dot(n, v), 0.0, 1.0); let above = 0.5 + 0.5 * dot(n, view.up_knee.xyz);
    let around = mix(view.below_curve.xyz, view.above_curve.xyz, above);
    let k = max((dot(n, view.key_wrap.xyz) + view.key_wrap.w) / (1.0 + view.key_wrap.w), 0.0);
    let key = view.key_glint.xyz * (k * (view.below_curve.w + view.above_curve.w * k));
    let f = max((dot(n, view.fill_wrap.xyz) + view.fill_wrap.w) / (1.0 + view.fill_wrap.w), 0.0);
    let rim = view.rim_gloss.xyz * (pow(1.0 - facing, 4.0) * above);
    let h = (view.key_wrap.xyz + v) / max(length(view.key_wrap.xyz + v), 1e-6);
    let glint = pow(max(dot(n, h), 1e-6), view.fill_power.w) * view.key_glint.w * (1.0 - even);
    let diffuse = mix(around + key + view.fill_power.xyz * (f * f) + rim, vec3f(1.0), even);
    let light = color * diffuse + rim * (view.rim_gloss.w * (1.0 - even)) + glint;
    let room = 1.0 - view.up_knee.w;
    return select(1.0 - room * exp((view.up_knee.w - light) / room), light, light <= vec3f(view.up_knee.w));
}
// How much of its lines a sample shows. The weights of the corners are linear across the picture here.
fn lines(edges: vec3f) -> f32 {
    let right = dpdx(edges); let down = dpdy(edges);
    let away = abs(edges) / sqrt(right * right + down * down);
    return clamp(0.5 * surface.numbers.y + 0.5 - min(away.x, min(away.y, away.z)), 0.0, 1.0) * surface.line.w;
}

// A texture as a share of the pixel sees it: from near by where the sample is, from afar, where it is soft, in the middle.
fn texel(picture: texture_2d<f32>, how: sampler, uv: vec2f, right: vec2f, down: vec2f, share: f32) -> vec4f {
    let size = vec2f(textureDimensions(picture)) * share;
    let longest = max(length(right * size), length(down * size));
    let to_middle = select(0.0, clamp(2.0 * longest - 1.0, 0.0, 1.0), share == 1.0);
    let place = uv + (right * one.to_center.x + down * one.to_center.y) * to_middle;
    return textureSampleLevel(picture, how, place, log2(max(1.0, longest)));
}

@fragment
fn fragment(in: Corner, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let flags = surface.which.x;
    let right = dpdx(in.color_and_bump_uv); let down = dpdy(in.color_and_bump_uv);
    let glow_right = dpdx(in.glow_uv); let glow_down = dpdy(in.glow_uv);
    let line = select(0.0, lines(in.edges), (flags & HAS_LINES) != 0u);
    var color = surface.color.rgb * in.color.rgb; var opacity = surface.color.a;
    if (flags & HAS_COLORS) != 0u {
        color *= texel(colors, color_sampler, in.color_and_bump_uv.xy, right.xy, down.xy, 1.0).rgb;
        if in.broken.x > 0.0 { color = NO_DATA; }
        if (flags & HAS_HOLES) != 0u && in.broken.x == 0.0 {
            opacity *= texel(colors, color_sampler, in.color_and_bump_uv.xy, right.xy, down.xy, 0.25).a;
        }
    }
    let mixed = fract((one.threshold + surface.numbers.z + select(3.5, 0.5, is_front)) / 16.0);
    let is_hole = (flags & HAS_HOLES) != 0u && opacity < select(surface.numbers.x, mixed, (flags & IS_BLENDED) != 0u);
    if is_hole || ((flags & IS_OUTER_ONLY) != 0u && !is_front) { discard; }
    color = mix(color, surface.line.rgb, line);
    if (flags & IS_UNLIT) != 0u { return vec4f(color, 1.0); }
    var glow = surface.glow.rgb * (1.0 - line);
    if (flags & HAS_GLOW) != 0u && in.broken.z == 0.0 {
        glow *= texel(glows, glow_sampler, in.glow_uv, glow_right, glow_down, 1.0).rgb;
    }
    let viewer = normalize(select(view.eye.xyz, view.eye.xyz - in.world, view.eye.w > 0.0));
    let facet = normalize(in.facet);
    var normal = select(facet, normalize(in.normal), dot(in.normal, in.normal) > 0.0);
    let is_inside = dot(normal, facet) * dot(facet, viewer) < 0.0;
    if (flags & HAS_BUMPS) != 0u && in.broken.y == 0.0 && dot(in.tangent.xyz, in.tangent.xyz) > 1e-12 {
        let slope = texel(bumps, bump_sampler, in.color_and_bump_uv.zw, right.zw, down.zw, 1.0).xyz * 2.0 - 1.0;
        let across = cross(in.normal, in.tangent.xyz) * sign(in.tangent.w);
        let bent = (in.tangent.xyz * slope.x + across * slope.y) * surface.glow.w + in.normal * slope.z;
        normal = select(normal, normalize(bent), dot(bent, bent) > 0.0);
    }
    let light = reflected(color, 0.0, select(normal, -normal, is_inside), viewer) * select(1.0, surface.numbers.w, is_inside);
    return vec4f(light + glow, 1.0);
}
