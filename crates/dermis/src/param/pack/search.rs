//! Finds the largest scale that all charts fit at.
//!
//! On a coarse grid the scale is bracketed with a few orders of the charts. Then orders are shuffled, and one that fits at
//! a slightly larger scale than the best so far replaces it: first on the coarse grid, where a try is cheap, then on a fine
//! one, where less is lost to cells that are taken in part only. How long that goes on is counted in steps of the search,
//! not in seconds, so the result is the same everywhere.

use glam::DVec2;

use super::outline::Outline;
use super::place::{Drawn, Grid, Layout, Plan, place_all};
use super::sheet::Sheet;

/// Cells per chart, along a side, of the coarse and the fine grid. Tuned on sets of 20 and 60 blobs, strips, crescents and L
/// shapes: on a single grid, 60, 120 and 240 cells filled 0.77, 0.78 and 0.79 of the atlas, and a try took 3 times longer
/// from each to the next.
const CELLS_PER_CHART: [f64; 2] = [60.0, 240.0];
/// Cells along a side that no grid goes beyond: memory and time grow with the square.
const MOST_CELLS: u32 = 2048;
/// Steps of the search for shuffling on the two grids; some 200 million take a second. Tuned on the same charts: ten times
/// as many gain 1 to 3% of the atlas.
const SHUFFLE_WORK: [u64; 2] = [20_000_000, 60_000_000];
/// Steps that a try counts as, besides those it takes: clearing the sheet and changing the order.
const TRY_WORK: u64 = 50_000;
/// How much larger than the best so far the scale of the next try is.
const STEP: f64 = 1.003;

/// What to search for.
#[derive(Debug, Clone)]
pub(super) struct Task<'a> {
    /// The charts, each with at least one edge.
    pub(super) outlines: &'a [Outline],
    /// The angles each chart may be turned to, at least one.
    pub(super) angles: &'a [Vec<f64>],
    /// Texels along each side of the atlas.
    pub(super) size: u32,
    /// Texels between charts.
    pub(super) padding: u32,
    /// The largest scale that is wanted, texels per unit.
    pub(super) largest: f64,
}

impl Task<'_> {
    fn grid(&self, cells_per_chart: f64) -> Grid {
        let wanted = cells_per_chart * (self.outlines.len() as f64).sqrt();
        let cells = wanted.clamp(256.0, f64::from(MOST_CELLS));
        let cell = (f64::from(self.size) / cells).round().max(1.0) as u32;
        Grid::new(
            self.size,
            cell.max(self.size.div_ceil(MOST_CELLS)),
            self.padding,
        )
    }

    /// A scale at which charts and half of the padding around them cover `share` of the atlas.
    fn scale_of_share(&self, share: f64, cell: u32) -> f64 {
        let widen = f64::from(self.padding) + 0.5 * f64::from(cell);
        let (mut a, mut b, mut c) = (0.0, 0.0, -share * f64::from(self.size).powi(2));
        for outline in self.outlines {
            a += outline.area;
            b += 0.5 * outline.length * widen;
            c += widen * widen;
        }
        // The larger root of a s² + b s + c, in the form that loses no digits.
        if c < 0.0 {
            -2.0 * c / (b + (b * b - 4.0 * a * c).sqrt())
        } else {
            0.0
        }
    }
}

/// Equal squares, one for each chart: a layout that always exists if there are texels enough, at a small scale.
///
/// Returns the least size of the atlas if there are not.
pub(super) fn equal_squares(task: &Task) -> Result<Layout, u64> {
    let count = task.outlines.len();
    let columns = (1..).find(|&m: &u64| m * m >= count as u64).unwrap_or(1);
    let side = u64::from(task.size) / columns;
    let least = u64::from(task.padding) + 1;
    if side < least {
        return Err(columns * least);
    }
    let boxes: Vec<TurnedBox> = task
        .outlines
        .iter()
        .zip(task.angles)
        .map(|(o, a)| squarest_box(o, a))
        .collect();
    let longest = boxes.iter().map(|b| b.side).fold(0.0, f64::max);
    // Not quite to the edge of the square: rounding must not take a texel of the neighbour's.
    let room = (side - u64::from(task.padding)) as f64 - 1e-6;
    let scale = (room / longest).min(task.largest);
    let mut layout = Layout::new(count, scale);
    for (chart, turned) in boxes.iter().enumerate() {
        let cell = DVec2::new(
            (chart as u64 % columns) as f64,
            (chart as u64 / columns) as f64,
        );
        layout.angles[chart] = turned.angle;
        layout.centres[chart] = (cell + 0.5) * side as f64 - turned.middle * scale;
    }
    layout.top = task.size;
    Ok(layout)
}

/// The box around a turned chart.
struct TurnedBox {
    angle: f64,
    /// The longer side.
    side: f64,
    middle: DVec2,
}

/// The box with the least longer side, over all angles.
fn squarest_box(outline: &Outline, angles: &[f64]) -> TurnedBox {
    let turned = |&angle: &f64| {
        let [low, high] = outline.turned_box(angle);
        TurnedBox {
            angle,
            side: (high - low).max_element(),
            middle: 0.5 * (low + high),
        }
    };
    let first = TurnedBox {
        angle: 0.0,
        side: f64::INFINITY,
        middle: DVec2::ZERO,
    };
    angles.iter().map(turned).fold(
        first,
        |best, next| if next.side < best.side { next } else { best },
    )
}

/// The best layout found, from `start` on.
pub(super) fn search(task: &Task, start: Layout) -> Layout {
    let coarse = task.grid(CELLS_PER_CHART[0]);
    let mut climb = Climb {
        task,
        plan: None,
        best: start,
        work: 0,
    };
    climb.bracket(coarse);
    let mut random = Random(1);
    for (cells, work) in CELLS_PER_CHART.into_iter().zip(SHUFFLE_WORK) {
        climb.shuffle(task.grid(cells), work, &mut random);
    }
    climb.best
}

struct Climb<'a> {
    task: &'a Task<'a>,
    best: Layout,
    /// The plan that gave `best`, if a plan did.
    plan: Option<Plan>,
    work: u64,
}

impl Climb<'_> {
    /// Tries plans at a scale until one fits.
    fn attempt(&mut self, sheet: &mut Sheet, grid: Grid, scale: f64, plans: &[Plan]) -> bool {
        let drawn = Drawn::new(self.task.outlines, self.task.angles, scale, grid);
        let before = sheet.work;
        let fits = plans
            .iter()
            .any(|plan| self.keep_if_fits(sheet, &drawn, plan));
        self.work += drawn.work + sheet.work - before;
        fits
    }

    fn keep_if_fits(&mut self, sheet: &mut Sheet, drawn: &Drawn, plan: &Plan) -> bool {
        let Some(layout) = place_all(sheet, drawn, plan) else {
            return false;
        };
        self.best = layout;
        self.plan = Some(plan.clone());
        true
    }

    /// Closes in on the largest scale from both sides.
    fn bracket(&mut self, grid: Grid) {
        const CLOSE: f64 = 1.006;
        let mut sheet = grid.sheet();
        let plans = first_plans(self.task.outlines);
        let mut high = self.task.largest;
        let mut scale = self.task.scale_of_share(0.78, grid.cell).min(high);
        let mut shrink = 0.95;
        for _ in 0..24 {
            scale = scale.max(self.best.scale * CLOSE);
            if scale >= high && (high < self.task.largest || self.best.scale >= high) {
                break;
            }
            scale = scale.min(high);
            if self.attempt(&mut sheet, grid, scale, &plans) {
                let filled = f64::from(self.best.top) / f64::from(self.task.size);
                let next = (scale / filled.sqrt()).max(scale * 1.01);
                scale = if next < high {
                    next
                } else {
                    0.5 * (scale + high)
                };
            } else {
                high = scale;
                if self.plan.is_some() {
                    scale = 0.5 * (self.best.scale + high);
                } else {
                    // Nothing fits yet: down, ever faster.
                    scale *= shrink;
                    shrink *= shrink;
                }
            }
        }
    }

    /// Tries changed orders at a scale a step above the best, until the work is spent.
    fn shuffle(&mut self, grid: Grid, work: u64, random: &mut Random) {
        let mut plan = self
            .plan
            .clone()
            .unwrap_or_else(|| first_plans(self.task.outlines).swap_remove(0));
        let end = self.work + work;
        let mut sheet = grid.sheet();
        while self.work < end && self.best.scale < self.task.largest {
            let scale = (self.best.scale * STEP).min(self.task.largest);
            let drawn = Drawn::new(self.task.outlines, self.task.angles, scale, grid);
            self.work += drawn.work;
            loop {
                let before = sheet.work;
                let fits = self.keep_if_fits(&mut sheet, &drawn, &plan);
                // A try has a price of its own: a chart larger than the sheet is refused without a step.
                self.work += sheet.work - before + TRY_WORK;
                if fits || self.work >= end {
                    break;
                }
                plan = random.changed(self.plan.as_ref().unwrap_or(&plan));
            }
        }
    }
}

/// The plans to begin with; of many charts only the one that is best as a rule.
fn first_plans(outlines: &[Outline]) -> Vec<Plan> {
    const FEW: usize = 500;
    let sorted = |key: fn(&Outline) -> f64| {
        let mut order: Vec<usize> = (0..outlines.len()).collect();
        order.sort_by(|&a, &b| key(&outlines[b]).total_cmp(&key(&outlines[a])));
        order
    };
    let by_size = sorted(|o| o.area + o.length * o.length * 1e-3);
    let mut plans = vec![Plan {
        order: by_size.clone(),
        top_share: 0.5,
    }];
    if outlines.len() <= FEW {
        plans.push(Plan {
            order: sorted(|o| o.longer_side),
            top_share: 0.5,
        });
        plans.push(Plan {
            order: by_size.clone(),
            top_share: 1.0,
        });
        plans.push(Plan {
            order: by_size,
            top_share: 0.0,
        });
    }
    plans
}

/// A linear congruential generator: the shuffles need no better.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// A plan in which one to three charts are placed earlier than in another.
    fn changed(&mut self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        let count = plan.order.len();
        for _ in 0..1 + self.below(3) {
            let to = self.below(count);
            let from = (to + 1 + self.below((count / 4).max(2))).min(count - 1);
            plan.order[to..=from].rotate_right(1);
        }
        plan.top_share = 0.25 * self.below(5) as f64;
        plan
    }
}
