//! Whole documents subdivided: the drawn mesh, and which content is kept or left out.

use dermis::fit::plain_fallback;
use dermis::mesh::{Ball, DrawMesh, DrawPart};
use dermis::progress::Silent;
use dermis::skin::{Coefficient, Delta};
use dermis::subdiv::{AttributeRule, Cage, Scheme, SubdivisionOptions, subdivide};
use dermis::synth::{TubeOptions, tube};
use dermis::{Skin, TriMesh, VertexProgram};
use dermis_io::gltf;
use dermis_io::{
    AssumedPoses, BoundsRecord, Document, EditError, Frame, PartBounds, SkinRecord,
    SubdivideOptions,
};
use glam::{DAffine3, DVec3};

fn levels(scheme: Scheme, levels: usize) -> SubdivideOptions {
    SubdivideOptions {
        subdivision: SubdivisionOptions {
            scheme,
            levels,
            ..SubdivisionOptions::default()
        },
        ..SubdivideOptions::default()
    }
}

/// ```text
///  6 - 7 - 8
///  | / | / |    a bent grid; the left half is one part, the right half another, and every triangle has
///  3 - 4 - 5    vertices of its own, with flat normals; UVs are x and y, and so are colours
///  | / | / |
///  0 - 1 - 2
/// ```
fn grid() -> Document {
    let at = |p: u32| {
        DVec3::new(
            f64::from(p % 3),
            f64::from(p / 3),
            f64::from(p % 3 * (p / 3)) * 0.1,
        )
    };
    let positions: Vec<DVec3> = (0..9).map(at).collect();
    let mut parts = [0, 1].map(|material| DrawPart {
        mesh_name: "grid".to_owned(),
        material: Some(material),
        uvs: vec![Vec::new()],
        colors: vec![Vec::new()],
        ..DrawPart::default()
    });
    for y in 0..2 {
        for x in 0..2 {
            let a = 3 * y + x;
            let part = &mut parts[x as usize];
            for triangle in [[a, a + 1, a + 4], [a, a + 4, a + 3]] {
                let normal =
                    (at(triangle[1]) - at(triangle[0])).cross(at(triangle[2]) - at(triangle[0]));
                let first = part.points.len() as u32;
                part.triangles.push([first, first + 1, first + 2]);
                for p in triangle {
                    let (u, v) = ((p % 3) as f32 / 2.0, (p / 3) as f32 / 2.0);
                    part.points.push(p);
                    part.normals.push(normal.normalize().as_vec3().to_array());
                    part.uvs[0].push([u, v]);
                    part.colors[0].push([u, v, 0.0, 1.0]);
                }
            }
        }
    }
    let draw = DrawMesh {
        parts: parts.to_vec(),
    };
    let triangles = draw.point_triangles();
    Document {
        mesh: TriMesh::new(positions, triangles).expect("a grid"),
        draw,
        ..Document::default()
    }
}

/// The drawn vertices of each point, all parts together.
fn copies(document: &Document) -> Vec<usize> {
    let mut copies = vec![0; document.mesh.vertex_count()];
    for &point in document.draw.parts.iter().flat_map(|part| &part.points) {
        copies[point as usize] += 1;
    }
    copies
}

#[test]
fn split_normals_do_not_open_seams_in_uvs_or_the_surface() {
    for scheme in [Scheme::Loop, Scheme::CatmullClark] {
        let fine = grid().subdivided(&levels(scheme, 2)).expect("a grid");
        let document = fine.document;
        let [left, right] = &document.draw.parts[..] else {
            panic!("two parts");
        };
        assert_eq!(
            [left.material, right.material],
            [Some(0), Some(1)],
            "{scheme:?}"
        );
        let area = |part: &DrawPart| part.triangles.len();
        assert_eq!(area(left), area(right), "{scheme:?}: each its own");
        // A point is drawn once, but twice on the line between the parts: nine points of it.
        let twice = copies(&document).iter().filter(|&&n| n == 2).count();
        assert_eq!(twice, 9, "{scheme:?}: the border of the parts");
        assert!(
            copies(&document).iter().all(|&n| n == 1 || n == 2),
            "{scheme:?}"
        );
        for part in &document.draw.parts {
            for ((&point, uv), color) in part.points.iter().zip(&part.uvs[0]).zip(&part.colors[0]) {
                // UVs are x and y over two, and follow the same rules as the points.
                let at = document.mesh.positions()[point as usize];
                let apart =
                    (f64::from(uv[0]) - at.x / 2.0).abs() + (f64::from(uv[1]) - at.y / 2.0).abs();
                assert!(apart < 1e-6, "{scheme:?}: {uv:?} at {at}");
                assert_eq!(
                    [uv[0], uv[1], 0.0, 1.0],
                    *color,
                    "{scheme:?}: colours are UVs here"
                );
            }
            assert_eq!(
                part.normals.len(),
                part.points.len(),
                "{scheme:?}: normals anew"
            );
        }
        let drawn = document.draw.point_triangles().len();
        assert_eq!(
            drawn,
            document.mesh.triangles().len(),
            "{scheme:?}: all is drawn"
        );
    }
    let pairs = grid()
        .subdivided(&levels(Scheme::CatmullClark, 1))
        .expect("a grid");
    assert_eq!(
        pairs.faces,
        [0, 4, 0],
        "four quads were found in eight triangles"
    );
    let mut kept = levels(Scheme::CatmullClark, 1);
    kept.join_triangles = None;
    assert_eq!(
        grid().subdivided(&kept).expect("a grid").faces,
        [8, 0, 0],
        "or not"
    );
}

#[test]
fn split_normals_can_be_creases() {
    let mut options = levels(Scheme::Loop, 1);
    options.crease_normals = true;
    let fine = grid().subdivided(&options).expect("a grid");
    // Triangles of the lower left are flat together; the others all differ.
    assert!(
        fine.crease_count > 0,
        "flat normals differ from face to face"
    );
    let sharp = copies(&fine.document).into_iter().max().expect("points");
    assert!(sharp > 2, "hard edges are drawn with normals of their own");
    options.crease_sharpness = 0.0;
    let soft = grid().subdivided(&options).expect("a grid");
    assert_eq!(soft.crease_count, 0, "no sharpness, no crease");
}

#[test]
fn with_linear_uvs_new_uvs_are_midpoints() {
    let mut options = levels(Scheme::Loop, 1);
    options.uv = AttributeRule::Linear;
    let document = grid().subdivided(&options).expect("a grid").document;
    for part in &document.draw.parts {
        let quarters = |uv: &[f32; 2]| uv.iter().all(|x| (4.0 * x).fract() == 0.0);
        assert!(part.uvs[0].iter().all(quarters), "{:?}", part.uvs[0]);
    }
}

/// A tube that bends, with a shape that bones blend: exact in memory, and after a file.
#[test]
fn morph_targets_are_exact_also_in_files() {
    let tube = tube(&TubeOptions {
        ring_count: 9,
        segment_count: 6,
        bone_count: 3,
        example_count: 4,
    });
    let mut skin = tube.truth.clone();
    let delta = |index: u32| Delta {
        index,
        value: DVec3::new(0.1, 0.02 * f64::from(index % 5), -0.05),
    };
    let shapes = vec![vec![delta(2)], (10..40).map(delta).collect()];
    skin.program.push_corrections(&skin.skeleton, shapes);
    for name in ["dent", "bulge"] {
        skin.coefficients.push(Coefficient {
            name: name.to_owned(),
            default: 0.0,
        });
    }
    let mesh = tube.examples.rest().clone();
    let document = Document {
        draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
        mesh,
        skin: Some(skin.clone()),
        ..Document::default()
    };
    let options = levels(Scheme::Loop, 2);
    let fine = document.subdivided(&options).expect("a tube");
    let finer = subdivide(&Cage::from_mesh(&document.mesh), &options.subdivision).expect("a tube");
    let exact = fine.document.skin.clone().expect("a skin");
    let apart = |a: &[DVec3], b: &[DVec3]| {
        assert_eq!(a.len(), b.len(), "as many points");
        let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
        distances.fold(0.0, f64::max)
    };
    let mut pose = skin.skeleton.rest_pose();
    pose.coefficients = vec![0.6, 0.8];
    pose.parent_from_bone[1] *= DAffine3::from_rotation_z(1.0);
    let shown = |skin: &Skin| skin.evaluate(&pose).expect("it fits");
    let expected = finer.apply(&shown(&skin));
    assert!(apart(&expected, &shown(&exact)) < 1e-12, "exact when bent");

    let mut written = fine.document;
    let mut plain = plain_fallback(&exact, &[], 4, &Silent)
        .expect("it fits")
        .program;
    written.fallback = Some(plain.clone());
    let error = gltf::to_glb(&written).expect_err("shapes are missing");
    assert!(
        error
            .to_string()
            .contains("no displacement of the rest shape"),
        "{error}"
    );
    plain.corrections = fine.plain_shapes;
    written.fallback = Some(plain);
    for round in ["once", "twice"] {
        let bytes = gltf::to_glb(&written).expect("glTF can hold it");
        written = gltf::read("tube.glb".as_ref(), &bytes).expect("what was written");
        let back = written.skin.as_ref().expect("a skin");
        assert!(
            matches!(back.program, VertexProgram::Linear(_)),
            "exact vectors"
        );
        assert_eq!(back.coefficients, skin.coefficients, "written {round}");
        let off = apart(&expected, &shown(back));
        assert!(off < 2e-6, "to single precision, written {round}: {off}");
        // As displacements of the rest shape they would be further off than that.
        let plain = written
            .fallback
            .as_ref()
            .expect("a stand-in")
            .corrections
            .iter();
        let mut moved = back.clone();
        let VertexProgram::Linear(linear) = &mut moved.program else {
            continue;
        };
        linear.corrections.clear();
        let shapes = plain.map(|shape| shape.deltas.clone()).collect();
        moved.program.push_corrections(&back.skeleton, shapes);
        assert!(
            apart(&expected, &shown(&moved)) > 1e-4,
            "the file has more than morph targets"
        );
    }
}

#[test]
fn spheres_still_hold_and_parts_that_share_points_get_the_sphere_of_the_whole() {
    let mut document = grid();
    let ball = |x: f64| Ball {
        center: DVec3::new(x, 1.0, 0.0),
        radius: 3.0,
    };
    let part = |x: f64| PartBounds {
        legal: Some(ball(x)),
        clips: None,
        culling: None,
    };
    document.record = Some(SkinRecord {
        bounds: Some(BoundsRecord {
            assumes: AssumedPoses::AnyRotation,
            legal: Some(ball(1.0)),
            clips: None,
            culling: None,
            parts: vec![part(0.5), part(1.5)],
        }),
        ..SkinRecord::default()
    });
    let fine = document
        .subdivided(&levels(Scheme::Loop, 1))
        .expect("a grid");
    let bounds = fine.document.record.and_then(|r| r.bounds).expect("kept");
    assert_eq!(bounds.legal, Some(ball(1.0)), "convex sums stay inside");
    assert!(
        bounds.parts.iter().all(|p| p.legal == Some(ball(1.0))),
        "their points mix"
    );
}

#[test]
fn inconsistent_documents_are_refused_and_degenerate_triangles_are_not() {
    let nothing = Document::default().subdivided(&levels(Scheme::Loop, 1));
    assert_eq!(
        nothing.expect_err("no face"),
        EditError::NoFaces { points: 0 },
        "named"
    );
    let mut document = grid();
    document.frames = vec![Frame {
        name: "short".to_owned(),
        positions: vec![DVec3::ZERO; 3],
    }];
    let error = document
        .subdivided(&levels(Scheme::Loop, 1))
        .expect_err("three of nine");
    let text = "frame short: expected 9 positions, found 3";
    assert_eq!(error.to_string(), text, "both numbers");
    // Inconsistent documents.
    type Damage = fn(&mut DrawPart);
    let damages: [(Damage, &str); 3] = [
        (
            |part| part.points[2] = 99,
            "names vertex 99, but there are only 9",
        ),
        (
            |part| part.triangles[1][0] = 99,
            "triangle 1 names vertex 99",
        ),
        (|part| part.uvs[0].truncate(5), "expected 12 UVs, found 5"),
    ];
    for (damage, expected) in damages {
        let mut document = grid();
        damage(&mut document.draw.parts[0]);
        let error = document
            .subdivided(&levels(Scheme::Loop, 1))
            .expect_err("damaged");
        assert!(error.to_string().contains(expected), "{error}");
    }
    // A triangle that names a point twice, the same triangle twice, one turned over, a fin, no extent at all.
    let soup = vec![
        [0, 1, 2],
        [0, 0, 1],
        [0, 1, 2],
        [2, 1, 0],
        [0, 1, 3],
        [3, 4, 5],
        [5, 6, 7],
    ];
    for scheme in [Scheme::Loop, Scheme::CatmullClark] {
        let mesh = TriMesh::new(vec![DVec3::ZERO; 9], soup.clone()).expect("in range");
        let dirty = Document {
            draw: DrawMesh::plain("soup", 9, &soup),
            mesh,
            ..Document::default()
        };
        let mut options = levels(scheme, 2);
        options.crease_angle_rad = Some(0.5);
        options.subdivision.limit = true;
        let fine = dirty.subdivided(&options).expect("survived");
        assert!(
            fine.document
                .notes
                .iter()
                .any(|note| note.contains("two corners are the same point")),
            "{scheme:?}: {:?}",
            fine.document.notes
        );
        let finite = fine.document.mesh.positions().iter().all(|p| p.is_finite());
        assert!(finite, "{scheme:?}: every sum is of points");
    }
}
