// A vertex stage: dual quaternion skinning; signs are taken against the first bone of a block, the heaviest of all its vertices.
// Buffers, constants and entry points: README.md of dermis_gpu.
override sixteen_bits: bool = false; // planes of 16-bit numbers
override correction_bits: u32 = 0u;  // of a number of a correction: 32, 16 or 8; 0 when nothing is corrected
override normal_planes: u32 = 0u;    // 0 none, 3 rest normals

struct Info {
    slots: u32, vertices: u32, bones: u32, first_bone: u32,
    bit_words: u32, coefficient_words: u32, correction_width: u32, unit_normals: u32,
}
struct Posed { position: vec3f, normal: vec3f }
struct Shown { @builtin(position) clip: vec4f, @location(0) position: vec3f, @location(1) normal: vec3f }

@group(0) @binding(0) var<uniform> info: Info;
@group(0) @binding(1) var<storage, read> blocks: array<u32>;
@group(0) @binding(2) var<storage, read> planes: array<u32>;
@group(0) @binding(3) var<storage, read> corrections: array<u32>;
@group(0) @binding(4) var<storage, read> slots: array<u32>;
@group(1) @binding(0) var<storage, read> palette: array<vec4f>;
@group(1) @binding(1) var<storage, read> coefficients: array<u32>;
@group(2) @binding(0) var<uniform> clip_from_model: mat4x4f;

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

// Adds every correction that is on.
fn corrected(v: vec3f, block: u32, lane: u32, frame: u32) -> vec3f {
    var sum = v;
    let record = corrections[block];
    if correction_bits == 0u || record == 0u { return sum; }
    let each = 3u * correction_bits / 2u + u32(correction_bits < 32u);
    var at = record + info.bit_words;
    for (var word = 0u; word < info.bit_words; word++) {
        let touched = corrections[record + word];
        for (var on = touched & coefficients[frame + word]; on != 0u; on &= on - 1u) {
            let bit = firstTrailingBit(on);
            let c = bitcast<f32>(coefficients[frame + info.bit_words + 32u * word + bit]);
            let own = at + each * countOneBits(touched & ((1u << bit) - 1u));
            sum += c * vec3f(displacement(own, 0u, lane), displacement(own, 1u, lane), displacement(own, 2u, lane));
        }
        at += each * countOneBits(touched);
    }
    return sum;
}

// The turn of a quaternion that need not be of length 1, and a start that is divided by its length, too.
fn turned(r: vec4f, v: vec3f, start: vec3f) -> vec3f {
    return v + 2.0 / dot(r, r) * (cross(r.xyz, cross(r.xyz, v) + r.w * v) + start);
}

fn posed(slot: u32, instance: u32) -> Posed {
    let block = slot / 16u;
    let lane = slot % 16u;
    let begin = blocks[block];
    let end = blocks[block + 1u];
    if begin == end { return Posed(); }
    let rest = (3u + normal_planes) * block + begin - info.first_bone;
    let pivot = palette[3u * (info.bones * instance + blocks[begin])];
    var q = mat2x4f(); // real part and dual part
    for (var at = begin; at < end; at++) {
        let row = 3u * (info.bones * instance + blocks[at]);
        let w = number(rest + 3u + normal_planes + at - begin, lane);
        q += select(w, -w, dot(pivot, palette[row]) < 0.0) * mat2x4f(palette[row], palette[row + 1u]);
    }
    let v = corrected(three(rest, lane), block, lane, info.coefficient_words * instance);
    let position = turned(q[0], v, cross(q[0].xyz, q[1].xyz) + q[0].w * q[1].xyz - q[1].w * q[0].xyz);
    if normal_planes == 0u { return Posed(position, vec3f()); }
    return Posed(position, finished(turned(q[0], three(rest + 3u, lane), vec3f())));
}

@vertex
fn vertex(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Shown {
    let out = posed(slots[vertex], instance);
    return Shown(clip_from_model * vec4f(out.position, 1.0), out.position, out.normal);
}
