//! Packs flat charts into one square atlas.

use glam::DVec2;

use super::outline::{FlatChart, Outline};
use super::search::{Task, equal_squares, search};

/// How charts may be turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Rotations {
    /// Not at all: all charts keep the direction they come in.
    Keep,
    /// So that the smallest rectangle around each lies along the axes, in any of the four ways, and by angles between,
    /// the more the fewer charts there are.
    #[default]
    Free,
}

/// How charts are packed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackOptions {
    /// Texels along each side of the atlas; 2048 by default. Larger wastes less on padding.
    pub(crate) size: u32,
    /// Texels between any two charts, at least; half of it to the edge of the atlas, so that atlases that repeat keep it
    /// too. 4 by default; larger is safer in mipmaps and leaves less room.
    pub(crate) padding: u32,
    /// How charts may be turned; freely by default.
    pub(crate) rotations: Rotations,
    /// Texels per unit of the charts. By default as large as fits.
    pub(crate) scale: Option<f64>,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self {
            size: 2048,
            padding: 4,
            rotations: Rotations::Free,
            scale: None,
        }
    }
}

/// Where a chart went: its point `u` lies at `offset + scale · R(angle) · u`, in 0..1 along each side of the atlas.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Placement {
    /// Where the chart's origin lies.
    pub(crate) offset: DVec2,
    /// Sides of the atlas per unit; the same for all charts.
    pub(crate) scale: f64,
    /// Radians, anticlockwise.
    pub(crate) angle: f64,
}

/// A packed atlas.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Packed {
    /// For each chart the place of each of its vertices, in 0..1 along each side of the atlas.
    pub(crate) uvs: Vec<Vec<DVec2>>,
    /// Texels per unit.
    pub(crate) scale: f64,
    /// Where each chart went; for a chart without vertices only the scale means anything.
    pub(crate) placements: Vec<Placement>,
    /// The area of all triangles in the atlas over the area of the atlas.
    pub(crate) efficiency: f64,
}

/// Why charts could not be packed.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A coordinate is not finite, or so large that areas are not.
    #[error("chart {chart} has coordinates that are not finite or too large")]
    NotFinite {
        /// The chart.
        chart: usize,
    },
    /// A triangle names a vertex that its chart does not have.
    #[error("a triangle of chart {chart} has vertex {corner}, but there are only {vertex_count}")]
    NoSuchVertex {
        /// The chart.
        chart: usize,
        /// The vertex named.
        corner: u32,
        /// How many there are.
        vertex_count: usize,
    },
    /// The scale asked for is not a positive number.
    #[error("expected a positive number of texels per unit, found {asked}")]
    BadScale {
        /// The scale asked for.
        asked: f64,
    },
    /// The atlas has too few texels for so many charts with this padding.
    #[error(
        "{chart_count} charts with a padding of {padding} do not fit on {size} texels; a size of {least_size} will do"
    )]
    TooManyCharts {
        /// How many charts there are.
        chart_count: usize,
        /// Texels along each side.
        size: u32,
        /// Texels between charts.
        padding: u32,
        /// The least size that will do.
        least_size: u64,
    },
    /// The charts do not fit at the scale asked for.
    #[error("the charts do not fit at {asked} texels per unit; {fits:.4} fits")]
    ScaleTooLarge {
        /// The scale asked for, texels per unit.
        asked: f64,
        /// The largest scale found that fits.
        fits: f64,
    },
}

/// Packs charts into one atlas, all at the same scale, which is as large as the search finds unless one is given.
///
/// Promised, whatever the charts:
/// - the distance between any two charts is at least `padding` texels, and from a chart to the edge of the atlas at least
///   half of it; charts are triangles and loose vertices here, and the distance is that of their nearest points;
/// - no texel is touched by two charts, even if `padding` is 0; charts smaller than a texel still have one each;
/// - a chart is turned, moved and scaled, never mirrored;
/// - the same input gives the same result.
///
/// Triangles of one chart that overlap stay so. If all charts are points any scale fits; it is then 1 if none is given.
/// Charts whose only extent is a few texels take the padding around them as well: 10,000 charts of 15 texels with a
/// padding of 4 fill about half of an atlas.
///
/// # Errors
/// All of [`PackError`]. Bad scales and sizes are errors for an empty list too.
pub(crate) fn pack(charts: &[FlatChart], options: &PackOptions) -> Result<Packed, PackError> {
    if let Some(asked) = options.scale.filter(|s| !(s.is_finite() && *s > 0.0)) {
        return Err(PackError::BadScale { asked });
    }
    let all: Result<Vec<Outline>, PackError> = charts
        .iter()
        .enumerate()
        .map(|(i, c)| Outline::new(c, i))
        .collect();
    let (used, outlines): (Vec<usize>, Vec<Outline>) = all?
        .into_iter()
        .enumerate()
        .filter(|(_, o)| !o.edges.is_empty())
        .unzip();
    let largest = scale_bound(&outlines, options);
    let angles: Vec<Vec<f64>> = outlines
        .iter()
        .map(|o| angles_of(o, outlines.len(), options.rotations))
        .collect();
    let task = Task {
        outlines: &outlines,
        angles: &angles,
        size: options.size,
        padding: options.padding,
        largest,
    };
    let start = equal_squares(&task).map_err(|least_size| PackError::TooManyCharts {
        chart_count: outlines.len(),
        size: options.size,
        padding: options.padding,
        least_size,
    })?;
    let layout = search(&task, start);
    if let Some(asked) = options.scale.filter(|&asked| layout.scale < asked) {
        return Err(PackError::ScaleTooLarge {
            asked,
            fits: layout.scale,
        });
    }
    let size = f64::from(options.size);
    let scale = layout.scale / size;
    let mut packed = Packed {
        uvs: vec![Vec::new(); charts.len()],
        scale: layout.scale,
        placements: vec![
            Placement {
                scale,
                ..Default::default()
            };
            charts.len()
        ],
        efficiency: outlines.iter().map(|o| o.area * scale * scale).sum(),
    };
    for (i, (&chart, outline)) in used.iter().zip(&outlines).enumerate() {
        let turn = DVec2::from_angle(layout.angles[i]);
        let centre = layout.centres[i] / size;
        let offset = centre - turn.rotate(outline.centre) * scale;
        packed.placements[chart] = Placement {
            offset,
            scale,
            angle: layout.angles[i],
        };
        // From the centre, not by the placement: a chart far from its origin would lose digits.
        let place = |&u: &DVec2| centre + turn.rotate(u - outline.centre) * scale;
        packed.uvs[chart] = charts[chart].uvs.iter().map(place).collect();
    }
    Ok(packed)
}

/// A scale that no layout can exceed: by the longest and by the widest chart, or the one asked for.
///
/// Not by area: triangles of a chart may overlap, and then cover less than their area.
fn scale_bound(outlines: &[Outline], options: &PackOptions) -> f64 {
    let size = f64::from(options.size);
    let longest = outlines.iter().map(|o| o.longer_side).fold(0.0, f64::max);
    let widest = outlines.iter().map(|o| o.shorter_side).fold(0.0, f64::max);
    let bound = (std::f64::consts::SQRT_2 * size / longest).min(size / widest);
    match options.scale {
        Some(asked) => bound.min(asked),
        None if bound.is_finite() => bound,
        None => 1.0,
    }
}

/// The angles to try for a chart, the one that lays it level first.
fn angles_of(outline: &Outline, chart_count: usize, rotations: Rotations) -> Vec<f64> {
    let count = match (rotations, chart_count) {
        (Rotations::Keep, _) => return vec![0.0],
        (Rotations::Free, 0..=4) => 64,
        (Rotations::Free, 5..=32) => 16,
        (Rotations::Free, 33..=300) => 8,
        (Rotations::Free, _) => 4,
    };
    let angle = |i: usize| outline.level_angle + i as f64 * std::f64::consts::TAU / count as f64;
    (0..count).map(angle).collect()
}
