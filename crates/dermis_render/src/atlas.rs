//! A picture of a UV atlas: the flat charts of a surface, as they lie in its texture.
//!
//! The picture shows the unit square of texture coordinates, (0, 0) at the top left and v downwards as glTF has it, so
//! that it can be laid over a texture of the same shape pixel by pixel. It is drawn by the rasteriser, seen straight
//! from above and without light. What lies outside the unit square is cut off; where triangles overlap, the first one
//! shows.

use glam::{Vec2, Vec3};

use crate::camera::{Camera, Projection};
use crate::color::{linear_from_oklch, srgb_from_linear};
use crate::error::RenderError;
use crate::heatmap::HeatScale;
use crate::image::Image;
use crate::raster::render;
use crate::scene::{Background, Paint, Scene, Shading, Surface, Wireframe};

/// Smallest altitude, in pixels, from which a triangle begins to show its lines, and from which it shows them fully.
/// Below, lines would cover a large part of the triangle and hide its colour.
const LINE_ROOM_PX: [f32; 2] = [4.0, 14.0];
/// Steps in which lines come in between the two.
const LINE_STEPS: usize = 4;

/// Lightness of all tints, as OKLCH has it, 0 to 1: pale enough for clay shading and dark lines to read on them.
const TINT_LIGHTNESS: f32 = 0.86;
/// Colourfulness of all tints: nearly the most that sRGB has at this lightness in every hue, see the tests.
const TINT_CHROMA: f32 = 0.067;
/// Hue of the first tint, in turns: a blue.
const FIRST_HUE: f32 = 0.68;

/// What a picture of an atlas shows.
///
/// ```
/// use dermis_render::{AtlasFill, AtlasPicture, atlas_picture, chart_tint, glam::Vec2};
///
/// let uvs = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]].map(Vec2::from);
/// let sides = [[0, 1], [1, 2], [2, 3], [3, 0]].map(|side| side.map(|i: usize| uvs[i]));
/// let atlas = AtlasPicture {
///     fill: AtlasFill::Colors(&[chart_tint(0), chart_tint(0)]),
///     borders: &sides,
///     ..AtlasPicture::new(&uvs, &[[0, 1, 2], [0, 2, 3]])
/// };
/// assert_eq!(atlas_picture(&atlas, 64, 64)?.height(), 64);
/// # Ok::<(), dermis_render::RenderError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AtlasPicture<'a> {
    /// One texture coordinate per vertex. Triangles with one that is not finite are left out.
    pub uvs: &'a [Vec2],
    /// Vertex indices of each triangle, in either direction.
    pub triangles: &'a [[u32; 3]],
    /// Colours of the triangles. Default the first tint for all.
    pub fill: AtlasFill<'a>,
    /// Borders of the charts, as ends of line segments in texture coordinates. Default none.
    pub borders: &'a [[Vec2; 2]],
    /// Colour of the borders, sRGB fractions. Default a dark slate.
    pub border_color: [f32; 3],
    /// Width of the borders in pixels; half of it lies outside the chart. Default 1.5.
    pub border_px: f32,
    /// Lines along triangle edges, which fade out on triangles too small for them; `None` for no lines. Default thin
    /// and faint.
    pub lines: Option<Wireframe>,
    /// What the charts lie on. Default nearly white.
    pub background: Background,
}

/// Colours of the triangles of an atlas.
#[derive(Debug, Clone)]
pub enum AtlasFill<'a> {
    /// One colour for all, as sRGB fractions.
    Solid([f32; 3]),
    /// One colour per triangle, as sRGB fractions.
    Colors(&'a [[f32; 3]]),
    /// One number per triangle, shown through a colour scale; not finite is grey.
    Heat {
        /// The numbers, in the unit of the scale.
        values: &'a [f32],
        /// Which number gets which colour.
        scale: HeatScale,
    },
}

impl<'a> AtlasPicture<'a> {
    /// An atlas in one colour, without borders.
    pub fn new(uvs: &'a [Vec2], triangles: &'a [[u32; 3]]) -> Self {
        Self {
            uvs,
            triangles,
            fill: AtlasFill::Solid(chart_tint(0)),
            borders: &[],
            border_color: [0.13, 0.15, 0.19],
            border_px: 1.5,
            lines: Some(Wireframe {
                opacity: 0.32,
                width_px: 0.8,
                ..Wireframe::default()
            }),
            background: Background::Solid([0.975, 0.975, 0.98]),
        }
    }

    /// One sRGB colour per triangle.
    fn colors(&self) -> Result<Vec<[f32; 3]>, RenderError> {
        let expected = self.triangles.len();
        let check = |what, actual| match actual == expected {
            true => Ok(()),
            false => Err(RenderError::TriangleLengthMismatch {
                surface: 0,
                what,
                expected,
                actual,
            }),
        };
        match &self.fill {
            AtlasFill::Solid(color) => Ok(vec![*color; expected]),
            AtlasFill::Colors(colors) => {
                check("triangle colours", colors.len())?;
                Ok(colors.to_vec())
            }
            AtlasFill::Heat { values, scale } => {
                check("triangle values", values.len())?;
                Ok(values.iter().map(|&value| scale.color(value)).collect())
            }
        }
    }
}

/// Draws a UV atlas; `width` and `height` are those of the picture, in pixels, whatever shape the texture has.
///
/// # Errors
/// [`RenderError::EmptyImage`] and [`RenderError::ImageTooLarge`] for impossible sizes,
/// [`RenderError::TriangleLengthMismatch`] and [`RenderError::IndexOutOfRange`] for lists that do not fit together.
pub fn atlas_picture(
    atlas: &AtlasPicture<'_>,
    width: u32,
    height: u32,
) -> Result<Image, RenderError> {
    let size = Vec2::new(width as f32, height as f32);
    // One unit per pixel, y up.
    let place = |uv: Vec2| uv * size * Vec2::new(1.0, -1.0);
    let positions: Vec<Vec3> = atlas.uvs.iter().map(|&uv| place(uv).extend(0.0)).collect();
    let colors = atlas.colors()?;
    Surface::new(&positions, &[], atlas.triangles).check(0)?;

    let groups = line_groups(&positions, atlas.triangles, &colors);
    let (border_corners, border_triangles) = border_quads(
        atlas.borders.iter().map(|ends| ends.map(place)),
        atlas.border_px,
    );
    let border = Surface::new(&border_corners, &[], &border_triangles)
        .painted(Paint::Solid(atlas.border_color));
    let mut surfaces = vec![Surface {
        shading: Shading::Unlit,
        ..border
    }];
    for (step, group) in groups.iter().enumerate() {
        let lines = atlas.lines.map(|lines| Wireframe {
            opacity: lines.opacity * step as f32 / (LINE_STEPS - 1) as f32,
            ..lines
        });
        surfaces.push(Surface {
            shading: Shading::Unlit,
            wireframe: lines.filter(|lines| lines.opacity > 0.0),
            ..Surface::new(&positions, &[], &group.triangles)
                .painted(Paint::TriangleColors(&group.colors))
        });
    }
    let scene = Scene {
        surfaces,
        background: atlas.background,
        ground: None,
    };
    let middle = place(Vec2::splat(0.5));
    let camera = Camera {
        eye: middle.extend(10.0),
        target: middle.extend(0.0),
        up: Vec3::Y,
        projection: Projection::Orthographic {
            height: size.y.max(1.0),
        },
    };
    render(&scene, &camera, width, height)
}

/// Triangles whose lines are equally faint.
#[derive(Default)]
struct LineGroup {
    triangles: Vec<[u32; 3]>,
    colors: Vec<[f32; 3]>,
}

/// Sorts triangles by the room that they have for lines: none in the first group, plenty in the last.
fn line_groups(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    colors: &[[f32; 3]],
) -> [LineGroup; LINE_STEPS] {
    let mut groups: [LineGroup; LINE_STEPS] = Default::default();
    let [none, full] = LINE_ROOM_PX;
    for (&triangle, &color) in triangles.iter().zip(colors) {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        let altitude = (b - a).cross(c - a).length() / longest;
        let share = ((altitude - none) / (full - none)).clamp(0.0, 1.0);
        // A triangle without an altitude goes with those too small for lines.
        let step = (share * (LINE_STEPS - 1) as f32).round() as usize;
        groups[step].triangles.push(triangle);
        groups[step].colors.push(color);
    }
    groups
}

/// A rectangle along each segment, in front of the triangles. Each is longer than its segment by half its width at
/// both ends, which closes the corners of a border.
fn border_quads(
    segments: impl Iterator<Item = [Vec2; 2]>,
    width_px: f32,
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    let half = 0.5 * width_px;
    for [from, to] in segments {
        let Some(along) = (to - from).try_normalize().filter(|_| half > 0.0) else {
            continue;
        };
        let (along, across) = (along * half, along.perp() * half);
        let first = corners.len() as u32;
        let quad = [
            from - along - across,
            to + along - across,
            to + along + across,
            from - along + across,
        ];
        corners.extend(quad.map(|corner| corner.extend(1.0)));
        triangles.extend([[0, 1, 2], [0, 2, 3]].map(|corners| corners.map(|i: u32| first + i)));
    }
    (corners, triangles)
}

/// A pale colour for chart number `index` of an atlas, as sRGB fractions.
///
/// Hues go round by the golden ratio, at one lightness and colourfulness: neighbouring numbers are far apart, and the
/// first ten or so can all be told apart side by side. The same number always has the same colour.
///
/// ```
/// use dermis_render::chart_tint;
///
/// assert_ne!(chart_tint(0), chart_tint(1));
/// ```
pub fn chart_tint(index: usize) -> [f32; 3] {
    // In double precision large indices keep their fraction.
    let turns = (index as f64 * 0.618_033_988_749_895).fract() as f32 + FIRST_HUE;
    let hue_rad = std::f32::consts::TAU * turns.fract();
    linear_from_oklch(TINT_LIGHTNESS, TINT_CHROMA, hue_rad)
        .to_array()
        .map(srgb_from_linear)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [f32; 3] = [1.0, 0.0, 0.0];
    const BLUE: [f32; 3] = [0.0, 0.0, 1.0];
    const BLACK: [f32; 3] = [0.0; 3];
    const WHITE_PIXEL: Option<[u8; 4]> = Some([255; 4]);

    /// Two squares, the first at the top left, each of two triangles:
    ///
    /// ```text
    ///     0───1
    ///     │ ╲ │          4───5
    ///     3───2          │ ╲ │
    ///                    7───6
    /// ```
    fn two_squares() -> (Vec<Vec2>, Vec<[u32; 3]>) {
        let square = |u: f32, v: f32| [[u, v], [u + 0.25, v], [u + 0.25, v + 0.25], [u, v + 0.25]];
        let uvs = [square(0.125, 0.125), square(0.5, 0.25)];
        let uvs = uvs.as_flattened().iter().copied().map(Vec2::from).collect();
        (uvs, vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 7, 6]])
    }

    fn plain<'a>(uvs: &'a [Vec2], triangles: &'a [[u32; 3]]) -> AtlasPicture<'a> {
        AtlasPicture {
            lines: None,
            background: Background::Solid([1.0; 3]),
            ..AtlasPicture::new(uvs, triangles)
        }
    }

    #[test]
    fn charts_lie_where_their_coordinates_say_with_v_downwards() {
        let (uvs, triangles) = two_squares();
        let atlas = AtlasPicture {
            fill: AtlasFill::Colors(&[RED, RED, BLUE, BLUE]),
            ..plain(&uvs, &triangles)
        };
        let image = atlas_picture(&atlas, 64, 32).expect("a valid atlas");
        for y in 0..32 {
            for x in 0..64 {
                let expected = if (8..24).contains(&x) && (4..12).contains(&y) {
                    [255, 0, 0, 255]
                } else if (32..48).contains(&x) && (8..16).contains(&y) {
                    // One of its triangles is turned over, and still as bright.
                    [0, 0, 255, 255]
                } else {
                    [255; 4]
                };
                assert_eq!(image.pixel(x, y), Some(expected), "pixel {x}, {y}");
            }
        }
    }

    #[test]
    fn numbers_take_the_colours_of_the_scale() {
        let (uvs, triangles) = two_squares();
        let scale = HeatScale::new(2.0, "");
        let atlas = AtlasPicture {
            fill: AtlasFill::Heat {
                values: &[0.0, 0.0, 1.5, f32::NAN],
                scale: scale.clone(),
            },
            ..plain(&uvs, &triangles)
        };
        let image = atlas_picture(&atlas, 64, 64).expect("a valid atlas");
        for (x, y, value) in [(10, 12, 0.0), (45, 20, 1.5), (34, 28, f32::NAN)] {
            let expected = scale.color(value).map(|c| (c * 255.0).round() as i32);
            let seen = image.pixel(x, y).expect("inside");
            for channel in 0..3 {
                let apart = i32::from(seen[channel]) - expected[channel];
                assert!(apart.abs() <= 1, "{value}: {seen:?}, not {expected:?}");
            }
        }
    }

    #[test]
    fn a_border_is_as_wide_as_asked_and_broken_segments_are_left_out() {
        let at = |u: f32, v: f32| Vec2::new(u, v);
        let atlas = AtlasPicture {
            borders: &[
                [at(0.25, 0.5), at(0.75, 0.5)],
                [at(0.1, 0.1), at(0.1, 0.1)],
                [at(f32::NAN, 0.1), at(0.1, 0.1)],
            ],
            border_color: BLACK,
            border_px: 2.0,
            ..plain(&[], &[])
        };
        let image = atlas_picture(&atlas, 64, 64).expect("a valid atlas");
        let dark = image.pixels().iter().filter(|p| **p == [0, 0, 0, 255]);
        assert_eq!(
            dark.count(),
            34 * 2,
            "32 long, one more at each end, 2 wide"
        );
        assert_eq!(image.pixel(32, 31), Some([0, 0, 0, 255]), "above the line");
        assert_eq!(image.pixel(32, 33), WHITE_PIXEL, "below it");
    }

    #[test]
    fn only_large_triangles_show_their_lines() {
        let (uvs, triangles) = two_squares();
        let lined = AtlasPicture {
            fill: AtlasFill::Solid([1.0; 3]),
            ..AtlasPicture::new(&uvs, &triangles)
        };
        let bare = AtlasPicture {
            lines: None,
            ..lined.clone()
        };
        let draw = |atlas, size| atlas_picture(atlas, size, size).expect("a valid atlas");
        assert!(
            draw(&lined, 256) != draw(&bare, 256),
            "64 pixels wide: lines"
        );
        assert!(draw(&lined, 16) == draw(&bare, 16), "4 pixels wide: none");
    }

    #[test]
    fn lists_that_do_not_fit_together_are_errors() {
        let (uvs, triangles) = two_squares();
        let short = AtlasPicture {
            fill: AtlasFill::Colors(&[RED]),
            ..plain(&uvs, &triangles)
        };
        let error = atlas_picture(&short, 8, 8).expect_err("one colour for four triangles");
        assert_eq!(
            error.to_string(),
            "surface 0 has 4 triangles but 1 triangle colours",
            "the message"
        );
        let error = atlas_picture(&plain(&uvs[..7], &triangles), 8, 8).expect_err("no vertex 7");
        assert!(
            matches!(error, RenderError::IndexOutOfRange { vertex: 6 | 7, .. }),
            "{error}"
        );
        let error = atlas_picture(&plain(&uvs, &triangles), 0, 8).expect_err("no pixels");
        assert!(matches!(error, RenderError::EmptyImage { .. }), "{error}");
    }

    #[test]
    fn an_atlas_has_the_same_bytes_on_any_number_of_threads() {
        let uvs: Vec<Vec2> = (0..900)
            .map(|i| Vec2::new((i % 30) as f32, (i / 30) as f32) / 28.0)
            .collect();
        let triangles: Vec<[u32; 3]> = (0..840)
            .map(|i| [i, i + 1, i + 30 + (i * 7) % 30])
            .collect();
        let colors: Vec<[f32; 3]> = (0..840).map(chart_tint).collect();
        let borders: Vec<[Vec2; 2]> = uvs.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        let atlas = AtlasPicture {
            fill: AtlasFill::Colors(&colors),
            borders: &borders,
            ..AtlasPicture::new(&uvs, &triangles)
        };
        let pictures = [1, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a thread pool")
                .install(|| atlas_picture(&atlas, 300, 200).expect("a valid atlas"))
        });
        assert!(pictures[0] == pictures[1], "both pictures agree");
    }

    #[test]
    fn tints_are_colours_of_srgb_and_neighbours_differ() {
        for i in 0..400 {
            let turns = (i as f64 * 0.618_033_988_749_895).fract() as f32 + FIRST_HUE;
            let light = linear_from_oklch(
                TINT_LIGHTNESS,
                TINT_CHROMA,
                std::f32::consts::TAU * turns.fract(),
            );
            assert!(
                light.min_element() >= 0.0 && light.max_element() <= 1.0,
                "tint {i} is not cut off: {light}"
            );
            for back in 1..=7.min(i) {
                let [a, b] = [i, i - back].map(|n| Vec3::from_array(chart_tint(n)));
                assert!(a.distance(b) > 0.05, "{i} and {back} before it: {a}, {b}");
            }
        }
        assert_eq!(chart_tint(12_345), chart_tint(12_345), "always the same");
    }
}
