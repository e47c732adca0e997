//! Tangents fitted to the faces around each vertex.

use super::dense::{Square, leading_pair, unit_directions};
use super::statistics::{Motion, Statistics, influences};
use super::{NormalError, TangentOptions, TangentPairs, check_count};
use crate::mesh::TriMesh;
use crate::par;
use crate::rig::Pose;
use crate::skin::{Rows, Skin};

/// Fits a tangent plane to the faces around each vertex, over poses.
///
/// Of all pairs that are orthonormal in L2,2, the one whose oriented plane agrees best with those
/// of the faces, larger faces counting more (\[Merry07\] A.1). With the edges `a_f`, `b_f` that leave
/// the vertex along face `f` and the L2,2 inner product `⟨s, a⟩ = E[(G s)·(G a)]`, it makes
///
/// `D = Σ_f ⟨s, a_f⟩⟨t, b_f⟩ − ⟨s, b_f⟩⟨t, a_f⟩`
///
/// largest. The thesis lets `s` and `t` use every bone of the neighbours; ours use the bones of the
/// vertex itself, so that they can stand beside its influences, with three numbers for each by default. Write
/// such a tangent as `G s = H x` and let `c_f = E[Hᵀ G a_f]`, `d_f = E[Hᵀ G b_f]`, `P = E[HᵀH]`. Then
/// `D = xᵀ B y` with `B = Σ_f c_f d_fᵀ − d_f c_fᵀ`, under `xᵀPx = yᵀPy = 1`, `xᵀPy = 0`: with `P = CᵀC`, the leading
/// singular pair of `C⁻ᵀ B C⁻¹`. For edges that such tangents can express, `c_f = P a_f`, and that matrix is
/// the thesis's `C A Cᵀ`; others count by their L2,2 projection. `G a_f` is an edge of the posed mesh, so the
/// fit needs no animation-space neighbours and serves every kind of vertex program.
///
/// | \[Merry07\] | here |
/// | --- | --- |
/// | `a_i`, `b_i` | edges of the posed faces |
/// | `C⁻¹` | columns of `unit_directions` |
/// | `P` | `Motion::metric`, averaged over `poses` and a share of independent joints |
///
/// Making `E[n · (G s × G t)]` largest instead, the area seen along the exact normal, is the same
/// kind of problem and was tried: it also rewards tangents for staying perpendicular and of one
/// length, which stretched skin does not, and at the joints of a tube its mean angle was 25 times as
/// large.
///
/// A vertex without faces gets zeros. Cost per vertex: O(K·n² + n³) for K poses and n numbers per
/// tangent.
///
/// # Errors
/// [`NormalError`] when mesh, poses or options do not fit the skin.
///
/// ```
/// use dermis::normal::{TangentOptions, fit_tangents, project_normals};
/// use dermis::synth::{TubeOptions, tube};
///
/// let tube = tube(&TubeOptions { ring_count: 12, segment_count: 8, bone_count: 2, example_count: 4 });
/// let poses: Vec<_> = tube.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let tangents = fit_tangents(&tube.truth, tube.examples.rest(), &poses, &TangentOptions::default())?;
/// let normals = project_normals(&tube.truth, &tangents, &poses[0])?;
/// assert_eq!(normals.len(), tube.truth.vertex_count());
/// # Ok::<(), dermis::normal::NormalError>(())
/// ```
pub fn fit_tangents(
    skin: &Skin,
    mesh: &TriMesh,
    poses: &[Pose],
    options: &TangentOptions,
) -> Result<TangentPairs, NormalError> {
    check_count("mesh vertices", skin.vertex_count(), mesh.vertex_count())?;
    let statistics = Statistics::new(skin, poses, options)?;
    let corners = corners_of_vertices(mesh);
    let pairs = par::map(skin.vertex_count(), |i| {
        let (bones, _) = influences(skin, i);
        let vertex = (bones.as_slice(), mesh.positions()[i]);
        let motion = Motion::new(skin, &statistics, vertex, options);
        let form = plane_form(&statistics, &motion, i, corners.row(i))?;
        let pair = leading_pair(&unit_directions(&motion.metric()), &form)?;
        Some(pair.map(|x| motion.tangent(&x)))
    });
    Ok(TangentPairs::from_pairs(skin, &pairs, options.bone_weights))
}

/// `B = Σ_f c_f d_fᵀ − d_f c_fᵀ`; `None` when no face has two edges.
fn plane_form(
    statistics: &Statistics,
    motion: &Motion<'_>,
    vertex: usize,
    corners: &[[u32; 2]],
) -> Option<Square> {
    let mut form: Option<Square> = None;
    for corner in corners {
        let [c, d] = corner.map(|other| {
            motion.pullback(|k| {
                let positions = &statistics.samples[k].positions;
                positions[other as usize] - positions[vertex]
            })
        });
        let form = form.get_or_insert_with(|| Square::zero(c.len()));
        for row in 0..c.len() {
            for column in 0..c.len() {
                form.add(row, column, c[row] * d[column] - d[row] * c[column]);
            }
        }
    }
    form
}

/// The other two corners of each face around a vertex, in the face's order.
fn corners_of_vertices(mesh: &TriMesh) -> Rows<[u32; 2]> {
    let mut corners = vec![Vec::new(); mesh.vertex_count()];
    for &[a, b, c] in mesh.triangles() {
        if a != b && b != c && c != a {
            corners[a as usize].push([b, c]);
            corners[b as usize].push([c, a]);
            corners[c as usize].push([a, b]);
        }
    }
    corners.into_iter().collect()
}
