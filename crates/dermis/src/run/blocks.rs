//! Puts vertices that use the same bones next to each other.
//!
//! Vertices are grouped by their set of bones and cut into blocks of sixteen. The vertices left over in each
//! group, fewer than sixteen, are merged: a vertex may sit in a block with more bones than its own, where the
//! others have weight 0. A merge is made when the block it saves costs more than the bones it adds. Slots
//! that stay empty are padding.

use std::collections::HashMap;

use super::kernel::PADDING;
use super::plane::BLOCK;

/// Vertices that are evaluated together, and the bones they share.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct BlockPlan {
    /// The first is the pivot, where the program has one; the others rise.
    pub(super) bones: Vec<u16>,
    /// At most sixteen, rising.
    pub(super) vertices: Vec<u32>,
}

impl BlockPlan {
    pub(super) fn places(&self) -> [u32; BLOCK] {
        std::array::from_fn(|lane| self.vertices.get(lane).copied().unwrap_or(PADDING))
    }

    /// The vertex in each of the sixteen lanes; padding repeats the last one.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> {
        let last = self.vertices.len() - 1;
        (0..BLOCK).map(move |lane| self.vertices[lane.min(last)] as usize)
    }
}

/// Cost of a block besides its bones, in bones: loads, stores and the final products.
const BLOCK_COST: usize = 2;

/// How many half-filled blocks per bone a leftover is tried against: more was not better on rigs
/// of 100 bones, and a bound keeps the merge linear.
const TRIED: usize = 64;

/// Groups vertices by bones.
///
/// `bones_of` lists the distinct bones of a vertex; equal lists come together. With `pivots`, the
/// first bone of a list is special, and only vertices with the same first bone share a block.
/// `moved` says which vertices a correction moves: they are put together, so that few blocks read
/// displacements. Leftovers of moved and unmoved vertices may share a block, which costs no more than a
/// half-filled block of moved ones. Blocks come in the order of their first vertices, so that output in the
/// caller's order is written nearly in sequence.
pub(super) fn form_blocks<'a>(
    moved: &[bool],
    bones_of: impl Fn(usize) -> &'a [u16],
    pivots: bool,
) -> Vec<BlockPlan> {
    let mut group_of: HashMap<(&[u16], bool), usize> = HashMap::new();
    let mut groups: Vec<(&[u16], Vec<u32>)> = Vec::new();
    for (vertex, &moved) in moved.iter().enumerate() {
        let bones = bones_of(vertex);
        let group = *group_of.entry((bones, moved)).or_insert_with(|| {
            groups.push((bones, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(vertex as u32);
    }

    let mut blocks = Vec::new();
    let mut leftovers = Vec::new();
    for (bones, vertices) in groups {
        let (full, rest) = vertices.as_chunks::<BLOCK>();
        blocks.extend(full.iter().map(|vertices| BlockPlan {
            bones: bones.to_vec(),
            vertices: vertices.to_vec(),
        }));
        if !rest.is_empty() {
            leftovers.push(BlockPlan {
                bones: bones.to_vec(),
                vertices: rest.to_vec(),
            });
        }
    }
    blocks.extend(merge(leftovers, pivots));
    for block in &mut blocks {
        block.vertices.sort_unstable();
    }
    blocks.sort_by_key(|block| block.vertices[0]);
    blocks
}

/// Cuts the vertices into blocks in the order they come, each with all bones of its vertices.
pub(super) fn consecutive_blocks<'a>(
    vertex_count: usize,
    bones_of: impl Fn(usize) -> &'a [u16],
) -> Vec<BlockPlan> {
    (0..vertex_count)
        .step_by(BLOCK)
        .map(|first| {
            let vertices = first..vertex_count.min(first + BLOCK);
            let mut bones: Vec<u16> = vertices.clone().flat_map(&bones_of).copied().collect();
            bones.sort_unstable();
            bones.dedup();
            BlockPlan {
                bones,
                vertices: vertices.map(|v| v as u32).collect(),
            }
        })
        .collect()
}

/// Joins part-filled blocks, those with most bones first, each with the one that saves most.
fn merge(mut leftovers: Vec<BlockPlan>, pivots: bool) -> Vec<BlockPlan> {
    leftovers.sort_by_key(|block| {
        let size = (block.bones.len(), block.vertices.len());
        (std::cmp::Reverse(size), block.vertices[0])
    });
    let mut merged: Vec<BlockPlan> = Vec::new();
    let mut with_bone: HashMap<u16, Vec<usize>> = HashMap::new();
    for leftover in leftovers {
        // All share the first bone when it is a pivot; otherwise any common bone will do.
        let searched = match pivots {
            true => &leftover.bones[..leftover.bones.len().min(1)],
            false => &leftover.bones[..],
        };
        let best = searched
            .iter()
            .filter_map(|bone| with_bone.get(bone))
            .flat_map(|near| near.iter().rev().take(TRIED))
            .filter_map(|&at| Some((saving(&merged[at], &leftover, pivots)?, at)))
            .max_by_key(|&(saving, at)| (saving, std::cmp::Reverse(at)));
        let at = match best {
            Some((_, at)) => {
                let block = &mut merged[at];
                block.vertices.extend(&leftover.vertices);
                let first_free = usize::from(pivots);
                let mut bones = block.bones[first_free..].to_vec();
                bones.extend(&leftover.bones[first_free..]);
                bones.sort_unstable();
                bones.dedup();
                block.bones.truncate(first_free);
                block.bones.extend(bones);
                at
            }
            None => {
                merged.push(leftover);
                merged.len() - 1
            }
        };
        let block = &merged[at];
        for bone in &block.bones {
            let near = with_bone.entry(*bone).or_default();
            if block.vertices.len() < BLOCK && !near.contains(&at) {
                near.push(at);
            } else if block.vertices.len() == BLOCK {
                near.retain(|&other| other != at);
            }
        }
    }
    merged
}

/// How many bones' worth of work is saved by putting `b` into `a`; `None` when it does not fit.
fn saving(a: &BlockPlan, b: &BlockPlan, pivots: bool) -> Option<usize> {
    if a.vertices.len() + b.vertices.len() > BLOCK || (pivots && a.bones[0] != b.bones[0]) {
        return None;
    }
    let common = b.bones.iter().filter(|bone| a.bones.contains(bone)).count();
    // Before: |a| + |b| + two blocks. After: |a ∪ b| + one block. But every merged bone stays for
    // all later evaluations, so bones that only one side has must not outnumber the saving.
    let added = b.bones.len() - common;
    (common + BLOCK_COST)
        .checked_sub(added.min(common + BLOCK_COST))
        .filter(|&s| s > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_of_bones_fill_blocks_and_small_rests_join_larger_ones() {
        // Twenty vertices on bones 1 and 2, one on bone 2 alone, one on bone 9.
        let mut bones = vec![vec![1, 2]; 20];
        bones.push(vec![2]);
        bones.push(vec![9]);
        let blocks = form_blocks(&[false; 22], |v| &bones[v], false);
        let shape: Vec<_> = blocks
            .iter()
            .map(|b| (b.bones.clone(), b.vertices.len()))
            .collect();
        assert_eq!(
            shape,
            [(vec![1, 2], 16), (vec![1, 2], 5), (vec![9], 1)],
            "the lone vertex on bone 2 joins the rest of its neighbours"
        );
    }

    #[test]
    fn vertices_that_corrections_move_come_together() {
        // Every other one of 64: without regard to that, four blocks would read displacements.
        let moved: Vec<bool> = (0..64).map(|v| v % 2 == 0).collect();
        let blocks = form_blocks(&moved, |_| &[3], false);
        let count = |b: &BlockPlan| b.vertices.iter().filter(|&&v| moved[v as usize]).count();
        let counts: Vec<_> = blocks.iter().map(count).collect();
        assert_eq!(counts, [16, 0, 16, 0], "all or none of a block");
        // But no block is added for it.
        let blocks = form_blocks(&moved[..20], |_| &[3], false);
        assert_eq!(blocks.len(), 2, "ten moved, ten not");
        let blocks = form_blocks(&moved[..12], |_| &[3], false);
        assert_eq!(blocks.len(), 1, "six moved, six not");
    }

    #[test]
    fn pivots_are_never_mixed() {
        let bones = [vec![1, 2], vec![2, 1]];
        let blocks = form_blocks(&[false; 2], |v| &bones[v], true);
        assert_eq!(blocks.len(), 2, "the first bones differ");
        let blocks = form_blocks(&[false; 2], |v| &bones[v], false);
        assert_eq!(blocks.len(), 1, "without pivots they are one set");
    }
}
