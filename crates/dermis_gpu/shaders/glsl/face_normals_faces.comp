// Made from face_normals.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: uniform block 0, _group_0_binding_0
//   triangles: storage block 0, _group_0_binding_1
//   around: storage block 1, _group_0_binding_2
//   positions: storage block 2, _group_0_binding_3
//   face_normals: storage block 3, _group_0_binding_4
//   normals: storage block 4, _group_0_binding_5
#version 450 core
#extension GL_ARB_compute_shader : require
#extension GL_ARB_shader_storage_buffer_object : require
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

struct Faces {
    uint triangles;
    uint vertices;
};
layout(std140, binding = 0) uniform Faces_block_0Compute { Faces _group_0_binding_0_cs; };

layout(std430, binding = 0) readonly buffer type_1_block_1Compute { uint _group_0_binding_1_cs[]; };

layout(std430, binding = 2) readonly buffer type_3_block_2Compute { float _group_0_binding_3_cs[]; };

layout(std430, binding = 3) buffer type_3_block_3Compute { float _group_0_binding_4_cs[]; };


vec3 corner(uint triangle, uint k) {
    uint _e8 = _group_0_binding_1_cs[((3u * triangle) + k)];
    uint first = (3u * _e8);
    float _e12 = _group_0_binding_3_cs[first];
    float _e17 = _group_0_binding_3_cs[(first + 1u)];
    float _e22 = _group_0_binding_3_cs[(first + 2u)];
    return vec3(_e12, _e17, _e22);
}

void main() {
    uvec3 id = gl_GlobalInvocationID;
    uint c = 0u;
    uint _e4 = _group_0_binding_0_cs.triangles;
    if ((id.x >= _e4)) {
        return;
    }
    vec3 _e8 = corner(id.x, 0u);
    vec3 _e11 = corner(id.x, 1u);
    vec3 _e15 = corner(id.x, 2u);
    vec3 normal_1 = cross((_e11 - _e8), (_e15 - _e8));
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e33 = c;
            c = (_e33 + 1u);
        }
        loop_init = false;
        uint _e20 = c;
        if ((_e20 < 3u)) {
        } else {
            break;
        }
        {
            uint _e27 = c;
            uint _e30 = c;
            _group_0_binding_4_cs[((3u * id.x) + _e27)] = normal_1[_e30];
        }
    }
    return;
}

