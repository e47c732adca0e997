//! What the shaders compute, line by line, on the processor: a check of the layout that needs no graphics card.

use dermis::run::{BLOCK, Mat3x4, PackedProgram};

use super::GpuSkin;

/// A vertex in a pose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PosedVertex {
    /// Where it is.
    pub position: [f32; 3],
    /// Its normal, or zero when the skin was packed without.
    pub normal: [f32; 3],
}

impl GpuSkin {
    /// Poses one vertex of one instance, as the shaders do: the plain form, for tests and for those who port them.
    ///
    /// `palette` has the rows of all instances one after the other, and so have the words of `coefficients`.
    ///
    /// # Panics
    /// When there is no such vertex, or palette or coefficients are too short.
    pub fn posed(
        &self,
        vertex: u32,
        instance: u32,
        palette: &[Mat3x4],
        coefficients: &[u32],
    ) -> PosedVertex {
        let slot = self.slots[vertex as usize];
        let palette = &palette[(self.info.bones * instance) as usize..];
        let coefficients = &coefficients[(self.info.coefficient_words * instance) as usize..];
        let at = Slot {
            skin: self,
            palette,
            coefficients,
            block: slot as usize / BLOCK,
            lane: slot as usize % BLOCK,
        };
        let mut posed = match self.kind.program {
            PackedProgram::Linear if self.kind.rest_space => at.linear_in_rest_space(),
            PackedProgram::Linear => at.linear(),
            PackedProgram::LinearBlend | PackedProgram::MultiWeight => at.blended(),
            PackedProgram::DualQuaternion => at.dual_quaternion(),
        };
        if self.info.unit_normals == 1 {
            let squared = dot(posed.normal, posed.normal).max(1e-30);
            posed.normal = posed.normal.map(|x| x / squared.sqrt());
        }
        posed
    }
}

/// One slot in one frame.
struct Slot<'a> {
    skin: &'a GpuSkin,
    palette: &'a [Mat3x4],
    coefficients: &'a [u32],
    block: usize,
    lane: usize,
}

impl Slot<'_> {
    /// The bones of the block, each with its first plane.
    fn bones(&self) -> impl Iterator<Item = (&Mat3x4, usize)> {
        let [fixed, per_bone] = self.skin.kind.plane_counts().map(|n| n as usize);
        let blocks = &self.skin.blocks;
        let [first, last] = [blocks[self.block], blocks[self.block + 1]].map(|w| w as usize);
        let before = first - self.skin.info.first_bone as usize;
        let plane = fixed * (self.block + 1) + per_bone * before;
        let bones = blocks[first..last].iter().enumerate();
        bones.map(move |(k, &bone)| (&self.palette[bone as usize], plane + k * per_bone))
    }

    fn number(&self, plane: usize) -> f32 {
        let planes = &self.skin.planes;
        if !self.skin.kind.sixteen_bits {
            return f32::from_bits(planes[BLOCK * plane + self.lane]);
        }
        let word = (BLOCK / 2 + 2) * plane;
        let pair = planes[word + self.lane / 2];
        let steps = (pair >> (16 * (self.lane % 2)) & 0xffff) as f32;
        let [base, step] = [planes[word + 8], planes[word + 9]].map(f32::from_bits);
        base + step * steps
    }

    fn numbers(&self, plane: usize) -> [f32; 3] {
        [0, 1, 2].map(|c| self.number(plane + c))
    }

    fn linear(&self) -> PosedVertex {
        let normal_planes = self.skin.kind.normal_planes as usize;
        let bone_count = self.bones().count();
        let width = self.skin.info.correction_width as usize;
        let mut out = PosedVertex::default();
        let mut tangents = [[0.0; 3]; 2];
        for (k, (m, plane)) in self.bones().enumerate() {
            let mut p = [0, 1, 2, 3].map(|c| self.number(plane + c));
            self.correct(width * k, width * bone_count, &mut p[..width]);
            add(&mut out.position, transformed(m, p));
            if normal_planes == 3 {
                let [x, y, z] = self.numbers(plane + 4);
                add(&mut out.normal, transformed(m, [x, y, z, 0.0]));
            }
            if normal_planes >= 6 {
                let rows = normal_planes / 2;
                for (t, tangent) in tangents.iter_mut().enumerate() {
                    let first = plane + 4 + rows * t;
                    let [x, y, z] = self.numbers(first);
                    let w = if rows == 4 {
                        self.number(first + 3)
                    } else {
                        0.0
                    };
                    add(tangent, transformed(m, [x, y, z, w]));
                }
            }
        }
        if normal_planes >= 6 {
            out.normal = cross(tangents[0], tangents[1]);
        }
        out
    }

    fn linear_in_rest_space(&self) -> PosedVertex {
        let bone_count = self.bones().count();
        let width = self.skin.info.correction_width as usize;
        let mut position = [0.0; 3];
        let mut blend = [[0.0; 3]; 3];
        for (k, (m, plane)) in self.bones().enumerate() {
            let mut q = [0, 1, 2, 3].map(|c| self.number(plane + c));
            for (r, row) in blend.iter_mut().enumerate() {
                add(row, [0, 1, 2].map(|c| q[3] * m[4 * r + c]));
            }
            self.correct(width * k, width * bone_count, &mut q[..width]);
            add(&mut position, transformed(m, q));
        }
        let rest = self.numbers(self.first_fixed_plane());
        let [x, y, z] = blend;
        let cofactors = [cross(y, z), cross(z, x), cross(x, y)];
        PosedVertex {
            position,
            normal: cofactors.map(|row| dot(row, rest)),
        }
    }

    /// Linear blend, and multi-weight.
    fn blended(&self) -> PosedVertex {
        let mut blend = [0.0; 12];
        for (m, plane) in self.bones() {
            for (entry, to) in blend.iter_mut().enumerate() {
                // Weights of multi-weight skins come by columns, matrices by rows.
                let own = match self.skin.kind.program {
                    PackedProgram::MultiWeight => 3 * (entry % 4) + entry / 4,
                    _ => 0,
                };
                *to += self.number(plane + own) * m[entry];
            }
        }
        let ([x, y, z], [nx, ny, nz]) = self.rest();
        PosedVertex {
            position: transformed(&blend, [x, y, z, 1.0]),
            normal: transformed(&blend, [nx, ny, nz, 0.0]),
        }
    }

    fn dual_quaternion(&self) -> PosedVertex {
        let mut real = [0.0f32; 4];
        let mut dual = [0.0f32; 4];
        let mut pivot = None;
        for (m, plane) in self.bones() {
            let (q, d) = (&m[..4], &m[4..8]);
            let pivot = *pivot.get_or_insert([q[0], q[1], q[2], q[3]]);
            let agreement: f32 = pivot.iter().zip(q).map(|(a, b)| a * b).sum();
            let weight = self.number(plane) * if agreement < 0.0 { -1.0 } else { 1.0 };
            for c in 0..4 {
                real[c] += weight * q[c];
                dual[c] += weight * d[c];
            }
        }
        if pivot.is_none() {
            return PosedVertex::default();
        }
        let ([rx, ry, rz, w], [tx, ty, tz, tw]) = (real, dual);
        let (r, t) = ([rx, ry, rz], [tx, ty, tz]);
        let scale = 2.0 / (dot(r, r) + w * w);
        let (v, n) = self.rest();
        let mut start = cross(r, t);
        (0..3).for_each(|c| start[c] += w * t[c] - tw * r[c]);
        PosedVertex {
            position: turned(r, w, scale, v, start),
            normal: turned(r, w, scale, n, [0.0; 3]),
        }
    }

    /// Rest position, corrected, and rest normal.
    fn rest(&self) -> ([f32; 3], [f32; 3]) {
        let first = self.first_fixed_plane();
        let mut v = self.numbers(first);
        self.correct(0, 3, &mut v);
        match self.skin.kind.normal_planes {
            0 => (v, [0.0; 3]),
            _ => (v, self.numbers(first + 3)),
        }
    }

    fn first_fixed_plane(&self) -> usize {
        let [fixed, per_bone] = self.skin.kind.plane_counts().map(|n| n as usize);
        let before = self.skin.blocks[self.block] - self.skin.info.first_bone;
        fixed * self.block + per_bone * before as usize
    }

    /// Adds planes of every correction that is on: as many as `sum` has, from `first` of `stride`.
    fn correct(&self, first: usize, stride: usize, sum: &mut [f32]) {
        let bits = self.skin.kind.correction_bits as usize;
        let words = &self.skin.corrections;
        if bits == 0 || words[self.block] == 0 {
            return;
        }
        let record = words[self.block] as usize;
        let bit_words = self.skin.info.bit_words as usize;
        let each = stride * bits / 2 + usize::from(bits < 32);
        let mut at = record + bit_words;
        for word in 0..bit_words {
            let touched = words[record + word];
            for bit in (0..32).filter(|bit| touched >> bit & 1 == 1) {
                if self.coefficients[word] >> bit & 1 == 1 {
                    let c = f32::from_bits(self.coefficients[bit_words + 32 * word + bit]);
                    for (k, sum) in sum.iter_mut().enumerate() {
                        *sum += c * self.displacement(at, first + k);
                    }
                }
                at += each;
            }
        }
    }

    fn displacement(&self, record: usize, plane: usize) -> f32 {
        let words = &self.skin.corrections;
        let bits = self.skin.kind.correction_bits as usize;
        if bits == 32 {
            return f32::from_bits(words[record + BLOCK * plane + self.lane]);
        }
        let bit = self.lane * bits;
        let word = words[record + 1 + plane * bits / 2 + bit / 32];
        let steps = (word << (32 - bits - bit % 32)) as i32 >> (32 - bits);
        f32::from_bits(words[record]) * steps as f32
    }
}

fn transformed(m: &Mat3x4, p: [f32; 4]) -> [f32; 3] {
    [0, 4, 8].map(|r| m[r] * p[0] + m[r + 1] * p[1] + m[r + 2] * p[2] + m[r + 3] * p[3])
}

/// A quaternion's turn, not normalised: `v + scale (r × (r × v + w v) + start)`.
fn turned(r: [f32; 3], w: f32, scale: f32, v: [f32; 3], start: [f32; 3]) -> [f32; 3] {
    let mut inner = cross(r, v);
    (0..3).for_each(|c| inner[c] += w * v[c]);
    let outer = cross(r, inner);
    [0, 1, 2].map(|c| v[c] + scale * (outer[c] + start[c]))
}

fn add(sum: &mut [f32; 3], v: [f32; 3]) {
    (0..3).for_each(|c| sum[c] += v[c]);
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
