//! One `.npy` array: its header, and its elements as the types that we use.

use std::io::Read;

use crate::Fault;

/// The kind of elements in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    /// Also booleans.
    Unsigned,
    /// UTF-32, padded with zeros.
    Unicode,
    /// Bytes, padded with zeros.
    Bytes,
}

/// The header of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    kind: Kind,
    /// Bytes of one element.
    size: usize,
    big_endian: bool,
    fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

/// An array as bytes in C order, last index fastest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Array {
    name: String,
    header: Header,
    bytes: Vec<u8>,
}

/// A shape as NumPy writes it, such as `(8431, 3)`.
pub(super) fn shape_text(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

impl Header {
    /// Reads a header, at most 64 KiB of it.
    pub(super) fn read(name: &str, input: &mut impl Read) -> Result<Self, Fault> {
        let cut = |_| Fault::malformed(array_name(name), "a .npy header", "fewer bytes");
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(cut)?;
        if &start[..6] != b"\x93NUMPY" {
            let found = format!("`{}`", start[..6].escape_ascii());
            return Err(Fault::malformed(array_name(name), "a .npy array", found));
        }
        let length = if start[6] == 1 {
            let mut length = [0; 2];
            input.read_exact(&mut length).map_err(cut)?;
            usize::from(u16::from_le_bytes(length))
        } else {
            let mut length = [0; 4];
            input.read_exact(&mut length).map_err(cut)?;
            u32::from_le_bytes(length) as usize
        };
        if length > 65536 {
            let expected = "a header of at most 65536 bytes";
            return Err(Fault::malformed(
                array_name(name),
                expected,
                length.to_string(),
            ));
        }
        let mut text = vec![0; length];
        input.read_exact(&mut text).map_err(cut)?;
        Self::parse(name, &String::from_utf8_lossy(&text))
    }

    /// Parses the Python dictionary of a header.
    fn parse(name: &str, text: &str) -> Result<Self, Fault> {
        let bad = |expected: &str| {
            let shown: String = text.trim().chars().take(80).collect();
            Fault::malformed(array_name(name), expected, format!("`{shown}`"))
        };
        let value = |key: &str| {
            let (_, after) = text.split_once(&format!("'{key}':"))?;
            Some(after.trim_start())
        };
        let descr = value("descr").ok_or_else(|| bad("`descr` in the header"))?;
        let descr = descr
            .strip_prefix('\'')
            .and_then(|d| d.split_once('\''))
            .ok_or_else(|| bad("an array of plain numbers or text"))?
            .0;
        let order = value("fortran_order").ok_or_else(|| bad("`fortran_order` in the header"))?;
        let shape = value("shape")
            .and_then(|s| s.strip_prefix('('))
            .and_then(|s| s.split_once(')'))
            .and_then(|(sizes, _)| {
                let sizes = sizes
                    .split(',')
                    .map(str::trim)
                    .filter(|size| !size.is_empty());
                sizes
                    .map(|size| size.parse().ok())
                    .collect::<Option<Vec<usize>>>()
            })
            .ok_or_else(|| bad("`shape` in the header"))?;

        let known = || {
            let (order, kind) = descr.split_at_checked(1)?;
            let (kind, size) = kind.split_at_checked(1)?;
            let size: usize = size.parse().ok()?;
            let (kind, size) = match (kind, size) {
                ("f", 2 | 4 | 8) => (Kind::Float, size),
                ("i", 1 | 2 | 4 | 8) => (Kind::Signed, size),
                ("u", 1 | 2 | 4 | 8) | ("b", 1) => (Kind::Unsigned, size),
                ("U", _) => (Kind::Unicode, size.checked_mul(4)?),
                ("S" | "a", _) => (Kind::Bytes, size),
                _ => return None,
            };
            matches!(order, "<" | ">" | "|" | "=").then_some((order == ">", kind, size))
        };
        let (big_endian, kind, size) = known().ok_or_else(|| {
            Fault::unsupported(
                format!("{} of type `{descr}`", array_name(name)),
                "save it as numbers (f2 f4 f8, i1 to u8) or as text (U, S)",
            )
        })?;
        Ok(Self {
            kind,
            size,
            big_endian,
            fortran_order: order.starts_with("True"),
            shape,
        })
    }

    /// How many elements there are, or `None` when no memory could hold them.
    fn element_count(&self) -> Option<usize> {
        self.shape
            .iter()
            .try_fold(1usize, |n, &size| n.checked_mul(size))
    }

    /// How many bytes the elements take, or `None` when no memory could hold them.
    pub(super) fn byte_count(&self) -> Option<usize> {
        self.element_count()?.checked_mul(self.size)
    }

    /// The memory that the array may take: its bytes, and each element as a number three times, because whole
    /// numbers become real numbers and those become points.
    pub(super) fn memory_bytes(&self) -> u64 {
        let element = (self.size as u64).saturating_mul(2).saturating_add(3 * 8);
        let count = self.element_count().map_or(u64::MAX, |count| count as u64);
        count.saturating_mul(element)
    }
}

fn array_name(name: &str) -> String {
    format!("array {name}")
}

impl Array {
    /// Reads the elements that follow a header; memory grows with the bytes that arrive.
    pub(super) fn read(name: &str, header: Header, input: &mut impl Read) -> Result<Self, Fault> {
        let expected = header.byte_count();
        let fault = |found: String| {
            let shape = shape_text(&header.shape);
            let expected = match expected {
                Some(bytes) => format!("{bytes} bytes for shape {shape}"),
                None => format!("a shape that fits in memory, not {shape}"),
            };
            Fault::malformed(array_name(name), expected, found)
        };
        let needed = expected.ok_or_else(|| fault("a larger one".to_owned()))?;
        let damaged = |error| fault(format!("damaged data: {error}"));
        let mut bytes = Vec::new();
        let mut elements = input.by_ref().take(needed as u64);
        elements.read_to_end(&mut bytes).map_err(damaged)?;
        // The zip layer compares checksums only when it is asked for bytes past the end.
        input.read(&mut [0]).map_err(damaged)?;
        if bytes.len() < needed {
            return Err(fault(format!("{}", bytes.len())));
        }
        if header.fortran_order && header.shape.len() > 1 {
            bytes = to_c_order(&header.shape, header.size, &bytes);
        }
        Ok(Self {
            name: name.to_owned(),
            header,
            bytes,
        })
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// The elements as real numbers.
    pub(super) fn floats(&self) -> Result<Vec<f64>, Fault> {
        match (self.header.kind, self.header.size) {
            (Kind::Float, 2) => Ok(self.decode(u16::from_le_bytes, u16::from_be_bytes, half)),
            (Kind::Float, 4) => Ok(self.decode(f32::from_le_bytes, f32::from_be_bytes, f64::from)),
            (Kind::Float, _) => Ok(self.decode(f64::from_le_bytes, f64::from_be_bytes, |x| x)),
            (Kind::Signed | Kind::Unsigned, _) => {
                Ok(self.integers()?.iter().map(|&i| i as f64).collect())
            }
            _ => Err(self.wrong_kind("numbers")),
        }
    }

    /// The elements as whole numbers.
    pub(super) fn integers(&self) -> Result<Vec<i64>, Fault> {
        match (self.header.kind, self.header.size) {
            (Kind::Signed, 1) => Ok(self.decode(i8::from_le_bytes, i8::from_be_bytes, i64::from)),
            (Kind::Signed, 2) => Ok(self.decode(i16::from_le_bytes, i16::from_be_bytes, i64::from)),
            (Kind::Signed, 4) => Ok(self.decode(i32::from_le_bytes, i32::from_be_bytes, i64::from)),
            (Kind::Signed, _) => Ok(self.decode(i64::from_le_bytes, i64::from_be_bytes, |x| x)),
            (Kind::Unsigned, 1) => Ok(self.decode(u8::from_le_bytes, u8::from_be_bytes, i64::from)),
            (Kind::Unsigned, 2) => {
                Ok(self.decode(u16::from_le_bytes, u16::from_be_bytes, i64::from))
            }
            (Kind::Unsigned, 4) => {
                Ok(self.decode(u32::from_le_bytes, u32::from_be_bytes, i64::from))
            }
            // No index reaches 2^63, so larger numbers are out of range anyway.
            (Kind::Unsigned, _) => Ok(self.decode(u64::from_le_bytes, u64::from_be_bytes, |x| {
                i64::try_from(x).unwrap_or(i64::MAX)
            })),
            _ => Err(self.wrong_kind("whole numbers")),
        }
    }

    /// The elements as text; whole numbers are spelled out.
    pub(super) fn strings(&self) -> Result<Vec<String>, Fault> {
        // An element of no bytes is an empty text, as NumPy stores a list of empty ones.
        if self.header.size == 0 {
            let count = self.header.element_count().unwrap_or(0);
            if count > 1 << 20 {
                return Err(self.wrong_kind("text that is not empty"));
            }
            return Ok(vec![String::new(); count]);
        }
        let elements = self.bytes.chunks_exact(self.header.size);
        match self.header.kind {
            Kind::Bytes => Ok(elements
                .map(|text| {
                    String::from_utf8_lossy(text)
                        .trim_end_matches('\0')
                        .to_owned()
                })
                .collect()),
            Kind::Unicode => Ok(elements
                .map(|text| {
                    let (code_points, _) = text.as_chunks();
                    let decode = |&bytes: &[u8; 4]| {
                        let code = match self.header.big_endian {
                            true => u32::from_be_bytes(bytes),
                            false => u32::from_le_bytes(bytes),
                        };
                        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
                    };
                    let text: String = code_points.iter().map(decode).collect();
                    text.trim_end_matches('\0').to_owned()
                })
                .collect()),
            _ => Ok(self.integers()?.iter().map(i64::to_string).collect()),
        }
    }

    fn decode<const N: usize, T, U>(
        &self,
        little: impl Fn([u8; N]) -> T,
        big: impl Fn([u8; N]) -> T,
        convert: impl Fn(T) -> U,
    ) -> Vec<U> {
        let (elements, _) = self.bytes.as_chunks();
        if self.header.big_endian {
            elements.iter().map(|&e| convert(big(e))).collect()
        } else {
            elements.iter().map(|&e| convert(little(e))).collect()
        }
    }

    fn wrong_kind(&self, expected: &str) -> Fault {
        let found = match self.header.kind {
            Kind::Float => "real numbers",
            Kind::Signed | Kind::Unsigned => "whole numbers",
            Kind::Unicode | Kind::Bytes => "text",
        };
        Fault::malformed(array_name(&self.name), expected, found)
    }

    /// Checks the shape; `None` stands for any size.
    pub(super) fn expect_shape(&self, expected: &[Option<usize>]) -> Result<(), Fault> {
        let found = self.shape();
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(n, e)| e.is_none_or(|e| e == *n));
        if fits {
            return Ok(());
        }
        let sizes: Vec<String> = expected
            .iter()
            .map(|size| size.map_or("any".to_owned(), |n| n.to_string()))
            .collect();
        Err(Fault::malformed(
            array_name(&self.name),
            format!("shape ({})", sizes.join(", ")),
            shape_text(found),
        ))
    }
}

/// Reorders elements whose first index is fastest.
fn to_c_order(shape: &[usize], size: usize, bytes: &[u8]) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = size;
    for n in shape {
        strides.push(stride);
        stride *= n;
    }
    let mut ordered = Vec::with_capacity(bytes.len());
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    while ordered.len() < bytes.len() {
        ordered.extend_from_slice(&bytes[at..at + size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    ordered
}

/// A half-precision number from its bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn array(bytes: &[u8]) -> Result<Array, Fault> {
        let mut input = bytes;
        let header = Header::read("a", &mut input)?;
        Array::read("a", header, &mut input)
    }

    #[test]
    fn numbers_of_all_widths_and_orders_are_read() {
        for (descr, data) in [
            (
                "<f4",
                [1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat(),
            ),
            (
                ">f4",
                [1.5f32.to_be_bytes(), (-2f32).to_be_bytes()].concat(),
            ),
            (
                "<f8",
                [1.5f64.to_le_bytes(), (-2f64).to_le_bytes()].concat(),
            ),
            (">f2", vec![0x3e, 0x00, 0xc0, 0x00]),
        ] {
            let found = array(&npy(descr, "False", "(2,)", &data))
                .expect("valid")
                .floats();
            assert_eq!(found.expect("numbers"), [1.5, -2.0], "type {descr}");
        }
        for (descr, data) in [
            ("|i1", vec![0xff, 7]),
            (">i2", vec![0xff, 0xff, 0, 7]),
            ("<i8", [(-1i64).to_le_bytes(), 7i64.to_le_bytes()].concat()),
        ] {
            let found = array(&npy(descr, "False", "(2,)", &data))
                .expect("valid")
                .integers();
            assert_eq!(found.expect("whole"), [-1, 7], "type {descr}");
        }
        let huge = array(&npy("<u8", "False", "(1,)", &[0xff; 8])).expect("valid");
        assert_eq!(
            huge.integers().expect("whole"),
            [i64::MAX],
            "no index is that large"
        );
    }

    #[test]
    fn text_of_both_kinds_is_read() {
        let unicode = |e: fn(u32) -> [u8; 4]| [0x41, 0xe9, 0x42, 0].map(e).concat();
        for (descr, data) in [
            ("<U2", unicode(u32::to_le_bytes)),
            (">U2", unicode(u32::to_be_bytes)),
            ("|S3", b"A\xc3\xa9B\0\0".to_vec()),
        ] {
            let found = array(&npy(descr, "False", "(2,)", &data))
                .expect("valid")
                .strings();
            assert_eq!(found.expect("text"), ["Aé", "B"], "type {descr}");
        }
    }

    #[test]
    fn fortran_order_is_turned_into_c_order() {
        // [[1, 2, 3], [4, 5, 6]] stored column by column.
        let found = array(&npy("|u1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6])).expect("valid");
        assert_eq!(
            found.integers().expect("whole"),
            [1, 2, 3, 4, 5, 6],
            "row by row"
        );
    }

    #[test]
    fn shapes_that_the_data_cannot_fill_are_refused() {
        for shape in [
            "(3,)",
            "(1152921504606846976,)",
            "(4294967296, 4294967296)",
            "(99999999999999999999,)",
            "(-1,)",
            "",
        ] {
            let bytes = npy("<f8", "False", shape, &[0; 16]);
            array(&bytes).expect_err("two numbers only");
        }
        let message = array(&npy("<f8", "False", "(3,)", &[0; 16]))
            .expect_err("cut")
            .to_string();
        assert_eq!(
            message, "array a: expected 24 bytes for shape (3,), found 16",
            "both sizes"
        );
    }

    #[test]
    fn pickles_and_records_are_refused() {
        for descr in ["|O", "<c8", "<M8[ns]", "f4", "", "é"] {
            array(&npy(descr, "False", "(1,)", &[0; 64])).expect_err(descr);
        }
    }

    #[test]
    fn half_precision_covers_its_corners() {
        assert_eq!(half(0x0001), 2f64.powi(-24), "the smallest");
        assert_eq!(half(0x7bff), 65504.0, "the largest");
        assert_eq!(half(0xfc00), f64::NEG_INFINITY, "infinity");
        assert!(half(0x7e00).is_nan(), "not a number");
    }
}
