//! `dermis bench`: how fast a skin is on this machine, and how fast the machine could be.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use dermis::mesh::vertex_normals;
use dermis::normal::tangents_from_rest_normals;
use dermis::run::timing::{TimedOutput, Timing, TimingOptions, copy_bandwidth};
use dermis::run::{InstructionSet, Normals, PackOptions, PackedSkin};
use dermis::skin::{DualQuaternionProgram, MultiWeight, MultiWeightProgram, SsdProgram};
use dermis::{Pose, Skin, TriMesh, VertexProgram};
use serde::Serialize;

use super::bench_against::{self, Against};
use super::bench_frame::{self, WholeFrame};
use super::bench_gpu;
use super::skin_of;
use crate::Outcome;
use crate::args::BenchArgs;
use crate::level_args::LevelArgs;
use crate::report::{self, Block, Column, Format, Level, Report, Row, Table};
use crate::talk::Talk;

/// Everything that was measured; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Timings {
    vertices: usize,
    bones: usize,
    mean_influences: f64,
    instructions: String,
    threads: usize,
    /// The plain evaluation in double precision that the others are tested against.
    plain_ns_per_vertex: f64,
    rows: Vec<Timed>,
    /// Of a skin with proxy bones.
    #[serde(skip_serializing_if = "Option::is_none")]
    whole_frame: Option<WholeFrame>,
    /// With `--against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Against>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Timed {
    program: &'static str,
    normals: &'static str,
    output: &'static str,
    threads: usize,
    ns_per_vertex: f64,
    million_vertices_per_second: f64,
    bytes_per_vertex: f64,
    gigabytes_per_second: f64,
    /// Of the bandwidth of a copy of as many bytes by one thread, in the same run.
    share_of_copy: f64,
    gigaflops: f64,
    /// Slots over vertices: what filling up blocks of sixteen costs.
    padding: f64,
}

/// A skin to time, with its mesh and a pose.
pub(super) struct Subject {
    pub(super) mesh: TriMesh,
    pub(super) skin: Skin,
    pub(super) pose: Pose,
}

/// A skin packed one way.
struct Case {
    program: &'static str,
    normals: &'static str,
    packed: PackedSkin,
    skin: Skin,
}

pub(crate) fn run(args: &BenchArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    if args.gpu {
        return bench_gpu::run(args, talk);
    }
    let Some(path) = &args.skin else {
        bail!("which skin? `dermis bench` times that of a file, such as skin.glb");
    };
    let subject = read_subject(path, args.level, talk)?;
    let Subject { mesh, skin, pose } = &subject;
    if skin.vertex_count() == 0 {
        bail!("{}: there are no vertices to time", path.display());
    }
    // Before anything is timed: a file that does not fit should not be heard of a minute later.
    let other = match &args.against {
        Some(path) => {
            // Its mesh has to be that of the level: a file of its own has it as level 0.
            let other = read_subject(path, LevelArgs::default(), talk)?;
            bench_against::check(&subject, &other, path)?;
            Some((path, other))
        }
        None => None,
    };
    let cases = cases(mesh, skin)?;
    let mut rows = Vec::new();
    let threads = rayon::current_num_threads();
    let total = 3 * cases.len();
    for (number, case) in cases.iter().enumerate() {
        let kinds = [
            (TimedOutput::Blocks, false),
            (TimedOutput::Blocks, true),
            (TimedOutput::Vertices, false),
        ];
        for (step, (output, threaded)) in kinds.into_iter().enumerate() {
            use dermis::progress::Progress;
            talk.report("timing", 3 * number + step, total);
            talk.check_stopped()?;
            let options = TimingOptions {
                output,
                threaded,
                ..TimingOptions::default()
            };
            rows.push(time(
                case,
                pose,
                &options,
                if threaded { threads } else { 1 },
            )?);
        }
    }
    let timings = Timings {
        vertices: skin.vertex_count(),
        bones: skin.skeleton.bone_count(),
        mean_influences: dermis::measure::Cost::of(skin).mean_influences,
        instructions: format!("{:?}", InstructionSet::best()),
        threads,
        plain_ns_per_vertex: time_plain(skin, pose)?,
        rows,
        whole_frame: bench_frame::time(mesh, skin, pose, talk)?,
        against: match &other {
            Some((path, other)) => Some(bench_against::time(&subject, other, path, talk)?),
            None => None,
        },
    };
    talk.clear();
    report::print(&report_of(&timings)?, args.print)?;
    Ok(Outcome::Done)
}

/// A file's skin, in the middle of its first clip.
pub(super) fn read_subject(path: &Path, level: LevelArgs, talk: &Talk) -> anyhow::Result<Subject> {
    let document = level.taken_from(dermis_io::read(path)?)?;
    talk.remark_notes(&document);
    let skin = skin_of(&document)?.clone();
    let pose = match (&document.clips[..], &document.frame_poses[..]) {
        ([clip, ..], _) => skin.sample(clip, 0.5 * (clip.start() + clip.end())),
        ([], [.., last]) => last.clone(),
        ([], []) => skin.skeleton.default_pose(),
    };
    Ok(Subject {
        mesh: document.mesh,
        skin,
        pose,
    })
}

/// The skin as every vertex program that can hold it.
fn cases(mesh: &TriMesh, skin: &Skin) -> anyhow::Result<Vec<Case>> {
    let rest_normals = vertex_normals(mesh.positions(), mesh.triangles());
    let tangents = tangents_from_rest_normals(skin, &rest_normals)?.four_vectors();
    let mut list = vec![
        ("linear", "none", skin.to_linear()?, Normals::None),
        (
            "linear",
            "tangents",
            skin.to_linear()?,
            Normals::Tangents(tangents),
        ),
    ];
    if let VertexProgram::Ssd(ssd) = &skin.program {
        let with = |program| Skin {
            program,
            ..skin.clone()
        };
        let rest = Normals::Rest(rest_normals);
        let multi = with(VertexProgram::MultiWeight(same_weights(ssd)));
        let dual = with(VertexProgram::DualQuaternion(DualQuaternionProgram {
            weighted: ssd.clone(),
        }));
        list.push(("linear blend", "none", skin.clone(), Normals::None));
        list.push(("linear blend", "rest", skin.clone(), rest.clone()));
        list.push(("multi-weight", "rest", multi, rest.clone()));
        list.push(("dual quaternion", "rest", dual, rest));
    }
    list.into_iter()
        .map(|(program, kind, skin, normals)| {
            let options = PackOptions {
                normals,
                ..PackOptions::default()
            };
            Ok(Case {
                program,
                normals: kind,
                packed: PackedSkin::new(&skin, &options)?,
                skin,
            })
        })
        .collect()
}

/// Twelve equal weights per influence: the same deformation, at the cost of the general program.
pub(super) fn same_weights(ssd: &SsdProgram) -> MultiWeightProgram {
    let influences = ssd
        .weights
        .iter()
        .map(|row| {
            row.iter().map(|w| MultiWeight {
                bone: w.bone,
                weights: [[w.weight; 4]; 3],
            })
        })
        .collect();
    MultiWeightProgram {
        rest_positions: ssd.rest_positions.clone(),
        influences,
        corrections: ssd.corrections.clone(),
    }
}

fn time(
    case: &Case,
    pose: &Pose,
    options: &TimingOptions,
    threads: usize,
) -> anyhow::Result<Timed> {
    let frame = case.packed.frame(&case.skin.run_pose_program(pose)?)?;
    let Timing {
        ns_per_vertex,
        traffic,
        gigabytes_per_second,
    } = case.packed.time(&frame.inputs(), options)?;
    let bytes = traffic.read + traffic.written;
    let copy = copy_bandwidth(bytes / 2, options);
    let one_thread = copy.cached.max(copy.streamed);
    Ok(Timed {
        program: case.program,
        normals: case.normals,
        output: match options.output {
            TimedOutput::Blocks => "blocks",
            TimedOutput::Vertices => "vertices",
        },
        threads,
        ns_per_vertex,
        million_vertices_per_second: 1e3 / ns_per_vertex,
        bytes_per_vertex: bytes as f64 / case.packed.vertex_count() as f64,
        gigabytes_per_second,
        share_of_copy: gigabytes_per_second / one_thread,
        gigaflops: case.packed.flops_per_vertex() / ns_per_vertex,
        padding: case.packed.padding_ratio(),
    })
}

fn time_plain(skin: &Skin, pose: &Pose) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        std::hint::black_box(skin.evaluate(pose)?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(1e9 * best / skin.vertex_count() as f64)
}

/// A row for every program, kind of normals, output and number of threads.
fn report_of(timings: &Timings) -> anyhow::Result<Report> {
    let about = format!(
        "{} vertices, {} bones, {:.2} influences per vertex, {} instructions",
        timings.vertices, timings.bones, timings.mean_influences, timings.instructions
    );
    let column = |key: &str, heading, format| Column::new(key, ["", heading], format);
    let wide =
        |key: &str, heading, digits| column(key, heading, Format::Number(digits)).at(Level::Wide);
    let table = Table {
        names: "program",
        columns: vec![
            column("/normals", "normals", Format::Words),
            column("/output", "output", Format::Words),
            column("/threads", "threads", Format::Count),
            column("/nsPerVertex", "ns/vertex", Format::Number(2)),
            wide("/millionVerticesPerSecond", "Mvertices/s", 0),
            wide("/bytesPerVertex", "bytes/v", 0),
            wide("/gigabytesPerSecond", "GB/s", 1),
            column("/shareOfCopy", "copy", Format::Share(0)),
            wide("/gigaflops", "Gflop/s", 1),
            wide("/padding", "padding", 2),
        ],
        rows: (timings.rows.iter().enumerate())
            .map(|(number, row)| Row::new(row.program, format!("/rows/{number}")))
            .collect(),
        ..Table::default()
    };
    let mut sentences = vec![
        format!(
            "simple evaluation in double precision, for comparison: {:.1} ns/vertex",
            timings.plain_ns_per_vertex
        ),
        "copy: memory traffic as a share of what one thread copies here, measured in the same run"
            .to_owned(),
    ];
    sentences.extend(timings.whole_frame.iter().flat_map(WholeFrame::lines));
    sentences.extend(timings.against.iter().flat_map(Against::lines));
    let data = serde_json::to_value(timings).context("numbers are plain JSON")?;
    let blocks = vec![
        Block::Sentences(vec![about]),
        Block::Table(table),
        Block::Sentences(sentences),
    ];
    Ok(Report::plain(data, blocks))
}
