//! Tangents from rest normals.

use glam::{DMat2, DVec2, DVec3};

use super::dense::{add_scaled, dot, orthonormalize, unit_directions};
use super::statistics::{Motion, Sample, Statistics, influences};
use super::{NormalError, TangentOptions, TangentPairs, check_count};
use crate::mesh::{Topology, TriMesh};
use crate::par;
use crate::rig::Pose;
use crate::skin::Skin;

/// Tangents that turn with the blended matrix of each vertex: `s_j = w_j Ĝ_j⁻¹ (ŝ, 0)`
/// (\[Merry07\] Eq. 4.8).
///
/// They give the same normals as [`BlendedNormal::InverseTranspose`](super::BlendedNormal), with the same
/// errors at joints, for a run-time that takes only tangents. A zero normal gives zeros.
///
/// # Errors
/// [`NormalError::CountMismatch`] and [`NormalError::NotFinite`].
pub fn tangents_from_rest_normals(
    skin: &Skin,
    rest_normals: &[DVec3],
) -> Result<TangentPairs, NormalError> {
    check_normals(skin, rest_normals)?;
    let pairs = par::map(skin.vertex_count(), |i| {
        let (bones, weights) = influences(skin, i);
        let local = |v: DVec3| {
            let terms = bones.iter().zip(&weights).map(|(bone, &weight)| {
                let bone_from_rest = &skin.skeleton.bones()[bone.index()].bone_from_rest;
                (weight * bone_from_rest.transform_vector3(v), 0.0)
            });
            terms.collect()
        };
        Some(tangent_frame(rest_normals[i])?.map(local))
    });
    Ok(TangentPairs::from_pairs(skin, &pairs, false))
}

/// Tangents that match a normal at rest and follow the weights as they change around each vertex.
///
/// \[Merry07\] Eq. 4.11 is `s_j = w_j Ĝ_j⁻¹ (ŝ, 0) + (∂w_j/∂ŝ) Ĝ_j⁻¹ v̂`: the derivative of
/// `p_j = w_j Ĝ_j⁻¹ v̂` along the surface. This function differs in two points.
///
/// First, the derivative is taken after projection, from posed positions, so that it serves every
/// vertex program and counts bones that only neighbours use. With `M` the blended matrix of the
/// vertex, held fixed, `r_n = v_n − M v̂_n` is the motion of the neighbour `n` that `M` does not explain: for
/// SSD (linear blend skinning), `Σ_j (w_nj − w_j) N_j v̂_n`. The target in each pose is `lin(M) ŝ + ∂r/∂ŝ`,
/// with the derivative by least squares over the one-ring. At rest `r` is 0 and the given normal exact,
/// however coarse the mesh; taking `∂v/∂ŝ` whole would not keep it.
///
/// Second, the tangent stored is the one nearest to that target in L2,2 among those that have the
/// vertex's own bones: `x = P⁺ E[Hᵀ (lin(M) ŝ + ∂r/∂ŝ)]`, as in [`fit_tangents`](super::fit_tangents).
/// The pair is then made orthonormal in L2,2.
///
/// Choose this over fitted tangents when the rest normals are better than the normals of the faces.
/// A zero normal gives zeros.
///
/// # Errors
/// [`NormalError`] when mesh, normals, poses or options do not fit the skin.
///
/// ```
/// use dermis::mesh::vertex_normals;
/// use dermis::normal::{TangentOptions, project_normals, tangents_with_weight_gradient};
/// use dermis::synth::{TubeOptions, tube};
///
/// let tube = tube(&TubeOptions { ring_count: 12, segment_count: 8, bone_count: 2, example_count: 1 });
/// let mesh = tube.examples.rest();
/// let rest_normals = vertex_normals(mesh.positions(), mesh.triangles());
/// // Without poses, joints are taken to turn independently.
/// let options = TangentOptions::default();
/// let tangents = tangents_with_weight_gradient(&tube.truth, mesh, &rest_normals, &[], &options)?;
/// let normals = project_normals(&tube.truth, &tangents, &tube.truth.skeleton.rest_pose())?;
/// assert!(normals.iter().zip(&rest_normals).all(|(a, b)| a.dot(*b) > 0.9999));
/// # Ok::<(), dermis::normal::NormalError>(())
/// ```
pub fn tangents_with_weight_gradient(
    skin: &Skin,
    mesh: &TriMesh,
    rest_normals: &[DVec3],
    poses: &[Pose],
    options: &TangentOptions,
) -> Result<TangentPairs, NormalError> {
    check_count("mesh vertices", skin.vertex_count(), mesh.vertex_count())?;
    check_normals(skin, rest_normals)?;
    let statistics = Statistics::new(skin, poses, options)?;
    let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
    let rest = mesh.positions();
    let pairs = par::map(skin.vertex_count(), |i| {
        let frame = tangent_frame(rest_normals[i])?;
        let (bones, weights) = influences(skin, i);
        let neighbors = topology.neighbors(i);
        let gradient = gradient_stencil(rest, neighbors, i, frame);
        let motion = Motion::new(skin, &statistics, (&bones, rest[i]), options);
        // M (v, 1) or, for a direction, M (v, 0).
        let blended = |sample: &Sample, v: DVec3, is_point: f64| -> DVec3 {
            let terms = bones.iter().zip(&weights).map(|(bone, &weight)| {
                let bone_from_rest = &skin.skeleton.bones()[bone.index()].bone_from_rest;
                let local = bone_from_rest.matrix3 * v + is_point * bone_from_rest.translation;
                let model_from_bone = &sample.palette.model_from_bone[bone.index()];
                weight * (model_from_bone.matrix3 * local + is_point * model_from_bone.translation)
            });
            terms.sum()
        };
        let beyond =
            |sample: &Sample, n: usize| sample.positions[n] - blended(sample, rest[n], 1.0);
        let metric = motion.metric();
        let directions = unit_directions(&metric);
        let nearest = |axis: usize| {
            let pulled = motion.pullback(|k| {
                let sample = &statistics.samples[k];
                let own = beyond(sample, i);
                let change = neighbors.iter().zip(&gradient).map(|(&n, coefficients)| {
                    coefficients[axis] * (beyond(sample, n as usize) - own)
                });
                blended(sample, frame[axis], 0.0) + change.sum::<DVec3>()
            });
            let mut x = vec![0.0; metric.size];
            for direction in &directions {
                add_scaled(&mut x, dot(direction, &pulled), direction);
            }
            x
        };
        let pair = orthonormalize(&metric, [nearest(0), nearest(1)])?;
        Some(pair.map(|x| motion.tangent(&x)))
    });
    Ok(TangentPairs::from_pairs(skin, &pairs, options.bone_weights))
}

fn check_normals(skin: &Skin, rest_normals: &[DVec3]) -> Result<(), NormalError> {
    check_count("rest normals", skin.vertex_count(), rest_normals.len())?;
    match rest_normals.iter().position(|n| !n.is_finite()) {
        None => Ok(()),
        Some(index) => Err(NormalError::NotFinite {
            what: "rest normal",
            index,
        }),
    }
}

/// Two unit tangents whose cross product is the normal; `None` for a zero normal.
fn tangent_frame(normal: DVec3) -> Option<[DVec3; 2]> {
    let normal = normal.try_normalize()?;
    let tangent = normal.any_orthonormal_vector();
    Some([tangent, normal.cross(tangent)])
}

/// For each neighbour the share of `f_n − f_i` in the gradient of `f` along the two tangents.
///
/// Least squares on `f_n − f_i = g · d_n`, where `d_n` is the edge to the neighbour seen in the
/// tangent plane: `g = (Σ d dᵀ)⁻¹ Σ d_n (f_n − f_i)`. All zero where the neighbours lie on a line.
fn gradient_stencil(
    rest: &[DVec3],
    neighbors: &[u32],
    vertex: usize,
    [s, t]: [DVec3; 2],
) -> Vec<DVec2> {
    let offset = |&n: &u32| {
        let edge = rest[n as usize] - rest[vertex];
        DVec2::new(s.dot(edge), t.dot(edge))
    };
    let offsets: Vec<DVec2> = neighbors.iter().map(offset).collect();
    let moments = offsets.iter().fold(DMat2::ZERO, |sum, d| {
        sum + DMat2::from_cols(d.x * *d, d.y * *d)
    });
    let size = moments.x_axis.x + moments.y_axis.y;
    let inverse = match moments.determinant() > 1e-8 * size * size {
        true => moments.inverse(),
        false => DMat2::ZERO,
    };
    offsets.iter().map(|d| inverse * *d).collect()
}
