//! Textures and factors of glTF materials, as a bake reads them.

use serde_json::Value;

use crate::bake::Picture;
use crate::bake::{Encoding, Texture, Wrap};
use crate::document::Materials;
use crate::mesh::DrawPart;

/// A picture that is baked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MapKind {
    /// Normals in the frames of the coarse surface.
    Normal,
    /// Colour and opacity.
    BaseColor,
    /// Roughness as green, metal as blue.
    MetallicRoughness,
    /// How much of the surroundings a place sees, as red.
    Occlusion,
    /// Light of its own.
    Emission,
}

impl MapKind {
    /// All that are not normals.
    pub(super) const TEXTURES: [Self; 4] = [
        Self::BaseColor,
        Self::MetallicRoughness,
        Self::Occlusion,
        Self::Emission,
    ];

    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normals",
            Self::BaseColor => "base colour",
            Self::MetallicRoughness => "metal and roughness",
            Self::Occlusion => "occlusion",
            Self::Emission => "emission",
        }
    }

    /// Where a material names the texture.
    pub(super) fn pointer(self) -> &'static str {
        match self {
            Self::Normal => "/normalTexture",
            Self::BaseColor => "/pbrMetallicRoughness/baseColorTexture",
            Self::MetallicRoughness => "/pbrMetallicRoughness/metallicRoughnessTexture",
            Self::Occlusion => "/occlusionTexture",
            Self::Emission => "/emissiveTexture",
        }
    }

    pub(super) fn encoding(self) -> Encoding {
        match self {
            Self::BaseColor | Self::Emission => Encoding::Srgb,
            _ => Encoding::Linear,
        }
    }

    /// What a material multiplies its texture by, with glTF's defaults; all 1 where there is no such factor.
    pub(super) fn factors(self, material: &Value) -> [f32; 4] {
        let pbr = &material["pbrMetallicRoughness"];
        let number = |value: &Value, default: f32| value.as_f64().map_or(default, |x| x as f32);
        let list = |value: &Value, defaults: [f32; 4]| {
            std::array::from_fn(|i| number(&value[i], defaults[i]))
        };
        match self {
            Self::BaseColor => list(&pbr["baseColorFactor"], [1.0; 4]),
            Self::MetallicRoughness => {
                let roughness = number(&pbr["roughnessFactor"], 1.0);
                [1.0, roughness, number(&pbr["metallicFactor"], 1.0), 1.0]
            }
            Self::Emission => list(&material["emissiveFactor"], [0.0, 0.0, 0.0, 1.0]),
            Self::Normal | Self::Occlusion => [1.0; 4],
        }
    }

    /// Sets the factors of a material to 1, for those that its texture has in it.
    pub(super) fn clear_factors(self, material: &mut Value) {
        let pbr = "pbrMetallicRoughness";
        match self {
            Self::BaseColor => material[pbr]["baseColorFactor"] = vec![1.0; 4].into(),
            Self::MetallicRoughness => {
                material[pbr]["roughnessFactor"] = 1.0.into();
                material[pbr]["metallicFactor"] = 1.0.into();
            }
            Self::Emission => material["emissiveFactor"] = vec![1.0; 3].into(),
            Self::Normal | Self::Occlusion => {}
        }
    }
}

/// Where a material's texture is and how it lies on the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    texture: usize,
    uv_set: usize,
    offset: [f64; 2],
    rotation: f64,
    scale: [f64; 2],
    /// How strong a normal map is.
    pub(super) strength: f64,
}

impl Slot {
    /// The texture of a kind that a material has.
    pub(super) fn of(material: &Value, kind: MapKind) -> Option<Self> {
        let info = material.pointer(kind.pointer())?;
        let transform = &info["extensions"]["KHR_texture_transform"];
        let index = |value: &Value| value.as_u64().and_then(|i| usize::try_from(i).ok());
        let pair = |value: &Value, default: f64| {
            std::array::from_fn(|i| value[i].as_f64().unwrap_or(default))
        };
        let own_set = index(&info["texCoord"]).unwrap_or(0);
        Some(Self {
            texture: index(&info["index"])?,
            uv_set: index(&transform["texCoord"]).unwrap_or(own_set),
            offset: pair(&transform["offset"], 0.0),
            rotation: transform["rotation"].as_f64().unwrap_or(0.0),
            scale: pair(&transform["scale"], 1.0),
            strength: info["scale"].as_f64().unwrap_or(1.0),
        })
    }

    /// The image that it shows.
    pub(super) fn image(&self, materials: &Materials) -> Option<usize> {
        let texture = materials.textures.get(self.texture)?;
        let extended = texture["extensions"].as_object();
        let extended = extended.and_then(|e| e.values().find_map(|e| e["source"].as_u64()));
        let source = texture["source"].as_u64().or(extended)?;
        usize::try_from(source).ok()
    }

    /// The texture to read, if its picture is there.
    pub(super) fn texture<'a>(
        &self,
        materials: &Materials,
        pictures: &'a [Option<Picture>],
    ) -> Option<Texture<'a>> {
        let picture = pictures.get(self.image(materials)?)?.as_ref()?;
        let sampler = materials.textures[self.texture]["sampler"].as_u64();
        let sampler = sampler.and_then(|i| materials.samplers.get(usize::try_from(i).ok()?));
        let sampler = sampler.unwrap_or(&Value::Null);
        let wrap = |value: &Value| match value.as_u64() {
            Some(33071) => Wrap::Clamp,
            Some(33648) => Wrap::Mirror,
            _ => Wrap::Repeat,
        };
        Some(Texture {
            wrap: [wrap(&sampler["wrapS"]), wrap(&sampler["wrapT"])],
            smooth: sampler["magFilter"].as_u64() != Some(9728),
            ..Texture::new(picture)
        })
    }

    /// Where each vertex of a part lies on the texture; zeros for a part without such UVs.
    pub(super) fn uvs(&self, part: &DrawPart) -> Vec<[f32; 2]> {
        let Some(uvs) = part.uvs.get(self.uv_set) else {
            return no_uvs(part);
        };
        let (sine, cosine) = self.rotation.sin_cos();
        let placed = |&[u, v]: &[f32; 2]| {
            // KHR_texture_transform: translation · rotation · scale, where a positive rotation is from v to u.
            let (u, v) = (f64::from(u) * self.scale[0], f64::from(v) * self.scale[1]);
            let (u, v) = (cosine * u + sine * v, cosine * v - sine * u);
            [(u + self.offset[0]) as f32, (v + self.offset[1]) as f32]
        };
        uvs.iter().map(placed).collect()
    }
}

pub(super) fn no_uvs(part: &DrawPart) -> Vec<[f32; 2]> {
    vec![[0.0; 2]; part.points.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_texture_lies_where_its_transform_puts_it() {
        let material = json!({ "emissiveTexture": { "index": 3, "texCoord": 1, "extensions": {
            "KHR_texture_transform": {
                "offset": [0.5, 0.0], "rotation": std::f64::consts::FRAC_PI_2, "scale": [2.0, 1.0]
            }
        }}});
        let slot = Slot::of(&material, MapKind::Emission).expect("a texture");
        assert_eq!((slot.texture, slot.uv_set), (3, 1), "texture and set");
        let part = DrawPart {
            points: vec![0],
            uvs: vec![vec![[0.0, 0.0]], vec![[0.25, 0.125]]],
            ..DrawPart::default()
        };
        let [u, v] = slot.uvs(&part)[0];
        assert!(
            (u - 0.625).abs() < 1e-6 && (v + 0.5).abs() < 1e-6,
            "scaled, turned by a quarter and moved: {u}, {v}"
        );
        let bare = DrawPart {
            points: vec![0, 1],
            ..DrawPart::default()
        };
        assert_eq!(slot.uvs(&bare), [[0.0; 2]; 2], "no such set");
        assert!(Slot::of(&material, MapKind::Normal).is_none(), "no map");
    }

    #[test]
    fn factors_have_the_defaults_of_gltf() {
        let plain =
            [MapKind::BaseColor, MapKind::MetallicRoughness].map(|kind| kind.factors(&Value::Null));
        assert_eq!(plain, [[1.0; 4]; 2], "white, metal, rough");
        assert_eq!(
            MapKind::Emission.factors(&Value::Null),
            [0.0, 0.0, 0.0, 1.0],
            "dark"
        );
        let rough =
            json!({"pbrMetallicRoughness": {"roughnessFactor": 0.5, "metallicFactor": 0.0}});
        let factors = MapKind::MetallicRoughness.factors(&rough);
        assert_eq!(factors, [1.0, 0.5, 0.0, 1.0], "green and blue");
    }

    #[test]
    fn samplers_say_what_lies_beyond_the_edge() {
        let materials = Materials {
            textures: vec![json!({"source": 0, "sampler": 0})],
            samplers: vec![json!({"wrapS": 33071, "wrapT": 33648, "magFilter": 9728})],
            ..Materials::default()
        };
        let pictures = [Some(Picture::default())];
        let slot = Slot::of(&json!({"normalTexture": {"index": 0}}), MapKind::Normal);
        let texture = slot.expect("a map").texture(&materials, &pictures);
        let texture = texture.expect("a picture");
        assert_eq!(texture.wrap, [Wrap::Clamp, Wrap::Mirror], "u and v");
        assert!(!texture.smooth, "the nearest pixel");
        assert!(
            slot.expect("a map").texture(&materials, &[None]).is_none(),
            "not decoded"
        );
    }
}
