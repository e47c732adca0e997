//! Facts about crowds that need no graphics card.

use dermis::Clip;
use std::cell::Cell;

use dermis::Document;
use dermis::bounds::complete_limits;
use dermis::document::LevelOptions;
use dermis::joint::LegalPoses;
use dermis::lod::{LevelTarget, Picture};
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::run::PaletteEntry;
use dermis::synth::{TubeOptions, tube};
use dermis_render::{Camera, Projection};
use glam::{DVec3, Vec3};
use proptest::prelude::*;

use super::moves::evaluate;
use super::*;

/// A tube that bends and twists, with levels and two clips.
pub(super) fn document() -> Document {
    let made = tube(&TubeOptions::default());
    let skeleton = &made.truth.skeleton;
    let poses: Vec<_> = made
        .examples
        .examples()
        .iter()
        .map(|e| e.pose.clone())
        .collect();
    let half = poses.len() / 2;
    let clip = |name: &str, poses: &[dermis::Pose]| {
        Clip::from_poses(name, skeleton, poses, 4.0).expect("rigid poses")
    };
    let clips = vec![clip("sway", &poses[..half]), clip("coil", &poses[half..])];
    let mesh = made.examples.rest().clone();
    let count = mesh.triangles().len();
    let document = Document {
        draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        mesh,
        skin: Some(made.truth),
        clips,
        ..Document::default()
    };
    let options = LevelOptions {
        targets: [2, 5, 12]
            .map(|n| LevelTarget::Triangles(count / n))
            .to_vec(),
        certify: true,
        ..LevelOptions::default()
    };
    document
        .with_levels(&options, &Silent)
        .expect("a tube has levels")
        .document
}

pub(super) fn character() -> (Document, Character) {
    of_document(document())
}

/// The same in animation space.
#[cfg(feature = "wgpu")]
pub(super) fn free_character() -> Character {
    let mut document = document();
    let skin = document.skin.take().expect("it has one");
    for level in &mut document.levels {
        let linear = level
            .program
            .to_linear(&skin.skeleton)
            .expect("a linear blend skin is linear");
        level.program = dermis::VertexProgram::Linear(linear);
    }
    // The full character stays linear blend: packed with the others it becomes as they are.
    document.skin = Some(skin);
    of_document(document).1
}

fn of_document(document: Document) -> (Document, Character) {
    let character =
        Character::new(&document, &CharacterOptions::default()).expect("it can be drawn");
    (document, character)
}

pub(super) fn crowd_of(character: &Character, count: usize) -> Vec<Instance> {
    let spread = Spread {
        count,
        ..Spread::default()
    };
    spread.instances(character).expect("a small crowd")
}

/// A camera among the crowd: `at` and `to` are where it stands and looks, in widths of the crowd.
pub(super) fn camera_in(
    character: &Character,
    instances: &[Instance],
    at: [f32; 2],
    to: [f32; 2],
    fov: f32,
) -> Camera {
    let width = instances
        .iter()
        .map(|i| i.place[0].abs().max(i.place[2].abs()))
        .fold(1e-3, f32::max);
    let height = character.height() as f32;
    Camera {
        eye: Vec3::new(at[0] * width, 1.5 * height, at[1] * width),
        target: Vec3::new(to[0] * width + 1e-3, 0.4 * height, to[1] * width),
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y_rad: fov },
    }
}

const SIZE: [u32; 2] = [320, 180];

#[test]
fn fact_r2_culled_instances_have_no_vertex_in_the_picture_in_any_legal_pose() {
    let (document, character) = character();
    let skin = document.skin.as_ref().expect("it has one");
    let shown = document.shown_poses().expect("its own clips");
    let seen = skin.joint_statistics(&dermis::skin::ShownPoses::all(&shown));
    let (limits, _) = document.legal_limits(&seen);
    let limits = complete_limits(skin, &limits).expect("its own");
    let poses: Vec<_> = LegalPoses::new(&skin.skeleton, &limits, 0.5, 2)
        .expect("in order")
        .take(40)
        .collect();
    let shapes: Vec<Vec<DVec3>> = poses
        .iter()
        .map(|pose| skin.evaluate(pose).expect("its own"))
        .collect();
    let instances = crowd_of(&character, 150);
    let (culled, checked) = (Cell::new(0), Cell::new(0));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(10_000));
    let cameras = (
        prop::array::uniform2(-1.5..1.5f32),
        prop::array::uniform2(-1.5..1.5f32),
        0.2..1.6f32,
    );
    let outcome = runner.run(&cameras, |(at, to, fov)| {
        let camera = camera_in(&character, &instances, at, to, fov);
        let view = View::new(
            &character,
            &instances,
            &camera,
            SIZE,
            &FrameOptions::default(),
        )
        .expect("a camera");
        let plan = Plan::new(&character, &instances, &view);
        let clip = camera.clip_from_world(16.0 / 9.0).expect("a camera");
        for (number, (instance, choice)) in instances.iter().zip(&plan.choices).enumerate() {
            if *choice != Choice::Culled {
                continue;
            }
            culled.set(culled.get() + 1);
            // A few of each camera's: others have their turn with other cameras.
            if !(number + plan.drawn.len()).is_multiple_of(25) {
                continue;
            }
            for vertex in &shapes[number % shapes.len()] {
                let at = clip * instance.world_from_model(vertex.as_vec3()).extend(1.0);
                let is_seen = at.x.abs() <= at.w && at.y.abs() <= at.w && at.z >= 0.0 && at.w > 0.0;
                checked.set(checked.get() + 1);
                prop_assert!(
                    !is_seen,
                    "instance {number} was culled, and {vertex} is in the picture"
                );
            }
        }
        Ok(())
    });
    outcome.expect("nothing that is culled is seen");
    let (culled, checked) = (culled.get(), checked.get());
    assert!(
        culled > 100_000 && checked > 1_000_000,
        "{culled} culled, {checked} vertices"
    );
}

#[test]
fn fact_r3_the_level_is_the_coarsest_whose_error_is_at_most_the_pixels_asked_for() {
    let (_, character) = character();
    let instances = crowd_of(&character, 400);
    let mut seen = vec![0; character.levels.len()];
    const SIZE: [u32; 2] = [1920, 1080];
    for (pixels, distance) in [(0.03, 0.2), (0.2, 1.2), (1.0, 0.5), (1.0, 4.0)] {
        let camera = camera_in(&character, &instances, [0.0, distance], [0.0, 0.0], 0.8);
        let options = FrameOptions {
            pixels,
            ..FrameOptions::default()
        };
        let view = View::new(&character, &instances, &camera, SIZE, &options).expect("a camera");
        let plan = Plan::new(&character, &instances, &view);
        let aspect = 16.0 / 9.0;
        let picture = Picture {
            width: f64::from(SIZE[0]),
            height: f64::from(SIZE[1]),
            field_of_view_x_rad: 2.0 * (aspect * 0.4f64.tan()).atan(),
        };
        let forward = (camera.target - camera.eye).normalize().as_dvec3();
        for (instance, choice) in instances.iter().zip(&plan.choices) {
            let Choice::Drawn { level, .. } = *choice else {
                continue;
            };
            seen[level as usize] += 1;
            let center = instance
                .world_from_model(character.ball.center.as_vec3())
                .as_dvec3();
            let scale = f64::from(instance.scale);
            let depth = forward.dot(center - camera.eye.as_dvec3()) - scale * character.ball.radius;
            let projects = |l: usize| {
                picture.pixels(scale * f64::from(character.levels[l].error), depth.max(0.0))
            };
            let level = level as usize;
            assert!(
                level == 0 || projects(level) <= pixels,
                "level {level} at depth {depth}: {}",
                projects(level)
            );
            if level + 1 < character.levels.len() {
                let next = projects(level + 1);
                assert!(
                    next > pixels * (1.0 - 1e-3),
                    "level {level} at depth {depth}, and the next moves {next}"
                );
            }
        }
    }
    assert!(
        seen.iter().all(|&n| n > 0),
        "every level is drawn somewhere: {seen:?}"
    );
}

#[test]
fn a_ball_holds_every_level_in_every_moment_of_its_clips() {
    let (_, character) = character();
    let mut palette = vec![PaletteEntry::default(); character.moves.bone_count()];
    for clip in &character.moves.clips {
        for k in 0..50 {
            character
                .moves
                .palette(clip.at(0.137 * k as f32), &mut palette);
            for level in &character.levels {
                let mut positions = vec![[0.0; 3]; level.vertex_count()];
                evaluate(&level.packed, &palette, &mut positions).expect("it fits");
                for p in positions {
                    let off = DVec3::from(p.map(f64::from)).distance(character.ball.center);
                    assert!(
                        off <= character.ball.radius,
                        "{off} from the middle of the ball"
                    );
                }
            }
        }
    }
}

#[test]
fn matrices_at_even_steps_stay_near_the_clip() {
    let (document, character) = character();
    let size = document
        .skin
        .as_ref()
        .expect("it has one")
        .size()
        .expect("it has points");
    let error = f64::from(character.moves.error);
    assert!(error > 0.0 && error < 1e-3 * size, "{error} of {size}");
    let clip = &character.moves.clips[1];
    let end = clip.at(clip.seconds * 0.999_999);
    assert_eq!(
        end.step,
        clip.first + clip.steps - 2,
        "the last step but one"
    );
    assert!(end.share > 0.99, "{}", end.share);
    assert_eq!(clip.at(0.0).step, clip.first, "the first");
    let again = clip.at(7.0 * clip.seconds);
    assert!(
        again.share < 1e-3 || again.share > 0.999,
        "seven times round: {again:?}"
    );
}

#[test]
fn errors_rise_and_vertices_know_what_they_become() {
    let (_, character) = character();
    assert_eq!(character.errors()[0], 0.0, "the full character is itself");
    assert!(
        character.errors().windows(2).all(|pair| pair[0] < pair[1]),
        "{:?}",
        character.errors()
    );
    for (number, pair) in character.levels.windows(2).enumerate() {
        assert!(
            character.can_morph(number),
            "level {number} goes to the next one"
        );
        assert_eq!(pair[0].becomes.len(), pair[0].vertex_count(), "each vertex");
        assert!(
            pair[0].influences > pair[1].influences,
            "fewer influences at level {}",
            number + 1
        );
    }
    assert!(!character.can_morph(3), "the coarsest goes nowhere");
}

#[test]
fn the_same_seed_gives_the_same_crowd_and_a_camera_without_perspective_is_refused() {
    let (_, character) = character();
    let instances = crowd_of(&character, 90);
    assert_eq!(instances, crowd_of(&character, 90), "one seed");
    let other = Spread {
        count: 90,
        seed: 2,
        ..Spread::default()
    };
    assert_ne!(
        instances,
        other.instances(&character).expect("a crowd"),
        "another seed"
    );
    let flat = Camera {
        projection: Projection::Orthographic { height: 1.0 },
        ..camera_in(&character, &instances, [0.0, 2.0], [0.0, 0.0], 0.8)
    };
    let refused = View::new(
        &character,
        &instances,
        &flat,
        SIZE,
        &FrameOptions::default(),
    );
    assert_eq!(
        refused,
        Err(CrowdError::NoPerspective),
        "nothing tells near from far"
    );
    let none = Spread {
        count: 0,
        ..Spread::default()
    };
    let error = none.instances(&character).expect_err("nobody").to_string();
    assert_eq!(
        error, "option count: expected 1 to 1000000, found 0",
        "which option, and what it may be"
    );
}

/// The shaders of a crowd, each as it is compiled.
fn shaders() -> Vec<(&'static str, String)> {
    let skin = include_str!("../../shaders/crowd_skin.wgsl");
    let after = |source: &str| format!("{skin}{source}");
    vec![
        (
            "choose",
            include_str!("../../shaders/crowd_choose.wgsl").to_owned(),
        ),
        (
            "order",
            include_str!("../../shaders/crowd_order.wgsl").to_owned(),
        ),
        (
            "place",
            include_str!("../../shaders/crowd_place.wgsl").to_owned(),
        ),
        (
            "palettes",
            include_str!("../../shaders/crowd_palettes.wgsl").to_owned(),
        ),
        (
            "ground",
            include_str!("../../shaders/crowd_ground.wgsl").to_owned(),
        ),
        (
            "shadow",
            include_str!("../../shaders/crowd_shadow.wgsl").to_owned(),
        ),
        ("draw", after(include_str!("../../shaders/crowd_draw.wgsl"))),
        (
            "probe",
            after(include_str!("../../shaders/crowd_probe.wgsl")),
        ),
    ]
}

#[test]
fn shaders_are_valid_within_the_limits_of_the_default_profile_and_know_one_view() {
    use naga::AddressSpace;
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    let struct_of = |source: &str, name: &str| {
        let start = source.find(&format!("struct {name} {{"))?;
        let end = source[start..].find('}')?;
        Some(source[start..start + end].to_owned())
    };
    let sources = shaders();
    for (name, source) in &sources {
        let module = naga::front::wgsl::parse_str(source);
        let module = module.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        let info = validator.validate(&module);
        let info = info.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
        for (number, entry) in module.entry_points.iter().enumerate() {
            let own = info.get_entry_point(number);
            let storage = (module.global_variables.iter())
                .filter(|(_, variable)| matches!(variable.space, AddressSpace::Storage { .. }))
                .filter(|(handle, _)| !own[*handle].is_empty());
            let count = storage.count();
            assert!(
                count <= 8,
                "{name}: {count} storage buffers in {}",
                entry.name
            );
        }
        for shared in ["View", "Instance", "Level"] {
            let first = sources
                .iter()
                .find_map(|(_, source)| struct_of(source, shared));
            let own = struct_of(source, shared);
            assert!(
                own.is_none() || own == first,
                "{shared} of {name} is that of the others"
            );
        }
    }
    let folder = format!("{}/shaders", env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for file in std::fs::read_dir(folder).expect("the folder of shaders") {
        let path = file.expect("a file").path();
        if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("crowd_"))
        {
            let lines = std::fs::read_to_string(&path)
                .expect("text")
                .lines()
                .count();
            assert!(lines < 100, "{} has {lines} lines", path.display());
            read += 1;
        }
    }
    assert_eq!(read, 9, "every shader of a crowd");
}
