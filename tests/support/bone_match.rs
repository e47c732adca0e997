//! How well found bones match the true bones that made the meshes.

use dermis::skin::{Skin, VertexProgram};

/// The share of vertices whose heaviest found bone is the partner of their heaviest true bone; ties are left out.
///
/// Partners are chosen greedily, by the number of vertices that they share; each bone has one partner.
pub(crate) fn share_right(skin: &Skin, truth: &[Vec<f64>]) -> f64 {
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("linear blending was fitted");
    };
    let (true_count, found_count) = (truth[0].len(), skin.skeleton.bone_count());
    let mut shared = vec![0_usize; true_count * found_count];
    let mut total = 0;
    for (found, truth) in ssd.weights.iter().zip(truth) {
        let mut order: Vec<usize> = (0..true_count).collect();
        order.sort_by(|&a, &b| truth[b].total_cmp(&truth[a]));
        let is_tie = order
            .get(1)
            .is_some_and(|&next| truth[order[0]] - truth[next] < 1e-3);
        if is_tie {
            continue;
        }
        let heaviest = found
            .iter()
            .max_by(|a, b| a.weight.total_cmp(&b.weight))
            .expect("every vertex has weights");
        shared[order[0] * found_count + heaviest.bone.index()] += 1;
        total += 1;
    }
    let mut pairs: Vec<usize> = (0..shared.len()).collect();
    pairs.sort_by_key(|&pair| std::cmp::Reverse(shared[pair]));
    let (mut true_used, mut found_used) = (vec![false; true_count], vec![false; found_count]);
    let mut right = 0;
    for pair in pairs {
        let (a, b) = (pair / found_count, pair % found_count);
        if !true_used[a] && !found_used[b] {
            (true_used[a], found_used[b]) = (true, true);
            right += shared[pair];
        }
    }
    right as f64 / total as f64
}
