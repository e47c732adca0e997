//! Places masks on a sheet one after the other, each at the lowest place that is free, holes included.

use std::collections::BTreeMap;

use glam::DVec2;

use super::mask::Mask;
use super::outline::Outline;
use super::sheet::{Sheet, Window};

/// A grid of cells that charts are drawn on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    /// Cells along each side.
    pub(super) side: u32,
    /// Texels along each side of a cell.
    pub(super) cell: u32,
    /// Half the padding, in cells.
    pub(super) margin: f64,
}

impl Grid {
    /// Cells of `cell` texels on an atlas of `size` texels. Texels at the upper and right edge that fill no cell stay free.
    pub(super) fn new(size: u32, cell: u32, padding: u32) -> Self {
        Self {
            side: size / cell,
            cell,
            margin: 0.5 * f64::from(padding) / f64::from(cell),
        }
    }

    /// A sheet of this grid.
    pub(super) fn sheet(&self) -> Sheet {
        Sheet::new(self.side, self.side)
    }
}

/// Where each chart lies on the atlas.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Layout {
    /// Texels per unit.
    pub(super) scale: f64,
    /// The angle of each chart, in radians.
    pub(super) angles: Vec<f64>,
    /// Where the centre of each chart lies, in texels.
    pub(super) centres: Vec<DVec2>,
    /// One more than the highest row of texels that is taken.
    pub(super) top: u32,
}

impl Layout {
    /// All charts at the lower left corner, unturned.
    pub(super) fn new(count: usize, scale: f64) -> Self {
        Self {
            scale,
            angles: vec![0.0; count],
            centres: vec![DVec2::ZERO; count],
            top: 0,
        }
    }

    fn put(&mut self, chart: usize, turned: &TurnedMask, place: [u32; 2], cell: u32) {
        let corner = DVec2::new(f64::from(place[0]), f64::from(place[1]));
        self.angles[chart] = turned.angle;
        self.centres[chart] = (corner + turned.mask.centre) * f64::from(cell);
        self.top = self.top.max((place[1] + turned.mask.height) * cell);
    }
}

/// A mask and the angle it was drawn at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnedMask {
    angle: f64,
    mask: Mask,
}

/// All charts, drawn at one scale and each of their angles.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawn {
    scale: f64,
    cell: u32,
    masks: Vec<Vec<TurnedMask>>,
    /// How much was drawn, in the unit of [`Sheet::work`].
    pub(super) work: u64,
}

impl Drawn {
    /// Draws every chart at each of its angles, with `scale` texels to a unit.
    pub(super) fn new(outlines: &[Outline], angles: &[Vec<f64>], scale: f64, grid: Grid) -> Self {
        let draw = |(outline, angles): (&Outline, &Vec<f64>)| {
            let turned = |&angle: &f64| {
                let mask = Mask::new(outline, angle, scale / f64::from(grid.cell), grid.margin);
                TurnedMask { angle, mask }
            };
            angles.iter().map(turned).collect()
        };
        let masks: Vec<Vec<TurnedMask>> = outlines.iter().zip(angles).map(draw).collect();
        let work = masks
            .iter()
            .flatten()
            .map(|m| 50 * m.mask.runs.len() as u64)
            .sum();
        Self {
            scale,
            cell: grid.cell,
            masks,
            work,
        }
    }
}

/// How charts are placed one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// The charts, first to last.
    pub(super) order: Vec<usize>,
    /// Which of a chart's angles wins: 1 compares its highest cell, 0 the mean height of its cells, between them a blend.
    pub(super) top_share: f64,
}

/// Places all charts by a plan, or returns `None` if one of them does not fit on the sheet.
pub(super) fn place_all(sheet: &mut Sheet, drawn: &Drawn, plan: &Plan) -> Option<Layout> {
    sheet.clear();
    let mut layout = Layout::new(drawn.masks.len(), drawn.scale);
    let mut floors = Floors::new(drawn.masks.len());
    for &chart in &plan.order {
        let mut best: Option<(f64, [u32; 2], &TurnedMask)> = None;
        for turned in &drawn.masks[chart] {
            let mask = &turned.mask;
            let anchor =
                plan.top_share * f64::from(mask.height) + (1.0 - plan.top_share) * mask.mean_height;
            let y_end = best.map_or(u32::MAX, |(cost, ..)| {
                (cost - anchor - 1e-9).ceil().max(0.0) as u32
            });
            let window = Window {
                low: [0, floors.get(mask)],
                high: [u32::MAX, y_end],
            };
            if let Some(place) = sheet.lowest_place(mask, window) {
                floors.raise(mask, place[1]);
                best = Some((f64::from(place[1]) + anchor, place, turned));
            } else if best.is_some() {
                floors.raise(mask, y_end);
            }
        }
        let (_, place, turned) = best?;
        sheet.take(&turned.mask, place);
        layout.put(chart, turned, place, drawn.cell);
    }
    Some(layout)
}

/// Rows below which masks of a size are not tried any more.
///
/// The sheet only fills, so a mask never fits below where the same mask did not. Taken for all masks of about the same
/// width and height this misses a few holes, and makes the time for thousands of charts grow linearly.
struct Floors {
    rows: Option<BTreeMap<[u32; 2], u32>>,
}

impl Floors {
    /// Up to so many charts are all searched for from the bottom. Tuned on 300 mixed charts, where the floors take 0.4% of
    /// the atlas and two thirds of the time.
    const FEW: usize = 200;

    fn new(chart_count: usize) -> Self {
        Self {
            rows: (chart_count > Self::FEW).then(BTreeMap::new),
        }
    }

    fn key(mask: &Mask) -> [u32; 2] {
        let class = |cells: u32| {
            if cells < 8 {
                cells
            } else {
                (8.0 * f64::from(cells).log2()) as u32 - 16
            }
        };
        [class(mask.width), class(mask.height)]
    }

    fn get(&self, mask: &Mask) -> u32 {
        self.rows
            .as_ref()
            .and_then(|rows| rows.get(&Self::key(mask)).copied())
            .unwrap_or(0)
    }

    fn raise(&mut self, mask: &Mask, row: u32) {
        if let Some(rows) = &mut self.rows {
            let floor = rows.entry(Self::key(mask)).or_insert(0);
            *floor = row.max(*floor);
        }
    }
}
