//! Pictures side by side: rows and grids with captions.

use crate::image::Image;
use crate::text::{Align, INK, TextStyle, draw_text, text_width};

/// A picture and the words below it.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The picture.
    pub image: Image,
    /// One line below it; empty for none.
    pub caption: String,
}

impl Panel {
    /// A picture with a caption.
    pub fn new(image: Image, caption: impl Into<String>) -> Self {
        Self {
            image,
            caption: caption.into(),
        }
    }
}

/// How a sheet of panels is laid out.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetStyle {
    /// Panels per row, at least 1; `None` puts all of them into one row. Default `None`.
    pub columns: Option<usize>,
    /// Space between panels, in pixels. Default 16.
    pub gap: u32,
    /// Space around the sheet, in pixels. Default 20.
    pub border: u32,
    /// Caption text size, in pixels. A caption wider than its panel is written smaller. Default 20.
    pub caption_px: f32,
    /// Paper colour, sRGB and straight alpha. Default white.
    pub paper: [u8; 4],
    /// A picture at the right end that explains all panels, such as [`crate::HeatScale::legend`]. Default
    /// none.
    pub legend: Option<Image>,
}

impl Default for SheetStyle {
    fn default() -> Self {
        Self {
            columns: None,
            gap: 16,
            border: 20,
            caption_px: 20.0,
            paper: [255; 4],
            legend: None,
        }
    }
}

/// Puts pictures side by side, their middles on one line, with `gap` pixels between them.
///
/// No pictures give an empty picture. The paper is transparent where pictures are lower than the highest.
pub fn hstack(images: &[Image], gap: u32) -> Image {
    let gaps = gap * images.len().saturating_sub(1) as u32;
    let width = images.iter().map(Image::width).sum::<u32>() + gaps;
    let height = images.iter().map(Image::height).max().unwrap_or(0);
    let mut sheet = Image::new(width, height, [0; 4]);
    let mut x = 0;
    for image in images {
        sheet.blit(image, x, (height - image.height()) as i32 / 2);
        x += (image.width() + gap) as i32;
    }
    sheet
}

/// Lays panels out in rows, each caption centred below its picture.
///
/// All cells are as large as the largest picture, which pictures share in the common case; a smaller one is
/// centred. Rows without any caption take no space for it. No panels give an empty picture.
///
/// ```
/// use dermis_render::{Image, Panel, SheetStyle, sheet};
///
/// let panels = ["rest", "bent"].map(|name| Panel::new(Image::new(100, 80, [200, 200, 200, 255]), name));
/// let picture = sheet(&panels, &SheetStyle { gap: 10, border: 5, ..SheetStyle::default() });
/// assert_eq!(picture.width(), 5 + 100 + 10 + 100 + 5);
/// ```
pub fn sheet(panels: &[Panel], style: &SheetStyle) -> Image {
    if panels.is_empty() {
        return Image::new(0, 0, style.paper);
    }
    let columns = style.columns.unwrap_or(panels.len()).clamp(1, panels.len());
    let cell_width = panels
        .iter()
        .map(|panel| panel.image.width())
        .max()
        .unwrap_or(0);
    let cell_height = panels
        .iter()
        .map(|panel| panel.image.height())
        .max()
        .unwrap_or(0);
    let caption_height = |row: &[Panel]| {
        let any = row.iter().any(|panel| !panel.caption.is_empty());
        if any {
            (style.caption_px * 1.6).ceil().max(0.0) as u32
        } else {
            0
        }
    };
    let rows = panels.chunks(columns);
    let captions: u32 = rows.clone().map(caption_height).sum();
    let count = rows.len() as u32;
    let legend_width = style
        .legend
        .as_ref()
        .map_or(0, |legend| legend.width() + style.gap);
    let width =
        columns as u32 * (cell_width + style.gap) - style.gap + 2 * style.border + legend_width;
    let height = count * (cell_height + style.gap) - style.gap + captions + 2 * style.border;

    let mut page = Image::new(width, height, style.paper);
    let mut y = style.border;
    for row in rows {
        for (column, panel) in row.iter().enumerate() {
            let x = style.border + column as u32 * (cell_width + style.gap);
            let left = x + (cell_width - panel.image.width()) / 2;
            let top = y + (cell_height - panel.image.height()) / 2;
            page.blit(&panel.image, left as i32, top as i32);
            let middle = x as f32 + cell_width as f32 / 2.0;
            draw_caption(
                &mut page,
                &panel.caption,
                middle,
                (y + cell_height) as f32,
                cell_width,
                style,
            );
        }
        y += cell_height + caption_height(row) + style.gap;
    }
    if let Some(legend) = &style.legend {
        // Against the pictures, without the last row's captions.
        let last_captions = panels.chunks(columns).next_back().map_or(0, caption_height);
        let top = (i64::from(height - last_captions) - i64::from(legend.height())) / 2;
        page.blit(
            legend,
            (width - style.border - legend.width()) as i32,
            top as i32,
        );
    }
    page
}

/// One centred line, shrunk when its panel is too narrow for it.
fn draw_caption(page: &mut Image, caption: &str, x: f32, y: f32, room: u32, style: &SheetStyle) {
    let full = text_width(caption, style.caption_px);
    let shrink = if full > room as f32 {
        room as f32 / full
    } else {
        1.0
    };
    let text = TextStyle {
        size_px: style.caption_px * shrink,
        color: INK,
        align: Align::Center,
    };
    draw_text(
        page,
        caption,
        x,
        y + style.caption_px * (0.45 + 0.5 * (1.0 - shrink)),
        &text,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];

    #[test]
    fn a_stack_is_as_wide_as_its_parts_and_gaps() {
        let row = hstack(&[Image::new(3, 4, RED), Image::new(2, 2, BLUE)], 5);
        assert_eq!((row.width(), row.height()), (10, 4), "3 + 5 + 2 wide");
        assert_eq!(row.pixel(0, 0), Some(RED), "the first is on the left");
        assert_eq!(row.pixel(8, 1), Some(BLUE), "the second is centred");
        assert_eq!(row.pixel(8, 0), Some([0; 4]), "above it is nothing");
        assert!(hstack(&[], 5).is_empty(), "no pictures");
    }

    #[test]
    fn a_grid_breaks_rows_and_makes_room_for_captions() {
        let style = SheetStyle {
            columns: Some(2),
            gap: 4,
            border: 3,
            caption_px: 10.0,
            ..SheetStyle::default()
        };
        let panels = [("a", RED), ("", RED), ("", BLUE)]
            .map(|(caption, color)| Panel::new(Image::new(20, 10, color), caption));
        let page = sheet(&panels, &style);
        assert_eq!(
            (page.width(), page.height()),
            (3 + 20 + 4 + 20 + 3, 3 + 10 + 16 + 4 + 10 + 3),
            "size"
        );
        assert_eq!(
            page.pixel(3, 3 + 10 + 16 + 4),
            Some(BLUE),
            "the third starts the second row"
        );
        let inked = (3..23).any(|x| (14..28).any(|y| page.pixel(x, y).is_some_and(|p| p[0] < 100)));
        assert!(inked, "the caption is below the first");
    }

    #[test]
    fn a_legend_stands_at_the_right_beside_the_pictures() {
        let legend = Some(Image::new(4, 6, BLUE));
        let style = SheetStyle {
            gap: 5,
            border: 3,
            caption_px: 10.0,
            legend,
            ..SheetStyle::default()
        };
        let page = sheet(&[Panel::new(Image::new(20, 10, RED), "a")], &style);
        assert_eq!(
            (page.width(), page.height()),
            (3 + 20 + 5 + 4 + 3, 3 + 10 + 16 + 3),
            "size"
        );
        assert_eq!(
            page.pixel(28, 5),
            Some(BLUE),
            "centred on the picture, two pixels below its top"
        );
        assert_eq!(page.pixel(28, 4), Some([255; 4]), "and not higher");
    }

    #[test]
    fn a_long_caption_stays_within_its_panel() {
        let style = SheetStyle {
            border: 30,
            ..SheetStyle::default()
        };
        let panel = Panel::new(
            Image::new(60, 10, RED),
            "a caption that is far too long for sixty pixels",
        );
        let page = sheet(&[panel], &style);
        let outside = (0..page.height()).any(|y| {
            (0..28)
                .chain(92..page.width())
                .any(|x| page.pixel(x, y) != Some([255; 4]))
        });
        assert!(!outside, "nothing is written beside the panel");
    }

    #[test]
    fn no_panels_make_an_empty_picture() {
        assert!(
            sheet(&[], &SheetStyle::default()).is_empty(),
            "nothing to show"
        );
    }
}
