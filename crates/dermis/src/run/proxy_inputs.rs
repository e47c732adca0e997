//! What proxy bones are placed from, sixteen joints or gradients at a time.

use glam::{DMat3, DVec3, Mat4, Vec4};

use super::Mat3x4;
use super::kernel::Simd;
use super::lane_math::{
    Matrix, Vector, cofactors, dot, exponential, logarithm, multiply, nearest_branch,
    quaternion_of, quaternion_product, rotation_matrix, scaled, transform, transpose,
};
use super::plane::{BLOCK, BlockXyz, Plane};
use crate::math::nearest_rotation;
use crate::rig::{BoneId, GradientPredictor, JointReading, Skeleton};

/// Sixteen 3×3 matrices, row by row.
pub(super) type MatrixPlanes = [[Plane; 3]; 3];

pub(super) const ZERO: MatrixPlanes = [[Plane::ZERO; 3]; 3];

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
    /// Of each joint, as it was given: for matrices that are no rotations at all.
    exact: [ExactJoint; BLOCK],
}

/// `lin(Ĝ⁻¹)` of both bones of a joint.
#[derive(Debug, Clone, Copy)]
struct ExactJoint {
    bone: DMat3,
    parent: DMat3,
}

/// Sixteen gradients that follow joints. The last block is filled up with its last gradient.
#[derive(Debug)]
pub(super) struct GradientBlock {
    frames: [u16; BLOCK],
    /// `lin(Ĝ_a⁻¹)`.
    rest_inverse: MatrixPlanes,
    /// `u W` of every first turn, then of every second, …; 0 where a gradient has fewer.
    turns: Vec<TurnPlanes>,
    stretches: Vec<StretchPlanes>,
    /// What the stretch is when no joint turns.
    constant: [Plane; 6],
}

#[derive(Debug)]
struct TurnPlanes {
    joints: [u16; BLOCK],
    matrix: MatrixPlanes,
}

/// Shares of the three components of a joint's turn in the six numbers of a symmetric matrix.
#[derive(Debug)]
struct StretchPlanes {
    joints: [u16; BLOCK],
    shares: [[Plane; 6]; 3],
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

/// One element per lane; what is missing of sixteen repeats the last.
fn lanes<T>(list: &[T]) -> [&T; BLOCK] {
    std::array::from_fn(|lane| &list[lane.min(list.len() - 1)])
}

fn rest_inverse(skeleton: &Skeleton, bone: BoneId) -> DMat3 {
    skeleton.bones()[bone.index()].bone_from_rest.matrix3
}

/// `lin(G)` of sixteen bones.
#[inline(always)]
fn gather(palette: &[Mat3x4], bones: &[u16; BLOCK], planes: &mut MatrixPlanes) {
    for (group, bones) in bones.as_chunks::<4>().0.iter().enumerate() {
        let matrices = [
            &palette[usize::from(bones[0])],
            &palette[usize::from(bones[1])],
            &palette[usize::from(bones[2])],
            &palette[usize::from(bones[3])],
        ];
        for r in 0..3 {
            // A row of each of four bones becomes a number of all four, three times.
            let rows = Mat4::from_cols(
                Vec4::from_slice(&matrices[0][4 * r..4 * r + 4]),
                Vec4::from_slice(&matrices[1][4 * r..4 * r + 4]),
                Vec4::from_slice(&matrices[2][4 * r..4 * r + 4]),
                Vec4::from_slice(&matrices[3][4 * r..4 * r + 4]),
            );
            let of_four = rows.transpose();
            for (c, numbers) in [of_four.x_axis, of_four.y_axis, of_four.z_axis]
                .into_iter()
                .enumerate()
            {
                numbers.write_to_slice(&mut planes[r][c].0[4 * group..4 * group + 4]);
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

    /// The turns of the joints, near their middles, from what was gathered of a palette.
    ///
    /// The rotation nearest to `M = lin(N_a⁻¹ N_b)` is found by Newton's iteration for the polar
    /// decomposition, `X ← (X + X⁻ᵀ)/2` from `M` of the size of a rotation. Two steps do for bones
    /// that are rigid or nearly so; stretch takes some more. What is almost flat or mirrored goes
    /// through [`nearest_rotation`] instead, lane by lane.
    #[inline(always)]
    pub(super) fn turns<S: Simd>(
        &self,
        simd: S,
        palette: &[Mat3x4],
        [parents, bones]: &[MatrixPlanes; 2],
        turns: &mut BlockXyz,
    ) {
        /// Below this share of the volume of a cube the iteration is slow, and 32 bits are few.
        const THIN: f32 = 0.05;
        const MOST_STEPS: usize = 12;
        let mut x = ZERO;
        let mut volume = Plane::ZERO;
        for part in 0..BLOCK / S::WIDTH {
            // The inverse up to a positive factor, which the rotation does not see.
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

impl GradientBlock {
    /// Packs at least 1 and at most sixteen gradients.
    pub(super) fn new(skeleton: &Skeleton, gradients: &[GradientPredictor]) -> Self {
        let gradients = lanes(gradients);
        let most = |count: fn(&GradientPredictor) -> usize| {
            gradients.iter().map(|g| count(g)).max().unwrap_or(0)
        };
        let mut block = Self {
            frames: gradients.map(|g| g.frame.0),
            rest_inverse: ZERO,
            turns: Vec::new(),
            stretches: Vec::new(),
            constant: [Plane::ZERO; 6],
        };
        for k in 0..most(|g| g.turns.len()) {
            let mut planes = TurnPlanes {
                joints: [0; BLOCK],
                matrix: ZERO,
            };
            for (lane, gradient) in gradients.iter().enumerate() {
                if let Some(turn) = gradient.turns.get(k) {
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
        for k in 0..most(|g| g.stretch_joints.len()) {
            let mut planes = StretchPlanes {
                joints: [0; BLOCK],
                shares: [[Plane::ZERO; 6]; 3],
            };
            for (lane, gradient) in gradients.iter().enumerate() {
                if let Some(joint) = gradient.stretch_joints.get(k) {
                    planes.joints[lane] = *joint;
                    for (to, from) in planes.shares.iter_mut().zip(&gradient.stretch[3 * k..]) {
                        set_six(to, lane, from);
                    }
                }
            }
            block.stretches.push(planes);
        }
        for (lane, gradient) in gradients.iter().enumerate() {
            let rest = rest_inverse(skeleton, gradient.frame);
            set(&mut block.rest_inverse, lane, &rest);
            set_six(
                &mut block.constant,
                lane,
                &gradient.stretch[3 * gradient.stretch_joints.len()],
            );
        }
        block
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&self.turns[..]) + size_of_val(&self.stretches[..])
    }

    /// How many turns are gathered for each gradient.
    pub(super) fn slot_count(&self) -> usize {
        self.turns.len() + self.stretches.len()
    }

    /// `lin(G)` of the frames.
    #[inline(always)]
    pub(super) fn gather(&self, palette: &[Mat3x4], frames: &mut MatrixPlanes) {
        gather(palette, &self.frames, frames);
    }

    /// The turns that the gradients read, slot by slot.
    #[inline(always)]
    pub(super) fn gather_turns(&self, turns: &[BlockXyz], slots: &mut [BlockXyz]) {
        let joints = self.turns.iter().map(|turn| &turn.joints);
        let joints = joints.chain(self.stretches.iter().map(|stretch| &stretch.joints));
        for (joints, slot) in joints.zip(slots) {
            gather_turns(turns, joints, slot);
        }
    }

    /// `D` of every gradient, column by column, from what was gathered.
    #[inline(always)]
    pub(super) fn gradients<S: Simd>(
        &self,
        simd: S,
        frames: &MatrixPlanes,
        slots: &[BlockXyz],
        columns: &mut [BlockXyz],
    ) {
        let mut local = ZERO;
        self.local(simd, slots, &mut local);
        for part in 0..BLOCK / S::WIDTH {
            let local = load(simd, &local, part);
            let rest = load(simd, &self.rest_inverse, part);
            let in_bone = multiply(simd, &rest, &local);
            let gradient = multiply(simd, &load(simd, frames, part), &in_bone);
            for c in 0..3 {
                for r in 0..3 {
                    simd.store(gradient[r][c], &mut columns[c][r], part);
                }
            }
        }
    }

    /// `exp(ρ_1) exp(ρ_2) … S`.
    #[inline(always)]
    fn local<S: Simd>(&self, simd: S, slots: &[BlockXyz], local: &mut MatrixPlanes) {
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
                for (k, plane) in stretches.iter_mut().enumerate() {
                    let mut sum = simd.load(plane, part);
                    for (shares, vector) in stretch.shares.iter().zip(vectors) {
                        let share = simd.load(&shares[k], part);
                        sum = simd.add(sum, simd.mul(share, simd.load(vector, part)));
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
            let mut s = [simd.splat(0.0); 6];
            for k in 0..6 {
                s[k] = simd.load(&stretches[k], part);
            }
            let [xx, yy, zz, yz, xz, xy] = s;
            let stretch = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
            let rotation = rotation_matrix(simd, &q);
            store(simd, &multiply(simd, &rotation, &stretch), local, part);
        }
    }
}

fn set_six(planes: &mut [Plane; 6], lane: usize, values: &[f64; 6]) {
    for (plane, x) in planes.iter_mut().zip(values) {
        plane.0[lane] = *x as f32;
    }
}
