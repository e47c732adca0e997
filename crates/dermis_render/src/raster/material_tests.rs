//! Pictures of surfaces with materials, checked against arithmetic.

use glam::{Vec2, Vec3, Vec4};

use super::*;
use crate::camera::Projection;
use crate::material::{Glow, Material, NormalMap, Opacity, Sides};
use crate::scene::{Background, Paint, Shading, Surface};
use crate::texture::TexturePicture;

const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];
/// Coordinates of a square's corners from the bottom left anticlockwise: v runs down, as glTF has it.
const UVS: [Vec2; 4] = [
    Vec2::new(0.0, 1.0),
    Vec2::new(1.0, 1.0),
    Vec2::new(1.0, 0.0),
    Vec2::new(0.0, 0.0),
];
/// Tangents along u, with the bitangent up the picture.
const TANGENTS: [Vec4; 4] = [Vec4::new(1.0, 0.0, 0.0, 1.0); 4];

fn corners(size: f32, z: f32) -> [Vec3; 4] {
    [[0.0, 0.0], [size, 0.0], [size, size], [0.0, size]].map(|[x, y]| Vec3::new(x, y, z))
}

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

/// A square of 16 × 16 pixels that fills the picture.
fn draw(material: Material<'_>, shading: Shading) -> Image {
    let positions = corners(16.0, 0.0);
    let normals = [Vec3::Z; 4];
    let surface = Surface {
        shading,
        ..Surface::new(&positions, &normals, &SQUARE).painted(Paint::Material(material))
    };
    let scene = Scene {
        surfaces: vec![surface],
        background: Background::Transparent,
        ..Scene::default()
    };
    render(&scene, &front(16), 16, 16).expect("a valid scene")
}

/// Left half red, right half blue and less opaque. Two pixels each: between a pair there is nothing to blend.
fn red_and_blue() -> TexturePicture {
    let (red, blue) = ([255, 0, 0, 255], [0, 0, 255, 102]);
    TexturePicture::new(4, 1, vec![red, red, blue, blue]).expect("four pixels")
}

#[test]
fn a_textured_square_shows_the_colours_of_its_picture_times_those_of_factor_and_vertices() {
    let picture = red_and_blue();
    let material = Material {
        uvs: &UVS,
        picture: Some(&picture),
        ..Material::default()
    };
    let image = draw(material.clone(), Shading::Unlit);
    assert_eq!(image.pixel(3, 8), Some([255, 0, 0, 255]), "left");
    assert_eq!(image.pixel(12, 8), Some([0, 0, 255, 255]), "right");

    let dimmed = Material {
        color: [0.5, 1.0, 0.5, 1.0],
        vertex_colors: &[[1.0, 1.0, 0.25]; 4],
        ..material
    };
    let image = draw(dimmed, Shading::Unlit);
    let byte = crate::color::byte_from_linear;
    assert_eq!(image.pixel(3, 8), Some([byte(0.5), 0, 0, 255]), "left");
    assert_eq!(image.pixel(12, 8), Some([0, 0, byte(0.125), 255]), "right");
}

#[test]
fn a_normal_map_bends_the_light_as_a_turned_surface_would() {
    // Left and right of the picture, up and down it; the key is at the upper left.
    let light = |rgb: [u8; 3], scale: f32| {
        let [r, g, b] = rgb;
        let picture = TexturePicture::linear(1, 1, vec![[r, g, b, 255]]).expect("a pixel");
        let map = NormalMap {
            uvs: &UVS,
            picture: &picture,
            tangents: &TANGENTS,
            scale,
        };
        let material = Material {
            color: [0.5, 0.5, 0.5, 1.0],
            normal_map: Some(map),
            ..Material::default()
        };
        draw(material, Shading::Clay).pixel(8, 4).expect("inside")[1]
    };
    let plain = Material {
        color: [0.5, 0.5, 0.5, 1.0],
        ..Material::default()
    };
    let plain = draw(plain, Shading::Clay).pixel(8, 4).expect("inside")[1];
    assert!(light([128, 128, 255], 1.0).abs_diff(plain) <= 1, "flat");
    assert!(
        light([60, 128, 230], 1.0) > light([196, 128, 230], 1.0),
        "to the left"
    );
    assert!(
        light([128, 196, 230], 1.0) > light([128, 60, 230], 1.0),
        "up the picture"
    );
    assert!(
        light([255, 60, 200], 0.0).abs_diff(plain) <= 1,
        "no strength"
    );

    // A 45° turn to the left, drawn as such and as a map.
    let lights = crate::Lights::for_camera(&front(16));
    let turned = Vec3::new(-1.0, 0.0, 1.0).normalize();
    let expected = lights.reflect(Vec3::splat(0.5), 0.0, turned, Vec3::Z);
    let expected = crate::color::byte_from_linear(expected.y);
    // (−1, 0, 1) / √2 as bytes.
    let seen = light([37, 128, 218], 1.0);
    assert!(seen.abs_diff(expected) <= 1, "{seen}, not {expected}");
}

#[test]
fn where_opacity_is_below_the_cutoff_there_are_holes() {
    let picture = red_and_blue();
    let holed = Material {
        uvs: &UVS,
        picture: Some(&picture),
        opacity: Opacity::Cutoff(0.5),
        ..Material::default()
    };
    let image = draw(holed.clone(), Shading::Unlit);
    assert_eq!(image.pixel(3, 8), Some([255, 0, 0, 255]), "opaque");
    assert_eq!(image.pixel(12, 8), Some([0; 4]), "a hole");

    // What is behind shows through the holes, and only there.
    let (near, far) = (corners(16.0, 0.0), corners(16.0, -3.0));
    let scene = Scene {
        surfaces: vec![
            Surface::new(&near, &[], &SQUARE).painted(Paint::Material(holed.clone())),
            Surface::new(&far, &[], &SQUARE).painted(Paint::Solid([0.0, 1.0, 0.0])),
        ],
        ..Scene::default()
    };
    let image = render(&scene, &front(16), 16, 16).expect("a valid scene");
    let greenest = |x| image.pixel(x, 8).is_some_and(|[r, g, b, _]| g > r && g > b);
    assert!(!greenest(3) && greenest(12), "green behind the hole alone");

    for opacity in [Opacity::Ignored, Opacity::Cutoff(0.0), Opacity::Cutoff(0.3)] {
        let whole = draw(
            Material {
                opacity,
                ..holed.clone()
            },
            Shading::Unlit,
        );
        assert_eq!(whole.pixel(12, 8), Some([0, 0, 255, 255]), "{opacity:?}");
    }
    let faint = Material {
        color: [1.0, 1.0, 1.0, 0.4],
        ..holed
    };
    assert_eq!(
        draw(faint, Shading::Unlit).pixel(3, 8),
        Some([0; 4]),
        "by the factor"
    );
}

#[test]
fn blended_surfaces_let_through_what_their_opacity_leaves() {
    let (near, middle, far) = (corners(16.0, 0.0), corners(16.0, -1.0), corners(16.0, -2.0));
    let seen = |opacities: [f32; 2]| {
        let faint = |positions, [r, g, b]: [f32; 3], opacity| {
            let material = Material {
                color: [r, g, b, opacity],
                opacity: Opacity::Blended,
                ..Material::default()
            };
            Surface::new(positions, &[], &SQUARE).painted(Paint::Material(material))
        };
        let surfaces = vec![
            faint(&near, [1.0, 0.0, 0.0], opacities[0]),
            faint(&middle, [0.0, 1.0, 0.0], opacities[1]),
            Surface::new(&far, &[], &SQUARE).painted(Paint::Solid([0.0, 0.0, 1.0])),
        ];
        let unlit = |surface| Surface {
            shading: Shading::Unlit,
            ..surface
        };
        let scene = Scene {
            surfaces: surfaces.into_iter().map(unlit).collect(),
            ..Scene::default()
        };
        let light = rasterize(&scene, &front(16), 16, 16).expect("a valid scene");
        light[8 * 16 + 8]
    };
    assert_eq!(seen([1.0, 1.0]), [1.0, 0.0, 0.0, 1.0], "opaque");
    assert_eq!(
        seen([0.0, 0.0]),
        [0.0, 0.0, 1.0, 1.0],
        "nothing but the last"
    );
    assert_eq!(
        seen([0.25, 0.0]),
        [0.25, 0.0, 0.75, 1.0],
        "a quarter of red"
    );
    // Over each other they should have 1/2, 1/4 and 1/4; with samples as they are it is near that.
    let [red, green, blue, _] = seen([0.5, 0.5]);
    assert_eq!(red, 0.5, "the first one");
    assert!(
        (green - 0.25).abs() <= 0.125 && (red + green + blue - 1.0).abs() < 1e-6,
        "both others show: {green} and {blue}"
    );
}

#[test]
fn a_glow_is_added_to_the_light_of_the_lamps() {
    let dark = |glow| Material {
        color: [0.0, 0.0, 0.0, 1.0],
        glow,
        ..Material::default()
    };
    let picture = red_and_blue();
    let glow = Glow {
        color: [0.5, 1.0, 1.0],
        uvs: &UVS,
        picture: Some(&picture),
    };
    let without = draw(dark(None), Shading::Clay);
    let with = draw(dark(Some(glow)), Shading::Clay);
    let byte = |x: u32, channel: usize, image: &Image| image.pixel(x, 8).expect("inside")[channel];
    assert!(byte(3, 0, &with) >= 188, "{} of red", byte(3, 0, &with));
    assert_eq!(byte(3, 2, &with), byte(3, 2, &without), "no blue there");
    assert_eq!(byte(12, 2, &with), 255, "blue on the right");
}

#[test]
fn sides_are_darker_inside_alike_or_not_there() {
    let positions = corners(16.0, 0.0);
    let inside_out = SQUARE.map(|[a, b, c]| [a, c, b]);
    let seen = |triangles: &[[u32; 3]], sides: Sides| {
        let material = Material {
            color: [0.5, 0.5, 0.5, 1.0],
            sides,
            ..Material::default()
        };
        // Normals of the outside, which is the other way for triangles that are inside out.
        let normals = [if triangles == SQUARE {
            Vec3::Z
        } else {
            -Vec3::Z
        }; 4];
        let surface =
            Surface::new(&positions, &normals, triangles).painted(Paint::Material(material));
        let scene = Scene {
            surfaces: vec![surface],
            background: Background::Transparent,
            ..Scene::default()
        };
        let image = render(&scene, &front(16), 16, 16).expect("a valid scene");
        image.pixel(8, 8).expect("inside")
    };
    let outside = seen(&SQUARE, Sides::DarkInside);
    assert_eq!(seen(&SQUARE, Sides::Outer), outside, "outside");
    assert_eq!(seen(&SQUARE, Sides::Alike), outside, "outside");
    assert_eq!(seen(&inside_out, Sides::Alike), outside, "alike");
    assert_eq!(seen(&inside_out, Sides::Outer), [0; 4], "not there");
    let dark = seen(&inside_out, Sides::DarkInside);
    assert!(dark[1] < outside[1] - 10, "{dark:?} against {outside:?}");
}

#[test]
fn lists_of_a_wrong_length_are_named() {
    let picture = red_and_blue();
    let positions = corners(16.0, 0.0);
    let map = NormalMap {
        uvs: &UVS,
        picture: &picture,
        tangents: &TANGENTS[..1],
        scale: 1.0,
    };
    let materials = [
        (
            Material {
                picture: Some(&picture),
                ..Material::default()
            },
            "surface 0 has 4 positions but 0 texture coordinates",
        ),
        (
            Material {
                vertex_colors: &[[1.0; 3]; 3],
                ..Material::default()
            },
            "surface 0 has 4 positions but 3 vertex colours",
        ),
        (
            Material {
                normal_map: Some(map),
                ..Material::default()
            },
            "surface 0 has 4 positions but 1 tangents",
        ),
    ];
    for (material, sentence) in materials {
        let surface = Surface::new(&positions, &[], &SQUARE).painted(Paint::Material(material));
        let error = surface.check(0).expect_err("a list is too short");
        assert_eq!(error.to_string(), sentence, "the message");
    }
}

#[test]
fn broken_tangents_and_coordinates_leave_the_surface_smooth_or_grey() {
    let picture = red_and_blue();
    for (uvs, tangents) in [
        ([Vec2::NAN; 4], TANGENTS),
        (UVS, [Vec4::ZERO; 4]),
        (UVS, [Vec4::NAN; 4]),
    ] {
        let map = NormalMap {
            uvs: &uvs,
            picture: &picture,
            tangents: &tangents,
            scale: 1.0,
        };
        let material = Material {
            color: [0.5, 0.5, 0.5, 1.0],
            normal_map: Some(map),
            ..Material::default()
        };
        let plain = Material {
            normal_map: None,
            ..material.clone()
        };
        assert!(
            draw(material, Shading::Clay) == draw(plain, Shading::Clay),
            "as without a map"
        );
    }
    let unplaced = Material {
        uvs: &[Vec2::NAN; 4],
        picture: Some(&picture),
        opacity: Opacity::Cutoff(0.5),
        ..Material::default()
    };
    let seen = draw(unplaced, Shading::Unlit).pixel(8, 4);
    let [r, g, b] = crate::heatmap::NO_DATA.map(|c| (c * 255.0).round() as u8);
    assert_eq!(seen, Some([r, g, b, 255]), "no data");
}
