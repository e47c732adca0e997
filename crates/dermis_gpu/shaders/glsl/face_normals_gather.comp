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

layout(std430, binding = 1) readonly buffer type_1_block_1Compute { uint _group_0_binding_2_cs[]; };

layout(std430, binding = 3) buffer type_3_block_2Compute { float _group_0_binding_4_cs[]; };

layout(std430, binding = 4) buffer type_3_block_3Compute { float _group_0_binding_5_cs[]; };


void main() {
    uvec3 id_1 = gl_GlobalInvocationID;
    vec3 sum = vec3(0.0);
    uint at = 0u;
    vec3 normal = vec3(0.0);
    bool local = false;
    uint c_1 = 0u;
    uint _e4 = _group_0_binding_0_cs.vertices;
    if ((id_1.x >= _e4)) {
        return;
    }
    uint _e11 = _group_0_binding_2_cs[id_1.x];
    at = _e11;
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e44 = at;
            at = (_e44 + 1u);
        }
        loop_init = false;
        uint _e13 = at;
        uint _e19 = _group_0_binding_2_cs[(id_1.x + 1u)];
        if ((_e13 < _e19)) {
        } else {
            break;
        }
        {
            uint _e23 = at;
            uint _e25 = _group_0_binding_2_cs[_e23];
            uint first = (3u * _e25);
            vec3 _e27 = sum;
            float _e30 = _group_0_binding_4_cs[first];
            float _e35 = _group_0_binding_4_cs[(first + 1u)];
            float _e40 = _group_0_binding_4_cs[(first + 2u)];
            sum = (_e27 + vec3(_e30, _e35, _e40));
        }
    }
    float _e47 = sum.x;
    float _e50 = sum.y;
    float _e54 = sum.z;
    float size = max(max(abs(_e47), abs(_e50)), abs(_e54));
    if ((size > 0.0)) {
        local = (size <= 3.4e38);
    } else {
        local = false;
    }
    bool _e66 = local;
    if (_e66) {
        vec3 _e67 = sum;
        normal = normalize((_e67 / vec3(size)));
    }
    bool loop_init_1 = true;
    while(true) {
        if (!loop_init_1) {
            uint _e87 = c_1;
            c_1 = (_e87 + 1u);
        }
        loop_init_1 = false;
        uint _e73 = c_1;
        if ((_e73 < 3u)) {
        } else {
            break;
        }
        {
            uint _e80 = c_1;
            uint _e83 = c_1;
            float _e85 = normal[_e83];
            _group_0_binding_5_cs[((3u * id_1.x) + _e80)] = _e85;
        }
    }
    return;
}

