//! One glTF material in plain numbers.

use dermis::bake::Wrap;
use dermis::document::Materials;
use dermis::mesh::DrawPart;
use serde_json::Value;

/// What a picture in plain light shows of a material. Colours are linear light.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Its name in the file.
    pub name: Option<String>,
    /// Colour and opacity, which the picture and colours of vertices are multiplied with.
    pub color: [f32; 4],
    /// Whether the file says what `color` is; else it is glTF's default, white.
    pub says_color: bool,
    /// Colours in sRGB, and opacity.
    pub color_picture: Option<PlacedPicture>,
    /// Bumps, as directions in tangent space.
    pub normal_picture: Option<PlacedPicture>,
    /// How strong the bumps are: a factor of their slopes.
    pub normal_scale: f32,
    /// Light of its own.
    pub glow: [f32; 3],
    /// Colours in sRGB that `glow` is multiplied with.
    pub glow_picture: Option<PlacedPicture>,
    /// What opacity means.
    pub opacity: Opacity,
    /// Whether both sides of its triangles are seen.
    pub is_double_sided: bool,
    /// Whether it shows its colours without any light falling on it.
    pub is_unlit: bool,
}

/// What the opacity of a material means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Opacity {
    /// Nothing.
    Ignored,
    /// There are holes where it is below this.
    Cutoff(f32),
    /// What is behind shines through.
    Blended,
}

/// A picture, and how it lies on a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedPicture {
    /// Which image of the document it is.
    pub image: usize,
    /// The set of UVs that it is laid by, `TEXCOORD_n`.
    pub uv_set: usize,
    /// What it shows beyond its borders, along u and along v.
    pub wrap: [Wrap; 2],
    /// The rows that give a texture coordinate from `(u, v, 1)`.
    pub texture_from_uv: [[f32; 3]; 2],
}

impl PlacedPicture {
    /// Where each vertex of a part lies on the picture; `None` when the part lacks the set of UVs.
    pub fn coordinates(&self, part: &DrawPart) -> Option<Vec<[f32; 2]>> {
        let uvs = part.uvs.get(self.uv_set)?;
        let placed = |&[u, v]: &[f32; 2]| self.texture_from_uv.map(|[a, b, c]| a * u + b * v + c);
        Some(uvs.iter().map(placed).collect())
    }

    fn new(info: &Value, all: &Materials) -> Option<Self> {
        let texture = all.textures.get(index(&info["index"])?)?;
        let extended = texture["extensions"].as_object();
        let extended = extended.and_then(|e| e.values().find_map(|e| index(&e["source"])));
        let image = index(&texture["source"]).or(extended)?;
        let sampler = index(&texture["sampler"]).and_then(|i| all.samplers.get(i));
        let wrap = |key: &str| match sampler.and_then(|sampler| sampler[key].as_u64()) {
            Some(33071) => Wrap::Clamp,
            Some(33648) => Wrap::Mirror,
            _ => Wrap::Repeat,
        };
        let transform = &info["extensions"]["KHR_texture_transform"];
        let own_set = index(&info["texCoord"]).unwrap_or(0);
        let [scale_u, scale_v] = list(&transform["scale"], [1.0; 2]);
        let [offset_u, offset_v] = list(&transform["offset"], [0.0; 2]);
        let (sine, cosine) = number(&transform["rotation"], 0.0).sin_cos();
        (image < all.images.len()).then_some(Self {
            image,
            uv_set: index(&transform["texCoord"]).unwrap_or(own_set),
            wrap: ["wrapS", "wrapT"].map(wrap),
            // Scale first, then a rotation from v to u, then the offset.
            texture_from_uv: [
                [cosine * scale_u, sine * scale_v, offset_u],
                [-sine * scale_u, cosine * scale_v, offset_v],
            ],
        })
    }
}

impl Look {
    /// Reads one material. What is missing or makes no sense has glTF's defaults, as pictures are of use all the same.
    pub(super) fn new(material: &Value, all: &Materials) -> Self {
        let extension = |name: &str| material["extensions"].get(name);
        let pbr = &material["pbrMetallicRoughness"];
        // Old files have another model, whose diffuse colour is the nearest to a base colour.
        let (color, texture) = match extension("KHR_materials_pbrSpecularGlossiness") {
            Some(old) if pbr.is_null() => (&old["diffuseFactor"], &old["diffuseTexture"]),
            _ => (&pbr["baseColorFactor"], &pbr["baseColorTexture"]),
        };
        let strength = extension("KHR_materials_emissive_strength");
        let strength = strength.map_or(1.0, |e| number(&e["emissiveStrength"], 1.0));
        Self {
            name: material["name"].as_str().map(str::to_owned),
            color: list(color, [1.0; 4]),
            says_color: color.is_array(),
            color_picture: PlacedPicture::new(texture, all),
            normal_picture: PlacedPicture::new(&material["normalTexture"], all),
            normal_scale: number(&material["normalTexture"]["scale"], 1.0),
            glow: list(&material["emissiveFactor"], [0.0; 3]).map(|light| light * strength),
            glow_picture: PlacedPicture::new(&material["emissiveTexture"], all),
            opacity: match material["alphaMode"].as_str() {
                Some("MASK") => Opacity::Cutoff(number(&material["alphaCutoff"], 0.5)),
                Some("BLEND") => Opacity::Blended,
                _ => Opacity::Ignored,
            },
            is_double_sided: material["doubleSided"] == true,
            is_unlit: extension("KHR_materials_unlit").is_some(),
        }
    }

    /// The pictures that it shows.
    pub fn pictures(&self) -> impl Iterator<Item = &PlacedPicture> {
        let all = [
            &self.color_picture,
            &self.normal_picture,
            &self.glow_picture,
        ];
        all.into_iter().flatten()
    }

    /// Forgets pictures that are not there.
    pub(super) fn keep_pictures(&mut self, is_there: impl Fn(usize) -> bool) {
        let all = [
            &mut self.color_picture,
            &mut self.normal_picture,
            &mut self.glow_picture,
        ];
        for picture in all {
            *picture = picture.filter(|placed| is_there(placed.image));
        }
    }
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|i| usize::try_from(i).ok())
}

fn number(value: &Value, default: f32) -> f32 {
    let found = value.as_f64().map(|x| x as f32);
    found.filter(|x| x.is_finite()).unwrap_or(default)
}

fn list<const N: usize>(value: &Value, default: [f32; N]) -> [f32; N] {
    std::array::from_fn(|i| number(&value[i], default[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis::document::Image;
    use serde_json::json;

    fn with_images(count: usize) -> Materials {
        let image = Image {
            name: None,
            mime_type: "image/png".to_owned(),
            bytes: Vec::new(),
        };
        Materials {
            images: vec![image; count],
            textures: vec![
                json!({"source": 1, "sampler": 0}),
                json!({"extensions": {"EXT_texture_webp": {"source": 0}}}),
                json!({"source": 7}),
            ],
            samplers: vec![json!({"wrapS": 33071, "wrapT": 33648})],
            ..Materials::default()
        }
    }

    #[test]
    fn an_empty_material_has_the_defaults_of_gltf() {
        let look = Look::new(&json!({}), &Materials::default());
        assert_eq!(look.color, [1.0; 4], "white");
        assert!(!look.says_color, "because nothing is said");
        assert_eq!(look.glow, [0.0; 3], "no light of its own");
        assert_eq!(look.opacity, Opacity::Ignored, "opaque");
        assert!(!look.is_double_sided && !look.is_unlit, "flags are off");
        assert_eq!(look.pictures().count(), 0, "no pictures");
    }

    #[test]
    fn factors_textures_and_flags_are_read() {
        let material = json!({
            "name": "skin", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 0.25, 0.125, 0.75], "baseColorTexture": {"index": 0, "texCoord": 1}
            },
            "normalTexture": {"index": 1, "scale": 0.5},
            "emissiveFactor": [0.5, 0.0, 1.0], "emissiveTexture": {"index": 2},
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4.0}, "KHR_materials_unlit": {}},
        });
        let look = Look::new(&material, &with_images(2));
        assert_eq!(look.name.as_deref(), Some("skin"), "its name");
        assert_eq!(look.color, [0.5, 0.25, 0.125, 0.75], "its colour");
        assert!(look.says_color, "it is given");
        let color = look.color_picture.expect("a texture");
        assert_eq!((color.image, color.uv_set), (1, 1), "image and set");
        assert_eq!(color.wrap, [Wrap::Clamp, Wrap::Mirror], "the sampler");
        let normals = look.normal_picture.expect("a texture of an extension");
        assert_eq!(
            (normals.image, normals.wrap),
            (0, [Wrap::Repeat; 2]),
            "no sampler"
        );
        assert_eq!(look.normal_scale, 0.5, "its strength");
        assert_eq!(look.glow, [2.0, 0.0, 4.0], "times its strength");
        assert!(look.glow_picture.is_none(), "there is no image 7");
        assert_eq!(look.opacity, Opacity::Cutoff(0.25), "holes");
        assert!(look.is_double_sided && look.is_unlit, "flags");
    }

    #[test]
    fn old_materials_show_their_diffuse_colour() {
        let material = json!({"extensions": {"KHR_materials_pbrSpecularGlossiness": {
            "diffuseFactor": [0.0, 0.5, 0.0, 1.0], "diffuseTexture": {"index": 0}
        }}});
        let look = Look::new(&material, &with_images(2));
        assert_eq!(look.color, [0.0, 0.5, 0.0, 1.0], "its colour");
        assert!(look.color_picture.is_some(), "its texture");
    }

    #[test]
    fn a_texture_lies_where_its_transform_puts_it() {
        let material = json!({"emissiveTexture": {"index": 0, "texCoord": 3, "extensions": {
            "KHR_texture_transform": {
                "offset": [0.5, 0.0], "rotation": std::f64::consts::FRAC_PI_2, "scale": [2.0, 1.0], "texCoord": 1
            }
        }}});
        let look = Look::new(&material, &with_images(2));
        let placed = look.glow_picture.expect("a texture");
        let mut part = DrawPart {
            points: vec![0],
            uvs: vec![vec![[0.0, 0.0]], vec![[0.25, 0.125]]],
            ..DrawPart::default()
        };
        let [u, v] = placed.coordinates(&part).expect("a set")[0];
        // Scaled to (0.5, 0.125), turned to (0.125, -0.5), then moved.
        assert!(
            (u - 0.625).abs() < 1e-6 && (v + 0.5).abs() < 1e-6,
            "{u}, {v}"
        );
        part.uvs.pop();
        assert!(placed.coordinates(&part).is_none(), "no such set");
    }
}
