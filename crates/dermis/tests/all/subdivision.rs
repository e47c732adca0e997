//! Subdivision checked against known facts: masks, limits, borders, creases, topology.

use std::f64::consts::TAU;

use dermis::subdiv::{
    AttributeRule, Cage, Corners, QuadOptions, Scheme, Stencil, Subdivision, SubdivisionError,
    SubdivisionOptions, pair_triangles, subdivide, subdivide_corners,
};
use dermis::{Rows, TriMesh};
use glam::{DVec2, DVec3};
use proptest::prelude::*;

fn cage(point_count: usize, faces: &[Vec<u32>]) -> Cage {
    Cage::new(point_count, faces.iter().cloned().collect()).expect("sound faces")
}

fn options(scheme: Scheme, levels: usize) -> SubdivisionOptions {
    SubdivisionOptions {
        scheme,
        levels,
        ..SubdivisionOptions::default()
    }
}

fn at_limit(options: SubdivisionOptions) -> SubdivisionOptions {
    SubdivisionOptions {
        limit: true,
        ..options
    }
}

fn weight(stencil: &Stencil, row: usize, point: u32) -> f64 {
    let terms = stencil.rows().row(row).iter();
    terms.filter(|t| t.point == point).map(|t| t.weight).sum()
}

/// A closed ring of n triangles about point 0, and of as many around those, so that 0 and its edges are
/// inside: point 1 + k is at angle k of the first ring, 1 + n + k of the second.
fn wheel(n: u32) -> Vec<Vec<u32>> {
    let inner = |k: u32| 1 + k % n;
    let outer = |k: u32| 1 + n + k % n;
    (0..n)
        .flat_map(|k| {
            [
                vec![0, inner(k), inner(k + 1)],
                vec![inner(k), outer(k), outer(k + 1)],
                vec![inner(k), outer(k + 1), inner(k + 1)],
            ]
        })
        .collect()
}

/// n quads about point 0: 1 + k along edges, 1 + n + k opposite; with a second ring of quads around.
fn quad_wheel(n: u32) -> Vec<Vec<u32>> {
    let rim = |ring: u32, k: u32| 1 + 2 * n * ring + k % (2 * n);
    let inner = (0..n).map(|k| vec![0, rim(0, 2 * k), rim(0, 2 * k + 1), rim(0, 2 * k + 2)]);
    let outer = (0..2 * n).map(|k| vec![rim(0, k), rim(1, k), rim(1, k + 1), rim(0, k + 1)]);
    inner.chain(outer).collect()
}

fn points(count: usize) -> Vec<DVec3> {
    // All points differ, and no three are on a line.
    let at = |i: usize| (i as f64 * 0.754_877).fract();
    (0..count)
        .map(|i| DVec3::new(at(i), at(i * i + 1), at(3 * i + i * i * i)))
        .collect()
}

#[test]
fn inner_edges_and_points_of_a_triangle_mesh_have_loops_weights() {
    for n in [3, 4, 5, 6, 7, 12] {
        let cage = cage(1 + 2 * n as usize, &wheel(n));
        let fine = subdivide(&cage, &options(Scheme::Loop, 1)).expect("triangles");
        let stencil = &fine.stencils()[0];
        let c = 3.0 + 2.0 * (TAU / f64::from(n)).cos();
        let around = (40.0 - c * c) / 64.0;
        assert!(
            (weight(stencil, 0, 0) - (1.0 - around)).abs() < 1e-15,
            "the middle of {n}"
        );
        for k in 1..=n {
            let each = around / f64::from(n);
            assert!(
                (weight(stencil, 0, k) - each).abs() < 1e-15,
                "neighbour {k} of {n}"
            );
        }
        // Edge 0 runs from 0 to 1: 3/8 of its ends, 1/8 of the corners beside it.
        let row = cage.point_count();
        for (point, expected) in [(0, 0.375), (1, 0.375), (2, 0.125), (n, 0.125)] {
            assert_eq!(
                weight(stencil, row, point),
                expected,
                "point {point} of {n}"
            );
        }
    }
    let six = cage(13, &wheel(6));
    let fine = subdivide(&six, &options(Scheme::Loop, 1)).expect("triangles");
    assert_eq!(
        weight(&fine.stencils()[0], 0, 1),
        1.0 / 16.0,
        "a regular point"
    );
}

#[test]
fn inner_quads_have_bicubic_spline_weights_and_irregular_points_those_of_the_paper() {
    for n in [3, 4, 5, 8] {
        let count = 1 + 4 * n as usize;
        let cage = cage(count, &quad_wheel(n));
        let fine = subdivide(&cage, &options(Scheme::CatmullClark, 1)).expect("quads");
        let stencil = &fine.stencils()[0];
        // Q/n + 2R/n + (n-3) S/n, with Q the mean of face points and R that of edges' middles.
        let n = f64::from(n);
        let (along, across) = ((0.25 * 2.0 + 1.0) / (n * n), 0.25 / (n * n));
        let own = 0.25 / n + 1.0 / n + (n - 3.0) / n;
        for (point, expected) in [(0, own), (1, along), (2, across), (3, along)] {
            let found = weight(stencil, 0, point);
            assert!(
                (found - expected).abs() < 1e-15,
                "point {point} of {n}: {found} {expected}"
            );
        }
        let edge = count;
        for (point, expected) in [(0, 0.375), (1, 0.375), (2, 0.0625), (3, 0.0625)] {
            assert_eq!(
                weight(stencil, edge, point),
                expected,
                "edge 0-1, point {point} of {n}"
            );
        }
        let face = count + cage.edges().len();
        for point in 0..4 {
            assert_eq!(weight(stencil, face, point), 0.25, "the first face of {n}");
        }
    }
    let regular = cage(17, &quad_wheel(4));
    let fine = subdivide(&regular, &options(Scheme::CatmullClark, 1)).expect("quads");
    let row: Vec<f64> = (0..4).map(|p| weight(&fine.stencils()[0], 0, p)).collect();
    assert_eq!(
        row,
        [9.0 / 16.0, 3.0 / 32.0, 1.0 / 64.0, 3.0 / 32.0],
        "bicubic splines"
    );
}

#[test]
fn borders_are_cubic_splines_and_corners_of_one_face_are_held_or_rounded_by_option() {
    // 3 - 4 - 5
    // |   |   |
    // 0 - 1 - 2
    let two = cage(6, &[vec![0, 1, 4, 3], vec![1, 2, 5, 4]]);
    let mut asked = options(Scheme::CatmullClark, 1);
    let sharp = subdivide(&two, &asked).expect("quads");
    asked.corners = Corners::Smooth;
    let smooth = subdivide(&two, &asked).expect("quads");
    for fine in [&sharp, &smooth] {
        let row: Vec<f64> = (0..6).map(|p| weight(&fine.stencils()[0], 1, p)).collect();
        assert_eq!(
            row,
            [0.125, 0.75, 0.125, 0.0, 0.0, 0.0],
            "along the border only"
        );
    }
    assert_eq!(weight(&sharp.stencils()[0], 0, 0), 1.0, "a corner stays");
    assert_eq!(weight(&smooth.stencils()[0], 0, 0), 0.75, "or is rounded");
}

/// For both schemes and all masks, many levels converge to the point that the limit mask gives.
#[test]
fn many_levels_converge_to_the_limit_mask() {
    let mut cases = Vec::new();
    for n in [3, 4, 5, 6, 9] {
        let (loops, quads) = (wheel(n), quad_wheel(n));
        cases.push((Scheme::Loop, cage(1 + 2 * n as usize, &loops)));
        cases.push((Scheme::CatmullClark, cage(1 + 4 * n as usize, &quads)));
        // A crease that ends in the middle, and one that runs through.
        for ends in [vec![1], vec![1, if n > 4 { 5 } else { 3 }]] {
            let creased = |faces: &[Vec<u32>], count: usize| {
                let mut cage = cage(count, faces);
                for &end in &ends {
                    let _ = cage.set_sharpness(0, end, f64::INFINITY);
                }
                cage
            };
            cases.push((Scheme::Loop, creased(&loops, 1 + 2 * n as usize)));
            cases.push((Scheme::CatmullClark, creased(&quads, 1 + 4 * n as usize)));
        }
    }
    for (number, (scheme, cage)) in cases.iter().enumerate() {
        let points = points(cage.point_count());
        let early = subdivide(cage, &at_limit(options(*scheme, 1))).expect("small");
        let late = subdivide(cage, &options(*scheme, 6)).expect("small");
        let limit = early.apply(&points);
        let far = late.apply(&points);
        // Points keep their numbers. The remaining distance shrinks by the second eigenvalue, at most 2/3, with each
        // level.
        for (i, limit) in limit.iter().enumerate() {
            let left = limit.distance(far[i]);
            assert!(
                left < 0.05,
                "case {number} ({scheme:?}), point {i} is {left} away"
            );
        }
        let later = subdivide(cage, &at_limit(options(*scheme, 6)))
            .expect("small")
            .apply(&points);
        for (i, limit) in limit.iter().enumerate() {
            let apart = limit.distance(later[i]);
            assert!(
                apart < 1e-12,
                "case {number} ({scheme:?}), point {i}: the limit does not depend on the level, {apart}"
            );
        }
    }
}

/// An octahedron, closed, with a crease around its middle.
fn octahedron(sharpness: f64) -> (Cage, Vec<DVec3>) {
    let mut faces = Vec::new();
    for k in 0..4 {
        let (a, b) = (k, (k + 1) % 4);
        faces.extend([vec![a, b, 4], vec![b, a, 5]]);
    }
    let mut cage = cage(6, &faces);
    for k in 0..4 {
        cage.set_sharpness(k, (k + 1) % 4, sharpness)
            .expect("an edge");
    }
    let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
    (cage, vec![x, y, -x, -y, z, -z])
}

#[test]
fn sharpness_is_the_number_of_creased_levels() {
    for scheme in [Scheme::Loop, Scheme::CatmullClark] {
        let shape = |sharpness: f64| {
            let (cage, points) = octahedron(sharpness);
            subdivide(&cage, &options(scheme, 2))
                .expect("small")
                .apply(&points)
        };
        let smooth = {
            let faces = octahedron(0.0)
                .0
                .faces()
                .iter()
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>();
            let plain = cage(6, &faces);
            let fine = subdivide(&plain, &options(scheme, 2)).expect("small");
            fine.apply(&octahedron(0.0).1)
        };
        assert_eq!(shape(0.0), smooth, "0 is no crease");
        assert_eq!(
            shape(2.0),
            shape(f64::INFINITY),
            "a sharpness of all levels equals infinity"
        );
        assert_ne!(shape(1.0), shape(2.0), "a lower sharpness differs");
        // A sharpness half-way between two others gives a shape half-way between theirs only at the first level, but
        // never a jump.
        let (a, b) = (shape(0.999_999), shape(1.000_001));
        let jump = a
            .iter()
            .zip(&b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(jump < 1e-5, "{scheme:?}: no jump at sharpness 1: {jump}");
        let (a, b) = (shape(1e-9), shape(0.0));
        let jump = a
            .iter()
            .zip(&b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(jump < 1e-8, "{scheme:?}: no jump at sharpness 0: {jump}");
    }
}

#[test]
fn the_curve_of_a_crease_depends_only_on_its_own_points() {
    for scheme in [Scheme::Loop, Scheme::CatmullClark] {
        let (cage, mut points) = octahedron(f64::INFINITY);
        let fine = subdivide(&cage, &options(scheme, 3)).expect("small");
        let curve = |points: &[DVec3]| {
            let fine = fine.apply(points);
            let near: Vec<DVec3> = fine.into_iter().filter(|p| p.z == 0.0).collect();
            near
        };
        let before = curve(&points);
        assert_eq!(before.len(), 4 * 8, "{scheme:?}: the ring of four edges");
        points[4] = DVec3::new(3.0, 1.0, 9.0);
        assert_eq!(
            curve(&points),
            before,
            "{scheme:?}: points off the crease have no effect on it"
        );
    }
}

fn icosahedron() -> (Cage, Vec<DVec3>) {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let mut points = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        points.extend([
            DVec3::new(0.0, a, b),
            DVec3::new(a, b, 0.0),
            DVec3::new(b, 0.0, a),
        ]);
    }
    let near = |a: usize, b: usize| points[a].distance_squared(points[b]) < 4.1;
    let mut faces = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let up = (points[b] - points[a]).cross(points[c] - points[a]);
                    let (a, b, c) = (a as u32, b as u32, c as u32);
                    let out = up.dot(points[a as usize]) > 0.0;
                    faces.push(if out { vec![a, b, c] } else { vec![a, c, b] });
                }
            }
        }
    }
    (cage(12, &faces), points)
}

#[test]
fn an_icosahedron_becomes_nearly_a_ball_and_stays_closed() {
    let (cage, points) = icosahedron();
    assert_eq!(cage.faces().len(), 20, "twenty faces");
    for scheme in [Scheme::Loop, Scheme::CatmullClark] {
        let fine = subdivide(&cage, &at_limit(options(scheme, 3))).expect("small");
        let finest = fine.finest();
        let euler =
            finest.point_count() as i64 - finest.edges().len() as i64 + finest.faces().len() as i64;
        assert_eq!(euler, 2, "{scheme:?}: points - edges + faces of a ball");
        assert!(
            finest.edges().iter().all(|e| !e.is_border()),
            "{scheme:?}: no border"
        );
        let radii: Vec<f64> = fine.apply(&points).iter().map(|p| p.length()).collect();
        let (low, high) = radii
            .iter()
            .fold((f64::MAX, 0f64), |(l, h), &r| (l.min(r), h.max(r)));
        let before = 1.0 - 0.794_654; // Of the icosahedron itself: inner to outer radius.
        assert!(
            1.0 - low / high < before / 4.0,
            "{scheme:?}: radii from {low} to {high}"
        );
    }
}

fn soup() -> impl Strategy<Value = (Cage, Scheme)> {
    let corner = prop::sample::subsequence((0..9u32).collect::<Vec<_>>(), 3..=5).prop_shuffle();
    let faces = prop::collection::vec(corner, 0..14);
    let creases = prop::collection::vec((0..60usize, 0.0..3.0f64), 0..6);
    (faces, creases, any::<bool>()).prop_map(|(mut faces, creases, loops)| {
        if loops {
            faces.iter_mut().for_each(|face| face.truncate(3));
        }
        let mut cage = cage(9, &faces);
        for (number, sharpness) in creases {
            if let Some(edge) = cage.edges().get(number) {
                let [a, b] = edge.points;
                cage.set_sharpness(a, b, sharpness).expect("it was found");
            }
        }
        (
            cage,
            if loops {
                Scheme::Loop
            } else {
                Scheme::CatmullClark
            },
        )
    })
}

proptest! {
    /// Arbitrary faces: edges of three faces, points where pieces touch, points without faces.
    #[test]
    fn weights_are_never_negative_and_sum_to_one((cage, scheme) in soup(), limit in any::<bool>()) {
        let asked = SubdivisionOptions { limit, ..options(scheme, 2) };
        let fine = subdivide(&cage, &asked).expect("small");
        for stencil in fine.stencils() {
            for row in stencil.rows().iter() {
                prop_assert!(row.iter().all(|t| t.weight > 0.0), "{row:?}");
                let sum: f64 = row.iter().map(|t| t.weight).sum();
                prop_assert!((sum - 1.0).abs() < 1e-14, "{row:?} sums to {sum}");
                prop_assert!(row.windows(2).all(|t| t[0].point < t[1].point), "each once: {row:?}");
            }
        }
        prop_assert_eq!(fine.face_origins().len(), fine.finest().faces().len());
        prop_assert_eq!(
            dermis::subdiv::triangles_after(&cage, scheme, 2),
            fine.finest().triangle_count() as u64
        );
    }

    /// Rows sum to 1, so an affine motion of the mesh gives the same motion of the result.
    #[test]
    fn subdividing_and_affine_motions_commute((cage, scheme) in soup(), m in any::<[i8; 12]>()) {
        let m = m.map(|x| f64::from(x) / 64.0);
        let motion = glam::DAffine3::from_cols_array(&m);
        let points = points(9);
        let moved: Vec<DVec3> = points.iter().map(|p| motion.transform_point3(*p)).collect();
        let fine = subdivide(&cage, &options(scheme, 2)).expect("small");
        for (a, b) in fine.apply(&points).iter().zip(fine.apply(&moved)) {
            prop_assert!(motion.transform_point3(*a).distance(b) < 1e-13);
        }
    }

    /// Without seams, values equal to the points are subdivided as the points are.
    #[test]
    fn values_without_seams_are_subdivided_like_points((cage, scheme) in soup(), limit in any::<bool>()) {
        let asked = SubdivisionOptions { limit, ..options(scheme, 2) };
        let fine = subdivide(&cage, &asked).expect("small");
        let of_corner = cage.faces().items().to_vec();
        let values = subdivide_corners(&fine, &of_corner, AttributeRule::Smooth).expect("one each");
        let points = points(9);
        let (shown, of_values) = (fine.apply(&points), values.apply(&points));
        // Where a border and a crease meet, values are held and points are not. Two triangles back to back
        // have no border, but their children do: the edges within them have four faces.
        let sound = |cage: &Cage| {
            let (borders, inner): (Vec<&_>, Vec<&_>) = cage.edges().iter().partition(|e| e.is_border());
            let crowded = borders.iter().any(|e| e.face_count > 1);
            !crowded && (borders.is_empty() || inner.iter().all(|e| e.sharpness == 0.0))
        };
        prop_assume!(fine.cages().iter().all(sound));
        for (corner, &point) in fine.finest().faces().items().iter().enumerate() {
            let value = of_values[values.value_of_corner()[corner] as usize];
            prop_assert!(shown[point as usize].distance(value) < 1e-13, "corner {corner}");
        }
    }
}

/// A tube of quads with one seam along it: around the tube, UVs go from 0 to 1 and meet at the seam.
fn tube_with_seam(around: u32, rings: u32) -> (Cage, Vec<DVec2>, Vec<u32>) {
    let mut faces = Vec::new();
    let mut of_corner = Vec::new();
    let uv = |k: u32, ring: u32| ring * (around + 1) + k;
    for ring in 0..rings - 1 {
        for k in 0..around {
            let point = |k: u32, ring: u32| ring * around + k % around;
            faces.push(vec![
                point(k, ring),
                point(k + 1, ring),
                point(k + 1, ring + 1),
                point(k, ring + 1),
            ]);
            of_corner.extend([
                uv(k, ring),
                uv(k + 1, ring),
                uv(k + 1, ring + 1),
                uv(k, ring + 1),
            ]);
        }
    }
    let uvs = (0..rings * (around + 1)).map(|i| {
        let (k, ring) = (i % (around + 1), i / (around + 1));
        // Uneven rings, so that smooth and linear differ.
        DVec2::new(f64::from(k) / f64::from(around), f64::from(ring * ring))
    });
    (
        cage((around * rings) as usize, &faces),
        uvs.collect(),
        of_corner,
    )
}

#[test]
fn values_on_both_sides_of_a_seam_stay_together() {
    let (cage, uvs, of_corner) = tube_with_seam(5, 4);
    for limit in [false, true] {
        for rule in [AttributeRule::Smooth, AttributeRule::Linear] {
            let asked = SubdivisionOptions {
                limit,
                ..options(Scheme::CatmullClark, 3)
            };
            let fine = subdivide(&cage, &asked).expect("small");
            let values = subdivide_corners(&fine, &of_corner, rule).expect("one each");
            let fine_uvs = values.apply(&uvs);
            let mut of_point: Vec<Vec<DVec2>> = vec![Vec::new(); fine.finest().point_count()];
            for (corner, &point) in fine.finest().faces().items().iter().enumerate() {
                let uv = fine_uvs[values.value_of_corner()[corner] as usize];
                let seen = &mut of_point[point as usize];
                if !seen.contains(&uv) {
                    seen.push(uv);
                }
            }
            let mut torn = 0;
            for uvs in &of_point {
                match uvs[..] {
                    [_] => {}
                    [a, b] => {
                        torn += 1;
                        assert!(
                            (a - b).abs().distance(DVec2::X) < 1e-12,
                            "one turn apart: {a} {b}"
                        );
                    }
                    _ => panic!("more than two values at a point: {uvs:?}"),
                }
            }
            assert_eq!(torn, 3 * 8 + 1, "only the seam is torn ({rule:?})");
            assert!(
                fine_uvs
                    .iter()
                    .all(|uv| (-1e-12..=1.0 + 1e-12).contains(&uv.x)),
                "all values stay within the texture ({rule:?})"
            );
        }
    }
}

#[test]
fn quads_are_recovered_from_their_triangles() {
    // A grid of 3 by 3 quads, cut along changing diagonals, with a slope.
    let mut positions = Vec::new();
    for y in 0..4 {
        for x in 0..4 {
            positions.push(DVec3::new(
                f64::from(x),
                0.8 * f64::from(y),
                0.05 * f64::from(x * y),
            ));
        }
    }
    let mut triangles = Vec::new();
    for y in 0..3u32 {
        for x in 0..3u32 {
            let [a, b, c, d] = [4 * y + x, 4 * y + x + 1, 4 * y + x + 5, 4 * y + x + 4];
            match (x + y) % 2 {
                0 => triangles.extend([[a, b, c], [a, c, d]]),
                _ => triangles.extend([[a, b, d], [b, c, d]]),
            }
        }
    }
    let mesh = TriMesh::new(positions.clone(), triangles).expect("a grid");
    let cage = Cage::from_mesh(&mesh);
    let joined = pair_triangles(&cage, &positions, &QuadOptions::default(), |_, _| true);
    let joined = joined.expect("as many positions as points");
    assert_eq!(joined.len(), 9, "every quad");
    for (quad, corners) in joined.iter().enumerate() {
        let mut points: Vec<u32> = corners
            .iter()
            .map(|&c| cage.faces().items()[c as usize])
            .collect();
        points.sort_unstable();
        let a = 4 * (quad as u32 / 3) + quad as u32 % 3;
        assert_eq!(
            points,
            [a, a + 1, a + 4, a + 5],
            "quad {quad}, in file order"
        );
    }
    let apart = pair_triangles(&cage, &positions, &QuadOptions::default(), |_, _| false);
    assert_eq!(
        apart.expect("valid").len(),
        18,
        "none where none may be joined"
    );
}

#[test]
fn edges_above_an_angle_become_creases() {
    let (cube, points) = {
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let at = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
        (
            cage(8, &quads.map(|q| q.to_vec())),
            (0..8).map(at).collect::<Vec<_>>(),
        )
    };
    let creases = |degrees: f64| {
        let mut cube = cube.clone();
        let count = cube.crease_above(&points, f64::to_radians(degrees), f64::INFINITY);
        (count.expect("eight points"), cube)
    };
    assert_eq!(creases(91.0).0, 0, "no edge is sharper than 90 degrees");
    let (count, sharp) = creases(89.0);
    assert_eq!(count, 12, "every edge is");
    let fine = subdivide(&sharp, &options(Scheme::CatmullClark, 2))
        .expect("small")
        .apply(&points);
    let on_cube = |p: &DVec3| p.to_array().iter().any(|&x| x == 0.0 || x == 1.0);
    assert!(
        fine.iter().all(on_cube),
        "a cube all of whose edges are sharp stays a cube"
    );
}

#[test]
fn invalid_subdivisions_are_refused_before_memory_is_allocated() {
    let (cage, _) = icosahedron();
    let refused =
        |cage: &Cage, scheme, levels| subdivide(cage, &options(scheme, levels)).expect_err("bad");
    assert_eq!(
        refused(&cage, Scheme::Loop, 0),
        SubdivisionError::NoLevels,
        "none"
    );
    for levels in [12, 40, usize::MAX] {
        let error = refused(&cage, Scheme::Loop, levels);
        assert!(
            matches!(error, SubdivisionError::TooLarge { .. }),
            "{error}"
        );
    }
    let quad = Cage::new(4, [[0u32, 1, 2, 3]].into_iter().collect::<Rows<u32>>()).expect("a quad");
    let error = refused(&quad, Scheme::Loop, 1);
    assert_eq!(
        error,
        SubdivisionError::NotTriangles {
            face: 0,
            corners: 4
        },
        "named"
    );
    for bad in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 9], vec![0, 1, 2, 0]] {
        let faces = [vec![0, 1, 2], bad.clone()].into_iter().collect();
        let error = Cage::new(4, faces).expect_err("bad corners");
        let expected = SubdivisionError::BadFace {
            face: 1,
            corners: bad,
            point_count: 4,
        };
        assert_eq!(error, expected, "by face");
    }
    let mut sound = quad;
    for sharpness in [-1.0, f64::NAN] {
        assert!(sound.set_sharpness(0, 1, sharpness).is_err(), "{sharpness}");
    }
    let error = sound.set_sharpness(0, 2, 1.0).expect_err("a diagonal");
    assert_eq!(error, SubdivisionError::NoSuchEdge { a: 0, b: 2 }, "named");
}

#[test]
fn one_thread_and_four_give_the_same_bits() {
    let (cage, points) = icosahedron();
    let run = |threads: usize| -> (Subdivision, Vec<DVec3>) {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            let fine = subdivide(&cage, &at_limit(options(Scheme::Loop, 5))).expect("small");
            let points = fine.apply(&points);
            (fine, points)
        })
    };
    assert_eq!(run(1), run(4), "no sum depends on threads");
}
