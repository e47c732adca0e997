//! Facts about levels of detail, numbered as in the specification of the mathematics.

use dermis::ExampleSet;
use dermis::document::{Document, LevelOptions};
use dermis::joint::{LegalPoses, free_joints};
use dermis::lod::{LegalPoseLimits, LevelShape, LevelTarget, LodOptions, simplify};
use dermis::measure::SurfaceDistance;
use dermis::mesh::{DrawMesh, DrawPart, TriMesh};
use dermis::progress::Silent;
use dermis::rig::{Bone, BoneId, Pose, Similarity, Skeleton, Trs};
use dermis::skin::{Skin, SsdProgram, VertexProgram, Weight};
use dermis::synth::{HumanArm, Tube, TubeOptions, tube};

/// A straight tube of two bones.
fn two_bones() -> Tube {
    tube(&TubeOptions {
        ring_count: 60,
        segment_count: 24,
        bone_count: 2,
        example_count: 24,
    })
}

/// A tube of three bones on which no two edges are alike, so that no choice is left to the order of numbers.
fn uneven_tube() -> Tube {
    let mut made = tube(&TubeOptions {
        ring_count: 31,
        segment_count: 12,
        bone_count: 3,
        example_count: 12,
    });
    let moved = |i: usize, p: glam::DVec3| {
        let noise = |n: usize| ((n as f64 * 12.9898).sin() * 43_758.545).fract();
        let by = glam::DVec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        p + 1e-3 * p.length() * by
    };
    if let VertexProgram::Ssd(program) = &mut made.truth.program {
        for (i, p) in program.rest_positions.iter_mut().enumerate() {
            *p = moved(i, *p);
        }
        let mesh = made.examples.rest();
        let mesh = TriMesh::new(program.rest_positions.clone(), mesh.triangles().to_vec());
        let examples = made.examples.examples().to_vec();
        let skeleton = made.truth.skeleton.clone();
        let examples = ExampleSet::new(mesh.expect("a tube"), skeleton, examples);
        made.examples = examples.expect("a tube");
    }
    made
}

fn poses(made: &Tube) -> Vec<Pose> {
    let examples = made.examples.examples().iter();
    examples.map(|example| example.pose.clone()).collect()
}

fn level_of(made: &Tube, poses: &[Pose], draw: &DrawMesh, kept: usize) -> LevelShape {
    let mesh = made.examples.rest();
    let target = LevelTarget::Triangles(mesh.triangles().len() / kept);
    let limits = free_joints(&made.truth.skeleton);
    let legal = LegalPoseLimits {
        limits: &limits,
        tolerance: None,
    };
    let options = LodOptions::default();
    let made = simplify(
        &made.truth,
        mesh,
        draw,
        poses,
        &[target],
        &options,
        Some(legal),
        &Silent,
    );
    made.expect("a tube can be simplified").levels.remove(0)
}

fn plain(mesh: &TriMesh) -> DrawMesh {
    DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles())
}

fn posed(level: &LevelShape, skin: &Skin, pose: &Pose) -> Vec<glam::DVec3> {
    let own = Skin {
        program: level.program.clone(),
        ..skin.clone()
    };
    own.evaluate(pose).expect("a pose of the skeleton")
}

/// Root mean square distance of the tube's vertices from a level, over poses.
fn error(made: &Tube, level: &LevelShape, poses: &[Pose]) -> f64 {
    let mut sum = 0.0;
    for pose in poses {
        let surface =
            SurfaceDistance::new(&posed(level, &made.truth, pose), level.mesh.triangles());
        let points = made.truth.evaluate(pose).expect("its own pose");
        sum += points
            .iter()
            .map(|p| surface.distance(*p).powi(2))
            .sum::<f64>()
            / points.len() as f64;
    }
    (sum / poses.len() as f64).sqrt()
}

/// L12: simplified at rest, a straight tube loses its elbow; simplified in its poses, it does not.
#[test]
fn fact_l12_a_straight_tube_keeps_its_elbow() {
    let made = two_bones();
    let all = poses(&made);
    let (seen, unseen): (Vec<_>, Vec<_>) = (0..all.len()).partition(|k| k % 2 == 0);
    let take =
        |which: Vec<usize>| -> Vec<Pose> { which.into_iter().map(|k| all[k].clone()).collect() };
    let (seen, unseen) = (take(seen), take(unseen));
    let draw = plain(made.examples.rest());
    let ours = error(&made, &level_of(&made, &seen, &draw, 4), &unseen);
    let rest = [made.truth.skeleton.rest_pose()];
    let at_rest = error(&made, &level_of(&made, &rest, &draw, 4), &unseen);
    assert!(ours <= 0.5 * at_rest, "{ours} against {at_rest} at rest");
}

/// L10: in no legal pose is any point of the full surface farther from the level than is guaranteed.
#[test]
fn fact_l10_the_guaranteed_error_holds_in_legal_poses() {
    let made = two_bones();
    let level = level_of(&made, &poses(&made), &plain(made.examples.rest()), 8);
    let most = level
        .guaranteed_error
        .expect("a linear blend skin without shapes");
    let limits = free_joints(&made.truth.skeleton);
    let legal = LegalPoses::new(&made.truth.skeleton, &limits, 0.5, 7).expect("its own limits");
    let mut found: f64 = 0.0;
    let triangles = made.examples.rest().triangles();
    for pose in legal.take(200) {
        let surface =
            SurfaceDistance::new(&posed(&level, &made.truth, &pose), level.mesh.triangles());
        let points = made.truth.evaluate(&pose).expect("a legal pose");
        for triangle in triangles {
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            for point in [a, (a + b) / 2.0, (a + b + c) / 3.0] {
                found = found.max(surface.distance(point));
            }
        }
    }
    assert!(found <= most, "{found} was found, {most} is guaranteed");
    assert!(
        most < 20.0 * found,
        "not far too careful: {found} of {most}"
    );
}

/// L2: a character of one bone is simplified as its rest shape is, whatever its poses.
#[test]
fn fact_l2_a_rigid_character_has_the_levels_of_its_rest_shape() {
    let made = tube(&TubeOptions {
        ring_count: 24,
        segment_count: 12,
        bone_count: 1,
        example_count: 6,
    });
    let draw = plain(made.examples.rest());
    let rest = [made.truth.skeleton.rest_pose()];
    let [moving, still] = [&poses(&made)[..], &rest].map(|poses| level_of(&made, poses, &draw, 4));
    let size = made.truth.size().expect("it has vertices");
    let apart = (moving.rms_error - still.rms_error).abs();
    assert!(apart < 1e-6 * size, "the same error: {apart}");
    assert_eq!(
        moving.mesh.triangles().len(),
        still.mesh.triangles().len(),
        "as many"
    );
}

/// L13: where two parts meet, both sides have the same points in every level, so that no pose opens a crack.
#[test]
fn fact_l13_parts_that_meet_stay_together() {
    let made = two_bones();
    let mesh = made.examples.rest();
    // The tube in two halves of other materials, with a UV seam along each.
    let half = |upper: bool| {
        let is_upper = |t: &&[u32; 3]| {
            let z: f64 = t.iter().map(|&i| mesh.positions()[i as usize].z).sum();
            (z > 0.0) == upper
        };
        let triangles: Vec<[u32; 3]> = mesh.triangles().iter().filter(is_upper).copied().collect();
        DrawPart {
            mesh_name: "tube".to_owned(),
            material: Some(usize::from(upper)),
            points: (0..mesh.vertex_count() as u32).collect(),
            uvs: vec![
                (mesh.positions().iter())
                    .map(|p| [p.x as f32, p.y as f32 + f32::from(u8::from(upper))])
                    .collect(),
            ],
            triangles,
            ..DrawPart::default()
        }
    };
    let draw = DrawMesh {
        parts: vec![half(false), half(true)],
    };
    let rims = |parts: &[DrawPart]| {
        // Edges that belong to one triangle only, over all parts by their points.
        let mut count = std::collections::BTreeMap::new();
        for part in parts {
            for t in &part.triangles {
                for k in 0..3 {
                    let [a, b] = [t[k], t[(k + 1) % 3]].map(|v| part.points[v as usize]);
                    *count.entry((a.min(b), a.max(b))).or_insert(0) += 1;
                }
            }
        }
        count.values().filter(|&&n| n == 1).count()
    };
    let level = level_of(&made, &poses(&made), &draw, 3);
    assert!(
        level
            .draw
            .parts
            .iter()
            .all(|part| !part.triangles.is_empty()),
        "both are there"
    );
    assert!(
        rims(&level.draw.parts) <= rims(&draw.parts),
        "no new edge is open: a crack would be two of them"
    );
}

/// L14: the same levels on one thread and on several.
#[test]
fn fact_l14_levels_are_the_same_on_any_number_of_threads() {
    let made = two_bones();
    let draw = plain(made.examples.rest());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| level_of(&made, &poses(&made), &draw, 5))
    };
    assert_eq!(on(1), on(3), "to the last bit");
}

/// Odd input: what cannot be simplified is refused or left as it is, in one sentence, and never loops.
#[test]
fn odd_meshes_are_simplified_as_far_as_they_can_be() {
    let made = two_bones();
    let whole = made.examples.rest();
    let count = whole.vertex_count();
    let first = whole.triangles()[0];
    let flipped = [first[0], first[2], first[1]];
    let cases: [(&str, Vec<[u32; 3]>); 5] = [
        ("one triangle", vec![first]),
        ("a triangle twice", vec![first, first]),
        ("two triangles back to back", vec![first, flipped]),
        ("a fan of three at one edge", {
            let [a, b, _] = first;
            vec![first, [b, a, count as u32 - 1], [a, b, count as u32 - 2]]
        }),
        ("a triangle that names a point twice", {
            let mut triangles = whole.triangles().to_vec();
            triangles.push([first[0], first[0], first[1]]);
            triangles
        }),
    ];
    for (name, triangles) in cases {
        let mesh = TriMesh::new(whole.positions().to_vec(), triangles).expect("points exist");
        let document = Document {
            draw: plain(&mesh),
            mesh,
            skin: Some(made.truth.clone()),
            ..Document::default()
        };
        let options = LevelOptions {
            targets: vec![LevelTarget::Triangles(1), LevelTarget::Triangles(0)],
            ..LevelOptions::default()
        };
        let leveled = document.with_levels(&options, &Silent).expect(name);
        for shape in &leveled.shapes {
            assert!(
                !shape.mesh.triangles().is_empty(),
                "{name}: something is left"
            );
        }
        assert!(
            !leveled.shapes[1].is_met,
            "{name}: nothing at all is not possible"
        );
    }
    let bare = Document {
        mesh: whole.clone(),
        ..Document::default()
    };
    let refused = bare.with_levels(&LevelOptions::default(), &Silent);
    assert!(refused.is_err(), "a mesh that nothing moves is refused");
}

/// Vertices of a linear blend skin stay linear blends, with at most as many influences as were asked for.
#[test]
fn levels_of_a_linear_blend_skin_are_linear_blends() {
    let made = two_bones();
    let level = level_of(&made, &poses(&made), &plain(made.examples.rest()), 6);
    let VertexProgram::Ssd(program) = &level.program else {
        panic!("expected a linear blend, found {}", level.program.name());
    };
    for row in program.weights.iter() {
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        assert!((sum - 1.0).abs() < 1e-9, "weights sum to {sum}");
        assert!(
            row.iter().all(|w| w.weight >= -1e-12) && row.len() <= 4,
            "{row:?}"
        );
    }
}

/// L10: in 1000 legal poses of an arm with painted weights, no point of 100 that are drawn anew for each is farther from the
/// level than is guaranteed.
#[test]
fn fact_l10_the_guaranteed_error_holds_for_a_human_arm() {
    let arm = HumanArm::shared();
    let mesh = arm.mesh();
    let skin = arm.painted();
    let limits = free_joints(&skin.skeleton);
    let legal = LegalPoseLimits {
        limits: &limits,
        tolerance: None,
    };
    let draw = plain(mesh);
    let rest = [skin.skeleton.rest_pose()];
    let drawn = LegalPoses::new(&skin.skeleton, &limits, 0.5, 3).expect("its own limits");
    let poses: Vec<Pose> = drawn.take(24).chain(rest).collect();
    let target = [LevelTarget::Triangles(mesh.triangles().len() / 10)];
    let options = LodOptions::default();
    let made = simplify(
        skin,
        mesh,
        &draw,
        &poses,
        &target,
        &options,
        Some(legal),
        &Silent,
    );
    let level = made.expect("an arm can be simplified").levels.remove(0);
    let most = level.guaranteed_error.expect("no shapes");
    let other = LegalPoses::new(&skin.skeleton, &limits, 0.5, 11).expect("its own limits");
    let mut found: f64 = 0.0;
    let triangles = mesh.triangles();
    for (k, pose) in other.take(1000).enumerate() {
        let surface = SurfaceDistance::new(&posed(&level, skin, &pose), level.mesh.triangles());
        let points = skin.evaluate(&pose).expect("a legal pose");
        for n in 0..100 {
            let triangle = triangles[(k * 7919 + n * 104_729) % triangles.len()];
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            // Somewhere in the triangle, by two irrational steps.
            let (s, t) = (
                (0.618_034 * n as f64).fract(),
                (0.754_878 * k as f64).fract(),
            );
            let (s, t) = if s + t > 1.0 {
                (1.0 - s, 1.0 - t)
            } else {
                (s, t)
            };
            found = found.max(surface.distance(a + s * (b - a) + t * (c - a)));
        }
    }
    assert!(found <= most, "{found} was found, {most} is guaranteed");
    assert!(found > 0.0, "a tenth of the triangles is not the same");
}

/// L4: free levels are animation space with weights that sum to 1, and fit no worse than plain ones in the poses they saw.
#[test]
fn fact_l4_free_levels_have_weight_one_and_fit_better() {
    let made = two_bones();
    let all = poses(&made);
    let mesh = made.examples.rest();
    let target = [LevelTarget::Triangles(mesh.triangles().len() / 10)];
    let [plain_level, free] = [false, true].map(|free| {
        let options = LodOptions {
            free,
            ..LodOptions::default()
        };
        let draw = plain(mesh);
        let levels = simplify(
            &made.truth,
            mesh,
            &draw,
            &all,
            &target,
            &options,
            None,
            &Silent,
        );
        levels.expect("a tube can be simplified").levels.remove(0)
    });
    let VertexProgram::Linear(program) = &free.program else {
        panic!("expected animation space, found {}", free.program.name());
    };
    for row in program.influences.iter() {
        let sum: f64 = row.iter().map(|i| i.p.w).sum();
        assert!((sum - 1.0).abs() < 1e-9, "weights sum to {sum}");
    }
    let [plain_error, free_error] = [&plain_level, &free].map(|level| error(&made, level, &all));
    assert!(
        free_error < 1.02 * plain_error,
        "{free_error} free, {plain_error} plain"
    );
}

/// L5: a level of a linear blend skin is the same in the one kernel.
#[test]
fn fact_l5_a_plain_level_equals_its_linear_form() {
    let made = two_bones();
    let level = level_of(&made, &poses(&made), &plain(made.examples.rest()), 6);
    let linear = level
        .program
        .to_linear(&made.truth.skeleton)
        .expect("a linear blend");
    let own = Skin {
        program: VertexProgram::Linear(linear),
        ..made.truth.clone()
    };
    let size = made.truth.size().expect("it has vertices");
    for pose in &poses(&made)[..6] {
        let ours = own.evaluate(pose).expect("its own pose");
        for (a, b) in ours.iter().zip(posed(&level, &made.truth, pose)) {
            assert!(a.distance(b) < 1e-12 * size, "{a} {b}");
        }
    }
}

/// L14: a model of twice the size has the same levels, and one that is turned has levels as good.
#[test]
fn fact_l14_levels_do_not_depend_on_unit_and_axes() {
    let made = two_bones();
    let document = Document {
        draw: plain(made.examples.rest()),
        mesh: made.examples.rest().clone(),
        skin: Some(made.truth.clone()),
        ..Document::default()
    };
    let quarter = LevelTarget::Triangles(document.mesh.triangles().len() / 4);
    let options = LevelOptions {
        targets: vec![quarter],
        ..LevelOptions::default()
    };
    let shape = |scale: f64, turn: glam::DQuat| {
        let by = Similarity::new(scale, turn, glam::DVec3::ZERO).expect("a move");
        let moved = document.moved(&by).expect("a linear blend skin moves");
        let mut leveled = moved.with_levels(&options, &Silent).expect("a tube");
        leveled.shapes.remove(0)
    };
    let same = shape(1.0, glam::DQuat::IDENTITY);
    let twice = shape(2.0, glam::DQuat::IDENTITY);
    assert_eq!(
        same.mesh.triangles(),
        twice.mesh.triangles(),
        "the same triangles"
    );
    assert!(
        (twice.rms_error - 2.0 * same.rms_error).abs() < 1e-9 * same.rms_error,
        "twice the error"
    );
    let turned = shape(1.0, glam::DQuat::from_rotation_x(0.7));
    let ratio = turned.rms_error / same.rms_error;
    assert!((0.9..1.1).contains(&ratio), "as good: {ratio}");
}

/// L14: bones and vertices in another order have levels as good.
#[test]
fn fact_l14_other_numbers_give_levels_as_good() {
    let made = uneven_tube();
    let mesh = made.examples.rest();
    let VertexProgram::Ssd(program) = &made.truth.program else {
        panic!("tubes are linear blends");
    };
    // Without parents, bones may have any order; 7 and the number of vertices have no common factor.
    let skeleton = &made.truth.skeleton;
    let (bones, count) = (skeleton.bone_count(), mesh.vertex_count());
    assert_ne!(count % 7, 0, "every vertex once");
    let level = |bone_of: &dyn Fn(usize) -> usize, vertex_of: &dyn Fn(usize) -> usize| {
        let inverse = |of: &dyn Fn(usize) -> usize, count: usize| {
            let mut back = vec![0; count];
            (0..count).for_each(|n| back[of(n)] = n);
            back
        };
        let new_bone = inverse(bone_of, bones);
        let new_vertex = inverse(vertex_of, count);
        let in_model = |pose: &Pose| {
            let mut all: Vec<glam::DAffine3> = Vec::new();
            for (bone, own) in skeleton.bones().iter().zip(&pose.parent_from_bone) {
                let parent = bone.parent.map(|parent| all[parent.index()]);
                all.push(parent.unwrap_or_default() * *own);
            }
            Pose::new((0..bones).map(|j| all[bone_of(j)]).collect())
        };
        let bone = |j: usize| Bone {
            parent: None,
            default_parent_from_bone: Trs::IDENTITY,
            ..skeleton.bones()[bone_of(j)].clone()
        };
        let row = |i: usize| -> Vec<Weight> {
            let own = program.weights.row(vertex_of(i)).iter();
            let mut row: Vec<Weight> = own
                .map(|w| Weight {
                    bone: BoneId(new_bone[w.bone.index()] as u16),
                    ..*w
                })
                .collect();
            row.sort_by_key(|w| w.bone);
            row
        };
        let positions: Vec<_> = (0..count).map(|i| mesh.positions()[vertex_of(i)]).collect();
        let triangles = mesh.triangles().iter();
        let triangles = triangles.map(|t| t.map(|i| new_vertex[i as usize] as u32));
        let mesh = TriMesh::new(positions.clone(), triangles.collect()).expect("a tube");
        let skin = Skin::new(
            Skeleton::new((0..bones).map(bone).collect()).expect("bones"),
            VertexProgram::Ssd(SsdProgram {
                rest_positions: positions,
                weights: (0..count).map(row).collect(),
                corrections: Vec::new(),
            }),
            Vec::new(),
        );
        let skin = skin.expect("the same skin");
        let moves: Vec<Pose> = poses(&made).iter().map(in_model).collect();
        let target = [LevelTarget::Triangles(mesh.triangles().len() / 4)];
        let options = LodOptions::default();
        let levels = simplify(
            &skin,
            &mesh,
            &plain(&mesh),
            &moves,
            &target,
            &options,
            None,
            &Silent,
        );
        levels.expect("a tube").levels.remove(0)
    };
    let given = level(&|j| j, &|i| i);
    let other = level(&|j| bones - 1 - j, &|i| (7 * i + 3) % count);
    assert_eq!(
        given.mesh.triangles().len(),
        other.mesh.triangles().len(),
        "as many triangles"
    );
    // They are not the same: where the best place of a collapse turns a face over, the end with the lower number stays, and
    // of two faces that share a nearest point rounding says which one moves a point at the end. Measured: 1.021.
    let ratio = other.rms_error / given.rms_error;
    assert!((0.9..1.1).contains(&ratio), "as good: {ratio}");
}

/// Whole bones go from the ends, locked ones stay, and what is left follows others.
#[test]
fn bones_go_from_the_ends_of_limbs() {
    let made = tube(&TubeOptions {
        ring_count: 40,
        segment_count: 8,
        bone_count: 5,
        example_count: 24,
    });
    let mesh = made.examples.rest();
    let levels_with = |options: &LodOptions| {
        let target = [LevelTarget::Error(0.0)];
        let made = simplify(
            &made.truth,
            mesh,
            &plain(mesh),
            &poses(&made),
            &target,
            options,
            None,
            &Silent,
        );
        made.expect("a tube").levels.remove(0)
    };
    let bones_of = |level: &LevelShape| {
        let mut bones: Vec<u16> = level.program.bones().map(|bone| bone.0).collect();
        bones.sort_unstable();
        bones.dedup();
        bones
    };
    let options = LodOptions {
        collapse: false,
        max_bones: vec![3],
        ..LodOptions::default()
    };
    let level = levels_with(&options);
    assert_eq!(
        bones_of(&level).len(),
        3,
        "as few as asked: {:?}",
        bones_of(&level)
    );
    assert_eq!(
        level.mesh.triangles(),
        mesh.triangles(),
        "all triangles stay"
    );
    let last = made.truth.skeleton.bone_count() as u16 - 1;
    assert!(
        !bones_of(&level).contains(&last),
        "the last one hangs on all others"
    );
    let locked = levels_with(&LodOptions {
        locked_bones: vec![BoneId(last)],
        ..options
    });
    assert!(
        bones_of(&locked).contains(&last),
        "locked: {:?}",
        bones_of(&locked)
    );
}

/// No point of a level stands out of the full character, in rest or in motion: there are no spikes.
#[test]
fn no_point_of_a_level_stands_out() {
    let made = two_bones();
    let size = made.truth.size().expect("it has vertices");
    let level = level_of(&made, &poses(&made), &plain(made.examples.rest()), 10);
    for pose in &poses(&made) {
        let full = made.truth.evaluate(pose).expect("its own pose");
        let surface = SurfaceDistance::new(&full, made.examples.rest().triangles());
        for point in posed(&level, &made.truth, pose) {
            let out = surface.distance(point);
            assert!(out < 0.02 * size, "{out} of {size}");
        }
    }
}

/// At most so many influences, for every vertex of a level.
#[test]
fn influences_are_capped_for_every_vertex() {
    let made = two_bones();
    let mesh = made.examples.rest();
    let options = LodOptions {
        collapse: false,
        max_influences: 1,
        ..LodOptions::default()
    };
    let target = [LevelTarget::Error(0.0)];
    let levels = simplify(
        &made.truth,
        mesh,
        &plain(mesh),
        &poses(&made),
        &target,
        &options,
        None,
        &Silent,
    );
    let level = levels.expect("a tube").levels.remove(0);
    let VertexProgram::Ssd(program) = &level.program else {
        panic!("expected a linear blend, found {}", level.program.name());
    };
    assert!(program.weights.iter().all(|row| row.len() == 1), "one each");
    assert_eq!(
        program.weights.len(),
        mesh.vertex_count(),
        "every vertex, in the same order"
    );
}
