// Matrices for the instances that are drawn: one thread a bone that the level of an instance uses.
//
// binding        what                                    stride  written by
// 0 view         the camera, and what is asked           -       the program, every frame
// 1 instances    Instance                                32      the program, once
// 2 drawn        instance, share of the way (bits)       8       crowd_place.wgsl
// 3 summary      per level: first instance, instances, those on the way, first matrix; then totals
//                                                        16      crowd_order.wgsl
// 4 levels       Level, fine to coarse                   16      the program, once
// 5 clips        first step, steps, seconds (bits), 0    16      the program, once
// 6 bones        places of the bones of each level       4       the program, once
// 7 steps        three rows a matrix, a matrix a bone, so many a step
//                                                        48      the program, once
// 8 palettes     the same, for each instance drawn       48      here

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
@group(0) @binding(2) var<storage, read> drawn: array<vec2u>;
@group(0) @binding(3) var<storage, read> summary: array<vec4u>;
@group(0) @binding(4) var<storage, read> levels: array<Level>;
@group(0) @binding(5) var<storage, read> clips: array<vec4u>;
@group(0) @binding(6) var<storage, read> bones: array<u32>;
@group(0) @binding(7) var<storage, read> steps: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> palettes: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u,
        @builtin(local_invocation_index) lane: u32) {
    let task = (group.y * all.x + group.x) * 64u + lane;
    if task >= summary[view.levels].w { return; }
    var level = view.levels - 1u;
    while level > 0u && summary[level].w > task { level--; }
    let own = levels[level];
    let local = task - summary[level].w;
    let row = summary[level].x + local / own.bones;
    let bone = bones[own.first_bone + local % own.bones];

    let instance = instances[drawn[row].x];
    let clip = clips[instance.clip];
    let turns = (view.eye_time.w + instance.ahead) / bitcast<f32>(clip.z);
    let along = (turns - floor(turns)) * f32(clip.y - 1u);
    let step = min(u32(along), clip.y - 2u);
    let share = along - f32(step);
    let from_step = ((clip.x + step) * view.bones + bone) * 3u;
    let to_step = from_step + view.bones * 3u;
    let out = (row * view.bones + bone) * 3u;
    for (var k = 0u; k < 3u; k++) {
        let a = steps[from_step + k];
        palettes[out + k] = a + share * (steps[to_step + k] - a);
    }
}
