//! `dermis info`: what is in a file.

use std::io::Write;

use anyhow::Context;
use dermis::Skin;
use dermis::lod::Progressive;
use dermis::measure::Measures;
use dermis::mesh::Topology;
use dermis_io::{Document, SkinRecord};
use serde::Serialize;

use super::info_bones::{BoneInfo, print_bones};
use super::info_levels::LevelInfo;
use crate::Outcome;
use crate::args::InfoArgs;
use crate::report::{self, Report};
use crate::talk::{Talk, format_bytes, plural};

/// Everything that is said about a file; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    file: String,
    bytes: u64,
    meshes: usize,
    parts: usize,
    drawn_vertices: usize,
    points: usize,
    triangles: usize,
    pieces: usize,
    boundary_loops: usize,
    bounding_box: [[f64; 3]; 2],
    materials: usize,
    images: usize,
    uv_sets: usize,
    skins: Vec<usize>,
    bones: usize,
    /// With `--bones`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bone_list: Option<Vec<BoneInfo>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    influences: Option<Influences>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelInfo>,
    /// Steps of the simplification, with `lod --progressive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    morph_targets: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drivers: Vec<DriverInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxies: Option<ProxyInfo>,
    clips: Vec<ClipInfo>,
    frames: usize,
    frames_with_poses: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dermis_skin: Option<SkinRecord>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Influences {
    mean: f64,
    max: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DriverInfo {
    name: String,
    controls: usize,
    poses: usize,
    shapes: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProxyInfo {
    bones: usize,
    patches: usize,
    joints: usize,
    sources: usize,
    /// Of C1 and C2, as the file has them.
    matrix_bytes: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClipInfo {
    name: String,
    seconds: f64,
    channels: usize,
    keys: usize,
}

pub(crate) fn run(args: &InfoArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let mut infos = Vec::new();
    for file in &args.files {
        // A point cache is described on its own: the mesh beside it is another file.
        let document = match dermis_io::Format::of(file)?.is_point_cache() {
            true => dermis_io::read_points(file)?,
            false => dermis_io::read(file)?,
        };
        let document = args.level.taken_from(document)?;
        let mut info = describe(&document);
        if args.bones {
            let bones = document.bone_summaries();
            let bones = bones.with_context(|| file.display().to_string())?;
            info.bone_list = Some(BoneInfo::of(&bones));
        }
        infos.push(info);
        talk.check_stopped()?;
    }
    if args.print.has_provenance() {
        let data = serde_json::to_value(&infos).context("the facts are plain JSON")?;
        report::print(&Report::plain(data, Vec::new()), args.print)?;
        return Ok(Outcome::Done);
    }
    let mut text = Vec::new();
    (infos
        .iter()
        .try_for_each(|info| print_table(&mut text, info)))
    .context("a text in memory can be written")?;
    let text = String::from_utf8_lossy(&text);
    let page = match args.print.wide {
        true => usize::MAX,
        false => report::page_width(),
    };
    let mut out = std::io::stdout().lock();
    (text.lines())
        .try_for_each(|line| writeln!(out, "{}", report::wrap(line, page, FACT_WIDTH)))
        .context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// Letters that the names of facts take, with the blanks around them.
const FACT_WIDTH: usize = 17;

fn describe(document: &Document) -> Info {
    let mesh = &document.mesh;
    let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
    let bounds = mesh.bounds();
    let skeleton = document.skin.as_ref().map(|skin| &skin.skeleton);
    let bones = skeleton.or(document.skeleton.as_ref());
    let clip_info = |clip: &dermis::Clip| ClipInfo {
        name: clip.name.clone(),
        seconds: clip.end() - clip.start(),
        channels: clip.channels.len(),
        keys: clip
            .channels
            .iter()
            .map(|c| c.times().len())
            .max()
            .unwrap_or(0),
    };
    Info {
        file: document.path.display().to_string(),
        bytes: document.facts.bytes,
        meshes: document.facts.mesh_count,
        parts: document.draw.parts.len(),
        drawn_vertices: document.draw.vertex_count(),
        points: mesh.vertex_count(),
        triangles: mesh.triangles().len(),
        pieces: topology.component_count(),
        boundary_loops: topology.boundary_loops().len(),
        bounding_box: [bounds.min.to_array(), bounds.max.to_array()],
        materials: document.materials.materials.len(),
        images: document.materials.images.len(),
        uv_sets: document
            .draw
            .parts
            .iter()
            .map(|p| p.uvs.len())
            .max()
            .unwrap_or(0),
        skins: document.facts.joints_of_skin.clone(),
        bones: bones.map_or(0, dermis::Skeleton::bone_count),
        bone_list: None,
        influences: document.skin.as_ref().map(influences),
        levels: LevelInfo::all_of(document),
        steps: (document.progressive.as_ref()).map(Progressive::step_count),
        morph_targets: document.facts.morph_targets_of_mesh.clone(),
        drivers: (document
            .skin
            .iter()
            .flat_map(|skin| &skin.pose_program.drivers))
        .map(|driver| DriverInfo {
            name: driver.name.clone(),
            controls: driver.controls.len(),
            poses: driver.centers.len(),
            shapes: driver.output_count(),
        })
        .collect(),
        proxies: (document.skin.as_ref())
            .and_then(|skin| skin.pose_program.proxies())
            .map(|proxies| ProxyInfo {
                bones: proxies.bones.len(),
                patches: proxies.patches.len(),
                joints: proxies.joints.len(),
                sources: proxies.sources.len(),
                matrix_bytes: size_of::<f32>()
                    * (proxies.from_patches.len() + proxies.from_sources.len()),
            }),
        clips: document.clips.iter().map(clip_info).collect(),
        frames: document.frames.len(),
        frames_with_poses: document.frame_poses.len(),
        frames_per_second: document.frames_per_second,
        dermis_skin: document.record.clone(),
        problems: problems(document, &topology),
    }
}

fn influences(skin: &Skin) -> Influences {
    let items = skin.program.bones().count();
    Influences {
        mean: items as f64 / skin.vertex_count().max(1) as f64,
        max: skin.program.max_influences(),
    }
}

/// What was repaired while reading, and what the mesh itself has that fits may stumble over.
fn problems(document: &Document, topology: &Topology) -> Vec<String> {
    let mut problems = document.notes.clone();
    let mut count = |number: usize, singular: &str, plural: &str| match number {
        0 => {}
        1 => problems.push(format!("1 {singular}")),
        _ => problems.push(format!("{number} {plural}")),
    };
    count(
        topology.non_manifold_edges().len(),
        "edge has more than two triangles, or two that face opposite ways",
        "edges have more than two triangles, or two that face opposite ways",
    );
    count(
        topology.degenerate_triangles().len(),
        "triangle names a point twice",
        "triangles name a point twice",
    );
    if !document.mesh.triangles().is_empty() {
        count(
            topology.unreferenced_vertices().len(),
            "point touches no triangle",
            "points touch no triangle",
        );
    }
    problems
}

fn print_table(out: &mut impl Write, info: &Info) -> std::io::Result<()> {
    writeln!(out, "{}", info.file)?;
    let mut row = |name: &str, value: String| writeln!(out, "  {name:<14} {value}");
    row("size", format_bytes(info.bytes))?;
    if info.points > 0 {
        row(
            "meshes",
            format!("{} in {}", info.meshes, plural(info.parts, "part")),
        )?;
        row(
            "vertices",
            match info.drawn_vertices == info.points {
                true => info.points.to_string(),
                false => format!(
                    "{} drawn, {} points when welded",
                    info.drawn_vertices, info.points
                ),
            },
        )?;
        if info.triangles > 0 {
            row("triangles", info.triangles.to_string())?;
            let loops = plural(info.boundary_loops, "boundary loop");
            row("pieces", format!("{}, with {loops}", info.pieces))?;
        }
        let [min, max] = info.bounding_box;
        let corner = |c: [f64; 3]| format!("({:.4}, {:.4}, {:.4})", c[0], c[1], c[2]);
        row("box", format!("{} to {}", corner(min), corner(max)))?;
    }
    if info.materials + info.uv_sets > 0 {
        row(
            "look",
            format!(
                "{}, {}, {}",
                plural(info.materials, "material"),
                plural(info.images, "image"),
                plural(info.uv_sets, "UV set")
            ),
        )?;
    }
    if info.bones > 0 {
        let joints: Vec<String> = info.skins.iter().map(usize::to_string).collect();
        row(
            "bones",
            match joints.is_empty() {
                true => info.bones.to_string(),
                false => format!(
                    "{} ({} of {} joints)",
                    info.bones,
                    plural(joints.len(), "skin"),
                    joints.join(", ")
                ),
            },
        )?;
    }
    if let Some(influences) = &info.influences {
        row(
            "influences",
            format!(
                "{:.2} per vertex, at most {}",
                influences.mean, influences.max
            ),
        )?;
    }
    for (number, level) in info.levels.iter().enumerate() {
        row(&format!("level {}", number + 1), level.text())?;
    }
    if let Some(steps) = info.steps {
        let text = format!(
            "{}, each of them a level: --steps takes one",
            plural(steps, "step")
        );
        row("progressive", text)?;
    }
    if !info.morph_targets.is_empty() {
        let counts: Vec<String> = info.morph_targets.iter().map(usize::to_string).collect();
        row("morph targets", counts.join(", "))?;
    }
    for driver in &info.drivers {
        row(
            "driver",
            format!(
                "'{}' {} of {} at {}",
                driver.name,
                plural(driver.shapes, "shape"),
                plural(driver.controls, "control"),
                plural(driver.poses, "pose")
            ),
        )?;
    }
    if let Some(proxies) = &info.proxies {
        row(
            "proxy bones",
            format!(
                "{}, placed from {} at {} and {}, {} of matrices",
                proxies.bones,
                plural(proxies.patches, "patch"),
                plural(proxies.joints, "joint"),
                plural(proxies.sources, "bone"),
                format_bytes(proxies.matrix_bytes as u64)
            ),
        )?;
    }
    for clip in &info.clips {
        row(
            "clip",
            format!(
                "'{}' {:.3} s, {}, up to {}",
                clip.name,
                clip.seconds,
                plural(clip.channels, "channel"),
                plural(clip.keys, "key")
            ),
        )?;
    }
    if info.frames > 0 {
        let rate = info
            .frames_per_second
            .map_or(String::new(), |fps| format!(" at {fps:.3} fps"));
        let poses = match info.frames_with_poses {
            0 => "",
            _ => ", with the skeleton's pose in each",
        };
        row("frames", format!("{}{rate}{poses}", info.frames))?;
    }
    if let Some(record) = &info.dermis_skin {
        row(
            "DERMIS_skin",
            format!(
                "method {}, {}, by {}",
                record.method,
                recorded_error(record.training.as_ref(), record.held_out.as_ref()),
                record.generator
            ),
        )?;
        if record.plain_training.is_some() {
            row(
                "stock engines",
                format!(
                    "show a stand-in: {}",
                    recorded_error(
                        record.plain_training.as_ref(),
                        record.plain_held_out.as_ref()
                    )
                ),
            )?;
        }
    }
    let bounds = info.dermis_skin.as_ref().and_then(|r| r.bounds.as_ref());
    if let Some(bounds) = bounds {
        let sphere = |ball: Option<dermis::mesh::Ball>| {
            ball.map_or("none".to_owned(), |ball| format!("{:.4}", ball.radius))
        };
        row(
            "bounds",
            format!(
                "radius {} in every pose that the joints allow, {} in all clips",
                sphere(bounds.legal),
                sphere(bounds.clips)
            ),
        )?;
    }
    for problem in &info.problems {
        row("problem", problem.clone())?;
    }
    match &info.bone_list {
        Some(bones) => print_bones(out, bones),
        None => Ok(()),
    }
}

/// What a file says about the error of its skin, or of the stand-in that stock engines show.
fn recorded_error(training: Option<&Measures>, held_out: Option<&Measures>) -> String {
    let fitted = training.map(|measures| {
        format!(
            "E_RMS {:.3} on the {} that it was fitted to",
            measures.e_rms,
            plural(measures.example_count, "example")
        )
    });
    let held_out = held_out.map(|measures| {
        format!(
            "{:.3} on the {} held out from a fit to the rest",
            measures.e_rms, measures.example_count
        )
    });
    match (fitted, held_out) {
        (Some(fitted), Some(held_out)) => format!("{fitted}, {held_out}"),
        (Some(fitted), None) => format!("{fitted}, none held out"),
        (None, Some(held_out)) => format!("E_RMS {held_out}"),
        (None, None) => "error not recorded".to_owned(),
    }
}
