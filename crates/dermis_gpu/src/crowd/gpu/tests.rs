//! The card against the plain twin.

use dermis::run::{Geomorph, PaletteEntry};
use dermis_render::{Camera, Image};
use glam::Vec3;

use super::super::moves::evaluate;
use super::super::tests::{camera_in, character, crowd_of, free_character};
use super::super::{Choice, CrowdLook, FrameOptions, Instance, Plan, View};
use super::*;

const SIZE: [u32; 2] = [192, 108];

/// A card, or a printed reason to skip.
fn card() -> Option<Gpu> {
    match Gpu::new() {
        Ok(gpu) => Some(gpu),
        Err(error) if std::env::var_os("DERMIS_REQUIRE_GPU").is_none_or(|v| v != "1") => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("DERMIS_REQUIRE_GPU is 1, and {error}"),
    }
}

fn crowd(count: usize) -> Option<CrowdRenderer> {
    crowd_with(character().1, count)
}

fn crowd_with(character: Character, count: usize) -> Option<CrowdRenderer> {
    let gpu = card()?;
    let instances = crowd_of(&character, count);
    let look = CrowdLook::default();
    Some(CrowdRenderer::new(&gpu, character, instances, &look, SIZE).expect("a small crowd"))
}

fn cameras(crowd: &CrowdRenderer) -> Vec<Camera> {
    let camera = |at, to, fov| camera_in(crowd.character(), crowd.instances(), at, to, fov);
    vec![
        camera([0.0, 1.1], [0.0, 0.0], 0.9),
        camera([0.3, 0.2], [-0.8, -0.4], 0.7),
        camera([-0.9, -1.4], [0.4, 0.1], 0.5),
        camera([4.0, 9.0], [0.0, 0.0], 0.3),
    ]
}

fn plan(crowd: &CrowdRenderer, camera: &Camera, options: &FrameOptions) -> Plan {
    let view =
        View::new(crowd.character(), crowd.instances(), camera, SIZE, options).expect("a camera");
    Plan::new(crowd.character(), crowd.instances(), &view)
}

fn draw(crowd: &mut CrowdRenderer, camera: &Camera, options: &FrameOptions) -> Image {
    crowd.draw(camera, options).expect("it draws");
    crowd.picture().expect("it was drawn")
}

/// Pixels that differ.
fn differing(a: &Image, b: &Image) -> usize {
    a.pixels()
        .iter()
        .zip(b.pixels())
        .filter(|(a, b)| a != b)
        .count()
}

#[test]
fn the_card_draws_the_instances_and_levels_of_the_plain_twin_in_its_order() {
    let Some(mut crowd) = crowd(333) else { return };
    let (mut culled, mut morphing) = (0, 0);
    for camera in cameras(&crowd) {
        for (pixels, culling, level) in [
            (1.0, true, None),
            (0.1, true, None),
            (0.2, false, None),
            (1.0, true, Some(2)),
        ] {
            let options = FrameOptions {
                pixels,
                culling,
                level,
                time: 0.7,
                ..FrameOptions::default()
            };
            crowd.draw(&camera, &options).expect("it draws");
            let plan = plan(&crowd, &camera, &options);
            assert_eq!(
                crowd.counts().expect("counted"),
                plan.counts,
                "as many of each level"
            );
            let drawn = crowd.drawn().expect("listed");
            let numbers: Vec<u32> = drawn.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers, plan.drawn, "the same instances in the same order");
            for (number, share) in drawn {
                let Choice::Drawn {
                    share: expected, ..
                } = plan.choices[number as usize]
                else {
                    panic!("instance {number} is culled in the plan");
                };
                assert!(
                    (share - expected).abs() < 1e-3,
                    "instance {number}: {share}, not {expected}"
                );
            }
            culled += plan.counts.culled();
            morphing += plan.counts.morphing.iter().sum::<u64>();
        }
    }
    assert!(
        culled > 300 && morphing > 50,
        "{culled} culled, {morphing} between levels"
    );
}

/// Positions of an instance by `run`: its level, moved over to the next one.
fn by_run(
    crowd: &CrowdRenderer,
    instance: &Instance,
    level: usize,
    share: f32,
    time: f32,
) -> Vec<[f32; 3]> {
    let character = crowd.character();
    let mut palette = vec![PaletteEntry::default(); character.moves.bone_count()];
    let moment = character.moves.clips[instance.clip as usize].at(time + instance.ahead);
    character.moves.palette(moment, &mut palette);
    let posed = |number: usize| {
        let own = &character.levels[number];
        let mut positions = vec![[0.0; 3]; own.vertex_count()];
        evaluate(&own.packed, &palette, &mut positions).expect("it fits");
        positions
    };
    let mut positions = posed(level);
    if share > 0.0 {
        let coarse = posed(level + 1);
        let morph =
            Geomorph::new(character.levels[level].becomes.clone(), coarse.len()).expect("it fits");
        morph
            .blend(share, &coarse, &mut positions)
            .expect("it fits");
    }
    positions
}

#[test]
fn fact_r1_positions_of_drawn_instances_are_those_of_run_to_rounding() {
    for character in [character().1, free_character()] {
        let Some(crowd) = crowd_with(character, 120) else {
            return;
        };
        positions_are_those_of_run(crowd);
    }
}

fn positions_are_those_of_run(mut crowd: CrowdRenderer) {
    let size = crowd.character().ball.radius as f32;
    let (mut levels, mut between) = (std::collections::BTreeSet::new(), 0);
    for (camera, pixels) in cameras(&crowd).into_iter().zip([0.05, 0.5, 1.0, 1.0]) {
        let options = FrameOptions {
            pixels,
            time: 1.9,
            ..FrameOptions::default()
        };
        crowd.draw(&camera, &options).expect("it draws");
        let plan = plan(&crowd, &camera, &options);
        let drawn = crowd.drawn().expect("listed");
        for row in (0..drawn.len()).step_by(7) {
            let (number, share) = drawn[row];
            let level = plan
                .levels
                .iter()
                .position(|range| range.contains(&row))
                .expect("of some level");
            let instance = crowd.instances()[number as usize];
            let expected = by_run(&crowd, &instance, level, share, 1.9);
            let found = crowd.positions(row, level).expect("computed");
            assert_eq!(found.len(), expected.len(), "a position for each vertex");
            for (a, b) in found.iter().zip(&expected) {
                let off = Vec3::from(*a).distance(Vec3::from(*b));
                assert!(
                    off < 1e-4 * size,
                    "off by {off} of {size} at level {level}, {share} of the way"
                );
            }
            levels.insert(level);
            between += usize::from(share > 0.0);
        }
    }
    assert!(
        levels.len() >= 3 && between > 3,
        "levels {levels:?}, {between} between two"
    );
}

#[test]
fn a_geomorph_ends_in_the_positions_of_the_next_level() {
    let Some(crowd) = crowd(30) else { return };
    let instance = crowd.instances()[11];
    for level in 0..crowd.character().levels.len() - 1 {
        let whole = by_run(&crowd, &instance, level, 1.0, 0.3);
        let next = by_run(&crowd, &instance, level + 1, 0.0, 0.3);
        let becomes = &crowd.character().levels[level].becomes;
        for (at, &goal) in whole.iter().zip(becomes) {
            assert_eq!(
                *at,
                next[goal as usize],
                "in its place in level {}",
                level + 1
            );
        }
    }
}

#[test]
fn culling_changes_no_pixel_and_the_same_frame_is_the_same_picture() {
    let Some(mut crowd) = crowd(250) else { return };
    let mut culled = 0;
    for camera in cameras(&crowd) {
        let options = FrameOptions {
            time: 0.4,
            ..FrameOptions::default()
        };
        let culling = draw(&mut crowd, &camera, &options);
        culled += crowd.counts().expect("counted").culled();
        let again = draw(&mut crowd, &camera, &options);
        assert_eq!(differing(&culling, &again), 0, "two runs");
        let all = FrameOptions {
            culling: false,
            ..options
        };
        let everything = draw(&mut crowd, &camera, &all);
        assert_eq!(
            differing(&culling, &everything),
            0,
            "with and without culling"
        );
        assert!(
            culling.pixels().iter().any(|p| *p != culling.pixels()[0]),
            "something is drawn"
        );
    }
    assert!(culled > 100, "{culled} culled");
}

/// Which pixels show an instance: those that are other than without any.
fn covered(picture: &Image, empty: &Image) -> Vec<bool> {
    picture
        .pixels()
        .iter()
        .zip(empty.pixels())
        .map(|(a, b)| a != b)
        .collect()
}

/// Pixels of `a` that have no pixel of `b` within so many pixels.
fn beyond(a: &[bool], b: &[bool], reach: i64) -> usize {
    let [width, height] = SIZE.map(i64::from);
    let at = |x: i64, y: i64| {
        (0..width).contains(&x) && (0..height).contains(&y) && b[(y * width + x) as usize]
    };
    let is_near = |n: usize| {
        let (x, y) = (n as i64 % width, n as i64 / width);
        // Beyond the picture there may be one.
        let is_at_side = x < reach || y < reach || x >= width - reach || y >= height - reach;
        is_at_side || (-reach..=reach).any(|dy| (-reach..=reach).any(|dx| at(x + dx, y + dy)))
    };
    (0..a.len()).filter(|&n| a[n] && !is_near(n)).count()
}

#[test]
fn fact_r3_outlines_with_levels_are_within_the_pixels_asked_for_of_those_without() {
    let Some(mut crowd) = crowd(60) else { return };
    let gpu = crowd.gpu.clone();
    let (_, character) = character();
    let nobody = Instance {
        place: [0.0, -1e4, 0.0],
        ..crowd.instances()[0]
    };
    let mut empty = CrowdRenderer::new(&gpu, character, vec![nobody], &CrowdLook::default(), SIZE)
        .expect("one");
    empty.across = crowd.across;
    (crowd.shadows, empty.shadows) = (false, false);
    let mut coarser = 0;
    for (camera, pixels) in cameras(&crowd).into_iter().zip([1.0, 2.0, 1.0, 1.0]) {
        let options = FrameOptions {
            pixels,
            time: 0.9,
            ..FrameOptions::default()
        };
        let without = draw(&mut empty, &camera, &options);
        let levels = covered(&draw(&mut crowd, &camera, &options), &without);
        coarser += crowd.counts().expect("counted").drawn[1..]
            .iter()
            .sum::<u64>();
        let full = FrameOptions {
            level: Some(0),
            ..options
        };
        let full = covered(&draw(&mut crowd, &camera, &full), &without);
        assert!(
            full.iter().filter(|c| **c).count() > 30,
            "the crowd is in the picture"
        );
        let reach = pixels as i64 + 1;
        assert_eq!(beyond(&levels, &full, reach), 0, "nothing stands out");
        assert_eq!(beyond(&full, &levels, reach), 0, "nothing is missing");
    }
    assert!(coarser > 50, "{coarser} drawn with coarser levels");
}

#[test]
fn more_instances_than_the_card_can_hold_are_refused() {
    let Some(gpu) = card() else { return };
    let (_, character) = character();
    let instances = crowd_of(&character, 1_000_000);
    let refused = CrowdRenderer::new(&gpu, character, instances, &CrowdLook::default(), SIZE);
    let Err(error) = refused else {
        panic!("so many palettes do not fit");
    };
    let error = error.to_string();
    assert!(
        error.starts_with("palettes of all instances take "),
        "{error}"
    );
}
