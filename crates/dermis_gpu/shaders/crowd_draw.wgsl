// Draws one level of a crowd, after crowd_skin.wgsl.
//
// binding        what                                    stride  written by
// 0.1 draw       which level, and its look               -       the program, once
// 0.2 summary    per level: first instance, ...          16      crowd_order.wgsl
// 1.0 lights     dermis_render::Lights, and the air      -       the program, every frame
// 1.1 picture    base colours                            -       the program, once
// 1.2 smooth     how the picture is read                 -       the program, once

struct Draw { color: vec4f, level: u32, cutoff: f32, unused: vec2f }

// The last number of each vector is another one of dermis_render::Lights.
struct Lights {
    up_knee: vec4f, key_wrap: vec4f, fill_wrap: vec4f, below_curve: vec4f, above_curve: vec4f,
    key_glint: vec4f, fill_power: vec4f, rim_gloss: vec4f, air_distance: vec4f, ground_backface: vec4f,
}

@group(0) @binding(1) var<uniform> draw: Draw;
@group(0) @binding(2) var<storage, read> summary: array<vec4u>;
@group(1) @binding(0) var<uniform> lights: Lights;
@group(1) @binding(1) var picture: texture_2d<f32>;
@group(1) @binding(2) var smooth_sampler: sampler;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) number_of_vertex: u32, @builtin(instance_index) number: u32) -> Corner {
    let row = summary[draw.level].x + number;
    let instance = instances[drawn[row].x];
    let own = morphed(number_of_vertex, row);
    let p = instance.scale * own.position;
    let n = own.normal;
    let t = instance.turn;
    var out: Corner;
    out.world = instance.place + vec3f(t.x * p.x + t.y * p.z, p.y, t.x * p.z - t.y * p.x);
    out.normal = vec3f(t.x * n.x + t.y * n.z, n.y, t.x * n.z - t.y * n.x);
    out.clip = view.clip_from_world * vec4f(out.world, 1.0);
    out.uv = own.uv;
    return out;
}

// dermis_render::Lights::reflect, without evening out.
fn reflected(color: vec3f, n: vec3f, v: vec3f) -> vec3f {
    let facing = clamp(dot(n, v), 0.0, 1.0);
    let above = 0.5 + 0.5 * dot(n, lights.up_knee.xyz);
    let around = mix(lights.below_curve.xyz, lights.above_curve.xyz, above);
    let k = max((dot(n, lights.key_wrap.xyz) + lights.key_wrap.w) / (1.0 + lights.key_wrap.w), 0.0);
    let key = lights.key_glint.xyz * (k * (lights.below_curve.w + lights.above_curve.w * k));
    let f = max((dot(n, lights.fill_wrap.xyz) + lights.fill_wrap.w) / (1.0 + lights.fill_wrap.w), 0.0);
    let fill = lights.fill_power.xyz * (f * f);
    let edge = (1.0 - facing) * (1.0 - facing);
    let rim = lights.rim_gloss.xyz * (edge * edge * above);
    let half_way = lights.key_wrap.xyz + v;
    let h = half_way / max(length(half_way), 1e-6);
    let glint = pow(max(dot(n, h), 1e-6), lights.fill_power.w) * lights.key_glint.w;
    let light = color * (around + key + fill + rim) + rim * lights.rim_gloss.w + glint;
    let room = 1.0 - lights.up_knee.w;
    return select(1.0 - room * exp(-(light - lights.up_knee.w) / room), light, light <= vec3f(lights.up_knee.w));
}

@fragment
fn fragment(in: Corner, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let base = draw.color * textureSample(picture, smooth_sampler, in.uv);
    if base.a < draw.cutoff { discard; }
    let away = view.eye_time.xyz - in.world;
    let distance = length(away);
    let outside = normalize(in.normal);
    let n = select(-outside, outside, front);
    var light = reflected(base.rgb, n, away / distance) * select(lights.ground_backface.w, 1.0, front);
    // Air: what is far takes on the colour of the horizon.
    let clear = exp(-distance / lights.air_distance.w);
    return vec4f(mix(lights.air_distance.xyz, light, clear), 1.0);
}
