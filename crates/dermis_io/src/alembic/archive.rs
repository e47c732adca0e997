//! What Alembic stores in the container: objects, which have properties and children, and what all of them share.
//!
//! The first group of a file has six parts: versions of the format and of the library, the topmost object, words about
//! the file, times of samples, and metadata that many headers share. An object is a group: its properties, its children,
//! and a block of headers, one for each child. A group of properties ends with such a block, too.

use super::bytes::Bytes;
use super::ogawa::{Container, Group};
use super::times::TimeSampling;
use crate::Fault;

/// An open file.
#[derive(Debug)]
pub(super) struct Archive<'a> {
    pub(super) container: Container<'a>,
    pub(super) samplings: Vec<TimeSampling>,
    /// Metadata that headers name by number; number 0 is empty.
    shared_metadata: Vec<&'a str>,
    top: Group,
}

/// An object: a transform, a mesh, a set of faces, or something else.
#[derive(Debug, Clone)]
pub(super) struct Object<'a> {
    /// The names of its ancestors and its own, as in `/body/head`.
    pub(super) path: String,
    /// Its own name.
    pub(super) name: &'a str,
    metadata: &'a str,
    group: Group,
}

/// What kind of values a property has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Other properties.
    Compound,
    /// A fixed number of values in each sample.
    Scalar,
    /// Any number of values in each sample.
    Array,
}

/// A property of an object.
#[derive(Debug, Clone)]
pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    /// The number that stands for the type of its values.
    pub(super) pod: u8,
    /// How many values belong together, such as 3 for points.
    pub(super) extent: usize,
    pub(super) sample_count: usize,
    /// Samples before this one are as the first; 0 when none ever differs.
    pub(super) first_changed: usize,
    /// Samples after this one are as it.
    pub(super) last_changed: usize,
    /// Which time sampling it has.
    pub(super) sampling: usize,
    metadata: &'a str,
    pub(super) group: Group,
}

/// Bits of the word that begins the header of a property.
mod info {
    pub(super) const KIND: u32 = 0x3;
    pub(super) const WIDTH_SHIFT: u32 = 2;
    pub(super) const POD_SHIFT: u32 = 4;
    pub(super) const HAS_SAMPLING: u32 = 0x100;
    pub(super) const HAS_CHANGES: u32 = 0x200;
    pub(super) const IS_CONSTANT: u32 = 0x800;
    pub(super) const EXTENT_SHIFT: u32 = 12;
    pub(super) const METADATA_SHIFT: u32 = 20;
}

/// The number of metadata that stands in the header itself.
const METADATA_FOLLOWS: usize = 0xff;

/// A property may have this many samples. Those like the last are not stored, so that a few bytes can claim any number.
const MOST_SAMPLES: usize = 1 << 24;

/// The digests after the headers of children.
const DIGESTS: usize = 32;

impl<'a> Archive<'a> {
    /// Reads what all objects share.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let (container, root) = Container::open(bytes)?;
        let mut versions = Bytes::new(container.block(root, 0, "version")?, "version");
        let version = versions.u32()?;
        if version != 0 {
            let found = version.to_string();
            return Err(Fault::malformed("version", "version 0 of Alembic", found));
        }
        let top = container.group(root, 2, "topmost object")?;
        let samplings = read_samplings(container.block(root, 4, "times of samples")?)?;
        let shared_metadata = read_metadata(container.block(root, 5, "shared metadata")?)?;
        Ok(Self {
            container,
            samplings,
            shared_metadata,
            top,
        })
    }

    /// The object that has all others in it.
    pub(super) fn top(&self) -> Object<'a> {
        Object {
            path: String::new(),
            name: "",
            metadata: "",
            group: self.top,
        }
    }

    /// The objects in an object.
    pub(super) fn children(&self, object: &Object<'a>) -> Result<Vec<Object<'a>>, Fault> {
        let what = object.to_string();
        let Some(last) = object.group.count.checked_sub(1) else {
            return Ok(Vec::new());
        };
        // An object with properties alone ends with their group.
        if self.container.is_group(object.group, last) {
            return Ok(Vec::new());
        }
        let block = self.container.block(object.group, last, &what)?;
        self.container.spend(block.len(), &what)?;
        let length = block.len().saturating_sub(DIGESTS);
        let mut headers = Bytes::new(&block[..length], &what);
        let mut children = Vec::new();
        while !headers.is_empty() {
            let length = headers.u32()? as usize;
            let name = headers.name(length)?;
            let metadata = match headers.u8()? {
                0xff => {
                    let length = headers.u32()? as usize;
                    headers.text(length)?
                }
                number => self.shared(usize::from(number), &what)?,
            };
            let path = format!("{}/{name}", object.path);
            // Names of ancestors repeat in every path, so long names of deep trees grow.
            self.container
                .plan(&[path.len() as u64 + 64], "names of objects")?;
            let number = children.len() + 1;
            let group = self
                .container
                .group(object.group, number, &format!("object {path}"))?;
            children.push(Object {
                path,
                name,
                metadata,
                group,
            });
        }
        Ok(children)
    }

    /// The properties of an object.
    pub(super) fn properties(&self, object: &Object<'a>) -> Result<Vec<Property<'a>>, Fault> {
        if !self.container.is_group(object.group, 0) {
            return Ok(Vec::new());
        }
        let what = object.to_string();
        let group = self.container.group(object.group, 0, &what)?;
        self.properties_in(group, &what)
    }

    /// The properties in a property; none where it is not made of others.
    pub(super) fn parts(
        &self,
        property: &Property<'a>,
        what: &str,
    ) -> Result<Vec<Property<'a>>, Fault> {
        match property.kind {
            Kind::Compound => self.properties_in(property.group, what),
            Kind::Scalar | Kind::Array => Ok(Vec::new()),
        }
    }

    fn properties_in(&self, group: Group, what: &str) -> Result<Vec<Property<'a>>, Fault> {
        let Some(last) = group.count.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let block = self.container.block(group, last, what)?;
        self.container.spend(block.len(), what)?;
        let mut headers = Bytes::new(block, what);
        let mut properties = Vec::new();
        while !headers.is_empty() {
            let mut property = self.property(&mut headers, what)?;
            let part = format!("{what}, property {}", property.name);
            property.group = self.container.group(group, properties.len(), &part)?;
            properties.push(property);
        }
        Ok(properties)
    }

    /// Reads one header; where the values are is not in it.
    fn property(&self, headers: &mut Bytes<'a, '_>, what: &str) -> Result<Property<'a>, Fault> {
        let info = headers.u32()?;
        let width = info >> info::WIDTH_SHIFT & 0x3;
        let kind = match info & info::KIND {
            0 => Kind::Compound,
            1 => Kind::Scalar,
            _ => Kind::Array,
        };
        let mut property = Property {
            name: "",
            kind,
            pod: (info >> info::POD_SHIFT & 0xf) as u8,
            extent: (info >> info::EXTENT_SHIFT & 0xff) as usize,
            sample_count: 0,
            first_changed: 0,
            last_changed: 0,
            sampling: 0,
            metadata: "",
            group: Group::default(),
        };
        if kind != Kind::Compound {
            property.sample_count = headers.sized(width)?;
            if property.sample_count > MOST_SAMPLES {
                let expected = format!("at most {MOST_SAMPLES} samples of a property");
                let found = property.sample_count.to_string();
                return Err(Fault::malformed(what, expected, found));
            }
            if info & info::HAS_CHANGES != 0 {
                property.first_changed = headers.sized(width)?;
                property.last_changed = headers.sized(width)?;
            } else if info & info::IS_CONSTANT == 0 {
                property.first_changed = 1;
                property.last_changed = property.sample_count.saturating_sub(1);
            }
            if info & info::HAS_SAMPLING != 0 {
                property.sampling = headers.sized(width)?;
            }
        }
        let length = headers.sized(width)?;
        property.name = headers.name(length)?;
        property.metadata = match (info >> info::METADATA_SHIFT & 0xff) as usize {
            METADATA_FOLLOWS => {
                let length = headers.sized(width)?;
                headers.text(length)?
            }
            number => self.shared(number, what)?,
        };
        Ok(property)
    }

    fn shared(&self, number: usize, what: &str) -> Result<&'a str, Fault> {
        match number {
            0 => Ok(""),
            _ => (self.shared_metadata.get(number - 1).copied()).ok_or_else(|| {
                let count = self.shared_metadata.len();
                let expected = format!("metadata from 0 to {count}");
                Fault::malformed(what, expected, number.to_string())
            }),
        }
    }
}

impl Object<'_> {
    /// What it is, such as `AbcGeom_PolyMesh_v1`; empty for a group of others.
    pub(super) fn schema(&self) -> &str {
        value_of(self.metadata, "schema").unwrap_or_default()
    }
}

impl std::fmt::Display for Object<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.path.as_str() {
            "" => write!(out, "topmost object"),
            path => write!(out, "object {path}"),
        }
    }
}

impl Property<'_> {
    /// What its metadata say about something.
    pub(super) fn says(&self, key: &str) -> Option<&str> {
        value_of(self.metadata, key)
    }
}

#[cfg(test)]
impl Property<'static> {
    /// Single-precision points without values.
    pub(super) fn for_tests(name: &'static str, sample_count: usize) -> Self {
        Self {
            name,
            kind: Kind::Array,
            pod: 10,
            extent: 3,
            sample_count,
            first_changed: 0,
            last_changed: 0,
            sampling: 0,
            metadata: "",
            group: Group::default(),
        }
    }
}

/// The property of a name.
pub(super) fn named<'p, 'a>(
    properties: &'p [Property<'a>],
    name: &str,
) -> Option<&'p Property<'a>> {
    properties.iter().find(|property| property.name == name)
}

/// The value of a key in `key=value;key=value`.
fn value_of<'m>(metadata: &'m str, key: &str) -> Option<&'m str> {
    let mut pairs = metadata.split(';').filter_map(|pair| pair.split_once('='));
    pairs.find(|(k, _)| *k == key).map(|(_, value)| value)
}

fn read_samplings(block: &[u8]) -> Result<Vec<TimeSampling>, Fault> {
    let mut input = Bytes::new(block, "times of samples");
    let mut samplings = Vec::new();
    while !input.is_empty() {
        // The most samples that any property of this sampling has: each property says so itself.
        let _ = input.u32()?;
        let per_cycle = input.f64()?;
        let count = input.u32()? as usize;
        let times = input.take(count.saturating_mul(8))?.as_chunks().0;
        let times = times.iter().map(|&bytes| f64::from_le_bytes(bytes));
        samplings.push(TimeSampling::new(times.collect(), per_cycle));
    }
    Ok(samplings)
}

fn read_metadata(block: &[u8]) -> Result<Vec<&str>, Fault> {
    let mut input = Bytes::new(block, "shared metadata");
    let mut all = Vec::new();
    while !input.is_empty() {
        let length = usize::from(input.u8()?);
        all.push(input.text(length)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_pairs() {
        let metadata = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";
        assert_eq!(
            value_of(metadata, "schema"),
            Some("AbcGeom_Xform_v3"),
            "first"
        );
        assert_eq!(value_of(metadata, "geoScope"), None, "no such key");
        assert_eq!(value_of("", "schema"), None, "nothing at all");
    }

    #[test]
    fn times_are_read_as_long_as_there_are_bytes() {
        let mut block = 3u32.to_le_bytes().to_vec();
        block.extend(0.5f64.to_le_bytes());
        block.extend(1u32.to_le_bytes());
        block.extend(2f64.to_le_bytes());
        let samplings = read_samplings(&block).expect("one sampling");
        assert_eq!(samplings, [TimeSampling::new(vec![2.0], 0.5)], "even times");
        for length in 1..block.len() {
            read_samplings(&block[..length]).expect_err("cut short");
        }
        // A claim of four billion times.
        block[12..16].fill(0xff);
        read_samplings(&block).expect_err("not there");
    }
}
