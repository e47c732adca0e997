//! The linear system of an animation-space fit as arrays, with our solution and what it cost.
//!
//! Usage: anim_space_system horse FOLDER OUT | anim_space_system hinge OUT
//!
//! `horse` reads the meshes of a folder (eleven poses of one mesh) and finds 25 bones for them;
//! `hinge` makes a tube whose joints bend about one axis only, two in three of them never, and smooths
//! so little that only neighbours decide what the poses leave open: badly conditioned. Both let a vertex use about 2.6 bones.
//!
//! Writes the rectangular least-squares matrix (rows of equations, compressed; the last weight of
//! every vertex replaced by 1 less the others), its right-hand side, where each vertex's unknowns
//! begin, and our solution as .npy files, and prints times and memory as one line of JSON. See
//! `bench/anim_space_lsqr.sh`.

use std::path::Path;
use std::time::Instant;

use dermis::fit::{
    AnimSpaceOptions, BoneGuess, BoneOptions, ExampleMesh, GlobalSolver, InfluenceChoice,
    InfluenceSets, Prior, Smoothing, fit_anim_space, fit_bones,
};
use dermis::mesh::Topology;
use dermis::progress::Silent;
use dermis::synth::{TubeOptions, tube};
use dermis::{BoneId, Example, ExampleSet, Skin, VertexProgram};
use glam::{DAffine3, DQuat, DVec3};

/// The papers' smoothing, on the horse.
const DELTA: f64 = 0.005;

/// Smoothing of the hinged tube.
const HINGE_DELTA: f64 = 1e-7;

/// Poses of the hinged tube.
const HINGE_POSES: usize = 11;

/// Bones of the horse: as many as in the thesis.
const BONES: usize = 25;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ((set, sets), delta, out) = match words.as_slice() {
        ["horse", folder, out] => (horse(folder.as_ref()), DELTA, Path::new(out)),
        ["hinge", out] => (hinge(), HINGE_DELTA, Path::new(out)),
        _ => panic!("usage: anim_space_system horse FOLDER OUT | anim_space_system hinge OUT"),
    };
    let training: Vec<usize> = (0..set.examples().len()).collect();
    let options = |solver| AnimSpaceOptions {
        influences: InfluenceChoice::Given(sets.clone()),
        smoothing: Smoothing::Edges { delta },
        prior: Prior::Zero,
        solver,
        ..AnimSpaceOptions::default()
    };
    let run = |solver, rounds: usize| {
        let mut best = f64::INFINITY;
        let mut skin = None;
        for _ in 0..rounds {
            let start = Instant::now();
            let fitted = fit_anim_space(&set, &training, &options(solver), &Silent);
            best = best.min(start.elapsed().as_secs_f64());
            skin = Some(fitted.expect("can be fitted").skin);
        }
        (best, skin.expect("at least one round"))
    };
    let before = peak_kib();
    let (_, _) = run(GlobalSolver::ConjugateGradients, 1);
    let grown = peak_kib() - before;
    let (iterations_seconds, skin) = run(GlobalSolver::ConjugateGradients, 7);
    let (factor_seconds, _) = run(GlobalSolver::Cholesky, 1);
    let system = System::new(&set, &sets, delta);
    std::fs::create_dir_all(out).expect("the folder can be made");
    system.write(out, &system.unknowns_of(&set, &skin));
    let influences = skin.program.bones().count() as f64 / skin.vertex_count() as f64;
    println!(
        "{{\"unknowns\": {}, \"influencesPerVertex\": {influences:.2}, \"threads\": {}, \
         \"iterationsSeconds\": {iterations_seconds}, \"choleskySeconds\": {factor_seconds}, \
         \"peakGrowthMiB\": {:.1}}}",
        system.size(),
        std::thread::available_parallelism().map_or(1, usize::from),
        grown as f64 / 1024.0,
    );
}

/// The most memory this process has held, in KiB.
fn peak_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

fn horse(folder: &Path) -> (ExampleSet, InfluenceSets) {
    let read = |name: &str| {
        let path = folder.join(name);
        let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
        document.mesh
    };
    let rest = read("horse-poses-reference.obj");
    let meshes: Vec<Vec<DVec3>> = (1..=10)
        .map(|k| read(&format!("{k}.obj")).positions().to_vec())
        .chain([rest.positions().to_vec()])
        .collect();
    let meshes: Vec<ExampleMesh> = meshes
        .into_iter()
        .enumerate()
        .map(|(k, positions)| ExampleMesh {
            name: format!("{k}"),
            positions,
        })
        .collect();
    let guess = BoneGuess::Count(BONES);
    let found = fit_bones(&rest, &meshes, &guess, &BoneOptions::default(), &Silent)
        .expect("the horse has bones");
    let own = found.cores.iter().map(|&core| vec![core]);
    let sets = InfluenceSets::new(own, BONES).expect("a bone each");
    let set = found.examples;
    let sets = grow(&set, &sets);
    (set, sets)
}

fn hinge() -> (ExampleSet, InfluenceSets) {
    let made = tube(&TubeOptions {
        ring_count: 264,
        segment_count: 32,
        bone_count: 24,
        example_count: HINGE_POSES,
    });
    let set = &made.examples;
    let examples = (0..HINGE_POSES).map(|k| {
        let mut pose = set.skeleton().rest_pose();
        for (j, local) in pose
            .parent_from_bone
            .iter_mut()
            .enumerate()
            .skip(1)
            .step_by(3)
        {
            let angle = 0.3 * (1.0 + (k * j) as f64).sin();
            *local *= DAffine3::from_quat(DQuat::from_rotation_z(angle));
        }
        let mut positions = made.truth.evaluate(&pose).expect("fits");
        for (i, position) in positions.iter_mut().enumerate() {
            position.y += 0.01 * (k as f64 * i as f64).sin();
        }
        Example {
            name: format!("{k}"),
            pose,
            positions,
        }
    });
    let examples = examples.collect();
    let set = ExampleSet::new(set.rest().clone(), set.skeleton().clone(), examples).expect("valid");
    let VertexProgram::Ssd(truth) = &made.truth.program else {
        panic!("the tube is linear blend skinning");
    };
    let sets = InfluenceSets::from_weights(&truth.weights, 0.0, 24).expect("weights");
    let sets = grow(&set, &sets);
    (set, sets)
}

/// Lets sets grow over the mesh until they hold 2.6 bones in the mean.
fn grow(set: &ExampleSet, sets: &InfluenceSets) -> InfluenceSets {
    let topology = Topology::new(set.rest().vertex_count(), set.rest().triangles());
    let mean = |sets: &InfluenceSets| {
        let count: usize = (0..sets.vertex_count()).map(|i| sets.bones(i).len()).sum();
        count as f64 / sets.vertex_count() as f64
    };
    let mut rings = 1;
    loop {
        let grown = sets.grown(&topology, rings, 4);
        if mean(&grown) >= 2.6 || rings == 40 {
            return grown;
        }
        rings += 1;
    }
}

/// Rows of equations over eliminated unknowns.
struct System {
    /// Where each vertex's unknowns begin; one more entry than there are vertices.
    starts: Vec<usize>,
    row_starts: Vec<i64>,
    columns: Vec<i32>,
    values: Vec<f64>,
    right: Vec<f64>,
    frames_from_bone: Vec<DAffine3>,
}

impl System {
    fn new(set: &ExampleSet, sets: &InfluenceSets, delta: f64) -> Self {
        let bounds = set.rest().bounds();
        let unit = (bounds.max - bounds.min).max_element();
        let center = 0.5 * (bounds.min + bounds.max);
        let unit_from_model =
            DAffine3::from_scale(DVec3::splat(1.0 / unit)) * DAffine3::from_translation(-center);
        let joint_frames: Vec<DAffine3> = set
            .skeleton()
            .bones()
            .iter()
            .map(|bone| {
                let joint = bone.bone_from_rest.inverse().translation;
                DAffine3::from_translation(unit_from_model.transform_point3(joint))
            })
            .collect();
        let model_from_unit = unit_from_model.inverse();
        let bones = set.skeleton().bones().iter().zip(&joint_frames);
        let frames_from_bone = bones
            .map(|(bone, frame)| (bone.bone_from_rest * model_from_unit * *frame).inverse())
            .collect();
        let mut starts = vec![0];
        for i in 0..sets.vertex_count() {
            starts.push(starts[i] + 4 * sets.bones(i).len() - 1);
        }
        let mut system = Self {
            starts,
            row_starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            right: Vec::new(),
            frames_from_bone,
        };
        for example in set.examples() {
            let palette = set.skeleton().palette(&example.pose).expect("fits");
            let matrices: Vec<DAffine3> = set
                .skeleton()
                .posed_from_rest(&palette)
                .iter()
                .zip(&joint_frames)
                .map(|(&n, &frame)| unit_from_model * n * model_from_unit * frame)
                .collect();
            for i in 0..sets.vertex_count() {
                let target = unit_from_model.transform_point3(example.positions[i]);
                for axis in 0..3 {
                    let mut terms = Vec::new();
                    for (slot, bone) in sets.bones(i).iter().enumerate() {
                        let matrix = &matrices[bone.index()];
                        for c in 0..3 {
                            terms.push((i, slot, c, matrix.matrix3.col(c)[axis]));
                        }
                        terms.push((i, slot, 3, matrix.translation[axis]));
                    }
                    system.push(sets, &terms, target[axis]);
                }
            }
        }
        system.push_edges(set, sets, unit, delta);
        system
    }

    fn push_edges(&mut self, set: &ExampleSet, sets: &InfluenceSets, unit: f64, delta: f64) {
        let topology = Topology::new(set.rest().vertex_count(), set.rest().triangles());
        for a in 0..set.rest().vertex_count() {
            for &b in topology.neighbors(a).iter().filter(|&&b| b as usize > a) {
                let b = b as usize;
                let length = |e: &Example| e.positions[a].distance(e.positions[b]) / unit;
                let lengths = set.examples().iter().map(length);
                let mean = lengths.sum::<f64>() / set.examples().len() as f64;
                let factor = (delta / mean).sqrt();
                let mut union: Vec<BoneId> = [sets.bones(a), sets.bones(b)].concat();
                union.sort_unstable();
                union.dedup();
                for bone in union {
                    for c in 0..4 {
                        let ends = [(a, factor), (b, -factor)].into_iter();
                        let terms: Vec<_> = ends
                            .filter_map(|(i, factor)| {
                                let slot = sets.bones(i).binary_search(&bone).ok()?;
                                Some((i, slot, c, factor))
                            })
                            .collect();
                        self.push(sets, &terms, 0.0);
                    }
                }
            }
        }
    }

    /// Adds the equation `Σ factor · q_i,slot[component] = right`.
    fn push(&mut self, sets: &InfluenceSets, terms: &[(usize, usize, usize, f64)], right: f64) {
        let mut entries: Vec<(usize, f64)> = Vec::new();
        let mut right = right;
        for &(i, slot, component, factor) in terms {
            let last = sets.bones(i).len() - 1;
            if (slot, component) == (last, 3) {
                right -= factor;
                entries.extend((0..last).map(|other| (self.starts[i] + 4 * other + 3, -factor)));
            } else {
                entries.push((self.starts[i] + 4 * slot + component, factor));
            }
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            self.columns.push(same[0].0 as i32);
            self.values.push(same.iter().map(|entry| entry.1).sum());
        }
        self.row_starts.push(self.columns.len() as i64);
        self.right.push(right);
    }

    fn size(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// A skin's vectors as unknowns of the system.
    fn unknowns_of(&self, set: &ExampleSet, skin: &Skin) -> Vec<f64> {
        let VertexProgram::Linear(linear) = &skin.program else {
            panic!("animation space was fitted");
        };
        assert_eq!(
            linear.influences.len(),
            set.rest().vertex_count(),
            "a row per vertex"
        );
        let unknowns = linear.influences.iter().flat_map(|row| {
            let mut own: Vec<f64> = Vec::new();
            for influence in row {
                let frame = &self.frames_from_bone[influence.bone.index()];
                let p = influence.p;
                let position = frame.matrix3 * p.truncate() + frame.translation * p.w;
                own.extend(position.extend(p.w).to_array());
            }
            own.pop();
            own
        });
        unknowns.collect()
    }

    fn write(&self, folder: &Path, solution: &[f64]) {
        let bytes = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let starts: Vec<u8> = self
            .starts
            .iter()
            .flat_map(|&v| (v as i64).to_le_bytes())
            .collect();
        let arrays: [(&str, &str, usize, Vec<u8>); 6] = [
            ("starts", "<i8", self.starts.len(), starts),
            (
                "row_starts",
                "<i8",
                self.row_starts.len(),
                self.row_starts
                    .iter()
                    .flat_map(|v| v.to_le_bytes())
                    .collect(),
            ),
            (
                "columns",
                "<i4",
                self.columns.len(),
                self.columns.iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            ("values", "<f8", self.values.len(), bytes(&self.values)),
            ("right", "<f8", self.right.len(), bytes(&self.right)),
            ("ours", "<f8", solution.len(), bytes(solution)),
        ];
        for (name, kind, count, data) in arrays {
            let mut header =
                format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}");
            // Padded so that the data begins at a multiple of 64 bytes.
            while (10 + header.len() + 1) % 64 != 0 {
                header.push(' ');
            }
            header.push('\n');
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((header.len() as u16).to_le_bytes());
            file.extend(header.as_bytes());
            file.extend(data);
            std::fs::write(folder.join(format!("{name}.npy")), file).expect("can be written");
        }
    }
}
