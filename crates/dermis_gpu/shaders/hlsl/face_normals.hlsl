// Made from face_normals.wgsl of dermis_gpu by naga; do not edit by hand, but for the constants.
// Buffers, as the README of dermis_gpu describes them:
//   info: register b0, space 0
//   triangles: register t1, space 0
//   around: register t2, space 0
//   positions: register t3, space 0
//   face_normals: register u4, space 0
//   normals: register u5, space 0
struct Faces {
    uint triangles;
    uint vertices_;
};

cbuffer info : register(b0) { Faces info; }
ByteAddressBuffer triangles : register(t1);
ByteAddressBuffer around : register(t2);
ByteAddressBuffer positions : register(t3);
RWByteAddressBuffer face_normals : register(u4);
RWByteAddressBuffer normals : register(u5);

float3 corner(uint triangle_, uint k)
{
    uint _e8 = asuint(triangles.Load(((3u * triangle_) + k)*4));
    uint first = (3u * _e8);
    float _e12 = asfloat(positions.Load(first*4));
    float _e17 = asfloat(positions.Load((first + 1u)*4));
    float _e22 = asfloat(positions.Load((first + 2u)*4));
    return float3(_e12, _e17, _e22);
}

[numthreads(64, 1, 1)]
void faces(uint3 id : SV_DispatchThreadID)
{
    uint c = 0u;

    uint _e4 = info.triangles;
    if ((id.x >= _e4)) {
        return;
    }
    const float3 _e8 = corner(id.x, 0u);
    const float3 _e11 = corner(id.x, 1u);
    const float3 _e15 = corner(id.x, 2u);
    float3 normal_1 = cross((_e11 - _e8), (_e15 - _e8));
    uint2 loop_bound = uint2(4294967295u, 4294967295u);
    bool loop_init = true;
    while(true) {
        if (all(loop_bound == uint2(0u, 0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
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
            face_normals.Store(((3u * id.x) + _e27)*4, asuint(normal_1[min(uint(_e30), 2u)]));
        }
    }
    return;
}

float3 ZeroValuefloat3() {
    return (float3)0;
}

[numthreads(64, 1, 1)]
void gather(uint3 id_1 : SV_DispatchThreadID)
{
    float3 sum = ZeroValuefloat3();
    uint at = (uint)0;
    float3 normal = ZeroValuefloat3();
    bool local = (bool)0;
    uint c_1 = 0u;

    uint _e4 = info.vertices_;
    if ((id_1.x >= _e4)) {
        return;
    }
    uint _e11 = asuint(around.Load(id_1.x*4));
    at = _e11;
    uint2 loop_bound_1 = uint2(4294967295u, 4294967295u);
    bool loop_init_1 = true;
    while(true) {
        if (all(loop_bound_1 == uint2(0u, 0u))) { break; }
        loop_bound_1 -= uint2(loop_bound_1.y == 0u, 1u);
        if (!loop_init_1) {
            uint _e44 = at;
            at = (_e44 + 1u);
        }
        loop_init_1 = false;
        uint _e13 = at;
        uint _e19 = asuint(around.Load((id_1.x + 1u)*4));
        if ((_e13 < _e19)) {
        } else {
            break;
        }
        {
            uint _e23 = at;
            uint _e25 = asuint(around.Load(_e23*4));
            uint first_1 = (3u * _e25);
            float3 _e27 = sum;
            float _e30 = asfloat(face_normals.Load(first_1*4));
            float _e35 = asfloat(face_normals.Load((first_1 + 1u)*4));
            float _e40 = asfloat(face_normals.Load((first_1 + 2u)*4));
            sum = (_e27 + float3(_e30, _e35, _e40));
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
        float3 _e67 = sum;
        normal = normalize((_e67 / (size).xxx));
    }
    uint2 loop_bound_2 = uint2(4294967295u, 4294967295u);
    bool loop_init_2 = true;
    while(true) {
        if (all(loop_bound_2 == uint2(0u, 0u))) { break; }
        loop_bound_2 -= uint2(loop_bound_2.y == 0u, 1u);
        if (!loop_init_2) {
            uint _e87 = c_1;
            c_1 = (_e87 + 1u);
        }
        loop_init_2 = false;
        uint _e73 = c_1;
        if ((_e73 < 3u)) {
        } else {
            break;
        }
        {
            uint _e80 = c_1;
            uint _e83 = c_1;
            float _e85 = normal[min(uint(_e83), 2u)];
            normals.Store(((3u * id_1.x) + _e80)*4, asuint(_e85));
        }
    }
    return;
}
