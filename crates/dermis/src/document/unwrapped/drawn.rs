//! Drawn vertices split where charts meet.

use crate::document::EditError;
use crate::mesh::{DrawMesh, DrawPart};
use crate::param::Atlas;

/// The parts with the atlas as one of their sets of UVs; sets before it that a part lacks are filled with zeros.
///
/// Vertices keep their places; copies for further charts come after them.
pub(super) fn with_atlas(
    draw: &DrawMesh,
    atlas: &Atlas,
    set: usize,
    notes: &mut Vec<String>,
) -> Result<DrawMesh, EditError> {
    let sets = draw.parts.iter().map(|part| part.uvs.len());
    let most = sets.max().unwrap_or(0);
    if set > most {
        return Err(EditError::NoSuchUvSet { set, most });
    }
    let had_tangents = draw.parts.iter().any(|part| !part.tangents.is_empty());
    if had_tangents && set == 0 {
        notes
            .push("tangents are left out, since they belong to the UVs that were there".to_owned());
    }
    let mut corners = atlas.triangles.iter();
    let parts = draw.parts.iter().map(|part| {
        let mut split = Split::new(part);
        for triangle in &part.triangles {
            // There is one triangle of the atlas for each of the parts'.
            let placed = corners.next().copied().unwrap_or_default();
            split.add(*triangle, placed);
        }
        split.finish(part, atlas, set)
    });
    Ok(DrawMesh {
        parts: parts.collect(),
    })
}

/// Vertices of a part while they are split.
struct Split {
    /// The atlas vertex of each drawn vertex, as far as it is known.
    placed: Vec<Option<u32>>,
    /// The drawn vertex that each is a copy of.
    copy_of: Vec<u32>,
    /// The next copy of the same drawn vertex.
    next_copy: Vec<Option<u32>>,
    triangles: Vec<[u32; 3]>,
}

impl Split {
    fn new(part: &DrawPart) -> Self {
        let count = part.points.len();
        Self {
            placed: vec![None; count],
            copy_of: (0..count as u32).collect(),
            next_copy: vec![None; count],
            triangles: Vec::with_capacity(part.triangles.len()),
        }
    }

    fn add(&mut self, drawn: [u32; 3], placed: [u32; 3]) {
        let mut corners = [0; 3];
        for k in 0..3 {
            corners[k] = self.vertex(drawn[k], placed[k]);
        }
        self.triangles.push(corners);
    }

    /// The copy of a drawn vertex that is at a vertex of the atlas.
    fn vertex(&mut self, drawn: u32, placed: u32) -> u32 {
        let mut at = drawn;
        loop {
            match self.placed[at as usize] {
                None => {
                    self.placed[at as usize] = Some(placed);
                    return at;
                }
                Some(known) if known == placed => return at,
                Some(_) => {}
            }
            at = match self.next_copy[at as usize] {
                Some(next) => next,
                None => {
                    let copy = self.placed.len() as u32;
                    self.placed.push(None);
                    self.copy_of.push(drawn);
                    self.next_copy.push(None);
                    self.next_copy[at as usize] = Some(copy);
                    copy
                }
            };
        }
    }

    fn finish(self, part: &DrawPart, atlas: &Atlas, set: usize) -> DrawPart {
        let mut split = part.with_copies(&self.copy_of, self.triangles);
        let uv = |placed: &Option<u32>| match placed {
            // Pictures have their first row on top.
            Some(vertex) => {
                let uv = atlas.uvs[*vertex as usize];
                [uv.x as f32, (1.0 - uv.y) as f32]
            }
            None => [0.0; 2],
        };
        let uvs: Vec<[f32; 2]> = self.placed.iter().map(uv).collect();
        while split.uvs.len() < set {
            split.uvs.push(vec![[0.0; 2]; uvs.len()]);
        }
        match split.uvs.get_mut(set) {
            Some(old) => *old = uvs,
            None => split.uvs.push(uvs),
        }
        if set == 0 {
            split.tangents.clear();
        }
        split
    }
}
