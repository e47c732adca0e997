//! Which points of a detailed surface each texel shows, for normals of texels in any pose.

use dermis::bake::SurfaceMap;

use crate::GpuError;

/// Texels and their samples, as shaders read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TexelTable {
    /// Texels along a side of the picture.
    pub size: u32,
    /// For each texel its column, with its row above 16 bits, and its first sample; at the end two more words, of which the
    /// second is the end of the last texel's samples.
    pub texels: Vec<u32>,
    /// Five words for each sample: three vertices, and as bits of floats the weights of the second and the third.
    pub samples: Vec<u32>,
}

impl TexelTable {
    /// How many texels are written.
    pub fn texel_count(&self) -> usize {
        self.texels.len() / 2 - 1
    }
}

/// Makes the table of a match between a level and a detailed surface with these triangles, for pictures whose filtering
/// reaches `gutter` texels beyond charts: those texels show what the nearest one inside shows.
///
/// # Errors
/// [`GpuError::CountMismatch`] when the surface has other triangles than the one that was matched, and
/// [`GpuError::TooMany`] for pictures beyond 65,536 texels along a side or 2³² numbers.
pub fn texel_table(
    map: &SurfaceMap,
    triangles: &[[u32; 3]],
    gutter: usize,
) -> Result<TexelTable, GpuError> {
    let size = map.size();
    if size > 1 << 16 {
        return Err(GpuError::TooMany {
            what: "texels along a side",
            most: 1 << 16,
        });
    }
    let mut samples = Vec::new();
    // The samples of each texel, as a range; none where nothing is shown.
    let mut shown: Vec<Option<[u32; 2]>> = vec![None; size * size];
    for (row, of_row) in map.rows().iter().enumerate() {
        for (texel, of_texel) in of_row.iter() {
            let first = super::word(samples.len() / 5)?;
            for sample in of_texel {
                let source = sample.source;
                let corners = triangles.get(source.triangle as usize);
                let corners = corners.ok_or(GpuError::CountMismatch {
                    what: "triangles of the detailed surface at least",
                    expected: source.triangle as usize + 1,
                    found: triangles.len(),
                })?;
                samples.extend(corners);
                samples.extend([source.second, source.third].map(f32::to_bits));
            }
            let end = super::word(samples.len() / 5)?;
            shown[row * size + texel.column as usize] = Some([first, end]);
        }
    }
    for _ in 0..gutter {
        shown = widened(&shown, size);
    }
    // Texels of a gutter show samples that a texel inside has, too: each texel needs samples of its own in a row.
    let mut texels = Vec::new();
    let mut rows = Vec::new();
    for (place, range) in shown.iter().enumerate() {
        let Some([first, end]) = *range else { continue };
        let (column, row) = (place % size, place / size);
        texels.push((column | row << 16) as u32);
        texels.push(super::word(rows.len() / 5)?);
        rows.extend_from_slice(&samples[5 * first as usize..5 * end as usize]);
    }
    texels.extend([0, super::word(rows.len() / 5)?]);
    Ok(TexelTable {
        size: size as u32,
        texels,
        samples: rows,
    })
}

/// Texels beside shown ones show the same: that to the left or right before that above or below.
fn widened(shown: &[Option<[u32; 2]>], size: usize) -> Vec<Option<[u32; 2]>> {
    let at = |column: usize, row: usize| {
        let is_inside = column < size && row < size;
        is_inside.then(|| shown[row * size + column]).flatten()
    };
    let beside = |place: usize| {
        let (column, row) = (place % size, place / size);
        shown[place]
            .or_else(|| at(column.wrapping_sub(1), row))
            .or_else(|| at(column + 1, row))
            .or_else(|| at(column, row.wrapping_sub(1)))
            .or_else(|| at(column, row + 1))
    };
    (0..shown.len()).map(beside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_beside_a_shown_one_show_the_same_and_no_others() {
        let mut shown = vec![None; 25];
        shown[12] = Some([3, 4]);
        let once = widened(&shown, 5);
        let found: Vec<usize> = (0..25).filter(|&n| once[n].is_some()).collect();
        assert_eq!(found, [7, 11, 12, 13, 17], "four neighbours");
        let corner = widened(&widened(&once, 5), 5);
        let count = corner.iter().flatten().count();
        assert_eq!(count, 21, "all but the corners, and nothing wraps around");
    }
}
