//! Whole frames of a skin with proxy bones, for `dermis bench`, against linear blend skinning.
//!
//! A frame is from the pose of every bone to positions and normals: matrices down the skeleton, proxies, and
//! vertices. What it is compared with has the same vertices with as many influences each, but on the bones
//! that are posed: the weight of a proxy goes to the bone that it follows most of those that do not move the
//! vertex yet.

use std::time::Duration;

use dermis::mesh::vertex_normals;
use dermis::rig::{ProxyBones, Trs};
use dermis::run::timing::{TimedOutput, TimingOptions, best_time};
use dermis::run::{
    BlockXyz, FrameInputs, Mat3x4, Normals, Output, PackOptions, PackedDrivers, PackedProxies,
    PackedSkeleton, PackedSkin, PaletteEntry, Plane, PoseBuffer,
};
use dermis::skin::{SsdProgram, Weight};
use dermis::{BoneId, Pose, Skeleton, Skin, TriMesh, VertexProgram};
use glam::DVec3;
use serde::Serialize;

use crate::talk::{Talk, format_bytes, plural};

/// What was measured; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WholeFrame {
    proxies: usize,
    patches: usize,
    sources: usize,
    /// Of placing all proxies, on one thread.
    place_microseconds: f64,
    rows: Vec<FrameRow>,
    /// Of `C1` and `C2`, as 32-bit numbers.
    matrix_bytes: usize,
    /// Of the weights and their bones.
    weight_bytes: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameRow {
    threads: usize,
    microseconds: f64,
    linear_blend_microseconds: f64,
    times_linear_blend: f64,
}

/// Short runs in turn: longer ones would meet the machine in different moods.
const ROUNDS: usize = 12;
const ROUND: TimingOptions = TimingOptions {
    runs: 1,
    run_time: Duration::from_millis(10),
    output: TimedOutput::Blocks,
    threaded: false,
};

/// Times whole frames of a linear blend skin with proxies; of any other there is nothing to say.
pub(super) fn time(
    mesh: &TriMesh,
    skin: &Skin,
    pose: &Pose,
    talk: &Talk,
) -> anyhow::Result<Option<WholeFrame>> {
    let (Some(proxies), VertexProgram::Ssd(program)) = (skin.pose_program.proxies(), &skin.program)
    else {
        return Ok(None);
    };
    let plain = on_posed_bones(skin, program, proxies)?;
    let normals = vertex_normals(mesh.positions(), mesh.triangles());
    let mut characters = [
        Character::new(skin, pose, &normals)?,
        Character::new(&plain, pose, &normals)?,
    ];
    let mut place = f64::INFINITY;
    let mut thread_counts = vec![1, rayon::current_num_threads()];
    thread_counts.dedup();
    let mut rows = Vec::new();
    for threads in thread_counts {
        let [microseconds, linear_blend_microseconds] =
            best_frames(&mut characters, threads, talk)?;
        for _ in 0..ROUNDS {
            let seconds = best_time(&ROUND, || characters[0].place());
            place = place.min(1e6 * seconds);
        }
        rows.push(FrameRow {
            threads,
            microseconds,
            linear_blend_microseconds,
            times_linear_blend: microseconds / linear_blend_microseconds,
        });
    }
    let index = if skin.skeleton.bone_count() <= 256 {
        1
    } else {
        2
    };
    Ok(Some(WholeFrame {
        proxies: proxies.bones.len(),
        patches: proxies.patches.len(),
        sources: proxies.sources.len(),
        place_microseconds: place,
        rows,
        matrix_bytes: 4 * (proxies.from_patches.len() + proxies.from_sources.len()),
        weight_bytes: (4 + index) * program.weights.items().len(),
    }))
}

/// Microseconds of a frame of each of two characters, the best of several rounds in turn.
pub(super) fn best_frames(
    characters: &mut [Character; 2],
    threads: usize,
    talk: &Talk,
) -> anyhow::Result<[f64; 2]> {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        talk.check_stopped()?;
        for (best, character) in best.iter_mut().zip(characters.iter_mut()) {
            let seconds = best_time(&ROUND, || character.frame(threads > 1));
            *best = best.min(1e6 * seconds);
        }
    }
    Ok(best)
}

/// The same mesh on the bones that are posed, with as many influences per vertex while there are as many.
fn on_posed_bones(skin: &Skin, program: &SsdProgram, proxies: &ProxyBones) -> anyhow::Result<Skin> {
    let posed_count = skin.posed_bone_count();
    let followed: Vec<Vec<BoneId>> = (0..proxies.bones.len())
        .map(|m| followed_bones(proxies, m, posed_count))
        .collect();
    let weights = program.weights.iter().map(|row| {
        let mut moved: Vec<Weight> = (row.iter())
            .filter(|w| w.bone.index() < posed_count)
            .copied()
            .collect();
        for weight in row.iter().filter(|w| w.bone.index() >= posed_count) {
            let bones = &followed[(weight.bone.index() - posed_count) / 2];
            let free = bones.iter().find(|b| moved.iter().all(|w| w.bone != **b));
            match (free, moved.first_mut()) {
                (Some(&bone), _) => moved.push(Weight { bone, ..*weight }),
                (None, Some(first)) => first.weight += weight.weight,
                (None, None) => {}
            }
        }
        moved
    });
    let program = SsdProgram {
        weights: weights.collect(),
        ..program.clone()
    };
    let skeleton = Skeleton::new(skin.skeleton.bones()[..posed_count].to_vec())?;
    let program = VertexProgram::Ssd(program);
    Ok(Skin::new(skeleton, program, skin.coefficients.clone())?)
}

/// All posed bones, those first whose matrices have the largest part in that of a proxy: as frames of
/// patches or as sources.
fn followed_bones(proxies: &ProxyBones, proxy: usize, posed_count: usize) -> Vec<BoneId> {
    let mut parts = vec![0.0; posed_count];
    let (width1, width2) = (4 * proxies.patches.len(), 4 * proxies.sources.len());
    // The three columns that turn; where the proxy is depends on the unit of length.
    for row in 4 * proxy..4 * proxy + 3 {
        let of_patches = proxies.from_patches[row * width1..(row + 1) * width1].chunks(4);
        for (patch, shares) in proxies.patches.iter().zip(of_patches) {
            let part: f64 = shares[..3].iter().map(|c| c.abs()).sum();
            for (bone, weight) in &patch.frame {
                parts[bone.index()] += weight.abs() * part;
            }
        }
        let of_sources = proxies.from_sources[row * width2..(row + 1) * width2].chunks(4);
        for (source, shares) in proxies.sources.iter().zip(of_sources) {
            parts[source.index()] += shares[..3].iter().map(|c| c.abs()).sum::<f64>();
        }
    }
    let mut bones: Vec<usize> = (0..posed_count).collect();
    bones.sort_by(|&a, &b| parts[b].total_cmp(&parts[a]));
    bones.into_iter().map(|j| BoneId(j as u16)).collect()
}

/// A skin with everything that one character needs for a frame.
pub(super) struct Character {
    drivers: PackedDrivers,
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
    pub(super) fn new(skin: &Skin, posed: &Pose, normals: &[DVec3]) -> anyhow::Result<Self> {
        let options = PackOptions {
            normals: Normals::Rest(normals.to_vec()),
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(skin, &options)?;
        let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
        for (bone, local) in skin.skeleton.ids().zip(&posed.parent_from_bone) {
            pose.set_local(bone, &Trs::from_affine(local).0);
        }
        let zero = [Plane::ZERO; 3];
        Ok(Self {
            drivers: PackedDrivers::new(skin)?,
            skeleton: PackedSkeleton::for_skin(skin),
            proxies: PackedProxies::new(skin)?,
            pose,
            matrices: vec![[0.0; 12]; packed.bone_count()],
            palette: vec![PaletteEntry::default(); packed.bone_count()],
            positions: vec![zero; packed.block_count()],
            normals: vec![zero; packed.block_count()],
            packed,
        })
    }

    fn place(&mut self) {
        let placed = self.proxies.place(&mut self.matrices);
        placed.expect("a matrix per bone");
    }

    fn frame(&mut self, threaded: bool) {
        let driven = self.drivers.drive(&mut self.pose);
        driven.expect("made for this skin");
        let chained = self.skeleton.palette(&self.pose, &mut self.matrices);
        chained.expect("a matrix per bone");
        self.place();
        let loaded = self.packed.load_palette(&self.matrices, &mut self.palette);
        loaded.expect("an entry per bone");
        let inputs = FrameInputs {
            palette: &self.palette,
            coefficients: self.pose.coefficients(),
        };
        let out = Output::Blocks {
            positions: &mut self.positions,
            normals: Some(&mut self.normals),
        };
        match threaded {
            true => self.packed.evaluate_threaded(&inputs, out),
            false => self.packed.evaluate(&inputs, out),
        }
        .expect("made for this skin");
    }
}

impl WholeFrame {
    /// As sentences below the table.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "proxy bones: {} from {} and {}, placed in {:.1} µs; C1 and C2 {}, weights {}",
            self.proxies,
            plural(self.patches, "patch"),
            plural(self.sources, "source bone"),
            self.place_microseconds,
            format_bytes(self.matrix_bytes as u64),
            format_bytes(self.weight_bytes as u64)
        )];
        lines.extend(self.rows.iter().map(|row| {
            format!(
                "whole frame, {}: {:.1} µs, {:.2} times linear blend skinning ({:.1} µs)",
                plural(row.threads, "thread"),
                row.microseconds,
                row.times_linear_blend,
                row.linear_blend_microseconds
            )
        }));
        lines.push(
            "whole frame: matrices, proxies, positions and normals; linear blend skinning: the same \
             mesh with as many influences, those of proxies on the bones that they follow most"
                .to_owned(),
        );
        lines
    }
}

#[cfg(test)]
mod tests {
    use dermis::synth::{BodyOptions, ProxyOptions, body, proxied};

    use super::*;

    #[test]
    fn what_it_is_compared_with_has_as_many_influences_on_posed_bones() {
        for (influences, bone_count) in [(4, 12), (3, 3)] {
            let body = body(&BodyOptions {
                vertex_count: 300,
                influences,
                bone_count,
            });
            let skin = proxied(&body.skin, &ProxyOptions::default());
            let VertexProgram::Ssd(program) = &skin.program else {
                panic!("made as linear blend");
            };
            let proxies = skin.pose_program.proxies().expect("made with them");
            let plain = on_posed_bones(&skin, program, proxies).expect("a skin");
            assert_eq!(plain.skeleton.bone_count(), bone_count, "no proxies");
            let VertexProgram::Ssd(moved) = &plain.program else {
                panic!("made as linear blend");
            };
            for (row, before) in moved.weights.iter().zip(program.weights.iter()) {
                assert_eq!(row.len(), before.len(), "as many: {row:?}");
                let sum: f64 = row.iter().map(|w| w.weight).sum();
                assert!((sum - 1.0).abs() < 1e-12, "still 1: {row:?}");
                for (k, w) in row.iter().enumerate() {
                    let again = row[..k].iter().any(|other| other.bone == w.bone);
                    assert!(!again, "each bone once: {row:?}");
                }
            }
        }
    }

    #[test]
    fn the_ratio_and_the_sizes_are_said() {
        let report = WholeFrame {
            proxies: 60,
            patches: 1,
            sources: 40,
            place_microseconds: 5.04,
            rows: vec![FrameRow {
                threads: 1,
                microseconds: 15.0,
                linear_blend_microseconds: 8.0,
                times_linear_blend: 1.875,
            }],
            matrix_bytes: 2048,
            weight_bytes: 100,
        };
        let lines = report.lines();
        assert_eq!(
            lines[0],
            "proxy bones: 60 from 1 patch and 40 source bones, placed in 5.0 µs; C1 and C2 2.0 KiB, \
             weights 100 bytes",
            "sizes"
        );
        assert_eq!(
            lines[1], "whole frame, 1 thread: 15.0 µs, 1.88 times linear blend skinning (8.0 µs)",
            "the ratio"
        );
    }
}
