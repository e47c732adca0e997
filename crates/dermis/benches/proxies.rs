//! Proxy bones at run time: placing them, and whole frames against linear blend skinning.
//!
//! `cargo bench -p dermis --bench proxies` prints the tables of docs/performance/proxy-bones.md. Proxies are made by
//! chance with every number of `C1` and `C2` set, which is the most that a fit can leave: 60 patches, of
//! which a quarter are fixed in the frame of a bone, and 40 sources (or all bones, if they are fewer). A
//! frame is from a pose buffer to positions and normals (or positions alone): chain, proxies, palette,
//! vertices. It is compared with the same mesh on the bones alone, with as many influences per vertex.

use std::hint::black_box;
use std::time::Duration;

use dermis::mesh::vertex_normals;
use dermis::rig::Trs;
use dermis::run::timing::{TimedOutput, TimingOptions, best_time};
use dermis::run::{
    BlockXyz, FrameInputs, Mat3x4, Normals, Output, PackOptions, PackedProxies, PackedSkeleton,
    PackedSkin, PaletteEntry, Plane, PoseBuffer,
};
use dermis::synth::{Body, BodyOptions, ProxyOptions, body, proxied};
use dermis::{Pose, Skin};

/// One short run: rounds of them in turn are fairer than long ones one after the other.
const QUICK: TimingOptions = TimingOptions {
    runs: 1,
    run_time: Duration::from_millis(10),
    output: TimedOutput::Blocks,
    threaded: false,
};
const ROUNDS: usize = 15;

/// Everything that a character needs for a frame.
struct Character {
    skeleton: PackedSkeleton,
    proxies: PackedProxies,
    packed: PackedSkin,
    pose: PoseBuffer,
    matrices: Vec<Mat3x4>,
    palette: Vec<PaletteEntry>,
    positions: Vec<BlockXyz>,
    normals: Vec<BlockXyz>,
}

impl Character {
    fn new(skin: &Skin, normals: Normals, posed: &Pose) -> Self {
        let options = PackOptions {
            normals,
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(skin, &options).expect("packs");
        let mut pose = PoseBuffer::new(&skin.skeleton, &[]);
        for (id, local) in skin.skeleton.ids().zip(&posed.parent_from_bone) {
            pose.set_local(id, &Trs::from_affine(local).0);
        }
        let bones = skin.skeleton.bone_count();
        Self {
            skeleton: PackedSkeleton::for_skin(skin),
            proxies: PackedProxies::new(skin).expect("fits"),
            pose,
            matrices: vec![[0.0; 12]; bones],
            palette: vec![PaletteEntry::default(); bones],
            positions: vec![[Plane::ZERO; 3]; packed.block_count()],
            normals: vec![[Plane::ZERO; 3]; packed.block_count()],
            packed,
        }
    }

    fn pose(&mut self) {
        let pose = black_box(&self.pose);
        self.skeleton
            .palette(pose, &mut self.matrices)
            .expect("as many bones");
    }

    fn place(&mut self) {
        let matrices = black_box(&mut self.matrices[..]);
        self.proxies.place(matrices).expect("as many bones");
    }

    fn load(&mut self) {
        self.packed
            .load_palette(&self.matrices, &mut self.palette)
            .expect("as many bones");
    }

    fn frame(&mut self) {
        self.pose();
        self.place();
        self.load();
        let inputs = FrameInputs {
            palette: &self.palette,
            coefficients: &[],
        };
        let out = Output::Blocks {
            positions: &mut self.positions,
            normals: (self.packed.has_normals()).then_some(&mut self.normals[..]),
        };
        self.packed.evaluate(&inputs, out).expect("sizes agree");
    }
}

fn main() {
    println!(
        "| vertices | bones | proxies | chain, µs | place | load | frame | linear blend | times \
         | positions alone | linear blend | times |"
    );
    println!("|{}", " ---: |".repeat(12));
    for vertex_count in [5_000, 15_000, 100_000] {
        for bone_count in [53, 152] {
            let made = body(&BodyOptions {
                vertex_count,
                influences: 4,
                bone_count,
            });
            for proxy_count in [20, 60, 100] {
                row(&made, proxy_count);
            }
        }
    }
}

fn row(made: &Body, proxy_count: usize) {
    let options = ProxyOptions {
        proxy_count,
        patch_count: 60,
        source_count: 40,
        ..ProxyOptions::default()
    };
    let normals = vertex_normals(made.mesh.positions(), made.mesh.triangles());
    let skin = proxied(&made.skin, &options);
    let character =
        |skin: &Skin, normals: &Normals| Character::new(skin, normals.clone(), &made.pose);
    let normals = Normals::Rest(normals);
    let mut with = character(&skin, &normals);
    let mut without = character(&made.skin, &normals);
    let mut bare_with = character(&skin, &Normals::None);
    let mut bare_without = character(&made.skin, &Normals::None);
    // In turn, and again: the machine is not the same for a second.
    let mut best = [f64::INFINITY; 7];
    for _ in 0..ROUNDS {
        let seconds = [
            best_time(&QUICK, || with.pose()),
            best_time(&QUICK, || with.place()),
            best_time(&QUICK, || with.load()),
            best_time(&QUICK, || with.frame()),
            best_time(&QUICK, || without.frame()),
            best_time(&QUICK, || bare_with.frame()),
            best_time(&QUICK, || bare_without.frame()),
        ];
        for (best, seconds) in best.iter_mut().zip(seconds) {
            *best = best.min(1e6 * seconds);
        }
    }
    let [pose, place, load, frame, plain, bare_frame, bare_plain] = best;
    println!(
        "| {} | {} | {proxy_count} | {pose:.2} | {place:.2} | {load:.2} | {frame:.1} | {plain:.1} | {:.2} \
         | {bare_frame:.1} | {bare_plain:.1} | {:.2} |",
        made.skin.vertex_count(),
        made.skin.skeleton.bone_count(),
        frame / plain,
        bare_frame / bare_plain
    );
}
