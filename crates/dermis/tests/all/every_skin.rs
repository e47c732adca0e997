//! One suite that every kind of skin must pass.

use dermis::pose_space::{Center, Control, JointTurn, interpolate};
use dermis::rig::{Bone, DerivedBone, DerivedMotion, Trs};
use dermis::skin::{
    Coefficient, Correction, Delta, MultiWeight, MultiWeightProgram, PlacedBones, SsdProgram,
    Weight,
};
use dermis::subdiv::{
    Cage, Corners, Scheme, SubdivisionError, SubdivisionOptions, subdivide, subdivide_skin,
};
use dermis::synth::{ProxyOptions, proxied};
use dermis::{BoneId, Pose, Rows, Skeleton, Skin, VertexProgram};
use glam::{DAffine3, DQuat, DVec3, DVec4};
use proptest::prelude::*;

fn vector() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-2.0..2.0f64).prop_map(DVec3::from_array)
}

fn rigid() -> impl Strategy<Value = DAffine3> {
    (vector(), vector()).prop_map(|(turn, at)| {
        DAffine3::from_rotation_translation(DQuat::from_scaled_axis(turn), at)
    })
}

/// A random skeleton of five bones, a skin of eight vertices with a correction, and a pose.
fn skin_and_pose() -> impl Strategy<Value = (Skin, Pose)> {
    let frames = prop::collection::vec(rigid(), 5);
    let parents = prop::collection::vec(0..5u16, 5);
    let locals = prop::collection::vec(rigid(), 5);
    let rest = prop::collection::vec(vector(), 8);
    let shares = prop::collection::vec(prop::collection::vec((0..5u16, 0.01..1.0f64), 1..5), 8);
    let deltas = prop::collection::vec((0..8u32, vector()), 0..4);
    (frames, parents, locals, rest, shares, deltas, -1.0..2.0f64).prop_map(
        |(frames, parents, locals, rest_positions, shares, deltas, coefficient)| {
            let bones = frames.into_iter().zip(parents).enumerate();
            let skeleton = Skeleton::from_rest_frames(bones.map(|(j, (frame, parent))| {
                let parent = (j > 0).then(|| BoneId(parent % j.max(1) as u16));
                (format!("bone {j}"), parent, frame)
            }))
            .expect("parents come first");
            let weights = shares
                .into_iter()
                .map(|row| {
                    let sum: f64 = row.iter().map(|(_, w)| w).sum();
                    let weight = move |(bone, w)| Weight {
                        bone: BoneId(bone),
                        weight: w / sum,
                    };
                    row.into_iter().map(weight).collect::<Vec<_>>()
                })
                .collect();
            let deltas = deltas
                .into_iter()
                .map(|(index, value)| Delta { index, value })
                .collect();
            let program = SsdProgram {
                rest_positions,
                weights,
                corrections: vec![Correction { deltas }],
            };
            let slider = Coefficient {
                name: "slider".to_owned(),
                default: 0.25,
            };
            let skin = Skin::new(skeleton, VertexProgram::Ssd(program), vec![slider])
                .expect("a valid skin");
            let mut pose = Pose::new(locals);
            pose.coefficients = vec![coefficient];
            (skin, pose)
        },
    )
}

/// The same skin with bones derived from the joint of one bone, and weight moved to them.
fn with_derived_bones(skin: Skin, of: BoneId, motions: [DerivedMotion; 2]) -> Skin {
    let mut bones = skin.skeleton.bones().to_vec();
    let mut derived = Vec::new();
    for motion in motions {
        // Beside the bone that it follows, and bound where that is.
        let Bone {
            parent,
            bone_from_rest,
            ..
        } = bones[of.index()];
        derived.push(DerivedBone {
            bone: BoneId(bones.len() as u16),
            of,
            motion,
        });
        bones.push(Bone {
            name: "derived".to_owned(),
            parent,
            default_parent_from_bone: Trs::IDENTITY,
            bone_from_rest,
        });
    }
    let VertexProgram::Ssd(mut program) = skin.program else {
        panic!("made as SSD");
    };
    let share = |row: &[Weight]| {
        let halved = row.iter().map(|w| Weight {
            weight: 0.5 * w.weight,
            ..*w
        });
        let moved = derived.iter().map(|d| Weight {
            bone: d.bone,
            weight: 0.25,
        });
        halved.chain(moved).collect::<Vec<_>>()
    };
    program.weights = program.weights.iter().map(share).collect();
    let skeleton = Skeleton::new(bones).expect("appended at the end");
    let program = VertexProgram::Ssd(program);
    Skin::with_derived(skeleton, program, skin.coefficients, derived).expect("a valid skin")
}

/// The same skin with shapes that the turn of a joint and the slider switch on.
fn with_driven_shapes(mut skin: Skin, of: BoneId, at: DVec3, shapes: [DVec3; 2]) -> Skin {
    let controls = [
        Control::Joint {
            bone: of,
            turn: JointTurn::Free,
        },
        Control::Slider { coefficient: 0 },
    ];
    let center = |name: &str, turn: DVec3, slider: f64| Center {
        name: name.to_owned(),
        point: [turn.to_array().as_slice(), &[slider]].concat(),
        falloffs: vec![0.8, 0.6],
    };
    let centers = [
        center("one", at, 0.5),
        center("other", -0.5 * at, 1.5),
        center("rest", DVec3::ZERO, 0.25),
    ];
    let solved = interpolate("joint", &controls, &centers, 2, &Default::default());
    let everywhere = |value: DVec3| (0..8).map(|index| Delta { index, value }).collect();
    let names = ["one", "other"].map(str::to_owned).to_vec();
    let shapes = shapes.map(everywhere).to_vec();
    skin.push_driver(solved.expect("three poses").driver, names, shapes)
        .expect("two outputs, two shapes");
    skin
}

/// Skins that turn with the character and compile to animation space: plain, with derived bones, with driven
/// shapes, and with proxies.
///
/// Proxies move with the character only if, in the four rows of each, the weights of the sources' last columns sum to
/// 0, 0, 0 and 1. The proxies made here satisfy that.
fn linear_skin_and_pose() -> impl Strategy<Value = (Skin, Pose)> {
    let derived = (skin_and_pose(), 0..5u16, 0.0..1.0f64, -0.9..2.0f64).prop_map(
        |((skin, pose), of, share, gain)| {
            // A turn of a root turns the whole character, and derived bones do not follow it.
            let bones = skin.skeleton.bones();
            let of = if bones[usize::from(of)].parent.is_some() {
                of
            } else {
                1
            };
            let motions = [
                DerivedMotion::PartTurn { share },
                DerivedMotion::Swell { gain },
            ];
            (with_derived_bones(skin, BoneId(of), motions), pose)
        },
    );
    let turn = prop::array::uniform3(0.2..0.9f64).prop_map(DVec3::from_array);
    let driven =
        (skin_and_pose(), turn, [vector(), vector()]).prop_map(|((skin, pose), at, shapes)| {
            // The last bone is the one that surely has a parent.
            (with_driven_shapes(skin, BoneId(4), at, shapes), pose)
        });
    let sizes = (1..12usize, 0..20usize, 1..6usize, any::<u64>());
    let proxied = (skin_and_pose(), sizes).prop_map(|((skin, pose), sizes)| {
        let (proxy_count, patch_count, source_count, seed) = sizes;
        let options = ProxyOptions {
            proxy_count,
            patch_count,
            source_count,
            seed,
        };
        (proxied(&skin, &options), pose)
    });
    prop_oneof![skin_and_pose(), derived, driven, proxied]
}

/// The skin with twelve equal weights for each one.
fn as_multi_weight(skin: &Skin) -> Skin {
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("made as SSD");
    };
    let twelve = |w: &Weight| MultiWeight {
        bone: w.bone,
        weights: [[w.weight; 4]; 3],
    };
    let program = MultiWeightProgram {
        rest_positions: ssd.rest_positions.clone(),
        influences: (ssd.weights.iter())
            .map(|row| row.iter().map(twelve).collect::<Vec<_>>())
            .collect(),
        corrections: ssd.corrections.clone(),
    };
    Skin {
        program: VertexProgram::MultiWeight(program),
        ..skin.clone()
    }
}

/// A mesh over the eight vertices, and how to subdivide it: a box, or faces thrown together, which may
/// share edges by threes, touch in points or leave vertices alone; some edges are creases.
fn cage_and_options() -> impl Strategy<Value = (Cage, SubdivisionOptions)> {
    let corner = prop::sample::subsequence((0..8u32).collect::<Vec<_>>(), 3..=4);
    let thrown = prop::collection::vec(corner.prop_shuffle(), 0..10);
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let open = quads[..5]
        .iter()
        .map(|quad| quad.to_vec())
        .collect::<Vec<_>>();
    let closed = quads.iter().map(|quad| quad.to_vec()).collect::<Vec<_>>();
    let faces = prop_oneof![thrown, Just(open), Just(closed)];
    let creases = prop::collection::vec(
        (0..64usize, prop_oneof![0.0..4.0f64, Just(f64::INFINITY)]),
        0..5,
    );
    (faces, creases, any::<[bool; 3]>(), 1..=3usize).prop_map(
        |(faces, creases, [loops, rounded, limit], levels)| {
            let faces: Rows<u32> = match loops {
                false => faces.into_iter().collect(),
                true => (faces.iter())
                    .flat_map(|f| f[1..].windows(2).map(|e| [f[0], e[0], e[1]]))
                    .collect(),
            };
            let mut cage = Cage::new(8, faces).expect("different corners");
            for (number, sharpness) in creases {
                if let Some(edge) = cage.edges().get(number) {
                    let [a, b] = edge.points;
                    cage.set_sharpness(a, b, sharpness).expect("it was found");
                }
            }
            let options = SubdivisionOptions {
                scheme: if loops {
                    Scheme::Loop
                } else {
                    Scheme::CatmullClark
                },
                levels,
                corners: if rounded {
                    Corners::Smooth
                } else {
                    Corners::Sharp
                },
                limit,
            };
            (cage, options)
        },
    )
}

/// The skin as animation space with every vector its own, weights still of sum 1, corrections likewise.
fn as_free_vectors(skin: &Skin, free: &[DVec3]) -> Skin {
    let mut skin = skin.to_linear().expect("linear");
    let VertexProgram::Linear(linear) = &mut skin.program else {
        panic!("just made so");
    };
    let mut free = free.iter().cycle();
    let mut next = || free.next().copied().unwrap_or_default();
    linear.influences = (linear.influences.iter())
        .map(|row| {
            let mut row = row.to_vec();
            row.iter_mut().for_each(|i| i.p += next().extend(0.0));
            row
        })
        .collect();
    for correction in &mut linear.corrections {
        let deltas = correction.deltas.iter_mut();
        deltas.for_each(|d| d.value += DVec4::from((next(), 0.0)));
    }
    skin
}

fn largest_difference(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

proptest! {
    /// Fact 3 of the specification.
    #[test]
    fn fact_3_a_skin_written_as_animation_space_gives_the_same_positions((skin, pose) in linear_skin_and_pose()) {
        let ssd = skin.evaluate(&pose).expect("the pose fits");
        let linear = skin.to_linear().expect("linear").evaluate(&pose).expect("the pose fits");
        prop_assert!(largest_difference(&ssd, &linear) < 1e-12, "{ssd:?} {linear:?}");
    }

    /// Fact 4 of the specification, to 1e-12 of the posed mesh's diagonal, which proxies may make large.
    #[test]
    fn fact_4_subdividing_and_posing_commute(
        (skin, pose) in linear_skin_and_pose(),
        (cage, options) in cage_and_options(),
        free in prop::option::of(prop::collection::vec(vector(), 7)),
    ) {
        let skin = free.map_or(skin.clone(), |free| as_free_vectors(&skin, &free));
        let subdivision = subdivide(&cage, &options).expect("few levels");
        let posed = skin.evaluate(&pose).expect("the pose fits");
        let expected = subdivision.apply(&posed);
        let finer = subdivide_skin(&skin, &subdivision).expect("linear");
        let shown = finer.evaluate(&pose).expect("the pose fits");
        prop_assert_eq!(shown.len(), subdivision.finest().point_count());
        let inputs = skin.run_pose_program(&pose).expect("the pose fits");
        let matrices = inputs.palette.model_from_bone.iter();
        let reach = matrices.map(|m| m.translation.length() + m.matrix3.x_axis.length());
        let size = reach.fold(1.0, f64::max) * 10.0;
        let apart = largest_difference(&expected, &shown);
        prop_assert!(apart <= 1e-12 * size, "{apart} of {size}");
    }

    #[test]
    fn the_rest_pose_shows_the_rest_mesh_with_default_corrections(
        (skin, _) in linear_skin_and_pose(),
    ) {
        let shown = skin.evaluate(&skin.skeleton.rest_pose()).expect("fits");
        let VertexProgram::Ssd(ssd) = &skin.program else { panic!("made as SSD") };
        let expected = ssd.corrected_rest(&skin.default_coefficients());
        prop_assert!(largest_difference(&shown, &expected) < 1e-11, "{shown:?} {expected:?}");
    }

    #[test]
    fn turning_the_whole_character_turns_the_result(
        (skin, pose) in linear_skin_and_pose(),
        motion in rigid(),
    ) {
        let mut moved = pose.clone();
        for (bone, local) in skin.skeleton.bones().iter().zip(&mut moved.parent_from_bone) {
            if bone.parent.is_none() {
                *local = motion * *local;
            }
        }
        let before: Vec<DVec3> = skin
            .evaluate(&pose)
            .expect("fits")
            .iter()
            .map(|p| motion.transform_point3(*p))
            .collect();
        let after = skin.evaluate(&moved).expect("fits");
        prop_assert!(largest_difference(&before, &after) < 1e-11, "{before:?} {after:?}");
    }

    #[test]
    fn twelve_equal_weights_are_linear_blend_skinning((skin, pose) in linear_skin_and_pose()) {
        let ssd = skin.evaluate(&pose).expect("the pose fits");
        let multi = as_multi_weight(&skin).evaluate(&pose).expect("the pose fits");
        prop_assert!(largest_difference(&ssd, &multi) < 1e-12, "{ssd:?} {multi:?}");
    }

    #[test]
    fn a_completed_pose_plays_without_placing_bones((skin, pose) in linear_skin_and_pose()) {
        let expected = skin.evaluate(&pose).expect("the pose fits");
        let completed = skin.complete_pose(&pose).expect("the pose fits");
        prop_assert_eq!(completed.parent_from_bone.len(), skin.skeleton.bone_count());
        let mut plain = skin;
        plain.pose_program.placed = PlacedBones::default();
        prop_assert_eq!(plain.evaluate(&completed), Ok(expected));
    }
}

#[test]
fn skins_that_are_not_linear_are_refused_for_subdivision() {
    let skeleton = Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
        .expect("one bone");
    let skin = Skin::new(
        skeleton,
        VertexProgram::Ssd(SsdProgram::default()),
        Vec::new(),
    )
    .expect("no vertices is a valid skin");
    let cage = Cage::new(0, Rows::default()).expect("nothing");
    let subdivision = subdivide(&cage, &SubdivisionOptions::default()).expect("nothing");
    let error = subdivide_skin(&as_multi_weight(&skin), &subdivision).expect_err("twelve weights");
    let program = "multi-weight enveloping";
    assert_eq!(error, SubdivisionError::NotLinear { program }, "named");
    assert!(
        subdivide_skin(&skin, &subdivision).is_ok(),
        "a linear one is"
    );
}

#[test]
fn a_pose_of_another_skeleton_is_refused_with_both_numbers() {
    let skeleton = Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
        .expect("one bone");
    let skin = Skin::new(
        skeleton,
        VertexProgram::Ssd(SsdProgram::default()),
        Vec::new(),
    )
    .expect("no vertices is a valid skin");
    let error = skin
        .evaluate(&Pose::new(vec![DAffine3::IDENTITY; 3]))
        .expect_err("three bones are not one");
    assert_eq!(
        error.to_string(),
        "expected 1 bones in the pose, found 3",
        "both numbers are named"
    );
}
