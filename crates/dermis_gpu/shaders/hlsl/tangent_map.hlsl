// Made from tangent_map.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: register b0, space 0
//   texels: register t1, space 0
//   samples: register t2, space 0
//   normals: register t3, space 0
//   map: register t4, space 0
struct Texels {
    uint count;
};

cbuffer info : register(b0) { Texels info; }
ByteAddressBuffer texels : register(t1);
ByteAddressBuffer samples : register(t2);
ByteAddressBuffer normals : register(t3);
RWTexture2D<snorm float4> map : register(u4);

float3 ZeroValuefloat3() {
    return (float3)0;
}

float3 unit(float3 v)
{
    float length_ = length(v);
    return ((length_ > 0.0) ? (v / (length_).xxx) : ZeroValuefloat3());
}

float3 normal_of_vertex(uint sample_1, uint corner)
{
    uint _e8 = asuint(samples.Load(((5u * sample_1) + corner)*4));
    uint first = (3u * _e8);
    float _e12 = asfloat(normals.Load(first*4));
    float _e17 = asfloat(normals.Load((first + 1u)*4));
    float _e22 = asfloat(normals.Load((first + 2u)*4));
    return float3(_e12, _e17, _e22);
}

float3 normal_of_sample(uint sample_2)
{
    uint _e7 = asuint(samples.Load(((5u * sample_2) + 3u)*4));
    float second = asfloat(_e7);
    uint _e15 = asuint(samples.Load(((5u * sample_2) + 4u)*4));
    float third = asfloat(_e15);
    const float3 _e21 = normal_of_vertex(sample_2, 0u);
    const float3 _e24 = normal_of_vertex(sample_2, 1u);
    const float3 _e28 = normal_of_vertex(sample_2, 2u);
    const float3 _e31 = unit((((((1.0 - second) - third) * _e21) + (second * _e24)) + (third * _e28)));
    return _e31;
}

[numthreads(64, 1, 1)]
void tangent_map(uint3 id : SV_DispatchThreadID)
{
    float3 sum = ZeroValuefloat3();
    uint sample_ = (uint)0;

    uint _e4 = info.count;
    if ((id.x >= _e4)) {
        return;
    }
    uint place = asuint(texels.Load((2u * id.x)*4));
    uint _e21 = asuint(texels.Load(((2u * id.x) + 1u)*4));
    sample_ = _e21;
    uint2 loop_bound = uint2(4294967295u, 4294967295u);
    bool loop_init = true;
    while(true) {
        if (all(loop_bound == uint2(0u, 0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e38 = sample_;
            sample_ = (_e38 + 1u);
        }
        loop_init = false;
        uint _e23 = sample_;
        uint _e31 = asuint(texels.Load(((2u * id.x) + 3u)*4));
        if ((_e23 < _e31)) {
        } else {
            break;
        }
        {
            float3 _e33 = sum;
            uint _e34 = sample_;
            const float3 _e35 = normal_of_sample(_e34);
            sum = (_e33 + _e35);
        }
    }
    float3 _e46 = sum;
    const float3 _e47 = unit(_e46);
    map[uint2((place & 65535u), (place >> 16u))] = float4(_e47, 0.0);
    return;
}
