//! Pictures in files: PNG and JPEG as plain pixels, and pixels as PNG.

use std::io::Cursor;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use dermis::bake::Picture;

/// Pixels along a side, and of a whole picture, that are read: a file of a few bytes may claim any size.
const MAX_SIDE: usize = 32_768;
const MAX_PIXELS: usize = 1 << 28;

/// Why a picture could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It is neither of the two formats.
    #[error("the picture is {kind}; dermis reads PNG and JPEG")]
    UnknownFormat {
        /// What it looks like.
        kind: &'static str,
    },
    /// The file is damaged, or uses a feature that is not supported.
    #[error("the {format} picture cannot be read: {reason}")]
    Damaged {
        /// `PNG` or `JPEG`.
        format: &'static str,
        /// What its reader says.
        reason: String,
    },
    /// There are too many pixels.
    #[error(
        "the picture has {width} × {height} pixels; dermis reads up to {MAX_SIDE} along a side and {MAX_PIXELS} in all"
    )]
    TooLarge {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The pixels do not fill the picture.
    #[error("a picture of {width} × {height} needs as many pixels, not {pixels}")]
    PixelCount {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Pixels given.
        pixels: usize,
    },
}

/// Decodes a PNG or JPEG picture, told apart by their first bytes, to 8 bits of red, green, blue and opacity.
///
/// PNG of 16 bits loses its lower ones; grey becomes three equal colours. Colour profiles are not applied, as glTF asks.
///
/// # Errors
/// [`ImageError`], one sentence each.
pub fn decode_image(bytes: &[u8]) -> Result<Picture, ImageError> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
        [0xff, 0xd8, 0xff, ..] => decode_jpeg(bytes),
        _ => Err(ImageError::UnknownFormat {
            kind: kind_of(bytes),
        }),
    }
}

/// Encodes a picture as PNG, without opacity when every pixel is opaque.
///
/// # Errors
/// [`ImageError::PixelCount`], or what the encoder says.
pub fn encode_png(picture: &Picture) -> Result<Vec<u8>, ImageError> {
    let &Picture {
        width,
        height,
        ref pixels,
    } = picture;
    if width.checked_mul(height) != Some(pixels.len()) || pixels.is_empty() {
        return Err(ImageError::PixelCount {
            width,
            height,
            pixels: pixels.len(),
        });
    }
    let (Ok(columns), Ok(rows)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(ImageError::TooLarge { width, height });
    };
    let opaque = pixels.iter().all(|p| p[3] == 255);
    let channels = if opaque { 3 } else { 4 };
    let data: Vec<u8> = pixels
        .iter()
        .flat_map(|p| &p[..channels])
        .copied()
        .collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, columns, rows);
    encoder.set_color(if opaque {
        png::ColorType::Rgb
    } else {
        png::ColorType::Rgba
    });
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&data));
    written.map_err(|error| damaged("PNG", &error))?;
    Ok(bytes)
}

fn decode_png(bytes: &[u8]) -> Result<Picture, ImageError> {
    let fault = |error: png::DecodingError| damaged("PNG", &error);
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(
        png::Transformations::EXPAND | png::Transformations::STRIP_16 | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().map_err(fault)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    check_size(width, height)?;
    let length = reader
        .output_buffer_size()
        .ok_or(ImageError::TooLarge { width, height })?;
    let mut data = vec![0; length];
    let info = reader.next_frame(&mut data).map_err(fault)?;
    let pixels: Vec<[u8; 4]> = match info.color_type {
        png::ColorType::Rgba => chunks::<4>(&data).collect(),
        png::ColorType::GrayscaleAlpha => chunks(&data).map(|[g, a]| [g, g, g, a]).collect(),
        png::ColorType::Rgb => chunks(&data).map(|[r, g, b]| [r, g, b, 255]).collect(),
        png::ColorType::Grayscale | png::ColorType::Indexed => {
            data.iter().map(|&g| [g, g, g, 255]).collect()
        }
    };
    filled(width, height, pixels)
}

fn decode_jpeg(bytes: &[u8]) -> Result<Picture, ImageError> {
    let options = DecoderOptions::default()
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder
        .decode_headers()
        .map_err(|error| damaged("JPEG", &error))?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    check_size(width, height)?;
    let data = decoder.decode().map_err(|error| damaged("JPEG", &error))?;
    let pixels = chunks(&data).map(|[r, g, b]| [r, g, b, 255]).collect();
    filled(width, height, pixels)
}

fn chunks<const N: usize>(data: &[u8]) -> impl Iterator<Item = [u8; N]> {
    data.as_chunks::<N>().0.iter().copied()
}

fn filled(width: usize, height: usize, pixels: Vec<[u8; 4]>) -> Result<Picture, ImageError> {
    if pixels.len() != width * height {
        return Err(ImageError::PixelCount {
            width,
            height,
            pixels: pixels.len(),
        });
    }
    Ok(Picture {
        width,
        height,
        pixels,
    })
}

fn check_size(width: usize, height: usize) -> Result<(), ImageError> {
    let fits = width <= MAX_SIDE && height <= MAX_SIDE && width * height <= MAX_PIXELS;
    if fits {
        return Ok(());
    }
    Err(ImageError::TooLarge { width, height })
}

fn damaged(format: &'static str, error: &dyn std::error::Error) -> ImageError {
    ImageError::Damaged {
        format,
        reason: error.to_string(),
    }
}

/// What a picture of another format looks like.
fn kind_of(bytes: &[u8]) -> &'static str {
    match bytes {
        [] => "empty",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "WebP",
        [0xab, b'K', b'T', b'X', ..] => "KTX",
        [b'D', b'D', b'S', b' ', ..] => "DDS",
        [b'G', b'I', b'F', b'8', ..] => "GIF",
        [b'B', b'M', ..] => "BMP",
        [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => "TIFF",
        _ => "of an unknown format",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours that differ in every pixel.
    fn ramp(alpha: u8) -> Picture {
        let pixel = |i: usize| [(i * 3) as u8, 255 - i as u8, 7, alpha];
        Picture {
            width: 8,
            height: 5,
            pixels: (0..40).map(pixel).collect(),
        }
    }

    #[test]
    fn a_png_reads_back_as_the_same_pixels() {
        for alpha in [255, 90] {
            let picture = ramp(alpha);
            let bytes = encode_png(&picture).expect("a picture with pixels");
            assert_eq!(decode_image(&bytes), Ok(picture), "with opacity {alpha}");
        }
    }

    /// Eight by eight pixels of grey 200: one code each for a first coefficient of 7 bits and for the end of the block.
    fn grey_jpeg() -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
        bytes.extend([8; 64]);
        bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
        for (table, symbol) in [(0x00, 7), (0x10, 0)] {
            bytes.extend([0xff, 0xc4, 0, 20, table, 1]);
            bytes.extend([0; 15]);
            bytes.push(symbol);
        }
        bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]);
        // 0, then 72 = (200 − 128) · 8 / 8 in 7 bits, then 0, and ones to the end of the byte.
        bytes.extend([0b0100_1000, 0b0111_1111, 0xff, 0xd9]);
        bytes
    }

    #[test]
    fn a_jpeg_is_read_and_a_broken_one_does_no_harm() {
        let bytes = grey_jpeg();
        let wanted = Picture {
            width: 8,
            height: 8,
            pixels: vec![[200, 200, 200, 255]; 64],
        };
        assert_eq!(decode_image(&bytes), Ok(wanted), "grey throughout");
        for index in 3..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut broken = bytes.clone();
                broken[index] = value;
                if let Ok(picture) = decode_image(&broken) {
                    let (width, height) = (picture.width, picture.height);
                    assert_eq!(picture.pixels.len(), width * height, "byte {index}");
                }
            }
        }
    }

    #[test]
    fn other_kinds_of_png_become_eight_bits_of_four_channels() {
        let encode = |color, depth, data: &[u8]| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
            encoder.set_color(color);
            encoder.set_depth(depth);
            if color == png::ColorType::Indexed {
                encoder.set_palette(vec![1, 2, 3, 4, 5, 6]);
            }
            let mut writer = encoder.write_header().expect("a header");
            writer.write_image_data(data).expect("two pixels");
            writer.finish().expect("an end");
            decode_image(&bytes).expect("a plain PNG").pixels
        };
        let grey = encode(png::ColorType::Grayscale, png::BitDepth::Eight, &[10, 20]);
        assert_eq!(grey, [[10, 10, 10, 255], [20, 20, 20, 255]], "grey");
        let deep = [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0, 0, 1, 0, 255, 255];
        let deep = encode(png::ColorType::Rgb, png::BitDepth::Sixteen, &deep);
        assert_eq!(deep[0], [0x12, 0x56, 0x9a, 255], "16 bits");
        let indexed = encode(png::ColorType::Indexed, png::BitDepth::One, &[0b0100_0000]);
        assert_eq!(indexed, [[1, 2, 3, 255], [4, 5, 6, 255]], "a palette");
    }

    #[test]
    fn what_cannot_be_read_says_so_in_one_sentence() {
        let webp = decode_image(b"RIFF\x00\x00\x00\x00WEBPVP8 ").expect_err("not read");
        assert_eq!(
            webp.to_string(),
            "the picture is WebP; dermis reads PNG and JPEG",
            "the format is named"
        );
        assert!(decode_image(&[]).is_err(), "nothing is no picture");
        let bytes = encode_png(&ramp(255)).expect("a picture with pixels");
        for length in 4..bytes.len() - 12 {
            let cut = decode_image(&bytes[..length]);
            assert!(
                matches!(cut, Err(ImageError::Damaged { format: "PNG", .. })),
                "cut after {length} bytes: {cut:?}"
            );
        }
        let jpeg = decode_image(&[0xff, 0xd8, 0xff, 0xe0, 0, 16]);
        assert!(
            matches!(jpeg, Err(ImageError::Damaged { format: "JPEG", .. })),
            "a JPEG that ends: {jpeg:?}"
        );
    }

    #[test]
    fn a_picture_of_impossible_size_is_refused_before_memory_is_taken() {
        let mut bytes = encode_png(&ramp(255)).expect("a picture with pixels");
        // Width and height follow the signature, a length and a name; the checksum goes with them.
        bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        let error = decode_image(&bytes).expect_err("too large, or a wrong checksum");
        assert!(
            matches!(
                error,
                ImageError::TooLarge { .. } | ImageError::Damaged { .. }
            ),
            "{error}"
        );
        assert!(
            check_size(MAX_SIDE, MAX_SIDE).is_err() && check_size(8192, 8192).is_ok(),
            "sides may be long, but not both"
        );
    }
}
