//! Meshes that cannot belong together are refused, with the likely cause; and vertices are put in order.

use std::path::Path;

use glam::DVec3;

use super::{Document, Frame, MatchError, Note};
use crate::TriMesh;
use crate::example::{ExampleSet, find_rig_mismatch};
use crate::mesh::{Aabb, FarEdges, Mismatch, find_far_edges, find_mismatch, order_by_place};
use crate::rig::Skeleton;

/// Shapes to try when vertices are put in order by their places: any may be the one in the rest pose.
const MOST_TRIES: usize = 24;

/// Joints of a character fill about as much as its mesh; a twentieth of the mesh's diagonal is no skeleton of it.
const JOINTS_FILL: std::ops::Range<f64> = 0.05..20.0;

/// What to do with meshes that seem not to belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchOptions {
    /// Put vertices that are in another order than in the rest mesh into its order, each where it lies nearest
    /// in a mesh that is in the rest pose. Default: no.
    pub reorder: bool,
    /// Take meshes in another vertex order, unit, or axes as they are. Default: no, they are refused.
    pub force: bool,
}

/// What is held against what.
#[derive(Debug, Clone, Copy)]
pub struct MatchPair<'a> {
    /// Where the meshes come from.
    pub meshes: &'a Path,
    /// What they should be shapes of.
    pub rest: &'a Path,
    /// Whether both were read together, so that moving all that was read would change nothing.
    pub is_own_rest: bool,
}

impl Document {
    /// The rest mesh as frames may have it: as it is stored, and as it is drawn, which bind matrices can make
    /// another.
    pub fn rest_meshes(&self) -> Vec<TriMesh> {
        let drawn = self.skin.as_ref().and_then(|skin| {
            let drawn = skin.drawn_at_rest().ok()?;
            self.mesh.with_positions(drawn).ok()
        });
        std::iter::once(self.mesh.clone()).chain(drawn).collect()
    }

    /// Holds the frames against the rest mesh; `meshes` is where they come from.
    ///
    /// # Errors
    /// As [`match_frames`].
    pub fn match_own_frames(
        &mut self,
        meshes: &Path,
        options: &MatchOptions,
    ) -> Result<Vec<Note>, MatchError> {
        if self.frames.is_empty() {
            return Ok(Vec::new());
        }
        let rests = self.rest_meshes();
        let pair = MatchPair {
            meshes,
            rest: &self.path,
            is_own_rest: true,
        };
        match_frames(&rests, &mut self.frames, pair, options)
    }
}

/// Puts shapes in the order of their rest mesh when asked to, and refuses what cannot be shapes of it.
///
/// `rests` are the forms that the rest mesh may have ([`Document::rest_meshes`]); shapes of one of them are right.
///
/// # Errors
/// [`MatchError::Order`], [`MatchError::Space`] and [`MatchError::NoOrder`].
///
/// # Panics
/// When a frame has fewer vertices than a rest mesh.
pub fn match_frames(
    rests: &[TriMesh],
    frames: &mut [Frame],
    pair: MatchPair<'_>,
    options: &MatchOptions,
) -> Result<Vec<Note>, MatchError> {
    let mut notes = Vec::new();
    if let (true, Some(rest)) = (options.reorder, rests.first()) {
        notes.push(Note::Reordered {
            mesh_count: reorder(rest, frames, pair)?,
            rest: pair.rest.to_owned(),
        });
    }
    let shapes: Vec<&[DVec3]> = frames.iter().map(|frame| &frame.positions[..]).collect();
    check_shapes(rests, &shapes, pair, options)?;
    notes.extend(far_edges_note(rests, &shapes, pair));
    Ok(notes)
}

/// What edges that reach across the character say about the order of a few vertices.
fn far_edges_note(rests: &[TriMesh], shapes: &[&[DVec3]], pair: MatchPair<'_>) -> Option<Note> {
    // Shapes that are right for one form of the rest mesh are right.
    let found: Option<Vec<FarEdges>> = (rests.iter())
        .map(|rest| find_far_edges(rest, shapes))
        .collect();
    let FarEdges { count, first } = *found?.first()?;
    Some(Note::FarEdges {
        meshes: pair.meshes.to_owned(),
        rest: pair.rest.to_owned(),
        count,
        first,
    })
}

/// Refuses shapes that cannot be shapes of a mesh, unless they are to be taken anyway.
///
/// # Errors
/// [`MatchError::Order`] and [`MatchError::Space`].
///
/// # Panics
/// When a shape has fewer vertices than a rest mesh.
pub fn check_shapes(
    rests: &[TriMesh],
    shapes: &[&[DVec3]],
    pair: MatchPair<'_>,
    options: &MatchOptions,
) -> Result<(), MatchError> {
    if options.force || shapes.is_empty() {
        return Ok(());
    }
    let mut found = None;
    for rest in rests {
        match find_mismatch(rest, shapes) {
            None => return Ok(()),
            Some(mismatch) => found = found.or(Some((rest, mismatch))),
        }
    }
    let (meshes, against) = (pair.meshes.to_owned(), pair.rest.to_owned());
    match found {
        None => Ok(()),
        Some((rest, Mismatch::Order { torn })) => Err(MatchError::Order {
            meshes,
            rest: against,
            torn,
            can_reorder: (shapes.iter().take(MOST_TRIES))
                .any(|shape| found_order(rest, shape).is_some()),
        }),
        Some((_, Mismatch::Space { scale, upright })) => Err(MatchError::Space {
            meshes,
            rest: against,
            scale,
            upright,
            is_own_rest: pair.is_own_rest,
        }),
    }
}

/// True when the vertices of a document are in another order than those of a mesh.
pub(super) fn is_other_order(document: &Document, mesh: &TriMesh) -> bool {
    is_torn(&document.mesh, mesh.positions())
}

/// Holds a sculpted mesh against what is shown in its pose.
///
/// Where a skin collapses its surroundings say nothing about order, and those of the rest mesh do. So they do where
/// it shows nothing finite.
///
/// # Errors
/// As [`match_frames`].
///
/// # Panics
/// When the sculpt has fewer vertices than the base.
pub fn match_sculpt(
    base: &Document,
    shown: &[DVec3],
    sculpt: &mut Frame,
    file: &Path,
    options: &MatchOptions,
) -> Result<Vec<Note>, MatchError> {
    let pair = MatchPair {
        meshes: file,
        rest: &base.path,
        is_own_rest: false,
    };
    let posed = base.mesh.with_positions(shown.to_vec());
    let posed = posed.unwrap_or_else(|_| base.mesh.clone());
    let by_rest = is_torn(&posed, &sculpt.positions) && !is_torn(&base.mesh, &sculpt.positions);
    let against = if by_rest { base.mesh.clone() } else { posed };
    match_frames(&[against], std::slice::from_mut(sculpt), pair, options)
}

/// Refuses meshes whose unit or axes are not those of the skeleton in their poses.
pub(super) fn check_rig(
    set: &ExampleSet,
    meshes: &Path,
    rig: &Path,
    options: &MatchOptions,
) -> Result<(), MatchError> {
    let found = (!options.force).then(|| find_rig_mismatch(set)).flatten();
    found.map_or(Ok(()), |found| {
        Err(MatchError::SkeletonSpace {
            meshes: meshes.to_owned(),
            rig: rig.to_owned(),
            found,
        })
    })
}

/// Refuses a skeleton at rest that is far larger or smaller than the mesh that it should stand in.
pub(super) fn check_joints(
    skeleton: &Skeleton,
    meshes: &Document,
    rig: &Path,
    options: &MatchOptions,
) -> Result<(), MatchError> {
    let joints: Vec<DVec3> = (skeleton.bones().iter())
        .map(|bone| bone.bone_from_rest.inverse().translation)
        .collect();
    let fill = Aabb::of(&joints).map_or(0.0, |b| b.diagonal()) / meshes.mesh.bounds().diagonal();
    // One joint fills nothing.
    if options.force || fill == 0.0 || !fill.is_finite() || JOINTS_FILL.contains(&fill) {
        return Ok(());
    }
    Err(MatchError::SkeletonSize {
        mesh: meshes.path.clone(),
        rig: rig.to_owned(),
        // Joints say no more than that about a unit.
        scale: 10f64.powf((0.8 / fill).log10().round()),
    })
}

fn is_torn(rest: &TriMesh, shape: &[DVec3]) -> bool {
    let found = find_mismatch(rest, &[shape]);
    matches!(found, Some(Mismatch::Order { .. }))
}

/// Puts the vertices of torn shapes in order, and returns how many shapes that were.
fn reorder(rest: &TriMesh, frames: &mut [Frame], pair: MatchPair<'_>) -> Result<usize, MatchError> {
    let torn: Vec<usize> = (0..frames.len())
        .filter(|&k| is_torn(rest, &frames[k].positions))
        .collect();
    let mut orders: Vec<Vec<u32>> = Vec::new();
    // Of each order that files have, one shape must be in the rest pose: the others follow it.
    for &k in &torn {
        let shape = &frames[k].positions;
        let is_known = |order: &Vec<u32>| !is_torn(rest, &ordered(shape, order));
        if orders.len() < MOST_TRIES && !orders.iter().any(is_known) {
            orders.extend(found_order(rest, shape));
        }
    }
    for &k in &torn {
        let shape = &mut frames[k];
        let mut fitting = orders.iter().map(|order| ordered(&shape.positions, order));
        match fitting.find(|positions| !is_torn(rest, positions)) {
            Some(positions) => shape.positions = positions,
            None => {
                return Err(MatchError::NoOrder {
                    meshes: pair.meshes.to_owned(),
                    name: shape.name.clone(),
                    rest: pair.rest.to_owned(),
                });
            }
        }
    }
    Ok(torn.len())
}

fn ordered(shape: &[DVec3], order: &[u32]) -> Vec<DVec3> {
    order.iter().map(|&v| shape[v as usize]).collect()
}

/// Whether a mesh with other faces may be the rest mesh with its vertices in another order, which
/// [`MatchOptions::reorder`] would mend: as many faces meet at as many vertices, or its vertices lie on those of the
/// rest mesh.
pub fn can_reorder(rest: &TriMesh, other: &TriMesh) -> bool {
    rest.vertex_count() == other.vertex_count()
        && (face_counts(rest) == face_counts(other)
            || found_order(rest, other.positions()).is_some())
}

/// How many triangles meet at vertices, in rising order.
fn face_counts(mesh: &TriMesh) -> Vec<u32> {
    let mut counts = vec![0; mesh.vertex_count()];
    for &vertex in mesh.triangles().iter().flatten() {
        counts[vertex as usize] += 1;
    }
    counts.sort_unstable();
    counts
}

/// The order that puts a shape on its rest mesh and mends its surroundings.
fn found_order(rest: &TriMesh, shape: &[DVec3]) -> Option<Vec<u32>> {
    let order = order_by_place(rest.positions(), shape)?;
    (!is_torn(rest, &ordered(shape, &order))).then_some(order)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::document::testing::tube_with_frames;

    fn shuffled(points: &[DVec3]) -> Vec<DVec3> {
        let count = points.len();
        (0..count).map(|i| points[(i * 37 + 5) % count]).collect()
    }

    /// A tube whose first frame is its rest mesh, each point changed.
    fn changed(change: impl Fn(&[DVec3]) -> Vec<DVec3>) -> Document {
        let mut document = tube_with_frames();
        document.frames[0].positions = document.mesh.positions().to_vec();
        for frame in &mut document.frames {
            frame.positions = change(&frame.positions);
        }
        document.path = "tube.npz".into();
        document
    }

    fn check(document: &mut Document, options: &MatchOptions) -> Result<Vec<Note>, MatchError> {
        document.match_own_frames(Path::new("tube.pc2"), options)
    }

    #[test]
    fn another_order_is_refused_and_can_be_mended() {
        let mut document = changed(shuffled);
        let given = document.clone();
        let error = check(&mut document, &MatchOptions::default()).expect_err("torn");
        assert!(
            matches!(
                &error,
                MatchError::Order {
                    can_reorder: true,
                    ..
                }
            ),
            "{error:?}"
        );
        let sentence = error.to_string();
        assert!(
            sentence.starts_with("tube.pc2: the vertices are in another order than in tube.npz"),
            "{sentence}"
        );
        assert!(!sentence.contains("--"), "no flags: {sentence}");
        let force = MatchOptions {
            force: true,
            ..MatchOptions::default()
        };
        let notes = check(&mut document, &force).expect("as they are");
        assert!(
            matches!(notes[..], [Note::FarEdges { .. }]),
            "still said: {notes:?}"
        );
        assert_eq!(document.frames, given.frames, "untouched");
        let reorder = MatchOptions {
            reorder: true,
            ..MatchOptions::default()
        };
        let notes = check(&mut document, &reorder).expect("an order by place");
        let rest = PathBuf::from("tube.npz");
        assert_eq!(
            notes,
            [Note::Reordered {
                mesh_count: 6,
                rest
            }],
            "said"
        );
        assert_eq!(document.frames, changed(<[DVec3]>::to_vec).frames, "mended");
    }

    #[test]
    fn an_order_that_nothing_shows_is_refused() {
        let mut document = changed(shuffled);
        document.frames.remove(0);
        let reorder = MatchOptions {
            reorder: true,
            ..MatchOptions::default()
        };
        let error = check(&mut document, &reorder).expect_err("no mesh is at rest");
        assert!(matches!(error, MatchError::NoOrder { .. }), "{error:?}");
        let error = check(&mut document, &MatchOptions::default()).expect_err("torn");
        assert!(
            matches!(
                &error,
                MatchError::Order {
                    can_reorder: false,
                    ..
                }
            ),
            "{error:?}"
        );
    }

    #[test]
    fn another_unit_is_refused_with_its_factor() {
        let mut document = changed(|points| points.iter().map(|v| *v * 100.0).collect());
        let error = check(&mut document, &MatchOptions::default()).expect_err("centimetres");
        match &error {
            MatchError::Space {
                scale,
                upright: None,
                is_own_rest: true,
                ..
            } => assert_eq!(*scale, 100.0, "{error}"),
            other => panic!("{other:?}"),
        }
        assert!(error.to_string().ends_with("100 times as large"), "{error}");
    }
}
