// Made from skin_linear_blend.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: uniform block 0, _group_0_binding_0
//   blocks: storage block 0, _group_0_binding_1
//   planes: storage block 1, _group_0_binding_2
//   corrections: storage block 2, _group_0_binding_3
//   places: storage block 3, _group_0_binding_4
//   palette: storage block 4, _group_1_binding_0
//   coefficients: storage block 5, _group_1_binding_1
//   positions: storage block 6, _group_2_binding_0
//   normals: storage block 7, _group_2_binding_1
#version 450 core
#extension GL_ARB_compute_shader : require
#extension GL_ARB_shader_storage_buffer_object : require
layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

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
bool sixteen_bits = false;

uint correction_bits = 0u;

uint normal_planes = 0u;

layout(std140, binding = 0) uniform Info_block_0Compute { Info _group_0_binding_0_cs; };

layout(std430, binding = 0) readonly buffer type_3_block_1Compute { uint _group_0_binding_1_cs[]; };

layout(std430, binding = 1) readonly buffer type_3_block_2Compute { uint _group_0_binding_2_cs[]; };

layout(std430, binding = 2) readonly buffer type_3_block_3Compute { uint _group_0_binding_3_cs[]; };

layout(std430, binding = 3) readonly buffer type_3_block_4Compute { uint _group_0_binding_4_cs[]; };

layout(std430, binding = 4) readonly buffer type_5_block_5Compute { vec4 _group_1_binding_0_cs[]; };

layout(std430, binding = 5) readonly buffer type_3_block_6Compute { uint _group_1_binding_1_cs[]; };

layout(std430, binding = 6) buffer type_7_block_7Compute { float _group_2_binding_0_cs[]; };

layout(std430, binding = 7) buffer type_7_block_8Compute { float _group_2_binding_1_cs[]; };


float number(uint plane, uint lane) {
    bool _e3 = sixteen_bits;
    if (!(_e3)) {
        uint _e10 = _group_0_binding_2_cs[((16u * plane) + lane)];
        return uintBitsToFloat(_e10);
    }
    uint word_1 = (10u * plane);
    uint _e19 = _group_0_binding_2_cs[(word_1 + (lane / 2u))];
    float steps = float(((_e19 >> (16u * (lane % 2u))) & 65535u));
    uint _e32 = _group_0_binding_2_cs[(word_1 + 8u)];
    uint _e38 = _group_0_binding_2_cs[(word_1 + 9u)];
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
        uint _e13 = _group_0_binding_3_cs[((record + (16u * plane_2)) + lane_2)];
        return uintBitsToFloat(_e13);
    }
    uint _e22 = correction_bits;
    uint word_2 = _group_0_binding_3_cs[((record + 1u) + ((((16u * plane_2) + lane_2) * _e22) / 32u))];
    uint _e31 = correction_bits;
    uint _e34 = ((lane_2 * _e31) % 32u);
    uint _e36 = correction_bits;
    int steps_1 = bitfieldExtract(int(word_2), int(min(_e34, 32u)), int(min(_e36, 32u - min(_e34, 32u))));
    uint _e40 = _group_0_binding_3_cs[record];
    return (uintBitsToFloat(_e40) * float(steps_1));
}

vec3 finished(vec3 n) {
    uint _e8 = _group_0_binding_0_cs.unit_normals;
    return ((_e8 == 1u) ? (n * inversesqrt(max(dot(n, n), 1e-30))) : n);
}

vec3 corrected(vec3 v, uint block, uint lane_3, uint frame) {
    vec3 sum = vec3(0.0);
    bool local_2 = false;
    uint at = 0u;
    uint word = 0u;
    uint on = 0u;
    sum = v;
    uint record_1 = _group_0_binding_3_cs[block];
    uint _e9 = correction_bits;
    if (!((_e9 == 0u))) {
        local_2 = (record_1 == 0u);
    } else {
        local_2 = true;
    }
    bool _e18 = local_2;
    if (_e18) {
        vec3 _e19 = sum;
        return _e19;
    }
    uint _e22 = correction_bits;
    uint _e27 = correction_bits;
    uint each = (((3u * _e22) / 2u) + uint((_e27 < 32u)));
    uint _e34 = _group_0_binding_0_cs.bit_words;
    at = (record_1 + _e34);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e103 = word;
            word = (_e103 + 1u);
        }
        loop_init = false;
        uint _e39 = word;
        uint _e42 = _group_0_binding_0_cs.bit_words;
        if ((_e39 < _e42)) {
        } else {
            break;
        }
        {
            uint _e45 = word;
            uint touched = _group_0_binding_3_cs[(record_1 + _e45)];
            uint _e50 = word;
            uint _e53 = _group_1_binding_1_cs[(frame + _e50)];
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
                    uint _e64 = _group_0_binding_0_cs.bit_words;
                    uint _e67 = word;
                    uint _e72 = _group_1_binding_1_cs[(((frame + _e64) + (32u * _e67)) + bit)];
                    float c_2 = uintBitsToFloat(_e72);
                    uint _e74 = at;
                    uint own = (_e74 + (each * uint(bitCount((touched & ((1u << bit) - 1u))))));
                    vec3 _e83 = sum;
                    float _e85 = displacement(own, 0u, lane_3);
                    float _e87 = displacement(own, 1u, lane_3);
                    float _e89 = displacement(own, 2u, lane_3);
                    sum = (_e83 + (c_2 * vec3(_e85, _e87, _e89)));
                }
            }
            uint _e98 = at;
            at = (_e98 + (each * uint(bitCount(touched))));
        }
    }
    vec3 _e105 = sum;
    return _e105;
}

Posed posed(uint slot, uint instance) {
    mat3x4 m = mat3x4(0.0);
    uint at_1 = 0u;
    uint block_1 = (slot / 16u);
    uint lane_4 = (slot % 16u);
    uint begin = _group_0_binding_1_cs[block_1];
    uint end = _group_0_binding_1_cs[(block_1 + 1u)];
    uint _e16 = normal_planes;
    uint fixed_ = (3u + _e16);
    uint _e22 = _group_0_binding_0_cs.first_bone;
    uint rest = (((fixed_ * block_1) + begin) - _e22);
    at_1 = begin;
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e63 = at_1;
            at_1 = (_e63 + 1u);
        }
        loop_init_2 = false;
        uint _e27 = at_1;
        if ((_e27 < end)) {
        } else {
            break;
        }
        {
            uint _e32 = _group_0_binding_0_cs.bones;
            uint _e35 = at_1;
            uint _e37 = _group_0_binding_1_cs[_e35];
            uint row = (3u * ((_e32 * instance) + _e37));
            uint _e41 = at_1;
            float _e44 = number((((rest + fixed_) + _e41) - begin), lane_4);
            mat3x4 _e45 = m;
            vec4 _e48 = _group_1_binding_0_cs[row];
            vec4 _e53 = _group_1_binding_0_cs[(row + 1u)];
            vec4 _e58 = _group_1_binding_0_cs[(row + 2u)];
            m = (_e45 + (_e44 * mat3x4(_e48, _e53, _e58)));
        }
    }
    vec3 _e65 = three(rest, lane_4);
    uint _e68 = _group_0_binding_0_cs.coefficient_words;
    vec3 _e70 = corrected(_e65, block_1, lane_4, (_e68 * instance));
    uint _e72 = normal_planes;
    if ((_e72 == 0u)) {
        mat3x4 _e77 = m;
        return Posed((vec4(_e70, 1.0) * _e77), vec3(0.0));
    }
    mat3x4 _e83 = m;
    vec3 _e87 = three((rest + 3u), lane_4);
    mat3x4 _e90 = m;
    vec3 _e92 = finished((vec4(_e87, 0.0) * _e90));
    return Posed((vec4(_e70, 1.0) * _e83), _e92);
}

void main() {
    uvec3 id = gl_GlobalInvocationID;
    bool local = false;
    uint c = 0u;
    uint c_1 = 0u;
    bool local_1 = false;
    uint _e4 = _group_0_binding_0_cs.slots;
    if (!((id.x >= _e4))) {
        uint _e12 = _group_0_binding_4_cs[id.x];
        local = (_e12 == 4294967295u);
    } else {
        local = true;
    }
    bool _e16 = local;
    if (_e16) {
        return;
    }
    Posed _e19 = posed(id.x, id.y);
    uint _e23 = _group_0_binding_0_cs.vertices;
    uint _e29 = _group_0_binding_4_cs[id.x];
    uint first = (3u * ((_e23 * id.y) + _e29));
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e45 = c;
            c = (_e45 + 1u);
        }
        loop_init_3 = false;
        uint _e34 = c;
        if ((_e34 < 3u)) {
        } else {
            break;
        }
        {
            uint _e38 = c;
            uint _e42 = c;
            _group_2_binding_0_cs[(first + _e38)] = _e19.position[_e42];
        }
    }
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e68 = c_1;
            c_1 = (_e68 + 1u);
        }
        loop_init_4 = false;
        uint _e49 = c_1;
        if ((_e49 < 3u)) {
            uint _e55 = normal_planes;
            local_1 = (_e55 > 0u);
        } else {
            local_1 = false;
        }
        bool _e59 = local_1;
        if (_e59) {
        } else {
            break;
        }
        {
            uint _e61 = c_1;
            uint _e65 = c_1;
            _group_2_binding_1_cs[(first + _e61)] = _e19.normal[_e65];
        }
    }
    return;
}

