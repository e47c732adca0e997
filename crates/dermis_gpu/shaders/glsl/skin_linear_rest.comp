// Made from skin_linear_rest.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
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

uint normal_planes = 3u;

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

vec4 corrected(vec4 p, uint block, uint lane_3, uint frame, uint k, uint bones) {
    vec4 sum = vec4(0.0);
    uint at = 0u;
    uint word = 0u;
    uint on = 0u;
    uint n_1 = 0u;
    sum = p;
    uint record_1 = _group_0_binding_3_cs[block];
    if ((record_1 == 0u)) {
        vec4 _e12 = sum;
        return _e12;
    }
    uint width = _group_0_binding_0_cs.correction_width;
    uint _e18 = correction_bits;
    uint _e23 = correction_bits;
    uint each = ((((width * bones) * _e18) / 2u) + uint((_e23 < 32u)));
    uint _e30 = _group_0_binding_0_cs.bit_words;
    at = (record_1 + _e30);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e105 = word;
            word = (_e105 + 1u);
        }
        loop_init = false;
        uint _e35 = word;
        uint _e38 = _group_0_binding_0_cs.bit_words;
        if ((_e35 < _e38)) {
        } else {
            break;
        }
        {
            uint _e41 = word;
            uint touched = _group_0_binding_3_cs[(record_1 + _e41)];
            uint _e46 = word;
            uint _e49 = _group_1_binding_1_cs[(frame + _e46)];
            on = (touched & _e49);
            bool loop_init_1 = true;
            while(true) {
                if (!loop_init_1) {
                    uint _e95 = on;
                    uint _e96 = on;
                    on = (_e95 & (_e96 - 1u));
                }
                loop_init_1 = false;
                uint _e52 = on;
                if ((_e52 != 0u)) {
                } else {
                    break;
                }
                {
                    uint _e55 = on;
                    uint bit = uint(findLSB(_e55));
                    uint _e60 = _group_0_binding_0_cs.bit_words;
                    uint _e63 = word;
                    uint _e68 = _group_1_binding_1_cs[(((frame + _e60) + (32u * _e63)) + bit)];
                    float c_2 = uintBitsToFloat(_e68);
                    uint _e70 = at;
                    uint own = (_e70 + (each * uint(bitCount((touched & ((1u << bit) - 1u))))));
                    n_1 = 0u;
                    bool loop_init_2 = true;
                    while(true) {
                        if (!loop_init_2) {
                            uint _e93 = n_1;
                            n_1 = (_e93 + 1u);
                        }
                        loop_init_2 = false;
                        uint _e81 = n_1;
                        if ((_e81 < width)) {
                        } else {
                            break;
                        }
                        {
                            uint _e83 = n_1;
                            float _e85 = sum[_e83];
                            uint _e87 = n_1;
                            float _e89 = displacement(own, ((width * k) + _e87), lane_3);
                            sum[_e83] = (_e85 + (c_2 * _e89));
                        }
                    }
                }
            }
            uint _e100 = at;
            at = (_e100 + (each * uint(bitCount(touched))));
        }
    }
    vec4 _e107 = sum;
    return _e107;
}

Posed posed(uint slot, uint instance) {
    vec3 position = vec3(0.0);
    mat3x3 m = mat3x3(0.0);
    uint at_1 = 0u;
    vec4 q = vec4(0.0);
    uint block_1 = (slot / 16u);
    uint lane_4 = (slot % 16u);
    uint begin = _group_0_binding_1_cs[block_1];
    uint end = _group_0_binding_1_cs[(block_1 + 1u)];
    uint _e19 = _group_0_binding_0_cs.first_bone;
    uint rest = ((3u * block_1) + (4u * (begin - _e19)));
    at_1 = begin;
    bool loop_init_3 = true;
    while(true) {
        if (!loop_init_3) {
            uint _e96 = at_1;
            at_1 = (_e96 + 1u);
        }
        loop_init_3 = false;
        uint _e28 = at_1;
        if ((_e28 < end)) {
        } else {
            break;
        }
        {
            uint _e33 = _group_0_binding_0_cs.bones;
            uint _e36 = at_1;
            uint _e38 = _group_0_binding_1_cs[_e36];
            uint row = (3u * ((_e33 * instance) + _e38));
            vec4 _e43 = _group_1_binding_0_cs[row];
            vec4 _e48 = _group_1_binding_0_cs[(row + 1u)];
            vec4 _e53 = _group_1_binding_0_cs[(row + 2u)];
            mat3x4 n_2 = mat3x4(_e43, _e48, _e53);
            uint _e58 = at_1;
            uint plane_3 = ((rest + 3u) + (4u * (_e58 - begin)));
            float _e64 = number((plane_3 + 3u), lane_4);
            vec3 _e65 = three(plane_3, lane_4);
            q = vec4(_e65, _e64);
            uint _e69 = correction_bits;
            if ((_e69 > 0u)) {
                vec4 _e72 = q;
                uint _e75 = _group_0_binding_0_cs.coefficient_words;
                uint _e77 = at_1;
                vec4 _e80 = corrected(_e72, block_1, lane_4, (_e75 * instance), (_e77 - begin), (end - begin));
                q = _e80;
            }
            vec3 _e81 = position;
            vec4 _e82 = q;
            position = (_e81 + (_e82 * n_2));
            mat3x3 _e85 = m;
            m = (_e85 + (_e64 * mat3x3(n_2[0].xyz, n_2[1].xyz, n_2[2].xyz)));
        }
    }
    vec3 _e98 = position;
    vec3 _e99 = three(rest, lane_4);
    vec3 _e101 = m[1];
    vec3 _e103 = m[2];
    vec3 _e106 = m[2];
    vec3 _e108 = m[0];
    vec3 _e111 = m[0];
    vec3 _e113 = m[1];
    vec3 _e117 = finished((_e99 * mat3x3(cross(_e101, _e103), cross(_e106, _e108), cross(_e111, _e113))));
    return Posed(_e98, _e117);
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
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e45 = c;
            c = (_e45 + 1u);
        }
        loop_init_4 = false;
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
    bool loop_init_5 = true;
    while(true) {
        if (!loop_init_5) {
            uint _e68 = c_1;
            c_1 = (_e68 + 1u);
        }
        loop_init_5 = false;
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

