//! Meshes that cannot belong together are refused, with the likely cause and the flag that mends it.

use std::path::Path;

use anyhow::bail;
use dermis::example::{RigMismatch, find_rig_mismatch};
use dermis::mesh::{Aabb, Mismatch, Upright, find_mismatch, order_by_place};
use dermis::{ExampleSet, Skeleton, TriMesh};
use dermis_io::{Document, Format, Frame, Placement, SequenceOptions};
use glam::DVec3;

use crate::input_args::{MatchArgs, Of, UpArgs};
use crate::talk::{Talk, plural};

/// Shapes to try when vertices are put in order by their places: any may be the one in the rest pose.
const MOST_TRIES: usize = 24;

/// What is held against what, and which flags reach it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    /// Where the meshes come from.
    pub(crate) meshes: &'a Path,
    /// What they should be shapes of.
    pub(crate) rest: &'a Path,
    /// What `--scale` and `--input-up` must be about to change one of the two alone.
    pub(crate) of: Of,
}

/// Reads a file that is the input of a command, turned to y up when asked to.
pub(crate) fn read_upright(path: &Path, up: &UpArgs, talk: &Talk) -> anyhow::Result<Document> {
    remark_unturned(path, up, talk);
    read_beside(path, up, talk)
}

/// Reads a file beside the input, such as a rig, turned to y up when asked to.
pub(crate) fn read_beside(path: &Path, up: &UpArgs, talk: &Talk) -> anyhow::Result<Document> {
    read_placed(path, up.placements(), talk)
}

/// Reads a file with its rest mesh, and all that comes with it, in one placement and its frames in another.
pub(crate) fn read_placed(
    path: &Path,
    [placement, frame_placement]: [Placement; 2],
    talk: &Talk,
) -> anyhow::Result<Document> {
    let options = SequenceOptions {
        placement,
        frame_placement,
        ..SequenceOptions::default()
    };
    let document = dermis_io::read_inputs(&[path], &options)?;
    talk.remark_notes(&document);
    Ok(document)
}

/// Says when a file was not turned although z up was asked for.
pub(crate) fn remark_unturned(path: &Path, up: &UpArgs, talk: &Talk) {
    if up.input_up.is_some_and(|up| up.is_z) && is_gltf(path) {
        talk.remark(format!(
            "note: {} is not turned: glTF files are y up by their standard; dermis transform --rotate \
             x=-90 turns one that is not",
            path.display()
        ));
    }
}

fn is_gltf(path: &Path) -> bool {
    matches!(Format::of(path), Ok(Format::Glb | Format::Gltf))
}

/// The rest mesh of a document as frames may have it: as it is stored, and as it is drawn, which bind matrices
/// can make another.
pub(crate) fn rest_meshes(document: &Document) -> Vec<TriMesh> {
    let drawn = document.skin.as_ref().and_then(|skin| {
        let drawn = skin.drawn_at_rest().ok()?;
        document.mesh.with_positions(drawn).ok()
    });
    std::iter::once(document.mesh.clone())
        .chain(drawn)
        .collect()
}

/// Holds the frames of a document against its rest mesh.
pub(crate) fn check_frames(
    document: &mut Document,
    args: &MatchArgs,
    meshes: &Path,
    talk: &Talk,
) -> anyhow::Result<()> {
    let rests = rest_meshes(document);
    let mut frames = std::mem::take(&mut document.frames);
    let pair = Pair {
        meshes,
        rest: &document.path,
        of: Of::Frames,
    };
    check_and_reorder(&rests, &mut frames, pair, args, talk)?;
    document.frames = frames;
    Ok(())
}

/// Puts shapes in the order of their rest mesh when asked to, and refuses what cannot be shapes of it.
pub(crate) fn check_and_reorder(
    rests: &[TriMesh],
    frames: &mut [Frame],
    pair: Pair<'_>,
    args: &MatchArgs,
    talk: &Talk,
) -> anyhow::Result<()> {
    if args.reorder {
        let count = rests
            .first()
            .map_or(Ok(0), |rest| reorder(rest, frames, pair))?;
        talk.remark(match count {
            0 => "note: all vertices are in the order of the rest mesh already".to_owned(),
            count => format!(
                "note: the vertices of {} were put in the order of {}",
                plural(count, "mesh").replace("meshs", "meshes"),
                pair.rest.display()
            ),
        });
    }
    let shapes: Vec<&[DVec3]> = frames.iter().map(|frame| &frame.positions[..]).collect();
    check(rests, &shapes, pair, args)
}

/// Refuses shapes that cannot be shapes of a mesh, unless they are to be taken anyway.
pub(crate) fn check(
    rests: &[TriMesh],
    shapes: &[&[DVec3]],
    pair: Pair<'_>,
    args: &MatchArgs,
) -> anyhow::Result<()> {
    if args.force || shapes.is_empty() {
        return Ok(());
    }
    let mut found = None;
    for rest in rests {
        match find_mismatch(rest, shapes) {
            None => return Ok(()),
            Some(mismatch) => found = found.or(Some((rest, mismatch))),
        }
    }
    let (meshes, against) = (pair.meshes.display(), pair.rest.display());
    match found {
        None => Ok(()),
        Some((rest, Mismatch::Order { torn })) => {
            let mut tried = shapes.iter().take(MOST_TRIES);
            let mend = match tried.any(|shape| found_order(rest, shape).is_some()) {
                true => "--reorder puts each where it lies on the rest mesh",
                false => "write both files again with the vertices in one order",
            };
            bail!(
                "{meshes}: the vertices are in another order than in {against}, or of another mesh: {:.0}% \
                 of them have lost their neighbours; {mend}, and --force takes them as they are",
                100.0 * torn
            )
        }
        Some((_, Mismatch::Space { scale, upright })) => {
            bail!(
                "{meshes}: the meshes are not in the space of {against}: {}; {}, and --force takes them \
                 as they are",
                difference(scale, upright),
                mend(scale, upright, pair, args)
            )
        }
    }
}

/// True when the vertices of a file are in another order than those of a mesh.
pub(crate) fn is_other_order(file: &Document, mesh: &TriMesh) -> bool {
    let found = find_mismatch(&file.mesh, &[mesh.positions()]);
    matches!(found, Some(Mismatch::Order { .. }))
}

/// Holds a sculpted mesh against what is shown in its pose.
///
/// Where a skin collapses its surroundings say nothing about order, and those of the rest mesh do.
pub(crate) fn check_sculpt(
    base: &Document,
    shown: &[DVec3],
    sculpt: &mut Frame,
    file: &Path,
    args: &MatchArgs,
    talk: &Talk,
) -> anyhow::Result<()> {
    let pair = Pair {
        meshes: file,
        rest: &base.path,
        of: Of::All,
    };
    let posed = base.mesh.with_positions(shown.to_vec())?;
    let is_torn = matches!(
        find_mismatch(&posed, &[&sculpt.positions]),
        Some(Mismatch::Order { .. })
    );
    let by_rest = is_torn
        && !matches!(
            find_mismatch(&base.mesh, &[&sculpt.positions]),
            Some(Mismatch::Order { .. })
        );
    let against = if by_rest { base.mesh.clone() } else { posed };
    check_and_reorder(&[against], std::slice::from_mut(sculpt), pair, args, talk)
}

/// Refuses meshes whose unit or axes are not those of the skeleton in their poses.
pub(crate) fn check_rig(set: &ExampleSet, pair: Pair<'_>, args: &MatchArgs) -> anyhow::Result<()> {
    if args.force {
        return Ok(());
    }
    let Some(found) = find_rig_mismatch(set) else {
        return Ok(());
    };
    let RigMismatch { scale, upright, .. } = found;
    bail!(
        "{}: the meshes are not in the space of the skeleton in {}: {} (its bones miss them by {:.0}% of \
         the size, and by {:.0}% otherwise); {}, and --force takes them as they are",
        pair.meshes.display(),
        pair.rest.display(),
        difference(scale, upright),
        100.0 * found.misses,
        100.0 * found.would_miss,
        mend(scale, upright, pair, args)
    )
}

/// Refuses a skeleton at rest that is far larger or smaller than the mesh that it should stand in.
///
/// Joints of a character fill about as much as its mesh; a twentieth of the mesh's diagonal is no skeleton of it.
pub(crate) fn check_joints(
    skeleton: &Skeleton,
    mesh: &TriMesh,
    pair: Pair<'_>,
    args: &MatchArgs,
) -> anyhow::Result<()> {
    let joints: Vec<DVec3> = (skeleton.bones().iter())
        .map(|bone| bone.bone_from_rest.inverse().translation)
        .collect();
    let fill = Aabb::of(&joints).map_or(0.0, |b| b.diagonal()) / mesh.bounds().diagonal();
    // One joint fills nothing.
    if args.force || fill == 0.0 || !fill.is_finite() || (0.05..20.0).contains(&fill) {
        return Ok(());
    }
    let scale = nearest_power(0.8 / fill);
    bail!(
        "{}: the mesh is about {} times the size of the skeleton in {}, which should stand in it; give \
         --scale {} if its unit is another, and --force takes them as they are",
        pair.meshes.display(),
        short(scale),
        pair.rest.display(),
        short(args.placements()[0].scale / scale)
    )
}

/// The power of ten nearest to a factor: joints say no more than that about a unit.
fn nearest_power(factor: f64) -> f64 {
    10f64.powf(factor.log10().round())
}

/// What is different, for people.
fn difference(scale: f64, upright: Option<Upright>) -> String {
    let larger = match scale {
        1.0 => None,
        _ if scale > 1.0 => Some(format!("{} times as large", short(scale))),
        _ => Some(format!("{} times smaller", short(1.0 / scale))),
    };
    let turned = upright.map(|upright| match upright {
        Upright::ZInY => "z up where that is y up".to_owned(),
        Upright::YInZ => "y up where that is z up".to_owned(),
    });
    let parts: Vec<String> = larger.into_iter().chain(turned).collect();
    format!("they are {}", parts.join(" and "))
}

/// What to type.
fn mend(scale: f64, upright: Option<Upright>, pair: Pair<'_>, args: &MatchArgs) -> String {
    let of = match pair.of {
        Of::All => "",
        Of::Frames => "frames=",
    };
    let mut flags = Vec::new();
    if scale != 1.0 {
        let given = args.placements()[1].scale;
        flags.push(format!("--scale {of}{}", short(given / scale)));
    }
    let is_turned = args.placements()[1].z_up;
    let mut by_hand = None;
    match upright {
        None => {}
        // What is read as glTF stays, so that the short form turns the frames alone.
        Some(Upright::ZInY) if is_gltf(pair.rest) => flags.push("--input-up z".to_owned()),
        Some(Upright::ZInY) => flags.push(format!("--input-up {of}z")),
        Some(Upright::YInZ) if is_turned => by_hand = Some("leave --input-up out".to_owned()),
        Some(Upright::YInZ) => {
            by_hand = Some(format!(
                "turn {} first with dermis transform --rotate x=-90",
                pair.rest.display()
            ));
        }
    }
    let typed = (!flags.is_empty()).then(|| format!("give {}", flags.join(" ")));
    let all: Vec<String> = typed.into_iter().chain(by_hand).collect();
    all.join(" and ")
}

/// A factor with as few digits as name it.
fn short(factor: f64) -> String {
    let rounded = format!("{factor:.4e}").parse::<f64>().unwrap_or(factor);
    format!("{rounded}")
}

/// Puts the vertices of torn shapes in order, and returns how many shapes that were.
fn reorder(rest: &TriMesh, frames: &mut [Frame], pair: Pair<'_>) -> anyhow::Result<usize> {
    let is_torn = |shape: &[DVec3]| {
        let found = find_mismatch(rest, &[shape]);
        matches!(found, Some(Mismatch::Order { .. }))
    };
    let torn: Vec<usize> = (0..frames.len())
        .filter(|&k| is_torn(&frames[k].positions))
        .collect();
    let mut orders: Vec<Vec<u32>> = Vec::new();
    let ordered = |shape: &[DVec3], order: &[u32]| -> Vec<DVec3> {
        order.iter().map(|&v| shape[v as usize]).collect()
    };
    // Of each order that files have, one shape must be in the rest pose: the others follow it.
    for &k in &torn {
        let shape = &frames[k].positions;
        let is_known = |order: &Vec<u32>| !is_torn(&ordered(shape, order));
        if orders.len() < MOST_TRIES && !orders.iter().any(is_known) {
            orders.extend(found_order(rest, shape));
        }
    }
    for &k in &torn {
        let shape = &mut frames[k];
        let mut fitting = orders.iter().map(|order| ordered(&shape.positions, order));
        match fitting.find(|positions| !is_torn(positions)) {
            Some(positions) => shape.positions = positions,
            None => bail!(
                "{}: --reorder finds no order for the vertices of mesh {}: no mesh lies on the rest mesh of \
                 {}, vertex on vertex, each on another",
                pair.meshes.display(),
                shape.name,
                pair.rest.display()
            ),
        }
    }
    Ok(torn.len())
}

/// The order that puts a shape on its rest mesh and mends its surroundings.
fn found_order(rest: &TriMesh, shape: &[DVec3]) -> Option<Vec<u32>> {
    let order = order_by_place(rest.positions(), shape)?;
    let ordered: Vec<DVec3> = order.iter().map(|&v| shape[v as usize]).collect();
    let found = find_mismatch(rest, &[&ordered]);
    (!matches!(found, Some(Mismatch::Order { .. }))).then_some(order)
}
