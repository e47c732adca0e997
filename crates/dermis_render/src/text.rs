//! Words in pictures: anti-aliased text for captions, legends and tick labels.
//!
//! One embedded font, Inter Medium cut down to Latin-1 (see `assets/README.md`), so that a picture looks the
//! same on every machine. Text runs left to right in one line; there is no kerning and no shaping. A
//! character that the font lacks shows as a box.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};

use crate::image::Image;

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../assets/Inter-Medium-latin1.ttf"))
        .expect("the embedded font is valid")
});

/// Which part of a line of text sits at the given x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// The text starts at x.
    #[default]
    Left,
    /// The text is centred on x.
    Center,
    /// The text ends at x.
    Right,
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextStyle {
    /// Distance between two lines' tops, in pixels; capitals are about 0.6 of it. Default 18.
    pub size_px: f32,
    /// sRGB and straight alpha. Default nearly black.
    pub color: [u8; 4],
    /// Where x is in the line. Default left.
    pub align: Align,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self {
            size_px: 18.0,
            color: INK,
            align: Align::Left,
        }
    }
}

/// The default colour of text: nearly black.
pub(crate) const INK: [u8; 4] = [38, 40, 44, 255];

/// Width in pixels that a line of text takes at a text size.
pub fn text_width(text: &str, size_px: f32) -> f32 {
    if !usable(size_px) {
        return 0.0;
    }
    let font = FONT.as_scaled(PxScale::from(size_px));
    text.chars()
        .map(|c| font.h_advance(FONT.glyph_id(fold(c))))
        .sum()
}

/// Writes one line of text; `(x, y)` is the top of the line, `x` as [`TextStyle::align`] says.
///
/// Letters outside the picture are cut off. A size that is not a positive number writes nothing.
///
/// ```
/// use dermis_render::{Image, TextStyle, draw_text, text_width};
///
/// let style = TextStyle { size_px: 20.0, ..TextStyle::default() };
/// let caption = "RMS 0.12 mm, 4× smaller";
/// let mut picture = Image::new(text_width(caption, 20.0).ceil() as u32, 20, [255; 4]);
/// draw_text(&mut picture, caption, 0.0, 0.0, &style);
/// assert!(picture.pixels().iter().any(|pixel| pixel[0] < 80));
/// ```
pub fn draw_text(image: &mut Image, text: &str, x: f32, y: f32, style: &TextStyle) {
    if !usable(style.size_px) || !x.is_finite() || !y.is_finite() {
        return;
    }
    let scale = PxScale::from(style.size_px);
    let font = FONT.as_scaled(scale);
    let shift = match style.align {
        Align::Left => 0.0,
        Align::Center => 0.5,
        Align::Right => 1.0,
    };
    let mut pen_x = x - shift * text_width(text, style.size_px);
    // A baseline on a pixel border keeps the feet of all letters equally sharp.
    let baseline = (y + font.ascent()).round();
    for c in text.chars() {
        let id = FONT.glyph_id(fold(c));
        let glyph = id.with_scale_and_position(scale, point(pen_x, baseline));
        pen_x += font.h_advance(id);
        let Some(outline) = FONT.outline_glyph(glyph) else {
            continue;
        };
        let corner = outline.px_bounds().min;
        outline.draw(|column, row, coverage| {
            let x = corner.x as i64 + i64::from(column);
            let y = corner.y as i64 + i64::from(row);
            image.blend_pixel(x, y, style.color, sharpen(coverage));
        });
    }
}

fn usable(size_px: f32) -> bool {
    size_px.is_finite() && size_px > 0.0
}

/// Dark letters blended in linear light look thinner than designed; this gain, chosen by eye at 14 to 24
/// pixels, gives the weight back.
fn sharpen(coverage: f32) -> f32 {
    coverage.clamp(0.0, 1.0).powf(0.75)
}

/// Replaces characters the font lacks by twins it has.
fn fold(c: char) -> char {
    match c {
        '\u{3bc}' => 'µ', // the Greek letter; the font has the micro sign
        '\u{2010}' | '\u{2011}' => '-',
        '\u{2009}' | '\u{202f}' => '\u{a0}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounding box of the pixels that differ from white: left, right (inclusive).
    fn ink_columns(image: &Image) -> Option<(u32, u32)> {
        let columns: Vec<u32> = (0..image.width())
            .filter(|&x| (0..image.height()).any(|y| image.pixel(x, y) != Some([255; 4])))
            .collect();
        Some((*columns.first()?, *columns.last()?))
    }

    #[test]
    fn the_font_has_every_character_the_reports_use() {
        let needed = (' '..='~').chain("×°µ²³±–−…".chars());
        let missing: String = needed.filter(|&c| FONT.glyph_id(fold(c)).0 == 0).collect();
        assert_eq!(missing, "", "characters without a glyph");
    }

    #[test]
    fn text_is_as_wide_as_it_was_measured() {
        let width = text_width("HHHH", 24.0);
        let mut image = Image::new(200, 30, [255; 4]);
        draw_text(
            &mut image,
            "HHHH",
            20.0,
            3.0,
            &TextStyle {
                size_px: 24.0,
                ..TextStyle::default()
            },
        );
        let (left, right) = ink_columns(&image).expect("something was drawn");
        assert!(
            (20..26).contains(&left),
            "starts at x plus a side bearing, not {left}"
        );
        assert!(
            ((right + 1 - 20) as f32 - width).abs() < 4.0,
            "ends at {right}, measured {width}"
        );
    }

    #[test]
    fn alignment_moves_the_text_about_x() {
        let ends: Vec<(u32, u32)> = [Align::Left, Align::Center, Align::Right]
            .map(|align| {
                let mut image = Image::new(300, 30, [255; 4]);
                draw_text(
                    &mut image,
                    "HIH",
                    150.0,
                    3.0,
                    &TextStyle {
                        align,
                        ..TextStyle::default()
                    },
                );
                ink_columns(&image).expect("something was drawn")
            })
            .to_vec();
        assert!(ends[0].0 >= 150, "left-aligned text starts at x");
        assert!(
            ends[1].0 < 150 && ends[1].1 > 150,
            "centred text straddles x"
        );
        assert!(ends[2].1 <= 150, "right-aligned text ends at x");
    }

    #[test]
    fn text_of_no_size_or_outside_the_picture_writes_nothing() {
        let mut image = Image::new(20, 20, [255; 4]);
        for (size_px, x) in [
            (0.0, 1.0),
            (-3.0, 1.0),
            (f32::NAN, 1.0),
            (12.0, f32::INFINITY),
        ] {
            draw_text(
                &mut image,
                "abc",
                x,
                0.0,
                &TextStyle {
                    size_px,
                    ..TextStyle::default()
                },
            );
        }
        assert_eq!(ink_columns(&image), None, "the picture stays white");
        draw_text(
            &mut Image::new(0, 0, [0; 4]),
            "abc",
            0.0,
            0.0,
            &TextStyle::default(),
        );
    }
}
