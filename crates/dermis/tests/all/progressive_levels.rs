//! Facts about sequences of steps and about changes of level, numbered as in the specification of the mathematics.

use dermis::lod::{
    LevelTarget, LodError, LodOptions, Progressive, ProgressiveLevel, Simplified, geomorph,
    simplify,
};
use dermis::mesh::{DrawMesh, DrawPart, TriMesh};
use dermis::progress::Silent;
use dermis::rig::{Pose, Skeleton};
use dermis::run::{Frame, Geomorph, Output, PackOptions, PackedSkin};
use dermis::skin::{Coefficient, Correction, Skin, VertexProgram};
use dermis::synth::{Tube, TubeOptions, tube};
use glam::DVec3;

use crate::support::prefixes::check_prefixes;

fn a_tube() -> Tube {
    tube(&TubeOptions {
        ring_count: 40,
        segment_count: 16,
        bone_count: 3,
        example_count: 12,
    })
}

fn poses(made: &Tube) -> Vec<Pose> {
    let examples = made.examples.examples().iter();
    examples.map(|example| example.pose.clone()).collect()
}

/// The tube in two halves of other materials, each with UVs of its own, so that a seam runs along both sides.
fn in_two_materials(mesh: &TriMesh) -> DrawMesh {
    let half = |upper: bool| {
        let is_upper = |t: &&[u32; 3]| {
            let z: f64 = t.iter().map(|&i| mesh.positions()[i as usize].z).sum();
            (z > 0.0) == upper
        };
        let shift = f32::from(u8::from(upper));
        let uv = |p: &DVec3| [p.x as f32, p.y as f32 + shift];
        DrawPart {
            mesh_name: "tube".to_owned(),
            material: Some(usize::from(upper)),
            points: (0..mesh.vertex_count() as u32).collect(),
            uvs: vec![mesh.positions().iter().map(uv).collect()],
            normals: (mesh.positions().iter())
                .map(|p| {
                    let out = DVec3::new(0.0, p.y, p.z).normalize_or(DVec3::X);
                    out.as_vec3().to_array()
                })
                .collect(),
            tangents: vec![[1.0, 0.0, 0.0, 1.0]; mesh.vertex_count()],
            triangles: mesh.triangles().iter().filter(is_upper).copied().collect(),
            ..DrawPart::default()
        }
    };
    DrawMesh {
        parts: vec![half(false), half(true)],
    }
}

fn simplified(skin: &Skin, mesh: &TriMesh, draw: &DrawMesh, poses: &[Pose]) -> Simplified {
    let options = LodOptions {
        progressive: true,
        drop_influences: true,
        max_influences: 2,
        ..LodOptions::default()
    };
    let all = mesh.triangles().len();
    let targets = [all / 2, all / 10].map(LevelTarget::Triangles);
    simplify(skin, mesh, draw, poses, &targets, &options, None, &Silent).expect("a tube")
}

fn sequence_of(made: &Tube, draw: &DrawMesh) -> Progressive {
    let mesh = made.examples.rest();
    let found = simplified(&made.truth, mesh, draw, &poses(made));
    found.progressive.expect("it was asked for")
}

fn plain(mesh: &TriMesh) -> DrawMesh {
    DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles())
}

fn posed(program: &VertexProgram, skin: &Skin, pose: &Pose) -> Vec<DVec3> {
    let own = Skin {
        program: program.clone(),
        ..skin.clone()
    };
    own.evaluate(pose).expect("a pose of the skeleton")
}

/// L8, for a character of two materials whose vertices lose influences, too.
#[test]
fn fact_l8_any_number_of_steps_gives_a_mesh_and_none_give_the_character_back() {
    let made = a_tube();
    let mesh = made.examples.rest();
    let draw = in_two_materials(mesh);
    let sequence = sequence_of(&made, &draw);
    check_prefixes("tube", &sequence, &draw, 20);
    let full = sequence.at(0).expect("finite");
    assert_eq!(full.mesh.positions(), mesh.positions(), "points");
    assert_eq!(full.draw, draw, "all that is drawn, bit for bit");
    assert_eq!(full.program, made.truth.program, "what moves it");
    let last = sequence.at(usize::MAX).expect("finite");
    assert_eq!(
        last,
        sequence.at(sequence.step_count()).expect("finite"),
        "there are no more steps than that"
    );
    assert!(last.program.max_influences() <= 2, "all steps were taken");
    assert!(
        last.draw.parts.iter().all(|part| part.tangents.is_empty()),
        "tangents are those of the full character"
    );
}

#[test]
fn errors_choose_steps_and_so_do_triangles() {
    let made = a_tube();
    let sequence = sequence_of(&made, &plain(made.examples.rest()));
    let steps = sequence.step_count();
    assert_eq!(sequence.steps_within(f64::INFINITY), steps, "all of them");
    assert_eq!(sequence.steps_within(-1.0), 0, "none is so good");
    for k in [1, steps / 3, steps / 2, steps - 1] {
        let error = sequence.errors[k];
        let within = sequence.steps_within(error);
        assert!(within >= k, "{within} steps are within {error}");
        assert_eq!(sequence.errors[within], error, "and none is farther");
    }
    for wanted in [1000, 500, 200] {
        let steps = sequence.steps_to_triangles(wanted);
        let count = |steps| {
            let level = sequence.at(steps).expect("finite");
            level.mesh.triangles().len()
        };
        assert!(count(steps) >= wanted, "{wanted}: {}", count(steps));
        assert!(count(steps + 1) < wanted, "{wanted}: one more is too many");
    }
}

/// The two states of a change, and what points become.
struct Change {
    fine: ProgressiveLevel,
    coarse: ProgressiveLevel,
    becomes: Vec<u32>,
}

impl Change {
    fn new(sequence: &Progressive, fine: usize, coarse: usize) -> Self {
        Self {
            fine: sequence.at(fine).expect("finite"),
            coarse: sequence.at(coarse).expect("finite"),
            becomes: sequence.becomes(fine, coarse).expect("no piece vanishes"),
        }
    }

    fn at(&self, skeleton: &Skeleton, t: f64) -> VertexProgram {
        let (fine, coarse) = (&self.fine.program, &self.coarse.program);
        let between = geomorph(skeleton, fine, coarse, &self.becomes, t);
        VertexProgram::Linear(between.expect("linear blend skins"))
    }
}

/// L9: the ends are the two levels, and half-way posed is half of posed.
#[test]
fn fact_l9_a_geomorph_is_a_straight_line_in_every_pose() {
    let made = a_tube();
    let draw = in_two_materials(made.examples.rest());
    let sequence = sequence_of(&made, &draw);
    let steps = sequence.step_count();
    let skeleton = &made.truth.skeleton;
    let size = made.truth.size().expect("it has points");
    for (from, to) in [
        (0, 1),
        (0, steps),
        (steps / 2, steps),
        (steps / 3, steps / 2),
    ] {
        let change = Change::new(&sequence, from, to);
        for pose in &poses(&made)[..4] {
            let fine = posed(&change.fine.program, &made.truth, pose);
            let coarse = posed(&change.coarse.program, &made.truth, pose);
            for t in [0.0, 0.25, 0.5, 1.0] {
                let between = posed(&change.at(skeleton, t), &made.truth, pose);
                for ((at, from), goal) in between.iter().zip(&fine).zip(&change.becomes) {
                    let expected = from.lerp(coarse[*goal as usize], t);
                    let off = at.distance(expected);
                    assert!(off < 1e-12 * size, "{from} to {to} at {t}: off by {off}");
                }
            }
        }
        // Triangles that the coarse level has not are lines at the end, and all others are its own.
        let mut left = 0;
        for triangle in change.fine.mesh.triangles() {
            let [a, b, c] = triangle.map(|p| change.becomes[p as usize]);
            left += usize::from(a != b && b != c && c != a);
        }
        let expected = change.coarse.mesh.triangles().len();
        assert_eq!(
            left, expected,
            "{from} to {to}: triangles with an area at 1"
        );
    }
}

/// L9 between the levels that `simplify` makes, whose points are polished.
#[test]
fn levels_change_without_a_jump_too() {
    let made = a_tube();
    let mesh = made.examples.rest();
    let levels = simplified(&made.truth, mesh, &plain(mesh), &poses(&made)).levels;
    let pose = &poses(&made)[3];
    let (fine, coarse) = (&levels[0], &levels[1]);
    let skeleton = &made.truth.skeleton;
    let ends = [&fine.program, &coarse.program].map(|own| posed(own, &made.truth, pose));
    for (t, end) in [(0.0, 0), (1.0, 1)] {
        let between = geomorph(skeleton, &fine.program, &coarse.program, &coarse.becomes, t);
        let between = VertexProgram::Linear(between.expect("linear blend skins"));
        for (point, at) in posed(&between, &made.truth, pose).iter().enumerate() {
            let goal = [point, coarse.becomes[point] as usize][end];
            let off = at.distance(ends[end][goal]);
            assert!(off < 1e-12, "at {t}, point {point} is off by {off}");
        }
    }
}

/// Played step by step, nothing jumps: from half a step to the next, no point goes farther than half of its step.
#[test]
fn the_whole_sequence_plays_without_popping() {
    let made = a_tube();
    let sequence = sequence_of(&made, &plain(made.examples.rest()));
    let skeleton = &made.truth.skeleton;
    let pose = &poses(&made)[5];
    // Where every point of the full character is, whatever it has become.
    let mut before = posed(&made.truth.program, &made.truth, pose);
    let point_count = before.len();
    let mut to_fine: Vec<u32> = (0..point_count as u32).collect();
    let mut largest: f64 = 0.0;
    for step in 0..sequence.step_count() {
        let change = Change::new(&sequence, step, step + 1);
        let ends = [&change.fine.program, &change.coarse.program]
            .map(|program| posed(program, &made.truth, pose));
        for t in [0.0, 0.5, 1.0] {
            let between = posed(&change.at(skeleton, t), &made.truth, pose);
            for point in 0..point_count {
                let fine = to_fine[point] as usize;
                let whole = ends[0][fine].distance(ends[1][change.becomes[fine] as usize]);
                let jump = between[fine].distance(before[point]);
                let allowed = if t == 0.0 { 0.0 } else { whole / 2.0 };
                assert!(
                    jump <= allowed + 1e-12,
                    "step {step} at {t}: point {point} jumps by {jump}, its step is {whole}"
                );
                largest = largest.max(jump);
                before[point] = between[fine];
            }
        }
        for own in &mut to_fine {
            *own = change.becomes[*own as usize];
        }
    }
    assert!(largest > 0.0, "something moved");
}

/// The way of run-times: both levels posed in single precision, and blended.
#[test]
fn run_times_blend_posed_levels() {
    let made = a_tube();
    let sequence = sequence_of(&made, &plain(made.examples.rest()));
    let change = Change::new(&sequence, 10, sequence.step_count() / 2);
    let morph = Geomorph::new(change.becomes.clone(), change.coarse.mesh.vertex_count());
    let morph = morph.expect("its own levels");
    let pose = &poses(&made)[2];
    let packed = |program: &VertexProgram| {
        let own = Skin {
            program: program.clone(),
            ..made.truth.clone()
        };
        let packed = PackedSkin::new(&own, &PackOptions::default()).expect("it packs");
        let frame: Frame = packed
            .frame(&own.run_pose_program(pose).expect("its own pose"))
            .expect("its own pose");
        let mut positions = vec![[0.0f32; 3]; packed.vertex_count()];
        let out = Output::Vertices {
            positions: &mut positions,
            normals: None,
        };
        packed.evaluate(&frame.inputs(), out).expect("buffers fit");
        positions
    };
    let coarse = packed(&change.coarse.program);
    for t in [0.0, 0.3, 1.0] {
        let mut positions = packed(&change.fine.program);
        morph.blend(t, &coarse, &mut positions).expect("they fit");
        let expected = change.at(&made.truth.skeleton, f64::from(t));
        for (found, expected) in positions.iter().zip(posed(&expected, &made.truth, pose)) {
            let found = DVec3::from_array(found.map(f64::from));
            let off = found.distance(expected);
            assert!(off < 1e-5, "at {t}: off by {off}");
        }
    }
}

#[test]
fn broken_sequences_are_told_in_a_sentence() {
    let made = a_tube();
    let good = sequence_of(&made, &in_two_materials(made.examples.rest()));
    type Spoil = fn(&mut Progressive);
    let broken: [(&str, Spoil); 9] = [
        ("node 7 becomes 3", |s| s.parents[7] = 3),
        ("drawn vertex 2 becomes 2", |s| s.parts[1].parents[2] = 2),
        ("rest positions", |s| s.rest_positions.truncate(9)),
        ("never fall", |s| s.errors[1] = f64::INFINITY),
        ("for each triangle", |s| {
            s.parts[0].vanishes_with[0] = u32::MAX
        }),
        ("order of the steps", |s| s.parts[0].made_by.reverse()),
        ("attributes", |s| s.parts[0].drawn.uvs[0].truncate(5)),
        ("copies a point", |s| s.parts[0].drawn.points[0] = u32::MAX),
        ("errors", |s| s.errors.clear()),
    ];
    for (expected, spoil) in broken {
        let mut sequence = good.clone();
        spoil(&mut sequence);
        let error = sequence.check().expect_err(expected);
        assert!(matches!(error, LodError::BrokenSequence { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_skin_with_shapes_has_levels_but_no_sequence() {
    let made = tube(&TubeOptions {
        ring_count: 9,
        segment_count: 8,
        bone_count: 2,
        example_count: 3,
    });
    let mesh = made.examples.rest();
    let mut skin = made.truth.clone();
    skin.coefficients.push(Coefficient {
        name: "smile".to_owned(),
        default: 0.0,
    });
    if let VertexProgram::Ssd(ssd) = &mut skin.program {
        ssd.corrections.push(Correction { deltas: Vec::new() });
    }
    let options = LodOptions {
        progressive: true,
        ..LodOptions::default()
    };
    let target = [LevelTarget::Triangles(40)];
    let draw = plain(mesh);
    let refused = simplify(
        &skin,
        mesh,
        &draw,
        &poses(&made),
        &target,
        &options,
        None,
        &Silent,
    );
    let error = refused.expect_err("it has a shape").to_string();
    assert!(error.contains("morph targets"), "{error}");
}
