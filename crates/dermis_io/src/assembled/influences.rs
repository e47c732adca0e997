//! Which bones each vertex may use, as JSON: lists of vertices, or the colours in which they are painted.

use std::collections::BTreeMap;
use std::path::Path;

use dermis::Skeleton;
use dermis::document::Document;
use dermis::fit::InfluenceSets;
use serde::Deserialize;

use crate::{Fault, IoError, read_file};

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

/// Reads influence sets for a mesh: `{"bone": [vertices, ...]}` with vertices by number from 0, or
/// `{"colors": {"bone": "#rrggbb"}}` with one colour or a list of them for each bone. Colours are those of `painted`.
///
/// # Errors
/// [`IoError::Read`], and [`IoError::Content`] for a file that is neither or does not fit the bones and the mesh.
pub fn read_influences(
    path: &Path,
    skeleton: &Skeleton,
    painted: &Document,
) -> Result<InfluenceSets, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(&bytes, skeleton, painted).map_err(|fault| fault.in_file(path))
}

fn parse(bytes: &[u8], skeleton: &Skeleton, painted: &Document) -> Result<InfluenceSets, Fault> {
    let file: InfluenceFile = serde_json::from_slice(bytes).map_err(|error| {
        // Which of the two forms was meant nobody knows, so the parser's words would mislead.
        let found = match error.is_data() {
            true => "something else".to_owned(),
            false => error.to_string(),
        };
        let expected =
            "{\"bone\": [vertices, ...]} or {\"colors\": {\"bone\": \"#rrggbb\"}}".to_owned();
        Fault::malformed("influences", expected, found)
    })?;
    let vertex_count = painted.mesh.vertex_count();
    let sets = match &file {
        InfluenceFile::Vertices(lists) => {
            let lists = lists.iter().map(|(name, list)| (&name[..], &list[..]));
            InfluenceSets::from_lists(lists, skeleton, vertex_count)
        }
        InfluenceFile::Colors { colors } => {
            let mut all = Vec::new();
            for (name, list) in colors {
                let list = match list {
                    OneOrMany::One(color) => std::slice::from_ref(color),
                    OneOrMany::Many(colors) => colors,
                };
                for color in list {
                    all.push((name.as_str(), parse_color(name, color)?));
                }
            }
            InfluenceSets::from_colors(all, skeleton, &painted.draw, vertex_count)
        }
    };
    sets.map_err(|source| Fault::Influences {
        mesh: painted.path.clone(),
        source: Box::new(source),
    })
}

fn parse_color(bone: &str, text: &str) -> Result<[u8; 3], Fault> {
    let digits = text
        .strip_prefix('#')
        .filter(|d| d.len() == 6 && d.is_ascii());
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match number.map(u32::to_be_bytes) {
        Some([_, r, g, b]) => Ok([r, g, b]),
        None => Err(Fault::malformed(
            format!("bone '{bone}'"),
            "a colour such as #ff8000",
            format!("'{text}'"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis::TriMesh;
    use dermis::mesh::{DrawMesh, DrawPart};
    use dermis::synth::{TubeOptions, tube};
    use glam::DVec3;

    fn skeleton() -> Skeleton {
        let options = TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 3,
            example_count: 1,
        };
        tube(&options).truth.skeleton
    }

    /// Two points: red and yellow.
    fn painted() -> Document {
        let colors = vec![[1., 0., 0., 1.], [1., 1., 0., 1.]];
        let points = TriMesh::new(vec![DVec3::ZERO, DVec3::X], Vec::new());
        Document {
            path: "painted.glb".into(),
            mesh: points.expect("two points"),
            draw: DrawMesh {
                parts: vec![DrawPart {
                    points: vec![0, 1],
                    colors: vec![colors],
                    ..DrawPart::default()
                }],
            },
            ..Document::default()
        }
    }

    fn bones(text: &str) -> Result<[Vec<usize>; 2], Fault> {
        let sets = parse(text.as_bytes(), &skeleton(), &painted())?;
        Ok([0, 1].map(|i| sets.bones(i).iter().map(|bone| bone.index()).collect()))
    }

    #[test]
    fn vertices_are_listed_or_painted() {
        let listed = bones(r#"{"bone_0": [0, 1], "bone_1": [1]}"#);
        assert_eq!(listed, Ok([vec![0], vec![0, 1]]), "as listed");
        let painted =
            bones(r##"{"colors": {"bone_0": ["#ff0000", "#FFFF00"], "bone_2": "#feff00"}}"##);
        assert_eq!(painted, Ok([vec![0], vec![0, 2]]), "as painted");
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (text, parts) in [
            (
                r#"{"bone_9": [0]}"#,
                &["no bone 'bone_9'", "bone_0, bone_1"][..],
            ),
            (r#"{"bone_0": [2]}"#, &["vertex 2", "0 to 1"]),
            (
                r##"{"colors": {"bone_0": "#ff0000"}}"##,
                &["vertex 1", "painted.glb", "#ffff00"],
            ),
            (r#"{"colors": {"bone_0": "red"}}"#, &["'red'", "#ff8000"]),
            (r#"{"bone_0": "all"}"#, &["expected {\"bone\""]),
            ("{", &["expected", "line 1"]),
        ] {
            let message = bones(text).expect_err(text).to_string();
            for part in parts {
                assert!(message.contains(part), "{part} in {message}");
            }
        }
    }
}
