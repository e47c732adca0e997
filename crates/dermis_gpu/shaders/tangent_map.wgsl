// Normals of texels in any pose: each texel shows points of a detailed surface, whose vertices have been posed before.
// A level of detail that wears the picture is shaded like the detailed surface, wrinkles that come and go included.
// One invocation a texel. Buffers: README.md of dermis_gpu.

struct Texels { count: u32 }

@group(0) @binding(0) var<uniform> info: Texels;
@group(0) @binding(1) var<storage, read> texels: array<u32>;
@group(0) @binding(2) var<storage, read> samples: array<u32>;
@group(0) @binding(3) var<storage, read> normals: array<f32>;
@group(0) @binding(4) var map: texture_storage_2d<rgba8snorm, write>;

// Of length 1, or zero where there is no direction.
fn unit(v: vec3f) -> vec3f {
    let length = length(v);
    return select(vec3f(), v / length, length > 0.0);
}

fn normal_of_vertex(sample: u32, corner: u32) -> vec3f {
    let first = 3u * samples[5u * sample + corner];
    return vec3f(normals[first], normals[first + 1u], normals[first + 2u]);
}

// The normal at a sample: three vertices, and the weights of the second and third.
fn normal_of_sample(sample: u32) -> vec3f {
    let second = bitcast<f32>(samples[5u * sample + 3u]);
    let third = bitcast<f32>(samples[5u * sample + 4u]);
    return unit((1.0 - second - third) * normal_of_vertex(sample, 0u)
        + second * normal_of_vertex(sample, 1u) + third * normal_of_vertex(sample, 2u));
}

@compute @workgroup_size(64)
fn tangent_map(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= info.count { return; }
    let place = texels[2u * id.x];
    var sum = vec3f();
    for (var sample = texels[2u * id.x + 1u]; sample < texels[2u * id.x + 3u]; sample++) {
        sum += normal_of_sample(sample);
    }
    textureStore(map, vec2u(place & 0xffffu, place >> 16u), vec4f(unit(sum), 0.0));
}
