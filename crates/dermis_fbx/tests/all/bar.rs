//! `data/bar.fbx`: three rings of four points, two bones, a blend shape with an in-between, two takes; centimetres, z up.

use dermis::document::Document;
use glam::DVec3;

use crate::support::repository;
use crate::{farthest, read, shown};

fn bar() -> Document {
    read(&repository().join("data/bar.fbx"))
}

#[test]
fn centimetres_and_z_up_become_metres_and_y_up() {
    let bar = bar();
    let bounds = bar.mesh.bounds();
    let apart = bounds.max.distance(DVec3::new(0.1, 2.0, 0.1));
    assert!(apart < 1e-12, "two metres high, found {bounds:?}");
    let note = &bar.notes[0];
    assert_eq!(
        note, "centimetres, z up: read as metres, y up",
        "a note says so"
    );
}

#[test]
fn points_faces_and_materials_are_those_of_the_file() {
    let bar = bar();
    assert_eq!(bar.mesh.vertex_count(), 12, "points");
    let polygons = bar.polygons.as_ref().expect("polygons are kept");
    assert_eq!(polygons.counts, [4; 10], "quads");
    assert_eq!(bar.mesh.triangles().len(), 20, "two triangles a quad");
    assert_eq!(bar.draw.parts[0].mesh_name, "Bar", "the name of the node");
    let look = &bar.materials.materials[0];
    assert_eq!(look["name"], "Red", "its material");
    assert_eq!(
        look["pbrMetallicRoughness"]["baseColorFactor"][0], 0.8,
        "its colour"
    );
}

#[test]
fn bones_bend_the_bar_in_the_take() {
    let bar = bar();
    let skin = bar.skin.as_ref().expect("a skin");
    let names: Vec<&str> = skin
        .skeleton
        .bones()
        .iter()
        .map(|b| b.name.as_str())
        .collect();
    assert_eq!(names, ["Lower", "Upper"], "bones");
    let rest = shown(&bar, None);
    assert!(
        farthest(&rest, bar.mesh.positions()) < 1e-12,
        "the default pose is the rest pose"
    );
    let bent = shown(&bar, Some(("Bend", 10.0 / 24.0)));
    // Point 10 is 10, 10, 200 in the file; a quarter turn about x at z = 100 puts it at 10, -100, 110.
    let apart = bent[10].distance(DVec3::new(0.1, 1.1, 1.0));
    assert!(apart < 1e-9, "point 10 is at {}", bent[10]);
    assert!(bent[0].distance(rest[0]) < 1e-12, "the foot stands still");
    // Half of the weight of the middle ring: half-way between standing and turned.
    let apart = bent[6].distance(DVec3::new(0.1, 1.05, -0.05));
    assert!(apart < 1e-9, "point 6 is at {}", bent[6]);
}

#[test]
fn weights_that_do_not_sum_to_1_are_scaled_with_a_note() {
    let bar = bar();
    let said =
        "the weights of 4 vertices did not sum to 1 (the worst sum is 2.0000) and were scaled";
    assert!(bar.notes.iter().any(|note| note == said), "{:?}", bar.notes);
}

#[test]
fn in_betweens_of_blend_shapes_move_as_the_file_says() {
    let bar = bar();
    let skin = bar.skin.as_ref().expect("a skin");
    let names: Vec<&str> = skin.coefficients.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["bulge.50", "bulge"], "a slider for each shape");
    let rest = bar.mesh.positions()[10];
    for (frame, moved) in [
        (0.0, DVec3::ZERO),
        (1.0, DVec3::new(0.0, 0.05, 0.0)),
        (2.0, DVec3::new(0.0, 0.1, 0.0)),
        // Half-way from 0, 0, 10 to 0, 20, 20 in the file.
        (3.0, DVec3::new(0.0, 0.15, -0.1)),
        (4.0, DVec3::new(0.0, 0.2, -0.2)),
    ] {
        let found = shown(&bar, Some(("Bulge", frame / 24.0)))[10];
        let apart = found.distance(rest + moved);
        assert!(apart < 1e-9, "in frame {frame} point 10 is at {found}");
    }
}
