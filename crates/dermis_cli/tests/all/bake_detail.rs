//! A character's detail goes to its coarser levels as pictures.

use std::collections::HashMap;
use std::f64::consts::TAU;

use dermis::mesh::{DrawMesh, DrawPart};
use dermis::synth::{TubeOptions, tube};
use dermis::{Clip, TriMesh, VertexProgram};
use dermis_io::{Document, Image, encode_png};
use glam::{DAffine3, DVec3};
use serde_json::json;

use crate::common::{Scratch, number, unbroken};
use crate::glb_plays_elsewhere::assert_plays;
use crate::support;

const LENGTH: f64 = 2.0;

/// An open tube of two bones that bends by up to 46°, with bumps of 4% of its radius, UVs around and along, and a texture of
/// four stripes.
pub(crate) fn bumpy_tube() -> Document {
    let made = tube(&TubeOptions {
        ring_count: 120,
        segment_count: 80,
        bone_count: 2,
        example_count: 1,
    });
    let mut skin = made.truth;
    let turn = |p: &DVec3| p.z.atan2(p.y) / TAU + 0.5;
    let bumpy = |p: &DVec3| {
        let height = 0.008 * (TAU * 10.0 * turn(p)).sin() * (TAU * 4.0 * p.x).sin();
        *p + height * (*p * DVec3::new(0.0, 1.0, 1.0)).normalize_or_zero()
    };
    // The first and the last point are the middles of the ends, which are left open.
    let rest = made.examples.rest();
    let last = rest.vertex_count() as u32 - 1;
    let points = 1..last as usize;
    let positions: Vec<DVec3> = (rest.positions()[points.clone()].iter())
        .map(bumpy)
        .collect();
    let is_side = |t: &&[u32; 3]| !t.contains(&0) && !t.contains(&last);
    let sides = rest.triangles().iter().filter(is_side);
    let triangles: Vec<[u32; 3]> = sides.map(|t| t.map(|c| c - 1)).collect();
    let part = drawn(&positions, &triangles, turn);
    let VertexProgram::Ssd(program) = &mut skin.program else {
        panic!("a tube is a linear blend");
    };
    program.rest_positions.clone_from(&positions);
    let rows = points.map(|i| program.weights.row(i).to_vec());
    program.weights = rows.collect();
    let bent = |k: u32| {
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(0.2 * f64::from(k));
        pose
    };
    let poses: Vec<_> = (0..5).map(bent).collect();
    let clip = Clip::from_poses("bend", &skin.skeleton, &poses, 24.0).expect("rigid bones");
    let mut document = Document {
        mesh: TriMesh::new(positions, triangles).expect("finite"),
        draw: DrawMesh { parts: vec![part] },
        skin: Some(skin),
        clips: vec![clip],
        ..Document::default()
    };
    let stripes = dermis::bake::Picture {
        width: 4,
        height: 1,
        pixels: vec![
            [255, 0, 0, 255],
            [0, 255, 0, 255],
            [0, 0, 255, 255],
            [255; 4],
        ],
    };
    document.materials.materials = vec![json!({
        "name": "stripes", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "metallicFactor": 0.0 }
    })];
    document.materials.textures = vec![json!({ "source": 0 })];
    document.materials.images = vec![Image {
        name: None,
        mime_type: "image/png".to_owned(),
        bytes: encode_png(&stripes).expect("four pixels"),
    }];
    document
}

/// Vertices with UVs, split along the line where the turn begins again.
fn drawn(positions: &[DVec3], triangles: &[[u32; 3]], turn: impl Fn(&DVec3) -> f64) -> DrawPart {
    let mut part = DrawPart {
        mesh_name: "tube".to_owned(),
        material: Some(0),
        uvs: vec![Vec::new()],
        ..DrawPart::default()
    };
    let mut known = HashMap::new();
    for triangle in triangles {
        let turns = triangle.map(|c| turn(&positions[c as usize]));
        let largest = turns.iter().copied().fold(0.0, f64::max);
        let corners = [0, 1, 2].map(|i| {
            let is_beyond = largest - turns[i] > 0.5;
            *known.entry((triangle[i], is_beyond)).or_insert_with(|| {
                let u = turns[i] + f64::from(u8::from(is_beyond));
                let v = positions[triangle[i] as usize].x / LENGTH;
                part.points.push(triangle[i]);
                part.uvs[0].push([u.min(1.0) as f32, v as f32]);
                part.points.len() as u32 - 1
            })
        });
        part.triangles.push(corners);
    }
    part
}

fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &bumpy_tube());
    scratch
        .dermis("lod tube.glb --ratios 0.1,0.03 -o lod.glb --quiet")
        .done();
    scratch
        .dermis("lod tube.glb --ratios 0.05 --separate -o own.glb --quiet")
        .done();
    scratch
}

#[test]
fn a_level_is_shaded_like_the_full_character_in_every_pose() {
    let scratch = folder();
    let run = scratch.dermis("bake lod.glb --size 256 -o baked.glb --json");
    let said = run.done().json();
    for (row, level) in ["/targets/0", "/targets/1"].into_iter().zip(1..) {
        let [without, with] =
            ["meanWithout", "meanWith"].map(|key| number(&said, &format!("{row}/angles/{key}")));
        eprintln!("level {level}: {without:.2}° without, {with:.2}° with the map");
        // 1.05° of 7.44° and 1.08° of 11.84° when this was written.
        assert!(with < 0.2 * without, "level {level}: {with}° of {without}°");
        assert_eq!(
            number(&said, &format!("{row}/level")),
            f64::from(level),
            "{said}"
        );
    }
    let file = scratch.read("baked.glb");
    assert_eq!(file.levels.len(), 2, "all levels are there");
    let material = |draw: &DrawMesh| draw.parts[0].material;
    assert_eq!(material(&file.draw), Some(0), "the full one has its own");
    let [first, second] = [0, 1].map(|n| material(&file.levels[n].draw));
    assert!(
        first != second && first > Some(0),
        "a material each: {first:?}, {second:?}"
    );
    let part = &file.levels[0].draw.parts[0];
    assert_eq!(part.tangents.len(), part.points.len(), "with tangents");
    // Best over poses is better than the map of the rest pose.
    let rest = scratch
        .dermis("bake lod.glb --size 256 --level 2 --rest-only --normal-map -o rest.glb --json");
    let rest = number(&rest.done().json(), "/targets/0/angles/meanWith");
    let best = number(&said, "/targets/1/angles/meanWith");
    assert!(best <= rest, "{best}° over poses, {rest}° of the rest pose");
}

#[test]
fn a_file_of_its_own_gets_one_material_and_a_tangent_map() {
    let scratch = folder();
    let command =
        "bake tube.glb --to own_lod1.glb --size 128 --tangent-map map.npz -o out.glb --json";
    let said = scratch.dermis(command).done().json();
    assert!(number(&said, "/targets/0/withoutPartner") < 0.01, "{said}");
    assert!(number(&said, "/targets/0/covered") > 0.9, "{said}");
    let file = scratch.read("out.glb");
    let looks = &file.materials;
    assert_eq!(
        (looks.materials.len(), looks.images.len()),
        (1, 2),
        "old ones are gone"
    );
    let color = dermis_io::decode_image(&looks.images[1].bytes).expect("a PNG");
    let at = |x: usize| color.pixels[64 * 128 + x];
    assert!(
        at(16)[0] > 250 && at(48)[1] > 250,
        "stripes: {:?}, {:?}",
        at(16),
        at(48)
    );
    assert!(scratch.files().contains(&"map.npz".to_owned()), "beside it");
    let Some(clients) = support::node_clients() else {
        return;
    };
    assert_plays(&clients, &scratch, "out.glb", "bend", 24.0);
}

#[test]
fn what_cannot_be_baked_is_said_in_one_sentence() {
    let scratch = folder();
    let mut bare = scratch.read("own_lod1.glb");
    bare.draw.parts[0].uvs.clear();
    scratch.write("bare.glb", &bare);
    let mut other = scratch.read("own_lod1.glb");
    let skin = other.skin.as_mut().expect("a skin");
    let mut bones = skin.skeleton.bones().to_vec();
    bones[1].name = "elbow".to_owned();
    skin.skeleton = dermis::Skeleton::new(bones).expect("bones");
    scratch.write("other.glb", &other);
    for (command, sentence) in [
        (
            "bake tube.glb --to bare.glb -o out.glb",
            "bare.glb: mesh tube has no UVs, so there is no place for a picture; `dermis unwrap` makes some",
        ),
        (
            "bake tube.glb --to other.glb -o out.glb",
            "other.glb: expected the same bones in both: bone 1 is bone_1 in the one and elbow in the other",
        ),
        (
            "bake tube.glb --to own_lod1.glb --size 0 -o out.glb",
            "--size: expected 1 to 16384, found 0",
        ),
        (
            "bake tube.glb --to own_lod1.glb --set 3 -o out.glb",
            "--set: expected a set of UVs from 0 to 0, found 3",
        ),
        (
            "bake tube.glb -o out.glb",
            "tube.glb: has no levels to bake to",
        ),
        (
            "bake lod.glb --level 7 -o out.glb",
            "lod.glb: --level 7: expected 1 to 2",
        ),
        (
            "bake lod.glb --tangent-map map.npz -o out.glb",
            "--tangent-map: expected one level, found 2",
        ),
        (
            "bake tube.glb --to own_lod1.glb -o out.obj",
            "out.obj: a character with pictures is written as .glb or .gltf",
        ),
    ] {
        let before = scratch.files();
        let run = scratch.dermis(command);
        assert!(
            run.code == 2 && unbroken(&run.stderr).contains(sentence),
            "{run:#?}"
        );
        assert_eq!(scratch.files(), before, "{command}: nothing is written");
    }
}
