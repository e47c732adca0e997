//! Numbers out of buffers, with every offset and count checked before anything is allocated.

use std::cell::Cell;

use super::container::{Bytes, Container};
use super::schema::{self, Accessor, Schema};
use crate::Fault;

/// The most numbers that all accessors of a file of so many bytes may decode to.
///
/// A few kilobytes of JSON can name one accessor thousands of times, so checking each accessor against its
/// bytes does not bound the memory; this limit does. Scenes do repeat a mesh, so a file may decode
/// to a million vertices of 16 numbers plus 64 times its bytes, but beyond 8 million such
/// vertices only to as many numbers as it really holds.
fn most_numbers(byte_count: u64) -> usize {
    let bytes = usize::try_from(byte_count).unwrap_or(usize::MAX);
    let repeated = bytes.saturating_mul(64).saturating_add(1 << 24);
    repeated.min(bytes.saturating_mul(2).max(1 << 27))
}

/// The least cost counted for reading an accessor, so that empty ones cannot be read for ever.
const LEAST_COST: usize = 16;

/// How a component is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gltf) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

/// How many elements an accessor must have.
#[derive(Debug, Clone, Copy)]
pub(in crate::gltf) enum Count {
    /// Any number, but all backed by bytes: this accessor decides how large others may be.
    Backed,
    /// As many as another list has.
    Exactly(usize),
    /// Exactly so many, all backed by bytes, because the number itself comes from the file.
    ExactlyBacked(usize),
    /// At least so many; only these are read.
    AtLeast(usize),
}

/// Decoded numbers, `width` for each element.
#[derive(Debug, PartialEq)]
pub(in crate::gltf) struct Floats {
    pub(in crate::gltf) width: usize,
    pub(in crate::gltf) values: Vec<f32>,
}

/// The accessors of a file.
pub(in crate::gltf) struct Accessors<'a> {
    schema: &'a Schema,
    buffers: &'a [Bytes<'a>],
    byte_count: u64,
    most_numbers: usize,
    numbers_left: Cell<usize>,
}

/// An accessor whose ranges have all been checked.
struct Checked<'a> {
    component: Component,
    normalized: bool,
    width: usize,
    count: usize,
    /// Bytes from the first element on, and the distance between elements.
    base: Option<(&'a [u8], usize)>,
    sparse: Option<CheckedSparse<'a>>,
}

struct CheckedSparse<'a> {
    index_type: Component,
    indices: &'a [u8],
    values: &'a [u8],
}

impl Component {
    fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::F32 => "f32",
        }
    }

    /// One number, by glTF's rule for normalised integers. `bytes` has [`Component::size`] bytes.
    fn to_f32(self, bytes: &[u8], normalized: bool) -> f32 {
        let (value, largest) = match (self, bytes) {
            (Self::I8, &[a]) => (f32::from(a as i8), 127.0),
            (Self::U8, &[a]) => (f32::from(a), 255.0),
            (Self::I16, &[a, b]) => (f32::from(i16::from_le_bytes([a, b])), 32767.0),
            (Self::U16, &[a, b]) => (f32::from(u16::from_le_bytes([a, b])), 65535.0),
            (Self::U32, &[a, b, c, d]) => {
                (u32::from_le_bytes([a, b, c, d]) as f32, u32::MAX as f32)
            }
            (Self::F32, &[a, b, c, d]) => return f32::from_le_bytes([a, b, c, d]),
            _ => return 0.0,
        };
        if normalized {
            (value / largest).max(-1.0)
        } else {
            value
        }
    }

    /// One whole number; `None` for signed and real components.
    fn to_u32(self, bytes: &[u8]) -> u32 {
        match (self, bytes) {
            (Self::U8, &[a]) => a.into(),
            (Self::U16, &[a, b]) => u16::from_le_bytes([a, b]).into(),
            (Self::U32, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        }
    }
}

/// How many numbers an element has, for the shapes that dermis reads.
fn width_of(shape: &str) -> Option<usize> {
    Some(match shape {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => return None,
    })
}

impl<'a> Accessors<'a> {
    pub(in crate::gltf::read) fn new(container: &'a Container<'a>) -> Self {
        let most_numbers = most_numbers(container.byte_count);
        Self {
            schema: &container.schema,
            buffers: &container.buffers,
            byte_count: container.byte_count,
            most_numbers,
            numbers_left: Cell::new(most_numbers),
        }
    }

    /// Bytes of the file and of the buffers beside it.
    pub(super) fn byte_count(&self) -> u64 {
        self.byte_count
    }

    /// An accessor's shape (`SCALAR` to `MAT4`), when there is such an accessor.
    pub(in crate::gltf) fn shape(&self, index: usize) -> Option<&str> {
        self.schema.accessors.get(index).map(|a| a.shape.as_str())
    }

    /// Real numbers of one of the shapes, integers converted as the accessor says.
    pub(in crate::gltf) fn floats(
        &self,
        index: usize,
        role: &str,
        shapes: &[&str],
        count: Count,
    ) -> Result<Floats, Fault> {
        let checked = self.check(index, role, shapes, None, count)?;
        let values = checked.decode(|component, bytes| component.to_f32(bytes, checked.normalized));
        Ok(Floats {
            width: checked.width,
            values,
        })
    }

    /// As [`Accessors::floats`], and no number is NaN or infinite.
    pub(in crate::gltf) fn finite(
        &self,
        index: usize,
        role: &str,
        shapes: &[&str],
        count: Count,
    ) -> Result<Floats, Fault> {
        let floats = self.floats(index, role, shapes, count)?;
        match floats.values.iter().position(|v| !v.is_finite()) {
            None => Ok(floats),
            Some(at) => Err(Fault::malformed(
                label(index, role),
                "finite numbers",
                format!("{} in element {}", floats.values[at], at / floats.width),
            )),
        }
    }

    /// Whole numbers of one shape and one of the component types.
    pub(in crate::gltf) fn integers(
        &self,
        index: usize,
        role: &str,
        shape: &str,
        types: &[Component],
        count: Count,
    ) -> Result<Vec<u32>, Fault> {
        let checked = self.check(index, role, &[shape], Some(types), count)?;
        Ok(checked.decode(Component::to_u32))
    }

    /// The bytes of a buffer view.
    pub(in crate::gltf) fn view(&self, index: usize, element: &str) -> Result<&'a [u8], Fault> {
        let view = schema::get(&self.schema.buffer_views, index, "buffer view", element)?;
        let named_by = format!("buffer view {index}");
        let buffer = schema::get(self.buffers, view.buffer, "buffer", &named_by)?;
        let end = view.byte_offset.checked_add(view.byte_length);
        end.and_then(|end| buffer.get(view.byte_offset..end))
            .ok_or_else(|| {
                Fault::malformed(
                    named_by,
                    format!("a range inside the {} bytes of its buffer", buffer.len()),
                    format!("{} bytes from {}", view.byte_length, view.byte_offset),
                )
            })
    }

    /// Checks everything that can be wrong with an accessor, before anything is allocated.
    fn check(
        &self,
        index: usize,
        role: &str,
        shapes: &[&str],
        types: Option<&[Component]>,
        count: Count,
    ) -> Result<Checked<'a>, Fault> {
        let accessor = schema::get(&self.schema.accessors, index, "accessor", role)?;
        let element = label(index, role);
        let refuse = |expected: String, found: String| {
            Err(Fault::malformed(element.clone(), expected, found))
        };
        let Some(component) = Component::from_code(accessor.component_type) else {
            return refuse(
                "a component type of 5120 to 5126".to_owned(),
                accessor.component_type.to_string(),
            );
        };
        let width = width_of(&accessor.shape).filter(|_| shapes.contains(&&*accessor.shape));
        let right_type = types.is_none_or(|types| types.contains(&component));
        let Some(width) = width.filter(|_| right_type) else {
            let mut expected = shapes.join(" or ");
            if let Some(types) = types {
                let names: Vec<_> = types.iter().map(|t| t.name()).collect();
                expected = format!("{expected} of {}", names.join(" or "));
            }
            return refuse(
                expected,
                format!("{} of {}", accessor.shape, component.name()),
            );
        };
        let wanted = match count {
            Count::Backed | Count::ExactlyBacked(_) if accessor.buffer_view.is_none() => {
                return refuse("a buffer view".to_owned(), "none".to_owned());
            }
            Count::Backed => accessor.count,
            Count::Exactly(n) | Count::ExactlyBacked(n) if accessor.count != n => {
                return refuse(format!("{n} elements"), accessor.count.to_string());
            }
            Count::AtLeast(n) if accessor.count < n => {
                return refuse(format!("at least {n} elements"), accessor.count.to_string());
            }
            Count::Exactly(n) | Count::ExactlyBacked(n) | Count::AtLeast(n) => n,
        };
        let size = component.size() * width;
        let base = match accessor.buffer_view {
            None => None,
            Some(view) => Some(self.check_base(accessor, view, size, &element)?),
        };
        let sparse = self.check_sparse(accessor, size, &element)?;
        let left = wanted
            .checked_mul(width)
            .and_then(|n| self.numbers_left.get().checked_sub(n.max(LEAST_COST)));
        let Some(left) = left else {
            return Err(Fault::unsupported(
                format!(
                    "a file whose accessors unfold to more than {} numbers",
                    self.most_numbers
                ),
                "split it into several files",
            ));
        };
        self.numbers_left.set(left);
        Ok(Checked {
            component,
            normalized: accessor.normalized,
            width,
            count: wanted,
            base,
            sparse,
        })
    }

    fn check_base(
        &self,
        accessor: &Accessor,
        view: usize,
        size: usize,
        element: &str,
    ) -> Result<(&'a [u8], usize), Fault> {
        let bytes = self.view(view, element)?;
        // Old exporters write a stride of 0 for "packed".
        let stride = self.schema.buffer_views[view].byte_stride.unwrap_or(0);
        let stride = if stride == 0 { size } else { stride };
        if stride < size {
            return Err(Fault::malformed(
                element,
                format!("a byte stride of at least {size}"),
                stride.to_string(),
            ));
        }
        let needed = match accessor.count.checked_sub(1) {
            None => Some(0),
            Some(last) => last.checked_mul(stride).and_then(|n| n.checked_add(size)),
        };
        let from_first = bytes.get(accessor.byte_offset..);
        match (from_first, needed) {
            (Some(from_first), Some(needed)) if needed <= from_first.len() => {
                Ok((from_first, stride))
            }
            _ => Err(Fault::malformed(
                element,
                format!(
                    "{} elements of {size} bytes, {stride} apart, from byte {}",
                    accessor.count, accessor.byte_offset
                ),
                format!("a buffer view of {} bytes", bytes.len()),
            )),
        }
    }

    fn check_sparse(
        &self,
        accessor: &Accessor,
        size: usize,
        element: &str,
    ) -> Result<Option<CheckedSparse<'a>>, Fault> {
        let Some(sparse) = &accessor.sparse else {
            return Ok(None);
        };
        let index_type = Component::from_code(sparse.indices.component_type)
            .filter(|t| matches!(t, Component::U8 | Component::U16 | Component::U32));
        let Some(index_type) = index_type else {
            return Err(Fault::malformed(
                element,
                "sparse indices of type 5121, 5123 or 5125",
                sparse.indices.component_type.to_string(),
            ));
        };
        let part = |view: usize, offset: usize, size: usize, what: &str| {
            let bytes = self.view(view, element)?;
            let length = sparse.count.checked_mul(size);
            let end = length.and_then(|length| length.checked_add(offset));
            end.and_then(|end| bytes.get(offset..end)).ok_or_else(|| {
                Fault::malformed(
                    element,
                    format!(
                        "{} sparse {what} of {size} bytes from byte {offset}",
                        sparse.count
                    ),
                    format!("a buffer view of {} bytes", bytes.len()),
                )
            })
        };
        let (indices, values) = (&sparse.indices, &sparse.values);
        let checked = CheckedSparse {
            index_type,
            indices: part(
                indices.buffer_view,
                indices.byte_offset,
                index_type.size(),
                "indices",
            )?,
            values: part(values.buffer_view, values.byte_offset, size, "values")?,
        };
        for bytes in checked.indices.chunks_exact(index_type.size()) {
            let at = index_type.to_u32(bytes);
            if at as usize >= accessor.count {
                return Err(Fault::malformed(
                    element,
                    format!("sparse indices below {}", accessor.count),
                    at.to_string(),
                ));
            }
        }
        Ok(Some(checked))
    }
}

impl Checked<'_> {
    /// Every number through `read`; elements without bytes stay at the default, which is zero.
    fn decode<T: Copy + Default>(&self, read: impl Fn(Component, &[u8]) -> T) -> Vec<T> {
        let size = self.component.size();
        let mut values = vec![T::default(); self.count * self.width];
        let fill = |element: &mut [T], bytes: &[u8]| {
            for (value, bytes) in element.iter_mut().zip(bytes.chunks_exact(size)) {
                *value = read(self.component, bytes);
            }
        };
        if let Some((bytes, stride)) = self.base {
            let elements = values.chunks_exact_mut(self.width);
            for (element, bytes) in elements.zip(bytes.chunks(stride)) {
                fill(element, bytes);
            }
        }
        if let Some(sparse) = &self.sparse {
            let indices = sparse.indices.chunks_exact(sparse.index_type.size());
            for (index, bytes) in indices.zip(sparse.values.chunks_exact(size * self.width)) {
                let first = sparse.index_type.to_u32(index) as usize * self.width;
                // Past the end only when fewer elements are read than the accessor has.
                if let Some(element) = values.get_mut(first..first + self.width) {
                    fill(element, bytes);
                }
            }
        }
        values
    }
}

fn label(index: usize, role: &str) -> String {
    format!("accessor {index} ({role})")
}
