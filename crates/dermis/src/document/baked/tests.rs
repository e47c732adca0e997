//! Bakes of a small tube and its level.

#![cfg(test)]

use glam::DVec3;
use serde_json::json;

use super::*;
use crate::document::testing::{meshes_alone, tube_with_clips};
use crate::document::{Image, LevelOptions};
use crate::lod::LevelTarget;
use crate::progress::Silent;

const SMALL: AtlasOptions = AtlasOptions {
    size: 96,
    samples: 1,
    reach: 1.0,
};

/// A tube with UVs by angle and height, a texture, and one level of a quarter of its triangles.
fn tube() -> Document {
    let mut document = tube_with_clips(&["bend"]);
    let around = |p: &DVec3| {
        let u = p.z.atan2(p.x) / std::f64::consts::TAU + 0.5;
        [u as f32, (0.1 * p.y) as f32]
    };
    let uvs = document.mesh.positions().iter().map(around).collect();
    let part = &mut document.draw.parts[0];
    part.uvs = vec![uvs];
    part.material = Some(0);
    document.materials.materials = vec![json!({
        "name": "skin", "doubleSided": true,
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "metallicFactor": 0.0 }
    })];
    document.materials.textures = vec![json!({ "source": 0 })];
    document.materials.images = vec![Image {
        name: None,
        mime_type: "image/png".to_owned(),
        bytes: vec![1],
    }];
    let options = LevelOptions {
        targets: vec![LevelTarget::Triangles(document.mesh.triangles().len() / 4)],
        ..LevelOptions::default()
    };
    let leveled = document.with_levels(&options, &Silent);
    leveled.expect("a tube").document
}

fn red() -> Vec<Option<Picture>> {
    vec![Some(Picture {
        width: 1,
        height: 1,
        pixels: vec![[255, 0, 0, 255]],
    })]
}

fn bake(document: &Document, options: BakeOptions) -> Baked {
    let level = document.at_level(1).expect("a level");
    let options = BakeOptions {
        atlas: SMALL,
        ..options
    };
    let baked = document.baked(&level, &options, &red(), &Silent);
    baked.expect("a tube and its level")
}

fn encode(picture: &Picture) -> Result<Vec<u8>, std::convert::Infallible> {
    Ok(vec![0; picture.width])
}

#[test]
fn a_level_gets_a_material_and_tangents_of_its_own() {
    let mut document = tube();
    assert_eq!(
        document.images_to_bake(&BakeOptions::default()),
        [0],
        "read"
    );
    let baked = bake(&document, BakeOptions::default());
    let kinds: Vec<MapKind> = baked.maps.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [MapKind::Normal, MapKind::BaseColor],
        "what there is"
    );
    let color = &baked.maps[1].1;
    assert!(
        color.pixels.iter().all(|p| *p == [255, 0, 0, 255]),
        "all red"
    );
    let sizes = document.wear(1, &baked, "far", encode).expect("bytes");
    assert_eq!(
        sizes,
        [(MapKind::Normal, 96), (MapKind::BaseColor, 96)],
        "bytes"
    );
    let part = &document.levels[0].draw.parts[0];
    assert_eq!(part.tangents.len(), part.points.len(), "a tangent each");
    let material = &document.materials.materials[part.material.expect("one")];
    assert_eq!(material["name"], "far", "the new one");
    assert_eq!(material["doubleSided"], true, "as it was");
    assert_eq!(material["normalTexture"], json!({"index": 1}), "the map");
    assert_eq!(
        document.draw.parts[0].material,
        Some(0),
        "the full one has its own"
    );
    assert_eq!(document.materials.images.len(), 3, "one old, two new");
}

#[test]
fn the_normal_map_brings_the_shading_nearer_over_poses() {
    let document = tube();
    let over = |rest_only| {
        let options = BakeOptions {
            rest_only,
            textures: false,
            ..BakeOptions::default()
        };
        let angles = bake(&document, options).angles.expect("measured");
        (angles.vertex_normals.rms_degrees, angles.mapped.rms_degrees)
    };
    let (without, best) = over(false);
    let (_, rest) = over(true);
    assert!(best < 0.8 * without, "{best}° of {without}°");
    assert!(
        best <= rest + 1e-3,
        "{best}° over poses, {rest}° of the rest pose"
    );
}

#[test]
fn normals_alone_leave_the_textures_as_they_are() {
    let mut document = tube();
    let options = BakeOptions {
        textures: false,
        ..BakeOptions::default()
    };
    let baked = bake(&document, options);
    document.wear(1, &baked, "far", encode).expect("bytes");
    let part = &document.levels[0].draw.parts[0];
    let material = &document.materials.materials[part.material.expect("one")];
    let base = &material["pbrMetallicRoughness"]["baseColorTexture"];
    assert_eq!(base["index"], 0, "the texture that it had");
    assert_eq!(material["normalTexture"]["index"], 1, "and a map");
}

#[test]
fn what_nothing_uses_any_more_is_taken_out() {
    let document = tube();
    let baked = bake(&document, BakeOptions::default());
    let mut level = document.at_level(1).expect("a level");
    level.wear(0, &baked, "far", encode).expect("bytes");
    let looks = &level.materials;
    assert_eq!(
        (looks.materials.len(), looks.images.len()),
        (1, 2),
        "new ones alone"
    );
    let base = &looks.materials[0]["pbrMetallicRoughness"]["baseColorTexture"];
    let texture = base["index"].as_u64().expect("a number") as usize;
    assert_eq!(looks.textures[texture]["source"], 1, "renumbered");
    assert_eq!(level.draw.parts[0].material, Some(0), "renumbered");
}

#[test]
fn what_cannot_be_baked_is_refused_in_a_sentence() {
    let document = tube();
    let refused = |change: &dyn Fn(&mut Document)| {
        let mut level = document.at_level(1).expect("a level");
        change(&mut level);
        let options = BakeOptions {
            atlas: SMALL,
            ..BakeOptions::default()
        };
        let baked = document.baked(&level, &options, &red(), &Silent);
        baked.expect_err("refused").to_string()
    };
    let bare = refused(&|level| level.draw.parts[0].uvs.clear());
    assert!(bare.contains("has no UVs"), "{bare}");
    let empty = refused(&|level| level.draw.parts[0].triangles.clear());
    assert!(empty.contains("expected faces to bake"), "{empty}");
    let other = refused(&|level| *level = renamed(level));
    assert!(other.contains("bone 1 is"), "{other}");
}

fn renamed(document: &Document) -> Document {
    let mut document = document.clone();
    let skin = document.skin.as_mut().expect("a skin");
    let mut bones = skin.skeleton.bones().to_vec();
    bones[1].name = "other".to_owned();
    skin.skeleton = crate::rig::Skeleton::new(bones).expect("bones");
    document
}

#[test]
fn without_a_skin_the_rest_pose_is_all_there_is() {
    let document = tube();
    let level = meshes_alone(&document.at_level(1).expect("a level"));
    let options = BakeOptions {
        atlas: SMALL,
        tangent_map: true,
        ..BakeOptions::default()
    };
    let baked = document.baked(&level, &options, &red(), &Silent);
    let baked = baked.expect("a mesh");
    assert_eq!(baked.pose_count, 1, "rest");
    let said = baked.notes.iter().any(|note| note.contains("has a skin"));
    assert!(said, "{:?}", baked.notes);
    let map = baked.tangent_map.expect("asked for");
    assert_eq!(map.size(), 96, "texels of the atlas");
}
