//! Proxy bones for the palettes of the run-time: the same as [`ProxyBones::place`] computes, without
//! allocating.
//!
//! Most of the work is one product of matrices: every number of all proxies' matrices is a sum over
//! the columns of patches and source bones. Sixteen results, which are the columns of four
//! proxies, stand side by side; an input is loaded once and multiplied into 32 of them, and x, y and z
//! have sums of their own, so that the matrix is read once. Columns that are 0 for those eight
//! proxies are left out when packing. A patch that is fixed in its frame is linear in the matrix
//! of a bone: its columns are added to those of the bone, and the patch is not evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;

use super::kernel::{InstructionSet, Kernel, Simd, dispatch};
use super::plane::{BLOCK, BlockXyz, Plane};
use super::proxy_inputs::{AFFINE_ZERO, AffinePlanes, JointBlock, MatrixPlanes, PatchBlock, ZERO};
use super::{Mat3x4, RunError};
use crate::rig::{JointReading, PatchPredictor, ProxyBones, Skeleton};
use crate::skin::Skin;

/// Places the proxy bones of one character.
///
/// Call it each frame, between [`PackedSkeleton::palette`](super::PackedSkeleton::palette) and
/// [`PackedSkin::load_palette`](super::PackedSkin::load_palette):
///
/// ```
/// use dermis::run::{Mat3x4, PackedProxies, PackedSkeleton, PoseBuffer};
/// use dermis::synth::{ProxyOptions, TubeOptions, proxied, tube};
///
/// let tube = tube(&TubeOptions { ring_count: 8, segment_count: 6, bone_count: 3, example_count: 1 });
/// let skin = proxied(&tube.truth, &ProxyOptions { proxy_count: 5, ..Default::default() });
///
/// // Once.
/// let skeleton = PackedSkeleton::for_skin(&skin);
/// let mut proxies = PackedProxies::new(&skin)?;
/// let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
/// let mut palette: Vec<Mat3x4> = vec![[0.0; 12]; skeleton.bone_count()];
///
/// // Every frame.
/// skeleton.palette(&pose, &mut palette)?;
/// proxies.place(&mut palette)?;
///
/// let placed = &skin.run_pose_program(&pose.to_pose())?.palette.model_from_bone;
/// assert!((f64::from(palette[4][3]) - placed[4].translation.x).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone shares the packed numbers: pack a skin's proxies once and clone them for every character
/// or thread.
///
/// **Accuracy.** Against [`ProxyBones::place`] on the same palette, a number is off by at most 2e-6 of the
/// summed sizes of its terms, and 5e-6 where turns are read beyond half a circle (tests on random skins; a
/// turn by almost exactly a whole circle has no axis in 32 bits, so its error has no bound). Results are the
/// same to the bit on every machine and with every instruction set: see [the module](super).
///
/// **Cost.** A few microseconds for 60 proxies: see `docs/performance/proxy-bones.md`. The time goes into the numbers of
/// `C1` and `C2` that are not 0: 4 bytes and three multiply-adds each.
#[derive(Debug, Clone)]
pub struct PackedProxies {
    packed: Arc<Packed>,
    scratch: Scratch,
}

/// Intermediate results. Sixteen numbers that were written one by one cannot be loaded as one until they have
/// reached the cache, so everything is gathered before anything is used.
#[derive(Debug, Clone)]
struct Scratch {
    /// Of each block of joints: parents and bones.
    joints: Vec<[MatrixPlanes; 2]>,
    /// The bones of the frames of each block of patches.
    frames: Vec<AffinePlanes>,
    /// Of each block of joints.
    turns: Vec<BlockXyz>,
    /// The turns that each block of patches reads.
    slots: Vec<BlockXyz>,
    /// The columns of patches, then those of source bones: x, y and z of sixteen columns.
    inputs: Vec<BlockXyz>,
    /// The columns of four proxies.
    results: Vec<BlockXyz>,
}

#[derive(Debug)]
struct Packed {
    bone_count: usize,
    /// Bones before the first carrier.
    posed_bone_count: usize,
    instruction_set: InstructionSet,
    joints: Vec<JointBlock>,
    patches: Vec<PatchBlock>,
    sources: Vec<u16>,
    panels: Vec<Panel>,
    /// Number of the input of each column, panel after panel.
    columns: Vec<u16>,
    /// The matrix: of each column as many planes as its panel has.
    planes: Vec<Plane>,
}

/// Rows of the matrix whose sums are made together.
#[derive(Debug, Clone, Copy)]
struct Panel {
    /// Planes of results: [`PANEL`], or 1 at the end.
    width: usize,
    /// How many columns have a number that is not 0.
    column_count: usize,
}

/// Planes of results that share a load of an input. Six sums hide the latency of an addition, and
/// with AVX2 they take 12 of 16 registers.
const PANEL: usize = 2;

/// Columns of a proxy's matrix.
const COLUMNS: usize = 4;

impl PackedProxies {
    /// Packs the proxies of a skin; it may have none.
    ///
    /// # Errors
    /// [`RunError::Rig`] when the proxies do not fit the skeleton, and [`RunError::TooManyColumns`]
    /// when they have too many.
    pub fn new(skin: &Skin) -> Result<Self, RunError> {
        let packed = match skin.pose_program.proxies() {
            Some(proxies) => Packed::new(&skin.skeleton, proxies)?,
            None => Packed::none(&skin.skeleton),
        };
        let source_blocks = (COLUMNS * packed.sources.len()).div_ceil(BLOCK);
        let result_planes = packed.panels.iter().map(|panel| panel.width).sum();
        let slot_count = packed.patches.iter().map(PatchBlock::slot_count).sum();
        let frame_count = packed.patches.iter().map(PatchBlock::frame_count).sum();
        let zero = [Plane::ZERO; 3];
        let scratch = Scratch {
            joints: vec![[ZERO; 2]; packed.joints.len()],
            frames: vec![AFFINE_ZERO; frame_count],
            turns: vec![zero; packed.joints.len()],
            slots: vec![zero; slot_count],
            inputs: vec![zero; COLUMNS * packed.patches.len() + source_blocks],
            results: vec![zero; result_planes],
        };
        Ok(Self {
            packed: Arc::new(packed),
            scratch,
        })
    }

    /// How many proxies there are.
    pub fn proxy_count(&self) -> usize {
        (self.packed.bone_count - self.packed.posed_bone_count) / 2
    }

    /// Bytes of the packed numbers that every call reads.
    pub fn bytes(&self) -> usize {
        let packed = &*self.packed;
        let patches = packed.patches.iter().map(PatchBlock::bytes);
        size_of_val(&packed.planes[..])
            + size_of_val(&packed.columns[..])
            + size_of_val(&packed.joints[..])
            + patches.sum::<usize>()
    }

    /// Overwrites `G` of every proxy, and of its carrier with the same matrix, from those of the posed
    /// bones. Allocates nothing.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when the palette has another number of bones.
    pub fn place(&mut self, model_from_bone: &mut [Mat3x4]) -> Result<(), RunError> {
        let packed = &*self.packed;
        RunError::check_count(
            "matrices in the palette",
            packed.bone_count,
            model_from_bone.len(),
        )?;
        let (posed, placed) = model_from_bone.split_at_mut(packed.posed_bone_count);
        dispatch(
            packed.instruction_set,
            Place {
                packed,
                posed,
                scratch: &mut self.scratch,
            },
        );
        for (m, pair) in placed.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let block = &self.scratch.results[m / (BLOCK / COLUMNS)];
            let first = m % (BLOCK / COLUMNS) * COLUMNS;
            for (r, plane) in block.iter().enumerate() {
                let row = &plane.0[first..first + COLUMNS];
                for matrix in pair.iter_mut() {
                    matrix[COLUMNS * r..COLUMNS * (r + 1)].copy_from_slice(row);
                }
            }
        }
        Ok(())
    }
}

impl Packed {
    fn none(skeleton: &Skeleton) -> Self {
        Self {
            bone_count: skeleton.bone_count(),
            posed_bone_count: skeleton.bone_count(),
            instruction_set: InstructionSet::best(),
            joints: Vec::new(),
            patches: Vec::new(),
            sources: Vec::new(),
            panels: Vec::new(),
            columns: Vec::new(),
            planes: Vec::new(),
        }
    }

    fn new(skeleton: &Skeleton, proxies: &ProxyBones) -> Result<Self, RunError> {
        proxies.check(skeleton)?;
        let row_count = COLUMNS * proxies.bones.len();
        let (moving, by_source) = columns_by_input(skeleton, proxies);
        let patches = moving.iter().map(|&l| proxies.patches[l].clone());
        let (joints, patches) = with_used_joints(&proxies.joints, patches.collect());
        let mut packed = Self {
            posed_bone_count: skeleton.bone_count() - proxies.unposed_bone_count(),
            joints: (joints.chunks(BLOCK))
                .map(|joints| JointBlock::new(skeleton, joints))
                .collect(),
            patches: (patches.chunks(BLOCK))
                .map(|patches| PatchBlock::new(skeleton, patches))
                .collect(),
            sources: by_source.keys().copied().collect(),
            ..Self::none(skeleton)
        };
        // Every column with the number of its input: those of patches stand as their blocks write
        // them, x of all sixteen before y.
        let mut columns: Vec<(usize, Vec<f64>)> = Vec::new();
        let width = COLUMNS * proxies.patches.len();
        for (k, &l) in moving.iter().enumerate() {
            for c in 0..COLUMNS {
                let input = BLOCK * (k / BLOCK * COLUMNS + c) + k % BLOCK;
                let at = |row: usize| proxies.from_patches[row * width + COLUMNS * l + c];
                columns.push((input, (0..row_count).map(at).collect()));
            }
        }
        let first = COLUMNS * BLOCK * packed.patches.len();
        for (s, of_bone) in by_source.into_values().enumerate() {
            for (c, column) in of_bone.into_iter().enumerate() {
                columns.push((first + COLUMNS * s + c, column));
            }
        }
        let found = first + COLUMNS * packed.sources.len();
        if found > usize::from(u16::MAX) {
            return Err(RunError::TooManyColumns { found });
        }
        let plane_count = row_count.div_ceil(BLOCK);
        for start in (0..plane_count).step_by(PANEL) {
            packed.push_panel(&columns, start, PANEL.min(plane_count - start));
        }
        Ok(packed)
    }

    /// Appends the panel that computes some planes of results.
    fn push_panel(&mut self, columns: &[(usize, Vec<f64>)], first_plane: usize, width: usize) {
        let mut column_count = 0;
        for (input, column) in columns {
            let rows = &column[BLOCK * first_plane..];
            let rows = &rows[..rows.len().min(BLOCK * width)];
            if rows.iter().all(|&x| x as f32 == 0.0) {
                continue;
            }
            column_count += 1;
            self.columns.push(*input as u16);
            self.planes.extend((0..width).map(|k| {
                let at = |lane: usize| rows.get(BLOCK * k + lane).map_or(0.0, |&x| x as f32);
                Plane(std::array::from_fn(at))
            }));
        }
        self.panels.push(Panel {
            width,
            column_count,
        });
    }
}

/// Which patches have to be evaluated, and the columns of `C2` for each source bone once those of
/// all other patches are added to them.
fn columns_by_input(
    skeleton: &Skeleton,
    proxies: &ProxyBones,
) -> (Vec<usize>, BTreeMap<u16, [Vec<f64>; COLUMNS]>) {
    let row_count = COLUMNS * proxies.bones.len();
    let mut by_source: BTreeMap<u16, [Vec<f64>; COLUMNS]> = BTreeMap::new();
    let none = || std::array::from_fn(|_| vec![0.0; row_count]);
    let width = COLUMNS * proxies.sources.len();
    for (s, bone) in proxies.sources.iter().enumerate() {
        let of_bone = by_source.entry(bone.0).or_insert_with(none);
        for (c, column) in of_bone.iter_mut().enumerate() {
            for (row, sum) in column.iter_mut().enumerate() {
                *sum += proxies.from_sources[row * width + COLUMNS * s + c];
            }
        }
    }
    let width = COLUMNS * proxies.patches.len();
    let mut moving = Vec::new();
    for (l, patch) in proxies.patches.iter().enumerate() {
        if !is_fixed(patch) {
            moving.push(l);
            continue;
        }
        // `D = Σ_a G_a w_a Ĝ_a⁻¹ L`, with the same L for all turns.
        let local = patch.local(&vec![DVec3::ZERO; proxies.joints.len()]);
        for &(bone, weight) in &patch.frame {
            let in_bone = skeleton.bones()[bone.index()].bone_from_rest * local;
            let of_bone = by_source.entry(bone.0).or_insert_with(none);
            for row in 0..row_count {
                let shares = &proxies.from_patches[row * width + COLUMNS * l..][..COLUMNS];
                let (along, place) = (DVec3::from_slice(shares), shares[3]);
                let linear = in_bone.matrix3 * along + in_bone.translation * place;
                for (column, share) in of_bone.iter_mut().zip(linear.extend(place).to_array()) {
                    column[row] += weight * share;
                }
            }
        }
    }
    // Blocks of patches that need as much as each other.
    moving.sort_by_key(|&l| {
        let patch = &proxies.patches[l];
        (
            patch.frame.len(),
            patch.turns.len(),
            patch.stretch_joints.len(),
        )
    });
    (moving, by_source)
}

/// True when a patch stays fixed in its frame however the joints turn.
fn is_fixed(patch: &PatchPredictor) -> bool {
    let shares = &patch.stretch[..9 * patch.stretch_joints.len()];
    patch.turns.iter().all(|turn| turn.scale == 0.0)
        && shares.iter().flatten().all(|&share| share == 0.0)
}

/// The joints that some patches read, and the patches with those joints renumbered.
fn with_used_joints(
    joints: &[JointReading],
    mut patches: Vec<PatchPredictor>,
) -> (Vec<JointReading>, Vec<PatchPredictor>) {
    let mut used = Vec::new();
    let mut numbers: Vec<Option<u16>> = vec![None; joints.len()];
    for patch in &mut patches {
        let turns = patch.turns.iter_mut().map(|turn| &mut turn.joint);
        for joint in turns.chain(&mut patch.stretch_joints) {
            let number = &mut numbers[usize::from(*joint)];
            *joint = *number.get_or_insert_with(|| {
                used.push(joints[usize::from(*joint)]);
                (used.len() - 1) as u16
            });
        }
    }
    (used, patches)
}

/// One pose of one character.
struct Place<'a> {
    packed: &'a Packed,
    posed: &'a [Mat3x4],
    scratch: &'a mut Scratch,
}

impl Kernel for Place<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self {
            packed,
            posed,
            scratch,
        } = self;
        for (joints, matrices) in packed.joints.iter().zip(&mut scratch.joints) {
            joints.gather(posed, matrices);
        }
        let mut frames = &mut scratch.frames[..];
        for patches in &packed.patches {
            let (own, others) = frames.split_at_mut(patches.frame_count());
            patches.gather(posed, own);
            frames = others;
        }
        let (of_patches, of_sources) = scratch.inputs.split_at_mut(COLUMNS * packed.patches.len());
        for (s, &bone) in packed.sources.iter().enumerate() {
            let matrix = &posed[usize::from(bone)];
            let block = &mut of_sources[COLUMNS * s / BLOCK];
            let first = COLUMNS * s % BLOCK;
            for (r, plane) in block.iter_mut().enumerate() {
                plane.0[first..first + COLUMNS]
                    .copy_from_slice(&matrix[COLUMNS * r..COLUMNS * (r + 1)]);
            }
        }
        let joints = packed.joints.iter().zip(&scratch.joints);
        for ((joints, matrices), turns) in joints.zip(&mut scratch.turns) {
            joints.turns(simd, posed, matrices, turns);
        }
        let mut slots = &mut scratch.slots[..];
        for patches in &packed.patches {
            let (own, others) = slots.split_at_mut(patches.slot_count());
            patches.gather_turns(&scratch.turns, own);
            slots = others;
        }
        let mut slots = &scratch.slots[..];
        let mut frames = &scratch.frames[..];
        let columns = of_patches.as_chunks_mut::<COLUMNS>().0;
        for (patches, columns) in packed.patches.iter().zip(columns) {
            let (own, others) = slots.split_at(patches.slot_count());
            let (own_frames, other_frames) = frames.split_at(patches.frame_count());
            patches.motions(simd, own_frames, own, columns);
            (slots, frames) = (others, other_frames);
        }
        packed.sums(simd, &scratch.inputs, &mut scratch.results);
    }
}

impl Packed {
    /// The product of matrices.
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S, inputs: &[BlockXyz], mut results: &mut [BlockXyz]) {
        let (mut columns, mut planes) = (&self.columns[..], &self.planes[..]);
        for panel in &self.panels {
            let (own_columns, other_columns) = columns.split_at(panel.column_count);
            let (own_planes, other_planes) = planes.split_at(panel.width * panel.column_count);
            let (own_results, other_results) = results.split_at_mut(panel.width);
            match panel.width {
                PANEL => sum::<S, PANEL>(simd, own_columns, own_planes, inputs, own_results),
                _ => sum::<S, 1>(simd, own_columns, own_planes, inputs, own_results),
            }
            (columns, planes, results) = (other_columns, other_planes, other_results);
        }
    }
}

/// The sums of one panel.
#[inline(always)]
fn sum<S: Simd, const N: usize>(
    simd: S,
    columns: &[u16],
    planes: &[Plane],
    inputs: &[BlockXyz],
    results: &mut [BlockXyz],
) {
    for part in 0..BLOCK / S::WIDTH {
        let mut sums = [[simd.splat(0.0); 3]; N];
        for (&column, planes) in columns.iter().zip(planes.as_chunks::<N>().0) {
            let (block, lane) = (usize::from(column) / BLOCK, usize::from(column) % BLOCK);
            let input = &inputs[block];
            for r in 0..3 {
                let x = simd.splat(input[r].0[lane]);
                for n in 0..N {
                    // Not fused: the same bits on every machine.
                    let product = simd.mul(simd.load(&planes[n], part), x);
                    sums[n][r] = simd.add(sums[n][r], product);
                }
            }
        }
        for n in 0..N {
            for r in 0..3 {
                simd.store(sums[n][r], &mut results[n][r], part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{PackedSkeleton, PoseBuffer};
    use crate::synth::{BodyOptions, ProxyOptions, body, proxied};

    fn character(proxy_count: usize, patch_count: usize) -> (Skin, Vec<Mat3x4>) {
        let body = body(&BodyOptions {
            vertex_count: 300,
            influences: 3,
            bone_count: 23,
        });
        let options = ProxyOptions {
            proxy_count,
            patch_count,
            ..ProxyOptions::default()
        };
        let skin = proxied(&body.skin, &options);
        let mut pose = PoseBuffer::new(&skin.skeleton, &[]);
        for (id, local) in skin.skeleton.ids().zip(&body.pose.parent_from_bone) {
            pose.set_local(id, &crate::rig::Trs::from_affine(local).0);
        }
        let mut palette = vec![[0.0; 12]; skin.skeleton.bone_count()];
        PackedSkeleton::for_skin(&skin)
            .palette(&pose, &mut palette)
            .expect("as many bones");
        (skin, palette)
    }

    #[test]
    fn every_instruction_set_and_every_call_gives_the_same_bits() {
        for (proxies, patches) in [(1, 3), (9, 40), (33, 20)] {
            let (skin, palette) = character(proxies, patches);
            let bits = |packed: &mut PackedProxies| {
                let mut palette = palette.clone();
                packed.place(&mut palette).expect("as many bones");
                palette.as_flattened().iter().map(|x| x.to_bits()).collect()
            };
            let mut packed = PackedProxies::new(&skin).expect("fits");
            let expected: Vec<u32> = bits(&mut packed);
            assert_eq!(bits(&mut packed), expected, "again");
            assert_eq!(bits(&mut packed.clone()), expected, "a clone");
            for set in InstructionSet::available() {
                let mut other = PackedProxies::new(&skin).expect("fits");
                let packed = Arc::get_mut(&mut other.packed).expect("nobody shares it");
                packed.instruction_set = set;
                assert_eq!(bits(&mut other), expected, "{set:?}");
            }
        }
    }

    #[test]
    fn patches_fixed_in_their_frame_are_not_evaluated() {
        let (mut skin, _) = character(5, 20);
        let blocks = |skin: &Skin| {
            let packed = PackedProxies::new(skin).expect("fits").packed;
            (packed.joints.len(), packed.patches.len())
        };
        assert_eq!(blocks(&skin), (2, 1), "fifteen patches of 20 joints or so");
        let proxies = skin.pose_program.proxies_mut().expect("made with them");
        let middle = DVec3::Z;
        (proxies.joints.iter_mut()).for_each(|joint| joint.middle = middle);
        for patch in &mut proxies.patches {
            patch.turns.iter_mut().for_each(|turn| turn.scale = 0.0);
            let count = 9 * patch.stretch_joints.len();
            patch.stretch[..count].fill([0.0; 12]);
        }
        assert_eq!(blocks(&skin), (0, 0), "all are bones' matrices");
    }

    #[test]
    fn columns_that_are_zero_for_eight_proxies_are_left_out() {
        let (mut skin, palette) = character(20, 16);
        let before = PackedProxies::new(&skin).expect("fits").packed;
        let proxies = skin.pose_program.proxies_mut().expect("made with them");
        let width = COLUMNS * proxies.patches.len();
        // The first patch moves the ninth proxy alone.
        for row in (0..80).filter(|row| row / 4 != 8) {
            proxies.from_patches[row * width..][..3].fill(0.0);
        }
        let mut packed = PackedProxies::new(&skin).expect("fits");
        let dropped = before.columns.len() - packed.packed.columns.len();
        assert_eq!(dropped, 2 * 3, "in two of three panels");
        let mut placed = palette.clone();
        packed.place(&mut placed).expect("as many bones");
        let exact = skin.pose_program.proxies().expect("made with them").place(
            &skin.skeleton,
            &palette
                .iter()
                .map(crate::run::palette::to_affine)
                .collect::<Vec<_>>(),
        );
        for (m, exact) in exact.iter().enumerate() {
            let found = crate::run::palette::to_affine(&placed[23 + 2 * m + 1]);
            assert!(found.abs_diff_eq(*exact, 5e-6), "{found} for {exact}");
        }
    }
}
