// Made from skin_linear.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: register b0, space 0
//   blocks: register t1, space 0
//   planes: register t2, space 0
//   corrections: register t3, space 0
//   places: register t4, space 0
//   palette: register t0, space 1
//   coefficients: register t1, space 1
//   positions: register u0, space 2
//   normals: register u1, space 2
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

static bool sixteen_bits = false;
static uint correction_bits = 0u;
static uint normal_planes = 0u;
cbuffer info : register(b0) { Info info; }
ByteAddressBuffer blocks : register(t1);
ByteAddressBuffer planes : register(t2);
ByteAddressBuffer corrections : register(t3);
ByteAddressBuffer places : register(t4);
ByteAddressBuffer palette : register(t0, space1);
ByteAddressBuffer coefficients : register(t1, space1);
RWByteAddressBuffer positions : register(u0, space2);
RWByteAddressBuffer normals : register(u1, space2);

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

float4 four(uint plane_2, uint lane_2)
{
    const float3 _e2 = three(plane_2, lane_2);
    const float _e5 = number((plane_2 + 3u), lane_2);
    return float4(_e2, _e5);
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
float displacement(uint record, uint plane_3, uint lane_3)
{
    uint _e4 = correction_bits;
    if ((_e4 == 32u)) {
        uint _e13 = asuint(corrections.Load(((record + (16u * plane_3)) + lane_3)*4));
        return asfloat(_e13);
    }
    uint _e22 = correction_bits;
    uint word_2 = asuint(corrections.Load(((record + 1u) + naga_div((((16u * plane_3) + lane_3) * _e22), 32u))*4));
    uint _e31 = correction_bits;
    uint _e36 = correction_bits;
    int steps_1 = naga_extractBits(asint(word_2), naga_mod((lane_3 * _e31), 32u), _e36);
    uint _e40 = asuint(corrections.Load(record*4));
    return (asfloat(_e40) * float(steps_1));
}

float3 finished(float3 n)
{
    uint _e8 = info.unit_normals;
    return ((_e8 == 1u) ? (n * rsqrt(max(dot(n, n), 1e-30))) : n);
}

float4 corrected(float4 p, uint block, uint lane_4, uint frame, uint k, uint bones)
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
                    float c_2 = asfloat(_e68);
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
                            const float _e89 = displacement(own, ((width * k) + _e87), lane_4);
                            sum[min(uint(_e83), 3u)] = (_e85 + (c_2 * _e89));
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

Posed ZeroValuePosed() {
    return (Posed)0;
}

float3 ZeroValuefloat3() {
    return (float3)0;
}

Posed posed(uint slot, uint instance)
{
    Posed out_ = ZeroValuePosed();
    float3 second = ZeroValuefloat3();
    uint at_1 = (uint)0;
    float4 p_1 = (float4)0;
    bool local_2 = (bool)0;

    uint block_1 = naga_div(slot, 16u);
    uint lane_5 = naga_mod(slot, 16u);
    uint begin = asuint(blocks.Load(block_1*4));
    uint end = asuint(blocks.Load((block_1 + 1u)*4));
    at_1 = begin;
    uint2 loop_bound_3 = uint2(4294967295u, 4294967295u);
    bool loop_init_3 = true;
    while(true) {
        if (all(loop_bound_3 == uint2(0u, 0u))) { break; }
        loop_bound_3 -= uint2(loop_bound_3.y == 0u, 1u);
        if (!loop_init_3) {
            uint _e128 = at_1;
            at_1 = (_e128 + 1u);
        }
        loop_init_3 = false;
        uint _e19 = at_1;
        if ((_e19 < end)) {
        } else {
            break;
        }
        {
            uint _e24 = info.bones;
            uint _e27 = at_1;
            uint _e29 = asuint(blocks.Load(_e27*4));
            uint row = (3u * ((_e24 * instance) + _e29));
            float4 _e34 = asfloat(palette.Load4(row*16));
            float4 _e39 = asfloat(palette.Load4((row + 1u)*16));
            float4 _e44 = asfloat(palette.Load4((row + 2u)*16));
            float3x4 m = float3x4(_e34, _e39, _e44);
            uint _e48 = normal_planes;
            uint _e50 = at_1;
            uint _e53 = info.first_bone;
            uint plane_4 = ((4u + _e48) * (_e50 - _e53));
            const float4 _e56 = four(plane_4, lane_5);
            p_1 = _e56;
            uint _e59 = correction_bits;
            if ((_e59 > 0u)) {
                float4 _e62 = p_1;
                uint _e65 = info.coefficient_words;
                uint _e67 = at_1;
                const float4 _e70 = corrected(_e62, block_1, lane_5, (_e65 * instance), (_e67 - begin), (end - begin));
                p_1 = _e70;
            }
            float3 _e72 = out_.position;
            float4 _e73 = p_1;
            out_.position = (_e72 + mul(m, _e73));
            uint _e77 = normal_planes;
            if (!((_e77 == 3u))) {
                uint _e84 = normal_planes;
                local_2 = (_e84 == 6u);
            } else {
                local_2 = true;
            }
            bool _e88 = local_2;
            if (_e88) {
                float3 _e90 = out_.normal;
                const float3 _e93 = three((plane_4 + 4u), lane_5);
                out_.normal = (_e90 + mul(m, float4(_e93, 0.0)));
            }
            uint _e99 = normal_planes;
            if ((_e99 == 6u)) {
                float3 _e102 = second;
                const float3 _e105 = three((plane_4 + 7u), lane_5);
                second = (_e102 + mul(m, float4(_e105, 0.0)));
            }
            uint _e111 = normal_planes;
            if ((_e111 == 8u)) {
                float3 _e115 = out_.normal;
                const float4 _e118 = four((plane_4 + 4u), lane_5);
                out_.normal = (_e115 + mul(m, _e118));
                float3 _e121 = second;
                const float4 _e124 = four((plane_4 + 8u), lane_5);
                second = (_e121 + mul(m, _e124));
            }
        }
    }
    uint _e131 = normal_planes;
    if ((_e131 > 3u)) {
        float3 _e136 = out_.normal;
        float3 _e137 = second;
        out_.normal = cross(_e136, _e137);
    }
    float3 _e140 = out_.position;
    float3 _e142 = out_.normal;
    const float3 _e143 = finished(_e142);
    const Posed posed_1 = ConstructPosed(_e140, _e143);
    return posed_1;
}

[numthreads(64, 1, 1)]
void skin(uint3 id : SV_DispatchThreadID)
{
    bool local = (bool)0;
    uint c = 0u;
    uint c_1 = 0u;
    bool local_1 = (bool)0;

    uint _e4 = info.slots;
    if (!((id.x >= _e4))) {
        uint _e12 = asuint(places.Load(id.x*4));
        local = (_e12 == 4294967295u);
    } else {
        local = true;
    }
    bool _e16 = local;
    if (_e16) {
        return;
    }
    const Posed _e19 = posed(id.x, id.y);
    uint _e23 = info.vertices_;
    uint _e29 = asuint(places.Load(id.x*4));
    uint first = (3u * ((_e23 * id.y) + _e29));
    uint2 loop_bound_4 = uint2(4294967295u, 4294967295u);
    bool loop_init_4 = true;
    while(true) {
        if (all(loop_bound_4 == uint2(0u, 0u))) { break; }
        loop_bound_4 -= uint2(loop_bound_4.y == 0u, 1u);
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
            positions.Store((first + _e38)*4, asuint(_e19.position[min(uint(_e42), 2u)]));
        }
    }
    uint2 loop_bound_5 = uint2(4294967295u, 4294967295u);
    bool loop_init_5 = true;
    while(true) {
        if (all(loop_bound_5 == uint2(0u, 0u))) { break; }
        loop_bound_5 -= uint2(loop_bound_5.y == 0u, 1u);
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
            normals.Store((first + _e61)*4, asuint(_e19.normal[min(uint(_e65), 2u)]));
        }
    }
    return;
}
