//! Draws a character in one pose, as it is and subdivided, with the edges of its triangles:
//! `cargo run --release -p dermis_cli --example subdivide_picture -- FILE CLIP SECONDS PICTURE.png`.

use std::error::Error;
use std::path::Path;

use dermis::subdiv::{Scheme, SubdivisionOptions};
use dermis_io::{Document, SubdivideOptions};
use dermis_render::glam::Vec3;
use dermis_render::{
    Camera, Ground, Panel, Scene, SheetStyle, Surface, UpAxis, Wireframe, render, sheet,
    smooth_normals,
};

/// Size of one picture, in pixels.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 420;

/// One picture of the sheet.
struct Shot {
    caption: String,
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, clip, seconds, picture] = &arguments[..] else {
        return Err("expected FILE CLIP SECONDS PICTURE.png".into());
    };
    let document = dermis_io::read(Path::new(file))?;
    let mut shots = vec![shot(&document, clip, seconds.parse()?, "as it is")?];
    for (levels, crease_deg, caption) in [
        (1, None, "--levels 1"),
        (2, None, "--levels 2"),
        (2, Some(70f64), "--levels 2 --crease-angle 70"),
    ] {
        let options = SubdivideOptions {
            subdivision: SubdivisionOptions {
                scheme: Scheme::Loop,
                levels,
                ..SubdivisionOptions::default()
            },
            crease_angle_rad: crease_deg.map(f64::to_radians),
            ..SubdivideOptions::default()
        };
        let finer = document.subdivided(&options)?.document;
        shots.push(shot(&finer, clip, seconds.parse()?, caption)?);
    }
    let all: Vec<&[Vec3]> = shots.iter().map(|shot| &shot.positions[..]).collect();
    let camera = Camera::three_quarter(&all, UpAxis::Y, WIDTH as f32 / HEIGHT as f32);
    let panels = shots.iter().map(|shot| {
        let normals = smooth_normals(&shot.positions, &shot.triangles);
        let scene = Scene {
            surfaces: vec![Surface {
                wireframe: Some(Wireframe {
                    opacity: 0.35,
                    ..Wireframe::default()
                }),
                ..Surface::new(&shot.positions, &normals, &shot.triangles)
            }],
            ground: Some(Ground::default()),
            ..Scene::default()
        };
        Ok(Panel::new(
            render(&scene, &camera, WIDTH, HEIGHT)?,
            &shot.caption,
        ))
    });
    let panels = panels.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let image = sheet(
        &panels,
        &SheetStyle {
            columns: Some(2),
            ..SheetStyle::default()
        },
    );
    dermis_io::write_file(Path::new(picture), &image.to_png()?)?;
    Ok(())
}

fn shot(document: &Document, clip: &str, seconds: f64, what: &str) -> Result<Shot, Box<dyn Error>> {
    let skin = document.skin.as_ref().ok_or("expected a skin")?;
    let clip = document.clips.iter().find(|c| c.name == clip);
    let clip = clip.ok_or("expected a clip of that name")?;
    let shown = skin.evaluate(&skin.sample(clip, seconds))?;
    let triangles = document.mesh.triangles().to_vec();
    Ok(Shot {
        caption: format!("{what}: {} triangles", triangles.len()),
        positions: shown.iter().map(|p| p.as_vec3()).collect(),
        triangles,
    })
}
