// A soft dark disc under each instance that is drawn: a square of two triangles.
//
// binding        what                                    stride  written by
// 0 view         the camera, and what is asked           -       the program, every frame
// 1 scenery      which point it follows, how large       -       the program, every frame
// 2 drawn        instance, share of the way (bits)       8       crowd_place.wgsl
// 3 instances    Instance                                32      the program, once
// 4 palettes     three rows a matrix                     48      crowd_palettes.wgsl

struct View {
    clip_from_world: mat4x4f, // columns
    planes: array<vec4f, 6>,  // inside where dot(n, x) + d >= 0
    depth: vec4f,             // depth of x along the view: dot(n, x) + d
    ball: vec4f,              // of the character: centre, radius
    eye_time: vec4f,          // eye, seconds
    allowed_per_depth: f32,   // displacement that moves nothing by more than the pixels asked for, per depth
    slack: f32,               // added to radii
    morph_share: f32,         // the last part of a level in which vertices move to the next one
    forced_level: i32,        // -1: choose
    instances: u32,
    levels: u32,
    bones: u32,               // matrices from one palette to the next
    culling: u32,
}

struct Instance {
    place: vec3f,
    scale: f32,
    turn: vec2f, // cosine and sine of its angle about y
    clip: u32,
    ahead: f32,  // seconds
}

struct Scenery { world_from_clip: mat4x4f, ground: vec4f, horizon: vec4f, sky: vec4f, shadow: vec4f, anchor: vec4f }

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> scenery: Scenery;
@group(0) @binding(2) var<storage, read> drawn: array<vec2u>;
@group(0) @binding(3) var<storage, read> instances: array<Instance>;
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

struct Pixel { @builtin(position) clip: vec4f, @location(0) place: vec2f, @location(1) strength: f32 }

fn world_from_model(instance: Instance, point: vec3f) -> vec3f {
    let p = instance.scale * point;
    let t = instance.turn;
    return instance.place + vec3f(t.x * p.x + t.y * p.z, p.y, t.x * p.z - t.y * p.x);
}

@vertex
fn vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) row: u32) -> Pixel {
    let instance = instances[drawn[row].x];
    let m = (row * view.bones + u32(scenery.shadow.x)) * 3u;
    let a = scenery.anchor;
    let body = vec3f(dot(palettes[m], a), dot(palettes[m + 1u], a), dot(palettes[m + 2u], a));
    let middle = world_from_model(instance, body);
    // No disc leaves the ball that the instance is culled by.
    let center = world_from_model(instance, view.ball.xyz);
    let radius = instance.scale * view.ball.w;
    let reach = sqrt(max(radius * radius - center.y * center.y, 0.0)) - distance(center.xz, middle.xz);
    let wide = min(instance.scale * scenery.shadow.y, max(reach, 0.0));
    let place = vec2f(select(-1.0, 1.0, corner == 1u || corner == 2u || corner == 4u),
                      select(-1.0, 1.0, corner == 2u || corner == 4u || corner == 5u));
    let at = vec3f(middle.x + wide * place.x, 0.0, middle.z + wide * place.y);
    let away = exp(-distance(at, view.eye_time.xyz) / scenery.horizon.w);
    return Pixel(view.clip_from_world * vec4f(at, 1.0), place, scenery.shadow.z * away);
}

@fragment
fn fragment(in: Pixel) -> @location(0) vec4f {
    let inside = max(1.0 - dot(in.place, in.place), 0.0);
    return vec4f(0.0, 0.0, 0.0, in.strength * inside * inside);
}
