//! Pictures of chequered and textured surfaces, checked against arithmetic.

use glam::{Vec2, Vec3};

use super::*;
use crate::camera::Projection;
use crate::scene::{Background, CHEQUER, Paint, Shading, Surface};
use crate::texture::TexturePicture;

const BLACK_AND_WHITE: [[f32; 3]; 2] = [[0.0; 3], [1.0; 3]];
const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];
/// Coordinates of a square's corners from the bottom left anticlockwise: v runs down, as glTF has it.
const UVS: [Vec2; 4] = [
    Vec2::new(0.0, 1.0),
    Vec2::new(1.0, 1.0),
    Vec2::new(1.0, 0.0),
    Vec2::new(0.0, 0.0),
];

/// A square as large as the picture that [`front`] takes.
fn corners(size: f32) -> [Vec3; 4] {
    [[0.0, 0.0], [size, 0.0], [size, size], [0.0, size]].map(|[x, y]| Vec3::new(x, y, 0.0))
}

/// A camera that shows x and y from 0 to `size`, y up, one unit per pixel.
fn front(size: u32) -> Camera {
    let half = size as f32 / 2.0;
    Camera {
        eye: Vec3::new(half, half, 10.0),
        target: Vec3::new(half, half, 0.0),
        up: Vec3::Y,
        projection: Projection::Orthographic {
            height: size as f32,
        },
    }
}

fn draw(positions: &[Vec3], paint: Paint<'_>, camera: &Camera, size: u32) -> Image {
    let surface = Surface {
        shading: Shading::Unlit,
        ..Surface::new(positions, &[], &SQUARE).painted(paint)
    };
    let scene = Scene {
        surfaces: vec![surface],
        background: Background::Transparent,
        ..Scene::default()
    };
    render(&scene, camera, size, size).expect("a valid scene")
}

fn chequer<'a>(uvs: &'a [Vec2], squares: f32, tints: &'a [[f32; 3]]) -> Paint<'a> {
    Paint::Chequer {
        uvs,
        squares,
        colors: BLACK_AND_WHITE,
        tints,
    }
}

#[test]
fn squares_alternate_from_the_origin_of_the_texture() {
    let image = draw(&corners(64.0), chequer(&UVS, 8.0, &[]), &front(64), 64);
    for y in 0..64 {
        for x in 0..64 {
            let is_first = (x / 8 + y / 8) % 2 == 0;
            let expected = if is_first { 0 } else { 255 };
            let [r, g, b, a] = image.pixel(x, y).expect("inside");
            // Where the two triangles share a pixel, each answers for about its half.
            let tolerance = if x + y == 63 { 8 } else { 0 };
            assert!(
                [r, g, b].iter().all(|c| c.abs_diff(expected) <= tolerance) && a == 255,
                "{x}, {y}: {r}, not {expected}"
            );
        }
    }
}

#[test]
fn a_pixel_across_two_squares_has_the_light_of_both() {
    // Squares of 6.4 pixels: pixel 6 has 0.4 of the first and 0.6 of the second.
    let image = draw(&corners(64.0), chequer(&UVS, 10.0, &[]), &front(64), 64);
    let seen = crate::color::linear_from_byte(image.pixel(6, 2).expect("inside")[0]);
    assert!((seen - 0.6).abs() < 0.01, "{seen} of white");
}

#[test]
fn squares_too_small_to_see_are_their_mean_and_not_noise() {
    // From one square per pixel on.
    for squares in [64.0, 97.1, 1000.3] {
        let image = draw(&corners(64.0), chequer(&UVS, squares, &[]), &front(64), 64);
        for pixel in image.pixels() {
            // Half the light is byte 188.
            assert!(pixel[0].abs_diff(188) <= 1, "{squares} squares: {pixel:?}");
        }
    }
}

#[test]
fn a_road_of_squares_fades_to_their_mean_towards_the_horizon() {
    let far = 4000.0;
    let road = [
        [-500.0, 0.0, 0.0],
        [500.0, 0.0, 0.0],
        [500.0, 0.0, -far],
        [-500.0, 0.0, -far],
    ]
    .map(Vec3::from);
    let uvs = road.map(|p| Vec2::new(p.x, p.z));
    let camera = Camera {
        eye: Vec3::new(0.3, 5.0, 3.0),
        target: Vec3::new(0.3, 5.0, 0.0),
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y_rad: 1.5 },
    };
    let image = draw(&road, chequer(&uvs, 0.5, &[]), &camera, 200);
    let row = |y: u32| (60..140).map(move |x| (x, y));
    let contrast = |y: u32| {
        let light = row(y).map(|(x, y)| image.pixel(x, y).expect("inside")[0]);
        let (low, high) = light.fold((255, 0), |(l, h), v| (l.min(v), h.max(v)));
        i32::from(high) - i32::from(low)
    };
    assert!(contrast(190) == 255, "near squares are crisp");
    assert!(contrast(103) < 25, "far ones fade: {}", contrast(103));
    let mean = image.pixel(100, 103).expect("inside")[0];
    assert!(mean.abs_diff(188) < 15, "to half the light: {mean}");
}

#[test]
fn both_colours_cover_equal_parts_at_any_turn() {
    // Seven by seven squares would have one more of the first colour; eight by eight are even.
    for turn in [0.0_f32, 0.3, 0.8] {
        let (sin, cos) = turn.sin_cos();
        let turned = UVS.map(|uv| {
            let p = (uv - Vec2::splat(0.5)) * 20.0;
            Vec2::new(cos * p.x - sin * p.y, sin * p.x + cos * p.y)
        });
        let image = draw(
            &corners(200.0),
            chequer(&turned, 1.0, &[]),
            &front(200),
            200,
        );
        let light = image
            .pixels()
            .iter()
            .map(|pixel| f64::from(crate::color::linear_from_byte(pixel[0])));
        let mean = light.sum::<f64>() / 40_000.0;
        assert!((mean - 0.5).abs() < 0.01, "turned by {turn}: {mean}");
    }
}

#[test]
fn tints_multiply_both_colours() {
    let red = [[1.0, 0.0, 0.0]; 4];
    let image = draw(&corners(64.0), chequer(&UVS, 8.0, &red), &front(64), 64);
    assert_eq!(image.pixel(4, 4), Some([0, 0, 0, 255]), "black stays black");
    assert_eq!(image.pixel(12, 4), Some([255, 0, 0, 255]), "white is red");
}

#[test]
fn coordinates_that_are_not_finite_are_grey() {
    let broken = [Vec2::NAN, Vec2::ZERO, Vec2::INFINITY, Vec2::ONE];
    let texture = TexturePicture::new(1, 1, vec![[255, 0, 0, 255]]).expect("a pixel");
    let paints = [
        chequer(&broken, 8.0, &[]),
        Paint::Texture {
            uvs: &broken,
            picture: &texture,
        },
    ];
    for paint in paints {
        let image = draw(&corners(16.0), paint, &front(16), 16);
        let expected = crate::heatmap::NO_DATA.map(|c| (c * 255.0).round() as u8);
        let [r, g, b, _] = image.pixel(8, 4).expect("inside");
        assert_eq!([r, g, b], expected, "no data");
    }
    // Neither may a broken number of squares panic.
    for squares in [f32::NAN, f32::INFINITY, -4.0, 0.0, f32::MAX] {
        draw(&corners(16.0), chequer(&UVS, squares, &[]), &front(16), 16);
    }
}

#[test]
fn a_texture_of_the_size_of_the_picture_is_the_picture() {
    let pixels: Vec<[u8; 4]> = (0..16 * 16_u32)
        .map(|i| {
            [
                (i * 37 % 256) as u8,
                (i * 91 % 256) as u8,
                (i % 256) as u8,
                255,
            ]
        })
        .collect();
    let texture = TexturePicture::new(16, 16, pixels.clone()).expect("256 pixels");
    let paint = Paint::Texture {
        uvs: &UVS,
        picture: &texture,
    };
    let image = draw(&corners(16.0), paint, &front(16), 16);
    for (i, (seen, expected)) in image.pixels().iter().zip(&pixels).enumerate() {
        // Along the diagonal two triangles share each pixel, and neighbours shine through.
        let shared = i % 16 + i / 16 == 15;
        for channel in (0..4).filter(|_| !shared) {
            assert!(
                seen[channel].abs_diff(expected[channel]) <= 1,
                "pixel {i}: {seen:?}, not {expected:?}"
            );
        }
    }
}

#[test]
fn triangles_keep_their_own_colours() {
    let colors = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let image = draw(
        &corners(32.0),
        Paint::TriangleColors(&colors),
        &front(32),
        32,
    );
    assert_eq!(
        image.pixel(28, 20),
        Some([255, 0, 0, 255]),
        "the lower right"
    );
    assert_eq!(image.pixel(4, 12), Some([0, 0, 255, 255]), "the upper left");
}

#[test]
fn patterns_have_the_same_bytes_on_any_number_of_threads() {
    let positions = [
        [-1.0, -1.0, 0.3],
        [1.0, -0.8, 0.0],
        [1.2, 1.0, -0.9],
        [-1.0, 0.9, 0.1],
    ]
    .map(Vec3::from);
    let pixels = (0..35_u8).map(|i| [i * 7, 255 - i, i * 3, 255]).collect();
    let texture = TexturePicture::new(7, 5, pixels).expect("35 pixels");
    let tints = [[1.0, 0.8, 0.7], [0.7, 0.8, 1.0], [0.5, 1.0, 0.5], [1.0; 3]];
    let camera = Camera::framing(positions, Vec3::new(-0.4, -0.3, -1.0), Vec3::Y, 1.0);
    let paints = [
        Paint::Chequer {
            uvs: &UVS,
            squares: 40.0,
            colors: CHEQUER,
            tints: &tints,
        },
        Paint::Texture {
            uvs: &UVS,
            picture: &texture,
        },
    ];
    for paint in paints {
        let scene = Scene {
            surfaces: vec![Surface::new(&positions, &[], &SQUARE).painted(paint)],
            ..Scene::default()
        };
        let pictures = [1, 3, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a thread pool")
                .install(|| render(&scene, &camera, 150, 150).expect("a valid scene"))
        });
        assert!(
            pictures[0] == pictures[1] && pictures[0] == pictures[2],
            "all three pictures agree"
        );
    }
}
