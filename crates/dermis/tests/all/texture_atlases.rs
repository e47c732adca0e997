//! Facts about texture atlases; P numbers are those of the specification.

use dermis::Document;
use dermis::document::{AtlasOptions, PosesFor, SeamSource, Unwrapped, stretch_in};
use dermis::mesh::DrawMesh;
use dermis::param::{Atlas, EdgeProducts, Surface, TexelDensity, UnwrapOptions, unwrap};
use dermis::progress::Silent;
use dermis::synth::{TubeOptions, tube};
use glam::{DAffine3, DQuat, DVec3};

use crate::overlaps::assert_no_overlap;

/// Rings along x, not closed at the ends.
fn open_cylinder(rings: u32, segments: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut points = Vec::new();
    for ring in 0..rings {
        for segment in 0..segments {
            let angle = f64::from(segment) * std::f64::consts::TAU / f64::from(segments);
            points.push(DVec3::new(0.3 * f64::from(ring), angle.cos(), angle.sin()));
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for segment in 0..segments {
            let next = (segment + 1) % segments;
            let [a, b] = [ring, ring + 1].map(|r| r * segments);
            triangles.push([a + segment, b + segment, b + next]);
            triangles.push([a + segment, b + next, a + next]);
        }
    }
    (points, triangles)
}

fn metrics_of(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<EdgeProducts> {
    let metric = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|point| points[point as usize]);
        let (e, f) = (b - a, c - a);
        EdgeProducts {
            ee: e.length_squared(),
            ef: e.dot(f),
            ff: f.length_squared(),
        }
    };
    triangles.iter().map(metric).collect()
}

fn unwrapped(points: &[DVec3], triangles: &[[u32; 3]], options: &UnwrapOptions) -> Atlas {
    let surface = Surface {
        triangles,
        rest: points,
        metrics: &metrics_of(points, triangles),
        seams: &[],
        uvs: &[],
    };
    unwrap(&surface, options, &Silent).expect("any mesh can be unwrapped")
}

#[test]
fn fact_p4_an_open_cylinder_can_be_one_chart_without_stretch() {
    let (points, triangles) = open_cylinder(12, 24);
    let options = UnwrapOptions {
        charts: Some(1),
        ..UnwrapOptions::default()
    };
    let atlas = unwrapped(&points, &triangles, &options);
    assert_eq!(atlas.charts.len(), 1, "one cut makes it a rectangle");
    assert!(
        (atlas.stretch - 1.0).abs() < 1e-6,
        "found {}",
        atlas.stretch
    );
    assert_no_overlap(&atlas, &triangles, "cylinder");
    // The cut is as long as the cylinder.
    assert!(
        (atlas.seam_length - 3.3).abs() < 1e-9,
        "found {}",
        atlas.seam_length
    );
}

#[test]
fn fact_p6_charts_of_characters_neither_flip_nor_overlap() {
    for (name, mesh) in [
        (
            "tube",
            tube(&TubeOptions::default()).examples.rest().clone(),
        ),
        (
            "arm",
            dermis::synth::arm(&Default::default())
                .examples
                .rest()
                .clone(),
        ),
    ] {
        for (kind, options) in [
            ("free", UnwrapOptions::default()),
            (
                "straight",
                UnwrapOptions {
                    straight_borders: true,
                    ..UnwrapOptions::default()
                },
            ),
        ] {
            let atlas = unwrapped(mesh.positions(), mesh.triangles(), &options);
            assert_no_overlap(&atlas, mesh.triangles(), &format!("{name}, {kind}"));
            assert!(atlas.stretch < 1.2, "{name}, {kind}: {}", atlas.stretch);
            // Long strips, which straight borders keep whole, leave much of a square empty.
            assert!(atlas.packing > 0.3, "{name}, {kind}: {}", atlas.packing);
        }
    }
}

/// Numbers that look random and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % count
    }
}

#[test]
fn dirty_meshes_are_cut_and_never_refused() {
    let mut chance = Chance(7);
    for round in 0..60 {
        let count = 4 + chance.below(12);
        let mut points: Vec<DVec3> = (0..count)
            .map(|_| DVec3::from_array([0; 3].map(|_| chance.below(1000) as f64 / 1000.0)))
            .collect();
        // Points that coincide make triangles without area.
        points[0] = points[1];
        let mut triangles: Vec<[u32; 3]> = (0..3 + chance.below(40))
            .map(|_| [0; 3].map(|_| chance.below(count) as u32))
            .collect();
        triangles.push([0, 1, 2]);
        triangles.push([2, 3, 2]);
        triangles.push(triangles[0]);
        triangles.push([0, 2, 3]);
        let atlas = unwrapped(&points, &triangles, &UnwrapOptions::default());
        assert_no_overlap(&atlas, &triangles, &format!("round {round}"));
        let corners = atlas
            .triangles
            .iter()
            .flatten()
            .zip(triangles.iter().flatten());
        for (&vertex, &point) in corners {
            assert_eq!(
                atlas.points[vertex as usize], point,
                "corners keep their points"
            );
        }
    }
}

#[test]
fn a_closed_shell_has_two_charts_at_least_and_as_many_as_asked_for() {
    let mesh = tube(&TubeOptions::default()).examples.rest().clone();
    for wanted in [2, 3, 5, 9] {
        let options = UnwrapOptions {
            charts: Some(wanted),
            ..UnwrapOptions::default()
        };
        let atlas = unwrapped(mesh.positions(), mesh.triangles(), &options);
        assert_eq!(atlas.charts.len(), wanted, "charts");
        assert_no_overlap(&atlas, mesh.triangles(), "tube");
    }
}

#[test]
fn fact_p7_even_density_has_the_least_stretch_that_scales_of_charts_can_give() {
    let mesh = dermis::synth::arm(&Default::default())
        .examples
        .rest()
        .clone();
    let with = |density| {
        let options = UnwrapOptions {
            density,
            max_stretch: 1.3,
            ..UnwrapOptions::default()
        };
        unwrapped(mesh.positions(), mesh.triangles(), &options)
    };
    let (even, by_area) = (with(TexelDensity::Even), with(TexelDensity::ByArea));
    // L2 of a chart by itself is √(E U) / A.
    let area: f64 = even.charts.iter().map(|chart| chart.area).sum();
    let least: f64 = even
        .charts
        .iter()
        .map(|chart| chart.stretch * chart.area / area)
        .sum();
    assert!(
        (even.stretch - least).abs() < 1e-9,
        "{} and {least}",
        even.stretch
    );
    assert!(
        by_area.stretch >= least - 1e-12,
        "{} and {least}",
        by_area.stretch
    );
}

/// A tube whose second joint bends from 0 to 90°, as its clip; without caps.
fn bending_tube() -> Document {
    let made = tube(&TubeOptions {
        ring_count: 40,
        bone_count: 2,
        ..TubeOptions::default()
    });
    let skin = made.truth;
    let mesh = made.examples.rest().clone();
    let poses = (0..=18).map(|k| {
        let mut pose = skin.skeleton.rest_pose();
        let angle = f64::from(k) * std::f64::consts::FRAC_PI_2 / 18.0;
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(angle);
        pose
    });
    Document {
        draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        frame_poses: poses.collect(),
        mesh,
        skin: Some(skin),
        ..Document::default()
    }
}

fn for_poses(document: &Document, poses: PosesFor) -> Unwrapped {
    let options = AtlasOptions {
        poses,
        // The same two halves for all, so that only the layouts differ.
        unwrap: UnwrapOptions {
            charts: Some(2),
            ..UnwrapOptions::default()
        },
        ..AtlasOptions::default()
    };
    document.unwrapped(&options, &Silent).expect("a tube")
}

#[test]
fn fact_p8_a_layout_for_the_animation_stretches_less_than_one_for_the_rest_pose() {
    let document = bending_tube();
    let animation = for_poses(&document, PosesFor::Shown);
    let shapes = &animation.shapes;
    let over_poses = |unwrapped: &Unwrapped| {
        let each: Vec<f64> = shapes[1..]
            .iter()
            .map(|shape| stretch_in(&unwrapped.atlas, shape))
            .collect();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        (mean, each.into_iter().fold(1.0, f64::max))
    };
    let (mean, worst) = over_poses(&animation);
    let (rest_mean, rest_worst) = over_poses(&for_poses(&document, PosesFor::Rest));
    let (free_mean, _) = over_poses(&for_poses(&document, PosesFor::AnyRotation));
    assert!(mean < rest_mean, "animation {mean}, rest {rest_mean}");
    assert!(
        rest_mean < free_mean,
        "rest {rest_mean}, skeleton {free_mean}"
    );
    assert!(
        worst < rest_worst,
        "worst pose: animation {worst}, rest {rest_worst}"
    );
}

#[test]
fn fact_p2_a_rigid_character_has_the_atlas_of_its_rest_shape() {
    let mut document = bending_tube();
    let skin = document.skin.as_ref().expect("a tube has a skin");
    // Every pose turns the whole character.
    let turned = (1..5).map(|k| {
        let mut pose = skin.skeleton.rest_pose();
        let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), f64::from(k));
        pose.parent_from_bone[0] = DAffine3::from_quat(turn) * pose.parent_from_bone[0];
        pose
    });
    document.frame_poses = turned.collect();
    let rest = for_poses(&document, PosesFor::Rest);
    let moved = for_poses(&document, PosesFor::Shown);
    assert_eq!(rest.measures.charts, moved.measures.charts, "charts");
    let (a, b) = (
        rest.measures.stretch_at_rest,
        moved.measures.stretch_at_rest,
    );
    assert!((a - b).abs() < 1e-6, "{a} and {b}");
}

#[test]
fn fact_p9_points_stay_where_they_are_and_efficiency_is_packing_over_squared_stretch() {
    let document = bending_tube();
    let result = for_poses(&document, PosesFor::Shown);
    let given = document.draw.point_triangles();
    assert_eq!(
        result.document.draw.point_triangles(),
        given,
        "the same points"
    );
    assert_eq!(result.document.mesh, document.mesh, "where they were");
    let drawn = result.document.draw.parts[0].points.len();
    assert!(
        drawn > document.mesh.vertex_count(),
        "vertices are split at seams"
    );
    let m = &result.measures;
    let expected = m.packing / m.stretch_over_poses.powi(2);
    assert!(
        (m.texture_efficiency - expected).abs() < 1e-12,
        "efficiency"
    );
    // Every drawn corner has the UV of the atlas, first row on top.
    let part = &result.document.draw.parts[0];
    for (corners, placed) in part.triangles.iter().zip(&result.atlas.triangles) {
        for k in 0..3 {
            let uv = result.atlas.uvs[placed[k] as usize];
            let expected = [uv.x as f32, (1.0 - uv.y) as f32];
            assert_eq!(part.uvs[0][corners[k] as usize], expected, "a corner");
        }
    }
}

#[test]
fn fact_p10_any_number_of_threads_gives_the_same_bits() {
    let document = bending_tube();
    let options = AtlasOptions::default();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| document.unwrapped(&options, &Silent))
            .expect("a tube")
            .atlas
    };
    assert_eq!(on(1), on(4), "threads");
}

#[test]
fn fact_p10_turning_and_scaling_change_the_stretch_by_rounding_only() {
    let mesh = tube(&TubeOptions::default()).examples.rest().clone();
    let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.0);
    let moved: Vec<DVec3> = (mesh.positions().iter())
        .map(|p| turn * (*p * 250.0) + DVec3::splat(40.0))
        .collect();
    let options = UnwrapOptions::default();
    let given = unwrapped(mesh.positions(), mesh.triangles(), &options);
    let other = unwrapped(&moved, mesh.triangles(), &options);
    assert_eq!(given.charts.len(), other.charts.len(), "charts");
    assert!((given.stretch - other.stretch).abs() < 1e-6, "stretch");
}

#[test]
fn seams_that_are_given_are_kept_and_improved() {
    let document = bending_tube();
    let first = for_poses(&document, PosesFor::Rest);
    let again = |options: AtlasOptions| {
        first
            .document
            .unwrapped(&options, &Silent)
            .expect("UVs are there")
    };
    let seams = dermis::document::seams_of(&first.document, &SeamSource::Uvs);
    let kept = again(AtlasOptions {
        keep: true,
        set: Some(0),
        ..AtlasOptions::default()
    });
    assert_eq!(
        kept.measures.charts, first.measures.charts,
        "as many charts"
    );
    let of_kept = dermis::document::seams_of(&kept.document, &SeamSource::Uvs);
    assert_eq!(of_kept, seams, "the same seams");
    let over_poses = kept.measures.stretch_over_poses;
    let before: Vec<f64> = kept.shapes[1..]
        .iter()
        .map(|s| stretch_in(&first.atlas, s))
        .collect();
    let before = before.iter().sum::<f64>() / before.len() as f64;
    assert!(over_poses < before, "{over_poses} after, {before} before");
    let from_seams = again(AtlasOptions {
        seams: SeamSource::Uvs,
        unwrap: UnwrapOptions {
            keep_seams: true,
            ..UnwrapOptions::default()
        },
        set: Some(0),
        ..AtlasOptions::default()
    });
    assert_eq!(
        from_seams.measures.charts, first.measures.charts,
        "charts from seams"
    );
}
