// What is behind a crowd: ground that fades into the air, and sky. One triangle that covers the picture.
//
// binding        what                                    stride  written by
// 0 view         the camera, and what is asked           -       the program, every frame
// 1 scenery      the way back from the picture, colours  -       the program, every frame

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

struct Scenery {
    world_from_clip: mat4x4f, // at the far end of depth: directions
    ground: vec4f,            // linear colour; 0
    horizon: vec4f,           // linear colour; distance at which most is air
    sky: vec4f,               // linear colour overhead; 0
    shadow: vec4f,            // bone, radius, strength, 0
    anchor: vec4f,            // the point of that bone that shadows follow
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> scenery: Scenery;

struct Pixel { @builtin(position) clip: vec4f, @location(0) place: vec2f }

@vertex
fn vertex(@builtin(vertex_index) corner: u32) -> Pixel {
    let place = vec2f(f32(corner / 2u) * 4.0 - 1.0, f32(corner % 2u) * 4.0 - 1.0);
    return Pixel(vec4f(place, 1.0, 1.0), place);
}

@fragment
fn fragment(in: Pixel) -> @location(0) vec4f {
    let way = (scenery.world_from_clip * vec4f(in.place, 0.0, 1.0)).xyz;
    let up = normalize(way).y;
    if up >= 0.0 {
        return vec4f(mix(scenery.horizon.rgb, scenery.sky.rgb, 1.0 - exp(-3.0 * up)), 1.0);
    }
    // The ground is at y = 0.
    let distance = view.eye_time.y / -up;
    let clear = exp(-distance / scenery.horizon.w);
    return vec4f(mix(scenery.horizon.rgb, scenery.ground.rgb, clear), 1.0);
}
