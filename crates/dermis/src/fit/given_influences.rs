//! Influence sets that somebody chose: those of a skin, lists of vertices, or painted colours.

use super::{FitError, InfluenceSets};
use crate::mesh::DrawMesh;
use crate::rig::{BoneId, Skeleton};
use crate::skin::{DualQuaternionProgram, Influence, MultiWeight, Skin, VertexProgram, Weight};

/// Steps of 255 by which a painted colour may differ from a bone's: what files round away.
const NEAR: u8 = 2;
/// Most names in one sentence.
const MOST_NAMES: usize = 8;

/// Why chosen influences are no influence sets of a mesh.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InfluenceError {
    /// There is no bone of that name.
    #[error("there is no bone '{name}'; there are {}", listed(known))]
    UnknownBone {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A list has a vertex that the mesh lacks.
    #[error("bone '{bone}' lists vertex {vertex}, but they are numbered 0 to {}", vertex_count.saturating_sub(1))]
    UnknownVertex {
        /// Whose list it is.
        bone: String,
        /// The vertex.
        vertex: usize,
        /// How many vertices there are.
        vertex_count: usize,
    },
    /// A vertex has a colour that belongs to no bone.
    #[error("vertex {vertex} has the colour {}, which no bone has", hexadecimal(*color))]
    UnknownColor {
        /// The vertex.
        vertex: u32,
        /// Its colour.
        color: [u8; 3],
    },
    /// The mesh is not painted.
    #[error("there are no vertex colours (COLOR_0) for the bones' colours")]
    NoColors,
    /// A vertex has no bone, or one that does not exist.
    #[error(transparent)]
    Sets(#[from] FitError),
}

impl InfluenceSets {
    /// The bones that move each vertex of a skin.
    ///
    /// # Errors
    /// [`InfluenceError::Sets`] for a vertex that nothing moves.
    pub fn of_skin(skin: &Skin) -> Result<Self, InfluenceError> {
        let rows: Vec<Vec<BoneId>> = match &skin.program {
            VertexProgram::Ssd(ssd)
            | VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd }) => {
                // Files fill up to four or eight with weights of zero, which move nothing.
                let used = |w: &&Weight| w.weight != 0.0;
                let bones = |row: &[Weight]| row.iter().filter(used).map(|w| w.bone).collect();
                ssd.weights.iter().map(bones).collect()
            }
            VertexProgram::Linear(linear) => {
                let bones = |row: &[Influence]| row.iter().map(|i| i.bone).collect();
                linear.influences.iter().map(bones).collect()
            }
            VertexProgram::MultiWeight(multi) => {
                let bones = |row: &[MultiWeight]| row.iter().map(|i| i.bone).collect();
                multi.influences.iter().map(bones).collect()
            }
        };
        Ok(Self::new(rows, skin.skeleton.bone_count())?)
    }

    /// From the vertices that each bone may move, by its name.
    ///
    /// # Errors
    /// [`InfluenceError::UnknownBone`], [`InfluenceError::UnknownVertex`] and [`InfluenceError::Sets`].
    pub fn from_lists<'a>(
        lists: impl IntoIterator<Item = (&'a str, &'a [usize])>,
        skeleton: &Skeleton,
        vertex_count: usize,
    ) -> Result<Self, InfluenceError> {
        let mut rows = vec![Vec::new(); vertex_count];
        for (name, vertices) in lists {
            let bone = find(skeleton, name)?;
            for &vertex in vertices {
                let row = rows.get_mut(vertex).ok_or(InfluenceError::UnknownVertex {
                    bone: name.to_owned(),
                    vertex,
                    vertex_count,
                })?;
                row.push(bone);
            }
        }
        Ok(Self::new(rows, skeleton.bone_count())?)
    }

    /// From painted vertices, and the colours of bones by name, as the bytes that a painter shows (sRGB).
    ///
    /// A vertex of a colour that several bones have may use all of them, and a point that is drawn several times
    /// those of all its colours.
    ///
    /// # Errors
    /// [`InfluenceError::UnknownBone`], [`InfluenceError::UnknownColor`], [`InfluenceError::NoColors`] and
    /// [`InfluenceError::Sets`].
    pub fn from_colors<'a>(
        colors: impl IntoIterator<Item = (&'a str, [u8; 3])>,
        skeleton: &Skeleton,
        draw: &DrawMesh,
        vertex_count: usize,
    ) -> Result<Self, InfluenceError> {
        let palette = colors
            .into_iter()
            .map(|(name, color)| Ok((color, find(skeleton, name)?)))
            .collect::<Result<Vec<([u8; 3], BoneId)>, InfluenceError>>()?;
        let mut rows = vec![Vec::new(); vertex_count];
        let mut any = false;
        for part in &draw.parts {
            let Some(colors) = part.colors.first() else {
                continue;
            };
            for (&vertex, color) in part.points.iter().zip(colors) {
                any = true;
                let color = srgb_bytes(*color);
                let same = |(other, _): &&([u8; 3], BoneId)| is_near(*other, color);
                let mut bones = palette
                    .iter()
                    .filter(same)
                    .map(|&(_, bone)| bone)
                    .peekable();
                if bones.peek().is_none() {
                    return Err(InfluenceError::UnknownColor { vertex, color });
                }
                if let Some(row) = rows.get_mut(vertex as usize) {
                    row.extend(bones);
                }
            }
        }
        match any {
            true => Ok(Self::new(rows, skeleton.bone_count())?),
            false => Err(InfluenceError::NoColors),
        }
    }
}

fn find(skeleton: &Skeleton, name: &str) -> Result<BoneId, InfluenceError> {
    skeleton.find(name).ok_or_else(|| {
        let bones = skeleton.bones().iter();
        InfluenceError::UnknownBone {
            name: name.to_owned(),
            known: bones.map(|bone| bone.name.clone()).collect(),
        }
    })
}

fn listed(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}

fn hexadecimal([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn is_near(a: [u8; 3], b: [u8; 3]) -> bool {
    a.into_iter().zip(b).all(|(a, b)| a.abs_diff(b) <= NEAR)
}

/// A colour in linear light as the bytes that a painter shows.
fn srgb_bytes([r, g, b, _]: [f32; 4]) -> [u8; 3] {
    [r, g, b].map(|c| {
        let encoded = match c <= 0.003_130_8 {
            true => 12.92 * c,
            false => 1.055 * c.powf(1.0 / 2.4) - 0.055,
        };
        (255.0 * encoded.clamp(0.0, 1.0)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::DrawPart;
    use crate::synth::{TubeOptions, tube};

    fn tube_skin() -> Skin {
        let options = TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 3,
            example_count: 1,
        };
        tube(&options).truth
    }

    fn rows(sets: &InfluenceSets) -> Vec<Vec<usize>> {
        let indices = |i: usize| sets.bones(i).iter().map(|bone| bone.index()).collect();
        (0..sets.vertex_count()).map(indices).collect()
    }

    /// Four points in three colours: red, yellow, green, and a seam between red and green.
    fn painted() -> DrawMesh {
        let [red, yellow, green] = [[1., 0., 0., 1.], [1., 1., 0., 1.], [0., 1., 0., 1.]];
        DrawMesh {
            parts: vec![DrawPart {
                points: vec![0, 1, 2, 3, 3],
                colors: vec![vec![red, yellow, green, red, green]],
                ..DrawPart::default()
            }],
        }
    }

    #[test]
    fn lists_give_each_vertex_its_bones() {
        let skeleton = tube_skin().skeleton;
        let lists = [("bone_0", &[0, 1][..]), ("bone_1", &[1, 2, 3])];
        let found = InfluenceSets::from_lists(lists, &skeleton, 4).expect("good lists");
        assert_eq!(
            rows(&found),
            [vec![0], vec![0, 1], vec![1], vec![1]],
            "as listed"
        );
    }

    #[test]
    fn a_colour_that_two_bones_share_stands_for_both() {
        let skeleton = tube_skin().skeleton;
        let colors = [
            ("bone_0", [255, 0, 0]),
            ("bone_0", [255, 255, 0]),
            ("bone_1", [0, 255, 1]),
            ("bone_1", [254, 255, 0]),
        ];
        let found = InfluenceSets::from_colors(colors, &skeleton, &painted(), 4);
        assert_eq!(
            rows(&found.expect("a colour for each")),
            [vec![0], vec![0, 1], vec![1], vec![0, 1]],
            "as painted"
        );
    }

    #[test]
    fn a_skin_gives_the_bones_that_move_each_vertex() {
        let skin = tube_skin();
        let found = InfluenceSets::of_skin(&skin).expect("weights");
        let VertexProgram::Ssd(ssd) = &skin.program else {
            panic!("linear blend skinning");
        };
        for (row, weights) in rows(&found).iter().zip(ssd.weights.iter()) {
            let used = weights.iter().filter(|w| w.weight != 0.0);
            let mut used: Vec<usize> = used.map(|w| w.bone.index()).collect();
            used.sort_unstable();
            assert_eq!(row, &used, "without weights of zero");
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let skeleton = tube_skin().skeleton;
        let lists = |name, vertex| {
            let error = InfluenceSets::from_lists([(name, &[vertex][..])], &skeleton, 4);
            error.expect_err("wrong").to_string()
        };
        assert_eq!(
            lists("bone_9", 0),
            "there is no bone 'bone_9'; there are bone_0, bone_1, bone_2",
            "a bone"
        );
        assert_eq!(
            lists("bone_0", 4),
            "bone 'bone_0' lists vertex 4, but they are numbered 0 to 3",
            "a vertex"
        );
        assert!(
            lists("bone_0", 1).contains("vertex 0 has no bone that it may use"),
            "one left out"
        );
        let red = [("bone_0", [255, 0, 0])];
        let error = InfluenceSets::from_colors(red, &skeleton, &painted(), 4);
        assert_eq!(
            error.expect_err("yellow").to_string(),
            "vertex 1 has the colour #ffff00, which no bone has",
            "a colour"
        );
        let error = InfluenceSets::from_colors(red, &skeleton, &DrawMesh::default(), 4);
        assert_eq!(error, Err(InfluenceError::NoColors), "no colours");
    }
}
