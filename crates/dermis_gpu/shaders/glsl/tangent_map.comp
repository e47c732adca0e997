// Made from tangent_map.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: uniform block 0, _group_0_binding_0
//   texels: storage block 0, _group_0_binding_1
//   samples: storage block 1, _group_0_binding_2
//   normals: storage block 2, _group_0_binding_3
//   map: storage block 3, _group_0_binding_4
#version 450 core
#extension GL_ARB_compute_shader : require
#extension GL_ARB_shader_storage_buffer_object : require
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

struct Texels {
    uint count;
};
layout(std140, binding = 0) uniform Texels_block_0Compute { Texels _group_0_binding_0_cs; };

layout(std430, binding = 0) readonly buffer type_1_block_1Compute { uint _group_0_binding_1_cs[]; };

layout(std430, binding = 1) readonly buffer type_1_block_2Compute { uint _group_0_binding_2_cs[]; };

layout(std430, binding = 2) readonly buffer type_3_block_3Compute { float _group_0_binding_3_cs[]; };

layout(binding = 3,rgba8_snorm) writeonly uniform image2D _group_0_binding_4_cs;


vec3 unit(vec3 v) {
    float length_ = length(v);
    return ((length_ > 0.0) ? (v / vec3(length_)) : vec3(0.0));
}

vec3 normal_of_vertex(uint sample_1, uint corner) {
    uint _e8 = _group_0_binding_2_cs[((5u * sample_1) + corner)];
    uint first = (3u * _e8);
    float _e12 = _group_0_binding_3_cs[first];
    float _e17 = _group_0_binding_3_cs[(first + 1u)];
    float _e22 = _group_0_binding_3_cs[(first + 2u)];
    return vec3(_e12, _e17, _e22);
}

vec3 normal_of_sample(uint sample_2) {
    uint _e7 = _group_0_binding_2_cs[((5u * sample_2) + 3u)];
    float second = uintBitsToFloat(_e7);
    uint _e15 = _group_0_binding_2_cs[((5u * sample_2) + 4u)];
    float third = uintBitsToFloat(_e15);
    vec3 _e21 = normal_of_vertex(sample_2, 0u);
    vec3 _e24 = normal_of_vertex(sample_2, 1u);
    vec3 _e28 = normal_of_vertex(sample_2, 2u);
    vec3 _e31 = unit((((((1.0 - second) - third) * _e21) + (second * _e24)) + (third * _e28)));
    return _e31;
}

void main() {
    uvec3 id = gl_GlobalInvocationID;
    vec3 sum = vec3(0.0);
    uint sample_ = 0u;
    uint _e4 = _group_0_binding_0_cs.count;
    if ((id.x >= _e4)) {
        return;
    }
    uint place = _group_0_binding_1_cs[(2u * id.x)];
    uint _e21 = _group_0_binding_1_cs[((2u * id.x) + 1u)];
    sample_ = _e21;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e38 = sample_;
            sample_ = (_e38 + 1u);
        }
        loop_init = false;
        uint _e23 = sample_;
        uint _e31 = _group_0_binding_1_cs[((2u * id.x) + 3u)];
        if ((_e23 < _e31)) {
        } else {
            break;
        }
        {
            vec3 _e33 = sum;
            uint _e34 = sample_;
            vec3 _e35 = normal_of_sample(_e34);
            sum = (_e33 + _e35);
        }
    }
    vec3 _e46 = sum;
    vec3 _e47 = unit(_e46);
    imageStore(_group_0_binding_4_cs, ivec2(uvec2((place & 65535u), (place >> 16u))), vec4(_e47, 0.0));
    return;
}

