//! The cells of the atlas that are taken, kept so that a mask is tried at 64 places at once.
//!
//! Level `l` of a row has bit `x` set if any of the `2^l` cells from `x` on is taken. A run of any length is covered by
//! two overlapping runs of a power of two, so one run of a mask is tested at 64 neighbouring places with two reads of bits.

use super::mask::{Mask, Run};

/// Taken and free cells.
#[derive(Debug, Clone)]
pub(super) struct Sheet {
    width: u32,
    height: u32,
    levels: usize,
    /// Words of one level of one row; one more than needed, so that reads across words need no test.
    stride: usize,
    bits: Vec<u64>,
    /// Length of the longest run of free cells of each row.
    longest_free: Vec<u32>,
    /// How many times 64 places were tried against a run, and rows were updated: what the time goes into.
    pub(super) work: u64,
}

/// A range of places to try: `low` included, `high` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// The least x and y.
    pub(super) low: [u32; 2],
    /// One more than the largest x and y.
    pub(super) high: [u32; 2],
}

impl Sheet {
    /// A sheet on which all cells are free.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let levels = width.max(1).ilog2() as usize + 1;
        let stride = width.div_ceil(64) as usize + 1;
        let bits = vec![0; stride * levels * height as usize];
        Self {
            width,
            height,
            levels,
            stride,
            bits,
            longest_free: vec![width; height as usize],
            work: 0,
        }
    }

    /// Frees all cells.
    pub(super) fn clear(&mut self) {
        self.bits.fill(0);
        self.longest_free.fill(self.width);
    }

    /// Takes the cells of a mask whose lower left corner lies at `x`, `y`.
    pub(super) fn take(&mut self, mask: &Mask, [x, y]: [u32; 2]) {
        for same_row in mask.runs.chunk_by(|a, b| a.row == b.row) {
            let row = (y + same_row[0].row) as usize;
            let base = row * self.levels * self.stride;
            for run in same_row {
                set_run(
                    &mut self.bits[base..base + self.stride],
                    x + run.start,
                    run.len,
                );
            }
            for level in 1..self.levels {
                let start = base + (level - 1) * self.stride;
                let (below, above) =
                    self.bits[start..start + 2 * self.stride].split_at_mut(self.stride);
                let step = 1 << (level - 1);
                for (word, out) in above.iter_mut().enumerate() {
                    *out = below[word] | read_at(below, word, step);
                }
            }
            self.work += (self.levels * self.stride) as u64 / 4;
            self.longest_free[row] =
                longest_free_run(&self.bits[base..base + self.stride], self.width);
        }
    }

    /// The lowest place for a mask in a window, and of several the leftmost.
    pub(super) fn lowest_place(&mut self, mask: &Mask, window: Window) -> Option<[u32; 2]> {
        if mask.width > self.width || mask.height > self.height {
            return None;
        }
        let Some(&longest) = mask.probes.first() else {
            return Some(window.low);
        };
        let x_end = window.high[0].min(self.width - mask.width + 1);
        let y_end = window.high[1].min(self.height - mask.height + 1);
        let x_start = window.low[0];
        if x_start >= x_end {
            return None;
        }
        let mut blocker = 0;
        for y in window.low[1]..y_end {
            if self.longest_free[(y + longest.row) as usize] < longest.len {
                continue;
            }
            for word in x_start / 64..=(x_end - 1) / 64 {
                let outside = outside_range(word, x_start, x_end);
                let free = !self.blocked(mask, word as usize, y, outside, &mut blocker);
                if free != 0 {
                    return Some([word * 64 + free.trailing_zeros(), y]);
                }
            }
        }
        None
    }

    /// Which of the 64 places from `64 * word` on in row `y` are blocked. `blocker` is the run that blocked the last such
    /// 64 places for good: as a rule it blocks the next as well, so it is tried first.
    fn blocked(
        &mut self,
        mask: &Mask,
        word: usize,
        y: u32,
        outside: u64,
        blocker: &mut usize,
    ) -> u64 {
        let mut blocked = outside | self.run_blocked(mask.probes[*blocker], word, y);
        self.work += 1;
        if blocked == u64::MAX {
            return blocked;
        }
        for (index, &run) in mask.probes.iter().enumerate() {
            self.work += 1;
            blocked |= self.run_blocked(run, word, y);
            if blocked == u64::MAX {
                *blocker = index;
                break;
            }
        }
        blocked
    }

    fn run_blocked(&self, run: Run, word: usize, y: u32) -> u64 {
        let level = run.len.ilog2();
        let base = ((y + run.row) as usize * self.levels + level as usize) * self.stride;
        let row = &self.bits[base..base + self.stride];
        read_at(row, word, run.start) | read_at(row, word, run.start + run.len - (1 << level))
    }
}

/// The 64 bits of a row from bit `64 * word + shift` on; 0 beyond its end.
fn read_at(row: &[u64], word: usize, shift: u32) -> u64 {
    let index = word + (shift / 64) as usize;
    let bit = shift % 64;
    let low = row.get(index).copied().unwrap_or(0) >> bit;
    if bit == 0 {
        low
    } else {
        low | row.get(index + 1).copied().unwrap_or(0) << (64 - bit)
    }
}

fn set_run(row: &mut [u64], start: u32, len: u32) {
    let end = start + len;
    for word in start / 64..=(end - 1) / 64 {
        row[word as usize] |= !outside_range(word, start, end);
    }
}

/// The bits of a word that lie outside `start..end`, which must reach into the word.
fn outside_range(word: u32, start: u32, end: u32) -> u64 {
    let first = word * 64;
    let before = if start > first {
        (1 << (start - first)) - 1
    } else {
        0
    };
    let after = if end < first + 64 {
        u64::MAX << (end - first)
    } else {
        0
    };
    before | after
}

fn longest_free_run(row: &[u64], width: u32) -> u32 {
    let (mut longest, mut current) = (0, 0);
    for word in 0..width.div_ceil(64) {
        let bit_count = (width - word * 64).min(64);
        let mut bits = row[word as usize];
        if bits == 0 {
            current += bit_count;
            continue;
        }
        let mut left = bit_count;
        while left > 0 {
            let free = bits.trailing_zeros().min(left);
            current += free;
            left -= free;
            if left == 0 {
                break;
            }
            longest = longest.max(current);
            current = 0;
            bits >>= free;
            let taken = bits.trailing_ones().min(left);
            left -= taken;
            bits = if taken < 64 { bits >> taken } else { 0 };
        }
    }
    longest.max(current)
}

#[cfg(test)]
mod tests {
    use super::super::outline::{FlatChart, Outline};
    use super::*;
    use glam::DVec2;

    fn ring(size: f64) -> Mask {
        let uvs = vec![
            DVec2::ZERO,
            DVec2::new(size, 0.3 * size),
            DVec2::new(0.2 * size, size),
        ];
        let chart = FlatChart {
            uvs,
            triangles: vec![[0, 1, 2]],
        };
        Mask::new(&Outline::new(&chart, 0).unwrap_or_default(), 0.0, 1.0, 0.5)
    }

    fn naive_place(taken: &[Vec<bool>], mask: &Mask) -> Option<[u32; 2]> {
        let (height, width) = (taken.len() as u32, taken[0].len() as u32);
        let free = |x: u32, y: u32| {
            mask.runs.iter().all(|r| {
                (r.start..r.start + r.len).all(|c| !taken[(y + r.row) as usize][(x + c) as usize])
            })
        };
        let rows = 0..(height + 1).saturating_sub(mask.height);
        rows.flat_map(|y| (0..(width + 1).saturating_sub(mask.width)).map(move |x| [x, y]))
            .find(|&[x, y]| free(x, y))
    }

    #[test]
    fn places_are_those_of_a_naive_search() {
        let (width, height) = (150, 90);
        let mut sheet = Sheet::new(width, height);
        let mut taken = vec![vec![false; width as usize]; height as usize];
        for i in 0..120_u32 {
            let mask = ring(f64::from(3 + i * 37 % 23));
            let all = Window {
                low: [0, 0],
                high: [u32::MAX, u32::MAX],
            };
            let place = sheet.lowest_place(&mask, all);
            assert_eq!(place, naive_place(&taken, &mask), "place of mask {i}");
            let Some([x, y]) = place else {
                continue;
            };
            sheet.take(&mask, [x, y]);
            for run in &mask.runs {
                for cell in run.start..run.start + run.len {
                    taken[(y + run.row) as usize][(x + cell) as usize] = true;
                }
            }
        }
    }

    #[test]
    fn the_longest_free_run_crosses_words() {
        let mut row = vec![0_u64; 4];
        set_run(&mut row, 10, 20);
        set_run(&mut row, 140, 3);
        assert_eq!(longest_free_run(&row, 150), 110, "cells 30 to 139");
        assert_eq!(longest_free_run(&row, 64), 34, "cells 30 to 63");
    }
}
