//! Normals of the fast evaluation, by every method.

use dermis::rig::Trs;
use dermis::run::{
    FrameInputs, InstructionSet, Layout, NormalLength, Normals, Output, PackOptions, PackedProxies,
    PackedSkeleton, PackedSkin, PaletteEntry, PoseBuffer, RunError,
};
use dermis::skin::{Skin, VertexProgram};
use dermis::{Pose, Rows};
use glam::{DAffine3, DMat3, DVec3, DVec4};

use crate::run_support::{Dice, KINDS, Kind, Size, random_skin};

const SIZE: Size = Size {
    vertices: 200,
    bones: 6,
    most_influences: 4,
    corrections: 1,
    proxies: 0,
};

fn normals_of(skin: &Skin, pose: &Pose, options: &PackOptions) -> Vec<DVec3> {
    let packed = PackedSkin::new(skin, options).expect("packs");
    let frame = packed
        .frame(&skin.run_pose_program(pose).expect("fits"))
        .expect("fits");
    let mut positions = vec![[f32::NAN; 3]; skin.vertex_count()];
    let mut normals = positions.clone();
    let out = Output::Vertices {
        positions: &mut positions,
        normals: Some(&mut normals),
    };
    packed.evaluate(&frame.inputs(), out).expect("sizes agree");
    let plain = skin.evaluate(pose).expect("fits");
    for (fast, plain) in positions.iter().zip(&plain) {
        let fast = DVec3::from_array(fast.map(f64::from));
        assert!(fast.distance(*plain) < 1e-3, "positions come along");
    }
    normals
        .iter()
        .map(|n| DVec3::from_array(n.map(f64::from)))
        .collect()
}

fn unit_vectors(dice: &mut Dice, count: usize) -> Vec<DVec3> {
    (0..count).map(|_| dice.vector().normalize()).collect()
}

/// The matrix that each vertex of a blend is moved with.
fn blends(skin: &Skin, pose: &Pose) -> Vec<DMat3> {
    let palette = skin.run_pose_program(pose).expect("fits").palette;
    let n: Vec<DAffine3> = skin.skeleton.posed_from_rest(&palette);
    match &skin.program {
        VertexProgram::Ssd(ssd) => ssd
            .weights
            .iter()
            .map(|row| {
                row.iter().fold(DMat3::ZERO, |sum, w| {
                    sum + n[w.bone.index()].matrix3 * w.weight
                })
            })
            .collect(),
        VertexProgram::Linear(linear) => linear
            .influences
            .iter()
            .map(|row| {
                row.iter().fold(DMat3::ZERO, |sum, i| {
                    sum + n[i.bone.index()].matrix3 * i.p.w
                })
            })
            .collect(),
        VertexProgram::MultiWeight(multi) => multi
            .influences
            .iter()
            .map(|row| {
                row.iter().fold(DMat3::ZERO, |sum, i| {
                    let m = n[i.bone.index()].matrix3;
                    let column = |c: usize| {
                        let w = DVec3::new(i.weights[0][c], i.weights[1][c], i.weights[2][c]);
                        w * m.col(c)
                    };
                    sum + DMat3::from_cols(column(0), column(1), column(2))
                })
            })
            .collect(),
        other => panic!("{} has no blended matrix", other.name()),
    }
}

#[test]
fn rest_normals_are_moved_by_the_blended_matrix() {
    for kind in [Kind::Ssd, Kind::Linear, Kind::MultiWeight] {
        let mut dice = Dice::new(3);
        let (skin, pose) = random_skin(&mut dice, SIZE, kind);
        let rest = unit_vectors(&mut dice, SIZE.vertices);
        let blends = blends(&skin, &pose);
        for set in InstructionSet::available() {
            for (layout, normal_length) in [
                (Layout::Sorted, NormalLength::AsBlended),
                (Layout::CallerOrder, NormalLength::Unit),
            ] {
                let options = PackOptions {
                    layout,
                    normal_length,
                    normals: Normals::Rest(rest.clone()),
                    instruction_set: Some(set),
                    ..PackOptions::default()
                };
                let shown = normals_of(&skin, &pose, &options);
                for ((shown, m), n) in shown.iter().zip(&blends).zip(&rest) {
                    let blended = *m * *n;
                    let (expected, allowed) = match normal_length {
                        NormalLength::AsBlended => (blended, 1e-5),
                        NormalLength::Unit => (
                            blended.normalize_or_zero(),
                            1e-5 / blended.length().max(1e-5),
                        ),
                    };
                    let off = shown.distance(expected);
                    assert!(off < allowed, "{kind:?} {set:?}: {shown} is not {expected}");
                }
            }
        }
    }
}

#[test]
fn normals_follow_proxies_that_are_placed_in_single_precision() {
    let size = Size {
        proxies: 11,
        corrections: 0,
        ..SIZE
    };
    for kind in [Kind::Ssd, Kind::Linear, Kind::MultiWeight] {
        let mut dice = Dice::new(6);
        let (skin, random) = random_skin(&mut dice, size, kind);
        let rest = unit_vectors(&mut dice, size.vertices);
        let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
        for (id, local) in skin.skeleton.ids().zip(&random.parent_from_bone) {
            pose.set_local(id, &Trs::from_affine(local).0);
        }
        let blends = blends(&skin, &pose.to_pose());
        for set in InstructionSet::available() {
            let options = PackOptions {
                normals: Normals::Rest(rest.clone()),
                normal_length: NormalLength::AsBlended,
                instruction_set: Some(set),
                ..PackOptions::default()
            };
            let packed = PackedSkin::new(&skin, &options).expect("packs");
            let mut matrices = vec![[f32::NAN; 12]; packed.bone_count()];
            let mut palette = vec![PaletteEntry::default(); packed.bone_count()];
            let chained = PackedSkeleton::new(&skin.skeleton).palette(&pose, &mut matrices);
            chained.expect("as many bones");
            let placed = PackedProxies::new(&skin)
                .expect("fits")
                .place(&mut matrices);
            placed.expect("as many bones");
            let loaded = packed.load_palette(&matrices, &mut palette);
            loaded.expect("as many bones");
            let inputs = FrameInputs {
                palette: &palette,
                coefficients: pose.coefficients(),
            };
            let mut positions = vec![[f32::NAN; 3]; size.vertices];
            let mut normals = positions.clone();
            let out = Output::Vertices {
                positions: &mut positions,
                normals: Some(&mut normals),
            };
            packed.evaluate(&inputs, out).expect("sizes agree");
            for ((shown, m), n) in normals.iter().zip(&blends).zip(&rest) {
                let shown = DVec3::from_array(shown.map(f64::from));
                let expected = *m * *n;
                let off = shown.distance(expected);
                assert!(off < 1e-4, "{kind:?} {set:?}: {shown} is not {expected}");
            }
        }
    }
}

#[test]
fn dual_quaternions_turn_normals_and_keep_their_length() {
    let mut dice = Dice::new(4);
    let size = Size {
        most_influences: 1,
        ..SIZE
    };
    let (skin, pose) = random_skin(&mut dice, size, Kind::DualQuaternion);
    let rest = unit_vectors(&mut dice, size.vertices);
    let options = PackOptions {
        normals: Normals::Rest(rest.clone()),
        normal_length: NormalLength::AsBlended,
        ..PackOptions::default()
    };
    let shown = normals_of(&skin, &pose, &options);
    let palette = skin.run_pose_program(&pose).expect("fits").palette;
    let n = skin.skeleton.posed_from_rest(&palette);
    let VertexProgram::DualQuaternion(dual) = &skin.program else {
        panic!("made so")
    };
    for (i, row) in dual.weighted.weights.iter().enumerate() {
        let expected = row.first().map_or(DVec3::ZERO, |w| {
            n[w.bone.index()].transform_vector3(rest[i])
        });
        assert!(
            shown[i].distance(expected) < 1e-5,
            "vertex {i}: {} is not {expected}",
            shown[i]
        );
    }
}

#[test]
fn tangents_are_projected_and_crossed() {
    for weighted in [0.0, 1.0] {
        let mut dice = Dice::new(9);
        let (skin, pose) = random_skin(&mut dice, SIZE, Kind::Linear);
        let VertexProgram::Linear(linear) = &skin.program else {
            panic!("made so")
        };
        let tangents: Rows<[DVec4; 2]> = linear
            .influences
            .iter()
            .map(|row| {
                let random = |_| {
                    [(); 2].map(|()| {
                        let w = weighted * dice.number();
                        dice.vector().extend(w)
                    })
                };
                row.iter().map(random).collect::<Vec<_>>()
            })
            .collect();
        let palette = skin.run_pose_program(&pose).expect("fits").palette;
        let expected: Vec<DVec3> = (0..SIZE.vertices)
            .map(|i| {
                let project = |which: usize| -> DVec3 {
                    let pairs = linear.influences.row(i).iter().zip(tangents.row(i));
                    pairs
                        .map(|(influence, t)| {
                            let g = &palette.model_from_bone[influence.bone.index()];
                            g.matrix3 * t[which].truncate() + g.translation * t[which].w
                        })
                        .sum()
                };
                project(0).cross(project(1))
            })
            .collect();
        for set in InstructionSet::available() {
            let options = PackOptions {
                normals: Normals::Tangents(tangents.clone()),
                normal_length: NormalLength::AsBlended,
                instruction_set: Some(set),
                ..PackOptions::default()
            };
            let shown = normals_of(&skin, &pose, &options);
            for (shown, expected) in shown.iter().zip(&expected) {
                // A product of two projections, each a sum of terms of this size.
                let size = 1.0 + expected.length() + 200.0 * weighted;
                let off = shown.distance(*expected);
                assert!(off < 1e-5 * size, "{set:?}: {shown} is not {expected}");
            }
        }
    }
}

#[test]
fn normals_of_another_skin_are_refused() {
    let mut dice = Dice::new(2);
    for kind in KINDS {
        let (skin, _) = random_skin(&mut dice, SIZE, kind);
        let options = PackOptions {
            normals: Normals::Rest(vec![DVec3::X; 3]),
            ..PackOptions::default()
        };
        let error = PackedSkin::new(&skin, &options).expect_err("three for two hundred");
        assert_eq!(
            error.to_string(),
            "expected 200 rest normals, found 3",
            "both numbers are named"
        );
    }
    let (skin, _) = random_skin(&mut dice, SIZE, Kind::Ssd);
    let options = PackOptions {
        normals: Normals::Tangents(Rows::default()),
        ..PackOptions::default()
    };
    let error = PackedSkin::new(&skin, &options).expect_err("tangents need a linear program");
    assert!(
        matches!(error, RunError::NotSupported { .. }),
        "it says so: {error}"
    );
}
