//! The header of a PLY file: which elements follow, and how their rows are built.

use crate::Fault;

/// How the rows after the header are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// Type of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes in a binary file.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// One column of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) scalar: Scalar,
    /// Type of the length, when each row holds a list.
    pub(super) list_length: Option<Scalar>,
}

/// A table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// Fewest bytes that a row can take; lists may be empty, text needs a digit and a space.
    pub(super) fn least_row_size(&self, encoding: Encoding) -> usize {
        let size = |p: &Property| match encoding {
            Encoding::Ascii => 2,
            _ => p.list_length.unwrap_or(p.scalar).size(),
        };
        self.properties.iter().map(size).sum()
    }
}

/// A parsed header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
}

/// Parses the header and returns it with the bytes after it.
pub(super) fn parse_header(bytes: &[u8]) -> Result<(Header, &[u8]), Fault> {
    let mut rest = bytes;
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        let Some(end) = rest.iter().position(|&b| b == b'\n' || b == b'\r') else {
            return Err(Fault::malformed(
                "header",
                "a line `end_header`",
                "the end of the file",
            ));
        };
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end
            + if rest[end..].starts_with(b"\r\n") {
                2
            } else {
                1
            }..];
        let bad = |expected: &str| {
            let shown: String = line.chars().take(60).collect();
            Fault::malformed(
                format!("header line {number}"),
                expected,
                format!("`{shown}`"),
            )
        };
        if number == 1 {
            if line.trim() != "ply" {
                return Err(bad("`ply`"));
            }
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["format", name, _version] => {
                encoding = Some(match *name {
                    "ascii" => Encoding::Ascii,
                    "binary_little_endian" => Encoding::LittleEndian,
                    "binary_big_endian" => Encoding::BigEndian,
                    _ => return Err(bad("ascii, binary_little_endian or binary_big_endian")),
                });
            }
            ["element", name, count] => elements.push(Element {
                name: (*name).to_owned(),
                count: count.parse().map_err(|_| bad("a number of rows"))?,
                properties: Vec::new(),
            }),
            ["property", kind @ .., name] if matches!(kind.len(), 1 | 3) => {
                let element = elements.last_mut();
                let element = element.ok_or_else(|| bad("an element before its properties"))?;
                let scalar_of =
                    |name: &str| Scalar::of(name).ok_or_else(|| bad("a PLY type such as float"));
                let list_length = match kind {
                    ["list", length, _] => {
                        let length = scalar_of(length)?;
                        let integer = Some(length).filter(|l| l.is_integer());
                        Some(integer.ok_or_else(|| bad("a whole type for the length of a list"))?)
                    }
                    [_] => None,
                    _ => {
                        return Err(bad(
                            "`property type name` or `property list type type name`",
                        ));
                    }
                };
                element.properties.push(Property {
                    name: (*name).to_owned(),
                    scalar: scalar_of(kind[kind.len() - 1])?,
                    list_length,
                });
            }
            ["end_header"] => break,
            ["comment" | "obj_info", ..] | [] => {}
            _ => return Err(bad("format, element, property, comment or end_header")),
        }
    }
    let encoding = encoding
        .ok_or_else(|| Fault::malformed("header", "a line `format`", "none before end_header"))?;
    Ok((Header { encoding, elements }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lists_elements_and_leaves_the_rows() {
        let text = b"ply\r\nformat ascii 1.0\r\ncomment x y\r\nelement vertex 2\r\n\
            property double x\r\nelement face 1\r\nproperty list uchar int vertex_indices\r\n\
            end_header\r\n1 2";
        let (header, rest) = parse_header(text).expect("valid header");
        assert_eq!(rest, b"1 2", "the rows follow");
        assert_eq!(header.encoding, Encoding::Ascii, "from the format line");
        assert_eq!(header.elements[0].count, 2, "two vertices");
        let list = &header.elements[1].properties[0];
        assert_eq!(
            list.list_length,
            Some(Scalar::U8),
            "a list with its length type"
        );
    }

    #[test]
    fn broken_headers_are_refused_with_their_line() {
        for (text, expected) in [
            ("plx\n", "header line 1: expected `ply`"),
            ("ply\nformat utf8 1.0\n", "header line 2"),
            ("ply\nformat ascii 1.0\nproperty int x\n", "header line 3"),
            ("ply\nelement vertex -1\n", "a number of rows"),
            ("ply\nelement v 1\nproperty quad x\n", "a PLY type"),
            (
                "ply\nelement v 1\nproperty list float int x\n",
                "whole type",
            ),
            ("ply\nend_header\n", "a line `format`"),
            ("ply\nformat ascii 1.0\n", "`end_header`"),
        ] {
            let error = parse_header(text.as_bytes()).expect_err("must be refused");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
