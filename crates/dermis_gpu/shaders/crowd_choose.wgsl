// Which instances a camera may see, and with which level: one thread an instance.
//
// binding        what                             stride  written by
// 0 view         the camera, and what is asked    -       the program, every frame
// 1 instances    Instance                         32      the program, once
// 2 levels       Level, fine to coarse            16      the program, once
// 3 choices      level, share of the way (bits)   8       here; level CULLED for none
// 4 groups       per level and workgroup: how     4       here; crowd_order.wgsl makes sums of them
//                many, and above 16 bits how many on the way

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

struct Level {
    error: f32,      // in model units
    morphs: u32,     // 1: its vertices know what they become in the next level
    first_bone: u32, // in the list of bones per level
    bones: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> instances: array<Instance>;
@group(0) @binding(2) var<storage, read> levels: array<Level>;
@group(0) @binding(3) var<storage, read_write> choices: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> groups: array<u32>;

const CULLED = 0xffffffffu;
var<workgroup> counts: array<atomic<u32>, 64>;

fn world_from_model(instance: Instance, point: vec3f) -> vec3f {
    let p = instance.scale * point;
    let t = instance.turn;
    return instance.place + vec3f(t.x * p.x + t.y * p.z, p.y, t.x * p.z - t.y * p.x);
}

// How far vertices have moved towards the next level.
fn share_of(level: u32, allowed: f32) -> f32 {
    if levels[level].morphs == 0u || view.morph_share <= 0.0 { return 0.0; }
    let own = levels[level].error;
    let next = levels[level + 1u].error;
    if next <= own { return 0.0; }
    let between = clamp((allowed - own) / (next - own), 0.0, 1.0);
    return max((between - (1.0 - view.morph_share)) / view.morph_share, 0.0);
}

fn choose(instance: Instance) -> vec2u {
    let center = world_from_model(instance, view.ball.xyz);
    let radius = instance.scale * view.ball.w + view.slack;
    if view.culling == 1u {
        for (var k = 0u; k < 6u; k++) {
            if dot(view.planes[k].xyz, center) + view.planes[k].w < -radius { return vec2u(CULLED, 0u); }
        }
    }
    if view.forced_level >= 0 { return vec2u(u32(view.forced_level), 0u); }
    let depth = max(dot(view.depth.xyz, center) + view.depth.w - radius, 0.0);
    let allowed = depth * view.allowed_per_depth / instance.scale;
    var level = view.levels - 1u;
    while level > 0u && levels[level].error > allowed { level--; }
    return vec2u(level, bitcast<u32>(share_of(level, allowed)));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32,
        @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u) {
    if id.x < view.instances {
        let choice = choose(instances[id.x]);
        choices[id.x] = choice;
        if choice.x != CULLED {
            atomicAdd(&counts[choice.x], select(1u, 0x10001u, bitcast<f32>(choice.y) > 0.0));
        }
    }
    workgroupBarrier();
    if lane < view.levels { groups[lane * all.x + group.x] = atomicLoad(&counts[lane]); }
}
