//! A skin becomes smoother and moves as the subdivided mesh would.

use dermis::subdiv::{Cage, Scheme, SubdivisionOptions, subdivide};
use dermis::{Rows, VertexProgram};
use dermis_io::Document;
use glam::DVec3;

use crate::common::{Scratch, quoted};
use crate::support;

/// Largest distance between lists of points, as a share of the first one's diagonal.
fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many points");
    let diagonal = dermis::mesh::Aabb::of(a).map_or(1.0, |bounds| bounds.diagonal());
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, f64::max) / diagonal
}

/// What the clips of a file show, at a few times each.
fn shown(document: &Document) -> Vec<Vec<DVec3>> {
    let skin = document.skin.as_ref().expect("a skin");
    let mut frames = Vec::new();
    for clip in &document.clips {
        for time in clip.frame_times(3.0).expect("few frames") {
            frames.push(skin.evaluate(&skin.sample(clip, time)).expect("it fits"));
        }
    }
    assert!(!frames.is_empty(), "a clip");
    frames
}

/// Real characters through the program and a file, against the posed mesh subdivided right here.
#[test]
fn a_written_skin_moves_as_the_subdivided_mesh() {
    for (file, levels) in [("gltf/Fox.glb", 2), ("gltf/CesiumMan.glb", 1)] {
        let Some(path) = support::data(file) else {
            continue;
        };
        let scratch = Scratch::new();
        let before = dermis_io::read(&path).expect("a sound file");
        let run = scratch.dermis(&format!(
            "subdivide {} --levels {levels} -o smooth.glb --json",
            quoted(&path)
        ));
        let report = run.done().json();
        let after = scratch.read("smooth.glb");
        let cage = Cage::from_mesh(&before.mesh);
        let options = SubdivisionOptions {
            scheme: Scheme::Loop,
            levels,
            ..SubdivisionOptions::default()
        };
        let fine = subdivide(&cage, &options).expect("small");
        let skin = after.skin.as_ref().expect("a skin");
        assert!(
            matches!(skin.program, VertexProgram::Linear(_)),
            "{file}: the exact vectors are in the file"
        );
        let frames = shown(&before).into_iter().zip(shown(&after));
        for (k, (coarse, finer)) in frames.enumerate() {
            let error = apart(&fine.apply(&coarse), &finer);
            assert!(error < 1e-6, "{file}: frame {k} is {error} away");
        }
        let levels_said = report["levels"].as_array().expect("a list");
        assert_eq!(
            levels_said.len(),
            levels + 1,
            "what came in, and every level"
        );
        let last = &levels_said[levels];
        assert_eq!(last["points"], fine.finest().point_count(), "{file}");
        assert_eq!(
            last["triangles"],
            before.mesh.triangles().len() * 4usize.pow(levels as u32),
            "{file}"
        );
        let said = last["cost"]["maxInfluences"].as_u64().expect("a number");
        assert_eq!(said as usize, skin.program.max_influences(), "{file}");
        assert!(
            report["plain"]["rms"].as_f64().expect("measured") < 0.02,
            "{file}"
        );
        let (uvs, drawn) = (&after.draw.parts[0].uvs, after.draw.vertex_count());
        assert_eq!(
            uvs.iter().map(Vec::len).sum::<usize>(),
            drawn,
            "{file}: UVs stay"
        );
        assert_eq!(
            after.materials.materials, before.materials.materials,
            "{file}"
        );
    }
}

/// Pieces that follow one bone each stay linear blend skins, which every player shows exactly.
#[test]
fn rigid_pieces_stay_plain_skins() {
    let Some(path) = support::data("gltf/MorphStressTest.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let run = scratch.dermis(&format!("subdivide {} -o smooth.glb", quoted(&path)));
    assert!(
        !run.done().stderr.contains("stock players"),
        "nothing to warn of"
    );
    let (before, after) = (
        dermis_io::read(&path).expect("sound"),
        scratch.read("smooth.glb"),
    );
    let program = after.skin.as_ref().map(|skin| &skin.program);
    assert!(
        matches!(program, Some(VertexProgram::Ssd(_))),
        "linear blending"
    );
    let fine = subdivide(
        &Cage::from_mesh(&before.mesh),
        &SubdivisionOptions::default(),
    );
    let fine = fine.expect("small");
    for (coarse, finer) in shown(&before).into_iter().zip(shown(&after)) {
        let error = apart(&fine.apply(&coarse), &finer);
        assert!(error < 1e-6, "morph targets too: {error}");
    }
}

/// A character of many meshes, materials, clips and morph targets.
#[test]
fn a_robot_keeps_its_clips_and_morph_targets() {
    let Some(path) = support::data("gltf/RobotExpressive.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let run = scratch.dermis(&format!(
        "subdivide {} --scheme catmull-clark --crease-angle 50 -o smooth.glb",
        quoted(&path)
    ));
    run.done();
    let (before, after) = (
        dermis_io::read(&path).expect("sound"),
        scratch.read("smooth.glb"),
    );
    assert_eq!(after.clips.len(), before.clips.len(), "clips stay");
    let coefficients = |document: &Document| {
        let skin = document.skin.as_ref().expect("a skin");
        skin.coefficients
            .iter()
            .map(|c| c.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        coefficients(&after),
        coefficients(&before),
        "and morph targets"
    );
    let looks = |document: &Document| {
        let parts = document.draw.parts.iter();
        parts
            .map(|part| (part.mesh_name.clone(), part.material))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        looks(&after),
        looks(&before),
        "and the parts with their materials"
    );
}

/// Two boxes without a skin, one of quads with a UV seam, as OBJ: quads stay quads.
#[test]
fn quads_of_an_obj_file_are_subdivided_as_quads() {
    let scratch = Scratch::new();
    let mut text = String::new();
    for i in 0..8 {
        text += &format!("v {} {} {}\n", i & 1, i >> 1 & 1, i >> 2);
    }
    text += "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    for quad in [
        "1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6",
    ] {
        let corners: Vec<String> = quad
            .split(' ')
            .zip(1..)
            .map(|(v, t)| format!("{v}/{t}"))
            .collect();
        text += &format!("f {}\n", corners.join(" "));
    }
    scratch.put("box.obj", text);
    let run =
        scratch.dermis("subdivide box.obj --scheme catmull-clark --levels 1 -o fine.obj --json");
    let report = run.done().json();
    assert_eq!(report["quads"], 6, "six quads");
    let fine = scratch.read("fine.obj");
    let polygons = fine.polygons.as_ref().expect("quads");
    assert_eq!(polygons.counts, vec![4; 24], "four for each");
    // The corner of a cube goes to (Q + 2R) / 3 with Q = 1/2 of the diagonal of three faces, ...: 5/9 of it.
    let corner = fine.mesh.positions()[0];
    let expected = DVec3::splat(0.5 * (1.0 - 5.0 / 9.0));
    assert!(corner.distance(expected) < 1e-6, "{corner}");
    let faces = polygons.iter().map(<[u32]>::to_vec);
    let again = Cage::new(fine.mesh.vertex_count(), faces.collect::<Rows<u32>>());
    assert!(
        again
            .expect("sound")
            .edges()
            .iter()
            .all(|edge| !edge.is_border()),
        "a closed box stays closed"
    );
    // Each face has all of the texture: its own four corners keep their UVs, and the middles lie between.
    let uvs = &fine.draw.parts[0].uvs[0];
    assert!(
        uvs.contains(&[0.0, 0.0]) && uvs.contains(&[0.5, 0.5]),
        "{uvs:?}"
    );
    // With every edge a crease, the box stays a box.
    scratch
        .dermis(
            "subdivide box.obj --scheme catmull-clark --levels 2 --crease-angle 60 -o sharp.obj",
        )
        .done();
    let sharp = scratch.read("sharp.obj");
    let on_box = |p: &DVec3| p.to_array().iter().any(|&x| x == 0.0 || x == 1.0);
    assert!(sharp.mesh.positions().iter().all(on_box), "a box");
    let normals = &sharp.draw.parts[0].normals;
    assert!(!normals.is_empty(), "hard edges need normals");
    assert!(
        normals
            .iter()
            .all(|n| n.iter().filter(|x| x.abs() > 1e-6).count() == 1),
        "along axes: no normal is averaged across a crease"
    );
}

#[test]
fn frames_are_subdivided_too() {
    let scratch = Scratch::new();
    let square =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 0\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
    scratch.put("f1.obj", square);
    scratch.put("f2.obj", square.replace("0.5 0.5 0\n", "0.5 0.5 1\n"));
    scratch.dermis("convert f1.obj f2.obj frames.npz").done();
    scratch
        .dermis("subdivide frames.npz --levels 1 -o fine.npz")
        .done();
    let fine = scratch.read("fine.npz");
    assert_eq!(fine.frames.len(), 2, "both");
    let beta = (5.0 / 8.0 - 9.0 / 64.0) / 4.0;
    let peak = fine.frames[1].positions[4].z;
    assert!(
        (peak - (1.0 - 4.0 * beta)).abs() < 1e-6,
        "the middle of four: {peak}"
    );
}

#[test]
fn bad_input_gets_one_sentence() {
    let scratch = Scratch::new();
    scratch.put("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    scratch.put("points.obj", "v 0 0 0\nv 1 0 0\n");
    for (arguments, expected) in [
        (
            "t.obj --levels 0 -o o.obj",
            "--levels: expected 1 or more, found 0",
        ),
        (
            "t.obj --levels -3 -o o.obj",
            "--levels: expected 1 or more, found -3",
        ),
        ("t.obj --levels 30 -o o.obj", "ask for fewer levels"),
        (
            "t.obj --levels 99999999999 -o o.obj",
            "would make more than 18446744073709551615 triangles",
        ),
        ("t.obj --crease-angle 200 -o o.obj", "0 to 180 degrees"),
        (
            "t.obj --crease-angle 9 --crease-sharpness -1 -o o.obj",
            "--crease-sharpness",
        ),
        (
            "t.obj --crease-sharpness 2 -o o.obj",
            "--crease-angle or --crease-normals",
        ),
        ("t.obj --plain-exact -o o.obj", "write .glb or .gltf"),
        (
            "points.obj -o o.obj",
            "expected faces to subdivide, found 2 points without any",
        ),
        ("missing.glb -o o.glb", "missing.glb: cannot be read"),
        ("t.obj -o o.xyz", "known extensions are"),
    ] {
        let run = scratch.dermis(&format!("subdivide {arguments}"));
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.contains(expected), "{run:#?}");
        assert_eq!(
            run.stderr.trim_end().lines().count(),
            1,
            "one sentence: {run:#?}"
        );
    }
    assert!(
        scratch.files().iter().all(|name| !name.starts_with("o.")),
        "nothing is written"
    );
}
