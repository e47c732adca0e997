// Made from skin_linear_blend.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
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

float3 corrected(float3 v, uint block, uint lane_3, uint frame)
{
    float3 sum = (float3)0;
    bool local_2 = (bool)0;
    uint at = (uint)0;
    uint word = 0u;
    uint on = (uint)0;

    sum = v;
    uint record_1 = asuint(corrections.Load(block*4));
    uint _e9 = correction_bits;
    if (!((_e9 == 0u))) {
        local_2 = (record_1 == 0u);
    } else {
        local_2 = true;
    }
    bool _e18 = local_2;
    if (_e18) {
        float3 _e19 = sum;
        return _e19;
    }
    uint _e22 = correction_bits;
    uint _e27 = correction_bits;
    uint each = (naga_div((3u * _e22), 2u) + uint((_e27 < 32u)));
    uint _e34 = info.bit_words;
    at = (record_1 + _e34);
    uint2 loop_bound = uint2(4294967295u, 4294967295u);
    bool loop_init = true;
    while(true) {
        if (all(loop_bound == uint2(0u, 0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e103 = word;
            word = (_e103 + 1u);
        }
        loop_init = false;
        uint _e39 = word;
        uint _e42 = info.bit_words;
        if ((_e39 < _e42)) {
        } else {
            break;
        }
        {
            uint _e45 = word;
            uint touched = asuint(corrections.Load((record_1 + _e45)*4));
            uint _e50 = word;
            uint _e53 = asuint(coefficients.Load((frame + _e50)*4));
            on = (touched & _e53);
            uint2 loop_bound_1 = uint2(4294967295u, 4294967295u);
            bool loop_init_1 = true;
            while(true) {
                if (all(loop_bound_1 == uint2(0u, 0u))) { break; }
                loop_bound_1 -= uint2(loop_bound_1.y == 0u, 1u);
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
                    uint bit = firstbitlow(_e59);
                    uint _e64 = info.bit_words;
                    uint _e67 = word;
                    uint _e72 = asuint(coefficients.Load((((frame + _e64) + (32u * _e67)) + bit)*4));
                    float c_2 = asfloat(_e72);
                    uint _e74 = at;
                    uint own = (_e74 + (each * countbits((touched & ((1u << bit) - 1u)))));
                    float3 _e83 = sum;
                    const float _e85 = displacement(own, 0u, lane_3);
                    const float _e87 = displacement(own, 1u, lane_3);
                    const float _e89 = displacement(own, 2u, lane_3);
                    sum = (_e83 + (c_2 * float3(_e85, _e87, _e89)));
                }
            }
            uint _e98 = at;
            at = (_e98 + (each * countbits(touched)));
        }
    }
    float3 _e105 = sum;
    return _e105;
}

Posed ConstructPosed(float3 arg0, float3 arg1) {
    Posed ret = (Posed)0;
    ret.position = arg0;
    ret.normal = arg1;
    return ret;
}

float3x4 ZeroValuefloat3x4() {
    return (float3x4)0;
}

float3 ZeroValuefloat3() {
    return (float3)0;
}

Posed posed(uint slot, uint instance)
{
    float3x4 m = ZeroValuefloat3x4();
    uint at_1 = (uint)0;

    uint block_1 = naga_div(slot, 16u);
    uint lane_4 = naga_mod(slot, 16u);
    uint begin = asuint(blocks.Load(block_1*4));
    uint end = asuint(blocks.Load((block_1 + 1u)*4));
    uint _e16 = normal_planes;
    uint fixed = (3u + _e16);
    uint _e22 = info.first_bone;
    uint rest = (((fixed * block_1) + begin) - _e22);
    at_1 = begin;
    uint2 loop_bound_2 = uint2(4294967295u, 4294967295u);
    bool loop_init_2 = true;
    while(true) {
        if (all(loop_bound_2 == uint2(0u, 0u))) { break; }
        loop_bound_2 -= uint2(loop_bound_2.y == 0u, 1u);
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
            uint _e32 = info.bones;
            uint _e35 = at_1;
            uint _e37 = asuint(blocks.Load(_e35*4));
            uint row = (3u * ((_e32 * instance) + _e37));
            uint _e41 = at_1;
            const float _e44 = number((((rest + fixed) + _e41) - begin), lane_4);
            float3x4 _e45 = m;
            float4 _e48 = asfloat(palette.Load4(row*16));
            float4 _e53 = asfloat(palette.Load4((row + 1u)*16));
            float4 _e58 = asfloat(palette.Load4((row + 2u)*16));
            m = (_e45 + mul(float3x4(_e48, _e53, _e58), _e44));
        }
    }
    const float3 _e65 = three(rest, lane_4);
    uint _e68 = info.coefficient_words;
    const float3 _e70 = corrected(_e65, block_1, lane_4, (_e68 * instance));
    uint _e72 = normal_planes;
    if ((_e72 == 0u)) {
        float3x4 _e77 = m;
        const Posed posed_1 = ConstructPosed(mul(_e77, float4(_e70, 1.0)), ZeroValuefloat3());
        return posed_1;
    }
    float3x4 _e83 = m;
    const float3 _e87 = three((rest + 3u), lane_4);
    float3x4 _e90 = m;
    const float3 _e92 = finished(mul(_e90, float4(_e87, 0.0)));
    const Posed posed_2 = ConstructPosed(mul(_e83, float4(_e70, 1.0)), _e92);
    return posed_2;
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
    uint2 loop_bound_3 = uint2(4294967295u, 4294967295u);
    bool loop_init_3 = true;
    while(true) {
        if (all(loop_bound_3 == uint2(0u, 0u))) { break; }
        loop_bound_3 -= uint2(loop_bound_3.y == 0u, 1u);
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
            positions.Store((first + _e38)*4, asuint(_e19.position[min(uint(_e42), 2u)]));
        }
    }
    uint2 loop_bound_4 = uint2(4294967295u, 4294967295u);
    bool loop_init_4 = true;
    while(true) {
        if (all(loop_bound_4 == uint2(0u, 0u))) { break; }
        loop_bound_4 -= uint2(loop_bound_4.y == 0u, 1u);
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
            normals.Store((first + _e61)*4, asuint(_e19.normal[min(uint(_e65), 2u)]));
        }
    }
    return;
}
