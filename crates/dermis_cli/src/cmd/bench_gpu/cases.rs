//! What is timed: one skin as every vertex program, with and without normals.

use dermis::mesh::vertex_normals;
use dermis::normal::tangents_from_rest_normals;
use dermis::run::{Frame, Normals, PackOptions, PackedSkin};
use dermis::skin::DualQuaternionProgram;
use dermis::synth::{BodyOptions, body};
use dermis::{Skin, VertexProgram};
use dermis_gpu::layout::GpuSkin;

use crate::cmd::bench::{Subject, same_weights};

/// Normals by the inverse transpose of the blended matrix.
pub(super) const BLENDED: &str = "blended";

/// A skin packed one way, in a pose.
pub(super) struct Case {
    pub(super) program: &'static str,
    pub(super) normals: &'static str,
    pub(super) packed: PackedSkin,
    /// The same on the card.
    pub(super) layout: GpuSkin,
    pub(super) frame: Frame,
}

/// A body of some size, so that cards are compared on the same work.
pub(super) fn made(vertex_count: usize, influences: usize, bone_count: usize) -> Subject {
    let body = body(&BodyOptions {
        vertex_count,
        influences,
        bone_count,
    });
    Subject {
        mesh: body.mesh,
        skin: body.skin,
        pose: body.pose,
    }
}

/// The skin as every vertex program that can hold it.
pub(super) fn cases(subject: &Subject) -> anyhow::Result<Vec<Case>> {
    let Subject { mesh, skin, pose } = subject;
    let rest_normals = vertex_normals(mesh.positions(), mesh.triangles());
    let linear = skin.to_linear()?;
    let tangents = tangents_from_rest_normals(&linear, &rest_normals)?.four_vectors();
    let rest = Normals::Rest(rest_normals.clone());
    let mut list = Vec::new();
    if let VertexProgram::Ssd(ssd) = &skin.program {
        let with = |program| Skin {
            program,
            ..skin.clone()
        };
        let multi = with(VertexProgram::MultiWeight(same_weights(ssd)));
        let dual = with(VertexProgram::DualQuaternion(DualQuaternionProgram {
            weighted: ssd.clone(),
        }));
        for (program, skin) in [
            ("linear blend", skin.clone()),
            ("dual quaternion", dual),
            ("multi-weight", multi),
        ] {
            list.push((program, "none", skin.clone(), Normals::None));
            list.push((program, "rest", skin, rest.clone()));
        }
    }
    list.push(("linear", "none", linear.clone(), Normals::None));
    list.push(("linear", "rest", linear.clone(), rest));
    list.push(("linear", "tangents", linear, Normals::Tangents(tangents)));
    let mut cases = list
        .into_iter()
        .map(|(program, kind, skin, normals)| {
            let options = PackOptions {
                normals,
                ..PackOptions::default()
            };
            let packed = PackedSkin::new(&skin, &options)?;
            Ok(Case {
                program,
                normals: kind,
                frame: packed.frame(&skin.run_pose_program(pose)?)?,
                layout: GpuSkin::new(&packed)?,
                packed,
            })
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    // The same normals as those of tangents; the processor has no form of its own for it.
    let plain = |case: &&Case| (case.program, case.normals) == ("linear", "none");
    if let Some(case) = cases.iter().find(plain) {
        let layout = GpuSkin::linear_in_rest_space(&case.packed, &skin.skeleton, &rest_normals)?;
        cases.push(Case {
            program: "linear",
            normals: BLENDED,
            packed: case.packed.clone(),
            frame: case.frame.clone(),
            layout,
        });
    }
    Ok(cases)
}
