// Made from skin_vertex_linear_rest.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: register b0, space 0
//   blocks: register t1, space 0
//   planes: register t2, space 0
//   corrections: register t3, space 0
//   slots: register t4, space 0
//   palette: register t0, space 1
//   coefficients: register t1, space 1
//   clip_from_model: register b0, space 2
struct Info {
    uint slots;
    uint vertices_;
    uint bones;
    uint first_bone;
    uint bit_words;
    uint coefficient_words;
    uint correction_width;
    uint unit_normals;
};

struct Posed {
    float3 position;
    int _pad1_0;
    float3 normal;
    int _end_pad_0;
};

struct Shown {
    float4 clip_ : SV_Position;
    float3 position : LOC0;
    float3 normal : LOC1;
};

static bool sixteen_bits = false;
static uint correction_bits = 0u;
static uint normal_planes = 3u;
cbuffer info : register(b0) { Info info; }
ByteAddressBuffer blocks : register(t1);
ByteAddressBuffer planes : register(t2);
ByteAddressBuffer corrections : register(t3);
ByteAddressBuffer slots : register(t4);
ByteAddressBuffer palette : register(t0, space1);
ByteAddressBuffer coefficients : register(t1, space1);
cbuffer clip_from_model : register(b0, space2) { row_major float4x4 clip_from_model; }

struct VertexOutput_vertex {
    float3 position_1 : LOC0;
    float3 normal : LOC1;
    float4 clip_ : SV_Position;
};

uint naga_div(uint lhs, uint rhs) {
    return lhs / (rhs == 0u ? 1u : rhs);
}

uint naga_mod(uint lhs, uint rhs) {
    return lhs % (rhs == 0u ? 1u : rhs);
}

float number(uint plane, uint lane)
{
    bool _e3 = sixteen_bits;
    if (!(_e3)) {
        uint _e10 = asuint(planes.Load(((16u * plane) + lane)*4));
        return asfloat(_e10);
    }
    uint word_1 = (10u * plane);
    uint _e19 = asuint(planes.Load((word_1 + naga_div(lane, 2u))*4));
    float steps = float(((_e19 >> (16u * naga_mod(lane, 2u))) & 65535u));
    uint _e32 = asuint(planes.Load((word_1 + 8u)*4));
    uint _e38 = asuint(planes.Load((word_1 + 9u)*4));
    return (asfloat(_e32) + (asfloat(_e38) * steps));
}

float3 three(uint plane_1, uint lane_1)
{
    const float _e2 = number(plane_1, lane_1);
    const float _e5 = number((plane_1 + 1u), lane_1);
    const float _e8 = number((plane_1 + 2u), lane_1);
    return float3(_e2, _e5, _e8);
}

int naga_extractBits(
    int e,
    uint offset,
    uint count
) {
    uint w = 32;
    uint o = min(offset, w);
    uint c = min(count, w - o);
    return (c == 0 ? 0 : (e << (w - c - o)) >> (w - c));
}
float displacement(uint record, uint plane_2, uint lane_2)
{
    uint _e4 = correction_bits;
    if ((_e4 == 32u)) {
        uint _e13 = asuint(corrections.Load(((record + (16u * plane_2)) + lane_2)*4));
        return asfloat(_e13);
    }
    uint _e22 = correction_bits;
    uint word_2 = asuint(corrections.Load(((record + 1u) + naga_div((((16u * plane_2) + lane_2) * _e22), 32u))*4));
    uint _e31 = correction_bits;
    uint _e36 = correction_bits;
    int steps_1 = naga_extractBits(asint(word_2), naga_mod((lane_2 * _e31), 32u), _e36);
    uint _e40 = asuint(corrections.Load(record*4));
    return (asfloat(_e40) * float(steps_1));
}

float3 finished(float3 n)
{
    uint _e8 = info.unit_normals;
    return ((_e8 == 1u) ? (n * rsqrt(max(dot(n, n), 1e-30))) : n);
}

float4 corrected(float4 p, uint block, uint lane_3, uint frame, uint k, uint bones)
{
    float4 sum = (float4)0;
    uint at = (uint)0;
    uint word = 0u;
    uint on = (uint)0;
    uint n_1 = (uint)0;

    sum = p;
    uint record_1 = asuint(corrections.Load(block*4));
    if ((record_1 == 0u)) {
        float4 _e12 = sum;
        return _e12;
    }
    uint width = info.correction_width;
    uint _e18 = correction_bits;
    uint _e23 = correction_bits;
    uint each = (naga_div(((width * bones) * _e18), 2u) + uint((_e23 < 32u)));
    uint _e30 = info.bit_words;
    at = (record_1 + _e30);
    uint2 loop_bound = uint2(4294967295u, 4294967295u);
    bool loop_init = true;
    while(true) {
        if (all(loop_bound == uint2(0u, 0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e105 = word;
            word = (_e105 + 1u);
        }
        loop_init = false;
        uint _e35 = word;
        uint _e38 = info.bit_words;
        if ((_e35 < _e38)) {
        } else {
            break;
        }
        {
            uint _e41 = word;
            uint touched = asuint(corrections.Load((record_1 + _e41)*4));
            uint _e46 = word;
            uint _e49 = asuint(coefficients.Load((frame + _e46)*4));
            on = (touched & _e49);
            uint2 loop_bound_1 = uint2(4294967295u, 4294967295u);
            bool loop_init_1 = true;
            while(true) {
                if (all(loop_bound_1 == uint2(0u, 0u))) { break; }
                loop_bound_1 -= uint2(loop_bound_1.y == 0u, 1u);
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
                    uint bit = firstbitlow(_e55);
                    uint _e60 = info.bit_words;
                    uint _e63 = word;
                    uint _e68 = asuint(coefficients.Load((((frame + _e60) + (32u * _e63)) + bit)*4));
                    float c = asfloat(_e68);
                    uint _e70 = at;
                    uint own = (_e70 + (each * countbits((touched & ((1u << bit) - 1u)))));
                    n_1 = 0u;
                    uint2 loop_bound_2 = uint2(4294967295u, 4294967295u);
                    bool loop_init_2 = true;
                    while(true) {
                        if (all(loop_bound_2 == uint2(0u, 0u))) { break; }
                        loop_bound_2 -= uint2(loop_bound_2.y == 0u, 1u);
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
                            float _e85 = sum[min(uint(_e83), 3u)];
                            uint _e87 = n_1;
                            const float _e89 = displacement(own, ((width * k) + _e87), lane_3);
                            sum[min(uint(_e83), 3u)] = (_e85 + (c * _e89));
                        }
                    }
                }
            }
            uint _e100 = at;
            at = (_e100 + (each * countbits(touched)));
        }
    }
    float4 _e107 = sum;
    return _e107;
}

Posed ConstructPosed(float3 arg0, float3 arg1) {
    Posed ret = (Posed)0;
    ret.position = arg0;
    ret.normal = arg1;
    return ret;
}

float3 ZeroValuefloat3() {
    return (float3)0;
}

float3x3 ZeroValuefloat3x3() {
    return (float3x3)0;
}

Posed posed(uint slot, uint instance_1)
{
    float3 position = ZeroValuefloat3();
    float3x3 m = ZeroValuefloat3x3();
    uint at_1 = (uint)0;
    float4 q = (float4)0;

    uint block_1 = naga_div(slot, 16u);
    uint lane_4 = naga_mod(slot, 16u);
    uint begin = asuint(blocks.Load(block_1*4));
    uint end = asuint(blocks.Load((block_1 + 1u)*4));
    uint _e19 = info.first_bone;
    uint rest = ((3u * block_1) + (4u * (begin - _e19)));
    at_1 = begin;
    uint2 loop_bound_3 = uint2(4294967295u, 4294967295u);
    bool loop_init_3 = true;
    while(true) {
        if (all(loop_bound_3 == uint2(0u, 0u))) { break; }
        loop_bound_3 -= uint2(loop_bound_3.y == 0u, 1u);
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
            uint _e33 = info.bones;
            uint _e36 = at_1;
            uint _e38 = asuint(blocks.Load(_e36*4));
            uint row = (3u * ((_e33 * instance_1) + _e38));
            float4 _e43 = asfloat(palette.Load4(row*16));
            float4 _e48 = asfloat(palette.Load4((row + 1u)*16));
            float4 _e53 = asfloat(palette.Load4((row + 2u)*16));
            float3x4 n_2 = float3x4(_e43, _e48, _e53);
            uint _e58 = at_1;
            uint plane_3 = ((rest + 3u) + (4u * (_e58 - begin)));
            const float _e64 = number((plane_3 + 3u), lane_4);
            const float3 _e65 = three(plane_3, lane_4);
            q = float4(_e65, _e64);
            uint _e69 = correction_bits;
            if ((_e69 > 0u)) {
                float4 _e72 = q;
                uint _e75 = info.coefficient_words;
                uint _e77 = at_1;
                const float4 _e80 = corrected(_e72, block_1, lane_4, (_e75 * instance_1), (_e77 - begin), (end - begin));
                q = _e80;
            }
            float3 _e81 = position;
            float4 _e82 = q;
            position = (_e81 + mul(n_2, _e82));
            float3x3 _e85 = m;
            m = (_e85 + mul(float3x3(n_2[0].xyz, n_2[1].xyz, n_2[2].xyz), _e64));
        }
    }
    float3 _e98 = position;
    const float3 _e99 = three(rest, lane_4);
    float3 _e101 = m[1];
    float3 _e103 = m[2];
    float3 _e106 = m[2];
    float3 _e108 = m[0];
    float3 _e111 = m[0];
    float3 _e113 = m[1];
    const float3 _e117 = finished(mul(float3x3(cross(_e101, _e103), cross(_e106, _e108), cross(_e111, _e113)), _e99));
    const Posed posed_1 = ConstructPosed(_e98, _e117);
    return posed_1;
}

Shown ConstructShown(float4 arg0, float3 arg1, float3 arg2) {
    Shown ret = (Shown)0;
    ret.clip_ = arg0;
    ret.position = arg1;
    ret.normal = arg2;
    return ret;
}

VertexOutput_vertex vertex(uint vertex_1 : SV_VertexID, uint instance : SV_InstanceID)
{
    uint _e4 = asuint(slots.Load(vertex_1*4));
    const Posed _e5 = posed(_e4, instance);
    float4x4 _e7 = clip_from_model;
    const Shown shown = ConstructShown(mul(float4(_e5.position, 1.0), _e7), _e5.position, _e5.normal);
    const VertexOutput_vertex shown_1 = { shown.position, shown.normal, shown.clip_ };
    return shown_1;
}
