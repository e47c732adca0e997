// A vertex of a crowd, from the matrices of its own bones: crowd_draw.wgsl or crowd_probe.wgsl goes after it.
//
// binding        what                                    stride  written by
// 0 view         the camera, and what is asked           -       the program, every frame
// 1, 2           those of the shader that goes after it
// 3 drawn        instance, share of the way (bits)       8       crowd_place.wgsl
// 4 instances    Instance                                32      the program, once
// 5 palettes     three rows a matrix                     48      crowd_palettes.wgsl
// 6 starts       of each block of sixteen vertices: its first bone
//                                                        4       the program, once
// 7 bones        place of the bone in a palette          4       the program, once
// 8 planes       the numbers of dermis::run::PackedBlock, sixteen a plane
//                                                        4       the program, once
// 9 vertices     u, v (bits), the slot that it becomes, 0
//                                                        16      the program, once

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

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(3) var<storage, read> drawn: array<vec2u>;
@group(0) @binding(4) var<storage, read> instances: array<Instance>;
@group(0) @binding(5) var<storage, read> palettes: array<vec4f>;
@group(0) @binding(6) var<storage, read> starts: array<u32>;
@group(0) @binding(7) var<storage, read> bones: array<u32>;
@group(0) @binding(8) var<storage, read> planes: array<f32>;
@group(0) @binding(9) var<storage, read> vertices: array<vec4u>;

// Planes of a block before those of its bones: 6 for linear blend, 0 for animation space.
override fixed_planes: u32;
// Planes of each bone: 1 weight; or 4 of a position and 3 of a normal.
override bone_planes: u32;

struct Posed { position: vec3f, normal: vec3f, uv: vec2f }

fn four(at: u32) -> vec4f { return vec4f(planes[at], planes[at + 16u], planes[at + 32u], planes[at + 48u]); }
fn three(at: u32) -> vec3f { return vec3f(planes[at], planes[at + 16u], planes[at + 32u]); }

fn posed(slot: u32, palette: u32) -> Posed {
    let block = slot / 16u;
    var at = (fixed_planes * block + bone_planes * starts[block]) * 16u + slot % 16u;
    var rest = vec4f(0.0, 0.0, 0.0, 1.0);
    var turned = vec3f(0.0);
    if fixed_planes > 0u {
        rest = vec4f(three(at), 1.0);
        turned = three(at + 48u);
        at += fixed_planes * 16u;
    }
    var position = vec3f(0.0);
    var normal = vec3f(0.0);
    for (var k = starts[block]; k < starts[block + 1u]; k++) {
        let m = (palette + bones[k]) * 3u;
        var p: vec4f;
        var n: vec3f;
        if fixed_planes > 0u { p = planes[at] * rest; n = planes[at] * turned; }
        else { p = four(at); n = three(at + 64u); }
        position += vec3f(dot(palettes[m], p), dot(palettes[m + 1u], p), dot(palettes[m + 2u], p));
        normal += vec3f(dot(palettes[m].xyz, n), dot(palettes[m + 1u].xyz, n), dot(palettes[m + 2u].xyz, n));
        at += bone_planes * 16u;
    }
    return Posed(position, normal, bitcast<vec2f>(vertices[slot].xy));
}

// A vertex of a drawn instance, on its way to the next level.
fn morphed(slot: u32, row: u32) -> Posed {
    var own = posed(slot, row * view.bones);
    let share = bitcast<f32>(drawn[row].y);
    if share > 0.0 {
        let goal = posed(vertices[slot].z, row * view.bones);
        own.position = mix(own.position, goal.position, share);
        own.normal = mix(own.normal, goal.normal, share);
        own.uv = mix(own.uv, goal.uv, share);
    }
    return own;
}
