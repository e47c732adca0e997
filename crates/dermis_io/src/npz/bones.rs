//! Bones, their poses and weights, from arrays to the data model.

use dermis::rig::{BoneId, Palette, Pose, RigError, Skeleton};
use dermis::skin::{Rows, SsdProgram, VertexProgram, Weight};
use dermis::{Skin, TriMesh};
use glam::{DAffine3, DMat3, DVec3};

use super::archive::Archive;
use crate::Fault;

/// Weights whose sum is further from 1 than this are scaled, with a note.
const SUM_TOLERANCE: f64 = 1e-4;

/// The skeleton of a file, and the file's number of each bone.
pub(super) struct Bones {
    pub(super) skeleton: Skeleton,
    /// The file's index of each bone of the skeleton.
    order: Vec<usize>,
}

/// Reads the skeleton, when the file has one.
pub(super) fn read_skeleton(
    archive: &mut Archive,
    notes: &mut Vec<String>,
) -> Result<Option<Bones>, Fault> {
    let Some(rest) = archive.array("bone_rest")? else {
        let lone = ["bone_names", "bone_parents", "bone_pose", "weights"];
        let lone: Vec<&str> = lone.into_iter().filter(|name| archive.has(name)).collect();
        if !lone.is_empty() {
            let names = lone.join(", ");
            notes.push(format!(
                "Left out, because there is no array bone_rest: {names}."
            ));
        }
        return Ok(None);
    };
    rest.expect_shape(&[None, Some(4), Some(4)])?;
    let count = rest.shape()[0];
    if count > usize::from(u16::MAX) {
        return Err(RigError::TooManyBones { found: count }.into());
    }
    let rest = matrices("bone_rest", &rest.floats()?)?;
    let names = match archive.array("bone_names")? {
        Some(names) => {
            names.expect_shape(&[Some(count)])?;
            names.strings()?
        }
        None => (0..count).map(|j| format!("bone_{j}")).collect(),
    };
    let parents = match archive.array("bone_parents")? {
        Some(parents) => {
            parents.expect_shape(&[Some(count)])?;
            checked_parents(&parents.integers()?)?
        }
        None => {
            notes.push("No array bone_parents: no bone has a parent.".to_owned());
            vec![None; count]
        }
    };
    let order = parents_first(&parents, &names)?;
    let mut new_index = vec![0; count];
    for (new, &old) in (0..).zip(&order) {
        new_index[old] = new;
    }
    let id = |old: usize| BoneId(new_index[old]);
    let skeleton = Skeleton::from_rest_frames(
        order
            .iter()
            .map(|&old| (names[old].clone(), parents[old].map(id), rest[old])),
    )?;
    if order.iter().enumerate().any(|(new, &old)| new != old) {
        notes.push("Bones are reordered so that parents come first.".to_owned());
    }
    Ok(Some(Bones { skeleton, order }))
}

/// How many poses `bone_pose` has.
pub(super) fn pose_count(archive: &mut Archive) -> Result<Option<usize>, Fault> {
    let Some(poses) = archive.array("bone_pose")? else {
        return Ok(None);
    };
    poses.expect_shape(&[None, None, Some(4), Some(4)])?;
    Ok(Some(poses.shape()[0]))
}

/// Reads `bone_pose`, one pose per frame.
pub(super) fn read_poses(
    archive: &mut Archive,
    bones: &Bones,
    frame_count: usize,
) -> Result<Vec<Pose>, Fault> {
    let Some(poses) = archive.array("bone_pose")? else {
        return Ok(Vec::new());
    };
    let count = bones.order.len();
    poses.expect_shape(&[Some(frame_count), Some(count), Some(4), Some(4)])?;
    let matrices = matrices("bone_pose", &poses.floats()?)?;
    (0..frame_count)
        .map(|k| {
            let of_frame = &matrices[k * count..(k + 1) * count];
            let palette = Palette {
                model_from_bone: bones.order.iter().map(|&old| of_frame[old]).collect(),
            };
            Ok(bones.skeleton.pose_from_palette(&palette)?)
        })
        .collect()
}

/// Reads `weights` as linear blend skinning of the rest mesh, when the file has them.
pub(super) fn read_skin(
    archive: &mut Archive,
    bones: &Bones,
    mesh: &TriMesh,
    notes: &mut Vec<String>,
) -> Result<Option<Skin>, Fault> {
    let Some(weights) = archive.array("weights")? else {
        return Ok(None);
    };
    let count = bones.order.len();
    weights.expect_shape(&[Some(mesh.vertex_count()), Some(count)])?;
    let weights = weights.floats()?;
    let (mut scaled, mut unbound) = (0usize, 0usize);
    let mut rows = Rows::with_capacity(mesh.vertex_count(), 4 * mesh.vertex_count());
    for i in 0..mesh.vertex_count() {
        let of_vertex = &weights[i * count..(i + 1) * count];
        let mut row: Vec<Weight> = bones
            .skeleton
            .ids()
            .map(|bone| Weight {
                bone,
                weight: of_vertex[bones.order[bone.index()]],
            })
            .filter(|w| w.weight != 0.0)
            .collect();
        row.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        if row.is_empty() {
            unbound += 1;
        } else if (sum - 1.0).abs() > SUM_TOLERANCE && sum != 0.0 && sum.is_finite() {
            scaled += 1;
            row.iter_mut().for_each(|w| w.weight /= sum);
        }
        rows.push_row(row);
    }
    if scaled > 0 {
        notes.push(format!(
            "Weights that do not sum to 1 are scaled, at {scaled} vertices."
        ));
    }
    if unbound > 0 {
        notes.push(format!("No bone acts on {unbound} vertices."));
    }
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions: mesh.positions().to_vec(),
        weights: rows,
        corrections: Vec::new(),
    });
    Ok(Some(Skin::new(
        bones.skeleton.clone(),
        program,
        Vec::new(),
    )?))
}

/// 4×4 matrices, row by row, as affine maps.
fn matrices(name: &str, values: &[f64]) -> Result<Vec<DAffine3>, Fault> {
    let (matrices, _) = values.as_chunks::<16>();
    matrices
        .iter()
        .enumerate()
        .map(|(index, m)| {
            let last_row = [m[12], m[13], m[14], m[15]];
            let off = last_row.iter().zip([0.0, 0.0, 0.0, 1.0]);
            if !off.into_iter().all(|(x, e)| (x - e).abs() <= 1e-5) {
                return Err(Fault::malformed(
                    format!("array {name}, matrix {index}"),
                    "last row 0 0 0 1 (columns act on points, so translations stand in the last column)",
                    format!("{} {} {} {}", m[12], m[13], m[14], m[15]),
                ));
            }
            Ok(DAffine3 {
                matrix3: DMat3::from_cols(
                    DVec3::new(m[0], m[4], m[8]),
                    DVec3::new(m[1], m[5], m[9]),
                    DVec3::new(m[2], m[6], m[10]),
                ),
                translation: DVec3::new(m[3], m[7], m[11]),
            })
        })
        .collect()
}

/// Parents as indices; −1 is none.
fn checked_parents(parents: &[i64]) -> Result<Vec<Option<usize>>, Fault> {
    let count = parents.len();
    parents
        .iter()
        .enumerate()
        .map(|(bone, &parent)| match usize::try_from(parent) {
            Err(_) if parent == -1 => Ok(None),
            Ok(parent) if parent < count => Ok(Some(parent)),
            _ => Err(Fault::malformed(
                format!("array bone_parents, bone {bone}"),
                format!("-1 or a bone below {count}"),
                parent.to_string(),
            )),
        })
        .collect()
}

/// An order in which parents precede their children, and the file's own where it already does.
fn parents_first(parents: &[Option<usize>], names: &[String]) -> Result<Vec<usize>, Fault> {
    let count = parents.len();
    if (0..count).all(|j| parents[j].is_none_or(|parent| parent < j)) {
        return Ok((0..count).collect());
    }
    let mut depths: Vec<Option<usize>> = vec![None; count];
    for start in 0..count {
        // Walk up to a bone of known depth (or past the root), then fill in on the way back.
        let mut path = Vec::new();
        let mut bone = Some(start);
        while let Some(j) = bone.filter(|&j| depths[j].is_none()) {
            if path.len() == count {
                let name = names.get(start).map_or("", String::as_str);
                return Err(Fault::malformed(
                    "array bone_parents",
                    "a tree",
                    format!("a cycle above bone {start} ({name})"),
                ));
            }
            path.push(j);
            bone = parents[j];
        }
        let known = bone.and_then(|j| depths[j]).map_or(0, |depth| depth + 1);
        for (depth, &j) in (known..).zip(path.iter().rev()) {
            depths[j] = Some(depth);
        }
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&j| depths[j]);
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_and_ordered_files_stay_as_they_are() {
        let names = vec![String::new(); 4];
        let tree = [Some(2), None, Some(1), Some(1)];
        assert_eq!(
            parents_first(&tree, &names),
            Ok(vec![1, 2, 3, 0]),
            "by depth"
        );
        let ordered = [None, Some(0), None, Some(1)];
        assert_eq!(
            parents_first(&ordered, &names),
            Ok(vec![0, 1, 2, 3]),
            "untouched"
        );
    }

    #[test]
    fn bones_that_carry_each_other_are_refused() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let error = parents_first(&[None, Some(2), Some(1)], &names).expect_err("a cycle");
        assert!(
            error.to_string().contains("a cycle above bone 1 (b)"),
            "{error}"
        );
        parents_first(&[Some(0)], &names[..1]).expect_err("its own parent");
    }

    #[test]
    fn parents_out_of_range_are_refused() {
        for parent in [-2, 2, i64::MAX, i64::MIN] {
            checked_parents(&[-1, parent]).expect_err("no such bone");
        }
    }

    #[test]
    fn a_transposed_matrix_is_noticed() {
        let mut transposed = [0.0; 16];
        for k in 0..4 {
            transposed[5 * k] = 1.0;
        }
        transposed[12] = 7.0;
        let error = matrices("bone_rest", &transposed).expect_err("translation in a row");
        assert!(error.to_string().contains("last column"), "{error}");
    }
}
