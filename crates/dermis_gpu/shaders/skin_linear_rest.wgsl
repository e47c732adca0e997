// A compute pass: linear skinning in the space of the rest pose: v = sum_j N_j (q_j + sum_m c_m d_jm), q_j = rest_model_from_bone_j p_j.
// Buffers, constants and entry points: README.md of dermis_gpu.
override sixteen_bits: bool = false; // planes of 16-bit numbers
override correction_bits: u32 = 0u;  // of a number of a correction: 32, 16 or 8; 0 when nothing is corrected
override normal_planes: u32 = 3u;    // 3 rest normals

struct Info {
    slots: u32, vertices: u32, bones: u32, first_bone: u32,
    bit_words: u32, coefficient_words: u32, correction_width: u32, unit_normals: u32,
}
struct Posed { position: vec3f, normal: vec3f }

@group(0) @binding(0) var<uniform> info: Info;
@group(0) @binding(1) var<storage, read> blocks: array<u32>;
@group(0) @binding(2) var<storage, read> planes: array<u32>;
@group(0) @binding(3) var<storage, read> corrections: array<u32>;
@group(0) @binding(4) var<storage, read> places: array<u32>;
@group(1) @binding(0) var<storage, read> palette: array<vec4f>;
@group(1) @binding(1) var<storage, read> coefficients: array<u32>;
@group(2) @binding(0) var<storage, read_write> positions: array<f32>;
@group(2) @binding(1) var<storage, read_write> normals: array<f32>;

fn number(plane: u32, lane: u32) -> f32 {
    if !sixteen_bits { return bitcast<f32>(planes[16u * plane + lane]); }
    let word = 10u * plane;
    let steps = f32((planes[word + lane / 2u] >> (16u * (lane % 2u))) & 0xffffu);
    return bitcast<f32>(planes[word + 8u]) + bitcast<f32>(planes[word + 9u]) * steps;
}

fn three(plane: u32, lane: u32) -> vec3f {
    return vec3f(number(plane, lane), number(plane + 1u, lane), number(plane + 2u, lane));
}

fn displacement(record: u32, plane: u32, lane: u32) -> f32 {
    if correction_bits == 32u { return bitcast<f32>(corrections[record + 16u * plane + lane]); }
    let word = corrections[record + 1u + (16u * plane + lane) * correction_bits / 32u];
    let steps = extractBits(bitcast<i32>(word), lane * correction_bits % 32u, correction_bits);
    return bitcast<f32>(corrections[record]) * f32(steps);
}

fn finished(n: vec3f) -> vec3f {
    return select(n, n * inverseSqrt(max(dot(n, n), 1e-30)), info.unit_normals == 1u);
}

// Adds every correction that is on to the numbers of bone `k` of `bones`.
fn corrected(p: vec4f, block: u32, lane: u32, frame: u32, k: u32, bones: u32) -> vec4f {
    var sum = p;
    let record = corrections[block];
    if record == 0u { return sum; }
    let width = info.correction_width;
    let each = width * bones * correction_bits / 2u + u32(correction_bits < 32u);
    var at = record + info.bit_words;
    for (var word = 0u; word < info.bit_words; word++) {
        let touched = corrections[record + word];
        for (var on = touched & coefficients[frame + word]; on != 0u; on &= on - 1u) {
            let bit = firstTrailingBit(on);
            let c = bitcast<f32>(coefficients[frame + info.bit_words + 32u * word + bit]);
            let own = at + each * countOneBits(touched & ((1u << bit) - 1u));
            for (var n = 0u; n < width; n++) { sum[n] += c * displacement(own, width * k + n, lane); }
        }
        at += each * countOneBits(touched);
    }
    return sum;
}

fn posed(slot: u32, instance: u32) -> Posed {
    let block = slot / 16u;
    let lane = slot % 16u;
    let begin = blocks[block];
    let end = blocks[block + 1u];
    let rest = 3u * block + 4u * (begin - info.first_bone);
    var position = vec3f();
    var m = mat3x3f(); // rows of the blended matrix
    for (var at = begin; at < end; at++) {
        let row = 3u * (info.bones * instance + blocks[at]);
        let n = mat3x4f(palette[row], palette[row + 1u], palette[row + 2u]);
        let plane = rest + 3u + 4u * (at - begin);
        let weight = number(plane + 3u, lane);
        var q = vec4f(three(plane, lane), weight);
        if correction_bits > 0u { q = corrected(q, block, lane, info.coefficient_words * instance, at - begin, end - begin); }
        position += q * n;
        m += weight * mat3x3f(n[0].xyz, n[1].xyz, n[2].xyz);
    }
    // Two posed tangents crossed are the cofactors of the blended matrix times the rest normal.
    return Posed(position, finished(three(rest, lane) * mat3x3f(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]))));
}

@compute @workgroup_size(64)
fn skin(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= info.slots || places[id.x] == 0xffffffffu { return; }
    let out = posed(id.x, id.y);
    let first = 3u * (info.vertices * id.y + places[id.x]);
    for (var c = 0u; c < 3u; c++) { positions[first + c] = out.position[c]; }
    for (var c = 0u; c < 3u && normal_planes > 0u; c++) { normals[first + c] = out.normal[c]; }
}
