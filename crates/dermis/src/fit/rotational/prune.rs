//! Fewer numbers in C1 and C2: patches and bones far from a proxy hardly move it.
//!
//! A share that moves no point of a proxy's patch by more than a tolerance is given to the proxy's own patch
//! instead. So the sums still move exactly with the whole character. A run-time skips columns that are 0 for
//! all of eight neighbouring proxies.

use glam::{DAffine3, DVec3};

use super::compile::Compiled;

/// The inputs of pruning.
pub(super) struct Pruning<'a> {
    /// The middle of every patch in the rest pose.
    pub(super) middles: &'a [DVec3],
    /// How far the points of each patch are from it.
    pub(super) radii: &'a [f64],
    /// The patch of each proxy.
    pub(super) patch_of_proxy: &'a [u16],
    /// The frame of each source in the rest pose.
    pub(super) rest_of_source: &'a [DAffine3],
    /// How far things move, in model units: the diagonal of the rest box.
    pub(super) reach: f64,
    /// How far dropping one share may move a point, in model units.
    pub(super) tolerance: f64,
}

impl Pruning<'_> {
    /// Drops all shares that are small enough.
    pub(super) fn apply(&self, compiled: &mut Compiled) {
        let width1 = 4 * self.middles.len();
        let width2 = 4 * self.rest_of_source.len();
        for (m, &own) in self.patch_of_proxy.iter().enumerate() {
            let own = usize::from(own);
            let (middle, radius) = (self.middles[own], self.radii[own]);
            for (l, &other) in self.middles.iter().enumerate() {
                if l == own {
                    continue;
                }
                let at = |row: usize| (4 * m + row) * width1 + 4 * l;
                if self.is_small(&compiled.from_patches, at, radius) {
                    for row in 0..4 {
                        let share = &mut compiled.from_patches[at(row)..at(row) + 4];
                        let (along, place) = (DVec3::from_slice(share), share[3]);
                        share.fill(0.0);
                        let back = (along + place * (other - middle)).extend(place);
                        let own = (4 * m + row) * width1 + 4 * own;
                        give(&mut compiled.from_patches[own..own + 4], back.to_array());
                    }
                }
            }
            for (s, rest) in self.rest_of_source.iter().enumerate() {
                let at = |row: usize| (4 * m + row) * width2 + 4 * s;
                if self.is_small(&compiled.from_sources, at, radius) {
                    for row in 0..4 {
                        let share = &mut compiled.from_sources[at(row)..at(row) + 4];
                        let (along, place) = (DVec3::from_slice(share), share[3]);
                        share.fill(0.0);
                        let along = rest.matrix3 * along + place * (rest.translation - middle);
                        let own = (4 * m + row) * width1 + 4 * own;
                        let back = along.extend(place).to_array();
                        give(&mut compiled.from_patches[own..own + 4], back);
                    }
                }
            }
        }
    }

    /// Whether the shares of one patch or source in the four columns of a proxy move its points by little.
    fn is_small(&self, matrix: &[f64], at: impl Fn(usize) -> usize, radius: f64) -> bool {
        let moves = |row: usize| {
            let share = &matrix[at(row)..at(row) + 4];
            let along = DVec3::from_slice(share).length();
            let lever = if row < 3 { radius } else { 1.0 };
            // A turn moves a direction by at most twice its length; a position moves by at most the reach.
            lever * (2.0 * along + self.reach * share[3].abs())
        };
        (0..4).map(moves).sum::<f64>() <= self.tolerance
    }
}

fn give(to: &mut [f64], back: [f64; 4]) {
    to.iter_mut().zip(back).for_each(|(to, back)| *to += back);
}

/// Points in an order in which neighbours follow each other: from an end, always the nearest of the
/// remaining points.
pub(super) fn path(points: &[DVec3]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..points.len()).collect();
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let mut order: Vec<usize> = Vec::with_capacity(points.len());
    while !left.is_empty() {
        let distance = |&n: &usize| match order.last() {
            Some(&last) => points[n].distance_squared(points[last]),
            None => -points[n].distance_squared(mean),
        };
        let nearest =
            (0..left.len()).min_by(|&a, &b| distance(&left[a]).total_cmp(&distance(&left[b])));
        let nearest = nearest.expect("one is left");
        order.push(left.remove(nearest));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_from_end_to_end() {
        let points = [3.0, 0.0, 5.0, 1.0, 4.0, 2.0].map(|x| DVec3::X * x);
        assert_eq!(path(&points), [1, 3, 5, 0, 4, 2], "along the line");
        assert!(path(&[]).is_empty(), "no points");
    }
}
