//! `dermis psd pose`: the current result in a pose, to sculpt on.

use dermis::TriMesh;
use dermis_io::{Document, Format, Frame, FrameStorage, WriteOptions};
use glam::DVec3;

use crate::Outcome;
use crate::psd_args::PosedArgs;
use crate::psd_project::{Project, pose};
use crate::talk::Talk;

pub(crate) fn run(args: &PosedArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = Format::of(&args.output)?;
    let project = Project::read(&args.project, talk)?;
    let at = project.parse_pose(&args.pose)?;
    let skin = project.skin_of_layers(project.layers.len())?;
    let positions = skin.evaluate(&project.pose(&at))?;
    let name = pose::to_text(&project.controls, &at);
    let result = posed_mesh(&project.base, &name, positions, format)?;
    talk.check_stopped()?;
    dermis_io::write(&args.output, &result, &WriteOptions::default())?;
    talk.remark(format!(
        "wrote {}: sculpt on it without adding or removing vertices, then: dermis psd add {} \
         --pose {name} --mesh {0}",
        args.output.display(),
        args.project.display(),
    ));
    Ok(Outcome::Done)
}

/// The base's mesh in a pose, with all that a file of it can say.
fn posed_mesh(
    base: &Document,
    name: &str,
    positions: Vec<DVec3>,
    format: Format,
) -> anyhow::Result<Document> {
    let mut result = Document {
        path: base.path.clone(),
        mesh: base.mesh.clone(),
        polygons: base.polygons.clone(),
        draw: base.draw.clone(),
        materials: base.materials.clone(),
        ..Document::default()
    };
    match format.frames() {
        // There a frame would be a morph target on the rest mesh: the posed mesh itself is wanted.
        FrameStorage::MorphTargets => {
            result.mesh = TriMesh::new(positions, base.mesh.triangles().to_vec())?;
            for part in &mut result.draw.parts {
                part.normals.clear();
                part.tangents.clear();
            }
        }
        _ => result.frames.push(Frame {
            name: name.to_owned(),
            positions,
        }),
    }
    Ok(result)
}
