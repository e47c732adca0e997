//! Pose space deformation at run time: drivers, and corrections on top of a skin.
//!
//! `cargo bench -p dermis --bench psd` prints the tables of docs/performance/corrections.md: what ten corrections
//! that are all on cost on a fifth of a body, how many bytes that is at least, and how long drivers
//! take. With `DERMIS_PSD_FOLDER` it does what `bench/psd_scipy.sh` compares with scipy instead: it
//! writes poses, shapes and results there as raw 64-bit numbers, and prints a line of JSON.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use dermis::mesh::vertex_normals;
use dermis::pose_space::{
    Center, Control, InterpolateOptions, Interpolated, JointTurn, interpolate,
};
use dermis::rig::{Skeleton, Trs};
use dermis::run::timing::{TimedOutput, TimingOptions, best_time, copy_bandwidth};
use dermis::run::{
    BlockXyz, CorrectionPrecision, InstructionSet, NormalLength, Normals, Output, PackOptions,
    PackedDrivers, PackedSkeleton, PackedSkin, PaletteEntry, Plane, PoseBuffer, Stores,
};
use dermis::skin::{Coefficient, Delta, SsdProgram, Weight};
use dermis::synth::{BodyOptions, body};
use dermis::{BoneId, Rows, Skin, VertexProgram};
use glam::{DAffine3, DQuat, DVec3};

const POSES: usize = 10;

/// Numbers from -1 to 1 that look random.
fn noise(index: usize, salt: f64) -> f64 {
    ((index as f64 + 1.0) * 12.9898 + salt * 78.233).sin() * 43_758.545 % 1.0
}

/// One short run: rounds of them in turn are fairer than long ones one after the other.
const QUICK: TimingOptions = TimingOptions {
    runs: 1,
    run_time: Duration::from_millis(15),
    output: TimedOutput::Blocks,
    threaded: false,
};

/// ns per vertex with all coefficients alike.
fn time(skin: &Skin, packed: &PackedSkin, coefficient: f32) -> f64 {
    let rest = skin.skeleton.rest_pose();
    let mut frame = (packed.frame(&skin.run_pose_program(&rest).expect("fits"))).expect("fits");
    frame.coefficients.fill(coefficient);
    let timed = packed.time(&frame.inputs(), &QUICK).expect("sizes agree");
    timed.ns_per_vertex
}

/// A body with ten corrections, each of which moves the same vertices.
fn corrected(base: &Skin, moved: impl Fn(usize) -> bool) -> Skin {
    let shape = |m: usize| {
        let vertices = (0..base.vertex_count()).filter(|&v| moved(v));
        let delta = |v: usize| Delta {
            index: v as u32,
            value: 0.01 * DVec3::new(noise(v, 0.1 * m as f64), noise(v, 0.7), noise(v, 0.9)),
        };
        vertices.map(delta).collect::<Vec<_>>()
    };
    let centers: Vec<Center> = (0..POSES)
        .map(|k| Center {
            name: format!("pose {k}"),
            point: vec![noise(k, 0.1), noise(k, 0.5), noise(k, 0.8)],
            falloffs: vec![0.4],
        })
        .collect();
    let joint = Control::Joint {
        bone: BoneId(1),
        turn: JointTurn::Free,
    };
    let options = InterpolateOptions::default();
    let solved = interpolate("space", &[joint], &centers, POSES, &options).expect("distinct");
    let mut skin = base.clone();
    let names = (0..POSES).map(|m| format!("shape {m}")).collect();
    skin.push_driver(solved.driver, names, (0..POSES).map(shape).collect())
        .expect("one shape per output");
    skin
}

fn corrections_table() {
    let made = body(&BodyOptions {
        vertex_count: 100_000,
        influences: 4,
        bone_count: 100,
    });
    let normals = vertex_normals(made.mesh.positions(), made.mesh.triangles());
    let count = made.skin.vertex_count();
    let near = corrected(&made.skin, |v| v < count / 5);
    let scattered = corrected(&made.skin, |v| v.wrapping_mul(2_654_435_761) % 5 == 0);
    let options = |correction_precision, set, stores| PackOptions {
        normals: Normals::Rest(normals.clone()),
        normal_length: NormalLength::AsBlended,
        correction_precision,
        instruction_set: Some(set),
        stores,
        ..PackOptions::default()
    };
    use CorrectionPrecision::{Bits8, Bits16, Full};
    println!(
        "\n100000 vertices, 4 influences, positions and normals, one thread; {POSES} corrections of \
         20000 vertices, all on"
    );
    println!("| what | ns/vertex | times base | bytes/vertex | times what a copy takes |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let cases = InstructionSet::available().into_iter().rev().take(2);
    let cases = cases.flat_map(|set| [Stores::Cached, Stores::Streamed].map(|s| (set, s)));
    for (set, stores) in cases {
        let linear = |skin: &Skin| skin.to_linear().expect("linear");
        let programs = [
            (
                "linear blend",
                made.skin.clone(),
                near.clone(),
                scattered.clone(),
            ),
            (
                "linear",
                linear(&made.skin),
                linear(&near),
                linear(&scattered),
            ),
        ];
        for (name, base, near, scattered) in programs {
            let rows = [
                ("base", &base, Full, 1.0),
                ("near, 8 bits", &near, Bits8, 0.7),
                ("near, 16 bits", &near, Bits16, 0.7),
                ("near, 32 bits", &near, Full, 0.7),
                ("near, 16 bits, all off", &near, Bits16, 0.0),
                ("scattered, 8 bits", &scattered, Bits8, 0.7),
                ("scattered, 16 bits", &scattered, Bits16, 0.7),
                ("scattered, 32 bits", &scattered, Full, 0.7),
            ];
            let packed = rows.map(|(_, skin, precision, _)| {
                PackedSkin::new(skin, &options(precision, set, stores)).expect("packs")
            });
            // In turn, and again: the machine is not the same for a second.
            let mut best = [f64::INFINITY; 8];
            let mut copied: f64 = 0.0;
            let bytes = |k: usize| {
                let traffic = packed[k].traffic(TimedOutput::Blocks);
                traffic.read + traffic.written
            };
            for _ in 0..15 {
                for (k, (_, skin, _, on)) in rows.iter().enumerate() {
                    best[k] = best[k].min(time(skin, &packed[k], *on));
                }
                let bandwidth = copy_bandwidth(bytes(2) / 2, &QUICK);
                copied = copied.max(bandwidth.cached.max(bandwidth.streamed));
            }
            for (k, (what, _, _, on)) in rows.iter().enumerate() {
                let ratio = best[k] / best[0];
                print!(
                    "| {set:?} {stores:?}, {name}, {what} | {:.2} | {ratio:.2} |",
                    best[k]
                );
                let per_vertex = bytes(k) as f64 / count as f64;
                match *on == 0.0 {
                    true => println!("  |  |"),
                    false => println!(" {per_vertex:.1} | {:.2} |", best[k] * copied / per_vertex),
                }
            }
            println!("copy: {copied:.1} GB/s");
        }
    }
    for (name, skin) in [
        ("base", &made.skin),
        ("near", &near),
        ("scattered", &scattered),
    ] {
        let options = options(Bits16, InstructionSet::best(), Stores::Cached);
        let packed = PackedSkin::new(skin, &options).expect("packs");
        println!(
            "{name}: padding {:.4}, bones per vertex {:.3}, largest step {:.1e}",
            packed.padding_ratio(),
            packed.bones_per_vertex(),
            packed.largest_correction_step()
        );
    }
}

/// A face: a hundred shapes over the same vertices, of which few are on.
fn face_table() {
    let made = body(&BodyOptions {
        vertex_count: 10_000,
        influences: 4,
        bone_count: 100,
    });
    let mut skin = made.skin.clone();
    for _ in 0..10 {
        let more = corrected(&skin, |_| true);
        skin = more.without_pose_program();
    }
    println!("\n10000 vertices, 100 corrections of all of them, 16 bits, positions, one thread");
    println!("| on | ns/vertex |");
    println!("| ---: | ---: |");
    let options = PackOptions {
        correction_precision: CorrectionPrecision::Bits16,
        ..PackOptions::default()
    };
    let base = PackedSkin::new(&made.skin, &options).expect("packs");
    let packed = PackedSkin::new(&skin, &options).expect("packs");
    let rest = skin.skeleton.rest_pose();
    let mut frame = (packed.frame(&skin.run_pose_program(&rest).expect("fits"))).expect("fits");
    let timing = TimingOptions::default();
    let mut bare = frame.clone();
    bare.coefficients.clear();
    let timed = base.time(&bare.inputs(), &timing).expect("sizes agree");
    println!(
        "| no corrections in the skin | {:.2} |",
        timed.ns_per_vertex
    );
    for on in [0, 1, 5, 20, 100] {
        frame.coefficients.fill(0.0);
        (0..on).for_each(|k| frame.coefficients[k * 100 / on] = 0.5);
        let timed = packed.time(&frame.inputs(), &timing).expect("sizes agree");
        println!("| {on} | {:.2} |", timed.ns_per_vertex);
    }
}

fn drivers_table() {
    let made = body(&BodyOptions {
        vertex_count: 1_000,
        influences: 4,
        bone_count: 100,
    });
    println!("\nOne driver of {POSES} poses and outputs, ns, best of several");
    println!("| controls | f32 run-time | f64 reference |");
    println!("| --- | ---: | ---: |");
    let axis = DVec3::Z;
    let turns = [
        ("1 hinge", JointTurn::Hinge { axis }, 1),
        ("1 swing", JointTurn::Swing { axis }, 1),
        ("1 swing and twist", JointTurn::SwingTwist { axis }, 1),
        ("1 free", JointTurn::Free, 1),
        ("5 free", JointTurn::Free, 5),
    ];
    for (name, turn, joints) in turns {
        let controls: Vec<_> = (0..joints)
            .map(|j| Control::Joint {
                bone: BoneId(1 + j),
                turn,
            })
            .collect();
        let dimension: usize = controls.iter().map(Control::dimension).sum();
        let center = |k: usize| Center {
            name: format!("pose {k}"),
            point: (0..dimension).map(|c| 2.0 * noise(k, c as f64)).collect(),
            falloffs: vec![0.3; controls.len()],
        };
        let centers: Vec<_> = (0..POSES).map(center).collect();
        let options = InterpolateOptions::default();
        let solved = interpolate("space", &controls, &centers, POSES, &options).expect("distinct");
        let mut skin = made.skin.clone();
        let names = (0..POSES).map(|m| format!("shape {m}")).collect();
        skin.push_driver(solved.driver, names, vec![Vec::new(); POSES])
            .expect("fits");
        let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
        for (id, local) in skin.skeleton.ids().zip(&made.pose.parent_from_bone) {
            pose.set_local(id, &Trs::from_affine(local).0);
        }
        let mut drivers = PackedDrivers::new(&skin).expect("fits");
        let timing = TimingOptions::default();
        let fast = best_time(&timing, || {
            drivers.drive(black_box(&mut pose)).expect("fits");
        });
        let plain = pose.to_pose();
        let driver = &skin.pose_program.drivers[0];
        let reference = best_time(&timing, || {
            let plain = black_box(&plain);
            let point = driver.point(&skin.skeleton, &plain.parent_from_bone, &plain.coefficients);
            black_box(driver.evaluate(&point));
        });
        println!("| {name} | {:.0} | {:.0} |", fast * 1e9, reference * 1e9);
    }
}

/// Ten poses of three sliders and a mesh of 50,000 vertices, all of which move: fitted, evaluated and
/// written for scipy to do the same.
fn against_scipy(folder: &Path) -> std::io::Result<()> {
    const VERTICES: usize = 50_000;
    let controls = [0, 1, 2].map(|coefficient| Control::Slider { coefficient });
    let falloff = 0.6;
    let centers: Vec<Center> = (0..POSES)
        .map(|k| Center {
            name: format!("pose {k}"),
            point: vec![noise(k, 0.1), noise(k, 0.5), noise(k, 0.8)],
            falloffs: vec![falloff; 3],
        })
        .collect();
    let shapes: Vec<Vec<Delta<DVec3>>> = (0..POSES)
        .map(|m| {
            let delta = |v: usize| Delta {
                index: v as u32,
                value: DVec3::new(noise(v, m as f64), noise(v, 0.3), noise(v, 0.1 * m as f64)),
            };
            (0..VERTICES).map(delta).collect()
        })
        .collect();
    let asked = [0.17, -0.21, 0.32];

    let bones = [("root".to_owned(), None, DAffine3::IDENTITY)];
    let program = SsdProgram {
        rest_positions: vec![DVec3::ZERO; VERTICES],
        weights: Rows::from_iter((0..VERTICES).map(|_| {
            [Weight {
                bone: BoneId(0),
                weight: 1.0,
            }]
        })),
        corrections: Vec::new(),
    };
    let skeleton = Skeleton::from_rest_frames(bones).expect("one bone");
    let base = Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new()).expect("valid");
    let base = base.with_sliders((0..3).map(|k| Coefficient {
        name: format!("slider {k}"),
        default: 0.0,
    }));
    let timing = TimingOptions::default();
    let solve = || -> Interpolated {
        let options = InterpolateOptions::default();
        interpolate("space", &controls, &centers, POSES, &options).expect("distinct")
    };
    let solve_seconds = best_time(&timing, || {
        black_box(solve());
    });
    let names: Vec<String> = (0..POSES).map(|m| format!("shape {m}")).collect();
    let mut skin = base;
    skin.push_driver(solve().driver, names, shapes.clone())
        .expect("one shape per output");
    let mut reports = Vec::new();
    let mut result = vec![[0.0f32; 3]; VERTICES];
    let precisions = [
        ("full", CorrectionPrecision::Full),
        ("16", CorrectionPrecision::Bits16),
    ];
    for (name, precision) in precisions {
        let options = PackOptions {
            correction_precision: precision,
            ..PackOptions::default()
        };
        let pack_seconds = best_time(&timing, || {
            black_box(PackedSkin::new(&skin, &options).expect("packs"));
        });
        let packed = PackedSkin::new(&skin, &options).expect("packs");
        let bones = PackedSkeleton::new(&skin.skeleton);
        let mut drivers = PackedDrivers::new(&skin).expect("fits");
        let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
        let mut matrices = vec![[0.0; 12]; 1];
        let mut palette = vec![PaletteEntry::default(); 1];
        pose.set_local(BoneId(0), &Trs::rigid(DQuat::IDENTITY, DVec3::ZERO));
        let mut blocks: Vec<BlockXyz> = vec![[Plane::ZERO; 3]; packed.block_count()];
        let mut evaluate = |out: Output<'_>, threaded: bool| {
            for (slider, x) in pose.coefficients_mut().iter_mut().zip(asked) {
                *slider = x as f32;
            }
            drivers.drive(&mut pose).expect("fits");
            bones.palette(&pose, &mut matrices).expect("one bone");
            packed
                .load_palette(&matrices, &mut palette)
                .expect("one bone");
            let inputs = dermis::run::FrameInputs {
                palette: &palette,
                coefficients: pose.coefficients(),
            };
            match threaded {
                true => packed.evaluate_threaded(&inputs, out),
                false => packed.evaluate(&inputs, out),
            }
            .expect("sizes agree");
        };
        let [blocks_seconds, threads_seconds] = [false, true].map(|threaded| {
            best_time(&timing, || {
                let out = Output::Blocks {
                    positions: &mut blocks,
                    normals: None,
                };
                evaluate(out, threaded);
            })
        });
        let vertices_seconds = best_time(&timing, || {
            let out = Output::Vertices {
                positions: &mut result,
                normals: None,
            };
            evaluate(out, false);
        });
        write(
            folder,
            &format!("ours_{name}"),
            result.iter().flatten().map(|x| f64::from(*x)),
        )?;
        reports.push(format!(
            "\"{name}\": {{\"pack\": {pack_seconds:e}, \"blocks\": {blocks_seconds:e}, \
             \"vertices\": {vertices_seconds:e}, \"threads\": {threads_seconds:e}}}"
        ));
    }
    write(
        folder,
        "points",
        centers.iter().flat_map(|c| c.point.clone()),
    )?;
    let values = shapes.iter().flatten().flat_map(|d| d.value.to_array());
    write(folder, "shapes", values)?;
    // As our sliders have them.
    write(
        folder,
        "asked",
        asked.into_iter().map(|x| f64::from(x as f32)),
    )?;
    println!(
        "{{\"falloff\": {falloff}, \"solve\": {solve_seconds:e}, {}}}",
        reports.join(", ")
    );
    Ok(())
}

fn write(folder: &Path, name: &str, numbers: impl Iterator<Item = f64>) -> std::io::Result<()> {
    let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
    std::fs::write(folder.join(name), bytes)
}

fn main() -> std::io::Result<()> {
    if let Ok(folder) = std::env::var("DERMIS_PSD_FOLDER") {
        return against_scipy(Path::new(&folder));
    }
    corrections_table();
    face_table();
    drivers_table();
    Ok(())
}
