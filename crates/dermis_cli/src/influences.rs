//! `--influences`: which bones each vertex may use, as painted or listed by somebody.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use dermis::fit::InfluenceSets;
use dermis::skin::{DualQuaternionProgram, Influence, MultiWeight, Weight};
use dermis::{BoneId, Skeleton, VertexProgram};
use dermis_io::Document;
use serde::Deserialize;

use crate::examples::Prepared;

/// Bytes by which a painted colour may differ from a bone's: what files round away.
const NEAR: i32 = 2;

/// Where influence sets come from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InfluenceSource {
    Automatic,
    Skin,
    File(PathBuf),
}

/// The two kinds of file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum InfluenceFile {
    /// Colours of bones; where several share one, a vertex of that colour may use all of them.
    Colors { colors: BTreeMap<String, OneOrMany> },
    /// Vertices of bones.
    Vertices(BTreeMap<String, Vec<usize>>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl InfluenceSource {
    /// Reads `--influences`.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        match text {
            "auto" => Ok(Self::Automatic),
            "skin" => Ok(Self::Skin),
            path if path.ends_with(".json") => Ok(Self::File(path.into())),
            _ => bail!("--influences {text}: expected auto, skin or the name of a .json file"),
        }
    }

    /// The sets for these examples; `None` leaves the choice to the fit.
    pub(crate) fn sets(&self, prepared: &Prepared) -> anyhow::Result<Option<InfluenceSets>> {
        let skeleton = prepared.set.skeleton();
        let vertex_count = prepared.set.rest().vertex_count();
        let rows = match self {
            Self::Automatic => return Ok(None),
            Self::Skin => rows_of_skin(prepared)?,
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("{}: cannot be read", path.display()))?;
                rows_of_file(&text, skeleton, vertex_count, &prepared.look)
                    .with_context(|| path.display().to_string())?
            }
        };
        let sets = InfluenceSets::new(rows, skeleton.bone_count());
        Ok(Some(sets.with_context(|| match self {
            Self::File(path) => path.display().to_string(),
            _ => "--influences skin".to_owned(),
        })?))
    }
}

fn rows_of_skin(prepared: &Prepared) -> anyhow::Result<Vec<Vec<BoneId>>> {
    let Some(skin) = &prepared.rig_skin else {
        bail!(
            "--influences skin: neither {} nor the file of --skeleton has weights for its vertices",
            prepared.look.path.display()
        );
    };
    let rows = match &skin.program {
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
        other => bail!(
            "--influences skin: the weights in {} do not say which bones move each vertex",
            other.name()
        ),
    };
    Ok(rows)
}

fn rows_of_file(
    text: &str,
    skeleton: &Skeleton,
    vertex_count: usize,
    look: &Document,
) -> anyhow::Result<Vec<Vec<BoneId>>> {
    let file: InfluenceFile = serde_json::from_str(text).map_err(|error| {
        // Which of the two forms was meant nobody knows, so the parser's words would mislead.
        let reason = match error.is_data() {
            true => String::new(),
            false => format!(" ({error})"),
        };
        anyhow::anyhow!(
            "expected {{\"bone\": [vertices, ...]}} or {{\"colors\": {{\"bone\": \"#rrggbb\"}}}}{reason}"
        )
    })?;
    let bone = |name: &str| {
        let known = || {
            let names: Vec<&str> = skeleton.bones().iter().map(|b| b.name.as_str()).collect();
            match names.len() {
                0..=8 => names.join(", "),
                more => format!("{} and {} more", names[..8].join(", "), more - 8),
            }
        };
        let found = skeleton.find(name);
        found.with_context(|| format!("there is no bone '{name}'; there are {}", known()))
    };
    let mut rows = vec![Vec::new(); vertex_count];
    match file {
        InfluenceFile::Vertices(lists) => {
            for (name, vertices) in lists {
                let bone = bone(&name)?;
                for i in vertices {
                    let row = rows.get_mut(i).with_context(|| {
                        format!(
                            "bone '{name}' lists vertex {i}, but they are numbered 0 to {}",
                            vertex_count.saturating_sub(1)
                        )
                    })?;
                    row.push(bone);
                }
            }
        }
        InfluenceFile::Colors { colors } => {
            let mut palette = Vec::new();
            for (name, list) in colors {
                let bone = bone(&name)?;
                let list = match list {
                    OneOrMany::One(color) => vec![color],
                    OneOrMany::Many(colors) => colors,
                };
                for color in list {
                    palette.push((parse_color(&color)?, bone));
                }
            }
            paint(&mut rows, &palette, look)?;
        }
    }
    Ok(rows)
}

/// Gives every point the bones of the colours that its drawn vertices have.
fn paint(
    rows: &mut [Vec<BoneId>],
    palette: &[([u8; 3], BoneId)],
    look: &Document,
) -> anyhow::Result<()> {
    let mut any = false;
    for part in &look.draw.parts {
        let Some(colors) = part.colors.first() else {
            continue;
        };
        for (&point, color) in part.points.iter().zip(colors) {
            any = true;
            let found = srgb_bytes(*color);
            let mut bones = palette
                .iter()
                .filter(|(color, _)| is_near(*color, found))
                .map(|&(_, bone)| bone)
                .peekable();
            if bones.peek().is_none() {
                let [r, g, b] = found;
                bail!(
                    "vertex {point} of {} has the colour #{r:02x}{g:02x}{b:02x}, which no bone has",
                    look.path.display()
                );
            }
            if let Some(row) = rows.get_mut(point as usize) {
                row.extend(bones);
            }
        }
    }
    if !any {
        bail!(
            "{} has no vertex colours (COLOR_0) for the bones' colours",
            look.path.display()
        );
    }
    Ok(())
}

fn is_near(a: [u8; 3], b: [u8; 3]) -> bool {
    let apart = |(a, b): (u8, u8)| (i32::from(a) - i32::from(b)).abs();
    a.into_iter().zip(b).map(apart).all(|d| d <= NEAR)
}

fn parse_color(text: &str) -> anyhow::Result<[u8; 3]> {
    let digits = text
        .strip_prefix('#')
        .filter(|d| d.len() == 6 && d.is_ascii());
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match number.map(u32::to_be_bytes) {
        Some([_, r, g, b]) => Ok([r, g, b]),
        None => bail!("'{text}': expected a colour such as #ff8000"),
    }
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
    use dermis::TriMesh;
    use dermis::mesh::{DrawMesh, DrawPart};
    use dermis::synth::{TubeOptions, tube};

    fn skeleton() -> Skeleton {
        let options = TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 3,
            example_count: 1,
        };
        tube(&options).truth.skeleton
    }

    /// Four points in three colours: red, yellow, green, and a seam between red and green.
    fn painted() -> Document {
        let [red, yellow, green] = [[1., 0., 0., 1.], [1., 1., 0., 1.], [0., 1., 0., 1.]];
        Document {
            path: "painted.glb".into(),
            mesh: TriMesh::default(),
            draw: DrawMesh {
                parts: vec![DrawPart {
                    points: vec![0, 1, 2, 3, 3],
                    colors: vec![vec![red, yellow, green, red, green]],
                    ..DrawPart::default()
                }],
            },
            ..Document::default()
        }
    }

    fn rows(text: &str) -> anyhow::Result<Vec<Vec<usize>>> {
        let rows = rows_of_file(text, &skeleton(), 4, &painted())?;
        let indices = |row: &Vec<BoneId>| row.iter().map(|bone| bone.index()).collect();
        Ok(rows.iter().map(indices).collect())
    }

    #[test]
    fn lists_give_each_vertex_its_bones() {
        let found = rows(r#"{"bone_0": [0, 1], "bone_1": [1, 2, 3]}"#).expect("a good file");
        assert_eq!(found, [vec![0], vec![0, 1], vec![1], vec![1]], "as listed");
    }

    #[test]
    fn a_colour_that_two_bones_share_stands_for_both() {
        let text =
            r##"{"colors": {"bone_0": ["#ff0000", "#ffff00"], "bone_1": ["#00FF01", "#feff00"]}}"##;
        let found = rows(text).expect("a good file");
        assert_eq!(
            found,
            [vec![0], vec![0, 1], vec![1], vec![0, 1]],
            "as painted"
        );
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (text, parts) in [
            (
                r#"{"bone_9": [0]}"#,
                &["no bone 'bone_9'", "bone_0, bone_1"][..],
            ),
            (r#"{"bone_0": [4]}"#, &["vertex 4", "0 to 3"]),
            (
                r##"{"colors": {"bone_0": "#ff0000"}}"##,
                &["vertex 1", "painted.glb", "#ffff00"],
            ),
            (r#"{"colors": {"bone_0": "red"}}"#, &["'red'", "#ff8000"]),
            (r#"{"bone_0": "all"}"#, &["expected {\"bone\""]),
            ("{", &["expected", "line 1"]),
        ] {
            let message = format!("{:#}", rows(text).expect_err(text));
            for part in parts {
                assert!(message.contains(part), "{part} in {message}");
            }
        }
    }
}
