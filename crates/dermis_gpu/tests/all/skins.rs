//! Random skins, packed in every way that there is.

use dermis::Rows;
use dermis::normal::tangents_from_rest_normals;
use dermis::run::{
    CorrectionPrecision, Frame, NormalLength, Normals, Output, PackOptions, PackedSkin, Precision,
};
use dermis::{Pose, Skin, VertexProgram};
use dermis_gpu::layout::GpuSkin;
use glam::DVec4;
use proptest::prelude::*;

use crate::run_support::{Dice, KINDS, Kind, Size, random_skin};

/// What a skin is packed with; drawn by property tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packing {
    pub(crate) sixteen_bits: bool,
    pub(crate) correction_precision: CorrectionPrecision,
    /// 0 none, 1 rest normals, 2 tangents, 3 tangents with fourth numbers.
    pub(crate) normals: usize,
    pub(crate) unit: bool,
}

/// A packed skin in a frame.
pub(crate) struct Case {
    pub(crate) packed: PackedSkin,
    pub(crate) frame: Frame,
    /// The same in another pose: two instances must not be mixed up.
    pub(crate) other: Frame,
    pub(crate) kind: Kind,
}

pub(crate) fn packings() -> impl Strategy<Value = Packing> {
    (any::<bool>(), 0..3usize, 0..4usize, any::<bool>()).prop_map(
        |(sixteen_bits, corrections, normals, unit)| Packing {
            sixteen_bits,
            correction_precision: [
                CorrectionPrecision::Full,
                CorrectionPrecision::Bits16,
                CorrectionPrecision::Bits8,
            ][corrections],
            normals,
            unit,
        },
    )
}

pub(crate) fn sizes() -> impl Strategy<Value = Size> {
    let correction_count = prop_oneof![0..3usize, 30..70usize];
    (1..90usize, 1..9usize, 0..=9usize, correction_count).prop_map(
        |(vertices, bones, most_influences, corrections)| Size {
            vertices,
            bones,
            most_influences,
            corrections,
            proxies: 0,
        },
    )
}

pub(crate) fn case(seed: u64, size: Size, kind: usize, packing: Packing) -> Case {
    let kind = KINDS[kind];
    let mut dice = Dice::new(seed);
    let (skin, mut pose) = random_skin(&mut dice, size, kind);
    // Some coefficients are off.
    for c in pose.coefficients.iter_mut().step_by(3) {
        *c = 0.0;
    }
    let options = PackOptions {
        precision: match packing.sixteen_bits {
            true => Precision::Quantized16,
            false => Precision::Full,
        },
        correction_precision: packing.correction_precision,
        normals: normals(&mut dice, &skin, packing.normals),
        normal_length: match packing.unit {
            true => NormalLength::Unit,
            false => NormalLength::AsBlended,
        },
        ..PackOptions::default()
    };
    let packed = PackedSkin::new(&skin, &options).expect("packs");
    let frame_of = |pose: &Pose| {
        let inputs = skin.run_pose_program(pose).expect("fits");
        packed.frame(&inputs).expect("fits")
    };
    let frame = frame_of(&pose);
    pose.parent_from_bone[0] = dice.rigid();
    pose.coefficients.iter_mut().for_each(|c| *c = 0.5 - *c);
    let other = frame_of(&pose);
    Case {
        packed,
        frame,
        other,
        kind,
    }
}

/// A linear skin packed with tangents from rest normals, and laid out in the space of the rest pose, which should have
/// the same normals.
pub(crate) fn in_rest_space(seed: u64) -> (Case, GpuSkin) {
    let size = Size {
        vertices: 70,
        bones: 6,
        most_influences: 4,
        corrections: 3,
        proxies: 0,
    };
    let mut dice = Dice::new(seed);
    let (skin, pose) = random_skin(&mut dice, size, Kind::Linear);
    let rest: Vec<_> = (0..70)
        .map(|_| dice.vector().normalize_or(glam::DVec3::X))
        .collect();
    let tangents = tangents_from_rest_normals(&skin, &rest).expect("of this skin");
    let with = |normals| {
        let options = PackOptions {
            normals,
            normal_length: NormalLength::AsBlended,
            ..PackOptions::default()
        };
        PackedSkin::new(&skin, &options).expect("packs")
    };
    let packed = with(Normals::Tangents(tangents.four_vectors()));
    let inputs = skin.run_pose_program(&pose).expect("fits");
    let frame = packed.frame(&inputs).expect("fits");
    let plain = with(Normals::None);
    let layout = GpuSkin::linear_in_rest_space(&plain, &skin.skeleton, &rest).expect("it fits");
    let case = Case {
        packed,
        other: frame.clone(),
        frame,
        kind: Kind::Linear,
    };
    (case, layout)
}

fn normals(dice: &mut Dice, skin: &Skin, kind: usize) -> Normals {
    let mut unit = || dice.vector().normalize_or(glam::DVec3::X);
    match (kind, &skin.program) {
        (0, _) => Normals::None,
        (2.., VertexProgram::Linear(linear)) => {
            let mut rows = Rows::default();
            for row in linear.influences.iter() {
                let mut tangents: Vec<[DVec4; 2]> = (row.iter())
                    .map(|_| [unit().extend(0.0), unit().extend(0.0)])
                    .collect();
                if kind == 3 {
                    for tangent in tangents.iter_mut().flatten() {
                        tangent.w = unit().x;
                    }
                }
                rows.push_row(tangents);
            }
            Normals::Tangents(rows)
        }
        _ => Normals::Rest((0..skin.vertex_count()).map(|_| unit()).collect()),
    }
}

/// Positions and normals by the processor; normals are zero when the skin has none.
pub(crate) fn by_run(packed: &PackedSkin, frame: &Frame) -> [Vec<[f32; 3]>; 2] {
    let mut positions = vec![[f32::NAN; 3]; packed.vertex_count()];
    let mut normals = vec![[0.0; 3]; packed.vertex_count()];
    let out = Output::Vertices {
        positions: &mut positions,
        normals: packed.has_normals().then_some(&mut normals),
    };
    packed.evaluate(&frame.inputs(), out).expect("sizes agree");
    [positions, normals]
}

impl Case {
    /// How far positions may be off: the roundings of sums of terms as large as this skin's.
    ///
    /// Both sides round the same 32-bit inputs, so only the order of sums and fused products differ.
    pub(crate) fn allowed(&self, expected: &[[f32; 3]]) -> f32 {
        let largest = expected
            .iter()
            .flatten()
            .fold(1.0, |a: f32, b| a.max(b.abs()));
        let matrix = self.frame.palette.iter().chain(&self.other.palette);
        let matrix = matrix.flat_map(|entry| entry.columns.iter().flatten());
        let matrix = matrix.fold(1.0, |a: f32, b| a.max(b.abs()));
        let moved = self
            .frame
            .coefficients
            .iter()
            .chain(&self.other.coefficients);
        let moved: f32 = moved.map(|c| c.abs()).sum();
        let terms = 200.0 * (largest + matrix) * (1.0 + moved) * f32::EPSILON;
        match self.kind {
            // Quaternions that nearly cancel magnify rounding by one over their squared length.
            Kind::DualQuaternion => 100.0 * terms,
            _ => terms,
        }
    }

    /// Fails unless these are the positions and normals that the processor computes.
    pub(crate) fn check(&self, frame: &Frame, found: &[Vec<[f32; 3]>; 2], what: &str) {
        let expected = by_run(&self.packed, frame);
        let allowed = self.allowed(&expected[0]);
        for (v, (a, b)) in found[0].iter().zip(&expected[0]).enumerate() {
            let off = distance(*a, *b);
            assert!(
                off <= allowed,
                "{what}: vertex {v} at {a:?}, not {b:?}; allowed {allowed:e}"
            );
        }
        for (v, (a, b)) in found[1].iter().zip(&expected[1]).enumerate() {
            // A short normal turns by more when it is rounded, and is made long again.
            let length = distance(*b, [0.0; 3]);
            let unit = (length - 1.0).abs() < 1e-3;
            let off = distance(*a, *b);
            let allowed = if unit {
                100.0 * allowed
            } else {
                20.0 * allowed
            };
            assert!(
                off <= allowed.max(1e-4),
                "{what}: normal {v} is {a:?}, not {b:?}"
            );
        }
        assert_eq!(found[0].len(), expected[0].len(), "{what}: a position each");
    }
}

pub(crate) fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    let squares = (0..3).map(|c| (a[c] - b[c]).powi(2));
    let sum: f32 = squares.sum();
    // NaN is far from everything.
    if sum.is_nan() {
        f32::INFINITY
    } else {
        sum.sqrt()
    }
}
