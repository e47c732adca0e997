//! The inputs from which proxy bones are placed, sixteen joints or patches at a time.

use glam::{DMat3, DVec3, Mat4, Vec4};

use super::Mat3x4;
use super::kernel::Simd;
use super::lane_math::{
    Matrix, Vector, cofactors, dot, exponential, logarithm, multiply, nearest_branch,
    quaternion_of, quaternion_product, rotation_matrix, scaled, transform, transpose,
};
use super::plane::{BLOCK, BlockXyz, Plane};
use crate::math::nearest_rotation;
use crate::rig::{BoneId, JointReading, PatchPredictor, Skeleton};

/// Sixteen 3×3 matrices, row by row.
pub(super) type MatrixPlanes = [[Plane; 3]; 3];

pub(super) const ZERO: MatrixPlanes = [[Plane::ZERO; 3]; 3];

/// Sixteen 3×4 matrices, row by row.
pub(super) type AffinePlanes = [[Plane; 4]; 3];

pub(super) const AFFINE_ZERO: AffinePlanes = [[Plane::ZERO; 4]; 3];

/// Sixteen joints whose turns are read. The last block is filled up with its last joint.
#[derive(Debug)]
pub(super) struct JointBlock {
    bones: [u16; BLOCK],
    parents: [u16; BLOCK],
    /// `lin(Ĝ_a)`.
    rest_of_parent: MatrixPlanes,
    /// `lin(Ĝ_b⁻¹)`.
    rest_inverse_of_bone: MatrixPlanes,
    middle: BlockXyz,
    middle_axis: BlockXyz,
    /// Each joint in 64 bits, for matrices that are far from a rotation.
    exact: [ExactJoint; BLOCK],
}

/// `lin(Ĝ⁻¹)` of both bones of a joint.
#[derive(Debug, Clone, Copy)]
struct ExactJoint {
    bone: DMat3,
    parent: DMat3,
}

/// Sixteen patches that follow joints. The last block is filled up with its last patch.
#[derive(Debug)]
pub(super) struct PatchBlock {
    /// Every first bone of the frames, then every second, …; weight 0 where a frame has fewer.
    frames: Vec<FramePlanes>,
    pivots: BlockXyz,
    /// `u W` of every first turn, then of every second, …; 0 where a patch has fewer.
    turns: Vec<TurnPlanes>,
    stretches: Vec<StretchPlanes>,
    /// `[X | x]` when no joint turns, column by column.
    constant: [Plane; 12],
}

/// `w Ĝ⁻¹` of sixteen bones, and `w`.
#[derive(Debug)]
struct FramePlanes {
    bones: [u16; BLOCK],
    linear: MatrixPlanes,
    offset: BlockXyz,
    weight: Plane,
}

#[derive(Debug)]
struct TurnPlanes {
    joints: [u16; BLOCK],
    matrix: MatrixPlanes,
}

/// Shares of the nine inputs of a joint in the twelve numbers of `[X | x]`.
#[derive(Debug)]
struct StretchPlanes {
    joints: [u16; BLOCK],
    shares: [[Plane; 12]; 9],
}

fn set(planes: &mut MatrixPlanes, lane: usize, m: &DMat3) {
    for (r, row) in planes.iter_mut().enumerate() {
        for (plane, x) in row.iter_mut().zip(m.row(r).to_array()) {
            plane.0[lane] = x as f32;
        }
    }
}

fn set_vector(planes: &mut BlockXyz, lane: usize, v: DVec3) {
    for (plane, x) in planes.iter_mut().zip(v.to_array()) {
        plane.0[lane] = x as f32;
    }
}

/// One element per lane; the last element fills up the sixteen.
fn lanes<T>(list: &[T]) -> [&T; BLOCK] {
    std::array::from_fn(|lane| &list[lane.min(list.len() - 1)])
}

fn rest_inverse(skeleton: &Skeleton, bone: BoneId) -> DMat3 {
    skeleton.bones()[bone.index()].bone_from_rest.matrix3
}

/// The first `N` columns of `G` of sixteen bones.
#[inline(always)]
fn gather<const N: usize>(palette: &[Mat3x4], bones: &[u16; BLOCK], planes: &mut [[Plane; N]; 3]) {
    for (group, bones) in bones.as_chunks::<4>().0.iter().enumerate() {
        let matrices = [
            &palette[usize::from(bones[0])],
            &palette[usize::from(bones[1])],
            &palette[usize::from(bones[2])],
            &palette[usize::from(bones[3])],
        ];
        for r in 0..3 {
            // A row of each of four bones becomes a number of all four, once per column.
            let rows = Mat4::from_cols(
                Vec4::from_slice(&matrices[0][4 * r..4 * r + 4]),
                Vec4::from_slice(&matrices[1][4 * r..4 * r + 4]),
                Vec4::from_slice(&matrices[2][4 * r..4 * r + 4]),
                Vec4::from_slice(&matrices[3][4 * r..4 * r + 4]),
            );
            let of_four = rows.transpose();
            for (c, plane) in planes[r].iter_mut().enumerate() {
                let numbers = of_four.col(c);
                numbers.write_to_slice(&mut plane.0[4 * group..4 * group + 4]);
            }
        }
    }
}

/// The turns of sixteen joints.
#[inline(always)]
fn gather_turns(turns: &[BlockXyz], joints: &[u16; BLOCK], planes: &mut BlockXyz) {
    for (lane, &joint) in joints.iter().enumerate() {
        let (block, from) = (usize::from(joint) / BLOCK, usize::from(joint) % BLOCK);
        for (plane, turn) in planes.iter_mut().zip(&turns[block]) {
            plane.0[lane] = turn.0[from];
        }
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, planes: &MatrixPlanes, part: usize) -> Matrix<S> {
    let mut matrix = [[simd.splat(0.0); 3]; 3];
    for r in 0..3 {
        matrix[r] = load_vector(simd, &planes[r], part);
    }
    matrix
}

#[inline(always)]
fn load_vector<S: Simd>(simd: S, planes: &BlockXyz, part: usize) -> Vector<S> {
    [
        simd.load(&planes[0], part),
        simd.load(&planes[1], part),
        simd.load(&planes[2], part),
    ]
}

#[inline(always)]
fn store<S: Simd>(simd: S, matrix: &Matrix<S>, planes: &mut MatrixPlanes, part: usize) {
    for r in 0..3 {
        for c in 0..3 {
            simd.store(matrix[r][c], &mut planes[r][c], part);
        }
    }
}

impl JointBlock {
    /// Packs at least 1 and at most sixteen joints.
    pub(super) fn new(skeleton: &Skeleton, joints: &[JointReading]) -> Self {
        let joints = lanes(joints);
        let exact = joints.map(|joint| ExactJoint {
            bone: rest_inverse(skeleton, joint.bone),
            parent: rest_inverse(skeleton, joint.parent),
        });
        let mut block = Self {
            bones: joints.map(|joint| joint.bone.0),
            parents: joints.map(|joint| joint.parent.0),
            rest_of_parent: ZERO,
            rest_inverse_of_bone: ZERO,
            middle: [Plane::ZERO; 3],
            middle_axis: [Plane::ZERO; 3],
            exact,
        };
        for (lane, (joint, exact)) in joints.iter().zip(&exact).enumerate() {
            set(&mut block.rest_of_parent, lane, &exact.parent.inverse());
            set(&mut block.rest_inverse_of_bone, lane, &exact.bone);
            set_vector(&mut block.middle, lane, joint.middle);
            set_vector(
                &mut block.middle_axis,
                lane,
                joint.middle.normalize_or_zero(),
            );
        }
        block
    }

    /// `lin(G)` of the parents and of the bones.
    #[inline(always)]
    pub(super) fn gather(&self, palette: &[Mat3x4], matrices: &mut [MatrixPlanes; 2]) {
        gather(palette, &self.parents, &mut matrices[0]);
        gather(palette, &self.bones, &mut matrices[1]);
    }

    /// The turns of the joints, near their middles, from gathered matrices of a palette.
    ///
    /// The rotation nearest to `M = lin(N_a⁻¹ N_b)` is found by Newton's iteration for the polar
    /// decomposition, `X ← (X + X⁻ᵀ)/2` from `M` of the size of a rotation. Two steps do for bones
    /// that are rigid or nearly so; stretch takes some more. Matrices that are almost flat or mirrored go
    /// through [`nearest_rotation`] instead, lane by lane.
    #[inline(always)]
    pub(super) fn turns<S: Simd>(
        &self,
        simd: S,
        palette: &[Mat3x4],
        [parents, bones]: &[MatrixPlanes; 2],
        turns: &mut BlockXyz,
    ) {
        /// Below this share of the volume of a cube the iteration is slow, and 32 bits are too few.
        const THIN: f32 = 0.05;
        const MOST_STEPS: usize = 12;
        let mut x = ZERO;
        let mut volume = Plane::ZERO;
        for part in 0..BLOCK / S::WIDTH {
            // The inverse up to a positive factor, which does not change the rotation.
            let parent = load(simd, parents, part);
            let (cofactors_of_parent, det) = cofactors(simd, &parent);
            let sign = simd.select_less(det, simd.splat(0.0), simd.splat(-1.0), simd.splat(1.0));
            let inverse = transpose(&cofactors_of_parent);
            let between = multiply(simd, &inverse, &load(simd, bones, part));
            let rest = load(simd, &self.rest_of_parent, part);
            let between = multiply(simd, &rest, &between);
            let rest = load(simd, &self.rest_inverse_of_bone, part);
            let mut between = multiply(simd, &between, &rest);
            let mut squared = dot(simd, between[0], between[0]);
            squared = simd.add(squared, dot(simd, between[1], between[1]));
            squared = simd.add(squared, dot(simd, between[2], between[2]));
            let scale = simd.div(sign, simd.sqrt(simd.mul(squared, simd.splat(1.0 / 3.0))));
            for row in &mut between {
                *row = scaled(simd, *row, scale);
            }
            let (_, det) = cofactors(simd, &between);
            store(simd, &between, &mut x, part);
            simd.store(det, &mut volume, part);
        }
        for lane in 0..BLOCK {
            let det = volume.0[lane];
            if det <= THIN || det.is_nan() {
                self.restart(lane, palette, &mut x);
            }
        }
        for step in 0..MOST_STEPS {
            for part in 0..BLOCK / S::WIDTH {
                let mut matrix = load(simd, &x, part);
                let (inverse, det) = cofactors(simd, &matrix);
                let half = simd.splat(0.5);
                let scale = simd.div(half, det);
                for r in 0..3 {
                    for c in 0..3 {
                        let mean = simd.mul(matrix[r][c], half);
                        matrix[r][c] = simd.add(mean, simd.mul(inverse[r][c], scale));
                    }
                }
                store(simd, &matrix, &mut x, part);
                simd.store(det, &mut volume, part);
            }
            // After the first step all stretches are at least 1, so that a volume of 1 + e means
            // that none is above 1 + e, and the step that was just done made e of it e²/2.
            let near = volume.0.iter().all(|det| (det - 1.0).abs() < 4e-4);
            if step > 0 && near {
                break;
            }
        }
        for part in 0..BLOCK / S::WIDTH {
            let q = quaternion_of(simd, &load(simd, &x, part));
            let turn = nearest_branch(
                simd,
                logarithm(simd, &q),
                load_vector(simd, &self.middle, part),
                load_vector(simd, &self.middle_axis, part),
            );
            for c in 0..3 {
                simd.store(turn[c], &mut turns[c], part);
            }
        }
    }

    /// Writes the rotation of one lane as the reference finds it.
    #[cold]
    #[inline(never)]
    fn restart(&self, lane: usize, palette: &[Mat3x4], x: &mut MatrixPlanes) {
        let posed = |bone: u16| {
            let m = palette[usize::from(bone)].map(f64::from);
            let row = |r: usize| DVec3::new(m[4 * r], m[4 * r + 1], m[4 * r + 2]);
            DMat3::from_cols(row(0), row(1), row(2)).transpose()
        };
        let exact = &self.exact[lane];
        let parent = posed(self.parents[lane]) * exact.parent;
        let bone = posed(self.bones[lane]) * exact.bone;
        set(x, lane, &nearest_rotation(parent.inverse() * bone));
    }
}

impl PatchBlock {
    /// Packs at least 1 and at most sixteen patches.
    pub(super) fn new(skeleton: &Skeleton, patches: &[PatchPredictor]) -> Self {
        let patches = lanes(patches);
        let most = |count: fn(&PatchPredictor) -> usize| {
            patches.iter().map(|p| count(p)).max().unwrap_or(0)
        };
        let mut block = Self {
            frames: Vec::new(),
            pivots: [Plane::ZERO; 3],
            turns: Vec::new(),
            stretches: Vec::new(),
            constant: [Plane::ZERO; 12],
        };
        for k in 0..most(|p| p.frame.len()) {
            let mut planes = FramePlanes {
                bones: [0; BLOCK],
                linear: ZERO,
                offset: [Plane::ZERO; 3],
                weight: Plane::ZERO,
            };
            for (lane, patch) in patches.iter().enumerate() {
                if let Some(&(bone, weight)) = patch.frame.get(k) {
                    let rest = &skeleton.bones()[bone.index()].bone_from_rest;
                    planes.bones[lane] = bone.0;
                    set(&mut planes.linear, lane, &(rest.matrix3 * weight));
                    set_vector(&mut planes.offset, lane, rest.translation * weight);
                    planes.weight.0[lane] = weight as f32;
                }
            }
            block.frames.push(planes);
        }
        for k in 0..most(|p| p.turns.len()) {
            let mut planes = TurnPlanes {
                joints: [0; BLOCK],
                matrix: ZERO,
            };
            for (lane, patch) in patches.iter().enumerate() {
                if let Some(turn) = patch.turns.get(k) {
                    planes.joints[lane] = turn.joint;
                    let matrix = DMat3::from_cols(
                        turn.vector(DVec3::X),
                        turn.vector(DVec3::Y),
                        turn.vector(DVec3::Z),
                    );
                    set(&mut planes.matrix, lane, &matrix);
                }
            }
            block.turns.push(planes);
        }
        for k in 0..most(|p| p.stretch_joints.len()) {
            let mut planes = StretchPlanes {
                joints: [0; BLOCK],
                shares: [[Plane::ZERO; 12]; 9],
            };
            for (lane, patch) in patches.iter().enumerate() {
                if let Some(joint) = patch.stretch_joints.get(k) {
                    planes.joints[lane] = *joint;
                    for (to, from) in planes.shares.iter_mut().zip(&patch.stretch[9 * k..]) {
                        set_twelve(to, lane, from);
                    }
                }
            }
            block.stretches.push(planes);
        }
        for (lane, patch) in patches.iter().enumerate() {
            set_vector(&mut block.pivots, lane, patch.pivot);
            let constant = &patch.stretch[9 * patch.stretch_joints.len()];
            set_twelve(&mut block.constant, lane, constant);
        }
        block
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self)
            + size_of_val(&self.frames[..])
            + size_of_val(&self.turns[..])
            + size_of_val(&self.stretches[..])
    }

    /// How many turns are gathered for each patch.
    pub(super) fn slot_count(&self) -> usize {
        self.turns.len() + self.stretches.len()
    }

    /// How many bones are gathered for each patch.
    pub(super) fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// `G` of the bones of the frames.
    #[inline(always)]
    pub(super) fn gather(&self, palette: &[Mat3x4], frames: &mut [AffinePlanes]) {
        for (frame, planes) in self.frames.iter().zip(frames) {
            gather(palette, &frame.bones, planes);
        }
    }

    /// The turns that the patches read, slot by slot.
    #[inline(always)]
    pub(super) fn gather_turns(&self, turns: &[BlockXyz], slots: &mut [BlockXyz]) {
        let joints = self.turns.iter().map(|turn| &turn.joints);
        let joints = joints.chain(self.stretches.iter().map(|stretch| &stretch.joints));
        for (joints, slot) in joints.zip(slots) {
            gather_turns(turns, joints, slot);
        }
    }

    /// `D` of every patch, column by column, from the gathered numbers.
    #[inline(always)]
    pub(super) fn motions<S: Simd>(
        &self,
        simd: S,
        frames: &[AffinePlanes],
        slots: &[BlockXyz],
        columns: &mut [BlockXyz],
    ) {
        let mut local = AFFINE_ZERO;
        self.local(simd, slots, &mut local);
        for part in 0..BLOCK / S::WIDTH {
            let (linear, offset) = self.frame(simd, frames, part);
            let (mut matrix, mut place) = (linear, offset);
            for r in 0..3 {
                for c in 0..3 {
                    matrix[r][c] = simd.load(&local[r][c], part);
                }
                place[r] = simd.load(&local[r][3], part);
            }
            let matrix = multiply(simd, &linear, &matrix);
            let place = transform(simd, &linear, place);
            for r in 0..3 {
                for c in 0..3 {
                    simd.store(matrix[r][c], &mut columns[c][r], part);
                }
                simd.store(simd.add(place[r], offset[r]), &mut columns[3][r], part);
            }
        }
    }

    /// `F = Σ w_a N_a`.
    #[inline(always)]
    fn frame<S: Simd>(
        &self,
        simd: S,
        gathered: &[AffinePlanes],
        part: usize,
    ) -> (Matrix<S>, Vector<S>) {
        let zero = simd.splat(0.0);
        let (mut linear, mut offset) = ([[zero; 3]; 3], [zero; 3]);
        for (frame, planes) in self.frames.iter().zip(gathered) {
            let mut g = linear;
            for r in 0..3 {
                for c in 0..3 {
                    g[r][c] = simd.load(&planes[r][c], part);
                }
            }
            let product = multiply(simd, &g, &load(simd, &frame.linear, part));
            let moved = transform(simd, &g, load_vector(simd, &frame.offset, part));
            let weight = simd.load(&frame.weight, part);
            for r in 0..3 {
                for c in 0..3 {
                    linear[r][c] = simd.add(linear[r][c], product[r][c]);
                }
                let place = simd.mul(simd.load(&planes[r][3], part), weight);
                offset[r] = simd.add(offset[r], simd.add(moved[r], place));
            }
        }
        (linear, offset)
    }

    /// `T(o) exp(ρ_1) exp(ρ_2) … [X | x]`.
    #[inline(always)]
    fn local<S: Simd>(&self, simd: S, slots: &[BlockXyz], local: &mut AffinePlanes) {
        let (turn_slots, stretch_slots) = slots.split_at(self.turns.len());
        let mut rotations = [Plane::ZERO, Plane::ZERO, Plane::ZERO, Plane([1.0; BLOCK])];
        for (k, (turn, vectors)) in self.turns.iter().zip(turn_slots).enumerate() {
            for part in 0..BLOCK / S::WIDTH {
                let matrix = load(simd, &turn.matrix, part);
                let vector = transform(simd, &matrix, load_vector(simd, vectors, part));
                let mut q = exponential(simd, vector);
                if k > 0 {
                    let mut before = q;
                    for c in 0..4 {
                        before[c] = simd.load(&rotations[c], part);
                    }
                    q = quaternion_product(simd, &before, &q);
                }
                for c in 0..4 {
                    simd.store(q[c], &mut rotations[c], part);
                }
            }
        }
        let mut stretches = self.constant;
        for (stretch, vectors) in self.stretches.iter().zip(stretch_slots) {
            for part in 0..BLOCK / S::WIDTH {
                let [x, y, z] = load_vector(simd, vectors, part);
                // As `stretch_inputs` has them.
                let inputs = [
                    x,
                    y,
                    z,
                    simd.mul(x, x),
                    simd.mul(y, y),
                    simd.mul(z, z),
                    simd.mul(y, z),
                    simd.mul(x, z),
                    simd.mul(x, y),
                ];
                for (k, plane) in stretches.iter_mut().enumerate() {
                    let mut sum = simd.load(plane, part);
                    for (shares, input) in stretch.shares.iter().zip(inputs) {
                        let share = simd.load(&shares[k], part);
                        sum = simd.add(sum, simd.mul(share, input));
                    }
                    simd.store(sum, plane, part);
                }
            }
        }
        for part in 0..BLOCK / S::WIDTH {
            let mut q = [simd.splat(0.0); 4];
            for c in 0..4 {
                q[c] = simd.load(&rotations[c], part);
            }
            let rotation = rotation_matrix(simd, &q);
            let pivot = load_vector(simd, &self.pivots, part);
            for c in 0..4 {
                let mut column = pivot;
                for r in 0..3 {
                    column[r] = simd.load(&stretches[3 * c + r], part);
                }
                let mut turned = transform(simd, &rotation, column);
                for r in 0..3 {
                    if c == 3 {
                        turned[r] = simd.add(turned[r], pivot[r]);
                    }
                    simd.store(turned[r], &mut local[r][c], part);
                }
            }
        }
    }
}

fn set_twelve(planes: &mut [Plane; 12], lane: usize, values: &[f64; 12]) {
    for (plane, x) in planes.iter_mut().zip(values) {
        plane.0[lane] = *x as f32;
    }
}
