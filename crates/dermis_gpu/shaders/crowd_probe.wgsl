// Positions of one level's vertices on one drawn instance, after crowd_skin.wgsl: for tests and tools.
//
// binding        what                                    stride  written by
// 1 asked        row of drawn, first vertex, vertices, 0 -       the program
// 2 positions    x, y, z in model space, a vertex each   12      here

@group(0) @binding(1) var<uniform> asked: vec4u;
@group(0) @binding(2) var<storage, read_write> positions: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= asked.z { return; }
    let at = morphed(asked.y + id.x, asked.x).position;
    positions[3u * id.x] = at.x;
    positions[3u * id.x + 1u] = at.y;
    positions[3u * id.x + 2u] = at.z;
}
