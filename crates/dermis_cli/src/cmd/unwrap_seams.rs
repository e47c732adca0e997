//! Seams of `dermis unwrap`: whose they are, and whether charts are what lies between them.

use std::path::Path;

use anyhow::bail;
use dermis::document::{SeamSource, seams_of};
use dermis_io::Document;

use crate::matching::read_beside;
use crate::talk::{Talk, plural};
use crate::unwrap_args::{Source, UnwrapArgs};

/// Edges that no chart may cross.
pub(super) struct Seams {
    pub(super) source: SeamSource,
    /// Whether each part between them is one chart.
    pub(super) is_kept: bool,
}

/// The seams that were asked for.
pub(super) fn seams(
    args: &UnwrapArgs,
    document: &Document,
    notes: &mut Vec<String>,
    talk: &Talk,
) -> anyhow::Result<Seams> {
    let (source, is_kept) = match &args.from {
        Source::Auto => (SeamSource::None, false),
        Source::Seams => (SeamSource::Uvs, true),
        Source::Materials => (SeamSource::Materials, true),
        Source::Creases => (SeamSource::Creases, false),
        Source::File(path) => {
            let other = read_beside(path, &args.up, talk)?;
            (SeamSource::Edges(edges_of(&other, path, document)?), true)
        }
    };
    let missing = match source {
        SeamSource::Materials => "borders between materials",
        SeamSource::Creases => "edges with split normals",
        _ => return Ok(Seams { source, is_kept }),
    };
    if seams_of(document, &source).is_empty() {
        // With no seams to keep, a whole character would be one chart.
        notes.push(format!("the file has no {missing}: all charts were found"));
        return Ok(Seams {
            source: SeamSource::None,
            is_kept: false,
        });
    }
    Ok(Seams { source, is_kept })
}

/// The seams of another file: those of its UVs, or, where it has none, the borders of its parts.
fn edges_of(other: &Document, path: &Path, document: &Document) -> anyhow::Result<Vec<[u32; 2]>> {
    let [expected, found] = [document, other].map(|file| file.mesh.vertex_count());
    if found != expected {
        bail!(
            "{}: expected {} as in {}, found {found}: seams are taken from a file with the same points in the same order",
            path.display(),
            plural(expected, "point"),
            document.path.display()
        );
    }
    let drawn = || (other.draw.parts.iter()).filter(|part| !part.triangles.is_empty());
    let has_uvs = drawn().count() > 0 && drawn().all(|part| !part.uvs.is_empty());
    let source = match has_uvs {
        true => SeamSource::Uvs,
        false => SeamSource::Materials,
    };
    let edges = seams_of(other, &source);
    if edges.is_empty() && !has_uvs {
        bail!(
            "{}: has neither UVs nor groups of faces, so it marks no seams",
            path.display()
        );
    }
    check_edges(&edges, path, document)?;
    Ok(edges)
}

/// One sentence when most seams are no edges of the mesh: then its points are in another order.
fn check_edges(edges: &[[u32; 2]], path: &Path, document: &Document) -> anyhow::Result<()> {
    let sides = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]);
    let triangles = document.draw.point_triangles();
    let mut known: Vec<[u32; 2]> = triangles.into_iter().flat_map(sides).collect();
    known.sort_unstable();
    let found = edges
        .iter()
        .filter(|edge| known.binary_search(edge).is_ok());
    let found = found.count();
    if 2 * found < edges.len() {
        bail!(
            "{}: {found} of its {} seam edges are edges of {}: expected the same points in the same order",
            path.display(),
            edges.len(),
            document.path.display()
        );
    }
    Ok(())
}
