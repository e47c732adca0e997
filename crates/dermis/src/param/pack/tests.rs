//! Charts of many shapes, packed, and checked by brute force.

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use super::atlas::Packed;
use super::{FlatChart, PackError, PackOptions, Rotations, pack};

/// A linear congruential generator.
struct Lcg(u64);

impl Lcg {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }

    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// A smooth star-shaped chart: `rings` rings of `count` vertices around a middle one.
fn blob(rng: &mut Lcg, size: f64, count: usize, rings: usize) -> FlatChart {
    let waves: Vec<[f64; 3]> = (2_i32..6)
        .map(f64::from)
        .map(|k| [k, rng.range(0.0, TAU), 0.35 * rng.unit() / (k - 0.5)])
        .collect();
    let stretch = rng.range(1.0, 2.2).sqrt();
    let turn = DVec2::from_angle(rng.range(0.0, TAU));
    let mut uvs = vec![DVec2::ZERO];
    for ring in 1..=rings {
        for i in 0..count {
            let t = i as f64 / count as f64 * TAU;
            let radius = 1.0
                + waves
                    .iter()
                    .map(|[k, phase, height]| height * (k * t + phase).cos())
                    .sum::<f64>();
            let point = DVec2::from_angle(t) * size * radius.max(0.15) * ring as f64 / rings as f64;
            uvs.push(turn.rotate(point * DVec2::new(stretch, 1.0 / stretch)));
        }
    }
    let id = |ring: usize, i: usize| {
        if ring == 0 {
            0
        } else {
            (1 + (ring - 1) * count + i % count) as u32
        }
    };
    let mut triangles = Vec::new();
    for ring in 0..rings {
        for i in 0..count {
            if ring > 0 {
                triangles.push([id(ring, i), id(ring + 1, i), id(ring, i + 1)]);
            }
            triangles.push([id(ring + 1, i), id(ring + 1, i + 1), id(ring, i + 1)]);
        }
    }
    FlatChart { uvs, triangles }
}

/// A band along a line, of a width that changes along it.
fn band(line: &[DVec2], width: impl Fn(f64) -> f64) -> FlatChart {
    const ROWS: usize = 4;
    let last = line.len() - 1;
    let mut uvs = Vec::new();
    for i in 0..=last {
        let along = (line[(i + 1).min(last)] - line[i.max(1) - 1]).normalize();
        for j in 0..=ROWS {
            uvs.push(
                line[i]
                    + along.perp() * width(i as f64 / last as f64) * (j as f64 / ROWS as f64 - 0.5),
            );
        }
    }
    let id = |i: usize, j: usize| (i * (ROWS + 1) + j) as u32;
    let mut triangles = Vec::new();
    for i in 0..last {
        for j in 0..ROWS {
            triangles.push([id(i, j), id(i + 1, j), id(i + 1, j + 1)]);
            triangles.push([id(i, j), id(i + 1, j + 1), id(i, j + 1)]);
        }
    }
    FlatChart { uvs, triangles }
}

/// An unrolled limb: a strip with bulges.
fn strip(rng: &mut Lcg, size: f64, detail: usize) -> FlatChart {
    let length = size * rng.range(1.5, 4.0);
    let (bulge, waves, phase) = (
        rng.range(0.0, 0.4),
        rng.range(3.0, 12.0),
        rng.range(0.0, TAU),
    );
    let turn = DVec2::from_angle(rng.range(0.0, TAU));
    let line: Vec<DVec2> = (0..detail)
        .map(|i| turn * (length * i as f64 / (detail - 1) as f64))
        .collect();
    band(&line, |t| size * (1.0 + bulge * (waves * t + phase).sin()))
}

fn crescent(rng: &mut Lcg, size: f64, detail: usize) -> FlatChart {
    let (span, from) = (rng.range(1.0, 4.0), rng.range(0.0, TAU));
    let (radius, width) = (size * rng.range(1.0, 1.8), size * rng.range(0.5, 0.9));
    let at = |i: usize| DVec2::from_angle(from + span * i as f64 / (detail - 1) as f64) * radius;
    let line: Vec<DVec2> = (0..detail).map(at).collect();
    band(&line, |t| width * (0.3 + (PI * t).sin()))
}

fn ell(rng: &mut Lcg, size: f64) -> FlatChart {
    let [a, b] = [0; 2].map(|_| size * rng.range(1.0, 2.0));
    let [w, v] = [0; 2].map(|_| size * rng.range(0.4, 0.8));
    let turn = DVec2::from_angle(rng.range(0.0, TAU));
    let corners = [(0., 0.), (a, 0.), (a, w), (v, w), (v, b), (0., b)];
    let uvs = corners.map(|(x, y)| turn.rotate(DVec2::new(x, y))).to_vec();
    FlatChart {
        uvs,
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]],
    }
}

/// Blobs, strips, crescents and L shapes whose sizes differ by up to `e` to the power of twice `spread`.
fn mixed(seed: u64, count: usize, spread: f64, detail: usize) -> Vec<FlatChart> {
    let mut rng = Lcg(seed);
    let mut chart = |i: usize| {
        let size = rng.range(-spread, spread).exp();
        match i % 5 {
            0 | 1 => blob(&mut rng, size, detail, 4),
            2 => strip(&mut rng, size, detail),
            3 => crescent(&mut rng, size, detail),
            _ => ell(&mut rng, size),
        }
    };
    (0..count).map(&mut chart).collect()
}

fn blobs(seed: u64, count: usize, detail: usize) -> Vec<FlatChart> {
    let mut rng = Lcg(seed);
    let mut chart = |_| {
        let size = rng.range(-0.7, 0.7).exp();
        blob(&mut rng, size, detail, 4)
    };
    (0..count).map(&mut chart).collect()
}

fn packed(charts: &[FlatChart], options: &PackOptions) -> Packed {
    match pack(charts, options) {
        Ok(packed) => packed,
        Err(error) => panic!("{} charts were refused: {error}", charts.len()),
    }
}

fn point_distance(p: DVec2, [a, b]: [DVec2; 2]) -> f64 {
    let along = b - a;
    let t = if along == DVec2::ZERO {
        0.0
    } else {
        ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0)
    };
    p.distance(a + along * t)
}

fn segment_distance(s: [DVec2; 2], t: [DVec2; 2]) -> f64 {
    let side = |[a, b]: [DVec2; 2], p: DVec2| (b - a).perp_dot(p - a);
    if side(s, t[0]) * side(s, t[1]) < 0.0 && side(t, s[0]) * side(t, s[1]) < 0.0 {
        return 0.0;
    }
    let ends = [
        point_distance(s[0], t),
        point_distance(s[1], t),
        point_distance(t[0], s),
        point_distance(t[1], s),
    ];
    ends.into_iter().fold(f64::INFINITY, f64::min)
}

/// All edges of a chart and its bounding box, in texels.
fn edges_in_texels(chart: &FlatChart, uvs: &[DVec2], size: u32) -> (Vec<[DVec2; 2]>, [DVec2; 2]) {
    let texels: Vec<DVec2> = uvs.iter().map(|&u| u * f64::from(size)).collect();
    let mut edges: Vec<[u32; 2]> = chart
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .collect();
    edges.extend((0..texels.len() as u32).map(|v| [v, v]));
    edges.iter_mut().for_each(|e| e.sort_unstable());
    edges.sort_unstable();
    edges.dedup();
    let low = texels.iter().copied().fold(DVec2::INFINITY, DVec2::min);
    let high = texels.iter().copied().fold(DVec2::NEG_INFINITY, DVec2::max);
    (
        edges
            .iter()
            .map(|e| e.map(|v| texels[v as usize]))
            .collect(),
        [low, high],
    )
}

fn holds(chart: &FlatChart, uvs: &[DVec2], point: DVec2) -> bool {
    chart.triangles.iter().any(|t| {
        let [a, b, c] = t.map(|v| uvs[v as usize]);
        let sides = [
            (b - a).perp_dot(point - a),
            (c - b).perp_dot(point - b),
            (a - c).perp_dot(point - c),
        ];
        sides.iter().all(|&s| s > 0.0) || sides.iter().all(|&s| s < 0.0)
    })
}

/// Holds a result to all that is promised, by comparing every edge of every chart with those of all others.
fn check(charts: &[FlatChart], options: &PackOptions, packed: &Packed) {
    let padding = f64::from(options.padding);
    let drawn: Vec<_> = charts
        .iter()
        .zip(&packed.uvs)
        .map(|(c, uvs)| edges_in_texels(c, uvs, options.size))
        .collect();
    let mut area = 0.0;
    for (i, chart) in charts.iter().enumerate() {
        let (edges, [low, high]) = &drawn[i];
        let room = low.min(f64::from(options.size) - *high).min_element();
        assert!(
            chart.uvs.is_empty() || room >= 0.5 * padding,
            "chart {i} is {room} texels from the edge"
        );
        area += FlatChart {
            uvs: packed.uvs[i].clone(),
            triangles: chart.triangles.clone(),
        }
        .area();
        let placement = packed.placements[i];
        for (u, uv) in chart.uvs.iter().zip(&packed.uvs[i]) {
            let again =
                placement.offset + DVec2::from_angle(placement.angle).rotate(*u) * placement.scale;
            assert!(
                again.distance(*uv) < 1e-9,
                "the placement of chart {i} gives {again}, not {uv}"
            );
        }
        for [a, b, _] in chart.triangles.iter().map(|t| t.map(|v| v as usize)) {
            let before = chart.uvs[a].distance(chart.uvs[b]) * packed.scale;
            let after = packed.uvs[i][a].distance(packed.uvs[i][b]) * f64::from(options.size);
            assert!(
                (before - after).abs() < 1e-8,
                "an edge of chart {i} is {after} texels, not {before}"
            );
        }
        for (j, (others, [other_low, other_high])) in drawn.iter().enumerate().take(i) {
            let apart = (*low - *other_high).max(*other_low - *high).max_element();
            if apart >= padding {
                continue;
            }
            for &edge in edges {
                for &other in others {
                    let distance = segment_distance(edge, other);
                    assert!(
                        distance >= padding,
                        "charts {i} and {j} are {distance} texels apart, not {padding}"
                    );
                }
            }
            let inside = |a: usize, b: usize| holds(&charts[a], &packed.uvs[a], packed.uvs[b][0]);
            assert!(
                !inside(i, j) && !inside(j, i),
                "chart {i} and chart {j} lie on each other"
            );
        }
    }
    assert!(
        (area - packed.efficiency).abs() < 1e-9,
        "efficiency {} for an area of {area}",
        packed.efficiency
    );
}

/// The texels that a chart touches, found by clipping nothing: samples along all edges, close together.
fn touched_texels(chart: &FlatChart, uvs: &[DVec2], size: u32) -> Vec<[u32; 2]> {
    let (edges, _) = edges_in_texels(chart, uvs, size);
    let mut texels: Vec<[u32; 2]> = Vec::new();
    for [a, b] in edges {
        let steps = (20.0 * a.distance(b)).ceil().max(1.0) as usize;
        let at = |k: usize| a.lerp(b, k as f64 / steps as f64).floor();
        texels.extend((0..=steps).map(at).map(|p| [p.x as u32, p.y as u32]));
    }
    texels.sort_unstable();
    texels.dedup();
    texels
}

#[test]
fn charts_never_come_closer_than_the_padding() {
    let mut rng = Lcg(77);
    for round in 0..24_u64 {
        let count = 1 + (60.0 * rng.unit().powi(2)) as usize;
        let options = PackOptions {
            size: [64, 200, 512, 1000, 2048, 3000][round as usize % 6],
            padding: [0, 1, 2, 3, 4, 8][(round as usize / 2 + round as usize) % 6],
            rotations: [Rotations::Free, Rotations::Keep][round as usize % 2],
            scale: None,
        };
        let charts = mixed(round, count, rng.range(0.0, 1.5), 8);
        // 64 texels do not take 60 charts with a padding of 8.
        match pack(&charts, &options) {
            Ok(packed) => check(&charts, &options, &packed),
            Err(error) => assert!(
                matches!(error, PackError::TooManyCharts { least_size, .. } if least_size > u64::from(options.size)),
                "refused with {error}"
            ),
        }
    }
}

#[test]
fn no_texel_is_shared_without_padding() {
    let options = PackOptions {
        size: 300,
        padding: 0,
        ..Default::default()
    };
    let charts = mixed(5, 40, 1.0, 8);
    let packed = packed(&charts, &options);
    let mut all: Vec<[u32; 2]> = charts
        .iter()
        .zip(&packed.uvs)
        .flat_map(|(c, uvs)| touched_texels(c, uvs, 300))
        .collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "texels touched once and texels touched");
}

#[test]
fn organic_charts_fill_seven_tenths() {
    for (charts, name) in [
        (blobs(1, 20, 40), "20 blobs"),
        (mixed(6, 40, 0.8, 40), "40"),
        (mixed(2, 60, 0.8, 30), "60"),
    ] {
        let efficiency = packed(&charts, &PackOptions::default()).efficiency;
        assert!(efficiency > 0.74, "{name} charts fill {efficiency}");
    }
}

#[test]
fn the_same_charts_pack_the_same() {
    let charts = mixed(9, 30, 0.8, 10);
    let options = PackOptions::default();
    assert_eq!(
        packed(&charts, &options),
        packed(&charts, &options),
        "two runs"
    );
}

#[test]
fn charts_without_area_have_their_place() {
    let line = FlatChart {
        uvs: vec![DVec2::ZERO, DVec2::X, DVec2::new(3.0, 0.0)],
        triangles: vec![[0, 1, 2]],
    };
    let point = FlatChart {
        uvs: vec![DVec2::new(5.0, 5.0); 3],
        triangles: vec![[0, 1, 2], [0, 2, 1]],
    };
    let loose = FlatChart {
        uvs: vec![DVec2::ONE],
        triangles: Vec::new(),
    };
    let charts = [
        line.clone(),
        point.clone(),
        loose.clone(),
        FlatChart::default(),
        ell(&mut Lcg(1), 1.0),
    ];
    let options = PackOptions {
        size: 128,
        ..Default::default()
    };
    check(&charts, &options, &packed(&charts, &options));
    for alone in [line, point.clone(), loose, FlatChart::default()] {
        let alone = [alone];
        check(&alone, &options, &packed(&alone, &options));
    }
    assert_eq!(
        packed(&[point], &options).scale,
        1.0,
        "any scale fits a point"
    );
    assert_eq!(packed(&[], &options).uvs.len(), 0, "no charts");
}

#[test]
fn a_giant_among_small_charts_and_thin_strips_pack() {
    let mut rng = Lcg(3);
    let mut charts = vec![blob(&mut rng, 1000.0, 40, 3)];
    charts.extend((0..30).map(|_| ell(&mut rng, 1.0)));
    charts.push(band(&[DVec2::ZERO, DVec2::new(2000.0, 0.0)], |_| 1e-3));
    let options = PackOptions {
        size: 512,
        ..Default::default()
    };
    let packed = packed(&charts, &options);
    check(&charts, &options, &packed);
    assert!(
        packed.efficiency > 0.5,
        "a blob of nearly the whole atlas fills {}",
        packed.efficiency
    );
}

#[test]
fn a_folded_chart_keeps_its_distance() {
    // Two triangles over each other, the second turned over: their half-edges would cancel unturned.
    let uvs = vec![DVec2::ZERO, DVec2::X, DVec2::Y, DVec2::new(0.9, 0.8)];
    let folded = FlatChart {
        uvs,
        triangles: vec![[0, 1, 2], [0, 2, 1], [0, 3, 1]],
    };
    let charts = [folded.clone(), folded.clone(), folded];
    let options = PackOptions {
        size: 256,
        ..Default::default()
    };
    check(&charts, &options, &packed(&charts, &options));
}

#[test]
fn a_scale_is_kept_or_refused_with_one_that_fits() {
    let charts = mixed(4, 12, 0.5, 10);
    let free = packed(&charts, &PackOptions::default());
    let half = PackOptions {
        scale: Some(0.5 * free.scale),
        ..Default::default()
    };
    let packed = packed(&charts, &half);
    assert_eq!(packed.scale, 0.5 * free.scale, "the scale asked for");
    check(&charts, &half, &packed);
    let double = PackOptions {
        scale: Some(2.0 * free.scale),
        ..Default::default()
    };
    let Err(PackError::ScaleTooLarge { fits, .. }) = pack(&charts, &double) else {
        panic!("twice the largest scale was not refused");
    };
    assert!(
        fits > 0.95 * free.scale && fits < 2.0 * free.scale,
        "{fits} is said to fit, {} does",
        free.scale
    );
}

#[test]
fn too_many_charts_are_refused_with_a_size_that_will_do() {
    let charts = mixed(8, 50, 0.3, 6);
    let options = PackOptions {
        size: 30,
        ..Default::default()
    };
    let Err(PackError::TooManyCharts { least_size, .. }) = pack(&charts, &options) else {
        panic!("50 charts with a padding of 4 fit on 30 texels");
    };
    let options = PackOptions {
        size: least_size as u32,
        ..Default::default()
    };
    check(&charts, &options, &packed(&charts, &options));
}

#[test]
fn bad_input_is_refused() {
    let nan = FlatChart {
        uvs: vec![DVec2::NAN],
        triangles: Vec::new(),
    };
    let beyond = FlatChart {
        uvs: vec![DVec2::ZERO; 2],
        triangles: vec![[0, 1, 2]],
    };
    let options = PackOptions::default();
    assert_eq!(
        pack(&[nan], &options),
        Err(PackError::NotFinite { chart: 0 }),
        "not a number"
    );
    let error = PackError::NoSuchVertex {
        chart: 0,
        corner: 2,
        vertex_count: 2,
    };
    assert_eq!(pack(&[beyond], &options), Err(error), "a vertex too many");
    let options = PackOptions {
        scale: Some(-1.0),
        ..Default::default()
    };
    assert_eq!(
        pack(&[], &options),
        Err(PackError::BadScale { asked: -1.0 }),
        "a negative scale"
    );
}

#[test]
#[ignore = "slow: times and efficiencies, to be run in release"]
fn report_efficiency_and_time() {
    let sets = [
        ("20 blobs", blobs(1, 20, 60)),
        ("40 mixed", mixed(6, 40, 0.8, 60)),
        ("60 mixed", mixed(2, 60, 0.8, 40)),
        ("300 mixed", mixed(3, 300, 0.8, 20)),
        ("1000 mixed", mixed(4, 1000, 0.5, 8)),
        ("10000 mixed", mixed(5, 10_000, 0.5, 8)),
    ];
    for (name, charts) in sets {
        let start = std::time::Instant::now();
        let efficiency = packed(&charts, &PackOptions::default()).efficiency;
        println!("{name}: {efficiency:.4} in {:?}", start.elapsed());
    }
}
