//! Meshes against meshes, however they were made: the numbers of a method that dermis does not know.

use glam::{DVec2, DVec3};
use serde::Serialize;

use super::{
    ExampleMeasures, Measured, Measures, SurfaceMeasures, measure_predictions, measure_surface,
    texture_stretch,
};
use crate::example::ExampleSet;
use crate::mesh::DrawMesh;
use crate::par;
use crate::skin::SkinError;

/// What is measured beside distances and normals.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeshOptions<'a> {
    /// Distances to the surfaces of the examples too, as comparisons of scans measure them. Default: no, because it
    /// takes longer than all the rest.
    pub surface: bool,
    /// The mesh as it is drawn, whose first UV set says how a texture is stretched. Default: none, and without UVs nothing
    /// is said about it.
    pub draw: Option<&'a DrawMesh>,
}

/// How far meshes are from examples: as a whole, example by example and vertex by vertex.
///
/// Distances are shares of the size of the model ([`ExampleSet::size`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MeshMeasures {
    /// Over all examples.
    pub total: Measures,
    /// Where the largest distance is; `None` without vertices.
    pub worst: Option<WorstPlace>,
    /// How unevenly a texture covers the meshes, the mean over all examples; `None` without UVs.
    pub texture_stretch: Option<TextureStretch>,
    /// Distances to the examples' surfaces; `None` unless asked for.
    pub surface: Option<SurfaceMeasures>,
    /// One by one.
    pub examples: Vec<ExampleDistances>,
    /// Vertex by vertex, over all examples.
    pub vertices: Vec<VertexDistances>,
}

/// A vertex in an example.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorstPlace {
    /// Number of the example.
    pub example: usize,
    /// Its name.
    pub name: String,
    /// Number of the vertex.
    pub vertex: usize,
    /// How far it is from where it should be.
    pub distance: f64,
}

/// How unevenly a texture covers a mesh ([`texture_stretch`]): 1 is best.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextureStretch {
    /// In the example.
    pub truth: f64,
    /// In the mesh that is measured.
    pub found: f64,
}

/// How far a mesh is from one example.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExampleDistances {
    /// What is measured of every fit.
    #[serde(flatten)]
    pub measures: ExampleMeasures,
    /// The vertex that is farthest from where it should be; `None` without vertices.
    pub worst_vertex: Option<usize>,
    /// How unevenly a texture covers both; `None` without UVs.
    pub texture_stretch: Option<TextureStretch>,
}

/// How far a vertex is from where the examples have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VertexDistances {
    /// Number of the vertex.
    pub vertex: usize,
    /// As [`Measures::e_rms`], of this vertex alone.
    pub e_rms: f64,
    /// Mean over the examples.
    pub mean_distance: f64,
    /// Largest over the examples.
    pub max_distance: f64,
    /// Number of the example where that is.
    pub worst_example: usize,
}

/// Measures meshes against examples, the first against the first.
///
/// The enveloping error needs bones: a set whose skeleton has none gives none.
///
/// ```
/// use dermis::measure::{MeshOptions, measure_meshes};
///
/// let tube = dermis::synth::tube(&Default::default()).examples;
/// let mut mine: Vec<_> = tube.examples().iter().map(|e| e.positions.clone()).collect();
/// mine[2][5].x += 0.01 * tube.size();
/// let found = measure_meshes(&tube, &mine, &MeshOptions::default())?;
/// let worst = found.worst.expect("there are vertices");
/// assert_eq!((worst.example, worst.vertex), (2, 5));
/// assert!((worst.distance - 0.01).abs() < 1e-12);
/// # Ok::<(), dermis::skin::SkinError>(())
/// ```
///
/// # Errors
/// [`SkinError::CountMismatch`] for another number of meshes or of vertices.
pub fn measure_meshes(
    truth: &ExampleSet,
    meshes: &[Vec<DVec3>],
    options: &MeshOptions<'_>,
) -> Result<MeshMeasures, SkinError> {
    let examples = truth.examples();
    if meshes.len() != examples.len() {
        return Err(SkinError::CountMismatch {
            what: "meshes to measure",
            expected: examples.len(),
            found: meshes.len(),
        });
    }
    let everything: Vec<usize> = (0..examples.len()).collect();
    let mesh = |k: usize| Ok(meshes[k].clone());
    let Measured {
        total,
        examples: measured,
        ..
    } = measure_predictions(truth, &everything, mesh)?;
    let distances: Vec<Vec<f64>> = par::map(meshes.len(), |k| distances(truth, k, &meshes[k]));
    let farthest = |k: &usize| farthest(&distances[*k]);
    let worst = (everything.iter())
        .filter_map(|k| Some((*k, farthest(k)?)))
        .fold(None, |worst: Option<(usize, usize)>, (k, i)| match worst {
            Some((a, b)) if distances[a][b] >= distances[k][i] => worst,
            _ => Some((k, i)),
        });
    let charts = options.draw.and_then(Charts::new);
    let stretches: Vec<Option<TextureStretch>> = par::map(meshes.len(), |k| {
        charts.as_ref().map(|charts| TextureStretch {
            truth: charts.stretch(&examples[k].positions),
            found: charts.stretch(&meshes[k]),
        })
    });
    let count = meshes.len().max(1) as f64;
    let mean =
        |of: fn(&TextureStretch) -> f64| stretches.iter().flatten().map(of).sum::<f64>() / count;
    Ok(MeshMeasures {
        worst: worst.map(|(example, vertex)| WorstPlace {
            example,
            name: examples[example].name.clone(),
            vertex,
            distance: distances[example][vertex],
        }),
        texture_stretch: charts.as_ref().map(|_| TextureStretch {
            truth: mean(|stretch| stretch.truth),
            found: mean(|stretch| stretch.found),
        }),
        surface: match options.surface {
            true => Some(measure_surface(truth, &everything, mesh)?),
            false => None,
        },
        examples: (measured.into_iter().zip(&everything).zip(&stretches))
            .map(|((measures, k), stretch)| ExampleDistances {
                measures,
                worst_vertex: farthest(k),
                texture_stretch: *stretch,
            })
            .collect(),
        vertices: vertices(truth, &distances),
        total,
    })
}

/// Distance of every vertex of a mesh from where an example has it, over the size.
fn distances(truth: &ExampleSet, k: usize, mesh: &[DVec3]) -> Vec<f64> {
    // At unit size, because the squares of lengths in another unit may be too large for a float.
    let factor = truth.unit_factor();
    let size = truth.size() * factor;
    let pairs = truth.examples()[k].positions.iter().zip(mesh);
    pairs
        .map(|(a, b)| (*a * factor).distance(*b * factor) / size)
        .collect()
}

/// Where the largest of some numbers is: the first of several.
fn farthest(distances: &[f64]) -> Option<usize> {
    (0..distances.len()).reduce(|best, i| match distances[i] > distances[best] {
        true => i,
        false => best,
    })
}

/// The distances of every vertex over all examples.
fn vertices(truth: &ExampleSet, distances: &[Vec<f64>]) -> Vec<VertexDistances> {
    let count = distances.len().max(1) as f64;
    let to_unit_ball = 1000.0 * truth.size() / truth.unit_ball_radius();
    par::map(truth.rest().vertex_count(), |i| {
        let all: Vec<f64> = distances.iter().map(|of_example| of_example[i]).collect();
        let mean_square = all.iter().map(|d| d * d).sum::<f64>() / count;
        let worst_example = farthest(&all).unwrap_or(0);
        VertexDistances {
            vertex: i,
            e_rms: to_unit_ball * (mean_square / 3.0).sqrt(),
            mean_distance: all.iter().sum::<f64>() / count,
            max_distance: all.get(worst_example).copied().unwrap_or(0.0),
            worst_example,
        }
    })
}

/// The parts of a drawn mesh that have UVs, as one.
struct Charts {
    points: Vec<u32>,
    uvs: Vec<DVec2>,
    triangles: Vec<[u32; 3]>,
}

impl Charts {
    /// `None` where no part has UVs.
    fn new(draw: &DrawMesh) -> Option<Self> {
        let mut charts = Self {
            points: Vec::new(),
            uvs: Vec::new(),
            triangles: Vec::new(),
        };
        for part in &draw.parts {
            let Some(uvs) = part.uvs.first() else {
                continue;
            };
            let first = charts.points.len() as u32;
            charts.points.extend(&part.points);
            charts
                .uvs
                .extend(uvs.iter().map(|uv| DVec2::from_array(uv.map(f64::from))));
            let triangles = part.triangles.iter();
            charts
                .triangles
                .extend(triangles.map(|triangle| triangle.map(|v| v + first)));
        }
        (!charts.triangles.is_empty()).then_some(charts)
    }

    fn stretch(&self, positions: &[DVec3]) -> f64 {
        let drawn: Vec<DVec3> = (self.points.iter())
            .map(|&point| positions[point as usize])
            .collect();
        texture_stretch(&drawn, &self.uvs, &self.triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use crate::measure::measure;
    use crate::mesh::DrawPart;
    use crate::rig::{Pose, Skeleton};
    use crate::synth::{TubeOptions, tube};

    fn tube_set() -> ExampleSet {
        let options = TubeOptions {
            ring_count: 8,
            segment_count: 6,
            bone_count: 3,
            example_count: 5,
        };
        tube(&options).examples
    }

    fn meshes(set: &ExampleSet) -> Vec<Vec<DVec3>> {
        set.examples().iter().map(|e| e.positions.clone()).collect()
    }

    fn found(set: &ExampleSet, meshes: &[Vec<DVec3>]) -> MeshMeasures {
        measure_meshes(set, meshes, &MeshOptions::default()).expect("as many of each")
    }

    #[test]
    fn the_meshes_of_a_skin_have_the_numbers_of_the_skin() {
        let set = tube_set();
        let mut skin = tube(&TubeOptions::default()).truth;
        skin = crate::fit::fit_ssd(
            &set,
            &[0],
            &crate::fit::SsdOptions::default(),
            &crate::progress::Silent,
        )
        .map_or(skin, |fitted| fitted.skin);
        let all = [0, 1, 2, 3, 4];
        let expected = measure(&skin, &set, &all).expect("its own poses");
        let shown = all.map(|k| skin.evaluate(&set.examples()[k].pose).expect("its pose"));
        let found = found(&set, &shown);
        assert_eq!(found.total, expected.total, "as a whole");
        let one_by_one: Vec<_> = found.examples.iter().map(|e| e.measures.clone()).collect();
        assert_eq!(one_by_one, expected.examples, "one by one");
        let mean_square = found
            .vertices
            .iter()
            .map(|v| v.e_rms * v.e_rms)
            .sum::<f64>();
        let e_rms = (mean_square / found.vertices.len() as f64).sqrt();
        assert!(
            (e_rms / found.total.e_rms - 1.0).abs() < 1e-12,
            "vertices make up the whole: {e_rms} and {}",
            found.total.e_rms
        );
    }

    #[test]
    fn the_worst_place_is_named_by_example_and_vertex() {
        let set = tube_set();
        let mut mine = meshes(&set);
        mine[1][7].y += 0.002 * set.size();
        mine[3][4].z -= 0.05 * set.size();
        let found = found(&set, &mine);
        let worst = found.worst.expect("there are vertices");
        assert_eq!((worst.example, worst.vertex), (3, 4), "the larger one");
        assert_eq!(worst.name, set.examples()[3].name, "by name");
        assert!((worst.distance - 0.05).abs() < 1e-9, "{worst:?}");
        assert_eq!(found.examples[1].worst_vertex, Some(7), "of an example");
        assert_eq!(found.vertices[7].worst_example, 1, "of a vertex");
        assert_eq!(found.vertices[0].max_distance, 0.0, "as it should be");
    }

    #[test]
    fn without_bones_there_is_no_enveloping_error() {
        let set = tube_set();
        let boneless = (set.examples().iter()).map(|example| Example {
            pose: Pose::default(),
            ..example.clone()
        });
        let no_bones = Skeleton::new(Vec::new()).expect("none is no mistake");
        let boneless = ExampleSet::new(set.rest().clone(), no_bones, boneless.collect());
        let boneless = boneless.expect("meshes alone");
        let mut mine = meshes(&set);
        mine[0][0].x += 0.01;
        let [with, without] = [&set, &boneless].map(|set| found(set, &mine).total);
        assert!(with.enveloping_error_percent.is_some(), "{with:?}");
        assert_eq!(without.enveloping_error_percent, None, "no bones");
        assert_eq!(without.e_rms, with.e_rms, "the rest is the same");
    }

    #[test]
    fn textures_stretch_with_the_mesh_and_without_uvs_nothing_is_said() {
        let set = tube_set();
        let uvs = (set.rest().positions().iter()).map(|p| [p.x as f32, p.y as f32]);
        let draw = DrawMesh {
            parts: vec![DrawPart {
                points: (0..set.rest().vertex_count() as u32).collect(),
                triangles: set.rest().triangles().to_vec(),
                uvs: vec![uvs.collect()],
                ..DrawPart::default()
            }],
        };
        let mut mine = meshes(&set);
        for at in &mut mine[0] {
            at.x *= 3.0;
        }
        let options = MeshOptions {
            draw: Some(&draw),
            surface: true,
        };
        let found = measure_meshes(&set, &mine, &options).expect("as many of each");
        let stretch = found.examples[1].texture_stretch.expect("UVs");
        assert_eq!(stretch.truth, stretch.found, "the same mesh");
        let stretch = found.examples[0].texture_stretch.expect("UVs");
        assert_ne!(stretch.truth, stretch.found, "three times as wide");
        let surface = found.surface.expect("asked for");
        assert!(
            surface.mean_distance <= found.total.mean_distance,
            "{surface:?}"
        );
        let plain = measure_meshes(&set, &mine, &MeshOptions::default());
        assert_eq!(plain.expect("as many").texture_stretch, None, "no UVs");
    }

    #[test]
    fn another_number_of_meshes_or_vertices_is_refused() {
        let set = tube_set();
        let mut mine = meshes(&set);
        mine[2].pop();
        let fails = |mine: &[Vec<DVec3>]| {
            let found = measure_meshes(&set, mine, &MeshOptions::default());
            found.expect_err("refused").to_string()
        };
        assert!(fails(&mine).contains("vertices"), "{}", fails(&mine));
        assert!(
            fails(&mine[..2]).contains("meshes"),
            "{}",
            fails(&mine[..2])
        );
    }
}
