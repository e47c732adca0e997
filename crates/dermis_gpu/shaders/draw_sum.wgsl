// Adds one sample of every pixel to the mean of all samples.
//
// binding        what                                                 stride  written by
// 0.0 tile       width and height of the part that is drawn           -       the program, for every part
// 0.1 picture    light and coverage of one sample of every pixel      -       the shaders that draw surfaces
// 0.2 sums       light and coverage of every pixel, row by row        16      this shader; zeros at first

struct Tile { size: vec2u, share: f32, unused: u32 }

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4f>;

@compute @workgroup_size(8, 8)
fn sum(@builtin(global_invocation_id) pixel: vec3u) {
    if any(pixel.xy >= tile.size) { return; }
    sums[pixel.y * tile.size.x + pixel.x] += textureLoad(picture, pixel.xy, 0) * tile.share;
}
