//! Where a glTF file keeps its bytes: the GLB container, data URIs and files beside it.
//!
//! The container is split by hand: `gltf::binary::Glb` subtracts the header's size from a length
//! that the file states, which overflows when that length is less than 12.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use dermis::limits::check_memory;
use percent_encoding::percent_decode_str;

use super::schema::Schema;
use crate::gltf::uri::path_of_uri;
use crate::{Fault, IoError};

/// The bytes of a buffer.
pub(super) enum Bytes<'a> {
    /// In the file itself.
    Own(&'a [u8]),
    /// Decoded or loaded; several buffers may name one file.
    Loaded(Rc<Vec<u8>>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Loaded(bytes) => bytes,
        }
    }
}

/// A glTF file with all its buffers at hand.
pub(super) struct Container<'a> {
    pub(super) schema: Schema,
    pub(super) buffers: Vec<Bytes<'a>>,
    /// Bytes of the file and of the buffers beside it.
    pub(super) byte_count: u64,
}

impl<'a> Container<'a> {
    /// Splits the file and loads its buffers.
    pub(super) fn open(path: &Path, bytes: &'a [u8]) -> Result<Self, IoError> {
        let in_file = |fault: Fault| fault.in_file(path);
        let (json, bin) = split(bytes).map_err(in_file)?;
        check_json(json).map_err(in_file)?;
        let schema = Schema::parse(json).map_err(in_file)?;
        let mut byte_count = bytes.len() as u64;
        let mut loaded: HashMap<PathBuf, Rc<Vec<u8>>> = HashMap::new();
        let mut buffers = Vec::new();
        for (i, buffer) in schema.buffers.iter().enumerate() {
            let element = format!("buffer {i}");
            let data = match &buffer.uri {
                Some(uri) => match Resource::locate(path, uri, &element).map_err(in_file)? {
                    Resource::Inline { bytes, .. } => Bytes::Loaded(Rc::new(bytes)),
                    Resource::Beside(file) => Bytes::Loaded(match loaded.get(&file) {
                        Some(data) => Rc::clone(data),
                        None => {
                            let data = crate::read_file(&file).map_err(|source| IoError::Read {
                                path: file.clone(),
                                source,
                            })?;
                            byte_count += data.len() as u64;
                            let data = Rc::new(data);
                            loaded.insert(file, Rc::clone(&data));
                            data
                        }
                    }),
                },
                // Only the first buffer may stand for the GLB's own chunk.
                None => match bin.filter(|_| i == 0) {
                    Some(bin) => Bytes::Own(bin),
                    None => return Err(in_file(Fault::malformed(element, "a uri", "none"))),
                },
            };
            if data.len() < buffer.byte_length {
                return Err(in_file(Fault::malformed(
                    element,
                    format!("{} bytes", buffer.byte_length),
                    format!("{} bytes", data.len()),
                )));
            }
            buffers.push(data);
        }
        Ok(Self {
            schema,
            buffers,
            byte_count,
        })
    }
}

/// Refuses JSON whose objects would not fit into memory: `{},` is three bytes, and a node of several hundred.
fn check_json(json: &[u8]) -> Result<(), Fault> {
    /// Bytes of a node and its placement; all other objects are smaller.
    const OBJECT: u64 = 800;
    let objects = json.iter().filter(|&&byte| byte == b'{').count() as u64;
    let what = || format!("reading {objects} JSON objects");
    Ok(check_memory(&[objects, OBJECT], what, "split the file")?)
}

/// The JSON and the binary chunk of a GLB, or the whole file as JSON.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Fault> {
    let Some(rest) = bytes.strip_prefix(b"glTF") else {
        return Ok((bytes, None));
    };
    let short = |element: &str, expected: usize, found: usize| {
        Fault::malformed(
            element,
            format!("{expected} bytes"),
            format!("{found} bytes: the file is cut off"),
        )
    };
    let Some((version, rest)) = take_u32(rest) else {
        return Err(short("GLB header", 12, bytes.len()));
    };
    let Some((length, _)) = take_u32(rest) else {
        return Err(short("GLB header", 12, bytes.len()));
    };
    if version != 2 {
        return Err(Fault::unsupported(
            format!("GLB version {version}"),
            "convert the file to glTF 2.0 first",
        ));
    }
    let length = length as usize;
    let Some(mut rest) = bytes.get(12..length) else {
        return Err(match length {
            0..12 => Fault::malformed("GLB header", "a length of 12 or more", length.to_string()),
            _ => short("GLB", length, bytes.len()),
        });
    };
    let (mut json, mut bin) = (None, None);
    while let Some((chunk_length, after)) = take_u32(rest) {
        let Some((kind, after)) = after.split_first_chunk::<4>() else {
            return Err(short("GLB chunk header", 8, rest.len()));
        };
        let Some((chunk, after)) = after.split_at_checked(chunk_length as usize) else {
            return Err(short("GLB chunk", chunk_length as usize, after.len()));
        };
        match kind {
            b"JSON" if json.is_none() => json = Some(chunk),
            b"BIN\0" if json.is_some() && bin.is_none() => bin = Some(chunk),
            // glTF asks readers to skip chunks that they do not know.
            _ => {}
        }
        rest = after;
    }
    match json {
        Some(json) => Ok((json, bin)),
        None => Err(Fault::malformed("GLB", "a JSON chunk", "none")),
    }
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*head), rest))
}

/// The data that a URI names.
#[derive(Debug, PartialEq)]
pub(in crate::gltf) enum Resource {
    /// A data URI.
    Inline {
        media_type: Option<String>,
        bytes: Vec<u8>,
    },
    /// A file in the glTF file's folder or below it.
    Beside(PathBuf),
}

impl Resource {
    /// Decodes a data URI, or finds the file that a relative one names.
    ///
    /// URIs with another scheme, absolute paths and paths out of the folder are refused: opening a
    /// model must not fetch from the network or read files that the user did not point to.
    pub(in crate::gltf) fn locate(gltf: &Path, uri: &str, element: &str) -> Result<Self, Fault> {
        if let Some(scheme) = scheme_of(uri) {
            if !scheme.eq_ignore_ascii_case("data") {
                return Err(Fault::unsupported(
                    format!("the URI scheme {scheme}: of {element}"),
                    "download it beside the file and name it by a relative path",
                ));
            }
            return decode_data_uri(&uri[scheme.len() + 1..], element);
        }
        let refuse = |why: &str| {
            let shown: String = uri.chars().take(200).collect();
            Fault::malformed(
                element,
                "a path inside the file's folder",
                format!("{shown:?}, {why}"),
            )
        };
        let Some(relative) = path_of_uri(uri) else {
            return Err(refuse("which is no UTF-8 text"));
        };
        let mut inside = PathBuf::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => inside.push(name),
                Component::CurDir => {}
                Component::ParentDir => {
                    if !inside.pop() {
                        return Err(refuse("which leaves it"));
                    }
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(refuse("which is absolute"));
                }
            }
        }
        if inside.as_os_str().is_empty() {
            return Err(refuse("which names no file"));
        }
        let folder = gltf.parent().unwrap_or(Path::new(""));
        Ok(Self::Beside(folder.join(inside)))
    }
}

/// The letters before the colon, when the URI begins with a scheme.
fn scheme_of(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let mut letters = scheme.chars();
    let legal = letters.next()?.is_ascii_alphabetic()
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    legal.then_some(scheme)
}

/// `[media type][;base64],data`, as in RFC 2397.
fn decode_data_uri(rest: &str, element: &str) -> Result<Resource, Fault> {
    /// Exporters disagree about trailing `=`, so both ways are taken.
    const BASE64: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let Some((head, data)) = rest.split_once(',') else {
        return Err(Fault::malformed(element, "a comma in its data URI", "none"));
    };
    let unescaped: Cow<'_, [u8]> = percent_decode_str(data).into();
    let (media_type, bytes) = match head.strip_suffix(";base64") {
        Some(media_type) => {
            let bytes = BASE64.decode(&unescaped).map_err(|e| {
                Fault::malformed(element, "base64 text in its data URI", e.to_string())
            })?;
            (media_type, bytes)
        }
        None => (head, unescaped.into_owned()),
    };
    let media_type = media_type.split(';').next().filter(|m| !m.is_empty());
    Ok(Resource::Inline {
        media_type: media_type.map(str::to_owned),
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(uri: &str) -> Result<Resource, String> {
        Resource::locate(Path::new("models/fox.gltf"), uri, "buffer 0").map_err(|e| e.to_string())
    }

    #[test]
    fn files_beside_are_found_and_files_elsewhere_refused() {
        let beside = |file: &str| Ok(Resource::Beside(PathBuf::from(file)));
        assert_eq!(locate("fox.bin"), beside("models/fox.bin"), "plain");
        assert_eq!(locate("a%20b/c.bin"), beside("models/a b/c.bin"), "escaped");
        assert_eq!(locate("a/../b.bin"), beside("models/b.bin"), "still inside");
        for outside in ["/etc/x", "../x", "a/../../x", "%2e%2e/x", "", "."] {
            let message = locate(outside).expect_err("outside the folder");
            assert!(
                message.starts_with("buffer 0: expected a path inside"),
                "{message}"
            );
        }
        for url in ["http://host/x", "file:///etc/x", "C:x"] {
            let message = locate(url).expect_err("no scheme but data");
            assert!(
                message.contains("of buffer 0 is not supported"),
                "{message}"
            );
        }
    }

    #[test]
    fn data_uris_are_base64_or_plain_text() {
        let inline = |media_type: Option<&str>, bytes: &[u8]| {
            Ok(Resource::Inline {
                media_type: media_type.map(str::to_owned),
                bytes: bytes.to_vec(),
            })
        };
        assert_eq!(
            locate("data:application/octet-stream;base64,AQID"),
            inline(Some("application/octet-stream"), &[1, 2, 3]),
            "base64"
        );
        assert_eq!(locate("data:;base64,AQ=="), inline(None, &[1]), "padded");
        assert_eq!(locate("data:;base64,AQ"), inline(None, &[1]), "unpadded");
        assert_eq!(locate("data:,a%00b"), inline(None, b"a\0b"), "plain");
        assert!(locate("data:nothing").is_err(), "no comma");
        assert!(locate("data:;base64,?").is_err(), "no base64");
    }

    fn glb(version: u32, length: u32, chunks: &[(u32, &[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"glTF".to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        for (length, kind, data) in chunks {
            bytes.extend(length.to_le_bytes());
            bytes.extend(*kind);
            bytes.extend(*data);
        }
        bytes
    }

    #[test]
    fn a_glb_splits_into_its_chunks_and_unknown_ones_are_skipped() {
        let bytes = glb(
            2,
            12 + 10 + 9 + 10,
            &[
                (2, b"JSON", b"{}"),
                (1, b"XYZW", b"?"),
                (2, b"BIN\0", b"ab"),
            ],
        );
        assert_eq!(
            split(&bytes),
            Ok((&b"{}"[..], Some(&b"ab"[..]))),
            "all three"
        );
    }

    #[test]
    fn a_glb_that_lies_about_its_lengths_is_refused() {
        let json: (u32, &[u8; 4], &[u8]) = (2, b"JSON", b"{}");
        for (bytes, expected) in [
            (glb(2, 4, &[json]), "GLB header: expected a length of 12"),
            (glb(2, 99, &[json]), "GLB: expected 99 bytes, found 22"),
            (glb(1, 22, &[json]), "GLB version 1 is not supported"),
            (glb(2, 12, &[]), "GLB: expected a JSON chunk, found none"),
            (
                glb(2, 22, &[(u32::MAX, b"JSON", b"{}")]),
                "GLB chunk: expected 4294967295 bytes, found 2",
            ),
        ] {
            let message = split(&bytes).expect_err("the lengths lie").to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
