//! Merges vertices that always move together into one point, and finds neighbouring points.
//!
//! Connectivity is a hint: it says which points are likely to move together when bones are first
//! placed. Points are numbered by where they are and count once however many vertices they stand for,
//! so a mesh that is cut without moving, or numbered anew, is the same problem and gets the same
//! bones. Shells that lie near each other are linked, so that separate pieces (buttons, plates, a second
//! character) are no obstacle.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use glam::DVec3;

use crate::example::MeshAnimation;
use crate::mesh::{Topology, Weld, weld_by_key};

/// Links from a point to points of other shells.
const LINKS: usize = 3;

/// The vertices of an animation, those with one trajectory taken together.
pub(super) fn weld_trajectories(animation: &MeshAnimation) -> Weld {
    let frames: Vec<&[DVec3]> = animation.frames().collect();
    let rest = animation.rest().positions();
    let trajectory = |vertex| Trajectory {
        rest,
        frames: &frames,
        vertex,
    };
    let weld = weld_by_key((0..rest.len()).map(trajectory));
    // By rest position, then by where they go: the order does not depend on the vertices'.
    let mut order: Vec<usize> = (0..weld.first_vertex.len()).collect();
    let place = |point: usize| trajectory(weld.first_vertex[point] as usize);
    order.sort_by(|&a, &b| place(a).order(&place(b)));
    let mut number = vec![0u32; order.len()];
    for (at, &point) in order.iter().enumerate() {
        number[point] = at as u32;
    }
    Weld {
        point_of_vertex: (weld.point_of_vertex.iter())
            .map(|&point| number[point as usize])
            .collect(),
        first_vertex: order
            .iter()
            .map(|&point| weld.first_vertex[point])
            .collect(),
    }
}

/// Where a vertex is in rest and in every frame.
#[derive(Clone, Copy)]
struct Trajectory<'a> {
    rest: &'a [DVec3],
    frames: &'a [&'a [DVec3]],
    vertex: usize,
}

impl Trajectory<'_> {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let by = |positions: &[DVec3]| {
            let (a, b) = (positions[self.vertex], positions[other.vertex]);
            let [x, y, z] = [0, 1, 2].map(|axis| a[axis].total_cmp(&b[axis]));
            x.then(y).then(z)
        };
        let mut frames = self.frames.iter();
        by(self.rest).then_with(|| {
            let first = frames.find_map(|frame| Some(by(frame)).filter(|order| order.is_ne()));
            first.unwrap_or(std::cmp::Ordering::Equal)
        })
    }
}

impl PartialEq for Trajectory<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same = |positions: &[DVec3]| positions[self.vertex] == positions[other.vertex];
        same(self.rest) && self.frames.iter().all(|frame| same(frame))
    }
}

impl Eq for Trajectory<'_> {}

impl Hash for Trajectory<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Rest and the last frame tell almost all apart; equality looks at every frame.
        let last = self.frames.last().map_or(self.rest, |frame| frame);
        for position in [self.rest[self.vertex], last[self.vertex]] {
            // Adding zero makes -0 and 0 one number, as they are equal.
            let coordinates = position.to_array().map(|x| (x + 0.0).to_bits());
            coordinates.hash(state);
        }
    }
}

/// The neighbours of every point: along edges, and across gaps between shells.
pub(super) fn neighbors(triangles: &[[u32; 3]], weld: &Weld, rest: &[[f64; 3]]) -> Vec<Vec<u32>> {
    let count = rest.len();
    let of = |vertex: u32| weld.point_of_vertex[vertex as usize];
    let welded: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(of)).collect();
    let topology = Topology::new(count, &welded);
    let mut lists: Vec<Vec<u32>> = (0..count)
        .map(|point| topology.neighbors(point).to_vec())
        .collect();
    if topology.component_count() > 1 {
        let places: Vec<DVec3> = rest.iter().map(|&p| DVec3::from_array(p)).collect();
        let links = links_between(&places, topology.component_of_vertex());
        for (a, b) in links {
            lists[a].push(b as u32);
            lists[b].push(a as u32);
        }
    }
    for list in &mut lists {
        list.sort_unstable();
        list.dedup();
    }
    lists
}

/// Pairs of near points of different components, and enough further pairs to connect everything.
fn links_between(places: &[DVec3], component: &[u32]) -> Vec<(usize, usize)> {
    let mut links = near_links(places, component);
    let mut shells = Shells::new(component);
    for &(a, b) in &links {
        shells.join(component[a], component[b]);
    }
    // Shells that are still separate are joined to the nearest point elsewhere, one after the other.
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (point, &c) in component.iter().enumerate() {
        members.entry(c).or_default().push(point);
    }
    for (&c, own) in &members {
        if shells.groups == 1 {
            break;
        }
        let middle = own.iter().map(|&p| places[p]).sum::<DVec3>() / own.len() as f64;
        let nearest = |to: DVec3, among: &mut dyn Iterator<Item = usize>| {
            among.min_by(|&a, &b| {
                let distance = |p: usize| places[p].distance_squared(to);
                distance(a).total_cmp(&distance(b))
            })
        };
        let group = shells.root(c);
        let roots: Vec<u32> = component.iter().map(|&c| shells.root(c)).collect();
        let mut others = (0..places.len()).filter(|&p| roots[p] != group);
        if let Some(other) = nearest(middle, &mut others)
            && let Some(mine) = nearest(places[other], &mut own.iter().copied())
        {
            links.push((mine, other));
            shells.join(c, component[other]);
        }
    }
    links
}

/// For each point the nearest few points of other components in the cells around it.
fn near_links(places: &[DVec3], component: &[u32]) -> Vec<(usize, usize)> {
    let Some(bounds) = crate::mesh::Aabb::of(places) else {
        return Vec::new();
    };
    // About two points per cell if they filled a surface.
    let cell = (bounds.diagonal() / (places.len() as f64).sqrt()).max(f64::MIN_POSITIVE) * 1.5;
    let key = |p: DVec3| ((p - bounds.min) / cell).floor().as_ivec3().to_array();
    let mut cells: BTreeMap<[i32; 3], Vec<usize>> = BTreeMap::new();
    for (point, &place) in places.iter().enumerate() {
        cells.entry(key(place)).or_default().push(point);
    }
    let mut links = Vec::new();
    for (point, &place) in places.iter().enumerate() {
        let [x, y, z] = key(place);
        let around =
            (-1..=1).flat_map(|i| (-1..=1).flat_map(move |j| (-1..=1).map(move |k| (i, j, k))));
        let mut found: Vec<(f64, usize)> = around
            .filter_map(|(i, j, k)| cells.get(&[x + i, y + j, z + k]))
            .flatten()
            .filter(|&&other| component[other] != component[point])
            .map(|&other| (places[other].distance_squared(place), other))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        links.extend(found.iter().take(LINKS).map(|&(_, other)| (point, other)));
    }
    links
}

/// Which components have been joined.
struct Shells {
    parent: Vec<u32>,
    groups: usize,
}

impl Shells {
    fn new(component: &[u32]) -> Self {
        let count = component.iter().max().map_or(0, |&most| most + 1);
        Self {
            parent: (0..count).collect(),
            groups: count as usize,
        }
    }

    fn root(&mut self, mut shell: u32) -> u32 {
        while self.parent[shell as usize] != shell {
            // Path halving: shortens the way for later calls.
            let above = self.parent[shell as usize];
            self.parent[shell as usize] = self.parent[above as usize];
            shell = above;
        }
        shell
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent[a.max(b) as usize] = a.min(b);
            self.groups -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::MeshClip;
    use crate::mesh::TriMesh;

    /// Two triangles that touch in two places, moved by a motion of each vertex.
    fn two_triangles(motion: impl Fn(usize, DVec3) -> DVec3) -> MeshAnimation {
        let rest = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::X,
            DVec3::Y,
            DVec3::ONE,
        ];
        let frame = rest
            .iter()
            .enumerate()
            .map(|(v, &p)| motion(v, p))
            .collect();
        let mesh = TriMesh::new(rest, vec![[0, 1, 2], [3, 5, 4]]).expect("two triangles");
        let clip = MeshClip {
            name: "move".to_owned(),
            frames: vec![frame],
            frames_per_second: 24.0,
        };
        MeshAnimation::new(mesh, vec![clip]).expect("one frame")
    }

    #[test]
    fn vertices_that_move_as_one_are_one_point() {
        let together = weld_trajectories(&two_triangles(|_, p| p + DVec3::X));
        assert_eq!(together.first_vertex.len(), 4, "two pairs stay together");
        let order: Vec<u32> = together.first_vertex.clone();
        assert_eq!(order, [0, 2, 1, 5], "by x, then y");
        assert_eq!(together.point_of_vertex, [0, 2, 1, 2, 1, 3], "renumbered");
        let apart = weld_trajectories(&two_triangles(|v, p| p * (1.0 + v as f64)));
        assert_eq!(apart.first_vertex.len(), 6, "all move apart");
    }

    #[test]
    fn shells_are_linked_however_far_apart() {
        for distance in [0.01, 1.0, 1000.0] {
            let side = |x: f64| [[x, 0.0, 0.0], [x + 0.5, 0.0, 0.0], [x, 0.5, 0.0]];
            let rest: Vec<[f64; 3]> = side(0.0)
                .into_iter()
                .chain(side(0.5 + distance))
                .chain(side(1.5 + 2.0 * distance))
                .collect();
            let weld = weld_by_key(0..9);
            let lists = neighbors(&[[0, 1, 2], [3, 4, 5], [6, 7, 8]], &weld, &rest);
            let mut reached = vec![0];
            let mut at = 0;
            while at < reached.len() {
                for &next in &lists[reached[at]] {
                    if !reached.contains(&(next as usize)) {
                        reached.push(next as usize);
                    }
                }
                at += 1;
            }
            assert_eq!(reached.len(), 9, "all points at distance {distance}");
        }
    }
}
