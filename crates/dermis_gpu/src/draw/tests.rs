//! Pictures of the card beside those of the processor.

use dermis_render::glam::{Vec2, Vec3, Vec4};
use dermis_render::{
    Background, CHEQUER, Camera, Glow, Ground, HeatScale, Image, Material, NormalMap, Opacity,
    Paint, Projection, RenderError, Scene, Shading, Sides, Surface, TexturePicture, Wireframe,
    Wrap, render,
};

use super::*;

/// A card, or a printed reason to skip.
fn renderer() -> Option<Renderer> {
    match Gpu::new() {
        Ok(gpu) => Some(Renderer::new(gpu).expect("a card with WebGPU's limits")),
        Err(error) if std::env::var_os("DERMIS_REQUIRE_GPU").is_none_or(|v| v != "1") => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("DERMIS_REQUIRE_GPU is 1, and {error}"),
    }
}

/// An open tube that bends, with all that a surface can have for each vertex.
struct Tube {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    uvs: Vec<Vec2>,
    tangents: Vec<Vec4>,
    /// A colour for each vertex.
    colors: Vec<[f32; 3]>,
    /// A number for each vertex.
    values: Vec<f32>,
}

const RINGS: usize = 24;
const SIDES: usize = 20;

fn tube() -> Tube {
    let mut tube = Tube {
        positions: Vec::new(),
        normals: Vec::new(),
        triangles: Vec::new(),
        uvs: Vec::new(),
        tangents: Vec::new(),
        colors: Vec::new(),
        values: Vec::new(),
    };
    for ring in 0..=RINGS {
        let along = ring as f32 / RINGS as f32;
        let (sine, cosine) = (1.6 * along).sin_cos();
        let middle = Vec3::new(cosine, 1.3 * sine, 0.2 * along);
        let outward = Vec3::new(cosine, sine, 0.0);
        for side in 0..=SIDES {
            let around = side as f32 / SIDES as f32;
            let (s, c) = (around * std::f32::consts::TAU).sin_cos();
            let normal = outward * c + Vec3::Z * s;
            tube.positions.push(middle + 0.25 * normal);
            tube.normals.push(1.7 * normal);
            tube.uvs.push(Vec2::new(3.0 * around, 2.0 - 4.0 * along));
            tube.tangents
                .push((Vec3::Z * c - outward * s).extend(if side < 9 { 1.0 } else { -1.0 }));
            tube.colors.push([along, around, 1.0 - along]);
            tube.values.push(5.0 * along * around);
        }
    }
    let vertex = |ring: usize, side: usize| (ring * (SIDES + 1) + side) as u32;
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let [a, b, c, d] = [
                vertex(ring, side),
                vertex(ring, side + 1),
                vertex(ring + 1, side + 1),
                vertex(ring + 1, side),
            ];
            tube.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    tube
}

impl Tube {
    fn surface<'a>(&'a self, paint: Paint<'a>) -> Surface<'a> {
        Surface::new(&self.positions, &self.normals, &self.triangles).painted(paint)
    }

    fn camera(&self) -> Camera {
        let direction = Vec3::new(-0.4, -0.5, -0.8);
        Camera::framing(
            self.positions.iter().copied(),
            direction,
            Vec3::Y,
            4.0 / 3.0,
        )
    }
}

/// A texture with soft and hard edges.
fn picture(linear: bool) -> TexturePicture {
    let pixels = (0..32 * 16u32).map(|i| {
        let (x, y) = (i % 32, i / 32);
        let stripe = if x / 8 % 2 == 0 { 220 } else { 90 };
        [stripe, (y * 15) as u8, (x * 8) as u8, ((x * y) % 256) as u8]
    });
    let pixels: Vec<[u8; 4]> = pixels.collect();
    match linear {
        true => TexturePicture::linear(32, 16, pixels),
        false => TexturePicture::new(32, 16, pixels),
    }
    .expect("as many pixels as it has room for")
}

/// The share of pixels that differ by more than 8 levels in some channel.
fn share_apart(a: &Image, b: &Image) -> f64 {
    let is_apart =
        |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(b.iter()).any(|(a, b)| a.abs_diff(*b) > 8);
    let pairs = a.pixels().iter().zip(b.pixels());
    pairs.filter(is_apart).count() as f64 / a.pixels().len() as f64
}

/// Large enough that most of a picture is not at an edge: there the processor looks textures up in the middle of what it
/// sees of a triangle, and the card in the middle of the pixel.
const SIZE: [u32; 2] = [240, 180];

#[track_caller]
fn assert_alike(renderer: &mut Renderer, what: &str, scene: &Scene<'_>, camera: &Camera) {
    let [width, height] = SIZE;
    let expected = render(scene, camera, width, height).expect("a valid scene");
    let found = renderer
        .draw(scene, camera, width, height)
        .expect("a valid scene");
    let share = share_apart(&expected, &found);
    eprintln!(
        "{what}: {:.3} % of pixels differ by more than 8",
        100.0 * share
    );
    if share >= 0.01
        && let Some(folder) = std::env::var_os("DERMIS_KEEP_PICTURES")
    {
        for (name, image) in [("cpu", &expected), ("gpu", &found)] {
            let path = std::path::Path::new(&folder).join(format!("{what} {name}.png"));
            std::fs::write(path, image.to_png().expect("pixels")).expect("a folder");
        }
    }
    assert!(share < 0.01, "{what}: {:.2} % of pixels", 100.0 * share);
    let background = |image: &Image| image.pixels()[0];
    let blank = found.pixels().iter().all(|p| *p == background(&found));
    assert!(!blank, "{what}: there is something in it");
}

#[test]
fn every_paint_looks_as_on_the_processor() {
    let Some(mut renderer) = renderer() else {
        return;
    };
    let tube = tube();
    let texture = picture(false);
    let heat: Vec<f32> = (tube.values.iter().enumerate())
        .map(|(i, &value)| if i == 100 { f32::NAN } else { value })
        .collect();
    let of_triangles: Vec<[f32; 3]> = (0..tube.triangles.len())
        .map(|t| [(t % 7) as f32 / 7.0, 0.5, (t % 3) as f32 / 3.0])
        .collect();
    let mut broken = tube.uvs.clone();
    broken[200] = Vec2::NAN;
    let paints = [
        ("one colour", Paint::default()),
        ("colours of vertices", Paint::VertexColors(&tube.colors)),
        ("colours of triangles", Paint::TriangleColors(&of_triangles)),
        (
            "a heat map",
            Paint::Heat {
                values: &heat,
                scale: HeatScale::new(3.0, "mm"),
            },
        ),
        (
            "a chequerboard",
            Paint::Chequer {
                uvs: &broken,
                squares: 4.0,
                colors: CHEQUER,
                tints: &tube.colors,
            },
        ),
        (
            "a texture",
            Paint::Texture {
                uvs: &broken,
                picture: &texture,
            },
        ),
    ];
    for (what, paint) in paints {
        for shading in [Shading::Clay, Shading::Unlit] {
            let surface = Surface {
                shading,
                ..tube.surface(paint.clone())
            };
            let scene = Scene {
                surfaces: vec![surface],
                ground: Some(Ground::default()),
                ..Scene::default()
            };
            let what = format!("{what}, {shading:?}");
            assert_alike(&mut renderer, &what, &scene, &tube.camera());
        }
    }
}

#[test]
fn materials_look_as_on_the_processor() {
    let Some(mut renderer) = renderer() else {
        return;
    };
    let tube = tube();
    let (texture, bumps) = (picture(false), picture(true));
    let clamped = texture.clone().wrapped([Wrap::Clamp, Wrap::Mirror]);
    let plain = Material {
        color: [0.8, 0.7, 0.6, 0.9],
        uvs: &tube.uvs,
        ..Material::default()
    };
    let normal_map = Some(NormalMap {
        uvs: &tube.uvs,
        picture: &bumps,
        tangents: &tube.tangents,
        scale: 0.7,
    });
    let glow = Some(Glow {
        color: [0.6, 0.1, 0.0],
        uvs: &tube.uvs,
        picture: Some(&clamped),
    });
    let materials = [
        ("a factor", plain.clone()),
        (
            "a wrapped texture and colours of vertices",
            Material {
                picture: Some(&clamped),
                vertex_colors: &tube.colors,
                ..plain.clone()
            },
        ),
        (
            "bumps",
            Material {
                normal_map,
                ..plain.clone()
            },
        ),
        (
            "bumps and glow",
            Material {
                normal_map,
                glow,
                picture: Some(&texture),
                ..plain.clone()
            },
        ),
        (
            "holes",
            Material {
                picture: Some(&texture),
                opacity: Opacity::Cutoff(0.35),
                ..plain.clone()
            },
        ),
        (
            "what is faint",
            Material {
                picture: Some(&texture),
                opacity: Opacity::Blended,
                ..plain.clone()
            },
        ),
        (
            "the outside alone",
            Material {
                sides: Sides::Outer,
                ..plain.clone()
            },
        ),
        (
            "both sides alike",
            Material {
                sides: Sides::Alike,
                ..plain
            },
        ),
    ];
    for (what, material) in materials {
        let scene = Scene {
            surfaces: vec![tube.surface(Paint::Material(material))],
            ..Scene::default()
        };
        assert_alike(&mut renderer, what, &scene, &tube.camera());
    }
}

#[test]
fn cameras_lines_facets_and_backgrounds_look_as_on_the_processor() {
    let Some(mut renderer) = renderer() else {
        return;
    };
    let tube = tube();
    let points = || tube.positions.iter().copied();
    let direction = Vec3::new(0.3, -0.2, -1.0);
    let inside = Camera {
        eye: Vec3::new(1.0, 0.1, 0.03),
        target: Vec3::new(0.7, 1.0, 0.1),
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y_rad: 1.5 },
    };
    let cameras = [
        (
            "parallel",
            Camera::framing_orthographic(points(), direction, Vec3::Y, 4.0 / 3.0),
        ),
        (
            "wide",
            Camera::framing_perspective(points(), direction, Vec3::Y, 4.0 / 3.0, 1.9),
        ),
        ("from within", inside),
    ];
    let flat = Surface {
        normals: &[],
        wireframe: Some(Wireframe::default()),
        ..tube.surface(Paint::default())
    };
    // A second tube that crosses the first, with a vertex that is nowhere.
    let mut moved: Vec<Vec3> = (tube.positions.iter())
        .map(|p| Vec3::new(p.y, p.x, p.z + 0.1))
        .collect();
    moved[77] = Vec3::NAN;
    let second = Surface::new(&moved, &[], &tube.triangles).painted(Paint::Solid([0.2, 0.5, 0.8]));
    let backgrounds = [
        Background::Solid([0.1, 0.2, 0.3]),
        Background::Transparent,
        Background::Studio,
    ];
    for ((what, camera), background) in cameras.into_iter().zip(backgrounds) {
        let scene = Scene {
            surfaces: vec![flat.clone(), second.clone()],
            background,
            ground: Some(Ground::default()),
        };
        assert_alike(&mut renderer, what, &scene, &camera);
    }
}

#[test]
fn a_picture_in_parts_is_the_same_picture() {
    let Some(mut renderer) = renderer() else {
        return;
    };
    let tube = tube();
    let scene = Scene {
        surfaces: vec![tube.surface(Paint::VertexColors(&tube.colors))],
        ..Scene::default()
    };
    let mut draw = |side: u32| {
        renderer.part_side = side;
        let image = renderer.draw(&scene, &tube.camera(), 100, 75);
        image.expect("a valid scene")
    };
    let (whole, parts) = (draw(2048), draw(32));
    let share = share_apart(&whole, &parts);
    assert!(share < 0.001, "{:.3} % of pixels differ", 100.0 * share);
}

#[test]
fn scenes_of_other_sizes_follow_each_other_on_one_renderer() {
    let Some(mut renderer) = renderer() else {
        return;
    };
    let tube = tube();
    let first = picture(false);
    let camera = tube.camera();
    let draw = |renderer: &mut Renderer, scene: &Scene<'_>| {
        renderer
            .draw(scene, &camera, 64, 48)
            .expect("a valid scene")
    };
    let textured = Paint::Texture {
        uvs: &tube.uvs,
        picture: &first,
    };
    let large = Scene {
        surfaces: vec![tube.surface(textured), tube.surface(Paint::default())],
        ..Scene::default()
    };
    let small = Scene {
        surfaces: vec![Surface::new(
            &tube.positions[..50],
            &[],
            &tube.triangles[..20],
        )],
        ..Scene::default()
    };
    let before = [draw(&mut renderer, &large), draw(&mut renderer, &small)];
    let empty = draw(&mut renderer, &Scene::default());
    let after = [draw(&mut renderer, &large), draw(&mut renderer, &small)];
    assert!(before == after, "what was drawn in between does not matter");
    assert!(before[1] != empty, "a few triangles are seen");
}

#[test]
fn the_shaders_are_valid_and_short_and_within_webgpus_default_limits() {
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    for (name, source) in [
        (
            "draw_vertex",
            include_str!("../../shaders/draw_vertex.wgsl"),
        ),
        (
            "draw_material",
            include_str!("../../shaders/draw_material.wgsl"),
        ),
        ("draw_heat", include_str!("../../shaders/draw_heat.wgsl")),
        (
            "draw_chequer",
            include_str!("../../shaders/draw_chequer.wgsl"),
        ),
        ("draw_sum", include_str!("../../shaders/draw_sum.wgsl")),
    ] {
        let module = naga::front::wgsl::parse_str(source);
        let module = module.unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        let valid = validator.validate(&module);
        valid.unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
        let lines = source.lines().count();
        assert!(lines < 100, "{name}.wgsl has {lines} lines");
        let storage = (module.global_variables.iter())
            .filter(|(_, v)| matches!(v.space, naga::AddressSpace::Storage { .. }))
            .count();
        assert!(storage <= 8, "{name}: {storage} storage buffers");
    }
}

#[test]
fn scenes_that_do_not_fit_together_are_refused_as_on_the_processor() {
    let Some(mut renderer) = renderer() else {
        return;
    };
    let tube = tube();
    let camera = tube.camera();
    let broken = Scene {
        surfaces: vec![Surface::new(&tube.positions[..5], &[], &tube.triangles)],
        ..Scene::default()
    };
    let expected = render(&broken, &camera, 8, 8).expect_err("corners that do not exist");
    let found = renderer.draw(&broken, &camera, 8, 8).expect_err("as there");
    assert_eq!(found, GpuError::Render(expected), "one sentence for both");
    let empty = renderer.draw(&Scene::default(), &camera, 0, 8);
    let expected = RenderError::EmptyImage {
        width: 0,
        height: 8,
    };
    assert_eq!(
        empty.expect_err("no pixels"),
        GpuError::Render(expected),
        "no pixels"
    );
}
