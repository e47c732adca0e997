//! Where names stand in a chart: at the ends of lines and beside points, without covering each other.

/// A rectangle: left, top, width, height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    /// How much of two rectangles is common to both.
    fn overlap(&self, other: &Area) -> f64 {
        let common = |a: f64, a_size: f64, b: f64, b_size: f64| {
            ((a + a_size).min(b + b_size) - a.max(b)).max(0.0)
        };
        common(self.left, self.width, other.left, other.width)
            * common(self.top, self.height, other.top, other.height)
    }

    /// How much of this rectangle is outside another.
    fn outside(&self, other: &Area) -> f64 {
        self.width * self.height - self.overlap(other)
    }
}

/// Heights near the wanted ones, at least `gap` apart and within `range`; the sum of squared moves is the least
/// that allows this.
///
/// In terms of `z_i = y_i − i·gap`, in the order of the wanted heights, the labels must not fall: that is a
/// monotone regression, solved by merging neighbours that are out of order. When there are too many labels for
/// the range, the gap shrinks.
pub(super) fn spread(wanted: &[f64], gap: f64, [low, high]: [f64; 2]) -> Vec<f64> {
    let count = wanted.len();
    let gap = gap.min((high - low).max(0.0) / count.saturating_sub(1).max(1) as f64);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]).then(a.cmp(&b)));
    // Runs of labels that touch: their mean z, and how many they are.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for (place, &i) in order.iter().enumerate() {
        let mut run = (wanted[i] - place as f64 * gap, 1);
        while let Some(&(mean, size)) = runs.last()
            && mean > run.0
        {
            runs.pop();
            let total = size + run.1;
            run.0 = (mean * size as f64 + run.0 * run.1 as f64) / total as f64;
            run.1 = total;
        }
        runs.push(run);
    }
    let room = high - count.saturating_sub(1) as f64 * gap;
    let means = runs
        .iter()
        .flat_map(|&(mean, size)| std::iter::repeat_n(mean, size));
    let mut places = vec![0.0; count];
    for (place, (&i, mean)) in order.iter().zip(means).enumerate() {
        places[i] = mean.min(room).max(low) + place as f64 * gap;
    }
    places
}

/// For a point and the size of its name, where the name goes: near the point, away from all other points and from
/// the names placed before.
pub(super) fn beside(
    [x, y]: [f64; 2],
    [width, height]: [f64; 2],
    points: &[[f64; 2]],
    placed: &[Area],
    frame: &Area,
) -> Area {
    /// Room for a marker.
    const RADIUS: f64 = 7.0;
    let at = |left: f64, top: f64| Area {
        left,
        top,
        width,
        height,
    };
    let around = |&[x, y]: &[f64; 2]| Area {
        left: x - RADIUS,
        top: y - RADIUS,
        width: 2.0 * RADIUS,
        height: 2.0 * RADIUS,
    };
    let mut best: Option<(f64, Area)> = None;
    // Nearest places first: right, left, above, below, then further away.
    for distance in [0.0, 12.0, 24.0, 36.0, 48.0] {
        let (beside, above) = (RADIUS + 2.0, RADIUS + 1.0 + distance);
        let middle = y - height / 2.0;
        let sides = [x + beside, x - beside - width];
        let mut candidates = Vec::new();
        for shift in [-distance, distance] {
            candidates.extend(sides.map(|left| at(left, middle + shift)));
        }
        for left in [x - width / 2.0, x, x - width] {
            candidates.push(at(left, y - above - height));
            candidates.push(at(left, y + above));
        }
        for candidate in candidates {
            let covered: f64 = points.iter().map(|p| candidate.overlap(&around(p))).sum();
            let hidden: f64 = placed.iter().map(|other| candidate.overlap(other)).sum();
            let penalty = covered + 2.0 * hidden + 4.0 * candidate.outside(frame);
            if penalty < 1e-9 {
                return candidate;
            }
            if best.is_none_or(|(least, _)| penalty < least) {
                best = Some((penalty, candidate));
            }
        }
    }
    best.map_or_else(|| at(x, y), |(_, area)| area)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay_and_others_move_as_little_as_they_must() {
        let range = [0.0, 100.0];
        assert_eq!(
            spread(&[80.0, 10.0, 40.0], 12.0, range),
            [80.0, 10.0, 40.0],
            "room for all"
        );
        assert_eq!(
            spread(&[50.0, 50.0], 12.0, range),
            [44.0, 56.0],
            "each moves by half"
        );
        assert_eq!(
            spread(&[99.0, 98.0], 12.0, range),
            [100.0, 88.0],
            "and none leaves the range"
        );
    }

    #[test]
    fn too_many_labels_share_what_room_there_is() {
        let places = spread(&[3.0; 11], 12.0, [0.0, 50.0]);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(
            sorted.windows(2).all(|pair| pair[1] - pair[0] > 4.99),
            "evenly: {places:?}"
        );
        assert!(spread(&[], 12.0, [0.0, 50.0]).is_empty(), "no labels");
    }

    #[test]
    fn names_beside_points_cover_neither_points_nor_each_other() {
        let frame = Area {
            left: 0.0,
            top: 0.0,
            width: 300.0,
            height: 200.0,
        };
        // A cluster, one point at the right border and one in a corner.
        let points = [
            [100.0, 100.0],
            [104.0, 102.0],
            [112.0, 97.0],
            [295.0, 60.0],
            [2.0, 198.0],
        ];
        let mut placed: Vec<Area> = Vec::new();
        for point in points {
            let area = beside(point, [80.0, 14.0], &points, &placed, &frame);
            assert!(area.outside(&frame) < 1e-9, "{point:?}: {area:?}");
            assert!(
                placed.iter().all(|other| other.overlap(&area) < 1e-9),
                "{area:?} covers one of {placed:?}"
            );
            placed.push(area);
        }
    }
}
