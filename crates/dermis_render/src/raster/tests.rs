//! Pictures of small scenes, checked against arithmetic.

use glam::Vec3;

use super::*;
use crate::camera::Projection;
use crate::heatmap::HeatScale;
use crate::scene::{Background, Ground, Paint, Surface, Wireframe, smooth_normals};

const RED: [f32; 3] = [0.9, 0.1, 0.1];
const BLUE: [f32; 3] = [0.1, 0.1, 0.9];

/// A camera whose picture of `size × size` pixels shows x and y from 0 to `size`, y up, one unit per pixel.
fn pixel_camera(size: u32) -> Camera {
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

fn clear(surfaces: Vec<Surface<'_>>) -> Scene<'_> {
    Scene {
        surfaces,
        background: Background::Transparent,
        ..Scene::default()
    }
}

fn draw(surfaces: Vec<Surface<'_>>, camera: &Camera, size: u32) -> Image {
    render(&clear(surfaces), camera, size, size).expect("a valid scene")
}

/// Covered part of each pixel, 0 to 1, and the sum of all.
fn coverage(image: &Image) -> f64 {
    image
        .pixels()
        .iter()
        .map(|pixel| f64::from(pixel[3]) / 255.0)
        .sum()
}

fn is_reddish(pixel: Option<[u8; 4]>) -> bool {
    pixel.is_some_and(|[r, _, b, a]| a > 200 && r > b)
}

fn is_bluish(pixel: Option<[u8; 4]>) -> bool {
    pixel.is_some_and(|[r, _, b, a]| a > 200 && b > r)
}

#[test]
fn a_triangle_covers_its_area() {
    let triangles = [
        [[3.0, 4.0], [28.0, 7.0], [11.0, 27.0]],
        [[1.5, 1.5], [30.0, 2.5], [30.0, 2.0]],
        [[0.0, 0.0], [32.0, 0.0], [0.0, 32.0]],
    ];
    for corners in triangles {
        let positions = corners.map(|[x, y]| Vec3::new(x, y, 0.0));
        let image = draw(
            vec![Surface::new(&positions, &[], &[[0, 1, 2]])],
            &pixel_camera(32),
            32,
        );
        let exact = f64::from(
            (positions[1] - positions[0])
                .cross(positions[2] - positions[0])
                .z,
        ) / 2.0;
        let seen = coverage(&image);
        assert!(
            (seen - exact.abs()).abs() < 0.01 * exact.abs() + 0.4,
            "{seen} of {exact} for {corners:?}"
        );
    }
}

#[test]
fn an_edge_shades_each_pixel_by_the_part_it_covers() {
    // The region below the line from (0, 4) to (16, 7): the exact cover of each pixel is a trapezium's.
    let positions =
        [[0.0, 4.0], [16.0, 7.0], [16.0, -20.0], [0.0, -20.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let image = draw(
        vec![Surface::new(&positions, &[], &[[0, 1, 2], [0, 2, 3]])],
        &pixel_camera(16),
        16,
    );
    for x in 0..16 {
        for y in 0..16 {
            let seen = f64::from(image.pixel(x, y).expect("inside")[3]) / 255.0;
            let bottom = f64::from(15 - y);
            let exact: f64 = (0..200)
                .map(|i| {
                    (4.0 + 3.0 / 16.0 * (f64::from(x) + (f64::from(i) + 0.5) / 200.0) - bottom)
                        .clamp(0.0, 1.0)
                })
                .sum::<f64>()
                / 200.0;
            assert!(
                (seen - exact).abs() < 0.1,
                "pixel {x}, {y}: {seen}, exactly {exact}"
            );
        }
    }
}

#[test]
fn a_fan_of_slivers_has_no_cracks_and_no_overlaps() {
    // A square cut into many thin triangles from an inner point: every sample belongs to exactly one.
    let mut positions = vec![Vec3::new(13.37, 9.41, 0.0)];
    for i in 0..400 {
        let t = i as f32 / 100.0;
        let along = t.fract() * 24.0;
        let [x, y] = match t as u32 {
            0 => [along, 0.0],
            1 => [24.0, along],
            2 => [24.0 - along, 24.0],
            _ => [0.0, 24.0 - along],
        };
        positions.push(Vec3::new(x + 4.0, y + 4.0, 0.0));
    }
    let triangles: Vec<[u32; 3]> = (0..400).map(|i| [0, i + 1, (i + 1) % 400 + 1]).collect();
    let image = draw(
        vec![Surface::new(&positions, &[], &triangles)],
        &pixel_camera(32),
        32,
    );
    for y in 0..32 {
        for x in 0..32 {
            let inside = (4..28).contains(&x) && (4..28).contains(&y);
            let alpha = image.pixel(x, y).expect("inside")[3];
            assert_eq!(alpha, if inside { 255 } else { 0 }, "pixel {x}, {y}");
        }
    }
}

#[test]
fn nearer_surfaces_hide_farther_ones_in_any_order() {
    let plate = |z: f32| [[2.0, 2.0], [30.0, 2.0], [16.0, 30.0]].map(|[x, y]| Vec3::new(x, y, z));
    let (near, far) = (plate(1.0), plate(-1.0));
    let red = Surface::new(&near, &[], &[[0, 1, 2]]).painted(Paint::Solid(RED));
    let blue = Surface::new(&far, &[], &[[0, 1, 2]]).painted(Paint::Solid(BLUE));
    let perspective = Camera {
        eye: Vec3::new(16.0, 16.0, 60.0),
        target: Vec3::new(16.0, 16.0, 0.0),
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y_rad: 0.6 },
    };
    for camera in [pixel_camera(32), perspective] {
        for surfaces in [
            vec![red.clone(), blue.clone()],
            vec![blue.clone(), red.clone()],
        ] {
            assert!(
                is_reddish(draw(surfaces, &camera, 32).pixel(16, 18)),
                "red is in front"
            );
        }
    }
}

#[test]
fn surfaces_that_pass_through_each_other_meet_where_they_should() {
    // Two planes crossing at x = 16.
    let rising = [
        [0.0, 0.0, -16.0],
        [32.0, 0.0, 16.0],
        [32.0, 32.0, 16.0],
        [0.0, 32.0, -16.0],
    ]
    .map(Vec3::from);
    let falling = rising.map(|p| Vec3::new(p.x, p.y, -p.z));
    let square = [[0, 1, 2], [0, 2, 3]];
    let surfaces = vec![
        Surface::new(&rising, &[], &square).painted(Paint::Solid(RED)),
        Surface::new(&falling, &[], &square).painted(Paint::Solid(BLUE)),
    ];
    let camera = Camera {
        eye: Vec3::new(16.0, 16.0, 40.0),
        ..pixel_camera(32)
    };
    let image = draw(surfaces, &camera, 32);
    for y in 0..32 {
        assert!(
            (0..16).all(|x| is_bluish(image.pixel(x, y))),
            "left of the crossing, row {y}"
        );
        assert!(
            (16..32).all(|x| is_reddish(image.pixel(x, y))),
            "right of the crossing, row {y}"
        );
    }
}

#[test]
fn interpolation_is_correct_in_perspective() {
    // A road from z = 0 to z = −90 with heat equal to the distance along it. The eye is 10 in front of its
    // start and 5 above it, looking level with 45° to each side: row y sees the depth 5 / ((y − 100) / 100).
    let positions = [
        [-50.0, 0.0, 0.0],
        [50.0, 0.0, 0.0],
        [50.0, 0.0, -90.0],
        [-50.0, 0.0, -90.0],
    ]
    .map(Vec3::from);
    let camera = Camera {
        eye: Vec3::new(0.0, 5.0, 10.0),
        target: Vec3::new(0.0, 5.0, 0.0),
        up: Vec3::Y,
        projection: Projection::Perspective {
            fov_y_rad: std::f32::consts::FRAC_PI_2,
        },
    };
    let projector = camera.projector(200, 200).expect("usable");
    let light_of = |values: [f32; 4], y: f64| {
        let heat = Paint::Heat {
            values: &values,
            scale: HeatScale::new(90.0, ""),
        };
        let scene = clear(vec![
            Surface::new(&positions, &[], &[[0, 1, 2], [0, 2, 3]]).painted(heat),
        ]);
        let meshes = prepare(&scene, &projector).expect("valid");
        Shader::new(&meshes, &projector).shade(0, 100.0, y, 1.0)
    };
    for row in [112, 120, 130, 140] {
        let y = f64::from(row) + 0.5;
        let distance = (5.0 / ((y - 100.0) / 100.0) - 10.0) as f32;
        let seen = light_of([0.0, 0.0, 90.0, 90.0], y);
        let expected = light_of([distance; 4], y);
        assert!(
            (seen - expected).abs().max_element() < 2e-3,
            "row {row}: {seen}, expected {expected}"
        );
        // The same test must notice two units too much.
        let wrong = light_of([distance + 2.0; 4], y);
        assert!(
            (seen - wrong).abs().max_element() > 4e-3,
            "row {row}: {seen} against {wrong}"
        );
    }
}

#[test]
fn a_floor_that_runs_behind_the_camera_is_cut_at_the_near_plane() {
    // An endless floor one unit below the eye: it fills exactly the lower half of the picture.
    let far = 1e4;
    let positions = [
        [-far, -1.0, far],
        [far, -1.0, far],
        [far, -1.0, -far],
        [-far, -1.0, -far],
    ]
    .map(Vec3::from);
    let camera = Camera {
        eye: Vec3::ZERO,
        target: -Vec3::Z,
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y_rad: 1.0 },
    };
    let image = draw(
        vec![Surface::new(&positions, &[], &[[0, 1, 2], [0, 2, 3]])],
        &camera,
        64,
    );
    for y in 0..64 {
        for x in 0..64 {
            let alpha = image.pixel(x, y).expect("inside")[3];
            if y < 31 {
                assert_eq!(alpha, 0, "sky at {x}, {y}");
            } else if y > 32 {
                assert_eq!(alpha, 255, "floor at {x}, {y}");
            }
        }
    }
    let behind = positions.map(|p| p + Vec3::Z * 3.0 * far);
    let image = draw(
        vec![Surface::new(&behind, &[], &[[0, 1, 2], [0, 2, 3]])],
        &camera,
        64,
    );
    assert_eq!(
        coverage(&image),
        0.0,
        "what is behind the camera is not seen"
    );
}

/// A lumpy ball: enough triangles to keep several threads busy.
fn ball(rings: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let around = rings * 2;
    let positions = (0..=rings)
        .flat_map(|i| {
            (0..around).map(move |j| {
                let polar = std::f32::consts::PI * i as f32 / rings as f32;
                let turn = std::f32::consts::TAU * j as f32 / around as f32;
                let radius = 1.0 + 0.1 * (5.0 * turn).sin() * (4.0 * polar).sin();
                Vec3::new(
                    polar.sin() * turn.cos(),
                    polar.cos(),
                    polar.sin() * turn.sin(),
                ) * radius
            })
        })
        .collect();
    let triangles = (0..rings)
        .flat_map(|i| {
            (0..around).flat_map(move |j| {
                let [a, b] = [i * around + j, i * around + (j + 1) % around];
                [[a, b, a + around], [b, b + around, a + around]]
            })
        })
        .collect();
    (positions, triangles)
}

#[test]
fn the_bytes_are_the_same_on_one_thread_and_on_many() {
    let (positions, triangles) = ball(40);
    let normals = smooth_normals(&positions, &triangles);
    let values: Vec<f32> = positions.iter().map(|p| p.length()).collect();
    let heat = Paint::Heat {
        values: &values,
        scale: HeatScale::new(1.1, ""),
    };
    let surface = Surface {
        wireframe: Some(Wireframe::default()),
        ..Surface::new(&positions, &normals, &triangles).painted(heat)
    };
    let scene = Scene {
        surfaces: vec![surface.clone(), surface],
        ground: Some(Ground::default()),
        ..Scene::default()
    };
    let camera = Camera::framing(
        positions.iter().copied(),
        Vec3::new(-1.0, -0.5, -1.0),
        Vec3::Y,
        1.25,
    );
    let pictures = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool");
        pool.install(|| render(&scene, &camera, 250, 200).expect("a valid scene"))
    });
    assert!(
        pictures[0] == pictures[1] && pictures[0] == pictures[2],
        "all three pictures agree"
    );
}

#[test]
fn the_inside_of_a_surface_is_darker_than_its_outside() {
    let positions = [[2.0, 2.0], [30.0, 2.0], [16.0, 30.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let seen = |normal: Vec3| {
        let normals = [normal; 3];
        let image = draw(
            vec![Surface::new(&positions, &normals, &[[0, 1, 2]])],
            &pixel_camera(32),
            32,
        );
        image.pixel(16, 20).expect("inside")[1]
    };
    let (outside, inside) = (seen(Vec3::Z), seen(-Vec3::Z));
    assert!(
        inside < outside && inside > outside / 2,
        "{inside} against {outside}"
    );
}

#[test]
fn broken_positions_hide_only_their_triangles() {
    let mut positions = vec![
        Vec3::new(2.0, 2.0, 0.0),
        Vec3::new(30.0, 2.0, 0.0),
        Vec3::new(16.0, 30.0, 0.0),
    ];
    let good = draw(
        vec![Surface::new(&positions, &[], &[[0, 1, 2]])],
        &pixel_camera(32),
        32,
    );
    let nasty = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
    ];
    positions.extend(nasty.map(|v| Vec3::new(v, v, v)));
    positions.extend(nasty.map(|v| Vec3::new(1.0, v, -900.0)));
    let triangles: Vec<[u32; 3]> = std::iter::once([0, 1, 2])
        .chain((3..8).map(|i| [0, 1, i]))
        .collect();
    let with_nan = draw(
        vec![Surface::new(&positions, &[], &triangles[..4])],
        &pixel_camera(32),
        32,
    );
    assert!(good == with_nan, "the good triangle is drawn as before");

    // No camera and no paint may panic on broken positions.
    let all: Vec<[u32; 3]> = (0..13)
        .flat_map(|a| (0..13).map(move |b| [a, b, (a + b) % 13]))
        .collect();
    let values: Vec<f32> = positions.iter().map(|p| p.y).collect();
    let heat = Paint::Heat {
        values: &values,
        scale: HeatScale::new(f32::NAN, ""),
    };
    let scene = Scene {
        surfaces: vec![Surface::new(&positions, &positions, &all).painted(heat)],
        ground: Some(Ground::default()),
        ..Scene::default()
    };
    let inside = Camera {
        eye: Vec3::new(16.0, 10.0, 0.0),
        target: Vec3::ZERO,
        up: Vec3::Z,
        projection: Projection::Perspective { fov_y_rad: 2.0 },
    };
    for camera in [pixel_camera(32), inside] {
        render(&scene, &camera, 33, 17).expect("a valid scene");
    }
}

#[test]
fn an_empty_scene_is_its_background() {
    let scene = Scene {
        background: Background::Solid([1.0, 0.0, 0.0]),
        ..Scene::default()
    };
    let image = render(&scene, &pixel_camera(8), 8, 3).expect("nothing to go wrong");
    assert!(
        image
            .pixels()
            .iter()
            .all(|&pixel| pixel == [255, 0, 0, 255]),
        "all red"
    );
    let unused = Surface::new(&[], &[], &[]);
    assert_eq!(
        coverage(&draw(vec![unused], &pixel_camera(8), 8)),
        0.0,
        "an empty surface"
    );
}

#[test]
fn composing_what_was_rasterised_is_the_picture() {
    let (positions, triangles) = ball(12);
    let normals = smooth_normals(&positions, &triangles);
    let camera = Camera::three_quarter(&[&positions], crate::UpAxis::Y, 1.5);
    for background in [
        Background::Studio,
        Background::Solid(RED),
        Background::Transparent,
    ] {
        let scene = Scene {
            surfaces: vec![Surface::new(&positions, &normals, &triangles)],
            background,
            ground: Some(Ground::default()),
        };
        let surfaces = rasterize(&scene, &camera, 90, 60).expect("a valid scene");
        let composed = compose(&scene, &camera, 90, 60, &surfaces).expect("as many pixels");
        let rendered = render(&scene, &camera, 90, 60).expect("a valid scene");
        assert!(composed == rendered, "{background:?}");
        assert_eq!(
            compose(&scene, &camera, 90, 61, &surfaces),
            Err(RenderError::PixelCount {
                width: 90,
                height: 61,
                actual: 5400
            }),
            "another size"
        );
    }
}

#[test]
fn impossible_sizes_are_errors() {
    let camera = pixel_camera(8);
    for (width, height) in [(0, 8), (8, 0), (0, 0)] {
        let error = render(&Scene::default(), &camera, width, height).expect_err("no pixels");
        assert_eq!(
            error,
            RenderError::EmptyImage { width, height },
            "the error names the size"
        );
    }
    let error = render(&Scene::default(), &camera, MAX_SIDE + 1, 8).expect_err("too wide");
    assert_eq!(
        error,
        RenderError::ImageTooLarge {
            width: MAX_SIDE + 1,
            height: 8
        },
        "the error names the size"
    );
}
