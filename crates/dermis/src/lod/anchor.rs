//! Texture coordinates of a level's points, taken from where the given surface is nearest.
//!
//! A level's points have moved: from collapse to collapse, and once more when the level was done. Those inside a chart get the
//! coordinates of the nearest place of the given surface in the same chart, nearest over all sample poses, so that the texture
//! is no farther off there than the shape is. Points on seams keep theirs: both sides must go on meeting.

use std::ops::Range;

use super::feet::LevelSurface;
use super::lanes::Lanes;
use super::simplify::Given;
use super::snapshot::Snapshot;
use super::texture::GivenTexture;
use super::wedges::{PointKind, WedgeMesh};

/// Coordinates that a wedge had.
struct Before {
    wedge: u32,
    values: Vec<f64>,
}

impl Snapshot {
    /// Gives points inside charts the texture coordinates of the places that they are nearest to.
    pub(super) fn anchor_textures(&mut self, given: &Given, weights: &Lanes) {
        let Some(texture) = &given.texture else {
            return;
        };
        let surface = LevelSurface::new(&given.faces, &given.positions, weights);
        let mesh = &mut self.model.mesh;
        let alive = (0..mesh.faces.len()).filter(|&face| mesh.is_alive[face]);
        let ways: Vec<(usize, f64)> = alive
            .filter_map(|face| Some((face, mesh.texture_area(mesh.faces[face])?)))
            .collect();
        let mut moved = Vec::new();
        for (&point, positions) in self.points.iter().zip(&self.positions) {
            let Some((wedge, own, uvs)) = inside_a_chart(mesh, point) else {
                continue;
            };
            let foot = surface.nearest(positions, point);
            let chart = |face: u32| texture.chart_of_face[face as usize];
            let Some(foot) = foot.filter(|foot| chart(foot.face) == chart(own)) else {
                continue;
            };
            let values = mesh.values_mut(wedge);
            let before = values[uvs.clone()].to_vec();
            texture.at(foot.face, foot.weights, uvs, values);
            moved.push(Before {
                wedge,
                values: before,
            });
        }
        take_back_what_turns(mesh, &ways, moved);
    }
}

/// The wedge of a point that is on no line, a face that it draws, and where its texture coordinates stand; `None` for other
/// points, and without a texture.
fn inside_a_chart(mesh: &WedgeMesh, point: u32) -> Option<(u32, u32, Range<usize>)> {
    if mesh.kinds[point as usize] != PointKind::Free {
        return None;
    }
    let &face = mesh.faces_of_point[point as usize].first()?;
    let wedge = mesh.wedge_at(face, point);
    let part = mesh.part_of_wedge[wedge as usize];
    Some((wedge, face, mesh.layouts[part as usize].uvs()?))
}

/// Restores the coordinates of faces that would show their texture the other way round, until there is none: each time there
/// are fewer that could be restored.
fn take_back_what_turns(mesh: &mut WedgeMesh, ways: &[(usize, f64)], mut moved: Vec<Before>) {
    loop {
        let mut is_turned = vec![false; mesh.point_of_wedge.len()];
        let mut is_sound = true;
        for &(face, before) in ways {
            let corners = mesh.faces[face];
            let now = mesh.texture_area(corners).unwrap_or(before);
            if before != 0.0 && before * now <= 0.0 {
                is_sound = false;
                corners.iter().for_each(|&w| is_turned[w as usize] = true);
            }
        }
        let count = moved.len();
        moved.retain(|old| {
            let is_turned = is_turned[old.wedge as usize];
            if is_turned {
                let part = mesh.part_of_wedge[old.wedge as usize];
                if let Some(uvs) = mesh.layouts[part as usize].uvs() {
                    mesh.values_mut(old.wedge)[uvs].copy_from_slice(&old.values);
                }
            }
            !is_turned
        });
        if is_sound || moved.len() == count {
            return;
        }
    }
}

impl GivenTexture {
    /// Writes the texture coordinates of a place of the given surface.
    fn at(&self, face: u32, weights: [f64; 3], uvs: Range<usize>, values: &mut [f64]) {
        for n in uvs {
            let of_corner = |k: usize| {
                let wedge = self.wedges[face as usize][k] as usize;
                weights[k] * self.attributes[wedge * self.width + n]
            };
            values[n] = of_corner(0) + of_corner(1) + of_corner(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lod::testing::{poses_of, simplifier_of, textured_tube};
    use crate::lod::{LevelTarget, LodOptions};
    use crate::progress::Silent;

    #[test]
    fn textures_of_a_level_slide_less_when_its_points_are_anchored() {
        let (made, draw) = textured_tube();
        let count = made.examples.rest().triangles().len();
        let options = LodOptions::default();
        let mut simplifier = simplifier_of(&made, &draw, &poses_of(&made), &options);
        let target = LevelTarget::Triangles(count / 4);
        assert!(simplifier.run(target, &Silent), "nobody stopped it");
        let (given, samples) = (&simplifier.given, &simplifier.samples);
        let mut level = Snapshot::after(&simplifier, simplifier.operations.len());
        level.polish(given, samples, &simplifier.blending);
        let ways = |level: &Snapshot| -> Vec<f64> {
            let mesh = &level.model.mesh;
            let alive = (0..mesh.faces.len()).filter(|&face| mesh.is_alive[face]);
            alive
                .map(|face| mesh.texture_area(mesh.faces[face]).expect("a texture"))
                .collect()
        };
        let slide = |level: &Snapshot| {
            let told = level.texture_deviation(given, &samples.weights);
            told.expect("it has a texture").rms
        };
        let (before, ways_before) = (slide(&level), ways(&level));
        level.anchor_textures(given, &samples.weights);
        let (after, ways_after) = (slide(&level), ways(&level));
        assert!(after < 0.8 * before, "{after} after, {before} before");
        let same_way = ways_before.iter().zip(&ways_after);
        assert!(
            same_way.into_iter().all(|(a, b)| a * b > 0.0 || *a == 0.0),
            "no face shows its texture the other way round"
        );
    }
}
