//! Baked pictures as materials of a document.

use serde_json::{Map, Value, json};

use super::{Baked, MapKind, material_of};
use crate::bake::Picture;
use crate::document::{Document, Image, Materials};
use crate::mesh::DrawMesh;

/// What the new material is made from.
#[derive(Debug, Clone, Default)]
pub(super) struct Template {
    /// One material in the place of all, without textures; `None` to keep those of the coarse form and add the normal map.
    pub(super) whole: Option<Value>,
    /// Kinds whose pictures have the factors of the materials in them.
    pub(super) baked_factors: Vec<MapKind>,
}

impl Template {
    /// The material of the largest part, without textures, with notes of what else there was.
    pub(super) fn of(document: &Document, notes: &mut Vec<String>) -> Self {
        let parts = document.draw.parts.iter();
        let drawn: Vec<_> = parts.filter(|part| !part.triangles.is_empty()).collect();
        let bare: Vec<Value> = (drawn.iter())
            .map(|part| without_textures(material_of(document, part)))
            .collect();
        // The first of the largest.
        let largest = (0..drawn.len())
            .rev()
            .max_by_key(|&at| drawn[at].triangles.len());
        let whole = largest.map_or_else(|| json!({}), |at| bare[at].clone());
        let mut differing: Vec<&str> = Vec::new();
        for key in ["alphaMode", "alphaCutoff", "doubleSided", "extensions"] {
            if bare.iter().any(|material| material[key] != whole[key]) {
                differing.push(key);
            }
        }
        if !differing.is_empty() {
            let name = whole["name"].as_str().unwrap_or("the largest part");
            notes.push(format!(
                "materials become one, and differ in {}: it has those of {name}",
                differing.join(", ")
            ));
        }
        let mut lost = Vec::new();
        for part in &drawn {
            lost_textures(&material_of(document, part)["extensions"], &mut lost);
        }
        if !lost.is_empty() {
            notes.push(format!(
                "textures that are not baked are left out: {}",
                lost.join(", ")
            ));
        }
        if drawn.iter().any(|part| !part.colors.is_empty()) {
            notes.push(
                "vertex colours are not baked: the coarse form has its own, or none".to_owned(),
            );
        }
        Self {
            whole: Some(whole),
            baked_factors: Vec::new(),
        }
    }
}

impl Document {
    /// Puts baked pictures on the form that they were baked for: 0 is the full character, others are its levels. `encode`
    /// makes a PNG of a picture, and `name` begins the names of material and images. Returns how many bytes each picture has.
    ///
    /// Materials, textures and images that nothing uses any more are taken out. A level that is not there changes nothing.
    ///
    /// # Errors
    /// Those of `encode`.
    pub fn wear<E>(
        &mut self,
        level: usize,
        baked: &Baked,
        name: &str,
        encode: impl Fn(&Picture) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<(MapKind, usize)>, E> {
        let mut encoded = Vec::new();
        for (kind, picture) in &baked.maps {
            encoded.push((*kind, encode(picture)?));
        }
        let sizes = encoded.iter().map(|(kind, bytes)| (*kind, bytes.len()));
        let sizes = sizes.collect();
        let draw = baked.dressed(&mut self.materials, name, encoded);
        match level.checked_sub(1) {
            None => self.draw = draw,
            Some(at) => {
                if let Some(level) = self.levels.get_mut(at) {
                    level.draw = draw;
                }
            }
        }
        self.drop_unused_looks();
        Ok(sizes)
    }

    /// Takes out materials that no part has, textures that no material has, and images that no texture has.
    fn drop_unused_looks(&mut self) {
        let Self {
            draw,
            levels,
            materials: looks,
            ..
        } = self;
        let draws = std::iter::once(draw).chain(levels.iter_mut().map(|level| &mut level.draw));
        let mut numbers: Vec<&mut usize> = draws
            .flat_map(|draw| &mut draw.parts)
            .filter_map(|part| part.material.as_mut())
            .collect();
        let used = renumber(looks.materials.len(), &mut numbers);
        retain(&mut looks.materials, &used);
        let mut slots = Vec::new();
        for material in &mut looks.materials {
            texture_slots(material, &mut slots);
        }
        let used = renumber_json(looks.textures.len(), slots, "index");
        retain(&mut looks.textures, &used);
        let mut sources = Vec::new();
        let mut samplers = Vec::new();
        for texture in &mut looks.textures {
            samplers.push(&mut *texture);
        }
        let used = renumber_json(looks.samplers.len(), samplers, "sampler");
        retain(&mut looks.samplers, &used);
        for texture in &mut looks.textures {
            let Some(members) = texture.as_object_mut() else {
                continue;
            };
            for (key, value) in members.iter_mut() {
                match &key[..] {
                    "source" => sources.push(value),
                    "extensions" => sources.extend(
                        (value.as_object_mut().into_iter().flat_map(Map::values_mut))
                            .filter_map(|extension| extension.get_mut("source")),
                    ),
                    _ => {}
                }
            }
        }
        let used = renumber_values(looks.images.len(), sources);
        retain(&mut looks.images, &used);
    }
}

impl Baked {
    /// The drawn mesh with its new materials, which are added to those given.
    fn dressed(
        &self,
        looks: &mut Materials,
        name: &str,
        encoded: Vec<(MapKind, Vec<u8>)>,
    ) -> DrawMesh {
        let mut draw = self.draw.clone();
        if encoded.is_empty() {
            return draw;
        }
        let sampler = looks.samplers.len();
        // LINEAR, LINEAR_MIPMAP_LINEAR, and REPEAT, as UVs may lie beyond the first turn.
        looks.samplers.push(json!({
            "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497
        }));
        let mut infos = Vec::new();
        for (kind, bytes) in encoded {
            let (texture, image) = (looks.textures.len(), looks.images.len());
            let name = format!("{name} {}", kind.name());
            looks.images.push(Image {
                name: Some(name),
                mime_type: "image/png".to_owned(),
                bytes,
            });
            looks
                .textures
                .push(json!({ "sampler": sampler, "source": image }));
            let mut info = json!({ "index": texture });
            if self.uv_set > 0 {
                info["texCoord"] = self.uv_set.into();
            }
            infos.push((kind, info));
        }
        match &self.template.whole {
            Some(whole) => {
                let mut material = with_textures(whole.clone(), &infos);
                for kind in &self.template.baked_factors {
                    kind.clear_factors(&mut material);
                }
                material["name"] = name.into();
                draw.parts
                    .iter_mut()
                    .for_each(|part| part.material = Some(looks.materials.len()));
                looks.materials.push(material);
            }
            None => {
                // The number of each old material's successor.
                let mut made: Vec<(Option<usize>, usize)> = Vec::new();
                for part in &mut draw.parts {
                    let known = made.iter().find(|(old, _)| *old == part.material);
                    let new = known.map(|(_, new)| *new).unwrap_or_else(|| {
                        let old = part.material.and_then(|m| looks.materials.get(m));
                        let material = with_textures(old.cloned().unwrap_or(json!({})), &infos);
                        looks.materials.push(material);
                        made.push((part.material, looks.materials.len() - 1));
                        looks.materials.len() - 1
                    });
                    part.material = Some(new);
                }
            }
        }
        draw
    }
}

/// A material with these textures in the place of its own of their kinds.
fn with_textures(mut material: Value, infos: &[(MapKind, Value)]) -> Value {
    if !material.is_object() {
        material = json!({});
    }
    for (kind, info) in infos {
        let mut info = info.clone();
        if *kind == MapKind::Occlusion
            && let Some(strength) = material.pointer("/occlusionTexture/strength")
        {
            info["strength"] = strength.clone();
        }
        let mut place = &mut material;
        for key in kind.pointer().split('/').skip(1) {
            place = &mut place[key];
        }
        *place = info;
    }
    if material
        .get("occlusionTexture")
        .is_some_and(|info| info.get("index").is_none())
        && let Some(members) = material.as_object_mut()
    {
        members.remove("occlusionTexture");
    }
    material
}

/// A material without its textures, except for how strong occlusion is.
fn without_textures(material: &Value) -> Value {
    let strength = material.pointer("/occlusionTexture/strength").cloned();
    let mut bare = match material.is_object() {
        true => material.clone(),
        false => json!({}),
    };
    strip(&mut bare);
    if let Some(strength) = strength {
        bare["occlusionTexture"] = json!({ "strength": strength });
    }
    bare
}

fn strip(value: &mut Value) {
    if let Some(members) = value.as_object_mut() {
        members.retain(|key, _| !key.ends_with("Texture"));
        let inner = members.iter_mut().filter(|(key, _)| *key != "extras");
        inner.for_each(|(_, member)| strip(member));
    }
}

/// The names of textures in extensions.
fn lost_textures(value: &Value, lost: &mut Vec<String>) {
    for (key, member) in value.as_object().into_iter().flat_map(Map::iter) {
        if key.ends_with("Texture") && !lost.contains(key) {
            lost.push(key.clone());
        }
        lost_textures(member, lost);
    }
}

/// The texture infos of a material: members called `...Texture`.
fn texture_slots<'a>(value: &'a mut Value, slots: &mut Vec<&'a mut Value>) {
    for (key, member) in value.as_object_mut().into_iter().flat_map(Map::iter_mut) {
        if key == "extras" {
            continue;
        }
        if key.ends_with("Texture") {
            slots.push(member);
        } else {
            texture_slots(member, slots);
        }
    }
}

/// Renumbers so that used numbers follow each other; returns which were used. Numbers that are none stay.
fn renumber(count: usize, numbers: &mut [&mut usize]) -> Vec<bool> {
    let mut used = vec![false; count];
    for number in numbers.iter() {
        if let Some(used) = used.get_mut(**number) {
            *used = true;
        }
    }
    for number in numbers {
        if **number < count {
            **number = used[..**number].iter().filter(|used| **used).count();
        }
    }
    used
}

/// The same for a member of JSON objects.
fn renumber_json(count: usize, objects: Vec<&mut Value>, key: &str) -> Vec<bool> {
    let members = objects.into_iter().filter_map(|object| object.get_mut(key));
    renumber_values(count, members.collect())
}

/// The same for JSON numbers.
fn renumber_values(count: usize, values: Vec<&mut Value>) -> Vec<bool> {
    let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    let mut numbers: Vec<usize> = (values.iter())
        .map(|value| number(value).unwrap_or(usize::MAX))
        .collect();
    let used = renumber(count, &mut numbers.iter_mut().collect::<Vec<_>>());
    for (value, number) in values.into_iter().zip(numbers) {
        if number != usize::MAX {
            *value = number.into();
        }
    }
    used
}

fn retain<T>(items: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    items.retain(|_| used.next().copied().unwrap_or(true));
}
