//! One buffer and the views and accessors into it.
//!
//! Every array gets a buffer view of its own, aligned to four bytes. Numbers are checked here, in
//! one place, because NaN and infinity would be legal bytes but an illegal file.

use std::collections::HashMap;

use gltf_json::accessor::{
    Accessor, ComponentType, GenericComponentType, IndexComponentType, Type, sparse,
};
use gltf_json::buffer::{Target, View};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Index, Root, Value};

use crate::Fault;

/// Extra JSON that a sparse accessor costs over a dense one: a second buffer view and the
/// `sparse` object, counted in files of our own.
const SPARSE_JSON_BYTES: usize = 150;

/// The glTF under construction.
#[derive(Default)]
pub(in crate::gltf) struct Builder {
    /// The JSON side, without buffers.
    pub(in crate::gltf) root: Root,
    /// The binary side.
    pub(in crate::gltf) bytes: Vec<u8>,
    /// Key times that are already in the file, by their bits.
    times: HashMap<Vec<u32>, Index<Accessor>>,
}

/// The use of an array, which decides its view's target and whether bounds are stated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::gltf) enum Use {
    /// A vertex attribute.
    Vertex,
    /// A vertex attribute whose `min` and `max` the specification demands.
    VertexWithBounds,
    /// Matrices, key times, key values.
    Other,
    /// The same, with `min` and `max`.
    OtherWithBounds,
}

impl Builder {
    /// Adds raw bytes as a buffer view.
    pub(in crate::gltf) fn view(&mut self, bytes: &[u8], target: Option<Target>) -> Index<View> {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.root.push(View {
            buffer: Index::new(0),
            byte_length: bytes.len().into(),
            byte_offset: Some(offset.into()),
            byte_stride: None,
            name: None,
            target: target.map(Valid),
            extensions: None,
            extras: None,
        })
    }

    /// Adds an array of `N` numbers per element.
    ///
    /// `what` names the array in the fault about a NaN or an infinity.
    pub(in crate::gltf) fn floats<const N: usize>(
        &mut self,
        what: &str,
        values: &[[f32; N]],
        purpose: Use,
    ) -> Result<Index<Accessor>, Fault> {
        check_finite(what, values)?;
        let target = match purpose {
            Use::Vertex | Use::VertexWithBounds => Some(Target::ArrayBuffer),
            Use::Other | Use::OtherWithBounds => None,
        };
        let view = self.view(&float_bytes(values), target);
        let mut accessor = accessor(values.len(), ComponentType::F32, float_type::<N>());
        accessor.buffer_view = Some(view);
        if matches!(purpose, Use::VertexWithBounds | Use::OtherWithBounds) {
            set_bounds(&mut accessor, values);
        }
        Ok(self.root.push(accessor))
    }

    /// Adds joint numbers, four per vertex: bytes when every joint fits in one.
    pub(in crate::gltf) fn joints(
        &mut self,
        joints: &[[u16; 4]],
        joint_count: usize,
    ) -> Index<Accessor> {
        let flat = joints.as_flattened();
        let (bytes, component) = if joint_count <= 256 {
            (flat.iter().map(|&j| j as u8).collect(), ComponentType::U8)
        } else {
            let wide: Vec<u8> = flat.iter().flat_map(|j| j.to_le_bytes()).collect();
            (wide, ComponentType::U16)
        };
        let view = self.view(&bytes, Some(Target::ArrayBuffer));
        let mut accessor = accessor(joints.len(), component, Type::Vec4);
        accessor.buffer_view = Some(view);
        self.root.push(accessor)
    }

    /// Adds triangle corners: 16 bits when they fit.
    ///
    /// 65535 is left to 32 bits, because in 16 it restarts a primitive.
    pub(in crate::gltf) fn triangles(&mut self, triangles: &[[u32; 3]]) -> Index<Accessor> {
        let flat = triangles.as_flattened();
        let (bytes, component) = index_bytes(flat, u32::from(u16::MAX));
        let view = self.view(&bytes, Some(Target::ElementArrayBuffer));
        let mut accessor = accessor(flat.len(), component, Type::Scalar);
        accessor.buffer_view = Some(view);
        self.root.push(accessor)
    }

    /// Adds whole numbers that are neither corners nor joints: 16 bits when they fit.
    pub(in crate::gltf) fn numbers(&mut self, numbers: &[u32]) -> Index<Accessor> {
        let (bytes, component) = index_bytes(numbers, u32::MAX);
        let view = self.view(&bytes, None);
        let mut accessor = accessor(numbers.len(), component, Type::Scalar);
        accessor.buffer_view = Some(view);
        self.root.push(accessor)
    }

    /// Adds displacements of a morph target, dense or sparse, whichever makes the smaller file.
    ///
    /// A target that does not move a primitive is written sparse, with one zero: an accessor without any
    /// data is legal, but gltf-rs, and so Bevy, refuses the file.
    pub(in crate::gltf) fn deltas(
        &mut self,
        what: &str,
        values: &[[f32; 3]],
        bounds: bool,
    ) -> Result<Index<Accessor>, Fault> {
        check_finite(what, values)?;
        let mut moved: Vec<u32> = (0u32..)
            .zip(values)
            .filter(|(_, value)| **value != [0.0; 3])
            .map(|(index, _)| index)
            .collect();
        if moved.is_empty() {
            moved.push(0);
        }
        let (indices, component) = index_bytes(&moved, u32::MAX);
        let sparse_bytes = indices.len().next_multiple_of(4) + 12 * moved.len();
        if sparse_bytes + SPARSE_JSON_BYTES >= 12 * values.len() {
            let purpose = if bounds {
                Use::VertexWithBounds
            } else {
                Use::Vertex
            };
            return self.floats(what, values, purpose);
        }
        let kept: Vec<[f32; 3]> = moved.iter().map(|&i| values[i as usize]).collect();
        let sparse = sparse::Sparse {
            count: moved.len().into(),
            indices: sparse::Indices {
                buffer_view: self.view(&indices, None),
                byte_offset: 0usize.into(),
                component_type: Valid(IndexComponentType(component)),
                extensions: None,
                extras: None,
            },
            values: sparse::Values {
                buffer_view: self.view(&float_bytes(&kept), None),
                byte_offset: 0usize.into(),
                extensions: None,
                extras: None,
            },
            extensions: None,
            extras: None,
        };
        let mut accessor = accessor(values.len(), ComponentType::F32, Type::Vec3);
        accessor.sparse = Some(sparse);
        if bounds {
            set_bounds(&mut accessor, values);
        }
        Ok(self.root.push(accessor))
    }

    /// Adds key times, or reuses equal ones that are in the file already.
    pub(in crate::gltf) fn times(
        &mut self,
        what: &str,
        times: &[f32],
    ) -> Result<Index<Accessor>, Fault> {
        let bits: Vec<u32> = times.iter().map(|t| t.to_bits()).collect();
        if let Some(&known) = self.times.get(&bits) {
            return Ok(known);
        }
        let values: Vec<[f32; 1]> = times.iter().map(|&t| [t]).collect();
        let index = self.floats(what, &values, Use::OtherWithBounds)?;
        self.times.insert(bits, index);
        Ok(index)
    }
}

fn accessor(count: usize, component: ComponentType, kind: Type) -> Accessor {
    Accessor {
        buffer_view: None,
        byte_offset: None,
        count: count.into(),
        component_type: Valid(GenericComponentType(component)),
        extensions: None,
        extras: None,
        type_: Valid(kind),
        min: None,
        max: None,
        name: None,
        normalized: false,
        sparse: None,
    }
}

/// glTF's name for `N` numbers per element.
fn float_type<const N: usize>() -> Type {
    match N {
        1 => Type::Scalar,
        2 => Type::Vec2,
        3 => Type::Vec3,
        4 => Type::Vec4,
        16 => Type::Mat4,
        _ => unreachable!("no caller writes elements of {N} numbers"),
    }
}

fn float_bytes<const N: usize>(values: &[[f32; N]]) -> Vec<u8> {
    let numbers = values.as_flattened().iter();
    numbers.flat_map(|v| v.to_le_bytes()).collect()
}

/// Indices in the smallest of 16 and 32 bits whose largest value stays below `reserved_in_16`.
fn index_bytes(indices: &[u32], reserved_in_16: u32) -> (Vec<u8>, ComponentType) {
    let largest = indices.iter().copied().max().unwrap_or(0);
    if largest <= u32::from(u16::MAX) && largest < reserved_in_16 {
        let short = indices.iter().map(|&i| i as u16);
        (
            short.flat_map(u16::to_le_bytes).collect(),
            ComponentType::U16,
        )
    } else {
        (
            indices.iter().flat_map(|i| i.to_le_bytes()).collect(),
            ComponentType::U32,
        )
    }
}

fn check_finite<const N: usize>(what: &str, values: &[[f32; N]]) -> Result<(), Fault> {
    let broken = |v: &[f32; N]| v.iter().any(|x| !x.is_finite());
    match values.iter().position(broken) {
        None => Ok(()),
        Some(at) => Err(Fault::malformed(
            format!("{what}, element {at}"),
            "finite numbers in single precision",
            format!("{:?}", values[at]),
        )),
    }
}

/// States the smallest and largest value of each component, exactly as the file has them.
fn set_bounds<const N: usize>(accessor: &mut Accessor, values: &[[f32; N]]) {
    let (mut min, mut max) = ([f32::INFINITY; N], [f32::NEG_INFINITY; N]);
    for value in values {
        for c in 0..N {
            min[c] = min[c].min(value[c]);
            max[c] = max[c].max(value[c]);
        }
    }
    // Adding zero turns -0, which some JSON readers stumble over, into 0.
    let json = |bound: [f32; N]| Value::from(bound.map(|v| v + 0.0).to_vec());
    accessor.min = Some(json(min));
    accessor.max = Some(json(max));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deltas(moved: &[usize], count: usize) -> Vec<[f32; 3]> {
        let mut values = vec![[0.0; 3]; count];
        for &i in moved {
            values[i] = [1.0, -2.0, 0.5];
        }
        values
    }

    #[test]
    fn few_displacements_are_sparse_and_many_are_dense() {
        let mut builder = Builder::default();
        for (moved, expect_sparse) in [
            (vec![], true),
            (vec![70_000], true),
            ((0..70_000).collect(), false),
        ] {
            let index = builder
                .deltas("target", &deltas(&moved, 80_000), true)
                .expect("finite");
            let accessor = &builder.root.accessors[index.value()];
            assert_eq!(
                accessor.sparse.is_some(),
                expect_sparse,
                "{} of 80000 moved",
                moved.len()
            );
            assert_eq!(
                accessor.buffer_view.is_none(),
                expect_sparse,
                "sparse ones have no dense data"
            );
        }
        let small = builder
            .deltas("target", &deltas(&[1], 4), true)
            .expect("finite");
        assert!(
            builder.root.accessors[small.value()].sparse.is_none(),
            "48 bytes are not worth a sparse accessor"
        );
    }

    #[test]
    fn bounds_of_sparse_displacements_count_the_zeros() {
        let mut builder = Builder::default();
        let index = builder
            .deltas("target", &deltas(&[3], 1000), true)
            .expect("finite");
        let accessor = &builder.root.accessors[index.value()];
        assert_eq!(
            accessor.min,
            Some(Value::from(vec![0.0, -2.0, 0.0])),
            "smallest"
        );
        assert_eq!(
            accessor.max,
            Some(Value::from(vec![1.0, 0.0, 0.5])),
            "largest"
        );
    }

    #[test]
    fn corner_65535_needs_32_bits() {
        let mut builder = Builder::default();
        for (corner, component) in [(65_534, ComponentType::U16), (65_535, ComponentType::U32)] {
            let index = builder.triangles(&[[0, 1, corner]]);
            let Valid(found) = builder.root.accessors[index.value()].component_type else {
                panic!("the builder makes valid accessors only");
            };
            assert_eq!(found.0, component, "for corner {corner}");
        }
    }

    #[test]
    fn equal_key_times_are_written_once() {
        let mut builder = Builder::default();
        let first = builder.times("clip", &[0.0, 0.5]).expect("finite");
        let other = builder.times("clip", &[0.0, 0.6]).expect("finite");
        let again = builder.times("clip", &[0.0, 0.5]).expect("finite");
        assert_eq!(first.value(), again.value(), "the same times");
        assert_ne!(first.value(), other.value(), "other times");
    }

    #[test]
    fn nan_is_named_by_its_element() {
        let fault = Builder::default()
            .floats("UVs of part 2", &[[0.0, 1.0], [f32::NAN, 0.0]], Use::Vertex)
            .expect_err("NaN is refused");
        assert_eq!(
            fault.to_string(),
            "UVs of part 2, element 1: expected finite numbers in single precision, \
             found [NaN, 0.0]",
            "the message carries all facts"
        );
    }
}
