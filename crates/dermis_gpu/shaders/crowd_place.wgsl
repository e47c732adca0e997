// The instances that are drawn, by level and within a level by number: the same order in every run.
//
// binding        what                                    stride  written by
// 0 view         the camera, and what is asked           -       the program, every frame
// 1 choices      level, share of the way (bits)          8       crowd_choose.wgsl
// 2 groups       instances of a level before a workgroup 4       crowd_order.wgsl
// 3 summary      per level: first instance, ...          16      crowd_order.wgsl
// 4 drawn        instance, share of the way (bits)       8       here

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

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> choices: array<vec2u>;
@group(0) @binding(2) var<storage, read> groups: array<u32>;
@group(0) @binding(3) var<storage, read> summary: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> drawn: array<vec2u>;

const CULLED = 0xffffffffu;
var<workgroup> chosen: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32,
        @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u) {
    var choice = vec2u(CULLED, 0u);
    if id.x < view.instances { choice = choices[id.x]; }
    chosen[lane] = choice.x;
    workgroupBarrier();
    if choice.x == CULLED { return; }
    var at = summary[choice.x].x + groups[choice.x * all.x + group.x];
    for (var k = 0u; k < lane; k++) { at += select(0u, 1u, chosen[k] == choice.x); }
    drawn[at] = vec2u(id.x, choice.y);
}
