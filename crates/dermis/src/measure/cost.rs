//! What a skin costs to store and to feed to a GPU.

use serde::{Deserialize, Serialize};

use crate::pose_space::Driver;
use crate::rig::ProxyBones;
use crate::skin::{DualQuaternionProgram, Skin, VertexProgram};

/// Sizes of a skin as a run-time would hold it: 32-bit numbers, smallest index that fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Mean bytes of one vertex: rest position, influences and corrections.
    pub bytes_per_vertex: f64,
    /// Bytes that change from frame to frame: the palette and the coefficients.
    pub bytes_per_frame: usize,
    /// Bytes of the drivers, shared by all vertices and frames: centers, falloffs, weights and linear
    /// terms, as 64-bit numbers, because the weights of wide bumps cancel.
    #[serde(default)]
    pub driver_bytes: usize,
    /// Bytes of the data that place proxy bones, shared by all vertices and frames: `C1` and `C2`, joints and
    /// predictors, as 32-bit numbers and 16-bit indices.
    #[serde(default)]
    pub proxy_bytes: usize,
    /// Matrices in the palette.
    pub palette_size: usize,
    /// Mean bones acting on a vertex.
    pub mean_influences: f64,
    /// Most bones acting on a vertex.
    pub max_influences: usize,
}

impl Cost {
    /// Counts the bytes of a skin.
    pub fn of(skin: &Skin) -> Self {
        const FLOAT: usize = 4;
        let bones = skin.skeleton.bone_count();
        let index = if bones <= 256 { 1 } else { 2 };
        let matrix = match skin.program {
            VertexProgram::DualQuaternion(_) => 8,
            _ => 12,
        };
        let vertex_count = skin.vertex_count().max(1) as f64;
        let (items, bytes) = match &skin.program {
            VertexProgram::Ssd(ssd)
            | VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd }) => {
                let deltas: usize = ssd.corrections.iter().map(|c| c.deltas.len()).sum();
                let items = ssd.weights.items().len();
                let rest = ssd.rest_positions.len() * 3 * FLOAT;
                let moved = deltas * (FLOAT + 3 * FLOAT);
                (items, rest + items * (FLOAT + index) + moved)
            }
            VertexProgram::Linear(linear) => {
                let deltas: usize = linear.corrections.iter().map(|c| c.deltas.len()).sum();
                let items = linear.influences.items().len();
                let moved = deltas * (FLOAT + 4 * FLOAT);
                (items, items * (4 * FLOAT + index) + moved)
            }
            VertexProgram::MultiWeight(multi) => {
                let deltas: usize = multi.corrections.iter().map(|c| c.deltas.len()).sum();
                let items = multi.influences.items().len();
                let rest = multi.rest_positions.len() * 3 * FLOAT;
                let moved = deltas * (FLOAT + 3 * FLOAT);
                (items, rest + items * (12 * FLOAT + index) + moved)
            }
        };
        Self {
            bytes_per_vertex: bytes as f64 / vertex_count,
            driver_bytes: skin.pose_program.drivers.iter().map(driver_bytes).sum(),
            proxy_bytes: skin.pose_program.proxies().map_or(0, proxy_bytes),
            bytes_per_frame: bones * matrix * FLOAT + skin.coefficients.len() * FLOAT,
            palette_size: bones,
            mean_influences: items as f64 / vertex_count,
            max_influences: skin.program.max_influences(),
        }
    }
}

fn driver_bytes(driver: &Driver) -> usize {
    let centers = driver.centers.iter();
    let places: usize = centers.map(|c| c.point.len() + c.falloffs.len()).sum();
    let rows = driver.weights.iter().chain(&driver.linear);
    let weights: usize = rows.map(Vec::len).sum();
    size_of::<f64>() * (places + weights)
}

fn proxy_bytes(proxies: &ProxyBones) -> usize {
    // Two bones and a middle; a bone and its weight; a pivot; a joint, a scale and an offset.
    let (joint, frame, pivot, turn) = ((2, 3), (1, 1), (0, 3), (1, 5));
    let frames: usize = proxies.patches.iter().map(|p| p.frame.len()).sum();
    let turns: usize = proxies.patches.iter().map(|g| g.turns.len()).sum();
    let stretch_joints = proxies.patches.iter().map(|g| g.stretch_joints.len());
    let rows: usize = proxies.patches.iter().map(|g| g.stretch.len()).sum();
    let counted = [
        (proxies.joints.len(), joint),
        (frames, frame),
        (proxies.patches.len(), pivot),
        (turns, turn),
        (stretch_joints.sum(), (1, 0)),
        (rows, (0, 12)),
        (proxies.sources.len(), (1, 0)),
        (proxies.from_patches.len(), (0, 1)),
        (proxies.from_sources.len(), (0, 1)),
    ];
    let bytes = |(count, (indices, numbers)): (usize, (usize, usize))| {
        count * (indices * size_of::<u16>() + numbers * size_of::<f32>())
    };
    counted.into_iter().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::pose_space::{Center, Control, InterpolateOptions, interpolate};
    use crate::skin::{Coefficient, Delta};
    use crate::synth::{ProxyOptions, TubeOptions, proxied, tube};

    #[test]
    fn drivers_cost_nothing_per_vertex_and_their_outputs_are_sent_every_frame() {
        let options = TubeOptions {
            ring_count: 10,
            segment_count: 5,
            bone_count: 2,
            example_count: 1,
        };
        let load = Coefficient {
            name: "load".to_owned(),
            default: 0.0,
        };
        let mut skin = tube(&options).truth.with_sliders([load]);
        let before = Cost::of(&skin);
        assert_eq!(before.driver_bytes, 0, "none yet");
        assert_eq!(before.bytes_per_frame, 2 * 48 + 4, "matrices and a slider");
        let center = |at: f64| Center {
            name: format!("at {at}"),
            point: vec![at],
            falloffs: vec![0.5],
        };
        let controls = [Control::Slider { coefficient: 0 }];
        let options = InterpolateOptions {
            linear: true,
            ..InterpolateOptions::default()
        };
        let centers = [center(1.0), center(2.0), center(0.0)];
        let solved = interpolate("load", &controls, &centers, 2, &options).expect("distinct");
        let shape = vec![Delta {
            index: 0,
            value: DVec3::X,
        }];
        let names = vec!["one".to_owned(), "two".to_owned()];
        skin.push_driver(solved.driver, names, vec![shape, Vec::new()])
            .expect("two outputs");
        let after = Cost::of(&skin);
        // Three centers of two numbers, and for both outputs three weights and a line.
        assert_eq!(after.driver_bytes, 8 * (3 * 2 + 2 * (3 + 2)), "bytes");
        assert_eq!(
            after.bytes_per_frame,
            before.bytes_per_frame + 8,
            "two more"
        );
        let vertices = skin.vertex_count() as f64;
        let moved = (after.bytes_per_vertex - before.bytes_per_vertex) * vertices;
        assert!((moved - 16.0).abs() < 1e-9, "one displacement: {moved}");
    }
    #[test]
    fn proxies_cost_their_matrices_and_predictors() {
        let options = TubeOptions {
            ring_count: 10,
            segment_count: 5,
            bone_count: 2,
            example_count: 1,
        };
        let plain = tube(&options).truth;
        let skin = proxied(
            &plain,
            &ProxyOptions {
                proxy_count: 3,
                patch_count: 4,
                source_count: 2,
                seed: 1,
            },
        );
        let (before, after) = (Cost::of(&plain), Cost::of(&skin));
        assert_eq!(before.proxy_bytes, 0, "none yet");
        assert_eq!(before.bytes_per_vertex, after.bytes_per_vertex, "as many");
        let proxies = skin.pose_program.proxies().expect("made with them");
        let of_patches = proxies.patches.iter().map(|g| {
            6 * g.frame.len()
                + 12
                + 22 * g.turns.len()
                + 2 * g.stretch_joints.len()
                + 48 * (9 * g.stretch_joints.len() + 1)
        });
        let matrices = 4 * (12 * 16 + 12 * 8);
        // One joint, and two sources.
        let expected = matrices + of_patches.sum::<usize>() + 16 + 2 * 2;
        assert_eq!(after.proxy_bytes, expected, "counted by hand");
    }
}
