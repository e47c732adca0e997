// Exact normals of a posed mesh: each vertex gathers the faces around it, so nothing is added by two invocations at once.
// Two passes: `faces` for every triangle, then `gather` for every vertex. Buffers: README.md of dermis_gpu.

struct Faces { triangles: u32, vertices: u32 }

@group(0) @binding(0) var<uniform> info: Faces;
@group(0) @binding(1) var<storage, read> triangles: array<u32>;
@group(0) @binding(2) var<storage, read> around: array<u32>;
@group(0) @binding(3) var<storage, read> positions: array<f32>;
@group(0) @binding(4) var<storage, read_write> face_normals: array<f32>;
@group(0) @binding(5) var<storage, read_write> normals: array<f32>;

fn corner(triangle: u32, k: u32) -> vec3f {
    let first = 3u * triangles[3u * triangle + k];
    return vec3f(positions[first], positions[first + 1u], positions[first + 2u]);
}

// The normal of a face, as long as twice its area.
@compute @workgroup_size(64)
fn faces(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= info.triangles { return; }
    let a = corner(id.x, 0u);
    let normal = cross(corner(id.x, 1u) - a, corner(id.x, 2u) - a);
    for (var c = 0u; c < 3u; c++) { face_normals[3u * id.x + c] = normal[c]; }
}

// Their sum around a vertex, of length 1, or zero where there is no face or they cancel.
@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= info.vertices { return; }
    var sum = vec3f();
    for (var at = around[id.x]; at < around[id.x + 1u]; at++) {
        let first = 3u * around[at];
        sum += vec3f(face_normals[first], face_normals[first + 1u], face_normals[first + 2u]);
    }
    // Faces of tiny meshes are so small that their squares vanish: the largest number is made 1 first.
    let size = max(max(abs(sum.x), abs(sum.y)), abs(sum.z));
    var normal = vec3f();
    if size > 0.0 && size <= 3.4e38 { normal = normalize(sum / size); }
    for (var c = 0u; c < 3u; c++) { normals[3u * id.x + c] = normal[c]; }
}
