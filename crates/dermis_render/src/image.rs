//! A picture in memory: RGBA pixels, PNG output, and pasting one picture into another.
//!
//! Pixels are 8-bit sRGB with straight (not premultiplied) alpha, rows from the top. Pasting and filling
//! blend in linear light. Pictures side by side, with captions, are in [`crate::sheet`].

use crate::color::{byte_from_linear, linear_from_byte};
use crate::error::RenderError;

/// A picture: `width × height` RGBA pixels, top row first.
///
/// Either side may be 0; such a picture is *empty*: drawing into it does nothing, and it cannot become a PNG
/// file.
///
/// ```
/// use dermis_render::Image;
///
/// let mut picture = Image::new(4, 2, [255, 255, 255, 255]);
/// picture.set_pixel(3, 1, [200, 0, 0, 255]);
/// assert_eq!(picture.pixel(3, 1), Some([200, 0, 0, 255]));
/// assert!(picture.to_png()?.starts_with(b"\x89PNG"));
/// # Ok::<(), dermis_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

impl Image {
    /// A picture filled with one colour.
    pub fn new(width: u32, height: u32, color: [u8; 4]) -> Self {
        Self {
            width,
            height,
            pixels: vec![color; width as usize * height as usize],
        }
    }

    /// Takes over finished pixels; `pixels.len()` is `width × height`.
    pub(crate) fn from_pixels(width: u32, height: u32, pixels: Vec<[u8; 4]>) -> Self {
        assert_eq!(
            pixels.len(),
            width as usize * height as usize,
            "one entry per pixel"
        );
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// True when the picture has no pixels.
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// All pixels, row by row from the top, as sRGB and straight alpha.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }

    /// One pixel, or `None` outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        self.index(i64::from(x), i64::from(y))
            .map(|i| self.pixels[i])
    }

    /// Replaces one pixel; outside the picture nothing happens.
    pub fn set_pixel(&mut self, x: u32, y: u32, color: [u8; 4]) {
        if let Some(i) = self.index(i64::from(x), i64::from(y)) {
            self.pixels[i] = color;
        }
    }

    /// Paints a rectangle over what is there; parts outside the picture are cut off.
    pub fn fill_rect(&mut self, x: i32, y: i32, width: u32, height: u32, color: [u8; 4]) {
        for row in 0..i64::from(height) {
            for column in 0..i64::from(width) {
                self.blend_pixel(i64::from(x) + column, i64::from(y) + row, color, 1.0);
            }
        }
    }

    /// Pastes another picture with its top left corner at `(x, y)`, respecting its transparency.
    ///
    /// Parts that fall outside are cut off, so negative positions are fine.
    pub fn blit(&mut self, source: &Image, x: i32, y: i32) {
        for row in 0..source.height {
            for column in 0..source.width {
                let color = source.pixels[row as usize * source.width as usize + column as usize];
                self.blend_pixel(
                    i64::from(x) + i64::from(column),
                    i64::from(y) + i64::from(row),
                    color,
                    1.0,
                );
            }
        }
    }

    /// A rectangle cut out of the picture; the part outside the picture is left away.
    pub fn crop(&self, x: u32, y: u32, width: u32, height: u32) -> Image {
        let (left, top) = (x.min(self.width), y.min(self.height));
        let width = width.min(self.width - left);
        let height = height.min(self.height - top);
        let pixels = (top..top + height)
            .flat_map(|row| {
                let start = row as usize * self.width as usize + left as usize;
                self.pixels[start..start + width as usize].iter().copied()
            })
            .collect();
        Image::from_pixels(width, height, pixels)
    }

    /// Cuts off fully transparent borders, keeping `margin` pixels of them where there are that many.
    ///
    /// Meant for pictures drawn on [`crate::Background::Transparent`]. A picture with nothing in it becomes
    /// empty.
    pub fn crop_to_content(&self, margin: u32) -> Image {
        let mut bounds: Option<(u32, u32, u32, u32)> = None;
        for (i, pixel) in self.pixels.iter().enumerate() {
            if pixel[3] == 0 {
                continue;
            }
            let (x, y) = (
                (i % self.width as usize) as u32,
                (i / self.width as usize) as u32,
            );
            bounds = Some(match bounds {
                None => (x, y, x, y),
                Some((x0, y0, x1, y1)) => (x0.min(x), y0.min(y), x1.max(x), y1.max(y)),
            });
        }
        let Some((x0, y0, x1, y1)) = bounds else {
            return Image::new(0, 0, [0; 4]);
        };
        let (left, top) = (x0.saturating_sub(margin), y0.saturating_sub(margin));
        self.crop(
            left,
            top,
            x1.saturating_add(margin).saturating_add(1) - left,
            y1.saturating_add(margin).saturating_add(1) - top,
        )
    }

    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// [`RenderError::EmptyImage`], because PNG has no empty pictures; [`RenderError::Png`] when the encoder
    /// fails.
    pub fn to_png(&self) -> Result<Vec<u8>, RenderError> {
        if self.is_empty() {
            return Err(RenderError::EmptyImage {
                width: self.width,
                height: self.height,
            });
        }
        let failed = |error: png::EncodingError| RenderError::Png {
            message: error.to_string(),
        };
        let opaque = self.pixels.iter().all(|pixel| pixel[3] == 255);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(if opaque {
            png::ColorType::Rgb
        } else {
            png::ColorType::Rgba
        });
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().map_err(failed)?;
        let channels = if opaque { 3 } else { 4 };
        let data: Vec<u8> = self
            .pixels
            .iter()
            .flat_map(|pixel| pixel[..channels].iter().copied())
            .collect();
        writer.write_image_data(&data).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(bytes)
    }

    /// Blends `color` over one pixel, its alpha scaled by `coverage` (0 to 1); outside nothing happens.
    pub(crate) fn blend_pixel(&mut self, x: i64, y: i64, color: [u8; 4], coverage: f32) {
        let Some(i) = self.index(x, y) else { return };
        let over = f32::from(color[3]) / 255.0 * coverage.clamp(0.0, 1.0);
        let below = self.pixels[i];
        if over >= 1.0 {
            self.pixels[i] = color;
            return;
        }
        let under = f32::from(below[3]) / 255.0 * (1.0 - over);
        let alpha = over + under;
        if alpha <= 0.0 {
            return;
        }
        let mix = |c: usize| {
            byte_from_linear(
                (linear_from_byte(color[c]) * over + linear_from_byte(below[c]) * under) / alpha,
            )
        };
        self.pixels[i] = [mix(0), mix(1), mix(2), (alpha * 255.0).round() as u8];
    }

    fn index(&self, x: i64, y: i64) -> Option<usize> {
        let inside =
            (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y);
        inside.then(|| y as usize * self.width as usize + x as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const CLEAR: [u8; 4] = [0; 4];

    #[test]
    fn a_png_reads_back_as_the_same_pixels() {
        let mut image = Image::new(3, 2, [10, 20, 30, 255]);
        image.set_pixel(1, 1, [1, 2, 3, 40]);
        let bytes = image.to_png().expect("a picture with pixels encodes");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .expect("valid header");
        let mut data = vec![0; reader.output_buffer_size().expect("small picture")];
        let info = reader.next_frame(&mut data).expect("valid data");
        assert_eq!((info.width, info.height), (3, 2), "size");
        assert_eq!(data, image.pixels().as_flattened(), "pixels");
    }

    #[test]
    fn an_empty_picture_is_no_png() {
        let error = Image::new(0, 5, RED).to_png().expect_err("no pixels");
        assert_eq!(
            error,
            RenderError::EmptyImage {
                width: 0,
                height: 5
            },
            "the error names the size"
        );
    }

    #[test]
    fn pasting_over_the_border_keeps_the_part_inside() {
        let mut image = Image::new(3, 3, CLEAR);
        image.blit(&Image::new(2, 2, RED), -1, 2);
        let red: Vec<usize> = (0..9).filter(|&i| image.pixels()[i] == RED).collect();
        assert_eq!(red, [6], "only the bottom left pixel is covered");
    }

    #[test]
    fn half_transparent_white_on_black_is_half_the_light() {
        let mut image = Image::new(1, 1, [0, 0, 0, 255]);
        image.blend_pixel(0, 0, [255; 4], 0.5);
        assert_eq!(
            image.pixel(0, 0),
            Some([188, 188, 188, 255]),
            "blending is linear"
        );
    }

    #[test]
    fn cropping_to_content_keeps_the_margin_it_can() {
        let mut image = Image::new(10, 8, CLEAR);
        image.fill_rect(1, 3, 4, 2, RED);
        let cropped = image.crop_to_content(2);
        assert_eq!(
            (cropped.width(), cropped.height()),
            (7, 6),
            "one column on the left, two elsewhere"
        );
        assert_eq!(
            cropped.pixel(1, 2),
            Some(RED),
            "content is where the margin says"
        );
        assert!(
            Image::new(4, 4, CLEAR).crop_to_content(1).is_empty(),
            "nothing to keep"
        );
    }
}
