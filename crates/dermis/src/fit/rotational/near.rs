//! The nearest few of many points, by a k-d tree: neighbours that no edge connects.

use glam::DVec3;

/// Points, each at the middle of a range of `order`: those before it in the range are on the low side of it along its
/// axis, those after it on the high side.
pub(super) struct PlaceTree<'a> {
    places: &'a [DVec3],
    order: Vec<u32>,
    /// By place in `order`.
    axes: Vec<u8>,
}

impl<'a> PlaceTree<'a> {
    /// Cost: O(n log² n) for any places, because ranges are halved by rank.
    pub(super) fn new(places: &'a [DVec3]) -> Self {
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        let mut axes = vec![0; order.len()];
        split(places, &mut order, &mut axes);
        Self {
            places,
            order,
            axes,
        }
    }

    /// The numbers of the `most` wanted points that are nearest to a place, nearest first.
    ///
    /// Of equally distant points, the order of the tree decides which are found: visiting all of them would
    /// take too long where many points are at one place.
    pub(super) fn nearest(
        &self,
        to: DVec3,
        most: usize,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut found = Vec::with_capacity(most + 1);
        self.visit(0..self.order.len(), to, most, &is_wanted, &mut found);
        found.into_iter().map(|(_, point)| point).collect()
    }

    fn visit(
        &self,
        range: std::ops::Range<usize>,
        to: DVec3,
        most: usize,
        is_wanted: &impl Fn(u32) -> bool,
        found: &mut Vec<(f64, u32)>,
    ) {
        if range.is_empty() {
            return;
        }
        let middle = range.start.midpoint(range.end);
        let point = self.order[middle];
        let place = self.places[point as usize];
        let is_near = |squared: f64, found: &[(f64, u32)]| {
            found.len() < most || found.last().is_some_and(|last| squared < last.0)
        };
        let squared = place.distance_squared(to);
        if is_near(squared, found) && is_wanted(point) {
            let at = found.partition_point(|other| other.0 <= squared);
            found.insert(at, (squared, point));
            found.truncate(most);
        }
        let axis = usize::from(self.axes[middle]);
        let beyond = to[axis] - place[axis];
        let [low, high] = [range.start..middle, middle + 1..range.end];
        let [own, other] = if beyond < 0.0 {
            [low, high]
        } else {
            [high, low]
        };
        self.visit(own, to, most, is_wanted, found);
        if is_near(beyond * beyond, found) {
            self.visit(other, to, most, is_wanted, found);
        }
    }
}

/// Puts the middle of the points along their longest axis into the middle, and so on in both halves.
fn split(places: &[DVec3], order: &mut [u32], axes: &mut [u8]) {
    if order.len() < 2 {
        return;
    }
    let place = |point: u32| places[point as usize];
    let all = || order.iter().map(|&point| place(point));
    let low = all().fold(DVec3::INFINITY, DVec3::min);
    let high = all().fold(DVec3::NEG_INFINITY, DVec3::max);
    let axis = (high - low).max_position();
    // As `nearest` halves its ranges.
    let middle = order.len() / 2;
    order.select_nth_unstable_by(middle, |&a, &b| {
        let along = place(a)[axis].total_cmp(&place(b)[axis]);
        along.then(a.cmp(&b))
    });
    axes[middle] = axis as u8;
    let (low, high) = order.split_at_mut(middle);
    let (low_axes, high_axes) = axes.split_at_mut(middle);
    split(places, low, low_axes);
    split(places, &mut high[1..], &mut high_axes[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_points_equal_those_of_a_full_search() {
        let place = |k: usize| {
            let phase = |step: f64| ((k + 1) as f64 * step).fract();
            DVec3::new(phase(0.819_172_5), 3.0 * phase(0.671_043_6), phase(0.549_7))
        };
        let places: Vec<DVec3> = (0..200).map(place).collect();
        let tree = PlaceTree::new(&places);
        let is_wanted = |point: u32| !point.is_multiple_of(3);
        for k in 0..40 {
            let to = place(1000 + k);
            let mut all: Vec<u32> = (0..200).filter(|&p| is_wanted(p)).collect();
            all.sort_by(|&a, &b| {
                let squared = |p: u32| places[p as usize].distance_squared(to);
                squared(a).total_cmp(&squared(b))
            });
            assert_eq!(tree.nearest(to, 5, is_wanted), all[..5], "to {to}");
        }
        assert_eq!(tree.nearest(DVec3::ZERO, 300, |p| p < 7).len(), 7, "all");
    }

    #[test]
    fn points_at_one_place_are_near_each_other() {
        let places = vec![DVec3::ONE; 1000];
        let tree = PlaceTree::new(&places);
        let found = tree.nearest(DVec3::ONE, 4, |p| p != 500);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(!found.contains(&500), "{found:?}");
        assert!(
            PlaceTree::new(&[])
                .nearest(DVec3::ONE, 4, |_| true)
                .is_empty(),
            "no points"
        );
    }
}
