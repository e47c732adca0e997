// Where the instances of each level begin, and what to draw of each: one workgroup, one thread a level.
//
// binding        what                                      stride  written by
// 0 view         the camera, and what is asked             -       the program, every frame
// 1 levels       Level, fine to coarse                     16      the program, once
// 2 draws        level, corners, first corner              16      the program, once
// 3 groups       in: counts; out: instances before         4       crowd_choose.wgsl, and here
// 4 summary      per level: first instance, instances, those on the way, first matrix; then totals
//                                                          16      here
// 5 commands     indirect: workgroups of crowd_palettes.wgsl (3 and 1 of padding), shadows (4), draws (5 each)
//                                                          4       here

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

struct Level {
    error: f32,      // in model units
    morphs: u32,     // 1: its vertices know what they become in the next level
    first_bone: u32, // in the list of bones per level
    bones: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> levels: array<Level>;
@group(0) @binding(2) var<storage, read> draws: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> groups: array<u32>;
@group(0) @binding(4) var<storage, read_write> summary: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> commands: array<u32>;

// Workgroups along x; more go along y, since there may be 65,535 at most.
const WIDE = 32768u;
var<workgroup> totals: array<vec2u, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    let count = (view.instances + 63u) / 64u;
    if lane < view.levels {
        var before = vec2u(0u, 0u);
        for (var g = 0u; g < count; g++) {
            let own = groups[lane * count + g];
            groups[lane * count + g] = before.x;
            before += vec2u(own & 0xffffu, own >> 16u);
        }
        totals[lane] = before;
    }
    workgroupBarrier();
    if lane == 0u {
        var first = 0u;
        var matrices = 0u;
        for (var l = 0u; l < view.levels; l++) {
            summary[l] = vec4u(first, totals[l].x, totals[l].y, matrices);
            first += totals[l].x;
            matrices += totals[l].x * levels[l].bones;
        }
        summary[view.levels] = vec4u(first, 0u, 0u, matrices);
        let needed = (matrices + 63u) / 64u;
        commands[0] = min(needed, WIDE);
        commands[1] = (needed + WIDE - 1u) / WIDE;
        commands[2] = 1u;
        commands[4] = 6u;
        commands[5] = first;
        commands[6] = 0u;
        commands[7] = 0u;
    }
    for (var d = lane; d < arrayLength(&draws); d += 64u) {
        let at = 8u + 5u * d;
        commands[at] = draws[d].y;
        commands[at + 1u] = totals[draws[d].x].x;
        commands[at + 2u] = draws[d].z;
        commands[at + 3u] = 0u;
        commands[at + 4u] = 0u;
    }
}
