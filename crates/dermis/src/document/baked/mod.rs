//! The detail of a character on a coarser form of it: normal maps and textures in the coarse form's own UVs.

mod looks;
mod materials;
mod pair;
mod surfaces;
mod tangents;
mod tests;

use glam::DVec2;
use serde_json::Value;

use super::{Document, EditError};
use crate::bake::{
    AtlasOptions, BakeError, ColorBake, DetailNormals, FrameRule, Frames, MatchOptions,
    NormalAngles, NormalBake, Picture, SurfaceMap, Texture, match_surfaces,
};
use crate::mesh::{DrawMesh, DrawPart};
use crate::progress::Progress;

pub use looks::MapKind;

use looks::{Slot, no_uvs};
use materials::Template;
use pair::{check_pair, number_as, poses_of, uv_set_of};
use surfaces::Drawn;
use tangents::with_tangents;

/// UVs that lie over each other beyond this share of the covered texels are told of.
const NOTED_OVERLAP: f64 = 0.05;

/// Samples without a partner beyond this share are told of.
const NOTED_FALLBACK: f64 = 0.1;

/// What to bake, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct BakeOptions {
    /// Size of the pictures and samples per texel.
    pub atlas: AtlasOptions,
    /// How points of the full surface are found.
    pub matching: MatchOptions,
    /// How many texels pictures go on beyond the charts, so that filtering and smaller copies of them stay clean.
    /// Default 8.
    pub gutter: usize,
    /// Whether to bake a normal map. Default true.
    pub normal_map: bool,
    /// Whether to bake the textures that the full character has. Default true.
    pub textures: bool,
    /// Whether to make the normal map for the rest pose alone, instead of that which is best over all poses shown. It is
    /// measured over all of them either way. Default false.
    pub rest_only: bool,
    /// How the shader that will draw the normal map makes its frames.
    pub frames: FrameRule,
    /// The set of UVs (`TEXCOORD_n`) of the coarse form to bake to. By default the last that all its parts have, which is
    /// where an atlas for textures and maps goes.
    pub uv_set: Option<usize>,
    /// Whether to match the centre of every texel, too, for run-times that pose the full surface's normals. Default false.
    pub tangent_map: bool,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            atlas: AtlasOptions::default(),
            matching: MatchOptions::default(),
            gutter: 8,
            normal_map: true,
            textures: true,
            rest_only: false,
            frames: FrameRule::default(),
            uv_set: None,
            tangent_map: false,
        }
    }
}

/// What was baked for a coarse form. [`Document::wear`] puts it on.
#[derive(Debug, Clone)]
pub struct Baked {
    /// The pictures.
    pub maps: Vec<(MapKind, Picture)>,
    /// How far the shading is from that of the full character over all poses, with the normal map and without.
    pub angles: Option<NormalAngles>,
    /// Poses that this is measured in, the rest pose included.
    pub pose_count: usize,
    /// Texels that show the surface.
    pub covered_texels: usize,
    /// Samples of all texels.
    pub sample_count: usize,
    /// Samples that had no partner within the cage and took the nearest point.
    pub fallback_count: usize,
    /// The set of UVs that the pictures are for.
    pub uv_set: usize,
    /// For the centre of every texel, the point of the full surface that it shows.
    pub tangent_map: Option<SurfaceMap>,
    /// What users should know, one sentence each.
    pub notes: Vec<String>,
    /// The drawn mesh, with tangents for the normal map, and with its old materials.
    draw: DrawMesh,
    template: Template,
}

impl Document {
    /// Bakes the detail of this document's full character for a coarser form of it, which has UVs and the same bones.
    ///
    /// `pictures` are the decoded images of [`Document::materials`], those of [`Document::images_to_bake`] at least; what
    /// is not there is left out.
    ///
    /// Normal maps are for frames as MikkTSpace makes them, turned by the bones as engines do it, and the best in the mean
    /// square over the rest pose and the poses that the clips show.
    ///
    /// # Errors
    /// [`EditError::NoUvsToBake`], [`EditError::NothingToBake`], [`EditError::OtherBones`], [`EditError::OtherPlace`],
    /// [`EditError::Bake`].
    pub fn baked(
        &self,
        target: &Self,
        options: &BakeOptions,
        pictures: &[Option<Picture>],
        progress: &dyn Progress,
    ) -> Result<Baked, EditError> {
        check_pair(self, target)?;
        let uv_set = uv_set_of(target, options.uv_set)?;
        let mut notes = Vec::new();
        let poses = poses_of(self, target, options, &mut notes)?;
        let step = |done: usize| match progress.report("baking", done, 5) {
            true => Ok(()),
            false => Err(BakeError::Stopped),
        };
        step(0)?;
        let source = Drawn::of_source(self, &poses)?;
        let mut coarse = Drawn::of_target(target, &poses)?;
        number_as(&mut coarse, target, self);
        let uvs: Vec<[f32; 2]> = (target.draw.parts.iter())
            .flat_map(|part| {
                part.uvs
                    .get(uv_set)
                    .cloned()
                    .unwrap_or_else(|| no_uvs(part))
            })
            .collect();
        let surface = coarse.surface(&uvs);
        step(1)?;
        let map = match_surfaces(
            &surface,
            &source.surface(&[]),
            options.atlas,
            &options.matching,
        )?;
        step(2)?;
        notes.extend(notes_of_cover(&map, &coarse, &uvs));
        let mut baked = Baked {
            maps: Vec::new(),
            angles: None,
            pose_count: 1 + poses.len(),
            covered_texels: covered_texels(&map),
            sample_count: map.sample_count(),
            fallback_count: map.fallback_count(),
            uv_set,
            tangent_map: None,
            notes,
            draw: target.draw.clone(),
            template: Template::default(),
        };
        let matched = Matched {
            document: self,
            source: &source,
            coarse: &coarse,
            uvs: &uvs,
            map: &map,
            pictures,
        };
        if options.normal_map {
            baked.bake_normals(&matched, options)?;
        }
        step(3)?;
        if options.textures {
            baked.bake_textures(&matched, options.gutter)?;
        }
        step(4)?;
        if options.tangent_map {
            let centres = AtlasOptions {
                samples: 1,
                ..options.atlas
            };
            let detailed = source.surface(&[]);
            let map = match_surfaces(&surface, &detailed, centres, &options.matching)?;
            baked.tangent_map = Some(map);
        }
        step(5)?;
        Ok(baked)
    }

    /// The images that a bake of these options reads.
    pub fn images_to_bake(&self, options: &BakeOptions) -> Vec<usize> {
        let normal = options.normal_map.then_some(MapKind::Normal);
        let textures = options.textures.then_some(MapKind::TEXTURES);
        let kinds = normal.into_iter().chain(textures.into_iter().flatten());
        let mut images: Vec<usize> = kinds
            .flat_map(|kind| slots(self, kind))
            .filter_map(|slot| slot?.image(&self.materials))
            .filter(|&image| image < self.materials.images.len())
            .collect();
        images.sort_unstable();
        images.dedup();
        images
    }
}

/// The two surfaces, and which point of the one shows which of the other.
struct Matched<'a> {
    document: &'a Document,
    source: &'a Drawn,
    coarse: &'a Drawn,
    /// Where the coarse surface has its pictures.
    uvs: &'a [[f32; 2]],
    map: &'a SurfaceMap,
    pictures: &'a [Option<Picture>],
}

impl Baked {
    /// Bakes the normal map, measures it, and gives the drawn mesh the tangents that it is for.
    fn bake_normals(
        &mut self,
        matched: &Matched<'_>,
        options: &BakeOptions,
    ) -> Result<(), EditError> {
        let &Matched {
            document,
            source,
            coarse,
            uvs,
            ..
        } = matched;
        let frames = frames_of(coarse, uvs, self.pose_count)?;
        let detail_uvs = kind_uvs(document, MapKind::Normal);
        let textures = detail_textures(document, matched.pictures);
        let detail_frames = match textures.iter().any(Option::is_some) {
            true => Some(frames_of(source, &detail_uvs, self.pose_count)?),
            false => None,
        };
        let bake = NormalBake {
            map: matched.map,
            target: &coarse.surface(uvs),
            frames: &frames,
            source: &source.surface(&detail_uvs),
            detail: detail_frames.as_ref().map(|frames| DetailNormals {
                frames,
                textures: &textures,
            }),
            rule: options.frames,
        };
        let all: Vec<usize> = (0..self.pose_count).collect();
        let made_for = if options.rest_only { &all[..1] } else { &all };
        let picture = bake.bake(made_for, options.gutter)?;
        self.angles = Some(bake.angles(&picture, &all)?);
        self.maps.push((MapKind::Normal, picture));
        self.draw = with_tangents(&self.draw, coarse, &frames);
        Ok(())
    }

    /// Bakes the textures that the full character has, and factors in which its materials differ.
    fn bake_textures(&mut self, matched: &Matched<'_>, gutter: usize) -> Result<(), EditError> {
        let &Matched {
            document, pictures, ..
        } = matched;
        let template = Template::of(document, &mut self.notes);
        for kind in MapKind::TEXTURES {
            let slots = slots(document, kind);
            let textures: Vec<Option<Texture<'_>>> = (slots.iter())
                .map(|slot| slot.as_ref()?.texture(&document.materials, pictures))
                .collect();
            let factors: Vec<[f32; 4]> = (document.draw.parts.iter())
                .map(|part| kind.factors(material_of(document, part)))
                .collect();
            let drawn = document.draw.parts.iter().zip(&factors);
            let mut drawn = drawn.filter(|(part, _)| !part.triangles.is_empty());
            let first = drawn.next().map(|(_, factors)| *factors);
            let differs = drawn.any(|(_, factors)| Some(*factors) != first);
            if !differs && textures.iter().all(Option::is_none) {
                continue;
            }
            let uvs = kind_uvs(document, kind);
            let bake = ColorBake {
                map: matched.map,
                source: &matched.source.surface(&uvs),
                textures: &textures,
                plain: [255; 4],
                factors: if differs { &factors } else { &[] },
                encoding: kind.encoding(),
            };
            self.maps.push((kind, bake.bake(gutter)?));
            if differs {
                self.template.baked_factors.push(kind);
            }
        }
        if self.maps.iter().any(|(kind, _)| *kind != MapKind::Normal) {
            self.template.whole = template.whole;
        }
        Ok(())
    }
}

fn frames_of(drawn: &Drawn, uvs: &[[f32; 2]], pose_count: usize) -> Result<Frames, EditError> {
    let mut frames = Frames::at_rest(&drawn.surface(uvs))?;
    frames.pose(pose_count, |k, vertex, tangent| {
        drawn.turned(k, vertex, tangent)
    });
    Ok(frames)
}

/// The material of a part; null, which has glTF's defaults, where it has none.
fn material_of<'a>(document: &'a Document, part: &DrawPart) -> &'a Value {
    let found = part
        .material
        .and_then(|m| document.materials.materials.get(m));
    found.unwrap_or(&Value::Null)
}

/// Where each part has its texture of a kind.
fn slots(document: &Document, kind: MapKind) -> Vec<Option<Slot>> {
    let parts = document.draw.parts.iter();
    parts
        .map(|part| Slot::of(material_of(document, part), kind))
        .collect()
}

/// Where the vertices of all parts lie on their textures of a kind.
fn kind_uvs(document: &Document, kind: MapKind) -> Vec<[f32; 2]> {
    let parts = document.draw.parts.iter().zip(slots(document, kind));
    parts
        .flat_map(|(part, slot)| slot.map_or_else(|| no_uvs(part), |slot| slot.uvs(part)))
        .collect()
}

/// Normal maps of the full character's own, and how strong they are.
fn detail_textures<'a>(
    document: &Document,
    pictures: &'a [Option<Picture>],
) -> Vec<Option<(Texture<'a>, f64)>> {
    let slots = slots(document, MapKind::Normal).into_iter();
    slots
        .map(|slot| {
            let slot = slot?;
            Some((slot.texture(&document.materials, pictures)?, slot.strength))
        })
        .collect()
}

fn covered_texels(map: &SurfaceMap) -> usize {
    let rows = map.rows().iter();
    rows.map(|row| row.texels.iter().filter(|texel| texel.inside).count())
        .sum()
}

/// What is wrong with UVs and matches.
fn notes_of_cover(map: &SurfaceMap, coarse: &Drawn, uvs: &[[f32; 2]]) -> Vec<String> {
    let mut notes = Vec::new();
    let area: f64 = (coarse.triangles.iter())
        .map(|triangle| {
            let [a, b, c] = triangle.map(|v| DVec2::from(uvs[v as usize].map(f64::from)));
            0.5 * (b - a).perp_dot(c - a).abs()
        })
        .sum();
    let texels = area * (map.size() * map.size()) as f64;
    let covered = covered_texels(map) as f64;
    let overlap = texels / covered.max(1.0) - 1.0;
    if overlap > NOTED_OVERLAP {
        notes.push(format!(
            "UVs lie over each other ({:.0}% more than the texels they cover): such places share what the first of them \
             shows",
            100.0 * overlap
        ));
    }
    let share = map.fallback_count() as f64 / map.sample_count().max(1) as f64;
    if share > NOTED_FALLBACK {
        notes.push(format!(
            "{:.0}% of the samples found nothing within the cage and took the nearest point: a larger cage may find more",
            100.0 * share
        ));
    }
    notes
}
