//! Whether the triangles of an atlas overlap: an exact test.

use dermis::param::Atlas;
use glam::DVec2;
use robust::{Coord, orient2d};

/// Twice the area of a triangle, with the exact sign.
pub(crate) fn side(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    orient2d(coord(a), coord(b), coord(c))
}

/// Whether the insides of two triangles that are anticlockwise have a point in common: no edge separates them.
fn overlap(s: [DVec2; 3], t: [DVec2; 3]) -> bool {
    let separates = |s: [DVec2; 3], t: [DVec2; 3]| {
        (0..3).any(|k| t.iter().all(|&p| side(s[k], s[(k + 1) % 3], p) <= 0.0))
    };
    !separates(s, t) && !separates(t, s)
}

/// P6: every triangle is anticlockwise, and no two overlap; an exact test of all pairs that share a cell of a grid.
pub(crate) fn assert_no_overlap(atlas: &Atlas, triangles: &[[u32; 3]], name: &str) {
    let is_line = |[a, b, c]: [u32; 3]| a == b || b == c || c == a;
    let placed: Vec<[DVec2; 3]> = (atlas.triangles.iter().zip(triangles))
        .filter(|(_, given)| !is_line(**given))
        .map(|(corners, _)| corners.map(|vertex| atlas.uvs[vertex as usize]))
        .collect();
    let cells = ((placed.len() as f64).sqrt().ceil() as usize).max(1);
    let mut grid = vec![Vec::new(); cells * cells];
    for (t, corners) in placed.iter().enumerate() {
        assert!(
            side(corners[0], corners[1], corners[2]) > 0.0,
            "{name}: triangle {t} is flipped"
        );
        let cell = |x: f64| ((x * cells as f64) as usize).min(cells - 1);
        let [low, high] = [f64::min, f64::max].map(|pick| {
            let x = corners
                .iter()
                .map(|p| p.x)
                .reduce(pick)
                .expect("three corners");
            let y = corners
                .iter()
                .map(|p| p.y)
                .reduce(pick)
                .expect("three corners");
            assert!(
                (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y),
                "{name}: outside"
            );
            [cell(x), cell(y)]
        });
        for y in low[1]..=high[1] {
            for x in low[0]..=high[0] {
                grid[y * cells + x].push(t);
            }
        }
    }
    for cell in &grid {
        for (i, &s) in cell.iter().enumerate() {
            for &t in &cell[i + 1..] {
                assert!(
                    !overlap(placed[s], placed[t]),
                    "{name}: triangles {s} and {t} overlap"
                );
            }
        }
    }
}
