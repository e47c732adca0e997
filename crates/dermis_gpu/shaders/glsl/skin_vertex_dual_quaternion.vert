// Made from skin_vertex_dual_quaternion.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: uniform block 0, _group_0_binding_0
//   blocks: storage block 0, _group_0_binding_1
//   planes: storage block 1, _group_0_binding_2
//   corrections: storage block 2, _group_0_binding_3
//   slots: storage block 3, _group_0_binding_4
//   palette: storage block 4, _group_1_binding_0
//   coefficients: storage block 5, _group_1_binding_1
//   clip_from_model: uniform block 1, _group_2_binding_0
#version 450 core
#extension GL_ARB_shader_storage_buffer_object : require
uniform uint naga_vs_first_instance;

struct Info {
    uint slots;
    uint vertices;
    uint bones;
    uint first_bone;
    uint bit_words;
    uint coefficient_words;
    uint correction_width;
    uint unit_normals;
};
struct Posed {
    vec3 position;
    vec3 normal;
};
struct Shown {
    vec4 clip;
    vec3 position;
    vec3 normal;
};
bool sixteen_bits = false;

uint correction_bits = 0u;

uint normal_planes = 0u;

layout(std140, binding = 0) uniform Info_block_0Vertex { Info _group_0_binding_0_vs; };

layout(std430, binding = 0) readonly buffer type_4_block_1Vertex { uint _group_0_binding_1_vs[]; };

layout(std430, binding = 1) readonly buffer type_4_block_2Vertex { uint _group_0_binding_2_vs[]; };

layout(std430, binding = 2) readonly buffer type_4_block_3Vertex { uint _group_0_binding_3_vs[]; };

layout(std430, binding = 3) readonly buffer type_4_block_4Vertex { uint _group_0_binding_4_vs[]; };

layout(std430, binding = 4) readonly buffer type_5_block_5Vertex { vec4 _group_1_binding_0_vs[]; };

layout(std430, binding = 5) readonly buffer type_4_block_6Vertex { uint _group_1_binding_1_vs[]; };

layout(std140, binding = 1) uniform type_6_block_7Vertex { mat4x4 _group_2_binding_0_vs; };

layout(location = 0) smooth out vec3 _vs2fs_location0;
layout(location = 1) smooth out vec3 _vs2fs_location1;

float number(uint plane, uint lane) {
    bool _e3 = sixteen_bits;
    if (!(_e3)) {
        uint _e10 = _group_0_binding_2_vs[((16u * plane) + lane)];
        return uintBitsToFloat(_e10);
    }
    uint word_1 = (10u * plane);
    uint _e19 = _group_0_binding_2_vs[(word_1 + (lane / 2u))];
    float steps = float(((_e19 >> (16u * (lane % 2u))) & 65535u));
    uint _e32 = _group_0_binding_2_vs[(word_1 + 8u)];
    uint _e38 = _group_0_binding_2_vs[(word_1 + 9u)];
    return (uintBitsToFloat(_e32) + (uintBitsToFloat(_e38) * steps));
}

vec3 three(uint plane_1, uint lane_1) {
    float _e2 = number(plane_1, lane_1);
    float _e5 = number((plane_1 + 1u), lane_1);
    float _e8 = number((plane_1 + 2u), lane_1);
    return vec3(_e2, _e5, _e8);
}

float displacement(uint record, uint plane_2, uint lane_2) {
    uint _e4 = correction_bits;
    if ((_e4 == 32u)) {
        uint _e13 = _group_0_binding_3_vs[((record + (16u * plane_2)) + lane_2)];
        return uintBitsToFloat(_e13);
    }
    uint _e22 = correction_bits;
    uint word_2 = _group_0_binding_3_vs[((record + 1u) + ((((16u * plane_2) + lane_2) * _e22) / 32u))];
    uint _e31 = correction_bits;
    uint _e34 = ((lane_2 * _e31) % 32u);
    uint _e36 = correction_bits;
    int steps_1 = bitfieldExtract(int(word_2), int(min(_e34, 32u)), int(min(_e36, 32u - min(_e34, 32u))));
    uint _e40 = _group_0_binding_3_vs[record];
    return (uintBitsToFloat(_e40) * float(steps_1));
}

vec3 finished(vec3 n) {
    uint _e8 = _group_0_binding_0_vs.unit_normals;
    return ((_e8 == 1u) ? (n * inversesqrt(max(dot(n, n), 1e-30))) : n);
}

vec3 corrected(vec3 v, uint block, uint lane_3, uint frame) {
    vec3 sum = vec3(0.0);
    bool local = false;
    uint at = 0u;
    uint word = 0u;
    uint on = 0u;
    sum = v;
    uint record_1 = _group_0_binding_3_vs[block];
    uint _e9 = correction_bits;
    if (!((_e9 == 0u))) {
        local = (record_1 == 0u);
    } else {
        local = true;
    }
    bool _e18 = local;
    if (_e18) {
        vec3 _e19 = sum;
        return _e19;
    }
    uint _e22 = correction_bits;
    uint _e27 = correction_bits;
    uint each = (((3u * _e22) / 2u) + uint((_e27 < 32u)));
    uint _e34 = _group_0_binding_0_vs.bit_words;
    at = (record_1 + _e34);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e103 = word;
            word = (_e103 + 1u);
        }
        loop_init = false;
        uint _e39 = word;
        uint _e42 = _group_0_binding_0_vs.bit_words;
        if ((_e39 < _e42)) {
        } else {
            break;
        }
        {
            uint _e45 = word;
            uint touched = _group_0_binding_3_vs[(record_1 + _e45)];
            uint _e50 = word;
            uint _e53 = _group_1_binding_1_vs[(frame + _e50)];
            on = (touched & _e53);
            bool loop_init_1 = true;
            while(true) {
                if (!loop_init_1) {
                    uint _e93 = on;
                    uint _e94 = on;
                    on = (_e93 & (_e94 - 1u));
                }
                loop_init_1 = false;
                uint _e56 = on;
                if ((_e56 != 0u)) {
                } else {
                    break;
                }
                {
                    uint _e59 = on;
                    uint bit = uint(findLSB(_e59));
                    uint _e64 = _group_0_binding_0_vs.bit_words;
                    uint _e67 = word;
                    uint _e72 = _group_1_binding_1_vs[(((frame + _e64) + (32u * _e67)) + bit)];
                    float c = uintBitsToFloat(_e72);
                    uint _e74 = at;
                    uint own = (_e74 + (each * uint(bitCount((touched & ((1u << bit) - 1u))))));
                    vec3 _e83 = sum;
                    float _e85 = displacement(own, 0u, lane_3);
                    float _e87 = displacement(own, 1u, lane_3);
                    float _e89 = displacement(own, 2u, lane_3);
                    sum = (_e83 + (c * vec3(_e85, _e87, _e89)));
                }
            }
            uint _e98 = at;
            at = (_e98 + (each * uint(bitCount(touched))));
        }
    }
    vec3 _e105 = sum;
    return _e105;
}

vec3 turned(vec4 r, vec3 v_1, vec3 start) {
    return (v_1 + ((2.0 / dot(r, r)) * (cross(r.xyz, (cross(r.xyz, v_1) + (r.w * v_1))) + start)));
}

Posed posed(uint slot, uint instance_1) {
    mat2x4 q = mat2x4(0.0);
    uint at_1 = 0u;
    uint block_1 = (slot / 16u);
    uint lane_4 = (slot % 16u);
    uint begin = _group_0_binding_1_vs[block_1];
    uint end = _group_0_binding_1_vs[(block_1 + 1u)];
    if ((begin == end)) {
        return Posed(vec3(0.0), vec3(0.0));
    }
    uint _e18 = normal_planes;
    uint _e24 = _group_0_binding_0_vs.first_bone;
    uint rest = ((((3u + _e18) * block_1) + begin) - _e24);
    uint _e30 = _group_0_binding_0_vs.bones;
    uint _e34 = _group_0_binding_1_vs[begin];
    vec4 pivot = _group_1_binding_0_vs[(3u * ((_e30 * instance_1) + _e34))];
    at_1 = begin;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e85 = at_1;
            at_1 = (_e85 + 1u);
        }
        loop_init_2 = false;
        uint _e42 = at_1;
        if ((_e42 < end)) {
        } else {
            break;
        }
        {
            uint _e47 = _group_0_binding_0_vs.bones;
            uint _e50 = at_1;
            uint _e52 = _group_0_binding_1_vs[_e50];
            uint row = (3u * ((_e47 * instance_1) + _e52));
            uint _e58 = normal_planes;
            uint _e60 = at_1;
            float _e63 = number(((((rest + 3u) + _e58) + _e60) - begin), lane_4);
            mat2x4 _e64 = q;
            vec4 _e68 = _group_1_binding_0_vs[row];
            vec4 _e75 = _group_1_binding_0_vs[row];
            vec4 _e80 = _group_1_binding_0_vs[(row + 1u)];
            q = (_e64 + (((dot(pivot, _e68) < 0.0) ? -(_e63) : _e63) * mat2x4(_e75, _e80)));
        }
    }
    vec3 _e87 = three(rest, lane_4);
    uint _e90 = _group_0_binding_0_vs.coefficient_words;
    vec3 _e92 = corrected(_e87, block_1, lane_4, (_e90 * instance_1));
    vec4 _e94 = q[0];
    vec4 _e96 = q[0];
    vec4 _e99 = q[1];
    float _e104 = q[0][3];
    vec4 _e106 = q[1];
    float _e112 = q[1][3];
    vec4 _e114 = q[0];
    vec3 _e118 = turned(_e94, _e92, ((cross(_e96.xyz, _e99.xyz) + (_e104 * _e106.xyz)) - (_e112 * _e114.xyz)));
    uint _e120 = normal_planes;
    if ((_e120 == 0u)) {
        return Posed(_e118, vec3(0.0));
    }
    vec4 _e126 = q[0];
    vec3 _e129 = three((rest + 3u), lane_4);
    vec3 _e131 = turned(_e126, _e129, vec3(0.0));
    vec3 _e132 = finished(_e131);
    return Posed(_e118, _e132);
}

void main() {
    uint vertex_1 = uint(gl_VertexID);
    uint instance = (uint(gl_InstanceID) + naga_vs_first_instance);
    uint _e4 = _group_0_binding_4_vs[vertex_1];
    Posed _e5 = posed(_e4, instance);
    mat4x4 _e7 = _group_2_binding_0_vs;
    Shown _tmp_return = Shown((_e7 * vec4(_e5.position, 1.0)), _e5.position, _e5.normal);
    gl_Position = _tmp_return.clip;
    _vs2fs_location0 = _tmp_return.position;
    _vs2fs_location1 = _tmp_return.normal;
    return;
}

