//! Moving pictures: APNG files, which browsers and code hosts play wherever they show a PNG.
//!
//! All frames share one palette of 255 colours, and each holds only the rectangle in which it differs from the frame
//! before; within that, pixels that stay are transparent, because runs of one value take next to no room.

use std::time::Duration;

use crate::error::RenderError;
use crate::image::Image;
use crate::median_cut::Palette;

/// The palette's entry for a pixel that stays as it was.
const STAYS: u8 = 255;

/// Frames of one size as the bytes of an APNG file that plays for ever; programs that know only PNG show the first.
///
/// Colours are the nearest of 255 that are chosen for all frames together; transparency is ignored. Frames that follow
/// each other with the same colours become one that lasts longer.
///
/// ```
/// use dermis_render::{Image, animated_png};
/// use std::time::Duration;
///
/// let frames = [0, 80, 160].map(|grey| Image::new(8, 8, [grey, grey, grey, 255]));
/// let file = animated_png(&frames, Duration::from_millis(100))?;
/// assert!(file.starts_with(b"\x89PNG"));
/// # Ok::<(), dermis_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::EmptyImage`] for no frames or frames without pixels, [`RenderError::FrameSize`] for frames of several
/// sizes, and [`RenderError::Png`] when the encoder fails.
pub fn animated_png(frames: &[Image], frame_time: Duration) -> Result<Vec<u8>, RenderError> {
    let (width, height) = frames.first().map_or((0, 0), |f| (f.width(), f.height()));
    if width == 0 || height == 0 {
        return Err(RenderError::EmptyImage { width, height });
    }
    if let Some(frame) = frames
        .iter()
        .position(|f| (f.width(), f.height()) != (width, height))
    {
        return Err(RenderError::FrameSize {
            frame,
            expected: [width, height],
            actual: [frames[frame].width(), frames[frame].height()],
        });
    }
    let palette = Palette::of(frames, usize::from(STAYS));
    let changes = changes(frames, &palette);
    encode(width, height, &palette, &changes, frame_time).map_err(|error| RenderError::Png {
        message: error.to_string(),
    })
}

/// What one frame changes, and for how many frames it then stays.
struct Change {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    indices: Vec<u8>,
    lasts: u32,
}

fn changes(frames: &[Image], palette: &Palette) -> Vec<Change> {
    let (width, height) = (frames[0].width(), frames[0].height());
    let mut shown: Option<Vec<u8>> = None;
    let mut changes: Vec<Change> = Vec::new();
    for frame in frames {
        let indices: Vec<u8> = frame
            .pixels()
            .iter()
            .map(|p| palette.index_of(*p))
            .collect();
        let Some(before) = shown.replace(indices) else {
            changes.push(Change {
                x: 0,
                y: 0,
                width,
                height,
                indices: shown.clone().unwrap_or_default(),
                lasts: 1,
            });
            continue;
        };
        let now = shown.as_deref().unwrap_or_default();
        let differs = |at: &usize| now[*at] != before[*at];
        let places = (0..now.len()).filter(differs);
        let place = |at: usize| (at as u32 % width, at as u32 / width);
        let rectangle = places.map(place).fold(None, |found, (x, y)| {
            let (x0, y0, x1, y1) = found.unwrap_or((x, y, x, y));
            Some((x.min(x0), y.min(y0), x.max(x1), y.max(y1)))
        });
        match (rectangle, changes.last_mut()) {
            (None, Some(last)) => last.lasts += 1,
            (found, _) => {
                let (x0, y0, x1, y1) = found.unwrap_or((0, 0, 0, 0));
                let inside =
                    (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (y * width + x) as usize));
                let stays_or_new = |at: usize| if differs(&at) { now[at] } else { STAYS };
                changes.push(Change {
                    x: x0,
                    y: y0,
                    width: x1 - x0 + 1,
                    height: y1 - y0 + 1,
                    indices: inside.map(stays_or_new).collect(),
                    lasts: 1,
                });
            }
        }
    }
    changes
}

fn encode(
    width: u32,
    height: u32,
    palette: &Palette,
    changes: &[Change],
    frame_time: Duration,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut colors: Vec<u8> = palette.colors.as_flattened().to_vec();
    colors.resize(3 * 256, 0);
    let mut alphas = [255; 256];
    alphas[usize::from(STAYS)] = 0;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(colors);
    encoder.set_trns(alphas.to_vec());
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    // Neighbouring numbers of a palette are no neighbouring colours: filters would only disturb.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_deflate_compression(png::DeflateCompression::Level(9));
    encoder.set_animated(changes.len() as u32, 0)?;
    encoder.set_blend_op(png::BlendOp::Over)?;
    encoder.set_dispose_op(png::DisposeOp::None)?;
    let mut writer = encoder.write_header()?;
    let milliseconds = |lasts: u32| (frame_time * lasts).as_millis().min(u16::MAX.into()) as u16;
    for change in changes {
        writer.set_frame_dimension(1, 1)?;
        writer.set_frame_position(change.x, change.y)?;
        writer.set_frame_dimension(change.width, change.height)?;
        writer.set_frame_delay(milliseconds(change.lasts), 1000)?;
        writer.write_image_data(&change.indices)?;
    }
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: [u8; 4] = [248, 248, 248, 255];
    const INK: [u8; 4] = [30, 60, 200, 255];

    /// A square that walks to the right, standing still once.
    fn walk() -> Vec<Image> {
        [2, 10, 10, 18]
            .map(|x| {
                let mut frame = Image::new(40, 20, PAPER);
                frame.fill_rect(x, 5, 6, 6, INK);
                frame
            })
            .to_vec()
    }

    #[test]
    fn frames_play_back_as_they_were() {
        let frames = walk();
        let file = animated_png(&frames, Duration::from_millis(50)).expect("encodes");
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().expect("a PNG");
        let control = reader.info().animation_control.expect("it moves");
        assert_eq!((control.num_frames, control.num_plays), (3, 0), "for ever");
        let mut canvas = Image::new(40, 20, [0; 4]);
        let mut delays = Vec::new();
        for shown in [&frames[0], &frames[1], &frames[3]] {
            let mut data = vec![0; reader.output_buffer_size().expect("small")];
            reader.next_frame(&mut data).expect("a frame");
            let part = reader.info().frame_control.expect("where it goes");
            for (k, pixel) in data.chunks_exact(4).enumerate() {
                let (x, y) = (k as u32 % part.width, k as u32 / part.width);
                if y < part.height && pixel[3] > 0 {
                    let color = [pixel[0], pixel[1], pixel[2], pixel[3]];
                    canvas.set_pixel(part.x_offset + x, part.y_offset + y, color);
                }
            }
            assert_eq!(canvas, *shown, "frame {}", delays.len());
            delays.push(part.delay_num);
        }
        assert_eq!(
            delays,
            [50, 100, 50],
            "the one that stood still lasts twice as long"
        );
    }

    #[test]
    fn frames_of_several_sizes_are_refused() {
        let mut frames = walk();
        frames.push(Image::new(40, 21, PAPER));
        let error = animated_png(&frames, Duration::from_millis(50)).expect_err("another size");
        assert!(error.to_string().contains("frame 4"), "{error}");
        let none = animated_png(&[], Duration::from_millis(50));
        assert!(
            matches!(none, Err(RenderError::EmptyImage { .. })),
            "{none:?}"
        );
    }
}
