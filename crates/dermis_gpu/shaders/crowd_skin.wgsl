// A vertex of a crowd, from the matrices of its own bones: crowd_draw.wgsl or crowd_probe.wgsl goes after it.
//
// binding        what                                    stride  written by
// 0 view         the camera, and what is asked           -       the program, every frame
// 1, 2           those of the shader that goes after it
// 3 drawn        instance, share of the way (bits)       8       crowd_place.wgsl
// 4 instances    Instance                                32      the program, once
// 5 palettes     three rows a matrix                     48      crowd_palettes.wgsl
// 6 bones        place of the bone in a palette, an influence each
//                                                        4       the program, once
// 7 fixed        fixed_numbers a vertex: x, y, z and normal of a linear blend skin
//                                                        4       the program, once
// 8 of_bones     bone_numbers an influence: a weight; or x, y, z, w and a normal in animation space
//                                                        4       the program, once
// 9 vertices     u, v (bits), the vertex that it becomes, its first influence
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
@group(0) @binding(6) var<storage, read> bones: array<u32>;
@group(0) @binding(7) var<storage, read> fixed: array<f32>;
@group(0) @binding(8) var<storage, read> of_bones: array<f32>;
@group(0) @binding(9) var<storage, read> vertices: array<vec4u>;

// 6 for linear blend, 0 for animation space.
override fixed_numbers: u32;
// 1 for linear blend, 7 for animation space.
override bone_numbers: u32;

struct Posed { position: vec3f, normal: vec3f, uv: vec2f }

fn posed(vertex: u32, palette: u32) -> Posed {
    var rest = vec4f(0.0, 0.0, 0.0, 1.0);
    var turned = vec3f(0.0);
    if fixed_numbers > 0u {
        let at = fixed_numbers * vertex;
        rest = vec4f(fixed[at], fixed[at + 1u], fixed[at + 2u], 1.0);
        turned = vec3f(fixed[at + 3u], fixed[at + 4u], fixed[at + 5u]);
    }
    var position = vec3f(0.0);
    var normal = vec3f(0.0);
    for (var k = vertices[vertex].w; k < vertices[vertex + 1u].w; k++) {
        let m = (palette + bones[k]) * 3u;
        let at = bone_numbers * k;
        var p = of_bones[at] * rest;
        var n = of_bones[at] * turned;
        if fixed_numbers == 0u {
            p = vec4f(of_bones[at], of_bones[at + 1u], of_bones[at + 2u], of_bones[at + 3u]);
            n = vec3f(of_bones[at + 4u], of_bones[at + 5u], of_bones[at + 6u]);
        }
        position += vec3f(dot(palettes[m], p), dot(palettes[m + 1u], p), dot(palettes[m + 2u], p));
        normal += vec3f(dot(palettes[m].xyz, n), dot(palettes[m + 1u].xyz, n), dot(palettes[m + 2u].xyz, n));
    }
    return Posed(position, normal, bitcast<vec2f>(vertices[vertex].xy));
}

// A vertex of a drawn instance, on its way to the next level.
fn morphed(vertex: u32, row: u32) -> Posed {
    var own = posed(vertex, row * view.bones);
    let share = bitcast<f32>(drawn[row].y);
    if share > 0.0 {
        let goal = posed(vertices[vertex].z, row * view.bones);
        own.position = mix(own.position, goal.position, share);
        own.normal = mix(own.normal, goal.normal, share);
        own.uv = mix(own.uv, goal.uv, share);
    }
    return own;
}
