//! Random skins of every kind, for the tests of the fast evaluation.

use dermis::skin::{
    Coefficient, Correction, Delta, DualQuaternionProgram, MultiWeight, MultiWeightProgram,
    SsdProgram, Weight,
};
use dermis::synth::{ProxyOptions, proxied};
use dermis::{BoneId, Pose, Rows, Skeleton, Skin, VertexProgram};
pub(crate) use dice::Dice;
use glam::DMat3;

use crate::support::dice;

/// Sizes of a random skin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) vertices: usize,
    pub(crate) bones: usize,
    /// Each vertex has 0 to this many, in any order, sometimes one bone twice.
    pub(crate) most_influences: usize,
    pub(crate) corrections: usize,
    /// Not for dual quaternions, which need rigid bones.
    pub(crate) proxies: usize,
}

/// The kinds of vertex program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Ssd,
    Linear,
    MultiWeight,
    DualQuaternion,
}

pub(crate) const KINDS: [Kind; 4] = [
    Kind::Ssd,
    Kind::Linear,
    Kind::MultiWeight,
    Kind::DualQuaternion,
];

pub(crate) fn random_skin(dice: &mut Dice, size: Size, kind: Kind) -> (Skin, Pose) {
    let skeleton = Skeleton::from_rest_frames((0..size.bones).map(|j| {
        let parent = (j > 0).then(|| BoneId(dice.below(j) as u16));
        (format!("bone {j}"), parent, dice.rigid())
    }))
    .expect("parents come first");
    let mut weights = Rows::default();
    for _ in 0..size.vertices {
        let count = match dice.below(8) {
            0 => dice.below(size.most_influences + 1),
            _ => size.most_influences,
        };
        let row: Vec<_> = (0..count)
            .map(|_| Weight {
                bone: BoneId(dice.below(size.bones) as u16),
                weight: 1.05 + dice.number(),
            })
            .collect();
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        weights.push_row(row.into_iter().map(|w| Weight {
            weight: w.weight / sum,
            ..w
        }));
    }
    let corrections: Vec<_> = (0..size.corrections)
        .map(|_| Correction {
            deltas: (0..size.vertices as u32)
                .filter(|_| dice.below(5) == 0)
                .collect::<Vec<_>>()
                .into_iter()
                .map(|index| Delta {
                    index,
                    value: 0.3 * dice.vector(),
                })
                .collect(),
        })
        .collect();
    let ssd = SsdProgram {
        rest_positions: (0..size.vertices).map(|_| dice.vector()).collect(),
        weights,
        corrections,
    };
    let sliders = (0..size.corrections).map(|m| Coefficient {
        name: format!("slider {m}"),
        default: 0.0,
    });
    let mut skin =
        Skin::new(skeleton, VertexProgram::Ssd(ssd), sliders.collect()).expect("a valid skin");
    if size.proxies > 0 && kind != Kind::DualQuaternion {
        let options = ProxyOptions {
            proxy_count: size.proxies,
            patch_count: dice.below(2 * size.proxies),
            source_count: 1 + dice.below(size.bones),
            seed: dice.next(),
        };
        skin = proxied(&skin, &options);
    }
    let VertexProgram::Ssd(ssd) = skin.program else {
        unreachable!("just made")
    };
    skin.program = match kind {
        Kind::Ssd | Kind::Linear => VertexProgram::Ssd(ssd),
        Kind::DualQuaternion => {
            VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd })
        }
        Kind::MultiWeight => {
            let mut noisy = |w: &Weight| MultiWeight {
                bone: w.bone,
                weights: [[(); 4]; 3].map(|row| row.map(|()| w.weight + 0.2 * dice.number())),
            };
            VertexProgram::MultiWeight(MultiWeightProgram {
                influences: ssd
                    .weights
                    .iter()
                    .map(|row| row.iter().map(&mut noisy).collect::<Vec<_>>())
                    .collect(),
                rest_positions: ssd.rest_positions,
                corrections: ssd.corrections,
            })
        }
    };
    if kind == Kind::Linear {
        skin = skin.to_linear().expect("linear");
        let VertexProgram::Linear(linear) = &mut skin.program else {
            unreachable!("just made")
        };
        // More general than linear blend skinning.
        let noisy = linear.influences.iter().map(|row| {
            row.iter()
                .map(|i| {
                    let mut i = *i;
                    i.p += 0.1 * dice.vector().extend(0.0);
                    i
                })
                .collect::<Vec<_>>()
        });
        linear.influences = noisy.collect();
        if dice.below(2) == 0 {
            let corrections = linear.corrections.iter_mut();
            for delta in corrections.flat_map(|c| &mut c.deltas) {
                delta.value.w += 0.05 * dice.number();
            }
        }
    }
    let mut pose = Pose::new((0..size.bones).map(|_| dice.rigid()).collect());
    if kind != Kind::DualQuaternion {
        // Affine, not just rigid.
        for local in &mut pose.parent_from_bone {
            let bend = 0.1 * DMat3::from_cols(dice.vector(), dice.vector(), dice.vector());
            local.matrix3 += bend;
        }
    }
    pose.coefficients = (0..size.corrections).map(|_| dice.number()).collect();
    (skin, pose)
}
