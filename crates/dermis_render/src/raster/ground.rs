//! A soft shadow on the floor, where surfaces come near it.
//!
//! A cheap imitation of the light of a cloudy sky: the scene seen from below is drawn into a few square maps,
//! one per range of heights, and each map is blurred by about its height. Low parts give a dark, tight
//! shadow and high parts a faint, wide one. Each background pixel costs one lookup.

use glam::{DVec3, Vec3};

use crate::scene::{Ground, Scene};

/// Texels along one side of a map.
const SIDE: usize = 192;
/// Layers of height: upper end and blur radius as fractions of the scene's size, and darkness.
const LAYERS: [(f64, f64, f32); 3] = [(0.03, 0.022, 0.62), (0.15, 0.05, 0.55), (0.55, 0.12, 0.42)];
/// How far the maps reach beyond the scene, as a fraction of its size.
const REACH: f64 = 0.42;

/// The finished shadow: darkness over a square of the floor.
pub(super) struct Shadow {
    up: DVec3,
    axes: [DVec3; 2],
    height: f64,
    /// Corner of the square, along `axes`.
    corner: [f64; 2],
    texels_per_unit: f64,
    darkness: Vec<f32>,
}

impl Shadow {
    /// `None` when the scene has no usable triangle, and so casts nothing.
    pub(super) fn new(scene: &Scene<'_>, ground: Ground) -> Option<Self> {
        let up = ground.up_axis.up().as_dvec3();
        let front = ground.up_axis.front().as_dvec3();
        let axes = [up.cross(front), front];
        let on_floor = |p: Vec3| {
            let p = p.as_dvec3();
            DVec3::new(p.dot(axes[0]), p.dot(axes[1]), p.dot(up))
        };
        let triangles: Vec<[DVec3; 3]> = scene
            .surfaces
            .iter()
            .flat_map(|surface| {
                surface
                    .triangles
                    .iter()
                    .map(|corners| corners.map(|i| surface.positions[i as usize]))
            })
            .filter(|corners| corners.iter().all(|corner| corner.is_finite()))
            .map(|corners| corners.map(on_floor))
            .collect();
        let points = || triangles.iter().flatten();
        let low = points().fold(DVec3::INFINITY, |low, p| low.min(*p));
        let high = points().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
        let size = (high - low).max_element();
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let side = (high - low).truncate().max_element() + 2.0 * REACH * size;
        let middle = (high + low) / 2.0;
        let mut shadow = Self {
            up,
            axes,
            height: ground.height.map_or(low.z, f64::from),
            corner: [middle.x - side / 2.0, middle.y - side / 2.0],
            texels_per_unit: SIDE as f64 / side,
            darkness: vec![0.0; SIDE * SIDE],
        };
        shadow.fill(&triangles, size, ground.strength.clamp(0.0, 1.0));
        Some(shadow)
    }

    /// Darkness of the floor where a ray meets it; 0 without shadow, and for a ray that misses the floor.
    pub(super) fn darkness(&self, origin: DVec3, direction: DVec3) -> f32 {
        let fall = direction.dot(self.up);
        let t = (self.height - origin.dot(self.up)) / fall;
        if fall >= 0.0 || t <= 0.0 || !t.is_finite() {
            return 0.0;
        }
        let hit = origin + direction * t;
        let texel =
            [0, 1].map(|i| (hit.dot(self.axes[i]) - self.corner[i]) * self.texels_per_unit - 0.5);
        let last = (SIDE - 1) as f64;
        if texel.iter().any(|&v| !(0.0..last).contains(&v)) {
            return 0.0;
        }
        let [u, v] = texel.map(|v| v.fract() as f32);
        let i = texel[1] as usize * SIDE + texel[0] as usize;
        let d = &self.darkness;
        let top = d[i] + (d[i + 1] - d[i]) * u;
        let bottom = d[i + SIDE] + (d[i + SIDE + 1] - d[i + SIDE]) * u;
        top + (bottom - top) * v
    }

    fn fill(&mut self, triangles: &[[DVec3; 3]], size: f64, strength: f32) {
        let mut light = vec![1.0; SIDE * SIDE];
        let mut floor = 0.0;
        for (ceiling, blur, dark) in LAYERS {
            let slice = floor * size..ceiling * size;
            let mut map = vec![0.0; SIDE * SIDE];
            for corners in triangles {
                self.enter(corners, &slice, &mut map);
            }
            soften(
                &mut map,
                (blur * size * self.texels_per_unit).round().max(1.0) as usize,
            );
            for (light, covered) in light.iter_mut().zip(&map) {
                *light *= 1.0 - dark * covered;
            }
            floor = ceiling;
        }
        self.darkness = light
            .into_iter()
            .map(|light: f32| (1.0 - light) * strength)
            .collect();
    }

    /// Marks the texels under the part of a triangle whose height is within the slice.
    fn enter(&self, corners: &[DVec3; 3], slice: &std::ops::Range<f64>, map: &mut [f32]) {
        let texel = |p: DVec3| {
            DVec3::new(
                (p.x - self.corner[0]) * self.texels_per_unit,
                (p.y - self.corner[1]) * self.texels_per_unit,
                p.z - self.height,
            )
        };
        let [a, b, c] = corners.map(texel);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        // A floor above the scene's lowest point leaves parts below it: they touch, so they count as
        // touching.
        if high.z.max(0.0) < slice.start || low.z >= slice.end {
            return;
        }
        let area = (b - a).cross(c - a).z;
        let mut mark = |x: f64, y: f64, z: f64| {
            if slice.contains(&z.max(0.0))
                && x >= 0.0
                && y >= 0.0
                && x < SIDE as f64
                && y < SIDE as f64
            {
                map[y as usize * SIDE + x as usize] = 1.0;
            }
        };
        // Triangles smaller than a texel may miss every texel centre; their corners do not.
        for p in [a, b, c] {
            mark(p.x, p.y, p.z);
        }
        if area.abs() < 1e-9 {
            return;
        }
        let texels = |low: f64, high: f64| {
            low.floor().max(0.0) as usize..=(high.ceil().min(SIDE as f64) as usize)
        };
        for y in texels(low.y, high.y) {
            for x in texels(low.x, high.x) {
                let p = DVec3::new(x as f64 + 0.5, y as f64 + 0.5, 0.0);
                let weight = |from: DVec3, to: DVec3| (to - from).cross(p - from).z / area;
                let (wa, wb, wc) = (weight(b, c), weight(c, a), weight(a, b));
                if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
                    mark(p.x, p.y, wa * a.z + wb * b.z + wc * c.z);
                }
            }
        }
    }
}

/// Three box blurs along each axis: nearly a Gaussian.
fn soften(map: &mut [f32], radius: usize) {
    for _ in 0..3 {
        for start in (0..SIDE * SIDE).step_by(SIDE) {
            box_blur(map, start, 1, radius);
        }
        for start in 0..SIDE {
            box_blur(map, start, SIDE, radius);
        }
    }
}

/// Averages each entry of a line with its neighbours up to `radius` away; beyond the ends is zero.
fn box_blur(map: &mut [f32], start: usize, stride: usize, radius: usize) {
    let line: [f32; SIDE] = std::array::from_fn(|i| map[start + i * stride]);
    let mut sum: f32 = line[..radius.min(SIDE)].iter().sum();
    for i in 0..SIDE {
        sum += line.get(i + radius).copied().unwrap_or(0.0);
        map[start + i * stride] = sum.max(0.0) / (2 * radius + 1) as f32;
        if i >= radius {
            sum -= line[i - radius];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Surface;

    const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn plate(height: f32) -> [Vec3; 4] {
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, z]| Vec3::new(x, height, z))
    }

    fn darkness_under(height: f32, x: f64) -> f32 {
        let positions = plate(height);
        let scene = Scene {
            surfaces: vec![Surface::new(&positions, &[], &SQUARE)],
            ..Scene::default()
        };
        let ground = Ground {
            height: Some(0.0),
            strength: 1.0,
            ..Ground::default()
        };
        let shadow = Shadow::new(&scene, ground).expect("a plate casts a shadow");
        shadow.darkness(DVec3::new(x, 5.0, 0.0), DVec3::NEG_Y)
    }

    #[test]
    fn low_things_cast_darker_shadows_than_high_ones() {
        let under = [0.01, 0.2, 0.8, 5.0].map(|height| darkness_under(height, 0.0));
        assert!(under[0] > 0.55, "a plate on the floor: {under:?}");
        assert!(
            under.is_sorted_by(|a, b| a > b),
            "darkness falls with height: {under:?}"
        );
        assert_eq!(under[3], 0.0, "far above the floor there is none");
    }

    #[test]
    fn the_shadow_is_soft_and_ends() {
        let across = [0.0, 1.0, 1.15, 1.7].map(|x| darkness_under(0.2, x));
        assert!(
            across[0] > across[1] && across[1] > across[2] && across[2] > 0.0,
            "{across:?}"
        );
        assert!(across[3] < 0.01, "{across:?}");
    }

    #[test]
    fn rays_that_miss_the_floor_and_empty_scenes_see_no_shadow() {
        let positions = plate(0.0);
        let scene = Scene {
            surfaces: vec![Surface::new(&positions, &[], &SQUARE)],
            ..Scene::default()
        };
        let shadow = Shadow::new(&scene, Ground::default()).expect("a plate casts a shadow");
        assert_eq!(shadow.darkness(DVec3::Y, DVec3::Y), 0.0, "looking up");
        assert_eq!(shadow.darkness(DVec3::Y, DVec3::X), 0.0, "looking along");
        assert!(
            Shadow::new(&Scene::default(), Ground::default()).is_none(),
            "nothing there"
        );
    }
}
